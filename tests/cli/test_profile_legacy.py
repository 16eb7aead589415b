"""Profiles that pprof read before profile.proto: what gperftools, jemalloc and Go write, read by us and by go tool pprof."""
import functools
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from programs import need
from profile_bytes import Pprof

SOURCE = """#include <stdlib.h>
static char *volatile keep[4096];
volatile unsigned long sink;
__attribute__((noinline)) static char *grab(int i, size_t n) { return keep[i & 4095] = malloc(n); }
static inline __attribute__((always_inline)) void fill(int i, size_t n) { grab(i, n)[0] = 1; }
__attribute__((noinline)) void large(int i) { fill(i, 3000); }
__attribute__((noinline)) void small(int i) { fill(i, 40 + i % 7); if (i % 3) { free(keep[i & 4095]); keep[i & 4095] = 0; } }
__attribute__((noinline)) void spin(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i * i; }
int main(void) {
    for (int i = 0; i < 20000; i++) { large(i); small(i + 1); }
    spin(300000000);
    return 0;
}
"""

GO = """package main
import ("os"; "runtime"; "runtime/pprof"; "sync"; "time")
var keep [][]byte
//go:noinline
func grab(n int) { keep = append(keep, make([]byte, n)) }
func main() {
    runtime.MemProfileRate = 512
    runtime.SetMutexProfileFraction(1)
    runtime.SetBlockProfileRate(1)
    for i := 0; i < 3000; i++ { grab(100 + i) }
    var lock sync.Mutex
    lock.Lock()
    done := make(chan bool)
    for i := 0; i < 3; i++ { go func() { lock.Lock(); time.Sleep(time.Millisecond); lock.Unlock(); done <- true }() }
    time.Sleep(5 * time.Millisecond)
    lock.Unlock()
    for i := 0; i < 3; i++ { <-done }
    runtime.GC()
    for _, name := range []string{"heap", "mutex", "block", "goroutine", "threadcreate"} {
        out, _ := os.Create(name)
        pprof.Lookup(name).WriteTo(out, 1)
        out.Close()
    }
}
"""

MAPS = "MAPPED_LIBRARIES:\n10000000-10002000 r-xp 00001000 08:01 123 /opt/app\n10002000-10003000 rw-p 00003000 08:01 123 /opt/app\n"
HEAP = "heap profile:      3:     4896 [     5:     9192] @ heap_v2/524288\n"
CPU_STACKS = [(3, [0x10000040, 0x10000041, 0x10000100]), (2, [0x10000050, 0x10000050, 0x10000100]), (1, [0x99])]


def cpu_profile(order="<", word="Q", stacks=CPU_STACKS, end=True):
    words = [0, 3, 0, 10000, 0]
    for count, addresses in stacks:
        words += [count, len(addresses), *addresses]
    words += [0, 1, 0] if end else []
    return struct.pack(f"{order}{len(words)}{word}", *words) + (MAPS.split("\n", 1)[1].encode() if end else b"")


@functools.cache
def find_pprof():
    """That of a Go which comes with it; newer ones compile theirs first, which takes 20 s."""
    known = [need("go"), "/usr/bin/go"]
    for go in filter(os.path.exists, known):
        tools = subprocess.run([go, "env", "GOTOOLDIR"], check=True, capture_output=True, text=True, env={**os.environ, "GOTOOLCHAIN": "local"}).stdout.strip()
        if os.path.exists(f"{tools}/pprof"):
            return [f"{tools}/pprof"]
    return [known[0], "tool", "pprof"]


def go_pprof(path):
    """(value types, [(values, label, addresses)], period type, period), as go tool pprof reads a profile. It takes
    one from addresses of 0, too, which Go fills stacks up with, and has sizes of 0, which profile.proto cannot hold."""
    text = subprocess.run([*find_pprof(), "-raw", "-symbolize=none", path], check=True, capture_output=True, text=True,
                          env={**os.environ, "GOTOOLCHAIN": "local"}).stdout
    head, rest = text.split("Samples:\n")
    samples, rest = rest.split("Locations\n")
    locations = dict(re.findall(r"^ +(\d+): (0x[0-9a-f]+)", rest.split("Mappings\n")[0], re.M))
    lines = samples.splitlines()
    found = []
    for line in lines[1:]:
        if row := re.match(r"((?: +-?\d+)+): *([\d ]*)$", line):
            found.append([tuple(map(int, row[1].split())), "", tuple(locations[i] for i in row[2].split() if locations[i] != "0x" + 16 * "f")])
        else:
            found[-1][1] = line.strip().replace("bytes:[0]", "")
    period = re.search(r"Period: (\d+)", head)
    return lines[0].replace("[dflt]", "").split(), sorted(map(tuple, found)), re.search(r"PeriodType: (.*)", head)[1], period and period[1]


def summed(profile):
    """gperftools writes a stack twice if others took its place in a table meanwhile."""
    types, samples, *rest = profile
    sums = {}
    for values, *stack in samples:
        sums[tuple(stack)] = tuple(map(sum, zip(values, sums.get(tuple(stack), [0] * len(values)))))
    return types, sorted((values, *stack) for stack, values in sums.items()), *rest


def check(callsign, path, out):
    """Ours, written as pprof, against the original, both read by go tool pprof."""
    callsign.good("profile", path, "-o", out, "-q", "--no-search")
    ours, theirs = go_pprof(out), go_pprof(path)
    assert summed(ours) == summed(theirs)
    return ours


def read(callsign, tmp_path, text, *options, name="in"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    callsign.good("profile", path, "-o", tmp_path / "out.pb", "-q", "--no-search", *options)
    return Pprof((tmp_path / "out.pb").read_bytes())


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("legacy")
    (folder / "app.c").write_text(SOURCE)
    subprocess.run([need("gcc"), "-g", "-O2", "app.c", "-o", "app"], cwd=folder, check=True)
    return folder / "app"


def library(name):
    known = subprocess.run([shutil.which("ldconfig") or "/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    found = re.search(rf"^\s*{re.escape(name)} .*=> (.*)$", known, re.M)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found[1]


# ---- what real programs write ----

def names_of(callsign, path, tmp_path):
    callsign.good("profile", path, "-o", tmp_path / "x.folded", "-q", "--offline", "--no-cache")
    return (tmp_path / "x.folded").read_text()


@pytest.mark.long_with_sanitizers
def test_gperftools_heap(callsign, program, tmp_path):
    subprocess.run([program], env={"LD_PRELOAD": library("libtcmalloc.so.4"), "HEAPPROFILE": str(tmp_path / "hp")}, check=True, stderr=subprocess.DEVNULL)
    heap = tmp_path / "hp.0001.heap"
    types, samples, *_ = check(callsign, heap, tmp_path / "out.pb")
    assert types[-1] == "inuse_space/bytes" and any(values[:2] == (20000, 60000000) for values, *_ in samples)
    folded = names_of(callsign, heap, tmp_path)
    assert ";main;large;fill;grab " in folded or ";main;large;fill " in folded, folded


@pytest.mark.long_with_sanitizers
def test_gperftools_cpu(callsign, program, tmp_path):
    subprocess.run([program], env={"LD_PRELOAD": library("libprofiler.so.0"), "CPUPROFILE": str(tmp_path / "cpu"), "CPUPROFILE_FREQUENCY": "500"},
                   check=True, stderr=subprocess.DEVNULL)
    types, samples, *_ = check(callsign, tmp_path / "cpu", tmp_path / "out.pb")
    assert types == ["samples/count", "cpu/nanoseconds"] and samples
    assert all(cpu == count * 2000000 for (count, cpu), *_ in samples)
    assert ";main;spin " in names_of(callsign, tmp_path / "cpu", tmp_path)


def test_jemalloc(callsign, program, tmp_path):
    done = subprocess.run([program], env={"LD_PRELOAD": library("libjemalloc.so.2"),
                                          "MALLOC_CONF": f"prof:true,lg_prof_sample:10,prof_final:true,prof_accum:true,prof_prefix:{tmp_path}/j"},
                          check=True, capture_output=True, text=True)
    heaps = list(tmp_path.glob("j*.heap"))
    if not heaps:
        pytest.skip(f"this jemalloc does not profile: {done.stderr[:100]}")
    read(callsign, tmp_path, heaps[0].read_bytes())
    folded = names_of(callsign, heaps[0], tmp_path)
    spaces = {line.rsplit(" ", 1)[0].split(";")[-3:][0]: int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()}
    assert any(";main;large;" in line for line in folded.splitlines()), folded
    large = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines() if ";main;large;" in line)
    assert 50e6 < large < 72e6, spaces  # 20,000 of 3,072 bytes, as they were sampled


@pytest.fixture(scope="module")
def go_profiles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("go")
    (folder / "main.go").write_text(GO)
    subprocess.run([need("go"), "run", "main.go"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("name", ["heap", "mutex", "block", "goroutine", "threadcreate"])
def test_go(callsign, go_profiles, tmp_path, name):
    text = (go_profiles / name).read_text()
    if not re.search("^[0-9].*0x[1-9a-f]", text, re.M): # threads have no stacks, or zeros; pprof of Go 1.19 reads neither
        assert all(locations == [] for locations, *_ in read(callsign, tmp_path, text).samples)
        return
    types, samples, *_ = check(callsign, go_profiles / name, tmp_path / "out.pb")
    assert samples and types[0] == {"heap": "alloc_objects/count", "mutex": "contentions/count", "block": "contentions/count"}.get(name, f"{name}/count")
    if name in ("mutex", "block", "goroutine"):
        assert "main.main" in text
        profile = Pprof((tmp_path / "out.pb").read_bytes())
        lines = {line[:2] for location in profile.locations.values() for line in location["lines"]}
        assert any(function == "main.main" and file.endswith("main.go") for function, file in lines), lines


# ---- by hand ----

def values_of(profile):
    return [list(values) for _, values, _ in profile.samples]


def test_heap_text(callsign, tmp_path):
    """Scaled by the chance of one byte in 524,288; addresses are those of the calls, and the values in use come last."""
    profile = read(callsign, tmp_path, HEAP + "  2: 896 [3: 5192] @ 0x10000041 0x10000066\n1: 4000 [2: 4000] @ 0x10000041\n\n" + MAPS)
    factor = 1 / (1 - math.exp(-448 / 524288)), 1 / (1 - math.exp(-5192 / 3 / 524288))
    assert values_of(profile)[0] == [int(3 * factor[1]), int(5192 * factor[1]), int(2 * factor[0]), int(896 * factor[0])]
    assert sorted(location["address"] for location in profile.locations.values()) == [0x10000040, 0x10000065]


@pytest.mark.parametrize("head, factor", [("heapprofile", 1), ("growthz", 1), ("heap_v2/1", 1), ("heap_v2/0", 1), ("heap_v2", 1), ("heap/2000", None), ("heapz_v2/1000", None)])
def test_how_a_heap_was_sampled(callsign, tmp_path, head, factor):
    profile = read(callsign, tmp_path, f"heap profile: 1: 1000 [1: 1000] @ {head}\n1: 1000 [1: 1000] @ 0x10000041\n{MAPS}")
    factor = factor or 1 / (1 - math.exp(-1))
    assert values_of(profile) == [[int(factor), int(1000 * factor)]]


@pytest.mark.parametrize("order, word", ["<Q", "<I", ">Q", ">I"])
def test_words_of_a_cpu_profile(callsign, tmp_path, order, word):
    profile = read(callsign, tmp_path, cpu_profile(order, word))
    assert sorted(values_of(profile)) == [[1, 10**7], [2, 2 * 10**7], [3, 3 * 10**7]]
    by_count = {values[0]: [location["address"] for location in locations] for locations, values, _ in profile.samples}
    # the interrupted address stands twice in the second
    assert by_count == {3: [0x10000040, 0x10000040, 0x100000ff], 2: [0x10000050, 0x100000ff], 1: [0x99]}


def test_gzip_and_force(callsign, tmp_path):
    text = HEAP + "1: 4000 [2: 4000] @ 0x10000041\n" + MAPS
    plain = values_of(read(callsign, tmp_path, text, "--from", "legacy"))
    packed = subprocess.run(["gzip", "-c"], input=text.encode(), check=True, capture_output=True).stdout
    assert values_of(read(callsign, tmp_path, packed)) == plain and len(plain) == 1
    (tmp_path / "in").write_text("main;f 3\n")
    assert "line 1 is not the head of a heap, lock or count profile" in callsign.bad("profile", "--from", "legacy", tmp_path / "in", "-o", tmp_path / "x.pb", "-q")
    assert "no output format 'legacy'" in callsign.bad("profile", tmp_path / "in", "--to", "legacy", "-o", tmp_path / "x", "-q")


def test_names_of_go(callsign, tmp_path):
    """Calls inlined into each other share an address; a line without one is no name."""
    profile = read(callsign, tmp_path, "goroutine profile: total 3\n2 @ 0x480d65 0x4d9c3d\n#\t0x480d64\tmain.inner+0x164\t\t/src/a.go:363\n"
                   "#\t0x480d64\tmain.(*T).outer+0x164\t/src/a.go:12\n#\t0x4d9c3c\tmain.main+0x1c\t/src/b b.go:5\n#\tlabels: {}\n\n1 @ 0x4d9c3d 0x480d65\n")
    assert sorted(values_of(profile)) == [[1], [2]]
    lines = {location["address"]: [line[:3] for line in location["lines"]] for location in profile.locations.values()}
    assert lines == {0x480d64: [("main.inner", "/src/a.go", 363), ("main.(*T).outer", "/src/a.go", 12)], 0x4d9c3c: [("main.main", "/src/b b.go", 5)]}


@pytest.mark.parametrize("text, why", [
    (HEAP + "1: 2 3 @ 0x1\n", "line 2 is '1: 2 3 @ 0x1', need OBJECTS: BYTES [OBJECTS: BYTES] @ and addresses"),
    (HEAP + "\n1: 2 [1: 2] @ 0x1 zz\n", "line 3 is '1: 2 [1: 2] @ 0x1 zz', need addresses such as 0x401136 after @"),
    (HEAP + "1: 2 [1: 2] @ 0x12345678123456781\n", "line 2 is"),
    (HEAP + "1: 99999999999999999999 [1: 2] @ 0x1\n", "line 2 is"),
    ("heap_v2/524288\nx\n", "line 2 is 'x', need a stack or the values of a thread"),
    ("heap_v2/524288\n@ 0x1\n t*: 1: x\n", "line 3 is"),
    ("--- contention:\ncycles/second=x\n", "line 2 is 'cycles/second=x', need CYCLES TIMES @ and addresses"),
    ("goroutine profile: total 1\n1 0x1\n", "line 2 is '1 0x1', need @ and addresses after the values"),
    (cpu_profile()[:100], "a stack of"), (cpu_profile(end=False)[:-4], "CPU profile")])
def test_damage(callsign, tmp_path, text, why):
    path = tmp_path / "in"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    message = callsign.bad("profile", path, "-o", tmp_path / "out.pb", "-q", "--no-search")
    assert message.startswith(f"callsign: {path}: ") and why in message, message
    assert not pathlib.Path(tmp_path / "out.pb").exists()


@pytest.mark.parametrize("text", [HEAP.encode() + b"1: 4000 [2: 4000] @ 0x10000041\n" + MAPS.encode(), cpu_profile(), cpu_profile(">", "I"),
                                  b"heap_v2/524288\n  t*: 2: 8 [0: 0]\n@ 0x10000041 0x10000066\n  t*: 1: 4 [0: 0]\n  t0: 1: 4 [0: 0]\n" + MAPS.encode()])
def test_cut_anywhere(callsign, tmp_path, text):
    for size in range(0, len(text), 3):
        (tmp_path / "in").write_bytes(text[:size])
        assert callsign.run("profile", "--from", "legacy", tmp_path / "in", "-o", tmp_path / "out.pb", "-q", "--no-search").returncode in (0, 1, 2)
