"""Modules of a log are found without being told where: images, debug files, the cache, names that match loosely."""
import os
import pathlib
import shutil
import subprocess

import pytest

from programs import need

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) int area(int x) { return x * x + 1; }
int main(int count, char **words) { (void)words; printf("%d\\n", area(count)); return 0; }
"""


class Program:
    def __init__(self, folder, gcc, name="app", options=()):
        self.path = folder / name
        (folder / "app.c").write_text(SOURCE)
        subprocess.run([gcc, "-g", "-O1", "-Wl,--build-id=sha1", *options, "-o", self.path, folder / "app.c"], check=True)
        symbols = subprocess.run(["nm", self.path], capture_output=True, text=True, check=True).stdout
        self.area = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" area"))
        notes = subprocess.run(["readelf", "-n", self.path], capture_output=True, text=True, check=True).stdout
        self.build_id = notes.partition("Build ID: ")[2].split()[0]

    def line(self, name=None):
        return f"{name or self.path}+{self.area:#x}\n"


@pytest.fixture
def app(tmp_path, gcc):
    return Program(tmp_path, gcc)


@pytest.fixture
def env(tmp_path):
    return {"CALLSIGN_CACHE": str(tmp_path / "cache")}


def entries(env):
    return sorted(pathlib.Path(env["CALLSIGN_CACHE"]).rglob("*.gsym"))


def debug_file(program, folder):
    """The program's debug file in a build-id tree; the program is stripped."""
    place = folder / ".build-id" / program.build_id[:2] / (program.build_id[2:] + ".debug")
    place.parent.mkdir(parents=True)
    subprocess.run([need("objcopy"), "--only-keep-debug", program.path, place], check=True)
    subprocess.run([need("strip"), program.path], check=True)
    return place


def test_an_image_is_converted_once_and_kept(callsign, app, env):
    assert "area + 0 at" in callsign.good("stack", stdin=app.line(), env=env)
    (entry,) = entries(env)
    assert entry.parent.name + entry.stem == app.build_id
    before = entry.stat().st_ino
    assert "area + 0 at" in callsign.good("stack", stdin=app.line(), env=env)
    assert entry.stat().st_ino == before
    app.path.unlink()
    out = callsign.good("stack", "--json", env=env, stdin='{"modules":[{"name":"gone","build_id":"%s"}],"frames":[{"module":"gone","address":"%#x"}]}'
                        % (app.build_id, app.area))
    assert '"function":"area"' in out


@pytest.mark.parametrize("option", ["--no-search", "--no-cache"])
def test_options_that_restrict(callsign, app, env, option):
    out = callsign.good("stack", option, stdin=app.line(), env=env)
    assert ("area" in out) == (option == "--no-cache")
    assert not pathlib.Path(env["CALLSIGN_CACHE"]).exists()


def test_an_empty_variable_means_no_cache(callsign, app, tmp_path):
    env = {"CALLSIGN_CACHE": "", "HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "xdg")}
    assert "area" in callsign.good("stack", stdin=app.line(), env=env)
    assert not (tmp_path / "home").exists() and not (tmp_path / "xdg").exists()


def test_the_folder_of_the_cache(callsign, app, tmp_path):
    without = {name: value for name, value in os.environ.items() if name not in ("CALLSIGN_CACHE", "XDG_CACHE_HOME")}
    for env, folder in (({"XDG_CACHE_HOME": str(tmp_path / "xdg")}, tmp_path / "xdg" / "callsign"),
                        ({"HOME": str(tmp_path / "home")}, tmp_path / "home" / ".cache" / "callsign")):
        subprocess.run([callsign.path, "stack"], input=app.line().encode(), env={**without, **env}, check=True, capture_output=True)
        assert list(folder.rglob("*.gsym")), folder


def test_a_debug_file_by_build_id(callsign, app, env, tmp_path):
    poor = callsign.good("stack", stdin=app.line(), env=env)
    assert "app.c:3" in poor
    tree = tmp_path / "debug"
    debug_file(app, tree)
    shutil.rmtree(env["CALLSIGN_CACHE"])
    assert "app.c" not in callsign.good("stack", stdin=app.line(), env=env)
    # what was missing is searched again at once
    assert "app.c:3" in callsign.good("stack", "--debug-dir", tree, stdin=app.line(), env=env)
    assert len(entries(env)) == 1
    assert "app.c:3" in callsign.good("stack", stdin=app.line(), env=env)


def test_an_image_of_a_universal_file_by_its_id(callsign, env, tmp_path):
    parts, ids, starts = [], {}, {}
    for arch in ("arm64", "x86_64"):
        (tmp_path / f"{arch}.c").write_text(f"int of_{arch}(int x) {{ return x * 3; }}\n")
        part = tmp_path / f"{arch}.dylib"
        subprocess.run([need("clang-22"), "-target", f"{arch}-apple-macos11", "-g", "-c", f"{arch}.c"], cwd=tmp_path, check=True)
        subprocess.run([need("ld64.lld-22"), "-arch", arch, "-platform_version", "macos", "11.0", "11.0", "-dylib", f"{arch}.o", "-o", part],
                       cwd=tmp_path, check=True)
        told = subprocess.run([need("llvm-dwarfdump-22"), "--uuid", part], capture_output=True, text=True, check=True).stdout
        symbols = subprocess.run([need("llvm-nm-22"), part], capture_output=True, text=True, check=True).stdout
        ids[arch], starts[arch] = told.split()[1], int(symbols.split()[0], 16)
        parts.append(part)
    fat = tmp_path / "fat.dylib"
    subprocess.run([need("llvm-lipo-22"), "-create", *parts, "-output", fat], check=True)

    def report(arch, uuid):
        return (f"Process: app [1]\n\nThread 0 Crashed:\n0   fat.dylib  \t{0x100000000 + starts[arch]:#018x} f + 0\n\nBinary Images:\n"
                f"       0x100000000 -        0x100000fff +fat.dylib (0) <{uuid}> {fat}\n")
    for arch in ("arm64", "x86_64", "arm64"):
        assert f"of_{arch} + 0 at" in callsign.good("stack", stdin=report(arch, ids[arch]), env=env)
    done = callsign.run("stack", stdin=report("arm64", "00000000-1111-2222-3333-444444444444"), env=env)
    assert "there is no index for the module" in done.stdout and "has another build id than the module" in done.stderr


def test_another_build_is_refused_with_both_ids(callsign, app, env, tmp_path, gcc):
    other = "ff" * 20
    line = '{"modules":[{"name":"%s","build_id":"%s"}],"frames":[{"module":"%s","address":"%#x"}]}' % (app.path, other, app.path, app.area)
    done = callsign.run("stack", "--json", stdin=line, env=env)
    assert "area" not in done.stdout
    assert "build id" in done.stderr and other in done.stderr and app.build_id in done.stderr
    for argument in (app.path, f"app={app.path}"):
        done = callsign.run("stack", "--no-search", "-i", argument, "--json", stdin=line, env=env)
        assert "area" not in done.stdout
        assert "build id" in done.stderr and other in done.stderr and app.build_id in done.stderr


@pytest.mark.parametrize("index, module", [
    ("liborders.so.1.2.3.gsym", "liborders.so.1"), ("liborders.so.gsym", "/lib/liborders.so.1.2"), ("orders.gsym", "C:\\bin\\orders.exe"),
    ("orders.exe.gsym", "orders"), ("app.gsym", "app.debug"), ("app.debug.gsym", "/usr/bin/app")])
@pytest.mark.parametrize("way", ["--index", "--symbols"])
def test_names_match_loosely(callsign, app, tmp_path, index, module, way):
    folder = tmp_path / "symbols"
    folder.mkdir()
    callsign.good("convert", app.path, "-o", folder / index, "--quiet")
    given = folder / index if way == "--index" else folder
    line = '{"frames":[{"module":"%s","address":"%#x"}]}' % (module.replace("\\", "\\\\"), app.area)
    assert '"function":"area"' in callsign.good("stack", "--no-search", "--json", way, given, stdin=line)


@pytest.mark.parametrize("index, module", [("liborders.so.10.gsym", "liborders.so.1"), ("orders.exe.gsym", "orders.dll"), ("order.gsym", "orders")])
def test_names_that_do_not_match(callsign, app, tmp_path, index, module):
    callsign.good("convert", app.path, "-o", tmp_path / index, "--quiet")
    line = '{"frames":[{"module":"%s","address":"%#x"}]}' % (module, app.area)
    assert "area" not in callsign.good("stack", "--no-search", "--json", "--index", tmp_path / index, stdin=line)


def test_an_index_for_modules_of_a_name(callsign, app, tmp_path):
    callsign.good("convert", app.path, "-o", tmp_path / "x.gsym", "--quiet")
    line = f"service+{app.area:#x}\n"
    assert "area" in callsign.good("stack", "--no-search", "-i", f"service={tmp_path}/x.gsym", stdin=line)
    assert "area" not in callsign.good("stack", "--no-search", "-i", f"other={tmp_path}/x.gsym", stdin=line)
    # A folder's index of that name comes after it, whichever way it was given.
    (tmp_path / "folder").mkdir()
    (tmp_path / "map").write_text("0000000000001000 T of_the_folder\n0000000000100000 T after_it\n")
    callsign.good("convert", tmp_path / "map", "-o", tmp_path / "folder" / "service.gsym", "--quiet")
    folder = ["-s", tmp_path / "folder"]
    assert "of_the_folder" in callsign.good("stack", "--no-search", *folder, stdin=line)
    assert "area" in callsign.good("stack", "--no-search", "-i", f"service={tmp_path}/x.gsym", *folder, stdin=line)
    (tmp_path / "x.gsym").rename(tmp_path / "service.gsym")
    assert "area" in callsign.good("stack", "--no-search", "-i", tmp_path / "service.gsym", *folder, stdin=line)


def test_an_entry_of_a_changed_file_is_not_used(callsign, app, env):
    """Same build id, same size, other content in the middle: as when a file is patched in place."""
    assert "app.c:3" in callsign.good("stack", stdin=app.line(), env=env)
    data = app.path.read_bytes()
    assert data.count(b"app.c\0") >= 1
    app.path.write_bytes(data.replace(b"app.c\0", b"xyz.c\0"))
    done = callsign.good("lookup", app.path, hex(app.area), env=env)
    assert "xyz.c:3" in done


def test_why_nothing_was_found(callsign, app, env, tmp_path):
    other = '{"modules":[{"name":"%s","build_id":"%s"}],"frames":[{"module":"app","address":"0x10"},{"module":"libnone.so","address":"0x1"}]}'
    done = callsign.run("stack", "--explain", stdin=other % (app.path, "ff" * 20), env=env)
    text = done.stderr
    assert f"{app.path}: no symbols; searched:" in text
    assert f"  beside the image: {app.path}.gsym: nothing" in text
    assert f"  the image: {app.path}: refused: has another build id" in text
    assert "  debug file: debug folders: nothing" in text
    assert "libnone.so: no symbols; searched:\n  nowhere: its path and build id are unknown\n" in text


@pytest.mark.parametrize("path", ["./sub/app", "sub/app"])
@pytest.mark.parametrize("line", ["{path}(+{addr})[0x55d000001139]", "    #1 0x55d000001139  ({path}+{addr})"])
def test_module_with_a_relative_path(callsign, shapes, tmp_path, path, line):
    """A program that was started as ./app prints that path: it is a file of the folder that the log is read in."""
    (tmp_path / "sub").mkdir()
    shutil.copy(shapes.path, tmp_path / "sub" / "app")
    text = line.format(path=path, addr=hex(shapes.mark("outer"))) + "\n"
    assert "outer" in callsign.good("stack", "--in-place", stdin=text, cwd=tmp_path)
    assert "outer" not in callsign.run("stack", "--in-place", "--no-search", stdin=text, cwd=tmp_path).stdout
    assert "outer" not in callsign.run("stack", "--in-place", stdin=text, cwd=tmp_path / "sub").stdout
