"""The results of bench/run as text tables and as a bar chart (SVG)."""
from xml.sax.saxutils import escape


def table(title, heads, rows):
    """Columns as wide as their contents; numbers to the right."""
    widths = [max(len(str(row[k])) for row in [heads, *rows]) for k in range(len(heads))]
    def line(row):
        cells = [str(cell).ljust(width) if k < 2 else str(cell).rjust(width)
                 for k, (cell, width) in enumerate(zip(row, widths))]
        return "  ".join(cells).rstrip()
    return "\n".join([title, line(heads), line(["-" * width for width in widths]), *map(line, rows), ""])


def ratio(theirs, ours):
    return f"{theirs / ours:.2f}x" if ours else "-"


def reference(rows, name):
    return next((row for row in rows if name in (row.get("tool"), row.get("engine"))), None)


def convert_table(rows):
    out = []
    for key in dict.fromkeys((row["input"], row["threads"]) for row in rows):
        group = [row for row in rows if (row["input"], row["threads"]) == key]
        # gsymtool and symcache have one thread, so they stand against our run with one
        ours = reference(group, "callsign")
        for row in group:
            versus = [ratio(row[field], ours[field]) if ours else "-"
                      for field in ("wall_s", "cpu_s", "peak_mb", "output_bytes")]
            out.append([key[0], row["tool"], key[1], f"{row['wall_s']:.3f}", f"{row['minimum_wall_s']:.3f}",
                        f"{row['cpu_s']:.3f}", f"{row['peak_mb']:.0f}", f"{row['output_bytes']:,}",
                        *versus])
    return table("Converting (medians; ratios: this tool over callsign)",
                 ["input", "tool", "threads", "wall s", "min s", "cpu s", "peak MB", "output bytes", "time", "cpu",
                  "memory", "size"], out)


def floor_table(rows, conversions):
    """What no converter on one thread goes below, and how far above it we are."""
    out = []
    for row in rows:
        ours = next(c["wall_s"] * 1e3 for c in conversions
                    if (c["input"], c["tool"], c["threads"]) == (row["input"], "callsign", 1))
        library = row["inflating_with_libdeflate_ms"]
        out.append([row["input"], f"{row['bytes'] / 1e6:.0f}", f"{library:.0f}", f"{row['inflating_ms']:.0f}",
                    f"{row['touching_ms']:.0f}", f"{row['compiling_plans_ms']:.0f}", f"{row['stepping_ms']:.0f}",
                    f"{ours:.0f}", ratio(ours, library + row["touching_ms"]),
                    ratio(ours, row["inflating_ms"] + row["touching_ms"])])
    return table("The floor of a conversion, one thread, ms (medians)",
                 ["input", "MB needed", "libdeflate", "own inflating", "touching", "plans", "stepping", "conversion",
                  "over libdeflate and touching", "over own inflating and touching"], out)


def lookup_table(rows):
    out = []
    for key, group in groups_of(rows):
        for row in group:
            found = f"{row['found']:.2%}" if "found" in row else "-"
            out.append([" ".join(key), row["engine"], f"{row['median_ns']:.1f}", f"{row['minimum_ns']:.1f}", found])
    return table("Warm random lookups in process", ["input", "engine", "median ns", "min ns", "found"], out)


def groups_of(rows):
    keys = dict.fromkeys((row["input"], row["addresses"]) for row in rows)
    return [(key, [row for row in rows if (row["input"], row["addresses"]) == key]) for key in keys]


# What is read of every frame, ours and the rivals that read the same, and how many times faster we mean to be. LLVM's
# reader cannot but find the ends of all strings.
SAME = (("views only", "views only", (("LLVM GsymReader", 10),)),
        ("names", "names", (("symcache", 2),)),
        ("names and paths, every byte", "strings read",
         (("symcache, strings read", 2), ("LLVM GsymReader, strings read", 10))),
        ("unsorted batch", "batch", (("LLVM GsymReader", 15),)),
        ("sorted batch", "sorted batch", (("LLVM GsymReader", 30),)))


def like_for_like(rows):
    """Each way of asking beside the rivals that do the same: ratios of medians, rival over ours."""
    out = []
    for (name, addresses), group in groups_of(rows):
        for what, way, rivals in SAME:
            ours, fast = reference(group, f"callsign, {way}"), reference(group, f"callsign, accelerator {way}")
            for rival, goal in rivals:
                theirs = reference(group, rival)
                if ours and fast and theirs:
                    out.append({"input": name, "addresses": addresses, "what": what, "rival": rival,
                                "rival_ns": theirs["median_ns"], "index_ns": ours["median_ns"],
                                "accelerator_ns": fast["median_ns"], "goal": goal,
                                "index_ratio": round(theirs["median_ns"] / ours["median_ns"], 2),
                                "accelerator_ratio": round(theirs["median_ns"] / fast["median_ns"], 2)})
    return out


def like_for_like_table(rows):
    out = [[f"{row['input']} {row['addresses']}", f"{row['what']}: {row['rival']}", f"{row['rival_ns']:.1f}",
            f"{row['index_ns']:.1f}", f"{row['index_ratio']:.2f}x", f"{row['accelerator_ns']:.1f}",
            f"{row['accelerator_ratio']:.2f}x", f"{row['goal']}x", verdict(row)] for row in rows]
    return table("Like for like (medians; batches against single lookups, as the rivals have none)",
                 ["input", "what is read: rival", "its ns", "index itself, ns", "ratio", "accelerator, ns", "ratio", "goal",
                  "reached"], out)


def verdict(row):
    """Which way of looking up reaches the goal."""
    if row["index_ratio"] >= row["goal"]:
        return "by both"
    return "with accelerator" if row["accelerator_ratio"] >= row["goal"] else "no"


def pages_table(rows):
    out = [[f"{row['input']}, {row['lookups']:,} lookups", row["engine"],
            *(row.get(key) if row.get(key) is not None else "-"
              for key in ("faults_views", "pages_views", "faults_strings", "pages_strings"))] for row in rows]
    return table("Open and look up, file in memory but not mapped (faults: a rival's harness's own left out)",
                 ["what", "engine", "page faults", "pages touched", "with strings: faults", "pages"], out)


def accelerator_table(accelerators):
    out = [[name, f"{facts['open_ms']:.0f} ms", f"{facts['bytes']:,}", f"{facts['bytes_a_function']:.0f}"]
           for name, facts in accelerators.items() if facts]
    return table("The accelerator", ["input", "open", "bytes", "bytes a function"], out)


def process_table(rows):
    out = []
    for key in dict.fromkeys((row["input"], row["what"]) for row in rows):
        group = [row for row in rows if (row["input"], row["what"]) == key]
        ours = reference(group, "callsign")
        for row in group:
            out.append([f"{key[0]}, {key[1]}", row["tool"], f"{row['wall_s'] * 1e3:.2f}",
                        f"{row['minimum_wall_s'] * 1e3:.2f}", f"{row['cpu_s'] * 1e3:.2f}", f"{row['peak_mb']:.1f}",
                        *(ratio(row[key], ours[key]) if ours else "-" for key in ("wall_s", "cpu_s"))])
    return table("Whole processes (medians; ratios: this tool over callsign)",
                 ["what", "tool", "wall ms", "min ms", "cpu ms", "peak MB", "time", "cpu"], out)


def tables(results):
    facts = results["machine"]
    head = [f"{facts['date']}, {facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB; "
            f"commit {facts['commit']}; {results['rounds']} rounds"]
    head += [f"{name}: {version}" for name, version in facts["versions"].items() if version]
    parts = ["\n".join(head) + "\n"]
    if results["convert"]:
        parts += [convert_table(results["convert"]), floor_table(results["floor"], results["convert"])]
    if results["lookup"]:
        parts += [lookup_table(results["lookup"]), like_for_like_table(results["like_for_like"]),
                  accelerator_table(results["accelerator"]), pages_table(results["pages"]),
                  process_table(results["process"])]
    return "\n".join(parts)


BAR, GAP, LABEL, WIDTH, TEXT = 16, 5, 250, 420, 150


def bars(rows):
    """Groups of horizontal bars: (group title, [(label, value, text)]). Each group has a scale of its own."""
    parts, y = [], 20
    for title, values in rows:
        parts.append(f'<text x="8" y="{y}" font-weight="bold">{escape(title)}</text>')
        y += 8
        longest = max(value for _, value, _ in values)
        for label, value, text in values:
            width = max(1, round(WIDTH * value / longest))
            colour = "#2a6fb0" if label.startswith("callsign") else "#b8b8b8"
            parts.append(f'<text x="{LABEL - 6}" y="{y + BAR - 4}" text-anchor="end">{escape(label)}</text>'
                         f'<rect x="{LABEL}" y="{y}" width="{width}" height="{BAR}" fill="{colour}"/>'
                         f'<text x="{LABEL + width + 5}" y="{y + BAR - 4}">{escape(text)}</text>')
            y += BAR + GAP
        y += 24
    return parts, y


def chart(results):
    groups = []
    for key in dict.fromkeys((row["input"], row["threads"]) for row in results["convert"]):
        values = [(row["tool"], row["wall_s"], f"{row['wall_s']:.2f} s, {row['peak_mb']:.0f} MB")
                  for row in results["convert"] if (row["input"], row["threads"]) == key]
        groups.append((f"convert {key[0]}, {key[1]} thread{'s' if key[1] > 1 else ''}", values))
    for key in dict.fromkeys((row["input"], row["addresses"]) for row in results["lookup"]):
        values = [(row["engine"], row["median_ns"], f"{row['median_ns']:.0f} ns")
                  for row in results["lookup"] if (row["input"], row["addresses"]) == key
                  and not row["engine"].endswith(("batch", "threads", "sorted"))]
        groups.append((f"warm random lookup, {key[0]}, addresses {key[1]}", values))
    for key in dict.fromkeys((row["input"], row["lookups"]) for row in results["pages"]):
        values = [(row["engine"], row["pages_strings"], f"{row['pages_strings']:,} pages") for row in results["pages"]
                  if (row["input"], row["lookups"]) == key and row.get("pages_strings")]
        groups.append((f"pages of the index touched, {key[0]}, open and {key[1]:,} lookups with strings", values))
    for key in dict.fromkeys((row["input"], row["what"]) for row in results["process"]):
        values = [(row["tool"], row["wall_s"], f"{row['wall_s'] * 1e3:.1f} ms") for row in results["process"]
                  if (row["input"], row["what"]) == key]
        groups.append((f"whole process, {key[0]}, {key[1]}", values))
    parts, height = bars(groups)
    facts = results["machine"]
    parts.append(f'<text x="8" y="{height}" fill="#666">{escape(facts["date"])}, {escape(str(facts["cpu"]))}, '
                 f'{facts["cores"]} cores; medians of {results["rounds"]} rounds; shorter is better</text>')
    width = LABEL + WIDTH + TEXT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 14}" '
            f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>\n' +
            "\n".join(parts) + "\n</svg>\n")
