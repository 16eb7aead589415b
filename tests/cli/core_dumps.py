"""Writes the core dump of a running process, from /proc: what Linux dumps by default, and less."""

import pathlib
import re
import struct
import subprocess
from contextlib import contextmanager

PAGE = 4096
NOTE, LOAD = 4, 1
NT_AUXV, NT_FILE = 6, 0x46494c45


@contextmanager
def running(path, cwd=None):
    """The program, which prints a line when it has started, and waits."""
    with subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            process.kill()


def mappings(pid):
    """(start, end, permissions, offset, path)"""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        start, end, permissions, offset, path = re.match(r"(\w+)-(\w+) (\S+) (\w+) \S+ \S+ *(.*)", line).groups()
        yield int(start, 16), int(end, 16), permissions, int(offset, 16), path


def note(kind, content):
    return struct.pack("<III", 5, len(content), kind) + b"CORE\0\0\0\0" + content + bytes(-len(content) % 4)


def files_note(found):
    files = [mapping for mapping in found if mapping[4].startswith("/")]
    rows = b"".join(struct.pack("<QQQ", start, end, offset // PAGE) for start, end, _, offset, _ in files)
    return note(NT_FILE, struct.pack("<QQ", len(files), PAGE) + rows + b"".join(path.encode() + b"\0" for *_, path in files))


def contents(memory, mapping, headers):
    """What is dumped of a mapping: private memory, and the first page of a file."""
    start, end, permissions, offset, path = mapping
    size = end - start
    if path.startswith("/") and "w" not in permissions:
        size = PAGE if headers and not offset else 0
    if not permissions.startswith("r") or path in ("[vvar]", "[vvar_vclock]", "[vsyscall]"):
        size = 0
    memory.seek(start)
    return memory.read(size) if size else b""


def dump(pid, path, headers=True, auxv=True, files=True):
    """Without `headers` the first pages of files are left out, without the others a note."""
    found = [mapping for mapping in mappings(pid) if mapping[4] != "[vsyscall]"]
    notes = (note(NT_AUXV, pathlib.Path(f"/proc/{pid}/auxv").read_bytes()) if auxv else b"") + (files_note(found) if files else b"")
    notes += note(1, bytes(336))
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        parts = [contents(memory, mapping, headers) for mapping in found]
    begin = 64 + 56 * (len(found) + 1)
    at = (begin + len(notes) + PAGE - 1) // PAGE * PAGE
    table = struct.pack("<IIQQQQQQ", NOTE, 0, begin, 0, 0, len(notes), 0, 4)
    for (start, end, permissions, *_), part in zip(found, parts):
        flags = sum(bit for letter, bit in (("r", 4), ("w", 2), ("x", 1)) if letter in permissions)
        table += struct.pack("<IIQQQQQQ", LOAD, flags, at, start, 0, len(part), end - start, PAGE)
        at += len(part)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, len(found) + 1, 0, 0, 0)
    pathlib.Path(path).write_bytes((header + table + notes).ljust((begin + len(notes) + PAGE - 1) // PAGE * PAGE, b"\0") + b"".join(parts))


def segments(data):
    """(offset, address, size in the file, size in memory) of what was mapped."""
    for i in range(struct.unpack_from("<H", data, 56)[0]):
        kind, _, offset, addr, _, size, memory_size, _ = struct.unpack_from("<IIQQQQQQ", data, 64 + 56 * i)
        if kind == LOAD:
            yield offset, addr, size, memory_size
