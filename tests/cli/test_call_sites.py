"""Call sites from DWARF and from files: convert --call-sites, read back with dump."""
import json
import subprocess

import pytest

from folding import run
from programs import compile_files, need

PROGRAM = """
#include <stdlib.h>
struct table { int (*entry)(int); };
__attribute__((noinline)) int leaf(int x) { return x + 1; }
static __attribute__((noinline)) int hidden(int x) { return leaf(x) * 2 + rand(); }
static inline __attribute__((always_inline)) int inlined(int x) { return leaf(x + 9) + 1; }
__attribute__((noinline)) int indirect(struct table *t, int x) { return t->entry(x) + 1; }
__attribute__((noinline)) int fatal(int x) { if (x > 70000) abort(); return x; }
int main(int argc, char **argv) {
    struct table t = { argv[0] ? leaf : hidden };
    int sum = hidden(argc);
    if (argc > 4) { int more = inlined(sum); sum += more; }
    return indirect(&t, sum) + fatal(sum);
}
"""


@pytest.fixture(scope="module", params=["gcc 4", "gcc 5", "clang-22 4", "clang-22 5"])
def program(request, tmp_path_factory):
    compiler, version = request.param.split()
    folder = tmp_path_factory.mktemp("calls")
    (folder / "p.c").write_text(PROGRAM)
    compile_files(need(compiler), folder / "p", [folder / "p.c"], ["-O2", "-g", f"-gdwarf-{version}"])
    return folder / "p"


def sites_of(callsign, index):
    """{function: [call site]}; offsets from the function's start."""
    found = {}
    for line in callsign.good("dump", "--json", index).splitlines():
        function = json.loads(line).get("function")
        for f in [function, *function.get("merged", [])] if function else []:
            for site in f.get("call_sites", []):
                site["offset"] = int(site["return_address"], 16) - int(f["start"], 16)
            found.setdefault(f["name"], []).extend(f.get("call_sites", []))
    return found


def convert(callsign, program, out, *options):
    callsign.good("convert", program, "-o", out, "-q", *options)
    callsign.good("verify", out)
    return sites_of(callsign, out)


def named(sites):
    return {p: s for s in sites for p in s["patterns"]}


def test_dwarf(callsign, program, tmp_path):
    found = convert(callsign, program, tmp_path / "out", "--call-sites", "dwarf")
    main = named(found["main"])
    assert {"^hidden$", "^indirect$", "^fatal$", "^leaf$"} <= main.keys()  # ^leaf$ from an inlined call in a block
    assert all(main[p]["internal"] and not main[p]["external"] for p in ("^hidden$", "^leaf$"))
    assert named(found["hidden"])["^leaf$"]["internal"]
    assert named(found["hidden"])["^rand$"]["external"] and not named(found["hidden"])["^rand$"]["internal"]
    assert [s["patterns"] for s in found["indirect"]] == [[]]


def test_a_call_that_does_not_return_ends_the_function(callsign, program, tmp_path):
    found = convert(callsign, program, tmp_path / "out", "--call-sites", "dwarf")
    aborts = [s for sites in found.values() for s in sites if s["patterns"] == ["^abort$"]]
    if "clang" in run(tmp_path, "readelf", "-p", ".comment", program):
        assert not aborts  # it describes no calls that do not return
    else:
        assert aborts and all(s["external"] for s in aborts)


def test_bare_patterns(callsign, program, tmp_path):
    found = convert(callsign, program, tmp_path / "out", "--call-sites", "dwarf", "--bare-patterns")
    assert {"hidden", "indirect", "fatal", "leaf"} <= named(found["main"]).keys()
    assert not any(s["internal"] or s["external"] for sites in found.values() for s in sites)


def test_nothing_unless_asked(callsign, program, tmp_path):
    assert not any(convert(callsign, program, tmp_path / "out").values())


YAML = """
functions:
  - name: main
    callsites:
      - return_offset: 0x20
        match_regex: ["total", "die.*"]
        flags: ["InternalCall", "ExternalCall"]
      - return_offset: 69
        match_regex: []
  - name: leaf
    callsites: [{return_offset: 0b11, match_regex: [x]}]
"""
JSON = json.dumps({"functions": [{"name": "main", "callsites": [
    {"return_offset": "0x20", "match_regex": ["total", "die.*"], "flags": ["InternalCall", "ExternalCall"]},
    {"return_offset": 69, "match_regex": []}]}, {"name": "leaf", "callsites": [{"return_offset": 3, "match_regex": ["x"]}]}]})
LINES = """# function  returns to  callee
main 0x20 internal external /total/ /die.*/
main 69
leaf 3 /x/   # whatever has an x in it
"""


def plain(sites):
    return [(s["offset"], s["internal"], s["external"], s["patterns"]) for s in sites]


BARE_LINES = LINES.split("\n", 1)[1]


@pytest.mark.parametrize("text", [YAML, JSON, json.dumps(json.loads(JSON), indent="\t"), LINES, "\ufeff" + LINES, "\ufeff" + BARE_LINES, "\ufeff" + JSON])
def test_files(callsign, program, tmp_path, text):
    (tmp_path / "sites").write_text(text)
    found = convert(callsign, program, tmp_path / "out", "--call-sites", tmp_path / "sites")
    assert plain(found["main"]) == [(0x20, True, True, ["(total)", "die.*"]), (69, False, False, [])]
    assert plain(found["leaf"]) == [(3, False, False, ["(x)"])]  # a search: a bare x would be the name x


def test_the_reference_stores_the_same(callsign, program, tmp_path):
    tool = need("llvm-gsymutil-22")
    (tmp_path / "sites.yaml").write_text(YAML)
    run(tmp_path, tool, "--convert", program, "--callsites-yaml-file=sites.yaml", "--num-threads=1", "-o", "theirs")
    convert(callsign, program, tmp_path / "ours", "--call-sites", tmp_path / "sites.yaml", "--bare-patterns")
    assert plain(sites_of(callsign, tmp_path / "ours")["main"]) == plain(sites_of(callsign, tmp_path / "theirs")["main"])
    blocks = []
    for name in ("ours", "theirs"):
        lines = run(tmp_path, tool, name).splitlines()
        blocks.append([line for line in lines if line.startswith("  0x") and "Flags[" in line])
    assert blocks[0] == blocks[1] != []


def test_names_in_lines_are_exact(callsign, program, tmp_path):
    (tmp_path / "sites").write_text('main 8 a.b "c d" internal\n')
    found = convert(callsign, program, tmp_path / "out", "--call-sites", tmp_path / "sites")
    assert plain(found["main"]) == [(8, True, False, ["^a\\.b$", "^c d$"])]


def test_several_sources_add_up(callsign, program, tmp_path):
    (tmp_path / "one").write_text("leaf 2 first\n")
    (tmp_path / "two").write_text("leaf 2 second\nmain 1 third\n")
    alone = convert(callsign, program, tmp_path / "out", "--call-sites", "dwarf")
    found = convert(callsign, program, tmp_path / "out", "--call-sites", tmp_path / "one", "--call-sites", "dwarf",
                    "--call-sites", tmp_path / "two")
    assert plain(found["leaf"]) == [(2, False, False, ["^first$"]), (2, False, False, ["^second$"])]
    assert plain(found["main"]) == plain(alone["main"]) + [(1, False, False, ["^third$"])]


def test_sites_of_an_index_stay_as_they_are(callsign, program, tmp_path):
    """Their patterns are patterns already."""
    (tmp_path / "sites").write_text("main 1 third\n")
    alone = convert(callsign, program, tmp_path / "one", "--call-sites", "dwarf")
    found = convert(callsign, tmp_path / "one", tmp_path / "two", "--call-sites", tmp_path / "sites")
    assert plain(found["main"]) == plain(alone["main"]) + [(1, False, False, ["^third$"])]
    assert plain(found["hidden"]) == plain(alone["hidden"])


def test_a_folded_function_gets_its_own(callsign, tmp_path):
    (tmp_path / "a.c").write_text("int one(int x) { return x + 40; }\nint two(int x) __attribute__((alias(\"one\")));\n")
    compile_files(need("gcc"), tmp_path / "a.so", [tmp_path / "a.c"], ["-g", "-O2", "-shared", "-fPIC"])
    (tmp_path / "sites").write_text("two 2 callee\n")
    found = convert(callsign, tmp_path / "a.so", tmp_path / "out", "--merged-functions", "--call-sites", tmp_path / "sites")
    assert plain(found["two"]) == [(2, False, False, ["^callee$"])] and not found["one"]


def test_unknown_function(callsign, program, tmp_path):
    (tmp_path / "sites").write_text("\nnobody 1 x\n")
    done = callsign.run("convert", program, "-o", tmp_path / "out", "--call-sites", tmp_path / "sites")
    assert done.returncode == 0
    assert f"1 dropped: call-site-of-unknown-function (first: {tmp_path / 'sites'}:2: nobody)" in done.stderr
    assert callsign.run("convert", program, "-o", tmp_path / "out", "--call-sites", tmp_path / "sites", "--strict").returncode == 2


def test_call_sites_outside_their_function(callsign, program, tmp_path):
    """They were kept, and nothing was said."""
    callsign.good("convert", "-q", program, "-o", tmp_path / "plain")
    functions = [json.loads(line).get("function", {}) for line in callsign.good("dump", "--json", tmp_path / "plain").splitlines()]
    size = next(f["size"] for f in functions if f.get("name") == "main")
    for off, is_inside in (0, False), (1, True), (size, True), (size + 1, False), (0x10000000, False):
        (tmp_path / "sites").write_text(f"main {off} leaf\n")
        options = [program, "-o", tmp_path / "out", "--call-sites", tmp_path / "sites"]
        done = callsign.run("convert", *options)
        assert done.returncode == 0
        assert (f"1 dropped: call-site-outside-function (first: {tmp_path / 'sites'}:1: main returns to +{off:#x})" in done.stderr) == (not is_inside)
        assert len(sites_of(callsign, tmp_path / "out")["main"]) == is_inside
        assert callsign.run("convert", *options, "--strict").returncode == (0 if is_inside else 2)
        # llvm-gsymutil has no check.
        callsign.good("convert", *options, "--strict", "--bare-patterns")
        assert len(sites_of(callsign, tmp_path / "out")["main"]) == 1


@pytest.mark.parametrize("text, message", [
    ("main\n", ":1:5: a return offset is to be here: ''"),
    ("main zz\n", ":1:6: this is no return offset, such as 0x20: 'zz'"),
    ('main 1 "x\n', ":1:8: a quote that does not end: '\"x'"),
    ("functions:\n- nam: x\n", ":2:3: unknown key 'nam'"),
    ("functions:\n- name: x\n  callsites: [{return_offset: 1, match_regex: [], flags: [Weird]}]\n",
     ":3:59: unknown flag 'Weird'"),
    ("functions: &a [*a]\n", ":1:16: a function is to be here"),
])
def test_damaged_files(callsign, program, tmp_path, text, message):
    sites = tmp_path / "sites"
    sites.write_text(text)
    line = callsign.bad("convert", program, "-o", tmp_path / "out", "--call-sites", sites)
    assert line == f"callsign: {program}: {sites}{message}"
    assert not (tmp_path / "out").exists()


def test_missing_file(callsign, program, tmp_path):
    line = callsign.bad("convert", program, "-o", tmp_path / "out", "--call-sites", tmp_path / "none")
    assert line == f"callsign: {tmp_path / 'none'}: No such file or directory"


def test_a_file_from_a_pipe(callsign, program, tmp_path):
    done = subprocess.run([callsign.path, "convert", program, "-q", "-o", tmp_path / "out", "--call-sites", "/dev/stdin"],
                          input=LINES.encode(), check=False)
    assert done.returncode == 0
    assert len(sites_of(callsign, tmp_path / "out")["main"]) == 2


def test_verify_knows_of_the_names(callsign, tmp_path):
    """With call sites, a static function of C++ keeps its plain name, for which the patterns are made: no difference from the program."""
    (tmp_path / "p.cc").write_text("""int g(int x) { return x; }
        static __attribute__((noinline)) int over(int x) { return g(x) + 1; }
        static __attribute__((noinline)) int over(long x) { return g((int)x) + 2; }
        int main(int c, char **) { return over(c) + over((long)c); }""")
    compile_files(need("g++"), tmp_path / "p", [tmp_path / "p.cc"], ["-O1", "-g"])
    index = tmp_path / "p.gsym"
    for options, name in ([], "_ZL4overi"), (["--call-sites", "dwarf"], "over"):
        callsign.good("convert", "-q", tmp_path / "p", "-o", index, *options)
        assert name in {json.loads(line).get("function", {}).get("name") for line in callsign.good("dump", "--json", index).splitlines()}
        assert ": 0 different\n" in callsign.good("verify", index, "--against", tmp_path / "p")
