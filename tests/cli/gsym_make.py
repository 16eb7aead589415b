"""Writes small GSYM version 1 files with merged functions and call sites, for tests that need to know every byte's truth."""
import struct

INTERNAL, EXTERNAL, TAIL = 1, 2, 64


class Strings:
    def __init__(self):
        self.data, self.places = bytearray(b"\0"), {"": 0}

    def add(self, text):
        if text not in self.places:
            self.places[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self.places[text]


def _part(kind, payload):
    return struct.pack("<II", kind, len(payload)) + payload


def _sites(strings, sites):
    """sites: [(return offset, flags, [pattern])]"""
    out = struct.pack("<I", len(sites))
    for offset, flags, patterns in sites:
        out += struct.pack("<QBI", offset, flags, len(patterns))
        out += b"".join(struct.pack("<I", strings.add(p)) for p in patterns)
    return out


def _inlined(strings, size, name, calls):
    """calls: [{offset, size, name, call_line}], none within another."""
    def block(offset, length, called, call_file, call_line, children):
        out = b"\x01" + _uleb(offset) + _uleb(length) + bytes([bool(children)]) + struct.pack("<I", strings.add(called))
        return out + _uleb(call_file) + _uleb(call_line) + (children + b"\0" if children else b"")

    inner = b"".join(block(c["offset"], c["size"], c["name"], 1, c["call_line"], b"") for c in calls)
    return block(0, size, name, 0, 0, inner)


def _record(strings, size, name, line, sites, merged, inlined=()):
    out = struct.pack("<II", size, strings.add(name))
    if line:
        rows = b"\x00\x01" + _uleb(line) + b"\x04\x00"
        out += _part(1, rows)
    if inlined:
        out += _part(2, _inlined(strings, size, name, inlined))
    if merged:
        children = [_record(strings, size, child["name"], child.get("line", 0), child.get("sites", []), [], child.get("inlined", []))
                    for child in merged]
        out += _part(3, struct.pack("<I", len(merged)) + b"".join(struct.pack("<I", len(child)) + child for child in children))
    if sites:
        out += _part(4, _sites(strings, sites))
    return out + struct.pack("<II", 0, 0)


def _uleb(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def write(path, functions, base=0x1000, build_id=b"", source=("/src", "main.cc")):
    """functions: [{start, size, name, line, sites, merged: [{name, line, sites, inlined}], inlined: [{offset, size, name, call_line}]}], by
    start."""
    strings = Strings()
    directory, file = strings.add(source[0]), strings.add(source[1])
    records, offsets = b"", []
    for f in functions:
        records += b"\0" * (-len(records) % 4)
        offsets.append(len(records))
        records += _record(strings, f["size"], f["name"], f.get("line", 0), f.get("sites", []), f.get("merged", []),
                           f.get("inlined", []))
    tables = struct.pack(f"<{len(functions)}I", *(f["start"] - base for f in functions))
    files = struct.pack("<IIIII", 2, 0, 0, directory, file)
    head_size = 48
    at_infos = head_size + len(tables)
    at_strings = at_infos + 4 * len(functions) + len(files)
    at_records = at_strings + len(strings.data) + (-(at_strings + len(strings.data)) % 4)
    infos = struct.pack(f"<{len(functions)}I", *(at_records + o for o in offsets))
    head = struct.pack("<IHBBQIII20s", 0x4753594d, 1, 4, len(build_id), base, len(functions), at_strings,
                       len(strings.data), build_id)
    data = head + tables + infos + files + strings.data
    data += b"\0" * (at_records - len(data)) + records
    path.write_bytes(data)
    return path
