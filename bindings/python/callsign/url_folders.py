"""Symbol folders behind URLs, for a Store: an index that is wanted is copied and opened from there."""
from __future__ import annotations

import hashlib
import os
import tempfile
from typing import NamedTuple

from .copies import DEFAULT_CACHE_BYTES, copy_once, index_names, prune
from .store_files import files_of, shown


class Place(NamedTuple):
    """What the native store takes for each name that was tried."""

    is_by_id: bool
    url: str
    path: str | None
    failure: str | None


class UrlFolders:
    def __init__(self, urls: list[str], cache: str | os.PathLike[str] | None) -> None:
        self._temporary = None if cache else tempfile.TemporaryDirectory(prefix="callsign-store-")
        root = os.path.join(cache, "urls") if cache else self._temporary.name if self._temporary else ""
        roots = [url.rstrip("/") for url in urls]
        self._folders = [(shown(url), files_of(url), os.path.join(root, hashlib.sha256(url.encode()).hexdigest()[:16])) for url in roots]
        for _, _, mirror in self._folders:
            os.makedirs(mirror, exist_ok=True)

    def fetch(self, name: str, build_id: bytes) -> list[Place]:
        """All names that were tried, in each folder until one exists."""
        places = []
        for url, files, mirror in self._folders:
            for index in index_names(name, build_id):
                path, failure = os.path.join(mirror, index), None
                is_there = False
                try:
                    result = copy_once(files, index, path)
                    is_there = result != "absent"
                    if result in ("new", "replaced"):
                        prune(mirror, DEFAULT_CACHE_BYTES, keep=path)
                except OSError as error:
                    failure = error.strerror or str(error)
                places.append(Place("/" in index, f"{url}/{index}", path if is_there else None, failure))
                if is_there or failure:
                    break
        return places
