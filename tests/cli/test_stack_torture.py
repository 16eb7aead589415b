"""A thousand merged groups in twenty modules, random calls between them, every truth known: what the call sites determine
must come out right, and nothing may be chosen that is not true.

The code is laid out as a linker leaves it: a physical function has one or several names (siblings); each of its call
slots goes to one physical function, but each sibling means a name of its own there. What is known of that is random: no
call site, an indirect one, the name exactly or bare, an expression, a list with names that are not here, or a function
that made a tail call, or the first of a chain of those, through any modules, some of which fork, run in circles, jump to
somebody unknown, have a namesake elsewhere or are folded into another function. Siblings make tail calls to each other, too."""
import json
import random
import re
import subprocess
from dataclasses import dataclass, field

import pytest

import gsym_make
from programs import within_memory

MODULES, GROUPS, SINGLES, SLOTS, STACKS = 20, 1000, 300, 4, 3000
SIZE = 0x80
KINDS = ["none", "indirect", "exact", "exact", "exact", "bare", "expression", "list", "gone", "thunk", "thunk", "thunk", "after"]
THUNKS = ["plain", "plain", "plain", "plain", "fork", "ring", "leaf", "indirect", "expression", "namesake"]
CALLS_MAX = 8    # tail calls that are followed


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
    flags: dict       # by sibling


@dataclass
class World:
    functions: list
    at: list          # by module: the next free address
    tails: dict       # (module, name): [(flags, pattern or None)]
    thunks: list      # (module, start, name, whether it is folded into another one)


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
    return [f"^thunk_of_{name}$"]    # the function named there made a tail call, and no index knows it


def scope(module, callee_module):
    """The flag of a call; some know nothing."""
    return gsym_make.INTERNAL if module == callee_module else gsym_make.EXTERNAL


def add_thunk(rng, world, name, targets, module=None):
    """targets: [(module, name)]; None: a jump to somebody unknown."""
    module = rng.randrange(MODULES) if module is None else module
    folded = rng.random() < 0.2
    world.thunks.append((module, world.at[module], name, folded))
    world.at[module] += SIZE
    world.tails[module, name] = [(0, None) if t is None else (scope(module, t[0]), t[1]) for t in targets]
    return module


def add_chain(rng, world, name, callee):
    """Functions, each of which makes a tail call to the next, the last one to `name` of `callee`; the first one's module and
    name."""
    number = len(world.thunks)
    length = rng.choice([1, 1, 2, 2, 3, 4, 5, CALLS_MAX, CALLS_MAX + 1])
    names = [f"t{number}_{k}" for k in range(length)]
    kind, odd = rng.choice(THUNKS), rng.randrange(length)
    target = (callee.module, f"^{name}$")
    for k in range(length - 1, -1, -1):
        targets, own = [target], None
        if k == odd and kind == "fork":
            targets.append((callee.module, f"^{rng.choice(callee.names)}$"))
        elif k == odd and kind == "leaf":
            targets.append((rng.randrange(MODULES), "^nothing_behind_it$"))
        elif k == odd and kind == "indirect":
            targets.append(None)
        elif k == odd and kind == "expression":
            targets = [(callee.module, f"^{name[:-1]}[{name[-1]}z]$")]
        elif k == odd and kind == "ring":
            own = rng.randrange(MODULES)
            targets.append((own, f"^{names[k]}$"))
        home = add_thunk(rng, world, names[k], targets, own)
        if k == odd and kind == "namesake":
            elsewhere = (home + 1 + rng.randrange(MODULES - 1)) % MODULES
            add_thunk(rng, world, names[k], [(callee.module, f"^{rng.choice(callee.names)}$")], elsewhere)
        target = (home, f"^{names[k]}$")
    return target


def tails_to(rng, world, f):
    """One sibling that makes a tail call to another one."""
    a, b = rng.sample(f.names, 2)
    world.tails[f.module, a] = [(gsym_make.INTERNAL, f"^{b}$")]


def make_site(rng, world, f, callee, meant, external):
    """(patterns, flags)"""
    flags = gsym_make.EXTERNAL if external else scope(f.module, callee.module)
    kind = rng.choice(KINDS)
    if kind == "thunk" and not external:
        module, pattern = add_chain(rng, world, meant, callee)
        return [pattern], scope(f.module, module)
    if kind in ("thunk", "after"):
        before = [a for a in callee.names if (gsym_make.INTERNAL, f"^{meant}$") in world.tails.get((callee.module, a), [])]
        return ([f"^{rng.choice(before)}$"] if before else None), flags
    return patterns_for(rng, kind, meant, callee), flags


def make_world(rng):
    functions, at = [], [0x1000] * MODULES
    for i in range(GROUPS + SINGLES):
        module = rng.randrange(MODULES)
        count = rng.randint(2, 5) if i < GROUPS else 1
        functions.append(Function(module, at[module], [f"f{i}_{chr(97 + k)}" for k in range(count)]))
        at[module] += SIZE
    world = World(functions, at, {}, [])
    for f in functions:
        if len(f.names) > 1 and rng.random() < 0.15:
            tails_to(rng, world, f)
    for f in functions:
        for _ in range(SLOTS):
            callee = rng.choice(functions)
            meant = {s: rng.choice(callee.names) for s in f.names}
            silent = [s for s in f.names[1:] if rng.random() < 0.2]
            external = rng.random() < 0.2
            known = {s: (None, 0) if s in silent else make_site(rng, world, f, callee, meant[s], external)
                     for s in f.names}
            f.slots.append(Slot(callee, meant, {s: k[0] for s, k in known.items()}, external,
                                {s: k[1] for s, k in known.items()}))
    return world


def return_offset(slot):
    return 0x10 + 0x10 * slot


def tail_sites(world, module, name):
    return [(0, gsym_make.TAIL | flags, [pattern] if pattern else []) for flags, pattern in world.tails.get((module, name), [])]


def sites(world, f, name):
    return [(return_offset(k), slot.flags[name], slot.patterns[name]) for k, slot in enumerate(f.slots)
            if slot.patterns[name] is not None] + tail_sites(world, f.module, name)


def thunk_row(world, module, start, name, folded):
    own = tail_sites(world, module, name)
    if folded:
        return {"start": start, "size": SIZE, "name": f"kept_for_{name}", "merged": [{"name": name, "sites": own}]}
    return {"start": start, "size": SIZE, "name": name, "sites": own}


def write_world(world, folder):
    for module in range(MODULES):
        rows = [{"start": f.start, "size": SIZE, "name": f.names[0], "sites": sites(world, f, f.names[0]),
                 "merged": [{"name": n, "sites": sites(world, f, n)} for n in f.names[1:]]}
                for f in world.functions if f.module == module]
        rows += [thunk_row(world, *thunk) for thunk in world.thunks if thunk[0] == module]
        gsym_make.write(folder / f"m{module}.gsym", rows)


def allowed(patterns, names):
    """By the rules of the format: a name without metacharacters is exact, all else is searched for."""
    def fits(pattern, name):
        return pattern == name if re.fullmatch(r"\w+", pattern) else re.search(pattern, name) is not None
    return {n for n in names if any(fits(p, n) for p in patterns)}


def exact(pattern):
    bare = re.fullmatch(r"\^?(\w+)\$?", pattern)
    return bare and bare[1]


def home(flags, module):
    return frozenset([module]) if flags == gsym_make.INTERNAL else frozenset(range(MODULES))


def reached(world, starts):
    """{(modules, name)} that tail calls lead to; None: they may lead anywhere."""
    depth, queue, ends, known = {s: 0 for s in starts}, list(starts), set(), set()
    for modules, name in queue:
        for module in modules:
            for flags, pattern in world.tails.get((module, name), []):
                known.add((modules, name))
                if pattern is None or not exact(pattern):
                    return None
                end = (home(flags, module), exact(pattern))
                ends.add(end)
                if end in depth or (home(0, module), end[1]) in depth:
                    continue
                depth[end] = depth[modules, name] + 1
                if depth[end] > CALLS_MAX:
                    return None
                queue.append(end)
    return ends if all(s in known or s in ends for s in starts) else None


def meant_by(world, f, slot, sibling):
    """The names that the call site of one sibling allows; none: it says nothing of this callee."""
    patterns, callee = slot.patterns[sibling], slot.callee
    named = allowed(patterns, callee.names)
    if named:
        ends = reached(world, [(frozenset([callee.module]), n) for n in named if (callee.module, n) in world.tails])
    elif slot.external or not all(map(exact, patterns)):
        return set()
    else:
        ends = reached(world, [(home(slot.flags[sibling], f.module), exact(p)) for p in patterns])
    return named | {n for modules, n in ends or () if callee.module in modules and n in callee.names}


def speaks(world, f, k, remaining):
    """What the call site says, if every function that the caller may be says something about this callee, be it through a
    library that calls back."""
    slot = f.slots[k]
    if any(not slot.patterns[s] for s in remaining):
        return set()
    said = [meant_by(world, f, slot, s) for s in remaining]
    return set().union(*said) if all(said) else set()


def random_stack(rng, world):
    """Frames from the outside in: (function or None for a stripped library, true name, what is determined)."""
    f = rng.choice(world.functions)
    name = rng.choice(f.names)
    remaining = set(f.names)
    frames, slots = [(f, name, set(remaining))], []
    for _ in range(rng.randint(1, 30)):
        k = rng.randrange(SLOTS)
        slot = f.slots[k]
        fits = speaks(world, f, k, remaining)
        slots.append(k)
        if slot.external:
            frames += [(None, None, None)] * rng.randint(1, 3)
            slots += [None] * (len(frames) - len(slots) - 1 + 0)
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
    world = make_world(rng)
    write_world(world, tmp_path)
    stacks = [random_stack(rng, world) for _ in range(STACKS)]
    modules = [{"name": f"m{m}", "start": hex(m << 32), "end": hex(m + 1 << 32)} for m in range(MODULES)]
    text = json.dumps({"modules": modules}) + "\n"
    text += "".join(json.dumps(as_json(rng, *s)) + "\n" for s in stacks)
    indexes = [a for m in range(MODULES) for a in ("--index", tmp_path / f"m{m}.gsym")]
    answers = callsign.good("stack", "--json", *indexes, stdin=text).splitlines()
    assert len(answers) == len(stacks)
    counts = {"merged": 0, "determined": 0, "chosen": 0, "by_tail_calls": 0, "narrowed": 0, "open": 0}
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
            counts["by_tail_calls"] += "tail_calls" in merged.get("evidence", {})
            if chosen is None:
                assert set(merged["remaining"]) == remaining, frame
                counts["narrowed" if len(remaining) < len(f.names) else "open"] += 1
            else:
                assert frame["frames"][-1]["function"] == name
    for key, value in counts.items():
        record_property(key, value)
    print(counts)
    assert counts["chosen"] == counts["determined"] > 5000
    assert counts["by_tail_calls"] > 1000
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


def test_a_new_mapping_before_each_stack(callsign):
    """4,000 mappings of images that are not there, and 4,000 more, one before each stack: placing all of them anew for each took minutes."""
    count = 4000

    def mapping(i):
        start = 0x10000000 + i * 0x2000
        return f"{start:x}-{start + 0x1000:x} r-xp 00001000 08:01 {i + 1} /nowhere/lib{i}.so\n"

    stacks = "".join(f"{mapping(count + k)}#0 {0x10000010 + k * 0x2000:#x}\n#1 {0x10000010 + (count + k) * 0x2000:#x}\n\n" for k in range(count))
    answers = callsign.good("stack", "--json", "--no-search", stdin="".join(map(mapping, range(count))) + stacks).splitlines()
    assert len(answers) == count
    for k, answer in enumerate(map(json.loads, answers)):
        assert [frame["module"] for frame in answer["frames"]] == [f"/nowhere/lib{k}.so", f"/nowhere/lib{count + k}.so"]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_new_module_in_each_stack(callsign, threads):
    """Each stack of a hostile log names another module. 9.6 GB were needed for this one: a table of all modules for each stack."""
    text = "".join(f"#0 lib{i}.so+0x10\n\n" for i in range(20000))
    done = subprocess.run([*within_memory(callsign.path, 1 << 30), callsign.path, "stack", "-j", threads, "--no-search"], input=text,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    lines = done.stdout.split("\n\n")
    assert len(lines) == 20000 and "lib19999.so" in lines[-1]
