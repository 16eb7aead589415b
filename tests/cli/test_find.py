"""find: names, globs and lines to addresses."""
import json
import subprocess

import pytest

import gsym_make
from programs import need

SOURCE = """
#include <cstdio>
namespace ns {
struct S {
    int area(int x) { return x * 3; }
    template <class T> T twice(T value);
    int operator()(int q) { return q; }
};
template <class T> __attribute__((noinline)) T S::twice(T value) { return value + value; }
static inline __attribute__((always_inline)) int inlined(int x) {
    volatile int y = x;
    return y + 7;  // MARK
}
__attribute__((noinline)) int first(int x) { return inlined(x); }
__attribute__((noinline)) int second(int x) { return inlined(x) * 2; }
}
extern "C" __attribute__((noinline)) int plain(int x) { return x ^ 5; }
int main(int count, char **) {
    ns::S s;
    std::printf("%d", s.area(count) + s.twice(count) + s(count) + ns::first(count) + ns::second(count) + plain(count));
}
"""


class Program:
    def __init__(self, folder):
        self.source, self.path = folder / "code.cc", folder / "code"
        self.source.write_text(SOURCE)
        subprocess.run([need("g++"), "-g", "-O1", "-fno-inline-functions", "-o", self.path, self.source], check=True)
        self.symbols = {}
        for line in subprocess.run([need("nm"), "-S", self.path], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            if len(words) == 4:
                self.symbols[words[3]] = (int(words[0], 16), int(words[1], 16))

    def line_of(self, text):
        return next(i for i, line in enumerate(SOURCE.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    return Program(tmp_path_factory.mktemp("find"))


@pytest.fixture(scope="module")
def index(code, callsign):
    callsign.good("convert", code.path, "-o", code.path.with_suffix(".gsym"), "--quiet")
    return code.path.with_suffix(".gsym")


def find(callsign, *args):
    return [json.loads(line) for line in callsign.good("find", "--json", *args).splitlines()]


@pytest.mark.parametrize("query, symbol", [
    ("plain", "plain"), ("_ZN2ns5firstEi", "_ZN2ns5firstEi"), ("ns::first", "_ZN2ns5firstEi"), ("ns::first(int)", "_ZN2ns5firstEi"),
    ("ns::S::twice", "_ZN2ns1S5twiceIiEET_S2_"), ("ns::S::twice<int>", "_ZN2ns1S5twiceIiEET_S2_"), ("main", "main")])
@pytest.mark.parametrize("what", ["index", "object"])
def test_names(code, index, callsign, query, symbol, what):
    (answer,) = find(callsign, index if what == "index" else code.path, query)
    addr, size = code.symbols[symbol]
    (match,) = answer["matches"]
    assert answer["query"] == query
    assert match["function"] == symbol and match["address"] == hex(addr) and match["size"] == size
    assert match["file"] == str(code.source)
    # the first row's, which is that of the inlined call in ns::first()
    assert match["line"] == code.line_of({"main": "int main", "plain": "int plain"}.get(symbol) or
                                         ("T S::twice" if "twice" in symbol else "volatile int y"))


@pytest.mark.parametrize("query, found", [
    ("shop::pick", "_ZN4shop4pickIiEEDcT_"), ("shop::pick<int>(int)", "_ZN4shop4pickIiEEDcT_"), ("shop::next", "_ZN4shop4nextIiEEDTplfp_Li1EET_"),
    ("shop::handler", "_ZN4shop7handlerIiEEPFviET_"), ("shop::handler<int>", "_ZN4shop7handlerIiEEPFviET_"), ("decltype", None), ("auto", None),
    ("int", None), ("undecltype", "_Z10undecltypei")])
def test_return_types_with_brackets(callsign, tmp_path, query, found):
    """decltype(auto), decltype (expression) and pointers to functions: their bracket was taken for that of the parameters."""
    names = ["_ZN4shop4pickIiEEDcT_", "_ZN4shop4nextIiEEDTplfp_Li1EET_", "_ZN4shop7handlerIiEEPFviET_", "_Z10undecltypei"]
    gsym_make.write(tmp_path / "x.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": name} for k, name in enumerate(names)])
    done = callsign.run("find", "--json", tmp_path / "x.gsym", query)
    assert [match["function"] for match in json.loads(done.stdout)["matches"]] == ([found] if found else [])


@pytest.mark.parametrize("query, found", [
    ("shop::load", ["_ZN4shop4loadEi", "_ZN4shop4loadEi.cold", "_ZNK4shop4loadEPFivE"]), ("shop::load(int)", ["_ZN4shop4loadEi", "_ZN4shop4loadEi.cold"]),
    ("shop::load(int)::'lambda'(int)::operator()", ["_ZZN4shop4loadEiENKUliE_clEi"]),
    ("shop::handler", ["_ZN4shop7handlerIiEEPFvN3std1AEET_"]), ("shop::Cart::operator()", ["_ZNK4shop4CartclEi"])])
def test_what_is_within_a_function_is_another_one(callsign, tmp_path, query, found):
    """A function's lambdas and stubs were listed for its own name."""
    names = ["_ZN4shop4loadEi", "_ZN4shop4loadEi.cold", "_ZN4shop4loadEi@plt", "_ZZN4shop4loadEiENKUliE_clEi", "_ZNK4shop4loadEPFivE",
             "_ZNK4shop4CartclEi", "_ZZNK4shop4CartclEiENKUliE_clEi", "_ZN4shop7handlerIiEEPFvN3std1AEET_"]
    gsym_make.write(tmp_path / "x.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": name} for k, name in enumerate(names)])
    assert [match["function"] for match in find(callsign, tmp_path / "x.gsym", query)[0]["matches"]] == found


def test_text(code, index, callsign):
    addr, size = code.symbols["_ZN2ns1S5twiceIiEET_S2_"]
    line = code.line_of("T S::twice")
    assert callsign.good("find", index, "ns::S::twice") == f"{addr:#x} _ZN2ns1S5twiceIiEET_S2_ {size} {code.source}:{line}\n"
    assert callsign.good("find", "-C", index, "ns::S::twice") == f"{addr:#x} int ns::S::twice<int>(int) {size} {code.source}:{line}\n"


def test_globs(index, callsign):
    (answer,) = find(callsign, index, "ns::*")
    assert {"_ZN2ns5firstEi", "_ZN2ns6secondEi"} <= {match["function"] for match in answer["matches"]}
    (answer,) = find(callsign, index, "pla?n")
    assert [match["function"] for match in answer["matches"]] == ["plain"]
    (answer,) = find(callsign, index, "*")
    assert len(answer["matches"]) == json.loads(callsign.good("dump", "--json", index).splitlines()[0])["header"]["functions"]


@pytest.mark.parametrize("name", ["code.cc", "{folder}/code.cc", "{path}"])
def test_lines(code, index, callsign, name):
    """The inlined line is in both functions; each address found answers with that line."""
    name = name.format(folder=code.source.parent.name, path=code.source)
    line = code.line_of("MARK")
    (answer,) = find(callsign, index, f"{name}:{line}")
    assert {match["function"] for match in answer["matches"]} == {"_ZN2ns5firstEi", "_ZN2ns6secondEi"}
    for match in answer["matches"]:
        assert match["line"] == line
        (found,) = [json.loads(text) for text in callsign.good("lookup", "--json", index, match["address"]).splitlines()]
        assert found["frames"][0]["line"] == line and found["frames"][-1]["function"] == match["function"]


@pytest.mark.parametrize("query", ["nobody", "irst", "ns::fir", "ode.cc:3", "other/code.cc:3", "code.cc:9999", "nobody*", "S::area", "first(int)"])
def test_nothing(index, callsign, query):
    done = callsign.run("find", index, "main", query)
    assert done.returncode == 1 and done.stdout.count("\n") == 1
    assert done.stderr == f"callsign: {query}: not found\n"
    done = callsign.run("find", "--json", index, query)
    assert done.returncode == 1 and json.loads(done.stdout) == {"query": query, "matches": []}


def test_lines_of_merged_functions(callsign, tmp_path):
    """Only the rows of the function on top were looked at."""
    index = gsym_make.write(tmp_path / "x.gsym", [
        {"start": 0x1000, "size": 16, "name": "one", "line": 1, "merged": [{"name": "two", "line": 7}, {"name": "three", "line": 1}, {"name": "four"}]},
        {"start": 0x1010, "size": 8, "name": "last", "line": 7}])
    assert callsign.good("find", index, "main.cc:7") == "0x1000 two 16 /src/main.cc:7\n0x1010 last 8 /src/main.cc:7\n"
    assert callsign.good("find", index, "main.cc:1") == "0x1000 one 16 /src/main.cc:1\n0x1000 three 16 /src/main.cc:1\n"
    assert callsign.good("find", index, "two", "main.cc:7").splitlines()[:2] == ["0x1000 two 16 /src/main.cc:7"] * 2
    found = json.loads(callsign.good("find", "--json", index, "main.cc:7"))["matches"]
    assert [match["function"] for match in found] == ["two", "last"]


def test_merged_functions(callsign, tmp_path):
    (tmp_path / "x.sym").write_text("MODULE Linux x86_64 000000000000000000000000000000000 app\n"
                                    "FUNC 1000 10 0 alpha\nFUNC 1000 10 0 beta\nFUNC 2000 10 0 gamma\n")
    callsign.good("convert", tmp_path / "x.sym", "-o", tmp_path / "x.gsym", "--quiet", "--merged-functions")
    for name in ("alpha", "beta"):
        (answer,) = find(callsign, tmp_path / "x.gsym", name)
        assert [(match["function"], match["address"]) for match in answer["matches"]] == [(name, "0x1000")]


def test_bad_command_lines(callsign, index):
    assert "needs INDEX NAME" in callsign.bad("find", index)
    assert "No such file" in callsign.bad("find", "/none", "x")


@pytest.mark.parametrize("form", ["gsym", "gsym-v2"])
def test_name_table(code, callsign, tmp_path, form):
    """Other readers ignore it: what llvm-gsymutil prints is the same, but for the file's name."""
    plain, table = tmp_path / "plain.gsym", tmp_path / "table.gsym"
    callsign.good("convert", code.path, "--to", form, "-o", plain, "--quiet")
    callsign.good("convert", code.path, "--to", form, "-o", table, "--quiet", "--name-table")
    assert table.read_bytes().startswith(plain.read_bytes())
    for query in ("_ZN2ns5firstEi", "plain", "ns::S::twice", "_Znobody"):
        assert callsign.run("find", "--json", table, query).stdout == callsign.run("find", "--json", plain, query).stdout
    assert "0 problems" in callsign.good("verify", table, "--against", code.path)
    tool = need("llvm-gsymutil-22")
    for options in ([], ["--verify"], [f"--address={code.symbols['plain'][0]:#x}"]):
        dumps = [subprocess.run([tool, *options, path], capture_output=True, text=True) for path in (plain, table)]
        texts = [(done.stdout + done.stderr).replace(str(path), "FILE") for done, path in zip(dumps, (plain, table))]
        assert texts[0] == texts[1] and dumps[0].returncode == dumps[1].returncode
    assert "goes with GSYM" in callsign.bad("convert", code.path, "--to", "bsym", "--name-table", "-o", tmp_path / "x")


def test_all_functions_of_a_mangled_name(callsign, tmp_path):
    """There were no more than 4,096."""
    gsym_make.write(tmp_path / "many.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": "_Z4samev", "line": 1} for k in range(5000)])
    assert len(callsign.good("find", tmp_path / "many.gsym", "_Z4samev").splitlines()) == 5000


def test_names_that_are_stored_demangled(callsign, tmp_path):
    """Breakpad files have their names demangled, indexes of --shorten-names, too: they are found without parameters, as mangled ones are."""
    (tmp_path / "a.sym").write_text("MODULE Linux x86_64 000000000000000000000000000000000 a\nFUNC 10 10 0 run(int)\nFUNC 20 10 0 int ns::half<int>(int)\n"
                                    "FUNC 30 10 0 run(int)::{lambda()#1}::operator()() const\nFUNC 40 10 0 rerun(int)\nFUNC 50 10 0 ns::Box<int>\n")
    for query, found in (("run", ["0x10 run(int)"]), ("run(int)", ["0x10 run(int)"]), ("ns::half", ["0x20 int ns::half<int>(int)"]),
                         ("ns::half<int>", ["0x20 int ns::half<int>(int)"]), ("ns::Box", ["0x50 ns::Box<int>"]), ("half", []), ("rerun", ["0x40 rerun(int)"])):
        out = callsign.run("find", tmp_path / "a.sym", query).stdout
        assert [line.rpartition(" ")[0].rpartition(" ")[0] for line in out.splitlines()] == found, (query, out)


@pytest.mark.parametrize("form", ["gsym", "breakpad"])
def test_operators_that_begin_like_others(callsign, tmp_path, form):
    """The second < of operator<< was taken for the beginning of template arguments."""
    names = ["_Zlt1AS_", "_Zls1Ai", "_ZlS1Ai", "_ZltIiEb1APT_", "_ZlsIiE1AS0_PT_"]
    starts = {"operator<": ["0x1000", "0x1030"], "operator<<": ["0x1010", "0x1040"], "operator<<=": ["0x1020"],
              "operator< <int>": ["0x1030"], "bool operator< <int>(A, int*)": ["0x1030"]}
    gsym_make.write(tmp_path / "x.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": name} for k, name in enumerate(names)], base=0)
    callsign.good("convert", "-q", "--to", form, tmp_path / "x.gsym", "-o", tmp_path / "x")
    for query, found in starts.items():
        assert [line.split()[0] for line in callsign.run("find", tmp_path / "x", query).stdout.splitlines()] == found


def test_names_with_stars(callsign, tmp_path):
    """A name is no glob, if a function is called so; operator new is not operator new[]."""
    names = ["_Z1fPi", "_Z1fi", "_Z1fiPc", "_ZNK1VmlEi", "_ZN1VmLEi", "_ZN1AnwEm", "_ZN1AnaEm", "_ZN1AdlEPv", "_ZN1AdaEPv"]
    starts = {"f(int*)": ["0x1000"], "f(int, *)": ["0x1020"], "f(*)": ["0x1000", "0x1010", "0x1020"], "V::operator*": ["0x1030"],
              "V::operator*=": ["0x1040"], "V::operator*?": ["0x1030", "0x1040"], "A::operator new": ["0x1050"], "A::operator new[]": ["0x1060"],
              "A::operator delete": ["0x1070"], "A::operator delete[]": ["0x1080"]}
    gsym_make.write(tmp_path / "x.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": name} for k, name in enumerate(names)], base=0)
    for query, found in starts.items():
        assert [line.split()[0] for line in callsign.run("find", tmp_path / "x.gsym", query).stdout.splitlines()] == found, query
    together = [json.loads(line) for line in callsign.run("find", "--json", tmp_path / "x.gsym", *starts).stdout.splitlines()]
    assert {a["query"]: [m["address"] for m in a["matches"]] for a in together} == starts


def test_thunks_and_generic_lambdas(callsign, tmp_path):
    """A thunk is another function; GNU's demangler numbers the autos of a lambda."""
    names = ["_ZN1X1fEv", "_ZThn16_N1X1fEv", "_ZTv0_n24_N1X1fEv", "_ZZN1A1sEvENKUlT_T0_E_clIdiEEDaS0_S1_"]
    starts = {"X::f": ["0x1000"], "X::f()": ["0x1000"], "non-virtual thunk to X::f()": ["0x1010"], "virtual thunk to X::f": ["0x1020"], "*thunk*": ["0x1010", "0x1020"],
              "auto A::s()::{lambda(auto:1, auto:2)#1}::operator()<double, int>(double, int) const": ["0x1030"]}
    gsym_make.write(tmp_path / "x.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": name} for k, name in enumerate(names)], base=0)
    for query, found in starts.items():
        assert [line.split()[0] for line in callsign.run("find", tmp_path / "x.gsym", query).stdout.splitlines()] == found, query


@pytest.mark.parametrize("path", ["./main.cc", "././main.cc", "//src/main.cc", "///src/main.cc", "/src/main.cc", "src/main.cc"])
def test_paths_with_more_than_they_need(callsign, tmp_path, path):
    gsym_make.write(tmp_path / "x.gsym", [{"start": 0x1000, "size": 16, "name": "f", "line": 7}])
    assert callsign.good("find", tmp_path / "x.gsym", f"{path}:7").startswith("0x1000 f ")
    assert callsign.run("find", tmp_path / "x.gsym", f"/{path.strip('./')}x:7").returncode == 1


CLONED = [("helper", 0x1000), ("entry", 0x1040), ("entry", 0x1080), ("_ZN4shop4loadEi", 0x10c0), ("own.cold", 0x1100), ("own", 0x1140), ("part.0", 0x1180)]


@pytest.mark.parametrize("query, starts", [
    ("helper.constprop.0.isra.0", [0x1000]), ("entry.cold", [0x1040, 0x1080]), ("_ZN4shop4loadEi.part.3", [0x10c0]), ("shop::load.llvm.77", [0x10c0]),
    ("shop::load(int) [clone .part.0] [clone .cold]", [0x10c0]), ("shop::load(int) (.part.0.cold)", [0x10c0]), ("shop::load(int) (.debug)", []),
    ("helper.localalias", [0x1000]), ("helper.localalias.3", [0x1000]), ("shop::load(int) [clone .localalias]", [0x10c0]),
    ("own.cold", [0x1100]), ("own.isra.0", [0x1140]), ("helper", [0x1000]), ("helper.debug.0", []), ("nobody.isra.0", []), ("part.0", [0x1180]),
    (".isra.0", []), ("*.cold", [0x1100])])
def test_clones_that_debug_information_calls_as_the_function(callsign, tmp_path, query, starts):
    """If the index has the function's name alone: the clone, or each function of that name."""
    gsym_make.write(tmp_path / "x.gsym", [{"start": start, "size": 64, "name": name, "line": 1} for name, start in CLONED])
    done = callsign.run("find", "--json", tmp_path / "x.gsym", "own", query, "helper")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["query"] for answer in answers] == ["own", query, "helper"]
    assert [[int(match["address"], 16) for match in answer["matches"]] for answer in answers] == [[0x1140], starts, [0x1000]]
    assert done.returncode == (not starts)
    if "*" in query:
        return
    for repeats in 1, 40:  # through all functions, and with a table of names
        done = callsign.run("lookup", "--json", tmp_path / "x.gsym", stdin=f"{query}+0x10\n" * repeats)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert [int(answer["address"], 16) for answer in found if "address" in answer] == [start + 16 for start in starts] * repeats


ODD = ["_ZZ4mainENUliE_4_FUNEi", "_Z4sameIZ4mainEUliE0_ERT_S2_", "_Z4sameIiERT_S1_", "_Z4sameIZ5outeriE5LocalERT_S2_", "_Z4sameIZ5outeriEUt_ERT_S2_",
       "_Z4sameIZZ5outeriENKUliE_clEiEUlvE_ERT_S3_", "_Z4sameIZ5outeriEUlT_E0_ERS0_S2_", "_Z7tmemberIiEM3BoxFiiET_", "_Z7greaterILi4EEN2IfIXgtT_Li3EEE4typeEv",
       "_ZN12_GLOBAL__N_14hid2IZ5outeriE5LocalEERT_S3_", "_Z6taggedB2v2i", "_ZN6taggedB2v24partEi", "_ZNSaIcE9constructEi", "_Z5makerIiESaIT_ES0_", "_Z5outeri", "_ZN3BoxclEi",
       "_ZZZ5outeriENKUliE_clEiENKUlvE_clEv", "_ZNSaIcE5buildIiEEvPT_"]
ODD_QUERIES = [
    ("main::'lambda'(int)::_FUN(int)", [0]), ("main::'lambda'(int)::_FUN", [0]), ("same", [1, 2, 3, 4, 5, 6]), ("same<main::'lambda0'(int)>", [1]),
    ("main::'lambda0'(int)& same<main::'lambda0'(int)>(main::'lambda0'(int)&)", [1]), ("same<outer(int)::Local>", [3]), ("same<outer(int)::'unnamed'>", [4]),
    ("same<outer(int)::'lambda'(int)::operator()(int) const::'lambda'()>", [5]), ("same<outer(int)::'lambda0'(auto)>", [6]), ("tmember", [7]),
    ("tmember<int>", [7]), ("greater", [8]), ("(anonymous namespace)::hid2", [9]), ("(anonymous namespace)::hid2<outer(int)::Local>", [9]), ("tagged", [10]),
    ("tagged[abi:v2]", [10]), ("tagged[abi:v2](int)", [10]), ("std::allocator<char>::construct", [12]), ("maker", [13]),
    ("std::allocator<int> maker<int>(int)", [13]), ("outer", [14]), ("outer(int)", [14]), ("Box::operator()", [15]), ("main::'lambda'", []), ("main::'lambda0'", []),
    ("main", []), ("hid2", []), ("outer(int)::'lambda'(int)::operator()(int) const::'lambda'()::operator()", [16]), ("Local", []), ("operator()", []),
    ("void std::allocator<char>::build<int>(int*)", [17]), ("void std::allocator<char>::build<int>", [17]), ("std::allocator<char>::build", [17]),
    ("main::{lambda(int)#1}::_FUN(int)", [0]), ("main::{lambda(int)#1}::_FUN", [0]), ("main::{lambda(int)#2}::_FUN", []), ("main::{lambda(long)#1}::_FUN", []),
    ("main::{lambda(int)#2}& same<main::{lambda(int)#2}>(main::{lambda(int)#2}&)", [1]), ("same<outer(int)::{unnamed type#1}>", [4]),
    ("same<outer(int)::{unnamed type#2}>", []), ("same<outer(int)::{lambda(int)#1}::operator()(int) const::{lambda()#1}>", [5]),
    ("main::{lambda(int)#", []), ("main::{lambda(int)}::_FUN", [])]


@pytest.mark.parametrize("query, found", ODD_QUERIES)
def test_lambdas_and_types_of_functions_in_return_types(callsign, tmp_path, query, found):
    """Their brackets were taken for those of the parameters, and lambda for a word that mangled names spell out."""
    gsym_make.write(tmp_path / "x.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": name} for k, name in enumerate(ODD)])
    done = callsign.run("find", "--json", tmp_path / "x.gsym", query)
    assert [match["function"] for match in json.loads(done.stdout)["matches"]] == [ODD[k] for k in found]
    starts = [0x1000 + 16 * k for k in found]
    for repeats in 1, 40:  # through all functions, and with a table of names
        done = callsign.run("lookup", "--json", tmp_path / "x.gsym", stdin=f"{query}+0x1\n" * repeats)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert [int(answer["address"], 16) - 1 for answer in found if "address" in answer] == starts * repeats


def test_each_name_that_is_shown_is_found(callsign, tmp_path):
    gsym_make.write(tmp_path / "x.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": name} for k, name in enumerate(ODD)])
    shown = [match["function"] for match in find(callsign, "-C", tmp_path / "x.gsym", "*")[0]["matches"]]
    assert len(shown) == len(ODD)
    for name, answer in zip(ODD, find(callsign, tmp_path / "x.gsym", *shown)):
        assert name in [match["function"] for match in answer["matches"]], answer["query"]


def test_lambdas_as_gnu_writes_them(callsign, tmp_path):
    """Breakpad files that were made by GNU's demangler."""
    (tmp_path / "a.sym").write_text("MODULE Linux x86_64 000000000000000000000000000000000 a\nFUNC 10 10 0 main::{lambda(int)#2}& same<main::{lambda(int)#2}>(main::{lambda(int)#2}&)\n"
                                    "FUNC 20 10 0 main::{lambda(int)#1}::_FUN(int)\nFUNC 30 10 0 {lambda()#1}::operator()() const\n")
    for query, start in (("same", "0x10"), ("same<main::{lambda(int)#2}>", "0x10"), ("main::{lambda(int)#1}::_FUN", "0x20"), ("{lambda()#1}::operator()", "0x30")):
        assert callsign.good("find", tmp_path / "a.sym", query).split()[0] == start
