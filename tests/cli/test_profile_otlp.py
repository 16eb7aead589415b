"""callsign profile: what pprof's fields say goes through OTLP and back, as attributes of OpenTelemetry's semantic conventions."""
import json

import pytest

from profile_bytes import Pprof, fields, message, packed

STRINGS = ["", "cpu", "nanoseconds", "alloc_space", "bytes", "main", "a.c", "/nowhere/app", "abcd1234", "/nowhere/unused",
           "drop.*", "keep.*", "https://example.com/doc", "first", "second"]


def number(text):
    return STRINGS.index(text)


def rich():
    """A profile with all that pprof's schema has, and OTLP has no field for."""
    return b"".join([
        message((1, message((1, number("cpu")), (2, number("nanoseconds")))), (1, message((1, number("alloc_space")), (2, number("bytes"))))),
        message((2, message((1, packed([1, 2])), (2, packed([5, 7]))))),
        message((3, message((1, 1), (2, 0x1000), (3, 0x2000), (5, number("/nowhere/app")), (6, number("abcd1234")), (7, 1), (10, 1)))),
        message((3, message((1, 2), (2, 0x3000), (3, 0x4000), (5, number("/nowhere/unused")), (8, 1)))),
        message((4, message((1, 1), (2, 1), (3, 0x1100), (4, message((1, 1), (2, 3))), (5, 1)))),
        message((4, message((1, 2), (2, 1), (3, 0x1200), (4, message((1, 1), (2, 4)))))),
        message((5, message((1, 1), (2, number("main")), (3, number("main")), (4, number("a.c"))))),
        *(message((6, text)) for text in STRINGS),
        message((7, number("drop.*")), (8, number("keep.*")), (13, number("first")), (13, number("second")),
                (14, number("alloc_space")), (15, number("https://example.com/doc")))])


def convert(callsign, tmp_path, sources, name):
    paths = []
    for i, data in enumerate(sources):
        paths.append(tmp_path / f"in{i}")
        paths[-1].write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    done = callsign.run("profile", *paths, "-o", tmp_path / name, "--no-search")
    assert done.returncode == 0, done.stderr
    return (tmp_path / name).read_bytes(), done.stderr


def texts(data, field):
    """Strings that fields of pprof's Profile name."""
    strings = Pprof(data).strings
    return [strings[value] for key, value in fields(data) if key == field]


def attributes(data, indexes):
    tables = data["dictionary"]
    return {tables["stringTable"][a["keyStrindex"]]: a["value"] for a in (tables["attributeTable"][i] for i in indexes)}


@pytest.mark.parametrize("middle", ["m.otlp", "m.otlp.json"])
def test_fields_of_pprof_survive(callsign, tmp_path, middle):
    """Comments, expressions, the address of the documentation, the default type, what mappings know, unused mappings and folded locations were lost."""
    straight, _ = convert(callsign, tmp_path, [rich()], "straight.pb")
    between, _ = convert(callsign, tmp_path, [rich()], middle)
    back, said = convert(callsign, tmp_path, [between], "back.pb")
    assert back == straight and "left out" not in said
    assert texts(back, 13) == ["first", "second"] and texts(back, 14) == ["alloc_space"]
    assert texts(back, 7) + texts(back, 8) + texts(back, 15) == ["drop.*", "keep.*", "https://example.com/doc"]
    profile = Pprof(back)
    assert [m["file"] for m in profile.mappings.values()] == ["/nowhere/app", "/nowhere/unused"]
    assert [location["folded"] for location in profile.locations.values()] == [True, False]
    assert convert(callsign, tmp_path, [between], middle)[0] == between


def test_names_of_attributes(callsign, tmp_path):
    data = json.loads(convert(callsign, tmp_path, [rich()], "out.otlp.json")[0])
    tables, scope = data["dictionary"], data["resourceProfiles"][0]["scopeProfiles"][0]
    assert scope["scope"] == {"attributes": [{"key": "pprof.scope.default_sample_type", "value": {"stringValue": "alloc_space"}}]}
    wanted = {"pprof.profile.comment": {"arrayValue": {"values": [{"stringValue": "first"}, {"stringValue": "second"}]}},
              "pprof.profile.drop_frames": {"stringValue": "drop.*"}, "pprof.profile.keep_frames": {"stringValue": "keep.*"},
              "pprof.profile.doc_url": {"stringValue": "https://example.com/doc"}}
    assert [attributes(data, profile["attributeIndices"]) for profile in scope["profiles"]] == [wanted, wanted]
    known = [{key.rpartition(".")[2]: value.get("boolValue") for key, value in attributes(data, m["attributeIndices"]).items() if key.startswith("pprof")}
             for m in tables["mappingTable"][1:]]
    names = ("has_functions", "has_filenames", "has_line_numbers", "has_inline_frames")
    assert known == [dict(zip(names, values)) for values in ((True, False, False, True), (False, True, False, False))]
    assert [attributes(data, location.get("attributeIndices", [])) for location in tables["locationTable"][1:]] == [
        {"pprof.location.is_folded": {"boolValue": True}}, {}]
    assert len({json.dumps(a, sort_keys=True) for a in tables["attributeTable"]}) == len(tables["attributeTable"])  # each stands once


def test_names_are_those_of_the_conventions(callsign, tmp_path):
    conventions = pytest.importorskip("opentelemetry.semconv._incubating.attributes.pprof_attributes",
                                      reason="opentelemetry-semantic-conventions (PyPI) is not installed")
    data = json.loads(convert(callsign, tmp_path, [rich()], "out.otlp.json")[0])
    written = {text for text in data["dictionary"]["stringTable"] if text.startswith("pprof.")} | {"pprof.scope.default_sample_type"}
    known = {value for name, value in vars(conventions).items() if name.startswith("PPROF_")}
    assert known - written == {"pprof.scope.sample_type_order"} and written <= known  # our order is that of the profiles


def test_comments_as_the_collector_has_them(callsign, tmp_path):
    """Its translator of pprof gives each a key of its own, and tells of mappings only what is true. Others' attributes are counted."""
    data = json.loads(convert(callsign, tmp_path, [rich()], "out.otlp.json")[0])
    tables, profiles = data["dictionary"], data["resourceProfiles"][0]["scopeProfiles"][0]["profiles"]
    first = len(tables["attributeTable"])
    added = [("pprof.profile.comment.0", {"stringValue": "one"}), ("pprof.profile.comment.1", {"stringValue": "two"}),
             ("pprof.profile.comment.x", {"stringValue": "no"}), ("pprof.profile.comment", {"intValue": "5"}), ("pprof.profile.doc_url", {"boolValue": True}),
             ("pprof.mapping.has_functions", {"boolValue": True}), ("pprof.location.is_folded", {"stringValue": "yes"})]
    for key, value in added:
        tables["attributeTable"].append({"keyStrindex": len(tables["stringTable"]), "value": value})
        tables["stringTable"].append(key)
    for profile in profiles:
        profile["attributeIndices"] = [first, first + 1]
    profiles[0]["attributeIndices"] += [first + 2, first + 3, first + 4]
    tables["mappingTable"][1]["attributeIndices"] = [first + 5]
    tables["locationTable"][2]["attributeIndices"] = [first + 6]
    back, said = convert(callsign, tmp_path, [data], "out.pb")
    assert texts(back, 13) == ["one", "two"] and "4 attributes, links, scopes and ids of the input are left out" in said
    mapping = [dict(fields(value)) for key, value in fields(back) if key == 3][0]
    assert [mapping.get(i, 0) for i in (7, 8, 9, 10)] == [1, 0, 0, 0]
    assert [location["folded"] for location in Pprof(back).locations.values()] == [True, False]


@pytest.mark.parametrize("kinds", [("pb", "pb"), ("otlp", "otlp"), ("pb", "otlp")])
def test_comments_of_several_inputs(callsign, tmp_path, kinds):
    """As pprof merges them: each once, in order. They came as often as there are inputs."""
    other = rich().replace(b"\x06second", b"\x05third")
    assert other != rich()
    made = [convert(callsign, tmp_path, [source], f"{i}.{kind}")[0] for i, (source, kind) in enumerate(zip((rich(), other), kinds))]
    assert texts(convert(callsign, tmp_path, made, "out.pb")[0], 13) == ["first", "second", "third"]
