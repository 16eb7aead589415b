"""Source files that the server gives out, and what else mutants of the server showed to be untested: limits, trees, tokens."""
import json
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

from programs import need
from range_server import RangeServer
from test_serve import SOURCE, Image, Server, has_server, images, server, store  # noqa: F401 (fixtures)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """An image whose source is in folders with names of one letter and of dots, and the root below which its source stands."""
    folder = tmp_path_factory.mktemp("sources")
    source = folder / "a" / "..b" / "demo.c"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    subprocess.run([need("gcc"), "-g", "-O2", "-Wl,--build-id=sha1", "-o", folder / "app", source], check=True)
    root = folder / "root"
    stored = root / str(source).lstrip("/")
    stored.parent.mkdir(parents=True)
    shutil.copyfile(source, stored)
    (stored.parent / "else.c").write_text("not named by the image\n")
    return Image(folder / "app"), str(source), root


@pytest.fixture
def sources(callsign, program, tmp_path):
    callsign.good("store", "add", "--store", tmp_path / "store", program[0].path)
    with Server(callsign, tmp_path / "store", "--set", f"source-root={program[2]}") as server:
        yield server


def test_source_of_a_frame(sources, program):
    image, path, _ = program
    asked = {"debugName": "app", "debugId": image.debug_id, "moduleOffset": hex(image.top), "file": path}
    answer = sources.json("POST", "/source/v1", asked)
    assert answer["file"] == path and answer["source"] == SOURCE
    assert sources.json("POST", "/source/v1", {**asked, "moduleOffset": asked["moduleOffset"][2:]})["source"] == SOURCE
    other = path[:-len("demo.c")] + "else.c"
    assert len(other) == len(path)
    for changed, status in (({"file": other}, 404), ({"file": path[:-1]}, 404), ({"file": ""}, 404), ({"moduleOffset": "0x0"}, 404),
                            ({"moduleOffset": ""}, 400), ({"moduleOffset": "0x10z"}, 400), ({"debugId": "x"}, 400), ({"debugId": "0" * 33}, 404)):
        assert sources.json("POST", "/source/v1", {**asked, **changed}, status=status)["error"], changed
    assert sources.json("POST", "/source/v1", b"[]", status=400)["error"]


def test_source_of_debuginfod(sources, program):
    image, path, _ = program
    folder, name = path.rsplit("/", 1)
    base = f"/buildid/{image.id}/source"
    for spelling in (path, "/" + path, f"{folder}/./{name}", f"{folder}/x/../{name}", f"/./{path}"):
        status, headers, body = sources.ask("GET", base + spelling)
        assert (status, body.decode()) == (200, SOURCE), spelling
        assert headers["X-DEBUGINFOD-FILE"] == name
    assert sources.ask("GET", f"{base}{folder}/else.c")[0] == 404
    assert sources.ask("GET", base + "/../x")[0] == 400


def test_addresses_of_symbolize(server, images):
    base = f"/buildid/{images['app'].id}/symbolize?addr="
    assert server.json("GET", base + f"{images['app'].top:#018x}")[0]["frames"][-1]["function"] == "top"
    for bad in ("0x" + "0" * 17, "", "0x", "1g", "0x1&addr=-1"):
        assert "hexadecimal address" in server.json("GET", base + bad, status=400)["error"]
    assert server.json("GET", "/buildid/" + "00" * 20 + "/symbolize?addr=0x1", status=404)["error"]
    # A function without lines has a name and no file.
    symbols = subprocess.run(["nm", images["app"].path], capture_output=True, text=True, check=True).stdout
    start = re.search(r"^(\w+) T _start$", symbols, re.M)[1]
    frame, = server.json("GET", base + start)[0]["frames"]
    assert frame["function"] == "_start" and "file" not in frame and "line" not in frame


def test_open_indexes_are_limited(callsign, store, images):
    with Server(callsign, store, "--set", "open-indexes=1") as server:
        for name in ("app", "libshop.so") * 3:
            answer = server.json("GET", f"/buildid/{images[name].id}/symbolize?addr={images[name].top:#x}")
            assert answer[0]["frames"][-1]["function"] == "top"
            assert "\ncallsign_open_indexes 1\n" in server.ask("GET", "/metrics")[2].decode()
        assert "\ncallsign_index_misses_total 6\n" in server.ask("GET", "/metrics")[2].decode()


def test_a_breakpad_file_is_made_once(server, store, images):
    path = f"/libshop.so/{images['libshop.so'].debug_id}/libshop.so.sym"
    first = server.ask("GET", path)[2]
    made, = (store / ".callsign/breakpad").rglob("*.sym")
    before = made.stat().st_ino, made.stat().st_mtime_ns
    assert server.ask("GET", path)[2] == first
    assert (made.stat().st_ino, made.stat().st_mtime_ns) == before


def test_an_archive_of_two(callsign, server, images):
    need("tar")
    folder = images["app"].path.parent
    body = subprocess.run(["tar", "-cz", "-C", folder, "app", "libshop.so"], capture_output=True, check=True).stdout
    answer = server.json("PUT", "/v1/store/all.tgz", body, status=201, Authorization="Bearer first")
    assert [answer["build_id"], *(more["build_id"] for more in answer["more"])] == [images["app"].id, images["libshop.so"].id]
    one = server.json("PUT", "/v1/store/app", images["app"].path.read_bytes(), status=201, Authorization="Bearer first")
    assert "more" not in one


def test_names_of_files_in_trees(callsign, images, tmp_path):
    """The folder above names a file that has no name of its own; one of two letters, or with '_' in front, does not."""
    for place, name in (("libshop.so/x/executable", "libshop.so"), ("ab/x/executable", None), ("_odd/x/debuginfo", None), ("shop/executable", None)):
        folder = tmp_path / place.split("/")[0]
        path = folder / "tree" / place
        path.parent.mkdir(parents=True)
        shutil.copyfile(images["libshop.so"].path, path)
        listed = [json.loads(line) for line in callsign.good("store", "list", "--store", folder / "tree", "--json").splitlines()]
        assert [row.get("name") or None for row in listed] == [name], place


def test_lines_of_a_token_file(callsign, store, images, tmp_path):
    (tmp_path / "tokens").write_bytes(b"# who may upload\r\nfirst\r\n\nsecond token  \r\n")
    body = images["app"].path.read_bytes()
    with Server(callsign, store, "--upload-token-file", tmp_path / "tokens") as server:
        for token, status in (("first", 201), ("second token", 201), ("# who may upload", 403), ("second", 403)):
            assert server.ask("PUT", "/v1/store/app", body, Authorization=f"Bearer {token}")[0] == status, token


CPLUSPLUS = """
namespace shop {
__attribute__((noinline)) int price(int x) { return x * 3; }
__attribute__((noinline)) int total(int x) { return price(x) + 1; }
}
int main(int argc, char **) { return shop::total(argc); }
"""


def test_names_are_kept_demangled(callsign, tmp_path):
    """Each is demangled once; the second request finds it, and another name beside it."""
    (tmp_path / "shop.cc").write_text(CPLUSPLUS)
    subprocess.run([need("g++"), "-g", "-O1", "-Wl,--build-id=sha1", "-o", tmp_path / "shop", tmp_path / "shop.cc"], check=True)
    symbols = subprocess.run(["nm", tmp_path / "shop"], capture_output=True, text=True, check=True).stdout
    notes = subprocess.run(["readelf", "-n", tmp_path / "shop"], capture_output=True, text=True, check=True).stdout
    base = f"/buildid/{re.search('Build ID: ([0-9a-f]+)', notes)[1]}/symbolize?addr="
    callsign.good("store", "add", "--store", tmp_path / "store", tmp_path / "shop")
    with Server(callsign, tmp_path / "store") as server:
        for _ in range(2):
            for mangled, name in (("_ZN4shop5priceEi", "shop::price(int)"), ("_ZN4shop5totalEi", "shop::total(int)"), ("main", "main")):
                start = re.search(rf"^(\w+) T {mangled}$", symbols, re.M)[1]
                assert server.json("GET", base + start)[0]["frames"][-1]["function"] == name


def test_names_that_are_no_files(server, images):
    body = images["app"].path.read_bytes()
    for name in (".", "..", ".callsign"):
        assert server.ask("PUT", "/v1/store/" + name, body, Authorization="Bearer first")[0] == 400, name


def test_digits_of_ranges(server, images):
    whole = images["app"].path.read_bytes()
    for digit in range(1, 10):
        status, _, body = server.ask("GET", f"/buildid/{images['app'].id}/executable", Range=f"bytes={digit}-{digit}{digit}")
        assert (status, body) == (206, whole[digit:digit * 11 + 1])
    for wrong in ("bytes=:-1", "bytes=/-1", "bytes=1-:", "bytes=1-/", "bytes=--1"):
        assert server.ask("GET", f"/buildid/{images['app'].id}/executable", Range=wrong)[0] == 200, wrong


def test_sections(server, images, tmp_path):
    for section in (".text", ".rodata"):
        subprocess.run([need("objcopy"), "-O", "binary", "--only-section", section, images["app"].path, tmp_path / "bytes"], check=True)
        status, _, body = server.ask("GET", f"/buildid/{images['app'].id}/section/{section}")
        assert (status, body) == (200, (tmp_path / "bytes").read_bytes()) and body
    assert server.ask("GET", f"/buildid/{images['app'].id}/section/.none")[0] == 404


def test_lines_of_a_configuration(callsign, tmp_path):
    config = tmp_path / "config"
    for text in (b"store = x\0y\n", b"store = " + b"x" * 20000 + b"\n", b"# " + b"x" * 20000 + b"\n"):
        config.write_bytes(b"# first\n" + text)
        assert "line 2: longer than" in callsign.bad("serve", "--config", config)


def test_modules_are_a_list_of_some(server):
    for modules in ({}, 1, "x", [{}] * 100001):
        assert "modules is not an array, or too long" in json.dumps(server.json("POST", "/v1/symbolicate", {"modules": modules, "frames": []}, status=400))


def test_fsck_verifies_indexes(callsign, images, tmp_path):
    callsign.good("convert", "-q", images["app"].path, "-o", tmp_path / "app.gsym")
    callsign.good("store", "add", "--store", tmp_path / "store", tmp_path / "app.gsym")
    callsign.good("store", "fsck", "--store", tmp_path / "store")
    stored, = (tmp_path / "store").rglob("*.gsym")
    data = bytearray(stored.read_bytes())
    data[-8:] = b"\xff" * 8  # of the last record: the index opens, and is damaged
    stored.chmod(0o644)
    stored.write_bytes(data)
    done = callsign.run("store", "fsck", "--store", tmp_path / "store")
    assert done.returncode == 1 and ".gsym: " in done.stdout


@pytest.fixture
def windows(tmp_path):
    """A program for Windows, and its id in symbol stores: time stamp and size of the image."""
    (tmp_path / "app.c").write_text(SOURCE)
    subprocess.run([need("x86_64-w64-mingw32-gcc"), "-g", "-O1", "app.c", "-o", "app.exe"], cwd=tmp_path, check=True)
    data = (tmp_path / "app.exe").read_bytes()
    header = int.from_bytes(data[0x3c:0x40], "little")
    time, size = (int.from_bytes(data[header + at:header + at + 4], "little") for at in (8, 80))
    return data, f"{time:08X}{size:x}"


def test_a_program_of_windows_from_an_upstream(callsign, windows, tmp_path):
    """By time stamp and size, the only id that it has there; one that turns out to have another is not taken."""
    data, id = windows
    other = f"{int(id[:8], 16) ^ 1:08X}{id[8:]}"
    served = {f"/app.exe/{id}/app.exe": data, f"/app.exe/{other}/app.exe": data}
    with RangeServer(served) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        with Server(callsign, tmp_path / "store", "--upstream", upstream.url("")) as server:
            assert server.ask("GET", f"/app.exe/{id}/app.exe")[::2] == (200, data)
            assert server.ask("GET", f"/app.exe/{other}/app.exe")[0] == 404
            asked = len(upstream.requests)
            assert server.ask("GET", f"/app.exe/{id}/app.exe")[::2] == (200, data) and len(upstream.requests) == asked
        upstream.shutdown()


def test_log_levels(callsign, store, tmp_path):
    assert "must be info, error or none" in callsign.bad("serve", "--store", store, "--log-level", "debug")
    for level, said in (("info", {"info", "error"}), ("error", {"error"}), ("none", set())):
        folder = tmp_path / level
        shutil.copytree(store, folder)
        with Server(callsign, folder, "--log-level", level) as server:
            assert server.ask("GET", "/healthz")[0] == 200
            server.process.terminate()
            assert server.process.wait(30) == 0
            assert {line["level"] for line in server.logged()} <= said, level
            assert (level == "info") == bool(server.logged())


def test_places_in_the_store(callsign, images, tmp_path):
    """The ending says what a file has."""
    debug = tmp_path / "libshop.so.debug"
    subprocess.run([need("objcopy"), "--only-keep-debug", images["libshop.so"].path, debug], check=True)
    stripped = tmp_path / "libshop.so"
    subprocess.run([need("strip"), "-o", stripped, images["libshop.so"].path], check=True)
    callsign.good("convert", "-q", images["app"].path, "-o", tmp_path / "app.gsym")
    for path, image, ending in ((debug, "libshop.so", ".debug"), (stripped, "libshop.so", ""), (tmp_path / "app.gsym", "app", ".gsym")):
        row, = map(json.loads, callsign.good("store", "add", "--store", tmp_path / "store", "--json", path).splitlines())
        id = images[image].id
        assert row["path"] == f".build-id/{id[:2]}/{id[2:]}{ending}"


def test_longest_texts(callsign, server, tmp_path):
    """One character more than there is space for."""
    assert "longer than 31 bytes" in callsign.bad("serve", "--store", tmp_path / "x", "--layout", "x" * 32)
    assert server.ask("PUT", "/v1/store/" + "x" * 256, b"x", Authorization="Bearer first")[0] == 400
    assert pathlib.Path(tmp_path / "store").is_dir()
