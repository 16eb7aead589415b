"""callsign.Profile: reads, symbolicates, iterates, writes, as an Arrow table."""
import gzip
import importlib.util
import json
import os
import subprocess
import sys
import threading

import pytest

import callsign
from conftest import ROOT

sys.path.append(str(ROOT / "tests" / "cli"))
from profile_bytes import Pprof, message, pprof  # noqa: E402


@pytest.fixture
def source(program, addresses):
    """The program's stack twice, once in a sample of its own label, and a place that no function covers."""
    mapping = (0, 0x100000, 0, str(program), "")
    return pprof([(addresses, [2, 20]), (addresses, [3, 30]), (addresses[1:], [1, 10]), ([0xffff0], [4, 40])], [mapping],
                 types=(("samples", "count"), ("cpu", "nanoseconds")), labels={1: [("thread", "worker")]})


@pytest.fixture
def profile(source):
    with callsign.Profile() as profile:
        profile.read_bytes(source, name="test")
        yield profile


def expected_names(index, addresses):
    return tuple(frame.function for address in addresses for frame in index.lookup(address))


def test_names_are_those_of_lookups(profile, folder, index, addresses):
    named = profile.symbolicate(callsign.Store(folder))
    assert (named.locations, named.named, named.unknown, named.missing) == (len(addresses) + 1, len(addresses), 1, [])
    samples = list(profile)
    assert len(samples) == len(profile) == 4
    assert [sample.values for sample in samples] == [{"samples": n, "cpu": 10 * n} for n in (2, 3, 1, 4)]
    assert tuple(frame.function for frame in samples[0].stack) == expected_names(index, addresses)
    assert tuple(frame.function for frame in samples[2].stack) == expected_names(index, addresses[1:])
    frame = next(frame for frame in samples[0].stack if frame.inlined)
    assert frame.file.endswith("orders.cc") and frame.line and frame.module.endswith("orders")
    assert samples[0].stack is samples[1].stack
    assert (samples[0].labels, samples[1].labels) == ({}, {"thread": "worker"})
    assert str(samples[3].stack[0]) == "orders+0xffff0"


def test_labels_of_one_key():
    """One of them was kept, of pprof's k:[a b]."""
    mapping = (0, 0x100000, 0, "/nowhere/app", "")
    with callsign.Profile() as profile:
        profile.read_bytes(pprof([([0x1000], [1])], [mapping], labels={0: [("k", "a"), ("other", "x"), ("k", "b")]}))
        sample, = profile
    assert sample.labels == {"k": ["a", "b"], "other": "x"}


def test_what_was_changed_is_counted():
    """Lines that do not fit, and weights with fractions."""
    lines = message((1, message((1, 1), (2, 2))), (2, message((1, b"\x01"), (2, b"\x05"))), (4, message((1, 1), (4, message((1, 1), (2, -1))))),
                    (5, message((1, 1), (2, 1))), (6, ""), (6, "samples"), (6, "count"))
    thread = {"name": "main", "samples": {"length": 1, "stack": [None], "weight": [0.5], "weightType": "samples"}}
    firefox = json.dumps({"meta": {"preprocessedProfileVersion": 46}, "threads": [thread]})
    with callsign.Profile() as profile:
        profile.read_bytes(lines)
        assert (profile.sizes["lost_lines"], profile.sizes["weight_scale"]) == (1, 1)
        profile.read_bytes(firefox.encode())
        assert (profile.sizes["lost_lines"], profile.sizes["weight_scale"]) == (1, 10)
        assert [sample.values for sample in profile] == [{"samples": 5, "samples x10": 0}, {"samples": 0, "samples x10": 5}]


def test_stored_names(source, folder):
    for how, expected in (({"store": callsign.Symbolicator(folder)}, True), ({"store": folder, "demangle": False}, True),
                          ({"store": callsign.Symbolicator(folder, demangle=True)}, False), ({"store": folder}, False)):
        profile = callsign.Profile()
        profile.read_bytes(source)
        profile.symbolicate(**how)
        assert any(frame.function.startswith("_ZN4shop") for frame in next(iter(profile)).stack) is expected


def test_modules_without_symbols(profile, tmp_path):
    with callsign.Store(tmp_path) as store:
        named = profile.symbolicate(store)
    # The program lies where the profile says, and is found there.
    assert named.modules == 1 and named.missing == []
    other = callsign.Profile()
    other.read_bytes(pprof([([0x1000], [1])], [(0, 0x2000, 0, "/nowhere/app", "abcdef0123456789")]))
    assert other.symbolicate(tmp_path).missing == [("/nowhere/app", bytes.fromhex("abcdef0123456789"))]


def test_top(profile, folder, index, addresses):
    profile.symbolicate(folder)
    top = {total.function: (total.own, total.total) for total in profile.top()}
    innermost, outermost = index.lookup(addresses[0])[0].function, index.lookup(addresses[-1])[-1].function
    assert top[innermost] == (5, 5)
    assert top[outermost][1] == 6
    assert profile.top(1, value="cpu")[0].own == 50
    with pytest.raises(ValueError, match="no values of type 'bytes', there are samples, cpu"):
        profile.top(value="bytes")
    with pytest.raises(ValueError, match="^count is -1, need 0 to"):  # it gave all but the last
        profile.top(-1)
    assert profile.top(0) == []


@pytest.mark.parametrize("name", ["out.pb.gz", "out.pb", "out.otlp", "out.otlp.json", "out.json"])
def test_written_and_read_again(profile, folder, tmp_path, name):
    profile.symbolicate(folder)
    profile.write(tmp_path / name)
    names = sorted((tuple(frame.function for frame in sample.stack), sample.values["samples"]) for sample in profile if sample.values["samples"] != 4)
    with callsign.Profile(tmp_path / name) as again:
        found = {}
        for sample in again:
            stack = tuple(frame.function for frame in sample.stack)
            found[stack] = found.get(stack, 0) + list(sample.values.values())[0]
        for stack in {stack for stack, _ in names}:
            assert found[stack] == sum(n for other, n in names if other == stack)


def test_formats(profile, folder, tmp_path):
    profile.symbolicate(folder)
    for name in ("a.folded", "a.html", "a.perf", "a.pb"):
        profile.write(tmp_path / name, title="a title")
    names = [frame.function for frame in next(iter(profile)).stack]
    assert f"{';'.join(reversed(names))} 5" in (tmp_path / "a.folded").read_text().splitlines()
    assert "a title" in (tmp_path / "a.html").read_text()
    assert (tmp_path / "a.pb").read_bytes() == profile.to_bytes("pprof", plain=True)
    assert gzip.decompress(profile.to_bytes("pprof")) == profile.to_bytes("pprof", plain=True)
    assert Pprof(profile.to_bytes("pprof")).types == profile.value_types == [("samples", "count"), ("cpu", "nanoseconds")]
    with pytest.raises(ValueError, match="the name does not say which format"):
        profile.write(tmp_path / "a.unknown")
    with pytest.raises(ValueError, match="'svg' is not a format that can be written"):
        profile.to_bytes("svg")
    with pytest.raises(TypeError, match=r"^to_bytes\(\) needs a format: pprof, otlp"):
        profile.to_bytes(None)
    profile.write(os.fsencode(tmp_path / "b.pb"))
    assert (tmp_path / "b.pb").read_bytes() == (tmp_path / "a.pb").read_bytes()
    with pytest.raises(ValueError, match="'html' is not a format that can be read"):
        profile.read(tmp_path / "a.html", format="html")


def test_arrow(profile, folder, index, addresses):
    pa = pytest.importorskip("pyarrow")
    profile.symbolicate(folder)
    table = profile.to_arrow()
    table.validate(full=True)
    assert table.column_names == ["stack", "samples", "cpu"]
    assert table.schema.field("cpu").metadata == {b"unit": b"nanoseconds"}
    assert table["samples"].to_pylist() == [2, 3, 1, 4]
    rows = table["stack"].to_pylist()
    for row, sample in zip(rows, profile):
        assert [frame["function"] or "" for frame in row] == [frame.function for frame in sample.stack]
        assert [(frame["file"], frame["line"], frame["inlined"], frame["module"], frame["address"]) for frame in row] \
            == [frame[1:] for frame in sample.stack]
    assert pa.types.is_dictionary(table["stack"].type.value_type.field("function").type)
    empty = callsign.Profile().to_arrow()
    empty.validate(full=True)
    assert empty.num_rows == 0


def test_every_sample(source, folder, tmp_path):
    pytest.importorskip("pyarrow")
    profile = callsign.Profile(every_sample=True)
    profile.read_bytes(source)
    assert profile.to_arrow().column_names == ["stack", "samples", "cpu", "time_ns", "tid"]


def test_names_of_columns():
    """A type called as a column of the table, and two types of one name and unit."""
    with callsign.Profile(every_sample=True) as profile:
        profile.read_bytes(pprof([([0x10], [1, 2, 3, 4])], [], types=(("stack", "bytes"), ("tid", "count"), ("a", "b"), ("a", "b"))))
        assert [sample.values for sample in profile] == [{"stack (bytes)": 1, "tid (count)": 2, "a (b)": 3, "a (b) 2": 4}]
        if importlib.util.find_spec("pyarrow"):
            assert profile.to_arrow().column_names == ["stack", "stack (bytes)", "tid (count)", "a (b)", "a (b) 2", "time_ns", "tid"]
        with pytest.raises(ValueError, match="'legacy' is not a format that can be written: pprof"):
            profile.to_bytes("legacy")


def test_merged_inputs(source):
    one, apart, merged = callsign.Profile(), callsign.Profile(), callsign.Profile(merge_inputs=True)
    for profile, count in ((one, 1), (apart, 2), (merged, 2)):
        for _ in range(count):
            profile.read_bytes(source)
    samples = list(one)
    assert len(list(apart)) == 2 * len(samples)
    assert [sample.values for sample in merged] == [{name: 2 * value for name, value in sample.values.items()} for sample in samples]


def test_shown(profile, folder):
    profile.symbolicate(folder)
    assert repr(profile).startswith("<Profile: 4 samples, ")
    html = profile._repr_html_()
    assert "shop::" in html and "<script" not in html and "samples by function" in html
    profile.close()
    assert profile.closed and repr(profile) == "<Profile: closed>" and "closed" in profile._repr_html_()
    for call in (lambda: profile.sizes, lambda: list(profile), lambda: profile.symbolicate(folder), lambda: profile.to_bytes("pprof"),
                 lambda: profile.read_bytes(b"")):
        with pytest.raises(ValueError, match="the profile is closed"):
            call()


def test_errors(source, tmp_path):
    with pytest.raises(callsign.Error, match="absent.pb") as caught:
        callsign.Profile(tmp_path / "absent.pb")
    assert caught.value.status == "input or output error" and caught.value.os_error
    (tmp_path / "cut.pb").write_bytes(source[:-30])
    with pytest.raises(callsign.Error) as caught:
        callsign.Profile(tmp_path / "cut.pb")
    assert caught.value.code < 0 and "cut.pb" in str(caught.value)
    with pytest.raises(callsign.Error, match="^not a profile of pprof, OTLP, Firefox or gperftools"):
        callsign.Profile().read_bytes(b"no profile at all")
    with pytest.raises(callsign.Error) as caught:
        callsign.Profile().write(os.path.join(tmp_path, "nowhere", "out.pb"))
    assert caught.value.status == "input or output error"
    with pytest.raises(TypeError):
        callsign.Profile().read_bytes(7)
    with pytest.raises(ValueError, match="the store is closed"):
        store = callsign.Store(tmp_path)
        store.close()
        callsign.Profile().symbolicate(store)


def test_threads(source, folder):
    """Several threads at one profile and one store, and a close in the middle: each call works or finds it closed."""
    store, profile, failures = callsign.Store(folder), callsign.Profile(), []
    profile.read_bytes(source)

    def run():
        try:
            for _ in range(20):
                profile.symbolicate(store)
                profile.to_bytes("folded")
                list(profile)
        except ValueError as error:
            if "closed" not in str(error):
                failures.append(error)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    threads[0].join(0.05)
    profile.close()
    for thread in threads:
        thread.join()
    assert not failures


def test_nothing_leaks(source, folder, tmp_path):
    (tmp_path / "p.pb").write_bytes(source)
    code = """if True:
        import sys, resource, callsign
        def work(count):
            for _ in range(count):
                with callsign.Profile(sys.argv[1]) as profile:
                    list(profile); profile.top(); profile.to_bytes("html"); profile.sizes
                    try: profile.read_bytes(b"nothing")
                    except callsign.Error: pass
        work(50)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work(400)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 6000, grown
    """
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "p.pb")], check=True)
