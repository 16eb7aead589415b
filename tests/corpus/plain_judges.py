"""What the tools of OCaml, Free Pascal and Nim call a function: judges of names for tests/corpus/demangle.

No program reads such names from its input, as c++filt does. Each judge takes files and gives {name: (the judge's text, our text)}, after both
are written alike.
"""
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import perf_data  # noqa: E402

STEP, BASE, AT_ONCE = 16, 0x400000, 20000


def output(*command, is_checked=True, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", check=is_checked, **options).stdout


# ---- OCaml: perf, which demangles OCaml's symbols; it is asked by samples in a program with a function of each name ----

def perf_texts(names, folder):
    lines = [f'.globl "{name}"\n.type "{name}", @function\n"{name}": .zero {STEP}\n.size "{name}", {STEP}\n' for name in names]
    (folder / "names.s").write_text(".text\n" + "".join(lines))
    output("as", "names.s", "-o", "names.o", cwd=folder)
    output("ld", "-Ttext", hex(BASE + 0x1000), "-e", "0", "names.o", "-o", "names", cwd=folder)
    size = STEP * len(names)
    samples = [(1000 * k, BASE + 0x1000 + STEP * k + 1, []) for k in range(len(names))]
    perf_data.write(folder / "perf.data", 4242, "names", [(BASE + 0x1000, size, 0x1000, folder / "names")], samples)
    text = output("perf", "--buildid-dir", folder / "ids", "script", "-i", folder / "perf.data", "-F", "ip,sym")
    found = re.findall(r"^ *[0-9a-f]+ (.*)$", text, re.M)
    if len(found) != len(names):
        raise RuntimeError(f"perf: {len(found)} answers to {len(names)} names")
    return found


def ocaml(files, call, most):
    pattern = re.compile(rb"(?<=\0)caml[A-Z][\w$.']*(?=\0)")
    names = sorted({name.decode() for file in files for name in pattern.findall(file.read_bytes())})
    if most and len(names) > most:
        names = sorted(random.Random(1).sample(names, most))
    texts = []
    for at in range(0, len(names), AT_ONCE):
        with tempfile.TemporaryDirectory(prefix="callsign-names-") as folder:
            texts += perf_texts(names[at:at + AT_ONCE], Path(folder))
    return {name: (plain_perf(text), call(name).replace(".", "__")) for name, text in zip(names, texts)}


def plain_perf(text):
    """perf keeps the number behind a name, and turns every two underscores into a dot, those of `try_` and `__ocaml_lex_start_rec` too. So
    all dots are underscores again; after modules, which begin with capital letters, a number that follows two is the name."""
    text = text.replace(".", "__")
    bare = re.sub(r"_\d+$", "", text)
    is_number = bare.endswith("_") and not re.search(r"__[^A-Z]", bare)
    return text if "__" not in text or is_number else bare


# ---- Free Pascal: the names of functions in its DWARF, with the unit and the classes around them, as debuggers show them ----

SCOPES = ("class_type", "structure_type", "subprogram", "interface_type")


def dies_of(path):
    """The functions of a linked file: address: unit and names of the scopes around it."""
    dies, stack, unit, die, found = {}, [], "", None, {}
    for line in output("llvm-dwarfdump-22", "--debug-info", path, is_checked=False).splitlines(): # it complains of FPC's
        if head := re.match(r"0x([0-9a-f]+):( +)DW_TAG_(\w+)", line):
            offset, depth, tag = int(head[1], 16), len(head[2]), head[3]
            while stack and stack[-1][0] >= depth:
                stack.pop()
            die = dies[offset] = {"tag": tag, "name": "", "in": stack[-1][1] if stack else None, "unit": unit}
            stack.append((depth, offset))
        elif die and (row := re.match(r" +DW_AT_(name|low_pc|specification)\s+\((.*)\)$", line)):
            if row[1] == "name":
                die["name"] = row[2].strip('"')
                if die["tag"] == "compile_unit":
                    unit = Path(die["name"]).stem
            elif row[1] == "specification":
                die["as"] = int(row[2].split(" ")[0], 16)
            elif die["tag"] == "subprogram":
                found[int(row[2], 16)] = die
    return {address: (die["unit"], scopes_of(dies, die)) for address, die in found.items() if "$" not in die["name"]} # of FPC's own routines


def scopes_of(dies, die):
    names = []
    while die:
        declared = dies.get(die.get("as"), die)
        name = die["name"] or declared["name"]
        if name and die["tag"] in SCOPES:
            names.insert(0, name)
        around = declared["in"] if declared["in"] is not None else die["in"]
        die = dies.get(around)
    return names


def plain_scopes(text, unit, depth):
    """`UNIT.CLASS.NAME` of ours, without types; as many scopes as DWARF tells, which has the inner ones only."""
    path = re.sub(r"\([^()]*\)|: [\w .$]+$", "", text).upper()
    if not path.startswith(f"{unit}."):
        return path
    names = path[len(unit) + 1:].split(".")
    return ".".join([unit, *names[max(0, len(names) - depth):]])


def pascal(files, call, _):
    """Units only: a program's name is not in its DWARF."""
    found = {}
    for file in files:
        with tempfile.TemporaryDirectory(prefix="callsign-names-") as folder:
            linked = Path(folder) / "linked"
            subprocess.run(["ld", "-e", "0", "--unresolved-symbols=ignore-all", str(file), "-o", str(linked)], capture_output=True, check=False)
            if not linked.exists():
                continue
            dies = dies_of(linked)
            rows = [row.split(maxsplit=2) for row in output("nm", linked).splitlines()]
        for address, kind, name in rows:
            if kind in "tT" and "$" in name and not name.startswith(("DEBUGSTART_$", "DEBUGEND_$", "P$")) and int(address, 16) in dies:
                unit, scopes = dies[int(address, 16)]
                ours = call(name)
                theirs = re.sub(r"\$\d+(\$CRC[0-9A-F]+)?", "", ".".join([unit, *scopes]).upper()) # of generic classes: we leave it out
                found[name] = (theirs, ours if ours == name else plain_scopes(ours, unit.upper(), len(scopes)))
    return found


# ---- Nim: the names that its stack traces show, which stand in the C code that it writes ----

FUNCTION, FRAME = re.compile(r"\S.*?\(.*?, (\w+)\)\(.*\{$"), re.compile(r'\tnimfr_\("([^"]*)", "([^"]*)"\);')


def frames_of(file):
    """(name in C, procedure, path of its module)"""
    function = None
    for line in file.read_text(errors="replace").splitlines():
        if head := FUNCTION.match(line):
            function = head[1]
        elif function and (frame := FRAME.match(line)):
            yield function, frame[1], frame[2]
            function = None
        elif line == "}":
            function = None


def nim(files, call, _):
    """The procedure of `addInt__stdZprivateZdigitsutils_167`. The module is where a generic procedure is used, traces tell where it is."""
    found = {}
    for file in files:
        for name, procedure, _ in frames_of(file):
            if "__" in name:
                ours = call(name)
                found[name] = (procedure, ours if ours == name else re.sub(r".*?[a-z0-9]\.(?=.)", "", ours).strip("`"))
    return found


# Kind: label, tool, what the result calls the judge, function, how names of its files end.
JUDGES = {"ocaml": ("OCaml", "perf", "perf script", ocaml, ".a"), "pascal": ("Free Pascal", "llvm-dwarfdump-22", "DWARF of FPC", pascal, ".o"),
          "nim": ("Nim", None, "stack traces of Nim", nim, ".nim.c")}
