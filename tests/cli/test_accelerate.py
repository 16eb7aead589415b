"""Accelerators stored in an index: the same answers, in every reader, and what the command says of them."""
import json
import os
import shutil
import struct
import subprocess

import pytest

from programs import need


def addresses_of(shapes):
    main = shapes.mark("main")
    return [hex(a) for a in range(main - 400, main + 400)]


@pytest.fixture(scope="module")
def pair(callsign, shapes, tmp_path_factory):
    """Files of both versions, without and with one."""
    folder, made = tmp_path_factory.mktemp("accelerate"), {}
    for form in ("gsym", "gsym-v2"):
        plain, fast = folder / f"{form}.plain", folder / f"{form}.fast"
        callsign.good("convert", shapes.path, "--to", form, "-o", plain, "--quiet", "--name-table")
        callsign.good("convert", shapes.path, "--to", form, "-o", fast, "--quiet", "--name-table", "--accelerate")
        made[form] = (plain, fast)
    return made


@pytest.mark.parametrize("form", ["gsym", "gsym-v2"])
def test_same_answers(callsign, shapes, pair, form):
    plain, fast = pair[form]
    stdin = "\n".join(addresses_of(shapes))
    for options in ([], ["--json"], ["--llvm"], ["--merged"], ["-j", "2"]):
        assert callsign.run("lookup", *options, fast, stdin=stdin).stdout == callsign.run("lookup", *options, plain, stdin=stdin).stdout
    assert callsign.good("verify", fast, "--against", shapes.path).count("0 problems\n") == 1
    assert callsign.run("diff", plain, fast).returncode == 0
    assert callsign.run("find", "--json", fast, "main").stdout == callsign.run("find", "--json", plain, "main").stdout


@pytest.mark.parametrize("distance", [0x1000, 0xc00000, 0x10000000, 0x7fffffff])
@pytest.mark.parametrize("form", ["gsym", "gsym-v2"])
def test_code_far_away(callsign, tmp_path, form, distance):
    """How much is covered depends on the size of the file, which the accelerator makes larger: verify took it for damaged."""
    (tmp_path / "two.sym").write_text(f"MODULE Linux x86_64 000000000000000000000000000000000 t\nFUNC 401000 10 0 f\nFUNC {0x401000 + distance:x} 10 0 far\n")
    callsign.good("convert", "-q", "--to", form, "--accelerate", tmp_path / "two.sym", "-o", tmp_path / "fast")
    assert " 0 problems\n" in callsign.good("verify", tmp_path / "fast")
    assert "far + 4" in callsign.good("lookup", tmp_path / "fast", hex(0x401004 + distance))


@pytest.mark.parametrize("form", ["gsym", "gsym-v2"])
def test_command(callsign, pair, tmp_path, form):
    """The same bytes as from `convert --accelerate`, for any number of threads, in place and elsewhere."""
    plain, fast = pair[form]
    for threads in ("1", "3"):
        out = tmp_path / threads
        callsign.good("accelerate", plain, "-o", out, "-q", "-j", threads)
        assert out.read_bytes() == fast.read_bytes()
    own = tmp_path / "own"
    shutil.copy(plain, own)
    assert f"bytes from {plain.stat().st_size}" in callsign.run("accelerate", own).stderr
    assert own.read_bytes() == fast.read_bytes()
    callsign.good("accelerate", own, "-q")
    assert own.read_bytes() == fast.read_bytes()
    callsign.good("convert", own, "--to", form, "-o", tmp_path / "back", "--name-table", "-q")
    assert (tmp_path / "back").read_bytes() == plain.read_bytes()


def test_refused(callsign, shapes, pair, tmp_path):
    assert "goes with GSYM" in callsign.bad("convert", shapes.path, "--to", "bsym", "--accelerate", "-o", tmp_path / "x")
    assert "goes with GSYM" in callsign.bad("convert", shapes.path, "--segment-size", "1M", "--accelerate", "-o", tmp_path / "x")
    assert "No such file" in callsign.bad("accelerate", "/none")
    callsign.good("convert", shapes.path, "--to", "gsym-section", "-o", tmp_path / "s.o", "-q")
    assert "is no GSYM file" in callsign.bad("accelerate", tmp_path / "s.o")


def test_told(callsign, pair):
    for plain, fast in pair.values():
        header = json.loads(callsign.good("dump", "--json", fast).splitlines()[0])["header"]
        stats = json.loads(callsign.good("stats", "--json", fast))
        size = header["accelerator_bytes"]
        assert size > 200 and f"accelerator     {size} bytes" in callsign.good("dump", "-s", fast)
        assert {"name": "accelerator", "bytes": size} in stats["parts"]
        assert "accelerator" not in callsign.good("dump", "-s", plain)
    assert " accelerator at " in callsign.good("dump", "-s", pair["gsym-v2"][1])


@pytest.mark.parametrize("form", ["gsym", pytest.param("gsym-v2", marks=pytest.mark.long_with_sanitizers)])
def test_verify_finds_every_difference(callsign, pair, tmp_path, form):
    _, fast = pair[form]
    good = fast.read_bytes()
    start = good.rfind(struct.pack("<IIQ", 0x434C4143, 2, 0))
    trailer = good.find(struct.pack("<II", 2, 0x434C4143)) - 56
    assert start % 4096 == 0 and start > trailer > 0
    assert struct.unpack_from("<Q", good, trailer + 48) == (start,)
    size = json.loads(callsign.good("dump", "--json", fast).splitlines()[0])["header"]["accelerator_bytes"] - 64
    for at in [start, start + 4, start + 9, *range(start + 16, start + size, size // 23), *range(trailer, trailer + 64)]:
        bad = bytearray(good)
        bad[at] ^= 0x04
        (tmp_path / "bad").write_bytes(bad)
        done = callsign.run("verify", tmp_path / "bad")
        assert done.returncode == 1 and "problem: accelerator" in done.stdout, (at - start, done.stdout)
        assert callsign.run("lookup", tmp_path / "bad", "0x1000").returncode in (0, 1)


def llvm_answers(tool, path, stdin):
    done = subprocess.run([tool, "--addresses-from-stdin"], input="".join(f"{line} {path}\n" for line in stdin), text=True,
                          capture_output=True)
    return done.returncode, (done.stdout + done.stderr).replace(str(path), "FILE")


def test_llvm_does_not_mind(shapes, pair):
    tool = need("llvm-gsymutil-22")
    plain, fast = pair["gsym"]
    stdin = addresses_of(shapes)
    assert llvm_answers(tool, plain, stdin) == llvm_answers(tool, fast, stdin)
    for path in (plain, fast):
        done = subprocess.run([tool, "--verify", path], capture_output=True, text=True)
        assert done.returncode == 0 and "error" not in done.stdout + done.stderr
    dumps = [subprocess.run([tool, path], capture_output=True, text=True, check=True).stdout for path in (plain, fast)]
    assert len(dumps[0].splitlines()) == len(dumps[1].splitlines())


@pytest.mark.parametrize("form", ["gsym", "gsym-v2"])
def test_gsymtool_does_not_mind(shapes, pair, form):
    tool = shutil.which("gsymtool") or shutil.which("gsymtool", path=os.path.expanduser("~/.cargo/bin"))
    if not tool:
        pytest.skip("gsymtool is not installed (cargo install gsym-rs)")
    for address in addresses_of(shapes)[380:420:7]:
        outs = [subprocess.run([tool, "lookup", path, address], capture_output=True, text=True) for path in pair[form]]
        assert outs[0].stdout == outs[1].stdout and outs[0].returncode == outs[1].returncode
    for path in pair[form]:
        done = subprocess.run([tool, "verify", path], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_embedded(callsign, shapes, pair, tmp_path):
    out = tmp_path / "app"
    callsign.good("embed", pair["gsym"][1], shapes.path, "-o", out)
    stdin = "\n".join(addresses_of(shapes))
    assert callsign.run("lookup", out, stdin=stdin).stdout == callsign.run("lookup", pair["gsym"][0], stdin=stdin).stdout
    callsign.good("extract", out, "-o", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == pair["gsym"][1].read_bytes()
