"""Each public header compiles alone, as C17 and as C++17, with gcc and clang, without a warning; and so does a program
that uses every header's initialisers and enums."""
import pathlib
import re
import subprocess

import pytest

from programs import need

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = sorted(path.name for path in (ROOT / "include" / "callsign").glob("*.h"))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
LANGUAGES = [("gcc", "c", "c17"), ("clang", "c", "c17"), ("clang-22", "c", "c17"),
             ("g++", "c++", "c++17"), ("clang++", "c++", "c++17"), ("clang++-22", "c++", "c++17")]

INITIALISERS = sorted({match for name in HEADERS for match in
                       re.findall(r"#define (CSN_\w+)_INIT[ \n]", (ROOT / "include" / "callsign" / name).read_text())})


def use_of(initialiser):
    """A function that makes the struct in both ways."""
    struct = initialiser.lower()
    return f"""
int use_{struct}(void);
int use_{struct}(void) {{
    struct {struct} made = {initialiser}_INIT, set;
    {struct}_init(&set);
    return sizeof made == sizeof set;
}}
"""


def compile_text(compiler, language, standard, text):
    done = subprocess.run([need(compiler), "-x", language, f"-std={standard}", *WARNINGS, "-fsyntax-only",
                           f"-I{ROOT / 'include'}", "-"], input=text, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_there_are_headers():
    assert {"base.h", "binaries.h", "builder.h", "callsign.h", "convert.h", "embed.h", "error.h", "index.h", "inspect.h",
            "line_table.h", "names.h", "symbolicate.h"} <= set(HEADERS)


def test_the_umbrella_includes_every_header():
    text = (ROOT / "include" / "callsign" / "callsign.h").read_text()
    missing = [name for name in HEADERS if name != "callsign.h" and f"#include <callsign/{name}>" not in text]
    assert not missing


@pytest.mark.parametrize("compiler, language, standard", LANGUAGES, ids=[entry[0] for entry in LANGUAGES])
def test_string_literals(compiler, language, standard):
    compile_text(compiler, language, standard, """#include <callsign/base.h>
size_t length(void);
size_t length(void) { struct csn_str name = CSN_STR("euser.dll"); return name.len + CSN_STR("x").len; }
""")


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("compiler, language, standard", LANGUAGES, ids=[entry[0] for entry in LANGUAGES])
def test_alone_and_twice(compiler, language, standard, header):
    compile_text(compiler, language, standard, f"#include <callsign/{header}>\n" * 2)


@pytest.mark.parametrize("compiler, language, standard", LANGUAGES, ids=[entry[0] for entry in LANGUAGES])
def test_initialisers(compiler, language, standard):
    """Each CSN_X_INIT has its csn_x_init(), and both compile."""
    assert len(INITIALISERS) >= 12
    compile_text(compiler, language, standard, "#include <callsign/callsign.h>\n" + "".join(map(use_of, INITIALISERS)))


@pytest.mark.parametrize("header", HEADERS)
def test_no_other_header_of_the_project(header):
    """A public header names no file but the standard's and other public ones."""
    allowed = {"<stddef.h>", "<stdint.h>", "<stdbool.h>", *(f"<callsign/{name}>" for name in HEADERS)}
    for line in (ROOT / "include" / "callsign" / header).read_text().splitlines():
        if line.startswith("#include"):
            assert line.split()[1] in allowed, line
