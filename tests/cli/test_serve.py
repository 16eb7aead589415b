"""The symbol server and its store, as clients see them."""
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.parse

import pytest

import gsym_make
from programs import need, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]

SOURCE = """#include <stdio.h>
static inline __attribute__((always_inline)) int leaf(int x) { return printf("%d\\n", x * x + 3); }
static inline __attribute__((always_inline)) int mid(int x) { return leaf(x + 1) + 2; }
__attribute__((noinline)) int top(int x) { return mid(x * 3); }
int main(int c, char **v) { (void)v; return top(c); }
"""


@pytest.fixture(scope="module", autouse=True)
def has_server(callsign):
    if "no server" in callsign.good("--version"):
        pytest.skip("built without the server's libraries")


class Image:
    def __init__(self, path):
        self.path = path
        notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
        self.id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
        b = bytes.fromhex(self.id)[:16]
        self.debug_id = (b[3::-1] + b[5:3:-1] + b[7:5:-1] + b[8:]).hex().upper() + "0"
        symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        self.top = int(re.search(r"^([0-9a-f]+) T top$", symbols, re.M)[1], 16)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    (folder / "demo.c").write_text(SOURCE)
    made = {}
    for name, options in (("libshop.so", ["-shared", "-fPIC"]), ("app", ["-no-pie"])):
        subprocess.run([need("gcc"), "-g", "-O2", "-Wl,--build-id=sha1", *options, "-o", folder / name, folder / "demo.c"], check=True)
        made[name] = Image(folder / name)
    return made


class Server:
    def __init__(self, callsign, store, *options, env=None):
        self.process = subprocess.Popen([callsign.path, "serve", "--store", str(store), "--listen", "127.0.0.1:0", *map(str, options)],
                                        stdout=subprocess.PIPE, stderr=open(os.path.join(str(store) + ".log"), "a"), text=True,
                                        env={**os.environ, **(env or {})})
        self.log_path = pathlib.Path(str(store) + ".log")
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:"), (line, self.log_path.read_text())
        self.url = line.split()[-1]
        self.port = urllib.parse.urlsplit(self.url).port

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.terminate()
            assert self.process.wait(30) == 0
        self.process.stdout.close()

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, method, path, body=None, status=200, **headers):
        got, _, text = self.ask(method, path, json.dumps(body) if isinstance(body, (dict, list)) else body, **headers)
        assert got == status, (got, text)
        return json.loads(text)

    def logged(self):
        """Without a line that is being written."""
        return [json.loads(line) for line in self.log_path.read_text().splitlines(keepends=True) if line.endswith("\n")]


@pytest.fixture
def store(callsign, images, tmp_path):
    callsign.good("store", "add", "--store", tmp_path / "store", images["libshop.so"].path, images["app"].path)
    return tmp_path / "store"


@pytest.fixture
def server(callsign, store, tmp_path):
    (tmp_path / "tokens").write_text("first\nsecond token\n")
    with Server(callsign, store, "--upload-token-file", tmp_path / "tokens") as server:
        yield server


def job(images, stacks):
    names = ["libshop.so", "app"]
    return {"memoryMap": [[name, images[name].debug_id] for name in names] + [["libc.so.6", ""], ["gone", "0" * 31 + "10"]], "stacks": stacks}


# ---- Mozilla ----

def test_v5(server, images):
    shop, app = images["libshop.so"], images["app"]
    answer = server.json("POST", "/symbolicate/v5", {"jobs": [job(images, [[[0, shop.top + 6], [1, app.top - 0x400000 + 6], [2, 99], [-1, 4096], [3, 7]]])]})
    frames = answer["results"][0]["stacks"][0]
    for frame, image, base in ((frames[0], shop, 0), (frames[1], app, 0x400000)):
        assert frame["function"] == "top" and frame["function_offset"] == "0x6"
        assert int(frame["module_offset"], 16) == image.top + 6 - base
        assert frame["file"].endswith("demo.c")
    assert frames[2] == {"frame": 2, "module": "libc.so.6", "module_offset": "0x63"}
    assert frames[3] == {"frame": 3, "module": "<unknown>", "module_offset": "0x1000"}
    found = answer["results"][0]["found_modules"]
    assert found == {f"libshop.so/{shop.debug_id}": True, f"app/{app.debug_id}": True, "libc.so.6/": None, "gone/" + "0" * 31 + "10": False}
    assert answer["results"][0]["module_errors"]["gone/" + "0" * 31 + "10"][0]["message"]


def test_v5_modules_that_come_again(server, images):
    """As where an image is mapped twice: the answer has them once, with what is known of any of them."""
    shop = images["libshop.so"]
    other = ["libother.so", "0" * 31 + "10"]
    answer = server.json("POST", "/symbolicate/v5", {"memoryMap": [["libshop.so", shop.debug_id], other, ["libshop.so", shop.debug_id], other, other],
                                                     "stacks": [[[2, shop.top + 6], [3, 0x1000]]]})["results"][0]
    assert answer["stacks"][0][0]["function"] == "top"
    assert answer["found_modules"] == {f"libshop.so/{shop.debug_id}": True, "/".join(other): False}
    assert list(answer["module_errors"]) == ["/".join(other)]
    text = server.ask("POST", "/symbolicate/v5", json.dumps({"memoryMap": [other] * 5000, "stacks": [[[0, 1], [4999, 1]]]}))[2].decode()
    assert text.count("/".join(other)) == 2


def test_v5_inlined_calls_are_those_of_lookup(server, callsign, images):
    shop = images["libshop.so"]
    for offset in range(0, 40, 4):
        looked = json.loads(callsign.good("lookup", shop.path, hex(shop.top + offset), "--json"))["frames"]
        frame = server.json("POST", "/symbolicate/v5", job(images, [[[0, shop.top + offset]]]))["results"][0]["stacks"][0][0]
        names = [inlined["function"] for inlined in frame.get("inlines", [])] + ([frame["function"]] if "function" in frame else [])
        assert names == [f["function"] for f in looked]


def test_v5_legacy_and_v4(server, images):
    shop = images["libshop.so"]
    frame = server.json("POST", "/symbolicate/v5-legacy", job(images, [[[0, shop.top]]]))["results"][0]["stacks"][0][0]
    assert frame["function"] == "top" and "file" not in frame and "inlines" not in frame
    answer = server.json("POST", "/symbolicate/v4", {**job(images, [[[0, shop.top], [2, 99]]]), "version": 4})
    assert answer == {"symbolicatedStacks": [["top (in libshop.so)", "0x63 (in libc.so.6)"]], "knownModules": [True, None, None, None]}


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"{}", b'{"jobs":[]}', b'{"jobs":{}}', b'{"memoryMap":[],"stacks":[]}', b'{"memoryMap":[["a"]],"stacks":[[]]}',
    b'{"memoryMap":[["../a","00"]],"stacks":[[]]}', b'{"memoryMap":[["a","zz"]],"stacks":[[]]}', b'{"memoryMap":[],"stacks":[[[0,1]]]}',
    b'{"memoryMap":[],"stacks":[[[-2,1]]]}', b'{"memoryMap":[],"stacks":[[[-1,-2]]]}', b'{"memoryMap":[],"stacks":[[[-1,"1"]]]}',
    b'{"memoryMap":[["a","00","b"]],"stacks":[[]]}', b'{"memoryMap":[[1,"00"]],"stacks":[[]]}',
    b'{"memoryMap":[["a",1]],"stacks":[[]]}'])
def test_v5_refuses(server, body):
    assert server.json("POST", "/symbolicate/v5", body, status=400)["title"]


def test_bodies_over_64_mib(server):
    large = b" " * (64 * 1024 * 1024 + 1)
    assert server.ask("POST", "/symbolicate/v5", large)[0] == 413
    assert server.ask("POST", "/symbolicate/v5", gzip.compress(large, 1), Content_Encoding="gzip")[0] == 413


def test_compressed_bodies(server, images):
    body = gzip.compress(json.dumps(job(images, [[[0, images["libshop.so"].top]]])).encode())
    assert server.json("POST", "/symbolicate/v5", body, Content_Encoding="gzip")["results"]
    assert server.ask("POST", "/symbolicate/v5", b"x", Content_Encoding="gzip")[0] == 400
    assert server.ask("POST", "/symbolicate/v5", b"x", Content_Encoding="br")[0] == 415


def test_cors(server):
    status, headers, _ = server.ask("OPTIONS", "/symbolicate/v5", Origin="https://profiler.firefox.com", Access_Control_Request_Headers="content-type,debug")
    assert status == 204 and headers["Access-Control-Allow-Origin"] == "*" and headers["Access-Control-Max-Age"] == "86400"
    assert headers["Access-Control-Allow-Methods"] == "POST, GET, OPTIONS" and headers["Access-Control-Allow-Headers"] == "content-type,debug"
    assert server.ask("GET", "/nothing")[1]["Access-Control-Allow-Origin"] == "*"


# ---- debuginfod and trees ----

def test_debuginfod(server, images, callsign, tmp_path):
    shop = images["libshop.so"]
    whole = shop.path.read_bytes()
    base = f"/buildid/{shop.id}/"
    for kind in ("debuginfo", "executable"):
        status, headers, body = server.ask("GET", base + kind)
        assert status == 200 and body == whole and headers["X-DEBUGINFOD-SIZE"] == str(len(whole)) and headers["X-DEBUGINFOD-FILE"] == "libshop.so"
    status, headers, body = server.ask("HEAD", base + "debuginfo")
    assert (status, body, headers["Content-Length"]) == (200, b"", str(len(whole)))
    assert server.ask("GET", base + "debuginfo", If_None_Match=headers["ETag"])[0] == 304
    assert server.ask("GET", base + "debuginfo", If_Modified_Since=headers["Last-Modified"])[0] == 304
    for given, part in (("bytes=0-3", whole[:4]), ("bytes=100-", whole[100:]), ("bytes=-7", whole[-7:]),
                        ("bytes=0-18446744073709551616", whole), ("bytes=1-99999999999999999999", whole[1:])):
        status, headers, body = server.ask("GET", base + "debuginfo", Range=given)
        assert status == 206 and body == part and headers["Content-Range"].endswith(f"/{len(whole)}")
    assert server.ask("GET", base + "debuginfo", Range=f"bytes={len(whole)}-")[0] == 416
    assert server.ask("GET", "/buildid/xyz/debuginfo")[0] == 400
    assert server.ask("DELETE", base + "debuginfo")[0] == 405
    status, _, body = server.ask("GET", "/buildid/" + "00" * 20 + "/debuginfo")
    assert status == 404 and body.startswith(b"not found")
    (tmp_path / "x.gsym").write_bytes(server.ask("GET", base + "gsym")[2])
    assert json.loads(callsign.good("lookup", tmp_path / "x.gsym", hex(shop.top), "--json"))["frames"]
    answer = server.json("GET", base + f"symbolize?addr={shop.top:#x}&addr=0x1")
    assert answer[0]["frames"][-1]["function"] == "top" and answer[1]["reason"]


def test_debuginfod_find(server, images, tmp_path):
    need("debuginfod-find")
    done = subprocess.run(["debuginfod-find", "debuginfo", images["app"].id], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")})
    assert pathlib.Path(done.stdout.strip()).read_bytes() == images["app"].path.read_bytes(), done.stderr


def test_all_trees(server, images):
    shop = images["libshop.so"]
    b, d, whole = shop.id, shop.debug_id, shop.path.read_bytes()
    for path in (f".build-id/{b[:2]}/{b[2:]}.debug", f".build-id/{b[:2]}/{b[2:]}", f".build-id/{b[:2]}/{b[2:]}/elf", f"{b[:2]}/{b[2:]}/debuginfo",
                 f"{b[:2]}/{b[2:]}/executable", f"libshop.so/elf-buildid-{b}/libshop.so", f"_.debug/elf-buildid-sym-{b}/_.debug",
                 f"li/libshop.so/elf-buildid-{b}/libshop.so", f"proxy/libshop.so/elf-buildid-{b}/libshop.so",
                 f"proxy/buildid/{b}/debuginfo", f"proxy/buildid/{b}/executable"):
        assert server.ask("GET", "/" + path)[::2] == (200, whole), path
    gsym = server.ask("GET", f"/buildid/{b}/gsym")[2]
    for path in (f".build-id/{b[:2]}/{b[2:]}.gsym", f"libshop.so/{d}/libshop.so.gsym", f"{b[:2]}/{b[2:]}/gsym"):
        assert server.ask("GET", "/" + path)[::2] == (200, gsym), path
    sym = server.ask("GET", f"/libshop.so/{d}/libshop.so.sym")[2].decode()
    assert sym.splitlines()[0] == f"MODULE Linux x86_64 {d} libshop.so"
    assert server.json("GET", f"/{b[:2]}/{b[2:]}/meta")["name"] == "libshop.so"


def test_any_case_in_keys_of_symbol_servers(server, images):
    shop = images["libshop.so"]
    for path in (f"libshop.so/elf-buildid-{shop.id}/libshop.so", f"_.debug/elf-buildid-sym-{shop.id}/_.debug"):
        for key in (path, path.upper(), path.title()):
            assert server.ask("GET", "/" + key)[::2] == (200, shop.path.read_bytes()), key


def test_short_build_ids_in_keys_of_symbol_servers(callsign, tmp_path):
    """They are filled up with zeros to 20 bytes there."""
    id = "00112233445566778899aabbccddeeff"
    (tmp_path / "a.c").write_text("int main(void) { return 0; }")
    for name, given in (("a", id), ("b", id[:16])):
        subprocess.run([need("gcc"), "-g", f"-Wl,--build-id=0x{given}", "-o", tmp_path / name, tmp_path / "a.c"], check=True)
        callsign.good("store", "add", "-q", "--store", tmp_path / "store", tmp_path / name)
    with Server(callsign, tmp_path / "store") as server:
        for name, given in (("a", id), ("b", id[:16])):
            whole = (tmp_path / name).read_bytes()
            for path in (f"/_.debug/elf-buildid-sym-{given:0<40}/_.debug", f"/{name}/elf-buildid-{given:0<40}/{name}", f"/buildid/{given}/debuginfo"):
                assert server.ask("GET", path)[::2] == (200, whole), path
        assert server.ask("GET", f"/_.debug/elf-buildid-sym-{id[:24]:0<40}/_.debug")[0] == 404


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/.callsign/catalogue.db", "/.build-id/..%2f..%2fx/y.debug",
                                  "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/a/b/c/d/e/f/g/h/i/j", "//etc/passwd", "/proxy/../tokens"])
def test_nothing_else_is_served(server, path):
    assert server.ask("GET", path)[0] in (400, 404)


def test_metadata(server, images):
    answer = server.json("GET", "/metadata?key=glob&value=/usr/lib/libsh*")
    assert answer["complete"] and {r["type"] for r in answer["results"]} == {"executable", "debuginfo"}
    assert {r["buildid"] for r in answer["results"]} == {images["libshop.so"].id}


# ---- other protocols ----

def sentry_body(images, **options):
    shop = images["libshop.so"]
    return {"signal": 11, "stacktraces": [{"thread_id": 7, "frames": [
        {"instruction_addr": hex(0x7f0000000000 + shop.top + 6)}, {"instruction_addr": hex(shop.top + 6), "addr_mode": "rel:0"},
        {"instruction_addr": "0x10"}, {"instruction_addr": "0x7f0000004fff"}]}],
        "modules": [{"type": "elf", "code_id": shop.id, "code_file": "/opt/libshop.so", "image_addr": "0x7f0000000000", "image_size": 0x5000},
                    {"type": "elf", "debug_id": "00000000-0000-0000-0000-000000000001", "image_addr": "0x7e0000000000"}],
        "sources": [{"id": "evil", "type": "http", "url": "http://169.254.169.254/"}], "options": options}


def test_sentry(server, images, callsign):
    answer = server.json("POST", "/symbolicate?timeout=5", sentry_body(images))
    assert answer["status"] == "completed" and answer["signal"] == 11
    frames = answer["stacktraces"][0]["frames"]
    assert [m["debug_status"] for m in answer["modules"]] == ["found", "unused"]
    assert answer["modules"][0]["features"]["has_symbols"] and answer["modules"][0]["arch"] == "x86_64"
    by_index = {i: [f for f in frames if f["original_index"] == i] for i in range(4)}
    looked = json.loads(callsign.good("lookup", images["libshop.so"].path, hex(images["libshop.so"].top + 6), "--json"))["frames"]
    assert [f["function"] for f in by_index[0]] == [f["function"] for f in looked]
    assert by_index[0][-1]["lineno"] == looked[-1]["line"] and by_index[0][-1]["abs_path"] == looked[-1]["file"]
    assert by_index[0][0]["package"] == "/opt/libshop.so" and by_index[0][0]["status"] == "symbolicated"
    assert by_index[1][-1]["function"] == "top" and by_index[2][0]["status"] == "unknown_image"
    turned = server.json("POST", "/symbolicate", sentry_body(images, frame_order="caller_first"))["stacktraces"][0]["frames"]
    assert [f["original_index"] for f in turned] == sorted(f["original_index"] for f in turned)
    assert server.ask("GET", "/requests/00000000-0000-0000-0000-000000000000")[0] == 404
    assert server.json("POST", "/symbolicate", b"{}", status=400)["detail"]


def test_own_symbolicate(server, images):
    shop = images["libshop.so"]
    body = {"modules": [{"name": "shop", "build_id": shop.id, "start": "0x7f0000000000", "end": "0x7f0000005000", "bias": "0x7f0000000000"},
                        {"name": "gone", "build_id": "00" * 20}],
            "frames": [{"pc": hex(0x7f0000000000 + shop.top + 6)}, {"module": "shop", "address": hex(shop.top + 6), "exact": True},
                       {"module": "gone", "address": "0x10"}, {"pc": "0x1"}]}
    text = json.dumps(body) + "\n" + json.dumps({"frames": body["frames"][:1]}) + "\n" + json.dumps({"frames": 3}) + "\n"
    status, _, answer = server.ask("POST", "/v1/symbolicate", text)
    lines = [json.loads(line) for line in answer.splitlines()]
    assert status == 200 and len(lines) == 3
    frames = lines[0]["frames"]
    assert frames[0]["module"] == "shop" and frames[0]["address"] == hex(shop.top + 6) and frames[0]["frames"][-1]["function"] == "top"
    assert [(f["file"].rpartition("/")[2], f["line"], f["inlined"]) for f in frames[0]["frames"]] == [("demo.c", 4, False)]
    assert frames[1]["frames"] == frames[0]["frames"] and frames[2]["reason"] and frames[3]["reason"]
    assert lines[1]["frames"][0] == frames[0] and lines[2]["error"]
    assert server.ask("POST", "/v1/symbolicate", b"{")[0] == 400


UNREAD = [b"9223372036854775808", b"-1e400", b"1" + b"0" * 99, b'"\\ud800"', b'"\\ud800\\ud800"', b'"\xff\xe2\x82"', b'"\t"', b'"\\u0000"']


@pytest.mark.parametrize("value", UNREAD, ids=["integer", "real", "long", "half", "halves", "bytes", "tab", "nul"])
def test_members_of_bodies_that_are_not_read(server, images, value):
    """As in stacks in JSON lines. Each made the body no JSON."""
    shop = images["libshop.so"]
    own = {"modules": [{"name": "shop", "build_id": shop.id}], "frames": [{"module": "shop", "address": hex(shop.top + 6)}]}
    for path, body in (("/v1/symbolicate", own), ("/symbolicate/v5", job(images, [[[0, shop.top + 6]]])), ("/symbolicate", sentry_body(images))):
        want = server.ask("POST", path, json.dumps(body))
        got = server.ask("POST", path, b'{"x":[true,' + value + b',"\\ud83d\\ude00 \\" \xc3\xa9"],' + json.dumps(body).encode()[1:])
        assert (got[0], got[2]) == (200, want[2]) and b"top" in got[2]
        assert server.ask("POST", path, b'{"x":' + value + b"," + json.dumps(body).encode()[1:-1])[0] == 400
    lines = json.dumps(own).encode() + b'\n{"x":' + value + b"," + json.dumps(own).encode()[1:] + b"\n" + json.dumps(own).encode()
    answers = server.ask("POST", "/v1/symbolicate", lines)[2].splitlines()
    assert len(answers) == 3 and len(set(answers)) == 1


def test_bodies_that_stay_none(server, images):
    """Beside what is replaced: no number at all; and an error behind replaced values names the value, since bytes are others."""
    good = json.dumps({"modules": [{"name": "shop", "build_id": images["libshop.so"].id}], "frames": [{"pc": "0x1"}]}).encode()
    ask = lambda body: server.json("POST", "/v1/symbolicate", body, status=400)["error"]  # noqa: E731
    for number in (b"1-2-3-" * 20, b"1" * 80 + b"e", b"1" * 80 + b".", b"-" * 80, b"1" * 10**6 + b"e+"):
        assert "at byte" in ask(b'{"x":' + number + b"," + good[1:])
    assert "in value 3" in ask(good + b'\n{"x":18446744073709551615,' + good[1:] + b"\n{bad")


def test_numbers_of_bodies(server, images):
    """A pc of the kernel's half; what does not fit 64 bits is none, in the words for it; no offset of a module is that large."""
    modules = [{"name": "k", "build_id": images["libshop.so"].id, "start": 2**63, "end": 2**63 + 0x5000, "bias": 2**63}]
    def ask(pc, **more):
        return server.json("POST", "/v1/symbolicate", {"modules": modules, "frames": [{"pc": pc}]}, **more)
    assert ask(2**63 + images["libshop.so"].top + 6)["frames"][0]["frames"][-1]["function"] == "top"
    for wrong in (2**64, -2**64, -1):
        assert "no pc that is a number" in ask(wrong, status=400)["error"]
    assert "stacks" in server.json("POST", "/symbolicate/v5", job(images, [[[0, 2**63]]]), status=400)["detail"]


@pytest.mark.parametrize("place", [{"start": "0x1000 junk"}, {"start": "-0x1000"}, {"start": " 0x1000"}, {"start": -1}, {"start": 1.5}, {"end": "0x"},
                                   {"end": "0x10000000000001173"}, {"end": "18446744073709551616"}, {"bias": "zz"}, {"bias": ""}, {"bias": []}])
def test_own_symbolicate_refuses_what_is_no_number(server, images, place):
    """Each was taken for another number, and answered."""
    shop = images["libshop.so"]
    module = {"name": "shop", "build_id": shop.id, "start": "0x1000", "end": "0x9000", **place}
    body = {"modules": [module], "frames": [{"pc": hex(0x1000 + shop.top), "exact": True}]}
    assert "neither a number nor 0x" in server.json("POST", "/v1/symbolicate", body, status=400)["error"]
    for frame in ({"pc": next(iter(place.values()))}, {"module": "shop", "address": next(iter(place.values()))}):
        body = {"modules": [{"name": "shop", "build_id": shop.id}], "frames": [frame]}
        assert "0x and hexadecimal" in server.json("POST", "/v1/symbolicate", body, status=400)["error"]


def test_own_symbolicate_takes_numbers(server, images):
    """In decimal digits also with zeros before them; a bias may be negative, and null is none."""
    shop = images["libshop.so"]
    for start, bias in ((0x7000, 0x7000), (str(0x7000), "0x7000"), ("0" + str(0x7000), None), (hex(0x7000).upper().replace("X", "x"), str(0x7000))):
        body = {"modules": [{"name": "shop", "build_id": shop.id, "start": start, "end": "0x20000", "bias": bias}],
                "frames": [{"pc": 0x7000 + shop.top, "exact": True}]}
        assert server.json("POST", "/v1/symbolicate", body)["frames"][0]["frames"][-1]["function"] == "top"
    body = {"modules": [{"name": "shop", "build_id": shop.id, "start": 0, "end": "0x20000", "bias": -0x10}], "frames": [{"pc": shop.top - 0x10, "exact": True}]}
    assert server.json("POST", "/v1/symbolicate", body)["frames"][0]["frames"][-1]["function"] == "top"


@pytest.mark.parametrize("container, debug_id", [
    ("Apple's", "0102030405060708090A0B0C0D0E0F100"), ("Windows's", "0403020106050807090A0B0C0D0E0F101"), ("ELF's", "0403020106050807090A0B0C0D0E0F100")])
def test_an_index_alone_is_found_by_every_form_of_its_id(callsign, tmp_path, container, debug_id):
    """An index does not tell what its image was, nor the age of a PDB."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 16, "name": "f"}], base=0, build_id=bytes(range(1, 17)))
    callsign.good("store", "add", "--store", tmp_path / "store", tmp_path / "app.gsym")
    with Server(callsign, tmp_path / "store") as server:
        asked = {"memoryMap": [["app", debug_id], ["app", debug_id[:-2] + "77"]], "stacks": [[[0, 0x1004], [1, 0x1004]]]}
        frames = server.json("POST", "/symbolicate/v5", asked)["results"][0]["stacks"][0]
    assert frames[0].get("function") == "f" and "function" not in frames[1]


def test_own_symbolicate_finds_modules_by_name(server, images):
    """Of several with one name, the first; a later line has modules of its own."""
    shop, app = images["libshop.so"], images["app"]
    lines = [{"modules": [{"name": "one", "build_id": shop.id}, {"name": "two", "build_id": app.id}, {"name": "one", "build_id": app.id}, {"build_id": app.id}],
              "frames": [{"module": "one", "address": shop.top, "exact": True}, {"module": "two", "address": app.top, "exact": True},
                         {"module": "", "address": app.top, "exact": True}]},
             {"frames": [{"module": "three", "address": 1}]},
             {"modules": [{"name": "three", "build_id": app.id}], "frames": [{"module": "three", "address": app.top, "exact": True}]},
             {"frames": [{"module": "one", "address": 1}]}]
    text = server.ask("POST", "/v1/symbolicate", "\n".join(map(json.dumps, lines)))[2].decode()
    answers = [json.loads(line) for line in text.splitlines()]
    assert [frame["frames"][-1]["function"] for frame in answers[0]["frames"]] == ["top"] * 3
    assert "not in modules" in answers[1]["error"] and "not in modules" in answers[3]["error"]
    assert answers[2]["frames"][0]["frames"][-1]["function"] == "top"


def test_names_that_an_index_keeps_in_pieces(callsign, tmp_path):
    """BSYM has no build id: its hash names it."""
    (tmp_path / "many.cc").write_text("".join(f"namespace Part{i} {{ int compute_value_{i}(int x) {{ return x * {i + 3}; }} }}\n" for i in range(40)))
    subprocess.run([need("g++"), "-O1", "-shared", "-fPIC", "-o", tmp_path / "many.so", tmp_path / "many.cc"], check=True)
    callsign.good("convert", "-q", tmp_path / "many.so", "--to", "bsym", "-o", tmp_path / "many.bsym")
    callsign.good("store", "add", "-q", "--store", tmp_path / "store", tmp_path / "many.bsym")
    listed = json.loads(callsign.good("store", "list", "--store", tmp_path / "store", "--json"))
    symbols = subprocess.run(["nm", tmp_path / "many.so"], capture_output=True, text=True, check=True).stdout
    places = {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) T (_ZN\dPart\S+)$", symbols, re.M)}
    assert len(places) == 40
    with Server(callsign, tmp_path / "store") as server:
        query = "&".join(f"addr={address:#x}" for address in places.values())
        for _ in range(2):
            found = server.json("GET", f"/buildid/{listed['htlhash']}/symbolize?{query}")
            assert [answer["frames"][0]["function"] for answer in found] == [
                f"Part{number}::compute_value_{number}(int)" for number in re.findall(r"value_(\d+)", " ".join(places))]


def test_own_symbolicate_knows_arrow(server):
    """tests/cli/test_serve_arrow.py has the rest, with pyarrow."""
    for body, word in ((b"{}", "end mark"), (b"\xff\xff\xff\xff" + bytes(4), "schema"), (b"ARROW1\0\0" + bytes(8), "Arrow message"),
                       (b"\xff\xff\xff\xff" + b"\x40\0\0\0" + bytes(8), "within a message"), (b"\xff\xff\xff\xff" + b"\x08\0\0\0" + bytes(8), "message")):
        assert word in server.json("POST", "/v1/symbolicate", body, status=400, Content_Type="application/vnd.apache.arrow.stream")["error"]


def test_symbolz(server, images):
    shop = images["libshop.so"]
    assert server.ask("GET", f"/m/{shop.debug_id}/symbolz")[2] == b"num_symbols: 1\n"
    for path in (f"/m/{shop.debug_id}/symbolz", f"/m/{shop.id}/symbolz", f"/symbolz?module={shop.id}"):
        assert server.ask("POST", path, f"{shop.top:#x}+0x1".encode())[2].decode() == f"{shop.top:#x}\ttop\n"
    assert server.ask("GET", "/m/" + "00" * 20 + "/symbolz")[2] == b"num_symbols: 0\n"
    for text in (f"-{-shop.top & (1 << 64) - 1:#x}", f" {shop.top:#x}", f"{shop.top + (1 << 64):#x}", f"{shop.top:#x}z"):
        assert server.ask("POST", f"/m/{shop.id}/symbolz", text.encode())[2] == b"", text


def test_demo(callsign, tmp_path):
    with Server(callsign, tmp_path / "empty", "--demo") as server:
        answer = server.json("POST", "/symbolicate/v5", {"memoryMap": [["libexample.so", "00112233445566778899AABBCCDDEEFF0"]], "stacks": [[[0, 0x1011]]]})
        frame = answer["results"][0]["stacks"][0][0]
        assert (frame["function"], frame["file"], frame["line"]) == ("open_door", "/src/example.c", 14)


# ---- uploads ----

def test_uploads_need_a_token(callsign, store, server, images):
    body = images["app"].path.read_bytes()
    assert server.ask("PUT", "/v1/store/app", body)[0] == 403
    assert server.ask("PUT", "/v1/store/app", body, Authorization="Bearer wrong")[0] == 403
    for token in ("first", "second token"):
        assert server.ask("PUT", "/v1/store/app", body, Authorization=f"Bearer {token}")[0] == 201
    with Server(callsign, store) as closed:
        assert closed.ask("PUT", "/v1/store/app", body, Authorization="Bearer first")[0] == 403


def test_an_upload_is_served_at_once(callsign, images, tmp_path):
    (tmp_path / "tokens").write_text("t\n")
    options = ["--upload-token-file", tmp_path / "tokens"]
    shop = images["libshop.so"]
    body = {"memoryMap": [["libshop.so", shop.debug_id]], "stacks": [[[0, shop.top]]]}
    with Server(callsign, tmp_path / "s", *options) as one, Server(callsign, tmp_path / "s", *options) as two:
        for server in (one, two):
            assert "function" not in server.json("POST", "/symbolicate/v5", body)["results"][0]["stacks"][0][0]
        answer = one.json("PUT", "/v1/store/libshop.so", shop.path.read_bytes(), status=201, Authorization="Bearer t")
        assert answer["build_id"] == shop.id
        assert one.json("POST", "/symbolicate/v5", body)["results"][0]["stacks"][0][0]["function"] == "top"
        wait_for(lambda: "function" in two.json("POST", "/symbolicate/v5", body)["results"][0]["stacks"][0][0])


def test_what_is_no_symbol_file(server, tmp_path):
    for name, body in (("x", b"hello"), ("x", b""), ("..", b"x"), ("a%2fb", b"x")):
        assert server.ask("PUT", f"/v1/store/{name}", body, Authorization="Bearer first")[0] in (400, 404, 422)


def test_an_upload_that_breaks_off_leaves_nothing(server, store, images):
    body = images["app"].path.read_bytes()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"PUT /v1/store/half HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer first\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:1000])
        wait_for(lambda: list((store / ".callsign" / "incoming").iterdir()))
    wait_for(lambda: not list((store / ".callsign" / "incoming").iterdir()))


# ---- the store ----

def test_list_and_fsck(callsign, store, images):
    listed = [json.loads(line) for line in callsign.good("store", "list", "--store", store, "--json").splitlines()]
    assert {(e["build_id"], e["name"], e["kind"]) for e in listed} == {(images[n].id, n, "debuginfo") for n in ("app", "libshop.so")}
    assert all((store / e["path"]).stat().st_size == e["bytes"] for e in listed)
    assert callsign.good("store", "fsck", "--store", store) == ""
    path = store / listed[0]["path"]
    path.write_bytes(path.read_bytes()[:5000])
    done = callsign.run("store", "fsck", "--store", store)
    assert done.returncode == 1 and listed[0]["path"] in done.stdout
    again = callsign.run("store", "fsck", "--store", store)
    assert (again.returncode, again.stdout) == (1, done.stdout), "a second run took the damaged file for a new one"
    path.unlink()
    for _ in range(2):
        done = callsign.run("store", "fsck", "--store", store)
        assert done.returncode == 1 and done.stdout.startswith(listed[0]["path"] + ": ")
    assert len(callsign.good("store", "list", "--store", store, "--json").splitlines()) == len(listed) - 1
    assert callsign.good("store", "fsck", "--store", store) == ""
    assert callsign.run("store", "fsck", "--store", store / "gone").returncode == 2


@pytest.mark.parametrize("damage", ["lost", "damaged"])
def test_the_catalogue_is_made_anew(callsign, store, damage):
    before = callsign.good("store", "list", "--store", store, "--json")
    for path in (store / ".callsign").glob("catalogue.db*"):
        if damage == "lost":
            path.unlink()
        else:
            path.write_bytes(b"nonsense" * 1000)
    assert callsign.good("store", "list", "--store", store, "--json") == before


@pytest.mark.parametrize("layout", ["debuginfod", "unified", "breakpad", "ssqp"])
def test_every_layout_reads_back(callsign, images, tmp_path, layout):
    store = tmp_path / layout
    callsign.good("store", "add", "--store", store, "--layout", layout, images["libshop.so"].path)
    shutil.rmtree(store / ".callsign")
    with Server(callsign, store) as server:
        assert server.ask("GET", f"/buildid/{images['libshop.so'].id}/debuginfo")[::2] == (200, images["libshop.so"].path.read_bytes())


def test_universal_file_with_a_bad_image(callsign, tmp_path):
    """The image that is good is stored, and is what the answer tells of; it told of the other one."""
    good = b"MODULE mac arm64 00112233445566778899AABBCCDDEEFF0 app\nFUNC 1000 10 0 main\n"
    header = struct.pack(">II", 0xCAFEBABE, 2) + struct.pack(">5I", 0x1000007, 3, 48, 16, 0) + struct.pack(">5I", 0x100000C, 0, 64, len(good), 0)
    for name, images in (("first", header + b"x" * 16 + good), ("both", header + b"x" * (16 + len(good)))):
        (tmp_path / name).write_bytes(images)
    row = json.loads(callsign.good("store", "add", "--store", tmp_path / "store", "--json", tmp_path / "first"))
    assert row["bytes"] == len(good)
    assert (tmp_path / "store" / row["path"]).read_bytes() == good
    assert "both" in callsign.bad("store", "add", "--store", tmp_path / "store", "--json", tmp_path / "both", code=1)


def test_names_of_breakpad_files(callsign, tmp_path):
    """The ending of a Windows file is replaced, as Breakpad's tools do; a name that is nothing else keeps it."""
    id = "00112233445566778899AABBCCDDEEFF1"
    for name, stem in (("app.pdb", "app"), ("app.exe", "app"), ("app.dll", "app"), ("app.so", "app.so"), (".pdb", ".pdb"), ("a", "a"), ("dll", "dll")):
        (tmp_path / "in.sym").write_text(f"MODULE windows x86_64 {id} {name}\nFUNC 1000 10 0 main\n")
        store = tmp_path / f"store of {name}"
        listed = callsign.good("store", "add", "--store", store, "--layout", "breakpad", "--json", tmp_path / "in.sym")
        assert json.loads(listed)["path"] == f"{name}/{id}/{stem}.sym"
        assert (store / f"{name}/{id}/{stem}.sym").exists()


def test_the_best_of_several_with_one_debug_id(callsign, tmp_path):
    """The images are told apart by their names; it mattered which two were compared first."""
    id = "00112233445566778899AABBCCDDEEFF"
    build_id = "33221100554477668899aabbccddeeff"
    for number, name in enumerate(("a.so", "b.so", "c.so")):
        (tmp_path / f"{name}.sym").write_text(f"MODULE Linux x86_64 {id}0 {name}\nINFO CODE_ID {build_id}0{number}\nFUNC 1000 20 0 of_{name[0]}\n")
        callsign.good("store", "add", "-q", "--store", tmp_path / "store", tmp_path / f"{name}.sym")
    with Server(callsign, tmp_path / "store") as server:
        for name in ("a.so", "b.so", "c.so"):
            answer = server.json("POST", "/symbolicate/v5", {"memoryMap": [[name, f"{id}0"]], "stacks": [[[0, 0x1004]]]})["results"][0]
            assert answer["stacks"][0][0].get("function") == f"of_{name[0]}", answer
        answer = server.json("POST", "/symbolicate/v5", {"memoryMap": [["other.so", f"{id}0"]], "stacks": [[[0, 0x1004]]]})["results"][0]
        assert "several images share this id" in json.dumps(answer["module_errors"])


@pytest.mark.parametrize("code_id", ["5CF2591C6859000", "5CF2591C1F8000"])
def test_code_ids_of_windows(callsign, tmp_path, code_id):
    """A time stamp and a size; their digits may be of odd number."""
    (tmp_path / "in.sym").write_text(f"MODULE windows x86_64 00112233445566778899AABBCCDDEEFF1 app.pdb\nINFO CODE_ID {code_id} app.exe\nFUNC 1000 10 0 main\n")
    assert json.loads(callsign.good("store", "add", "--store", tmp_path / "store", "--json", tmp_path / "in.sym"))["code_id"] == code_id.lower()


def test_files_of_lldb_have_no_name(callsign, images, tmp_path):
    """The tree is made of the id alone; the name is in the file beside, where there is one."""
    shop = images["libshop.so"]
    for head, ending, meta in ((3322, "", False), (3323, ".app", False), (3324, "", True)):
        path = tmp_path / "store" / f"{head}/1100/5544/7766/8899/AABBCCDDEEFF{ending}"
        path.parent.mkdir(parents=True)
        shutil.copy(shop.path, path)
        if meta:
            path.with_name(path.name + ".meta").write_text('{"name":"libshop.so"}')
    listed = [json.loads(line) for line in callsign.good("store", "list", "--store", tmp_path / "store", "--json").splitlines()]
    assert {file["path"][:4]: file["name"] for file in listed} == {"3322": "", "3323": "", "3324": "libshop.so"}


def test_archives(callsign, images, tmp_path):
    need("tar")
    folder = images["app"].path.parent
    subprocess.run(["tar", "-czf", tmp_path / "all.tgz", "-C", folder, "app", "libshop.so", "demo.c"], check=True)
    shutil.make_archive(str(tmp_path / "all"), "zip", folder)
    for name in ("all.tgz", "all.zip"):
        listed = callsign.good("store", "add", "--store", tmp_path / name.replace(".", "-"), "--json", tmp_path / name)
        assert {json.loads(line)["name"] for line in listed.splitlines()} == {"app", "libshop.so"}


def test_a_damaged_archive(callsign, images, tmp_path):
    """What is before the damage is stored, and it is said that there was more."""
    folder = images["app"].path.parent
    subprocess.run(["tar", "-cf", tmp_path / "whole.tar", "-C", folder, "app", "libshop.so"], check=True)
    whole = (tmp_path / "whole.tar").read_bytes()
    (tmp_path / "cut.tar").write_bytes(whole[:images["app"].path.stat().st_size + 4096])
    (tmp_path / "noise").write_bytes(os.urandom(1 << 20))
    subprocess.run(["tar", "-czf", tmp_path / "long.tgz", "-C", folder, "app", "-C", tmp_path, "noise"], check=True)
    (tmp_path / "cut.tgz").write_bytes((tmp_path / "long.tgz").read_bytes()[:1 << 20])
    (tmp_path / "damaged.txt.gz").write_bytes(gzip.compress(os.urandom(5000))[:-100])
    subprocess.run(["tar", "-cf", tmp_path / "within.tar", "-C", folder, "app", "-C", tmp_path, "damaged.txt.gz"], check=True)
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "other").mkdir()
    for name, message in (("cut.tar", "damaged: Truncated"), ("cut.tgz", "damaged: truncated")):
        store = tmp_path / name.replace(".", "-")
        done = callsign.run("store", "add", "--store", store, "--json", tmp_path / name)
        assert done.returncode == 2 and message in done.stderr and "1 files" in done.stderr
        assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["app"]
        with Server(callsign, tmp_path / "other" / name, "--upload-token-file", tmp_path / "token") as server:
            answer = server.json("PUT", f"/v1/store/{name}", (tmp_path / name).read_bytes(), 422, Authorization="Bearer first")
            assert message in answer["error"] and "1 files" in answer["error"]
    assert '"app"' in callsign.good("store", "add", "--store", tmp_path / "within", "--json", tmp_path / "within.tar")


def test_a_folder_is_stored_in_its_order(callsign, images, tmp_path):
    """Several files at the same time: what is printed is as if they came one after the other, and a failure stands alone."""
    folder = tmp_path / "folder"
    folder.mkdir()
    image = images["libshop.so"].path.read_bytes()
    for number in range(40):
        id = bytes.fromhex(images["libshop.so"].id)
        assert image.count(id) == 1
        (folder / f"lib{number}.so").write_bytes(image.replace(id, bytes([number]) * len(id)))
    (folder / "notes").write_text("no image\n")
    done = callsign.run("store", "add", "--store", tmp_path / "store", "--json", folder, tmp_path / "none", folder / "lib3.so", folder / "notes")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == [entry.name for entry in os.scandir(folder) if entry.name != "notes"] + ["lib3.so"]
    assert done.returncode == 2
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == [str(tmp_path / "none"), str(folder / "notes")]
    assert len(callsign.good("store", "list", "--store", tmp_path / "store", "--json").splitlines()) == 40
    callsign.good("store", "fsck", "--store", tmp_path / "store")


def test_prune(callsign, store, images, tmp_path):
    (tmp_path / "keep").write_text("app\n")
    callsign.good("store", "prune", "--store", store, "--max-bytes", "1", "--keep", tmp_path / "keep")
    listed = callsign.good("store", "list", "--store", store, "--json").splitlines()
    assert [json.loads(line)["name"] for line in listed] == ["app"]


@pytest.mark.parametrize("verb", [["list"], ["fsck"], ["prune", "--max-bytes", "1"]])
def test_verbs_that_take_no_path(callsign, store, images, verb):
    """prune was thought to remove the named files alone, and removed the others, too."""
    done = callsign.run("store", *verb, "--store", store, store / "app")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"callsign: store {verb[0]}: takes no PATH, but '{store / 'app'}' is given\n"
    assert len(callsign.good("store", "list", "--store", store, "--json").splitlines()) == 2


def test_prune_by_age(callsign, store, images):
    old = [path for path in store.rglob("*") if path.is_file() and path.read_bytes() == images["app"].path.read_bytes()]
    assert old
    for path in old:
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 3 * 86400))
    assert callsign.good("store", "prune", "--store", store, "--max-age", "4") == ""
    assert callsign.good("store", "prune", "--store", store, "--max-age", "2", "--dry-run").splitlines() == [str(path.relative_to(store)) for path in old]
    callsign.good("store", "prune", "--store", store, "--max-age", "2")
    listed = callsign.good("store", "list", "--store", store, "--json").splitlines()
    assert [json.loads(line)["name"] for line in listed] == ["libshop.so"]


@pytest.mark.parametrize("by", ["hand", "prune"])
def test_the_symbols_of_a_removed_file_go_with_it(callsign, images, tmp_path, by):
    """The stripped program stays, and what was converted with the debug file answered for it, also after a restart."""
    shop, store = images["libshop.so"], tmp_path / "store"
    shutil.copyfile(shop.path, tmp_path / "libshop.so")
    subprocess.run([need("strip"), "-g", tmp_path / "libshop.so"], check=True)
    subprocess.run([need("objcopy"), "--only-keep-debug", shop.path, tmp_path / "libshop.so.debug"], check=True)
    callsign.good("store", "add", "--store", store, tmp_path / "libshop.so", tmp_path / "libshop.so.debug")
    debug = next(path for path in store.rglob("*debug*") if path.is_file() and path.stat().st_size == (tmp_path / "libshop.so.debug").stat().st_size)
    asked = f"/buildid/{shop.id}/symbolize?addr={shop.top + 6:#x}"
    with Server(callsign, store, "--set", "rescan=1", "--set", "refresh=1") as server:
        assert server.json("GET", asked)[0]["frames"][-1]["line"]
        assert server.ask("GET", f"/buildid/{shop.id}/gsym")[0] == 200
        assert list((store / ".callsign" / "converted").rglob("*.gsym"))
        if by == "hand":
            debug.unlink()
        else:
            os.utime(debug, (0, 0))
            callsign.good("store", "prune", "--store", store, "--max-age", "2")
            assert not debug.exists()
        wait_for(lambda: "line" not in server.json("GET", asked)[0]["frames"][-1])
    with Server(callsign, store) as server:
        assert "line" not in server.json("GET", asked)[0]["frames"][-1]


@pytest.mark.parametrize("linked_at, base, first", [
    (0x400000, 0x400000, 0x401000), (0x400000, 0x401000, 0x401000), (0x10000, 0x10000, 0x10400), (0x20000000, 0x20000000, 0x20001000), (0, 0, 0x401000),
    (0, 0x26080, 0x26080), (0x140000000, 0x140011000, 0x140011000), (0x7ff600010000, 0x7ff600011000, 0x7ff600011000), (0, 0, 0x1000)])
def test_offsets_where_no_image_is_stored(callsign, tmp_path, linked_at, base, first):
    """The index's base is the image's, unless it begins with a function: then a usual one is taken, or 0."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": first, "size": 16, "name": "first"}, {"start": first + 0x100, "size": 16, "name": "f"}],
                    base=base, build_id=bytes(range(1, 17)) + b"abcd")
    callsign.good("store", "add", "--store", tmp_path / "store", tmp_path / "app.gsym")
    with Server(callsign, tmp_path / "store") as server:
        asked = {"memoryMap": [["app", "0403020106050807090A0B0C0D0E0F100"]], "stacks": [[[0, first + 0x104 - linked_at]]]}
        frame, = server.json("POST", "/symbolicate/v5", asked)["results"][0]["stacks"][0]
    assert frame.get("function") == "f" and frame["function_offset"] == "0x4", frame


def test_the_base_of_an_image_that_is_linked_elsewhere(callsign, tmp_path):
    """Offsets count from the image's first byte, which its index does not have."""
    (tmp_path / "demo.c").write_text(SOURCE)
    app = tmp_path / "app"
    subprocess.run([need("gcc"), "-g", "-O2", "-no-pie", "-Wl,--build-id=sha1", "-Wl,-Ttext-segment=0x10000000", "-o", app, tmp_path / "demo.c"], check=True)
    callsign.good("convert", "-q", app, "-o", tmp_path / "app.gsym")
    callsign.good("store", "add", "--store", tmp_path / "store", app, tmp_path / "app.gsym")
    image = Image(app)
    with Server(callsign, tmp_path / "store") as server:
        asked = {"memoryMap": [["app", image.debug_id]], "stacks": [[[0, image.top - 0x10000000 + 6]]]}
        frame, = server.json("POST", "/symbolicate/v5", asked)["results"][0]["stacks"][0]
    assert frame["function"] == "top" and frame["function_offset"] == "0x6"


# ---- operation ----

def test_logs_have_the_trace_id(server):
    trace = "0af7651916cd43dd8448eb211c80319c"
    server.ask("GET", "/healthz", traceparent=f"00-{trace}-b7ad6b7169203331-01")
    line, = wait_for(lambda: [entry for entry in server.logged() if entry.get("path") == "/healthz"])
    assert line["trace_id"] == trace and line["status"] == 200 and line["request_id"]


@pytest.mark.parametrize("header", [
    "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", f"00-{'0' * 32}-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"])
def test_trace_ids_that_are_none(server, header):
    """The request has one of its own then, of 32 digits."""
    server.ask("GET", "/healthz?" + header, traceparent=header)
    line, = wait_for(lambda: [entry for entry in server.logged() if entry.get("path", "").startswith("/healthz")])
    assert re.fullmatch("[0-9a-f]{32}", line["trace_id"]) and line["trace_id"] not in header and set(line["trace_id"]) != {"0"}


def test_version(server, callsign):
    version = server.json("GET", "/__version__")
    assert version["source"] == "callsign" and version["version"] == callsign.good("--version").split()[1]


def test_openapi(server):
    paths = server.json("GET", "/v1/openapi.json")["paths"]
    assert {"/symbolicate/v5", "/v1/symbolicate", "/v1/store/{name}", "/buildid/{id}/gsym"} <= set(paths)


def test_what_the_description_leaves_out_is_refused(server):
    """Of each path another method is 405, and what the server answers to nonsense is a status that is described."""
    for path, methods in server.json("GET", "/v1/openapi.json")["paths"].items():
        asked = path.replace("{id}", "zz").replace("{name}", "%00")
        described = next(iter(methods.values()))["responses"]
        if "post" in methods:
            status, headers, _ = server.ask("GET", asked)
            assert status == 405 and "POST" in headers["Allow"], path
            for body in (b"", b"[]", b"{}", b"null", b"{", b"\xff"):
                assert str(server.ask("POST", asked, body)[0]) in {*described} - {"200"}, (path, body)
        if "get" in methods:
            assert str(server.ask("GET", asked)[0]) in described, path


def test_health_and_metrics(server):
    wait_for(lambda: server.ask("GET", "/readyz")[0] == 200)
    for path in ("/healthz", "/readyz", "/__heartbeat__", "/__lbheartbeat__", "/__version__"):
        assert server.ask("GET", path)[0] == 200
    # a request is counted after its answer
    wait_for(lambda: 'callsign_requests_total{route="health",status="2xx"} 5\n' in server.ask("GET", "/metrics")[2].decode())


def test_slow_heads_are_ended(callsign, store):
    with Server(callsign, store, "--set", "header-timeout=1") as server, socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.settimeout(20)
        slow.sendall(b"GET / HTTP/1.1\r\nX: ")
        try:
            while True:
                slow.sendall(b"a")
                time.sleep(0.3)
        except OSError:
            pass
        assert server.ask("GET", "/healthz")[0] == 200


def test_large_heads_are_refused(server):
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        try:
            client.sendall(b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 1000) for i in range(1000)) + b"\r\n")
        except OSError:
            pass
        client.settimeout(10)
        try:
            assert client.recv(100).split()[1] in (b"431", b"413", b"414", b"400")
        except ConnectionError:
            pass
    assert server.ask("GET", "/healthz")[0] == 200


def test_unix_socket_and_static_files(callsign, store, tmp_path):
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "index.html").write_text("<p>page")
    (tmp_path / "web" / ".secret").write_text("x")
    path = tempfile.mkdtemp(prefix="callsign-test-") + "/socket"  # that of tmp_path may be too long for a socket
    process = subprocess.Popen([callsign.path, "serve", "--store", store, "--listen", f"unix:{path}", "--web", tmp_path / "web", "--log-level", "none"],
                               stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == f"listening on unix:{path}\n"
        for asked, wanted in ((b"/", b"<p>page"), (b"/.secret", b"not found")):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                client.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % asked)
                assert wanted in b"".join(iter(lambda: client.recv(4096), b""))
    finally:
        process.terminate()
        assert process.wait(30) == 0
        process.stdout.close()
        shutil.rmtree(os.path.dirname(path))


def test_configuration(callsign, store, tmp_path):
    config = tmp_path / "c"
    config.write_text(f"# a comment\nstore = {store}\nlisten = 127.0.0.1:0\nrate-limit = 1\nrate-burst = 2\n")
    process = subprocess.Popen([callsign.path, "serve", "--config", config, "--log-level", "none"], stdout=subprocess.PIPE, text=True)
    try:
        port = urllib.parse.urlsplit(process.stdout.readline().split()[-1]).port
        statuses = []
        for _ in range(50):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/buildid/" + "00" * 20 + "/gsym")
            statuses.append(connection.getresponse().status)
            connection.close()
        assert statuses[:2] == [404, 404] and 429 in statuses
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/metrics")
        assert f"\ncallsign_rate_limited_total {statuses.count(429)}\n" in connection.getresponse().read().decode()
        connection.close()
    finally:
        process.terminate()
        assert process.wait(30) == 0
        process.stdout.close()
    for text, word in (("colour = red\n", "colour"), ("threads = many\n", "threads"), ("store\n", "KEY = VALUE"), ("[tenant]\n", "tenant")):
        config.write_text(text)
        assert word in callsign.bad("serve", "--config", config)
        assert "line 1" in callsign.bad("serve", "--config", config)


@pytest.mark.plain_build # AddressSanitizer's library has to come before what is preloaded
def test_a_name_with_several_addresses(callsign, tmp_path):
    """localhost is ::1 first on machines whose IPv6 is off; here, an address of documentation, which nobody has."""
    (tmp_path / "names.c").write_text("""
        #include <arpa/inet.h>
        #include <netdb.h>
        #include <stdlib.h>
        static struct sockaddr_in places[2];
        static struct addrinfo found[2];
        int getaddrinfo(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **out) {
            const char *const texts[] = { "192.0.2.1", "127.0.0.1" };
            for (int i = 0; i < 2; i++) {
                places[i] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port)) };
                inet_pton(AF_INET, texts[i], &places[i].sin_addr);
                found[i] = (struct addrinfo){ .ai_family = AF_INET, .ai_socktype = hints->ai_socktype, .ai_addr = (struct sockaddr *)&places[i],
                                              .ai_addrlen = sizeof(places[i]), .ai_next = i ? NULL : &found[1] };
            }
            (void)name;
            *out = found;
            return 0;
        }
        void freeaddrinfo(struct addrinfo *list) { (void)list; }
        """)
    subprocess.run([need("gcc"), "-shared", "-fPIC", "-o", tmp_path / "names.so", tmp_path / "names.c"], check=True)
    (tmp_path / "x").mkdir()
    with Server(callsign, tmp_path / "x", "--listen", "anyname:0", env={"LD_PRELOAD": str(tmp_path / "names.so")}) as server:
        assert server.ask("GET", "/healthz")[0] == 200


def test_start_failures_are_one_line(callsign, tmp_path, server):
    assert "--store" in callsign.bad("serve")
    assert "layout" in callsign.bad("serve", "--store", tmp_path / "x", "--layout", "round")
    assert "cannot listen" in callsign.bad("serve", "--store", tmp_path / "x", "--listen", f"127.0.0.1:{server.port}")
    assert "http" in callsign.bad("serve", "--store", tmp_path / "x", "--upstream", "ftp://x/")
    assert "tokens-gone" in callsign.bad("serve", "--store", tmp_path / "x", "--upload-token-file", tmp_path / "tokens-gone")
    # A folder can be opened as a file is, and read as none.
    assert "cannot be read" in callsign.bad("serve", "--store", tmp_path / "x", "--upload-token-file", tmp_path)


def test_upstream_callsign_server(callsign, server, images, tmp_path):
    shop = images["libshop.so"]
    with Server(callsign, tmp_path / "empty", "--upstream", server.url) as near:
        assert near.ask("GET", f"/buildid/{shop.id}/debuginfo")[::2] == (200, shop.path.read_bytes())
        assert near.ask("GET", "/buildid/" + "11" * 20 + "/debuginfo")[0] == 404
    with Server(callsign, tmp_path / "empty2", "--upstream", "http://127.0.0.1:9/") as near:
        assert near.ask("GET", f"/buildid/{shop.id}/debuginfo")[0] in (502, 503)


def test_upstream_is_asked_again_with_a_name(callsign, tmp_path):
    """Symbol trees have a name before the id: a question without one cannot find there what the next question names."""
    (tmp_path / "in.sym").write_text("MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 libfar.so\nFUNC 1000 20 0 far_away\n")
    callsign.good("store", "add", "-q", "--store", tmp_path / "upper", "--layout", "breakpad", tmp_path / "in.sym")
    id = "00112233445566778899AABBCCDDEEFF0"
    (tmp_path / "lower").mkdir()
    with Server(callsign, tmp_path / "upper") as upper, Server(callsign, tmp_path / "lower", "--upstream", upper.url) as lower:
        body = {"modules": [{"type": "pe", "debug_id": id, "image_addr": "0x10000"}], "stacktraces": [{"frames": [{"instruction_addr": "0x11004"}]}]}
        assert lower.json("POST", "/symbolicate", body)["modules"][0]["debug_status"] == "missing"
        job = {"memoryMap": [["libfar.so", id]], "stacks": [[[0, 0x1004]]]}
        assert lower.json("POST", "/symbolicate/v5", job)["results"][0]["stacks"][0][0]["function"] == "far_away"


def test_upstream_that_hangs(callsign, images, tmp_path):
    """It takes the connection and says nothing: given up after fetch-timeout."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        upstream = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Server(callsign, tmp_path / "empty", "--upstream", upstream, "--set", "fetch-timeout=1") as near:
            status, _, _ = near.ask("GET", f"/buildid/{images['app'].id}/debuginfo")
            assert status in (502, 503, 504)
            assert near.ask("GET", "/healthz")[0] == 200


def test_dashboard_names_metrics_that_there_are(server):
    server.ask("GET", "/buildid/" + "11" * 20 + "/debuginfo")
    dashboard = json.loads((ROOT / "server/deploy/grafana.json").read_text())
    named = {name for panel in dashboard["panels"] for target in panel["targets"] for name in re.findall(r"callsign_\w+", target["expr"])}
    assert len(named) > 10
    # a request is counted after its answer
    wait_for(lambda: named <= set(re.findall(r"^(callsign_\w+)", server.ask("GET", "/metrics")[2].decode(), re.M)))
