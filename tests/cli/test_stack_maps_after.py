"""Reports in which the list of modules follows the stacks: `info proc mappings` after `bt`, glibc's "Memory map:", a crash report's images."""
import json
import subprocess

import pytest

import gsym_make
from programs import within_memory
from test_stack_logs import DATA, SAMPLES, filled, text_of


def split_maps(text):
    """(the lines that describe modules, the others)"""
    def is_map(line):
        return " r-xp " in line or " r--p " in line or " rw-p " in line or "Start Addr" in line
    lines = text.splitlines(True)
    return "".join(line for line in lines if is_map(line)), "".join(line for line in lines if not is_map(line))


@pytest.mark.parametrize("name", ["gdb-mappings", "bare-with-maps"])
def test_maps_after_the_stacks(callsign, name):
    maps, stacks = split_maps(text_of(name))
    _, wanted = split_maps(filled(name))
    assert maps.count("\n") > 1 and stacks != wanted
    args = ["stack", "--in-place", "--no-search", *SAMPLES[name].index]
    assert callsign.good(*args, stdin=stacks + maps) == wanted + maps
    prose = "".join(f"line {i} of the report\n" for i in range(5000))
    assert callsign.good(*args, stdin=stacks + prose + maps + prose) == wanted + prose + maps + prose


def test_branches_before_their_maps(callsign, app):
    """Each side of a branch, and the sample's address before them."""
    line = "     55d000001004 area 0x55d000001010/0x55d000001000/P/-/-/3/ \n"
    args = ["stack", "--in-place", "--no-search", "-i", app]
    for text in (line, line.replace("area", "[unknown] (/nowhere/app)"), line.replace("55d000001004 area ", "")):
        filled = callsign.good(*args, stdin=MAP + text).removeprefix(MAP)
        assert filled.count("main+") >= 2
        assert callsign.good(*args, stdin=text + MAP) == filled + MAP


@pytest.fixture
def app(tmp_path):
    return gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x100, "name": "main"}], base=0)


PC = "#0 0x55d000001010\n"
MAP = "55d000000000-55d000003000 r-xp 00000000 08:01 12 /nowhere/app\n"


def test_how_far_a_list_is_searched(callsign, app):
    """A mebibyte, in lines of any kind; each is given once and in its order."""
    args = ["stack", "--in-place", "--no-search", "-i", app]
    near, far = "some line of a log\n" * 40000, "some line of a log\n" * 60000
    found = callsign.good(*args, stdin=PC + near + MAP)
    assert found.endswith(near + MAP) and "main" in found.splitlines()[0]
    assert callsign.good(*args, stdin=PC + far + MAP) == PC + far + MAP
    found = callsign.good(*args, stdin=PC + far + MAP + PC)
    assert found.startswith(PC + far + MAP) and "main" in found.splitlines()[-1]


def test_searches_of_two_kinds(callsign, tmp_path):
    """Lines of a kernel without names and pcs without modules in turn: each search ends, and no line is lost."""
    text = gsym_make.write(tmp_path / "vmlinux.gsym", [{"start": 0xffffffff81000000, "size": 0x100, "name": "panic"}], base=0xffffffff81000000)
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x100, "name": "main"}], base=0)
    turn = PC + "some line\n" + "RIP: 0010:0xffffffffab000008\n" + "another\n"
    args = ["stack", "--in-place", "--no-search", "-i", text, "-i", tmp_path / "app.gsym"]
    assert callsign.good(*args, stdin=turn * 20000) == turn * 20000
    offset = "Kernel Offset: 0x2a000000 from 0xffffffff81000000\n"
    done = callsign.good(*args, stdin=turn * 500 + offset + MAP)
    assert done.count("(panic)") == 500 and done.count("main") == 500
    done = callsign.good(*args, stdin=turn * 500 + MAP + offset)
    assert done.count("(panic)") == 500 and done.count("main") == 500


def test_a_stream_that_pauses(callsign, app):
    """Who writes lines and waits gets them after a second, with what was known by then."""
    process = subprocess.Popen([callsign.path, "stack", "--in-place", "--no-search", "-i", app], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    process.stdin.write(PC + "\nafter it\n")
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(3)] == [PC, "\n", "after it\n"]
    process.stdin.write(MAP + PC + "\n")
    process.stdin.close()
    rest = process.stdout.read()
    assert process.wait() == 0 and rest.startswith(MAP) and "main" in rest


def test_lines_that_waited_are_read_in_parts(callsign):
    """A mebibyte of short stacks at once would take a gigabyte."""
    text = "".join(f"#0 0x55d0{i:08x}\n\n" for i in range(200000))
    done = subprocess.run([*within_memory(callsign.path, 400 << 20), callsign.path, "stack", "--in-place", "--no-search"], input=text, capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout == text, done.stderr[-300:]


# ---- crash reports, whose "Binary Images" follow ----

OTHER = "ffffffffffffffffffffffffffffffff"
FRAMES = ("Incident Identifier: 00000000-0000-0000-0000-000000000000\n" + "Header line:         of a report\n" * 20 + "Thread 0 Crashed:\n"
          "0   MyApp                         \t0x0000000102a4113b 0x102a40000 + 4411\n1   MyApp                         \t0x0000000102a41161 0x102a40000 + 4449\n\n")


def images(indent, uuid):
    return f"Binary Images:\n{indent}0x102a40000 - {indent}0x102a43fff MyApp arm64  <{uuid}> /private/var/MyApp.app/MyApp\n\n"


def own_id():
    notes = subprocess.run(["readelf", "-n", DATA / "liborders.so"], capture_output=True, text=True, check=True).stdout
    return notes.split("Build ID: ")[1].split()[0][:32]


@pytest.mark.parametrize("indent", ["", "       "], ids=["iOS", "macOS"])
def test_builds_of_crash_reports(callsign, indent):
    """The list is that of every report: without a look at it, the index of any build answered. readelf tells ours."""
    args = ["stack", "--in-place", "--no-search", "-i", f"MyApp={DATA / 'liborders.so'}"]
    own, other = images(indent, own_id()), images(indent, OTHER)
    named = callsign.good(*args, stdin=FRAMES + own)
    assert "parse_line" in named and "orders_load + 9 (liborders.c:21)" in named
    for text in (FRAMES + other, other + FRAMES):
        done = callsign.run(*args, stdin=text)
        assert done.stdout == text and f"has another build id than the module 'MyApp'" in done.stderr and OTHER in done.stderr
    assert callsign.good(*args, stdin=own + FRAMES).endswith(named.removesuffix(own))


@pytest.mark.parametrize("indent", ["", "       "], ids=["iOS", "macOS"])
def test_reports_of_several_builds(callsign, indent):
    """cat *.crash: each list belongs to the report that it ends."""
    args = ["stack", "--in-place", "--no-search", "-i", f"MyApp={DATA / 'liborders.so'}"]
    own, other = FRAMES + images(indent, own_id()), FRAMES + images(indent, OTHER)
    named = callsign.good(*args, stdin=own)
    assert callsign.good(*args, stdin=other + own + other + own) == other + named + other + named


NO_HEAD = FRAMES[FRAMES.index("Thread 0"):]
HEADS = {"Process": "Process:             MyApp [1]\n" + NO_HEAD, "Incident Identifier": FRAMES.replace("Header line:         of a report\n", ""), "thread": NO_HEAD}


def moved(text, to="103a4"):
    """The images of another process, which may lie where they lay before."""
    return text.replace("102a4", to)


@pytest.mark.parametrize("form", ["text", "JSON"])
@pytest.mark.parametrize("lines", [0, 1, 3, 15, 16, 17, 40])
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("load", ["102a4", "103a4"])
def test_lists_of_reports_that_follow_each_other_closely(callsign, load, head, lines, form):
    """The search for the first list ran on into the second report: both had the images of both."""
    args = ["stack", "--in-place", "--no-search", "-i", f"MyApp={DATA / 'liborders.so'}"]
    between = "another line\n" * lines
    own, other = HEADS[head] + images("", own_id()) + between, moved(HEADS[head] + images("", OTHER), load) + between

    def fill(text):
        if form == "text":
            return callsign.good(*args, stdin=text)
        return json.loads(callsign.good(*args, stdin=json.dumps({"log": text}) + "\n"))["log"]

    named = fill(own)
    assert named.count("orders_load") == 1
    assert fill(own + other) == named + other and fill(other + own) == other + named
    assert fill(own + other + other + own) == named + other + other + named


def test_lists_of_reports_without_any_head(callsign):
    """A list that has the module elsewhere is not of these frames."""
    args = ["stack", "--in-place", "--no-search", "-i", f"MyApp={DATA / 'liborders.so'}"]
    frames = FRAMES[FRAMES.index("0   MyApp"):]
    own, other = frames + images("", own_id()), moved(frames + images("", OTHER))
    named = callsign.good(*args, stdin=own)
    assert callsign.good(*args, stdin=own + other) == named + other and callsign.good(*args, stdin=other + own) == other + named


@pytest.mark.parametrize("load", ["102a4", "103a4"])
def test_exceptions_of_reports_that_follow_each_other(callsign, load):
    """iOS' "Last Exception Backtrace", before whose list of images no thread is."""
    args = ["stack", "--in-place", "--no-search", "-i", f"MyApp={DATA / 'liborders.so'}"]
    head = "Process:             MyApp [1]\nLast Exception Backtrace:\n"
    own, other = (head + "(0x102a4113b 0x102a41161)\n\n" + images("", uuid) for uuid in (own_id(), OTHER))
    other = moved(other, load)
    named = callsign.good(*args, stdin=own)
    assert named.count("orders_load at") == 1
    assert callsign.good(*args, stdin=own + other) == named + other and callsign.good(*args, stdin=other + own) == other + named


@pytest.mark.parametrize("lines", [0, 20])
@pytest.mark.parametrize("indent", ["", "    "], ids=["flush", "indented"])
def test_a_list_between_the_threads(callsign, lines, indent):
    """It is that of the threads behind it, too, up to the next report."""
    args = ["stack", "--in-place", "--no-search", "-i", f"MyApp={DATA / 'liborders.so'}"]

    def report(load, uuid, *names):
        first, second = (f"0   MyApp   {load + 0x1161:#018x} {name}\n1   ???   0x0000000000000010 0x0 + 16\n\n" for name in names)
        text = f"Process:   MyApp [1]\nThread 0 Crashed:\n{first}" + images("", uuid).replace("0x102a4", f"{load >> 16:#x}") + "another line\n" * lines
        text += f"Thread 0 crashed with ARM Thread State (64-bit):\nThread 1:\n{second}Thread 2:\n{second}"
        return "".join(indent + line if line.strip() else line for line in text.splitlines(True))

    old, new = ["___x + 9"] * 2, [f"orders_load + 9 (liborders.c:{line})" for line in (22, 22)]
    own, other = report(0x102a40000, own_id(), *old), report(0x103a40000, OTHER, *old)
    named = report(0x102a40000, own_id(), *new)
    assert callsign.good(*args, stdin=own) == named
    assert callsign.good(*args, stdin=own + other + own) == named + other + named


def test_offsets_of_crash_reporter(callsign):
    """Of iOS: github.com/Matchstic/ReProvision/issues/105. llvm-symbolizer: 0x113b check liborders.c:10 in parse_line :16, 0x1160 orders_load :21."""
    text = ("0   MyApp                         \t0x102a4113b 0x102a40000 + 0x113b\t// parse_line + 0x42\n"
            "1   MyApp                         \t0x102a41161 0x102a40000 + 0x1161\n")
    args = ["stack", "--in-place", "--no-search", "-i", f"MyApp={DATA / 'liborders.so'}"]
    done = callsign.good(*args, stdin=text)
    assert done == ("0   MyApp                         \t0x102a4113b check + 16 (liborders.c:10) [inlined]\n"
                    "0   MyApp                         \t0x102a4113b parse_line + 66 (liborders.c:16)\t// parse_line + 0x42\n"
                    "1   MyApp                         \t0x102a41161 orders_load + 9 (liborders.c:21)\n")
    assert callsign.good(*args, stdin=done) == done
