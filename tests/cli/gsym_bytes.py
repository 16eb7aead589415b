"""Just enough of GSYM version 1 to damage an index in a chosen place."""
import struct


class Bytes:
    def __init__(self, path):
        self.path = path
        self.data = bytearray(path.read_bytes())
        magic, version, self.width, _uuid, _base, self.count, self.strings, self.strings_size = \
            struct.unpack_from("<IHBBQIII", self.data)
        assert (magic, version) == (0x4753594D, 1)
        self.base, self.address_table = _base, -(-48 // self.width) * self.width
        table = self.address_table + self.count * self.width
        self.info_table = -(-table // 4) * 4

    def start(self, idx):
        at = self.address_table + idx * self.width
        return self.base + int.from_bytes(self.data[at:at + self.width], "little")

    def record(self, idx):
        return struct.unpack_from("<I", self.data, self.info_table + 4 * idx)[0]

    def name(self, idx):
        offset = self.strings + struct.unpack_from("<I", self.data, self.record(idx) + 4)[0]
        return bytes(self.data[offset:self.data.index(0, offset)]).decode()

    def find(self, name):
        return next(idx for idx in range(self.count) if self.name(idx) == name)

    def put_u32(self, offset, value):
        struct.pack_into("<I", self.data, offset, value)

    def rename(self, old, new):
        """A string for another one of the same length: names that no compiler would write."""
        old, new = old.encode(), new.encode()
        assert len(old) == len(new)
        at = self.data.index(old + b"\0", self.strings)
        self.data[at:at + len(new)] = new

    def save(self):
        self.path.write_bytes(self.data)
