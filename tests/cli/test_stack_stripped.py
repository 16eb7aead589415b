"""Logs about stripped programs, of which only a debug file is there: in a folder as Debian's -dbgsym packages install it, or on a server of
debuginfod. No index is given, and the images' own files have no names of local functions."""
import os
import shutil
import subprocess

import pytest

from programs import need
from test_serve import Server, has_server  # noqa: F401 (fixture)
from test_stack_logs import CHECK, DATA, L, LOAD, SAMPLES

BUILD_ID = "e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e"


@pytest.fixture
def stripped(tmp_path):
    """The folder of the stripped library, and the one of debug files."""
    (tmp_path / "app").mkdir()
    place = tmp_path / "debug" / ".build-id" / BUILD_ID[:2]
    place.mkdir(parents=True)
    subprocess.run([need("strip"), "-o", tmp_path / "app" / "liborders.so", DATA / "liborders.so"], check=True)
    subprocess.run([need("objcopy"), "--only-keep-debug", DATA / "liborders.so", place / f"{BUILD_ID[2:]}.debug"], check=True)
    return tmp_path


def coredumpctl():
    """(the text of systemd, with the modules' build ids; the text as it must become)"""
    lines = SAMPLES["coredumpctl, older"].text.split("\n")
    filled = list(lines)
    filled[3] += CHECK
    filled[4] += LOAD
    return "\n".join(lines), "\n".join(filled)


def test_coredumpctl_with_a_debug_package(callsign, stripped):
    text, wanted = coredumpctl()
    options = ["--no-cache", "--offline", "--debug-dir", stripped / "debug"]
    assert callsign.good("stack", "--in-place", *options, stdin=text) == wanted
    shutil.rmtree(stripped / "debug")
    assert CHECK not in callsign.run("stack", "--in-place", *options, stdin=text).stdout


def test_gdb_with_a_debug_package(callsign, stripped):
    """gdb names the files with their folders: the debug file is found by the build id in the stripped library."""
    text = (DATA / "gdb.txt").read_text().replace("/opt/app", str(stripped / "app"))
    done = callsign.good("stack", "--in-place", "--no-cache", "--offline", "--debug-dir", stripped / "debug", stdin=text)
    assert f"  0x00007ffff7fbc13b in check () at {L}9\n" in done and f"  parse_line () at {L}16\n" in done
    assert f"in orders_load () at {L}21" in done


@pytest.mark.usefixtures("has_server")
def test_coredumpctl_with_a_server(callsign, stripped):
    text, wanted = coredumpctl()
    callsign.good("store", "add", "--store", stripped / "store", stripped / "debug")
    with Server(callsign, stripped / "store") as server:
        found = callsign.good("stack", "--in-place", "--cache-dir", stripped / "cache", "--debug-dir", stripped / "none", stdin=text,
                              env={**os.environ, "DEBUGINFOD_URLS": server.url})
    assert found == wanted
