"""callsign stack: JSON in and out, each dialect of text, the ways to an index, hostile input."""
import json
import os
import pathlib
import re
import subprocess

import pytest

import gsym_make
from folding import LINKERS
from programs import need

BUILD_ID = bytes(range(1, 21))
INTERNAL, EXTERNAL = gsym_make.INTERNAL, gsym_make.EXTERNAL


@pytest.fixture(scope="session")
def app(tmp_path_factory):
    """area and square share their code; main calls square at 0x2010 and indirectly at 0x2020."""
    return gsym_make.write(tmp_path_factory.mktemp("app") / "app.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "area", "line": 5, "merged": [{"name": "square", "line": 9}]},
        {"start": 0x2000, "size": 0x40, "name": "main", "line": 20,
         "sites": [(0x10, INTERNAL, ["^square$"]), (0x20, INTERNAL, []), (0x30, INTERNAL, ["((" * 10])]},
        {"start": 0x3000, "size": 0x40, "name": "static_helper", "line": 30},
        {"start": 0x3100, "size": 0x80, "name": "static_helper", "line": 40},
        {"start": 0x3200, "size": 0x40, "name": "static_helper", "line": 50},
        {"start": 0x3300, "size": 0x20, "name": "last", "line": 60},
    ], build_id=BUILD_ID)


def ask(callsign, *stacks, args=(), code=0):
    text = "".join((s if isinstance(s, str) else json.dumps(s)) + "\n" for s in stacks)
    done = callsign.run("stack", "--json", *args, stdin=text)
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def frame(module, address, **more):
    return {"module": module, "address": hex(address), **more}


# ---- JSON ----

def test_json(callsign, app):
    answer, = ask(callsign, {"frames": [frame("app", 0x1004), frame("app", 0x2010)]}, args=["--index", app])
    square = {"function": "square", "offset": 4, "file": "/src/main.cc", "line": 9, "inlined": False}
    main = {"function": "main", "offset": 16, "file": "/src/main.cc", "line": 20, "inlined": False}
    assert answer == {"frames": [
        {"module": "app", "address": "0x1004", "frames": [square],
         "merged": {"candidates": ["area", "square"], "chosen": "square", "by": "caller", "confidence": "high",
                    "evidence": {"frame": 1, "pattern": "^square$"}}},
        {"module": "app", "address": "0x2010", "frames": [main]}]}


@pytest.mark.parametrize("escape, text", [(r"\ud83d\ude00", "\U0001f600"), (r"\ud83d\u0041", "\ufffdA"), (r"\ud83d\ue000", "\ufffd\ue000"),
                                          (r"\ude00\ud83d", "\ufffd\ufffd"), (r"\ud83dx", "\ufffdx"), (r"\ud83d\udbff", "\ufffd\ufffd"),
                                          (r"\udbff\udfff", "\U0010ffff"), (r"\u00e9", "\u00e9")],
                         ids=["pair", "half", "near", "swapped", "alone", "twice", "last", "short"])
def test_escapes_of_json(callsign, escape, text):
    """A half of a character alone is no character; what is after it stays."""
    report = ('{"app_name":"app","bug_type":"309"}\n{"threads":[{"frames":[{"imageOffset":16,"imageIndex":0}]}],'
              '"usedImages":[{"base":4096,"size":4096,"name":"m%s"}]}\n' % escape)
    out = json.loads(callsign.good("stack", "--no-search", "--json", stdin=report))
    assert out["frames"][0]["module"] == "m" + text


def test_json_undecided(callsign, app):
    answer, = ask(callsign, {"frames": [frame("app", 0x1004), frame("app", 0x2020)]}, args=["--index", app])
    assert answer["frames"][0]["merged"] == {
        "candidates": ["area", "square"], "by": "ambiguous", "remaining": ["area", "square"],
        "notes": ["the caller's call site is an indirect call without names"]}


def test_modules_place_pcs(callsign, app):
    module = {"name": "/usr/bin/app", "index": str(app), "start": "0x55d000001000", "end": "0x55d000004000",
              "bias": "0x55d000000000"}
    stack = {"frames": [{"pc": "0x55d000001004"}, {"pc": "0x55d000002010"}, {"pc": "0x10"}]}
    lasting, own = ask(callsign, {"modules": [module]}, stack, stack), ask(callsign, {"modules": [module], **stack}, stack)
    assert lasting[0] == lasting[1] == own[0]
    assert [f["address"] for f in own[0]["frames"][:2]] == ["0x1004", "0x2010"]
    assert own[0]["frames"][0]["merged"]["chosen"] == "square"
    assert own[0]["frames"][2] == {"pc": "0x10", "frames": [], "reason": "no module covers the address"}
    assert all(f["reason"] == "no module covers the address" for f in own[1]["frames"])


def test_exact_frames_do_not_call(callsign, app):
    answer, = ask(callsign, {"frames": [frame("app", 0x1004), frame("app", 0x2010, exact=True)]}, args=["-i", app])
    assert answer["frames"][0]["merged"]["by"] == "ambiguous"


def test_lines_that_cannot_be_understood(callsign, app):
    good = {"frames": [frame("app", 0x2004)]}
    bad = ["{", "[]", '{"a":1}', '{"frames":1}', '{"frames":[{"module":"app"}]}', '{"frames":[{"pc":"zz"}]}',
           '{"modules":[{"name":"x","build_id":"xy"}]}', '{"frames":[{"pc":-1}]}']
    answers = ask(callsign, good, *bad, good, args=["--index", app], code=1)
    assert len(answers) == len(bad) + 2
    assert answers[0] == answers[-1] and "frames" in answers[0]
    assert all(list(a) == ["error"] and a["error"] for a in answers[1:-1])


def test_text_output(callsign, app):
    text = callsign.good("stack", "--index", app, "--explain", stdin="app+0x1004\napp+0x2010\nlibc.so.6+0x10\n")
    assert text == (
        "#0   app 0x1004: square + 4 at /src/main.cc:9 [1 of 2, by the caller]\n"
        "       2 functions share this code; frame 1 (main) has a call site for return address 0x2010 with the pattern"
        " ^square$: square, confidence high\n"
        "#1   app 0x2010: main + 16 at /src/main.cc:20\n"
        "#2   libc.so.6 0x10: not found: there is no index for the module\n")


def test_example(callsign, app):
    program = pathlib.Path(callsign.path).parent / "examples" / "stack"
    done = subprocess.run([program, app, "1004", "2010", "9999"], capture_output=True, text=True, check=True)
    assert done.stdout == ("0x1004: square (frame 1 says so)\n0x2010: main\n"
                           "0x9999: the address is after the end of the function that starts before it\n")
    done = subprocess.run([program, app, "1004", "2020"], capture_output=True, text=True, check=True)
    assert done.stdout == "0x1004: area? square?\n0x2020: main\n"


def test_explain(callsign, app):
    text = callsign.good("explain", app, "0x1004")
    assert "  record      at " in text and "area 0x1000..0x1040" in text
    assert "1 other function shares this code: square." in text and "the last at or below, 0x1000 says line 5" in text
    answer = json.loads(callsign.good("explain", app, "0x2010", "--json"))
    assert answer["call_site"] == {"internal": True, "external": False, "patterns": ["^square$"]}
    assert answer["record"]["function"] == "main" and answer["tables"]["call_sites"] == 3
    done = callsign.run("explain", app, "0x10", "0x1ff0")
    assert done.returncode == 1
    assert "no function starts at or below; the next is area 0x1000..0x1040" in done.stdout
    assert "the last function that starts at or below is area 0x1000..0x1040; the next is main" in done.stdout


def test_explain_calls_of_all_who_share_the_code(callsign, tmp_path):
    index = gsym_make.write(tmp_path / "t.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "area", "sites": [(8, INTERNAL, ["^one$"]), (0, gsym_make.TAIL, [])],
         "merged": [{"name": "square", "sites": [(8, EXTERNAL, ["^two$", "^three$"]),
                                                 (0, gsym_make.TAIL | INTERNAL, ["^last$"])]}]}])
    text = callsign.good("explain", index, "0x1008")
    assert ("  call sites  1 in the function; the call that returns here goes within the image, to ^one$; (as square) out of the"
            " image, to ^two$ or ^three$\n") in text
    assert ("  tail calls  the function may end by jumping to an unknown place, indirect: it names nobody; (as square) within"
            " the image, to ^last$. Who is jumped to then stands on the stack in its place\n") in text
    answer = json.loads(callsign.good("explain", index, "0x1008", "--json"))
    assert answer["call_site"]["patterns"] == ["^one$"] and answer["tail_calls"]["patterns"] == []
    assert answer["merged_call_sites"] == [{"function": "square", "internal": False, "external": True,
                                            "patterns": ["^two$", "^three$"]}]
    assert answer["merged_tail_calls"][0]["patterns"] == ["^last$"]
    assert "none returns to this address" in callsign.good("explain", index, "0x1000")


# ---- ways to an index ----

def test_symbols_by_build_id(callsign, app, tmp_path):
    stack = {"modules": [{"name": "other", "build_id": BUILD_ID.hex()}], "frames": [frame("other", 0x2004)]}
    hexed = BUILD_ID.hex()
    target = tmp_path / hexed[:2] / f"{hexed[2:]}.gsym"
    target.parent.mkdir()
    target.write_bytes(app.read_bytes())
    answer, = ask(callsign, stack, args=["--symbols", tmp_path])
    assert answer["frames"][0]["frames"][0]["function"] == "main"
    answer, = ask(callsign, stack, args=["--index", app])
    assert answer["frames"][0]["frames"][0]["function"] == "main"


def test_symbols_as_a_breakpad_store(callsign, app, tmp_path):
    debug_id = "0403020106050807090A0B0C0D0E0F100"
    target = tmp_path / "lib.so" / debug_id / "lib.so.gsym"
    target.parent.mkdir(parents=True)
    target.write_bytes(app.read_bytes())
    answer, = ask(callsign, {"modules": [{"name": "/usr/lib/lib.so", "build_id": BUILD_ID.hex()}],
                             "frames": [frame("lib.so", 0x2004)]}, args=["--symbols", tmp_path])
    assert answer["frames"][0]["frames"][0]["function"] == "main"


def test_symbols_by_name(callsign, app):
    stack = {"frames": [frame("/usr/bin/app", 0x2004)]}
    other = {"modules": [{"name": "app", "build_id": "ff" * 20}], **stack}
    named, wrong = ask(callsign, stack, other, args=["--symbols", app.parent])
    assert named["frames"][0]["frames"][0]["function"] == "main"
    assert wrong["frames"][0]["reason"] == "there is no index for the module"


def test_another_build_is_not_used(callsign, app):
    done = callsign.run("stack", "--json", "--index", app, stdin=json.dumps(
        {"modules": [{"name": "app", "build_id": "ff" * 20}], "frames": [frame("app", 0x2004)]}))
    assert json.loads(done.stdout)["frames"][0]["reason"] == "there is no index for the module"
    assert "has another build id than the module 'app'" in done.stderr and done.returncode == 0


def test_an_index_that_is_not_there(callsign, tmp_path):
    assert "No such file" in callsign.bad("stack", "--index", tmp_path / "none")
    assert "not a folder" in callsign.bad("stack", "--symbols", tmp_path / "none")
    assert "no input format 'x'" in callsign.bad("stack", "--format", "x")
    assert "exclude each other" in callsign.bad("stack", "--json", "--in-place")


# ---- dialects: (name, input, [functions] by stack, input filled in place) ----

MAPS = """\
55d000000000-55d000001000 r--p 00000000 08:01 12 /nowhere/app
55d000001000-55d000004000 r-xp 00001000 08:01 12 /nowhere/app
7f0000000000-7f0000001000 rw-p 00000000 00:00 0
"""
MMAPS = """\
app  4242 10.000001: PERF_RECORD_MMAP2 4242/4242: [0x55d000000000(0x1000) @ 0 08:01 12 0]: r--p /nowhere/app
app  4242 10.000002: PERF_RECORD_MMAP2 4242/4242: [0x55d000001000(0x3000) @ 0x1000 08:01 12 0]: r-xp /nowhere/app
"""
DIALECTS = {
    "plain": (MAPS + "before\n0x55d000001004\n0x55d000002010\nbehind\n", [["square", "main"]],
              MAPS + "before\n0x55d000001004 square at /src/main.cc:9\n0x55d000002010 main at /src/main.cc:20\nbehind\n"),
    "perf": (MMAPS + "app  4242 [001] 12.345678:     250000 cycles:u: \n"
             "\t            1004 area+0x4 (/nowhere/app)\n\t            2010 main+0x10 (/nowhere/app)\n\t"
             "          27249 __libc_start+0x79 (/usr/lib/nowhere/libc.so.6)\n\n"
             "app  4242 [001] 12.345679:     250000 cycles:u:  55d000002004 main+0x4 (/nowhere/app)\n",
             [["square", "main", None], ["main"]],
             MMAPS + "app  4242 [001] 12.345678:     250000 cycles:u: \n"
             "\t            1004 square+0x4 (/nowhere/app)\n\t            2010 main+0x10 (/nowhere/app)\n\t"
             "          27249 __libc_start+0x79 (/usr/lib/nowhere/libc.so.6)\n\n"
             "app  4242 [001] 12.345679:     250000 cycles:u:  55d000002004 main+0x4 (/nowhere/app)\n"),
    "sanitizer": ("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x1 bp 0x2 sp 0x3\n"
                  "    #0 0x55d000001004  (/my (odd) dir/app+0x1004) (BuildId: 0102030405060708090a0b0c0d0e0f1011121314)\n"
                  "    #1 0x55d00000200f  (/my (odd) dir/app+0x200f) (BuildId: 0102030405060708090a0b0c0d0e0f1011121314)\n"
                  "    #2 0x7f0000000249  (/lib/libc.so.6+0x27249) (BuildId: 93ac61)\n\nSUMMARY: x\n",
                  [["square", "main", None]],
                  "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x1 bp 0x2 sp 0x3\n"
                  "    #0 0x55d000001004 in square /src/main.cc:9\n"
                  "    #1 0x55d00000200f in main /src/main.cc:20\n"
                  "    #2 0x7f0000000249  (/lib/libc.so.6+0x27249) (BuildId: 93ac61)\n\nSUMMARY: x\n"),
    "thread sanitizer": ("WARNING: ThreadSanitizer: data race (pid=1)\n"
                         "    #0 <null> <null> (app+0x1004) (BuildId: 0102030405060708090a0b0c0d0e0f1011121314)\n"
                         "    #1 main /src/main.cc:20 (app+0x200f) (BuildId: 0102030405060708090a0b0c0d0e0f1011121314)\n\n",
                         [["square", "main"]],
                         "WARNING: ThreadSanitizer: data race (pid=1)\n"
                         "    #0 square /src/main.cc:9 (app+0x1004) (BuildId: 0102030405060708090a0b0c0d0e0f1011121314)\n"
                         "    #1 main /src/main.cc:20 (app+0x200f) (BuildId: 0102030405060708090a0b0c0d0e0f1011121314)\n\n"),
    "kernel": ("[   12.345678] BUG: unable to handle page fault\n"
               "[   12.345679] RIP: 0010:area+0x4/0x1000 [app]\n[   12.345680] Call Trace:\n[   12.345681]  <TASK>\n"
               "[   12.345682]  main+0x10/0x1000 [app]\n[   12.345683]  static_helper+0x8/0x100 [app]\n"
               "[   12.345684]  ? last+0x1/0x20 [app 0102030405060708090a0b0c0d0e0f1011121314]\n[   12.345685]  </TASK>\n",
               [["square", "main", None, "last"]],
               "[   12.345678] BUG: unable to handle page fault\n"
               "[   12.345679] RIP: 0010:area+0x4/0x1000 (/src/main.cc:9) [app]\n[   12.345680] Call Trace:\n"
               "[   12.345681]  <TASK>\n"
               "[   12.345682]  main+0x10/0x1000 (/src/main.cc:20) [app]\n"
               "[   12.345683]  static_helper+0x8/0x100 (one of 3 functions of this name) [app]\n"
               "[   12.345684]  ? last+0x1/0x20 (/src/main.cc:60) [app 0102030405060708090a0b0c0d0e0f1011121314]\n"
               "[   12.345685]  </TASK>\n"),
    "go": ("panic: boom\n\ngoroutine 1 [running]:\nmain.area(...)\n\t/src/main.go:3\nmain.(*T).square(0x1?)\n\t/src/main.go:5 +0x4\n"
           "exit status 2\n", [[None]],
           "panic: boom\n\ngoroutine 1 [running]:\nmain.area(...)\n\t/src/main.go:3\nmain.(*T).square(0x1?)\n\t/src/main.go:5 +0x4\n"
           "exit status 2\n"),
    "crash": ("Thread 0 Crashed:\n0   app                           \t0x0000000104a29004 0x104a28000 + 4100\n"
              "1   app                           \t0x0000000104a2a010 0x104a28000 + 8208\n"
              "2   libdyld.dylib                 \t0x00000001800a0000 start + 4\n\n"
              "Binary Images:\n0x104a28000 - 0x104a2ffff app arm64  <0102030405060708090a0b0c0d0e0f10> /nowhere/app\n",
              [["square", "main", None]],
              "Thread 0 Crashed:\n0   app                           \t0x0000000104a29004 square + 4 (main.cc:9)\n"
              "1   app                           \t0x0000000104a2a010 main + 16 (main.cc:20)\n"
              "2   libdyld.dylib                 \t0x00000001800a0000 start + 4\n\n"
              "Binary Images:\n0x104a28000 - 0x104a2ffff app arm64  <0102030405060708090a0b0c0d0e0f10> /nowhere/app\n"),
}


def function_of(answer):
    return answer["frames"][-1]["function"] if answer["frames"] else None


@pytest.mark.parametrize("name", DIALECTS)
def test_dialect(callsign, app, name):
    text, functions, filled = DIALECTS[name]
    done = callsign.good("stack", "--json", "--index", app, stdin=text)
    assert [[function_of(f) for f in json.loads(line)["frames"]] for line in done.splitlines()] == functions
    assert callsign.good("stack", "--in-place", "--index", app, stdin=text) == filled
    assert callsign.run("stack", "--in-place", "--index", app, stdin=filled).stdout == filled or name in ("plain", "kernel")
    assert callsign.good("stack", "--in-place", "--index", app, stdin=text.replace("\n", "\r\n")) \
        == filled.replace("\n", "\r\n")
    forced = name.split()[-1]
    assert callsign.good("stack", "--json", "--format", forced, "--index", app, stdin=text) == done


@pytest.mark.parametrize("name", DIALECTS)
def test_dialect_cut_anywhere(callsign, app, name):
    """Whatever is cut off: without an index the filter gives back what it got."""
    text = DIALECTS[name][0]
    cuts = [text[:k] for k in range(0, len(text), 7)]
    for cut in cuts[::5]:
        assert callsign.run("stack", "--in-place", stdin=cut).stdout == cut
        assert callsign.run("stack", "--json", "--index", app, stdin=cut).returncode in (0, 1)


IPS_HEAD = {"app_name": "app", "bug_type": "309", "os_version": "macOS 15.0"}
IPS = {"procName": "app", "usedImages": [
    {"base": 0x104a28000, "size": 0x8000, "uuid": "01020304-0506-0708-090a-0b0c0d0e0f10", "path": "/nowhere/app"},
    {"base": 0x1800a0000, "size": 0x1000, "uuid": "ff020304-0506-0708-090a-0b0c0d0e0f10", "name": "libdyld.dylib"}],
    "threads": [{"triggered": True, "frames": [{"imageOffset": 0x4, "imageIndex": 0}, {"imageOffset": 0x1010, "imageIndex": 0},
                                               {"imageOffset": 4, "imageIndex": 1}, {"imageOffset": 4, "imageIndex": 9}]},
                {"frames": [{"imageOffset": 0x1004, "imageIndex": 0}]}]}


def test_ips(callsign, app):
    text = json.dumps(IPS_HEAD) + "\n" + json.dumps(IPS, indent=2) + "\n"
    answers = [json.loads(line) for line in callsign.good("stack", "--json", "--index", app, stdin=text).splitlines()]
    assert [[function_of(f) for f in a["frames"]] for a in answers] == [["square", "main", None, None], ["main"]]
    filled = callsign.good("stack", "--in-place", "--index", app, stdin=text)
    head, body = filled.split("\n", 1)
    assert json.loads(head) == IPS_HEAD
    frames = json.loads(body)["threads"][0]["frames"]
    assert frames[0] == {"imageOffset": 4, "imageIndex": 0, "symbol": "square", "symbolLocation": 4,
                         "sourceFile": "main.cc", "sourceLine": 9}
    assert frames[2] == {"imageOffset": 4, "imageIndex": 1}
    done = callsign.run("stack", "--in-place", "--index", app, stdin=text[:-40])
    assert done.returncode == 1 and done.stdout == text[:-40]


BETWEEN = {"nothing": "", "lines": "\nModel: Mac14,2\n{not JSON\n{}\n \n", "one line": None}


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("kind", ["ips", "bare ips", "minidump-json", "dotnet-json"])
def test_reports_behind_another(callsign, app, kind, between):
    """`cat *.ips`: each is answered with its own images, in place and not, whatever stands between."""
    moved = {**IPS, "usedImages": [{**IPS["usedImages"][0], "base": 0x204a28000}, IPS["usedImages"][1]]}
    first = json.dumps(IPS_HEAD) + "\n" + json.dumps(IPS, indent=2) + "\n"
    frame = {"module": "app", "module_offset": "0x2010", "offset": "0x104a2a010"}
    native = {"native_module": "app", "module_address": "0x104a28000", "native_address": "0x104a2a010"}
    second = {"ips": json.dumps(IPS_HEAD) + "\n" + json.dumps(moved), "bare ips": json.dumps(moved),
              "minidump-json": json.dumps({"crash_info": {}, "modules": [], "threads": [{"frames": [frame]}]}),
              "dotnet-json": json.dumps({"payload": {"threads": [{"stack_frames": [native]}]}}, indent=1)}[kind]
    between = BETWEEN[between]
    first, between = (first.rstrip(), "") if between is None else (first, between)
    for options in ["--json"], ["--in-place"]:
        alone = [callsign.good("stack", *options, "--index", app, stdin=first),
                 callsign.good("stack", *options, "--format", kind.split()[-1], "--index", app, stdin=second)]
        alone[1:1] = [between] if options == ["--in-place"] else []
        assert '"main' in alone[-1] and callsign.good("stack", *options, "--index", app, stdin=first + between + second) == "".join(alone)
    filled = "".join(alone)
    assert callsign.good("stack", "--in-place", "--index", app, stdin=filled) == filled


def test_a_report_that_is_no_object(callsign, app):
    good = json.dumps(IPS_HEAD) + "\n" + json.dumps(IPS) + "\n"
    text = good + json.dumps(IPS_HEAD) + "\n[\"cut\"]\n"
    done = callsign.run("stack", "--in-place", "--index", app, stdin=text)
    assert done.returncode == 1 and "not an .ips report: line 4: not an object" in done.stderr
    assert done.stdout == callsign.good("stack", "--in-place", "--index", app, stdin=good) + text[len(good):]
    assert "not an .ips report: line 1: not an object" in callsign.run("stack", "--in-place", "--format", "ips", stdin="5 6\n").stderr


def test_a_format_is_that_of_each_report(callsign, app):
    """Another kind's report behind it is no report then."""
    minidump = json.dumps({"crash_info": {}, "modules": [], "threads": [{"frames": [{"module": "app", "module_offset": "0x2010", "offset": "0x1"}]}]})
    text = json.dumps(IPS) + "\n" + minidump + "\n"
    wanted = callsign.good("stack", "--in-place", "--format", "ips", "--index", app, stdin=json.dumps(IPS)) + "\n" + minidump + "\n"
    assert callsign.good("stack", "--in-place", "--format", "ips", "--index", app, stdin=text) == wanted
    assert wanted != text


@pytest.mark.parametrize("cut", [30, 400, 600])
def test_a_report_behind_a_damaged_one(callsign, app, cut):
    first, second = json.dumps(IPS_HEAD) + "\n" + json.dumps(IPS, indent=2), json.dumps(IPS_HEAD) + "\n" + json.dumps(IPS) + "\n"
    done = callsign.run("stack", "--in-place", "--index", app, stdin=first[:-cut] + "\n" + second)
    assert done.returncode == 1 and "not an .ips report: line " in done.stderr
    assert done.stdout == first[:-cut] + "\n" + callsign.good("stack", "--in-place", "--index", app, stdin=second)
    done = callsign.run("stack", "--in-place", "--index", app, stdin=second + first[:-cut])
    assert done.returncode == 1 and "not an .ips report: line " in done.stderr
    assert done.stdout == callsign.good("stack", "--in-place", "--index", app, stdin=second) + first[:-cut]


APPLE = """\
{"app_name":"app","bug_type":"309"}\r
{
  "usedImages" : [\r
    {"size":32768,"path":"\\/nowhere\\/app","base":4372725760,"uuid":"01020304-0506-0708-090a-0b0c0d0e0f10"}],
  "lastExceptionBacktrace" : [{"imageOffset":4,"imageIndex":0}],
  "threads" : [{"triggered":true,"threadState":{"x":[{"value":18446744073709551615},{"value":-9223372036854775808}], "far": 1e400},
    "name":"caf\xe9 \\ud83d", "queue" : "a", "queue" : "b", "load":1.50,
    "frames":[
      {"imageOffset":4,"imageIndex":0},
      { "imageOffset" : 4112, "sourceLine" : 1, "imageIndex" : 0, "symbol" : "old" },\r
      {"imageOffset":18446744073709551616,"imageIndex":0}, {"imageOffset":4,"imageIndex":9}, {}, 7	]
    }]
}

Model: Mac14,2, BootROM 8422
""".encode("latin-1")


def test_ips_in_place_changes_nothing_else(callsign, app):
    """Spacing, escapes, line ends, duplicate keys, numbers of any size, bytes that are no UTF-8 and lines after the report stay."""
    done = subprocess.run([callsign.path, "stack", "--in-place", "--index", app], input=APPLE, capture_output=True)
    assert done.returncode == 0, done.stderr
    lines, wanted = done.stdout.split(b"\n"), APPLE.split(b"\n")
    assert len(lines) == len(wanted)
    different = [i for i, (ours, original) in enumerate(zip(lines, wanted)) if ours != original]
    assert different == [8, 9]    # the exception's only frame has no caller: area or square
    assert lines[8] == wanted[8].replace(b"}", b',"symbol":"square","symbolLocation":4,"sourceFile":"main.cc","sourceLine":9}')
    assert lines[9] == (b'      { "imageOffset" : 4112, "sourceLine" : 20, "imageIndex" : 0, "symbol" : "main", "symbolLocation" : 16,'
                        b' "sourceFile" : "main.cc" },\r')
    without = subprocess.run([callsign.path, "stack", "--in-place", "--format", "ips"], input=APPLE, capture_output=True)
    assert (without.returncode, without.stdout) == (0, APPLE)
    answers = subprocess.run([callsign.path, "stack", "--json", "--index", app], input=APPLE, capture_output=True).stdout
    assert [[function_of(f) for f in json.loads(line)["frames"]] for line in answers.splitlines()] \
        == [["square", "main", None, None, None, None], ["area"]]


@pytest.mark.long_with_sanitizers
def test_ips_inlined_calls_are_frames_of_their_own(callsign, shapes, shapes_index):
    """Before the frame that they were inlined into, marked as Apple's own symbolicated reports mark them."""
    names = [line.split() for line in subprocess.run(["nm", shapes.path], capture_output=True, text=True, check=True).stdout.splitlines()]
    found = None
    for start in sorted(int(n[0], 16) for n in names if len(n) == 3 and n[1] in "tT"):
        for offset in range(0, 64):
            frames = json.loads(callsign.run("lookup", "--json", shapes_index, hex(start + offset)).stdout)["frames"]
            found = found or ((start + offset, frames) if len(frames) > 1 else None)
        if found:
            break
    address, frames = found
    report = {"usedImages": [{"path": "/x/shapes", "base": 0, "size": 1 << 40}],
              "threads": [{"frames": [{"imageIndex": 0, "imageOffset": address}]}]}
    text = json.dumps(report, indent=2)
    filled = json.loads(callsign.good("stack", "--in-place", "--format", "ips", "--index", shapes_index, stdin=text))
    ours = filled["threads"][0]["frames"]
    assert [f["symbol"] for f in ours] == [f["function"] for f in frames]
    assert [f.get("sourceLine") for f in ours] == [f.get("line") for f in frames]
    assert [f["symbolLocation"] for f in ours] == [f["offset"] for f in frames]
    assert [f.get("inline", False) for f in ours] == [True] * (len(frames) - 1) + [False]
    assert all(f["imageOffset"] == address and f["imageIndex"] == 0 for f in ours)


INLINED = """MODULE mac arm64 0102030405060708090A0B0C0D0E0F100 app
FILE 0 /src/main.c
INLINE_ORIGIN 0 callee
INLINE_ORIGIN 1 inner
FUNC 1000 40 0 caller
INLINE 0 5 0 0 1000 30
INLINE 1 6 0 1 1000 20
1000 40 7 0
FUNC 2000 40 0 main
2000 40 20 0
"""
SYMBOLICATED = {
    "ips": json.dumps(IPS_HEAD) + "\n" + json.dumps({**IPS, "threads": [{"frames": [
        {"imageOffset": 0x1010, "imageIndex": 0}, {"imageOffset": 0x2010, "imageIndex": 0}, {"imageOffset": 0x1010, "imageIndex": 0},
        {"imageOffset": 0x1010, "imageIndex": 0}]}]}, indent=1) + "\n",
    "crash": "Thread 0 Crashed:\n" + "".join(f"{i}   app  {0x104a28000 + at:#018x} 0x104a28000 + {at}\n" for i, at in enumerate([0x1010, 0x2010, 0x1010, 0x1010]))
             + "\nBinary Images:\n0x104a28000 - 0x104a2ffff app arm64  <0102030405060708090a0b0c0d0e0f10> /nowhere/app\n",
}


@pytest.mark.parametrize("name", SYMBOLICATED)
def test_reports_of_apple_that_are_symbolicated(callsign, tmp_path, name):
    """Inlined calls stand before the frame that they were inlined into. Each was one of the frames; the report grew with each run.
    A function that calls itself has several frames of one address."""
    (tmp_path / "app.sym").write_text(INLINED)
    callsign.good("convert", "-q", tmp_path / "app.sym", "-o", tmp_path / "app.gsym")
    chain = ["inner", "callee", "caller"]
    arguments = ["--no-search", "--index", f"app={tmp_path / 'app.gsym'}"]
    once = callsign.good("stack", "--in-place", *arguments, stdin=SYMBOLICATED[name])
    assert once.count("inner") == once.count("caller") == 3
    for text in (SYMBOLICATED[name], once):
        answer = json.loads(callsign.good("stack", "--json", *arguments, stdin=text))
        assert [[f["function"] for f in frame["frames"]] for frame in answer["frames"]] == [chain, ["main"], chain, chain]
        assert callsign.good("stack", "--in-place", *arguments, stdin=text) == once


def test_samples_of_several_processes(callsign, app):
    """The same image at two places: each sample belongs to its own process."""
    text = ""
    for pid, base in ((11, 0x55d000000000), (12, 0x66d000000000)):
        text += f"app {pid} 1.0: PERF_RECORD_MMAP2 {pid}/{pid}: [{base:#x}(0x1000) @ 0 08:01 12 0]: r--p /nowhere/app\n"
        text += f"app {pid} 1.0: PERF_RECORD_MMAP2 {pid}/{pid}: [{base + 0x1000:#x}(0x3000) @ 0x1000 08:01 12 0]: r-xp /nowhere/app\n"
    for pid, pc in ((11, 0x55d000002004), (12, 0x66d000003304), (11, 0x55d000003304), (12, 0x55d000002004)):
        text += f"app {pid} [000] 2.0: 1 cycles: {pc:x} [unknown] (/nowhere/app)\n"
    out = callsign.good("stack", "--json", "--index", app, stdin=text).splitlines()
    assert [function_of(json.loads(line)["frames"][0]) for line in out] == ["main", "last", "last", None]


# ---- filter ----

def test_what_is_no_stack_passes(callsign, app):
    noise = bytes(range(256)) * 40 + b"\n#1 0x\napp+\n" + b"x" * 3_000_000 + b"\n\x00\n" + b"\n" * 10 + b"no newline"
    done = subprocess.run([callsign.path, "stack", "--in-place", "--index", str(app)], input=noise, capture_output=True,
                          timeout=60)
    assert done.returncode == 1 and done.stdout == noise


def test_lines_pass_at_once(callsign, app):
    process = subprocess.Popen([callsign.path, "stack", "--in-place", "--index", str(app)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    for line in (b"hello\n", b"world\n"):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == line
    process.stdin.write(b"app+0x2004\nend\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"app+0x2004 main at /src/main.cc:20\n"
    assert process.stdout.readline() == b"end\n"
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()


# ---- hostile ----

def test_a_million_frames(callsign, app):
    line = '{"frames":[' + ",".join(['{"pc":"0x1"}'] * 1_000_000) + "]}"
    answer, good = ask(callsign, line, {"frames": [frame("app", 0x2004)]}, args=["--index", app], code=1)
    assert "1000000" in answer["error"] or "too long" in answer["error"]
    assert good["frames"][0]["frames"][0]["function"] == "main"
    lines = "app+0x2010\n" * 200_000
    out = callsign.good("stack", "--in-place", "--index", app, stdin=lines)
    assert out == "app+0x2010 main at /src/main.cc:20\n" * 200_000


def test_absurd_addresses(callsign, app):
    frames = [{"pc": "0xffffffffffffffff"}, {"pc": 0}, frame("app", 0), frame("app", 2**64 - 1), frame("nobody", 1)]
    answer, = ask(callsign, {"frames": frames}, args=["--index", app])
    assert len(answer["frames"]) == 5 and not any(f["frames"] for f in answer["frames"])
    assert all(f["reason"] for f in answer["frames"])
    assert "no call stacks recognized" in callsign.bad("stack", "--index", app, code=1,
                                                       stdin="app+0x10000000000000000\n0xfffffffffffffffffffff\n")


def test_hostile_patterns(callsign, tmp_path):
    patterns = ["^(a+)+$x", "(" * 5000, "a" * 100_000 + "[", "(?R)", r"(.*)*\1", "(*LIMIT_MATCH=4294967295)(a*)*b", "^(?:a?){64}a{64}b",
                "x" * 2_000_000, "^" + "a" * 2_000_000 + "$", "(?:(?:(?:a{1,100}){1,100}){1,100}){1,100}", "a{1,65535}{1,1000}"]
    name = "a" * 3000
    index = gsym_make.write(tmp_path / "h.gsym", [
        {"start": 0x1000, "size": 0x40, "name": name, "merged": [{"name": name + "c"}]},
        {"start": 0x2000, "size": 0x1000, "name": "main",
         "sites": [(0x10 * (k + 1), INTERNAL, [p]) for k, p in enumerate(patterns)]}])
    stacks = [{"frames": [frame("h", 0x1004), frame("h", 0x2010 + 0x10 * k)] * 50} for k in range(len(patterns))]
    for answer in ask(callsign, *stacks, args=["--index", index]):
        merged = answer["frames"][0]["merged"]
        assert merged["by"] == "ambiguous" and merged["notes"], merged


def test_a_web_of_tail_calls(callsign, tmp_path):
    """Everybody may end by calling ten others: given up, and said so; the frames around it are answered."""
    web = [{"start": 0x2000 + 16 * i, "size": 16, "name": f"t{i % 100}",
            "sites": [(0, gsym_make.TAIL | INTERNAL, [f"^t{(i * 7 + k) % 100}$"]) for k in range(10)]} for i in range(2000)]
    index = gsym_make.write(tmp_path / "web.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "one", "merged": [{"name": "two"}]}, *web,
        {"start": 0x20000, "size": 0x40, "name": "main", "sites": [(0x10, INTERNAL, ["^t5$"])]}])
    answer, = ask(callsign, {"frames": [frame("web", 0x1004), frame("web", 0x20010)] * 500}, args=["--index", index])
    for merged in (f["merged"] for f in answer["frames"][::2]):
        assert merged["by"] == "ambiguous" and merged["remaining"] == ["one", "two"]
        assert "there are too many functions, call sites or patterns to consider all of them" in merged["notes"]


def test_tail_calls_of_callers_that_share_their_code(callsign, tmp_path):
    """Neither caller's call site names a candidate. What both lead to by tail calls is all that the callee can be."""
    index = gsym_make.write(tmp_path / "hops.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "one", "merged": [{"name": "two"}, {"name": "three"}]},
        {"start": 0x2000, "size": 0x40, "name": "left", "sites": [(0x10, INTERNAL, ["^hop_left$"])],
         "merged": [{"name": "right", "sites": [(0x10, INTERNAL, ["^hop_right$"])]}]},
        {"start": 0x3000, "size": 0x10, "name": "hop_left", "sites": [(0, gsym_make.TAIL | INTERNAL, ["^one$"])]},
        {"start": 0x3010, "size": 0x10, "name": "hop_right", "sites": [(0, gsym_make.TAIL | INTERNAL, ["^one$", "^other$"])]}])
    answer, = ask(callsign, {"frames": [frame("hops", 0x1004), frame("hops", 0x2010)]}, args=["--index", index])
    merged = answer["frames"][0]["merged"]
    assert (merged["by"], merged.get("chosen")) == ("caller", "one"), merged


def test_a_stack_that_goes_round(callsign, app):
    answer, = ask(callsign, {"frames": [frame("app", 0x1004), frame("app", 0x2010)] * 30_000}, args=["--index", app])
    assert all(f["merged"]["chosen"] == "square" for f in answer["frames"][::2])


# ---- programs ----

FOLDED = r"""
#include <execinfo.h>
#include <cstdio>
#include <cstdlib>
#include <cstdint>
extern "C" char __executable_start;
#define NOINLINE __attribute__((noinline))
static volatile int last = 1;   // show() may return, for all that compilers know: else nobody would jump to its callers
NOINLINE static void show() {
    void *pcs[32];
    int n = backtrace(pcs, 32);
    for (int i = 0; i < n; i++) std::printf("0x%jx\n", (uintmax_t)(uintptr_t)pcs[i]);
    std::FILE *maps = std::fopen("/proc/self/maps", "r");
    char line[4096];
    while (std::fgets(line, sizeof line, maps)) std::fputs(line, stderr);
    if (last) std::exit(0);
}
struct Circle { int r; }; struct Square { int a; };
#if CASE == 2
extern "C" int area_of_circle(Circle *c), area_of_square(Square *s);
int main(int argc, char **) { Square s{argc}; return area_of_square(&s) + 1; }
#elif CASE == 7
extern "C" int last_hop(Square *s);
static inline __attribute__((always_inline)) int measure(Square *s) { return last_hop(s) + 1; }
NOINLINE int twice(Square *s) { return measure(s) * 2; }
int main(int argc, char **) { Square s{argc}; return twice(&s); }
#else
extern "C" NOINLINE int area_of_circle(Circle *c) { int v = c->r * 3; show(); return v + 1; }
extern "C" NOINLINE int area_of_square(Square *s) { int v = s->a * 3; show(); return v + 1; }
volatile int sink;
#if CASE == 1
int main(int argc, char **) { Circle c{argc}; Square s{argc}; if (argc > 1) sink = area_of_circle(&c); sink = area_of_square(&s); return sink; }
#elif CASE == 3
extern "C" NOINLINE int by_circle(const void *a, const void *) { sink = *(const int *)a; show(); return sink + 1; }
extern "C" NOINLINE int by_square(const void *a, const void *) { sink = *(const int *)a; show(); return sink + 1; }
int main(int argc, char **) {
    int list[4] = {4, 3, 2, argc};
    if (argc > 1) std::qsort(list, 4, sizeof(int), by_circle);
    std::qsort(list, 4, sizeof(int), by_square);
    return 0;
}
#elif CASE == 6
static inline __attribute__((always_inline)) int measure(Square *s) { return area_of_square(s) + 1; }
NOINLINE int twice(Square *s) { return measure(s) * 2; }
int main(int argc, char **) { Circle c{argc}; Square s{argc}; if (argc > 1) sink = area_of_circle(&c); sink = twice(&s); return sink; }
#elif CASE == 60 || CASE == 70
// Neither is on the stack when area_of_square() runs.
extern "C" NOINLINE int last_hop(Square *s) { sink = 2; return area_of_square(s); }
extern "C" NOINLINE int first_hop(Square *s) { sink = 1; return last_hop(s); }
#if CASE == 60
static inline __attribute__((always_inline)) int measure(Square *s) { return first_hop(s) + 1; }
NOINLINE int twice(Square *s) { return measure(s) * 2; }
int main(int argc, char **) { Circle c{argc}; Square s{argc}; if (argc > 1) sink = area_of_circle(&c); sink = twice(&s); return sink; }
#endif
#elif CASE == 4
struct Shape { virtual int area(int n) = 0; virtual int size(int n) = 0; };
struct Round : Shape { NOINLINE int area(int n) override { show(); return n * 3; } NOINLINE int size(int n) override { show(); return n * 3; } };
struct Flat : Shape { NOINLINE int area(int n) override { show(); return n * 3; } int size(int n) override { return n; } };
NOINLINE int ask(Shape *shape, int n) { return shape->area(n) + 1; }
int main(int argc, char **) { Round round; Flat flat; return ask(argc > 1 ? (Shape *)&flat : &round, argc); }
#endif
#endif
"""


def build_folded(program, case, *flags, compiler="clang++-22", linker="lld"):
    source = program.parent / "folded.cc"
    source.write_text(FOLDED)
    own = ["-fno-ipa-icf"] if compiler == "g++" else []   # or GCC folds them itself, into one function with two symbols
    folder = program.parent / "bin"
    folder.mkdir(exist_ok=True)
    link = folder / "ld"                                  # where the drivers look first
    link.unlink(missing_ok=True)
    link.symlink_to(need(LINKERS[linker]))
    subprocess.run([need(compiler), "-g", "-O2", f"-DCASE={case}", "-ffunction-sections", *own, "-B", str(folder), str(source),
                    "-Wl,--icf=all", *map(str, flags), "-o", str(program)], check=True, cwd=program.parent)


def run_folded(program):
    run = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    return run.stderr + run.stdout


def folded_stack(callsign, tmp_path, case, *convert):
    program = tmp_path / "folded"
    build_folded(program, case)
    callsign.good("convert", program, "-o", tmp_path / "folded.gsym", "--quiet", "--merged-functions", *convert)
    return run_folded(program), program


def decided(callsign, tmp_path, text):
    indexes = [word for path in sorted(tmp_path.glob("*.gsym")) for word in ("--index", path)]
    line = callsign.good("stack", "--json", "--format", "plain", *indexes, stdin=text)
    return [f for f in json.loads(line.splitlines()[-1])["frames"] if "merged" in f]


def test_case_1_the_caller_names_it(callsign, tmp_path):
    text, _ = folded_stack(callsign, tmp_path, 1, "--call-sites", "dwarf")
    answer, = decided(callsign, tmp_path, text)
    assert sorted(answer["merged"]["candidates"]) == ["area_of_circle", "area_of_square"]
    assert answer["merged"]["chosen"] == "area_of_square" and answer["merged"]["by"] == "caller"
    assert answer["merged"]["evidence"]["pattern"] == "^area_of_square$"


def test_case_2_the_caller_is_another_module(callsign, tmp_path):
    library, program = tmp_path / "libfolded.so", tmp_path / "folded"
    build_folded(library, 20, "-shared", "-fPIC", "-Wl,--defsym=__executable_start=0")
    build_folded(program, 2, library, f"-Wl,-rpath,{tmp_path}")
    for image in (library, program):
        callsign.good("convert", image, "-o", f"{image}.gsym", "--quiet", "--merged-functions", "--call-sites", "dwarf")
    answer, = decided(callsign, tmp_path, run_folded(program))
    assert answer["module"].endswith("libfolded.so")
    assert answer["merged"]["chosen"] == "area_of_square" and answer["merged"]["by"] == "caller"


def test_case_4_a_virtual_call(callsign, tmp_path):
    text, program = folded_stack(callsign, tmp_path, 4, "--call-sites", "dwarf")
    answer, = decided(callsign, tmp_path, text)
    assert set(answer["merged"]["candidates"]) == {"_ZN4Flat4areaEi", "_ZN5Round4areaEi", "_ZN5Round4sizeEi"}
    assert answer["merged"]["by"] == "ambiguous"     # DWARF does not name the callee of a virtual call
    # What is known: the method is area(), of one of two classes; of a final class, it is certain.
    frames = json.loads(callsign.good("stack", "--json", "--index", tmp_path / "folded.gsym", stdin=text))["frames"]
    ask_it = next(f for f in frames if f["frames"] and f["frames"][-1]["function"] == "_Z3askP5Shapei")
    sites = tmp_path / "sites.yaml"
    for pattern, remaining in (("^_ZN.*4areaEi$", ["_ZN4Flat4areaEi", "_ZN5Round4areaEi"]),
                               ("^_ZN.*5Round4(area|turn)Ei$", ["_ZN5Round4areaEi"])):
        sites.write_text("functions:\n  - name: _Z3askP5Shapei\n    callsites:\n"
                         f"      - return_offset: {ask_it['frames'][-1]['offset']}\n        match_regex: [\"{pattern}\"]\n")
        callsign.good("convert", program, "-o", tmp_path / "folded.gsym", "--quiet", "--merged-functions", "--call-sites",
                      "dwarf", "--call-sites", sites)
        merged = decided(callsign, tmp_path, text)[0]["merged"]
        assert sorted(merged.get("remaining", [merged.get("chosen")])) == remaining
        assert merged.get("confidence") == ("medium" if len(remaining) == 1 else None)


def test_case_3_a_library_calls_back(callsign, tmp_path):
    text, program = folded_stack(callsign, tmp_path, 3, "--call-sites", "dwarf")
    answer, = decided(callsign, tmp_path, text)
    assert answer["merged"]["by"] == "ambiguous"       # DWARF names qsort, not what it calls
    dump = json.loads(callsign.good("lookup", "--json", tmp_path / "folded.gsym",
                                    hex(main_return(callsign, tmp_path, text)))
                      .splitlines()[0])
    main = dump["frames"][-1]
    sites = tmp_path / "sites.yaml"
    sites.write_text("functions:\n  - name: main\n    callsites:\n"
                     f"      - return_offset: {main['offset'] + 1}\n        match_regex: [\"^by_square$\"]\n"
                     "        flags: [\"ExternalCall\"]\n")
    callsign.good("convert", program, "-o", tmp_path / "folded.gsym", "--quiet", "--merged-functions", "--call-sites",
                  "dwarf", "--call-sites", sites)
    answer, = decided(callsign, tmp_path, text)
    assert answer["merged"]["chosen"] == "by_square" and answer["merged"]["by"] == "outer"


SELECTORS = """
__attribute__((objc_root_class)) @interface Circle
- (int)area:(int)n;
- (int)size:(int)n;
@end
__attribute__((objc_root_class)) @interface Square
- (int)area:(int)n;
@end
volatile int seen;
@implementation Circle
- (int)area:(int)n { seen = n; return n * 3; }
- (int)size:(int)n { seen = n; return n * 3; }
@end
@implementation Square
- (int)area:(int)n { seen = n; return n * 3; }
@end
int ask(Square *shape, int n) { return [shape area:n] + 1; }
"""


def test_case_5_a_selector(callsign, tmp_path):
    """Objective-C, linked by ld64.lld --icf=all: objc_msgSend jumps to the method, so that its caller is the frame behind it.
    The selector is known there, the class is not."""
    (tmp_path / "shapes.m").write_text(SELECTORS)
    steps = ([need("clang-22"), "--target=arm64-apple-macos13", "-g", "-O2", "-c", "shapes.m", "-o", "shapes.o"],
             [need("ld64.lld-22"), "-arch", "arm64", "-platform_version", "macos", "13.0", "13.0", "-dylib", "-undefined",
              "dynamic_lookup", "--icf=all", "shapes.o", "-o", "shapes"],
             [need("dsymutil-22"), "shapes", "-o", "shapes.dSYM"])
    for step in steps:
        subprocess.run(step, check=True, cwd=tmp_path, capture_output=True)
    index, sites = tmp_path / "shapes.gsym", tmp_path / "sites.yaml"
    callsign.good("convert", tmp_path / "shapes.dSYM", "-o", index, "--quiet", "--merged-functions")
    functions = [json.loads(line)["function"] for line in callsign.good("dump", "--json", index).splitlines()
                 if line.startswith('{"function"')]
    method, ask_it = (next(int(f["start"], 16) for f in functions if name in f["name"]) for name in ("-[", "ask"))
    text = callsign.good("dump", "--json", index)
    assert all(f'"{name}"' in text for name in ("-[Circle area:]", "-[Circle size:]", "-[Square area:]"))
    code = subprocess.run([need("llvm-objdump-22"), "-d", "--no-show-raw-insn", tmp_path / "shapes"], check=True,
                          capture_output=True, text=True).stdout
    call = int(re.search(r"^ *([0-9a-f]+):\s+bl\s", code, re.M).group(1), 16)
    stack = f"#0 shapes+{method + 4:#x}\n#1 shapes+{call + 4:#x}\n"
    for pattern, remaining in ((r"^-\[.* area:\]$", ["-[Circle area:]", "-[Square area:]"]),
                               (r"^-\[Square area:\]$", ["-[Square area:]"])):
        sites.write_text(f"functions:\n  - name: ask\n    callsites:\n      - return_offset: {call + 4 - ask_it}\n"
                         f"        match_regex: ['{pattern}']\n")
        callsign.good("convert", tmp_path / "shapes.dSYM", "-o", index, "--quiet", "--merged-functions", "--call-sites", sites)
        merged = decided(callsign, tmp_path, stack)[0]["merged"]
        assert sorted(merged.get("remaining", [merged.get("chosen")])) == remaining
        assert merged["by"] == ("ambiguous" if len(remaining) > 1 else "caller")


def main_return(callsign, tmp_path, text):
    """The address of the byte before main's return address."""
    line = callsign.good("stack", "--json", "--index", tmp_path / "folded.gsym", stdin=text)
    for f in json.loads(line.splitlines()[-1])["frames"]:
        if f["frames"] and f["frames"][-1]["function"] == "main":
            return int(f["address"], 16) - 1
    raise AssertionError(line)


def test_case_6_from_an_inlined_caller(callsign, tmp_path):
    text, _ = folded_stack(callsign, tmp_path, 6, "--call-sites", "dwarf")
    answer, = decided(callsign, tmp_path, text)
    assert answer["merged"]["chosen"] == "area_of_square" and answer["merged"]["by"] == "caller"


TOOLS = [(c, l) for c in ("clang++-22", "g++") for l in LINKERS]


@pytest.mark.parametrize("compiler, linker", TOOLS)
def test_case_6_tail_calls_and_inlined_callers(callsign, tmp_path, compiler, linker):
    """twice() calls first_hop() in an inlined function; that jumps to last_hop(), and that to area_of_square()."""
    program = tmp_path / "folded"
    build_folded(program, 60, compiler=compiler, linker=linker)
    callsign.good("convert", program, "-o", tmp_path / "folded.gsym", "-q", "--merged-functions", "--call-sites", "dwarf")
    text = run_folded(program)
    assert_told_by_tail_calls(callsign, tmp_path, text, "first_hop")


@pytest.mark.parametrize("compiler, linker", TOOLS)
def test_case_6_tail_calls_in_another_module(callsign, tmp_path, compiler, linker):
    library, program = tmp_path / "libfolded.so", tmp_path / "folded"
    build_folded(library, 70, "-shared", "-fPIC", "-Wl,--defsym=__executable_start=0", compiler=compiler, linker=linker)
    build_folded(program, 7, library, f"-Wl,-rpath,{tmp_path}", compiler=compiler, linker=linker)
    for image in (library, program):
        callsign.good("convert", image, "-o", f"{image}.gsym", "-q", "--merged-functions", "--call-sites", "dwarf")
    text = run_folded(program)
    answer = assert_told_by_tail_calls(callsign, tmp_path, text, "last_hop")
    assert answer["merged"]["evidence"] == {"frame": 2, "pattern": "^last_hop$", "tail_calls": 1}
    indexes = ["--index", f"{library}.gsym", "--index", f"{program}.gsym"]
    told = callsign.good("stack", "--explain", "--format", "plain", *indexes, stdin=text)
    assert "with the pattern ^last_hop$, which leads on by 1 tail call: area_of_square, confidence medium" in told
    # The library without its tail calls: nothing tells.
    callsign.good("convert", library, "-o", f"{library}.gsym", "-q", "--merged-functions")
    answer, = decided(callsign, tmp_path, text)
    assert answer["merged"]["by"] == "ambiguous"


def assert_told_by_tail_calls(callsign, tmp_path, text, hop):
    answer, = decided(callsign, tmp_path, text)
    assert sorted(answer["merged"]["candidates"]) == ["area_of_circle", "area_of_square"]
    assert answer["merged"]["chosen"] == "area_of_square" and answer["merged"]["by"] == "caller"
    assert answer["frames"][-1]["line"] == line_of_folded("int area_of_square(Square *s) {")
    indexes = [word for path in sorted(tmp_path.glob("*.gsym")) for word in ("--index", path)]
    frames = json.loads(callsign.good("stack", "--json", "--format", "plain", *indexes, stdin=text).splitlines()[-1])["frames"]
    inlined, physical = (f["function"] for f in frames[2]["frames"])
    assert "measure" in inlined and physical == "_Z5twiceP6Square"
    assert hop not in json.dumps([f["frames"] for f in frames])
    return answer


def line_of_folded(text):
    return next(n for n, line in enumerate(FOLDED.split("\n"), 1) if text in line)


def test_a_real_sanitizer_report(callsign, tmp_path):
    clang = need("clang-22")
    source, program = tmp_path / "bad.c", tmp_path / "bad"
    source.write_text("#include <stdlib.h>\n__attribute__((noinline)) int bad(int n) {\n    char *p = malloc(4);\n"
                      "    volatile int i = n + 8;\n    int r = p[i];\n    free(p);\n    return r + 1;\n}\n"
                      "int main(int c, char **v) { (void)v; return bad(c) == 3; }\n")
    done = subprocess.run([clang, "-g", "-O1", "-fsanitize=address", "-Wl,--build-id", str(source), "-o", str(program)],
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    report = subprocess.run([str(program)], capture_output=True, text=True,
                            env={"ASAN_OPTIONS": "symbolize=0"}).stderr
    callsign.good("convert", program, "-o", tmp_path / "bad.gsym", "--quiet")
    filled = callsign.good("stack", "--in-place", "--index", tmp_path / "bad.gsym", stdin=report)
    assert re.search(r"#0 0x[0-9a-f]+ in bad \S*bad\.c:5\n +#1 0x[0-9a-f]+ in main \S*bad\.c:9\n", filled), filled


def test_more_indexes_than_stay_open(callsign, tmp_path):
    """Tables of symbols of indexes that were closed answered for the next indexes at the same addresses."""
    count = 1030
    for k in range(count):
        start = 0x2000 + 0x40 * k
        probe, other = ({"start": start + at, "size": 0x20, "name": name, "line": k + 1}
                        for at, name in ((0, "probe"), (0x20, "other")))
        gsym_make.write(tmp_path / f"a{k}.gsym", [probe, other])
        gsym_make.write(tmp_path / f"b{k}.gsym", [{**other, "start": start}, {**probe, "start": start + 0x20}])
    # A mapping between them makes room for other modules.
    maps = "7f0000000000-7f0000001000 r-xp 00000000 08:01 1 /nowhere/lib\n0x7f0000000010\n\n"
    groups = [[f"{set}{k}" for k in order] for set, order in
              (("a", range(count)), ("b", range(count - 1, 0, -40)), ("a", range(0, 900, 30)))]
    text = maps.join("".join(f"RIP: 0010:probe+0x8/0x20 [{name}]\n\n" for name in group) for group in groups)
    stacks = [json.loads(line)["frames"][0] for line in callsign.good("stack", "--json", "--symbols", tmp_path,
                                                                      stdin=text).splitlines()]
    got = [(f.get("module"), f.get("address"), [x["function"] for x in f["frames"]]) for f in stacks if f.get("module") != "/nowhere/lib"]
    assert got == [(name, hex(0x2008 + 0x40 * int(name[1:]) + (0x20 if name[0] == "b" else 0)), ["probe"])
                   for group in groups for name in group]


def test_sanitizer_numbers_are_those_of_asan_symbolize(callsign, tmp_path):
    """Inlined calls are frames of their own and count: each line's number and function is that of clang's own script."""
    clang, script, symbolizer = need("clang-22"), need("asan_symbolize"), need("llvm-symbolizer-22")
    (tmp_path / "bad.c").write_text(
        "#include <stdlib.h>\nstatic inline __attribute__((always_inline)) int innermost(char *p, int i) { return p[i]; }\n"
        "static inline __attribute__((always_inline)) int inlined(char *p, volatile int *i) { return innermost(p, *i); }\n"
        "__attribute__((noinline)) int bad(int n) {\n    char *p = malloc(4);\n    volatile int i = n + 8;\n"
        "    int r = inlined(p, &i);\n    free(p);\n    return r + 1;\n}\n"
        "int main(int c, char **v) { (void)v; return bad(c) == 3; }\n")
    done = subprocess.run([clang, "-g", "-O1", "-fsanitize=address", "-Wl,--build-id", "bad.c", "-o", "bad"], cwd=tmp_path,
                          capture_output=True)
    if done.returncode:
        pytest.skip("no AddressSanitizer run time")
    report = subprocess.run([str(tmp_path / "bad")], capture_output=True, text=True, env={"ASAN_OPTIONS": "symbolize=0"}).stderr
    theirs = subprocess.run([script], input=report, capture_output=True, text=True, check=True,
                            env=os.environ | {"LLVM_SYMBOLIZER_PATH": symbolizer}).stdout
    callsign.good("convert", tmp_path / "bad", "-o", tmp_path / "bad.gsym", "--quiet")
    ours = callsign.good("stack", "--in-place", "--index", tmp_path / "bad.gsym", stdin=report)

    def lines_of(text):
        found = [re.match(r" +#(\d+) (0x[0-9a-f]+) +(?:in (\S+) \S*bad\.c:(\d+))?", line) for line in text.splitlines()]
        return [m.groups() for m in found if m]
    wanted = [(number, address, name, line) for number, address, name, line in lines_of(theirs)]
    assert [w[2] for w in wanted[:4]] == ["innermost", "inlined", "bad", "main"]
    # The run time and libc have no index here, and keep their lines.
    assert lines_of(ours) == [w if w[2] in ("innermost", "inlined", "bad", "main") else (w[0], w[1], None, None) for w in wanted]
    assert [int(w[0]) for w in lines_of(ours)][:6] == list(range(6))
