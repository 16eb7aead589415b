"""Debug files from a real debuginfod server on a loopback port, with a cache of the test's own."""
import contextlib
import shutil
import socket
import subprocess
import urllib.error
import urllib.request

import pytest

import programs
from programs import need, wait_for
from test_companions import Split, convert, event, exporting, has_lines, run_tool  # noqa: F401

TRIES = 3  # it takes no port of the system's choice, and another program may be quicker


@contextlib.contextmanager
def held_port():
    """A port on which nobody listens, nor can."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def free_port():
    with held_port() as port:
        return port


def get(url):
    """The status of a GET, 0 where nobody answers yet."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@contextlib.contextmanager
def serving(folder, identity):
    """A server that has found the debug file with that build id below `folder`."""
    server = need("debuginfod")
    for _ in range(TRIES):
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        command = [server, "-F", str(folder), "-p", str(port), "-d", ":memory:", "-t", "0", "-g", "0", "-c", "1"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            wait_for(lambda: process.poll() is not None or get(f"{url}/buildid/{identity}/debuginfo") == 200)
            if process.poll() is None:
                yield url
                return
        finally:
            process.terminate()
            process.wait(timeout=30)
    pytest.fail(f"debuginfod ended {TRIES} times")


@pytest.fixture(scope="module")
def served(tmp_path_factory, exporting):  # noqa: F811
    folder = tmp_path_factory.mktemp("served")
    split = Split(folder, exporting)
    shelf = folder / "shelf"
    shelf.mkdir()
    shutil.copyfile(split.debug, shelf / "app.debug")
    with serving(shelf, split.id) as url:
        yield url


@pytest.fixture
def client(served, tmp_path):
    """The environment of a client with an empty cache."""
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")
    known = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=True).stdout
    if "libdebuginfod.so.1" not in known:
        pytest.skip("libdebuginfod1 is not installed")
    return {"DEBUGINFOD_URLS": served, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"), "DEBUGINFOD_TIMEOUT": "30",
            "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1", "HOME": str(tmp_path)}


@pytest.fixture
def split(tmp_path, exporting):  # noqa: F811
    return Split(tmp_path, exporting)


def test_found_on_the_server_then_in_the_cache(callsign, split, client, tmp_path):
    cached = tmp_path / "cache" / split.id / "debuginfo"
    said = convert(callsign, split.image, env=client)
    assert f"debug information from {cached}\n" in said
    assert has_lines(callsign, split)
    assert cached.read_bytes() == split.debug.read_bytes()
    with held_port() as port:
        nobody = {**client, "DEBUGINFOD_URLS": f"http://127.0.0.1:{port}"}
        assert f"debug information from {cached}\n" in convert(callsign, split.image, env=nobody)


def test_files_of_this_machine_come_first(callsign, split, client, tmp_path):
    path = split.put(split.in_tree(tmp_path / "debug"))
    assert f"debug information from {path}\n" in convert(callsign, split.image, "--debug-dir", tmp_path / "debug", env=client)
    assert not (tmp_path / "cache").exists()


def test_lookup_of_the_image(callsign, split, client):
    answer = callsign.good("lookup", split.image, hex(split.whole.mark("area")), env=client)
    assert "shapes.c" in answer


def test_unknown_build_id_is_no_event(callsign, shapes, client, tmp_path):
    other = Split(tmp_path / "other", shapes)
    report = event(callsign, other.image, "missing-debug-file", env=client)
    assert report["count"] == 0


def test_nothing_is_asked_without_urls_or_with_no_companions(callsign, split, client, tmp_path):
    convert(callsign, split.image, env={**client, "DEBUGINFOD_URLS": ""})
    convert(callsign, split.image, "--no-companions", env=client)
    assert not has_lines(callsign, split)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("option", [[], ["--dwo-dir", "x"], ["--oso-prefix", "x"]], ids=["alone", "dwo-dir", "oso-prefix"])
def test_offline_asks_nobody(callsign, split, client, tmp_path, option):
    """With options that make another index than the cache keeps, servers were asked."""
    for command in (["lookup", split.image, "0"], ["find", split.image, "main"]):
        callsign.run(*command, "--offline", "--no-cache", *option, env=client)
        assert not (tmp_path / "cache").exists(), command
        done = callsign.run(*command, "--no-cache", *option, env=client)
        assert (tmp_path / "cache").exists(), done.stderr
        shutil.rmtree(tmp_path / "cache")


def test_server_that_is_not_there(callsign, split, client):
    with held_port() as port:
        found = event(callsign, split.image, "missing-debug-file", env={**client, "DEBUGINFOD_URLS": f"http://127.0.0.1:{port}"})
    assert found["count"] == 1 and found["example"].startswith("debuginfod: ")


def test_size_limit(callsign, split, client):
    found = event(callsign, split.image, "missing-debug-file", "--fetch-limit", "1K", env=client)
    assert found["count"] == 1 and found["example"].startswith("debuginfod: the file has ")
    assert "1024" in found["example"]


def test_time_limit(callsign, split, client):
    """A server that takes the connection and never answers."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mute = {**client, "DEBUGINFOD_URLS": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        found = event(callsign, split.image, "missing-debug-file", "--fetch-timeout", "1", env=mute)
    assert found["example"] == "debuginfod: gave up after 1000 ms, the limit"


@pytest.mark.parametrize("make, message", [
    (lambda path, gcc: path.write_text("no library"), "cannot be loaded"),
    (lambda path, gcc: run_tool(gcc, "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", path), "is older than elfutils 0.179"),
], ids=["not there", "too old"])
def test_library_that_cannot_be_used(callsign, split, gcc, tmp_path, make, message):
    folder = tmp_path / "lib"
    folder.mkdir()
    make(folder / "libdebuginfod.so.1", gcc)
    env = {"DEBUGINFOD_URLS": "http://127.0.0.1:1", "LD_LIBRARY_PATH": str(folder)}
    found = event(callsign, split.image, "missing-debug-file", env=env)
    assert found["example"] == f"debuginfod servers not asked: libdebuginfod.so.1 {message}"
    split.put(split.in_tree(tmp_path / "debug"))
    assert event(callsign, split.image, "missing-debug-file", "--debug-dir", tmp_path / "debug", env=env)["count"] == 0


def test_a_stripped_program_in_a_log(callsign, client, exporting, tmp_path):  # noqa: F811
    """stack has only the build id; what the server does not have is not asked for again for a while."""
    split = Split(tmp_path, exporting)
    env = {**client, "CALLSIGN_CACHE": str(tmp_path / "cache")}
    line = '{"modules":[{"name":"app","build_id":"%s"}],"frames":[{"module":"app","address":"%#x"}]}'
    code = subprocess.run(["nm", split.debug], capture_output=True, text=True, check=True).stdout
    addr = next(int(row.split()[0], 16) for row in code.splitlines() if row.endswith(" main"))
    assert '"function":"main"' not in callsign.good("stack", "--json", "--offline", stdin=line % (split.id, addr), env=env)
    named = callsign.good("stack", "--json", stdin=line % (split.id, addr), env=env)
    assert '"function":"main"' in named and '"line":' in named
    # from the cache now, without the server
    assert callsign.good("stack", "--json", "--offline", stdin=line % (split.id, addr), env={**env, "DEBUGINFOD_URLS": ""}) == named
    missing = line % ("ff" * 20, addr)
    for text in ("", "it was not found a short time ago"):
        assert text in callsign.run("stack", "--explain", stdin=missing, env=env).stderr
