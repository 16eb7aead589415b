"""What a program says of an address, read by tools that are not ours: readelf, objdump, llvm-dwarfdump.

tests/corpus/zoo holds each excuse for a difference against these.
"""
import bisect
import os
import re
import subprocess

READELF, OBJDUMP, DWARFDUMP = "readelf", "objdump", "llvm-dwarfdump-22"

CODE = {"subprogram", "inlined_subroutine", "entry_point"}
SCOPES = CODE | {"namespace", "module", "class_type", "structure_type", "union_type", "enumeration_type", "interface_type", "lexical_block"}
ATTRIBUTE = re.compile(r"\s+DW_AT_(name|linkage_name|MIPS_linkage_name|abstract_origin|specification|decl_file|decl_line|call_file|call_line|low_pc|high_pc)\s+(\(.*\))$")
RANGE = re.compile(r"\s+\[0x([0-9a-f]+), 0x([0-9a-f]+)\)")


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", check=False).stdout


def is_same_path(one, other):
    """Both normalised (`.`, `..`, `//`). A line table's path without its unit's folder is one that the other ends with."""
    one, other = (os.path.normpath(path) if path else "" for path in (one, other))
    return one == other or (bool(one) and bool(other) and (other.endswith("/" + one) or one.endswith("/" + other)))


class Facts:
    def __init__(self, program):
        self.program = program
        self.sections, self.symbols = self.read_sections(), self.read_symbols()
        self.starts = [symbol[0] for symbol in self.symbols]
        self.stubs = self.sequences = self.dies = None

    def read_sections(self):
        """By index: name, start, size."""
        rows = re.findall(r"^ *\[ *(\d+)\] (\S*) +\w+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) ", output(READELF, "-SW", self.program), re.M)
        return {index: (name, int(start, 16), int(size, 16)) for index, name, start, size in rows}

    def read_symbols(self):
        """Sorted: address, size, section, name."""
        self.symbol_text = output(READELF, "-sW", self.program)
        rows = re.findall(r"^ *\d+: ([0-9a-f]+) +(\w+) (?:FUNC|NOTYPE|IFUNC|OBJECT) +\w+ +\w+ +(\d+) (\S+)", self.symbol_text, re.M)
        return sorted({(int(address, 16), int(size, 0), section, name.split("@")[0]) for address, size, section, name in rows})

    def is_file_symbol(self, name):
        """A symbol of type FILE has this name."""
        return bool(re.search(rf"^ *\d+: .* FILE .* {re.escape(name)}$", self.symbol_text, re.M))

    def section_at(self, address):
        return next((index for index, (_, start, size) in self.sections.items() if start and start <= address < start + size), None)

    def symbols_at(self, address):
        """Names of the symbols that cover an address: by their size, or without a size up to the next symbol of the section."""
        found, section = set(), self.section_at(address)
        before = self.symbols[:bisect.bisect_right(self.starts, address)]
        last = before[-1][0] if before else None
        for start, size, place, name in before[-400:]: # a function within so many symbols: the excuse is only harder to prove
            if place == section and (start <= address < start + size or (not size and start == last)):
                found.add(name)
        return found

    def is_sizeless_elsewhere(self, name, address):
        """The symbol has no size and lies in another section than the address."""
        section = self.section_at(address)
        places = [(size, place) for _, size, place, other in self.symbols if other == name]
        return bool(places) and all(not size and place != section for size, place in places)

    def stub_at(self, address):
        """`puts@plt`, where objdump names the stub; in static programs, where it names none, by the relocation of the slot that the jump
        reads. None: no stub."""
        if self.stubs is None:
            self.stubs, self.jumps = [], []
            slots = dict(re.findall(r"^0*([0-9a-f]+) +[0-9a-f]+ +R_\w+_IRELATIV\w* +([0-9a-f]+)$", output(READELF, "-rW", self.program), re.M))
            for name, start, size in self.sections.values():
                if not re.search(r"plt", name) or name.startswith(".rel") or name.startswith(".got"):
                    continue
                text = output(OBJDUMP, "-d", "-j", name, self.program)
                labels = re.findall(r"^([0-9a-f]+) <(.+)>:$", text, re.M)
                self.jumps += [(int(jump, 16), f"*ABS*+0x{slots[slot]}@plt") for jump, slot in
                               re.findall(r"^ *([0-9a-f]+):.*jmp .*# ([0-9a-f]+) ", text, re.M) if slot in slots]
                begins = [int(label, 16) for label, _ in labels] + [start + size]
                self.stubs += [(begins[k], begins[k + 1], label) for k, (_, label) in enumerate(labels)]
        by_slot = next((label for jump, label in self.jumps if jump <= address < jump + 8), None)
        return by_slot or next((label for begin, end, label in self.stubs if begin <= address < end), None)

    def read_lines(self):
        """Every sequence: addresses of its rows, and their paths and lines; the last row ends it."""
        self.sequences = []
        folders, files, names, base = {}, {}, {}, 1
        addresses, rows = [], []
        for line in output(DWARFDUMP, "--debug-line", self.program).splitlines():
            if line.startswith("debug_line["):
                folders, files, base = {}, {}, 1
            elif found := re.match(r" *version: (\d+)", line):
                base = 0 if int(found[1]) >= 5 else 1
            elif found := re.match(r'include_directories\[ *(\d+)\] = "(.*)"', line):
                folders[int(found[1])] = found[2]
            elif found := re.match(r"file_names\[ *(\d+)\]:", line):
                names = files.setdefault(int(found[1]), {})
            elif found := re.match(r' +name: "(.*)"', line):
                names["name"] = found[1]
            elif found := re.match(r" +dir_index: (\d+)", line):
                folder = folders.get(int(found[1]), "")
                if base == 0 and not folder.startswith("/"):
                    folder = os.path.join(folders.get(0, ""), folder)
                names["path"] = os.path.join(folder, names["name"])
            elif found := re.match(r"0x([0-9a-f]{8,16}) +(\d+) +\d+ +(\d+) ", line):
                addresses.append(int(found[1], 16))
                rows.append((files.get(int(found[3]), {}).get("path", ""), int(found[2])))
                if line.rstrip().endswith("end_sequence"):
                    if addresses[0] < addresses[-1] and addresses[0]:
                        self.sequences.append((addresses, rows))
                    addresses, rows = [], []

    def rows_at(self, address):
        """Start, path and line of the row of each sequence that covers the address."""
        if self.sequences is None:
            self.read_lines()
        found = []
        for addresses, rows in self.sequences:
            if addresses[0] <= address < addresses[-1]:
                at = bisect.bisect_right(addresses, address) - 1
                found.append((addresses[at], *rows[at]))
        return found

    def ends_before(self, address, path, line):
        """The last row of the sequence that ends nearest before the address has this path and line, and lies in a symbol that covers the address."""
        self.rows_at(address)
        addresses, rows = max((found for found in self.sequences if found[0][-1] <= address), key=lambda found: found[0][-1], default=([], []))
        return bool(rows) and line == rows[-2][1] and is_same_path(path, rows[-2][0]) and bool(self.symbols_at(address) & self.symbols_at(addresses[-2]))

    def begins_after(self, address, path):
        """The sequence that begins nearest after the address begins with a row of this path, and lies in a symbol that covers the address."""
        self.rows_at(address)
        addresses, rows = min((found for found in self.sequences if found[0][0] > address), key=lambda found: found[0][0], default=([], []))
        return bool(rows) and is_same_path(path, rows[0][0]) and bool(self.symbols_at(address) & self.symbols_at(addresses[0]))

    def is_sizeless_before_rows(self, name, address):
        """The symbol has no size, and a sequence of rows that covers the address begins behind it."""
        begins = [addresses[0] for addresses, _ in self.sequences if addresses[0] <= address < addresses[-1]] if self.rows_at(address) else []
        places = [(start, size) for start, size, _, other in self.symbols if other == name and start <= address]
        return bool(places) and all(not size and any(start < begin for begin in begins) for start, size in places)

    def has_row(self, address, path, line):
        return any(line == row_line and is_same_path(path, row_path) for _, row_path, row_line in self.rows_at(address))

    def read_dies(self):
        """Every function, inlined call and scope by its offset: names, origins, ranges, the offset of the scope around it."""
        self.dies, self.covering = {}, []
        die, scopes = None, []
        process = subprocess.Popen([DWARFDUMP, "--debug-info", str(self.program)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
        for line in process.stdout:
            if line.startswith("0x"):
                tag_at = line.find("DW_TAG_")
                if tag_at < 0: # the end of children
                    continue
                offset, tag = int(line[:line.index(":")], 16), line[tag_at + 7:].strip()
                while scopes and scopes[-1][0] >= tag_at:
                    scopes.pop()
                die = None
                if tag in SCOPES:
                    die = self.dies[offset] = {"tag": tag, "names": [], "origins": [], "ranges": [], "in": scopes[-1][1] if scopes else None}
                    scopes.append((tag_at, offset))
            elif die is not None and (found := ATTRIBUTE.match(line)):
                kind, value = found.groups()
                text = value[value.find('"') + 1:value.rfind('"')] if '"' in value else value
                if kind in ("name", "linkage_name", "MIPS_linkage_name"):
                    die["names"].append(text)
                elif kind in ("abstract_origin", "specification"):
                    value = value[1:].split(" ")[0].rstrip(")")
                    if value.startswith("0x"): # not one of a supplementary file
                        die["origins"].append(int(value, 16))
                elif kind == "decl_file":
                    die["path"] = text
                elif kind in ("call_file", "call_line"):
                    die[kind] = value.strip("()")
                elif kind == "decl_line":
                    die["line"] = int(value.strip("()"))
                elif kind in ("low_pc", "high_pc") and not value.startswith("(0x"):
                    pass # an expression (clang -mllvm -minimize-addr-in-v5=Expressions)
                elif kind == "low_pc":
                    die["low"] = int(value[1:].split(" ")[0].rstrip(")"), 16)
                elif kind == "high_pc" and "low" in die:
                    die["ranges"].append((die["low"], int(value[1:].split(" ")[0].rstrip(")"), 16)))
            elif die is not None and (found := RANGE.match(line)):
                die["ranges"].append((int(found[1], 16), int(found[2], 16)))
        process.wait()
        self.covering = [(start, end, offset) for offset, found in self.dies.items() if found["tag"] in CODE for start, end in found["ranges"]]

    def names_of(self, offset, depth=0):
        """Its names and its origins', plain and within the scopes around them; places of declarations."""
        die, names, places = self.dies.get(offset), set(), []
        if die is None or depth > 4:
            return names, places
        outer, around = [], die["in"]
        while around is not None:
            scope = self.dies[around]
            if scope["names"] or scope["tag"] == "namespace":
                outer.insert(0, scope["names"][0] if scope["names"] else "(anonymous namespace)")
            elif scope["tag"] == "subprogram":
                inner = sorted(self.names_of(around, depth + 1)[0], key=len)
                outer.insert(0, inner[0] if inner else "")
            around = scope["in"]
        for name in die["names"]:
            names |= {name} | {"::".join([*outer[k:], name]) for k in range(len(outer))}
        if "line" in die and "path" in die:
            places.append((die["path"], die["line"]))
        for origin in die["origins"]:
            more, elsewhere = self.names_of(origin, depth + 1)
            names, places = names | more, places + elsewhere
        return names, places

    def dies_at(self, address):
        """Names of the functions and inlined calls there and around those, and (path, line) of their declarations."""
        if self.dies is None:
            self.read_dies()
        names, places, seen = set(), [], set()
        for start, end, offset in self.covering:
            while start <= address < end and offset is not None and offset not in seen:
                seen.add(offset)
                if self.dies[offset]["tag"] in CODE:
                    more, elsewhere = self.names_of(offset)
                    names, places = names | more, places + elsewhere
                offset = self.dies[offset]["in"]
        return names, places

    def is_call_without_file(self, address, line):
        """An inlined call there is on this line (DW_AT_call_line) and has no DW_AT_call_file."""
        self.dies_at(address)
        return any(start <= address < end and "call_file" not in self.dies[offset] and self.dies[offset].get("call_line") == str(line)
                   for start, end, offset in self.covering)

    def is_stray_call(self, address, names):
        """An inlined call there and all around it, the innermost first, have these names; the function around them is not there."""
        self.dies_at(address)
        here = {offset for start, end, offset in self.covering if start <= address < end}
        return any(self.is_chain(offset, names, here) for offset in here if self.dies[offset]["tag"] == "inlined_subroutine")

    def is_chain(self, offset, names, here):
        names = list(names)
        while offset is not None and self.dies[offset]["tag"] != "subprogram":
            if self.dies[offset]["tag"] == "inlined_subroutine" and (not names or names.pop(0) not in self.names_of(offset)[0]):
                return False
            offset = self.dies[offset]["in"]
        return not names and offset is not None and offset not in here
