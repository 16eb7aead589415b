"""The README's console sessions, run as printed: a newcomer types them after `make demo`, at the top of the clone."""

import re
import subprocess

import pytest

from console_blocks import ROOT, as_pattern, console_blocks, make_clone

# Typed before anything is built, or by root: the rest of `make check` covers what they do.
NOT_HERE = re.compile(r"^(git clone|cd |make( |$)|sudo |pip )")


@pytest.fixture
def clone(tmp_path):
    return make_clone(tmp_path)


def test_console_blocks_run_as_printed(clone):
    blocks = list(console_blocks((ROOT / "README.md").read_text(encoding="utf-8")))
    assert any(command.startswith("callsign lookup") for steps in blocks for command, _ in steps)
    said = [re.findall(r"\b(\d+ functions|\d+ line rows)", " ".join(lines)) for steps in blocks for command, lines in steps
            if re.match("callsign (convert|verify)", command)]
    assert len(said) == 2 and said[0] == said[1], "the README tells two sizes of one index"
    # One shell for all blocks, as a reader would have: variables and the folder stay.
    script, expected = ["set -e -o pipefail"], []
    for steps in blocks:
        for command, output in steps:
            if NOT_HERE.match(command):
                continue
            script.append(f"echo '@@@ {len(expected)}'\n{command}")
            expected.append((command, output))
    done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=clone, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    text = done.stdout.decode()
    outputs = re.split(r"^@@@ \d+\n", text, flags=re.M)[1:]
    for (command, lines), output in zip(expected, outputs):
        assert as_pattern(lines).match(output), f"$ {command}\nprinted\n{output}\nthe README has\n" + "\n".join(lines)
    assert done.returncode == 0 and len(outputs) == len(expected), f"stopped after\n{text}"


@pytest.mark.plain_build
def test_c_example_compiles_and_runs(clone):
    """The README's C program, built by the command above it (see the console blocks) from the text in the README."""
    source, = re.findall(r"^```c\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S | re.M)
    (clone / "where.c").write_text(source)
    (clone / "one.cc").write_text("int main() { return 0; }\n")
    script = """
        set -e
        gcc -std=c17 -Wall -Wextra -Werror -Iinclude where.c build/release/libcallsign-lookup.a -o where
        g++ -g one.cc -o one
        build/release/callsign convert one -o one.gsym
        ./where one.gsym 0x$(nm one | awk '/ T main$/ {print $1}')
    """
    done = subprocess.run(["bash", "-c", script], cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert done.returncode == 0, done.stdout.decode()
    assert re.search(r"^main .*one\.cc:1$", done.stdout.decode(), re.M)
