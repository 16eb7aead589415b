"""What the numbers of chains count from: perf 5.3 to 6.3 prints offsets in files, any other pcs of the process."""
import json
import re
import subprocess

import pytest

import gsym_make
from programs import need

MAP = re.compile(r"PERF_RECORD_MMAP2? (-?\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+) .*: r-xp (/.*)\n")
HEAD = re.compile(r"\S+ +(\d+)/\d+ ")
FRAME = re.compile(r"\t +([0-9a-f]+)( .*)\n")


def with_pcs(text):
    """The text of perf 6.1 (-F +pid, --show-mmap-events) as others print it: perf takes the same mappings to make an offset of a pc."""
    maps, lines, pid = {}, [], None
    for line in text.splitlines(keepends=True):
        mapping, head, frame = MAP.search(line), HEAD.match(line), FRAME.fullmatch(line)
        if mapping:
            process, start, size, offset, path = mapping.groups()
            maps.setdefault(int(process), []).append((int(start, 16), int(size, 16), int(offset, 16), path))
        if head:
            pid = int(head[1])
        path = re.search(r" \((/.*)\)$", frame[2]) if frame else None
        value = int(frame[1], 16) if frame else 0
        for start, size, offset, mapped in maps.get(pid, []) if path else []:
            if path[1] == mapped and offset <= value < offset + size:
                line = f"\t{value - offset + start:16x}{frame[2]}\n"
        lines.append(line)
    return "".join(lines)


PROGRAM = """\
#include <stdlib.h>
static volatile unsigned long s;
__attribute__((noinline)) static unsigned long leaf(unsigned long n) { for (int k = 0; k < 2000; k++) s += n * k; return s; }
static int compare(const void *a, const void *b) { return (leaf(*(const int *)a) & 1) - (int)(leaf(*(const int *)b) & 1); }
int main(void) {
    static int v[3000];
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 3000; i++) v[i] = i * 7919 % 3001;
        qsort(v, 3000, sizeof(int), compare);
    }
    return 0;
}
"""


@pytest.fixture(scope="module", params=["-pie", "-no-pie"])
def recording(tmp_path_factory, request):
    """A function of perf script: its text with the options given."""
    folder = tmp_path_factory.mktemp("recording")
    (folder / "app.c").write_text(PROGRAM)
    subprocess.run([need("gcc"), "-g", "-O1", "-fno-omit-frame-pointer", request.param, "app.c", "-o", "app"], check=True, cwd=folder)
    done = subprocess.run([need("perf"), "record", "-e", "cpu-clock", "-F", "499", "--call-graph", "dwarf,4096", "-o", "data", "./app"],
                          cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"perf cannot record here: {done.stderr[:200]}")
    return lambda *options: subprocess.run(["perf", "script", "-i", "data", "--no-inline", *options], check=True, cwd=folder, capture_output=True, text=True).stdout


def without_records(text):
    return "".join(line for line in text.splitlines(keepends=True) if "PERF_RECORD_" not in line)


def names_of(callsign, text):
    out = callsign.good("stack", "--json", "--offline", "--no-cache", stdin=text).splitlines()
    return [[(f["frames"][-1]["function"], f.get("address")) if f["frames"] else None for f in json.loads(line)["frames"]] for line in out]


@pytest.mark.parametrize("fields", ["+pid", "comm,pid,tid,time,event,ip,dso"])
def test_both_kinds_of_text(callsign, recording, tmp_path, fields):
    """The same answers, and the same profiles: pcs were taken for offsets."""
    offsets = recording("-F", fields, "--show-mmap-events")
    if fields[0] != "+":
        offsets = re.sub(r"(?m)^(\t +[0-9a-f]+) \(", r"\1 [unknown] (", offsets)
    pcs = with_pcs(offsets)
    assert pcs != offsets and re.search(r"\t +[0-9a-f]{6,} \S+ \(/.*/app\)", pcs)
    wanted = names_of(callsign, offsets)
    assert {frame[0] for stack in wanted for frame in stack if frame} >= {"leaf", "compare", "main"}
    assert names_of(callsign, pcs) == wanted
    written = {}
    for name, text in (("offsets", offsets), ("pcs", pcs)):
        for out in ("out.folded", "out.pb", "out.perf", "out.json", "out.otlp"):
            callsign.good("profile", "-", "--offline", "--no-cache", "-q", "-o", tmp_path / out, stdin=text)
            written.setdefault(out, []).append((tmp_path / out).read_bytes())
    for out, (first, second) in written.items():
        assert first == second, out
    # What we write has offsets, whatever was read.
    assert re.search(rb"\t +[0-9a-f]{4} leaf \(/", written["out.perf"][1])


def test_without_mappings(callsign, recording):
    """The function that a line names tells the place: also of another run of the program."""
    offsets = recording("-F", "+pid", "--show-mmap-events")
    wanted = [[frame[0] for frame in stack if frame and frame[0] in ("leaf", "compare", "main")] for stack in names_of(callsign, without_records(offsets))]
    assert [[frame[0] for frame in stack if frame and frame[0] in ("leaf", "compare", "main")]
            for stack in names_of(callsign, without_records(with_pcs(offsets)))] == wanted
    assert {"leaf", "main"} <= {name for stack in wanted for name in stack}


def test_a_sample_alone_is_as_its_chain(callsign, recording):
    """Without its chain, perf 6.1 prints the pc, too: it is that of the chain's first frame, where it did not interrupt the kernel."""
    alone = dict(re.findall(r"(?m)^ *app .* ([\d.]+): +([0-9a-f]+) *$", recording("-G", "-F", "comm,pid,tid,time,ip")))
    pcs = with_pcs(recording("-F", "comm,pid,tid,time,ip,sym,dso", "--show-mmap-events"))
    first = {time: pc for time, pc in re.findall(r"(?m)^app .* ([\d.]+):.*\n\t +([0-9a-f]+)", pcs) if len(alone[time]) < 16}
    assert first and first == {time: alone[time] for time in first}


# ---- where both are possible ----

BIG = """\
.globl main, f1, f2, f3
.text
main: .type main, @function
ret
.size main, .-main
"""
SIZE = 0x280000


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A program at a fixed place that is larger than the number of that place: 0x600000 is both. Its path, and where its functions are."""
    folder = tmp_path_factory.mktemp("big")
    functions = "".join(f".globl f{i}\n.type f{i}, @function\nf{i}: .fill {SIZE:#x}, 1, 0x90\n.size f{i}, .-f{i}\n" for i in range(1, 5))
    (folder / "big.s").write_text(BIG + functions)
    subprocess.run([need("gcc"), "-no-pie", "-nostdlib", "-Wl,-e,main", "big.s", "-o", "big"], check=True, cwd=folder)
    told = subprocess.run([need("nm"), "big"], check=True, cwd=folder, capture_output=True, text=True).stdout
    symbols = {words[2]: int(words[0], 16) for words in map(str.split, told.splitlines())}
    headers = subprocess.run([need("readelf"), "-lW", "big"], check=True, cwd=folder, capture_output=True, text=True).stdout
    offset, start, size = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E", headers).groups()
    return folder / "big", symbols, (int(start, 16), int(size, 16), int(offset, 16))


AT = 0x12345


def stack_of(callsign, text, *options):
    answer = json.loads(callsign.good("stack", "--json", "--offline", "--no-cache", *options, stdin=text).splitlines()[-1])
    return [(f["frames"][-1]["function"], f["frames"][-1]["offset"]) if f["frames"] else None for f in answer["frames"]]


@pytest.mark.parametrize("is_mapped", [True, False])
@pytest.mark.parametrize("is_pc", [True, False])
def test_a_large_program_at_a_fixed_place(callsign, big, tmp_path, is_mapped, is_pc):
    path, symbols, (start, size, offset) = big
    less = 0 if is_pc else start - offset
    mapping = f"big 7/7 1.0: PERF_RECORD_MMAP2 7/7: [{start:#x}({size:#x}) @ {offset:#x} 08:01 12 0]: r-xp {path}\n" if is_mapped else ""
    head = "big 7/7 1.5: 1 cycles:u: \n"
    frames = "".join(f"\t{symbols[f'f{i}'] + AT - less:16x} f{i}+{AT:#x} ({path})\n" for i in (2, 3, 1))
    wanted = [("f2", AT), ("f3", AT), ("f1", AT)]
    assert stack_of(callsign, mapping + head + frames) == wanted
    for out, is_text in (("o.folded", True), ("o.pb", False)):
        callsign.good("profile", "-", "--offline", "--no-cache", "-q", "-o", tmp_path / out, stdin=mapping + head + frames)
        assert not is_text or (tmp_path / out).read_text() == "f1;f3;f2 1\n"
    # The functions of symbol-less frames follow from frames that are in no doubt: also from those below them.
    bare = re.sub(r"f\d\+\w+ ", "[unknown] ", frames)
    library = f"\t{0x7f0000001234 if is_pc else 0x1234:16x} start+0x4 (/nowhere/libstart.so)\n"
    assert stack_of(callsign, mapping + head + bare + library)[:3] == wanted
    callsign.good("profile", "-", "--offline", "--no-cache", "-q", "-o", tmp_path / "o.folded", stdin=mapping + head + bare + library)
    assert (tmp_path / "o.folded").read_text() == "start;f1;f3;f2 1\n"
    # and from a frame with a symbol in a stack before
    assert stack_of(callsign, mapping + head + frames + "\n" + head + bare) == wanted


def test_another_build_turns_nothing(callsign, tmp_path):
    """Functions of the index lie a page away: that is no sign of pcs."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x20000 + 0x1000 * i, "size": 0x1000, "name": f"f{i}"} for i in range(64)], base=0)
    text = "app 7/7 1.5: 1 cycles:u: \n" + "".join(f"\t{0x21010 + 0x1000 * i:16x} f{i}+0x10 (/nowhere/app)\n" for i in range(40)) + "\n"
    answer = stack_of(callsign, text, "--no-search", "-s", tmp_path)
    assert answer == [(f"f{i + 1}", 0x10) for i in range(40)]


def test_texts_of_both_kinds_in_one(callsign, tmp_path):
    """What cannot be the other is what it is, whatever stood before."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x100, "name": "area"}, {"start": 0x2000, "size": 0x100, "name": "main"}], base=0)
    mapping = "app 7/7 1.0: PERF_RECORD_MMAP2 7/7: [0x55d000001000(0x3000) @ 0x1000 08:01 12 0]: r-xp /nowhere/app\n"
    head, offsets, pcs = "app 7/7 1.5: 1 cycles:u: \n", (0x1010, 0x2010), (0x55d000001010, 0x55d000002010)
    for order in ((offsets, pcs, offsets), (pcs, offsets, pcs)):
        text = mapping + "".join(head + "".join(f"\t{value:16x} [unknown] (/nowhere/app)\n" for value in values) + "\n" for values in order)
        out = callsign.good("stack", "--json", "--no-search", "-s", tmp_path, stdin=text).splitlines()
        assert [[f["frames"][0]["function"] for f in json.loads(line)["frames"]] for line in out] == [["area", "main"]] * 3


def test_code_made_at_run_time(callsign, tmp_path):
    """Its numbers are pcs in any text, and tell nothing of others."""
    gsym_make.write(tmp_path / "big.gsym", [{"start": 0x400000 + SIZE * i, "size": SIZE, "name": f"f{i}"} for i in range(4)], base=0x400000)
    text = "big 7/7 1.5: 1 cycles:u: \n\t    7f0000001010 made (/tmp/perf-7.map)\n\t          600010 [unknown] (/nowhere/big)\n\n"
    answer = stack_of(callsign, text, "--no-search", "-s", tmp_path)
    assert answer == stack_of(callsign, text.replace("7f0000001010", "          1010"), "--no-search", "-s", tmp_path)


def test_modules_of_pcs_stay(callsign, tmp_path):
    """Nothing tells where the library lies."""
    text = "app 7/7 1.5: 1 cycles:u: \n\t    7f0000001290 [unknown] (/nowhere/libx.so)\n\t    7f0000001390 outer+0x10 (/nowhere/libx.so)\n\n"
    callsign.good("profile", "-", "-q", "--no-search", "-o", tmp_path / "a.folded", stdin=text)
    assert (tmp_path / "a.folded").read_text() == "outer;libx.so+0x7f0000001290 1\n"
    callsign.good("profile", "-", "-q", "--no-search", "-o", tmp_path / "a.perf", stdin=text)
    assert re.findall(r"\t.*", (tmp_path / "a.perf").read_text()) == ["\t    7f0000001290 [unknown] (/nowhere/libx.so)",
                                                                     "\t    7f0000001390 outer (/nowhere/libx.so)"]


def test_what_one_frame_tells_of_its_module(callsign, tmp_path):
    """Without mappings: a frame that has a symbol tells where the library lies, also those above it and in later stacks."""
    gsym_make.write(tmp_path / "libx.so.gsym", [{"start": 0x1000, "size": 0x100, "name": "inner"}, {"start": 0x1100, "size": 0x100, "name": "outer"}], base=0)
    bare = "\t    7f0000001010 [unknown] (/nowhere/libx.so)\n"
    text = f"app 7/7 1.5: 1 cycles:u: \n{bare}\t    7f0000001110 outer+0x10 (/nowhere/libx.so)\n\napp 7/7 1.6: 1 cycles:u: \n{bare}\n"
    out = callsign.good("stack", "--json", "--no-search", "-s", tmp_path, stdin=text).splitlines()
    assert [[f["frames"][0]["function"] for f in json.loads(line)["frames"]] for line in out] == [["inner", "outer"], ["inner"]]
    callsign.good("profile", "-", "-q", "--no-search", "-s", tmp_path, "-o", tmp_path / "a.folded", stdin=text)
    assert sorted((tmp_path / "a.folded").read_text().splitlines()) == ["inner 1", "outer;inner 1"]


@pytest.mark.parametrize("has_image", [True, False])
def test_processes_that_were_forked(callsign, tmp_path, has_image):
    """perf has no mappings of theirs: they lie where those of their parents do."""
    app = tmp_path / "app" if has_image else "/nowhere/app"
    if has_image:
        (tmp_path / "a.c").write_text("int area(int x) { return x; }\nint main(void) { return area(0); }\n")
        subprocess.run([need("gcc"), "-pie", "-Wl,-z,norelro", "-Wl,--section-start=.text=0x21000", "a.c", "-o", app], check=True, cwd=tmp_path)
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x21000, "size": 0x80, "name": "area"}, {"start": 0x21080, "size": 0x80, "name": "main"}], base=0)
    start, bias = 0x55d000000000, 0x55d000000000
    text = f"app 7/7 1.0: PERF_RECORD_MMAP2 7/7: [{start:#x}(0x30000) @ 0 08:01 12 0]: r-xp {app}\n"
    for pid in (7, 8):
        text += f"app {pid}/{pid} 1.5: 1 cycles:u: \n\t{bias + 0x21010:16x} [unknown] ({app})\n\t{bias + 0x21090:16x} [unknown] ({app})\n\n"
    out = callsign.good("stack", "--json", "--no-search", "-i", f"app={tmp_path / 'app.gsym'}", stdin=text).splitlines()
    assert [[f["frames"][0]["function"] for f in json.loads(line)["frames"]] for line in out] == [["area", "main"]] * 2


@pytest.mark.parametrize("is_pc", [True, False])
def test_inlined_calls_with_both_numbers(callsign, tmp_path, is_pc):
    """-F +dsoff of perf 6.4: the offset stands with the image, which a line of an inlined call lacks."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x100, "name": "area", "inlined": [
        {"offset": 0, "size": 0x100, "name": "inner", "call_line": 3}]}], base=0)
    place = 0x55d000001010 if is_pc else 0x1010
    text = f"app 7/7 1.5: 1 cycles:u: \n\t{place:16x} inner (inlined)\n\t{place:16x} area+0x10 (/nowhere/app+0x1010)\n\n"
    assert stack_of(callsign, text, "--no-search", "-s", tmp_path) == [("area", 0x10)]
    filled = callsign.good("stack", "--in-place", "--no-search", "-s", tmp_path, stdin=text)
    assert filled == text


# ---- nothing tells where the module lies ----

HEAD_LINE = "app 7/7 [000] 1.5: cycles:\n"
UNPLACED = HEAD_LINE + ("\t          401196 [unknown] (/nowhere/appfix)\n\t          4011cb mid (/nowhere/appfix)\n\t          4011db mid+0x20 (/nowhere/appfix)\n"
                        "\t    7f183b15aec5 __libc_start_main (/nowhere/libc-2.19.so)\n\n")
TOLD = [{"module": "/nowhere/appfix", "address": "0x401196"}, {"module": "/nowhere/appfix", "address": "0x4011cb", "symbol": "mid"},
        {"module": "/nowhere/appfix", "address": "0x4011db", "symbol": "mid", "offset": 0x20},
        {"module": "/nowhere/libc-2.19.so", "address": "0x7f183b15aec5", "symbol": "__libc_start_main"}]
NO_INDEX = "there is no index for the module"


def unplaced_frames(callsign, text, *options):
    return json.loads(callsign.run("stack", "--json", "--no-search", *options, stdin=text).stdout)["frames"]


def test_module_number_and_symbol_stay_without_an_index(callsign):
    """No offset is made up for a symbol whose line has none."""
    assert unplaced_frames(callsign, UNPLACED) == [{**frame, "frames": [], "reason": NO_INDEX} for frame in TOLD]
    done = callsign.run("stack", "--no-search", stdin=UNPLACED)
    places = ["appfix 0x401196", "appfix 0x4011cb mid", "appfix 0x4011db mid+0x20", "libc-2.19.so 0x7f183b15aec5 __libc_start_main"]
    assert done.stdout == "app 7/7 1.5: cycles\n" + "".join(f"#{i}   {place}: not found: {NO_INDEX}\n" for i, place in enumerate(places))
    assert done.stderr == f"1 stacks, 4 frames: 0 named, 4 not (4: {NO_INDEX})\n"
    assert callsign.run("stack", "--in-place", "--no-search", stdin=UNPLACED).stdout == UNPLACED


def test_module_number_and_symbol_stay_of_a_sample_alone(callsign):
    text = "app 7/7 1.5: 1 cycles:     7f183b15aec5 __libc_start_main (/nowhere/libc-2.19.so)\n"
    assert unplaced_frames(callsign, text) == [{**TOLD[3], "frames": [], "reason": NO_INDEX}]


def test_numbers_that_an_index_must_not_be_asked_for(callsign, tmp_path):
    """They are no addresses of the image, whatever it has there: nothing is made up, and nothing says that the index lacked anything."""
    gsym_make.write(tmp_path / "libx.so.gsym", [{"start": 0x1000, "size": 0x100, "name": "inner"}], base=0)
    gsym_make.write(tmp_path / "fixed.gsym", [{"start": 0x401000, "size": 0x100, "name": "area"}, {"start": 0x402000, "size": 0x100, "name": "main"}],
                    base=0x400000)
    text = HEAD_LINE + "\t    7f0000001290 [unknown] (/nowhere/libx.so)\n\t    7f0000001390 outer (/nowhere/libx.so)\n" \
        "\t          405010 gone (/nowhere/fixed)\n\t          401010 gone (/nowhere/fixed)\n\t          402010 main+0x10 (/nowhere/fixed)\n\n"
    frames = unplaced_frames(callsign, text, "-s", tmp_path)
    assert frames[:4] == [{"pc": pc, "frames": [], "reason": "no module covers the address"}
                          for pc in ("0x7f0000001290", "0x7f0000001390", "0x405010", "0x401010")]
    assert frames[4]["frames"][0]["function"] == "main"


@pytest.mark.parametrize("line, named", [("#0  0x00007f183b15aec5 in area () from /nowhere/libx.so", {"symbol": "area"}),
                                         ("#0  0x00007f183b15aec5 in ?? () from /nowhere/libx.so", {}),
                                         (" 1# 0x00007f183b15aec5 in /nowhere/libx.so", {}),
                                         ("/nowhere/libx.so(area+0x19) [0x7f183b15aec5]", {"symbol": "area", "offset": 0x19})])
def test_module_number_and_symbol_stay_in_other_dialects(callsign, line, named):
    assert unplaced_frames(callsign, line + "\n") == [{"module": "/nowhere/libx.so", "address": "0x7f183b15aec5", **named, "frames": [], "reason": NO_INDEX}]
