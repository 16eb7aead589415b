"""The cache of converted indexes: its command, processes that share it, kills, full disks, damage."""
import ctypes
import json
import os
import pathlib
import resource
import subprocess

import pytest

import kill_cache
from programs import UNDER_STRACE, need

SOURCE = "int {name}(int x) {{ return x * 3 + {number}; }}\nint main(int count, char **words) {{ (void)words; return {name}(count); }}\n"


def build(folder, name, number=1, options=("-Wl,--build-id=sha1",)):
    source = folder / f"{name}.c"
    source.write_text(SOURCE.format(name=f"work_{name}", number=number))
    path = folder / name
    subprocess.run([need("gcc"), "-g", *options, "-o", path, source], check=True)
    return path


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def run(callsign, cache):
    """callsign cache VERB ... on the test's own folder."""
    def run(verb, *args, **more):
        return callsign.run("cache", verb, "--cache-dir", cache, *args, **more)
    return run


def listed(run):
    done = run("list", "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def answer(callsign, cache, program, name):
    return callsign.good("stack", "--cache-dir", cache, stdin=f"{program}+{address_of(program, name):#x}\n")


def address_of(program, name):
    symbols = subprocess.run([need("nm"), program], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(f" {name}"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Twelve programs in folders, and files that are none."""
    root = tmp_path_factory.mktemp("tree")
    for i in range(12):
        folder = root / f"part{i % 3}"
        folder.mkdir(exist_ok=True)
        build(folder, f"prog{i}", i)
    (root / "notes.txt").write_text("no program\n")
    (root / "part0" / "empty").write_bytes(b"")
    return root


def test_add_list_verify_prune(run, tree, cache, callsign):
    done = run("add", tree)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("12 converted, 0 already there, 0 failed")
    entries = listed(run)
    assert len(entries) == 12
    for entry in entries:
        assert set(entry) == {"build_id", "path", "bytes", "source"}
        assert pathlib.Path(entry["source"]).is_relative_to(tree) and len(entry["build_id"]) == 40
        path = pathlib.Path(entry["path"])
        assert path.stat().st_size == entry["bytes"]
        assert path == cache / entry["build_id"][:2] / (entry["build_id"][2:] + ".gsym")
    assert run("verify").returncode == 0
    assert run("path").stdout == f"{cache}\n"
    text = run("list").stdout.splitlines()
    assert len(text) == 12 and text[0].split()[0] == entries[0]["build_id"]
    again = run("add", tree)
    assert again.returncode == 0 and again.stderr.startswith("0 converted, 12 already there")
    used = sum(entry["bytes"] for entry in entries)
    assert run("prune", "--max-bytes", used // 2).returncode == 0
    left = listed(run)
    assert 0 < len(left) < 12 and sum(entry["bytes"] for entry in left) <= used // 2
    assert run("prune", "--max-bytes", "0").returncode == 0
    assert listed(run) == []


@pytest.mark.parametrize("options", [["--max-memory", "1"], ["--max-memory", "24M", "-j", "3"], ["-j", "1"], ["-j", "40", "--max-memory", "1T"]],
                         ids=["one-byte", "some", "one-at-a-time", "many"])
def test_any_bound_of_memory_converts_all(run, tree, options):
    """Same entries, whatever runs beside each other; a twin of a file waits for it."""
    done = run("add", *options, tree, tree / "part0")
    assert done.returncode == 0, done.stderr
    converted, present = (int(part.split()[0]) for part in done.stderr.split(", ")[:2])
    assert (converted, present) == (12, 4)
    assert len(listed(run)) == 12 and run("verify").returncode == 0


def test_a_bound_of_memory_must_be_a_size(run, tree):
    done = run("add", "--max-memory", "little", tree)
    assert done.returncode == 2 and "--max-memory" in done.stderr


def test_an_entry_is_an_index(run, tree, callsign):
    program = tree / "part0" / "prog0"
    run("add", program)
    (entry,) = listed(run)
    addr = hex(address_of(program, "work_prog0"))
    assert callsign.good("lookup", entry["path"], addr) == callsign.good("lookup", program, addr, "--no-cache")
    assert callsign.good("verify", entry["path"], "--against", program)


def test_the_least_recently_used_goes_first(run, tree, cache):
    run("add", tree)
    entries = listed(run)
    kept = entries[7]
    for i, entry in enumerate(entries):
        seconds = 1_500_000_000 + i
        stat = os.stat(entry["path"])
        os.utime(entry["path"], ns=((2_000_000_000 if entry is kept else seconds) * 10**9, stat.st_mtime_ns))
    assert run("prune", "--max-bytes", str(kept["bytes"])).returncode == 0
    assert [entry["path"] for entry in listed(run)] == [kept["path"]]


def test_bad_command_lines(run, callsign, tmp_path):
    assert run("add").returncode == 2
    assert "did you mean 'verify'" in run("verfy").stderr
    assert run("list", "x").returncode == 2
    assert run("prune", "--max-bytes", "many").returncode == 2
    for operand, shown in ((tmp_path / "none", tmp_path / "none"), ("", "''")):
        done = run("add", operand)
        assert done.returncode == 2 and done.stderr.splitlines() == [f"callsign: {shown}: No such file or directory",
                                                                     "0 converted, 0 already there, 1 failed, 0 without symbols"]
    assert "/dev/null: not a regular file" in run("add", "/dev/null").stderr
    (tmp_path / "text").write_text("nothing")
    assert run("add", tmp_path / "text").returncode == 1
    assert run("list").returncode == 0 and run("verify").returncode == 0 and run("prune").returncode == 0


def test_a_path_that_cannot_be_read_does_not_stop_the_others(run, tree, tmp_path):
    done = run("add", tmp_path / "none", tree / "part0", "/dev/null")
    assert done.returncode == 1, done
    assert f"callsign: {tmp_path}/none: No such file or directory" in done.stderr and "/dev/null: not a regular file" in done.stderr
    assert listed(run) and ", 2 failed, " in done.stderr.splitlines()[-1]


def test_a_file_without_build_id(run, tmp_path, callsign, cache):
    program = build(tmp_path, "plain", options=["-Wl,--build-id=none"])
    assert run("add", program).returncode == 0
    (entry,) = listed(run)
    assert "build_id" not in entry and len(entry["htlhash"]) == 32
    data = program.read_bytes()
    import hashlib
    want = hashlib.sha256(data[:4096] + data[-4096:] + len(data).to_bytes(8, "big")).hexdigest()[:32]
    assert entry["htlhash"] == want
    before = pathlib.Path(entry["path"]).stat().st_ino
    callsign.good("lookup", program, hex(address_of(program, "main")), "--cache-dir", cache)
    assert pathlib.Path(entry["path"]).stat().st_ino == before


def test_images_of_a_universal_file_without_build_ids(run, tmp_path, callsign, cache):
    objects = []
    for arch in ("arm64", "x86_64"):
        (tmp_path / f"{arch}.c").write_text(f"int of_{arch}(int x) {{ return x * 3; }}\n")
        objects.append(tmp_path / f"{arch}.o")
        subprocess.run([need("clang-22"), "-target", f"{arch}-apple-macos11", "-g", "-c", f"{arch}.c", "-o", objects[-1]], cwd=tmp_path,
                       check=True)
    fat = tmp_path / "fat.o"
    subprocess.run([need("llvm-lipo-22"), "-create", *objects, "-output", fat], check=True)
    for arch in ("arm64", "x86_64", "arm64"):
        assert f"of_{arch} + 0 at" in callsign.good("lookup", "--arch", arch, fat, "0", "--cache-dir", cache)
    assert len({entry["htlhash"] for entry in listed(run)}) == 2
    assert "1 already there" in run("add", fat).stderr
    assert "of_x86_64 + 0 at" in callsign.good("lookup", objects[1], "0", "--cache-dir", cache)


def test_ten_processes_convert_once(callsign, cache, tmp_path):
    """All wait for the one that has the lock. strace counts who writes entries."""
    program = build(tmp_path, "shared")
    addr = hex(address_of(program, "work_shared"))
    strace = need("strace")
    jobs = [subprocess.Popen([strace, "-f", "-o", tmp_path / f"trace{i}", "-e", "trace=rename,renameat,renameat2", callsign.path, "lookup", program,
                              addr, "--cache-dir", cache], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, **UNDER_STRACE}) for i in range(10)]
    outputs = {job.communicate(timeout=60) for job in jobs}
    if any("ptrace" in err.lower() for _, err in outputs):
        pytest.skip("strace may not trace here")
    assert len(outputs) == 1 and "work_shared" in outputs.pop()[0]
    renames = sum((tmp_path / f"trace{i}").read_text().count(".gsym.tmp-") for i in range(10))
    assert renames == 1
    assert not list(cache.rglob("*.lock"))


@pytest.mark.parametrize("damage", ["byte", "cut", "empty", "footer", "text", "swapped"])
def test_damage_is_found_and_repaired(run, tree, cache, callsign, damage):
    program, other = tree / "part1" / "prog1", tree / "part1" / "prog4"
    run("add", program, other)
    paths = {entry["source"]: pathlib.Path(entry["path"]) for entry in listed(run)}
    path = paths[str(program)]
    good = path.read_bytes()
    bad = {"byte": good[:200] + bytes([good[200] ^ 0x40]) + good[201:], "cut": good[:-10], "empty": b"", "footer": good[:-1] + bytes([good[-1] ^ 1]),
           "text": b"no entry at all", "swapped": paths[str(other)].read_bytes()}[damage]
    path.write_bytes(bad)
    done = run("verify")
    assert done.returncode == 1 and str(path) in done.stdout
    assert "work_prog1" in answer(callsign, cache, program, "work_prog1")
    assert run("verify").returncode == 0
    path.write_bytes(bad)
    assert run("add", program).stderr.startswith("1 converted")
    assert run("verify").returncode == 0
    path.write_bytes(bad)
    assert run("prune").returncode == 0
    assert not path.exists() and len(listed(run)) == 1


def test_damage_that_keeps_the_time_is_found_by_verify(run, tree, cache):
    run("add", tree / "part1" / "prog1")
    path = pathlib.Path(listed(run)[0]["path"])
    data, stat = bytearray(path.read_bytes()), path.stat()
    data[200] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert run("verify").returncode == 1
    assert run("add", tree / "part1" / "prog1").stderr.startswith("1 converted")
    assert run("verify").returncode == 0


def test_killed_at_random_moments(tree, cache, callsign):
    """After each kill no entry is damaged; a run to the end completes. bench/run-kills does it with more and larger files."""
    kills = int(os.environ.get("CALLSIGN_KILLS", "40"))
    counts = kill_cache.run_kills(callsign.path, cache, [tree], kills, seed=16)
    assert kill_cache.is_good(counts), counts
    assert counts["entries"] == 12 and counts["kills"] == kills and counts["compared"] > kills / 20


def no_large_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))


def test_a_full_disk(run, tree, cache, callsign):
    """What cannot be kept is answered all the same; `cache add` fails and leaves nothing."""
    program = tree / "part2" / "prog2"
    done = run("add", program, preexec_fn=no_large_files)
    assert done.returncode == 2 and "File too large" in done.stderr
    addr = hex(address_of(program, "work_prog2"))
    out = callsign.good("lookup", program, addr, "--cache-dir", cache, preexec_fn=no_large_files)
    assert "work_prog2" in out
    assert not list(cache.rglob("*.gsym*"))
    assert run("add", program).returncode == 0


def test_a_folder_that_cannot_be_written(tree, callsign, tmp_path):
    (tmp_path / "file").write_text("in the way")
    program = tree / "part2" / "prog2"
    assert "work_prog2" in callsign.good("lookup", program, hex(address_of(program, "work_prog2")), "--cache-dir", tmp_path / "file" / "cache")


def without_override():
    """The rights that folders have hold for root, too. Other users have no such capability to lose."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


def test_a_folder_that_cannot_be_made(callsign, tree, tmp_path):
    """The message was that the folder for the entry is not there."""
    closed = tmp_path / "closed"
    closed.mkdir(0o555)
    program = tree / "part0" / "prog0"
    for cache in closed / "c", closed / "c" / "deep":
        done = callsign.run("cache", "add", "--cache-dir", cache, program, preexec_fn=without_override)
        assert done.returncode == 2
        assert f"cannot make the folder {closed / 'c'}: Permission denied" in done.stderr and "No such file" not in done.stderr
    assert not list(closed.iterdir())


def test_a_damaged_image_is_not_kept(run, tmp_path, callsign, cache):
    program = build(tmp_path, "hurt")
    section = next(line.split() for line in subprocess.run([need("readelf"), "-SW", program], capture_output=True, text=True, check=True)
                   .stdout.replace("[ ", "[").splitlines() if ".debug_line " in line)
    data = bytearray(program.read_bytes())
    offset = int(section[4], 16)
    data[offset + 4:offset + 6] = b"\x99\x99"  # version of the line table
    program.write_bytes(data)
    done = run("add", program)
    assert done.returncode == 2 and "not kept" in done.stderr
    for _ in range(2):
        done = callsign.run("lookup", program, hex(address_of(program, "work_hurt")), "--cache-dir", cache)
        assert "damaged or missing" in done.stderr
    assert listed(run) == []
