"""Frames of texts that do not tell where modules lie, placed by what their lines call the function."""
import json

import pytest

import gsym_make

BIAS = 0x7f1af1000000


@pytest.fixture
def library(tmp_path):
    gsym_make.write(tmp_path / "liborders.so.gsym", [
        {"start": 0x1010, "size": 0x80, "name": "orders_main", "line": 1},
        {"start": 0x2010, "size": 0x80, "name": "_RNCNvNtCsdB8Mm9gPSJZ_6orders4file4load0B5_", "line": 2},
        {"start": 0x3110, "size": 0x80, "name": "_ZN6orders4file5otherE", "line": 3},
        {"start": 0x4010, "size": 0x80, "name": "_RNvXs_NtCsdB8Mm9gPSJZ_6orders4fileNtB4_4CartNtNtCs5_4core3fmt5Debug3fmt", "line": 4},
        {"start": 0x5010, "size": 0x80, "name": "_ZN12_GLOBAL__N_15checkIiEEvT_", "line": 5}])
    return tmp_path / "liborders.so.gsym"


def lines(callsign, library, frames):
    """Of stacks of gdb whose first frame tells where the library lies."""
    text = f"#0  0x{BIAS + 0x1024:016x} in orders_main () from /opt/liborders.so\n"
    text += "".join(f"#{i}  0x{BIAS + address:016x} in {name} () from /opt/liborders.so\n" for i, (address, name) in enumerate(frames, 1))
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", library, stdin=text))
    return [frame["frames"][-1]["line"] if frame["frames"] else None for frame in answer["frames"]][1:]


@pytest.mark.parametrize("address, name, line", [
    (0x2030, "orders::file::load::{closure#0}", 2), (0x2030, "orders::file::load::{{closure}}", 2), (0x2030, "orders::file::load::<u8>::{closure#0}", 2),
    (0x4030, "<orders::file::Cart as core::fmt::Debug>::fmt", 4), (0x4030, "<orders::file::Cart as core::fmt::Debug>::fmt::<core::fmt::Formatter>", 4),
    (0x5030, "(anonymous namespace)::check<int>", 5), (0x5030, "(anonymous namespace)::check<std::map<int, int> >", 5)])
def test_parts_of_names(callsign, library, address, name, line):
    """The index has them mangled. At another function's place the name is no reason to take that one."""
    assert lines(callsign, library, [(address, name), (0x3130, name)]) == [line, None]
