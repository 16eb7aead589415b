"""callsign verify, alone and against an object."""
import re
import struct

import pytest

import gsym_make
import programs
from gsym_bytes import Bytes


def test_sound_index(callsign, shapes_index):
    text = callsign.good("verify", shapes_index)
    assert re.fullmatch(r"checked \d+ functions, \d+ line rows, \d+ inlined calls, \d+ call sites, \d+ merged functions, "
                        r"\d+ files, \d+ strings: 0 problems\n", text)
    assert text.startswith(f"checked {Bytes(shapes_index).count} functions, ")
    assert callsign.good("verify", "--quiet", shapes_index) == ""


def check_problem(callsign, index):
    done = callsign.run("verify", index)
    assert done.returncode == 1, (done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    count = int(re.search(r": (\d+) problems$", lines[-1]).group(1))
    assert count >= 1 and len(lines) == count + 1
    assert all(line.startswith("problem: ") for line in lines[:-1])
    done = callsign.run("verify", "-q", index)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    return lines


def test_name_out_of_range(callsign, index):
    data = Bytes(index)
    data.put_u32(data.record(0) + 4, 0xffffff00)
    data.save()
    check_problem(callsign, index)


def test_part_too_long(callsign, index):
    data = Bytes(index)
    data.put_u32(data.record(data.find("hidden")) + 12, 0xfffffff0)
    data.save()
    check_problem(callsign, index)


def test_record_outside_the_file(callsign, index):
    data = Bytes(index)
    data.put_u32(data.info_table, 0xfffffff0)
    data.save()
    check_problem(callsign, index)


def test_many_problems_are_cut_short(callsign, gcc, tmp_path):
    source = tmp_path / "many.c"
    source.write_text("".join(f"void f{i}(void) {{}}\n" for i in range(150)) + "int main(void) { return 0; }\n")
    programs.compile_files(gcc, tmp_path / "many", [source], ["-g"])
    callsign.good("convert", tmp_path / "many")
    data = Bytes(tmp_path / "many.gsym")
    for idx in range(data.count):
        data.put_u32(data.record(idx) + 4, 0xffffff00)
    data.save()
    done = callsign.run("verify", data.path)
    lines = done.stdout.splitlines()
    count = int(re.search(r": (\d+) problems$", lines[-1]).group(1))
    assert done.returncode == 1 and count >= 150
    assert len(lines) == 102 and lines[100] == f"... and {count - 100} more"


def test_against_its_object(callsign, shapes, shapes_index):
    text = callsign.good("verify", shapes_index, "--against", shapes.path)
    compared = re.search(r"^compared (\d+) addresses: 0 different$", text, re.M)
    assert int(compared.group(1)) > 20
    assert callsign.good("verify", shapes_index, "--against", shapes.path, "-q") == ""


def test_against_another_object(callsign, shapes, shapes_index, classes):
    done = callsign.run("verify", shapes_index, "--against", classes.path)
    assert done.returncode == 1
    assert (f"build ids differ: index {programs.build_id(shapes.path)}, object {programs.build_id(classes.path)}\n"
            in done.stdout)
    assert re.search(r"^different at 0x[0-9a-f]+\n  index:  .+\n", done.stdout, re.M)
    assert re.search(r"^compared \d+ addresses: [1-9]\d* different$", done.stdout, re.M)
    done = callsign.run("verify", shapes_index, "--against", classes.path, "-q")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_against_shows_both_answers(callsign, shapes, index):
    data = Bytes(index)
    at = data.data.index(b"\0hidden\0", data.strings)
    data.data[at + 1:at + 7] = b"midden"
    data.save()
    done = callsign.run("verify", index, "--against", shapes.path)
    assert done.returncode == 1
    start, place = shapes.addresses["hidden"], rf"{re.escape(str(shapes.source))}:\d+"
    assert re.search(rf"^different at {start:#x}\n  index:  midden \+ 0 at {place}\n  object: hidden \+ 0 at {place}\n",
                     done.stdout, re.M)
    assert "build ids" not in done.stdout


def test_against_a_longer_function(callsign, tmp_path):
    """One that would reach past the next function: only the bytes between the two tell."""
    paths = [gsym_make.write(tmp_path / f"{size}.gsym", [{"start": 0x1000, "size": size, "name": "f"}, {"start": 0x1040, "size": 2, "name": "g"}])
             for size in (2, 200)]
    for index, other in paths, paths[::-1]:
        done = callsign.run("verify", index, "--against", other)
        assert done.returncode == 1, done.stdout
        assert "different at 0x1002\n" in done.stdout and "different at 0x103f\n" in done.stdout
        assert "different at 0x1000: sizes " in done.stdout and re.search(r"^compared \d+ addresses: 3 different$", done.stdout, re.M)
        assert "0 different" in callsign.good("verify", index, "--against", index)


def test_against_a_function_without_a_size(callsign, tmp_path):
    """It reaches to the next one."""
    paths = [gsym_make.write(tmp_path / f"{size}.gsym", [{"start": 0x1000, "size": size, "name": "f"}, {"start": 0x1040, "size": 2, "name": "g"}])
             for size in (0, 1)]
    assert "0 different" in callsign.good("verify", paths[0], "--against", paths[0])
    done = callsign.run("verify", paths[0], "--against", paths[1])
    assert done.returncode == 1 and "different at 0x103f\n  index:  f + 63" in done.stdout


def test_against_other_merged_functions(callsign, tmp_path):
    def index_of(name, *merged):
        return gsym_make.write(tmp_path / name, [{"start": 0x1000, "size": 16, "name": "one", "line": 1, "merged": list(merged)},
                                                 {"start": 0x1010, "size": 16, "name": "last", "line": 9}])

    index = index_of("a", {"name": "two", "line": 2})
    assert "0 different" in callsign.good("verify", index, "--against", index)
    for other in ({"name": "twO", "line": 2},), ({"name": "two", "line": 3},), (), ({"name": "two", "line": 2}, {"name": "three"}):
        done = callsign.run("verify", index, "--against", index_of("b", *other))
        assert done.returncode == 1 and "1 different\n" in done.stdout
        assert re.search(r"^different at 0x1000\n  index:  one \+ 0 at /src/main.cc:1\n +or two \+ 0 at /src/main.cc:2\n  object: one \+ 0",
                         done.stdout, re.M)


def test_against_other_inlined_calls_of_merged_functions(callsign, tmp_path):
    def index_of(file, changed):
        call = {"offset": 4, "size": 8, "name": "inner", "call_line": 7} | changed
        return gsym_make.write(tmp_path / file, [{"start": 0x1000, "size": 16, "name": "one", "line": 1, "merged": [
            {"name": "two", "line": 2, "inlined": [call] if call["size"] else []}]}])

    index = index_of("a", {})
    assert "0 different" in callsign.good("verify", index, "--against", index)
    for changed in {"name": "inneR"}, {"call_line": 8}, {"offset": 5}, {"size": 7}, {"size": 0}:
        done = callsign.run("verify", index, "--against", index_of("b", changed))
        assert done.returncode == 1 and "1 different\n" in done.stdout, changed


@pytest.mark.parametrize("option", ["--merged-functions", "--merged-functions=aliases", "--merged-functions=llvm"])
def test_against_the_object_of_merged_functions(callsign, gcc, tmp_path, option):
    """OBJECT is converted as the index was, which differs in what is on top and in second names."""
    programs.need("ld.gold")
    source, program = tmp_path / "names.c", tmp_path / "names"
    source.write_text("int one(int a) { return a * 17; }\nint two(int a) { return a * 17; }\n"
                      "extern __typeof(one) second __attribute__((weak, alias(\"one\")));\n"
                      "int main(int c, char **v) { (void)v; return one(c) + two(c); }\n")
    programs.compile_files(gcc, program, [source], ["-g", "-O1", "-fno-inline", "-fno-ipa-icf", "-ffunction-sections", "-fuse-ld=gold",
                                                    "-Wl,--icf=all"])
    callsign.good("convert", "-q", option, program, "-o", tmp_path / "names.gsym")
    text = callsign.good("verify", tmp_path / "names.gsym", "--against", program)
    assert "0 different" in text and " 0 merged functions" not in text
    found = callsign.good("find", tmp_path / "names.gsym", "one").split()
    top = callsign.good("lookup", tmp_path / "names.gsym", found[0]).split()[1]
    index = Bytes(tmp_path / "names.gsym")
    index.rename(*(("two", "twO") if top == "one" else ("one", "onE")))
    index.save()
    done = callsign.run("verify", index.path, "--against", program)
    assert done.returncode == 1 and re.search(rf"^different at {found[0]}\n  index:  {top} .*\n( +or .*\n)* +or (twO|onE) ", done.stdout, re.M)


def test_against_another_size_that_the_next_function_hides(callsign, tmp_path):
    """No address tells: `find` and `dump` do."""
    paths = [gsym_make.write(tmp_path / f"{size}.gsym", [{"start": 0x1000, "size": size, "name": "f"}, {"start": 0x1004, "size": 4, "name": "g"}])
             for size in (4, 0x10004)]
    done = callsign.run("verify", paths[1], "--against", paths[0])
    assert done.returncode == 1 and "\ndifferent at 0x1000: sizes 65540 and 4\n" in done.stdout and ": 1 different\n" in done.stdout
    assert "0 different" in callsign.good("verify", paths[1], "--against", paths[1])


@pytest.mark.parametrize("options", [["-no-pie"], [], ["-c"], ["-no-pie", "-Wl,--build-id=none"]])
@pytest.mark.parametrize("kind", [["breakpad"], ["gsym-section", "--revision", "B"], ["gsym-section", "--revision", "E"], ["gsym-v2"]])
def test_formats_that_have_no_build_id_or_count_from_the_image(callsign, gcc, tmp_path, options, kind):
    """What OBJECT makes of itself in any format is right."""
    source, program, index = tmp_path / "main.c", tmp_path / "main", tmp_path / "index"
    source.write_text("int twice(int a) { return a * 2; }\nint main(int c, char **v) { (void)v; return twice(c); }\n")
    programs.compile_files(gcc, program, [source], ["-g", "-O1", *options])
    if "-c" in options and kind[0] == "gsym-section":
        return
    callsign.good("convert", "-q", program, "--to", *kind, "-o", index)
    assert ": 0 different\n" in callsign.good("verify", index, "--against", program)


@pytest.mark.parametrize("options", [[], ["--call-sites", "dwarf"], ["--call-sites", "dwarf", "--merged-functions"],
                                     ["--call-sites", "dwarf", "--merged-functions=aliases"]])
def test_against_a_program_without_call_sites(callsign, tmp_path, options):
    """Whether it was made with them shows in names only, of what has no linkage name; with several ways to merge functions besides."""
    source, program = tmp_path / "inner.cc", tmp_path / "inner"
    source.write_text("namespace n { static int local(int x) { return x * 3; } int all(int x) { return local(x); } }\n"
                      "int main(int c, char **) { auto twice = [](int x) { return 2 * x; }; return n::all(c) + twice(c); }\n")
    programs.compile_files(programs.need("g++"), program, [source], ["-g", "-O0"])
    callsign.good("convert", "-q", *options, program, "-o", tmp_path / "inner.gsym")
    text = callsign.good("verify", tmp_path / "inner.gsym", "--against", program)
    assert " 0 call sites" in text and "0 different" in text


def test_against_what_is_no_object(callsign, shapes_index, tmp_path):
    (tmp_path / "text").write_text("hello")
    done = callsign.run("verify", shapes_index, "--against", tmp_path / "text")
    assert done.returncode == 2
    assert done.stderr.startswith(f"callsign: {tmp_path / 'text'}: ") and done.stderr.count("\n") == 1


def test_functions_that_share_one_record(callsign, shapes, tmp_path):
    """5,000 functions with the same 100,000 rows: neither checked nor compared to the end."""
    path = gsym_make.write(tmp_path / "rows.gsym", [{"start": 0x1000 + i, "size": 1, "name": "f"} for i in range(5000)])
    index = Bytes(path)
    index.data += b"\0" * (-len(index.data) % 4)
    record, rows = len(index.data), b"\x00\x01\x01" + b"\x03\x00" * 50000 + b"\x00"
    index.data += struct.pack("<IIII", 16, 1, 1, len(rows)) + rows + struct.pack("<II", 0, 0)
    index.data[index.info_table:index.info_table + 4 * index.count] = struct.pack("<I", record) * index.count
    index.save()
    done = callsign.run("verify", path, "--against", shapes.path)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert "records share bytes: 0x" in lines[-3] and lines[-1] == "not compared: the index is beyond a limit"


def test_checkpoints_of_functions_that_are_alike(callsign, tmp_path):
    """Where all functions are alike, entries have places and a byte of nothing. Readers took that for damage and went without."""
    source, index = tmp_path / "alike.sym", tmp_path / "alike.gsym"
    lines = ["MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 alike", "FILE 0 /src/alike.c", "INLINE_ORIGIN 0 inner"]
    starts = range(0x1000, 0x1000 + 16 * 2000, 16)
    for start in starts:
        lines += [f"FUNC {start:x} 10 0 outer", f"INLINE 0 1 0 0 {start:x} 8", f"{start:x} 10 7 0"]
    source.write_text("\n".join(lines) + "\n")
    callsign.good("convert", "-q", source, "-o", index)
    assert ": 0 problems\n" in callsign.good("verify", index)
    asked = [(start + offset, f"inner + {offset} at /src/alike.c:7 (inlined)" if offset < 8 else f"outer + {offset} at /src/alike.c:7")
             for start in starts for offset in (0, 7, 8, 15)]
    answers = [line for line in callsign.good("lookup", index, stdin="".join(f"{at:#x}\n" for at, _ in asked)).splitlines() if line.startswith("0x")]
    assert len(answers) == len(asked)
    assert all(answer.startswith(f"{at:#x}: {expected.split(' at ')[0]} at /src/alike.c:7") for answer, (at, expected) in zip(answers, asked))
