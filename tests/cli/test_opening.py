"""What commands are given: opened once, and messages that say what is wrong with it."""
import os
import re
import subprocess

import pytest

from programs import UNDER_STRACE, need

SOURCE = "int square(int x) { return x * x; }\nint main(int argc, char **argv) { return square(argc); }\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """app, its index app.gsym, carrier with the index in it, stack.txt: frames of it; and stripped."""
    path = tmp_path_factory.mktemp("opening")
    (path / "app.c").write_text(SOURCE)
    subprocess.run([need("gcc"), "-g", "-O1", "app.c", "-o", "app"], cwd=path, check=True)
    subprocess.run([need("strip"), "app", "-o", "stripped"], cwd=path, check=True)
    (path / "stack.txt").write_text("app+0x1139\n")
    (path / "empty").write_bytes(b"")
    (path / "words.txt").write_text("neither this nor that\n")
    return path


@pytest.fixture(scope="module")
def ready(built, callsign):
    callsign.good("convert", built / "app", "-o", built / "app.gsym", "-q")
    callsign.good("embed", built / "app.gsym", built / "app", "-o", built / "carrier")
    return built


@pytest.mark.parametrize("line", [
    "lookup app.gsym 0x1139", "lookup app 0x1139", "lookup carrier 0x1139", "convert app -o out.gsym", "convert app.gsym -o out.gsym",
    "stack -i app.gsym stack.txt", "stack -i app stack.txt", "dump app.gsym --summary", "dump app --summary",
    "explain app.gsym 0x1139", "explain app 0x1139", "stats app.gsym", "verify app.gsym --against app", "diff app.gsym carrier",
    "embed app.gsym app -o out", "extract carrier -o out.gsym"])
def test_a_path_is_opened_once(ready, callsign, line):
    strace = need("strace")
    done = subprocess.run([strace, "-f", "-e", "trace=open,openat", "-o", "trace", callsign.path, *line.split()], cwd=ready,
                          capture_output=True, text=True, env={**os.environ, **UNDER_STRACE})
    if "ptrace" in done.stderr.lower():
        pytest.skip("strace may not trace here")
    assert done.returncode in (0, 1), done.stderr
    opened = re.findall(r'open(?:at)?\([^"]*"([^"]+)"', (ready / "trace").read_text())
    for name in ("app", "app.gsym", "carrier"):
        assert opened.count(name) == (name in line.split()), (name, opened)


@pytest.mark.parametrize("command", [["lookup", "{}", "1"], ["convert", "{}", "-o", "out"], ["dump", "{}"], ["stats", "{}"],
                                     ["explain", "{}", "1"], ["verify", "{}"], ["diff", "{}", "{}"], ["stack", "-i", "{}"],
                                     ["embed", "{}", "app", "-o", "out"]])
@pytest.mark.parametrize("name,text", [("empty", "the file is empty"), ("words.txt", "neither an index nor an object file")])
def test_what_is_no_input(ready, callsign, command, name, text):
    error = callsign.bad(*(part.format(name) for part in command), cwd=ready)
    assert error == f"callsign: {name}: {text}"


def test_a_stripped_program(built, callsign, tmp_path):
    """Its build id, where its debug file was looked for, and whether servers are asked."""
    tail = r"build id [0-9a-f]{40}; no debug file under /nowhere and 1 more; DEBUGINFOD_URLS is not set"
    dirs = ["--debug-dir", "/nowhere", "--debug-dir", "/nowhere2"]
    for command in (["lookup", built / "stripped", "1"], ["convert", built / "stripped", "-o", tmp_path / "out"]):
        error = callsign.bad(*command, *dirs, env={"DEBUGINFOD_URLS": ""})
        assert re.fullmatch(rf"callsign: \S+/stripped: no functions found, nothing to write; {tail}", error), error
    with_secrets = {"DEBUGINFOD_URLS": "http://me:s3cret@127.0.0.1:1/a?sig=s3cret http://127.0.0.1:2/?s3cret", "DEBUGINFOD_CACHE_PATH": str(tmp_path)}
    error = callsign.bad("convert", built / "stripped", "-o", tmp_path / "out", *dirs, env=with_secrets)
    assert error.endswith("; DEBUGINFOD_URLS is http://127.0.0.1:1/a http://127.0.0.1:2/"), error
    # With symbols there is an index all the same.
    subprocess.run([need("strip"), "-g", built / "app", "-o", tmp_path / "symbols"], check=True)
    done = callsign.run("lookup", tmp_path / "symbols", "1", *dirs, env={"DEBUGINFOD_URLS": ""})
    assert re.fullmatch(rf"\S+/symbols: no debug information, symbols only; {tail}\n", done.stderr), done.stderr
    quiet = callsign.run("convert", tmp_path / "symbols", "-o", tmp_path / "out", "-q", *dirs)
    assert quiet.stderr == "" and quiet.returncode == 0


@pytest.mark.parametrize("line,meant", [("lokup x", "lookup"), ("stak", "stack"), ("versoin", "--version"), ("--hlep", "--help"),
                                        ("lookup --demngle x", "--demangle"), ("lookup --jso x", "--json"),
                                        ("convert --segment=3 x", "--segment-size"), ("stack --in-plcae", "--in-place")])
def test_misspelt(callsign, line, meant):
    assert f": did you mean '{meant}'? (try 'callsign " in callsign.bad(*line.split())


@pytest.mark.parametrize("line", ["zzz", "lookup --xyzzy a", "lookup -Z a", "lookup --= a", "--" + "x" * 200])
def test_no_guess_without_likeness(callsign, line):
    error = callsign.bad(*line.split())
    assert "unknown" in error and "did you mean" not in error


def test_normal_merges_are_quiet(built, callsign, tmp_path):
    usual = callsign.run("convert", built / "app", "-o", tmp_path / "out.gsym")
    verbose = callsign.run("convert", built / "app", "-o", tmp_path / "out.gsym", "--verbose")
    assert "merged" not in usual.stderr and len(usual.stderr.splitlines()) == 1
    assert "merged: duplicate-dropped" in verbose.stderr


def test_an_address_of_a_running_process(ready, callsign):
    """lookup and explain tell what to do with it; an address in a gap of the file gets no such hint."""
    hint = "looks like an address of a running process: 'callsign lookup' takes those with --pid, --maps or --load-address"
    for address in ("0x555555555139", "0x7ffff7e5a139", "0xaaaae5a10139"):
        done = callsign.run("lookup", ready / "app.gsym", address, "0x1139")
        assert done.returncode == 1 and done.stderr == f"{address} {hint}\n"
        assert f"\n  hint        it {hint}\n" in callsign.run("explain", ready / "app.gsym", address).stdout
    done = callsign.run("lookup", ready / "app.gsym", stdin="0x555555555139\n0x7ffff7e5a139\n")
    assert done.returncode == 1 and done.stderr == f"0x555555555139 {hint}\n"
    explained = callsign.run("explain", ready / "app.gsym", "0x8000").stdout
    assert "the last function that starts at or below is _fini 0x" in explained and "hint" not in explained
    assert callsign.run("lookup", ready / "app.gsym", "0x8000").stderr == ""
