#!/usr/bin/env python3
"""Times callsign.spark on a standalone Spark cluster of one master and two workers on the loopback interface.

usage: spark_cluster.py --object FILE [--frames N,N...] [--out FILE.json] [--modules 200] [--kill] [--growth] [--rivals FRAMES]
                        [--convert FILE]

Run it with a Python that has callsign, pyspark and pyarrow; Java 17 must be installed. FILE is a program or debug file: its index serves
every module under a name of its own. The frames have a Zipf distribution over modules and over addresses within a module; executors make
them. Each run counts the rows and sums a hash of every answer, so that runs can be compared: runs of one size must agree. --kill repeats the
largest run and kills one worker and its executor (SIGKILL) in the middle. A Python function per row runs on the same frames, and
symbolic's wheel in the same plan, if it is installed. --rivals times addr2line per partition on fewer frames.

Only processes that it started are killed. Everything is written below a temporary folder: some 15 bytes a frame at most."""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyspark
from spark_rivals import addr2line_per_partition, function_per_row, symbolic_in_the_same_plan, write_symcaches
from spark_stages import costs_of, read_stages, sum_of
from spark_standalone import Cluster, session

import callsign
import callsign.spark

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measured_commit import commit  # noqa: E402

RANKS = 5000
PAGE = 16
PARTITION_FRAMES = 2_000_000


def make_frames(spark, count, modules, functions, path):
    """Frames with the same distribution every time, made by the executors. The address of a rank is a byte within one of the functions."""
    def rank_of(ranks, salt):
        return f"int(floor(exp(pmod(xxhash64(id, {salt}), 1000000007) / 1000000007D * ln({ranks}))))"
    starts = ",".join(str(start) for start in functions)
    spark.range(0, count, 1, max(2, count // PARTITION_FRAMES)).selectExpr(f"{rank_of(modules, 1)} AS m", f"{rank_of(RANKS, 2)} AS r").selectExpr(
        "concat('module', lpad(string(m), 3, '0')) AS module",
        f"element_at(array({starts}), int(pmod(xxhash64(m, r), {len(functions)})) + 1) + pmod(xxhash64(r), {PAGE}) AS address").write.mode(
        "overwrite").parquet(path)


def summary_of(named):
    """(rows, rows with names, sum of hashes): equal if and only if, but for a collision, the answers are."""
    row = named.selectExpr("count(*) AS n", "sum(int(size(frames) > 0)) AS found",
                           "sum(cast(xxhash64(module, address, frames) AS decimal(38,0))) AS hash").collect()[0]
    return {"rows": row["n"], "named": row["found"], "hash": str(row["hash"])}


def timed(spark, what, frames, make, pairs=None):
    """Runs make() and gives a row of results. `pairs`: how many are distinct, if make() has callsign.spark's plan."""
    _, since = read_stages(spark, 0)
    start = time.monotonic()
    found = summary_of(make())
    seconds = time.monotonic() - start
    time.sleep(1)  # the interface shows a stage a moment after its end
    stages = costs_of(read_stages(spark, since)[0], frames, pairs)
    row = {"what": what, "master": spark.sparkContext.master.partition(":")[0], "frames": frames, "seconds": round(seconds, 2),
           "frames_per_second": round(frames / seconds), "shuffle_bytes": sum_of(stages, "shuffle_bytes"),
           "jvm_cpu_seconds": round(sum_of(stages, "jvm_cpu_seconds"), 2), **found, "stages": stages}
    print(line_of(row), flush=True)
    return row


def line_of(row):
    return (f"{row['what']:34} {row['frames']:>11,} frames {row['seconds']:8.1f} s {row['jvm_cpu_seconds']:8.1f} s JVM {row['shuffle_bytes'] / 1e6:10.1f} MB "
            f"shuffled  {row['rows']:,} rows, {row['named']:,} named")


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.store = folder / "store"
        self.results, self.errors = [], []
        self.functions = self.make_store()
        self.has_symbolic = write_symcaches(arguments.object, self.store)

    def make_store(self):
        """A file for each module, all of the same index, and addresses at which functions begin."""
        self.store.mkdir()
        callsign.convert(self.arguments.object, self.folder / "index.gsym")
        for number in range(1, self.arguments.modules + 1):
            os.link(self.folder / "index.gsym", self.store / f"module{number:03}.gsym")
        with callsign.Index(self.folder / "index.gsym") as index:
            functions = [function.start for function in index.functions() if function.size > PAGE]
        return functions[:: max(1, len(functions) // 1000)]

    def named(self, df, join):
        return callsign.spark.symbolicate(df, store=self.store, join=join, cache=self.folder / "node")

    def keep(self, row, **more):
        """The rows of one size must be the same, whoever answers."""
        before = next((each for each in self.results if each["frames"] == row["frames"] and each["what"].startswith("callsign")), None)
        if before and row["what"].startswith(("callsign", "one of", "Python")):
            row["same_answers"] = all(row[name] == before[name] for name in ("rows", "named", "hash"))
            if not row["same_answers"]:
                self.errors.append(f"{row['what']}, {row['frames']:,} frames: other answers than {before['what']}")
        self.results.append({**row, **more})

    def warm_up(self, spark):
        """Starts the executors and their Python processes, lets them copy the indexes, and lets their JVMs compile each plan."""
        path = str(self.folder / "warm")
        make_frames(spark, 100_000, self.arguments.modules, self.functions, path)
        for join in ("broadcast", "merge", "hash"):
            summary_of(self.named(spark.read.parquet(path), join))
        shutil.rmtree(path)

    def conversion(self, spark):
        path = self.arguments.convert or self.arguments.object
        row = callsign.spark.convert(spark, [path], store=self.folder / "converted").collect()[0]
        if row["status"] != "converted":
            self.errors.append(f"spark.convert: {row['error']}")
        self.results.append({"what": "callsign.spark.convert", "frames": 0, "file": os.path.basename(path), "file_bytes": os.path.getsize(path), "seconds": row["seconds"],
                             "index_bytes": row["bytes"]})

    def size(self, spark, count):
        path = str(self.folder / f"frames-{count}")
        spark.conf.set("spark.sql.shuffle.partitions", str(max(16, count // PARTITION_FRAMES)))
        start = time.monotonic()
        make_frames(spark, count, self.arguments.modules, self.functions, path)
        df = spark.read.parquet(path)
        pairs = df.distinct().count()
        more = {"distinct_pairs": pairs}
        print(f"{count:,} frames, {pairs:,} distinct pairs, made and counted in {time.monotonic() - start:.0f} s", flush=True)
        for join in self.arguments.joins.split(","):
            self.keep(timed(spark, f"callsign.spark, join={join}", count, lambda: self.named(df, join), pairs), **more)
        if count <= self.arguments.rows_max:
            self.keep(timed(spark, "Python function per row", count, lambda: function_per_row(df, str(self.store))), **more)
            if self.has_symbolic:
                self.keep(timed(spark, "symbolic's wheel, join=broadcast", count, lambda: symbolic_in_the_same_plan(df, str(self.store), "broadcast"), pairs), **more)

    def kill(self, cluster, spark, count):
        """The same answers although a worker is lost in the middle of the run."""
        what = f"callsign.spark, join={self.arguments.joins.split(',')[0]}"
        before = next(row for row in self.results if row["frames"] == count and row["what"] == what)
        df = spark.read.parquet(str(self.folder / f"frames-{count}"))
        timer = threading.Timer(before["seconds"] / 2, cluster.kill_worker)
        timer.start()
        row = timed(spark, "one of two workers killed", count, lambda: self.named(df, what.rpartition("=")[2]), before["distinct_pairs"])
        timer.join()
        row["killed_after_seconds"] = round(before["seconds"] / 2, 2)
        self.keep(row)

    def rivals(self, spark, count):
        path = str(self.folder / f"rivals-{count}")
        make_frames(spark, count, self.arguments.modules, self.functions, path)
        df = spark.read.parquet(path)
        self.keep(timed(spark, "callsign.spark, join=broadcast", count, lambda: self.named(df, "broadcast")))
        self.keep(timed(spark, "addr2line per partition", count, lambda: addr2line_per_partition(df, str(self.arguments.object))))

    def local(self, cores, sizes):
        """In a process of its own: a JVM serves one master."""
        out = self.folder / f"local{cores}.json"
        command = [sys.executable, __file__, "--object", self.arguments.object, "--frames", ",".join(map(str, sizes)), "--modules", str(self.arguments.modules),
                   "--joins", self.arguments.joins.split(",")[0], "--rows-max", "0", "--local", str(cores), "--out", out]
        subprocess.run(command, check=True)
        self.results += json.loads(out.read_text())["runs"]


def run(arguments, folder):
    """All that is asked for. Gives the results, and what went wrong."""
    bench = Bench(arguments, folder)
    sizes = sorted(int(size) for size in arguments.frames.split(","))
    cluster = None if arguments.local else Cluster(folder)
    try:
        spark = session(f"local[{arguments.local}]" if arguments.local else cluster.url, folder)
        bench.warm_up(spark)
        if cluster:
            bench.conversion(spark)
        for count in sizes:
            bench.size(spark, count)
        if arguments.rivals:
            bench.rivals(spark, arguments.rivals)
        if arguments.kill and cluster:
            bench.kill(cluster, spark, sizes[-1])
        spark.stop()
    finally:
        if cluster:
            cluster.stop()
    if arguments.growth:
        shutil.rmtree(folder / f"frames-{sizes[-1]}")
        for cores in (1, 2):
            bench.local(cores, sizes[:-1] or sizes)
    return bench.results, bench.errors


def write_results(arguments, results, load):
    facts = {"program": "bench/engines/spark_cluster.py", "arguments": [os.path.basename(word) for word in sys.argv[1:]], "date": time.strftime("%Y-%m-%d"),
             "commit": commit(), "spark": pyspark.__version__, "python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count(), "load": load,
             "modules": arguments.modules, "ranks_a_module": RANKS, "object": os.path.basename(str(arguments.object)), "runs": results}
    Path(arguments.out).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--object", required=True, type=os.path.abspath)  # executors run in folders of their own
    parser.add_argument("--frames", default="1000000,10000000")
    parser.add_argument("--modules", type=int, default=200)
    parser.add_argument("--joins", default="auto,broadcast,hash", help="the first one is repeated by --kill and --growth")
    parser.add_argument("--convert", metavar="FILE", help="the file that spark.convert is timed with; default: --object")
    parser.add_argument("--out")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--growth", action="store_true", help="also local[1] and local[2], without the largest size")
    parser.add_argument("--rows-max", type=int, default=10_000_000, metavar="FRAMES", help="the function per row and symbolic run up to so many")
    parser.add_argument("--rivals", type=int, default=0, metavar="FRAMES")
    parser.add_argument("--local", type=int, default=0, metavar="CORES", help="no cluster: local[CORES]")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    load = round(os.getloadavg()[2], 1)  # of the machine before it works for us
    folder = Path(tempfile.mkdtemp(prefix="callsign-spark-bench-"))
    try:
        results, errors = run(arguments, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if arguments.out:
        write_results(arguments, results, load)
    sys.exit("\n".join(errors) or 0)


if __name__ == "__main__":
    main()
