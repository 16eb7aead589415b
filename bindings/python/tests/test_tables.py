"""Columns and stacks: Arrow, pandas, Polars, DuckDB. Each is left out where it is not installed."""
import decimal
import os
import random

import pytest

import callsign

pa = pytest.importorskip("pyarrow")


@pytest.fixture
def store(folder):
    with callsign.Store(folder) as store:
        yield store


@pytest.fixture
def rows(addresses):
    modules = ["orders", "orders", None, "absent_module_with_a_long_name", "orders"]
    return {"module": modules, "address": [addresses[1], 3, addresses[0], addresses[0], None], "n": [1, 2, 3, 4, 5]}


def check(frames, reasons, index, addresses):
    expected = index.lookup(addresses[1])
    assert [tuple(f[name] for name in ("function", "offset", "file", "line", "inlined")) for f in frames[0]] == [tuple(f) for f in expected]
    assert frames[1] == [] and frames[2] is None and frames[3] == [] and frames[4] is None
    assert reasons == [None, "the address is below the first function of the index", "the module is null", "there is no index for the module",
                       "the address is null"]


MODULE_TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.dictionary(pa.int8(), pa.string()),
                pa.dictionary(pa.uint64(), pa.large_string())]
ADDRESS_TYPES = [pa.uint64(), pa.int64(), pa.uint32(), pa.decimal128(20, 0)]


@pytest.mark.parametrize("module_type", MODULE_TYPES, ids=str)
@pytest.mark.parametrize("address_type", ADDRESS_TYPES, ids=str)
def test_column_types(store, rows, index, addresses, module_type, address_type):
    module = pa.array(rows["module"], pa.string())
    module = pa.array(rows["module"], module_type) if module_type == pa.string_view() else module.cast(module_type)
    column = pa.StructArray.from_arrays([module, pa.array(rows["address"], pa.int64()).cast(address_type)], ["module", "address"])
    symbolicator = callsign.Symbolicator(store, demangle=True)
    for plain in (False, True):
        answer = pa.array(symbolicator.batch(column, plain_strings=plain))
        answer.validate(full=True)
        check(answer.field("frames").to_pylist(), answer.field("reason").to_pylist(), index, addresses)
        for start in range(5):
            for length in range(5 - start + 1):
                part = pa.array(symbolicator.batch(column.slice(start, length), plain_strings=plain))
                part.validate(full=True)
                assert part.to_pylist() == answer.slice(start, length).to_pylist()


def test_null_rows_and_other_fields(store, addresses):
    kind = pa.struct([("n", pa.float64()), ("pc", pa.uint64()), ("image", pa.string())])
    column = pa.array([{"n": 1.0, "pc": addresses[0], "image": "orders"}, None], kind)
    answer = pa.array(callsign.Symbolicator(store).batch(column, module="image", address="pc")).to_pylist()
    assert answer[0]["frames"][0]["function"] == "_ZN4shop12report_stackEv"
    assert answer[1] == {"frames": None, "reason": "the address is null"}


def test_build_ids(index_path, addresses, index):
    identity, store = index.info()["build_id"], callsign.Store(indexes=[index_path])
    for module in (identity.hex(), identity.hex().upper(), identity):
        column = pa.StructArray.from_arrays([pa.array([module]), pa.array(addresses[:1], pa.uint64())], ["module", "address"])
        assert pa.array(callsign.Symbolicator(store).batch(column)).to_pylist()[0]["reason"] is None


def test_many_rows_answer_as_single_lookups(index, addresses):
    random.seed(1)
    column = [random.randrange(0x1000, 0x1400) for _ in range(20000)]
    answers = pa.array(index.lookup_batch(pa.array(column, pa.uint64())))
    answers.validate(full=True)
    expected = {a: [tuple(f) for f in index.lookup(a)] for a in set(column)}
    for address, answer in zip(column, answers.to_pylist()):
        assert [tuple(f.values()) for f in answer["frames"]] == expected[address]


def test_return_addresses(index, addresses):
    after = pa.array(index.lookup_batch([a + 1 for a in addresses], return_addresses=True)).to_pylist()
    for address, answer in zip(addresses, after):
        assert [(f["function"], f["offset"], f["line"]) for f in answer["frames"]] == \
            [(f.function, f.offset + 1, f.line) for f in index.lookup(address)]


def test_refused(store, index):
    with pytest.raises(TypeError, match="'address' has the Arrow type 'g'"):
        index.lookup_batch(pa.array([1.5]))
    with pytest.raises(TypeError, match="no field 'address'"):
        callsign.Symbolicator(store).batch(pa.array([{"module": "a"}]))
    with pytest.raises(TypeError, match="need an index"):
        callsign.Symbolicator(store).batch(pa.array([1], pa.uint64()))
    with pytest.raises(KeyError):
        callsign.symbolicate(pa.table({"x": [1]}), store=store)
    with pytest.raises(TypeError, match="pyarrow, pandas or Polars one, not list"):
        callsign.symbolicate([1], store=store)


def test_stacks(store, addresses):
    kind = pa.list_(pa.struct([("module", pa.string()), ("address", pa.uint64())]))
    stack = [{"module": "orders", "address": a} for a in addresses[:3]]
    odd = [{"module": None, "address": 1}, {"module": "orders", "address": None}, {"module": "nowhere", "address": 1}]
    table = pa.table({"stack": pa.array([stack, None, [], odd], kind), "n": [1, 2, 3, 4]})
    for given in (table, pa.table({"stack": table["stack"].cast(pa.large_list(kind.value_type)), "n": table["n"]}), table.slice(0, 4)):
        answer = callsign.symbolicate(given, store=store, stacks="stack", demangle=True)
        answer.validate(full=True)
        got = answer.column("symbolicated").to_pylist()
        assert [len(frame["frames"]) for frame in got[0]] == [1, 3, 1] and got[1] is None and got[2] == []
        assert {frame["confidence"] for frame in got[0]} == {"certain"} and got[0][0]["candidates"] is None
        assert [frame["reason"] for frame in got[3]] == ["the module is null", "the address is null", "there is no index for the module"]
    shown = callsign.Symbolicator(store, demangle=True).stack([("orders", a) for a in addresses[:3]])
    assert "main + " in str(shown) and "[inlined]" in shown._repr_html_()
    shown = callsign.Symbolicator(store).stack([("orders", None), (None, addresses[0])])
    assert str(shown).splitlines() == ["#0 orders+? (the address is null)", f"#1 ?+{addresses[0]:#x} (the module is null)"]
    assert "<td>?</td>" in shown._repr_html_()


def test_an_index_that_is_called_by_its_id(index_path, index, addresses, tmp_path):
    """The answer was another one after store.find(), which looks for the name."""
    build_id = index.info()["build_id"].hex()
    (tmp_path / f"{build_id}.gsym").write_bytes(index_path.read_bytes())
    other = f"{(int(build_id, 16) ^ 1):0{len(build_id)}x}"
    (tmp_path / f"{other}.gsym").write_bytes(index_path.read_bytes())
    symbolicator = callsign.Symbolicator(tmp_path)
    for _ in range(2):
        assert symbolicator.stack([(build_id, addresses[0])])[0].frames
        assert not symbolicator.stack([(other, addresses[0])])[0].frames
        symbolicator.store.find(build_id)


def test_decimals_that_do_not_fit(store, addresses):
    kind = pa.struct([("module", pa.string()), ("address", pa.decimal128(38, 0))])
    rows = [{"module": "orders", "address": decimal.Decimal(value)} for value in (addresses[0], addresses[0] + (1 << 64))]
    found = pa.array(callsign.Symbolicator(store).batch(pa.array(rows, kind))).to_pylist()
    assert found[0]["frames"] and found[1]["frames"] is None and found[1]["reason"] == "the address has more than 64 bits"


def test_arrow_tables(store, rows, index, addresses):
    table = pa.table(rows)
    for given in (table, pa.concat_tables([table.slice(0, 2), table.slice(2)]), table.to_batches()[0]):
        answer = callsign.symbolicate(given, store=store, demangle=True)
        assert type(answer) is type(given) and answer.schema.names == ["module", "address", "n", "frames", "reason"]
        check(answer.column("frames").to_pylist(), answer.column("reason").to_pylist(), index, addresses)
    empty = callsign.symbolicate(table.slice(0, 0), store=store)
    assert empty.num_rows == 0 and empty.schema.names[-1] == "reason"


def test_pandas(store, rows, index, addresses):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"module": rows["module"], "address": pandas.array(rows["address"], dtype="UInt64"), "n": rows["n"]},
                             index=[9, 8, 7, 6, 5])
    answer = callsign.symbolicate(frame, store=store, demangle=True)
    assert list(answer.columns) == ["module", "address", "n", "frames", "reason"] and list(answer.index) == [9, 8, 7, 6, 5]
    assert list(frame.columns) == ["module", "address", "n"]
    reasons = [None if pandas.isna(reason) else reason for reason in answer["reason"]]
    frames = [list(cell) if isinstance(cell, (list, tuple)) or hasattr(cell, "__len__") else None for cell in answer["frames"]]
    check(frames, reasons, index, addresses)


def test_polars(store, rows, index, addresses):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(rows, schema={"module": polars.String, "address": polars.UInt64, "n": polars.Int64})
    for given in (frame, polars.concat([frame[:2], frame[2:]])):
        answer = callsign.symbolicate(given, store=store, demangle=True)
        assert answer.columns == ["module", "address", "n", "frames", "reason"]
        check(answer["frames"].to_list(), answer["reason"].to_list(), index, addresses)


def test_duckdb(store, rows, index, addresses):
    duckdb = pytest.importorskip("duckdb")
    import callsign.duckdb
    samples = pa.table({**rows, "address": pa.array(rows["address"], pa.uint64())})
    connection = duckdb.connect()
    connection.register("samples", samples)
    callsign.duckdb.register(connection, store=store, demangle=True)
    answer = connection.sql("SELECT n, symbolicate(module, address) AS s FROM samples ORDER BY n").fetchall()
    check([row[1]["frames"] for row in answer], [row[1]["reason"] for row in answer], index, addresses)
    counts = connection.sql("SELECT symbolicate('orders', range % 4096 + 4096).frames[1].function AS f, count(*) AS c FROM range(100000) "
                            "GROUP BY f ORDER BY c DESC").fetchall()
    assert sum(count for _, count in counts) == 100000 and len(counts) > 5


@pytest.mark.parametrize("plain", [False, True])
def test_names_that_are_not_utf8(tmp_path, plain):
    """Arrow's strings are UTF-8; a name in Latin-1, cut code points, surrogates and overlong forms are not."""
    bad = [b"caf\xe9", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe2\x82", b"a\xffb"]
    good = ["gr\u00f6\u00dfe", "\U0001f600", "\u20ac"]
    names = bad + [name.encode() for name in good]
    lines = [b"MODULE Linux x86_64 0 app", b"FILE 0 /src/\xe9.c"]
    for number, name in enumerate(names):
        lines += [b"FUNC %x 10 0 %s" % (0x1000 + 16 * number, name), b"%x 10 3 0" % (0x1000 + 16 * number)]
    (tmp_path / "app.sym").write_bytes(b"\n".join(lines) + b"\n")
    callsign.convert(tmp_path / "app.sym", tmp_path / "app.gsym")
    with callsign.Index(tmp_path / "app.gsym") as index:
        answer = pa.array(index.lookup_batch([0x1000 + 16 * number for number in range(len(names))], plain_strings=plain))
    answer.validate(full=True)
    found = [row["frames"][0] for row in answer.to_pylist()]
    assert [frame["function"] for frame in found[len(bad):]] == good
    assert all("\ufffd" in frame["function"] for frame in found[:len(bad)])
    assert found[0]["function"] == "caf\ufffd" and found[0]["file"] == "/src/\ufffd.c"
    stack = pa.array([[{"module": "app", "address": 0x1000}]])
    pa.array(callsign.Symbolicator(tmp_path).batch(stack, plain_strings=plain)).validate(full=True)


def test_a_stack_of_no_integers(index_path, addresses):
    """A float was cut to an integer."""
    symbolicator = callsign.Symbolicator(os.fsencode(index_path.parent))
    name = index_path.stem
    assert symbolicator.stack([(name, addresses[0])])[0].frames
    for bad, error in ((addresses[0] + 0.5, TypeError), (hex(addresses[0]), TypeError), (1 << 64, OverflowError)):
        with pytest.raises(error):
            symbolicator.stack([(name, bad)])


def test_symbolicators_that_take_turns_with_a_store(folder, addresses, tmp_path):
    """A call of one closes indexes that the other one knows, once more than 1,024 are open."""
    index = (folder / "orders.gsym").read_bytes()
    name = b"_ZN4shop12report_stackEv"
    assert index.count(name)
    count, draw = 1100, random.Random(16)
    for i in range(count):
        (tmp_path / f"lib{i}.so.gsym").write_bytes(index.replace(name, name[:-6] + b"%05dv" % i))
    with callsign.Index(folder / "orders.gsym") as known:
        address = next(a for a in addresses if known.lookup(a)[-1].function == name.decode())
    with callsign.Store(tmp_path) as store:
        two = [callsign.Symbolicator(store), callsign.Symbolicator(store)]
        for call in range(6):
            wanted = [draw.randrange(count) for _ in range(3000)]
            answers = two[call % 2].stack([(f"lib{i}.so", address) for i in wanted])
            assert [a.frames[-1].function[-6:-1] for a in answers] == [f"{i:05d}" for i in wanted]
