"""Each public header compiles alone, as C17 and as C++17, with gcc and clang, without a warning; and so does a program
that uses every header's initialisers and enums."""
import pathlib
import subprocess

import pytest

from programs import need

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = sorted(path.name for path in (ROOT / "include" / "callsign").glob("*.h"))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
LANGUAGES = [("gcc", "c", "c17"), ("clang", "c", "c17"), ("clang-22", "c", "c17"),
             ("g++", "c++", "c++17"), ("clang++", "c++", "c++17"), ("clang++-22", "c++", "c++17")]

USE = """
#include <callsign/callsign.h>
int use(void);
int use(void) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index_options index = CSN_INDEX_OPTIONS_INIT;
    struct csn_builder_options builder = CSN_BUILDER_OPTIONS_INIT;
    struct csn_convert_options convert = CSN_CONVERT_OPTIONS_INIT;
    struct csn_companion_search_options search = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    csn_status status = CSN_OK;
    return status == CSN_OK && err.code == CSN_OK && index.struct_size && builder.struct_size && convert.struct_size &&
           search.struct_size;
}
"""


def compile_text(compiler, language, standard, text):
    done = subprocess.run([need(compiler), "-x", language, f"-std={standard}", *WARNINGS, "-fsyntax-only",
                           f"-I{ROOT / 'include'}", "-"], input=text, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_there_are_headers():
    assert {"builder.h", "callsign.h", "convert.h", "error.h", "index.h", "line_table.h", "symbolicate.h"} <= set(HEADERS)


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("compiler, language, standard", LANGUAGES, ids=[entry[0] for entry in LANGUAGES])
def test_alone_and_twice(compiler, language, standard, header):
    compile_text(compiler, language, standard, f"#include <callsign/{header}>\n" * 2)


@pytest.mark.parametrize("compiler, language, standard", LANGUAGES, ids=[entry[0] for entry in LANGUAGES])
def test_initialisers(compiler, language, standard):
    compile_text(compiler, language, standard, USE)


@pytest.mark.parametrize("header", HEADERS)
def test_no_other_header_of_the_project(header):
    """A public header names no file but the standard's and other public ones."""
    allowed = {"<stddef.h>", "<stdint.h>", "<stdbool.h>", *(f"<callsign/{name}>" for name in HEADERS)}
    for line in (ROOT / "include" / "callsign" / header).read_text().splitlines():
        if line.startswith("#include"):
            assert line.split()[1] in allowed, line
