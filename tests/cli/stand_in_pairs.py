"""Runs a tool and its stand-in with the same arguments and input, and compares what they print and how they end, byte for byte.
$CALLSIGN names the command."""

import collections
import os
import pathlib
import re
import shutil
import subprocess

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
        link, program = folder / name, pathlib.Path(CALLSIGN).resolve()
        if not link.is_symlink() or pathlib.Path(os.readlink(link)) != program:
            link.unlink(missing_ok=True)
            link.symlink_to(program)
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
        """None: the same, but for listed differences; else both results."""
        theirs, ours = (self.run(which, arguments, stdin, cwd, env) for which in ("theirs", "ours"))
        return None if theirs == ours or explain(arguments, theirs, ours) else (theirs, ours)


# libiberty reads the first, which csn_demangle() and LLVM do not, and not the others, which both do (docs/stand-ins.md).
KNOWN_NAMES = (b"__is_bitwise_relocatable", b"ETnNSt9enable_if", b"_ZNSt4pairIKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiEC4IJOS5_EJLm0EE")


def differs_in(theirs, ours, is_known):
    """Whether the results differ in nothing but lines that are known, and those after them."""
    x, y = theirs.out.split(b"\n"), ours.out.split(b"\n")
    if theirs._replace(out=b"") != ours._replace(out=b"") or len(x) != len(y):
        return False
    return all(a == b or is_known(a) or is_known(b"\n".join(x[max(0, i - 2):i])) for i, (a, b) in enumerate(zip(x, y)))


def differs_in_known_names(theirs, ours):
    return differs_in(theirs, ours, lambda line: any(name in line for name in KNOWN_NAMES))


def explain(arguments, theirs, ours, stdin=b""):
    """The reason of a difference that docs/stand-ins.md lists; None: it has none."""
    if theirs.code < 0 <= ours.code:
        return "a request that crashes the tool is answered"
    if differs_in_known_names(theirs, ours):
        return "names that only one demangler reads"
    if "--addresses-from-stdin" in arguments and re.match(rb"\S+ *\n", stdin):
        return "a first line of --addresses-from-stdin without a file"
    if "--convert=c-wasm.o" in arguments and theirs._replace(out=b"") == ours._replace(out=b""):
        return "rows of WebAssembly that is not linked"
    if any(re.fullmatch(r"(-e|--exe=)?c-coff(32)?\.o", word) for word in arguments) and theirs._replace(out=b"") == ours._replace(out=b""):
        return "lines of COFF that is not linked, after other requests"
    if re.search(r"elf64-(little|big)", " ".join(arguments)) and any(word.endswith(".o") for word in arguments) \
            and theirs._replace(out=b"") == ours._replace(out=b""):
        return "DWARF that a target of no machine does not relocate"
    if any(word.startswith("--cache-size") for word in arguments) and any("macho" in word for word in [*arguments, stdin.decode(errors="replace")]):
        return "--cache-size lets LLVM forget symbols of a dSYM"
    return None


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
