"""Runs a tool and its stand-in with the same arguments and input, and compares what they print and how they end, byte for byte.

As a program: stand_in_pairs.py DIALECT RUNS [SEED] [FOLDER] draws random options, programs and requests, prints the first
differences and counts. $CALLSIGN names the command."""

import collections
import mmap
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import stand_in_programs

CALLSIGN = os.environ.get("CALLSIGN", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/callsign"))

Result = collections.namedtuple("Result", "code out err")


def run(command, stdin, cwd, env=None, timeout=60):
    done = subprocess.run(command, input=stdin, cwd=cwd, env=env, capture_output=True, timeout=timeout, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def links(folder, names=("addr2line", "llvm-symbolizer", "llvm-addr2line", "eu-addr2line", "llvm-gsymutil", "atos")):
    """Links of our command in a folder, by name: messages begin with the name, which has to be as long as the tool's."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        link = folder / name
        if not link.exists():
            link.symlink_to(pathlib.Path(CALLSIGN).resolve())
    return folder


TOOLS = {"addr2line": "addr2line", "llvm-symbolizer": "llvm-symbolizer-22", "llvm-addr2line": "llvm-addr2line-22",
         "eu-addr2line": "eu-addr2line", "llvm-gsymutil": "llvm-gsymutil-22"}


class Pair:
    """A tool and its stand-in, both started by their plain name through PATH."""

    def __init__(self, dialect, folder):
        self.dialect = dialect
        real = shutil.which(TOOLS[dialect])
        self.theirs = pathlib.Path(folder) / "theirs"
        self.theirs.mkdir(parents=True, exist_ok=True)
        self.is_missing = real is None
        if real and not (self.theirs / dialect).exists():
            (self.theirs / dialect).symlink_to(os.path.realpath(real) if dialect != "llvm-addr2line" else real)
        self.ours = links(pathlib.Path(folder) / "ours")

    def run(self, which, arguments, stdin=b"", cwd=".", env=None):
        folder = self.theirs if which == "theirs" else self.ours
        environment = dict(env or os.environ)
        environment["PATH"] = f"{folder}:{environment['PATH']}"
        environment.pop("DEBUGINFOD_URLS", None)
        environment["LC_ALL"] = "C"
        return run([self.dialect, *arguments], stdin, cwd, environment)

    def compare(self, arguments, stdin=b"", cwd=".", env=None):
        """None: the same, but for names that only one demangler knows; else both results."""
        theirs, ours = (self.run(which, arguments, stdin, cwd, env) for which in ("theirs", "ours"))
        if theirs.code < 0 <= ours.code:  # a request that crashes the tool is answered or refused
            return None
        return None if theirs == ours or is_known(theirs, ours) else (theirs, ours)


# libiberty reads the first, which csn_demangle() and LLVM do not, and not the second, which both do (docs/stand-ins.md).
KNOWN_NAMES = (b"__is_bitwise_relocatable", b"_ZNSt4pairIKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiEC4IJOS5_EJLm0EE")


def is_known(theirs, ours):
    """Whether the results differ in nothing but lines with such names."""
    x, y = theirs.out.split(b"\n"), ours.out.split(b"\n")
    if theirs._replace(out=b"") != ours._replace(out=b"") or len(x) != len(y):
        return False
    return all(a == b or any(name in a for name in KNOWN_NAMES) for a, b in zip(x, y))


def show_difference(arguments, stdin, difference):
    theirs, ours = difference
    lines = [f"arguments: {' '.join(arguments)}", f"input: {stdin[:200]!r}"]
    for name, a, b in (("exit code", theirs.code, ours.code), ("stderr", theirs.err, ours.err), ("stdout", theirs.out, ours.out)):
        if a == b:
            continue
        if isinstance(a, int):
            lines.append(f"{name}: theirs {a}, ours {b}")
            continue
        x, y = a.split(b"\n"), b.split(b"\n")
        at = next((i for i in range(min(len(x), len(y))) if x[i] != y[i]), min(len(x), len(y)))
        lines.append(f"{name}, line {at + 1}:")
        lines += [f"  theirs {line!r}" for line in x[max(0, at - 2):at + 3]]
        lines += [f"  ours   {line!r}" for line in y[max(0, at - 2):at + 3]]
    return "\n".join(lines)


# ---- requests ----

def code_addresses(path):
    """(start, size) of sections that hold something at run time; a few random bytes are drawn from each."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    if data[:4] != b"\x7fELF":
        return [(0, 0x4000), (0x140001000, 0x2000), (0x401000, 0x2000)]
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    shoff = struct.unpack_from(order + ("Q" if wide else "I"), data, 40 if wide else 32)[0]
    entry, count = struct.unpack_from(order + "HH", data, 58 if wide else 46)
    found = []
    for i in range(count):
        at = shoff + i * entry
        if wide:
            flags, addr, _, size = struct.unpack_from(order + "QQQQ", data, at + 8)
        else:
            flags, addr, _, size = struct.unpack_from(order + "IIII", data, at + 8)
        if flags & 2 and size:
            found.append((addr, size))
            if flags & 4:
                found += [(addr, size)] * 6
    return found or [(0, 0x1000)]


ODD = ["", "0", "zz", "1173zz", "0x", "0x1173 foo", "abc", "main", "main+4", "top+010", "top + 3", "main-4", "nosuch", "nosuch+1", "-1",
       "ffffffffffffffff", "0xffffffffffffffff", "18446744073709551616", "  1139", "\t1139", ",", "+", "x" * 98, "1" * 150, "gvar", "_ZN2ns1S4areaEv",
       "ns::S::area() const", "plain"]


def draw_request(rng, ranges):
    if rng.random() < 0.1:
        return rng.choice(ODD)
    start, size = rng.choice(ranges)
    text = "%x" % (start + rng.randrange(size + 4))
    return text if rng.random() < 0.5 else "0x" + text


def draw_gnu(rng, name):
    options = []
    for option in ("-a", "-f", "-i", "-p", "-s", "-C"):
        if rng.random() < 0.5:
            options.append(option)
    if rng.random() < 0.3 and options:
        options = ["-" + "".join(o[1] for o in options)]
    if rng.random() < 0.05:
        options.append(rng.choice(["--demangle=none", "--demangle=auto", "--demangle=gnu-v3", "--demangle=rust", "--demangle=bad", "--demangle=java"]))
    if rng.random() < 0.06:
        options += ["-j", rng.choice([".text", ".init", ".data", ".bss", ".nosuch", ".text.startup"])]
    if rng.random() < 0.03:
        options += rng.choice([["-b", "elf64-x86-64"], ["-b", "nosuch"], ["--target=elf64-little"], ["-R"], ["-r"], ["--no-recurse-limit"]])
    if rng.random() < 0.02:
        options.append(rng.choice(["-q", "--nosuch", "-v", "--version", "-h", "--help", "-H", "-V", "--inl", "--a", "--re"]))
    options += rng.choice([["-e", name], ["--exe=" + name], ["-e" + name]])
    rng.shuffle(options) if rng.random() < 0.0 else None
    return options


def draw_llvm(rng, name):
    options = []
    for option in ("-a", "-f", "-i", "-p", "-s", "-C", "--verbose", "--relativenames", "--no-inlines", "--no-demangle", "-f=none",
                   "-f=short", "-f=linkage", "--skip-line-zero", "--relative-address", "--addresses", "--basenames", "-demangle=true",
                   "-demangle=false", "--inlining=false", "--inlining", "--inlining=true", "--print-address", "--no-untag-addresses"):
        if rng.random() < 0.12:
            options.append(option)
    if rng.random() < 0.5:
        options.append("--output-style=" + rng.choice(["LLVM", "GNU", "JSON"]))
    if rng.random() < 0.1:
        options.append("--adjust-vma=" + rng.choice(["0x10", "16", "0"]))
    if rng.random() < 0.15:
        options.append("--print-source-context-lines=%d" % rng.choice([1, 2, 3, 5, 8]))
    return options, "--obj=" + name


def draw(rng, dialect, name, ranges):
    """Arguments and standard input of one run."""
    count = rng.randrange(1, 40)
    requests = [draw_request(rng, ranges) for _ in range(count)]
    if dialect in ("addr2line", "eu-addr2line"):
        options = draw_gnu(rng, name) if dialect == "addr2line" else draw_eu(rng, name)
        if rng.random() < 0.3:
            return options + ["--"] * (rng.random() < 0.1) + [r for r in requests if not r.startswith("-")], b""
        return options, ("\n".join(requests) + "\n" * (rng.random() < 0.9)).encode()
    options, obj = draw_llvm(rng, name)
    if {"-a", "--addresses", "--print-address"} & set(options):  # LLVM prints an address that was never set
        requests = [r for r in requests if r[:1].isdigit()] or ["0"]
    if rng.random() < 0.6:
        options.append(obj)
        requests = [rng.choice(["", "", "", "", "CODE ", "DATA ", "FRAME "]) + r for r in requests]
    else:
        requests = [rng.choice(["", "CODE ", "DATA ", "FRAME "]) + rng.choice([name, '"' + name + '"', "FILE:" + name, "nosuch"]) + " " + r
                    for r in requests]
    if rng.random() < 0.3:
        return options + [r for r in requests if r and not r.startswith("-")], b""
    return options, ("\n".join(requests) + "\n" * (rng.random() < 0.9)).encode()


def draw_eu(rng, name):
    options = []
    for option in ("-a", "-f", "-i", "--pretty-print", "-s", "-C", "-S", "-x", "-A", "--relative", "-F"):
        if rng.random() < 0.35:
            options.append(option)
    return options + ["-e", name]


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


def draw_gsym_lookup(rng, name, ranges):
    """Options of looking into what a conversion left, and the lines of standard input."""
    addresses = []
    for _ in range(rng.randrange(1, 30)):
        start, size = rng.choice(ranges)
        addresses.append(start + rng.randrange(size + 4))
    options = [option for option in ("--verbose", "--merged-functions") if rng.random() < 0.4]
    if rng.random() < 0.2:
        options += ["--merged-functions-filter=" + rng.choice(["a", "main", "^top$", "(", "zz", "first|second"])] * rng.randrange(1, 3)
    way = rng.random()
    if way < 0.2:
        return [*options, name], b""
    if way < 0.6:
        return [*options, name, *(f"--address={rng.choice(['0x%x', '%d'])}" % addr for addr in addresses)], b""
    lines = "".join("0x%x %s\n" % (addr, rng.choice([name] * 20 + ["nosuch", ""])) for addr in addresses)
    return [*options, "--addresses-from-stdin"], lines.encode()


def outputs(where):
    """What a conversion left, and removes it."""
    found = {}
    for path in sorted(where.glob("converted*")):
        if path.stat().st_size:
            found[path.name] = path.read_bytes()
        path.unlink()
    return found


def compare_conversion(pair, arguments, where):
    """None: the same output and files; else both results, and the file of ours."""
    outputs(where)
    theirs = pair.run("theirs", arguments, b"", where)
    their_files = outputs(where)
    ours = pair.run("ours", arguments, b"", where)
    our_files = outputs(where)
    for name in sorted(our_files):
        (where / ("kept." + name)).write_bytes(our_files[name])
    if theirs == ours and their_files == our_files:
        return None
    names = [name for name in sorted(set(their_files) | set(our_files)) if their_files.get(name) != our_files.get(name)]
    return theirs._replace(out=theirs.out + b"\n" + repr(names).encode()), ours


def fuzz_gsymutil(pair, rng, runs, programs, ranges, where, out):
    """Conversions, each followed by lookups in its file."""
    by_program = collections.Counter()
    done = shown = 0
    while done < runs:
        name = rng.choice(sorted(programs))
        arguments, stdin = draw_convert(rng, name, where), b""
        difference = compare_conversion(pair, arguments, where)
        for _ in range(5):
            done += 1
            if difference:
                by_program[name] += 1
                if shown < 6:
                    print(show_difference(arguments, stdin, difference) + "\n", file=out)
                    shown += 1
            arguments, stdin = draw_gsym_lookup(rng, "kept.converted", ranges[name])
            difference = pair.compare(arguments, stdin, where) if (where / "kept.converted").exists() else None
    print(f"llvm-gsymutil: {done} runs, {sum(by_program.values())} differences {dict(by_program)}", file=out)
    return done, sum(by_program.values())


def fuzz(dialect, runs, seed, folder, out=sys.stdout, only=None):
    """Counts runs and differences; prints the first ones."""
    folder = pathlib.Path(folder)
    programs = stand_in_programs.build(folder / "programs", only)
    pair = Pair(dialect, folder)
    if pair.is_missing:
        print(f"{TOOLS[dialect]} is missing", file=out)
        return 0, 0
    rng = random.Random(seed)
    ranges = {name: code_addresses(path) for name, path in programs.items()}
    if dialect == "llvm-gsymutil":
        return fuzz_gsymutil(pair, rng, runs, programs, ranges, folder / "programs", out)
    by_program = collections.Counter()
    shown = 0
    for _ in range(runs):
        name = rng.choice(sorted(programs))
        arguments, stdin = draw(rng, dialect, name, ranges[name])
        try:
            difference = pair.compare(arguments, stdin, folder / "programs")
        except subprocess.TimeoutExpired as e:
            difference = (Result(0, b"", b""), Result(-1, b"", f"timeout {e.cmd}".encode()))
        if difference is None:
            continue
        by_program[name] += 1
        if shown < 6:
            print(show_difference(arguments, stdin, difference) + "\n", file=out)
            shown += 1
    print(f"{dialect}: {runs} runs, {sum(by_program.values())} differences {dict(by_program)}", file=out)
    return runs, sum(by_program.values())


if __name__ == "__main__":
    arguments = sys.argv[1:]
    only = set(arguments[4].split(",")) if len(arguments) > 4 else None
    ran, differences = fuzz(arguments[0], int(arguments[1]), int(arguments[2]) if len(arguments) > 2 else 1,
                            arguments[3] if len(arguments) > 3 else "/tmp/stand-ins", only=only)
    sys.exit(differences > 0)
