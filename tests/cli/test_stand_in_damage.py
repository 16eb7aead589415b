"""Damaged DWARF: what the tools print of it, where, and how they end."""
import random
import re
import subprocess

import pytest

import stand_in_draws
import stand_in_pairs
import stand_in_programs
from programs import need
from test_stand_ins import folder, need_programs, pair_for  # noqa: F401 (a fixture)

PROGRAMS = ("c-gcc", "c-gcc4", "c-clang", "c-obj.o")


def section_places(path):
    """(offset, size) in the file, by name."""
    text = subprocess.run([need("readelf"), "-SW", path], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\] (\.\S+)\s+\S+\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", text)
    return {name: (int(offset, 16), int(size, 16)) for name, offset, size in found}


def die_offsets(path):
    text = subprocess.run([need("readelf"), "--debug-dump=info", path], capture_output=True, text=True, check=True).stdout
    return [int(offset, 16) for offset in re.findall(r"<[1-9a-f]+><([0-9a-f]+)>: Abbrev Number: [1-9]", text)]


def unit_damages():
    """(what, section, offset in it, bytes) that hold for units and tables of version 5, and of version 4."""
    for is_new in (True, False):
        program = "c-gcc" if is_new else "c-gcc4"
        yield program, "version", ".debug_info", 4, b"\x09"
        yield program, "version-zero", ".debug_info", 4, b"\0"
        yield program, "address-of-3", ".debug_info", 7 if is_new else 10, b"\x03"
        yield program, "address-of-16", ".debug_info", 7 if is_new else 10, b"\x10"
        yield program, "abbreviations", ".debug_info", 8 if is_new else 6, b"\xff\xff\xff\x7f"
        yield program, "length", ".debug_info", 0, b"\xff\xff\xff\x7f"
        yield program, "root", ".debug_info", 12 if is_new else 11, b"\x7e"
        yield program, "no-root", ".debug_info", 12 if is_new else 11, b"\0"
        yield program, "line-version", ".debug_line", 4, b"\x09"
        yield program, "line-length", ".debug_line", 0, b"\xff\xff\xff\x7f"
        yield program, "line-operations", ".debug_line", 13 if is_new else 11, b"\0"
        yield program, "line-opcode", ".debug_line", -1, b"\x55"


DAMAGES = list(unit_damages())


def damaged(programs, name, section, offset, data, to):
    """A copy of the program. A negative offset counts from the section's end."""
    content = bytearray(programs[name].read_bytes())
    begin, size = section_places(programs[name])[section]
    at = begin + offset + (size if offset < 0 else 0)
    content[at:at + len(data)] = data
    to.write_bytes(content)


@pytest.fixture(scope="module")
def programs(folder):  # noqa: F811
    found = stand_in_programs.build(folder / "programs", set(PROGRAMS))
    if set(PROGRAMS) - set(found):
        pytest.skip("a compiler is not installed")
    return found


def requests(path):
    places = stand_in_draws.code_addresses(path)
    start, size = max((place for place in places if places.count(place) > 1), key=lambda place: place[1])  # those with code stand there several times
    return "".join(f"{addr:x}\n" for addr in (*range(start, start + size, 11), 1)).encode() + b"main\n"


def same(pair, arguments, lines, where):
    difference = pair.compare(arguments, lines, where)
    assert difference is None, stand_in_pairs.show_difference(arguments, lines, difference)
    return pair.run("ours", arguments, lines, where)


@pytest.mark.parametrize("name,what,section,offset,data", DAMAGES, ids=[f"{name}-{what}" for name, what, *_ in DAMAGES])
def test_addr2line_reports_damage(name, what, section, offset, data, folder, programs, tmp_path):  # noqa: F811
    damaged(programs, name, section, offset, data, tmp_path / "app")
    done = same(pair_for("addr2line", folder), ["-fi", "-e", "app"], requests(programs[name]), tmp_path)
    assert b"DWARF error" in done.err or what in ("version-zero", "no-root", "length")


@pytest.mark.parametrize("name", PROGRAMS)
def test_addr2line_reports_damaged_dies(name, folder, programs, tmp_path):  # noqa: F811
    """Of each DIE in turn the abbreviation is one that is not there."""
    pair, seen = pair_for("addr2line", folder), 0
    for offset in die_offsets(programs[name])[1::9]:
        damaged(programs, name, ".debug_info", offset, b"\x7f", tmp_path / "app")
        seen += b"could not find abbrev number 127" in same(pair, ["-fi", "-e", "app"], requests(programs[name]), tmp_path).err
    assert seen > 3


@pytest.mark.parametrize("name", ["c-gcc", "c-gcc4"])
def test_addr2line_reports_damaged_line_programs(name, folder, programs, tmp_path):  # noqa: F811
    pair, seen = pair_for("addr2line", folder), 0
    size = section_places(programs[name])[".debug_line"][1]
    for offset in range(size - 90, size, 7):
        damaged(programs, name, ".debug_line", offset, b"\0\x04\x44", tmp_path / "app")
        seen += b"mangled" in same(pair, ["-fi", "-e", "app"], requests(programs[name]), tmp_path).err
    assert seen > 3


CRASHES = {"abbreviations", "root"}  # of LLVM 22
OTHER_ROWS = {"line-version", "line-length"}  # LLVM reads what is there of a table that is too long; messages are the same


@pytest.mark.parametrize("name,what,section,offset,data", DAMAGES, ids=[f"{name}-{what}" for name, what, *_ in DAMAGES])
def test_llvm_symbolizer_reports_damage(name, what, section, offset, data, folder, programs, tmp_path):  # noqa: F811
    pair = pair_for("llvm-symbolizer", folder)
    damaged(programs, name, section, offset, data, tmp_path / "app")
    lines = b"".join(b"0x" + line + b"\n" for line in requests(programs[name]).split()[:-1])
    for text in (lines, b"DATA 0x4028\n" + lines[:40] + b"DATA 0x4028\n", b"FRAME " + lines[:70]):
        if what in OTHER_ROWS:
            assert pair.run("ours", ["--obj=app"], text, tmp_path).err == pair.run("theirs", ["--obj=app"], text, tmp_path).err
        elif what not in CRASHES:
            same(pair, ["--obj=app"], text, tmp_path)
        assert pair.run("ours", ["--obj=app"], text, tmp_path).code == 0
    if what not in CRASHES | {"no-root"}:
        assert b"warning: " in pair.run("ours", ["--obj=app"], lines, tmp_path).err


def test_llvm_symbolizer_does_not_go_back_in_a_line_program(folder, programs, tmp_path):  # noqa: F811
    """An opcode with a length near 2^64: LLVM goes back to where it began, and prints the same warning for ever."""
    damaged(programs, "c-gcc4", ".debug_line", -12, b"\0\xf5" + 8 * b"\xff" + b"\1\x80", tmp_path / "app")
    done = pair_for("llvm-symbolizer", folder).run("ours", ["--obj=app"], b"0x" + requests(programs["c-gcc4"])[:9], tmp_path)
    assert done.code == 0 and done.err.count(b"unexpected end of data") == 1


ARANGES = [(0, b"\xff\xff\xff\x7f"), (0, b"\xf0\xff\xff\xff"), (10, b"\x03"), (11, b"\x01"), (0, b"\x2d"), (0, b"\x0c"), (16, b"\0" * 16), (-16, b"\x01"), (6, b"\xff")]


@pytest.mark.parametrize("offset,data", ARANGES, ids=[f"aranges{i}" for i in range(len(ARANGES))])
def test_llvm_symbolizer_reports_damaged_ranges(offset, data, folder, programs, tmp_path):  # noqa: F811
    pair = pair_for("llvm-symbolizer", folder)
    damaged(programs, "c-gcc", ".debug_aranges", offset, data, tmp_path / "app")
    lines = b"".join(b"0x" + line + b"\n" for line in requests(programs["c-gcc"]).split()[:-1])
    done = same(pair, ["--obj=app"], lines, tmp_path)
    assert done.err or data == b"\xff"


@pytest.mark.parametrize("name", ["c-gcc", "c-obj.o"])
def test_eu_addr2line_with_damaged_ranges(name, folder, programs, tmp_path):  # noqa: F811
    """Each byte in turn; of a damaged set libdw reads no ranges at all, whatever the header says of its size."""
    pair = pair_for("eu-addr2line", folder)
    size = section_places(programs[name])[".debug_aranges"][1]
    answers = set()
    for offset in range(size):
        damaged(programs, name, ".debug_aranges", offset, b"\xff" if offset % 2 else b"\x01", tmp_path / "app")
        answers.add(same(pair, ["-fi", "-e", "app"], requests(programs[name]), tmp_path).out)
    assert len(answers) > 1


def changed(rng, data):
    """A part of a file is cut off, or some bytes of it are others; most often of its headers."""
    if rng.random() < 0.3:
        return data[:rng.randrange(len(data))]
    at = rng.randrange(min(len(data), 2048) if rng.random() < 0.6 else len(data))
    size = min(rng.choice([1, 1, 2, 4, 8, 64]), len(data) - at)
    return data[:at] + rng.choice([b"\0" * size, b"\xff" * size, rng.randbytes(size)]) + data[at + size:]


@pytest.mark.parametrize("name", ["c-macho", "c-macho.o", "c-macho-arm.o", "index.gsym"])
def test_atos_answers_of_damaged_files(name, folder, programs, tmp_path, callsign):  # noqa: F811
    """There is no atos to compare with: each request has its answer, or there is a message about the file."""
    if name == "index.gsym":
        callsign.good("convert", programs["c-gcc"], "-o", folder / "programs" / name, "--quiet")
    else:
        need_programs(folder, name)
    data, rng, codes = (folder / "programs" / name).read_bytes(), random.Random(17), set()
    addresses = [f"0x{base + offset:x}" for base in (0, 0x100000000, 0x100000400) for offset in (0, 4, 0x50, 0x99, 0x460)]
    for _ in range(150):
        (tmp_path / name).write_bytes(changed(rng, data))
        for options in ([], ["-i", "-l", "0x1000"]):
            done = subprocess.run([callsign.path, "atos", "-o", tmp_path / name, *options, *addresses], capture_output=True, timeout=60, check=False)
            codes.add(done.returncode)
            assert done.returncode in (0, 1) and (done.returncode == 1) == (b"cannot load symbols" in done.stderr), done
            assert done.returncode or done.stdout.count(b"\n") >= len(addresses), done
    assert codes == ({1} if name == "index.gsym" else {0, 1})


@pytest.mark.parametrize("section", [".debug_str", ".debug_str_offsets", ".debug_line_str"])
@pytest.mark.parametrize("name", ["c-gcc", "c-clang"])
def test_gsymutil_with_strings_that_are_not_there(name, section, folder, programs, tmp_path):  # noqa: F811
    """DIEs in messages: nothing stands for such a string, and "base " for the name of such a type."""
    pair = pair_for("llvm-gsymutil", folder)
    need_programs(folder, name)
    data = bytearray(programs[name].read_bytes())
    places = section_places(programs[name])
    if section not in places:
        return
    offset, size = places[section]
    header = 8 if section == ".debug_str_offsets" else 0
    data[offset + header:offset + size] = b"\xff" * (size - header)
    (tmp_path / "damaged").write_bytes(data)
    arguments = ["--convert=damaged", "--out-file=made.gsym", "--num-threads=1"]
    theirs = pair.run("theirs", arguments, b"", tmp_path)
    assert section != ".debug_str" or b"has no name" in theirs.out + theirs.err
    difference = pair.compare(arguments, b"", tmp_path)
    assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)
