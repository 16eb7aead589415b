"""Text files of symbols: /proc/kallsyms, System.map, perf maps."""
import pathlib

import pytest

KALLSYMS = """ffffffff81000000 T _text
ffffffff81000000 T startup
ffffffff81000040 t helper
ffffffff81000100 D data
ffffffffc0000000 t init_module\t[sample]
ffffffffc0000020 t exit_module\t[sample]
"""


def test_kernel_list(callsign, tmp_path):
    path, out = tmp_path / "kallsyms", tmp_path / "k.gsym"
    path.write_text(KALLSYMS)
    callsign.good("convert", path, "-o", out, "-q")
    answers = callsign.good("lookup", out, "0xffffffff81000010", "0xffffffff810000ff", "0xffffffffc0000004",
                            "0xffffffffc0000fff")
    for text in ("startup + 16", "helper + 191", "init_module + 4", "exit_module + 4063"):
        assert text in answers
    assert callsign.run("lookup", out, "0xffffffff81000100").returncode == 1
    assert callsign.run("lookup", out, "0xffffffffc0001000").returncode == 1
    assert "helper + 1 " in callsign.good("lookup", path, "0xffffffff81000041")


def test_hidden_addresses(callsign, tmp_path):
    path = tmp_path / "kallsyms"
    path.write_text("0000000000000000 T _text\n0000000000000000 t helper\n")
    line = callsign.bad("convert", path, "-o", tmp_path / "out")
    assert "kernel.kptr_restrict" in line and "all 2 addresses are 0" in line


def test_perf_map(callsign, tmp_path):
    path, out = tmp_path / "perf-12.map", tmp_path / "p.gsym"
    path.write_text("7f0000 20 old\n7f0040 10 LazyCompile:*f /app/x y.js:3\r\n7f0000 18 new\nrubbish\n")
    done = callsign.run("convert", path, "-o", out)
    assert done.returncode == 1 and "line 4: no start, size and name: rubbish" in done.stderr
    answers = callsign.good("lookup", out, "0x7f0010", "0x7f0044")
    assert "new + 16" in answers and "LazyCompile:*f + 4 at /app/x y.js:3" in answers and "old" not in answers
    assert callsign.run("convert", "--strict", path, "-o", out).returncode == 2


def test_list_of_this_kernel(callsign, tmp_path):
    """A file that says it has no bytes."""
    path = pathlib.Path("/proc/kallsyms")
    lines = path.read_text().splitlines() if path.exists() else []
    functions = [line.split() for line in lines if line.split()[1] in "tTwW" and int(line.split()[0], 16)]
    if not functions:
        pytest.skip("this kernel shows no symbols")
    out = tmp_path / "k.gsym"
    callsign.good("convert", path, "-o", out, "-q")
    names = {}
    for addr, _, name, *_ in functions:
        names.setdefault(int(addr, 16), set()).add(name)
    sample = sorted(names)[::97]
    answers = callsign.good("lookup", out, stdin="".join(f"{a:#x}\n" for a in sample)).splitlines()
    told = [line.split(": ", 1)[1].split(" + 0")[0] for line in answers if line.strip()]
    assert len(told) == len(sample)
    assert [t for a, t in zip(sample, told) if t not in names[a]] == []


@pytest.mark.parametrize("name,text", [
    ("kallsyms", b"0000000000001000 T first\0other\n0000000000002000 T second\n"), ("perf-1.map", b"1000 10 first\0other\n2000 10 second\n")])
def test_a_name_ends_at_nul(callsign, tmp_path, name, text):
    """As readers of an index have it. The bytes after it were in the index all the same, until that was written anew."""
    (tmp_path / name).write_bytes(text)
    callsign.good("convert", "-q", tmp_path / name, "-o", tmp_path / "one.gsym")
    callsign.good("convert", "-q", tmp_path / "one.gsym", "-o", tmp_path / "two.gsym")
    assert b"other" not in (tmp_path / "one.gsym").read_bytes()
    assert (tmp_path / "one.gsym").read_bytes() == (tmp_path / "two.gsym").read_bytes()
    assert callsign.good("lookup", tmp_path / "one.gsym", "0x1004").startswith("0x1004: first + 4")
