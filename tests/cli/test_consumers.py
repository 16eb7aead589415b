"""Programs in C++ and Rust compile against the public headers or plain declarations, link with the shared and the static
library, and answer as the command does."""
import json
import pathlib
import subprocess

import pytest

from programs import need

pytestmark = pytest.mark.plain_build

CONSUMERS = pathlib.Path(__file__).resolve().parents[1] / "consumers"
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"


@pytest.fixture(scope="module")
def libraries(callsign):
    folder = pathlib.Path(callsign.path).resolve().parent
    for name in ("libcallsign.so", "libcallsign.a", "libcallsign-lookup.so", "libcallsign-lookup.a"):
        assert (folder / name).is_file(), f"{folder / name} is not there"
    return folder


def run(*args, **more):
    done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, timeout=180, **more)
    assert done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cxx(libraries, compiler, tmp_path):
    program = tmp_path / "consumer"
    run(need(compiler), "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{INCLUDE}", CONSUMERS / "consumer.cc",
        f"-L{libraries}", "-lcallsign", f"-Wl,-rpath,{libraries}", "-o", program)
    assert run(program) == "inner+4 /src/jit.cc:7\nouter+20 /src/jit.cc:9\n"
    assert "libcallsign.so.0.2 =>" in run("ldd", program)


@pytest.mark.parametrize("kind", ["dylib", "static"])
def test_rust(libraries, callsign, shapes, shapes_index, kind, tmp_path):
    program = tmp_path / "consumer"
    path = ["-C", f"link-arg=-Wl,-rpath,{libraries}"] if kind == "dylib" else []
    run(need("rustc"), "--edition=2021", "-D", "warnings", "-A", "dead_code", CONSUMERS / "consumer.rs", f"-L{libraries}",
        f"-l{kind}=callsign-lookup", *path, "-o", program)
    address = hex(shapes.mark("square"))
    want = [f"callsign {callsign.good('--version').split()[1]}"]
    for frame in json.loads(callsign.good("lookup", "--json", shapes_index, address))["frames"]:
        want.append(f"{frame['function']}+{frame['offset']} {frame['file']}:{frame['line']}")
    assert len(want) > 2
    assert run(program, shapes_index, address, "0x1") == "\n".join(want) + "\n0x1: nothing\n"
