"""Man pages and completions have every option that the command has, and no other."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = ("convert", "lookup", "stack", "explain", "dump", "verify", "diff", "stats", "embed", "extract")


def options_of(command):
    """[(letter or None, long name)] as `callsign COMMAND --help` lists them."""
    callsign = os.environ.get("CALLSIGN", str(ROOT / "build/release/callsign"))
    text = subprocess.run([callsign, command, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.findall(r"^  (?:-(\w), |    )--([\w-]+)", text.split("\noptions:\n")[1], re.M)


def fish_options(text, command):
    lines = [line for line in text.splitlines() if f"from {command}'" in line]
    return {name for line in lines for name in re.findall(r" -l ([\w-]+)", line)} | {"help"}


def branch(text, command):
    """A command's branch of a shell's case statement."""
    return re.search(rf"^\s*{command}\)(.*?);;\n(?=\s*(\w+\)|esac))", text, re.M | re.S).group(1)


@pytest.mark.parametrize("command", COMMANDS)
def test_man_page_has_the_options(command):
    page = (ROOT / f"man/callsign-{command}.1").read_text(encoding="utf-8")
    described = re.findall(r"^\.It (?:Fl (\w) , )?Fl Fl ([\w-]+)", page, re.M)
    assert sorted(described) == sorted(options_of(command))


@pytest.mark.parametrize("command", COMMANDS)
def test_completions_have_the_options(command):
    expected = {name for _, name in options_of(command)}
    bash = (ROOT / "completions/callsign.bash").read_text(encoding="utf-8")
    words = re.search(r'options="([^"]*)"', branch(bash, command)).group(1)
    assert {word[2:] for word in words.split() if word.startswith("--")} == expected
    zsh = (ROOT / "completions/callsign.zsh").read_text(encoding="utf-8")
    assert set(re.findall(r"--([\w-]+)(?=\[|\}'\[)", branch(zsh, command))) | {"help"} == expected
    fish = (ROOT / "completions/callsign.fish").read_text(encoding="utf-8")
    assert fish_options(fish, command) == expected


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


@pytest.mark.parametrize("page", sorted((ROOT / "man").glob("*.1")), ids=lambda page: page.name)
def test_man_page_is_well_formed(page):
    try:
        done = subprocess.run(["groff", "-man", "-mdoc", "-ww", "-Tutf8", "-z", str(page)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    except FileNotFoundError:
        pytest.skip("groff is not installed")
    assert done.stdout.decode() == ""
