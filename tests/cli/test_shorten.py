"""--shorten-names: stored by convert, shown by lookup and dump."""
import json
import subprocess

import pytest

import programs
from programs import need

SOURCE = r"""
#include <map>
#include <string>
#include <utility>
#include <vector>
volatile int sink;
namespace shop {
__attribute__((noinline)) int count(const std::vector<int> &v) { return sink = (int)v.size(); }
__attribute__((noinline)) int names(const std::map<int, long> &m) { return sink = (int)m.size(); }
__attribute__((noinline)) int deep(const std::pair<int, std::vector<int>> &p) { return sink = p.first; }
inline __attribute__((always_inline)) int quick(const std::vector<long> &v) { return sink = (int)v.size() + 1; }
struct thing { __attribute__((noinline)) thing() { sink = 1; } };
}
extern "C" int plain(int a) { return sink = a; }
int main() {
    shop::thing t;
    return shop::count({1}) + shop::names({}) + shop::deep({}) + shop::quick({}) + plain(1);
}
"""
VECTOR = "std::vector<int, std::allocator<int>>"


@pytest.fixture(scope="module")
def app(tmp_path_factory, callsign):
    folder = tmp_path_factory.mktemp("shorten")
    source = folder / "app.cc"
    source.write_text(SOURCE)
    programs.compile_files(need("g++"), folder / "app", [source], ["-g", "-O2"])
    return folder / "app"


def names(callsign, path, *options):
    lines = callsign.good("dump", "--json", *options, path).splitlines()
    found = [json.loads(line)["function"] for line in lines if '"function"' in line[:12]]
    return {function["name"] for function in found}


def test_convert(callsign, app, tmp_path):
    callsign.good("convert", "-q", "--shorten-names", app, "-o", tmp_path / "short.gsym")
    found = names(callsign, tmp_path / "short.gsym")
    assert {"shop::count(std::vector<int> const&)", "shop::names(std::map<int, long> const&)", "plain", "main",
            f"shop::deep(std::pair<int, {VECTOR}> const&)"} <= found
    assert not any(name.startswith("_Z") for name in found)
    assert callsign.good("verify", tmp_path / "short.gsym").endswith(": 0 problems\n")
    text = callsign.good("dump", tmp_path / "short.gsym")
    assert "shop::quick(std::vector<long> const&)" in text  # an inlined call


def test_name_table(callsign, app, tmp_path):
    """Has the hashes of the names that are stored."""
    first, again, other = tmp_path / "first.gsym", tmp_path / "again.gsym", tmp_path / "other.gsym"
    callsign.good("convert", "-q", "--shorten-names", "--name-table", app, "-o", first)
    assert callsign.good("verify", first).endswith(": 0 problems\n")
    for way in (["--to", "gsym"], ["--to", "gsym-v2"], ["--endian", "big"]):
        callsign.good("convert", "-q", "--name-table", *way, first, "-o", other)
        callsign.good("convert", "-q", "--name-table", "--endian", "little", other, "-o", again)
        assert first.read_bytes() == again.read_bytes(), way
    data = bytearray(first.read_bytes())
    data[-16 - 8] ^= 1 # the hash of the last entry
    other.write_bytes(data)
    assert "name table+0x" in callsign.run("verify", other).stdout


def test_breakpad(callsign, app, tmp_path):
    """Names of functions, not only of inlined calls."""
    callsign.good("convert", "-q", "--shorten-names", "--to", "breakpad", app, "-o", tmp_path / "short.sym")
    text = (tmp_path / "short.sym").read_text()
    assert " shop::count(std::vector<int> const&)\n" in text and " shop::quick(std::vector<long> const&)\n" in text
    callsign.good("convert", "-q", "--shorten-names", app, "-o", tmp_path / "short.gsym")
    callsign.good("convert", "-q", "--to", "breakpad", tmp_path / "short.gsym", "-o", tmp_path / "index.sym")
    functions = [[line for line in (tmp_path / name).read_text().splitlines() if line.startswith("FUNC")]
                 for name in ("short.sym", "index.sym")]
    assert functions[0] == functions[1]


def test_nested(callsign, app, tmp_path):
    callsign.good("convert", "-q", "--shorten-nested", app, "-o", tmp_path / "short.gsym")
    assert "shop::deep(std::pair<int, std::vector<int>> const&)" in names(callsign, tmp_path / "short.gsym")


def test_lookup_and_dump_show_what_convert_stores(callsign, app, tmp_path):
    callsign.good("convert", "-q", app, "-o", tmp_path / "long.gsym")
    for option in ("--shorten-names", "--shorten-nested"):
        callsign.good("convert", "-q", option, app, "-o", tmp_path / "short.gsym")
        assert names(callsign, tmp_path / "long.gsym", option) == names(callsign, tmp_path / "short.gsym")
        nm = subprocess.run(["nm", app], capture_output=True, text=True, check=True).stdout
        addresses = [line.split()[0] for line in nm.splitlines() if "4shop" in line]
        assert addresses
        assert callsign.good("lookup", option, tmp_path / "long.gsym", *addresses) == \
            callsign.good("lookup", tmp_path / "short.gsym", *addresses)


def test_the_same_bytes_for_any_number_of_threads(callsign, app, tmp_path):
    for threads in (1, 2, 5):
        callsign.good("convert", "-q", "--shorten-nested", "-j", threads, app, "-o", tmp_path / f"{threads}.gsym")
    first = (tmp_path / "1.gsym").read_bytes()
    assert first == (tmp_path / "2.gsym").read_bytes() == (tmp_path / "5.gsym").read_bytes()


def test_names_that_become_one_are_stored_once(callsign, app, tmp_path):
    """The two symbols of a constructor."""
    callsign.good("convert", "-q", "--shorten-names", app, "-o", tmp_path / "short.gsym")
    assert (tmp_path / "short.gsym").read_bytes().count(b"\0shop::thing::thing()\0") == 1


def test_not_with_call_sites(callsign, app):
    assert "'--shorten-names' and '--call-sites' exclude each other" in callsign.bad("convert", "--shorten-names", "--call-sites", "dwarf", app)
