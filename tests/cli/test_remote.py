"""Lookups in an index on a server: the answers of the local file, few requests, and every fault exits 2 and names the URL."""
import json
import random
import struct

import pytest

import range_server


def starts_of(index):
    """Addresses of the functions of a GSYM file of version 1."""
    data = index.read_bytes()
    size, base, count = data[6], *struct.unpack_from("<QI", data, 8)
    code = {1: "B", 2: "H", 4: "I", 8: "Q"}[size]
    return [base + at for at in struct.unpack_from(f"<{count}{code}", data, (48 + size - 1) // size * size)]


def made_up(count):
    """A symbol file of many functions, inlined calls and lines, so that its index has many blocks."""
    yield "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 large"
    for i in range(60):
        yield f"FILE {i} /src/folder_{i % 7}/file_{i}.c"
    for i in range(200):
        yield f"INLINE_ORIGIN {i} twice_{i}"
    for i in range(count):
        start = 0x1000 + 64 * i
        yield f"FUNC {start:x} 40 0 function_with_quite_a_long_name_{'x' * (i % 90)}_{i}"
        yield f"INLINE 0 {i % 90 + 1} {i % 60} {i % 200} {start + 8:x} 10"
        yield f"INLINE 1 {i % 80 + 1} {i % 50} {i * 7 % 200} {start + 12:x} 8"
        for k in range(4):
            yield f"{start + 16 * k:x} 10 {i % 1000 + k * 3 + 1} {(i + k) % 60}"


@pytest.fixture(scope="module")
def large(tmp_path_factory, callsign):
    folder = tmp_path_factory.mktemp("remote")
    symbols, index = folder / "large.sym", folder / "large.gsym"
    symbols.write_text("\n".join([*made_up(20000), ""]))
    callsign.good("convert", symbols, "-o", index, "--quiet")
    callsign.good("convert", symbols, "-o", folder / "accelerated.gsym", "--accelerate", "--quiet")
    assert index.stat().st_size > 1_000_000
    return folder


@pytest.fixture(params=["large.gsym", "accelerated.gsym"])
def kind(request):
    return request.param


def some_addresses(index, count):
    starts = starts_of(index)
    draw = random.Random(19)
    return [hex(draw.choice(starts) + draw.randrange(48)) for _ in range(count)]


def without_sample(count):
    """A GSYM as other writers make it: a large table of addresses and nothing that says where to look in it. One record serves all."""
    strings, files = b"\0main\0/src/a.c\0".ljust(16, b"\0"), struct.pack("<5I", 2, 0, 0, 0, 6)
    string_table = 48 + 8 * count + len(files)
    head = struct.pack("<IHBBQIII", 0x4753594d, 1, 4, 0, 0x1000, count, string_table, len(strings)).ljust(48, b"\0")
    addresses = struct.pack(f"<{count}I", *range(0, 64 * count, 64))
    record = (string_table + len(strings) + 3) // 4 * 4
    infos = struct.pack("<I", record) * count
    return (head + addresses + infos + files + strings).ljust(record, b"\0") + struct.pack("<IIII", 64, 1, 0, 0)


def test_a_large_table_without_a_sample(callsign):
    """Where the entry that a step of the search reads is the address itself, it goes on as the lookup will: it asked for 47 ranges."""
    count = 1500000
    with range_server.serving({"/x.gsym": without_sample(count)}) as server:
        for i in (count // 2 - 1, count // 2, count // 4 - 1, 3 * count // 4 - 1, count - 1, 5 * count // 8 - 1):
            server.clear()
            assert callsign.good("lookup", server.url("/x.gsym"), hex(0x1000 + 64 * i)).startswith(f"{0x1000 + 64 * i:#x}: main + 0")
            assert len(server.requests) <= 14, (i, len(server.requests))


def test_answers_are_those_of_the_file(large, kind, callsign):
    addresses = "\n".join(some_addresses(large / kind, 4000))
    with range_server.serving({"/x.gsym": (large / kind).read_bytes()}) as server:
        for options in ([], ["--json"], ["--llvm"], ["--json", "--threads=3"]):
            local = callsign.run("lookup", large / kind, *options, stdin=addresses)
            remote = callsign.run("lookup", server.url("/x.gsym"), *options, stdin=addresses)
            assert remote.stdout == local.stdout and remote.returncode == local.returncode
            assert remote.stdout.count("\n") >= 4000


def test_one_address_needs_few_requests(large, kind, callsign):
    with range_server.serving({"/x.gsym": (large / kind).read_bytes()}) as server:
        for address in some_addresses(large / kind, 12):
            server.clear()
            remote = callsign.run("lookup", server.url("/x.gsym"), address, "--json")
            local = callsign.run("lookup", large / kind, address, "--json")
            assert (remote.stdout, remote.returncode) == (local.stdout, local.returncode)
            assert 1 <= len(server.requests) <= 6, server.requests
            assert server.bytes_sent <= 512 << 10
            assert all(wanted for _, _, wanted in server.requests)


def test_one_address_with_an_accelerator(large, callsign):
    """Tables, the accelerator's trailer and the busiest strings come with the first request, a record with the second."""
    index = large / "accelerated.gsym"
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        for address in some_addresses(index, 40):
            server.clear()
            callsign.run("lookup", server.url("/x.gsym"), address)
            assert 1 <= len(server.requests) <= 5, server.requests
            assert server.bytes_sent <= 512 << 10


def with_a_long_function(calls, is_last):
    """Its record is too long to be read as a whole, and its inlined calls, all within one, lie far before the blocks of its code."""
    yield from made_up(20000)
    start, size = 0x800000, 16 * calls
    yield f"FUNC {start:x} {size:x} 0 long_function"
    yield f"INLINE 0 1 1 0 {start:x} {size:x}"
    for i in range(calls):
        yield f"INLINE 1 {i % 900 + 1} {i % 60} {i % 100 + 1} {start + 16 * i:x} 8"
    for i in range(4 * calls):
        yield f"{start + 4 * i:x} 4 {i * 7919 % 30000 + 1} {i % 60}"
    if not is_last:
        yield f"FUNC {start + size:x} 10 0 after_it"


@pytest.mark.parametrize("place", ["last", "before-the-last"])
def test_inlined_calls_far_before_a_block_come_with_it(callsign, tmp_path, place):
    """Head, entry of the table, block with the calls before it, strings: four requests, three where the head has the strings."""
    symbols, index = tmp_path / "long.sym", tmp_path / "long.gsym"
    symbols.write_text("\n".join([*with_a_long_function(5500, place == "last"), ""]))
    callsign.good("convert", symbols, "-o", index, "--accelerate", "--quiet")
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        for address in (0x800003, 0x800413, 0x804001):
            server.clear()
            answer = callsign.good("lookup", server.url("/x.gsym"), hex(address))
            assert answer == callsign.good("lookup", index, hex(address)) and "twice_0" in answer and "long_function" in answer
            assert len(server.requests) <= 4, server.requests
            assert server.bytes_sent <= 512 << 10


def scattered():
    """Functions with names of their own and an inlined call each; those of every fiftieth have calls whose names are all over the
    table. Last a function that is one long inlined call of many."""
    count, long = 12000, 0x100000
    yield "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 scattered"
    yield "FILE 0 /src/file.c"
    for i in range(count):
        yield f"INLINE_ORIGIN {i} inlined_{'y' * 100}_{i}"
    for i in range(count):
        start = 0x1000 + 64 * i
        yield f"FUNC {start:x} 40 0 function_{'x' * 120}_{i}"
        calls = [i] if i % 50 else [i, *((i + 1501 * k) % count for k in range(1, 8))]
        for depth, origin in enumerate(calls):
            yield f"INLINE {depth} {depth + 1} 0 {origin} {start + 2 * depth:x} {0x38 - 4 * depth:x}"
        yield f"{start:x} 40 {i + 1} 0"
    yield f"FUNC {long:x} 20000 0 long"
    yield f"INLINE 0 1 0 7000 {long:x} 20000"
    for i in range(8000):
        yield f"INLINE 1 {i + 1} 0 {i + 1} {long + 16 * i:x} 10"
        yield f"{long + 16 * i:x} 10 {i + 1} 0"


@pytest.fixture(scope="module")
def scattered_names(tmp_path_factory, callsign):
    folder = tmp_path_factory.mktemp("scattered")
    (folder / "x.sym").write_text("\n".join([*scattered(), ""]))
    callsign.good("convert", folder / "x.sym", "-o", folder / "x.gsym", "--remote-layout", "--quiet")
    return folder / "x.gsym"


def test_a_stack_whose_names_are_scattered_needs_few_requests(scattered_names, callsign):
    """What a block's stacks need comes with the block, but for names at two places."""
    addresses = [hex(0x1000 + 64 * 50 * k + 0x10) for k in range(3, 240, 12)] + [hex(0x100000 + at) for at in (0x10, 0x8004, 0x1f3f1)]
    with range_server.serving({"/x.gsym": scattered_names.read_bytes()}) as server:
        for address in addresses:
            server.clear()
            remote, local = (callsign.good("lookup", index, address, "--json") for index in (server.url("/x.gsym"), scattered_names))
            assert remote == local and len(json.loads(local)["frames"]) > 2
            assert 1 <= len(server.requests) <= 5, server.requests
            assert server.bytes_sent <= 512 << 10


def test_many_scattered_stacks(scattered_names, callsign):
    addresses = "\n".join(hex(0x1000 + 64 * k + 0x10) for k in range(12000))
    with range_server.serving({"/x.gsym": scattered_names.read_bytes()}) as server:
        remote, local = (callsign.run("lookup", index, "--json", stdin=addresses) for index in (server.url("/x.gsym"), scattered_names))
        assert remote.stdout == local.stdout and local.stdout.count("\n") == 12000
    assert "0 problems" in callsign.good("verify", scattered_names)


def strings_of(index):
    data = index.read_bytes()
    at, size = struct.unpack_from("<II", data, 20)
    return data[at:at + size].split(b"\0")


def test_busy_names_come_first(large, callsign, tmp_path):
    """Names of inlined calls, which many functions have, stand between files and functions; with any number of threads, and after a
    conversion there and back."""
    index = large / "large.gsym"
    strings = strings_of(index)
    twice = [i for i, text in enumerate(strings) if text.startswith(b"twice_")]
    assert len(twice) == 200 and twice[-1] - twice[0] == 199
    assert twice[0] < min(i for i, text in enumerate(strings) if text.startswith(b"function_"))
    for threads in ("1", "3"):
        callsign.good("convert", large / "large.sym", "-o", tmp_path / "x", "--quiet", "--threads", threads)
        assert (tmp_path / "x").read_bytes() == index.read_bytes()
    callsign.good("convert", index, "--to=gsym-v2", "-o", tmp_path / "v2", "--quiet")
    callsign.good("convert", tmp_path / "v2", "--to=gsym", "-o", tmp_path / "back", "--quiet")
    assert (tmp_path / "back").read_bytes() == index.read_bytes()


def test_a_warm_lookup_asks_nobody(large, kind, callsign):
    address = some_addresses(large / kind, 1)[0]
    with range_server.serving({"/x.gsym": (large / kind).read_bytes()}) as server:
        once = callsign.good("lookup", server.url("/x.gsym"), address)
        requests = len(server.requests)
        server.clear()
        assert callsign.good("lookup", server.url("/x.gsym"), *[address] * 50) == once * 50
        assert len(server.requests) == requests


def test_a_batch_joins_its_ranges(large, callsign):
    addresses = "\n".join(some_addresses(large / "large.gsym", 4000))
    with range_server.serving({"/x.gsym": (large / "large.gsym").read_bytes()}) as server:
        callsign.run("lookup", server.url("/x.gsym"), stdin=addresses)
        assert len(server.requests) <= 12


@pytest.mark.parametrize("query", ["NAME", "RANGE"])
def test_other_queries(large, callsign, query):
    index = large / "large.gsym"
    start = starts_of(index)[4000]
    text = "function_with_quite_a_long_name_xxxxxxxxxx_10+0xd" if query == "NAME" else f"{start:x}-{start + 64:x}"
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        local = callsign.good("lookup", index, text, "--json")
        assert "twice_" in local
        assert callsign.good("lookup", server.url("/x.gsym"), text, "--json") == local


@pytest.mark.parametrize("version", ["gsym-v2", "section", "merged"])
def test_other_formats(shapes, callsign, tmp_path, version):
    options = {"gsym-v2": ["--to=gsym-v2"], "section": ["--to=gsym-section"], "merged": ["--merged-functions"]}[version]
    index = tmp_path / "x.gsym"
    callsign.good("convert", shapes.path, "-o", index, *options, "--quiet")
    extra = ["--merged"] if version == "merged" else []
    starts = starts_of_dump(callsign, index)
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        local = callsign.run("lookup", index, *starts, *extra)
        remote = callsign.run("lookup", server.url("/x.gsym"), *starts, *extra)
        assert (remote.stdout, remote.returncode) == (local.stdout, local.returncode)


def starts_of_dump(callsign, index):
    lines = [json.loads(line) for line in callsign.good("dump", index, "--json").splitlines()]
    found = [line["function"]["start"] for line in lines if "function" in line]
    assert found, lines[:3]
    return found


# ---- faults ----

FAULTS = ["short", "long", "cut", "other range", "no content range", "gzip", "huge", "html", "endless redirect", "redirect to a file", "reset",
          403, 404, 500, 503]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault).replace(" ", "-"))
def test_fault_of_the_first_answer(index, callsign, fault):
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        server.fault = fault
        assert server.url("/x.gsym") in callsign.bad("lookup", server.url("/x.gsym"), "0x1139")


LATER = {"etag": "changed", "size": "changed", "reset later": "", "500 later": "500", "shorter later": "416"}


@pytest.mark.parametrize("fault", LATER, ids=lambda fault: fault.replace(" ", "-"))
@pytest.mark.parametrize("by_line", [False, True], ids=["operand", "line"])
def test_fault_of_a_later_answer(large, callsign, fault, by_line):
    index = large / "large.gsym"
    address = some_addresses(index, 1)[0]
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        server.fault = fault
        operands, stdin = ([], address) if by_line else ([address], "")
        done = callsign.run("lookup", server.url("/x.gsym"), *operands, stdin=stdin)
        assert done.returncode == 2, done.stdout
        assert done.stderr.startswith(f"callsign: {server.url('/x.gsym')}: ") and done.stderr.count("\n") == 1
        assert LATER[fault] in done.stderr
        assert "function_with" not in done.stdout
        assert len(server.requests) <= 3


@pytest.mark.parametrize("fault", ["hang", "hang later"], ids=["first", "later"])
def test_a_server_that_does_not_answer(large, callsign, fault):
    index = large / "large.gsym"
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        server.fault = fault
        done = callsign.run("lookup", server.url("/x.gsym"), some_addresses(index, 1)[0], "--fetch-timeout=1")
        assert done.returncode == 2 and server.url("/x.gsym") in done.stderr


def test_no_server(callsign):
    with range_server.serving({}) as server:
        url = server.url("/x.gsym")
    assert url in callsign.bad("lookup", url, "0x1139")


def test_a_redirect_is_followed(index, callsign):
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        server.fault = "redirect"
        assert callsign.good("lookup", server.url("/x.gsym"), hex(starts_of(index)[0]))


def test_a_server_without_ranges(large, callsign):
    index = large / "large.gsym"
    address = some_addresses(index, 1)[0]
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        server.fault = "no ranges"
        assert callsign.good("lookup", server.url("/x.gsym"), address) == callsign.good("lookup", index, address)
        assert len(server.requests) == 1
        message = callsign.bad("lookup", server.url("/x.gsym"), address, "--fetch-limit=100000")
        assert server.url("/x.gsym") in message and "100000" in message


@pytest.mark.parametrize("size", [0, 3, 47, 1000, 400000])
def test_a_truncated_file(large, callsign, size):
    data = (large / "large.gsym").read_bytes()[:size]
    address = hex(starts_of(large / "large.gsym")[-2])
    with range_server.serving({"/x.gsym": data}) as server:
        done = callsign.run("lookup", server.url("/x.gsym"), address)
        assert done.returncode in (1, 2)
        assert server.url("/x.gsym") in done.stderr


def test_what_is_no_index(callsign):
    with range_server.serving({"/x.gsym": b"not an index" * 100000}) as server:
        assert server.url("/x.gsym") in callsign.bad("lookup", server.url("/x.gsym"), "0x1139")
        secret = server.url("/x.gsym").replace("http://", "http://me:s3cret@") + "?sig=s3cret"
        assert callsign.bad("lookup", secret, "0x1139").startswith(f"callsign: {server.url('/x.gsym')}: ")


@pytest.mark.parametrize("url", ["s3://", "s3://bucket", "s3://bucket/", "s3:///key"])
def test_a_bucket_without_a_key(callsign, url):
    assert "s3://BUCKET/KEY" in callsign.bad("lookup", url, "0x1139")
