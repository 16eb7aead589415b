"""The results of bench/growth as line charts (SVG): the size of the input to the right, what it takes upwards, both doubling
from line to line, so that linear growth is a slope of one."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#2a6fb0", "#c0532b", "#3f8f4f", "#8a5fb5", "#b08a1e", "#555555")
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 220, 44, 34, 70
LEGEND = 14


def panel(x, y, title, series, steps, slope=True):
    """series: {name: values, of which the first is the unit}. A grey line shows growth as fast as the input's."""
    top = max(max(max(values) / values[0] for values in series.values()), max(steps) / steps[0] if slope else 1, 2)
    rows = math.ceil(math.log2(top) - 1e-9)
    columns = math.log2(steps[-1] / steps[0])

    def at(step, ratio):
        return (x + LEFT + WIDTH * math.log2(step / steps[0]) / columns,
                y + TOP + HEIGHT - HEIGHT * math.log2(max(ratio, 1)) / rows)

    def line(values, colour, style=""):
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in (at(step, value) for step, value in zip(steps, values)))
        return f'<polyline points="{points}" fill="none" stroke="{colour}" {style}/>'

    parts = [f'<text x="{x + LEFT}" y="{y + 16}" font-weight="bold">{escape(title)}</text>']
    for row in range(rows + 1):
        _, py = at(steps[0], 2 ** row)
        parts.append(f'<line x1="{x + LEFT}" y1="{py:.1f}" x2="{x + LEFT + WIDTH}" y2="{py:.1f}" stroke="#e4e4e4"/>'
                     f'<text x="{x + LEFT - 6}" y="{py + 4:.1f}" text-anchor="end">{2 ** row}x</text>')
    for step in steps:
        px, _ = at(step, 1)
        parts.append(f'<text x="{px:.1f}" y="{y + TOP + HEIGHT + 16}" text-anchor="middle">{step}x</text>')
    if slope:
        parts.append(line([step / steps[0] for step in steps], "#999", 'stroke-dasharray="4 4"'))
    for k, (name, values) in enumerate(series.items()):
        colour = COLOURS[k % len(COLOURS)]
        parts.append(line([value / values[0] for value in values], colour, 'stroke-width="2"'))
        ly = y + TOP + HEIGHT + 34 + k * LEGEND
        parts.append(f'<rect x="{x + LEFT}" y="{ly - 8}" width="10" height="3" fill="{colour}"/>'
                     f'<text x="{x + LEFT + 16}" y="{ly - 2}">{escape(name)}: {values[-1] / values[0]:.2f}x</text>')
    return parts


def of_units(rows):
    def of(key, threads=None):
        return [row["threads"][threads][key] if threads else row[key] for row in rows]
    conversion = {"input bytes": of("input_bytes"), "instructions, 1 thread": of("instructions")}
    for threads in (1, 2):
        plural = f"{threads} thread{'s' if threads > 1 else ''}"
        conversion[f"CPU time, {plural}"] = of("cpu_s", threads)
        conversion[f"peak memory, {plural}"] = of("peak_mb", threads)
    lookup = {"instructions of a lookup": of("lookup_instructions"), "ns of a lookup": of("single_ns"),
              "ns of a lookup, accelerator": of("accelerated_ns")}
    return conversion, lookup


def spread_of_shapes(shapes):
    """Lowest, middle and highest growth of the things that grow alone."""
    growths = sorted(([row["instructions"] / rows[0]["instructions"] for row in rows], name) for name, rows in shapes.items())
    growths.sort(key=lambda growth: growth[0][-1])
    picked = {"least": growths[0], "middle": growths[len(growths) // 2], "most": growths[-1]}
    return {f"{which}: {name}": values for which, (values, name) in picked.items()}


def bars_of_real(x, y, rows):
    longest = max(row["threads"][1]["cpu_s"] / row["dwarf_bytes"] for row in rows)
    parts = [f'<text x="{x + LEFT}" y="{y + 16}" font-weight="bold">real inputs: CPU ns a byte of inflated DWARF</text>']
    for k, row in enumerate(rows):
        each = row["threads"][1]["cpu_s"] / row["dwarf_bytes"]
        by = y + TOP + k * 36
        label = f"{row['input']}, {row['dwarf_bytes'] / 1e6:.0f} MB"
        parts.append(f'<text x="{x + LEFT}" y="{by + 10}">{escape(label)}</text>'
                     f'<rect x="{x + LEFT}" y="{by + 14}" width="{WIDTH * 0.8 * each / longest:.0f}" height="12" fill="#2a6fb0"/>'
                     f'<text x="{x + LEFT + WIDTH * 0.8 * each / longest + 6:.0f}" y="{by + 24}">{each * 1e9:.2f} ns</text>')
    return parts


def chart(results):
    panels, column = [], WIDTH + LEFT + GAP
    if results["units"]:
        steps = [row["step"] for row in results["units"]]
        conversion, lookup = of_units(results["units"])
        panels.append(lambda x, y: panel(x, y, "translation units linked together", conversion, steps))
        panels.append(lambda x, y: panel(x, y, "lookups in them", lookup, steps))
    if results["shapes"]:
        shapes = spread_of_shapes(results["shapes"])
        panels.append(lambda x, y: panel(x, y, f"instructions, {len(results['shapes'])} things alone", shapes, (1, 2, 4, 8)))
    if results["real"]:
        panels.append(lambda x, y: bars_of_real(x, y, results["real"]))
    tall = TOP + HEIGHT + 50 + 6 * LEGEND
    parts = [part for k, draw in enumerate(panels) for part in draw(k % 2 * column, k // 2 * tall)]
    height = (len(panels) + 1) // 2 * tall
    facts = results["machine"]
    parts.append(f'<text x="8" y="{height + 8}" fill="#666">{escape(facts["date"])}, {escape(str(facts["cpu"]))}, '
                 f'{facts["cores"]} cores; dashed: as fast as the input</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{min(2, len(panels)) * column + 20}" height="{height + 20}" '
            f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>\n'
            + "\n".join(parts) + "\n</svg>\n")
