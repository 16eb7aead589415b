"""eu-addr2line of core dumps and of the kernel: the same bytes as elfutils' for good and damaged dumps."""
import os
import pathlib
import platform
import random
import re
import resource
import shutil
import struct
import subprocess
import time

import pytest

import core_dumps
import stand_in_pairs
from programs import need
from test_stand_ins import folder, pair_for  # noqa: F401 (a fixture)

pytestmark = pytest.mark.skipif(platform.system() != "Linux" or platform.machine() != "x86_64", reason="cores of Linux on x86-64")

LIBRARY = """int helper(int x) { return x * 2; }
int lib_entry(int x) { return helper(x) + 1; }
"""
PROGRAM = """#include <stdio.h>
int lib_entry(int);
static inline __attribute__((always_inline)) int inlined(int x) { return lib_entry(x) + 1; }
int main(int argc, char **argv) { (void)argv; puts("ready"); fflush(stdout); return inlined(argc + getchar()); }
"""
# name: options of the linker. Those without the library have its source.
LINKS = {"pie": ["-pie", "-L.", "-lx"], "nopie": ["-no-pie", "-L.", "-lx"], "static": ["-static", "lib.c"], "static-pie": ["-static-pie", "lib.c"],
         "no-id": ["-pie", "-Wl,--build-id=none", "lib.c"], "debug-link": ["-pie", "-Wl,--build-id=none", "lib.c"], "stripped": ["-pie", "-L.", "-lx"],
         "gone": ["-pie", "lib.c"], "changed": ["-pie", "lib.c"]}
OPTIONS = ([], ["-f", "-i", "-C"], ["-a", "-S"], ["-x", "-f", "-s"], ["-f", "-i", "-S", "--pretty-print", "-A"], ["-F", "--relative", "-b", "x"])


def build_id(path):
    return re.search(r"Build ID: (\w+)", subprocess.run([need("readelf"), "-n", path], capture_output=True, text=True, check=True).stdout).group(1)


def change_files(where):
    """After the processes have started: a debug file, one that is found by its link, one that is found by build id, and another build."""
    identifier, gone = build_id(where / "stripped"), build_id(where / "gone")
    for name in (identifier, gone):
        (where / f"dbg/.build-id/{name[:2]}").mkdir(parents=True, exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", "stripped", f"dbg/.build-id/{identifier[:2]}/{identifier[2:]}.debug"], cwd=where, check=True)
    subprocess.run(["strip", "-o", "stripped.new", "stripped"], cwd=where, check=True)
    subprocess.run(["objcopy", "--only-keep-debug", "debug-link", "debug-link.debug"], cwd=where, check=True)
    subprocess.run(["objcopy", "--strip-debug", "--add-gnu-debuglink=debug-link.debug", "debug-link", "debug-link.new"], cwd=where, check=True)
    subprocess.run(["gcc", "-g", "-O0", "-o", "changed.new", "main.c", "lib.c"], cwd=where, check=True)
    for name in ("stripped", "debug-link", "changed"):
        (where / f"{name}.new").rename(where / name)
    (where / "gone").rename(where / f"dbg/.build-id/{gone[:2]}/{gone[2:]}")


@pytest.fixture(scope="module")
def cores(tmp_path_factory):
    """A folder with programs and core.NAME of each; core.bare lacks the pages of files, core.no-files and core.no-auxv a note."""
    where = tmp_path_factory.mktemp("cores")
    need("gcc"), need("objcopy"), need("strip")
    (where / "lib.c").write_text(LIBRARY)
    (where / "main.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "-o", "libx.so", "lib.c"], cwd=where, check=True)
    for name, link in LINKS.items():
        link = [*link, f"-Wl,-rpath,{where}"] if "-lx" in link else link  # with a path, glibc's static-pie crashes
        subprocess.run(["gcc", "-g", "-O1", "-o", name, "main.c", *link], cwd=where, check=True)
        with core_dumps.running(where / name, where) as pid:
            core_dumps.dump(pid, where / f"core.{name}")
            if name == "pie":
                core_dumps.dump(pid, where / "core.bare", headers=False)
                core_dumps.dump(pid, where / "core.no-files", files=False)
                core_dumps.dump(pid, where / "core.no-auxv", auxv=False)
    change_files(where)
    return where


def places(data, rng=None):
    """Addresses at and around the bounds of what was mapped, and some within."""
    found = {0, 0x1139, 2**64 - 1}
    for _, addr, _, size in core_dumps.segments(data):
        found |= {addr + at for at in (-1, 0, 0x139, 0x5f1, size // 2, size - 1, size)}
        found |= {addr + (rng or random.Random(addr)).randrange(size) for _ in range(4)}
    return sorted(at % 2**64 for at in found)


def same(pair, where, arguments, lines=b""):
    difference = pair.compare(arguments, lines, where)
    assert difference is None, stand_in_pairs.show_difference(arguments, lines, difference)


@pytest.mark.parametrize("name", [*LINKS, "bare", "no-files", "no-auxv"])
def test_addresses_of_a_core(name, cores, folder):  # noqa: F811
    pair = pair_for("eu-addr2line", folder)
    lines = "".join(f"0x{at:x}\n" for at in places((cores / f"core.{name}").read_bytes())) + "main\nlib_entry+1\nnothing\n(.text)+1\n__vdso_time\n"
    program = name if name in LINKS else "pie"
    for options in OPTIONS:
        same(pair, cores, [*options, f"--core=core.{name}"], lines.encode())
    for more in (["-e", program], ["-e", "nosuch"], ["-e", "no-id"], [f"--debuginfo-path={cores}/dbg"], ["--debuginfo-path=:dbg"]):
        same(pair, cores, ["-f", "-i", "-S", *more, f"--core=core.{name}"], lines.encode())


def test_names_of_a_core_are_those_of_its_program(cores, folder):  # noqa: F811
    """Without the tool: what the program and its library have at these places."""
    pair = stand_in_pairs.Pair("eu-addr2line", folder)
    arguments = ["-f", "--core=core.pie", "main", "helper"]
    found = pair.run("ours", arguments, b"", cores)
    assert (found.code, found.err) == (0, b"")
    assert [line.split(b":")[0] for line in found.out.splitlines()] == [b"main", bytes(cores / "main.c"), b"helper", bytes(cores / "lib.c")]


@pytest.mark.skipif(pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip() != "core", reason="cores go elsewhere")
def test_a_core_of_the_kernel(cores, folder, tmp_path):  # noqa: F811
    pair = pair_for("eu-addr2line", folder)
    limit = resource.getrlimit(resource.RLIMIT_CORE)
    with subprocess.Popen([cores / "pie"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (limit[1], limit[1]))) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(6)
    found = list(tmp_path.glob("core*"))
    assert found or limit[1] != resource.RLIM_INFINITY
    for core in found:
        lines = "".join(f"0x{at:x}\n" for at in places(core.read_bytes())).encode()
        for options in (["-f", "-i"], ["-a", "-S"], ["-x", "-e", cores / "pie"]):
            same(pair, cores, [*map(str, options), f"--core={core}"], lines)


@pytest.mark.parametrize("arguments", [["--core=nosuch", "0"], ["--core=main.c", "0"], ["--core=.", "0"], ["--core=/dev/null", "0"], ["--core=pie", "0x1139"],
                                       ["--core=core.pie", "-p", "1", "0"], ["--core=core.pie", "-M", "nosuch", "0"], ["-M", "/proc/self/maps", "--core=core.pie", "0"],
                                       ["--core=core.pie", "--core=nosuch", "0"], ["--core=core.pie", "-j", ".text", "0"], ["--core=nosuch", "-q"], ["--core"],
                                       ["-e", "nosuch", "--core=nosuch"], ["--core=core.pie", "-e", "pie", "main"], ["--core=core.pie", "-k"], ["--core=core.pie", "-K"], ["--core=nosuch", "--version"]],
                         ids=" ".join)
def test_what_goes_with_cores(arguments, cores, folder):  # noqa: F811
    same(pair_for("eu-addr2line", folder), cores, arguments, b"0\n0x400000\n")


def kernel_is_there():
    release = platform.release()
    return any(pathlib.Path(path).exists() for path in ("/proc/modules", f"/boot/vmlinux-{release}", f"/boot/vmlinuz-{release}", f"/lib/modules/{release}"))


@pytest.mark.parametrize("arguments", [["-k", "0x10", "ffffffff81000100"], ["-k", "-S", "-f", "-a", "ffffffff82000100", "main"], ["-K", "0"], ["-K6.1", "0"],
                                       ["--offline-kernel=/nosuch", "0"], ["--offline-kernel=a/b", "0"], ["-k", "-e", "pie", "0"], ["-e", "pie", "-K", "0"],
                                       ["-k", "-j", ".text", "1"], ["-k", "(.text)+1"], ["-k", "-k", "0"], ["-K", "-k", "0"], ["-k"], ["-k", "--core=core.pie", "1"]],
                         ids=" ".join)
def test_kernels(arguments, cores, folder):  # noqa: F811
    """Without a kernel's files: the tool's messages and answers. With them: a refusal."""
    pair = pair_for("eu-addr2line", folder)
    if arguments[0] == "-k" and kernel_is_there() or arguments[0] == "-K" and kernel_is_there():
        found = pair.run("ours", arguments, b"", cores)
        assert found.code == 1 and found.out == b"" and b"kernel" in found.err
    else:
        same(pair, cores, arguments, b"0\n0x400000\nffffffff81000100\n")


def test_a_kernel_on_disk_is_refused(cores, folder, tmp_path):  # noqa: F811
    (tmp_path / "vmlinux").write_bytes((cores / "pie").read_bytes())
    found = stand_in_pairs.Pair("eu-addr2line", folder).run("ours", [f"-K{tmp_path}", "0"], b"", tmp_path)
    assert found == (1, b"", b"eu-addr2line: kernels are not read here\n")


# ---- damage ----

def spots(data):
    """Ranges of bytes that lead somewhere: headers, notes, ELF headers in memory, paths of the link map."""
    count = struct.unpack_from("<H", data, 56)[0]
    found = [(0, 64)] * 3 + [(64, 64 + 56 * count)] * 6
    found += [(at.start() - 12, at.start() + 512) for at in re.finditer(rb"CORE\0\0\0\0", data)]
    found += [(at.start(), at.start() + 64 + 56 * 13) for at in re.finditer(rb"\x7fELF\x02", data)]
    return found + [(at.start() - 64, at.start() + 16) for at in re.finditer(rb"libx\.so", data)]


def damage(rng, data):
    made = bytearray(data)
    if rng.random() < 0.2:
        del made[rng.randrange(rng.choice([8000, len(made)])):]
    addresses = [addr for _, addr, _, _ in core_dumps.segments(data)]
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        begin, end = rng.choice(spots(data)) if rng.random() < 0.9 else (0, len(data))
        at = rng.randrange(begin, end)
        if at + 8 > len(made):
            continue
        if rng.random() < 0.5:
            made[at] = rng.choice([0, 1, 0x80, 0xff, rng.randrange(256)])
        else:
            struct.pack_into("<Q", made, at & ~7, rng.choice([0, 1, 2**63, 2**64 - 1, 0x1000, rng.choice(addresses), rng.getrandbits(16), rng.getrandbits(48)]))
    return bytes(made)


@pytest.mark.parametrize("name", ["pie", "no-auxv", "gone"])
def test_damaged_cores(name, cores, folder, tmp_path):  # noqa: F811
    """CALLSIGN_CORE_RUNS has more of them made."""
    pair = pair_for("eu-addr2line", folder)
    data = (cores / f"core.{name}").read_bytes()
    rng = random.Random(5)
    for run in range(int(os.environ.get("CALLSIGN_CORE_RUNS", "20"))):
        (tmp_path / "core").write_bytes(damage(rng, data))
        lines = "".join(f"0x{at:x}\n" for at in rng.sample(places(data, rng), 40)).encode()
        arguments = [*rng.choice([[], ["-a", "-S"], ["-S", "-e", "pie"], ["-x"]]), f"--core={tmp_path}/core"]
        difference = pair.compare(arguments, lines, cores)
        if difference:
            shutil.copy(tmp_path / "core", tmp_path / f"core.{run}")
        assert difference is None, f"{tmp_path}/core.{run}" + stand_in_pairs.show_difference(arguments, lines, difference)


def hostile(count, starts, notes=b"", size=4096):
    """A dump of `count` segments of one page, or `size` bytes, that all show the same ELF header, at addresses that starts(i) gives."""
    image = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    image += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    begin = 64 + 56 * (count + 1)
    place = (begin + len(notes) + 4095) // 4096 * 4096
    table = struct.pack("<IIQQQQQQ", 4, 0, begin, 0, 0, len(notes), 0, 4)
    table += b"".join(struct.pack("<IIQQQQQQ", 1, 5, place, starts(i), 0, size, size, 4096) for i in range(count))
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, count + 1, 0, 0, 0)
    return (header + table + notes).ljust(place, b"\0") + image.ljust(size, b"\0")


def many_files(count):
    rows = b"".join(struct.pack("<QQQ", i << 16, (i << 16) + 4096, 0) for i in range(count))
    return core_dumps.note(core_dumps.NT_FILE, struct.pack("<QQ", count, 4096) + rows + b"/nosuch\0" * count)


@pytest.mark.parametrize("starts,notes", [(lambda i: i << 16, b""), (lambda i: (70000 - i) << 16, b""), (lambda i: (i * 40503 % 65536) << 16, b""), (lambda i: 0, b""),
                                          (lambda i: (i + 1) << 12, b""), (lambda i: i << 16, many_files(60000))],
                         ids=["apart", "descending", "shuffled", "one place", "adjacent", "files"])
def test_hostile_cores_end(starts, notes, folder, tmp_path):  # noqa: F811
    """60,000 images, as no process has them: bounded time (the limit of a run) and memory."""
    (tmp_path / "core").write_bytes(hostile(60000, starts, notes))
    pair = stand_in_pairs.Pair("eu-addr2line", folder)
    found = pair.run("ours", ["-S", "--core=core", "0x10010", "0"], b"", tmp_path)
    assert found.code in (0, 1) and found.code != 0 or found.out.count(b"\n") == 4
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert children < 2**21, "kB"


def test_images_of_a_core_that_share_their_bytes(folder, tmp_path):  # noqa: F811
    """600 images of 4 MiB, all of the same bytes of a dump of 4 MiB: they were copied one by one."""
    (tmp_path / "core").write_bytes(hostile(600, lambda i: (i + 1) << 24, size=1 << 22))
    with subprocess.Popen([stand_in_pairs.links(folder / "links") / "eu-addr2line", "--core=core", "0x1000010", "0x2000010"], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        out = process.stdout.read()
        usage = os.wait4(process.pid, 0)[2]
    assert out == b"??:0\n??:0\n" and usage.ru_maxrss < 2**20, "kB"
