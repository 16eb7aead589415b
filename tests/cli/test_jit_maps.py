"""Perf maps that runtimes really wrote: a JVM's of OpenJDK 17 or later."""
import pathlib
import re
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
