"""Programs whose identical functions a linker folds, and what nm says of them."""
import collections
import os
import re
import subprocess

from programs import need

HEADER = """#pragma once
template <class T> struct Box {
    T *p;
    __attribute__((noinline)) T *get(long i);
    __attribute__((noinline)) long visit(long (*f)(T *), long n);
};
template <class T> T *Box<T>::get(long i) { return p ? (T *)((char **)p)[i] : nullptr; }  /*@get*/
template <class T> long Box<T>::visit(long (*f)(T *), long n) {  /*@visit*/
    long s = 0;
    for (long i = 0; i < n; i++) s += f(get(i)) * 3;
    return s + 1;
}
"""
MAIN = """#include "box.h"
#include <cstdlib>
extern "C" {
__attribute__((noinline)) int alpha(int x) { return x * 7 + abs(x); }  /*@alpha*/
__attribute__((noinline)) int beta(int x) { return x * 7 + abs(x); }  /*@beta*/
__attribute__((noinline, weak)) int weakling(int x) { return x * 7 + abs(x); }  /*@weakling*/
}
static __attribute__((noinline)) int hidden(int x) { return x * 7 + abs(x); }  /*@hidden*/
extern "C" void sink(int);
static long of_int(int *p) { return p ? *p : 0; }
static long of_double(double *p) { return p ? (long)*p : 0; }
__attribute__((noinline)) int caller(int x) { return alpha(x) + beta(x + 1) + hidden(x + 2) + 5; }
__attribute__((noinline)) int last_call(int x) { sink(x); return beta(x); }
int main(int argc, char **argv) {
    Box<int> b1{(int *)argv};
    Box<double> b2{(double *)argv};
    sink(caller(argc) + weakling(argc) + last_call(argc));
    return (int)(b1.visit(of_int, 0) + b2.visit(of_double, 0));
}
"""
OTHER = """#include "box.h"
#include <cstdio>
extern "C" void sink(int x) { if (x == 12345) puts("x"); }
static long of_char(char *p) { return p ? *p : 0; }
long use(char **a) { Box<char> b{(char *)a}; return b.visit(of_char, 0); }
"""
LINKERS = {"lld": "ld.lld-22", "gold": "ld.gold", "mold": "mold"}
FOLDED = {"alpha", "beta", "weakling"}


def line_of(text, mark):
    return next(n for n, line in enumerate(text.split("\n"), 1) if f"/*@{mark}*/" in line)


def run(folder, *command, **more):
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


def build(folder, compiler, linker, version=5, extra=()):
    """The path of a program linked with everything folded that is identical."""
    # GCC folds functions of one unit itself, and leaves second names without debug information.
    if compiler == "g++":
        extra = ["-fno-ipa-icf", *extra]
    compiler, linker = need(compiler), need(LINKERS[linker])
    for name, text in (("box.h", HEADER), ("main.cc", MAIN), ("other.cc", OTHER)):
        (folder / name).write_text(text)
    for name in ("main", "other"):
        run(folder, compiler, "-g", f"-gdwarf-{version}", "-O2", "-ffunction-sections", *extra, "-c", f"{name}.cc")
    # The driver of either compiler looks for a program called ld in a folder of its own.
    (folder / "bin").mkdir(exist_ok=True)
    ld = folder / "bin" / "ld"
    ld.unlink(missing_ok=True)
    os.symlink(linker, ld)
    run(folder, need("g++"), "-B", folder / "bin", "-Wl,--icf=all", "main.o", "other.o", "-o", "app")
    return folder / "app"


def groups(program):
    """{(address, size): names} of functions in the symbol table."""
    found = collections.defaultdict(set)
    for line in run(program.parent, "nm", "-S", program).splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) [TtWw] (\S+)", line)
        if match:
            found[int(match[1], 16), int(match[2], 16)].add(match[3])
    return found


def calls(program):
    """{return address: operand of the call instruction before it}"""
    found, operand = {}, None
    for line in run(program.parent, "objdump", "-d", "--no-show-raw-insn", program).splitlines():
        match = re.match(r"\s+([0-9a-f]+):\s+(\S+)\s*(\S*)", line)
        if not match:
            continue
        if operand:
            found[int(match[1], 16)] = operand
        operand = match[3] if match[2].startswith("call") else None
    return found
