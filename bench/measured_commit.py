"""Which code a result file was measured with."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def git(*words):
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if not done.returncode else None


def commit():
    """The commit, with "-dirty" where files were changed since; result files saved before this one do not count."""
    name = git("rev-parse", "--short", "HEAD")
    if not name:
        return "unknown"
    return name + ("-dirty" if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results") else "")
