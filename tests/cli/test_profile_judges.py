"""What callsign profile writes, opened by others: go tool pprof, and names and lines against llvm-symbolizer; OTLP by OpenTelemetry's
own Python package where it is installed."""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from profile_bytes import Pprof, dict_of, fields, message, packed, pprof
from programs import need

START = 0x7f1200000000
SOURCE = r"""
#include <cmath>
namespace shapes {
struct Shape {
    static inline __attribute__((always_inline)) double area(double r) {
        double sum = 0;
        for (int i = 0; i < 7; i++)
            sum += std::sqrt(r * i);
        return sum;
    }
};
template <typename T> __attribute__((noinline)) T twice(T value) {
    return Shape::area(value) +
           Shape::area(value + 1);
}
}
extern "C" __attribute__((noinline)) double plain(double r) { return shapes::twice(r) * 2; }
int main(int argc, char **) { return plain(argc) + shapes::twice<float>(argc) > 3; }
"""


@pytest.fixture(scope="module")
def judged(callsign, tmp_path_factory):
    """(program, pprof that was written, {address of the image: place in the process})"""
    folder = tmp_path_factory.mktemp("judges")
    (folder / "shapes.cc").write_text(SOURCE)
    program = folder / "shapes"
    subprocess.run([need("g++"), "-O2", "-g", "-pie", "-fPIE", folder / "shapes.cc", "-o", program], check=True)
    segments = subprocess.run([need("readelf"), "-lW", program], check=True, capture_output=True, text=True).stdout
    off, addr, size = (int(field, 16) for field in re.search(r"LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)\s+0x\w+\s+R E", segments).groups())
    symbols = [line.split() for line in subprocess.run([need("nm"), "-S", program], check=True, capture_output=True, text=True).stdout.splitlines()]
    ours = [(int(s[0], 16), int(s[1], 16)) for s in symbols if len(s) == 4 and ("shapes" in s[3] or s[3] in ("plain", "main"))]
    assert len(ours) == 4, symbols
    places = {a: START + a - addr for start, size_ in ours for a in range(start, start + size_, 3)}
    samples = [([pc, START + 1 + ours[-1][0] - addr], [1]) for pc in places.values()]
    (folder / "in.pb").write_bytes(pprof(samples, [(START, START + size + 4096, off, str(program), "")]))
    callsign.good("profile", folder / "in.pb", "-o", folder / "out.pb.gz", "--offline", "--no-cache")
    return program, folder / "out.pb.gz", places


def symbolized(program, addresses):
    """{address: [(name, line)]} by llvm-symbolizer, innermost first."""
    tool = need("llvm-symbolizer-22")
    out = subprocess.run([tool, "--output-style=JSON", "-i", "-e", program, *map(hex, addresses)], check=True, capture_output=True, text=True).stdout
    answers = json.loads(out) if out.startswith("[") else [json.loads(line) for line in out.splitlines()]
    return {int(a["Address"], 16): [(s["FunctionName"], s["Line"]) for s in a["Symbol"]] for a in answers}


def test_names_and_lines(judged):
    program, path, places = judged
    wanted = symbolized(program, places)
    found = {location["address"]: [(name, line) for name, _, line in location["lines"]]
             for stack, _, _ in Pprof(path.read_bytes()).samples for location in stack}
    assert len(places) > 50 and any(len(frames) > 1 for frames in wanted.values())
    assert {a: found[pc] for a, pc in places.items()} == wanted


def find_pprof():
    """github.com/google/pprof, or the copy that comes with Go; newer versions of Go would have to compile theirs first."""
    installed = shutil.which("pprof") or shutil.which(str(pathlib.Path.home() / "go/bin/pprof"))
    if installed:
        return [installed]
    go = need("go")
    root = subprocess.run([go, "env", "GOTOOLDIR"], capture_output=True, text=True, check=True).stdout.strip()
    if not (pathlib.Path(root) / "pprof").is_file():
        pytest.skip("pprof (go install github.com/google/pprof@latest) is not installed")
    return [go, "tool", "pprof"]


def go_pprof(tmp_path, *arguments):
    done = subprocess.run([*find_pprof(), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env={**os.environ, "GOTOOLCHAIN": "local", "HOME": str(tmp_path), "PPROF_TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_go_tool_pprof(judged, tmp_path):
    """It finds what we wrote: mappings, locations with inlined calls as lines, functions."""
    program, path, places = judged
    raw = go_pprof(tmp_path, "-raw", "-symbolize=none", path)
    assert f"{program}" in raw and "[FN][FL][LN][IN]" in raw
    wanted = symbolized(program, places)
    lines, found = [], {}
    for line in raw.split("Locations\n")[1].split("Mappings\n")[0].splitlines():
        head = re.match(r"\s+\d+: (0x\w+) M=\d+ (.*)", line)
        if head:
            lines = found.setdefault(int(head.group(1), 16), [])
        place = re.match(r"(.*) \S+?:(\d+)(?::\d+)? s=\d+", head.group(2) if head else line.strip()) # older ones print no column
        lines.append((place.group(1), int(place.group(2))))
    assert {a: found[pc] for a, pc in places.items()} == wanted
    top = go_pprof(tmp_path, "-top", "-symbolize=none", path)
    assert "shapes::Shape::area" in top and "(inline)" in top


KERNEL = r"""
.section .head.text, "ax"
.globl _text, _start
_text: _start: nop; ret
.text
.globl _stext
_stext:
.macro function name, size
.globl \name
.type \name, @function
\name: .skip \size, 0x90
.size \name, \size
.endm
function first 0x2000
function second 0xe000
function third 0x1000
"""


@pytest.mark.parametrize("header", [0, 0x10000])  # arm64 has one before _stext
@pytest.mark.parametrize("name", ["path", "[kernel.kallsyms]_text", "[kernel.kallsyms]_stext", "build id"])
def test_kernels_as_pprof_places_them(callsign, tmp_path, header, name):
    """A mapping called by the path of vmlinux had no KASLR, and one that begins at arm64's _stext was taken to begin at _text."""
    base, moved = 0xffffffff81000000 if not header else 0xffff800008000000, 0x1a000000
    (tmp_path / "kernel.s").write_text(KERNEL if header else KERNEL.replace("_start: nop; ret", "_start:"))
    sections = f"SECTIONS {{ . = {base:#x}; .head.text : {{ *(.head.text) }} . = {base + header:#x}; .text : {{ *(.text) }} .notes : {{ *(.note*) }} }}"
    (tmp_path / "kernel.ld").write_text(sections)
    program = tmp_path / "vmlinux-6.1"
    subprocess.run([need("gcc"), "-nostdlib", "-static", "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567", "-Wl,-T,kernel.ld", "kernel.s",
                    "-o", program], check=True, cwd=tmp_path)
    symbol = "_text" if name.endswith("_text") and not name.endswith("_stext") else "_stext"
    start = base + moved + (header if symbol == "_stext" else 0)
    places = [base + header + moved + at for at in (0x10, 0x2010, 0x10010)]
    mapped, build_id, options = {"path": (str(program), "", ()), "build id": ("/nowhere/vmlinux", "0123456789abcdef0123456789abcdef01234567", ("-s", tmp_path))}.get(
        name, (name, "", ("-i", f"vmlinux={program}")))
    if name == "build id":
        (tmp_path / ".build-id/01").mkdir(parents=True)
        (tmp_path / ".build-id/01/23456789abcdef0123456789abcdef01234567.debug").write_bytes(program.read_bytes())
        options = ("--debug-dir", tmp_path)
    for offset in (0, start):
        (tmp_path / "in.pb").write_bytes(pprof([(places, [1])], [(start, (1 << 64) - 1, offset, mapped, build_id)]))
        asked = [] if name == "path" else [program]
        theirs = go_pprof(tmp_path, "-traces", "-symbolize=local", *asked, tmp_path / "in.pb").split("\n-----")[-2].split()[-3:]
        assert theirs == ["first", "second", "third"]
        callsign.good("profile", tmp_path / "in.pb", "-o", tmp_path / "out.pb", "--offline", "--no-cache", *options)
        assert Pprof((tmp_path / "out.pb").read_bytes()).names() == {tuple(theirs): [1]}
        callsign.good("profile", tmp_path / "in.pb", "-o", tmp_path / "between.otlp", "--offline", "--no-search")
        callsign.good("profile", tmp_path / "between.otlp", "-o", tmp_path / "out.pb", "--offline", "--no-cache", *options)
        assert Pprof((tmp_path / "out.pb").read_bytes()).names() == {tuple(theirs): [1]}


def raw_samples(tmp_path, path):
    """{(frames of a stack, labels): values}, how many samples, and how many locations, as pprof reads them."""
    text = go_pprof(tmp_path, "-raw", "-symbolize=none", path)
    samples, _, rest = text.split("Samples:\n")[1].partition("Locations\n")
    frames, found, number = {}, {}, ""
    for line in rest.split("Mappings\n")[0].splitlines():
        head = re.match(r"\s+(\d+): (0x\w+)(.*)", line)
        number = head[1] if head else number
        frames[number] = frames.get(number, "") + (head[2] + head[3] if head else line).removesuffix("()")  # no stored name
    lines = [line for line in samples.splitlines()[1:] if ": " in line and not line.startswith(" " * 16)]
    for line in lines:
        values, _, numbers = line.partition(":")
        key = tuple(re.sub(r" M=\d+", "", frames[n]) for n in numbers.split())
        found[key] = [a + b for a, b in zip(found.get(key, [0] * 9), map(int, values.split()))]
    return found, len(lines), len(frames)


def test_merged_as_pprof_merges(callsign, judged, tmp_path):
    """Samples and locations that several inputs share are one: each input brought its own."""
    other = tmp_path / "other.pb"
    other.write_bytes(table_profile({}))
    inputs = [judged[1], judged[1], other, judged[1], other]
    subprocess.run([*find_pprof(), "-proto", "-symbolize=none", "-output", tmp_path / "theirs.pb", *inputs], check=True, capture_output=True,
                   env={**os.environ, "GOTOOLCHAIN": "local", "HOME": str(tmp_path), "PPROF_TMPDIR": str(tmp_path)})
    callsign.good("profile", *inputs, "-o", tmp_path / "ours.pb", "--no-search")
    callsign.good("profile", judged[1], "-o", tmp_path / "single.pb", "--no-search")
    theirs, ours, single = (raw_samples(tmp_path, tmp_path / f"{name}.pb") for name in ("theirs", "ours", "single"))
    assert ours == theirs and ours[1] == single[1] + 1 and len(ours[0]) > 1


TABLES = {"type": (1, message((1, 1), (2, 2))), "sample": (2, message((1, packed([1])), (2, packed([3])))), "mapping": (3, message((1, 1), (2, 0x1000), (3, 0x2000))),
          "location": (4, message((1, 1), (2, 1), (3, 0x1004), (4, message((1, 1), (2, 5))))), "function": (5, message((1, 1), (2, 3)))}
STRINGS = b"".join(message((6, text)) for text in ("", "samples", "count", "f", "g"))


def table_profile(changes):
    """A profile of one thing of each kind, of which some are others, several or none."""
    tables = [(name, (number, value)) for name, (number, value) in TABLES.items()]
    return b"".join(message((number, v)) for name, (number, value) in tables for v in changes.get(name, [value])) + STRINGS + changes.get("rest", b"")


@pytest.mark.parametrize("changes, text", [
    ({"mapping": [TABLES["mapping"][1], message((1, 1), (2, 0x3000))]}, "pprof+0x18: mapping 1 comes a second time"),
    ({"location": [TABLES["location"][1], message((1, 1), (3, 0x1008))]}, "location 1 comes a second time"),
    ({"function": [TABLES["function"][1], message((1, 1), (2, 4))]}, "function 1 comes a second time"),
    ({"mapping": [TABLES["mapping"][1], message((2, 0x3000))]}, "mapping has the id 0"), ({"location": [TABLES["location"][1], message((3, 0x1008))]}, "location has the id 0"),
    ({"function": [TABLES["function"][1], message((2, 4))]}, "function has the id 0"),
    ({"location": [message((1, 1), (4, message((2, 5))))]}, "a line is of function 0, which does not exist"),
    ({"location": [message((1, 1), (4, message((1, 7), (2, 5))))]}, "a line is of function 7, which does not exist"),
    ({"sample": [message((1, packed([1, 0])), (2, packed([3])))]}, "a sample has location 0, which does not exist"),
    ({"sample": [message((1, packed([1, 9])), (2, packed([3])))]}, "a sample has location 9, which does not exist"),
    ({"type": [TABLES["type"][1]] * 2}, "pprof+0xc: a sample has 1 values, but 2 types of values are declared"),
    ({"sample": [TABLES["sample"][1], message((1, packed([1])))]}, "pprof+0xe: a sample has 0 values, but 1 types"),
    ({"sample": [TABLES["sample"][1], message((1, packed([1])), (2, packed([1, 2])))]}, "a sample has 2 values, but 1 types"),
    ({"type": [], "sample": [message((1, packed([1])))]}, "a sample, but no types of values are declared"),
    ({"rest": message((9, 1700000000)) * 2}, "a time, 1700000000 comes a second time"),
    ({"mapping": [message((1, 1), (2, 0x1000), (3, b"abc"))]}, "a mapping of 10 bytes is damaged"), ({"function": [message((1, 1), (2, b"f"))]}, "a function of 5 bytes is damaged"),
    ({"location": [message((1, 1), (4, 3))]}, "a location of 4 bytes is damaged"), ({"rest": message((12, b"100"))}, "no field of a profile has the number 12 and the type 2"),
    ({"rest": message((2, 5))}, "no field of a profile has the number 2 and the type 0")])
def test_what_pprof_refuses(callsign, tmp_path, changes, text):
    """They were accepted, of two things with one id the second, and bytes where a number is due were their size."""
    (tmp_path / "good.pb").write_bytes(table_profile({}))
    assert Pprof(table_profile({})).names() == {("f",): [3]}
    callsign.good("profile", tmp_path / "good.pb", "-o", tmp_path / "out.pb", "--no-search")
    (tmp_path / "in.pb").write_bytes(table_profile(changes))
    assert text in callsign.bad("profile", tmp_path / "in.pb", "-o", tmp_path / "out.pb", "--no-search", "--from", "pprof")
    go_pprof(tmp_path, "-raw", "-symbolize=none", tmp_path / "good.pb")
    done = subprocess.run([*find_pprof(), "-raw", "-symbolize=none", tmp_path / "in.pb"], capture_output=True, text=True, check=False,
                          env={**os.environ, "GOTOOLCHAIN": "local", "HOME": str(tmp_path), "PPROF_TMPDIR": str(tmp_path)})
    assert done.returncode != 0 and re.search("malformed|parsing profile|unrecognized", done.stderr), done.stderr


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_two_profiles_are_not_one(callsign, tmp_path, pack):
    """`cat a.pb.gz b.pb.gz`: the samples of the first had functions of the second."""
    profiles = [pack(table_profile({})), pack(table_profile({"function": [message((1, 1), (2, 4))]}))]
    for name, data in (("a.pb", profiles[0]), ("b.pb", profiles[1]), ("both.pb", b"".join(profiles))):
        (tmp_path / name).write_bytes(data)
    assert "comes a second time: two profiles" in callsign.bad("profile", tmp_path / "both.pb", "-o", tmp_path / "out.pb", "--no-search")
    callsign.good("profile", tmp_path / "a.pb", tmp_path / "b.pb", "-o", tmp_path / "out.pb", "--no-search")
    assert sorted(Pprof((tmp_path / "out.pb").read_bytes()).names()) == [("f",), ("g",)]


def test_zeros_behind_a_profile(callsign, tmp_path):
    """No field of a protobuf has the number 0; protoc says so, too."""
    (tmp_path / "in.pb").write_bytes(table_profile({}) + bytes(16))
    assert "no field of a profile has the number 0" in callsign.bad("profile", tmp_path / "in.pb", "-o", tmp_path / "out.pb", "--no-search")


def test_pprof_names_what_we_leave(callsign, tmp_path):
    """One location has a name and the other none: pprof looks up nothing in a mapping that says that its functions are known."""
    (tmp_path / "a.c").write_text("static volatile long s;\n__attribute__((noinline)) void rec(int n) { s += n; }\nint main(void) { rec(1); return 0; }\n")
    subprocess.run([need("gcc"), "-O0", "-g", "-no-pie", "a.c", "-o", "app"], cwd=tmp_path, check=True)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in subprocess.run(
        [need("nm"), "--defined-only", tmp_path / "app"], check=True, capture_output=True, text=True).stdout.splitlines()}
    start = symbols["_init"] & ~0xfff
    strings = ["", "samples", "count", "rec", str(tmp_path / "app")]
    source = message((1, message((1, 1), (2, 2))), (2, message((1, packed([1, 2])), (2, packed([7])))), (3, message((1, 1), (2, start), (3, start + 0x1000), (4, 0x1000), (5, 4))),
                     (4, message((1, 1), (2, 1), (3, symbols["rec"] + 4), (4, message((1, 1))))), (4, message((1, 2), (2, 1), (3, symbols["main"] + 8))),
                     (5, message((1, 1), (2, 3)))) + b"".join(message((6, text)) for text in strings)
    (tmp_path / "in.pb").write_bytes(source)
    callsign.good("profile", tmp_path / "in.pb", "-o", tmp_path / "out.pb", "--no-search")
    for name in ("in.pb", "out.pb"):
        names = [line.split()[-1] for line in go_pprof(tmp_path, "-traces", tmp_path / name).splitlines() if line.startswith("         ")]
        assert names == ["rec", "main"], name


GO = """package main

import (
	"os"
	"runtime/pprof"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	out, _ := os.Create("cpu.pb.gz")
	pprof.StartCPUProfile(out)
	for i := 30; fib(i) < 60000000; i++ {
	}
	pprof.StopCPUProfile()
	out.Close()
}
"""


def first_lines_of(data, name):
    strings = [value.decode() for number, value in fields(data) if number == 6]
    functions = [dict_of(value) for number, value in fields(data) if number == 5]
    return [function.get(5, [0])[0] for function in functions if strings[function[2][0]] == name]


def test_go_optimizes_with_ours(callsign, tmp_path):
    """The program's index does not know where functions begin: the profile's first lines were gone, without which Go takes none."""
    go = need("go")
    (tmp_path / "fib.go").write_text(GO)
    subprocess.run([go, "build", "-o", "fib", "fib.go"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([tmp_path / "fib"], cwd=tmp_path, check=True)
    callsign.good("profile", tmp_path / "cpu.pb.gz", "-o", tmp_path / "out.pb.gz", "--offline", "--no-cache")
    first_lines = [first_lines_of(gzip.decompress((tmp_path / name).read_bytes()), "main.fib") for name in ("cpu.pb.gz", "out.pb.gz")]
    assert first_lines[0] == first_lines[1] != []
    tools = subprocess.run([go, "tool"], capture_output=True, text=True, check=True).stdout.split()
    hot = []
    for name in ("cpu.pb.gz", "out.pb.gz") if "preprofile" in tools else ():  # of Go 1.23 and later; those before write no first lines
        subprocess.run([go, "tool", "preprofile", "-i", name, "-o", "pre"], cwd=tmp_path, check=True, capture_output=True)
        hot.append((tmp_path / "pre").read_text())
    assert not hot or ("main.fib" in hot[0] and hot[1] == hot[0] and first_lines[0] != [0])


UNITS = {"tracing-ms": ("ns", "NS", "nanosecond", "Nanoseconds", "us", "microseconds", "ms", "Milliseconds", "s", "sec", "secs", "Seconds", "hr", "hours"),
         "bytes": ("b", "B", "byte", "Bytes", "kb", "kBs", "kbytes", "Kilobyte", "mb", "mbyte", "megabytes", "gb", "Gigabyte", "tb", "terabytes", "pb"),
         "samples": ("count", "samples", "nsss", "msec", "minutes", "kib", "ss", "")}


@pytest.mark.parametrize("kind", UNITS)
def test_units_are_those_of_pprof(callsign, tmp_path, kind):
    """"ns" was a number of samples in Firefox profiles."""
    for unit in UNITS[kind]:
        (tmp_path / "in.pb").write_bytes(pprof([([0x1000], [7])], [], types=(("value", unit),)))
        callsign.good("profile", tmp_path / "in.pb", "-o", tmp_path / "out.json", "--no-search", "-q")
        samples = json.loads((tmp_path / "out.json").read_text())["threads"][0]["samples"]
        assert samples["weightType"] == kind, unit
        # What cannot be converted keeps its number there.
        wanted = {"tracing-ms": "milliseconds", "bytes": "bytes"}.get(kind, "bytes")
        text = go_pprof(tmp_path, "-top", "-symbolize=none", f"-unit={wanted}", tmp_path / "in.pb")
        total = float(re.search(r"% of ([0-9.e+]+?)(?:ms|B|bytes)? total", text)[1])
        assert samples["weight"] == [pytest.approx(total, abs=0.01)], (unit, text)


def test_opentelemetry_reads_ours(callsign, judged, tmp_path):
    pytest.importorskip("opentelemetry.proto.profiles.v1development.profiles_pb2", reason="opentelemetry-proto (PyPI) is not installed")
    from opentelemetry.proto.profiles.v1development import profiles_pb2
    callsign.good("profile", judged[1], "-o", tmp_path / "out.otlp", "--no-search")
    data = profiles_pb2.ProfilesData.FromString((tmp_path / "out.otlp").read_bytes())
    callsign.good("profile", judged[1], "-o", tmp_path / "out.otlp.json", "--no-search")
    from google.protobuf import json_format # differs from OTLP's rules only in ids, of which there are none
    assert json_format.Parse((tmp_path / "out.otlp.json").read_text(), profiles_pb2.ProfilesData()) == data
    (tmp_path / "theirs.json").write_text(json_format.MessageToJson(data))
    callsign.good("profile", tmp_path / "theirs.json", "-o", tmp_path / "again.otlp", "--no-search")
    callsign.good("profile", tmp_path / "out.otlp", "-o", tmp_path / "straight.otlp", "--no-search")
    assert (tmp_path / "again.otlp").read_bytes() == (tmp_path / "straight.otlp").read_bytes()
    tables, profile = data.dictionary, data.resource_profiles[0].scope_profiles[0].profiles[0]
    names = {tables.string_table[tables.function_table[line.function_index].name_strindex]
             for sample in profile.samples for location in tables.stack_table[sample.stack_index].location_indices
             for line in tables.location_table[location].lines}
    assert {"plain", "main", "shapes::Shape::area(double)"} <= names
    assert tables.string_table[0] == "" and not tables.mapping_table[0].memory_limit
    assert sum(value for sample in profile.samples for value in sample.values) == len(judged[2])
