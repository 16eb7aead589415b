"""scripts/check-includes finds each kind of forbidden include, and nothing in a tree without any."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/check-includes"

GOOD = {
    "include/callsign/error.h": "#include <stddef.h>\n",
    "src/base/core/span.h": "#include <callsign/error.h>\n",
    "src/model/model.h": '#include "base/core/span.h"\n',
    "src/dwarf/dwarf.h": '#include "base/core/span.h"\n',
    "src/object/object.h": '#include "base/core/span.h"\n',
    "src/formats/gsym/gsym_layout.h": "",
    "src/formats/gsym/read/gsym.h": '#include "formats/gsym/gsym_layout.h"\n',
    "src/formats/gsym/read/gsym_read.c": '#include "formats/gsym/read/gsym.h"\n#include <string.h>\n',
    "src/formats/gsym/write/gsym_write.c": '#include "formats/gsym/gsym_layout.h"\n#include "model/model.h"\n',
    "src/index/index_open.c": '#include "formats/gsym/read/gsym.h"\ncsn_status csn_index_open(int x) {\n}\n',
    "src/convert/convert.c": '#include "dwarf/dwarf.h"\n#include "object/object.h"\n#include "formats/gsym/read/gsym.h"\n',
    "cli/commands/main.c": '#include "ui/options.h"\n#include <callsign/error.h>\n',
    "cli/ui/options.h": "",
}


def check(tmp_path, **changes):
    for name, text in {**GOOD, **changes}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode()


def test_a_tree_without_violations(tmp_path):
    assert check(tmp_path) == (0, "include graph: as the layer table has it\n")


@pytest.mark.parametrize("name, text, rule", [
    ("src/dwarf/dwarf_line.c", '\n#include "object/object.h"\n', "src/dwarf must not know src/object"),
    ("src/object/elf/elf.c", '\n#include "dwarf/dwarf.h"\n', "src/object must not know src/dwarf"),
    ("src/base/core/vec.c", '\n#include "model/model.h"\n', "src/base/core must not know src/model"),
    ("src/formats/gsym/read/gsym_x.c", '\n#include "model/model.h"\n', "src/formats/gsym/read must not know src/model"),
    ("src/formats/gsym/write/gsym_x.c", '\n#include "dwarf/dwarf.h"\n', "src/formats/gsym/write must not know src/dwarf"),
    ("src/model/model.c", '\n#include "formats/gsym/read/gsym.h"\n', "src/model must not know src/formats/gsym/read"),
    ("src/model/model.c", '\n#include "formats/gsym/gsym_layout.h"\n', "src/model must not know the wire layout"),
    ("src/index/walk.c", '\n#include "model/model.h"\n', "src/index must not know src/model"),
    ("src/symbolicate/names.c", '\n#include "formats/gsym/read/gsym.h"\n', "src/symbolicate must not know src/formats"),
    ("src/convert/sources/ask.c", "\n    return csn_index_open(1);\n", "src/convert must not call csn_index_open() of src/index"),
    ("src/base/core/vec.c", '\n#include "../model/model.h"\n', "does not exist under src/"),
    ("cli/dump/dump.c", '\n#include "formats/gsym/read/gsym.h"\n', "cli/ may include public headers only"),
    ("cli/dump/dump.c", '\n#include "../src/gsym/gsym.h"\n', "cli/ may include public headers only"),
    ("examples/look.c", '\n#include <formats/gsym/read/gsym.h>\n', "examples/ may include public headers only"),
    ("include/callsign/index.h", '\n#include "base/core/span.h"\n', "a public header may include"),
    ("include/callsign/index.h", "\n#include <callsign/convert.h>\n", "<callsign/index.h> must not include <callsign/convert.h>"),
    ("include/callsign/base.h", "\n#include <callsign/index.h>\n", "<callsign/base.h> must not include <callsign/index.h>"),
], ids=lambda value: value.split("/")[-1] if "/" in value and "\n" not in value else "")
def test_a_forbidden_include_is_named(tmp_path, name, text, rule):
    status, out = check(tmp_path, **{name: text})
    assert status == 1
    assert out.startswith(f"{name}:2: ") and rule in out


def test_names_are_unique(tmp_path):
    status, out = check(tmp_path, **{"src/model/span.h": ""})
    assert status == 1 and "src/model/span.h:0: the name stands at src/base/core/span.h too" in out


def test_a_folder_that_is_no_layer(tmp_path):
    status, out = check(tmp_path, **{"src/util/misc.h": ""})
    assert status == 1 and "src/util is no layer" in out


def test_folders_of_a_program_in_a_circle(tmp_path):
    status, out = check(tmp_path, **{"cli/ui/options.h": '#include "lookup/answer.h"\n',
                                     "cli/lookup/answer.h": '\n#include "stack/session.h"\n', "cli/stack/session.h": '#include "ui/options.h"\n'})
    assert status == 1
    assert out.splitlines()[0] == "cli/lookup/answer.h:2: cli/stack includes cli/lookup, itself or through others: a circle"
    assert "cli/commands" not in out and len(out.splitlines()) == 3
