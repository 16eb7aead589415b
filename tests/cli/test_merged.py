"""Functions that share their code: convert --merged-functions and lookup --merged, with the linkers that fold."""
import collections
import json
import re

import pytest

import folding
from folding import FOLDED, HEADER, LINKERS, MAIN, line_of, run
from programs import need


def functions(callsign, index):
    """{address: {name: function}} of an index, merged functions included; the one on top first."""
    found = collections.defaultdict(dict)
    for line in callsign.good("dump", "--json", index).splitlines():
        function = json.loads(line).get("function")
        if function:
            for f in [function, *function.get("merged", [])]:
                found[int(function["start"], 16)].setdefault(f.get("name", ""), f)
    return found


@pytest.fixture(scope="module", params=[f"{c} {l} {v}" for c in ("clang-22", "g++") for l in LINKERS for v in (4, 5)])
def folded(request, tmp_path_factory, callsign):
    """A folded program, its index, and what made it."""
    compiler, linker, version = request.param.split()
    program = folding.build(tmp_path_factory.mktemp(f"folded-{linker}"), compiler, linker, int(version))
    index = program.with_suffix(".gsym")
    callsign.good("convert", "--merged-functions", "--call-sites", "dwarf", program, "-o", index, "-q")
    callsign.good("verify", index)
    return program, index, compiler, linker


def plain(name):
    """GCC has no linkage name for what is local to a file, and the name of the function for a clone."""
    return {"_ZL6hiddeni": "hidden"}.get(name, name.partition(".")[0])


def test_every_name_of_a_group_is_kept(callsign, folded):
    program, index, compiler, linker = folded
    found = functions(callsign, index)
    shared = {place: names for place, names in folding.groups(program).items() if len(names) > 1}
    assert any(FOLDED <= names for names in shared.values())
    assert any(sum("5visitE" in name for name in names) >= 2 for names in shared.values())
    for (addr, _size), names in shared.items():
        for name in names:
            assert name in found[addr] or plain(name) in found[addr], (linker, hex(addr), name)


def test_folded_functions_have_their_declaration(callsign, folded):
    program, index, compiler, linker = folded
    found = functions(callsign, index)
    group = next(f for f in found.values() if FOLDED <= f.keys())
    for name in FOLDED:
        first = group[name]["lines"][0]
        assert first["line"] == line_of(MAIN, name), (linker, name, first)
    group = next(f for f in found.values() if "_ZN3BoxIdE3getEl" in f)
    names = [name for name in group if re.fullmatch("_ZN3BoxI.E3getEl", name)]
    assert len(names) >= 2
    for name in names:
        assert group[name]["lines"][0]["line"] == line_of(HEADER, "get"), (linker, name)


def returning(function):
    return [site for site in function.get("call_sites", []) if not site.get("tail")]


def test_call_sites_are_those_of_the_code(callsign, folded):
    """Each site stands after a call, and what it names is what the instruction calls."""
    program, index, compiler, linker = folded
    symbols = collections.defaultdict(set)
    for (addr, _size), names in folding.groups(program).items():
        for name in names:
            symbols[name].add(addr)
            symbols[plain(name)].add(addr)
    code = folding.calls(program)
    checked = recovered = 0
    for group in functions(callsign, index).values():
        for function in group.values():
            sites = collections.defaultdict(list)
            for site in returning(function):
                sites[int(site["return_address"], 16)].append(site)
            for addr, records in sites.items():
                target = code[addr]
                names = [p[1:-1].replace("\\", "") for s in records for p in s["patterns"]]
                known = [n for n in names if n in symbols]
                if target.startswith("*") or not known:
                    continue
                assert any(int(target, 16) in symbols[n] for n in known), (linker, hex(addr), target, names)
                assert records[0]["internal"] and not records[0]["external"]
                checked += 1
                recovered += any(s.get("recovered", False) for s in records)
    assert checked >= 8
    # gold leaves the addresses as they are; the others take those of what they fold.
    assert (recovered == 0) == (linker == "gold"), (linker, recovered)


def test_a_folded_function_calls_what_it_calls(callsign, folded):
    program, index, compiler, linker = folded
    group = next(f for f in functions(callsign, index).values() if "_ZN3BoxIdE5visitEPFlPdEl" in f)
    assert "_ZN3BoxIiE5visitEPFlPiEl" in group, (compiler, linker, sorted(group))
    for letter in "id":
        function = group[f"_ZN3BoxI{letter}E5visitEPFlP{letter}El"]
        patterns = [p for s in function["call_sites"] for p in s["patterns"]]
        assert patterns == [f"^_ZN3BoxI{letter}E3getEl$"], (linker, patterns)
        assert len(function["call_sites"]) == (2 if compiler == "clang-22" else 1)  # GCC tells no indirect ones here


def test_tail_calls_lead_on(callsign, folded):
    """last_call() is not on the stack while beta() runs: its caller's call site names both."""
    program, index, compiler, linker = folded
    main = next(f["main"] for f in functions(callsign, index).values() if "main" in f)
    by_return = collections.defaultdict(set)
    for site in returning(main):
        by_return[site["return_address"]] |= set(site["patterns"])
    assert {"^_Z9last_calli$", "^beta$"} in by_return.values()
    # For callers in other images it is kept where it is made.
    last = next(f["_Z9last_calli"] for f in functions(callsign, index).values() if "_Z9last_calli" in f)
    tails = [site for site in last["call_sites"] if site.get("tail")]
    assert [(site["patterns"], site["internal"]) for site in tails] == [(["^beta$"], True)]


def test_same_bytes_for_any_number_of_threads(callsign, folded, tmp_path):
    program, index, compiler, linker = folded
    for threads in (1, 3):
        out = tmp_path / "out"
        callsign.good("convert", "--merged-functions", "--call-sites", "dwarf", program, "-o", out, "-q", "-j", threads)
        assert out.read_bytes() == index.read_bytes()


def test_the_reference_reads_it(callsign, folded):
    program, index, compiler, linker = folded
    tool = need("llvm-gsymutil-22")
    addr = next(a for a, f in functions(callsign, index).items() if FOLDED <= f.keys())
    text = run(program.parent, tool, "--merged-functions", f"--address={addr:#x}", index)
    names = re.findall(r"^ +0x[0-9a-f]+: (\S+)", text, re.M)
    assert FOLDED <= set(names)
    text = run(program.parent, tool, "--merged-functions", "--merged-functions-filter=^beta$", f"--address={addr:#x}", index)
    assert re.findall(r"^ +0x[0-9a-f]+: (\S+)", text, re.M) == ["beta"]


def outline(text):
    """Ranges and names of a dump of the reference tool, with their nesting."""
    return [re.sub(r"@ 0x[0-9a-f]+", "", line) for line in text.splitlines() if re.search(r'\[0x.* "', line)]


def test_compatible_mode(callsign, folded, tmp_path):
    """Parents, children and their order are those of the reference."""
    program, index, compiler, linker = folded
    tool = need("llvm-gsymutil-22")
    callsign.good("convert", "--merged-functions=llvm", program, "-o", tmp_path / "ours", "-q")
    run(tmp_path, tool, "--convert", program, "--merged-functions", "--num-threads=1", "-o", tmp_path / "theirs")
    ours, theirs = (outline(run(tmp_path, tool, tmp_path / name)) for name in ("ours", "theirs"))
    assert ours == theirs
    assert any(line.startswith(" ") for line in ours) == (linker == "gold")


def test_lookup_lists_candidates(callsign, folded):
    program, index, compiler, linker = folded
    found = functions(callsign, index)
    addr = next(a for a, f in found.items() if FOLDED <= f.keys())
    answer = json.loads(callsign.good("lookup", "--merged", "--json", index, hex(addr)))
    assert answer["candidates"][0] == answer["frames"][-1]["function"]
    assert answer["candidates"] == list(found[addr])
    assert "candidates" not in json.loads(callsign.good("lookup", "--json", index, hex(addr)))
    text = callsign.good("lookup", "--merged", index, hex(addr)).splitlines()
    assert len(text) == len(found[addr])
    assert all(re.match(r" +or \S+ \+ 0 at .*main.cc:\d+$", line) for line in text[1:])
    # Each has the line that it is declared at, whether its DIE kept a place or not; so have all others that were folded.
    for line in text:
        name, at = re.match(r"(?:0x[0-9a-f]+:| +or) (\S+) \+ 0 at .*main.cc:(\d+)$", line).groups()
        assert int(at) == line_of(MAIN, {"_ZL6hiddeni": "hidden"}.get(name, name)), (linker, line)
    shared = [a for a, f in found.items() if len(f) > 1]
    everything = callsign.good("lookup", "--merged", index, *map(hex, shared)).splitlines()
    assert len(everything) == sum(len(found[a]) for a in shared)
    assert all(re.search(r" at \S+:[1-9]\d*$", line) for line in everything), (linker, everything)
    answers = callsign.good("lookup", "--merged", "--json", index, stdin=f"{addr:x}\n{addr + 1:x}\n").splitlines()
    assert [json.loads(a)["candidates"] for a in answers] == [list(found[addr])] * 2


def test_nothing_is_kept_unless_asked(callsign, folded, tmp_path):
    program, index, compiler, linker = folded
    callsign.good("convert", program, "-o", tmp_path / "out", "-q")
    assert all(len(f) == 1 for f in functions(callsign, tmp_path / "out").values())


def test_unknown_mode(callsign, shapes, tmp_path):
    line = callsign.bad("convert", "--merged-functions=most", shapes.path, "-o", tmp_path / "out")
    assert "'most' is unknown; use aliases or llvm" in line


ALIASES = """
__attribute__((noinline)) int strong(int x) { return x + 40; }
int weak_name(int x) __attribute__((weak, alias("strong")));
int strong_name(int x) __attribute__((alias("strong")));
int versioned_1(int x) __attribute__((alias("strong")));
__asm__(".symver versioned_1, versioned@V1");
struct S { int a; };
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory, gcc):
    folder = tmp_path_factory.mktemp("aliases")
    (folder / "a.c").write_text(ALIASES)
    (folder / "map").write_text("V1 { global: *; };\n")
    run(folder, gcc, "-g", "-O2", "-shared", "-fPIC", "a.c", "-Wl,--version-script=map", "-o", "a.so")
    return folder / "a.so"


def test_second_names_of_one_function(callsign, library, tmp_path):
    """Weak and versioned ones are no functions of their own, unless asked for."""
    names = {}
    for mode in ("", "=aliases"):
        callsign.good("convert", f"--merged-functions{mode}", library, "-o", tmp_path / "out", "-q")
        names[mode] = next(set(f) for f in functions(callsign, tmp_path / "out").values() if "strong" in f)
    assert {"strong", "strong_name"} <= names[""] and "weak_name" not in names[""]
    assert not any("@" in name for name in names[""])
    assert "weak_name" in names["=aliases"] and any("@" in name for name in names["=aliases"])


ENTRY = """
    .text
{}
    .type strong, @function
    .type weak_one, @function
    .globl strong
    .weak weak_one
{}
    nop
    ret
    .size strong, .-strong
    .size weak_one, .-weak_one
"""


@pytest.mark.parametrize("debug", [[], ["-g"]], ids=["symbols", "labels"])
@pytest.mark.parametrize("first", ["strong", "weak_one"])
def test_a_weak_alias_is_not_on_top(callsign, gcc, tmp_path, first, debug):
    """Whatever the order of the symbols, and of the functions that the assembler describes."""
    second = "weak_one" if first == "strong" else "strong"
    labels = f"{second}:\n{first}:"
    mentions = f"    .globl {first}" if first == "strong" else f"    .weak {first}"
    (tmp_path / "a.s").write_text(ENTRY.format(mentions, labels))
    run(tmp_path, gcc, *debug, "-nostdlib", "-shared", "a.s", "-o", "a.so")
    for mode in ("", "=aliases"):
        callsign.good("convert", "-q", f"--merged-functions{mode}", tmp_path / "a.so", "-o", tmp_path / "out")
        names = functions(callsign, tmp_path / "out")
        assert len(names) == 1
        names = next(iter(names.values()))
        assert list(names) == (["strong", "weak_one"] if mode else ["strong"])


@pytest.mark.parametrize("machine", ["x86_64", "i686"])
def test_a_weak_alias_of_windows_is_not_on_top(callsign, tmp_path, machine):
    """gas gives the code of a weak symbol a name of its own, which is external."""
    (tmp_path / "a.c").write_text("__attribute__((noinline)) int strong(int x) { volatile int y = x; return y * 3; }\n"
                                  "int weak_one(int) __attribute__((weak, alias(\"strong\")));\n"
                                  "int main(int c, char **v) { (void)v; return strong(c) + weak_one(c); }\n")
    run(tmp_path, need(f"{machine}-w64-mingw32-gcc"), "-O1", "a.c", "-o", "a.exe")
    names = ["strong", ".weak.weak_one.strong" if machine == "x86_64" else ".weak._weak_one._strong"]
    for mode in ("", "=aliases"):
        callsign.good("convert", "-q", f"--merged-functions{mode}", tmp_path / "a.exe", "-o", tmp_path / "out")
        assert next(list(f) for f in functions(callsign, tmp_path / "out").values() if "strong" in f) == (names if mode else names[:1])


CONSTRUCTORS = """
struct V { int a; V(int x); virtual ~V(); };
extern void use(V *);
V::V(int x) : a(x) { use(this); }
V::~V() { use(this); }
"""


def test_kinds_of_a_constructor_are_one_function(callsign, tmp_path):
    (tmp_path / "v.cc").write_text(CONSTRUCTORS)
    run(tmp_path, need("g++"), "-g", "-O2", "-shared", "-fPIC", "v.cc", "-o", "v.so")
    callsign.good("convert", "--merged-functions", tmp_path / "v.so", "-o", tmp_path / "out", "-q")
    for group in functions(callsign, tmp_path / "out").values():
        assert len(group) == 1, group.keys()


MACHO_LIBRARY = """--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ dyld_stub_binder, _outside ]
...
"""
MACHO_MAIN = """
extern "C" int outside(int);
extern "C" __attribute__((noinline)) int alpha(int x) { return x * 7 + outside(x); }  /*@alpha*/
extern "C" __attribute__((noinline)) int beta(int x) { return x * 7 + outside(x); }  /*@beta*/
static __attribute__((noinline)) int hidden(int x) { return x * 7 + outside(x); }  /*@hidden*/
__attribute__((noinline)) int caller(int x) { return alpha(x) + beta(x + 1) + hidden(x) + 5; }
int main(int argc, char **) { return caller(argc); }
"""


@pytest.mark.parametrize("arch", ["x86_64", "arm64"])
@pytest.mark.parametrize("source", ["dsym", "debug map"])
def test_macho(callsign, tmp_path, arch, source):
    for name, text in (("main.cc", MACHO_MAIN), ("libSystem.tbd", MACHO_LIBRARY)):
        (tmp_path / name).write_text(text)
    run(tmp_path, need("clang-22"), f"--target={arch}-apple-macos11", "-g", "-O2", "-fno-exceptions", "-c", "main.cc")
    run(tmp_path, need("ld64.lld-22"), "-arch", arch, "-platform_version", "macos", "11.0", "11.0", "--icf=all", "main.o",
        "libSystem.tbd", "-o", "app")
    program = tmp_path / "app"
    if source == "dsym":
        run(tmp_path, need("dsymutil-22"), "--flat", "app", "-o", "app.dwarf")
        program = tmp_path / "app.dwarf"
    callsign.good("convert", "--merged-functions", "--call-sites", "dwarf", program, "-o", tmp_path / "out", "-q")
    callsign.good("verify", tmp_path / "out")
    group = next(f for f in functions(callsign, tmp_path / "out").values() if "beta" in f)
    assert group.keys() == {"alpha", "beta", "_ZL6hiddeni"}
    assert next(iter(group)) == "alpha"  # whose code was kept
    returns = {f["call_sites"][0]["return_address"] for f in group.values()}
    assert len(returns) == 1 and all(len(f["call_sites"]) == 1 for f in group.values())
    for name, f in group.items():
        mark = {"_ZL6hiddeni": "hidden"}.get(name, name)
        assert f["lines"][0]["line"] == line_of(MACHO_MAIN, mark), name
        assert f["call_sites"][0]["patterns"] == ["^outside$"]
        assert f["call_sites"][0].get("recovered", False) == (source == "dsym" and name != "alpha")


def test_calls_of_a_folded_function_whose_kept_code_is_unknown(callsign, tmp_path):
    """Where they return to is lost, and no debug information has it: not that of a function behind, whose calls are the same."""
    code = "int outside(int), last(int);\n" \
        "int {0}(int x) {{ if (__builtin_expect(x == 1, 1)) return last(x); return (x ^ {1}) + outside(x); }}\n"
    (tmp_path / "kept.c").write_text(code.format("alpha", "0x1234567"))
    (tmp_path / "folded.c").write_text(code.format("beta", "0x1234567") + code.format("behind", "0x7654321"))
    flags = ("--target=x86_64-linux-gnu", "-O2", "-fPIC", "-ffunction-sections", "-c")
    run(tmp_path, need("clang-22"), *flags, "kept.c")
    run(tmp_path, "clang-22", *flags, "-g", "folded.c")
    run(tmp_path, need("ld.lld-22"), "-shared", "--icf=all", "kept.o", "folded.o", "-o", "app")
    out = tmp_path / "out"
    done = callsign.run("convert", "--merged-functions", "--call-sites", "dwarf", tmp_path / "app", "-o", out)
    assert done.returncode == 0 and "call-site-without-place (first: beta)" in done.stderr, done.stderr
    callsign.good("verify", out)
    records = [json.loads(line).get("function") for line in callsign.good("dump", "--json", out).splitlines()]
    kept = next(f for f in records if f and f.get("name") == "alpha")  # the folded function is not at home here
    assert [f["name"] for f in kept["merged"]] == ["beta"]
    assert kept["lines"][0]["line"] == kept["merged"][0]["lines"][0]["line"] == 2
    assert not any(f.get("call_sites") for f in [kept, *kept["merged"]])
    behind = next(f for f in records if f and f.get("name") == "behind")
    calls = {(site.get("tail", False), *site["patterns"]) for site in behind["call_sites"]}
    assert calls == {(True, "^last$"), (False, "^outside$")}
