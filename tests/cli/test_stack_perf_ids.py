"""Build ids in the records of perf record --buildid-mmap: an exact one decides which symbols are used."""
import json
import re
import subprocess

import pytest

import gsym_make
from profile_bytes import Pprof
from programs import need

OURS, OTHER, KERNEL, OTHER_KERNEL = "0102030405060708090a0b0c0d0e0f1011121314", "ff" * 20, "aa" * 20, "bb" * 20
TEXT = 0xffffffff81000000
HEAD = "app 7/7 1.5: 1 cycles:u: "
FORMS = {
    "chain": HEAD + "\n\t            1010 [unknown] (/nowhere/app)\n\n",
    "chain of pcs": HEAD + "\n\t    55d000001010 [unknown] (/nowhere/app)\n\n",
    "chain without images": HEAD + "\n\t    55d000001010\n\n",
    "alone": HEAD + "    55d000001010 [unknown] (/nowhere/app)\n",
    "branches": HEAD + " 0x55d000001010(/nowhere/app)/0x55d000001020(/nowhere/app)/P/-/-/3/\n",
    "names of branches": HEAD + " area+0x10(/nowhere/app)/area+0x20(/nowhere/app)/P/-/-/3/\n",
    "kernel": HEAD + f"\n\t{TEXT + 0x10:16x} [unknown] ([kernel.kallsyms])\n\n",
    "kernel at a path": HEAD + f"\n\t{TEXT + 0x10:16x} [unknown] (/usr/lib/debug/boot/vmlinux-6.1)\n\n",
    "kernel without an image": HEAD + f"\n\t{TEXT + 0x10:16x}\n\n",
    "kernel alone": HEAD + f"    {TEXT + 0x10:16x} [unknown] ([kernel.kallsyms])\n",
}


def records(app, kernel):
    return (f"swapper 0 0.0: PERF_RECORD_MMAP2 -1/0: [{TEXT:#x}(0xe00000) @ {TEXT:#x} <{kernel}>]: ---p [kernel.kallsyms]_text\n"
            f"app 7/7 1.0: PERF_RECORD_MMAP2 7/7: [0x55d000001000(0x3000) @ 0x1000 <{app}>]: r-xp /nowhere/app\n")


@pytest.fixture(scope="module")
def symbols(tmp_path_factory):
    folder = tmp_path_factory.mktemp("symbols")
    gsym_make.write(folder / "app.gsym", [{"start": 0x1000, "size": 0x100, "name": "area"}], base=0, build_id=bytes.fromhex(OURS))
    gsym_make.write(folder / "vmlinux.gsym", [{"start": TEXT, "size": 0x100, "name": "do_idle"}], base=TEXT, build_id=bytes.fromhex(KERNEL))
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_another_build_is_not_used(callsign, symbols, tmp_path, form):
    """It was, without a message."""
    name, module = ("do_idle", "vmlinux") if "kernel" in form else ("area", "/nowhere/app")
    options = ("--no-search", "-i", f"app={symbols / 'app.gsym'}", "-i", f"vmlinux={symbols / 'vmlinux.gsym'}")

    def run(app, kernel):
        done = callsign.run("stack", "--json", *options, stdin=records(app, kernel) + FORMS[form])
        return json.loads(done.stdout.splitlines()[-1])["frames"][0], done.stderr
    frame, message = run(OURS, KERNEL)
    assert frame["frames"][0]["function"] == name and "build id" not in message
    frame, message = run(OTHER, OTHER_KERNEL)
    assert frame["frames"] == [] and "has another build id than the module" in message
    if form == "names of branches":  # without an address, and so without a mapping
        return
    for ids, named in (((OURS, KERNEL), True), ((OTHER, OTHER_KERNEL), False)):
        done = callsign.run("profile", "-", *options, "-o", tmp_path / "out.pb", stdin=records(*ids) + FORMS[form])
        assert ("has another build id" in done.stderr) == (not named)
        profile = Pprof((tmp_path / "out.pb").read_bytes())
        assert [m["build_id"] for m in profile.mappings.values() if m["file"] == module or "vmlinux" in m["file"]] == [ids["kernel" in form]]


def test_two_builds_at_one_path(callsign, symbols):
    """Of two processes, in a recording that lasted while the program was replaced."""
    text = records(OURS, KERNEL) + records(OTHER, KERNEL).replace(" 7/7", " 8/8") + FORMS["chain"] + FORMS["chain"].replace("7/7", "8/8")
    out = callsign.run("stack", "--json", "--no-search", "-s", symbols, stdin=text).stdout.splitlines()
    assert [len(json.loads(line)["frames"][0]["frames"]) for line in out] == [1, 0]


def test_headers_of_another_build(callsign, tmp_path):
    """A file at the path that is not the one that was mapped tells nothing of how that was laid out."""
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    app = tmp_path / "app"
    subprocess.run([need("gcc"), "-Wl,--build-id=0x" + OURS, "-no-pie", "a.c", "-o", app], check=True, cwd=tmp_path)
    text = f"app 7/7 1.0: PERF_RECORD_MMAP2 7/7: [0x401000(0x1000) @ 0x1000 <%s>]: r-xp {app}\n{HEAD}\n\t            1010 [unknown] ({app})\n\n"
    for build, mapping in ((OURS, 0x401000), (OTHER, 0x1000)):
        callsign.run("profile", "-", "--no-search", "-q", "-o", tmp_path / "out.folded", stdin=text % build)
        assert (tmp_path / "out.folded").read_text() == (f"app+{0x401010:#x} 1\n" if build == OURS else "[app <1010>] 1\n")


def test_ids_that_perf_records(callsign, tmp_path):
    """The program is replaced after it was recorded."""
    perf, app = need("perf"), tmp_path / "app"
    source = "static volatile long s;\n__attribute__((noinline)) void %s(void) { for (long i = 0; i < 60000000; i++) s += i; }\nint main(void) { %s(); return 0; }\n"

    def build(name):
        (tmp_path / "a.c").write_text(source % (name, name))
        subprocess.run([need("gcc"), "-g", "-O1", "a.c", "-o", app], check=True, cwd=tmp_path)
        notes = subprocess.run([need("readelf"), "-n", app], check=True, capture_output=True, text=True).stdout
        return re.search(r"Build ID: (\w+)", notes)[1]
    recorded = build("work")
    done = subprocess.run([perf, "record", "--buildid-mmap", "-e", "cpu-clock:u", "-F", "499", "-g", "-o", "data", app], cwd=tmp_path, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"perf cannot record here: {done.stderr[:200]}")
    text = subprocess.run([perf, "script", "-i", "data", "--show-mmap-events"], check=True, cwd=tmp_path, capture_output=True, text=True).stdout
    assert f"<{recorded}>" in text

    def run():
        done = callsign.run("profile", "-", "--offline", "--no-cache", "-o", tmp_path / "out.pb", stdin=re.sub(r"work\+\w+", "[unknown]", text))
        profile = Pprof((tmp_path / "out.pb").read_bytes())
        assert {m["build_id"] for m in profile.mappings.values() if m["file"] == str(app)} == {recorded}
        return profile.names(), done.stderr
    names, message = run()
    assert any("work" in stack for stack in names) and "build id" not in message
    assert build("other") != recorded
    names, message = run()
    assert not any({"other", "work"} & set(stack) for stack in names)
    assert f"instead of {recorded}; not used" in message
