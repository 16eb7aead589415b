#!/usr/bin/env python3
"""Writes the tables of figures in the documentation from result files, so that no figure is typed by hand.

usage: bench/doc_tables.py [--check] PAGE...

A page marks each table:
  <!-- table NAME bench/results/FILE.json -->
  ... replaced ...
  <!-- end of table -->
NAME is a function below. --check changes nothing and exits 1 where a page differs from its result files."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MARKED = re.compile(r"(<!-- table (\S+) (\S+) -->\n)(.*?)(<!-- end of table -->)", re.S)


def markdown(heads, rows, left=1):
    """`left`: how many columns hold words."""
    lines = [heads, ["---" if k < left else "---:" for k in range(len(heads))], *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def times(ratio):
    return f"{ratio:.1f}x" if ratio < 10 else f"{ratio:.0f}x"


def by(rows, **fields):
    return next((row for row in rows if all(row.get(key) == value for key, value in fields.items())), None)


def condition(results):
    """Under what the figures hold: one line before the table."""
    facts = results["machine"]
    versions = ", ".join(f"{name} {version.split()[-1]}" for name, version in facts["versions"].items()
                         if version and name in ("callsign", "llvm-gsymutil", "gsymtool"))
    return f"{facts['date']}, {facts['cores']} cores, commit {facts['commit']}, medians of {results['rounds']} rounds; {versions}.\n\n"


def conversion(results):
    """Seconds of the reference and of callsign, and how many times less time and memory callsign takes."""
    rows, all_rows = [], results["convert"]
    for name, threads in dict.fromkeys((row["input"], row["threads"]) for row in all_rows):
        ours = by(all_rows, input=name, threads=threads, tool="callsign")
        llvm = by(all_rows, input=name, threads=threads, tool="llvm-gsymutil")
        others = [by(all_rows, input=name, threads=threads, tool=tool) for tool in ("gsymtool", "symcache")]
        rows.append([name, threads, f"{llvm['wall_s']:.2f}", f"{ours['wall_s']:.3f}",
                     times(llvm["wall_s"] / ours["wall_s"]), f"1/{llvm['peak_mb'] / ours['peak_mb']:.1f}",
                     f"{ours['output_bytes'] / llvm['output_bytes']:.2f}",
                     *[times(other["wall_s"] / ours["wall_s"]) if other else "-" for other in others]])
    return condition(results) + markdown(
        ["input", "threads", "llvm-gsymutil, s", "callsign, s", "faster", "memory", "index size", "than gsymtool",
         "than symcache's converter"], rows)


def lookups(results):
    """Nanoseconds of a lookup with every name and path read, and the rivals that read the same."""
    rows, all_rows = [], results["lookup"]
    for name, spread in dict.fromkeys((row["input"], row["addresses"]) for row in all_rows):
        def ns(engine):
            row = by(all_rows, input=name, addresses=spread, engine=engine)
            return row["median_ns"] if row else None
        plain, fast = ns("callsign, strings read"), ns("callsign, accelerator strings read")
        llvm, symcache = ns("LLVM GsymReader, strings read"), ns("symcache, strings read")
        rows.append([f"{name}, {spread.replace('-', ' ')}", f"{plain:,.0f}", f"{fast:,.0f}",
                     *[f"{rival:,.0f}" if rival else "-" for rival in (llvm, symcache)],
                     *[f"{times(rival / plain)} / {times(rival / fast)}" if rival else "-" for rival in (llvm, symcache)]])
    return condition(results) + markdown(
        ["addresses", "callsign, ns", "with accelerator, ns", "LLVM's reader, ns", "symcache, ns",
         "faster than LLVM: plain / accelerator", "than symcache: plain / accelerator"], rows) + fewer_addresses(results) + unequal_finds(results)


def fewer_addresses(results):
    """Readers that get a part of the addresses: a sentence below the table."""
    told = next((line for line in results["commands"]["lookup"] if line.startswith("by-byte, ") and "LLVM GsymReader" in line), None)
    if not told:
        return ""
    made = next(line for line in results["commands"]["lookup"] if line.startswith("bench_addresses "))
    by_function, by_byte, first = map(int, (*re.search(r" (\d+)\|(\d+) ", made).groups(), re.search(r"first (\d+) of", told)[1]))
    return f"\nBy function, all have {by_function:,} addresses; by byte {by_byte:,}, but LLVM's reader only the first {first:,} of these.\n"


def unequal_finds(results):
    """Rivals that answer fewer addresses: a sentence below the table."""
    found = [line for line in results["unequal_finds"] if "strings read" not in line]
    return "\nNot all answer everything: " + "; ".join(found).replace(" by-", ", by ") + ".\n" if found else ""


def goals(results):
    """Each pairing that reads the same, with its goal."""
    rows = []
    for row in (row for row in results["like_for_like"] if row["goal"]):
        plain, fast, goal = row["index_ratio"], row["accelerator_ratio"], row["goal"]
        reached = "plain" if plain >= goal else "with accelerator" if fast >= goal else "no"
        rows.append([f"{row['input']}, {row['addresses'].replace('-', ' ')}", f"{row['what']}: {row['rival']}", times(plain),
                     times(fast), f"{goal}x", reached])
    return condition(results) + markdown(["addresses", "what is read: rival", "plain", "accelerator", "goal", "reached"], rows, left=2) + fewer_addresses(results)


def processes(results):
    rows, all_rows = [], results["process"]
    for name, what in dict.fromkeys((row["input"], row["what"]) for row in all_rows):
        ours, llvm = (by(all_rows, input=name, what=what, tool=tool) for tool in ("callsign", "llvm-gsymutil"))
        rows.append([f"{name}, {what}", f"{llvm['wall_s'] * 1e3:.1f}", f"{ours['wall_s'] * 1e3:.1f}",
                     times(llvm["wall_s"] / ours["wall_s"]), f"1/{llvm['peak_mb'] / ours['peak_mb']:.1f}"])
    return condition(results) + markdown(["what", "llvm-gsymutil, ms", "callsign lookup, ms", "faster", "memory"], rows)


def pages(results):
    rows, all_rows = [], results["pages"]
    for name, count in dict.fromkeys((row["input"], row["lookups"]) for row in all_rows):
        found = [by(all_rows, input=name, lookups=count, engine=e) for e in ("callsign", "LLVM GsymReader", "symcache")]
        rows.append([f"{name}, {count:,}", f"{found[0]['pages_views']:,}",
                     *[f"{row['pages_strings']:,}" if row and row["pages_strings"] is not None else "-" for row in found]])
    return condition(results) + markdown(
        ["open and this many lookups", "callsign, no string read", "callsign", "LLVM's reader", "symcache"], rows)


def accelerator(results):
    rows = [[name, f"{facts['open_ms']:.0f}", f"{facts['bytes'] / 1e6:.1f}"]
            for name, facts in results["accelerator"].items() if facts]
    return condition(results) + markdown(["input", "time to build at open, ms", "private memory, MB"], rows)


def sizes(results):
    rows = []
    for what in next(iter(results["sizes"].values())):
        rows.append([what, *[f"{s[what] / 1e6:.2f} ({s[what] / s['index']:.2f})" if s.get(what) else "-"
                             for s in results["sizes"].values()]])
    return "MB, and in brackets how many times the index.\n\n" + markdown(["", *results["sizes"]], rows)


def stored(results):
    """An accelerator in the file: sizes, times with names and paths read, page faults and shared memory, against symcache."""
    rows = []
    for name, sizes in results["sizes"].items():
        def of(table, engine, **more):
            return by(results[table], input=name, engine=engine, **more)
        cells = [name, f"{sizes['stored'] / 1e6:.1f} / {sizes['symcache'] / 1e6:.1f}"]
        for spread in ("by-function", "by-byte"):
            ns = {engine: of("lookup", engine, addresses=spread)["median_ns"] for engine in ("stored", "LLVM", "symcache")}
            cells += [f"{ns['stored']:,.0f}", f"{times(ns['LLVM'] / ns['stored'])} / {times(ns['symcache'] / ns['stored'])}"]
        first, ours = (of("pages", "callsign", lookups=count) for count in (1, 100))
        memory = [of("memory", engine) for engine in ("stored", "symcache")]
        cells += [first["pages_views"], f"{ours['faults_strings']} / {of('pages', 'symcache', lookups=100)['faults_strings']}",
                  " / ".join(f"{row['pss_mb']:.0f}" for row in memory)]
        rows.append(cells)
    count = results["memory"][0]["processes"]
    return condition(results) + markdown(
        ["input", "file, MB: ours / symcache", "by function, ns", "faster than LLVM's reader / symcache", "by byte, ns",
         "faster than LLVM's reader / symcache", "pages of open and one lookup", "page faults of 100 lookups: ours / symcache",
         f"{count} processes, MB: ours / symcache"], rows)


def one_address(results):
    """Whole processes against one that only opens, looks up and prints."""
    rows = []
    for name in results["sizes"]:
        ms = {row["tool"]: row["wall_s"] * 1e3 for row in results["process"] if row["input"] == name}
        rows.append([name, f"{ms['floor']:.2f}", f"{ms['callsign']:.2f}", f"{ms['callsign'] / ms['floor']:.2f}x", f"{ms['callsign, stored']:.2f}",
                     f"{ms['callsign, stored'] / ms['floor']:.2f}x", f"{ms['callsign --version']:.2f}", f"{ms['llvm-gsymutil']:.1f}", times(ms["llvm-gsymutil"] / ms["callsign"])])
    return condition(results) + markdown(
        ["one address", "a program that does no more, ms", "callsign lookup, ms", "of that program's time", "with a stored accelerator, ms",
         "of that program's time", "callsign --version, ms", "llvm-gsymutil, ms", "faster"], rows)


def many_files(results):
    """A folder of debug files."""
    folder, functions = results["folder"], results["functions"]
    rows = [[row["side"], f"{row['wall_s']:.2f}", times(row["faster"]), f"{row['cpu_s']:.2f}", times(row["less_cpu"]), f"{row['peak_mb']:.0f}"]
            for row in results["rows"]]
    facts = results["machine"]
    return (f"{facts['date']}, {facts['cores']} cores with a load of {facts['load_before']:.0f} before, commit {facts['commit']}, medians of "
            f"{results['rounds']} rounds: {folder['files']} files of {folder['smallest'] / 1e3:,.0f} KB to {folder['largest'] / 1e6:,.0f} MB, "
            f"{folder['bytes'] / 1e6:,.0f} MB in all ({folder['compiled']} of them compiled for it). Indexes of the {functions['files']} files that both "
            f"converted have {functions['callsign']:,} and {functions['llvm']:,} addresses (callsign and llvm-gsymutil); in "
            f"{functions['files_with_fewer']} files ours has fewer.\n\n") + markdown(
        ["side", "time, s", "faster than the better xargs", "processor time, s", "less", "peak memory of a process, MB"], rows)


def stacks(results):
    """`callsign stack --json` alone and against llvm-symbolizer."""
    found = results["results"]
    rows = []
    for key, what in (("callsign stack", "2,000 stacks again and again"), ("new stacks", "no stack twice")):
        if key in found:
            run = found[key]
            rows.append([f"{run['stacks']:,} stacks, {what}", f"{run['wall_us_per_frame']:.2f}", f"{60 * run['stacks'] / run['wall_s']:,.0f}",
                         f"{run['peak_mb']:.0f}", "-", "-"])
    for key, what in (("comparison", "objects that have functions and nothing else"), ("program", "ceph-osd, each address once")):
        if key in found:
            ours, theirs = found[key]["callsign stack"], found[key]["llvm-symbolizer-22"]
            rows.append([what, f"{ours['wall_us_per_frame']:.2f}", f"{60 * ours['stacks_per_s']:,.0f}", f"{ours['peak_mb']:.0f}",
                         f"{theirs['wall_us_per_frame']:.2f}", times(theirs["wall_us_per_frame"] / ours["wall_us_per_frame"])])
    return (f"{results['date']}, {results['cores']} cores with a load of {results['load']:.0f} after, commit {results['commit']}: `{results['command']}`.\n\n"
            + markdown(["stacks of 40 frames", "us a frame", "stacks a minute", "peak memory, MB", "llvm-symbolizer, us a frame", "faster"], rows))


def headline(results):
    """The README's: conversion alone."""
    rows, all_rows = [], results["convert"]
    for name in dict.fromkeys(row["input"] for row in all_rows):
        cells, memory = [], []
        for threads in (1, 2):
            ours, llvm = (by(all_rows, input=name, threads=threads, tool=tool) for tool in ("callsign", "llvm-gsymutil"))
            cells += [f"{ours['wall_s']:.2f} s", times(llvm["wall_s"] / ours["wall_s"])]
            memory.append(f"1/{llvm['peak_mb'] / ours['peak_mb']:.1f}")
        rows.append([name, *cells, " and ".join(memory), f"{ours['output_bytes'] / llvm['output_bytes']:.2f}"])
    return markdown(["against llvm-gsymutil", "1 thread", "faster", "2 threads", "faster", "memory, 1 and 2 threads", "index size"], rows)


def lookup_headline(results):
    """The README's: lookups by function, every name and path read."""
    rows = []
    for name in dict.fromkeys(row["input"] for row in results["lookup"]):
        plain, fast, llvm = (by(results["lookup"], input=name, addresses="by-function", engine=engine)["median_ns"] for engine in
                             ("callsign, strings read", "callsign, accelerator strings read", "LLVM GsymReader, strings read"))
        rows.append([name, f"{plain:,.0f} ns", times(llvm / plain), f"{fast:,.0f} ns", times(llvm / fast)])
    return markdown(["one lookup, against LLVM's reader", "from the file", "faster", "with an accelerator in memory", "faster"], rows)


def growth(results):
    """What twice the input takes, by what grows: averages over the doublings, and the largest of them."""
    groups = {"translation units": results["units"], **results["shapes"]}
    rows = []
    for name, steps in groups.items():
        peaks = [row["peak_mb"] if "peak_mb" in row else row["threads"]["1"]["peak_mb"] for row in steps]
        counts = [row["instructions"] for row in steps]
        rows.append([name, f"{(counts[-1] / counts[0]) ** (1 / (len(steps) - 1)):.2f}", f"{max(b / a for a, b in zip(counts, counts[1:])):.2f}",
                     f"{(peaks[-1] / peaks[0]) ** (1 / (len(steps) - 1)):.2f}"])
    facts = results["machine"]
    note = f"{facts['date']}, commit {facts['commit']}, {facts['versions']['callsign']}: `{results['command']}`.\n\n"
    return note + markdown(["twice the input of", "times the instructions, average", "largest of the doublings", "times the memory, average"], rows)


def first_backtrace(results):
    rows, facts = [], results["machine"]
    for row in results["rows"]:
        theirs = by(results["rows"], input=row["input"], tool="libbacktrace")
        rows.append([f"{row['input']}, {row['tool']}", f"{row['first_s']:.4f}", times(theirs["first_s"] / row["first_s"]), f"{row['all_s']:.4f}",
                     f"{max(row['cpu_s'], 0):.2f}", f"{row['peak_mb']:.0f}", f"{row['peak_mb'] / theirs['peak_mb']:.2f}"])
    return (f"{facts['date']}, {facts['cores']} cores with a load of {facts['load_before']:.0f} before, commit {facts['commit']}, medians of "
            f"{results['rounds']} rounds.\n\n") + markdown(
        ["debug information of", "first lookup, s", "faster", "40 lookups, s", "CPU, s", "memory, MB", "of libbacktrace's"], rows)


def differences(results):
    """Addresses that differ from llvm-gsymutil's index, by reason."""
    inputs = results["inputs"]
    reasons = sorted({reason for counts in inputs.values() for reason in counts["documented"]})
    rows = [["addresses compared", *[f"{counts['addresses']:,}" for counts in inputs.values()]],
            *[[f"`{reason}`", *[f"{counts['documented'].get(reason, 0):,}" for counts in inputs.values()]] for reason in reasons],
            ["not listed here", *[f"{counts['others']:,}" for counts in inputs.values()]]]
    note = f"{results['date']}, commit {results['commit']}, llvm-gsymutil {results['llvm']}: `{results['command']}`.\n\n"
    return note + markdown(["", *inputs], rows)


def lineless(results):
    """Functions that have a line in the program and none in an index."""
    rows = [[name, f"{found['functions']:,}", f"{found['with_line']:,}", f"{found['lost_llvm']:,}", f"{found['lost']:,}"]
            for name, found in results["inputs"].items()]
    note = f"{results['date']}, commit {results['commit']}, llvm-gsymutil {results['llvm']}: `{results['command']}`.\n\n"
    return note + markdown(["", "functions", "with a line in the program", "none in llvm-gsymutil's index", "none in ours"], rows)


def zoo(results):
    """A program of each compiler: answers at random addresses against llvm-symbolizer, differences by kind, and what the kinds are."""
    kinds, rows = results["kinds"], []
    for name, found in results["programs"].items():
        if "left_out" in found:
            rows.append([name, f"left out: {found['left_out'][:100]}", *[""] * (len(kinds) + 4)])
            continue
        lost = ", ".join(f"{kind} {size} B" for kind, size in found["lost"].items()) or "0"
        rows.append([name, found.get("compiler", ""), f"{found['functions']:,}", f"{found['addresses']:,}", f"{found['same']:,}",
                     *[f"{found['differences'][kind]:,}" if kind in found["differences"] else "" for kind in kinds], lost])
    commits = ", ".join(dict.fromkeys(found["commit"] for found in results["programs"].values() if "commit" in found))
    note = f"{results['date']}, commit {commits}, llvm-symbolizer {results['llvm']}: `{results['command']}`.\n\n"
    return (note + markdown(["program", "compiler", "functions", "addresses", "same", *kinds, "not in the index"], rows, left=2) + "\n"
            + "".join(f"- {kind}: {why}.\n" for kind, why in kinds.items()))


def demangled(results):
    """Names of real programs, against the tools that demangle them."""
    rows = [[row["names"], row["reference"], f"{row['distinct']:,}", f"{row['different']:,}", f"{row['only_ours']:,}", f"{row['only_theirs']:,}"]
            for row in results["rows"]]
    commits = ", ".join(dict.fromkeys(row.get("commit", results.get("commit")) for row in results["rows"]))
    note = f"{results['date']}, commit {commits}: `{results['command']}`.\n\n"
    return note + markdown(["names", "reference", "distinct names", "of those that both read, different", "read by us only", "read by it only"], rows, left=2)


def stand_in_sessions(results):
    """Requests through a pipe, and children at once."""
    if not all("floor" in row for row in results["sessions"]):
        return floorless_stand_in_sessions(results)
    ways = [("", "two cores"), ("_one_core", "one core"), ("_in_flight", f"two cores, {results['sessions'][0]['in_flight']} in flight")]
    rows = [[row["dialect"], way, *(f"{row[key + suffix]['per_second']:,}" for key in ("tool", "ours", "ours_kept", "floor")),
             times(row["ours_kept" + suffix]["per_second"] / row["tool" + suffix]["per_second"])]
            for row in results["sessions"] for suffix, way in ways]
    children = [[row["dialect"], *(f"{row[key] / 1e6:,.0f}" for key in ("tool_pss_bytes", "ours_pss_bytes", "ours_kept_pss_bytes"))]
                for row in results["children"]]
    return (markdown(["", "requests a second", "the tool", "callsign", "with an index", "the floor", "with an index, faster"], rows, left=2) + "\n" +
            markdown(["", "16 children: the tool, MB", "callsign, MB", "with an index, MB"], children))


def floorless_stand_in_sessions(results):
    """Results from before November 23, 2026, 17:30, have no floor."""
    rows = [[row["dialect"], *(f"{row[key]['per_second']:,}" for key in ("tool", "ours", "ours_kept", "tool_one_core", "ours_one_core", "ours_kept_one_core")),
             *(f"{children[key] / 1e6:,.0f}" for key in ("tool_pss_bytes", "ours_pss_bytes", "ours_kept_pss_bytes"))]
            for row, children in zip(results["sessions"], results["children"])]
    heads = ["", "the tool, requests/s", "callsign", "with an index", "on one core: the tool", "callsign", "with an index",
             "16 children: the tool, MB", "callsign, MB", "with an index, MB"]
    return markdown(heads, rows)


def old_stand_in_sessions(results):
    """Results from before November 23, 2026, 14:00, have llvm-symbolizer's alone."""
    pipe, children = results["pipe"], results["children"]
    one_core = (f" Client and program on one core: {pipe['tool_one_core']['per_second']:,}, {pipe['ours_one_core']['per_second']:,} and "
                f"{pipe['ours_kept_one_core']['per_second']:,}.") if "tool_one_core" in pipe else ""
    kept = f", with an index {children['ours_kept_pss_bytes'] / 1e6:,.0f} MB" if "ours_kept_pss_bytes" in children else ""
    return (f"Requests through a pipe, one at a time: llvm-symbolizer {pipe['tool']['per_second']:,} a second, callsign "
            f"{pipe['ours']['per_second']:,}, with {'an index' if one_core else 'kept answers'} {pipe['ours_kept']['per_second']:,}.{one_core} "
            f"16 children at once, memory together: "
            f"llvm-symbolizer {children['tool_pss_bytes'] / 1e6:,.0f} MB, callsign {children['ours_pss_bytes'] / 1e6:,.0f} MB{kept}.\n")


def stand_ins(results):
    """Whole processes of the tools and of callsign in their place."""
    whole = results["whole_process"]
    has_new = all("new" in row for row in whole)  # results from before November 23, 2026, have no runs with other addresses
    rows = [[row["dialect"], f"{row['tool']['seconds']:.2f}", f"{row['first']['seconds']:.2f}", times(row["first_times"]),
             f"{row['later']['seconds']:.4f}", times(row["later_times"]),
             *([f"{row['new']['seconds']:.4f}", times(row["new_times"])] if has_new else []),
             f"{row['tool']['peak_bytes'] / 1e6:,.0f}", f"{row['first']['peak_bytes'] / 1e6:,.0f}"] for row in whole]
    heads = ["", "the tool, s", "callsign first, s", "faster", "later, s", "faster", *(["new addresses, s", "faster"] if has_new else []),
             "the tool, MB", "callsign first, MB"]
    sessions = stand_in_sessions(results) if "sessions" in results else old_stand_in_sessions(results)
    return markdown(heads, rows) + "\n" + sessions


def merged(results):
    """Frames of folded functions, told apart over whole stacks."""
    rows = [[f"{row['linker']}, {row['compiler']}", f"{row['merged']:,}", row["mean_candidates"], f"{row['right']:,}",
             f"{row['undecided']:,}", row["wrong"]] for row in results["rows"]]
    return f"{results['date']}, commit {results['commit']}.\n\n" + markdown(
        ["linker and compiler", "frames in folded code", "candidates, mean", "right", "undecided", "wrong"], rows)


def server(results):
    """The symbol server under load, its memory, its start."""
    load, memory, start = results["load"], results["memory"], results["start"]
    half, samply = load["at_rate"], results.get("samply") or {}
    rows = [["requests of 30 frames a second, 16 connections", f"{load['full']['requests_per_s']:,.0f}"],
            ["the same for each second of the server's processor time", f"{load['full']['requests_per_cpu_s']:,.0f}"],
            [f"latency at {half['rate']:,.0f} requests a second: half, 99 of 100, 999 of 1000",
             f"{half['p50_ms']:.2f} ms, {half['p99_ms']:.2f} ms, {half['p999_ms']:.2f} ms"],
            [f"resident memory after {memory['images']:,} images of the store were asked for", f"{memory['resident_mb']:.0f} MB"],
            [f"start with {start['entries']:,} entries in the catalogue", f"{start['start_s']:.2f} s"]]
    if "full" in samply:
        rows += [[f"requests a second of {samply['version']}", f"{samply['full']['requests_per_s']:,.0f}"],
                 ["how many times as many this server answers: a second, a second of processor time",
                  f"{times(results['ratio_to_samply']['requests_per_s'])}, {times(results['ratio_to_samply']['requests_per_cpu_s'])}"]]
    facts = results["machine"]
    note = (f"{facts['date']}, {facts['cores']} cores with a load of {results['load_average_before']:.0f} before, commit {facts['commit']}, medians of "
            f"{results['rounds']} rounds: `{results['command']}`.\n\n")
    return note + markdown(["", ""], rows)


def store_at_scale(results):
    """Fleets of servers before a bucket."""
    def is_shown(row):
        usual = row["exponent"] == 0.9 and row["cache_bytes"] > 10e9
        return usual or (row["layout"].startswith("indexes") and row["routing"] == "by image" and row["cache_bytes"] > 100e9)
    rows = [[row["layout"], f"{row['routing']}, {row['cache_bytes'] / 1e9:,.0f} GB", row["exponent"], f"{row['hit_rate']:.1%}",
             f"{(row['gets_s'] + row['lists_s']) / 1e3:,.0f}", f"{row['fetched_bytes_s'] / 1e9:,.0f}", f"{row['nodes']:,}", row["first"],
             f"{row['bucket_dollars_of_a_million_frames']:.3f}", f"{row['node_dollars_of_a_million_frames']:.4f}"]
            for row in results["fleets"] if is_shown(row)]
    facts = results["measured"]
    note = (f"{results['date']}, commit {results['commit']}: `{results['command']}`. {results['images']:,} images, {results['store_bytes'] / 1e12:.0f} TB, "
            f"{results['requests_s']:,.0f} requests of {facts['frames_of_a_request']} frames a second; a server answers {facts['requests_per_cpu_s']:,.0f} "
            f"of these a second of processor time ({facts['server']}), an index has {facts['index_share']:.0%} of the debug file's bytes "
            f"({facts['convert']}). The model of caches differs from a trace through a real LRU by {results['validation']['largest_difference'] * 100:.1f} "
            f"points of hit rate at most.\n\n")
    return note + markdown(["in the bucket", "requests go, and each server's cache", "Zipf exponent", "hits", "thousand requests to the bucket a second",
                            "GB a second from it", "servers", "breaks first", "$ of the bucket for a million frames", "$ of servers"], rows, left=2)


def commit_of(results):
    """Results of engines from before November 29, 2026, have none."""
    return f"commit {results['commit']}, " if "commit" in results else ""


def spark_condition(results):
    return (f"{results['date']}, {commit_of(results)}Spark {results['spark']}, one master and two workers of one core on {results['cores']} cores with a load average of {results['load']} "
            f"before; {results['modules']} modules of {results['object']}, Zipf.\n\n")


def spark_runs(results):
    """Every run on the cluster: seconds, shuffled bytes and answers, and rivals on the same frames."""
    rows = []
    for row in results["runs"]:
        if row.get("master") == "spark":
            same = {True: "the same", False: "OTHERS", None: "" if row["what"].startswith(("symbolic", "addr2line")) else "first"}[row.get("same_answers")]
            rows.append([row["what"], f"{row['frames']:,}", f"{row['seconds']:.1f}", f"{row['frames_per_second']:,}", f"{row['shuffle_bytes'] / 1e6:.1f}",
                         f"{row['named']:,}", same])
    return spark_condition(results) + markdown(["run", "frames", "s", "frames a second", "MB shuffled", "rows with names", "answers"], rows)


def spark_growth(results):
    """callsign.spark with the first kind of join: the cluster and local masters."""
    first = next(row["what"] for row in results["runs"] if row["what"].startswith("callsign.spark,"))
    runs = [row for row in results["runs"] if row["what"] == first and "distinct_pairs" in row]
    masters = list(dict.fromkeys(row["master"] for row in runs))
    rows = []
    for frames in dict.fromkeys(row["frames"] for row in runs):
        of = {master: by(runs, frames=frames, master=master) for master in masters}
        pairs = next(row["distinct_pairs"] for row in of.values() if row)
        rows.append([f"{frames:,}", f"{pairs:,}", *[f"{of[master]['seconds']:.1f}" if of[master] else "-" for master in masters]])
    return markdown(["frames", "distinct pairs", *[f"{'cluster' if master == 'spark' else master}, s" for master in masters]], rows, left=0)


def spark_cost(results):
    """What each stage costs for a frame, a pair or an image, and for 10^12 frames, 10^9 pairs and 10^6 images on 1000 cores."""
    plans = {row["what"].rpartition("=")[2]: row for row in sorted(results["runs"], key=lambda row: row["frames"])
             if row.get("master") == "spark" and row["what"].startswith("callsign.spark, join=") and "distinct_pairs" in row}
    broadcast, shuffled = plans["broadcast"], plans["auto"]
    if "shuffle of rows" not in shuffled["stages"]:
        shuffled = plans["hash"]
    frames, pairs = shuffled["frames"], shuffled["distinct_pairs"]
    convert = next(row for row in results["runs"] if row["what"] == "callsign.spark.convert")
    stages = shuffled["stages"]

    def hours(seconds):
        return f"{seconds / 1000 / 3600:.1f} h" if seconds > 3.6e6 else f"{seconds / 1000 / 60:.1f} min"

    def of_frame(name, cost, size):
        return [name, f"{cost * 1e6 / frames:.2f} µs a frame", f"{size / frames:.2f} bytes a frame" if size else "none", hours(cost / frames * 1e12),
                f"{size / frames:.1f} TB" if size else "-"]

    def of_pair(name, cost, size):
        return [name, f"{cost * 1e6 / pairs:.1f} µs a pair", f"{size / pairs:.0f} bytes a pair" if size else "none", hours(cost / pairs * 1e9),
                f"{size / pairs:.0f} GB" if size else "-"]
    per_byte, share = convert["seconds"] / convert["file_bytes"], convert["index_bytes"] / convert["file_bytes"]
    rows = [["convert, once", f"{per_byte * 1e8:.1f} s for 100 MB ({convert['file']})", "none", hours(per_byte * 1e8 * 1e6), f"{share * 100:.0f} TB of indexes"],
            of_frame("read, distinct", stages["distinct"]["task_seconds"], 0),
            of_pair("shuffles of pairs, salt", stages["salt and shuffle of pairs"]["task_seconds"],
                    stages["distinct"]["shuffle_bytes"] + stages["salt and shuffle of pairs"]["shuffle_bytes"]),
            of_pair("lookups, with Python and Arrow", stages["lookups"]["task_seconds"], stages["lookups"]["shuffle_bytes"]),
            of_frame("shuffle of rows", stages["shuffle of rows"]["task_seconds"], stages["shuffle of rows"]["shuffle_bytes"]),
            of_frame("join after a shuffle, and reading every answer", stages["join"]["task_seconds"], 0),
            of_frame("instead of both: join by broadcast", broadcast["stages"]["join"]["task_seconds"], 0)]
    head = f"Of {shuffled['what']} over {frames:,} frames and {pairs:,} pairs; the last line of join=broadcast over {broadcast['frames']:,}.\n\n"
    return head + markdown(["stage", "task time", "shuffled", "1000 cores, 10^12 frames, 10^9 pairs, 10^6 images of 100 MB", "bytes there"], rows, left=1)


def clickhouse(results):
    """Throughput of symbolicate beside ClickHouse's own functions, in one process."""
    rows = [[row["what"], f"{row['rows']:,}", f"{row['seconds']:.2f}", f"{row['rows_per_second']:,}", f"{row['with_line']:,}" if row["with_line"] is not None else "names only"]
            for row in results["runs"]]
    same = results["same_names"]
    return (f"{results['date']}, {commit_of(results)}ClickHouse {results['clickhouse']} (chdb), {results['cores']} cores with a load average of {results['load']} before, addresses of "
            f"{results['functions']} functions of {results['library']}. The names of addressToSymbol and symbolicate agree in {same['same'] / same['rows']:.0%} of the rows.\n\n"
            + markdown(["function", "rows", "s", "rows a second", "answers with a line"], rows))


def fuzzing(results):
    """What ran, by target; both engines together where both did."""
    totals = {}
    for run in results["runs"]:
        total = totals.setdefault(run["target"], {"runs": 0, "cpu": 0, "afl": 0, "engines": set(), "crashes": 0, "date": ""})
        total["runs"] += run["runs"]
        total["cpu"] += run["cpu_seconds"]
        total["afl"] += run["cpu_seconds"] if run["engine"] == "AFL++" else 0
        total["engines"].add(run["engine"])
        total["crashes"] += run["crashed"]
        total["date"] = max(total["date"], run["date"])
    rows = [[name, " and ".join(sorted(total["engines"])), total["date"], f"{total['runs']:,}", f"{total['cpu'] / 60:,.0f}",
             f"{total['afl'] / 60:,.0f}", total["crashes"]] for name, total in sorted(totals.items())]
    whole = [sum(total[key] for total in totals.values()) for key in ("runs", "cpu", "afl", "crashes")]
    rows.append(["all", "", "", f"{whole[0]:,}", f"{whole[1] / 60:,.0f}", f"{whole[2] / 60:,.0f}", whole[3]])
    return markdown(["target", "engine", "last run", "inputs tried", "minutes", "of them AFL++", "runs that ended with a find"], rows, 3)


def fuzz_budgets(results):
    """The most that a saved input takes, and the most of what its size allows."""
    first = results["budgets"][0]
    rows = [[row["target"], f"{row['inputs']:,}", f"{row['largest']:,}", row["ms"], f"{row['time_share']:.0%}", f"{row['kib']:,}", f"{row['heap_share']:.0%}"]
            for row in results["budgets"]]
    return (f"{first['date']}, commit {first['commit']}: `{first['command']}`.\n\n" +
            markdown(["target", "saved inputs", "bytes of the largest", "most ms", "of the budget at most", "most KiB", "of the budget at most"], rows))


def fuzz_coverage(results):
    """Lines that the saved inputs reach, most covered first."""
    rows = sorted(results["coverage"], key=lambda row: -row["covered"] / max(row["lines"], 1))
    note = f"{rows[0]['date']}, commit {rows[0]['commit']}: `{rows[0]['command']}`.\n\n"
    return note + markdown(["folder", "lines", "reached"],
                    [[f"`{row['folder']}`", row["lines"], f"{row['covered'] / max(row['lines'], 1):.0%}"] for row in rows])


def check_times(results):
    """What the checks take in a new clone, with their longest steps."""
    rows = []
    for run in results["runs"]:
        longest = sorted(run["steps"], key=lambda step: -step["seconds"])[:4]
        rows.append([f"`make {run['target']}`", f"{run['seconds'] // 60}:{run['seconds'] % 60:02}", f"{run['passed']:,}", f"{run['failed']:,}", f"{run['skipped']:,}",
                     ", ".join(f"{step['name']} {step['seconds']} s" for step in longest)])
    note = f"{results['date']}, {results['cores']} cores with a load of {results['load_before']:.0f} before, commit {results['commit']}: `{results['command']}`.\n\n"
    return note + markdown(["in a new clone", "minutes", "passed", "failed", "skipped", "longest steps"], rows)


def remote(results):
    """Cold lookups in an index on a server: requests and bytes, by byte of code and by function."""
    rows = []
    for layout, by_weight in results["inputs"]["ceph-osd"].items():
        weights = [by_weight[weight] for weight in ("byte", "function")]
        option = {"plain": "plain", "accelerated": "`--accelerate`", "remote layout": "`--remote-layout`"}[layout]
        rows.append([option, f"{weights[0]['file_bytes'] / 1e6:.1f}",
                     *[f"{row['requests']['median']:.0f}, {row['requests']['max']}" for row in weights],
                     f"{sum(row['requests']['within_bound'] for row in weights)} of {sum(row['addresses'] for row in weights):,}",
                     f"{max(row['bytes']['max'] for row in weights):,}"])
    return f"{results['date']}, commit {results['commit']}: `{results['command']}`.\n\n" + markdown(
        ["index", "MB", "requests by byte, median and most", "by function", "with 5 requests or fewer", "bytes at most"], rows)


def profiles(results):
    """A stream of samples, the same work by other tools, and what a distinct stack costs."""
    all_of = results["results"]
    rows = [[what, f"{row['samples']:,}", f"{row['samples_per_cpu_s'] / 1e6:.2f} million samples a second of CPU", f"{row['peak_mb']:.1f} MB"]
            for what, row in all_of["stream"].items()]
    for part in ("pprof", "perf"):
        rows += [[what.replace("|", "\\|"), f"{all_of[part]['samples']:,}", f"{row['cpu_s']:.2f} s of CPU, {row['wall_s']:.2f} s by the clock",
                  f"{row['peak_mb']:.1f} MB"] for what, row in all_of[part].items() if what != "samples"]
    distinct = [[what, f"{row['samples_per_cpu_s'] / 1e6:.2f} million samples a second of CPU", f"{row['peak_mb']:.0f} MB"]
                for what, row in all_of["distinct"].items() if isinstance(row, dict)]
    bytes_of = ", ".join(f"{what.removesuffix(', bytes a distinct stack')} {row}" for what, row in all_of["distinct"].items() if not isinstance(row, dict))
    note = f"{results['date']}, {results['cores']} cores with a load of {results['load']:.0f}, commit {results['commit']}: `{results['command']}`.\n\n"
    return (note + markdown(["what", "samples", "time", "peak memory"], rows) + "\n" +
            markdown(["distinct stacks of 12 frames", "time", "peak memory"], distinct) + f"\nBytes a distinct stack: {bytes_of}.\n")


TABLES = {f.__name__: f for f in (conversion, lookups, goals, processes, pages, accelerator, sizes, stored, one_address, many_files, stacks, headline,
                                lookup_headline, first_backtrace, differences, lineless, zoo, demangled, stand_ins, merged, server,
                                store_at_scale, spark_runs, spark_growth, spark_cost, clickhouse,
                                fuzzing, fuzz_budgets, fuzz_coverage, check_times, remote, profiles, growth)}


def render(match):
    begin, name, path, _, end = match.groups()
    if name not in TABLES:
        sys.exit(f"doc_tables: {name}: no such table; there are {', '.join(TABLES)}")
    return begin + TABLES[name](json.loads((ROOT / path).read_text())) + end


def main():
    words = sys.argv[1:]
    check = "--check" in words
    different = 0
    for page in (word for word in words if word != "--check"):
        path = pathlib.Path(page)
        text = path.read_text(encoding="utf-8")
        made = MARKED.sub(render, text)
        if made == text:
            continue
        different += 1
        if check:
            print(f"{page}: a table differs from its result file: run bench/doc_tables.py {page}")
        else:
            path.write_text(made, encoding="utf-8")
    return 1 if check and different else 0


if __name__ == "__main__":
    sys.exit(main())
