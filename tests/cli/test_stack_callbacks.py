"""Libraries that call back, with an index of their own and without: every truth known. Nothing may be chosen that is not true, and
an index of the library must not take anything away from what is known without it.

Programs hand one of their functions to a library, folded with others; the library passes it on, through functions of its own and of
other libraries, and calls it. What the indexes know is random: the program's call site names what it hands over, alone or with
the library's function, by name or by expression, for each of several functions that share the caller's code; the library's own
call sites name the next function, nobody, everybody, or a trampoline."""
import json
import random
from dataclasses import dataclass, field

import gsym_make
from gsym_make import EXTERNAL, INTERNAL

SIZE, STACKS = 0x100, 1500
APPS, LIBRARIES, GROUPS, LIBRARY_FUNCTIONS = 10, 5, 600, 150
STRIPPED = "libstripped"


@dataclass
class Function:
    module: str
    start: int
    names: list
    sites: dict = field(default_factory=dict)      # (return offset, name): (flags, [pattern])
    direct: list = field(default_factory=list)     # [(return offset, callee, {name: name meant})]
    outward: list = field(default_factory=list)    # [(return offset, entry, {name: name meant}, callee, {name: name meant})]
    back: int = 0                                  # return offset of the call of what was handed over


class World:
    def __init__(self, rng):
        self.rng, self.at = rng, {}
        self.app = [self.function(f"app{rng.randrange(APPS)}", f"f{i}", rng.choice([1, 2, 2, 3, 4])) for i in range(GROUPS)]
        self.library = [self.function(f"lib{rng.randrange(LIBRARIES)}", f"l{i}", rng.choice([1, 1, 1, 2]))
                        for i in range(LIBRARY_FUNCTIONS)]
        for f in self.app:
            self.add_direct(f, self.app, 2)
            for k in range(4):
                self.add_outward(f, 0x40 + 0x10 * k)
        for f in self.library:
            self.add_direct(f, self.library, 3)
            f.back = 0x80
            for name in f.names:
                self.add_back(f, name)

    def function(self, module, stem, count):
        start = self.at.setdefault(module, 0x1000)
        self.at[module] += SIZE
        return Function(module, start, [f"{stem}_{chr(97 + k)}" for k in range(count)])

    def meant(self, f, callee):
        """What each of the functions that share the code calls there: often the same."""
        one = self.rng.choice(callee.names)
        same = self.rng.random() < 0.6
        return {n: one if same else self.rng.choice(callee.names) for n in f.names}

    def add_direct(self, f, functions, count):
        for k in range(count):
            callee, offset = self.rng.choice(functions), 0x10 + 0x10 * k
            meant = self.meant(f, callee)
            f.direct.append((offset, callee, meant))
            flags = INTERNAL if callee.module == f.module else EXTERNAL
            for name in f.names:
                kind = self.rng.choice(["none", "indirect", "exact", "exact", "expression"])
                if kind != "none":
                    f.sites[offset, name] = (flags, {"indirect": [], "exact": [f"^{meant[name]}$"],
                                                     "expression": [f"^{meant[name][:-1]}[{meant[name][-1]}z]$"]}[kind])

    def add_outward(self, f, offset):
        entry, callee = self.rng.choice(self.library), self.rng.choice(self.app)
        entered, meant = self.meant(f, entry), self.meant(f, callee)
        f.outward.append((offset, entry, entered, callee, meant))
        kind = self.rng.choice(["none", "indirect", "exact", "exact", "both", "both", "expression", "mixed"])
        for name in f.names:
            own = self.rng.choice(["none", "indirect", "exact", "both"]) if kind == "mixed" else kind
            if own != "none":
                called = f"^{meant[name]}$"
                f.sites[offset, name] = (EXTERNAL, {"indirect": [], "exact": [called], "both": [f"^{entered[name]}$", called],
                                                    "expression": [f"^{meant[name][:-1]}[{meant[name][-1]}z]$"]}[own])

    def add_back(self, f, name):
        kind = self.rng.choice(["none", "none", "indirect", "indirect", "anybody", "trampoline", "own trampoline"])
        if kind != "none":
            f.sites[f.back, name] = {"indirect": (EXTERNAL, []), "anybody": (EXTERNAL, ["^f[0-9]+_[a-z]$"]),
                                     "trampoline": (EXTERNAL, ["^call_it$"]), "own trampoline": (INTERNAL, ["^call_it$"])}[kind]

    def write(self, folder):
        for module in self.at:
            rows = [{"start": f.start, "size": SIZE, "name": f.names[0], "sites": self.rows_of(f, f.names[0]),
                     "merged": [{"name": n, "sites": self.rows_of(f, n)} for n in f.names[1:]]}
                    for f in self.app + self.library if f.module == module]
            gsym_make.write(folder / f"{module}.gsym", rows)

    @staticmethod
    def rows_of(f, name):
        return [(offset, *site) for (offset, n), site in f.sites.items() if n == name]

    def stack(self):
        """[(function or None, name, address in the function)], from the outermost frame inwards."""
        f = self.rng.choice(self.app)
        name, frames = self.rng.choice(f.names), []
        for _ in range(self.rng.randint(1, 6)):
            if self.rng.random() < 0.3:
                offset, callee, meant = self.rng.choice(f.direct)
                frames.append((f, name, offset))
                f, name = callee, meant[name]
                continue
            offset, inner, entered, callee, meant = self.rng.choice(f.outward)
            frames.append((f, name, offset))
            inner_name, handed_over = entered[name], meant[name]
            for _ in range(self.rng.choice([0, 0, 1, 1, 2, 3])):
                offset, following, meant = self.rng.choice(inner.direct)
                frames.append((inner, inner_name, offset))
                inner, inner_name = following, meant[inner_name]
                frames += [(None, None, self.rng.randrange(1, 1 << 40))] * (self.rng.random() < 0.1)
            frames.append((inner, inner_name, inner.back))
            f, name = callee, handed_over
        return frames + [(f, name, self.rng.randrange(SIZE))]


def as_json(frames):
    return json.dumps({"frames": [{"module": f.module, "address": hex(f.start + offset)} if f else
                                  {"module": STRIPPED, "address": hex(offset)} for f, _, offset in frames[::-1]]})


def answers(callsign, folder, modules, stacks):
    indexes = [a for m in modules for a in ("--index", folder / f"{m}.gsym")]
    lines = callsign.good("stack", "--json", *indexes, stdin="".join(as_json(s) + "\n" for s in stacks)).splitlines()
    return [json.loads(line)["frames"][::-1] for line in lines]


def remaining(frame):
    """The names that an answer leaves; None: it knows none."""
    if not frame["frames"]:
        return None
    merged = frame.get("merged")
    if not merged:
        return {frame["frames"][-1]["function"]}
    return {merged["chosen"]} if "chosen" in merged else set(merged["remaining"])


def test_an_index_of_the_library_takes_nothing_away(callsign, tmp_path):
    rng = random.Random(20261122)
    world = World(rng)
    world.write(tmp_path)
    stacks = [world.stack() for _ in range(STACKS)]
    apps = sorted(m for m in world.at if m.startswith("app"))
    without = answers(callsign, tmp_path, apps, stacks)
    with_index = answers(callsign, tmp_path, sorted(world.at), stacks)
    counts = {"merged": 0, "callbacks": 0, "right_without": 0, "right_with": 0, "callbacks_without": 0, "callbacks_with": 0, "lost": 0, "wrong": 0}
    for frames, bare, full in zip(stacks, without, with_index):
        for i, (f, name, _) in enumerate(frames):
            if not f or len(f.names) == 1 or f.module.startswith("lib"):
                continue
            called_back = i > 0 and (not frames[i - 1][0] or frames[i - 1][0].module.startswith("lib"))
            a, b = remaining(bare[i]), remaining(full[i])
            counts["merged"] += 1
            counts["callbacks"] += called_back
            counts["wrong"] += (name not in a) + (name not in b)
            counts["right_without"] += a == {name}
            counts["right_with"] += b == {name}
            counts["callbacks_without"] += called_back and a == {name}
            counts["callbacks_with"] += called_back and b == {name}
            counts["lost"] += not b <= a
    print(counts)
    assert counts["wrong"] == 0
    assert counts["lost"] == 0
    assert counts["callbacks_with"] >= counts["callbacks_without"] > 1000
