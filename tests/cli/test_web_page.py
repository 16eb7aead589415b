"""The page in Chromium, as static files and from `callsign serve`: every view, by mouse and keyboard, and nothing asked from
anywhere else."""
import base64
import json
import time

import pytest

import chromium
import gsym_make
import range_server
from chromium import TIMEOUT
from programs import build_for_node, build_id
from test_serve import Server

pytestmark = [pytest.mark.web, pytest.mark.plain_build]

TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm"}


@pytest.fixture(scope="module")
def folder():
    return build_for_node("build-web", "web")


@pytest.fixture(scope="module")
def files(folder):
    return {"/" + path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def server(files):
    with range_server.serving({"/": files["/index.html"], **files}) as server:
        server.types = TYPES
        yield server


page = chromium.page


class Site:
    """The page on that server. What tests wait for has a limit; a message of the page or an error ends it."""

    def __init__(self, page, server):
        self.page, self.server = page, server
        page.events.clear()
        page.call("Page.navigate", url=server.url("/"))
        page.wait_for("Page.loadEventFired")
        self.until("document.documentElement.dataset.ready")

    def until(self, expression):
        deadline = time.monotonic() + TIMEOUT
        while not (value := self.page.eval(expression)):
            assert time.monotonic() < deadline, (expression, self.text("status"), self.page.complaints())
            time.sleep(0.05)
        return value

    def text(self, name):
        return self.page.eval(f"document.getElementById('{name}').textContent")

    def drop(self, **contents):
        """Drops files on the page, as the mouse would."""
        files = ",".join(f"new File([Uint8Array.from(atob('{base64.b64encode(data).decode()}'), c => c.charCodeAt(0))], {json.dumps(name)})"
                         for name, data in contents.items())
        self.page.eval(f"(() => {{ const data = new DataTransfer(); for (const f of [{files}]) data.items.add(f);"
                       "document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); })()")

    def paste(self, log):
        self.page.eval(f"document.getElementById('log').value = {json.dumps(log)}")
        self.page.eval("document.getElementById('run').click()")

    def open_files(self, *paths):
        """Chooses them with the button "Open files"."""
        root = self.page.call("DOM.getDocument")["root"]["nodeId"]
        node = self.page.call("DOM.querySelector", nodeId=root, selector="#files")["nodeId"]
        self.page.call("DOM.setFileInputFiles", files=[str(path) for path in paths], nodeId=node)

    def click_on(self, selector, at=0):
        box = self.page.eval(f"(() => {{ const r = document.querySelectorAll('{selector}')[{at}].getBoundingClientRect(); return [r.x + 3, r.y + 3] }})()")
        self.page.click(*box)

    def tab(self, name):
        x, y = self.page.eval(f"(() => {{ const r = document.getElementById('tab-{name}').getBoundingClientRect(); return [r.x + 5, r.y + 5] }})()")
        self.page.click(x, y)
        self.until(f"!document.getElementById('view-{name}').hidden")


class SymbolServer:
    """What Site needs to know of a server."""

    def __init__(self, server):
        self.server = server

    def url(self, path):
        return self.server.url.rstrip("/") + path


@pytest.fixture
def symbol_server(callsign, folder, shapes, tmp_path):
    """`callsign serve` with the page, over a store that has the program."""
    if "no server" in callsign.good("--version"):
        pytest.skip("built without the server's libraries")
    callsign.good("store", "add", "--quiet", "--store", tmp_path / "store", shapes.path)
    with Server(callsign, tmp_path / "store", "--log-level", "none", "--web", folder) as server:
        yield SymbolServer(server)


from_both = pytest.mark.parametrize("site", ["static", "serve"], indirect=True)


@pytest.fixture
def site(request, page):
    """Of static files, or of `callsign serve` where a test is from_both."""
    server = request.getfixturevalue("symbol_server" if getattr(request, "param", "static") == "serve" else "server")
    site = Site(page, server)
    yield site
    # What is not beside the page is 404, which the browser logs.
    complaints = [event for event in page.complaints() if event["params"].get("entry", {}).get("source") != "network"]
    assert not complaints, complaints
    assert all(url.startswith((server.url("/"), "data:")) for url in page.requests())


@pytest.fixture(scope="module")
def index(callsign, tmp_path_factory, shapes):
    path = tmp_path_factory.mktemp("page") / "shapes.gsym"
    callsign.good("convert", shapes.path, "-o", path, "--quiet")
    return path


@pytest.fixture
def log(shapes):
    return "program died\n" + "".join(f"./shapes(+{shapes.mark(name) + 1:#x})[0x55500000{shapes.mark(name):04x}]\n" for name in ("square", "hidden")) + \
        "/lib/libmissing.so(+0x1234)[0x7f0000001234]\n"


def in_place(callsign, index, log):
    return callsign.run("stack", "--in-place", "--demangle", "--no-search", "--index", index, stdin=log).stdout


@from_both
def test_files_of_the_button(callsign, site, index, log, tmp_path):
    (tmp_path / "crash.log").write_text(log)
    site.open_files(index, tmp_path / "crash.log")
    site.until("!document.getElementById('named').hidden")
    assert site.text("named").rstrip("\n") == in_place(callsign, index, log).rstrip("\n")


def test_pasting_names_at_once(callsign, site, index, log):
    """Without a button; Ctrl+Enter does it again."""
    site.drop(**{"shapes.gsym": index.read_bytes()})
    site.until("document.querySelectorAll('.index').length == 1")
    site.page.eval(f"(() => {{ const log = document.getElementById('log'); log.value = {json.dumps(log)}; log.focus();"
                   "log.dispatchEvent(new ClipboardEvent('paste', {bubbles: true})); })()")
    site.until("!document.getElementById('named').hidden")
    assert site.text("named").rstrip("\n") == in_place(callsign, index, log).rstrip("\n")
    more = log.replace("program died", "program died again")
    site.page.eval(f"document.getElementById('log').value = {json.dumps(more)}")
    for kind in ("keyDown", "keyUp"):
        site.page.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, modifiers=2)
    site.until("document.getElementById('named').textContent.includes('died again')")
    assert site.text("named").rstrip("\n") == in_place(callsign, index, more).rstrip("\n")


def test_an_index_is_taken_away(site, index, log):
    site.drop(**{"shapes.gsym": index.read_bytes()})
    site.until("document.querySelectorAll('.index').length == 1")
    site.paste(log)
    site.until("document.getElementById('named').textContent.includes('square')")
    site.click_on(".index button")
    assert site.page.eval("document.querySelectorAll('.index').length") == 0
    site.paste(log)
    site.until("!document.getElementById('named').textContent.includes('square')")
    assert "there is no index for the module" in site.text("stacks")


def test_names_as_the_linker_has_them(site, tmp_path):
    gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 0x40, "name": "_ZN4area5widthEv", "line": 5}])
    site.drop(**{"app.gsym": (tmp_path / "app.gsym").read_bytes()})
    site.until("document.querySelectorAll('.index').length == 1")
    log = "./app(+0x1004)[0x555000001004]\n"
    site.paste(log)
    site.until("document.getElementById('named').textContent.includes('area::width()')")
    site.click_on("#demangle")
    site.paste(log)
    site.until("document.getElementById('named').textContent.includes('_ZN4area5widthEv')")


def test_what_goes_wrong_is_shown(site):
    site.tab("index")
    site.page.eval("document.getElementById('lookup').click()")
    site.until("document.getElementById('status').textContent == 'drop an index first'")
    site.tab("diff")
    site.page.eval("document.getElementById('compare').click()")
    site.until("document.getElementById('status').textContent == 'drop two indexes first'")
    site.drop(**{"profile.pb": b"\x00\x01\x02 no profile"})
    site.until("!['', 'working ...', 'drop two indexes first'].includes(document.getElementById('status').textContent)")
    assert site.text("status").startswith("profile.pb: ")


@from_both
def test_a_log_gets_its_names_in_place(callsign, site, index, log):
    site.drop(**{"shapes.gsym": index.read_bytes()})
    site.until("document.querySelectorAll('.index').length == 1")
    site.paste(log)
    site.until("!document.getElementById('named').hidden")
    want = in_place(callsign, index, log)
    assert site.text("named").rstrip("\n") == want.rstrip("\n") and "square" in want
    assert site.page.eval("document.querySelectorAll('#named .filled').length") >= 2
    # Each frame that has no name has the reason beside it.
    assert "there is no index for the module (/lib/libmissing.so)" in site.text("stacks")
    assert "inlined" in site.text("stacks")
    assert "1 stacks, 3 frames" in site.text("status")


@from_both
def test_a_dropped_log_and_a_program_at_once(callsign, site, index, log, shapes):
    site.drop(**{"shapes": shapes.path.read_bytes(), "crash.log": log.encode()})
    site.until("!document.getElementById('named').hidden")
    assert site.text("named").rstrip("\n") == in_place(callsign, index, log).rstrip("\n")


@pytest.mark.parametrize("layout", [".build-id", "name", "buildid"])
def test_indexes_beside_the_page(callsign, site, server, index, log, shapes, layout):
    number = build_id(shapes.path)
    place = {".build-id": f"/.build-id/{number[:2]}/{number[2:]}.gsym", "name": "/shapes.gsym", "buildid": f"/buildid/{number}/gsym"}[layout]
    server.files[place] = index.read_bytes()
    if layout != "name":  # the log has to name the build id
        log = f"    #0 {shapes.mark('square'):#x}  (/x/shapes+{shapes.mark('square'):#x}) (BuildId: {number})\n"
    site.paste(log)
    site.until("!document.getElementById('named').hidden")
    assert "square" in site.text("named"), (site.text("named"), [r[1] for r in server.requests])
    assert any(path == place for _, path, _ in server.requests)


@pytest.mark.parametrize("site", ["serve"], indirect=True)
def test_indexes_of_the_symbol_server(site, shapes):
    """It converts what its store has; the log names the build id."""
    number = build_id(shapes.path)
    site.paste(f"    #0 {shapes.mark('square'):#x}  (/x/shapes+{shapes.mark('square'):#x}) (BuildId: {number})\n")
    site.until("!document.getElementById('named').hidden")
    assert "square" in site.text("named"), site.text("named")
    assert any(number[2:] in url for url in site.page.requests())


def test_a_page_in_place_of_an_index_is_ignored(site, server, log):
    server.files["/shapes.gsym"] = b"<!DOCTYPE html><html>not found</html>"
    site.paste(log)
    site.until("!document.getElementById('named').hidden")
    assert site.text("named").rstrip("\n") == log.rstrip("\n")


@from_both
def test_folded_stacks_become_a_flame_graph(site):
    site.drop(**{"out.folded": b"main;work;inner 30\nmain;work 10\nmain;idle 60\n"})
    site.until("document.querySelectorAll('.flame').length == 5")
    assert site.text("flame-note").startswith("100 samples")
    widths = site.page.eval("Object.fromEntries([...document.querySelectorAll('.flame')].map(b => [b.textContent, parseFloat(b.style.width)]))")
    assert widths == {"all": 100, "main": 100, "work": 40, "inner": 30, "idle": 60}
    # The keyboard: to a frame, into it, and back.
    site.page.eval("document.querySelector('.flame').focus()")
    site.page.key("ArrowRight")
    site.page.key("ArrowRight")
    assert site.page.eval("document.activeElement.textContent") == "idle"
    site.page.key("Enter", "\r")
    site.until("document.querySelectorAll('.flame').length == 1")
    site.page.key("Escape")
    site.until("document.querySelectorAll('.flame').length == 5")


def test_folded_stacks_of_one_function(site):
    """Such lines have no ';'. Counts may be weights with decimals."""
    site.drop(**{"out.folded": b"main;work 30\nmain 9.5\nswapper 0.5\n"})
    site.until("document.querySelectorAll('.flame').length == 4")
    assert site.text("flame-note").startswith("40 samples")


def test_profiles_that_are_text(site):
    site.drop(**{"heap": b"heap profile: 2: 20 [2: 20] @ heapprofile\n 2: 20 [2: 20] @ 0x10 0x20\n"})
    site.until("document.querySelectorAll('.flame').length == 3")


def test_files_with_symbols_are_no_logs(site, shapes, callsign, tmp_path):
    callsign.good("convert", "--quiet", "--to", "breakpad", shapes.path, "-o", tmp_path / "shapes.sym")
    program = b"\0asm\1\0\0\0"
    site.drop(**{"shapes.sym": (tmp_path / "shapes.sym").read_bytes(), "app.wasm": program, "lib.a": b"!<arch>\n",
                 "app.pdb": b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0"})
    site.until("document.querySelectorAll('.index').length == 4")
    assert site.page.eval("document.getElementById('log').value") == ""


def test_flame_graph_by_mouse(site):
    site.drop(**{"out.folded": b"main;work;inner 30\nmain;work 10\nmain;idle 60\n"})
    site.until("document.querySelectorAll('.flame').length == 5")
    work = site.page.eval("[...document.querySelectorAll('.flame')].findIndex(box => box.textContent == 'work')")
    assert "work: 40 samples, 40.0 %" in site.page.eval(f"document.querySelectorAll('.flame')[{work}].title")
    site.click_on(".flame", work)
    site.until("document.querySelectorAll('.flame').length == 2")
    assert site.text("flame-note") == "100 samples, 40 of them in work; Escape goes back"


@from_both
def test_stacks_of_a_log_become_a_flame_graph(site, index, log):
    site.drop(**{"shapes.gsym": index.read_bytes(), "crash.log": log.encode()})
    site.until("!document.getElementById('named').hidden")
    site.tab("flame")
    shown = site.page.eval("[...document.querySelectorAll('.flame')].map(box => box.textContent)")
    assert "square" in shown and any("libmissing.so" in name for name in shown)


@from_both
def test_a_profile_becomes_a_flame_graph(callsign, site, tmp_path):
    (tmp_path / "x.folded").write_text("main;work;inner 30\nmain;work 10\nmain;idle 60\n")
    callsign.good("profile", tmp_path / "x.folded", "--to", "pprof", "-o", tmp_path / "x.pb.gz", "--no-search")
    site.drop(**{"x.pb.gz": (tmp_path / "x.pb.gz").read_bytes()})
    site.until("document.querySelectorAll('.flame').length == 5")
    assert site.text("flame-note").startswith("100 samples") and not site.page.eval("document.getElementById('view-flame').hidden")


@from_both
def test_treemap_and_address_of_an_index(callsign, site, index, shapes):
    site.drop(**{"shapes.gsym": index.read_bytes()})
    site.until("document.querySelectorAll('.index').length == 1")
    site.tab("index")
    site.until("document.querySelectorAll('#treemap svg').length == 2")
    stats = json.loads(callsign.good("stats", "--json", index))
    shown = site.page.eval("[...document.querySelectorAll('#treemap svg:nth-of-type(1) title')].map(t => t.textContent)")
    for part in stats["parts"]:
        assert (f"{part['name']}: {part['bytes']} bytes" in shown) == (part["bytes"] > 0)
    # Areas are as the bytes are.
    areas = site.page.eval("[...document.querySelectorAll('#treemap svg')[0].querySelectorAll('rect')].map(r => "
                           "r.width.baseVal.value * r.height.baseVal.value / parseInt(/: (\\d+)/.exec(r.textContent)[1]))")
    assert max(areas) / min(areas) < 1.01
    site.page.eval(f"document.getElementById('address').value = '{shapes.mark('square'):#x}'")
    site.page.eval("document.getElementById('lookup').click()")
    site.until("!document.getElementById('answer').hidden")
    assert site.text("answer") == callsign.good("lookup", "--merged", "--demangle", index, f"{shapes.mark('square'):#x}")


@from_both
def test_difference_of_two_indexes(callsign, site, index, classes, tmp_path):
    callsign.good("convert", classes.path, "-o", tmp_path / "classes.gsym", "--quiet")
    site.drop(**{"shapes.gsym": index.read_bytes(), "classes.gsym": (tmp_path / "classes.gsym").read_bytes()})
    site.until("document.querySelectorAll('.index').length == 2")
    site.tab("diff")
    site.page.eval("document.getElementById('compare').click()")
    site.until("document.querySelectorAll('#difference details').length == 3")
    assert "The indexes differ." in site.text("difference") and "outer" in site.text("difference")
    site.page.eval("document.getElementById('diff-b').value = document.getElementById('diff-a').value")
    site.page.eval("document.getElementById('compare').click()")
    site.until("document.getElementById('difference').textContent.includes('The indexes mean the same.')")


def test_one_of_two_indexes_is_chosen(callsign, site, index, classes, shapes, tmp_path):
    """The treemap and Enter in the address are of the one that the list shows."""
    callsign.good("convert", classes.path, "-o", tmp_path / "classes.gsym", "--quiet")
    site.drop(**{"classes.gsym": (tmp_path / "classes.gsym").read_bytes(), "shapes.gsym": index.read_bytes()})
    site.until("document.querySelectorAll('.index').length == 2")
    site.tab("index")
    for name, path in (("classes.gsym", tmp_path / "classes.gsym"), ("shapes.gsym", index)):
        site.page.eval(f"(() => {{ const list = document.getElementById('index-choice'); list.value = '{name}';"
                       "list.dispatchEvent(new Event('change')); })()")
        site.until(f"document.getElementById('treemap').textContent.includes('{path.stat().st_size} bytes')")
    site.page.eval(f"(() => {{ const address = document.getElementById('address'); address.value = '{shapes.mark('square'):#x}'; address.focus(); }})()")
    site.page.key("Enter", "\r")
    site.until("!document.getElementById('answer').hidden")
    assert site.text("answer") == callsign.good("lookup", "--merged", "--demangle", index, f"{shapes.mark('square'):#x}")


@from_both
def test_tabs_by_keyboard_and_dark_mode(site):
    site.page.eval("document.getElementById('tab-stack').focus()")
    site.page.key("ArrowRight")
    assert site.page.eval("document.activeElement.id") == "tab-flame" and not site.page.eval("document.getElementById('view-flame').hidden")
    site.page.key("ArrowLeft")
    light = site.page.eval("getComputedStyle(document.body).backgroundColor")
    site.page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert site.page.eval("getComputedStyle(document.body).backgroundColor") != light
    site.page.call("Emulation.setEmulatedMedia", features=[])


def test_what_a_log_contains_is_text(site):
    site.paste("<img src=x onerror=alert(1)>\n#0 0x1139 in <script>alert(2)</script> (/x/<b>app</b>+0x1139)\n")
    site.until("!document.getElementById('named').hidden")
    assert site.page.eval("document.querySelectorAll('#named img, #named script, #stacks script, #stacks b').length") == 0


@from_both
def test_merged_functions_with_the_deciding_call_site(site, tmp_path):
    gsym_make.write(tmp_path / "app.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "area", "line": 5, "merged": [{"name": "square", "line": 9}]},
        {"start": 0x2000, "size": 0x40, "name": "main", "line": 20, "sites": [(0x10, gsym_make.INTERNAL, ["^square$"])]}])
    site.drop(**{"app.gsym": (tmp_path / "app.gsym").read_bytes()})
    site.until("document.querySelectorAll('.index').length == 1")
    site.paste("./app(+0x1004)[0x555000001004]\n./app(+0x2010)[0x555000002010]\n")
    site.until("document.querySelector('.merged') !== null")
    merged = site.page.eval("document.querySelector('.merged').textContent")
    assert merged == "one of area, square: decided by the call site of frame 1, pattern ^square$"
    assert site.page.eval("document.querySelector('.merged strong').textContent") == "square"
    site.paste("./app(+0x1004)[0x555000001004]\n")
    site.until("/nothing in the stack decides/.test(document.getElementById('stacks').textContent)")
