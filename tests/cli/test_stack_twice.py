"""callsign stack --in-place on a log that it filled in before: nothing changes, whatever stands in the log. So lines that were filled in must
be read as they were before that: they may tell where modules lie, and lines of other programs may follow directly.

The texts are the samples of test_stack_logs.py, and its programs."""
import itertools
import json
import re

import pytest

import gsym_make
from test_stack_logs import BOTH, DATA, LIB, SAMPLES, filled, indexes, text_of  # noqa: F401 (indexes is a fixture)

TEXT = "\n\ntext\n\n"
BETWEEN = {"with text between": TEXT, "directly": ""}
# Where the modules of gdb's, lldb's and coredumpctl's samples lie.
MAPS = text_of("gdb-mappings").split("0x000055555555527b")[0]


def fill(callsign, text, *args):
    return callsign.run("stack", "--in-place", "--no-search", *(args or BOTH), stdin=text).stdout


def assert_once(callsign, text, *args):
    """Returns what one run makes of the text."""
    once = fill(callsign, text, *args)
    assert fill(callsign, once, *args) == once
    return once


# ---- lines that were filled in are read as they were ----

READ_AGAIN = ["python", "node", "rust", "lldb", "backward", "gperftools-leaks", "llvm", "chromium", "coredumpctl", "coredumpctl, older", "absl-pie",
              "bpftrace-kernel", "llvm, both", "windbg", "pytorch", "changed names of programs", "envoy", "illumos", "swift", "gdb", "gdb-mappings"]


@pytest.mark.parametrize("name", READ_AGAIN)
def test_filled_in_logs_are_read_as_before(callsign, indexes, name):
    """The names in brackets made of most lines ones that no dialect reads, or that another one does."""
    def frames(text):
        answers = map(json.loads, callsign.good("stack", "--json", *indexes[name], stdin=text).splitlines())
        return [[(f.get("module"), f.get("address"), f.get("pc"), f["frames"]) for f in answer["frames"]] for answer in answers]

    assert frames(filled(name)) == frames(text_of(name))


def test_what_stands_there_stays(callsign, tmp_path):
    """A name that is filled in is not filled in again from another index; one that is not is."""
    line = "C  [liborders.so+0x1161]  orders_load+0x9"
    other = gsym_make.write(tmp_path / "liborders.so.gsym", [{"start": 0x1100, "size": 0x100, "name": "other", "line": 7}], source=("/src", "a.c"))
    once = assert_once(callsign, line + "\n")
    assert fill(callsign, once + line + "\n", "-i", other) == once + line + " (other at /src/a.c:7)\n"


# ---- lldb ----

LLDB = ("    frame #1: 0x00007ffff7fbc13b liborders.so`parse_line [inlined] check at f.c:9:5\n"
        "    frame #2: 0x00007ffff7fbc13b liborders.so`parse_line{}\n    frame #3: 0x00007ffff7fbc161 liborders.so`orders_load + 9\n")


@pytest.mark.parametrize("source", [" at f.c:16:7", " at f.c:16:7 [opt]"])
def test_functions_that_lldb_shows_without_arguments(callsign, source):
    """They have a source already: the inlined call, which has its line, was added again."""
    text = MAPS + LLDB.format(source)
    assert assert_once(callsign, text) == text.replace("orders_load + 9", "orders_load at /opt/app/liborders.c:21")


def test_inlined_calls_that_lldb_has_of_functions_without_a_source(callsign):
    once = assert_once(callsign, MAPS + LLDB.format(" + 66"))
    assert once.count("[inlined]") == 1 and "frame #2: 0x00007ffff7fbc13b liborders.so`parse_line at /opt/app/liborders.c:16\n" in once


# ---- numbers ----

GDB_COMPLETE = ("#1  0x0000555500000027 in area () at f.c:3\n#2  square () at f.c:8\n        side = 3\n"
                "#3  0x00007ffff7fbc161 in orders_load () from /opt/app/liborders.so\n")
LLDB_COMPLETE = ("    frame #1: 0x00007ffff7000161 other`square [inlined] area at f.c:3\n    frame #2: 0x00007ffff7000161 other`square at f.c:8\n"
                 "    frame #3: 0x00007ffff7fbc161 liborders.so`orders_load + 9\n")
NUMBERED = {"gdb": ("#0  0x00007ffff7fbc13b in ?? () from /opt/app/liborders.so\n" + GDB_COMPLETE, r"^#(\d+)"),
            "lldb": ("    frame #0: 0x00007ffff7fbc13b liborders.so`___lldb_unnamed_symbol10 + 66\n" + LLDB_COMPLETE, r"^ +frame #(\d+)")}


@pytest.mark.parametrize("prefix", ["", "Nov 22 20:00:01 host orders[42]: "])
@pytest.mark.parametrize("form", ["text", "JSON"])
@pytest.mark.parametrize("name", NUMBERED)
def test_inlined_calls_that_a_debugger_knew_are_numbered_anew(callsign, name, form, prefix):
    """Lines of inlined calls are added before them; they kept their numbers, which then came twice."""
    text, number = NUMBERED[name]
    text = MAPS + "".join(prefix + line for line in text.splitlines(True))
    once = assert_once(callsign, text if form == "text" else json.dumps({"log": text}) + "\n")
    lines = (once if form == "text" else json.loads(once)["log"]).replace(prefix, "").splitlines()
    assert [int(m[1]) for m in (re.match(number, line) for line in lines) if m] == list(range(5))


# ---- inlined calls without a source ----

INLINED = [{"offset": 1, "size": 0x5d, "name": "check", "call_line": 16}]
WITHOUT_SOURCE = {
    "no lines": [{"start": 0x10f9, "size": 0x5f, "name": "parse_line", "inlined": INLINED}, {"start": 0x1158, "size": 0x20, "name": "orders_load"}],
    "functions that share code": [{"start": 0x10f9, "size": 0x5f, "name": "parse_line", "line": 3, "merged": [{"name": "parse_other"}], "inlined": INLINED},
                                  {"start": 0x1158, "size": 0x20, "name": "orders_load", "merged": [{"name": "orders_save"}]}]}


@pytest.mark.parametrize("name, kind", [
    *itertools.product(["gdb", "gdb-mappings", "asan", "ubsan", "msan", "hwasan of clang", "lldb"], WITHOUT_SOURCE),
    ("asan unindented", "no lines"), ("valgrind", "no lines")])
def test_inlined_calls_without_a_source(callsign, tmp_path, name, kind):
    """Each run added the lines of the inlined calls again."""
    index = gsym_make.write(tmp_path / "liborders.so.gsym", WITHOUT_SOURCE[kind], base=0, source=("/opt/app", "liborders.c"))
    for head in "", MAPS:
        once = assert_once(callsign, head + text_of(name), "-i", index, "-i", DATA / "orders")
        assert len(re.findall(r"\bcheck\b", once)) == 1 or (not head and "check" not in once)
