"""Inputs and targets that cannot work: one clear line on stderr, exit status 2, an older output untouched."""
import copy
import os
import resource

import pytest

from programs import need

READERS = [["lookup", "{}", "12"], ["dump", "{}"], ["verify", "{}"], ["diff", "{}", "{}"], ["stats", "{}"],
           ["convert", "-o", "out", "{}"]]


def write(path, data):
    path.write_bytes(data)
    return path


def make_input(kind, folder, shapes):
    path = folder / "input"
    elf = shapes.path.read_bytes()
    if kind == "missing":
        return path
    if kind == "directory":
        path.mkdir()
        return path
    if kind == "dangling link":
        path.symlink_to(folder / "nowhere")
        return path
    return write(path, {
        "empty": b"",
        "one byte": b"\x7f",
        "text": b"Not an object at all.\n",
        "random bytes": bytes((i * 7919 >> 3) & 255 for i in range(5000)),
        "ELF magic alone": elf[:4],
        "cut in the ELF header": elf[:40],
        "cut after the ELF header": elf[:64],
        "cut in the middle": elf[:len(elf) // 2],
        "cut at the end": elf[:-100],
        "ELF class 7": elf[:4] + b"\x07" + elf[5:],
        "ELF class 32": elf[:4] + b"\x01" + elf[5:],
        "ELF byte order 9": elf[:5] + b"\x09" + elf[6:],
        "GSYM magic alone": b"MYSG",
        "GSYM version 9": b"MYSG\x09\0" + bytes(100),
        "GSYM cut in its tables": b"MYSG\1\0\4\0" + bytes(8) + b"\xff\xff\xff\x0f" + bytes(28),
    }[kind])


KINDS = ["missing", "directory", "dangling link", "empty", "one byte", "text", "random bytes", "ELF magic alone",
         "cut in the ELF header", "cut after the ELF header", "cut in the middle", "cut at the end", "ELF class 7",
         "ELF class 32", "ELF byte order 9", "GSYM magic alone", "GSYM version 9", "GSYM cut in its tables"]


@pytest.mark.parametrize("args", READERS, ids=lambda args: args[0])
@pytest.mark.parametrize("kind", KINDS)
def test_unusable_input(callsign, shapes, tmp_path, kind, args):
    path = make_input(kind, tmp_path, shapes)
    work = tmp_path / "work"
    work.mkdir()
    (work / "out").write_text("old")
    line = callsign.bad(*[a.format(path) for a in args], cwd=work)
    assert line.startswith(f"callsign: {path}: ")
    assert len(line) > len(f"callsign: {path}: ") + 5
    assert (work / "out").read_text() == "old"
    assert [p.name for p in work.iterdir()] == ["out"]


@pytest.fixture
def unprivileged(callsign):
    """The command without root's right to pass over permissions, so that root can run these tests too."""
    if os.geteuid() != 0:
        return callsign
    wrapped = copy.copy(callsign)
    wrapped.prefix = [need("setpriv"), "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    return wrapped


def test_unreadable_input(unprivileged, shapes, tmp_path):
    path = write(tmp_path / "input", shapes.path.read_bytes())
    path.chmod(0)
    for args in READERS:
        assert unprivileged.bad(*[a.format(path) for a in args], cwd=tmp_path).endswith("Permission denied")


@pytest.mark.parametrize("target, message", [
    ("no/such/folder/out", "No such file or directory"),
    ("file/out", "Not a directory"),
    ("folder", "directory"),
    ("", "empty"),
])
def test_unwritable_target(callsign, shapes, tmp_path, target, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    line = callsign.bad("convert", "-q", shapes.path, "-o", target, cwd=tmp_path)
    assert message in line
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]
    assert not list((tmp_path / "folder").iterdir())


def test_read_only_folder(unprivileged, shapes, tmp_path):
    tmp_path.chmod(0o555)
    assert unprivileged.bad("convert", "-q", shapes.path, "-o", tmp_path / "out").endswith("Permission denied")
    tmp_path.chmod(0o755)


@pytest.mark.parametrize("limit", [0, 100, 500])
def test_full_disk(callsign, shapes, tmp_path, limit):
    """A limit on the size of files stands for the full disk: writing fails in the same place, without a file system."""
    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    out = tmp_path / "out"
    out.write_text("old")
    line = callsign.bad("convert", "-q", shapes.path, "-o", out, preexec_fn=no_room)
    assert line.endswith("File too large")
    assert out.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.plain_build
def test_little_memory(callsign, shapes, tmp_path):
    """Out of memory is a failure like any other."""
    def little():
        resource.setrlimit(resource.RLIMIT_AS, (24 << 20, 24 << 20))

    if callsign.run("--version", preexec_fn=little).returncode:
        pytest.skip("the command does not even start with this little memory (a sanitizer build)")
    done = callsign.run("convert", "-q", "--threads=1", shapes.path, "-o", tmp_path / "out", preexec_fn=little)
    assert done.returncode in (0, 2), done.stderr
    assert (done.returncode == 0) == (tmp_path / "out").exists()
