"""Reports of sanitizers, named within the process by libcallsign-sanitizer.a, without llvm-symbolizer. The judge is llvm-symbolizer."""
import os
import pathlib
import re
import subprocess

import pytest

from programs import need

pytestmark = pytest.mark.plain_build

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "backtrace" / "sanitized.cc"
COMPILERS = ["g++", "clang++", "clang++-22"]
HOOKS = {"code", "data", "frame", "flush", "demangle", "set_demangle", "set_inline_frames"}
FRAME = re.compile(r"^    #\d+ 0x([0-9a-f]+) in (.+) (\S+?):(\d+)$", re.M)


@pytest.fixture(scope="module")
def archive(callsign):
    path = pathlib.Path(callsign.path).parent / "libcallsign-sanitizer.a"
    assert path.is_file(), f"{path} is not there"
    return path


def run(*args, **more):
    done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, timeout=120, **more)
    return done.returncode, done.stdout + done.stderr


def build(archive, compiler, folder, sanitizer, *flags):
    program = folder / "program"
    code, text = run(need(compiler), "-g", "-O1", f"-fsanitize={sanitizer}", *flags, SOURCE, "-o", program,
                     f"-L{archive.parent}", "-Wl,-u,__sanitizer_symbolize_code", "-lcallsign-sanitizer", "-pthread")
    assert code == 0, text
    return program


def mark(name):
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.endswith(f"LINE {name}"))


def report(program, what, **variables):
    """Without a symbolizer to be found: PATH leads nowhere."""
    code, text = run(program, what, env={"PATH": "/nonexistent", **variables})
    assert code != 0, text
    return text


def frames(text):
    return [(name, int(line)) for _, name, path, line in FRAME.findall(text) if path.endswith("/sanitized.cc")]


def test_archive_needs_nothing_that_is_intercepted(archive):
    _, text = run(need("nm"), "-u", archive)
    needed = set(re.findall(r" U (\S+)", text))
    # The compiler's own helpers, and three functions of libc that no sanitizer intercepts.
    assert needed <= {"_GLOBAL_OFFSET_TABLE_", "__cpu_model", "__cpu_features2", "__popcountdi2", "__errno_location", "syscall", "getauxval",
                      "__x86_get_cpuid_feature_leaf"}
    _, text = run(need("nm"), "-g", "--defined-only", archive)
    assert set(re.findall(r" [TDBRVW] (\S+)", text)) == {f"__sanitizer_symbolize_{name}" for name in HOOKS}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_address_sanitizer(archive, compiler, tmp_path):
    program = build(archive, compiler, tmp_path, "address")
    text = report(program, "heap", ASAN_OPTIONS="verbosity=2:detect_leaks=0")
    assert "Using internal symbolizer." in text
    got = frames(text)
    assert got[0][0].endswith("orders::take<int>(int*, int)") or got[0][0] == "orders::take<int>"
    assert got[0][1] == mark("take") and got[1] == ("orders::Shelf::read(int*, int)", mark("read"))
    assert ("orders::fresh(int)", mark("fresh")) in got
    assert f"sanitized.cc:{mark('take')} in " in text.split("SUMMARY:")[1]
    # On the sanitizer's small alternate stack.
    got = frames(report(program, "stack", ASAN_OPTIONS="detect_leaks=0:use_sigaltstack=1"))
    assert len(got) > 100 and ("orders::deep(char volatile*, int)", mark("deep")) in got
    assert ("orders::Shelf::read(int*, int)", mark("read")) in frames(report(program, "global", ASAN_OPTIONS="detect_leaks=0"))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_same_as_llvm_symbolizer(archive, compiler, tmp_path):
    judge = need("llvm-symbolizer-22")
    program = build(archive, compiler, tmp_path, "address", "-no-pie", "-fno-pie")
    rows = [row for row in FRAME.findall(report(program, "heap", ASAN_OPTIONS="detect_leaks=0")) if row[2].endswith("/sanitized.cc")]
    assert len(rows) >= 3
    for pc in dict.fromkeys(row[0] for row in rows):
        _, text = run(judge, f"--obj={program}", "--output-style=GNU", "-f", "-i", "-C", "0x" + pc)
        lines = text.splitlines()
        want = [(name, place.split(" (disc")[0]) for name, place in zip(lines[::2], lines[1::2])]
        got = [(row[1], f"{row[2]}:{row[3]}") for row in rows if row[0] == pc]
        want = [(name, place) for name, place in want if not place.endswith((":0", ":?"))]
        # An inlined function of GCC has its plain name in the debug information; here it has its scope.
        assert [place for _, place in got] == [place for _, place in want]
        assert all(name == wanted or name.endswith("::" + wanted) for (name, _), (wanted, _) in zip(got, want))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_stripped_program_with_an_index_beside(callsign, archive, compiler, tmp_path):
    program = build(archive, compiler, tmp_path, "address")
    callsign.good("convert", program, "-o", f"{program}.gsym")
    run(need("strip"), program)
    got = frames(report(program, "heap", ASAN_OPTIONS="detect_leaks=0"))
    assert got[0][1] == mark("take") and got[1] == ("orders::Shelf::read(int*, int)", mark("read"))
    # One of another build is not taken.
    other = tmp_path / "other"
    other.mkdir()
    callsign.good("convert", build(archive, compiler, other, "address", "-DOTHER", "-O2"), "-o", f"{program}.gsym")
    assert not frames(report(program, "heap", ASAN_OPTIONS="detect_leaks=0"))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_names_and_inlining_as_wanted(archive, compiler, tmp_path):
    program = build(archive, compiler, tmp_path, "address")
    text = report(program, "heap", ASAN_OPTIONS="detect_leaks=0:symbolize_inline_frames=0")
    if "clang" in compiler:  # GCC 12's run-time library has no hook to choose it
        assert "Shelf::read" not in text
    text = report(program, "heap", ASAN_OPTIONS="detect_leaks=0:demangle=0")
    if "clang" in compiler:
        assert "_ZN6orders5Shelf4readEPii" in text and "orders::Shelf::read(int*, int)" not in text


@pytest.mark.parametrize("compiler", ["g++", "clang++-22"])
def test_thread_sanitizer(archive, compiler, tmp_path):
    """Intercepts more than others, and locks among them. Variables are named too."""
    program = build(archive, compiler, tmp_path, "thread")
    prefix = ["setarch", "-R"] if run("setarch", "-R", "true")[0] == 0 else []
    code, text = run(*prefix, program, "race", env={**os.environ, "TSAN_OPTIONS": "external_symbolizer_path="})
    assert code == 66, text
    assert text.count(f"orders::count_up() {SOURCE}:{mark('count')} ") >= 2
    assert f" main {SOURCE}:{mark('race')} " in text
    assert "Location is global 'counter' of size 8" in text


@pytest.mark.parametrize("compiler", ["g++", "clang++-22"])
def test_undefined_behaviour_sanitizer(archive, compiler, tmp_path):
    program = build(archive, compiler, tmp_path, "undefined", "-fno-sanitize-recover=undefined")
    text = report(program, "undefined", UBSAN_OPTIONS="print_stacktrace=1")
    assert "signed integer overflow: 2147483647 + 1" in text
    assert frames(text)[:2] == [("orders::overflow(int)", mark("overflow")), ("main", mark("undefined"))]
