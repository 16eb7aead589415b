"""callsign profile on what perf script prints beside chains: branches, instructions, addresses of data, sources, and texts that were cut."""
import re
import subprocess

import pytest

import perf_data
from programs import need

BASE = 0x55d000000000
PROGRAM = """\
volatile int sink;
__attribute__((noinline)) static int leaf(int x) { if (x) sink += x; return x * 3; }
__attribute__((noinline)) int middle(int x) { return leaf(x) * 2; }
int main(int c, char **v) { int t = 0; for (int i = 0; i < 10; i++) t += middle(i + c); return t & 1; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program, and where its functions are."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "app.c").write_text(PROGRAM)
    subprocess.run([need("gcc"), "-g", "-O2", "app.c", "-o", "app"], check=True, cwd=folder)
    told = subprocess.run([need("nm"), "app"], check=True, cwd=folder, capture_output=True, text=True).stdout
    return folder / "app", {words[2]: int(words[0], 16) for words in map(str.split, told.splitlines()) if len(words) == 3}


MEMORY = (0x7ffd12345678, 77, 0x1e05080021, 0x12345000, 4096, 1 << 21)


@pytest.fixture(scope="module")
def perf_prints(program, tmp_path_factory):
    """perf's text of two samples, by the fields that are asked for. The files are made here: few machines can record branches."""
    app, symbols = program
    folder = tmp_path_factory.mktemp("data")
    chain = [BASE + symbols["leaf"] + 4, BASE + symbols["middle"] + 5, BASE + symbols["main"] + 20]
    branches = [(BASE + symbols["middle"] + 5, BASE + symbols["leaf"], perf_data.PREDICTED, 3),
                (BASE + symbols["main"] + 13, BASE + symbols["middle"], perf_data.PREDICTED, 4)]
    samples = [(12345678000 + i, chain[0], branches) for i in range(2)]
    maps = [(BASE, 0x10000, 0, app)]
    perf_data.write(folder / "chain", 4242, "app", maps, samples, chain=chain)
    perf_data.write(folder / "alone", 4242, "app", maps, samples, memory=MEMORY)
    return lambda name, fields, *options: subprocess.run([need("perf"), "script", "-i", folder / name, "-F", fields, *options], check=True,
                                                         capture_output=True, text=True).stdout


def folded(callsign, tmp_path, text, *options):
    """The stacks, and what was told of lines."""
    done = callsign.run("profile", "-", "--no-search", *options, "-o", tmp_path / "out.folded", stdin=text)
    assert done.returncode == 0
    return (tmp_path / "out.folded").read_text(), [line for line in done.stderr.splitlines() if "left out" in line]


@pytest.mark.parametrize("fields", ["+brstack", "+brstacksym", "+brstackoff", "+brstackinsn", "+brstack,-dso", "+brstacksym,-dso", "+brstackinsn,+srcline",
                                    "+brstack,+brstackinsn"])
def test_what_stands_behind_a_chain(callsign, tmp_path, perf_prints, fields):
    """Branches were a frame or a sample more, instructions a stack."""
    text = perf_prints("chain", fields)
    assert "insn" not in fields or re.search(r"\t000055d0\w+\tinsn: ", text)
    assert "insn" in fields or re.search(r"(?m)^\S*.*/P/-/-/3", text)
    # -F sym and -dso: without images no text without mappings is certain
    for lines in (text, perf_prints("chain", fields, "--show-mmap-events")):
        assert folded(callsign, tmp_path, lines) == ("main;middle;leaf 2\n", [])


@pytest.mark.parametrize("stripped", [False, True])
def test_instructions_of_samples_alone(callsign, tmp_path, perf_prints, stripped):
    text = perf_prints("alone", "+brstackinsn", "--show-mmap-events")
    assert "insn: " in text
    text = re.sub(r"(?m)^\t\S*:\n", "", text) if stripped else text
    assert folded(callsign, tmp_path, text) == ("leaf 2\n", [])


@pytest.mark.parametrize("fields", ["+addr", "+data_src", "+weight", "+phys_addr", "+data_page_size", "+code_page_size", "+addr,+brstack", "+addr,+srcline",
                                    "+addr,+data_src,+weight,+phys_addr,+data_page_size,+code_page_size", "ip,sym,dso,addr", "ip,sym,dso,phys_addr",
                                    "event,ip,sym,dso,addr", "comm,tid,time,ip,sym,dso,phys_addr", "+srcline", "+phys_addr,+srcline", "comm,ip,sym,dso,srcline"])
def test_what_stands_beside_a_sample_alone(callsign, tmp_path, perf_prints, fields):
    """The address of data was a part of the name, and what stands behind the image hid the sample."""
    text = perf_prints("alone", fields)
    assert "srcline" not in fields or re.search(r"\n +app\.c:\d+", text)
    for lines in (text, perf_prints("alone", fields, "--show-mmap-events")):
        assert folded(callsign, tmp_path, lines) == ("leaf 2\n", [])


def test_both_addresses_have_names(callsign, tmp_path):
    """perf names the address of data, too, of events whose addresses are those of code."""
    text = "app 7/7 1.5: 1 page-faults:     55d000001239 main+0x9 (/nowhere/app)     55d000001139 area+0x19 (/nowhere/app)        12345000 4K\n"
    assert folded(callsign, tmp_path, text) == ("area 1\n", [])


@pytest.mark.parametrize("end", ["(", "(/", "(/nowhere/ap", "([unkn"])
def test_a_last_line_that_was_cut(callsign, tmp_path, end):
    """It was a function of that name."""
    text = f"app 7/7 1.5: 1 cycles:u: \n\t            1139 area+0x19 (/nowhere/app)\n\t            111f main+0x2f {end}"
    assert folded(callsign, tmp_path, text) == ("area 1\n", ["callsign: standard input: line 3: left out: not understood"])


@pytest.mark.parametrize("name", ["(anonymous namespace)::f", "operator()", "f(int (*)(char))", "operator new", "f() const", "g(std::function<void (int)>)"])
def test_names_with_brackets(callsign, tmp_path, name):
    """-F ip,sym: nothing of these was cut."""
    text = f"app 7/7 1.5: 1 cycles:u: \n\t    55d000001139 {name}+0x19\n\n"
    assert folded(callsign, tmp_path, text) == (f"{name} 1\n", [])
