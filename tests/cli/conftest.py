"""Finds the command and the compilers; builds the programs that the tests ask about.

CALLSIGN names the command to test; otherwise it is build/release/callsign. A compiler that is not installed skips its
tests, visibly."""
import collections
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

import programs
from long_tests import LONG_FILES, ONE_IN, SANITIZED_ONE_IN
from programs import need

CACHE = tempfile.TemporaryDirectory(prefix="callsign-cache-")
os.environ["CALLSIGN_CACHE"] = CACHE.name  # nothing of the user's is read or filled
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and programs would inherit that
ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT = 120


def pytest_configure(config):
    config.addinivalue_line("markers", "plain_build: limits memory, links or preloads a library or tests WebAssembly: a sanitizer's build cannot take it")
    config.addinivalue_line("markers", "web: tests what is compiled to WebAssembly: make check-engines runs it")
    config.addinivalue_line("markers", "long_with_sanitizers: takes half a minute or more with a sanitizer's build: make check-full runs it there")


def pytest_addoption(parser):
    parser.addoption("--short", action="store_true", help="one case in several of the tests that take longest")
    parser.addoption("--sanitized", action="store_true", help="one case in several of the tests that take a sanitizer's build an hour")
    parser.addoption("--one-in", type=int, default=1, metavar="N", help="one case in N of every test")


@pytest.hookimpl(trylast=True)  # -m has chosen
def pytest_collection_modifyitems(config, items):
    """Leaves out cases, if told to, but no function as a whole unless ONE_IN says so. Long files come first: else one worker is busy with
    the last of them while the others have nothing to do."""
    met, kept, left_out = collections.Counter(), [], []
    for item in items:
        name = f"{item.path.stem}::{item.originalname}"
        step = ONE_IN.get(name, 1) if config.getoption("short") else 1
        step *= SANITIZED_ONE_IN.get(name, 1) if config.getoption("sanitized") else 1
        step *= config.getoption("one_in")
        (left_out if not step or met[name] % step else kept).append(item)
        met[name] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = sorted(kept, key=lambda item: item.path.name not in LONG_FILES)


def pytest_make_parametrize_id(config, val, argname):
    """Bytes are named by their parameter: made anew by each worker, they may differ (gzip writes the time), and workers must agree."""
    return argname if isinstance(val, bytes) else None


class Callsign:
    """Runs the command. Text goes in and comes out as UTF-8, whatever the locale is."""

    def __init__(self, path):
        self.path = str(path)
        self.prefix = os.environ.get("CALLSIGN_PREFIX", "").split()  # words before the command

    def run(self, *args, stdin="", env=None, **more):
        if isinstance(stdin, str):
            stdin = stdin.encode()
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        done = subprocess.run([*self.prefix, self.path, *map(str, args)], input=stdin, timeout=TIMEOUT,
                              env={**os.environ, "DEBUGINFOD_URLS": "", **(env or {})}, **more)
        for name in ("stdout", "stderr"):
            if getattr(done, name) is not None:
                setattr(done, name, getattr(done, name).decode("utf-8", "surrogateescape"))
        return done

    def good(self, *args, **more):
        """Runs, wants exit status 0, gives stdout."""
        done = self.run(*args, **more)
        assert done.returncode == 0, (args, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def bad(self, *args, code=2, **more):
        """Runs, wants a failure that is one clear line on stderr and nothing on stdout; gives that line."""
        done = self.run(*args, **more)
        assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
        assert not done.stdout
        lines = done.stderr.splitlines()
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("callsign: "), lines
        return lines[0]


@pytest.fixture(scope="session")
def callsign():
    path = pathlib.Path(os.environ.get("CALLSIGN", ROOT / "build" / "release" / "callsign")).resolve()
    if not path.is_file():
        pytest.exit(f"{path} is not there: build it first, or set CALLSIGN", returncode=2)
    return Callsign(path)


@pytest.fixture(scope="session")
def gcc():
    return need("gcc")


@pytest.fixture(scope="session")
def shapes(tmp_path_factory, gcc):
    """A C program with inlined calls, and the truth about it."""
    return programs.build_shapes(tmp_path_factory.mktemp("shapes"), gcc, ["-g", "-O2"])


@pytest.fixture(scope="session")
def shapes_index(shapes, callsign):
    index = shapes.path.with_suffix(".gsym")
    callsign.good("convert", shapes.path, "-o", index, "--quiet")
    return index


@pytest.fixture(scope="session")
def classes(tmp_path_factory):
    """A C++ program."""
    return programs.build_classes(tmp_path_factory.mktemp("classes"), need("g++"), ["-g", "-O2"])


@pytest.fixture
def index(shapes_index, tmp_path):
    """A copy of the index of shapes, to be damaged."""
    copy = tmp_path / "shapes.gsym"
    shutil.copyfile(shapes_index, copy)
    return copy
