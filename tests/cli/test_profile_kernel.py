"""Frames of the kernel's modules in the text of perf."""
import json

import pytest

import gsym_make
from profile_bytes import Pprof


def frame(address, name, image="[kernel.kallsyms]"):
    return f"\t{address:16x} {name} ({image})\n"


def sample(i, *frames):
    return f"app 7/7 {i + 1}.000000: 1 cycles: \n{''.join(frames)}\n"


def profile(callsign, tmp_path, text, *options, to="folded"):
    """(names of stacks with their counts, or what was written; standard error)"""
    (tmp_path / "in").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = callsign.run("profile", tmp_path / "in", "--to", to, "-o", tmp_path / "out", "--no-search", "--no-demangle", *options)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "out").read_bytes()
    return (dict(line.rsplit(" ", 1) for line in written.decode().splitlines()) if to == "folded" else written), done.stderr


MODULES = [(0xffffffffc0a31139, "nft_do_chain+0x19", "[nf_tables]"), (0xffffffffc0a31239, "[unknown]", "[ext4]"), (0x55d000001239, "[unknown]", "[heap]"),
           (0xffffffffc0a31339, "foo+0x9", "/lib/modules/6.1.0/kernel/fs/xfs/xfs.ko.xz"), (0x7ffd00001239, "[unknown]", "[stack]")]


@pytest.mark.parametrize("between", [None, "pprof", "otlp", "perf-script"])
def test_names_of_modules_without_an_index(callsign, tmp_path, between):
    """They were lost: "([unknown])", and no mapping."""
    source = "".join(sample(i, frame(*place)) for i, place in enumerate(MODULES))
    if between:
        source = profile(callsign, tmp_path, source, to=between)[0]
    written, _ = profile(callsign, tmp_path, source, to="perf-script")
    assert [line for line in written.decode().splitlines() if line.startswith("\t")] == [
        frame(at, name.partition("+")[0], image)[:-1] for at, name, image in MODULES]
    found = Pprof(profile(callsign, tmp_path, source, to="pprof")[0])
    assert [location["mapping"]["file"] for stack, _, _ in found.samples for location in stack] == [image for _, _, image in MODULES]
    libs = json.loads(profile(callsign, tmp_path, source, to="firefox")[0])["libs"]
    assert {lib["path"] for lib in libs} == {image for _, _, image in MODULES}


def test_one_name_of_a_module(callsign, tmp_path):
    """What its index has, and what it lacks."""
    gsym_make.write(tmp_path / "nf_tables.gsym", [{"start": 0x1000, "size": 0x80, "name": "nft_do_chain", "line": 240}])
    text = sample(0, frame(0xffffffffc0a31139, "nft_do_chain+0x19", "[nf_tables]"), frame(0xffffffffc0a41139, "other+0x19", "[nf_tables]"))
    found = Pprof(profile(callsign, tmp_path, text, "-s", tmp_path, to="pprof")[0])
    assert [(location["lines"][0][0], location["lines"][0][2], location["mapping"]["file"]) for location in found.samples[0][0]] == [
        ("nft_do_chain", 240, "[nf_tables]"), ("other", 0, "[nf_tables]")]
    assert len(found.mappings) == 1
