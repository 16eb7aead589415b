"""Functions that debug information names plainly have the mangled names of their symbols."""
import json
import os
import pathlib
import subprocess

import pytest

import programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLSIGN = os.environ.get("CALLSIGN", str(ROOT / "build/release/callsign"))

OVERLOADS = """
namespace ns { struct item { int v; __attribute__((noinline)) int run(int a) { return v * a; } };
static __attribute__((noinline)) int run(int a) { return a * 3; }
static __attribute__((noinline)) int run(double a) { return int(a / 3); } }
template <class T> static __attribute__((noinline)) int size(T *) { return sizeof(T); }
int (*sizes[])(void) = { (int (*)(void))size<int>, (int (*)(void))size<float> };
int main(int argc, char **argv) { ns::item i{argc}; return i.run(argc) + ns::run(argc) + ns::run(argc * 0.5); }
extern "C" int plain(int a) { return a; }
"""


def names_of(program, folder, *options):
    index = folder / "index.gsym"
    subprocess.run([CALLSIGN, "convert", "--quiet", *options, program, "-o", index, "--report", folder / "report.json"], check=True)
    dump = subprocess.run([CALLSIGN, "dump", "--json", index], capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in dump.splitlines()]
    report = json.loads((folder / "report.json").read_text())
    events = {event["name"]: event["count"] for event in report["events"]}
    return [row["function"].get("name", "") for row in rows if "function" in row], events


def build(folder, compiler, *flags):
    source, program = folder / "program.cc", folder / "program"
    source.write_text(OVERLOADS)
    subprocess.run([programs.need(compiler), *flags, source, "-o", program], check=True)
    return program


@pytest.mark.parametrize("compiler, flags", [("g++", ["-O1", "-g"]), ("clang++", ["-O1", "-gmlt"])])
def test_overloads_are_told_apart(tmp_path, compiler, flags):
    program = build(tmp_path, compiler, *flags)
    for threads in ("1", "4"):
        names, events = names_of(program, tmp_path, "--threads", threads)
        assert {"main", "plain"} <= set(names)
        overloads = [name for name in names if "run" in name]
        assert sorted(overloads)[0].startswith("_ZN2ns4item3run") or "_ZN2ns4item3runEi" in overloads
        assert len(overloads) == len(set(overloads)) and all(name.startswith("_Z") for name in overloads)
        if compiler == "g++": # -gmlt describes no function without inlined calls
            assert events["name-from-symbol"] > 0


def test_a_plain_name_that_is_no_identifier(tmp_path):
    """Nothing in it can be looked for in a symbol, so the symbol that is there is the function's."""
    (tmp_path / "odd.cc").write_text("int hidden(int a) { return a * 3; }\nint main(int c, char **v) { (void)v; return hidden(c); }\n")
    gcc = programs.need("g++")
    subprocess.run([gcc, "-g", "-O1", "-fno-inline", "-S", "odd.cc", "-o", "odd.s"], cwd=tmp_path, check=True)
    text = (tmp_path / "odd.s").read_text()
    for name, changed in (("hidden", "plus-minus"), ("_Z6hiddeni", "")):  # of the debug information alone
        assert f'.string\t"{name}"' in text
        text = text.replace(f'.string\t"{name}"', f'.string\t"{changed}"')
    (tmp_path / "odd.s").write_text(text)
    subprocess.run([gcc, "odd.s", "-o", "program"], cwd=tmp_path, check=True)
    names, _ = names_of(tmp_path / "program", tmp_path)
    assert "_Z6hiddeni" in names and "plus-minus" not in names


@pytest.mark.parametrize("symbol", ["?hidden@@YAHH@Z", "*Object#hidden<Int32>:Int32", "$s3app6hiddenyS2iF", "$S3app6hiddenyS2iF",
                                    "~prochidden"])
def test_mangled_names_of_other_languages(tmp_path, symbol):
    """MSVC's, Crystal's, Swift's: of the symbol table alone, the debug information has the plain name."""
    (tmp_path / "odd.cc").write_text("int hidden(int a) { return a * 3; }\nint main(int c, char **) { return hidden(c); }\n")
    gcc = programs.need("g++")
    subprocess.run([gcc, "-g", "-O1", "-fno-inline", "-S", "odd.cc", "-o", "odd.s"], cwd=tmp_path, check=True)
    text = (tmp_path / "odd.s").read_text().replace('.string\t"_Z6hiddeni"', '.string\t""')
    (tmp_path / "odd.s").write_text(text.replace("_Z6hiddeni", f'"{symbol}"'))
    subprocess.run([gcc, "odd.s", "-o", "program"], cwd=tmp_path, check=True)
    names, events = names_of(tmp_path / "program", tmp_path)
    assert symbol in names and "hidden" not in names and events["name-from-symbol"] == 1


def test_call_sites_keep_the_names_of_their_patterns(tmp_path):
    names, events = names_of(build(tmp_path, "g++", "-O1", "-g"), tmp_path, "--call-sites", "dwarf")
    assert names.count("ns::run") == 2 and events["name-from-symbol"] == 0


def test_without_symbols_the_plain_name_stays(tmp_path):
    program = build(tmp_path, "g++", "-O1", "-g")
    subprocess.run(["objcopy", "--strip-all", "--keep-section=.debug*", program, tmp_path / "stripped"], check=True)
    subprocess.run(["strip", "--keep-section=.debug_*", "-o", tmp_path / "bare", program], check=False)
    sections = subprocess.run(["readelf", "-SW", tmp_path / "bare"], capture_output=True, text=True, check=True).stdout
    if ".debug_info" not in sections:
        pytest.fail("strip took the debug information along")
    names, _ = names_of(tmp_path / "bare", tmp_path)
    assert names.count("ns::run") == 2
