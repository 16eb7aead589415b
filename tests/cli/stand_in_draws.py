"""Random command lines and inputs for the stand-ins and the tools that they stand in for."""

import collections
import mmap
import struct

# inputs: texts of standard input, one after the other in one process. Empty: the requests stand in the arguments.
Draw = collections.namedtuple("Draw", "arguments inputs")


# ---- addresses ----

def elf_sections(data):
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    shoff = struct.unpack_from(order + ("Q" if wide else "I"), data, 40 if wide else 32)[0]
    entry, count = struct.unpack_from(order + "HH", data, 58 if wide else 46)
    for i in range(count):
        at = shoff + i * entry
        flags, addr, _, size = struct.unpack_from(order + ("QQQQ" if wide else "IIII"), data, at + 8)
        if flags & 2 and size:
            yield from [(addr, size)] * (7 if flags & 4 else 1)


def code_addresses(path):
    """(start, size) of sections that hold something at run time, those with code several times."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    if data[:4] == b"\x7fELF":
        return list(elf_sections(data)) or [(0, 0x1000)]
    if data[:4] == b"\xcf\xfa\xed\xfe" and struct.unpack_from("<I", data, 12)[0] == 2:  # an executable Mach-O file
        return [(0x100000000, 0x3000), (0x100000200, 0x400)]
    if data[:2] == b"MZ":
        return [(0x140001000, 0x2000), (0x401000, 0x2000)]
    return [(0, 0x800)]


def debug_sections(data):
    """(offset, size) of an ELF file's sections of DWARF."""
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    shoff = struct.unpack_from(order + ("Q" if wide else "I"), data, 40 if wide else 32)[0]
    entry, count, names = struct.unpack_from(order + "HHH", data, 58 if wide else 46)
    headers = [struct.unpack_from(order + ("IIQQQQ" if wide else "IIIIII"), data, shoff + i * entry) for i in range(count)]
    text = headers[names][4]
    return [(header[4], header[5]) for header in headers if header[5] and data[text + header[0]:].startswith(b".debug_")]


def damage(rng, data):
    """A copy with a part of its DWARF changed: a byte, a few, or all to the end of a section."""
    offset, size = rng.choice(debug_sections(data))
    at = rng.randrange(min(size, 32) if rng.random() < 0.4 else size)
    length = min(size - at, rng.choice([1, 1, 1, 1, 1, 4, 4, rng.randrange(1, 64), rng.randrange(1, 64), size]))
    made = bytearray(data)
    made[offset + at:offset + at + length] = rng.choice([b"\0" * length, b"\xff" * length, rng.randbytes(length)])
    return bytes(made)


ODD = ["", "0", "zz", "1173zz", "0x", "0x1173 foo", "abc", "main", "main+4", "top+010", "top + 3", "main-4", "nosuch", "nosuch+1", "-1",
       "ffffffffffffffff", "0xffffffffffffffff", "18446744073709551616", "  1139", "\t1139", ",", "+", "+0x1173", "+0x", "x" * 98, "1" * 150, "gvar", "_ZN2ns1S4areaEv",
       "ns::S::area() const", "plain"]


def draw_address(rng, ranges):
    start, size = rng.choice(ranges)
    return start + rng.randrange(size + 4)


def draw_request(rng, ranges):
    if rng.random() < 0.1:
        return rng.choice(ODD)
    return rng.choice(["%x", "0x%x"]) % draw_address(rng, ranges)


def draw_inputs(rng, count, largest, make):
    """Inputs of a few lines each; the last one may end without a newline."""
    inputs = ["".join(make() + "\n" for _ in range(rng.randrange(1, largest))).encode() for _ in range(count)]
    if rng.random() < 0.1:
        inputs[-1] = inputs[-1][:-1]
    return inputs


def some(rng, options, chance):
    return [option for option in options if rng.random() < chance]


# ---- addr2line of binutils, eu-addr2line ----

def gnu_options(rng, name):
    options = some(rng, ("-a", "-f", "-i", "-p", "-s", "-C"), 0.5)
    if rng.random() < 0.3 and options:
        options = ["-" + "".join(o[1] for o in options)]
    if rng.random() < 0.05:
        options.append(rng.choice(["--demangle=none", "--demangle=auto", "--demangle=gnu-v3", "--demangle=rust", "--demangle=bad", "--demangle=java",
                                   "--demangle=gnat", "--demangle=dlang"]))
    if rng.random() < 0.06:
        options += ["-j", rng.choice([".text", ".init", ".data", ".bss", ".nosuch", ".text.startup"])]
    if rng.random() < 0.03:
        options += rng.choice([["-b", "elf64-x86-64"], ["-b", "nosuch"], ["--target=elf64-little"], ["-R"], ["-r"], ["--no-recurse-limit"]])
    if rng.random() < 0.02:
        options.append(rng.choice(["-q", "--nosuch", "-v", "--version", "-h", "--help", "-H", "-V", "--inl", "--a", "--re"]))
    return options + rng.choice([["-e", name], ["--exe=" + name], ["-e" + name]])


def eu_options(rng, name):
    options = some(rng, ("-a", "-f", "-i", "--pretty-print", "-s", "-C", "-S", "-x", "-A", "--relative", "-F"), 0.35)
    if rng.random() < 0.1:
        options += ["-j", rng.choice([".text", ".init", ".data", ".bss", ".nosuch"])]
    if rng.random() < 0.03:
        options += rng.choice([["-b", "elf64-x86-64"], ["--demangler=x"], ["--debuginfo-path=dbg"], ["--nosuch"], ["-q"], ["--pre"], ["--symb"]])
    return options + rng.choice([["-e", name], ["--executable=" + name], ["-e" + name]])


def draw_addr2line(rng, dialect, name, ranges, count):
    options = gnu_options(rng, name) if dialect == "addr2line" else eu_options(rng, name)
    if rng.random() < 0.1:
        requests = [draw_request(rng, ranges) for _ in range(rng.randrange(1, 40))]
        return Draw(options + ["--"] * (rng.random() < 0.1) + [r for r in requests if not r.startswith("-")], [])
    return Draw(options, draw_inputs(rng, count, 9, lambda: draw_request(rng, ranges)))


# ---- llvm-symbolizer, llvm-addr2line ----

LLVM_FLAGS = ("-a", "-f", "-i", "-p", "-s", "-C", "--verbose", "--relativenames", "--no-inlines", "--no-demangle", "-f=none", "-f=short",
              "-f=linkage", "--skip-line-zero", "--relative-address", "--addresses", "--basenames", "-demangle=true", "-demangle=false",
              "--inlining=false", "--inlining", "--inlining=true", "--print-address", "--no-untag-addresses", "--pretty-print", "--functions",
              "--functions=short", "--demangle", "--inlines")
LLVM_RARE = ("--default-arch=x86_64", "--default-arch=arm64", "--default-arch=zz", "--cache-size=100", "--dia", "--no-debuginfod", "--disable-gsym",
             "--dwp=nosuch.dwp", "--fallback-debug-path=dbg", "--debug-file-directory=dbg", "--dsym-hint=x.dSYM", "--color", "--color=never",
             "--gsym-file-directory=gs", "--functions=zz", "--output-style=zz", "-sia", "-fpi", "--basename", "-inlines", "--obj=nosuch",
             "--color=zz")


def llvm_options(rng):
    options = some(rng, LLVM_FLAGS, 0.1)
    if rng.random() < 0.1:
        options.append(rng.choice(LLVM_RARE))
    if rng.random() < 0.5:
        options.append("--output-style=" + rng.choice(["LLVM", "GNU", "JSON"]))
    if rng.random() < 0.1:
        options.append("--adjust-vma=" + rng.choice(["0x10", "16", "0"]))
    if rng.random() < 0.15:
        options.append("--print-source-context-lines=%d" % rng.choice([1, 2, 3, 5, 8]))
    return options


PRINTS_ADDRESS = {"-a", "--addresses", "--print-address", "-sia"}


MARKUP_NUMBERS = ["0", "1", "2", "0x0", "0x1", "zz", "-1", "", "0x10000000000000000", "18446744073709551615", "07", " 1", "1 "]
MARKUP_WORDS = ["pc", "ra", "load", "elf", "pe", "app", "lib", "r", "rx", "rwx", "xr", "q", "file", "abcdef0123456789", "aabb", "abc", "ABCDEF0123456789", "_ZN3foo3barEv",
                "_Z1fv", "plain", "main", "_RNvC1a1b", "a b", "}", "{", "\033[1m"]
MARKUP_TEXTS = ["", " ", "at ", "[1.2] ", "\033[31m", "\033[0m", "\033[1m", "\033[1;31m", "\033[42m", "{{", "}}}", "{{{", "{{{pc", "text\t", "\r", "\xe9", "::"]
MARKUP_START = 0x7f0000000000
CODE_OF_CC_BUILDID = [(0x1000, 0x1500), (0x4d00, 0x100)]


def draw_markup_element(rng):
    """Mostly a sound one, of a few modules and their ranges; else any fields."""
    place = "0x%x" % (MARKUP_START + rng.randrange(3) * 0x10000 + draw_address(rng, CODE_OF_CC_BUILDID))
    module = rng.randrange(3)
    build_id = rng.choice(["abcdef0123456789"] * 3 + ["0011"])
    sound = [f"module:{module}:{rng.choice(['app', 'lib', ''])}:elf:{build_id}",
             f"mmap:0x{MARKUP_START + module * 0x10000:x}:0x{rng.choice([0x8000, 0x10000, 0x10]):x}:load:{module}:{rng.choice(['r', 'rx', 'rwx'])}:"
             f"{rng.choice(['0', '0x0', '0x1000'])}",
             f"pc:{place}", f"pc:{place}", f"pc:{place}:{rng.choice(['ra', 'pc'])}", f"bt:{rng.randrange(12)}:{place}", f"bt:{rng.randrange(3)}:{place}:ra", f"bt:0:{place}:pc",
             f"data:{place}", f"symbol:{rng.choice(MARKUP_WORDS)}", "reset", "dumpfile:a:b"]
    if rng.random() < 0.7:
        return "{{{" + rng.choice(sound) + "}}}"
    fields = [rng.choice(["pc", "bt", "data", "symbol", "module", "mmap", "reset", "Pc", "", "hexdict"])]
    fields += [rng.choice([rng.choice(MARKUP_NUMBERS), rng.choice(MARKUP_WORDS), place]) for _ in range(rng.randrange(7))]
    return "{{{" + ":".join(fields) + "}}}"


def draw_markup(rng, count):
    """Logs for --filter-markup."""
    options = ["--filter-markup", *some(rng, ("--debug-file-directory=dbg", "--debug-file-directory=dbg", "--debug-file-directory=dbg", "--color=always", "--color",
                                              "--color=never", "--no-demangle", "--basenames", "--no-inlines", "-p", "--output-style=GNU", "--relativenames"), 0.3)]

    def line():
        return "".join(rng.choice([rng.choice(MARKUP_TEXTS), draw_markup_element(rng)]) for _ in range(rng.randrange(1, 5)))

    return Draw(options, draw_inputs(rng, count, 12, line))


def draw_llvm(rng, _dialect, name, ranges, count):
    if rng.random() < 0.08:
        return draw_markup(rng, count)
    options = llvm_options(rng)
    prints_address = bool(PRINTS_ADDRESS & set(options))
    has_object = rng.random() < 0.6
    if has_object:
        options.append("--obj=" + name)

    def request():
        text = draw_request(rng, ranges)
        if prints_address and not text[:1].isdigit():  # LLVM prints an address that was never set
            text = "0"
        if has_object:
            return rng.choice(["", "", "", "", "CODE ", "DATA ", "FRAME "]) + text
        return rng.choice(["", "CODE ", "DATA ", "FRAME "]) + rng.choice([name, '"' + name + '"', "FILE:" + name, "nosuch"]) + " " + text

    if rng.random() < 0.1:
        requests = [request() for _ in range(rng.randrange(1, 40))]
        return Draw(options + [r for r in requests if r and not r.startswith("-")], [])
    return Draw(options, draw_inputs(rng, count, 9, request))


# ---- llvm-gsymutil ----

CALL_SITES = """functions:
  - name: main
    callsites:
      - return_offset: %d
        match_regex: [%s]
        flags: [%s]
"""


def draw_convert(rng, name, folder):
    """Options of a conversion."""
    options = ["--num-threads=1", f"--convert={name}", "--out-file=converted"]
    for option in ("--quiet", "--verify", "--merged-functions", "--dwarf-callsites", "--json-summary-file=converted.json", "--verbose", "--arch=x86_64"):
        if rng.random() < 0.25 and (option != "--verify" or name.startswith("c-")):  # it looks up every byte
            options.append(option)
    if rng.random() < 0.2:
        options.append("--segment-size=%d" % rng.choice([0, 1, 100, 1000, 5000, 100000]))
    if rng.random() < 0.15:
        text = CALL_SITES % (rng.randrange(64), rng.choice(["", "top", "a.*, b"]), rng.choice(["", "InternalCall", "InternalCall, ExternalCall", "Foo"]))
        (folder / "sites.yaml").write_text(rng.choice([text, text, text, "", text[:rng.randrange(len(text))].rsplit("\n", 1)[0] + "\n"]))
        options.append("--callsites-yaml-file=sites.yaml")
    return options


def draw_gsym_lookup(rng, name, ranges, count):
    """Options of looking into what a conversion left."""
    options = some(rng, ("--verbose", "--merged-functions"), 0.4)
    if rng.random() < 0.2:
        options += ["--merged-functions-filter=" + rng.choice(["a", "main", "^top$", "(", "zz", "first|second"])] * rng.randrange(1, 3)
    way = rng.random()
    if way < 0.05:
        return Draw([*options, name], [])
    if way < 0.2:
        addresses = [draw_address(rng, ranges) for _ in range(rng.randrange(1, 30))]
        return Draw([*options, name, *(f"--address={rng.choice(['0x%x', '%d'])}" % addr for addr in addresses)], [])
    odd = rng.choice([[], [], [], ["nosuch", ""]])  # such a line ends the run

    def line():
        return "0x%x %s" % (draw_address(rng, ranges), rng.choice([name] * 20 + odd))

    return Draw([*options, "--addresses-from-stdin"], draw_inputs(rng, count, 9, line))


DRAWS = {"addr2line": draw_addr2line, "eu-addr2line": draw_addr2line, "llvm-symbolizer": draw_llvm, "llvm-addr2line": draw_llvm}
