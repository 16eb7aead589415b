"""Inlined calls that name no file are frames like others; only what they name is missing."""
import json
import os
import shutil
import subprocess

import pytest

from programs import need

# inner < callee < caller at 0x1004; the call of inner names no file, that of callee does.
SYM = """MODULE Linux x86_64 000000000000000000000000000000000 nested
FILE 0 a.c
INLINE_ORIGIN 0 callee
INLINE_ORIGIN 1 inner
FUNC 1000 20 0 caller
INLINE 0 5 0 0 1002 10
INLINE 1 77 -1 1 1004 4
1000 4 4 0
1004 4 7 0
1008 18 9 0
"""
FRAMES = [("inner", "a.c", 7), ("callee", None, 77), ("caller", "a.c", 5)]


@pytest.fixture
def nested(callsign, tmp_path):
    (tmp_path / "nested.sym").write_text(SYM)
    callsign.good("convert", "-q", tmp_path / "nested.sym", "-o", tmp_path / "nested.gsym")
    return tmp_path / "nested.gsym"


def frames(callsign, index, address, *options):
    answer = json.loads(callsign.good("lookup", "--json", *options, index, address))
    return [(f["function"], f.get("file"), f.get("line")) for f in answer["frames"]]


@pytest.mark.parametrize("form", ["gsym", "gsym-v2", "breakpad", "B", "E"])
def test_every_form_has_them(callsign, nested, tmp_path, form):
    out = tmp_path / "again"
    form = ["--to", form] if len(form) > 1 else ["--to", "gsym-section", "--revision", form]
    callsign.good("convert", "-q", nested, *form, "-o", out)
    assert frames(callsign, out, "0x1005") == FRAMES
    text = callsign.good("lookup", out, "0x1005")
    assert "callee + 3 at ?:77 [inlined]\n" in text, text


def test_accelerated_lookups_have_them(callsign, nested):
    """More addresses than an accelerator needs to be worth it."""
    many = "".join("0x1005\n" for _ in range(300000))
    lines = callsign.good("lookup", "--json", nested, stdin=many).splitlines()
    assert len(lines) == 300000 and set(lines) == {callsign.good("lookup", "--json", nested, "0x1005").rstrip("\n")}


def test_the_reference_leaves_them_out(callsign, nested):
    tool = need("llvm-gsymutil-22")
    theirs = subprocess.run([tool, "--address=0x1005", nested], capture_output=True, text=True, check=True).stdout
    ours = frames(callsign, nested, "0x1005", "--llvm")
    assert [line.split(" @ ")[1].removesuffix(" [inlined]").split("/")[-1] for line in theirs.splitlines() if " @ " in line] == \
        [f"{path}:{line}" for _, path, line in ours]
    assert "inner" not in theirs and "callee" in theirs


def test_explain_counts_them(callsign, nested):
    text = callsign.good("explain", nested, "0x1005")
    assert "2 calls in the function, 2 hold the address: inner, inlined into callee" in text
    assert "missing     the inlined call names no file" in text


def test_gsymtool_shows_them(nested):
    tool = shutil.which("gsymtool") or shutil.which("gsymtool", path=os.path.expanduser("~/.cargo/bin"))
    if not tool:
        pytest.skip("gsymtool is not installed (cargo install gsym-rs)")
    text = subprocess.run([tool, "--color", "never", "lookup", nested, "0x1005"], capture_output=True, text=True, check=True).stdout
    assert [name for name in ("inner", "callee", "caller") if name in text] == ["inner", "callee", "caller"]


NESTED = """
volatile int sink;
static inline __attribute__((always_inline)) void inner(int a) { sink = a * 3; sink += 4; }
static inline __attribute__((always_inline)) void callee(int a) { sink = a; inner(a + 1); sink ^= 2; }
__attribute__((noinline)) void caller(int a) { sink = 0; callee(a + 2); sink = 5; }
int main(int c, char **v) { (void)v; caller(c); return 0; }
"""
SPREAD = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((cold, noinline)) void fail(int x) { printf("fail %d", x); exit(x); }
static inline __attribute__((always_inline)) void inner(int x) { puts("big"); fail(x); }
static inline __attribute__((always_inline)) void callee(int x) { if (x > 10) inner(x * 3); }
int caller(int *x) { callee(*x); for (int i = 0; i < *x; i++) x[i]++; if (x[1]) callee(x[2]); return *x * 2; }
int main(int c, char **v) { int a[20] = { c, 0, c * (int)(long)v[0][0] }; return caller(a) + caller(a + 1); }
"""


@pytest.mark.parametrize("source, options", [(NESTED, ["-O1"]), (SPREAD, ["-O2"])])
def test_strict_dwarf_2_against_addr2line(callsign, tmp_path, source, options):
    """gcc writes no DW_AT_call_file: DWARF 2 has none. Nor has it several ranges: a call has the first, what is inlined in it may lie elsewhere."""
    compiler, judge = need("gcc"), need("addr2line")
    (tmp_path / "nested.c").write_text(source)
    program, index = tmp_path / "nested", tmp_path / "nested.gsym"
    subprocess.run([compiler, "-gdwarf-2", "-gstrict-dwarf", *options, tmp_path / "nested.c", "-o", program], check=True)
    report = tmp_path / "report.json"
    callsign.good("convert", "-q", "--strict", program, "-o", index, "--report", report)
    assert [event["count"] for event in json.loads(report.read_text())["events"] if event["name"].startswith("inline-")] == [0] * 5
    symbols = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    start, size = next((int(w[0], 16), int(w[1], 16)) for w in map(str.split, symbols.splitlines()) if w[-1] == "caller")
    addresses = [hex(a) for a in range(start, start + size)]
    depths = set()
    for address in addresses:
        lines = subprocess.run([judge, "-fie", program, address], capture_output=True, text=True, check=True).stdout.splitlines()
        places = [place.split(" ")[0].rsplit("/", 1)[-1].split(":") for place in lines[1::2]]
        want = [(name, None, None) if file == "??" else (name, file, int(line)) for name, (file, line) in zip(lines[::2], places)]
        got = [(name, path and path.split("/")[-1], line) for name, path, line in frames(callsign, index, address)]
        assert got == want, address
        depths.add(len(want))
    assert depths == {1, 2, 3}


MINIMIZED = """extern volatile int sink;
static inline int scale(int x) { if (x > 9) sink = x; return x * 3; }
static inline int twice(int x) { return scale(x) + scale(x + sink); }
__attribute__((noinline)) static int part(int x) { for (int i = 0; i < x; i++) sink += twice(i); return sink; }
__attribute__((noinline)) int second(int x) { return part(x) - twice(x); }
int main(int argc, char **argv) { (void)argv; return second(argc) + twice(argc); }
volatile int sink;
"""


@pytest.mark.parametrize("how", ["Ranges", "Expressions", "Form"])
def test_addresses_that_clang_writes_as_distances(callsign, tmp_path, how):
    """clang can write one address for a section and distances from it, as range lists, expressions or a form of its own. The index is
    that of the same code with plain addresses. llvm-symbolizer 22 lacks most inlined calls of the second kind."""
    clang = need("clang-22")
    (tmp_path / "p.c").write_text(MINIMIZED)
    indexes = []
    for name, options in (("plain", []), ("less", ["-mllvm", f"-minimize-addr-in-v5={how}"])):
        folder = tmp_path / name
        folder.mkdir()
        subprocess.run([clang, "-O2", "-gdwarf-5", *options, "p.c", "-o", folder / "p"], cwd=tmp_path, check=True)
        text = callsign.good("convert", "-q", folder / "p", "-o", folder / "p.gsym", "--report", "-")
        assert json.loads(text)["inline_nodes_written"] > 6
        indexes.append((folder / "p.gsym").read_bytes()[48:]) # less the build id
    if how == "Expressions":
        text = subprocess.run([need("llvm-dwarfdump-22"), tmp_path / "less" / "p"], capture_output=True, text=True, check=True).stdout
        assert "(DW_OP_addrx" in text
    assert indexes[0] == indexes[1]
