"""Objects of all machines that LLVM writes, and of some that only the GNU assembler knows: lines and inlined calls are those of
llvm-symbolizer, or of the source text. What is not known is refused."""
import json
import re
import struct
import subprocess

import pytest

from programs import need

SOURCE = """
static inline int square(int x) { return x * x + (x >> 3); }
int sink;
__attribute__((noinline)) int helper(int a, int b) {
    int sum = 0;
    for (int i = 0; i < a; i++)
        sum += square(i + b);
    sink = sum;
    return sum;
}
int area(int a) {
    return helper(a, 3) + square(a);
}
"""
TARGETS = """aarch64 aarch64_be amdgcn-amd-amdhsa arm armeb avr bpfel bpfeb hexagon mips mips64 mips64el mipsel msp430 powerpc powerpcle
powerpc64 riscv32 riscv64 sparc sparcv9 s390x thumb thumbeb i386 x86_64""".split()
# LLVM's own readers do not relocate these; PowerPC's ABI 2 has code before the first row.
WITHOUT_SYMBOLIZER = """lanai loongarch32 loongarch64 m68k mipsn32-linux-gnuabin32 powerpc64le sparcel ve x86_64-linux-gnux32
xtensa""".split()
LISTING = """
    .text
    .globl one
    .type one, @function
one:
    nop
    nop
    nop
    .size one, . - one
    .section .text.more, "ax"
    .globl two
    .type two, @function
two:
    nop
    nop
    .size two, . - two
"""


def run(folder, *command, **more):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr}"
    return done.stdout


def ranges(callsign, index):
    records = [json.loads(line) for line in callsign.good("dump", index, "--json").splitlines()]
    return {f["name"]: (int(f["start"], 16), f["size"]) for f in (r["function"] for r in records if "function" in r)}


@pytest.mark.parametrize("version", ["4", "5"])
@pytest.mark.parametrize("target", TARGETS)
def test_frames_are_those_of_the_symbolizer(callsign, target, version, tmp_path):
    judge = need("llvm-symbolizer-22")
    (tmp_path / "square.c").write_text(SOURCE)
    run(tmp_path, need("clang-22"), f"--target={target}", "-c", "-g", f"-gdwarf-{version}", "-O1", "-ffreestanding", "square.c")
    callsign.good("convert", "--quiet", tmp_path / "square.o", "-o", tmp_path / "index")
    found = ranges(callsign, tmp_path / "index")
    assert found.keys() == {"helper", "area"}
    addresses = [hex(start + offset) for start, size in found.values() for offset in range(size)]
    ours = [json.loads(line)["frames"] for line in callsign.good("lookup", tmp_path / "index", "--json", *addresses).splitlines()]
    text = run(tmp_path, judge, "--obj=square.o", "--output-style=JSON", "--functions=linkage", input="\n".join(addresses))
    theirs = [json.loads(line)["Symbol"] for line in text.splitlines()]
    ours = [[(f["function"], f["file"].split("/")[-1], f.get("line", 0)) for f in frames] for frames in ours]
    assert ours == [[(f["FunctionName"], f["FileName"].split("/")[-1], f["Line"]) for f in frames] for frames in theirs]
    assert any(len(frames) == 2 for frames in ours) and len(addresses) > 60


def judged_rows(folder, target):
    """{address: line} of the line table, which begins with the only section of code: at 0, but for Xtensa's literals."""
    if target == "xtensa":
        text = run(folder, need("readelf"), "--debug-dump=decodedline", "square.o")
        rows = re.findall(r"^square.c +(\d+) +(0x[0-9a-f]+|0)(?: +x)? *$", text, re.M)
        return {int(address, 16): int(line) for line, address in rows}
    judge = [need("llvm-dwarfdump-22"), "--debug-line", "square.o"]
    text = subprocess.run(judge, cwd=folder, capture_output=True, text=True).stdout  # it cannot read the strings of .debug_info
    rows = re.findall(r"^0x([0-9a-f]{16}) +(\d+) +\d+ +\d+ +\d+ +\d+ +\d+(?!.*end_sequence)", text, re.M)
    return {int(address, 16): int(line) for address, line in rows}  # of several rows of one address the last counts


@pytest.mark.parametrize("version", ["4", "5"])
@pytest.mark.parametrize("target", WITHOUT_SYMBOLIZER)
def test_lines_are_those_of_the_table(callsign, target, version, tmp_path):
    (tmp_path / "square.c").write_text(SOURCE)
    run(tmp_path, need("clang-22"), f"--target={target}", "-c", "-g", f"-gdwarf-{version}", "-O1", "-ffreestanding", "square.c")
    callsign.good("convert", "--quiet", tmp_path / "square.o", "-o", tmp_path / "index")
    found = ranges(callsign, tmp_path / "index")
    assert found.keys() == {"helper", "area"}
    rows = {address: line for address, line in judged_rows(tmp_path, target).items()
            if any(start <= address < start + size for start, size in found.values())}
    assert len(rows) > 8
    answers = [json.loads(line)["frames"] for line in
               callsign.good("lookup", tmp_path / "index", "--json", *map(hex, rows)).splitlines()]
    assert [frames[0].get("line", 0) for frames in answers] == list(rows.values())
    for address, frames in zip(rows, answers):
        start, size = found[frames[-1]["function"]]
        assert start <= address < start + size and frames[-1]["file"].endswith("/square.c")
        assert [f["function"] for f in frames[:-1]] in ([], ["square"])
    assert any(len(frames) == 2 for frames in answers)


@pytest.mark.parametrize("version", ["3", "5"])
@pytest.mark.parametrize("machine", ["alpha", "hppa", "sh4"])
def test_objects_of_the_gnu_assembler(callsign, machine, version, tmp_path):
    (tmp_path / "listing.s").write_text(LISTING)
    run(tmp_path, need(f"{machine}-linux-gnu-as"), f"-gdwarf-{version}", "listing.s", "-o", "listing.o")
    callsign.good("convert", "--quiet", tmp_path / "listing.o", "-o", tmp_path / "index")
    found = ranges(callsign, tmp_path / "index")
    step = found["one"][1] // 3
    assert found["one"][0] == 0 and found["two"][0] >= 3 * step and found["two"][1] == 2 * step
    addresses = [found["one"][0] + step * i for i in range(3)] + [found["two"][0] + step * i for i in range(2)]
    answers = callsign.good("lookup", tmp_path / "index", "--json", *map(hex, addresses)).splitlines()
    frames = [json.loads(line)["frames"] for line in answers]
    assert [(f[0]["function"], f[0]["line"]) for f in frames] == [("one", 6), ("one", 7), ("one", 8), ("two", 14), ("two", 15)]


def as_cubin(data):
    """An object as CUDA's ptxas writes it: marked as linked, with relocations of types of its own."""
    data, types = bytearray(data), {0: 0, 1: 2, 10: 1} # R_X86_64_NONE, _64, _32
    data[16:20] = struct.pack("<HH", 2, 190)
    sections, = struct.unpack_from("<Q", data, 40)
    for index in range(struct.unpack_from("<H", data, 60)[0]):
        kind, _, _, off, size, _, target = struct.unpack_from("<IQQQQII", data, sections + 64 * index + 4)
        executable = struct.unpack_from("<Q", data, sections + 64 * target + 8)[0] & 4
        for at in range(off, off + size, 24) if kind == 4 and not executable else ():
            struct.pack_into("<I", data, at + 8, types[struct.unpack_from("<I", data, at + 8)[0]])
    return bytes(data)


@pytest.mark.parametrize("version", ["4", "5"])
def test_cubins(callsign, version, tmp_path):
    (tmp_path / "square.c").write_text(SOURCE)
    run(tmp_path, need("clang-22"), "--target=x86_64", "-c", "-g", f"-gdwarf-{version}", "-O1", "-ffreestanding", "-ffunction-sections",
        "-fno-asynchronous-unwind-tables", "square.c")
    (tmp_path / "square.cubin").write_bytes(as_cubin((tmp_path / "square.o").read_bytes()))
    answers = []
    for name in ("square.o", "square.cubin"):
        callsign.good("convert", "--quiet", tmp_path / name, "-o", tmp_path / "index")
        found = ranges(callsign, tmp_path / "index")
        assert found.keys() == {"helper", "area"} and found["helper"][0] != found["area"][0]
        addresses = [hex(start + offset) for start, size in found.values() for offset in range(size)]
        answers.append([json.loads(line)["frames"] for line in callsign.good("lookup", tmp_path / "index", "--json", *addresses).splitlines()])
    assert answers[0] == answers[1] and any(len(frames) == 2 for frames in answers[1])


def test_an_unknown_machine_is_refused(callsign, tmp_path):
    (tmp_path / "square.c").write_text(SOURCE)
    run(tmp_path, need("clang-22"), "--target=x86_64", "-c", "-g", "-ffreestanding", "square.c")
    data = bytearray((tmp_path / "square.o").read_bytes())
    data[18:20] = (0x1234).to_bytes(2, "little")
    (tmp_path / "square.o").write_bytes(data)
    line = callsign.bad("convert", tmp_path / "square.o", "-o", tmp_path / "index")
    assert "relocations in debug sections are not known, the first of type 10 of machine 4660" in line
    assert not (tmp_path / "index").exists()
