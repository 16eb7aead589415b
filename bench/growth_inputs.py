"""The inputs of bench/growth: the same thing once, twice, four and eight times. Every maker takes a path without suffix and a
count, and gives the path of what it wrote; the same count gives the same input (compilers permitting)."""
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TAG = "workload"  # in bench/workload.cc and in C_UNIT: becomes another word of eight letters in each unit

# One C unit beside each C++ unit: static functions that are inlined, and loops.
C_UNIT = """
struct workload_item { struct workload_item *next; unsigned key; char text[24]; };
static inline unsigned workload_mix(unsigned a, unsigned b) { a ^= b * 2654435761u; return a << 7 | a >> 25; }
static inline unsigned workload_hash(const char *text) {
    unsigned sum = 17;
    while (*text) sum = workload_mix(sum, (unsigned char)*text++);
    return sum;
}
""" + "".join(f"""
unsigned workload_find_{k}(struct workload_item *list, const char *text) {{
    unsigned key = workload_hash(text) + {k}, steps = 0;
    for (struct workload_item *i = list; i; i = i->next) {{
        if (i->key == key) return workload_mix(steps, workload_hash(i->text));
        steps = workload_mix(steps, i->key);
    }}
    return steps;
}}
""" for k in range(40))


def run(command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


def assemble_units(stem, count):
    """`count` pairs of translation units, C++ and C, linked: compiled once, their names changed in the assembler's text. What
    templates of the standard library they have is theirs together, as in a real program."""
    folder = stem.with_suffix(".parts")
    folder.mkdir()
    flags = ["-g", "-gdwarf-5", "-O2", "-fPIC", "-w", "-S"]
    for compiler, name, text in (("g++", "cxx", (ROOT / "bench" / "workload.cc").read_text()), ("gcc", "c", C_UNIT)):
        source = folder / f"{TAG}.{'cc' if name == 'cxx' else 'c'}"
        source.write_text(text)
        run([compiler, *flags, source, "-o", folder / f"{name}.s"])
        lines = (folder / f"{name}.s").read_text()
        for unit in range(count):
            changed = folder / "unit.s"
            changed.write_text(lines.replace(TAG, f"unit{unit:04}"))
            run(["as", changed, "-o", folder / f"{name}{unit:04}.o"])
    objects = sorted(folder.glob("*.o"))
    run(["ld", "-shared", *objects, "-o", stem.with_suffix(".so")])
    shutil.rmtree(folder)
    return stem.with_suffix(".so")


def compile_c(stem, text, *flags):
    source = stem.with_suffix(".c")
    source.write_text(text)
    run(["gcc", "-g", "-gdwarf-5", "-w", "-fPIC", "-shared", "-nostdlib", *flags, source, "-o", stem.with_suffix(".so")])
    return stem.with_suffix(".so")


def functions_of_one_unit(stem, count):
    return compile_c(stem, "".join(f"int f{i}(int a) {{\n    int b = a + {i};\n    return b * a;\n}}\n" for i in range(count)))


def rows_of_one_program(stem, count):
    """One function, one statement a line."""
    return compile_c(stem, "volatile int v;\nvoid f(void) {\n" + "".join(f"    v = {i};\n" for i in range(count)) + "}\n")


def calls_inlined_into_one(stem, count):
    text = "volatile int v;\nstatic inline __attribute__((always_inline)) void g(int a) {\n    v = a;\n}\n"
    return compile_c(stem, text + "void f(void) {\n" + "".join(f"    g({i});\n" for i in range(count)) + "}\n", "-O1")


def symbols_only(stem, count):
    source = stem.with_suffix(".s")
    source.write_text(".text\n" + "".join(f".globl symbol_{i}\n.type symbol_{i}, @function\nsymbol_{i}: .skip 16\n"
                                          f".size symbol_{i}, 16\n" for i in range(count)))
    run(["gcc", "-shared", "-nostdlib", source, "-o", stem.with_suffix(".so")])
    return stem.with_suffix(".so")


def symbol_file(stem, lines):
    path = stem.with_suffix(".sym")
    path.write_text("MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 growth\n" + "".join(lines))
    return path


def plain_functions(stem, count):
    return symbol_file(stem, ["FILE 0 /source/folder/file.c\n"] + [
        f"FUNC {i * 64:x} 40 0 function_number_{i}\n{i * 64:x} 10 {i + 1} 0\n{i * 64 + 16:x} 30 {i + 2} 0\n" for i in range(count)])


def rows_of_one(stem, count):
    return symbol_file(stem, ["FILE 0 /a/b.c\n", f"FUNC 1000 {count * 4:x} 0 long\n"] + [
        f"{0x1000 + i * 4:x} 4 {i * 7919 % 9973 + 1} 0\n" for i in range(count)])


def inlined_side_by_side(stem, count):
    return symbol_file(stem, ["FILE 0 /a/b.c\n", "INLINE_ORIGIN 0 callee\n", f"FUNC 1000 {count * 4:x} 0 caller\n"] + [
        f"INLINE 0 {i + 1} 0 0 {0x1000 + i * 4:x} 2\n" for i in range(count)])


def inlined_in_each_other(stem, count):
    """Chains of 50 in one function."""
    lines = ["FILE 0 /a/b.c\n", "INLINE_ORIGIN 0 callee\n", f"FUNC 0 {count // 50 * 256:x} 0 caller\n"]
    for chain in range(count // 50):
        lines += [f"INLINE {depth} {depth + 1} 0 0 {chain * 256 + depth:x} {200 - depth:x}\n" for depth in range(50)]
    return symbol_file(stem, lines)


def files_of_their_own(stem, count):
    return symbol_file(stem, [f"FILE {i} /source/{i % 97}/folder/file{i}.c\n" for i in range(count)] + [
        f"FUNC {i * 64:x} 40 0 f{i}\n{i * 64:x} 40 {i % 1000 + 1} {i}\n" for i in range(count)])


def long_names(stem, count):
    """Names that differ at their ends only."""
    return symbol_file(stem, [f"FUNC {i * 64:x} 40 0 {'space::' * 60}{i:08}\n" for i in range(count)])


def equal_ranges(stem, count):
    return symbol_file(stem, [f"FUNC 1000 40 0 folded_{i}\n" for i in range(count)])


def ranges_in_each_other(stem, count):
    return symbol_file(stem, [f"FUNC {0x1000 + i:x} {count * 2 - i:x} 0 outer_{i}\n" for i in range(count)])


def public_symbols(stem, count):
    return symbol_file(stem, [f"PUBLIC {i * 24:x} 0 symbol_number_{i}\n" for i in range(count)])


# What grows: maker, the count that stands for 1x, options of the conversion.
SHAPES = {
    "functions of one unit (DWARF)": (functions_of_one_unit, 1500, []),
    "rows of one function (DWARF)": (rows_of_one_program, 3000, []),
    "calls inlined into one function (DWARF)": (calls_inlined_into_one, 1000, []),
    "symbols": (symbols_only, 8000, []),
    "functions, to GSYM": (plain_functions, 8000, []),
    "functions, to GSYM version 2": (plain_functions, 8000, ["--to", "gsym-v2"]),
    "functions, to a section, revision B": (plain_functions, 8000, ["--to", "gsym-section"]),
    "functions, to BSYM": (plain_functions, 8000, ["--to", "bsym"]),
    "functions, to Breakpad": (plain_functions, 8000, ["--to", "breakpad"]),
    "rows of one function": (rows_of_one, 40000, []),
    "inlined calls side by side": (inlined_side_by_side, 20000, []),
    "inlined calls in chains of 50": (inlined_in_each_other, 10000, []),
    "inlined calls in chains, to Breakpad": (inlined_in_each_other, 10000, ["--to", "breakpad"]),
    "files": (files_of_their_own, 8000, []),
    "long names with equal beginnings": (long_names, 5000, []),
    "functions at one address, one kept": (equal_ranges, 10000, []),
    "functions at one address, all kept": (equal_ranges, 10000, ["--merged-functions"]),
    "functions inside each other": (ranges_in_each_other, 10000, []),
    "functions inside each other, to BSYM": (ranges_in_each_other, 10000, ["--to", "bsym"]),
    "functions without a size": (public_symbols, 12000, []),
}
