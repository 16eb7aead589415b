"""Programs that name their own stacks: callsign/backtrace.h, and the library that stands in for libbacktrace. What is expected comes
from marks in the programs' sources, from libbacktrace itself (gcc's) and from addr2line."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from programs import need

pytestmark = pytest.mark.plain_build

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "backtrace"
INCLUDE = ROOT / "include"
OWN = SOURCES / "own_stack.c"


def run(*args, code=0, **more):
    done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def libraries(callsign):
    folder = pathlib.Path(callsign.path).parent
    for name in ("libcallsign-backtrace.so", "libcallsign-backtrace.a"):
        assert (folder / name).is_file(), f"{folder / name} is not there"
    return folder


def static_libraries():
    """What the static library needs, as its .pc file says; the linker takes what it wants."""
    flags = ["-pthread", "-ldl"]
    for module in ("libdeflate", "libzstd", "liblzma", "libpcre2-8", "yaml-0.1"):
        done = subprocess.run(["pkg-config", "--libs", module], capture_output=True, text=True)
        flags += done.stdout.split() if done.returncode == 0 else []
    return flags


def link(libraries, kind):
    if kind == "static":
        return [libraries / "libcallsign-backtrace.a", *static_libraries()]
    return [f"-L{libraries}", "-lcallsign-backtrace", f"-Wl,-rpath,{libraries}"]


def mark(source, name):
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if line.rstrip(" */").endswith(f"LINE {name}"):
            return number
    raise AssertionError(f"{source} has no mark {name}")


FRAME = re.compile(r"^    #(\d+) 0x([0-9a-f]+) in (\S+) (\S+):(\d+)$")


def own_frames(text, source):
    """(function, line) of the frames in a source, stack by stack."""
    stacks = []
    for line in text.splitlines():
        match = FRAME.match(line)
        if line.startswith("    #0 ") and (not match or match[1] == "0") and (not match or match[2] not in [s[0] for s in stacks]):
            stacks.append((match[2] if match else "", []))
        if match and match[4].endswith("/" + source.name):
            stacks[-1][1].append((match[3], int(match[5])))
    return [frames for _, frames in stacks]


def crash_frames():
    return [("inlined_crash", mark(OWN, "crash")), ("crash", mark(OWN, "inlined")), ("run", mark(OWN, "call"))]


# ---- callsign/backtrace.h ----

@pytest.mark.parametrize("pie", [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"]], ids=["pie", "no-pie"])
@pytest.mark.parametrize("kind", ["static", "shared"])
@pytest.mark.parametrize("where", ["beside", "within", "converted"])
def test_stack_in_a_signal_handler(callsign, libraries, tmp_path, pie, kind, where):
    program = tmp_path / "own"
    run(need("gcc"), "-g", "-O2", *pie, f"-I{INCLUDE}", *(["-DWITH_CONVERTER"] if where == "converted" else []), OWN, "-o", program,
        *link(libraries, kind))
    if where == "beside":
        callsign.good("convert", program, "-o", f"{program}.gsym")
    if where == "within":
        callsign.good("embed", program, program, "-o", program)
    if where != "converted":
        run(need("strip"), program)
    here, crash = own_frames(run(program, *(["load"] if where == "converted" else [])), OWN)
    assert here[0][0] == "here" and here[1] == ("run", mark(OWN, "here"))
    assert crash[:3] == crash_frames()
    assert here[2][0] == crash[3][0] == "main"


@pytest.mark.parametrize("address", ["0", "0x10", "0x41414140", "0x7ffffffff000", "data"])
def test_a_call_that_leads_nowhere(callsign, libraries, tmp_path, address):
    """No unwind table covers the pc, and there are no frame pointers: the caller is the return address that the call left."""
    source, program = SOURCES / "bad_call.c", tmp_path / "bad"
    run(need("gcc"), "-g", "-O2", "-fomit-frame-pointer", f"-I{INCLUDE}", source, "-o", program, *link(libraries, "static"))
    callsign.good("convert", "-q", program, "-o", f"{program}.gsym")
    lines = run(program, address).splitlines()
    assert lines[0].startswith("    #0 0x" if address == "data" else f"    #0 {int(address, 0):#x}"), lines
    frames = [FRAME.match(line) for line in lines[1:3]]
    assert [(match[3], int(match[5])) for match in frames] == [("call_it", mark(source, "bad call")), ("main", mark(source, "call"))], lines


@pytest.mark.parametrize("kind", ["static", "shared"])
def test_handler_without_memory_locks_and_files(callsign, libraries, tmp_path, kind):
    """malloc, locks of threads and open() end the program within the handler; each function that may be called there is called twice."""
    source, program = SOURCES / "watched_handler.c", tmp_path / "watched"
    run(need("gcc"), "-g", "-O2", "-fno-omit-frame-pointer", f"-I{INCLUDE}", source, "-o", program, *link(libraries, kind), "-ldl")
    callsign.good("convert", "-q", program, "-o", f"{program}.gsym")
    run(need("strip"), program)
    text = run(program)
    assert text.count(f" in work {source}:") == 4
    assert text.count(f" in fail {source}:{mark(source, 'fail')}\n") == 2


def test_thread_and_frame_pointers(callsign, libraries, tmp_path):
    program = tmp_path / "own"
    run(need("gcc"), "-g", "-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", f"-I{INCLUDE}", OWN, "-o", program,
        *link(libraries, "static"))
    callsign.good("convert", program, "-o", f"{program}.gsym")
    for words in (["thread"], ["thread", "pointers"], ["pointers"]):
        here, crash = own_frames(run(program, *words), OWN)
        assert [name for name, _ in here] == (["here", "run"] if "thread" in words else ["here", "run", "main"])
        assert crash[:3] == crash_frames()


def test_without_an_unwinder(callsign, libraries, tmp_path):
    """Frame pointers need neither libgcc_s nor libgcc_eh, and the linker is given neither."""
    source, program = SOURCES / "no_unwinder.c", tmp_path / "own"
    run(need("gcc"), "-g", "-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", f"-I{INCLUDE}", source, "-o", program,
        "-nodefaultlibs", libraries / "libcallsign-backtrace.a", "-lc", "-lgcc")
    symbols = run(need("nm"), "-u", program)
    assert "__libc_start_main" in symbols and "_Unwind" not in symbols
    callsign.good("convert", program, "-o", f"{program}.gsym")
    run(need("strip"), program)
    text = run(program)
    expected = [("inner", "capture"), ("outer", "outer"), ("main", "main")]
    assert own_frames(text, source) == [[(name, mark(source, line)) for name, line in expected]]


def test_call_of_address_0(callsign, libraries, tmp_path):
    program = tmp_path / "own"
    run(need("gcc"), "-g", "-O2", "-fno-omit-frame-pointer", f"-I{INCLUDE}", OWN, "-o", program, *link(libraries, "static"))
    callsign.good("convert", program, "-o", f"{program}.gsym")
    text = run(program, "jump")
    assert "\n    #0 0x0\n" in text
    names = re.findall(r"^    #\d+ 0x[0-9a-f]+ in (\w+) ", text.split("#0 0x0\n")[1], re.M)
    assert names[:4] == ["inlined_crash", "crash", "run", "main"]


def test_library_opened_later(callsign, libraries, tmp_path):
    program, plugin = tmp_path / "own", tmp_path / "libplugin.so"
    source = SOURCES / "own_plugin.c"
    run(need("gcc"), "-g", "-O2", f"-I{INCLUDE}", OWN, "-o", program, *link(libraries, "static"))
    run(need("gcc"), "-g", "-O2", "-shared", "-fPIC", source, "-o", plugin)
    callsign.good("convert", plugin, "-o", f"{plugin}.gsym")
    run(need("strip"), plugin)
    _, crash = own_frames(run(program, f"plugin={plugin}"), source)
    assert crash == [("plugin_inner", mark(source, "plugin-inner")), ("plugin_call", mark(source, "plugin-call"))]


def test_index_of_another_build_is_not_used(callsign, libraries, tmp_path):
    program, other = tmp_path / "own", tmp_path / "other"
    run(need("gcc"), "-g", "-O2", f"-I{INCLUDE}", OWN, "-o", program, *link(libraries, "static"))
    run(need("gcc"), "-g", "-O1", f"-I{INCLUDE}", OWN, "-o", other, *link(libraries, "static"))
    callsign.good("convert", other, "-o", f"{program}.gsym")
    text = run(program)
    assert " in " not in text and f"({program}+0x" in text
    # Its lines name the module and the build id: the command reads them, and finds the names.
    named = callsign.good("stack", stdin=text)
    assert "inlined_crash" in named and f"own_stack.c:{mark(OWN, 'crash')}" in named


def test_static_program_has_the_reader_alone(libraries, tmp_path):
    program = tmp_path / "own"
    run(need("gcc"), "-O2", f"-I{INCLUDE}", OWN, "-o", program, libraries / "libcallsign-backtrace.a")
    names = set(re.findall(r" [Tt] (csni?_\w+)", run("nm", program)))
    assert "csn_backtrace_print" in names and "csn_convert_file" not in names and "csn_index_open_any" not in names


# ---- in place of libbacktrace ----

def real_libbacktrace():
    path = run(need("gcc"), "-print-file-name=libbacktrace.a").strip()
    assert os.path.isabs(path), "gcc has no libbacktrace.a"
    return path


@pytest.mark.parametrize("flags", [["-O2"], ["-O0"], ["-O2", "-no-pie", "-fno-pie"], ["-O2", "-gdwarf-4"], ["-O2", "-gz"]], ids=" ".join)
@pytest.mark.parametrize("kind", ["static", "shared"])
def test_answers_of_libbacktrace(libraries, tmp_path, flags, kind):
    source = SOURCES / "libbacktrace_walk.cc"
    real, ours = tmp_path / "real", tmp_path / "ours"
    run(need("g++"), "-g", *flags, source, "-o", real, real_libbacktrace())
    run(need("g++"), "-g", *flags, f"-I{INCLUDE}", source, "-o", ours, *link(libraries, kind))
    want, got = run(real), run(ours)
    assert want.count("libbacktrace_walk.cc:") >= 10
    strip = re.compile(r"\n0x.*", re.S)
    assert strip.sub("", got) == strip.sub("", want)
    assert re.search(r"^0x[0-9a-f]+ main\n\t\S*libbacktrace_walk.cc:\d+$", got, re.M)
    assert strip.sub("", run(ours, ours)) == strip.sub("", got)


def test_preloaded(libraries, tmp_path):
    """A program linked with some libbacktrace.so gets the answers of the one that is preloaded."""
    source, empty = SOURCES / "libbacktrace_walk.cc", tmp_path / "empty.c"
    names = ["create_state", "full", "simple", "print", "pcinfo", "syminfo"]
    empty.write_text("".join(f"int backtrace_{name}(void); int backtrace_{name}(void) {{ return 0; }}\n" for name in names))
    run(need("gcc"), "-shared", "-fPIC", empty, "-Wl,-soname,libbacktrace.so.0", "-o", tmp_path / "libbacktrace.so.0")
    program, linked = tmp_path / "program", tmp_path / "linked"
    run(need("g++"), "-g", "-O2", f"-I{INCLUDE}", source, "-o", program, tmp_path / "libbacktrace.so.0", f"-Wl,-rpath,{tmp_path}")
    run(need("g++"), "-g", "-O2", f"-I{INCLUDE}", source, "-o", linked, *link(libraries, "shared"))
    text = run(program, env={**os.environ, "LD_PRELOAD": str(libraries / "libcallsign-backtrace.so")})
    strip = re.compile(r"\n0x.*", re.S)
    assert "middle" in text and strip.sub("", text) == strip.sub("", run(linked))


@pytest.mark.parametrize("kind", ["static", "shared"])
def test_boost_stacktrace(callsign, libraries, tmp_path, kind):
    if not pathlib.Path("/usr/include/boost/stacktrace.hpp").is_file():
        pytest.skip("libboost-stacktrace-dev is not installed")
    source, program = SOURCES / "boost_trace.cc", tmp_path / "boost_trace"
    run(need("g++"), "-g", "-O2", f"-I{INCLUDE}", source, "-o", program, *link(libraries, kind), "-ldl", "-pthread")
    text = run(program)
    assert text.count(f"orders::weigh(int) at {source}:{mark(source, 'weigh')}\n") == 2
    assert text.count(f"orders::deliver(int) at {source}:{mark(source, 'deliver')}\n") == 2
    # boost gives return addresses: the line after the call in main, as with the real library.
    real, place = tmp_path / "real", re.compile(r"^ *\d+# (.* at .*boost_trace\.cc:\d+)$", re.M)
    run(need("g++"), "-g", "-O2", "-fno-optimize-sibling-calls", source, "-o", real, real_libbacktrace(), "-ldl", "-pthread")
    run(need("g++"), "-g", "-O2", "-fno-optimize-sibling-calls", f"-I{INCLUDE}", source, "-o", program, *link(libraries, kind), "-ldl", "-pthread")
    want = place.findall(run(real))
    assert len(want) >= 5 and place.findall(run(program)) == want
    # An index beside a program that has nothing else.
    stripped = tmp_path / "stripped"
    shutil.copy(program, stripped)
    run(need("strip"), stripped)
    no_cache = {name: value for name, value in os.environ.items() if name != "CALLSIGN_CACHE"}
    assert "boost_trace.cc" not in run(stripped, env=no_cache)
    cached = {**os.environ, "CALLSIGN_CACHE": str(tmp_path / "cache")}
    run(program, env=cached)  # leaves its conversion there
    deliver = f"orders::deliver(int) at {source}:{mark(source, 'deliver')}\n"
    assert deliver in run(stripped, env=cached)
    callsign.good("convert", program, "-o", f"{stripped}.gsym")
    assert deliver in run(stripped, env=no_cache)


def test_same_as_addr2line(libraries, tmp_path):
    """Each pc of a stack, looked up by binutils."""
    program = tmp_path / "own"
    run(need("gcc"), "-g", "-O2", "-no-pie", "-fno-pie", "-DWITH_CONVERTER", f"-I{INCLUDE}", OWN, "-o", program, *link(libraries, "shared"))
    rows = [FRAME.match(line) for line in ("    #0 " + run(program, "load").split("    #0 ")[-1]).splitlines()]
    rows = [row for row in rows if row and row[4].endswith("own_stack.c")]
    assert [row[3] for row in rows] == ["inlined_crash", "crash", "run", "main"]
    pcs = list(dict.fromkeys(row[2] for row in rows))
    lines = run(need("addr2line"), "-a", "-f", "-i", "-e", program, *pcs).splitlines()
    want = []
    for name, place in zip(*[iter(line for line in lines if not line.startswith("0x"))] * 2):
        want.append((name, place.split(" (discriminator")[0]))
    assert [(row[3], f"{row[4]}:{row[5]}") for row in rows] == want
