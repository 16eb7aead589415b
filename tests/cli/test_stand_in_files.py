"""Files that are no objects, are cut off or come from standard input, and words that no option fits: as the tools, byte for byte."""
import random
import struct
import subprocess

import pytest

import stand_in_pairs
import stand_in_programs
from programs import need
from test_stand_ins import folder, pair_for  # noqa: F401 (a fixture)

PROGRAMS = ("c-gcc", "c-obj.o")


@pytest.fixture(scope="module")
def files(folder):  # noqa: F811
    """Good and odd files in one folder."""
    found = stand_in_programs.build(folder / "programs", set(PROGRAMS))
    if set(PROGRAMS) - set(found):
        pytest.skip("a compiler is not installed")
    where = folder / "files"
    where.mkdir(exist_ok=True)
    app = found["c-gcc"].read_bytes()
    for name, data in {"app": app, "half": app[:len(app) // 2], "table": app[:-40], "head": app[:64], "cut": app[:30], "short": app[:9],
                       "class": app[:4] + b"\3" + app[5:], "entry": app[:0x3a] + b"\x3f" + app[0x3b:], "core": app[:16] + b"\4" + app[17:], "empty": b"",
                       "Main.class": b"\xca\xfe\xba\xbe\0\0\0\x41" + bytes(90), "fat": b"\xca\xfe\xba\xbe\0\0\0\1" + bytes([1, 0, 0, 7, 0, 0, 0, 3, 0, 0, 16]) + bytes(90),
                       "obj.o": found["c-obj.o"].read_bytes()}.items():
        (where / name).write_bytes(data)
    subprocess.run([need("ar"), "rcD", "lib.a", "obj.o"], cwd=where, check=True)
    return where


def all_same(pair, where, *runs):
    """Each run: arguments, and what stands on standard input."""
    for arguments, stdin in runs:
        difference = pair.compare(arguments, stdin, where)
        assert difference is None, stand_in_pairs.show_difference(arguments, stdin, difference)


def test_llvm_symbolizer_refuses_like_the_tool(files, folder):  # noqa: F811
    names = ("half", "table", "head", "cut", "short", "class", "entry", "empty", "Main.class", "fat", "lib.a", "lib.a(obj.o)", "app(obj.o)", "app:bpf", "app:x86_64-linux",
             "app:x86", "app:armv7", 'FILE:""')
    lines = b"".join(b"%s 0x1160\n" % name.encode() for name in names)
    all_same(pair_for("llvm-symbolizer", folder), files, ([], lines), (["--obj=half", "--output-style=JSON"], b"0x1160\n"),
             (["--default-arch=zz", "--obj=fat", "0x1"], b""))


def test_llvm_symbolizer_reads_an_object_from_standard_input(files, folder):  # noqa: F811
    all_same(pair_for("llvm-symbolizer", folder), files, (["-e", "-", "-a", "0x1160", "main"], (files / "app").read_bytes()), (["-e", "-", "0x1160"], b"no object"))


def test_gsymutil_reads_and_writes_streams_like_the_tool(files, folder):  # noqa: F811
    pair, app = pair_for("llvm-gsymutil", folder), (files / "app").read_bytes()
    all_same(pair, files, (["--num-threads=1", "--convert=half"], b""), (["--num-threads=1", "--convert=-", "--out-file=x.gsym"], b"no object"),
             (["--num-threads=1", "--convert=-", "--out-file=app.gs"], app))
    all_same(pair, files, (["-", "--address=0x1160"], (files / "app.gs").read_bytes()), (["--address=1", "-"], b"no index"))
    done = pair.run("ours", ["--num-threads=1", "--quiet", "--convert=app", "--out-file=-"], b"", files)
    assert (files / "app.gs").read_bytes() in done.out and done.code == 0


def test_gsymutil_with_functions_that_the_linker_removed_in_parts(folder, tmp_path):  # noqa: F811
    """Of a function in two parts, both removed, ld leaves a list of empty ranges: LLVM stores its name, and no function."""
    (tmp_path / "h.c").write_text("__attribute__((cold, noinline)) void rare(int x) { __asm__ volatile(\"\" :: \"r\"(x)); }\n"
                                  "int gone(int x) { if (__builtin_expect(x == 77, 0)) { rare(x); rare(x + 1); } return x * 3; }\n"
                                  "int main(int argc, char **argv) { return argc + !argv; }\n")
    pair = pair_for("llvm-gsymutil", folder)
    for split in ([], ["-gsplit-dwarf"]):
        subprocess.run([need("gcc"), "-gdwarf-4", *split, "-O2", "-ffunction-sections", "-Wl,--gc-sections", "h.c", "-o", "h"], cwd=tmp_path, check=True)
        theirs, ours = converted_by_both(pair, "h", tmp_path)
        assert theirs == ours and b"\0gone\0" in ours[1], split


# Functions whose names stand with the scopes around, as the compiler gives them no mangled one.
SCOPES = r"""
namespace inner { namespace {
struct counter {
    int at;
    __attribute__((noinline)) int step(int by) { return at += by * 3; }
    __attribute__((always_inline)) int both(int by) { return step(by) + step(by + 1); }
};
} }
int main(int argc, char **) {
    struct local { static __attribute__((noinline)) int run(int x) { asm volatile("" : "+r"(x)); return x * 7; } };
    inner::counter c = {argc};
    return c.both(argc) + local::run(argc);
}
"""


@pytest.mark.parametrize("options", [["-flto"], ["-flto", "-fdebug-types-section"], ["-fdebug-types-section"], ["-flto", "-gdwarf-4"]], ids=" ".join)
def test_gsymutil_with_declarations_in_other_units(options, folder, tmp_path):  # noqa: F811
    """With -flto the origin of a function is in another unit than its code, and the scope around it, too."""
    (tmp_path / "s.cc").write_text(SCOPES)
    subprocess.run([need("g++"), "-g", "-O2", *options, "s.cc", "-o", "s"], cwd=tmp_path, check=True)
    theirs, ours = converted_by_both(pair_for("llvm-gsymutil", folder), "s", tmp_path)
    assert theirs == ours and {b"inner::counter::step", b"inner::counter::both", b"main::local::run"} <= set(ours[1].split(b"\0"))


@pytest.mark.parametrize("split", ["-gsplit-dwarf", "-gno-split-dwarf"])
@pytest.mark.parametrize("compiler", ["g++ -gdwarf-5", "g++ -gdwarf-4", "clang++-22 -fbasic-block-sections=all -gdwarf-5", "clang++-22 -fbasic-block-sections=all -gdwarf-4"])
def test_gsymutil_dumps_of_parts_and_split_units(compiler, split, folder, tmp_path):  # noqa: F811
    """LLVM tells where a list of ranges is, and of split DWARF the number of a file. Each function is dumped, as the code is in no section of code."""
    (tmp_path / "s.cc").write_text(SCOPES.replace("return c.both", 'if (__builtin_expect(argc > 7, 0)) __builtin_abort();\n    return c.both'))
    need(compiler.split()[0])
    subprocess.run([*compiler.split(), split, "-O2", "s.cc", "-o", "s"], cwd=tmp_path, check=True)
    subprocess.run([need("objcopy"), "--set-section-flags", ".text=alloc,readonly,data", "s"], cwd=tmp_path, check=True)
    theirs, ours = converted_by_both(pair_for("llvm-gsymutil", folder), "s", tmp_path)
    assert theirs == ours and b"DW_AT_decl_file" in ours[0].out
    if "clang" in compiler and "-gdwarf-5" in compiler:
        assert b") rangelist = 0x" in ours[0].out


def test_gsymutil_with_undefined_functions_that_have_an_address(folder, tmp_path):  # noqa: F811
    """In a program at a fixed address a pointer to a function of a library is the address of its PLT entry: LLVM takes no such symbol."""
    (tmp_path / "u.c").write_text("#include <stdio.h>\nint (*volatile p)(const char *) = puts;\nint main(void) { return p == puts ? p(\"x\") : 0; }\n")
    subprocess.run([need("gcc"), "-g", "-O1", "-no-pie", "-fno-pie", "u.c", "-o", "u"], cwd=tmp_path, check=True)
    symbols = subprocess.run([need("readelf"), "-sW", "u"], cwd=tmp_path, capture_output=True, check=True).stdout.split(b"\n")
    if not any(b" UND puts" in line and int(line.split()[1], 16) for line in symbols):
        pytest.skip("the linker makes no such symbol")
    theirs, ours = converted_by_both(pair_for("llvm-gsymutil", folder), "u", tmp_path)
    assert theirs == ours and b"\0main\0" in ours[1]


def converted_by_both(pair, name, where):
    made = []
    for which in ("theirs", "ours"):
        done = pair.run(which, ["--num-threads=1", f"--convert={name}", "--out-file=made.gsym"], b"", where)
        made.append((done, (where / "made.gsym").read_bytes()))
    return made


def test_odd_elf_headers(folder, tmp_path):  # noqa: F811
    """EI_VERSION, which GNU and elfutils look at and LLVM does not, and machines that LLVM has no name for: SuperH, Alpha, IA-64; and
    a build id in a section of another name, as the kernel's: LLVM does not find it."""
    (tmp_path / "e.c").write_text("int f(int x) { return x * 3; }\nint _start(int x) { return f(x) + f(x + 1); }\n")
    subprocess.run([need("gcc"), "-g", "-O1", "-nostdlib", "-no-pie", "-Wl,-Ttext=0x401000", "e.c", "-o", "e"], cwd=tmp_path, check=True)
    whole = (tmp_path / "e").read_bytes()
    for version in (0, 2):
        (tmp_path / "e").write_bytes(whole[:6] + bytes([version]) + whole[7:])
        for dialect, arguments in (("addr2line", ["-fie", "e", "0x401001"]), ("eu-addr2line", ["-fi", "-e", "e", "0x401001"]), ("llvm-symbolizer", ["-e", "e", "0x401001"])):
            difference = pair_for(dialect, folder).compare(arguments, b"", tmp_path)
            assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)
    for machine in (42, 0x9026, 50):
        (tmp_path / "e").write_bytes(whole[:18] + machine.to_bytes(2, "little") + whole[20:])
        theirs, ours = converted_by_both(pair_for("llvm-gsymutil", folder), "e", tmp_path)
        assert theirs == ours and ours[1][:4] == b"GSYM", machine
    (tmp_path / "e").write_bytes(whole)
    subprocess.run([need("objcopy"), "--rename-section", ".note.gnu.build-id=.notes", "e"], cwd=tmp_path, check=True)
    theirs, ours = converted_by_both(pair_for("llvm-gsymutil", folder), "e", tmp_path)
    assert theirs == ours


# Ranges by index, the first of them empty, as offsets from a base and as ends; and behind one that is not empty.
LISTS = r"""
.globl _start
_start: .zero 64
.section .debug_abbrev,"",@progbits
.uleb128 1,0x11
.byte 1
.uleb128 3,8,0x13,0xb,0x11,0x1b,0x12,6,0x73,0x17,0x74,0x17
.byte 0,0
.uleb128 2,0x2e
.byte 0
.uleb128 3,8,0x55,0x23
.byte 0,0,0
.section .debug_info,"",@progbits
.long .Lend-.Lver
.Lver: .short 5
.byte 1,8
.long .debug_abbrev
.uleb128 1
.asciz "a.c"
.byte 12
.uleb128 0
.long 64
.long .Laddr, .Llists
.irpc k,0123
.uleb128 2
.asciz "f\k"
.uleb128 \k
.endr
.byte 0
.Lend:
.section .debug_addr,"",@progbits
.long 20
.short 5
.byte 8,0
.Laddr: .quad _start, _start + 32
.section .debug_rnglists,"",@progbits
.long .Lrend-.Lrver
.Lrver: .short 5
.byte 8,0
.long 4
.Llists: .long 1f-.Llists, 2f-.Llists, 3f-.Llists, 4f-.Llists
1: .byte 1,0, 4,1,1, 4,16,32, 0
2: .byte 2,1,1, 3,1,16, 0
3: .byte 3,0,16, 3,1,0, 3,1,16, 0
4: .byte 3,0,0, 0
.Lrend:
"""


def test_gsymutil_with_empty_ranges_in_lists_by_index(folder, tmp_path):  # noqa: F811
    (tmp_path / "l.s").write_text(LISTS)
    subprocess.run([need("gcc"), "-nostdlib", "-no-pie", "l.s", "-o", "l"], cwd=tmp_path, check=True)
    theirs, ours = converted_by_both(pair_for("llvm-gsymutil", folder), "l", tmp_path)
    assert theirs == ours and ours[1].count(b"\0f") == 4


# Functions of a namespace whose names are mangled, or look so.
CLONES = r"""
.globl _start
_start: .zero 64
.section .debug_abbrev,"",@progbits
.uleb128 1,0x11
.byte 1
.uleb128 3,8,0x13,0xb,0x11,1,0x12,6
.byte 0,0
.uleb128 2,0x39
.byte 1
.uleb128 3,8
.byte 0,0
.uleb128 3,0x2e
.byte 0
.uleb128 3,8,0x11,1,0x12,6
.byte 0,0,0
.section .debug_info,"",@progbits
.long .Lend-.Lver
.Lver: .short 4
.long .debug_abbrev
.byte 8
.uleb128 1
.asciz "a.cc"
.byte 4
.quad _start
.long 64
.uleb128 2
.asciz "a"
.set at,0
.irp name,_ZN1a1bEi.isra.0,_ZN1a1cEi.part.1,_ZN1a1dEi,e.isra.0,_Y.part.0
.uleb128 3
.asciz "\name"
.quad _start + at
.long 8
.set at,at+8
.endr
.byte 0,0
.Lend:
"""


def test_gsymutil_with_parts_of_functions(folder, tmp_path):  # noqa: F811
    """GCC names them in DW_AT_name, mangled: LLVM puts no namespace before those."""
    (tmp_path / "p.s").write_text(CLONES)
    subprocess.run([need("gcc"), "-nostdlib", "-no-pie", "p.s", "-o", "p"], cwd=tmp_path, check=True)
    theirs, ours = converted_by_both(pair_for("llvm-gsymutil", folder), "p", tmp_path)
    assert theirs == ours
    names = (b"_ZN1a1bEi.isra.0", b"_ZN1a1cEi.part.1", b"a::_ZN1a1dEi", b"a::e.isra.0", b"a::_Y.part.0")
    assert all(b"\0" + name in ours[1] for name in names)


# Each function within the one before, with a call inlined into it in front of that; and DIEs of which each has two origins.
NESTED = """
.globl _start
_start: .zero 64
.section .debug_abbrev,"",@progbits
.uleb128 1,0x11
.byte 1
.uleb128 3,8,0x13,0xb,0x11,1,0x12,6
.byte 0,0
.uleb128 2,0x2e
.byte 1
.uleb128 3,8,0x11,1,0x12,6
.byte 0,0
.uleb128 3,0x1d
.byte 0
.uleb128 0x31,0x13,0x11,1,0x12,6,0x58,0xb,0x59,0xb
.byte 0,0
.uleb128 4,0x2e
.byte 0
.uleb128 3,8,0x11,1,0x12,6,0x31,0x13,0x47,0x13
.byte 0,0,0
.section .debug_info,"",@progbits
.Linfo: .long .Lend-.Lver
.Lver: .short 4
.long .debug_abbrev
.byte 8
.uleb128 1
.asciz "a.c"
.byte LANGUAGE
.quad _start
.long 64
.rept DEPTH
.uleb128 2
.asciz "f"
.quad _start
.long 64
.uleb128 3
.long 0x20
.quad _start
.long 64
.byte 1,7
.endr
.rept DEPTH
.byte 0
.endr
.rept ORIGINS
.uleb128 4
.asciz "g"
.quad _start
.long 64
9: .long 9b+8-.Linfo, 9b+8-.Linfo
.endr
.uleb128 2
.asciz "f"
.quad _start
.long 64
.byte 0,0
.Lend:
"""


@pytest.mark.long_with_sanitizers
def test_gsymutil_with_nested_functions(folder, tmp_path):  # noqa: F811
    """For each function all that are further in were gone through, and with two origins twice as many in each step."""
    pair = pair_for("llvm-gsymutil", folder)
    for depth, origins, language, whose in ((300, 3, 12, ("theirs", "ours")), (60, 3, 4, ("theirs", "ours")), (60000, 60, 4, ("ours",))):
        words = {"DEPTH": depth, "ORIGINS": origins, "LANGUAGE": language}
        text = NESTED
        for word, value in words.items():
            text = text.replace(word, str(value))
        (tmp_path / "n.s").write_text(text)
        subprocess.run([need("gcc"), "-nostdlib", "-no-pie", "n.s", "-o", "n"], cwd=tmp_path, check=True)
        made = []
        for which in whose:
            done = pair.run(which, ["--num-threads=1", "--quiet", "--dwarf-callsites", "--convert=n", "--out-file=n.gsym"], b"", tmp_path)
            made.append((done, (tmp_path / "n.gsym").read_bytes()))
        assert made[0] == made[-1] and made[0][0].code == 0


def test_gsymutil_options_are_read_before_they_are_judged(files, folder):  # noqa: F811
    words = ("-o=x", "-vo", "--verify= -o x", "--addres=1 -q", "--num-threads=x --arch", "-q --num-threads=x", "--num-threads=x --num-threads=1", "--num-threads=4294967296",
             "--segment-size=x --num-threads=y", "--address=y --segment-size=x", "--address=y -hv", "-version")
    all_same(pair_for("llvm-gsymutil", folder), files, *((line.split(), b"") for line in words), (["", "nosuch"], b""), ([""], b""))


def test_llvm_symbolizer_options_like_the_tool(files, folder):  # noqa: F811
    pair = pair_for("llvm-symbolizer", folder)
    all_same(pair, files, (["--demangel", "-ae"], b""), (["-fnone"], b""), (["--obj=app", "", "0x1160", ""], b""), (["--dsym-hint=a", "--dsym-hint=b.dSYM", "--obj=app"], b"0x1160\t\n"))
    all_same(pair, files, (["--obj=app"], b"0x1160\t\n0x1160\t 5\nmain\v\nFILE:\nBUILDID:\nFILE:app 0x1\n 0x1160 \t\r\n"))


def test_llvm_addr2line_numbers(callsign, files, folder):  # noqa: F811
    """Binutils' tool takes a plus before 0x."""
    words = ("+0x1160", "+0X1160", "+1160", "++0x1160", "+0x", "+0", "+", "0x", "0x+1", "+main", "+0xzz", "+0xg+3", "+0x+0x1160", "+0x1160+3", "CODE +0x1160", "DATA +0x4010",
             "+0x 1", "+0y12", "main+0x4", "main+4")
    plain, plus = (callsign.good("llvm-addr2line", "-f", "-e", "app", text, cwd=files) for text in ("0x1160", "+0x1160"))
    assert plain == plus and "??" not in plain.split()[0]
    all_same(pair_for("llvm-addr2line", folder), files, *((["-fa", "-e", "app"], f"{text}\n".encode()) for text in words), *((["-f", "-e", "app", text], b"") for text in words))


def test_response_files_like_the_tools(files, folder):  # noqa: F811
    for name, text in {"self.rsp": "0x1160 @self.rsp main", "a.rsp": "@b.rsp 0x1", "b.rsp": "0x2 @a.rsp", "twice.rsp": "@main.rsp @main.rsp", "main.rsp": "main"}.items():
        (files / name).write_text(text)
    for words in (["@self.rsp"], ["@a.rsp"], ["@twice.rsp", "@main.rsp"], ["@.", "main"], ["@"]):
        all_same(pair_for("llvm-symbolizer", folder), files, (["--obj=app", *words], b""))
    all_same(pair_for("addr2line", folder), files, (["-e", "app", "@twice.rsp", "@"], b""), (["-e", "app", "@self.rsp"], b""))


def test_eu_addr2line_options_like_the_tool(files, folder):  # noqa: F811
    words = ("--p", "--d", "--s", "--hel", "--program-name=x/y --nosuch", "--pro", "-e app --program-name=z main+0x main+0xg")
    all_same(pair_for("eu-addr2line", folder), files, *((line.split(), b"") for line in words))


def test_eu_addr2line_places_a_file_that_nobody_named(callsign, folder, tmp_path):  # noqa: F811
    """a.out of the working folder: what is linked at 0 is at 64 KiB, as libdwfl places the first of several."""
    (tmp_path / "a.s").write_text(".globl f\n.type f, @function\nf: .rept 8\nnop\n.endr\n.size f, 8\n")
    for arguments, move in ((["-c"], 0x10000), (["-shared"], 0x10000), (["-static", "-Wl,-e,f"], 0)):
        subprocess.run([need("gcc"), "-nostdlib", "-g", *arguments, "a.s", "-o", "a.out"], cwd=tmp_path, check=True)
        listing = subprocess.run(["nm", "a.out"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        start = next(int(line.split()[0], 16) for line in listing.splitlines() if line.endswith(" f")) + move
        assert callsign.good("eu-addr2line", "-S", hex(start + 3), "f+3", cwd=tmp_path).split("\n")[::2] == ["f+0x3", "f+0x3", ""]
        assert callsign.good("eu-addr2line", "-S", "-e", "a.out", hex(start - move + 3), cwd=tmp_path).split("\n")[0] == "f+0x3"
        lines = "".join(f"{place + addr:x}\n" for place in (start, start - move) for addr in range(-2, 20) if place + addr >= 0).encode() + b"f\nf+1\n(.text)0x2\n"
        all_same(pair_for("eu-addr2line", folder), tmp_path, *((words, lines) for words in ([], ["-afi"], ["-aSx"], ["-j", ".text"])))


def test_addr2line_refuses_like_the_tool(files, folder):  # noqa: F811
    all_same(pair_for("addr2line", folder), files, *((["-e", name, "0x1160"], b"") for name in ("half", "table", "short", "core")))


# A variable that is in memory for a while, of a type that has no size but that of its base; a table of ranges with two in one section.
DATA = r"""
	.file 1 "/src/v.c"
	.section .debug_line,"",@progbits
.Lline:
	.text
	.globl f, _start
_start:
f:	.loc 1 3
	mov gs(%rip), %eax
	ret
.Lend:
	.bss
	.globl gs
gs:	.zero 16
	.section .debug_abbrev,"",@progbits
	.byte 1,0x11,1, 0x10,0x17, 0x11,1, 0x12,6, 0,0
	.byte 2,0x2e,1, 3,8, 0x11,1, 0x12,6, 0x40,0x18, 0,0
	.byte 3,0x34,0, 3,8, 0x49,0x13, 2,0x17, 0x3a,0xb, 0x3b,0xb, 0,0
	.byte 4,0x24,0, 3,8, 0xb,0xb, 0x3e,0xb, 0,0
	.byte 5,0x21,0, 0x49,0x13, 0,0, 0
	.section .debug_info,"",@progbits
.Linfo:	.long .Linfoend-.Lversion
.Lversion:
	.value 4
	.long 0
	.byte 8, 1
	.long .Lline
	.quad f
	.long .Lend-f
	.byte 2
	.asciz "f"
	.quad f
	.long .Lend-f
	.byte 1,0x57, 3
	.asciz "a"
	.long .Lrange-.Linfo
	.long .Lloc
	.byte 1,7, 0
.Lbase:	.byte 4
	.asciz "long"
	.byte 8,5
.Lrange: .byte 5
	.long .Lbase-.Linfo
	.byte 0
.Linfoend:
	.section .debug_loc,"",@progbits
.Lloc:	.quad 0, 4
	.value 9
	.byte 3
	.quad gs
	.quad 4, 5
	.value 1
	.byte 0x51
	.quad 0, 0
"""
RANGES = """
	.section .debug_aranges,"",@progbits
	.long 0x3c
	.value 2
	.long 0
	.byte 8, 0
	.long 0
	.quad f, 2, f + 3, .Lend - f - 3, 0, 0
"""


def test_llvm_symbolizer_with_places_of_a_variable_and_ranges_that_are_not_relocated(folder, tmp_path):  # noqa: F811
    (tmp_path / "v.s").write_text(DATA)
    (tmp_path / "r.s").write_text(DATA + RANGES)
    subprocess.run([need("gcc"), "-nostdlib", "-no-pie", "-Wl,-Ttext=0x401000,-Tbss=0x402000", "v.s", "-o", "v"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-c", "r.s"], cwd=tmp_path, check=True)
    lines = b"v DATA\nDATA v 0x402000\nDATA v 0x402008\nFRAME v 0x401000\n" + b"".join(b"r.o %d\n" % addr for addr in range(9))
    all_same(pair_for("llvm-symbolizer", folder), tmp_path, ([], lines))
    assert b"/src/v.c:7" in pair_for("llvm-symbolizer", folder).run("ours", [], lines, tmp_path).out


def test_eu_addr2line_where_a_row_begins_outside_of_its_unit(folder, tmp_path):  # noqa: F811
    (tmp_path / "e.s").write_text(DATA + RANGES.replace("f, 2, f + 3, .Lend - f - 3", "f + 1, 2, f + 4, .Lend - f - 4"))
    subprocess.run([need("gcc"), "-nostdlib", "-no-pie", "-Wl,-Ttext=0x401000", "e.s", "-o", "e"], cwd=tmp_path, check=True)
    all_same(pair_for("eu-addr2line", folder), tmp_path, *((["-ife", "e", addr], b"") for addr in ("0x401001", "0x401004")))


def disordered_table(rng):
    """A line table whose rows come in any order, and whose sequences may end before they begin."""
    program = b""
    for _ in range(rng.randrange(1, 4)):
        for _ in range(rng.randrange(2, 14)):
            program += b"\0\x09\2" + struct.pack("<Q", 0x401000 + rng.randrange(9)) + bytes([3, rng.randrange(1, 60)]) + b"\1"
        program += b"\0\x09\2" + struct.pack("<Q", 0x401000 + rng.randrange(12)) + b"\0\1\1"
    header = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0/src/v.c\0\0\0\0\0"
    body = struct.pack("<HI", 4, len(header)) + header + program
    return struct.pack("<I", len(body)) + body


def test_rows_out_of_order(folder, tmp_path):  # noqa: F811
    (tmp_path / "v.s").write_text(DATA)
    subprocess.run([need("gcc"), "-nostdlib", "-no-pie", "-Wl,-Ttext=0x401000", "v.s", "-o", "v"], cwd=tmp_path, check=True)
    rng, addresses = random.Random(5), [f"0x{addr:x}" for addr in range(0x401000, 0x401008)]
    for _ in range(10):
        (tmp_path / "line").write_bytes(disordered_table(rng))
        subprocess.run([need("objcopy"), "--update-section", ".debug_line=line", "v"], cwd=tmp_path, check=True)
        all_same(pair_for("addr2line", folder), tmp_path, (["-e", "v", *addresses], b""))


OVERLAP = r"""
	.file 1 "/src/v.c"
	.section .debug_line,"",@progbits
.Lline:
	.text
	.globl _start
_start:
	.loc 1 3
	.zero 48, 0x90
	.section .debug_abbrev,"",@progbits
	.byte 1,0x11,1, 0x10,0x17, 0x11,1, 0x12,6, 0,0
	.byte 2,0x2e,0, 3,8, 0x11,1, 0x12,6, 0,0, 0
	.macro unit name, low, size, from, length
	.long 2f - 1f
1:	.value 4
	.long 0
	.byte 8, 1
	.long .Lline
	.quad _start + \low
	.long \size
	.byte 2
	.asciz "\name"
	.quad _start + \from
	.long \length
	.byte 0
2:
	.endm
	.section .debug_info,"",@progbits
	unit f, 10, 10, 5, 25
	unit g, 0, 40, 0, 40
"""


def test_addr2line_with_units_that_overlap(folder, tmp_path):  # noqa: F811
    """A function that overlaps the range of its unit has the turn of that, not one of its own."""
    (tmp_path / "o.s").write_text(OVERLAP)
    subprocess.run([need("gcc"), "-nostdlib", "-no-pie", "-Wl,-Ttext=0x401000", "o.s", "-o", "o"], cwd=tmp_path, check=True)
    all_same(pair_for("addr2line", folder), tmp_path, (["-f", "-e", "o"], b"401023\n40100c\n401008\n401003\n"))


def test_addr2line_thread_local_symbols_and_names_of_d(folder, tmp_path):  # noqa: F811
    (tmp_path / "t.c").write_text("int f(int x) { return x; }\n_Thread_local int tls = 3;\nint code(void) __asm__(\"_D3foo3barFZi\");\nint code(void) { return 3; }\n")
    subprocess.run([need("gcc"), "-g", "-c", "t.c"], cwd=tmp_path, check=True)
    all_same(pair_for("addr2line", folder), tmp_path, (["-afC", "-e", "t.o"], b"tls\n_D3foo3barFZi\nf\n"))


@pytest.mark.parametrize("compiler", ["x86_64-w64-mingw32-gcc", "i686-w64-mingw32-gcc", "clang-22 --target=x86_64-w64-mingw32"])
def test_addr2line_files_of_coff_symbols(compiler, folder, tmp_path):  # noqa: F811
    """GNU as cuts a name to 14 bytes, puts one of more than 18 into the string table; LLVM's fills several records, and GNU reads the first."""
    need(compiler.split()[0])
    pair, seen = pair_for("addr2line", folder), set()
    for size in (14, 15, 18, 19, 36, 37):
        name = "x" * (size - 2) + ".c"
        (tmp_path / name).write_text("static __attribute__((noinline)) int hidden(int a) { __asm__ volatile(\"\"); return a + 1; }\n"
                                     "int main(int argc, char **argv) { return hidden(argc) + !argv; }\n")
        made = {"a.o": ["-c"], **({} if "clang" in compiler else {"a.exe": []})}
        for out, options in made.items():
            subprocess.run([*compiler.split(), "-O1", *options, name, "-o", out], cwd=tmp_path, check=True)
            symbols = subprocess.run([need("nm"), out], cwd=tmp_path, capture_output=True, check=True).stdout.split(b"\n")
            addr = next(line.split()[0].decode() for line in symbols if line.endswith((b" hidden", b" _hidden")))
            all_same(pair, tmp_path, (["-fe", out, "0x" + addr], b""))
            seen.update(pair.run("ours", ["-e", out, "0x" + addr], b"", tmp_path).out.split(b":")[:1])
    assert b"x" * 34 + b".c" in seen if "gcc" in compiler else b"x" * 18 in seen
