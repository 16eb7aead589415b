#!/usr/bin/env python3
"""Compares tools with their stand-ins over random options, programs and requests.

usage: fuzz_stand_ins.py [--seed N] [--folder DIR] [--programs NAME,...] [--file PATH]... [--kept] [--inputs N] [--seconds N]
                         [--save FILE] [--damage] DIALECT RUNS

One run is one set of options, one program and one input of a few requests. Each process of the tool and of the stand-in gets
some ten inputs, one after the other. If the two processes differ, each input is given to a process of its own. Prints the first
differences of each program; exits 1 if one is not explained. --file takes a program of yours instead; --kept makes
programs so large that indexes and answers are kept, in a cache folder of this run; --seconds ends earlier; --save adds the
counts to a file of JSON; --damage changes the DWARF of each program at random (not of llvm-gsymutil). $CALLSIGN names the command."""

import argparse
import collections
import datetime
import fcntl
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import stand_in_draws
import stand_in_pairs
import stand_in_programs

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from measured_commit import commit  # noqa: E402

SHOWN = 2  # differences of one program


class Counts:
    """What was compared, and how it differed."""

    def __init__(self, out):
        self.out = out
        self.runs = self.starts = self.requests = self.differences = 0
        self.programs, self.explained = collections.Counter(), collections.Counter()
        self.by_program = collections.Counter()

    def add_start(self, name, inputs):
        self.starts += 1
        self.runs += max(1, len(inputs))
        self.requests += sum(text.count(b"\n") for text in inputs)
        self.programs[name] += max(1, len(inputs))

    def add_difference(self, name, arguments, stdin, difference):
        reason = stand_in_pairs.explain(arguments, *difference, stdin)
        if reason:
            self.explained[reason] += 1
            return
        self.differences += 1
        self.by_program[name] += 1
        if self.by_program[name] <= SHOWN:
            print(stand_in_pairs.show_difference(arguments, stdin, difference) + "\n", file=self.out, flush=True)

    def as_json(self):
        return {"runs": self.runs, "process_pairs": self.starts, "requests": self.requests, "unexplained": self.differences,
                "explained": dict(sorted(self.explained.items())), "runs_by_program": dict(sorted(self.programs.items()))}


def pair_results(pair, arguments, stdin, where):
    try:
        return tuple(pair.run(which, arguments, stdin, where) for which in ("theirs", "ours"))
    except subprocess.TimeoutExpired as e:
        return stand_in_pairs.Result(0, b"", b""), stand_in_pairs.Result(-1, b"", f"timeout {e.cmd}".encode())


def compare(pair, counts, name, draw, where):
    """One process of each; if they differ, one for each input."""
    counts.add_start(name, draw.inputs)
    whole = b"".join(draw.inputs)
    theirs, ours = pair_results(pair, draw.arguments, whole, where)
    if theirs == ours:
        return
    found = False
    if len(draw.inputs) > 1:
        for text in draw.inputs:
            alone = pair_results(pair, draw.arguments, text, where)
            if alone[0] != alone[1]:
                counts.add_difference(name, draw.arguments, text, alone)
                found = True
    if not found:
        counts.add_difference(name, draw.arguments, whole, (theirs, ours))


def outputs(where):
    """What a conversion left, and removes it."""
    found = {}
    for path in sorted(where.glob("converted*")):
        if path.stat().st_size:
            found[path.name] = path.read_bytes()
        path.unlink()
    return found


def compare_conversion(pair, counts, name, arguments, where):
    """The outputs, the files, and keeps the files of ours."""
    counts.add_start(name, [])
    outputs(where)
    theirs = pair.run("theirs", arguments, b"", where)
    their_files = outputs(where)
    ours = pair.run("ours", arguments, b"", where)
    our_files = outputs(where)
    for kept in where.glob("kept.converted*"):
        kept.unlink()
    for file in our_files:
        (where / ("kept." + file)).write_bytes(our_files[file])
    if theirs == ours and their_files == our_files:
        return
    names = [file for file in sorted(set(their_files) | set(our_files)) if their_files.get(file) != our_files.get(file)]
    counts.add_difference(name, arguments, b"", (theirs._replace(out=theirs.out + b"\n" + repr(names).encode()), ours))


LOOKUPS = 10  # processes that look into one converted file


def fuzz_gsymutil(pair, counts, rng, goes_on, programs, ranges, where, count):
    while goes_on():
        name = rng.choice(programs)
        compare_conversion(pair, counts, name, stand_in_draws.draw_convert(rng, name, where), where)
        for _ in range(LOOKUPS):
            if goes_on() and (where / "kept.converted").exists():
                compare(pair, counts, name, stand_in_draws.draw_gsym_lookup(rng, "kept.converted", ranges[name], count), where)


PADDING = 9 << 20  # bytes: objects of 8 MiB are kept


def make_large(pair, programs, folder):
    """Linked programs with padding, whose indexes of addresses are there when this ends, if the dialect makes any."""
    large, cache = {}, folder / "cache"
    os.environ["CALLSIGN_CACHE"] = str(cache)
    shutil.rmtree(cache, ignore_errors=True)
    (folder / "padding").write_bytes(b"x" * PADDING)
    for name, path in programs.items():
        to = folder / "programs" / f"large-{pathlib.Path(name).name}"
        done = subprocess.run(["objcopy", "--add-section", f".padding={folder / 'padding'}", path, to], capture_output=True, check=False)
        ranges = stand_in_draws.code_addresses(to) if done.returncode == 0 and path.read_bytes()[16] in (2, 3) else []
        if not ranges:
            to.unlink(missing_ok=True)
            continue
        addresses = "".join(f"0x{addr:x}\n" for start, size in ranges for addr in range(start, start + size, size // 99 + 1)).encode()
        arguments = [f"--obj={to}"] if pair.dialect == "llvm-symbolizer" else ["-e", str(to)]
        pair.run("ours", arguments, addresses, folder)
        large[to.name] = to
    end = time.monotonic() + INDEX_SECONDS
    while time.monotonic() < end and any("." in path.name for path in (cache / "addresses").glob("*")):
        time.sleep(0.1)
    shutil.rmtree(cache / "answers", ignore_errors=True)
    print(f"{len(large)} programs, {len(list((cache / 'addresses').glob('*')))} indexes", flush=True)
    return large


INDEX_SECONDS = 10


def fuzz_damaged(pair, counts, rng, goes_on, programs, ranges, where, dialect, inputs):
    """As without damage; a new copy for each process."""
    found = {name: path.read_bytes() for name, path in sorted(programs.items())}
    elf = [name for name, data in found.items() if data[:4] == b"\x7fELF" and stand_in_draws.debug_sections(data)]
    while goes_on():
        name = rng.choice(elf)
        (where / "damaged").write_bytes(stand_in_draws.damage(rng, found[name]))
        compare(pair, counts, name, stand_in_draws.DRAWS[dialect](rng, dialect, "damaged", ranges[name], inputs), where)


def fuzz(dialect, runs, seed, folder, out=sys.stdout, only=None, files=(), kept=False, inputs=10, seconds=float("inf"), damaged=False):
    """The counts; prints the first differences."""
    folder = pathlib.Path(folder)
    programs = {} if files else stand_in_programs.build(folder / "programs", only)
    programs |= {str(pathlib.Path(path).resolve()): pathlib.Path(path) for path in files}
    pair, counts, rng = stand_in_pairs.Pair(dialect, folder), Counts(out), random.Random(seed)
    if pair.is_missing:
        sys.exit(f"{stand_in_pairs.TOOLS[dialect]} is missing")
    if kept:
        programs = make_large(pair, programs, folder)
    ranges = {name: stand_in_draws.code_addresses(path) for name, path in programs.items()}
    where = folder / "programs"
    where.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds

    def goes_on():
        return counts.runs < runs and time.monotonic() < end

    if dialect == "llvm-gsymutil":
        fuzz_gsymutil(pair, counts, rng, goes_on, sorted(programs), ranges, where, inputs)
    if damaged:
        fuzz_damaged(pair, counts, rng, goes_on, programs, ranges, where, dialect, inputs)
    while goes_on():
        name = rng.choice(sorted(programs))
        compare(pair, counts, name, stand_in_draws.DRAWS[dialect](rng, dialect, name, ranges[name], inputs), where)
    print(f"{dialect}: {counts.runs} runs, {counts.differences} differences {dict(counts.by_program)}, "
          f"explained {dict(counts.explained)}", file=out, flush=True)
    return counts


def save(path, args, counts, seconds):
    """Adds a row to the result file."""
    version = subprocess.run([stand_in_pairs.CALLSIGN, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    tool = subprocess.run([stand_in_pairs.TOOLS[args.dialect], "--version"], capture_output=True, text=True, check=True).stdout
    tool = next(line for line in tool.split("\n") if any(c.isdigit() for c in line)).strip()
    row = {"dialect": args.dialect, "tool": tool, "callsign": version, "commit": commit(), "date": datetime.date.today().isoformat(), "seed": args.seed, "damage": args.damage,
           "seconds": round(seconds), **counts.as_json()}
    with pathlib.Path(path).open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # others may add theirs
        file.seek(0)
        text = file.read()
        found = json.loads(text) if text else {"command": "tests/cli/fuzz_stand_ins.py --save FILE DIALECT RUNS", "rows": []}
        found["rows"].append(row)
        file.truncate(0)
        file.write(json.dumps(found, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default="/tmp/stand-ins")
    parser.add_argument("--programs")
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--save")
    parser.add_argument("--damage", action="store_true")
    parser.add_argument("dialect", choices=sorted(stand_in_pairs.TOOLS))
    parser.add_argument("runs", type=int)
    args = parser.parse_args()
    start = time.monotonic()
    counts = fuzz(args.dialect, args.runs, args.seed, args.folder, only=set(args.programs.split(",")) if args.programs else None,
                  files=args.file, kept=args.kept, inputs=args.inputs, seconds=args.seconds, damaged=args.damage)
    if args.save:
        save(args.save, args, counts, time.monotonic() - start)
    sys.exit(counts.differences > 0)


if __name__ == "__main__":
    main()
