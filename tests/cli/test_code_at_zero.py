"""Programs whose code begins at address 0, as firmware does: linkers leave 0 in place of the address of a function that they
removed, too. The same object files linked elsewhere tell what each address is."""
import json
import re
import subprocess

import pytest

from programs import need

REMOVED = "\n".join(f"int removed{n}(int a) {{ {'sink = a; a += sink; ' * n} return a; }}" for n in (1, 2, 4, 9, 20))
MAIN = f"""extern int by_hand(int);
volatile int sink;
{REMOVED}
static inline int scale(int a) {{ sink = a; return a * 3; }}
int called(int a) {{
    sink = a;
    return scale(a + 1);
}}
__attribute__((noinline)) static int counts(int a) {{
    sink = a * 5;
    return called(a);
}}
__attribute__((section(".text.start"))) void START(void) {{
    sink = counts(by_hand(1));
    for (;;) sink++;
}}
"""
OTHER = "extern volatile int sink;\n" + REMOVED.replace("removed", "unused") + """
int by_hand(int a) {
    sink = a - 1;
    return sink;
}
"""
VECTORS = {"data": '.section .vectors, "a"\n.fill 32, 1, 0\n',
           "table": '.section .vectors, "ax"\n.globl vectors\n.type vectors, %object\nvectors: .fill 32, 1, 0\n.size vectors, 32\n',
           "code": '.section .vectors, "ax"\n.globl vectors\nvectors:\nnop\nnop\n',
           "function": '.section .vectors, "ax"\n.globl vectors\n.type vectors, %function\nvectors:\nnop\nnop\n.size vectors, . - vectors\n',
           "none": ""}
UNUSED = """.section .text.unused, "ax"
.globl unused
.type unused, %function
unused: nop
nop
nop
nop
.size unused, . - unused
"""
LAYOUT = """ENTRY(START)
SECTIONS {{
    . = {base};
    .text : {{ KEEP(*(.vectors)) *(.text.start) *(.text .text.*) }}
    .data : {{ *(.data*) *(.bss*) }}
    /DISCARD/ : {{ *(.eh_frame*) *(.comment) *(.note*) }}
}}
"""
BASES = (0, 0x40000)


def answers(callsign, program, base, size):
    index = program.with_suffix(".gsym")
    callsign.good("convert", "-q", program, "-o", index)
    addresses = [f"{base + offset:#x}" for offset in range(size)]
    found = callsign.run("lookup", index, *addresses, "--json").stdout.splitlines()
    assert len(found) == size
    return [[(frame["function"], frame.get("line"), frame["offset"]) for frame in json.loads(line).get("frames", [])] for line in found]


def text_size(program):
    listed = subprocess.run([need("readelf"), "-SW", program], capture_output=True, text=True, check=True).stdout
    return int(re.search(r" \.text +PROGBITS +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)", listed)[1], 16)


def link(folder, linker, objects):
    programs = []
    for base in BASES:
        script, program = folder / f"{base}.ld", folder / f"{base}.elf"
        script.write_text(LAYOUT.format(base=base))
        subprocess.run([need(linker), "--gc-sections", "-T", script, *objects, "-o", program], cwd=folder, check=True)
        programs.append(program)
    return programs


def build(folder, compiler, flags, vectors):
    (folder / "main.c").write_text(MAIN)
    (folder / "other.c").write_text(OTHER)
    # Clang's assembler describes no functions: what was removed could be the code of a label without a size.
    unused = "" if compiler == "clang-22" and vectors == "code" else UNUSED
    (folder / "vectors.s").write_text(VECTORS[vectors] + unused)
    common = [need(compiler), "-g", "-O2", "-ffunction-sections", "-fdata-sections", "-fno-pic", "-fno-asynchronous-unwind-tables", *flags]
    for name in ("main.c", "other.c", "vectors.s"):
        subprocess.run([*common, "-c", name, "-o", f"{name}.o"], cwd=folder, check=True)
    return ["main.c.o", "other.c.o", "vectors.s.o"]


@pytest.mark.parametrize("vectors", VECTORS)
@pytest.mark.parametrize("flags", [["-gdwarf-4"], ["-gdwarf-5"], ["-gmlt"]], ids="-".join)
@pytest.mark.parametrize("compiler,linker", [("gcc", "ld"), ("clang-22", "ld.lld-22"),
                                             ("arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-ld")])
def test_removed_functions_are_not_the_code_at_0(callsign, tmp_path, compiler, linker, flags, vectors):
    objects = build(tmp_path, compiler, ["-g1"] if "gcc" in compiler and flags == ["-gmlt"] else flags, vectors)
    at_zero, elsewhere = link(tmp_path, linker, objects)
    size = text_size(at_zero)
    assert size == text_size(elsewhere)
    expected = answers(callsign, elsewhere, BASES[1], size)
    assert any(len(frames) > 1 for frames in expected) and all("unused" not in str(frames) for frames in expected)
    assert answers(callsign, at_zero, 0, size) == expected


@pytest.mark.parametrize("symbol", ["P$PROG_$$_START", "_ZN1a5STARTEv", "START.isra.0"])
def test_a_symbol_may_have_another_name(callsign, tmp_path, symbol):
    programs = link(tmp_path, "ld", build(tmp_path, "gcc", ["-gdwarf-5"], "none"))
    for program in programs:
        subprocess.run([need("objcopy"), "--redefine-sym", f"START={symbol}", program], check=True)
    size = text_size(programs[0])
    expected = answers(callsign, programs[1], BASES[1], size)
    assert any("START" in frames[-1][0] and frames[-1][1] for frames in expected if frames)
    assert answers(callsign, programs[0], 0, size) == expected
