"""Index, convert() and errors: nothing but this package is needed."""
import array
import subprocess
import sys
import threading

import pytest

import callsign


def addr2line(program, address):
    out = subprocess.run(["addr2line", "-Cfie", str(program), hex(address)], capture_output=True, text=True, check=True).stdout
    lines = out.splitlines()
    return [(name, *where.split(" ")[0].rsplit(":", 1)) for name, where in zip(lines[::2], lines[1::2])]


def test_lookup_agrees_with_addr2line(program, addresses, index):
    for address in addresses[:3]:
        frames = index.lookup(address)
        want = addr2line(program, address)
        assert [(f.file, str(f.line)) for f in frames] == [(file, line) for _, file, line in want]
        # binutils leaves out what a template returns
        assert all(f.function.endswith(name) or name in f.function for f, (name, _, _) in zip(frames, want))
        assert [f.inlined for f in frames] == [True] * (len(frames) - 1) + [False]


def test_nothing_covers(index):
    assert index.lookup(3) == []
    assert index.lookup(-1) == []


def test_frames_without_lines(index, addresses):
    frame, = index.lookup(addresses[3])
    assert (frame.function, frame.file, frame.line) == ("_start", None, None)
    assert frame[0] == "_start" and len(frame) == 5


@pytest.mark.parametrize("bad", ["0x10", 1.5, None])
def test_wrong_types(index, bad):
    with pytest.raises(TypeError):
        index.lookup(bad)


def test_too_large(index):
    with pytest.raises(OverflowError):
        index.lookup(1 << 64)


@pytest.mark.parametrize("bad", [1 << 64, -1 - (1 << 63)])
def test_too_large_in_a_batch(index, bad):
    with pytest.raises(OverflowError, match=f"address {bad:#x} has more than 64 bits"):
        index.lookup_batch([3, bad])


def rows_of(index, addresses):
    import pyarrow
    return pyarrow.array(index.lookup_batch(addresses)).to_pylist()


def test_batches_of_any_kind(index, addresses):
    """Integers of other packages, columns with gaps and in chunks, addresses of the kernel in signed columns."""
    numpy, pyarrow = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")
    want = rows_of(index, addresses)
    assert any(row["frames"] for row in want)
    wide = numpy.zeros(2 * len(addresses), "u8")
    wide[::2] = addresses
    halves = [addresses[:1], addresses[1:]]
    for given in ([numpy.uint64(a) for a in addresses], iter(addresses), tuple(addresses), wide[::2], wide[::2].view("i8"), pyarrow.chunked_array(halves),
                  pyarrow.chunked_array([pyarrow.array(half, pyarrow.uint64()) for half in halves])):
        assert rows_of(index, given) == want
    assert rows_of(index, [-1, *addresses]) == rows_of(index, [(1 << 64) - 1, *addresses])


def test_masked_addresses(index, addresses, monkeypatch):
    """What lay below the mask was looked up."""
    numpy, pyarrow = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")
    mask = [k == 1 for k in range(len(addresses))]
    masked = numpy.ma.array(addresses, mask=mask, dtype="u8")
    nulls = pyarrow.array([None if hidden else address for address, hidden in zip(addresses, mask)], pyarrow.uint64())
    want = rows_of(index, nulls)
    assert rows_of(index, masked) == want and want[1] == {"frames": None, "reason": "the address is null"}
    assert rows_of(index, numpy.ma.array(addresses, dtype="u8")) == rows_of(index, addresses)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TypeError, match="masked addresses need pyarrow"):
        index.lookup_batch(masked)


@pytest.mark.parametrize("bad", [None, "x", 1.5])
def test_batches_of_no_integers(index, bad):
    with pytest.raises(TypeError):
        index.lookup_batch([3, bad])


def test_options_that_are_out_of_range(index_path, program, tmp_path):
    for bad in (-1, 1 << 32):
        with pytest.raises(ValueError, match=f"threads is {bad}, need 0 to 4294967295"):
            callsign.convert(program, tmp_path / "out.gsym", threads=bad)
    with pytest.raises(ValueError, match="accelerator_bytes is -1, need 0 to"):
        callsign.Index(index_path, accelerator_bytes=-1)
    with pytest.raises(TypeError, match="progress is 5, need a callable, True or None"):
        callsign.convert(program, tmp_path / "out.gsym", progress=5)
    assert not (tmp_path / "out.gsym").exists()
    with pytest.raises(TypeError, match="a name is a str, not <class 'NoneType'>"):
        callsign.demangle(None)


def test_closed(index_path):
    index = callsign.Index(index_path)
    index.close()
    index.close()
    assert index.closed and "closed" in repr(index) and "closed" in index._repr_html_()
    for call in (lambda: index.lookup(1), lambda: index.lookup_batch([1]), index.info, lambda: list(index.functions())):
        with pytest.raises(ValueError, match="the index is closed"):
            call()


def test_functions_and_info(index):
    functions = list(index.functions())
    assert len(functions) == len(index) == index.info()["functions"]
    assert [f.start for f in functions] == sorted(f.start for f in functions)
    assert "shop::report_stack()" in [f.name for f in functions]
    assert len(index.info()["build_id"]) == 20
    with pytest.raises(IndexError):
        index._native.function(len(functions))


def test_a_program_is_an_index_too(program, addresses):
    with callsign.Index(program) as index:
        assert index.lookup(addresses[0])[0].function == "_ZN4shop12report_stackEv"


def test_errors(tmp_path, index_path):
    with pytest.raises(callsign.Error) as caught:
        callsign.Index(tmp_path / "absent")
    assert caught.value.os_error == 2 and str(tmp_path / "absent") in str(caught.value)
    damaged = tmp_path / "damaged.gsym"
    damaged.write_bytes(index_path.read_bytes()[:40])
    with pytest.raises(callsign.Error) as caught:
        callsign.Index(damaged)
    assert caught.value.status == "truncated" and caught.value.code < 0


def test_convert(program, tmp_path):
    steps = []
    report = callsign.convert(program, tmp_path / "a.gsym", threads=2, progress=lambda *step: steps.append(step))
    assert report["functions"] >= 10 and report["rows"] > 20 and len(report["build_id"]) == 20
    assert steps and all(done <= total for _, done, total in steps)
    assert " functions" in repr(report) and "functions" in report._repr_html_()
    callsign.convert(program, tmp_path / "b.gsym", threads=1)
    assert (tmp_path / "a.gsym").read_bytes() == (tmp_path / "b.gsym").read_bytes()
    callsign.convert(program, tmp_path / "b.gsym", format="gsym-v2")
    with callsign.Index(tmp_path / "b.gsym") as index:
        assert index.info()["format"] == 2


def test_convert_fails(program, tmp_path):
    out = tmp_path / "out.gsym"
    out.write_bytes(b"old")
    with pytest.raises(callsign.Error, match="cancelled|stopped"):
        callsign.convert(program, out, progress=lambda *step: False)
    with pytest.raises(ZeroDivisionError):
        callsign.convert(program, out, progress=lambda *step: 1 / 0)
    with pytest.raises(ValueError, match="'elf' is not an output format"):
        callsign.convert(program, out, format="elf")
    assert out.read_bytes() == b"old" and sorted(p.name for p in tmp_path.iterdir()) == ["out.gsym"]


@pytest.mark.parametrize("raises", [True, False])
def test_a_conversion_is_stopped_once(tmp_path, raises):
    """Workers that had not noticed called again; all exceptions but the last one were never freed."""
    sources = [f"f{k}.c" for k in range(64)]
    for k, source in enumerate(sources):
        (tmp_path / source).write_text(f"int f{k}(int *p) {{ return *p + {k}; }}\n")
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", *sources, "-o", "many.so"], cwd=tmp_path, check=True)

    class Stop(Exception):
        pass

    def stop(phase, done, total):
        calls.append(done > 0)
        if raises and done:
            raise Stop
        return not done

    for _ in range(10):
        calls = []
        with pytest.raises(Stop if raises else callsign.Error):
            callsign.convert(tmp_path / "many.so", tmp_path / "out.gsym", threads=4, progress=stop)
        assert sum(calls) == 1


def test_buffers(index, addresses):
    assert len(index.lookup_batch(array.array("Q", addresses))) == len(addresses)
    assert len(index.lookup_batch(addresses)) == len(addresses)
    assert len(index.lookup_batch(iter(addresses))) == len(addresses)
    for bad in (array.array("d", [1.0]), array.array("I", [1]), [1.5]):
        with pytest.raises(TypeError):
            index.lookup_batch(bad)


def test_threads_and_close(index_path, addresses):
    index = callsign.Index(index_path)
    want, failures, started = index.lookup(addresses[1]), [], threading.Barrier(5)

    def run():
        started.wait()
        try:
            while True:
                if index.lookup(addresses[1]) != want or len(index.lookup_batch(addresses)) != len(addresses):
                    failures.append("other answer")
        except ValueError as error:
            if "closed" not in str(error):
                failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    index.close()
    for thread in threads:
        thread.join()
    assert not failures


def test_nothing_leaks(index_path, addresses):
    code = """if True:
        import callsign, gc, resource, sys
        def work(count):
            for _ in range(count):
                with callsign.Index(sys.argv[1], demangle=True) as index:
                    index.lookup(int(sys.argv[2]))
                    index.lookup_batch([int(sys.argv[2])] * 1000).__arrow_c_array__()
                callsign.Store(indexes=[sys.argv[1]]).find("orders")
            gc.collect()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        first = work(300)
        assert work(3000) - first < 3000, "KiB more"
    """
    subprocess.run([sys.executable, "-c", code, str(index_path), str(addresses[1])], check=True)


def test_demangle():
    assert callsign.demangle("_ZN1a1bEv") == "a::b()"
    assert callsign.demangle("main") == "main"
    assert callsign.demangle("_Z3ab") == "_Z3ab"


def test_store(folder, index_path):
    with callsign.Store(folder) as store:
        found = store.find("orders")
        assert found and found[-1].result == "used" and "orders.gsym" in found[-1].path
        missing = store.find("absent")
        assert not missing and {place.result for place in missing} <= {"absent"}
        assert "not found" in missing._repr_html_()
    with pytest.raises(ValueError, match="the store is closed"):
        store.find("orders")
    with callsign.Index(index_path) as index:
        build_id = index.info()["build_id"]
    assert callsign.Store(indexes=[index_path]).find(build_id=build_id.hex())
    assert not callsign.Store(indexes=[index_path]).find("orders", bytes(20))
    with pytest.raises(callsign.Error):
        callsign.Store(indexes=[folder / "absent.gsym"])


def test_diff(program, index_path, tmp_path):
    import shutil
    import subprocess
    assert not callsign.diff(index_path, index_path)
    shutil.copy(program, tmp_path / "other")
    source = program.parent / "orders.cc"
    text = source.read_text().replace("report_stack", "report_calls")
    (tmp_path / "orders.cc").write_text("\n" + text)
    subprocess.run(["g++", "-g", "-O2", "-ffile-prefix-map=" + str(tmp_path) + "=/src", tmp_path / "orders.cc", "-o", tmp_path / "other"], check=True)
    callsign.convert(tmp_path / "other", tmp_path / "other.gsym")
    with callsign.Index(tmp_path / "other.gsym") as other:
        diff = callsign.diff(index_path, other)
        assert not other.closed
    assert diff and [f.name for f in diff.removed] == ["_ZN4shop12report_stackEv"] and [f.name for f in diff.added] == ["_ZN4shop12report_callsEv"]
    assert {change.what for change in diff.changed} == {"line"} and diff.same > 0
    assert "1 added, 1 removed" in repr(diff) and "report_calls" in diff._repr_html_()


def test_names_that_an_index_keeps_in_pieces(tmp_path):
    """BSYM: prefixes and tokens."""
    (tmp_path / "many.cc").write_text("".join(f"namespace Part{i} {{ int compute_value_{i}(int x) {{ return x * {i + 3}; }} }}\n" for i in range(40)))
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-o", str(tmp_path / "many.so"), str(tmp_path / "many.cc")], check=True)
    callsign.convert(tmp_path / "many.so", tmp_path / "many.bsym", format="bsym")
    with callsign.Index(tmp_path / "many.bsym") as stored, callsign.Index(tmp_path / "many.bsym", demangle=True) as shown:
        names = {function.name: function.start for function in stored.functions()}
        wanted = {f"_ZN{len(f'Part{i}')}Part{i}{len(f'compute_value_{i}')}compute_value_{i}Ei": i for i in range(40)}
        assert wanted.keys() <= names.keys()
        for name, i in wanted.items():
            assert [frame.function for frame in stored.lookup(names[name])] == [name]
            assert [frame.function for frame in shown.lookup(names[name])] == [f"Part{i}::compute_value_{i}(int)"]
        assert {f"Part{i}::compute_value_{i}(int)" for i in range(40)} <= {function.name for function in shown.functions()}
