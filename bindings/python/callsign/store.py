"""Find the index of a module."""
from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from . import _native
from .html import table_html
from .store_files import is_url, shown
from .url_folders import UrlFolders

PathLike = str | os.PathLike[str]


class Location(NamedTuple):
    """A place where an index was searched."""

    place: str
    """The kind of place, such as "beside the image"."""
    result: str
    """"used", "absent" or "rejected"."""
    path: str
    text: str
    """Why an index was rejected."""


class Explanation(list[Location]):
    """All places where a module's index was searched, in order. True if one was found."""

    found: bool = False

    def __bool__(self) -> bool:
        return self.found

    def _repr_html_(self) -> str:
        return table_html("found" if self.found else "not found", list(Location._fields), self)


class Store:
    """Finds the symbols of modules: among `indexes`, in symbol folders, beside the module's file, in the cache, and in debug files,
    which are converted.

    folders: symbol folders, with FOLDER/ab/cdef.gsym by build id, Breakpad's layout, or FOLDER/NAME.gsym; or URLs of folders with
        ab/cdef.gsym, .build-id/ab/cdef.gsym or NAME.gsym: http:// and https:// (`callsign serve`, or static files), and what pyarrow.fs
        knows (s3://, gs:// ...). URLs are searched after the folders and the module's own folder, before a conversion.
        An index behind a URL is copied whole, below `cache`, or into a temporary folder that goes with the store. A server that
        fails is tried three times; then the reason has the URL and what it answered, and the next call tries again.
    indexes: paths of indexes that serve every module whose name or build id they match.
    cache: folder in which conversions are kept, shared by processes; True means callsign's default, None that nothing is kept.
    debug_dirs: roots of separate debug files instead of /usr/lib/debug.
    debuginfod: also ask the servers in DEBUGINFOD_URLS.

    Any number of threads may use a store; it works for one at a time."""

    def __init__(self, *folders: PathLike, indexes: Iterable[PathLike] = (), cache: PathLike | bool | None = None,
                 debug_dirs: Iterable[PathLike] = (), debuginfod: bool = False) -> None:
        if cache is True:
            cache = default_cache()
        self.folders = [os.fsdecode(folder) for folder in folders]
        urls = [folder for folder in self.folders if is_url(folder)]
        fetch = UrlFolders(urls, cache or None).fetch if urls else None
        local = [folder for folder in self.folders if not is_url(folder)]
        self._native = _native.Store(local, list(indexes), cache or None, list(debug_dirs), debuginfod, fetch)

    def find(self, name: str = "", build_id: bytes | str = b"") -> Explanation:
        """Searches for a module and tells where: by path or name, build id (bytes or hexadecimal), or both."""
        identity = bytes.fromhex(build_id) if isinstance(build_id, str) else build_id
        found, locations = self._native.find(name, identity)
        explanation = Explanation(Location(*location) for location in locations)
        explanation.found = found
        return explanation

    def close(self) -> None:
        """Closes the store and its indexes, as soon as no call uses them."""
        self._native.close()

    @property
    def closed(self) -> bool:
        return self._native.closed

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {', '.join(map(shown, self.folders)) or 'without folders'}{': closed' if self.closed else ''}>"


def default_cache() -> Path:
    """$CALLSIGN_CACHE, or callsign in $XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get("CALLSIGN_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "callsign"
