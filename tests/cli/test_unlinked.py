"""A program before and after linking, in every container that has both: ELF, PE/COFF, WebAssembly. The same functions with the
same lines and inlined calls, byte by byte, wherever their sections were put."""
import json
import subprocess

import pytest

from programs import need

SOURCE = """
static inline int square(int x) { return x * x + (x >> 3); }
static __attribute__((noinline)) int helper(int a, int b) {
    int sum = 0;
    for (int i = 0; i < a; i++) sum += square(i + b);
    return sum;
}
struct shape {
    virtual int area(int k) const { return square(k) + 1; }
    int twice(int k) const { return area(k) * 2; }
};
struct ball : shape {
    int area(int k) const override { return helper(k, 3) * 3; }
};
template <typename T> __attribute__((noinline)) T larger(T a, T b) { return a > b ? a : b; }
extern "C" AT_START int start_up(int x) { return square(x) + helper(x, 1); }
extern "C" AT_END int shut_down(int x) { return square(x) - helper(x, 2); }
int main(int count, char **) {
    ball b;
    shape *s = &b;
    return larger(s->twice(count), start_up(count)) + shut_down(count);
}
"""
ELF = ('-DAT_START=__attribute__((section(".init.text")))', '-DAT_END=__attribute__((section(".exit.text")))')
PLAIN = ("-DAT_START=", "-DAT_END=")
WASM = ("clang++-22", "--target=wasm32", "-fno-rtti", "-fno-exceptions")
CASES = {
    "gcc": (("g++",), ELF, ("g++",)),
    "gcc-sections": (("g++", "-ffunction-sections", "-gz"), ELF, ("g++",)),
    "gcc-type-units-4": (("g++", "-gdwarf-4", "-fdebug-types-section"), ELF, ("g++",)),
    "gcc-type-units-5": (("g++", "-gdwarf-5", "-fdebug-types-section", "-ffunction-sections"), ELF, ("g++",)),
    "clang-sections": (("clang++-22", "-ffunction-sections"), ELF, ("g++",)),
    "clang-type-units": (("clang++-22", "-gdwarf-5", "-fdebug-types-section"), ELF, ("g++",)),
    "mingw64": (("x86_64-w64-mingw32-g++",), PLAIN, ("x86_64-w64-mingw32-g++",)),
    "mingw64-bigobj": (("x86_64-w64-mingw32-g++", "-Wa,-mbig-obj", "-ffunction-sections"), PLAIN, ("x86_64-w64-mingw32-g++",)),
    "mingw32": (("i686-w64-mingw32-g++", "-ffunction-sections"), PLAIN, ("i686-w64-mingw32-g++",)),
    "clang-mingw64": (("clang++-22", "--target=x86_64-w64-mingw32"), PLAIN, ("x86_64-w64-mingw32-g++",)),
    "wasm": (WASM, PLAIN, ("wasm-ld-22", "--allow-undefined", "--no-entry", "--export-all")),
}


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


@pytest.fixture(scope="module", params=CASES)
def pair(request, tmp_path_factory):
    """(object, linked program)."""
    compiler, places, linker = CASES[request.param]
    need(compiler[0])
    need(linker[0])
    folder = tmp_path_factory.mktemp("unlinked")
    (folder / "program.cc").write_text(SOURCE)
    run(folder, *compiler, "-g", "-O1", *places, "-c", "program.cc", "-o", "program.o")
    run(folder, *linker, "program.o", "-o", "linked.exe")
    return folder / "program.o", folder / "linked.exe"  # mingw adds the suffix where it is missing


def functions(callsign, index):
    """{name: (start, size)} of functions with lines."""
    records = [json.loads(line) for line in callsign.good("dump", index, "--json").splitlines()]
    found = [record["function"] for record in records if "function" in record]
    return {f["name"]: (int(f["start"], 16), f["size"]) for f in found if "lines" in f and "name" in f}


def test_linking_changes_addresses_only(callsign, pair, tmp_path):
    answers = []
    for number, path in enumerate(pair):
        index = tmp_path / f"{number}.gsym"
        callsign.good("convert", path, "-o", index)
        answers.append((index, functions(callsign, index)))
    (object_index, unlinked), (linked_index, linked) = answers
    for part in ("helper", "larger", "start_up", "shut_down", "main"): # names are mangled or not
        assert any(part in name for name in unlinked), part
    starts = [start for start, _ in unlinked.values()]
    assert len(set(starts)) == len(starts)
    inlined = 0
    for name, (start, size) in unlinked.items():
        assert linked[name][1] == size, name
        frames = [callsign.good("lookup", index, "--json", *(hex(first + offset) for offset in range(size)))
                  for index, first in ((object_index, start), (linked_index, linked[name][0]))]
        frames = [[json.loads(line)["frames"] for line in text.splitlines()] for text in frames]
        assert frames[0] == frames[1], name
        inlined += sum(len(frame) > 1 for frame in frames[0])
    assert inlined
