"""Merged functions and call sites, ours beside those of llvm-gsymutil: each reads what the other one wrote."""
import json
import re

import pytest

import folding
from folding import LINKERS, run
from programs import need

FILTERS = [[], ["^beta$"], ["alpha"], ["^_ZN3BoxIdE"], ["^beta$", "5visitE"], ["nobody"], [".*"]]
SITES = """
functions:
  - name: _Z6calleri
    callsites:
      - return_offset: 0x10
        match_regex: ["^beta$", "weak.*"]
        flags: ["InternalCall"]
  - name: beta
    callsites: [{return_offset: 5, match_regex: [abs], flags: [ExternalCall]}]
"""


@pytest.fixture(scope="module", params=[f"{c} {l}" for c in ("clang-22", "g++") for l in LINKERS])
def pair(request, tmp_path_factory, callsign):
    """The folder of a folded program, and of its indexes: ours in compatible mode, theirs; each with call sites of DWARF and
    of a file too."""
    compiler, linker = request.param.split()
    tool = need("llvm-gsymutil-22")
    program = folding.build(tmp_path_factory.mktemp(f"pair-{linker}"), compiler, linker)
    folder = program.parent
    (folder / "sites.yaml").write_text(SITES)
    kinds = {"plain": ([], []), "dwarf": (["--call-sites", "dwarf", "--bare-patterns"], ["--dwarf-callsites"]),
             "file": (["--call-sites", folder / "sites.yaml", "--bare-patterns"], ["--callsites-yaml-file=sites.yaml"])}
    for kind, (ours, theirs) in kinds.items():
        callsign.good("convert", "--merged-functions=llvm", program, "-o", folder / f"{kind}.ours", "-q", *ours)
        run(folder, tool, "--convert", program, "--merged-functions", "--num-threads=1", "-o", f"{kind}.theirs", *theirs)
        callsign.good("verify", folder / f"{kind}.ours")
        callsign.good("verify", folder / f"{kind}.theirs")
    return folder, linker, tool


def starts(callsign, index):
    functions = [json.loads(line).get("function") for line in callsign.good("dump", "--json", index).splitlines()]
    return [f["start"] for f in functions if f]


@pytest.mark.parametrize("patterns", FILTERS, ids=" ".join)
def test_filters_agree(callsign, pair, patterns):
    """The reference tool's lookup, filtered, names the same functions for our file as for its own, at every function; where
    several line sequences cover shared code, ours has each function's own (docs/merged-functions.md)."""
    folder, linker, tool = pair
    args = [f"--address={a}" for a in starts(callsign, folder / "plain.theirs")]
    args += ["--merged-functions", *(f"--merged-functions-filter={p}" for p in patterns)]
    ours, theirs = (run(folder, tool, *args, f"plain.{who}").partition("\n")[2] for who in ("ours", "theirs"))
    assert names_only(ours) == names_only(theirs)
    assert ("beta" in ours) == any(re.search(p, "beta") for p in patterns or [".*"]) or linker != "gold"


def names_only(text):
    return re.sub(r" @ \S+:\d+", "", text)


def shown(text):
    """{address: names} of a lookup of the reference tool."""
    found = {}
    for block in re.split(r"^Found \d+ functions? at address ", text, flags=re.M)[1:]:
        found[int(block.split(":")[0], 16)] = re.findall(r"^ +0x[0-9a-f]+: (\S+)", block, re.M)
    return found


def test_we_read_their_merged_functions(callsign, pair):
    folder, linker, tool = pair
    index = folder / "plain.theirs"
    addresses = starts(callsign, index)
    theirs = shown(run(folder, tool, "--merged-functions", *(f"--address={a}" for a in addresses), index.name))
    ours = {int(answer["address"], 16): answer["candidates"] for answer in map(json.loads, callsign.good(
        "lookup", "--merged", "--json", index, *addresses).splitlines())}
    assert ours.keys() == theirs.keys()
    for addr, names in ours.items():
        # The reference lists the children first, and copies of the function on top with them.
        assert sorted(set(names)) == sorted(set(theirs[addr])), hex(addr)
    assert any(len(names) > 1 for names in ours.values()) == (linker == "gold")


def sites(callsign, index):
    found = {}
    for line in callsign.good("dump", "--json", index).splitlines():
        function = json.loads(line).get("function")
        for f in [function, *function.get("merged", [])] if function else []:
            for s in f.get("call_sites", []):
                found.setdefault((f["name"], s["return_address"]), []).append((s["internal"], s["external"], s["patterns"]))
    return {k: sorted(v) for k, v in found.items()}


def test_we_read_their_call_sites(callsign, pair):
    folder, linker, tool = pair
    ours, theirs = sites(callsign, folder / "file.ours"), sites(callsign, folder / "file.theirs")
    assert ours == theirs
    assert {p for (name, _), found in ours.items() for s in found for p in s[2]} >= {"^beta$", "weak.*"}
    assert (True, False, ["^beta$", "weak.*"]) in [s for found in ours.values() for s in found]
    # DWARF's: those of theirs are among ours, which has some more (docs/merged-functions.md).
    ours, theirs = sites(callsign, folder / "dwarf.ours"), sites(callsign, folder / "dwarf.theirs")
    missing = {k: v for k, v in theirs.items() if k not in ours and k[0] not in {name for name, _ in ours}}
    assert not missing
    for place, found in theirs.items():
        if place in ours:
            assert [s for s in found if s not in ours[place]] == [], place


def test_a_stack_over_their_file(callsign, pair):
    """Their call sites of DWARF, bare names without flags, tell their merged functions apart."""
    folder, linker, tool = pair
    index = folder / "dwarf.theirs"
    found = sites(callsign, index)
    calls = {s[2][0]: addr for (name, addr), own in found.items() if name.startswith("_Z6caller") for s in own if s[2]}
    functions = [json.loads(line).get("function") for line in callsign.good("dump", "--json", index).splitlines()]
    starts_of = {n: f["start"] for f in functions if f for n in [f["name"], *(m["name"] for m in f.get("merged", []))]}
    kept = next(n for n in ("beta", "alpha", "weakling", "hidden") if n in starts_of)   # lld and mold: those that were folded are dropped
    frames = [{"module": "app", "address": hex(int(starts_of[kept], 16) + 2)}, {"module": "app", "address": calls["beta"]}]
    line = callsign.good("stack", "--json", "--index", index, stdin=json.dumps(
        {"modules": [{"name": "app", "index": str(index)}], "frames": frames}))
    frame = json.loads(line)["frames"][0]
    if linker == "gold":
        assert frame["merged"]["chosen"] == "beta" and frame["merged"]["by"] == "caller"
    else:
        assert "merged" not in frame
    assert frame["frames"][-1]["function"] == kept
