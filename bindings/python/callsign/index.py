"""Open an index and look addresses up."""
from __future__ import annotations

import array
import operator
import os
import sys
from collections.abc import Iterator
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
    An index on a server or in a bucket is read in place: http://, https:// or s3://BUCKET/KEY. See open_remote().

    demangle: show demangled names instead of the stored ones.
    accelerator_bytes: memory limit of a decoded copy that makes lookups several times faster; 0 means none. Not for URLs.
    arch: the image of a universal Mach-O file, such as "arm64".

    Raises Error if the file cannot be read. Opening an index maps it and builds nothing, whatever its size. Use it in a `with` statement
    or call close(). Any number of threads may use it.
    """

    def __init__(self, path: str | os.PathLike[str], *, demangle: bool = False, accelerator_bytes: int = 0,
                 arch: str | None = None) -> None:
        self.path = os.fspath(path)
        self._native = _native.Index(self.path, demangle=demangle, accelerator_bytes=whole_number("accelerator_bytes", accelerator_bytes, 64),
                                     arch=arch, is_remote=is_remote(self.path))

    @classmethod
    def open_remote(cls, url: str, *, demangle: bool = False, timeout: float = 60) -> Index:
        """Opens the index at a URL: http://, https:// or s3://BUCKET/KEY. Lookups read only the ranges that they need.

        demangle: show demangled names instead of the stored ones.
        timeout: seconds for each request, more than 0.

        Needs libcurl, which is loaded at the first use. S3 uses AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and
        AWS_ENDPOINT_URL_S3. Costs one or two requests. Raises Error if the index cannot be read. A read that fails later is final:
        each call that needs missing bytes raises the same Error, until the index is opened again."""
        if not is_remote(url):
            raise ValueError(f"{url!r} is no URL of http, https or s3")
        self = cls.__new__(cls)
        self.path = url
        self._native = _native.Index(url, demangle=demangle, is_remote=True, timeout_ms=milliseconds("timeout", timeout))
        return self

    def lookup(self, address: int) -> list[_native.Frame]:
        """Returns the frames at an address of the image, the innermost inlined call first and the function itself last.

        The list is empty if no function covers the address. Raises Error if the function's record is damaged, ValueError if the
        index is closed, and TypeError or OverflowError if `address` is not an integer of 64 bits."""
        return self._native.lookup(address)

    def lookup_batch(self, addresses: Any, *, return_addresses: bool = False, plain_strings: bool = False) -> _native.Answers:
        """Looks up many addresses and returns struct<frames, reason> as an Arrow array.

        addresses: an Arrow array, a NumPy array, array.array or another buffer of 64-bit integers, which is not copied unless it has
        gaps or chunks; or integers. Masked elements of NumPy's masked arrays are null, as those of Arrow's (needs pyarrow). Negative ones are those of 64 bits with the same bits: kernel addresses in signed columns.
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

    def remote_state(self) -> dict[str, Any] | None:
        """Returns what was read from a server: requests, received_bytes, file_bytes, kept_bytes (in memory), and failure: the text of
        the one that ended reading, or None. None if the index is a local file."""
        return self._native.remote_state()

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


def is_remote(path: Any) -> bool:
    return isinstance(path, str) and path.startswith(("http://", "https://", "s3://"))


def as_column(addresses: Any) -> Any:
    """What the native layer takes: Arrow arrays and buffers as they are, integers as a buffer."""
    addresses = without_mask(addresses)
    if hasattr(addresses, "__arrow_c_array__"):
        return addresses
    if hasattr(addresses, "combine_chunks"):  # pyarrow.ChunkedArray
        return addresses.combine_chunks()
    try:
        view = memoryview(addresses)
    except TypeError:
        return packed(list(addresses))
    if view.ndim == 1 and not view.c_contiguous and view.format in ("q", "Q", "l", "L"):
        return packed(view.tolist())
    return view


def without_mask(addresses: Any) -> Any:
    """A masked array of NumPy as an Arrow array, in which the masked addresses are null; anything else as it is."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(addresses, numpy.ma.MaskedArray):
        return addresses
    if not numpy.ma.is_masked(addresses):
        return addresses.data
    try:
        import pyarrow
    except ImportError:
        raise TypeError("masked addresses need pyarrow; or pass addresses.compressed()") from None
    return pyarrow.array(addresses.data, mask=addresses.mask)


def packed(addresses: list[Any]) -> Any:
    try:
        return array.array("Q", addresses)
    except OverflowError:
        return array.array("Q", map(address_bits, addresses))


def address_bits(address: Any) -> int:
    number = operator.index(address)
    if not -1 << 63 <= number < 1 << 64:
        raise OverflowError(f"address {number:#x} has more than 64 bits")
    return number & (1 << 64) - 1


def milliseconds(name: str, seconds: float) -> int:
    if not 0 < seconds < 1 << 22:
        raise ValueError(f"{name} is {seconds}, need more than 0 and less than {1 << 22} seconds")
    return max(1, round(seconds * 1000))


def whole_number(name: str, value: Any, bits: int) -> int:
    number = operator.index(value)
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{name} is {number}, need 0 to {(1 << bits) - 1}")
    return number
