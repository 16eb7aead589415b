#!/usr/bin/env python3
"""Compares the STACK CFI records of two Breakpad symbol files, ours and dump_syms', and gives each difference its reason.

usage: stack_differences.py OURS THEIRS

Prints a JSON object: records of each, rows of rules compared, rows that are equal, rows by reason, and the first row without one. A row is what
holds from an address of either file on, all rules put together. Reasons are those of docs/formats/breakpad.md."""
import collections
import json
import re
import sys

RECORD = re.compile(r"STACK CFI (?:(INIT) ([0-9a-f]+) ([0-9a-f]+)|([0-9a-f]+)) (.*)$")
RULE = re.compile(r"(\S+): (.*?)(?= \S+: |$)")


def functions(path):
    """{(start, how many began there before): (size, {address: {name: value}})}, and the number of records."""
    found, seen, count, rules, rows = {}, collections.Counter(), 0, {}, None
    with open(path, encoding="utf-8", errors="replace") as text:
        for line in text:
            record = RECORD.match(line.rstrip("\n")) if line.startswith("STACK CFI ") else None
            if not record:
                continue
            count += 1
            if record[1]:
                start = int(record[2], 16)
                rules, rows = {}, {}
                found[start, seen[start]] = int(record[3], 16), rows
                seen[start] += 1
            rules = dict(rules)
            rules.update(RULE.findall(record[5]))
            if rows is not None:
                rows[int(record[2] or record[4], 16)] = rules
    return found, count


def at(rows, address):
    """The rules that hold there; registers that are as on entry are left out."""
    known = [a for a in rows if a <= address]
    rules = rows[max(known)] if known else {}
    return {name: value for name, value in rules.items() if value not in (name, name.lstrip("$"))}


def reason(ours, theirs):
    """Why two rows differ; None: unknown."""
    reasons = set()
    for name in set(ours) | set(theirs):
        mine, other = ours.get(name), theirs.get(name)
        if mine == other:
            continue
        if name == ".ra" and mine == "0":
            reasons.add("outermost frame")
        elif mine is None or (name == ".ra" and mine in ("lr", "x30")):
            reasons.add("register restored")
        elif name == ".cfa" and mine == ".undef":
            reasons.add("expression without words")
        elif name == ".cfa" or not re.fullmatch(r"\.cfa -?\d+ \+ \^", mine):
            reasons.add("expression")
        else:
            return None
    return " and ".join(sorted(reasons))


def compare(our_path, their_path):
    (ours, our_count), (theirs, their_count) = functions(our_path), functions(their_path)
    result = {"records": {"ours": our_count, "theirs": their_count}, "functions": {"ours": len(ours), "theirs": len(theirs)},
              "rows": 0, "equal": 0, "reasons": collections.Counter(), "first_without": None}
    for key in sorted(set(ours) | set(theirs)):
        if key not in ours or key not in theirs:
            size, rows = ours.get(key) or theirs.get(key)
            why = "function of expressions" if key in ours else "discarded code" if key[0] == 0 else None
            result["rows"] += len(rows)
            result["reasons"][why or "none"] += len(rows)
            if not why:
                result["first_without"] = result["first_without"] or f"{key[0]:x}: a function of one file"
            continue
        (our_size, our_rows), (their_size, their_rows) = ours[key], theirs[key]
        assert our_size == their_size, hex(key[0])
        for address in sorted(set(our_rows) | set(their_rows)):
            mine, other = at(our_rows, address), at(their_rows, address)
            result["rows"] += 1
            if mine == other:
                result["equal"] += 1
                continue
            why = reason(mine, other)
            result["reasons"][why or "none"] += 1
            if not why:
                result["first_without"] = result["first_without"] or f"{address:x}: {mine} {other}"
    return result


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(json.dumps(compare(*sys.argv[1:])))
