"""Line tables that no unit names: clang -gline-directives-only writes no units, and assemblers none for .loc alone."""
import json
import re
import subprocess

import pytest

from programs import need

C = """extern volatile int sink;
static inline int scale(int x) { if (x > 9) sink = x; return x * 3; }
__attribute__((noinline)) int NAME(int x) {
    for (int i = 0; i < x; i++) sink += scale(i);
    return sink;
}
"""
MAIN = """volatile int sink; int first(int); int second(int);
int main(int argc, char **argv) { (void)argv; return first(argc) + second(argc); }
"""
ASSEMBLY = """.text
.file 1 "/src/hand.s"
.globl second
.type second, %function
second:
.loc 1 70
nop
.loc 1 71
mov $1, %eax
ret
.size second, . - second
"""


def rows_of(program):
    """{address: the last (file, line) of a row there}, of rows with a line and a length."""
    text = subprocess.run([need("llvm-dwarfdump-22"), "--debug-line", program], capture_output=True, text=True, check=True).stdout
    found, files = {}, {}
    for line in text.splitlines():
        if head := re.match(r"file_names\[ *(\d+)\]", line):
            number = int(head[1])
        elif name := re.match(r' +name: "(.*)"', line):
            files[number] = name[1].split("/")[-1]
        elif row := re.match(r"0x([0-9a-f]+) +(\d+) +\d+ +(\d+) ", line):
            if "end_sequence" not in line:
                found[int(row[1], 16)] = (files[int(row[3])], int(row[2]))
    return {address: place for address, place in found.items() if place[1]}


@pytest.mark.parametrize("others", [None, "-g", "-gmlt"])
@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
def test_each_row_is_answered(callsign, tmp_path, others, version):
    """All of a program's files are without units, or one of them."""
    clang = need("clang-22")
    sources = {"first.c": C.replace("NAME", "first"), "second.c": C.replace("NAME", "second"), "main.c": MAIN}
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
        options = [others] if others and name != "first.c" else ["-gline-directives-only"]
        subprocess.run([clang, "-O2", version, *options, "-c", name, "-o", f"{name}.o"], cwd=tmp_path, check=True)
    subprocess.run([clang, *(f"{name}.o" for name in sources), "-o", "p"], cwd=tmp_path, check=True)
    report = json.loads(callsign.good("convert", "-q", tmp_path / "p", "-o", tmp_path / "p.gsym", "--report", "-"))
    assert report["coverage"]["line"]["input"] == report["coverage"]["line"]["index"] > 60
    rows = rows_of(tmp_path / "p")
    assert {file for file, _ in rows.values()} == set(sources)
    for address, (file, line) in rows.items():
        frame = json.loads(callsign.good("lookup", "--json", tmp_path / "p.gsym", hex(address)))["frames"][0]
        assert (frame["file"].split("/")[-1], frame["line"]) == (file, line), hex(address)


def test_compressed_sections_give_the_same(callsign, tmp_path):
    """Units are then converted in portions, and line tables given back meanwhile, by 256 KB."""
    clang = need("clang-22")
    (tmp_path / "first.c").write_text(C.replace("NAME", "first"))
    (tmp_path / "main.c").write_text(MAIN + C.replace("NAME", "second").replace("extern ", ""))
    names = ["main", "first"]
    for number in range(5):
        names.append(f"many{number}")
        (tmp_path / f"many{number}.c").write_text("".join(
            f"int g{number}_{i}(int x) {{\n x += {i};\n x *= 3;\n\n x ^= 5;\n return x;\n}}\n" for i in range(5000)))
    for name in names:
        option = "-gline-directives-only" if name == "first" else "-g"
        subprocess.run([clang, "-O0", option, "-c", f"{name}.c"], cwd=tmp_path, check=True)
    subprocess.run([clang, *(f"{name}.o" for name in names), "-o", "p"], cwd=tmp_path, check=True)
    subprocess.run([need("objcopy"), "--compress-debug-sections=zlib", "p", "z"], cwd=tmp_path, check=True)
    made = {}
    for name in "pz":
        for threads in (1, 2):
            callsign.good("convert", "-q", tmp_path / name, "-o", tmp_path / "out.gsym", "--threads", threads)
            made[name, threads] = (tmp_path / "out.gsym").read_bytes()
    assert len(set(made.values())) == 1
    first = json.loads(callsign.good("find", "--json", tmp_path / "out.gsym", "first.c:4"))
    assert first["matches"][0]["function"] == "first"


def test_assembler_files_with_places_of_their_own(callsign, tmp_path):
    gcc = need("gcc")
    (tmp_path / "second.s").write_text(ASSEMBLY)
    (tmp_path / "first.c").write_text(C.replace("NAME", "first"))
    (tmp_path / "main.c").write_text(MAIN)
    subprocess.run([gcc, "-c", "second.s", "-o", "second.o"], cwd=tmp_path, check=True)
    subprocess.run([gcc, "-O2", "-g", "first.c", "main.c", "second.o", "-o", "p"], cwd=tmp_path, check=True)
    callsign.good("convert", "-q", tmp_path / "p", "-o", tmp_path / "p.gsym")
    nm = subprocess.run([need("nm"), tmp_path / "p"], capture_output=True, text=True, check=True).stdout
    start = int(re.search(r"^([0-9a-f]+) T second$", nm, re.M)[1], 16)
    assert callsign.good("lookup", tmp_path / "p.gsym", hex(start), hex(start + 1)) == \
        f"{start:#x}: second + 0 at /src/hand.s:70\n{start + 1:#x}: second + 1 at /src/hand.s:71\n"


def test_folders_count_from_the_compilation_directory(callsign, tmp_path):
    """Which version 5 has in the table itself."""
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "h.h").write_text("int outer(int x) {\n return x * 3; }\n")
    (tmp_path / "main.c").write_text('#include "h.h"\nint main(int argc, char **argv) { (void)argv; return outer(argc); }\n')
    subprocess.run([need("clang-22"), "-gdwarf-5", "-gline-directives-only", "-Iinc", "main.c", "-o", "p"], cwd=tmp_path, check=True)
    assert "symbols only" not in callsign.run("convert", tmp_path / "p", "-o", tmp_path / "p.gsym").stderr
    nm = subprocess.run([need("nm"), tmp_path / "p"], capture_output=True, text=True, check=True).stdout
    start = int(re.search(r"^([0-9a-f]+) T outer$", nm, re.M)[1], 16)
    assert callsign.good("lookup", tmp_path / "p.gsym", hex(start)) == f"{start:#x}: outer + 0 at {tmp_path}/inc/h.h:1\n"
