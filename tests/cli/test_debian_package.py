"""A program of a Debian package and the symbols of its -dbgsym package, both built here as Debian builds them (debhelper: dh_strip, dwz,
compressed sections): gdb stops in the stripped program, and its text gets names from the -dbgsym package alone."""
import os
import pathlib
import re
import subprocess

import pytest

from programs import need
from test_serve import Server, has_server  # noqa: F401 (fixture)

FILES = {
    "boxes.h": "int boxes_load(const char *text);\n",
    "boxes.c": """\
#include "boxes.h"
#include <signal.h>
static volatile int sink;
static inline __attribute__((always_inline)) int weigh(int n) {
    raise(SIGUSR1); /* LINE weigh */
    return n * 2;
}
static __attribute__((noinline)) int parse(const char *text) {
    sink = weigh(*text); /* LINE parse */
    return sink + 1;
}
int boxes_load(const char *text) {
    int n = parse(text); /* LINE load */
    sink = n;
    return n;
}
""",
    "main.c": """\
#include "boxes.h"
static volatile int result;
static __attribute__((noinline)) void serve(const char *text) {
    result = boxes_load(text); /* LINE serve */
    result++;
}
int main(int argc, char **argv) {
    serve(argv[argc - 1]); /* LINE main */
    return result & 1;
}
""",
    "Makefile": """\
CFLAGS += -fno-optimize-sibling-calls
all:
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared boxes.c $(LDFLAGS) -Wl,-soname,libboxes.so.1 -o libboxes.so.1
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIE -pie main.c libboxes.so.1 $(LDFLAGS) -o boxes
install:
	install -D boxes $(DESTDIR)/usr/bin/boxes
	install -D -m 644 libboxes.so.1 $(DESTDIR)/usr/lib/boxes/libboxes.so.1
clean:
	rm -f boxes libboxes.so.1
""",
    "debian/control": "Source: boxes\nMaintainer: Nobody <nobody@example.org>\nBuild-Depends: debhelper-compat (= 13)\n\nPackage: boxes\n"
                      "Architecture: any\nDescription: boxes\n Boxes.\n",
    "debian/changelog": "boxes (1.0) unstable; urgency=low\n\n  * First.\n\n -- Nobody <nobody@example.org>  Mon, 23 Nov 2026 00:00:00 +0000\n",
    "debian/rules": "#!/usr/bin/make -f\n%:\n\tdh $@\noverride_dh_shlibdeps:\n\ttrue\n",
    "debian/source/format": "3.0 (native)\n",
}


def run(*args, **more):
    done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, (args, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The unpacked packages: program and symbols; the source; gdb's text."""
    build, gdb = need("dpkg-buildpackage"), need("gdb")
    need("dh_strip"), need("dwz")
    folder = tmp_path_factory.mktemp("package")
    source = folder / "boxes-1.0"
    for name, text in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / "debian" / "rules").chmod(0o755)
    run(build, "-b", "-us", "-uc", "-d", cwd=source, env={**os.environ, "DEB_BUILD_OPTIONS": "nocheck"})
    for deb in folder.glob("*.deb"):
        run("dpkg-deb", "-x", deb, folder / ("symbols" if "dbgsym" in deb.name else "program"))
    assert (folder / "symbols").is_dir(), sorted(path.name for path in folder.iterdir())
    commands = ["set debuginfod enabled off", "set pagination off", "set debug-file-directory /nonexistent", "run 5", "bt", "info proc mappings"]
    text = run(gdb, "-nx", "-batch", *(word for command in commands for word in ("-ex", command)), folder / "program" / "usr" / "bin" / "boxes",
               env={**os.environ, "LD_LIBRARY_PATH": str(folder / "program" / "usr" / "lib" / "boxes")})
    if "ptrace" in text or "#3 " not in text:
        pytest.skip(f"gdb cannot run a program here: {text[-200:]}")
    return folder, source, text


def line(name):
    for file in ("boxes.c", "main.c"):
        for number, text in enumerate(FILES[file].splitlines(), 1):
            if text.endswith(f"LINE {name} */"):
                return file, number
    raise AssertionError(name)


WANTED = ["weigh", "parse", "load", "serve", "main"]


def named(text):
    found = re.findall(r"^#\d+ .*?(\w+) \(.*\) at (?:\S*/)?((?:boxes|main)\.c):(\d+)$", text, re.M)
    return [(file, int(number)) for _, file, number in found], [name for name, _, _ in found]


def check(text):
    places, functions = named(text)
    assert places == [line(name) for name in WANTED], text
    assert functions == ["weigh", "parse", "boxes_load", "serve", "main"], text


def module_lines(text, folder):
    """The same stack as systemd's coredumpctl prints it, of the modules' offsets: from gdb's own mappings."""
    starts = {}
    for start, path in re.findall(r"^ +(0x[0-9a-f]+) +0x[0-9a-f]+ +0x[0-9a-f]+ +0x0 .*?(/\S+)$", text, re.M):
        starts.setdefault(path, int(start, 16))
    ids = {path: re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path)).group(1) for path in starts if str(folder) in path}
    lines = ["Process 42 (boxes) of user 0 dumped core.", ""]
    lines += [f"Module {path} with build-id {number}" for path, number in ids.items()] + ["Stack trace of thread 42:"]
    for number, pc in re.findall(r"^#(\d+) +(0x[0-9a-f]+) in ", text, re.M):
        path, start = max(((p, s) for p, s in starts.items() if s <= int(pc, 16)), key=lambda pair: pair[1])
        lines.append(f"#{number}  0x{int(pc, 16):016x} n/a ({pathlib.PurePath(path).name} + {int(pc, 16) - start:#x})")
    return "\n".join(lines) + "\n"


def test_gdb_with_the_debug_folder(callsign, package):
    folder, _, text = package
    assert "weigh" not in text and "serve" not in text
    options = ["--in-place", "--offline", "--no-cache"]
    check(callsign.good("stack", *options, "--debug-dir", folder / "symbols" / "usr" / "lib" / "debug", stdin=text))
    assert not named(callsign.good("stack", *options, "--debug-dir", folder / "none", stdin=text))[0]


def test_coredumpctl_with_the_debug_folder(callsign, package):
    folder, _, text = package
    report = module_lines(text, folder)
    filled = callsign.good("stack", "--in-place", "--offline", "--no-cache", "--debug-dir", folder / "symbols" / "usr" / "lib" / "debug", stdin=report)
    for name, function in zip(WANTED, ["weigh", "parse", "boxes_load", "serve", "main"]):
        file, number = line(name)
        assert re.search(rf"\b{function} at \S*{file}:{number}\b", filled), (name, filled)


@pytest.mark.usefixtures("has_server")
def test_gdb_with_a_server(callsign, package, tmp_path):
    folder, _, text = package
    callsign.good("store", "add", "--store", tmp_path / "store", folder / "symbols" / "usr" / "lib" / "debug")
    with Server(callsign, tmp_path / "store") as server:
        check(callsign.good("stack", "--in-place", "--cache-dir", tmp_path / "cache", "--debug-dir", tmp_path / "none", stdin=text,
                            env={**os.environ, "DEBUGINFOD_URLS": server.url}))
