"""Programs that know the truth about themselves: an assembler label in the middle of each function gives an address
whose function, line and inlined calls are known from the source text, without asking any other tool for them."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field

import pytest

# For a command under strace, which may be a sanitizer's build: its leak checker traces, too, and only one can.
UNDER_STRACE = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}



@functools.cache
def within_memory(command, size):
    """Words before a command that limit its address space. None for a sanitizer's build, which needs terabytes of it."""
    code = pathlib.Path(command).read_bytes()
    return () if b"__asan_" in code or b"__tsan_" in code else ("prlimit", f"--as={size}")


SHAPES = r"""
#define MARK(name) __asm__ volatile("at_" #name ": nop")
#define INLINE static inline __attribute__((always_inline))
volatile int sink;

INLINE int square(int a) {
    MARK(square); /*@square*/
    return a * a;
}

INLINE int area(int a, int b) {
    MARK(area); /*@area*/
    return square(a) + b; /*@call_square*/
}

static __attribute__((noinline)) int hidden(int a) {
    MARK(hidden); /*@hidden*/
    sink = a;
    return a + 1;
}

__attribute__((noinline)) int outer(int a) {
    sink = a;
    sink += area(a, 3); /*@call_area*/
    MARK(outer); /*@outer*/
    return sink;
}

int main(int argc, char **argv) {
    (void)argv;
    MARK(main); /*@main*/
    sink = hidden(argc);
    return outer(argc) == 0;
}
"""

CLASSES = r"""
#define MARK(name) __asm__ volatile("at_" #name ": nop")
volatile int sink;

namespace geometry {
template <typename T> struct box {
    T side;
    explicit box(T s) : side(s) {}
    __attribute__((noinline)) T volume() const {
        MARK(volume); /*@volume*/
        sink = sink + 1;
        return side * side * side;
    }
};
namespace {
__attribute__((noinline)) int local(int a) {
    MARK(local); /*@local*/
    sink = a;
    return a;
}
}
}

int main(int argc, char **) {
    geometry::box<int> b(argc);
    MARK(main); /*@main*/
    return b.volume() + geometry::local(argc) == 0;
}
"""


@dataclass
class Program:
    path: pathlib.Path
    source: pathlib.Path
    lines: dict                                  # of the marks in the source text
    addresses: dict = field(default_factory=dict)  # of all symbols
    sizes: dict = field(default_factory=dict)

    def mark(self, name):
        return self.addresses["at_" + name]

    def frames(self, name):
        """What `callsign lookup --json` must answer at a mark: (function, line, inlined), innermost first."""
        chains = {
            "square": [("square", "square", True), ("area", "call_square", True), ("outer", "call_area", False)],
            "area": [("area", "area", True), ("outer", "call_area", False)],
        }
        chain = chains.get(name, [(name, name, False)])
        return [(function, self.lines[line], inlined) for function, line, inlined in chain]


def wait_for(condition, seconds=60):
    """What the condition gives, once it is true. The limit is there to end a run that would hang, not to measure."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def need(tool):
    path = shutil.which(tool)
    if not path:
        pytest.skip(f"{tool} is not installed")
    return path


def _read_symbols(program):
    listing = subprocess.run(["nm", "-S", str(program.path)], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        words = line.split()
        if len(words) < 3 or not re.fullmatch("[0-9a-f]+", words[0]):
            continue
        program.addresses[words[-1]] = int(words[0], 16)
        if len(words) == 4:
            program.sizes[words[-1]] = int(words[1], 16)


def compile_files(compiler, output, sources, flags):
    command = [compiler, *flags, "-Wl,--build-id=sha1", "-o", str(output), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=output.parent)
    assert done.returncode == 0, (command, done.stderr)


def _build(folder, name, text, suffix, compiler, flags):
    source = folder / (name + suffix)
    source.write_text(text)
    lines = {m: number for number, line in enumerate(text.split("\n"), 1) for m in re.findall(r"/\*@(\w+)\*/", line)}
    program = Program(folder / name, source, lines)
    compile_files(compiler, program.path, [source], flags)
    _read_symbols(program)
    return program


def build_shapes(folder, compiler, flags):
    return _build(folder, "shapes", SHAPES, ".c", compiler, flags)


def build_classes(folder, compiler, flags):
    return _build(folder, "classes", CLASSES, ".cc", compiler, flags)


def sections(path):
    """Name: (file offset, size) of the sections of an ELF file."""
    listing = subprocess.run(["readelf", "-SW", str(path)], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"\] (\S+) +\S+ +[0-9a-f]+ +([0-9a-f]+) +([0-9a-f]+)", listing)
    return {name: (int(offset, 16), int(size, 16)) for name, offset, size in rows}


def build_id(path):
    notes = subprocess.run(["readelf", "-n", str(path)], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def build_for_node(script, folder):
    """What a script of scripts/ makes with node and a compiler for WebAssembly: its folder below build/."""
    need("node")
    root = pathlib.Path(__file__).resolve().parents[2]
    done = subprocess.run([root / "scripts" / script], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return root / "build" / folder
