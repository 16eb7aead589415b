"""callsign stack on traces of the Linux kernel: return addresses at the ends of functions, frames that may be none, registers.

The lines are written as the kernel's dump_stack(), show_regs() and dump_backtrace() print them: x86 prints "?" and %pB (the symbol of
the byte before: "prev_fn+0x88/0x88", Documentation/core-api/printk-formats.rst), arm64 "(P)" and "(L)" for what an address is
from (arch/arm64/kernel/stacktrace.c)."""
import json
import subprocess

import pytest

import gsym_make
from programs import need

TEXT = 0xffffffff81000000


@pytest.fixture(scope="module")
def vmlinux(tmp_path_factory):
    path = tmp_path_factory.mktemp("kernel") / "vmlinux.gsym"
    return gsym_make.write(path, [
        {"start": TEXT, "size": 0x100, "name": "first", "line": 10, "sites": [(0x100, gsym_make.INTERNAL, ["^square$"])]},
        {"start": TEXT + 0x100, "size": 0x100, "name": "second", "line": 20},
        {"start": TEXT + 0x200, "size": 0x40, "name": "area", "line": 30, "merged": [{"name": "square", "line": 40}]},
        {"start": TEXT + 0x300, "size": 0x40, "name": "last", "line": 50}], base=TEXT)


def functions(callsign, index, text):
    lines = callsign.good("stack", "--json", "--index", index, stdin=text).splitlines()
    return [[f["frames"][-1]["function"] if f["frames"] else None for f in json.loads(line)["frames"]] for line in lines]


@pytest.mark.parametrize("mark", ["", "? "])
def test_a_return_address_at_the_end(callsign, vmlinux, mark):
    assert functions(callsign, vmlinux, f" {mark}first+0x100/0x100\n") == [["first"]]
    filled = callsign.good("stack", "--in-place", "--index", vmlinux, stdin=f" {mark}first+0x100/0x100\n")
    assert filled == f" {mark}first+0x100/0x100 (/src/main.cc:10)\n"


@pytest.mark.parametrize("lead", ["RIP: 0010:", "pc : ", "[    1.000000] RIP: 0010:"])
@pytest.mark.parametrize("source", ["", " (P)"])
def test_an_exact_address_at_the_end(callsign, vmlinux, lead, source):
    """The offset is the function's size: the line names the function all the same, and the next one is not meant."""
    text = f"{lead}first+0x100/0x100{source}\n"
    assert functions(callsign, vmlinux, text) == [["first"]]
    assert callsign.good("stack", "--in-place", "--index", vmlinux, stdin=text) == f"{lead}first+0x100/0x100 (/src/main.cc:10){source}\n"
    assert functions(callsign, vmlinux, text.replace("0x100/", "0xff/")) == [["first"]]


@pytest.mark.parametrize("mark", ["", "? "])
def test_offset_0_is_exact(callsign, vmlinux, mark):
    assert functions(callsign, vmlinux, f" {mark}second+0x0/0x100\n") == [["second"]]


def test_frames_that_may_be_none_call_nobody(callsign, vmlinux):
    trace = "Call Trace:\n area+0x8/0x40\n ? second+0x50/0x100\n ? last+0x10/0x40\n first+0x100/0x100\n"
    assert functions(callsign, vmlinux, trace) == [["square", "second", "last", "first"]]
    answer = json.loads(callsign.good("stack", "--json", "--index", vmlinux, stdin=trace))
    assert answer["frames"][0]["merged"]["evidence"] == {"frame": 3, "pattern": "^square$"}
    assert [f.get("unreliable") for f in answer["frames"]] == [None, True, True, None]
    shown = callsign.good("stack", "--index", vmlinux, stdin=trace).splitlines()
    assert [line.endswith(" (unreliable)") for line in shown[:4]] == [False, True, True, False]
    # Nor does anybody call them, and the register's function is not called by the next frame.
    assert functions(callsign, vmlinux, trace.replace(" area", " ? area")) == [["area", "second", "last", "first"]]
    trace = trace.replace(" area", " ? area")
    assert json.loads(callsign.good("stack", "--json", "--index", vmlinux, stdin=trace))["frames"][0]["merged"]["by"] == "ambiguous"


def test_frames_that_may_be_none_and_are_not_found(callsign, vmlinux):
    trace = "Call Trace:\n first+0x8/0x100\n ? absent+0x50/0x100\n"
    done = callsign.run("stack", "--json", "--index", vmlinux, stdin=trace)
    assert json.loads(done.stdout)["frames"][1] == {"module": "vmlinux", "symbol": "absent", "offset": 80, "frames": [], "unreliable": True,
                                                    "reason": "the index has no function of this name"}
    assert "absent+0x50: not found: the index has no function of this name (unreliable)\n" in callsign.run(
        "stack", "--index", vmlinux, stdin=trace).stdout


def test_json_frames_that_may_be_none(callsign, vmlinux):
    """What a kernel's trace says with "?" can be said in JSON, too."""
    def frame(address, **more):
        return {"module": "vmlinux", "address": hex(TEXT + address), **more}
    for unreliable, by in ({}, "ambiguous"), ({"unreliable": True}, "caller"):
        stack = {"frames": [frame(0x208), frame(0x150, **unreliable), frame(0x100)]}
        answer = json.loads(callsign.good("stack", "--json", "--index", vmlinux, stdin=json.dumps(stack) + "\n"))
        assert answer["frames"][0]["merged"]["by"] == by and answer["frames"][1].get("unreliable") == unreliable.get("unreliable")


ARM64 = """\
[   30.1] pc : area+0x8/0x40
[   30.1] lr : first+0x100/0x100
[   30.1] sp : ffff800083b5bbc0
[   30.1] Call trace:
[   30.1]  area+0x8/0x40 (P)
[   30.1]  last+0x40/0x40 (L)
[   30.1]  first+0x100/0x100 (CK)
[   30.1]  el0t_64_sync+0x190/0x198
"""


def test_arm64(callsign, vmlinux):
    assert functions(callsign, vmlinux, ARM64) == [["area", "first"], ["square", "last", "first", None]]
    answers = [json.loads(line) for line in callsign.good("stack", "--json", "--index", vmlinux, stdin=ARM64).splitlines()]
    assert answers[1]["frames"][3] == {"module": "vmlinux", "symbol": "el0t_64_sync", "offset": 0x190, "frames": [],
                                       "reason": "the index has no function of this name"}
    filled = callsign.good("stack", "--in-place", "--index", vmlinux, stdin=ARM64).splitlines()
    assert filled[1] == "[   30.1] lr : first+0x100/0x100 (/src/main.cc:10)"
    assert filled[5] == "[   30.1]  last+0x40/0x40 (/src/main.cc:50) (L)"


@pytest.mark.parametrize("source, names", [("", ["last"]), (" (P)", ["called", "last"]), (" (CP)", ["called", "last"]),
                                           (" (C)", ["last"]), (" (L)", ["last"])])
def test_arm64_addresses_of_saved_registers_are_exact(callsign, tmp_path, source, names):
    """In the middle of a trace, too: (P) is where an exception interrupted, the others are where a call returns to."""
    index = gsym_make.write(tmp_path / "vmlinux.gsym", [
        {"start": TEXT + 0x200, "size": 0x40, "name": "area", "line": 30},
        {"start": TEXT + 0x300, "size": 0x40, "name": "last", "line": 50,
         "inlined": [{"offset": 0x10, "size": 0x10, "name": "called", "call_line": 51}]}], base=TEXT)
    text = f"[   30.1] Call trace:\n[   30.1]  area+0x8/0x40\n[   30.1]  last+0x10/0x40{source}\n"
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "--index", index, stdin=text))
    assert [frame["function"] for frame in answer["frames"][1]["frames"]] == names
    assert answer["frames"][1].get("unreliable", False) == ("L" in source)


REGISTERS = {
    "arm64": "pc : {0}\nlr : caller+0x10/0x80\nsp : ffff800083b5bbc0\nCall trace:\n {0}\n {1}\n",
    "RISC-V": "epc : {0}\n ra : caller+0x10/0x80\nstatus: 0000000200000120\n[<ffffffff81000310>] {0}\n[<ffffffff81000208>] {1}\n",
    "MIPS": "epc   : 81000310 {0}\nra    : 81000208 {1}\nStatus: 1100fc03\tKERNEL EXL IE\nCall Trace:[<81000310>] {0}\n[<81000208>] {1}\n",
    "MIPS, titled": "epc   : 81000310 {0}\nCall Trace:\n[<81000310>] {0}\n[<81000208>] {1}\n",
    "LoongArch": "   ERA: ffffffff81000310 {0}\n    ra: ffffffff81000208 {1}\n CSR crmd: 000000b0\nCall Trace:\n[<ffffffff81000310>] {0}\n[<ffffffff81000208>] {1}\n",
}


@pytest.mark.parametrize("machine", REGISTERS)
def test_the_first_frame_of_a_trace_was_interrupted(callsign, tmp_path, machine):
    """As the registers say. It was taken for a return address, and the call is the one before."""
    index = gsym_make.write(tmp_path / "vmlinux.gsym", [
        {"start": TEXT + 0x200, "size": 0x40, "name": "area", "line": 30}, {"start": TEXT + 0x300, "size": 0x40, "name": "last", "line": 50,
         "inlined": [{"offset": 0x10, "size": 0x10, "name": "called", "call_line": 51}]}], base=TEXT)
    text = REGISTERS[machine].format("last+0x10/0x40", "area+0x8/0x40")
    *_, trace = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", "--index", index, stdin=text).splitlines()]
    assert [[f["function"] for f in frame["frames"]] for frame in trace["frames"]] == [["called", "last"], ["area"]]
    # The trace of another place, as of dump_stack(), begins with a return address.
    text += "next:\n" + "".join(text.splitlines(True)[-2 - machine.startswith(("arm64", "Loong")):])
    *_, trace = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", "--index", index, stdin=text).splitlines()]
    assert [f["function"] for f in trace["frames"][0]["frames"]] == ["last"]


SPARC = """\
[   12.3] orders(42): Kernel bad trap [#1]
[   12.3] TSTATE: 0000004411001600 TPC: 0000000000404310 TNPC: 0000000000404314 Y: 00000000    Not tainted
[   12.3] TPC: <last+0x10/0x40>{LAST10}
[   12.3] g0: 0000000000000000 g1: 0000000000000000 g2: 0000000000000000 g3: 0000000000000000
[   12.3] RPC: <area+0x8/0x40 [driver]>
[   12.3] i4: 0000000000000000 i5: 0000000000000000 i6: fff8000100a3f1e1 i7: 0000000000404210
[   12.3] I7: <area+0x10/0x40>{AREA10}
[   12.3] Call Trace:
[   12.3]  [0000000000404210] area+0x10/0x40{AREA10}
[   12.3]  [0000000000404308] last+0x10/0x40{LAST10}
[   12.3] Caller[0000000000404210]: area+0x10/0x40{AREA10}
[   12.3] Caller[0000000000404308]: last+0x10/0x40{LAST10}
[   12.3] Caller[00000000f7a0e1c4]: 0xf7a0e1c4
[   12.3] Instruction DUMP: 80a06000
[   12.3] PC: <last+0x10/0x40>{LAST10}
"""


def test_sparc(callsign, tmp_path):
    """arch/sparc/kernel/process_64.c, traps_64.c, process_32.c and traps_32.c. Its return addresses are those of the calls themselves."""
    index = gsym_make.write(tmp_path / "vmlinux.gsym", [
        {"start": 0x404200 + 0x100 * k, "size": 0x40, "name": name, "line": line, "inlined": [{"offset": 0x10, "size": 4, "name": "called", "call_line": line + 1}]}
        for k, (name, line) in enumerate((("area", 30), ("last", 50)))], base=0x404000)
    places = {f"{name.upper()}10": f" (/src/main.cc:{line}, inlined into /src/main.cc:{line + 1})" for name, line in (("area", 30), ("last", 50))}
    text = SPARC.format(**{key: "" for key in places})
    filled = callsign.run("stack", "--in-place", "--no-search", "--index", index, stdin=text).stdout
    for got, want in zip(filled.splitlines(), SPARC.splitlines()):
        place = want[want.find("{") + 1:want.find("}")] if "{" in want else ""
        assert ("inlined into" in got) == bool(place), (got, want)
    answers = [json.loads(line) for line in callsign.run("stack", "--json", "--no-search", "--index", index, stdin=text).stdout.splitlines()]
    names = [[frame["frames"][0]["function"] if frame["frames"] else None for frame in answer["frames"]] for answer in answers]
    assert names == [["called"], [None], ["called"], ["called", "called"], ["called", "called"], ["called"]]
    assert answers[1]["frames"][0]["module"] == "driver"
    # OpenRISC before 6.4 has return addresses
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "--index", index, stdin="Call trace:\n[00404314] last+0x14/0x40\n[00404214] ? area+0x14/0x40\n"))
    assert [frame["frames"][0]["function"] for frame in answer["frames"]] == ["called", "called"]


@pytest.mark.parametrize("text", [
    " IAOQ[0]: last+0x10/0x40{0}\n IAOQ[1]: last+0x10/0x40{0}\n RP(r2): area+0x11/0x40{1}\nBacktrace:\n [<0000000000404211>] area+0x11/0x40{1}\n",
    "pc is at last+0x10/0x40{0}\nra is at area+0x11/0x40{1}\nTrace:\n[<fffffc0000404211>] area+0x11/0x40{1}\n",
    "PC: [<00404310>] last+0x10/0x40{0}\nCall Trace: [<00404211>] area+0x11/0x40{1}\n", "ip is at last+0x10/0x40{0}\n",
    "PC is at last+0x10/0x40{0}\nPR is at area+0x11/0x40{1}\n"], ids=["PA-RISC", "Alpha", "m68k", "IA-64", "SH"])
def test_registers_of_other_machines(callsign, tmp_path, text):
    """As arch/*/kernel/{process,traps}.c print them."""
    index = gsym_make.write(tmp_path / "vmlinux.gsym", [
        {"start": 0x404200 + 0x100 * k, "size": 0x40, "name": name, "line": 30, "inlined": [{"offset": 0x10, "size": 1, "name": "called", "call_line": 31}]}
        for k, name in enumerate(("area", "last"))], base=0x404000)
    place = " (/src/main.cc:30, inlined into /src/main.cc:31)"
    assert callsign.good("stack", "--in-place", "--no-search", "--index", index, stdin=text.format("", "")) == text.format(place, place)


def test_names_that_lto_has_promoted(callsign, tmp_path):
    """Kernels of LLVM's LTO, as Android's: traces lack the suffix that the symbols have (cleanup_symbol_name() in kernel/kallsyms.c)."""
    index = gsym_make.write(tmp_path / "vmlinux.gsym", [
        {"start": TEXT + 0x200, "size": 0x40, "name": "area.llvm.123456789", "line": 30}, {"start": TEXT + 0x300, "size": 0x40, "name": "last", "line": 50},
        {"start": TEXT + 0x400, "size": 0x80, "name": "last.llvm.77", "line": 60}, {"start": TEXT + 0x500, "size": 0x40, "name": "end", "line": 70}], base=TEXT)
    text = "Call trace:\n area+0x8/0x100\n area.llvm.123456789+0x8/0x100\n last+0x10/0x100\n last.llvm.77+0x10/0x100\n area.llvm.5+0x8/0x100\n are+0x8/0x100\n"
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "--index", index, stdin=text))
    assert [f["frames"][0]["line"] if f["frames"] else None for f in answer["frames"]] == [30, 30, 50, 60, None, None]
    sized = json.loads(callsign.good("stack", "--json", "--no-search", "--index", index, stdin=" last+0x10/0x80\n"))
    assert sized["frames"][0]["frames"][0]["line"] == 60


CLONES = [("area", 0x100, 10), ("area", 0x80, 20), ("area", 0x40, 30), ("twin", 0x40, 40), ("twin", 0x40, 50), ("one", 0x60, 60), ("own.cold", 0x20, 70),
          ("own", 0x40, 80), ("_ZN4shop4loadEi", 0x40, 90), ("ends", 0x30, 100)]


@pytest.mark.parametrize("symbol, line", [
    ("area.cold+0x1/0x40", 30), ("area.isra.0+0x1/0x80", 20), ("area.part.0.constprop.1.isra.2+0x7f/0x80", 20), ("area.constprop.0.cold+0x3f/0x40", 30),
    ("area.llvm.123+0x1/0x100", 10), ("area.lto_priv.0+0x1/0x100", 10), ("area+0x1/0x100", 10), ("ends.isra.0+0x30/0x30", 100),
    ("own.cold+0x1/0x20", 70), ("_ZN4shop4loadEi.part.0+0x1/0x40", 90), ("area.cold.1+0x1/0x40", 30),
    # no such size, several of it, none of that name, no suffix of a clone, one of another
    ("area.cold+0x1/0x50", None), ("twin.isra.0+0x1/0x40", None), ("are.isra.0+0x1/0x40", None), ("area.debug.0+0x1/0x40", None),
    ("area.isra+0x1/0x80", None), ("area.isra.x+0x1/0x80", None), (".isra.0+0x1/0x80", None),
    ("own.cold.isra.0+0x1/0x30", None)])
def test_clones_that_debug_information_calls_as_the_function(callsign, tmp_path, symbol, line):
    """GCC's and LLVM's suffixes are in the symbol table alone. The size tells the clones and parts of a function apart."""
    rows, start = [], TEXT
    for name, size, own in CLONES:
        rows.append({"start": start, "size": size, "name": name, "line": own})
        start += size
    index = gsym_make.write(tmp_path / "vmlinux.gsym", rows, base=TEXT)
    frame, = json.loads(callsign.run("stack", "--json", "--no-search", "--index", index, stdin=f"Call Trace:\n {symbol}\n").stdout)["frames"]
    assert [f["line"] for f in frame["frames"]] == ([line] if line else [])


def test_several_clones_of_one_size_are_counted(callsign, tmp_path):
    index = gsym_make.write(tmp_path / "vmlinux.gsym", [{"start": TEXT + 0x40 * k, "size": 0x40, "name": "twin"} for k in range(3)], base=TEXT)
    assert "twin.isra.0+0x1: not found: the index has 3 functions of this name\n" in callsign.run(
        "stack", "--no-search", "--index", index, stdin=" twin.isra.0+0x1/0x40\n").stdout


@pytest.mark.parametrize("symbol, line", [("one.part.0+16", 60), ("one.cold+16", None), ("area.isra.0+144", None), ("one.part.0+112", None), ("one+16", 60)])
def test_clones_without_a_size(callsign, tmp_path, symbol, line):
    """bpftrace prints none: only what no other function can be is named, also where the offset would leave one."""
    index = gsym_make.write(tmp_path / "vmlinux.gsym", [
        {"start": TEXT, "size": 0x100, "name": "area", "line": 10}, {"start": TEXT + 0x100, "size": 0x20, "name": "area", "line": 20},
        {"start": TEXT + 0x200, "size": 0x60, "name": "one", "line": 60}, {"start": TEXT + 0x260, "size": 0x20, "name": "last", "line": 70}], base=TEXT)
    answer = json.loads(callsign.run("stack", "--json", "--no-search", "--index", index, "--format", "bpftrace",
                                     stdin=f"        {symbol}\n        last+4\n").stdout)
    assert [[f["line"] for f in frame["frames"]] for frame in answer["frames"]] == [[line] if line else [], [70]]


CLONED = """
#include <stdio.h>
#include <stdlib.h>
int sink;
__attribute__((noinline, cold)) void fail(const char *what) { fputs(what, stderr); }
static __attribute__((noinline)) int helper(int *p, int unused, int b) {
    sink += *p * b;
    if (sink == 77) { fail("boom"); abort(); }
    return sink;
}
int entry(int a) {
    int x = a;
    if (a == 12345) { fail("cold"); abort(); }
    return helper(&x, a, 3) + helper(&x, a + 1, 3);
}
int main(int c, char **v) { (void)v; return entry(c); }
"""


def test_clones_of_a_compiled_program(callsign, tmp_path):
    """Each symbol's line names the function that starts where nm says."""
    (tmp_path / "code.c").write_text(CLONED)
    subprocess.run([need("gcc"), "-g", "-O2", "-no-pie", "-o", tmp_path / "code", tmp_path / "code.c"], check=True)
    symbols = [line.split() for line in subprocess.run([need("nm"), "-S", tmp_path / "code"], capture_output=True, text=True, check=True).stdout.splitlines()]
    clones = {words[3]: words for words in symbols if len(words) == 4 and words[3].startswith(("helper.", "entry.", "main."))}
    assert any("isra" in name or "constprop" in name for name in clones) and any(name.endswith(".cold") for name in clones)
    callsign.good("convert", "-q", tmp_path / "code", "-o", tmp_path / "vmlinux.gsym")
    trace = "Call Trace:\n" + "".join(f" {name}+0x1/{int(words[1], 16):#x}\n" for name, words in clones.items())
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "--index", tmp_path / "vmlinux.gsym", stdin=trace))
    assert [int(frame["address"], 16) - 1 for frame in answer["frames"]] == [int(words[0], 16) for words in clones.values()]
    assert [frame["frames"][-1]["function"] for frame in answer["frames"]] == [name.split(".")[0] for name in clones]


def test_without_an_index_the_name_stays(callsign):
    assert callsign.good("stack", stdin="main+0x4f/0x66\n") \
        == "#0   vmlinux main+0x4f: not found: there is no index for the module\n"
    frame, = json.loads(callsign.good("stack", "--json", stdin="main+0x4f/0x66\n"))["frames"]
    assert frame == {"module": "vmlinux", "symbol": "main", "offset": 0x4f, "frames": [],
                     "reason": "there is no index for the module"}


def test_an_index_of_any_name_serves_a_kernel(callsign, vmlinux, tmp_path):
    """The lines do not say what the kernel's file is called. The function's size tells that it is this one."""
    own = tmp_path / "my-build.gsym"
    own.write_bytes(vmlinux.read_bytes())
    trace = "Call Trace:\n second+0x50/0x100\n first+0x100/0x100\n"
    assert functions(callsign, own, trace) == [["second", "first"]]
    answer = json.loads(callsign.good("stack", "--json", "--index", own, stdin=trace))
    assert [frame["module"] for frame in answer["frames"]] == ["my-build", "my-build"]
    # Another size is another kernel's, and a module that is named is another file.
    assert functions(callsign, own, trace.replace("/0x100", "/0x140")) == [[None, None]]
    assert functions(callsign, own, trace.replace("/0x100", "/0x100 [driver]")) == [[None, None]]


def test_functions_of_one_name_hide_no_others(callsign, tmp_path):
    """70,000 of them, as a kernel has of __pfx_ and cold ones: the others are found all the same."""
    count = 70000
    rows = [{"start": 0x1000 + 16 * i, "size": 16, "name": "same" if i < count else f"f{i}"} for i in range(count + 100)]
    gsym_make.write(tmp_path / "vmlinux.gsym", rows)
    trace = "".join(f" f{i}+0x4/0x10\n" for i in range(count, count + 100))
    assert functions(callsign, tmp_path / "vmlinux.gsym", trace) == [[f"f{i}" for i in range(count, count + 100)]]


@pytest.mark.parametrize("tokens", ["best", "reference", "none"])
def test_names_in_pieces(callsign, tmp_path, tokens):
    """BSYM keeps names as tokens, which are put together to find one."""
    names = [f"handler_of_event_{i:03}_in_driver" for i in range(200)]
    gsym_make.write(tmp_path / "driver.gsym", [{"start": 0x1000 + 16 * i, "size": 16, "name": n} for i, n in enumerate(names)])
    callsign.good("convert", "--to", "bsym", "--bsym-tokens", tokens, "-q", tmp_path / "driver.gsym", "-o", tmp_path / "driver.bsym")
    if tokens == "best":
        assert b"handler_of_event_077_in_driver" not in (tmp_path / "driver.bsym").read_bytes()
    trace = "".join(f" {n}+0x4/0x10 [driver]\n" for n in names[::7])
    assert functions(callsign, tmp_path / "driver.bsym", trace) == [names[::7]]


# ---- addresses alone: kernels without kallsyms ----

ARM64_TEXT = 0xffffffc008000000
NETATOP = """\
<7>[79512.566261] Call trace:
<7>[79512.568692]  0xffffffc00818ff8c
<7>[79512.571817]  0xffffffc000c81e2c [netatop@000000006b7888f1+0x12000]
<7>[79512.596480]  0xffffffc0086f4048
<0>[79512.646480] Code: b9402aa2 f9405ea3 8b0202c0 dac00c00 (f8626ac2)
<4>[79512.652553] ---[ end trace 5e8eb2b2f2a4dfb1 ]---
<0>[79512.675304] Kernel panic - not syncing: Oops: Fatal exception
<2>[79512.681036] SMP: stopping secondary CPUs
<0>[79512.684945] Kernel Offset: disabled
<0>[79512.688417] CPU features: 0x0,00000000,20000802
"""


def test_an_openwrt_panic(callsign, tmp_path):
    """github.com/openwrt/openwrt/issues/17266 (Linux 5.15.167 for arm64), shortened. The module's base is hashed."""
    gsym_make.write(tmp_path / "vmlinux.gsym", [
        {"start": ARM64_TEXT + 0x18ff00, "size": 0x100, "name": "vmalloc_to_page", "line": 7},
        {"start": ARM64_TEXT + 0x6f4000, "size": 0x48, "name": "nf_hook_slow", "line": 8}], base=ARM64_TEXT)
    filled = callsign.good("stack", "--in-place", "-i", tmp_path / "vmlinux.gsym", stdin=NETATOP)
    assert filled == NETATOP.replace("818ff8c", "818ff8c (vmalloc_to_page at /src/main.cc:7)") \
        .replace("86f4048", "86f4048 (nf_hook_slow at /src/main.cc:8)")


def test_addresses_of_mips(callsign, tmp_path):
    """github.com/lede-project/source/pull/1256 and openwrt/openwrt/pull/2721: registers twice, the base of a module as it is, the first
    frame on the title's line. No frame is one of the program that printed it."""
    prefix = "Sat Oct 28 15:00:55 2017 kern.warn kernel: [  226.267285] "
    lines = ["epc   : 80071a08 0x80071a08", "ra    : 80081804 0x80081804", "Status: 11007c03\tKERNEL EXL IE ",
             "Call Trace:[<80071a08>] 0x80071a08", "[<80081804>] 0x80081804",
             "[<80d84fcc>] 0x80d84fcc [mac80211@80d80000+0x60780]", "[<80081814>] setup+0x14/0x20", "---[ end trace 5e8eb2b2f2a4dfb1 ]---"]
    gsym_make.write(tmp_path / "vmlinux.gsym", [
        {"start": 0x80071a00, "size": 0x80, "name": "show_stack", "line": 7},
        {"start": 0x80081800, "size": 0x20, "name": "setup", "line": 8}], base=0x80071a00)
    gsym_make.write(tmp_path / "mac80211.gsym", [{"start": 0x4f00, "size": 0x100, "name": "ieee80211_rx", "line": 9}], base=0)
    filled = callsign.good("stack", "--in-place", "-i", tmp_path / "vmlinux.gsym", "-i", tmp_path / "mac80211.gsym",
                           stdin="".join(f"{prefix}{line}\n" for line in lines))
    ends = [" (show_stack at /src/main.cc:7)", " (setup at /src/main.cc:8)", "", " (show_stack at /src/main.cc:7)",
            " (setup at /src/main.cc:8)", " (ieee80211_rx at /src/main.cc:9)", " (/src/main.cc:8)", ""]
    shown = "".join(f"{prefix}{line}{end}\n" for line, end in zip(lines, ends))
    module = " [mac80211@80d80000+0x60780]"
    assert filled == shown.replace(module + ends[5], ends[5] + module)


def test_addresses_of_arm(callsign, tmp_path):
    """github.com/openwrt/openwrt/pull/10703, and the form without kallsyms: arch/arm/kernel/traps.c, dump_backtrace_entry()."""
    text = "<4>[80082.234647] [<c030e5b4>] (unwind_backtrace) from [<c030a130>] (show_stack+0x14/0x20)\n" \
           "<4>[  171.014344] Function entered at [<c030e5b4>] from [<c030a130>]\n"
    gsym_make.write(tmp_path / "vmlinux.gsym", [{"start": 0xc030a11c, "size": 0x20, "name": "show_stack", "line": 7}], base=0xc030a11c)
    filled = callsign.good("stack", "--in-place", "-i", tmp_path / "vmlinux.gsym", stdin=text)
    assert filled == text.replace("0x20)", "0x20 (/src/main.cc:7))").replace("[<c030a130>]\n", "[<c030a130>] (show_stack at /src/main.cc:7)\n")


OFFSET = "[   12.40] Kernel Offset: 0x2a000000 from 0xffffffff81000000 (relocation range: 0xffffffff80000000-0xffffffffbfffffff)\n"
# The forms are those of arch/x86: show_iret_regs(), show_trace_log_lvl(), before 4.10 printk_stack_address(), dump_kernel_offset().
MOVED = {
    "register": ("[   12.34] RIP: 0010:0xffffffffab000208\n", ["square"]),
    "register, older": ("[   12.34] RIP: 0010:[<ffffffffab000208>]  [<ffffffffab000208>] 0xffffffffab000208\n", ["square"]),
    "warning": ("[   12.34] WARNING: CPU: 1 PID: 0 at 0xffffffffab000308\n", ["last"]),
    "trace": ("[   12.34] Call Trace:\n[   12.34]  <TASK>\n[   12.34]  0xffffffffab000208\n[   12.34]  ? 0xffffffffab000310\n"
              "[   12.34]  first+0x100/0x100\n[   12.34]  0xffffffffab000200\n[   12.34]  </TASK>\n", ["square", "last", "first", "second"]),
    "trace, older": ("[   12.34] Call Trace:\n[   12.34]  [<ffffffffab000208>] 0xffffffffab000208\n[   12.34]  [<ffffffffab000100>]\n",
                     ["square", "first"]),
    "arm64": ("[   12.34] pc : 0xffffffffab000208\n[   12.34] lr : 0xffffffffab000100\n", ["square", "first"]),
}
ALIKE = {"square", "area"}


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("form", MOVED)
def test_addresses_of_a_moved_kernel(callsign, vmlinux, form, place):
    """A panic prints the offset last; somebody may have put it first."""
    text, names = MOVED[form]
    between = "[   12.39] ---[ end trace 0000000000000000 ]---\n[   12.39] Kernel panic - not syncing: Fatal exception\n"
    whole = OFFSET + between + text if place == "before" else text + between + OFFSET
    found = functions(callsign, vmlinux, whole)
    assert [["square" if name in ALIKE else name for name in stack] for stack in found] == [names]
    filled = callsign.good("stack", "--in-place", "--index", vmlinux, stdin=whole)
    assert OFFSET in filled and between in filled and filled.count("\n") == whole.count("\n")


def test_an_index_of_any_name_serves_addresses(callsign, vmlinux, tmp_path):
    own = tmp_path / "my-build.gsym"
    own.write_bytes(vmlinux.read_bytes())
    user = gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x100, "name": "main"}])
    lines = callsign.good("stack", "--json", "-i", user, "-i", own, stdin=MOVED["warning"][0] + OFFSET).splitlines()
    assert json.loads(lines[0])["frames"][0]["frames"][0]["function"] == "last"


def test_each_boot_has_its_offset(callsign, vmlinux):
    """The offset after a trace counts, up to the next boot; after that, the one before is another boot's."""
    first, last = "[  1.0] RIP: 0010:0xffffffff81000008\n", "[  1.0] RIP: 0010:0xffffffff91000308\n"
    boot = "[    0.000000] Linux version 6.1.0-56-amd64 (debian-kernel@lists.debian.org)\n"
    offset = "[  2.0] Kernel Offset: {} from 0xffffffff81000000\n"
    text = boot + first + offset.format("disabled") + boot + last + offset.format("0x10000000")
    assert functions(callsign, vmlinux, text) == [["first"], ["last"]]
    assert functions(callsign, vmlinux, boot + last + boot + last + offset.format("0x10000000")) == [[None], ["last"]]


def test_the_search_for_an_offset_is_limited(callsign, vmlinux):
    """The lines up to it are kept, and passed on in their order, whether it comes or not."""
    trace = "[   12.34] RIP: 0010:0xffffffffab000308\n"
    noise = "".join(f"[   12.35] usb 1-1: new high-speed USB device number {i}\n" for i in range(8000))
    assert callsign.good("stack", "--in-place", "--index", vmlinux, stdin=trace + noise + OFFSET) == trace + noise + OFFSET
    filled = callsign.good("stack", "--in-place", "--index", vmlinux, stdin=trace + noise + OFFSET + trace + noise + trace)
    named = trace[:-1] + " (last at /src/main.cc:50)\n"
    assert filled == trace + noise + OFFSET + named + noise + named
    long = "x" * 70000 + "\n"
    assert callsign.good("stack", "--in-place", "--index", vmlinux, stdin=trace + long + OFFSET) == trace + long + OFFSET


def test_addresses_that_are_no_kernels(callsign, vmlinux):
    for line in ["RIP: 0033:0x7f8593edf337", "RIP: 0023:0xf7f3d549", "EIP: 0073:0xb7f3d549", "RIP: 0010:0x561106405000", "WARNING: CPU: 0 PID: 1 at 0x1234", " 0xffffffff81000008",
                 "[<000000000028111c>] 0x28111c"]:
        answered = callsign.run("stack", "--json", "--no-search", "--format", "kernel", "--index", vmlinux, stdin=line + "\n")
        assert (answered.returncode, answered.stdout) == (1, ""), line
