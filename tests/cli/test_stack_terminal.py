"""callsign stack on logs that a terminal or a log shipper has passed on: without the blanks before lines, with blanks behind them, wrapped.

The texts are the samples of test_stack_logs.py, and its programs."""
import itertools
import json
import re
import select
import subprocess
import textwrap

import pytest

from test_stack_logs import BOTH, LIB, SAMPLES, SYMBOLIZED, indexes, text_of  # noqa: F401 (indexes is a fixture)


def fill(callsign, text, *args):
    """What --in-place makes of the text, in one run and in a second one."""
    run = ["stack", "--in-place", "--no-search", *(args or BOTH)]
    once = callsign.run(*run, stdin=text).stdout
    assert callsign.run(*run, stdin=once).stdout == once
    return once


# ---- without the blanks before lines ----

def trimmed(text):
    return re.sub(r"(?m)^[ \t]+", "", text)


# Of an open report, other lines keep their blanks: the modules of HWASan's are known by them.
SANITIZERS = ["asan", "msan", "tsan", "ubsan", "hwasan of clang"]


@pytest.mark.parametrize("name", SANITIZERS)
def test_trimmed_reports_of_sanitizers(callsign, name):
    """The names, and in a second run the lines, are those of the report as it was; gdb's reader took the named ones."""
    assert trimmed(fill(callsign, text_of(name))) == fill(callsign, trimmed(text_of(name)))


@pytest.mark.parametrize("report", SYMBOLIZED)
def test_trimmed_reports_that_are_symbolized(callsign, report):
    """Lines with a file stay: they were rewritten as gdb's, with the lines of inlined calls."""
    head, form, base = SYMBOLIZED[report]
    calls = [(0x113a, "check /opt/app/liborders.c:9:23"), (0x113a, "parse_line /opt/app/liborders.c:16:10"),
             (0x1160, "orders_load(char const*) /opt/app/liborders.c:21:3")]
    text = head + "".join(form.format(i, addr - base, name) if base else form.format(i, name, addr) for i, (addr, name) in enumerate(calls))
    assert fill(callsign, text) == text
    answers = callsign.good("stack", "--json", "--no-search", *LIB, stdin=text).splitlines()
    assert [[f["function"] for f in frame["frames"]] for frame in json.loads(*answers)["frames"]][:2] == [["check", "parse_line"], ["orders_load"]]


def test_a_trimmed_report_before_it_is_symbolized(callsign):
    """Raw, then symbolized, as some programs print both."""
    symbolized = trimmed("".join(f"    #{i} {pc} in {name}\n" for i, (pc, name) in enumerate(
        [("0x7f71e124213a", "check /opt/app/liborders.c:9:23"), ("0x7f71e124213a", "parse_line /opt/app/liborders.c:16:10"),
         ("0x7f71e1242160", "orders_load(char const*) /opt/app/liborders.c:21:3")])))
    assert fill(callsign, text_of("asan") + "\nretry\n" + symbolized).endswith("\nretry\n" + symbolized)


def test_trimmed_reports_with_names(callsign):
    text = "#0 0x7f71e124213a in parse_line (/opt/app/liborders.so+0x113a)\n#1 0x7f71e1242160 in orders_load (/opt/app/liborders.so+0x1160)\n"
    assert fill(callsign, text) == ("#0 0x7f71e124213a in check /opt/app/liborders.c:9\n#1 0x7f71e124213a in parse_line /opt/app/liborders.c:16\n"
                                    "#2 0x7f71e1242160 in orders_load /opt/app/liborders.c:21\n")


# ---- wrapped by gdb at the width of the terminal ----

GDB = """\
0x000055555555527b in ?? ()
#0  0x000055555555527b in ?? ()
#1  0x00007ffff7fbc13b in ?? ()
   from /opt/app/liborders.so
#2  0x00007ffff7fbc161 in orders_load ()
   from /opt/app/liborders.so
#3  0x0000555555555461 in ?? ()
#4  0x00007ffff7df324a in __libc_start_call_main (
    main=main@entry=0x55555555542c, argc=argc@entry=2, 
    argv=argv@entry=0x7fffffffe7a8)
    at ../sysdeps/nptl/libc_start_call_main.h:58
#5  0x00007ffff7df3305 in __libc_start_main_impl (main=0x55555555542c, argc=2, 
    argv=0x7fffffffe7a8, init=<optimized out>, fini=<optimized out>, 
    rtld_fini=<optimized out>, stack_end=0x7fffffffe798) at ../csu/libc-start.c:360
#6  0x0000555555555131 in ?? ()
"""
FILLED_GDB = GDB.replace("""\
0x000055555555527b in ?? ()
#0  0x000055555555527b in ?? ()
#1  0x00007ffff7fbc13b in ?? ()
   from /opt/app/liborders.so
#2  0x00007ffff7fbc161 in orders_load ()
   from /opt/app/liborders.so
#3  0x0000555555555461 in ?? ()
#4""", """\
0x000055555555527b in on_check () at /opt/app/orders.c:23
#0  0x000055555555527b in on_check () at /opt/app/orders.c:23
#1  0x00007ffff7fbc13b in check () at /opt/app/liborders.c:9
#2  parse_line ()
   at /opt/app/liborders.c:16
#3  0x00007ffff7fbc161 in orders_load ()
   at /opt/app/liborders.c:21
#4  0x0000555555555461 in main () at /opt/app/orders.c:31
#5""").replace("#5  0x00007ffff7df3305", "#6  0x00007ffff7df3305").replace("#6  0x0000555555555131 in ??", "#7  0x0000555555555131 in _start")


def joined(text):
    return re.sub(r" *\n +", " ", re.sub(r"\(\n +", "(", text))


PREFIXES = ["", "2026-11-24T10:00:00Z ", "\x1b[31m"]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("threads", ["1", "4"])
def test_wrapped_frames(callsign, prefix, threads):
    """Each frame was filled in as if it ended with its first line, twice in part, and its rest was left below."""
    given, wanted = (re.sub("(?m)^", prefix, text[:-1]) + "\n" for text in (GDB, FILLED_GDB))
    assert fill(callsign, given, *BOTH, "--threads", threads) == wanted


def test_wrapped_frames_in_json(callsign):
    stack = json.dumps({"stack": GDB}) + "\n"
    assert json.loads(fill(callsign, stack)) == {"stack": FILLED_GDB}
    lines = "".join(json.dumps({"log": line, "stream": "stderr"}) + "\n" for line in GDB.splitlines(True))
    assert "".join(json.loads(line)["log"] for line in fill(callsign, lines).splitlines()) == FILLED_GDB


def test_wrapped_frames_have_the_library_of_their_last_line(callsign):
    """It places the module, which nothing else tells."""
    given = [callsign.good("stack", "--json", "--no-search", *LIB, stdin=text) for text in (GDB, joined(GDB))]
    assert given[0] == given[1] and "parse_line" in given[0]


@pytest.mark.parametrize("max_frames", ["1", "2", "100"])
def test_wrapped_frames_of_parts_of_a_stack(callsign, max_frames):
    """A frame is not torn apart."""
    args = [*BOTH, "--max-frames", max_frames]
    assert joined(fill(callsign, GDB, *args)) == fill(callsign, joined(GDB), *args)


COMPLETE = """\
#0  __pthread_kill_implementation (threadid=<optimized out>, 
    signo=signo@entry=6, no_tid=no_tid@entry=0) at ./nptl/pthread_kill.c:44
#1  0x00007ffff7fbc13b in check (offset=offset@entry=77, 
    length=<optimized out>, message=0x555555556055 "5 (boxes, ") at liborders.c:9
#2  parse_line (message=<optimized out>, length=<optimized out>, 
    offset_in_the_file=offset_in_the_file@entry=77) at liborders.c:16
#3  0x00007ffff7fbc161 in orders::(anonymous namespace)::orders_load<std::string>
    (text=...) at liborders.c:21
#4  0x0000555555555461 in main (argc=<optimized out>, argv=<optimized out>)
    at orders.c:31
        quantity = 5
#5  0x0000555555555131 in _start ()
    at ../sysdeps/start.S:1
"""


@pytest.mark.parametrize("width", [0, 40, 60])
def test_wrapped_frames_that_are_complete(callsign, width):
    """What gdb knows stays, wherever it wraps; nothing is numbered anew."""
    text = COMPLETE
    if width:
        joined = re.sub(r"\n {1,4}(?! )", " ", COMPLETE.replace(" \n", "\n")).splitlines()
        text = "".join(textwrap.fill(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False) + "\n"
                       if line[0] == "#" else line + "\n" for line in joined)
        text = re.sub(r",\n", ", \n", text)
    maps = "7ffff7fbb000-7ffff7fc0000 r-xp 00000000 08:01 12 /opt/app/liborders.so\n"
    assert fill(callsign, text) == text
    assert fill(callsign, maps + text) == maps + text


def test_what_follows_a_frame_is_none_of_it(callsign):
    """Cut off, or followed by something else: frames with arguments stay, the others are filled in where they end."""
    frame, cut = "#1  0x00007ffff7fbc161 in orders_load ()", "#1  0x00007ffff7fbc161 in orders_load (text=0x1, "
    filled = frame + " at /opt/app/liborders.c:21\n"
    for rest, after in itertools.product(["", "text\n", "  from here on\n", "        text = 1\n", "#2  0x0000555555555461\n"], ["", "more\n"]):
        maps = "7ffff7fbb000-7ffff7fc0000 r-xp 00000000 08:01 12 /opt/app/liborders.so\n"
        if "from" not in rest:
            assert fill(callsign, maps + frame + "\n" + rest + after).startswith(maps + filled)
        assert fill(callsign, maps + cut + "\n" + rest + after).startswith(maps + cut + "\n")


def test_a_wrapped_bracket(callsign):
    name = "#2  0x00007ffff7fbc161 in {}\n    () {} /opt/app/liborders.{}\n"
    first = "#0  0x00007ffff7fbc161 in orders_load () from /opt/app/liborders.so\n"
    assert fill(callsign, first + name.format("??", "from", "so")).endswith(name.format("orders_load", "at", "c:21"))
    assert fill(callsign, first + name.format("orders_load", "from", "so")).endswith(name.format("orders_load", "at", "c:21"))
    assert fill(callsign, first + "#2  0x00007ffff7fbc161 in orders_load\n").endswith("\n#2  0x00007ffff7fbc161 in orders_load\n")


def test_wrapped_frames_of_several_functions(callsign, tmp_path):
    """With --explain, the reasons follow the frame."""
    import gsym_make
    index = gsym_make.write(tmp_path / "liborders.so.gsym", [{"start": 0x1158, "size": 0x20, "name": "orders_load", "line": 3,
                                                              "merged": [{"name": "orders_save", "line": 4}]}], base=0, source=("/opt/app", "a.c"))
    once = callsign.good("stack", "--in-place", "--explain", "--no-search", "-i", index, stdin=GDB)
    assert re.search(r"in orders_load\|orders_save \(\)\n   from /opt/app/liborders.so\n +2 functions", once)


# ---- with blanks behind the lines ----

def padded(text, end):
    """All lines, the empty ones too."""
    return text.replace("\n", end + "\n") + ("" if text.endswith("\n") else end)


@pytest.mark.parametrize("end", [" ", "  ", "\t", " \x1b[0m ", " \r"])
@pytest.mark.parametrize("name", SAMPLES)
def test_blanks_behind_lines(callsign, indexes, name, end):
    """Whole logs were not recognized. The blanks stay where they are, behind what is filled in."""
    text = text_of(name)
    args, given = indexes[name], padded(text, end)
    assert callsign.run("stack", *args, stdin=given).stdout == callsign.run("stack", *args, stdin=text).stdout
    once = fill(callsign, given, *args)
    assert once == padded(fill(callsign, text, *args), end)


@pytest.mark.parametrize("end", [" ", "\t "])
@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if not sample.functions])
def test_blanks_behind_lines_in_json(callsign, indexes, name, end):
    """Whole logs passed at the gate that strings without frames do not pass."""
    def records(text):
        return "".join(json.dumps({"log": line + "\n"}) + "\n" for line in text.split("\n"))

    def logged(filled):
        return [line.rstrip() for record in filled.splitlines() for line in json.loads(record)["log"].split("\n")]

    args, text = ["stack", "--in-place", "--no-search", *indexes[name]], text_of(name)
    assert logged(callsign.run(*args, stdin=records(padded(text, end))).stdout) == logged(callsign.run(*args, stdin=records(text)).stdout)


def test_a_bracket_alone(callsign):
    """As if filled in behind nothing: what dialects read was empty, and one read the byte before."""
    for text in " (a at b:1)\n", "(a at b:1)\n", "#0 0x1 in f ()\n (a at b:1)\n":
        for form in [], ["--format", "glibc"]:
            assert callsign.run("stack", "--in-place", "--no-search", *form, *LIB, stdin=text).stdout == text


def test_the_library_below_a_frame_that_is_complete(callsign):
    """A frame without an address is not the one before it; and the first line may have been filled in because the second came late."""
    text = ("#1  0x00007ffff7fbc161 in orders_load () from /opt/app/liborders.so\n#2  helper ()\n   from /opt/app/other.so\n"
            "#3  0x0000555555555461 in ?? ()\n")
    assert fill(callsign, text).splitlines()[1:3] == ["#2  helper ()", "   from /opt/app/other.so"]
    lines = GDB.splitlines(True)
    process = subprocess.Popen([callsign.path, "stack", "--in-place", "--no-search", *map(str, BOTH)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    at = next(i for i, line in enumerate(lines) if "orders_load" in line) + 1
    process.stdin.write("".join(lines[:at]))
    process.stdin.flush()
    waits = select.select([process.stdout], [], [], 30)[0]  # what it has is answered when nothing more comes
    rest = process.communicate("".join(lines[at:]))[0]
    assert waits and rest.count("liborders.c:21") == 1
