"""Breakpad symbol files read by programs that nobody here wrote: rust-minidump's breakpad-symbols (through minidump-stackwalk) and Sentry's
symbolic (its wheel from PyPI) answer as we do, for files of ours and of Mozilla's dump_syms.

MINIDUMP_STACKWALK and DUMP_SYMS name the tools; SYMBOLIC_PYTHON a Python that has the wheel."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from minidump import REGISTERS, minidump
from test_unwind import CALLSIGN, add_symbols, build_id, run, tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
import programs  # noqa: E402 (where the path has just been set)

BASE = 0x10000000
INLINED = r"""
#define INLINE static inline __attribute__((always_inline))
volatile int sink;
struct point { int x, y; };
INLINE int square(int a) { sink += a; return a * a; }
INLINE int length(point p) { int s = square(p.x); sink -= s; return s + square(p.y); }
template <class T> INLINE T twice(T v) { sink ^= 3; return length({v, v + 1}) + v; }
namespace shapes {
__attribute__((noinline)) int area(int w, int h) {
    int s = twice(w);
    for (int i = 0; i < h; i++) s += i % 3 ? square(i) : length({i, s});
    return s;
}
}
extern "C" __attribute__((noinline)) int plain(int a) { return sink + a; }
int main(int argc, char **) { return shapes::area(argc, 7) + plain(twice(argc)); }
"""
SYMBOLIC_SCRIPT = r"""
import json, sys
from symbolic import Archive
cache = next(iter(Archive.open(sys.argv[1]).iter_objects())).make_symcache()
for address in json.load(sys.stdin):
    print(json.dumps([[f.symbol, f.full_path, f.line] for f in cache.lookup(address)]))
"""


@pytest.fixture(scope="module")
def stackwalk():
    return tool("minidump-stackwalk", "minidump-stackwalk")


@pytest.fixture(scope="module")
def symbolic_python():
    python = os.environ.get("SYMBOLIC_PYTHON") or sys.executable
    if subprocess.run([python, "-c", "import symbolic"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("symbolic is not installed (pip install symbolic)")
    return python


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inlined")
    source, out = folder / "inlined.cc", folder / "inlined"
    source.write_text(INLINED)
    run(programs.need("g++"), "-g", "-O2", "-Wl,--build-id", source, "-o", out)
    return out


@pytest.fixture(scope="module", params=["ours", "dump_syms"])
def symbols(request, program):
    out = program.with_name(f"{request.param}.sym")
    if request.param == "ours":
        run(CALLSIGN, "convert", "-q", "--to", "breakpad", program, "-o", out)
    else:
        run(tool("dump_syms", "dump_syms"), "--inlines", program, "-o", out)
    return out


def addresses_of(symbols):
    """Every byte of code that a line record covers."""
    found = []
    for line in symbols.read_text().splitlines():
        record = re.match(r"([0-9a-f]+) ([0-9a-f]+) (\d+) \d+$", line)
        if record and int(record[3]):
            start = int(record[1], 16)
            found += range(start, start + int(record[2], 16))
    return found


def our_answers(symbols, addresses):
    done = subprocess.run([CALLSIGN, "lookup", "--json", str(symbols)], input="".join(f"{a:x}\n" for a in addresses).encode(),
                          stdout=subprocess.PIPE, timeout=120)
    return [[[f["function"], f.get("file"), f.get("line", 0)] for f in json.loads(line)["frames"]]
            for line in done.stdout.decode().splitlines()]


def test_stackwalk_answers_the_same(program, symbols, stackwalk, tmp_path):
    """The frame in whose context a thread was stopped is looked up as it is: one thread for each address."""
    addresses = addresses_of(symbols)
    threads = [{**dict.fromkeys(REGISTERS, 0), "rip": BASE + address, "rsp": 0x7000} for address in addresses]
    dump = tmp_path / "threads.dmp"
    dump.write_bytes(minidump(threads[0], 0x7000, bytes(64), [("/x/inlined", BASE, 0x100000, build_id(program))], others=threads[1:]))
    add_symbols(tmp_path / "symbols", symbols.read_text())
    report = json.loads(run(stackwalk, "--json", "--symbols-path", tmp_path / "symbols", dump))
    got = []
    for thread in report["threads"]:
        frame = thread["frames"][0]
        got.append([[f["function"], f["file"], f["line"] or 0] for f in [*(frame["inlines"] or []), frame]])
    want = our_answers(symbols, addresses)
    assert len(want) > 150 and sum(len(frames) > 2 for frames in want) > 20
    assert got == want


def test_symbolic_answers_the_same(symbols, symbolic_python, tmp_path):
    addresses = addresses_of(symbols)
    script = tmp_path / "ask.py"
    script.write_text(SYMBOLIC_SCRIPT)
    done = subprocess.run([symbolic_python, script, symbols], input=json.dumps(addresses).encode(), stdout=subprocess.PIPE, timeout=120)
    assert done.returncode == 0
    got = [json.loads(line) for line in done.stdout.decode().splitlines()]
    want = our_answers(symbols, addresses)
    assert len(want) > 150 and sum(len(frames) > 2 for frames in want) > 20
    assert got == want
