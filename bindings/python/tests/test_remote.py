"""Index at a URL: ranges of a file on a web server, as few as a lookup needs; a server that fails."""
import contextlib
import ctypes.util
import sys
import threading
import time

import pytest
from conftest import ROOT

import callsign

sys.path.insert(0, str(ROOT / "tests" / "cli"))
import range_server  # noqa: E402

if not ctypes.util.find_library("curl"):
    pytest.skip("libcurl is not installed", allow_module_level=True)


@pytest.fixture
def server(index_path):
    with range_server.serving({"/orders.gsym": index_path.read_bytes()}) as server:
        yield server


def test_answers_are_those_of_the_file(server, index, addresses):
    for open_url in (callsign.Index.open_remote, callsign.Index):
        with open_url(server.url("/orders.gsym"), demangle=True) as remote:
            assert [remote.lookup(address) for address in addresses] == [index.lookup(address) for address in addresses]
            assert len(remote.lookup_batch(addresses)) == len(addresses)
            assert list(remote.functions()) == list(index.functions()) and remote.info() == index.info()
            state = remote.remote_state()
            assert state["requests"] >= 1 and state["file_bytes"] == index.info()["bytes"] and state["failure"] is None
            assert "127.0.0.1" in repr(remote)
    assert index.remote_state() is None


@pytest.mark.parametrize("fault, text", [(500, "500"), (404, "404"), ("html", "sign in|not|ranges|format"), ("short", "bytes"), ("reset", ".")])
def test_a_server_that_fails(server, fault, text):
    server.fault = fault
    with pytest.raises(callsign.Error, match=text) as caught:
        callsign.Index.open_remote(server.url("/orders.gsym"), timeout=20)
    assert server.url("/orders.gsym") in str(caught.value)


def test_a_server_that_fails_later(tmp_path):
    """The first failure is the answer of every later call that needs what is missing; opened again, the index answers."""
    symbols = tmp_path / "large.sym"
    with symbols.open("w") as out:
        out.write("MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 large\n")
        out.writelines(f"FUNC {0x1000 + 64 * i:x} 40 0 function_with_a_long_name_{'x' * (i % 90)}_{i}\n" for i in range(20000))
    callsign.convert(symbols, tmp_path / "large.gsym")
    with range_server.serving({"/large.gsym": (tmp_path / "large.gsym").read_bytes()}) as server:
        remote = callsign.Index.open_remote(server.url("/large.gsym"))
        server.fault = 500
        for _ in range(2):
            with pytest.raises(callsign.Error, match="500"):
                remote.lookup(0x1000 + 64 * 15000)
        assert "500" in remote.remote_state()["failure"]
        server.fault = None
        with callsign.Index.open_remote(server.url("/large.gsym")) as again:
            assert again.lookup(0x1000 + 64 * 15000)[0].function.endswith("_15000")


def test_threads_wait_without_the_gil(server, addresses):
    """A server that hangs stops nobody else."""
    server.fault = "hang"
    errors = []

    def open_it():
        with contextlib.suppress(callsign.Error):
            callsign.Index.open_remote(server.url("/orders.gsym"), timeout=60)
        errors.append("ended")
    thread = threading.Thread(target=open_it)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.requests:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not errors
    server.hang.set()
    thread.join(60)
    assert errors == ["ended"]


@pytest.mark.parametrize("timeout", [-1, 0, 1 << 22, float("nan"), float("inf")])
def test_timeouts_that_are_none(server, timeout):
    """A negative one was a millisecond."""
    with pytest.raises(ValueError, match="^timeout is .*, need more than 0 and less than 4194304 seconds$"):
        callsign.Index.open_remote(server.url("/orders.gsym"), timeout=timeout)


def test_wrong_uses(server, index_path):
    with pytest.raises(ValueError, match="is no URL"):
        callsign.Index.open_remote(str(index_path))
    with pytest.raises(callsign.Error):
        callsign.Index(server.url("/orders.gsym"), accelerator_bytes=1 << 20)
