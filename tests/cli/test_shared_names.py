"""Functions that share one long name, strings that lie within others, mangled names that are short for very long ones: a small file that
could demand any amount of time and memory. The work has a limit, and what real files share stays far below it."""
import json
import re
import struct
import subprocess

import pytest

import gsym_make
import range_server
from gsym_bytes import Bytes
from programs import within_memory

COUNT, LENGTH = 3000, 300_000
LIMIT = r"functions share names or records: together they have more than \d+ bytes, the limit for a file of \d+ bytes"


def index_of_one_name(path, count=COUNT, length=LENGTH, first="n"):
    return gsym_make.write(path, [{"start": 0x1000 + 16 * i, "size": 16, "name": first + "n" * length} for i in range(count)])


def index_of_suffixes(path):
    """Each name is the one before without its first byte."""
    index = Bytes(index_of_one_name(path))
    at = struct.unpack_from("<I", index.data, index.record(0) + 4)[0]
    for idx in range(index.count):
        index.put_u32(index.record(idx) + 4, at + idx)
    index.save()
    return path


@pytest.fixture(name="shared", scope="module")
def make_shared(tmp_path_factory):
    return index_of_one_name(tmp_path_factory.mktemp("shared") / "shared.gsym")


def fail(callsign, path, *args):
    """The message, which names the file."""
    done = callsign.run(*args)
    assert done.returncode == 2 and not done.stdout
    start = f"callsign: {path}: "
    assert done.stderr.startswith(start)
    return done.stderr[len(start):]


@pytest.mark.parametrize("name", ["nn", "*x", "_Znn"])
def test_find(callsign, shared, name):
    assert re.fullmatch(LIMIT + "\n", fail(callsign, shared, "find", shared, name))


def index_of_one_record(path, count, line_table):
    """Functions with one record, which has that line table. The names are short."""
    index = Bytes(index_of_one_name(path, count, 1))
    index.data += b"\0" * (-len(index.data) % 4)
    record = len(index.data)
    index.data += struct.pack("<II", 16, index_name(index)) + struct.pack("<II", 1, len(line_table)) + line_table + struct.pack("<II", 0, 0)
    for idx in range(index.count):
        index.put_u32(index.info_table + 4 * idx, record)
    index.save()
    return path


@pytest.mark.parametrize("steps", [pytest.param(b"\x04", marks=pytest.mark.long_with_sanitizers), b"\x01\x01"], ids=["rows", "files"])
@pytest.mark.parametrize("words", [["find", "main.cc:7"], ["find", "*"], ["diff"]], ids=["line", "first row", "diff"])
def test_one_line_table(callsign, tmp_path, steps, words):
    """200,000 steps of a line table for each of 3,000 functions: rows, or changes of the file that make none."""
    path = index_of_one_record(tmp_path / "rows.gsym", COUNT, b"\x00\x01\x01" + steps * 200_000 + b"\x04\x00")
    command, *name = words
    message = fail(callsign, path, command, path, *(name or [path]))
    assert re.match(LIMIT if name else "functions share too many records", message)


def test_many_lines(callsign, tmp_path):
    """The budget is for one walk, however many lines are asked for: 2,000 of an index with 100,000 rows."""
    source = tmp_path / "many.sym"
    rows = "".join(f"{0x1000 + 2 * i:x} 2 {i % 5000 + 1} 0\n" for i in range(100_000))
    source.write_text(f"MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 many\nFILE 0 /src/many.c\nFUNC 1000 {200_000:x} 0 many\n{rows}")
    callsign.good("convert", "-q", source, "-o", tmp_path / "many.gsym")
    lines = callsign.good("find", tmp_path / "many.gsym", *(f"many.c:{line}" for line in range(1, 2001))).splitlines()
    assert len(lines) == 2000 * 20 and lines[-1].endswith(" many 200000 /src/many.c:2000")


def test_names_that_are_demangled(callsign, tmp_path):
    """Short names that become long ones, each for many functions."""
    path = gsym_make.write(tmp_path / "short.gsym", [{"start": 0x1000 + 16 * i, "size": 16, "name": doubling(14, "main")} for i in range(COUNT)])
    assert re.fullmatch(LIMIT + "\n", fail(callsign, path, "find", path, "main"))
    assert re.match(LIMIT, fail(callsign, path, "lookup", path, "main+0x1"))


def test_paths(callsign, tmp_path):
    """3,000 files in one directory with a long name, of which no function has a row."""
    path = index_of_paths(tmp_path / "paths.gsym")
    assert re.fullmatch(LIMIT + "\n", fail(callsign, path, "find", path, "main.cc:7"))
    message = fail(callsign, path, "diff", path, path)
    assert message == "functions share too many records, names or paths to be compared\n"


def test_a_kernel_trace(callsign, shared):
    """Names in a trace are looked for in a table of all names. Said once."""
    done = callsign.run("stack", "--index", f"vmlinux={shared}", stdin="Call Trace:\n do_thing+0x1/0x10\n schedule+0x1a/0x40\n")
    assert len(re.findall(f"callsign: functions of an index are not found by name: {LIMIT}\n", done.stderr)) == 1
    assert "do_thing" in done.stdout and "schedule" in done.stdout


def test_plain_names_that_take_too_long(callsign, tmp_path):
    """Stored names are found, before a demangled one was asked for and after it."""
    names = [doubling(14, f"part{i:04}") for i in range(COUNT)]
    index = gsym_make.write(tmp_path / "driver.gsym", [{"start": 0x1000 + 16 * i, "size": 16, "name": name} for i, name in enumerate(names)])
    exact = f" {names[7]}+0x4/0x10 [driver]\n"
    for trace in exact, f"{exact} part0007(int)+0x4/0x10 [driver]\n{exact}":
        done = callsign.run("stack", "--json", "--index", f"driver={index}", stdin="Call Trace:\n" + trace)
        frames = json.loads(done.stdout)["frames"]
        assert [f["frames"][0]["function"] for f in frames if f["frames"]] == [names[7]] * trace.count(exact)
    assert len(re.findall(LIMIT, done.stderr)) == 1


def test_one_of_two_segments(callsign, tmp_path):
    """What the other one has is answered; the failure is told with the segment's file."""
    given = tmp_path / "given.gsym"
    gsym_make.write(given, [{"start": 0x1000 + 0x1000 * i, "size": 16, "name": f"_ZN3app5part{i}Ei"} for i in range(8)])
    callsign.good("convert", given, "--segment-size", "100", "-o", tmp_path / "seg")
    first = tmp_path / "seg-0x1000"
    index_of_one_name(first)
    for name in "_ZN3app5part5Ei", "app::part5(int)", "app::part5":
        done = callsign.run("lookup", tmp_path / "seg-manifest.json", f"{name}+0x1")
        assert re.fullmatch(f"callsign: {first}: {LIMIT}\ncallsign: '.*' is a name that could not be looked for everywhere\n", done.stderr)
        assert done.returncode and done.stdout.startswith("0x6001: _ZN3app5part5Ei")


def test_a_remote_index(callsign, shared):
    with range_server.serving({"/x.gsym": shared.read_bytes()}) as server:
        done = callsign.run("lookup", server.url("/x.gsym"), "nn+0x1")
    assert done.returncode == 2 and re.search(LIMIT, done.stderr)


def bsym(path, count, name, token):
    """Version 2.0: one binary whose symbols share a name, and one token."""
    def string(text):
        return (bytes([len(text)]) if len(text) < 255 else b"\xff" + struct.pack(">H", len(text))) + text

    at_binaries, at_symbols = 20, 44
    at_tokens = at_symbols + 4 + 12 * count
    at_text = at_tokens + 8
    texts = [string(b"a.dll"), string(name), string(token)]
    places = [at_text + sum(map(len, texts[:k])) for k in range(3)]
    data = b"BSYM" + struct.pack(">IIII", 0x20000, at_binaries, at_symbols, at_tokens) + struct.pack(">6I", 1, 0x1000, count, places[0], 0, 0)
    data += struct.pack(">I", count) + b"".join(struct.pack(">IHHI", 0x1000 + 16 * i, 0, 16, places[1]) for i in range(count))
    path.write_bytes(data + struct.pack(">II", 1, places[2]) + b"".join(texts))
    return path


def test_tokens_that_make_a_name_of_4_gb(callsign, tmp_path):
    """Nobody has such a name: it reads as empty."""
    path = bsym(tmp_path / "long.bsym", 10, b"\x80" * 65000, b"n" * 65000)
    limit = within_memory(callsign.path, 1 << 30)
    for words in (["lookup", path, "0x1004"], ["stats", path], ["diff", path, path], ["dump", path], ["verify", path]):
        done = subprocess.run([*limit, callsign.path, *words], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0 and len(done.stdout) < 5000, (words, done)
    assert callsign.run("find", path, "nn").stderr == "callsign: nn: not found\n"
    assert "a name of 4225000000 bytes" in callsign.bad("convert", path, "-o", tmp_path / "out.gsym")


def test_names_of_bsym(callsign, tmp_path):
    shared = bsym(tmp_path / "shared.bsym", 20000, b"\x80" * 65000, b"")
    for name in "nn", "_Znn":
        assert re.fullmatch(LIMIT + "\n", fail(callsign, shared, "find", shared, name))
    done = callsign.run("verify", shared)
    assert done.returncode == 1 and "names share bytes: more than " in done.stdout
    long = bsym(tmp_path / "whole.bsym", 10, b"_Z" + b"\x80" * 10, b"n" * 9000)
    assert len(callsign.good("find", long, "_Z" + "n" * 90000).splitlines()) == 10


def test_stats_of_inlined_calls(callsign, tmp_path):
    calls = [{"offset": 0, "size": 1, "name": "n" * LENGTH, "call_line": 1}] * 20000
    path = gsym_make.write(tmp_path / "calls.gsym", [{"start": 0x1000, "size": 16, "name": "f", "inlined": calls}])
    message = fail(callsign, path, "stats", path)
    assert re.fullmatch(r"the first 1 functions share more than \d+ bytes of records and names, need no more than 16 times as many as the file has\n", message)


def test_lookup_by_name(callsign, shared):
    expected = LIMIT + "\ncallsign: 'nn\\+0x1' is a name that could not be looked for\n"
    assert re.fullmatch(expected, fail(callsign, shared, "lookup", shared, "nn+0x1"))


def test_many_names(callsign, shared):
    """Enough of them to make a table worth while. Other queries are answered."""
    done = callsign.run("lookup", shared, stdin="nn+0x1\n" * 20 + "0x1008\n")
    assert done.returncode == 1 and len(re.findall(LIMIT, done.stderr)) == 20
    lines = done.stdout.splitlines()
    assert lines[:-1] == ["nn+0x1: error: a name that could not be looked for"] * 20
    assert lines[-1].startswith("0x1008: " + "n" * (LENGTH + 1) + " + 8 ")


def test_a_record_with_many_merged_functions(callsign, tmp_path):
    """1,000 functions share the record."""
    merged = [{"name": f"m{i:05}"} for i in range(10000)]
    path = gsym_make.write(tmp_path / "merged.gsym", [{"start": 0x1000 + 16 * i, "size": 16, "name": "f", "merged": merged if not i else []}
                                                      for i in range(1000)])
    index = Bytes(path)
    for idx in range(index.count):
        index.put_u32(index.info_table + 4 * idx, index.record(0))
    index.save()
    for name in "m09999", "_Zm":
        assert re.fullmatch(LIMIT + "\n", fail(callsign, path, "find", path, name))


def test_all_names_of_a_merged_group(callsign, tmp_path):
    """Each is read where it is. Counted from the group's first one, 300,000 names took minutes."""
    merged = [{"name": f"m{i:05}"} for i in range(300_000)]
    path = gsym_make.write(tmp_path / "merged.gsym", [{"start": 0x1000, "size": 16, "name": "f", "merged": merged}])
    lines = callsign.good("find", path, "*").splitlines()
    assert [line.split()[1] for line in lines] == ["f", *(m["name"] for m in merged)]


def test_breakpad_output(callsign, shared, tmp_path):
    out = tmp_path / "out.sym"
    message = fail(callsign, shared, "convert", shared, "--to", "breakpad", "-o", out)
    assert re.fullmatch(r"functions share long names or files long paths: written for each of them, they have more than \d+ bytes, and all "
                        r"strings together \d+\n", message)
    assert not list(tmp_path.iterdir())


def index_of_paths(path):
    """3,000 files in one directory with a long name."""
    gsym_make.write(path, [{"start": 0x1000, "size": 0x8000, "name": "f", "line": 1}],
                    source=("/" + "d" * LENGTH, "main.cc"))
    index = Bytes(path)
    table = index.info_table + 4 * index.count
    directory, base = struct.unpack_from("<II", index.data, table + 12)
    # The strings come after the file table, and after them records: all of it is laid out anew around a larger table.
    header = bytearray(index.data[:index.info_table])
    files = struct.pack("<I", COUNT + 1) + struct.pack("<II", 0, 0) + struct.pack("<II", directory, base) * COUNT
    strings = bytes(index.data[index.strings:index.strings + index.strings_size])
    rows = b"\x00\x01\x01" + b"".join(b"\x01" + gsym_make._uleb(i + 1) + bytes([6 if i else 4]) for i in range(COUNT)) + b"\x00"
    record = struct.pack("<II", 0x8000, index_name(index)) + struct.pack("<II", 1, len(rows)) + rows + struct.pack("<II", 0, 0)
    at_strings = len(header) + 4 + len(files)
    at_record = at_strings + len(strings) + (-(at_strings + len(strings)) % 4)
    struct.pack_into("<II", header, 20, at_strings, len(strings))
    data = bytes(header) + struct.pack("<I", at_record) + files + strings
    path.write_bytes(data + b"\0" * (at_record - len(data)) + record)
    return path


def test_breakpad_output_of_paths(callsign, tmp_path):
    path = index_of_paths(tmp_path / "paths.gsym")
    assert callsign.good("lookup", path, "0x1000").startswith("0x1000: f + 0 at /ddd")
    assert "files long paths" in fail(callsign, path, "convert", path, "--to", "breakpad", "-o", tmp_path / "out.sym")


def index_name(index):
    return struct.unpack_from("<I", index.data, index.record(0) + 4)[0]


def test_segments(callsign, shared, tmp_path):
    out = tmp_path / "out.gsym"
    message = fail(callsign, shared, "convert", shared, "--segment-size", "65536", "-o", out)
    assert re.fullmatch(r"segments repeat strings: those of \d+ segments have more than \d+ bytes, the limit for an index whose strings have \d+\n", message)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["gsym-v2", "breakpad", "bsym"])
def test_strings_within_others(callsign, tmp_path, kind):
    path = index_of_suffixes(tmp_path / "suffixes.gsym")
    message = fail(callsign, path, "convert", path, "--to", kind, "-o", tmp_path / "out")
    assert message == f"strings lie within others: they have more than 32 times the {path.stat().st_size} bytes of the file\n"


def test_a_section_index(callsign, shared, tmp_path):
    """One name for all functions is one string; a directory is read for each file."""
    section = tmp_path / "shared.gsymsec"
    callsign.good("convert", shared, "--to", "gsym-section", "-o", section)
    callsign.good("convert", section, "-o", tmp_path / "back.gsym")
    paths = index_of_paths(tmp_path / "paths.gsym")
    callsign.good("convert", paths, "--to", "gsym-section", "-o", section)
    message = fail(callsign, section, "convert", section, "-o", tmp_path / "out.gsym")
    assert re.fullmatch(r"strings lie within others, or files share long ones: they have more than 32 times the \d+ bytes of the index and its strings\n",
                        message)


def doubling(depth, name):
    """A mangled name of a few bytes for each level; demangled, each level is twice the one before."""
    def substitution(number):
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        return f"S{digits[number - 1] if number else ''}_"

    text = "1b"
    for level in range(1, depth + 1):
        text = f"1aI{text}{substitution(depth + level - 1)}E"
    return f"_Z{len(name)}{name}{text}"


def test_names_that_grow(callsign, tmp_path):
    source = tmp_path / "perf-1.map"
    source.write_text("".join(f"{0x1000 + 16 * i:x} 10 {doubling(16, f'f{i:03}')}\n" for i in range(400)))
    message = fail(callsign, source, "convert", source, "--shorten-names", "-o", tmp_path / "out.gsym")
    assert re.fullmatch(r"new names have more than \d+ bytes, the limit for the lengths of the old ones\n", message)
    few = tmp_path / "perf-2.map"
    few.write_text("".join(f"{0x1000 + 16 * i:x} 10 {doubling(12, f'f{i:03}')}\n" for i in range(8)))
    callsign.good("convert", few, "--shorten-names", "-o", tmp_path / "few.gsym")
    assert "f007(a<a<a<" in callsign.good("lookup", tmp_path / "few.gsym", "0x1070")


def test_sharing_as_real_files_have_it(callsign, tmp_path):
    path = index_of_one_name(tmp_path / "some.gsym", length=200)
    assert len(callsign.good("find", path, "n" * 201).splitlines()) == COUNT
    assert len(callsign.good("find", path, "nnn*").splitlines()) == COUNT
    assert len(callsign.good("lookup", path, "n" * 201 + "+0x1").splitlines()) == COUNT
    for kind in "gsym-v2", "breakpad", "gsym-section":
        callsign.good("convert", path, "--to", kind, "-o", tmp_path / "out")
        assert callsign.good("lookup", tmp_path / "out", "0x18" if kind == "breakpad" else "0x1018").split()[1] == "n" * 201
    callsign.good("convert", path, "--segment-size", "4096", "-o", tmp_path / "seg")
