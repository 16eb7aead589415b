"""callsign profile: values, lines and times stay what they are from one format to another, or it is told."""
import gzip
import json
import os
import re
import signal
import struct
import subprocess

import pytest

import gsym_make
from profile_bytes import Pprof, dict_of, fields, message, packed, pprof
from programs import need

HIGHEST = 2**63 - 1


def profile_of(callsign, tmp_path, source, name, *options):
    """The profile, and what was said."""
    sources = source if isinstance(source, list) else [source]
    paths = []
    for i, data in enumerate(sources):
        paths.append(tmp_path / f"in{i}")
        paths[-1].write_bytes(data if isinstance(data, bytes) else data.encode())
    done = callsign.run("profile", *paths, "-o", tmp_path / name, "--no-search", *options)
    assert done.returncode == 0, done.stderr
    return (tmp_path / name).read_bytes(), done.stderr


def values_of(callsign, tmp_path, source):
    profile = Pprof(profile_of(callsign, tmp_path, source, "out.pb", "-q")[0])
    return profile.types, [values for _, values, _ in profile.samples]


def firefox(weights, weight_type="samples", **more):
    """A thread with a sample for each weight, each in a function of its own; weights are texts of JSON."""
    count = len(weights)
    samples = {"length": count, "stack": list(range(count)), "time": list(range(count)), "weight": "W", "weightType": weight_type}
    thread = {"name": "main", "processName": "app", "pid": "1", "tid": 1, "samples": samples | more,
              "stringArray": [f"f{i}" for i in range(count)],
              "frameTable": {"length": count, "address": [-1] * count, "inlineDepth": [0] * count, "func": list(range(count)), "line": [None] * count},
              "funcTable": {"length": count, "name": list(range(count)), "resource": [-1] * count, "fileName": [None] * count},
              "stackTable": {"length": count, "frame": list(range(count)), "prefix": [None] * count}}
    profile = {"meta": {"interval": 1, "startTime": 0, "preprocessedProfileVersion": 46}, "libs": [], "threads": [thread]}
    return json.dumps(profile).replace('"W"', f"[{','.join(weights)}]")


def samples_of(data):
    return json.loads(data)["threads"][0]["samples"]


# ---- weights of Firefox profiles ----


@pytest.mark.parametrize("unit, weights", [("nanoseconds", [20.0, 0.000001]), ("\u03bcs", [20000.0, 0.001]), ("\u00b5s", [20000.0, 0.001]), ("microseconds", [20000.0, 0.001]),
                                           ("milliseconds", [20000000, 1]),
                                           ("seconds", [20000000000, 1000])])
def test_times_are_firefox_times(callsign, tmp_path, unit, weights):
    """They were written as so many samples."""
    source = pprof([([0x1000], [20000000]), ([0x2000], [1])], [], types=(("cpu", unit),))
    data, _ = profile_of(callsign, tmp_path, source, "out.json")
    samples = samples_of(data)
    assert (samples["weight"], samples["weightType"]) == (weights, "tracing-ms")
    assert values_of(callsign, tmp_path, data) == ([("tracing-ms", "nanoseconds")], [[round(weight * 1000000)] for weight in weights])


@pytest.mark.parametrize("unit, period, interval", [("ms", 10, 10), ("ns", 500000, 0.5), ("us", 250, 0.25), ("bytes", 4096, 1)])
def test_periods_are_firefox_intervals(callsign, tmp_path, unit, period, interval):
    """Those of other units than nanoseconds were 1 ms."""
    source = pprof([([0x1000], [1, 1])], [], types=(("cpu", unit), ("cpu", "count"))) + message((11, message((1, 1), (2, 2))), (12, period))
    assert json.loads(profile_of(callsign, tmp_path, source, "out.json")[0])["meta"]["interval"] == interval


def test_units_of_firefox(callsign, tmp_path):
    """Values that are no times are what they were."""
    for types, wanted in (((("alloc", "bytes"),), "bytes"), ((("samples", "count"),), "samples"), ((("tracing-ms", "count"),), "samples")):
        samples = samples_of(profile_of(callsign, tmp_path, pprof([([0x1000], [7])], [], types=types), "out.json")[0])
        assert (samples["weight"], samples["weightType"]) == ([7], wanted)


def gperftools(period_us):
    words = [0, 3, 0, period_us, 0, 5, 1, 0x1000, 2, 1, 0x2000, 1, 1, 0x3000, 0, 1, 0]
    return struct.pack(f"<{len(words)}Q", *words)


def test_cpu_profiles_of_gperftools_for_firefox(callsign, tmp_path):
    samples = samples_of(profile_of(callsign, tmp_path, gperftools(10000), "out.json")[0])
    assert (samples["weight"], samples["weightType"]) == ([50, 20, 10], "tracing-ms")


@pytest.mark.parametrize("weights, scale, values", [
    (["0.4"] * 4, 10, [4] * 4), (["2.5", "1"], 10, [25, 10]), (["1.25", "null", "-0.5"], 100, [125, 100, -50]), (["5e-3", "1E0"], 1000, [5, 1000]),
    # as many digits as there is room for, and not more than nine
    (["922337203685477580.3", "0.55"], 10, [9223372036854775803, 6]), (["0.1234567894", "1"], 10**9, [123456789, 10**9])])
@pytest.mark.parametrize("weight_type, name", [("samples", "samples"), (None, "samples"), ("bytes", "bytes")])
def test_weights_with_fractions(callsign, tmp_path, weights, scale, values, weight_type, name):
    """They were rounded, those below a half to nothing."""
    data, told = profile_of(callsign, tmp_path, firefox(weights, weight_type), "out.pb", "-q")
    assert told.endswith(f"/in0: weights have fractions: they are taken times {scale}\n")
    profile = Pprof(data)
    assert (profile.types, [v for _, v, _ in profile.samples]) == ([(f"{name} x{scale}", "count")], [[v] for v in values])


def test_fractions_without_room(callsign, tmp_path):
    data, told = profile_of(callsign, tmp_path, firefox([str(HIGHEST), "0.5"]), "out.pb", "-q")
    assert told == "" and [v for _, v, _ in Pprof(data).samples] == [[HIGHEST], [1]]


@pytest.mark.parametrize("text", ["4503599627370497", str(2**53 + 1), "123456789012345678", str(HIGHEST), str(-2**63), "1.0", "120e-1", "9007199254740993.0"])
def test_whole_weights_stay(callsign, tmp_path, text):
    """They were read as floating-point numbers."""
    wanted = {"1.0": 1, "120e-1": 12, "9007199254740993.0": 2**53 + 1}.get(text) or int(text)
    for weight_type, unit in (("samples", "count"), ("bytes", "bytes")):
        assert values_of(callsign, tmp_path, firefox([text], weight_type)) == ([(weight_type, unit)], [[wanted]])


@pytest.mark.parametrize("types", [(("samples", "count"),), (("alloc", "bytes"),), (("cpu", "nanoseconds"),), (("cpu", "seconds"),)])
@pytest.mark.parametrize("value", [HIGHEST, -2**63, 2**53 + 1])
def test_firefox_reads_its_own_numbers(callsign, tmp_path, types, value):
    data, _ = profile_of(callsign, tmp_path, pprof([([0x1000], [value])], [], types=types), "out.json")
    scale = 10**9 if types[0][1] == "seconds" else 1
    assert values_of(callsign, tmp_path, data)[1] == [[max(-2**63, min(HIGHEST, value * scale))]]


@pytest.mark.parametrize("weight, weight_type, need", [(str(2**63), "samples", "9223372036854775807"), (str(-2**63 - 1), "bytes", "9223372036854775807"),
                                                       ("9223372036854.775808", "tracing-ms", "9223372036854.775807")])
def test_weights_beyond_64_bits(callsign, tmp_path, weight, weight_type, need):
    (tmp_path / "in").write_text(firefox([weight], weight_type))
    done = callsign.run("profile", tmp_path / "in", "-o", tmp_path / "out.pb", "--no-search")
    assert done.returncode == 2 and f"a sample has weight {weight}, need at most {need}" in done.stderr


@pytest.mark.parametrize("times, written, later", [([-1500.25, 0, 2.000001], ["0.000000000", "1.500250000", "1.502250001"], "1.500250000"),
                                                   ([-9223372036854, 9223372036854, 0], ["0.000000000", "18446744073.708000000", "9223372036.854000000"],
                                                    "9223372036.854000000"),
                                                   ([0.5, 0, 7], ["0.000500000", "0.000000000", "0.007000000"], None)])
def test_negative_times_in_the_text_of_perf(callsign, tmp_path, times, written, later):
    """They were 0: samples that are apart came at one time."""
    source = json.loads(firefox(["1"] * 3))
    source["threads"][0]["samples"]["time"] = times
    data, said = profile_of(callsign, tmp_path, json.dumps(source), "out.perf", "-q")
    heads = [line.split() for line in data.decode().splitlines() if line.endswith(":")]
    assert [head[2].rstrip(":") for head in heads] == written
    told = f"out.perf: the text of perf has no negative times: all are {later} s later"
    assert (told in said) == (later is not None), said
    assert later is not None or said == ""


def test_times_before_1970_are_none_in_otlp(callsign, tmp_path):
    """They were those of the year 2554."""
    source = json.loads(firefox(["1", "1"]))
    source["meta"]["startTime"] = 5
    source["threads"][0]["samples"]["time"] = [-10, 10]
    data, _ = profile_of(callsign, tmp_path, json.dumps(source), "out.otlp.json")
    profile, = [profile for resource in json.loads(data)["resourceProfiles"] for scope in resource["scopeProfiles"] for profile in scope["profiles"]]
    assert [sample.get("timestampsUnixNano") for sample in profile["samples"]] == [None, ["15000000"]]


def test_times_of_firefox_to_the_nanosecond(callsign, tmp_path):
    """They were cut to the nanosecond below."""
    times = [4235.543873, 16457.237961, 1700000000000.125]
    given = json.loads(firefox(["1"] * 3))
    given["threads"][0]["samples"]["time"] = times
    given["meta"].update(startTime=1700000000000.123)
    out = profile_of(callsign, tmp_path, json.dumps(given), "out.json")[0]
    assert samples_of(out)["time"] == times and json.loads(out)["meta"]["startTime"] == 1700000000000.123


# ---- numbers of OTLP's JSON ----


def otlp_json(samples, **more):
    """One function; `more`: members of the profile."""
    tables = {"mappingTable": [{}], "locationTable": [{}, {"lines": [{"functionIndex": 1, "line": "3"}]}],
              "functionTable": [{}, {"nameStrindex": 1}], "linkTable": [{}], "stringTable": ["", "f", "cpu", "nanoseconds", "k", "v"],
              "attributeTable": [{}, {"keyStrindex": 4, "value": {"stringValue": "v"}}], "stackTable": [{}, {"locationIndices": [1]}]}
    profile = {"sampleType": {"typeStrindex": 2, "unitStrindex": 3}, "samples": samples} | more
    return {"resourceProfiles": [{"scopeProfiles": [{"profiles": [profile]}]}], "dictionary": tables}


@pytest.mark.parametrize("value", [str(HIGHEST), str(-2**63), "5.0", "50e-1", 7])
def test_whole_values_of_otlp_json(callsign, tmp_path, value):
    wanted = {"5.0": 5, "50e-1": 5}.get(value) or int(value)
    assert values_of(callsign, tmp_path, json.dumps(otlp_json([{"stackIndex": 1, "values": [value]}])))[1] == [[wanted]]


@pytest.mark.parametrize("change, text, need", [
    ({"samples": [{"stackIndex": 1, "values": [str(2**63)]}]}, f'"{2**63}"', f"-9223372036854775808 to {HIGHEST}"),
    ({"samples": [{"stackIndex": 1, "values": ["18446744073709551615"]}]}, '"18446744073709551615"', f"-9223372036854775808 to {HIGHEST}"),
    ({"samples": [{"stackIndex": 1, "values": [str(-2**63 - 1)]}]}, f'"{-2**63 - 1}"', f"-9223372036854775808 to {HIGHEST}"),
    ({"samples": [{"stackIndex": 1, "values": [5.5]}]}, "5.5", f"-9223372036854775808 to {HIGHEST}"),
    ({"samples": [{"stackIndex": 2**32, "values": ["1"]}]}, str(2**32), "-2147483648 to 4294967295"),
    ({"timeUnixNano": "-1"}, '"-1"', "0 to 18446744073709551615"), ({"durationNano": str(2**64)}, f'"{2**64}"', "0 to 18446744073709551615")])
def test_numbers_that_fields_of_otlp_json_cannot_have(callsign, tmp_path, change, text, need):
    """They were wrapped, and fractions rounded."""
    given = json.dumps(otlp_json(**{"samples": [{"stackIndex": 1, "values": ["1"]}]} | change))
    (tmp_path / "in").write_text(given)
    done = callsign.run("profile", tmp_path / "in", "-o", tmp_path / "out.pb", "--no-search")
    assert done.returncode == 2
    assert f"JSON+{given.index(text):#x}: a value is {text}, need a whole number from {need}" in done.stderr, done.stderr


# ---- lines ----


def pprof_lines(lines):
    """A location with a line in one function for each (line, column, first line of the function)."""
    strings = ["", "samples", "count"] + [f"f{i}" for i in range(len(lines))]
    out = message((1, message((1, 1), (2, 2))), (2, message((1, packed([1])), (2, packed([1])))))
    out += message((4, message((1, 1), *[(4, message((1, i + 1), (2, line[0]), (3, line[1]))) for i, line in enumerate(lines)])))
    out += b"".join(message((5, message((1, i + 1), (2, i + 3), (5, line[2])))) for i, line in enumerate(lines))
    return out + b"".join(message((6, text)) for text in strings)


def otlp_lines(lines):
    given = otlp_json([{"stackIndex": 1, "values": ["1"]}])
    tables = given["dictionary"]
    first = len(tables["stringTable"])
    tables["stringTable"] += [f"f{i}" for i in range(len(lines))]
    tables["functionTable"] = [{}] + [{"nameStrindex": first + i, "startLine": str(line[2])} for i, line in enumerate(lines)]
    tables["locationTable"][1]["lines"] = [{"functionIndex": i + 1, "line": str(line[0]), "column": str(line[1])} for i, line in enumerate(lines)]
    return json.dumps(given)


@pytest.mark.parametrize("make", [pprof_lines, otlp_lines])
def test_lines_that_do_not_fit(callsign, tmp_path, make):
    """They were other lines: -1 was 4294967295, and 2^32 + 7 was 7."""
    lines = [(-1, 5, 3), (2**32 + 7, -2, 4), (2**32 - 1, 2**32, 2**40), (7, 8, -9)]
    data, told = profile_of(callsign, tmp_path, make(lines), "out.pb")
    location = next(dict_of(value) for number, value in fields(data) if number == 4)
    kept = [(dict_of(line).get(2, [0])[0], dict_of(line).get(3, [0])[0]) for line in location[4]]
    first_lines = [dict_of(value).get(5, [0])[0] for number, value in fields(data) if number == 5]
    assert (kept, first_lines) == ([(0, 5), (0, 0), (2**32 - 1, 0), (7, 8)], [3, 4, 0, 0])
    assert "\n6 lines and columns of the input do not fit into 32 bits, and are not known\n" in told
    assert "32 bits" not in profile_of(callsign, tmp_path, make([(7, 8, 9)]), "out.pb")[1]


def first_lines_and_columns(data):
    """{name: [(first line, [(line, column)]) of each function]}"""
    profile, found = Pprof(data), {}
    for f in (dict_of(value) for number, value in fields(data) if number == 5):
        lines = [dict_of(line) for number, value in fields(data) if number == 4 for line in dict_of(value).get(4, [])]
        found.setdefault(profile.functions[f[1][0]]["name"], []).append((f.get(5, [0])[0], [(line.get(2, [0])[0], line.get(3, [0])[0]) for line in lines if line[1] == f[1]]))
    return found


@pytest.mark.parametrize("middle", [None, "m.otlp", "m.json"])
def test_first_lines_and_columns_stay_where_an_index_names(callsign, tmp_path, middle):
    """They were 0: no index knows them. A column is one of the line at that place."""
    gsym_make.write(tmp_path / "app.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "_Z5outerv", "line": 10, "inlined": [{"offset": 0, "size": 0x10, "name": "inner", "call_line": 12}]},
        {"start": 0x2000, "size": 0x40, "name": "twice", "line": 40}, {"start": 0x3000, "size": 0x40, "name": "main", "line": 50}])
    functions = [("inner", "", "/src/a.c", 7), ("outer()", "_Z5outerv", "/src/a.c", 8), ("twice", "", "", 30), ("twice", "", "", 31), ("main", "", "/build/main.cc", 45)]
    strings = ["", "samples", "count", "/nowhere/app"]
    number = lambda text: strings.index(text) if text in strings else strings.append(text) or len(strings) - 1
    tables = b"".join(message((5, message((1, i + 1), (2, number(f[0])), (3, number(f[1])), (4, number(f[2])), (5, f[3])))) for i, f in enumerate(functions))
    places = [(0x1004, [(1, 10, 5), (2, 12, 6)]), (0x2004, [(3, 40, 3), (4, 41, 4)]), (0x3004, []), (0x9004, [(5, 45, 2)]), (0x2008, []), (0x3008, [(5, 51, 9)])]
    for i, (address, lines) in enumerate(places):
        tables += message((4, message((1, i + 1), (2, 1), (3, address), *[(4, message((1, line[0]), (2, line[1]), (3, line[2]))) for line in lines])))
    source = (message((1, message((1, 1), (2, 2))), (2, message((1, packed(range(1, 7))), (2, packed([1])))), (3, message((1, 1), (5, 3)))) + tables
              + b"".join(message((6, text)) for text in strings))
    if middle:
        source = profile_of(callsign, tmp_path, source, middle)[0]
    data, _ = profile_of(callsign, tmp_path, source, "out.pb", "-s", tmp_path)
    found = first_lines_and_columns(data)
    assert found["inner"] == [(7, [(10, 5)])] and found["outer()"] == [(8, [(12, 6)])]
    assert sorted(found["twice"]) == [(0, [(40, 0)]), (30, [(40, 3)])]  # two functions are called so: which it is tells the location alone
    assert sorted(found["main"]) == [(45, [(45, 2)]), (45, [(50, 0), (50, 0)])]  # the index tells another line, and another folder


@pytest.mark.parametrize("name, wanted", [("_Z5outerv", [("inner", 10), ("outer()", 12)]), ("outer", [("inner", 10), ("outer", 0)])])
def test_lines_stay_where_an_index_has_a_symbol_alone(callsign, tmp_path, name, wanted):
    """A symbol of the same function took the line and the inlined calls with it. Another name, perhaps an alias, counts; the calls stay."""
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x40, "name": name}])
    strings = ["", "samples", "count", "/nowhere/app", "inner", "outer()", "_Z5outerv"]
    source = message((1, message((1, 1), (2, 2))), (2, message((1, packed([1])), (2, packed([1])))), (3, message((1, 1), (5, 3))), (5, message((1, 1), (2, 4))),
                     (5, message((1, 2), (2, 5), (3, 6))), (4, message((1, 1), (2, 1), (3, 0x1004), (4, message((1, 1), (2, 10))), (4, message((1, 2), (2, 12))))))
    data, told = profile_of(callsign, tmp_path, source + b"".join(message((6, text)) for text in strings), "out.pb", "-s", tmp_path)
    assert [(line[0], line[2]) for line in Pprof(data).samples[0][0][0]["lines"]] == wanted
    assert ("0 named, 1 named by the input" if name == "_Z5outerv" else "1 named, 0 named by the input") in told


# ---- times, and samples without values ----


def otlp_samples(data):
    """[(values, times, attributes)] of each profile of OTLP's JSON."""
    given = json.loads(data)
    profiles = given["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]
    tables = given["dictionary"]
    texts = [tables["stringTable"][a["keyStrindex"]] if a else "" for a in tables["attributeTable"]]
    return [[([int(v) for v in s["values"]], [int(t) for t in s.get("timestampsUnixNano", [])], [texts[i] for i in s.get("attributeIndices", [])])
             for s in profile.get("samples", [])] for profile in profiles]


@pytest.mark.parametrize("middle", ["m.otlp", "m.otlp.json"])
def test_times_of_otlp_stay(callsign, tmp_path, middle):
    """They were lost, and samples of different times added up."""
    given = otlp_json([{"stackIndex": 1, "values": ["5", "7"], "timestampsUnixNano": ["1700000000000000001", "1700000000000000003"]},
                       {"stackIndex": 1, "attributeIndices": [1], "timestampsUnixNano": ["30", "10"]},
                       {"stackIndex": 1, "values": ["2"]}, {"stackIndex": 1, "values": ["9"]}])
    wanted = [[([5, 7], [1700000000000000001, 1700000000000000003], []), ([1, 1], [30, 10], ["k"]), ([11], [], [])]]
    data, _ = profile_of(callsign, tmp_path, json.dumps(given), middle)
    assert otlp_samples(profile_of(callsign, tmp_path, data, "out.otlp.json")[0]) == wanted
    assert values_of(callsign, tmp_path, data)[1] == [[23], [2]]


def test_times_of_otlp_of_several_types_stay(callsign, tmp_path):
    """A profile each: the same samples with other values."""
    times = ["10", "20", "30"]
    given = otlp_json([{"stackIndex": 1, "values": ["1", "2", "3"], "timestampsUnixNano": times}])
    profiles = given["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]
    profiles.append({"sampleType": {"typeStrindex": 4, "unitStrindex": 5},
                     "samples": [{"stackIndex": 1, "values": ["4", "6"], "timestampsUnixNano": [times[0], times[2]]}]})
    data, _ = profile_of(callsign, tmp_path, json.dumps(given), "out.otlp.json")
    assert otlp_samples(data) == [[([1, 2, 3], [10, 20, 30], [])], [([4, 6], [10, 30], [])]]


def test_times_of_firefox_are_unix_times_in_otlp(callsign, tmp_path):
    given = json.loads(firefox(["1", "2"]))
    given["meta"]["startTime"] = 1700000000000
    given["threads"][0]["samples"]["time"] = [0.5, 1.25]
    data, _ = profile_of(callsign, tmp_path, json.dumps(given), "out.otlp.json")
    thread = ["thread.name", "thread.id", "process.pid", "process.executable.name"]
    assert otlp_samples(data) == [[([1], [1700000000000500000], thread), ([2], [1700000000001250000], thread)]]


@pytest.mark.parametrize("start", ["1700000000000000000", "0"])
def test_times_of_otlp_count_from_the_start_in_firefox(callsign, tmp_path, start):
    """They were Unix times beside a startTime: twice as late."""
    times = ["1700000000000500000", "1700000000001250000"]
    given = otlp_json([{"stackIndex": 1, "values": ["1", "2"], "timestampsUnixNano": times}], timeUnixNano=start)
    data, _ = profile_of(callsign, tmp_path, json.dumps(given), "out.json")
    first = 1700000000000 if start != "0" else 1700000000000.5
    assert (json.loads(data)["meta"]["startTime"], samples_of(data)["time"]) == (first, [0.5, 1.25] if start != "0" else [0, 0.75])
    assert otlp_samples(profile_of(callsign, tmp_path, data, "out.otlp.json")[0])[0][0][1] == [int(time) for time in times]


@pytest.mark.parametrize("start, text", [(0, None), (1, "a 1/1 [000] 12.5: 1 cpu-clock: \n\t1004 f (app)\n\na 1/1 [000] 13.5: 1 cpu-clock: \n\t1004 f (app)\n\n")])
def test_times_of_other_clocks_are_no_unix_times(callsign, tmp_path, start, text):
    """Of perf, since the machine's start; of Firefox profiles that do not tell when they began."""
    data, _ = profile_of(callsign, tmp_path, text or firefox(["1", "1"]), "out.otlp.json")
    assert [times for profile in otlp_samples(data) for _, times, _ in profile] == [[]] * 2


@pytest.mark.parametrize("middle", ["m.otlp", "m.otlp.json", "m.pb"])
def test_samples_without_values_stay(callsign, tmp_path, middle):
    """They and their labels were lost in OTLP."""
    source = pprof([([0x1000], [0, 0]), ([0x2000], [0, 7]), ([0x3000], [5, 0]), ([0x4000], [0, 0])], [], types=(("a", "count"), ("b", "count")),
                   labels={0: [("k", "v")]})
    data, _ = profile_of(callsign, tmp_path, source, middle)
    profile = Pprof(profile_of(callsign, tmp_path, data, "out.pb")[0])
    assert profile.types == [("a", "count"), ("b", "count")]
    assert sorted((stack[0]["address"], values, labels) for stack, values, labels in profile.samples) == [
        (0x1000, [0, 0], [("k", "v")]), (0x2000, [0, 7], []), (0x3000, [5, 0], []), (0x4000, [0, 0], [])]


def pprof_times(time, duration, period, types=(("cpu", "nanoseconds"), ("samples", "count"))):
    source = pprof([([0x1000], [1] * len(types))], [], types=types)
    strings = [value.decode() for number, value in fields(source) if number == 6]
    return source + message((9, time), (10, duration), (11, message((1, strings.index(types[0][0])), (2, strings.index(types[0][1])))), (12, period))


def times_of(data):
    return [dict(fields(data)).get(number, 0) for number in (9, 10, 12)]


@pytest.mark.parametrize("middle", ["m.pb", "m.otlp", "m.otlp.json"])
@pytest.mark.parametrize("inputs, wanted", [
    ([(2000, 500, 10), (1000, 700, 20)], [1000, 1200, 20]), ([(1000, 700, 20), (2000, 500, 10)], [1000, 1200, 20]),
    ([(1000, 700, 20), (0, 0, 0)], [1000, 700, 20]), ([(0, 0, 0), (1000, 700, 20)], [1000, 700, 20])])
def test_times_of_several_inputs(callsign, tmp_path, middle, inputs, wanted):
    """The earliest time, all durations, the longest period, as pprof has it. Of OTLP it was the first time and the last period."""
    sources = [profile_of(callsign, tmp_path, pprof_times(*times), middle)[0] for times in inputs]
    assert times_of(profile_of(callsign, tmp_path, sources, "out.pb")[0]) == wanted


def test_times_of_lines_of_otlp_json(callsign, tmp_path):
    """A collector writes a message a line; a message has a profile of the same time for each type of values."""
    lines = [profile_of(callsign, tmp_path, pprof_times(*times), "m.otlp.json")[0].decode() for times in ((2000, 500, 10), (1000, 700, 20))]
    assert times_of(profile_of(callsign, tmp_path, "".join(lines), "out.pb")[0]) == [1000, 1200, 20]


def test_times_of_several_firefox_profiles(callsign, tmp_path):
    """The last one's were taken."""
    sources = []
    for start, interval in ((2000, 5), (3000, 2)):
        sources.append(json.loads(firefox(["1"])))
        sources[-1]["meta"].update(startTime=start, interval=interval)
    for order in (sources, sources[::-1]):
        data, _ = profile_of(callsign, tmp_path, [json.dumps(source) for source in order], "out.pb")
        assert times_of(data) == [2000 * 10**6, 0, 5 * 10**6]


def test_times_of_several_legacy_profiles(callsign, tmp_path):
    """The last one's period was taken."""
    for periods in ((10000, 20000), (20000, 10000)):
        assert times_of(profile_of(callsign, tmp_path, [gperftools(period) for period in periods], "out.pb")[0]) == [0, 0, 20000000]


@pytest.mark.parametrize("sample, text", [
    ({"values": ["1", "2", "3"], "timestampsUnixNano": ["10", "20"]}, "a sample has 3 values and 2 times"),
    ({"values": ["1"], "timestampsUnixNano": ["10", "20"]}, "a sample has 1 values and 2 times")])
def test_as_many_times_as_values(callsign, tmp_path, sample, text):
    """The first time was taken for a value without one, and times without a value were lost."""
    (tmp_path / "in").write_text(json.dumps(otlp_json([{"stackIndex": 1, **sample}])))
    assert text in callsign.bad("profile", tmp_path / "in", "-o", tmp_path / "out.pb", "--no-search")


def test_samples_of_otlp_without_values_and_times(callsign, tmp_path):
    assert values_of(callsign, tmp_path, json.dumps(otlp_json([{"stackIndex": 1}, {"stackIndex": 1, "timestampsUnixNano": ["5", "6"], "attributeIndices": [1]}])))[1] == [[0], [2]]


FRAMES_MAX = 1 << 20


def pprof_frames(count):
    return message((1, message((1, 1), (2, 2))), (2, message((1, bytes([1]) * count), (2, packed([1])))), (4, message((1, 1), (3, 0x1000))), (6, ""), (6, "samples"), (6, "count"))


def pprof_inlined(count):
    line = message((4, message((1, 1))))
    return message((1, message((1, 1), (2, 2))), (2, message((1, packed([1])), (2, packed([1])))), (4, message((1, 1), (3, 0x1000)) + line * count),
                   (5, message((1, 1), (2, 1))), (6, ""), (6, "samples"), (6, "count"))


def otlp_frames(count):
    tables = message((1, b""), (2, b""), (2, message((2, 0x1000))), (3, b""), (5, ""), (5, "samples"), (6, b""), (7, b""), (7, message((1, bytes([1]) * count))))
    profile = message((1, message((1, 1))), (2, message((1, 1), (4, packed([1])))))
    return message((1, message((2, message((2, profile))))), (2, tables))


def legacy_frames(count):
    return b"heap profile: 1: 8 [1: 8] @ heap_v2/524288\n1: 8 [1: 8] @" + b" 0x1" * count + b"\n"


@pytest.mark.parametrize("make, what", [(pprof_frames, "stack"), (pprof_inlined, "location"), (otlp_frames, "stack"), (legacy_frames, "stack")])
def test_frames_of_a_stack(callsign, tmp_path, make, what):
    """A few KB of gzip could take gigabytes."""
    profile_of(callsign, tmp_path, make(FRAMES_MAX), "out.pb")
    (tmp_path / "in").write_bytes(gzip.compress(make(FRAMES_MAX + 1), 1))
    assert f"a {what} of more than 1048576 frames" in callsign.bad("profile", tmp_path / "in", "-o", tmp_path / "out.pb", "--no-search")


# ---- attributes of OTLP ----


VALUES = [{"stringValue": "T1"}, {"stringValue": ""}, {"intValue": "7"}, {"intValue": "-1"}, {"intValue": "0"}, {"boolValue": True}, {"boolValue": False},
          {"doubleValue": 1.5}, {"doubleValue": 0}, {"doubleValue": "NaN"}, {"doubleValue": "-Infinity"}, {}]


def otlp_attributes(values, resources=([],)):
    """A sample with an attribute for each value, in a profile for each resource."""
    given = otlp_json([{"stackIndex": 1, "values": ["77"], "attributeIndices": list(range(1, len(values) + 1))}])
    tables = given["dictionary"]
    for i, value in enumerate(values):
        tables["stringTable"].append(f"k{i}")
    tables["attributeTable"] = [{}] + [{"keyStrindex": 6 + i, "value": value, **({"unitStrindex": 3} if i % 2 else {})} for i, value in enumerate(values)]
    one = given["resourceProfiles"][0]
    given["resourceProfiles"] = [{"resource": {"attributes": [{"key": k, "value": v} for k, v in resource]}, **one} for resource in resources]
    return given


def attributes_of(data):
    """[(attributes of the resource, [(values, attributes of the sample)])]"""
    given = json.loads(data)
    tables = given["dictionary"]
    text = lambda entry, key: tables["stringTable"][entry.get(key, 0)]
    table = [(text(a, "keyStrindex"), a.get("value"), text(a, "unitStrindex")) for a in tables["attributeTable"]]
    return [([(a["key"], a["value"]) for a in r.get("resource", {}).get("attributes", [])],
             [([int(v) for v in s["values"]], [table[i] for i in s.get("attributeIndices", [])])
              for scope in r["scopeProfiles"] for profile in scope["profiles"] for s in profile.get("samples", [])]) for r in given["resourceProfiles"]]


@pytest.mark.parametrize("middle", [None, "m.otlp"])
def test_kinds_of_attributes_stay(callsign, tmp_path, middle):
    """true was 1, 1.5 the text "1.5", an empty text 0, and NaN of JSON 0."""
    data = json.dumps(otlp_attributes(VALUES))
    if middle:
        data = profile_of(callsign, tmp_path, data, middle)[0]
    out, told = profile_of(callsign, tmp_path, data, "out.otlp.json")
    assert attributes_of(out) == [([], [([77], [(f"k{i}", value, "nanoseconds" if i % 2 else "") for i, value in enumerate(VALUES)])])]
    assert "left out" not in told
    labels = dict(Pprof(profile_of(callsign, tmp_path, data, "out.pb")[0]).samples[0][2])
    assert labels == {"k0": "T1", "k1": 0, "k2": 7, "k3": 2**64 - 1, "k4": 0, "k5": 1, "k6": 0, "k7": "1.5", "k8": "0", "k9": "nan", "k10": "-inf", "k11": 0}


@pytest.mark.parametrize("middle", [None, "m.otlp"])
def test_resources_stay_apart(callsign, tmp_path, middle):
    """Their attributes were lost, and samples of two services without times were one."""
    resources = [[("service.name", {"stringValue": "a"}), ("process.pid", {"intValue": "41"}), ("up", {"boolValue": True})], [],
                 [("service.name", {"stringValue": "b"})], [("service.name", {"stringValue": "a"}), ("process.pid", {"intValue": "41"}), ("up", {"boolValue": True})]]
    data = json.dumps(otlp_attributes(VALUES[:2], resources))
    if middle:
        data = profile_of(callsign, tmp_path, data, middle)[0]
    sample = [("k0", {"stringValue": "T1"}, ""), ("k1", {"stringValue": ""}, "nanoseconds")]
    out, _ = profile_of(callsign, tmp_path, data, "out.otlp.json")
    assert sorted(attributes_of(out), key=repr) == sorted([(resources[0], [([154], sample)]), ([], [([77], sample)]), (resources[2], [([77], sample)])], key=repr)
    pprof_out = Pprof(profile_of(callsign, tmp_path, data, "out.pb")[0])
    assert sorted((values, dict(labels).get("service.name", "")) for _, values, labels in pprof_out.samples) == [([77], ""), ([77], "b"), ([154], "a")]
    timed = otlp_attributes([], resources[:1] + resources[2:3])
    timed["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0]["samples"][0]["timestampsUnixNano"] = ["10"]
    out, _ = profile_of(callsign, tmp_path, json.dumps(timed), "out.otlp.json")
    assert sorted(attributes_of(out), key=repr) == sorted([(resources[0], [([77], [])]), (resources[2], [([77], [])])], key=repr)
    assert out.count(b'"10"') == 2


def test_what_otlp_loses_is_told(callsign, tmp_path):
    """Attributes of things without labels, lists, maps and bytes, links, scopes, ids: nothing was said."""
    given = otlp_attributes([{"arrayValue": {"values": [{"intValue": "3"}]}}, {"kvlistValue": {"values": []}}, {"bytesValue": "AAAA"}, {"intValue": "3"}],
                            [[("list", {"arrayValue": {}}), ("service.name", {"stringValue": "a"})]])
    tables = given["dictionary"]
    tables["mappingTable"].append({"memoryStart": "4096", "memoryLimit": "8192", "attributeIndices": [4]})
    tables["locationTable"][1].update(mappingIndex=1, attributeIndices=[4, 1])
    tables["linkTable"].append({"traceId": "01" * 16, "spanId": "02" * 8})
    scope = given["resourceProfiles"][0]["scopeProfiles"][0]
    scope.update(scope={"name": "profiler"}, schemaUrl="https://example.org")
    scope["profiles"][0].update(profileId="AwMDAwMDAwMDAwMDAwMDAw==", attributeIndices=[4])
    scope["profiles"][0]["samples"][0]["linkIndex"] = 1
    out, told = profile_of(callsign, tmp_path, json.dumps(given), "out.otlp.json")
    # of the sample 3 and the link, of the resource 1, of the mapping 1, of the location 2, scope, schema, id, and of the profile 1
    assert "\n12 attributes, links, scopes and ids of the input are left out\n" in told
    assert attributes_of(out) == [([("service.name", {"stringValue": "a"})], [([77], [("k3", {"intValue": "3"}, "nanoseconds")])])]


THREADS = [("T1", "P", 1, 2), ("T2", "P", 1, 3), ("T2", "Q", 4, 4)]


def firefox_threads():
    given = json.loads(firefox(["1", "2"]))
    one = given["threads"][0]
    given["threads"] = [{**one, "name": name, "processName": process, "pid": str(pid), "tid": tid} for name, process, pid, tid in THREADS]
    return given


@pytest.mark.parametrize("start", [0, 1700000000000])
@pytest.mark.parametrize("middle", ["m.otlp", "m.otlp.json"])
def test_threads_go_through_otlp(callsign, tmp_path, start, middle):
    """All threads became one. With `start`, times are known, too."""
    given = firefox_threads()
    given["meta"]["startTime"] = start
    data, _ = profile_of(callsign, tmp_path, json.dumps(given), middle)
    out, _ = profile_of(callsign, tmp_path, data, "out.otlp.json")
    wanted = {(("process.executable.name", p), ("process.pid", str(pid)), ("thread.id", str(tid)), ("thread.name", name)) for name, p, pid, tid in THREADS}
    samples = [sample for _, samples in attributes_of(out) for sample in samples]
    found = [tuple(sorted((key, value.get("stringValue") or value["intValue"]) for key, value, _ in attributes)) for _, attributes in samples]
    assert set(found) == wanted and len(found) == 6
    threads = json.loads(profile_of(callsign, tmp_path, data, "out.json")[0])["threads"]
    assert [(t["name"], t["processName"], int(t["pid"]), int(t["tid"]), t["samples"]["weight"]) for t in threads] == [(*thread, [1, 2]) for thread in THREADS]


def test_threads_of_perf_in_otlp(callsign, tmp_path):
    """Without times: samples of a thread are added up."""
    text = "".join(f"a{tid} 1/{tid} [000] {time}: 1 cpu-clock: \n\t1004 f (app)\n\n" for time, tid in ((12.5, 7), (12.6, 8), (12.7, 7)))
    out, _ = profile_of(callsign, tmp_path, text, "out.otlp.json")
    found = sorted((values, {key: list(value.values())[0] for key, value, _ in attributes}) for _, samples in attributes_of(out) for values, attributes in samples)
    assert [f for f in found if f[0] == [2]] and {f[1]["thread.id"] for f in found} == {"7", "8"} and all(f[1]["process.pid"] == "1" for f in found)
    assert sorted((f[0], f[1]["thread.name"]) for f in found if f[1]["thread.id"] == "7") == [([2], "a7")] * 2


# ---- bytes that are no UTF-8 ----


def bad_text(*names):
    return b"".join(b"a\xff 1/1 5.0: 1 cycles:\n\t401136 " + name + b" (/tmp/x\xfe)\n\n" for name in names)


def test_strings_of_protobuf_are_utf8(callsign, tmp_path):
    """Parsers of others refused the whole file. Names that become one stay functions of their own stacks."""
    source = bad_text(b"caf\xe9", b"caf\xe8", b"\xf0\x9f\x98\x80", b"cut\xf0\x9f")
    names = sorted(["caf\ufffd"] * 2 + ["\U0001f600", "cut\ufffd\ufffd"])
    data, _ = profile_of(callsign, tmp_path, source, "out.pb")
    profile = Pprof(data)  # decodes strings strictly
    assert sorted(stack[0]["lines"][0][0] for stack, _, _ in profile.samples) == names
    assert [m["file"] for m in profile.mappings.values()] == ["/tmp/x\ufffd"] and len(set(profile.strings)) == len(profile.strings)
    otlp = dict_of(dict_of(profile_of(callsign, tmp_path, source, "out.otlp")[0])[2][0])
    strings = [text.decode() for text in otlp[5]]
    assert {"caf\ufffd", "/tmp/x\ufffd"} <= set(strings) and len(set(strings)) == len(strings)
    assert strings == json.loads(profile_of(callsign, tmp_path, source, "out.otlp.json")[0])["dictionary"]["stringTable"]
    assert profile_of(callsign, tmp_path, source, "out.folded")[0].splitlines()[0] == b"caf\xe9 1"  # any bytes


@pytest.mark.parametrize("middle", ["m.pb", "m.otlp", "m.otlp.json"])
def test_labels_and_build_ids_are_utf8(callsign, tmp_path, middle):
    strings = [b"", b"samples", b"count", b"f", b"k\xff", b"v\xff", b"u\xff", b"id\xff", b"drop\xff"]
    source = message((1, message((1, 1), (2, 2))), (2, message((1, packed([1])), (2, packed([1])), (3, message((1, 4), (2, 5))), (3, message((1, 4), (3, 7), (4, 6))))),
                     (3, message((1, 1), (2, 0x1000), (3, 0x2000), (6, 7))), (4, message((1, 1), (2, 1), (3, 0x1004))), (7, 8)) + b"".join(message((6, text)) for text in strings)
    data, _ = profile_of(callsign, tmp_path, source, middle)
    if middle == "m.otlp":
        texts = [text.decode() for entry in dict_of(dict_of(data)[2][0])[6] for value in dict_of(entry).get(2, []) for text in dict_of(value).get(1, [])]  # of attributes
        assert texts == ["v\ufffd", "drop\ufffd", "id\ufffd"]
    profile = Pprof(profile_of(callsign, tmp_path, data, "out.pb")[0])
    assert [labels for _, _, labels in profile.samples] == [[("k\ufffd", "v\ufffd"), ("k\ufffd", 7)]]
    assert [m["build_id"] for m in profile.mappings.values()] == ["id\ufffd"]


# ---- build ids, and what is left out ----


IDS = ["Go/build-id", "abc", "0" * 70 + "f1", "0" * 70 + "f2", "11223344", "aabb-ccdd"]


@pytest.mark.parametrize("middle", ["m.pb", "m.otlp", "m.otlp.json"])
def test_build_ids_stay(callsign, tmp_path, middle):
    """What is not hexadecimal vanished, and what is longer than 32 bytes was cut: mappings that differ in such ids only were one."""
    strings = ["", "samples", "count", "/nowhere/app", *IDS]
    source = message((1, message((1, 1), (2, 2))))
    for i in range(len(IDS)):
        source += message((2, message((1, packed([i + 1])), (2, packed([1])))), (4, message((1, i + 1), (2, i + 1), (3, 0x1000))),
                          (3, message((1, i + 1), (2, 0x1000), (3, 0x2000), (5, 3), (6, i + 4))))
    source += b"".join(message((6, text)) for text in strings)
    data, _ = profile_of(callsign, tmp_path, source, middle)
    profile = Pprof(profile_of(callsign, tmp_path, data, "out.pb")[0])
    assert [m["build_id"] for m in profile.mappings.values()] == [*IDS[:5], "aabbccdd"]
    assert sorted(stack[0]["mapping"]["build_id"] for stack, _, _ in profile.samples) == sorted([*IDS[:5], "aabbccdd"])


def test_code_ids_of_firefox_stay(callsign, tmp_path):
    given = json.loads(firefox(["1"] * len(IDS)))
    given["libs"] = [{"name": "app", "path": "/nowhere/app.so", "codeId": text} for text in IDS]
    count = len(IDS)
    given["threads"][0]["frameTable"]["address"] = [0x1000] * count
    given["threads"][0]["funcTable"]["resource"] = list(range(count))
    given["threads"][0]["resourceTable"] = {"length": count, "lib": list(range(count)), "name": [0] * count}
    out = json.loads(profile_of(callsign, tmp_path, json.dumps(given), "out.json")[0])
    assert [lib["codeId"] for lib in out["libs"]] == IDS


def lib(path, debug_name, breakpad_id, code_id, **more):
    name = path.replace("\\", "/").split("/")[-1]
    return {"name": name, "path": path, "debugName": debug_name, "debugPath": path, "breakpadId": breakpad_id, "codeId": code_id, "arch": None} | more


UUID = "00112233445566778899AABBCCDDEEFF"
GUID = "33221100554477668899AABBCCDDEEFF"
LIBS = {"macOS 14.1": [lib("/Applications/A.app/Contents/MacOS/A", "A", f"{UUID}0", None, arch="arm64e"), lib("/usr/local/bin/tool", "tool", f"{UUID}0", UUID),
                       lib("/usr/local/bin/tool", "tool", f"{UUID}0", UUID, arch="x86_64"), lib("/usr/lib/dyld", "dyld", "", "")],
        "Windows 11": [lib("C:\\a\\b.dll", "b.pdb", f"{GUID}1", "5F3A1B2C12000", debugPath="D:\\obj\\b.pdb", arch="x86_64"),
                       lib("C:\\a\\c", "c", f"{GUID}12", None), lib("C:\\a\\b.dll", "b.pdb", f"{GUID}2", "5F3A1B2C12000")],
        "Linux": [lib("/usr/lib/libx.so", "libx.so", f"{GUID}0", f"{UUID.lower()}01234567", debugPath="/usr/lib/debug/libx.so.debug", arch="x86_64"),
                  lib("/usr/bin/app", "app", f"{GUID}0", None), lib("[kernel.kallsyms]", "vmlinux", f"{GUID}0", None, name="other name")]}


@pytest.mark.parametrize("system", LIBS)
def test_libraries_of_firefox_stay(callsign, tmp_path, system):
    """Ids of macOS and Windows were written as those of ELF files: no symbol server knew them. Read again, they mean the same."""
    libs = LIBS[system]
    given = json.loads(firefox(["1"] * len(libs)))
    given["meta"] |= {"oscpu": system, "platform": "a platform", "toolkit": "a toolkit"}
    given["libs"] = libs
    tables = given["threads"][0]
    tables["frameTable"]["address"] = [0x1000] * len(libs)
    tables["funcTable"]["resource"] = list(range(len(libs)))
    tables["resourceTable"] = {"length": len(libs), "lib": list(range(len(libs)))}
    out = json.loads(profile_of(callsign, tmp_path, json.dumps(given), "out.json")[0])
    again = json.loads(profile_of(callsign, tmp_path, json.dumps(out), "again.json")[0])

    def in_order(profile):
        return sorted(profile["libs"], key=json.dumps)

    assert in_order(out) == in_order(again) == in_order(given)
    assert {key: out["meta"].get(key) for key in ("oscpu", "platform", "toolkit")} == {key: given["meta"][key] for key in ("oscpu", "platform", "toolkit")}
    # Through pprof, which has a build id alone: the part of the id that files are found by.
    ids = [Pprof(profile_of(callsign, tmp_path, json.dumps(source), "out.pb")[0]).mappings.values() for source in (given, out)]
    assert sorted(m["build_id"] for m in ids[0]) == sorted(m["build_id"] for m in ids[1])


def test_firefox_libraries_of_several_systems(callsign, tmp_path):
    """No system is told then: what its name does not tell has no build id, rather than a wrong one."""
    sources = []
    for system, libs in LIBS.items():
        given = json.loads(firefox(["1"]))
        given["meta"]["oscpu"] = system
        given["libs"] = libs[-2:-1]
        given["threads"][0]["frameTable"]["address"] = [0x1000]
        given["threads"][0]["funcTable"]["resource"] = [0]
        given["threads"][0]["resourceTable"] = {"length": 1, "lib": [0]}
        sources.append(json.dumps(given))
    out = json.loads(profile_of(callsign, tmp_path, sources, "out.json")[0])
    assert "oscpu" not in out["meta"] and sorted(out["libs"], key=json.dumps) == sorted((libs[-2] for libs in LIBS.values()), key=json.dumps)
    assert json.loads(profile_of(callsign, tmp_path, [sources[0]] * 2, "out.json")[0])["meta"]["oscpu"] == "macOS 14.1"


@pytest.mark.parametrize("path, breakpad_id, code_id", [
    ("/usr/lib/libx.so", f"{GUID}0", f"{UUID.lower()}"), ("/usr/bin/app", f"{GUID}0", f"{UUID.lower()}"),
    ("/usr/lib/libobjc.A.dylib", f"{UUID}0", f"{UUID.lower()}"), ("/A.app/Contents/MacOS/A", f"{UUID}0", f"{UUID.lower()}"),
    ("C:\\a\\b.dll", f"{GUID}0", None), ("C:\\a\\B.EXE", f"{GUID}0", None)])
def test_ids_of_pprof_mappings_for_firefox(callsign, tmp_path, path, breakpad_id, code_id):
    """By the path, where it tells what file it is; a build id of Windows is the GUID of the PDB, and no code id."""
    source = pprof([([0x400010], [1])], [(0x400000, 0x401000, 0, path, UUID.lower())])
    out = json.loads(profile_of(callsign, tmp_path, source, "out.json")[0])
    assert out["libs"] == [lib(path, path.replace("\\", "/").split("/")[-1], breakpad_id, code_id)]
    assert not {"oscpu", "platform", "toolkit"} & set(out["meta"])
    back = Pprof(profile_of(callsign, tmp_path, json.dumps(out), "out.pb")[0])
    assert [m["build_id"] for m in back.mappings.values()] == [UUID.lower()]


@pytest.mark.parametrize("name, address, resource, wanted", [("f0", 0x1000, 0, True), ("f0", -1, -1, True), ("f0", -1, 0, True), ("0x1000", 0x1000, 0, False)])
@pytest.mark.parametrize("was", [None, True, False])
def test_symbolicated_is_what_it_says(callsign, tmp_path, name, address, resource, wanted, was):
    """It was always true, and the Firefox Profiler asked no symbol server for places without a name."""
    given = json.loads(firefox(["1", "1"]))
    given["libs"] = LIBS["Linux"][:1]
    given["meta"] |= {} if was is None else {"symbolicated": was}
    thread = given["threads"][0]
    thread["stringArray"][0] = name
    thread["frameTable"]["address"][0] = address
    thread["funcTable"]["resource"][0] = resource
    thread["resourceTable"] = {"length": 1, "lib": [0]}
    assert json.loads(profile_of(callsign, tmp_path, json.dumps(given), "out.json")[0])["meta"]["symbolicated"] is wanted


def test_allocations_of_firefox_are_counted(callsign, tmp_path):
    given = json.loads(firefox(["1"]))
    table = {"length": 3, "time": [1, 2, 3], "weight": [8, 8, -8], "weightType": "bytes", "stack": [0, 0, 0]}
    given["threads"][0].update(nativeAllocations=table, jsAllocations={**table, "length": 2}, markers={"length": 1})
    assert "6 markers, counters and allocations of the input are left out" in profile_of(callsign, tmp_path, json.dumps(given), "out.pb")[1]


# ---- folded stacks ----


@pytest.mark.parametrize("root", ["#main", "#", "# main", "#" * 20000, "##;#", "#include <a>"])
def test_roots_that_look_like_comments(callsign, tmp_path, root):
    """flamegraph.pl and inferno know no comments: what they leave out has no count. These stacks were lost without a word."""
    text = f"{root};leaf 3\n{root} 1\nb;leaf 4\n" if root == "# main" else f"{root};leaf 3\n{root} 1\n"
    once = profile_of(callsign, tmp_path, text, "out.folded", "-q", *(["--from", "folded"] if root == "# main" else []))
    assert sorted(once[0].decode().splitlines()) == sorted(text.splitlines()) and once[1] == ""
    binary, _ = profile_of(callsign, tmp_path, text, "out.pb", "-q", *(["--from", "folded"] if root == "# main" else []))
    assert sorted(profile_of(callsign, tmp_path, binary, "again.folded", "-q")[0].decode().splitlines()) == sorted(text.splitlines())


def test_comments_of_folded_stacks(callsign, tmp_path):
    """Those without a count; those of perf script --header may end in a number."""
    assert profile_of(callsign, tmp_path, "# made by hand\n#!/bin/x\n#\nmain;leaf 3\n", "out.folded", "-q") == (b"main;leaf 3\n", "")
    header = "# ========\n# nrcpus online : 2\n#\napp 1/1 1.0:     1 cycles: \n\t            1004 leaf (/nowhere/app)\n\n"
    assert profile_of(callsign, tmp_path, header, "out.folded", "-q") == (b"leaf 1\n", "")


# ---- names and counts that are told ----


def test_names_of_the_input_are_demangled(callsign, tmp_path):
    """Only those that an index brought were; the help and the manual say so of all."""
    text = "_ZN3foo3barEv;_RNvC4demo4main;plain;$s4main3fooyyF 1\n"
    shown = [subprocess.run([need("c++filt"), "_ZN3foo3barEv"], capture_output=True, text=True, check=True).stdout.strip(), "demo::main"]
    assert profile_of(callsign, tmp_path, text, "out.folded", "-q")[0].decode().split(";")[:3] == [*shown, "plain"]
    assert profile_of(callsign, tmp_path, text, "out.folded", "-q", "--no-demangle")[0].decode() == text
    data = profile_of(callsign, tmp_path, text, "out.pb", "-q")[0]
    for written in (data, profile_of(callsign, tmp_path, data, "again.pb", "-q")[0]):
        functions = {f["name"]: f["system"] for f in Pprof(written).functions.values()}
        assert functions[shown[0]] == "_ZN3foo3barEv" and functions["plain"] in ("", "plain")
    otlp = profile_of(callsign, tmp_path, data, "out.otlp", "-q")[0]
    for stored in (data, otlp):
        assert profile_of(callsign, tmp_path, stored, "out.folded", "-q", "--no-demangle")[0].decode() == text


def test_stacks_of_the_summary(callsign, tmp_path):
    """Callers were stacks, too."""
    assert profile_of(callsign, tmp_path, "main;a;b;c 1\n", "out.pb")[1].startswith("1 samples, 1 stacks, ")
    assert profile_of(callsign, tmp_path, "main;a;b 1\nmain;a 2\nmain;a;b 1\n[no frames] 3\n", "out.json")[1].startswith("4 samples, 3 stacks, ")


@pytest.mark.parametrize("type_name", ["x" * 300, "é" * 150, "x" * 248, "x" * 247, "x" * 5000])
def test_long_value_types_in_the_text_of_perf(callsign, tmp_path, type_name):
    """Events have 255 bytes: the unit was cut away, and the type became samples of an event."""
    source = pprof([([0x1004], [5, 7])], [], types=((type_name, "bytes"), ("space", "objects")))
    text = profile_of(callsign, tmp_path, source, "out.perf", "-q")[0]
    types, values = values_of(callsign, tmp_path, text)
    kept = type_name.encode()[:255 - len("[bytes]")].decode(errors="ignore")
    assert types == [(kept, "bytes"), ("space", "objects")] and values == [[5, 7]]


# ---- where it is written ----


@pytest.mark.parametrize("kind", ["folded", "pprof", "html", "perf-script"])
def test_pipes_and_devices(callsign, tmp_path, kind):
    """They were refused, or a file was to be made in /proc/self/fd."""
    (tmp_path / "in.folded").write_text("main;leaf 3\n")
    command = [*callsign.prefix, callsign.path, "profile", tmp_path / "in.folded", "--to", kind, "-q", "-o"]
    subprocess.run([*command, tmp_path / "out"], check=True)
    wanted = (tmp_path / "out").read_bytes()
    assert subprocess.run([*command, "/dev/stdout"], check=True, stdout=subprocess.PIPE).stdout == wanted
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen([*command, tmp_path / "pipe"]) as writer:
        assert (tmp_path / "pipe").read_bytes() == wanted
    assert writer.returncode == 0 and subprocess.run([*command, "/dev/null"], check=True)
    full = subprocess.run([*command, "/dev/full"], capture_output=True, text=True, check=False)
    assert full.returncode == 2 and full.stderr == "callsign: /dev/full: No space left on device\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.folded", "out", "pipe"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_leave_no_temporary_file(callsign, tmp_path, number):
    (tmp_path / "in.folded").write_text("".join(f"main;a{i % 100};b{i % 1000};c{i} {i}\n" for i in range(200000)))
    (tmp_path / "out.pb.gz").write_bytes(b"the old file")
    process = subprocess.Popen([*callsign.prefix, callsign.path, "profile", tmp_path / "in.folded", "--no-search", "-q", "-o", tmp_path / "out.pb.gz"],
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    while process.poll() is None and not list(tmp_path.glob("out.pb.gz.tmp-*")):
        pass
    process.send_signal(number)
    assert process.wait() == -number
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.folded", "out.pb.gz"]
    assert (tmp_path / "out.pb.gz").read_bytes()[:2] in (b"th", b"\x1f\x8b")


# ---- compressed text ----


@pytest.mark.parametrize("options", [[], ["--from", "kind"]])
@pytest.mark.parametrize("kind", ["folded", "perf-script"])
def test_compressed_text(callsign, tmp_path, kind, options):
    """It was said to be no profile: the formats that the library reads were inflated, and others not."""
    text = "".join(f"main;f{i} {i + 1}\n" for i in range(20000)) if kind == "folded" else \
        "".join(f"app 1/1 {i}.5: 7 cycles:\n\t{0x1000 + i:>16x} f{i} (/nowhere/app)\n\n" for i in range(20000))
    options = [kind if option == "kind" else option for option in options]
    wanted, _ = profile_of(callsign, tmp_path, text, "out.pb", "-q", *options)
    packed_text = gzip.compress(text[:100000].encode()) + gzip.compress(text[100000:].encode())
    assert profile_of(callsign, tmp_path, packed_text, "out.pb", "-q", *options)[0] == wanted
    by_tool = subprocess.run([need("gzip"), "-9"], input=text.encode(), capture_output=True, check=True).stdout
    done = subprocess.run([*callsign.prefix, callsign.path, "profile", "-", "-o", tmp_path / "out.pb", "--no-search", "-q", *options], input=by_tool, check=True)
    assert done.returncode == 0 and (tmp_path / "out.pb").read_bytes() == wanted
    assert profile_of(callsign, tmp_path, b"\xef\xbb\xbf" + text.encode(), "out.pb", "-q")[0] == wanted
    assert profile_of(callsign, tmp_path, gzip.compress(b"\xef\xbb\xbf" + text.encode()), "out.pb", "-q")[0] == wanted


@pytest.mark.parametrize("size", [11, 5000, -1])
def test_damaged_compressed_text(callsign, tmp_path, size):
    data = gzip.compress("".join(f"main;f{i} {i * i}\n" for i in range(20000)).encode())
    (tmp_path / "in.gz").write_bytes(data[:size])
    assert "the compressed data ends after " in callsign.bad("profile", tmp_path / "in.gz", "-o", tmp_path / "out.pb", "-q")
    (tmp_path / "in.gz").write_bytes(data[:6000] + bytes(40) + data[6040:])
    assert callsign.bad("profile", tmp_path / "in.gz", "-o", tmp_path / "out.pb", "-q").startswith(f"callsign: {tmp_path}/in.gz: ")
    assert not (tmp_path / "out.pb").exists()


# ---- types of values ----


KINDS_OF_TYPES = {
    "pprof": (pprof([([0x1000], [1, 2])], [], types=(("a", "count"), ("b", "bytes"))) + message((14, 3)), "b"),
    "pprof without one": (pprof([([0x1000], [1, 2])], [], types=(("c", "count"), ("d", "bytes"))), None),
    "perf": ("app 1/1 5.0: 10 cycles:\n\t401136 f (/tmp/x)\n\n", "samples"),
    "heap": ("heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x1000\n", "space"),
    "cpu of gperftools": (struct.pack("<12Q", 0, 3, 0, 10000, 0, 1, 1, 0x1000, 0, 1, 0, 0)[:88], "cpu"),
    "folded": ("main 1\n", None),
}


@pytest.mark.parametrize("first", KINDS_OF_TYPES)
@pytest.mark.parametrize("second", KINDS_OF_TYPES)
def test_default_type_of_several_inputs(callsign, tmp_path, first, second):
    """That of the first which has one, as pprof merges them: texts of perf and legacy profiles put theirs in its place."""
    data, _ = profile_of(callsign, tmp_path, [KINDS_OF_TYPES[first][0], KINDS_OF_TYPES[second][0]], "out.pb")
    strings = Pprof(data).strings
    assert [strings[value] for field, value in fields(data) if field == 14] == [kind for kind in (KINDS_OF_TYPES[first][1], KINDS_OF_TYPES[second][1]) if kind][:1]


def test_equal_types_stay_apart(callsign, tmp_path):
    """Values of two types of one name and unit were added up. Those of the next input are added to them in their order."""
    source = pprof([([0x1000], [5, 6, 7])], [], types=(("t", "c"), ("u", "c"), ("t", "c")))
    assert values_of(callsign, tmp_path, source) == ([("t", "c"), ("u", "c"), ("t", "c")], [[5, 6, 7]])
    assert values_of(callsign, tmp_path, [source, source]) == ([("t", "c"), ("u", "c"), ("t", "c")], [[10, 12, 14]])


# ---- outputs that are open already ----


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("kind", ["folded", "html", "pprof"])
def test_standard_output_is_written_behind(callsign, tmp_path, name, kind):
    """It was replaced where it is a file: what others had written was lost, and what they wrote later, too."""
    (tmp_path / "in.folded").write_text("a;b 1\n")
    alone, behind = tmp_path / "alone", tmp_path / "behind"
    callsign.good("profile", tmp_path / "in.folded", "-o", alone, "--to", kind, "-q", "--no-search")
    with behind.open("wb") as out:
        out.write(b"before\n")
        out.flush()
        subprocess.run([*callsign.prefix, callsign.path, "profile", tmp_path / "in.folded", "-o", name, "--to", kind, "-q", "--no-search"], stdout=out, check=True)
        out.seek(0, os.SEEK_END)
        out.write(b"after\n")
    assert behind.read_bytes() == b"before\n" + alone.read_bytes() + b"after\n"


@pytest.mark.parametrize("name", ["/dev/fd/99", "/dev/fd/1x", "/dev/fd/"])
def test_no_output_is_open(callsign, tmp_path, name):
    (tmp_path / "in.folded").write_text("a;b 1\n")
    done = callsign.run("profile", tmp_path / "in.folded", "-o", name, "--to", "folded", "--no-search")
    assert done.returncode == 2 and "/dev/fd/" in done.stderr and done.stdout == "", done.stderr


def test_places_in_several_members_of_gzip(callsign, tmp_path):
    """They counted from the last one."""
    packed_first = gzip.compress(pprof([([0x1000], [5])], []))
    (tmp_path / "in.pb.gz").write_bytes(packed_first + b"junk of no gzip at all")
    done = callsign.run("profile", tmp_path / "in.pb.gz", "-o", tmp_path / "out.pb", "--no-search")
    place = int(re.search(r"gzip\+0x([0-9a-f]+)", done.stderr)[1], 16)
    assert done.returncode == 2 and len(packed_first) <= place <= len(packed_first) + 10, done.stderr
