"""The stand-ins: their names, their answers against those of the tools, and clients that hold both ends of a pipe."""
import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import subprocess
import sys

import pytest

import fuzz_stand_ins
import stand_in_draws
import stand_in_pairs
import stand_in_programs
from programs import need, wait_for

# The tools that are compared with: GNU binutils 2.40, LLVM 22, elfutils 0.188.
VERSIONS = {"addr2line": "2.40", "llvm-gsymutil": "22.", "llvm-symbolizer": "22.", "llvm-addr2line": "22.", "eu-addr2line": "0.188"}
RUNS, RUNS_IN_SHORT = 400, 120


@pytest.fixture(scope="session")
def folder(tmp_path_factory, callsign):
    stand_in_pairs.CALLSIGN = callsign.path
    return tmp_path_factory.mktemp("stand_ins")


@pytest.fixture(scope="session")
def programs(folder):
    found = stand_in_programs.build(folder / "programs", {"c-gcc", "c-obj.o", "c-strip", "cc-gcc", "cc-link", "c-clang", "cc-split",
                                                          "c-gcc4"})
    if "c-gcc" not in found:
        pytest.skip("gcc is not installed")
    return found


@pytest.fixture
def runs(request):
    """Of requests that are drawn at random."""
    return RUNS_IN_SHORT if request.config.getoption("short") else RUNS


def pair_for(dialect, folder):
    pair = stand_in_pairs.Pair(dialect, folder)
    if pair.is_missing:
        pytest.skip(f"{stand_in_pairs.TOOLS[dialect]} is not installed")
    if VERSIONS[dialect].encode() not in pair.run("theirs", ["--version"]).out:
        pytest.skip(f"{dialect} is not of version {VERSIONS[dialect]}")
    return pair


@pytest.mark.parametrize("dialect", ["addr2line", "eu-addr2line", "llvm-addr2line", "llvm-symbolizer"])
def test_answers_are_those_of_the_tool(dialect, folder, programs, runs):
    pair_for(dialect, folder)
    counts = fuzz_stand_ins.fuzz(dialect, runs, 7, folder, only=set(programs))
    assert counts.runs >= runs and counts.differences == 0


@pytest.mark.parametrize("name", ["c-gcc", "cc-gcc"])
@pytest.mark.parametrize("dialect", ["addr2line", "eu-addr2line", "llvm-addr2line"])
def test_where_functions_begin_and_end(dialect, name, folder, programs):
    """Each address asked alone: a unit that an earlier address opened is found in another way. In each program a function begins a unit."""
    if name not in programs:
        pytest.skip(f"no compiler for {name}")
    pair = pair_for(dialect, folder)
    listing = subprocess.run(["nm", "-S", programs[name]], capture_output=True, text=True, check=True).stdout
    symbols = [line.split() for line in listing.splitlines() if line.split()[2:3] in (["T"], ["t"])]
    assert {"main"} <= {symbol[3] for symbol in symbols}
    for start, size in {(int(symbol[0], 16), int(symbol[1], 16)) for symbol in symbols}:
        for addr in (start, start + size - 1, start + size):
            arguments = ["-f", "-e", name, hex(addr)]
            difference = pair.compare(arguments, b"", folder / "programs")
            assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)


# the rows go on where the unit ends, after two bytes
UNIT_SHORTER_THAN_ITS_ROWS = """
        .file "x.c"
        .file 1 "x.c"
        .text
f:      .loc 1 3
        nop
        nop
        .loc 1 4
        nop
        nop
        .size f, 4
        .globl _start
_start: ret
        .section .debug_abbrev,"",@progbits
        .byte 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 6, 0, 0, 0
        .section .debug_info,"",@progbits
        .long 2f-1f
1:      .value 4
        .long 0
        .byte 8, 1
        .long 0
        .quad f
        .long 2
2:
"""


@pytest.mark.parametrize("dialect", ["addr2line", "eu-addr2line", "llvm-addr2line"])
def test_rows_after_the_end_of_their_unit(dialect, folder, tmp_path):
    pair = pair_for(dialect, folder)
    (tmp_path / "x.s").write_text(UNIT_SHORTER_THAN_ITS_ROWS)
    done = subprocess.run(["gcc", "-nostdlib", "-static", "-o", "x", "x.s"], cwd=tmp_path, capture_output=True, check=False)
    if done.returncode or platform.machine() != "x86_64":
        pytest.skip("no x86-64 compiler")
    listing = subprocess.run(["nm", "x"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    start = next(int(line.split()[0], 16) for line in listing.splitlines() if line.endswith(" t f"))
    for addr in range(start, start + 6):
        arguments = ["-f", "-e", "x", hex(addr)]
        difference = pair.compare(arguments, b"", tmp_path)
        assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)


def need_programs(folder, *names):
    found = stand_in_programs.build(folder / "programs", set(names))
    if set(names) - set(found):
        pytest.skip(f"not installed: {', '.join(sorted({stand_in_programs.RECIPES[name].split()[0] for name in names if name not in found}))}")


@pytest.mark.parametrize("dialect", ["llvm-addr2line", "llvm-symbolizer"])
def test_webassembly(dialect, folder, runs):
    """Symbols are LLVM's own: indexes, places in the file, data of the linking section."""
    need_programs(folder, "c-wasm", "c-wasm.o")
    pair_for(dialect, folder)
    counts = fuzz_stand_ins.fuzz(dialect, runs, 7, folder, only={"c-wasm", "c-wasm.o"})
    assert counts.runs >= runs and counts.differences == 0


def test_addr2line_with_a_generic_target(folder, programs):
    """It relocates nothing, so an object that is not linked has no DWARF for it."""
    pair = pair_for("addr2line", folder)
    for target in ("elf64-little", "elf64-x86-64"):
        for name in ("c-obj.o", "c-gcc"):
            arguments = ["-fi", f"--target={target}", "-e", name]
            difference = pair.compare(arguments, b"0\n10\n20\n40\n1200\n", folder / "programs")
            assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)


@pytest.mark.parametrize("arguments", [["-e", "nosuch"], ["-e", "."], ["-e", "/dev/null"], ["-e", "demo.c"], ["-e", "empty"],
                                       ["-e", "c-gcc", "-j", ".nosuch"], ["-e", "c-gcc", "-b", "nosuch"], ["-Z"], ["--exe"],
                                       ["@nosuch"], ["@options", "0x1139"], ["@."], ["-C", "--demangle=nosuch"], ["-v"], ["-H"],
                                       ["-e", "ar.a"], ["1139"]])
def test_addr2line_fails_like_the_tool(arguments, folder, programs):
    where = folder / "programs"
    (where / "empty").write_bytes(b"")
    (where / "options").write_text("-e c-gcc  -f '-i'\n\"-a\"\n")
    (where / "ar.a").write_bytes(b"!<arch>\n")
    difference = pair_for("addr2line", folder).compare(arguments, b"0x1139\n", where)
    assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)


@pytest.mark.parametrize("arguments", [["--obj=nosuch", "0x1"], ["--obj=nosuch", "--output-style=JSON"], ["--obj=.", "1"], ["--obj=demo.c", "1"],
                                       ["--obj="], ["-Z"], ["-apZ"], ["-0x1"], ["--obj"], ["-e"], ["--inl"], ["--basename"], ["--demangle=false"],
                                       ["--adjust-vma=zz"], ["--print-source-context-lines=-1"], ["--cache-size=x"], ["--build-id=zz"],
                                       ["--build-id=aabb", "1"], ["--build-id=aabb", "--obj=c-gcc"], ["-v"], ["--help"], ["nosuch", "0x1"],
                                       ["--output-style=JSON", "nosuch 0x1", "x"], ["-p", "--output-style=JSON", "--obj=c-gcc", "main", "FRAME 0x1200"],
                                       ["@options2", "main"], ["--build-id=abc", "1"], ["BUILDID:abc 1"], ["-C=x"], ["--exee"], ["--dwq=3"], ["--obk"],
                                       ["--colors"], ["--exf=" + "a" * 300]])
def test_llvm_symbolizer_fails_like_the_tool(arguments, folder, programs):
    where = folder / "programs"
    (where / "options2").write_text("--obj=c-gcc '-a'\n--verbose")
    lines = b"CODE\n\n \nc-gcc\nCODE \"c-gcc 1\nFILE:FILE:x 1\nBUILDID:zz 1\nFILE:\nc-gcc 12zz\nc-gcc:x86_64 main\n" + b"9" * 3000 + b"\n0x1"
    difference = pair_for("llvm-symbolizer", folder).compare(arguments, lines, where)
    assert difference is None, stand_in_pairs.show_difference(arguments, lines, difference)


@pytest.mark.parametrize("arguments", [["-e", "nosuch", "1"], ["-e", ".", "1"], ["-e", "demo.c", "1"], ["-q"], ["--nosuch"], ["-e"], ["-e", "c-gcc", "-e", "c-gcc"],
                                       ["-V"], ["--help"], ["--usage"], ["1"], ["-e", "c-gcc", "-j", ".text", "10"],
                                       ["-e", "c-obj.o", "-j", ".text", "4", "1000"], ["-e", "c-obj.o", "(.text)+4"], ["-e", "c-gcc", "(.text)+4"],
                                       ["-e", "c-gcc", "zz", "main", "main+4", "main-4", "main+1000", "", "main+", "1173zz"], ["-e", "c-gcc"]])
def test_eu_addr2line_fails_like_the_tool(arguments, folder, programs):
    lines = b"\n\n \n0x1139\nmain\nzz\n" + b"1" * 5000 + b"\n12"
    difference = pair_for("eu-addr2line", folder).compare(arguments, lines, folder / "programs")
    assert difference is None, stand_in_pairs.show_difference(arguments, lines, difference)


def same_for_eu_addr2line(folder, where, arguments, lines=b""):
    difference = pair_for("eu-addr2line", folder).compare(arguments, lines, where)
    assert difference is None, stand_in_pairs.show_difference(arguments, lines, difference)


def test_eu_addr2line_keeps_the_width_of_the_first_address(folder, programs):
    need_programs(folder, "c-arm32")
    for lines in (b"ffffffffffffffff\n400\n", b"400\nffffffffffffffff\n", b"top + 3\nffffffffffffffff\n700\n"):
        same_for_eu_addr2line(folder, folder / "programs", ["-a", "-e", "c-arm32"], lines)


SUFFIXED = ["_ZN4core3fmt17h0123456789abcdefE", "_ZN28_$LT$alloc..vec..Vec$GT$3fmt17h0123456789abcdefE", "_ZN1a17h0123456789abcdefE.llvm.123",
            "_RNvC1a1b.llvm.12", "_Z1fv.llvm.123", "_Z1gv.cold", "_Z1hv.part.0.cold", "_Z1kv.x", "_Z1lv.123", "_Z1mv.Upper", "_ZN1b1cE.llvm.123",
            "_ZN1dE.cold", "_ZNK1x1yEi.cold", "_ZTV3foo.llvm.12", "_ZZ4mainE1x.0", "_ZZ4mainvE1x.0", "_Z1tIiET_S0_.cold", "_Z1nv.llvm.12.cold.1",
            "_Z1nv._omp_fn.0", "_Z1nPFvvE.resume", "_ZNO1q1rEv.cold", "_ZGVZ1fvE1x.llvm.1"]


LOCAL = ["_ZZ1fIiEvT_ENK3fooclEv", "_ZZ1fIiEPKcT_EN3barC1Ev", "_ZZN2ns1gIJidEEEvDpT_E1x", "_ZZN12_GLOBAL__N_11hIiEEmvEN1aD2Ev", "_ZZlsI1AERS0_S1_T_E3tmp",
         "_ZZN1BcvT_IiEEvEN1c1dEv", "_ZZZ1fIiEvT_E1gE1h", "_ZZ1kvENKUlvE_clEv", "_ZZ1mIiEDavENKUlvE_clEv", "_ZZN1Sclv1iE2jj", "_ZZN1SltIiEEbT_E1v", "_ZZplI1AERS0_S1_T_E3tmp",
         "_ZZleI1AEiT_E3tmp", "_ZZN1AptI1BEEiT_E1c", "_ZZN1AixI1BEEiT_E1c", "_ZZN1AclI1BEEiT_E1c"]


@pytest.mark.parametrize("dialect", ["eu-addr2line", "addr2line"])
def test_names_of_local_things(dialect, folder, tmp_path):
    """Without what the function around them returns."""
    (tmp_path / "a.c").write_text("".join(f'int f{i}(void) __asm__("{name}"); int f{i}(void) {{ return {i}; }}\n' for i, name in enumerate(LOCAL)))
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "a.c", "-o", "a.so"], cwd=tmp_path, check=True)
    listing = subprocess.run(["nm", "a.so"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    places = [line.split()[0] for line in listing.splitlines() if line.split()[-1] in LOCAL]
    difference = pair_for(dialect, folder).compare(["-C", "-f", "-e", "a.so", *places], b"", tmp_path)
    assert len(places) == len(LOCAL) and difference is None, stand_in_pairs.show_difference(["-C"], b"", difference)


@pytest.mark.parametrize("dialect,option", [("eu-addr2line", "-C"), ("addr2line", "-C"), ("addr2line", "--demangle=gnu-v3"), ("addr2line", "--demangle=rust"), ("addr2line", "--demangle=java")])
def test_names_with_suffixes(dialect, option, folder, tmp_path):
    """Suffixes of compilers, and names of Rust: eu-addr2line and gnu-v3 read only C++."""
    (tmp_path / "a.c").write_text("".join(f'int f{i}(void) __asm__("{name}"); int f{i}(void) {{ return {i}; }}\n' for i, name in enumerate(SUFFIXED)))
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "a.c", "-o", "a.so"], cwd=tmp_path, check=True)
    listing = subprocess.run(["nm", "a.so"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    places = [line.split()[0] for line in listing.splitlines() if line.split()[-1] in SUFFIXED]
    assert len(places) == len(SUFFIXED)
    difference = pair_for(dialect, folder).compare([option, "-f", "-e", "a.so", *places], b"", tmp_path)
    assert difference is None, stand_in_pairs.show_difference([option], b"", difference)


ADA = ["ada", "text_io", "a1_2", "x", "__", "__", "___", "_", "2", "__3_1", "Xnb", "X", "TKB", "TK__", "P", "N", "E", "S", "SR", "SW", "SI_", "SO", "SQ", "DF", "DA",
       "DQ", "_B12s", "_E3", "_E3s", "___elabs", "___elabb", "___size", "___alignment", "___assign", "__Oadd", "__Oeq", "__Oexpon", "__Onix", ".4", ".", "_ada_", "Z"]


def test_names_of_ada(folder, tmp_path):
    """Parts of them in any order, and names of other languages."""
    pair, rng = pair_for("addr2line", folder), random.Random(3)
    names = {"".join(rng.choice(ADA) for _ in range(rng.randrange(1, 6))) for _ in range(3000)} | {"main", "Main", "_Z1fv", "_ada_main", "_ada_Main"}
    names = sorted(name for name in names if not name[0].isdigit() and name[0] != ".")
    (tmp_path / "a.s").write_text(".text\n" + "".join(f'.globl "{name}"\n.type "{name}", @function\n"{name}": nop\n.size "{name}", 1\n' for name in names))
    subprocess.run([need("gcc"), "-c", "a.s", "-o", "a.o"], cwd=tmp_path, check=True)
    lines = "".join(f"{at:x}\n" for at in range(len(names))).encode()
    difference = pair.compare(["--demangle=gnat", "-f", "-e", "a.o"], lines, tmp_path)
    assert len(names) > 1000 and difference is None, stand_in_pairs.show_difference([], b"", difference)


@pytest.mark.parametrize("name,base", [("c-pe.exe", 0x140000000), ("c-pe32.exe", 0x400000)])
def test_symbols_of_pe_images(name, base, folder):
    """Those of sections end the symbol before them; those with a dot that define none are names."""
    pair, where = pair_for("llvm-symbolizer", folder), folder / "programs"
    if name not in stand_in_programs.build(where, {name}):
        pytest.skip("x86_64-w64-mingw32-gcc is not installed")
    rng = random.Random(11)
    lines = "".join(f"{rng.choice(('CODE', 'DATA'))} {base + 0x1000 + rng.randrange(0x9000):#x}\n" for _ in range(4000)).encode()
    difference = pair.compare(["--output-style=JSON", f"--obj={name}"], lines, where)
    assert difference is None, stand_in_pairs.show_difference([name], b"", difference)


@pytest.mark.parametrize("name", ["c-pe.exe", "c-pe32.exe", "c-coff32.o"])
def test_addr2line_finds_symbols_of_windows(name, folder):
    """With the underscore of 32-bit Windows and without one, but not without two."""
    need_programs(folder, name)
    pair, where = pair_for("addr2line", folder), folder / "programs"
    requests = "top _top __top main _main __main _main_ WinMainCRTStartup _WinMainCRTStartup mainCRTStartup _imp__puts __imp__puts tls_used _tls_used".split()
    for arguments in (["-fa"], ["-faC"]):
        difference = pair.compare([*arguments, "-e", name, *requests], b"", where)
        assert difference is None, stand_in_pairs.show_difference([name, *arguments], b"", difference)


# Kinds of names in which LLVM's words and GNU's differ, as g++ mangles them in real programs.
CXX = """_ZGVZ9stringifyImENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKT_E2ss _ZZ1fIiEivE1x _ZTI1S _ZThn8_N1S1fEv _ZTv0_n24_N1A1fIiEEiv
_ZNSt19_Sp_counted_deleterIPKN7rocksdb8SnapshotESt5_BindIFMNS0_19TransactionBaseImplEFvS3_PNS0_2DBEEPS5_EESaIvEE10_M_disposeEv _ZTHN7rocksdb12perf_contextE
_ZNSt15_Sp_counted_ptrIDnLi2EE10_M_disposeEv _ZN2FpIXadL_Z2fncEEE1kEv _ZN7rocksdb6crc32c10ExtendImplIXadL_ZNS0_L10Fast_CRC32EPmPPKhEEEEjjPKcm _ZL3fooIbEbv
_ZTSZN1A5ParseERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEUlS7_S7_E_ _ZZN1A5ParseERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEENKUlS7_S7_E_clES7_S7_
_ZN1S1hIbEEPFvcET_ _Z1fIiERA4_iv _ZN1S1pIjEEPT_OS1_ _ZNK1S1gIxEEiT_ _Z3arrPA4_iRA5_iPFPcPbE _ZN1ScvPT_IbEEv _ZNK1OmlEi _ZN1OmLES_ _ZN1OptEv _ZN1OpmEi _ZlsIiERiS0_
_ZN1AltIiEEbv _Z2chILc65EEiv _Z2boILb1EEiv _Z2llILxn5EEiv _Z2twIcET_S0_PS0_PVPKS0_ynhaDsDie _Z1f6JArrayIPS_IbEE _ZN1x6JArrayIiE1zEPS1_ _Z1fSsSaIcESo _Z1fM1SFivE
_ZN12_GLOBAL__N_11fIiEEiT_ _ZNKSt8functionIFvPFvPvEEEclES2_ _Z1fPFPFvcEiE _ZN1S1fIiEEiv.isra.0 _Z1fIiEiv.cold _ZnwmPc _Z1fPU3AS1i _Z1fjmxyPKcVPc
_ZN1AlSERKS_ _ZN1AlSIiEERS_T_ _ZN1ArSERKS_ _Z3useIXadL_ZN1ArsEiEEEvv _Z3useIXadL_ZN1AptEvEEEvv _Z3useIXadL_ZNK1A1gEvEEEvv _Z3useIXadL_ZNO1A1hEvEEEvv
_Z3useIXadL_Z1tIiEvT_EEEvv _Z3useIXadL_ZN1A1tIiEET_S1_EEEvv _Z3useIXadL_ZNK1A1uIiEET_S1_EEEvv _Z3useIXadL_ZN12_GLOBAL__N_12zzE1AEEEvv
_Z3useIXadL_ZN1AltIiEEbT_EEEvv _ZN1GIXadL_ZNKS_1A1gEvEEXadL_ZNS_1A1fEiEEE1xE _GLOBAL__I_main _GLOBAL__I__Z3foov
_GLOBAL__D__ZN1AC1Ev _GLOBAL_.I_a _GLOBAL_$D_a _GLOBAL__I__Zxx _GLOBAL__I__Z1fIiEvv _GLOBAL__X_a _ZGTtnwm _ZGTtNKSt9exception4whatEv
_ZNK1AcvNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEv _Z1fIKiEvRKT_ _Z1fIViEvPVT_ _Z1fI1AIKS0_EEvRKT_""".split()
# Vectors, complex numbers and floating arguments of templates, and what looks like them.
CXX_NUMBERS = {
    "_Z1fDv4_f": "f(float __vector(4))",
    "_Z28f<0x2p+99999999999999999999>v": "f<0x2p+99999999999999999999>()",    # identifiers: the exponents overflowed
    "_Z30g<0x1.8p-99999999999999999999>v": "g<0x1.8p-99999999999999999999>()",
    "_Z1fDv4_fDv2_dS_": "f(float __vector(4), double __vector(2), float __vector(4))",
    "_Z1fPFDv4_fvE": "f(float __vector(4) (*)())",
    "_Z1fDv4_Dv2_f": "f(float __vector(2) __vector(4))",
    "_Z1fRKDv16_h": "f(unsigned char __vector(16) const&)",
    "_Z1fCdPCe": "f(double _Complex, long double _Complex*)",
    "_Z1fRKCf": "f(float _Complex const&)",
    "_Z1fGd": "f(double _Imaginary)",
    "_Z1fICdEvT_": "void f<double _Complex>(double _Complex)",
    "_ZN1AcvCdEv": "A::operator double _Complex()",
    "_Z7complexIiEdT_": "double complex<int>(int)",
    "_ZN7complex1fIiEEdv": "double complex::f<int>()",
    "_Z1f7complex": "f(complex)",
    "_ZN1Acv7complexEv": "A::operator complex()",
    "_Z1f6vectorA4_S_": "f(vector, vector [4])",
    "_Z1fILd4010000000000000EEvv": "void f<(double)[4010000000000000]>()",
    "_Z1fILfc0800000EEvv": "void f<(float)[c0800000]>()",
    "_Z1fILf80000000ELd0000000000000000EEvv": "void f<(float)[80000000], (double)[0000000000000000]>()",
    "_Z1fILd400921fb54442d18EEvv": "void f<(double)[400921fb54442d18]>()",
    "_Z1fILd000fffffffffffffELd0000000000000001EEvv": "void f<(double)[000fffffffffffff], (double)[0000000000000001]>()",
    "_Z1fILd7fefffffffffffffELf00000001ELf7f7fffffEEvv": "void f<(double)[7fefffffffffffff], (float)[00000001], (float)[7f7fffff]>()",
    "_Z1fILe4001c90fdaa22168c235ELe80000000000000000001EEvv": "void f<(long double)[4001c90fdaa22168c235], (long double)[80000000000000000001]>()",
    "_ZN1SILd3ff8000000000000EE1fEv": "S<(double)[3ff8000000000000]>::f()",
}
# In the style of Java stars of conversions and arguments after some operators differ.
CXX_BUT_JAVA = "_ZN1XIiEcvPS_IlEEv _ZN1XIiEcvPSaIiEEv _Z3useIXadL_ZN1AltERKS_EEEvv".split()


def functions_named(names, folder):
    """a.o, with a function of one byte for each name, and requests for all."""
    (folder / "a.s").write_text(".text\n" + "".join(f'.globl "{name}"\n.type "{name}", @function\n"{name}": nop\n.size "{name}", 1\n' for name in names))
    subprocess.run([need("gcc"), "-c", "a.s", "-o", "a.o"], cwd=folder, check=True)
    return "".join(f"{at:#x}\n" for at in range(len(names))).encode()


# Arguments of an operator's type, and parameters in repeated types, which Callsign takes for those of something else than LLVM does.
CXX_PARAMETERS = "_ZN1XIiEcvPS_IlEEv _ZN1XIiEcvPSaIiEEv _Z2utI1LIXadL_Z2ttIiEvT_EEEEvS2_ _ZZ1fIiEDaT_ENKUlS0_iE_clI1QEEDaS0_i _ZZ1fiENKUlT_E_clIiEEDaS_".split()


@pytest.mark.parametrize("tool,arguments", [("llvm-symbolizer", ["--functions=linkage"]), ("llvm-addr2line", ["-f", "-C"])])
def test_names_of_cxx_in_llvms_words(tool, arguments, folder, tmp_path):
    lines = functions_named(CXX[:CXX.index("_ZGTtnwm")] + CXX_PARAMETERS, tmp_path)  # LLVM cannot read those after it
    difference = pair_for(tool, folder).compare([*arguments, "-e", "a.o"], lines, tmp_path)
    assert difference is None, stand_in_pairs.show_difference([tool], b"", difference)


@pytest.mark.parametrize("style", ["auto", "gnu-v3", "java"])
def test_names_of_cxx_in_gnu_words(style, folder, tmp_path):
    names = CXX + [*CXX_NUMBERS] + (CXX_BUT_JAVA if style != "java" else [])
    lines = functions_named(names, tmp_path)
    difference = pair_for("addr2line", folder).compare([f"--demangle={style}", "-f", "-e", "a.o"], lines, tmp_path)
    assert difference is None, stand_in_pairs.show_difference([style], b"", difference)


@pytest.mark.parametrize("tool", ["addr2line", "eu-addr2line"])
def test_numbers_in_names_of_cxx_in_gnu_words(tool, callsign, folder, tmp_path):
    lines = functions_named(CXX_NUMBERS, tmp_path)
    assert callsign.good(tool, "-f", "-C", "-e", "a.o", stdin=lines, cwd=tmp_path).split("\n")[:-1:2] == [*CXX_NUMBERS.values()]
    difference = pair_for(tool, folder).compare(["-f", "-C", "-e", "a.o"], lines, tmp_path)
    assert difference is None, stand_in_pairs.show_difference([tool], b"", difference)


def test_eu_addr2line_finds_debug_files_by_a_list(folder, programs):
    where = folder / "programs"
    assert "cc-buildid" in stand_in_programs.build(where, {"cc-buildid"})
    for path in (f"{where}/dbg", f":-/nosuch:+{where}/dbg", "dbg", ":/nosuch", ""):
        same_for_eu_addr2line(folder, where, ["-f", f"--debuginfo-path={path}", "-e", "cc-buildid", "0x1500", "0x1a00"])


def test_eu_addr2line_with_ranges_of_several_units(folder, tmp_path):
    """Five units whose .debug_aranges all name the same place: the tool's binary search decides."""
    for i in range(5):
        (tmp_path / f"u{i}.c").write_text(f"int f{i}(int x) {{ return x * {i + 3}; }}\n" + "int main(void) { return 0; }\n" * (i == 0))
        subprocess.run(["gcc", "-O1", "-g", "-S", f"u{i}.c"], cwd=tmp_path, check=True)
        text = (tmp_path / f"u{i}.s").read_text()
        head, tail = text.split(".debug_aranges")
        tail = tail.replace(".quad\t.Ltext0", ".quad\tf0", 1).replace(".quad\t.Letext0-.Ltext0", ".quad\t0x1000", 1)
        (tmp_path / f"u{i}.s").write_text(head + ".debug_aranges" + tail)
    subprocess.run(["gcc", *(f"u{i}.s" for i in range(5)), "-o", "app"], cwd=tmp_path, check=True)
    same_for_eu_addr2line(folder, tmp_path, ["-f", "-e", "app", *(f"f{i}" for i in range(5)), *(f"f{i}+1" for i in range(5)), "main"])


def test_addr2line_at_the_end_of_a_unit(folder, tmp_path):
    """The first address behind a unit is not its own: here it belongs to code without debug information."""
    (tmp_path / "f.c").write_text("int f(int x) { return x + 1; }\n")
    (tmp_path / "after.s").write_text("\t.section .note.GNU-stack,\"\",@progbits\n\t.text\n\t.globl after\n\t.type after, @function\nafter:\tret\n\t.size after, 1\n")
    (tmp_path / "main.c").write_text("int f(int); int main(void) { return f(3); }\n")
    subprocess.run(["gcc", "-O2", "-g", "f.c", "after.s", "main.c", "-o", "app"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "-S", "app"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    start, size = re.search(r"^(\w+) (\w+) T f$", symbols, re.M).groups()
    end = int(start, 16) + int(size, 16)
    assert re.search(rf"^0*{end:x} \w+ T after$", symbols, re.M)
    for address in (end - 1, end):
        assert not pair_for("addr2line", folder).compare(["-f", "-e", "app", hex(address)], b"", tmp_path)


def test_eu_addr2line_after_the_last_row_of_a_unit(folder, tmp_path):
    """A row without an instruction, where the table ends: nothing after it is of the unit."""
    (tmp_path / "f.c").write_text("int f(int x) { return x + 1; }\n")
    (tmp_path / "main.c").write_text("int f(int); int main(void) { return f(3); }\n")
    subprocess.run(["gcc", "-O2", "-g", "-S", "f.c"], cwd=tmp_path, check=True)
    head, end, tail = (tmp_path / "f.s").read_text().partition("\t.cfi_endproc\n")
    (tmp_path / "f.s").write_text(head + "\t.loc 1 2 1\n" + end + tail)
    subprocess.run(["gcc", "f.s", "main.c", "-o", "app"], cwd=tmp_path, check=True)
    same_for_eu_addr2line(folder, tmp_path, ["-e", "app", *(f"f+{i}" for i in range(32)), "main"])


@pytest.fixture(scope="session")
def gsym_files(folder, programs):
    pair = pair_for("llvm-gsymutil", folder)
    where = folder / "programs" / "indexes"  # not beside the programs, where LLVM's symbolizer would read them
    where.mkdir()
    for name in ("c-gcc", "cc-gcc"):
        assert pair.run("theirs", [f"--convert=../{name}", "-o", f"{name}.gsym", "--quiet"], b"", where).code == 0
        assert pair.run("theirs", [f"--convert=../{name}", "-o", f"{name}.m.gsym", "--merged-functions", "--dwarf-callsites"], b"", where).code == 0
    return pair, where


@pytest.mark.parametrize("arguments", [
    ["c-gcc.gsym"], ["cc-gcc.gsym"], ["cc-gcc.m.gsym"], ["c-gcc.gsym", "cc-gcc.gsym", "--address=0x1205", "--address", "4096"],
    ["cc-gcc.gsym", "--address=0x99", "--address=0x1500", "--verbose"], ["cc-gcc.m.gsym", "--address=0x1500", "--address=0x99", "--merged-functions"],
    ["cc-gcc.m.gsym", "--address=0x1500", "--merged-functions", "--merged-functions-filter=zz"], ["--zz"], [], ["nosuch.gsym"], ["../demo.c"],
    ["--convert=nosuch"], ["--convert=../demo.c"], ["--convert=../c-gcc", "c-gcc"], ["--version"], ["--help"], ["-h"], ["c-gcc.gsym", "--address=zz"],
    ["--address"], ["--addresses-from-stdin"], ["--addresses-from-stdin", "--merged-functions"], ["--addresses-from-stdin", "--verbose"],
    ["--addresses-from-stdin", "c-gcc.gsym"], ["c-gcc.gsym", "--merged-functions-filter=a"], ["c-gcc.gsym", "--address=1", "--merged-functions-filter=a"],
    ["--callsites-yaml-file="], ["--convert=../c-gcc", "-o", "out.gsym", "--merged-functions"],
    ["-vh"], ["-hv", "x"], ["-vq"], ["-verbose", "c-gcc.gsym"], ["-address=1", "c-gcc.gsym"], ["-oz.gsym", "--convert=../c-gcc"], ["-vo", "x"], ["-o"],
    ["-h=3"], ["/dev/null"]])
def test_gsymutil_answers_like_the_tool(arguments, gsym_files):
    pair, where = gsym_files
    lines = b"0x1205 c-gcc.gsym\n0x99 c-gcc.gsym\n0x1500 cc-gcc.gsym\nzz c-gcc.gsym\n0x1 c-gcc.gsym\n"
    difference = pair.compare(arguments, lines, where)
    assert difference is None, stand_in_pairs.show_difference(arguments, lines, difference)


def test_gsymutil_addresses_one_by_one(gsym_files):
    pair, where = gsym_files
    addresses = [f"--address=0x{addr:x}" for addr in range(0x1000, 0x2200, 7)]
    for name in ("c-gcc.gsym", "cc-gcc.gsym", "cc-gcc.m.gsym"):
        difference = pair.compare([name, *addresses], b"", where)
        assert difference is None, stand_in_pairs.show_difference([name], b"", difference)


@pytest.fixture(scope="session")
def inputs(folder, programs):
    """The programs, and more of other compilers and machines, for conversions."""
    return programs | stand_in_programs.build(folder / "programs", set(CONVERTED))


def converted(pair, which, where, name, arguments):
    """What a conversion prints, and the files that it leaves."""
    for old in where.glob("converted*"):
        old.unlink()
    result = pair.run(which, ["--num-threads=1", f"--convert={name}", "--out-file=converted", *arguments], b"", where)
    return result, {path.name: path.read_bytes() for path in sorted(where.glob("converted*")) if path.stat().st_size}


CONVERTED = ["c-gcc", "c-gcc-O0", "c-clang4", "c-obj.o", "c-sections.o", "c-shared.so", "c-arm64", "c-arm32", "c-i686", "c-s390x", "c-pe.exe", "c-pe32.exe",
             "c-macho.o", "c-strip", "c-nodebug", "c-gcc2", "c-wasm", "cc-gcc", "cc-clang", "cc-split", "cc-clsplit.o", "cc-obj.o", "cc-types", "cc-dwz", "cc-link", "rs",
             "demo.c", "nosuch"]


@pytest.mark.parametrize("arguments", [[], ["--merged-functions", "--dwarf-callsites", "--quiet"], ["--segment-size=2000"], ["--segment-size=10"],
                                       ["--json-summary-file=converted.json"]], ids=" ".join)
def test_gsymutil_converts_like_the_tool(arguments, folder, inputs):
    pair = pair_for("llvm-gsymutil", folder)
    for name in CONVERTED:
        if name not in inputs and name not in ("demo.c", "nosuch", "cc-clsplit.o"):
            continue
        theirs, ours = (converted(pair, which, folder / "programs", name, arguments) for which in ("theirs", "ours"))
        assert theirs[0] == ours[0], stand_in_pairs.show_difference([name, *arguments], b"", (theirs[0], ours[0]))
        assert theirs[1] == ours[1], name


@pytest.mark.long_with_sanitizers
@pytest.mark.parametrize("name", ["c-gcc", "cc-gcc", "cc-split", "c-obj.o", "cc-obj.o"])
def test_gsymutil_verifies_like_the_tool(name, folder, inputs):
    if name not in inputs:
        pytest.skip(f"{name} could not be built")
    pair = pair_for("llvm-gsymutil", folder)
    theirs, ours = (converted(pair, which, folder / "programs", name, ["--verify"]) for which in ("theirs", "ours"))
    assert theirs[0] == ours[0], stand_in_pairs.show_difference([name], b"", (theirs[0], ours[0]))


def test_gsymutil_writes_through_links(folder, inputs, tmp_path):
    """A link was replaced by a file, and a private file by one that others can read."""
    if "c-obj.o" not in inputs:
        pytest.skip("c-obj.o could not be built")
    pair, seen = pair_for("llvm-gsymutil", folder), {}
    for which in ("theirs", "ours"):
        where = tmp_path / which
        where.mkdir()
        (where / "old").write_text("old")
        (where / "old").chmod(0o600)
        for link, target in (("first", "old"), ("second", "nowhere"), ("chain", "third"), ("third", "new"), ("circle", "circle")):
            (where / link).symlink_to(target)
        codes = [pair.run(which, [f"--convert={folder}/programs/c-obj.o", "--quiet", f"--out-file={name}"], b"", where)[0]
                 for name in ("first", "second", "chain", "circle")]
        seen[which] = codes, {path.name: (path.is_symlink(), path.exists() and (path.stat().st_mode, path.read_bytes())) for path in where.iterdir()}
    assert seen["ours"] == seen["theirs"] and seen["ours"][1]["chain"] == (True, seen["ours"][1]["new"][1])


SITES = ["functions:\n  - name: main\n    callsites:\n      - return_offset: 0x5\n        match_regex: [top, 'die.*']\n        flags: [InternalCall]\n",
         "", "functions: []\n", "functions: 3\n", "foo: 3\n", "functions:\n  - callsites: []\n", "functions:\n  - name: main\n    zzz: 3\n",
         "functions:\n  - name: nosuch\n    callsites:\n      - return_offset: 1\n        match_regex: []\n",
         "functions:\n  - name: main\n    callsites:\n      - return_offset: 1\n        match_regex: []\n        flags: [Foo]\n",
         "functions:\n  - name: main\n    callsites:\n      - return_offset: xyz\n        match_regex: []\n",
         "functions:\n  - name: main\n    callsites:\n", "functions:\n  - name: main\n    callsites: ~\n", "functions: null\n", "functions: \"\"\n",
         "functions:\n  - name: main\n    callsites:\n      - return_offset: 1\n        match_regex:\n        flags: [InternalCall, ExternalCall]\n",
         "functions:\n  - name: main\n    callsites:\n      - return_offset: 1\n", "functions:\n  - name: main\n    name: x\n", "functions:\n  - name: main\n"]


@pytest.mark.parametrize("text", SITES)
def test_gsymutil_reads_call_sites_like_the_tool(text, folder, programs):
    pair = pair_for("llvm-gsymutil", folder)
    (folder / "programs" / "sites.yaml").write_text(text)
    theirs, ours = (converted(pair, which, folder / "programs", "c-gcc", ["--callsites-yaml-file=sites.yaml"]) for which in ("theirs", "ours"))
    assert theirs == ours, stand_in_pairs.show_difference([text], b"", (theirs[0], ours[0]))


def test_gsymutil_writes_universal_files(folder, programs):
    pair = pair_for("llvm-gsymutil", folder)
    where = folder / "programs"
    if not shutil.which("llvm-lipo-22"):
        pytest.skip("llvm-lipo-22 is missing")
    for arch in ("x86_64", "arm64"):
        subprocess.run(["clang-22", "-target", f"{arch}-apple-macos11", "-O2", "-g", "-c", "-ffreestanding", "free.c", "-o", f"fat-{arch}.o"], cwd=where, check=True)
    subprocess.run(["llvm-lipo-22", "-create", "fat-x86_64.o", "fat-arm64.o", "-output", "fat"], cwd=where, check=True)
    for arguments in ([], ["--arch=arm64"], ["--arch=0x01000007"], ["--arch=x86_64", "--arch=arm64"], ["--arch=none"]):
        theirs, ours = (converted(pair, which, where, "fat", arguments) for which in ("theirs", "ours"))
        assert theirs == ours, stand_in_pairs.show_difference(arguments, b"", (theirs[0], ours[0]))
    symbolizer = pair_for("llvm-symbolizer", folder)
    for arguments in (["--obj=fat", "0"], ["--obj=fat:arm64", "0"], ["--obj=fat", "--default-arch=x86_64", "0", "main"]):
        difference = symbolizer.compare(arguments, b"", where)
        assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)


ASSEMBLY = """
.data
.globl foo
.type foo, @object
.size foo, 4
foo = . + 0x1100000000000000
.4byte 1
"""


def test_tags_of_addresses_are_removed(folder, programs):
    pair = pair_for("llvm-symbolizer", folder)
    (folder / "programs" / "tagged.s").write_text(ASSEMBLY)
    subprocess.run(["gcc", "-c", "tagged.s", "-o", "tagged.o"], cwd=folder / "programs", check=True)
    for arguments in (["--obj=tagged.o", "DATA 0"], ["--obj=tagged.o", "--no-untag-addresses", "DATA 0"], ['FILE:"foo']):
        difference = pair.compare(arguments, b"", folder / "programs")
        assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)


def made_large(program, path):
    """The program with 9 MiB of padding: an index of its addresses is kept."""
    padding = path.parent / "padding"
    padding.write_bytes(b"x" * (9 << 20))
    subprocess.run(["objcopy", "--add-section", f".padding={padding}", str(program), str(path)], check=True)
    return path


def damages(data):
    """A file of which one byte in each block of 4 KiB is changed in turn, and parts of it."""
    for at in (*range(40, len(data), 4096), len(data) - 1):
        yield data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:]
    yield data[:100]
    yield data[:-1]
    yield b""


@pytest.fixture
def large_program(folder, programs, tmp_path):
    """One whose answers are kept: it has 8 MiB."""
    return made_large(programs["c-gcc"], tmp_path / "large")


@pytest.mark.parametrize("dialect,arguments", [("addr2line", ["-fi", "-e", "large"]), ("eu-addr2line", ["-fi", "-e", "large"]),
                                               ("llvm-addr2line", ["-fi", "-e", "large"]), ("llvm-symbolizer", ["--obj=large"])])
def test_answers_are_kept(dialect, arguments, folder, large_program, tmp_path):
    pair = pair_for(dialect, folder)
    environment = dict(os.environ, CALLSIGN_CACHE=str(tmp_path / "cache"))
    start = stand_in_draws.code_addresses(large_program)[0][0]
    lines = "".join(f"0x{addr:x}\n" for addr in range(start & ~0xfff, (start & ~0xfff) + 0x1400, 5)).encode() + b"main\nzz\n"
    theirs = pair.run("theirs", arguments, lines, tmp_path)
    first = pair.run("ours", arguments, lines, tmp_path, environment)
    assert first == theirs
    kept = list((tmp_path / "cache/answers").iterdir())
    assert len(kept) == 1 and kept[0].stat().st_size > 1000
    assert pair.run("ours", arguments, lines, tmp_path, environment) == theirs
    only_kept = b"\n".join(lines.split(b"\n")[:-3]) + b"\n"
    expected = pair.run("theirs", arguments, only_kept, tmp_path)
    assert pair.run("ours", arguments, only_kept, tmp_path, environment) == expected  # the object is not opened
    again = pair.run("ours", arguments, lines + b"0x1\n", tmp_path, environment)
    assert again == pair.run("theirs", arguments, lines + b"0x1\n", tmp_path)
    for damage in (lambda data: data[:100], lambda data: b"", lambda data: data[:40] + b"\xff" * 8 + data[48:], lambda data: data[:-700]):
        kept[0].write_bytes(damage(kept[0].read_bytes()))
        assert pair.run("ours", arguments, lines, tmp_path, environment) == theirs


INDEX_OPTIONS = [("llvm-symbolizer", ["--obj=large"]), ("llvm-symbolizer", ["--obj=large", "--no-inlines", "-s", "--no-demangle"]),
                 ("llvm-symbolizer", ["--obj=large", "--output-style=GNU", "--relativenames", "-p", "-a"]), ("llvm-addr2line", ["-e", "large", "-fi", "-C"]),
                 ("llvm-addr2line", ["-e", "large"]), ("eu-addr2line", ["-e", "large", "-fi"]), ("eu-addr2line", ["-e", "large", "-fiC", "--pretty-print", "-a"]),
                 ("eu-addr2line", ["-e", "large", "-s", "-i"]), ("addr2line", ["-e", "large", "-fi"]), ("addr2line", ["-e", "large", "-fiCpas"]),
                 ("addr2line", ["-e", "large"])]


# eu-addr2line finds units by .debug_aranges, which clang does not write
INDEX_CASES = [(dialect, arguments, name, f"{dialect}-{i}-{name}") for i, (dialect, arguments) in enumerate(INDEX_OPTIONS)
               for name in ("c-gcc", "c-clang", "cc-gcc") if (dialect, name) != ("eu-addr2line", "c-clang")]


@pytest.mark.parametrize("dialect,arguments,name", [case[:3] for case in INDEX_CASES], ids=[case[3] for case in INDEX_CASES])
def test_kept_addresses_change_no_answer(dialect, arguments, name, folder, programs, tmp_path):
    if name not in programs:
        pytest.skip(f"no compiler for {name}")
    pair = pair_for(dialect, folder)
    large = made_large(programs[name], tmp_path / "large")
    environment = dict(os.environ, CALLSIGN_CACHE=str(tmp_path / "cache"))
    start = stand_in_draws.code_addresses(large)[0][0] & ~0xfff
    lines = [b"0x%x\n" % addr for addr in range(start, start + 0x1800, 7)]
    many, others = b"".join(lines[::2]), b"".join(lines[1::2]) + b"main\nzz\n0x1\n"
    assert pair.run("ours", arguments, many, tmp_path, environment) == pair.run("theirs", arguments, many, tmp_path)
    kept = wait_for(lambda: next((path for path in (tmp_path / "cache/addresses").glob("*") if "." not in path.name), None))
    shutil.rmtree(tmp_path / "cache/answers", ignore_errors=True)
    expected = pair.run("theirs", arguments, others, tmp_path)
    assert pair.run("ours", arguments, others, tmp_path, environment) == expected
    again = b"".join([*lines[1::20], b"main\n", *lines[1::40], b"zz\n", b"main+4\n", *lines[1::20]])
    assert pair.run("ours", arguments, again, tmp_path, environment) == pair.run("theirs", arguments, again, tmp_path)
    assert not (tmp_path / "cache/answers").exists()  # of an index no answers are kept
    data = kept.read_bytes()
    lock = os.open(kept.parent, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # none is made anew
    for damaged in damages(data):
        kept.write_bytes(damaged)
        assert pair.run("ours", arguments, others, tmp_path, environment) == expected
    os.close(lock)
    shutil.rmtree(tmp_path / "cache/answers", ignore_errors=True)
    assert pair.run("ours", arguments, others, tmp_path, environment) == expected
    wait_for(lambda: len(kept.read_bytes()) == len(data))
    everything = b"".join(lines)
    expected = pair.run("theirs", arguments, everything, tmp_path)
    for cache in ("", "/dev/null/nowhere"):
        assert pair.run("ours", arguments, everything, tmp_path, dict(os.environ, CALLSIGN_CACHE=cache)) == expected


# a unit has the function, and no line table; the symbol table names its file
UNIT_WITHOUT_ROWS = """
        .file "x.c"
        .text
f:      nop
        nop
        nop
        nop
        .size f, 4
        .globl _start
_start: ret
        .section .debug_abbrev,"",@progbits
        .byte 1, 0x11, 0, 0x11, 1, 0x12, 6, 0, 0, 0
        .section .debug_info,"",@progbits
        .long 2f-1f
1:      .value 4
        .long 0
        .byte 8, 1
        .quad f
        .long 4
2:
"""


# the same unit with the function
FUNCTION_WITHOUT_ROWS = UNIT_WITHOUT_ROWS.replace("0x11, 0, 0x11", "0x11, 1, 0x11").replace(".byte 1, 0x11", ".byte 2, 0x2e, 0, 0x11, 1, 0x12, 6, 0, 0, 1, 0x11") \
                                         .replace("2:\n", "        .byte 2\n        .quad f\n        .long 4\n        .byte 0\n2:\n")


@pytest.mark.parametrize("source", [UNIT_WITHOUT_ROWS, FUNCTION_WITHOUT_ROWS], ids=["no function", "function"])
@pytest.mark.parametrize("size", ["small", "large"])
def test_file_of_a_symbol_in_a_unit_without_rows(size, source, folder, tmp_path):
    """LLVM takes it for inlined frames alone, and there if DWARF has no frame, not even one without a place."""
    pair = pair_for("llvm-symbolizer", folder)
    (tmp_path / "x.s").write_text(source)
    done = subprocess.run(["gcc", "-nostdlib", "-static", "-o", "x", "x.s"], cwd=tmp_path, capture_output=True, check=False)
    if done.returncode or platform.machine() != "x86_64":
        pytest.skip("no x86-64 compiler")
    path = made_large(tmp_path / "x", tmp_path / "large") if size == "large" else tmp_path / "x"
    places = stand_in_draws.code_addresses(path)
    start = max(places, key=places.count)[0]  # those with code stand there several times
    lines = b"".join(b"0x%x\n" % (start + i) for i in range(70))
    environment = dict(os.environ, CALLSIGN_CACHE=str(tmp_path / "cache"))
    expected = b"f\n??:0:0\n\n" if source == FUNCTION_WITHOUT_ROWS else b"f\nx.c:0:0\n\n"
    assert pair.run("ours", [f"--obj={path}"], lines, tmp_path, environment).out.startswith(expected)
    for arguments in ([], ["--no-inlines"], ["--no-inlines", "--output-style=GNU"]):
        arguments = [f"--obj={path}", *arguments]
        assert pair.run("ours", arguments, lines, tmp_path, environment) == pair.run("theirs", arguments, lines, tmp_path)
    if size == "large":
        wait_for(lambda: list((tmp_path / "cache/addresses").glob("*")))
        shutil.rmtree(tmp_path / "cache/answers", ignore_errors=True)
        assert pair.run("ours", [f"--obj={path}"], lines, tmp_path, environment).out.startswith(expected)


# one range of a unit, two sequences of rows, and bytes between them
TWO_SEQUENCES = """
        .file 1 "x.c"
        .section .text.a,"ax",@progbits
a:      .loc 1 3
        nop
        nop
        .section .text.b,"ax",@progbits
        .balign 64
        .globl _start
_start: .loc 1 7
        ret
end:
        .section .debug_line,"",@progbits
lines:
        .section .debug_abbrev,"",@progbits
        .byte 1, 0x11, 0, 0x11, 1, 0x12, 1, 0x10, 0x17, 0, 0, 0
        .section .debug_info,"",@progbits
        .long 2f-1f
1:      .value 4
        .long 0
        .byte 8, 1
        .quad a, end
        .long lines
2:
"""


@pytest.mark.parametrize("dialect, arguments", [("addr2line", ["-fe", "large"]), ("llvm-symbolizer", ["--obj=large"])])
def test_kept_rows_end_with_their_sequence(dialect, arguments, folder, tmp_path):
    """Also where the unit goes on."""
    pair = pair_for(dialect, folder)
    (tmp_path / "x.s").write_text(TWO_SEQUENCES)
    done = subprocess.run(["gcc", "-nostdlib", "-static", "-o", "x", "x.s"], cwd=tmp_path, capture_output=True, check=False)
    if done.returncode or platform.machine() != "x86_64":
        pytest.skip("no x86-64 compiler")
    path = made_large(tmp_path / "x", tmp_path / "large")
    places = stand_in_draws.code_addresses(path)
    start = max(places, key=places.count)[0]
    lines = b"".join(b"0x%x\n" % (start + i) for i in range(70)) * 3
    environment = dict(os.environ, CALLSIGN_CACHE=str(tmp_path / "cache"))
    expected = pair.run("theirs", arguments, lines, tmp_path)
    assert b"x.c:3" in expected.out and b"x.c:7" in expected.out and expected.out.count(b"x.c:3") == 2 * 3
    for _ in range(2):
        assert pair.run("ours", arguments, lines, tmp_path, environment) == expected
        wait_for(lambda: [path for path in (tmp_path / "cache/addresses").glob("*") if "." not in path.name])
        shutil.rmtree(tmp_path / "cache/answers", ignore_errors=True)


def test_files_of_a_process_are_found(folder, programs, tmp_path):
    pair = pair_for("eu-addr2line", folder)
    names = [name for name in ("c-gcc", "c-nopie", "cc-gcc", "c-nodebug") if name in programs]
    bases = {name: 0x400000 if name == "c-nopie" else 0x550000000000 + i * 0x10000000 for i, name in enumerate(names)}
    lines = [f"{bases[name] + part * 0x1000:x}-{bases[name] + (part + 1) * 0x1000:x} r-xp {part * 0x1000:08x} fe:00 {i + 10}    {programs[name]}\n"
             for i, name in sorted(enumerate(names), key=lambda pair: bases[pair[1]]) for part in range(4)]
    lines.insert(4, "7000000-7001000 rw-p 00000000 00:00 0    [heap]\n")
    (tmp_path / "maps").write_text("".join(lines))
    addresses = [f"0x{base + at:x}" for base in bases.values() for at in range(0, 0x4400, 0x51)] + ["0x7000010", "0x10"]
    requests = "\n".join([*addresses, "main", "main+1", "top+0x1", "nothing"]) + "\n"
    for options in ([], ["-f", "-i", "-C"], ["-a", "-S", "-x"], ["-f", "-S", "--pretty-print", "-s", "-F"]):
        arguments = [*options, "-M", str(tmp_path / "maps")]
        difference = pair.compare(arguments, requests.encode(), tmp_path)
        assert difference is None, stand_in_pairs.show_difference(arguments, requests.encode(), difference)
    (tmp_path / "odd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    for arguments in (["-M", "maps", "0x400010", "main"], ["-M", "maps", "0x10", "(.text)+1", "0x11"], ["-j", ".text", "-M", "maps", "1"], ["-M", "odd", "0"], ["-M", "missing", "0"], ["-p", "999999999", "0"], ["-M", "missing", "-e", "x", "0"], ["-M", ".", "0"], ["-M", "maps", "-e", "x"], ["-e", "x", "-p", "1", "0"]):
        difference = pair.compare(arguments, b"", tmp_path)
        assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            child.stdin.write(b"x")
            child.stdin.flush()
            assert child.stdout.read(1) == b"x"  # it runs, and maps nothing more
            maps = [line.split() for line in pathlib.Path(f"/proc/{child.pid}/maps").read_text().splitlines()]
            assert any(mapping[-1] == "[vdso]" for mapping in maps)
            (tmp_path / "maps").write_text(pathlib.Path(f"/proc/{child.pid}/maps").read_text())
            # All starts and ends: files begin with their absolute symbols, and an end belongs to the file before it.
            ranges = [[int(end, 16) for end in mapping[0].split("-")] for mapping in maps]
            addresses = sorted({at for low, high in ranges for at in (low, low + 0xa10, (low + high) // 2, high - 1, high)})
            requests = "".join(f"0x{at:x}\n" for at in addresses) + "__vdso_gettimeofday+1\nGLIBC_2.3\nmalloc\n"
            for options in (["-f"], ["-a", "-S", "-x"]):
                for way in (["-p", str(child.pid)], ["-M", "maps"]):
                    difference = pair.compare([*options, *way], requests.encode(), tmp_path)
                    assert difference is None, stand_in_pairs.show_difference([*options, *way], requests.encode(), difference)
        finally:
            child.kill()


MAPPINGS = ["400000-402000 r-xp 00000000 08:01 12 {}", " 400000- 402000 r-xp 0 08: 01 12 {}", "0x400000-0x402000 r-xp 0 08:01 12 {}", "400000 -402000 r-xp 0 8:1 12 {}",
            "400000-402000 r-xp 0 08 :01 12 {}", "400000-402000 0 08:01 12 {}", "400000-402000 r-xp zz 08:01 12 {}", "400000-402000 r-xp 0 08:01 0x12 {}",
            "400000-402000 r-xp 0 0:0 0 {}", "400000-402000 r-xp 0 100000000:0 0 {}", "400000-ffffffffffffffffffffff r-xp 0 8:1 12 {}", "-1-402000 r-xp 0 8:1 12 {}",
            "400000-402000 r-xp 0 8:1 99999999999999999999999 {}", "400000-402000 r-xp 0 8:1 12{}", "400000-402000", "400000", ""]


def test_lines_of_mappings(folder, programs, tmp_path):
    pair = pair_for("eu-addr2line", folder)
    for line in MAPPINGS:
        (tmp_path / "maps").write_text(line.format(programs["c-gcc"]) + "\n")
        arguments = ["-f", "-M", "maps", "main", "0x401140"]
        difference = pair.compare(arguments, b"", tmp_path)
        assert difference is None, line + stand_in_pairs.show_difference(arguments, b"", difference)


def test_kept_answers_end_with_their_object(folder, large_program, tmp_path):
    pair = pair_for("addr2line", folder)
    environment = dict(os.environ, CALLSIGN_CACHE=str(tmp_path / "cache"))
    lines = b"".join(b"0x%x\n" % addr for addr in range(0x1100, 0x1300))
    assert pair.run("ours", ["-f", "-e", "large"], lines, tmp_path, environment).code == 0
    subprocess.run(["strip", str(large_program)], check=True)
    (tmp_path / "more").write_bytes(b"y" * (9 << 20))
    subprocess.run(["objcopy", "--add-section", f".more={tmp_path / 'more'}", str(large_program)], check=True)
    expected = pair.run("theirs", ["-f", "-e", "large"], lines, tmp_path)
    assert pair.run("ours", ["-f", "-e", "large"], lines, tmp_path, environment) == expected
    without = dict(os.environ, CALLSIGN_CACHE="")
    assert pair.run("ours", ["-f", "-e", "large"], lines, tmp_path, without) == expected


@pytest.mark.parametrize("given", ["argument", "environment", "file", "file of the environment"])
def test_lines_of_sources_are_not_kept(given, folder, tmp_path):
    """The object tells nothing of a source that has changed. By the environment the lines were those of the first run for ever."""
    option = "--print-source-context-lines=1"
    (tmp_path / "words").write_text(option)
    words = f"@{tmp_path / 'words'}" if "file" in given else option
    source = tmp_path / "s.c"
    source.write_text("int main(void) {\n    return 0; /* before */\n}\n")
    subprocess.run(["gcc", "-g", "s.c", "-o", "small"], cwd=tmp_path, check=True)
    made_large(tmp_path / "small", tmp_path / "large")
    pair = pair_for("llvm-symbolizer", folder)
    environment = dict(os.environ, CALLSIGN_CACHE=str(tmp_path / "cache"))
    arguments = ["--obj=large"]
    if "environment" in given:
        environment["LLVM_SYMBOLIZER_OPTS"] = words
    else:
        arguments.append(words)
    listing = subprocess.run(["nm", "small"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    main = next(int(line.split()[0], 16) for line in listing.splitlines() if line.endswith(" T main"))
    lines = b"".join(b"0x%x\n" % (main + i) for i in range(9))
    for word in (b"before", b"after"):
        source.write_bytes(source.read_bytes().replace(b"before", word))
        theirs = pair.run("theirs", arguments, lines, tmp_path, environment)
        assert word in theirs.out and pair.run("ours", arguments, lines, tmp_path, environment) == theirs


def test_atos(callsign, programs):
    path = programs["c-gcc"]
    listing = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    top = int(next(line.split()[0] for line in listing.splitlines() if line.endswith(" T top")), 16)
    assert callsign.good("atos", "-o", path, hex(top), "zz", "0x1") == "top (in c-gcc) (demo.c:12)\nzz\n0x1\n"
    assert callsign.good("atos", "-o", path, "-l", "7f0000000000", hex(top + 0x7f0000000000)) == "top (in c-gcc) (demo.c:12)\n"
    assert callsign.good("atos", "-o", path, "-s", "0x10", "-fullPath", hex(top + 0x10)) == f"top (in c-gcc) ({path.parent}/demo.c:12)\n"
    assert callsign.good("atos", "-o", path, "-i", "-d", "|", stdin=f"{top:x}\n") == "top (in c-gcc) (demo.c:12)||"
    assert callsign.run("atos", hex(top)).returncode == 1
    assert callsign.run("atos", "-o", "nosuch", "1").stderr.endswith("nosuch: No such file or directory\n")


def test_gsymutil_statistics(callsign, folder, programs, tmp_path):
    """LLVM 23's, which is not there to compare with: the words of its tests, and sizes that add up."""
    callsign.good("llvm-gsymutil", f"--convert={programs['cc-gcc']}", "-o", tmp_path / "a.gsym", "--merged-functions", "--dwarf-callsites", "--quiet")
    (tmp_path / "two.c").write_text("no GSYM file\n")
    path = tmp_path / "a.gsym"
    found = json.loads(callsign.good("llvm-gsymutil", "--statistics=json", path))
    assert found == json.loads(callsign.good("llvm-gsymutil", "--statistics=pretty-json", path))
    assert list(found) == ["path", "uuid", "num_addresses", "byte-sizes"] and found["path"] == str(path)
    sizes = found["byte-sizes"]
    functions = sizes.pop("function_info_type_sizes")
    merged = functions.pop("merged_func_info_type_sizes")
    assert sizes["file_size"] == path.stat().st_size == sum(sizes.values()) - sizes["file_size"]
    assert sum(functions.values()) == sizes["function_info_data"] and functions["call_site_info"] > 0
    assert sum(merged.values()) == functions["merged_func_info"]
    text = callsign.good("llvm-gsymutil", "--statistics", path)
    assert text.startswith(f"path: {path}\nuuid: ") and f"\nbyte-sizes {{\n  file_size: {sizes['file_size']}\n  header: 48\n" in text
    assert text.endswith("      end_of_list: 0\n    }\n  }\n}\n") or merged["end_of_list"]
    (tmp_path / "cut.gsym").write_bytes(path.read_bytes()[:-40])
    for damaged in ("cut.gsym", "two.c", "nosuch"):
        assert callsign.run("llvm-gsymutil", "--statistics", tmp_path / damaged).returncode == 1
    assert callsign.run("llvm-gsymutil", "--statistics=xml", path).returncode == 1


GSYM_REQUESTS = b"""%s
99999
DATA 0x4028
FRAME 0x1200
zz
"""


@pytest.mark.parametrize("options", [[], ["--basenames"], ["--relativenames"], ["-f=short", "-p"], ["-f=none"], ["--verbose", "-a"], ["--no-demangle"],
                                     ["--output-style=GNU"], ["--output-style=GNU", "--no-inlines"], ["--output-style=JSON"], ["--disable-gsym"], ["--print-source-context-lines=3"]], ids=" ".join)
def test_gsym_files_stand_for_dwarf(options, folder, programs, tmp_path):
    """Beside the object, or in a folder; LLVM leaves out what is asked for without inlined frames, or by a symbol."""
    pair = pair_for("llvm-symbolizer", folder)
    where = tmp_path / "a"
    where.mkdir()
    lines = GSYM_REQUESTS % b"\n".join(b"0x%x" % addr for addr in range(0x1000, 0x1300, 9))
    for name in ("c-gcc", "cc-gcc"):
        shutil.copy(programs[name], where / name)
        assert pair_for("llvm-gsymutil", folder).run("theirs", [f"--convert={name}", "-o", f"../{name}.gsym", "--quiet"], b"", where).code == 0
        for arguments in ([f"--obj={name}", "--gsym-file-directory=nosuch", "--gsym-file-directory=.."], [f"--obj={name}"]):
            difference = pair.compare([*options, *arguments], lines, where)
            assert difference is None, stand_in_pairs.show_difference([*options, *arguments], lines, difference)
        (tmp_path / f"{name}.gsym").rename(where / f"{name}.gsym")
        difference = pair.compare([*options, f"--obj={name}"], lines, where)
        assert difference is None, stand_in_pairs.show_difference([*options, name], lines, difference)
        (where / f"{name}.gsym").write_bytes(b"no GSYM file")
        assert pair.compare([*options, f"--obj={name}"], lines, where) is None


def test_gsym_answers_without_inlined_frames(folder, programs, tmp_path):
    """Which LLVM 22 does not: the function with the line of the innermost frame, as from DWARF."""
    pair = pair_for("llvm-symbolizer", folder)
    listing = subprocess.run(["nm", programs["c-gcc"]], capture_output=True, text=True, check=True).stdout
    top = next(int(line.split()[0], 16) for line in listing.splitlines() if line.endswith(" T top"))
    (tmp_path / "c-gcc").write_bytes(programs["c-gcc"].read_bytes())
    arguments = ["--obj=c-gcc", "--no-inlines"]
    lines = b"".join(b"0x%x\n" % addr for addr in range(top, top + 60, 5)) + b"top\n"
    wanted = pair.run("ours", arguments, lines, tmp_path)
    assert wanted == pair.run("theirs", arguments, lines, tmp_path) and b"demo.c:12:" in wanted.out
    assert pair_for("llvm-gsymutil", folder).run("theirs", ["--convert=c-gcc", "--quiet"], b"", tmp_path).code == 0
    found = pair.run("ours", arguments, lines, tmp_path)
    strip = [line.rpartition(b":")[0] for line in wanted.out.splitlines() if b":" in line]
    assert [line.rpartition(b":")[0] for line in found.out.splitlines() if b":" in line] == strip
    assert found.out.count(b"top\n") == wanted.out.count(b"top\n")


def test_atos_reads_offsets_slices_and_files(callsign, folder, programs, tmp_path):
    path = programs["c-nopie"] if "c-nopie" in programs else stand_in_programs.build(folder / "programs", {"c-nopie"})["c-nopie"]
    listing = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    top, main = [next(int(line.split()[0], 16) for line in listing.splitlines() if line.endswith(name)) for name in (" T top", " T main")]
    base = 0x400000  # where gcc -no-pie links to
    assert callsign.good("atos", "-o", path, "-offset", hex(top - base)) == "top (in c-nopie) (demo.c:12)\n"
    assert callsign.good("atos", "-o", path, "-l", "0x7f0000000000", hex(top - base + 0x7f0000000000)) == "top (in c-nopie) (demo.c:12)\n"
    (tmp_path / "addresses").write_text(f"{top:#x} {main:#x}\n\nzz\n")
    found = callsign.good("atos", "-o", path, "-f", tmp_path / "addresses")
    assert found.startswith("top (in c-nopie) (demo.c:12)\nmain (in c-nopie) (demo.c:18)\n") and found.endswith("zz\n")
    need_programs(folder, "c-macho.o", "c-macho-arm.o")
    where = folder / "programs"
    lipo = shutil.which("llvm-lipo-22")
    if not lipo:
        pytest.skip("llvm-lipo-22 is not installed")
    subprocess.run([lipo, "-create", "c-macho.o", "c-macho-arm.o", "-output", tmp_path / "fat"], cwd=where, check=True)
    for arch in ("x86_64", "arm64"):
        assert callsign.good("atos", "-arch", arch, "-o", tmp_path / "fat", "0x0") == "top (in fat) (free.c:12)\n"


@pytest.mark.parametrize("variable,dialect", [(v, d) for v in ("LLVM_SYMBOLIZER_OPTS", "LLVM_ADDR2LINE_OPTS") for d in ("llvm-symbolizer", "llvm-addr2line")])
def test_each_name_has_a_variable_of_its_own(variable, dialect, folder, programs):
    pair = pair_for(dialect, folder)
    env = {**os.environ, variable: "--obj=c-gcc -p  '-s' --nosuch"}
    for value in ("--obj=c-gcc -p  '-s'", "--nosuch", "", "@options3"):
        (folder / "programs" / "options3").write_text("--obj=c-gcc\n-p")
        env[variable] = value
        for arguments in (["-f", "0x1200"], ["--no-inlines", "--obj=cc-gcc", "0x1200"]):
            difference = pair.compare(arguments, b"", folder / "programs", env)
            assert difference is None, stand_in_pairs.show_difference([value, *arguments], b"", difference)


def test_options_of_the_environment(folder, programs):
    env = {**os.environ, "LLVM_SYMBOLIZER_OPTS": "--obj=c-gcc --output-style=GNU"}
    pair = pair_for("llvm-symbolizer", folder)
    assert pair.compare(["-a"], b"0x1200\n", folder / "programs", env) is None
    assert b"demo.c" in pair.run("ours", ["-a"], b"main\n", folder / "programs", env).out


MARKUP = b"""plain
{{{module:0:app:elf:ID}}}
{{{mmap:0x7f0000000000:0x5000:load:0:rx:0}}}
 at {{{pc:0x7f0000001085}}} and {{{pc:0x7f0000001205:ra}}}
  {{{bt:0:0x7f0000001223:pc}}} tail
{{{bt:1:0x7f0000001090}}}
data {{{data:0x7f0000004028}}} sym {{{symbol:_ZN3foo3barEv}}} {{{symbol:plain}}}
\033[31mred {{{pc:0x7f0000001085}}} \033[1mbold {{{pc:0x7f0000001085}}}\033[0m done
{{{dumpfile:a:b}}} {{{Bad:1}}} {{{}}} {{{:x}}} {{{pc}}} {{{pc:zz}}} {{{pc:0x1}}} {{{bt:1}}} {{{bt:x:0x1}}} {{{symbol}}} {{{symbol:a:b}}}
{{{module:0:app:elf:ID}}}
{{{module:1:lib:elf:aabb}}}{{{mmap:0x7f0000010000:0x5000:load:1:rwx:0x100}}}
text {{{mmap:0x7f0000020000:0x5000:load:1:r:0}}} rest
{{{mmap:0x7f0000001000:0x10:load:0:r:0}}}
{{{mmap:0x1:0x10:load:7:r:0}}}
{{{mmap:0x1:0x10:file:0:r:0}}}
{{{mmap:0x1:zz:load:0:r:0}}}
{{{mmap:0x1:0x10:load:0:q:0}}}
{{{module:2:x:pe:aa}}}
{{{pc:0x7f0000010005}}}
{{{bt:12:0x7f0000010005:zz}}}
{{{reset}}}
{{{pc:0x7f0000001085}}}
last {{{symbol:_Z1fv}}}"""


@pytest.mark.parametrize("options", [[], ["--color=always"], ["--color"], ["--no-demangle", "--basenames"]])
def test_markup(options, folder, programs):
    where = folder / "programs"
    pair = pair_for("llvm-symbolizer", folder)
    notes = subprocess.run(["readelf", "-n", programs["c-gcc"]], capture_output=True, text=True, check=True).stdout
    build_id = next(line.split()[2] for line in notes.splitlines() if "Build ID" in line)
    place = where / "dbg" / ".build-id" / build_id[:2]
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{build_id[2:]}.debug").write_bytes(programs["c-gcc"].read_bytes())
    log = MARKUP.replace(b"ID", build_id.encode())
    arguments = ["--filter-markup", "--debug-file-directory=dbg", *options]
    difference = pair.compare(arguments, log, where)
    assert difference is None, stand_in_pairs.show_difference(arguments, log, difference)


@pytest.mark.parametrize("dialect", ["llvm-symbolizer", "llvm-addr2line"])
def test_markup_of_any_kind(dialect, folder, programs):
    """Elements that are sound, and those that have any fields; modules that are missing, or no objects."""
    need_programs(folder, "cc-buildid")
    pair, rng, where = pair_for(dialect, folder), random.Random(11), folder / "programs"
    bad = where / "dbg" / ".build-id" / "00"
    bad.mkdir(exist_ok=True)
    counts = fuzz_stand_ins.Counts(sys.stdout)
    for text in ("", "no object file"):
        for path in bad.glob("*"):
            path.unlink()
        if text:
            (bad / "11.debug").write_text(text)
        for _ in range(15):
            fuzz_stand_ins.compare(pair, counts, "markup", stand_in_draws.draw_markup(rng, 20), where)
    assert counts.runs == 600 and counts.differences == 0


@pytest.mark.parametrize("modules", ["L", "LL", "1L", "L1", "1RL", "P", "PP", "1PLP"])
def test_markup_of_the_last_module_ids(modules, folder, programs):
    """LLVM's table of modules has two numbers for marks of its own."""
    elements = {"L": f"{{{{{{module:{2 ** 64 - 1}:a:elf:ab}}}}}}", "P": f"{{{{{{module:{2 ** 64 - 2}:b:elf:ac}}}}}}", "1": "{{{module:1:c:elf:ad}}}", "R": "{{{reset}}}"}
    log = "\n".join(elements[module] for module in modules).encode() + b"\n"
    difference = pair_for("llvm-symbolizer", folder).compare(["--filter-markup"], log, folder / "programs")
    assert difference is None, stand_in_pairs.show_difference(["--filter-markup"], log, difference)


@pytest.mark.parametrize("name", ["addr2line", "x86_64-linux-gnu-addr2line", "callsign-addr2line", "addr2line-2.40", "gaddr2line"])
def test_the_program_name_chooses(name, folder, programs):
    link = folder / name
    link.symlink_to(stand_in_pairs.CALLSIGN)
    done = subprocess.run([link, "-e", programs["c-gcc"], "-a", "0"], capture_output=True, text=True, check=True)
    assert done.stdout == "0x0000000000000000\n??:0\n"


def test_callsign_name_begins_messages_with_the_name(callsign):
    done = callsign.run("addr2line", "-e", "nosuch")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "addr2line: 'nosuch': No such file\n")


def test_install_makes_links_and_may_be_repeated(callsign, tmp_path):
    for _ in range(2):
        callsign.good("dialects", "--install", tmp_path / "a" / "bin")
    names = {line.split()[0] for line in callsign.good("dialects").splitlines()}
    assert "addr2line" in names
    assert names <= set(os.listdir(tmp_path / "a" / "bin"))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "addr2line").write_text("mine")
    assert "is no link" in callsign.run("dialects", "--install", tmp_path / "b").stderr
    assert (tmp_path / "b" / "addr2line").read_text() == "mine"


def same(pair, where, *runs):
    for arguments in runs:
        difference = pair.compare(arguments, b"", where)
        assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)


def test_llvm_looks_for_debug_files_in_two_places(folder, programs, tmp_path):
    """By build id in one list of folders, by debug link in another folder."""
    need_programs(folder, "cc-buildid", "cc-link")
    pair, where = pair_for("llvm-symbolizer", folder), folder / "programs"
    for path in (where / "cc-buildid", where / "cc-link"):
        shutil.copy(path, tmp_path / path.name)
    shutil.copytree(where / "dbg", tmp_path / "ids")
    linked = tmp_path / "links" / str(tmp_path).lstrip("/")
    linked.mkdir(parents=True)
    shutil.copy(where / "cc-link.debug", linked)
    for name in ("cc-buildid", "cc-link"):
        for options in ([], ["--fallback-debug-path=links"], ["--debug-file-directory=links"], ["--fallback-debug-path=ids"], ["--debug-file-directory=ids"],
                        ["--fallback-debug-path=links", "--debug-file-directory=ids"]):
            same(pair, tmp_path, [*options, f"--obj={name}", "0x1c21", "0x1500"])


def test_llvm_looks_for_split_dwarf_from_the_working_folder(folder, programs, tmp_path):
    """Not beside the image; and in the object itself."""
    if not shutil.which("clang-22"):
        pytest.skip("clang-22 is not installed")
    pair = pair_for("llvm-symbolizer", folder)
    (tmp_path / "sub").mkdir()
    shutil.copy(folder / "programs/demo.c", tmp_path)
    for options, name in ((["-gsplit-dwarf", "-fdebug-compilation-dir=."], "a.o"), (["-gsplit-dwarf=single"], "b.o"), (["-gsplit-dwarf=single", "-gdwarf-4"], "c.o")):
        subprocess.run(["clang-22", "-O2", "-g", *options, "-c", "demo.c", "-o", name], cwd=tmp_path, check=True)
    for where, prefix in ((tmp_path, ""), (tmp_path / "sub", "../")):
        for name in ("a.o", "b.o", "c.o"):
            for extra in ([], ["--no-inlines", "--output-style=JSON"]):
                same(pair, where, [*extra, f"--obj={prefix}{name}", *(f"0x{addr:x}" for addr in range(0, 0x150, 9))])


def test_llvm_finds_rows_that_were_not_relocated(folder, programs, tmp_path):
    pair = pair_for("llvm-symbolizer", folder)
    lines, all_sections = [".debug_line"], [".debug_line", ".debug_info", ".debug_aranges"]
    for options, removed in (([], [lines, [".debug_info"], all_sections]), (["-ffunction-sections"], [lines])):
        subprocess.run(["gcc", "-O1", "-g", *options, "-c", folder / "programs/fold.c", "-o", "a.o"], cwd=tmp_path, check=True)
        for sections in removed:
            subprocess.run(["objcopy", *(f"--remove-section=.rela{name}" for name in sections), "a.o", "b.o"], cwd=tmp_path, check=True)
            same(pair, tmp_path, ["--obj=b.o", *(f"0x{addr:x}" for addr in range(0, 90, 3))])


class Conversation:
    """A client that writes a request and waits for its answer, as perf does."""

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, request, lines):
        self.child.stdin.write(request)
        self.child.stdin.flush()
        return [self.child.stdout.readline() for _ in range(lines)]

    def end(self):
        self.child.stdin.close()
        rest = self.child.stdout.read()
        self.child.stdout.close()
        return rest, self.child.wait(timeout=60)


def test_both_generations_of_perf(programs):
    """perf before 6.? sends "ADDR\\n,\\n" and reads to "??:0"; later ones ask "," first and print addresses."""
    path = str(programs["c-gcc"])
    older = Conversation([stand_in_pairs.CALLSIGN, "addr2line", "-e", path, "-i", "-f"])
    assert older.ask(b"0000000000000000\n,\n", 4) == [b"??\n", b"??:0\n", b"??\n", b"??:0\n"]
    assert older.end() == (b"", 0)
    newer = Conversation([stand_in_pairs.CALLSIGN, "addr2line", "-e", path, "-a", "-i", "-f"])
    zeros = [b"0x0000000000000000\n", b"??\n", b"??:0\n"]
    assert newer.ask(b",\n", 3) == zeros
    assert newer.ask(b"00000000ffffffff\n,\n", 6) == [b"0x00000000ffffffff\n", b"??\n", b"??:0\n"] + zeros
    assert newer.end() == (b"", 0)


HOSTILE = {
    "nothing": b"", "NUL": b"\0\n", "NULs": b"0x1139\0foo\n0x11\x0039\n", "long text": b"a" * 1000000 + b"\n0x1139\n",
    "long number": b"1" * 1000000 + b"\n0x1139\n", "long NULs": b"\0" * 1000000 + b"\n0x1139\n", "half a line": b"0x1139\n0x11",
    "carriage returns": b"0x1139\r\n", "no text": b"\xff\xfe\n0x1139\n", "blanks": b"\t 0x1139 \t\n", "empty lines": b"\n" * 500,
    "quotes": b'"c-gcc 0x1139\n"c-gcc" 0x1139\n"" 0x1\n', "commands": b"CODE\nCODE \nCODE c-gcc\nDATA c-gcc\nFRAME\n", "signs": b"-1\n-0x1\n+1\n",
    "too large": b"0xffffffffffffffffffff\n99999999999999999999999\n",
    "modules": b"/nosuch 0x1\n. 0x1\n/dev/null 0x1\nc-gcc nosuch\nFILE: 0x1\nBUILDID:zz 0x1\nBUILDID: 0x1\nFILE:c-gcc 0x1139\nBUILDID:0011 0x1\n",
    "files": b"0x1139 nosuch\n", "second without file": b"0x1 gs/c.gsym\n\n", "two blanks": b"0x1  gs/c.gsym\n", "returns": b"0x1 gs/c.gsym\r\n0x1139 gs/c.gsym\n",
    "markup": b"{{{pc:0x1}}}\n{{{bt:0:zz}}}\n{{{module:0:a:elf:}}}\n{{{mmap:}}}\n{{{" + b"x" * 100000 + b"}}}\n{{{reset}}}\n{{{",
}
HOSTILE_RUNS = [("addr2line", ["-e", "c-gcc", "-fi"]), ("addr2line", ["-e", "c-gcc", "-apf"]), ("eu-addr2line", ["-e", "c-gcc", "-fi"]),
                ("llvm-addr2line", ["-e", "c-gcc", "-fi"]), ("llvm-symbolizer", ["--obj=c-gcc"]), ("llvm-symbolizer", []),
                ("llvm-symbolizer", ["--output-style=JSON"]), ("llvm-symbolizer", ["--output-style=JSON", "--obj=c-gcc"]),
                ("llvm-symbolizer", ["--filter-markup"]), ("llvm-gsymutil", ["--addresses-from-stdin"])]


def asks_no_file(data):
    """An address on the first line, and no file: llvm-gsymutil 22 looks it up in an index that it has not opened, in memory that holds
    whatever was there. It mostly crashes."""
    return re.fullmatch(rb"(0[xX][0-9a-fA-F]+|[0-9]+)\r?", data.split(b"\n")[0]) is not None


@pytest.mark.parametrize("dialect,arguments", HOSTILE_RUNS, ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_bad_requests_are_answered_like_the_tool(dialect, arguments, folder, programs):
    pair = pair_for(dialect, folder)
    where = folder / "programs"
    (where / "gs").mkdir(exist_ok=True)
    if dialect == "llvm-gsymutil":
        assert pair.run("theirs", ["--convert=c-gcc", "--out-file=gs/c.gsym", "--quiet"], b"", where).code == 0
    for name, data in HOSTILE.items():
        theirs, ours = (pair.run(which, arguments, data, where) for which in ("theirs", "ours"))
        if theirs.code < 0 or (dialect == "llvm-gsymutil" and asks_no_file(data)):  # the tool crashes
            assert ours.code in (0, 1) and ours.out + ours.err, name
        else:
            assert theirs == ours, name + "\n" + stand_in_pairs.show_difference(arguments, data, (theirs, ours))


def test_bad_requests_of_atos(folder, programs):
    """It has no reference here: every input is read to its end, and what it cannot read is printed as it is."""
    command = [stand_in_pairs.CALLSIGN, "atos", "-o", str(programs["c-gcc"])]
    for name, data in HOSTILE.items():
        done = subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0 and (done.stdout or not data.strip(b"\0 \t\r\n")), name
    done = subprocess.run(command, input=b"zz\n" + b"x" * 1000000 + b"\n0x1", capture_output=True, timeout=60, check=True)
    assert done.stdout.startswith(b"zz\n") and done.stdout.endswith(b"\n0x1\n")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        child.stdout.close()  # the reading end is gone
        try:
            child.stdin.write(b"0x1139\n" * 20000)
            child.stdin.close()
        except BrokenPipeError:
            pass
        assert child.wait(timeout=60) != 0


def test_a_client_that_dies_ends_the_stand_in(folder, programs):
    for dialect, arguments in HOSTILE_RUNS:
        pair = pair_for(dialect, folder)
        command = [str(pair.ours / dialect), *arguments]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder / "programs") as child:
            child.stdout.close()  # the reading end is gone
            try:
                child.stdin.write(b"0x1139 c-gcc\n" * 20000)
                child.stdin.close()
            except BrokenPipeError:
                pass
            assert child.wait(timeout=30) != 0 or dialect == "llvm-gsymutil", dialect


# Starts the command, sends requests, tells its process id, and waits to be killed: after an answer, within a request, or with answers that nobody reads.
CLIENT = """import os, subprocess, sys, time
way, requests, command = sys.argv[1], sys.argv[2].encode(), sys.argv[3:]
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
try:
    child.stdin.write(requests)
    child.stdin.flush()
    if "llvm-gsymutil" not in command[0] and "--filter-markup" not in command:  # which do not flush each answer
        os.read(child.stdout.fileno(), 1)
    seen = got = b" "
    while way == "answered" and b"117f" not in seen and got:
        got = os.read(child.stdout.fileno(), 65536)
        seen = seen[-3:] + got
    os.set_blocking(child.stdin.fileno(), False)
    while way == "full" and os.write(child.stdin.fileno(), requests * 200):
        pass
    if way == "half":
        os.write(child.stdin.fileno(), b"0x11")
except (BlockingIOError, BrokenPipeError):  # full, or the file that it was asked for is not right, and it has ended
    pass
print(child.pid, flush=True)
time.sleep(1000)
"""
PR_SET_CHILD_SUBREAPER = 36


@contextlib.contextmanager
def adopted_orphans():
    """Processes whose parent dies become children of this one, which can wait for them."""
    prctl = ctypes.CDLL(None).prctl
    assert prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def wait_for_end(pid):
    """Of an orphan: of those that live on there is no state."""
    found = []
    wait_for(lambda: found.append(os.waitpid(pid, os.WNOHANG)) or found[-1][0] == pid)
    return found[-1][1]


def kill_client(way, requests, command, where, environment):
    """The state that the stand-in ends with, after its client."""
    with subprocess.Popen([sys.executable, "-c", CLIENT, way, requests, *map(str, command)], stdout=subprocess.PIPE, cwd=where, env=environment) as client:
        line = client.stdout.readline()
        client.kill()
    return wait_for_end(int(line))


@pytest.mark.skipif(platform.system() != "Linux", reason="orphans are adopted as Linux does it")
@pytest.mark.parametrize("way", ["idle", "half", "full"])
@pytest.mark.parametrize("dialect,arguments", [*HOSTILE_RUNS, ("atos", ["-o", "c-gcc"])], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_a_client_that_is_killed_leaves_nothing(dialect, arguments, way, folder, programs, tmp_path):
    """The stand-in ends by itself, of no signal but that of a pipe, and leaves no file."""
    (tmp_path / "temporary").mkdir()
    environment = dict(os.environ, TMPDIR=str(tmp_path / "temporary"), CALLSIGN_CACHE=str(tmp_path / "cache"))
    command = [stand_in_pairs.links(folder / "ours") / dialect, *arguments]
    with adopted_orphans():
        state = kill_client(way, "0x1139 c-gcc\n" * 3 if arguments in ([], ["--addresses-from-stdin"]) else "0x1139\n" * 3, command, folder / "programs", environment)
    assert not os.WIFSIGNALED(state) or os.WTERMSIG(state) == signal.SIGPIPE
    assert not list((tmp_path / "temporary").iterdir()) and not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


@pytest.mark.skipif(platform.system() != "Linux", reason="orphans are adopted as Linux does it")
@pytest.mark.parametrize("dialect,arguments", [("addr2line", ["-e", "large", "-fia"]), ("eu-addr2line", ["-e", "large", "-a"]), ("llvm-symbolizer", ["--obj=large", "-a"]),
                                               ("llvm-addr2line", ["-e", "large", "-a"])], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_a_client_that_is_killed_leaves_whole_files(dialect, arguments, folder, large_program, tmp_path):
    """Answers and indexes are kept of a session that was answered, with no temporary file beside them; the process that makes an index ends, too."""
    cache, before = tmp_path / "cache", {path.name for path in tmp_path.iterdir()}
    environment = dict(os.environ, TMPDIR=str(tmp_path), CALLSIGN_CACHE=str(cache))
    requests = "".join(f"0x{addr:x}\n" for addr in range(0x1100, 0x1180))
    with adopted_orphans():
        state = kill_client("answered", requests, [stand_in_pairs.links(folder / "ours") / dialect, *arguments], tmp_path, environment)
        wait_for(lambda: not has_children())
    assert state == 0
    assert [path.name for path in cache.rglob("*") if path.is_file()]
    assert not [path.name for path in cache.rglob("*") if path.is_file() and "." in path.name]
    assert {path.name for path in tmp_path.iterdir()} == before | {"cache"}


def has_children():
    """Waits for those that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


STREAMS = {"no standard output": ">&-", "a full disk": ">/dev/full", "no standard input": "<&-", "no standard error": "2>&-", "a folder to read": "<."}
NO_READER = ["a pipe without a reader", "the same and SIGPIPE ignored"]


def run_with_streams(streams, command, data, where):
    """Exit code and messages; what is printed, where somebody reads it."""
    environment = {**os.environ, "LC_ALL": "C"}
    if streams in STREAMS:
        return stand_in_pairs.run(["sh", "-c", f'exec "$0" "$@" {STREAMS[streams]}', *command], data, where, environment)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, input=data, stdout=writer, stderr=subprocess.PIPE, cwd=where, env=environment, timeout=60, check=False,
                          restore_signals=streams == NO_READER[0])
    os.close(writer)
    return stand_in_pairs.Result(done.returncode, b"", done.stderr)


@pytest.mark.parametrize("streams", [*STREAMS, *NO_READER])
def test_streams_that_fail_are_those_of_the_tool(streams, folder, programs):
    where, data = folder / "programs", b"0x1139 gs/c.gsym\n" * 3 + b"0x1139\n" * 3
    for dialect, arguments in [*HOSTILE_RUNS, *((dialect, [*options, "0x1139"]) for dialect, options in HOSTILE_RUNS if "c-gcc" in options[1:])]:
        pair = pair_for(dialect, folder)
        theirs, ours = (run_with_streams(streams, [str(tools / dialect), *arguments], data, where) for tools in (pair.theirs, pair.ours))
        assert theirs.err.replace(bytes(pair.theirs), b"") == ours.err.replace(bytes(pair.ours), b""), (dialect, arguments)
        assert theirs._replace(err=b"") == ours._replace(err=b""), (dialect, arguments)


def test_hostile_clients(programs):
    command = [stand_in_pairs.CALLSIGN, "addr2line", "-e", str(programs["c-gcc"]), "-f"]
    done = subprocess.run(command, input=b"1" * (1 << 20) + b"\n\0\0\n" + b"12", capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 2 * (-(-((1 << 20) + 1) // 99) + 2)
    closed = subprocess.run(f"yes 1139 | head -100000 | {' '.join(command)} | head -1", shell=True, capture_output=True, timeout=60,
                            check=False)
    assert closed.stdout.count(b"\n") == 1
