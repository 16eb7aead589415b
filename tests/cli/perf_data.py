"""Writes perf.data files with branch records, which few machines can record: what perf prints of them is real."""
import struct

MISPREDICTED, PREDICTED, IN_TX, ABORT = 1, 2, 4, 8
IP, TID, TIME, CHAIN, PERIOD, BRANCH_STACK = 1, 2, 4, 32, 256, 2048
# Of --data --phys-data --data-page-size --code-page-size: what stands before the period, and what stands behind the branches
ADDRESS, AT_DATA = 8, 1 << 14 | 1 << 15 | 1 << 19 | 1 << 22 | 1 << 23
IN_USER = 2**64 - 512  # what follows in a chain
SAMPLE_TYPE = IP | TID | TIME | PERIOD | BRANCH_STACK


def _record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def _text(text, room=0):
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8 + room)


def write(path, pid, command, maps, samples, chain=(), memory=()):
    """maps: [(start, size, file offset, path)]; samples: [(time in ns, ip, [(from, to, flags, cycles)])] newest branch first; chain: pcs
    that all samples have, the innermost first; memory: the address, weight, source, physical address and the two page sizes of each."""
    # What ends each record, as sample_id_all has it: process, thread, time
    data = _record(3, 0x2000, struct.pack("<II", pid, pid) + _text(command) + struct.pack("<IIQ", pid, pid, 0))
    for start, size, offset, name in maps:
        body = struct.pack("<IIQQQIIQQII", pid, pid, start, size, offset, 8, 1, 12, 0, 5, 2) + _text(str(name))
        data += _record(10, 2, body + struct.pack("<IIQ", pid, pid, 0))
    for time, ip, branches in samples:
        body = struct.pack("<QIIQ", ip, pid, pid, time) + struct.pack(f"<{len(memory[:1]) + 1}Q", *memory[:1], 1)
        body += struct.pack(f"<{len(chain) + 2}Q", len(chain) + 1, IN_USER, *chain) if chain else b""
        body += struct.pack("<Q", len(branches))
        body += b"".join(struct.pack("<QQQ", source, target, flags | cycles << 4) for source, target, flags, cycles in branches)
        body += struct.pack(f"<{len(memory[1:])}Q", *memory[1:])
        data += _record(9, 2, body)
    kind = SAMPLE_TYPE | (CHAIN if chain else 0) | (ADDRESS | AT_DATA if memory else 0)
    # perf_event_attr: hardware, cycles; exclude_kernel, sample_id_all, comm, mmap2; branches of users, any
    flags = 1 << 5 | 1 << 9 | 1 << 18 | 1 << 23
    attr = struct.pack("<IIQQQQQIIQQQQ", 0, 128, 0, 1, kind, 4, flags, 0, 0, 0, 0, 1 | 8, 0).ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    head = struct.pack("<8sQQQQQQQQQQQQ", b"PERFILE2", 104, len(attr), 104, len(attr), 104 + len(attr), len(data), 0, 0, 0, 0, 0, 0)
    path.write_bytes(head + attr + data)
