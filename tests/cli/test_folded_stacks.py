"""Stacks of a real program whose functions a linker folded: what is chosen is what was called. tests/corpus/merged counts more."""
import json
import os
import subprocess
from pathlib import Path

import pytest

from programs import need

TOOL = Path(__file__).resolve().parents[1] / "corpus" / "merged"

pytestmark = pytest.mark.long_with_sanitizers


def test_what_is_chosen_was_called(callsign, tmp_path):
    need("g++"), need("ld.gold")
    done = subprocess.run([TOOL, "--compiler", "g++", "--keep", tmp_path / "kept"], capture_output=True, text=True, check=False,
                          env={**os.environ, "CALLSIGN": callsign.path})
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert rows
    for row in rows:
        assert row["merged"] > 5000 and row["right"] > row["merged"] / 2 and row["right"] + row["undecided"] == row["merged"], row
