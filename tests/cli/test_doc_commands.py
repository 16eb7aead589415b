"""The commands of docs/*.md, run as printed, with the files that their pages speak of."""
import os
import pathlib
import re
import socket
import subprocess
import threading

import pytest

from console_blocks import ROOT, Shell, blocks_of, console_blocks, make_clone
from programs import need, wait_for
from range_server import RangeServer
from test_docs import options_of

PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]

SHAPES = """
static inline __attribute__((always_inline)) int area(int x) { return x * x; }
__attribute__((noinline)) int total(int x) { return area(x) + 1; }
int main(int argc, char **argv) { (void)argv; return total(argc); }
"""
FOLDED = """// three of a kind, as in the page
//
//
extern "C" __attribute__((noinline)) int alpha(int x) { return x * 7 + 3; }
extern "C" __attribute__((noinline)) int beta(int x) { return x * 7 + 3; }
extern "C" __attribute__((noinline, weak)) int weakling(int x) { return x * 7 + 3; }
int main(int argc, char **) { return alpha(argc) + beta(argc) + weakling(argc); }
"""


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def lines_of(name, language, number=0):
    """The commands of a block, without comments."""
    lines = (re.sub(r"\s+# .*", "", line) for line in blocks_of(page(name), language)[number].replace("\\\n", " ").splitlines())
    return [line for line in lines if line.strip()]


def build(folder, source, compiler, *options, suffix=".c", out="app"):
    (folder / f"{out}{suffix}").write_text(source)
    subprocess.run([need(compiler), "-g", *options, f"{out}{suffix}", "-o", out], cwd=folder, check=True)


def address_of(folder, program, name):
    symbols = subprocess.run(["nm", program], cwd=folder, capture_output=True, text=True, check=True).stdout
    return hex(int(re.search(rf"^([0-9a-f]+) \w {name}$", symbols, re.M)[1], 16))


# ---- every page ----

def test_commands_have_the_options_that_pages_name():
    """`callsign COMMAND ... --option` in text and in blocks."""
    known, seen = {}, 0
    for path in PAGES:
        for command, words in re.findall(r"\bcallsign ([a-z][\w-]*)((?:[ \t]+[^`#|;\n]*)?)", path.read_text(encoding="utf-8")):
            options = re.findall(r"(?<![\w-])--([a-z][\w-]+)", words)
            if not options or not (ROOT / f"man/callsign-{command}.1").exists():
                continue
            if command not in known:
                known[command] = {name for _, name in options_of(command)}
            seen += len(options)
            assert not set(options) - known[command], f"{path.relative_to(ROOT)}: callsign {command}{words}"
    assert seen > 20


def test_scripts_that_pages_name_are_there():
    seen = set()
    for path in PAGES:
        for name in re.findall(r"(?<![\w/])((?:scripts|bench|tests|fuzz|examples|src|cli|server|include|cmake|bindings|web)/[\w./-]*[\w])",
                               path.read_text(encoding="utf-8")):
            seen.add(name)
            assert re.search("NAME", name) or list(ROOT.glob(name + "*")), f"{path.relative_to(ROOT)}: {name}"
    assert len(seen) > 50


# ---- stacks.md, merged-functions.md ----

def test_worked_example_of_stacks(tmp_path):
    for tool in ("clang++-22", "ld.lld", "addr2line", "llvm-gsymutil-22"):
        need(tool)
    shell = Shell(make_clone(tmp_path))
    places = {}
    blocks = list(console_blocks(page("stacks.md")))
    assert len(blocks) == 3
    for steps in blocks:
        outputs = shell.run_session(steps, places, lambda output: re.sub(r"[^\s@]*/merged\.cc", "merged.cc", output))
    assert "size_of(Square*)" in outputs["callsign stack --index merged.gsym --demangle --explain trace"]
    assert "size_of(Circle*)" in shell.run(f"callsign explain merged.gsym {places['0x1859']} --demangle")


# What stacks.md shows of each dialect, and what the answer must contain.
DIALECTS = {
    "plain": ["main.c"], "perf": ["main.c"], "sanitizer": ["main.c"], "kernel": ["do_thing"], "go": ["main.area"], "crash": ["MyApp"],
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects_of_stacks(tmp_path, dialect):
    build(tmp_path, SHAPES, "gcc", "-O1")
    shell = Shell(tmp_path)
    shell.run("callsign convert -q app -o app.gsym")
    section = page("stacks.md").partition(f"**{dialect}**")[2]
    sample = blocks_of(section, "")[0]
    at = address_of(tmp_path, "app", "main")
    for shown in ("0x1139", "1139", "0x1138", "11f2"):
        sample = re.sub(rf"(?<![0-9a-f]){shown}\b", at if shown.startswith("0x") else at[2:], sample)
    (tmp_path / "log").write_text(sample)
    answer = shell.run("callsign stack --no-search --index app.gsym log")
    assert all(word in answer for word in DIALECTS[dialect][1:])
    assert re.search(r"^#0 ", answer, re.M), answer


def test_merged_functions(tmp_path):
    need("ld.lld")
    build(tmp_path, FOLDED, "clang++", "-O1", "-ffunction-sections", "-fuse-ld=lld", "-Wl,--icf=all", suffix=".cc")
    block = blocks_of(page("merged-functions.md"), "")[0].splitlines()
    Shell(tmp_path).run_session([(block[0], ["..."]), (block[1], block[2:])], {"0x1dc5": address_of(tmp_path, "app", "alpha")},
                                lambda output: re.sub(r"\S*/app\.cc", "/src/a.cc", output))


def test_twins_of_merged_functions(tmp_path):
    need("ld.lld")
    need("clang")
    text, shell = page("merged-functions.md"), Shell(tmp_path)
    steps = [step for steps in console_blocks(text, "") for step in steps]
    assert steps[0][0] == "cat twins.c" and len(steps) == 6
    (tmp_path / "twins.c").write_text("\n".join(steps[0][1]) + "\n")
    for command, _ in steps[:4]:
        output = shell.run(command)
    sites = re.findall(r"^ +returns to 0x[0-9a-f]+ .*\^(one|two)\$$", output, re.M)
    assert sites == ["one", "two"], output
    for command, _ in steps[4:]:
        output = shell.run(command)
    assert "one" in shell.run("callsign dump twins.gsym | grep -A99 ' main '")


@pytest.mark.parametrize("language, name", [("yaml", "calls.yaml"), ("json", "calls.json"), ("", "calls.txt")])
def test_call_site_files_of_merged_functions(tmp_path, language, name):
    calls = " + ".join(f"total(count + {i})" for i in range(9)) # main reaches the offsets of the page
    build(tmp_path, f"int total(int a) {{ return a; }}\nint main(int count, char **words) {{ (void)words; return {calls}; }}\n", "gcc", "-O0")
    text, = [block for block in blocks_of(page("merged-functions.md"), language) if "total" in block and "main" in block]
    (tmp_path / name).write_text(text)
    shell = Shell(tmp_path)
    shell.run(f"callsign convert -q --call-sites {name} app -o app.gsym")
    returned = int(address_of(tmp_path, "app", "main"), 16) + 0x20
    assert re.search(rf"returns to {returned:#x} .*total", shell.run("callsign dump app.gsym"))


# ---- profiles.md, stand-ins.md, symbols.md, engines.md ----

def test_profiles(tmp_path):
    build(tmp_path, SHAPES, "gcc", "-O1")
    shell = Shell(tmp_path, PATH=f"{tmp_path}:{Shell(tmp_path).environment['PATH']}")
    at = address_of(tmp_path, "app", "main")[2:]
    recording = f"app 4242 12.345678: 250000 cycles:u:\n\t{at:>16} [unknown] ({tmp_path}/app)\n\n"
    (tmp_path / "perf").write_text(f"#!/bin/sh\ncat <<'END'\n{recording}END\n")
    (tmp_path / "perf").chmod(0o755)
    lines = lines_of("profiles.md", "sh")
    assert len(lines) == 3
    shell.run(lines[0])
    shell.run("callsign profile profile.pb.gz -o profile.json --to firefox")
    for line in lines[1:]:
        shell.run(line)
    assert (tmp_path / "profile.folded").read_text() == "main 1\n"
    assert '"main"' in (tmp_path / "named.json").read_text()


def test_stand_ins(tmp_path):
    build(tmp_path, SHAPES, "gcc", "-O1")
    shell = Shell(tmp_path)
    install, report, direct = lines_of("stand-ins.md", "sh")
    assert report.endswith(" perf report")  # what it starts is enough here: perf needs a recording
    shell.run(install)
    at = address_of(tmp_path, "app", "main")
    expected = shell.run(direct.replace("0x1139", at))
    assert expected.startswith("main\n") and "app.c:4" in expected
    assert shell.run(report.replace("perf report", f"addr2line -e app -fi {at}")) == expected


def test_an_index_on_a_server(tmp_path):
    build(tmp_path, SHAPES, "gcc", "-O1")
    shell = Shell(tmp_path)
    shell.run("callsign convert -q app -o app.gsym")
    line, = [line for line in lines_of("symbols.md", "", 1) if "https://" in line]
    with RangeServer({"/app.gsym": (tmp_path / "app.gsym").read_bytes()}) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        line = line.replace("https://symbols.example.org/app.gsym", server.url("/app.gsym"))
        assert "main" in shell.run(line.replace("0x1139", address_of(tmp_path, "app", "main")))
        server.shutdown()


# ---- backtrace.md ----

@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a program that uses what `make install` puts into a folder."""
    folder = tmp_path_factory.mktemp("installed")
    built = pathlib.Path(os.environ.get("CALLSIGN", ROOT / "build/release/callsign")).resolve().parent
    subprocess.run([ROOT / "scripts/pick-cmake"], check=True, capture_output=True)
    cmake = subprocess.run([ROOT / "scripts/pick-cmake"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([cmake, "--install", built, "--prefix", folder], check=True, capture_output=True)
    config, = folder.rglob("callsign-backtrace.pc")
    return {"PKG_CONFIG_PATH": str(config.parent), "LD_LIBRARY_PATH": str(config.parents[1])}


@pytest.mark.plain_build
def test_own_stacks(tmp_path, installed):
    need("pkg-config")
    text, shell = page("backtrace.md"), Shell(tmp_path, **installed)
    (tmp_path / "crash.c").write_text(blocks_of(text, "c")[0])
    *lines, crash = lines_of("backtrace.md", "sh")
    for line in lines:
        shell.run(line)
    frames = shell.run(crash, status=128 + 8)
    shown = blocks_of(text, "")[0].splitlines()
    for line, ours in zip(shown, frames.splitlines()):
        pattern = re.sub(r"0x[0-9a-f]+", "0x[0-9a-f]+", re.escape(line).replace(re.escape("/src/"), r"\S*/"))
        pattern = re.sub(r"\\\(.*", r"\\(\\S+\\+0x[0-9a-f]+\\) \\(BuildId: [0-9a-f]+\\)", pattern)
        assert re.fullmatch(pattern, ours), frames
    embed, = re.findall(r"# or put it into the program: (.*)", text)
    for line in (lines[0], "rm crash.gsym", embed, *lines[2:]):
        shell.run(line)
    assert [line.split(" in ")[1] for line in shell.run(crash, status=128 + 8).splitlines()[:2]] == \
           [line.split(" in ")[1] for line in frames.splitlines()[:2]]


BOOST = """#include <boost/stacktrace.hpp>
#include <iostream>
__attribute__((noinline)) int deep() { std::cout << boost::stacktrace::stacktrace(); return 1; }
int main() { return deep() - 1; }
"""


@pytest.mark.plain_build
def test_in_place_of_libbacktrace(tmp_path, installed):
    need("g++")
    need("pkg-config")
    if not pathlib.Path("/usr/include/boost/stacktrace.hpp").exists():
        pytest.skip("not installed: libboost-stacktrace-dev")
    shell = Shell(tmp_path, **installed)
    (tmp_path / "program.cc").write_text(BOOST)
    link, preloaded = lines_of("backtrace.md", "sh", 1)
    shell.run(link)
    for command in ("./program", preloaded):
        assert re.search(r" deep\(\) at \S*program\.cc:3", shell.run(command)), shell.run(command)


OVERFLOW = """#include <cstdlib>
__attribute__((noinline)) int read_behind(int *p) { return p[4]; }
int main() { int *p = static_cast<int *>(std::malloc(16)); return read_behind(p); }
"""


@pytest.mark.plain_build
def test_reports_of_sanitizers(tmp_path, installed):
    need("pkg-config")
    need("clang++")
    (tmp_path / "program.cc").write_text(OVERFLOW)
    shell = Shell(tmp_path, **installed)
    line, = lines_of("backtrace.md", "sh", 2)
    shell.run(line)
    report = shell.run("env PATH=/nonexistent ./program || [ $? = 1 ]")
    assert re.search(r"in read_behind\(int\*\) \S*program\.cc:2", report), report


# ---- server.md ----

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def server_page(tmp_path):
    """A shell with the server of the page running, and a file of more than a MiB to send it."""
    need("curl")
    (tmp_path / "build").mkdir()
    build(tmp_path / "build", SHAPES, "gcc", "-O1")
    build(tmp_path, SHAPES + "const char filler[3 << 20] = { 1 };\n", "gcc", "-O1", "-shared", "-fPIC", "-Wl,--build-id=sha1", out="libshop.so")
    shell = Shell(tmp_path, TOKEN="secret")
    if "no server" in shell.run("callsign --version"):
        pytest.skip("built without the server's libraries")
    (tmp_path / "tokens").write_text("secret\n")
    port = str(free_port())
    add, serve, upload, gdb = lines_of("server.md", "sh")
    assert gdb.endswith(" gdb build/app")  # tests/cli/test_serve_clients.py has gdb
    shell.run(add)
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(["bash", "-c", "exec " + serve.replace("8788", port)], cwd=tmp_path, env=shell.environment, stdout=log,
                                   stderr=log)
    try:
        wait_for(lambda: f"listening on http://127.0.0.1:{port}/" in (tmp_path / "log").read_text())
        yield shell, port, upload.replace("8788", port)
    finally:
        process.terminate()
        assert process.wait(30) == 0


def test_server_takes_a_file(server_page):
    shell, port, upload = server_page
    assert "build_id" in shell.run(upload)
    build_id = re.search("Build ID: ([0-9a-f]+)", shell.run("readelf -n libshop.so"))[1]
    assert shell.run(f"curl -sf http://127.0.0.1:{port}/buildid/{build_id}/debuginfo | cmp - libshop.so") == ""


def test_server_goes_on_with_a_file(server_page):
    shell, port, _ = server_page
    names, ask, rest = (line.replace("8788", port) for line in lines_of("server.md", "sh", 1))
    first = f'head -c 1048576 libshop.so | curl -sT - -H "Authorization: Bearer $TOKEN" -H "Content-Range: bytes 0-1048575/$SIZE" "$URL"'
    output = shell.run("\n".join([names, first, ask, rest]))
    assert re.search(r"^HTTP/1.1 308 .*^Range: bytes=0-1048575\r$", output, re.M | re.S), output
    assert output.count('"build_id"') == 1
