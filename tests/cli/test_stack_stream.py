"""callsign stack as a stream: lines that are read without a tree, texts and places that are kept, and their bounds."""
import json
import os
import re
import selectors
import subprocess
import time

import pytest

import gsym_make
from programs import need
from test_stack_logs import SAMPLES, filled, indexes, text_of  # noqa: F401 (indexes is a fixture)

PLAIN = '{"frames":[{"module":"app","address":"0x1004"},{"module":"app","address":"0x2010"}]}'


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """area and square share their code, which main calls; a thousand functions of their own stand after."""
    return gsym_make.write(tmp_path_factory.mktemp("app") / "app.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "area", "line": 5, "merged": [{"name": "square", "line": 9}]},
        {"start": 0x2000, "size": 0x40, "name": "main", "line": 20,
         "sites": [(0x10, gsym_make.INTERNAL, ["^square$"]), (0x20, gsym_make.INTERNAL, ["^area$"])]},
        *({"start": 0x10000 + 0x40 * i, "size": 0x40, "name": f"f{i}", "line": i + 1} for i in range(1000))])


def lines_of(callsign, app, lines, *args, code=0):
    done = callsign.run("stack", "--index", app, *args, stdin="".join(line + "\n" for line in lines))
    assert done.returncode == code, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("line", [
    PLAIN.replace(",", " ,\t").replace(":", " : ").replace("[", "[ ").replace("}", " }"),
    '{"frames":[{"address":"0x1004","module":"app"},{"exact":false,"address":"2010","module":"app"}]}',
    '{"frames":[{"module":"\\u0061pp","address":"0x1004"},{"module":"app","address":8208}]}',
    '{"frames":[{"module":"app","address":"0x1004","x":[1,{}]},{"module":"app","address":"0x2010"}],"note":"\\n"}',
    '{"note":null,"frames":[{"module":"app","address":"0x1004"},{"module":"app","address":"0x2010"}]}',
    '{"frames":[{"module":"app","address":"0x00000000000000001004"},{"module":"app","address":"0X2010","exact":false}]}',
], ids=["spaces", "order", "escape", "more", "after", "digits"])
def test_lines_that_mean_the_same(callsign, app, line):
    first, again, other = lines_of(callsign, app, [PLAIN, PLAIN, line], "--json")
    assert json.loads(first)["frames"][0]["merged"]["chosen"] == "square"
    assert first == again == other


@pytest.mark.parametrize("line,message", [
    (PLAIN + "x", "not JSON"), (PLAIN[:-1], "not JSON"), (PLAIN.replace("}]", "},]"), "not JSON"),
    (PLAIN.replace("app", "a\tp"), "not JSON"), (PLAIN.replace("0x2010", "0x20g0"), "address: no hexadecimal address"),
    (PLAIN.replace("0x2010", "12345678901234567"), "address: no hexadecimal address"),
    ('{"frames":[{"module":"app"}]}', "needs pc"), ('{"frames":[{"address":"0x1004"}]}', "needs pc"),
    ('{"frames":[{"pc":""}]}', "no hexadecimal address"), ('{"frames":[1]}', "not an object"),
    (PLAIN.replace("]}", ',{"module":"app","address":"1"}]}'), "frames: 3, limit 2"),
])
def test_lines_that_are_wrong(callsign, app, line, message):
    before, wrong, after = lines_of(callsign, app, [PLAIN, line, PLAIN], "--json", "--max-frames", "2", code=1)
    assert message in json.loads(wrong)["error"]
    assert before == after


UNREAD = [b'9223372036854775808', b'-1e400', b'"\\ud800"', b'"\xff\xc0"', b'"\t"', b'"\\u0000"', b"[" * 1000 + b"]" * 1000]


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("value", UNREAD, ids=["integer", "real", "half", "bytes", "tab", "nul", "depth"])
def test_members_that_are_not_read(callsign, app, value, threads, tmp_path):
    """Whatever they hold, beside what is read: in the line, in a module and in a frame."""
    own = own_line(OWN, 0x401004, 0x402010).encode()
    lines = [PLAIN.encode(), b'{"x":' + value + b"," + PLAIN.encode()[1:], PLAIN.encode().replace(b'"address"', b'"x":' + value + b',"address"'),
             own, own.replace(b'"name"', b'"x":' + value + b',"name"')]
    (tmp_path / "lines").write_bytes(b"\n".join(lines) + b"\n")
    found = callsign.good("stack", "--json", "--index", app, "--threads", threads, tmp_path / "lines").splitlines()
    assert len(found) == 5 and found[0] == found[1] == found[2] and found[3] == found[4]
    assert [json.loads(line)["frames"][0]["frames"][0]["function"] for line in found] == ["square"] * 5


@pytest.mark.parametrize("frame,message", [
    ('{"pc":01}', "pc: no hexadecimal address, nor a number below 2^64: 01"),
    ('{"module":"app","address":18446744073709551616}', "address: no hexadecimal address, nor a number below 2^64: 18446744073709551616"),
    ('{"pc":1e400}', "pc: no hexadecimal address, nor a number below 2^64: 1e400"), ('{"pc":-1}', "nor a number below 2^64: -1"),
    ('{"module":"a\tb","address":"1"}', "module: not JSON: a control character"),
])
def test_members_that_are_read(callsign, app, frame, message):
    before, wrong, after = lines_of(callsign, app, [PLAIN, '{"frames":[' + frame + "]}", PLAIN], "--json", code=1)
    assert message in json.loads(wrong)["error"] and before == after


def test_numbers_of_64_bits(callsign, app):
    """What of them does not fit integers with a sign was no JSON."""
    found = lines_of(callsign, app, ['{"frames":[{"pc":18446744073709551615},{"module":"app","address":8208}]}'], "--json")
    frames = json.loads(found[0])["frames"]
    assert frames[0]["pc"] == "0xffffffffffffffff" and frames[1]["frames"][0]["function"] == "main"


def test_choice_is_not_kept(callsign, app):
    """The same frame, chosen by one call and by another, and by none."""
    stacks = [json.dumps({"frames": [{"module": "app", "address": "0x1004"}, {"module": "app", "address": f"{ret:#x}"}]})
              for ret in (0x2010, 0x2020, 0x2030)] * 3
    for args in ([], ["--json"], ["--explain"]):
        found = [line for line in lines_of(callsign, app, stacks, *args) if line]
        assert found == found[:len(found) // 3] * 3
    chosen = [json.loads(line)["frames"][0]["merged"].get("chosen") for line in lines_of(callsign, app, stacks, "--json")]
    assert chosen == ["square", "area", None] * 3


def test_modules_that_change(callsign, app):
    """One address of one index under three names, by lines of modules and by modules of one stack."""
    def modules(name):
        return [{"name": name, "index": str(app), "start": "0x100000", "end": "0x200000", "bias": "0x100000"}]

    frames = [{"pc": "0x101004"}]
    lines = []
    for name in ("one", "two", "one"):
        lines += [json.dumps({"modules": modules(name)}), json.dumps({"frames": frames}), json.dumps({"frames": frames}),
                  json.dumps({"modules": modules("own"), "frames": frames}), json.dumps({"frames": frames})]
    found = lines_of(callsign, app, lines, "--json")
    names = [json.loads(line)["frames"][0]["module"] for line in found]
    assert names == ["one", "one", "own", "one", "two", "two", "own", "two", "one", "one", "own", "one"]
    text = [line.split()[1] for line in lines_of(callsign, app, lines) if line]
    assert text == names


@pytest.mark.parametrize("args", [["--json"], [], ["--json", "--explain", "--demangle"]])
def test_small_cache(callsign, app, args):
    """What is forgotten and found anew reads the same."""
    lines = []
    for i in range(300):
        lines.append(json.dumps({"frames": [{"module": "app", "address": f"{0x10000 + (i * 37 + k * 11) % 64000:#x}"}
                                            for k in range(40)] + [{"module": "app", "address": "0x1004"},
                                                                   {"module": "app", "address": "0x2010"}]}))
    whole = lines_of(callsign, app, lines * 2, *args)
    assert whole == lines_of(callsign, app, lines * 2, "--cache", "1", *args)
    assert whole == lines_of(callsign, app, lines * 2, "--cache", "200K", *args)


OWN = [{"name": "app", "start": "0x400000", "end": "0x500000", "bias": "0x400000"},
       {"name": "app.so", "start": "0x600000", "end": "0x700000", "bias": "0x5ff000"}]
MORE = [{"name": "/bin/other", "build_id": "0a0b0c0d"}]


def own_line(modules, *pcs):
    return json.dumps({"modules": modules, "frames": [{"pc": hex(pc)} for pc in pcs]})


def test_modules_of_a_line_are_read_either_way(callsign, app):
    """Without a tree, with one (a further member), and as the same text as in the line before; other lines between."""
    pcs = 0x401004, 0x402010, 0x601004 - 0x1000, 0x10000
    plain, more = own_line(OWN, *pcs), own_line(OWN + MORE, *pcs)
    tree = plain.replace('"name": "app"', '"note": [], "name": "app"')
    lines = [plain, plain, tree, plain, more, plain.replace("{", " {"), '{"modules": [{"name": "none"}]}', plain, PLAIN, plain]
    found = lines_of(callsign, app, lines, "--json")
    first = json.loads(found[0])["frames"]
    assert [frame["frames"][0].get("function") for frame in first[:3]] == ["square", "main", "area"], first
    assert {found[i] for i in (0, 1, 2, 3, 4, 5, 6, 8)} == {found[0]}
    assert lines_of(callsign, app, lines, "--json", "--threads", "2") == found


@pytest.mark.parametrize("change,message", [
    (('"0x500000"', '"0x300000"'), "below start"), (('"end": "0x500000", ', ""), "start and end go together"),
    (('"0x400000"', '"0x4g"'), "no hexadecimal address"), (('{"name": "app"', '{"build_id": "1", "name": "app"'), "no hexadecimal build id"),
    (('{"name": "app"', '1, {"name": "app"'), "not an object"), (("}], ", "}, ], "), "not JSON"),
], ids=["order", "pair", "digits", "id", "object", "comma"])
def test_modules_of_a_line_that_are_wrong(callsign, app, change, message):
    good = own_line(OWN, 0x401004)
    before, wrong, after = lines_of(callsign, app, [good, good.replace(*change, 1), good], "--json", code=1)
    assert message in json.loads(wrong)["error"]
    assert before == after


def test_modules_of_one_name_hide_no_others(callsign, app):
    """60,000 of one name: those of other names keep what the line says of them."""
    modules = [{"name": "same", "start": hex(0x100000 * i), "end": hex(0x100000 * i + 1)} for i in range(1, 60001)]
    modules += [{"name": f"other{i}", "index": str(app)} for i in range(20)]
    frames = [{"module": f"other{i}", "address": "0x2010"} for i in range(20)]
    line = json.dumps({"modules": modules, "frames": frames}) + "\n"
    answer = json.loads(callsign.good("stack", "--json", "--max-frames", "100000", stdin=line))
    assert [f["frames"][-1]["function"] if f["frames"] else None for f in answer["frames"]] == ["main"] * 20


def test_names_with_any_byte_at_any_place(callsign, tmp_path):
    """What JSON escapes is found in every position of short and long names."""
    odd = ['"', "\\", "\x01", "\x1f", "\n", "\x7f", "\u00e9", "\u20ac"]
    names = [f"{'n' * at}{odd[(size + at) % len(odd)]}{'x' * (size - at)}" for size in (0, 3, 7, 8, 15, 16, 17, 31, 40) for at in range(size + 1)]
    index = gsym_make.write(tmp_path / "odd.gsym", [{"start": 0x1000 + 0x10 * i, "size": 0x10, "name": name, "line": 1}
                                                    for i, name in enumerate(names)])
    line = json.dumps({"frames": [{"module": "odd", "address": hex(0x1000 + 0x10 * i), "exact": True} for i in range(len(names))]})
    done = callsign.run("stack", "--json", "--index", index, stdin=line + "\n")
    assert done.returncode == 0, done.stderr
    assert [frame["frames"][0]["function"] for frame in json.loads(done.stdout)["frames"]] == names


@pytest.mark.parametrize("text, name, why", [
    ('{"crash_info": {},\n "threads": [}\n', "minidump-json", "not the JSON of minidump-stackwalk: line 2: "),
    ('{"a":\n [1]}', "minidump-json", 'not the JSON of minidump-stackwalk: line 1: no member "threads"'),
    ("[1]", "minidump-json", "not the JSON of minidump-stackwalk: line 1: not an object"),
    ('{"app_name": "a"}\n{\n"threads": [}', "ips", "not an .ips report: line 3: ")])
def test_a_report_that_is_none(callsign, tmp_path, text, name, why):
    (tmp_path / "report").write_text(text)
    done = callsign.run("stack", "--format", name, tmp_path / "report")
    assert done.returncode == 1 and why in done.stdout, done
    done = callsign.run("stack", "--format", name, "--in-place", tmp_path / "report")
    assert (done.returncode, done.stdout) == (1, text)
    assert done.stderr.startswith(f"callsign: {tmp_path}/report: {why}") and done.stderr.count("\n") == 1


def test_a_file_that_is_not_there_does_not_stop_the_others(callsign, tmp_path):
    (tmp_path / "log").write_text("app+0x1000\n")
    done = callsign.run("stack", "--in-place", tmp_path / "gone", tmp_path / "log", "", tmp_path / "log")
    assert done.returncode == 2 and done.stdout == 2 * "app+0x1000\n"
    assert done.stderr.splitlines()[:2] == [f"callsign: {tmp_path}/gone: No such file or directory", "callsign: '': No such file or directory"]
    assert "2 stacks" in done.stderr.splitlines()[2]
    assert callsign.bad("stack", tmp_path / "gone") == f"callsign: {tmp_path}/gone: No such file or directory"


NAMED = "".join(f"/opt/app/libx{i % 1500}.so(+0x1139)[0x7f0000001139]\n--\n" for i in range(3000))
MAPPED = "".join(f"{i:x}0000-{i:x}2000 r-xp 00001000 00:00 0 /opt/app/libx{i}.so\n" for i in range(0x7f0000, 0x7f0000 + 1500)) \
    + "".join(f"#0  0x{0x7f0000 + i % 1500:x}1202 in ?? ()\n--\n" for i in range(3000))


@pytest.mark.parametrize("text", [NAMED, MAPPED], ids=["named", "mapped"])
def test_modules_without_index_are_searched_once(callsign, text):
    """However many there are: none of them is an open index that would have to be closed."""
    for threads in ("1", "2"):
        done = callsign.run("stack", "--offline", "--no-cache", "--explain", "--threads", threads, stdin=text)
        assert done.stdout.count("there is no index for the module") == 3000
        assert len(re.findall("no symbols; searched", done.stderr)) == 1500


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
def test_more_modules_than_are_open_at_once(callsign, tmp_path, threads, together):
    """Each index is opened about once where each has a stack of its own, and not again for each new one where all are needed."""
    count, rounds = 1300, 2
    strace = need("strace")
    first = gsym_make.write(tmp_path / "first.gsym", [{"start": 0x1000, "size": 0x40, "name": "handle"}])
    for i in range(count):
        os.link(first, tmp_path / f"l{i}.so.gsym")
    frames = [f"{tmp_path}/l{i}.so(+0x1010)[0x7f0000001010]\n" for i in range(count)]
    stacks = ["".join(frames[:1200] + [new]) for new in frames[1200:1230]] if together else frames * rounds
    (tmp_path / "log").write_text("--\n".join(stacks))
    done = subprocess.run([strace, "-f", "-e", "trace=openat", "-o", tmp_path / "calls", callsign.path, "stack", "--offline", "--no-cache",
                           "--threads", threads, tmp_path / "log"], capture_output=True, text=True)
    calls = (tmp_path / "calls").read_text() if (tmp_path / "calls").exists() else ""
    if "first" not in calls and "log" not in calls:
        pytest.skip("strace cannot trace")
    assert done.stdout.count(": handle") == done.stdout.count("#") == "".join(stacks).count("(+0x1010)")
    opened = len(re.findall(r"/l\d+\.so\.gsym", calls))
    assert count < opened + 200 and opened <= 3 * count


# ---- who writes and waits ----

class Waiting:
    """A command whose input stays open."""
    def __init__(self, callsign, *args):
        self.process = subprocess.Popen([callsign.path, "stack", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.output = b""

    def write(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def wait_for(self, wanted, seconds=30):
        """What came until it was all there, or nothing more for that time."""
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while len(self.output) < len(wanted.encode()) and time.monotonic() < end:
                selector.select(max(0, end - time.monotonic()))
                self.output += self.process.stdout.read() or b""
        return self.output.decode()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.output += self.process.stdout.read() or b""
        self.process.stdout.close()
        return self.output.decode()


@pytest.mark.parametrize("args", [["--in-place"], ["--json"], ["--in-place", "--threads", "1"]], ids=["in place", "json", "one thread"])
def test_a_log_that_ends_with_its_stack(callsign, indexes, args):  # noqa: F811
    """tail -f: the last stack of every dialect is written when nothing has come for a second, as it is at the end of a file."""
    running = {name: Waiting(callsign, *args, *map(str, indexes[name])) for name in SAMPLES}
    texts = {name: text_of(name) + ("\n" if name.startswith("perf") else "") for name in SAMPLES}  # samples of perf say where they end
    for name, command in running.items():
        command.write(texts[name])
    for name, command in running.items():
        wanted = callsign.run("stack", *args, *indexes[name], stdin=texts[name]).stdout
        assert command.wait_for(wanted) == wanted, name
        assert command.close() == wanted, name


@pytest.mark.parametrize("name,lines", [("gdb", 2), ("asan", 3), ("boost", 2), ("eu-stack", 4), ("coredumpctl", 30), ("libunwind", 2), ("glibc-fd", 1)])
def test_a_stack_that_goes_on_after_a_pause(callsign, indexes, name, lines):  # noqa: F811
    """Its numbers go on, and its callers are callers still."""
    text, wanted = text_of(name).splitlines(True), filled(name)
    command = Waiting(callsign, "--in-place", *map(str, indexes[name]))
    command.write("".join(text[:lines]))
    first = callsign.run("stack", "--in-place", *indexes[name], stdin="".join(text[:lines])).stdout
    assert command.wait_for(first) == first and wanted.startswith(first)
    command.write("".join(text[lines:]))
    assert command.wait_for(wanted) == wanted == command.close()


def test_perf_takes_its_time_within_a_sample(callsign):
    """A sample was two of them, each with a part of its chain, where perf read symbols for more than a second."""
    command = Waiting(callsign, "--json", "--no-search")
    command.write("app 7 1.5: 1 cycles:u:\n\t1139 f (/opt/app/liborders.so)\n")
    assert command.wait_for("{}", seconds=2.5) == ""
    command.write("\t1161 g (/opt/app/liborders.so)\n\n")
    assert [len(json.loads(line)["frames"]) for line in command.close().splitlines()] == [2]
