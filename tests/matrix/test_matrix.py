"""Every cell of the support matrix (docs/support-matrix.md): container x packaging x producer."""
import os
import pathlib
import shutil
import subprocess

import pytest

from matrix_answers import addresses_of, answers, convert, index_stacks, is_same_stack, symbolizer_stacks
from matrix_cells import all_cells

HERE = pathlib.Path(__file__).parent
MAIN = {"main", "_Z4mainv"} # each platform has its own way to start a program, or leaves it out
CELLS = {cell.name: cell for cell in all_cells()}


def run_steps(steps, folder):
    folder.mkdir()
    os.symlink(HERE / "sources", folder / "src")
    for step in steps:
        done = subprocess.run(step, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, (step, done.stdout[-2000:], done.stderr[-2000:])


@pytest.fixture(scope="module")
def baselines(tmp_path_factory):
    """Each baseline is built once."""
    built = {}

    def make(steps, source):
        key = str(steps)
        if key not in built:
            built[key] = tmp_path_factory.mktemp("baseline") / "b"
            run_steps(steps, built[key])
        index = built[key] / (source.replace("/", "_") + ".gsym")
        if not index.exists():
            convert(built[key] / source, index, "--quiet")
        return index
    return make


def nesting(stacks):
    """Which functions are inlined into which: it stays the same under another code generator."""
    return {tuple(frame[0] for frame in stack) for stack in stacks}


def check_shape(got, want, function):
    """Another code generator: the same nesting; lines come and go with the instructions that they have."""
    assert nesting(got) == nesting(want), function
    got_lines, want_lines = ({frame for stack in stacks for frame in stack} for stacks in (got, want))
    assert {line[1] for line in got_lines} == {line[1] for line in want_lines}, function
    assert len(got_lines & want_lines) * 2 >= len(got_lines | want_lines), (function, got_lines ^ want_lines)


# What llvm-symbolizer 22 cannot judge, and why.
NOT_JUDGED = {
    ("elf", "zdebug"): "it no longer reads .zdebug sections",
    ("elf", "function-sections"): "it takes addresses of relocatable objects as offsets in any section",
    ("mach-o", "debug-map"): "it reads no debug map without a dSYM",
    ("mach-o", "debug-map-archive"): "it reads no debug map without a dSYM",
}
LINES_ALONE = {
    ("elf", "dwz-supplement"): "it gives no names that the supplement has",
    ("elf", "dwz-supplement-5"): "it gives no names that the supplement has",
    ("elf", "relocatable"): "it takes a symbol at that offset of any section, and knows lines of the first section alone",
    ("wasm", "module"): "it takes offsets in the code section for offsets in the file when it reads the name section",
}


def check_against_symbolizer(cell, folder, index):
    """The addresses of the index are those of the image, and the answers those of the debug information itself."""
    kind = cell.container, cell.packaging
    if kind in NOT_JUDGED:
        return
    chosen = dict(zip(cell.options, cell.options[1:]))
    image = folder / chosen.get("--debug-file", cell.source)
    if cell.packaging == "dsym-bundle":
        image = image / "Contents" / "Resources" / "DWARF" / "prog"
    options = [f"--default-arch={chosen['--arch']}"] if "--arch" in chosen else []
    if "--debug-dir" in chosen:
        options.append(f"--debug-file-directory={folder / chosen['--debug-dir']}")
    addresses = addresses_of(index)
    ours, theirs = index_stacks(index, addresses), symbolizer_stacks(image, addresses, *options)
    wrong = [(hex(a), ours[a], theirs[a]) for a in addresses if not is_same_stack(ours[a], theirs[a], kind not in LINES_ALONE)]
    assert len(addresses) > 100
    assert not wrong, (len(wrong), wrong[:3])
    assert 2 * sum(bool(theirs[a][-1][2]) for a in addresses) > len(addresses)


@pytest.mark.parametrize("name", CELLS)
def test_cell(name, tmp_path, baselines):
    cell = CELLS[name]
    missing = cell.missing_tools() + [tool for tool in ("llvm-symbolizer-22", "c++filt") if not shutil.which(tool)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    want_index = baselines(*cell.baseline)
    folder = tmp_path / "cell"
    run_steps(cell.steps, folder)
    index = tmp_path / "cell.gsym"
    options = [str(folder / o) if before in ("--debug-file", "--debug-dir") else o
               for before, o in zip(("", *cell.options), cell.options)]
    convert(folder / cell.source, index, "--quiet", *options)
    check_against_symbolizer(cell, folder, index)
    if cell.mode == "exact":
        got, want = answers(index, by_address=True), answers(want_index, by_address=True)
        assert want and got == want
        return
    got, want = answers(index), answers(want_index)
    if cell.mode == "shape":
        for index_answers in (got, want):
            for name in MAIN & set(index_answers):
                del index_answers[name]
    assert want and set(got) == set(want)
    for function in want:
        if cell.mode == "stacks":
            assert got[function] == want[function], function
        else:
            check_shape(got[function], want[function], function)


def test_document_lists_the_cells():
    """docs/support-matrix.md has a row for each container and packaging, with how it is compared, and no other."""
    text = (HERE.parents[1] / "docs" / "support-matrix.md").read_text(encoding="utf-8")
    table = text.split("## Machines")[0]
    rows = [[field.strip() for field in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    documented = {(row[0], row[1]): set(row[4].split(", ")) for row in rows[1:]}
    tested = {}
    for cell in CELLS.values():
        tested.setdefault((cell.container, cell.packaging), set()).add(cell.mode)
    assert documented == tested
