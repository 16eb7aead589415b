"""Profiles: samples of call stacks, with names filled in."""
from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from .html import table_html
from .index import whole_number
from .store import PathLike, Store
from .symbolicator import Symbolicator

if TYPE_CHECKING:
    import pyarrow

_FORMATS = {"pprof": 1, "otlp": 2, "firefox": 3, "folded": 4, "html": 5, "perf-script": 6, "otlp-json": 7, "legacy": 8}
_READ = ("pprof", "otlp", "otlp-json", "firefox", "legacy")
_WRITTEN = tuple(name for name in _FORMATS if name != "legacy")
_SUFFIXES = {".pb.gz": "pprof", ".pprof": "pprof", ".pb": "pprof", ".otlp": "otlp", ".otlp.json": "otlp-json", ".json": "firefox", ".perf": "perf-script",
             ".folded": "folded", ".html": "html"}
_CHUNK = 4096


class ProfileFrame(NamedTuple):
    """A frame of a sample's stack: a function, or an inlined call."""

    function: str
    """Empty if nothing is known."""
    file: str | None
    line: int | None
    inlined: bool
    """Inlined into the next frame."""
    module: str | None
    address: int
    """As the profile has it: in the image, in the process or from the image's first byte; 0 if there is only a name."""

    def __str__(self) -> str:
        return self.function or f"{os.path.basename(self.module) + '+' if self.module else ''}{self.address:#x}"


class Sample(NamedTuple):
    """One sample, or with equal samples added up all of them."""

    stack: tuple[ProfileFrame, ...]
    """Innermost first. Equal stacks of a profile are the same object."""
    values: dict[str, int]
    """By type, such as "samples" or "cpu"."""
    time_ns: int
    """Of the input's clock; 0 without every_sample, as are the fields below."""
    process: str
    pid: int
    thread: str
    tid: int
    labels: dict[str, str | int | list[str | int]]
    """As pprof has them; numbers with their unit in the key, such as "bytes (bytes)". A key with several labels has a list of their values,
    in their order."""


class Named(NamedTuple):
    """What Profile.symbolicate() found, in distinct places of the program."""

    locations: int
    """Places with an address."""
    named: int
    """Of them: got a function."""
    kept: int
    """Of them: keep the name that the input gave."""
    unknown: int
    """Of them: have no name."""
    merged: int
    """Of them: several functions are folded there."""
    chosen: int
    """Frames of distinct stacks whose merged function the callers decided."""
    undecided: int
    """Those that they did not decide."""
    modules: int
    missing: list[tuple[str, bytes]]
    """Path and build id of the modules for which no index was found."""


class Total(NamedTuple):
    """What a function has of a profile."""

    function: str
    own: int
    """In samples whose innermost frame it is."""
    total: int
    """In samples of which it is anywhere in the stack; counted once each."""


class Profile:
    """Samples of call stacks, from one input or several, in the formats of pprof, OpenTelemetry and the Firefox Profiler (samply).

    >>> profile = callsign.Profile("cpu.pb.gz")
    >>> profile.symbolicate(callsign.Store("symbols"))
    >>> profile.write("named.html")

    paths: files to read.
    every_sample: keep each sample with its thread and time, for the Firefox format. Otherwise samples that differ in nothing are
    added up, and memory depends on the number of distinct stacks only.
    merge_inputs: add up samples of different files, too, which "html" then does not tell apart.

    Raises Error if a file cannot be read, or has an unknown format. Any number of threads may use a profile; it works for one at a
    time. The text of `perf script` and folded stacks are read by the command `callsign profile`."""

    def __init__(self, *paths: PathLike, every_sample: bool = False, merge_inputs: bool = False) -> None:
        self._native = _native.Profile(every_sample, merge_inputs)
        self._every_sample = every_sample
        for path in paths:
            self.read(path)

    def read(self, path: PathLike, *, format: str | None = None) -> None:
        """Adds a file. format: "pprof", "otlp", "otlp-json", "firefox" or "legacy" (texts and CPU profiles of gperftools, jemalloc and Go); None
        means by its first bytes. After an Error the profile holds a part of the file: close it. Releases the GIL."""
        self._native.read(path, _format_number(format, reading=True))

    def read_bytes(self, data: Any, *, name: str = "", format: str | None = None) -> None:
        """The same for bytes in memory, or another buffer, which is not copied. `name` is shown where inputs are told apart."""
        self._native.read_bytes(name, data, _format_number(format, reading=True))

    def symbolicate(self, store: Store | Symbolicator | PathLike, *, demangle: bool = True) -> Named:
        """Fills in functions, files, lines and inlined calls. What an index knows replaces what the input said.

        store: a Store, a folder for one, or a Symbolicator, whose `demangle` decides then.

        Each distinct address is looked up once; merged functions are chosen by whole stacks. Releases the GIL."""
        if isinstance(store, Symbolicator):
            demangle = store.demangle
            store = store.store
        native = (store if isinstance(store, Store) else Store(store))._native
        counts, missing = self._native.symbolicate(native, not demangle)
        return Named(**counts, missing=missing)

    def write(self, path: PathLike, *, format: str | None = None, title: str | None = None) -> None:
        """Writes the profile under a temporary name, which replaces `path` at the end.

        format: "pprof" (.pb.gz, or .pb without gzip), "firefox" (.json), "otlp" (.otlp), "otlp-json" (.otlp.json), "folded" (.folded), "html" (.html) or
        "perf-script" (.perf); None means by the name. title: of a page. Releases the GIL."""
        name = os.fsdecode(path)
        if format is None:
            format = next((found for suffix, found in _SUFFIXES.items() if name.endswith(suffix)), None)
            if format is None:
                raise ValueError(f"{name}: the name does not say which format, give format=")
        self._native.write(path, _format_number(format), name.endswith(".pb"), title)

    def to_bytes(self, format: str, *, plain: bool = False, title: str | None = None) -> bytes:
        """The profile in a format, as write() writes it. plain: pprof without gzip."""
        if format is None:
            raise TypeError(f"to_bytes() needs a format: {', '.join(_WRITTEN)}")
        data: bytes = self._native.write(None, _format_number(format), plain, title)
        return data

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers of samples (as read), distinct_samples (as kept), stacks, locations, modules, inputs, of things left_out that
        the reader met and cannot keep, such as markers, of attributes_left_out and links of OTLP, of lost_lines, which do not fit into 32 bits, and of additions whose sums_cut to
        64 bits are the largest number of their sign. weight_scale: what weights with fractions of the last input were taken times
        ("samples x10"); 1 for all others."""
        return self._native.sizes()

    @property
    def value_types(self) -> list[tuple[str, str]]:
        """Type and unit of the values that each sample has, such as ("cpu", "nanoseconds")."""
        return self._native.value_types()

    def samples(self) -> Iterator[Sample]:
        """Iterates over the samples as they are kept."""
        names = _value_names(self.value_types)
        stacks = _Stacks(self._native)
        first = 0
        while rows := self._native.samples(first, _CHUNK):
            for number, (stack, values, time_ns, (process, pid, thread, tid)) in enumerate(rows, first):
                yield Sample(stacks.get(stack), dict(zip(names, values)), time_ns, process, pid, thread, tid, _labels(self._native.labels(number)))
            first += len(rows)

    def __iter__(self) -> Iterator[Sample]:
        return self.samples()

    def top(self, count: int = 20, *, value: str | None = None) -> list[Total]:
        """The functions with most of a value in samples where they are innermost. value: its type; None means the first."""
        count = whole_number("count", count, 64)
        names = _value_names(self.value_types)
        chosen = value if value is not None else (names[0] if names else "")
        if chosen not in names and names:
            raise ValueError(f"no values of type {chosen!r}, there are {', '.join(names)}")
        own: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for sample in self.samples():
            amount = sample.values.get(chosen, 0)
            frames = [str(frame) for frame in sample.stack]
            if frames:
                own[frames[0]] += amount
            for frame in set(frames):
                total[frame] += amount
        return sorted((Total(name, own[name], total[name]) for name in total), key=lambda t: (-t.own, -t.total, t.function))[:count]

    def to_arrow(self) -> pyarrow.Table:
        """The samples as an Arrow table: `stack`, a list<struct<function, file, line, inlined, module, address>> with dictionaries
        for texts, innermost first; a column of int64 for each value type, with its unit in the field's metadata; `time_ns` and `tid`
        with every_sample. Needs pyarrow."""
        from .profile_table import table_of
        return table_of(self._native, _value_names(self.value_types), self.value_types, self._every_sample)

    def close(self) -> None:
        """Releases the profile's memory, as soon as no call uses it."""
        self._native.close()

    @property
    def closed(self) -> bool:
        return self._native.closed

    def __len__(self) -> int:
        return self.sizes["distinct_samples"]

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<Profile: closed>"
        sizes = self.sizes
        types = ", ".join(f"{kind} in {unit}" for kind, unit in self.value_types)
        return f"<Profile: {sizes['samples']:,} samples, {sizes['stacks']:,} stacks, {types or 'no values'}>"

    def _repr_html_(self) -> str:
        if self.closed:
            return table_html("closed", [], [])
        types = self.value_types
        caption = repr(self)[1:-1] + (f". {types[0][0]} by function:" if types else "")
        return table_html(caption, ["function", "own", "total"], self.top())


class _Stacks:
    """The stacks of a profile, each made once."""

    def __init__(self, native: _native.Profile) -> None:
        self._native = native
        self._locations: dict[int, tuple[ProfileFrame, ...]] = {}
        self._stacks: dict[int, tuple[ProfileFrame, ...]] = {}

    def _location(self, number: int) -> tuple[ProfileFrame, ...]:
        known = self._locations.get(number)
        if known is None:
            module, _, value, _, frames = self._native.location(number)
            path = None if module is None else self._native.module(module)[0]
            known = self._locations[number] = tuple(
                ProfileFrame(function, file, line, inlined, path, value)
                for function, file, line, inlined in frames or [("", None, None, False)])
        return known

    def get(self, number: int) -> tuple[ProfileFrame, ...]:
        known = self._stacks.get(number)
        if known is None:
            known = self._stacks[number] = tuple(frame for location in self._native.stack(number) for frame in self._location(location))
        return known


def _format_number(name: str | None, *, reading: bool = False) -> int:
    if name is None:
        return 0
    known = _READ if reading else _WRITTEN
    if name not in known:
        raise ValueError(f"{name!r} is not a format that can be {'read' if reading else 'written'}: {', '.join(known)}")
    return _FORMATS[name]


def _labels(rows: list[tuple[str, str | int, str]]) -> dict[str, str | int | list[str | int]]:
    values: dict[str, list[str | int]] = {}
    for key, value, unit in rows:
        values.setdefault(key if isinstance(value, str) or not unit else f"{key} ({unit})", []).append(value)
    return {key: found if len(found) > 1 else found[0] for key, found in values.items()}


def _value_names(types: list[tuple[str, str]]) -> list[str]:
    """The types, with their unit if two are the same, or if columns of tables have such a name; with a number if the unit is the same, too."""
    counts = Counter([kind for kind, _ in types] + ["stack", "time_ns", "tid"])
    names = [kind if counts[kind] == 1 else f"{kind} ({unit})" for kind, unit in types]
    return [name if name not in names[:k] else f"{name} {names[:k].count(name) + 1}" for k, name in enumerate(names)]
