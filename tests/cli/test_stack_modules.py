"""Which module a line means: by its path, by its build id, and not by what stacks before it said."""
import json
import random
import shutil
import subprocess

import pytest

import gsym_make
from programs import need

IDS = ["11" * 20, "22" * 20]


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Two libraries of one file name whose function lies at the same address: alpha without a build id, bravo with IDS[1]."""
    folder = tmp_path_factory.mktemp("images")
    for name, build in (("alpha", "none"), ("bravo", "0x" + IDS[1])):
        (folder / name).mkdir()
        (folder / name / f"{name}.c").write_text(f"int fn_{name}(int a){{\n  volatile int b=a*3;\n  return b;\n}}\n")
        subprocess.run([need("gcc"), "-g", "-O1", "-shared", "-fPIC", f"-Wl,--build-id={build}", f"{name}/{name}.c", "-o", f"{name}/libarea.so"],
                       cwd=folder, check=True)
    return folder


def place(images, name="alpha"):
    rows = subprocess.run([need("nm"), images / name / "libarea.so"], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(int(row.split()[0], 16) for row in rows if f" fn_{name}" in row)


def judged(images, names):
    """The functions that addr2line finds in these images."""
    out = [subprocess.run([need("addr2line"), "-f", "-e", images / name / "libarea.so", hex(place(images))], capture_output=True, text=True,
                          check=True).stdout.splitlines()[0] for name in names]
    assert out == [f"fn_{name}" for name in names]
    return out


def named(callsign, text, *options):
    out = callsign.good("stack", "--json", *options, stdin=text)
    return [frame["frames"][0]["function"] if frame.get("frames") else None for line in out.splitlines() for frame in json.loads(line)["frames"]]


def with_indexes(callsign, images, folder):
    for name in ("alpha", "bravo"):
        shutil.copytree(images / name, folder / name)
        callsign.good("convert", folder / name / "libarea.so", "-o", folder / name / "libarea.so.gsym", "-q")
    return folder


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "images"])
@pytest.mark.parametrize("names", [["alpha", "bravo"], ["bravo", "alpha"]], ids="-".join)
def test_one_file_name_in_two_folders_of_a_process(callsign, images, tmp_path, names, beside):
    folder = with_indexes(callsign, images, tmp_path) if beside else images
    address = place(images)
    text = "".join(f"{0x55d000000000 + (i << 32) + part:x}-{0x55d000001000 + (i << 32) + part:x} r-{'-x'[part > 0]}p {part:08x} 08:01 {i + 1}  "
                   f"{folder}/{name}/libarea.so\n" for i, name in enumerate(names) for part in (0, 0x1000))
    text += "\n" + "".join(f"#{i} {0x55d000000000 + (i << 32) + address + 1:#x}\n" for i in range(2))
    assert named(callsign, text, "--offline", "--no-cache") == judged(images, names)


@pytest.mark.parametrize("names", [["alpha", "bravo"], ["bravo", "alpha"]], ids="-".join)
def test_one_file_name_in_two_folders_of_lines(callsign, images, names):
    address = place(images)
    lines = [f"{images}/{name}/libarea.so(+{address + 1:#x})[0x7f93bcfd9110]\n" for name in names]
    assert named(callsign, "\nanother program:\n".join(lines), "--offline", "--no-cache") == judged(images, names)
    assert named(callsign, "".join(lines), "--offline", "--no-cache") == judged(images, names)


def test_a_build_id_of_one_line_is_not_that_of_another_path(callsign, images):
    address = place(images)
    lines = [f"    #{i} {0x55d000001110 + (i << 32):#x}  ({images}/{name}/libarea.so+{address:#x}){id_}\n"
             for i, (name, id_) in enumerate([("alpha", ""), ("bravo", f" (BuildId: {IDS[1]})")])]
    report = "==42==ERROR: AddressSanitizer: SEGV on unknown address\n" + "".join(lines)
    assert named(callsign, report, "--offline", "--no-cache") == judged(images, ["alpha", "bravo"])


def test_folders_that_are_one(callsign, tmp_path):
    """Loaders say /lib where the kernel says /usr/lib: the build id of the list is that of the line."""
    gsym_make.write(tmp_path / "libarea.so.6.gsym", [{"start": 0x1100, "size": 0x40, "name": "area", "line": 1}])
    modules = [{"name": "/usr/lib/x86_64-linux-gnu/libarea.so.6", "index": str(tmp_path / "libarea.so.6.gsym")}, {"name": "/lib/other", "index": "none"}]
    frames = [{"module": "/lib/x86_64-linux-gnu/libarea.so.6", "address": "0x1104"}, {"module": "/opt/lib/libarea.so.6", "address": "0x1104"},
              {"module": "libarea.so.6", "address": "0x1104"}]
    assert named(callsign, json.dumps({"modules": modules, "frames": frames}) + "\n", "--no-search") == ["area", None, "area"]


def tombstone(address, id_="", path="/system/lib64/libarea.so"):
    return f"backtrace:\n      #00 pc {address:016x}  {path}" + (f" (BuildId: {id_})" if id_ else "") + "\n\n"


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("builds")
    for name, id_ in zip(("alpha", "bravo"), IDS):
        gsym_make.write(folder / f"{name}.gsym", [{"start": 0x1100, "size": 0x40, "name": f"fn_{name}", "line": 1}], build_id=bytes.fromhex(id_))
    return folder


@pytest.mark.parametrize("threads", ["1", "4"])
def test_two_builds_of_one_path_in_turn(callsign, builds, threads):
    """As in the log of a fleet during a rollout: more often than there may be modules."""
    count = 66000
    text = "".join(tombstone(0x1104, IDS[i % 2]) for i in range(count))
    found = named(callsign, text, "--no-search", "--threads", threads, "-i", builds / "alpha.gsym", "-i", builds / "bravo.gsym")
    assert found == ["fn_alpha", "fn_bravo"] * (count // 2)


def test_a_build_id_holds_for_its_stack(callsign, builds):
    """In another stack the line may mean another build; in its own it is of one process."""
    options = ["--no-search", "-i", builds / "alpha.gsym", "-i", builds / "bravo.gsym"]
    plain, known = tombstone(0x1104), tombstone(0x1104, IDS[0])
    alone = named(callsign, plain, *options)
    assert alone == [None] and named(callsign, known, *options) == ["fn_alpha"]
    assert named(callsign, known + plain + tombstone(0x1104, "33" * 20) + plain, *options) == ["fn_alpha", None, None, None]
    given = ["--no-search", "-i", f"libarea.so={builds / 'alpha.gsym'}"]
    assert named(callsign, plain + tombstone(0x1104, IDS[1]) + plain, *given) == ["fn_alpha", None, "fn_alpha"]
    line = "      #{:02} pc 0000000000001104  /system/lib64/libarea.so{}\n"
    for first, second in (("", f" (BuildId: {IDS[1]})"), (f" (BuildId: {IDS[1]})", "")):
        both = "backtrace:\n" + line.format(0, first) + line.format(1, second) + "\n"
        assert named(callsign, both + plain, *options) == ["fn_bravo", "fn_bravo", None]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_stacks_of_a_log_are_answered_as_alone(callsign, builds, threads):
    """Lines with full paths, with and without build ids, some of which were cut or are of no build that was given."""
    draw = random.Random(4)
    paths = ["/x/libarea.so", "/y/libarea.so", "/usr/lib/libarea.so", "/lib/libarea.so", "/z/libother.so"]
    ids = ["", "", *IDS, "33" * 20, IDS[0][:32]]

    def line(i):
        id_ = draw.choice(ids)
        return f"      #{i:02} pc 0000000000001104  {draw.choice(paths)}" + (f" (BuildId: {id_})" if id_ else "") + "\n"

    def answers(text):
        out = callsign.good("stack", "--json", "--no-search", "--threads", threads, "-i", f"libarea.so={builds / 'alpha.gsym'}",
                            "-i", builds / "bravo.gsym", stdin=text)
        return [json.loads(answer)["frames"] for answer in out.splitlines()]

    stacks = ["backtrace:\n" + "".join(line(i) for i in range(draw.randrange(1, 5))) + "\n" for _ in range(300)]
    assert answers("".join(stacks)) == [answers(stack)[0] for stack in stacks]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("threads", ["1", "4"])
def test_any_number_of_modules_in_a_log(callsign, builds, threads, form):
    """The last ones, and those that come again, are named as the first ones are."""
    count = 140000
    names = [f"/run/ct/{i:08x}/libx{i}.so" for i in range(count)]
    for i in range(1000, count, 3000):
        names[i] = f"/x{i // 9000}/libarea.so"
    if form == "text":
        text = "".join(f"{name}(+0x1110)[0x7f93bcfd9110]\n\n" for name in names)
    else:
        text = "".join(json.dumps({"frames": [{"module": name, "address": "0x1110"}]}) + "\n" for name in names)
    found = named(callsign, text, "--no-search", "--threads", threads, "-i", f"libarea.so={builds / 'alpha.gsym'}")
    assert found == ["fn_alpha" if name.endswith("/libarea.so") else None for name in names]


@pytest.mark.parametrize("count", [200, 300, 3000])
def test_many_modules_of_one_file_name(callsign, tmp_path, count):
    """A frame that names one by its full path means that."""
    for i in range(count):
        (tmp_path / f"{i}.sym").write_text(f"MODULE Linux x86_64 0 app\nFILE 0 /src/a.c\nFUNC 1000 100 0 fn_{i}\n1000 100 10 0\n")
    modules = [{"name": f"/ct/{i}/app", "index": f"{tmp_path}/{i}.sym"} for i in range(count)]
    wanted = [5, count - 1, 0, count // 2]
    frames = [{"module": f"/ct/{i}/app", "address": "0x1050"} for i in wanted] + [{"module": "/ct/none/app", "address": "0x1050"}]
    answers = named(callsign, json.dumps({"modules": modules, "frames": frames}) + "\n", "--no-search")
    assert answers == [f"fn_{i}" for i in wanted] + [None]


def test_a_long_build_id(callsign, builds, tmp_path):
    """What is kept of it decides: it is not ignored."""
    for id_, found in ((IDS[0] + "aa" * 20, "fn_alpha"), ("33" * 40, None)):
        line = tombstone(0x1104, id_)
        assert named(callsign, line, "--no-search", "-i", f"libarea.so={builds / 'alpha.gsym'}") == [found]


def test_a_module_without_id_after_one_with(callsign, tmp_path):
    """Of --symbols in Breakpad's layout: nothing tells which build is meant."""
    folder = tmp_path / "app" / "00112233445566778899AABBCCDDEEFF0"
    folder.mkdir(parents=True)
    (folder / "app.sym").write_text("MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 app\nFILE 0 /a.c\nFUNC 1000 100 0 f\n1000 100 10 0\n")
    frames = [{"module": "app", "address": "0x1050"}]
    known, unknown = ({"modules": [module], "frames": frames} for module in
                      ({"name": "app", "build_id": "33221100554477668899aabbccddeeff"}, {"name": "app"}))
    text = "".join(json.dumps(stack) + "\n" for stack in (unknown, known, unknown))
    assert named(callsign, text, "--no-search", "-s", tmp_path) == [None, "f", None]


@pytest.mark.parametrize("path", ["/proc/self/exe", "/proc/thread-self/exe", "/proc/./self//exe", "/usr/../proc/self/exe"])
def test_names_of_the_process_that_wrote_the_log(callsign, builds, path):
    """/proc/self/exe is the program that says so (Chromium, runc), not the one that reads it."""
    own = subprocess.run([need("readelf"), "-lW", callsign.path], capture_output=True, text=True, check=True).stdout
    code = next(int(row.split()[2], 16) for row in own.splitlines() if row.split()[:1] == ["LOAD"] and " R E " in row)
    lines = "".join(f"{path}(+{code + step:#x})[0x7f0000200010]\n" for step in range(0x1000, 0x40000, 0x1000))
    maps = f"{0x55d000000000:x}-{0x55d010000000:x} r-xp 00000000 08:01 1  {path}\n"
    for text in (lines, maps + "\n" + f"#0 {0x55d000000000 + code + 0x2000:#x}\n"):
        assert not any(named(callsign, text, "--offline", "--no-cache"))
    given = f"{path}(+0x1104)[0x7f0000200010]\n"
    assert named(callsign, given, "--offline", "--no-cache", "-i", f"exe={builds / 'alpha.gsym'}") == ["fn_alpha"]
