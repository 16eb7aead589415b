#!/usr/bin/env python3
"""Times `callsign udf` against ClickHouse's own addressToSymbol, addressToLine and addressToLineWithInlines, in one process of chdb.

usage: clickhouse_addresses.py --command CALLSIGN --library FILE.so [--rows N] [--out FILE.json]

Run it with a Python that has chdb. ClickHouse's functions answer for what is loaded into its own process, so FILE.so, which should have
symbols and debug information, is loaded before. The rows are addresses in it, drawn at random; `symbolicate` gets the same ones less the
load address, through a pool of one process as bindings/clickhouse installs it. Every query reads all answers. `with_line` counts the
answers that have a line; addressToLine gives one only if the debug information of ClickHouse's own binary is there, which packages strip."""
import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chdb
from chdb import session

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from measured_commit import commit  # noqa: E402


def load(library):
    """The address at which the library is loaded."""
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(str(library)):
            return int(line.partition("-")[0], 16)
    raise SystemExit(f"{library} is not mapped")


def functions_of(library):
    """(start, size) of the functions in the library's dynamic symbol table, which ClickHouse reads, too."""
    out = subprocess.run(["nm", "-D", "-S", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return [(int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4 and row[2] == "T" and int(row[1], 16)]


def install(arguments, folder):
    """The function as bindings/clickhouse installs it, with this store and command."""
    (folder / "store").mkdir()
    subprocess.run([arguments.command, "convert", "--quiet", arguments.library, "-o", folder / "store" / "library.gsym"], check=True)
    text = (ROOT / "bindings/clickhouse/callsign_function.xml").read_text(encoding="utf-8")
    command = f"{arguments.command} udf --format RowBinary --chunk-header --store {folder / 'store'}"
    (folder / "callsign_function.xml").write_text(re.sub(r"<command>.*</command>", f"<command>{command}</command>", text), encoding="utf-8")


def timed(query, what, rows, expression, with_line=None):
    """Reads some answers before, so that ClickHouse's symbol index and our process are ready. `with_line`: whether an answer has a line;
    None: names only."""
    query(f"SELECT sum(cityHash64({expression})) FROM (SELECT * FROM addresses LIMIT 1000)")
    start = time.monotonic()
    answer = query(f"SELECT count() AS rows, countIf(not empty(a)) AS answered, countIf({with_line or 0}) AS with_line, uniqExact(a) AS different "
                   f"FROM (SELECT {expression} AS a FROM addresses)")
    seconds = time.monotonic() - start
    row = {"what": what, "rows": rows, "seconds": round(seconds, 3), "rows_per_second": round(rows / seconds), **{k: int(v) for k, v in answer.items()}}
    row["with_line"] = row["with_line"] if with_line else None
    print(f"{what:52} {row['rows']:>9,} rows {seconds:8.2f} s {row['rows_per_second']:>12,} a second  {row['with_line'] if with_line else 'names only'}", flush=True)
    return row


def run(arguments, folder):
    base = load(arguments.library)
    starts = functions_of(arguments.library)
    install(arguments, folder)
    chdb_session = session.Session(f"{folder / 'data'}?udf_path={folder}")

    def query(sql):
        text = str(chdb_session.query(f"{sql} SETTINGS allow_introspection_functions = 1", "JSONEachRow"))
        return json.loads(text) if text.strip() else {}

    chdb_session.query("CREATE DATABASE bench ENGINE = Atomic")
    pairs = ",".join(f"({start},{size})" for start, size in starts)
    chdb_session.query(f"CREATE TABLE bench.addresses ENGINE = MergeTree ORDER BY tuple() AS WITH [{pairs}] AS functions SELECT "
                       f"functions[1 + sipHash64(number) % {len(starts)}] AS f, toUInt64(f.1 + sipHash64(number, 2) % f.2) AS image, "
                       f"toUInt64(image + {base}) AS loaded FROM numbers({arguments.rows})")
    chdb_session.query("USE bench")
    rows = [
        timed(query, "addressToSymbol", arguments.rows, "addressToSymbol(loaded)"),
        timed(query, "addressToLine", arguments.rows, "addressToLine(loaded)", "match(a, ':[0-9]+$')"),
        timed(query, "addressToLineWithInlines", arguments.rows, "arrayStringConcat(addressToLineWithInlines(loaded), ';')", "match(a, ':[0-9]+')"),
        timed(query, "symbolicate, a pool of one process", arguments.rows, "symbolicate('library', image)"),
    ]
    same = query("SELECT countIf(addressToSymbol(loaded) = splitByChar(';', symbolicate('library', image))[-1]) AS same, count() AS rows FROM addresses")
    chdb_session.close()
    return rows, {name: int(value) for name, value in same.items()}, len(starts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--library", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    load_before = round(os.getloadavg()[2], 1)
    with tempfile.TemporaryDirectory(prefix="callsign-clickhouse-bench-") as folder:
        rows, same, functions = run(arguments, Path(folder))
    print(f"the symbol and the outermost name are the same in {same['same']:,} of {same['rows']:,} rows")
    if arguments.out:
        facts = {"program": "bench/engines/clickhouse_addresses.py", "arguments": [os.path.basename(word) for word in sys.argv[1:]],
                 "date": time.strftime("%Y-%m-%d"), "commit": commit(), "clickhouse": str(chdb.query("SELECT version()", "TabSeparated")).strip(),
                 "cores": os.cpu_count(), "load": load_before, "library": arguments.library.name, "functions": functions, "same_names": same,
                 "runs": rows}
        Path(arguments.out).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
