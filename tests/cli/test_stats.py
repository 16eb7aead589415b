"""callsign stats: parts that add up, sums that agree with the dump, and what a damaged or hostile index does to them."""
import json
import struct

import pytest

import programs
from gsym_bytes import Bytes


def stats(callsign, index, *options, code=0):
    done = callsign.run("stats", "--json", *options, index)
    assert done.returncode == code, (done.stdout, done.stderr)
    answer = json.loads(done.stdout)
    assert sum(part["bytes"] for part in answer["parts"]) == answer["file_size"]
    return answer


def parts(answer):
    return {part["name"]: part["bytes"] for part in answer["parts"]}


def test_parts_add_up(callsign, shapes_index):
    answer = stats(callsign, shapes_index)
    assert answer["file_size"] == shapes_index.stat().st_size
    data = Bytes(shapes_index)
    found = parts(answer)
    assert found["header"] == 48
    assert found["address_table"] == data.count * data.width
    assert found["record_offsets"] == data.count * 4
    assert found["strings"] == data.strings_size
    assert found["line_tables"] > 0 and found["inline_trees"] > 0
    assert found["other"] == found["merged_functions"] == found["call_sites"] == 0
    assert found["padding"] < 4 * (data.count + 4)


def test_version_2(callsign, shapes, shapes_index, tmp_path):
    """Other tables of other widths, the same functions."""
    callsign.good("convert", "-q", "--to", "gsym-v2", shapes.path, "-o", tmp_path / "v2.gsym")
    first, second = stats(callsign, shapes_index), stats(callsign, tmp_path / "v2.gsym")
    count = Bytes(shapes_index).count
    assert parts(second)["record_offsets"] == 8 * count
    assert parts(second)["line_tables"] == parts(first)["line_tables"]
    assert parts(second)["record_headers"] == parts(first)["record_headers"] + 4 * count
    assert parts(second)["header"] >= 20 + 20 * 6 + 20
    assert parts(second)["padding"] < 4 * (count + 8)
    assert second["code"] == first["code"] and second["rows"] == first["rows"]


@pytest.mark.parametrize("options", [[], ["--endian", "big"], ["--to", "gsym-v2"], ["--accelerate"]])
def test_name_table(callsign, shapes, tmp_path, options):
    """It was padding, the part of bytes that nothing refers to."""
    index = tmp_path / "shapes.gsym"
    callsign.good("convert", "-q", *options, shapes.path, "-o", index)
    without = parts(stats(callsign, index))
    callsign.good("convert", "-q", "--name-table", *options, shapes.path, "-o", index)
    answer = stats(callsign, index)
    assert without["name_table"] == 0 and parts(answer)["name_table"] == 8 * answer["functions"] + 16
    assert parts(answer)["padding"] < without["padding"] + 4


def test_sums_agree_with_the_dump(callsign, shapes_index):
    answer = stats(callsign, shapes_index, "--top", "1000")
    lines = [json.loads(line) for line in callsign.good("dump", "--json", shapes_index).splitlines()]
    functions = [line for line in lines if "function" in line]
    assert answer["functions"] == len(functions) == len(answer["largest_functions"])
    assert {f["name"] for f in answer["largest_functions"]} == {f["function"]["name"] for f in functions}
    found = parts(answer)
    for key, part in (("line_bytes", "line_tables"), ("inline_bytes", "inline_trees")):
        assert sum(f[key] for f in answer["largest_functions"]) == found[part]
    records = sum(found[name] for name in ("record_headers", "line_tables", "inline_trees", "merged_functions", "call_sites"))
    for key in ("directories", "files", "largest_functions"):
        assert sum(item["bytes"] for item in answer[key]) == records
    for key in ("directories", "files"):
        assert sum(item["functions"] for item in answer[key]) == answer["functions"]
        assert sum(item["code_bytes"] for item in answer[key]) == answer["code"]["bytes"]
    assert 0 < answer["code"]["inlined"] < answer["code"]["with_lines"] <= answer["code"]["bytes"]
    by_name = {f["name"]: f for f in answer["largest_functions"]}
    assert by_name["outer"]["file"].endswith("shapes.c")
    assert "file" not in by_name["_start"]
    largest = [f["bytes"] for f in answer["largest_functions"]]
    assert largest == sorted(largest, reverse=True)


@pytest.mark.parametrize("revision", ["A", "B", "B-script", "C", "D", "E", "F", "G"])
def test_sections(callsign, shapes, tmp_path, revision):
    """Every revision: alone in an object file, and embedded in the program."""
    section, program = tmp_path / "section.o", tmp_path / "program"
    callsign.good("convert", "-q", "--to", "gsym-section", "--revision", revision, shapes.path, "-o", section)
    callsign.good("embed", section, shapes.path, "-o", program)
    for file in (section, program):
        answer = stats(callsign, file)
        found = parts(answer)
        assert answer["file_size"] == file.stat().st_size
        assert found["other"] == 0 and found["object"] > 0 and found["header"] in (28, 32, 48)
        assert min(found[name] for name in ("address_table", "record_offsets", "file_table", "record_headers", "line_tables")) > 0
        assert (found["inline_trees"] > 0) == (revision != "A")
        assert found["padding"] < 16 * answer["functions"]
        assert found["strings"] > 0
        largest = answer["largest_functions"]
        assert all(0 < f["line_bytes"] + f["inline_bytes"] < f["bytes"] for f in largest if "file" in f)
        assert sum(f["line_bytes"] for f in largest) == found["line_tables"]


@pytest.mark.parametrize("revision", ["A", "B"])
def test_strings_of_another_section(callsign, shapes, tmp_path, revision):
    """They belong to the program, and count as that."""
    section, program = tmp_path / "section.o", tmp_path / "program"
    callsign.good("convert", "-q", "--to", "gsym-section", "--revision", revision, "--strings-in", ".debug_str", shapes.path, "-o", section)
    callsign.good("embed", section, shapes.path, "-o", program)
    answer = stats(callsign, program)
    assert answer["file_size"] == program.stat().st_size
    assert parts(answer)["strings"] == parts(answer)["other"] == 0 and parts(answer)["object"] > 0
    assert "100.0" not in callsign.good("stats", program).split("code\n")[0]


@pytest.mark.parametrize("version", ["1.0", "2.0", "2.1", "2.2", "2.3"])
def test_bsym(callsign, shapes, tmp_path, version):
    index = tmp_path / "shapes.bsym"
    callsign.good("convert", "-q", "--to", "bsym", "--bsym-version", version, shapes.path, "-o", index)
    answer = stats(callsign, index)
    found = parts(answer)
    assert answer["file_size"] == index.stat().st_size
    assert found["other"] == 0 and found["padding"] <= 8 and found["strings"] > 0
    assert found["record_headers"] == 4 + 12 * answer["functions"]
    assert found["binaries"] == 4 + 20
    assert (found["tokens"] > 0) == (version != "1.0")
    assert found["header"] == {"1.0": 16, "2.0": 20, "2.1": 24, "2.2": 28, "2.3": 28}[version]
    assert all(f["bytes"] > 12 for f in answer["largest_functions"])
    callsign.good("verify", index)


def test_names_that_symbols_of_bsym_share(callsign, tmp_path):
    """A name counts for the first symbol that has it: functions, their file and their directory have no more than the file has."""
    name, index = "a_name_that_many_functions_of_one_file_have", tmp_path / "same.bsym"
    symbols = tmp_path / "same.sym"
    symbols.write_text("MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 same\n"
                       + "".join(f"FUNC {0x1000 + 16 * k:x} 10 0 {name}\n" for k in range(500)))
    callsign.good("convert", "-q", "--to", "bsym", "--bsym-tokens", "none", symbols, "-o", index)
    answer = stats(callsign, index, "--top", "500")
    sizes = [function["bytes"] for function in answer["largest_functions"]]
    assert sizes[0] == 12 + len(name) + 1 and sizes[1:] == [12] * 499  # with the byte that has the length
    assert answer["directories"][0]["bytes"] == answer["files"][0]["bytes"] == sum(sizes) < answer["file_size"]


def test_an_object_file(callsign, shapes, shapes_index):
    """Converted in memory, it has the size of its index, which is no file."""
    answer = stats(callsign, shapes.path)
    assert answer["file_size"] == shapes_index.stat().st_size
    assert parts(answer) == parts(stats(callsign, shapes_index))
    assert answer["converted"] is True and "converted" not in stats(callsign, shapes_index)
    assert callsign.good("stats", shapes.path).startswith(f"{shapes.path}: {answer['file_size']} bytes, converted in memory\n")


def test_text(callsign, shapes_index):
    text = callsign.good("stats", shapes_index, "--top", "2")
    assert text.startswith(f"{shapes_index}: {shapes_index.stat().st_size} bytes\n")
    assert f"... and {Bytes(shapes_index).count - 2} more\n" in text
    assert "line_tables\n" in text and "  with lines\n" in text


def test_top(callsign, shapes_index):
    assert len(stats(callsign, shapes_index, "-n", "3")["largest_functions"]) == 3


def test_demangled(callsign, classes):
    names = [f["name"] for f in stats(callsign, classes.path, "-C")["largest_functions"]]
    assert "geometry::box<int>::volume() const" in names


def test_call_sites_are_counted(callsign, shapes, tmp_path):
    callsign.good("convert", "-q", "--call-sites", "dwarf", shapes.path, "-o", tmp_path / "sites.gsym")
    answer = stats(callsign, tmp_path / "sites.gsym")
    assert answer["call_sites"] > 0 and parts(answer)["call_sites"] > 13 * answer["call_sites"]


def test_a_damaged_record(callsign, index):
    data = Bytes(index)
    data.put_u32(data.record(data.find("hidden")) + 12, 0xfffffff0)
    data.save()
    answer = stats(callsign, index, code=1)
    assert answer["damaged_functions"] == 1
    assert parts(answer)["padding"] > parts(stats(callsign, index, code=1))["header"] - 48
    done = callsign.run("stats", index)
    assert done.stderr.endswith("damaged functions: 1, counted as far as they can be read\n")
    start = hex(data.start(data.find("hidden")))
    damaged, = [f for f in answer["largest_functions"] if "damaged" in f]
    assert (damaged["address"], damaged["damaged"], "code_bytes" in damaged) == (start, True, False)
    assert f" ?  {start} (damaged)\n" in done.stdout


def test_bytes_behind_everything_are_padding(callsign, index):
    before = parts(stats(callsign, index))["padding"]
    with index.open("ab") as out:
        out.write(b"\x01" * 100)
    assert parts(stats(callsign, index))["padding"] == before + 100


def test_records_that_share_bytes_still_add_up(callsign, index):
    data = Bytes(index)
    for idx in range(data.count):
        data.put_u32(data.info_table + 4 * idx, data.record(data.find("outer")))
    data.save()
    answer = stats(callsign, index)
    assert parts(answer)["padding"] > 0


def test_records_in_no_order_still_add_up(callsign, index):
    data = Bytes(index)
    before = parts(stats(callsign, index))
    offsets = [data.record(idx) for idx in range(data.count)]
    for idx, offset in enumerate(reversed(offsets)):
        data.put_u32(data.info_table + 4 * idx, offset)
    data.save()
    assert parts(stats(callsign, index)) == before


def test_records_shared_by_very_many_fail_early(callsign, tmp_path):
    """A megabyte of line table that 70,000 functions point to would be decoded for days."""
    count, table = 70000, 1 << 20
    strings = b"\0f\0"
    tables = 48 + 4 * count + 4 * count + 4 + 8
    head = struct.pack("<IHBBQIII20x", 0x4753594D, 1, 4, 0, 0x1000, count, tables, len(strings))
    record_at = -(-(tables + len(strings)) // 4) * 4
    lines = b"\x00\x01\x01" + b"\x04" * table + b"\x00"
    record = struct.pack("<IIII", 1 << 22, 1, 1, len(lines)) + lines + struct.pack("<II", 0, 0)
    body = head + struct.pack(f"<{count}I", *range(count)) + struct.pack("<I", record_at) * count
    body += struct.pack("<III", 1, 0, 0) + strings
    index = tmp_path / "shared.gsym"
    index.write_bytes(body.ljust(record_at, b"\0") + record)
    assert "functions share " in callsign.bad("stats", index)


def test_where_the_page_cannot_go(callsign, shapes_index, tmp_path):
    assert "No such file" in callsign.bad("stats", shapes_index, "--html", tmp_path / "no" / "page.html")
    assert "--html" in callsign.bad("stats", shapes_index, "--html", "-")
    assert not list(tmp_path.iterdir())


def test_names_cannot_leave_the_page(callsign, gcc, tmp_path):
    """Names and paths are whatever a producer wrote."""
    name = '</script><img src=x onerror=alert(1)>&"\'\\u2028'
    placeholder = "f" * len(name)
    source = tmp_path / "a.c"
    source.write_text(f"int {placeholder}(void) {{ return 1; }}\nint main(void) {{ return {placeholder}(); }}\n")
    programs.compile_files(gcc, tmp_path / "app", [source], ["-g"])
    callsign.good("convert", "-q", tmp_path / "app")
    data = Bytes(tmp_path / "app.gsym")
    data.rename(placeholder, name)
    data.rename("a.c", '<">')
    data.save()
    html = tmp_path / "page.html"
    answer = json.loads(callsign.good("stats", "--json", data.path, "--html", html))
    assert name in [f["name"] for f in answer["largest_functions"]]
    page = html.read_text()
    assert page.count("</script>") == 2 and "<img" not in page and '<">' not in page
    data = page.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&") & set(data)
    assert name in [f[0] for f in json.loads(data)["largest"]]
