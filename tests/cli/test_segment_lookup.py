"""Lookups through the list of segments that convert --segment-size writes."""
import json
import resource
import shutil
import subprocess

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


def test_members_of_the_list_that_are_not_read(callsign, indexes, tmp_path):
    _, manifest = indexes
    for part in manifest.parent.glob("parts-0x*"):
        shutil.copy(part, tmp_path)
    want = callsign.good("lookup", manifest, segments(manifest)[1]["start"])
    copy = tmp_path / manifest.name
    for value in (b"1e400", b"9223372036854775808", b'"\\ud800"', b'"\xff"'):
        copy.write_bytes(manifest.read_bytes().rstrip()[:-1] + b',"x":' + value + b"}\n")
        assert callsign.good("lookup", copy, segments(manifest)[1]["start"]) == want
    copy.write_bytes(manifest.read_bytes().rstrip()[:-1] + b',\n"x":}\n')
    assert f"{copy.name}: line 7: no value" in callsign.bad("lookup", copy, "0")


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
    (lambda m: m.pop("segments"), "lists no segments"),
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


SMALL = 500


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.is_symlink()}


@pytest.fixture
def split_again(callsign, classes, tmp_path):
    """A folder with the program and how its segments end; a second conversion would write the same ones."""
    callsign.good("convert", classes.path, "-o", tmp_path / "old", "-q", "--segment-size", SMALL)
    suffixes = [segment["suffix"] for segment in segments(tmp_path / "old-manifest.json")] + ["-manifest.json"]
    assert len(suffixes) >= 3
    shutil.copy(classes.path, tmp_path / "app")
    return tmp_path, suffixes


def assert_refused(callsign, folder, *arguments):
    before = files_of(folder)
    line = callsign.bad("convert", *arguments, "-q", "--segment-size", SMALL, cwd=folder)
    assert files_of(folder) == before
    return line


def test_segments_do_not_replace_the_input(callsign, split_again):
    """A program named as one of its segments was replaced by that, and nothing was said."""
    folder, suffixes = split_again
    for suffix in suffixes:
        (folder / ("p" + suffix)).symlink_to("app")
        line = assert_refused(callsign, folder, "app", "-o", "p")
        assert f"the output p{suffix} is a file that the conversion reads" in line
        (folder / ("p" + suffix)).unlink()
    callsign.good("convert", "app", "-o", "p", "-q", "--segment-size", SMALL, cwd=folder)


def test_segments_do_not_replace_the_segment_that_is_split(callsign, split_again):
    folder, suffixes = split_again
    assert "is a file that the conversion reads" in assert_refused(callsign, folder, "old" + suffixes[0], "-o", "old")


def test_segments_do_not_replace_companions(callsign, split_again):
    folder, suffixes = split_again
    subprocess.run(["objcopy", "--only-keep-debug", "app", "debug"], cwd=folder, check=True)
    subprocess.run(["objcopy", "--strip-all", "--add-gnu-debuglink=debug", "app", "app.st"], cwd=folder, check=True)
    (folder / ("d" + suffixes[1])).symlink_to("debug")
    for options in ([], ["--debug-file", "debug"]):
        line = assert_refused(callsign, folder, "app.st", "-o", "d", *options)
        assert f"the output d{suffixes[1]} is a file that the conversion reads" in line
    (folder / ("d" + suffixes[1])).unlink()
    (folder / "debug").rename(folder / ("d" + suffixes[1]))
    assert "is the file of --debug-file" in assert_refused(callsign, folder, "app.st", "-o", "d", "--debug-file", "d" + suffixes[1])


def test_segments_do_not_replace_call_sites(callsign, split_again):
    folder, suffixes = split_again
    (folder / ("c" + suffixes[0])).write_text("# none\n")
    line = assert_refused(callsign, folder, "app", "-o", "c", "--call-sites", "c" + suffixes[0])
    assert "is a file that the conversion reads" in line


@pytest.mark.parametrize("name", ["r-manifest.json", "r-0x1", "./r-0xabc", "link"])
def test_the_report_is_no_segment(callsign, split_again, name):
    folder, _ = split_again
    (folder / "link").symlink_to("r-manifest.json")
    line = assert_refused(callsign, folder, "app", "-o", "r", "--report", name)
    assert "is the file of --report, and may be that of a segment" in line
    for other in ("r-0x", "r-0xq", "s-0x1", "r.json"):
        callsign.good("convert", "app", "-o", "r", "-q", "--segment-size", SMALL, "--report", other, cwd=folder)
        assert json.loads((folder / other).read_text())["segments_written"]
