"""eBPF programs of which only BTF is left: functions and lines are those of their DWARF."""
import json
import re
import struct
import subprocess

import pytest

from programs import need

SOURCE = """
typedef unsigned int u32;
static __attribute__((noinline)) int helper(int a) { return a * 3 + 1; }
__attribute__((section("xdp"), used))
int prog(u32 *ctx) {
    int x = ctx[0];
    x += ctx[1] * 2;
    if (x > 5)
        return helper(x);
    return x ^ ctx[2];
}
__attribute__((section("xdp"), used))
int second(u32 *ctx) {
    return helper(ctx[1]) - 4;
}
__attribute__((section("tc"), used))
int other(u32 *ctx) {
    return helper(ctx[3]) + 4;
}
"""


@pytest.fixture(scope="module", params=["bpfel", "bpfeb"])
def objects(request, tmp_path_factory):
    """The object with DWARF, and with BTF alone."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "prog.c").write_text(SOURCE)
    subprocess.run([need("clang-22"), "-target", request.param, "-g", "-O2", "-c", folder / "prog.c", "-o", folder / "whole.o"], check=True)
    subprocess.run([need("llvm-strip-22"), "-g", folder / "whole.o", "-o", folder / "btf.o"], check=True)
    sections = subprocess.run([need("readelf"), "-SW", folder / "btf.o"], check=True, capture_output=True, text=True).stdout
    assert ".BTF.ext" in sections and ".debug_info" not in sections
    return folder / "whole.o", folder / "btf.o"


def functions(callsign, path):
    rows = (json.loads(line).get("function") for line in callsign.good("dump", "--json", path).splitlines())
    return [row for row in rows if row]


def test_every_instruction_is_as_with_dwarf(callsign, objects, tmp_path):
    whole, btf = objects
    found = {}
    for path in objects:
        callsign.good("convert", path, "-o", tmp_path / path.name, "-q")
        found[path] = functions(callsign, tmp_path / path.name)
    assert [f["name"] for f in found[btf]] == ["helper", "prog", "second", "other"]
    text = "".join(f"{int(f['start'], 16) + offset:x}\n" for f in found[whole] for offset in range(f["size"]))
    want, got = (callsign.run("lookup", tmp_path / path.name, "--json", stdin=text) for path in objects)
    assert got.stdout == want.stdout and text.count("\n") > 150
    assert '"line":7' in got.stdout


def test_lines_are_those_that_the_disassembler_prints(callsign, objects):
    """llvm-objdump reads BTF itself. It prints a line where it changes."""
    listing = subprocess.run([need("llvm-objdump-22"), "-d", "-l", objects[1]], check=True, capture_output=True, text=True).stdout
    start, printed = {}, {}
    for f in functions(callsign, objects[1]):
        start[f["name"]] = int(f["start"], 16)
        printed[f["name"]] = []
    name = None
    for row in listing.splitlines():
        if match := re.match(r"[0-9a-f]+ <(\w+)>:", row):
            name = match[1]
        elif match := re.match(r"; .*prog\.c:(\d+)$", row):
            printed[name].append(int(match[1]))
    for f in functions(callsign, objects[1]):
        assert [row["line"] for row in f["lines"]] == printed[f["name"]] and len(printed[f["name"]]) > 0


def test_the_report_names_the_source(callsign, objects, tmp_path):
    report = tmp_path / "report.json"
    done = callsign.run("convert", objects[1], "-o", tmp_path / "out", "--report", report)
    assert done.returncode == 0 and "symbols only" not in done.stderr
    counts = json.loads(report.read_text())
    assert counts["functions_from_btf"] == 4 and counts["functions_from_dwarf"] == 0


@pytest.mark.long_with_sanitizers
def test_damage(callsign, objects, tmp_path):
    """Bytes of both sections changed: an answer or a message, and functions that symbols have stay."""
    content = bytearray(objects[1].read_bytes())
    sections = subprocess.run([need("readelf"), "-SW", objects[1]], check=True, capture_output=True, text=True).stdout
    places = [(int(m[1], 16), int(m[2], 16)) for m in re.finditer(r"\.BTF(?:\.ext)?\s+PROGBITS\s+\S+ (\S+) (\S+)", sections)]
    assert len(places) == 2
    damaged, told = tmp_path / "damaged.o", set()
    for off, size in places:
        for at in [*range(off, off + 40), *range(off + 40, off + size, 11)]:
            damaged.write_bytes(content[:at] + bytes([content[at] ^ 0xff]) + content[at + 1:])
            done = callsign.run("convert", damaged, "-o", tmp_path / "out")
            assert done.returncode in (0, 1), (at, done)
            told.update(re.findall(r"BTF: (.*)", done.stderr))
            if "BTF: " in done.stderr:
                assert len(functions(callsign, tmp_path / "out")) == 4, at
    text = "\n".join(told)
    for part in ["magic 0x", "version 254, need 1", "header of", "is of kind", "reaches beyond", "records of"]:
        assert part in text, (part, text)


def test_a_long_path_of_many_lines(callsign, objects, tmp_path):
    """A line is 16 bytes, its path may be all of the strings: each was hashed for each."""
    sections = {}
    for name in (".BTF", ".BTF.ext"):
        part = tmp_path / name[1:]
        subprocess.run([need("llvm-objcopy-22"), f"--dump-section={name}={part}", objects[1], tmp_path / "copy.o"], check=True)
        sections[name] = part.read_bytes()
    order = "<" if sections[".BTF"][:2] == b"\x9f\xeb" else ">"
    types, lines, count = bytearray(sections[".BTF"]), sections[".BTF.ext"], 4000
    head, strings, size = (struct.unpack_from(order + "I", types, at)[0] for at in (4, 16, 20))
    types = types[:head + strings + size] + b"/" + b"a" * 200000 + b"\0"
    struct.pack_into(order + "I", types, 20, size + 200002)
    head, functions_at, functions_size, lines_at = struct.unpack_from(order + "4I", lines, 4)
    of_functions = lines[head + functions_at:head + functions_at + functions_size]
    _, section, _, _, first = struct.unpack_from(order + "5I", lines, head + lines_at)
    records = b"".join(struct.pack(order + "4I", 0, size if i % 2 else first, 0, 1 << 10) for i in range(count))
    of_lines = struct.pack(order + "3I", 16, section, count) + records
    lines = lines[:4] + struct.pack(order + "5I", 24, 0, len(of_functions), len(of_functions), len(of_lines)) + of_functions + of_lines
    (tmp_path / "BTF").write_bytes(types)
    (tmp_path / "BTF.ext").write_bytes(lines)
    subprocess.run([need("llvm-objcopy-22"), *(f"--update-section={name}={tmp_path / name[1:]}" for name in sections),
                    objects[1], tmp_path / "long.o"], check=True)
    done = callsign.run("convert", tmp_path / "long.o", "-o", tmp_path / "out")
    assert done.returncode == 1 and "names and paths of records take" in done.stderr
    assert len(functions(callsign, tmp_path / "out")) == 4
