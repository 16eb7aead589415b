"""Console sessions of the documentation, compared with what the commands print here."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks_of(text, language):
    """The text of each block that begins with ```language."""
    return [block for kind, block in re.findall(r"^```([^\s`]*)\n(.*?)^```$", text, re.S | re.M) if kind == language]


def console_blocks(text, language="console"):
    """Each console block as a list of (command, expected output lines)."""
    for block in blocks_of(text, language):
        steps = []
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            elif steps:
                steps[-1][1].append(line)
        yield steps


# Numbers differ with the compiler's version; a source line does not, and what is between the numbers does not.
TOKEN = re.compile(r'(?P<dots>\.\.\.)|(?P<fixed>\.cc?:\d+|"line":\d+)|(?P<hex>0x[0-9a-f]+)|(?P<wide>\b[0-9a-f]{16}\b)|(?P<number>\d+)')
LOOSE = {"dots": ".*?", "hex": "0x[0-9a-f]+", "wide": "[0-9a-f]{16}", "number": r"\d+"}


def line_pattern(line):
    pattern, at = "", 0
    for match in TOKEN.finditer(line):
        pattern += re.escape(line[at:match.start()]) + f"({LOOSE.get(match.lastgroup, re.escape(match.group()))})"
        at = match.end()
    return pattern + re.escape(line[at:]) + r"\n"


def as_pattern(lines):
    """The expected output as a regular expression with a group for each token: `...` alone on a line stands for any lines, within
    one for anything."""
    return re.compile("".join(r"(?:.*\n)*?" if line.strip() == "..." else line_pattern(line) for line in lines) + r"\Z")


def addresses(lines, match):
    """{address of the page: address here} of an output that has matched."""
    tokens = [token.group() for line in lines if line.strip() != "..." for token in TOKEN.finditer(line)]
    return {theirs: ours for theirs, ours in zip(tokens, match.groups()) if theirs.startswith("0x")}


def make_clone(folder):
    """A folder that looks like the top of a clone after `make demo`, to write into."""
    command = pathlib.Path(os.environ.get("CALLSIGN", ROOT / "build/release/callsign")).resolve()
    if not command.exists():
        pytest.fail(f"{command} is not built: run make")
    (folder / "build/release").mkdir(parents=True)
    for path in command.parent.glob("libcallsign*"):
        (folder / "build/release" / path.name).symlink_to(path)
    (folder / "build/release/callsign").symlink_to(command)
    for name in ("examples", "include"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


class Shell:
    """Runs commands as a page has them, each in a shell of its own in the same folder."""

    def __init__(self, folder, **environment):
        command = pathlib.Path(os.environ.get("CALLSIGN", ROOT / "build/release/callsign")).resolve()
        self.folder = folder
        self.environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "HOME": str(folder), "DEBUGINFOD_URLS": "",
                            **environment}

    def run(self, command, status=0):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)
        output = (done.stdout + done.stderr).decode()  # what is said on standard error is said at the end
        assert done.returncode == status, f"$ {command}\nstatus {done.returncode}\n{output}"
        return output

    def run_session(self, steps, places=None, rewrite=lambda output: output):
        """Steps of console_blocks(). An address in a command is the one that the output with it has here. Gives {command: output}."""
        places, outputs = {} if places is None else places, {}
        for command, lines in steps:
            here = re.sub("0x[0-9a-f]+", lambda match: places.get(match.group(), match.group()), command)
            output = outputs[command] = rewrite(self.run(here))
            match = as_pattern(lines).match(output)
            assert match, f"$ {here}\nprinted\n{output}\nthe page has\n" + "\n".join(lines)
            places.update(addresses(lines, match))
        return outputs
