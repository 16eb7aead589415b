"""The bindings that build the library themselves build it as CMake does."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = (ROOT / "bindings/rust/callsign-sys/build.rs").read_text(encoding="utf-8")


def test_rust_uses_the_optional_libraries():
    wanted = re.findall(r"^csn_optional\((\w+) (\S+)\)", (ROOT / "cmake/dependencies.cmake").read_text(encoding="utf-8"), re.M)
    assert wanted and re.findall(r'^    \("(\w+)", "([^"]+)"\),', BUILD, re.M) == wanted


def test_rust_embeds_the_files():
    text = (ROOT / "cmake/library.cmake").read_text(encoding="utf-8")
    names = re.findall(r"^csn_embed\(\S+ \S*/src/(\S+) (\w+) (\S+)\)", text, re.M)
    assert names and re.findall(r'\("([^"]+)", "(\w+)", "([^"]+)"\)', BUILD.partition("EMBEDDED")[2].partition("];")[0]) == names
