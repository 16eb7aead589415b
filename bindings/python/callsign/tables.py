"""Symbolicate a column of a table: Arrow, pandas or Polars in, the same kind out."""
from __future__ import annotations

from typing import Any

from .store import PathLike, Store
from .symbolicator import Symbolicator


def symbolicate(table: Any, *, store: Store | PathLike | None = None, module: str = "module", address: str = "address",
                stacks: str | None = None, demangle: bool = False, return_addresses: bool = False,
                symbolicator: Symbolicator | None = None) -> Any:
    """Returns the table with what its addresses mean.

    table: a pyarrow Table or RecordBatch, a pandas DataFrame, or a Polars DataFrame.
    store: a Store, or a folder for one.
    module, address: names of the columns. A module is a build id (hexadecimal or bytes), or a name or path that the store knows.
    stacks: instead of these two, the name of a column of list<struct<module, address>>: whole stacks, innermost frame first.
    demangle: show demangled names.
    return_addresses: addresses are return addresses; in stacks, the first frame too.
    symbolicator: one to use again, instead of `store`.

    Adds the columns `frames` (list<struct<function, offset, file, line, inlined>>, innermost first) and `reason` (what is missing; null
    if nothing is), or for stacks the column `symbolicated`: a list of struct<frames, reason, chosen, confidence, candidates>. In pandas
    they are Arrow-backed columns. Raises Error, TypeError for a column of another type, KeyError for a column that is not there."""
    if symbolicator is None:
        if store is None:
            raise TypeError("symbolicate() needs a store or a symbolicator")
        symbolicator = Symbolicator(store, demangle=demangle)
    kind = type(table).__module__.partition(".")[0]
    if kind not in ("pyarrow", "pandas", "polars"):
        raise TypeError(f"a table is a pyarrow, pandas or Polars one, not {type(table).__qualname__}")
    missing = [name for name in ([stacks] if stacks else [module, address]) if name not in _column_names(table, kind)]
    if missing:
        raise KeyError(missing[0])
    options = {"module": module, "address": address, "return_addresses": return_addresses}
    if kind == "pyarrow":
        return _symbolicate_arrow(table, symbolicator, stacks, options)
    if kind == "pandas":
        return _symbolicate_pandas(table, symbolicator, stacks, options)
    return _symbolicate_polars(table, symbolicator, stacks, options)


def _column_names(table: Any, kind: str) -> Any:
    return table.schema.names if kind == "pyarrow" else getattr(table, "columns", ())


def _answer_chunks(batches: Any, symbolicator: Symbolicator, stacks: str | None, options: dict[str, Any]) -> Any:
    """One answer for each record batch."""
    import pyarrow
    for batch in batches:
        if stacks:
            column = batch.column(stacks)
        else:
            names = [options["module"], options["address"]]
            column = pyarrow.StructArray.from_arrays([batch.column(name) for name in names], names)
        yield pyarrow.array(symbolicator.batch(column, **options))


def _symbolicate_arrow(table: Any, symbolicator: Symbolicator, stacks: str | None, options: dict[str, Any]) -> Any:
    import pyarrow
    is_batch = isinstance(table, pyarrow.RecordBatch)
    batches = [table] if is_batch else table.to_batches() or [pyarrow.RecordBatch.from_pylist([], schema=table.schema)]
    answers = list(_answer_chunks(batches, symbolicator, stacks, options))
    if stacks:
        columns = {"symbolicated": answers}
    else:
        columns = {name: [answer.field(name) for answer in answers] for name in ("frames", "reason")}
    for name, chunks in columns.items():
        table = table.append_column(name, chunks[0] if is_batch else pyarrow.chunked_array(chunks))
    return table


def _symbolicate_pandas(frame: Any, symbolicator: Symbolicator, stacks: str | None, options: dict[str, Any]) -> Any:
    import pandas
    import pyarrow
    names = [stacks] if stacks else [options["module"], options["address"]]
    table = _symbolicate_arrow(pyarrow.Table.from_pandas(frame[names], preserve_index=False), symbolicator, stacks, options)
    added = ["symbolicated"] if stacks else ["frames", "reason"]
    result = frame.copy(deep=False)
    for name in added:
        column = table.column(name)
        result[name] = pandas.Series(pandas.arrays.ArrowExtensionArray(column), index=frame.index)
    return result


def _symbolicate_polars(frame: Any, symbolicator: Symbolicator, stacks: str | None, options: dict[str, Any]) -> Any:
    import polars
    names = [stacks] if stacks else [options["module"], options["address"]]
    selected = frame.select(names)
    column = selected.to_series() if stacks else selected.to_struct("rows")
    answers = polars.Series("symbolicated", symbolicator.batch(_one_chunk(column), **options))
    if stacks:
        return frame.with_columns(answers)
    return frame.with_columns(answers.struct.field("frames"), answers.struct.field("reason"))


class _one_chunk:
    """A Polars series as one Arrow array, which the series itself exports as a stream only."""

    def __init__(self, series: Any) -> None:
        self.series = series.rechunk()

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.series.to_arrow().__arrow_c_array__(requested_schema)
