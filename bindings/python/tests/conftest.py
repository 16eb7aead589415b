"""A program with inlined calls, its index, and a folder of indexes."""
import shutil
import subprocess
from pathlib import Path

import pytest

import callsign

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    source = folder / "orders.cc"
    shutil.copy(ROOT / "examples" / "demo" / "orders.cc", source)
    subprocess.run(["g++", "-g", "-O2", "-ffile-prefix-map=" + str(folder) + "=/src", str(source), "-o", str(folder / "orders")], check=True)
    return folder / "orders"


@pytest.fixture(scope="session")
def addresses(program):
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [int(line, 16) for line in out.split()]


@pytest.fixture(scope="session")
def folder(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("symbols")
    callsign.convert(program, folder / "orders.gsym")
    return folder


@pytest.fixture(scope="session")
def index_path(folder):
    return folder / "orders.gsym"


@pytest.fixture
def index(index_path):
    with callsign.Index(index_path, demangle=True) as index:
        yield index
