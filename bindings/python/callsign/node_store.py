"""A store on a node of a cluster: the indexes that its tasks need are copied to the node's disk once and mapped from there."""
from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .copies import copy_once, index_names, prune
from .store import Store
from .store_files import files_of, is_url

ID_DIGITS_MIN = 16


class StoreSpec(NamedTuple):
    """What a task needs to know of a store; it is sent to the executors in place of the store."""

    roots: tuple[str, ...]
    """Folders that all nodes see, and URLs."""
    cache: str | None
    """Folder on the node; "" means a folder of the user's in the node's temporary folder, None that nothing is copied."""
    cache_bytes: int


def roots_of(store: object) -> tuple[str, ...]:
    """The folders and URLs of a store that executors can open. Raises TypeError or ValueError."""
    if isinstance(store, Store):
        if not store.folders:
            raise ValueError("executors need a store with folders")
        return tuple(map(_root_of, store.folders))
    return (_root_of(os.fspath(store)),)  # type: ignore[call-overload]


def _root_of(folder: str) -> str:
    return folder.rstrip("/") if is_url(folder) else os.path.abspath(folder)


class NodeStore:
    """Finds indexes in the folders and behind the URLs, and mirrors them, with their layout, on the node. One process uses it."""

    def __init__(self, spec: StoreSpec) -> None:
        self.spec = spec
        self.known: dict[str | bytes, str | None] = {}
        """Modules since begin_task(), and why their index could not be copied."""
        self.mirrors = [root if spec.cache is None else _mirror_of(root, spec.cache) for root in spec.roots]
        self.files = [files_of(root) for root in spec.roots]
        self.store = Store(*self.mirrors)

    def begin_task(self) -> None:
        """Looks at the store again: indexes may have been added, replaced or lost."""
        self.known.clear()

    def prepare(self, modules: Iterable[str | bytes | None]) -> dict[str | bytes, str]:
        """Copies the indexes of modules. Returns why that failed, for those modules for which it did."""
        wanted = [module for module in modules if module]
        if self.spec.cache is None:
            return {}
        new = [module for module in wanted if module not in self.known]
        if new:
            with Store(*(root for root in self.spec.roots if not is_url(root))) as folders:
                for module in new:
                    self.known[module] = self._mirror(folders, module)
        return {module: text for module in wanted if (text := self.known[module])}

    def _mirror(self, folders: Store, module: str | bytes) -> str | None:
        try:
            for path in _index_paths(folders, module) if folders.folders else ():
                self._copy_from_folder(path)
            for number, root in enumerate(self.spec.roots):
                if is_url(root):
                    self._copy_from_url(number, module)
        except OSError as error:
            return f"there is no index for the module; {error.filename or ''}: {error.strerror or error}"
        return None

    def _copy_from_folder(self, path: str) -> None:
        for number, folder in enumerate(self.spec.roots):
            if not is_url(folder) and os.path.commonpath([folder, os.path.abspath(path)]) == folder:
                self._copy(number, os.path.relpath(path, folder))
                return

    def _copy_from_url(self, number: int, module: str | bytes) -> None:
        """The first of the names that exists."""
        for name in _index_names(module):
            if self._copy(number, name):
                return

    def _copy(self, number: int, name: str) -> bool:
        target = os.path.join(self.mirrors[number], name)
        result = copy_once(self.files[number], name, target)
        if result == "replaced":
            # An index of the same path may be open.
            self.store = Store(*self.mirrors)
        if result in ("new", "replaced"):
            prune(self.mirrors[number], self.spec.cache_bytes, keep=target)
        return result != "absent"


def _index_paths(source: Store, module: str | bytes) -> Iterator[str]:
    """The files that a search considers, whether it accepts them or not: the copy is accepted or refused for the same reason."""
    for name, identity in _identities(module):
        found = source.find(name, identity)
        for place in found:
            if place.path and place.result != "absent":
                yield place.path
        if found:
            return


def _index_names(module: str | bytes) -> Iterator[str]:
    """The names under which a store behind a URL may have the index."""
    for name, identity in _identities(module):
        yield from index_names(name, identity)


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
