"""Objects that threads share, and close while others use them. Nothing but this package is needed. On a free-threaded interpreter the
threads run at once."""
import os
import random
import sys
import sysconfig
import threading

import pytest

import callsign

THREADS = 8
ROUNDS = 300


def run_threads(work, count=THREADS):
    """Calls work(number) in threads that begin together. The first failure is raised here."""
    barrier, failures = threading.Barrier(count), []

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.fixture(params=[0, 1 << 20], ids=["plain", "accelerator"])
def shared(index_path, request):
    with callsign.Index(index_path, demangle=True, accelerator_bytes=request.param) as index:
        yield index


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has a GIL")
def test_the_gil_stays_off():
    """Importing the package does not turn it on again."""
    assert os.environ.get("PYTHON_GIL") == "1" or not sys._is_gil_enabled()


def test_one_index(shared, addresses):
    expected = {address: shared.lookup(address) for address in addresses}
    info, functions = shared.info(), list(shared.functions())

    def work(number):
        draw = random.Random(number)
        for k in range(ROUNDS):
            address = draw.choice(addresses)
            assert shared.lookup(address) == expected[address]
            if k % 10 == 0:
                assert len(shared.lookup_batch([draw.choice(addresses) for _ in range(50)])) == 50
                assert shared.info() == info and list(shared.functions()) == functions
    run_threads(work)


def test_close_while_others_look_up(index_path, addresses):
    """Each call answers or says that the index is closed; the last one out releases it."""
    for round_number in range(60):
        index = callsign.Index(index_path)
        expected = index.lookup(addresses[1])

        def work(number, index=index, expected=expected, closer=round_number % THREADS):
            try:
                for k in range(ROUNDS):
                    if number == closer and k == round_number:
                        index.close()
                    assert index.lookup(addresses[1]) == expected
                    assert len(index.lookup_batch(addresses)) == len(addresses)
            except ValueError as error:
                assert str(error) == "the index is closed"
        run_threads(work)
        assert index.closed


def test_one_store(folder):
    store = callsign.Store(folder)

    def work(number):
        for k in range(ROUNDS // 4):
            assert store.find("orders")
            assert not store.find(f"absent{number}-{k % 7}")
    run_threads(work)


def test_close_a_store_while_others_search(folder):
    for round_number in range(30):
        store = callsign.Store(folder)

        def work(number, store=store, closer=round_number % THREADS):
            try:
                for k in range(60):
                    if number == closer and k == round_number:
                        store.close()
                    assert store.find("orders")
            except ValueError as error:
                assert str(error) == "the store is closed"
        run_threads(work)


def test_one_symbolicator(folder, addresses):
    pyarrow = pytest.importorskip("pyarrow")
    symbolicator = callsign.Symbolicator(folder)
    kind = pyarrow.struct([("module", pyarrow.string()), ("address", pyarrow.uint64())])
    rows = pyarrow.array([{"module": module, "address": address} for address in addresses for module in ("orders", "absent")], kind)
    stacks = pyarrow.array([rows.to_pylist()[::2]] * 3, pyarrow.list_(kind))
    expected = [pyarrow.array(symbolicator.batch(each)).to_pylist() for each in (rows, stacks)]

    def work(number):
        for k in range(ROUNDS // 10):
            which = (number + k) % 2
            assert pyarrow.array(symbolicator.batch((rows, stacks)[which])).to_pylist() == expected[which]
    run_threads(work)


def test_one_answer_read_by_many(index, addresses):
    """An answer may be exported any number of times, by any thread, and outlives its index's close()."""
    answers = index.lookup_batch(addresses * 50)

    def work(number):
        for _ in range(ROUNDS):
            schema, array = answers.__arrow_c_array__()
            del schema, array
            assert len(answers) == len(addresses) * 50
            answers.__arrow_c_schema__()
    run_threads(work)


def test_conversions_at_once(program, index_path, tmp_path):
    def work(number):
        steps = []
        callsign.convert(program, tmp_path / f"{number}.gsym", threads=1 + number % 2, progress=lambda *step: steps.append(step))
        assert steps and (tmp_path / f"{number}.gsym").read_bytes() == index_path.read_bytes()
    run_threads(work)


def test_demangle():
    def work(number):
        for k in range(ROUNDS):
            assert callsign.demangle(f"_ZN1a{len(str(k)) + 1}b{k}Ev") == f"a::b{k}()"
    run_threads(work)
