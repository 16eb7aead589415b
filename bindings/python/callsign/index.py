"""Open an index and look addresses up."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from . import _native
from .html import table_html


class Function(NamedTuple):
    """A function of an index."""

    name: str
    start: int
    """Address of its first byte in the image."""
    size: int
    """Bytes; 0 if the function extends to the next one."""


class Index:
    """The symbols of one image.

    `path` is an index (GSYM, BSYM), a program that contains one, or any program or debug file, which is then converted in memory.

    demangle: show demangled names instead of the stored ones.
    accelerator_bytes: memory limit of a decoded copy that makes lookups several times faster; 0 means none.
    arch: the image of a universal Mach-O file, such as "arm64".

    Raises Error if the file cannot be read. Opening an index takes microseconds, whatever its size. Use it in a `with` statement
    or call close(). Any number of threads may use it.
    """

    def __init__(self, path: str | os.PathLike[str], *, demangle: bool = False, accelerator_bytes: int = 0,
                 arch: str | None = None) -> None:
        self._native = _native.Index(path, demangle=demangle, accelerator_bytes=accelerator_bytes, arch=arch)
        self.path = os.fspath(path)

    def lookup(self, address: int) -> list[_native.Frame]:
        """Returns the frames at an address of the image, the innermost inlined call first and the function itself last.

        The list is empty if no function covers the address. Raises Error if the function's record is damaged, ValueError if the
        index is closed, and TypeError or OverflowError if `address` is not an integer of 64 bits."""
        return self._native.lookup(address)

    def lookup_batch(self, addresses: Any, *, return_addresses: bool = False, plain_strings: bool = False) -> _native.Answers:
        """Looks up many addresses and returns struct<frames, reason> as an Arrow array.

        addresses: an Arrow array, a NumPy array, array.array or another buffer of 64-bit integers, which is not copied; or a
        sequence of integers.
        return_addresses: look up the byte before each address, as for callers in a stack.
        plain_strings: no dictionaries.

        Pass the result to pyarrow.array(), polars.Series() or any other consumer of Arrow. Releases the GIL. Each distinct address is
        looked up once, in ascending order."""
        return self._native.lookup_batch(as_column(addresses), return_addresses=return_addresses, plain_strings=plain_strings)

    def functions(self) -> Iterator[Function]:
        """Iterates over the functions in address order."""
        for k in range(self.info()["functions"]):
            yield Function(*self._native.function(k))

    def info(self) -> dict[str, Any]:
        """Returns the index's properties: format, build_id (bytes), base_address, functions, files, bytes and more."""
        return self._native.info()

    def close(self) -> None:
        """Closes the index. Calls under way in other threads finish first. Closing twice does nothing."""
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._native.closed

    def __len__(self) -> int:
        return int(self.info()["functions"])

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return f"<Index {self.path}: closed>"
        info = self.info()
        return f"<Index {self.path}: {info['functions']:,} functions, build id {info['build_id'].hex() or 'unknown'}>"

    def _repr_html_(self) -> str:
        if self.closed:
            return table_html(self.path, ["closed"], [])
        info = {**self.info(), "build_id": self.info()["build_id"].hex()}
        return table_html(self.path, ["property", "value"], [[name, value] for name, value in info.items()])


def as_column(addresses: Any) -> Any:
    """What the native layer takes: Arrow arrays and buffers as they are, sequences of integers as a buffer."""
    if hasattr(addresses, "__arrow_c_array__"):
        return addresses
    try:
        view = memoryview(addresses)
    except TypeError:
        if not isinstance(addresses, Sequence):
            addresses = list(addresses)
        import array
        return array.array("Q", [int.__index__(a) & 0xFFFFFFFFFFFFFFFF for a in addresses])
    return view
