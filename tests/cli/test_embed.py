"""callsign embed, extract and convert --to gsym-section: programs of real compilers, looked at by the tools people use."""
import hashlib
import json
import os
import stat
import struct
import subprocess

import pytest

import gsym_make
from gsym_bytes import Bytes
from programs import need

SOURCE = """static inline __attribute__((always_inline)) int square(int x) { volatile int y = x * x; return y + 1; }
__attribute__((noinline)) int twice(int a) { return square(a) + square(a + 1); }
int main(int argc, char **argv) { (void)argv; return twice(argc) - 7; }
"""
REVISIONS = ["A", "B", "B-script", "C", "D", "E", "F", "G"]


def run(folder, *command, code=0):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(folder, compiler, *flags, name="program", link=True):
    need(compiler)
    (folder / "program.c").write_text(SOURCE)
    run(folder, compiler, "-g", "-O2", *flags, *([] if link else ["-c"]), "program.c", "-o", name)
    return folder / name


def address(program, nm="nm"):
    for line in run(program.parent, need(nm), program.name).splitlines():
        words = line.split()
        if len(words) == 3 and words[2].lstrip("_") == "twice":
            return hex(int(words[0], 16))
    raise AssertionError("no symbol")


def wanted(callsign, program, at=None):
    """An index made from the debug information, and its answer."""
    index = program.with_suffix(".plain.gsym")
    callsign.good("convert", "-q", program, "-o", index)
    return index, callsign.good("lookup", index, at) if at else None


@pytest.fixture(params=["gcc", "clang-22"])
def elf(request, tmp_path):
    return build(tmp_path, request.param)


def test_elf_program(callsign, elf, tmp_path):
    """A whole GSYM file: it comes back unchanged, the program runs, the tools accept it, strip keeps it."""
    at = address(elf)
    index, answer = wanted(callsign, elf, at)
    assert "square" in answer and "[inlined]" in answer and "twice" in answer
    out = tmp_path / "out"
    callsign.good("embed", index, elf, "-o", out)
    run(tmp_path, out)
    assert callsign.good("lookup", out, at) == answer
    callsign.good("verify", out)
    callsign.good("extract", out, "-o", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == index.read_bytes()
    for tool, *flags in (["readelf", "-aW"], ["objdump", "-h"], ["llvm-readobj-22", "-S", "-l", "-s"], ["llvm-objdump-22", "-h"]):
        assert ".gsym" in run(tmp_path, need(tool), *flags, "out")
    assert "Warning" not in subprocess.run(["readelf", "-aW", out], capture_output=True, text=True).stderr
    for command in (["strip"], ["strip", "-g"], ["llvm-strip-22", "-g"], ["llvm-strip-22", "--keep-section=.gsym"]):
        run(tmp_path, need(command[0]), *command[1:], "out", "-o", "stripped")
        run(tmp_path, tmp_path / "stripped")
        assert callsign.good("lookup", tmp_path / "stripped", at) == answer


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_revision(callsign, tmp_path, revision):
    program = build(tmp_path, "gcc")
    at = address(program)
    _, answer = wanted(callsign, program, at)
    if revision == "A":
        answer = f"{at}: twice + 0 at {program.with_suffix('.c')}:1\n"  # no inlined calls
    section, out = tmp_path / "section.o", tmp_path / "out"
    callsign.good("convert", "-q", "--to", "gsym-section", "--revision", revision, program, "-o", section)
    assert callsign.good("lookup", section, at) == answer
    callsign.good("verify", section)
    for source in ([section, program], [program, program, "--revision", revision]):
        callsign.good("embed", *source, "-o", out)
        run(tmp_path, out)
        assert callsign.good("lookup", out, at) == answer
        run(tmp_path, need("strip"), "out", "-o", "stripped")
        assert callsign.good("lookup", tmp_path / "stripped", at) == answer
        callsign.good("extract", tmp_path / "stripped", "-o", tmp_path / "back")
        assert callsign.good("lookup", tmp_path / "back", at) == answer


def index_of_equal_starts(path):
    """Functions with one start, merged ones, and one without a name that has a line."""
    gsym_make.write(path, [
        {"start": 0x1000, "size": 16, "name": "one", "line": 1, "merged": [{"name": "two", "line": 2}]},
        {"start": 0x1010, "size": 8, "name": "short", "line": 3}, {"start": 0x1010, "size": 16, "name": "long", "line": 4},
        {"start": 0x1020, "size": 8, "name": "same", "line": 5}, {"start": 0x1020, "size": 8, "name": "same", "line": 5},
        {"start": 0x1030, "size": 8, "name": "nameless", "line": 6}, {"start": 0x1040, "size": 8, "name": "last"}])
    index = Bytes(path)
    index.rename("nameless", "\0" * 8)
    index.save()
    return path


@pytest.mark.parametrize("revision", REVISIONS)
def test_sections_are_converted_whole(callsign, tmp_path, revision):
    """Of functions with one start the last one stayed, with its line, and those without a name were left out."""
    index, section, back = index_of_equal_starts(tmp_path / "a.gsym"), tmp_path / "a.o", tmp_path / "back.gsym"
    callsign.good("convert", "-q", "--to", "gsym-section", "--revision", revision, index, "-o", section)
    done = callsign.run("convert", section, "-o", back, "--report", tmp_path / "report.json")
    assert done.returncode == 0
    assert "no debug information" not in done.stderr and "dropped" not in done.stderr
    asked = [hex(at) for start in range(0x1000, 0x1050, 16) for at in (start, start + 7, start + 8, start + 15)]
    answers = [callsign.run("lookup", path, "--json", *asked).stdout for path in (index, section, back)]
    assert '"one"' in answers[0] and '"line":6' in answers[0]
    assert answers[1] == answers[0] and answers[2] == answers[0]
    done = callsign.run("diff", section, back)
    assert done.returncode == 0, done.stdout
    coverage = json.loads((tmp_path / "report.json").read_text())["coverage"]
    assert coverage["line"] == {"input": 48, "index": 48}


@pytest.mark.parametrize("option", ["--to=breakpad", "--to=bsym", "--merged-functions", "--merged-functions=aliases"])
def test_the_first_of_equal_ranges_stays_the_answer(callsign, tmp_path, option):
    """Of what a conversion makes of debug information the last one is the best known, and these formats took that."""
    index, section, out = tmp_path / "a.gsym", tmp_path / "a.o", tmp_path / "out"
    gsym_make.write(index, [{"start": 0x1000, "size": 16, "name": name} for name in ("one", "two", "three")] +
                    [{"start": 0x1010, "size": 16, "name": "last"}], base=0)
    callsign.good("convert", "-q", "--to", "gsym-section", index, "-o", section)
    for path in index, section:
        callsign.good("convert", "-q", option, path, "-o", out)
        assert callsign.good("lookup", out, "0x1004").startswith("0x1004: one + 4")


def test_sizeless_functions_of_a_section(callsign, tmp_path):
    """In a section one without a size answers where no other of its start does; in GSYM, if it comes first."""
    index, section, back = tmp_path / "a.gsym", tmp_path / "a.o", tmp_path / "back.gsym"
    gsym_make.write(index, [{"start": 0x1000, "size": 0, "name": "label"}, {"start": 0x1000, "size": 8, "name": "function"},
                            {"start": 0x1010, "size": 8, "name": "last"}])
    callsign.good("convert", "-q", "--to", "gsym-section", index, "-o", section)
    answer = callsign.good("lookup", section, "0x1004", "0x100c")
    assert answer.startswith("0x1004: function + 4") and "0x100c: label + 12" in answer
    callsign.good("convert", "-q", section, "-o", back)
    assert callsign.good("lookup", back, "0x1004", "0x100c") == answer


def test_a_section_without_debug_information(callsign, tmp_path):
    """The object was said to have no debug information, also by commands that convert it in memory."""
    index, section = tmp_path / "a.gsym", tmp_path / "a.o"
    gsym_make.write(index, [{"start": 0x1000, "size": 16, "name": "one", "line": 1}, {"start": 0x1010, "size": 8, "name": "two", "line": 2}])
    for revision in "B", "G":
        callsign.good("convert", "-q", "--to", "gsym-section", "--revision", revision, index, "-o", section)
        done = callsign.run("verify", index, "--against", section)
        assert done.returncode == 0 and "0 different" in done.stdout and done.stderr == "", done


@pytest.mark.parametrize("strings", [".strtab", ".debug_str"])
def test_shared_strings(callsign, tmp_path, strings):
    program = build(tmp_path, "gcc")
    at = address(program)
    _, answer = wanted(callsign, program, at)
    section, out = tmp_path / "section.o", tmp_path / "out"
    callsign.good("convert", "-q", "--to", "gsym-section", "--strings-in", strings, program, "-o", section)
    assert callsign.good("lookup", section, at) == answer
    callsign.good("embed", section, program, "-o", out)
    run(tmp_path, out)
    names = run(tmp_path, "readelf", "-SW", "out")
    assert ".gsym " in names and ".gsymstrtab" not in names
    assert callsign.good("lookup", out, at) == answer
    # What had the strings before still reads them.
    assert "twice" in run(tmp_path, "nm", "out")
    assert "square" in run(tmp_path, "readelf", "--debug-dump=info", "out")


def test_replaced_and_reproducible(callsign, tmp_path):
    program = build(tmp_path, "gcc")
    index, _ = wanted(callsign, program, address(program))
    once, again, other = tmp_path / "once", tmp_path / "again", tmp_path / "other"
    callsign.good("embed", index, program, "-o", once)
    callsign.good("embed", program, program, "-o", other)
    callsign.good("embed", index, other, "-o", again)
    assert "gsymstrtab" in run(tmp_path, "readelf", "-SW", "again")  # the strings of the older one are left
    callsign.good("embed", index, once, "-o", again)
    assert once.read_bytes() == again.read_bytes()
    callsign.good("embed", index, once, "-o", once)  # in place
    assert once.read_bytes() == again.read_bytes()
    program.chmod(0o751)
    callsign.good("embed", index, program, "-o", tmp_path / "mode")
    assert stat.S_IMODE(os.stat(tmp_path / "mode").st_mode) == 0o751


@pytest.mark.parametrize("compiler", ["s390x-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"])
@pytest.mark.parametrize("link", [True, False])
def test_other_machines(callsign, tmp_path, compiler, link):
    program = build(tmp_path, compiler, link=link, name="program.o")
    at = address(program, compiler.replace("gcc", "nm"))
    index, answer = wanted(callsign, program, at)
    for flags in ([], ["--revision", "B"]):
        callsign.good("embed", program if flags else index, program, *flags, "-o", tmp_path / "out")
        assert callsign.good("lookup", tmp_path / "out", at) == answer
        assert ".gsym" in run(tmp_path, need("llvm-readobj-22"), "-S", "out")
        run(tmp_path, compiler.replace("gcc", "strip"), "-g", "out", "-o", "stripped")
        assert callsign.good("lookup", tmp_path / "stripped", at) == answer


@pytest.mark.parametrize("machine", ["x86_64", "i686"])
@pytest.mark.parametrize("link", [True, False])
def test_windows(callsign, tmp_path, machine, link):
    prefix = f"{machine}-w64-mingw32"
    program = build(tmp_path, f"{prefix}-gcc", link=link, name="program.exe")
    at = address(program, f"{prefix}-nm")
    index, answer = wanted(callsign, program, at)
    for flags in ([], ["--revision", "B"]):
        out = tmp_path / "out.exe"
        callsign.good("embed", program if flags else index, program, *flags, "-o", out)
        assert callsign.good("lookup", out, at) == answer
        text = run(tmp_path, need("llvm-readobj-22"), "-h", "-S", "-r", out)
        assert "Name: .gsym" in text
        assert ".gsym" in run(tmp_path, f"{prefix}-objdump", "-h", out)
        assert run(tmp_path, f"{prefix}-nm", out) == run(tmp_path, f"{prefix}-nm", program)
        assert subprocess.run([f"{prefix}-objdump", "-r", out], cwd=tmp_path, capture_output=True).stderr == b""
        run(tmp_path, f"{prefix}-strip", "-g", out, "-o", "stripped.exe")
        assert callsign.good("lookup", tmp_path / "stripped.exe", at) == answer
        assert "already" in callsign.bad("embed", index, out, "-o", tmp_path / "twice.exe")


def index_base(callsign, index):
    return int(json.loads(callsign.good("dump", "--json", index).splitlines()[0])["header"]["base_address"], 16)


def signature_command(data):
    at = 32
    for _ in range(int.from_bytes(data[16:20], "little")):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0x1d:
            return at
        at += size
    raise AssertionError("no signature")


def signature_place(data):
    return struct.unpack_from("<II", data, signature_command(data) + 8)


def check_signature(path, before=None):
    """Checks every page of an ad-hoc signature as the kernel does; what it says of the image must be what it said before."""
    data = path.read_bytes()
    at, size = signature_place(data)
    assert at % 16 == 0 and at + size == len(data)
    magic, length, count = struct.unpack_from(">III", data, at)
    assert magic == 0xfade0cc0 and length <= size
    places = dict(struct.unpack_from(">II", data, at + 12 + 8 * i) for i in range(count))
    blobs = {slot: data[at + off:at + off + int.from_bytes(data[at + off + 4:at + off + 8], "big")] for slot, off in places.items()}
    cd = blobs.pop(0)
    magic, length, version, flags, hashes, ident, specials, codes, limit = struct.unpack_from(">9I", cd)
    assert (magic, length, version, flags) == (0xfade0c02, len(cd), 0x20400, 0x20002)
    assert cd[36:40] == bytes([32, 2, 0, 12]) and limit == at and codes == -(-limit // 4096)
    for page in range(codes):
        expected = hashlib.sha256(data[page * 4096:min(limit, page * 4096 + 4096)]).digest()
        assert cd[hashes + 32 * page:hashes + 32 * page + 32] == expected, f"page {page}"
    assert hashes + 32 * codes == len(cd)
    found = {"identifier": cd[ident:cd.index(0, ident)], "segment": cd[64:88], "special": cd[hashes - 32 * specials:hashes],
             "blobs": blobs, "flags": flags}
    assert before is None or found == before
    return found


LIBRARY = """--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ dyld_stub_binder ]
...
"""


def link_macho(folder, arch, *flags, name):
    run(folder, "ld64.lld-22", "-arch", arch, "-platform_version", "macos", "11.0", "11.0", f"{arch}.o", "libSystem.tbd", *flags,
        "-o", name)
    return folder / name


@pytest.fixture(scope="module")
def macho(tmp_path_factory):
    for tool in ("clang-22", "ld64.lld-22", "llvm-lipo-22", "llvm-nm-22", "llvm-readobj-22", "llvm-objdump-22", "dsymutil-22"):
        need(tool)
    folder = tmp_path_factory.mktemp("macho")
    (folder / "program.c").write_text(SOURCE)
    (folder / "libSystem.tbd").write_text(LIBRARY)
    for arch in ("x86_64", "arm64"):
        run(folder, "clang-22", f"--target={arch}-apple-macos11", "-g", "-O2", "-c", "program.c", "-o", f"{arch}.o")
        link_macho(folder, arch, "-headerpad", "1000", name=f"{arch}.exe")
        link_macho(folder, arch, "-dylib", "-headerpad", "1000", "-fixup_chains", name=f"{arch}.dylib")
        link_macho(folder, arch, "-headerpad", "0", name=f"{arch}.tight")
        run(folder, "dsymutil-22", "--flat", f"{arch}.exe", "-o", f"{arch}.dsym")
    run(folder, "llvm-lipo-22", "-create", "x86_64.exe", "arm64.exe", "-output", "universal")
    return folder


@pytest.mark.parametrize("arch", ["x86_64", "arm64"])
@pytest.mark.parametrize("kind", ["o", "exe", "dylib", "dsym"])
def test_macho(callsign, macho, tmp_path, arch, kind):
    program = macho / f"{arch}.{kind}"
    at = address(program, "llvm-nm-22")
    index, answer = wanted(callsign, program, at)
    assert "twice" in answer
    signed = "LC_CODE_SIGNATURE" in run(macho, "llvm-objdump-22", "-m", "--private-headers", program)
    assert signed == (arch == "arm64" and kind in ("exe", "dylib"))
    for flags in ([], ["--revision", "B"], ["--drop-signature"]):
        out = tmp_path / "out"
        callsign.good("embed", program if "B" in flags else index, program, *flags, "-o", out)
        if signed and "B" not in flags:
            resigned = "LC_CODE_SIGNATURE" in run(macho, "llvm-objdump-22", "-m", "--private-headers", out)
            assert resigned == (not flags)
        if signed and "--drop-signature" not in flags:
            check_signature(out, check_signature(program))
        assert callsign.good("lookup", out, at) == answer
        for tool, *options in (["llvm-readobj-22", "-h", "-S", "--macho-segment", "-r", "--symbols"],
                               ["llvm-objdump-22", "-m", "--private-headers", "--rebase", "--bind", "--exports-trie"]):
            done = subprocess.run([tool, *options, out], capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
            assert "__gsym" in done.stdout
        assert run(macho, "llvm-nm-22", out) == run(macho, "llvm-nm-22", program)
        before, after = (subprocess.run(["llvm-dwarfdump-22", "--debug-info", path], capture_output=True, text=True).stdout
                         .splitlines()[1:] for path in (program, out))
        assert before == after
        callsign.good("extract", out, "-o", tmp_path / "back")
        if "B" not in flags:
            assert (tmp_path / "back").read_bytes() == index.read_bytes()
        if kind in ("exe", "dylib"):
            run(tmp_path, "llvm-strip-22", out, "-o", "stripped")
            assert callsign.good("lookup", tmp_path / "stripped", at) == answer
            if signed and "--drop-signature" not in flags:
                check_signature(tmp_path / "stripped")  # of llvm-strip: the checker knows what it checks


def test_macho_signatures(callsign, macho, tmp_path):
    """Entitlements stay; a certificate's signature is refused; so is a damaged one."""
    program, out = macho / "arm64.exe", tmp_path / "out"
    index, _ = wanted(callsign, program)
    at, size = signature_place(program.read_bytes())
    data = bytearray(program.read_bytes())
    directory = at + int.from_bytes(data[at + 16:at + 20], "big")
    # A signature with entitlements, as `codesign -s -` makes it: two special hashes, two blobs.
    entitlements = b"\xfa\xde\x71\x71" + (8 + 16).to_bytes(4, "big") + b"<plist></plist>\0"
    old = bytes(data[directory:directory + int.from_bytes(data[directory + 4:directory + 8], "big")])
    hashes, ident = int.from_bytes(old[16:20], "big"), int.from_bytes(old[20:24], "big")
    special = b"\7" * 32 + bytes(32)
    made = bytearray(old[:hashes] + special + old[hashes:])
    made[4:8] = len(made).to_bytes(4, "big")
    made[12:16] = (2).to_bytes(4, "big")
    made[16:20] = (hashes + len(special)).to_bytes(4, "big")
    made[24:28] = (2).to_bytes(4, "big")
    places = (28, 28 + len(made))
    blob = b"\xfa\xde\x0c\xc0" + (28 + len(made) + len(entitlements)).to_bytes(4, "big") + (2).to_bytes(4, "big")
    blob += (0).to_bytes(4, "big") + places[0].to_bytes(4, "big") + (5).to_bytes(4, "big") + places[1].to_bytes(4, "big")
    blob += bytes(made) + entitlements
    command = signature_command(data)
    signed = bytearray(data[:at] + blob)
    signed[command + 12:command + 16] = len(blob).to_bytes(4, "little")
    (tmp_path / "entitled").write_bytes(signed)
    callsign.good("embed", index, tmp_path / "entitled", "-o", out)
    found = check_signature(out)
    assert found["special"] == special and found["blobs"] == {5: entitlements} and found["flags"] == 0x20002
    assert found["identifier"] == old[ident:old.index(0, ident)]
    for change, what in ((directory + 15, "embed before signing"), (at + 3, "outside of the signature"), (directory + 37, "embed before signing")):
        bad = bytearray(data)
        bad[change] = 0
        (tmp_path / "bad").write_bytes(bad)
        assert what in callsign.bad("embed", index, tmp_path / "bad", "-o", tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("revision", ["A", "B", "B-script"])
@pytest.mark.parametrize("source", ["gsym", "sym"])
@pytest.mark.parametrize("target", ["arm64.exe", "x86_64.o", "i686", "x86_64"])
def test_sections_of_an_index_for_any_container(callsign, macho, tmp_path, revision, source, target):
    """The index says nothing of a container: the section is made for that of the object."""
    if "." in target:
        program, nm, strings = macho / target, "llvm-nm-22", "__gsym_strtab"
    else:
        program, nm, strings = build(tmp_path, f"{target}-w64-mingw32-gcc", name="program.exe"), f"{target}-w64-mingw32-nm", ".gsymstr"
    at = address(program, nm)
    index, answer = wanted(callsign, program, at)
    if source == "sym":
        callsign.good("convert", "-q", "--to", "breakpad", "--mangled", index, "-o", tmp_path / "program.sym")
        index = tmp_path / "program.sym"
    out = tmp_path / "out"
    callsign.good("embed", index, program, "--revision", revision, "-o", out)
    found = callsign.good("lookup", out, at)
    assert found == answer or (revision == "A" and found.splitlines()[-1].split(" at ")[0].strip().startswith(("0x", "twice")))
    callsign.good("verify", out)
    names = run(tmp_path, need("llvm-readobj-22"), "-S", out)
    assert f"Name: {strings} " in names or f"Name: {strings}\n" in names
    callsign.good("extract", out, "-o", tmp_path / "back")
    assert callsign.good("lookup", tmp_path / "back", at) == found


FROM_SYM = {"sym": None, "revision": None, "gsym": ["--to", "gsym"], "accelerated": ["--to", "gsym", "--accelerate"],
            "version 2": ["--to", "gsym-v2", "--name-table"], "section": ["--to", "gsym-section"],
            "revision C": ["--to", "gsym-section", "--revision", "C"]}


@pytest.mark.parametrize("target", ["arm64.exe", "i686", "x86_64", "elf"])
def test_addresses_from_the_first_byte_on(callsign, macho, tmp_path, target):
    """Breakpad's addresses count from there: no address of an object with another base was found, and nothing told why."""
    if "." in target:
        program, nm = macho / target, "llvm-nm-22"
    elif target == "elf":
        program, nm = build(tmp_path, "gcc", "-no-pie"), "nm"
    else:
        program, nm = build(tmp_path, f"{target}-w64-mingw32-gcc", name="program.exe"), f"{target}-w64-mingw32-nm"
    at, sym = address(program, nm), tmp_path / "program.sym"
    plain, answer = wanted(callsign, program, at)
    base, out, load = index_base(callsign, plain), tmp_path / "out", 0x7f1200000000
    offset = int(at, 16) - base
    assert base
    callsign.good("convert", "-q", "--to", "breakpad", "--mangled", "--no-cfi", plain, "-o", sym)
    for kind, options in FROM_SYM.items():
        index = sym
        if options:
            index = tmp_path / "converted"
            callsign.good("convert", "-q", sym, *options, "-o", index)
        before = index.read_bytes()
        callsign.good("embed", index, program, *(["--revision", "F"] if kind == "revision" else []), "-o", out)
        assert index.read_bytes() == before
        assert callsign.good("lookup", out, at) == answer, kind
        callsign.good("verify", out)
        assert index_base(callsign, out) == base, kind
        moved = callsign.good("lookup", out, "--load-address", hex(load), hex(load + offset))
        assert [line.split() for line in moved.replace(hex(load + offset), at).splitlines()] == [
            line.split() for line in answer.splitlines()], kind
        stack = callsign.good("stack", "--no-search", "--index", out, "-", stdin=f"out+{offset:#x}\n")
        assert f"out {at}: square" in stack or f"out {at}: twice" in stack, (kind, stack)
        # Once more, from there: it is the object's now.
        callsign.good("extract", out, "-o", tmp_path / "back")
        callsign.good("embed", tmp_path / "back", program, "-o", tmp_path / "again")
        assert callsign.good("lookup", tmp_path / "again", at) == answer, kind


def breakpad_functions(callsign, source, out):
    callsign.good("convert", "-q", "--to", "breakpad", "--no-cfi", source, "-o", out)
    return [line.split(" ", 4) for line in out.read_text().splitlines() if line.startswith(("FUNC ", "PUBLIC "))]


INDEXES = [["--to", "gsym"], ["--to", "gsym-v2"], ["--to", "gsym-section"], ["--to", "gsym-section", "--revision", "C"],
           ["--to", "gsym-section", "--revision", "F"]]
WITHOUT_IMAGE = ["object", "x86_64-pc-windows-msvc", "arm64-apple-macos11", "wasm32"]


@pytest.mark.parametrize("target", ["arm64.exe", "x86_64-w64-mingw32-gcc", "i686-w64-mingw32-gcc", "-pie", "-no-pie",
                                    *WITHOUT_IMAGE])
def test_breakpad_straight_and_by_way_of_an_index(callsign, macho, tmp_path, target):
    """Addresses of both count from the image's first byte. Of an object file, a WebAssembly module, and sections of programs that
    can be moved, they counted from the first function by way of an index."""
    source = tmp_path / "later.c" # no function at 0
    source.write_text('__asm__(".text\\n.zero 16\\n");\n' * (target != "wasm32") + SOURCE)
    if target == "arm64.exe":
        program = macho / target
    elif target.startswith("-"):
        program = build(tmp_path, "gcc", target)
    elif target.endswith("gcc"):
        program = build(tmp_path, target, name="program.exe")
    else:
        program = tmp_path / "later.o"
        compiler = ["gcc"] if target == "object" else [need("clang-22"), f"--target={target}"]
        run(tmp_path, *compiler, "-g", "-O2", "-c", source, "-o", program)
    straight = breakpad_functions(callsign, program, tmp_path / "straight.sym")
    assert int(straight[0][1], 16) > 0 and (target not in WITHOUT_IMAGE or int(straight[0][1], 16) <= 16)
    for options in INDEXES[:2] if target == "wasm32" else INDEXES:
        index = tmp_path / "index"
        callsign.good("convert", "-q", program, *options, "-o", index)
        way = breakpad_functions(callsign, index, tmp_path / "way.sym")
        assert way == [f for f in straight if f[4] != "<name omitted>"] or way == straight, options
        callsign.good("convert", "-q", "--to", "gsym", index, "-o", tmp_path / "again")
        assert breakpad_functions(callsign, tmp_path / "again", tmp_path / "way.sym") == way, options
    if target in WITHOUT_IMAGE:
        callsign.good("convert", "-q", program, "-o", tmp_path / "index")
        assert index_base(callsign, tmp_path / "index") == 0


@pytest.mark.parametrize("start, base", [(0x1010, 0), (0x401010, 0x401010)])
def test_base_of_a_list_of_symbols(callsign, tmp_path, start, base):
    """An image that begins below 64 KiB begins at 0. Of others a process has the addresses as they are."""
    symbols, index = tmp_path / "System.map", tmp_path / "index"
    symbols.write_text(f"{start:016x} T f\n{start + 16:016x} T g\n")
    callsign.good("convert", "-q", symbols, "-o", index)
    assert index_base(callsign, index) == base
    straight = breakpad_functions(callsign, symbols, tmp_path / "straight.sym")
    assert straight[0][1] == f"{start:x}" and (base or straight == breakpad_functions(callsign, index, tmp_path / "way.sym"))


@pytest.mark.parametrize("base, first", [(0x10, 0x10), (0x140001000, 0x1000), (0x400000, 0), (0x1000, 0), (0xffffffff81000000, 0)])
def test_breakpad_of_an_index_with_the_base_of_its_first_function(callsign, tmp_path, base, first):
    """llvm-gsymutil gives object files and PE images such a base, and it stays in an index. Others may be the image's."""
    functions = [{"start": base + k * 16, "size": 16, "name": f"f{k}", "line": 1} for k in range(2)]
    index = gsym_make.write(tmp_path / "index", functions, base=base)
    assert [int(f[1], 16) for f in breakpad_functions(callsign, index, tmp_path / "out.sym")] == [first, first + 16]
    callsign.good("convert", "-q", "--to", "gsym-v2", index, "-o", tmp_path / "again")
    assert index_base(callsign, tmp_path / "again") == base
    assert [int(f[1], 16) for f in breakpad_functions(callsign, tmp_path / "again", tmp_path / "out.sym")] == [first, first + 16]
    if base < 1 << 32: return
    stack = callsign.good("stack", "--no-search", "--index", index, "-", stdin=f"index+{first + 20:#x}\n")
    assert f"{base + 20:#x}: f1 + 4" in stack


@pytest.mark.parametrize("base, load", [(0x140001010, 0x7ff6a0000000), (0x140001010, 0x140000000), (0x140000000, 0x7ff6a0000000)])
def test_pcs_in_a_pe_image_whose_index_has_the_base_of_its_first_function(callsign, tmp_path, base, load):
    """Offsets counted from the image's first byte, but the pcs of a listed image from the first function: other functions were named."""
    functions = [{"start": 0x140001010 + k * 16, "size": 16, "name": f"f{k}", "line": 1} for k in range(512)]
    gsym_make.write(tmp_path / "app.gsym", functions, base=base)
    begin, end, pc = (f"{addr >> 32:08x}`{addr & 0xffffffff:08x}" for addr in (load, load + 0x10000, load + 0x1024))
    log = (f"start             end                 module name\n{begin} {end}   app        (deferred)\n0:000> k\n"
           f"000000ab`cdeff5a8 {pc}     app!f0+0x4\n000000ab`cdeff5b8 {pc}     0x{pc}\n")
    out = callsign.good("stack", "--no-search", "-i", f"app={tmp_path / 'app.gsym'}", "-f", "windbg", stdin=log)
    assert "#1   app 0x140001024: f1 + 4" in out, out
    (tmp_path / "report").write_text(f"Binary Images:\n  0x{load:x} - 0x{load + 0xffff:x} app x86_64  "
                                     f"<01020304050607080910111213141516> {tmp_path / 'app'}\n")
    assert "f1 + 4" in callsign.good("lookup", "--maps", tmp_path / "report", f"{load + 0x1024:#x}")


@pytest.mark.parametrize("form", ["sym", "gsym", "gsym-section"])
def test_public_symbol_before_all_functions(callsign, tmp_path, form):
    """Whatever kind of record the lowest address has, addresses count from the first byte. A section had that address for its base then."""
    program = build(tmp_path, "gcc", "-no-pie")
    at, sym, index = address(program, "nm"), tmp_path / "program.sym", tmp_path / "index"
    plain, answer = wanted(callsign, program, at)
    callsign.good("convert", "-q", "--to", "breakpad", "--mangled", "--no-cfi", plain, "-o", sym)
    head, *records = sym.read_text().splitlines(keepends=True)
    lowest = min(int(record.split()[1], 16) for record in records if record.startswith("FUNC "))
    sym.write_text("".join([head, *(r for r in records if not r.startswith((f"FUNC {lowest:x} ", "PUBLIC "))), f"PUBLIC {lowest:x} 0 first\n"]))
    if form != "sym": callsign.good("convert", "-q", "--to", form, sym, "-o", index)
    callsign.good("embed", sym if form == "sym" else index, program, "-o", tmp_path / "out")
    assert callsign.good("lookup", tmp_path / "out", at) == answer
    assert index_base(callsign, tmp_path / "out") == index_base(callsign, plain) > 0


def test_crash_report_of_moved_addresses(callsign, macho, tmp_path):
    program = macho / "arm64.exe"
    at = int(address(program, "llvm-nm-22"), 16)
    index, _ = wanted(callsign, program)
    callsign.good("convert", "-q", "--to", "breakpad", index, "-o", tmp_path / "program.sym")
    callsign.good("embed", tmp_path / "program.sym", program, "-o", tmp_path / "app")
    load, offset = 0x104a2c000, at - index_base(callsign, index)
    (tmp_path / "report").write_text(f"""Process:               app [4711]
Code Type:             ARM-64 (Native)

Thread 0 Crashed:
0   app                           \t{load + offset:#018x} {load:#x} + {offset}

Binary Images:
       {load:#x} -        0x104a2ffff app (*) /Users/USER/app
""")
    answer = callsign.good("stack", "--no-search", "--index", tmp_path / "app", tmp_path / "report")
    assert f"app {at:#x}: " in answer and "twice" in answer


def test_program_database_for_an_image(callsign, tmp_path):
    """A PDB alone counts from the image's first byte, too."""
    (tmp_path / "program.c").write_text("int twice(int a) { return 2 * a; }\nint begin(void) { return twice(4); }\n")
    run(tmp_path, need("clang-22"), "--target=x86_64-pc-windows-msvc", "-g", "-gcodeview", "-c", "program.c", "-o", "program.obj")
    run(tmp_path, need("lld-link-22"), "/debug", "/pdb:program.pdb", "/out:program.exe", "/entry:begin", "/subsystem:console",
        "/nodefaultlib", "program.obj")
    answer = callsign.good("lookup", tmp_path / "program.exe", "0x140001000")
    assert "twice" in answer
    callsign.good("convert", "-q", tmp_path / "program.pdb", "-o", tmp_path / "pdb.gsym")
    for index in "program.pdb", "pdb.gsym":
        callsign.good("embed", tmp_path / index, tmp_path / "program.exe", "-o", tmp_path / "out.exe")
        (tmp_path / "program.pdb").rename(tmp_path / "away")
        assert callsign.good("lookup", tmp_path / "out.exe", "0x140001000") == answer
        (tmp_path / "away").rename(tmp_path / "program.pdb")


@pytest.mark.parametrize("revision", REVISIONS)
def test_offsets_in_modules_with_sections(callsign, tmp_path, revision):
    """The base address was that of the first function, and MODULE+0xOFFSET got a name farther on."""
    program = build(tmp_path, "gcc", "-no-pie")
    at = address(program)
    index, _ = wanted(callsign, program)
    callsign.good("embed", program, program, "--revision", revision, "-o", tmp_path / "out")
    offset = int(at, 16) - index_base(callsign, index)
    stack = callsign.good("stack", "--no-search", "--index", tmp_path / "out", "-", stdin=f"out+{offset:#x}\n")
    assert f"out {at}: " in stack and "twice" in stack
    assert index_base(callsign, tmp_path / "out") == index_base(callsign, index)


def test_index_of_other_code(callsign, tmp_path):
    """Nothing was found, and nothing told why."""
    program = build(tmp_path, "gcc", "-no-pie", "-Wl,--build-id=none")
    far = build(tmp_path, "gcc", "-no-pie", "-Wl,--build-id=none", "-Wl,-Ttext-segment=0x50000000", name="far")
    index, _ = wanted(callsign, far)
    line = callsign.bad("embed", index, program, "-o", tmp_path / "out")
    assert "no function of the index lies in the object's code: the first one is at 0x5000" in line and "--force" in line
    assert not (tmp_path / "out").exists()
    callsign.good("embed", index, program, "--force", "-o", tmp_path / "out")
    callsign.good("extract", tmp_path / "out", "-o", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == index.read_bytes()


def test_strings_beside_names_of_sections(callsign, tmp_path):
    """The section made first had two of that name, and readers took the wrong one."""
    program = build(tmp_path, "gcc")
    at = address(program)
    _, answer = wanted(callsign, program, at)
    section, out = tmp_path / "section.o", tmp_path / "out"
    callsign.good("convert", "-q", "--to", "gsym-section", "--strings-in", ".shstrtab", program, "-o", section)
    assert callsign.good("lookup", section, at) == answer
    callsign.good("verify", section)
    for source in ([section], [program, "--strings-in", ".shstrtab"]):
        callsign.good("embed", source[0], program, *source[1:], "-o", out)
        run(tmp_path, out)
        assert callsign.good("lookup", out, at) == answer
        callsign.good("verify", out)
        assert " .gsym " in run(tmp_path, "readelf", "-SW", "out")


def test_strings_that_cannot_be_added(callsign, tmp_path):
    """The message told of an index that the object did not have."""
    pe, out = build(tmp_path, "x86_64-w64-mingw32-gcc", name="program.exe"), tmp_path / "out"
    line = callsign.bad("embed", pe, pe, "--revision", "B", "--strings-in", ".debug_str", "-o", out)
    assert "section .debug_str lacks strings that the index needs" in line and "without --strings-in" in line, line
    assert "already" not in line
    # Half of an older one.
    callsign.good("embed", pe, pe, "-o", out)
    run(tmp_path, need("x86_64-w64-mingw32-objcopy"), "-R", ".gsym", "out", "half")
    other = build(tmp_path, "x86_64-w64-mingw32-gcc", "-O0", name="other.exe")
    line = callsign.bad("embed", other, tmp_path / "half", "--force", "-o", tmp_path / "none")
    assert "carries strings of an index already, in section .gsymstr" in line and "-R .gsym -R .gsymstr" in line
    assert "carries an index already, in section .gsym;" in callsign.bad("embed", pe, out, "-o", tmp_path / "none")
    run(tmp_path, "x86_64-w64-mingw32-objcopy", "-R", ".gsym", "-R", ".gsymstr", "out", "bare")
    callsign.good("embed", pe, tmp_path / "bare", "-o", out)
    assert not (tmp_path / "none").exists()


def test_another_build(callsign, tmp_path):
    """An index of other code would give wrong answers."""
    program = build(tmp_path, "gcc", "-Wl,--build-id=0x0102030405060708")
    index, _ = wanted(callsign, program)
    other, out = build(tmp_path, "gcc", "-Wl,--build-id=0x0102030405060709", name="other"), tmp_path / "out"
    for given in ([index], [program], [program, "--revision", "B"], [program, "--revision", "G"]):
        line = callsign.bad("embed", given[0], other, *given[1:], "-o", out)
        assert "the index is of build id 0102030405060708, the object of 0102030405060709" in line and "--force" in line
        assert not out.exists()
        callsign.good("embed", given[0], other, *given[1:], "--force", "-o", out)
        out.unlink()
    callsign.good("convert", "-q", "--to", "breakpad", "--no-cfi", program, "-o", tmp_path / "program.sym")
    assert "build id" in callsign.bad("embed", tmp_path / "program.sym", other, "-o", out)
    callsign.good("embed", tmp_path / "program.sym", program, "-o", out)
    plain = build(tmp_path, "gcc", "-Wl,--build-id=none", name="plain")
    callsign.good("embed", index, plain, "-o", out)  # nothing to compare


FIXUPS = SOURCE + """static int one = 1;
int *const constants[] = { &one };
int *variables[] = { &one };
"""


@pytest.mark.parametrize("target", ["x86_64.o", "arm64.exe", "arm64_32.o"])
def test_load_commands_of_a_new_object(callsign, macho, tmp_path, target):
    """The header says how many bytes they take. Readers that do not hold it against the commands do not notice another number."""
    program = macho / target
    if not program.exists():
        run(macho, "clang-22", "--target=arm64_32-apple-watchos8", "-g", "-O2", "-c", "program.c", "-o", target)
    callsign.good("convert", "-q", "--to", "gsym-section", program, "-o", tmp_path / "out")
    data = (tmp_path / "out").read_bytes()
    magic, _, _, _, count, size = struct.unpack_from("<6I", data)
    at = begin = 32 if magic == 0xfeedfacf else 28
    for _ in range(count):
        at += struct.unpack_from("<II", data, at)[1]
    assert at - begin == size and magic == (0xfeedface if "_32" in target else 0xfeedfacf)


def macho_segments(path):
    """Names, places and sizes of the segments in the file, and where link-edit data commands tell their bytes."""
    data, at, segments, places = path.read_bytes(), 32, {}, {}
    for _ in range(int.from_bytes(data[16:20], "little")):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0x19:
            segments[data[at + 8:at + 24].rstrip(b"\0").decode()] = struct.unpack_from("<4Q", data, at + 24)
        elif kind == 2:
            places["symbols"], places["strings"] = struct.unpack_from("<II", data, at + 8), struct.unpack_from("<II", data, at + 16)
        elif size == 16:
            places[kind] = struct.unpack_from("<II", data, at + 8)
        at += size
    return data, segments, places


def chained_starts(path):
    """Chained fixups: the offset of each segment's, as dyld reads them: it refuses another number of segments."""
    data, segments, places = macho_segments(path)
    off, size = places[0x80000034]
    version, starts, imports, symbols, *_ = struct.unpack_from("<7I", data, off)
    count, = struct.unpack_from("<I", data, off + starts)
    assert version == 0 and count == len(segments), path
    return size, dict(zip(segments, struct.unpack_from(f"<{count}I", data, off + starts + 4)))


@pytest.mark.parametrize("arch", ["x86_64", "arm64"])
def test_macho_chained_fixups(callsign, macho, tmp_path, arch):
    """One segment more, in room that there was (an even number of segments before) or was made."""
    (tmp_path / "program.c").write_text(FIXUPS)
    (tmp_path / "libSystem.tbd").write_text(LIBRARY)
    run(tmp_path, "clang-22", f"--target={arch}-apple-macos12", "-g", "-O2", "-c", "program.c", "-o", f"{arch}.o")
    for flags, grown in [[], 8], [["-dylib"], 0]:
        program = link_macho(tmp_path, arch, "-headerpad", "1000", "-fixup_chains", *flags, name=f"program{grown}")
        at = address(program, "llvm-nm-22")
        index, answer = wanted(callsign, program, at)
        size, starts = chained_starts(program)
        assert len(starts) % 2 == (grown != 0) and sum(off != 0 for off in starts.values()) == 2
        for options in ([], ["--drop-signature"]):
            out = tmp_path / "out"
            callsign.good("embed", index, program, *options, "-o", out)
            assert callsign.good("lookup", out, at) == answer
            new_size, new_starts = chained_starts(out)
            assert new_size == size + grown
            assert new_starts == {name: off and off + grown for name, off in starts.items()} | {"__GSYM": 0}
            for what in "--dyld-info", "--chained-fixups", "--exports-trie", "--function-starts":
                before, after = ([line for line in run(tmp_path, "llvm-objdump-22", "-m", what, path).splitlines()[1:]
                                  if not any(word in line for word in ("seg_", "s_offset", "size = "))] for path in (program, out))
                assert before == after
            assert "pointer_format" in run(tmp_path, "llvm-objdump-22", "-m", "--chained-fixups", out)
            assert run(tmp_path, "llvm-nm-22", out) == run(tmp_path, "llvm-nm-22", program)
            data, segments, places = macho_segments(out)
            assert list(segments)[-2:] == ["__GSYM", "__LINKEDIT"]
            _, memory, off, length = segments["__LINKEDIT"]
            assert off + length == len(data) and length <= memory
            if arch == "arm64" and not options:
                check_signature(out, check_signature(program))
    # A damaged one is named.
    data = bytearray((tmp_path / "program0").read_bytes())
    at = macho_segments(tmp_path / "program0")[2][0x80000034][0]
    for starts in 0, 8, 24, 1 << 20:
        data[at + 4:at + 8] = starts.to_bytes(4, "little")
        (tmp_path / "bad").write_bytes(data)
        assert "chained fixups: the starts" in callsign.bad("embed", index, tmp_path / "bad", "--drop-signature", "-o", tmp_path / "none")


def test_macho_signature_can_be_made_later(callsign, macho, tmp_path):
    """codesign takes an image whose __LINKEDIT ends with its string table, without the bytes that align a signature."""
    (tmp_path / "libSystem.tbd").write_text(LIBRARY)
    padding = set()
    for length in range(1, 21, 3):
        (tmp_path / "program.c").write_text(SOURCE + f"static __attribute__((used)) int {'x' * length};")
        run(tmp_path, "clang-22", "--target=arm64-apple-macos11", "-g", "-O2", "-c", "program.c", "-o", "arm64.o")
        program = link_macho(tmp_path, "arm64", "-headerpad", "1000", name="program")
        _, _, places = macho_segments(program)
        padding.add(places[0x1d][0] - sum(places["strings"]))
        index, _ = wanted(callsign, program)
        callsign.good("embed", index, program, "--drop-signature", "-o", tmp_path / "out")
        data, segments, places = macho_segments(tmp_path / "out")
        _, _, off, size = segments["__LINKEDIT"]
        assert off + size == len(data) == sum(places["strings"])
        assert run(tmp_path, "llvm-nm-22", "out") == run(tmp_path, "llvm-nm-22", "program")
    assert len(padding) > 1


def test_macho_without_room(callsign, macho, tmp_path):
    index, _ = wanted(callsign, macho / "x86_64.tight")
    assert "no room for a load command" in callsign.bad("embed", index, macho / "x86_64.tight", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_universal(callsign, macho, tmp_path):
    at = address(macho / "x86_64.exe", "llvm-nm-22")
    index, answer = wanted(callsign, macho / "x86_64.exe", at)
    other, _ = wanted(callsign, macho / "arm64.exe")
    one, two = tmp_path / "one", tmp_path / "two"
    assert "2 images: x86_64, arm64; choose one" in callsign.bad("embed", index, macho / "universal", "-o", one)
    callsign.good("embed", index, macho / "universal", "--arch", "x86_64", "-o", one)
    assert callsign.good("lookup", one, at) == answer
    callsign.good("embed", other, one, "--arch", "arm64", "--drop-signature", "-o", two)
    assert "choose one" in callsign.bad("lookup", two, at)
    assert callsign.good("lookup", two, at, "--arch", "x86_64") == answer
    run(tmp_path, "llvm-lipo-22", "-info", two)
    run(tmp_path, "llvm-lipo-22", "-thin", "x86_64", two, "-output", "thin")
    assert callsign.good("lookup", tmp_path / "thin", at) == answer
    callsign.good("extract", two, "--arch", "arm64", "-o", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == other.read_bytes()


def test_object_without_index(callsign, tmp_path):
    program = build(tmp_path, "gcc")
    out = tmp_path / "out"
    assert "carries no index: there is no section .gsym" in callsign.bad("extract", program, "-o", out, code=1)
    assert "there is no section .nothing" in callsign.bad("convert", program, "--to", "gsym-section", "--strings-in", ".nothing")
    assert "finds its strings by offset" in callsign.bad("convert", program, "--to", "gsym-section", "--revision", "E",
                                                         "--strings-in", ".strtab")
    assert "cannot become loaded" in callsign.bad("embed", program, program, "--loaded", "-o", out)
    assert "'--revision': 'H' is unknown" in callsign.bad("embed", program, program, "--revision", "H", "-o", out)
    assert "needs -o OUT" in callsign.bad("embed", program, program)
    assert "goes with '--to gsym-section' only" in callsign.bad("convert", program, "--revision", "B")
    assert not out.exists()


def test_damaged_section(callsign, tmp_path):
    """An index that is there and damaged is told of; debug information does not take its place."""
    program = build(tmp_path, "gcc")
    index, _ = wanted(callsign, program)
    bad = tmp_path / "bad.gsym"
    bad.write_bytes(index.read_bytes()[:40])
    run(tmp_path, need("objcopy"), "--add-section", ".gsym=bad.gsym", program, "out")
    assert "header+0x28: section of 40 bytes, need >= 48" in callsign.bad("lookup", tmp_path / "out", "0")


def test_index_that_nobody_could_open(callsign, tmp_path):
    """It was embedded without a word, and lookups in the program failed."""
    program = build(tmp_path, "gcc")
    index, _ = wanted(callsign, program)
    for version, name in (("gsym", "string table"), ("gsym-v2", "directory")):
        callsign.good("convert", "-q", index, "--to", version, "-o", tmp_path / "whole")
        (tmp_path / "cut").write_bytes((tmp_path / "whole").read_bytes()[:300])
        line = callsign.bad("embed", tmp_path / "cut", program, "-o", tmp_path / "out")
        assert "file has 0x12c bytes" in line, line
        assert not (tmp_path / "out").exists()


def test_index_is_a_source_where_nothing_better_is(callsign, tmp_path):
    program = build(tmp_path, "gcc")
    at = address(program)
    _, answer = wanted(callsign, program, at)
    callsign.good("embed", program, program, "-o", tmp_path / "out")
    run(tmp_path, need("strip"), "-g", "out", "-o", "stripped")
    callsign.good("convert", "-q", tmp_path / "stripped", "-o", tmp_path / "again.gsym")
    assert callsign.good("lookup", tmp_path / "again.gsym", at) == answer


def test_output_is_a_file(callsign, tmp_path):
    program = build(tmp_path, "gcc")
    index, _ = wanted(callsign, program)
    for command in (["convert", program], ["embed", index, program], ["extract", program]):
        assert "option '-o' needs a file, not standard output" in callsign.bad(*command, "-o", "-")


def test_inputs_are_not_overwritten(callsign, tmp_path):
    """By mistake, that is: OBJECT may be replaced by itself with an index."""
    program = build(tmp_path, "gcc")
    index, _ = wanted(callsign, program)
    (tmp_path / "link").symlink_to(index)
    before = index.read_bytes()
    assert "is the index itself" in callsign.bad("embed", index, program, "-o", tmp_path / "link")
    assert "is the input itself" in callsign.bad("stats", index, "--html", tmp_path / "link")
    assert index.read_bytes() == before
    callsign.good("embed", index, program, "-o", program)
    before = program.read_bytes()
    assert "is the input itself" in callsign.bad("extract", program, "-o", program)
    assert program.read_bytes() == before


APPENDED = "bytes are appended to the program, which may not find them behind an index; embed before they are appended"
FINDS_ITS_END = """#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    char text[9] = { 0 };
    FILE *self = fopen(argv[argc - 1], "rb");
    if (fseek(self, -8, SEEK_END) || fread(text, 1, 8, self) != 8) return 2;
    return strcmp(text, "PAYLOAD!") != 0;
}
"""


def check_appended(callsign, index, program, folder, *options):
    """Refused with data behind it, and with --force they are all there; zeros are padding. Returns what --force gave."""
    data, out = program.read_bytes(), folder / "appended.out"
    other = folder / ("appended" + program.suffix)
    other.write_bytes(data + bytes(64))
    callsign.good("embed", index, other, *options, "-o", out)
    out.unlink()
    other.write_bytes(data + bytes(64) + b"some data PAYLOAD!")
    assert APPENDED in callsign.bad("embed", index, other, *options, "-o", out)
    assert not out.exists()
    callsign.good("embed", index, other, *options, "--force", "-o", out)
    assert out.read_bytes().count(b"some data PAYLOAD!") == 1
    return out


def test_programs_with_data_appended(callsign, tmp_path):
    """A self-extracting archive did not find its data any more: the index was behind them, and nothing was said."""
    (tmp_path / "finds.c").write_text(FINDS_ITS_END)
    run(tmp_path, need("gcc"), "-g", "finds.c", "-o", "finds")
    program = tmp_path / "finds"
    index, answer = wanted(callsign, program, "main+0x0")
    out = check_appended(callsign, index, program, tmp_path)
    assert callsign.good("lookup", out, "main+0x0") == answer
    # The way that the message tells, and once more with an index inside.
    callsign.good("embed", index, program, "-o", program)
    with open(program, "ab") as file:
        file.write(b"some data PAYLOAD!")
    run(tmp_path, program, program)
    assert APPENDED in callsign.bad("embed", index, program, "-o", program)
    run(tmp_path, program, program)


def test_appended_to_an_object_that_is_still_to_be_linked(callsign, tmp_path):
    program = build(tmp_path, "gcc", link=False, name="program.o")
    index, _ = wanted(callsign, program)
    with open(program, "ab") as file:
        file.write(b"more")
    callsign.good("embed", index, program, "-o", tmp_path / "out")


@pytest.mark.parametrize("machine", ["x86_64", "i686"])
@pytest.mark.parametrize("flags", [[], ["-s"]])
def test_windows_programs_with_data_appended(callsign, tmp_path, machine, flags):
    program = build(tmp_path, f"{machine}-w64-mingw32-gcc", name="program.exe")
    index, _ = wanted(callsign, program)
    if flags:
        run(tmp_path, f"{machine}-w64-mingw32-strip", program)
    check_appended(callsign, index, program, tmp_path)


def test_macho_programs_with_data_appended(callsign, macho, tmp_path):
    for name, options in ("x86_64.exe", []), ("x86_64.dylib", []), ("universal", ["--arch", "x86_64"]):
        index, _ = wanted(callsign, macho / ("x86_64.exe" if options else name))
        out = check_appended(callsign, index, macho / name, tmp_path, *options)
        assert out.read_bytes().endswith(b"some data PAYLOAD!")
