"""Sentry's Symbolicator API: the bodies of its documentation, and answers that clients come back for."""
import contextlib
import http.server
import json
import re
import threading
import urllib.request

import pytest

from programs import wait_for
from test_serve import Server, has_server, images, sentry_body, server, store  # noqa: F401 (fixtures)


class SlowHost(http.server.BaseHTTPRequestHandler):
    """Has what the symbol server behind it has, when the test allows it."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.asked.set()
        assert self.server.may_answer.wait(100)
        with contextlib.suppress(ConnectionError):
            try:
                body = urllib.request.urlopen(self.server.behind + self.path, timeout=60).read()
                self.send_response(200)
            except urllib.error.HTTPError as error:
                body = error.read()
                self.send_response(error.code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


@contextlib.contextmanager
def slow_host(behind):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowHost) as host:
        host.behind, host.asked, host.may_answer = behind.rstrip("/"), threading.Event(), threading.Event()
        host.url = f"http://127.0.0.1:{host.server_port}"
        threading.Thread(target=host.serve_forever, daemon=True).start()
        try:
            yield host
        finally:
            host.may_answer.set()
            host.shutdown()


@pytest.fixture
def slow(server):
    with slow_host(server.url) as host:
        yield host


def functions(answer):
    return {frame.get("function") for frame in answer["stacktraces"][0]["frames"] if frame["original_index"] == 0}


def test_breakpad_files_without_a_build_id(callsign, tmp_path):
    """Clients name both ids; a symbol file has the debug id, and the build id only if whoever wrote it knew that."""
    (tmp_path / "in.sym").write_text("MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 libold.so\nFUNC 1000 20 0 of_old\n")
    callsign.good("store", "add", "-q", "--store", tmp_path / "store", tmp_path / "in.sym")
    ids = {"build_id": "33221100554477668899aabbccddeeff00112233", "debug_id": "00112233-4455-6677-8899-aabbccddeeff"}
    with Server(callsign, tmp_path / "store") as server:
        body = {"modules": [{"type": "elf", "code_id": ids["build_id"], "debug_id": ids["debug_id"], "image_addr": "0x10000"}],
                "stacktraces": [{"frames": [{"instruction_addr": "0x11004"}]}]}
        assert functions(server.json("POST", "/symbolicate", body)) == {"of_old"}
        for given in (ids, {"debug_id": ids["debug_id"]}, {**ids, "build_id": "none"}):
            answer = server.json("POST", "/v1/symbolicate", {"modules": [{"name": "m", **given}], "frames": [{"module": "m", "address": "0x1004", "exact": True}]})
            assert answer["frames"][0]["frames"][0]["function"] == "of_old", given


def test_modules_that_overlap(server, images):
    """The one that begins last has the address; of two that begin at one place, the first."""
    shop = images["libshop.so"]
    known = {"type": "elf", "code_id": shop.id, "debug_id": shop.debug_id, "code_file": "shop", "image_addr": "0x10000000", "image_size": 0x100000}
    others = [{"type": "elf", "code_file": name, "image_addr": addr, "image_size": size}
              for name, addr, size in (("same", "0x10000000", 0x100000), ("within", "0x10080000", 0x1000), ("open", "0x20000000", 0))]
    places = [0x10000000 + shop.top + 1, 0x10080010, 0x10081000, 0x1fffffff, 0x2fffffff]
    body = {"modules": [known, *others], "stacktraces": [{"frames": [{"instruction_addr": hex(place)} for place in places]}]}
    frames = server.json("POST", "/symbolicate", body)["stacktraces"][0]["frames"]
    by_frame = {frame["original_index"]: (frame["status"], frame.get("package")) for frame in frames}
    assert by_frame == {0: ("symbolicated", "shop"), 1: ("missing", "within"), 2: ("missing_symbol", "shop"), 3: ("unknown_image", None), 4: ("missing", "open")}


def test_pending_and_polled(callsign, server, slow, images, tmp_path):
    wanted = server.json("POST", "/symbolicate", sentry_body(images))
    with Server(callsign, tmp_path / "empty", "--upstream", slow.url) as near:
        pending = near.json("POST", "/symbolicate?timeout=0&scope=x", sentry_body(images))
        assert pending["status"] == "pending" and set(pending) == {"status", "request_id", "retry_after"}
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", pending["request_id"])
        assert isinstance(pending["retry_after"], int) and pending["retry_after"] > 0
        place = f"/requests/{pending['request_id']}"
        assert slow.asked.wait(60)
        assert near.json("GET", place + "?timeout=0") == pending
        assert near.json("GET", place + "?timeout=1") == pending
        slow.may_answer.set()
        completed = near.json("GET", place + "?timeout=100")
        assert completed["status"] == "completed" and "top" in functions(completed)
        assert completed["stacktraces"] == wanted["stacktraces"]
        assert [m["debug_status"] for m in completed["modules"]] == ["found", "unused"]
        assert near.json("GET", place, status=404)["detail"]  # delivered once


def test_ids_of_requests_are_not_guessed(callsign, server, slow, images, tmp_path):
    """Whoever has the id gets the answer: all digits that a UUID leaves free are drawn."""
    with Server(callsign, tmp_path / "empty", "--upstream", slow.url) as near:
        ids = [near.json("POST", "/symbolicate?timeout=0", sentry_body(images))["request_id"].replace("-", "") for _ in range(12)]
        slow.may_answer.set()
        assert all(len({text[at] for text in ids}) > 1 for at in range(32) if at != 12)


def test_without_a_timeout_the_answer_is_awaited(callsign, server, slow, images, tmp_path):
    with Server(callsign, tmp_path / "empty", "--upstream", slow.url) as near:
        threading.Thread(target=lambda: slow.asked.wait(60) and slow.may_answer.set()).start()
        answer = near.json("POST", "/symbolicate", sentry_body(images))
        assert answer["status"] == "completed" and "top" in functions(answer)


def test_an_answer_that_nobody_fetches_is_forgotten(callsign, server, slow, images, tmp_path):
    with Server(callsign, tmp_path / "empty", "--upstream", slow.url, "--set", "keep-answers=1") as near:
        pending = near.json("POST", "/symbolicate?timeout=0", sentry_body(images))

        def kept():
            return int(re.search(r"^callsign_pending_answers (\d+)", near.ask("GET", "/metrics")[2].decode(), re.M)[1])

        assert kept() == 1
        slow.may_answer.set()
        wait_for(lambda: kept() == 0)
        assert near.ask("GET", f"/requests/{pending['request_id']}?timeout=0")[0] == 404


def test_two_that_wait_for_one_answer(callsign, server, slow, images, tmp_path):
    with Server(callsign, tmp_path / "empty", "--upstream", slow.url) as near:
        pending = near.json("POST", "/symbolicate?timeout=0", sentry_body(images))
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(near.ask("GET", f"/requests/{pending['request_id']}?timeout=100"))) for _ in range(4)]
        for thread in threads:
            thread.start()
        slow.may_answer.set()
        for thread in threads:
            thread.join()
        # Those that waited have the answer; one that came after it was delivered has not.
        bodies = [json.loads(body) for status, _, body in answers if status == 200]
        assert bodies and all(body["status"] == "completed" and "top" in functions(body) for body in bodies)
        assert {status for status, _, _ in answers} <= {200, 404}


@pytest.mark.parametrize("text", ["", "soon", "-1", "1.5", "9999999999999999999"])
def test_timeouts_that_are_none(server, images, text):
    assert "timeout" in server.json("POST", f"/symbolicate?timeout={text}", sentry_body(images), status=400)["detail"]


def test_an_end_while_an_answer_is_pending(callsign, server, slow, images, tmp_path):
    """SIGTERM: the client that waits gets its answer."""
    got = []
    with Server(callsign, tmp_path / "empty", "--upstream", slow.url) as near:
        client = threading.Thread(target=lambda: got.append(near.json("POST", "/symbolicate?timeout=100", sentry_body(images))))
        client.start()
        assert slow.asked.wait(60)
        near.process.terminate()
        slow.may_answer.set()
        client.join()
        assert near.process.wait(60) == 0
    assert got[0]["status"] == "completed" and "top" in functions(got[0])


# ---- the bodies of the documentation ----

def documented(images, stacks):
    """github.com/getsentry/symbolicator, docs/api/symbolication.md, with our images."""
    shop, app = images["libshop.so"], images["app"]
    guid = f"{shop.debug_id[:8]}-{shop.debug_id[8:12]}-{shop.debug_id[12:16]}-{shop.debug_id[16:20]}-{shop.debug_id[20:32]}".lower()
    return {"platform": "native", "signal": 11,
            "sources": [{"id": "microsoft", "type": "http", "url": "http://127.0.0.1:9/", "filters": {"filetypes": ["pe", "pdb"]},
                         "layout": {"type": "native", "casing": "lowercase"}}],
            stacks: [{"frames": [{"instruction_addr": hex(0xfeed0000 + shop.top + 6)}, {"instruction_addr": hex(shop.top + 6), "addr_mode": "rel:0"},
                                 {"instruction_addr": 0x400000 + app.top - 0x400000 + 1, "trust": "scan"}, {"instruction_addr": str(0xfeed0000)}],
                      "registers": {"rip": hex(0xfeed0000 + shop.top + 6), "rsp": "0xfeedface"}}],
            "modules": [{"type": "elf", "debug_id": guid, "code_id": shop.id, "debug_file": "/path/to/libshop.so", "image_addr": "0xfeed0000", "image_size": "0x5000"},
                        {"type": "elf", "code_id": app.id, "image_addr": "0x400000", "image_size": 0x5000},
                        {"type": "macho", "debug_id": "67e9247c-814e-392b-a027-dbde6748fcbf", "image_addr": "0x7fff00000000", "image_size": "0x1000"}],
            "options": {"dif_candidates": True}, "scraping": {"enabled": False}}


@pytest.mark.parametrize("stacks", ["threads", "stacktraces"])
def test_documented_bodies(server, images, stacks):
    answer = server.json("POST", "/symbolicate?timeout=100&scope=123", documented(images, stacks), Content_Type="application/json")
    assert answer["status"] == "completed" and answer["signal"] == 11
    trace = answer["stacktraces"][0]
    assert trace["registers"] == {"rip": hex(0xfeed0000 + images["libshop.so"].top + 6), "rsp": "0xfeedface"}
    for frame in trace["frames"]:
        assert frame["status"] in ("symbolicated", "missing_symbol") and isinstance(frame["original_index"], int)
        if frame["status"] == "symbolicated":
            assert frame["filename"] == "demo.c" and frame["abs_path"].endswith("/demo.c") and frame["lineno"] > 0 and frame["symbol"]
            assert int(frame["sym_addr"], 16)
    outer = {i: [f for f in trace["frames"] if f["original_index"] == i][-1] for i in range(4)}
    assert [outer[i].get("function") for i in range(4)] == ["top", "top", "top", None]
    assert outer[2]["trust"] == "scan"
    assert [m["debug_status"] for m in answer["modules"]] == ["found", "found", "unused"]
    assert answer["modules"][0]["debug_file"] == "/path/to/libshop.so"


def test_proxy_and_healthcheck(server, images):
    shop = images["libshop.so"]
    assert server.ask("GET", "/healthcheck")[::2] == (200, b"ok")
    path = f"/proxy/_.debug/elf-buildid-sym-{shop.id}/_.debug"
    whole = shop.path.read_bytes()
    assert server.ask("GET", path)[::2] == (200, whole)
    status, headers, body = server.ask("HEAD", path)
    assert (status, headers["Content-Length"], body) == (200, str(len(whole)), b"")
    assert server.ask("GET", "/proxy/_.debug/elf-buildid-sym-" + "00" * 20 + "/_.debug")[0] == 404
