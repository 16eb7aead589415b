"""Copies of the indexes of a store: their names there, and each copied once."""
from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from .store_files import StoreFiles, Version, locked

COPY_TRIES = 3
DEFAULT_CACHE_BYTES = 64 << 30


def index_names(name: str, build_id: bytes) -> Iterator[str]:
    """The names that an index may have in a folder, for a module's name or path and build id."""
    if build_id:
        digits = build_id.hex()
        yield f"{digits[:2]}/{digits[2:]}.gsym"
        yield f".build-id/{digits[:2]}/{digits[2:]}.gsym"
    base = name.replace("\\", "/").rpartition("/")[2]
    if base not in ("", ".", "..") and base.isprintable():
        yield f"{base}.gsym"


def _is_copy(source: Version, target: str) -> bool:
    try:
        there = os.stat(target)
    except FileNotFoundError:
        return False
    return (there.st_size, there.st_mtime_ns) == source


def copy_once(files: StoreFiles, name: str, target: str) -> str:
    """Copies a file of the store unless the copy is there; tasks that want the same one wait. Returns "new", "replaced" if an older copy
    was, "there", or "absent" if the store has no such file.

    The copy appears under its name when it is whole. Raises OSError after three tries."""
    for left in reversed(range(COPY_TRIES)):
        try:
            return _copy_locked(files, name, target)
        except OSError:
            if not left:
                raise
            time.sleep(0.2)
    raise AssertionError


def _copy_locked(files: StoreFiles, name: str, target: str) -> str:
    source = files.version(name)
    if not source:
        return "absent"
    if _is_copy(source, target):
        return "there"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with locked(target + ".lock"):
        if _is_copy(source, target):
            return "there"
        is_replaced = os.path.exists(target)
        part = f"{target}.{os.getpid()}.part"
        try:
            files.fetch(name, part, source)
            os.replace(part, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
    return "replaced" if is_replaced else "new"


def prune(root: str, limit: int, keep: str = "") -> None:
    """Removes the copies that were used longest ago until the rest fits. Files that are open stay readable."""
    files = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                files.append((status.st_atime_ns, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit:
            return
        if str(path) == keep or path.suffix == ".lock":
            continue
        path.unlink(missing_ok=True)
        total -= size
