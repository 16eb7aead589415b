"""Man pages and completions have every option that the command has, and no other."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from long_tests import SANITIZED_ONE_IN

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLSIGN = os.environ.get("CALLSIGN", str(ROOT / "build/release/callsign"))
COMMANDS = ("convert", "lookup", "stack", "explain", "dump", "verify", "diff", "stats", "accelerate", "embed", "extract", "dialects", "cache", "find", "udf", "profile", "store", "serve")


def options_of(command):
    """[(letter or None, long name)] as `callsign COMMAND --help` lists them."""
    text = subprocess.run([CALLSIGN, command, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.findall(r"^  (?:-(\w), |    )--([\w-]+)", text.split("\noptions:\n")[1], re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_man_page_has_the_options(command):
    page = (ROOT / f"man/callsign-{command}.1").read_text(encoding="utf-8")
    described = re.findall(r"^\.It (?:Fl (\w) , )?Fl Fl ([\w-]+)", page, re.M)
    assert sorted(described) == sorted(options_of(command))


@pytest.mark.parametrize("command", COMMANDS)
def test_synopsis_has_the_options(command):
    """All of them, or it says that there are more."""
    page = (ROOT / f"man/callsign-{command}.1").read_text(encoding="utf-8")
    synopsis = page[page.index(".Sh SYNOPSIS"):page.index(".Sh DESCRIPTION")]
    if ".Op Ar options\n" in synopsis:
        return
    words = set(re.findall(r"Fl Fl ([\w-]+)", synopsis)) | set(re.findall(r"Fl (\w)\b(?! Fl)", synopsis))
    assert [names for names in options_of(command) if not words & set(names) and "help" not in names] == []


def test_completions_are_up_to_date():
    """They are made from what the command says: scripts/make-completions."""
    done = subprocess.run([ROOT / "scripts/make-completions", "--check", CALLSIGN], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_bash_completion_completes():
    script = f"""
        source {ROOT}/completions/callsign.bash
        COMP_WORDS=(callsign convert --th) COMP_CWORD=2
        _callsign
        echo "${{COMPREPLY[@]}}"
        COMP_WORDS=(callsign v) COMP_CWORD=1
        _callsign
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode() == "--threads\nverify\n"


def test_the_first_man_page_names_all_commands(callsign):
    """Those of --help, and under SEE ALSO every page there is."""
    page = (ROOT / "man" / "callsign.1").read_text()
    described, see_also = page.split(".Sh SEE ALSO\n")
    commands = re.findall(r"^  (\w+) +\w", callsign.good("--help").split("example:")[0], re.M)
    assert len(commands) > 15
    assert set(commands) == set(re.findall(r"^\.It Cm (\w+)$", described, re.M))
    assert re.findall(r"^\.Xr (\S+) 1", see_also, re.M) == sorted(path.stem for path in (ROOT / "man").glob("callsign-*.1"))


@pytest.mark.parametrize("page", sorted((ROOT / "man").glob("*.1")), ids=lambda page: page.name)
def test_man_page_is_well_formed(page):
    try:
        done = subprocess.run(["groff", "-man", "-mdoc", "-ww", "-Tutf8", "-z", str(page)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    except FileNotFoundError:
        pytest.skip("groff is not installed")
    assert done.stdout.decode() == ""


def limits():
    """Rows of SECURITY.md's table: (value, constant, files)."""
    text = (ROOT / "SECURITY.md").read_text().partition("## Limits")[2]
    return [(value, name, re.findall("`([^`]+)`", files)) for value, name, files in re.findall(r"^\| [^|]+ \| `([^`]+)` \| `(\w+)` \| ([^|]+) \|", text, re.M)]


def test_security_limits_are_those_of_the_code():
    """In each file that a row names: several constants have one name, and a match in another file would say nothing."""
    rows = limits()
    assert len(rows) >= 40 and all(files for _, _, files in rows)
    wrong = [(name, value, file) for value, name, files in rows for file in files
             if not re.search(rf"\b{name} = {re.escape(value)}(?=[,;\s}}])", (ROOT / file).read_text())]
    assert not wrong
    assert {("1 << 20", "src/symbolicate/symbolicator.c"), ("1 << 16", "cli/commands/cmd_stack.c")} == \
        {(value, *files) for value, name, files in rows if name == "DEFAULT_MAX_FRAMES"}


def test_security_limits_name_every_file_with_the_same_constant():
    """A second constant of that name and value is a part of the limit, or would change unseen."""
    code = {str(path.relative_to(ROOT)): path.read_text() for folder in ("src", "include", "server", "cli") for path in sorted((ROOT / folder).rglob("*.[ch]"))}
    for value, name, files in limits():
        assert sorted(files) == sorted(path for path, text in code.items() if re.search(rf"\b{name} = {re.escape(value)}(?=[,;\s}}])", text)), name


def test_parts_of_stats_are_described(callsign, shapes_index):
    page = (ROOT / "man/callsign-stats.1").read_text()
    described = page.partition(".It parts\n")[2].partition(".It functions")[0]
    parts = json.loads(callsign.good("stats", "--json", shapes_index))["parts"]
    assert [part["name"] for part in parts if not re.search(rf"\b{part['name']}\b", described)] == []


def test_names_of_the_library_in_pages_are_declared():
    """Also those of its inside. What begins or ends with an underscore is a part of a name."""
    code = "\n".join(path.read_text() for folder in ("src", "include", "server") for path in sorted((ROOT / folder).rglob("*.[ch]")))
    declared = set(re.findall(r"\b(?:csn|CSN|csni|CSNI)_\w+", code))
    made_up = {"csn_noun_verb", "csn_x_init", "csn_X_options_init", "CSN_DEPRECATED"}
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")]
    named = {(page.name, name) for page in pages if page.name != "performance-log.md"
             for name in re.findall(r"\b(?:csn|CSN|csni|CSNI)_\w*[a-zA-Z0-9]\b(?!_)", page.read_text(encoding="utf-8"))}
    assert len(named) > 50
    assert sorted(each for each in named if each[1] not in declared | made_up) == []


def test_headers_name_no_version_to_come():
    """"Since 0.3" stood in the headers of 0.2."""
    base = (ROOT / "include/callsign/base.h").read_text()
    version = tuple(int(re.search(rf"CSN_VERSION_{part} (\d+)", base)[1]) for part in ("MAJOR", "MINOR"))
    for path in sorted((ROOT / "include/callsign").glob("*.h")):
        for major, minor in re.findall(r"Since (\d+)\.(\d+)", path.read_text()):
            assert (int(major), int(minor)) <= version, path.name


def test_what_sanitizers_leave_out_is_said():
    """SECURITY.md and CONTRIBUTING.md told that make check-full runs every case."""
    security, contributing = (" ".join((ROOT / name).read_text().split()) for name in ("SECURITY.md", "CONTRIBUTING.md"))
    names = {name.partition("::")[2]: step for name, step in SANITIZED_ONE_IN.items()}
    assert sorted(names.values()) == [0, 24]
    for name, step in names.items():
        assert (f"23 of 24 cases of `{name}`" if step else f"all others but `{name}`") in security
    assert "but of two tests that would take a sanitizer's build an hour (`SANITIZED_ONE_IN`, there) none and one case in 24" in contributing
    script = (ROOT / "scripts/check").read_text()
    assert "--one-in=4 -m 'not plain_build and not long_with_sanitizers'" in script and "cases=(--sanitized -m 'not plain_build')" in script
    assert "with every case" not in (ROOT / "Makefile").read_text() and "check-builds with every case" not in contributing


def test_one_limit_of_columns():
    """.editorconfig, CONTRIBUTING.md and .clang-format name one, and the code keeps it but for a line in 500."""
    limit = re.search(r"^max_line_length = (\d+)$", (ROOT / ".editorconfig").read_text(), re.M)[1]
    for name in ("CONTRIBUTING.md", ".clang-format"):
        assert f"120 columns, up to {limit} " in (ROOT / name).read_text(), name
    lines = [len(line) for folder in ("src", "include", "server", "cli") for path in (ROOT / folder).rglob("*.[ch]") for line in path.read_text().splitlines()]
    assert sum(size > int(limit) for size in lines) < len(lines) / 500


def changes():
    """Entries of CHANGELOG.md, each in one line."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return [" ".join(entry.split()) for entry in re.findall(r"^- (.*(?:\n  .*)*)", text, re.M)]


def test_measurements_in_the_changelog_say_where_they_are_from():
    """A time that something took, or a share that was saved: the commit in brackets, or a result file."""
    measured = [entry for entry in changes() if re.search(r"\b(?:took|takes?|now) (?:\d[\d.,]* (?:s|ms|seconds|MB|GB)\b|[\d.]+ where )|\b\d+ % fewer\b|\(\d+ s\b", entry)]
    assert len(measured) > 3
    assert [entry[:120] for entry in measured if not re.search(r"\b[0-9a-f]{8}\b|bench/results/", entry)] == []


def test_nothing_stands_twice_in_the_changelog():
    sentences = [sentence.rstrip(".") for entry in changes() for sentence in re.split(r"(?<=[.;]) ", entry) if len(sentence) > 45]
    assert len(sentences) > 500
    assert sorted({sentence for sentence in sentences if sentences.count(sentence) > 1}) == []


def test_porting_names_files_that_have_what_it_says():
    """A row with a function and a file: the file has the function."""
    text = (ROOT / "docs/porting.md").read_text().partition("## Portability problems")[2]
    rows = [(re.findall(r"`([a-z_]\w+)`", what), re.findall(r"`([\w/]+\.[ch])`", where)) for what, where in re.findall(r"^\| ([^|]+) \| ([^|]+) \|", text, re.M)]
    rows = [(functions, files) for functions, files in rows if functions and files]
    assert len(rows) >= 5
    for functions, files in rows:
        for file in files:
            code = next(path for path in (ROOT / file, ROOT / "src" / file) if path.is_file()).read_text()
            assert any(name in code for name in functions), (functions, file)


def test_porting_lists_what_not_every_system_has():
    text = (ROOT / "docs/porting.md").read_text()
    code = "\n".join(path.read_text() for folder in ("src", "server", "cli") for path in (ROOT / folder).rglob("*.[ch]"))
    called = set(re.findall(r"\w+(?=\()", re.sub(r"/\*.*?\*/", "", code, flags=re.S)))
    names = ("sched_getaffinity", "memfd_create", "memmem", "memrchr", "fopencookie", "asprintf", "secure_getenv", "dl_iterate_phdr", "mincore", "getrandom",
             "sync_file_range", "qsort_r", "strchrnul", "mremap", "pipe2", "accept4", "copy_file_range", "statx", "posix_fadvise", "reallocarray", "mempcpy",
             "process_vm_readv", "eventfd", "timerfd_create", "signalfd", "renameat2", "explicit_bzero", "gettid", "program_invocation_short_name")
    used = [name for name in names if name in called]
    assert len(used) > 8
    assert [name for name in used if f"`{name}" not in text] == []
