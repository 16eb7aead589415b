"""tests/corpus/zoo excuses a difference only if readelf, objdump or llvm-dwarfdump prove the excuse."""
import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "corpus"
SOURCE = """#include <stdio.h>
static inline int scale(int v) { return v * 3 + 1; }
__attribute__((noinline)) int twice(int v) { puts("x"); return scale(v); }
int main(int argc, char **argv) { (void)argv; return twice(argc); }
"""


@pytest.fixture(scope="module")
def zoo():
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_loader("zoo", importlib.machinery.SourceFileLoader("zoo", str(FOLDER / "zoo")))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def facts(zoo, tmp_path_factory):
    for tool in ("gcc", "readelf", "objdump", "llvm-dwarfdump-22"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("zoo")
    (folder / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "-g", "p.c", "-o", "program"], cwd=folder, check=True)
    return zoo.Facts(folder / "program")


@pytest.fixture(scope="module")
def twice(facts):
    return next(address for address, _, _, name in facts.symbols if name == "twice")


def test_equal_answers_agree(zoo):
    answer = [("f", "/src/a.c", 3)]
    assert zoo.kind_of(None, 1, answer, list(answer), set()) is None


@pytest.mark.parametrize("ours", [("twice", "/elsewhere/p.c", 3), ("twice", "/elsewhere/p.c", 99), ("another", "/src/p.c", 3)],
                         ids=["folder", "line", "name"])
def test_what_no_tool_proves_is_not_excused(zoo, facts, twice, ours):
    assert zoo.kind_of(facts, twice, [("twice", "/src/p.c", 3)], [ours], set()) == "unproved"


def test_a_line_is_excused_if_a_row_has_it(zoo, facts, twice):
    _, path, line = facts.rows_at(twice)[0]
    assert line == 3
    assert zoo.kind_of(facts, twice, [("twice", "", 0)], [("twice", path, 3)], set()) == "more line"
    assert zoo.kind_of(facts, twice, [("twice", "", 0)], [("twice", path, 4)], set()) == "unproved"


def test_a_stub_is_excused_if_objdump_names_it(zoo, facts, twice):
    facts.stub_at(0)
    address = next(begin for begin, _, label in facts.stubs if label == "puts@plt")
    assert zoo.kind_of(facts, address, [("_init", "", 0)], [("puts@plt", "", 0)], set()) == "stub"
    assert zoo.kind_of(facts, address, [("_init", "", 0)], [("gets@plt", "", 0)], set()) == "unproved"
    assert zoo.kind_of(facts, twice, [("_init", "", 0)], [("puts@plt", "", 0)], set()) == "unproved"


def test_no_answer_within_a_function_is_not_padding(zoo, facts, twice):
    rows = {start for start, _, _ in facts.rows_at(twice)}
    assert zoo.kind_of(facts, twice, [("", "/src/p.c", 3)], [], rows) == "unproved"


def test_an_inlined_call_that_lacks_is_not_excused(zoo, facts, twice):
    both = [("scale", "/src/p.c", 2), ("twice", "/src/p.c", 3)]
    assert zoo.kind_of(facts, twice, both, both[1:], set()) == "unproved"
