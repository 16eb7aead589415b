"""Code that a process made up while it ran: perf maps of V8 with places in their names, jitdump files. And files that are refused by
name."""
import json
import struct
import subprocess
from pathlib import Path

import pytest

from programs import need


def answers(callsign, index, *addresses):
    lines = callsign.good("lookup", index, "--json", *map(hex, addresses)).splitlines()
    return [[(f["function"], f.get("file"), f.get("line")) for f in json.loads(line)["frames"]] for line in lines]


V8_NAMES = {
    "JS:*fib /path/j.js:1:13": ("JS:*fib", "/path/j.js", 1),
    "LazyCompile:~get size /a b/c.js:22:3": ("LazyCompile:~get size", "/a b/c.js", 22),
    "Function:^go file:///srv/x.mjs:7:1": ("Function:^go", "file:///srv/x.mjs", 7),
    "JS:~emit node:events:466:44": ("JS:~emit", "node:events", 466),
    "LazyCompile:*old plain.js:9": ("LazyCompile:*old", "plain.js", 9),
    "JS:+win C:\\src\\w.js:3:4": ("JS:+win", "C:\\src\\w.js", 3),
    "Builtin:ArgumentsAdaptorTrampoline": ("Builtin:ArgumentsAdaptorTrampoline", None, None),
    "JS:*nowhere": ("JS:*nowhere", None, None),
    "not js:1:2": ("not js:1:2", None, None),
}


def test_names_of_v8_are_split(callsign, tmp_path):
    starts = [0x7f0000001000 + 0x100 * i for i in range(len(V8_NAMES))]
    text = "".join(f"{start:x} 40 {name}\n" for start, name in zip(starts, V8_NAMES))
    (tmp_path / "perf-1.map").write_text(text)
    callsign.good("convert", "--quiet", tmp_path / "perf-1.map", "-o", tmp_path / "index")
    found = answers(callsign, tmp_path / "index", *(start + 5 for start in starts))
    assert [frames[0] for frames in found] == [want for want in V8_NAMES.values()]


def record(order, kind, body):
    return struct.pack(order + "IIQ", kind, 16 + len(body), 7) + body


def load(order, start, size, name):
    return record(order, 0, struct.pack(order + "IIQQQQ", 1, 1, start, start, size, 1) + name + b"\0" + b"\x90" * size)


def debug(order, start, entries):
    body = struct.pack(order + "QQ", start, len(entries))
    return record(order, 2, body + b"".join(struct.pack(order + "QII", at, line, 0) + name + b"\0" for at, line, name in entries))


def test_jitdump_of_node(callsign, tmp_path):
    """What `node --perf-prof` of Node 20.20.2 wrote for a function on lines 1 to 5: only its records. V8 names files in memory that it freed."""
    dump = Path(__file__).parents[1] / "data" / "jitdump" / "node-20.20.2.dump"
    callsign.good("convert", "--quiet", dump, "-o", tmp_path / "index")
    records = [json.loads(line) for line in callsign.good("dump", tmp_path / "index", "--json").splitlines()]
    found = [record["function"] for record in records if "function" in record]
    lines = {f["name"]: [row["line"] for row in f.get("lines", [])] for f in found}
    assert lines == {"Builtin:RecordWriteSaveFP": [], "JS:^fib": [2, 3, 4], "JS:*fib": [1, 2, 4, 3, 1], "JS:*": [1, 8, 4, 8, 4, 8, 9, 1, 8]}
    assert {row["file"] for f in found for row in f.get("lines", [])} == {"/tmp/js/fib.js"}
    optimized = next(f for f in found if f["name"] == "JS:*fib")
    assert [int(row["address"], 16) - int(optimized["start"], 16) for row in optimized["lines"]] == [0, 0x27, 0x46, 0x129, 0x12b]


@pytest.mark.parametrize("kind, lines, told", [
    ("other-files", [(0x5040, 3, b"/src/a.js"), (0x5044, 7, b"/src/inlined.js")], [("JS:*go", "/src/a.js", 3), ("JS:*go", "/src/inlined.js", 7)]),
    ("later", [(0x5044, 3, b"/src/inlined.js")], [("JS:*go", "/src/a.js", 2), ("JS:*go", "/src/inlined.js", 3)]),
    ("damaged", [(0x5040, 3, b"\xfa\xa2\x01"), (0x5044, 7, b"")], [("JS:*go", "/src/a.js", 2), ("JS:*go", "/src/a.js", 2)])], ids=["other-files", "later", "damaged"])
def test_jitdump_of_v8(callsign, kind, lines, told, tmp_path):
    """Addresses of lines count an ELF header of 64 bytes; without usable names of files the function keeps the line in its name."""
    data = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0) + debug("<", 0x5000, lines)
    (tmp_path / "jit-1.dump").write_bytes(data + load("<", 0x5000, 16, b"JS:*go /src/a.js:2:5"))
    done = callsign.run("convert", tmp_path / "jit-1.dump", "-o", tmp_path / "index")
    assert done.returncode == (1 if kind == "damaged" else 0) and ("damaged" in done.stderr) == (kind == "damaged")
    assert answers(callsign, tmp_path / "index", 0x5001, 0x5005) == [[frame] for frame in told]


@pytest.mark.parametrize("order", "<>")
def test_jitdump(callsign, order, tmp_path):
    data = struct.pack(order + "IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0)
    data += load(order, 0x5000, 16, b"replaced")
    data += debug(order, 0x5000, [(0x5000, 3, b"/src/jit.lua"), (0x5008, 4, b"\xff"), (0x500c, 9, b"/src/other.lua")])
    data += load(order, 0x5000, 16, b"traced")
    data += load(order, 0x6000, 32, b"plain")
    data += record(order, 1, struct.pack(order + "IIQQQQQ", 1, 1, 0x7000, 0x5000, 0x7000, 16, 2))
    data += record(order, 3, b"")
    (tmp_path / "jit-1.dump").write_bytes(data)
    callsign.good("convert", "--quiet", tmp_path / "jit-1.dump", "-o", tmp_path / "index")
    assert answers(callsign, tmp_path / "index", 0x5001, 0x5009, 0x500f, 0x6010, 0x7008) == [
        [("traced", "/src/jit.lua", 3)], [("traced", "/src/jit.lua", 4)], [("traced", "/src/other.lua", 9)], [("plain", None, None)],
        [("traced", "/src/jit.lua", 4)]]
    for size in range(41, len(data), 7):  # cut anywhere: what stands before is kept, or it is said that nothing is
        (tmp_path / "cut.dump").write_bytes(data[:size])
        assert callsign.run("convert", tmp_path / "cut.dump", "-o", tmp_path / "cut").returncode in (0, 1, 2)


def test_jitdump_functions_end_and_have_their_own_lines(callsign, tmp_path):
    """Lines that stand before the code of another address are not its own; behind the last byte there is no code."""
    data = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0)
    data += debug("<", 0x5000, [(0x5104, 3, b"/src/jit.lua")]) + load("<", 0x5100, 16, b"other") + load("<", 0x5000, 16, b"late")
    (tmp_path / "jit-1.dump").write_bytes(data)
    callsign.good("convert", "--quiet", tmp_path / "jit-1.dump", "-o", tmp_path / "index")
    assert answers(callsign, tmp_path / "index", 0x500f, 0x510f) == [[("late", None, None)], [("other", None, None)]]
    done = callsign.run("lookup", tmp_path / "index", "--json", "0x5010", "0x5110")
    assert [json.loads(line)["frames"] for line in done.stdout.splitlines()] == [[], []]


def test_jitdump_of_code_behind_the_last_address(callsign, tmp_path):
    """Moved or loaded there: it is damaged. Its rows had addresses of the other end of memory."""
    last = 2**64 - 1
    data = struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, 1, 0, 0)
    data += debug("<", 0x5000, [(0x5000, 3, b"/src/jit.lua"), (0x5008, 4, b"\xff")])
    data += load("<", 0x5000, 16, b"traced") + move("<", 0x5000, last) + move("<", 0x5000, last - 15) + move("<", 0x5000, last - 16)
    (tmp_path / "jit-1.dump").write_bytes(data)
    done = callsign.run("convert", "--quiet", tmp_path / "jit-1.dump", "-o", tmp_path / "index", "--report", "-")
    events = {event["name"]: event for event in json.loads(done.stdout)["events"]}
    assert done.returncode == 1 and events["damaged-record"]["count"] == 2
    assert events["damaged-record"]["example"] == "code at 0xffffffffffffffff of 0x10 bytes ends after the last address"
    assert ": 0 problems\n" in callsign.good("verify", tmp_path / "index")
    assert answers(callsign, tmp_path / "index", 0x5009, last - 8) == [[("traced", "/src/jit.lua", 4)], [("traced", "/src/jit.lua", 4)]]


def test_jitdump_of_memory_used_again(callsign, tmp_path):
    """perf makes a mapping of each record, and of two mappings the later one holds: code that begins in later code is gone."""
    data = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0)
    for start, size, name in [(0x5080, 0x100, b"gone"), (0x5400, 0x100, b"front"), (0x5000, 0x200, b"new"), (0x5480, 0x40, b"within"),
                              (0x5100, 0x10, b"newest"), (0x5480, 0, b"empty"), (0x5300, 0x40, b"first"), (0x5340, 0x40, b"next")]:
        data += load("<", start, size, name)
    data += record("<", 1, struct.pack("<IIQQQQQ", 1, 1, 0x52f0, 0x5300, 0x52f0, 0x40, 2))
    (tmp_path / "jit-1.dump").write_bytes(data)
    callsign.good("convert", "--quiet", tmp_path / "jit-1.dump", "-o", tmp_path / "index")
    assert [found[0][0] for found in answers(callsign, tmp_path / "index", 0x5010, 0x5090, 0x5100, 0x5410, 0x52f0, 0x532f, 0x5340)] == [
        "new", "new", "newest", "front", "first", "first", "next"]
    names = [json.loads(line) for line in callsign.good("dump", tmp_path / "index", "--json").splitlines()]
    assert sorted(line["function"]["name"] for line in names if "function" in line) == ["empty", "first", "front", "new", "newest", "next"]


def move(order, start, to):
    return record(order, 1, struct.pack(order + "IIQQQQQ", 1, 1, to, start, to, 16, 2))


def test_code_that_moves_again_and_again(callsign, tmp_path):
    """Each record searched all code before it: a fifth of this took 7 s, twice as much four times as long."""
    head, count, many = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0), 1000, 400000
    data = b"".join(load("<", 0x10000 + 0x20 * i, 16, b"f%d" % i) for i in range(count))
    for step in range(3):
        data += b"".join(move("<", 0x10000 * 16 ** step + 0x20 * i, 0x100000 * 16 ** step + 0x20 * i) for i in range(count))
    (tmp_path / "jit-1.dump").write_bytes(head + data + load("<", 0x5000, 1, b"f") * many + move("<", 0x6000, 0x7000) * many)
    callsign.good("convert", "--quiet", tmp_path / "jit-1.dump", "-o", tmp_path / "index")
    found = answers(callsign, tmp_path / "index", *(0x10000000 + 0x20 * i + 15 for i in range(count)))
    assert found == [[(f"f{i}", None, None)] for i in range(count)]


def test_a_long_name_that_moves_often(callsign, tmp_path):
    """The name of each function is hashed: a megabyte of it for each of many records of 64 bytes."""
    head, many = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0), 20000
    data = load("<", 0x1000, 16, b"JS:*f /" + b"a" * (1 << 20) + b":1:1")
    data += b"".join(move("<", 0x1000, 0x10000 + 0x20 * i) for i in range(many))
    (tmp_path / "jit-1.dump").write_bytes(head + data)
    done = callsign.run("convert", "--quiet", tmp_path / "jit-1.dump", "-o", tmp_path / "index", "--report", "-")
    events = {event["name"]: event for event in json.loads(done.stdout)["events"]}
    assert done.returncode == 1 and "names of code that moved" in events["damaged-record"]["example"]
    assert 10 < json.loads(done.stdout)["functions_written"] < 40 and events["damaged-record"]["count"] > many - 40


REFUSED = {
    "spirv": (b"\x03\x02\x23\x07" + bytes(60), "SPIR-V module"),
    "xcoff32": (b"\x01\xdf" + bytes(60), "XCOFF object of AIX, 32 bits"),
    "xcoff64": (b"\x01\xf7" + bytes(60), "XCOFF object of AIX, 64 bits"),
    "aix-archive": (b"<bigaf>\n" + bytes(120), "archive of AIX"),
    "old-aix-archive": (b"<aiaff>\n" + bytes(120), "archive of AIX"),
    "bitcode": (b"BC\xc0\xde" + bytes(60), "LLVM bitcode"),
    "fatbin": (b"\x50\xed\x55\xba" + bytes(60), "CUDA fat binary"),
    "minidump": (b"MDMP\x93\xa7" + bytes(60), "minidump: it has no functions"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_files_that_are_not_read_are_named(callsign, kind, tmp_path):
    data, text = REFUSED[kind]
    (tmp_path / "input").write_bytes(data)
    assert text in callsign.bad("convert", tmp_path / "input", "-o", tmp_path / "index")


def test_core_dumps_are_named(callsign, tmp_path):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    subprocess.run([need("gcc"), "-c", "main.c"], cwd=tmp_path, check=True)
    data = bytearray((tmp_path / "main.o").read_bytes())
    data[16:18] = (4).to_bytes(2, "little")
    for size in (len(data), len(data) - 1, 64):  # dumps are often cut, and their section headers stand at the end
        (tmp_path / "core").write_bytes(data[:size])
        assert "core dump: it has no functions" in callsign.bad("convert", tmp_path / "core", "-o", tmp_path / "index")


def test_stabs_are_told(callsign, tmp_path):
    (tmp_path / "old.s").write_text("    .text\n    .globl main\n    .type main, @function\nmain: ret\n    .size main, 1\n"
                                    "    .section .note.GNU-stack\n")
    subprocess.run([need("as"), "--gstabs", "old.s", "-o", "old.o"], cwd=tmp_path, check=True)
    done = callsign.run("convert", tmp_path / "old.o", "-o", tmp_path / "index")
    assert done.returncode == 0 and "unread-debug-information (first: STABS in .stab" in done.stderr
