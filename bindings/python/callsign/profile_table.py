"""A profile's samples as an Arrow table. Needs pyarrow."""
from __future__ import annotations

from typing import Any

import pyarrow as pa

from . import _native


def table_of(native: _native.Profile, names: list[str], types: list[tuple[str, str]], every_sample: bool) -> pa.Table:
    stacks, times, tids, values = native.sample_columns()
    count = len(stacks) // 4
    arrays: list[pa.Array] = [_stack_column(native, _numbers(stacks, pa.uint32()))]
    fields = [pa.field("stack", arrays[0].type)]
    for k, (name, (_, unit)) in enumerate(zip(names, types)):
        arrays.append(_numbers(values, pa.int64()).slice(k * count, count))
        fields.append(pa.field(name, pa.int64(), metadata={"unit": unit}))
    if every_sample:
        arrays += [_numbers(times, pa.int64()), _numbers(tids, pa.uint64())]
        fields += [pa.field("time_ns", pa.int64()), pa.field("tid", pa.uint64())]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _numbers(column: bytes, kind: pa.DataType) -> pa.Array:
    """A column without a copy."""
    return pa.Array.from_buffers(kind, len(column) * 8 // kind.bit_width, [None, pa.py_buffer(column)])


class _Frames:
    """The frames of each location, in the order in which locations are met."""

    def __init__(self, native: _native.Profile) -> None:
        self._native = native
        self._ranges: dict[int, range] = {}
        self._modules: dict[int, str] = {}
        self.rows: list[tuple[str | None, str | None, int | None, bool, str | None, int]] = []

    def of(self, location: int) -> range:
        known = self._ranges.get(location)
        if known is None:
            first = len(self.rows)
            module, _, value, _, frames = self._native.location(location)
            path = None if module is None else self._path(module)
            self.rows += [(*frame, path, value) for frame in frames] or [(None, None, None, False, path, value)]
            known = self._ranges[location] = range(first, len(self.rows))
        return known

    def _path(self, module: int) -> str:
        if module not in self._modules:
            self._modules[module] = self._native.module(module)[0]
        return self._modules[module]

    def array(self) -> pa.StructArray:
        columns: list[Any] = [list(column) for column in zip(*self.rows)] or [[], [], [], [], [], []]
        text = [pa.array(columns[k], pa.string()).dictionary_encode() for k in (0, 1, 4)]
        return pa.StructArray.from_arrays(
            [text[0], text[1], pa.array(columns[2], pa.uint32()), pa.array(columns[3], pa.bool_()), text[2], pa.array(columns[5], pa.uint64())],
            names=["function", "file", "line", "inlined", "module", "address"])


def _stack_column(native: _native.Profile, stacks: pa.Array) -> pa.ListArray:
    """A list of frames for each sample: each distinct stack is walked once."""
    from array import array
    frames = _Frames(native)
    walked: dict[int, array[int]] = {}
    indices, offsets = array("q"), array("q", [0])
    for stack in stacks.to_pylist():
        if stack not in walked:
            walked[stack] = array("q", (k for location in native.stack(stack) for k in frames.of(location)))
        indices.extend(walked[stack])
        offsets.append(len(indices))
    taken = frames.array().take(pa.Array.from_buffers(pa.int64(), len(indices), [None, pa.py_buffer(indices)]))
    if offsets[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), taken)
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), taken)
