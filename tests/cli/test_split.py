"""Split DWARF of real compilers: the same answers at every byte of code as with the debug information in the program, from .dwo
files, from packages, and what is left without either."""
import json
import re
import shutil
import subprocess

import pytest

import dwp_pack
from programs import need

SHAPES = r"""
namespace ns {
struct Shape {
    int w, h;
    virtual ~Shape();
    virtual int area() const;
    struct Inner { int v; int get() const { return v > 3 ? v * 2 : v + 7; } } in;
    template <class T> T scale(T t) const { return t * w + h; }
};
inline int clamp(int a, int low, int high) { return a < low ? low : a > high ? high : a; }
namespace { inline int hidden(int x) { return clamp(x, 2, 90) * 3; } }
}
int helper(int);
"""
MAIN = r"""
#include "shapes.h"
namespace ns {
Shape::~Shape() {}
int Shape::area() const { return clamp(w * h, 0, 1000) + in.get(); }
static __attribute__((noinline)) int local(int v) { auto l = [v](int q) { return clamp(q + v, 1, 50); }; return l(v) + hidden(v); }
}
struct Local { int f(int z) { struct Nest { static int g(int y) { return y * 5 + 1; } }; return Nest::g(z) + ns::local(z); } };
int main(int argc, char **) {
    ns::Shape s;
    s.w = argc; s.h = 3; s.in.v = argc;
    Local l;
    return s.area() + (int)s.scale(2.5) + helper(argc) + l.f(argc);
}
"""
HELPER = r"""
#include "shapes.h"
int helper(int k) {
    ns::Shape s;
    s.w = s.h = k;
    s.in.v = 1;
    int r = s.scale(k);
    for (int i = 0; i < k; i++) r += ns::hidden(r + i);
    return r;
}
"""
COMPILERS = ("g++", "clang++-22")
FLAGS = ("-gdwarf-4 -O0", "-gdwarf-4 -O2 -ffunction-sections", "-gdwarf-4 -O2 -fdebug-types-section", "-gdwarf-5 -O0",
         "-gdwarf-5 -O2 -ffunction-sections", "-gdwarf-5 -O2 -fdebug-types-section")


def compile_in(folder, compiler, flags):
    """The program and its objects in `folder`, from sources beside it."""
    need(compiler)
    source = folder.parent
    (source / "shapes.h").write_text(SHAPES)
    (source / "main.cc").write_text(MAIN)
    (source / "helper.cc").write_text(HELPER)
    folder.mkdir()
    for name in ("main", "helper"):
        subprocess.run([compiler, *flags.split(), "-c", source / f"{name}.cc", "-o", f"{name}.o"], cwd=folder, check=True)
    subprocess.run([compiler, *flags.split(), "main.o", "helper.o", "-o", "prog"], cwd=folder, check=True)
    return folder / "prog"


def text_addresses(program):
    out = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    start, size = re.search(r" \.text +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", out).groups()
    return range(int(start, 16), int(start, 16) + int(size, 16))


def answers(callsign, index, addresses):
    done = callsign.run("lookup", "--json", index, stdin="".join(f"{a:#x}\n" for a in addresses))
    lines = done.stdout.splitlines()
    assert len(lines) == len(addresses), done.stderr
    return lines


class Pair:
    """A program with and one without split DWARF, of the same code."""

    def __init__(self, callsign, tmp_path, compiler, flags):
        self.callsign, self.folder = callsign, tmp_path
        self.plain = compile_in(tmp_path / "plain", compiler, flags)
        self.split = compile_in(tmp_path / "split", compiler, flags + " -gsplit-dwarf")
        self.addresses = text_addresses(self.plain)
        assert text_addresses(self.split) == self.addresses
        self.wanted = self.answers_of(self.plain)

    def answers_of(self, program, *options, code=0):
        index = self.folder / "index.gsym"
        done = self.callsign.run("convert", "--quiet", *options, program, "-o", index)
        assert done.returncode == code, done.stderr
        return answers(self.callsign, index, self.addresses)

    def without_dwo(self):
        """The split program alone, where its .dwo files are not found."""
        (self.folder / "split").rename(self.folder / "elsewhere")
        (self.folder / "alone").mkdir()
        return shutil.copy(self.folder / "elsewhere" / "prog", self.folder / "alone")


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_answers_are_those_of_plain_dwarf(callsign, tmp_path, compiler, flags):
    pair = Pair(callsign, tmp_path, compiler, flags)
    assert any('"inlined":true' in line for line in pair.wanted) == ("-O2" in flags)
    if compiler == "g++": # Clang gives every function a linkage name
        assert any("ns::" in line or "_ZN2ns" in line for line in pair.wanted)
    assert pair.answers_of(pair.split) == pair.wanted


# Of version 5, llvm-dwp does not come to an end with what g++ writes, and binutils' dwp fails.
PACKED = [(compiler, flags, packer) for compiler in COMPILERS for flags in FLAGS[1:3] for packer in ("llvm-dwp-22", "dwp")]
PACKED += [("g++", flags, "ours") for flags in FLAGS[3:]] + [("clang++-22", flags, "llvm-dwp-22") for flags in FLAGS[3:]]


@pytest.mark.parametrize("compiler, flags, packer", PACKED)
def test_packages(callsign, tmp_path, compiler, flags, packer):
    pair = Pair(callsign, tmp_path, compiler, flags)
    package = tmp_path / "package.dwp"
    if packer == "ours":
        dwp_pack.pack([tmp_path / "split" / "main.dwo", tmp_path / "split" / "helper.dwo"], package)
    else:
        need(packer)
        subprocess.run([packer, "-e", "prog", "-o", package], cwd=tmp_path / "split", check=True, timeout=60)
    program = pair.without_dwo()
    assert pair.answers_of(program, "--dwp", package) == pair.wanted
    shutil.copy(package, tmp_path / "alone" / "prog.dwp")
    assert pair.answers_of(program) == pair.wanted


def test_the_page_of_stats_replaces_no_split_file(callsign, tmp_path):
    """It did, with exit status 0."""
    Pair(callsign, tmp_path, "g++", "-gdwarf-5 -O2")
    split = tmp_path / "split"
    unit, before = split / "main.dwo", (split / "main.dwo").read_bytes()
    (split / "link.html").symlink_to(unit)
    for page in unit, split / "link.html":
        message = callsign.bad("stats", split / "prog", "--html", page)
        assert message.endswith("main.dwo, which would be overwritten; choose another output")
        assert unit.read_bytes() == before
    (split / "prog.dwp").write_text("not read, but named")
    assert "is the file of --dwp; choose another file with --html" in callsign.bad(
        "stats", split / "prog", "--dwp", split / "prog.dwp", "--html", split / "prog.dwp")
    callsign.good("stats", split / "prog", "--html", split / "page.html")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_files_in_a_folder_that_the_user_names(callsign, tmp_path, compiler):
    pair = Pair(callsign, tmp_path, compiler, "-gdwarf-5 -O2")
    program, other = pair.without_dwo(), tmp_path / "other"
    other.mkdir()
    (tmp_path / "elsewhere" / "helper.dwo").rename(other / "helper.dwo")
    # a file of another build there is passed over
    shutil.copy(other / "helper.dwo", other / "main.dwo")
    assert pair.answers_of(program, "--dwo-dir", other, "--dwo-dir", tmp_path / "elsewhere") == pair.wanted


@pytest.mark.parametrize("flags", ("-gdwarf-4 -O0", "-gdwarf-5 -O2"))
@pytest.mark.parametrize("compiler", COMPILERS)
def test_without_dwo_files(callsign, tmp_path, compiler, flags):
    """Functions by their symbols, lines by the skeletons' line tables; exit status 1, and the report names the first file."""
    pair = Pair(callsign, tmp_path, compiler, flags)
    program, report = pair.without_dwo(), tmp_path / "report.json"
    got = pair.answers_of(program, "--report", report, code=1)
    missing, = (e for e in json.loads(report.read_text())["events"] if e["name"] == "missing-split-unit")
    assert missing["count"] == 2 and missing["example"].endswith("main.dwo")
    lines = 0
    for want, have in zip(map(json.loads, pair.wanted), map(json.loads, got)):
        if not want.get("frames"):
            continue
        inner, shown = want["frames"][0], have["frames"][0]
        assert (shown.get("file"), shown.get("line")) == (inner.get("file"), inner.get("line")), (want, have)
        assert len(have["frames"]) == 1
        lines += "line" in shown
    assert lines > len(got) // 2


def test_inlined_calls_in_skeletons(callsign, tmp_path):
    """Clang can leave inlined calls in the skeleton, too: they are used without .dwo files, and not twice with them."""
    pair = Pair(callsign, tmp_path, "clang++-22", "-gdwarf-5 -O2 -fsplit-dwarf-inlining")
    assert pair.answers_of(pair.split) == pair.wanted
    got = pair.answers_of(pair.without_dwo(), code=1)
    for want, have in zip(map(json.loads, pair.wanted), map(json.loads, got)):
        frames = [[(f.get("file"), f.get("line")) for f in answer.get("frames", [])] for answer in (want, have)]
        assert frames[0] == frames[1], (want, have)
        if want.get("frames"): # the symbol's name, not the plain one that the skeleton has
            assert want["frames"][-1]["function"] == have["frames"][-1]["function"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_dwo_files_of_another_build(callsign, tmp_path, compiler):
    pair = Pair(callsign, tmp_path, compiler, "-gdwarf-5 -O1")
    shutil.copy(tmp_path / "split" / "helper.dwo", tmp_path / "split" / "main.dwo")
    report = tmp_path / "report.json"
    got = pair.answers_of(pair.split, "--report", report, code=1)
    damage, = (e for e in json.loads(report.read_text())["events"] if e["name"] == "damaged-unit")
    assert damage["count"] == 1
    ids = re.search(r"main\.dwo has dwo_id (0x[0-9a-f]{16}), the skeleton needs (0x[0-9a-f]{16})", damage["example"])
    assert ids and ids[1] != ids[2], damage
    assert any('"function":"main"' in line and '"line"' in line for line in got)


def test_the_number_of_threads_does_not_matter(callsign, tmp_path):
    program = compile_in(tmp_path / "split", "g++", "-gdwarf-5 -O2 -gsplit-dwarf")
    indexes = []
    for threads in (1, 2, 7):
        callsign.good("convert", "--quiet", "--threads", threads, program, "-o", tmp_path / "index.gsym")
        indexes.append((tmp_path / "index.gsym").read_bytes())
    assert indexes[0] == indexes[1] == indexes[2]


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_a_dwo_file_or_package_alone_is_refused(callsign, tmp_path, compiler):
    """It has no addresses, and no debug file that might be missing."""
    (tmp_path / "main.c").write_text("int main(int argc, char **argv) { (void)argv; return argc; }\n")
    subprocess.run([need(compiler), "-g", "-gsplit-dwarf", "-c", "main.c", "-o", "main.o"], cwd=tmp_path, check=True)
    dwp_pack.pack([tmp_path / "main.dwo"], tmp_path / "main.dwp")
    for name in ("main.dwo", "main.dwp"):
        error = callsign.bad("convert", tmp_path / name, "-o", tmp_path / "out.gsym")
        assert error == f"callsign: {tmp_path / name}: split DWARF (a .dwo file or a package of them): it has no addresses; " \
                        "give the program that it belongs to"


def test_a_package_of_more_than_4_gib(callsign, tmp_path):
    """The offsets of its indexes have 32 bits: the units behind 4 GiB had none, or the parts of the units before, and these had theirs."""
    program = compile_in(tmp_path / "split", "clang++-22", "-gdwarf-5 -O1 -gsplit-dwarf")
    package = tmp_path / "large.dwp"
    whole = tmp_path / "small.dwp"
    dwos = [tmp_path / "split" / "main.dwo", tmp_path / "split" / "helper.dwo"]
    dwp_pack.pack(dwos, whole)
    wanted = convert_with(callsign, program, whole, tmp_path / "small.gsym")
    for order in (dwos, dwos[::-1]):
        dwp_pack.pack_beyond_4_gib(order, package)
        assert convert_with(callsign, program, package, tmp_path / "large.gsym") == wanted
    package.unlink()


def convert_with(callsign, program, package, out):
    """Away from the .dwo files."""
    alone = out.parent / "away"
    alone.mkdir(exist_ok=True)
    shutil.copy(program, alone / "prog")
    for dwo in program.parent.glob("*.dwo"):
        dwo.rename(dwo.with_suffix(".away"))
    done = callsign.run("convert", "-q", alone / "prog", "--dwp", package, "-o", out)
    for dwo in program.parent.glob("*.away"):
        dwo.rename(dwo.with_suffix(".dwo"))
    assert done.returncode == 0, done.stderr
    return out.read_bytes()


def test_a_package_with_wide_offsets_of_strings(callsign, tmp_path):
    """llvm-dwp makes tables of strings' offsets 64 bits wide where strings are beyond 4 GiB, in units of 32 bits: all names were others."""
    program = compile_in(tmp_path / "split", "clang++-22", "-gdwarf-5 -O1 -gsplit-dwarf")
    found = []
    for kind in ("disabled", "always"):
        package = tmp_path / f"{kind}.dwp"
        subprocess.run([need("llvm-dwp-22"), f"--dwarf64-str-offsets-promotion={kind}", "-e", program, "-o", package], check=True)
        found.append(convert_with(callsign, program, package, tmp_path / f"{kind}.gsym"))
    assert found[0] == found[1] and b"Local" in found[0]
