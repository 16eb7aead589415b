"""STACK records: Mozilla's minidump-stackwalk walks stacks of real crashes by ours as by those of Mozilla's dump_syms; llvm-dwarfdump
has the same rules at every address.

DUMP_SYMS and MINIDUMP_STACKWALK name the tools, otherwise they are looked for on the path and in ~/.cargo/bin."""
import bisect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import stack_differences
from minidump import REGISTERS, minidump

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLSIGN = os.environ.get("CALLSIGN", str(ROOT / "build/release/callsign"))
SOURCE = ROOT / "tests/diff/sources/crash.c"

sys.path.insert(0, str(ROOT / "tests/cli"))
import programs  # noqa: E402 (where the path has just been set)


def run(*args):
    done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, (args, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout.decode("utf-8", "replace")


def tool(name, crate):
    path = os.environ.get(name.upper().replace("-", "_")) or shutil.which(name) or str(pathlib.Path.home() / ".cargo/bin" / name)
    if not os.access(path, os.X_OK):
        pytest.skip(f"{name} is not installed (cargo install {crate})")
    return path


@pytest.fixture(scope="module")
def dump_syms():
    return tool("dump_syms", "dump_syms")


@pytest.fixture(scope="module")
def stackwalk():
    return tool("minidump-stackwalk", "minidump-stackwalk")


# ---- stacks ----

def build_id(path):
    return bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path)).group(1))


class Crash:
    """The minidump of a program that crashed, and the files that were mapped."""

    def __init__(self, folder, program, *arguments):
        lines = run(program, *arguments).splitlines()
        values = [int(line.split()[1], 16) for line in lines if line.startswith("register ")]
        start, data = next(line.split()[1:] for line in lines if line.startswith("stack "))
        ranges = {}
        for line in lines:
            found = re.match(r"map ([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+\s+(/\S+)$", line)
            if found:
                low, high = int(found[1], 16), int(found[2], 16)
                known = ranges.get(found[3], (low, high))
                ranges[found[3]] = (min(low, known[0]), max(high, known[1]))
        self.files = list(ranges)
        modules = [(path, low, high - low, build_id(path)) for path, (low, high) in ranges.items()]
        self.path = folder / "crash.dmp"
        self.path.write_bytes(minidump(dict(zip(REGISTERS, values)), int(start, 16), bytes.fromhex(data), modules))

    def frames(self, stackwalk, symbols):
        """(function, trust) from the innermost frame on."""
        thread = json.loads(run(stackwalk, "--json", "--symbols-path", symbols, self.path))["crashing_thread"]
        return [(frame["module"] and os.path.basename(frame["module"]), frame["module_offset"], frame["function"], frame["trust"])
                for frame in thread["frames"]]


def add_symbols(folder, text):
    _, _, _, name_id, name = text.split("\n", 1)[0].split(" ", 4)
    place = folder / name / name_id
    place.mkdir(parents=True)
    (place / f"{name}.sym").write_text(text)


def our_symbols(folder, files, *options):
    for number, path in enumerate(files):
        out = folder.parent / f"{folder.name}-{number}.sym"
        run(CALLSIGN, "convert", "-q", "--to", "breakpad", *options, path, "-o", out)
        add_symbols(folder, out.read_text())
    return folder


def their_symbols(folder, files, dump_syms):
    for path in files:
        add_symbols(folder, run(dump_syms, path))
    return folder


@pytest.fixture(scope="module", params=["-O2", "-O0", "-O2 -fno-omit-frame-pointer"])
def program(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crash")
    out = folder / "crash"
    run(programs.need("gcc"), "-g", *request.param.split(), "-Wl,--build-id", SOURCE, "-o", out)
    return out


EXPECTED = ["fall", "fall", "fall", "fall", "compare"]


def own_functions(frames):
    return [name for module, _, name, _ in frames if module == "crash"]


def test_walks_as_with_dump_syms(program, tmp_path, dump_syms, stackwalk):
    crash = Crash(tmp_path, program)
    want = crash.frames(stackwalk, their_symbols(tmp_path / "theirs", crash.files, dump_syms))
    got = crash.frames(stackwalk, our_symbols(tmp_path / "ours", crash.files))
    assert own_functions(got) == [*EXPECTED, "aligned", "on_signal", "main", "_start"]
    assert [trust for _, _, _, trust in got] == ["context"] + ["cfi"] * (len(got) - 1)
    # The frames that dump_syms' rules lead to. Its rules end where a stack is aligned in the prologue.
    by_cfi = [frame for frame in want if frame[3] in ("context", "cfi")]
    assert len(by_cfi) > 5
    names = [(module, offset, trust) for module, offset, _, trust in got]
    assert [(module, offset, trust) for module, offset, _, trust in by_cfi] == names[:len(by_cfi)]


def test_without_records_it_does_not(program, tmp_path, stackwalk):
    """The comparison above can fail."""
    crash = Crash(tmp_path, program)
    frames = crash.frames(stackwalk, our_symbols(tmp_path / "ours", crash.files, "--no-cfi"))
    assert "cfi" not in [trust for _, _, _, trust in frames]


def test_walks_through_a_signal_frame(program, tmp_path, stackwalk):
    """The kernel's frame is told by DWARF expressions only, which dump_syms leaves out."""
    crash = Crash(tmp_path, program, "handler")
    frames = crash.frames(stackwalk, our_symbols(tmp_path / "ours", crash.files))
    assert own_functions(frames) == [*EXPECTED, "aligned", "on_signal", "main", "_start"]
    assert {trust for _, _, _, trust in frames[1:]} == {"cfi"}


# ---- rules at each address ----

FRAMES = r"""
#include <stdarg.h>
extern int other(int *, ...);
int leaf(int a) { return a * 3 + 1; }
int calls(int a) { int b[4] = { a, a, a }; return other(b, leaf(a)) + other(b); }
int grows(int n) { int a[n]; int r = other(a); if (r > 3) return r; return other(a + 1) * n + other(a); }
int many(int a, int b, int c, int d, ...) {
    va_list list;
    int sum = 0;
    va_start(list, d);
    for (int i = 0; i < a; i++) sum += other(&b, a, b, c, d, sum) * va_arg(list, int) + other(&c, a * b, sum, d) - other(&d);
    va_end(list);
    return sum;
}
int early(int *p) { if (!p) return 7; if (other(p)) return other(p + 1) + *p; return other(p, *p, *p + other(p + 3)); }
int other(int *a, ...) { return *a; }
int _start(void) { return many(1, 2, 3, 4, 5) + calls(3) + grows(3) + early(0); }
"""
MACHINES = ["x86_64-linux-gnu", "i386-linux-gnu", "aarch64-linux-gnu", "arm-linux-gnueabihf"]


def llvm_register(name):
    """As Breakpad has it; None: it has no name there, or is a vector register, which we do not compare."""
    name = name.lower()
    name = "sp" if name == "wsp" else re.sub(r"^[wx](\d+)$", r"x\1", name)
    return None if re.match(r"[dvf]\d+$|xmm|reg|cr|vf", name) else name


def llvm_expression(text):
    """In postfix; None: it depends on its own address."""
    words = []
    for op in text.split(", "):
        found = re.match(r"DW_OP_breg\d+ (\w+)([+-]\d+)$", op)
        if found and found[1] in ("RIP", "EIP"):
            return None
        words += [llvm_register(found[1]), found[2].lstrip("+"), "+"] if found else [{"DW_OP_deref": "^"}[op]]
    return " ".join(words)


def llvm_value(text, is_cfa=False):
    """The right side of a rule: `RSP+8`, `[CFA-16]`, `[DW_OP_breg7 RSP+144]`, `RDX`, `undefined`."""
    place, load = text.strip("[]"), " ^" if text.startswith("[") else ""
    if place == "undefined":
        return "0"
    if place.startswith("DW_OP"):
        value = llvm_expression(place)
        return value and value + load
    name, offset = re.match(r"(\w+)([+-]\d+)?$", place).groups()
    base = ".cfa" if name == "CFA" else llvm_register(name)
    return f"{base} {int(offset or 0)} +{load}" if offset or load or is_cfa else base


def llvm_rows(dwarfdump, path):
    """{address: {register: value}} by llvm-dwarfdump, the return address by its register's name."""
    rows = {}
    for line in run(dwarfdump, "--eh-frame", "--debug-frame", path).splitlines():
        found = re.match(r"  0x([0-9a-f]+): CFA=(.*?)(?:: (.*))?$", line)
        if not found:
            continue
        rules = {".cfa": llvm_value(found[2], True)}
        for name, value in re.findall(r"(\w+)=(\[[^]]*\]|[^,]+)", found[3] or ""):
            if llvm_register(name):
                rules[llvm_register(name)] = llvm_value(value)
        rows[int(found[1], 16)] = rules
    return rows


def our_rows(path):
    """{address: {register: value}} by our STACK records; {} where an address has none."""
    rows, rules = {}, {}
    out = pathlib.Path(str(path) + ".frames.sym")
    run(CALLSIGN, "convert", "-q", "--no-companions", "--to", "breakpad", path, "-o", out)
    for line in out.read_text().splitlines():
        found = re.match(r"STACK CFI (INIT )?([0-9a-f]+)(?: [0-9a-f]+(?= \.))? (.*)$", line)
        if not found:
            continue
        rules = {} if found[1] else dict(rules)
        for name, value in re.findall(r"(\S+): (.*?)(?= \S+: |$)", found[3]):
            name, value = name.replace("$", ""), value.replace("$", "")
            if value == name:
                rules.pop(name, None)
            else:
                rules[name] = value
        rows[int(found[2], 16)] = rules
    return rows


def compare_rows(dwarfdump, path, base, return_register):
    """Counts rows where both have equal rules; fails where they differ."""
    ours, count = our_rows(path), 0
    starts = sorted(ours)
    for address, want in llvm_rows(dwarfdump, path).items():
        if not address or want[".cfa"] is None:
            continue
        want[".ra"] = want.pop(return_register, return_register)
        got = dict(ours[starts[bisect.bisect_right(starts, address - base) - 1]])
        got = {name: value for name, value in got.items() if not re.match(r"[dvf]\d+$|xmm|cr", name)}
        got.setdefault(".ra", return_register)
        assert got == want, hex(address)
        count += 1
    return count


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("section", ["eh", "debug"])
def test_rules_are_those_of_dwarfdump(machine, section, tmp_path):
    clang, dwarfdump = programs.need("clang-22"), programs.need("llvm-dwarfdump-22")
    programs.need("ld.lld-22")
    source, program = tmp_path / "frames.c", tmp_path / "frames"
    source.write_text(FRAMES)
    unwind = ["-funwind-tables"] if section == "eh" else ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-gdwarf-4"]
    run(clang, f"--target={machine}", "-O2", "-g", "-fno-inline", *unwind, "-ffreestanding", "-nostdlib", "-static", "-fuse-ld=lld-22",
        "-Wl,--image-base=0x400000", source, "-o", program)
    registers = {"x86_64": "rip", "i386": "eip", "aarch64": "x30", "arm": "lr"}
    assert compare_rows(dwarfdump, program, 0x400000, registers[machine.split("-")[0]]) > 10


@pytest.mark.parametrize("library", ["libc.so.6", "libstdc++.so.6", "libpthread.so.0", "libm.so.6"])
def test_rules_of_libraries(library, tmp_path):
    dwarfdump = programs.need("llvm-dwarfdump-22")
    found = re.search(r"%s \(libc6,x86-64.*\) => (\S+)" % re.escape(library), run("/sbin/ldconfig", "-p"))
    if not found:
        pytest.skip(f"{library} is not installed")
    path = tmp_path / library
    shutil.copy(found[1], path)
    assert compare_rows(dwarfdump, path, 0, "rip") > 3


@pytest.mark.parametrize("library", ["libc.so.6", "libstdc++.so.6"])
def test_differences_from_dump_syms_have_reasons(library, tmp_path, dump_syms):
    found = re.search(r"%s \(libc6,x86-64.*\) => (\S+)" % re.escape(library), run("/sbin/ldconfig", "-p"))
    if not found:
        pytest.skip(f"{library} is not installed")
    ours, theirs = tmp_path / "ours.sym", tmp_path / "theirs.sym"
    run(CALLSIGN, "convert", "-q", "--no-companions", "--to", "breakpad", found[1], "-o", ours)
    run(dump_syms, found[1], "-o", theirs)
    result = stack_differences.compare(ours, theirs)
    assert result["first_without"] is None, result
    assert result["equal"] > 0.9 * result["rows"] > 10000


def test_differences_from_dump_syms_in_frame_data(tmp_path, dump_syms):
    """None: STACK WIN of x86 Windows programs, from their PDBs."""
    clang, link = programs.need("clang-22"), programs.need("lld-link-22")
    source, program = tmp_path / "m.c", tmp_path / "prog.exe"
    source.write_text("__attribute__((noinline)) int f(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] * n; return s; }\n"
                      "int start(void) { volatile int a[50]; a[1] = 3; return f((int *)a, 3) + f((int *)a + 1, 4); }\n")
    run(clang, "--target=i686-pc-windows-msvc", "-O2", "-g", "-c", source, "-o", tmp_path / "m.obj")
    run(link, "/nodefaultlib", "/entry:start", "/subsystem:console", "/debug", "/safeseh:no", tmp_path / "m.obj", f"/out:{program}")
    run(CALLSIGN, "convert", "-q", "--to", "breakpad", program, "-o", tmp_path / "ours.sym")
    run(dump_syms, tmp_path / "prog.pdb", "-o", tmp_path / "theirs.sym")
    ours, theirs = ([line for line in (tmp_path / name).read_text().splitlines() if line.startswith("STACK ")]
                    for name in ("ours.sym", "theirs.sym"))
    assert ours == theirs and len(ours) > 3
