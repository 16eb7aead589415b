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


BEYOND = {
    "coredump": "                #0  0x0000000000900004 n/a (app + 0x500004)\n",
    "minidump": " 0  app + 0x500004\n    rip = 0x0000000000900004\n",
    "machine": "0|0|app||||0x500004\n",
    "mozilla": "#01: ???[/opt/app +0x500004]\n",
    "jvm": "C  [app+0x500004]  area+0x9\n",
    "wine": "=>0 0x0000000000900004 in app (+0x500004) (0x000000000021fe30)\n",
    "dotnet": "   at app!<BaseAddress>+0x500004\n",
    "json": json.dumps({"crash_info": {}, "modules": [{"filename": "app", "base_addr": "0x00400000", "end_addr": "0x00a00000"}], "threads": [
        {"frames": [{"frame": 0, "function": None, "module": "app", "module_offset": "0x00500004", "offset": "0x0000000000900004"}]}]}),
    # less the bias, of which a program that is not relocated has none
    "glibc": "/opt/app(+0x900004)[0x900004]\n", "sanitizer": "    #0 0x900004  (/opt/app+0x900004)\n",
    "llvm": " #0 0x0000000000900004 (/opt/app+0x900004)\n", "plain": "app+0x900004\n",
}


@pytest.mark.parametrize("kind", BEYOND)
def test_offsets_beyond_the_base(callsign, tmp_path, kind):
    """A program of 6 MiB that is linked at 0x400000: its offsets may look like addresses of it."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x401000, "size": 0x10, "name": "first"}, {"start": 0x500000, "size": 0x1000, "name": "near"},
                                            {"start": 0x900000, "size": 0x1000, "name": "far"}], base=0x400000)
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", tmp_path / "app.gsym", stdin=BEYOND[kind]))
    assert [frame["frames"][0]["function"] for frame in answer["frames"][:1]] == ["far"]


@pytest.mark.parametrize("base, first", [(0x400000, 0x400000), (0x1000, 0x1100)])
def test_offsets_of_an_unknown_base(callsign, tmp_path, base, first):
    """An index that begins with its first function may be of an image at 0."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": first, "size": 0x10, "name": "first"}, {"start": 0x500000, "size": 0x1000, "name": "near"},
                                            {"start": base + 0x500000, "size": 0x1000, "name": "far"}], base=base)
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", tmp_path / "app.gsym", stdin=BEYOND["minidump"]))
    assert answer["frames"][0]["frames"][0]["function"] == "near"
