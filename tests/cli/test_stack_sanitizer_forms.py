"""Frames of sanitizers in the forms that other settings, systems and writers give them, and what is taken for none of theirs."""
import re
import subprocess

import pytest

import programs
from test_stack_logs import FIXED, LIB, LOAD

PLACE = "/opt/app/liborders.c:"
INDENTS = pytest.mark.parametrize("indent", ["", "    "], ids=["flush", "indented"])


def in_place(callsign, index, text):
    done = callsign.run("stack", "--in-place", "--no-search", *index, stdin=text)
    again = callsign.run("stack", "--in-place", "--no-search", *index, stdin=done.stdout)
    assert again.stdout == done.stdout
    return done


def count_of(done):
    return tuple(map(int, re.search(r"(\d+) stacks, (\d+) frames", done.stderr).groups()))


# ---- a module, and text behind it ----

ENDS = ["<br>", "</code>", '"', '",', ",", "'", "`", ";", "|", "\\n", ".", "\x1b[0m"]


@pytest.mark.parametrize("end", ENDS)
@INDENTS
@pytest.mark.parametrize("note", ["", " (BuildId: e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e)"], ids=["module", "build id"])
def test_text_behind_a_module(callsign, indent, note, end):
    line = f"{indent}#1 0x7f71e1242160  (/opt/app/liborders.so+0x1160)"
    done = in_place(callsign, LIB, line + note + end + "\n")
    assert count_of(done) == (1, 1)
    assert done.stdout == f"{indent}#1 0x7f71e1242160 in orders_load {PLACE}21{end}\n"


@pytest.mark.parametrize("path", ["/opt/a+0x1).d/liborders.so", "/opt/a(b+0x1)+0x2)/liborders.so", "/opt/a_(+0x1)_b/liborders.so"])
def test_a_path_like_a_module(callsign, path):
    done = callsign.run("stack", "--json", "--no-search", *LIB, stdin=f"    #1 0x7f71e1242160  ({path}+0x1160)\n")
    assert "orders_load" in done.stdout


@INDENTS
@pytest.mark.parametrize("name", ["orders_load ", ""], ids=["named", "unnamed"])
def test_build_ids_of_llvms_dumps(callsign, indent, name):
    """LLVM's own stacks; the pcs lie nowhere, as the text has no mappings, so that the module alone tells. Another build is not used."""
    line = f"{indent}#1 0x00007f013c55322a {name}(/opt/app/liborders.so+0x1160)"
    own, other = (f"{line} (BuildId: {mark})" for mark in ("e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e", "0102030405060708"))
    for text, added in ((line, LOAD), (own, LOAD), (other, "")):
        done = in_place(callsign, LIB, text + "\n")
        assert done.stdout == text + added + "\n" and count_of(done) == (1, 1)


# ---- names without a line ----

# What stands behind the address, and what stays behind the place that is added; None: the line stays.
NAMES = {"in std::vector<int, std::allocator<int> >::push_back": "", "in malloc _asan_rtl_": "", "in opj_update /src/j2k.c": "",
         "in operator delete(void*)": "", "in operator new[](unsigned long)": "", "in main <unknown>": "", "in main (a.out)": " (a.out)",
         "in": "", "in A::f(int) const /src/j2k.c": "", "in <alloc::vec::Vec<T> as core::Drop>::drop": "", "in f url/gurl.cc": "",
         "in std::operator<< <char, std::char_traits<char> >(int, char)<br>": "<br>", "in A::f(int) const\"": '"', "in f(int)</code>": "</code>",
         "in void f<int>(int)": "", "in bool (anonymous namespace)::f<int>(int, int)": "",
         "in base::mac::CallWithEHFrame(void () block_pointer)": "", "in closure #1 ()": None,
         "in protocol witness for M.f<A where A1: D>(decoder: inout A1) throws -> () in conformance T : M": None,
         "in closure #1 () -> () in main": None, "in f(int, ": None, "in thunk for @escaping f": None, "in f request 17 of bob": None,
         "in f <-- request 17 of bob": " <-- request 17 of bob"}


@INDENTS
@pytest.mark.parametrize("name", NAMES)
def test_names_without_a_line(callsign, indent, name):
    first, last = f"{indent}#0 0x1000003e in check /a.c:3:4\n", f"{indent}#2 0x10000066 in main /a.c:3:4\n"
    done = in_place(callsign, FIXED, f"{first}{indent}#1 0x10000065 {name}\n{last}")
    assert count_of(done) == (1, 3)
    rest = NAMES[name]
    middle = name if rest is None else f"in orders_load {PLACE}21{rest}"
    assert done.stdout == f"{first}{indent}#1 0x10000065 {middle}\n{last}"


@pytest.mark.parametrize("line", ["#10 0x0000000010000065 in f ()", "#10 0x0000000010000065 in f (arg=1)", "#10 0x10000065 in f ()",
                                  "#10 0x10000065 in f (arg=1)", "#1  0x10000065 in f (arg=1) at f.c:3", "#10 0x10000065 in f (arg=1) at f.c:3",
                                  "#1  0x0000000010000065 in f () from /lib/x.so", "#10 0x10000065 in f (...)", "#10 0x10000065 in void f<int>(int) ()"])
@INDENTS
def test_calls_of_gdb(callsign, indent, line):
    """Also of 32 bits. gdb prints where a call returns to, and knows more than a sanitizer."""
    done = callsign.run("stack", "--in-place", "--no-search", *FIXED, stdin=f"{indent}{line}\n")
    assert " in orders_load /opt" not in done.stdout
    assert "arg=1" not in line or done.stdout == f"{indent}{line}\n"


SOURCE = """#include <vector>
template <class A, class B> struct Pair {
    A a; B b;
    __attribute__((noinline)) int first(const Pair<A, B> &other, int *p) const { return *p + a + other.a; }
};
struct Text { int n; };
template <class A> __attribute__((noinline)) int sum(A a, int *p) { Pair<A, char> q = { a, 'x' }; return q.first(q, p) + 1; }
__attribute__((noinline)) int operator<<(Text t, int *p) { return sum<int>(t.n, p) + 1; }
int main() { int *p = new int(3); delete p; return Text{ 1 } << p; }
"""


@pytest.mark.parametrize("form", ["    #%n %p in %f", "#%n %p in %f"], ids=["indented", "flush"])
def test_a_sanitizers_own_names(callsign, tmp_path, form):
    """A program of g++ prints names alone, as its settings say: they get the places that it prints of itself else."""
    (tmp_path / "pair.cc").write_text(SOURCE)
    subprocess.run([programs.need("g++"), "-g", "-O1", "-no-pie", "-fno-pie", "-fno-optimize-sibling-calls", "-fsanitize=address",
                    "pair.cc", "-o", "pair"], cwd=tmp_path, check=True)

    def report(**options):
        return subprocess.run(["./pair"], cwd=tmp_path, env=options, capture_output=True, text=True).stderr

    frame = r"^ *#\d+ (0x4[0-9a-f]{5}) in (.*)$"
    truth = {pc: rest.split(" ")[-1] for pc, rest in re.findall(frame, report(), re.M)}
    alone = report(ASAN_OPTIONS=f"stack_trace_format='{form}'")
    assert "operator<<(Text, int*)\n" in alone and "int sum<int>(int, int*)\n" in alone
    done = in_place(callsign, ["-i", tmp_path / "pair"], alone)
    places = {pc: rest.split(" ")[-1] for pc, rest in re.findall(frame, done.stdout, re.M)}
    known = {pc for pc, place in truth.items() if "pair.cc:" in place}
    assert len(known) >= 5 and all(places[pc] == truth[pc] for pc in known)
    assert count_of(done)[1] == len(re.findall(r"^ *#\d+ 0x", alone, re.M))


# ---- Fuchsia ----

@pytest.mark.parametrize("indent", ["", "   ", "\t"], ids=["flush", "3", "tab"])
def test_frames_of_fuchsia(callsign, indent):
    """As ClusterFuzz's tests have them."""
    text = (f"{indent}#0    0x000000001000003e in foo_function(unsigned char const*, unsigned long) ../toy.cc:12 <<application>>+0xacf4c\n"
            f"{indent}#1    0x0000000010000065 in fuzzer::PrintStackTrace() <<application>>+0x75a95\n"
            f"{indent}#10   0x0000000010000066 in __asan::Report() ../x.cpp:1 <libclang_rt.asan.so>+0x65\n")
    done = in_place(callsign, FIXED, text)
    assert count_of(done) == (1, 3)
    assert done.stdout == text.replace("fuzzer::PrintStackTrace()", f"orders_load {PLACE}21")
