"""callsign stack on traces of the Linux kernel: return addresses at the ends of functions, frames that may be none, registers.

The lines are written as the kernel's dump_stack(), show_regs() and dump_backtrace() print them: x86 prints "?" and %pB (the symbol of
the byte before: "prev_fn+0x88/0x88", Documentation/core-api/printk-formats.rst), arm64 "(P)" and "(L)" for what an address is
from (arch/arm64/kernel/stacktrace.c)."""
import json

import pytest

import gsym_make

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


@pytest.mark.parametrize("mark", ["", "? "])
def test_offset_0_is_exact(callsign, vmlinux, mark):
    assert functions(callsign, vmlinux, f" {mark}second+0x0/0x100\n") == [["second"]]


def test_frames_that_may_be_none_call_nobody(callsign, vmlinux):
    trace = "Call Trace:\n area+0x8/0x40\n ? second+0x50/0x100\n ? last+0x10/0x40\n first+0x100/0x100\n"
    assert functions(callsign, vmlinux, trace) == [["square", "second", "last", "first"]]
    answer = json.loads(callsign.good("stack", "--json", "--index", vmlinux, stdin=trace))
    assert answer["frames"][0]["merged"]["evidence"] == {"frame": 3, "pattern": "^square$"}
    # Nor does anybody call them, and the register's function is not called by the next frame.
    assert functions(callsign, vmlinux, trace.replace(" area", " ? area")) == [["area", "second", "last", "first"]]
    trace = trace.replace(" area", " ? area")
    assert json.loads(callsign.good("stack", "--json", "--index", vmlinux, stdin=trace))["frames"][0]["merged"]["by"] == "ambiguous"


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
