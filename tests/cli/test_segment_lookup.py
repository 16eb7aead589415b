"""Lookups through the list of segments that convert --segment-size writes."""
import json
import resource

import pytest


@pytest.fixture(scope="module")
def indexes(callsign, classes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("segments")
    callsign.good("convert", classes.path, "-o", folder / "whole", "-q")
    size = (folder / "whole").stat().st_size // 3
    callsign.good("convert", classes.path, "-o", folder / "parts", "-q", "--segment-size", size)
    return folder / "whole", folder / "parts-manifest.json"


def segments(manifest):
    return json.loads(manifest.read_text())["segments"]


def addresses(manifest):
    """Every seventh byte from before the first function to behind the last, and each segment's border."""
    listed = segments(manifest)
    assert len(listed) > 2
    first, last = int(listed[0]["start"], 16), int(listed[-1]["end"], 16)
    return [*range(first - 20, last + 20, 7), *(int(s["start"], 16) - step for s in listed for step in (0, 1))]


@pytest.mark.parametrize("options", [[], ["--json"], ["--llvm"], ["--return-addresses"], ["--slide", "40"], ["--slide", "-10"]])
def test_segments_answer_like_the_whole_index(callsign, indexes, options):
    whole, manifest = indexes
    text = "".join(f"{address:x}\n" for address in addresses(manifest))
    want = callsign.run("lookup", whole, *options, stdin=text)
    got = callsign.run("lookup", manifest, *options, stdin=text)
    assert (got.returncode, got.stdout, got.stderr) == (want.returncode, want.stdout, want.stderr)
    assert want.stdout.count("main") > 1


def test_names_and_ranges(callsign, indexes):
    whole, manifest = indexes
    listed = segments(manifest)
    over_all = f"{listed[0]['start']}-{listed[-1]['end']}"
    for query in ["main+0x4", over_all]:
        want = callsign.good("lookup", whole, query)
        assert callsign.good("lookup", manifest, query) == want
        assert "main" in want
    got = callsign.run("lookup", manifest, "nowhere+0x4")
    assert got.returncode == 2 and "nowhere" in got.stderr


def test_only_segments_that_are_needed_are_opened(callsign, indexes, tmp_path):
    _, manifest = indexes
    listed = segments(manifest)
    copy = tmp_path / manifest.name
    copy.write_text(manifest.read_text())
    present = manifest.parent / ("parts" + listed[1]["suffix"])
    (tmp_path / present.name).write_bytes(present.read_bytes())
    assert "+ 0" in callsign.good("lookup", copy, listed[1]["start"])
    got = callsign.run("lookup", copy, listed[0]["start"], listed[1]["start"])
    assert got.returncode == 1 and "parts" + listed[0]["suffix"] in got.stderr
    assert len(got.stdout.splitlines()) >= 2


@pytest.mark.parametrize("change, message", [
    (lambda m: m["segments"].clear(), "lists no segments"),
    (lambda m: m["segments"][1].pop("start"), "segment 2 has no 'start'"),
    (lambda m: m["segments"][0].update(start="main"), "segment 1: 'start' is 'main'"),
    (lambda m: m["segments"][0].update(suffix="/../x"), "segment 1: 'suffix' is '/../x', need '-0x"),
    (lambda m: m["segments"].reverse(), "segment 2 starts at 0x"),
])
def test_a_damaged_list(callsign, indexes, tmp_path, change, message):
    manifest = json.loads(indexes[1].read_text())
    change(manifest)
    path = tmp_path / "parts-manifest.json"
    path.write_text(json.dumps(manifest, separators=(",", ":")))
    error = callsign.bad("lookup", path, "1000")
    assert str(path) in error and message in error


def test_a_list_cut_short_or_renamed(callsign, indexes, tmp_path):
    text = indexes[1].read_text()
    path = tmp_path / "parts-manifest.json"
    for size in range(len('{"segment_size":'), len(text.rstrip()), 11):
        path.write_text(text[:size])
        assert str(path) in callsign.bad("lookup", path, "1000")
    other = tmp_path / "list.json"
    other.write_text(text)
    assert "only lookup reads it, under a name that ends in -manifest.json" in callsign.bad("lookup", other, "1000")


def test_no_segments_of_a_conversion_that_fails(callsign, indexes, classes, tmp_path):
    """Segments before the one that failed stayed, and replaced those of an earlier conversion."""
    size = indexes[0].stat().st_size // 8
    callsign.good("convert", classes.path, "-o", tmp_path / "parts", "-q", "--segment-size", size)
    manifest = tmp_path / "parts-manifest.json"
    sizes = [segment["bytes"] for segment in segments(manifest)]
    first_too_large = next(k for k in range(1, len(sizes)) if sizes[k] > max(sizes[:k]))
    limit = sizes[first_too_large] - 1

    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    old = [tmp_path / ("parts" + segment["suffix"]) for segment in segments(manifest)[:2]] + [manifest]
    for path in list(tmp_path.iterdir()):
        path.unlink()
    for has_old in (False, True):
        for path in old if has_old else []:
            path.write_text("old")
        line = callsign.bad("convert", classes.path, "-o", tmp_path / "parts", "-q", "--segment-size", size, preexec_fn=no_room)
        assert line.endswith("File too large")
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {path.name: "old" for path in old if has_old}
