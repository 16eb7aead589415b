"""scripts/check-abi fails on incompatible changes of the public headers, and on no others. The libraries are compared where there is a
commit to compare with."""
import re
import shutil
import subprocess

import pytest

from console_blocks import ROOT
from programs import need

pytestmark = pytest.mark.plain_build  # the command is not run


@pytest.fixture
def tree(tmp_path):
    """A git tree without commits that has what the check reads."""
    need("clang")
    shutil.copytree(ROOT / "include", tmp_path / "include")
    (tmp_path / "scripts").mkdir()
    for name in ("abi-description", "abi.txt", "check-abi"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def change(tree, *changes):
    for header, old, new in changes:
        path = tree / "include" / header
        text = path.read_text()
        assert re.search(old, text), (header, old)
        path.write_text(re.sub(old, new, text, count=1))


def check(tree, *options):
    done = subprocess.run([tree / "scripts/check-abi", *options], capture_output=True, text=True)
    return done.returncode, done.stdout, re.findall("^abi: changed or gone: (.*)$", done.stdout, re.M)


NO_COMMIT = 77 # the headers are as promised


def test_additions_are_compatible(tree):
    assert check(tree)[0] == NO_COMMIT
    change(tree, ("callsign/index.h", r"(struct csn_index_options {[^}]*)}", r"\1    uint64_t added; }"),
           ("callsign/index.h", r"\Z", "\nCSN_API csn_status csn_added(struct csn_index *index);\n"),
           ("callsign/index.h", r"(enum csn_reason {[^}]*[^},\s]),?\s*}", r"\1, CSN_REASON_ADDED }"),
           ("callsign/index.h", r"uint32_t reserved;", "uint32_t used;"))
    assert check(tree)[::2] == (NO_COMMIT, [])


def test_incompatible_changes_fail(tree):
    change(tree, ("callsign/index.h", r"(struct csn_frame {)", r"\1 uint64_t inserted;"),
           ("callsign/index.h", r"(csn_index_close\()struct csn_index \*", r"\1const struct csn_index *"),
           ("callsign/error.h", r"CSN_E_FORMAT = -(\d)", r"CSN_E_FORMAT = -7\1"),
           ("callsign/index.h", r"CSN_API void csn_index_options_init\([^;]*;", ""),
           ("callsign/index.h", r"accelerator_bytes;", "accelerator_size;"))
    status, _, lost = check(tree)
    assert status == 1
    for line in ("member csn_frame 0 struct csn_str name", "size csn_frame 72", "function csn_index_close void (struct csn_index *)",
                 "function csn_index_options_init void (struct csn_index_options *)", "member csn_index_options 16 uint64_t accelerator_bytes"):
        assert line in lost
    assert any(line.startswith("enumerator CSN_E_FORMAT ") for line in lost)
    # Renewed on purpose, it is the promise.
    assert check(tree, "--update")[::2] == (0, lost)
    assert check(tree)[::2] == (NO_COMMIT, [])


def test_another_minor_version_is_another_promise(tree):
    change(tree, ("callsign/base.h", r"(#define CSN_VERSION_MINOR) \d+", r"\1 99"))
    status, output, _ = check(tree)
    assert status == 1 and "renew it with --update" in output
    assert check(tree, "--update")[0] == 0
    assert check(tree)[0] == NO_COMMIT
