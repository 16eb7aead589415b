"""Machine addresses to function names, source lines and inline call stacks.

Convert a program's debug information once, then look addresses up in the index:

    >>> import callsign
    >>> callsign.convert("prog", "prog.gsym")
    <Report of prog.gsym: 10 functions, 35 rows, 2 inlined calls>
    >>> with callsign.Index("prog.gsym", demangle=True) as index:
    ...     for frame in index.lookup(0x1139):
    ...         print(frame.function, frame.file, frame.line)

Columns of addresses are answered at once, in Arrow memory:

    Index.lookup_batch()    addresses of one program
    symbolicate()           a pyarrow, pandas or Polars table with a column of modules, or of whole stacks
    Symbolicator            one stack, or Arrow arrays; merged functions are told apart by their callers
    Profile                 what profilers write: pprof, OpenTelemetry, Firefox
    callsign.duckdb         a function and a table function in SQL
    callsign.spark          tables and conversions on a cluster

A Store finds the index of a module: in folders, behind URLs, or by converting its debug file. diff() compares two indexes.
No other package is needed; pyarrow, pandas, Polars, DuckDB and PySpark are used where the caller already does.

All errors of the library are callsign.Error. Every object may be used from several threads; calls that take long release the GIL.
"""
from ._native import Answers, Error, Frame, demangle, version as _version
from .comparison import Change, Diff, diff
from .conversion import Report, convert
from .index import Function, Index
from .profile import Named, Profile, ProfileFrame, Sample, Total
from .stack import Stack, StackFrame
from .store import Explanation, Location, Store
from .symbolicator import Symbolicator
from .tables import symbolicate

__version__ = _version()


def __getattr__(name: str) -> object:
    """callsign.duckdb and callsign.spark are imported when they are used first."""
    if name in ("duckdb", "spark"):
        import importlib
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Answers", "Change", "Diff", "Error", "Explanation", "Frame", "Function", "Index", "Location", "Named", "Profile",
           "ProfileFrame", "Report", "Sample", "Stack", "StackFrame", "Store", "Symbolicator", "Total", "convert", "demangle", "diff", "symbolicate"]
