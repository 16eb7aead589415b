"""An ELF debug file whose .debug_info is larger than 4 GiB: many units of DWARF 5, 32-bit. Each has `functions` functions of 16 bytes of
code with one line each, whose names have `name_bytes` bytes, and typedefs of `filler_bytes` in all, which no index needs. The sections are
stored plain or compressed by zlib."""
import struct
import zlib

BASE, CODE_BYTES = 0x400000, 16
ABBREVIATIONS = bytes((
    1, 0x11, 1, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0,  # compile_unit: name, stmt_list, low_pc, high_pc (data4)
    2, 0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0,              # subprogram: name, low_pc, high_pc (data4)
    3, 0x16, 0, 0x03, 0x08, 0, 0,                                      # typedef: name
    0))


def name_of(function, name_bytes):
    return f"f{function:08x}_".ljust(name_bytes, "abcdefghijklmnopqrstuvwxyz"[function % 26])


def unit_of(unit, functions, name_bytes, filler, line_offset):
    low = BASE + unit * functions * CODE_BYTES
    dies = [b"\1unit%d.c\0" % unit, struct.pack("<IQI", line_offset, low, functions * CODE_BYTES)]
    for k in range(functions):
        name = name_of(unit * functions + k, name_bytes).encode()
        dies += [b"\2", name, b"\0", struct.pack("<QI", low + k * CODE_BYTES, CODE_BYTES)]
    body = b"".join([struct.pack("<HBBI", 5, 1, 8, 0), *dies, filler, b"\0"])
    return struct.pack("<I", len(body)) + body


def lines_of(unit, functions):
    """The line of a function is its number within the unit, from 1."""
    head = bytes((1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 8, 1)) + b"/src\0"
    head += bytes((2, 1, 8, 2, 0x0f, 2)) + 2 * (b"unit%d.c\0\0" % unit)
    low = BASE + unit * functions * CODE_BYTES
    # DW_LNS_copy, then as often: 16 bytes of code and one line further (a special opcode cannot: advance_pc, advance_line, copy).
    program = b"\0\x09\2" + struct.pack("<Q", low) + b"\1" + (functions - 1) * b"\2\x10\3\1\1" + b"\2\x10\0\1\1"
    body = struct.pack("<HBBI", 5, 8, 0, len(head)) + head + program
    return struct.pack("<I", len(body)) + body


class Section:
    """Streams into the file, compressed or not."""

    def __init__(self, out, compressed):
        self.out, self.start, self.size = out, out.tell(), 0
        self.packer = zlib.compressobj(1) if compressed else None
        if compressed:
            out.write(bytes(24))

    def add(self, data):
        self.size += len(data)
        self.out.write(self.packer.compress(data) if self.packer else data)

    def finish(self):
        """(offset, bytes in the file)"""
        if self.packer:
            self.out.write(self.packer.flush())
            end = self.out.tell()
            self.out.seek(self.start)
            self.out.write(struct.pack("<IIQQ", 1, 0, self.size, 1))
            self.out.seek(end)
        return self.start, self.out.tell() - self.start


def write(path, units, functions, name_bytes, filler_bytes, compressed=False):
    """Gives the bytes of .debug_info, inflated."""
    one = b"\3" + b"some::name::of::a::type::that::no::index::needs".ljust(98, b"_") + b"\0"
    filler = one * (filler_bytes // len(one))
    line_offsets = []
    names = b"\0.text\0.debug_abbrev\0.debug_info\0.debug_line\0.shstrtab\0"
    with open(path, "w+b") as out:
        out.write(bytes(64))
        table = [(b".text", 8, 6, BASE, 64, units * functions * CODE_BYTES)]
        for name, make in ((b".debug_abbrev", None), (b".debug_line", lines_of), (b".debug_info", unit_of)):
            section = Section(out, compressed)
            offsets = []
            if not make:
                section.add(ABBREVIATIONS)
            for unit in range(units) if make else ():
                offsets.append(section.size)
                section.add(lines_of(unit, functions) if make is lines_of else
                            unit_of(unit, functions, name_bytes, filler, line_offsets[unit]))
            if make is lines_of:
                line_offsets = offsets
            table.append((name, 1, 0x800 if compressed else 0, 0, *section.finish()))
            info_bytes = section.size
        table.append((b".shstrtab", 3, 0, 0, out.tell(), len(names)))
        out.write(names)
        headers = out.tell()
        out.write(bytes(64))
        for name, kind, flags, address, offset, size in table:
            out.write(struct.pack("<IIQQQQIIQQ", names.index(b"\0" + name + b"\0") + 1, kind, flags, address, offset, size, 0, 0, 1, 0))
        out.seek(0)
        out.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 0, headers, 0, 64, 56, 0, 64, len(table) + 1, len(table)))
    return info_bytes
