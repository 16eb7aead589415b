"""scripts/count-results: skips that nobody listed are failures, and cases of cmocka programs count one by one."""
import os
import pathlib
import subprocess
import sys

from long_tests import ONE_IN

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOG = """test 7
      Start  7: test_sample
7: [ RUN      ] good
7: [       OK ] good
7: [ RUN      ] left_out
7: [  SKIPPED ] left_out
{more}1/2 Test   #7: test_sample ......................{verdict} sec
2/2 Test   #8: exported_symbols .................   Passed    0.19 sec
"""
JUNIT = """<testsuites><testsuite>
<testcase classname="tests.cli.test_sample" name="test_good"/>
<testcase classname="tests.cli.test_sample" name="test_left_out[1]"><skipped message="{reason}"/></testcase>
</testsuite></testsuites>"""


def count(folder, run, name, text, **env):
    path = folder / name
    path.write_text(text)
    done = subprocess.run([sys.executable, ROOT / "scripts" / "count-results", run, path], capture_output=True, text=True,
                          env={**os.environ, "CALLSIGN_WITHOUT": "", **env})
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_cases_of_cmocka_programs(tmp_path):
    text = LOG.format(more="", verdict="   Passed    0.83")
    assert count(tmp_path, "unit-sample", "log", text)[1] == [
        "FAIL  unit-sample test_sample::left_out: an unexpected skip", "2 1 0"]
    text = LOG.format(more="7: [  FAILED  ] bad\n7: [  FAILED  ] bad\n", verdict="***Failed    0.83")
    assert count(tmp_path, "unit-sample", "log", text)[1][-1] == "2 2 0"
    text = LOG.format(more="", verdict="***Exception: SegFault  0.83")
    assert count(tmp_path, "unit-sample", "log", text)[1][-1] == "2 2 0"


def test_listed_skips(tmp_path):
    text = LOG.format(more="", verdict="   Passed    0.83").replace("left_out", "names_a_library_that_is_missing").replace(
        "test_sample", "test_object_data")
    assert count(tmp_path, "unit-release", "log", text)[1][-1] == "2 0 1"
    assert count(tmp_path, "unit-bare", "log", text)[1][-1] == "2 1 0"


def test_missing_tools(tmp_path):
    text = JUNIT.format(reason="perf is not installed")
    assert count(tmp_path, "cli-sample", "run.xml", text)[1] == [
        "FAIL  cli-sample test_sample::test_left_out[1]: an unexpected skip: perf is not installed", "1 1 0"]
    assert count(tmp_path, "cli-sample", "run.xml", text, CALLSIGN_WITHOUT="go perf")[1][-1] == "1 0 1"
    text = JUNIT.format(reason="crates.io cannot be reached, or cargo is too old")
    assert count(tmp_path, "engines", "run.xml", text)[1][-1] == "1 1 0"
    assert count(tmp_path, "engines", "run.xml", text, CALLSIGN_WITHOUT="PyPI crates.io")[1][-1] == "1 0 1"
    text = JUNIT.format(reason="not installed: clang++-22, dwz")
    assert count(tmp_path, "cli-sample", "run.xml", text, CALLSIGN_WITHOUT="dwz")[1][-1] == "1 1 0"
    assert count(tmp_path, "cli-sample", "run.xml", text, CALLSIGN_WITHOUT="dwz clang++-22")[1][-1] == "1 0 1"


def test_old_compilers(tmp_path):
    """Expected where the tool that is there is older than the crates need, and nowhere else."""
    cargo = tmp_path / "cargo"
    for part, minor, last in (("rust", 65, "0 0 1"), ("rust", 77, "0 1 0"), ("readers", 87, "0 0 1"), ("readers", 88, "0 1 0")):
        cargo.write_text(f"#!/bin/sh\necho 'cargo 1.{minor}.0 (abcdef 2022-01-01)'\n")
        cargo.chmod(0o755)
        text = f'<testsuite><testcase classname="step" name="{part}"><skipped message="cargo is too old"/></testcase></testsuite>'
        assert count(tmp_path, "engines", "run.xml", text, PATH=f"{tmp_path}:{os.environ['PATH']}")[1][-1] == last


def test_no_test_at_all(tmp_path):
    for name, text in (("log", "No tests were found!!!\n"), ("run.xml", "<testsuites/>")):
        code, _, stderr = count(tmp_path, "unit-sample", name, text)
        assert code == 1 and "no test in it" in stderr


def test_what_is_run_once_in_several_exists():
    """A test that was renamed would run with all its cases, or one that was meant not to run at all would."""
    folder = pathlib.Path(__file__).parent
    for name in ONE_IN:
        file, function = name.split("::")
        assert f"\ndef {function}(" in (folder / f"{file}.py").read_text(), name
