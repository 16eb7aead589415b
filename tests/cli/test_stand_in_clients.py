"""Programs that start symbolizers: once with the tools, once with the stand-ins. What they print has to be the same."""
import os
import pathlib
import re
import shutil
import stat
import subprocess

import pytest

import stand_in_pairs
from profile_bytes import pprof
from programs import need

pytestmark = pytest.mark.long_with_sanitizers

SOURCE = r"""
#include <cstdio>
#include <cstdlib>
#include <string>
#include <map>
namespace work {
template <typename T> static inline __attribute__((always_inline)) T square(T x) { return x * x + 1; }
static inline __attribute__((always_inline)) double twice(double x) {
    double y = square(x);
    return y + square(y); }
struct Sum { double value = 0; __attribute__((noinline)) void add(int n); };
void Sum::add(int n) {
    for (int i = 0; i < n; i++) value += twice(i);
}
}
extern "C" __attribute__((noinline)) int plain(int n) {
    std::map<std::string, int> seen;
    for (int i = 0; i < n; i++) seen[std::to_string(i % 100)]++;
    return (int)seen.size();
}
int main(int argc, char **) {
    work::Sum sum;
    int n = 0;
    for (int i = 0; i < 40; i++) { sum.add(1000000 * argc); n += plain(20000); }
    printf("%f %d\n", sum.value, n);
}
"""


class Side:
    """A folder of programs with the names of the tools, which note that they were started."""

    def __init__(self, folder, which, programs):
        self.folder, self.log, self.which = folder / which, folder / (which + ".log"), which
        self.cache = folder / "cache"
        (self.folder / "real").mkdir(parents=True)
        self.log.write_text("")
        for name, path in programs.items():
            (self.folder / "real" / name).symlink_to(path)
            script = self.folder / name
            script.write_text(f'#!/bin/sh\necho {name} "$@" >> {self.log}\nexec {self.folder}/real/{name} "$@"\n')
            script.chmod(script.stat().st_mode | stat.S_IXUSR)

    def environment(self, **more):
        env = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "LC_ALL": "C", "CALLSIGN_CACHE": str(self.cache), **more}
        env.pop("DEBUGINFOD_URLS", None)
        return env

    def starts(self):
        """The command lines since the last call."""
        lines = self.log.read_text().splitlines()
        self.log.write_text("")
        return lines


NAMES = {"addr2line": "2.40", "llvm-symbolizer": "22.", "llvm-addr2line": "22."}


@pytest.fixture(scope="module")
def sides(tmp_path_factory, callsign):
    folder = tmp_path_factory.mktemp("sides")
    tools = {name: shutil.which(stand_in_pairs.TOOLS[name]) for name in NAMES}
    found = {}
    for name, path in tools.items():
        if path and NAMES[name] in subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout:
            found[name] = path if name == "llvm-addr2line" else os.path.realpath(path)
    return Side(folder, "theirs", found), Side(folder, "ours", dict.fromkeys(NAMES, pathlib.Path(callsign.path).resolve()))


def compared(sides, name, run):
    """What a client prints, which is the same with the tool and with its stand-in; it has to start both equally."""
    theirs, ours = sides
    if not (theirs.folder / name).exists():
        pytest.skip(f"{stand_in_pairs.TOOLS[name]} {NAMES[name]} is not installed")
    for side in sides:
        side.starts()
    wanted, found = run(theirs), run(ours)
    starts = [side.starts() for side in sides]
    assert starts[0] and all(line.startswith(name) for line in starts[0]), starts[0]
    assert starts[0] == starts[1]
    assert found == wanted
    return found


def output(command, side, folder, stdin=None, errors=False, **more):
    done = subprocess.run([str(word) for word in command], input=stdin, cwd=folder, env=side.environment(**more), text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT if errors else subprocess.DEVNULL, check=False)
    return done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    (folder / "work.cc").write_text(SOURCE)
    subprocess.run([need("g++"), "-O1", "-g", "-fno-omit-frame-pointer", "work.cc", "-o", "work"], cwd=folder, check=True)
    return folder / "work"


# ---- perf ----

@pytest.fixture(scope="module")
def recording(program):
    perf = need("perf")
    done = subprocess.run([perf, "record", "-e", "cpu-clock", "-F", "999", "-g", "-o", "data", "./work"], cwd=program.parent, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        pytest.skip(f"perf cannot record here: {done.stderr[:200]}")
    return program.parent


@pytest.mark.parametrize("arguments", [["script", "-F", "+srcline"], ["script", "-F", "ip,sym,srcline", "--inline"],
                                       ["report", "--stdio", "-s", "sym,srcline", "--no-children"],
                                       ["report", "--stdio", "-g", "caller,srcline", "--inline", "--children"]], ids=" ".join)
def test_perf(arguments, sides, recording):
    """Which code was running when is not the same in every recording. At the end of a report stands a tip, by chance one of many."""
    text = compared(sides, "addr2line", lambda side: re.sub(r"(?m)^# \(Tip: .*\n", "", output(["perf", *arguments, "-i", "data"], side, recording)))
    assert "work.cc:" in text


# ---- sanitizers ----

FAULTS = r"""
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
namespace faults {
int table[4] = { 1, 2, 3, 4 };
static inline __attribute__((always_inline)) int read(const int *p, int i) {
    return p[i];
}
struct Box { int *items; __attribute__((noinline)) int get(int i) { return read(items, i); } };
}
static int shared;
static std::atomic<int> ready;
static void *writer(void *) {
    shared++;
    ready.store(1, std::memory_order_relaxed);
    return nullptr;
}
__attribute__((noinline)) static int on_stack(int i) {
    volatile int local[3] = { 1, 2, 3 };
    return local[i];
}
int fault(const char *name) {
    int three = (int)strlen(name);
    if (strcmp(name, "after-free") == 0) {
        faults::Box box = { (int *)malloc(16) };
        free(box.items);
        return box.get(1);
    }
    if (strcmp(name, "global") == 0) {
        faults::Box box = { faults::table };
        return box.get(three - 2);
    }
    if (strcmp(name, "stack") == 0) return on_stack(three);
    if (strcmp(name, "overflow") == 0) return INT32_MAX - 3 + three;
    if (strcmp(name, "shift") == 0) return three << (three * 8);
    pthread_t thread;
    pthread_create(&thread, nullptr, writer, nullptr);
    while (!ready.load(std::memory_order_relaxed)) ;
    shared++;
    pthread_join(thread, nullptr);
    return 0;
}
#ifdef FUZZ
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return size && data[0] == 'x' ? fault("after-free") & 0 : 0;
}
#else
int main(int, char **argv) { return fault(argv[1]) == 12345; }
#endif
"""

RUNS = [("address", "after-free"), ("address", "global"), ("address", "stack"), ("undefined", "overflow"), ("undefined", "shift"),
        ("thread", "race"), ("fuzzer,address", "crash-input")]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """Makes the program for a sanitizer."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "faults.cc").write_text(FAULTS)
    (folder / "crash-input").write_text("x")
    compiler = shutil.which("clang++-22") or need("clang++")

    def make(sanitizer):
        out = folder / sanitizer.replace(",", "-")
        if not out.exists():
            flags = ["-DFUZZ"] if "fuzzer" in sanitizer else []
            subprocess.run([compiler, "-O1", "-g", f"-fsanitize={sanitizer}", *flags, "faults.cc", "-o", out, "-pthread"], cwd=folder, check=True)
        return out

    return make


def without_numbers(text):
    """Addresses and process ids, which change from run to run."""
    text = re.sub(r"(==|[pt]id=)\d+", r"\1ID", text)
    return re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", re.sub(r"INFO: .*\n|.*(?:Seed|Base64|artifact).*\n", "", text))


@pytest.mark.parametrize("name", ["llvm-symbolizer", "addr2line"])
@pytest.mark.parametrize("sanitizer,fault", RUNS, ids=lambda value: value.replace(",", "-"))
def test_sanitizers(sanitizer, fault, name, sides, faulty):
    path = faulty(sanitizer)

    def run(side):
        tool = str(side.folder / name)
        return without_numbers(output(["setarch", "-R", path, fault], side, path.parent, errors=True, ASAN_SYMBOLIZER_PATH=tool,
                                      TSAN_OPTIONS=f"external_symbolizer_path={tool}", UBSAN_SYMBOLIZER_PATH=tool,
                                      UBSAN_OPTIONS="print_stacktrace=1"))

    text = compared(sides, name, run)
    assert "faults.cc:" in text and re.search(r"#\d+ ADDRESS in (?:fault|faults::|writer|on_stack)|#\d+ (?:fault|writer)", text), text


@pytest.mark.parametrize("name", ["llvm-symbolizer", "addr2line"])
def test_asan_symbolize(name, sides, faulty):
    """LLVM's script in Python reads a report without names."""
    path = faulty("address")
    report = subprocess.run([path, "after-free"], capture_output=True, text=True, env={**os.environ, "ASAN_OPTIONS": "symbolize=0"}, check=False).stderr
    assert "+0x" in report
    script = need("asan_symbolize")

    def run(side):
        # Without a symbolizer of LLVM's name the script takes addr2line.
        tool = side.folder / "llvm-symbolizer" if name == "llvm-symbolizer" else "nosuch"
        return output([script, "-d"], side, path.parent, stdin=report, LLVM_SYMBOLIZER_PATH=str(tool))

    assert "faults.cc:" in compared(sides, name, run)


# ---- pprof ----

@pytest.fixture(scope="module")
def profile(program):
    """A profile without names, of every third byte of the program's functions."""
    segments = subprocess.run([need("readelf"), "-lW", program], check=True, capture_output=True, text=True).stdout
    off, addr, size = (int(field, 16) for field in re.search(r"LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)\s+0x\w+\s+R E", segments).groups())
    listing = subprocess.run([need("nm"), "-S", program], check=True, capture_output=True, text=True).stdout
    functions = [(int(w[0], 16), int(w[1], 16)) for w in map(str.split, listing.splitlines()) if len(w) == 4 and w[2] in "TtW"]
    start = 0x7f1200000000
    samples = [([start + at - addr], [1]) for first, length in functions for at in range(first, first + length, 3)]
    path = program.parent / "profile.pb"
    path.write_bytes(pprof(samples, [(start, start + size + 4096, off, str(program), "")]))
    return path


@pytest.mark.parametrize("name", ["llvm-symbolizer", "addr2line"])
def test_google_pprof(name, sides, profile, tmp_path):
    tool = os.environ.get("CALLSIGN_PPROF") or shutil.which("pprof") or shutil.which(str(pathlib.Path.home() / "go/bin/pprof"))
    if not tool:
        pytest.skip("pprof (go install github.com/google/pprof@latest) is not installed")

    def run(side):
        chosen = tmp_path / side.which  # the only tools that it finds
        chosen.mkdir()
        for each in (name, "nm", "objdump"):
            (chosen / each).symlink_to(shutil.which(each, path=f"{side.folder}:{os.environ['PATH']}"))
        return output([tool, "-raw", "-symbolize=force:local", profile], side, tmp_path, HOME=str(tmp_path), PPROF_TMPDIR=str(tmp_path),
                      PPROF_TOOLS=str(chosen), PATH=str(chosen))

    text = compared(sides, name, run)
    assert "work::Sum::add" in text and "work.cc:" in text


def test_gperftools_pprof(sides, profile, program, tmp_path):
    """The older pprof, in Perl, on a CPU profile in words of the machine."""
    tool = need("google-pprof")
    listing = subprocess.run([need("nm"), program], check=True, capture_output=True, text=True).stdout
    add = next(int(line.split()[0], 16) for line in listing.splitlines() if "Sum3add" in line and line.split()[1] == "T")
    start = 0x555555554000
    words = [0, 3, 0, 10000, 0]
    for at in range(add, add + 60, 3):
        words += [5, 1, start + at]
    words += [0, 1, 0]
    maps = f"{start:x}-{start + 0x100000:x} r-xp 00000000 08:01 1 {program}\n"
    (tmp_path / "cpu.prof").write_bytes(b"".join(word.to_bytes(8, "little") for word in words) + maps.encode())
    text = compared(sides, "addr2line", lambda side: output([tool, "--text", "--lines", program, "cpu.prof"], side, tmp_path,
                                                            PPROF_TOOLS=f"addr2line:{side.folder}/addr2line,/usr/bin/"))
    assert "work.cc:" in text


# ---- scripts ----

def test_flame_graph(sides, program):
    folder = os.environ.get("CALLSIGN_FLAMEGRAPH")
    if not folder:
        pytest.skip("FlameGraph (github.com/brendangregg/FlameGraph) is not at $CALLSIGN_FLAMEGRAPH")
    listing = subprocess.run([need("nm"), "-S", program], check=True, capture_output=True, text=True).stdout
    functions = [(int(w[0], 16), int(w[1], 16), w[3]) for w in map(str.split, listing.splitlines()) if len(w) == 4 and w[2] in "TtW"]
    stacks = "".join(f"work 1 1.0: 1 cpu-clock:\n\t{at:x} {name}+{hex(at - first)} ({program})\n\n"
                     for first, length, name in functions for at in range(first, first + length, 11))
    for options in (["--inline"], ["--inline", "--context"]):
        text = compared(sides, "addr2line", lambda side, options=options: output([f"{folder}/stackcollapse-perf.pl", *options], side, program.parent,
                                                                                 stdin=stacks))
        assert "work::Sum::add" in text
    graph = output([f"{folder}/flamegraph.pl"], sides[1], program.parent, stdin=text)
    assert "</svg>" in graph and "work::Sum::add" in graph


@pytest.fixture(scope="module")
def kernel():
    """(vmlinux, folder of the kernel's scripts, lines of a stack as the kernel prints it)"""
    scripts, corpus = os.environ.get("CALLSIGN_KERNEL_SCRIPTS"), os.environ.get("CALLSIGN_CORPUS")
    vmlinux = pathlib.Path(corpus or "nosuch") / "vmlinux"
    if not scripts or not vmlinux.exists():
        pytest.skip("scripts/ of the kernel is not at $CALLSIGN_KERNEL_SCRIPTS, or vmlinux not in $CALLSIGN_CORPUS")
    listing = subprocess.run([need("nm"), "-nS", vmlinux], check=True, capture_output=True, text=True).stdout
    functions = [w for w in map(str.split, listing.splitlines()) if len(w) == 4 and w[2] in "Tt" and int(w[1], 16) > 64 and "." not in w[3]]
    chosen = functions[100::len(functions) // 6][:6]
    return vmlinux, scripts, [f"{name}+{hex(int(size, 16) // 2)}/{hex(int(size, 16))}" for _, size, _, name in chosen]


@pytest.mark.parametrize("name", ["addr2line", "llvm-addr2line"])
def test_decode_stacktrace(name, sides, kernel):
    vmlinux, scripts, places = kernel
    log = "[    1.234567] Call Trace:\n" + "".join(f"[    1.234568]  {place}\n" for place in places)

    def run(side):
        llvm = {"LLVM": f"{side.folder}/"} if name == "llvm-addr2line" else {}
        if llvm:
            for tool in ("readelf", "nm"):
                link = side.folder / f"llvm-{tool}"
                if not link.exists():
                    link.symlink_to(need(f"llvm-{tool}-22"))
        return output(["bash", f"{scripts}/decode_stacktrace.sh", vmlinux], side, vmlinux.parent, stdin=log, **llvm)

    assert compared(sides, name, run).count(".c:") >= len(places)


def test_faddr2line(sides, kernel):
    vmlinux, scripts, places = kernel
    text = compared(sides, "addr2line", lambda side: output(["bash", f"{scripts}/faddr2line", vmlinux, *places[:3]], side, vmlinux.parent, errors=True))
    assert " at " in text


class Syzkaller:
    """How syzkaller's pkg/symbolizer holds llvm-addr2line, or addr2line where that is missing: one child for a binary, requests of many addresses with one of all ones at the end, and
    frames read to the line of that one. It drops unknown frames and reads lines up to the first character that is no digit."""

    def __init__(self, side, name, binary):
        self.child = subprocess.Popen([str(side.folder / name), "-afi", "-e", str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env=side.environment())

    def line(self):
        text = self.child.stdout.readline()
        assert text, "the child is gone"
        return text[:-1]

    def frames_to_next(self, addr):
        found, text = [], self.line()
        while not text.startswith("0x"):
            file, colon, rest = self.line().rpartition(":")
            number = re.match("[0-9]*", rest)[0]
            assert colon
            if number and text not in ("", "??") and file not in ("", "??"):
                found.append((addr, text, file, int(number) or -1))
            text = self.line()
        return found, int(text, 16)

    def symbolize(self, addrs):
        self.child.stdin.write("".join(f"0x{addr:x}\n" for addr in addrs) + "0xffffffffffffffff\n")
        self.child.stdin.flush()
        found, shown = [], int(self.line(), 16)
        for addr in addrs:
            assert shown == addr
            frames, shown = self.frames_to_next(addr)
            found += frames
        self.line()  # LLVM may name a symbol at the end
        self.line()
        return found

    def end(self):
        """It kills its child."""
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.kill()
        self.child.wait()


def symbolized_like_syzkaller(side, name, binary, batches):
    child = Syzkaller(side, name, binary)
    try:
        return [child.symbolize(batch) for batch in batches]
    finally:
        child.end()


def batches_of(binary, count):
    """Addresses of functions, a few at a time, one at a time, and all at once."""
    listing = subprocess.run([need("nm"), "-S", binary], check=True, capture_output=True, text=True).stdout
    functions = [(int(w[0], 16), int(w[1], 16)) for w in map(str.split, listing.splitlines()) if len(w) == 4 and w[2] in "TtW"]
    places = [at for first, length in functions[:: max(1, len(functions) // count)] for at in range(first, first + length, max(1, length // 8))]
    return [places[i:i + 7] for i in range(0, len(places), 7)] + [[at] for at in places[:20]] + [places, []]


@pytest.mark.parametrize("name", ["addr2line", "llvm-addr2line"])
def test_syzkaller(name, sides, program):
    batches = batches_of(program, 200)
    found = compared(sides, name, lambda side: symbolized_like_syzkaller(side, name, program, batches))
    assert len({frame[2] for frames in found for frame in frames}) > 3 and any("Sum3add" in frame[1] for frames in found for frame in frames)


@pytest.mark.parametrize("name", ["addr2line", "llvm-addr2line"])
def test_syzkaller_with_a_kernel(name, sides, kernel):
    vmlinux = kernel[0]
    batches = batches_of(vmlinux, 60)
    found = compared(sides, name, lambda side: symbolized_like_syzkaller(side, name, vmlinux, batches))
    assert sum(map(len, found)) > 200


RUST_CLIENT = r"""
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
// Keeps one addr2line, and asks it one address after the other.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut child = Command::new("addr2line").args(["-a", "-f", "-i", "-C", "-e", &args[1]])
        .stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    println!("{}", { writeln!(to, "{}", args[2]).unwrap(); from.next().unwrap().unwrap() });
    for addr in &args[3..] {
        writeln!(to, "{addr}").unwrap();
        loop { // to the line with this address
            let line = from.next().unwrap().unwrap();
            println!("{line}");
            if line == *addr { break; }
        }
    }
    drop(to);
    for line in from { println!("{}", line.unwrap()); }
    println!("{}", child.wait().unwrap());
}
"""


def test_rust_program(sides, program, tmp_path):
    """A program of Rust that talks to addr2line through pipes."""
    rustc = need("rustc")
    (tmp_path / "client.rs").write_text(RUST_CLIENT)
    subprocess.run([rustc, "-O", "-o", "client", "client.rs"], cwd=tmp_path, check=True)
    addresses = [f"0x{place:016x}" for place in batches_of(program, 200)[-2][:60]]
    text = compared(sides, "addr2line", lambda side: output([str(tmp_path / "client"), str(program), *addresses], side, tmp_path))
    assert text.count("0x") >= len(addresses) and "work::Sum::add" in text


def test_gdb_names_the_same_functions(program):
    """`info symbol` of gdb, which starts no symbolizer, against the names and offsets of eu-addr2line's stand-in."""
    gdb = need("gdb")
    listing = subprocess.run([need("nm"), "-S", program], check=True, capture_output=True, text=True).stdout
    functions = [(int(w[0], 16), int(w[1], 16)) for w in map(str.split, listing.splitlines()) if len(w) == 4 and w[2] in "Tt"]
    places = [at for first, length in functions for at in range(first, first + length, 17)]
    commands = [word for at in places for word in ("-ex", f"info symbol {at:#x}")]
    named = subprocess.run([gdb, "-batch", "-nx", "-ex", "set print demangle off", *commands, program], capture_output=True, text=True, check=True).stdout
    wanted = [re.sub(r" in section .*", "", line) for line in named.splitlines()]
    lines = "".join(f"{at:#x}\n" for at in places)
    done = subprocess.run([stand_in_pairs.CALLSIGN, "eu-addr2line", "-S", "-e", program], input=lines, capture_output=True, text=True, check=True)
    found = [re.sub(r"\+0x([0-9a-f]+)$", lambda m: f" + {int(m[1], 16)}", line) for line in done.stdout.splitlines()[::2]]
    assert len(places) > 20 and found == wanted
