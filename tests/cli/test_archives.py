"""Static archives: one index of all members, functions at addresses of their own, the members' names beside them."""
import json
import subprocess

import pytest

from programs import need

FIRST = """int shared(int x) { return x * 3; }
static int helper(int a) { return a + 1; }
int alpha(int a) {
    return helper(a) + shared(a);
}
"""
SECOND = """int alpha(int);
static int helper(int a) { return a - 1; }
int beta(int a) { return helper(a) * alpha(a); }
"""
COMPILERS = {"elf": ("gcc", "ar", "nm"), "coff": ("x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-ar", "x86_64-w64-mingw32-nm"),
             "big-endian": ("s390x-linux-gnu-gcc", "s390x-linux-gnu-ar", "s390x-linux-gnu-nm")}


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr}"
    return done.stdout


def make(folder, kind="elf", options="rcs", extra=()):
    compiler, ar, _ = COMPILERS[kind]
    (folder / "first.c").write_text(FIRST)
    (folder / "a_second_with_a_long_name.c").write_text(SECOND)
    for name in ("first", "a_second_with_a_long_name"):
        run(folder, need(compiler), "-g", "-O1", "-fno-inline", "-c", f"{name}.c")
    run(folder, ar, options, "lib.a", "first.o", "a_second_with_a_long_name.o", *extra)
    return folder / "lib.a"


def functions(callsign, index):
    records = [json.loads(line) for line in callsign.good("dump", index, "--json").splitlines()]
    found = [record["function"] for record in records if "function" in record]
    return [(int(f["start"], 16), f["size"], f["name"]) for f in found]


def answers(callsign, index, *addresses):
    return [json.loads(line) for line in callsign.good("lookup", index, "--json", *map(hex, addresses)).splitlines()]


@pytest.mark.parametrize("kind", COMPILERS)
def test_members_have_places_of_their_own(callsign, kind, tmp_path):
    archive = make(tmp_path, kind)
    callsign.good("convert", "--quiet", archive, "-o", tmp_path / "index")
    found = functions(callsign, tmp_path / "index")
    assert [name for _, _, name in found] == ["helper", "shared", "alpha", "helper", "beta"]
    assert all(a + size <= b for (a, size, _), (b, _, _) in zip(found, found[1:])) and found[0][0] > 0
    members = [(a["member"], a["frames"][0]["function"], a["frames"][0]["line"])
               for a in answers(callsign, tmp_path / "index", *(start for start, _, _ in found))]
    second = "a_second_with_a_long_name.o"
    assert members == [("first.o", "helper", 2), ("first.o", "shared", 1), ("first.o", "alpha", 3),
                       (second, "helper", 2), (second, "beta", 3)]
    text = callsign.good("lookup", tmp_path / "index", hex(found[4][0]))
    assert text.startswith(f"{found[4][0]:#x}: beta + 0 at ") and text.endswith(f"second_with_a_long_name.c:3 in {second}\n")
    assert "0 problems" in callsign.good("verify", tmp_path / "index")


def test_an_address_between_members_has_none(callsign, tmp_path):
    callsign.good("convert", "--quiet", make(tmp_path), "-o", tmp_path / "index")
    end = sum(functions(callsign, tmp_path / "index")[-1][:2])
    done = callsign.run("lookup", tmp_path / "index", "--json", hex(end + 64))
    assert done.returncode == 1 and "member" not in json.loads(done.stdout)


@pytest.mark.parametrize("version", ["gsym", "gsym-v2"])
def test_members_stay_when_an_index_is_converted(callsign, version, tmp_path):
    callsign.good("convert", "--quiet", make(tmp_path), "-o", tmp_path / "index")
    callsign.good("convert", "--quiet", tmp_path / "index", "--to", version, "-o", tmp_path / "again")
    addresses = [start for start, _, _ in functions(callsign, tmp_path / "index")]
    assert answers(callsign, tmp_path / "again", *addresses) == answers(callsign, tmp_path / "index", *addresses)
    if version == "gsym":
        assert (tmp_path / "again").read_bytes() == (tmp_path / "index").read_bytes()


def test_other_readers_read_it(callsign, tmp_path):
    callsign.good("convert", "--quiet", make(tmp_path), "-o", tmp_path / "index")
    start = functions(callsign, tmp_path / "index")[4][0]
    assert "beta @ " in run(tmp_path, need("llvm-gsymutil-22"), "index", f"--address={start:#x}")


def test_what_is_no_object_is_left_out(callsign, tmp_path):
    (tmp_path / "notes.txt").write_text("no object\n")
    done = callsign.run("convert", make(tmp_path, extra=["notes.txt"]), "-o", tmp_path / "index")
    assert done.returncode == 0 and "notes.txt: no object file" in done.stderr
    assert len(functions(callsign, tmp_path / "index")) == 5


def test_archives_that_are_refused(callsign, tmp_path):
    (tmp_path / "notes.txt").write_text("no object\n")
    run(tmp_path, "ar", "rcs", "text.a", "notes.txt")
    assert "the archive has no object file that is read; 1 members, the first is notes.txt: no object file" in callsign.bad(
        "convert", tmp_path / "text.a", "-o", tmp_path / "index")
    make(tmp_path, options="rcsT")
    assert "thin archive: its members are files of their own" in callsign.bad("convert", tmp_path / "lib.a", "-o", tmp_path / "index")
    (tmp_path / "whole").mkdir()
    data = make(tmp_path / "whole").read_bytes()
    (tmp_path / "cut.a").write_bytes(data[:len(data) - 100])
    assert "archive member at " in callsign.bad("convert", tmp_path / "cut.a", "-o", tmp_path / "index")


def test_every_function_of_a_real_library(callsign, tmp_path):
    archive = run(tmp_path, need("gcc"), "-print-file-name=libc.a").strip()
    callsign.good("convert", "--quiet", archive, "-o", tmp_path / "index")
    wanted, member = {}, None
    for line in run(tmp_path, "nm", "--defined-only", archive).splitlines():
        if line.endswith(".o:"):
            member = line[:-1]
        elif line and line.split()[-2] in "TtWwi":
            wanted.setdefault(member, set()).add(line.split()[-1])
    found = functions(callsign, tmp_path / "index")
    named = {}
    for (_, _, name), answer in zip(found, answers(callsign, tmp_path / "index", *(start for start, _, _ in found))):
        named.setdefault(answer["member"], set()).add(name)
    assert len(named) > 500 and sum(len(names) for names in named.values()) > 3000
    assert {member: names - wanted[member] for member, names in named.items() if names - wanted[member]} == {}
    only_names = {member: names for member, names in wanted.items() if len(names) == 1}
    assert len(only_names) > 300 and [m for m, names in only_names.items() if names != named.get(m)] == []


def test_damaged_tables_of_members(callsign, tmp_path):
    """Whatever stands in the table, lookups answer with the functions."""
    callsign.good("convert", "--quiet", make(tmp_path), "-o", tmp_path / "index")
    data = (tmp_path / "index").read_bytes()
    at = data.index(b"CSMB")
    start = functions(callsign, tmp_path / "index")[0][0]
    for offset in range(at - 90, at + 4):
        damaged = bytearray(data)
        damaged[offset] ^= 0xff
        (tmp_path / "damaged").write_bytes(damaged)
        done = callsign.run("lookup", tmp_path / "damaged", "--json", hex(start))
        assert done.returncode in (0, 1, 2), offset
    (tmp_path / "damaged").write_bytes(data.replace(b"CSMB", b"XXXX"))
    assert "member" not in answers(callsign, tmp_path / "damaged", start)[0]


@pytest.mark.parametrize("target", ["x86_64-apple-macos", "arm64-apple-macos", "wasm32"])
def test_archives_of_other_containers_are_refused(callsign, target, tmp_path):
    (tmp_path / "first.c").write_text(FIRST)
    run(tmp_path, need("clang-22"), f"--target={target}", "-g", "-c", "first.c")
    run(tmp_path, need("llvm-ar-22"), "rcs", "lib.a", "first.o")
    line = callsign.bad("convert", tmp_path / "lib.a", "-o", tmp_path / "index")
    assert "1 members, the first is first.o: neither an ELF nor a COFF object" in line and not (tmp_path / "index").exists()


def test_import_libraries_have_code_of_their_objects_only(callsign, tmp_path):
    """Short import members (lld-link /implib, llvm-dlltool) are no objects: they have no code."""
    (tmp_path / "names.def").write_text("LIBRARY names.dll\nEXPORTS\nshared\nalpha\n")
    run(tmp_path, need("llvm-dlltool-22"), "-m", "i386:x86-64", "-d", "names.def", "-l", "lib.a")
    members = run(tmp_path, need("llvm-ar-22"), "t", "lib.a").splitlines()
    assert len(members) > 2
    assert "no functions found" in callsign.bad("convert", tmp_path / "lib.a", "-o", tmp_path / "index")
    compiler, _, _ = COMPILERS["coff"]
    (tmp_path / "first.c").write_text(FIRST)
    run(tmp_path, need(compiler), "-g", "-O1", "-fno-inline", "-c", "first.c")
    run(tmp_path, "llvm-ar-22", "rs", "lib.a", "first.o")
    done = callsign.run("convert", tmp_path / "lib.a", "-o", tmp_path / "index")
    assert done.returncode == 0 and "names.dll: no object file" in done.stderr
    assert {name for _, _, name in functions(callsign, tmp_path / "index") if name} == {"helper", "shared", "alpha"}


def test_every_truncation_ends_cleanly(callsign, tmp_path):
    data = make(tmp_path).read_bytes()
    for size in [*range(0, 200, 7), *range(200, len(data), len(data) // 60)]:
        (tmp_path / "cut.a").write_bytes(data[:size])
        done = callsign.run("convert", "--quiet", tmp_path / "cut.a", "-o", tmp_path / "index")
        assert done.returncode in (0, 2) and (done.returncode == 0 or done.stderr.startswith("callsign: ")), size


@pytest.mark.parametrize("field, value", [(48, b"9999999999"), (48, b"18446744073"), (0, b"/99999          "), (0, b"#1/99999        ")],
                         ids=["size-beyond-the-file", "size-of-more", "name-beyond-the-table", "name-beyond-the-member"])
def test_hostile_headers_are_refused(callsign, tmp_path, field, value):
    data = bytearray(make(tmp_path).read_bytes())
    at = data.index(b"first.o/")
    data[at + field:at + field + len(value[:10 if field else 16])] = value[:10 if field else 16]
    (tmp_path / "lib.a").write_bytes(data)
    assert "archive member at " in callsign.bad("convert", tmp_path / "lib.a", "-o", tmp_path / "index")
