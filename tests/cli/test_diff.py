"""callsign diff: what differs in meaning is told, how it is stored is not."""
import json
import struct
import subprocess

import pytest

import gsym_make
import programs
from gsym_bytes import Bytes

SOURCE = r"""
static inline __attribute__((always_inline)) int square(int x) { return x * x; }
__attribute__((noinline)) int one(int a) {
    return square(a) * 3;
}
__attribute__((noinline)) int two(int a) {
    return square(a) + one(a);
}
int main(int c, char **v) { (void)v; return two(c) + one(c); }
"""
FLAGS = ["-g", "-O2", "-no-pie", "-Wl,--build-id=none"]


def build(gcc, path, text):
    source = path.with_suffix(".c")
    source.write_text(text)
    # One name for the source, whatever the program's is.
    programs.compile_files(gcc, path, [source], FLAGS + [f"-ffile-prefix-map={source}=/src/app.c"])
    return path


@pytest.fixture
def app(callsign, gcc, tmp_path):
    program = build(gcc, tmp_path / "app", SOURCE)
    callsign.good("convert", "-q", program, "-o", tmp_path / "app.gsym")
    return tmp_path / "app.gsym"


def differ(callsign, a, b, *options):
    done = callsign.run("diff", "--json", *options, a, b)
    assert done.returncode == 1, (done.stdout, done.stderr)
    answer = json.loads(done.stdout)
    assert answer["same"] is False
    counts = answer["counts"]
    assert counts["changed"] + counts["moved"] == len(answer["functions"]["changed"])
    assert counts["removed"] == len(answer["functions"]["removed"])
    assert counts["added"] == len(answer["functions"]["added"])
    return answer


def damaged(callsign, a, b):
    """What is told of two indexes one of which cannot be read everywhere."""
    done = callsign.run("diff", "--json", a, b)
    assert done.returncode == 2 and "damaged functions: " in done.stderr, (done.stdout, done.stderr)
    answer = json.loads(done.stdout)
    assert answer["counts"]["damaged"] == len(answer["functions"]["damaged"]) and not answer["same"]
    return answer


def names(functions):
    return [function["name"] for function in functions]


def test_the_same(callsign, app):
    assert "0 changed, 0 moved, 0 removed, 0 added\nthe two say the same\n" in callsign.good("diff", app, app)
    answer = json.loads(callsign.good("diff", "--json", app, app))
    assert answer["same"] is True
    assert answer["functions"] == {"changed": [], "removed": [], "added": [], "damaged": []}
    assert answer["files"] == [] and answer["header"] == []
    assert answer["counts"]["same"] == answer["a"]["functions"] == Bytes(app).count
    assert callsign.good("diff", "-q", app, app) == ""


def test_an_object_against_its_index(callsign, app):
    assert json.loads(callsign.good("diff", "--json", app.with_suffix(""), app))["same"] is True


@pytest.mark.parametrize("options", [["--to", "gsym-v2"], ["--endian", "big"], ["--to", "gsym-v2", "--endian", "big"]])
def test_formats_of_one_meaning(callsign, app, tmp_path, options):
    callsign.good("convert", "-q", *options, app.with_suffix(""), "-o", tmp_path / "other.gsym")
    assert json.loads(callsign.good("diff", "--json", app, tmp_path / "other.gsym"))["same"] is True


def test_a_breakpad_file(callsign, gcc, tmp_path):
    """Addresses count from the image's base there, and size 0 is not known: an index says "up to the next function"."""
    source = tmp_path / "app.c"
    source.write_text(SOURCE)
    programs.compile_files(gcc, tmp_path / "app", [source], ["-g", "-O2", "-pie", "-fPIE"])
    callsign.good("convert", "-q", tmp_path / "app", "-o", tmp_path / "app.gsym")
    callsign.good("convert", "-q", "--to", "breakpad", "--mangled", tmp_path / "app", "-o", tmp_path / "app.sym")
    answer = json.loads(callsign.run("diff", "--json", tmp_path / "app.gsym", tmp_path / "app.sym").stdout)
    assert answer["functions"] == {"changed": [], "removed": [], "added": [], "damaged": []}, answer["functions"]


def test_a_changed_line(callsign, gcc, app, tmp_path):
    other = build(gcc, tmp_path / "other", SOURCE.replace("    return square(a) * 3;", "\n    return square(a) * 3;"))
    answer = differ(callsign, app, other)
    assert answer["functions"]["removed"] == answer["functions"]["added"] == []
    by_name = {function["name"]: function for function in answer["functions"]["changed"]}
    assert by_name["one"]["what"] == ["lines", "inlines"]
    assert by_name["one"]["line"]["a"]["file"] == by_name["one"]["line"]["b"]["file"] == "/src/app.c"
    assert by_name["one"]["line"]["a"]["line"] + 1 == by_name["one"]["line"]["b"]["line"]
    assert by_name["one"]["inline"]["a"]["name"] == by_name["one"]["inline"]["b"]["name"] == "square"
    assert by_name["one"]["inline"]["b"]["line"] == by_name["one"]["inline"]["a"]["line"] + 1
    assert set(by_name) == {"one", "two", "main"}  # all lines behind it moved
    done = callsign.run("diff", app, other)
    assert done.returncode == 1
    assert "one: lines, inlines\n" in done.stdout and done.stdout.endswith("\nthe two differ\n")
    done = callsign.run("diff", "--quiet", app, other)
    assert (done.returncode, done.stdout) == (1, "")


def test_functions_that_come_and_go(callsign, gcc, app, tmp_path):
    other = build(gcc, tmp_path / "other", SOURCE.replace("two", "deux").replace(
        "int main", "__attribute__((noinline)) int more(int a) { return a + 7; } int main"))
    answer = differ(callsign, app, other)
    assert names(answer["functions"]["removed"]) == ["two"]
    assert sorted(names(answer["functions"]["added"])) == ["deux", "more"]
    back = differ(callsign, other, app)
    assert names(back["functions"]["added"]) == ["two"]
    assert sorted(names(back["functions"]["removed"])) == ["deux", "more"]


def test_a_function_that_only_moved(callsign, gcc, tmp_path):
    text = "{}int one(int a) {{ return a * 3; }}\nint main(void) {{ return one(4); }}\n"
    a = build(gcc, tmp_path / "a", text.format(""))
    b = build(gcc, tmp_path / "b", text.format('__asm__(".text\\n.skip 64, 0x90"); '))
    answer = differ(callsign, a, b)
    one = next(function for function in answer["functions"]["changed"] if function["name"] == "one")
    assert one["what"] == ["address"]
    assert int(one["new_address"], 16) == int(one["address"], 16) + 64
    assert answer["counts"]["moved"] >= 1


def test_byte_order_and_file_numbers_do_not_matter(callsign, gcc, tmp_path):
    """The same functions from two files, compiled and so numbered in both orders."""
    first, second = tmp_path / "first.c", tmp_path / "second.c"
    first.write_text("int one(int a) { return a + 1; }\n")
    second.write_text("int one(int);\nint main(void) { return one(2); }\n")
    indexes = []
    for name, order in (("ab", [first, second]), ("ba", [second, first])):
        objects = []
        for source in order:
            objects.append(tmp_path / f"{name}.{source.stem}.o")
            subprocess.run([gcc, "-g", "-ffunction-sections", "-c", source, "-o", objects[-1]], check=True)
        script = tmp_path / "order.ld"
        script.write_text("SECTIONS { .text 0x1000 : { *(.text.one) *(.text.main) } }\n")
        subprocess.run([gcc, "-nostdlib", "-no-pie", "-Wl,--build-id=none", "-T", script, "-Wl,-e,main", *objects, "-o",
                        tmp_path / name], check=True)
        indexes.append(tmp_path / f"{name}.gsym")
        callsign.good("convert", "-q", tmp_path / name, "-o", indexes[-1])
    assert json.loads(callsign.good("diff", "--json", *indexes))["same"] is True


def test_the_header(callsign, app, tmp_path):
    data = Bytes(app)
    data.path = tmp_path / "other.gsym"
    data.data[7] = 4
    data.data[28:32] = b"\x01\x02\x03\x04"
    data.save()
    answer = differ(callsign, app, data.path)
    old = Bytes(app).data[28:48].hex()
    assert answer["header"] == [{"what": "uuid", "a": old, "b": "01020304"}]
    assert answer["counts"]["same"] == Bytes(app).count
    assert callsign.run("diff", app, data.path).stdout.startswith(f"uuid: {old} | 01020304\n")
    data.data[7] = 0
    data.save()
    assert differ(callsign, app, data.path)["header"] == [{"what": "uuid", "a": old}]
    assert callsign.run("diff", data.path, app).stdout.startswith(f"uuid: none | {old}\n")


def test_a_record_that_is_damaged(callsign, app, tmp_path):
    data = Bytes(app)
    data.path = tmp_path / "other.gsym"
    data.put_u32(data.record(data.find("one")) + 12, 0xfffffff0)
    data.save()
    start = hex(data.start(data.find("one")))
    for first, second, side in ((app, data.path, "b"), (data.path, app, "a")):
        found = damaged(callsign, first, second)
        one, = found["functions"]["damaged"]
        assert (one["name"], one["in"]) == ("one", side) and one["address"] == start
        assert "4294967280" in one["error"]
        assert not any(found["functions"][kind] for kind in ("changed", "removed", "added"))
        assert found["counts"]["damaged"] == 1 and not found["same"]
    for second in (app, data.path): # nothing tells that they differ
        assert callsign.run("diff", data.path, second).stdout.endswith(" damaged\nthe rest is the same\n")
    # Not even against itself does it count as the same.
    assert [d["in"] for d in damaged(callsign, data.path, data.path)["functions"]["damaged"]] == ["a", "b"]


def test_a_record_that_is_nowhere(callsign, app, tmp_path):
    data = Bytes(app)
    data.path = tmp_path / "other.gsym"
    data.put_u32(data.info_table, 0xfffffff0)
    data.save()
    for options in ([], ["--json"], ["-q"], ["--all"]):
        done = callsign.run("diff", *options, app, data.path)
        assert done.returncode == 2
        assert "other.gsym: damaged functions: 1 (first: 0x" in done.stderr and "record 0 at 0xfffffff0" in done.stderr
        if not options:
            assert " 0 removed, 0 added, 1 damaged\n" in done.stdout and done.stdout.startswith("damaged 0x")
    found = damaged(callsign, data.path, app)
    assert [d["in"] for d in found["functions"]["damaged"]] == ["a"] and not found["functions"]["added"]


def test_a_damaged_record_that_only_one_has(callsign, app, tmp_path):
    """It is neither removed nor added."""
    data = Bytes(app)
    data.path = tmp_path / "other.gsym"
    last = data.count - 1
    name, start = data.name(last), data.start(last)
    data.data[data.address_table + last * data.width] += 1
    data.put_u32(data.info_table + 4 * last, 0xfffffff0)
    data.save()
    for first, second, side, kind in ((app, data.path, "b", "removed"), (data.path, app, "a", "added")):
        found = damaged(callsign, first, second)
        one, = found["functions"]["damaged"]
        assert (one["in"], one["address"], "name" in one) == (side, hex(start + 1), False)
        assert names(found["functions"][kind]) == [name]
        assert found["counts"]["removed"] + found["counts"]["added"] == 1


FAR = 0x7fffffff


def spoil(data, what):
    """An offset of a string that leads out of the table."""
    record = data.record(1)
    if what == "name":
        data.put_u32(record + 4, FAR)
    elif what == "path":
        data.put_u32(data.info_table + 4 * data.count + 16, FAR)
    else: # the name of the inlined call, or the pattern of the call site
        text = data.data.index({"call": b"\0callee\0", "pattern": b"\0goal\0"}[what], data.strings) + 1 - data.strings
        data.put_u32(data.data.index(struct.pack("<I", text), record), FAR)


@pytest.mark.parametrize("what", ["name", "path", "call", "pattern"])
def test_a_string_that_cannot_be_read(callsign, tmp_path, what):
    """The function is damaged, and neither removed, added, changed nor the same."""
    functions = [{"start": 0x1000 * i, "size": 0x100, "name": f"f{i}"} for i in (1, 2, 3)]
    functions[1].update(line=7, inlined=[{"offset": 16, "size": 16, "name": "callee", "call_line": 3}],
                        sites=[(8, gsym_make.INTERNAL, ["goal"])])
    good = gsym_make.write(tmp_path / "good.gsym", functions)
    data = Bytes(gsym_make.write(tmp_path / "bad.gsym", functions))
    spoil(data, what)
    data.save()
    for a, b, sides in ((good, data.path, "b"), (data.path, good, "a"), (data.path, data.path, "ab")):
        found = damaged(callsign, a, b)
        assert [(d["address"], d["in"]) for d in found["functions"]["damaged"]] == [("0x2000", side) for side in sides]
        assert all("string 0x7fffffff, need < " in d["error"] for d in found["functions"]["damaged"])
        assert not any(found["functions"][kind] for kind in ("changed", "removed", "added")) and found["counts"]["same"] == 2
        done = callsign.run("diff", a, b)
        assert done.returncode == 2 and done.stdout.startswith("damaged 0x2000 ") and "the rest is the same\n" in done.stdout
        done = callsign.run("diff", "-q", a, b)
        assert (done.returncode, done.stdout) == (2, "") and "damaged functions: 1 (first: 0x2000: FunctionInfo" in done.stderr


def test_a_string_that_cannot_be_read_beyond_a_difference(callsign, tmp_path):
    """What differs before it does not hide it; nor does it that only one index has the function."""
    def make(name, line, start):
        return gsym_make.write(tmp_path / name, [{"start": start, "size": 0x100, "name": name[0], "line": line, "inlined": [
            {"offset": 16, "size": 16, "name": "callee", "call_line": 3}]}])
    for good, other in ((make("f.good", 1, 0x1000), make("f.bad", 2, 0x1000)), (make("g", 1, 0x1000), make("h", 1, 0x2000))):
        data = Bytes(other)
        text = data.data.index(b"\0callee\0", data.strings) + 1 - data.strings
        data.put_u32(data.data.index(struct.pack("<I", text), data.record(0)), FAR)
        data.save()
        found = damaged(callsign, good, data.path)
        assert [d["in"] for d in found["functions"]["damaged"]] == ["b"] and not found["functions"]["changed"] + found["functions"]["added"]


@pytest.mark.parametrize("form, width", [("gsym-v2", 8), ("gsym-section", 4)])
def test_a_name_of_other_formats_that_cannot_be_read(callsign, tmp_path, form, width):
    good, bad = tmp_path / "good", tmp_path / "bad"
    (tmp_path / "a.sym").write_text("FILE 0 /src/a.c\nFUNC 1000 100 0 one\n1000 100 1 0\nFUNC 2000 12345 0 two\n2000 12345 2 0\n")
    callsign.good("convert", "-q", "--to", form, tmp_path / "a.sym", "-o", good)
    data = bytearray(good.read_bytes())
    at = data.index(struct.pack("<I", 0x12345)) + 4
    data[at:at + width] = FAR.to_bytes(width, "little")
    bad.write_bytes(data)
    one, = damaged(callsign, good, bad)["functions"]["damaged"]
    assert (one["address"], one["in"], one["name"]) == ("0x2000", "b", "two") and "name: string 0x7fffffff" in one["error"]


def test_a_name_of_bsym_that_cannot_be_read(callsign, tmp_path):
    good, bad = tmp_path / "good.bsym", tmp_path / "bad.bsym"
    (tmp_path / "rom.symbol").write_text("From    \\epoc32\\release\\armv5\\urel\\a.exe\n\n"
                                         "80000000    0010    one(int)    a.o(.text)\n80000010    0010    two(int)    a.o(.text)\n")
    callsign.good("convert", "-q", "--to", "bsym", tmp_path / "rom.symbol", "-o", good)
    data = bytearray(good.read_bytes())
    at = int.from_bytes(data[12:16], "big") + 4 + 12 + 8 # the name of the second symbol
    data[at:at + 4] = FAR.to_bytes(4, "big")
    bad.write_bytes(data)
    one, = damaged(callsign, good, bad)["functions"]["damaged"]
    assert (one["address"], one["in"]) == ("0x80000010", "b") and "the name of symbol 1 is not within" in one["error"]
    assert len(damaged(callsign, bad, bad)["functions"]["damaged"]) == 2


def test_a_merged_function_that_is_damaged(callsign, tmp_path):
    """It is not taken for one that differs."""
    sym, good, bad = tmp_path / "a.sym", tmp_path / "good.gsym", tmp_path / "bad.gsym"
    sym.write_text("FILE 0 a.c\nFUNC m 1000 10 0 first\n1000 10 1 0\nFUNC m 1000 10 0 second\n1000 10 2 0\n")
    callsign.good("convert", "-q", "--merged-functions", sym, "-o", good)
    data = Bytes(good)
    data.path = bad
    second = data.strings + data.data[data.strings:].index(b"\0second\0") + 1 - data.strings
    at = data.data.index(struct.pack("<II", 0x10, second), data.record(0) + 8)  # size and name of the merged record
    data.put_u32(at + 12, 0xfffffff0)  # the length of its line table
    data.save()
    assert [d["in"] for d in damaged(callsign, good, bad)["functions"]["damaged"]] == ["b"]


def test_an_inlined_call_that_names_no_file(callsign, tmp_path):
    """Its line is all that tells two of them apart."""
    for line in (5, 6):
        (tmp_path / f"{line}.sym").write_text(
            f"FILE 0 a.c\nINLINE_ORIGIN 0 callee\nFUNC 1000 100 0 caller\nINLINE 0 {line} -1 0 1010 40\n1000 100 3 0\n")
        callsign.good("convert", "-q", tmp_path / f"{line}.sym", "-o", tmp_path / f"{line}.gsym")
    assert ("  inlines: callee +0x10..+0x50 called at (no file):5 | callee +0x10..+0x50 called at (no file):6\n"
            in callsign.run("diff", tmp_path / "5.gsym", tmp_path / "6.gsym").stdout)
    found, = differ(callsign, tmp_path / "5.gsym", tmp_path / "6.gsym")["functions"]["changed"]
    assert [(side, found["inline"][side]["line"], "file" in found["inline"][side]) for side in "ab"] == [("a", 5, False), ("b", 6, False)]


def test_call_sites_that_differ_in_their_flags(callsign, tmp_path):
    """The text names them, as the dump does."""
    for name, flags in (("a", gsym_make.INTERNAL), ("b", gsym_make.EXTERNAL)):
        gsym_make.write(tmp_path / name, [{"start": 0x1000, "size": 16, "name": "f", "sites": [(8, flags, ["g"])]}])
    assert "  call_sites: +0x8 internal g | +0x8 external g\n" in callsign.run("diff", tmp_path / "a", tmp_path / "b").stdout


def test_names_are_escaped(callsign, app, tmp_path):
    data = Bytes(app)
    data.path = tmp_path / "other.gsym"
    at = data.data.index(b"\0one\0", data.strings) + 1
    data.data[at:at + 3] = b'"\x1b\xff'
    data.save()
    added = differ(callsign, app, data.path)["functions"]["added"]
    assert names(added) == ['"\x1b\ufffd']
    assert '"\\x1b' in callsign.run("diff", app, data.path).stdout


def test_many_differences_are_cut_short(callsign, gcc, tmp_path):
    text = "".join(f"int f{i}(void) {{ return {i} + 1; }}\n" for i in range(50)) + "int main(void) { return 0; }\n"
    a, b = build(gcc, tmp_path / "a", text), build(gcc, tmp_path / "b", "\n" + text)
    short = callsign.run("diff", a, b).stdout
    assert short.count("\nchanged ") + short.startswith("changed ") == 20
    assert "... and 31 more changed or moved (--all shows them)\n" in short
    whole = callsign.run("diff", "--all", a, b).stdout
    assert whole.count("changed 0x") == 51
    assert len(differ(callsign, a, b)["functions"]["changed"]) == 51


def test_what_cannot_be_opened(callsign, app, tmp_path):
    assert "No such file" in callsign.bad("diff", app, tmp_path / "missing")
    assert callsign.bad("diff", app) == "callsign: diff needs A B (try 'callsign diff --help')"


# ---- indexes that were made to take for ever ----

def expect_given_up(callsign, path):
    copy = path.with_suffix(".copy")
    copy.write_bytes(path.read_bytes())
    for options in ([], ["--json"], ["--quiet"]):
        done = callsign.run("diff", *options, path, copy)
        assert done.returncode == 2
        assert f"callsign: {path}: functions share too many records, names or paths to be compared\n" in done.stderr


@pytest.mark.long_with_sanitizers
def test_functions_that_share_one_record(callsign, tmp_path):
    """2,000 functions with the same 100,000 rows."""
    path = gsym_make.write(tmp_path / "rows.gsym", [{"start": 0x1000 + 16 * i, "size": 16, "name": "f"} for i in range(2000)])
    index = Bytes(path)
    index.data += b"\0" * (-len(index.data) % 4)
    record, rows = len(index.data), b"\x00\x01\x01" + b"\x04" * 100000 + b"\x00"
    index.data += struct.pack("<IIII", 16, 1, 1, len(rows)) + rows + struct.pack("<II", 0, 0)
    for idx in range(index.count):
        index.put_u32(index.info_table + 4 * idx, record)
    index.save()
    expect_given_up(callsign, path)


def test_functions_that_share_one_name(callsign, tmp_path):
    name = "n" * 200000
    expect_given_up(callsign, gsym_make.write(
        tmp_path / "names.gsym", [{"start": 0x1000 + 16 * i, "size": 16, "name": name} for i in range(5000)]))


def test_functions_that_share_a_little(callsign, tmp_path):
    """As sound indexes do."""
    path = gsym_make.write(tmp_path / "some.gsym", [{"start": 0x1000 + 16 * i, "size": 16, "name": "n" * 200} for i in range(5000)])
    assert callsign.good("diff", path, path)
