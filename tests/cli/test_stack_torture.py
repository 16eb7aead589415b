"""A thousand merged groups in twenty modules, random calls between them, every truth known: what the call sites determine
must come out right, and nothing may be chosen that is not true.

The code is laid out as a linker leaves it: a physical function has one or several names (siblings); each of its call
slots goes to one physical function, but each sibling means a name of its own there. What is known of that is random: no
call site, an indirect one, the name exactly or bare, an expression, a list with names that are not here."""
import json
import random
import re
from dataclasses import dataclass, field

import pytest

import gsym_make

MODULES, GROUPS, SINGLES, SLOTS, STACKS = 20, 1000, 300, 4, 3000
SIZE = 0x80
KINDS = ["none", "indirect", "exact", "exact", "exact", "bare", "expression", "list", "tail"]


@dataclass
class Function:
    module: int
    start: int
    names: list
    slots: list = field(default_factory=list)   # by slot: Slot


@dataclass
class Slot:
    callee: Function
    meant: dict       # sibling: name that it calls
    patterns: dict    # sibling: None (no call site), [] (indirect), [pattern]
    external: bool    # through a library that calls back
    flags: int


def patterns_for(rng, kind, name, callee):
    if kind in ("none", "indirect"):
        return None if kind == "none" else []
    if kind == "exact":
        return [f"^{name}$"]
    if kind == "bare":
        return [name]
    if kind == "expression":
        return [f"^{name[:-1]}[{name[-1]}z]$"]
    if kind == "list":
        return [f"^{name}$", "^elsewhere$"] + ([f"^{rng.choice(callee.names)}$"] if rng.random() < 0.3 else [])
    return [f"^thunk_of_{name}$"]    # the function named there made a tail call


def make_world(rng):
    functions, at = [], [0x1000] * MODULES
    for i in range(GROUPS + SINGLES):
        module = rng.randrange(MODULES)
        count = rng.randint(2, 5) if i < GROUPS else 1
        functions.append(Function(module, at[module], [f"f{i}_{chr(97 + k)}" for k in range(count)]))
        at[module] += SIZE
    for f in functions:
        for _ in range(SLOTS):
            callee = rng.choice(functions)
            meant = {s: rng.choice(callee.names) for s in f.names}
            silent = [s for s in f.names[1:] if rng.random() < 0.2]
            patterns = {s: None if s in silent else patterns_for(rng, rng.choice(KINDS), meant[s], callee)
                        for s in f.names}
            external = rng.random() < 0.2
            inside = callee.module == f.module
            flags = gsym_make.EXTERNAL if external else gsym_make.INTERNAL if inside else gsym_make.EXTERNAL
            f.slots.append(Slot(callee, meant, patterns, external, flags))
    return functions


def return_offset(slot):
    return 0x10 + 0x10 * slot


def sites(f, name):
    return [(return_offset(k), slot.flags, slot.patterns[name]) for k, slot in enumerate(f.slots)
            if slot.patterns[name] is not None]


def write_world(functions, folder):
    for module in range(MODULES):
        rows = [{"start": f.start, "size": SIZE, "name": f.names[0], "sites": sites(f, f.names[0]),
                 "merged": [{"name": n, "sites": sites(f, n)} for n in f.names[1:]]}
                for f in functions if f.module == module]
        gsym_make.write(folder / f"m{module}.gsym", rows)


def allowed(patterns, names):
    """By the rules of the format: a name without metacharacters is exact, all else is searched for."""
    def fits(pattern, name):
        return pattern == name if re.fullmatch(r"\w+", pattern) else re.search(pattern, name) is not None
    return {n for n in names if any(fits(p, n) for p in patterns)}


def speaks(f, k, remaining):
    """What the call site says, if every function that the caller may be says something about this callee. Through a library
    that calls back, only one that is certain is believed."""
    slot = f.slots[k]
    said = [slot.patterns[s] for s in remaining]
    if any(not p for p in said) or (len(said) > 1 and slot.external):
        return []
    if len(said) > 1 and any(not allowed(p, slot.callee.names) for p in said):
        return []
    return sum(said, [])


def random_stack(rng, functions):
    """Frames from the outside in: (function or None for a stripped library, true name, what is determined)."""
    f = rng.choice(functions)
    name = rng.choice(f.names)
    remaining = set(f.names)
    frames, slots = [(f, name, set(remaining))], []
    for _ in range(rng.randint(1, 30)):
        k = rng.randrange(SLOTS)
        slot = f.slots[k]
        said = speaks(f, k, remaining)
        slots.append(k)
        if slot.external:
            frames += [(None, None, None)] * rng.randint(1, 3)
            slots += [None] * (len(frames) - len(slots) - 1 + 0)
        fits = allowed(said, slot.callee.names) if said else set()
        f, name = slot.callee, slot.meant[name]
        remaining = fits or set(f.names)
        frames.append((f, name, set(remaining)))
        while len(slots) < len(frames) - 1:
            slots.append(None)
    return frames, slots


def as_json(rng, frames, slots):
    out = []
    for i, (f, _, _) in enumerate(frames):
        innermost = i == len(frames) - 1
        if f is None:
            out.append({"module": "libstripped", "address": hex(rng.randrange(1, 1 << 40))})
        else:
            offset = rng.randrange(SIZE) if innermost else return_offset(slots[i])
            out.append({"module": f"m{f.module}", "address": hex(f.start + offset)})
    return {"frames": out[::-1]}


def test_torture(callsign, tmp_path, record_property):
    rng = random.Random(20261121)
    functions = make_world(rng)
    write_world(functions, tmp_path)
    stacks = [random_stack(rng, functions) for _ in range(STACKS)]
    text = "".join(json.dumps(as_json(rng, *s)) + "\n" for s in stacks)
    indexes = [a for m in range(MODULES) for a in ("--index", tmp_path / f"m{m}.gsym")]
    answers = callsign.good("stack", "--json", *indexes, stdin=text).splitlines()
    assert len(answers) == len(stacks)
    counts = {"merged": 0, "determined": 0, "chosen": 0, "narrowed": 0, "open": 0}
    for (frames, _), line in zip(stacks, answers):
        for (f, name, remaining), frame in zip(frames[::-1], json.loads(line)["frames"]):
            if f is None:
                assert frame["frames"] == [] and frame["reason"] == "there is no index for the module"
                continue
            if len(f.names) == 1:
                assert frame["frames"][0]["function"] == name and "merged" not in frame
                continue
            merged = frame["merged"]
            counts["merged"] += 1
            assert merged["candidates"] == f.names
            chosen = merged.get("chosen")
            assert chosen in (None, name), (chosen, name, frame)         # never a confident wrong answer
            assert (chosen is None) == (merged["by"] == "ambiguous")
            if len(remaining) == 1:
                counts["determined"] += 1
                assert chosen == name, (frame, remaining)                # all that is determined
            counts["chosen"] += chosen is not None
            if chosen is None:
                assert set(merged["remaining"]) == remaining, frame
                counts["narrowed" if len(remaining) < len(f.names) else "open"] += 1
            else:
                assert frame["frames"][-1]["function"] == name
    for key, value in counts.items():
        record_property(key, value)
    print(counts)
    assert counts["chosen"] == counts["determined"] > 5000
    assert counts["open"] > 1000 and counts["narrowed"] > 100


def test_the_torture_can_fail(callsign, tmp_path):
    """Call sites that lie make a wrong answer, which the test above would see."""
    gsym_make.write(tmp_path / "m.gsym", [
        {"start": 0x1000, "size": SIZE, "name": "a", "merged": [{"name": "b"}]},
        {"start": 0x2000, "size": SIZE, "name": "main", "sites": [(0x10, 1, ["^b$"])]}])
    stack = {"frames": [{"module": "m", "address": "0x1004"}, {"module": "m", "address": "0x2010"}]}
    answer = json.loads(callsign.good("stack", "--json", "--index", tmp_path / "m.gsym", stdin=json.dumps(stack)))
    assert answer["frames"][0]["merged"]["chosen"] == "b"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-s"]))
