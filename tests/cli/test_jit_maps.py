"""What runtimes really wrote of the code that they made: perf maps of a JVM (OpenJDK 17 or later) and of node, jitdump of node."""
import json
import pathlib
import re
import shutil
import struct
import subprocess

import pytest
from programs import need

FLAGS = ["-Xmx64m", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]


@pytest.fixture(scope="module")
def jvm_map(tmp_path_factory):
    """What the JVM wrote, its folder is fixed: /tmp/perf-PID.map."""
    java = need("java")
    process = subprocess.Popen([java, *FLAGS, "-Xcomp", "-XX:TieredStopAtLevel=1", "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed = process.communicate(timeout=300)[0]
    if "Unrecognized VM option" in printed:
        pytest.skip("this java is older than OpenJDK 17")
    written = pathlib.Path(f"/tmp/perf-{process.pid}.map")
    assert process.returncode == 0 and written.exists(), printed
    copy = tmp_path_factory.mktemp("jvm") / written.name
    copy.write_bytes(written.read_bytes())
    written.unlink()
    return copy


def entries(path):
    return [(int(start, 16), int(size, 16), name) for start, size, name in
            re.findall(r"^(0x[0-9a-f]+) (0x[0-9a-f]+) (.+)$", path.read_text(), re.M)]


def test_every_method_of_a_jvm(callsign, jvm_map, tmp_path):
    """The middle of each piece of code; where pieces overlap, the later one of the file is meant."""
    found, out = entries(jvm_map), tmp_path / "jvm.gsym"
    assert len(found) > 300 and any(name.startswith("java.lang.String java.lang.") for _, _, name in found)
    done = callsign.run("convert", jvm_map, "-o", out)
    assert done.returncode == 0, done.stderr
    middles = {start + size // 2: name for start, size, name in found if size}
    expected = {address: [name for start, size, name in found if start <= address < start + size][-1] for address in middles}
    answers = callsign.good("lookup", out, stdin="".join(f"{address:#x}\n" for address in expected)).splitlines()
    told = {int(line.split(": ", 1)[0], 16): line.split(": ", 1)[1].rpartition(" + ")[0] for line in answers if line.strip()}
    assert told == expected


def test_methods_of_a_jvm_from_the_map_itself(callsign, jvm_map):
    start, _, name = next(entry for entry in entries(jvm_map) if entry[2].startswith("java.lang.String java.lang."))
    assert f"{name} + 1" in callsign.good("lookup", jvm_map, f"{start + 1:#x}")


# ---- node: V8's perf map and jitdump ----

FIB = """function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

class Shape {
    area(x) {
        let sum = 0;
        for (let i = 0; i < x; i++) sum += Math.sqrt(i);
        return sum;
    }
}
const shape = new Shape();
let total = 0;
for (let i = 0; i < 3000; i++) total += fib(12) + shape.area(200);
console.log(total);
"""
PLACE = re.compile(r"((?:JS|LazyCompile|Function|Eval|Script):\S*?.*) (\S.*?):(\d+):\d+$")


def node_wrote(folder, option, pattern):
    (folder / "fib.js").write_text(FIB)
    process = subprocess.Popen([need("node"), option, "fib.js"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed = process.communicate(timeout=300)[0]
    written = folder / pattern.format(process.pid)
    assert process.returncode == 0 and written.exists(), printed
    copy = folder / f"copy-{written.name}"
    shutil.copy(written, copy)
    written.unlink()
    return copy


def told_at(callsign, index, addresses):
    lines = callsign.good("lookup", "--json", index, stdin="".join(f"{address:#x}\n" for address in addresses)).splitlines()
    frames = [json.loads(line)["frames"][0] for line in lines]
    return [(f["function"], f.get("file", ""), f.get("line", 0)) for f in frames]


def split_name(name):
    """V8's `JS:*fib /path/fib.js:1:13` as function, file and line."""
    found = PLACE.match(name)
    return (found[1], found[2], int(found[3])) if found else (name, "", 0)


def last_at_middles(found):
    """{address: name} of code in the order of a file; where pieces overlap, the later one is meant."""
    names = {}
    for middle in {start + size // 2 for start, size, _ in found if size}:
        names[middle] = next(name for start, size, name in reversed(found) if start <= middle < start + size)
    return names


def test_every_function_of_the_map_of_node(callsign, tmp_path):
    written = node_wrote(tmp_path, "--perf-basic-prof", "/tmp/perf-{}.map")
    found = [(int(start, 16), int(size, 16), name) for start, size, name in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) (.+)$", written.read_text(), re.M)]
    expected = last_at_middles(found)
    callsign.good("convert", "--quiet", written, "-o", tmp_path / "index")
    told = dict(zip(expected, told_at(callsign, tmp_path / "index", expected)))
    assert told == {address: split_name(name) for address, name in expected.items()}
    script = str(tmp_path / "fib.js")
    assert {("JS:*fib", script, 1), ("JS:*area", script, 4)} <= set(told.values()) and len(told) > 500


def jitdump_records(data):
    """(code, name, lines) of each load record: lines are those of the debug record before it, as (address, line, path or None)."""
    at, lines, found = struct.unpack_from("<I", data, 8)[0], [], []
    while at + 16 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0:
            code, length = struct.unpack_from("<QQ", data, at + 32)
            found.append((code, length, data[at + 56:data.index(b"\0", at + 56)].decode(), lines))
            lines = []
        elif kind == 2:
            entry, lines = at + 32, []
            for _ in range(struct.unpack_from("<Q", data, at + 24)[0]):
                address, line = struct.unpack_from("<QI", data, entry)
                end = data.index(b"\0", entry + 16)
                lines.append((address, line, data[entry + 16:end]))
                entry = end + 1
        at += size
    return found


def test_every_function_of_the_jitdump_of_node(callsign, tmp_path):
    written = node_wrote(tmp_path, "--perf-prof", f"{tmp_path}/jit-{{}}.dump")
    records = jitdump_records(written.read_bytes())
    expected = last_at_middles([(code, size, name) for code, size, name, _ in records])
    done = callsign.run("convert", written, "-o", tmp_path / "index")
    assert done.returncode == 0 or (done.returncode == 1 and "damaged" in done.stderr), done.stderr # names that V8 freed
    told = dict(zip(expected, told_at(callsign, tmp_path / "index", expected)))
    assert {a: name for a, (name, _, _) in told.items()} == {a: split_name(name)[0] for a, name in expected.items()} and len(told) > 500
    code, _, name, lines = next(record for record in records if record[2].startswith("JS:*area "))
    rows = sorted((address - 64, line) for address, line, _ in lines) # V8 counts the header of the ELF file that perf makes
    assert len({line for _, line in rows}) > 1 and rows[0][0] >= code
    inner = [(address, line) for (address, line), (after, _) in zip(rows, rows[1:]) if address < after]
    answers = told_at(callsign, tmp_path / "index", [address for address, _ in inner])
    assert answers == [("JS:*area", str(tmp_path / "fib.js"), line) for _, line in inner]
