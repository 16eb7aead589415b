"""Debug information outside of the input: debug files by link and by build id, dSYM bundles, .gnu_debugdata."""
import json
import os
import shutil
import struct
import subprocess
import zlib

import pytest

import programs
from programs import need

MARKS = ("square", "area", "hidden", "outer", "main")


def run_tool(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, (command, done.stderr)


class Split:
    """A stripped program in a folder of its own, and its debug file somewhere else."""

    def __init__(self, folder, whole):
        objcopy = need("objcopy")
        self.whole = whole
        self.folder = folder / "usr" / "bin"
        self.folder.mkdir(parents=True)
        self.image = self.folder / "app"
        self.debug = folder / "kept" / "app.debug"
        self.debug.parent.mkdir()
        run_tool(objcopy, "--only-keep-debug", whole.path, self.debug)
        run_tool(objcopy, "--strip-all", whole.path, self.image)
        self.id = programs.build_id(whole.path)

    def link(self, content=None):
        """Adds a .gnu_debuglink of the debug file, or with the given content."""
        objcopy = need("objcopy")
        if content is None:
            run_tool(objcopy, f"--add-gnu-debuglink={self.debug}", self.image)
            return self
        section = self.debug.parent / "link"
        section.write_bytes(content)
        run_tool(objcopy, f"--add-section=.gnu_debuglink={section}", self.image)
        return self

    def put(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.debug, path)
        return path

    def in_tree(self, root):
        return root / ".build-id" / self.id[:2] / (self.id[2:] + ".debug")


@pytest.fixture(scope="session")
def exporting(tmp_path_factory, gcc):
    """A program whose stripped form still has dynamic symbols."""
    return programs.build_shapes(tmp_path_factory.mktemp("exporting"), gcc, ["-g", "-O2", "-rdynamic"])


@pytest.fixture
def split(tmp_path, exporting):
    return Split(tmp_path, exporting)


@pytest.fixture(scope="session")
def other_debug(tmp_path_factory, gcc):
    """The debug file of another build."""
    folder = tmp_path_factory.mktemp("other")
    program = programs.build_shapes(folder, gcc, ["-g", "-O1"])
    debug = folder / "other.debug"
    run_tool(need("objcopy"), "--only-keep-debug", program.path, debug)
    return debug


def link_bytes(name, crc):
    content = name + b"\0"
    return content + bytes(-len(content) % 4) + struct.pack("<I", crc)


def convert(callsign, image, *options, code=0, **more):
    out = image.parent / "out.gsym"
    done = callsign.run("convert", image, "-o", out, *options, **more)
    assert done.returncode == code, done.stderr
    return done.stderr


def has_lines(callsign, split, *options):
    """Whether the index has what only the debug file tells: every mark's whole answer."""
    addresses = [hex(split.whole.mark(name)) for name in MARKS]
    answers = callsign.run("lookup", "--json", split.image.parent / "out.gsym", *addresses, *options).stdout
    for name, line in zip(MARKS, answers.splitlines()):
        frames = json.loads(line).get("frames", [])
        found = [(frame["function"], frame.get("line"), frame["inlined"]) for frame in frames]
        if found != split.whole.frames(name):
            return False
    return True


def event(callsign, image, name, *options, **more):
    report = json.loads(callsign.run("convert", image, "-o", image.parent / "out.gsym", "-q", "--report", "-",
                                     *options, **more).stdout)
    return next(entry for entry in report["events"] if entry["name"] == name)


# ---- where it is found ----

@pytest.mark.parametrize("place", ["app.debug", ".debug/app.debug"])
def test_link_beside(callsign, split, place):
    path = split.link().put(split.folder / place)
    assert f"debug information from {path}\n" in convert(callsign, split.image)
    assert has_lines(callsign, split)


def test_link_under_a_debug_directory(callsign, split, tmp_path):
    root = tmp_path / "debug"
    path = split.link().put(root / str(split.folder.resolve()).lstrip("/") / "app.debug")
    assert f"debug information from {path}\n" in convert(callsign, split.image, "--debug-dir", root)
    assert has_lines(callsign, split)


def test_relative_path_of_the_image(callsign, split, tmp_path):
    root = tmp_path / "debug"
    split.link().put(root / str(split.folder.resolve()).lstrip("/") / "app.debug")
    callsign.good("convert", "app", "-o", "out.gsym", "--debug-dir", root, cwd=split.folder)
    assert has_lines(callsign, split)


def test_link_beside_what_a_symbolic_link_leads_to(callsign, split, tmp_path):
    split.link().put(split.folder / "app.debug")
    (tmp_path / "elsewhere").mkdir()
    alias = tmp_path / "elsewhere" / "alias"
    alias.symlink_to(split.image)
    convert(callsign, alias)
    shutil.copyfile(alias.parent / "out.gsym", split.folder / "out.gsym")
    assert has_lines(callsign, split)


def test_build_id_tree_of_the_second_directory(callsign, split, tmp_path):
    path = split.put(split.in_tree(tmp_path / "second"))
    said = convert(callsign, split.image, "--debug-dir", tmp_path / "first", "--debug-dir", tmp_path / "second")
    assert f"debug information from {path}\n" in said
    assert has_lines(callsign, split)


def test_build_id_comes_before_link(callsign, split, tmp_path):
    split.link().put(split.folder / "app.debug")
    path = split.put(split.in_tree(tmp_path / "debug"))
    assert f"debug information from {path}\n" in convert(callsign, split.image, "--debug-dir", tmp_path / "debug")


@pytest.mark.parametrize("bundle", ["usr/bin/app.dSYM", "Foo.app.dSYM"])
def test_dsym_bundle(callsign, split, tmp_path, bundle):
    image = split.image
    if bundle.startswith("Foo"):
        image = tmp_path / "Foo.app" / "Contents" / "MacOS" / "app"
        image.parent.mkdir(parents=True)
        shutil.copyfile(split.image, image)
    path = split.put(tmp_path / bundle / "Contents" / "Resources" / "DWARF" / "app")
    assert f"debug information from {path}\n" in convert(callsign, image)


def test_chosen_file(callsign, split, tmp_path):
    convert(callsign, split.image, "--debug-file", split.debug)
    assert has_lines(callsign, split)


def test_chosen_bundle_with_a_file_of_another_name(callsign, split, tmp_path):
    split.put(tmp_path / "Any.dSYM" / "Contents" / "Resources" / "DWARF" / "renamed")
    convert(callsign, split.image, "--debug-file", tmp_path / "Any.dSYM")
    assert has_lines(callsign, split)


def test_chosen_file_replaces_the_images_own(callsign, split, tmp_path):
    image = tmp_path / "whole"
    shutil.copyfile(split.whole.path, image)
    assert "debug information from" not in convert(callsign, image)
    assert f"debug information from {split.debug}\n" in convert(callsign, image, "--debug-file", split.debug)


def test_lookup_and_verify_and_dump_find_it_too(callsign, split, tmp_path):
    split.put(split.in_tree(tmp_path / "debug"))
    options = ["--debug-dir", tmp_path / "debug"]
    address = hex(split.whole.mark("area"))
    found = callsign.good("lookup", "--json", split.image, address, *options)
    assert [frame["line"] for frame in json.loads(found)["frames"]] == [line for _, line, _ in split.whole.frames("area")]
    convert(callsign, split.image, *options)
    index = split.folder / "out.gsym"
    assert ": 0 different" in callsign.good("verify", index, "--against", split.image, *options)
    assert callsign.run("verify", index, "--against", split.image, "--no-companions").returncode == 1
    assert "shapes.c" in callsign.good("dump", split.image, *options)


# ---- what does not fit ----

def test_wrong_crc_is_passed_over_and_named(callsign, split):
    path = split.link().put(split.folder / "app.debug")
    right = zlib.crc32(path.read_bytes())
    path.write_bytes(path.read_bytes() + b"\0")
    wrong = zlib.crc32(path.read_bytes())
    said = convert(callsign, split.image)
    assert "1 normal: missing-debug-file" in said
    assert f"app.debug has CRC 0x{wrong:08x}, the image needs 0x{right:08x}" in said
    assert not has_lines(callsign, split)
    better = split.put(split.folder / ".debug" / "app.debug")
    assert f"debug information from {better}\n" in convert(callsign, split.image)
    assert has_lines(callsign, split)


def test_chosen_file_of_another_build(callsign, split, other_debug):
    line = callsign.bad("convert", split.image, "--debug-file", other_debug, "-o", split.folder / "out.gsym")
    assert line.startswith(f"callsign: {split.image}: ")
    assert f"other.debug has build id {programs.build_id(other_debug)}, the image needs {split.id}" in line
    assert not (split.folder / "out.gsym").exists()


def test_stale_bundle(callsign, split, other_debug, tmp_path):
    """A dSYM bundle that an older build left is told, and no more; named by the user it is an error."""
    inside = tmp_path / "usr" / "bin" / "app.dSYM" / "Contents" / "Resources" / "DWARF"
    inside.mkdir(parents=True)
    shutil.copyfile(other_debug, inside / "app")
    said = convert(callsign, split.image)
    assert "1 normal: missing-debug-file" in said
    assert f"app has build id {programs.build_id(other_debug)}, the image needs {split.id[:8]}" in said
    assert not has_lines(callsign, split)
    line = callsign.bad("convert", split.image, "--debug-file", inside.parents[2])
    assert f"has build id {programs.build_id(other_debug)}" in line


def test_found_file_of_another_build(callsign, split, other_debug, tmp_path):
    path = split.in_tree(tmp_path / "debug")
    path.parent.mkdir(parents=True)
    shutil.copyfile(other_debug, path)
    options = ["--debug-dir", tmp_path / "debug"]
    line = callsign.bad("convert", split.image, *options)
    assert f"has build id {programs.build_id(other_debug)}, the image needs {split.id}" in line
    better = split.link().put(split.folder / "app.debug")
    assert f"debug information from {better}\n" in convert(callsign, split.image, *options)


@pytest.mark.parametrize("kind, message", [
    ("missing", "No such file or directory"),
    ("image", "is the image itself"),
    ("text", "not an object file"),
    ("folder", "has no file for the image in Contents/Resources/DWARF"),
    ("pipe", "is not a regular file"),
])
def test_chosen_file_that_is_none(callsign, split, tmp_path, kind, message):
    path = tmp_path / "chosen"
    if kind == "image":
        path = split.image
    elif kind == "text":
        path.write_text("Not an object at all.\n")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    line = callsign.bad("convert", split.image, "--debug-file", path, "-o", split.folder / "out.gsym")
    assert str(path)[-60:] in line and message in line


def test_missing_file_that_the_image_names(callsign, split, tmp_path):
    split.link()
    found = event(callsign, split.image, "missing-debug-file", "--debug-dir", tmp_path / "a", "--debug-dir", tmp_path / "b")
    assert found["count"] == 1 and found["class"] == "normal"
    assert found["example"].startswith("app.debug is neither beside the image nor in its .debug folder nor under ")
    assert found["example"].endswith("/a and 1 more")


def test_mere_build_id_is_no_event(callsign, split):
    assert event(callsign, split.image, "missing-debug-file")["count"] == 0


def test_no_companions(callsign, split, tmp_path):
    split.link().put(split.folder / "app.debug")
    done = callsign.run("convert", split.image, "--no-companions", "-o", split.folder / "out.gsym")
    assert "debug information from" not in done.stderr
    assert not has_lines(callsign, split)


# ---- names that an image should not have ----

@pytest.mark.parametrize("name", [b"../../kept/app.debug", b"/nowhere/app.debug", b"kept/app.debug"])
def test_only_the_last_part_of_a_link_counts(callsign, split, tmp_path, name):
    split.link(link_bytes(name, zlib.crc32(split.debug.read_bytes())))
    assert "app.debug is neither beside the image" in convert(callsign, split.image)
    split.put(split.folder / "app.debug")
    convert(callsign, split.image)
    assert has_lines(callsign, split)


@pytest.mark.parametrize("content, message", [
    (b"app.debug", ".gnu_debuglink+0x0: the name reaches past the section's 0x9 bytes"),
    (b"app.debug\0\0\0\1\2\3", ".gnu_debuglink+0xc: the CRC reaches past the section's 0xf bytes"),
    (bytes(8), ".gnu_debuglink+0x0: an empty name"),
])
def test_damaged_link(callsign, split, content, message):
    split.link(content)
    assert event(callsign, split.image, "missing-debug-file")["example"] == message


@pytest.mark.parametrize("name", [b"..", b".", b"a/"])
def test_link_without_a_file_name(callsign, split, name):
    split.link(link_bytes(name, 0))
    convert(callsign, split.image)


def test_message_stays_one_line(callsign, split):
    split.link(link_bytes(b"a\nb\x1b[31m.debug", 0))
    said = convert(callsign, split.image)
    assert "\x1b" not in said and "b?[31m.debug is neither" in said


def test_special_files_and_loops_are_passed_over(callsign, split):
    split.link()
    loop = split.folder / "app.debug"
    loop.symlink_to(loop)
    assert "symbolic links" in event(callsign, split.image, "missing-debug-file")["example"]
    loop.unlink()
    os.mkfifo(loop)
    assert event(callsign, split.image, "missing-debug-file")["example"].endswith("app.debug is not a regular file")


def test_link_to_the_image_itself(callsign, split):
    link = split.folder / "app.debug"
    split.link(link_bytes(b"app.debug", 0))
    link.symlink_to(split.image)
    assert "app.debug is neither beside" in event(callsign, split.image, "missing-debug-file")["example"]


# ---- .gnu_debugdata ----

def add_mini_debug(split, tmp_path, *xz_options, content=None):
    """As distributions do it: the functions of .symtab, in an ELF file of their own, compressed by xz."""
    objcopy = need("objcopy")
    mini = tmp_path / "mini"
    run_tool(objcopy, "-S", "--remove-section=.gdb_index", "--remove-section=.comment", split.debug, tmp_path / "none")
    run_tool(objcopy, "--strip-debug", "--remove-section=.comment", split.debug, mini)
    run_tool(need("xz"), "-f", *xz_options, mini)
    packed = tmp_path / "mini.xz"
    if content is not None:
        packed.write_bytes(content(packed.read_bytes()))
    run_tool(objcopy, f"--add-section=.gnu_debugdata={packed}", split.image)


@pytest.fixture
def with_xz(callsign):
    if "liblzma" not in callsign.good("--version") or "no liblzma" in callsign.good("--version"):
        pytest.skip("built without liblzma")


@pytest.mark.parametrize("options", [[], ["-9e"], ["--check=sha256"]], ids=str)
def test_mini_debug(callsign, split, tmp_path, with_xz, options):
    add_mini_debug(split, tmp_path, *options)
    convert(callsign, split.image)
    answer = json.loads(callsign.good("lookup", "--json", split.folder / "out.gsym", hex(split.whole.mark("hidden"))))
    assert [frame["function"] for frame in answer["frames"]] == ["hidden"]


def test_without_mini_debug_the_name_is_not_there(callsign, split):
    convert(callsign, split.image)
    assert "hidden" not in callsign.run("lookup", split.folder / "out.gsym", hex(split.whole.mark("hidden"))).stdout
    assert "outer" in callsign.good("lookup", split.folder / "out.gsym", hex(split.whole.mark("outer")))


def test_no_symbols_at_all_says_what_was_looked_for(callsign, shapes, tmp_path):
    bare = Split(tmp_path, shapes).link()
    line = callsign.bad("convert", bare.image, "-o", bare.folder / "out.gsym")
    assert "no functions found, nothing to write (app.debug is neither beside the image" in line


@pytest.mark.parametrize("damage, message", [
    (lambda data: data[:-20], "xz data ends within a stream"),
    (lambda data: data[:60] + bytes([data[60] ^ 255]) + data[61:], "damaged xz data"),
    (lambda data: b"no xz file at all", "damaged xz data"),
    (lambda data: b"", None),
], ids=["cut", "flipped", "other", "empty"])
def test_damaged_mini_debug_is_told(callsign, split, tmp_path, with_xz, damage, message):
    add_mini_debug(split, tmp_path, content=damage)
    found = event(callsign, split.image, "damaged-symbol")
    assert found["count"] == (1 if message else 0) and (message or "") in found.get("example", "")


def test_mini_debug_is_limited(callsign, split, tmp_path, with_xz):
    bomb = tmp_path / "bomb"
    with open(bomb, "wb") as file:
        file.truncate(64 << 20)
    run_tool(need("xz"), bomb)
    packed = (tmp_path / "bomb.xz").read_bytes()
    add_mini_debug(split, tmp_path, content=lambda data: packed)
    found = event(callsign, split.image, "damaged-symbol", "--max-inflate", "1M")
    assert "inflates to more than 0x100000 bytes" in found["example"]


# ---- a real one ----

def test_stripped_library_with_its_dbg_package(callsign, tmp_path):
    library = next((path for path in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6")
                    if os.path.exists(path)), None)
    if not library:
        pytest.skip("no Debian libc")
    identity = programs.build_id(library)
    if not os.path.exists(f"/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug"):
        pytest.skip("libc6-dbg is not installed")
    report = tmp_path / "report.json"
    callsign.good("convert", library, "-o", tmp_path / "libc.gsym", "--report", report)
    assert json.loads(report.read_text())["rows_written"] > 100000


# ---- it is not overwritten ----

@pytest.mark.parametrize("command", ["convert", "embed", "stats"])
@pytest.mark.parametrize("way", ["found", "named", "another link to it"])
def test_output_that_is_read(callsign, split, command, way):
    """The only copy of the debug information, perhaps: it was replaced by its own index."""
    debug = split.link().put(split.folder / "app.debug")
    out = debug
    if way == "another link to it":
        os.link(debug, out := split.folder / "index")
    before = debug.read_bytes()
    options = ["--debug-file", debug] if way == "named" else []
    operands = [split.image, split.image] if command == "embed" else [split.image]
    option = "--html" if command == "stats" else "-o"
    message = callsign.bad(command, *operands, option, out, *options)
    assert message == (f"callsign: {out}: is the file of --debug-file; choose another file with {option}" if way == "named" else
                       f"callsign: {split.image}: reads {debug}, which would be overwritten; choose another output")
    assert debug.read_bytes() == before and not [p for p in split.folder.iterdir() if p.name not in ("app", "app.debug", "index")]


@pytest.mark.parametrize("options", [[], ["--debug-file"]])
def test_report_that_is_read(callsign, split, options):
    debug = split.link().put(split.folder / "app.debug")
    before = debug.read_bytes()
    message = callsign.bad("convert", split.image, "-o", split.folder / "out.gsym", "--report", debug, *options, *[debug] * len(options))
    assert "choose another" in message and str(debug) in message
    assert debug.read_bytes() == before and sorted(p.name for p in split.folder.iterdir()) == ["app", "app.debug"]


def test_outputs_among_the_other_inputs(callsign, split):
    package, sites = split.folder / "app.dwp", split.folder / "calls.yaml"
    for path, option in (package, "--dwp"), (sites, "--call-sites"):
        path.write_text("what it was")
        for out in ["-o", path], ["-o", split.folder / "out.gsym", "--report", path]:
            assert f"{path}: is the file of {option}; choose another file with {out[-2]}" in callsign.bad("convert", split.whole.path, option, path, *out)
        assert path.read_text() == "what it was"


def test_the_program_that_an_index_is_put_into_may_be_read(callsign, split):
    """`embed app.debug app -o app`: of a debug file, the program is a companion."""
    debug = split.link().put(split.folder / "app.debug")
    callsign.good("embed", debug, split.image, "-o", split.image)
    assert callsign.good("lookup", split.image, "--no-companions", hex(split.whole.mark("main"))).split(": ")[1].startswith("main")


def test_a_package_that_is_not_there(callsign, split):
    """Also where nothing would be looked for in it: it may be a mistyped name."""
    absent = split.folder / "absent.dwp"
    for command in ["convert", split.whole.path, "-o", split.folder / "out.gsym"], ["lookup", split.whole.path, "0x1"]:
        assert callsign.bad(*command, "--dwp", absent) == f"callsign: {split.whole.path}: {absent}: No such file or directory"
    assert not (split.folder / "out.gsym").exists()
