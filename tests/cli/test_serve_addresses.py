"""The server's answers for addresses of an image, where the symbols come from a file that counts from the image's first byte."""
import json
import shutil
import subprocess

import pytest

from programs import need
from test_pdb import identity, machine, program  # noqa: F401 (fixtures)
from test_serve import Server, has_server, images  # noqa: F401 (fixtures)


def answers(server, module, address, **ids):
    """Of every request that takes addresses of images: the functions and lines of one."""
    frames = {"symbolize": server.json("GET", f"/buildid/{module}/symbolize?addr={address:#x}")[0]} if "build_id" in ids else {}
    for name, place, frame in (("address", {}, {"module": "m", "address": hex(address)}),
                               ("bias", {"start": "0x10000", "end": "0x900000000", "bias": "0x10000"}, {"pc": hex(address + 0x10000)}),
                               ("number", {"start": "0", "end": "0x900000000", "bias": 0}, {"pc": address})):
        body = {"modules": [{"name": "m", **ids, **place}], "frames": [{**frame, "exact": True}]}
        frames[name] = server.json("POST", "/v1/symbolicate", body)["frames"][0]
        assert frames[name]["address"] == hex(address)
    symbolz = server.ask("POST", f"/m/{module}/symbolz", hex(address))[2].decode()
    return [[(f.get("function"), f.get("line")) for f in answer["frames"]] for answer in frames.values()], symbolz


def wanted(callsign, path, address):
    frames = json.loads(callsign.run("lookup", path, hex(address), "--json", "--demangle").stdout)["frames"]
    return [(f["function"], f.get("line")) for f in frames]


@pytest.mark.parametrize("kind", ["breakpad", "gsym"])
def test_symbols_that_count_from_the_first_byte(callsign, images, tmp_path, kind):
    """0x401136 of a program linked at 0x400000 is 0x1136 of its Breakpad file, which does not tell where the image is linked to."""
    app, store = images["app"], tmp_path / "store"
    shutil.copyfile(app.path, tmp_path / "app")
    subprocess.run([need("strip"), "-g", tmp_path / "app"], check=True)
    symbols = tmp_path / "app.sym"
    callsign.good("convert", app.path, "--to", "breakpad", "-o", symbols, "-q")
    if kind == "gsym":
        callsign.good("convert", symbols, "-o", tmp_path / "app.gsym", "-q")
        symbols = tmp_path / "app.gsym"
    callsign.good("store", "add", "--store", store, tmp_path / "app")
    with Server(callsign, store) as server:
        before, _ = answers(server, app.id, app.top + 6, build_id=app.id)
        assert before == [[("top", None)]] * len(before)
    callsign.good("store", "add", "--store", store, symbols)
    with Server(callsign, store) as server:
        for address in (app.top, app.top + 6, app.top + 9, app.top - 0x400000):
            got, symbolz = answers(server, app.id, address, build_id=app.id)
            want = wanted(callsign, app.path, address)
            assert got == [want] * len(got), hex(address)
            assert symbolz == (f"{hex(address)}\t{want[-1][0]}\n" if want else "")
        frame = server.json("POST", "/symbolicate/v5", {"memoryMap": [["app", app.debug_id]], "stacks": [[[0, app.top + 6 - 0x400000]]]})
        frame = frame["results"][0]["stacks"][0][0]
        assert frame["function"] == "top" and frame["line"] == wanted(callsign, app.path, app.top + 6)[-1][1]


def test_a_pdb_beside_its_image(callsign, program, tmp_path):
    store = tmp_path / "store"
    callsign.good("store", "add", "--store", store, program, program.with_suffix(".pdb"))
    found = callsign.good("find", program, "mainCRTStartup").split()
    address = int(found[0], 16)
    want = wanted(callsign, program, address)
    assert address >= 0x400000 and want
    with Server(callsign, store) as server:
        debug_id = identity(program)[1]
        got, symbolz = answers(server, debug_id, address, debug_id=debug_id)
        assert got == [want] * len(got) and symbolz == f"{hex(address)}\t{want[-1][0]}\n"
