"""Debug files to the indexes of a store, one task a file."""
from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .conversion import convert as convert_file
from .node_store import folders_of, locked
from .store import PathLike, Store

SCHEMA = "path string, build_id string, status string, error string, bytes bigint, seconds double"
STALE_SECONDS = 24 * 3600


def convert(spark: Any, paths: Iterable[PathLike] | PathLike, *, store: Store | PathLike, threads: int = 1, call_sites: bool = True,
            merged_functions: bool = True, timeout: float | None = None) -> Any:
    """Converts debug files into indexes of the store, one Spark task a file, and returns a DataFrame with a row an input, in their order:
    path, build_id (hexadecimal, or null), status, error, bytes (of the index) and seconds.

    status is "converted"; "present": the store had the index of this very file, or a larger one of its build id; or "failed", and `error`
    says why. A file that cannot be converted fails alone, also if the converter crashes or needs longer than `timeout` seconds.

    paths: programs, libraries, debug files, dSYM bundles or Breakpad files, at paths that all nodes see.
    store: a folder that all nodes see; made if it is not there. An index is written as STORE/ab/cdef....gsym by build id, or as
    STORE/NAME.gsym if the file has none.
    threads: of one conversion; Spark already runs one task a core.
    call_sites, merged_functions: keep what tells merged functions apart over a stack.

    Runs at once. An index appears in the store when it is whole, so a job may be killed and run again: what was converted is present
    then."""
    folder = folders_of(store)[0]
    listed = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    os.makedirs(os.path.join(folder, ".callsign"), exist_ok=True)
    _remove_stale(Path(folder, ".callsign"))
    options = {"threads": threads, "call_sites": call_sites, "merged_functions": merged_functions}
    if not listed:
        return spark.createDataFrame([], SCHEMA)
    inputs = spark.createDataFrame(list(enumerate(listed)), "number bigint, path string").coalesce(1).repartition(len(listed))
    rows = inputs.mapInArrow(_ConvertFiles(folder, options, timeout), f"number bigint, {SCHEMA}").collect()
    # Not computed again with each action: a second run would find every index present.
    return spark.createDataFrame([tuple(row)[1:] for row in sorted(rows)], SCHEMA)


class _ConvertFiles:
    """A function for mapInArrow."""

    def __init__(self, folder: str, options: dict[str, Any], timeout: float | None) -> None:
        self.folder, self.options, self.timeout = folder, options, timeout

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        for batch in batches:
            rows = [{"number": number, **convert_row(path, self.folder, self.options, self.timeout)} for number, path in
                    zip(batch.column(0).to_pylist(), batch.column(1).to_pylist())]
            yield pa.RecordBatch.from_pylist(rows, schema=pa.schema([
                ("number", pa.int64()), ("path", pa.string()), ("build_id", pa.string()), ("status", pa.string()), ("error", pa.string()),
                ("bytes", pa.int64()), ("seconds", pa.float64())]))


def convert_row(path: str, folder: str, options: dict[str, Any], timeout: float | None = None) -> dict[str, Any]:
    """Converts one file in a process of its own, so that a crash or too much memory is a row, too."""
    start = time.monotonic()
    request = json.dumps({"path": path, "folder": folder, "options": options})
    row: dict[str, Any] = {"path": path, "build_id": None, "status": "failed", "error": None, "bytes": None}
    try:
        done = subprocess.run([sys.executable, "-m", "callsign.spark_convert"], input=request, capture_output=True, text=True,
                              timeout=timeout, check=False)
        if done.returncode == 0:
            row.update(json.loads(done.stdout))
        elif done.returncode < 0:
            row["error"] = f"the converter was ended by signal {-done.returncode}"
        else:
            row["error"] = done.stderr.strip().rpartition("\n")[2] or f"the converter ended with status {done.returncode}"
    except subprocess.TimeoutExpired:
        row["error"] = f"the conversion needs longer than {timeout} s"
    except OSError as error:
        row["error"] = str(error)
    row["seconds"] = time.monotonic() - start
    return row


# ---- within that process ----

def convert_into(path: str, folder: str, options: dict[str, Any]) -> dict[str, Any]:
    """Publishes the index of one file. Raises Error or OSError."""
    key = source_key(path)
    mark = Path(folder, ".callsign", f"{key}.json")
    there = _read_mark(mark, folder)
    if there:
        return {**there, "status": "present"}
    part = os.path.join(folder, ".callsign", f"{key}.{os.getpid()}.part")
    try:
        report = convert_file(path, part, **options)
        build_id = report["build_id"].hex()
        place = f"{build_id[:2]}/{build_id[2:]}.gsym" if build_id else f"{os.path.basename(path.rstrip('/'))}.gsym"
        status = _publish(part, os.path.join(folder, place), keep_larger=bool(build_id))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
    row = {"build_id": build_id or None, "bytes": os.path.getsize(os.path.join(folder, place))}
    _write_mark(mark, {**row, "place": place})
    return {**row, "status": status}


def _publish(part: str, target: str, keep_larger: bool) -> str:
    """Of a program and its debug file, which have one build id, the one with more to tell stays."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with locked(os.path.join(os.path.dirname(part), "publish.lock")):
        if keep_larger and os.path.exists(target) and os.path.getsize(target) >= os.path.getsize(part):
            return "present"
        os.replace(part, target)
    return "converted"


def source_key(path: str) -> str:
    """Names a file by path, size, time, and the bytes at both ends. A dSYM bundle has the key of its DWARF files."""
    digest = hashlib.sha256(os.fsencode(os.path.abspath(path)))
    files = sorted(Path(path).glob("Contents/Resources/DWARF/*")) if os.path.isdir(path) else [Path(path)]
    for file in files:
        with open(file, "rb") as bytes_of:
            status = os.fstat(bytes_of.fileno())
            digest.update(b"%d %d " % (status.st_size, status.st_mtime_ns))
            digest.update(bytes_of.read(4096))
            bytes_of.seek(max(0, status.st_size - 4096))
            digest.update(bytes_of.read(4096))
    return digest.hexdigest()[:40]


def _read_mark(mark: Path, folder: str) -> dict[str, Any] | None:
    """What is known of an earlier conversion whose index is still in the store."""
    try:
        known = json.loads(mark.read_text(encoding="utf-8"))
        size = os.path.getsize(os.path.join(folder, known["place"]))
    except (OSError, ValueError, KeyError):
        return None
    return {"build_id": known["build_id"], "bytes": size} if size >= known["bytes"] else None


def _write_mark(mark: Path, known: dict[str, Any]) -> None:
    part = mark.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(known), encoding="utf-8")
    os.replace(part, mark)


def _remove_stale(folder: Path) -> None:
    """Parts that a killed task left behind."""
    for part in folder.glob("*.part"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - part.stat().st_mtime > STALE_SECONDS:
                part.unlink()


def _main() -> None:
    request = json.load(sys.stdin)
    try:
        print(json.dumps(convert_into(request["path"], request["folder"], request["options"])))
    except Exception as error:  # noqa: BLE001: whatever it is, it becomes the row's error
        print(json.dumps({"status": "failed", "error": str(error) or type(error).__name__}))


if __name__ == "__main__":
    _main()
