"""One symbolicated stack, for people."""
from __future__ import annotations

from typing import Any, NamedTuple

from ._native import Frame
from .html import table_html


class StackFrame(NamedTuple):
    """One physical frame of a stack."""

    module: str | None
    address: int | None
    frames: list[Frame]
    """Innermost inlined call first; empty if nothing is known."""
    reason: str | None
    """What is missing, or None."""
    chosen: str | None
    """The merged function that the callers decide for, or None."""
    confidence: str
    candidates: list[str] | None
    """The names at the address, if there are several."""

    @classmethod
    def from_answer(cls, module: str | None, address: int | None, answer: dict[str, Any]) -> StackFrame:
        frames = [Frame((f["function"], f["offset"], f["file"], f["line"], f["inlined"])) for f in answer["frames"] or ()]
        return cls(module, address, frames, answer["reason"], answer["chosen"], answer["confidence"], answer["candidates"])


class Stack(list[StackFrame]):
    """A symbolicated stack, innermost frame first."""

    def __str__(self) -> str:
        return "\n".join(line for number, frame in enumerate(self) for line in _lines(number, frame))

    def _repr_html_(self) -> str:
        rows = []
        for number, frame in enumerate(self):
            inlined: list[Frame | None] = [*frame.frames] or [None]
            for inner in inlined:
                where = f"{inner.file}:{inner.line}" if inner and inner.file else frame.reason or ""
                name = inner.function + (" [inlined]" if inner.inlined else "") if inner else _place(frame)
                rows.append([number, frame.module or "?", name, where, frame.confidence])
        return table_html("", ["", "module", "function", "where", "confidence"], rows)


def _place(frame: StackFrame) -> str:
    return "?" if frame.address is None else f"{frame.address:#x}"


def _lines(number: int, frame: StackFrame) -> list[str]:
    if not frame.frames:
        return [f"#{number} {frame.module or '?'}+{_place(frame)} ({frame.reason})"]
    return [f"#{number} {f.function} + {f.offset}" + (f" at {f.file}:{f.line}" if f.file else "") + (" [inlined]" if f.inlined else "")
            for f in frame.frames]
