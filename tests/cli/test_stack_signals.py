"""Stacks with a signal's frame: the function that was interrupted made no call, and the kernel's return into the C library is no call."""
import json
import subprocess

import pytest

from programs import need

PROGRAM = r"""
#include <execinfo.h>
#include <signal.h>
#include <unistd.h>
static void handler(int number) {
    void *pcs[30];
    (void)number;
    backtrace_symbols_fd(pcs, backtrace(pcs, 30), 1);
    _exit(0);
}
__attribute__((noinline)) int before(int x) { volatile int y = x; return y; }
__attribute__((noinline)) int faulting(volatile int *p) { return *p; }
__attribute__((noinline)) int outer(volatile int *p) { return faulting(p) + before(3); }
int main(int argc, char **argv) {
    (void)argv;
    signal(SIGSEGV, handler);
    return outer(argc > 5 ? &argc : 0);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A static one: what the kernel returns to is in it. Functions are not aligned: before a function stands another one."""
    folder = tmp_path_factory.mktemp("signals")
    (folder / "p.c").write_text(PROGRAM)
    subprocess.run([need("gcc"), "-g", "-O2", "-static", "-fno-align-functions", "-fno-reorder-functions", "-fno-toplevel-reorder", "-fcf-protection=none",
                    "p.c", "-o", "p"], cwd=folder, check=True)
    return folder / "p"


def names(callsign, program, text, *options):
    answers = callsign.good("stack", "--json", "--no-search", "-i", program, *options, stdin=text)
    return [[f["frames"][-1]["function"] if f["frames"] else None for f in json.loads(line)["frames"]] for line in answers.splitlines()]


def test_backtrace_in_a_handler(callsign, program):
    text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert names(callsign, program, text)[0][:5] == ["handler", "__restore_rt", "faulting", "outer", "main"]


def addresses(program):
    """{function: address of its first byte}"""
    listed = subprocess.run([need("nm"), program], capture_output=True, text=True, check=True).stdout
    return {name: int(address, 16) for address, kind, name in (line.split() for line in listed.splitlines() if line[0] != " ")}


def image_base(program):
    """The address of the file's first byte in memory."""
    listed = subprocess.run([need("readelf"), "-lW", program], capture_output=True, text=True, check=True).stdout
    return min(int(line.split()[2], 16) for line in listed.splitlines() if line.split()[:1] == ["LOAD"])


@pytest.mark.parametrize("mark", ["<signal handler called>", "<function called from gdb>"])
def test_interrupted_frames_of_gdb(callsign, program, mark):
    at = addresses(program)
    text = f"#0  0x{at['handler'] + 1:016x} in ?? ()\n#1  {mark}\n#2  0x{at['faulting']:016x} in ?? ()\n#3  0x{at['outer'] + 5:016x} in ?? ()\n"
    assert names(callsign, program, text) == [["handler", "faulting", "outer"]]


@pytest.mark.parametrize("first", ["#0  before (x=3) at p.c:11\n", ""])
def test_callers_of_gdb_without_the_frame_that_stopped(callsign, program, first):
    """gdb leaves an address out that begins a line; and `bt -2` shows the outermost frames alone."""
    at = addresses(program)
    text = f"{first}#1  0x{at['faulting']:016x} in ?? ()\n#2  0x{at['outer'] + 5:016x} in ?? ()\n"
    assert names(callsign, program, text) == [["before", "outer"]]


def test_callers_of_lldb_without_the_frame_that_stopped(callsign, program):
    at = addresses(program)
    text = f"    frame #1: 0x{at['faulting']:016x} p`___lldb_unnamed_symbol1\n    frame #2: 0x{at['outer'] + 5:016x} p`___lldb_unnamed_symbol2\n"
    assert names(callsign, program, text) == [["before", "outer"]]


def test_stopped_in_an_inlined_call_of_lldb(callsign, program):
    """The frame it was inlined into has the same pc."""
    at = addresses(program)["faulting"]
    text = f"  * frame #0: 0x{at:016x} p`faulting [inlined] load(p=0) at p.c:3:5\n    frame #1: 0x{at:016x} p`faulting(p=0) + 0\n"
    assert names(callsign, program, text) == [["faulting"]]


def test_numbers_alone(callsign, program):
    at = addresses(program)
    pcs = [at["handler"] + 1, at["__restore_rt"], at["faulting"], at["outer"] + 5]
    text = "".join(f"0x{pc:x}\n" for pc in pcs)
    assert names(callsign, program, text) == [["handler", "__restore_rt", "faulting", "outer"]]


def test_sanitizers_print_the_byte_before(callsign, program):
    """Of each frame but the first, also of what no call returns to."""
    at = addresses(program)
    pcs = [at["handler"] + 1, at["__restore_rt"] - 1, at["faulting"] - 1, at["outer"] + 4]
    text = "".join(f"    #{i} 0x{pc:x}  ({program}+0x{pc - image_base(program):x})\n" for i, pc in enumerate(pcs))
    assert names(callsign, program, text) == [["handler", "__restore_rt", "faulting", "outer"]]
    answers = callsign.good("stack", "--json", "--no-search", "-i", program, stdin=text)
    assert [f["frames"][0]["offset"] for f in json.loads(answers)["frames"]] == [1, 0, 0, 4]


@pytest.mark.parametrize("dialect", ["coredump", "sanitizer", "perf", "lldb"])
@pytest.mark.parametrize("trampoline", ["__restore_rt", "__kernel_rt_sigreturn"])
def test_a_signal_frame_that_only_the_line_names(callsign, program, trampoline, dialect):
    """The modules of the kernel and of the C library have no index."""
    at, base = addresses(program), image_base(program)
    frames = [("handler", at["handler"] + 1, "p"), (trampoline, 0x7ffff7fc3b30, "other.so"), (None, at["faulting"], "p"), (None, at["outer"] + 5, "p")]
    lines = {"coredump": lambda i, name, pc, module: f"#{i}  0x{pc:016x} {name or 'n/a'} ({module} + 0x{pc - base:x})",
             "sanitizer": lambda i, name, pc, module: f"    #{i} 0x{pc - (i > 0):x} in {name or '??'} ({module}+0x{pc - base - (i > 0):x})",
             "perf": lambda i, name, pc, module: f"\t    {pc:x} {name or '[unknown]'} (/opt/{module})",
             "lldb": lambda i, name, pc, module: f"    frame #{i}: 0x{pc:016x} {module}`{name or '___lldb_unnamed_symbol1'}"}
    head = "p 42 1.5: 1 cycles:\n" if dialect == "perf" else ""
    text = head + "".join(lines[dialect](i, *frame) + "\n" for i, frame in enumerate(frames)) + "\n"
    assert names(callsign, program, text) == [["handler", None, "faulting", "outer"]]


def test_interrupted_twice(callsign, program):
    """A handler that is interrupted; and no frame of the next stack was."""
    at = addresses(program)
    pcs = [at["outer"], at["__restore_rt"], at["handler"], at["__restore_rt"], at["faulting"], at["outer"] + 5]
    text = "".join(f"0x{pc:x}\n" for pc in pcs) + "\n" + f"0x{at['outer'] + 5:x}\n0x{at['outer']:x}\n"
    got = names(callsign, program, text)
    assert got[0] == ["outer", "__restore_rt", "handler", "__restore_rt", "faulting", "outer"]
    assert got[1] == ["outer", "faulting"]
