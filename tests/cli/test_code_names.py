"""Names of code that no function symbol has: stubs, labels of assembler source, descriptors, parts of sections. Judged by objdump, nm
and the source text."""
import json
import re
import subprocess

import pytest

from programs import need

CALLS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((weak)) void maybe(void);
int main(int count, char **words) {
    char text[99];
    strcpy(text, words[0]);
    qsort(text, strlen(text), 1, (void *)strcmp);
    printf("%s\\n", text);
    if (maybe) maybe();
    free(malloc(count));
    puts(getenv("A"));
    return 0;
}
"""
STUBS = {
    "x86_64": ("gcc",),
    "x86_64-lazy": ("gcc", "-Wl,-z,lazy", "-no-pie"),
    "x86_64-ibt": ("gcc", "-fcf-protection", "-Wl,-z,ibtplt", "-Wl,-z,lazy"),
    "x86_64-lld": ("clang-22", "-fuse-ld=lld-22"),
    "i686": ("i686-linux-gnu-gcc",),
    "i686-lazy": ("i686-linux-gnu-gcc", "-no-pie", "-Wl,-z,lazy"),
    "aarch64": ("aarch64-linux-gnu-gcc",),
    "aarch64-bti": ("aarch64-linux-gnu-gcc", "-mbranch-protection=standard", "-Wl,-z,force-bti"),
    "arm": ("arm-linux-gnueabihf-gcc",),
    "arm-long": ("arm-linux-gnueabihf-gcc", "-marm", "-Wl,--long-plt"),
    "riscv64": ("riscv64-linux-gnu-gcc",),
    "s390x": ("s390x-linux-gnu-gcc",),
    "powerpc64": ("powerpc64-linux-gnu-gcc",),
}


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr}"
    return done.stdout


def functions(callsign, source, index):
    """{start: (name, size)}"""
    callsign.good("convert", "--quiet", source, "-o", index)
    records = [json.loads(line) for line in callsign.good("dump", index, "--json").splitlines()]
    found = [record["function"] for record in records if "function" in record]
    return {int(f["start"], 16): (f.get("name", ""), f["size"]) for f in found}


def symbols(path, nm="nm"):
    """{name: address}"""
    rows = [line.split() for line in run(path.parent, nm, path).splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


@pytest.mark.parametrize("kind", STUBS)
def test_stubs_are_those_of_objdump(callsign, kind, tmp_path):
    compiler, *flags = STUBS[kind]
    need(compiler)
    objdump = compiler.replace("-gcc", "-objdump") if compiler.endswith("-gcc") else "objdump"
    (tmp_path / "calls.c").write_text(CALLS)
    run(tmp_path, compiler, *flags, "-w", "calls.c", "-o", "calls")
    listing = run(tmp_path, objdump, "-d", "calls")
    labels = {int(a, 16): name for a, name in re.findall(r"^([0-9a-f]+) <(.*@plt)>:$", listing, re.M)}
    assert len(labels) > 5
    found = functions(callsign, tmp_path / "calls", tmp_path / "index")
    stubs = {start: name for start, (name, _) in found.items() if name.endswith("@plt")}
    assert stubs == labels
    starts = sorted(stubs)
    sizes = [found[start][1] for start in starts]
    assert min(sizes) >= 4 and all(a + size <= b for a, b, size in zip(starts, starts[1:], sizes)), "they overlap"
    for start, (name, size) in found.items():
        assert name != "_init" or not any(start < stub < start + size for stub in starts), "_init owns stubs"


@pytest.mark.parametrize("flag", ["-no-pie", "-pie", "-static"])
def test_stubs_of_functions_that_are_chosen_at_the_start(callsign, flag, tmp_path):
    """Their pointers are filled by what a resolver answers. objdump names the stubs by it, but in static programs none at all."""
    (tmp_path / "chosen.c").write_text("""static int one(void) { return 1; }
        static int (*resolver(void))(void) { return one; }
        int chosen(void) __attribute__((ifunc("resolver")));
        int main(void) { return chosen(); }""")
    run(tmp_path, need("gcc"), "-O1", "-g", flag, "chosen.c", "-o", "chosen")
    found = functions(callsign, tmp_path / "chosen", tmp_path / "index")
    stubs = {start: name for start, (name, _) in found.items() if name.endswith("@plt")}
    listing = run(tmp_path, "objdump", "-d", "chosen")
    labels = {int(a, 16): name for a, name in re.findall(r"^([0-9a-f]+) <(.*@plt)>:$", listing, re.M)}
    assert f"*ABS*+{symbols(tmp_path / 'chosen')['resolver']:#x}@plt" in stubs.values() and labels.items() <= stubs.items()


@pytest.mark.parametrize("order", ["be8", "be32"])
def test_stubs_of_big_endian_arm(callsign, order, tmp_path):
    """Instructions are little-endian with BE8, and big-endian with BE32."""
    (tmp_path / "calls.c").write_text("int other(int); int puts(const char *); int f(void) { return puts(\"x\") + other(3); }\n")
    flags = ("-mbig-endian", f"-m{order}", "-fPIC", "-shared", "-nostdlib")
    run(tmp_path, need("arm-linux-gnueabihf-gcc"), *flags, "calls.c", "-o", "calls")
    assert ("BE8" in run(tmp_path, "readelf", "-h", "calls")) == (order == "be8")
    found = functions(callsign, tmp_path / "calls", tmp_path / "index")
    listing = run(tmp_path, "arm-linux-gnueabihf-objdump", "-d", "calls")
    labels = {int(a, 16): (name, 12) for a, name in re.findall(r"^([0-9a-f]+) <(.*@plt)>:$", listing, re.M)}
    assert len(labels) == 2 and {start: f for start, f in found.items() if f[0].endswith("@plt")} == labels


CALLERS = {
    "sh4": "caller{0}: mov.l 1f, r1\n    rts\n    nop\n    .align 2\n1:  .long {1}{at_plt}\n",
    "alpha": "caller{0}: ldgp $29, 0($27)\n    ldq $27, {1}($29) !literal!{0}\n    jsr $26, ($27), 0 !lituse_jsr!{0}\n",
}


@pytest.mark.parametrize("machine, kind", [("sh4", "shared"), ("sh4", "program"), ("alpha", "shared"), ("alpha", "program")])
def test_stubs_of_machines_without_a_compiler(callsign, machine, kind, tmp_path):
    """Assembler code that calls a library's functions. objdump does not name Alpha's stubs: there, the pointers say where they are."""
    wanted = ["puts", "strlen", "qsort", "a_function_with_a_long_name"]
    as_, ld, objdump = (need(f"{machine}-linux-gnu-{tool}") for tool in ("as", "ld", "objdump"))
    (tmp_path / "lib.s").write_text("".join(f"    .globl {name}\n    .type {name}, @function\n{name}: nop\n" for name in wanted))
    at_plt = "@PLT" if kind == "shared" else ""
    (tmp_path / "calls.s").write_text("    .globl _start\n_start:\n" + "".join(
        CALLERS[machine].format(k + 1, name, at_plt=at_plt) for k, name in enumerate(wanted)))
    for name in ("lib", "calls"):
        run(tmp_path, as_, f"{name}.s", "-o", f"{name}.o")
    run(tmp_path, ld, "-shared", "lib.o", "-o", "lib.so")
    run(tmp_path, ld, *(["-shared"] if kind == "shared" else []), "calls.o", "lib.so", "-o", "calls")
    found = functions(callsign, tmp_path / "calls", tmp_path / "index")
    stubs = {start: name for start, (name, _) in found.items() if name.endswith("@plt")}
    labels = {int(a, 16): name for a, name in re.findall(r"^([0-9a-f]+) <(.*@plt)>:$", run(tmp_path, objdump, "-d", "calls"), re.M)}
    if machine == "alpha":
        slots = re.findall(r"^([0-9a-f]+) +[0-9a-f]+ R_ALPHA_JMP_SLOT +[0-9a-f]+ (\w+) ", run(tmp_path, "readelf", "-rW", "calls"), re.M)
        listed = run(tmp_path, objdump, "-s", "-j", ".got", "calls")
        bytes_of = {int(a, 16): bytes.fromhex(text.replace(" ", "")) for a, text in re.findall(r"^ ([0-9a-f]+) ((?:[0-9a-f]+ )+) ", listed, re.M)}
        begin = min(bytes_of)
        table = b"".join(bytes_of[at] for at in sorted(bytes_of))
        labels = {int.from_bytes(table[int(at, 16) - begin:][:8], "little"): f"{name}@plt" for at, name in slots}
    assert stubs == labels and sorted(labels.values()) == sorted(f"{name}@plt" for name in wanted)
    assert all(start + found[start][1] <= after for start, after in zip(sorted(stubs), sorted(stubs)[1:]))


def test_stubs_of_a_stripped_library(callsign, tmp_path):
    (tmp_path / "calls.c").write_text(CALLS)
    run(tmp_path, need("gcc"), "-w", "-s", "-shared", "-fPIC", "calls.c", "-o", "calls")
    names = {name for name, _ in functions(callsign, tmp_path / "calls", tmp_path / "index").values()}
    assert {"puts@plt", "qsort@plt", "strlen@plt"} <= names


def test_labels_of_nasm(callsign, tmp_path):
    (tmp_path / "plain.asm").write_text("""
global typed:function
global plainlab
section .text
typed:
    mov eax, edi
    add eax, 3
    ret
plainlab:
    imul eax, edi, 7
    ret
local_one:
    nop
    ret
global sized:function (sized.end - sized)
sized:
    mov eax, 1
.inner:
    ret
.end:
""")
    (tmp_path / "main.c").write_text("int typed(int), plainlab(int), sized(void);\n"
                                     "int main(int c, char **v) { return typed(c) + plainlab(c) + sized(); }")
    run(tmp_path, need("nasm"), "-f", "elf64", "plain.asm", "-o", "plain.o")
    run(tmp_path, "gcc", "-g", "main.c", "plain.o", "-o", "program", "-Wl,-z,noexecstack")
    found = functions(callsign, tmp_path / "program", tmp_path / "index")
    at = symbols(tmp_path / "program")
    assert found[at["typed"]] == ("typed", at["plainlab"] - at["typed"])
    assert found[at["plainlab"]] == ("plainlab", at["local_one"] - at["plainlab"])
    assert found[at["local_one"]] == ("local_one", 2)
    assert found[at["sized"]] == ("sized", 6) and at["sized.inner"] not in found
    unlinked = {name for name, _ in functions(callsign, tmp_path / "plain.o", tmp_path / "index").values()}
    assert {"typed", "plainlab", "local_one", "sized"} == unlinked


def test_code_marked_as_data(callsign, tmp_path):
    """GHC gives its code symbols of type object; functions go before them."""
    (tmp_path / "code.s").write_text(""".text
.globl entry_info
.type entry_info, @object
entry_info: nop; nop; nop; nop
.size entry_info, 4
.globl known
.type known, @function
known: ret
.size known, 1
.type again, @object
again = known
.size again, 1
.data
.globl word
.type word, @object
word: .quad 1
.size word, 8
""")
    run(tmp_path, need("gcc"), "-nostdlib", "-shared", "code.s", "-o", "code.so")
    found = functions(callsign, tmp_path / "code.so", tmp_path / "index")
    places = symbols(tmp_path / "code.so")
    assert found[places["entry_info"]] == ("entry_info", 4) and found[places["known"]] == ("known", 1)
    assert len(found) == 2


def test_symbols_without_size_end_with_their_section(callsign, tmp_path):
    (tmp_path / "ends.s").write_text("""
    .section .a, "ax", @progbits
    .globl first
    .type first, @function
first: nop; nop
    .section .b, "ax", @progbits
    nop; nop; nop; nop
    .globl second
    .type second, @function
second: nop
    .size second, 1
""")
    run(tmp_path, "gcc", "-nostdlib", "-shared", "ends.s", "-o", "ends", "-Wl,-z,noexecstack")
    found = functions(callsign, tmp_path / "ends", tmp_path / "index")
    at = symbols(tmp_path / "ends")
    assert found == {at["first"]: ("first", 2), at["second"]: ("second", 1)}


def test_a_second_name_without_size_gives_way(callsign, tmp_path):
    """To the function that begins there and has a size: what lies between two functions is of neither."""
    (tmp_path / "names.s").write_text("""
    .text
    .globl whole, second, next
    .type whole, @function
    .type second, @function
    .type next, @function
whole:
second:
    nop
    .size whole, 1
    .skip 15
next:
    nop
    .size next, 1
""")
    run(tmp_path, "gcc", "-nostdlib", "-shared", "names.s", "-o", "names", "-Wl,-z,noexecstack")
    at = symbols(tmp_path / "names")
    assert functions(callsign, tmp_path / "names", tmp_path / "index") == {at["whole"]: ("whole", 1), at["next"]: ("next", 1)}


def test_labels_of_assemblers_are_no_names(callsign, tmp_path):
    (tmp_path / "labels.s").write_text("""
    .text
    .globl outer
outer:
    nop
    .type .Ltyped, @function
.Ltyped:
    nop
"$x": nop
"$d.17": nop
"..@4.loop": nop
""")
    run(tmp_path, "as", "--keep-locals", "labels.s", "-o", "labels.o")
    assert functions(callsign, tmp_path / "labels.o", tmp_path / "index") == {0: ("outer", 5)}


def test_thumb_bit_of_assembler_source(callsign, tmp_path):
    compiler = need("arm-linux-gnueabihf-gcc")
    (tmp_path / "thumb.s").write_text("""
    .syntax unified
    .thumb
    .globl typed
    .type typed, %function
typed:
    movs r0, #1
    bx lr
    .size typed, . - typed
""")
    (tmp_path / "main.c").write_text("int typed(void); int main(void) { return typed(); }")
    run(tmp_path, compiler, "-g", "main.c", "thumb.s", "-o", "thumb", "-Wl,-z,noexecstack")
    found = functions(callsign, tmp_path / "thumb", tmp_path / "index")
    at = symbols(tmp_path / "thumb", "arm-linux-gnueabihf-nm")["typed"]
    assert at % 2 == 0 and [start for start, (name, _) in found.items() if name == "typed"] == [at]
    frames = json.loads(callsign.good("lookup", tmp_path / "index", "--json", hex(at + 2)))["frames"]
    assert [(f["function"], f["offset"], f["line"]) for f in frames] == [("typed", 2, 8)]


@pytest.mark.parametrize("link", ["-static", "-pie"])
def test_descriptors_of_powerpc64(callsign, link, tmp_path):
    compiler = need("powerpc64-linux-gnu-gcc")
    (tmp_path / "calls.c").write_text(CALLS)
    run(tmp_path, compiler, "-w", "-fPIE", link, "calls.c", "-o", "calls")
    found = functions(callsign, tmp_path / "calls", tmp_path / "index")
    listing = run(tmp_path, "powerpc64-linux-gnu-objdump", "-d", "calls")
    labels = {int(a, 16): name for a, name in re.findall(r"^([0-9a-f]+) <\.(\w+)>:$", listing, re.M)}
    assert "main" in labels.values() and len(labels) > (500 if link == "-static" else 3)
    assert [name for start, name in labels.items() if start not in found] == []
    main = next(start for start, name in labels.items() if name == "main")
    assert found[main][0] == "main"


def test_sections_name_functions_that_were_stripped(callsign, tmp_path):
    """GCC's libraries for Windows come with few symbols, but sections that are called after their functions."""
    compiler = need("x86_64-w64-mingw32-gcc")
    (tmp_path / "kept.c").write_text("extern int shown(int);\nint main(int c, char **v) { return shown(c); }\n")
    (tmp_path / "part.c").write_text("static __attribute__((noinline)) int hidden(int a) { volatile int b = a; return b * 3; }\n"
                                     "int shown(int a) { return hidden(a) + 1; }\n")
    run(tmp_path, compiler, "-O1", "-ffunction-sections", "-c", "part.c")
    run(tmp_path, "x86_64-w64-mingw32-objcopy", "--strip-symbol=hidden", "part.o", "stripped.o")
    run(tmp_path, compiler, "-O1", "kept.c", "stripped.o", "-o", "program.exe")
    at = symbols(tmp_path / "program.exe", "x86_64-w64-mingw32-nm")
    assert "hidden" not in at
    found = functions(callsign, tmp_path / "program.exe", tmp_path / "index")
    assert found[at[".text$hidden"]][0] == "hidden"


@pytest.mark.parametrize("machine", ["x86_64", "i686"])
def test_parts_of_sections_end_what_is_before_them(callsign, machine, tmp_path):
    """Code of a file without symbols is not that of the function before it."""
    compiler = need(f"{machine}-w64-mingw32-gcc")
    (tmp_path / "a.c").write_text("int first(int a) { return a + 1; }\n")
    (tmp_path / "b.s").write_text("    .text\n    .globl start\nstart: nop\n    ret\n")
    (tmp_path / "main.c").write_text("int first(int); int main(int c, char **v) { return first(c); }\n")
    run(tmp_path, compiler, "-c", "a.c")
    run(tmp_path, compiler, "-c", "b.s")
    strip = f"{machine}-w64-mingw32-objcopy"
    run(tmp_path, strip, "--strip-symbol=start", "b.o", "nameless.o")
    run(tmp_path, compiler, "main.c", "a.o", "nameless.o", "-o", "program.exe")
    at = symbols(tmp_path / "program.exe", f"{machine}-w64-mingw32-nm")
    first = at["first" if machine == "x86_64" else "_first"]
    size = functions(callsign, tmp_path / "program.exe", tmp_path / "index")[first][1]
    assert 4 < size <= 16 + 4


def test_functions_that_choose_others(callsign, tmp_path):
    (tmp_path / "chooser.c").write_text("""
static int one(void) { return 1; }
static void *choose(void) { return one; }
int chosen(void) __attribute__((ifunc("choose")));
""")
    run(tmp_path, need("gcc"), "-shared", "-fPIC", "chooser.c", "-o", "chooser")
    run(tmp_path, "strip", "chooser")
    at = next(int(row.split()[0], 16) for row in run(tmp_path, "nm", "-D", "chooser").splitlines() if row.endswith(" i chosen"))
    assert functions(callsign, tmp_path / "chooser", tmp_path / "index")[at][0] == "chosen"



def test_records_of_one_start_are_joined(callsign, tmp_path):
    """Three symbols of one start: the longest that does not reach into the next function stays."""
    (tmp_path / "sizes.s").write_text("""
    .text
    .globl known
    .type known, @function
known: nop; nop; nop
    .size known, 3
    nop
    .globl longer
    .type longer, @function
    .set longer, known
    .size longer, 4
    .globl all
    .type all, @function
    .set all, known
    .size all, 64
    .globl next
    .type next, @function
next: ret
    .size next, 1
""")
    run(tmp_path, "as", "sizes.s", "-o", "sizes.o")
    assert functions(callsign, tmp_path / "sizes.o", tmp_path / "index") == {0: ("longer", 4), 4: ("next", 1)}
    records = [json.loads(line) for line in callsign.good("dump", tmp_path / "index", "--json").splitlines()]
    assert len([record for record in records if "function" in record]) == 2


STATIC = """#include <fstream>
#include <iostream>
#include <map>
int main(int count, char **words) {
    std::map<std::string, int> seen;
    for (int i = 0; i < count; i++) seen[words[i]] = i;
    try {
        for (auto &[word, at] : seen) std::cout << word << at;
        std::ofstream("out") << seen.at("none");
    } catch (std::exception &e) {
        std::cerr << e.what();
    }
}
"""


@pytest.mark.parametrize("machine", ["x86_64", "i686"])
def test_static_programs_of_mingw_lose_no_named_code(callsign, machine, tmp_path):
    (tmp_path / "big.cc").write_text(STATIC)
    run(tmp_path, need(f"{machine}-w64-mingw32-g++"), "-static", "-gdwarf-5", "-O2", "-std=c++17", "big.cc", "-o", "big.exe")
    callsign.good("convert", "--quiet", tmp_path / "big.exe", "-o", tmp_path / "index")
    listed = [line.split() for line in run(tmp_path, f"{machine}-w64-mingw32-nm", "big.exe").splitlines()]
    starts = {int(where[0], 16): name for *where, kind, name in listed if where and kind in "TtWw" and not name.startswith(".")}
    answers = [json.loads(line) for line in callsign.good("lookup", tmp_path / "index", "--json", stdin="".join(
        f"{start:#x}\n" for start in starts)).splitlines()]
    assert len(starts) > 3000 and len(answers) == len(starts)
    lost = [(hex(start), name) for (start, name), a in zip(starts.items(), answers)
            if not a["frames"] or not a["frames"][-1].get("function") or a["frames"][-1]["offset"]]
    assert lost == []


def test_the_file_symbol_before_a_function_is_no_place(callsign, tmp_path):
    """llvm-symbolizer shows the name of a FILE symbol, without folder and line, for local functions without rows."""
    (tmp_path / "plain.s").write_text('    .file "of_a_symbol.c"\n    .text\n    .type hidden, @function\nhidden: ret\n    .size hidden, 1\n')
    run(tmp_path, need("gcc"), "-nostdlib", "-shared", "plain.s", "-o", "plain.so")
    start = symbols(tmp_path / "plain.so")["hidden"]
    theirs = run(tmp_path, need("llvm-symbolizer-22"), "--obj=plain.so", "--output-style=JSON", hex(start))
    assert [(f["FunctionName"], f["FileName"], f["Line"]) for f in json.loads(theirs)[0]["Symbol"]] == [("hidden", "of_a_symbol.c", 0)]
    callsign.good("convert", "--quiet", tmp_path / "plain.so", "-o", tmp_path / "index")
    frame = json.loads(callsign.good("lookup", "--json", tmp_path / "index", hex(start)))["frames"][0]
    assert frame["function"] == "hidden" and "file" not in frame and "line" not in frame


@pytest.mark.parametrize("options", [[], ["-Wa,-mbig-obj"]])
def test_functions_of_coff_objects_are_as_long_as_their_code(callsign, options, tmp_path):
    """In the aux record of a /bigobj object's first function GNU as writes a length of 1."""
    (tmp_path / "two.c").write_text("int first(int x) { return x * 3 + 1; }\nint second(int x) { return first(x) - 7; }\n")
    run(tmp_path, need("x86_64-w64-mingw32-gcc"), "-O1", "-c", "two.c", *options, "-o", "two.o")
    callsign.good("convert", "--quiet", tmp_path / "two.o", "-o", tmp_path / "index")
    answers = callsign.good("lookup", tmp_path / "index", "0x0", "0x3").splitlines()
    assert [line.partition(" (")[0] for line in answers] == ["0x0: first + 0", "0x3: first + 3"]
