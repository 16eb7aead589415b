"""Figures in the documentation come from result files: bench/doc_tables.py writes them, and nothing else may."""

import collections
import json
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "bench/doc_tables.py"
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
PAGES = sorted(str(path.relative_to(ROOT)) for path in TEXTS if "<!-- table " in path.read_text(encoding="utf-8"))


def run(*words):
    return subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True)


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_those_of_the_result_files(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- table " in text
    done = run("--check", ROOT / page)
    assert done.returncode == 0, done.stdout


def test_pages_with_figures_have_tables():
    """A page that loses its last table would not be looked at any more."""
    assert {"README.md", "CONTRIBUTING.md", "docs/performance.md", "docs/backtrace.md", "docs/demangling.md", "docs/stand-ins.md", "docs/languages.md", "docs/server.md",
            "docs/differences-from-llvm-gsymutil.md", "docs/server-at-scale.md", "docs/engines.md", "docs/fuzzing.md", "docs/merged-functions.md",
            "docs/profiles.md", "docs/symbols.md"} <= set(PAGES)


def test_result_files_that_pages_name():
    """Each is there; each that is there for a table of today is named."""
    named = {name for path in TEXTS for name in re.findall(r"bench/results/([0-9a-z.-]+\.[a-z]+)", path.read_text(encoding="utf-8"))}
    assert len(named) > 15
    for name in named:
        assert (ROOT / "bench/results" / name).is_file(), name


def test_an_edited_figure_is_found(tmp_path):
    text = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    edited = re.sub(r"(\| vmlinux \| 1 \| )\d", r"\g<1>9", text, count=1)
    assert edited != text
    page = tmp_path / "performance.md"
    page.write_text(edited, encoding="utf-8")
    done = run("--check", page)
    assert done.returncode == 1 and "differs from its result file" in done.stdout
    assert run(page).returncode == 0 and page.read_text(encoding="utf-8") == text


def test_every_result_file_says_its_command():
    """Written by a program: a result that nobody can repeat is none."""
    for path in sorted((ROOT / "bench/results").glob("*.json")):
        text = path.read_text(encoding="utf-8")
        assert '"command"' in text or ('"program"' in text and '"arguments"' in text), path.name


def table(text, name):
    """The rows of a table that bench/doc_tables.py wrote, as dictionaries."""
    block = text.partition(f"<!-- table {name} ")[2].partition("<!-- end of table")[0]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines() if line.startswith("|")]
    return [dict(zip(head, row)) for row in rows]


def number(text):
    return float(text.replace(",", ""))


def test_sentences_about_accelerators_are_those_of_the_tables():
    """Two to four times as fast, and how large the file gets."""
    text = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    plain = {row["addresses"]: number(row["callsign, ns"]) for row in table(text, "lookups")}
    factors = [plain[f"{row['input']}, {which}"] / number(row[f"{which}, ns"]) for row in table(text, "stored")
               for which in ("by function", "by byte")]
    assert len(factors) == 6 and round(min(factors)) == 2 and round(max(factors)) == 4
    assert "lookups are two to four times as fast" in text
    sizes = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    index = next(row for row in table(sizes, "sizes") if row[""] == "index")
    for row in table(text, "stored"):
        factor = number(row["file, MB: ours / symcache"].split()[0]) / number(index[row["input"]].split()[0])
        assert 1.39 < factor < 2.25, row
    for page in ("man/callsign-accelerate.1", "man/callsign-convert.1"):
        assert "becomes 1.4 to 2.2 times as large" in (ROOT / page).read_text(encoding="utf-8")


def test_what_a_process_costs_at_least_is_that_of_the_table():
    text = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    rows = table(text, "one_address")
    factors = sorted(round(number(row["llvm-gsymutil, ms"]) / number(row["a program that does no more, ms"])) for row in rows)
    assert len(factors) == 3
    assert f"only {factors[0]} to {factors[-1]} times as fast as llvm-gsymutil" in " ".join(text.split())


def test_what_a_conversion_costs_at_least_is_that_of_the_result_file():
    text = " ".join((ROOT / "docs/performance.md").read_text(encoding="utf-8").split())
    results = json.loads((ROOT / re.search(r"<!-- table conversion (\S+) -->", text)[1]).read_text(encoding="utf-8"))
    shares = {}
    for row in results["floor"]:
        theirs = next(run["wall_s"] for run in results["convert"] if (run["input"], run["threads"], run["tool"]) == (row["input"], 1, "llvm-gsymutil"))
        allowed = theirs * 1000 / (8 if row["input"] == "ceph-osd" else 10)
        shares[row["input"]] = round(100 * sum(row[f"{step}_ms"] for step in ("inflating", "touching", "compiling_plans", "stepping")) / allowed)
    assert f"take {shares['libc']} % of the time that libc's goal allows, {shares['vmlinux']} % of vmlinux's and {shares['ceph-osd']} % of ceph-osd's" in text


def test_each_find_of_fuzzing_is_told():
    """Each run that ended with a find, by target and commit, as often as it is recorded: "`commit`" or "`commit` (times)", for each target of the row."""
    runs = json.loads((ROOT / "bench/results/fuzzing.json").read_text(encoding="utf-8"))["runs"]
    found = collections.Counter((run["target"], run["commit"]) for run in runs if run["crashed"])
    text, told = (ROOT / "docs/fuzzing.md").read_text(encoding="utf-8"), collections.Counter()
    for names, commits in re.findall(r"^\| ([a-z_, ]+) \| .* \| (.*) \|$", text.partition("## What was found")[2], re.M):
        for commit, times in re.findall(r"`([0-9a-f]+)`(?: \((\d+)\))?", commits):
            told.update({(name, commit): int(times or 1) for name in names.split(", ")})
    assert found and told == found


def test_packs_of_fuzzing_are_named():
    text = " ".join((ROOT / "docs/fuzzing.md").read_text(encoding="utf-8").split())
    said = re.search(r"ten have a pack there: ([a-z_, ]+) and ([a-z_]+)\.", text)
    assert sorted([*said[1].split(", "), said[2]]) == sorted(path.name.removesuffix(".tar.xz") for path in (ROOT / "fuzz/grown").glob("*.tar.xz"))


def test_budgets_of_fuzzing_have_each_target():
    """A row for each target, and each was measured."""
    rows = re.findall(r'^    \{ "(\w+)", ', (ROOT / "fuzz/budget/budget_rows.c").read_text(encoding="utf-8"), re.M)
    targets = sorted(path.stem.removeprefix("fuzz_") for path in (ROOT / "fuzz").glob("fuzz_*.c"))
    measured = json.loads((ROOT / "bench/results/fuzzing.json").read_text(encoding="utf-8"))["budgets"]
    assert sorted(rows) == sorted([*targets, "sample"]) and [row["target"] for row in measured] == targets
    assert all(row["time_share"] <= 0.5 and row["heap_share"] <= 0.5 for row in measured)


def test_budgets_of_fuzzing_have_the_limits_that_are_promised():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("## Limits")[2]
    promised = {name: value.replace("(uint64_t)", "") for value, name in re.findall(r"^\| .* \| `(.*)` \| `(\w+)` \|", text, re.M)}
    rows = (ROOT / "fuzz/budget/budget_rows.c").read_text(encoding="utf-8")
    said = {constant: value.replace("MIB", "1024") for value, constant in re.findall(r"^    \w+ = (.*), /\* ([A-Z_]+)\b", rows, re.M)}
    assert sorted(said) == ["DEFLATE_MAX_RATIO", "HEAP_LIMIT_KIB", "MAX_DECODER_MEMORY", "MEMORY_MAX"]
    for constant, value in said.items():
        unit = 1024 if constant in ("MAX_DECODER_MEMORY", "MEMORY_MAX") else 1
        assert eval(value) * unit == eval(promised[constant]), constant


def test_speed_of_logs_is_that_of_the_result_file():
    text = " ".join((ROOT / "docs/performance.md").read_text(encoding="utf-8").split())
    name = re.search(r"`bench/run-logs --save`, (bench/results/[0-9a-z.-]+\.json)", text)[1]
    largest = {log: sizes["998 MB"]["mb_per_cpu_s"] for log, sizes in json.loads((ROOT / name).read_text(encoding="utf-8"))["results"].items()}
    said = [*map(int, re.findall(r"\b\d{3}\b", text.partition("passes `callsign stack --in-place` at ")[2].partition("; memory")[0]))]
    assert len(said) == 8 and said[:2] == [min(largest.values()), max(largest.values())]
    assert set(said) <= set(largest.values())
