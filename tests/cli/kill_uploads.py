"""Kills a server again and again while files are uploaded: what was acknowledged must be there, whole; what was not, whole or not at all."""
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
import urllib.parse

SENDERS, TOKEN = 3, "t"
# Small files, and one that takes several writes.
LINES = (20, 200, 3000, 60000)


def symbol_file(number):
    rng = random.Random(number)
    return (f"MODULE Linux x86_64 {number:032X}0 kill{number}\nFUNC 1000 10 0 work{number}\n1000 10 7 0\n" +
            "".join(f"PUBLIC {0x2000 + 16 * i:x} 0 name{rng.getrandbits(32)}\n" for i in range(LINES[number % len(LINES)]))).encode()


def start_server(program, store, tokens):
    process = subprocess.Popen([str(program), "serve", "--store", str(store), "--listen", "127.0.0.1:0", "--log-level", "none",
                                "--upload-token-file", str(tokens)], stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert line.startswith("listening on"), line
    return process, urllib.parse.urlsplit(line.split()[-1]).port


class Uploader(threading.Thread):
    """Sends numbered files until the connection breaks."""

    def __init__(self, port, numbers):
        super().__init__()
        self.port, self.numbers = port, numbers
        self.acknowledged, self.begun = [], []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            while True:
                number = next(self.numbers)
                self.begun.append(number)
                connection.request("PUT", f"/v1/store/kill{number}.sym", symbol_file(number), {"Authorization": f"Bearer {TOKEN}"})
                answer = connection.getresponse()
                answer.read()
                if answer.status == 201:
                    self.acknowledged.append(number)
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()


class Numbers:
    def __init__(self):
        self.lock, self.last = threading.Lock(), 0

    def __next__(self):
        with self.lock:
            self.last += 1
            return self.last


def kill_once(program, store, tokens, numbers, least, seconds):
    """One life of the server: its end comes `seconds` after `least` uploads were acknowledged. Returns what was begun, what acknowledged."""
    process, port = start_server(program, store, tokens)
    uploaders = [Uploader(port, numbers) for _ in range(SENDERS)]
    for uploader in uploaders:
        uploader.start()
    while sum(len(uploader.acknowledged) for uploader in uploaders) < least and all(uploader.is_alive() for uploader in uploaders):
        time.sleep(0.001)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    for uploader in uploaders:
        uploader.join()
    return [n for u in uploaders for n in u.begun], [n for u in uploaders for n in u.acknowledged]


def read_back(port, numbers):
    """(lost, half): numbers that are not served, and those that are served with other bytes or another status than 404."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    lost, half = [], []
    for number in numbers:
        connection.request("GET", f"/kill{number}/{number:032X}0/kill{number}.sym")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status == 404:
            lost.append(number)
        elif answer.status != 200 or body != symbol_file(number):
            half.append(number)
    connection.close()
    return lost, half


def names_are_served(port, numbers):
    """Symbolication of what was uploaded, by v5."""
    body = {"memoryMap": [[f"kill{n}", f"{n:032X}0"] for n in numbers], "stacks": [[[i, 0x1004] for i in range(len(numbers))]]}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/symbolicate/v5", json.dumps(body))
    frames = json.loads(connection.getresponse().read())["results"][0]["stacks"][0]
    connection.close()
    return [frame.get("function") for frame in frames] == [f"work{n}" for n in numbers]


def run_kills(program, folder, kills, seed, longest_s=0.3):
    """The counts of a whole run. `lost` and `half` must be empty, `fsck` 0."""
    folder = pathlib.Path(folder)
    tokens, store = folder / "tokens", folder / "store"
    tokens.write_text(TOKEN + "\n")
    rng, numbers = random.Random(seed), Numbers()
    begun, acknowledged = [], []
    for _ in range(kills):
        some_begun, some_acknowledged = kill_once(program, store, tokens, numbers, rng.randrange(4), rng.random() * longest_s)
        begun += some_begun
        acknowledged += some_acknowledged
    process, port = start_server(program, store, tokens)
    try:
        lost, half = read_back(port, acknowledged)
        unanswered = sorted(set(begun) - set(acknowledged))
        absent, half_of_unanswered = read_back(port, unanswered)
        is_named = not acknowledged or names_are_served(port, acknowledged[:20])
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
    fsck = subprocess.run([str(program), "store", "fsck", "--store", str(store)], capture_output=True, text=True)
    leftovers = os.listdir(store / ".callsign" / "incoming")
    return {"kills": kills, "seed": seed, "begun": len(begun), "acknowledged": len(acknowledged), "lost": lost, "half": half + half_of_unanswered,
            "unanswered": len(unanswered), "unanswered_that_are_whole": len(unanswered) - len(absent), "names": is_named,
            "fsck": fsck.returncode, "fsck_output": fsck.stdout, "leftovers": leftovers}
