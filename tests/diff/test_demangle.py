"""csn_demangle against each language's own tool, over the names of this system's libraries. What the tool leaves raw we may read.

The library beside the command under test (CALLSIGN) is called directly. --full takes all names instead of a sample."""
import ctypes
import glob
import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLSIGN = pathlib.Path(os.environ.get("CALLSIGN", ROOT / "build/release/callsign"))
SAMPLE = 20000
AS_LLVM = 1  # CSN_DEMANGLE_AS_LLVM


class Str(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_char_p), ("len", ctypes.c_size_t)]


@pytest.fixture(scope="module")
def demangle():
    library = ctypes.CDLL(str(CALLSIGN.parent / "libcallsign.so"))
    out, length = ctypes.create_string_buffer(1 << 20), ctypes.c_size_t()

    def call(name):
        raw = name.encode()
        status = library.csn_demangle_with(Str(raw, len(raw)), AS_LLVM, out, ctypes.c_size_t(len(out)), ctypes.byref(length), None)
        assert status in (0, 1), (name, status)
        return out.raw[:length.value].decode("utf-8", "replace") if status == 0 else name

    return call


def need(tool):
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    return tool


def names_of(patterns, wanted, request, nm="nm"):
    """Distinct symbols of all files that match, a sample of them without --full."""
    found, full = set(), request.config.getoption("--full")
    for path in (p for pattern in patterns for p in sorted(glob.glob(os.path.expanduser(pattern)))):
        if len(found) > 3 * SAMPLE and not full:
            break
        for option in ([], ["-D"]):
            done = subprocess.run([nm, *option, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=300)
            symbols = (line.rsplit(" ", 1)[-1] for line in done.stdout.decode("ascii", "ignore").splitlines())
            found.update(name.split("@")[0] if wanted != r"\?" else name for name in symbols if re.match(wanted, name))
    if not found:
        pytest.skip(f"no library here has such names: {' '.join(patterns)}")
    names = sorted(found)
    return names if full else random.Random(1).sample(names, min(SAMPLE, len(names)))


def answers(command, names):
    done = subprocess.run(command, input="".join(name + "\n" for name in names).encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600)
    return done.stdout.decode("utf-8", "replace").split("\n")[:-1]


def compare(demangle, names, theirs, is_raw=lambda name, text: name == text):
    assert len(names) == len(theirs)
    read = [(name, text, demangle(name)) for name, text in zip(names, theirs) if not is_raw(name, text)]
    different = [answer for answer in read if answer[1] != answer[2]]
    print(f"{len(names)} names, {len(read)} read by the tool, {len(different)} different")
    assert not different, different[:5]
    assert len(read) > len(names) // 2


def test_cpp(demangle, request):
    tool = need("llvm-cxxfilt-22")
    names = names_of(["/usr/lib/*/libstdc++.so.6", "/usr/lib/llvm*/lib/*.so*", "/usr/lib/*/lib*.so.*"], "_Z", request)
    compare(demangle, names, answers([tool], names))


def test_rust(demangle, request):
    tool = need("llvm-cxxfilt-22")
    names = names_of(["~/.rustup/toolchains/*/lib/rustlib/*/lib/*.so", "~/.rustup/toolchains/*/lib/*.so"], "_R", request)
    compare(demangle, names, answers([tool], names))


def test_d(demangle, request):
    tool = need("c++filt")
    names = names_of(["/usr/lib/*/libgphobos.so*", "/usr/lib/*/libgdruntime.so*"], "_D", request)
    compare(demangle, names, answers([tool, "-s", "dlang"], names))


def test_ada(demangle, request):
    tool = need("c++filt")
    names = names_of(["/usr/lib/*/libgnat-*.so*", "/usr/lib/gcc/*/*/adalib/libgnat*.so"], "(ada|system|gnat|interfaces)__", request)
    theirs = answers([tool, "-s", "gnat"], names)
    kept = [(name, text) for name, text in zip(names, theirs) if demangle(name) != name]
    assert len(kept) > len(names) // 3  # entities that the compiler makes are not all known
    compare(demangle, *map(list, zip(*kept)), is_raw=lambda name, text: text == f"<{name}>")


@pytest.mark.parametrize("machine", ["x86_64", "i686", "aarch64"])
def test_msvc(demangle, request, tmp_path, machine):
    compiler, tool, nm = need("clang++-22"), need("llvm-undname-22"), need("llvm-nm-22")
    subprocess.run([compiler, f"--target={machine}-pc-windows-msvc", "-std=c++20", "-fcxx-exceptions", "-fexceptions", "-w", "-c",
                    ROOT / "tests/diff/sources/msvc_names.cc", "-o", tmp_path / "names.obj"], check=True, timeout=120)
    names = names_of([str(tmp_path / "names.obj")], r"\?", request, nm)
    assert len(names) > 150
    blocks = "\n".join(answers([tool], names)).split("\n\n")  # the name, its text, a blank line
    theirs = [block.strip("\n").split("\n")[1] for block in blocks if block.strip()]
    compare(demangle, names, theirs, is_raw=lambda name, text: text.startswith("error:"))
