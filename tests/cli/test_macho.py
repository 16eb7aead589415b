"""Mach-O files made on Linux: dylibs and executables of ld64.lld, dSYMs of dsymutil, universal files of lipo."""
import os
import shutil
import struct
import subprocess

import pytest

from programs import need

TOOLS = ("clang-22", "ld64.lld-22", "dsymutil-22", "llvm-lipo-22", "llvm-nm-22", "llvm-strip-22")
ARCHS = ("x86_64", "arm64")
MAIN = """int area(int);
int outside(int);
static __attribute__((noinline)) int helper(int x) { return area(x) + outside(x); }
int main(int count, char **words) { (void)words; return helper(count) * 2; }
"""
AREA = """static inline int twice(int x) { volatile int sum = x + x; return sum; }
int area(int x) {
    return twice(x) * x;
}
"""
LIBRARY = """--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ dyld_stub_binder, _outside ]
...
"""


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with, for each architecture, main.ARCH.o, area.ARCH.o, prog.ARCH, prog.ARCH.dwarf (the inside of its dSYM)."""
    for tool in TOOLS:
        need(tool)
    folder = tmp_path_factory.mktemp("macho")
    for name, text in (("main.c", MAIN), ("area.c", AREA), ("libSystem.tbd", LIBRARY)):
        (folder / name).write_text(text)
    for arch in ARCHS:
        for name in ("main", "area"):
            run(folder, "clang-22", f"--target={arch}-apple-macos11", "-g", "-O1", "-c", f"{name}.c", "-o", f"{name}.{arch}.o")
        run(folder, "ld64.lld-22", "-arch", arch, "-platform_version", "macos", "11.0", "11.0", f"main.{arch}.o",
            f"area.{arch}.o", "libSystem.tbd", "-o", f"prog.{arch}")
        run(folder, "dsymutil-22", "--flat", f"prog.{arch}", "-o", f"prog.{arch}.dwarf")
    run(folder, "llvm-lipo-22", "-create", *(f"prog.{arch}" for arch in ARCHS), "-output", "prog.fat")
    run(folder, "llvm-lipo-22", "-create", "-fat64", *(f"prog.{arch}" for arch in ARCHS), "-output", "prog.fat64")
    run(folder, "llvm-lipo-22", "-create", "prog.arm64.dwarf", "-output", "single.fat")
    return folder


def symbols(folder, name):
    """{name: address} of defined symbols in code."""
    words = [line.split() for line in run(folder, "llvm-nm-22", name).splitlines()]
    return {word[2][1:]: int(word[0], 16) for word in words if len(word) == 3 and word[1] in "tT"}


def frames(callsign, path, address):
    return callsign.good("lookup", path, hex(address))


@pytest.mark.parametrize("arch", ARCHS)
def test_dsym_has_lines_and_inlined_calls(callsign, files, arch):
    start = symbols(files, f"prog.{arch}")["area"]
    text = callsign.good("lookup", files / f"prog.{arch}.dwarf", *(hex(start + offset) for offset in range(0, 12, 2)))
    assert "twice" in text and "area" in text and "area.c:1" in text and "area.c:3" in text


@pytest.mark.parametrize("arch", ARCHS)
def test_object_file_has_the_same_lines_at_its_own_addresses(callsign, files, arch):
    image, own = symbols(files, f"prog.{arch}"), symbols(files, f"main.{arch}.o")
    for name in ("main", "helper"):
        for offset in (0, 4):
            in_dsym = frames(callsign, files / f"prog.{arch}.dwarf", image[name] + offset).splitlines()
            in_object = frames(callsign, files / f"main.{arch}.o", own[name] + offset).splitlines()
            assert name in in_object[0]
            assert [line.replace(hex(image[name] + offset), hex(own[name] + offset)) for line in in_dsym] == in_object


@pytest.mark.parametrize("arch", ARCHS)
def test_executable_has_its_symbols_and_stubs(callsign, files, arch):
    path = files / f"prog.{arch}"
    index = files / f"prog.{arch}.gsym"
    callsign.good("convert", path, "-o", index, "--quiet")
    dump = callsign.good("dump", index)
    for name, address in symbols(files, path.name).items():
        if name != "_mh_execute_header":
            assert f"{address:#x}.." in dump and f" {name} " in dump
    assert "_mh_execute_header" not in dump
    assert "symbol stub for: outside" in dump


def test_exports_name_what_is_stripped(callsign, files):
    """Of the two symbol tables, the export trie cannot be stripped."""
    run(files, "llvm-strip-22", "-x", "prog.arm64", "-o", "stripped")
    address = symbols(files, "prog.arm64")["main"]
    assert "main" in frames(callsign, files / "stripped", address)


def addresses(folder, arch):
    """Some at the start of each function, none of which is shorter."""
    starts = [address for name, address in symbols(folder, f"prog.{arch}").items() if name != "_mh_execute_header"]
    return [hex(start + offset) for start in starts for offset in range(0, 12, 2)]


@pytest.mark.parametrize("name", ("prog.fat", "prog.fat64"))
def test_universal_file_gives_an_index_for_each_image(callsign, files, name):
    callsign.good("convert", files / name, "-o", files / f"{name}.gsym", "--quiet")
    for arch in ARCHS:
        where = addresses(files, arch)
        assert (callsign.good("lookup", files / f"{name}.{arch}.gsym", *where) ==
                callsign.good("lookup", files / f"prog.{arch}", *where))
    assert "x86_64, arm64" in callsign.bad("lookup", files / name, "0x1000")


@pytest.mark.parametrize("arch", ARCHS)
def test_objects_of_the_debug_map_answer_as_the_dsym(callsign, files, arch):
    where = addresses(files, arch)
    answer = callsign.good("lookup", files / f"prog.{arch}", *where)
    assert answer == callsign.good("lookup", files / f"prog.{arch}.dwarf", *where)
    assert "area.c:1" in answer and "main.c:3" in answer


def test_universal_file_of_one_is_that_one(callsign, files):
    address = symbols(files, "prog.arm64")["area"]
    assert frames(callsign, files / "single.fat", address) == frames(callsign, files / "prog.arm64.dwarf", address)


def test_java_class_is_no_object(callsign, tmp_path):
    path = tmp_path / "A.class"
    path.write_bytes(bytes.fromhex("cafebabe00000034") + bytes(100))
    assert str(path) in callsign.bad("convert", path, "-o", tmp_path / "out")


def test_object_files_that_are_missing(callsign, files, tmp_path):
    """Their lines and inlined calls are not in the index, and nothing but a line of the summary said so."""
    for name in ("prog.x86_64", "main.x86_64.o", "area.x86_64.o"):
        shutil.copy2(files / name, tmp_path / name)
    recorded = sorted({line.split()[-1] for line in run(tmp_path, "llvm-nm-22", "-pa", "prog.x86_64").splitlines() if line.endswith(".x86_64.o")})
    assert len(recorded) == 2
    for there in (2, 1, 0):
        prefix = tmp_path / f"prefix{there}"
        prefix.mkdir()
        for path in recorded[:there]:
            (prefix / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, prefix / path.lstrip("/"))
        for path in recorded:
            shutil.move(path, path + ".away")
        try:
            options = ["--oso-prefix", prefix]
            done = callsign.run("convert", tmp_path / "prog.x86_64", *options, "-o", tmp_path / "index")
            lookup = callsign.run("lookup", tmp_path / "prog.x86_64", *options, "main+0x0")
            stats = callsign.run("stats", tmp_path / "prog.x86_64", *options)
        finally:
            for path in recorded:
                shutil.move(path + ".away", path)
        is_whole = there == 2
        assert done.returncode == (not is_whole) and ("missing-object-file" in done.stderr) == (not is_whole)
        assert lookup.stdout.startswith("0x")
        for told in lookup, stats:
            assert ("answers are incomplete" in told.stderr) == (not is_whole)
            assert (f"{2 - there} dropped: missing-object-file" in told.stderr) == (not is_whole)


def test_objects_that_changed_since_they_were_linked(callsign, files, tmp_path):
    """The message has both times, and the file that was looked at. lld records no times, Apple's linker does."""
    recorded = next(line.split()[-1] for line in run(files, "llvm-nm-22", "-pa", "prog.arm64").splitlines() if line.endswith("area.arm64.o"))
    assert os.path.isabs(recorded)
    linked = int(os.stat(recorded).st_mtime)
    os.utime(files / "main.arm64.o", (linked, linked)) # it may have been compiled a second earlier
    image = bytearray((files / "prog.arm64").read_bytes())
    at = 32
    while struct.unpack_from("<I", image, at)[0] != 2: # LC_SYMTAB
        at += struct.unpack_from("<I", image, at + 4)[0]
    table, count = struct.unpack_from("<II", image, at + 8)
    for entry in range(table, table + 16 * count, 16):
        if image[entry + 4] == 0x66: # N_OSO
            struct.pack_into("<Q", image, entry + 8, linked)
    (tmp_path / "prog").write_bytes(image)
    moved = tmp_path / "prefix" / recorded.lstrip("/")
    moved.parent.mkdir(parents=True)
    shutil.copy2(recorded, moved)
    shutil.move(recorded, recorded + ".away")
    try:
        def tells(text):
            return text[:180] in report() # of an example, so much is kept

        def report():
            done = callsign.run("convert", tmp_path / "prog", "--oso-prefix", tmp_path / "prefix", "-o", tmp_path / "out.gsym")
            assert done.returncode == ("missing-object-file" in done.stderr)
            return done.stderr

        assert "missing-object-file" not in report()
        os.utime(moved, (linked + 100, linked + 100))
        assert tells(f"{moved}: modified at {linked + 100}, was linked when modified at {linked}")
        moved.unlink()
        assert f"{recorded}: not found" in report()
        shutil.copyfile(recorded + ".away", recorded)
        os.utime(recorded, (linked - 7, linked - 7))
        assert tells(f"{recorded}: modified at {linked - 7}, was linked when modified at {linked}") and str(moved) not in report()
    finally:
        shutil.move(recorded + ".away", recorded)
