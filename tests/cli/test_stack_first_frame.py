"""callsign stack on stacks that lack their beginning: the first frame that is seen is a caller, as its number tells.

The texts are the samples of test_stack_logs.py, and its programs."""
import json
import re

import pytest

from test_stack_logs import BOTH, DATA, LIB, SAMPLES, indexes, text_of  # noqa: F401 (indexes is a fixture)

NUMBER = re.compile(r"^\W*(?:frame #|Trace \[)?(\d+)\b(?!\.\d)")
# Their lines begin with other numbers, or the frames before tell where the module lies.
OTHERS = {"bare", "bare-with-maps", "failure", "glog", "glog-cxx", "illumos"}


def frames(callsign, args, text):
    answers = map(json.loads, callsign.run("stack", "--json", *args, stdin=text).stdout.splitlines())
    return [[(f["function"], f.get("line")) for f in frame["frames"]] for answer in answers for frame in answer["frames"] if frame["frames"]]


def cut_samples():
    """Samples whose lines from one on have a number above 1, with all that stands before the first frame."""
    for name, sample in SAMPLES.items():
        lines = text_of(name).split("\n")
        numbers = {at: int(NUMBER.match(lines[at - 1])[1]) for at in sample.lines if NUMBER.match(lines[at - 1])}
        begins = min(numbers, default=0)
        head = [line for line in lines[:max(begins - 1, 0)] if not line.startswith("0x0000")]  # where gdb stopped
        cuts = [at for at, number in numbers.items() if 1 < number < 100 and at > begins and re.search(r"[a-z]_|main", sample.lines[at])]
        for at in cuts[:3] if name not in OTHERS else ():
            yield pytest.param(name, "\n".join([*head, *lines[at - 1:]]), id=f"{name}, line {at}")


@pytest.mark.parametrize("name, cut", cut_samples())
def test_the_beginning_is_missing(callsign, indexes, name, cut):
    whole, left = (frames(callsign, indexes[name], text) for text in (text_of(name), cut))
    assert left and left == whole[-len(left):]


CALL, NEXT = [("orders_load", 21)], [("orders_load", 22)]
FORMS = {"brackets": "  [{}] orders.dll+0x1161", "hash": "#{} orders.dll+0x1161", "a blank": "# {} orders.dll + 0x1161", "colon": "{}: orders.dll + 0x1161",
         "plain": "#{} orders.dll+0x1161", "plain, colon": "{}: orders.dll+0x1161",
         "Dr. Memory": "#{} orders_load+0x5d [f:\\src\\orders.c:21](0x76ff1161 <orders.dll+0x1161>)"}


@pytest.mark.parametrize("form", FORMS)
def test_lowest_numbers(callsign, form):
    """0, or else 1, is where the program stopped; a line of another program makes no frame the first one."""
    args = ["--no-search", "-i", f"orders.dll={LIB[1]}", *(["--format", "plain"] if "plain" in form else [])]

    def answers(*numbers):
        return frames(callsign, args, "".join(("text" if n is None else FORMS[form].format(n)) + "\n" for n in numbers))

    assert answers(0) == [NEXT] and answers(1) == [CALL if form == "Dr. Memory" else NEXT] and answers(3) == answers(12) == [CALL]
    assert answers(0, 1, None, 2) == [NEXT, CALL, CALL] and answers(0, None, 1, 2) == [NEXT, CALL, CALL]
    assert answers(3, None, 0, 1) == [CALL, NEXT, CALL]


@pytest.mark.parametrize("line", ["liborders.so+0x1161", "#1 liborders.so+0x1161", " > /opt/app/liborders.so(orders_load+0x9) [0x1161]",
                                  "C  [liborders.so+0x1161]  orders_load+0x9", "1   liborders.so 0x0000000104a2d161 0x104a2c000 + 4449"])
@pytest.mark.parametrize("max_frames", ["1", "2", "3"])
def test_parts_of_a_stack(callsign, line, max_frames):
    """Only the first part begins where the program stopped."""
    text = (line + "\n") * 5
    assert frames(callsign, ["--no-search", *BOTH, "--max-frames", max_frames], text) == frames(callsign, ["--no-search", *BOTH], text)


@pytest.mark.parametrize("max_frames", ["1", "2"])
def test_parts_that_begin_with_another_line(callsign, max_frames):
    """A managed frame has no answer: the frame below it begins the part."""
    text = "  liborders.dll+0x1161\n   at Orders.Program.Main(String[])\n  liborders.dll+0x113b\n"
    index = ["--no-search", "-i", f"liborders.dll={LIB[1]}"]
    whole, parts = frames(callsign, index, text), frames(callsign, [*index, "--max-frames", max_frames], text)
    assert parts == whole and len(whole) == 2


COLUMNS = "00000000`00000001 00000000`00000000 00000000`00000000 00000000`00000000"


@pytest.mark.parametrize("rows", [
    f"000000ab`cdeff5a8 00007ff6`12341161 : {COLUMNS} : orders!orders_load\n000000ab`cdeff5b8 00007ff6`12341161 : {COLUMNS} : orders+0x1161\n",
    "000000ab`cdeff5a8 00007ff6`12341161 orders!orders_load\n000000ab`cdeff5b8 00007ff6`12341161 orders+0x1161\n",
    "ChildEBP RetAddr\n0018ff3c 00401161 orders!orders_load\n0018ff88 7c817067 orders+0x1161\n"], ids=["STACK_TEXT", "k", "k, 32 bits"])
def test_rows_of_windbg_without_numbers(callsign, rows):
    """The first one faulted at its function's first byte: the byte before is another function's. llvm-symbolizer: 0x1158 orders_load liborders.c:20."""
    done = callsign.good("stack", "--json", "--no-search", "-i", f"orders={DATA / 'liborders.so'}", stdin=rows)
    frames = json.loads(done)["frames"]
    assert [(f["address"], f["frames"][-1]["function"], f["frames"][-1]["line"]) for f in frames] == [("0x1158", "orders_load", 20), ("0x1161", "orders_load", 21)]
