"""What an index answers about the functions of the test program, in a form that can be compared across containers."""
import functools
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLSIGN = os.environ.get("CALLSIGN", str(ROOT / "build" / "release" / "callsign"))
SOURCES = {"main.cc", "shapes.cc", "shapes.h", "plain.c"}


def convert(source, index, *options, code=0):
    """Gives stderr."""
    done = subprocess.run([CALLSIGN, "convert", source, "-o", index, *options], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == code, (source, done.returncode, done.stdout, done.stderr)
    return done.stderr


def functions(index):
    done = subprocess.run([CALLSIGN, "dump", "--json", index], capture_output=True, text=True, timeout=120, check=True)
    found = (json.loads(line).get("function") for line in done.stdout.splitlines())
    return [f for f in found if f]


def is_ours(function):
    return any(os.path.basename(row["file"].replace("\\", "/")) in SOURCES for row in function.get("lines", ()))


def frame_of(frame):
    path = frame.get("file", "").replace("\\", "/")
    return frame["function"], os.path.basename(path), frame.get("line", 0)


def answers(index, by_address=False):
    """{function: {stack, ...}} of every code byte of the program's own functions; with `by_address`
    {(function, offset): stack}. A stack is a tuple of (function, file, line), innermost first."""
    ours = [f for f in functions(index) if is_ours(f)]
    asked = [(f["name"], int(f["start"], 16), offset) for f in ours for offset in range(f["size"])]
    text = "".join(f"{start + offset:#x}\n" for _, start, offset in asked)
    done = subprocess.run([CALLSIGN, "lookup", "--json", index], input=text, capture_output=True, text=True, timeout=120,
                          check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == len(asked), done.stderr
    out = {}
    for (name, _, offset), line in zip(asked, lines):
        stack = tuple(frame_of(frame) for frame in json.loads(line)["frames"])
        if by_address:
            out[name, offset] = stack
        else:
            out.setdefault(name, set()).add(stack)
    return out


def addresses_of(index):
    """Every code byte of the program's own functions."""
    return sorted({int(f["start"], 16) + offset for f in functions(index) if is_ours(f) for offset in range(f["size"])})


def index_stacks(index, addresses):
    """{address: stack}"""
    text = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run([CALLSIGN, "lookup", "--json", index], input=text, capture_output=True, text=True, timeout=120,
                          check=False)
    return {a: tuple(frame_of(frame) for frame in json.loads(line)["frames"])
            for a, line in zip(addresses, done.stdout.splitlines(), strict=True)}


def symbolizer_stacks(image, addresses, *options):
    """{address: stack}: what llvm-symbolizer reads from the debug information itself."""
    text = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(["llvm-symbolizer-22", f"--obj={image}", "--output-style=JSON", "--no-demangle", *options], input=text,
                          capture_output=True, text=True, timeout=120, check=True)
    out = {}
    for address, line in zip(addresses, done.stdout.splitlines(), strict=True):
        frames = json.loads(line).get("Symbol", [])
        out[address] = tuple((f["FunctionName"], os.path.basename(f["FileName"].replace("\\", "/")), f["Line"]) for f in frames)
    return out


@functools.lru_cache(maxsize=None)
def demangled(name):
    return subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout.strip()


def is_same_name(ours, theirs):
    """llvm-symbolizer takes some names from symbols, with the underscore of the platform, and some from a DIE without its scope."""
    plain = demangled(ours)
    last = re.sub(r"\(anonymous namespace\)::", "", plain).rsplit("::", 1)[-1].split("(")[0]
    return theirs in (ours, "_" + ours, plain, last) or (last.startswith("operator") and theirs == "operator()")


def is_same_stack(ours, theirs, names=True):
    """Where llvm-symbolizer has no line at all, it is before the function's first row, and ours is that of the declaration."""
    if not names and not theirs[-1][1]:
        return True
    lines = [(b[1:] == ("", 0) and k == 0) or a[1:] == b[1:] for k, (a, b) in enumerate(zip(ours, theirs))]
    return len(ours) == len(theirs) and all(lines) and (not names or all(is_same_name(a[0], b[0]) for a, b in zip(ours, theirs)))
