"""Names, paths and messages with bytes that steer a terminal: they are shown, not sent."""
import json
import subprocess

import pytest

import gsym_make

# What stands in the name, and how text and JSON show it. Terminals of 8 bits take the lone byte, too.
STEERING = {"ESC": (b"\x1b[31m", "\\x1b[31m", "\x1b[31m"), "DEL": (b"\x7f-", "\\x7f-", "\x7f-"), "CSI": (b"\xc2\x9b1m", "\\xc2\\x9b1m", "\x9b1m"),
            "lone CSI": (b"-\x9b1m", "-\\x9b1m", "-\ufffd1m"), "last of the set": (b"\xc2\x9f-", "\\xc2\\x9f-", "\x9f-")}
ODD = "\u00a0\u00e9\u20ac"  # no control characters
OPERANDS = {"lookup": ["0x1010"], "explain": ["0x1010"], "dump": [], "stats": [], "find": ["f*"]}


@pytest.fixture(params=STEERING)
def steered(request, tmp_path):
    raw, text, in_json = STEERING[request.param]
    place = "Q" * len(raw)
    path = gsym_make.write(tmp_path / "odd.gsym", [{"start": 0x1000, "size": 0x100, "name": f"f{place}{ODD}", "line": 3}],
                           source=("/src", f"a{place}.c"))
    data = path.read_bytes()
    assert data.count(place.encode()) == 2
    path.write_bytes(data.replace(place.encode(), raw))
    return path, text, in_json


@pytest.mark.parametrize("command", OPERANDS)
def test_names(callsign, steered, command):
    path, shown, in_json = steered
    operands = [path, *OPERANDS[command]]
    text = subprocess.run([callsign.path, command, *operands], capture_output=True, check=True).stdout.decode()
    assert f"f{shown}{ODD}" in text and steers_nothing(text)
    if command != "stats":
        text = subprocess.run([callsign.path, command, "--json", *operands], capture_output=True, check=True).stdout.decode()
        values = json.dumps([json.loads(line) for line in text.splitlines()], ensure_ascii=False).replace("\\u001b", "\x1b")
        assert f'"f{in_json}{ODD}"' in values
        assert steers_nothing(text)


def test_messages(callsign):
    done = subprocess.run([callsign.path, "stats", b"/absent/\xc2\x9b\xc3\xa9\x9b\xe9"], capture_output=True)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, b"callsign: /absent/\\xc2\\x9b\xc3\xa9\\x9b\xe9: No such file or directory")


def steers_nothing(text):
    return not [c for c in text if (c < " " and c != "\n") or "\x7f" <= c < "\xa0"]
