"""The README's console sessions, run as printed: a newcomer types them after `make demo`, at the top of the clone."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Typed before anything is built, or by root: the rest of `make check` covers what they do.
NOT_HERE = re.compile(r"^(git clone|cd |make( |$)|sudo |pip )")


def console_blocks(text):
    """Each ```console block as a list of (command, expected output lines)."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
        steps = []
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            else:
                steps[-1][1].append(line)
        yield steps


# Numbers differ with the compiler's version; a source line does not, and what is between the numbers does not.
TOKEN = re.compile(r'(?P<dots>\.\.\.)|(?P<fixed>\.cc:\d+|"line":\d+)|(?P<hex>0x[0-9a-f]+)|(?P<number>\d+)')
LOOSE = {"dots": ".*?", "hex": "0x[0-9a-f]+", "number": r"\d+"}


def line_pattern(line):
    pattern, at = "", 0
    for match in TOKEN.finditer(line):
        pattern += re.escape(line[at:match.start()]) + LOOSE.get(match.lastgroup, re.escape(match.group()))
        at = match.end()
    return pattern + re.escape(line[at:]) + r"\n"


def as_pattern(lines):
    """The expected output as a regular expression: `...` alone on a line stands for any lines, within one for anything."""
    return re.compile("".join(r"(?:.*\n)*?" if line.strip() == "..." else line_pattern(line) for line in lines) + r"\Z")


@pytest.fixture
def clone(tmp_path):
    """A folder that looks like the top of a clone after `make demo`, to write into."""
    command = pathlib.Path(os.environ.get("CALLSIGN", ROOT / "build/release/callsign")).resolve()
    if not command.exists():
        pytest.fail(f"{command} is not built: run make")
    (tmp_path / "build/release").mkdir(parents=True)
    for path in command.parent.glob("libcallsign*"):
        (tmp_path / "build/release" / path.name).symlink_to(path)
    (tmp_path / "build/release/callsign").symlink_to(command)
    for name in ("examples", "include"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_console_blocks_run_as_printed(clone):
    blocks = list(console_blocks((ROOT / "README.md").read_text(encoding="utf-8")))
    assert any(command.startswith("callsign lookup") for steps in blocks for command, _ in steps)
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
