"""What an index answers about the functions of the test program, in a form that can be compared across containers."""
import json
import os
import pathlib
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
