"""POST /v1/symbolicate with a stream of Arrow's IPC format, judged by pyarrow."""
import io
import json
import random

import pytest

from test_serve import Server, has_server, images, server, store  # noqa: F401 (fixtures)

try:
    import pyarrow as pa
except ImportError:
    pa = None

TYPE = "application/vnd.apache.arrow.stream"
FRAME = ("function", "offset", "file", "line", "inlined")


@pytest.fixture(scope="module", autouse=True)
def has_pyarrow():
    if not pa:
        pytest.skip("pyarrow (PyPI) is not installed")


def answer_schema():
    frame = [pa.field("function", pa.string()), pa.field("offset", pa.uint64(), nullable=False), pa.field("file", pa.string()),
             pa.field("line", pa.uint32()), pa.field("inlined", pa.bool_(), nullable=False)]
    return pa.schema([pa.field("frames", pa.list_(pa.field("item", pa.struct(frame), nullable=False))), pa.field("reason", pa.string())])


def stream(batches, options=None):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return out.getvalue()


def rows(modules, addresses, string=None, number=None):
    return pa.record_batch([pa.array(modules, string or pa.string()), pa.array(addresses, number or pa.uint64())], ["module", "address"])


def ask(server, body):
    status, headers, answer = server.ask("POST", "/v1/symbolicate", body, Content_Type=TYPE)
    assert status == 200 and headers["Content-Type"] == TYPE, answer
    table = pa.ipc.open_stream(answer).read_all()
    table.validate(full=True)
    assert table.schema == answer_schema()
    return table


def looked_up(server, image, addresses):
    """What the debuginfod route answers as JSON, as rows of the table."""
    query = "&".join(f"addr={address:#x}" for address in addresses)
    return [{"frames": [{name: frame.get(name) for name in FRAME} for frame in answer["frames"]], "reason": answer.get("reason")}
            for answer in server.json("GET", f"/buildid/{image.id}/symbolize?{query}")]


def test_rows_are_those_of_json(server, images):
    shop, app = images["libshop.so"], images["app"]
    places = [(image, image.top + offset) for image in (shop, app) for offset in range(-8, 40, 3)] + [(app, 1)]
    random.Random(5).shuffle(places)
    wanted = [looked_up(server, image, [address])[0] for image, address in places]
    batch = rows([image.id for image, _ in places], [address for _, address in places])
    assert ask(server, stream([batch])).to_pylist() == wanted
    assert any(len(row["frames"]) > 1 for row in wanted) and any(row["reason"] for row in wanted)
    several = ask(server, stream([batch.slice(0, 5), batch.slice(5, 0), batch.slice(5)]))
    assert several.to_pylist() == wanted and several.column("frames").num_chunks == 3
    assert ask(server, stream([rows([shop.debug_id, shop.id.upper()], [shop.top] * 2)])).to_pylist() == looked_up(server, shop, [shop.top] * 2)


def test_types_of_columns(server, images):
    shop = images["libshop.so"]
    wanted = looked_up(server, shop, [shop.top])
    for string, number in ((pa.large_string(), pa.uint64()), (pa.string(), pa.int64()), (pa.string(), pa.uint32())):
        assert ask(server, stream([rows([shop.id], [shop.top], string, number)])).to_pylist() == wanted
    lz4 = pa.ipc.IpcWriteOptions(compression="lz4")
    many = rows([shop.id] * 1000, [shop.top] * 1000)
    assert ask(server, stream([many], lz4)).to_pylist() == wanted * 1000
    wide = pa.record_batch([pa.array([1]), pa.array([shop.top], pa.uint64()), pa.array(["x"]), pa.array([shop.id])], ["n", "address", "thread", "module"])
    assert ask(server, stream([wide])).to_pylist() == wanted
    # Behind the two, columns of any type may follow.
    nested = pa.record_batch([pa.array([shop.id]), pa.array([shop.top], pa.uint64()), pa.array([[1, 2]])], ["module", "address", "tags"])
    assert ask(server, stream([nested])).to_pylist() == wanted


def test_rows_without_an_answer(server, images):
    shop = images["libshop.so"]
    answer = ask(server, stream([rows([None, shop.id, "00" * 20, "no id", "", "x" * 5000], [1, None, 2, 3, 4, 5])])).to_pylist()
    assert answer[0] == answer[1] == {"frames": None, "reason": None}
    assert all(row["frames"] == [] and row["reason"] for row in answer[2:])
    empty = ask(server, stream([rows([], [])]))
    assert empty.num_rows == 0
    assert ask(server, stream([rows([None], [None])])).to_pylist() == [{"frames": None, "reason": None}]


def test_what_is_no_stream(server, images):
    good = stream([rows([images["app"].id] * 3, [images["app"].top] * 3)])
    bad = [b"", b"{}", good[:4], good[:-8], good[:100], good[8:], stream([pa.record_batch([pa.array(["a"])], ["module"])]),
           stream([rows([1], [2], pa.int64())]), stream([rows(["a"] * 9, [2] * 9)], pa.ipc.IpcWriteOptions(compression="zstd")), good[:-8] + good]
    for body in bad:
        status, headers, text = server.ask("POST", "/v1/symbolicate", body, Content_Type=TYPE)
        assert status == 400 and json.loads(text)["error"], (body[:40], status, text)
    chance = random.Random(7)
    for _ in range(200):  # damage that may be harmless: an answer, always
        body = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        status, _, text = server.ask("POST", "/v1/symbolicate", bytes(body), Content_Type=TYPE)
        assert status in (200, 400), text
        if status == 200:
            pa.ipc.open_stream(text).read_all().validate(full=True)


def test_buffers_that_would_inflate_to_much(callsign, store, images):
    lz4 = pa.ipc.IpcWriteOptions(compression="lz4")
    many = stream([rows([images["app"].id] * 100000, [1] * 100000)], lz4)
    with Server(callsign, store, "--set", "max-body=1M") as server:
        assert len(many) < 1 << 20
        status, _, text = server.ask("POST", "/v1/symbolicate", many, Content_Type=TYPE)
        assert status == 400 and b"too large" in text
    # A buffer of exactly that size is taken: 131,072 addresses of 8 bytes.
    for count, expected in ((131072, 200), (131073, 400)):
        body = stream([rows([None] * count, [1] * count)], lz4)
        with Server(callsign, store, "--set", "max-body=1M") as server:
            assert server.ask("POST", "/v1/symbolicate", body, Content_Type=TYPE)[0] == expected
