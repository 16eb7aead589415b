"""Windows programs with program databases (PDB), made by clang and lld-link: held against llvm-symbolizer, which reads PDBs itself."""
import http.server
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import threading

import pytest

from programs import need

SOURCE = r"""
#include "shapes.h"
volatile int sink;
static __attribute__((noinline)) int hidden(int a) { sink = a; return a + 1; }
namespace geo {
template <typename T> struct Box {
    T side;
    INLINE T twice() const { sink = side; return area(side, 2); }
    NOINLINE T volume() const {
        sink = sink + 1;
        return side * twice() +
               area(side, 1);
    }
};
namespace { NOINLINE int local(int a) { sink = a + 3; return a; } }
}
extern "C" NOINLINE int outer(int a) {
    sink = a;
    for (int i = 0; i < 3; i++)
        sink += area(a, i);
    return sink;
}
struct Shape { virtual int sides() const; ~Shape(); };
NOINLINE int Shape::sides() const { return sink; }
Shape::~Shape() { sink = 0; }

extern "C" int _fltused = 0;
extern "C" int mainCRTStartup() {
    geo::Box<int> b{3};
    Shape s;
    sink = hidden(4) + geo::local(sink) + s.sides();
    return outer(5) + b.volume();
}
"""
HEADER = r"""
#define INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
extern volatile int sink;
static INLINE int square(int a) {
    sink = a;
    return a * a;
}
static INLINE int area(int a, int b) {
    return square(a) +
           square(b);
}
"""
MACHINES = ["x86_64", "aarch64", "i686"]


def run(*command, cwd=None, stdin=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, input=stdin)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def tool(name):
    return shutil.which(f"{name}-22") or need(name)


def build(folder, machine, *link, compile_flags=("-O2",), debug="/debug"):
    """FOLDER/app.exe and FOLDER/app.pdb."""
    (folder / "shapes.cc").write_text(SOURCE)
    (folder / "shapes.h").write_text(HEADER)
    run(tool("clang"), f"--target={machine}-pc-windows-msvc", "-g", "-gcodeview", "-fno-rtti", "-fno-exceptions", *compile_flags,
        "-c", folder / "shapes.cc", "-o", folder / "shapes.obj")
    run(tool("lld-link"), debug, "/nodefaultlib", "/entry:mainCRTStartup", "/subsystem:console", "/opt:noicf", "/safeseh:no", *link,
        folder / "shapes.obj", f"/out:{folder / 'app.exe'}", f"/pdb:{folder / 'app.pdb'}")
    return folder / "app.exe"


@pytest.fixture(scope="module", params=MACHINES)
def machine(request):
    return request.param


@pytest.fixture(scope="module")
def program(machine, tmp_path_factory):
    return build(tmp_path_factory.mktemp(machine), machine)


@pytest.fixture
def copy(program, tmp_path):
    """The image alone, in a folder without its PDB; its recorded path leads to nothing."""
    image = tmp_path / "copy" / "app.exe"
    image.parent.mkdir()
    image.write_bytes(program.read_bytes().replace(str(program.parent).encode(), b"/n" + b"o" * (len(str(program.parent)) - 2)))
    return image


def identity(image):
    """Where the CodeView record is in the image, and GUID and age as symbol servers spell them."""
    data = image.read_bytes()
    at = data.index(b"RSDS")
    first, second, third = struct.unpack_from("<IHH", data, at + 4)
    age, = struct.unpack_from("<I", data, at + 20)
    return at, f"{first:08X}{second:04X}{third:04X}{data[at + 12:at + 20].hex().upper()}{age:X}"


def convert(callsign, path, out, *args, **more):
    report = out.with_suffix(".json")
    callsign.good("convert", path, "-o", out, "--report", report, "--quiet", *args, **more)
    return json.loads(report.read_text())


def ours(callsign, index, addresses):
    out = callsign.good("lookup", "--json", index, stdin="".join(f"{a:#x}\n" for a in addresses))
    return [[(f["function"], f.get("file", ""), f.get("line", 0)) for f in json.loads(line).get("frames", [])] for line in out.splitlines()]


def theirs(image, addresses):
    out = run(tool("llvm-symbolizer"), f"--obj={image}", "--functions=linkage", "--no-demangle", "--output-style=JSON",
              stdin="".join(f"{a:#x}\n" for a in addresses))
    return [[(f["FunctionName"], f["FileName"], f["Line"]) for f in json.loads(line).get("Symbol", [])] for line in out.splitlines()]


def functions(callsign, index):
    found = []
    for line in callsign.good("dump", "--json", index).splitlines():
        record = json.loads(line)
        found += [record] if "functions" not in record else record["functions"]
    return found


def code_addresses(callsign, index):
    spans = re.findall(r"^(0x[0-9a-f]+)\.\.(0x[0-9a-f]+) ", callsign.good("dump", index), re.M)
    assert spans
    return [a for start, end in spans for a in range(int(start, 16), int(end, 16))]


def plain(frames, machine):
    """On i386 a C name has a `_` in front, which we leave out."""
    return [(f[0][1:] if machine == "i686" and f[0].startswith("_") else f[0], *f[1:]) for f in frames]


def compare(callsign, image, index, machine):
    """How many bytes of code were compared, and those that differ. Where two rows begin at one byte, llvm-symbolizer answers with the
    first of them at that byte and with the second at the next, which is of the same instruction; we answer with the second."""
    addresses = code_addresses(callsign, index)
    mine = ours(callsign, index, addresses)
    want = [plain(frames, machine) for frames in theirs(image, [*addresses, addresses[-1] + 1])]
    differing = [(hex(a), mine[i], want[i]) for i, a in enumerate(addresses) if mine[i] not in (want[i], want[i + 1])]
    two_rows = [i for i in range(len(addresses)) if mine[i] != want[i]]
    assert len(two_rows) <= 4
    return len(addresses), differing


def test_every_byte_as_llvm_symbolizer(callsign, program, machine, tmp_path):
    index = tmp_path / "app.gsym"
    report = convert(callsign, program, index)
    assert report["functions_from_pdb"] >= 7 and report["inline_nodes_written"] >= 8
    count, differing = compare(callsign, program, index, machine)
    assert count > 150 and not differing, (count, len(differing), differing[:3])


@pytest.mark.parametrize("flags", [("-O0",), ("-O2", "-gline-tables-only"), ("-O2", "-ffunction-sections", "-mllvm", "-align-all-nofallthru-blocks=4")],
                         ids=["O0", "line-tables-only", "function-sections"])
def test_other_flags(callsign, machine, flags, tmp_path):
    image = build(tmp_path, machine, compile_flags=flags)
    convert(callsign, image, tmp_path / "app.gsym")
    count, differing = compare(callsign, image, tmp_path / "app.gsym", machine)
    assert count > 150 and not differing, (count, len(differing), differing[:3])


def test_the_names(callsign, program, machine, tmp_path):
    convert(callsign, program, tmp_path / "app.gsym")
    names = set(re.findall(r"^0x\S+ (.+) \(record", callsign.good("dump", tmp_path / "app.gsym"), re.M))
    assert {"outer", "mainCRTStartup", "hidden"} <= names
    decorated = "?volume@?$Box@H@geo@@Q" + ("BEHXZ" if machine == "i686" else "EBAHXZ")
    assert decorated in names
    assert any("local" in n for n in names)


def test_threads_give_the_same_bytes(callsign, program, tmp_path):
    for threads in (1, 2, 5):
        convert(callsign, program, tmp_path / f"{threads}.gsym", "--threads", threads)
    assert len({(tmp_path / f"{threads}.gsym").read_bytes() for threads in (1, 2, 5)}) == 1


def test_a_pdb_alone(callsign, program, tmp_path):
    """The same functions, at addresses that count from the image's first byte."""
    convert(callsign, program, tmp_path / "image.gsym")
    convert(callsign, program.with_suffix(".pdb"), tmp_path / "alone.gsym")
    image, alone = code_addresses(callsign, tmp_path / "image.gsym"), code_addresses(callsign, tmp_path / "alone.gsym")
    moved = image[0] - alone[0]
    assert moved in (0x400000, 0x140000000)
    assert [a - moved for a in image] == alone
    assert ours(callsign, tmp_path / "image.gsym", image) == ours(callsign, tmp_path / "alone.gsym", alone)
    assert "base address    0x0\n" in callsign.good("dump", tmp_path / "alone.gsym")


# ---- finding it ----

def test_at_its_recorded_path(callsign, program, tmp_path):
    moved = tmp_path / "elsewhere" / "renamed.exe"
    moved.parent.mkdir()
    shutil.copyfile(program, moved)
    assert convert(callsign, moved, tmp_path / "app.gsym")["functions_from_pdb"]


def test_beside_the_image(callsign, program, copy, tmp_path):
    shutil.copyfile(program.with_suffix(".pdb"), copy.with_suffix(".pdb"))
    done = callsign.run("convert", copy, "-o", tmp_path / "app.gsym")
    assert done.returncode == 0 and f"debug information from {copy.with_suffix('.pdb')}" in done.stderr


def test_a_windows_path_is_taken_apart(callsign, program, copy, tmp_path):
    data = copy.read_bytes()
    at = data.index(b"RSDS") + 24
    end = data.index(b"\0", at)
    path = b"C:\\build\\out\\app.pdb"
    copy.write_bytes(data[:at] + path.ljust(end - at, b"\0") + data[end:])
    shutil.copyfile(program.with_suffix(".pdb"), copy.with_suffix(".pdb"))
    assert convert(callsign, copy, tmp_path / "app.gsym")["functions_from_pdb"]


def put_into_tree(program, tree, key):
    place = tree / "app.pdb" / key / "app.pdb"
    place.parent.mkdir(parents=True)
    shutil.copyfile(program.with_suffix(".pdb"), place)


@pytest.mark.parametrize("spelling", [str.upper, str.lower])
def test_in_a_symbol_tree(callsign, program, copy, tmp_path, spelling):
    put_into_tree(program, tmp_path / "symbols", spelling(identity(program)[1]))
    assert convert(callsign, copy, tmp_path / "app.gsym", "--debug-dir", tmp_path / "symbols")["functions_from_pdb"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_in_one_of_several_trees(callsign, program, copy, tmp_path, place):
    """The search ends at the first that has it, and not before."""
    trees = [tmp_path / f"symbols{i}" for i in range(3)]
    for tree in trees:
        tree.mkdir()
    put_into_tree(program, trees[place], identity(program)[1])
    options = [word for tree in trees for word in ("--debug-dir", tree)]
    assert convert(callsign, copy, tmp_path / "app.gsym", *options)["functions_from_pdb"]


def with_capital_name(copy):
    data = copy.read_bytes()
    assert data.count(b"app.pdb\0") == 1
    copy.write_bytes(data.replace(b"app.pdb\0", b"App.pdb\0"))


def test_in_a_tree_of_small_letters(callsign, program, copy, tmp_path):
    """As the key conventions of SSQP want names and ids."""
    put_into_tree(program, tmp_path / "symbols", identity(program)[1].lower())
    with_capital_name(copy)
    assert convert(callsign, copy, tmp_path / "app.gsym", "--debug-dir", tmp_path / "symbols")["functions_from_pdb"]


def test_as_debug_file(callsign, program, copy, tmp_path):
    shutil.copyfile(program.with_suffix(".pdb"), tmp_path / "another.pdb")
    assert convert(callsign, copy, tmp_path / "app.gsym", "--debug-file", tmp_path / "another.pdb")["functions_from_pdb"]


def test_lookup_takes_the_image(callsign, program):
    first = re.search(r"^(0x[0-9a-f]+)\.\.", callsign.good("dump", program), re.M).group(1)
    assert "shapes.cc:" in callsign.good("lookup", program, first)


@pytest.fixture
def server(tmp_path):
    """A symbol server over tmp_path/served; what it was asked for."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(tmp_path / "served"))

        def do_GET(self):
            asked.append((self.path, self.headers["User-Agent"]))
            super().do_GET()

        def log_message(self, *args):
            pass

    asked = []
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    httpd.url, httpd.asked = f"http://127.0.0.1:{httpd.server_port}", asked
    yield httpd
    httpd.shutdown()
    httpd.server_close()


def test_on_a_symbol_server(callsign, program, copy, server, tmp_path):
    put_into_tree(program, tmp_path / "served", identity(program)[1])
    env = {"CALLSIGN_CACHE": str(tmp_path / "cache")}
    wanted = f"/app.pdb/{identity(program)[1]}/app.pdb"
    assert convert(callsign, copy, tmp_path / "app.gsym", "--symbol-server", server.url + "/", env=env)["functions_from_pdb"]
    assert server.asked == [(wanted, "callsign")]
    kept = tmp_path / "cache" / ("symbols" + wanted)
    assert kept.read_bytes() == program.with_suffix(".pdb").read_bytes() and len(list(kept.parent.iterdir())) == 1
    assert convert(callsign, copy, tmp_path / "app.gsym", "--symbol-server", server.url, env=env)["functions_from_pdb"]
    assert len(server.asked) == 1


def test_a_symbol_server_with_a_query(callsign, program, copy, server, tmp_path):
    """What lets the reader in stood before the path, and in messages."""
    put_into_tree(program, tmp_path / "served", identity(program)[1])
    wanted = f"/app.pdb/{identity(program)[1]}/app.pdb"
    host = server.url.removeprefix("http://")
    for number, (front, asked) in enumerate([(f"{host}/?sig=s3cret&x=%2F#top", wanted + "?sig=s3cret&x=%2F"), (f"{host}#s3cret", wanted)]):
        env = {"CALLSIGN_CACHE": str(tmp_path / f"cache{number}")}
        assert convert(callsign, copy, tmp_path / "app.gsym", "--symbol-server", "http://" + front, env=env)["functions_from_pdb"]
        assert server.asked.pop() == (asked, "callsign")
    for url in (f"http://{host}?sig=s3cret", f"http://me:s3cret@{host}/"):
        line = callsign.bad("convert", copy, "-o", tmp_path / "out", "--symbol-server", url, "--fetch-limit", "1K",
                            env={"CALLSIGN_CACHE": str(tmp_path / "cache")})
        assert "more than 1024 bytes" in line and host in line and "s3cret" not in line and "me:" not in line


def test_on_a_symbol_server_of_small_letters(callsign, program, copy, server, tmp_path):
    small = identity(program)[1].lower()
    put_into_tree(program, tmp_path / "served", small)
    with_capital_name(copy)
    env = {"CALLSIGN_CACHE": str(tmp_path / "cache")}
    assert convert(callsign, copy, tmp_path / "app.gsym", "--symbol-server", server.url, env=env)["functions_from_pdb"]
    assert [path for path, _ in server.asked] == [f"/App.pdb/{small.upper()}/App.pdb", f"/app.pdb/{small}/app.pdb"]
    assert convert(callsign, copy, tmp_path / "app.gsym", "--symbol-server", server.url, env=env)["functions_from_pdb"]
    assert len(server.asked) == 2


def test_servers_of_the_symbol_path(callsign, program, copy, server, tmp_path):
    put_into_tree(program, tmp_path / "served", identity(program)[1])
    path = f"/no/folder;SRV*{tmp_path / 'store'}*{server.url}/none*{server.url}"
    assert convert(callsign, copy, tmp_path / "app.gsym", env={"_NT_SYMBOL_PATH": path})["functions_from_pdb"]
    id = identity(program)[1]
    assert [p for p, _ in server.asked] == [f"/none/app.pdb/{id}/app.pdb", f"/none/app.pdb/{id.lower()}/app.pdb", f"/app.pdb/{id}/app.pdb"]
    assert (tmp_path / "store" / "app.pdb" / identity(program)[1] / "app.pdb").is_file()


def test_other_elements_of_the_symbol_path(callsign, program, copy, server, tmp_path):
    """A folder for all servers, and servers as they were named before."""
    id = identity(program)[1]
    put_into_tree(program, tmp_path / "served", id)
    for number, element in enumerate(("cache*{};{}", "symsrv*symsrv.dll*{}*{}", "cache*{};srv*/no/other*{}")):
        kept = tmp_path / f"kept{number}"
        env = {"_NT_SYMBOL_PATH": element.format(kept, server.url)}
        assert convert(callsign, copy, tmp_path / "app.gsym", env=env)["functions_from_pdb"]
        assert (kept / "app.pdb" / id / "app.pdb").is_file()


def test_what_servers_do_not_have(callsign, program, copy, server, tmp_path):
    env = {"CALLSIGN_CACHE": str(tmp_path / "cache")}
    line = callsign.bad("convert", copy, "-o", tmp_path / "out", "--symbol-server", server.url, env=env)
    assert "app.pdb" in line and identity(copy)[1] in line and "nor on 1 symbol server" in line
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]
    line = callsign.bad("convert", copy, "-o", tmp_path / "out", "--symbol-server", "http://127.0.0.1:1", env=env)
    assert "app.pdb" in line and "127.0.0.1:1" in line
    put_into_tree(program, tmp_path / "served", identity(program)[1])
    line = callsign.bad("convert", copy, "-o", tmp_path / "out", "--symbol-server", server.url, "--fetch-limit", "1K", env=env)
    assert "more than 1024 bytes" in line
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]


def test_a_server_that_has_another_build(callsign, program, copy, server, tmp_path):
    data = bytearray(copy.read_bytes())
    data[identity(copy)[0] + 20] ^= 2
    copy.write_bytes(data)
    put_into_tree(program, tmp_path / "served", identity(copy)[1])
    line = callsign.bad("convert", copy, "-o", tmp_path / "out", "--symbol-server", server.url,
                        env={"CALLSIGN_CACHE": str(tmp_path / "cache")})
    assert "app.pdb has id " + identity(program)[1] in line and "needs " + identity(copy)[1] in line


def test_no_server_is_asked_unless_named(callsign, copy, server, tmp_path):
    callsign.bad("convert", copy, "-o", tmp_path / "out", env={"_NT_SYMBOL_PATH": ""})
    callsign.bad("convert", copy, "-o", tmp_path / "out", "--no-companions", env={"_NT_SYMBOL_PATH": f"srv*{server.url}"})
    assert not server.asked


def test_a_missing_pdb_is_named(callsign, copy, tmp_path):
    line = callsign.bad("convert", copy, "-o", tmp_path / "out")
    assert "app.pdb" in line and identity(copy)[1] in line and "/usr/lib/debug" in line
    line = callsign.bad("convert", copy, "-o", tmp_path / "out", "--no-companions")
    assert "app.pdb" in line and identity(copy)[1] in line


@pytest.mark.parametrize("how", ["guid", "age"])
@pytest.mark.parametrize("place", ["beside", "chosen", "tree"])
def test_another_build(callsign, program, copy, tmp_path, how, place):
    data = bytearray(copy.read_bytes())
    data[identity(copy)[0] + (4 if how == "guid" else 20)] ^= 2
    copy.write_bytes(data)
    pdb, args = copy.with_suffix(".pdb"), []
    if place == "tree":
        put_into_tree(program, tmp_path / "symbols", identity(copy)[1])
        args = ["--debug-dir", tmp_path / "symbols"]
    else:
        shutil.copyfile(program.with_suffix(".pdb"), pdb)
        args = ["--debug-file", pdb] if place == "chosen" else []
    line = callsign.bad("convert", copy, "-o", tmp_path / "out", *args)
    assert "app.pdb has id " + identity(program)[1] in line and "needs " + identity(copy)[1] in line


# ---- kinds of PDBs ----

def test_one_function_with_thousands_of_inlined_calls(callsign, tmp_path):
    """What it costs grows with the calls and the rows, not with both: else the budget against hostile input refuses it."""
    calls = "".join(f"  sink = square(a + {i});\n" for i in range(4000))
    (tmp_path / "big.c").write_text("extern volatile int sink;\nvolatile int sink;\n"
                                    "static inline __attribute__((always_inline)) int square(int a) {\n  sink = a;\n  return a * a;\n}\n"
                                    f"int mainCRTStartup(int a) {{\n{calls}  return a;\n}}\n")
    run(tool("clang"), "--target=x86_64-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-c", tmp_path / "big.c", "-o", tmp_path / "big.obj")
    run(tool("lld-link"), "/debug", "/nodefaultlib", "/entry:mainCRTStartup", "/subsystem:console", tmp_path / "big.obj",
        f"/out:{tmp_path / 'big.exe'}")
    assert convert(callsign, tmp_path / "big.exe", tmp_path / "big.gsym")["inline_nodes_written"] >= 4000

def public_functions(pdb):
    """{address from the image's start: name}, as llvm-pdbutil tells them."""
    headers = run(tool("llvm-pdbutil"), "dump", "--section-headers", pdb)
    starts = [int(start, 16) for start in re.findall(r"([0-9A-F]+) virtual address", headers)]
    rows = re.findall(r"S_PUB32 .*`(.*)`\n +flags = (.*), addr = (\d+):(\d+)", run(tool("llvm-pdbutil"), "dump", "--publics", pdb))
    return {starts[int(section) - 1] + int(off): name for name, flags, section, off in rows if "function" in flags}


def test_a_pdb_of_public_names(callsign, machine, tmp_path):
    """Of objects without debug information, as stripped PDBs are: functions are those of llvm-pdbutil, at each byte those of llvm-symbolizer."""
    image = build(tmp_path, machine, compile_flags=("-O2", "-g0"))
    report = convert(callsign, tmp_path / "app.pdb", tmp_path / "alone.gsym")
    assert report["functions_from_pdb"] == 0 and report["functions_from_symbols"] == 5
    found = re.findall(r"^(0x[0-9a-f]+)\.\.\S+ (.+) \(record", callsign.good("dump", tmp_path / "alone.gsym"), re.M)
    public = public_functions(tmp_path / "app.pdb")
    assert {int(start, 16): name for start, name in found} == {start: plain([(name,)], machine)[0][0] for start, name in public.items()}
    convert(callsign, image, tmp_path / "app.gsym")
    count, differing = compare(callsign, image, tmp_path / "app.gsym", machine)
    assert count > 150 and not differing, (count, len(differing), differing[:3])


def test_symbols_of_an_image_without_pdb(callsign, machine, tmp_path):
    image = build(tmp_path, machine, debug="/debug:symtab")
    report = convert(callsign, image, tmp_path / "app.gsym")
    assert report["functions_from_pdb"] == 0 and report["functions_from_symbols"] >= 5
    text = callsign.good("dump", tmp_path / "app.gsym")
    assert " outer (record" in text and "?volume@?$Box@H@geo@@Q" in text


def test_assembler_code_has_its_public_name(callsign, machine, tmp_path):
    name = "_bare" if machine == "i686" else "bare"
    (tmp_path / "more.s").write_text(f".text\n.globl {name}\n{name}:\n ret\n")
    run(tool("clang"), f"--target={machine}-pc-windows-msvc", "-c", tmp_path / "more.s", "-o", tmp_path / "more.obj")
    image = build(tmp_path, machine, tmp_path / "more.obj", f"/include:{name}")
    convert(callsign, image, tmp_path / "app.gsym")
    assert " bare (record" in callsign.good("dump", tmp_path / "app.gsym")


def test_fastlink_is_refused(callsign, program, tmp_path):
    """The feature of /DEBUG:FASTLINK, put in place of the one that says which compiler's format it is."""
    data = program.with_suffix(".pdb").read_bytes()
    feature = struct.pack("<I", 20140508)
    assert data.count(feature) == 1
    (tmp_path / "app.pdb").write_bytes(data.replace(feature, b"MINI"))
    line = callsign.bad("convert", tmp_path / "app.pdb", "-o", tmp_path / "out")
    assert "/DEBUG:FASTLINK" in line and "/DEBUG:FULL" in line


@pytest.mark.parametrize("data, word", [(b"Microsoft C/C++ program database 2.00\r\n\x1aJG\0\0" + bytes(100), "2.0"),
                                        (b"BSJB\1\0\1\0" + bytes(100), ".NET")])
def test_other_kinds_are_refused_by_name(callsign, tmp_path, data, word):
    (tmp_path / "app.pdb").write_bytes(data)
    assert word in callsign.bad("convert", tmp_path / "app.pdb", "-o", tmp_path / "out")


def test_a_truncated_pdb_is_named(callsign, program, copy, tmp_path):
    whole = program.with_suffix(".pdb").read_bytes()
    for size in (10, 60, 4096, len(whole) // 2, len(whole) - 4097):
        copy.with_suffix(".pdb").write_bytes(whole[:size])
        assert "app.pdb" in callsign.bad("convert", copy, "-o", tmp_path / "out")


def set_identity(image, guid, age):
    """In the image and in the program database beside it."""
    data, pdb = bytearray(image.read_bytes()), image.with_suffix(".pdb")
    at = data.index(b"RSDS")
    old = bytes(data[at + 4:at + 20])
    data[at + 4:at + 24] = guid + struct.pack("<I", age)
    image.write_bytes(data)
    data = bytearray(pdb.read_bytes())
    at = data.index(old)
    data[at - 4:at + 16] = struct.pack("<I", age) + guid
    at = data.index(struct.pack("<iI", -1, 19990903)) # the header of the stream that has the modules
    data[at + 8:at + 12] = struct.pack("<I", age)
    pdb.write_bytes(data)


def test_the_cache_tells_builds_of_one_guid_apart(callsign, tmp_path):
    """Incremental linking keeps the GUID and counts the age up."""
    old, new, place, cache = (tmp_path / name for name in ("old", "new", "place", "cache"))
    for folder in (old, new, place):
        folder.mkdir()
    for folder, name in ((old, "hidden"), (new, "visible")):
        (folder / "one.c").write_text(f"int {name}(void) {{ return 3; }}\nint mainCRTStartup(void) {{ return {name}(); }}\n")
        run(tool("clang"), "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-c", folder / "one.c", "-o", folder / "one.obj")
        run(tool("lld-link"), "/debug", "/nodefaultlib", "/entry:mainCRTStartup", "/subsystem:console", folder / "one.obj",
            f"/out:{folder / 'app.exe'}", f"/pdb:{folder / 'app.pdb'}", "/pdbaltpath:app.pdb")
    for age, folder in ((1, old), (2, new)):
        set_identity(folder / "app.exe", bytes(range(16)), age)
    for folder, name in ((old, "hidden"), (new, "visible"), (old, "hidden")):
        for file in ("app.exe", "app.pdb"):
            shutil.copyfile(folder / file, place / file)
        assert f"{name} + 0 at" in callsign.good("lookup", place / "app.exe", "140001000", "--cache-dir", cache)


@pytest.mark.parametrize("members", [{"debug_file": "C:\\build\\app.pdb"}, {"code_id": ""}, {"code_id": None}])
def test_windows_modules_of_minidump_stackwalk(callsign, tmp_path, members):
    """Form: json-schema.md of minidump-stackwalk. The code id of a Windows module is a time stamp and a size, its build id the debug id."""
    program = build(tmp_path, "x86_64")
    index, folders = tmp_path / "app.gsym", tmp_path / "symbols"
    convert(callsign, program, index)
    at = code_addresses(callsign, index)[0]
    base = 0x7ff612340000
    module = {"base_addr": f"0x{base:016x}", "end_addr": f"0x{base + 0x123000:016x}", "filename": "app.exe", "debug_file": "app.pdb",
              "code_id": "6a1b2c3d123000", "debug_id": identity(program)[1], **members}
    frame = {"frame": 0, "function": None, "module": "app.exe", "module_offset": f"0x{at - 0x140000000:08x}",
             "offset": f"0x{at - 0x140000000 + base:016x}", "trust": "context"}
    stack = {"frame_count": 1, "frames": [frame]}

    def named(*options):
        report = {"crash_info": {}, "crashing_thread": stack, "modules": [module], "threads": [stack]}
        done = callsign.run("stack", "--json", "--no-search", *options, stdin=json.dumps(report))
        return [frame["frames"] and frame["frames"][-1]["function"] for frame in json.loads(done.stdout.splitlines()[0])["frames"]], done.stderr

    name, errors = named("--index", index)
    assert name[0] and "not used" not in errors
    build_id = json.loads(callsign.good("dump", "--json", index).splitlines()[0])["header"]["build_id"]
    (folders / build_id[:2]).mkdir(parents=True)
    shutil.copyfile(index, folders / build_id[:2] / f"{build_id[2:]}.gsym")
    assert named("--symbols", folders)[0] == name
    shutil.rmtree(folders)
    # A store of Breakpad's, whose ids have the age behind them.
    place = folders / "app.pdb" / identity(program)[1] / "app.sym"
    place.parent.mkdir(parents=True)
    convert(callsign, program, place, "--to", "breakpad")
    assert named("--symbols", folders)[0] == name
    set_identity(program, program.read_bytes()[identity(program)[0] + 4:][:16], 0x1f)
    convert(callsign, program, place, "--to", "breakpad")
    module["debug_id"] = identity(program)[1]
    assert module["debug_id"].endswith("1F")
    place.parent.rename(folders / "app.pdb" / (module["debug_id"][:-2] + "1f"))
    assert named("--symbols", folders)[0] == name
    shutil.copytree(folders / "app.pdb" / (module["debug_id"][:-2] + "1f"), folders / "app.pdb" / (module["debug_id"][:-2] + "2"))
    assert named("--symbols", folders)[0] == [[]]  # which of the two is not known
    module["debug_id"] = ("1" if module["debug_id"][0] == "0" else "0") + module["debug_id"][1:]
    assert named("--index", index)[0] == [[]]
    assert "another build id" in named("--index", index)[1]


FOLDED = r"""
volatile int sink;
enum E { ONE }; struct P { int v; }; template <class T> struct V { T v; };
#define BODY { return (int)(x) * 7 + 3; }
#define KEEP __declspec(noinline)
struct A { int v; KEEP int get() const { return v + 5; }
           KEEP int operator()(int k) const { return v + k; }
           KEEP int operator<(int k) const { return v + k; }
           KEEP int operator->*(int k) const { return v + k; }
           KEEP operator int() const { return v + 9; }
           KEEP operator unsigned() const { return v + 9; }
           KEEP A(int x) { v = x; }
           KEEP A(unsigned x) { v = x; }
           KEEP static int all(int x) BODY };
struct B { int v; KEEP int get() const { return v + 5; }
           KEEP B(int x) { v = x; } };
namespace n { namespace n {
KEEP int f(int x) BODY
KEEP int f1(int x) BODY
KEEP int f10(int x) BODY } }
KEEP int over(int x) BODY
KEEP int over(unsigned x) BODY
KEEP int over(long x) BODY
KEEP int over(E x) BODY
KEEP int over(wchar_t x) BODY
KEEP int over(char x, ...) BODY
extern "C" KEEP int plain(int x) BODY
extern "C" KEEP int plain1(int x) BODY
extern "C" KEEP int __stdcall standard(int x) BODY
static KEEP int own(int x) BODY
static KEEP int f(int x) BODY
static KEEP int lone(int x) { return x * 13 + 3; }
KEEP int alone(int x) { return x * 13 + 3; }
KEEP int by(P *p) { return p->v; }
KEEP int by(const P *p) { return p->v; }
KEEP int by(P &p) { return p.v; }
KEEP int by(const P &p) { return p.v; }
KEEP int by(V<int> *p) { return p->v; }
KEEP int by(V<V<P>> *p) { return p->v.v.v; }
template <class T> KEEP int made(T x) BODY
extern "C" int mainCRTStartup() {
    A a(sink), c((unsigned)sink); B b(sink); P p = { sink }; V<int> v = { sink }; V<V<P>> w = { { { sink } } };
    sink = a.get() + b.get() + a(sink) + (a < sink) + (a->*sink) + (int)a + (unsigned)c + A::all(sink);
    sink = n::n::f(sink) + n::n::f1(sink) + n::n::f10(sink);
    sink = over(sink) + over((unsigned)sink) + over((long)sink) + over((E)sink) + over((wchar_t)sink) + over((char)sink, 1, 2);
    sink = plain(sink) + plain1(sink) + standard(sink) + own(sink) + f(sink) + lone(sink) + alone(sink) + by(&p) + by((const P *)&p) + by(p) + by((const P &)p) + by(&v) + by(&w);
    sink = made<int>(sink) + made<unsigned>(sink) + made<E>((E)sink);
    return 0;
}
"""


def named_lines(callsign, index):
    """{(name, line where it begins)} of all functions and of those that share their code."""
    found = []
    for line in callsign.good("dump", "--json", index).splitlines():
        function = json.loads(line).get("function")
        for one in [function, *function.get("merged", [])] if function else []:
            found.append((one["name"], one["lines"][0]["line"] if one.get("lines") else None))
    assert len(found) == len(set(found)), found
    return set(found)


@pytest.mark.parametrize("machine", ["x86_64", "i686"])
def test_folded_functions_keep_their_own_names(callsign, machine, tmp_path):
    """The linker leaves all their public symbols at one place. Without folding each place has one, which is the truth."""
    (tmp_path / "f.cc").write_text(FOLDED)
    run(tool("clang"), f"--target={machine}-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-fno-rtti", "-fno-exceptions", "-ffunction-sections",
        "-c", tmp_path / "f.cc", "-o", tmp_path / "f.obj")
    names = {}
    for how in ("noicf", "icf"):
        run(tool("lld-link"), "/debug", "/nodefaultlib", "/entry:mainCRTStartup", "/subsystem:console", f"/opt:{how}", "/safeseh:no",
            tmp_path / "f.obj", f"/out:{tmp_path / how}.exe")
        callsign.good("convert", "-q", "--merged-functions", tmp_path / f"{how}.exe", "-o", tmp_path / how)
        names[how] = named_lines(callsign, tmp_path / how)
    assert len(names["noicf"]) > 30 and names["icf"] == names["noicf"]
    starts = [json.loads(line)["function"]["start"] for line in callsign.good("dump", "--json", tmp_path / "icf").splitlines() if '"function"' in line]
    assert len(starts) < len(names["icf"]) // 2


def test_more_folded_functions_than_any_limit(callsign, tmp_path):
    text = "".join(f"__declspec(noinline) int f{k}(int x) {{ return x * 7 + 3; }}\n" for k in range(300))
    (tmp_path / "f.cc").write_text(text + "volatile int sink; extern \"C\" int mainCRTStartup() { " + "".join(f"sink = f{k}(sink);" for k in range(300)) + " return 0; }\n")
    run(tool("clang"), "--target=x86_64-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-ffunction-sections", "-c", tmp_path / "f.cc", "-o", tmp_path / "f.obj")
    run(tool("lld-link"), "/debug", "/nodefaultlib", "/entry:mainCRTStartup", "/subsystem:console", "/opt:icf", tmp_path / "f.obj", f"/out:{tmp_path}/f.exe")
    callsign.good("convert", "-q", "--merged-functions", tmp_path / "f.exe", "-o", tmp_path / "f.gsym")
    assert {(f"?f{k}@@YAHH@Z", k + 1) for k in range(300)} <= named_lines(callsign, tmp_path / "f.gsym")


def test_names_of_mingw_at_one_place(callsign, tmp_path):
    """Constructors have two symbols at one place, and overloads at one place are told apart by their parameters: names of the Itanium ABI."""
    (tmp_path / "a.cc").write_text("""struct A { A(int); A(int, int); ~A(); int value; };
A::A(int x) : value(x * 3) {}
A::A(int x, int y) : value(x * 5 + y) {}
A::~A() { value = 7; }
namespace n {
__attribute__((noinline)) long long twice(long long x, const A *) { return x * 2 + 11; }
unsigned long long twice(unsigned long long x, const A *) __attribute__((alias("_ZN1n5twiceExPK1A")));
__attribute__((noinline)) unsigned long long once(unsigned long long x, const A *) { return x + 11; }
long long once(long long x, const A *) __attribute__((alias("_ZN1n4onceEyPK1A")));
template <class T> __attribute__((noinline)) T half(T x) { return x / 2 + 1; }
}
extern "C" int mainCRTStartup() { A a(1), b(2, 3); return a.value + b.value + n::half(4) + int(n::twice(5LL, &a) + n::once(6ULL, &b)); }
""")
    run(tool("clang"), "--target=x86_64-w64-windows-gnu", "-g", "-gcodeview", "-O1", "-fno-exceptions", "-c", tmp_path / "a.cc",
        "-o", tmp_path / "a.obj")
    run(tool("lld-link"), "/debug", "/nodefaultlib", "/entry:mainCRTStartup", "/subsystem:console", "/opt:noref", tmp_path / "a.obj",
        f"/out:{tmp_path / 'a.exe'}", f"/pdb:{tmp_path / 'a.pdb'}")
    convert(callsign, tmp_path / "a.exe", tmp_path / "a.gsym")
    names = re.findall(r'"name":"([^"]+)"', callsign.good("dump", "--json", tmp_path / "a.gsym"))
    assert sorted(names) == ["_ZN1AC1Ei", "_ZN1AC1Eii", "_ZN1AD1Ev", "_ZN1n4halfIiEET_S1_", "_ZN1n4onceEyPK1A", "_ZN1n5twiceExPK1A", "mainCRTStartup"]


@pytest.mark.parametrize("public", ["_Reset", "_ZReset", "xReset"])
def test_names_of_c_that_begin_like_mangled_ones(callsign, tmp_path, public):
    """A name that no demangler reads agreed with each function at its place whose name it contains."""
    (tmp_path / "f.c").write_text(f"""#define KEEP __attribute__((noinline))
volatile int sink;
KEEP int {public}(int x) {{ return x * 7 + 3; }}
static KEEP int Reset(int x) {{ return x * 7 + 3; }}
int mainCRTStartup(void) {{ sink = {public}(sink); sink = Reset(sink); return 0; }}
""")
    run(tool("clang"), "--target=x86_64-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-ffunction-sections", "-c", tmp_path / "f.c", "-o", tmp_path / "f.obj")
    run(tool("lld-link"), "/debug", "/nodefaultlib", "/entry:mainCRTStartup", "/subsystem:console", "/opt:icf", tmp_path / "f.obj", f"/out:{tmp_path}/f.exe")
    callsign.good("convert", "-q", "--merged-functions", tmp_path / "f.exe", "-o", tmp_path / "f.gsym")
    assert {(public, 3), ("Reset", 4), ("mainCRTStartup", 5)} == named_lines(callsign, tmp_path / "f.gsym")


def test_options_of_a_database_alone(callsign, program, machine, tmp_path):
    """It has an architecture, and all debug information inside."""
    pdb, out = program.with_suffix(".pdb"), tmp_path / "out"
    for option in ("--debug-file", "--dwp"):
        for command in (["convert", pdb, "-o", out], ["lookup", pdb, "0"], ["diff", pdb, pdb], ["embed", pdb, program, "-o", out]):
            assert f"is a program database: option '{option}' goes with object files" in callsign.bad(*command, option, program)
    assert "goes with object files" in callsign.bad("convert", pdb, "-o", out, "--call-sites", "dwarf")
    assert not out.exists()
    callsign.good("convert", "-q", pdb, "-o", out, "--arch", {"aarch64": "arm64", "i686": "i386"}.get(machine, machine))
