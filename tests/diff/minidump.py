"""Writes minidumps of x86-64 Linux: one thread, its stack, and the modules of a process. Layout: Microsoft's MINIDUMP_ structures, with
Breakpad's CodeView record for build ids."""
import struct

REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
THREADS, MODULES, MEMORY, EXCEPTION, SYSTEM = 3, 4, 5, 6, 7
AMD64, LINUX, CONTEXT_ALL = 9, 0x8201, 0x10001f


class Dump:
    def __init__(self, streams):
        self.bytes = bytearray(32 + 12 * streams)
        self.directory = []

    def put(self, data):
        at = len(self.bytes)
        self.bytes += data + b"\0" * (-len(data) % 16)
        return len(data), at

    def text(self, string):
        data = string.encode("utf-16-le")
        return self.put(struct.pack("<I", len(data)) + data + b"\0\0")[1]

    def stream(self, kind, data):
        self.directory.append(struct.pack("<III", kind, *self.put(data)))

    def finish(self):
        struct.pack_into("<4sIIIIIQ", self.bytes, 0, b"MDMP", 0xa793, len(self.directory), 32, 0, 0, 0)
        self.bytes[32:32 + 12 * len(self.directory)] = b"".join(self.directory)
        return bytes(self.bytes)


def context(registers):
    head = struct.pack("<6Q2I6HI6Q", *[0] * 6, CONTEXT_ALL, 0, *[0] * 6, 0, *[0] * 6)
    return head + struct.pack("<17Q", *(registers[name] for name in REGISTERS)) + b"\0" * (512 + 26 * 16 + 48)


def minidump(registers, stack_start, stack, modules, signal=11, others=()):
    """modules: (name, start, size, build id). The registers and the bytes from stack_start on are those of the crashed thread; `others` are
    the registers of more threads, which have the same stack."""
    dump = Dump(5)
    stack_place = dump.put(stack)
    contexts = [dump.put(context(one)) for one in (registers, *others)]
    memory = struct.pack("<QII", stack_start, *stack_place)
    dump.stream(SYSTEM, struct.pack("<HHHBBIIIIIHH24s", AMD64, 6, 0, 1, 0, 0, 0, 0, LINUX, dump.text("Linux"), 0, 0, b""))
    threads = [struct.pack("<IIIIQ", 1 + number, 0, 0, 0, 0) + memory + struct.pack("<II", *place)
               for number, place in enumerate(contexts)]
    dump.stream(THREADS, struct.pack("<I", len(threads)) + b"".join(threads))
    dump.stream(MEMORY, struct.pack("<I", 1) + memory)
    dump.stream(EXCEPTION, struct.pack("<IIIIQQII15QII", 1, 0, signal, 0, 0, registers["rip"], 0, 0, *[0] * 15, *contexts[0]))
    records = []
    for name, start, size, build_id in modules:
        record = dump.put(struct.pack("<I", 0x4270454c) + build_id)
        records.append(struct.pack("<QIIII52sIIIIQQ", start, size, 0, 0, dump.text(name), b"", *record, 0, 0, 0, 0))
    dump.stream(MODULES, struct.pack("<I", len(records)) + b"".join(records))
    return dump.finish()
