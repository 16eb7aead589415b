"""For a matrix of compiled programs, the index that `callsign convert` makes answers every byte of code as the one that
llvm-gsymutil makes: names, offsets, files, lines and the order of inlined calls."""
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import gsym_diff
from diff_cases import all_cases

HERE = Path(__file__).resolve().parent
CASES = {case.name: case for case in all_cases()}
SHOWN = 5

pytestmark = pytest.mark.skipif(not gsym_diff.have_gsymutil(),
                                reason=f"{gsym_diff.GSYMUTIL} is not installed: nothing was compared with it")


class Outcome:
    """A case, compiled and converted by both."""

    def __init__(self, case, folder):
        self.missing = case.missing_tools()
        self.folder = folder
        if self.missing:
            return
        folder.mkdir()
        for step in case.steps:
            run = subprocess.run(step, cwd=folder, capture_output=True, text=True)
            assert run.returncode == 0, f"{' '.join(step)}\n{run.stderr}"
        self.source = folder / case.source
        self.ours, self.theirs = folder / "callsign.gsym", folder / "llvm.gsym"
        for run in (gsym_diff.convert_llvm(folder / case.reference, self.theirs),
                    gsym_diff.convert_ours(self.source, self.ours, 2)):
            assert run.returncode == 0, run.stdout + run.stderr
        self.dumps = {index: gsym_diff.dump_llvm(index) for index in (self.ours, self.theirs)}
        functions = [range_ for dump in self.dumps.values() for range_ in gsym_diff.dump_functions(dump.stdout)]
        self.addresses = sorted({a for start, end in functions for a in range(max(start - 1, 0), end + 1)})
        self.address_file = folder / "addresses"
        gsym_diff.write_addresses(self.address_file, self.addresses)
        rows = [gsym_diff.dump_row_counts(self.dumps[index].stdout) for index in (self.theirs, self.ours)]
        self.differences, self.reader_checks = gsym_diff.compare_indexes(self.theirs, self.ours, self.addresses,
                                                                         self.address_file, rows, folder / case.reference)


@pytest.fixture(scope="session")
def outcomes(request, tmp_path_factory):
    """The outcome of each selected case, computed by two workers ahead of the tests that ask for it."""
    base = tmp_path_factory.mktemp("diff")
    shutil.copytree(HERE / "sources", base / "src")
    names = dict.fromkeys(item.callspec.params["name"] for item in request.session.items
                          if "outcomes" in getattr(item, "fixturenames", ()))
    with ThreadPoolExecutor(2) as pool:
        yield {name: pool.submit(Outcome, CASES[name], base / name) for name in names}


@pytest.fixture
def outcome(outcomes, name):
    result = outcomes[name].result()
    if result.missing:
        pytest.skip(f"not installed: {', '.join(result.missing)}")
    return result


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        full = metafunc.config.getoption("--full", default=False)
        metafunc.parametrize("name", [case.name for case in CASES.values() if case.quick or full])


def test_frames_equal(outcome, name):
    undocumented = [difference for difference in outcome.differences if not difference.reason]
    assert not undocumented, (f"{len(undocumented)} of {len(outcome.addresses)} addresses differ:\n" +
                              "\n".join(map(str, undocumented[:SHOWN])))
    reasons = {difference.reason for difference in outcome.differences}
    expected = set(CASES[name].improvements)
    assert reasons | gsym_diff.COMMON == expected | gsym_diff.COMMON and expected <= reasons, \
        "a documented improvement does not show, or shows here as well"
    has_inlines = b" called from " in outcome.dumps[outcome.theirs].stdout
    assert outcome.addresses and has_inlines == CASES[name].inlines, "the case does not test what it should"


def test_reference_reads_every_record(outcome):
    assert gsym_diff.dump_errors(outcome.dumps[outcome.ours]) == []
    # Rows of no function have a record without a name: rows-without-function.
    ours, theirs = (gsym_diff.dump_functions(outcome.dumps[index].stdout, named=True) for index in (outcome.ours, outcome.theirs))
    reasons = {difference.reason for difference in outcome.differences}
    if reasons & {"stubs", "labels"}:  # these are functions of ours only
        known = {start for start, _ in theirs}
        ours = [function for function in ours if function[0] in known]
    if "code-at-0" in reasons:  # the reference has those that the linker removed
        ours, theirs = ([function for function in functions if function[0]] for functions in (ours, theirs))
    assert [start for start, _ in ours] == [start for start, _ in theirs]
    # A symbol without a size may have got one: bounded-by-frame, section-end.
    assert [mine for mine, other in zip(ours, theirs) if mine != other and other[0] != other[1]] == []


def test_own_reader_agrees_with_the_reference(outcome, name):
    for index, check in zip(("llvm-gsymutil's", "our own"), outcome.reader_checks):
        assert not check.wrong, f"on {index} index {len(check.wrong)} answers differ: {check.wrong[:SHOWN]}"
        assert not check.lost, f"on {index} index {len(check.lost)} answers are lost: {check.lost[:SHOWN]}"
    # The reference's converter leaves such calls out as its reader does.
    theirs, ours = outcome.reader_checks
    assert not theirs.more_calls and bool(ours.more_calls) == CASES[name].nameless_calls, "calls that name no file"


def test_same_bytes_for_any_thread_count(outcome):
    expected = outcome.ours.read_bytes()
    for threads in (1, 7):
        other = outcome.folder / f"threads-{threads}.gsym"
        run = gsym_diff.convert_ours(outcome.source, other, threads)
        assert run.returncode == 0, run.stderr
        assert other.read_bytes() == expected, f"--threads {threads} gives other bytes than --threads 2"


def test_verify_accepts(outcome):
    run = subprocess.run([gsym_diff.callsign(), "verify", outcome.ours], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_improvements_are_documented():
    gsym_diff.check_document()
