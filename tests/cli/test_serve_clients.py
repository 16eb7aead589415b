"""The symbol server asked by the programs that it is for: debuggers, elfutils, profilers, crash tools, curl."""
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import urllib.request

import pytest

from profile_bytes import pprof
from programs import need
from test_profile_judges import find_pprof, go_pprof
from test_serve import SOURCE, Image, Server, has_server, images, job, server, store  # noqa: F401 (fixtures)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "diff"))
from minidump import REGISTERS, minidump  # noqa: E402


def output(*command, **env):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=110, env={**os.environ, **env})
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


class Stripped:
    """A program without symbols here, whose debug file and source are known to the server alone."""

    def __init__(self, folder, callsign):
        (folder / "src").mkdir()
        source = folder / "src" / "shop.c"
        source.write_text(SOURCE)
        whole = folder / "whole"
        subprocess.run([need("gcc"), "-g", "-O1", "-no-pie", "-Wl,--build-id=sha1", "-o", whole, source], check=True)
        self.image = Image(whole)
        self.path, self.debug = folder / "shop", folder / "shop.debug"
        output(need("strip"), "-o", self.path, whole)
        output(need("objcopy"), "--only-keep-debug", whole, self.debug)
        self.store = folder / "store"
        callsign.good("store", "add", "--store", self.store, self.debug)
        self.root = folder / "root"  # as a server has sources: below a folder, under their paths
        placed = self.root / str(source).lstrip("/")
        placed.parent.mkdir(parents=True)
        source.rename(placed)
        self.source = source
        symbols = output(need("nm"), whole)
        self.main = int(re.search(r"^([0-9a-f]+) T main$", symbols, re.M)[1], 16)
        self.lines = {word: number for number, line in enumerate(SOURCE.splitlines(), 1) for word in ("top", "main") if f"int {word}(" in line}


@pytest.fixture(scope="module")
def stripped(callsign, tmp_path_factory):
    return Stripped(tmp_path_factory.mktemp("stripped"), callsign)


@pytest.fixture
def shop(callsign, stripped):
    with Server(callsign, stripped.store, "--set", f"source-root={stripped.root}") as server:
        yield server


def finds(server, tmp_path):
    """The environment of a debuginfod client that knows this server alone."""
    return {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"), "HOME": str(tmp_path), "DEBUGINFOD_TIMEOUT": "60"}


# ---- debuginfod ----

def test_gdb_names_functions_and_lines_of_a_stripped_program(shop, stripped, tmp_path):
    text = output(need("gdb"), "-q", "-nx", "-batch", "-iex", "set debuginfod enabled on", "-ex", f"info symbol {stripped.image.top:#x}",
                  "-ex", f"info line *{stripped.image.top:#x}", "-ex", "list main", "-ex", "break top", stripped.path, **finds(shop, tmp_path))
    assert "top in section .text" in text
    assert f'Line {stripped.lines["top"]} of "{stripped.source}" starts at address' in text, text
    assert re.search(rf"^{stripped.lines['main']}\tint main\(int c", text, re.M), text  # the source came from the server, too
    assert f"Breakpoint 1 at" in text and "shop.c" in text


def test_elfutils_finds_the_debug_file(shop, stripped, tmp_path):
    text = output(need("eu-addr2line"), "-f", "-e", stripped.path, hex(stripped.main), **finds(shop, tmp_path))
    assert text.splitlines() == ["main", f"{stripped.source}:{stripped.lines['main']}:" + text.splitlines()[1].rsplit(":", 1)[1]]


def test_eu_unstrip_joins_what_debuginfod_find_fetched(shop, stripped, tmp_path):
    debug = output(need("debuginfod-find"), "debuginfo", stripped.path, **finds(shop, tmp_path)).strip()
    assert pathlib.Path(debug).read_bytes() == stripped.debug.read_bytes()
    output(need("eu-unstrip"), stripped.path, debug, "-o", tmp_path / "joined")
    assert re.search(rf"^0*{stripped.image.top:x} T top$", output(need("nm"), tmp_path / "joined"), re.M)


def test_debuginfod_find_sections_and_sources(shop, stripped, tmp_path):
    find, env = need("debuginfod-find"), finds(shop, tmp_path)
    got = output(find, "source", stripped.image.id, stripped.source, **env).strip()
    assert pathlib.Path(got).read_text() == SOURCE
    section = output(find, "section", stripped.image.id, ".debug_str", **env).strip()
    output(need("objcopy"), "-O", "binary", "--only-section=.debug_str", "--set-section-flags", ".debug_str=alloc", stripped.debug, tmp_path / "want")
    assert pathlib.Path(section).read_bytes() == (tmp_path / "want").read_bytes()
    missing = subprocess.run([find, "executable", "00" * 20], capture_output=True, text=True, timeout=60, env={**os.environ, **env})
    assert missing.returncode == 1 and "Server query failed: No such file or directory" in missing.stderr


# ---- crashes ----

def test_minidump_stackwalk_reads_our_breakpad_tree(server, images, tmp_path):
    """Frames of a crash in both images; the symbol files are made from the images when they are asked for."""
    shop, app = images["libshop.so"], images["app"]
    at = 0x7f0000000000
    registers = {**dict.fromkeys(REGISTERS, 0), "rip": at + shop.top + 6, "rsp": 0x7000}
    other = {**registers, "rip": app.top + 6}
    modules = [("/opt/libshop.so", at, 0x5000, bytes.fromhex(shop.id)), ("/opt/app", 0x400000, 0x5000, bytes.fromhex(app.id))]
    (tmp_path / "crash.dmp").write_bytes(minidump(registers, 0x7000, bytes(64), modules, others=[other]))
    report = json.loads(output(need("minidump-stackwalk"), "--json", "--symbols-url", server.url, "--symbols-cache", tmp_path / "cache",
                               "--symbols-tmp", tmp_path, tmp_path / "crash.dmp"))
    for number, module in enumerate(("libshop.so", "app")):
        frame = report["threads"][number]["frames"][0]
        assert (frame["module"].rsplit("/")[-1], frame["function"], frame["file"].rsplit("/")[-1]) == (module, "top", "demo.c")
        names = [inlined["function"] for inlined in frame["inlines"] or []]
        looked = server.json("GET", f"/buildid/{images[module].id}/symbolize?addr={images[module].top + 6:#x}")[0]["frames"]
        assert names + [frame["function"]] == [each["function"] for each in looked]


# ---- profilers ----

def test_firefox_profiler(server, images):
    """As its symbolication code asks: a job for each library, one stack of all addresses, text/plain, from its own origin; and what its
    check of answers demands (github.com/firefox-devtools/profiler, src/profile-logic/mozilla-symbolication-api)."""
    shop, app = images["libshop.so"], images["app"]
    asked = [("libshop.so", shop.debug_id, [shop.top, shop.top + 6, 1]), ("app", app.debug_id, [app.top - 0x400000]), ("gone.so", "A" * 32 + "0", [4096])]
    body = json.dumps({"jobs": [{"memoryMap": [[name, debug_id]], "stacks": [[[0, address] for address in addresses]]}
                                for name, debug_id, addresses in asked]}, separators=(",", ":"))
    status, headers, text = server.ask("POST", "/symbolicate/v5", body, Content_Type="text/plain;charset=UTF-8", Origin="https://profiler.firefox.com")
    assert status == 200 and headers["Access-Control-Allow-Origin"] == "*" and headers["Content-Type"].startswith("application/json")
    results = json.loads(text)["results"]
    assert len(results) == len(asked)
    for (name, debug_id, addresses), result in zip(asked, results):
        assert result["found_modules"] == {f"{name}/{debug_id}": name != "gone.so"}
        assert [int(frame["module_offset"], 16) for frame in result["stacks"][0]] == addresses
        for number, frame in enumerate(result["stacks"][0]):
            assert frame["frame"] == number and frame["module"] == name
            assert isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 0), int)
            assert all(isinstance(inlined, dict) for inlined in frame.get("inlines", []))
    frames = results[0]["stacks"][0]
    assert [frame.get("function") for frame in frames] == ["top", "top", None]
    assert [int(frame["function_offset"], 16) for frame in frames[:2]] == [0, 6]


class Host(http.server.BaseHTTPRequestHandler):
    """A program's own web server: it has the profile, and gives what asks for symbols to the symbol server."""

    def log_message(self, *args):
        pass

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.split("?")[0].endswith("/profile"):
            self.answer(self.server.profile, "application/octet-stream")
        else:
            self.answer(urllib.request.urlopen(self.server.symbols + self.path, timeout=60).read(), "text/plain")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(urllib.request.urlopen(self.server.symbols + self.path, body, timeout=60).read(), "text/plain")


def test_go_tool_pprof_asks_symbolz(server, images, tmp_path):
    """A profile from http://HOST/m/ID/profile, which has only addresses."""
    app, pprof_command = images["app"], find_pprof()
    if "tool" in pprof_command and re.search(r"go1\.1\d\b", output(pprof_command[0], "version")):
        pytest.skip("the pprof of Go 1.19 does not ask such a host for symbols")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as host:
        host.symbols = server.url.rstrip("/")
        host.profile = pprof([([app.top + 6], [3]), ([app.top + 1], [2])], [(0x401000, 0x402000, 0x1000, "/opt/app", app.id)])
        threading.Thread(target=host.serve_forever, daemon=True).start()
        text = go_pprof(tmp_path, "-symbolize=remote", "-top", f"http://127.0.0.1:{host.server_port}/m/{app.id}/profile")
        host.shutdown()
    assert re.search(r"\b5 +100%.* top$", text, re.M), text


# ---- curl ----

def test_curl(server, images, tmp_path):
    curl, shop = need("curl"), images["libshop.so"]
    url = f"{server.url}buildid/{shop.id}/"
    output(curl, "-sSf", "-o", tmp_path / "part", "-r", "0-999", url + "debuginfo")
    output(curl, "-sSf", "-C", "-", "-o", tmp_path / "part", url + "debuginfo")  # continues
    assert (tmp_path / "part").read_bytes() == shop.path.read_bytes()
    assert "gsym" in output(curl, "-sSfI", "-L", url + "gsym").lower()
    whole = output(curl, "-sSf", "--compressed", "-d", json.dumps(job(images, [[[0, shop.top]]])), server.url + "symbolicate/v5")
    assert json.loads(whole)["results"][0]["stacks"][0][0]["function"] == "top"
    stored = output(curl, "-sSf", "-H", "Authorization: Bearer first", "-T", shop.path, server.url + "v1/store/")
    assert json.loads(stored)["build_id"] == shop.id  # -T with a folder's URL adds the file's name
    assert output(curl, "-s", "-o", os.devnull, "-w", "%{http_code}", "-T", shop.path, server.url + "v1/store/") == "403"
