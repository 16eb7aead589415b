"""Where the files of a shared store lie: in a folder that all nodes see, in a bucket, or behind a web server.

Names are relative to the store, with "/" between their parts."""
from __future__ import annotations

import contextlib
import email.utils
import errno
import fcntl
import os
import shutil
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

WEB_TIMEOUT_SECONDS = 30
STALE_SECONDS = 24 * 3600
WORK_FOLDER = ".callsign"


class Version(NamedTuple):
    """A file that was replaced has another one."""

    size: int
    time_ns: int


class StoreFiles(Protocol):
    """The methods raise OSError, with the file's path or URL as its filename."""

    def version(self, name: str) -> Version | None:
        """None if there is no such file."""

    def fetch(self, name: str, target: str, expected: Version) -> None:
        """Copies the file, whole or not at all; the copy has the time of the version."""

    def read(self, name: str) -> bytes | None:
        """A small file's bytes; None if there is no such file."""

    def write(self, name: str, data: bytes) -> None:
        """Replaces a small file at once."""

    def part(self, name: str) -> str:
        """A path of this process for a file that is being written."""

    def publish(self, part: str, name: str, keep_larger: bool) -> str:
        """Gives a finished part its name: "converted"; or "present": the file that is there is at least as large and stays."""

    def prepare(self) -> None:
        """Before files are written."""


def is_url(root: str) -> bool:
    return "://" in root


def shown(url: str) -> str:
    """The URL without the secrets that it may hold."""
    scheme, separator, rest = url.partition("?")[0].partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}".rstrip("/")


def files_of(root: str) -> StoreFiles:
    """Of a folder, an http(s) URL, or a URL that pyarrow.fs knows (s3, gs, hdfs ...). Raises ValueError for another one."""
    if not is_url(root):
        return FolderFiles(root)
    return WebFiles(root) if root.startswith(("http://", "https://")) else ObjectFiles(root)


@contextlib.contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Holds a lock file; the system releases it when the process dies."""
    with open(path, "a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _finish_copy(url: str, target: str, expected: Version) -> None:
    size = os.path.getsize(target)
    if size != expected.size:
        raise OSError(errno.EIO, f"{size} bytes arrived of {expected.size}", url)
    os.utime(target, ns=(time.time_ns(), expected.time_ns))


class FolderFiles:
    def __init__(self, root: str) -> None:
        self.root = root

    def path(self, name: str) -> str:
        return os.path.join(self.root, name)

    def version(self, name: str) -> Version | None:
        try:
            status = os.stat(self.path(name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Version(status.st_size, status.st_mtime_ns)

    def fetch(self, name: str, target: str, expected: Version) -> None:
        shutil.copyfile(self.path(name), target)
        _finish_copy(self.path(name), target, expected)

    def read(self, name: str) -> bytes | None:
        try:
            return Path(self.path(name)).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, data: bytes) -> None:
        part = f"{self.path(name)}.{os.getpid()}.part"
        Path(part).write_bytes(data)
        os.replace(part, self.path(name))

    def part(self, name: str) -> str:
        return self.path(f"{WORK_FOLDER}/{name}.{os.getpid()}.part")

    def publish(self, part: str, name: str, keep_larger: bool) -> str:
        target = self.path(name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with locked(self.path(f"{WORK_FOLDER}/publish.lock")):
            if keep_larger and os.path.exists(target) and os.path.getsize(target) >= os.path.getsize(part):
                return "present"
            os.replace(part, target)
        return "converted"

    def prepare(self) -> None:
        """Removes the parts that a killed task left behind."""
        work = Path(self.path(WORK_FOLDER))
        work.mkdir(parents=True, exist_ok=True)
        for part in work.glob("*.part"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - part.stat().st_mtime > STALE_SECONDS:
                    part.unlink()


class ObjectFiles:
    """A bucket, through pyarrow.fs: an object appears when its upload is complete. Nothing locks: of two uploads under one name the
    last one stays."""

    def __init__(self, url: str) -> None:
        import pyarrow as pa
        from pyarrow import fs
        try:
            self.files, self.root = fs.FileSystem.from_uri(url)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{shown(url)}: {error}") from None
        self.url = shown(url)

    def path(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{name}"

    @contextlib.contextmanager
    def _named(self, name: str) -> Iterator[None]:
        """Errors get the object's URL; pyarrow's own have none."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno or errno.EIO, error.strerror or str(error), f"{self.url}/{name}") from error

    def version(self, name: str) -> Version | None:
        with self._named(name):
            info: Any = self.files.get_file_info(self.path(name))
        return Version(info.size, info.mtime_ns or 0) if info.is_file else None

    def fetch(self, name: str, target: str, expected: Version) -> None:
        with self._named(name), self.files.open_input_stream(self.path(name)) as source, open(target, "wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        _finish_copy(f"{self.url}/{name}", target, expected)

    def read(self, name: str) -> bytes | None:
        if not self.version(name):
            return None
        with self._named(name), self.files.open_input_stream(self.path(name)) as source:
            return bytes(source.read())

    def write(self, name: str, data: bytes) -> None:
        with self._named(name), self.files.open_output_stream(self.path(name)) as out:
            out.write(data)

    def part(self, name: str) -> str:
        return os.path.join(tempfile.gettempdir(), f"callsign-{name}.{os.getpid()}.part")

    def publish(self, part: str, name: str, keep_larger: bool) -> str:
        there = self.version(name) if keep_larger else None
        if there and there.size >= os.path.getsize(part):
            return "present"
        with self._named(name), open(part, "rb") as source, self.files.open_output_stream(self.path(name)) as out:
            shutil.copyfileobj(source, out, 1 << 20)
        return "converted"

    def prepare(self) -> None:
        """Objects need no folders, and an upload that breaks off leaves none."""


class WebFiles:
    """A web server, such as `callsign serve` or a folder of static files. It is read only."""

    def __init__(self, url: str) -> None:
        if shown(url) != url.rstrip("/"):
            raise ValueError(f"{shown(url)}: the URL of a web server has no user, password or query")
        self.url = url.rstrip("/")

    def _open(self, name: str, method: str) -> Any:
        url = f"{self.url}/{urllib.parse.quote(name)}"
        try:
            return urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=WEB_TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (404, 410):
                raise FileNotFoundError(errno.ENOENT, "the server has no such file", url) from None
            raise OSError(errno.EIO, f"the server answers {error.code} {error.reason}", url) from None
        except urllib.error.URLError as error:
            raise OSError(errno.EIO, str(error.reason), url) from None

    def version(self, name: str) -> Version | None:
        try:
            with self._open(name, "HEAD") as answer:
                return _version_of(answer)
        except FileNotFoundError:
            return None

    def fetch(self, name: str, target: str, expected: Version) -> None:
        with self._open(name, "GET") as answer, open(target, "wb") as copy:
            shutil.copyfileobj(answer, copy, 1 << 20)
        _finish_copy(f"{self.url}/{name}", target, expected)

    def read(self, name: str) -> bytes | None:
        try:
            with self._open(name, "GET") as answer:
                return bytes(answer.read())
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        raise self._read_only(name)

    def part(self, name: str) -> str:
        raise self._read_only(name)

    def publish(self, part: str, name: str, keep_larger: bool) -> str:
        raise self._read_only(name)

    def prepare(self) -> None:
        raise self._read_only("")

    def _read_only(self, name: str) -> OSError:
        return OSError(errno.EROFS, "a store behind a web server can be read only", f"{self.url}/{name}")


def _version_of(answer: Any) -> Version:
    size = answer.headers.get("Content-Length")
    if size is None or not size.isdecimal():
        raise OSError(errno.EIO, f"the server gives no Content-Length, but {size!r}" if size else "the server gives no Content-Length", answer.url)
    modified = answer.headers.get("Last-Modified")
    try:
        seconds = int(email.utils.parsedate_to_datetime(modified).timestamp()) if modified else 0
    except ValueError:
        seconds = 0
    return Version(int(size), seconds * 1_000_000_000)
