"""Reports in which the list of modules follows the stacks: `info proc mappings` after `bt`, glibc's "Memory map:", a crash report's images."""
import subprocess

import pytest

import gsym_make
from programs import within_memory
from test_stack_logs import SAMPLES, filled, text_of


def split_maps(text):
    """(the lines that describe modules, the others)"""
    def is_map(line):
        return " r-xp " in line or " r--p " in line or " rw-p " in line or "Start Addr" in line
    lines = text.splitlines(True)
    return "".join(line for line in lines if is_map(line)), "".join(line for line in lines if not is_map(line))


@pytest.mark.parametrize("name", ["gdb-mappings", "bare-with-maps"])
def test_maps_after_the_stacks(callsign, name):
    maps, stacks = split_maps(text_of(name))
    _, wanted = split_maps(filled(name))
    assert maps.count("\n") > 1 and stacks != wanted
    args = ["stack", "--in-place", "--no-search", *SAMPLES[name].index]
    assert callsign.good(*args, stdin=stacks + maps) == wanted + maps
    prose = "".join(f"line {i} of the report\n" for i in range(5000))
    assert callsign.good(*args, stdin=stacks + prose + maps + prose) == wanted + prose + maps + prose


def test_branches_before_their_maps(callsign, app):
    """Each side of a branch, and the sample's address before them."""
    line = "     55d000001004 area 0x55d000001010/0x55d000001000/P/-/-/3/ \n"
    args = ["stack", "--in-place", "--no-search", "-i", app]
    for text in (line, line.replace("area", "[unknown] (/nowhere/app)"), line.replace("55d000001004 area ", "")):
        filled = callsign.good(*args, stdin=MAP + text).removeprefix(MAP)
        assert filled.count("main+") >= 2
        assert callsign.good(*args, stdin=text + MAP) == filled + MAP


@pytest.fixture
def app(tmp_path):
    return gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x100, "name": "main"}], base=0)


PC = "#0 0x55d000001010\n"
MAP = "55d000000000-55d000003000 r-xp 00000000 08:01 12 /nowhere/app\n"


def test_how_far_a_list_is_searched(callsign, app):
    """A mebibyte, in lines of any kind; each is given once and in its order."""
    args = ["stack", "--in-place", "--no-search", "-i", app]
    near, far = "some line of a log\n" * 40000, "some line of a log\n" * 60000
    found = callsign.good(*args, stdin=PC + near + MAP)
    assert found.endswith(near + MAP) and "main" in found.splitlines()[0]
    assert callsign.good(*args, stdin=PC + far + MAP) == PC + far + MAP
    found = callsign.good(*args, stdin=PC + far + MAP + PC)
    assert found.startswith(PC + far + MAP) and "main" in found.splitlines()[-1]


def test_searches_of_two_kinds(callsign, tmp_path):
    """Lines of a kernel without names and pcs without modules in turn: each search ends, and no line is lost."""
    text = gsym_make.write(tmp_path / "vmlinux.gsym", [{"start": 0xffffffff81000000, "size": 0x100, "name": "panic"}], base=0xffffffff81000000)
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x100, "name": "main"}], base=0)
    turn = PC + "some line\n" + "RIP: 0010:0xffffffffab000008\n" + "another\n"
    args = ["stack", "--in-place", "--no-search", "-i", text, "-i", tmp_path / "app.gsym"]
    assert callsign.good(*args, stdin=turn * 20000) == turn * 20000
    offset = "Kernel Offset: 0x2a000000 from 0xffffffff81000000\n"
    done = callsign.good(*args, stdin=turn * 500 + offset + MAP)
    assert done.count("(panic)") == 500 and done.count("main") == 500
    done = callsign.good(*args, stdin=turn * 500 + MAP + offset)
    assert done.count("(panic)") == 500 and done.count("main") == 500


def test_a_stream_that_pauses(callsign, app):
    """Who writes lines and waits gets them after a second, with what was known by then."""
    process = subprocess.Popen([callsign.path, "stack", "--in-place", "--no-search", "-i", app], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    process.stdin.write(PC + "\nafter it\n")
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(3)] == [PC, "\n", "after it\n"]
    process.stdin.write(MAP + PC + "\n")
    process.stdin.close()
    rest = process.stdout.read()
    assert process.wait() == 0 and rest.startswith(MAP) and "main" in rest


def test_lines_that_waited_are_read_in_parts(callsign):
    """A mebibyte of short stacks at once would take a gigabyte."""
    text = "".join(f"#0 0x55d0{i:08x}\n\n" for i in range(200000))
    done = subprocess.run([*within_memory(callsign.path, 400 << 20), callsign.path, "stack", "--in-place", "--no-search"], input=text, capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout == text, done.stderr[-300:]
