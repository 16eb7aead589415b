"""The npm package: in node, every address gives the object that `callsign lookup --json` prints."""
import json
import subprocess

import pytest

import range_server
from programs import build_for_node

pytestmark = [pytest.mark.web, pytest.mark.plain_build]

# Answers a list of addresses from each kind of input; one JSON object a line.
PROGRAM = """
import { open } from "%(package)s/callsign.js";
import { readFileSync, openAsBlob } from "node:fs";
const { how, path, addresses, options, open: openOptions } = JSON.parse(readFileSync(0, "utf8"));
try {
  const input = how === "buffer" ? new Uint8Array(readFileSync(path)).buffer : how === "blob" ? await openAsBlob(path) : path;
  const index = await open(input, openOptions);
  for (const answer of await index.lookupAll(addresses.map(BigInt), options)) console.log(JSON.stringify(answer));
  console.log(JSON.stringify({ info: index.info, requests: index.requests, bytesRead: index.bytesRead }));
  index.close();
  try { await index.lookup(0n); console.log("open"); } catch (error) { console.log(JSON.stringify(error.message)); }
} catch (error) {
  console.log(JSON.stringify({ failed: error.name, message: error.message }));
}
"""


@pytest.fixture(scope="module")
def package():
    return build_for_node("build-npm", "npm")


@pytest.fixture(scope="module")
def run(package, tmp_path_factory):
    script = tmp_path_factory.mktemp("npm") / "run.mjs"
    script.write_text(PROGRAM % {"package": package})

    def run(how, path, addresses=(), options=None, open_options=None):
        request = {"how": how, "path": str(path), "addresses": [hex(a) for a in addresses], "options": options or {},
                   "open": open_options or {}}
        done = subprocess.run(["node", script], input=json.dumps(request), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


@pytest.fixture(scope="module")
def index(callsign, tmp_path_factory, shapes):
    path = tmp_path_factory.mktemp("npm-index") / "shapes.gsym"
    callsign.good("convert", shapes.path, "-o", path, "--quiet")
    return path


@pytest.fixture(scope="module")
def large(callsign, tmp_path_factory):
    """An index of several blocks: 40,000 functions with names of their own, from a list of symbols."""
    folder = tmp_path_factory.mktemp("npm-large")
    lines = ["MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 large", "FILE 0 /src/some/folder/large.c"]
    for i in range(40000):
        lines += [f"FUNC {0x1000 + 32 * i:x} 20 0 function_with_a_long_name_{i * 7919 % 40000}", f"{0x1000 + 32 * i:x} 20 {i % 5000 + 1} 0"]
    (folder / "large.sym").write_text("\n".join(lines) + "\n")
    callsign.good("convert", folder / "large.sym", "-o", folder / "large.gsym", "--quiet")
    assert (folder / "large.gsym").stat().st_size > 20 * 65536
    return folder / "large.gsym"


def expected(callsign, index, addresses, *options):
    done = callsign.run("lookup", "--json", *options, index, stdin="".join(f"{a:#x}\n" for a in addresses))
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def addresses(shapes):
    """Every address of the program's functions, and some outside."""
    lines = subprocess.run(["nm", "--defined-only", shapes.path], capture_output=True, text=True, check=True).stdout.splitlines()
    starts = [int(line.split()[0], 16) for line in lines if line.split()[1] in "Tt"]
    return [*range(min(starts) - 8, max(starts) + 64), 0, 2**64 - 1]


@pytest.mark.parametrize("how", ["buffer", "blob"])
def test_every_address_answers_as_the_command(callsign, run, index, addresses, how):
    *answers, more, closed = run(how, index, addresses)
    assert answers == expected(callsign, index, addresses)
    assert sum(len(answer["frames"]) > 1 for answer in answers) > 3
    assert more["info"]["fileSize"] == index.stat().st_size
    assert closed == "the index is closed"


def test_demangles_and_lists_candidates(callsign, run, classes, tmp_path):
    index = tmp_path / "classes.gsym"
    callsign.good("convert", classes.path, "-o", index, "--quiet", "--merged-functions")
    places = [address + 1 for address in classes.addresses.values()]
    assert run("buffer", index, places, {"merged": True, "demangle": True})[:-2] == \
        expected(callsign, index, places, "--merged", "--demangle")


def test_an_embedded_index(callsign, run, index, shapes, addresses, tmp_path):
    callsign.good("embed", index, shapes.path, "-o", tmp_path / "whole")
    assert run("blob", tmp_path / "whole", addresses[:64])[:-2] == expected(callsign, tmp_path / "whole", addresses[:64])


def test_a_bsym_file(callsign, run, index, addresses, tmp_path):
    callsign.good("convert", index, "-o", tmp_path / "x.bsym", "--to", "bsym", "--quiet")
    assert run("blob", tmp_path / "x.bsym", addresses[:64])[:-2] == expected(callsign, tmp_path / "x.bsym", addresses[:64])


def test_a_url_is_read_in_blocks(callsign, run, large):
    picked = [0x1000 + 32 * i + 3 for i in range(0, 40000, 13331)]
    with range_server.serving({"/large.gsym": large.read_bytes()}) as server:
        *answers, more, _ = run("url", server.url("/large.gsym"), picked[:1])
        assert answers == expected(callsign, large, picked[:1])
        assert more["requests"] == len(server.requests) and more["bytesRead"] == server.bytes_sent
        assert server.bytes_sent < large.stat().st_size / 3
        assert all(wanted.startswith("bytes=") and "," not in wanted for _, _, wanted in server.requests)
        # An address that is asked for again needs nothing.
        again = len(server.requests)
        server.clear()
        assert run("url", server.url("/large.gsym"), picked[:1] * 3)[:-2] == answers * 3
        assert len(server.requests) == again
        assert run("url", server.url("/large.gsym"), picked)[:-2] == expected(callsign, large, picked)


def test_a_server_without_ranges_sends_the_file(callsign, run, index, addresses):
    with range_server.serving({"/x.gsym": index.read_bytes()}) as server:
        server.fault = "no ranges"
        assert run("url", server.url("/x.gsym"), addresses[:8])[:-2] == expected(callsign, index, addresses[:8])
        assert len(server.requests) == 1
        refused, = run("url", server.url("/x.gsym"), addresses[:8], open_options={"ranges": "only"})
        assert refused["message"] == server.url("/x.gsym") + ": the server does not support Range requests"


@pytest.mark.parametrize("fault,message", [
    (404, "HTTP status 404"), (500, "HTTP status 500"), ("html", "is an HTML page, not an index"), ("short", "bytes at 0, need 65536"),
    ("cut", ""), ("etag", "the file changed while it was read"), ("size", "the file changed while it was read"),
    ("other range", "sent bytes 1-65536, need 0-65536"), ("hang", "no answer within 300 ms"), ("hang later", "no answer within 300 ms")])
def test_faults_name_the_url(run, large, fault, message):
    with range_server.serving({"/large.gsym": large.read_bytes()}) as server:
        server.fault = fault
        failed, = run("url", server.url("/large.gsym"), [0x1000 + 32 * 20000], open_options={"timeoutMs": 300 if "hang" in str(fault) else 20000})
        assert failed["failed"] == "CallsignError"
        assert failed["message"].startswith(server.url("/large.gsym") + ": ") and message in failed["message"]


def test_what_is_no_index(run, tmp_path):
    for content in (b"", b"hello, world\n", b"GSYM"):
        (tmp_path / "x").write_bytes(content)
        for how in ("buffer", "blob"):
            failed, = run(how, tmp_path / "x", [1])
            assert failed["failed"] == "CallsignError" and failed["message"]


def test_every_truncation_of_an_index_is_an_error_or_an_answer(run, index, package, tmp_path):
    """No length of the file traps, or reads bytes that are not there."""
    script = tmp_path / "cut.mjs"
    script.write_text(f"""
import {{ open, CallsignError }} from "{package}/callsign.js";
import {{ readFileSync }} from "node:fs";
const bytes = readFileSync("{index}");
let opened = 0;
for (let size = 0; size < bytes.length; size += 7) {{
  try {{
    const index = await open(bytes.subarray(0, size));
    opened++;
    for (let addr = 0x1000n; addr < 0x1200n; addr += 16n) index.lookup(addr);
  }} catch (error) {{ if (!(error instanceof CallsignError) || /unreachable|out of bounds/.test(error.message)) throw error; }}
}}
console.log(opened < bytes.length / 7);
""")
    done = subprocess.run(["node", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "true\n", done.stderr


def test_package_and_types(package):
    manifest = json.loads((package / "package.json").read_text())
    assert manifest["name"] == "callsign" and manifest["type"] == "module"
    for name in (manifest["main"], manifest["types"], *manifest["files"]):
        assert (package / name).is_file(), name
    assert (package / "callsign.wasm").stat().st_size < 600_000  # docs/browser.md
    # Neither the system's calls nor anything else is wanted from outside but what a browser can give.
    listed = subprocess.run(["node", "-e", "console.log(JSON.stringify(WebAssembly.Module.imports(new WebAssembly.Module("
                             "require('fs').readFileSync(process.argv[1]))).map(i => i.module)))", package / "callsign.wasm"],
                            capture_output=True, text=True, check=True).stdout
    assert set(json.loads(listed)) <= {"callsign", "wasi_snapshot_preview1"}
