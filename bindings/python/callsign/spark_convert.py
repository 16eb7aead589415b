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
from .node_store import roots_of
from .store import PathLike, Store
from .store_files import WORK_FOLDER, StoreFiles, files_of, is_url

SCHEMA = "path string, build_id string, status string, error string, bytes bigint, seconds double"


def convert(spark: Any, paths: Iterable[PathLike] | PathLike, *, store: Store | PathLike, threads: int = 1, call_sites: bool = True,
            merged_functions: bool = True, timeout: float | None = None) -> Any:
    """Converts debug files into indexes of the store, one Spark task a file, and returns a DataFrame with a row an input, in their order:
    path, build_id (hexadecimal, or null), status, error, bytes (of the index) and seconds.

    status is "converted"; "present": the store had the index of this very file, or a larger one of its build id; or "failed", and `error`
    says why. A file that cannot be converted fails alone, also if the converter crashes or needs longer than `timeout` seconds.

    paths: programs, libraries, debug files, dSYM bundles or Breakpad files, at paths that all nodes see.
    store: a folder that all nodes see, made if it is not there; or a URL of a bucket that pyarrow.fs knows (s3://BUCKET/PREFIX). An index
    is written as STORE/ab/cdef....gsym by build id, or as STORE/NAME.gsym if the file has none.
    threads: of one conversion; Spark already runs one task a core.
    call_sites, merged_functions: keep what tells merged functions apart over a stack.

    Runs at once. An index appears in the store when it is whole, so a job may be killed and run again: what was converted is present
    then."""
    root = roots_of(store)[0]
    listed = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    files = files_of(root)
    files.prepare()
    options = {"threads": threads, "call_sites": call_sites, "merged_functions": merged_functions}
    if not listed:
        return spark.createDataFrame([], SCHEMA)
    rows = _run(spark, listed, root, options, timeout)
    again = _overwritten(rows, files) if is_url(root) else []
    for number, row in zip(again, _run(spark, [listed[number] for number in again], root, options, timeout)):
        rows[number] = row
    # Not computed again with each action: a second run would find every index present.
    return spark.createDataFrame([tuple(row) for row in rows], SCHEMA)


def _run(spark: Any, paths: list[str], root: str, options: dict[str, Any], timeout: float | None) -> list[Any]:
    """The rows of the paths, in their order."""
    if not paths:
        return []
    inputs = spark.createDataFrame(list(enumerate(paths)), "number bigint, path string").coalesce(1).repartition(len(paths))
    rows = inputs.mapInArrow(_ConvertFiles(root, options, timeout), f"number bigint, {SCHEMA}").collect()
    return [row[1:] for row in sorted(rows)]


def _overwritten(rows: list[Any], files: StoreFiles) -> list[int]:
    """The rows whose index is smaller now. Nothing locks in a bucket: of a program and its debug file, which have one build id, the
    smaller index may have been written last."""
    numbers = []
    for number, (_, build_id, status, _, size, _) in enumerate(rows):
        if status == "converted" and build_id:
            there = files.version(_place(build_id, ""))
            if not there or there.size < size:
                numbers.append(number)
    return numbers


class _ConvertFiles:
    """A function for mapInArrow."""

    def __init__(self, root: str, options: dict[str, Any], timeout: float | None) -> None:
        self.root, self.options, self.timeout = root, options, timeout

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        for batch in batches:
            rows = [{"number": number, **convert_row(path, self.root, self.options, self.timeout)} for number, path in
                    zip(batch.column(0).to_pylist(), batch.column(1).to_pylist())]
            yield pa.RecordBatch.from_pylist(rows, schema=pa.schema([
                ("number", pa.int64()), ("path", pa.string()), ("build_id", pa.string()), ("status", pa.string()), ("error", pa.string()),
                ("bytes", pa.int64()), ("seconds", pa.float64())]))


def convert_row(path: str, root: str, options: dict[str, Any], timeout: float | None = None) -> dict[str, Any]:
    """Converts one file in a process of its own, so that a crash or too much memory is a row, too."""
    start = time.monotonic()
    request = json.dumps({"path": path, "store": root, "options": options})
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

def convert_into(path: str, root: str, options: dict[str, Any]) -> dict[str, Any]:
    """Publishes the index of one file. Raises Error or OSError."""
    files = files_of(root)
    key = source_key(path)
    mark = f"{WORK_FOLDER}/{key}.json"
    known = _read_mark(files, mark)
    if known:
        return {**known, "status": "present"}
    part = files.part(key)
    try:
        report = convert_file(path, part, **options)
        build_id = report["build_id"].hex()
        place = _place(build_id, path)
        size = os.path.getsize(part)
        status = files.publish(part, place, keep_larger=bool(build_id))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
    there = files.version(place) if status == "present" else None
    row = {"build_id": build_id or None, "bytes": there.size if there else size}
    files.write(mark, json.dumps({**row, "place": place}).encode())
    return {**row, "status": status}


def _place(build_id: str, path: str) -> str:
    return f"{build_id[:2]}/{build_id[2:]}.gsym" if build_id else f"{os.path.basename(path.rstrip('/'))}.gsym"


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


def _read_mark(files: StoreFiles, mark: str) -> dict[str, Any] | None:
    """What is known of an earlier conversion whose index is still in the store."""
    data = files.read(mark)
    try:
        known = json.loads(data or b"")
        there = files.version(known["place"])
        return {"build_id": known["build_id"], "bytes": there.size} if there and there.size >= known["bytes"] else None
    except (ValueError, KeyError):
        return None


def _main() -> None:
    request = json.load(sys.stdin)
    try:
        print(json.dumps(convert_into(request["path"], request["store"], request["options"])))
    except Exception as error:  # noqa: BLE001: whatever it is, it becomes the row's error
        print(json.dumps({"status": "failed", "error": str(error) or type(error).__name__}))


if __name__ == "__main__":
    _main()
