"""Sizes of the sections of ELF files, by readelf."""
import re
import subprocess

# The sections of DWARF that an index is made from.
CONVERTED = {f".debug_{name}" for name in ("info", "line", "abbrev", "str", "line_str", "rnglists", "ranges", "addr", "str_offsets")}


def debug_sections(path):
    """{name: (bytes in the file, bytes inflated)} of the .debug_ sections."""
    sizes, name = {}, None
    for line in subprocess.run(["readelf", "-tW", path], capture_output=True, text=True, check=True).stdout.splitlines():
        named = re.match(r"\s+\[\s*\d+\]\s+(\S*)", line)
        words = line.split()
        if named:
            name = named[1]
        elif name is None or not name.startswith(".debug_"):
            continue
        elif name not in sizes and len(words) >= 8:  # type, address, offset, size ...
            sizes[name] = (int(words[3], 16), int(words[3], 16))
        elif words[0].rstrip(",") in ("ZLIB", "ZSTD"):
            sizes[name] = (sizes[name][0], int(words[1].rstrip(","), 16))
    return sizes


def converted_bytes(path):
    """Of what an index is made from: in the file, and inflated."""
    sizes = [size for name, size in debug_sections(path).items() if name in CONVERTED]
    return sum(size[0] for size in sizes), sum(size[1] for size in sizes)
