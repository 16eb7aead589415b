"""lookup: addresses of processes, ranges, file offsets, symbols, return addresses."""
import json
import os
import re
import subprocess

import pytest

import gsym_make
from programs import need

SOURCE = """
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static inline __attribute__((always_inline)) int twice(int x) {
    volatile int y = x;
    return y + y;
}
__attribute__((noinline)) int work(int x) {
    int sum = twice(x);
    sum += puts("calling");
    return sum;
}
__attribute__((noinline)) static int same(int x) { return work(x) + 1; }
int main(int count, char **words) {
    (void)words;
    printf("%p\\n", (void *)work);
    fflush(stdout);
    pause();
    return same(count);
}
"""


class Program:
    def __init__(self, folder, pie):
        self.path = folder / "prog"
        (folder / "prog.c").write_text(SOURCE)
        subprocess.run([need("gcc"), "-g", "-O1", "-pie" if pie else "-no-pie", "-fPIE" if pie else "-fno-pie", "-o", self.path,
                        folder / "prog.c"], check=True)
        self.symbols = {}
        for line in subprocess.run([need("nm"), self.path], capture_output=True, text=True, check=True).stdout.splitlines():
            *addr, _, name = line.split()
            if addr:
                self.symbols[name] = int(addr[0], 16)
        headers = subprocess.run([need("readelf"), "-lW", self.path], capture_output=True, text=True, check=True).stdout
        self.loads = [[int(word, 16) for word in line.split()[1:5]] for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
        self.base = self.loads[0][1]

    def file_offset(self, addr):
        for off, start, _, size in self.loads:
            if start <= addr < start + size:
                return addr - start + off
        raise ValueError(addr)


@pytest.fixture(scope="module", params=["pie", "no-pie"])
def prog(tmp_path_factory, request):
    return Program(tmp_path_factory.mktemp(request.param), request.param == "pie")


@pytest.fixture(scope="module")
def index(prog, callsign):
    path = prog.path.with_suffix(".gsym")
    callsign.good("convert", prog.path, "-o", path, "--quiet")
    return path


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def frames(callsign, *args, **more):
    return [answer["frames"] for answer in objects(callsign.good("lookup", "--json", *args, **more))]


@pytest.mark.parametrize("what", ["object", "index"])
def test_an_image_at_another_place(prog, index, callsign, what):
    target = prog.path if what == "object" else index
    addr = prog.symbols["work"] + 4
    want = frames(callsign, index, hex(addr))
    load = 0x7F1234560000 if prog.base == 0 else prog.base
    slide = load - prog.base
    for options in (["--load-address", hex(load)], ["--slide", hex(slide)]):
        (answer,) = objects(callsign.good("lookup", "--json", *options, target, hex(addr + slide)))
        assert answer["frames"] == want[0] and answer["address"] == hex(addr + slide)
        assert callsign.good("lookup", "--json", *options, target, stdin=f"{addr + slide:#x}\n") == json.dumps(answer, separators=(",", ":")) + "\n"
    (answer,) = objects(callsign.good("lookup", "--json", "--slide", "-0x10", target, hex(addr - 16)))
    assert answer["frames"] == want[0]


@pytest.mark.parametrize("base, first, linked_at", [(0x400000, 0x401000, 0x400000), (0, 0x401000, 0), (0x26080, 0x26080, 0), (0x140001000, 0x140001000, 0x140000000),
                                                  (0x140011000, 0x140011000, 0x140000000), (0x7ff600011000, 0x7ff600011000, 0x7ff600010000)])
def test_an_index_at_another_place(callsign, tmp_path, base, first, linked_at):
    """Its base is the image's, unless it begins with a function."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": first, "size": 4, "name": "first"}, {"start": first + 0x100, "size": 0x40, "name": "f"}], base=base)
    address = 0x10000000 + first + 0x104 - linked_at
    assert "f + 4" in callsign.good("lookup", "--load-address", "0x10000000", tmp_path / "app.gsym", hex(address))


@pytest.mark.parametrize("kind", ["bsym", "nm", "gsym-section"])
@pytest.mark.parametrize("base, first", [(0x400000, 0x401000), (0x10000000, 0x10001000), (0x140000000, 0x140001000), (0x10000, 0x10400), (0, 0x26080), (0, 0x1020)])
def test_an_index_without_the_image_at_another_place(callsign, tmp_path, kind, base, first):
    """The first function tells where linkers put such an image, as it does for offsets in logs."""
    if kind == "nm":
        (tmp_path / "app").write_text(f"{first:016x} T first\n{first + 0x100:016x} T f\n{first + 0x140:016x} T g\n")
    else:
        gsym_make.write(tmp_path / "app.gsym", [{"start": first, "size": 4, "name": "first"}, {"start": first + 0x100, "size": 0x40, "name": "f"}], base=base)
        callsign.good("convert", "-q", "--to", kind, tmp_path / "app.gsym", "-o", tmp_path / "app")
    address = 0x7ffa00000000 + first + 0x104 - base
    assert "f + 4" in callsign.good("lookup", "--load-address", "0x7ffa00000000", tmp_path / "app", hex(address))


def test_offsets_beyond_a_part(callsign, tmp_path):
    """Of several functions of a name, those that hold the offset; if none does, what is behind each."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 64, "name": "f"}, {"start": 0x1040, "size": 2, "name": "f"},
                                            {"start": 0x1042, "size": 64, "name": "g"}])
    assert callsign.good("lookup", tmp_path / "app.gsym", "f+0x3").startswith("0x1003: f + 3 ")
    assert "g" not in callsign.good("lookup", tmp_path / "app.gsym", "f+0x3").replace("app.gsym", "")
    assert callsign.good("lookup", tmp_path / "app.gsym", "f+0x1").count(": f + 1 ") == 2
    assert callsign.run("lookup", tmp_path / "app.gsym", "f+0x42").stdout.startswith("0x1042: g + 0 ")


def test_return_addresses(prog, index, callsign):
    """The address after the call of work() in same(), whose line is that of the call."""
    code = subprocess.run([need("objdump"), "-d", prog.path], capture_output=True, text=True, check=True).stdout
    match = re.search(r"call\s.*<work>\n\s*([0-9a-f]+):", code)
    addr = int(match.group(1), 16)
    (plain,) = frames(callsign, index, hex(addr - 1))
    (answer,) = objects(callsign.good("lookup", "--json", "--return-addresses", index, hex(addr)))
    assert answer["address"] == hex(addr)
    assert [(f["function"], f["file"], f["line"]) for f in answer["frames"]] == [(f["function"], f["file"], f["line"]) for f in plain]
    assert [f["offset"] for f in answer["frames"]] == [f["offset"] + 1 for f in plain]


def test_file_offsets(prog, index, callsign):
    addr = prog.symbols["work"] + 4
    off = prog.file_offset(addr)
    assert frames(callsign, prog.path, f"file:{off:#x}") == frames(callsign, index, hex(addr))
    assert "file offset" in callsign.run("lookup", index, f"file:{off:#x}").stderr
    assert callsign.run("lookup", prog.path, "file:0xffffffff").returncode == 2


def test_symbols(prog, index, callsign):
    for name in ("work", "main"):
        assert frames(callsign, index, f"{name}+0x3") == frames(callsign, index, hex(prog.symbols[name] + 3))
    assert frames(callsign, index, stdin="work+0x3\n") == frames(callsign, index, hex(prog.symbols["work"] + 3))
    assert "nor an offset within 64 bits from a function" in callsign.bad("lookup", index, "nobody+0x3")


DEMANGLED = [
    # stored, as logs have it
    ("_ZN2ns1fEi", ["ns::f(int)", "ns::f"]),
    ("_ZN2ns1fEPKc", ["ns::f(char const*)", "ns::f"]),
    ("_ZN2ns1tISt6vectorIiSaIiEEEET_S4_", ["std::vector<int, std::allocator<int>> ns::t<std::vector<int, std::allocator<int>>>(std::vector<int, std::allocator<int>>)",
                                           "ns::t<std::vector<int, std::allocator<int> > >(std::vector<int, std::allocator<int> >)", "ns::t"]),
    ("_ZN2nsplERKNS_1AES2_", ["ns::operator+(ns::A const&, ns::A const&)", "ns::operator+"]),
    ("_ZN12_GLOBAL__N_11gEv", ["(anonymous namespace)::g()"]),
    ("_Z1hIiEDcT_", ["decltype(auto) h<int>(int)", "h<int>(int)"]),
    ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", ["core::fmt::Formatter::pad"]),
    ("_RNCNvC1a3run0B3_", ["a::run::{closure#0}"]),
    ("_RNvC1au8gdel_5qa", ["a::g\u00f6del"]),
    ("$s7MyStuff03getaB0yyF", ["MyStuff.getMyStuff() -> ()"]),
    ("plain_c", ["plain_c"]),
    ("_Z1qIcEPFilET_", ["int (*q<char>(char))(long)", "q"]),
    ("_ZN12_GLOBAL__N_12ggIiEEiT_", ["int (anonymous namespace)::gg<int>(int)", "(anonymous namespace)::gg"]),
    ("_ZN2nslsENS_1AEi", ["ns::operator<<(ns::A, int)", "ns::operator<<"]),
    ("_ZN2nsltENS_1AES0_", ["ns::operator<(ns::A, ns::A)"]),
    ("_ZNK2ns1AclEv", ["ns::A::operator()() const", "ns::A::operator()"]),
    ("_ZN2ns1AptEv", ["ns::A::operator->()"]),
    ("_ZZN2ns1oEvENKUliE_clEi", ["ns::o()::'lambda'(int)::operator()(int) const"]),
    ("?f@ns@@YAHH@Z", ["int __cdecl ns::f(int)", "ns::f(int)"]),
]


def test_demangled_symbols(callsign, tmp_path):
    """Names as logs have them were not found: only stored ones. Each stands for all functions that `find` has for it."""
    path = tmp_path / "names.gsym"
    gsym_make.write(path, [{"start": 0x1000 + 0x100 * k, "size": 0x100, "name": name, "line": k + 1} for k, (name, _) in enumerate(DEMANGLED)])
    queries = sorted({text for stored, texts in DEMANGLED for text in (stored, *texts)})
    want = []
    for query in queries:
        starts = [0x1000 + 0x100 * k for k, (stored, texts) in enumerate(DEMANGLED) if query in (stored, *texts)]
        if query in ("ns::f", "ns::f(int)"):  # of Microsoft's mangling, too
            starts = sorted({*starts, 0x1000 + 0x100 * (len(DEMANGLED) - 1)})
        want += [hex(start + 0x10) for start in starts]
    # twice: from some name on there is a table of words
    shown = objects(callsign.good("lookup", "--json", path, stdin="".join(f"{query}+0x10\n" for query in queries + queries)))
    assert [answer.get("address", answer) for answer in shown] == want + want
    some = objects(callsign.good("lookup", "--json", path, "ns::f(char const*) + 0x10", "ns::operator+(ns::A const&, ns::A const&)+0x10"))
    assert [answer["address"] for answer in some] == ["0x1110", "0x1310"]
    for query in queries:
        if "*" not in query:
            assert [m["address"] for m in objects(callsign.good("find", "--json", path, query))[0]["matches"]], query
    assert callsign.run("lookup", path, "ns::f(long)+0x10").returncode == 2
    misses = objects(callsign.run("lookup", "--json", path, stdin="".join(f"{query}x+0x10\n" for query in queries)).stdout)
    assert len(misses) == len(queries) and all("error" in answer for answer in misses)


def test_ranges(prog, index, callsign):
    """Every row of a function, and no other."""
    dump = objects(callsign.good("dump", "--json", index))
    function = next(line["function"] for line in dump if line.get("function", {}).get("name") == "work")
    start, end = int(function["start"], 16), int(function["start"], 16) + function["size"]
    answers = objects(callsign.good("lookup", "--json", index, f"{start:#x}-{end:#x}"))
    addrs = [int(answer["address"], 16) for answer in answers]
    assert addrs == sorted(set(addrs)) and addrs[0] == start and addrs[-1] < end
    rows = {int(row["address"], 16) for row in function["lines"]}
    assert {addr for addr in rows if start <= addr < end} <= set(addrs)
    for addr, answer in zip(addrs, answers):
        assert [answer["frames"]] == frames(callsign, index, hex(addr))
    # what lies between two of them has the frames of the first
    for addr, after in zip(addrs, addrs[1:] + [end]):
        first, last = frames(callsign, index, hex(addr), hex(after - 1))
        assert [(f["function"], f.get("line")) for f in first] == [(f["function"], f.get("line")) for f in last]
    assert any(len(answer["frames"]) == 2 for answer in answers)
    assert callsign.run("lookup", index, "1-2").returncode == 1
    assert callsign.run("lookup", index, "2-1").returncode == 2


def test_ranges_that_begin_before_the_image(prog, index, callsign):
    """The addresses before it wrapped around, and nothing was found."""
    want = objects(callsign.good("lookup", "--json", index, "0-ffffffffffffffff"))
    assert len(want) > 10
    for slide in (0x1000, -0x40, 0x7f0000000000):
        shown = objects(callsign.good("lookup", "--json", f"--slide={slide:#x}", index, "0-ffffffffffffffff"))
        assert [(int(a["address"], 16) - slide, a["frames"]) for a in shown] == [(int(a["address"], 16), a["frames"]) for a in want]


def test_ranges_of_functions_within_functions(callsign, tmp_path):
    """The last step of the outer one hid the inner ones."""
    gsym_make.write(tmp_path / "within.gsym", [
        {"start": 0x1000, "size": 0x100, "name": "outer", "line": 1, "inlined": [{"offset": 0xa0, "size": 0x10, "name": "called", "call_line": 5}]},
        {"start": 0x1050, "size": 0x10, "name": "first", "line": 10}, {"start": 0x1080, "size": 0x10, "name": "second", "line": 20},
        {"start": 0x1100, "size": 0x10, "name": "last", "line": 30}])
    answers = objects(callsign.good("lookup", "--json", tmp_path / "within.gsym", "1000-2000"))
    assert [(a["address"], a["frames"][0]["function"]) for a in answers] == [
        ("0x1000", "outer"), ("0x1050", "first"), ("0x1080", "second"), ("0x1100", "last")]


def test_all_functions_of_a_name(callsign, tmp_path):
    """Static functions of many files: no more than 64 were answered."""
    gsym_make.write(tmp_path / "many.gsym", [{"start": 0x1000 + 16 * k, "size": 16, "name": "same", "line": k + 1} for k in range(150)])
    answers = objects(callsign.good("lookup", "--json", tmp_path / "many.gsym", "same+0x4"))
    assert [(int(a["address"], 16), a["frames"][0]["line"]) for a in answers] == [(0x1004 + 16 * k, k + 1) for k in range(150)]


@pytest.fixture
def process(prog):
    job = subprocess.Popen([prog.path], stdout=subprocess.PIPE, text=True)
    job.work = int(job.stdout.readline(), 16)
    yield job
    job.kill()
    job.wait()


@pytest.mark.parametrize("way", ["pid", "maps"])
def test_a_process(prog, index, callsign, process, tmp_path, way):
    maps = tmp_path / "maps"
    with open(f"/proc/{process.pid}/maps", encoding="ascii") as live:
        maps.write_text(live.read())
    option = ["--pid", str(process.pid)] if way == "pid" else ["--maps", maps]
    want = frames(callsign, index, hex(prog.symbols["work"]))
    (answer,) = objects(callsign.good("lookup", "--json", *option, hex(process.work)))
    assert [answer["frames"]] == want
    assert answer["module"] == str(prog.path) and answer["image_address"] == hex(prog.symbols["work"])
    text = callsign.good("lookup", *option, stdin=f"{process.work:#x}\n")
    assert text.startswith(f"{process.work:#x}: work + 0 at ")
    done = callsign.run("lookup", *option, "0x10")
    assert done.returncode == 1 and "no module covers the address" in done.stdout
    answers = objects(callsign.good("lookup", "--json", *option, f"{process.work:#x}-{process.work + 8:#x}"))
    assert answers and all(answer["frames"][-1]["function"] == "work" for answer in answers)


def test_a_module_without_symbols(callsign, tmp_path):
    """Of a process, addresses need no advice about load addresses."""
    (tmp_path / "maps").write_text("7f0000000000-7f0000001000 r-xp 00000000 08:01 12 /nowhere/lib.so\n")
    done = callsign.run("lookup", "--maps", tmp_path / "maps", "--offline", "--no-cache", "0x7f0000000010")
    assert done.returncode == 1 and "there is no index for the module" in done.stdout
    assert "subtract" not in done.stderr


@pytest.mark.parametrize("args, message", [
    (["--pid", "1", "--maps", "x", "10"], "exclude each other"),
    (["--load-address", "1", "--slide", "1", "x", "10"], "exclude each other"),
    (["--slide", "1", "--pid", "1", "10"], "needs an INDEX"),
    (["--pid", "x", "10"], "needs a number"),
    (["--pid", "4194305", "10"], "No such file"),
    (["--maps", os.devnull, "10"], "not a regular file")])
def test_bad_command_lines(callsign, args, message):
    assert message in callsign.bad("lookup", *args)


def test_bad_numbers(callsign, index):
    assert "hexadecimal" in callsign.bad("lookup", "--slide", "zz", index, "10")
    assert "hexadecimal" in callsign.bad("lookup", "--load-address", "", index, "10")


def test_a_core_dump(prog, index, callsign, process, tmp_path):
    """gdb's generate-core-file; the images' first pages have the build ids."""
    gdb = need("gdb")
    core = tmp_path / "core"
    done = subprocess.run([gdb, "-nx", "-batch", "-p", str(process.pid), "-ex", f"generate-core-file {core}"], capture_output=True, text=True)
    if not core.exists():
        pytest.skip("gdb may not attach here")
    want = frames(callsign, index, hex(prog.symbols["work"]))
    (answer,) = objects(callsign.good("lookup", "--json", "--maps", core, hex(process.work)))
    assert [answer["frames"]] == want and answer["module"] == str(prog.path), done.stdout


@pytest.mark.parametrize("build_id", ["sha1", "none"])
def test_a_core_dump_of_another_build(prog, callsign, process, tmp_path, build_id):
    """The program was rebuilt meanwhile: the dump's build id is not that of the file, or else its headers are not."""
    gdb = need("gdb")
    core, copy, kept = tmp_path / "core", tmp_path / "copy", tmp_path / "kept"
    compiled = [need("gcc"), "-g", f"-Wl,--build-id={build_id}", prog.path.with_suffix(".c"), "-o"]
    subprocess.run([*compiled, copy, "-O1"], check=True)
    kept.write_bytes(copy.read_bytes())
    job = subprocess.Popen([copy], stdout=subprocess.PIPE, text=True)
    work = int(job.stdout.readline(), 16)
    subprocess.run([gdb, "-nx", "-batch", "-p", str(job.pid), "-ex", f"generate-core-file {core}"], capture_output=True)
    job.kill()
    job.wait()
    if not core.exists():
        pytest.skip("gdb may not attach here")
    assert "work + 0" in callsign.good("lookup", "--maps", core, hex(work), "--no-cache")
    copy.unlink()
    subprocess.run([*compiled, copy, "-O2"], check=True)
    cache = ["--cache-dir", tmp_path / "cache"]
    callsign.good("cache", "add", kept, *cache)
    if build_id != "none": assert "work + 0" in callsign.good("lookup", "--maps", core, hex(work), *cache)
    done = callsign.run("lookup", "--maps", core, hex(work), "--no-cache")
    if build_id == "none":
        copy.rename(tmp_path / "away")
        done = callsign.run("lookup", "--maps", core, hex(work), "--no-cache")
        assert done.returncode == 1 and "headers" not in done.stderr and "no index" in done.stdout
        (tmp_path / "away").rename(copy)
        done = callsign.run("lookup", "--maps", core, hex(work), "--no-cache")
    reason = "build id" if build_id != "none" else f"{copy}: this is not the file in the core dump, whose headers differ"
    assert done.returncode == 1 and reason in done.stderr and "no index" in done.stdout
