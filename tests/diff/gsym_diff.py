"""Comparing two GSYM indexes address by address through one reader: shared by tests/diff and tests/corpus.

An answer is one line of text, the same from every reader here:
    NAME+OFFSET@PATH:LINE[ | NAME+OFFSET@PATH:LINE ...]    frames, innermost first
    -                                                      no answer
"""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "differences-from-llvm-gsymutil.md"
GSYMUTIL = "llvm-gsymutil-22"
SYMBOLIZER = "llvm-symbolizer-22"
DWARFDUMP = "llvm-dwarfdump-22"
READELF = "readelf"
ELSEWHERE = ("elsewhere", 0x800000)  # a program that begins at 0, linked to begin at that address
KINDS = ("found", "not found", "depth", "name", "offset", "file", "line")


def build_folder():
    """Where the programs under test are: CALLSIGN_BUILD, or the release build."""
    return Path(os.environ.get("CALLSIGN_BUILD", ROOT / "build" / "release"))


def callsign():
    return Path(os.environ.get("CALLSIGN", build_folder() / "callsign"))


def bench_program(name):
    return build_folder() / "bench" / name


def llvm_harness():
    """LLVM's reader as a program of ours, much faster than the tool; None where it was not built."""
    path = ROOT / "build" / "rivals" / "llvm_lookup"
    return path if path.exists() else None


def have_gsymutil():
    return shutil.which(GSYMUTIL) is not None


def convert_llvm(source, index):
    # One thread: with more, the reference's choice among equal-rank duplicates depends on timing.
    return subprocess.run([GSYMUTIL, "--convert", source, "--out-file", index, "--num-threads=1", "--quiet"],
                          capture_output=True, text=True, errors="replace")


def convert_ours(source, index, threads=2, *options):
    return subprocess.run([callsign(), "convert", "--quiet", "--threads", str(threads), *options, source, "-o", index],
                          capture_output=True, text=True, errors="replace")


def dump_llvm(index):
    """The reference's dump, as bytes (names need not be UTF-8)."""
    return subprocess.run([GSYMUTIL, index], capture_output=True)


def dump_errors(run):
    """Lines of a dump that tell of a record or table which the reference could not read."""
    errors = [run.stderr.decode(errors="replace")] if run.stderr or run.returncode else []
    for line in run.stdout.split(b"\n"):
        if line.startswith(b"FunctionInfo @") and b": [0x" not in line:
            errors.append(line.decode(errors="replace"))
    return errors


def dump_functions(dump, named=False):
    """(start, end) of every record in a dump; `named`: of those with a name."""
    found = re.findall(rb"^FunctionInfo @ 0x[0-9a-f]+: \[0x([0-9a-f]+) - 0x([0-9a-f]+)\) \"(.?)", dump, re.M)
    return [(int(start, 16), int(end, 16)) for start, end, name in found if not named or name != b'"']


def dump_row_counts(dump):
    """{start: number of line rows} of the records in a dump; of several with one start, the last."""
    counts, start = {}, None
    for line in re.finditer(rb"^(?:FunctionInfo @ 0x[0-9a-f]+: \[0x([0-9a-f]+)|  0x[0-9a-f]{16} )", dump, re.M):
        if line.group(1):
            start = int(line.group(1), 16)
            counts[start] = 0
        else:
            counts[start] += 1
    return counts


def dump_boundaries(dump):
    """Every start and end of a function or inlined range and every row start in a dump, and the byte before each."""
    edges = set()
    for line in re.finditer(rb"^(?:FunctionInfo @.*|  0x[0-9a-f]{16} .*| *\[0x.*)$", dump, re.M):
        text = line.group()
        if text.startswith(b"  0x"):
            edges.add(int(text[4:20], 16))
        else:
            for start, end in re.findall(rb"\[0x([0-9a-f]{16}) - 0x([0-9a-f]{16})\)", text):
                edges.update((int(start, 16), int(end, 16)))
    return sorted(edges | {edge - 1 for edge in edges if edge > 0})


def write_addresses(path, addresses):
    with open(path, "w") as out:
        out.writelines(f"{address:#x}\n" for address in addresses)


def answers_by_program(command):
    """The answers of a program that prints ADDRESS<TAB>ANSWER lines, as they come: all of them may be gigabytes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
        for line in run.stdout:
            yield line.rstrip(b"\n").split(b"\t", 1)[1].decode(errors="replace")
    if run.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit {run.returncode}")


def answer_of_tool(text):
    """One result of `llvm-gsymutil --addresses-from-stdin` as an answer."""
    frames = []
    for line in text.split("\n"):
        line = line[20:]
        if line.startswith("error: "):
            return "-"
        # A name may hold " + " or " @ " itself; a path hardly does. So: greedy name, from the right.
        body = line.removesuffix(" [inlined]")
        name, where = body, ":0"
        if re.search(r" @ .*:\d+$", body):
            name, where = body.rsplit(" @ ", 1)
        offset = "0"
        if re.search(r" \+ \d+$", name):
            name, offset = name.rsplit(" + ", 1)
        frames.append(f"{name}+{offset}@{where}")
    return " | ".join(frames)


def answers_by_tool(index, addresses):
    lines = "".join(f"{address:#x} {index}\n" for address in addresses)
    run = subprocess.run([GSYMUTIL, "--addresses-from-stdin"], input=lines.encode(), capture_output=True, check=True)
    results = run.stdout.decode(errors="replace").split("\n\n")[:-1]
    if len(results) != len(addresses):
        raise RuntimeError(f"{GSYMUTIL}: {len(results)} answers to {len(addresses)} addresses of {index}")
    return [answer_of_tool(result) for result in results]


def answers_llvm(index, addresses, address_file):
    """LLVM's answers, in order; `address_file` holds the same addresses."""
    harness = llvm_harness()
    if harness:
        return answers_by_program([harness, "print", index, address_file])
    return answers_by_tool(index, addresses)


def answers_ours(index, address_file, llvm_mode):
    mode = ["--llvm"] if llvm_mode else []
    return answers_by_program([bench_program("bench_lookup"), "print", index, address_file, *mode])


def frames_of(answer):
    """[(name, offset, path, line), ...] of an answer; [] for none."""
    if answer == "-":
        return []
    frames = []
    for text in answer.split(" | "):
        match = re.fullmatch(r"(.*)\+(\d+)@(.*):(\d+)", text, re.S)
        frames.append((match[1], int(match[2]), match[3], int(match[4])) if match else (text, 0, "", 0))
    return frames


def kind_of(theirs, ours):
    """The first thing in which two unequal answers differ, one of KINDS."""
    if theirs == "-":
        return "found"
    if ours == "-":
        return "not found"
    their_frames, our_frames = frames_of(theirs), frames_of(ours)
    if len(their_frames) != len(our_frames):
        return "depth"
    for field, kind in enumerate(("name", "offset", "file", "line")):
        if any(a[field] != b[field] for a, b in zip(their_frames, our_frames)):
            return kind
    return "name"


class Difference:
    """One address whose answers differ."""

    def __init__(self, address, theirs, ours):
        self.address, self.theirs, self.ours = address, theirs, ours
        self.kind = kind_of(theirs, ours)
        self.reason = None  # the documented improvement that explains it, and that the judge confirms
        self.verdict = None # what the judge has against it, where a documented improvement would explain it

    def __str__(self):
        text = f"{self.address:#x} {self.kind}\n    llvm-gsymutil: {self.theirs}\n    callsign:      {self.ours}"
        return f"{text}\n    {self.verdict}" if self.verdict else text


def is_richer(best, reference):
    """The reference knows nothing but the function, since that has no rows; `best` has its inlined calls too."""
    best_frames, reference_frames = frames_of(best), frames_of(reference)
    return reference.endswith("@:0") and len(reference_frames) == 1 and best_frames[-1:] != [] and \
        best_frames[-1][:2] == reference_frames[0][:2]


def has_more_calls(best, reference):
    """The reference leaves out inlined calls that name no file; without them `best` is the same answer."""
    frames = frames_of(best)
    if any(not path for _, _, path, _ in frames[:1]):
        return False
    shown = [k for k in range(len(frames) - 1) if frames[k + 1][2]]
    callers = [frames[k][:2] for k in (*shown, len(frames) - 1)]
    places = [frames[0][2:], *(frames[k + 1][2:] for k in shown)]
    return len(shown) < len(frames) - 1 and frames_of(reference) == [a + b for a, b in zip(callers, places)]


class ReaderCheck:
    """Our reader held against LLVM's answers from the same index, fed one by one."""

    def __init__(self, index, address_file):
        self.compatible = answers_ours(index, address_file, llvm_mode=True)
        self.useful = answers_ours(index, address_file, llvm_mode=False)
        self.wrong = []  # (address, LLVM's answer, ours) where the compatible mode answers otherwise
        self.lost = []   # where the default mode answers otherwise although LLVM has an answer
        self.gained = 0  # where only the default mode answers, or tells more of a function without rows
        self.more_calls = 0  # where it has inlined calls that name no file

    def feed(self, address, reference):
        same, best = next(self.compatible), next(self.useful)
        if same != reference:
            self.wrong.append((address, reference, same))
        if best == reference:
            return
        if reference == "-" or is_richer(best, reference):
            self.gained += 1
        elif has_more_calls(best, reference):
            self.more_calls += 1
        else:
            self.lost.append((address, reference, best))


def compare_indexes(theirs, ours, addresses, address_file, rows, source):
    """The differences between two indexes through LLVM's reader, and a ReaderCheck of each index.
    rows: dump_row_counts() of either index, theirs first. source: what both were made from; the judges read it."""
    checks = [ReaderCheck(index, address_file) for index in (theirs, ours)]
    streams = [answers_llvm(index, addresses, address_file) for index in (theirs, ours)]
    found = []
    for address, their_answer, our_answer in zip(addresses, *streams, strict=True):
        checks[0].feed(address, their_answer)
        checks[1].feed(address, our_answer)
        if their_answer != our_answer:
            difference = Difference(address, their_answer, our_answer)
            difference.reason = next((name for name, rule in IMPROVEMENTS.items() if rule(difference, *rows)), None)
            found.append(difference)
    judge(source, found)
    return found, checks


# ---- judges that nobody here wrote: a documented improvement counts only where they agree with our answer ----

def symbolizer_frames(source, addresses):
    """{address: [(name, file, line, line of the declaration), ...]} as llvm-symbolizer reads the program itself, innermost first."""
    run = subprocess.run([SYMBOLIZER, f"--obj={source}", "--output-style=JSON", "--no-demangle", "--functions=linkage"],
                         input="".join(f"{address:#x}\n" for address in addresses), capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines() if line]
    if len(answers) != len(addresses):
        raise RuntimeError(f"{SYMBOLIZER}: {len(answers)} answers to {len(addresses)} addresses of {source}")
    return {address: [(symbol["FunctionName"], symbol["FileName"], symbol["Line"], symbol["StartLine"])
                      for symbol in answer.get("Symbol", [])] for address, answer in zip(addresses, answers)}


def frame_ends(source):
    """{start: end} of the frame descriptions in .eh_frame."""
    run = subprocess.run([DWARFDUMP, "--eh-frame", source], capture_output=True, text=True, check=True)
    return {int(start, 16): int(end, 16) for start, end in re.findall(r"pc=([0-9a-f]+)\.\.\.([0-9a-f]+)", run.stdout)}


def is_same_name(ours, theirs):
    """The symbolizer names a part by its symbol, which may have a suffix: f.cold; of two constructors it takes either; inlined
    functions without a linkage name are not qualified. Rows of no function have the name of the unsized symbol before them, if
    there is one."""
    ours, theirs = (re.sub(r"([CD])[0-9](E|I)", r"\1\2", name) for name in (ours, theirs))
    return ours in ("", theirs) or theirs.startswith(ours + ".") or ours.split("(")[0].endswith("::" + theirs.split("(")[0])


def objection_of_symbolizer(difference, expected):
    """None: llvm-symbolizer has our frames. A frame that it gives no line may have the line of the declaration. Of a function's
    name it is enough that it has the same one, as the inlined calls are those of the reference."""
    ours = frames_of(difference.ours)
    only_name = difference.reason == "name-from-symbol"
    pairs = [(ours[-1], expected[-1])] if only_name else list(zip(ours, expected))
    if (len(ours) != len(expected) and not only_name) or not all(is_same_name(a[0], b[0]) for a, b in pairs):
        return f"{SYMBOLIZER} has {expected}"
    same = only_name or all(b[2] == 0 or (a[3] == b[2] and Path(a[2]).name == Path(b[1]).name) for a, b in pairs)
    return None if same else f"{SYMBOLIZER} has {expected}"


def objection_of_frames(difference, ends):
    """None: the frame description that begins with the symbol ends before the address."""
    start = difference.address - frames_of(difference.theirs)[0][1]
    end = ends.get(start)
    return None if end is not None and end <= difference.address else f"{DWARFDUMP} has no frame {start:#x} that ends before"


def section_ends(source):
    """[(start, end)] of the sections with code."""
    run = subprocess.run([READELF, "-SW", source], capture_output=True, text=True, check=True)
    rows = re.findall(r"^ *\[ *\d+\] \S+ +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \S+ +(\S+)", run.stdout, re.M)
    return [(int(start, 16), int(start, 16) + int(size, 16)) for start, size, flags in rows if "X" in flags]


def objection_of_sections(difference, sections):
    """None: the section that the symbol is in ends before the address."""
    start = difference.address - frames_of(difference.theirs)[0][1]
    beyond = any(low <= start < high <= difference.address for low, high in sections)
    return None if beyond else f"{READELF} has no section of {start:#x} that ends before"


def linked_names(source):
    """Names in the dynamic relocations, without versions."""
    run = subprocess.run([READELF, "-rW", source], capture_output=True, text=True, check=True)
    return set(re.findall(r"^[0-9a-f]+ +[0-9a-f]+ R_\S+ +[0-9a-f]+ +([^@\s]+)", run.stdout, re.M))


def objection_of_relocations(difference, names):
    """None: a dynamic relocation has the name of the stub."""
    name = frames_of(difference.ours)[0][0].removesuffix("@plt")
    return None if name in names or name.startswith("*ABS*+0x") else f"{READELF} has no relocation of {name}"


def symbol_places(source):
    """{(name, address)} of the symbol table."""
    run = subprocess.run([READELF, "-sW", source], capture_output=True, text=True, check=True)
    return {(name, int(address, 16)) for address, name in
            re.findall(r"^ *\d+: ([0-9a-f]+) +\S+ \S+ +\S+ +\S+ +\d+ (\S+)$", run.stdout, re.M)}


def objection_of_names(difference, expected, places):
    """None: llvm-symbolizer has our name, or the symbol table has it where ours begins: of labels within a piece of code that has
    a size, llvm-symbolizer takes the last."""
    name, offset, _, _ = frames_of(difference.ours)[-1]
    confirmed = (expected and is_same_name(name, expected[-1][0])) or (name, difference.address - offset) in places
    return None if confirmed else f"{SYMBOLIZER} has {expected}"


def judge(source, found):
    """Takes the reason from differences that a judge does not confirm."""
    named = judge_names(source, found)
    late = [difference for difference in found if difference.reason in JUDGED_BY_SYMBOLIZER]
    bounded = [difference for difference in found if difference.reason == "bounded-by-frame"]
    expected = symbolizer_frames(source, [difference.address for difference in late]) if late else {}
    ends, sections = (frame_ends(source), section_ends(source)) if bounded else ({}, [])
    places = None
    for difference in late:
        # Without a declaration it is the symbol that tells of the function.
        if difference.reason in ("rows-of-symbol", "rows-begin-late"):
            declared = any(frame[3] for frame in expected[difference.address][-1:])
            difference.reason = "rows-begin-late" if declared else "rows-of-symbol"
        difference.verdict = objection_of_symbolizer(difference, expected[difference.address])
        if difference.verdict and difference.reason == "name-from-symbol":  # one of several names of the code
            places = places or symbol_places(source)
            name, offset, _, _ = frames_of(difference.ours)[-1]
            if (name, difference.address - offset) in places:
                difference.verdict = None
    for difference in bounded:
        if not objection_of_sections(difference, sections):
            difference.reason = "section-end"
        else:
            difference.verdict = objection_of_frames(difference, ends)
    for difference in late + bounded + named + judge_moved(source, found):
        if difference.verdict:
            difference.reason = None


def judge_names(source, found):
    """Of stubs and labels."""
    stubs_found = [difference for difference in found if difference.reason == "stubs"]
    names = linked_names(source) if stubs_found else set()
    for difference in stubs_found:
        difference.verdict = objection_of_relocations(difference, names)
    named = [difference for difference in found if difference.reason == "labels"]
    expected = symbolizer_frames(source, [difference.address for difference in named]) if named else {}
    places = symbol_places(source) if named else set()
    for difference in named:
        difference.verdict = objection_of_names(difference, expected[difference.address], places)
    return stubs_found + named


def judge_moved(source, found):
    """Those of code at 0, with what llvm-symbolizer reads from the program that is linked elsewhere."""
    moved = [difference for difference in found if difference.reason == "code-at-0"]
    name, base = ELSEWHERE
    program = Path(source).with_name(name)
    if not program.exists():
        for difference in moved:
            difference.verdict = f"{program} is not there to judge"
        return moved
    expected = symbolizer_frames(program, [base + difference.address for difference in moved]) if moved else {}
    for difference in moved:
        frames = [frame for frame in expected[base + difference.address] if frame[0]]
        difference.verdict = objection_of_symbolizer(difference, frames)
    return moved


# ---- the deliberate improvements ----

def is_symbol_answer(answer):
    """Nothing, or the name of a function without lines."""
    return answer == "-" or (answer.endswith("@:0") and len(frames_of(answer)) == 1)


def code_at_zero(difference, their_rows, our_rows):
    """Code begins at 0: the reference has functions and rows there that the linker removed."""
    return 0 in their_rows


def stubs(difference, their_rows, our_rows):
    """Stubs have no symbols: the reference answers with nothing, or with a symbol without a size before them."""
    ours = frames_of(difference.ours)
    return len(ours) == 1 and ours[0][0].endswith("@plt") and is_symbol_answer(difference.theirs)


def labels(difference, their_rows, our_rows):
    """Symbols of code that are not marked as functions, or name a descriptor: the reference leaves them out, and answers with
    nothing or with a symbol without a size before them."""
    theirs, ours = frames_of(difference.theirs), frames_of(difference.ours)
    return len(ours) == 1 and ours[0][0] != "" and is_symbol_answer(difference.theirs) and \
        [frame[:2] for frame in theirs] != [frame[:2] for frame in ours]


def rows_begin_late(difference, their_rows, our_rows):
    """The unit's rows begin behind the function's start: the reference keeps the declaration's line or nothing, we also
    keep the rows."""
    theirs, ours = frames_of(difference.theirs), frames_of(difference.ours)
    if not theirs or not ours or theirs[-1][:2] != ours[-1][:2]:
        return False
    start = difference.address - ours[-1][1]
    return their_rows.get(start, 0) <= 1 and our_rows.get(start, 0) > their_rows.get(start, 0)


def bounded_by_frame(difference, their_rows, our_rows):
    """A symbol without a size: the reference answers with it up to the next function, we up to the end that .eh_frame
    tells."""
    theirs = frames_of(difference.theirs)
    return difference.ours == "-" and difference.theirs.endswith("@:0") and len(theirs) == 1 and theirs[0][1] > 0


def rows_of_symbol(difference, their_rows, our_rows):
    """A function that only the symbol table tells: the reference has no rows for it."""
    theirs, ours = frames_of(difference.theirs), frames_of(difference.ours)
    return len(theirs) == 1 and ours != [] and theirs[0][:2] == ours[-1][:2] and theirs[0][2:] == ("", 0)


def rows_without_function(difference, their_rows, our_rows):
    """Rows that cover no function: only we keep them, without a name."""
    ours = frames_of(difference.ours)
    return difference.theirs == "-" and len(ours) == 1 and ours[0][0] == "" and ours[0][3] > 0


def name_from_symbol(difference, their_rows, our_rows):
    """Debug information has a plain name, the symbol a mangled one."""
    theirs, ours = frames_of(difference.theirs), frames_of(difference.ours)
    return len(theirs) == len(ours) and [f[1:] for f in theirs] == [f[1:] for f in ours] and \
        [f[0] for f in theirs[:-1]] == [f[0] for f in ours[:-1]] and re.match(r"_[ZRD]", ours[-1][0]) is not None and \
        not theirs[-1][0].startswith("_Z")


def inlined_clipped(difference, their_rows, our_rows):
    """An inlined call that reaches out of the function's part: the reference leaves it out."""
    theirs, ours = frames_of(difference.theirs), frames_of(difference.ours)
    return 0 < len(theirs) < len(ours) and theirs[0][2:] == ours[0][2:] and theirs[-1][:2] == ours[-1][:2]


def first_copy(difference, their_rows, our_rows):
    """Several units describe one function in different ways: the reference takes the longest description, we the first."""
    theirs, ours = frames_of(difference.theirs), frames_of(difference.ours)
    return theirs != [] and ours != [] and theirs[-1][:2] == ours[-1][:2]


# The name under which docs/differences-from-llvm-gsymutil.md lists an improvement, and how to recognise a difference
# that it makes: rule(difference, row counts of their functions, row counts of ours). The tests fail on a name that is not
# in both places.
IMPROVEMENTS = {"code-at-0": code_at_zero, "stubs": stubs, "rows-of-symbol": rows_of_symbol,
                "rows-begin-late": rows_begin_late, "labels": labels, "rows-without-function": rows_without_function,
                "name-from-symbol": name_from_symbol, "inlined-clipped": inlined_clipped, "bounded-by-frame": bounded_by_frame,
                "first-copy": first_copy,
                "section-end": lambda *_: False}  # what the judge of bounded-by-frame finds
JUDGED_BY_SYMBOLIZER = {"rows-of-symbol", "rows-begin-late", "rows-without-function", "name-from-symbol", "inlined-clipped",
                         "first-copy"}
# Programs with startup code, or linked with shared libraries, show these; compilers give padding the line of the function after
# it, and GCC has no linkage names for static functions. Others show in the cases that are made for them, and nowhere else.
COMMON = {"stubs", "section-end", "rows-without-function", "rows-of-symbol", "name-from-symbol"}


def documented_names():
    """First column of the document's table."""
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", DOCUMENT.read_text(), re.M)
    return set(rows)


def check_document():
    if documented_names() != set(IMPROVEMENTS):
        raise RuntimeError(f"{DOCUMENT.name} lists {sorted(documented_names())}, the tests {sorted(IMPROVEMENTS)}")
