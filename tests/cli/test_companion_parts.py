"""Companions of companions: the dwz supplement of a debug file that was found by build id."""
import json
import shutil

import pytest

import programs
from programs import need
from test_companions import run_tool


@pytest.fixture(scope="module")
def dwz_pair(tmp_path_factory):
    """Two C++ programs whose debug files share a supplement, under a debug directory as distributions lay it out."""
    folder = tmp_path_factory.mktemp("dwz")
    compiler, objcopy, dwz = need("g++"), need("objcopy"), need("dwz")
    root = folder / "debug"
    (root / ".dwz").mkdir(parents=True)
    pairs = []
    for name in ("one", "two"):
        (folder / name).mkdir()
        program = programs.build_classes(folder / name, compiler, ["-g", "-O2", "-gdwarf-4", "-include", "map", "-include", "string"])
        identity = programs.build_id(program.path)
        debug = root / ".build-id" / identity[:2] / (identity[2:] + ".debug")
        if not debug.parent.is_dir():
            debug.parent.mkdir(parents=True)
        image = folder / name / "app"
        run_tool(objcopy, "--only-keep-debug", program.path, debug)
        run_tool(objcopy, "--strip-all", program.path, image)
        pairs.append((program, image, debug))
    assert pairs[0][2] != pairs[1][2]  # built in another folder: another DW_AT_comp_dir, another id
    run_tool(dwz, "-m", root / ".dwz" / "common", "-M", "../../.dwz/common", *(debug for _, _, debug in pairs))
    assert (root / ".dwz" / "common").is_file()
    return root, pairs


def main_line(callsign, program, image, *options):
    found = callsign.run("lookup", "--json", image, hex(program.mark("main")), *options).stdout
    return json.loads(found)["frames"][-1].get("line")


def test_dwz_supplement(callsign, dwz_pair):
    root, pairs = dwz_pair
    for program, image, debug in pairs:
        report = callsign.good("convert", image, "-o", image.parent / "out.gsym", "-q", "--report", "-", "--debug-dir", root)
        events = {entry["name"]: entry["count"] for entry in json.loads(report)["events"]}
        assert events["missing-supplement"] == 0
        assert main_line(callsign, program, image, "--debug-dir", root) == program.lines["main"]


def test_dwz_supplement_of_another_build(callsign, dwz_pair, tmp_path):
    root, pairs = dwz_pair
    copy = tmp_path / "debug"
    shutil.copytree(root, copy)
    wrong = programs.build_id(pairs[0][2])
    right = programs.build_id(copy / ".dwz" / "common")
    shutil.copyfile(pairs[0][2], copy / ".dwz" / "common")
    image = pairs[1][1]
    line = callsign.bad("convert", image, "--debug-dir", copy, "-o", tmp_path / "out.gsym")
    assert f"common has build id {wrong}, the image needs {right}" in line


def test_dwz_supplement_that_is_missing(callsign, dwz_pair, tmp_path):
    root, pairs = dwz_pair
    copy = tmp_path / "debug"
    shutil.copytree(root, copy)
    (copy / ".dwz" / "common").unlink()
    image = pairs[1][1]
    done = callsign.run("convert", image, "--debug-dir", copy, "-o", tmp_path / "out.gsym")
    assert done.returncode == 1
    assert "missing-supplement (first: ../../.dwz/common" in done.stderr
