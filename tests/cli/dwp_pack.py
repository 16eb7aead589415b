"""Packs .dwo files of DWARF 5 into a package, for what Debian's packers cannot pack: g++'s, with a unit of code and any number
of type units in each file, in sections of one name.

Little-endian ELF64 only. Every part is put behind the one before it, so that nothing is at the offset that it had."""
import struct

INDEX_COLUMNS = ((1, ".debug_info.dwo"), (3, ".debug_abbrev.dwo"), (6, ".debug_str_offsets.dwo"), (8, ".debug_rnglists.dwo"))


def sections_of(data):
    """[(name, bytes)] of an ELF file."""
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    strings = heads[names][4]
    out = []
    for name, kind, _, _, off, length in heads:
        end = data.index(b"\0", strings + name)
        out.append((data[strings + name:end].decode(), b"" if kind == 8 else data[off:off + length]))
    return out


def units_of(info):
    """[(unit type, id, offset, size)] of a .debug_info.dwo of DWARF 5."""
    at, out = 0, []
    while at < len(info):
        length, _, kind = struct.unpack_from("<IHB", info, at)
        out.append((kind, struct.unpack_from("<Q", info, at + 12)[0], at, length + 4))
        at += length + 4
    return out


def index_of(rows):
    """rows: [(id, {section number: (offset, size)})]"""
    slots = 1
    while slots * 2 < len(rows) * 3 + 2:
        slots *= 2
    table = [0] * slots
    for number, (key, _) in enumerate(rows, 1):
        at, step = key & (slots - 1), (key >> 32 & (slots - 1)) | 1
        while table[at]:
            at = (at + step) & (slots - 1)
        table[at] = number
    out = struct.pack("<HHIII", 5, 0, len(INDEX_COLUMNS), len(rows), slots)
    out += b"".join(struct.pack("<Q", rows[n - 1][0] if n else 0) for n in table)
    out += struct.pack(f"<{slots}I", *table)
    out += struct.pack(f"<{len(INDEX_COLUMNS)}I", *(number for number, _ in INDEX_COLUMNS))
    for part in (0, 1):
        for _, parts in rows:
            out += struct.pack(f"<{len(INDEX_COLUMNS)}I", *(parts[number][part] for number, _ in INDEX_COLUMNS))
    return out


def elf_of(sections):
    """A relocatable ELF file of [(name, bytes)]."""
    names, bodies, heads = b"\0", b"", [struct.pack("<IIQQQQIIQQ", *[0] * 10)]
    for name, data in [*sections, (".shstrtab", b"")]:
        name_off = len(names)
        names += name.encode() + b"\0"
        if name == ".shstrtab":
            data = names
        heads.append(struct.pack("<IIQQQQIIQQ", name_off, 3 if name == ".shstrtab" else 1, 0, 0, 64 + len(bodies),
                                 len(data), 0, 0, 1, 0))
        bodies += data
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(bodies), 0, 64, 0, 0, 64,
                                                       len(heads), len(heads) - 1)
    return header + bodies + b"".join(heads)


def pack(dwo_paths, out_path):
    whole = {name: b"" for _, name in INDEX_COLUMNS}
    whole[".debug_str.dwo"] = b""
    code, types = [], {}
    for path in dwo_paths:
        found = {}
        for name, data in sections_of(path.read_bytes()):
            found[name] = found.get(name, b"") + data
        moved = len(whole[".debug_str.dwo"])
        offsets = found[".debug_str_offsets.dwo"]
        found[".debug_str_offsets.dwo"] = offsets[:8] + b"".join(
            struct.pack("<I", old + moved) for old, in struct.iter_unpack("<I", offsets[8:]))
        parts = {number: (len(whole[name]), len(found.get(name, b""))) for number, name in INDEX_COLUMNS}
        base = parts[1][0]
        for kind, key, off, size in units_of(found[".debug_info.dwo"]):
            row = (key, {**parts, 1: (base + off, size)})
            if kind == 5:
                code.append(row)
            else:
                types.setdefault(key, row)
        for name in whole:
            whole[name] += found.get(name, b"")
    indexes = [(".debug_cu_index", index_of(code))]
    if types:
        indexes.append((".debug_tu_index", index_of(list(types.values()))))
    out_path.write_bytes(elf_of([*whole.items(), *indexes]))


GIB4 = 1 << 32


def pack_beyond_4_gib(dwo_paths, out_path):
    """Two files, of which the second one's units begin 4 GiB behind the first one's: offsets of 32 bits tell none from the other. Between them
    is a unit of no known version; the file has a hole there."""
    pack(dwo_paths, out_path)
    sections = [part for part in sections_of(out_path.read_bytes()) if part[0] not in ("", ".shstrtab", ".debug_cu_index", ".debug_tu_index")]
    info, rows, parts = dict(sections)[".debug_info.dwo"], [], {}
    size = len(sections_of_dwo(dwo_paths[0])[".debug_info.dwo"])
    others = [(name, data) for name, data in sections if name != ".debug_info.dwo"]
    for path, base in ((dwo_paths[0], 0), (dwo_paths[1], GIB4)):
        found = sections_of_dwo(path)
        row = {number: (parts.get(name, 0), len(found.get(name, b""))) for number, name in INDEX_COLUMNS}
        parts = {name: parts.get(name, 0) + len(found.get(name, b"")) for _, name in INDEX_COLUMNS}
        for kind, key, off, length in units_of(found[".debug_info.dwo"]):
            rows.append((key, {**row, 1: ((base + off) % GIB4, length)}))
    head = elf_of([*others, (".debug_cu_index", index_of(rows)), (".debug_info.dwo", b"")])
    table, = struct.unpack_from("<Q", head, 40)
    at = next(table + 64 * i for i, (name, _) in enumerate(sections_of(head)) if name == ".debug_info.dwo")
    head = head[:at + 24] + struct.pack("<QQ", len(head), GIB4 + len(info) - size) + head[at + 40:]
    with open(out_path, "wb") as out:
        out.write(head + info[:size] + struct.pack("<IQH", 0xffffffff, GIB4 - size - 12, 99))
        out.seek(len(head) + GIB4)
        out.write(info[size:])


def sections_of_dwo(path):
    return dict(sections_of(path.read_bytes()))
