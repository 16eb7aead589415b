"""GSYM version 2, indexes written anew, byte orders, segments."""
import json
import re
import struct
import subprocess

import pytest

import programs


def convert(callsign, source, out, *options):
    done = callsign.run("convert", source, "-o", out, *options)
    assert done.returncode == 0, done.stderr
    return out


def records(callsign, index):
    """What a dump says, but for what depends on the form of the file."""
    kept = []
    for line in callsign.good("dump", "--json", index).splitlines():
        row = json.loads(re.sub(r'"record_offset":\d+,?', "", line).replace(",}", "}"))
        if "header" in row:
            row["header"] = {key: row["header"][key] for key in ("base_address", "build_id", "functions", "files")}
        kept.append(row)
    return kept


def test_the_same_answers(callsign, shapes, shapes_index, tmp_path):
    v2 = convert(callsign, shapes.path, tmp_path / "2", "--to", "gsym-v2")
    assert v2.read_bytes()[:6] == b"MYSG\2\0"
    assert records(callsign, v2) == records(callsign, shapes_index)
    addresses = "\n".join(hex(a) for a in range(shapes.mark("main") - 64, shapes.mark("main") + 256))
    assert callsign.run("lookup", v2, stdin=addresses).stdout == callsign.run("lookup", shapes_index, stdin=addresses).stdout
    assert "0 problems" in callsign.good("verify", v2)
    assert "0 problems" in callsign.good("verify", v2, "--against", shapes.path)


def test_dump_names_the_version(callsign, shapes, tmp_path):
    v2 = convert(callsign, shapes.path, tmp_path / "2", "--to", "gsym-v2", "--endian", "big")
    assert callsign.good("dump", "-s", v2).splitlines()[0] == f"{v2}: GSYM version 2, big-endian"
    header = json.loads(callsign.good("dump", "--json", v2).splitlines()[0])["header"]
    assert header["version"] == 2
    sections = {section["type"]: section for section in header["sections"]}
    assert {1: "address_table", 2: "record_offsets", 3: "strings", 4: "file_table", 5: "records"}.items() <= \
        {kind: section["name"] for kind, section in sections.items()}.items()
    assert sections[3]["size"] == header["string_bytes"] and sections[2]["size"] == 8 * header["functions"]
    assert max(int(section["offset"], 16) + section["size"] for section in sections.values()) <= header["file_size"]
    text = callsign.good("dump", "-s", v2)
    assert f"\n  sections        {header['sections'][0]['type']} " in text
    for section in sections.values():
        assert f" {section['type']} {section['name']} at {section['offset']}, {section['size']} bytes\n" in text


def test_auto_is_version_1_where_that_will_do(callsign, shapes, shapes_index, tmp_path):
    out = convert(callsign, shapes.path, tmp_path / "out", "--to", "gsym-auto")
    assert out.read_bytes() == shapes_index.read_bytes()


def build_with_long_id(tmp_path):
    path = tmp_path / "long_id"
    source = tmp_path / "long_id.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run([programs.need("gcc"), "-g", source, "-o", path, "-Wl,--build-id=0x" + "ab" * 24], check=True)
    return path


def test_version_1_names_its_limit(callsign, tmp_path):
    program = build_with_long_id(tmp_path)
    message = callsign.bad("convert", program, "--to", "gsym", "-o", tmp_path / "1", "-q")
    assert message.endswith("the build id has 24 bytes, GSYM version 1 holds 20; version 2 (--to gsym-v2) has room")
    assert not (tmp_path / "1").exists()
    for to in ("gsym-v2", "gsym-auto"):
        out = convert(callsign, program, tmp_path / to, "--to", to)
        assert out.read_bytes()[4] == 2
        assert json.loads(callsign.good("dump", "--json", out).splitlines()[0])["header"]["build_id"] == "ab" * 24
    message = callsign.bad("convert", tmp_path / "gsym-v2", "--to", "gsym", "-o", tmp_path / "1", "-q")
    assert "the build id has 24 bytes" in message


def test_version_2_is_chosen_by_itself(callsign, shapes, tmp_path):
    """Without --to, where version 1 cannot hold the input, and only there; said, unless --quiet."""
    program = build_with_long_id(tmp_path)
    for quiet in ((), ("-q",)):
        done = callsign.run("convert", program, "-o", tmp_path / "out", *quiet)
        assert done.returncode == 0 and (tmp_path / "out").read_bytes()[4] == 2
        assert ("out: written as GSYM version 2, because version 1 cannot hold it ('--to gsym' says why)" in done.stderr) == (not quiet)
    done = callsign.run("convert", shapes.path, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes()[4] == 1 and "GSYM version" not in done.stderr


def test_there_and_back(callsign, classes, tmp_path):
    """An index of ours is the same again, whatever form it had in between."""
    forms = {}
    for to in ("gsym", "gsym-v2"):
        for endian in ("little", "big"):
            forms[to, endian] = convert(callsign, classes.path, tmp_path / f"{to}-{endian}", "--to", to, "--endian", endian)
    assert len({path.read_bytes() for path in forms.values()}) == 4
    for (to, endian), want in forms.items():
        for source in forms.values():
            out = convert(callsign, source, tmp_path / "out", "--to", to, "--endian", endian)
            assert out.read_bytes() == want.read_bytes(), (source, to, endian)


def test_an_index_keeps_its_byte_order(callsign, shapes, tmp_path):
    big = convert(callsign, shapes.path, tmp_path / "big", "--endian", "big")
    assert convert(callsign, big, tmp_path / "again").read_bytes() == big.read_bytes()
    assert big.read_bytes()[:4] == b"GSYM"


CALL_SITES = """functions:
  - name: main
    callsites:
      - return_offset: 0x10
        match_regex: ["^twice$", "b.*"]
        flags: ["InternalCall", "ExternalCall"]
      - return_offset: 0x20
        match_regex: []
"""

FOLDED = """\
__attribute__((noinline)) int once(int x) { return x * 7 + 1; }
__attribute__((noinline)) int twice(int x) { return x * 7 + 1; }
int main(int argc, char **argv) { return once(argc) + twice((int)(long)argv); }
"""


@pytest.fixture(scope="module")
def folded(tmp_path_factory):
    """An index with merged functions and call sites, by the reference tool."""
    folder = tmp_path_factory.mktemp("folded")
    gcc, _gold, tool = (programs.need(name) for name in ("gcc", "ld.gold", "llvm-gsymutil-22"))
    (folder / "folded.c").write_text(FOLDED)
    (folder / "sites.yaml").write_text(CALL_SITES)
    subprocess.run([gcc, "-g", "-O1", "-ffunction-sections", "-fno-ipa-icf", "-fuse-ld=gold", "-Wl,--icf=all",
                    folder / "folded.c", "-o", folder / "folded"], check=True)
    subprocess.run([tool, "--convert", folder / "folded", "-o", folder / "folded.gsym", "--merged-functions",
                    f"--callsites-yaml-file={folder}/sites.yaml"], check=True, stdout=subprocess.DEVNULL)
    return folder / "folded.gsym"


def test_merged_functions_and_call_sites_stay(callsign, folded, tmp_path):
    want = records(callsign, folded)
    functions = [row["function"] for row in want if "function" in row]
    assert [child["name"] for f in functions for child in f.get("merged", [])]
    assert [site["patterns"] for f in functions for site in f.get("call_sites", [])] == [["^twice$", "b.*"], []]
    v2 = convert(callsign, folded, tmp_path / "2", "--to", "gsym-v2", "--endian", "big")
    assert records(callsign, v2) == want
    v1 = convert(callsign, v2, tmp_path / "1", "--endian", "little")
    assert records(callsign, v1) == want
    llvm = subprocess.run([programs.need("llvm-gsymutil-22"), v1], check=True, stdout=subprocess.PIPE).stdout.decode()
    assert "Merged FunctionInfos[0]" in llvm and "MatchRegex[^twice$;b.*]" in llvm


def segments_of(out):
    manifest = json.loads((out.parent / f"{out.name}-manifest.json").read_text())
    for segment in manifest["segments"]:
        segment["path"] = out.parent / (out.name + segment["suffix"])
    return manifest["segments"]


@pytest.mark.parametrize("to", ["gsym", "gsym-v2"])
def test_segments(callsign, classes, tmp_path, to):
    whole = convert(callsign, classes.path, tmp_path / "whole", "--to", to)
    out = tmp_path / "parts"
    size = whole.stat().st_size // 3
    done = callsign.run("convert", classes.path, "-o", out, "--to", to, "--segment-size", size)
    assert done.returncode == 0
    segments = segments_of(out)
    assert len(segments) > 1 and f"{len(segments)} segments" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["whole", "parts-manifest.json"] + [segment["path"].name for segment in segments])
    want = [row for row in records(callsign, whole) if "function" in row]
    got = []
    for segment in segments:
        assert segment["path"].stat().st_size == segment["bytes"]
        assert "0 problems" in callsign.good("verify", segment["path"])
        own = [row for row in records(callsign, segment["path"]) if "function" in row]
        assert len(own) == segment["functions"] and own[0]["function"]["start"] == segment["start"]
        got += own
    assert got == want
    again = convert(callsign, whole, tmp_path / "again", "--to", to, "--segment-size", size)
    for segment, other in zip(segments_of(again), segments, strict=True):
        assert segment["path"].read_bytes() == other["path"].read_bytes()


def test_segments_keep_merged_functions_and_call_sites(callsign, folded, tmp_path):
    out = convert(callsign, folded, tmp_path / "parts", "--segment-size", 300)
    got = [row for segment in segments_of(out) for row in records(callsign, segment["path"]) if "function" in row]
    assert got == [row for row in records(callsign, folded) if "function" in row]


def test_a_segment_size_that_is_too_small(callsign, shapes, tmp_path):
    message = callsign.bad("convert", shapes.path, "-o", tmp_path / "out", "-q", "--segment-size", 20)
    assert message.endswith("a segment of no functions has 61 bytes, the segment size is 20")
    assert not list(tmp_path.iterdir())


def test_segments_of_another_format(callsign, shapes, tmp_path):
    message = callsign.bad("convert", shapes.path, "-o", tmp_path / "out", "--to", "bsym", "--segment-size", "1M")
    assert message.endswith("option '--segment-size' needs '--to gsym', 'gsym-v2' or 'gsym-auto'")
    assert not list(tmp_path.iterdir())


def test_damage_is_told(callsign, index, tmp_path):
    data = bytearray(index.read_bytes())
    struct.pack_into("<I", data, len(data) - 4, 77)  # the length of the last record's end mark
    index.write_bytes(data)
    done = callsign.run("convert", index, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "damaged-record" in done.stderr
    assert callsign.run("convert", index, "-o", tmp_path / "strict", "--strict").returncode == 2


def test_an_index_is_its_own_output(callsign, index):
    before = index.read_bytes()
    assert "is the input itself" in callsign.bad("convert", index, "-o", index)
    assert index.read_bytes() == before
