"""callsign stack on logs in lines of JSON: the stacks in their strings are read as if the text stood alone, and filled in place within them.

The texts are the samples of test_stack_logs.py. What loggers wrote is in tests/data/stacks/json-logs (its README has their versions); Docker's
json-file, the journal's JSON, CloudWatch's and Google's exports and OpenTelemetry's records follow the forms that their documentation
shows."""
import json
import re
import subprocess

import pytest

import gsym_make
from test_stack_logs import DATA, LIB, SAMPLES, filled, indexes, summary, text_of  # noqa: F401 (indexes is a fixture)

TIME = "2026-11-22T20:00:01.123456789Z"
LOGS = DATA / "json-logs"


def line_of(value, **options):
    return json.dumps(value, **options) + "\n"


def docker(text, stream="stderr"):
    """docs.docker.com, JSON File logging driver: a record for each line."""
    return "".join(line_of({"log": line, "stream": stream, "time": TIME}, separators=(",", ":")) for line in text.splitlines(True))


def journal(text, of=str, pid="42"):
    """journalctl -o json: MESSAGE has no newline; systemd.io/JOURNAL_EXPORT_FORMATS: an array of numbers where it is no UTF-8."""
    return "".join(line_of({"__CURSOR": "s=1f;i=2;b=3c;m=4;t=5;x=6", "_PID": pid, "PRIORITY": "3", "MESSAGE": of(line), "_BOOT_ID": "0" * 32})
                   for line in text.split("\n"))


def go_escaped(text):
    return line_of({"log": text}).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# A text in JSON, and the text of that again.
FORMS = {
    "a string": (lambda t: line_of({"ts": 1.5e9, "level": "error", "msg": t, "n": [1, {}]}), lambda o: json.loads(o)["msg"]),
    "docker": (docker, lambda o: "".join(json.loads(line)["log"] for line in o.splitlines())),
    "journal": (journal, lambda o: "\n".join(json.loads(line)["MESSAGE"] for line in o.splitlines())),
    "journal, bytes": (lambda t: journal(t, lambda line: list(line.encode())),
                       lambda o: "\n".join(bytes(json.loads(line)["MESSAGE"]).decode() for line in o.splitlines())),
    "bytes": (lambda t: line_of({"MESSAGE": list(t.encode())}), lambda o: bytes(json.loads(o)["MESSAGE"]).decode()),
    "docker of JSON": (lambda t: docker(line_of({"severity": "ERROR", "stack_trace": t})),
                       lambda o: json.loads(json.loads(o)["log"])["stack_trace"]),
    "bytes of JSON": (lambda t: line_of({"MESSAGE": list(line_of({"stack": t}).encode())}),
                      lambda o: json.loads(bytes(json.loads(o)["MESSAGE"]))["stack"]),
    "lines": (lambda t: line_of({"exception": {"stack": t.split("\n")}}), lambda o: "\n".join(json.loads(o)["exception"]["stack"])),
    "go": (go_escaped, lambda o: json.loads(o)["log"]),
    "all escaped": (lambda t: '{"msg":"%s"}\n' % "".join(f"\\u{ord(c):04X}" if not c.isalnum() else c for c in t), lambda o: json.loads(o)["msg"]),
    "spread": (lambda t: json.dumps({"severity": "ERROR", "jsonPayload": {"message": t}, "x": [1]}, indent=2) + "\n",
               lambda o: json.loads(o)["jsonPayload"]["message"]),
    "array of records": (lambda t: line_of([{"a": 1}, {"textPayload": t}]), lambda o: json.loads(o)[1]["textPayload"]),
    "opentelemetry": (lambda t: line_of({"resourceLogs": [{"scopeLogs": [{"logRecords": [
        {"timeUnixNano": "1544712660300000000", "severityText": "ERROR", "body": {"stringValue": t}, "attributes": []}]}]}]}),
        lambda o: json.loads(o)["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["body"]["stringValue"]),
    "after a prefix": (lambda t: f"{TIME} stderr F " + line_of({"error.stack_trace": t}), lambda o: json.loads(o[len(TIME) + 10:])["error.stack_trace"]),
    "after a text": (lambda t: "ERROR [orders] payload: " + line_of({"message": t}), lambda o: json.loads(o[24:])["message"]),
    "cloudwatch": (lambda t: '{\n    "events": [\n        {\n            "timestamp": 1396035378988,\n            "message": %s,\n'
                             '            "ingestionTime": 1396035394997\n        }\n    ]\n}\n' % json.dumps(t),
                   lambda o: json.loads(o)["events"][0]["message"]),
}
EACH_LINE = ("journal", "journal, bytes", "lines")
# A text that journalctl -o json gives without its newlines: "bare" is an address that is all of a string.
LEFT_OUT = {("bare", form) for form in EACH_LINE} | {("bare", "all escaped")}


@pytest.fixture(scope="module")
def answers(callsign, indexes):
    """Of the texts alone."""
    return {name: callsign.run("stack", "--json", *indexes[name], stdin=text_of(name)).stdout for name in SAMPLES}


@pytest.mark.long_with_sanitizers
@pytest.mark.parametrize("form", FORMS)
def test_each_sample(callsign, indexes, answers, form):
    """The answer is that of the text, and the string becomes what the text becomes; twice is once."""
    write, read = FORMS[form]
    for name in SAMPLES:
        if (name, form) in LEFT_OUT:
            continue
        log = write(text_of(name))
        done = callsign.run("stack", "--in-place", *indexes[name], stdin=log)
        assert read(done.stdout) == filled(name), name
        assert done.returncode == 0 and summary(done) == SAMPLES[name].counts, name
        assert callsign.run("stack", "--json", *indexes[name], stdin=log).stdout == answers[name], name
        assert callsign.run("stack", "--in-place", *indexes[name], stdin=done.stdout).stdout == done.stdout, name


def test_an_address_that_is_all_of_a_string(callsign, indexes):
    """It may be any identifier."""
    for form in EACH_LINE:
        log = FORMS[form][0](text_of("bare"))
        assert callsign.run("stack", "--in-place", *indexes["bare"], stdin=log).stdout == log


@pytest.mark.parametrize("form", FORMS)
def test_nothing_changes_without_an_index(callsign, form):
    for name in ("glibc-fd", "asan", "gdb", "kernel-x86-64"):
        log = FORMS[form][0](text_of(name))
        assert callsign.run("stack", "--in-place", "--no-search", stdin=log).stdout == log


def replaced(value, before, after):
    if isinstance(value, dict):
        return {key: replaced(item, before, after) for key, item in value.items()}
    if isinstance(value, list):
        whole = before.split("\n")
        return after.split("\n") if value in (whole, whole[:-1]) else [replaced(item, before, after) for item in value]
    return value.replace(before, after) if isinstance(value, str) else value


LOGGERS = {"zap": "asan", "zerolog": "asan", "logrus": "asan", "slog": "asan", "go-encoding-json": "asan", "pino": "glibc-fd", "bunyan": "glibc-fd",
           "winston": "glibc-fd", "structlog": "llvm", "log4j-ecs": "glog", "log4j-gcp": "glog", "log4j-json": "glog", "log4j-pretty": "glog"}


@pytest.mark.parametrize("logger", LOGGERS)
def test_loggers(callsign, indexes, logger):
    name = LOGGERS[logger]
    log = (LOGS / f"{logger}.json").read_text()
    done = callsign.good("stack", "--in-place", *indexes[name], stdin=log)
    before, got = ([json.loads(text)] if logger == "log4j-pretty" else [json.loads(line) for line in text.splitlines()] for text in (log, done))
    wanted = replaced(before, text_of(name), filled(name))
    assert got == wanted != before


def test_a_logger_that_writes_both_ways(callsign, indexes):
    """python-json-logger: the text once as a whole, and once a record for each line."""
    log = (LOGS / "python-json-logger.json").read_text().splitlines()
    done = [json.loads(line) for line in callsign.good("stack", "--in-place", *indexes["llvm"], stdin="\n".join(log) + "\n").splitlines()]
    assert done[0]["message"] == "gestartet: é" and done[1]["stderr"] == filled("llvm")
    assert [r["message"] for r in done[2:]] == filled("llvm").splitlines()


FRAME = "/opt/app/liborders.so(+0x113b)[0x7ff23eba513b]"
NAMED = FRAME + " (check at /opt/app/liborders.c:9, inlined into parse_line at /opt/app/liborders.c:16)"


@pytest.mark.parametrize("line", [
    '{"a" : 1.50e+01 ,"log":"%s\\n", "log" : "%s\\n" , "b":[ ]}\n',               # twice the same name; spaces; a number as it is
    '{"x":"\\u00e9\\/\\ud83d\\ude00\\ud800","msg":"\\u00e9 %s","y":"é\u2028"}\r\n',  # escapes as they were; CRLF
    '  {"msg":"%s","n":-0.0,"big":123456789012345678901234567890}',               # no newline at the end
    '{"m":"\\u000a%s\\u000a","k\\"":{"":null}}\n', '{"m":"\\n\\r\\n%s\\r\\nnext \\b\\f"}\n', '[{"msg":"%s"},{"msg":"%s"}]\n',
    '   "message": "%s",\n', '   "message" : "%s"\n', '"%s",\n', '{"m":"a\\tb\\n%s"},\n',
    '2026-11-22 20:00:01 INFO {"msg":"%s"}\n', '\x1e{"MESSAGE":"%s"}\n', 'data: {"MESSAGE":"%s"}\n', 'payload={"m":"%s"}\n', '\ufeff{"m":"%s"}\n',
    '{"m":"\\u001b[31m%s"}\n', '\t{"MESSAGE":["%s","%s"]}\n', '{"a":{"b":{"c":[[{"d":"%s"}]]}}}\n',
])
def test_everything_else_stays(callsign, line):
    def of(frame):
        return line.replace("%s", frame)

    assert callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=of(FRAME)) == of(NAMED)
    assert callsign.run("stack", "--in-place", "--no-search", *LIB, stdin=of(NAMED)).stdout == of(NAMED)


@pytest.mark.parametrize("end", ["\\u001b[0m", "\\u001b[m\\u001b[K\\r"])
def test_colours_of_a_terminal(callsign, end):
    """What ends a line stays at its end, also after lines that are added."""
    line = '{"log":"\\u001b[1m    #1 0x7f71e124213a  (/opt/app/liborders.so+0x113a)%s\\n"}\n' % end
    done = callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=line)
    assert done == ('{"log":"\\u001b[1m    #1 0x7f71e124213a in check /opt/app/liborders.c:9%s\\n'
                    '\\u001b[1m    #2 0x7f71e124213a in parse_line /opt/app/liborders.c:16%s\\n"}\n' % (end, end))


def test_explained(callsign, tmp_path):
    """A line of reasoning is a line of the string."""
    functions = [{"start": 0x1000, "size": 0x10, "name": "one", "line": 1, "merged": [{"start": 0x1000, "size": 0x10, "name": "other", "line": 2}]}]
    index = gsym_make.write(tmp_path / "lib.gsym", functions, base=0x1000, source=("/opt", "a.c"))
    text = "/opt/lib(+0x1001)[0x7001001]\n/opt/lib(+0x1003)[0x7001003]\n"
    plain = callsign.good("stack", "--in-place", "--explain", "--no-search", "-i", index, stdin=text)
    assert plain.count("\n") > 2
    for form in "a string", "docker", "bytes":
        write, read = FORMS[form]
        assert read(callsign.good("stack", "--in-place", "--explain", "--no-search", "-i", index, stdin=write(text))) == plain


def test_the_example_of_the_page(callsign):
    page = (DATA.parents[2] / "docs" / "stacks.md").read_text()
    before, after = re.search(r'makes of the first line the second:\n\n```\n(.*\n)(.*\n)```', page).groups()
    assert callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=before) == after


def test_a_slash_that_is_escaped(callsign):
    line = '{"message":"%s"}\n'
    escaped = FRAME.replace("/", "\\/")
    assert callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=line % escaped) == line % (escaped + NAMED[len(FRAME):])
    plus = FRAME.replace("+", "\\u002B")  # System.Text.Json
    assert callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=line % plus) == line % (plus + NAMED[len(FRAME):])


def test_bytes_are_added_as_numbers(callsign):
    line = '{"MESSAGE":[ %s ] ,"x":[1,2,3,4,5,6,7,8,300]}\n'
    spaced = ", ".join(str(b) for b in FRAME.encode() + b"\n\xff\n" + FRAME.encode())
    added = "".join(f",{b}" for b in NAMED[len(FRAME):].encode())
    want = line % (spaced.replace(", 10, 255, 10, ", added + ", 10, 255, 10, ") + added)
    assert callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=line % spaced) == want


@pytest.mark.parametrize("line", [
    '{"pc":"0x113b","id":"0x00113b","n":"113b","trace_id":"0000000000001139"}\n', '{"frames":[{"pc":"0x113b"}]}\n', '{"a":"+49 123"}\n',
    '{"MESSAGE":[1,2,3,4,5,6,7,8]}\n', '{"MESSAGE":null}\n', '{"a":"\\u0000\\u002b"}\n', '{}\n', '[]\n', '{"a":"0x1f"}\n', '[{}]\n', '""\n',
])
def test_what_is_no_frame(callsign, line):
    done = callsign.run("stack", "--in-place", "--no-search", *LIB, stdin="x\n" + line)
    assert done.stdout == "x\n" + line and done.returncode == 1


@pytest.mark.parametrize("form", FORMS)
def test_damaged_json(callsign, form):
    """Cut anywhere, and with a byte that is not JSON anywhere, the line passes as text."""
    log = FORMS[form][0](FRAME + "\n").encode()
    damaged = [text for at in range(len(log)) for text in (log[:at], log[:at] + b"\x01" + log[at:], log[at:])]
    for text in [b"\n\n".join(damaged), *damaged[::29]]:
        got = subprocess.run([callsign.path, "stack", "--in-place", "--no-search"], input=text, capture_output=True).stdout
        assert got == text
    for at in range(0, len(log), 29):  # what is filled in leaves nothing out
        got = subprocess.run([callsign.path, "stack", "--in-place", *map(str, LIB), "--no-search"], input=log[:at], capture_output=True).stdout
        assert len(got) >= at and got[:20] == log[:min(at, 20)]


def test_stacks_of_several_sources(callsign, indexes):
    """Records of one stream or process make one stack; of another, another."""
    text = text_of("glibc-fd")
    for write, args in (docker, {"stream": "stdout"}), (journal, {"pid": "43"}):
        one, other = write(text), write(text, **args)
        assert summary(callsign.run("stack", *indexes["glibc-fd"], stdin=one)) == (1, 7, 5)
        assert summary(callsign.run("stack", *indexes["glibc-fd"], stdin=one + other)) == (2, 14, 10)
        mixed = "".join(a + b for a, b in zip(one.splitlines(True), other.splitlines(True)))
        done = callsign.run("stack", "--in-place", *indexes["glibc-fd"], stdin=mixed)
        assert done.stdout.splitlines()[::2] == callsign.good("stack", "--in-place", *indexes["glibc-fd"], stdin=one).splitlines()
        assert done.stdout.splitlines()[1::2] == callsign.good("stack", "--in-place", *indexes["glibc-fd"], stdin=other).splitlines()


def test_records_of_others_between(callsign, indexes):
    """What another program or stream writes meanwhile ends no stack, if there is no frame in it; within a bound, as the stack is held back."""
    text = text_of("glibc-fd")
    for write, others in (docker, docker("request accepted\n", stream="stdout")), (journal, journal("request accepted", pid="43")):
        lines, wanted = write(text).splitlines(True), write(filled("glibc-fd")).splitlines(True)
        for count, stacks in (1, 1), (64, 1), (65, 7):
            done = callsign.run("stack", "--in-place", *indexes["glibc-fd"], stdin=(others * count).join(lines))
            assert done.stdout == (others * count).join(wanted) and summary(done) == (stacks, 7, 5)
        own = write("request accepted\n").splitlines(True)[0]
        assert summary(callsign.run("stack", *indexes["glibc-fd"], stdin=own.join(lines))) == (7, 7, 5)


def test_plain_lines_and_json_in_one_log(callsign, indexes):
    names = [name for name in ("glibc-fd", "asan", "coredumpctl", "gdb", "libunwind-pie")]
    args = indexes["glibc-fd"]
    log = want = ""
    for name in names:
        for write in (lambda t: t, FORMS["a string"][0], docker, lambda t: "some text\n{not json}\n" + t):
            log += write(text_of(name)) + "----\n"
            want += callsign.run("stack", "--in-place", *args, stdin=write(text_of(name))).stdout + "----\n"
    for threads in "1", "4":
        assert callsign.good("stack", "--in-place", "-j", threads, *args, stdin=log) == want
    assert want.count("liborders.c") > 4 * len(names)


def test_mappings_in_records(callsign, indexes):
    """Lists of modules that follow the stack, and those before it, in records of their own."""
    name = "bare-with-maps"
    lines = text_of(name)
    assert summary(callsign.run("stack", *indexes[name], stdin=docker(lines)))[:3] == SAMPLES[name].counts
    maps = [line for line in lines.splitlines(True) if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line)]
    rest = [line for line in lines.splitlines(True) if line not in maps]
    after = docker("".join(rest)) + docker("".join(maps))
    done = callsign.run("stack", "--in-place", *indexes[name], stdin=after)
    assert summary(done) == SAMPLES[name].counts
    assert json.loads(done.stdout.splitlines()[-1])["log"] == maps[-1]


NAMES = ['operator""_km', "a\\b", "tab\there", "caf\u00e9", "bell\x07", "\U0001f600", "\x7f"]


@pytest.mark.parametrize("form", ["a string", "docker of JSON", "bytes", "bytes of JSON"])
def test_names_with_any_character(callsign, tmp_path, form):
    """The result is JSON, and the string in it that of the text."""
    functions = [{"start": 0x1000 + 0x10 * i, "size": 0x10, "name": name, "line": 1} for i, name in enumerate(NAMES)]
    index = gsym_make.write(tmp_path / "lib.gsym", functions, base=0x1000, source=('/opt/"app"', "a\\b.c"))
    text = "".join(f"/opt/lib(+{f['start'] + 1:#x})[{0x7000000 + f['start'] + 1:#x}]\n" for f in functions)
    plain = callsign.good("stack", "--in-place", "--no-search", "-i", index, stdin=text)
    assert all(part in plain for part in ('""_km', "a\\b", "é"))
    write, read = FORMS[form]
    assert read(callsign.good("stack", "--in-place", "--no-search", "-i", index, stdin=write(text))) == plain


def test_names_that_are_no_utf_8(callsign, tmp_path):
    index = tmp_path / "lib.gsym"
    gsym_make.write(index, [{"start": 0x1000, "size": 0x10, "name": "caf\u00e9", "line": 1}], base=0x1000, source=("/opt", "a.c"))
    index.write_bytes(index.read_bytes().replace("é".encode(), b"\xe9!"))
    line = '{"a":"/opt/lib(+0x1001)[0x7001001]"}\n'
    done = subprocess.run([callsign.path, "stack", "--in-place", "--no-search", "-i", index], input=line.encode(), capture_output=True).stdout
    assert json.loads(done.decode())["a"] == "/opt/lib(+0x1001)[0x7001001] (caf\ufffd! at /opt/a.c:1)"


def test_long_lines(callsign, indexes):
    """A record may be longer than a line of text; one that is longer than the bound passes."""
    text = text_of("glibc-fd")
    log = line_of({"pad": "x" * 300000, "log": ("no frame here\n" * 20000) + text, "more": "y" * 300000})
    done = callsign.run("stack", "--in-place", *indexes["glibc-fd"], stdin=log)
    assert json.loads(done.stdout)["log"].endswith(filled("glibc-fd")) and summary(done) == (1, 7, 5)
    log = line_of({"pad": "x" * (1 << 21), "log": text}) + docker(text)
    done = callsign.run("stack", "--in-place", "--max-frames", "8", *indexes["glibc-fd"], stdin=log)
    assert done.stdout == log.splitlines(True)[0] + callsign.good("stack", "--in-place", *indexes["glibc-fd"], stdin=docker(text))


def test_folded_stacks_of_many_elements(callsign):
    """Many frames in one line, each of them a part of the string; the last lines of a record, and text after them."""
    elements = ["app", *["liborders.so+0x113b", "\u00e9", "x\ty"] * 2000]
    text = ";".join(elements) + " 12\n" + "\n" * 20000 + ";".join(elements) + " 13"
    plain = callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=text)
    assert plain.count("parse_line;check") == 4000
    for form in "a string", "docker", "bytes", "docker of JSON", "all escaped":
        write, read = FORMS[form]
        assert read(callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=write(text))) == plain


def test_stacks_in_json_are_recognized_first(callsign, indexes):
    """Their meaning is that of before, whatever else is in them."""
    stack = '{"frames":[{"module":"liborders.so","address":"0x1161"}],"log":"%s"}\n' % FRAME
    answer = json.loads(callsign.good("stack", "--json", "--no-search", *LIB, stdin=stack))
    assert [f["address"] for f in answer["frames"]] == ["0x1161"]
    assert "error" in json.loads(callsign.run("stack", "--json", "--no-search", stdin='{"modules":1}\n').stdout)
    report = (DATA / "minidump-stackwalk.json").read_text()
    assert callsign.run("stack", "--in-place", *indexes["glibc-fd"], stdin=report).stdout.count("orders_load") > report.count("orders_load")


def test_records_spread_over_lines(callsign, indexes):
    """journalctl -o json-pretty: the first line is a bracket alone, as that of a report."""
    text = text_of("coredumpctl")
    log = "".join(json.dumps({"PRIORITY": "6", "MESSAGE": message}, indent=1) + "\n" for message in ("started", text))
    for args in [], ["-"]:
        done = callsign.run("stack", "--in-place", *indexes["coredumpctl"], *args, stdin=log)
        assert summary(done) == SAMPLES["coredumpctl"].counts
        assert json.loads(done.stdout[done.stdout.index("}\n") + 2:])["MESSAGE"] == filled("coredumpctl")
    assert callsign.run("stack", "--in-place", "--no-search", stdin='{\n "a": 1\n').stdout == '{\n "a": 1\n'


@pytest.mark.parametrize("fields", [{"timestamp": 1396035378988}, {f"_FIELD{i}": str(i) for i in range(30)} | {"_PID": "42"}, {"labels": {"a": ["b"]}}])
def test_a_record_spread_over_lines_for_each_line(callsign, indexes, fields):
    """`aws logs get-log-events`, `journalctl -o json-pretty`: what stands between the texts ends no stack."""
    text = text_of("glibc-fd")
    events = {"events": [fields | {"message": line, "ingestionTime": 1} for line in text.splitlines()], "x": [1]}
    done = callsign.run("stack", "--in-place", *indexes["glibc-fd"], stdin=json.dumps(events, indent=4) + "\n")
    assert [e["message"] for e in json.loads(done.stdout)["events"]] == filled("glibc-fd").splitlines()
    assert summary(done) == (1, 7, 5)
    log = json.dumps(events["events"][0], indent=1) + "\n}\nplain text\n" + json.dumps(events["events"][1], indent=1) + "\n"
    assert summary(callsign.run("stack", "--in-place", *indexes["glibc-fd"], stdin=log))[0] == 2


def test_a_long_stack_in_parts(callsign):
    lines = [FRAME + "\n"] * 50
    for write in FORMS["a string"], FORMS["docker"], FORMS["bytes"]:
        done = callsign.run("stack", "--in-place", "--no-search", "--max-frames", "7", *LIB, stdin=write[0]("".join(lines)))
        assert write[1](done.stdout) == (NAMED + "\n") * 50
        assert summary(done) == (8, 50, 50)


def test_a_forced_format(callsign, indexes):
    log = docker(text_of("glibc-fd"))
    assert callsign.good("stack", "--in-place", "--format", "glibc", *indexes["glibc-fd"], stdin=log) \
        == callsign.good("stack", "--in-place", *indexes["glibc-fd"], stdin=log)
    assert callsign.run("stack", "--in-place", "--format", "rust", *indexes["glibc-fd"], stdin=log).stdout == log
