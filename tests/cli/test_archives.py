"""Static archives: one index of all members, functions at addresses of their own, the members' names beside them."""
import json
import os
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


def test_a_thin_archive_whose_members_change(callsign, tmp_path):
    """The archive is the same file then, and the cache had the members of before."""
    archive, env = make(tmp_path, options="rcsT"), {"CALLSIGN_CACHE": str(tmp_path / "cache")}

    def lines():
        done = callsign.run("find", archive, "alpha", "beta", env=env)
        return [line.rsplit(":", 1)[1] for line in done.stdout.splitlines()], done.returncode

    assert lines() == (["3", "3"], 0) == lines()
    assert len(list((tmp_path / "cache").rglob("*.gsym"))) == 1
    (tmp_path / "first.c").write_text("\n\n" + FIRST)
    run(tmp_path, "gcc", "-g", "-O1", "-fno-inline", "-c", "first.c")
    assert lines() == (["5", "3"], 0)
    (tmp_path / "a_second_with_a_long_name.o").unlink()
    assert lines() == (["5"], 1)
    assert "not found" in callsign.run("convert", archive, "-o", tmp_path / "out", env=env).stderr


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


@pytest.mark.parametrize("version", ["gsym", "gsym-v2"])
def test_many_functions(callsign, version, tmp_path):
    """The list of members and the guide of the address table lie in one file."""
    count = 2100
    (tmp_path / "many.c").write_text("".join(f"int f{n}(int a) {{\n    a += {n};\n    return a * a;\n}}\n" for n in range(count)))
    run(tmp_path, need("gcc"), "-g", "-O1", "-c", "many.c")
    archive = make(tmp_path, extra=["many.o"])
    callsign.good("convert", "--quiet", "--to", version, archive, "-o", tmp_path / "index")
    assert json.loads(callsign.good("dump", tmp_path / "index", "--json").splitlines()[0])["header"]["guide_entries"] > 10
    callsign.good("verify", tmp_path / "index")
    found = [f for f in functions(callsign, tmp_path / "index") if f[2].startswith("f")]
    assert [name for _, _, name in found] == [f"f{n}" for n in range(count)]
    told = answers(callsign, tmp_path / "index", *(start for start, _, _ in found))
    assert [(a["member"], a["frames"][0]["function"], a["frames"][0]["line"] // 4) for a in told] == [("many.o", f"f{n}", n) for n in range(count)]


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
    assert done.returncode == 0 and "unread-member (first: notes.txt: no object file" in done.stderr
    assert len(functions(callsign, tmp_path / "index")) == 5


def test_archives_that_are_refused(callsign, tmp_path):
    (tmp_path / "notes.txt").write_text("no object\n")
    run(tmp_path, "ar", "rcs", "text.a", "notes.txt")
    assert "the archive has no object file that is read; 1 members, the first is notes.txt: no object file" in callsign.bad(
        "convert", tmp_path / "text.a", "-o", tmp_path / "index")
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


CLANG_TARGETS = ["x86_64-apple-macos", "arm64-apple-macos", "armv7-apple-ios", "wasm32", "x86_64-pc-windows-msvc", "x86_64-w64-windows-gnu",
                 "i686-w64-windows-gnu", "aarch64-w64-windows-gnu"]


def make_clang(folder, target, form="gnu", options="rcs"):
    (folder / "first.c").write_text(FIRST)
    (folder / "a_second_with_a_long_name.c").write_text(SECOND)
    members = ["first.o", "a_second_with_a_long_name.o"]
    for member in members:
        run(folder, need("clang-22"), f"--target={target}", "-gdwarf-4", "-O1", "-fno-inline", "-c", f"{member[:-2]}.c", "-o", member)
    run(folder, need("llvm-ar-22"), f"--format={form}", options, "lib.a", *members)
    return members


def frames_of_every_byte(callsign, index):
    found = functions(callsign, index)
    addresses = [addr for start, size, _ in found for addr in range(start, start + size)]
    return {addr: (a.get("member"), a["frames"]) for addr, a in zip(addresses, answers(callsign, index, *addresses))}


@pytest.mark.parametrize("target", CLANG_TARGETS)
def test_members_of_every_container_answer_as_if_they_stood_alone(callsign, target, tmp_path):
    form = "darwin" if "apple" in target else "gnu"
    members = make_clang(tmp_path, target, form)
    callsign.good("convert", "--quiet", tmp_path / "lib.a", "-o", tmp_path / "index")
    together = frames_of_every_byte(callsign, tmp_path / "index")
    seen = 0
    for place, member in zip((0x1000, 0x2000), members):
        callsign.good("convert", "--quiet", tmp_path / member, "-o", tmp_path / "one")
        alone = frames_of_every_byte(callsign, tmp_path / "one")
        assert {f["function"].lstrip("_") for _, (frame, *_) in alone.values() for f in [frame]} == {
            "first.o": {"helper", "shared", "alpha"}}.get(member, {"helper", "beta"})
        assert all(frame["line"] for _, frames in alone.values() for frame in frames)
        for addr, (_, frames) in alone.items():
            there, moved = together[addr + place]
            assert there == member and [(f["function"], f["line"], f["file"]) for f in moved] == [
                (f["function"], f["line"], f["file"]) for f in frames], hex(addr)
        seen += len(alone)
    assert seen == len(together)


@pytest.mark.parametrize("folder", ["beside", "absolute"])
def test_thin_archives_have_their_members_beside_them(callsign, folder, tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "thin").mkdir()
    callsign.good("convert", "--quiet", make(tmp_path / "whole"), "-o", tmp_path / "index")
    thin = make(tmp_path / "thin", options="rcsT")
    if folder == "absolute":
        run(tmp_path / "thin", need("llvm-ar-22"), "rcsT", "other.a", tmp_path / "thin" / "first.o")
        data = thin.read_bytes()
        assert data.startswith(b"!<thin>")
        name, path = b"first.o/\n", bytes(tmp_path / "thin" / "first.o") + b"/\n"
        at = data.index(b"//      ")
        size = int(data[at + 48:at + 58])
        names = data[at + 60:at + 60 + size].replace(name, path)
        shift, pad = len(path) - len(name), b"\n" * (len(names) % 2)
        tail = data[at + 60 + size + size % 2:]
        second = names.index(b"a_second")
        tail = tail.replace(b"/%-15d" % (second - shift if second > names.index(path) else second), b"/%-15d" % second)
        thin.write_bytes(data[:at + 48] + b"%-10d" % len(names) + data[at + 58:at + 60] + names + pad + tail)
    callsign.good("convert", "--quiet", thin, "-o", tmp_path / "other")
    whole, other = frames_of_every_byte(callsign, tmp_path / "index"), frames_of_every_byte(callsign, tmp_path / "other")
    short = [(addr, member.rsplit("/", 1)[-1], [(f["function"], f["line"]) for f in frames]) for addr, (member, frames) in other.items()]
    assert short == [(addr, member, [(f["function"], f["line"]) for f in frames]) for addr, (member, frames) in whole.items()]


def test_a_thin_archive_whose_member_is_missing(callsign, tmp_path):
    archive = make(tmp_path, options="rcsT")
    (tmp_path / "first.o").unlink()
    done = callsign.run("convert", archive, "-o", tmp_path / "index")
    assert done.returncode == 1 and "damaged-member (first: lib.a(first.o): not found)" in done.stderr
    assert [name for _, _, name in functions(callsign, tmp_path / "index")] == ["helper", "beta"]
    (tmp_path / "a_second_with_a_long_name.o").unlink()
    error = callsign.bad("convert", archive, "-o", tmp_path / "index")
    assert "the archive has no object file that is read; 2 members, the first is lib.a(first.o): not found" in error


@pytest.mark.parametrize("options", ["rcs", "rcsT"])
def test_a_damaged_member(callsign, options, tmp_path):
    for _ in range(2): # the second time with half an object
        archive = make(tmp_path, options=options, extra=["cut.o"] if (tmp_path / "cut.o").exists() else [])
        data = (tmp_path / "first.o").read_bytes()
        (tmp_path / "cut.o").write_bytes(data[:len(data) // 2])
    done = callsign.run("convert", archive, "-o", tmp_path / "index")
    assert done.returncode == 1 and "damaged-member (first: lib.a(cut.o): section headers: " in done.stderr
    assert len(functions(callsign, tmp_path / "index")) == 5


def nested_archives(folder):
    """outer.a has what inner.a has, and one more."""
    (folder / "sub").mkdir(parents=True)
    make(folder)
    run(folder, "ar", "rcs", "sub/inner.a", "first.o", "a_second_with_a_long_name.o")
    (folder / "last.c").write_text("int last(int x) { return x - 7; }\n")
    run(folder, "gcc", "-g", "-O1", "-c", "last.c")


@pytest.mark.parametrize("ar, options", [("ar", "rcT"), ("llvm-ar-22", "rcT"), ("ar", "rc")], ids=["flat", "whole", "within"])
def test_archives_within_archives(callsign, ar, options, tmp_path):
    """A thin archive has each member of an archive that was added (GNU ar), or the archive as a whole (llvm-ar)."""
    nested_archives(tmp_path)
    run(tmp_path, need(ar), options, "outer.a", "sub/inner.a", "last.o")
    callsign.good("convert", "--quiet", tmp_path / "outer.a", "-o", tmp_path / "index")
    run(tmp_path, "ar", "rcs", "flat.a", "first.o", "a_second_with_a_long_name.o", "last.o")
    callsign.good("convert", "--quiet", tmp_path / "flat.a", "-o", tmp_path / "other")
    found = frames_of_every_byte(callsign, tmp_path / "index")
    assert {member for member, _ in found.values()} == {"first.o", "a_second_with_a_long_name.o", "last.o"}
    assert found == frames_of_every_byte(callsign, tmp_path / "other")


def test_a_nested_archive_that_is_missing_or_another(callsign, tmp_path):
    nested_archives(tmp_path)
    run(tmp_path, "ar", "rcT", "outer.a", "sub/inner.a", "last.o")
    (tmp_path / "sub" / "inner.a").rename(tmp_path / "kept.a")
    done = callsign.run("convert", tmp_path / "outer.a", "-o", tmp_path / "index")
    assert done.returncode == 1 and "2 dropped: damaged-member (first: outer.a(sub/inner.a): not found)" in done.stderr
    assert [name for _, _, name in functions(callsign, tmp_path / "index")] == ["last"]
    run(tmp_path, "ar", "rcs", "sub/inner.a", "last.o")
    done = callsign.run("convert", tmp_path / "outer.a", "-o", tmp_path / "index")
    assert done.returncode == 1 and "damaged-member (first: outer.a(sub/inner.a): " in done.stderr
    run(tmp_path, "ar", "rcT", "thin.a", "last.o")
    data = (tmp_path / "thin.a").read_bytes()
    (tmp_path / "other.a").write_bytes(data.replace(b"last.o/\n", b"thin.a/\n"))
    assert "first is thin.a: a thin archive within an archive" in callsign.bad("convert", tmp_path / "other.a", "-o", tmp_path / "index")


def test_universal_archives(callsign, tmp_path):
    for arch in ("x86_64", "arm64"):
        (tmp_path / arch).mkdir()
        make_clang(tmp_path / arch, f"{arch}-apple-macos", "darwin")
        callsign.good("convert", "--quiet", tmp_path / arch / "lib.a", "-o", tmp_path / arch / "index")
    run(tmp_path, need("llvm-lipo-22"), "-create", "x86_64/lib.a", "arm64/lib.a", "-output", "fat.a")
    callsign.good("convert", "--quiet", tmp_path / "fat.a", "-o", tmp_path / "each")
    for arch in ("x86_64", "arm64"):
        assert frames_of_every_byte(callsign, tmp_path / f"each.{arch}.gsym") == frames_of_every_byte(callsign, tmp_path / arch / "index")
        callsign.good("convert", "--quiet", "--arch", arch, tmp_path / "fat.a", "-o", tmp_path / "index")
        assert frames_of_every_byte(callsign, tmp_path / "index") == frames_of_every_byte(callsign, tmp_path / arch / "index")


def test_symbol_tables_of_64_bits_are_passed_over(callsign, tmp_path):
    """A table of 64-bit offsets is written for archives beyond 4 GiB; an environment variable of LLVM's sets another limit."""
    make_clang(tmp_path, "x86_64-linux-gnu")
    (tmp_path / "lib.a").unlink()
    environment = {**os.environ, "SYM64_THRESHOLD": "3"}
    done = subprocess.run(["llvm-ar-22", "rcs", "lib.a", "first.o", "a_second_with_a_long_name.o"], cwd=tmp_path, env=environment)
    assert done.returncode == 0 and b"/SYM64/" in (tmp_path / "lib.a").read_bytes()
    callsign.good("convert", "--quiet", tmp_path / "lib.a", "-o", tmp_path / "index")
    assert sorted(name for _, _, name in functions(callsign, tmp_path / "index")) == ["alpha", "beta", "helper", "helper", "shared"]


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
    assert done.returncode == 0 and "unread-member (first: names.dll: no object file" in done.stderr
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


@pytest.mark.parametrize("way", [["-o"], ["-o", "out.gsym", "--report"]])
@pytest.mark.parametrize("member", ["first.o", "a_second_with_a_long_name.o"])
def test_a_member_of_a_thin_archive_is_not_overwritten(callsign, tmp_path, way, member):
    """Its refusal counted as a lost member, and the index, or the report, took its place."""
    archive = make(tmp_path, options="rcsT")
    before = (tmp_path / member).read_bytes()
    done = callsign.run("convert", archive, *(tmp_path / word if word == "out.gsym" else word for word in way), tmp_path / member)
    assert done.returncode == 2 and f"reads {tmp_path / member}, which would be overwritten" in done.stderr
    done = callsign.run("stats", archive, "--html", tmp_path / member)
    assert done.returncode == 2 and f"reads {tmp_path / member}, which would be overwritten" in done.stderr
    assert (tmp_path / member).read_bytes() == before and not (tmp_path / "out.gsym").exists()
