"""Help, version, and command lines that make no sense."""
import pytest

COMMANDS = ["convert", "lookup", "stack", "explain", "dump", "verify", "diff", "stats", "accelerate", "embed", "extract", "dialects", "cache", "find", "udf"]


def test_version(callsign):
    lines = callsign.good("--version").splitlines()
    assert lines[0].split()[0] == "callsign"
    assert lines[0].split()[1].count(".") == 2
    assert lines[1].startswith("built with ")
    libraries = [part.split()[0] for part in lines[1].removeprefix("built with ").split(", ") if not part.startswith("no ")]
    assert len(libraries) == len(set(libraries))


@pytest.mark.parametrize("args", [["--help"], ["-h"], ["help"]])
def test_general_help(callsign, args):
    text = callsign.good(*args)
    for command in COMMANDS:
        assert f"\n  {command} " in text
    assert "example:" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_command_help(callsign, command):
    text = callsign.good(command, "--help")
    assert text.startswith(f"usage: callsign {command} ")
    assert f"\nexample:\n  callsign {command} " in text
    assert "--help" in text
    assert max(map(len, text.splitlines())) <= 120
    assert callsign.good("help", command) == text
    assert callsign.good(command, "-h") == text
    assert callsign.good(command, "operand", "--help") == text


@pytest.mark.parametrize("args, message", [
    ([], "callsign: no command given (try 'callsign --help')"),
    (["bogus"], "callsign: unknown command 'bogus' (try 'callsign --help')"),
    (["--bogus"], "callsign: unknown option '--bogus' (try 'callsign --help')"),
    (["help", "bogus"], "callsign: unknown command 'bogus' (try 'callsign --help')"),
    (["lookup", "--bogus"], "callsign: unknown option '--bogus' (try 'callsign lookup --help')"),
    (["lookup", "-Z"], "callsign: unknown option '-Z' (try 'callsign lookup --help')"),
    (["lookup", "--jsonx=1"], "callsign: unknown option '--jsonx': did you mean '--json'? (try 'callsign lookup --help')"),
    (["lookup"], "callsign: lookup needs INDEX [ADDR...] (try 'callsign lookup --help')"),
    (["lookup", "x", "--json=1"], "callsign: option '--json' takes no value"),
    (["lookup", "x", "zz"], "callsign: 'zz' is not a hexadecimal address"),
    (["lookup", "x", "0x"], "callsign: '0x' is not a hexadecimal address"),
    (["lookup", "x", ""], "callsign: '' is not a hexadecimal address"),
    (["lookup", "x", "10000000000000000"], "callsign: '10000000000000000' is an address of more than 64 bits"),
    (["convert"], "callsign: convert needs INPUT (try 'callsign convert --help')"),
    (["convert", "a", "b"], "callsign: unexpected argument 'b' (try 'callsign convert --help')"),
    (["convert", "a", "-o"], "callsign: option '-o' needs a value (try 'callsign convert --help')"),
    (["convert", "a", "--threads", "x"], "callsign: option '--threads' needs a number up to 1024, not 'x'"),
    (["convert", "a", "--threads=-1"], "callsign: option '--threads' needs a number up to 1024, not '-1'"),
    (["convert", "a", "-j", "1025"], "callsign: option '-j' needs a number up to 1024, not '1025'"),
    (["convert", "a", "--max-inflate=1X"],
     "callsign: option '--max-inflate' needs a number from 1 (K, M, G or T may follow), not '1X'"),
    (["convert", "a", "--max-inflate=99999999999999T"],
     "callsign: option '--max-inflate' needs a number from 1 (K, M, G or T may follow), not '99999999999999T'"),
    (["convert", "a", "--to", "pdf"],
     "callsign: option '--to': 'pdf' is unknown; known are gsym, gsym-v2, gsym-auto, gsym-section, bsym, breakpad"),
    (["convert", "a", "--endian", "x"], "callsign: option '--endian': 'x' is unknown; use little or big"),
    (["convert", "a", "--merged-functions=x"],
     "callsign: option '--merged-functions': 'x' is unknown; use aliases or llvm"),
    (["verify"], "callsign: verify needs INDEX (try 'callsign verify --help')"),
    (["dump"], "callsign: dump needs INDEX [ADDR...] (try 'callsign dump --help')"),
])
def test_wrong_usage(callsign, args, message):
    assert callsign.bad(*args) == message


def test_a_message_stays_one_line(callsign):
    assert callsign.bad("a\nb\x1b[31m") == "callsign: unknown command 'a\\x0ab\\x1b[31m' (try 'callsign --help')"


def test_options_and_operands_mix(callsign, shapes, shapes_index):
    addr = hex(shapes.mark("main"))
    want = callsign.good("lookup", "--json", "-C", shapes_index, addr)
    assert callsign.good("lookup", shapes_index, "--json", addr, "--demangle") == want
    assert callsign.good("lookup", shapes_index, addr, "-C", "--json", "--") == want
    assert callsign.good("lookup", "--json", "--", shapes_index, addr) == want


def test_double_dash_ends_options(callsign):
    assert "--json: " in callsign.bad("lookup", "--", "--json", "12")
