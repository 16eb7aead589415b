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
TEXTS = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")), *sorted((ROOT / "docs").rglob("*.md"))]
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
    """Each is there, and each that is there is named, itself or as the text that the same run wrote."""
    named = {name for path in TEXTS for pattern in (r"bench/results/([0-9a-z.-]+\.[a-z]+)", r"`(\d{4}-\d\d-\d\d-[a-z-]+\.[a-z]+)`")
             for name in re.findall(pattern, path.read_text(encoding="utf-8"))}
    assert len(named) > 30
    there = {path.name for path in (ROOT / "bench/results").iterdir()}
    assert sorted(named - there) == []
    stems = {name.rpartition(".")[0] for name in named}
    assert sorted(name for name in there if name.rpartition(".")[0] not in stems) == []


def test_prose_has_figures_of_result_files():
    """Where a sentence names a value of a file, or no table cell could hold it."""
    text = words("docs/server-at-scale.md")
    results = json.loads((ROOT / re.search(r"\(`kb_of_an_open_index` in (bench/results/\S+\.json)\)", text)[1]).read_text())
    assert f"An open index takes {results['memory']['kb_of_an_open_index']} KB" in text
    sizes = results_of("sizes", words("docs/performance.md"))["sizes"]
    assert f"{sizes['ceph-osd']['Breakpad, by callsign'] / 1e6:.1f} now" in words("docs/formats/breakpad.md")
    profiles = words("docs/profiles.md")
    assert "samply" in json.dumps(results_of("profiles", profiles)["results"]) or "which the machine below did not have" in profiles


def test_answers_that_were_not_compared_are_not_told_to_be():
    text = words("docs/engines.md")
    alone = {row["what"].split()[0] for row in results_of("spark_runs", text)["runs"] if row.get("master") == "spark" and row.get("same_answers") is None
             and row["what"].startswith(("symbolic", "addr2line"))}
    assert alone == {"symbolic's", "addr2line"}
    assert "those of `symbolic` and addr2line are not" in text and "compares all answers" not in text


def test_killed_servers_lost_nothing():
    text = words("docs/server.md")
    results = json.loads((ROOT / re.search(r"`bench/run-kills --save`, (bench/results/\S+\.json)", text)[1]).read_text())
    assert results["lost"] == results["half"] == []
    assert f"of {results['begun']:,} uploads in which {results['kills']} kills fell, {results['acknowledged']:,} were answered" in text


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


def words(page):
    """A page's text without its line breaks."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def results_of(name, text):
    """The result file that a table of the page is made of."""
    return json.loads((ROOT / re.search(rf"<!-- table {name} (\S+) -->", text)[1]).read_text(encoding="utf-8"))


def test_sentences_about_accelerators_are_those_of_the_tables():
    """How many times as fast, and how large the file gets."""
    text = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    plain = {row["addresses"]: number(row["callsign, ns"]) for row in table(text, "lookups")}
    factors = [plain[f"{row['input']}, {which}"] / number(row[f"{which}, ns"]) for row in table(text, "stored")
               for which in ("by function", "by byte")]
    assert len(factors) == 6
    for page in ("docs/performance.md", "README.md", "man/callsign-convert.1"):
        assert f"lookups {'are ' if page.startswith('docs') else ''}{min(factors):.1f} to {max(factors):.1f} times as fast" in words(page), page
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


def test_goals_of_a_process_are_reached_where_the_page_says_so():
    """1.2 times the program that does no more, and 12 times llvm-gsymutil, by the result files and not by what a table rounds."""
    text = words("docs/performance.md")
    processes = results_of("one_address", text)["process"]
    wall = {(row["input"], row["tool"]): row["wall_s"] for row in processes}
    inputs = list(dict.fromkeys(row["input"] for row in processes))
    shares = {tool: [wall[name, tool] / wall[name, "floor"] for name in inputs] for tool in ("callsign", "callsign, stored")}
    assert max(shares["callsign, stored"]) <= 1.2 < min(shares["callsign"])
    assert ("The second is reached with a stored accelerator; without one a lookup takes "
            f"{min(shares['callsign']):.2f} to {max(shares['callsign']):.2f} times.") in text
    assert min(wall[name, "llvm-gsymutil"] / wall[name, "callsign"] for name in inputs) >= 12
    wall = {(row["input"], row["tool"]): row["wall_s"] for row in results_of("processes", text)["process"] if row["what"] == "one address"}
    assert [name for name, tool in wall if tool == "callsign" and wall[name, "llvm-gsymutil"] / wall[name, tool] >= 12] == ["ceph-osd"]
    assert "The first is reached in the first table, and in the second for ceph-osd alone" in text


def test_opening_is_bounded_by_what_was_measured():
    """No result file has opening alone; a process with one lookup beside one with none bounds it."""
    text = words("docs/performance.md")
    wall = {(row["input"], row["tool"]): row["wall_s"] for row in results_of("one_address", text)["process"]}
    more = [1e3 * (seconds - wall[name, "callsign --version"]) for (name, tool), seconds in wall.items() if tool == "callsign"]
    assert f"takes {min(more):.1f} to {max(more):.1f} ms more than `callsign --version`" in text
    assert [page for page in ("README.md", "docs/performance.md") if "takes microseconds" in words(page)] == []


def test_requests_of_a_first_lookup_are_those_of_the_result_file():
    rows = results_of("remote", words("docs/symbols.md"))["inputs"]["ceph-osd"]["remote layout"].values()
    assert max(row["bytes"]["max"] for row in rows) == 512 << 10 and max(row["requests"]["max"] for row in rows) == 6
    within = sum(count for row in rows for requests, count in row["requests"]["counts"].items() if int(requests) <= 5)
    assert (within, sum(row["addresses"] for row in rows)) == (999, 1000)
    assert "takes at most 512 KiB, and five requests but for one in a thousand, which takes six" in words("man/callsign-accelerate.1")
    assert "takes at most 512 KiB and hardly ever more than five requests" in words("man/callsign-convert.1")
    assert "of 1,000 addresses of ceph-osd's index 999 take at most 5 requests of one range each and one takes 6" in words("CHANGELOG.md")


def test_growth_is_that_of_the_result_file():
    """Also what is about twice: no average is above the limit of bench/growth --check, and no memory doubles."""
    text = words("docs/performance.md")
    results = results_of("growth", text)
    averages = [(rows[-1]["instructions"] / rows[0]["instructions"]) ** (1 / (len(rows) - 1)) for rows in (results["units"], *results["shapes"].values())]
    limit = re.search(r"^TOO_MUCH = (\S+)$", (ROOT / "bench/growth").read_text(), re.M)[1]
    assert f"more than {limit} times on average" in text and max(averages) <= float(limit)
    assert "about twice the instructions" in text or max(averages) <= 2
    grown = table((ROOT / "docs/performance.md").read_text(encoding="utf-8"), "growth")
    assert len(grown) == len(averages) and max(number(row["times the memory, average"]) for row in grown) < 2


def test_a_page_calls_no_machine_idle_that_had_a_load():
    """"Idle" of a table's measurement: its result file has the load."""
    for page in PAGES:
        for part in re.split(r"^#+ ", (ROOT / page).read_text(encoding="utf-8"), flags=re.M):
            loads = [load for name in re.findall(r"<!-- table \S+ (\S+) -->", part)
                     for load in re.findall(r'load(?:_before)?(?:": | )([0-9.]+)', (ROOT / name).read_text(encoding="utf-8"))]
            assert not re.search(r"\bidle machine\b|\bno other load\b", part) or all(float(load) < 0.5 for load in loads), (page, part[:60])


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


def test_the_log_of_breakpad_files_says_what_its_files_say():
    """Each file that a paragraph names, with the load and the factors of all threads; those of an earlier commit's file are not compared."""
    text = words("docs/performance-log.md")
    passages = re.findall(r"load of ([\d.]+) before(?:, [a-z ]+)?(?:, (?:five|since)[^(]*|\), since[^(]*)\(`(\d{4}-\d\d-\d\d-breakpad\.json)`[^)]*\), all threads: ([^;:]*?)(?:\. |; )(?![0-9])", text)
    assert len(passages) == 4
    for load, name, said in passages:
        results = json.loads((ROOT / "bench/results" / name).read_text())
        assert float(load) == round(results["machine"]["load_before"], 1), name
        numbers = [*map(float, re.findall(r"\d+\.\d+", said))]
        rows = [row for row in results["rows"] if row["tool"] == "callsign"]
        assert len(numbers) == 2 * len(rows) == 8, (name, said)
        for faster, memory, row in zip(numbers[::2], numbers[1::2], rows):
            assert abs(faster - row["faster"]) <= 0.051 and abs(memory - row["memory"]) <= 0.0051, (name, row["input"])


def test_the_log_counts_workloads_and_sizes_as_they_are():
    text = words("docs/performance-log.md")
    budgets = [line for line in (ROOT / "bench/instruction-budgets.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert len(budgets) == 12 and "compares twelve workloads with the budgets" in text
    sizes = json.loads((ROOT / re.search(r"`bench/sizes` \(`(bench/results/[\d.a-z-]+)`", text)[1]).read_text())["sizes"].values()
    for what, said in (("the same without STACK records", "dump_syms 2.3.9's Breakpad files"), ("Breakpad, by callsign", "our own")):
        factors = "{:.1f}, {:.1f} and {:.1f}".format(*(of[what] / of["index"] for of in sizes))
        assert f"{factors} times smaller than {said}" in text
