"""The examples: built by the release preset beside the command, run here, their output compared word by word."""
import pathlib
import re
import subprocess

import pytest

import programs
from programs import need

NAMES = ["build_index", "convert", "inspect", "line_table", "lookup", "own_backtrace"]


@pytest.fixture(scope="session")
def example(callsign):
    """Runs an example: example(NAME, ARGS...) gives stdout; `code` is the exit status wanted."""
    folder = pathlib.Path(callsign.path).parent / "examples"

    def run(name, *args, code=0):
        program = folder / name
        if not program.is_file():
            pytest.fail(f"{program} is not there: configure with -DCALLSIGN_EXTRAS=ON")
        done = subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, (name, args, done.returncode, done.stdout, done.stderr)
        if code:
            assert done.stdout == "" and done.stderr.count("\n") == 1, (done.stdout, done.stderr)
            return done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def built(example, tmp_path_factory):
    """The index that build_index makes, and what it said."""
    path = tmp_path_factory.mktemp("examples") / "jit.gsym"
    return path, example("build_index", path)


def test_build_index(built, callsign):
    path, output = built
    assert output == (f"{path}: {path.stat().st_size} bytes\n"
                      "0x1014: area, shapes.h line 4\n"
                      "0x1014: total, main.c line 11\n")
    callsign.good("verify", path)


def test_inspect(built, example):
    assert example("inspect", built[0]) == """\
2 functions, 2 files
0x1000 total, 64 bytes
  row 0x1000 file 1 line 10
  row 0x1008 file 1 line 11
  row 0x1010 file 2 line 4
  row 0x1018 file 2 line 5
  row 0x1020 file 1 line 12
  inlined area 0x1010..0x1020, called from file 1 line 11
  call returns to +48 ^show$
0x1100 show, 32 bytes
file 1 /src/main.c
file 2 /src/shapes.h
"""


def test_lookup(built, example):
    assert example("lookup", built[0], "0xfff", "0x1000", "0x1014", "0x103f", "0x1040", "0x1110") == """\
0xfff
  no function
0x1000
  total+0 at /src/main.c:10
0x1014
  area+4 at /src/shapes.h:4 [inlined]
  total+20 at /src/main.c:11
0x103f
  total+63 at /src/main.c:12
0x1040
  no function
0x1110
  show+16 (the function has no line table)
"""


def test_line_table(example):
    assert example("line_table") == """\
5 rows in 19 bytes: 00 02 0a 04 11 01 02 03 a4 02 18 01 01 03 db 7d 1c 48 00
0x1000 file 1 line 10
0x1004 file 1 line 11
0x100a file 2 line 305
0x1012 file 1 line 12
0x1028 file 1 line 14
0x100c is in file 2, line 305
0xfff is before the first row
"""


def test_convert(example, callsign, tmp_path):
    shapes = programs.build_shapes(tmp_path, need("gcc"), ["-g", "-O2"])
    index = tmp_path / "shapes.gsym"
    lines = example("convert", shapes.path, index).splitlines()
    assert re.fullmatch(r"\d+ functions, 3 of them from DWARF; \d+ rows, 2 inlined calls, \d+ call sites", lines[0]), lines
    # The symbols of the three functions are told of, as duplicates of what DWARF knows better.
    assert any(re.fullmatch(r"merged: duplicate-dropped, \d+ times; first: .*", line) for line in lines[1:]), lines
    callsign.good("verify", index)
    mark = shapes.mark("outer")
    function, line, _ = shapes.frames("outer")[0]
    assert example("lookup", index, hex(mark)).splitlines()[1].startswith(f"  {function}+")
    assert example("lookup", index, hex(mark)).splitlines()[1].endswith(f"/{shapes.source.name}:{line}")


def test_own_backtrace(example, callsign, tmp_path):
    """A program that carries its own index, and prints its own stack from it: also when it has no debug information."""
    plain = pathlib.Path(callsign.path).parent / "examples" / "own_backtrace"
    program = tmp_path / "own_backtrace"
    assert subprocess.run([plain], capture_output=True, text=True, timeout=60).stderr == (
        "own_backtrace: carries no index: see callsign embed\n")
    callsign.good("embed", plain, plain, "-o", program)

    def check(path):
        done = subprocess.run([path], capture_output=True, text=True, timeout=60)
        lines = done.stdout.splitlines()
        assert (done.returncode, done.stderr) == (0, "")
        assert lines[0] == "delivering"
        names = [line.split(" at ")[0].strip() for line in lines[1:]]
        assert names[names.index("weigh"):names.index("weigh") + 3] == ["weigh", "deliver", "main"], lines
        assert all("own_backtrace.c:" in line for line in lines[1:5]), lines
        assert [line for line in lines if line.startswith("  weigh ") and line.endswith(" [inlined]")], lines

    check(program)
    subprocess.run([need("strip"), "-s", program, "-o", tmp_path / "stripped"], check=True)
    check(tmp_path / "stripped")


def test_failures(example, tmp_path):
    missing = tmp_path / "missing"
    assert example("lookup", missing, "0", code=2).startswith(f"{missing}: ")
    assert example("inspect", missing, code=2).startswith(f"{missing}: ")
    assert example("convert", missing, tmp_path / "out", code=1).startswith(f"{missing}: ")
    assert not (tmp_path / "out").exists()
    assert str(missing) in example("build_index", missing / "x", code=1)
    for name in NAMES:
        if name not in ("line_table", "own_backtrace"):
            assert example(name, code=2).startswith(f"usage: {name} ")
