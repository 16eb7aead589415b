"""Symbolicate columns of addresses and whole stacks of several modules."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _native
from .index import address_bits
from .stack import Stack, StackFrame
from .store import PathLike, Store


class Symbolicator:
    """Answers addresses of many modules, and tells merged functions apart by the callers in a stack.

    store: a Store, or a folder for one.
    demangle: show demangled names instead of the stored ones."""

    def __init__(self, store: Store | PathLike, *, demangle: bool = False) -> None:
        self.store = store if isinstance(store, Store) else Store(store)
        self.demangle = demangle
        self._native = _native.Symbolicator(self.store._native, demangle)

    def batch(self, array: Any, *, module: str = "module", address: str = "address", return_addresses: bool = False,
              plain_strings: bool = False) -> _native.Answers:
        """Symbolicates an Arrow array of type struct<module, address>, or list<struct<module, address>> for whole stacks.

        Returns an Arrow array of as many rows: struct<frames, reason>, or for stacks list<struct<frames, reason, chosen, confidence,
        candidates>>. The columns may have any Arrow type of strings, bytes or 64-bit integers. Raises TypeError for another type.
        Releases the GIL."""
        return self._native.symbolicate(array, module=module, address=address, return_addresses=return_addresses,
                                        plain_strings=plain_strings)

    def stack(self, frames: Iterable[tuple[str | None, int | None]], *, return_addresses: bool = False) -> Stack:
        """Symbolicates one stack of (module, address) pairs, innermost first. All but the first are return addresses; the first is
        one too with return_addresses. None is an unknown module or address. Needs pyarrow."""
        import pyarrow
        kind = pyarrow.list_(pyarrow.struct([("module", pyarrow.string()), ("address", pyarrow.uint64())]))
        given = list(frames)
        stack = [{"module": module, "address": None if address is None else address_bits(address)} for module, address in given]
        answers = pyarrow.array(self.batch(pyarrow.array([stack], kind), return_addresses=return_addresses))
        return Stack(StackFrame.from_answer(module, address, answer) for (module, address), answer in zip(given, answers[0].as_py()))
