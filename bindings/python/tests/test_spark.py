"""Spark on two local cores. Left out where PySpark or Java is not installed."""
import json
import os
import shutil
import subprocess
import sys
import urllib.parse

import pytest

import callsign

pytest.importorskip("pyspark")
if not shutil.which("java"):
    pytest.skip("java is not installed", allow_module_level=True)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession
    os.environ["PYSPARK_PYTHON"] = sys.executable
    scratch = tmp_path_factory.mktemp("spark")
    session = (SparkSession.builder.master("local[2]").appName("callsign").config("spark.ui.enabled", "false")
               .config("spark.sql.shuffle.partitions", "4").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.local.dir", str(scratch)).config("spark.sql.warehouse.dir", str(scratch / "warehouse")).getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def frames_of(row):
    return None if row["frames"] is None else [tuple(frame) for frame in row["frames"]]


ROWS = [("orders", 1), ("orders", -1), (None, 0), ("absent", 0), ("orders", None)]


def check(rows, index, addresses):
    rows = {row["n"]: row for row in rows}
    assert len(rows) == 5
    assert frames_of(rows[0]) == [tuple(frame) for frame in index.lookup(addresses[1])]
    assert frames_of(rows[1]) == [] and frames_of(rows[2]) is None and frames_of(rows[3]) == [] and frames_of(rows[4]) is None
    assert [rows[n]["reason"] for n in range(5)] == [
        None, "the address is below the first function of the index", "the module is null", "there is no index for the module",
        "the address is null"]


@pytest.mark.parametrize("kind", ["bigint", "decimal(20,0)", "int"])
@pytest.mark.parametrize("join", ["auto", "broadcast", "merge", "hash"])
def test_addresses(spark, folder, index, addresses, cache, kind, join):
    data = [(n, module, 3 if value == -1 else None if value is None else addresses[value]) for n, (module, value) in enumerate(ROWS)]
    df = spark.createDataFrame(data, "n int, module string, address bigint").selectExpr("n", "module", f"cast(address as {kind}) address")
    named = callsign.spark.symbolicate(df, store=folder, demangle=True, join=join, cache=cache)
    assert named.columns == ["n", "module", "address", "frames", "reason"]
    assert named.schema["frames"].dataType.simpleString() == callsign.spark.FRAMES
    assert named.schema["address"].dataType.simpleString() == kind
    check(named.collect(), index, addresses)


def test_other_columns_and_build_ids(spark, program, addresses, tmp_path, cache):
    """A build-id tree; ids as strings and as bytes."""
    report = callsign.convert(program, tmp_path / "index")
    build_id = report["build_id"]
    (tmp_path / build_id.hex()[:2]).mkdir()
    shutil.move(tmp_path / "index", tmp_path / build_id.hex()[:2] / f"{build_id.hex()[2:]}.gsym")
    df = spark.createDataFrame([(build_id.hex(), bytearray(build_id), addresses[0])], "id string, raw binary, pc bigint")
    for column in ("id", "raw"):
        rows = callsign.spark.symbolicate(df, store=tmp_path, module=column, address="pc", cache=cache).collect()
        assert rows[0]["frames"][0]["function"] == "_ZN4shop12report_stackEv"
    assert len(list(cache.glob("**/*.gsym"))) == 1
    without_copies = callsign.spark.symbolicate(df, store=tmp_path, module="id", address="pc", cache=False).collect()
    assert without_copies[0]["frames"] == rows[0]["frames"]


def test_kernel_addresses(spark, tmp_path, cache):
    """Addresses above 2^63 are negative numbers, or decimals."""
    (tmp_path / "kernel.sym").write_text("MODULE Linux x86_64 000000000000000000000000000000000 kernel\nFUNC ffffffff81000000 100 0 start_kernel\n")
    callsign.convert(tmp_path / "kernel.sym", tmp_path / "kernel.gsym")
    df = spark.sql("SELECT 'kernel' AS module, cast(-2130706416 AS bigint) AS address")
    assert callsign.spark.symbolicate(df, store=tmp_path, cache=cache).collect()[0]["frames"][0][:2] == ("start_kernel", 16)
    wide = spark.sql("SELECT 'kernel' AS module, cast(18446744071578845200 AS decimal(20,0)) AS address UNION ALL "
                     "SELECT 'kernel', cast(99999999999999999999 AS decimal(20,0)) UNION ALL SELECT 'kernel', cast(-7 AS decimal(20,0))")
    rows = {row["address"]: row for row in callsign.spark.symbolicate(wide, store=tmp_path, cache=cache).collect()}
    assert rows[18446744071578845200]["frames"][0][:2] == ("start_kernel", 16)
    assert not rows[99999999999999999999]["frames"] and rows[99999999999999999999]["reason"]
    assert not rows[-7]["frames"] and rows[-7]["reason"]


def test_stacks(spark, folder, addresses, cache):
    stack = [("orders", addresses[1]), ("orders", addresses[0] + 1), ("absent", 5), ("orders", None), None]
    data = [(0, stack), (1, []), (2, None), (3, stack)]
    df = spark.createDataFrame(data, "n int, frames array<struct<module:string,address:bigint>>")
    named = callsign.spark.symbolicate(df, stacks="frames", store=folder, cache=cache)
    assert named.columns == ["n", "frames", "symbolicated"]
    assert named.schema["symbolicated"].dataType.simpleString() == callsign.spark.STACK
    rows = {row["n"]: row["symbolicated"] for row in named.collect()}
    pa = pytest.importorskip("pyarrow")
    kind = pa.list_(pa.struct([("module", pa.string()), ("address", pa.int64())]))
    given = pa.array([[None if frame is None else {"module": frame[0], "address": frame[1]} for frame in stack]], kind)
    expected = pa.array(callsign.Symbolicator(folder).batch(given)).to_pylist()[0]
    for frame in expected:
        del frame["candidates"]
    assert [frame.asDict(recursive=True) for frame in rows[0]] == expected
    assert rows[1] == [] and rows[2] is None and rows[3] == rows[0]
    assert [len(frame["frames"] or ()) for frame in rows[0]][2:] == [0, 0, 0] and all(frame["reason"] for frame in rows[0][2:])


def test_the_plan(spark, folder, cache, capsys):
    df = spark.createDataFrame([("orders", 1)], "module string, address bigint")
    callsign.spark.symbolicate(df, store=folder, join="merge", cache=cache).explain("extended")
    plan = capsys.readouterr().out
    assert "MapInArrow" in plan and "__callsign_salt" in plan and "SortMergeJoin" in plan
    callsign.spark.symbolicate(df, store=folder, join="broadcast", cache=cache).explain()
    assert "SortMergeJoin" not in capsys.readouterr().out
    callsign.spark.symbolicate(df, store=folder, join="hash", cache=cache).explain()
    assert "ShuffledHashJoin" in capsys.readouterr().out


def test_distinct_pairs_are_made_once(spark, folder, tmp_path, cache, capsys):
    """The rows are read for the distinct pairs and for the join; the list of hot modules reads the shuffle of the pairs again."""
    spark.range(1000).selectExpr("'orders' AS module", "id AS address").write.option("compression", "zstd").parquet(str(tmp_path / "rows"))
    named = callsign.spark.symbolicate(spark.read.parquet(str(tmp_path / "rows")), store=folder, salt_above=100, join="broadcast", cache=cache)
    named.collect()
    named.explain()
    final = capsys.readouterr().out.partition("== Initial Plan ==")[0]
    assert "isFinalPlan=true" in final and final.count("FileScan") == 2 and "ReusedExchange" in final


def test_hot_modules_are_spread(spark, folder, index, addresses, cache):
    """Every pair is answered once, whatever its task."""
    df = spark.range(5000).selectExpr("CASE WHEN id % 10 = 0 THEN 'cold' ELSE 'orders' END AS module", "id * 7 AS address")
    named = callsign.spark.symbolicate(df, store=folder, salt_above=100, cache=cache).collect()
    assert len(named) == 5000
    for row in named[::97]:
        expected = index.lookup(row["address"]) if row["module"] == "orders" else []
        assert [frame["offset"] for frame in row["frames"]] == [frame.offset for frame in expected]


def test_damaged_and_vanished_indexes(spark, folder, addresses, tmp_path, cache):
    store = tmp_path / "store"
    shutil.copytree(folder, store)
    (store / "half.gsym").write_bytes((folder / "orders.gsym").read_bytes()[:90])
    (store / "folder.gsym").mkdir()
    df = spark.createDataFrame([(name, addresses[0]) for name in ("orders", "half", "folder")], "module string, address bigint")
    named = callsign.spark.symbolicate(df, store=store, cache=cache)
    rows = {row["module"]: row for row in named.collect()}
    assert rows["orders"]["frames"] and rows["orders"]["reason"] is None
    assert rows["half"]["frames"] == [] and "half.gsym" in rows["half"]["reason"]
    assert rows["folder"]["frames"] == [] and rows["folder"]["reason"].startswith("there is no index for the module")
    # The node has its copy still; another node has none.
    (store / "orders.gsym").unlink()
    assert {row["module"]: row for row in named.collect()}["orders"]["frames"] == rows["orders"]["frames"]
    elsewhere = callsign.spark.symbolicate(df, store=store, cache=tmp_path / "elsewhere").collect()
    assert {row["module"]: row["reason"] for row in elsewhere}["orders"] == "there is no index for the module"
    # And an index that comes back is found.
    shutil.copy(folder / "orders.gsym", store)
    assert {row["module"]: row for row in callsign.spark.symbolicate(df, store=store, cache=tmp_path / "elsewhere").collect()}["orders"]["frames"]


def test_an_index_of_another_build_is_refused(spark, folder, addresses, tmp_path, cache):
    other = "ab" * 20
    (tmp_path / "ab").mkdir()
    shutil.copy(folder / "orders.gsym", tmp_path / "ab" / f"{other[2:]}.gsym")
    df = spark.createDataFrame([(other, addresses[0])], "module string, address bigint")
    row = callsign.spark.symbolicate(df, store=tmp_path, cache=cache).collect()[0]
    assert row["frames"] == [] and "another build id" in row["reason"]


def test_wrong_types(spark, folder):
    df = spark.createDataFrame([(1, "x")], "module bigint, address string")
    with pytest.raises(TypeError, match="'module' is bigint"):
        callsign.spark.symbolicate(df, store=folder)
    with pytest.raises(TypeError, match="'address' is string"):
        callsign.spark.symbolicate(df, module="address", store=folder)
    with pytest.raises(TypeError, match="'module' is bigint, need array"):
        callsign.spark.symbolicate(df, stacks="module", store=folder)
    with pytest.raises(ValueError, match="nowhere://bucket"):
        callsign.spark.symbolicate(df, store="nowhere://bucket")
    with pytest.raises(ValueError, match="the nodes need copies of the indexes behind a URL, http://127.0.0.1"):
        callsign.spark.symbolicate(df, store="http://127.0.0.1/", cache=False)


# ---- convert ----

def test_convert(spark, program, addresses, tmp_path, cache):
    store = tmp_path / "store"
    damaged, text = tmp_path / "damaged", tmp_path / "text"
    damaged.write_bytes(program.read_bytes()[:200])
    text.write_text("no program\n")
    paths = [program, damaged, tmp_path / "absent", text]
    rows = callsign.spark.convert(spark, paths, store=store).collect()
    assert [row["path"] for row in rows] == [str(path) for path in paths]
    assert rows[0].__fields__ == ["path", "build_id", "status", "error", "bytes", "seconds"]
    assert [row["status"] for row in rows] == ["converted", "failed", "failed", "failed"]
    assert rows[0]["error"] is None and all(row["error"] and row["build_id"] is None and row["bytes"] is None for row in rows[1:])
    index = store / rows[0]["build_id"][:2] / f"{rows[0]['build_id'][2:]}.gsym"
    assert index.stat().st_size == rows[0]["bytes"] and all(row["seconds"] > 0 for row in rows)
    again = callsign.spark.convert(spark, [program], store=store)
    assert [row["status"] for row in again.collect()] == ["present"]
    assert [row["status"] for row in again.collect()] == ["present"]
    df = spark.createDataFrame([(rows[0]["build_id"], addresses[0])], "module string, address bigint")
    assert callsign.spark.symbolicate(df, store=store, cache=cache).collect()[0]["frames"]
    assert not list(store.glob("**/*.part"))
    # A lost or cut index is made again.
    index.write_bytes(index.read_bytes()[:50])
    assert callsign.spark.convert(spark, [program], store=store).collect()[0]["status"] == "converted"
    assert index.stat().st_size == rows[0]["bytes"]


def test_a_stripped_program_does_not_replace_its_debug_file(spark, program, tmp_path):
    stripped = tmp_path / "orders"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    store = tmp_path / "store"
    rows = callsign.spark.convert(spark, [program], store=store).collect()
    other = callsign.spark.convert(spark, [stripped], store=store).collect()
    index = store / rows[0]["build_id"][:2] / f"{rows[0]['build_id'][2:]}.gsym"
    assert other[0]["status"] in ("present", "failed") and index.stat().st_size == rows[0]["bytes"]


def test_a_crash_is_a_row(spark, program, tmp_path, monkeypatch):
    """A converter that is killed, and one that takes too long."""
    from callsign import spark_convert
    row = spark_convert.convert_row(str(program), str(tmp_path), {}, timeout=0.0001)
    assert row["status"] == "failed" and "longer than" in row["error"]
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nkill -9 $$\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    row = spark_convert.convert_row(str(program), str(tmp_path), {})
    assert row["status"] == "failed" and row["error"] == "the converter was ended by signal 9"


def test_a_killed_conversion_leaves_nothing_half(program, tmp_path):
    """Killed at any moment, the store has the whole index or none, and the next run finishes."""
    from callsign import spark_convert
    (tmp_path / ".callsign").mkdir()
    request = json.dumps({"path": str(program), "store": str(tmp_path), "options": {"threads": 1}})
    for milliseconds in range(0, 200, 20):
        with subprocess.Popen([sys.executable, "-m", "callsign.spark_convert"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            process.stdin.write(request)
            process.stdin.close()
            try:
                process.wait(milliseconds / 1000)
            except subprocess.TimeoutExpired:
                process.kill()
        for path in tmp_path.glob("??/*.gsym"):
            with callsign.Index(path) as index:
                assert len(index) > 0
    row = spark_convert.convert_row(str(program), str(tmp_path), {"threads": 1})
    assert row["status"] in ("converted", "present")


def test_a_bucket(spark, bucket, program, addresses, tmp_path, cache):
    """Conversions into a bucket, and answers from it. A program and its debug file have one build id and arrive in any order."""
    # The executors have the environment of the session's start: the keys are in the URL.
    keys = f"{os.environ['AWS_ACCESS_KEY_ID']}:{urllib.parse.quote(os.environ['AWS_SECRET_ACCESS_KEY'], safe='')}"
    bucket = bucket.replace("symbols/builds", f"{keys}@symbols/spark")
    stripped = tmp_path / "orders"
    subprocess.run(["strip", "-g", "-o", stripped, program], check=True)
    rows = callsign.spark.convert(spark, [stripped, program], store=bucket).collect()
    assert [row["build_id"] for row in rows] == [rows[1]["build_id"]] * 2 and rows[1]["status"] == "converted"
    again = callsign.spark.convert(spark, [program, tmp_path / "absent"], store=bucket).collect()
    assert [row["status"] for row in again] == ["present", "failed"] and again[0]["bytes"] == rows[1]["bytes"]
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in str(again)
    df = spark.createDataFrame([(rows[1]["build_id"], address) for address in addresses], "module string, address bigint")
    named = callsign.spark.symbolicate(df, store=bucket, cache=cache).collect()
    with callsign.Index(next(cache.glob("**/*.gsym"))) as index:
        assert {row["address"]: frames_of(row) for row in named} == {
            address: [tuple(frame) for frame in index.lookup(address)] for address in addresses}


def test_no_paths(spark, tmp_path):
    assert callsign.spark.convert(spark, [], store=tmp_path).collect() == []


# ---- copies on a node ----

def test_copies_are_made_once_and_pruned(folder, tmp_path):
    from callsign.copies import copy_once, prune
    from callsign.node_store import NodeStore, StoreSpec
    from callsign.store_files import FolderFiles
    node = NodeStore(StoreSpec((str(folder),), str(tmp_path / "cache"), 1 << 30))
    assert node.prepare(["orders", "absent", None]) == {}
    copies = list((tmp_path / "cache").glob("*/orders.gsym"))
    assert len(copies) == 1
    before = copies[0].stat().st_ino
    node.begin_task()
    node.prepare(["orders"])
    assert copies[0].stat().st_ino == before
    assert copy_once(FolderFiles(str(folder)), "orders.gsym", str(copies[0])) == "there"
    prune(str(tmp_path / "cache"), 0)
    assert not copies[0].exists()


def test_a_copy_that_fails_is_a_reason(folder, tmp_path, monkeypatch):
    from callsign import copies, node_store, store_files
    node = node_store.NodeStore(node_store.StoreSpec((str(folder),), str(tmp_path / "cache"), 1 << 30))

    def broken(path, part):
        raise OSError(5, "Input/output error", path)

    monkeypatch.setattr(store_files.shutil, "copyfile", broken)
    monkeypatch.setattr(copies.time, "sleep", lambda seconds: None)
    failures = node.prepare(["orders"])
    assert failures["orders"].startswith("there is no index for the module; ") and failures["orders"].endswith(": Input/output error")
