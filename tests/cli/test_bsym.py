"""BSYM and Symbian's text files through the command."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

import gsym_make
from gsym_bytes import Bytes

ROOT = pathlib.Path(__file__).resolve().parents[2]

SYMBOLS = """From    \\epoc32\\release\\armv5\\urel\\euser.dll

80001000    0010    User::Leave(int)                          a.o(.text)
80001011    000c    User::Alloc(int)                          a.o(.text)
80001020    0008    memcpy                                    a.o(.text)

From    \\epoc32\\release\\armv5\\urel\\clock.exe

00000000    0028    _E32Startup                               uc_exe_.o(.emb_text)
00000029    0044    CClock::NewL()                            clock.o(i._ZN6CClock4NewLEv)
"""
MAP = """ARM Linker, RVCT2.2 [Build 593]
Image Symbol Table
    Global Symbols
    .text                                    0x00008000   Section       64  a.o(.text)
    N::F()                                   0x00008001   Thumb Code    16  a.o(.text)
"""
LOG = """Creating Rom image rom.img
Processing file \\epoc32\\release\\armv5\\urel\\_dev_ekern.exe
Size:                    00012340
Code start addr:         80000064

Checksum word:           1234abcd
\\epoc32\\release\\armv5\\urel\\_dev_ekern.exe\t74560\tsys\\bin\\ekern.exe
"""


@pytest.fixture
def rom(tmp_path, callsign):
    source = tmp_path / "rom.symbol"
    source.write_text(SYMBOLS)
    callsign.good("convert", "--to", "bsym", "--quiet", source)
    return tmp_path / "rom.symbol.bsym"


def ask(callsign, index, *questions, code=0, stdin=""):
    done = callsign.run("lookup", index, "--json", *questions, stdin=stdin)
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_explain_finds_the_neighbours(callsign, tmp_path):
    """The functions stand binary by binary, not in the order of their addresses."""
    source, index = tmp_path / "rom.symbol", tmp_path / "rom.bsym"
    binaries = [f"From    \\epoc32\\release\\armv5\\urel\\{name}.exe\n\n" +
                "".join(f"{start:08x}    0010    {name}_{start:x}    a.o(.text)\n" for start in starts)
                for name, starts in (("a", (0, 0x400, 0x800)), ("b", (0, 0x100)), ("c", (0, 0x40, 0x80)))]
    source.write_text("\n".join(binaries))
    callsign.good("convert", "-q", "--to", "bsym", source, "-o", index)
    for address, before, after in ((0x50, 0x40, 0x80), (0x90, 0x80, 0x100), (0x110, 0x100, 0x400), (0x900, 0x800, None)):
        text = callsign.run("explain", index, hex(address)).stdout
        line = next(line for line in text.splitlines() if line.startswith("  addresses"))
        below, _, above = line.partition("; the next is ")
        assert f" {before:#x}.." in below and (f" {after:#x}.." in above if after else not above), line
        assert f"_{before:x} " in below and (f"_{after:x} " in above if after else True), line


def test_explain_names_the_binary_that_is_searched(callsign, tmp_path):
    """The last one that begins at or below the address, though another one's function is nearer."""
    source, index = tmp_path / "rom.symbol", tmp_path / "rom.bsym"
    source.write_text("\n".join(
        f"From    \\epoc32\\release\\armv5\\urel\\{name}.exe\n\n" + "".join(f"{start:08x}    0010    {name}_{start:x}    a.o(.text)\n"
                                                                                for start in starts)
        for name, starts in (("b", (0x500, 0x900)), ("a", (0x100, 0x700, 0xb00)), ("c", (0x300,)))))
    callsign.good("convert", "-q", "--to", "bsym", source, "-o", index)
    text = callsign.good("explain", index, "705")
    assert "below is a_700 0x700..0x710; the next is b_900 " in text and "possibly b_500 + 516" in text
    binary = "\\epoc32\\release\\armv5\\urel\\b.exe"
    assert f"\n  binary      {binary} 0x500..0x910, the last that starts at or below: only its functions are searched\n" in text
    assert json.loads(callsign.good("explain", "--json", index, "705"))["binary"] == {"name": binary, "start": "0x500", "end": "0x910"}
    done = callsign.run("explain", index, "320")
    assert done.returncode == 1 and "c.exe 0x300..0x310, the last " in done.stdout and "below is c_300 " in done.stdout
    assert "\n  binary " not in callsign.run("explain", index, "20").stdout


def test_explain_has_names_in_pieces(callsign, rom):
    """They are put together for lookups; explain showed "(no name)"."""
    answer = json.loads(callsign.good("explain", "--json", rom, "0x80001012"))
    assert [answer[key]["function"] for key in ("before", "record", "after")] == ["User::Alloc(int)", "User::Alloc(int)", "memcpy"]
    assert [frame["function"] for frame in answer["frames"]] == ["User::Alloc(int)"]


def test_lookup_by_address_and_name(callsign, rom):
    assert ask(callsign, rom, "0x80001005", "CLOCK.EXE+0x2a", "euser.dll+20") == [
        {"address": "0x80001005", "binary": "\\epoc32\\release\\armv5\\urel\\euser.dll",
         "frames": [{"function": "User::Leave(int)", "offset": 4, "inlined": False}],
         "reason": "the function has no line table"},
        {"asked": "CLOCK.EXE", "binary_offset": "0x2a", "address": "0x2a",
         "binary": "\\epoc32\\release\\armv5\\urel\\clock.exe",
         "frames": [{"function": "CClock::NewL()", "offset": 2, "inlined": False}],
         "reason": "the function has no line table"},
        {"asked": "euser.dll", "binary_offset": "0x20", "address": "0x80001020",
         "binary": "\\epoc32\\release\\armv5\\urel\\euser.dll",
         "frames": [{"function": "memcpy", "offset": 0, "inlined": False}], "reason": "the function has no line table"},
    ]


def test_gaps_and_nothing(callsign, rom):
    gap, = ask(callsign, rom, "8000101d")
    assert gap["frames"] == [{"function": "User::Alloc(int)", "offset": 12, "inlined": False, "uncertain": True}]
    missing, bad = ask(callsign, rom, "none.dll+0", "80001028", code=1)
    assert missing == {"asked": "none.dll", "binary_offset": "0x0", "frames": [],
                       "reason": "the index has no binary of that name"}
    assert bad["frames"] == []


@pytest.mark.parametrize("version", ["2.0", "2.3"])
def test_an_offset_counts_from_the_code(callsign, tmp_path, version):
    """A binary's data in RAM is lower than its code in ROM."""
    source, index = tmp_path / "rom.symbol", tmp_path / "rom.bsym"
    source.write_text("From    \\epoc32\\release\\armv5\\urel\\_dev_ekern.exe\n\n"
                      "80001000    0010    Start                 a.o(.text)\n"
                      "80001010    0010    Fault                 a.o(.text)\n"
                      "64000000    0010    TheKernel             a.o(.data)\n")
    callsign.good("convert", "-q", "--to", "bsym", "--bsym-version", version, source, "-o", index)
    names = ["_dev_ekern.exe", "\\epoc32\\release\\armv5\\urel\\_dev_ekern.exe"]
    for name in names + ["ekern.exe"] * (version == "2.0"):
        answer, = ask(callsign, index, name + "+0x14")
        assert answer["frames"][0]["function"] == "Fault", (name, answer)
    answer, = ask(callsign, index, "0x64000004")
    assert answer["frames"][0]["function"] == "TheKernel"


def test_questions_on_stdin(callsign, rom):
    done = callsign.run("lookup", rom, stdin="80001000\n\nclock.exe + 0x28\nnonsense\n")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "0x80001000: User::Leave(int) + 0 in \\epoc32\\release\\armv5\\urel\\euser.dll",
        "clock.exe+0x28: CClock::NewL() + 0 in \\epoc32\\release\\armv5\\urel\\clock.exe",
        "nonsense: error: not a hexadecimal address"]


def test_a_name_needs_an_index_of_binaries(callsign, shapes_index):
    assert "nor an offset within 64 bits from a function" in callsign.bad("lookup", shapes_index, "a.dll+0x4")


@pytest.mark.parametrize("version", ["1.0", "2.0", "2.1", "2.2", "2.3"])
def test_versions_verify_and_dump(callsign, tmp_path, version):
    source, index = tmp_path / "rom.symbol", tmp_path / "rom.bsym"
    source.write_text(SYMBOLS)
    for tokens in ("best", "reference", "none"):
        callsign.good("convert", "--to", "bsym", "--bsym-version", version, "--bsym-tokens", tokens, "-q", source, "-o", index)
        assert callsign.good("verify", index).endswith(": 0 problems\n")
        lines = [json.loads(line) for line in callsign.good("dump", "--json", index).splitlines()]
        assert lines[0]["header"]["version"] == version
        assert [line["function"]["name"] for line in lines if "function" in line] == [
            "_E32Startup", "CClock::NewL()", "User::Leave(int)", "User::Alloc(int)", "memcpy"]
        assert lines[1]["binary"]["name"] == "\\epoc32\\release\\armv5\\urel\\clock.exe"
    assert "BSYM version " + version in callsign.good("dump", "--summary", index)


def test_dump_without_binaries(callsign, rom):
    """It was shown as a GSYM."""
    data = bytearray(rom.read_bytes())
    assert data[24:28] == (2).to_bytes(4, "big")
    data[24:28] = bytes(4)
    rom.write_bytes(data)
    assert callsign.run("dump", "-s", rom).stdout.startswith(f"{rom}: BSYM version ")
    assert json.loads(callsign.run("dump", "-s", "--json", rom).stdout)["header"]["format"] == "bsym"


def test_log_with_maps(callsign, tmp_path):
    tree = tmp_path / "epoc32" / "release" / "armv5" / "urel"
    tree.mkdir(parents=True)
    (tree / "_dev_ekern.exe.map").write_text(MAP)
    log = tmp_path / "logs" / "rom.log"
    log.parent.mkdir()
    log.write_text(LOG)
    callsign.good("convert", "--to", "bsym", "-q", log, "-o", tmp_path / "rom.bsym")
    answer, = ask(callsign, tmp_path / "rom.bsym", "z:\\sys\\bin\\ekern.exe+0x4")
    assert answer["frames"][0]["function"] == "N::F()"
    assert answer["address"] == "0x80000068"
    header = json.loads(callsign.good("dump", "--json", "-s", tmp_path / "rom.bsym"))["header"]
    assert header["checksum"] == "0x1234abcd" and header["version"] == "2.3"
    # Without the search, one symbol stands for the binary, and the report says so.
    done = callsign.run("convert", "--to", "bsym", "--no-companions", log, "-o", tmp_path / "rom.bsym")
    assert done.returncode == 0 and "missing-map-file" in done.stderr
    answer, = ask(callsign, tmp_path / "rom.bsym", "80000068")
    assert answer["frames"][0]["function"] == "_dev_ekern.exe"


def test_to_gsym_and_back(callsign, rom, tmp_path):
    done = callsign.run("convert", rom, "-o", tmp_path / "rom.gsym")
    assert done.returncode == 0
    assert "2 dropped: binary-not-kept" in done.stderr and "2 dropped: function-of-unplaced-binary" in done.stderr
    answer, = ask(callsign, tmp_path / "rom.gsym", "80001005")
    assert answer["frames"][0]["function"] == "User::Leave(int)"
    assert callsign.run("convert", "--strict", rom, "-o", tmp_path / "rom.gsym").returncode == 2


def test_program_to_bsym(callsign, shapes, tmp_path):
    index = tmp_path / "shapes.bsym"
    done = callsign.run("convert", "--to", "bsym", shapes.path, "-o", index)
    assert done.returncode == 0 and "dropped: lines-not-kept" in done.stderr
    addr = shapes.addresses["main"]
    answer, = ask(callsign, index, hex(addr + 2))
    assert answer["frames"][0]["function"] == "main"
    assert answer["binary"] == shapes.path.name.lower()


@pytest.mark.parametrize("arguments, message", [
    (("--bsym-version", "2.1"), "needs '--to bsym'"),
    (("--to", "bsym", "--bsym-version", "3.0"), "'3.0' is unknown"),
    (("--to", "bsym", "--bsym-tokens", "x"), "'x' is unknown")])
def test_options(callsign, rom, arguments, message):
    assert message in callsign.bad("convert", *arguments, rom, "-o", os.devnull)


def test_same_bytes_for_any_number_of_threads(callsign, tmp_path):
    source = tmp_path / "rom.symbol"
    subprocess.run([sys.executable, ROOT / "bench" / "symbian_rom.py", source, "30", "9000"], check=True,
                   stderr=subprocess.DEVNULL)
    outputs = []
    for threads in (1, 3):
        callsign.good("convert", "--to", "bsym", "-q", "-j", threads, source, "-o", tmp_path / "rom.bsym")
        outputs.append((tmp_path / "rom.bsym").read_bytes())
    assert outputs[0] == outputs[1]
    assert callsign.good("verify", tmp_path / "rom.bsym").endswith(": 0 problems\n")
    asked = [line.split(None, 2) for line in source.read_text().splitlines() if line[:1] == "8"][::50]
    answers = ask(callsign, tmp_path / "rom.bsym", *(line[0] for line in asked))
    for line, answer in zip(asked, answers):
        assert line[2].split("  ")[0].strip() == answer["frames"][0]["function"]


def test_names_in_pieces(callsign, tmp_path):
    """Names that the file keeps as tokens and prefixes are whole in stats and in diff."""
    words = [("Append", "Close"), ("Append", "Read"), ("Insert", "Close"), ("Insert", "Read")]
    names = [f"CDescriptorArrayFlat::{verb}{what}L(TDesC16 const&, {count})" for verb, what in words for count in range(40)]

    def rom_of(file, names):
        lines = [f"{0x80001000 + 16 * i:08x}    0010    {name:60}  a.o(.text)\n" for i, name in enumerate(names)]
        source = tmp_path / f"{file}.symbol"
        source.write_text("From    \\epoc32\\release\\armv5\\urel\\euser.dll\n\n" + "".join(lines))
        callsign.good("convert", "--to", "bsym", "-q", source, "-o", tmp_path / file)
        return tmp_path / file

    pieces, whole = rom_of("pieces", names), tmp_path / "whole"
    assert names[0].encode() not in pieces.read_bytes()
    callsign.good("convert", "-q", pieces, "-o", whole)
    found = json.loads(callsign.good("stats", "--json", "-n", "1000", pieces))["largest_functions"]
    assert {function["name"] for function in found} == set(names)
    assert names[0] in callsign.good("stats", pieces)
    callsign.good("diff", whole, pieces)
    changed = rom_of("changed", names[:-1] + ["CSomething::ElseL(int)"])
    done = callsign.run("diff", pieces, changed)
    assert done.returncode == 1
    assert names[-1] in done.stdout and "CSomething::ElseL(int)" in done.stdout and "(no name)" not in done.stdout


def test_code_at_0_is_found_by_name(callsign, tmp_path):
    """Address 0 of a binary means that it is not executed in place: its addresses alone are not found, and the conversion says so."""
    (tmp_path / "rom.sym").write_text("MODULE Linux arm 000000000000000000000000000000000 rom\nFUNC 0 10 0 reset\nFUNC 20 10 0 main\n")
    done = callsign.run("convert", tmp_path / "rom.sym", "--to", "bsym", "-o", tmp_path / "rom.bsym")
    assert done.returncode == 0 and "code at 0 is found by the binary's name and an offset only" in done.stderr
    assert callsign.run("lookup", tmp_path / "rom.bsym", "0x24").returncode == 1
    assert callsign.good("lookup", tmp_path / "rom.bsym", "rom.sym+0x24", "rom.sym+0x4") == "rom.sym+0x24: main + 4 in rom.sym\nrom.sym+0x4: reset + 4 in rom.sym\n"
    # Read from BSYM, it is such a binary: nothing is lost any more.
    assert "code at 0" not in callsign.run("convert", tmp_path / "rom.bsym", "-o", tmp_path / "again.bsym", "--to", "bsym").stderr
    (tmp_path / "rom.sym").write_text("MODULE Linux arm 000000000000000000000000000000000 rom\nFUNC 10 10 0 reset\nFUNC 20 10 0 main\n")
    assert "code at 0" not in callsign.run("convert", tmp_path / "rom.sym", "--to", "bsym", "-o", tmp_path / "rom.bsym").stderr


def test_symbols_without_a_name(callsign, tmp_path):
    """They were left out when BSYM was converted, and their code was called one of the function before."""
    gsym_make.write(tmp_path / "a.gsym", [{"start": 0x1000, "size": 16, "name": "first"}, {"start": 0x1010, "size": 16, "name": "nameless"},
                                          {"start": 0x1020, "size": 16, "name": "last"}])
    index = Bytes(tmp_path / "a.gsym")
    index.rename("nameless", "\0" * 8)
    index.save()
    callsign.good("convert", "-q", "--to", "bsym", index.path, "-o", tmp_path / "a.bsym")
    assert callsign.good("lookup", tmp_path / "a.bsym", "0x1014").startswith("0x1014: (no name) + 4")
    for form in "bsym", "gsym":
        done = callsign.run("convert", "--to", form, tmp_path / "a.bsym", "-o", tmp_path / form)
        assert done.returncode == 0 and "without-name" not in done.stderr
        assert callsign.good("lookup", tmp_path / form, "0x1014").startswith("0x1014: (no name) + 4")
