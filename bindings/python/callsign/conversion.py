"""Convert debug information into an index."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _native
from .html import table_html
from .index import whole_number

Progress = Callable[[str, int, int], object]


class Report(dict[str, Any]):
    """What a conversion read, wrote, merged and dropped: `functions`, `rows`, `inlined_calls`, `call_sites`, `merged_functions`, `files`,
    `input_bytes`, `output_bytes`, `build_id` (bytes), and `events`: {name: (count, first example)}."""

    output: str

    def __repr__(self) -> str:
        return (f"<Report of {self.output}: {self['functions']:,} functions, {self['rows']:,} rows, "
                f"{self['inlined_calls']:,} inlined calls>")

    def _repr_html_(self) -> str:
        rows = [[name, value.hex() if name == "build_id" else value] for name, value in self.items() if name != "events"]
        rows += [[name, f"{count:,} (first: {example})"] for name, (count, example) in self["events"].items()]
        return table_html(self.output, ["", ""], rows)


def convert(input: str | os.PathLike[str], output: str | os.PathLike[str], *, format: str = "gsym", threads: int = 0,
            strict: bool = False, call_sites: bool = False, merged_functions: bool = False, companions: bool = True,
            progress: Progress | bool | None = None) -> Report:
    """Converts a program, library, debug file, dSYM bundle, Breakpad file or index into an index at `output`.

    format: "gsym", "gsym-v2", "gsym-section", "bsym" or "breakpad".
    threads: 0 means one for each core. The output does not depend on it.
    strict: anything dropped or damaged is an error.
    call_sites, merged_functions: keep what tells merged functions apart over a stack.
    companions: search for debug files where debuggers do (never over the network).
    progress: called as progress(phase, done, total); return False, or raise, to stop. True shows a bar of tqdm.

    `output` is written under another name and renamed: on a failure the old file stays. Raises Error. Releases the GIL."""
    threads = whole_number("threads", threads, 32)
    if not (callable(progress) or progress in (None, True, False)):
        raise TypeError(f"progress is {progress!r}, need a callable, True or None")
    bar = _tqdm_progress() if progress is True else None
    try:
        report = Report(_native.convert(input, output, format=format, threads=threads, strict=strict, call_sites=call_sites,
                                        merged_functions=merged_functions, companions=companions,
                                        progress=bar or (progress if callable(progress) else None)))
    finally:
        if bar:
            bar.close()
    report.output = os.fspath(output)
    return report


def _tqdm_progress() -> Any:
    from tqdm.auto import tqdm

    class Bar:
        def __init__(self) -> None:
            self.bar = tqdm(unit="B", unit_scale=True)

        def __call__(self, phase: str, done: int, total: int) -> None:
            self.bar.set_description(phase, refresh=False)
            self.bar.total = total
            self.bar.update(done - self.bar.n)

        def close(self) -> None:
            self.bar.close()

    return Bar()
