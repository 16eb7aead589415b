#!/usr/bin/env python3
"""Times callsign.spark on a standalone Spark cluster of one master and two workers on the loopback interface.

usage: spark_cluster.py --object FILE [--frames N,N...] [--out FILE.json] [--modules 200] [--kill] [--growth] [--rivals FRAMES]

Run it with a Python that has callsign, pyspark and pyarrow; Java 17 must be installed. FILE is a program or debug file: its index serves
every module under a name of its own. The frames have a Zipf distribution over modules and over addresses within a module. Each run counts
the rows and sums a hash of every answer, so that runs can be compared. --kill repeats the largest run and kills one worker and its
executor (SIGKILL) in the middle. A Python function per row runs on the same frames. --rivals times addr2line per partition on fewer frames.

Only processes that it started are killed. Everything is written below a temporary folder."""
import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import pyspark

import callsign
import callsign.spark

RANKS = 5000
PAGE = 16


class Cluster:
    """A master and two workers of one core each."""

    def __init__(self, folder):
        self.folder = folder
        self.spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self.env = {**os.environ, "SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_WORKER_DIR": str(folder / "work"), "PYSPARK_PYTHON": sys.executable,
                    "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
        self.processes = []
        master = self.start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self.wait_for(master, r"(spark://127\.0\.0\.1:\d+)")
        self.workers = [self.start(f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1",
                                   "--memory", "3g", self.url) for number in range(2)]
        for worker in self.workers:
            self.wait_for(worker, r"Successfully registered with master ()")

    def start(self, name, *arguments):
        log = self.folder / f"{name}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen([self.spark_class, *arguments], stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=self.env)
        self.processes.append(process)
        process.log = log
        return process

    def wait_for(self, process, pattern):
        for _ in range(300):
            found = re.search(pattern, process.log.read_text(errors="replace"))
            if found:
                return found.group(1)
            if process.poll() is not None:
                break
            time.sleep(0.2)
        raise SystemExit(f"a process of the cluster did not start:\n{process.log.read_text(errors='replace')[-2000:]}")

    def kill_worker(self):
        """The worker, its executor and that one's Python processes, at once, as when the node loses power."""
        victims = [self.workers[0].pid]
        for pid in victims:
            for path in Path(f"/proc/{pid}/task").glob("*/children"):
                victims += [int(child) for child in path.read_text().split()]
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return len(victims)

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def session(master, folder):
    from pyspark.sql import SparkSession
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("callsign-bench")
    options = {"spark.ui.enabled": "true", "spark.ui.port": "0", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
               "spark.executor.memory": "2g", "spark.driver.memory": "3g", "spark.sql.shuffle.partitions": "16",
               "spark.sql.parquet.compression.codec": "zstd", "spark.local.dir": folder / "local", "spark.sql.warehouse.dir": folder / "warehouse",
               "spark.ui.showConsoleProgress": "false", "spark.task.maxFailures": "8"}
    for name, value in options.items():
        builder = builder.config(name, str(value))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def make_frames(spark, count, modules, functions, path):
    """Frames with the same distribution every time. The address of a rank is a byte within one of the functions."""
    starts = ",".join(str(start) for start in functions)
    spark.range(count).selectExpr(
        f"int(floor(exp(rand(1) * ln({modules})))) AS m", f"int(floor(exp(rand(2) * ln({RANKS})))) AS r").selectExpr(
        "format_string('module%03d', m) AS module",
        f"element_at(array({starts}), int(pmod(xxhash64(m, r), {len(functions)})) + 1) + pmod(xxhash64(r), {PAGE}) AS address").repartition(
        16).write.mode("overwrite").parquet(path)


def stage_sums(spark, since):
    """Of the stages from number `since` on: bytes written to shuffles, and seconds of processor time of the executors' JVMs (their Python
    processes do not count). And the next number."""
    base = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}/stages"
    with urllib.request.urlopen(base, timeout=30) as answer:
        stages = json.load(answer)
    ours = [stage for stage in stages if stage["stageId"] >= since]
    written, cpu = sum(stage["shuffleWriteBytes"] for stage in ours), sum(stage["executorCpuTime"] for stage in ours) / 1e9
    return written, cpu, max((stage["stageId"] for stage in stages), default=-1) + 1


def summary_of(named):
    """(rows, rows with names, sum of hashes): equal if and only if, but for a collision, the answers are."""
    row = named.selectExpr("count(*) AS n", "sum(int(size(frames) > 0)) AS found",
                           "sum(cast(xxhash64(module, address, frames) AS decimal(38,0))) AS hash").collect()[0]
    return {"rows": row["n"], "named": row["found"], "hash": str(row["hash"])}


def timed(spark, what, frames, make):
    """Runs make() and gives a row of results."""
    _, _, since = stage_sums(spark, 0)
    start = time.monotonic()
    found = summary_of(make())
    seconds = time.monotonic() - start
    time.sleep(1)
    written, cpu, _ = stage_sums(spark, since)
    row = {"what": what, "frames": frames, "seconds": round(seconds, 2), "frames_per_second": round(frames / seconds), "shuffle_bytes": written,
           "jvm_cpu_seconds": round(cpu, 2), **found}
    print(line_of(row), flush=True)
    return row


def line_of(row):
    return (f"{row['what']:34} {row['frames']:>11,} frames {row['seconds']:8.1f} s {row['jvm_cpu_seconds']:8.1f} s JVM {row['shuffle_bytes'] / 1e6:10.1f} MB "
            f"shuffled  {row['rows']:,} rows, {row['named']:,} named")


def function_per_row(spark, df, store):
    """What a user writes first: a Python function called for each row, with the index of each module open."""
    from pyspark.sql.functions import udf
    open_indexes = {}

    def look_up(module, address):
        if module not in open_indexes:
            open_indexes[module] = callsign.Index(f"{store}/{module}.gsym")
        frames = open_indexes[module].lookup(address)
        return [tuple(frame) for frame in frames], None if frames else "none"

    answer = udf(look_up, f"frames {callsign.spark.FRAMES}, reason string")
    return df.withColumn("answer", answer("module", "address")).selectExpr("module", "address", "answer.frames", "answer.reason")


def addr2line_per_partition(df, object_path):
    """A child process for each module of each partition, one object file for all modules."""
    def answer(batches):
        import pyarrow as pa
        for batch in batches:
            rows = {}
            for number, (module, address) in enumerate(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist())):
                rows.setdefault(module, []).append((number, address))
            out = [None] * batch.num_rows
            for wanted in rows.values():
                text = "".join(f"{address:#x}\n" for _, address in wanted)
                done = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", object_path], input=text, capture_output=True, text=True, check=True)
                blocks = re.split(r"^0x[0-9a-f]+\n", done.stdout, flags=re.M)[1:]
                for (number, _), block in zip(wanted, blocks):
                    names = block.splitlines()[0::2]
                    out[number] = [] if names == ["??"] else names
            yield pa.RecordBatch.from_arrays([batch.column(0), batch.column(1), pa.array(out, pa.list_(pa.string())), pa.nulls(batch.num_rows, pa.string())],
                                             ["module", "address", "frames", "reason"])
    return df.mapInArrow(answer, "module string, address bigint, frames array<string>, reason string")


def warm_up(spark, arguments, folder):
    """Starts the executors and their Python processes, and lets them copy the indexes."""
    df = spark.range(arguments.modules * 20).selectExpr(f"format_string('module%03d', id % {arguments.modules} + 1) AS module", "id AS address")
    for join in ("broadcast", "merge"):
        summary_of(callsign.spark.symbolicate(df, store=folder / "store", join=join, cache=folder / "node"))


def run_sizes(spark, sizes, arguments, folder, functions, results):
    store = folder / "store"
    for count in sizes:
        path = str(folder / f"frames-{count}")
        make_frames(spark, count, arguments.modules, functions, path)
        df = spark.read.parquet(path)
        distinct = df.distinct().count()
        for join in ("auto", "broadcast") if distinct <= 2_000_000 else ("auto",):
            row = timed(spark, f"callsign.spark, join={join}", count, lambda: callsign.spark.symbolicate(df, store=store, join=join, cache=folder / "node"))
            results.append({**row, "master": spark.sparkContext.master.partition(":")[0], "distinct_pairs": distinct})
        if count <= arguments.rows_max:
            row = timed(spark, "Python function per row", count, lambda: function_per_row(spark, df, str(store)))
            results.append({**row, "master": spark.sparkContext.master.partition(":")[0], "distinct_pairs": distinct})


def run_kill(cluster, spark, count, folder, results):
    """The same answers although a worker is lost in the middle of the run."""
    before = next(row for row in results if row["frames"] == count and row["what"].endswith("=auto"))
    df = spark.read.parquet(str(folder / f"frames-{count}"))
    timer = threading.Timer(before["seconds"] / 2, cluster.kill_worker)
    timer.start()
    row = timed(spark, "one of two workers killed", count, lambda: callsign.spark.symbolicate(df, store=folder / "store", join="auto", cache=folder / "node"))
    timer.join()
    row["same_answers"] = all(row[name] == before[name] for name in ("rows", "named", "hash"))
    row["killed_after_seconds"] = round(before["seconds"] / 2, 2)
    results.append({**row, "master": "spark"})
    print("the answers are", "the same" if row["same_answers"] else "DIFFERENT", flush=True)
    return row["same_answers"]


def run_rivals(spark, count, arguments, folder, functions, results):
    path = str(folder / f"rivals-{count}")
    make_frames(spark, count, arguments.modules, functions, path)
    df = spark.read.parquet(path)
    store = folder / "store"
    runs = [("callsign.spark, join=broadcast", lambda: callsign.spark.symbolicate(df, store=store, join="broadcast", cache=folder / "node")),
            ("addr2line per partition", lambda: addr2line_per_partition(df, str(arguments.object)))]
    for what, make in runs:
        results.append({**timed(spark, what, count, make), "master": spark.sparkContext.master.partition(":")[0]})


def make_store(arguments, folder):
    """A file for each module, all of the same index, and addresses at which functions begin."""
    store = folder / "store"
    store.mkdir()
    callsign.convert(arguments.object, folder / "index.gsym")
    for number in range(1, arguments.modules + 1):
        os.link(folder / "index.gsym", store / f"module{number:03}.gsym")
    with callsign.Index(folder / "index.gsym") as index:
        functions = [function.start for function in index.functions() if function.size > PAGE]
    return functions[:: max(1, len(functions) // 1000)]


def run_local(cores, sizes, arguments, folder):
    """In a process of its own: a JVM serves one master."""
    out = folder / f"local{cores}.json"
    subprocess.run([sys.executable, __file__, "--object", arguments.object, "--frames", ",".join(map(str, sizes)), "--modules", str(arguments.modules),
                    "--local", str(cores), "--out", out], check=True)
    return json.loads(out.read_text())["runs"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--object", required=True)
    parser.add_argument("--frames", default="1000000,10000000")
    parser.add_argument("--modules", type=int, default=200)
    parser.add_argument("--out")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--growth", action="store_true", help="also local[1] and local[2], without the largest size")
    parser.add_argument("--rows-max", type=int, default=10_000_000, metavar="FRAMES", help="time the function per row up to so many")
    parser.add_argument("--rivals", type=int, default=0, metavar="FRAMES")
    parser.add_argument("--local", type=int, default=0, metavar="CORES", help="no cluster: local[CORES]")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    sizes = sorted(int(size) for size in arguments.frames.split(","))
    folder = Path(tempfile.mkdtemp(prefix="callsign-spark-bench-"))
    results, good, cluster = [], True, None
    try:
        functions = make_store(arguments, folder)
        cluster = None if arguments.local else Cluster(folder)
        spark = session(f"local[{arguments.local}]" if arguments.local else cluster.url, folder)
        warm_up(spark, arguments, folder)
        run_sizes(spark, sizes, arguments, folder, functions, results)
        if arguments.rivals:
            run_rivals(spark, arguments.rivals, arguments, folder, functions, results)
        if arguments.kill and cluster:
            good = run_kill(cluster, spark, sizes[-1], folder, results)
        spark.stop()
        if arguments.growth:
            for cores in (1, 2):
                results += run_local(cores, sizes[:-1] or sizes, arguments, folder)
    finally:
        if cluster:
            cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
    if arguments.out:
        facts = {"program": "bench/engines/spark_cluster.py", "arguments": [os.path.basename(word) for word in sys.argv[1:]], "spark": pyspark.__version__,
                 "python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count(), "load": round(os.getloadavg()[2], 1), "modules": arguments.modules,
                 "ranks_a_module": RANKS, "object": os.path.basename(str(arguments.object)), "runs": results}
        Path(arguments.out).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        lines = [f"Spark {pyspark.__version__}, one master, two workers of one core; load average {facts['load']} on {facts['cores']} cores"]
        lines += [f"{row['master']:6} {line_of(row)}" for row in results]
        Path(arguments.out).with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
