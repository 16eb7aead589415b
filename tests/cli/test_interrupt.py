"""Conversions that are interrupted, killed, or run out of disk: under the target's name is the old file or the whole new one,
never a part of one. The input is the command itself, which has debug information and takes long enough.

CALLSIGN_KILLS: how many times to kill (40; `make check-full` 200)."""
import os
import random
import resource
import shutil
import signal
import subprocess
import time

import pytest

from programs import need

KILLS = int(os.environ.get("CALLSIGN_KILLS", "40"))
OLD = b"the old file"
KINDS = ["gsym", "gsym-v2", "bsym", "breakpad"]


class Conversion:
    def __init__(self, callsign, folder):
        self.callsign, self.folder = callsign, folder
        self.input = folder / "input"
        shutil.copyfile(callsign.path, self.input)
        self.work = folder / "work"
        self.work.mkdir()
        self.target = self.work / "out"
        # The quickest of some: measured while the machine is busy, it would be longer than the conversions that are to be met.
        self.seconds = min(self.measure() for _ in range(3))
        self.new = self.target.read_bytes()
        assert len(self.new) > 100000

    def measure(self):
        start = time.monotonic()
        self.start().communicate()
        return time.monotonic() - start

    def start(self, *options):
        self.clear()
        command = [*self.callsign.prefix, self.callsign.path, "convert", "-q", "--no-companions", *options, self.input,
                   "-o", self.target]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                # A check that runs in the background was started with SIGINT ignored.
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def clear(self):
        for path in self.work.iterdir():
            path.unlink()
        self.target.write_bytes(OLD)

    def others(self):
        """Names beside the target's."""
        return [path.name for path in self.work.iterdir() if path != self.target]

    def wait_for_temporary_file(self, process):
        while process.poll() is None and not self.others():
            pass
        return process.poll() is None


@pytest.fixture(scope="module")
def conversion(tmp_path_factory, callsign):
    return Conversion(callsign, tmp_path_factory.mktemp("interrupt"))


def end_by_signal(conversion, process, number):
    """Whether it came in time: then the old file is there, alone, and the process ended by the signal itself. A signal that
    comes when the new file has its name ends the process too."""
    try:
        process.send_signal(number)
    except ProcessLookupError:
        pass
    stderr = process.communicate(timeout=120)[1]
    assert conversion.others() == [], (number, stderr)
    content = conversion.target.read_bytes()
    assert content in (OLD, conversion.new), len(content)
    assert process.returncode in ((0, -number) if content == conversion.new else (-number,)), (process.returncode, stderr)
    return content == OLD


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_signal_removes_the_temporary_file(conversion, number, threads):
    interrupted = 0
    for part in range(8):
        process = conversion.start("-j", str(threads))
        time.sleep(conversion.seconds * (part + 1) / 10)
        interrupted += end_by_signal(conversion, process, number)
    assert interrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_a_signal_while_the_file_is_written(conversion, number):
    """From the moment on at which the temporary file is there."""
    caught = 0
    for _ in range(20):
        process = conversion.start()
        caught += conversion.wait_for_temporary_file(process)
        end_by_signal(conversion, process, number)
    assert caught


def test_killed_at_any_moment(conversion):
    chosen, killed, while_written = random.Random(1), 0, 0
    for round_ in range(KILLS):
        process = conversion.start("-j", str(1 + round_ % 3))
        if round_ % 2:
            while_written += conversion.wait_for_temporary_file(process)
            time.sleep(chosen.random() * conversion.seconds / 10)
        else:
            time.sleep(chosen.random() * conversion.seconds)
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        content = conversion.target.read_bytes()
        assert content in (OLD, conversion.new), f"round {round_}: {len(content)} bytes of neither file"
        assert process.returncode or content == conversion.new
    assert killed > KILLS // 4 and while_written
    process = conversion.start()
    process.communicate()
    assert process.returncode == 0 and conversion.target.read_bytes() == conversion.new


# ---- a disk that fills up ----

def check_full(conversion, process, message):
    stderr = process.communicate()[1].decode()
    assert process.returncode == 2, stderr
    assert len(stderr.splitlines()) == 1 and stderr.startswith("callsign: ") and stderr.endswith(message + "\n"), stderr


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.0, 0.3, 0.6, 0.99])
def test_a_limit_on_the_size_of_files(conversion, kind, part):
    process = conversion.start("--to", kind)
    process.communicate()
    limit = int(conversion.target.stat().st_size * part)

    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    conversion.clear()
    process = subprocess.Popen([conversion.callsign.path, "convert", "-q", "--no-companions", "--to", kind, conversion.input,
                                "-o", conversion.target], stderr=subprocess.PIPE, preexec_fn=set_limit)
    check_full(conversion, process, "File too large")
    assert conversion.target.read_bytes() == OLD and conversion.others() == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.05, 0.5, 0.95])
def test_a_small_file_system(conversion, kind, part):
    """A file system in memory, which a user namespace may mount without root."""
    process = conversion.start("--to", kind)
    process.communicate()
    size = int(conversion.target.stat().st_size * part)
    disk = conversion.folder / "disk"
    disk.mkdir(exist_ok=True)
    script = ('mount -t tmpfs -o size="$1" none "$2" || exit 77; cd "$2"; printf old >out; shift 2; "$@"; status=$?; '
              'test "$(cat out)" = old && test "$(ls -A)" = out || exit 3; exit $status')
    process = subprocess.Popen([need("unshare"), "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(size),
                                disk, conversion.callsign.path, "convert", "-q", "--no-companions", "--to", kind,
                                conversion.input, "-o", "out"], stderr=subprocess.PIPE)
    if process.wait() in (1, 77):
        pytest.skip("no file system can be mounted in a user namespace")
    check_full(conversion, process, "No space left on device")


@pytest.mark.parametrize("args", [["lookup", "{}", "0x1"], ["dump", "{}"], ["stats", "{}"], ["stats", "--json", "{}"],
                                  ["diff", "{}", "{other}"], ["--help"], ["--version"]], ids=" ".join)
def test_a_full_standard_output(conversion, index, shapes, callsign, tmp_path, args):
    other = tmp_path / "other.gsym"
    callsign.good("convert", "-q", callsign.path, "-o", other)
    words = [word.format(index, other=other) for word in args]
    if args[0] == "lookup":
        words[-1] = hex(shapes.mark("main"))
    with open("/dev/full", "wb") as full:
        done = callsign.run(*words, stdout=full)
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith("No space left on device\n") and len(done.stderr.splitlines()) == 1
