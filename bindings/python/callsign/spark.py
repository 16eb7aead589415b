"""symbolicate() and convert() on a Spark cluster.

    >>> import callsign.spark
    >>> named = callsign.spark.symbolicate(samples, module="module", address="address", store="/shared/symbols")
    >>> report = callsign.spark.convert(spark, paths, store="/shared/symbols")

The store is a folder that all nodes see, a bucket or a web server. docs/engines.md explains the plans and what they cost.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .copies import DEFAULT_CACHE_BYTES
from .node_store import NodeStore, StoreSpec, roots_of
from .spark_convert import convert
from .store import PathLike, Store
from .store_files import files_of, is_url, shown
from .symbolicator import Symbolicator

__all__ = ["convert", "symbolicate"]

FRAMES = "array<struct<function:string,offset:bigint,file:string,line:int,inlined:boolean>>"
STACK = f"array<struct<frames:{FRAMES},reason:string,chosen:string,confidence:string>>"
MODULE_KEY, ADDRESS_KEY, STACK_KEY = "__callsign_module", "__callsign_address", "__callsign_stack"
HOT_KEY, SALT = "__callsign_hot", "__callsign_salt"
SALT_ABOVE = 250_000
JOIN_HINTS = {"broadcast": "broadcast", "merge": "merge", "hash": "shuffle_hash"}


def symbolicate(df: Any, *, store: Store | PathLike, module: str = "module", address: str = "address", stacks: str | None = None,
                demangle: bool = False, return_addresses: bool = False, partitions: int | None = None, salt_above: int = SALT_ABOVE,
                join: str = "auto", cache: PathLike | bool = True, cache_bytes: int = DEFAULT_CACHE_BYTES) -> Any:
    """Returns the Spark DataFrame with what its addresses mean. Lazy, like every transformation.

    store: a folder that all nodes see, a Store made of such folders and URLs, or a URL: of a web server (http, https) or of a bucket that
    pyarrow.fs knows (s3://BUCKET/PREFIX).
    module, address: names of the columns. A module (string or binary) is a build id, or a name or path that the store knows. An address
    is bigint (two's complement), int, or decimal(20,0).
    stacks: instead of these two, the name of a column of array<struct<module: string, address: bigint>>: whole stacks, innermost frame
    first.
    demangle: show demangled names.
    return_addresses: addresses are return addresses; in stacks, the first frame too.
    partitions: number of tasks that look up; default: spark.sql.shuffle.partitions.
    salt_above: the distinct addresses of a module are spread over one more task for each so many.
    join: how answers come back to the rows: "broadcast", "merge", "hash" (as merge, without a sort: the answers of a partition must
    fit into a task's memory), or "auto": Spark decides between the first two.
    cache: folder on each node for copies of the indexes; True: one in the node's temporary folder; False: read the store itself, which must be a folder.
    cache_bytes: size at which the copies that were used longest ago are removed.

    Adds the columns `frames` (array<struct<function, offset: bigint, file, line: int, inlined>>, innermost first) and `reason` (null if
    nothing is missing), or for stacks the column `symbolicated`: for each element struct<frames, reason, chosen, confidence>. Raises
    TypeError for a column of another type, ValueError for a store that executors cannot open."""
    spec = StoreSpec(roots_of(store), _cache_folder(cache), cache_bytes)
    for root in filter(is_url, spec.roots):
        if spec.cache is None:
            raise ValueError(f"the nodes need copies of the indexes behind a URL, {shown(root)}: give a cache")
        files_of(root)  # a URL that nobody can read fails here and not in each task
    options = {"demangle": demangle, "return_addresses": return_addresses}
    if join not in ("auto", *JOIN_HINTS):
        raise ValueError(f"join is 'auto', 'broadcast', 'merge' or 'hash', not {join!r}")
    if stacks is not None:
        return _symbolicate_stacks(df, stacks, spec, options, partitions, join)
    return _symbolicate_addresses(df, module, address, _AnswerAddresses(spec, options), partitions, salt_above, join)


def _cache_folder(cache: PathLike | bool) -> str | None:
    if isinstance(cache, bool):
        return "" if cache else None
    return os.path.abspath(os.fspath(cache))


def _task_count(df: Any, partitions: int | None) -> int:
    return partitions or int(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))


def _without(df: Any, names: Iterable[str]) -> None:
    for name in names:
        if name in df.columns:
            raise ValueError(f"the table has a column '{name}' already")


# ---- addresses ----

def _symbolicate_addresses(df: Any, module: str, address: str, answer: Callable[[Iterator[Any]], Iterator[Any]], partitions: int | None,
                           salt_above: int, join: str) -> Any:
    from pyspark.sql import functions as F
    module_type, address_type = df.schema[module].dataType.simpleString(), df.schema[address].dataType.simpleString()
    if module_type not in ("string", "binary"):
        raise TypeError(f"column '{module}' is {module_type}, need string or binary")
    if address_type not in ("int", "bigint") and not (address_type.startswith("decimal(") and address_type.endswith(",0)")):
        raise TypeError(f"column '{address}' is {address_type}, need bigint, int or decimal(20,0)")
    _without(df, ("frames", "reason"))
    wide_address = df[address].cast("bigint") if address_type == "int" else df[address]
    pairs = df.select(df[module].alias(MODULE_KEY), wide_address.alias(ADDRESS_KEY)).distinct()
    salted = _salt(pairs, salt_above, is_decimal=address_type.startswith("decimal"))
    placed = salted.repartition(_task_count(df, partitions), MODULE_KEY, SALT).sortWithinPartitions(MODULE_KEY, ADDRESS_KEY)
    key_type = "decimal(20,0)" if address_type.startswith("decimal") else "bigint"
    key_type = address_type if address_type.startswith("decimal") else key_type
    answers = placed.select(MODULE_KEY, ADDRESS_KEY).mapInArrow(
        answer, f"{MODULE_KEY} {module_type}, {ADDRESS_KEY} {key_type}, frames {FRAMES}, reason string")
    if join != "auto":
        answers = answers.hint(JOIN_HINTS[join])
    same = df[module].eqNullSafe(answers[MODULE_KEY]) & wide_address.eqNullSafe(answers[ADDRESS_KEY])
    return df.join(answers, same, "left").drop(F.col(MODULE_KEY), F.col(ADDRESS_KEY))


def _salt(pairs: Any, salt_above: int, is_decimal: bool) -> Any:
    """Adds the number of the task among those of its module. The modules with many addresses are few: they are broadcast. Both uses
    of `pairs` read one shuffle. Addresses of one page stay together."""
    from pyspark.sql import functions as F
    counts = pairs.groupBy(F.col(MODULE_KEY).alias(HOT_KEY)).agg(F.ceil(F.count("*") / F.lit(salt_above)).cast("int").alias("tasks"))
    hot = F.broadcast(counts.where("tasks > 1"))
    page = F.col(ADDRESS_KEY) if is_decimal else F.shiftright(F.col(ADDRESS_KEY), 12)
    salt = F.coalesce(F.pmod(F.xxhash64(page), F.col("tasks")), F.lit(0))
    # Null-safe, although null is no hot module: from `==` Spark infers a filter for one of the two uses, and then makes two shuffles.
    return pairs.join(hot, F.col(MODULE_KEY).eqNullSafe(F.col(HOT_KEY)), "left").select(MODULE_KEY, ADDRESS_KEY, salt.alias(SALT))


# ---- stacks ----

def _symbolicate_stacks(df: Any, stacks: str, spec: StoreSpec, options: dict[str, bool], partitions: int | None, join: str) -> Any:
    from pyspark.sql import functions as F
    kind = df.schema[stacks].dataType
    fields = {field.name: field.dataType.simpleString() for field in getattr(getattr(kind, "elementType", None), "fields", ())}
    if fields.get("module") not in ("string", "binary") or not (
            fields.get("address") in ("int", "bigint") or fields.get("address", "").startswith("decimal(")):
        raise TypeError(f"column '{stacks}' is {kind.simpleString()}, need array<struct<module:string,address:bigint>>")
    _without(df, ("symbolicated",))
    wide = kind.simpleString().replace("address:int", "address:bigint").replace("bigintint", "bigint")
    distinct = df.select(df[stacks].cast(wide).alias(STACK_KEY)).distinct()
    placed = distinct.repartition(_task_count(df, partitions), STACK_KEY).sortWithinPartitions(STACK_KEY)
    answers = placed.mapInArrow(_AnswerStacks(spec, options), f"{STACK_KEY} {wide}, symbolicated {STACK}")
    if join != "auto":
        answers = answers.hint(JOIN_HINTS[join])
    same = df[stacks].cast(wide).eqNullSafe(answers[STACK_KEY])
    return df.join(answers, same, "left").drop(F.col(STACK_KEY))


# ---- on the executors ----

class _Node:
    """What one Python process of an executor keeps from task to task."""

    def __init__(self, spec: StoreSpec, demangle: bool) -> None:
        self.store = NodeStore(spec)
        self.demangle = demangle
        self.symbolicator = Symbolicator(self.store.store, demangle=demangle)

    def symbolicator_for(self, modules: list[Any]) -> tuple[Symbolicator, dict[Any, str]]:
        failures = self.store.prepare(modules)
        if self.symbolicator.store is not self.store.store:
            self.symbolicator = Symbolicator(self.store.store, demangle=self.demangle)
        return self.symbolicator, failures


_nodes: dict[tuple[StoreSpec, bool], _Node] = {}


class _Answer:
    """A function for mapInArrow: it is sent to the executors with the store's description alone."""

    def __init__(self, spec: StoreSpec, options: dict[str, bool]) -> None:
        self.spec, self.options = spec, options

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        key = (self.spec, self.options["demangle"])
        if key not in _nodes:
            _nodes[key] = _Node(*key)
        _nodes[key].store.begin_task()
        for batch in batches:
            if batch.num_rows:
                yield self.answer(batch, *_nodes[key].symbolicator_for(self.modules(batch)))

    def modules(self, batch: Any) -> list[Any]:
        raise NotImplementedError

    def answer(self, batch: Any, symbolicator: Symbolicator, failures: dict[Any, str]) -> Any:
        raise NotImplementedError


class _AnswerAddresses(_Answer):
    def modules(self, batch: Any) -> list[Any]:
        return list(batch.column(0).unique().to_pylist())

    def answer(self, batch: Any, symbolicator: Symbolicator, failures: dict[Any, str]) -> Any:
        import pyarrow as pa
        rows = pa.StructArray.from_arrays([batch.column(0), batch.column(1)], ["module", "address"])
        answers = pa.array(symbolicator.batch(rows, return_addresses=self.options["return_addresses"], plain_strings=True))
        reasons = _with_failures(answers.field("reason"), batch.column(0), failures)
        return pa.RecordBatch.from_arrays([batch.column(0), batch.column(1), _spark_frames(answers.field("frames")), reasons],
                                          [MODULE_KEY, ADDRESS_KEY, "frames", "reason"])


class _AnswerStacks(_Answer):
    def modules(self, batch: Any) -> list[Any]:
        return list(batch.column(0).flatten().field("module").unique().to_pylist())

    def answer(self, batch: Any, symbolicator: Symbolicator, failures: dict[Any, str]) -> Any:
        import pyarrow as pa
        stacks = batch.column(0)
        answers = pa.array(symbolicator.batch(stacks, return_addresses=self.options["return_addresses"], plain_strings=True))
        items = answers.values
        modules = stacks.flatten().field("module")
        reasons = _with_failures(items.field("reason"), modules, failures) if len(modules) == len(items) else items.field("reason")
        fields = [_spark_frames(items.field("frames")), reasons, items.field("chosen"), items.field("confidence")]
        spark_items = pa.StructArray.from_arrays(fields, ["frames", "reason", "chosen", "confidence"])
        lists = pa.ListArray.from_arrays(answers.offsets, spark_items, mask=answers.is_null())
        return pa.RecordBatch.from_arrays([stacks, lists], [STACK_KEY, "symbolicated"])


def _with_failures(reasons: Any, modules: Any, failures: dict[Any, str]) -> Any:
    """The reasons of rows whose index could not be copied are those of the copy."""
    import pyarrow as pa
    import pyarrow.compute as pc
    for module, text in failures.items():
        failed = pc.fill_null(pc.equal(modules, pa.scalar(module, modules.type)), False)
        reasons = pc.if_else(pc.and_(failed, pc.is_valid(reasons)), text, reasons)
    return reasons


def _spark_frames(frames: Any) -> Any:
    """Spark has no unsigned numbers."""
    import pyarrow as pa
    items = frames.values
    fields = [items.field("function"), items.field("offset").cast(pa.int64(), safe=False), items.field("file"),
              items.field("line").cast(pa.int32(), safe=False), items.field("inlined")]
    values = pa.StructArray.from_arrays(fields, ["function", "offset", "file", "line", "inlined"])
    return pa.ListArray.from_arrays(frames.offsets, values, mask=frames.is_null())
