"""Protocol buffers in a few lines: messages as lists of (field, value), for profiles that the tests write and read."""
import gzip


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def message(*fields):
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def packed(values):
    return b"".join(map(varint, values))


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    at, out = 0, []
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert tag & 7 == 2, tag
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        out.append((tag >> 3, value))
    return out


def unpack(data):
    at, out = 0, []
    while at < len(data):
        value, at = read_varint(data, at)
        out.append(value - (1 << 64) if value >> 63 else value)
    return out


class Pprof:
    """What a pprof file says, its numbers resolved."""

    def __init__(self, data):
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        self.strings = [value.decode() for number, value in fields(data) if number == 6]
        tables = {number: [dict_of(value) for n, value in fields(data) if n == number] for number in (1, 2, 3, 4, 5)}
        self.types = [(self.text(t, 1), self.text(t, 2)) for t in tables[1]]
        self.mappings = {m[1][0]: {"start": one(m, 2), "end": one(m, 3), "off": one(m, 4), "file": self.text(m, 5),
                                   "build_id": self.text(m, 6)} for m in tables[3]}
        self.functions = {f[1][0]: {"name": self.text(f, 2), "system": self.text(f, 3), "file": self.text(f, 4)} for f in tables[5]}
        self.locations = {}
        for location in tables[4]:
            lines = [dict_of(line) for line in location.get(4, [])]
            self.locations[location[1][0]] = {
                "address": one(location, 3), "mapping": self.mappings.get(one(location, 2)), "folded": bool(one(location, 5)),
                "lines": [(self.functions[one(line, 1)]["name"], self.functions[one(line, 1)]["file"], one(line, 2)) for line in lines]}
        self.samples = [([self.locations[i] for i in unpack(s.get(1, [b""])[0])], unpack(s[2][0]),
                         [self.label(dict_of(label)) for label in s.get(3, [])]) for s in tables[2]]

    def text(self, table, field):
        return self.strings[one(table, field)]

    def label(self, label):
        return self.text(label, 1), self.text(label, 2) or one(label, 3)

    def names(self):
        """{names of a stack, innermost first, inlined calls too: values}"""
        out = {}
        for locations, values, _ in self.samples:
            key = tuple(line[0] for location in locations for line in location["lines"] or [(hex(location["address"]),)])
            out[key] = [a + b for a, b in zip(out.get(key, [0] * len(values)), values)]
        return out


def dict_of(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def one(table, field):
    return table.get(field, [0])[0]


def pprof(samples, mappings, types=(("samples", "count"),), functions=(), labels=None):
    """samples: [([address, ...], [value, ...])]; mappings: [(start, end, off, file, build_id)]."""
    strings = [""]

    def string(text):
        if text not in strings:
            strings.append(text)
        return strings.index(text)

    out = b"".join(message((1, message((1, string(a)), (2, string(b))))) for a, b in types)
    addresses = sorted({address for stack, _ in samples for address in stack})
    for i, (stack, values) in enumerate(samples):
        label = [(3, message((1, string(k)), (2, string(v)))) for k, v in (labels or {}).get(i, ())]
        out += message((2, message((1, packed(addresses.index(a) + 1 for a in stack)), (2, packed(values)), *label)))
    for i, (start, end, off, file, build_id) in enumerate(mappings):
        out += message((3, message((1, i + 1), (2, start), (3, end), (4, off), (5, string(file)), (6, string(build_id)))))
    for i, address in enumerate(addresses):
        mapping = next((k + 1 for k, m in enumerate(mappings) if m[0] <= address < m[1]), 0)
        out += message((4, message((1, i + 1), (2, mapping), (3, address))))
    return out + b"".join(message((6, text)) for text in strings)
