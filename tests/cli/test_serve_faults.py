"""What goes wrong around a server: clients, disks, upstreams, and its own end."""
import base64
import contextlib
import gzip
import http.client
import http.server
import io
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import tarfile
import threading
import time
import types

import pytest

import kill_uploads
from programs import UNDER_STRACE, need, wait_for
from test_serve import SOURCE, Image, Server, has_server, images, job, server, store  # noqa: F401 (fixtures)

MIB = 1 << 20


def v5_names(server, images):
    shop = images["libshop.so"]
    frame = server.json("POST", "/symbolicate/v5", job(images, [[[0, shop.top]]]))["results"][0]["stacks"][0][0]
    return frame.get("function")


def active_requests(server):
    return int(re.search(r"^callsign_requests_active (\d+)", server.ask("GET", "/metrics")[2].decode(), re.M)[1])


def is_ended(client):
    """Reads to the end; a reset is one."""
    with contextlib.suppress(ConnectionError):
        while client.recv(65536):
            pass
    return True


# ---- threads ----

@pytest.mark.plain_build  # frames are larger there
def test_threads_have_stacks_of_their_own_size(callsign, tmp_path):
    """musl gives a thread 128 KiB, as this limit does here: demangling a name that somebody uploaded ended the server."""
    name, module = "_Z1f" + "P" * 1000 + "i", ["app", "AAAABBBBCCCCDDDDEEEEFFFF000011110"]
    (tmp_path / "app.sym").write_text(f"MODULE Linux x86_64 {module[1]} app\nFUNC 1000 10 0 {name}\n")
    callsign.good("store", "add", "--store", tmp_path / "store", tmp_path / "app.sym")
    limited = tmp_path / "limited"
    limited.write_text(f'#!/bin/sh\nulimit -s 128\nexec "{callsign.path}" "$@"\n')
    limited.chmod(0o755)
    with Server(types.SimpleNamespace(path=limited), tmp_path / "store") as server:
        for _ in range(4):
            answer = server.json("POST", "/symbolicate/v5", {"memoryMap": [module], "stacks": [[[0, 0x1000]]]})
            assert answer["results"][0]["stacks"][0][0]["function"] == "f(int" + "*" * 1000 + ")"


# ---- clients ----

@pytest.mark.parametrize("head", ["POST /symbolicate/v5", "PUT /v1/store/slow"])
def test_clients_that_send_a_byte_at_a_time(callsign, store, images, tmp_path, head):
    """More of them than there are threads: the others are answered, and these are ended though they never pause."""
    (tmp_path / "tokens").write_text("t\n")
    with Server(callsign, store, "--upload-token-file", tmp_path / "tokens", "--set", "idle-timeout=1", "--set", "threads=2",
                "--set", "workers=2") as server, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(8)]
        for client in slow:
            client.settimeout(60)
            client.sendall(f"{head} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nContent-Length: 100000\r\n\r\n".encode())
        ended = 0
        deadline = time.monotonic() + 60
        while slow:
            assert time.monotonic() < deadline
            assert v5_names(server, images) == "top"
            for client in list(slow):
                try:
                    client.sendall(b"{")
                except OSError:
                    slow.remove(client)
                    ended += 1
            time.sleep(0.1)
        assert ended == 8
        wait_for(lambda: active_requests(server) == 1)
        assert list((store / ".callsign" / "incoming").iterdir()) == []


def test_an_upload_over_a_slow_line_is_not_ended(callsign, store, images, tmp_path):
    """It takes longer than the limit, which is twice idle-timeout, but its bytes come."""
    (tmp_path / "tokens").write_text("t\n")
    body = images["app"].path.read_bytes()
    with Server(callsign, store, "--upload-token-file", tmp_path / "tokens", "--set", "idle-timeout=3") as server, \
            socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(60)
        client.sendall(b"PUT /v1/store/app HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nContent-Length: %d\r\n\r\n" % len(body))
        for part in range(14):
            client.sendall(body[len(body) * part // 14:len(body) * (part + 1) // 14])
            time.sleep(0.5)
        assert client.recv(100).startswith(b"HTTP/1.1 201")


HALVES = {"a method": b"PO", "a line": b"POST /symbolicate/v5 HT", "a header": b"POST /symbolicate/v5 HTTP/1.1\r\nContent-Le",
          "a head": b"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n",
          "a body": b"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"jobs\":",
          "a chunk": b"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"jobs\":",
          "a size of a chunk": b"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2",
          "no size": b"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
          "a negative length": b"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}",
          "an upload": b"PUT /v1/store/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer first\r\nContent-Length: 100\r\n\r\n\x7fELF",
          "an answer": b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"}


@pytest.mark.parametrize("end", ["closed", "reset", "shut"])
def test_half_requests(server, store, images, end):
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in HALVES]
        for client, text in zip(clients, HALVES.values()):
            client.settimeout(30)  # less than the server's limits
            client.sendall(text)
            if end == "reset":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            if end == "shut":
                client.shutdown(socket.SHUT_WR)
        assert end != "shut" or all(is_ended(client) for client in clients)
    wait_for(lambda: active_requests(server) == 1)
    assert v5_names(server, images) == "top"
    wait_for(lambda: not list((store / ".callsign" / "incoming").iterdir()))


@pytest.mark.parametrize("head", ["POST /symbolicate/v5", "POST /v1/symbolicate", "PUT /v1/store/x"])
def test_a_body_of_a_gigabyte_is_not_awaited(callsign, store, tmp_path, head):
    (tmp_path / "tokens").write_text("t\n")
    with Server(callsign, store, "--upload-token-file", tmp_path / "tokens", "--set", "max-upload=1M") as server, \
            socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(60)
        client.sendall(f"{head} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nContent-Length: {1 << 30}\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("head", ["POST /symbolicate/v5", "PUT /v1/store/x", "PUT /v1/store/x\r\nAuthorization: Bearer t"])
def test_a_body_without_end(callsign, store, images, tmp_path, head):
    """In chunks: ended by the server after a bounded number of bytes, of which it keeps few."""
    (tmp_path / "tokens").write_text("t\n")
    line, _, header = head.partition("\r\n")
    chunk = b"%x\r\n" % MIB + b" " * MIB + b"\r\n"
    with Server(callsign, store, "--upload-token-file", tmp_path / "tokens", "--set", "max-upload=1M", "--set", "max-body=1M") as server, \
            socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(60)
        client.sendall(f"{line} HTTP/1.1\r\nHost: x\r\n{header + chr(13) + chr(10) if header else ''}Transfer-Encoding: chunked\r\n\r\n".encode())
        with pytest.raises(OSError):
            for _ in range(1024):
                client.sendall(chunk)
        assert v5_names(server, images) == "top"
        wait_for(lambda: active_requests(server) == 1)
        assert sum(path.stat().st_size for path in (store / ".callsign" / "incoming").iterdir()) == 0


@pytest.mark.parametrize("head", ["POST /symbolicate/v5", "PUT /v1/store/x\r\nAuthorization: Bearer t"])
def test_a_body_that_becomes_too_large_is_told(callsign, store, tmp_path, head):
    """In chunks: no header says so before."""
    (tmp_path / "tokens").write_text("t\n")
    line, _, header = head.partition("\r\n")
    head = "\r\n".join([f"{line} HTTP/1.1", "Host: x", *filter(None, [header]), "Transfer-Encoding: chunked", "", ""])
    limits = ("--set", "max-upload=1M", "--set", "max-body=1M")
    with Server(callsign, store, "--upload-token-file", tmp_path / "tokens", *limits) as server, \
            socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(60)
        client.sendall(head.encode() + b"%x\r\n" % (MIB + 1) + b" " * (MIB + 1) + b"\r\n0\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 413")


HEADS = {"a long line": b"GET / HTTP/1.1\r\nX: " + b"a" * (4 * MIB) + b"\r\n\r\n",
         "many lines": b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 500000 + b"\r\n",
         "a long path": b"GET /" + b"a" * (4 * MIB) + b" HTTP/1.1\r\n\r\n",
         "many arguments": b"GET /metadata?" + b"&" * (4 * MIB) + b" HTTP/1.1\r\n\r\n",
         "a folded line": b"GET / HTTP/1.1\r\nX: a\r\n" + b" a\r\n" * MIB + b"\r\n",
         "a trailer": b"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 500000 + b"\r\n",
         "an extension": b"POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;" + b"a" * (4 * MIB) + b"\r\n{}\r\n0\r\n\r\n"}


def test_header_bombs(server, images):
    for name, text in HEADS.items():
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.settimeout(60)
            answer = b""
            with contextlib.suppress(OSError):
                client.sendall(text)
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_WR)
                while part := client.recv(65536):
                    answer += part
            assert not answer or answer.split()[1] in (b"400", b"404", b"413", b"414", b"431"), (name, answer[:100])
    assert v5_names(server, images) == "top"


# ---- paths ----

TREES = ["", "proxy/", "buildid/", "buildid/{id}/", "buildid/{id}/source/", "buildid/{id}/section/", ".build-id/", ".build-id/{head}/", "{head}/{tail}/",
         "libshop.so/{debug}/", "li/libshop.so/{debug}/", "libshop.so/elf-buildid-{id}/", "m/", "m/{id}/", "requests/", "v1/store/", "v1/", "symbols/"]
CLIMBS = ["../", "..%2f", "%2e%2e/", "%2e%2e%2f", "%252e%252e/", "%252e%252e%252f", "..\\", "..%5c", "%2e%2e%5c", "....//", "..;/", ".%00./", "..%00/",
          "%c0%ae%c0%ae/", "./../", "%2f", "//", "x/../../"]


def ask_raw(client, path):
    """As it is: http.client would refuse some of these."""
    client.sendall(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = http.client.HTTPResponse(client, method="GET")
    answer.begin()
    return answer.status, answer.read()


def test_no_path_leads_out_of_the_store(callsign, store, images, tmp_path):
    shop = images["libshop.so"]
    (tmp_path / "secret").write_text("the secret")
    (store / ".callsign" / "secret").write_text("the secret")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "index.html").write_text("page")
    names = {"id": shop.id, "debug": shop.debug_id, "head": shop.id[:2], "tail": shop.id[2:]}
    with Server(callsign, store, "--log-level", "none", "--web", tmp_path / "web", "--set", f"source-root={store}") as server, \
            socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(60)
        for tree in TREES:
            for climb in CLIMBS:
                for times in (1, 6):
                    for target in ("secret", "etc/passwd", "secret%00.sym"):
                        path = "/" + tree.format(**names) + climb * times + target
                        status, body = ask_raw(client, path)
                        # The last part of Breakpad's paths may be any name.
                        assert status in (400, 404, 405, 422) or body[:6] in (b"MODULE", b"\x7fELF\2\1"), (path, status)
                        assert b"the secret" not in body and b"root:" not in body, path


def test_nothing_after_a_nul_is_lost(server, images):
    shop = images["libshop.so"]
    for path in (f"/buildid/{shop.id}/debuginfo%00", f"/buildid/{shop.id}/debuginfo%00/../x", f"/buildid/{shop.id}%00/debuginfo",
                 f"/libshop.so/{shop.debug_id}/libshop.so.sym%00.txt", f"/.build-id/{shop.id[:2]}/{shop.id[2:]}.debug%00"):
        assert server.ask("GET", path)[0] in (400, 404), path
    assert server.ask("GET", f"/buildid/{shop.id}/debuginf%6F")[0] == 200
    assert server.ask("PUT", "/v1/store/a%00b", b"x", Authorization="Bearer first")[0] in (400, 422)


# ---- names ----

def test_names_of_any_bytes(server):
    """JSON is written eight bytes at a time: each special byte at each place among plain ones."""
    specials = [bytes([c]) for c in range(1, 128) if c not in (10, 13)] + ["é".encode(), "漢".encode(), "😀".encode(), b"\x80", b"\xff"]
    names = [b"n" * place + special + b"x" * (17 - place) for special in specials for place in range(1, 17)]
    text = b"MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 names.so\n" + b"".join(b"FUNC %x 10 0 %s\n" % (0x1000 + 16 * i, name) for i, name in enumerate(names))
    assert server.ask("PUT", "/v1/store/names.so.sym", text, Authorization="Bearer first")[0] == 201
    body = {"memoryMap": [["names.so", "00112233445566778899AABBCCDDEEFF0"]], "stacks": [[[0, 0x1000 + 16 * i] for i in range(len(names))]]}
    frames = server.json("POST", "/symbolicate/v5", body)["results"][0]["stacks"][0]
    wanted = [name.decode("utf-8", "replace") for name in names]
    assert [frame.get("function") for frame in frames] == wanted


# ---- disks ----

def check_full_disk(server, images, large):
    """The large file does not fit, and nothing is left of it: a small one fits after it."""
    status, _, body = server.ask("PUT", "/v1/store/large", large, Authorization="Bearer t")
    assert status == 507 and json.loads(body)["error"]
    shop = images["libshop.so"]
    assert server.json("PUT", "/v1/store/libshop.so", shop.path.read_bytes(), status=201, Authorization="Bearer t")["build_id"] == shop.id
    assert server.ask("GET", f"/buildid/{shop.id}/debuginfo")[::2] == (200, shop.path.read_bytes())
    assert server.ask("PUT", "/v1/store/large", large, Authorization="Bearer t")[0] == 507
    assert v5_names(server, images) == "top"


def test_a_limit_on_the_size_of_files(callsign, images, tmp_path):
    (tmp_path / "tokens").write_text("t\n")
    limit = 4 * MIB
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))  # of the server that starts now
    try:
        server = Server(callsign, tmp_path / "s", "--upload-token-file", tmp_path / "tokens")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with server:
        check_full_disk(server, images, images["app"].path.read_bytes() + bytes(limit))
        assert list((tmp_path / "s" / ".callsign" / "incoming").iterdir()) == []
    assert callsign.run("store", "fsck", "--store", tmp_path / "s").returncode == 0


def test_a_full_disk(callsign, images, tmp_path):
    """A file system in memory, which a user namespace may mount without root."""
    (tmp_path / "tokens").write_text("t\n")
    (tmp_path / "disk").mkdir()
    (tmp_path / "callsign").write_text('#!/bin/sh\nexec unshare --user --map-root-user --mount sh -c \'mount -t tmpfs -o size=6m none "$0" || exit 77; exec "$@"\' '
                                       f'{tmp_path}/disk {callsign.path} "$@"\n')
    (tmp_path / "callsign").chmod(0o755)
    probe = subprocess.run([need("unshare"), "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", tmp_path / "disk"], stderr=subprocess.DEVNULL)
    if probe.returncode:
        pytest.skip("no file system can be mounted in a user namespace")

    class Mounted:
        path = str(tmp_path / "callsign")

    (tmp_path / "disk.log").touch()
    with Server(Mounted, tmp_path / "disk", "--upload-token-file", tmp_path / "tokens") as server:
        check_full_disk(server, images, images["app"].path.read_bytes() + bytes(8 * MIB))


@pytest.mark.parametrize("words", [["add"], ["list"], ["fsck", "--json"], ["prune", "--max-bytes", "1"]])
def test_an_output_that_is_full(callsign, store, images, words):
    operands = [images["app"].path] if words == ["add"] else []
    if words[0] == "fsck":
        damaged = next(store.rglob("*.debug"))
        damaged.write_bytes(damaged.read_bytes()[:100])
    with open("/dev/full", "wb") as full:
        done = subprocess.run([callsign.path, "store", *words, "--store", store, *operands], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr.splitlines()[-1] == "callsign: standard output: No space left on device"


class Traced:
    """The command with some of its system calls failing: strace returns an error in their place."""

    def __init__(self, callsign, folder, *inject, only=None):
        self.path = str(folder / "callsign")
        words = [need("strace"), "-D", "-f", "-qq", "-o", "/dev/null", *(["-P", str(only)] if only else []), *(word for rule in inject for word in ("-e", f"inject={rule}"))]
        (folder / "callsign").write_text(f"#!/bin/sh\nASAN_OPTIONS={UNDER_STRACE['ASAN_OPTIONS']} exec " + " ".join(map(str, words)) + f' {callsign.path} "$@"\n')
        (folder / "callsign").chmod(0o755)
        if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL).returncode:
            pytest.skip("strace may not trace here")


def test_a_disk_that_does_not_keep_what_is_written(callsign, images, tmp_path):
    """Each fsync() fails: nothing is stored, and nothing of a part counts as received."""
    (tmp_path / "tokens").write_text("t\n")
    shop, app = images["libshop.so"], images["app"]
    whole, options = shop.path.read_bytes(), ("--upload-token-file", tmp_path / "tokens")
    path, good = f"/v1/store/libshop.so?upload={shop.id}", {"Authorization": "Bearer t"}
    with Server(callsign, tmp_path / "s", *options):
        pass # makes the folders
    with Server(Traced(callsign, tmp_path, "fsync:error=EIO"), tmp_path / "s", *options) as server:
        for put, body, headers in ((f"/v1/store/{app.path.name}", app.path.read_bytes(), {}), (path, whole[:1000], {"Content_Range": f"bytes 0-999/{len(whole)}"})):
            status, got, answer = server.ask("PUT", put, body, **headers, **good)
            assert "Retry-After" in got
            assert status == 503 and "Input/output error" in json.loads(answer)["error"]
            assert list((tmp_path / "s/.callsign").glob("partial/*")) == []
        assert server.ask("GET", f"/buildid/{shop.id}/debuginfo")[0] == server.ask("GET", f"/buildid/{app.id}/debuginfo")[0] == 404
    assert list((tmp_path / "s/.callsign/incoming").iterdir()) == []
    with Server(callsign, tmp_path / "s", *options) as server:
        assert "Range" not in server.ask("PUT", path, Content_Range=f"bytes */{len(whole)}", **good)[1]
        assert server.ask("PUT", path, whole[:1000], Content_Range=f"bytes 0-999/{len(whole)}", **good)[0] == 308
        assert server.ask("PUT", path, whole[1000:], Content_Range=f"bytes 1000-{len(whole) - 1}/{len(whole)}", **good)[0] == 201
        assert server.ask("GET", f"/buildid/{shop.id}/debuginfo")[::2] == (200, whole)
    assert callsign.run("store", "fsck", "--store", tmp_path / "s").returncode == 0


@pytest.mark.parametrize("rules, why", [
    (["openat:error=EIO:when=2+"], "Input/output error"), (["openat:error=EMFILE:when=2+"], "Too many open files"),
    (["openat:error=EIO:when=2+", "access,faccessat,faccessat2:error=EIO"], "Input/output error")])
def test_an_image_that_the_disk_does_not_give(callsign, store, images, tmp_path, rules, why):
    """That is no fault of the image, nor of an upstream: it can be asked for again."""
    shop = images["libshop.so"]
    place = next(path for path in store.rglob("*") if path.is_file() and ".callsign" not in path.parts and path.read_bytes() == shop.path.read_bytes())
    with Server(Traced(callsign, tmp_path, *rules, only=place), store) as server:
        for path in (f"/buildid/{shop.id}/gsym", f"/buildid/{shop.id}/symbolize?addr=0x1060"):
            status, headers, answer = server.ask("GET", path)
            assert status == 503 and "Retry-After" in headers and why in json.loads(answer)["error"], (path, status, answer)
        for method in ("GET", "POST"):
            status, headers, answer = server.ask(method, f"/m/{shop.id}/symbolz", b"0x1060" if method == "POST" else None)
            assert status == 503 and "Retry-After" in headers and why in json.loads(answer)["error"], (method, status, answer)
        status, headers, answer = server.ask("POST", "/v1/symbolicate", json.dumps({"modules": [{"name": "libshop.so", "build_id": shop.id}], "stacks": [[[0, 4192]]]}).encode())
        assert status == 503 and "Retry-After" in headers, (status, answer)
    with Server(callsign, store) as server:
        assert server.ask("GET", f"/buildid/{shop.id}/gsym")[0] == 200


def test_an_index_that_fsck_cannot_open_again(callsign, images, tmp_path):
    """Its second opening fails, after its id and its hash were found to be right."""
    callsign.good("convert", "-q", images["app"].path, "-o", tmp_path / "app.gsym")
    callsign.good("store", "add", "-q", "--store", tmp_path / "s", tmp_path / "app.gsym")
    path = json.loads(callsign.good("store", "list", "--json", "--store", tmp_path / "s"))["path"]
    traced = Traced(callsign, tmp_path, "openat:error=EIO:when=2", only=tmp_path / "s" / path)
    done = subprocess.run([traced.path, "store", "fsck", "--store", tmp_path / "s"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"{path}: Input/output error\n"), done
    callsign.good("store", "fsck", "--store", tmp_path / "s")


def test_an_archive_that_would_fill_the_disk(store, server):
    """A hundred megabytes in half a megabyte."""
    bomb = gzip.compress(b"x" * (100 * MIB), 1)
    status, _, body = server.ask("PUT", "/v1/store/bomb.gz", bomb, Authorization="Bearer first")
    assert status == 422 and b"more than" in body
    assert list((store / ".callsign" / "incoming").iterdir()) == []
    status, _, body = server.ask("PUT", "/v1/store/empty.gz", gzip.compress(bytes(MIB)), Authorization="Bearer first")
    assert status == 422 and b"no files" in body  # the end of a tar file, and nothing before it


def test_an_archive_that_would_fill_the_disk_after_an_image(server, images, tmp_path):
    """What came before is no reason to go on."""
    with tarfile.open(tmp_path / "some.tgz", "w:gz", compresslevel=1) as archive:
        archive.add(images["app"].path, "app")
        bomb = tarfile.TarInfo("x")
        bomb.size = 100 * MIB
        archive.addfile(bomb, io.BytesIO(bytes(bomb.size)))
    status, _, body = server.ask("PUT", "/v1/store/some.tgz", (tmp_path / "some.tgz").read_bytes(), Authorization="Bearer first")
    assert status == 422 and b"more than" in body


def test_the_folder_of_the_store_itself_is_no_name(store, server):
    text = "MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 .callsign\nFUNC 1000 20 0 f\n"
    before = sorted((store / ".callsign").iterdir())
    status, _, body = server.ask("PUT", "/v1/store/.callsign", text, Authorization="Bearer first")
    assert status in (400, 422), body
    assert server.ask("PUT", "/v1/store/other.sym", text, Authorization="Bearer first")[0] in (201, 422)
    assert sorted((store / ".callsign").iterdir()) == before


# ---- upstreams ----

class Upstream(http.server.BaseHTTPRequestHandler):
    """What it does is the attribute `manner` of its server, a function of it."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        with contextlib.suppress(OSError):
            self.server.manner(self)

    def log_message(self, *args):
        pass

    def answer(self, status, body, length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def upstream(manner):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as listening:
        listening.daemon_threads, listening.block_on_close = True, False
        listening.manner, listening.asked = manner, []
        threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True).start()
        yield listening
        listening.shutdown()


def dies(handler, body):
    handler.answer(200, body[:len(body) // 2], length=len(body))
    handler.connection.shutdown(socket.SHUT_RDWR)


def sends_without_end(handler):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    while True:
        handler.wfile.write(b"%x\r\n" % MIB + bytes(MIB) + b"\r\n")


LIES = {
    "a page": (lambda h, images: h.answer(200, b"<!DOCTYPE html><html><title>Sign in</title></html>", Content_Type="text/html"), (404,)),
    "nothing": (lambda h, images: h.answer(200, b""), (404,)),
    "another image": (lambda h, images: h.answer(200, images["libshop.so"].path.read_bytes()), (404,)),
    "half an image": (lambda h, images: h.answer(200, images["app"].path.read_bytes()[:3000]), (404,)),
    "an end half way": (lambda h, images: dies(h, images["app"].path.read_bytes()), (502, 503)),
    "no end": (lambda h, images: sends_without_end(h), (502, 503)),
    "a failure": (lambda h, images: h.answer(500, b"no"), (502, 503)),
    "a file of this machine": (lambda h, images: h.answer(302, b"", Location="file:///etc/passwd"), (502, 503)),
    "a circle": (lambda h, images: h.answer(302, b"", Location=h.path), (502, 503)),
    "no HTTP": (lambda h, images: (h.wfile.write(b"SSH-2.0-x\r\n"), h.connection.shutdown(socket.SHUT_RDWR)), (502, 503)),
}


def test_the_url_of_an_upstream(callsign, images, tmp_path):
    """Its path is asked as it is given. Its password is nowhere else: it was in answers of 502, in the log and in the store. Its query, which may be
    a secret, too, follows the path."""
    app, asked = images["app"], []

    def manner(handler):
        asked.append((handler.path, handler.headers["Authorization"]))
        if "/away/" not in handler.path and "/executable?" in handler.path:
            handler.answer(302, b"", Location=f"/away{handler.path}?signature=s3cret")
        elif "/away/" in handler.path:
            handler.answer(503, b"")
        else:
            handler.answer(200, app.path.read_bytes())

    with upstream(manner) as listening, \
            Server(callsign, tmp_path / "s", "--upstream", f"http://me%40x:s3cret%3A@127.0.0.1:{listening.server_port}/a%20b c/?t=t0ken&u=a b#x") as server:
        status, _, body = server.ask("GET", f"/buildid/{app.id}/executable")
        assert status == 502 and b"/a%20b%20c/buildid/" in body and b"s3cret" not in body and b"t0ken" not in body, body
        assert server.ask("GET", f"/buildid/{app.id}/debuginfo")[0] == 200
    word = "Basic " + base64.b64encode(b"me@x:s3cret:").decode()
    assert asked[0] == (f"/a%20b%20c/buildid/{app.id}/executable?t=t0ken&u=a%20b", word)
    assert asked[-1] == (f"/a%20b%20c/buildid/{app.id}/debuginfo?t=t0ken&u=a%20b", word)
    assert "503" in server.log_path.read_text() and not re.search("s3cret|t0ken", server.log_path.read_text())
    for file in (tmp_path / "s").rglob("*"):
        assert not file.is_file() or not re.search(b"s3cret|t0ken", file.read_bytes()), file


def test_an_upstream_that_fails_at_once_is_asked_again(callsign, images, tmp_path):
    """One that takes seconds to fail is left alone for as long. A short failure during which the clock's second changed counted as one second: the
    upstream was not asked in the next one, for anything."""
    app, asked, requests, until = images["app"], [], 0, time.monotonic() + 2.2

    def manner(handler):
        asked.append(handler.path)
        time.sleep(0.05)
        handler.answer(503, b"")

    with upstream(manner) as listening, Server(callsign, tmp_path / "s", "--upstream", f"http://127.0.0.1:{listening.server_port}") as server:
        while time.monotonic() < until:
            assert server.ask("GET", f"/buildid/{app.id}/executable")[0] == 502
            requests += 1
            assert len(asked) == requests


def test_names_and_ids_in_small_letters_upstream(callsign, images, tmp_path):
    """As the key conventions of SSQP want them, after the way in which symstore writes them; and ids of 20 bytes."""
    app, asked = images["app"], []

    def manner(handler):
        asked.append(handler.path)
        handler.answer(200, app.path.read_bytes()) if handler.path == f"/app/elf-buildid-{app.id}/app" else handler.answer(404, b"")

    with upstream(manner) as listening, Server(callsign, tmp_path / "s", "--upstream", f"http://127.0.0.1:{listening.server_port}") as server:
        assert server.ask("GET", f"/App/elf-buildid-{app.id}/App")[::2] == (200, app.path.read_bytes())
        assert f"/App/elf-buildid-{app.id}/App" in asked
        id = "00112233445566778899AABBCCDDEEFF1"
        for path in (f"/App.Pdb/{id}/App.Pdb", "/App.Dll/5CF2591C6859000/App.Dll"):
            asked.clear()
            assert server.ask("GET", path)[0] == 404
            assert [p for p in asked if p.lower() == path.lower()] == [path, path.lower()], asked
        server.ask("GET", f"/buildid/{id[:32]}/debuginfo")
        assert f"/_.debug/elf-buildid-sym-{id[:32].lower()}00000000/_.debug" in asked


@pytest.mark.parametrize("lie", LIES)
def test_an_upstream_that_lies(callsign, images, tmp_path, lie):
    manner, statuses = LIES[lie]
    app = images["app"]
    with upstream(lambda handler: manner(handler, images)) as listening, \
            Server(callsign, tmp_path / "s", "--upstream", f"http://127.0.0.1:{listening.server_port}", "--set", "max-upload=8M") as server:
        for path in (f"/buildid/{app.id}/debuginfo", f"/buildid/{app.id}/gsym"):
            assert server.ask("GET", path)[0] in statuses
        assert listening.asked
        # What it sent is not kept as what was asked for, and whoever is right is believed later.
        assert not list((tmp_path / "s").glob(f".build-id/{app.id[:2]}/{app.id[2:]}*"))
        assert list((tmp_path / "s" / ".callsign" / "incoming").iterdir()) == []
    with upstream(lambda handler: handler.answer(200, app.path.read_bytes())) as listening, \
            Server(callsign, tmp_path / "s", "--upstream", f"http://127.0.0.1:{listening.server_port}") as server:
        assert server.ask("GET", f"/buildid/{app.id}/debuginfo")[::2] == (200, app.path.read_bytes())


@pytest.fixture
def stuck():
    """An upstream that answers nobody until `release` is called, and what it is asked meanwhile."""
    let_go = threading.Event()

    def hold(handler):
        let_go.wait(120)
        handler.answer(404, b"")

    with upstream(hold) as listening:
        listening.release = let_go.set
        yield listening
        let_go.set()


def asking_in_threads(ask, count):
    threads = [threading.Thread(target=ask, args=(n,)) for n in range(1, count + 1)]
    for thread in threads:
        thread.start()
    return threads


def test_an_upstream_that_hangs_does_not_hold_the_others(callsign, store, images, stuck):
    """Ten times as many requests wait for it as there are workers. What the store has is answered meanwhile; then they are."""
    url = f"http://127.0.0.1:{stuck.server_port}"
    with Server(callsign, store, "--upstream", url, "--set", "fetch-timeout=100", "--set", "workers=2") as server:
        answers = []
        names = v5_names(server, images)
        waiting = asking_in_threads(lambda n: answers.append(server.ask("GET", f"/buildid/{n:040x}/debuginfo")[0]), 20)
        wait_for(lambda: len(stuck.asked) == 20)
        assert server.ask("GET", "/healthz")[0] == 200
        assert v5_names(server, images) == names
        assert server.ask("GET", f"/buildid/{images['app'].id}/debuginfo")[0] == 200
        assert server.ask("GET", f"/buildid/{images['app'].id}/gsym")[0] == 200  # converted now
        assert answers == []
        stuck.release()
        for thread in waiting:
            thread.join(60)
        assert answers == [404] * 20


def test_too_many_wait_for_an_upstream(callsign, store, images, stuck):
    """More than fetch-workers are refused, whether they want the same file or others, and it may be asked again later."""
    url = f"http://127.0.0.1:{stuck.server_port}"
    with Server(callsign, store, "--upstream", url, "--set", "fetch-timeout=100", "--set", "workers=2", "--set", "fetch-workers=3") as server:
        answers = []
        waiting = asking_in_threads(lambda n: answers.append(server.ask("GET", f"/buildid/{n:040x}/debuginfo")[0]), 3)
        wait_for(lambda: len(stuck.asked) == 3)
        assert server.ask("GET", f"/buildid/{1:040x}/debuginfo")[0] == 502
        status, _, body = server.ask("GET", f"/buildid/{99:040x}/debuginfo")
        assert status == 502 and b"fetch-workers" in body
        assert server.ask("GET", f"/buildid/{images['app'].id}/debuginfo")[0] == 200
        assert answers == []
        stuck.release()
        for thread in waiting:
            thread.join(60)
        assert answers == [404] * 3
        assert server.ask("GET", f"/buildid/{99:040x}/debuginfo")[0] == 404


def test_waiting_for_an_upstream_ends_with_the_server(callsign, store, stuck):
    """SIGTERM while requests wait: they are answered before the server ends."""
    url = f"http://127.0.0.1:{stuck.server_port}"
    answers = []
    with Server(callsign, store, "--upstream", url, "--set", "fetch-timeout=100", "--set", "workers=2", "--set", "drain-timeout=60") as server:
        waiting = asking_in_threads(lambda n: answers.append(server.ask("GET", f"/buildid/{n:040x}/debuginfo")[0]), 6)
        wait_for(lambda: len(stuck.asked) == 6)
        server.process.terminate()
        stuck.release()
        for thread in waiting:
            thread.join(60)
        assert server.process.wait(60) == 0
    assert answers == [404] * 6


def test_an_upstream_is_asked_once_for_what_many_want(callsign, images, tmp_path):
    app = images["app"]

    def slowly(handler):
        time.sleep(0.5)
        handler.answer(200, app.path.read_bytes())

    with upstream(slowly) as listening, Server(callsign, tmp_path / "s", "--upstream", f"http://127.0.0.1:{listening.server_port}") as server:
        answers = []
        asking = [threading.Thread(target=lambda: answers.append(server.ask("GET", f"/buildid/{app.id}/debuginfo")[0])) for _ in range(8)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(60)
        assert answers == [200] * 8 and len(listening.asked) == 1


def test_what_a_bucket_is_asked_for_an_image(callsign, images, tmp_path):
    """bench/simulate-store counts on it. By debug id: a path of the tree, a list of the build ids that begin so, the file."""
    shop = images["libshop.so"]
    callsign.good("convert", "-q", shop.path, "-o", tmp_path / "index")
    folder = f".build-id/{shop.id[:2]}/{shop.id[2:]}"
    for number, (files, wanted) in enumerate([({folder + ".gsym": tmp_path / "index"}, (2, 1)), ({folder + ".debug": shop.path}, (2, 1)), ({}, (2, 1))]):
        def bucket(handler, files=files):
            key = handler.path.partition("?")[0][len("/b/"):]
            if "list-type=2" in handler.path:
                keys = "".join(f"<Contents><Key>{name}</Key><Size>1</Size></Contents>" for name in files)
                handler.answer(200, f"<ListBucketResult>{keys}</ListBucketResult>".encode())
            else:
                handler.answer(*((200, files[key].read_bytes()) if key in files else (404, b"<Error><Code>NoSuchKey</Code></Error>")))
        with upstream(bucket) as listening:
            environment = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_ENDPOINT_URL": f"http://127.0.0.1:{listening.server_port}"}
            process = subprocess.Popen([callsign.path, "serve", "--store", "s3://b", "--cache-dir", tmp_path / f"cache{number}", "--listen", "127.0.0.1:0",
                                        "--log-level", "none"], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
            try:
                connection = http.client.HTTPConnection("127.0.0.1", int(re.search(r":(\d+)/", process.stdout.readline())[1]), timeout=60)
                connection.request("POST", "/symbolicate/v5", json.dumps({"memoryMap": [["libshop.so", shop.debug_id]], "stacks": [[[0, shop.top]]]}))
                frame = json.loads(connection.getresponse().read())["results"][0]["stacks"][0][0]
                connection.close()
                assert frame.get("function") == ("top" if files else None)
            finally:
                process.terminate()
                assert process.wait(60) == 0
                process.stdout.close()
            lists = sum("list-type" in path for path in listening.asked)
            assert (len(listening.asked) - lists, lists) == wanted, listening.asked


# ---- the server's end ----

KEPT_S = 0.4  # a server that ends keeps idle connections for 0.5 seconds


def keep_asking(server, body, counts, is_kept):
    """Until the server is gone: a connection that was accepted has its request answered, unless it comes late (the machine is busy)."""
    connection = None
    while True:
        try:
            connection = connection or http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.connect() if connection.sock is None else None
        except OSError:
            return
        ready = sent = time.monotonic()
        try:
            with contextlib.suppress(OSError):
                connection.request("POST", "/symbolicate/v5", body)
            sent = time.monotonic()
            answer = connection.getresponse()
            text = answer.read()
            counts.append((answer.status, b'"function":"top"' in text))
            ends = answer.getheader("Connection") == "close"
        except (OSError, http.client.HTTPException) as error:
            if sent - ready < KEPT_S:
                counts.append(("lost", repr(error)))
            return
        if ends or not is_kept:
            connection.close()
            connection = None


def test_the_end_with_connections_that_wait(callsign, store):
    """Of clients that have been answered, and of one that has not asked: they do not keep the server."""
    server = Server(callsign, store)
    waiting = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=60) for _ in range(3)]
    for connection in waiting:
        connection.connect()
    for connection in waiting[1:]:
        connection.request("GET", "/healthz")
        assert connection.getresponse().read()
    try:
        server.process.terminate()
        assert server.process.wait(30) == 0
    finally:
        server.process.kill()
        server.process.stdout.close()
        for connection in waiting:
            connection.close()


@pytest.mark.parametrize("clients", [1, 8])
def test_sigterm_loses_no_request(callsign, store, images, clients):
    body = json.dumps(job(images, [[[0, images["libshop.so"].top]] * 30]))
    server = Server(callsign, store, "--log-level", "none")
    counts = []
    asking = [threading.Thread(target=keep_asking, args=(server, body, counts, n % 2 == 0)) for n in range(clients)]
    for thread in asking:
        thread.start()
    wait_for(lambda: len(counts) > 100)
    server.process.terminate()
    for thread in asking:
        thread.join(60)
    assert server.process.wait(60) == 0
    server.process.stdout.close()
    assert set(counts) == {(200, True)}, set(counts)


def test_kills_at_random_moments_of_uploads(callsign, tmp_path):
    """bench/run-kills does this 200 times."""
    counts = kill_uploads.run_kills(callsign.path, tmp_path, 10, seed=19)
    assert counts["acknowledged"] > 10 and counts["lost"] == [] and counts["half"] == [] and counts["names"]
    assert counts["fsck"] == 0 and counts["leftovers"] == [], counts


# ---- two servers ----

def converted(server):
    return int(re.search(r"^callsign_conversions_total (\d+)", server.ask("GET", "/metrics")[2].decode(), re.M)[1])


def test_two_servers_convert_an_image_once(callsign, images, tmp_path):
    """Both are asked at the same time, by several clients each, for what neither has converted. An image large enough to take a while."""
    store = tmp_path / "s"
    callsign.good("store", "add", "--store", store, callsign.path)
    listed = json.loads(callsign.good("store", "list", "--store", store, "--json").splitlines()[0])
    with Server(callsign, store) as one, Server(callsign, store) as two:
        answers = []
        asking = [threading.Thread(target=lambda s=s: answers.append(s.ask("GET", f"/buildid/{listed['build_id']}/symbolize?addr=0x1000")[0]))
                  for s in (one, two) * 4]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(120)
        assert answers == [200] * 8
        assert converted(one) + converted(two) == 1


def test_one_server_serves_what_the_other_removes_and_adds(callsign, store, images, tmp_path):
    (tmp_path / "tokens").write_text("t\n")
    shop = images["libshop.so"]
    with Server(callsign, store, "--set", "rescan=1", "--set", "refresh=1") as one, Server(callsign, store, "--upload-token-file", tmp_path / "tokens") as two:
        assert v5_names(one, images) == v5_names(two, images) == "top"
        path = store / f".build-id/{shop.id[:2]}/{shop.id[2:]}.debug"
        kept = tmp_path / "kept"
        shutil.copy(path, kept)
        path.unlink()
        wait_for(lambda: one.ask("GET", f"/buildid/{shop.id}/debuginfo")[0] == 404)
        assert two.ask("PUT", "/v1/store/libshop.so", kept.read_bytes(), Authorization="Bearer t")[0] == 201
        wait_for(lambda: one.ask("GET", f"/buildid/{shop.id}/debuginfo")[0] == 200)
        wait_for(lambda: v5_names(one, images) == "top")


@pytest.mark.parametrize("setting", ["no", "yes"])
def test_files_that_an_image_names(callsign, tmp_path, setting):
    """An upload must not make the server read its machine's files: here, the split DWARF that the program's path leads to."""
    (tmp_path / "demo.c").write_text(SOURCE)
    program = tmp_path / "demo"
    subprocess.run([need("gcc"), "-g", "-gsplit-dwarf", "-O1", "-Wl,--build-id=sha1", "-o", program, tmp_path / "demo.c"], check=True, cwd=tmp_path)
    assert list(tmp_path.glob("*.dwo"))
    image = Image(program)
    callsign.good("store", "add", "--quiet", "--store", tmp_path / "store", program)
    with Server(callsign, tmp_path / "store", "--log-level", "none", "--set", f"named-files={setting}") as server:
        body = {"modules": [{"name": "demo", "build_id": image.id}],
                "frames": [{"module": "demo", "address": hex(image.top + at), "exact": True} for at in range(24)]}
        answer = server.json("POST", "/v1/symbolicate", body)
    names = {frame["function"] for place in answer["frames"] for frame in place["frames"]}
    assert "top" in names and ("leaf" in names) == (setting == "yes"), answer


@pytest.mark.parametrize("damage", ["text", "empty", "folder"])
def test_a_file_that_is_no_image_any_more(callsign, store, images, tmp_path, damage):
    """It was served as the image's debug file as long as the catalogue remembered it; fsck tells of it when that has forgotten it."""
    shop = images["libshop.so"]
    path = next(path for path in store.rglob("*") if path.is_file() and path.read_bytes() == shop.path.read_bytes())
    with Server(callsign, store, "--set", "rescan=1", "--set", "refresh=1") as server:
        url = f"/buildid/{shop.id}/debuginfo"
        assert server.ask("GET", url)[0] == 200
        if damage == "folder":
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes(b"hello" if damage == "text" else b"")
        assert wait_for(lambda: server.ask("GET", url)[0] == 404)
        if damage != "folder":
            done = callsign.run("store", "fsck", "--store", store)
            assert (done.returncode, done.stdout.count("\n")) == (1, 1) and done.stdout.startswith(f"{path.relative_to(store)}: "), done.stdout
            path.write_bytes(shop.path.read_bytes())
            assert wait_for(lambda: server.ask("GET", url)[0] == 200)
            assert callsign.good("store", "fsck", "--store", store) == ""


def sent_until_closed(server, text):
    """What the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(text.encode())
        answer = b""
        while got := client.recv(65536):
            answer += got
    return answer


@pytest.mark.parametrize("head", ["Host: x\r\nContent-Length: 2\r\nContent-Length: 3", "Host: x\r\nContent-Length: 2\r\ncontent-length: 2",
                                  "Host: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked", "Content-Length: 2",
                                  "Host: x\r\nTransfer-Encoding: chunked, identity", "Host: x\r\nTransfer-Encoding: xchunked",
                                  "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                                  "Host: x\r\nHost: y\r\nContent-Length: 2"])
def test_requests_that_a_proxy_may_read_otherwise(callsign, store, head):
    """Their second half could be a request of its own behind a proxy that takes the other length."""
    with Server(callsign, store) as server:
        answer = sent_until_closed(server, f"POST /symbolicate/v5 HTTP/1.1\r\n{head}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1 ") == 1 and b"Connection: close" in answer, answer
        assert server.ask("GET", "/healthz")[0] == 200


@pytest.mark.parametrize("url", ["http://x/healthz", "HTTP://x:1/healthz", "https://x/healthz", "/healthz"])
def test_absolute_urls(callsign, store, url):
    with Server(callsign, store) as server:
        assert sent_until_closed(server, f"GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert sent_until_closed(server, "GET http://x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")[9:12] == sent_until_closed(server, "GET / HTTP/1.0\r\n\r\n")[9:12]
