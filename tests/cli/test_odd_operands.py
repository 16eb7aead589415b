"""Operands and options that mean nothing, or exclude each other: what is wrong with them is said, and nothing is ignored in silence."""
import errno
import json
import os
import re
import subprocess

import pytest

from programs import need

SOURCE = """static inline __attribute__((always_inline)) int square(int a) { return a * a + 1; }
int twice(int a) { return 2 * square(a); }
int main(int c, char **v) { (void)v; return twice(c); }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    (folder / "app.c").write_text(SOURCE)
    subprocess.run([need("gcc"), "-g", "-O1", "-no-pie", "app.c", "-o", "app"], cwd=folder, check=True)
    return folder


@pytest.fixture
def app(folder):
    return folder / "app"


@pytest.fixture
def index(callsign, folder):
    path = folder / "app.gsym"
    if not path.exists():
        callsign.good("convert", "-q", folder / "app", "-o", path)
    return path


# ---- numbers ----

@pytest.mark.parametrize("command, option", [
    (["convert", "x"], "segment-size"), (["convert", "x"], "max-inflate"), (["lookup", "x"], "fetch-timeout"),
    (["lookup", "x"], "fetch-limit"), (["stack", "x"], "max-frames"), (["stack", "x"], "cache"), (["stats", "x"], "top"),
    (["cache", "add", "x"], "max-memory")])
def test_zero_is_not_the_default(callsign, command, option):
    """The option had no effect, and nothing was said."""
    line = callsign.bad(*command, f"--{option}", "0")
    assert line.startswith(f"callsign: option '--{option}' needs a number from 1") and line.endswith("not '0'")


@pytest.mark.parametrize("value", ["", "-1", "0x10", "1.5", "18446744073709551616", "16777217T", "1KK", "K"])
def test_sizes_that_are_none(callsign, value):
    assert callsign.bad("convert", "x", f"--segment-size={value}") == \
        f"callsign: option '--segment-size' needs a number from 1 (K, M, G or T may follow), not '{value}'"


# ---- options ----

@pytest.mark.parametrize("verb, option, takers", [
    (["list"], ["--max-bytes", "5"], "prune"), (["add", "x"], ["--json"], "list, verify"), (["path"], ["--threads", "2"], "add"),
    (["prune"], ["--offline"], "add"), (["verify"], ["--debug-dir", "x"], "add"), (["prune"], ["--max-memory", "1G"], "add")])
def test_options_of_another_verb_of_cache(callsign, tmp_path, verb, option, takers):
    line = callsign.bad("cache", *option, *verb, "--cache-dir", tmp_path)
    assert line == f"callsign: option '{option[0]}' does not go with 'cache {verb[0]}' but with {takers}"


def test_an_unknown_verb_is_told_first(callsign):
    assert callsign.bad("cache", "lst", "--json", "--max-bytes", "1") == "callsign: cache: 'lst' is unknown: did you mean 'list'?"


def test_prune_is_quiet(callsign, tmp_path):
    assert "0 entries removed" in callsign.run("cache", "prune", "--cache-dir", tmp_path).stderr
    assert callsign.run("cache", "prune", "-q", "--cache-dir", tmp_path).stderr == ""


@pytest.mark.parametrize("command", [
    ["convert", "x", "--no-companions", "--debug-file", "x"], ["convert", "x", "--no-companions", "--dwp", "x"],
    ["lookup", "x", "--no-companions", "--debug-dir", "x"], ["lookup", "x", "--no-cache", "--cache-dir", "x"],
    ["find", "x", "y", "--no-cache", "--cache-dir", "x"], ["stack", "--no-search", "--debug-dir", "x"],
    ["diff", "x", "y", "-q", "--json"], ["diff", "x", "y", "-a", "-q"], ["stack", "--no-cache", "--cache-dir", "x"], ["convert", "x", "-q", "-v"]])
def test_options_that_exclude_each_other(callsign, command):
    line = callsign.bad(*command)
    assert "exclude each other" in line
    assert "exclude each other" in callsign.bad(command[0], *reversed(command[1:]) if command[-1].startswith("-") else command[1:])


@pytest.mark.parametrize("options, wanted", [
    (["--mangled"], "option '--mangled' needs '--to breakpad'"), (["--no-cfi"], "option '--no-cfi' needs '--to breakpad'"),
    (["--bare-patterns"], "option '--bare-patterns' needs '--call-sites'"),
    (["--endian", "big", "--to", "breakpad"], "option '--endian' does not go with '--to breakpad', which has one byte order"),
    (["--endian", "little", "--to", "bsym"], "option '--endian' does not go with '--to bsym', which has one byte order")])
def test_options_of_another_format(callsign, app, tmp_path, options, wanted):
    assert callsign.bad("convert", app, "-o", tmp_path / "out", *options) == f"callsign: {wanted}"
    assert not (tmp_path / "out").exists()


# ---- addresses ----

TOO_LARGE = "an address of more than 64 bits"
NOT_BEHIND = "a range whose end is not behind its begin"


@pytest.mark.parametrize("text, fault", [
    ("0xffffffffffffffff1", TOO_LARGE), ("10000000000000000", TOO_LARGE), ("1-10000000000000000", TOO_LARGE), ("10000000000000000-5", TOO_LARGE),
    ("5-5", NOT_BEHIND), ("0x10-0x5", NOT_BEHIND), ("main+0x1ffffffffffffffff", "an offset of more than 64 bits"),
    ("file:1ffffffffffffffff", "an offset of more than 64 bits"), ("0x", "not a hexadecimal address"), ("5-", "not a hexadecimal address"),
    ("1 2", "not a hexadecimal address"), ("", "not a hexadecimal address"), ("-5", "not a hexadecimal address")])
def test_what_is_wrong_with_an_address(callsign, index, text, fault):
    assert callsign.bad("lookup", index, "--", text) == f"callsign: '{text}' is {fault}"
    done = callsign.run("lookup", index, "--", "0", text, "0")
    assert (done.returncode, done.stdout.splitlines()[1]) == (1, f"{text}: error: {fault}")
    if not text:
        return
    done = callsign.run("lookup", "--json", index, stdin=f"0\n{text}\n")
    assert json.loads(done.stdout.splitlines()[1]) == {"error": f"'{text}' is {fault}"}
    assert done.stderr == f"callsign: line 2: '{text}' is {fault}\n"


def test_zeros_before_an_address_are_no_digits(callsign, index):
    assert callsign.run("lookup", index, "0x" + "0" * 40 + "5").stdout.startswith("0x5: ")


def test_every_bad_operand_is_named(callsign, index):
    for command in ("lookup", "explain", "dump"):
        done = callsign.run(command, index, "zz", "10000000000000000")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"callsign: 'zz' is not a hexadecimal address\ncallsign: '10000000000000000' is {TOO_LARGE}\n"


def test_an_offset_in_no_segment(callsign, app, index):
    fault = "an offset that is in no segment; file offsets need an object file"
    for path in (app, index):
        done = callsign.run("lookup", path, "0", "file:0xfffffffff", "0")
        assert done.returncode == 1 and done.stdout.splitlines()[1] == f"file:0xfffffffff: error: {fault}"
        assert done.stderr == f"callsign: 'file:0xfffffffff' is {fault}\n"
    assert "--pid and --maps name no single file" in callsign.run("lookup", "--maps", "/proc/self/maps", "file:0x10", "0").stderr


def test_one_bad_address_to_dump(callsign, index):
    """Nothing was printed, not even what stood before it."""
    at = json.loads(callsign.good("find", "--json", index, "twice"))["matches"][0]["address"]
    good = callsign.good("dump", index, at)
    done = callsign.run("dump", index, at, "zz", at)
    assert (done.returncode, done.stdout) == (1, good + "zz: error: not a hexadecimal address\n" + good)
    assert done.stderr == "callsign: 'zz' is not a hexadecimal address\n"
    rows = [json.loads(line) for line in callsign.run("dump", "--json", index, at, "zz").stdout.splitlines()]
    assert rows[0]["function"]["name"] == "twice" and rows[1] == {"error": "'zz' is not a hexadecimal address"}
    assert "does not go with an address" in callsign.bad("dump", "--summary", index, at)


def test_an_offset_beyond_all_addresses(callsign, index):
    """It wrapped around: main+0xffffffffffffffff was the byte before main."""
    assert "nor an offset within 64 bits from a function" in callsign.bad("lookup", index, "main+0xffffffffffffffff")
    assert "main + 1 at" in callsign.good("lookup", index, "main+1")


def test_verify_against_an_object_with_a_debug_file(callsign, app, index, tmp_path):
    """--debug-file goes with OBJECT; it was refused, because INDEX is an index."""
    subprocess.run([need("objcopy"), "--only-keep-debug", app, tmp_path / "app.debug"], check=True)
    subprocess.run([need("strip"), "-o", tmp_path / "stripped", app], check=True)
    text = callsign.good("verify", index, "--against", tmp_path / "stripped", "--debug-file", tmp_path / "app.debug")
    assert ": 0 different\n" in text and "with inlined calls" in text
    callsign.good("verify", "-q", index, "--against", app, "--arch", "x86_64")
    assert "no image for 'arm64'" in callsign.bad("verify", "-q", index, "--against", app, "--arch", "arm64")
    assert "option '--debug-file' goes with what is to be converted" in callsign.bad("verify", index, "--debug-file", app)


# ---- files ----

def test_the_list_of_segments_is_not_an_index(callsign, app, tmp_path):
    callsign.good("convert", "-q", app, "-o", tmp_path / "s", "--segment-size", "100")
    for command in (["dump"], ["stats"], ["verify"], ["explain", "0"], ["find", "main"]):
        assert "lists the segments of an index: only lookup reads it" in callsign.bad(command[0], tmp_path / "s-manifest.json", *command[1:])


@pytest.mark.parametrize("there", [True, False])
def test_reports_through_links(callsign, app, index, tmp_path, there):
    """The link was replaced by the report; what it leads to stayed as it was."""
    (tmp_path / "far").mkdir()
    if there:
        (tmp_path / "far/report").write_text("old")
    (tmp_path / "link").symlink_to("far/report")
    callsign.good("convert", "-q", app, "-o", tmp_path / "out", "--report", tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and json.loads((tmp_path / "far/report").read_text())["output"] == str(tmp_path / "out")
    done = subprocess.run([callsign.path, "stats", index, "--html", "link"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0 and (tmp_path / "link").is_symlink() and "<html" in (tmp_path / "far/report").read_text()
    assert sorted(os.listdir(tmp_path)) == ["far", "link", "out"] and os.listdir(tmp_path / "far") == ["report"]
    (tmp_path / "far/report").chmod(0o600)
    (tmp_path / "chain").symlink_to("link")
    callsign.good("stats", index, "--html", tmp_path / "chain")
    assert (tmp_path / "chain").is_symlink() and (tmp_path / "link").is_symlink() and (tmp_path / "far/report").stat().st_mode & 0o777 == 0o600
    (tmp_path / "circle").symlink_to("circle")
    assert callsign.bad("stats", index, "--html", tmp_path / "circle") == f"callsign: {tmp_path}/circle: {os.strerror(errno.ELOOP)}"


def test_empty_and_long_names(callsign, app, index):
    assert callsign.bad("lookup", "", "0") == "callsign: '': No such file or directory"
    assert callsign.bad("stats", index, "--html", "") == "callsign: '': the name of the output file is empty"
    assert callsign.bad("convert", app, "-o", index.with_suffix(".x"), "--report", "") == "callsign: '': the name of the output file is empty"
    assert not index.with_suffix(".x").exists()
    line = callsign.bad("lookup", "a" * 100000, "0")
    assert line.startswith("callsign: aaaa") and line.endswith("...: File name too long")


def test_a_cache_that_is_no_folder(callsign, app, tmp_path):
    """Conversions were kept nowhere, and nothing was said."""
    (tmp_path / "file").write_text("")
    for command in (["lookup", app, "0"], ["find", app, "main"], ["cache", "list"], ["cache", "add", app]):
        assert callsign.bad(*command, "--cache-dir", tmp_path / "file") == f"callsign: {tmp_path}/file: is not a folder: it cannot be the cache"
    assert "there is no folder for the cache" in callsign.bad("cache", "list", "--cache-dir", "")


def test_options_for_a_program_with_an_index(callsign, app, index, tmp_path):
    """The index in the section answered, whatever was said of debug files."""
    both = tmp_path / "both"
    callsign.good("embed", index, app, "-o", both)
    for option in ("--debug-file", "--dwp"):
        assert callsign.bad("lookup", both, option, app, "0") == \
            f"callsign: {both}: carries an index: option '{option}' goes with what is to be converted"
    assert callsign.bad("extract", both, "-o", tmp_path / "out", "--arch", "arm64") == f"callsign: {both}: no image for 'arm64'; the file has x86_64"
    assert not (tmp_path / "out").exists()
    callsign.good("extract", both, "-o", tmp_path / "out", "--arch", "x86_64")
    assert (tmp_path / "out").read_bytes() == index.read_bytes()


def test_titles_of_other_forms(callsign, tmp_path):
    (tmp_path / "in.folded").write_text("main;leaf 1\n")
    assert callsign.bad("profile", tmp_path / "in.folded", "-o", tmp_path / "out.pb", "--title", "x") == \
        "callsign: option '--title' goes with html, not with pprof"


def test_accelerate_loses_nothing_in_place(callsign, index, tmp_path):
    """A part of a kind that is not known, as a later version may have one, was gone, and with it what was in its place."""
    data = bytearray(index.read_bytes())
    at = json.loads(callsign.good("find", "--json", index, "twice"))["matches"][0]["address"]
    record = json.loads(callsign.good("explain", "--json", index, at))["record"]["record"]
    data[record + 8] = 0xee
    path = tmp_path / "odd.gsym"
    path.write_bytes(data)
    (tmp_path / "link").symlink_to(path)
    for words in ([path], [path, "-o", path], [path, "-o", tmp_path / "link"], [tmp_path / "link"]):
        line = callsign.bad("accelerate", *words)
        assert "unknown-part" in line and line.endswith("it stays as it is, -o FILE writes another one without that")
        assert path.read_bytes() == data
    done = callsign.run("accelerate", path, "-o", tmp_path / "other")
    assert done.returncode == 1 and "parts of records are damaged or unknown; the index was written without them" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["link", "odd.gsym", "other"]


def test_a_chunk_header_that_is_no_number(callsign):
    assert callsign.bad("udf", "--format", "TSV", "--chunk-header", stdin="18446744073709551617\n") == \
        "callsign: chunk header '18446744073709551617' is not a number of rows"


def test_accelerate_standard_input(callsign):
    """It spoke of an option that was not given."""
    assert callsign.bad("accelerate", "-") == "callsign: -: No such file or directory"


def test_help_and_version_take_no_more(callsign):
    assert callsign.good("--help", "lookup") == callsign.good("help", "lookup") == callsign.good("lookup", "--help")
    for words in (["--version", "x"], ["help", "lookup", "x"], ["--help", "lookup", "x"]):
        assert callsign.bad(*words) == "callsign: unexpected argument 'x' (try 'callsign --help')"
    assert callsign.good("dialects", "--help").splitlines()[0] == "usage: callsign dialects [options]"


def test_links_in_what_is_no_folder(callsign, tmp_path):
    (tmp_path / "file").write_text("")
    assert callsign.bad("dialects", "--install", tmp_path / "file") == f"callsign: {tmp_path}/file: cannot make the folder: Not a directory"


# ---- callsign serve ----

@pytest.mark.parametrize("words, wanted", [
    (["--listen", "127.0.0.1:65536"], "cannot listen at 127.0.0.1:65536: the port must be 0 to 65535"),
    (["--listen", "127.0.0.1:-1"], "cannot listen at 127.0.0.1:-1: the port must be 0 to 65535"),
    (["--set", "x"], "option '--set' needs KEY=VALUE, not 'x'"), (["--set", "=x"], "option '--set' needs KEY=VALUE, not '=x'"),
    (["--set", "--"], "option '--set' needs KEY=VALUE, not '--'"), (["--set", "k" * 100 + "=1"], f"unknown key '{'k' * 100}'"),
    (["--web", "/nowhere"], "web: /nowhere: No such file or directory"),
    (["--source-root", "/dev/null"], "source-root: /dev/null: is not a folder"),
    (["--tls-certificate", "/nowhere"], "tls-certificate needs tls-key"), (["--tls-key", "/nowhere"], "tls-key needs tls-certificate"),
    (["--cache-dir", "/nowhere"], "cache-dir is for the files of a bucket, and the store is a folder")])
def test_settings_that_serve_ignored(callsign, tmp_path, words, wanted):
    """It listened: at another port, without the setting, or without the folder."""
    listen = [] if "--listen" in words else ["--listen", "127.0.0.1:0"]
    done = subprocess.run([callsign.path, "serve", "--store", tmp_path / "store", *listen, *words], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"callsign: {wanted}\n")


# ---- callsign store ----

@pytest.fixture
def store(callsign, app, index, tmp_path):
    callsign.good("store", "add", "-q", "--store", tmp_path / "store", app, index)
    return tmp_path / "store"


def names(callsign, store):
    return sorted(json.loads(line)["name"] for line in callsign.good("store", "list", "--json", "--store", store).splitlines())


@pytest.mark.parametrize("verb, option", [(["list"], ["--max-bytes", "5"]), (["add", "x"], ["--keep", "x"]), (["fsck"], ["--dry-run"]),
                                          (["prune", "--max-bytes", "1"], ["--layout", "ssqp"])])
def test_options_of_another_verb_of_store(callsign, store, verb, option):
    assert f"option '{option[0]}' does not go with 'store {verb[0]}' but with" in callsign.bad("store", *verb, *option, "--store", store)


def test_named_files_that_are_none(callsign, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null"):
        assert callsign.bad("store", "add", "--store", tmp_path / "store", path) == f"callsign: {path}: is not a regular file"


def test_names_that_steer_a_terminal(callsign, app, tmp_path):
    """In text, control characters are shown as \\xNN by every command, on both streams; in JSON they are escaped."""
    odd, shown = "new\nline\x1b[31m", "new\\x0aline\\x1b[31m"
    (tmp_path / odd).write_bytes(app.read_bytes())
    (tmp_path / (odd + ".no")).write_text("nothing\n")
    callsign.good("cache", "add", "-q", "--cache-dir", tmp_path / "cache", tmp_path / odd)
    assert callsign.good("cache", "list", "--cache-dir", tmp_path / "cache").endswith(f"{tmp_path}/{shown}\n")
    assert json.loads(callsign.good("cache", "list", "--json", "--cache-dir", tmp_path / "cache"))["source"] == f"{tmp_path}/{odd}"
    done = callsign.run("store", "add", "--store", tmp_path / "store", "--layout", "ssqp", tmp_path / odd, tmp_path / (odd + ".no"), tmp_path / (odd + ".gone"))
    assert done.returncode == 2 and "\x1b" not in done.stdout + done.stderr and len(done.stderr.splitlines()) == 2, done.stderr
    assert f"/{shown}.gone: No such file" in done.stderr and f"/{shown}.no: neither an image" in done.stderr
    for verb in (["list"], ["prune", "--max-bytes", "0", "--dry-run"]):
        line = callsign.good("store", *verb, "--store", tmp_path / "store")
        assert line.count("\n") == 1 and "\x1b" not in line
    assert callsign.bad("store", "list", "--store", tmp_path / odd) == f"callsign: {tmp_path}/{shown}: there is no such store"
    assert callsign.bad("store", "l\nst", "--store", tmp_path / "store") == "callsign: store: 'l\\x0ast' is not add, list, prune or fsck"


@pytest.mark.parametrize("option", ["--max-bytes", "--max-age"])
def test_zero_prunes_everything(callsign, store, option):
    """It was said that the option is needed."""
    rows = [json.loads(line) for line in callsign.good("store", "prune", "--json", "--store", store, option, "0").splitlines()]
    assert len(rows) == 2 and all(set(row) == {"path", "bytes"} and row["bytes"] > 0 for row in rows)
    assert names(callsign, store) == []


@pytest.mark.parametrize("keep", ["folder", "missing", ""])
def test_a_list_to_keep_that_cannot_be_read(callsign, store, tmp_path, keep):
    """Of a folder nothing was read, and all files went."""
    (tmp_path / "folder").mkdir()
    path = tmp_path / keep if keep else ""
    before = names(callsign, store)
    line = callsign.bad("store", "prune", "--store", store, "--max-bytes", "0", "--keep", path)
    assert line == f"callsign: {path or repr('')}: {os.strerror(21 if keep == 'folder' else 2)}"
    assert names(callsign, store) == before and len(before) == 2


def test_a_list_to_keep_with_an_equals_sign(callsign, store, tmp_path):
    """It was taken for a setting."""
    (tmp_path / "keep=app").write_text("app\n")
    callsign.good("store", "prune", "--store", store, "--max-bytes", "0", "--keep", tmp_path / "keep=app")
    assert names(callsign, store) == ["app", "app"]


@pytest.mark.parametrize("option, value, wanted", [
    ("--max-bytes", "-1", "needs a number (K, M, G or T may follow)"), ("--max-bytes", "", "needs a number (K, M, G or T may follow)"),
    ("--max-age", "100001", "needs a number up to 100000"), ("--max-age", "1K", "needs a number up to 100000")])
def test_limits_of_prune(callsign, store, option, value, wanted):
    assert callsign.bad("store", "prune", "--store", store, option, value) == f"callsign: option '{option}' {wanted}, not '{value}'"
    assert len(names(callsign, store)) == 2


# ---- files of another kind ----

def test_an_index_where_a_log_is_wanted(callsign, index, app):
    for path in (index, app):
        done = callsign.run("stack", path)
        assert done.returncode == 1 and f"{path}: is no log but an index or a program: give it with --index" in done.stderr


def test_accelerate_wants_an_index(callsign, app):
    """It printed four bytes of the file."""
    assert callsign.bad("accelerate", app).endswith("'callsign convert --accelerate' makes one of it")


def test_a_folder_as_standard_input(callsign, tmp_path):
    """The message of `stack` had no name."""
    for command in (["stack"], ["profile", "-", "-o", tmp_path / "out.folded"], ["udf", "--format", "TSV"]):
        folder = os.open(tmp_path, os.O_RDONLY)
        done = subprocess.run([callsign.path, *map(str, command)], stdin=folder, capture_output=True, text=True, check=False)
        os.close(folder)
        assert done.returncode == 2 and done.stderr == "callsign: standard input: Is a directory\n", command


def test_a_stored_file_of_another_content(callsign, store, tmp_path):
    """It was told that the file has 776 bytes instead of 776."""
    path, = [tmp_path / store / row["path"] for row in map(json.loads, callsign.good("store", "list", "--json", "--store", store).splitlines())
             if row["kind"] == "gsym"]
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(b"xx")
    done = callsign.run("store", "fsck", "--store", store)
    words = re.search(r"changed since it was stored: htlhash ([0-9a-f]{32}) instead of ([0-9a-f]{32})\n", done.stdout)
    assert done.returncode == 1 and words[1] != words[2]


def test_nothing_to_store_is_said(callsign, store, tmp_path):
    (tmp_path / "empty").mkdir()
    assert callsign.bad("store", "add", "--store", store, tmp_path / "empty", code=1) == "callsign: store add: nothing was stored"


def test_names_that_are_not_in_the_index(callsign, index):
    assert callsign.bad("find", index, "", code=1) == "callsign: '': not found"
    assert callsign.bad("lookup", index, "none+0x10") == \
        "callsign: 'none+0x10' is neither an address nor an offset within 64 bits from a function of the index"
