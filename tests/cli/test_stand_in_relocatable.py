"""The stand-ins of LLVM over objects that are not linked, but may be of several units (`ld -r`, as modules of Linux are)."""
import platform
import shutil
import subprocess

import pytest

import stand_in_pairs
import stand_in_programs
from programs import need
from test_stand_ins import folder, pair_for  # noqa: F401 (a fixture)

# a function, its unit, a line and a set of ranges
UNIT = """
        .file "{name}.c"
        .file 1 "{name}.c"
        .text
        .globl {name}
        .type {name}, @function
{name}: .loc 1 {line}
        .rept {size}
        nop
        .endr
        .size {name}, {size}
        .section .debug_abbrev,"",@progbits
.Labbrev: .byte 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 6, 0, 0, 0
        .section .debug_line,"",@progbits
.Lline:
        .section .debug_info,"",@progbits
.Linfo: .long 2f-1f
1:      .value 4
        .long .Labbrev
        .byte 8, 1
        .long .Lline
        .quad {name}
        .long {size}
2:
        .section .debug_aranges,"",@progbits
        .long 0x2c
        .value 2
        .long .Linfo
        .byte 8, 0
        .long 0
        .quad {name}, {size}, 0, 0
"""


def assembled(where, *units, options=()):
    """k.o of units (name, line, size), each from an object of its own."""
    if platform.machine() != "x86_64" or not shutil.which("gcc"):
        pytest.skip("no x86-64 compiler")
    for name, line, size in units:
        (where / f"{name}.s").write_text(UNIT.format(name=name, line=line, size=size))
        subprocess.run(["gcc", *options, "-c", f"{name}.s"], cwd=where, check=True)
    subprocess.run(["ld", "-r", *(f"{name}.o" for name, _, _ in units), "-o", "k.o"], cwd=where, check=True)
    return b"".join(b"0x%x\n" % addr for addr in range(sum(size for _, _, size in units) + 1))


def same(pair, arguments, lines, where):
    difference = pair.compare(arguments, lines, where)
    assert difference is None, stand_in_pairs.show_difference(arguments, lines, difference)


@pytest.mark.parametrize("options", [[], ["-gz=zlib"]], ids=["plain", "compressed"])
def test_ranges_of_units_are_not_relocated(options, callsign, folder, tmp_path):  # noqa: F811
    """In the file all sets are of the unit at 0, and all begin at 0: it has what the longest covers, and the others have the rest of
    their own ranges."""
    names = [("a", 7, 4), ("b", 9, 8), *((f"f{i}", i + 1, 16) for i in range(20))]
    lines = assembled(tmp_path, *names, options=options)
    found = callsign.good("llvm-symbolizer", "-f", "-s", "-e", "k.o", "0x0", "0x3", "0x4", "0xf", "0x10", "0x1b", "0x1c", cwd=tmp_path)
    assert found.split() == "a a.c:7:0 a a.c:7:0 b ??:0:0 f0 ??:0:0 f0 f0.c:1:0 f0 f0.c:1:0 f1 f1.c:2:0".split()
    for dialect in ("llvm-symbolizer", "llvm-addr2line"):
        same(pair_for(dialect, folder), ["-f", "-i", "-s", "-e", "k.o"], lines, tmp_path)


SOURCES = {
    "k1.c": """int ext(int); static inline int in1(int x) { return ext(x) * 3; }
int f1(int x) { return in1(x) + 1; }
__attribute__((cold)) int f1c(int x) { return in1(x) + 2; }
""",
    "k2.c": """int ext(int); static inline int in2(int x) { return ext(x) * 5; }
int g1(int x) { return in2(x) + 1; }
int g2(int x) { if (x == 99) { ext(1); __builtin_abort(); } return in2(x) + 4; }
__attribute__((cold)) int g1c(int x) { return in2(x) + 2; }
"""}


TARGETS = ["", "aarch64-linux-gnu-", "i686-linux-gnu-", "arm-linux-gnueabihf-", "powerpc64-linux-gnu-", "riscv64-linux-gnu-", "s390x-linux-gnu-",
           "x86_64-w64-mingw32-"]


@pytest.mark.parametrize("options", [["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "-ffunction-sections"]], ids=" ".join)
@pytest.mark.parametrize("target", TARGETS)
def test_linked_again(target, options, folder, tmp_path):  # noqa: F811
    """Where a section begins, gcc lists empty ranges of inlined calls: for LLVM, lists of DWARF 4 end there."""
    if not shutil.which(target + "gcc") or not shutil.which(target + "ld"):
        pytest.skip(f"{target}gcc is not installed")
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    subprocess.run([target + "gcc", *options, "-O2", "-c", *SOURCES], cwd=tmp_path, check=True)
    subprocess.run([target + "ld", "-r", "k1.o", "k2.o", "-o", "k.o"], cwd=tmp_path, check=True)
    pair = pair_for("llvm-symbolizer", folder)
    for name in ("k.o", "k1.o", "k2.o"):
        lines = "".join(f"{name} {addr}\n" for addr in range(300)).encode()
        for arguments in (["-f", "-i"], ["--no-inlines", "-f=short"]):
            theirs, ours = (pair.run(which, arguments, lines, tmp_path) for which in ("theirs", "ours"))
            if b"failed to compute relocation: R_390_PC32" in theirs.err:  # docs/stand-ins.md
                theirs = theirs._replace(err=b"")
            assert theirs == ours, stand_in_pairs.show_difference([name, *arguments], lines, (theirs, ours))


@pytest.mark.parametrize("compiler", ["g++", "clang++-22"])
def test_types_in_sections_of_their_own(compiler, folder, tmp_path):  # noqa: F811
    """Offsets of units begin at 0 in each of them: LLVM finds some units, or none."""
    (tmp_path / "a.cc").write_text(stand_in_programs.CXX_SOURCE)
    (tmp_path / "b.cc").write_text(stand_in_programs.CXX_SOURCE.replace("int main", "struct only { int a; } kept; int other").replace('extern "C" int plain', "int bare")
                                                               .replace("namespace ns", "namespace b").replace("ns::", "b::").replace("plain(", "bare("))
    subprocess.run([need(compiler), "-g", "-O2", "-gdwarf-5", "-fdebug-types-section", "-c", "a.cc", "b.cc"], cwd=tmp_path, check=True)
    for name, parts in (("ab.o", ["a.o", "b.o"]), ("ba.o", ["b.o", "a.o"])):
        subprocess.run(["ld", "-r", *parts, "-o", name], cwd=tmp_path, check=True)
    pair = pair_for("llvm-symbolizer", folder)
    for name in ("a.o", "b.o", "ab.o", "ba.o"):
        lines = "".join(f"{addr}\n" for addr in range(0, 4000, 3)).encode()
        theirs, ours = (pair.run(which, ["-f", "--no-demangle", "-e", name], lines, tmp_path) for which in ("theirs", "ours"))
        if b"At most two relocations per offset" in theirs.err:  # docs/stand-ins.md
            theirs = theirs._replace(err=b"")
        assert theirs == ours, stand_in_pairs.show_difference([name], lines, (theirs, ours))


def test_descriptors_of_powerpc(folder, tmp_path):  # noqa: F811
    """Symbols of the older ABI of 64 bits name descriptors. (In objects that are not linked, LLVM takes all for those of code at 0.)"""
    if not shutil.which("powerpc64-linux-gnu-gcc"):
        pytest.skip("powerpc64-linux-gnu-gcc is not installed")
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    subprocess.run(["powerpc64-linux-gnu-gcc", "-g", "-O2", "-mabi=elfv1", "-nostdlib", "-shared", "-fPIC", *SOURCES, "-o", "k.so"], cwd=tmp_path, check=True)
    lines = b"g2\nDATA g2\nf1+4\n" + b"".join(b"0x%x\n" % addr for addr in range(0, 2000, 3))
    pair = pair_for("llvm-symbolizer", folder)
    assert {b"f1", b"f1c", b"g1", b"g1c", b"g2"} <= set(pair.run("ours", ["-e", "k.so"], lines, tmp_path).out.split())
    same(pair, ["-e", "k.so"], lines, tmp_path)


@pytest.mark.parametrize("kept", ["debug", "strip"])
def test_with_a_debug_file(kept, folder, tmp_path):  # noqa: F811
    """As modules of a distribution's kernel."""
    pair = pair_for("llvm-symbolizer", folder)
    lines = assembled(tmp_path, ("a", 7, 4), ("b", 9, 8))
    subprocess.run([need("objcopy"), "--only-keep-debug", "k.o", "k.debug"], cwd=tmp_path, check=True)
    subprocess.run(["strip", "--strip-debug", "k.o", "-o", "k.ko"], cwd=tmp_path, check=True)
    subprocess.run(["objcopy", "--add-gnu-debuglink=k.debug", "k.ko"], cwd=tmp_path, check=True)
    same(pair, ["-f", "-i", "-e", "k.ko" if kept == "strip" else "k.debug"], lines, tmp_path)
