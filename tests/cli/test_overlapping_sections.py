"""Sections of which thousands share the same bytes: what is read of them must not take more memory than the file has room for."""
import struct
import subprocess

import pytest

from programs import within_memory

MEMORY = 512 << 20
TEXT, POINTERS, IRELATIVE = 0x400000, 0x500000, 42
NAMES = {".plt": 1, ".rel.plt": 6, ".shstrtab": 15, ".symtab": 25}
PROGBITS, SYMTAB, STRTAB, REL, ALLOC, EXEC = 1, 2, 3, 9, 2, 4


def i386_library(slots, tables):
    """Of 32 bits: relocations that fill `slots` pointers by functions that choose one, and so many `.plt` sections over them."""
    body, rows = bytearray(52), [None]

    def section(name, kind, flags, addr, content, link=0, info=0, entry=0):
        rows.append((NAMES[name], kind, flags, addr, len(body), len(content), link, info, 4, entry))
        body.extend(content + bytes(-len(content) % 4))

    section(".shstrtab", STRTAB, 0, 0, b"\0" + b"\0".join(name.encode() for name in NAMES) + b"\0")
    section(".rel.plt", REL, ALLOC, 0x1000, b"".join(struct.pack("<II", POINTERS + 4 * k, IRELATIVE) for k in range(slots)), entry=8)
    section(".shstrtab", STRTAB, 0, 0, b"\0f\0")
    section(".symtab", SYMTAB, 0, 0, bytes(16) + struct.pack("<IIIBBH", 1, TEXT, 16, 0x12, 0, 5), link=3, info=1, entry=16)
    section(".plt", PROGBITS, ALLOC | EXEC, TEXT, bytes(16))
    section(".plt", PROGBITS, ALLOC | EXEC, POINTERS, bytes(4 * slots))
    rows += rows[-1:] * (tables - 1)
    rows[0] = (0, 0, 0, 0, 0, len(rows), 1, 0, 0, 0)
    body[:52] = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 3, 3, 1, 0, 0, len(body), 0, 52, 32, 0, 40, 0, 0xffff)
    return bytes(body) + b"".join(struct.pack("<10I", *row) for row in rows)


@pytest.mark.parametrize("tables", [1, 3000])
def test_tables_of_stubs(callsign, tmp_path, tables):
    """3,000 tables over 8,000 pointers were 24 million stubs."""
    (tmp_path / "library").write_bytes(i386_library(8000, tables))
    subprocess.run([*within_memory(callsign.path, MEMORY), callsign.path, "convert", "--quiet", tmp_path / "library", "-o", tmp_path / "index"],
                   check=True, timeout=120)
    names = callsign.good("lookup", tmp_path / "index", hex(TEXT), hex(POINTERS), hex(POINTERS + 4 * 7999))
    assert "f + 0" in names and names.count("*ABS*+0x0@plt + 0") == 2
