"""Frames of texts that do not tell where modules lie, placed by what their lines call the function."""
import json
import os
import subprocess

import pytest

import gsym_make
from programs import need

BIAS = 0x7f1af1000000


@pytest.fixture
def library(tmp_path):
    gsym_make.write(tmp_path / "liborders.so.gsym", [
        {"start": 0x1010, "size": 0x80, "name": "orders_main", "line": 1},
        {"start": 0x2010, "size": 0x80, "name": "_RNCNvNtCsdB8Mm9gPSJZ_6orders4file4load0B5_", "line": 2},
        {"start": 0x3110, "size": 0x80, "name": "_ZN6orders4file5otherE", "line": 3},
        {"start": 0x4010, "size": 0x80, "name": "_RNvXs_NtCsdB8Mm9gPSJZ_6orders4fileNtB4_4CartNtNtCs5_4core3fmt5Debug3fmt", "line": 4},
        {"start": 0x5010, "size": 0x80, "name": "_ZN12_GLOBAL__N_15checkIiEEvT_", "line": 5}])
    return tmp_path / "liborders.so.gsym"


def lines(callsign, library, frames):
    """Of stacks of gdb whose first frame tells where the library lies."""
    text = f"#0  0x{BIAS + 0x1024:016x} in orders_main () from /opt/liborders.so\n"
    text += "".join(f"#{i}  0x{BIAS + address:016x} in {name} () from /opt/liborders.so\n" for i, (address, name) in enumerate(frames, 1))
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", library, stdin=text))
    return [frame["frames"][-1]["line"] if frame["frames"] else None for frame in answer["frames"]][1:]


@pytest.mark.parametrize("address, name, line", [
    (0x2030, "orders::file::load::{closure#0}", 2), (0x2030, "orders::file::load::{{closure}}", 2), (0x2030, "orders::file::load::<u8>::{closure#0}", 2),
    (0x4030, "<orders::file::Cart as core::fmt::Debug>::fmt", 4), (0x4030, "<orders::file::Cart as core::fmt::Debug>::fmt::<core::fmt::Formatter>", 4),
    (0x5030, "(anonymous namespace)::check<int>", 5), (0x5030, "(anonymous namespace)::check<std::map<int, int> >", 5)])
def test_parts_of_names(callsign, library, address, name, line):
    """The index has them mangled. At another function's place the name is no reason to take that one."""
    assert lines(callsign, library, [(address, name), (0x3130, name)]) == [line, None]


@pytest.mark.parametrize("line", ["#{i}  0x{pc:016x} in {name} () from /opt/liborders.so", "    @     0x{pc:x}  {name}"], ids=["gdb", "glog"])
def test_many_frames_before_the_one_that_tells(callsign, library, line):
    """As many as a stack may have, and no more of a longer one: that is answered in parts, and the second one knows."""
    count, most = 9000, 6000
    unnamed = "??" if "from" in line else "(unknown)"
    pcs = [0x2020 + i % 0x40 for i in range(count - 1)] + [0x1024]
    text = "".join(line.format(i=i, pc=BIAS + pc, name="orders_main" if pc == 0x1024 else unnamed) + "\n" for i, pc in enumerate(pcs))
    found = json.loads(callsign.good("stack", "--json", "--no-search", "-i", library, stdin=text))["frames"]
    assert [frame["frames"][-1]["line"] if frame["frames"] else None for frame in found] == [2] * (count - 1) + [1]
    filled = callsign.good("stack", "--in-place", "--no-search", "-i", library, stdin=text)
    assert callsign.good("stack", "--in-place", "--no-search", "-i", library, stdin=filled) == filled != text
    parts = [json.loads(part)["frames"] for part in
             callsign.good("stack", "--json", "--no-search", "-i", library, "--max-frames", str(most), stdin=text).splitlines()]
    assert [len(part) for part in parts] == [most, count - most]
    assert [bool(frame["frames"]) for part in parts for frame in part] == [False] * most + [True] * (count - most)


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("address, name, is_there", [
    (0x10a0, "??", True), (0x5fff, "??", True),
    (0x6000, "??", False), (-0x1000, "??", False), (0x10a0, "orders_other", False), (0x2030, "orders_other", False)])
def test_places_without_a_function(callsign, library, address, name, is_there, before):
    """They are in the module that the line names, whose place is known, unless the image has no such page or the line says what is not there."""
    rows = [(0x1024, "orders_main"), (address, name)]
    text = "".join(f"#{i}  0x{BIAS + at:016x} in {named} () from /opt/liborders.so\n" for i, (at, named) in enumerate(rows[::-1] if before else rows))
    frames = json.loads(callsign.good("stack", "--json", "--no-search", "-i", library, stdin=text))["frames"]
    frame = frames[0 if before else 1]
    assert not frame["frames"]
    want = {"module": "/opt/liborders.so", "address": f"{address:#x}", "reason": "the address is after the end of the function that starts before it"}
    assert ({key: frame.get(key) for key in want} == want) == is_there
    assert ("module" in frame) == is_there
    filled = callsign.good("stack", "--in-place", "--no-search", "-i", library, stdin=text)
    assert callsign.good("stack", "--in-place", "--no-search", "-i", library, stdin=filled) == filled


BEYOND = {
    "coredump": "                #0  0x0000000000900004 n/a (app + 0x500004)\n",
    "minidump": " 0  app + 0x500004\n    rip = 0x0000000000900004\n",
    "machine": "0|0|app||||0x500004\n",
    "mozilla": "#01: ???[/opt/app +0x500004]\n",
    "jvm": "C  [app+0x500004]  area+0x9\n",
    "wine": "=>0 0x0000000000900004 in app (+0x500004) (0x000000000021fe30)\n",
    "dotnet": "   at app!<BaseAddress>+0x500004\n",
    "json": json.dumps({"crash_info": {}, "modules": [{"filename": "app", "base_addr": "0x00400000", "end_addr": "0x00a00000"}], "threads": [
        {"frames": [{"frame": 0, "function": None, "module": "app", "module_offset": "0x00500004", "offset": "0x0000000000900004"}]}]}),
    # less the bias, of which a program that is not relocated has none
    "glibc": "/opt/app(+0x900004)[0x900004]\n", "sanitizer": "    #0 0x900004  (/opt/app+0x900004)\n",
    "llvm": " #0 0x0000000000900004 (/opt/app+0x900004)\n", "plain": "app+0x900004\n",
}


@pytest.mark.parametrize("kind", BEYOND)
def test_offsets_beyond_the_base(callsign, tmp_path, kind):
    """A program of 6 MiB that is linked at 0x400000: its offsets may look like addresses of it."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x401000, "size": 0x10, "name": "first"}, {"start": 0x500000, "size": 0x1000, "name": "near"},
                                            {"start": 0x900000, "size": 0x1000, "name": "far"}], base=0x400000)
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", tmp_path / "app.gsym", stdin=BEYOND[kind]))
    assert [frame["frames"][0]["function"] for frame in answer["frames"][:1]] == ["far"]


def test_offsets_beyond_the_lowest_base(callsign, tmp_path):
    """64 KiB, where Arm's programs are linked."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x10400, "size": 0x10, "name": "first"}, {"start": 0x500000, "size": 0x1000, "name": "near"},
                                            {"start": 0x510000, "size": 0x1000, "name": "far"}], base=0x10000)
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", tmp_path / "app.gsym", stdin=BEYOND["minidump"]))
    assert answer["frames"][0]["frames"][0]["function"] == "far"


@pytest.mark.parametrize("base, first", [(0x400000, 0x400000), (0x1000, 0x1100)])
def test_offsets_of_an_unknown_base(callsign, tmp_path, base, first):
    """An index that begins with its first function may be of an image at 0."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": first, "size": 0x10, "name": "first"}, {"start": 0x500000, "size": 0x1000, "name": "near"},
                                            {"start": base + 0x500000, "size": 0x1000, "name": "far"}], base=base)
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", tmp_path / "app.gsym", stdin=BEYOND["minidump"]))
    assert answer["frames"][0]["frames"][0]["function"] == "near"


@pytest.mark.parametrize("kind", ["sym", "gsym", "list", "list.gsym"])
@pytest.mark.parametrize("has_image", [True, False])
def test_symbols_that_count_from_the_first_byte_of_an_image_in_place(callsign, tmp_path, kind, has_image):
    """0x401136 of a program linked at 0x400000 is 0x1136 of its Breakpad file, whether or not the image is on this machine.
    The list of nm has 0x401136."""
    (tmp_path / "a.c").write_text("__attribute__((noinline)) int f(int x) { return x * 3 + 1; }\nint main(int c, char **v) { (void)v; return f(c) + 2; }\n")
    app = tmp_path / "app"
    subprocess.run([need("gcc"), "-g", "-O1", "-no-pie", "a.c", "-o", "app"], check=True, cwd=tmp_path)
    callsign.good("convert", app, "--to", "breakpad", "-o", tmp_path / "app.sym", "-q")
    callsign.good("convert", tmp_path / "app.sym", "-o", tmp_path / "app.gsym", "-q")
    (tmp_path / "app.list").write_bytes(subprocess.run([need("nm"), "-n", "--defined-only", app], check=True, capture_output=True).stdout)
    callsign.good("convert", tmp_path / "app.list", "-o", tmp_path / "app.list.gsym", "-q")
    main = int(callsign.good("find", app, "main").split()[0], 16) + 4
    maps = f"00400000-00401000 r--p 00000000 fe:00 1 {app}\n00401000-00402000 r-xp 00001000 fe:00 1 {app}\n"
    want = callsign.good("lookup", app, hex(main)).partition(": ")[2]
    if kind.startswith("list"): want = want.partition(" at ")[0]
    if not has_image:
        app.rename(tmp_path / "away")
    out = callsign.good("stack", "--no-search", "-i", f"app={tmp_path}/app.{kind}", stdin=f"{maps}Backtrace:\n#0 {main:#x} in ?? () from {app}\n")
    answer = out.splitlines()[-1].partition(": ")[2]
    assert answer.partition(" (")[0] == want.strip(), (out, want)


PLACES = {
    "perf": lambda path, pc, file_offset: f"p 42 1.5: 1 cycles:\n\t    {file_offset:x} [unknown] ({path})\n\n",
    "strace": lambda path, pc, file_offset: f" > {path}() [{file_offset:#x}]\n",
    "asan": lambda path, pc, file_offset: f"    #0 {pc:#x}  ({path}+{pc:#x})\n",
    "android": lambda path, pc, file_offset: f"      #00 pc {pc:016x}  {path}\n",
}


@pytest.mark.parametrize("kind", ["sym", "gsym", "object"])
@pytest.mark.parametrize("dialect", PLACES)
def test_places_in_an_image_at_a_fixed_address(callsign, tmp_path, dialect, kind):
    """5 MB of code: 0x401136 of the image is also an offset that some function has."""
    (tmp_path / "a.c").write_text("__attribute__((noinline)) int f(int x) { return x * 3 + 1; }\nint main(int c, char **v) { (void)v; return f(c) + 2; }\n"
                                  "__asm__(\".pushsection .text.zz, \\\"ax\\\"\\n.globl innocent\\n.type innocent, @function\\ninnocent: .skip 0x500000, 0x90\\n"
                                  ".size innocent, 0x500000\\n.popsection\");\n")
    app = tmp_path / "app"
    subprocess.run([need("gcc"), "-g", "-O1", "-no-pie", "a.c", "-o", "app"], check=True, cwd=tmp_path)
    callsign.good("convert", app, "-o", tmp_path / "app.gsym", "-q")
    callsign.good("convert", app, "--to", "breakpad", "-o", tmp_path / "app.sym", "-q")
    pc = int(callsign.good("find", app, "f").split()[0], 16)
    text = PLACES[dialect](app, pc, pc - 0x400000)
    out = callsign.good("stack", "--json", "--no-search", "-i", f"app={app if kind == 'object' else f'{app}.{kind}'}", stdin=text)
    assert json.loads(out)["frames"][0]["frames"][0]["function"] == "f", out


def test_a_pc_of_a_program_at_a_fixed_address_is_no_offset(callsign, tmp_path):
    """glibc writes no offset for it. The index counts from the first byte, and has a function at an offset that looks like the pc."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1100, "size": 0x40, "name": "f"}, {"start": 0x401100, "size": 0x40, "name": "innocent"}], base=0)
    for line in ("./app() [0x401106]", "./app[0x401106]", "/opt/app(f+0x6) [0x401106]"):
        out = callsign.good("stack", "--json", "--no-search", "-i", tmp_path / "app.gsym", stdin=line + "\n")
        assert json.loads(out)["frames"][0]["frames"][0]["function"] == "f", out


@pytest.mark.parametrize("base", [0x400000, 0x8048000, 0x10000])
@pytest.mark.parametrize("kind", ["sym", "coredump", "minidump", "jvm"])
def test_offsets_with_a_list_of_symbols(callsign, tmp_path, kind, base):
    """A list begins with the first function, not with the image."""
    functions = {0x1000: "_init", 0x1100: "f", 0x1140: "main", 0x1180: "end"}
    (tmp_path / "app.list").write_text("".join(f"{base + offset:016x} T {name}\n" for offset, name in functions.items()))
    callsign.good("convert", "-q", tmp_path / "app.list", "-o", tmp_path / "app.gsym")
    callsign.good("convert", "-q", "--to", "bsym", tmp_path / "app.list", "-o", tmp_path / "app.bsym")
    text = BEYOND["machine" if kind == "sym" else kind].replace("500004", "1104").replace("900004", f"{base + 0x1104:x}")
    for index in ("app.gsym", "app.bsym", "app.list"):
        out = callsign.good("stack", "--json", "--no-search", "-i", f"app={tmp_path / index}", stdin=text)
        assert json.loads(out)["frames"][0]["frames"][0]["function"] == "f", (index, out)


GIVEN = {
    "maps": lambda pc, off: f"555500001000-555500002000 r-xp 00001000 fe:00 1 /nowhere/app\nBacktrace:\n#0 {pc:#x} in ?? () from /nowhere/app\n",
    "perf": lambda pc, off: f"p 42 1.5: 1 cycles:\n\t    {off:x} [unknown] (/nowhere/app)\n\n",
    "strace": lambda pc, off: f" > /nowhere/app() [{off:#x}]\n",
}


def program_of_parts(tmp_path):
    """Its code lies 0x20000 further in memory than in the file, as lld puts it elsewhere too. Gives a place in f, and where that is in the file."""
    (tmp_path / "a.c").write_text("__attribute__((noinline)) int f(int x) { return x * 3 + 1; }\nint main(int c, char **v) { (void)v; return f(c) + 2; }\n")
    subprocess.run([need("gcc"), "-g", "-O1", "-pie", "-Wl,-Ttext=0x21040", "a.c", "-o", "app"], check=True, cwd=tmp_path)
    headers = subprocess.run([need("readelf"), "-lW", "app"], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    offset, address = (int(word, 16) for line in headers.splitlines() if " 0x0000000000021040 " in line for word in line.split()[1:3])
    found = subprocess.run([need("nm"), "app"], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    place = next(int(line.split()[0], 16) for line in found.splitlines() if line.endswith(" T f")) + 3
    assert address - offset == 0x20000
    return place, place - address + offset


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("name", ["app", "/nowhere/app"])
def test_the_headers_of_a_given_program(callsign, tmp_path, kind, name):
    """The program's path in the log is on another machine: the file that was given for it tells how it is loaded."""
    _, offset = program_of_parts(tmp_path)
    text = GIVEN[kind](0x555500000000 + offset, offset)
    out = callsign.good("stack", "--json", "--no-search", "-i", f"{name}={tmp_path / 'app'}", stdin=text)
    assert json.loads(out)["frames"][0]["frames"][0]["function"] == "f", out


def test_the_headers_of_a_debug_file(callsign, tmp_path):
    """They say nothing of bytes that it does not have: the program's do, if that is here."""
    _, offset = program_of_parts(tmp_path)
    subprocess.run([need("objcopy"), "--only-keep-debug", "app", "app.debug"], check=True, cwd=tmp_path)
    text = GIVEN["maps"](0x555500000000 + offset, offset)
    answer = json.loads(callsign.run("stack", "--json", "--no-search", "-i", f"app={tmp_path / 'app.debug'}", stdin=text).stdout)
    assert answer["frames"][0]["frames"] == []
    text = text.replace("/nowhere/app", str(tmp_path / "app"))
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", f"app={tmp_path / 'app.debug'}", stdin=text))
    assert answer["frames"][0]["frames"][0]["function"] == "f"


def test_the_kernels_line_of_a_fault_in_a_program_at_a_fixed_address(callsign, tmp_path):
    """Since Linux 6.6 the first number is an offset in the file."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x401100, "size": 0x40, "name": "boom", "line": 1}], base=0x400000)
    text = "app[2208]: segfault at 0 ip 0000000000401106 sp 00007ffc42db00b0 error 4 in app[1106,401000+1000] likely on CPU 0 (core 0, socket 0)\n"
    out = callsign.good("stack", "--json", "--no-search", "-i", tmp_path / "app.gsym", stdin=text)
    frame = json.loads(out)["frames"][0]["frames"][0]
    assert (frame["function"], frame["offset"]) == ("boom", 6)


@pytest.mark.parametrize("moved", [0x3000, 0x1000, -0x2000])
def test_two_processes_without_maps(callsign, moved):
    """Of a stack of another process, the frame that has a name tells of those before it, too. nm tells where libc's functions are."""
    libc = next(path for path in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6") if os.path.exists(path))
    rows = [line.split() for line in subprocess.run(["nm", "-D", libc], capture_output=True, text=True, check=True).stdout.splitlines()]
    starts = {row[2].split("@")[0]: int(row[0], 16) for row in rows if len(row) == 3 and row[1] == "T"}

    def stack(bias):
        frames = (("??", starts["qsort"] + 20), ("getenv", starts["getenv"] + 40), ("??", starts["qsort"] + 40))
        return "".join(f"#{i}  0x{bias + at:016x} in {name} () from /lib/libc.so.6\n" for i, (name, at) in enumerate(frames)) + "\nother\n"

    def answers(text):
        done = callsign.good("stack", "--json", "--no-search", "-i", f"libc.so.6={libc}", stdin=text)
        return [[(f["address"], f["frames"][-1]["function"]) for f in json.loads(line)["frames"]] for line in done.splitlines()]

    alone, = answers(stack(BIAS + moved))
    assert [int(at, 16) for at, _ in alone] == [starts["qsort"] + 20, starts["getenv"] + 40, starts["qsort"] + 40]
    assert [name.split("@")[0] for _, name in alone][1] == "getenv"
    assert answers(stack(BIAS) + stack(BIAS + moved) + stack(BIAS)) == [alone] * 3


def test_another_process_in_whose_place_nothing_is(callsign, library):
    """What the earlier process has there is no answer: nothing is."""
    def stack(bias):
        return (f"#0  0x{bias + 0x2030:016x} in ?? () from /opt/liborders.so\n#1  0x{bias + 0x1024:016x} in orders_main () from /opt/liborders.so\n"
                f"#2  0x{bias + 0x9000:016x} in ?? () from /opt/liborders.so\n\nother\n")

    moved = stack(BIAS - 0x7000).splitlines(True)
    done = callsign.good("stack", "--json", "--no-search", "-i", library, stdin=stack(BIAS) + f"#0  0x{BIAS + 0x2030:016x} in ?? () from /opt/liborders.so\n" + moved[1])
    first, second = map(json.loads, done.splitlines())
    assert first["frames"][0]["address"] == "0x2030" and second["frames"][1]["address"] == "0x1024"
    assert second["frames"][0].get("address") in (None, "0x9030") and not second["frames"][0]["frames"]
