"""Runs LLVM's own tests of llvm-symbolizer, llvm-addr2line and llvm-gsymutil, by lit and their RUN lines, against the installed tools and against
the stand-ins, and prints which of those that pass with the tools fail with the stand-ins.

As a program: lit_stand_ins.py LLVM_TEST_FOLDER [FILTER], where the folder is llvm/test of LLVM's sources, which are not part of this project.
$CALLSIGN names the command. Needs LLVM's lit, FileCheck, yaml2obj and other tools of its tests."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import stand_in_pairs

LLVM = pathlib.Path(os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22"))
FOLDERS = ("tools/llvm-symbolizer", "tools/llvm-addr2line", "tools/llvm-gsymutil", "DebugInfo")
TOOLS = ("llvm-symbolizer", "llvm-addr2line", "llvm-gsymutil")

CONFIG = """
import lit.formats, os
config.name = "stand-ins"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".test", ".s", ".ll", ".yaml", ".c", ".cpp"]
config.excludes = ["Inputs", "lit.local.cfg"]
config.test_source_root = {source!r}
config.test_exec_root = {work!r}
config.available_features |= {{"x86-registered-target", "aarch64-registered-target", "arm-registered-target", "x86_64-linux", "system-linux",
                              "zlib", "zstd", "shell", "symbolizer", "native", "default_triple", "object-emission"}}
config.environment["PATH"] = {path!r}
config.environment["LC_ALL"] = "C"
for variable in ("ASAN_SYMBOLIZER_PATH", "HOME"):
    if variable in os.environ: config.environment[variable] = os.environ[variable]
config.substitutions += [("%python", "python3"), ("%llc_dwarf", "llc -mtriple=x86_64-linux"), ("%errc_ENOENT", "'No such file or directory'"),
                         ("%errc_EISDIR", "'Is a directory'"), ("%errc_EACCES", "'Permission denied'"), ("%errc_EINVAL", "'Invalid argument'")]
config.targets = frozenset(["X86", "AArch64", "ARM"])
config.target_triple = "x86_64-pc-linux-gnu"
"""


def tests_of(folder):
    """Tests that start one of the tools."""
    for sub in FOLDERS:
        root = folder / sub
        pattern = "**/*" if sub.startswith("tools") else "*"
        for path in sorted(root.glob(pattern)):
            if path.is_file() and path.suffix in (".test", ".s", ".ll", ".yaml") and "Inputs" not in path.parts:
                text = path.read_text(errors="replace")
                if "RUN:" in text and any(tool in text for tool in TOOLS):
                    yield path


def run(source, which, first_on_path):
    """Results of lit by test name, with one folder first on PATH."""
    work = tempfile.mkdtemp(prefix=f"lit-{which}-")
    config = pathlib.Path(source) / "lit.cfg.py"
    config.write_text(CONFIG.format(source=str(source), work=work, path=f"{first_on_path}:{LLVM}/bin:{os.environ['PATH']}"))
    out = pathlib.Path(work) / "results.json"
    subprocess.run([str(LLVM / "bin/lit"), "-q", "-j2", "--output", str(out), str(source)], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    results = json.loads(out.read_text())["tests"] if out.exists() else []
    shutil.rmtree(work, ignore_errors=True)
    return {test["name"].split(" :: ")[-1]: (test["code"], test.get("output", "")) for test in results}


def copy_tests(folder, to, wanted):
    """The tests with the folders of their inputs: lit looks at every file of a folder."""
    for path in tests_of(folder):
        name = path.relative_to(folder)
        if wanted and wanted not in str(name):
            continue
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
        for parent in path.parents:
            inputs = parent / "Inputs"
            copied = to / parent.relative_to(folder) / "Inputs"
            if inputs.is_dir() and not copied.exists():
                shutil.copytree(inputs, copied)
            if parent == folder:
                break


def main(folder, wanted=None):
    folder = pathlib.Path(folder).resolve()
    base = pathlib.Path(tempfile.mkdtemp(prefix="lit-stand-ins-"))
    copy_tests(folder, base / "tests", wanted)
    theirs_bin = base / "theirs"
    theirs_bin.mkdir()
    theirs = run(base / "tests", "theirs", theirs_bin)
    ours = run(base / "tests", "ours", stand_in_pairs.links(base / "ours"))
    good = sorted(name for name, (code, _) in theirs.items() if code == "PASS")
    failed = [name for name in good if ours.get(name, ("MISSING", ""))[0] != "PASS"]
    for name in failed:
        print(f"fails: {name}")
        if wanted:
            print(ours.get(name, ("", ""))[1])
    print(f"{len(theirs)} tests, {len(good)} pass with LLVM's tools; of these {len(good) - len(failed)} with the stand-ins")
    shutil.rmtree(base, ignore_errors=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
