"""A store on a node of a cluster: the indexes that its tasks need are copied to the node's disk once and mapped from there."""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .store import Store

ID_DIGITS_MIN = 16
COPY_TRIES = 3
DEFAULT_CACHE_BYTES = 64 << 30


class StoreSpec(NamedTuple):
    """What a task needs to know of a store; it is sent to the executors in place of the store."""

    folders: tuple[str, ...]
    cache: str | None
    """Folder on the node; "" means a folder of the user's in the node's temporary folder, None that nothing is copied."""
    cache_bytes: int


def folders_of(store: object) -> tuple[str, ...]:
    """The folders of a store that executors can open by path. Raises TypeError or ValueError."""
    if isinstance(store, Store):
        if not store.folders:
            raise ValueError("executors need a store with folders")
        return tuple(os.path.abspath(folder) for folder in store.folders)
    folder = os.fspath(store)  # type: ignore[call-overload]
    if "://" in folder:
        raise ValueError(f"a store is a folder that all nodes see, not {folder}")
    return (os.path.abspath(folder),)


class NodeStore:
    """Finds indexes in the folders and mirrors them, with their layout, on the node. One process uses it."""

    def __init__(self, spec: StoreSpec) -> None:
        self.spec = spec
        self.known: dict[str | bytes, str | None] = {}
        """Modules since begin_task(), and why their index could not be copied."""
        self.stores: list[Store] = []
        self.roots = [folder if spec.cache is None else _mirror_of(folder, spec.cache) for folder in spec.folders]
        self.store = Store(*self.roots)

    def begin_task(self) -> None:
        """Looks at the store again: indexes may have been added, replaced or lost."""
        self.known.clear()

    def prepare(self, modules: Iterable[str | bytes | None]) -> dict[str | bytes, str]:
        """Copies the indexes of modules. Returns why that failed, for those modules for which it did."""
        modules = [module for module in modules if module]
        if self.spec.cache is None:
            return {}
        new = [module for module in modules if module not in self.known]
        if new:
            with Store(*self.spec.folders) as source:
                for module in new:
                    self.known[module] = self._mirror(source, module)
        return {module: text for module in modules if (text := self.known[module])}

    def _mirror(self, source: Store, module: str | bytes) -> str | None:
        try:
            for path in _index_paths(source, module):
                self._copy(path)
        except OSError as error:
            return f"there is no index for the module; {error.filename or ''}: {error.strerror or error}"
        return None

    def _copy(self, path: str) -> None:
        for folder, root in zip(self.spec.folders, self.roots):
            if os.path.commonpath([folder, os.path.abspath(path)]) == folder:
                target = os.path.join(root, os.path.relpath(path, folder))
                if copy_once(path, target):
                    # An index of the same path may be open.
                    self.store = Store(*self.roots)
                    prune(root, self.spec.cache_bytes, keep=target)
                return


def _index_paths(source: Store, module: str | bytes) -> Iterator[str]:
    """The files that a search considers, whether it accepts them or not: the copy is accepted or refused for the same reason."""
    for name, identity in _identities(module):
        found = source.find(name, identity)
        for place in found:
            if place.path and place.result != "absent":
                yield place.path
        if found:
            return


def _identities(module: str | bytes) -> Iterator[tuple[str, bytes]]:
    """(name, build id), as csn_symbolicate_arrow() reads a module."""
    text = module if isinstance(module, str) else module.decode("utf-8", "replace")
    if len(text) >= ID_DIGITS_MIN and len(text) % 2 == 0:
        with contextlib.suppress(ValueError):
            yield "", bytes.fromhex(text)
            return
    if isinstance(module, bytes):
        yield "", module
    yield text, b""


def _mirror_of(folder: str, cache: str) -> str:
    root = cache or os.path.join(tempfile.gettempdir(), f"callsign-spark-{os.getuid()}")
    os.makedirs(root, mode=0o700, exist_ok=True)
    if not cache and os.stat(root).st_uid != os.getuid():
        raise PermissionError(f"{root} belongs to another user")
    mirror = os.path.join(root, hashlib.sha256(os.fsencode(folder)).hexdigest()[:16])
    os.makedirs(mirror, exist_ok=True)
    return mirror


@contextlib.contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Holds a lock file; the system releases it when the process dies."""
    with open(path, "a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_copy(source: os.stat_result, target: str) -> bool:
    try:
        there = os.stat(target)
    except FileNotFoundError:
        return False
    return (there.st_size, there.st_mtime_ns) == (source.st_size, source.st_mtime_ns)


def copy_once(path: str, target: str) -> bool:
    """Copies a file unless the copy is there; tasks that want the same one wait. Returns whether an older copy was replaced.

    The copy appears under its name when it is whole. Raises OSError after three tries."""
    for left in reversed(range(COPY_TRIES)):
        try:
            source = os.stat(path)
            if _is_copy(source, target):
                return False
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with locked(target + ".lock"):
                if _is_copy(source, target):
                    return False
                replaced = os.path.exists(target)
                _copy_whole(path, target)
                return replaced
        except FileNotFoundError:
            raise
        except OSError:
            if not left:
                raise
            time.sleep(0.2)
    raise AssertionError


def _copy_whole(path: str, target: str) -> None:
    part = f"{target}.{os.getpid()}.part"
    try:
        shutil.copyfile(path, part)
        shutil.copystat(path, part)
        os.replace(part, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


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
