"""Functions that share one long name, strings that lie within others, mangled names that are short for very long ones: a small file that
could demand any amount of time and memory. The work has a limit, and what real files share stays far below it."""
import re
import struct

import pytest

import gsym_make
from gsym_bytes import Bytes

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


@pytest.mark.parametrize("name", ["nn", "*x", "main.c:7", "_Znn"])
def test_find(callsign, shared, name):
    assert re.fullmatch(LIMIT + "\n", fail(callsign, shared, "find", shared, name))


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
    """Each is read where it is, not counted from the group's first one: 30,000 names are one walk."""
    merged = [{"name": f"m{i:05}"} for i in range(30000)]
    path = gsym_make.write(tmp_path / "merged.gsym", [{"start": 0x1000, "size": 16, "name": "f", "merged": merged}])
    lines = callsign.good("find", path, "*").splitlines()
    assert [line.split()[1] for line in lines] == ["f", *(m["name"] for m in merged)]


def test_breakpad_output(callsign, shared, tmp_path):
    out = tmp_path / "out.sym"
    message = fail(callsign, shared, "convert", shared, "--to", "breakpad", "-o", out)
    assert re.fullmatch(r"functions share long names or files long paths: written for each of them, they have more than \d+ bytes, and all "
                        r"strings together \d+\n", message)
    assert not out.exists()


def test_breakpad_output_of_paths(callsign, tmp_path):
    """3,000 files in one directory with a long name."""
    path = gsym_make.write(tmp_path / "paths.gsym", [{"start": 0x1000, "size": 0x8000, "name": "f", "line": 1}],
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
    assert callsign.good("lookup", path, "0x1000").startswith("0x1000: f + 0 at /ddd")
    assert "files long paths" in fail(callsign, path, "convert", path, "--to", "breakpad", "-o", tmp_path / "out.sym")


def index_name(index):
    return struct.unpack_from("<I", index.data, index.record(0) + 4)[0]


def test_segments(callsign, shared, tmp_path):
    out = tmp_path / "out.gsym"
    message = fail(callsign, shared, "convert", shared, "--segment-size", "65536", "-o", out)
    assert re.fullmatch(r"segments repeat strings: those of \d+ segments have more than \d+ bytes, 256 times those of the whole index\n", message)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["gsym-v2", "breakpad", "bsym"])
def test_strings_within_others(callsign, tmp_path, kind):
    path = index_of_suffixes(tmp_path / "suffixes.gsym")
    message = fail(callsign, path, "convert", path, "--to", kind, "-o", tmp_path / "out")
    assert message == f"strings lie within others: they have more than 32 times the {path.stat().st_size} bytes of the file\n"


def test_names_of_a_section_index(callsign, shared, tmp_path):
    """Which has a name for each function, read anew each time."""
    section = tmp_path / "shared.gsymsec"
    callsign.good("convert", shared, "--to", "gsym-section", "-o", section)
    message = fail(callsign, section, "convert", section, "-o", tmp_path / "out.gsym")
    assert re.fullmatch(r"names and paths of functions have more than 64 times the \d+ bytes of the index and its strings\n", message)


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
    assert re.fullmatch(r"new names have more than \d+ bytes, over 256 times those of the names that they stand for\n", message)
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
