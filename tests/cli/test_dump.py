"""callsign dump."""
import json

import pytest

import programs
from gsym_bytes import Bytes


def test_header(callsign, shapes, shapes_index):
    text = callsign.good("dump", "--summary", shapes_index)
    assert text.splitlines()[0] == f"{shapes_index}: GSYM version 1, little-endian"
    facts = dict(line.strip().split("  ", 1) for line in text.splitlines()[1:])
    facts = {key: value.strip() for key, value in facts.items()}
    assert facts["size"] == f"{shapes_index.stat().st_size} bytes"
    assert facts["build id"] == programs.build_id(shapes.path)
    assert int(facts["functions"]) == Bytes(shapes_index).count


def test_text(callsign, shapes, shapes_index):
    text = callsign.good("dump", shapes_index)
    start = shapes.addresses["outer"]
    end = start + shapes.sizes["outer"]
    function = text[text.index(f"\n{start:#x}..{end:#x} outer (record at 0x"):].split("\n\n")[0]
    assert f"\n    {start:#x} {shapes.source}:" in function
    inlined = function[function.index("\n  inlined\n"):].splitlines()
    area = next(line for line in inlined if line.strip().startswith("area "))
    square = next(line for line in inlined if line.strip().startswith("square "))
    assert area.endswith(f" called at {shapes.source}:{shapes.lines['call_area']}")
    assert square.endswith(f" called at {shapes.source}:{shapes.lines['call_square']}")
    depth = [len(line) - len(line.lstrip()) for line in (area, square)]
    assert depth[1] == depth[0] + 2
    assert f" {shapes.source}\n" in text[text.index("\nfiles\n"):]


def test_json(callsign, shapes, shapes_index):
    objects = [json.loads(line) for line in callsign.good("dump", "--json", shapes_index).splitlines()]
    header = objects[0]["header"]
    assert header["build_id"] == programs.build_id(shapes.path)
    assert header["file_size"] == shapes_index.stat().st_size
    files = [o["file"] for o in objects if "file" in o]
    assert len(files) == header["files"] - 1 and str(shapes.source) in [f["path"] for f in files]
    functions = [o["function"] for o in objects if "function" in o]
    assert len(functions) == header["functions"]
    starts = [int(f["start"], 16) for f in functions]
    assert starts == sorted(starts)
    outer = next(f for f in functions if f.get("name") == "outer")
    assert outer["size"] == shapes.sizes["outer"]
    assert outer["lines"][0]["address"] == outer["start"]
    assert {row["file"] for row in outer["lines"] if "file" in row} == {str(shapes.source)}
    assert shapes.lines["square"] in [row["line"] for row in outer["lines"] if "line" in row]
    tree = [(n["depth"], n["name"]) for n in outer["inlined"]]
    assert tree == [(0, "outer"), (1, "area"), (2, "square")]
    mark = shapes.mark("square")
    assert all(any(int(a, 16) <= mark < int(b, 16) for a, b in n["ranges"]) for n in outer["inlined"])


def test_chosen_functions(callsign, shapes, shapes_index):
    text = callsign.good("dump", shapes_index, hex(shapes.mark("hidden")), hex(shapes.mark("main")))
    assert " hidden (" in text and " main (" in text and " outer (" not in text and "GSYM" not in text
    function, = callsign.good("dump", "--json", shapes_index, hex(shapes.mark("hidden"))).splitlines()
    assert json.loads(function)["function"]["name"] == "hidden"
    done = callsign.run("dump", shapes_index, "1")
    assert done.returncode == 1 and done.stdout.startswith("0x1: not found: ")
    done = callsign.run("dump", "--json", shapes_index, "1")
    assert done.returncode == 1 and json.loads(done.stdout)["frames"] == []
    assert "'zz'" in callsign.bad("dump", shapes_index, "zz")


def test_demangle(callsign, classes):
    assert " geometry::box<int>::volume() const (record" in callsign.good("dump", "-C", classes.path)


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_damaged_record(callsign, index, flags):
    data = Bytes(index)
    data.put_u32(data.record(data.find("hidden")) + 12, 0xfffffff0)
    data.save()
    done = callsign.run("dump", index, *flags)
    assert done.returncode == 1
    assert ('"error":"' if flags else "error: ") in done.stdout
    assert "main" in done.stdout and "outer" in done.stdout
    assert done.stderr.startswith(f"callsign: {index}: ")
    if flags:
        assert len([json.loads(line) for line in done.stdout.splitlines()]) > data.count


def test_full_disk(callsign, shapes_index):
    with open("/dev/full", "wb") as full:
        done = callsign.run("dump", shapes_index, stdout=full)
    assert (done.returncode, done.stderr) == (2, "callsign: standard output: No space left on device\n")
