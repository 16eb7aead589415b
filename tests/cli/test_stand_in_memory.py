"""Stand-ins without memory: each allocation of a run fails once. No answer is lost without a word."""
import os
import struct
import subprocess

import pytest

import stand_in_pairs
from programs import need
from test_stand_ins import folder, programs  # noqa: F401  (fixtures)

FAILING = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static long *count, fail_at;
__attribute__((constructor)) static void begin(void) {
    int fd = open(getenv("COUNT_FILE"), O_RDWR);
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    *count = 0;
    fail_at = atol(getenv("FAIL_AT"));
}
static int fails(void) {
    if (!count || __atomic_add_fetch(count, 1, __ATOMIC_RELAXED) != fail_at) return 0;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t size) { return fails() ? NULL : __libc_realloc(p, size); }
"""
RUNS = [("addr2line", "-e", "c-gcc", "-fi"), ("addr2line", "-e", "cc-link", "-fiC"), ("eu-addr2line", "-e", "c-gcc", "-fi"), ("llvm-symbolizer", "--obj=c-gcc"),
        ("llvm-symbolizer", "--obj=c-gcc", "--output-style=JSON"), ("llvm-symbolizer", "--obj=c-obj.o", "--gsym-file-directory=memory"), ("llvm-addr2line", "-e", "cc-split", "-fiC"),
        ("llvm-gsymutil", "--addresses-from-stdin"), ("atos", "-o", "c-gcc", "-i")]
MOST = 250  # failures of one run


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    need("gcc")
    where = tmp_path_factory.mktemp("failing")
    (where / "failing.c").write_text(FAILING)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", "failing.so", "failing.c"], cwd=where, check=True)
    (where / "count").write_bytes(bytes(8))
    return where


@pytest.mark.plain_build
@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_no_answer_is_lost_without_memory(arguments, failing, folder, programs):  # noqa: F811
    where = folder / "programs"
    links = stand_in_pairs.links(folder / "ours")
    (where / "memory").mkdir(exist_ok=True)
    subprocess.run([stand_in_pairs.CALLSIGN, "convert", where / "c-obj.o", "-o", where / "memory/c-obj.o.gsym", "--quiet"], check=True)
    words = b" memory/c-obj.o.gsym" if arguments[0] == "llvm-gsymutil" else b""
    addresses = (b"0x10", b"0x10a0", b"0x11b0", b"0x1139") * 2
    stdin = b"".join(addr + words + b"\n" for addr in addresses)

    def run(fail_at):
        env = {**os.environ, "LD_PRELOAD": str(failing / "failing.so"), "COUNT_FILE": str(failing / "count"), "FAIL_AT": str(fail_at), "CALLSIGN_CACHE": ""}
        return stand_in_pairs.run([str(links / arguments[0]), *arguments[1:]], stdin, where, env)

    whole = run(0)
    count = struct.unpack("<q", (failing / "count").read_bytes())[0]
    assert whole.code == 0 and count > 10
    for at in range(1, count + 1, count // MOST + 1):
        done = run(at)
        assert done == whole or (done.code == 1 and done.err), (at, done)
        assert whole.out.startswith(done.out), (at, done)
