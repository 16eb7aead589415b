"""Stores at URLs: a web server that fails in every way, and a bucket (moto, which checks signatures). No Spark is needed."""
import gc
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import pytest

import callsign

pyarrow = pytest.importorskip("pyarrow")
from conftest import ROOT  # noqa: E402

from callsign import copies, node_store, spark_convert, store_files  # noqa: E402
from callsign.node_store import NodeStore, StoreSpec  # noqa: E402

sys.path.append(str(ROOT / "tests" / "cli"))
from profile_bytes import pprof  # noqa: E402


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder; `faults` says what is wrong with a path, one word a request, in turn."""

    def __init__(self, folder):
        self.folder, self.faults, self.requests = folder, {}, []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.requests.append((self.command, self.path))
        faults = self.server.faults.get((self.command, self.path), [])
        fault = faults.pop(0) if faults else ""
        path = self.server.folder / self.path.lstrip("/")
        if fault.isdecimal() or not path.is_file():
            self.send_error(int(fault or 404))
            return
        data = path.read_bytes()
        self.send_response(200)
        if fault != "no length":
            self.send_header("Content-Length", str(len(data)))
        self.send_header("Last-Modified", self.date_time_string(int(path.stat().st_mtime)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[:len(data) // 2] if fault == "half" else data)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "served")
    server = Server(tmp_path / "served")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(copies.time, "sleep", lambda seconds: None)


def names_of(node, addresses, module="orders"):
    failures = node.prepare([module])
    rows = pyarrow.array([{"module": module, "address": address} for address in addresses],
                         pyarrow.struct([("module", pyarrow.string()), ("address", pyarrow.uint64())]))
    answers = pyarrow.array(callsign.Symbolicator(node.store).batch(rows)).to_pylist()
    return failures, [[frame["function"] for frame in answer["frames"] or []] for answer in answers]


def test_from_a_web_server(server, folder, addresses, index, tmp_path):
    node = NodeStore(StoreSpec((server.url,), str(tmp_path / "cache"), 1 << 30))
    failures, names = names_of(node, addresses)
    plain = callsign.Index(folder / "orders.gsym")
    assert not failures and names == [[frame.function for frame in plain.lookup(address)] for address in addresses]
    count = len(server.requests)
    node.begin_task()
    assert node.prepare(["orders", "absent", None, "../orders", "..", "a\0b"]) == {}
    assert ("GET", "/orders.gsym") not in server.requests[count:]
    assert not [path for _, path in server.requests if ".." in path]


def test_a_replaced_index_is_copied_again(server, tmp_path):
    node = NodeStore(StoreSpec((server.url,), str(tmp_path / "cache"), 1 << 30))
    node.prepare(["orders"])
    os.utime(server.folder / "orders.gsym", (1, 1))
    first = node.store
    node.begin_task()
    node.prepare(["orders"])
    assert [command for command, _ in server.requests].count("GET") == 2 and node.store is not first


FAULTS = pytest.mark.parametrize("command, fault, reason", [
    ("HEAD", "500", "the server answers 500 Internal Server Error"),
    ("HEAD", "503", "the server answers 503 Service Unavailable"),
    ("HEAD", "no length", "the server gives no Content-Length"),
    ("GET", "half", "bytes arrived of"),
    ("GET", "500", "the server answers 500 Internal Server Error"),
])


@FAULTS
def test_faults_of_a_web_server(server, addresses, tmp_path, command, fault, reason):
    """One bad answer is repaired by the next try; three are a reason that names the URL, and no index."""
    for bad in (1, 3):
        cache = tmp_path / f"cache{bad}"
        server.faults[(command, "/orders.gsym")] = [fault] * bad
        failures, names = names_of(NodeStore(StoreSpec((server.url,), str(cache), 1 << 30)), addresses)
        if bad == 1:
            assert not failures and names[0]
        else:
            assert failures["orders"].startswith(f"there is no index for the module; {server.url}/orders.gsym: ") and reason in failures["orders"]
            assert names == [[]] * len(addresses)
        assert not list(cache.glob("**/*.part"))


def test_an_index_of_another_build_is_refused(server, addresses, tmp_path):
    (server.folder / "ab").mkdir()
    shutil.copy(server.folder / "orders.gsym", server.folder / "ab" / f"{'cd' * 19}.gsym")
    node = NodeStore(StoreSpec((server.url,), str(tmp_path / "cache"), 1 << 30))
    _, names = names_of(node, addresses, "ab" + "cd" * 19)
    assert names == [[]] * len(addresses)
    assert len(list((tmp_path / "cache").glob("**/cd*.gsym"))) == 1


def test_nobody_listens(tmp_path):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        failures = NodeStore(StoreSpec((url,), str(tmp_path / "cache"), 1 << 30)).prepare(["orders"])
    assert failures["orders"].startswith(f"there is no index for the module; {url}/orders.gsym: ")


def test_conversions_need_a_store_that_can_be_written(program):
    with pytest.raises(OSError, match="can be read only"):
        store_files.files_of("http://127.0.0.1:1").prepare()
    row = spark_convert.convert_row(str(program), "http://127.0.0.1:1", {})
    assert row["status"] == "failed" and "127.0.0.1:1" in row["error"]


def test_a_url_that_nothing_reads():
    with pytest.raises(ValueError, match="nowhere://bucket"):
        store_files.files_of("nowhere://bucket")
    with pytest.raises(ValueError, match="^http://127.0.0.1: the URL of a web server has no user"):
        store_files.files_of("http://user:secret@127.0.0.1")


@pytest.mark.parametrize("url", ["s3://key:se%2Fcret@bucket/a/b?region=x", "http://user:secret@bucket/a/b/"])
def test_secrets_are_not_shown(url):
    assert store_files.shown(url) == f"{url.partition(':')[0]}://bucket/a/b"


# ---- callsign.Store itself ----

def answers_of(store, addresses, module="orders"):
    rows = pyarrow.array([{"module": module, "address": address} for address in addresses],
                         pyarrow.struct([("module", pyarrow.string()), ("address", pyarrow.uint64())]))
    answers = pyarrow.array(callsign.Symbolicator(store).batch(rows)).to_pylist()
    return [[frame["function"] for frame in answer["frames"]] for answer in answers], {answer["reason"] for answer in answers}


def test_a_store_of_a_web_server(server, folder, addresses, tmp_path):
    with callsign.Store(server.url + "/", cache=tmp_path / "cache") as store:
        names, reasons = answers_of(store, addresses)
        assert names[0] and (names, reasons) == answers_of(callsign.Store(folder), addresses)
        found = store.find("orders")
        assert found and not store.find("absent") and server.url in repr(store)
        assert (f"{server.url}/absent.gsym", "absent") in [(place.path, place.result) for place in store.find("other/absent")]
        for name in ("..", "../orders\0", "a/../.."):
            assert not store.find(name)
    assert [path for command, path in server.requests if command == "GET"] == ["/orders.gsym"]
    assert not [path for _, path in server.requests if ".." in path]
    with callsign.Store(server.url, cache=tmp_path / "cache") as again:
        assert again.find("orders")
    assert [command for command, _ in server.requests].count("GET") == 1
    table = pyarrow.table({"module": ["orders"], "address": pyarrow.array(addresses[:1], pyarrow.uint64())})
    assert callsign.symbolicate(table, store=server.url)["frames"][0].as_py()[0]["function"] == names[0][0]


def test_a_store_without_a_cache_leaves_nothing(server, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = callsign.Store(server.url)
    assert store.find("orders") and list(tmp_path.glob("callsign-store-*/*/orders.gsym"))
    store.close()
    del store
    gc.collect()
    assert not list(tmp_path.glob("callsign-store-*"))


def test_executors_get_the_urls_of_a_store(server, folder):
    assert node_store.roots_of(callsign.Store(server.url + "/", folder)) == (server.url, str(folder))


def test_local_symbols_come_first(server, folder, tmp_path):
    assert callsign.Store(server.url, folder).find("orders")
    assert not server.requests


@FAULTS
def test_a_store_of_a_server_with_faults(server, folder, addresses, command, fault, reason):
    """One bad answer is repaired by the next try. Three are a reason that names the URL, no name, and no end: the next call tries again."""
    expected = answers_of(callsign.Store(folder), addresses)
    server.faults[(command, "/orders.gsym")] = [fault]
    assert answers_of(callsign.Store(server.url), addresses) == expected
    store = callsign.Store(server.url)
    for _ in range(2):
        server.faults[(command, "/orders.gsym")] = [fault] * 3
        names, (text,) = answers_of(store, addresses)
        assert names == [[]] * len(addresses)
        assert text.startswith("there is no index for the module") and f"{server.url}/orders.gsym" in text and reason in text
    assert answers_of(store, addresses) == expected


def test_a_store_refuses_an_index_of_another_build(server, addresses):
    (server.folder / "ab").mkdir()
    shutil.copy(server.folder / "orders.gsym", server.folder / "ab" / f"{'cd' * 19}.gsym")
    names, (text,) = answers_of(callsign.Store(server.url), addresses, "ab" + "cd" * 19)
    assert names == [[]] * len(addresses) and "another build id" in text
    (server.folder / "half.gsym").write_bytes((server.folder / "orders.gsym").read_bytes()[:90])
    names, (text,) = answers_of(callsign.Store(server.url), addresses, "half")
    assert names == [[]] * len(addresses) and f"{server.url}/half.gsym" in text


def test_a_profile_with_a_store_of_a_web_server(server, program, addresses):
    """The other way in which a store is used."""
    profile = callsign.Profile()
    profile.read_bytes(pprof([(addresses, [1])], [(0, 0x100000, 0, "/gone/orders", "")]))
    assert profile.symbolicate(callsign.Store(server.url)).named == len(addresses)


# ---- a bucket ----

def test_a_store_of_a_bucket(bucket, folder, addresses):
    store_files.files_of(bucket).write("orders.gsym", (folder / "orders.gsym").read_bytes())
    assert answers_of(callsign.Store(bucket), addresses) == answers_of(callsign.Store(folder), addresses)


def test_into_a_bucket_and_out(bucket, program, addresses, tmp_path):
    """The larger index of a build id stays, whatever comes last; a second run finds it; nodes copy it by build id."""
    stripped = tmp_path / "orders"
    subprocess.run(["strip", "-g", "-o", stripped, program], check=True)
    first = spark_convert.convert_row(str(stripped), bucket, {"threads": 1})
    assert first["status"] == "converted", first
    row = spark_convert.convert_row(str(program), bucket, {"threads": 1})
    assert row["status"] == "converted" and row["build_id"] == first["build_id"] and row["bytes"] > first["bytes"]
    again = spark_convert.convert_row(str(program), bucket, {"threads": 1})
    assert (again["status"], again["bytes"]) == ("present", row["bytes"])
    os.utime(stripped, (1, 1))
    late = spark_convert.convert_row(str(stripped), bucket, {"threads": 1})
    assert (late["status"], late["bytes"]) == ("present", row["bytes"])
    node = NodeStore(StoreSpec((bucket,), str(tmp_path / "cache"), 1 << 30))
    failures, names = names_of(node, addresses, row["build_id"])
    assert not failures and "_ZN4shop12report_stackEv" in names[0]


def test_an_overwritten_index_is_found(bucket, program, tmp_path):
    """Two tasks wrote at once, and the smaller index came last."""
    row = spark_convert.convert_row(str(program), bucket, {"threads": 1})
    files = store_files.files_of(bucket)
    rows = [(row["path"], row["build_id"], "converted", None, row["bytes"], 1.0)]
    assert spark_convert._overwritten(rows, files) == []
    files.write(f"{row['build_id'][:2]}/{row['build_id'][2:]}.gsym", b"small")
    assert spark_convert._overwritten(rows, files) == [0]
    assert spark_convert.convert_row(str(program), bucket, {"threads": 1})["status"] == "converted"
    assert spark_convert._overwritten(rows, files) == []


def test_a_mark_that_is_damaged(bucket, program):
    row = spark_convert.convert_row(str(program), bucket, {"threads": 1})
    files = store_files.files_of(bucket)
    mark = f".callsign/{spark_convert.source_key(str(program))}.json"
    assert json.loads(files.read(mark))["build_id"] == row["build_id"]
    for data in (b"", b"{", b"{}", b"\xff"):
        files.write(mark, data)
        assert spark_convert.convert_row(str(program), bucket, {"threads": 1})["status"] == "present"


def test_a_wrong_secret(bucket, program, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    row = spark_convert.convert_row(str(program), bucket, {"threads": 1})
    assert row["status"] == "failed" and "s3://symbols/builds/" in row["error"]
    failures = NodeStore(StoreSpec((bucket,), str(tmp_path / "cache"), 1 << 30)).prepare(["ab" * 20])
    assert failures["ab" * 20].startswith(f"there is no index for the module; s3://symbols/builds/ab/{'ab' * 19}.gsym: ")
    assert not list((tmp_path / "cache").glob("**/*.gsym"))


def test_a_bucket_that_is_not_there(bucket, program):
    row = spark_convert.convert_row(str(program), bucket.replace("symbols/", "absent/"), {"threads": 1})
    assert row["status"] == "failed" and "s3://absent/builds/" in row["error"] and "bucket" in row["error"].lower()
