"""The page of callsign profile --to html, in a real browser: drawn, zoomed, searched, compared, with nothing asked of a network."""
import json
import re

import pytest

from chromium import page  # noqa: F401
from profile_bytes import message, packed
from profile_bytes import pprof
from test_profile import PERF, symbols  # noqa: F401

SCRIPT = "</script><b id=broken>&"


@pytest.fixture(scope="module")
def pages(callsign, symbols, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("pages")
    (folder / "before.perf").write_text(PERF)
    (folder / "after.folded").write_text(f"main;outer;inner 2\nmain;square 4\nmain;{SCRIPT} 2\n")
    for name, inputs in (("one", ["before.perf"]), ("two", ["before.perf", "after.folded"])):
        callsign.good("profile", *(folder / i for i in inputs), "-o", folder / f"{name}.html", "--no-search", "-s", symbols, "--title", SCRIPT)
    return folder


def data_of(path):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', path.read_text(), re.S).group(1))


def test_data(pages):
    data = data_of(pages / "one.html")
    assert data["title"] == SCRIPT and data["unit"] == "count" and data["parent"][0] == 0
    assert sum(value[0] for value in data["self"]) == 3
    assert all(parent < i for i, parent in enumerate(data["parent"]) if i)
    inlined = [data["strings"][data["functions"][f][0]] for f, i in zip(data["func"], data["inlined"]) if i]
    assert inlined == ["inner"]
    files = {data["strings"][file]: (own, total) for file, own, total in data["files"]}
    assert files["/src/main.cc"] == ([3], [3])
    assert [12, [0], [2]] in [line[1:] for line in data["lines"]]  # the call of inner


def test_calls_as_heavy_as_their_caller(callsign, tmp_path):
    """A caller is kept with what is below it, whatever it weighs itself."""
    (tmp_path / "in.folded").write_text("main 2\nmain;inner 2\nother;last 5\n")
    callsign.good("profile", tmp_path / "in.folded", "-o", tmp_path / "out.html", "--no-search")
    data = data_of(tmp_path / "out.html")
    names = [data["strings"][data["functions"][f][0]] for f in data["func"]]
    chains = {(names[i], names[data["parent"][i]], data["self"][i][0]) for i in range(1, len(names))}
    assert chains == {("main", names[0], 2), ("inner", "main", 2), ("other", names[0], 0), ("last", "other", 5)}


def test_sizes_beyond_64_bits(callsign, tmp_path):
    """Four calls of 2^62 are 0 in 64 bits: their caller was left out, and they had no parent."""
    (tmp_path / "in.folded").write_text("".join(f"main;f{i} {1 << 62}\n" for i in range(4)) + f"last {-1 << 63}\nlast;end {-1 << 63}\n")
    callsign.good("profile", tmp_path / "in.folded", "-o", tmp_path / "out.html", "--no-search")
    data = data_of(tmp_path / "out.html")
    names = [data["strings"][data["functions"][f][0]] for f in data["func"]]
    assert all(parent < i for i, parent in enumerate(data["parent"]) if i)
    chains = {(names[i], names[data["parent"][i]]) for i in range(1, len(names))}
    assert chains == {(f"f{i}", "main") for i in range(4)} | {("main", names[0]), ("last", names[0]), ("end", "last")}


@pytest.mark.parametrize("count, sizes, left_out", [(99999, 1, 0), (100000, 1, 1), (100001, 1, 2), (120000, 3, 20001)])
def test_the_smallest_calls_are_left_out(callsign, tmp_path, count, sizes, left_out):
    """Of calls of one size, all were left out if there was one too many. main is a call, too."""
    (tmp_path / "in.folded").write_text("".join(f"main;f{i} {1 + i % sizes}\n" for i in range(count)))
    callsign.good("profile", tmp_path / "in.folded", "-o", tmp_path / "out.html", "--no-search", "-q")
    data = data_of(tmp_path / "out.html")
    assert len(data["parent"]) - 1 == count + 1 - left_out and data["left_out"] == left_out
    assert all(parent < i for i, parent in enumerate(data["parent"]) if i)
    names = [data["strings"][data["functions"][f][0]] for f in data["func"]]
    ranked = sorted(range(count), key=lambda i: (-(i % sizes), i))[:count - left_out]
    assert set(names[1:]) == {"main"} | {f"f{i}" for i in ranked}
    assert sum(value[0] for value in data["self"]) == sum(1 + i % sizes for i in range(count))


@pytest.mark.parametrize("count, kept", [(20000, 20000), (20001, 20000), (25000, 20000)])
def test_the_smallest_lines_are_left_out(callsign, tmp_path, count, kept):
    """Lines of one size were all left out, and not counted."""
    strings = ["", "samples", "count", "f", "/src/f.c"]
    data = message((1, message((1, 1), (2, 2))))
    for i in range(1, count + 1):
        data += message((2, message((1, packed([i])), (2, packed([1 + (i == count)])))))
        data += message((4, message((1, i), (4, message((1, 1), (2, i))))))
    data += message((5, message((1, 1), (2, 3), (4, 4)))) + b"".join(message((6, text)) for text in strings)
    (tmp_path / "in.pb").write_bytes(data)
    callsign.good("profile", tmp_path / "in.pb", "-o", tmp_path / "out.html", "--no-search", "-q")
    page_data = data_of(tmp_path / "out.html")
    lines = [line[1] for line in page_data["lines"]]
    assert lines == list(range(1, kept + 1 if kept == count else kept)) + ([] if kept == count else [count])
    assert page_data["lines_left_out"] == count - kept and page_data["left_out"] == 0
    assert [(own, total) for _, own, total in page_data["files"]] == [([count + 1], [count + 1])]


@pytest.mark.parametrize("unit, shown", [("ns", "nanoseconds"), ("B", "bytes"), ("ms", "ms"), ("count", "count"), ("widgets", "widgets")])
def test_units(callsign, tmp_path, unit, shown):
    """The page shows large times and sizes as ms and MiB: also of "ns"."""
    (tmp_path / "in.pb").write_bytes(pprof([([0x1000], [7])], [], types=(("value", unit),)))
    callsign.good("profile", tmp_path / "in.pb", "-o", tmp_path / "out.html", "--no-search", "-q")
    assert data_of(tmp_path / "out.html")["unit"] == shown


def rows(page, table):  # noqa: F811
    return page.eval(f"[...document.querySelectorAll('#{table} tbody tr')].map(r => [...r.cells].map(c => c.textContent))")


def frames(page):  # noqa: F811
    return page.eval("[...document.querySelectorAll('.frame')].map(f => [f.textContent, f.className, f.offsetTop / 17])")


def click(page, name):  # noqa: F811
    x, y = page.eval(f"(() => {{ const b = [...document.querySelectorAll('.frame')].find(f => f.textContent === '{name}').getBoundingClientRect();"
                     "return [b.left + b.width / 2, b.top + b.height / 2]; })()")
    page.click(x, y)


def test_flame_graph(page, pages):  # noqa: F811
    page.open(pages / "one.html")
    assert page.complaints() == [] and len(page.requests()) == 1
    assert page.eval("document.title") == SCRIPT and page.eval("document.querySelector('#broken')") is None
    drawn = {name: (kind, depth) for name, kind, depth in frames(page)}
    assert drawn["inner"] == ("frame inlined", 3) and drawn["outer"][1] == 2 and drawn["all"][1] == 0
    assert rows(page, "top")[0][:3] == ["2 66.67%", "2 66.67%", "inner"]
    click(page, "outer")
    assert "main" in [name for name, kind, _ in frames(page) if "outside" in kind]
    assert "square" not in [name for name, _, _ in frames(page)]
    assert page.eval("document.getElementById('hint').textContent").startswith("outer: 2 (66.67%), self 0")
    page.eval("document.getElementById('reset').click()")
    assert "square" in [name for name, _, _ in frames(page)]


def test_search(page, pages):  # noqa: F811
    page.open(pages / "one.html")
    page.eval("(s => { s.value = 'INN'; s.oninput(); })(document.getElementById('search'))")
    assert [name for name, kind, _ in frames(page) if "found" in kind] == ["inner"]
    assert page.eval("document.getElementById('matches').textContent") == "found: 2 (66.67%)"
    assert [row[2] for row in rows(page, "top")] == ["inner"]
    page.eval("(s => { s.value = '/^(square|outer)$/'; s.oninput(); })(document.getElementById('search'))")
    assert sorted(name for name, kind, _ in frames(page) if "found" in kind) == ["outer", "square"]
    assert page.complaints() == []


def test_heat(page, pages):  # noqa: F811
    page.open(pages / "one.html")
    assert rows(page, "heat")[0][0] == "/src/main.cc"
    page.eval("document.querySelector('#heat tr.file').click()")
    assert "line 12" in [row[0] for row in rows(page, "heat")]
    page.eval("document.querySelector('#heat tr.file').click()")
    assert "line 12" not in [row[0] for row in rows(page, "heat")]


def test_difference(page, pages):  # noqa: F811
    """Two inputs are compared: what the second has more than the first."""
    page.open(pages / "two.html")
    assert page.complaints() == []
    assert page.eval("document.getElementById('view').selectedOptions[0].textContent").endswith("before.perf")
    top = {row[2]: row[0] for row in rows(page, "top")}
    assert top["square"].startswith("+3 ") and top["inner"].startswith("0 ") and top[SCRIPT].startswith("+2 ")
    assert page.eval("[...document.getElementById('view').options].length") == 5
    page.eval("(v => { v.value = 1; v.onchange(); })(document.getElementById('view'))")
    assert rows(page, "top")[0][:3] == ["2 66.67%", "2 66.67%", "inner"]


def test_negative_values(page, callsign, tmp_path):  # noqa: F811
    """A difference in one input: callers whose calls add up to nothing were not drawn, and shares were of the sum."""
    (tmp_path / "in.folded").write_text("main;grew 1000\nmain;shrank -1000\nother 10\n")
    callsign.good("profile", tmp_path / "in.folded", "-o", tmp_path / "out.html", "--no-search", "-q")
    page.open(tmp_path / "out.html")
    assert page.complaints() == []
    widths = dict(page.eval("[...document.querySelectorAll('.frame')].map(f => [f.title.split(':')[0], f.offsetWidth])"))
    assert set(widths) == {"all", "main", "grew", "shrank", "other"}
    assert abs(widths["grew"] - widths["shrank"]) <= 1 and widths["main"] >= 0.99 * widths["all"] and widths["grew"] >= 0.49 * widths["all"]
    colors = dict(page.eval("[...document.querySelectorAll('.frame')].map(f => [f.title.split(':')[0], f.style.backgroundColor])"))
    red = {name: (lambda rgb: rgb[0] > rgb[2])([int(n) for n in re.findall(r"\d+", color)]) for name, color in colors.items()}
    assert red["grew"] and red["other"] and not red["shrank"]
    top = {row[2]: row[:2] for row in rows(page, "top")}
    assert top["grew"] == ["+1,000 49.75%"] * 2 and top["shrank"] == ["-1,000 -49.75%"] * 2 and top["other"] == ["+10 0.50%"] * 2
    assert top["main"] == ["0 0.00%"] * 2
    click(page, "main")
    assert {name for name, kind, _ in frames(page) if "outside" not in kind} == {"main", "grew", "shrank"}
