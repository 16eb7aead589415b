"""Frames of kernels in profiles and in the text of perf: moved (KASLR), of another build than the index, of guests; and the names of the
kernel's modules. perf's own names are right: it has them from the kernel that ran."""
import json
import random

import pytest

import gsym_make
from profile_bytes import Pprof, pprof

TEXT = 0xffffffff81000000
COUNT = 400


def functions():
    """(start, size, name) of a kernel's, from its base."""
    made, at = [], 0
    chooser = random.Random(4)
    for i in range(COUNT):
        size = chooser.choice((0x20, 0x40, 0x90, 0x310))
        made.append((at, size, f"kernel_{i}"))
        at += size
    return made


FUNCTIONS = functions()


def write_index(path, made=None, base=TEXT):
    return gsym_make.write(path, [{"start": base + at, "size": size, "name": name, "line": 10 + i} for i, (at, size, name) in enumerate(made or FUNCTIONS)],
                           base=base)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return write_index(tmp_path_factory.mktemp("kernel") / "vmlinux.gsym")


def frame(address, name, image="[kernel.kallsyms]"):
    return f"\t{address:16x} {name} ({image})\n"


def sample(i, *frames):
    return f"app 7/7 {i + 1}.000000: 1 cycles: \n{''.join(frames)}\n"


def text_of(made, moved, number=COUNT, offset="+0x4", image="[kernel.kallsyms]"):
    order = list(made)
    random.Random(9).shuffle(order)
    return "".join(sample(i, frame(TEXT + moved + at + 4, name + offset, image)) for i, (at, _, name) in enumerate(order[:number]))


def other_build():
    """The first functions are where the index has them, others have grown or shrunk."""
    made, moved = [], 0
    chooser = random.Random(3)
    for i, (at, size, name) in enumerate(FUNCTIONS):
        moved += chooser.choice((0, 0, 16, 32, -16)) if i > 4 else 0
        made.append((at + moved, size, name))
    return made


def profile(callsign, tmp_path, text, *options, to="folded"):
    """(names of stacks with their counts, or what was written; standard error)"""
    (tmp_path / "in").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = callsign.run("profile", tmp_path / "in", "--to", to, "-o", tmp_path / "out", "--no-search", "--no-demangle", *options)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "out").read_bytes()
    return (dict(line.rsplit(" ", 1) for line in written.decode().splitlines()) if to == "folded" else written), done.stderr


@pytest.mark.parametrize("moved", [0, 0x200000, 0x1a000000])
@pytest.mark.parametrize("has_map", [False, True])
def test_a_kernel_of_another_build(callsign, index, tmp_path, moved, has_map):
    """One frame in 256 passed for a proof of how far it was moved: then all names were those of other functions."""
    made = other_build()
    record = f"swapper 0 [000] 0.0: PERF_RECORD_MMAP -1/0: [{TEXT + moved:#x}(0x1000000) @ {TEXT + moved:#x}]: x [kernel.kallsyms]_text\n"
    text = has_map * record + text_of(made, moved)
    names, told = profile(callsign, tmp_path, text, "-i", f"vmlinux={index}")
    assert names == {name: "1" for _, _, name in made}
    assert told.count("the index is of another build than the kernel") == 1
    filled = callsign.run("stack", "--in-place", "--no-search", "-i", f"vmlinux={index}", stdin=text)
    assert filled.stdout == text and filled.stderr.count("of another build") == 1
    # As pprof it is read again, and its addresses are still those of other functions.
    between, _ = profile(callsign, tmp_path, text, to="pprof")
    assert profile(callsign, tmp_path, between, "-i", f"vmlinux={index}")[0] == names


@pytest.mark.parametrize("moved", [0, 0x200000, 0x1a000000])
def test_a_kernel_of_this_build(callsign, index, tmp_path, moved):
    """All have lines, and what perf could not name is named once some functions agree."""
    text = text_of(FUNCTIONS, moved)
    written, told = profile(callsign, tmp_path, text, "-i", f"vmlinux={index}", to="pprof")
    lines = {location["lines"][0] for stack, _, _ in Pprof(written).samples for location in stack}
    assert {(name, line) for name, _, line in lines} == {(name, 10 + i) for i, (_, _, name) in enumerate(FUNCTIONS)}
    assert "another build" not in told
    at, _, name = FUNCTIONS[300]
    unknown = sample(COUNT, frame(TEXT + moved + at + 8, "[unknown]")) + sample(COUNT + 1, frame(TEXT + moved + at, "alias+0x0"))
    names, _ = profile(callsign, tmp_path, text_of(FUNCTIONS[:200], moved) + unknown, "-i", f"vmlinux={index}")
    assert names.pop(name) == "2" and len(names) == 200


@pytest.mark.parametrize("base, moved, is_proven", [(0xc0008000, 0, True), (0x100000, 0x34c000, True), (0x3ffe0000000, 0x4000, True),
                                                    (0x3ffe0000000, 0x3000, False), (0xffff800008000000, 0x30000, True), (TEXT, 0x30000, False)])
def test_kernels_of_other_machines(callsign, tmp_path, base, moved, is_proven):
    """By what arm, s390 (in the lower half), arm64 and x86-64 move them."""
    path = write_index(tmp_path / "vmlinux.gsym", base=base)
    text = text_of(FUNCTIONS, base - TEXT + moved, 50)
    written, _ = profile(callsign, tmp_path, text, "-i", f"vmlinux={path}", to="pprof")
    assert {location["lines"][0][2] >= 10 for stack, _, _ in Pprof(written).samples for location in stack} == {is_proven}


def test_two_boots(callsign, index, tmp_path):
    """Recordings one behind the other: the kernel lies elsewhere from the second on."""
    text = text_of(FUNCTIONS[:150], 0x1a000000) + text_of(FUNCTIONS[150:], 0x2a000000)
    written, told = profile(callsign, tmp_path, text, "-i", f"vmlinux={index}", to="pprof")
    assert all(location["lines"][0][2] >= 10 for stack, _, _ in Pprof(written).samples for location in stack) and "another build" not in told
    unknown = sample(999, frame(TEXT + 0x2a000000 + FUNCTIONS[300][0], "[unknown]"))
    assert profile(callsign, tmp_path, text + unknown, "-i", f"vmlinux={index}")[0]["kernel_300"] == "2"


def test_names_without_offsets(callsign, index, tmp_path):
    """perf script -F ip,sym,dso: nothing tells how far the kernel was moved. The names of the input were replaced by others."""
    names, told = profile(callsign, tmp_path, text_of(FUNCTIONS, 0x1000, offset=""), "-i", f"vmlinux={index}")
    assert names == {name: "1" for _, _, name in FUNCTIONS} and "another build" not in told
    written, _ = profile(callsign, tmp_path, text_of(FUNCTIONS, 0, offset=""), "-i", f"vmlinux={index}", to="pprof")
    assert all(location["lines"][0][2] >= 10 for stack, _, _ in Pprof(written).samples for location in stack)


@pytest.mark.parametrize("guest_first", [False, True])
def test_a_guest_is_another_kernel(callsign, index, tmp_path, guest_first):
    """Host and guest had one index, and the shift of the first frame."""
    host, guest = text_of(FUNCTIONS, 0x1a000000, 20), text_of(FUNCTIONS, 0x1a200000, 20, image="[guest.kernel.kallsyms]")
    text = guest + host if guest_first else host + guest
    written, told = profile(callsign, tmp_path, text, "-i", f"vmlinux={index}", to="pprof")
    found = [(location["mapping"]["file"], location["lines"][0][0], location["lines"][0][2] > 0) for stack, _, _ in Pprof(written).samples
             for location in stack]
    names = sorted(name for _, name, _ in found)
    assert sorted(set(found)) == sorted({("vmlinux", name, True) for name in names} | {("[guest.kernel.kallsyms]", name, False) for name in names})
    assert len(set(names)) == 20 and "another build" not in told
    # An index of its own, and its own mapping, as perf writes it
    unknown = sample(99, frame(TEXT + 0x1a200000 + FUNCTIONS[7][0] + 4, "[unknown]", "[guest.kernel.kallsyms]"))
    record = f"x 0 [000] 0.0: PERF_RECORD_MMAP 0/0: [{TEXT + 0x1a200000:#x}(0x1000000) @ {TEXT + 0x1a200000:#x}]: x [guest.kernel.kallsyms]_text\n"
    options = ("-i", f"[guest.kernel.kallsyms]={index}")
    assert profile(callsign, tmp_path, guest + unknown, *options)[0].get("kernel_7") and profile(callsign, tmp_path, record + unknown, *options)[0] == {"kernel_7": "1"}
    start = TEXT + 0x1a200000
    written = pprof([([start + FUNCTIONS[7][0] + 4], [1])], [(start, start + 0x200000, start, "[guest.kernel.kallsyms]_text", "")])
    assert profile(callsign, tmp_path, written, *options)[0] == {"kernel_7": "1"}
    assert "kernel_7" not in profile(callsign, tmp_path, written, "-i", f"vmlinux={index}")[0]


@pytest.mark.parametrize("symbol", ["_text", "_stext"])
@pytest.mark.parametrize("has_symbol", [False, True])
def test_where_the_mapping_of_an_arm64_kernel_begins(callsign, tmp_path, symbol, has_symbol):
    """_stext lies 64 KiB behind _text, which was taken for it. Most indexes have another name of what begins at _stext."""
    base, moved = 0xffff800008000000, 0x20000000
    made = [(0, 0x10, "_text"), (0x10000, 0x10, "_stext" if has_symbol else "__entry"), (0x12000, 0x40, "do_it"), (0x22000, 0x40, "other")]
    path = write_index(tmp_path / "vmlinux.gsym", made, base)
    start = base + moved + (0x10000 if symbol == "_stext" else 0)
    record = f"swapper 0 [000] 0.0: PERF_RECORD_MMAP -1/0: [{start:#x}(0x1000000) @ {start:#x}]: x [kernel.kallsyms]{symbol}\n"
    text = record + sample(0, frame(base + moved + 0x12004, "[unknown]")) + sample(1, frame(base + moved + 0x22004, "other+0x4"))
    assert profile(callsign, tmp_path, text, "-i", f"vmlinux={path}")[0] == {"do_it": "1", "other": "1"}


def test_a_step_that_no_kernel_is_moved_by(callsign, index, tmp_path):
    """A page proved it; on x86-64 it is 2 MiB."""
    at, _, name = FUNCTIONS[100]
    text = sample(0, frame(TEXT + 0x1a001000 + at + 4, name + "+0x4")) + sample(1, frame(TEXT + 0x1a001000 + FUNCTIONS[9][0], "[unknown]"))
    assert set(profile(callsign, tmp_path, text, "-i", f"vmlinux={index}")[0]) == {name, f"vmlinux+{TEXT + 0x1a001000 + FUNCTIONS[9][0]:#x}"}


def test_stacks_with_names_of_another_build(callsign, index):
    text = text_of(other_build()[200:], 0, 1)
    name = text.split()[6].partition("+")[0]
    done = callsign.run("stack", "--json", "--no-search", "-i", f"vmlinux={index}", stdin=text)
    answer = json.loads(done.stdout)["frames"][0]
    assert "1 not (1: the index has another function there)" in done.stderr
    assert (answer["symbol"], answer["offset"], answer["reason"]) == (name, 4, "the index has another function there")
    assert f"vmlinux {name}+0x4: not found: the index has another function there" in callsign.run(
        "stack", "--no-search", "-i", f"vmlinux={index}", stdin=text).stdout


# ---- modules ----

MODULES = [(0xffffffffc0a31139, "nft_do_chain+0x19", "[nf_tables]"), (0xffffffffc0a31239, "[unknown]", "[ext4]"), (0x55d000001239, "[unknown]", "[heap]"),
           (0xffffffffc0a31339, "foo+0x9", "/lib/modules/6.1.0/kernel/fs/xfs/xfs.ko.xz"), (0x7ffd00001239, "[unknown]", "[stack]")]


@pytest.mark.parametrize("between", [None, "pprof", "otlp", "perf-script"])
def test_names_of_modules_without_an_index(callsign, tmp_path, between):
    """They were lost: "([unknown])", and no mapping."""
    source = "".join(sample(i, frame(*place)) for i, place in enumerate(MODULES))
    if between:
        source = profile(callsign, tmp_path, source, to=between)[0]
    written, _ = profile(callsign, tmp_path, source, to="perf-script")
    assert [line for line in written.decode().splitlines() if line.startswith("\t")] == [
        frame(at, name.partition("+")[0], image)[:-1] for at, name, image in MODULES]
    found = Pprof(profile(callsign, tmp_path, source, to="pprof")[0])
    assert [location["mapping"]["file"] for stack, _, _ in found.samples for location in stack] == [image for _, _, image in MODULES]
    libs = json.loads(profile(callsign, tmp_path, source, to="firefox")[0])["libs"]
    assert {lib["path"] for lib in libs} == {image for _, _, image in MODULES}


def test_one_name_of_a_module(callsign, tmp_path):
    """What its index has, and what it lacks."""
    gsym_make.write(tmp_path / "nf_tables.gsym", [{"start": 0x1000, "size": 0x80, "name": "nft_do_chain", "line": 240}])
    text = sample(0, frame(0xffffffffc0a31139, "nft_do_chain+0x19", "[nf_tables]"), frame(0xffffffffc0a41139, "other+0x19", "[nf_tables]"))
    found = Pprof(profile(callsign, tmp_path, text, "-s", tmp_path, to="pprof")[0])
    assert [(location["lines"][0][0], location["lines"][0][2], location["mapping"]["file"]) for location in found.samples[0][0]] == [
        ("nft_do_chain", 240, "[nf_tables]"), ("other", 0, "[nf_tables]")]
    assert len(found.mappings) == 1


# ---- other formats ----

@pytest.mark.parametrize("by_start", [False, True])
def test_an_unnamed_kernel_in_firefox(callsign, index, tmp_path, by_start):
    """Its places had the address -1, by which no symbols could be found later."""
    start = TEXT + 0x1a000000
    source = pprof([([start + at + 4 for at, _, _ in FUNCTIONS[50:53]], [1])], [(start, start + 0x200000, start if by_start else 0, "[kernel.kallsyms]_text", "")])
    between, _ = profile(callsign, tmp_path, source, to="firefox")
    assert profile(callsign, tmp_path, between, "-i", f"vmlinux={index}")[0] == {"kernel_52;kernel_51;kernel_50": "1"}
