"""callsign profile: every format in and out, names and lines of each, merged functions, damaged inputs."""
import gzip
import json
import pathlib
import re
import resource
import subprocess

import pytest

import gsym_make
from profile_bytes import Pprof, dict_of, fields, message, packed, pprof
from programs import need

ROOT = pathlib.Path(__file__).resolve().parents[2]

BASE = 0x55d000000000
MAPPING = (BASE + 0x1000, BASE + 0x4000, 0x1000, "/nowhere/app", "")
PERF = """\
app  4242/4243 [001]    12.345678:     250000 cpu-clock:u: 
\t            1004 f1+0x4 (/nowhere/app)
\t            2010 main+0x10 (/nowhere/app)

app  4242/4243 [001]    12.345928:     250000 cpu-clock:u: 
\t            1004 f1+0x4 (/nowhere/app)
\t            2010 main+0x10 (/nowhere/app)

app  4242/4244 [001]    12.346178:     500000 cpu-clock:u: 
\t            1044 f2+0x4 (/nowhere/app)
\t            2020 main+0x20 (/nowhere/app)
\t            9000 [unknown] (/nowhere/other.so)

"""
STACKS = {("inner", "outer", "main"): 2, ("square", "main"): 1}


@pytest.fixture(scope="module")
def symbols(tmp_path_factory):
    """outer has inner inlined; area and square are one piece of code, and main's call says which."""
    folder = tmp_path_factory.mktemp("symbols")
    gsym_make.write(folder / "app.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "outer", "line": 10,
         "inlined": [{"offset": 0, "size": 0x10, "name": "inner", "call_line": 12}]},
        {"start": 0x1040, "size": 0x40, "name": "area", "line": 20, "merged": [{"name": "square", "line": 30}]},
        {"start": 0x2000, "size": 0x40, "name": "main", "line": 40, "sites": [(0x20, gsym_make.INTERNAL, ["^square$"])]}])
    return folder


def convert(callsign, symbols, tmp_path, source, name, *options):
    path = tmp_path / "in"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    callsign.good("profile", path, "-o", tmp_path / name, "--no-search", "-s", symbols, *options)
    return (tmp_path / name).read_bytes()


def test_perf_script_to_pprof(callsign, symbols, tmp_path):
    """Each sample weighs 1, and its period; return addresses become addresses within the call."""
    profile = Pprof(convert(callsign, symbols, tmp_path, PERF, "out.pb.gz"))
    assert profile.types == [("samples", "count"), ("cpu-clock:u", "nanoseconds")]
    names = profile.names()
    assert names[("inner", "outer", "main")] == [2, 500000]
    assert names[("square", "main", "0x8fff")] == [1, 500000]
    assert sum(values[0] for values in names.values()) == 3
    first = next(stack for stack, _, _ in profile.samples if stack[0]["address"] == 0x1004)
    assert [location["address"] for location in first] == [0x1004, 0x200f]
    assert first[0]["mapping"]["file"] == "/nowhere/app"
    assert [line[2] for line in first[0]["lines"]][1] == 12
    assert not any(location["folded"] for location in first)


def test_inlined_calls_of_perf(callsign, symbols, tmp_path):
    """The index brings them along. perf 6.1 leaves out the frame below them if it takes its function for one more: their names stay."""
    text = PERF.replace("\t            1004", "\t            1004 wrong (inlined)\n\t            1004")
    text = text.replace("\t            9000 [unknown] (/nowhere/other.so)\n", "\t            9000 start_impl+0x84 (inlined)\n\t            2010 main+0x10 (/nowhere/app)\n"
                        "\t            9004 run+0x4 (inlined)\n\t            9004 start+0x84 (inlined)\n")
    names = Pprof(convert(callsign, symbols, tmp_path, text, "out.pb.gz")).names()
    assert names[("inner", "outer", "main")] == [2, 500000]
    assert names[("square", "main", "start_impl", "main", "run", "start")] == [1, 500000]


@pytest.mark.parametrize("module, place", [("/nowhere/app", 0x1004), ("[kernel.kallsyms]", 0xffffffff81001004), ("[nf_tables]", 0xffffffffc0a31004)])
def test_inlined_calls_of_perf_without_an_index(callsign, tmp_path, module, place):
    """There is nothing to bring them along: perf's own names were lost."""
    text = (f"app  4242 [001] 12.345678:     1 cycles:u: \n\t{place:>16x} deepest (inlined)\n\t{place:>16x} inner (inlined)\n"
            f"\t{place:>16x} square+0x4 ({module})\n\t            3010 second (inlined)\n\t            3010 main+0x10 (/nowhere/other)\n\n")
    (tmp_path / "in.perf").write_text(text * 2)
    callsign.good("profile", tmp_path / "in.perf", "--no-search", "-q", "-o", tmp_path / "out.folded")
    assert (tmp_path / "out.folded").read_text() == "main;second;square;inner;deepest 2\n"
    gsym_make.write(tmp_path / "other.gsym", [{"start": 0x3000, "size": 0x40, "name": "main", "line": 40}])
    callsign.good("profile", tmp_path / "in.perf", "--no-search", "-q", "-i", tmp_path / "other.gsym", "-o", tmp_path / "out.folded")
    assert (tmp_path / "out.folded").read_text() == "main;square;inner;deepest 2\n"


@pytest.mark.parametrize("function, out", [
    ({"start": 0x9000, "size": 0x40, "name": "far", "line": 1}, "main;leaf;in1 1\n"),
    ({"start": 0x1000, "size": 0x40, "name": "symbol"}, "main;symbol;in1 1\n"),
    ({"start": 0x1000, "size": 0x40, "name": "leaf", "line": 1}, "main;leaf 1\n"),
    ({"start": 0x1000, "size": 0x40, "name": "leaf", "line": 1, "inlined": [{"offset": 0, "size": 0x10, "name": "own", "call_line": 2}]},
     "main;leaf;own 1\n")])
def test_inlined_calls_of_perf_that_the_index_lacks(callsign, tmp_path, function, out):
    """The index of the module does not have the address, or by a symbol alone: the call that perf tells was lost."""
    gsym_make.write(tmp_path / "app.gsym", [function])
    text = ("app 1/1 1.0:     1 cycles: \n\t            1004 in1 (inlined)\n\t            1004 leaf (/nowhere/app)\n"
            "\t            2010 main (/nowhere/app)\n\n")
    assert convert(callsign, tmp_path, tmp_path, text, "out.folded").decode() == out


INLINED = ("app 12/12 5.0: 2000000 cpu-clock: \n\t            1004 inner+0x4 (inlined)\n\t            1004 outer+0x4 (/nowhere/app)\n"
           "\t            2010 main+0x10 (/nowhere/app)\n\t            9004 run+0x4 (inlined)\n\t            9004 start+0x84 (inlined)\n\n")


@pytest.mark.parametrize("kind", ["pb.gz", "json", "otlp", "otlp.json", "perf"])
def test_inlined_calls_of_perf_in_two_steps(callsign, symbols, tmp_path, kind):
    """They were frames of their own at address 0, and the function below them a caller: a second step named the calls once more."""
    (tmp_path / "in.perf").write_text(INLINED)
    callsign.good("profile", tmp_path / "in.perf", "--no-search", "-q", "-o", tmp_path / f"bare.{kind}")
    stacks = []
    for options in ((), ("-s", symbols)):
        callsign.good("profile", tmp_path / f"bare.{kind}", "--no-search", "-q", *options, "-o", tmp_path / "out.folded")
        stacks.append((tmp_path / "out.folded").read_text())
    assert stacks == ["start;run;main;outer;inner 1\n"] * 2
    callsign.good("profile", tmp_path / f"bare.{kind}", "--no-search", "-q", "-s", symbols, "-o", tmp_path / "out.pb")
    first = next(iter(Pprof((tmp_path / "out.pb").read_bytes()).samples))[0][0]
    assert first["address"] == 0x1004 and [line[0] for line in first["lines"]] == ["inner", "outer"] and first["lines"][0][2]


def test_inlined_calls_of_perf_are_lines_of_a_location(callsign, tmp_path):
    text = INLINED * 2
    profile = Pprof(convert(callsign, tmp_path, tmp_path, text, "out.pb"))
    assert [([line[0] for line in at["lines"]], at["address"], at["mapping"] and at["mapping"]["file"]) for at in profile.samples[0][0]] == [
        (["inner", "outer"], 0x1004, "/nowhere/app"), (["main"], 0x200f, "/nowhere/app"), (["run", "start"], 0, None)]
    assert len(profile.samples) == 1 and len(profile.locations) == 3
    lines = convert(callsign, tmp_path, tmp_path, text, "out.perf").decode().split("\n\n")[0].splitlines()
    assert lines[1:] == ["\t            1004 inner (inlined)", "\t            1004 outer (/nowhere/app)", "\t            2010 main (/nowhere/app)",
                         "\t               0 run (inlined)", "\t               0 start ([unknown])"]


@pytest.mark.parametrize("kind", ["perf", "pb", "otlp"])
def test_named_places_keep_their_address(callsign, tmp_path, kind):
    """Of code that is no ELF file perf prints addresses in memory: a frame with a name had address 0, and no module."""
    frames = [(0x7ffd1234a9b0, "__vdso_gettimeofday", "[vdso]"), (0x55d000001, "foo", "[heap]"), (0x1004, "f1", "C:\\win\\a.dll"),
              (0x55d00000d, "unk", "[unknown]"), (0x2010, "main", "/nowhere/app")]
    kernel = [(0xffffffffc00a1004, "bpf_prog_1234_name", "bpf_prog_1234_name"), (0xffffffffc0a31004, "nft_do_chain", "[unknown]")]
    for chain in (frames, kernel):
        text = "".join(f"\t{at:>16x} {name}{{}} ({module})\n" for at, name, module in chain)
        source = "app 1/1 1.000000000: 1 cycles:\n" + text.replace("{}", "+0x4")
        path = tmp_path / f"step.{kind}"
        path.write_bytes(convert(callsign, tmp_path, tmp_path, source, f"step.{kind}"))
        out = convert(callsign, tmp_path, tmp_path, path.read_bytes(), "out.perf").decode()
        assert out.split("\n", 1)[1] == text.replace("{}", "") + "\n"
        if kind == "pb":
            stack = Pprof(path.read_bytes()).samples[0][0]
            assert [(at["address"] + (i > 0), at["mapping"]["file"] if at["mapping"] else "[unknown]") for i, at in enumerate(stack)] == \
                [(at, module) for at, _, module in chain]


@pytest.mark.parametrize("size", [1021, 1022, 1023, 5000])
def test_long_names(callsign, tmp_path, size):
    """The text of a name is one longer than its buffer, just fits, or is much longer."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x40, "name": f"_Z{size}{'n' * size}v", "line": 10},
                                            {"start": 0x2000, "size": 0x40, "name": "main", "line": 40}])
    names = Pprof(convert(callsign, tmp_path, tmp_path, PERF.split("\n\n")[0] + "\n\n", "out.pb.gz")).names()
    assert list(names) == [("n" * size + "()", "main")]


def test_undecided_functions_are_folded(callsign, symbols, tmp_path):
    profile = Pprof(convert(callsign, symbols, tmp_path, PERF.replace("2020", "2030"), "out.pb.gz"))
    location = next(stack[0] for stack, _, _ in profile.samples if stack[0]["address"] == 0x1044)
    assert location["folded"] and location["lines"][0][0] == "area"


def test_pprof_keeps_what_it_has(callsign, symbols, tmp_path):
    """Addresses are looked up as they stand: callers' ones lie within the call."""
    source = pprof([([BASE + 0x1004, BASE + 0x200f], [3, 30]), ([BASE + 0x1044, BASE + 0x201f], [5, 50]),
                    ([BASE + 0x1004, BASE + 0x200f], [1, 10])], [MAPPING], types=(("samples", "count"), ("cpu", "nanoseconds")),
                   labels={0: [("thread", "a")], 1: [("thread", "b")], 2: [("thread", "a")]})
    for data in (source, gzip.compress(source), gzip.compress(source[:50]) + gzip.compress(source[50:])):
        profile = Pprof(convert(callsign, symbols, tmp_path, data, "out.pb"))
        assert profile.types == [("samples", "count"), ("cpu", "nanoseconds")]
        assert profile.names() == {("inner", "outer", "main"): [4, 40], ("square", "main"): [5, 50]}
        assert sorted(labels for _, _, labels in profile.samples) == [[("thread", "a")], [("thread", "b")]]
        mapping = profile.samples[0][0][0]["mapping"]
        assert (mapping["start"], mapping["end"], mapping["off"]) == MAPPING[:3]


def with_rest(source, *fields_and_texts):
    """Fields of the profile itself that are texts, and numbers."""
    strings = [value.decode() for number, value in fields(source) if number == 6]
    for field, value in fields_and_texts:
        if isinstance(value, str):
            source += message((6, value), (field, len(strings)))
            strings.append(value)
        else:
            source += message((field, value))
    return source


def rest_of(data, *wanted):
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    strings = [value.decode() for number, value in fields(data) if number == 6]
    return {number: value if number == 12 else strings[value] for number, value in fields(data) if number in wanted}


def test_pprof_keeps_what_its_readers_use(callsign, symbols, tmp_path):
    """drop_frames and keep_frames, by which pprof shortens stacks, the default type and the address of a documentation."""
    source = pprof([([BASE + 0x1004, BASE + 0x200f], [3])], [MAPPING])
    first = with_rest(source, (7, "malloc|new"), (8, "main"), (12, 100), (15, "https://example.org/heap"))
    second = with_rest(source, (7, "free"), (12, 500), (14, "samples"))
    wanted = {7: "malloc|new", 8: "main", 12: 100, 15: "https://example.org/heap"}
    assert rest_of(convert(callsign, symbols, tmp_path, first, "out.pb"), 7, 8, 12, 14, 15) == wanted
    (tmp_path / "first.pb").write_bytes(first)
    (tmp_path / "second.pb").write_bytes(second)
    (tmp_path / "third.pb").write_bytes(source)
    callsign.good("profile", "-q", "--offline", tmp_path / "first.pb", tmp_path / "second.pb", tmp_path / "third.pb", "-o", tmp_path / "all.pb")
    assert rest_of((tmp_path / "all.pb").read_bytes(), 7, 8, 12, 14, 15) == {**wanted, 12: 500, 14: "samples"}


def test_pprof_mapping_from_the_first_address(callsign, symbols, tmp_path):
    """As profiles of images that were not moved have it: the limit stays, though it begins at 0."""
    source = pprof([([0x1004, 0x200f], [3])], [(0, 0x4000, 0, "/nowhere/app", "")])
    profile = Pprof(convert(callsign, symbols, tmp_path, source, "out.pb"))
    assert profile.names() == {("inner", "outer", "main"): [3]}
    mapping = profile.samples[0][0][0]["mapping"]
    assert (mapping["start"], mapping["end"], mapping["off"]) == (0, 0x4000, 0)


def test_the_headers_of_a_given_program(callsign, tmp_path):
    """Its code lies 0x20000 further in memory than in the file. The mapping of another machine tells of the file alone."""
    (tmp_path / "a.c").write_text("__attribute__((noinline)) int f(int x) { return x * 3 + 1; }\nint main(int c, char **v) { (void)v; return f(c) + 2; }\n")
    subprocess.run([need("gcc"), "-g", "-O1", "-pie", "-Wl,-Ttext=0x21040", "a.c", "-o", "app"], check=True, cwd=tmp_path)
    pc = BASE + int(callsign.good("find", tmp_path / "app", "f").split()[0], 16) - 0x20000 + 3
    (tmp_path / "in.pb").write_bytes(pprof([([pc], [3])], [(BASE + 0x1000, BASE + 0x2000, 0x1000, "/nowhere/app", "")]))
    callsign.good("profile", "-q", "--offline", "-i", tmp_path / "app", tmp_path / "in.pb", "-o", tmp_path / "out.pb")
    assert Pprof((tmp_path / "out.pb").read_bytes()).names() == {("f",): [3]}


def test_addresses_of_the_image_with_a_mapping(callsign, symbols, tmp_path):
    """Locations have addresses of the image, their mapping says where that was: no pc lies below its mapping."""
    source = b"".join(message((number, message((1, dict_of(value)[1][0]), (2, 1), (3, dict_of(value)[3][0])) if number == 4 else value))
                      for number, value in fields(pprof([([0x1004, 0x200f], [3]), ([0x1044, 0x201f], [5])], [MAPPING])))
    assert Pprof(convert(callsign, symbols, tmp_path, source, "out.pb")).names() == {("inner", "outer", "main"): [3], ("square", "main"): [5]}


@pytest.mark.parametrize("moved", [0, 0x19000000, 0x10000])
@pytest.mark.parametrize("stext", [0, 0x198])
@pytest.mark.parametrize("is_named_by_start", [False, True])
def test_pprof_of_the_kernel(callsign, tmp_path, moved, stext, is_named_by_start):
    """As perf_to_profile writes it: the mapping begins at _text or _stext, wherever KASLR has moved it, and its offset is that or 0."""
    text = 0xffffffff81000000
    gsym_make.write(tmp_path / "vmlinux.gsym", [{"start": text, "size": 0x40, "name": "startup", "line": 10},
                                                {"start": text + 0x1000, "size": 0x40, "name": "do_it", "line": 20}], base=text)
    start = text + moved + stext
    source = pprof([([text + moved + 0x1004], [3])], [(start, start + 0x200000, start if is_named_by_start else 0, "[kernel.kallsyms]_text", "")])
    assert Pprof(convert(callsign, tmp_path, tmp_path, source, "out.pb")).names() == {("do_it",): [3]}


def test_pprof_keeps_mappings_without_locations(callsign, symbols, tmp_path):
    """They were left out: what the program had loaded could not be told any more."""
    spare = (BASE + 0x10000, BASE + 0x14000, 0x2000, "/nowhere/spare.so", "0badcafe")
    source = pprof([([BASE + 0x1004, BASE + 0x200f], [3])], [MAPPING, spare])
    for middle in ("out.pb", "out.pb.gz"):
        source = convert(callsign, symbols, tmp_path, source, middle)
    profile = Pprof(source)
    assert [tuple(m.values()) for m in profile.mappings.values()] == [MAPPING, spare]


def known_of(data):
    """has_functions and the fields behind it, of each mapping."""
    return ["".join(str(dict_of(value).get(field, [0])[0]) for field in (7, 8, 9, 10)) for number, value in fields(data) if number == 3]


@pytest.mark.parametrize("known", ["0000", "1000", "1110", "1111", "0001"])
def test_what_pprof_says_to_know_of_a_mapping(callsign, symbols, tmp_path, known):
    """It was all or nothing, by one location that had a line. An index that names each location tells all."""
    def source(*addresses):
        data = pprof([([BASE + address for address in addresses], [3])], [MAPPING])
        flags = [(7 + i, int(digit)) for i, digit in enumerate(known)]
        line = message((1, 1), (2, 5)) # the location has a name, whatever the mapping says
        return b"".join(message((number, value + message(*flags) if number == 3 else value + message((4, line)) if number == 4 else value))
                        for number, value in fields(data)) + message((5, message((1, 1), (2, 1))))
    named, partly = source(0x1004, 0x200f), source(0x1004, 0x3f00)
    assert known_of(convert(callsign, tmp_path, tmp_path, named, "out.pb")) == [known]
    assert known_of(convert(callsign, symbols, tmp_path, partly, "out.pb")) == [known]
    assert known_of(convert(callsign, symbols, tmp_path, named, "out.pb")) == ["1111"]
    (tmp_path / "other.pb").write_bytes(pprof([([BASE + 0x1008], [3])], [MAPPING]))
    callsign.good("profile", tmp_path / "in", tmp_path / "other.pb", "-o", tmp_path / "out.pb", "--no-search")
    assert known_of((tmp_path / "out.pb").read_bytes()) == ["0000"]


def test_what_is_known_of_other_formats_mappings(callsign, symbols, tmp_path):
    """Where no input says, what all locations show."""
    text = "app 1/1 1.0:     1 cycles: \n\t            1004 f1+0x4 (/nowhere/app)\n\t            2010 {} (/nowhere/app)\n\n"
    assert known_of(convert(callsign, tmp_path, tmp_path, text.format("main+0x10"), "out.pb")) == ["1000"]
    assert known_of(convert(callsign, tmp_path, tmp_path, text.format("[unknown]"), "out.pb")) == ["0000"]
    assert known_of(convert(callsign, symbols, tmp_path, text.format("[unknown]"), "out.pb")) == ["1111"]
    assert known_of(convert(callsign, symbols, tmp_path, text.replace("2010", "9010").format("main+0x10"), "out.pb")) == ["1000"]


@pytest.mark.parametrize("middle", ["x.folded", "x.pb", "x.otlp", "x.otlp.json", "x.json", "x.perf"])
def test_samples_without_frames_count(callsign, symbols, tmp_path, middle):
    """Folded stacks and the text of perf script had none."""
    text = "app 1/1 1.000000:          7 cycles:u: \n\n" + PERF + "app 1/1 2.000000:          5 cycles:u: \n\n"
    between = convert(callsign, symbols, tmp_path, text, middle)
    lines = convert(callsign, symbols, tmp_path, between, "out.folded").decode().splitlines()
    counts = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
    if middle == "x.perf":  # which shows the values of the event that a sample has
        assert counts.pop("[no frames]") == 2 and len(counts) == 2, lines
    else:
        assert counts.pop("[no frames]") == 2 and sorted(counts.values()) == [1, 2], lines


def test_heads_that_are_followed_by_others_are_no_samples(callsign, symbols, tmp_path):
    """Events without chains, one a line: perf was not asked for chains, and the lines are not the samples of a profile."""
    text = "app 1/1 [000] 1.0: PERF_RECORD_MMAP2 1/1: [0x55d000001000(0x1000) @ 0x1000 08:01 12 0]: r-xp /nowhere/app\n\n" + PERF
    assert b"no frames" not in convert(callsign, symbols, tmp_path, text, "out.folded")


@pytest.mark.parametrize("middle", ["x.folded", "x.pb", "x.otlp", "x.otlp.json", "x.json"])
def test_unknown_callers_have_one_name(callsign, symbols, tmp_path, middle):
    """Formats with addresses of calls gave a number that is smaller by one."""
    text = "main;other.so+0x1139;other.so+0x55;[unknown];leaf 5\nother.so+0x10;other.so+0x20 1\n"
    between = convert(callsign, symbols, tmp_path, text, middle)
    assert convert(callsign, symbols, tmp_path, between, "out.folded").decode() == text
    direct = convert(callsign, symbols, tmp_path, PERF, "direct.folded")
    assert b"[other.so <9000>];" in direct
    # Firefox profiles count from the first byte, which is taken for that of the file where nothing is known of the image.
    want = direct.replace(b"[other.so <9000>]", b"other.so+0x9000") if middle == "x.json" else direct
    assert convert(callsign, symbols, tmp_path, convert(callsign, symbols, tmp_path, PERF, middle), "out.folded") == want


@pytest.mark.parametrize("middle", ["x.pb", "x.otlp"])
def test_chains_of_perf_there_and_back(callsign, symbols, tmp_path, middle):
    """The first frame after the kernel's was interrupted; the other callers have return addresses."""
    text = "app 1/1 1.000000:          7 cycles:u: \n" + "".join(f"\t{addr:16x} [unknown] ({path})\n" for addr, path in [
        (0xffffffff81001139, "[kernel.kallsyms]"), (0xffffffff81001239, "[kernel.kallsyms]"), (0x9000, "/nowhere/other.so"),
        (0x9100, "/nowhere/other.so"), (0x9200, "/nowhere/other.so")]) + "\n"
    chain = [line.split()[0] for line in text.splitlines() if line.startswith("\t")]
    between = convert(callsign, symbols, tmp_path, text, middle)
    for source in (text, between):
        written = convert(callsign, symbols, tmp_path, source, "out.perf").decode()
        found = [line.split()[0] for line in written.splitlines() if line.startswith("\t")]
        assert found == chain * (len(found) // len(chain)) and found  # OTLP has a sample for each type of value


def test_very_many_chains(callsign, symbols, tmp_path):
    """Each comes twice, and is found again among all others."""
    chains = [f"app  4242/4243 [001]    12.345678:     250000 cpu-clock:u: \n\t            1004 f1+0x4 (/nowhere/app)\n"
              f"\t            {k:x} [unknown] (/nowhere/other.so)\n\n" for k in range(0x9000, 0x9000 + 5000)]
    names = Pprof(convert(callsign, symbols, tmp_path, "".join(chains * 2), "out.pb")).names()
    assert names == {("inner", "outer", f"{k - 1:#x}"): [2, 500000] for k in range(0x9000, 0x9000 + 5000)}


def test_pprof_without_nul(callsign, symbols, tmp_path):
    """Samples come first, and may be the only thing in the bytes that tell a text from others."""
    source = pprof([([BASE + 0x1004 + i, BASE + 0x200f], [3]) for i in range(8)] * 400, [MAPPING])
    assert b"\0" not in source[:1 << 14]
    names = Pprof(convert(callsign, symbols, tmp_path, source, "out.pb")).names()
    assert names == {("inner", "outer", "main"): [9600]}


@pytest.mark.parametrize("middle", ["a.pb.gz", "a.pb", "a.otlp", "a.otlp.json", "a.json", "a.perf", "a.folded"])
def test_there_and_back(callsign, symbols, tmp_path, middle):
    """Through every format, the stacks and their weights stay."""
    source = PERF.replace("\t            9000 [unknown] (/nowhere/other.so)\n", "")
    data = convert(callsign, symbols, tmp_path, source, middle)
    names = Pprof(convert(callsign, symbols, tmp_path, data, "out.pb.gz")).names()
    assert {key: values[0] for key, values in names.items()} == STACKS


def test_folded(callsign, symbols, tmp_path):
    out = convert(callsign, symbols, tmp_path, "start;[app <2010>];app+0x1004 7\nstart;other 2\n", "out.folded").decode()
    assert sorted(out.splitlines()) == ["start;main;outer;inner 7", "start;other 2"]


def test_folded_counts_with_fractions(callsign, symbols, tmp_path):
    """flamegraph.pl takes them as they are, inferno cuts them off, speedscope leaves such lines out: they are taken times a power of ten."""
    (tmp_path / "decimal").write_text("start;[app <2010>];app+0x1004 7.25\nstart;other 2\nstart;less 0.004\nstart;other 1.\n")
    for middle in ("a.folded", "a.pb", "a.json", "a.perf"):
        done = callsign.run("profile", tmp_path / "decimal", "--from", "folded", "-q", "--no-search", "-s", symbols, "-o", tmp_path / middle)
        assert done.returncode == 0 and done.stderr.endswith("/decimal: counts have fractions: they are taken times 1000\n"), done.stderr
        out = convert(callsign, symbols, tmp_path, (tmp_path / middle).read_bytes(), "out.folded").decode()
        assert sorted(out.splitlines()) == ["start;less 4", "start;main;outer;inner 7250", "start;other 3000"]
    # as many digits as there is room for; digits beyond nine are rounded
    for text, want in (("a 9223372036854775807\nb 0.5\n", ["a 9223372036854775807", "b 1"]), ("a 922337203685477580.3\nb 0.55\n", ["a 9223372036854775803", "b 6"]),
                       ("a 0.0000000012345\n", ["a 1"]), ("a 1.50\nb 2.000\n", ["a 15", "b 20"])):
        assert sorted(convert(callsign, symbols, tmp_path, text, "out.folded").decode().splitlines()) == want
    (tmp_path / "bad").write_text("a;b .5\n")
    assert "no count after the stack" in callsign.bad("profile", tmp_path / "bad", "--from", "folded", "-o", tmp_path / "out.folded")


def test_negative_counts_of_folded_stacks(callsign, symbols, tmp_path):
    """As differences have them: callsign wrote them, and refused to read them."""
    text = f"a;b -5\na;c 7\nleast {-2 ** 63}\n"
    assert convert(callsign, symbols, tmp_path, text, "out.folded").decode() == text
    assert Pprof(convert(callsign, symbols, tmp_path, text, "out.pb")).names() == {("b", "a"): [-5], ("c", "a"): [7], ("least",): [-2 ** 63]}
    fractions = convert(callsign, symbols, tmp_path, "a;b -0.25\na;c 1.5\nd -2.\n", "out.folded").decode()
    assert fractions == "a;b -25\na;c 150\nd -200\n"
    assert convert(callsign, symbols, tmp_path, "start;[app <2010>];app+0x1004 -7\n", "out.folded") == b"start;main;outer;inner -7\n"


def test_stacks_without_a_count_are_written(callsign, symbols, tmp_path):
    """They vanished, and a file of nothing else was empty."""
    for text in ("a;b 0\n", "a;b 0\na;c 3\n"):
        for middle in ("m.folded", "m.pb"):
            data = convert(callsign, symbols, tmp_path, text, middle)
            assert convert(callsign, symbols, tmp_path, data, "out.folded").decode() == text
    assert convert(callsign, symbols, tmp_path, pprof([([0x1004], [5]), ([0x1004], [-5])], []), "out.folded") == b"0x1004 0\n"


def test_no_frames_are_no_function(callsign, symbols, tmp_path):
    """What is written for an empty stack became a function of that name."""
    samples = Pprof(convert(callsign, symbols, tmp_path, "[no frames] 2\nmain;[no frames] 3\n", "out.pb")).names()
    assert samples == {(): [2], ("[no frames]", "main"): [3]}


@pytest.mark.parametrize("options", [(), *(("--from", name) for name in ("pprof", "firefox", "otlp", "otlp-json", "legacy", "perf-script", "folded"))])
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf"])
def test_empty_inputs(callsign, tmp_path, options, data):
    (tmp_path / "in").write_bytes(data)
    done = callsign.run("profile", tmp_path / "in", *options, "-q", "-o", tmp_path / "out.folded")
    assert (done.returncode, done.stderr) == (2, f"callsign: {tmp_path}/in: the input is empty\n") and not (tmp_path / "out.folded").exists()


@pytest.mark.parametrize("line, message", [
    ("a;b 99999999999999999999", f"count 99999999999999999999 has more than 64 bits: need at least {-2 ** 63} and at most {2 ** 63 - 1}"),
    ("a;b -9223372036854775809", f"count -9223372036854775809 has more than 64 bits: need at least {-2 ** 63} and at most {2 ** 63 - 1}"),
    ("a;b 1e3", "no count after the stack: need NAME;NAME;... NUMBER"), ("a;b .5", "no count after the stack: need NAME;NAME;... NUMBER"),
    ("a;b +5", "no count after the stack: need NAME;NAME;... NUMBER")])
@pytest.mark.parametrize("options", [(), ("--from", "folded")])
def test_wrong_counts_of_folded_stacks(callsign, tmp_path, line, message, options):
    """By detection, too, which took some of them for the text of perf."""
    (tmp_path / "in").write_text(line + "\n")
    assert callsign.bad("profile", tmp_path / "in", *options, "-o", tmp_path / "out.folded").rstrip().endswith(f"/in: line 1: {message}")


@pytest.mark.parametrize("name", ["a.folded", "a.perf", "a.json", "a.otlp.json"])
def test_a_byte_order_mark(callsign, symbols, tmp_path, name):
    """Editors on Windows put it before the first line: it is no part of a name."""
    source = convert(callsign, symbols, tmp_path, PERF, name)
    assert convert(callsign, symbols, tmp_path, b"\xef\xbb\xbf" + source, "marked.folded") == convert(callsign, symbols, tmp_path, source, "plain.folded") != b""


@pytest.mark.parametrize("middle", ["a.folded", "a.pb", "a.otlp"])
def test_sums_beyond_64_bits(callsign, symbols, tmp_path, middle):
    """They were negative."""
    data = convert(callsign, symbols, tmp_path, f"a;b {2 ** 63 - 1}\na;b {2 ** 63 - 1}\na;c 7\n", middle)
    assert sorted(convert(callsign, symbols, tmp_path, data, "out.folded").decode().splitlines()) == [f"a;b {2 ** 63 - 1}", "a;c 7"]


@pytest.mark.parametrize("name", ["a.folded", "a.pb", "a.otlp"])
@pytest.mark.parametrize("kind", ["folded", "pprof"])
def test_sums_beyond_64_bits_are_told(callsign, tmp_path, name, kind):
    """-q, too: the numbers are not those of the input."""
    three, two = [2 ** 62] * 3, [2 ** 62, 2 ** 62 - 1]
    for values, is_cut in ((three, True), (two, False)):
        if kind == "folded":
            (tmp_path / "in").write_text("".join(f"a;b {value}\n" for value in values))
        else:
            (tmp_path / "in").write_bytes(pprof([([0x1004], [value]) for value in values], []))
        done = callsign.run("profile", tmp_path / "in", "-q", "--no-search", "-o", tmp_path / name)
        assert done.returncode == 0
        told = f"{name}: sums have more than 64 bits: 2 additions gave {2 ** 63 - 1} or {-2 ** 63} instead\n"
        assert done.stderr.endswith(told) if is_cut else done.stderr == ""


def test_sums_of_lines_beyond_64_bits_are_told(callsign, tmp_path):
    """They are added when the stacks are written: as samples they differ in a label."""
    samples = [([0x1004], [2 ** 62]) for _ in range(3)]
    (tmp_path / "in.pb").write_bytes(pprof(samples, [], labels={i: [("k", str(i))] for i in range(3)}))
    for name, told in (("a.folded", True), ("a.html", True), ("a.pb", False)):
        done = callsign.run("profile", tmp_path / "in.pb", "-q", "--no-search", "-o", tmp_path / name)
        assert done.returncode == 0 and ("2 additions gave" in done.stderr) == told, done.stderr


@pytest.mark.parametrize("middle", ["a.otlp", "a.otlp.json"])
@pytest.mark.parametrize("text, heads", [(PERF, 2), (PERF.replace("250000 cpu-clock:u", "7 cycles", 1), 2), (PERF.replace("500000 cpu-clock:u", "7 cycles"), 2)])
def test_samples_of_several_types_stay_one(callsign, symbols, tmp_path, middle, text, heads):
    """OTLP has a profile for each type of values: what is in several of them is one sample. Each stack was two or three."""
    data = convert(callsign, symbols, tmp_path, text, middle)
    out = convert(callsign, symbols, tmp_path, data, "out.perf").decode()
    again = json.loads(convert(callsign, symbols, tmp_path, out, "again.json"))
    assert sum(thread["samples"]["length"] for thread in again["threads"]) == heads, out
    profile = json.loads(convert(callsign, symbols, tmp_path, data, "out.json"))
    assert sum(thread["samples"]["length"] for thread in profile["threads"]) == heads
    again = Pprof(convert(callsign, symbols, tmp_path, data, "out.pb"))
    assert {tuple(values) for _, values, _ in again.samples} == {tuple(values) for _, values, _ in Pprof(convert(callsign, symbols, tmp_path, text, "direct.pb")).samples}


HEAP = (("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes"))


@pytest.mark.parametrize("types, rows", [
    ((("samples", "count"), ("cpu", "nanoseconds")), [[5, 50], [1, 10], [0, 7], [3, 0]]),
    ((("samples", "count"), ("cpu", "nanoseconds")), [[1, 10], [1, 20]]),
    ((("samples", "count"), ("cycles", "count")), [[2, 7], [1, 3]]),
    ((("contentions", "count"), ("delay", "nanoseconds")), [[1, 10], [2, 0]]),
    ((("events", "count"),), [[5], [7]]), ((("space", "bytes"),), [[5], [7]]), ((("cpu-clock", "count"),), [[5]]),
    ((("samples", "bytes"),), [[5]]), ((("a[b]", "count"), ("samples", "count"), ("c", "")), [[5, 1, 9]]),
    (HEAP, [[5, 50, 0, 0], [1, 10, 2, 20], [0, 0, 3, 30]]), (HEAP, [[0, 0, 0, 0], [-5, -50, 4, 40], [1, 0, 0, 0]]),
    ((("samples", "count"),), [[-5], [0], [7]]), ((("samples", "count"),), [[0]]), ((("cpu", "nanoseconds"),), [[0], [-3]]),
    ((("samples", "count"),), [[-2 ** 63], [2 ** 63 - 1]]),
    (tuple((f"type{i}", "bytes") for i in range(32)), [[i + 1 for i in range(32)]])])
def test_all_values_through_the_text_of_perf(callsign, tmp_path, types, rows):
    """One value of each sample was left, of the last type that is not 0; units were guessed, values below 0 became 1."""
    (tmp_path / "in.pb").write_bytes(pprof([([0x1000 + 16 * i], values) for i, values in enumerate(rows)], [], types=types))
    for source, name in (("in.pb", "a.perf"), ("a.perf", "b.perf"), ("a.perf", "a.pb"), ("b.perf", "b.pb")):
        done = callsign.run("profile", tmp_path / source, "-q", "--no-search", "-o", tmp_path / name)
        assert (done.returncode, done.stderr) == (0, "")
    for name in ("a.pb", "b.pb"):
        profile = Pprof((tmp_path / name).read_bytes())
        assert profile.types == list(types)
        assert profile.names() == {(hex(0x1000 + 16 * i),): values for i, values in enumerate(rows)}


def test_heads_of_values(callsign, tmp_path):
    """Samples as perf has them stay so. Else the shown value is first, and of the first sample each type, though it has none of it."""
    def heads(types, rows, *rest):
        (tmp_path / "in.pb").write_bytes(with_rest(pprof([([0x1000 + 16 * i], values) for i, values in enumerate(rows)], [], types=types), *rest))
        callsign.good("profile", tmp_path / "in.pb", "-q", "--no-search", "-o", tmp_path / "a.perf")
        return re.findall(r"^\[unknown\] 0/0 0\.000000000: (.+):$", (tmp_path / "a.perf").read_text(), re.M)

    assert heads((("samples", "count"),), [[5], [0], [-7]]) == ["5 samples", "0 samples", "-7 samples"]
    assert heads((("samples", "count"), ("cpu-clock:u", "nanoseconds"), ("cycles", "count")), [[1, 9, 0], [1, 0, 8], [4, 0, 0]]) \
        == ["9 cpu-clock:u", "8 cycles", "4 samples"]
    assert heads((("samples", "count"), ("cycles", "count")), [[1, 9], [2, 8]]) == ["1 samples", "9 cycles[count]", "2 samples", "8 cycles[count]"]
    assert heads((("alloc space", "bytes"), ("inuse", "bytes"), ("none", "x")), [[5, 0, 0], [6, 7, 0]], (14, "inuse")) \
        == ["0 inuse[bytes]", "5 alloc_space[bytes]", "0 none[x]", "7 inuse[bytes]", "6 alloc_space[bytes]"]
    assert callsign.good("profile", tmp_path / "a.perf", "-q", "--no-search", "--to", "folded", "-o", tmp_path / "out") == ""
    assert (tmp_path / "out").read_text() == "0x1000 0\n0x1010 7\n"


def test_periods_of_many_events_of_perf(callsign, tmp_path):
    """The 17th and later events had none."""
    def read(count):
        (tmp_path / "in.perf").write_text("".join(f"app 1/1 {i}.0: {100 + i} event{i}:\n\t            1004 f1+0x4 (/nowhere/app)\n\n" for i in range(count)))
        done = callsign.run("profile", tmp_path / "in.perf", "-q", "--no-search", "-o", tmp_path / "out.pb")
        assert done.returncode == 0
        profile = Pprof((tmp_path / "out.pb").read_bytes())
        return done.stderr, {name: sum(values[i] for _, values, _ in profile.samples) for i, (name, _) in enumerate(profile.types)}

    assert read(31) == ("", {"samples": 31, **{f"event{i}": 100 + i for i in range(31)}})
    told = f"callsign: {tmp_path}/in.perf: 4 values are left out: a profile has at most 32 types of values\n"
    assert read(35) == (told, {"samples": 35, **{f"event{i}": 100 + i for i in range(31)}})


def test_periods_beyond_64_bits(callsign, symbols, tmp_path):
    (tmp_path / "in.perf").write_text(PERF.replace("500000", str(2 ** 63)))
    done = callsign.run("profile", tmp_path / "in.perf", "-q", "--no-search", "-s", symbols, "-o", tmp_path / "out.pb")
    assert (done.returncode, done.stderr) \
        == (0, f"callsign: {tmp_path}/in.perf: 1 periods have more than 64 bits: they are {2 ** 63 - 1} or {-2 ** 63} instead\n")


@pytest.mark.parametrize("thread", [":-1    -1/-1 ", ":-1    -1", "swapper 5 -1/-1 "])
def test_unknown_threads_of_perf(callsign, symbols, tmp_path, thread):
    """perf has -1 for them: the period was lost, and behind a sample without frames that sample's thread, time and period were taken."""
    text = ("app  7/8 [001] 1.000000:         5 cycles:u: \n\n"
            f"{thread} [001] 3.500000:         3 cycles:u: \n\t            1004 f1+0x4 (/nowhere/app)\n\n")
    assert Pprof(convert(callsign, symbols, tmp_path, text, "out.pb")).names() == {(): [1, 5], ("inner", "outer"): [1, 3]}
    written = convert(callsign, symbols, tmp_path, text, "out.perf").decode()
    assert written.startswith("app 7/8 1.000000000: 5 cycles:u:\n\n") and " 0/0 3.500000000: 3 cycles:u:\n" in written


def test_chains_behind_samples_without_frames(callsign, symbols, tmp_path):
    """A chain whose head is none took thread, time and period of the sample before it, which counted twice."""
    text = "app  7/8 [001] 1.000000:         5 cycles:u: \n\nno head\n\t            1004 f1+0x4 (/nowhere/app)\n\n"
    assert Pprof(convert(callsign, symbols, tmp_path, text, "out.pb")).names() == {(): [1, 5], ("inner", "outer"): [1, 0]}


DATA_ADDRESSES = ["     556e8c16a5c0 __progname+0x0 (/nowhere/app)", "                0", "       1e05080021 |OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A",
                  "     7fff018e6f59 [unknown] ([stack])               0     7f0000001000"]


@pytest.mark.parametrize("behind", DATA_ADDRESSES)
def test_what_perf_prints_behind_the_event(callsign, tmp_path, behind):
    """`perf script -F +addr,+weight,+data_src`: a sample more was made of each address, and the chain lost thread, time and value."""
    heads = PERF.replace("cpu-clock:u: ", f"cpu-clock:u: {behind}")
    for name, text in (("plain", PERF), ("more", heads), ("alone", heads[heads.index("\napp") + 1:heads.index("\n\n", heads.index("\napp")) + 1])):
        (tmp_path / f"{name}.txt").write_text(text)
        done = callsign.run("profile", tmp_path / f"{name}.txt", "--no-search", "-o", tmp_path / f"{name}.perf", "-q")
        assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "more.perf").read_text() == (tmp_path / "plain.perf").read_text()
    assert (tmp_path / "alone.perf").read_text().split("\n\n") == ["app 4242/4243 12.345928000: 250000 cpu-clock:u:" + end for end in [
        "\n\t            1004 f1 (/nowhere/app)\n\t            2010 main (/nowhere/app)"]] + [""]


def test_lines_that_are_no_samples(callsign, tmp_path):
    """What is left out is told: a recording that was cut or mixed with other output loses samples otherwise."""
    text = PERF + "[ perf record: Woken up 1 times to write data ]\n" + "app" * 500000 + "\n\t            1004 f1 (/nowhere/app)\n\nmore\n"
    (tmp_path / "in.txt").write_text("app  7/7 [001] 1.0: PERF_RECORD_LOST lost 5\n" + text)
    done = callsign.run("profile", tmp_path / "in.txt", "--no-search", "-o", tmp_path / "out.folded", "-q")
    line = PERF.count("\n") + 2
    assert (done.returncode, done.stderr.splitlines()) == (0, [
        f"callsign: {tmp_path}/in.txt: line {line + 1}: left out: longer than 1048576 bytes",
        f"callsign: {tmp_path}/in.txt: line {line}, and 1 more: left out: not understood"])
    # Heads without a number or a time are understood, once a chain follows.
    (tmp_path / "in.txt").write_text("app \n\t            1004 f1 (/nowhere/app)\n\ncycles: \n\t            1004 f1 (/nowhere/app)\n\n")
    done = callsign.run("profile", tmp_path / "in.txt", "--no-search", "-o", tmp_path / "out.folded", "-q")
    assert (done.returncode, done.stderr, (tmp_path / "out.folded").read_text()) == (0, "", "f1 2\n")


def test_more_frames_than_a_stack_takes(callsign, tmp_path):
    frame = "\t            1004 f1 (/nowhere/app)\n"
    (tmp_path / "in.txt").write_text("app 1/1 1.5: 10 cycles:u:\n" + frame * ((1 << 20) + 3) + "\n")
    done = callsign.run("profile", tmp_path / "in.txt", "--no-search", "-o", tmp_path / "out.pb", "-q")
    assert (done.returncode, done.stderr) == (0, f"callsign: {tmp_path}/in.txt: 3 frames are left out: a stack has at most 1048576\n")


@pytest.mark.parametrize("name", ["out.folded", "out.pb", "out.otlp", "out.otlp.json", "out.json", "out.perf", "out.html"])
@pytest.mark.parametrize("text, status", [
    ("app  7/7 [001] 1.0: PERF_RECORD_MMAP2 7/7: [0x55d000001000(0x1000) @ 0x1000 08:01 12 0]: r-xp /nowhere/app\n", 1), ("# nothing\n#\n", 1),
    ("app  7/8 [001] 1.000000:         5 cycles:u: \napp  7/8 [001] 2.000000:         5 cycles:u: \n", 1), ("no profile\n", 2)])
def test_text_of_perf_without_samples(callsign, tmp_path, text, status, name):
    """It is perf's, and has none: that is no failure."""
    (tmp_path / "in.perf").write_text(text)
    done = callsign.run("profile", tmp_path / "in.perf", "-q", "--no-search", "-o", tmp_path / name)
    assert (done.returncode, done.stderr) == (status, f"callsign: {tmp_path}/in.perf: no samples of perf script in {text.count(chr(10))} lines, and no other kind of profile\n")
    assert (tmp_path / name).exists() == (status == 1)


def test_equal_lines_of_folded_stacks_are_one(callsign, symbols, tmp_path):
    """Two addresses of a function are two stacks; their lines have the same names."""
    other = PERF.replace("1004 f1+0x4", "1008 f1+0x8").replace("2010 main+0x10", "2014 main+0x14")
    assert convert(callsign, symbols, tmp_path, PERF + other, "out.folded").decode().splitlines() \
        == ["main;outer;inner 4", "[other.so <9000>];main;square 2"]


@pytest.mark.parametrize("text", [PERF, "outer;main 5\r\n"])
def test_byte_order_mark(callsign, symbols, tmp_path, text):
    """What Windows' programs write before line 1 is no part of a name."""
    plain = convert(callsign, symbols, tmp_path, text, "plain.folded")
    assert convert(callsign, symbols, tmp_path, b"\xef\xbb\xbf" + text.encode(), "mark.folded") == plain


def test_deep_first_stack_is_folded(callsign, symbols, tmp_path):
    """A first line that does not end where detection does."""
    line = ";".join(f"recurse{i}" for i in range(3000)) + " 7\n"
    assert len(line) > 1 << 14 and convert(callsign, symbols, tmp_path, line, "out.folded").decode() == line


@pytest.mark.parametrize("told, pid", [("", 1920), ("PERF_RECORD_FORK(1908:1920):(1908:1908)\n", 1908)])
def test_threads_of_perf(callsign, symbols, tmp_path, told, pid):
    """perf prints the thread's number alone: it is that of the process, too, unless a line before tells otherwise."""
    text = told + "thr  1920  4032.298078:          7 cycles:u: \n\t            1004 f1+0x4 (/nowhere/app)\n\n"
    thread, = json.loads(convert(callsign, symbols, tmp_path, text, "out.json"))["threads"]
    assert (thread["name"], thread["pid"], thread["tid"], thread["isMainThread"]) == ("thr", str(pid), 1920, pid == 1920)
    head = convert(callsign, symbols, tmp_path, text, "out.perf").decode().split("\n")[0]
    assert head == f"thr {pid}/1920 4032.298078000: 7 cycles:u:"
    untimed = json.loads(convert(callsign, symbols, tmp_path, text.replace(" 4032.298078:", ""), "out.json"))["threads"]
    assert [(t["name"], t["pid"], t["tid"]) for t in untimed] == [("thr", str(pid), 1920)]


def test_perf_script_text(callsign, symbols, tmp_path):
    out = convert(callsign, symbols, tmp_path, PERF, "out.perf").decode().split("\n\n")
    assert len(out) == 4 and out[3] == ""
    assert out[0].splitlines() == ["app 4242/4243 12.345678000: 250000 cpu-clock:u:", "\t            1004 inner (inlined)",
                                   "\t            1004 outer (/nowhere/app)", "\t            2010 main (/nowhere/app)"]


def test_firefox(callsign, symbols, tmp_path):
    """A thread each, times, inlined frames above those that they are in."""
    profile = json.loads(convert(callsign, symbols, tmp_path, PERF, "out.json"))
    assert [(t["name"], t["pid"], t["tid"], t["samples"]["time"]) for t in profile["threads"]] == [
        ("app", "4242", 4243, [12345.678, 12345.928]), ("app", "4242", 4244, [12346.178])]
    thread = profile["threads"][0]
    stack, found = thread["samples"]["stack"][0], []
    while stack is not None:
        frame = thread["stackTable"]["frame"][stack]
        func = thread["frameTable"]["func"][frame]
        found.append((thread["stringArray"][thread["funcTable"]["name"][func]], thread["frameTable"]["address"][frame],
                      thread["frameTable"]["inlineDepth"][frame]))
        stack = thread["stackTable"]["prefix"][stack]
    assert found == [("inner", 0x1004, 1), ("outer", 0x1004, 0), ("main", 0x200f, 0)]
    for table in ("frameTable", "funcTable", "stackTable", "resourceTable", "samples"):
        columns = {len(value) for value in thread[table].values() if isinstance(value, list)}
        assert columns == {thread[table]["length"]}, table


def firefox(shared):
    tables = {
        "stringArray": ["0x1004", "0x200f", "app", "JS"],
        "frameTable": {"length": 3, "address": [0x1004, 0x200f, -1], "inlineDepth": [0, 0, 0], "func": [0, 1, 2],
                       "line": [None, None, 9], "nativeSymbol": [None, None, None]},
        "funcTable": {"length": 3, "name": [0, 1, 3], "resource": [0, 0, -1], "fileName": [None, None, None]},
        "resourceTable": {"length": 1, "lib": [0], "name": [2]},
        "stackTable": {"length": 3, "frame": [2, 1, 0], "prefix": [None, 0, 1]},
        "nativeSymbols": {"length": 0, "libIndex": []}}
    thread = {"name": "main", "processName": "app", "pid": "12", "tid": 12, "markers": {"length": 4},
              "samples": {"length": 3, "stack": [2, None, 2], "timeDeltas": [1, 0.5, 1], "weight": [1, 1, 3], "weightType": "samples"}}
    profile = {"meta": {"interval": 1, "startTime": 1000, "preprocessedProfileVersion": 57},
               "libs": [{"name": "app", "path": "/nowhere/app", "codeId": None}], "threads": [thread], "counters": [{}]}
    (profile if shared else thread).update({"shared": tables} if shared else tables)
    return json.dumps(profile)


@pytest.mark.parametrize("lib, found", [
    ({"name": "app"}, True), ({"debugName": "app", "breakpadId": "0" * 33}, True), ({"debugPath": "/nowhere/app", "codeId": ""}, True),
    # a build id and a UUID in Breakpad's form: of the right file, and of another one
    ({"name": "app", "breakpadId": "44332211665588779900AABBCCDDEEFF0", "os": "Linux x86_64"}, True),
    ({"name": "app", "breakpadId": "54332211665588779900AABBCCDDEEFF0", "os": "Linux x86_64"}, False),
    ({"path": "/usr/lib/libapp.so", "breakpadId": "54332211665588779900AABBCCDDEEFF0"}, False),
    ({"name": "app", "breakpadId": "11223344556677889900AABBCCDDEEFF0", "os": "macOS 14.5"}, True),
    ({"name": "app", "breakpadId": "11223344556677889900AABBCCDDEE000", "os": "macOS 14.5"}, False),
    # of what system is not known: the name decides
    ({"name": "app", "breakpadId": "11223344556677889900AABBCCDDEE000"}, True),
    # a time stamp and a size are no build id
    ({"name": "app.exe", "codeId": "5CF2591C12345678", "os": "Windows NT 10.0"}, True)])
def test_ids_of_firefox_libraries(callsign, tmp_path, lib, found):
    """Without a code id the name alone decided, and another build's names were shown."""
    name = lib.get("path", "app").split("/")[-1]
    gsym_make.write(tmp_path / f"{lib.get('name', name)}.gsym", [{"start": 0x1000, "size": 0x2000, "name": "area", "line": 5}], base=0,
                    build_id=bytes.fromhex("11223344556677889900aabbccddeeff01020304"))
    profile = json.loads(firefox(False))
    if "os" in lib:
        profile["meta"]["oscpu"] = lib["os"]
    profile["libs"] = [{"codeId": None, **{key: value for key, value in lib.items() if key != "os"}}]
    (tmp_path / "in.json").write_text(json.dumps(profile))
    callsign.run("profile", tmp_path / "in.json", "-o", tmp_path / "out.folded", "--no-search", "-q", "-s", tmp_path)
    assert ("area" in (tmp_path / "out.folded").read_text()) == found


def test_libraries_of_firefox_threads(callsign, symbols, tmp_path):
    """Before version 41 each thread had its own."""
    profile = json.loads(firefox(False))
    thread, = profile["threads"]
    other = json.loads(json.dumps(thread))
    thread["libs"], other["libs"] = profile.pop("libs"), [{"name": "other", "path": "/nowhere/other"}]
    profile["threads"] = [other, thread]
    (tmp_path / "in.json").write_text(json.dumps(profile))
    callsign.good("profile", tmp_path / "in.json", "-o", tmp_path / "out.folded", "--no-search", "-q", "-s", symbols)
    assert sorted((tmp_path / "out.folded").read_text().splitlines()) == ["JS;main;outer;inner 4", "JS;other+0x2010;other+0x1004 4", "[no frames] 2"]


@pytest.mark.parametrize("base, first, found", [(0x400000, 0x401000, "far"), (0x400000, 0x400000, "near"), (0x1000, 0x1100, "near")])
def test_offsets_beyond_the_base(callsign, tmp_path, base, first, found):
    """A program of 6 MiB that is not relocated; an index that begins with its first function may be of an image at 0."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": first, "size": 0x10, "name": "first"}, {"start": 0x500000, "size": 0x1000, "name": "near"},
                                            {"start": base + 0x500000, "size": 0x1000, "name": "far"}], base=base)
    profile = json.loads(firefox(False))
    profile["threads"][0]["frameTable"]["address"] = [0x500004, 0x500008, -1]
    (tmp_path / "in.json").write_text(json.dumps(profile))
    callsign.run("profile", tmp_path / "in.json", "-o", tmp_path / "out.folded", "--no-search", "-q", "-s", tmp_path)
    assert f"JS;{found};{found} 4" in (tmp_path / "out.folded").read_text()


@pytest.mark.parametrize("shared", [False, True])
def test_firefox_in(callsign, symbols, tmp_path, shared):
    """Tables in threads, as samply writes them, or shared by all, as newer versions have them."""
    (tmp_path / "in.json").write_text(firefox(shared))
    done = callsign.run("profile", tmp_path / "in.json", "-o", tmp_path / "out.folded", "--no-search", "-s", symbols)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.folded").read_text() == "[no frames] 1\nJS;main;outer;inner 4\n"
    assert "5 markers, counters and allocations of the input are left out" in done.stderr


@pytest.mark.parametrize("code_id", ["5CF2591C1F8000", "5CF2591C6859000", None])
@pytest.mark.parametrize("debug_name, guid", [("app.pdb", "33221100554477668899aabbccddeeff"), ("App.PDB", "33221100554477668899aabbccddeeff")])
def test_firefox_from_windows(callsign, tmp_path, code_id, debug_name, guid):
    """A code id is a time stamp and a size there, which was taken for a build id where its digits are of even number."""
    given = json.loads(firefox(True))
    given["libs"] = [{"name": "app.exe", "path": "C:\\dir\\app.exe", "debugName": debug_name, "codeId": code_id,
                      "breakpadId": "00112233445566778899AABBCCDDEEFF1"}]
    functions = [{"start": 0x1000, "size": 0x40, "name": "outer", "line": 10}, {"start": 0x2000, "size": 0x40, "name": "main", "line": 40}]
    for name, id, wanted in (("right", guid, "JS;main;outer 4"), ("wrong", "00" * 16, "JS;app.exe+0x2010;app.exe+0x1004 4")):
        (tmp_path / name).mkdir()
        gsym_make.write(tmp_path / name / "app.exe.gsym", functions, build_id=bytes.fromhex(id))
        text = convert(callsign, tmp_path / name, tmp_path, json.dumps(given), "out.folded").decode()
        assert wanted in text.replace("C:\\dir\\", "")


def test_firefox_keeps_columns(callsign, symbols, tmp_path):
    """Of JavaScript, where all of a program may be one line: two places of one function are two frames."""
    given = json.loads(firefox(False))
    thread = given["threads"][0]
    thread["frameTable"].update(length=4, address=[0x1004, 0x200f, -1, -1], inlineDepth=[0] * 4, func=[0, 1, 2, 2], line=[None, None, 9, 9],
                                column=[None, None, 77, 1234], nativeSymbol=[None] * 4)
    thread["funcTable"]["lineNumber"] = [None, None, 8]
    thread["stackTable"].update(length=4, frame=[2, 1, 0, 3], prefix=[None, 0, 1, None])
    thread["samples"] = {"length": 2, "stack": [2, 3], "time": [1, 2]}
    out = json.loads(convert(callsign, symbols, tmp_path, json.dumps(given), "out.json"))["threads"][0]
    frames, funcs = out["frameTable"], out["funcTable"]
    of_js = [i for i, func in enumerate(frames["func"]) if out["stringArray"][funcs["name"][func]] == "JS"]
    assert [(frames["line"][i], frames["column"][i], funcs["lineNumber"][frames["func"][i]]) for i in of_js] == [(9, 77, 8), (9, 1234, 8)]


def test_fractions_of_milliseconds_count(callsign, symbols, tmp_path):
    """Weights of tracing-ms were cut to whole milliseconds: shorter ones vanished."""
    given = json.loads(firefox(True))
    samples = given["threads"][0]["samples"]
    samples.update(weight=[0.25] * len(samples["stack"]), weightType="tracing-ms")
    profile = Pprof(convert(callsign, symbols, tmp_path, json.dumps(given), "out.pb"))
    assert profile.types == [("tracing-ms", "nanoseconds")]
    assert sum(values[0] for values in profile.names().values()) == 250000 * len(samples["stack"])
    written = json.loads(convert(callsign, symbols, tmp_path, json.dumps(given), "out.json"))["threads"][0]["samples"]
    assert written["weightType"] == "tracing-ms" and set(written["weight"]) == {0.25}


@pytest.mark.parametrize("text, value", [("0.25", 250000), ("2.5e-1", 250000), ("25E-2", 250000), ("1e3", 1000000000), ("-0.5", -500000),
                                         ("0." + "0" * 60 + "1e61", 1000000), ("1" + "0" * 100 + "e-100", 1000000), ("null", 1000000)])
def test_numbers_of_json(callsign, symbols, tmp_path, text, value):
    """Numbers of more than 63 characters counted 1."""
    given = json.loads(firefox(True))
    samples = given["threads"][0]["samples"]
    samples.update(weight=["W"] * len(samples["stack"]), weightType="tracing-ms")
    profile = Pprof(convert(callsign, symbols, tmp_path, json.dumps(given).replace('"W"', text), "out.pb"))
    assert sum(values[0] for values in profile.names().values()) == value * len(samples["stack"])


@pytest.mark.plain_build
def test_numbers_of_json_in_another_locale(callsign, tmp_path):
    """The library read numbers by the program's locale: where it has a decimal comma, weights with fractions counted 1."""
    (tmp_path / "comma").write_text('LC_NUMERIC\ndecimal_point "<U002C>"\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n')
    (tmp_path / "locales").mkdir()
    subprocess.run([need("localedef"), "-c", "-i", tmp_path / "comma", tmp_path / "locales" / "comma"], capture_output=True, check=False)
    libraries = pathlib.Path(callsign.path).resolve().parent
    subprocess.run([need("gcc"), "-Wall", "-Werror", f"-I{ROOT}/include", ROOT / "tests/consumers/profile_in_locale.c", f"-L{libraries}", "-lcallsign",
                    f"-Wl,-rpath,{libraries}", "-o", tmp_path / "program"], check=True)
    given = json.loads(firefox(True))
    samples = given["threads"][0]["samples"]
    samples.update(weight=[0.25] * len(samples["stack"]), weightType="tracing-ms")
    (tmp_path / "in.json").write_text(json.dumps(given))
    done = subprocess.run([tmp_path / "program", tmp_path / "in.json", tmp_path / "out.pb"], capture_output=True, text=True, check=False,
                          env={"LOCPATH": str(tmp_path / "locales"), "LC_ALL": "comma"})
    assert (done.returncode, done.stderr) == (0, "")
    values = Pprof((tmp_path / "out.pb").read_bytes()).names().values()
    assert sum(value[0] for value in values) == 250000 * len(samples["stack"])


@pytest.mark.parametrize("change, message", [
    (lambda given: given.replace('"weight": [', '"weight": [1e300, '), "a sample has weight 1e300, need at most 9223372036854775807"),
    (lambda given: given.replace('"weight": [', '"weight": ["5", '), 'a sample has weight "5", need a number'),
    (lambda given: given.replace('"timeDeltas": [', '"timeDeltas": [true, '), "a sample has time delta true, need a number"),
    (lambda given: given + "\n" + given, "more text after the profile")])
def test_firefox_refused(callsign, tmp_path, change, message):
    (tmp_path / "in").write_text(change(firefox(True)))
    done = callsign.run("profile", tmp_path / "in", "-o", tmp_path / "out.pb", "--no-search")
    assert done.returncode == 2 and message in done.stderr, done.stderr


# JSON of which a piece is missing or too much; Python's own reader says where.
DAMAGES = [('"stack": [2, None, 2]', '"stack": [2 null, 2]'), ('"stack": [2, None, 2]', '"stack": [2,, null, 2]'), ('"weight": [1, 1, 3]', '"weight": [1 1 3]'),
           ('"stack": [2, None, 2]', '"stack": [2, n, 2]'), ('"weight": [1, 1, 3]', '"weight": [1, 1, 3,]'), ('"weight": [1, 1, 3]', '"weight": [01, 1, 3]'),
           ('"weight": [1, 1, 3]', '"weight": [1., 1, 3]'), ('"weight": [1, 1, 3]', '"weight": [1, 1, 3}'), ('"func": [0, 1, 2]', '"func": [0, 1 2]'),
           ('"0x1004", "0x200f"', '"0x1004" "0x200f"'), ('"0x200f"', '"0x20\tf"'), ('"0x200f"', '"0x2\\x0f"'), ('"libs": [{', '"libs": [{} {'),
           ('"counters": [{}]', '"counters": [{} {}]'), ('"tid": 12', '"tid" 12'), ('"tid": 12', 'tid: 12'), ('"tid": 12', '"tid": 12 "x": 1')]


@pytest.mark.parametrize("before, after", DAMAGES)
def test_damaged_json_of_firefox(callsign, tmp_path, before, after):
    """Arrays ended at the damage, and what was behind it was lost."""
    given = firefox(True).replace(before.replace("None", "null"), after)
    assert given != firefox(True)
    with pytest.raises(json.JSONDecodeError) as wrong:
        json.loads(given)
    (tmp_path / "in.json").write_text(given)
    done = callsign.run("profile", tmp_path / "in.json", "-o", tmp_path / "out.folded", "--no-search")
    found = re.search(r"in\.json: JSON\+0x([0-9a-f]+): .*, in a text of (\d+) bytes", done.stderr)
    assert done.returncode == 2 and not (tmp_path / "out.folded").exists(), done.stderr
    # The same token: Python names the comma or escape that leads to it, or the value that it is in.
    assert found and int(found[2]) == len(given) and abs(int(found[1], 16) - wrong.value.pos) <= 3, (done.stderr, wrong.value)


@pytest.mark.parametrize("make", [lambda: firefox(False), lambda: json.dumps(otlp_json())], ids=["firefox", "otlp"])
def test_every_mark_of_json_is_needed(callsign, tmp_path, make):
    """Without one of them, a text is refused if Python's reader refuses it."""
    given = make()
    marks = [i for i, c in enumerate(given) if c in ',:[]{}"']
    for i in marks[::max(1, len(marks) // 60)]:
        text = given[:i] + given[i + 1:]
        try:
            json.loads(text)
        except json.JSONDecodeError:
            (tmp_path / "in.json").write_text(text)
            kind = "otlp-json" if "resourceProfiles" in text else "firefox"
            done = callsign.run("profile", "--from", kind, tmp_path / "in.json", "-o", tmp_path / "out.folded", "--no-search")
            assert done.returncode == 2 and "in.json: JSON+0x" in done.stderr, (i, text[i - 20:i + 20], done.stderr)


@pytest.mark.parametrize("before, after, message", [
    ('"stack": [2, null, 2]', '"stack": [0.6, null, 2]', "a sample has stack 0.6, there are 3"),
    ('"stack": [2, null, 2]', '"stack": ["2", null, 2]', 'a sample has stack "2", there are 3'),
    ('"stack": [2, null, 2]', '"stack": [3, null, 2]', "a sample has stack 3, there are 3"),
    ('"weight": [1, 1, 3]', '"weight": [1, 1]', "samples have fewer items in 'weight' than in 'stack'"),
    ('"weight": [1, 1, 3]', '"weight": [1, 1, 3, null]', "samples have more items in 'weight' than in 'stack'"),
    ('"stack": [2, null, 2]', '"stack": {}', "a value is no array"), ('"weight": [1, 1, 3]', '"weight": 7', "a value is no array"),
    ('"frame": [2, 1, 0]', '"frame": [2, 1, 0.4]', "a table has 0.4, need a whole number of 64 bits or null"),
    ('"name": [0, 1, 3]', '"name": [0, 1, "JS"]', 'a table has "JS", need a whole number of 64 bits or null')])
def test_json_of_firefox_that_means_nothing(callsign, tmp_path, before, after, message):
    given = firefox(True).replace(before, after)
    (tmp_path / "in.json").write_text(given)
    done = callsign.run("profile", tmp_path / "in.json", "-o", tmp_path / "out.folded", "--no-search")
    assert done.returncode == 2 and f"{message}" in done.stderr, done.stderr
    assert 0 <= int(re.search(r"JSON\+0x([0-9a-f]+)", done.stderr)[1], 16) - given.index(after) < len(after)


def test_shared_tables_are_read_once(callsign, tmp_path):
    """With 1000 threads they were read 1000 times: 20 s."""
    def seconds(threads):
        count = 20000
        rows, none = list(range(count)), [None] * count
        shared = {"stringArray": [f"f{i}" for i in rows],
                  "frameTable": {"length": count, "address": [-1] * count, "inlineDepth": [0] * count, "func": rows, "line": none},
                  "funcTable": {"length": count, "name": rows, "resource": [-1] * count, "lineNumber": none},
                  "stackTable": {"length": count, "prefix": none, "frame": rows}}
        profile = {"meta": {"interval": 1, "startTime": 0, "preprocessedProfileVersion": 56}, "libs": [], "shared": shared,
                   "threads": [{"name": f"t{i}", "pid": "1", "tid": i, "samples": {"length": 1, "stack": [i]}} for i in range(threads)]}
        (tmp_path / "in.json").write_text(json.dumps(profile))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        callsign.good("profile", tmp_path / "in.json", "-o", tmp_path / "out.folded", "--no-search", "-q")
        assert len((tmp_path / "out.folded").read_text().splitlines()) == threads
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    assert seconds(1000) < 0.5 + 20 * seconds(1)


def test_many_builds_of_one_library(callsign, tmp_path):
    """Libraries of one path were compared one by one: 18 s for 100,000."""
    def seconds(count):
        libs = [{"name": "app", "path": "/nowhere/app.so", "breakpadId": f"{i:032X}0", "codeId": None} for i in range(1, count + 1)]
        profile = {"meta": {"interval": 1, "startTime": 0, "preprocessedProfileVersion": 46}, "libs": libs, "threads": []}
        (tmp_path / "in.json").write_text(json.dumps(profile))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        callsign.run("profile", tmp_path / "in.json", "-o", tmp_path / "out.pb", "--no-search", "-q")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    assert seconds(50000) < 0.5 + 40 * seconds(5000)


def test_shared_strings_and_tables_of_threads(callsign, symbols, tmp_path):
    """As version 55 has them; a thread with tables of its own stands between others."""
    profile = json.loads(firefox(True))
    shared, thread = profile["shared"], profile["threads"][0]
    own = json.loads(json.dumps(thread | {key: shared[key] for key in ("frameTable", "stackTable")}))
    own["stackTable"]["frame"], own["frameTable"]["func"] = [0, 1, 0], [2, 1, 2]
    profile["threads"] = [thread, own, thread]
    out = convert(callsign, symbols, tmp_path, json.dumps(profile), "out.folded").decode()
    assert sorted(out.splitlines()) == ["JS;main;JS 4", "JS;main;outer;inner 8", "[no frames] 3"]


def test_otlp_in(callsign, symbols, tmp_path):
    """Made by hand after profiles.proto: an attribute, a mapping with an offset, a sum, and times that count 1 each."""
    table = [(5, text) for text in ("", "/nowhere/app", "cpu", "nanoseconds", "thread.name")]
    table += [(1, b""), (1, message((1, BASE + 0x1000), (2, BASE + 0x4000), (3, 0x1000), (4, 1)))]
    table += [(2, b""), (2, message((1, 1), (2, BASE + 0x1004))), (2, message((1, 1), (2, BASE + 0x200f)))]
    table += [(6, b""), (6, message((1, 4), (2, message((1, "worker"), (99, b"of a later version")))))]
    table += [(7, b""), (7, message((1, packed([1, 2]))))]
    samples = [(2, message((1, 1), (2, packed([1])), (4, packed([70])))),
               (2, message((1, 1), (5, (10).to_bytes(8, "little") + (20).to_bytes(8, "little"))))]
    profile = message((1, message((1, 2), (2, 3))), *samples)
    data = message((1, message((2, message((2, profile))))), (2, message(*table)))
    out = Pprof(convert(callsign, symbols, tmp_path, data, "out.pb"))
    assert out.types == [("cpu", "nanoseconds")]
    assert out.names() == {("inner", "outer", "main"): [72]}
    assert [("thread.name", "worker")] in [labels for _, _, labels in out.samples]


def otlp_json(**changes):
    """By hand after OTLP's rules: camelCase, 64-bit numbers as strings (or numbers), ids of links in hex, unknown members."""
    tables = {
        "mappingTable": [{}, {"memoryStart": str(BASE + 0x1000), "memoryLimit": BASE + 0x4000, "fileOffset": "4096", "filenameStrindex": 1,
                              "attributeIndices": [2]}],
        "locationTable": [{}, {"mappingIndex": 1, "address": str(BASE + 0x1004)}, {"mappingIndex": 1, "address": str(BASE + 0x200f)}],
        "linkTable": [{"traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "eee19b7ec3c1b174"}],
        "stringTable": ["", "/nowhere/app", "cpu", "nanoseconds", "thread.name", "process.executable.build_id.gnu", "wörker \U0001d11e \"q\""],
        "attributeTable": [{}, {"keyStrindex": 4, "value": {"stringValueStrindex": 6}}, {"keyStrindex": 5, "value": {"stringValue": "abcdef01"}}],
        "stackTable": [{}, {"locationIndices": [1, 2]}], "notInTheSchema": [{"a": [1, {"b": None}]}]}
    profile = {"sampleType": {"typeStrindex": 2, "unitStrindex": 3}, "profileId": "AAECAwQFBgcICQoLDA0ODw==", "timeUnixNano": "1700000000000000000",
               "samples": [{"stackIndex": 1, "attributeIndices": [1], "values": ["70"], "linkIndex": None},
                           {"stackIndex": 1, "timestampsUnixNano": ["10", 20]}]}
    resource = {"attributes": [{"key": "process.pid", "value": {"intValue": "7"}},
                               {"key": "deep", "value": {"arrayValue": {"values": [{"doubleValue": 1.5}, {"boolValue": True}]}}}]}
    data = {"resourceProfiles": [{"resource": resource, "scopeProfiles": [{"profiles": [profile]}]}], "dictionary": tables}
    return data | changes


@pytest.mark.parametrize("how", ["one", "lines", "gzip", "indented"])
def test_otlp_json_in(callsign, symbols, tmp_path, how):
    text = json.dumps(otlp_json(), ensure_ascii=how == "one", indent=2 if how == "indented" else None)
    data = {"lines": text + "\n" + text + "\n", "gzip": gzip.compress(text.encode())}.get(how, text)
    out = Pprof(convert(callsign, symbols, tmp_path, data, "out.pb"))
    assert out.types == [("cpu", "nanoseconds")]
    assert out.names() == {("inner", "outer", "main"): [144 if how == "lines" else 72]}
    assert [("thread.name", "wörker \U0001d11e \"q\""), ("process.pid", 7)] in [labels for _, _, labels in out.samples]
    assert out.samples[0][0][0]["mapping"]["build_id"] == "abcdef01"


def test_otlp_values_of_attributes(callsign, symbols, tmp_path):
    """A real number is a label with a text. A list, a map or bytes are none: they were labels with the number 0, as were real numbers. The resource's attributes follow."""
    values = {"real": {"doubleValue": 0.1}, "whole": {"doubleValue": -3}, "number": {"intValue": "-5"}, "yes": {"boolValue": True},
              "list": {"arrayValue": {"values": [{"intValue": "1"}]}}, "map": {"kvlistValue": {"values": []}}, "bytes": {"bytesValue": "AQI="}}
    data = otlp_json()
    tables, samples = data["dictionary"], data["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0]["samples"]
    first = len(tables["attributeTable"])
    tables["attributeTable"] += [{"keyStrindex": len(tables["stringTable"]) + i, "value": value} for i, value in enumerate(values.values())]
    tables["stringTable"] += list(values)
    samples[:] = [{"stackIndex": 1, "values": ["1"], "attributeIndices": list(range(first, first + len(values)))}]
    out = Pprof(convert(callsign, symbols, tmp_path, json.dumps(data), "out.pb"))
    assert [labels for _, _, labels in out.samples] == [[("real", "0.1"), ("whole", "-3"), ("number", 2**64 - 5), ("yes", 1), ("process.pid", 7)]]


def test_otlp_json_out(callsign, symbols, tmp_path):
    """Numbers of 64 bits are strings, others are not."""
    data = json.loads(convert(callsign, symbols, tmp_path, json.dumps(otlp_json()), "out.otlp.json"))
    tables, profile = data["dictionary"], data["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0]
    assert profile["timeUnixNano"] == "1700000000000000000"
    assert sorted(sample["values"] for sample in profile["samples"]) == [["1", "1"], ["70"]]
    location = tables["locationTable"][tables["stackTable"][profile["samples"][0]["stackIndex"]]["locationIndices"][0]]
    assert location["address"] == str(BASE + 0x1004)
    names = [tables["stringTable"][tables["functionTable"][line["functionIndex"]]["nameStrindex"]] for line in location["lines"]]
    assert names == ["inner", "outer"] and location["lines"][1]["line"] == "12"
    assert tables["stringTable"][0] == "" and tables["mappingTable"][0] == {}


@pytest.mark.parametrize("text, message", [
    ('{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"period":"x"}]}]}]}', 'JSON+0x3e: a value is "x", need a whole number from -9223372036854775808 to 9223372036854775807'),
    ('{"resourceProfiles":{}}', "JSON+0x14: a value is no array"), ('{"resourceProfiles":[7]}', "JSON+0x15: a value is no object"),
    ('{"dictionary":{"stringTable":[7]}}', "JSON+0x1e: a value is no string"),
    ('{"dictionary":{"linkTable":[{"traceId":"xy"}]}}', "JSON+0x27: an id is not hexadecimal"),
    ('{"dictionary":{"attributeTable":[{"value":{"bytesValue":"!"}}]}}', "bytes are not base64"),
    ('{"dictionary":{"attributeTable":[{"value":{"boolValue":1}}]}}', "neither true nor false"),
    ('{"dictionary":{"stackTable":[{"locationIndices":[5]}]}}', "location 5 does not exist, there are 0"),
    ('{"dictionary":{"stringTable":["', "the text ends within a value"),
    ('{"dictionary":{"attributeTable":[{"value":' + '{"arrayValue":{"values":[' * 120 + "{}" + "]}}" * 120 + "}]}}", "deep"),
], ids=["number", "list", "message", "text", "hex", "base64", "bool", "index", "cut", "deep"])
def test_otlp_json_damaged(callsign, tmp_path, text, message):
    (tmp_path / "in.json").write_text(text)
    done = callsign.run("profile", tmp_path / "in.json", "-o", tmp_path / "out.pb", "--no-search")
    assert done.returncode == 2 and message in done.stderr, done.stderr


def test_several_inputs(callsign, symbols, tmp_path):
    (tmp_path / "a.perf").write_text(PERF)
    (tmp_path / "b.folded").write_text("start;other 5\n")
    callsign.good("profile", tmp_path / "a.perf", tmp_path / "b.folded", "-o", tmp_path / "out.pb", "--no-search", "-s", symbols)
    names = Pprof((tmp_path / "out.pb").read_bytes()).names()
    assert names[("other", "start")] == [5, 0] and names[("inner", "outer", "main")] == [2, 500000]


@pytest.mark.parametrize("kind", ["pb", "otlp", "otlp.json", "json", "perf", "folded"])
@pytest.mark.parametrize("output", ["pb", "otlp"])
def test_what_inputs_share_is_once(callsign, symbols, tmp_path, kind, output):
    """Each input brought locations and stacks of its own, and each was looked up; samples stood as often as there were inputs."""
    convert(callsign, symbols, tmp_path, PERF, f"a.{kind}")
    made = {}
    for count in (1, 2, 3):
        callsign.good("profile", *[tmp_path / f"a.{kind}"] * count, "-o", tmp_path / f"x.{output}", "--no-search", "-s", symbols)
        callsign.good("profile", tmp_path / f"x.{output}", "-o", tmp_path / "y.pb", "--no-search")
        made[count] = Pprof((tmp_path / "y.pb").read_bytes())
    for count, profile in made.items():
        assert profile.names() == {names: [count * value for value in values] for names, values in made[1].names().items()} and len(profile.names()) == 2
        assert profile.locations == made[1].locations and profile.mappings == made[1].mappings
        if output == "pb" or kind in ("pb", "folded"):  # with Unix times each sample stays
            assert len(profile.samples) == len(made[1].samples)


def test_labels_that_inputs_share(callsign, tmp_path):
    """Numbers of strings, and so of labels, are others in each input."""
    mapping = (0x1000, 0x9000, 0, "/nowhere/app", "")
    inputs = [pprof([([0x1100], [1]), ([0x1100], [2]), ([0x1200], [4])], [mapping], labels={1: [("k", "v")], 2: [("k", "v"), ("a", "b")]}),
              pprof([([0x1200], [8]), ([0x1100], [16]), ([0x1100], [32]), ([0x1100], [64])], [mapping], labels={0: [("a", "b")], 1: [("k", "v")], 2: [("x", "y")]}),
              pprof([([0x1200], [128]), ([0x1100], [256]), ([0x1100], [512])], [mapping], labels={0: [("k", "v"), ("a", "b")], 1: [("x", "y")]})]
    for i, data in enumerate(inputs):
        (tmp_path / f"{i}.pb").write_bytes(data)
    callsign.good("profile", *[tmp_path / f"{i}.pb" for i in range(3)], "-o", tmp_path / "x.pb", "--no-search")
    samples = Pprof((tmp_path / "x.pb").read_bytes()).samples
    assert sorted((stack[0]["address"], labels, values[0]) for stack, values, labels in samples) == [
        (0x1100, [], 1 + 64 + 512), (0x1100, [("k", "v")], 2 + 16), (0x1100, [("x", "y")], 32 + 256),
        (0x1200, [("a", "b")], 8), (0x1200, [("k", "v"), ("a", "b")], 4 + 128)]


@pytest.mark.parametrize("kinds", [("pb", "otlp"), ("json", "pb"), ("perf", "pb"), ("otlp", "perf", "pb")])
def test_inputs_of_several_kinds_share(callsign, symbols, tmp_path, kinds):
    for kind in kinds:
        convert(callsign, symbols, tmp_path, PERF, f"a.{kind}")
    callsign.good("profile", *[tmp_path / f"a.{kind}" for kind in kinds], "-o", tmp_path / "x.pb", "--no-search", "-s", symbols)
    names = Pprof((tmp_path / "x.pb").read_bytes()).names()
    assert names["inner", "outer", "main"][0] == 2 * len(kinds)
    assert sum(values[0] for values in names.values()) == 3 * len(kinds)


def test_inputs_of_a_page_stay_apart(callsign, symbols, tmp_path):
    for name in ("a.pb", "b.pb"):
        convert(callsign, symbols, tmp_path, PERF, name)
    callsign.good("profile", tmp_path / "a.pb", tmp_path / "b.pb", "-o", tmp_path / "x.html", "--no-search", "-s", symbols)
    assert re.search(r'"inputs":\["[^"]*a.pb","[^"]*b.pb"\]', (tmp_path / "x.html").read_text())


def test_standard_input(callsign, tmp_path, symbols):
    callsign.good("profile", "-", "-o", tmp_path / "out.folded", "--no-search", "-s", symbols, stdin=PERF)
    assert "main;outer;inner 2\n" in (tmp_path / "out.folded").read_text()


def test_same_bytes(callsign, symbols, tmp_path):
    for name in ("out.pb.gz", "out.json", "out.otlp"):
        assert convert(callsign, symbols, tmp_path, PERF, name) == convert(callsign, symbols, tmp_path, PERF, name)


GOOD = pprof([([BASE + 0x1004], [3])], [MAPPING])
GO_FIRST = [((9, 1_700_000_000_000_000_000),), ((11, message((1, 0), (2, 0))), (12, 524288)), ((9, 1), (10, 5)), ((14, 1), (12, 4), (13, 0))]


@pytest.mark.parametrize("first", GO_FIRST)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_pprof_of_go_begins_otherwise(callsign, symbols, tmp_path, first, pack):
    """Go's run-time library writes time_nanos (CPU), or period_type (heap, mutex ...), before the types of values."""
    data = pprof([([BASE + 0x1004, BASE + 0x200f], [3])], [MAPPING])
    profile = Pprof(convert(callsign, symbols, tmp_path, pack(message(*first) + data), "out.pb"))
    assert profile.names() == {("inner", "outer", "main"): [3]}


@pytest.mark.parametrize("text", [b"Hello\0world, this is no profile", b"H\1", b"\x48\x01\x52\x01x"])
def test_no_pprof_begins_so(callsign, tmp_path, text):
    (tmp_path / "in").write_bytes(text)
    done = callsign.run("profile", tmp_path / "in", "-o", tmp_path / "out.pb")
    assert done.returncode == 2 and "not a profile of pprof, OTLP, Firefox or gperftools" in done.stderr, done.stderr



@pytest.mark.parametrize("data, text", [
    pytest.param(b"", "the input is empty", id="nothing"),
    pytest.param(GOOD[:-3], "has 12 bytes, but 9 are left", id="cut"),
    pytest.param(gzip.compress(GOOD, mtime=0)[:-12], "gzip+0x", id="gzip cut"),
    pytest.param(b"\x1f\x8b" + bytes(40), "gzip+0x", id="not gzip"),
    pytest.param(pprof([([BASE], [1, 2, 3])], [MAPPING]),
                 "a sample has 3 values, but 1 types of values are declared", id="too many values"),
    pytest.param(message((1, message((1, 9), (2, 1)))) + message((6, "")),
                 "a type of values is string 9, but there are 1", id="type without a string"),
    pytest.param(message((1, message((1, 0)))) + message((2, message((1, packed([7])), (2, packed([1])))), (6, "")),
                 "location 7, which does not exist", id="no such location"),
    pytest.param(message((1, message((1, 1))), (6, ""), (6, "key"), (2, message((2, packed([1])), (3, message((1, (1 << 32) + 1), (3, 5)))))),
                 "the key of a label is string 4294967295, but there are 2", id="label beyond 32 bits"),
    pytest.param(b'{"meta":{"preprocessedProfileVersion":1', "JSON+0x", id="JSON cut"),
    pytest.param(b'{"meta":{}}', "no preprocessedProfileVersion", id="no version"),
    pytest.param(b"app;main\nmore\n", "no samples of perf script", id="not perf script"),
    pytest.param(b"PERFILE2\x68\0\0\0\0\0\0\0", "a recording of perf, not a profile: give the output of perf script", id="perf.data"),
    pytest.param("a;b 1\n".encode("utf-16"), "UTF-16 is not read; convert it first", id="UTF-16"),
    pytest.param(b"b 1\n" + b"a" * (1 << 20) + b" 1\n", "line 2 is too long: need at most 1048576 bytes", id="long line"),
    pytest.param(b"a;b 1\nc;d\n", "line 2: no count after the stack", id="folded without a count"),
    pytest.param(message((2, message((7, message((1, packed([5])))), (5, "x" * 80))), (1, b"\x12\x00")),
                 "location 5 does not exist, there are 0", id="no such location in a sample"),
])
def test_damaged_inputs(callsign, tmp_path, data, text):
    """Exit 2, the file, the place and both values; no output."""
    (tmp_path / "in").write_bytes(data)
    done = callsign.run("profile", tmp_path / "in", "-o", tmp_path / "out.pb")
    assert done.returncode == 2
    assert f"{tmp_path / 'in'}" in done.stderr and text in done.stderr, done.stderr
    assert not (tmp_path / "out.pb").exists()


def test_every_truncation(callsign, symbols, tmp_path):
    """No crash, and an error or fewer samples."""
    source = pprof([([BASE + 0x1004, BASE + 0x200f], [3])], [MAPPING])
    for size in range(1, len(source), 7):
        (tmp_path / "in").write_bytes(source[:size])
        done = callsign.run("profile", "--from", "pprof", tmp_path / "in", "-o", tmp_path / "out.pb", "--no-search", "-s", symbols)
        assert done.returncode in (0, 1, 2), (size, done.stderr)
        assert done.returncode != 2 or str(tmp_path / "in") in done.stderr


def test_options(callsign, tmp_path):
    (tmp_path / "in").write_text("a;b 1\n")
    for options, text in (((), "name the output with -o"), (("-o", tmp_path / "x.bin"), "use --to"), (("-o", "-"), "needs a file"),
                          (("-o", tmp_path / "x", "--to", "svg"), "no output format 'svg'"),
                          (("-o", tmp_path / "x.pb", "--from", "svg"), "no input format 'svg'"),
                          (("-o", tmp_path / "in"), "is the output, too")):
        if options == ("-o", tmp_path / "in"):
            options += ("--to", "folded")
        done = callsign.run("profile", tmp_path / "in", *options)
        assert done.returncode == 2 and text in done.stderr, done.stderr


@pytest.mark.parametrize("given", ["app.folded", "other=app.folded"])
def test_an_index_is_not_replaced(callsign, tmp_path, given):
    (tmp_path / "in").write_text("a;b 1\n")
    (tmp_path / "app.folded").write_text("0000000000001000 T main\n")
    (tmp_path / "link.folded").symlink_to("app.folded")
    for out in "app.folded", "link.folded":
        assert "is a file of --index" in callsign.bad("profile", "in", "-i", given, "-o", out, cwd=tmp_path)
    assert (tmp_path / "app.folded").read_text() == "0000000000001000 T main\n"


def test_pprof_out_is_in_order(callsign, symbols, tmp_path):
    """String 0 is empty, ids begin with 1: what readers of pprof insist on."""
    data = convert(callsign, symbols, tmp_path, PERF, "out.pb")
    parts = fields(data)
    assert next(value for number, value in parts if number == 6) == b""
    for table in (3, 4, 5):
        ids = [dict(fields(value))[1] for number, value in parts if number == table]
        assert sorted(ids) == list(range(1, len(ids) + 1))


# ---- locations without a module ----


@pytest.mark.parametrize("kind", ["pb", "otlp", "text of Go"])
def test_index_for_places_without_module(callsign, tmp_path, symbols, kind):
    """An index that is given alone is theirs, as in the text of perf and folded stacks. Go's texts never have mappings. Two may both be meant."""
    source = pprof([([0x1004, 0x200f, 0x9000], [3])], [])
    if kind == "text of Go":
        source = "goroutine profile: total 3\n3 @ 0x1005 0x2010 0x9001\n\n"
    if kind == "otlp":
        source = convert(callsign, tmp_path, tmp_path, source, "x.otlp")
    (tmp_path / "in").write_bytes(source if isinstance(source, bytes) else source.encode())
    said = {}
    for how in ([f"app={symbols}/app.gsym"], [f"app={symbols}/app.gsym", f"other={symbols}/app.gsym"]):
        done = callsign.run("profile", tmp_path / "in", *(word for index in how for word in ("-i", index)), "-o", tmp_path / f"{len(how)}.pb", "--no-search")
        assert done.returncode == 0, done.stderr
        said[len(how)] = Pprof((tmp_path / f"{len(how)}.pb").read_bytes())
    assert list(said[1].names()) == [("inner", "outer", "main", "0x9000")] and list(said[2].names()) == [("0x1004", "0x200f", "0x9000")]
    places = {location["address"]: location["mapping"] and location["mapping"]["file"] for location in said[1].locations.values()}
    assert places == {0x1004: "app", 0x200f: "app", 0x9000: None}
