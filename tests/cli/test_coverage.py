"""Coverage as a figure: for how many bytes of code input and index have a name, a line and inlined calls."""
import json
import os
import pathlib
import re
import subprocess

import pytest

import programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLSIGN = os.environ.get("CALLSIGN", str(ROOT / "build/release/callsign"))
KINDS = ("name", "line", "inlined")

SOURCE = """
static int a(void *p) { (void)p; return 0; } static int b(void *p) { (void)p; return 0; }
int (*tab[])(void *) = { a, b };
static inline int scale(int v) { return v * 3 + 1; }
__attribute__((noinline)) int twice(int v) { return scale(v) ^ scale(v + 1); }
int main(int argc, char **argv) { return tab[argc & 1](argv) + twice(argc); }
"""


def run(*words):
    return subprocess.run([CALLSIGN, *map(str, words)], capture_output=True, text=True)


def coverage(program, folder, *options):
    done = run("convert", "--quiet", *options, program, "-o", folder / "index.gsym", "--report", folder / "report.json")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "report.json").read_text())["coverage"]


def build(folder, compiler, *flags):
    (folder / "program.c").write_text(SOURCE)
    subprocess.run([programs.need(compiler), *flags, folder / "program.c", "-o", folder / "program"], check=True)
    return folder / "program"


def text_bytes(program):
    """Bytes of the executable sections, as readelf has them."""
    rows = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout.splitlines()
    found = [re.match(r" *\[ *\d+\] \S+ +\S+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) \S+ +(\w*X\w*) ", row) for row in rows]
    return sum(int(match[1], 16) for match in found if match)


@pytest.mark.parametrize("flags", [["-O2", "-g"], ["-O2", "-g", "-gdwarf-4"], ["-O0", "-g"], ["-O2", "-g1"]])
def test_nothing_is_lost(tmp_path, flags):
    program = build(tmp_path, "gcc", *flags)
    found = coverage(program, tmp_path)
    assert found["code"] == text_bytes(program)
    for kind in KINDS:
        assert found[kind]["input"] <= found["code"]
        assert found[kind]["index"] == found[kind]["input"], kind
    code = json.loads(run("stats", "--json", tmp_path / "index.gsym").stdout)["code"]
    assert (code["with_lines"], code["inlined"]) == (found["line"]["index"], found["inlined"]["index"])
    assert 0 < found["line"]["input"] < found["name"]["input"]
    assert (found["inlined"]["input"] > 0) == ("-O2" in flags)


COPIES = """
extern volatile int observed;
static inline __attribute__((always_inline)) int third(int v) { return v * 3 + 1; }
static inline __attribute__((always_inline)) int fifth(int v) { return v * 5 + 1; }
#ifdef SECOND
__attribute__((noinline)) inline int copied(int v) { observed = third(v); observed = fifth(v); return v; }
int second(int v) { return copied(v) + 1; }
#else
__attribute__((noinline)) inline int copied(int v) { observed = third(v); observed = v * 5 + 1; return v; }
int second(int v);
volatile int observed;
int main(int argc, char **argv) { return copied(argc) + second(argc); }
#endif
"""


def test_what_only_a_dropped_copy_has_does_not_count(tmp_path):
    """Of a function in two units, the linker keeps the code of the first; what is written about the second stays in the input."""
    (tmp_path / "copies.cc").write_text(COPIES)
    compiler = programs.need("g++")
    for name, flags in (("first.o", []), ("second.o", ["-DSECOND"])):
        subprocess.run([compiler, "-O2", "-g", *flags, "-c", tmp_path / "copies.cc", "-o", tmp_path / name], check=True)
    program = tmp_path / "program"
    subprocess.run([compiler, tmp_path / "first.o", tmp_path / "second.o", "-o", program], check=True)
    found = coverage(program, tmp_path)["inlined"]
    assert found["index"] == found["input"] > 0
    names = run("dump", tmp_path / "index.gsym", "--json").stdout
    assert '"third"' in names and '"fifth"' not in names or "_ZL5third" in names and "_ZL5fifth" not in names


def test_any_number_of_threads(tmp_path):
    program = build(tmp_path, "gcc", "-O2", "-g")
    assert coverage(program, tmp_path, "--threads", 1) == coverage(program, tmp_path, "--threads", 5)


def test_without_debug_information(tmp_path):
    found = coverage(build(tmp_path, "gcc", "-O2"), tmp_path)
    assert found["name"]["input"] > 0 and found["line"] == found["inlined"] == {"input": 0, "index": 0}


def test_verify_has_the_same_figures(tmp_path):
    program = build(tmp_path, "gcc", "-O2", "-g")
    found = coverage(program, tmp_path)
    done = run("verify", tmp_path / "index.gsym", "--against", program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"bytes of code: {found['code']}\n" in done.stdout
    labels = {"name": "a name", "line": "a line", "inlined": "inlined calls"}
    for kind, label in labels.items():
        assert f"  with {label}: {found[kind]['input']} in the object, {found[kind]['index']} in the index\n" in done.stdout


def test_an_index_that_lost_lines_shows(tmp_path):
    program = build(tmp_path, "gcc", "-O2", "-g")
    bare = tmp_path / "bare"
    subprocess.run(["objcopy", "--strip-debug", program, bare], check=True)
    assert run("convert", "--quiet", bare, "-o", tmp_path / "bare.gsym").returncode == 0
    text = run("verify", tmp_path / "bare.gsym", "--against", program).stdout
    line = re.search(r"with a line: (\d+) in the object, (\d+) in the index", text)
    assert int(line[1]) > 0 and int(line[2]) == 0


def test_outputs_that_are_no_index_have_the_input_alone(tmp_path):
    program = build(tmp_path, "gcc", "-O2", "-g")
    assert run("convert", "--quiet", "--to", "breakpad", program, "-o", tmp_path / "p.sym", "--report", tmp_path / "r").returncode == 0
    found = json.loads((tmp_path / "r").read_text())["coverage"]
    assert found["line"].keys() == {"input"} and found["line"]["input"] > 0
