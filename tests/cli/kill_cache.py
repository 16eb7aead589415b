"""Kills `callsign cache add` at random moments: no damaged entry may ever be served, and a run to the end completes what is missing."""
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

# After so many kills the cache begins empty again.
KILLS_TO_A_CACHE = 4


class CacheKiller:
    def __init__(self, callsign, cache, paths, seed):
        self.callsign, self.cache, self.paths = str(callsign), pathlib.Path(cache), [str(path) for path in paths]
        self.rng = random.Random(seed)
        self.counts = {"entries": 0, "seconds_whole": 0, "kills": 0, "ended_before": 0, "entries_after_kills": 0, "damaged": [],
                       "compared": 0, "different": [], "completed": False, "leftovers": []}

    def command(self, *words):
        return subprocess.run([self.callsign, *map(str, words)], capture_output=True, text=True, check=False)

    def entries(self):
        done = self.command("cache", "list", "--json", "--cache-dir", self.cache)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def add(self):
        return self.command("cache", "add", "--offline", "--cache-dir", self.cache, *self.paths)

    def check_entries(self):
        if self.cache.exists():
            done = self.command("cache", "verify", "--cache-dir", self.cache)
            if done.returncode:
                self.counts["damaged"].append(done.stdout)

    def compare_one(self):
        """An entry against the file that it was made from: all its addresses."""
        entries = self.entries()
        if not entries:
            return
        entry = self.rng.choice(sorted(entries, key=lambda each: each["path"]))
        done = self.command("verify", entry["path"], "--against", entry["source"])
        self.counts["compared"] += 1
        if done.returncode or not re.search(r"\b0 different", done.stdout + done.stderr):
            self.counts["different"].append(entry["source"])

    def kill_once(self, longest):
        command = [self.callsign, "cache", "add", "--offline", "--quiet", "--cache-dir", str(self.cache), *self.paths]
        job = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(self.rng.uniform(0, longest))
        job.send_signal(signal.SIGKILL)
        self.counts["kills"] += 1
        self.counts["ended_before"] += job.wait() != -signal.SIGKILL

    def run(self, kills):
        start = time.monotonic()
        self.add()
        whole = time.monotonic() - start
        self.counts["entries"] = len(self.entries())
        self.counts["seconds_whole"] = round(whole, 2)
        for i in range(kills):
            if i % KILLS_TO_A_CACHE == 0:
                shutil.rmtree(self.cache, ignore_errors=True)
            self.kill_once(whole)
            self.check_entries()
            self.counts["entries_after_kills"] += len(list(self.cache.rglob("*.gsym")))
            if i % (2 * KILLS_TO_A_CACHE) == 2 * KILLS_TO_A_CACHE - 1: # before it is emptied, most kills have left entries
                self.compare_one()
        self.finish()
        return self.counts

    def finish(self):
        done = self.add()
        converted = re.match(r"(\d+) converted, (\d+) already there", done.stderr.splitlines()[-1])
        self.counts["last_run"] = {"converted": int(converted[1]), "already_there": int(converted[2])}
        self.check_entries()
        self.command("cache", "prune", "--cache-dir", self.cache)
        self.counts["completed"] = len(self.entries()) == self.counts["entries"]
        self.counts["leftovers"] = [str(path) for path in self.cache.rglob("*") if path.is_file() and path.suffix != ".gsym"]


def run_kills(callsign, cache, paths, kills, seed):
    return CacheKiller(callsign, cache, paths, seed).run(kills)


def is_good(counts):
    """Kills that come before the first entry show nothing: there must have been entries."""
    tried = counts["entries"] and counts["entries_after_kills"] > counts["kills"] and counts["compared"]
    return tried and counts["completed"] and not counts["damaged"] and not counts["different"] and not counts["leftovers"]
