"""Where addresses of profiles count from: what callsign profile wrote of one kind names the same code when it is read again, whenever
the symbols come."""
import functools
import itertools
import json
import subprocess

import pytest

import gsym_make
from profile_bytes import message, packed, pprof
from programs import need

# outer's last instruction is a call: it returns to where the next function begins.
FUNCTIONS = ("first", "leaf", "outer", "after")
SOURCE = "int main(void) { return 0; }\n__asm__(\".text\\n\"" + "".join(
    f"\n\".globl {name}\\n.type {name}, @function\\n{name}: .skip 16, 0x90\\n.size {name}, 16\\n\"" for name in FUNCTIONS) + ");\n"
# The code of "parts" lies 0x20000 further in memory than in the file, as lld puts it elsewhere too.
BUILDS = {"pie": ["-pie"], "fixed": ["-no-pie"], "parts": ["-pie", "-Wl,-Ttext=0x21040"]}


class Program:
    def __init__(self, folder, options):
        (folder / "a.c").write_text(SOURCE)
        subprocess.run([need("gcc"), "-g", "-O1", *options, "a.c", "-o", "app"], check=True, cwd=folder)
        self.path = folder / "app"
        run = functools.partial(subprocess.run, check=True, capture_output=True, text=True, cwd=folder)
        symbols = {words[2]: int(words[0], 16) for line in run([need("nm"), "app"]).stdout.splitlines() if len(words := line.split()) == 3}
        self.leaf, self.behind = symbols["leaf"] + 3, symbols["after"]
        loads = [line.split() for line in run([need("readelf"), "-lW", "app"]).stdout.splitlines() if line.split()[:1] == ["LOAD"]]
        self.base = min(int(words[2], 16) for words in loads)
        parts = [[int(words[i], 16) for i in (1, 2, 4)] for words in loads]
        self.offset, self.address, size = next(part for part in parts if part[1] <= self.leaf < part[1] + part[2])
        self.moved = 0 if self.base else 0x555555554000
        begin, end = self.address & -4096, (self.address + size + 4095) & -4096
        self.mapping = (self.moved + begin, self.moved + end, self.offset & -4096)

    def in_file(self, address):
        return address - self.address + self.offset

    def pcs(self):
        return self.moved + self.leaf, self.moved + self.behind - 1


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return functools.cache(lambda build: Program(tmp_path_factory.mktemp(build), BUILDS[build]))


def firefox(addresses, path):
    thread = {"name": "t", "pid": "1", "tid": 1, "stringArray": [*map(hex, addresses), "app"], "markers": {"length": 0},
              "frameTable": {"length": 2, "address": addresses, "inlineDepth": [0, 0], "func": [0, 1], "line": [None, None]},
              "funcTable": {"length": 2, "name": [0, 1], "resource": [0, 0], "fileName": [None, None]},
              "resourceTable": {"length": 1, "lib": [0], "name": [2]}, "nativeSymbols": {"length": 0},
              "stackTable": {"length": 2, "frame": [1, 0], "prefix": [None, 0]},
              "samples": {"length": 1, "stack": [1], "time": [1], "weight": None, "weightType": "samples"}}
    return json.dumps({"meta": {"interval": 1, "startTime": 0, "preprocessedProfileVersion": 46},
                       "libs": [{"name": "app", "path": str(path), "codeId": None}], "threads": [thread]})


def otlp(addresses, mapping, path):
    table = [(5, text) for text in ("", str(path), "samples", "count")]
    table += [(1, b""), (1, message((1, mapping[0]), (2, mapping[1]), (3, mapping[2]), (4, 1)))]
    table += [(2, b""), *((2, message((1, 1), (2, address))) for address in addresses), (7, b""), (7, message((1, packed([1, 2]))))]
    profile = message((1, message((1, 2), (2, 3))), (2, message((1, 1), (4, packed([1])))))
    return message((1, message((2, message((2, profile))))), (2, message(*table)))


def heap(p, path):
    start, end, offset = p.mapping
    return (f"heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ {p.moved + p.leaf + 1:#x} {p.moved + p.behind:#x}\n\n"
            f"MAPPED_LIBRARIES:\n{start:x}-{end:x} r-xp {offset:08x} 08:01 123 {path}\n")


INPUTS = {
    "firefox": lambda p, path: firefox([p.leaf - p.base, p.behind - 1 - p.base], path),
    "pprof": lambda p, path: pprof([(p.pcs(), [1])], [(*p.mapping, str(path), "")]),
    "pprof of addresses": lambda p, path: pprof([((p.leaf, p.behind - 1), [1])], [(0, p.behind + 4096, 0, str(path), "")]),
    "otlp": lambda p, path: otlp(p.pcs(), p.mapping, path),
    "perf": lambda p, path: f"app 1/1 1.0: 1 cycles:\n\t{p.in_file(p.leaf):16x} [unknown] ({path})\n\t{p.in_file(p.behind):16x} [unknown] ({path})\n\n",
    "folded": lambda p, path: f"app+{p.behind:#x};app+{p.leaf:#x} 1\n",
    "folded offsets": lambda p, path: f"[{path} <{p.in_file(p.behind):x}>];[{path} <{p.in_file(p.leaf):x}>] 1\n",
    "legacy": heap,
}
OUTPUTS = ("x.pb", "x.otlp", "x.otlp.json", "x.json", "x.perf", "x.folded")
NAMES = {"outer;leaf"}
# Symbols at once; later, with the program where the profile says that it is; later, with a program that was nowhere to be found.
WHEN = ("given", "here", "nowhere")


def write(callsign, folder, source, name, *options):
    path = folder / "in"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    callsign.good("profile", "-q", "--no-search", "--no-cache", path, "-o", folder / name, *options)
    return (folder / name).read_bytes()


def names(callsign, folder, source, symbols):
    text = write(callsign, folder, source, "names.folded", "-i", f"app={symbols}").decode()
    return {line.rpartition(" ")[0] for line in text.splitlines()}


def is_lost(build, kind, middle, when):
    """Without the program, a place in its file does not tell how far that is from the first byte in memory."""
    counts_in_file = kind in ("pprof", "otlp", "legacy", "perf", "folded offsets")
    return build == "parts" and when == "nowhere" and counts_in_file and middle == "x.json"


@pytest.mark.parametrize("build, kind, middle, when", [
    case for case in itertools.product(BUILDS, INPUTS, OUTPUTS, WHEN) if not is_lost(*case)])
def test_names_after_a_second_run(callsign, programs, tmp_path, build, kind, middle, when):
    program = programs(build)
    path = program.path if when == "here" else "/nowhere/app"
    source = INPUTS[kind](program, path)
    assert names(callsign, tmp_path, source, program.path) == NAMES
    between = write(callsign, tmp_path, source, middle, *(("-i", f"app={program.path}") if when == "given" else ()))
    assert names(callsign, tmp_path, between, program.path) == NAMES, between


@pytest.mark.parametrize("kind", ["pprof", "otlp", "legacy", "perf"])
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("when", ["here", "nowhere"])
def test_no_pc_is_an_offset(callsign, programs, tmp_path, build, kind, when):
    """With the program's headers, what has no name is a place in the image; without, one in its file."""
    program = programs(build)
    source = INPUTS[kind](program, program.path if when == "here" else "/nowhere/app")
    text = write(callsign, tmp_path, source, "x.folded").decode()
    # The innermost address of a heap profile is a return address, too, and is read as the place within the call.
    leaf, behind = program.leaf, program.behind
    want = f"app+{behind:#x};app+{leaf:#x}" if when == "here" else f"[app <{program.in_file(behind):x}>];[app <{program.in_file(leaf):x}>]"
    assert text.rpartition(" ")[0] == want


@pytest.mark.parametrize("when", ["here", "nowhere"])
@pytest.mark.parametrize("middle", OUTPUTS)
@pytest.mark.parametrize("kind", INPUTS)
def test_breakpad_files_of_a_program_at_a_fixed_address(callsign, programs, tmp_path, kind, middle, when):
    """They count from the first byte, which this machine's program tells."""
    program = programs("fixed")
    symbols = program.path.with_suffix(".sym")
    callsign.good("convert", program.path, "--to", "breakpad", "-o", symbols, "-q")
    source = INPUTS[kind](program, program.path if when == "here" else "/nowhere/app")
    between = write(callsign, tmp_path, source, middle, "-i", f"app={symbols}")
    assert names(callsign, tmp_path, between, program.path) == NAMES, between
    if when == "here" and kind != "folded":  # a folded stack does not tell where the program is
        assert names(callsign, tmp_path, source, symbols) == NAMES


@pytest.mark.parametrize("middle", ["x.pb", "x.otlp", "x.json", "x.perf"])
def test_a_kernel_that_was_moved(callsign, tmp_path, middle):
    """perf and Firefox have no mapping of it: they get places in the image."""
    text, moved = 0xffffffff81000000, 0x19000000
    gsym_make.write(tmp_path / "vmlinux.gsym", [{"start": text, "size": 0x40, "name": "startup"},
                                                {"start": text + 0x1000, "size": 0x40, "name": "do_it"}], base=text)
    mapping = (text + moved, text + moved + 0x200000, text + moved, "[kernel.kallsyms]_text", "")
    source = pprof([([text + moved + 0x1004], [1])], [mapping])
    options = ("-i", f"vmlinux={tmp_path / 'vmlinux.gsym'}", "--no-demangle")
    between = write(callsign, tmp_path, source, middle, *options)
    assert write(callsign, tmp_path, without_names(middle, between), "names.folded", *options).decode() == "do_it 1\n"


def without_names(middle, data):
    """So that only the address can tell the name."""
    if middle == "x.perf":
        return data.replace(b"do_it", b"[unknown]")
    return data.replace(b"do_it", b"other")
