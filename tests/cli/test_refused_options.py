"""What cannot be done is told; what can be done beside it is done."""
import functools
import json
import operator
import pathlib
import shutil
import subprocess

import pytest

from programs import need

SOURCE = "int twice(int a) { return 2 * a; }\nint main(int c, char **v) { (void)v; return twice(c); }\n"


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.c").write_text(SOURCE)
    subprocess.run([need("gcc"), "-g", "-O1", "-Wl,--build-id=none", "program.c", "-o", "program"], cwd=tmp_path, check=True)
    return tmp_path / "program"


@pytest.fixture
def index(callsign, program):
    callsign.good("convert", "-q", program, "-o", program.with_suffix(".gsym"))
    return program.with_suffix(".gsym")


def test_arch_of_a_thin_file(callsign, program, index, tmp_path):
    """It has one image, and that is of another machine."""
    out = tmp_path / "out"
    for command in (["convert", program, "-o", out], ["lookup", program, "0"], ["embed", index, program, "-o", out],
                    ["stats", program], ["dump", program]):
        assert "no image for 'arm64'; the file has x86_64" in callsign.bad(command[0], "--arch", "arm64", *command[1:])
    callsign.good("embed", index, program, "--arch", "x86_64", "-o", out)
    assert "no image for 'arm64'; the file has x86_64" in callsign.bad("lookup", out, "--arch", "arm64", "0")
    assert "option '--arch' goes with universal files" in callsign.bad("lookup", index, "--arch", "x86_64", "0")
    callsign.good("convert", "-q", "--arch", "x86_64", program, "-o", out)


@pytest.mark.parametrize("form", ["gsym", "gsym-v2", "breakpad", "bsym"])
@pytest.mark.parametrize("option", ["--debug-file", "--dwp"])
def test_debug_file_of_an_index(callsign, program, tmp_path, form, option):
    index, out = tmp_path / form, tmp_path / "out"
    callsign.run("convert", "-q", "--to", form, program, "-o", index)
    for command in (["lookup", index, "0"], ["dump", index], ["stats", index], ["explain", index, "0"],
                    ["convert", index, "-o", out], ["embed", index, program, "-o", out], ["diff", index, index],
                    ["verify", index], ["find", index, "main"]):
        if (form, command[0]) == ("breakpad", "verify"): continue  # which reads no Breakpad files
        line = callsign.bad(*command, option, program)
        assert f"is an index: option '{option}' goes with what is to be converted" in line
    assert not out.exists()


LISTS = {
    "kallsyms": "ffffffffffffff00 T a\nfffffffffffffff0 T b\n", "nm": "0000000000001000 T a\n0000000000001010 t b\n",
    "perf-7.map": "1000 10 a\n1010 10 b\n", "bx.symbol": "From    \\epoc32\\release\\armv5\\urel\\b.exe\n\n00000500    0010    b_500    a.o(.text)\n",
    "program.sym": "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 c\nFUNC 1000 100 0 one\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_options_of_lists_of_symbols(callsign, program, index, tmp_path, name):
    """Text of symbols has no image to choose, no debug file and no DWARF."""
    source, out = tmp_path / name, tmp_path / "out"
    source.write_text(LISTS[name])
    what = "is an index" if name.endswith(".sym") else "is a list of symbols"
    for option in (["--arch", "arm64"], ["--debug-file", program], ["--dwp", program]):
        for command in (["convert", source, "-o", out], ["lookup", source, "0x1000"], ["dump", source], ["stats", source],
                        ["find", source, "a"], ["explain", source, "0x1000"], ["diff", source, source], ["verify", index, "--against", source]):
            if name == "bx.symbol" and command[0] not in ("convert", "lookup"): continue
            line = callsign.bad(*command, *option)
            assert what in line and f"option '{option[0]}' goes with" in line, command
        if option[0] != "--arch":  # which goes with OBJECT
            assert f"option '{option[0]}' goes with" in callsign.bad("embed", source, program, "-o", out, *option)
    assert "option '--call-sites dwarf' goes with object files" in callsign.bad("convert", source, "-o", out, "--call-sites", "dwarf")
    assert not out.exists()
    callsign.good("convert", "-q", source, "-o", out)
    stripped = tmp_path / "stripped"
    subprocess.run(["objcopy", "--strip-debug", program, stripped], check=True)
    assert callsign.run("diff", source, stripped, "--debug-file", program, "--arch", "x86_64").returncode == 1


@pytest.mark.parametrize("option", ["--debug-file", "--dwp"])
def test_debug_file_of_an_embedded_index(callsign, program, tmp_path, option):
    """It goes in as it is; one that is made anew may use the file."""
    section, out = tmp_path / "section.o", tmp_path / "out"
    callsign.good("convert", "-q", "--to", "gsym-section", "--revision", "C", program, "-o", section)
    assert f"carries an index: option '{option}'" in callsign.bad("embed", section, program, "-o", out, option, program)
    assert not out.exists()
    callsign.good("embed", section, program, "-o", out, "--revision", "E", option, program)


@pytest.mark.parametrize("option", ["--debug-file", "--dwp", "--arch"])
def test_options_of_segments(callsign, program, tmp_path, option):
    callsign.good("convert", "-q", program, "-o", tmp_path / "parts", "--segment-size", "300")
    line = callsign.bad("lookup", tmp_path / "parts-manifest.json", "0", option, program)
    assert "is an index" in line and f"option '{option}' goes with" in line


@pytest.mark.parametrize("option", [["--arch", "x86_64"], ["--debug-file", "x"], ["--dwp", "x"], ["--dwo-dir", "x"], ["--oso-prefix", "x"],
                                    ["--no-companions"], ["--slide", "0"]], ids=lambda option: option[0])
@pytest.mark.parametrize("process", [["--maps", "/proc/self/maps"], ["--pid", "1"]], ids=["maps", "pid"])
def test_options_without_an_index(callsign, option, process):
    line = callsign.bad("lookup", "--no-cache", *process, *option, "0")
    assert f"{option[0]} needs an INDEX: it does not go with {process[0]}" in line


def test_call_sites_that_cannot_be(callsign, program, index, tmp_path):
    out, sites = tmp_path / "out", tmp_path / "sites"
    sites.write_text("main 0x4 twice\n")
    assert "is an index: option '--call-sites dwarf' goes with object files" in callsign.bad("convert", index, "-o", out, "--call-sites", "dwarf")
    for form in ("breakpad", "bsym"):
        for given in ("dwarf", sites):
            line = callsign.bad("convert", "--to", form, program, "-o", out, "--call-sites", given)
            assert f"option '--call-sites' does not go with '--to {form}', which has none" in line
    assert not out.exists()
    callsign.run("convert", "-q", index, "-o", out, "--call-sites", sites)  # a file's are added to an index
    assert out.exists()


def test_options_for_one_side_of_verify(callsign, program, index, tmp_path):
    """They mean OBJECT, and are refused where that has no use for them."""
    for option in (["--debug-file", program], ["--arch", "x86_64"], ["--dwp", program]):
        assert "is an index" in callsign.bad("verify", index, "--against", index, *option)
    callsign.good("verify", index, "--against", program, "--arch", "x86_64")


@pytest.mark.parametrize("option", ["--debug-file", "--arch"])
def test_options_for_one_side_of_diff(callsign, program, index, tmp_path, option):
    """They mean the program, on whichever side it stands; they are refused where neither side can use them."""
    stripped, debug = tmp_path / "stripped", tmp_path / "debug"
    shutil.copy(program, debug)
    subprocess.run(["objcopy", "--strip-debug", program, stripped], check=True)
    option = [option, debug if option == "--debug-file" else "x86_64"]
    object_file = stripped if option[0] == "--debug-file" else program
    for sides in ([index, object_file], [object_file, index], [object_file, object_file]):
        assert "the two say the same" in callsign.good("diff", *sides, *option)
    assert "is an index" in callsign.bad("diff", index, index, *option)
    assert "no image for 'arm64'; the file has x86_64" in callsign.bad("diff", index, program, "--arch", "arm64")


@pytest.mark.parametrize("form", ["gsym", "breakpad"])
def test_arch_of_an_index(callsign, program, tmp_path, form):
    index, out = tmp_path / form, tmp_path / "out"
    callsign.good("convert", "-q", "--to", form, program, "-o", index)
    for command in (["lookup", index, "0"], ["convert", index, "-o", out]):
        assert "is an index of one image: option '--arch'" in callsign.bad(*command, "--arch", "arm64")
    assert not out.exists()


def test_one_bad_address_among_others(callsign, index):
    start = json.loads(next(line for line in callsign.good("dump", "--json", index).splitlines() if '"twice"' in line))
    at = start["function"]["start"]
    good = callsign.good("lookup", index, at)
    done = callsign.run("lookup", index, at, "nonsense", at)
    assert (done.returncode, done.stdout) == (1, good + "nonsense: error: not a hexadecimal address\n" + good)
    assert done.stderr == "callsign: 'nonsense' is not a hexadecimal address\n"
    done = callsign.run("lookup", "--json", index, "bin+0x10", at)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and "error" in lines[0] and lines[1]["frames"][0]["function"] == "twice"
    assert "nor an offset within 64 bits from a function" in done.stderr
    assert "'nonsense' is not a hexadecimal address" in callsign.bad("lookup", index, "nonsense")


def test_one_bad_address_to_explain(callsign, index):
    start = json.loads(next(line for line in callsign.good("dump", "--json", index).splitlines() if '"twice"' in line))
    at = start["function"]["start"]
    good = callsign.good("explain", index, at)
    done = callsign.run("explain", index, at, "nonsense", at)
    assert (done.returncode, done.stdout) == (1, good + "\nnonsense: error: not a hexadecimal address\n\n" + good)
    assert done.stderr == "callsign: 'nonsense' is not a hexadecimal address\n"
    done = callsign.run("explain", "--json", index, "nonsense", at)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and "nonsense" in lines[0]["error"] and lines[1:] == [json.loads(callsign.good("explain", "--json", index, at))]
    assert "'nonsense' is not a hexadecimal address" in callsign.bad("explain", index, "nonsense")


@pytest.mark.parametrize("suffix, form", [("gsym", "gsym"), ("gsym", "gsym-v2"), ("sym", "breakpad"), ("bsym", "bsym")])
def test_no_second_suffix(callsign, index, suffix, form):
    """X.gsym without -o does not become X.gsym.gsym."""
    source = index.with_suffix("." + suffix)
    callsign.good("convert", "-q", "--to", form, index, "-o", index.parent / "other")
    (index.parent / "other").replace(source)
    assert f"ends in '.{suffix}' already; name the output with -o" in callsign.bad("convert", "-q", "--to", form, source)
    assert not pathlib.Path(f"{source}.{suffix}").exists()


def test_breakpad_files_in_use(callsign, tmp_path):
    """A file that no record names has no FILE."""
    sym = tmp_path / "a.sym"
    sym.write_text("FILE 0 unused.c\nFILE 1 a.c\nFILE 2 call.c\nFILE 3 no_line.c\nINLINE_ORIGIN 0 f\nFUNC 1000 20 0 g\nINLINE 0 5 2 0 1000 8\n"
                   "1000 10 7 1\n1010 10 0 3\n")
    callsign.good("convert", "-q", sym, "-o", tmp_path / "a.gsym")
    for source in (sym, tmp_path / "a.gsym"):
        callsign.good("convert", "-q", "--to", "breakpad", source, "-o", tmp_path / "again.sym")
        lines = (tmp_path / "again.sym").read_text().splitlines()
        files = {line.split(" ", 2)[1]: line.split(" ", 2)[2] for line in lines if line.startswith("FILE ")}
        assert sorted(files.values()) == ["a.c", "call.c"] and sorted(files) == ["0", "1"]
        inline = next(line.split() for line in lines if line.startswith("INLINE "))
        row = next(line.split() for line in lines if line.startswith("1000 "))
        assert files[inline[3]] == "call.c" and files[row[3]] == "a.c"
        assert callsign.good("lookup", tmp_path / "again.sym", "0x1004") == callsign.good("lookup", sym, "0x1004")


def made_up_id(code, is_turned):
    folded = bytearray(functools.reduce(operator.xor, code[k:4096:16]) for k in range(16))
    if is_turned:
        folded[0:4], folded[4:6], folded[6:8] = folded[3::-1], folded[5:3:-1], folded[7:5:-1]
    assert folded.hex() != "0" * 32
    return folded.hex().upper() + "0"


def test_breakpad_id_without_build_id(callsign, program, tmp_path):
    """As dump_syms makes it up: the first page of .text, 16 bytes at a time."""
    callsign.good("convert", "-q", "--to", "breakpad", program, "-o", tmp_path / "a.sym")
    found = (tmp_path / "a.sym").read_text().splitlines()[0].split()
    subprocess.run([need("objcopy"), "-O", "binary", "-j", ".text", program, tmp_path / "text"], check=True)
    assert found[3] == made_up_id((tmp_path / "text").read_bytes(), True)
    assert "CODE_ID" not in (tmp_path / "a.sym").read_text()


@pytest.mark.parametrize("system", ["mac", "windows"])
def test_breakpad_id_of_other_systems_without_build_id(callsign, tmp_path, system):
    """By the same rule, in the order of bytes that the system's ids have; an index made of the file has that id."""
    source, image, text, sym = (tmp_path / name for name in ("a.c", "prog", "text", "a.sym"))
    source.write_text("".join(f"int f{i}(int a) {{ return a * {i * i + 3} + {i}; }}\n" for i in range(40)) + "int start(void) { return f3(4); }\n")
    target = "arm64-apple-macos11" if system == "mac" else "x86_64-pc-windows-msvc"
    subprocess.run([need("clang-22"), f"--target={target}", "-O1", "-c", source, "-o", tmp_path / "a.o"], check=True)
    if system == "mac":
        link = [need("ld64.lld-22"), "-arch", "arm64", "-platform_version", "macos", "11.0", "11.0", "-dylib", "-no_uuid", "-o", image]
    else:
        link = [need("lld-link-22"), "/nodefaultlib", "/entry:start", "/subsystem:console", f"/out:{image}"]
    subprocess.run([*link, tmp_path / "a.o"], check=True)
    section = "__TEXT,__text" if system == "mac" else ".text"
    subprocess.run([need("llvm-objcopy-22"), f"--dump-section={section}={text}", image, tmp_path / "copy"], check=True)
    callsign.run("convert", "-q", "--to", "breakpad", image, "-o", sym)
    wanted = made_up_id(text.read_bytes(), system == "windows")
    assert sym.read_text().split()[:4] == ["MODULE", system, "arm64" if system == "mac" else "x86_64", wanted]
    sym.write_text(sym.read_text() + "PUBLIC 1000 0 f\n") # an image without symbols has no function
    callsign.good("convert", "-q", sym, "-o", tmp_path / "a.gsym")
    header = json.loads(callsign.good("dump", "--json", "-s", tmp_path / "a.gsym").splitlines()[0])["header"]
    assert header["build_id"] == made_up_id(text.read_bytes(), False)[:-1].lower()
