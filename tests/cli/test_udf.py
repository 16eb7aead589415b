"""udf: rows of a database in, one String a row out."""
import json
import struct
import subprocess

import pytest


@pytest.fixture(scope="module")
def store(shapes_index, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    (folder / "shapes.gsym").write_bytes(shapes_index.read_bytes())
    (folder / "damaged.gsym").write_bytes(shapes_index.read_bytes()[:100])
    return folder


@pytest.fixture(scope="module")
def answer(callsign, shapes, shapes_index):
    """The address of a known place, and what lookup gives there, as one String."""
    address = shapes.mark("area")
    lines = callsign.good("lookup", "--json", shapes_index, hex(address))
    return address, ";".join(frame["function"] for frame in json.loads(lines)["frames"])


def row_binary(module, address):
    assert len(module) < 128
    return bytes([len(module)]) + module + struct.pack("<Q", address)


def strings(data):
    """The Strings of RowBinary."""
    found, at = [], 0
    while at < len(data):
        size = shift = 0
        while True:
            size |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                break
        found.append(data[at:at + size].decode())
        assert at + size <= len(data)
        at += size
    return found


def run_binary(callsign, store, data, *more):
    done = subprocess.run([*callsign.prefix, callsign.path, "udf", "--format", "RowBinary", "--store", store, *more], input=data,
                          capture_output=True, timeout=120)
    return done.returncode, strings(done.stdout), done.stderr.decode()


def test_tsv(callsign, store, answer):
    address, names = answer
    out = callsign.good("udf", "--format", "TSV", "--store", store, stdin=f"shapes\t{address}\nshapes\t{address:#x}\n/bin/shapes\t{address}")
    assert out.splitlines() == [names] * 3
    assert ";" in names


def test_lines_of_windows(callsign, store, answer):
    address, names = answer
    out = callsign.good("udf", "--format", "TSV", "--store", store, stdin=f"shapes\t{address}\r\nshapes\t{address:#x}\r\n")
    assert out.splitlines() == [names] * 2
    out = callsign.good("udf", "--format", "JSONEachRow", "--store", store, stdin=f'{{"module":"shapes","address":{address}}}\r\n')
    assert json.loads(out) == {"result": names}


def test_names_are_demangled(callsign, tmp_path):
    """A ';' within a name would be two names."""
    (tmp_path / "code.sym").write_text("MODULE Linux x86_64 0 code\nFUNC 1000 10 0 _ZN2ns4areaEi\nFUNC 1010 10 0 La/B;run\n")
    rows = "code\t0x1000\ncode\t0x1010\n"
    assert callsign.good("udf", "-f", "TSV", "-i", f"code={tmp_path}/code.sym", stdin=rows) == "_ZN2ns4areaEi\nLa/B:run\n"
    assert callsign.good("udf", "-C", "-f", "TSV", "-i", f"code={tmp_path}/code.sym", stdin=rows) == "ns::area(int)\nLa/B:run\n"


def test_rows_that_cannot_be_read_get_a_reason(callsign, store, answer):
    address, names = answer
    rows = [f"shapes\t{address}", "shapes", "shapes\tx", "shapes\t1\t2", "\\N\t1", "shapes\t\\N", "nowhere\t1", "shapes\t1", "",
            "shapes\t18446744073709551616", f"shapes\t{address}"]
    out = callsign.good("udf", "--format", "TSV", "--store", store, stdin="\n".join(rows) + "\n").splitlines()
    assert out == [names, "[the row has one field, need module and address]", "[the address is not a number of 64 bits]",
                   "[the row has more fields than module and address]", "[the module is null]", "[the address is null]",
                   "[there is no index for the module]", "[the address is below the first function of the index]",
                   "[the row has one field, need module and address]", "[the address is not a number of 64 bits]", names]


def test_a_damaged_index_is_a_reason(callsign, store, answer):
    out = callsign.good("udf", "--format", "TSV", "--store", store, stdin=f"damaged\t{answer[0]}\nshapes\t{answer[0]}\n").splitlines()
    assert out[0].startswith("[there is no index for the module; refused: ") and "damaged.gsym: " in out[0]
    assert out[1] == answer[1]


@pytest.mark.parametrize("name", ["damaged.gsym", "absent.gsym"])
def test_an_index_option_that_fails_is_a_reason(callsign, store, answer, name):
    done = callsign.run("udf", "--format", "TSV", "--index", f"app={store / name}", stdin=f"app\t{answer[0]}\n")
    assert done.returncode == 0
    assert done.stdout.startswith(f"[{store / name}: ")
    assert done.stderr.startswith(f"callsign: {store / name}: ")


def test_an_index_of_another_build_is_refused(callsign, store, answer, tmp_path):
    other = "ab" * 20
    (tmp_path / "ab").mkdir()
    (tmp_path / f"ab/{other[2:]}.gsym").write_bytes((store / "shapes.gsym").read_bytes())
    out = callsign.good("udf", "--format", "TSV", "--store", tmp_path, stdin=f"{other}\t{answer[0]}\n")
    assert "another build id" in out and out.startswith("[")


def test_index_option(callsign, shapes_index, answer):
    out = callsign.good("udf", "--format", "TSV", "--index", f"app={shapes_index}", stdin=f"app\t{answer[0]}\n")
    assert out == answer[1] + "\n"


def test_tsv_escapes(callsign, answer, shapes_index, tmp_path):
    """A module's name with a tab and a line break."""
    (tmp_path / "a\tb\nc.gsym").write_bytes(shapes_index.read_bytes())
    out = callsign.good("udf", "--format", "TSV", "--store", tmp_path, stdin=f"a\\tb\\nc\t{answer[0]}\n")
    assert out == answer[1] + "\n"


def test_json_each_row(callsign, store, answer):
    address, names = answer
    rows = [json.dumps({"module": "shapes", "address": address}), json.dumps({"address": str(address), "module": "shapes", "x": [1]}),
            json.dumps({"c1": "shapes", "c2": address}), '{"module":"shapes"}', "no JSON", "[1]", '{"module":null,"address":1}',
            '{"module":"shapes","address":null}', '{"module":"shapes","address":1.5}', '{"module":7,"address":1}']
    out = callsign.good("udf", "--format", "JSONEachRow", "--store", store, stdin="\n".join(rows) + "\n").splitlines()
    found = [json.loads(line)["result"] for line in out]
    assert found == [names] * 3 + ["[the object has no member module, or no address]", "[the row is not JSON]",
                                   "[the row is not a JSON object]", "[the module is null]", "[the address is null]",
                                   "[the address is not a number of 64 bits]", "[the module is not a string]"]


def test_row_binary(callsign, store, answer):
    address, names = answer
    data = row_binary(b"shapes", address) * 3 + row_binary(b"nowhere", 5)
    code, found, _ = run_binary(callsign, store, data)
    assert (code, found) == (0, [names] * 3 + ["[there is no index for the module]"])


@pytest.mark.parametrize("cut", range(1, 15))
def test_a_cut_row_is_answered(callsign, store, answer, cut):
    code, found, _ = run_binary(callsign, store, (row_binary(b"shapes", answer[0]) * 2)[:-cut])
    assert (code, found) == (1, [answer[1], "[the input ends within the row]"])


def test_a_long_module_is_skipped(callsign, store, answer):
    size = 3 << 20
    length = bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14 & 0x7F | 0x80, size >> 21])
    data = length + b"m" * size + struct.pack("<Q", 1) + row_binary(b"shapes", answer[0])
    code, found, _ = run_binary(callsign, store, data)
    assert (code, found) == (0, ["[the module's name is longer than 65536 bytes]", answer[1]])


def test_a_long_line_is_skipped(callsign, store, answer):
    out = callsign.good("udf", "--format", "TSV", "--store", store, stdin="m" * (3 << 20) + f"\t1\nshapes\t{answer[0]}\n")
    assert out.splitlines() == ["[the row is too long]", answer[1]]


def test_chunk_headers(callsign, store, answer):
    row = row_binary(b"shapes", answer[0])
    code, found, _ = run_binary(callsign, store, b"2\n" + row * 2 + b"0\n" + b"1\n" + row, "--chunk-header")
    assert (code, found) == (0, [answer[1]] * 3)
    code, found, text = run_binary(callsign, store, b"2\n" + row, "--chunk-header")
    assert (code, found) == (2, [answer[1]]) and "ends 1 rows before the chunk does" in text
    code, found, text = run_binary(callsign, store, b"x\n" + row, "--chunk-header")
    assert (code, found) == (2, []) and "chunk header 'x' is not a number of rows" in text


def test_each_chunk_is_flushed(callsign, store, answer):
    """A pool writes a chunk and waits for its answers before it writes another."""
    with subprocess.Popen([*callsign.prefix, callsign.path, "udf", "--format", "TSV", "--chunk-header", "--store", store],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for rows in (1, 3, 2):
            process.stdin.write(f"{rows}\n".encode() + f"shapes\t{answer[0]}\n".encode() * rows)
            process.stdin.flush()
            assert [process.stdout.readline().decode().rstrip() for _ in range(rows)] == [answer[1]] * rows
        process.stdin.close()
        assert process.stdout.read() == b"" and process.wait() == 0


def test_many_rows_keep_their_order(callsign, store, answer):
    rows = [f"shapes\t{answer[0]}" if number % 3 else f"m{number}\t1" for number in range(100_000)]
    out = callsign.good("udf", "--format", "TSV", "--store", store, stdin="\n".join(rows) + "\n").splitlines()
    assert len(out) == len(rows)
    assert out == [answer[1] if number % 3 else "[there is no index for the module]" for number in range(100_000)]


def test_wrong_usage(callsign):
    assert callsign.bad("udf") == "callsign: udf needs --format FORMAT (try 'callsign udf --help')"
    assert callsign.bad("udf", "--format", "JSONEachRows") == "callsign: --format: unknown format 'JSONEachRows': did you mean 'JSONEachRow'?"
    assert "need RowBinary, TSV" in callsign.bad("udf", "--format", "Parquet")
