"""lookup --pid: the file that the process has mapped, not the one that has its path by now, or here."""
import json
import os
import shutil
import subprocess

import pytest

from programs import need

PROGRAM = """
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int {name}(int n) {{ pause(); return n + 1; }}
int main(void) {{ printf("%p\\n", (void *)({name})); fflush(stdout); return {name}(1); }}
"""
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    void *library = dlopen(words[1], RTLD_NOW);
    if (!library) return puts(dlerror()), count;
    printf("%p\\n", dlsym(library, "entry"));
    fflush(stdout);
    return pause();
}
"""
LIBRARY = "{before} int {name}(int n) {{ return n + 7; }}\nint entry(int n) {{ return {name}(n) + 1; }}\n"


def compile_c(source, target, *options):
    subprocess.run([need("gcc"), "-g", "-O1", "-fno-inline", "-x", "c", "-", "-o", target, *options], input=source, text=True,
                   check=True)
    return target


class Jobs(list):
    """Processes that wait; each prints an address first."""

    def start(self, *command, **more):
        job = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **more)
        self.append(job)
        line = job.stdout.readline()
        if not line.startswith("0x"):
            job.wait(timeout=60)
            if job.returncode == 77 or line.strip() == "cannot":
                pytest.skip("no namespace can be set up")
            raise AssertionError((line, job.returncode))
        job.addr = line.strip()
        return job


@pytest.fixture
def jobs():
    started = Jobs()
    yield started
    for job in started:
        job.kill()
        job.wait()
        job.stdout.close()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("running")
    compile_c(PROGRAM.format(name="the_mapped_one"), folder / "mapped")
    compile_c(PROGRAM.format(name="another_one"), folder / "another")
    compile_c(PROGRAM.format(name="the_mapped_one"), folder / "static", "-static")
    compile_c(PROGRAM.format(name="another_one"), folder / "static-another", "-static")
    compile_c(LOADER, folder / "loader", "-ldl")
    for kind in "sha1", "none":
        options = ["-shared", "-fPIC", f"-Wl,--build-id={kind}"]
        compile_c(LIBRARY.format(name="mapped_helper", before=""), folder / f"lib-{kind}.so", *options)
        compile_c(LIBRARY.format(name="other_helper", before="int more(void) { return 3; }"), folder / f"other-{kind}.so", *options)
    return folder


def build_id(path):
    notes = subprocess.run([need("readelf"), "-n", path], capture_output=True, text=True, check=True).stdout
    return notes.split("Build ID:")[1].split()[0]


def names_at(callsign, job, *options, **more):
    done = callsign.run("lookup", "--json", "--offline", "--pid", job.pid, *options, job.addr, **more)
    answer = json.loads(done.stdout)
    return [frame["function"] for frame in answer.get("frames", [])], answer, done.stderr


def gdb_name(job):
    """What gdb says the function is; it stands beside us in the process's namespaces."""
    done = subprocess.run([need("gdb"), "-nx", "-batch", "-p", str(job.pid), "-ex", f"info symbol {job.addr}"], capture_output=True,
                          text=True)
    return next((line.split()[0] for line in done.stdout.splitlines() if " in section " in line), None)


def can_read_map_files():
    folder = "/proc/self/map_files"
    try:
        with open(f"{folder}/{os.listdir(folder)[0]}", "rb"):
            return True
    except OSError:
        return False


# ---- replaced and deleted ----

@pytest.mark.parametrize("way", ["replaced", "deleted"])
def test_a_program_without_its_file(callsign, built, jobs, tmp_path, way):
    """/proc/PID/exe needs no right. There was no index for the module."""
    program = tmp_path / "prog"
    shutil.copy(built / "mapped", program)
    job = jobs.start(program)
    if way == "replaced":
        shutil.copy(built / "another", tmp_path / "new")
        os.rename(tmp_path / "new", program)
    else:
        program.unlink()
    names, answer, messages = names_at(callsign, job)
    assert names == ["the_mapped_one"] and not messages
    assert answer["module"] == f"{program} (deleted)"
    if shutil.which("gdb"):
        assert gdb_name(job) in ("the_mapped_one", None)


@pytest.mark.parametrize("kind", ["sha1", "none"])
@pytest.mark.parametrize("way", ["replaced", "deleted"])
def test_a_library_without_its_file(callsign, built, jobs, tmp_path, way, kind):
    library = tmp_path / "lib.so"
    shutil.copy(built / f"lib-{kind}.so", library)
    job = jobs.start(built / "loader", library)
    library.unlink()
    if way == "replaced":
        shutil.copy(built / f"other-{kind}.so", library)
    names, answer, messages = names_at(callsign, job)
    assert answer["module"] == f"{library} (deleted)"
    if can_read_map_files():
        assert names == ["entry"] and not messages
        (line,) = callsign.good("lookup", "--no-cache", "--offline", "--pid", job.pid, job.addr).splitlines()
        assert "entry + 0" in line
    else:
        assert names == [] and ("cannot be opened" in messages or "another build id" in messages)


def run_without_rights(callsign, library, change, env):
    """Process and command in a user namespace, where /proc/PID/map_files may not be used. `change`: a shell command between."""
    script = ('"$1" "$2" >addr & pid=$!; for i in 1 2 3 4 5 6 7 8 9 10; do test -s addr && break; sleep 0.2; done; eval "$4"; '
              '"$3" lookup --json --offline --pid $pid $(cat addr); kill $pid')
    command = [need("unshare"), "--user", "--map-root-user", "sh", "-c", script, "sh", library.parent / "loader", library,
               callsign.path, change]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=library.parent,
                          env={**os.environ, "DEBUGINFOD_URLS": "", **env}, timeout=120)
    if not done.stdout:
        pytest.skip("no user namespace")
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("kind", ["sha1", "none"])
@pytest.mark.parametrize("change", ["replaced", "deleted", "same"])
def test_without_rights(callsign, built, tmp_path, change, kind):
    """Nothing is taken from a file that is not proved to be the one: by its build id, in memory, where it is there again."""
    library = tmp_path / "lib.so"
    shutil.copy(built / f"lib-{kind}.so", library)
    shutil.copy(built / "loader", tmp_path / "loader")
    shutil.copy(built / (f"other-{kind}.so" if change == "replaced" else f"lib-{kind}.so"), tmp_path / "new")
    shell = "rm lib.so" if change == "deleted" else "mv new lib.so"
    answer, messages = run_without_rights(callsign, library, shell, {"CALLSIGN_CACHE": ""})
    names = [frame["function"] for frame in answer.get("frames", [])]
    assert answer["module"] == f"{library} (deleted)"
    if change == "same" and kind == "sha1":
        assert names == ["entry"] and not messages
        return
    assert not names and answer["reason"], answer
    assert messages.count("\n") == 1 and messages.startswith(f"callsign: {library} (deleted): ")
    if change == "replaced" and kind == "sha1":
        assert build_id(built / "lib-sha1.so") in messages and build_id(built / "other-sha1.so") in messages
    else:
        assert "CAP_SYS_ADMIN" in messages
        assert ("another file has this path" if change != "deleted" else "no file has this path") in messages


def test_the_cache_has_a_deleted_library(callsign, built, tmp_path):
    """By the build id in the process's memory."""
    library = tmp_path / "lib.so"
    shutil.copy(built / "lib-sha1.so", library)
    shutil.copy(built / "loader", tmp_path / "loader")
    cache = {"CALLSIGN_CACHE": str(tmp_path / "cache")}
    callsign.good("cache", "add", library, env=cache)
    answer, messages = run_without_rights(callsign, library, "rm lib.so", cache)
    assert [frame["function"] for frame in answer["frames"]] == ["entry"] and not messages


def test_a_newline_in_the_path(callsign, built, jobs, tmp_path):
    """The maps have \\012 for it."""
    library = tmp_path / "a\nb \\012c .so"
    shutil.copy(built / "lib-sha1.so", library)
    job = jobs.start(built / "loader", library)
    names, answer, messages = names_at(callsign, job)
    if names or can_read_map_files():
        assert names == ["entry"] and not messages
    (tmp_path / "x\ny").mkdir()
    job = jobs.start(built / "loader", shutil.copy(built / "lib-sha1.so", tmp_path / "x\ny"))
    names, answer, messages = names_at(callsign, job)
    assert names == ["entry"] and not messages and answer["module"].endswith("x\\012y/lib-sha1.so")


def test_a_process_that_exits(callsign, built, jobs):
    job = jobs.start(built / "mapped")
    job.kill()
    job.wait()
    assert "No such file" in callsign.bad("lookup", "--pid", job.pid, "10")


# ---- namespaces and roots ----

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]


def start_within(jobs, script, *words):
    need("unshare")
    script = f"set -e; trap 'test $? = 0 || echo cannot' EXIT; {script}"
    return jobs.start(*UNSHARE, script, "sh", *words, stderr=subprocess.DEVNULL)


def test_another_file_in_the_namespace(callsign, built, jobs, tmp_path):
    """Answers were those of the file that the path names here, of another build, without a word."""
    for folder, name in ("path", "another"), ("inner", "mapped"):
        (tmp_path / folder).mkdir()
        shutil.copy(built / name, tmp_path / folder / "prog")
    job = start_within(jobs, 'mount --bind "$1/inner" "$1/path"; exec "$1/path/prog"', tmp_path)
    for option in [], ["--no-cache"]:
        names, answer, messages = names_at(callsign, job, *option)
        assert names == ["the_mapped_one"] and not messages
        assert answer["module"] == str(tmp_path / "path" / "prog")
    if shutil.which("gdb"):
        assert gdb_name(job) in ("the_mapped_one", None)
    beside = jobs.start(tmp_path / "path" / "prog")
    assert names_at(callsign, beside)[0] == ["another_one"]


def test_an_index_beside_the_other_file(callsign, built, jobs, tmp_path):
    """PATH.gsym here belongs to the file here."""
    for folder, name in ("path", "another"), ("inner", "mapped"):
        (tmp_path / folder).mkdir()
        shutil.copy(built / name, tmp_path / folder / "prog")
        callsign.good("convert", "-q", tmp_path / folder / "prog", "-o", tmp_path / folder / "prog.gsym")
        subprocess.run([need("strip"), tmp_path / folder / "prog"], check=True)
    job = start_within(jobs, 'mount --bind "$1/inner" "$1/path"; exec "$1/path/prog"', tmp_path)
    names, _, messages = names_at(callsign, job, "--no-cache")
    assert names == ["the_mapped_one"] and not messages


@pytest.mark.parametrize("place", ["whole", "beside", "link", "id"])
def test_another_root(callsign, built, jobs, tmp_path, place):
    """A container: its /app is not here, nor is its debug file."""
    root = tmp_path / "root"
    (root / "old").mkdir(parents=True)
    app = shutil.copy(built / "static", root / "app")
    if place != "whole":
        debug = root / "app.debug"
        subprocess.run([need("objcopy"), "--only-keep-debug", app, debug], check=True)
        subprocess.run([need("objcopy"), "--strip-all", f"--add-gnu-debuglink={debug}", app], check=True)
        folder = {"beside": root, "link": root / "usr/lib/debug"}.get(place)
        tree = root / "usr/lib/debug/.build-id" / build_id(app)[:2]
        target = folder / "app.debug" if folder else tree / f"{build_id(app)[2:]}.debug"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(debug, target)
    job = start_within(jobs, 'mount --rbind "$1" "$1"; cd "$1"; PATH=$PATH:/usr/sbin:/sbin; pivot_root . old; exec /app', root)
    names, answer, messages = names_at(callsign, job, "--no-cache")
    assert names == ["the_mapped_one"] and not messages and answer["module"] == "/app"


def test_chroot(callsign, built, jobs, tmp_path):
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    shutil.copy(built / "static", root / "bin" / "app")
    job = start_within(jobs, 'PATH=$PATH:/usr/sbin:/sbin; exec chroot "$1" /bin/app', root)
    names, _, messages = names_at(callsign, job)
    assert names == ["the_mapped_one"] and not messages


@pytest.mark.parametrize("numbers", ["equal", "other"])
def test_overlayfs(callsign, built, jobs, tmp_path, numbers):
    """Over two file systems without xino, stat() has other numbers than the maps."""
    for name in "lower", "upper", "merged":
        (tmp_path / name).mkdir()
    mounts = 'mount -t tmpfs none upper; mkdir upper/u upper/w; '
    if numbers == "other":
        mounts += 'mount -t tmpfs none lower; touch lower/1 lower/2; '
    options = "xino=off," if numbers == "other" else ""
    script = (f'cd "$1"; {mounts} cp "$2" lower/prog; mount -t overlay overlay -o {options}lowerdir="$1/lower",'
              'upperdir="$1/upper/u",workdir="$1/upper/w" merged; cd /; exec "$1/merged/prog"')
    job = start_within(jobs, script, tmp_path, built / "mapped")
    names, answer, messages = names_at(callsign, job)
    assert names == ["the_mapped_one"] and not messages
    assert answer["module"] == str(tmp_path / "merged" / "prog")
