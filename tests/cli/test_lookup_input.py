"""callsign lookup with addresses on standard input."""
import json
import os
import random
import select
import subprocess
import threading

import pytest


def test_answers_in_order(callsign, shapes, shapes_index):
    addresses = [shapes.mark(m) for m in ("main", "square", "hidden", "main")]
    text = callsign.good("lookup", shapes_index, stdin="".join(f"{a:x}\n" for a in addresses))
    assert text == callsign.good("lookup", shapes_index, *map(hex, addresses))


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_byte_order_mark(callsign, shapes, shapes_index, threads):
    """Before line 1 alone: elsewhere it is no part of an address either."""
    addresses = [shapes.mark(m) for m in ("main", "square")]
    text = "".join(f"{a:x}\r\n" for a in addresses)
    assert callsign.good("lookup", "--threads", threads, shapes_index, stdin="\ufeff" + text) == callsign.good("lookup", shapes_index, *map(hex, addresses))
    assert "line 2" in callsign.run("lookup", "--threads", threads, shapes_index, stdin="\ufeff0\n\ufeff0\n").stderr


@pytest.mark.parametrize("output", [[], ["--json"]])
def test_many_lines_in_any_order(callsign, shapes, shapes_index, output):
    """More than are asked together, repeated and shuffled, with addresses that have no answer and bad lines among them."""
    marks = [shapes.mark(m) for m in ("main", "square", "hidden")]
    distinct = sorted({mark + k for mark in marks for k in range(-3, 40)} | {0, 2**64 - 1})
    alone = {addr: callsign.run("lookup", *output, shapes_index, hex(addr)).stdout for addr in distinct}
    chosen = random.Random(5)
    asked = [chosen.choice(distinct) for _ in range(9000)]
    assert callsign.run("lookup", *output, shapes_index, stdin="".join(f"{a:x}\n" for a in asked)).stdout == \
        "".join(alone[a] for a in asked)
    with_bad = [None if chosen.random() < 0.01 else a for a in asked]
    bad = callsign.run("lookup", *output, shapes_index, stdin="?\n").stdout
    assert callsign.run("lookup", *output, shapes_index, stdin="".join("?\n" if a is None else f"{a:x}\n"
                                                                      for a in with_bad)).stdout == \
        "".join(bad if a is None else alone[a] for a in with_bad)


@pytest.mark.parametrize("output", [[], ["--json"], ["--demangle", "--merged"]])
def test_any_number_of_threads(callsign, shapes, shapes_index, output):
    """Several batches, with repeated and unknown addresses, blank and bad lines: what is written depends on no thread."""
    chosen = random.Random(6)
    start, size = shapes.addresses["outer"], shapes.sizes["outer"]
    lines = [f"{start + chosen.randrange(-40, size + 40):x}" for _ in range(40_000)]
    for at in chosen.sample(range(0, len(lines), 2), 30) + list(range(30_000, 30_020)):
        lines[at] = chosen.choice(["no address", "", "0", "ffffffffffffffff", "x" * 100])
    text = "".join(line + "\n" for line in lines)
    one = callsign.run("lookup", "--threads", "1", *output, shapes_index, stdin=text)
    assert one.returncode == 1 and one.stdout and one.stderr.count("is not a hexadecimal address") > 10
    for threads in ("0", "2", "3", "16"):
        several = callsign.run("lookup", "--threads", threads, *output, shapes_index, stdin=text)
        assert (several.returncode, several.stdout, several.stderr) == (one.returncode, one.stdout, one.stderr)


@pytest.mark.parametrize("form", ["{:x}\r\n", "  0x{:X} \n", "\n\r\n {:x}\n\n", "{:x}", "\t{:x}\r"])
def test_forms_of_lines(callsign, shapes, shapes_index, form):
    addr = shapes.mark("main")
    text = callsign.good("lookup", shapes_index, stdin=form.format(addr))
    assert text.startswith(f"{addr:#x}: main + ") and text.count("\n") == 1


@pytest.mark.parametrize("nothing", ["", "\n", "\r\n \n\t"])
def test_no_input(callsign, shapes_index, nothing):
    assert callsign.good("lookup", shapes_index, stdin=nothing) == ""


def test_bad_lines_are_answered_in_their_place(callsign, shapes, shapes_index):
    addr = shapes.mark("main")
    lines = f"{addr:x}\n\nzz top\n0x\n{addr:x}\n10000000000000000\na\x1bb\n{addr:x}\n"
    done = callsign.run("lookup", shapes_index, stdin=lines)
    assert done.returncode == 1
    out = done.stdout.splitlines()
    assert [line.split(" ")[0] for line in out] == \
        [f"{addr:#x}:", "zz", "0x:", f"{addr:#x}:", "10000000000000000:", "a\\x1bb:", f"{addr:#x}:"]
    assert out[1] == "zz top: error: not a hexadecimal address"
    assert done.stderr.splitlines()[:2] == ["callsign: line 3: 'zz top' is not a hexadecimal address",
                                            "callsign: line 4: '0x' is not a hexadecimal address"]
    answers = [json.loads(line) for line in callsign.run("lookup", "--json", shapes_index, stdin=lines).stdout.splitlines()]
    assert [list(a)[0] for a in answers] == ["address", "error", "error", "address", "error", "error", "address"]
    assert answers[1] == {"error": "'zz top' is not a hexadecimal address"}


@pytest.mark.parametrize("size", [65535, 65536, 65537, 131072, 1000003])
@pytest.mark.parametrize("fill", ["x", "0"])
def test_long_lines(callsign, shapes, shapes_index, size, fill):
    """A line that does not fit into the buffer is a bad line; what follows is read as usual."""
    addr = shapes.mark("main")
    done = callsign.run("lookup", shapes_index, stdin=f"{addr:x}\n{fill * size}\n{addr:x}\n{fill * size}")
    out = done.stdout.splitlines()
    assert done.returncode == 1 and len(out) == 4 and max(map(len, out)) < 300
    assert out[0] == out[2] and out[0].startswith(f"{addr:#x}: main")
    assert out[1] == out[3]


def test_zero_bytes(callsign, shapes, shapes_index):
    done = callsign.run("lookup", shapes_index, stdin=b"12\0\n\0\n")
    assert done.returncode == 1
    assert done.stdout == "12\\x00: error: not a hexadecimal address\n\\x00: error: not a hexadecimal address\n"


def read_some(stream, seconds=60):
    ready, _, _ = select.select([stream], [], [], seconds)
    assert ready, "no answer came"
    return os.read(stream.fileno(), 1 << 16).decode()


def test_many_answers_whenever_the_input_pauses(callsign, shapes, shapes_index):
    """All that several threads have to answer is there before the input goes on."""
    addr, count = shapes.mark("main"), 30_000
    child = subprocess.Popen([callsign.path, "lookup", "--threads", "3", str(shapes_index)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, bufsize=0)
    for _ in range(2):
        writer = threading.Thread(target=child.stdin.write, args=(f"{addr:x}\n".encode() * count,))
        writer.start()
        text = ""
        while text.count("\n") < count:
            text += read_some(child.stdout)
        writer.join()
        assert text.count(f"{addr:#x}: main") == text.count("\n") == count
    child.stdin.close()
    assert child.stdout.read() == b"" and child.wait() == 0


def test_answers_whenever_the_input_pauses(callsign, shapes, shapes_index):
    addr = shapes.mark("main")
    child = subprocess.Popen([callsign.path, "lookup", str(shapes_index)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, bufsize=0)
    for _ in range(3):
        child.stdin.write(f"{addr:x}\n".encode())
        assert read_some(child.stdout).startswith(f"{addr:#x}: main")
    child.stdin.write(f"{addr:x}\n{addr:x}\n{addr:x}"[:-1].encode())  # two lines and the beginning of a third
    assert read_some(child.stdout).count("main") == 2
    child.stdin.write(f"{addr:x}\n"[-2:].encode())
    assert read_some(child.stdout).startswith(f"{addr:#x}: main")
    child.stdin.close()
    assert child.stdout.read() == b"" and child.wait() == 0


def test_many_addresses(callsign, shapes, shapes_index):
    start, size = shapes.addresses["outer"], shapes.sizes["outer"]
    dice = random.Random(1)
    addresses = [start + dice.randrange(size) for _ in range(100_000)]
    answers = callsign.good("lookup", "--json", shapes_index, stdin="".join(f"{a:x}\n" for a in addresses)).splitlines()
    assert [a[:a.index(",")] for a in answers] == [f'{{"address":"{a:#x}"' for a in addresses]


def test_input_that_cannot_be_read(callsign, shapes_index, tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    done = subprocess.run([callsign.path, "lookup", str(shapes_index)], stdin=folder, capture_output=True, text=True)
    os.close(folder)
    assert (done.returncode, done.stderr) == (2, "callsign: standard input: Is a directory\n")


@pytest.mark.parametrize("lines, threads", [(1, "0"), (10_000, "1"), (100_000, "3")])
def test_full_disk(callsign, shapes, shapes_index, lines, threads):
    with open("/dev/full", "wb") as full:
        done = callsign.run("lookup", "--threads", threads, shapes_index, stdin=f"{shapes.mark('main'):x}\n" * lines, stdout=full)
    assert (done.returncode, done.stderr) == (2, "callsign: standard output: No space left on device\n")
