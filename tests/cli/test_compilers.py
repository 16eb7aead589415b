"""A small matrix of compilers, optimisation, DWARF versions and compressed sections; the marks of the program tell the
truth for each. (tests/diff has the large matrix.)"""
import json

import pytest

import programs
from programs import need

MARKS = ["square", "area", "hidden", "outer", "main"]


def check(callsign, program, folder):
    index = folder / "index"
    callsign.good("convert", "--strict", program.path, "-o", index)
    callsign.good("verify", index)
    answers = callsign.good("lookup", "--json", index, *[hex(program.mark(m)) for m in MARKS]).splitlines()
    for mark, line in zip(MARKS, answers):
        frames = json.loads(line)["frames"]
        assert [(f["function"], f["line"], f["inlined"]) for f in frames] == program.frames(mark), (mark, line)
        assert {f["file"] for f in frames} == {str(program.source)}


@pytest.mark.parametrize("zip_flag", ["-gz=none", "-gz=zlib"])
@pytest.mark.parametrize("version", [2, 3, 4, 5])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["gcc", "clang", "clang-22"])
def test_matrix(callsign, tmp_path, compiler, level, version, zip_flag):
    flags = ["-g", f"-gdwarf-{version}", level, zip_flag]
    check(callsign, programs.build_shapes(tmp_path, need(compiler), flags), tmp_path)


@pytest.mark.parametrize("flags", [["-static"], ["-no-pie"], ["-ffunction-sections", "-Wl,--gc-sections"],
                                   ["-fdebug-types-section"], ["-gdwarf64"], ["-g3"], ["-flto"]], ids=lambda f: f[0])
def test_other_flags(callsign, tmp_path, gcc, flags):
    check(callsign, programs.build_shapes(tmp_path, gcc, ["-g", "-O2", *flags]), tmp_path)
