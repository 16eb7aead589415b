"""Stacks behind blanks or a tab, as mails, issues and YAML have them: what each line becomes is what it becomes without them."""
import re

import pytest

from test_stack_logs import BOTH, FIXED, SAMPLES, filled, indexes, text_of  # noqa: F401

# What a log daemon wrote stands at the beginning of a line; the others have frames that another dialect has with blanks before them.
NOT_INDENTED = {"logcat", "go-cgo", "go-race", "tcmalloc"}


def indented(text, indent):
    return "".join(indent + line if line.strip() else line for line in text.splitlines(True))


@pytest.mark.parametrize("indent", ["    ", "\t", " " * 12], ids=["4", "tab", "12"])
@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in NOT_INDENTED])
def test_indented_stacks(callsign, indexes, name, indent):  # noqa: F811
    if name == "illumos" and indent == "\t":
        return  # that is a line of perf script
    done = callsign.run("stack", "--in-place", *indexes[name], stdin=indented(text_of(name), indent))
    assert done.stdout == indented(filled(name), indent)


# ---- notes ----

NOTE = " <-- request 17 of bob"
# The frames whose lines are written anew, rather than added to.
NOTED = {"gdb": r"#\d+  0x", "lldb": r"[ *]+frame #", "valgrind": r"==\d+==    (at|by) ", "asan": r"    #\d", "ubsan": r"    #\d", "msan": r"    #\d",
         "tsan": r"    #\d", "asan unindented": r"#\d", "apple": r"\d+ ", "llvm-dump": r"\d+ "}


@pytest.mark.parametrize("indent", ["", "    "], ids=["flush", "indented"])
@pytest.mark.parametrize("name", NOTED)
def test_notes_behind_frames(callsign, indexes, name, indent):  # noqa: F811
    """What somebody wrote behind a frame stays; of inlined calls that become lines, behind the last one."""
    text = "\n".join(line + NOTE if re.match(NOTED[name], line) else line for line in text_of(name).split("\n"))
    done = callsign.run("stack", "--in-place", *indexes[name], stdin=indented(text, indent))
    assert done.stdout.count(NOTE) == text.count(NOTE) > 1
    assert done.stdout.replace(NOTE, "") == indented(filled(name), indent)
    assert callsign.run("stack", "--in-place", *indexes[name], stdin=done.stdout).stdout == done.stdout


MAPS = "555555554000-555555555000 r--p 00000000 08:01 12  /opt/app/orders\n555555555000-555555556000 r-xp 00001000 08:01 12  /opt/app/orders\n\n"


@pytest.mark.parametrize("line", ["    #0  0x000055555555527b request 12 of bob", "\t#1  0x0000555555555461 request 13 of eve",
                                  "                #6  0x0000555555555131 n/a (orders + 0x1131) (truncated"])
def test_lines_of_nobodys_form(callsign, line):
    """An address that can be placed, behind a number, makes no frame of a line that goes on in no form of a frame."""
    text = MAPS + line + "\n"
    assert callsign.run("stack", "--in-place", "--no-search", *BOTH, stdin=text).stdout == text


def test_an_indented_backtrace_keeps_what_gdb_knew(callsign):
    """gdb 13.1's bt; the addresses are those of tests/data/stacks/README, the mappings follow. llvm-symbolizer names what is missing."""
    stack = ("    #0  0x000055555555527b in on_check (text=0x1 \"x\")\n    #1  0x0000555555555461 in ?? ()\n"
             "    #2  0x0000555555555131 in ?? ()\n      from /opt/app/orders\n")
    done = callsign.good("stack", "--in-place", "--no-search", *BOTH, stdin=stack + MAPS)
    assert done == ("    #0  0x000055555555527b in on_check (text=0x1 \"x\")\n    #1  0x0000555555555461 in main () at /opt/app/orders.c:31\n"
                    "    #2  0x0000555555555131 in _start ()\n      from /opt/app/orders\n" + MAPS)


@pytest.mark.parametrize("line", ["{}  $0000000010000066", "{}#3  0x10000065 in ???", "{}??:? [0x10000065]", "{}???:?:?: 0x10000065 in ??? (???)",
                                  "{}#00 abs 00007f1af0000065 virt 0000000010000065 _kDartIsolateSnapshotInstructions+0x65"])
@pytest.mark.parametrize("indent", ["", "    ", "\t"], ids=["flush", "4", "tab"])
def test_a_line_alone(callsign, line, indent):
    """Of a run-time library's stack, without those before it. Of Free Pascal's, the first one is where the program failed."""
    text = line.format(indent)
    done = callsign.good("stack", "--in-place", "--no-search", *FIXED, stdin=text + "\n")
    assert done.startswith(text + " (orders_load at /opt/app/liborders.c:2")


def test_a_frame_of_gdb_that_was_cut(callsign):
    """It is no frame of gfortran's, which prints the byte before the return."""
    text = "#3  0x0000000010000066 in parse_line\n"
    assert callsign.run("stack", "--in-place", "--no-search", *FIXED, stdin=text).stdout == text


# ---- rows of tables ----

@pytest.mark.parametrize("line", [
    " 80683  280469      0      0  3  0x40014200  acpi0         acpi0", " 62201   72766      0      0  3  0x40014200                idle1",
    "  5  name  0x40000005  f + 1", "  0  name  0x40000005  f + 1", "  5  name  0x0000000040000005  f + 1", "  0  name  0x0000000040000005  used",
    "  (0x401139 0x401200)", "  (0x401139 0x401200 0x401300)", "(0x7f0012340000 0x7f0012350000)", "  $00401139", "$00401139  mov eax, 1"])
def test_rows_of_tables_are_no_frames(callsign, line):
    """The first two are of OpenBSD's ddb, `ps` (github.com/google/syzkaller, pkg/report/testdata/openbsd)."""
    done = callsign.run("stack", "--no-search", *FIXED, stdin=f"   PID     TID\n{line}\n{line}\n\ntext\n{line}\n")
    assert not done.stdout and "no call stacks recognized" in done.stderr


@pytest.mark.parametrize("line", ["5   liborders.so   0x00000001030c4161 0x1030c3000 + 4449", "5   liborders.so   0x030c4161 0x30c3000 + 4449",
                                  "0   liborders.so   0x00000001030c4161 liborders.so + 4449"])
@pytest.mark.parametrize("indent", ["", "    ", "\t"], ids=["flush", "4", "tab"])
def test_a_frame_of_a_crash_report_alone(callsign, line, indent):
    done = callsign.good("stack", "--in-place", "--no-search", *BOTH, stdin=f"{indent}{line}\n")
    assert done.startswith(indent + line.split(" 0x30c3000")[0].split(" 0x1030c3000")[0].split(" liborders.so +")[0] + " orders_load + 9 (liborders.c:2")


@pytest.mark.parametrize("head", ["Runtime error 216 at $1000003E\n", "An unhandled exception occurred at $1000003E:\nEAccessViolation: Access violation\n"])
@pytest.mark.parametrize("indent", ["", "    "], ids=["flush", "indented"])
def test_errors_of_32_bit_programs_of_free_pascal(callsign, head, indent):
    text = indented(head + "  $1000003E\n  $10000066\n", indent)
    done = callsign.good("stack", "--in-place", "--no-search", *FIXED, stdin=text)
    assert done.count("$1000003E (check at /opt/app/liborders.c:9") == 1 and "  $10000066 (orders_load at /opt/app/liborders.c:21)\n" in done


@pytest.mark.parametrize("text", ["*** First throw call stack:\n(0x1000003f 0x10000066)\n", "*** Call stack at first throw:\n\n(0x1000003f 0x10000066)\n",
                                  "Last Exception Backtrace:\n(0x1000003f 0x10000066)\n"])
def test_exceptions_of_apple(callsign, text):
    for indent in ("", "    "):
        done = callsign.good("stack", "--in-place", "--no-search", *FIXED, stdin=indented(text, indent))
        assert "0x10000066 (orders_load at /opt/app/liborders.c:21))\n" in done
