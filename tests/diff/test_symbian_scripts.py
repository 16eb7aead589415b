"""Symbian's own scripts as judges of ROM logs, linker maps and .symbol files: maksym.pl makes the .symbol file of a log, printsym.pl
looks addresses up in it. CALLSIGN_SYMBIAN_SCRIPTS names a folder that has both (Symbian's kernelhwsrv, kerneltest/e32utils/d_exc, and
build, imgtools/romtools/maksym as of its first commit, which reads the maps itself)."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest

SCRIPTS = pathlib.Path(os.environ.get("CALLSIGN_SYMBIAN_SCRIPTS", "/nonexistent"))
RELEASE = "epoc32/release/armv5/urel"
# What the scripts need of the rest of the kit.
MODULES = {"Modload.pm": "package Modload; use Exporter 'import'; our @EXPORT = qw(Load_SetModulePath Load_ModuleL);\n"
                         "sub Load_SetModulePath {} sub Load_ModuleL {} 1;\n"}


@pytest.fixture
def scripts(tmp_path):
    missing = [name for name in ("maksym.pl", "printsym.pl") if not (SCRIPTS / name).exists()]
    if missing or not shutil.which("perl"):
        pytest.skip(f"not installed: {', '.join(missing or ['perl'])} (CALLSIGN_SYMBIAN_SCRIPTS)")
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text)
    return SCRIPTS


def names(chance, count):
    forms = ["CClass{}::NewL()", "N{}::F(int, char const*)", "operator<<(T{}&, 0x10)", "memcpy{}", "_Z3fooi{}", "RThing{}::~RThing()"]
    return [chance.choice(forms).format(k) for k in range(count)]


def rvct_map(chance, functions):
    section = f"    {'.text':<40} 0x00008000   Section {sum(size for _, size in functions):>8}  a.o(.text)\n"
    rows, addr = [], 0x8000
    for k, (name, size) in enumerate(functions):
        thumb = chance.random() < 0.5
        rows.append(f"    {name:<40} 0x{addr + thumb:08x}   {'Thumb' if thumb else 'ARM'} Code {size:>6}  o{k}.o(i.{k})\n")
        addr += size
    return "ARM Linker, RVCT2.2 [Build 593]\n\nImage Symbol Table\n\n    Local Symbols\n\n" + section + "\n    Global Symbols\n\n" + "".join(rows)


def gcc_map(functions):
    total = sum(size for _, size in functions)
    rows, addr = [f".text           0x10000000   0x{total:x}\n", f" .text          0x10000000   0x{total:x} main.o\n"], 0x10000000
    for name, size in functions:
        rows.append(f"                0x{addr:08x}                {name}\n")
        addr += size
    return "Archive member included because of file (symbol)\n\n" + "".join(rows) + "\n"


def make_rom(folder, seed, kind):
    """A log and the maps of three programs; the functions that they have, by address in the ROM."""
    chance = random.Random(seed)
    log, start = ["Creating Rom image rom.img\n"], 0x80000064
    (folder / RELEASE).mkdir(parents=True)
    for program in range(3):
        functions = [(name, 4 * chance.randrange(1, 40)) for name in names(chance, chance.randrange(2, 30))]
        size = sum(size for _, size in functions)
        path = f"{RELEASE}/prog{program}.exe"
        text = rvct_map(chance, functions) if kind == "rvct" else gcc_map(functions)
        (folder / f"{path}.map").write_text(text)
        log.append(f"Processing file {path}\nSize: {size:08x}\nCode start addr: {start:08x}\nText size: {size:08x}\nCode size: {size:08x}\n\n")
        start += size + 0x40
    log.append("Writing Rom image\n")
    (folder / "rom.log").write_text("".join(log))


def functions_of(callsign, index):
    rows = (json.loads(line) for line in callsign("dump", "--json", index).splitlines())
    return sorted((f["start"], f["size"], f["name"].split("  ")[0].strip()) for f in (row.get("function") for row in rows) if f)


@pytest.fixture
def callsign():
    path = os.environ.get("CALLSIGN", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/callsign"))

    def run(*words, **more):
        done = subprocess.run([path, *map(str, words)], capture_output=True, text=True, **more)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout
    return run


def make_symbol_file(scripts, folder):
    subprocess.run(["perl", f"-I{folder}", scripts / "maksym.pl", "rom.log", "rom.symbol"], cwd=folder, check=True, capture_output=True)
    return folder / "rom.symbol"


@pytest.mark.parametrize("kind", ["rvct", "gcc"])
@pytest.mark.parametrize("seed", range(10))
def test_a_log_gives_what_maksym_writes(callsign, scripts, tmp_path, kind, seed):
    make_rom(tmp_path, seed, kind)
    symbols = make_symbol_file(scripts, tmp_path)
    callsign("convert", "-q", "--to", "bsym", tmp_path / "rom.log", "-o", tmp_path / "log.bsym")
    callsign("convert", "-q", "--to", "bsym", symbols, "-o", tmp_path / "symbols.bsym")
    from_log = functions_of(callsign, tmp_path / "log.bsym")
    assert from_log == functions_of(callsign, tmp_path / "symbols.bsym") and len(from_log) > 10


def is_thumb_start(symbols, address):
    return re.search(rf"^{address + 1:08x} ", symbols.read_text(), re.M) is not None


@pytest.mark.parametrize("kind", ["rvct", "gcc"])
@pytest.mark.parametrize("seed", range(10))
def test_addresses_are_named_as_printsym_does(callsign, scripts, tmp_path, kind, seed):
    make_rom(tmp_path, seed, kind)
    symbols = make_symbol_file(scripts, tmp_path)
    index = tmp_path / "rom.bsym"
    callsign("convert", "-q", "--to", "bsym", tmp_path / "rom.log", "-o", index)
    addresses = [start + offset for start, size, _ in ((int(s, 16), n, f) for s, n, f in functions_of(callsign, index)) for offset in range(0, size, 2)]
    words = "".join(f"{address:08X} \n" for address in addresses)
    told = subprocess.run(["perl", scripts / "printsym.pl", symbols], input=words, check=True, capture_output=True, text=True).stdout
    # printsym.pl counts from the odd address that Thumb code has in the file.
    theirs = {int(m[1], 16): (m[2].split("  ")[0].strip(), int(m[3], 16) + (int(m[1], 16) - int(m[3], 16)) % 2)
              for m in re.finditer(r"^= ([0-9a-f]{8}) .{4}  (.*) \+ 0x([0-9a-f]+)$", told, re.M)}
    answers = [json.loads(line) for line in callsign("lookup", "--json", index, input="".join(f"{a:x}\n" for a in addresses)).splitlines()]
    wrong = [(hex(a), answer, theirs.get(a)) for a, answer in zip(addresses, answers, strict=True)
             if (answer["frames"][0]["function"], answer["frames"][0]["offset"]) != theirs.get(a)]
    # It keys functions by their odd address, and finds the one before at the even one.
    wrong = [row for row in wrong if not is_thumb_start(symbols, int(row[0], 16))]
    assert len(addresses) > 100 and not wrong, (len(wrong), wrong[:4])
