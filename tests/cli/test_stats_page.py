"""The page of 'callsign stats --html', used as a person would: with a mouse, with keys alone, and without a network."""
import json
import subprocess

import programs
from gsym_bytes import Bytes
from chromium import page  # noqa: F401  a fixture

EVIL = '</script><script>window.broken = 1</script><img src=x onerror="window.broken = 1">&"\''
PLACEHOLDER = "f" * len(EVIL)
TILES = "Array.from(document.querySelectorAll('#map .tile'))"


def build(callsign, gcc, tmp_path):
    """Two folders, three files; a function with a hostile name."""
    sources = []
    for name, functions in (("one/a.c", 30), ("one/b.c", 5), ("two/deep/<i>c&amp;.c", 3)):
        source = tmp_path / "src" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"int f{functions}_{i}(int a) {{\n    a += {i};\n    return a * {i};\n}}\n"
                       for i in range(functions))
        sources.append(source)
        source.write_text(text)
    main = tmp_path / "src" / "one" / "main.c"
    main.write_text(f"int {PLACEHOLDER}(void) {{\n    return 1;\n}}\n"
                    f"int main(void) {{\n    return {PLACEHOLDER}();\n}}\n")
    programs.compile_files(gcc, tmp_path / "app", sources + [main], ["-g"])
    callsign.good("convert", "-q", tmp_path / "app")
    data = Bytes(tmp_path / "app.gsym")
    data.rename(PLACEHOLDER, EVIL)
    data.save()
    callsign.good("stats", data.path, "--html", tmp_path / "app.html")
    return tmp_path / "app.html"


def labels(page):
    return page.eval(TILES + ".map(t => t.getAttribute('aria-label'))")


def names(page):
    return [label.rsplit(": ", 1)[0] for label in labels(page)]


def crumbs(page):
    return page.eval("Array.from(document.querySelectorAll('#path button')).map(b => b.textContent)")


def click_tile(page, name):
    box = page.eval(TILES + f".filter(t => t.getAttribute('aria-label').startsWith({json.dumps(name + ': ')}))"
                    ".map(t => { const r = t.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })")
    assert len(box) == 1, (name, labels(page))
    page.click(*box[0])


def focused(page):
    return page.eval("document.activeElement.getAttribute('aria-label')")


def test_the_page(callsign, gcc, tmp_path, page):  # noqa: F811
    html = build(callsign, gcc, tmp_path)
    page.open(html)

    # The whole file, then folders, then files, then functions: with the mouse.
    assert crumbs(page) == [str(tmp_path / "app.gsym")]
    assert {"functions", "strings", "header", "address table"} <= set(names(page))
    assert "line tables" not in names(page)  # they stand within the functions
    click_tile(page, "functions")
    folder = f"{tmp_path}/src/"
    assert set(names(page)) == {folder, "(no file)"}
    click_tile(page, folder)
    assert set(names(page)) == {"one/", "two/deep/"}
    click_tile(page, "one/")
    assert set(names(page)) == {"a.c", "b.c", "main.c"}
    click_tile(page, "main.c")
    assert set(names(page)) == {"main", EVIL}
    assert crumbs(page)[1:] == ["functions", folder, "one/", "main.c"]
    click_tile(page, "main")  # a leaf opens nothing
    assert crumbs(page)[-1] == "main.c"
    assert "function at 0x" in page.eval("document.getElementById('note').textContent")

    # Back by the path above the map.
    box = page.eval("(() => { const r = document.querySelectorAll('#path button')[2].getBoundingClientRect();"
                    " return [r.x + r.width / 2, r.y + r.height / 2]; })()")
    page.click(*box)
    assert set(names(page)) == {"one/", "two/deep/"}

    # The same with keys alone: Enter goes in, arrows walk, Escape goes back to where one was.
    page.eval("document.activeElement.blur()")
    page.key("ArrowRight")
    assert focused(page).startswith("one/: ")  # the largest comes first
    page.key("ArrowRight")
    assert focused(page).startswith("two/deep/: ")
    page.key("Enter", "\r")
    assert names(page) == ["<i>c&amp;.c"]
    assert focused(page).startswith("<i>c&amp;.c: ")
    page.key("Escape")
    assert focused(page).startswith("two/deep/: ")
    page.key("Escape")
    page.key("Escape")
    assert crumbs(page) == [str(tmp_path / "app.gsym")]
    page.key("Escape")
    assert crumbs(page) == [str(tmp_path / "app.gsym")]

    # Tiles fill the map in proportion to their bytes.
    area = page.eval(TILES + ".reduce((sum, t) => sum + t.offsetWidth * t.offsetHeight, 0)")
    whole = page.eval("(() => { const m = document.getElementById('map'); return m.clientWidth * m.clientHeight; })()")
    assert 0.9 < area / whole < 1.1

    # A name never became markup, and nothing was asked of anybody.
    assert page.eval("window.broken") is None
    assert page.eval("document.querySelectorAll('img, i, #data ~ b').length") == 0
    assert page.requests() == [html.resolve().as_uri()]
    assert page.complaints() == []


def test_many_functions_stand_together(callsign, gcc, tmp_path, page):  # noqa: F811
    source = tmp_path / "many.c"
    source.write_text("".join(f"int f{i}(int a) {{ return a + {i}; }}\n" for i in range(400)) +
                      "int main(void) { return 0; }\n")
    programs.compile_files(gcc, tmp_path / "many", [source], ["-g"])
    callsign.good("stats", tmp_path / "many", "--html", tmp_path / "many.html")
    page.open(tmp_path / "many.html")
    click_tile(page, "functions")
    click_tile(page, f"{tmp_path}/")
    click_tile(page, "many.c")
    seen = set()
    while True:
        here = names(page)
        assert 1 <= len(here) <= 150
        seen |= {name for name in here if not name.endswith(" smaller)")}
        more = [name for name in here if name.endswith(" smaller)")]
        if not more:
            break
        click_tile(page, more[0])
    assert seen == {f"f{i}" for i in range(400)} | {"main"}


def test_standard_output_is_written_behind(callsign, shapes_index, tmp_path):
    """A file that standard output goes to was replaced: what others had written was lost."""
    alone, behind = tmp_path / "alone.html", tmp_path / "behind"
    callsign.good("stats", "--html", alone, shapes_index)
    with behind.open("wb") as out:
        out.write(b"before\n")
        out.flush()
        subprocess.run([*callsign.prefix, callsign.path, "stats", "--html", "/dev/stdout", shapes_index], stdout=out, check=True)
    assert behind.read_bytes().startswith(b"before\n" + alone.read_bytes())  # and the text of stats
