"""callsign udf --format Arrow: what pyarrow writes and reads."""
import io
import os
import random
import subprocess
from pathlib import Path

import pytest

from test_clickhouse import COMMAND, addresses, expected, program, store  # noqa: F401: fixtures

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")


def run(store, data, *more, check=True):
    done = subprocess.run([COMMAND, "udf", "--format", "Arrow", "--demangle", "--store", store, *more], input=data, capture_output=True, timeout=120)
    assert not check or done.returncode == 0, done.stderr
    return done if not check else done.stdout


def written(table, kind, chunk=None, compression=None):
    sink = io.BytesIO()
    make = ipc.new_stream if kind == "stream" else ipc.new_file
    with make(sink, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=chunk)
    return sink.getvalue()


def read(data, kind):
    with (ipc.open_stream if kind == "stream" else ipc.open_file)(io.BytesIO(data)) as reader:
        table = reader.read_all()
    table.validate(full=True)
    assert table.schema.names == ["result"] and table.schema.field(0).type == pa.string()
    return table.column(0).to_pylist()


@pytest.fixture
def rows(addresses, expected):  # noqa: F811
    modules = ["orders", "none", None, "orders", "", "orders"]
    wanted = [addresses[1], addresses[1], addresses[1], None, 1, 1]
    answers = [expected, "[there is no index for the module]", "[the module is null]", "[the address is null]", None,
               "[the address is below the first function of the index]"]
    return modules, wanted, answers


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("compression", [None, "lz4"])
@pytest.mark.parametrize("module_type", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("address_type", [pa.uint64(), pa.int64(), pa.uint32()], ids=str)
def test_types(store, rows, kind, compression, module_type, address_type):  # noqa: F811
    modules, wanted, answers = rows
    table = pa.table({"module": pa.array(modules, pa.string()).cast(module_type), "address": pa.array(wanted, address_type)})
    found = read(run(store, written(table, kind, compression=compression)), kind)
    assert len(found) == len(answers)
    for one, other in zip(found, answers):
        assert one == other if other else one[0] + one[-1] == "[]"


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize("compression", [None, "lz4"])
def test_many_rows(store, addresses, expected, kind, compression):  # noqa: F811
    """More rows than are answered at once, in batches of an odd size; other columns before and behind."""
    count = 100_000
    table = pa.table({"time": pa.array(range(count), pa.timestamp("ns")), "address": pa.array([addresses[1]] * count, pa.uint64()),
                      "flag": pa.array([True] * count), "module": pa.array(["orders" if n % 3 else f"m{n % 7}" for n in range(count)]),
                      "name": pa.array(["x"] * count)})
    found = read(run(store, written(table, kind, 33_333, compression)), kind)
    assert found == [expected if n % 3 else "[there is no index for the module]" for n in range(count)]


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_empty(store, kind):  # noqa: F811
    schema = pa.schema([("module", pa.string()), ("address", pa.uint64())])
    assert read(run(store, written(schema.empty_table(), kind)), kind) == []
    assert run(store, b"") == b""


def test_unnamed_columns(store, addresses, expected):  # noqa: F811
    table = pa.table({"c1": ["orders"], "c2": pa.array([addresses[1]], pa.uint64())})
    assert read(run(store, written(table, "stream")), "stream") == [expected]


def test_chunks(store, addresses, expected):  # noqa: F811
    """Each chunk is a stream or file of its own, and is answered before the next one comes."""
    table = pa.table({"module": ["orders"] * 2, "address": pa.array([addresses[1]] * 2, pa.uint64())})
    for kind in ("stream", "file"):
        chunk = b"2\n" + written(table, kind)
        with subprocess.Popen([COMMAND, "udf", "--format", "Arrow", "--chunk-header", "-C", "--store", store], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            size = 0
            for _ in range(3):
                process.stdin.write(chunk)
                process.stdin.flush()
                if not size:
                    size = len(run(store, written(table, kind)))
                assert read(process.stdout.read(size), kind) == [expected] * 2
            process.stdin.close()
            assert process.stdout.read() == b"" and process.wait() == 0


@pytest.mark.parametrize("column", [pa.array(["1"]), pa.array([1.5]), pa.array([[1]])], ids=["string", "double", "list"])
def test_wrong_types_are_refused(store, column):  # noqa: F811
    done = run(store, written(pa.table({"module": ["orders"], "address": column}), "stream"), check=False)
    assert done.returncode == 2 and done.stdout == b"" and b"column" in done.stderr


def test_zstd_is_refused(store, addresses):  # noqa: F811
    table = pa.table({"module": ["orders"] * 999, "address": pa.array([addresses[1]] * 999, pa.uint64())})
    done = run(store, written(table, "stream", compression="zstd"), check=False)
    assert done.returncode == 2 and b"output_format_arrow_compression_method" in done.stderr


def test_damage(store, addresses):  # noqa: F811
    """Cut at every byte, and with single bytes changed: an answer or a message, never a crash or a hang."""
    table = pa.table({"module": ["orders", "x"], "address": pa.array([addresses[1], 5], pa.uint64())})
    plain, packed = written(table, "stream"), written(table, "file", compression="lz4")
    for data in (plain, packed):
        for size in range(0, len(data), 5):
            assert run(store, data[:size], check=False).returncode in (0, 2), size
    random.seed(1)
    for data in (plain, packed):
        for _ in range(300):
            changed = bytearray(data)
            for _ in range(random.randint(1, 3)):
                at = random.randrange(len(data))
                changed[at] = random.choice([0, 1, 0x7F, 0x80, 0xFF, changed[at] ^ 1 << random.randrange(8)])
            assert run(store, bytes(changed), check=False).returncode in (0, 2), bytes(changed).hex()


def test_in_chdb(store, addresses, expected, tmp_path):  # noqa: F811
    """As an executable function, with ClickHouse's own compression (LZ4) and without."""
    chdb = pytest.importorskip("chdb")
    from test_clickhouse import function_xml
    functions = function_xml("by_arrow", "executable", "Arrow", store, False) + function_xml("by_stream", "executable", "Arrow", store, False).replace(
        "<format>Arrow<", "<format>ArrowStream<")
    (tmp_path / "udf_config.xml").write_text(f"<functions>{functions}</functions>\n", encoding="utf-8")
    script = "import chdb, sys; print(chdb.query(sys.argv[1], 'CSV', udf_path=sys.argv[2]))"
    for name in ("by_arrow", "by_stream"):
        for method in ("none", "lz4_frame"):
            sql = (f"SELECT {name}('orders', toUInt64({addresses[1]} + 0 * number)) AS names, count() FROM numbers(100000) GROUP BY names "
                   f"SETTINGS output_format_arrow_compression_method = '{method}'")
            done = subprocess.run([os.sys.executable, "-c", script, sql, tmp_path], capture_output=True, text=True, check=False, timeout=120)
            assert done.returncode == 0, done.stderr[-2000:]
            assert done.stdout.split(",")[-1].strip() == "100000" and expected.split(";")[0].split("(")[0] in done.stdout
    assert chdb.__name__ == "chdb"
