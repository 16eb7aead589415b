"""Compare two indexes."""
from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from .html import table_html
from .index import Function, Index

ROWS_SHOWN = 200


class Change(NamedTuple):
    """A function of both indexes that is not the same in them."""

    name: str
    before: Function
    after: Function
    what: str
    """"size", "line", or both: "size, line"."""


class Diff:
    """How the functions of two indexes differ, by name. True if they do.

    `callsign diff` compares every line row and inlined call as well."""

    def __init__(self, before: str, after: str, added: list[Function], removed: list[Function], changed: list[Change], same: int) -> None:
        self.before, self.after = before, after
        self.added, self.removed, self.changed = added, removed, changed
        self.same = same
        """The number of functions that do not differ."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __repr__(self) -> str:
        return (f"<Diff of {self.before} and {self.after}: {len(self.added):,} added, {len(self.removed):,} removed, "
                f"{len(self.changed):,} changed, {self.same:,} the same>")

    def _rows(self) -> Iterable[list[object]]:
        for function in self.added:
            yield ["added", function.name, None, function.size]
        for function in self.removed:
            yield ["removed", function.name, function.size, None]
        for change in self.changed:
            yield [f"changed: {change.what}", change.name, change.before.size, change.after.size]

    def _repr_html_(self) -> str:
        rows = [row for row, _ in zip(self._rows(), range(ROWS_SHOWN))]
        left = len(self.added) + len(self.removed) + len(self.changed) - len(rows)
        if left:
            rows.append([f"{left:,} more", "", None, None])
        return table_html(repr(self)[1:-1], ["", "function", "bytes before", "bytes after"], rows)


def diff(before: Index | str | os.PathLike[str], after: Index | str | os.PathLike[str]) -> Diff:
    """Compares the functions of two indexes: which were added and removed, and which have another size, or another source line at their
    first byte. Functions of one name are compared in address order. Raises Error."""
    opened = []
    try:
        indexes = []
        for index in (before, after):
            if not isinstance(index, Index):
                index = Index(index)
                opened.append(index)
            indexes.append(index)
        return _compare(*indexes)
    finally:
        for index in opened:
            index.close()


def _by_name(index: Index) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = defaultdict(list)
    for function in index.functions():
        found[function.name].append(function)
    return found


def _first_line(index: Index, function: Function) -> tuple[str | None, int | None]:
    frames = index.lookup(function.start)
    return (frames[-1].file, frames[-1].line) if frames else (None, None)


def _compare(before: Index, after: Index) -> Diff:
    old, new = _by_name(before), _by_name(after)
    result = Diff(before.path, after.path, [], [], [], 0)
    for name in sorted(old.keys() | new.keys()):
        ours, theirs = old.get(name, []), new.get(name, [])
        result.removed += ours[len(theirs):]
        result.added += theirs[len(ours):]
        for one, other in zip(ours, theirs):
            what = ["size"] * (one.size != other.size) + ["line"] * (_first_line(before, one) != _first_line(after, other))
            if what:
                result.changed.append(Change(name, one, other, ", ".join(what)))
            else:
                result.same += 1
    return result
