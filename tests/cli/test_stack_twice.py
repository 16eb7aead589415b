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


# ---- all that may follow each other ----

def shape(line):
    return re.sub(r"\w{7,}", "word", re.sub(r"(0x)?[0-9a-f]*[0-9][0-9a-f]*", "9", line))


def frame_lines():
    """A line of each shape that becomes another."""
    found = {}
    for name, sample in SAMPLES.items():
        if sample.index in (LIB, BOTH):
            lines = text_of(name).split("\n")
            for number in sample.lines:
                found.setdefault(shape(lines[number - 1]), (name, lines[number - 1] + "\n"))
    return list(found.values())


FRAMES = frame_lines()


def both(first, second):
    """The indexes of two samples."""
    pairs = dict.fromkeys(itertools.chain(zip(first[1::2], first[2::2]), zip(second[1::2], second[2::2])))
    return [arg for pair in pairs for arg in pair] or ["--no-search"]


@pytest.mark.parametrize("first", SAMPLES)
def test_every_sample_after_every_other(callsign, indexes, first):
    for second, between in itertools.product(SAMPLES, BETWEEN.values()):
        assert_once(callsign, text_of(first) + between + text_of(second), *both(indexes[first], indexes[second]))


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in FRAMES))
def test_every_frame_after_every_other(callsign, name):
    for (of, line), (_, before) in itertools.product(FRAMES, FRAMES):
        for head, between in (("", ""), ("", TEXT), (MAPS, "")) if of == name else ():
            assert_once(callsign, head + before + between + line)


# Lines of the second that a first run must name: the other one was taken for a part of the stack before.
SAMPLE_PAIRS = [("gdb-mappings", "lldb"), ("eu-stack", "lldb"), ("lldb", "gdb-mappings"), ("gdb", "coredumpctl"), ("gdb-mappings", "coredumpctl"),
                ("eu-stack", "coredumpctl"), ("lldb", "coredumpctl"), ("coredumpctl", "gdb-mappings")]


@pytest.mark.parametrize("first, second", SAMPLE_PAIRS)
@pytest.mark.parametrize("between", BETWEEN)
def test_samples_together(callsign, first, second, between):
    text = text_of(first) + BETWEEN[between] + text_of(second)
    once = fill(callsign, text, *BOTH, "--threads", "1")
    assert fill(callsign, text, *BOTH, "--threads", "4") == once
    assert all(line in once for line in (filled(second).splitlines() if second != "lldb" else ()))
    for threads in "1", "4":
        assert fill(callsign, once, *BOTH, "--threads", threads) == once


@pytest.mark.parametrize("threads", ["1", "4"])
def test_all_samples_in_one_log(callsign, threads):
    """With lists of where modules lie, which make frames of others known, too."""
    names = [n for n, s in SAMPLES.items() if s.index in (LIB, BOTH)]
    text = "".join(f"---- {n}\n{text_of(n)}\n" for n in names)
    once = fill(callsign, text, *BOTH, "--threads", "1")
    assert once != text and fill(callsign, once, *BOTH, "--threads", threads) == once


# ---- lines that were filled in are read as they were ----

READ_AGAIN = ["python", "node", "rust", "lldb", "backward", "gperftools-leaks", "llvm", "chromium", "coredumpctl", "coredumpctl, older", "absl-pie",
              "bpftrace-kernel", "llvm, both", "windbg", "pytorch", "changed names of programs", "envoy", "illumos", "swift", "gdb", "gdb-mappings"]


@pytest.mark.parametrize("name", READ_AGAIN)
def test_filled_in_logs_are_read_as_before(callsign, indexes, name):
    """The names in brackets made of most lines ones that no dialect reads, or that another one does. gdb writes a place instead of the image's path."""
    def frames(text):
        answers = map(json.loads, callsign.good("stack", "--json", *indexes[name], stdin=text).splitlines())
        return [[(f.get("module", "").split("/")[-1], f.get("address"), f.get("pc"), f["frames"]) for f in answer["frames"]] for answer in answers]

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


@pytest.mark.parametrize("name", ["shop::orders_load(int)", "operator new(unsigned long)", "closure #1 in main()", "f[abi:cxx11](int)", "shop::f(int, (x)) const",
                                  "(anonymous namespace)::f()", "static App.f(x: Swift.Int) -> Swift.Int"])
@pytest.mark.parametrize("offset, note", [("9", ""), ("0x9", ""), ("9", " [opt]"), ("9", ", a note"), ("9", " <-- see b + 5")])
def test_offsets_behind_demangled_names_of_lldb(callsign, name, offset, note):
    """The offset is a part of the form; it stayed behind the place."""
    once = assert_once(callsign, MAPS + f"    frame #2: 0x00007ffff7fbc161 liborders.so`{name} + {offset}{note}\n")
    assert once == MAPS + f"    frame #2: 0x00007ffff7fbc161 liborders.so`orders_load at /opt/app/liborders.c:21{note}\n"


# ---- Apple's reports ----

@pytest.mark.parametrize("known", ["", " (__CFBasicHashRehash + 144)", " ((anonymous namespace)::f(int) + 3)", " (f.c:3)"])
@pytest.mark.parametrize("note", ["", " (request 17)", " <-- request 17", " (request 17) (f.c:3)"])
@pytest.mark.parametrize("form", ["0x1030c3000 + 4449", "liborders.so + 4449"])
def test_names_in_brackets_of_crash_reports(callsign, form, known, note):
    """KSCrash, github.com/kstenerud/KSCrash: the first run left the name behind the new one, the second one deleted it, and any other bracket."""
    once = assert_once(callsign, f"0   liborders.so                  0x00000001030c4161 {form}{known}{note}\n")
    assert once == f"0   liborders.so                  0x00000001030c4161 orders_load + 9 (liborders.c:22){note}\n"


@pytest.mark.parametrize("note", ["", " (request 17)"])
def test_lines_of_crash_reports_without_a_source(callsign, tmp_path, note):
    index = gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x200, "name": "area"}], base=0)
    text = f"0   app  0x00000001030c4161 0x1030c3000 + 4449 (old + 3){note}\n"
    once = fill(callsign, text, "-i", index)
    assert once == f"0   app  0x00000001030c4161 area + 353{note}\n" and fill(callsign, once, "-i", index) == once


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


# ---- what follows directly ----

GLIBC = "/opt/app/orders(+0x1427) [0x555555555427]\n"
STOP = "0x000055555555527b in ?? ()\n"
MINIDUMP = " 1  liborders.so + 0x113a\n"
COREDUMP = "                #3  0x0000555555555461 n/a (orders + 0x1461)\n"
ON_MAIN = " (main at /opt/app/orders.c:31)\n"
FOLLOWS = {
    "strace after glibc": (GLIBC, " > /opt/app/liborders.so(orders_load+0x9) [0x1161]\n", " (orders_load at /opt/app/liborders.c:22)\n"),
    "coredumpctl after minidump_stackwalk": (MINIDUMP, COREDUMP, ON_MAIN),
    "swift after minidump_stackwalk": (MINIDUMP, " 4 [ra]              0x0000555555555461 main + 53 in orders\n", ON_MAIN),
    "python after minidump_stackwalk": (MINIDUMP, "  Binary file \"/opt/app/orders\", at +0x1461 [0x7f93bcfd9161]\n", ON_MAIN),
    "python after minidump_stackwalk -m": ("0|0|liborders.so||||0x1102\n", "  Binary file \"/opt/app/orders\", at +0x1461 [0x7f93bcfd9161]\n", ON_MAIN),
    "LLVM's dump after minidump_stackwalk": (MINIDUMP, "6  orders           0x0000555555555461 orders + 5217\n", " main + 53 (orders.c:31)\n"),
    "backward after gdb": (STOP, "#3    Object \"/opt/app/orders\", at 0x555555555460, in main\n", ON_MAIN),
    "Dr. Memory after gdb": (STOP, "#1 load+0x5d [f:\\src\\orders.c:21](0x76ff1161 <liborders.dll+0x1161>)\n", " (orders_load at /opt/app/liborders.c:21)\n"),
    "logcat after eu-stack": ("TID 5275:\n#0  0x000055555555527b - /opt/app/orders\n", "     #01 pc 0000000000001160  /data/app/liborders.so (orders_load+8)\n",
                              " (orders_load at /opt/app/liborders.c:21)\n"),
    "a tombstone after eu-stack -s": ("TID 5275:\n#0  0x000055555555527b - /opt/app/orders\n    /opt/app/orders.c:23:5\n",
                                      "      #01 pc 0000000000001160  /data/app/liborders.so\n", " (orders_load at /opt/app/liborders.c:21)\n"),
    "coredumpctl after AddressSanitizer": ("#1 0x7f71e124213a  (/opt/app/liborders.so+0x113a)\n", COREDUMP.replace("#3", "#2"), ON_MAIN),
}


@pytest.mark.parametrize("pair", FOLLOWS)
def test_frames_of_others_that_follow_directly(callsign, pair):
    """They were taken for what stands below a frame, or for a frame with another kind of number, until the frame before was filled in."""
    before, line, added = FOLLOWS[pair]
    args = [*BOTH, "-i", f"liborders.dll={DATA / 'liborders.so'}"] if ".dll" in line else BOTH
    wanted = line[:-1] + added
    if "orders + 5217" in line:
        wanted = line.replace(" orders + 5217\n", added)
    once = assert_once(callsign, before + line, *args)
    assert re.sub(r"#\d+", "#", once.splitlines(True)[-1]) == re.sub(r"#\d+", "#", wanted)


def test_rows_of_a_stack_below_a_frame_of_minidump_stackwalk(callsign):
    """minidump_stackwalk -s writes them. They go on with the stack, while a frame of coredumpctl does not."""
    text = (MINIDUMP + "     sp = 0xff80f2b0    pc = 0xcf324065\n    Found by: stack scanning\n    Stack contents:\n"
            "     ff80f2b0 d4 50 28 ec 00 00 00 00 00 00 00 00              .P(.        \n    Possible instruction pointers:\n"
            "     *(0xff80f2b0) = 0xec2850d4\n 2  liborders.so + 0x1160\n")
    once = assert_once(callsign, text + COREDUMP)
    assert once.endswith(" 3  liborders.so!orders_load [/opt/app/liborders.c : 21]\n" + COREDUMP[:-1] + ON_MAIN)


@pytest.mark.parametrize("first", ["#0  0x000055555555527b in ?? ()\n", "  * frame #0: 0x000055555555527b orders`___lldb_unnamed_symbol37 + 130\n"])
def test_a_program_that_lies_where_debuggers_load_it(callsign, first):
    """Known to lie there by one frame, it does for the next ones, as in the second run, where the frame has a name."""
    assert assert_once(callsign, first + TEXT + "#0  0x0000555555555461\n").endswith("#0  0x0000555555555461 main at /opt/app/orders.c:31\n")


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
