"""Programs that hand functions to a library, all folded by a real linker: over their own stacks, every callback that their call sites
determine is named, no other one is, and an index of the library takes nothing away.

The truth is the same program linked without folding, whose stacks come in the same order. What is determined is computed here, from the
outermost frame inwards: of what each function that the caller may still be calls, or hands over."""
import bisect
import collections
import itertools
import json
import os
import random
import re

import pytest

from folding import LINKERS, run
from programs import need

LEVELS, GROUPS, MEMBERS, ROOTS, PATHS = 7, 6, 6, 30, 20
PASSES, PASS_MEMBERS, PASS_LEVELS = 3, 3, 3
SAID = ["both", "both", "callee", "pattern", "by member", "nothing"]    # of what a group hands over
COMPILERS = {"clang++-22": [], "g++": ["-fno-ipa-icf"]}

HEAD = """#define NO_INLINE extern "C" __attribute__((noinline))
typedef int call(int);
extern "C" int end_of(int);
extern int sink;
"""
MAIN = """#include <execinfo.h>
#include <link.h>
#include <cstdio>
#include <cstring>
NO_INLINE int end_of(int x) {
    void *frames[96];
    int count = backtrace(frames, 96);
    for (int i = 1; i < count; i++) printf("%p%c", frames[i], i + 1 < count ? ' ' : '\\n');
    return x;
}
static int write_base(struct dl_phdr_info *info, size_t, void *) {
    if (strstr(info->dlpi_name, "libback.so")) printf("%p\\n", (void *)info->dlpi_addr);
    return 0;
}
"""


# ---- the program ----

class Program:
    """Functions f<level>_<group>_<member>: those of a group differ only in which member of another group they call or hand over."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.handed = {}    # function: (entry of the library, function that is handed over)
        self.said = {}      # function: what the file of call sites says of that
        self.sources = {f"level{level}.cc": self.level(level) for level in range(LEVELS)}
        self.sources |= {"roots.cc": self.roots(), "back.cc": self.library()}

    def library(self):
        text = HEAD + "static volatile int state;\n"
        for level in reversed(range(PASS_LEVELS)):
            for group in range(PASSES):
                below = f"pass{level + 1}_{self.rng.randrange(PASSES)}"
                for member in range(PASS_MEMBERS):
                    last = level == PASS_LEVELS - 1 or (level and group == 0)
                    body = "f(x)" if last else f"{below}_{self.rng.randrange(PASS_MEMBERS)}(f, x)"
                    text += f"NO_INLINE int pass{level}_{group}_{member}(call *f, int x) {{ return {body} * 5 + state + {10 * level + group}; }}\n"
        return text

    def declarations(self, level):
        entries = "".join(f"int pass{k}_{g}_{m}(call *, int);\n" for k in range(2) for g in range(PASSES) for m in range(PASS_MEMBERS))
        return f'{HEAD}extern "C" {{\n{entries}' + "".join(f"int f{level}_{g}_{m}(int);\n" for g in range(GROUPS) for m in range(MEMBERS)) + "}\n"

    def shape(self, level, may_hand_over=True):
        """What the members of a group have in common: the group that they call, the library's entry or None, whether all mean one member."""
        rng = self.rng
        entry = f"pass{rng.randrange(2)}_{rng.randrange(PASSES)}_{rng.randrange(PASS_MEMBERS)}"
        one = rng.randrange(MEMBERS) if rng.random() < 0.35 else None
        return f"f{level}_{rng.randrange(GROUPS)}", entry if may_hand_over and rng.random() < 0.6 else None, one

    def call(self, name, group, entry, one):
        callee = f"{group}_{self.rng.randrange(MEMBERS) if one is None else one}"
        if not entry:
            return f"{callee}(x >> 1)"
        self.handed[name] = entry, callee
        return f"{entry}({callee}, x >> 1)"

    def level(self, level):
        text = self.declarations(level + 1)
        for group in range(GROUPS):
            first = self.shape(level + 1)
            second, said = self.shape(level + 1, not first[1]), self.rng.choice(SAID)
            for member in range(MEMBERS):
                name = f"f{level}_{group}_{member}"
                self.said[name] = self.rng.choice(["both", "callee", "nothing"]) if said == "by member" else said
                body = f"(x & 1 ? {self.call(name, *first)} : {self.call(name, *second)})" if level + 1 < LEVELS else "end_of(x)"
                text += f"NO_INLINE int {name}(int x) {{ return {body} * 3 + sink + {group}; }}\n"
        return text

    def roots(self):
        text = self.declarations(0) + "int sink;\n" + MAIN
        for root in range(ROOTS):
            self.said[f"root{root}"] = self.rng.choice(["both", "callee", "pattern", "nothing"])
            text += f"NO_INLINE int root{root}(int x) {{ return {self.call(f'root{root}', *self.shape(0))} * 3 + sink + {1000 + root}; }}\n"
        calls = "".join(f"        sink += root{root}(x) & 1;\n" for root in range(ROOTS))
        return text + f"int main() {{\n    dl_iterate_phdr(write_base, nullptr);\n    for (int x = 0; x < {PATHS}; x++) {{\n        sink = 0;\n{calls}    }}\n}}\n"


def link(folder, name, linker, *flags):
    out = folder / name
    (out / "bin").mkdir(parents=True)
    os.symlink(need(LINKERS[linker]), out / "bin" / "ld")
    units = [f"{source.stem}.o" for source in folder.glob("*.cc") if source.stem != "back"]
    run(folder, "g++", "-B", out / "bin", "-shared", "-Wl,-Bsymbolic", *flags, "back.o", "-o", out / "libback.so")
    run(folder, "g++", "-B", out / "bin", "-no-pie", *flags, *sorted(units), out / "libback.so", "-Wl,-rpath,$ORIGIN", "-o", out / "app")
    return out


def build(folder, compiler, linker):
    """The program without folding and with it."""
    program = Program(1)
    for name, text in program.sources.items():
        (folder / name).write_text(text)
        run(folder, need(compiler), "-g", "-O2", "-ffunction-sections", "-fno-optimize-sibling-calls", *COMPILERS[compiler],
            "-fPIC" if name == "back.cc" else "-fno-pie", "-c", name)
    return program, link(folder, "plain", linker), link(folder, "folded", linker, "-Wl,--icf=all")


# ---- what is true of it ----

class Image:
    def __init__(self, path):
        self.path, self.names = path, collections.defaultdict(set)
        for line in run(path.parent, "nm", "-S", path).splitlines():
            match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) [TtWw] (\w+)", line)
            if match:
                self.names[int(match[1], 16), int(match[2], 16)].add(match[3])
        self.places = sorted(self.names)

    def at(self, address):
        """Start and names of the function that a return address lies in, or None."""
        k = bisect.bisect_right(self.places, (address - 1, 1 << 62)) - 1
        return (self.places[k][0], self.names[self.places[k]]) if k >= 0 and address <= sum(self.places[k]) else None

    def calls(self):
        """{(name, return offset): name in the operand of the call before it}"""
        found, operand = {}, None
        for line in run(self.path.parent, "objdump", "-d", "--no-show-raw-insn", self.path).splitlines():
            match = re.match(r"\s+([0-9a-f]+):\s+(\S+)\s*(.*)", line)
            if not match:
                continue
            start, names = self.at(int(match[1], 16)) or (0, ())
            target = re.search(r"<(\w+)", operand) if operand else None
            found |= {(name, int(match[1], 16) - start): target[1] for name in names if target}
            operand = match[3] if match[2].startswith("call") else None
        return found


def stacks_of(folder):
    """[[(image, address, start, names)]], innermost first."""
    images = {"app": Image(folder / "app"), "libback.so": Image(folder / "libback.so")}
    base, *lines = run(folder, folder / "app").splitlines()
    placed = [[(name, pc - bias) for pc in (int(word, 16) for word in line.split()) for name, bias in (("app", 0), ("libback.so", int(base, 16)))]
              for line in lines]
    found = [[(name, address, *images[name].at(address)) for name, address in line if images[name].at(address)] for line in placed]
    return [[frame for frame in stack if "_start" not in frame[3]] for stack in found]


def write_call_sites(program, calls, path):
    """{(name, return offset): what may be handed over there}"""
    lines, said = [], {}
    for name, (entry, callee) in sorted(program.handed.items()):
        kind, (offset,) = program.said[name], [o for (n, o), target in calls.items() if n == name and target.startswith(entry)]
        if kind == "nothing":
            continue
        wider = callee[:-1] + str((int(callee[-1]) + len(name)) % MEMBERS)
        text = {"both": f"{entry} {callee}", "callee": callee, "pattern": f"/^{callee[:-1]}[{callee[-1]}{wider[-1]}]$/"}[kind]
        lines.append(f"{name} {offset:#x} external {text}\n")
        said[name, offset] = {callee, wider} if kind == "pattern" else {callee}
    path.write_text("".join(lines))
    return said


def determined(stack, said, direct):
    """For each frame, from the outermost inwards: the names that its caller leaves; None: one of the library's."""
    left, outer, out = None, None, []
    for image, address, start, names in reversed(stack):
        if image == "app":
            called_back = out and out[-1] is None
            meant = [(said.get((name, outer), set()) if called_back else {direct.get((name, outer))}) & names for name in left or ()]
            left, outer = set().union(*meant) if meant and all(meant) else names, address - start
        out.append(left if image == "app" else None)
    return out[::-1]


# ---- what Callsign says ----

def remaining(frame):
    merged = frame.get("merged")
    if not merged:
        return {frame["frames"][-1]["function"]}
    return {merged["chosen"]} if "chosen" in merged else set(merged["remaining"])


def answers(callsign, stacks, *indexes):
    text = "".join(json.dumps({"frames": [{"module": image, "address": hex(address)} for image, address, _, _ in stack]}) + "\n" for stack in stacks)
    options = itertools.chain.from_iterable(("--index", index) for index in indexes)
    return [json.loads(line)["frames"] for line in callsign.good("stack", "--json", "--no-search", *options, stdin=text).splitlines()]


@pytest.mark.parametrize("sites", ["dwarf", "files alone"])
@pytest.mark.parametrize("compiler, linker", [("clang++-22", "lld"), ("clang++-22", "gold"), ("g++", "mold")])
def test_callbacks(callsign, compiler, linker, sites, tmp_path):
    program, plain, folded = build(tmp_path, compiler, linker)
    direct = {key: target for key, target in Image(plain / "app").calls().items() if target.startswith("f")} if sites == "dwarf" else {}
    said = write_call_sites(program, Image(folded / "app").calls(), tmp_path / "sites")
    dwarf = ["--call-sites", "dwarf"] if sites == "dwarf" else []
    callsign.good("convert", "-q", "--strict", "--merged-functions", *dwarf, "--call-sites", tmp_path / "sites", folded / "app", "-o", tmp_path / "app.gsym")
    callsign.good("convert", "-q", "--merged-functions", "--call-sites", "dwarf", folded / "libback.so", "-o", tmp_path / "back.gsym")
    truth, stacks = stacks_of(plain), stacks_of(folded)
    # The first frame of a stack is no return address, but here it is one: another stands before it.
    for stack in stacks:
        stack.insert(0, stack[0])
    without = answers(callsign, stacks, f"app={tmp_path / 'app.gsym'}")
    with_index = answers(callsign, stacks, f"app={tmp_path / 'app.gsym'}", f"libback.so={tmp_path / 'back.gsym'}")
    counts = collections.Counter()
    for true_stack, stack, bare, full in zip(truth, stacks, without, with_index, strict=True):
        for true, here, left, a, b in zip(true_stack, stack[1:], determined(stack[1:], said, direct), bare[1:], full[1:], strict=True):
            name, = true[3]
            if here[0] == "libback.so":
                assert name in remaining(b)
                continue
            assert remaining(a) == remaining(b) == left and name in left, (name, left, a, b)
            counts["merged"] += len(here[3]) > 1
            counts["callbacks"] += len(here[3]) > 1 and left == {name}
    assert counts["merged"] > 3000 and counts["callbacks"] > 500, counts
