"""Breakpad symbol files through the command: converted from, converted to, looked up."""
import json
import random
import subprocess

import pytest

from programs import need

EXAMPLE = """MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 demo
INFO CODE_ID 10FAA6BBAAB83DB3
FILE 0 /s/a.c
FILE 1 /s/b.h
INLINE_ORIGIN 0 sq
FUNC 1000 20 0 main
INLINE 0 11 0 0 1008 8
1000 4 10 0
1004 4 11 0
1008 8 3 1
1010 c 40 0
101c 4 41 0
PUBLIC 1020 0 foo
"""
STACK = """STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 +
"""


@pytest.fixture
def demo(tmp_path):
    path = tmp_path / "demo.sym"
    path.write_text(EXAMPLE)
    return path


def test_lookup(callsign, demo):
    assert callsign.good("lookup", demo, "0x1008", "0x101f", "0x1020") == (
        "0x1008: sq + 0 at /s/b.h:3 [inlined]\n"
        "        main + 8 at /s/a.c:11\n"
        "0x101f: main + 31 at /s/a.c:41\n"
        "0x1020: foo + 0 (the function has no line table)\n")
    assert callsign.run("lookup", demo, "0xfff").returncode == 1


def test_from_breakpad_to_breakpad(callsign, demo, tmp_path):
    """Nothing is lost, records for unwinding included."""
    demo.write_text(EXAMPLE + STACK)
    out = tmp_path / "again.sym"
    callsign.good("convert", "--strict", demo, "--to", "breakpad", "-o", out)
    assert out.read_text() == EXAMPLE + STACK


@pytest.mark.parametrize("revision", ["A", "B", "B-script", "C", "D", "E", "F"])
def test_gaps_between_line_records(callsign, demo, tmp_path, revision):
    """In a section of 2017 a gap is a row without a file. C and B-script number files of rows from 2, and have a 1 there."""
    section, calls = tmp_path / "index.o", "INLINE 0 11 0 0 1008 8\n"
    gap = EXAMPLE.replace("1008 8 3 1\n", "")
    for text in (gap, gap.replace(calls, ""), gap.replace(calls, calls.replace("11 0", "11 1"))): # file 1 is one of a call alone
        demo.write_text(text)
        callsign.good("convert", "-q", "--to", "gsym-section", "--revision", revision, demo, "-o", section)
        answers = callsign.good("lookup", section, "0x1003", "0x1014")
        assert answers == "0x1003: main + 3 at /s/a.c:10\n0x1014: main + 20 at /s/a.c:40\n"
        if revision != "A": # has no inlined calls
            done = callsign.run("verify", section, "--against", demo) # complains of the build id, which A to E cannot hold
            assert " addresses: 0 different\n" in done.stdout


def test_separators_of_paths(callsign, demo, tmp_path):
    """A directory of Windows before a '/': an index put '\\' there."""
    demo.write_text(EXAMPLE.replace("/s/a.c", "C:\\s/a.c").replace("/s/b.h", "x\\y/b.h"))
    callsign.good("convert", "-q", demo, "-o", tmp_path / "index")
    assert callsign.good("lookup", tmp_path / "index", "0x1008") == (
        "0x1008: sq + 0 at x\\y/b.h:3 [inlined]\n        main + 8 at C:\\s/a.c:11\n")
    callsign.good("convert", "-q", demo, "--to", "breakpad", "-o", tmp_path / "again.sym")
    assert (tmp_path / "again.sym").read_text() == demo.read_text()


def test_records_that_gsym_cannot_hold(callsign, demo, tmp_path):
    demo.write_text(EXAMPLE + STACK)
    out, report = tmp_path / "demo.gsym", tmp_path / "report.json"
    done = callsign.run("convert", demo, "-o", out, "--report", report)
    assert done.returncode == 0
    assert "2 dropped: not-representable (first: a record: STACK CFI INIT 1000 20 " in done.stderr
    assert '"not-representable"' in report.read_text()
    out.unlink()
    message = callsign.bad("convert", "--strict", "-q", demo, "-o", out)
    assert "strict: not-representable, 2 times" in message and not out.exists()


def test_build_id_of_the_index(callsign, demo):
    callsign.good("convert", demo, "-q")
    index = demo.with_name("demo.sym.gsym")
    assert json.loads(callsign.good("dump", "--json", "-s", index).splitlines()[0])["header"]["build_id"] == "10faa6bbaab83db3"


def test_name_of_the_output(callsign, shapes, tmp_path):
    program = tmp_path / "app"
    program.write_bytes(shapes.path.read_bytes())
    callsign.good("convert", program, "-q", "--to", "breakpad")
    text = (tmp_path / "app.sym").read_text()
    assert text.startswith("MODULE Linux ") and text.splitlines()[0].endswith("0 app")
    assert "\nINLINE 0 " in text and not (tmp_path / "app.gsym").exists()


def test_lines_that_cannot_be_used(callsign, demo, tmp_path):
    demo.write_text(EXAMPLE + "FUTURE record\r\nFUNC 2000\n")
    done = callsign.run("convert", demo, "-o", tmp_path / "o.gsym")
    assert done.returncode == 1 and (tmp_path / "o.gsym").exists()
    assert "2 dropped: damaged-text-line (first: line 14: no record that is known: FUTURE record)" in done.stderr
    assert "damaged-text-line" in callsign.bad("convert", "--strict", "-q", demo, "-o", tmp_path / "p.gsym")


def answers(callsign, index, addresses, *options):
    text = callsign.run("lookup", "--json", *options, index, stdin="".join(f"{a:x}\n" for a in addresses)).stdout
    return [json.loads(line) for line in text.splitlines()]


def functions(callsign, index):
    for line in callsign.good("dump", "--json", index).splitlines():
        function = json.loads(line).get("function")
        if function:
            yield int(function["start"], 16), function["size"]


@pytest.mark.parametrize("options", [["--mangled"], []], ids=["mangled", "demangled"])
def test_answers_are_those_of_the_program(callsign, classes, tmp_path, options):
    """From DWARF straight, and by way of a symbol file: the same frames at every address. Lost are files of rows without a line."""
    straight, text, index = tmp_path / "a.gsym", tmp_path / "a.sym", tmp_path / "b.gsym"
    callsign.good("convert", classes.path, "-q", "-o", straight)
    callsign.good("convert", classes.path, "-q", "--to", "breakpad", *options, "-o", text)
    callsign.good("convert", text, "-q", "-o", index)
    callsign.good("verify", index)
    addresses = [a for start, size in functions(callsign, straight) for a in range(start, start + size)]
    assert len(addresses) > 100
    wanted = answers(callsign, straight, addresses, *([] if options else ["--demangle"]))
    for want in wanted:
        for frame in want["frames"]:
            if "line" not in frame:
                frame.pop("file", None)
    got = answers(callsign, index, addresses)
    for answer in wanted + got:
        answer.pop("reason", None)
    assert got == wanted
    assert ("_ZN" in text.read_text()) == bool(options)


def large_file(path):
    """Several megabytes, so that it is cut; definitions stand between functions now and then."""
    random.seed(5)
    with open(path, "w") as out:
        out.write("MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 large\nFILE 0 a.c\nINLINE_ORIGIN 0 i\n")
        for k in range(20000):
            start = 0x1000 + 0x100 * k
            out.write(f"FUNC {start:x} 100 0 function_{k}\nINLINE 0 {k} {k % 7} {k % 5} {start + 8:x} 8\n")
            for off in range(0, 0x100, 0x20):
                out.write(f"{start + off:x} 20 {random.randrange(1, 9999)} {k % 7}\n")
            if k % 4000 == 3999:
                out.write(f"FILE {k // 4000 + 1} dir/{k}.c\nINLINE_ORIGIN {k // 4000 + 1} g{k}\n")


@pytest.mark.parametrize("to", ["gsym", "breakpad"])
def test_threads_change_nothing(callsign, tmp_path, to):
    path = tmp_path / "large.sym"
    large_file(path)
    outputs = []
    for threads in (1, 2, 5):
        out = tmp_path / f"{threads}.out"
        callsign.good("convert", path, "-q", "--to", to, "--threads", threads, "-o", out)
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]
    if to == "gsym":
        k = 19994 # of file 2, which is defined further up, behind others' functions
        assert f"function_{k} + 0 at dir/7999.c:" in callsign.good("lookup", tmp_path / "1.out", hex(0x1000 + 0x100 * k))


def test_every_truncation(callsign, demo, tmp_path):
    """A file cut anywhere converts, or is refused with one line."""
    text = (EXAMPLE + STACK).encode()
    for size in range(0, len(text), 7):
        demo.write_bytes(text[:size])
        done = callsign.run("convert", "-q", demo, "-o", tmp_path / "o.gsym")
        assert done.returncode in (0, 1, 2) and len(done.stderr.splitlines()) == (done.returncode > 0)


def test_universal_file(callsign, tmp_path):
    """Each image goes to a file of its own."""
    clang = need("clang-22")
    source = tmp_path / "a.c"
    source.write_text("int f(int a) { return a * 2; }\n")
    objects = []
    for arch in ("x86_64", "arm64"):
        objects.append(tmp_path / f"{arch}.o")
        subprocess.run([clang, "-g", "-c", f"--target={arch}-apple-macos12", source, "-o", objects[-1]], check=True)
    fat = tmp_path / "fat"
    subprocess.run([need("llvm-lipo-22"), "-create", *objects, "-output", fat], check=True)
    callsign.good("convert", fat, "-q", "--to", "breakpad")
    for arch in ("x86_64", "arm64"):
        assert (tmp_path / f"fat.{arch}.sym").read_text().startswith(f"MODULE mac {arch} ")


OVERLAP = """MODULE Linux x86_64 000000000000000000000000000000000 x
FILE 0 a.c
FUNC 1000 100 0 outer
1000 100 1 0
FUNC 1050 10 0 inner
1050 10 2 0
FUNC 2000 10 0 first
FUNC 2000 10 0 second
2000 10 3 0
"""


def test_functions_that_overlap(callsign, tmp_path):
    """The first in the file stays, as in Breakpad's own reader; the others are told."""
    sym, report = tmp_path / "x.sym", tmp_path / "report.json"
    sym.write_text(OVERLAP)
    out = callsign.good("lookup", sym, "0x1055", "0x1065", "0x2000")
    assert out == "0x1055: outer + 85 at a.c:1\n0x1065: outer + 101 at a.c:1\n0x2000: first + 0 (the function has no line table)\n"
    done = callsign.run("convert", sym, "-o", tmp_path / "x.gsym", "--report", report, "--verbose")
    assert done.returncode == 0
    assert "overlapping-function (first: inner at 0x1050+0x10: the function at 0x1000+0x100 came first)" in done.stderr
    assert "duplicate-dropped (first: second at 0x2000+0x10" in done.stderr
    assert callsign.run("convert", "-q", "--strict", sym, "-o", tmp_path / "x.gsym").returncode == 2


def test_functions_of_one_range_can_be_merged(callsign, tmp_path):
    sym, index = tmp_path / "x.sym", tmp_path / "x.gsym"
    sym.write_text(OVERLAP)
    callsign.good("convert", "-q", "--merged-functions", sym, "-o", index)
    answer = json.loads(callsign.good("lookup", "--json", "--merged", index, "0x2000"))
    assert answer["candidates"] == ["first", "second"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_windows_ids_and_unwinding(callsign, tmp_path, machine):
    """MODULE names the PDB; CODE_ID is time stamp and size of the image; .pdata becomes STACK records."""
    clang, link = need("clang-22"), need("lld-link-22")
    source, program, out = tmp_path / "m.c", tmp_path / "prog.exe", tmp_path / "prog.sym"
    source.write_text("__attribute__((noinline)) int f(int *p) { return p[1]; }\n"
                      "int start(void) { volatile int a[50]; a[1] = 3; return f((int *)a) + f((int *)a + 1); }\n")
    subprocess.run([clang, f"--target={machine}-pc-windows-msvc", "-O1", "-g", "-c", source, "-o", tmp_path / "m.obj"], check=True)
    subprocess.run([link, "/nodefaultlib", "/entry:start", "/subsystem:console", "/debug", "/timestamp:0x12345678",
                    "/pdbaltpath:c:\\build\\names.pdb", tmp_path / "m.obj", f"/out:{program}"], check=True)
    callsign.run("convert", program, "-q", "--to", "breakpad", "-o", out)
    lines = out.read_text().splitlines()
    assert lines[0].startswith("MODULE windows ") and lines[0].endswith(" names.pdb")
    image_size = int.from_bytes(program.read_bytes()[int.from_bytes(program.read_bytes()[0x3c:0x40], "little") + 80:][:4], "little")
    assert lines[1] == f"INFO CODE_ID 12345678{image_size:X} prog.exe"
    stacks = [line for line in lines if line.startswith("STACK CFI INIT ")]
    assert len(stacks) == 1 and (".cfa: $rsp " in stacks[0] if machine == "x86_64" else ".cfa: sp 0 + .ra: x30" in stacks[0])


@pytest.mark.parametrize("place", ["beside", ".debug", "below the debug folder", "below another"])
def test_the_image_of_a_debug_file(callsign, tmp_path, place):
    """A debug file has no frame tables: they are those of the image, which is found by where the debug file lies, and by its id."""
    image = tmp_path / "bin" / "app"
    image.parent.mkdir()
    (tmp_path / "app.c").write_text("int main(int argc, char **argv) { return argv[0][0] + argc; }\n")
    subprocess.run([need("gcc"), "-g", "-O1", "-Wl,--build-id=sha1", tmp_path / "app.c", "-o", image], check=True)
    folder = {"beside": image.parent, ".debug": image.parent / ".debug"}.get(place, tmp_path / "dbg" / str(image.parent).lstrip("/"))
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([need("objcopy"), "--only-keep-debug", image, folder / "app.debug"], check=True)
    subprocess.run([need("strip"), image], check=True)

    def frames_of(*options):
        callsign.good("convert", folder / "app.debug", "-q", "--to", "breakpad", "-o", tmp_path / "app.sym", *options)
        return (tmp_path / "app.sym").read_text().count("STACK CFI INIT ")
    # The name of the folder "db" begins that of the folder it lies in, and is no folder above it.
    given = {"below the debug folder": tmp_path / "dbg", "below another": tmp_path / "db"}.get(place, tmp_path / "none")
    assert (frames_of("--debug-dir", given) > 3) == (place != "below another")
    subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", image], check=True)
    assert frames_of("--debug-dir", given) == 0


def test_no_cfi(callsign, shapes, tmp_path):
    whole, without = tmp_path / "whole.sym", tmp_path / "without.sym"
    callsign.good("convert", shapes.path, "-q", "--to", "breakpad", "-o", whole)
    callsign.good("convert", shapes.path, "-q", "--to", "breakpad", "--no-cfi", "-o", without)
    lines = whole.read_text().splitlines()
    assert sum(line.startswith("STACK CFI INIT ") for line in lines) > 3
    assert [line for line in lines if not line.startswith("STACK ")] == without.read_text().splitlines()


def test_image_of_a_debug_file(callsign, shapes, tmp_path):
    """A debug-only file has no bytes for unwinding; those of its image are used, wherever debuggers would look the other way."""
    objcopy, folder = need("objcopy"), tmp_path / "usr/bin"
    whole, image = tmp_path / "whole.sym", folder / "app"
    folder.mkdir(parents=True)
    subprocess.run([objcopy, "--strip-debug", shapes.path, image], check=True)
    places = [folder / "app.debug", folder / ".debug/app", folder / ".debug/app.debug", tmp_path / "root" / str(folder)[1:] / "app.debug"]
    stacks = {}
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([objcopy, "--only-keep-debug", shapes.path, place], check=True)
        callsign.good("convert", place, "-q", "--to", "breakpad", "--debug-dir", tmp_path / "root", "-o", whole)
        stacks[place] = [line for line in whole.read_text().splitlines() if line.startswith("STACK ")]
        place.unlink()
    callsign.good("convert", shapes.path, "-q", "--to", "breakpad", "-o", whole)
    wanted = [line for line in whole.read_text().splitlines() if line.startswith("STACK ")]
    assert len(wanted) > 3 and all(found == wanted for found in stacks.values()), stacks
    subprocess.run([objcopy, "--only-keep-debug", shapes.path, places[0]], check=True)
    subprocess.run([objcopy, "--remove-section=.note.gnu.build-id", image], check=True)
    callsign.good("convert", places[0], "-q", "--to", "breakpad", "-o", whole)
    assert "\nSTACK " not in whole.read_text()


def test_frame_data_of_a_pdb(callsign, tmp_path):
    """x86's rules are in the PDB: STACK WIN, from the image with its PDB as from the PDB alone."""
    clang, link = need("clang-22"), need("lld-link-22")
    source, program, out = tmp_path / "m.c", tmp_path / "prog.exe", tmp_path / "prog.sym"
    source.write_text("__attribute__((noinline)) int f(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] * n; return s; }\n"
                      "int start(void) { volatile int a[50]; a[1] = 3; return f((int *)a, 3) + f((int *)a + 1, 4); }\n")
    subprocess.run([clang, "--target=i686-pc-windows-msvc", "-O2", "-g", "-c", source, "-o", tmp_path / "m.obj"], check=True)
    subprocess.run([link, "/nodefaultlib", "/entry:start", "/subsystem:console", "/debug", "/safeseh:no", tmp_path / "m.obj",
                    f"/out:{program}"], check=True)
    texts = {}
    for path in (program, program.with_suffix(".pdb")):
        callsign.good("convert", path, "-q", "--to", "breakpad", "-o", out)
        texts[path] = [line for line in out.read_text().splitlines() if line.startswith("STACK ")]
    stacks = texts[program]
    assert stacks == texts[program.with_suffix(".pdb")] and len(stacks) > 3
    first = stacks[0].split(" ", 12)
    assert first[:4] == ["STACK", "WIN", "4", "1000"] and first[11] == "1" and first[12].startswith("$T0 .raSearch = $eip $T0 ^ =")
    again = tmp_path / "again.sym"
    callsign.good("convert", out, "-q", "--to", "breakpad", "-o", again)
    assert again.read_text() == out.read_text()
    callsign.good("convert", program, "-q", "--to", "breakpad", "--no-cfi", "-o", out)
    assert "STACK" not in out.read_text()
    callsign.good("convert", program, "--strict", "-q", "-o", tmp_path / "prog.gsym") # nothing is lost that was wanted
