"""Uploads in parts: PUT with Content-Range, continued after breaks, kills and on other servers."""
import os
import signal
import socket
import subprocess
import threading

import pytest

from programs import need, wait_for
from test_serve import ROOT, Server, has_server, images  # noqa: F401 (fixtures)

TOKEN = {"Authorization": "Bearer t"}


@pytest.fixture
def options(tmp_path):
    (tmp_path / "tokens").write_text("t\n")
    return ["--upload-token-file", tmp_path / "tokens"]


@pytest.fixture
def server(callsign, options, tmp_path):
    with Server(callsign, tmp_path / "store", *options) as server:
        yield server


class Upload:
    def __init__(self, images, name="libshop.so"):
        self.image = images[name]
        self.whole = self.image.path.read_bytes()
        self.size = len(self.whole)
        self.path = f"/v1/store/{name}?upload={self.image.id}"

    def put(self, server, first, end):
        return server.ask("PUT", self.path, self.whole[first:end], Content_Range=f"bytes {first}-{end - 1}/{self.size}", **TOKEN)

    def progress(self, server):
        """Bytes that have arrived."""
        status, headers, _ = server.ask("PUT", self.path, Content_Range=f"bytes */{self.size}", **TOKEN)
        assert status == 308
        return int(headers["Range"].removeprefix("bytes=0-")) + 1 if "Range" in headers else 0

    def is_served(self, server):
        return server.ask("GET", f"/buildid/{self.image.id}/debuginfo")[::2] == (200, self.whole)


@pytest.fixture
def upload(images):
    return Upload(images)


def left(store):
    folders = [store / ".callsign" / name for name in ("partial", "incoming")]
    return [path.name for folder in folders if folder.is_dir() for path in folder.iterdir()]


def test_parts(server, upload, tmp_path):
    assert upload.progress(server) == 0 and left(tmp_path / "store") == []
    status, headers, body = upload.put(server, 0, 1000)
    assert (status, headers["Range"]) == (308, "bytes=0-999") and b'"received":1000' in body and "Location" not in headers
    assert not upload.is_served(server)
    assert upload.put(server, 1000, 3000)[1]["Range"] == "bytes=0-2999"
    assert upload.put(server, 2000, 5000)[1]["Range"] == "bytes=0-4999"  # a part may repeat what has arrived
    status, headers, body = upload.put(server, 6000, upload.size)
    assert status == 409 and headers["Range"] == "bytes=0-4999"
    assert upload.progress(server) == 5000
    answer = server.json("PUT", upload.path, upload.whole[5000:], status=201, Content_Range=f"bytes 5000-{upload.size - 1}/{upload.size}", **TOKEN)
    assert answer["build_id"] == upload.image.id and answer["bytes"] == upload.size
    assert upload.is_served(server) and left(tmp_path / "store") == []


def test_a_single_part(server, upload):
    assert upload.put(server, 0, upload.size)[0] == 201
    assert upload.is_served(server)


def begin(server, upload, first, sent):
    """A connection that has sent some bytes of the rest of the file."""
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall((f"PUT {upload.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nContent-Length: {upload.size - first}\r\n"
                    f"Content-Range: bytes {first}-{upload.size - 1}/{upload.size}\r\n\r\n").encode() + upload.whole[first:first + sent])
    return client


def test_a_body_that_breaks_off_is_continued(server, upload, tmp_path):
    def arrived():
        return sum(path.stat().st_size for path in (tmp_path / "store/.callsign/partial").glob("*"))

    with begin(server, upload, 0, 4000):
        wait_for(lambda: arrived() == 4000)
        status, headers, _ = upload.put(server, 0, 100)
        assert (status, headers["Retry-After"]) == (409, "1")  # while another sends
    wait_for(lambda: server.ask("PUT", upload.path, Content_Range=f"bytes */{upload.size}", **TOKEN)[0] == 308)
    assert upload.progress(server) == 4000
    assert upload.put(server, 4000, upload.size)[0] == 201
    assert upload.is_served(server)


def test_a_killed_server_is_continued_by_the_next(callsign, options, upload, tmp_path):
    store = tmp_path / "store"
    with Server(callsign, store, *options) as one:
        assert upload.put(one, 0, 2500)[0] == 308
        with begin(one, upload, 2500, 500):
            wait_for(lambda: sum(path.stat().st_size for path in (store / ".callsign/partial").glob("*")) == 3000)
            one.process.send_signal(signal.SIGKILL)
            one.process.wait()
    with Server(callsign, store, *options) as two, Server(callsign, store, *options) as three:
        assert upload.progress(two) == 3000
        assert upload.put(three, 3000, 4000)[1]["Range"] == "bytes=0-3999"  # any server over the folder
        assert upload.put(two, 4000, upload.size)[0] == 201
        assert upload.is_served(two) and left(store) == []
    assert callsign.good("store", "fsck", "--store", store) == ""


def test_a_server_that_ends_keeps_what_arrived(callsign, options, upload, tmp_path):
    with Server(callsign, tmp_path / "store", *options) as one:
        assert upload.put(one, 0, 2500)[0] == 308
    with Server(callsign, tmp_path / "store", *options) as two:
        assert upload.progress(two) == 2500
        path, = (tmp_path / "store/.callsign/partial").iterdir()
    os.utime(path, (0, 0))
    with Server(callsign, tmp_path / "store", *options):
        wait_for(lambda: not path.exists())  # nobody has come back within partial-age


def test_unfinished_uploads_are_bounded(callsign, options, images, tmp_path):
    with Server(callsign, tmp_path / "store", *options, "--set", "max-partial-uploads=1") as server:
        shop, app = Upload(images), Upload(images, "app")
        assert shop.put(server, 0, 100)[0] == 308
        status, headers, _ = app.put(server, 0, 100)
        assert status == 503 and headers["Retry-After"]
        assert shop.put(server, 100, shop.size)[0] == 201
        assert app.put(server, 0, 100)[0] == 308


def test_many_that_send_the_same(server, upload):
    """Nothing but the file is ever stored, whoever wins."""
    statuses = []

    def send():
        for first in range(0, upload.size, 5000):
            statuses.append(upload.put(server, first, min(first + 5000, upload.size))[0])

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {201, 308, 409}
    if 201 not in statuses:
        assert upload.put(server, 0, upload.size)[0] == 201
    assert upload.is_served(server)


def test_ranges_that_are_none(server, tmp_path):
    for text in ("bytes 0-9", "bytes 0-9/*", "bytes 9-0/20", "bytes 0-20/20", "bytes -5/20", "bytes a-b/c", "chars 0-9/20", "bytes 0-9/20x", "bytes */0",
                 "bytes 0-9/99999999999999999999", "", "bytes 0-8/20"):
        assert server.ask("PUT", "/v1/store/x?upload=a", b"0123456789", Content_Range=text, **TOKEN)[0] == 400, text
    assert left(tmp_path / "store") == []


def test_a_part_needs_the_name_of_its_upload(server, tmp_path):
    """A server that stored a part as if it were a file would be wrong: RFC 9110, 14.5."""
    for query in ("", "?upload=", "?upload=..", "?upload=a%2fb", "?upload=" + "a" * 65):
        assert server.ask("PUT", "/v1/store/x" + query, b"0123456789", Content_Range="bytes 0-9/20", **TOKEN)[0] == 400, query
    assert server.ask("PUT", "/v1/store/..%2fx?upload=a", b"0123456789", Content_Range="bytes 0-9/20", **TOKEN)[0] in (400, 404)
    assert left(tmp_path / "store") == []


def test_limits_hold_for_the_whole_file(callsign, options, tmp_path):
    with Server(callsign, tmp_path / "store", *options, "--set", "max-upload=1000") as server:
        assert server.ask("PUT", "/v1/store/x?upload=a", b"0123456789", Content_Range="bytes 0-9/1001", **TOKEN)[0] == 413
        assert server.ask("PUT", "/v1/store/x?upload=a", b"0123456789", Content_Range="bytes 0-9/1000", **TOKEN)[0] == 308
        assert server.ask("PUT", "/v1/store/x?upload=a", b"0123456789", Content_Range="bytes 10-19/1000")[0] == 403


def test_what_is_no_symbol_file_leaves_nothing(server, tmp_path):
    assert server.ask("PUT", "/v1/store/x?upload=a", b"0123456789", Content_Range="bytes 0-9/20", **TOKEN)[0] == 308
    assert server.ask("PUT", "/v1/store/x?upload=a", b"0123456789", Content_Range="bytes 10-19/20", **TOKEN)[0] == 422
    assert left(tmp_path / "store") == []


def test_the_commands_of_the_documentation(server, images, upload, tmp_path):
    need("curl")
    script = (ROOT / "docs/server.md").read_text().split("SIZE=$(stat")[1].split("```")[0]
    script = ("SIZE=$(stat" + script).replace("127.0.0.1:8788", f"127.0.0.1:{server.port}").replace("1048577", "5001").replace("1048576", "5000")
    assert upload.size > 5001
    lines = script.splitlines()
    first = 'curl -sS -X PUT --data-binary @part -H "Authorization: Bearer $TOKEN" -H "Content-Range: bytes 0-4999/$SIZE" "$URL"'
    (tmp_path / "part").write_bytes(upload.whole[:5000])
    (tmp_path / "libshop.so").write_bytes(upload.whole)
    done = subprocess.run(["sh", "-ec", "\n".join([lines[0], first, *lines[1:]])], cwd=tmp_path, capture_output=True, text=True, timeout=100,
                          env={**os.environ, "TOKEN": "t"})
    assert done.returncode == 0 and "308" in done.stdout and "bytes=0-4999" in done.stdout, (done.stdout, done.stderr)
    assert upload.is_served(server), done.stdout
