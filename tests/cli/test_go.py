"""Go programs without DWARF and symbols: functions, lines and inlined calls come from the table that Go itself uses."""
import json
import os
import re
import subprocess

import pytest

from programs import need

SOURCE = """package main

var factor = 3

func scale(x int) int { return x*factor + 1 }

func area(w, h int) int {
\treturn scale(w) * scale(h)
}

//go:noinline
func total(n int) int {
\tt := 0
\tfor i := 0; i < n; i++ {
\t\tt += area(i, n)
\t}
\treturn t
}

func main() {
\tprintln(total(factor))
}
"""


class Go:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.env = {**os.environ, "GO111MODULE": "off", "GOFLAGS": "-p=2", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0",
                    "GOCACHE": os.environ.get("GOCACHE", str(folder / "cache")), "HOME": str(folder)}
        (folder / "main.go").write_text(SOURCE)

    def build(self, name, *args, **env):
        out = self.folder / name
        done = subprocess.run([self.tool, "build", *args, "-o", out, "main.go"], cwd=self.folder, capture_output=True,
                              text=True, env={**self.env, **env}, timeout=300)
        assert done.returncode == 0, (args, env, done.stderr)
        return out

    def tell(self, *args, stdin=""):
        return subprocess.run([self.tool, "tool", *map(str, args)], input=stdin, capture_output=True, text=True,
                              env=self.env, timeout=300, check=True).stdout


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    return Go(need("go"), tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="module")
def program(go):
    return go.build("program")


@pytest.fixture(scope="module")
def stripped(program):
    """At the same addresses as the program."""
    out = program.with_name("stripped")
    subprocess.run([need("objcopy"), "-S", program, out], check=True)
    return out


def frames(callsign, index, addresses):
    out = callsign.good("lookup", "--json", index, stdin="".join(f"{a:#x}\n" for a in addresses))
    return [json.loads(line).get("frames", []) for line in out.splitlines()]


def convert(callsign, path):
    index = path.with_name(path.name + ".gsym")
    return index, callsign.run("convert", path, "-o", index, "--report", path.with_name("report.json"))


def plain(name):
    """Type arguments: DWARF spells them out, Go's table has [...]."""
    return re.sub(r"\[.*\]", "[...]", name)


def functions_of(go, path):
    found = []
    for line in go.tell("nm", "-size", path).splitlines():
        parts = line.split(None, 3)
        if len(parts) == 4 and parts[2] in "Tt" and int(parts[1]):
            found.append((int(parts[0], 16), int(parts[1]), parts[3]))
    return sorted(found)


def test_stripped_equals_dwarf(callsign, go, program, stripped):
    full, _ = convert(callsign, program)
    index, done = convert(callsign, stripped)
    assert done.returncode == 0
    report = json.loads(stripped.with_name("report.json").read_text())
    assert report["functions_from_go"] > 500 and report["functions_from_dwarf"] == 0
    functions = functions_of(go, program)
    addresses = [a for start, size, _ in functions for a in range(start, start + size, 37)]
    same = different = inlined = 0
    for mine, want in zip(frames(callsign, index, addresses), frames(callsign, full, addresses)):
        # Go's DWARF puts a compilation directory in front of a name that is none, and loses some inlined calls.
        strip = [(plain(f["function"]), f.get("file", "").removeprefix("./"), f.get("line")) for f in want]
        if [(plain(f["function"]), f.get("file", ""), f.get("line")) for f in mine] == strip:
            same += 1
            inlined += len(mine) > 1
        else:
            different += 1
    assert different <= same // 200, (same, different)
    assert inlined > 100


def test_agrees_with_addr2line(callsign, go, program, stripped):
    index, _ = convert(callsign, stripped)
    functions = functions_of(go, program)
    addresses = [a for start, size, _ in functions for a in range(start, start + size, 101)]
    told = go.tell("addr2line", program, stdin="".join(f"{a:#x}\n" for a in addresses)).splitlines()
    assert len(told) == 2 * len(addresses)
    wrong = []
    for i, mine in enumerate(frames(callsign, index, addresses)):
        place = f'{mine[0].get("file")}:{mine[0].get("line", 0)}' if mine else None
        if place != told[2 * i + 1] or plain(mine[-1]["function"]) != plain(told[2 * i]):
            wrong.append((hex(addresses[i]), told[2 * i:2 * i + 2], mine))
    assert len(wrong) <= len(addresses) // 1000, wrong[:3]


def test_inlined_calls(callsign, go, stripped, program):
    index, _ = convert(callsign, stripped)
    start, size = next((a, s) for a, s, name in functions_of(go, program) if name == "main.total")
    seen = {tuple((f["function"], f["line"]) for f in answer) for answer in
            frames(callsign, index, range(start, start + size))}
    assert any(s[:2] == (("main.scale", 5), ("main.area", 8)) and s[2] == ("main.total", 15) for s in seen), seen
    assert all(s[-1][0] == "main.total" for s in seen)


@pytest.mark.parametrize("env, args", [
    pytest.param({"GOOS": "darwin", "GOARCH": "arm64"}, ["-ldflags=-s -w"], marks=pytest.mark.long_with_sanitizers),
    pytest.param({}, ["-buildmode=pie", "-ldflags=-s -w"], marks=pytest.mark.long_with_sanitizers),
    pytest.param({"GOOS": "windows"}, ["-ldflags=-s -w"], marks=pytest.mark.long_with_sanitizers), ({"GOARCH": "s390x"}, ["-ldflags=-s -w"]),
], ids=["darwin", "pie", "windows", "s390x"])
def test_targets(callsign, go, env, args):
    name = "-".join(["target", *env.values(), *[re.sub(r"\W+", "", a) for a in args]])
    path = go.build(name, *args, **env)
    index, done = convert(callsign, path)
    assert done.returncode == 0, done.stderr
    out = callsign.good("dump", index)
    assert "main.total" in out and "main.area" in out and "main.go" in out


def test_a_damaged_table_is_reported(callsign, go, stripped, tmp_path):
    data = bytearray(stripped.read_bytes())
    at = data.find(b"\xf1\xff\xff\xff\0\0\1\x08")
    if at < 0:
        at = data.find(b"\xf0\xff\xff\xff\0\0\1\x08")
    assert at > 0
    data[at + 8:at + 16] = (1 << 40).to_bytes(8, "little") # functions
    broken = tmp_path / "broken"
    broken.write_bytes(data)
    done = callsign.run("convert", broken, "-o", tmp_path / "out")
    assert done.returncode in (1, 2)
    assert "1099511627776 functions" in done.stderr or "no function" in done.stderr


# ---- WebAssembly: what Go calls an address there is the number of a function, and a block within it ----

WALK = """package main

import "runtime"

var factor = 3

func scale(x int) int { return x*factor + 1 }

//go:noinline
func total(n int) int { return scale(n) * scale(n+1) }

func main() {
	println(total(factor))
	for pc := uintptr(0x10000000); runtime.FuncForPC(pc) != nil; pc = pc>>16<<16 + 0x10000 {
		for block := uintptr(0); block < 0x10000; block++ {
			frame, _ := runtime.CallersFrames([]uintptr{pc + block + 1}).Next()
			if frame.Line == 0 {
				break
			}
			println(pc+block, "\\t", frame.Function, "\\t", frame.File, "\\t", frame.Line)
		}
	}
}
"""


@pytest.fixture(scope="module")
def wasm(go):
    """Programs for both systems."""
    (go.folder / "walk").mkdir()
    (go.folder / "walk/main.go").write_text(WALK)
    found = {}
    for system in ("js", "wasip1"):
        found[system] = go.folder / f"{system}.wasm"
        done = subprocess.run([go.tool, "build", "-o", found[system], "main.go"], cwd=go.folder / "walk", capture_output=True, text=True,
                              env={**go.env, "GOOS": system, "GOARCH": "wasm"}, timeout=300)
        if "unsupported GOOS/GOARCH" in done.stderr:
            del found[system]
            continue
        assert done.returncode == 0, done.stderr
    return found


@pytest.mark.long_with_sanitizers
@pytest.mark.parametrize("system", ["js", "wasip1"])
def test_wasm_has_lines_and_inlined_calls(callsign, wasm, system):
    if system not in wasm:
        pytest.skip(f"this Go does not know {system}")
    index, done = convert(callsign, wasm[system])
    assert done.returncode == 0, done.stderr
    records = [json.loads(line).get("function") for line in callsign.good("dump", "--json", index).splitlines()]
    found = [f for f in records if f and f.get("name") == "main.total"]
    code, go_address = sorted(int(f["start"], 16) for f in found)  # in the code section, and what Go calls its address
    assert code < 0x10000000 <= go_address and go_address % 0x10000 == 0
    names = {tuple(f["function"] for f in answer) for answer in frames(callsign, index, range(go_address, go_address + 4))}
    assert ("main.scale", "main.total") in names
    assert frames(callsign, index, [go_address])[0][-1]["file"].endswith("/walk/main.go")


# The script of older versions of Go (1.19) sets what newer versions of Node.js (19) have themselves, without a setter.
SETTABLE = """\
for (const name of ["crypto", "performance"])
    Object.defineProperty(globalThis, name, { value: globalThis[name], writable: true, configurable: true });
"""


@pytest.mark.long_with_sanitizers
def test_every_address_of_wasm_as_its_runtime_has_it(callsign, go, wasm, tmp_path):
    """The program asks Go's runtime for each of its own addresses."""
    runner = subprocess.run([go.tool, "env", "GOROOT"], capture_output=True, text=True, env=go.env, check=True).stdout.strip()
    script = next(path for path in (f"{runner}/lib/wasm/wasm_exec_node.js", f"{runner}/misc/wasm/wasm_exec_node.js") if os.path.exists(path))
    (tmp_path / "settable.js").write_text(SETTABLE)
    done = subprocess.run([need("node"), "-r", tmp_path / "settable.js", script, wasm["js"]], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" \t ") for line in done.stderr.splitlines() if "\t" in line]
    index, _ = convert(callsign, wasm["js"])
    assert len(rows) > 10000
    wrong = []
    for (address, name, path, line), answer in zip(rows, frames(callsign, index, [int(row[0]) for row in rows]), strict=True):
        mine = answer and (plain(answer[0]["function"]), answer[0].get("file"), answer[0].get("line"))
        if mine != (plain(name), path, int(line)):
            wrong.append((address, mine, name, path, line))
    assert wrong == []


def test_damaged_data_of_wasm(callsign, wasm, tmp_path):
    """Whatever stands in the data section, the names of the code section stay."""
    data = bytearray(wasm["js"].read_bytes())
    at = max(data.find(magic + b"\xff\xff\xff\0\0\1\x08") for magic in (b"\xf0", b"\xf1"))
    assert at > 0
    for offset, value in ((at + 8, 0xff), (at + 12, 0x7f), (at + 16, 0xff), (at - 2, 0xff), (at - 1, 0xff)):
        damaged = bytearray(data)
        damaged[offset] = value
        (tmp_path / "damaged.wasm").write_bytes(damaged)
        done = callsign.run("convert", tmp_path / "damaged.wasm", "-o", tmp_path / "out")
        assert done.returncode in (0, 1), (offset, done.stderr)
        assert "main.total" in callsign.good("dump", tmp_path / "out")
