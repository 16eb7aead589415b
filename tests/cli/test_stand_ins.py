"""The stand-ins: their names, their answers against those of the tools, and clients that hold both ends of a pipe."""
import os
import subprocess

import pytest

import stand_in_pairs
import stand_in_programs

# The tools that are compared with: GNU binutils 2.40, LLVM 22, elfutils 0.188.
VERSIONS = {"addr2line": "2.40", "llvm-symbolizer": "22.", "llvm-addr2line": "22.", "eu-addr2line": "0.188"}
RUNS = 60


@pytest.fixture(scope="session")
def folder(tmp_path_factory, callsign):
    stand_in_pairs.CALLSIGN = callsign.path
    return tmp_path_factory.mktemp("stand_ins")


@pytest.fixture(scope="session")
def programs(folder):
    found = stand_in_programs.build(folder / "programs", {"c-gcc", "c-obj.o", "c-strip", "cc-gcc", "cc-link", "c-clang", "cc-split",
                                                          "c-gcc4"})
    if "c-gcc" not in found:
        pytest.skip("gcc is not installed")
    return found


def pair_for(dialect, folder):
    pair = stand_in_pairs.Pair(dialect, folder)
    if pair.is_missing:
        pytest.skip(f"{stand_in_pairs.TOOLS[dialect]} is not installed")
    if VERSIONS[dialect].encode() not in pair.run("theirs", ["--version"]).out:
        pytest.skip(f"{dialect} is not of version {VERSIONS[dialect]}")
    return pair


@pytest.mark.parametrize("dialect", ["addr2line"])
def test_answers_are_those_of_the_tool(dialect, folder, programs):
    pair_for(dialect, folder)
    ran, differences = stand_in_pairs.fuzz(dialect, RUNS, 7, folder, only=set(programs))
    assert (ran, differences) == (RUNS, 0)


@pytest.mark.parametrize("arguments", [["-e", "nosuch"], ["-e", "."], ["-e", "/dev/null"], ["-e", "demo.c"], ["-e", "empty"],
                                       ["-e", "c-gcc", "-j", ".nosuch"], ["-e", "c-gcc", "-b", "nosuch"], ["-Z"], ["--exe"],
                                       ["@nosuch"], ["@options", "0x1139"], ["@."], ["-C", "--demangle=nosuch"], ["-v"], ["-H"],
                                       ["-e", "ar.a"], ["1139"]])
def test_addr2line_fails_like_the_tool(arguments, folder, programs):
    where = folder / "programs"
    (where / "empty").write_bytes(b"")
    (where / "options").write_text("-e c-gcc  -f '-i'\n\"-a\"\n")
    (where / "ar.a").write_bytes(b"!<arch>\n")
    difference = pair_for("addr2line", folder).compare(arguments, b"0x1139\n", where)
    assert difference is None, stand_in_pairs.show_difference(arguments, b"", difference)


@pytest.mark.parametrize("name", ["addr2line", "x86_64-linux-gnu-addr2line", "callsign-addr2line", "addr2line-2.40", "gaddr2line"])
def test_the_program_name_chooses(name, folder, programs):
    link = folder / name
    link.symlink_to(stand_in_pairs.CALLSIGN)
    done = subprocess.run([link, "-e", programs["c-gcc"], "-a", "0"], capture_output=True, text=True, check=True)
    assert done.stdout == "0x0000000000000000\n??:0\n"


def test_callsign_name_begins_messages_with_the_name(callsign):
    done = callsign.run("addr2line", "-e", "nosuch")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "addr2line: 'nosuch': No such file\n")


def test_install_makes_links_and_may_be_repeated(callsign, tmp_path):
    for _ in range(2):
        callsign.good("dialects", "--install", tmp_path / "a" / "bin")
    names = {line.split()[0] for line in callsign.good("dialects").splitlines()}
    assert "addr2line" in names
    assert names <= set(os.listdir(tmp_path / "a" / "bin"))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "addr2line").write_text("mine")
    assert "is no link" in callsign.run("dialects", "--install", tmp_path / "b").stderr
    assert (tmp_path / "b" / "addr2line").read_text() == "mine"


class Conversation:
    """A client that writes a request and waits for its answer, as perf does."""

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, request, lines):
        self.child.stdin.write(request)
        self.child.stdin.flush()
        return [self.child.stdout.readline() for _ in range(lines)]

    def end(self):
        self.child.stdin.close()
        rest = self.child.stdout.read()
        self.child.stdout.close()
        return rest, self.child.wait(timeout=60)


def test_both_generations_of_perf(programs):
    """perf before 6.? sends "ADDR\\n,\\n" and reads to "??:0"; later ones ask "," first and print addresses."""
    path = str(programs["c-gcc"])
    older = Conversation([stand_in_pairs.CALLSIGN, "addr2line", "-e", path, "-i", "-f"])
    assert older.ask(b"0000000000000000\n,\n", 4) == [b"??\n", b"??:0\n", b"??\n", b"??:0\n"]
    assert older.end() == (b"", 0)
    newer = Conversation([stand_in_pairs.CALLSIGN, "addr2line", "-e", path, "-a", "-i", "-f"])
    zeros = [b"0x0000000000000000\n", b"??\n", b"??:0\n"]
    assert newer.ask(b",\n", 3) == zeros
    assert newer.ask(b"00000000ffffffff\n,\n", 6) == [b"0x00000000ffffffff\n", b"??\n", b"??:0\n"] + zeros
    assert newer.end() == (b"", 0)


def test_hostile_clients(programs):
    command = [stand_in_pairs.CALLSIGN, "addr2line", "-e", str(programs["c-gcc"]), "-f"]
    done = subprocess.run(command, input=b"1" * (1 << 20) + b"\n\0\0\n" + b"12", capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 2 * (-(-((1 << 20) + 1) // 99) + 2)
    closed = subprocess.run(f"yes 1139 | head -100000 | {' '.join(command)} | head -1", shell=True, capture_output=True, timeout=60,
                            check=False)
    assert closed.stdout.count(b"\n") == 1
