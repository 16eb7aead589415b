"""symbolicate() in DuckDB's SQL.

    >>> import callsign.duckdb, duckdb
    >>> con = duckdb.connect()
    >>> callsign.duckdb.register(con, store="symbols")
    >>> con.sql("SELECT symbolicate(module, address).frames[1].function FROM samples")
"""
from __future__ import annotations

from typing import Any

from .store import PathLike, Store
from .symbolicator import Symbolicator

FRAMES = "STRUCT(\"function\" VARCHAR, \"offset\" UBIGINT, file VARCHAR, line UINTEGER, inlined BOOLEAN)[]"


def register(connection: Any, *, store: Store | PathLike, demangle: bool = False, return_addresses: bool = False,
             name: str = "symbolicate") -> None:
    """Registers the scalar function symbolicate(module VARCHAR, address HUGEINT) at a DuckDB connection. An address of type UBIGINT or
    BIGINT (two's complement) is cast by DuckDB itself.

    It returns STRUCT(frames, reason), frames innermost first. A null argument gives null frames and a reason. Vectors go through Arrow,
    so pyarrow is needed."""
    import pyarrow
    symbolicator = Symbolicator(store, demangle=demangle)
    native = symbolicator._native

    def answer(modules: Any, addresses: Any) -> Any:
        columns = [column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column for column in (modules, addresses)]
        rows = pyarrow.StructArray.from_arrays(columns, ["module", "address"])
        return pyarrow.array(native.symbolicate(rows, return_addresses=return_addresses, plain_strings=True))

    connection.create_function(name, answer, ["VARCHAR", "HUGEINT"], f"STRUCT(frames {FRAMES}, reason VARCHAR)", type="arrow",
                               null_handling="special")
