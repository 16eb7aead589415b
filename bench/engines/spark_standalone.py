"""A standalone Spark cluster of one master and two workers on the loopback interface, and a session on it."""
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyspark


class Cluster:
    """A master and two workers of one core each. Only processes that it started are killed."""

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
