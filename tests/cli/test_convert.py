"""callsign convert: output, summary, report, exit status."""
import json
import os
import pty
import shutil
import signal
import stat
import subprocess

import pytest

import programs


def test_writes_an_index(callsign, shapes, tmp_path):
    out = tmp_path / "out.gsym"
    done = callsign.run("convert", shapes.path, "-o", out)
    assert (done.returncode, done.stdout) == (0, "")
    first = done.stderr.splitlines()[0]
    assert first.startswith(f"{out}: ") and " functions, " in first and f"; {out.stat().st_size} bytes from " in first
    assert out.read_bytes()[:6] == b"MYSG\1\0"
    assert "\r" not in done.stderr


def test_default_output_is_beside_the_input(callsign, shapes, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    program = tmp_path / "app"
    shutil.copyfile(shapes.path, program)
    callsign.good("convert", program, cwd=tmp_path / "elsewhere")
    assert (tmp_path / "app.gsym").is_file()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_quiet(callsign, shapes, tmp_path):
    done = callsign.run("convert", "-q", shapes.path, "-o", tmp_path / "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_mode_of_the_output(callsign, shapes, tmp_path):
    callsign.good("convert", shapes.path, "-o", tmp_path / "out", preexec_fn=lambda: os.umask(0o027))
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_replaces_an_older_index(callsign, shapes, tmp_path):
    out = tmp_path / "out"
    out.write_text("old")
    callsign.good("convert", shapes.path, "-o", out)
    assert out.read_bytes()[:4] == b"MYSG"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_same_bytes_whatever_the_threads(callsign, classes, tmp_path):
    outputs = set()
    for threads in (1, 2, 7):
        callsign.good("convert", classes.path, "-o", tmp_path / "out", "--threads", threads)
        outputs.add((tmp_path / "out").read_bytes())
    assert len(outputs) == 1


def test_to_gsym_is_the_default(callsign, shapes, shapes_index, tmp_path):
    callsign.good("convert", shapes.path, "-o", tmp_path / "out", "--to", "gsym")
    assert (tmp_path / "out").read_bytes() == shapes_index.read_bytes()


def check_report(report):
    assert report["functions_written"] >= 4
    assert report["rows_written"] > 10
    assert report["inline_nodes_written"] >= 2
    assert report["units"] >= 1 and report["units_failed"] == 0
    names = [event["name"] for event in report["events"]]
    assert len(names) == len(set(names)) and "function-without-name" in names
    for event in report["events"]:
        assert event["class"] in ("normal", "merged", "clipped", "dropped")
        assert event["count"] or "example" not in event


def test_report(callsign, shapes, tmp_path):
    out, path = tmp_path / "out", tmp_path / "report.json"
    path.write_text("old")
    callsign.good("convert", shapes.path, "-o", out, "--report", path)
    report = json.loads(path.read_text())
    check_report(report)
    assert report["input"] == str(shapes.path) and report["output"] == str(out)
    assert report["output_bytes"] == out.stat().st_size
    assert "error" not in report
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "report.json"]


def test_report_on_standard_output(callsign, shapes, tmp_path):
    check_report(json.loads(callsign.good("convert", shapes.path, "-o", tmp_path / "out", "--report=-")))


def test_report_does_not_depend_on_threads(callsign, classes, tmp_path):
    texts = {callsign.good("convert", classes.path, "-o", tmp_path / "out", "--report=-", "-j", n) for n in (1, 2, 7)}
    assert len(texts) == 1


def test_report_that_cannot_be_written(callsign, shapes, tmp_path):
    line = callsign.bad("convert", shapes.path, "-o", tmp_path / "out", "--report", tmp_path / "no" / "report.json")
    assert line.endswith("No such file or directory")
    assert not list(tmp_path.iterdir())


def test_report_on_a_full_disk(callsign, shapes, tmp_path):
    line = callsign.bad("convert", "-q", shapes.path, "-o", tmp_path / "out", "--report", "/dev/full")
    assert line == "callsign: /dev/full: No space left on device"


@pytest.mark.parametrize("report", ["out", "./out"])
def test_report_must_not_be_the_index(callsign, shapes, tmp_path, report):
    line = callsign.bad("convert", shapes.path, "-o", "out", "--report", report, cwd=tmp_path)
    assert "is the input or the index" in line
    assert not list(tmp_path.iterdir())


def test_output_must_not_be_the_input(callsign, shapes, tmp_path):
    program = tmp_path / "app"
    shutil.copyfile(shapes.path, program)
    (tmp_path / "link").symlink_to(program)
    for out in ("app", "link"):
        assert "is the input itself" in callsign.bad("convert", program, "-o", tmp_path / out)
    assert program.read_bytes() == shapes.path.read_bytes()


@pytest.fixture
def damaged(tmp_path, gcc):
    """Two units; the header of the first one names a DWARF version that does not exist."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text(f"int {name}(int a) {{\n    return a + 1;\n}}\n")
    (tmp_path / "main.c").write_text("int one(int), two(int);\nint main(void) { return one(1) + two(2); }\n")
    program = tmp_path / "app"
    programs.compile_files(gcc, program, [tmp_path / f"{n}.c" for n in ("one", "two", "main")],
                           ["-g", "-gdwarf-4", "-O1"])
    data = bytearray(program.read_bytes())
    offset, _size = programs.sections(program)[".debug_info"]
    assert data[offset + 4:offset + 6] == b"\4\0"
    data[offset + 4:offset + 6] = b"\x77\x77"
    program.write_bytes(data)
    return program


def test_damaged_input_is_partial(callsign, damaged, tmp_path):
    out = tmp_path / "out"
    done = callsign.run("convert", damaged, "-o", out, "--report", tmp_path / "report.json")
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert any(line.startswith("1 dropped: damaged-unit (first: ") for line in lines)
    assert lines[-1] == (f"callsign: {damaged}: parts of the debug information are damaged or missing; "
                         "the index was written without them")
    events = {e["name"]: e for e in json.loads((tmp_path / "report.json").read_text())["events"]}
    assert events["damaged-unit"]["count"] == 1 and events["damaged-unit"]["example"]
    dump = callsign.good("dump", out)
    assert "two.c:2" in dump and " main (" in dump and " one (" in dump and "one.c" not in dump


def test_damaged_input_says_so_even_when_quiet(callsign, damaged, tmp_path):
    assert "damaged or missing" in callsign.bad("convert", "-q", damaged, "-o", tmp_path / "out", code=1)


def test_strict(callsign, damaged, tmp_path):
    out = tmp_path / "out"
    out.write_text("old")
    line = callsign.bad("convert", "--strict", damaged, "-o", out)
    assert line.startswith(f"callsign: {damaged}: ")
    assert out.read_text() == "old"
    done = callsign.run("convert", "--strict", damaged, "-o", out, "--report=-")
    assert done.returncode == 2
    report = json.loads(done.stdout)
    assert f"callsign: {damaged}: {report['error']}\n" == done.stderr
    assert "output" not in report


def test_strict_is_content_with_a_sound_input(callsign, shapes, shapes_index, tmp_path):
    callsign.good("convert", "--strict", shapes.path, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == shapes_index.read_bytes()


def test_damaged_object_in_place_of_an_index(callsign, damaged):
    done = callsign.run("lookup", damaged, "0")
    assert done.returncode == 1
    assert "damaged or missing; answers are incomplete" in done.stderr


def test_missing_split_unit(callsign, tmp_path, gcc):
    source = tmp_path / "split.c"
    source.write_text("int main(void) {\n    return 0;\n}\n")
    programs.compile_files(gcc, tmp_path / "app", [source], ["-g", "-gsplit-dwarf"])
    for dwo in tmp_path.glob("*.dwo"):
        dwo.unlink()
    done = callsign.run("convert", tmp_path / "app", "-o", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    assert "missing-split-unit" in done.stderr
    assert " main (" in callsign.good("dump", tmp_path / "out")


def test_max_inflate(callsign, tmp_path, gcc):
    program = programs.build_shapes(tmp_path, gcc, ["-g", "-gz"])
    assert callsign.bad("convert", program.path, "-o", tmp_path / "out", "--max-inflate", "16").startswith(
        f"callsign: {program.path}: ")
    assert not (tmp_path / "out").exists()
    callsign.good("convert", program.path, "-o", tmp_path / "out", "--max-inflate", "1M")


def test_call_sites(callsign, shapes, tmp_path):
    callsign.good("convert", shapes.path, "-o", tmp_path / "out", "--call-sites", "dwarf")
    callsign.good("verify", tmp_path / "out")
    text = callsign.good("dump", tmp_path / "out", hex(shapes.mark("main")))
    assert "  call sites\n" in text
    assert "  call sites\n" not in callsign.good("dump", shapes.path, hex(shapes.mark("main")))


def read_terminal(callsign, args, env):
    """What the command writes to a stderr that is a terminal."""
    master, slave = pty.openpty()
    child = subprocess.Popen([callsign.path, *map(str, args)], stderr=slave, stdin=subprocess.DEVNULL,
                             env={**os.environ, **env})
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # Linux tells EIO when the last writer is gone
            break
        if not piece:
            break
        text += piece
    os.close(master)
    assert child.wait() == 0
    return text.decode()


def test_progress_bar(callsign, classes, tmp_path):
    args = ["convert", classes.path, "-o", tmp_path / "out"]
    text = read_terminal(callsign, args, {"TERM": "xterm"})
    bar, _, rest = text.rpartition("\r\x1b[K")
    assert "%" in bar and "[" in bar and "\n" not in bar
    assert rest.startswith(str(tmp_path / "out"))
    assert "\x1b" not in read_terminal(callsign, args, {"TERM": "dumb"})
    assert read_terminal(callsign, [*args, "-q"], {"TERM": "xterm"}) == ""


def test_an_ignored_interrupt_stays_ignored(callsign, shapes, tmp_path):
    callsign.good("convert", shapes.path, "-o", tmp_path / "out",
                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
