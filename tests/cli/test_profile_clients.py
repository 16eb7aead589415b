"""Profiles of samply, and the Firefox Profiler's own code: it reads what callsign profile writes, and it and samply get names from
callsign serve. profiler-cli (npm: @firefox-devtools/profiler-cli) is the profiler's loader, upgrader and call trees for node."""
import json
import pathlib
import re
import signal
import subprocess
import urllib.request

import pytest

from programs import need
from test_serve import Server, has_server  # noqa: F401 (fixture)

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
RECORDED = DATA / "profiles" / "samply.json"
IMAGES = {name: DATA / "stacks" / name for name in ("orders", "liborders.so")}
GIVEN = ["--no-search", *(word for path in IMAGES.values() for word in ("-i", path))]
STACK = ["_start", "0x27304", "0x27249", "main", "orders_load", "parse_line", "check", "on_check"]  # libc is not given


def answers_of_samply():
    """{(image, address): [(function, line), innermost first]} of what is in one of the images here."""
    known = json.loads((DATA / "profiles" / "samply.syms.json").read_text())
    out = {}
    for image in known["data"]:
        for address, symbol in image["known_addresses"]:
            at = image["symbol_table"][symbol]
            frames = at.get("frames", [{"function": at["symbol"]}])
            out[image["debug_name"], address] = [(known["string_table"][f["function"]], f.get("line")) for f in frames]
    return {key: frames for key, frames in out.items() if key[0] in IMAGES}


def frames_by_address(profile):
    """The same of a profile: frames of one address in the order of inlineDepth, innermost first."""
    out = {}
    for thread in profile["threads"]:
        # samply's and ours have the tables in different places
        tables = {**profile.get("shared", {}), **thread}
        strings = tables.get("stringArray", tables.get("stringTable"))
        frames, functions, resources = tables["frameTable"], tables["funcTable"], tables["resourceTable"]
        for i in range(frames["length"]):
            function = frames["func"][i]
            resource = functions["resource"][function]
            image = profile["libs"][resources["lib"][resource]]["name"] if resource >= 0 else ""
            key = (image, frames["address"][i])
            out.setdefault(key, {})[frames["inlineDepth"][i]] = (strings[functions["name"][function]], frames["line"][i])
    return {key: [found[depth] for depth in sorted(found, reverse=True)] for key, found in out.items()}


@pytest.fixture
def named(callsign, tmp_path):
    callsign.good("profile", RECORDED, "-o", tmp_path / "named.json", *GIVEN)
    return tmp_path / "named.json"


def test_names_and_lines_are_those_of_samply(named):
    wanted = answers_of_samply()
    found = frames_by_address(json.loads(named.read_text()))
    assert len(wanted) == 9 and {key: found[key] for key in wanted if key != ("orders", 4400)} \
        == {key: frames for key, frames in wanted.items() if key != ("orders", 4400)}
    # samply takes an underscore away, and gives no line.
    assert wanted["orders", 4400] == [("start", None)] and [name for name, _ in found["orders", 4400]] == ["_start"]


def test_every_form_has_all_samples(callsign, tmp_path):
    """Written in each form, and read again: the same stacks and weights."""
    want = [";".join(f"libc.so.6+{int(name, 16) + 1:#x}" if name.startswith("0x") else name for name in STACK)] # folded stacks have return addresses
    for kind in ("json", "pb.gz", "otlp", "otlp.json", "perf", "folded"):
        path = tmp_path / f"out.{kind}"
        callsign.good("profile", RECORDED, "-o", path, *GIVEN)
        # The text of perf has no place for the image of an inlined call: the index brings it along.
        callsign.good("profile", path, "-o", tmp_path / "again.folded", *(GIVEN if kind == "perf" else ["--no-search"]))
        counts = {}
        for line in (tmp_path / "again.folded").read_text().splitlines():
            stack, count = line.rsplit(" ", 1)
            counts[stack] = counts.get(stack, 0) + int(count)
        assert list(counts) == want and counts[want[0]] == 100, kind


def run_profiler(tmp_path, profile, *options):
    """The call tree that the Firefox Profiler makes of the thread with samples."""
    tool = need("profiler-cli")

    def run(*words):
        done = subprocess.run([tool, *map(str, words)], capture_output=True, text=True, timeout=120,
                              env={"HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin"})
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    try:
        run("load", profile, *options)
        return json.loads(run("thread", "samples-top-down", "--json"))["regularCallTree"]
    finally:
        run("stop", "--all")


def chains(node):
    """[(names, own samples)] from the root on."""
    own = [([], node["selfSamples"])] if node["selfSamples"] else []
    for child in node["children"]:
        own += [([child["name"], *names], count) for names, count in chains(child)]
    return own


def test_firefox_profiler_reads_ours(tmp_path, named):
    """Of libc's frames it asks its symbol server, which is not there."""
    assert chains(run_profiler(tmp_path, named, "--symbol-server", "http://127.0.0.1:9")) == [(STACK, 100)]


@pytest.mark.usefixtures("has_server")
def test_firefox_profiler_asks_for_what_we_did_not_name(callsign, tmp_path):
    """Our output said that it was symbolicated, whatever had no name."""
    callsign.run("profile", RECORDED, "-o", tmp_path / "bare.json", "--no-search", "-q")
    assert chains(run_profiler(tmp_path, tmp_path / "bare.json", "--symbol-server", "http://127.0.0.1:9"))[0][0][0].startswith("0x")
    callsign.good("store", "add", "--store", tmp_path / "store", *IMAGES.values())
    with Server(callsign, tmp_path / "store") as server:
        tree = run_profiler(tmp_path, tmp_path / "bare.json", "--symbol-server", server.url)
    assert chains(tree) == [(STACK, 100)]


@pytest.mark.usefixtures("has_server")
def test_firefox_profiler_gets_names_from_our_server(callsign, tmp_path):
    callsign.good("store", "add", "--store", tmp_path / "store", *IMAGES.values())
    with Server(callsign, tmp_path / "store") as server:
        tree = run_profiler(tmp_path, RECORDED, "--symbol-server", server.url)
    found = chains(tree)
    assert len(found) == 1 and [name for name in found[0][0] if "0x" not in name] == [name for name in STACK if "0x" not in name]
    assert found[0][1] == 100


@pytest.mark.usefixtures("has_server")
def test_samply_gets_names_from_our_server(callsign, tmp_path):
    """Without the images at the paths that the profile has, samply asks for Breakpad's symbol files."""
    tool = need("samply")
    moved = tmp_path / "moved.json"
    moved.write_text(RECORDED.read_text().replace("/opt/app/", "/nowhere/"))
    callsign.good("store", "add", "--store", tmp_path / "store", *IMAGES.values())
    wanted = answers_of_samply()
    libs = {lib["name"]: lib["breakpadId"] for lib in json.loads(RECORDED.read_text())["libs"]}
    body = {"memoryMap": [[name, libs[name]] for name in IMAGES], "stacks": [[[list(IMAGES).index(image), address] for image, address in wanted]]}
    with Server(callsign, tmp_path / "store") as server:
        samply = subprocess.Popen([tool, "load", moved, "--no-open", "--breakpad-symbol-server", server.url, "--breakpad-symbol-cache",
                                   tmp_path / "cache"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            url = next(found[1] for line in samply.stdout if (found := re.search(r"symbolServer=(\S+)", line)))
            request = urllib.request.Request(urllib.request.unquote(url) + "/symbolicate/v5", json.dumps(body).encode())
            answer = json.load(urllib.request.urlopen(request, timeout=60))
        finally:
            samply.send_signal(signal.SIGINT)
            samply.communicate(timeout=60)
    result, = answer["results"]
    found = {key: [(inlined["function"], inlined.get("line")) for inlined in frame.get("inlines", [])] + [(frame["function"], frame.get("line"))]
             for key, frame in zip(wanted, result["stacks"][0], strict=True)}
    found["orders", 4400] = [("start", None)] if found["orders", 4400][0][0] == "_start" else found["orders", 4400]
    assert found == wanted
