"""Small programs that the stand-ins and the tools that they stand in for are compared over: C, C++, Rust; split, stripped, linked to a
debug file, relocatable, for other machines and containers. Each is built if its compiler is there."""

import pathlib
import shutil
import subprocess

C_SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
int gvar = 3;
static int counter;
static inline __attribute__((always_inline)) int leaf(int x) {
    if (x > 3) { counter++; return x * gvar; }
    return x / 2 + atoi("3"); }
static inline __attribute__((always_inline)) int mid(int x) {
    int y = leaf(x) + 1;
    return y * leaf(y); }
__attribute__((noinline)) int top(int x) {
    int s = 0;
    for (int i = 0; i < x; i++) s += mid(i);
    return s; }
static __attribute__((noinline)) int helper(int a, int b) {
    char buf[64]; snprintf(buf, sizeof buf, "%d %d", a, b); return buf[0]; }
int main(int argc, char **argv) {
    static const char *names[] = { "a", "b" };
    if (!argv) puts(names[argc & 1]);
    printf("%d %d\n", top(argc), helper(argc, 3)); return counter; }
"""

CXX_SOURCE = r"""
#include <vector>
#include <string>
#include <map>
#include <cstdio>
namespace ns {
struct S { int v; template<class T> T get(T x) const { return x + v; } virtual int area() const; virtual ~S() = default;
           explicit S(int a) : v(a) {} };
int S::area() const { return v * 3; }
static int hidden(int x) { std::map<std::string,int> m; m["a"] = x; return m["a"] + (int)m.size(); }
}
extern "C" int plain(int x) { auto l = [x](int y) { return x * y; }; return l(3) + ns::hidden(x); }
int main(int argc, char **argv) {
    std::vector<int> v;
    for (int i = 0; i < argc * 10; i++) v.push_back(plain(i));
    ns::S s{argc};
    printf("%d %f %d\n", s.area(), s.get(3.5), (int)v.size());
    return v.back() + (argv == nullptr);
}
"""

RUST_SOURCE = r"""
fn sq(x: u64) -> u64 { x.wrapping_mul(x) }
fn main() { let v: Vec<u64> = (0..10).map(sq).collect(); println!("{:?}", v); }
"""

GO_SOURCE = r"""
package main

import "fmt"

type shape struct{ a, b int }

func (s shape) area() int { return s.a * s.b }
func twice(f func() int) int { return f() + f() }
func main() { s := shape{2, 3}; fmt.Println(twice(func() int { return s.area() })) }
"""

FOLD_SOURCE = r"""
int g;
__attribute__((noinline)) int first(int x) { return x * 3 + g; }
__attribute__((noinline)) int second(int x) { return x * 3 + g; }
static inline __attribute__((always_inline)) int both(int x) { return first(x) + second(x); }
int third(int x) { return both(x) + 1; }
int fourth(int x) { return both(x) + 1; }
int main(int argc, char **argv) { int (*volatile f)(int) = second; (void)argv; return f(argc) + third(argc) + fourth(argc); }
"""

# name: (command, source). {c}, {cc}, {rs} are the sources, {out} the program.
RECIPES = {
    "c-gcc": "gcc -O2 -g {c} -o {out}",
    "c-gcc-O0": "gcc -O0 -g {c} -o {out}",
    "c-gcc4": "gcc -O2 -gdwarf-4 {c} -o {out}",
    "c-gcc2": "gcc -O1 -gdwarf-2 -gstrict-dwarf {c} -o {out}",
    "c-nopie": "gcc -O2 -g -no-pie {c} -o {out}",
    "c-nodebug": "gcc -O2 {c} -o {out}",
    "c-strip": "gcc -O2 -s {c} -o {out}",
    "c-clang": "clang-22 -O2 -g {c} -o {out}",
    "c-clang4": "clang-22 -O2 -gdwarf-4 {c} -o {out}",
    "c-prof": "clang-22 -O2 -gdwarf-4 -fdebug-info-for-profiling {c} -o {out}",
    "c-gz": "gcc -O2 -g -gz=zlib {c} -o {out}",
    "c-obj.o": "gcc -O2 -g -c {c} -o {out}",
    "c-sections.o": "gcc -O2 -g -ffunction-sections -c {c} -o {out}",
    "c-rel.o": "gcc -O2 -g -c {c} -o {out}-1.o && gcc -O2 -g -ffunction-sections -Dmain=other -c {fold} -o {out}-2.o && ld -r {out}-1.o {out}-2.o -o {out}",
    "c-rel4.o": "gcc -O2 -gdwarf-4 -c {fold} -o {out}-1.o && gcc -O2 -gdwarf-4 -Dmain=other -c {c} -o {out}-2.o && ld -r {out}-1.o {out}-2.o -o {out}",
    "cc-rel.o": "g++ -O2 -g -c {cc} -o {out}-1.o && gcc -O2 -g -Dmain=other -c {fold} -o {out}-2.o && ld -r {out}-1.o {out}-2.o -o {out}",
    "c-shared.so": "gcc -O2 -g -shared -fPIC {c} -o {out}",
    "c-arm64": "aarch64-linux-gnu-gcc -O2 -g {c} -o {out}",
    "c-arm32": "arm-linux-gnueabihf-gcc -O2 -g {c} -o {out}",
    "c-i686": "i686-linux-gnu-gcc -O2 -g {c} -o {out}",
    "c-s390x": "s390x-linux-gnu-gcc -O2 -g {c} -o {out}",
    "c-pe.exe": "x86_64-w64-mingw32-gcc -O2 -g {c} -o {out}",
    "c-pe32.exe": "i686-w64-mingw32-gcc -O2 -g {c} -o {out}",
    "c-macho.o": "clang-22 -target x86_64-apple-macos11 -O2 -g -c -ffreestanding -DNOLIBC {free} -o {out}",
    "cc-gcc": "g++ -O2 -g {cc} -o {out}",
    "cc-gcc-O0": "g++ -O0 -g {cc} -o {out}",
    "cc-gc": "g++ -O1 -g -ffunction-sections -Wl,--gc-sections {cc} -o {out}",
    "cc-clang": "clang++-22 -O2 -g {cc} -o {out}",
    "cc-clang4": "clang++-22 -O1 -gdwarf-4 -ffunction-sections {cc} -o {out}",
    "cc-split": "g++ -O2 -g -gsplit-dwarf -c {cc} -o {out}.o && g++ {out}.o -o {out}",
    "cc-split4": "g++ -O2 -gdwarf-4 -gsplit-dwarf -c {cc} -o {out}.o && g++ {out}.o -o {out}",
    "cc-clsplit": "clang++-22 -O2 -g -gsplit-dwarf -c {cc} -o {out}.o && clang++-22 {out}.o -o {out}",
    "cc-types": "g++ -O2 -g -fdebug-types-section {cc} -o {out}",
    "cc-obj.o": "g++ -O2 -g -c {cc} -o {out}",
    "cc-link": "g++ -O2 -g {cc} -o {out} && objcopy --only-keep-debug {out} {out}.debug && strip {out} && "
               "objcopy --add-gnu-debuglink={out}.debug {out}",
    "cc-dwz": "g++ -O2 -g {cc} -o {out} && g++ -O1 -g {cc} -o {out}2 && dwz -m {out}.sup {out} {out}2",
    "rs": "rustc -O -g {rs} -o {out}",
    "rs-dbg": "rustc -g {rs} -o {out}",
    "go": "go build -o {out} {go}",
    "c-fold": "clang-22 -O1 -g -ffunction-sections -fuse-ld=lld -Wl,--icf=all {fold} -o {out}",
    "c-goldfold": "gcc -O1 -g -ffunction-sections -fuse-ld=gold -Wl,--icf=all {fold} -o {out}",
    "c-wasm": "clang-22 --target=wasm32 -O1 -g -nostdlib -Wl,--no-entry -Wl,--export-all {fold} -o {out}",
    "c-wasm.o": "clang-22 --target=wasm32 -O1 -g -c {fold} -o {out}",
    "c-macho": "clang-22 -target x86_64-apple-macos11 -O2 -g -c -ffreestanding -DNOLIBC {free} -o {out}-main.o && "
               "ld64.lld-22 -arch x86_64 -platform_version macos 11.0 11.0 -undefined dynamic_lookup {out}-main.o -o {out} && dsymutil-22 {out}",
    "c-clang-pe.exe": "clang-22 -target x86_64-w64-mingw32 -O2 -gdwarf-5 {c} -fuse-ld=lld -o {out}",
    "cc-dwp": "clang++-22 -O2 -g -gsplit-dwarf -c {cc} -o {out}.o && clang++-22 {out}.o -o {out} && llvm-dwp-22 -e {out} -o {out}.dwp && rm {out}.dwo",
    "cc-buildid": "g++ -O2 -g -Wl,--build-id=0xabcdef0123456789 {cc} -o {out} && mkdir -p dbg/.build-id/ab && "
                  "objcopy --only-keep-debug {out} dbg/.build-id/ab/cdef0123456789.debug && strip {out}",
    "rs-fat": "rustc -g -Copt-level=3 -Clto=fat -Cpanic=abort {rs} -o {out}",
    "c-clang-obj.o": "clang-22 -O2 -g -ffunction-sections -fdata-sections -c {c} -o {out}",
    "c-coff.o": "clang-22 -target x86_64-w64-mingw32 -O2 -g -ffunction-sections -ffreestanding -c {free} -o {out}",
    "c-coff32.o": "clang-22 -target i686-w64-mingw32 -O2 -gdwarf-4 -ffunction-sections -ffreestanding -c {free} -o {out}",
    "c-riscv": "clang-22 -target riscv64-linux-gnu -O2 -g -nostdlib -fuse-ld=lld -Wl,-e,top {fold} -o {out}",
    "c-aarch64": "clang-22 -target aarch64-linux-gnu -O2 -g -nostdlib -fuse-ld=lld -Wl,-e,main {fold} -o {out}",
    "c-macho-arm.o": "clang-22 -target arm64-apple-macos11 -O2 -g -c -ffreestanding -DNOLIBC {free} -o {out}",
}

FREE_SOURCE = C_SOURCE.replace("#include <stdio.h>", "int printf(const char *, ...), snprintf(char *, unsigned long, const char *, ...), puts(const char *);") \
                      .replace("#include <stdlib.h>", "int atoi(const char *);")


def build(folder, only=None):
    """The programs that could be built, by name."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sources = {"c": ("demo.c", C_SOURCE), "cc": ("cpp.cc", CXX_SOURCE), "rs": ("prog.rs", RUST_SOURCE), "go": ("prog.go", GO_SOURCE),
               "fold": ("fold.c", FOLD_SOURCE), "free": ("free.c", FREE_SOURCE)}
    paths = {}
    for key, (name, text) in sources.items():
        paths[key] = folder / name
        if not paths[key].exists():
            paths[key].write_text(text)
    found = {}
    for name, recipe in RECIPES.items():
        if only and name not in only:
            continue
        out = folder / name
        if not out.exists() and shutil.which(recipe.split()[0]):
            names = {key: path.name for key, path in paths.items()}
            subprocess.run(recipe.format(out=name, **names), shell=True, cwd=folder, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if out.exists():
            found[name] = out
    return found
