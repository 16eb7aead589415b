"""gsym-rs's gsymtool and llvm-gsymutil read what we write in every form, and we read theirs.

GSYMTOOL names the tool, otherwise it is looked for on the path and in ~/.cargo/bin."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLSIGN = os.environ.get("CALLSIGN", str(ROOT / "build/release/callsign"))
FORMS = [(version, endian) for version in (1, 2) for endian in ("little", "big")]

sys.path.insert(0, str(ROOT / "tests/cli"))
import programs  # noqa: E402 (where the path has just been set)


def run(*args):
    done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, (args, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout.decode("utf-8", "replace")


@pytest.fixture(scope="module")
def gsymtool():
    tool = os.environ.get("GSYMTOOL") or shutil.which("gsymtool") or str(pathlib.Path.home() / ".cargo/bin/gsymtool")
    if not os.access(tool, os.X_OK):
        pytest.skip("gsymtool is not installed (cargo install gsym-rs)")
    return tool


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return programs.build_shapes(tmp_path_factory.mktemp("shapes"), programs.need("gcc"), ["-g", "-O2"]).path


def ours(program, folder, version, endian):
    out = folder / f"ours-{version}-{endian}"
    run(CALLSIGN, "convert", program, "-q", "-o", out, "--to", "gsym-v2" if version == 2 else "gsym", "--endian", endian)
    return out


def starts(index):
    rows = [json.loads(line) for line in run(CALLSIGN, "dump", "--json", index).splitlines()]
    return [int(row["function"]["start"], 16) for row in rows if "function" in row]


def frames_of(index, addresses):
    """(function, line) of each frame of each address, by our command."""
    done = subprocess.run([CALLSIGN, "lookup", "--json", str(index), *map(hex, addresses)], stdout=subprocess.PIPE, timeout=120)
    return [[(f["function"], f.get("line", 0)) for f in json.loads(line).get("frames", [])]
            for line in done.stdout.decode().splitlines()]


def gsymtool_frames(tool, index, addresses):
    text = run(tool, "--color", "never", "lookup", index, *map(hex, addresses))
    answers = []
    for line in text.splitlines():
        if re.match(r"0x[0-9a-f]+:", line):
            answers.append([])
        elif line.strip():
            found = re.match(r"\s+(.*?)(?: at .*:(\d+))?(?: \[inlined\])?$", line)
            answers[-1].append((found.group(1), int(found.group(2) or 0)))
    return answers


@pytest.mark.parametrize("version,endian", FORMS)
def test_gsymtool_reads_ours(gsymtool, program, tmp_path, version, endian):
    index = ours(program, tmp_path, version, endian)
    assert run(gsymtool, "--color", "never", "verify", index).startswith("valid: ")
    addresses = [start + step for start in starts(index) for step in range(0, 96, 3)]
    want = frames_of(index, addresses)
    got = gsymtool_frames(gsymtool, index, addresses)
    assert len(got) == len(want)
    assert [[name for name, _ in frames] for frames in got] == [[name for name, _ in frames] for frames in want]
    assert sum(len(frames) > 1 for frames in want) > 3


@pytest.mark.parametrize("version,endian", FORMS)
def test_we_read_gsymtools(gsymtool, program, tmp_path, version, endian):
    source = ours(program, tmp_path, 1, "little")
    theirs, back = tmp_path / "theirs", tmp_path / "back"
    run(gsymtool, "transcode", source, "-o", theirs, "--version", f"v{version}", "--endian", endian)
    assert "0 problems" in run(CALLSIGN, "verify", theirs)
    addresses = [start + step for start in starts(source) for step in range(0, 96, 3)]
    assert frames_of(theirs, addresses) == frames_of(source, addresses)
    run(CALLSIGN, "convert", theirs, "-q", "-o", back, "--to", "gsym", "--endian", "little")
    assert frames_of(back, addresses) == frames_of(source, addresses)


@pytest.mark.parametrize("endian", ["little", "big"])
def test_llvm_reads_our_version_1(program, tmp_path, endian):
    tool = programs.need("llvm-gsymutil-22")
    dumps = set()
    for source in (program, ours(program, tmp_path, 2, "big")):
        index = tmp_path / "index"
        run(CALLSIGN, "convert", source, "-q", "-o", index, "--to", "gsym", "--endian", endian)
        dumps.add(run(tool, index))
    assert len(dumps) == 1
    assert "error" not in dumps.pop().lower().replace("errors", "")
