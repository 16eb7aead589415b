"""callsign lookup: answers as text and as JSON."""
import json
import subprocess

import pytest

import gsym_make
import programs
from gsym_bytes import Bytes
from programs import need

MARKS = ["square", "area", "hidden", "outer", "main"]


def ask(callsign, index, *addresses, flags=(), code=0):
    done = callsign.run("lookup", index, "--json", *flags, *map(hex, addresses))
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def shape(answer):
    return [(f["function"], f["line"], f["inlined"]) for f in answer["frames"]]


@pytest.mark.parametrize("mark", MARKS)
def test_json(callsign, shapes, shapes_index, mark):
    addr = shapes.mark(mark)
    answer, = ask(callsign, shapes_index, addr)
    assert list(answer) == ["address", "frames"]
    assert answer["address"] == hex(addr)
    assert shape(answer) == shapes.frames(mark)
    for frame in answer["frames"]:
        assert list(frame) == ["function", "offset", "file", "line", "inlined"]
        assert frame["file"] == str(shapes.source)
    last = answer["frames"][-1]
    assert last["offset"] == addr - shapes.addresses[last["function"]]


def test_text(callsign, shapes, shapes_index):
    addr = shapes.mark("square")
    offset = addr - shapes.addresses["outer"]
    frames = ask(callsign, shapes_index, addr)[0]["frames"]
    head, pad = f"{addr:#x}: ", " " * len(f"{addr:#x}: ")
    assert callsign.good("lookup", shapes_index, f"{addr:x}") == (
        f"{head}square + {frames[0]['offset']} at {shapes.source}:{shapes.lines['square']} [inlined]\n"
        f"{pad}area + {frames[1]['offset']} at {shapes.source}:{shapes.lines['call_square']} [inlined]\n"
        f"{pad}outer + {offset} at {shapes.source}:{shapes.lines['call_area']}\n")


def test_inlined_frames_agree_with_addr2line(callsign, shapes, shapes_index):
    addr = shapes.mark("square")
    text = subprocess.run([need("addr2line"), "-i", "-f", "-e", shapes.path, hex(addr)], capture_output=True,
                          text=True, check=True).stdout.split()
    pairs = list(zip(text[::2], text[1::2]))
    answer, = ask(callsign, shapes_index, addr)
    assert [(f["function"], f"{f['file']}:{f['line']}") for f in answer["frames"]] == pairs


@pytest.mark.parametrize("spelling", ["{:x}", "{:X}", "0x{:x}", "0X{:X}", "0x00{:x}", " {:x}\t"])
def test_spellings(callsign, shapes, shapes_index, spelling):
    addr = shapes.mark("main")
    answer, = callsign.good("lookup", "--json", shapes_index, spelling.format(addr)).splitlines()
    assert json.loads(answer)["address"] == hex(addr)


def test_not_found(callsign, shapes, shapes_index):
    lowest, good, high = 0x1, shapes.mark("main"), 0xffffffffffffffff
    done = callsign.run("lookup", shapes_index, *map(hex, (lowest, good, high)))
    assert done.returncode == 1 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("0x1: not found: ")
    assert lines[1].startswith(f"{good:#x}: main + ")
    assert lines[2].startswith("0xffffffffffffffff: not found: ")
    answers = ask(callsign, shapes_index, lowest, good, high, code=1)
    for answer, line in zip((answers[0], answers[2]), (lines[0], lines[2])):
        assert list(answer) == ["address", "frames", "reason"]
        assert answer["frames"] == [] and line.endswith(" not found: " + answer["reason"])
    assert answers[0]["reason"] != answers[2]["reason"]


def test_function_without_lines(callsign, tmp_path, gcc):
    plain = programs.build_shapes(tmp_path, gcc, ["-O1"])
    addr = plain.mark("hidden")
    answer, = ask(callsign, plain.path, addr)
    assert list(answer) == ["address", "frames", "reason"]
    assert answer["frames"] == [{"function": "hidden", "offset": addr - plain.addresses["hidden"], "inlined": False}]
    offset = addr - plain.addresses["hidden"]
    assert callsign.good("lookup", plain.path, hex(addr)) == \
        f"{addr:#x}: hidden + {offset} ({answer['reason']})\n"


def test_an_object_instead_of_an_index(callsign, shapes, shapes_index):
    addresses = [shapes.mark(mark) for mark in MARKS]
    assert ask(callsign, shapes.path, *addresses) == ask(callsign, shapes_index, *addresses)


def test_a_debug_only_file(callsign, shapes, shapes_index, tmp_path):
    debug = tmp_path / "shapes.debug"
    subprocess.run([need("objcopy"), "--only-keep-debug", shapes.path, debug], check=True)
    addresses = [shapes.mark(mark) for mark in MARKS]
    assert ask(callsign, debug, *addresses) == ask(callsign, shapes_index, *addresses)


def test_llvm_mode(callsign, shapes, shapes_index):
    addresses = [shapes.mark(mark) for mark in MARKS]
    assert ask(callsign, shapes_index, *addresses, flags=["--llvm"]) == ask(callsign, shapes_index, *addresses)


def test_demangle(callsign, classes):
    addresses = [classes.mark(mark) for mark in ("volume", "local", "main")]
    plain = ask(callsign, classes.path, *addresses)
    assert [a["frames"][-1]["function"] for a in plain] == [
        "_ZNK8geometry3boxIiE6volumeEv", "_ZN8geometry12_GLOBAL__N_15localEi", "main"]
    demangled = ask(callsign, classes.path, *addresses, flags=["-C"])
    assert [a["frames"][-1]["function"] for a in demangled] == [
        "geometry::box<int>::volume() const", "geometry::(anonymous namespace)::local(int)", "main"]
    assert [a["frames"][-1]["line"] for a in demangled] == [classes.lines[m] for m in ("volume", "local", "main")]
    text = callsign.good("lookup", "--demangle", classes.path, hex(addresses[0]))
    assert ": geometry::box<int>::volume() const + " in text


def rename(index, old, new):
    data = Bytes(index)
    assert len(old) == len(new)
    at = data.data.index(b"\0" + old + b"\0", data.strings)
    data.data[at + 1:at + 1 + len(old)] = new
    data.save()


def test_names_that_are_not_utf8(callsign, shapes, index):
    rename(index, b"hidden", b"h\xff\"\\\n\xc3")
    answer, = ask(callsign, index, shapes.mark("hidden"))
    assert answer["frames"][0]["function"] == 'h\ufffd"\\\n\ufffd'
    text = callsign.run("lookup", index, hex(shapes.mark("hidden"))).stdout
    assert "h\udcff\"\\\\x0a\udcc3 + " in text and text.count("\n") == 1


def test_utf8_names_stay(callsign, shapes, index):
    rename(index, b"hidden", "h\u00e9\u20ac".encode())
    answer, = ask(callsign, index, shapes.mark("hidden"))
    assert answer["frames"][0]["function"] == "h\u00e9\u20ac"


def test_one_damaged_record_does_not_fail_the_others(callsign, shapes, index):
    data = Bytes(index)
    data.put_u32(data.record(data.find("hidden")) + 12, 0xfffffff0)  # length of its first part
    data.save()
    bad, good = shapes.mark("hidden"), shapes.mark("main")
    done = callsign.run("lookup", index, hex(bad), hex(good))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{bad:#x}: error: ")
    assert lines[1].startswith(f"{good:#x}: main + ")
    assert done.stderr == \
        f"callsign: {index}: addresses in damaged records: 1 (see 'error' in the answers)\n"
    answers = ask(callsign, index, bad, good, code=1)
    assert answers[0]["frames"] == [] and answers[0]["error"]
    assert shape(answers[1]) == shapes.frames("main")


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_damaged_records_are_counted_by_all_threads(callsign, shapes, index, threads):
    data = Bytes(index)
    data.put_u32(data.record(data.find("hidden")) + 12, 0xfffffff0)  # length of its first part
    data.save()
    bad, good, pairs = shapes.mark("hidden"), shapes.mark("main"), 15_000
    done = callsign.run("lookup", "--threads", threads, index, stdin=f"{bad:x}\n{good:x}\n" * pairs)
    alone = callsign.run("lookup", index, hex(bad), hex(good)).stdout
    assert (done.returncode, done.stdout) == (1, alone * pairs)
    assert done.stderr == f"callsign: {index}: addresses in damaged records: {pairs} (see 'error' in the answers)\n"


def test_full_disk(callsign, shapes, shapes_index):
    with open("/dev/full", "wb") as full:
        done = callsign.run("lookup", shapes_index, hex(shapes.mark("main")), stdout=full)
    assert (done.returncode, done.stderr) == (2, "callsign: standard output: No space left on device\n")


def test_closed_standard_output(callsign, shapes, shapes_index):
    script = 'exec "$0" lookup "$1" "$2" >&-'
    done = subprocess.run(["/bin/sh", "-c", script, callsign.path, str(shapes_index), hex(shapes.mark("main"))],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "callsign: standard output: Bad file descriptor\n")


def test_explain_knows_where_a_damaged_function_starts(callsign, tmp_path):
    """Of a record that cannot be read, the address table has the start."""
    data = Bytes(gsym_make.write(tmp_path / "a.gsym", [{"start": 0x1000 * i, "size": 16, "name": f"f{i}", "line": i} for i in (1, 2, 3)]))
    data.put_u32(data.record(1) + 12, 0x7fffffff)
    data.save()
    for address, text in ((0x2005, "at or below is 0x2000, which is damaged; the next is f3 0x3000..0x3010\n"),
                          (0x1005, "at or below is f1 0x1000..0x1010; the next is 0x2000, which is damaged\n")):
        assert text in callsign.run("explain", data.path, hex(address)).stdout
    before = json.loads(callsign.run("explain", "--json", data.path, "0x2005").stdout)["before"]
    assert before["start"] == "0x2000" and "2147483647" in before["error"] and "function" not in before
