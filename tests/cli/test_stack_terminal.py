"""callsign stack on logs that a terminal or a log shipper has passed on: without the blanks before lines, with blanks behind them, wrapped.

The texts are the samples of test_stack_logs.py, and its programs."""
import json
import re

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
