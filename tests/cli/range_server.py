"""A small HTTP server that answers Range requests, and breaks in the ways that servers do."""
import contextlib
import gzip
import http.server
import re
import socket
import struct
import threading


class RangeServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files          # {path: bytes}
        self.fault = None
        self.requests = []          # (method, path, Range)
        self.bytes_sent = 0
        self.hang = threading.Event()
        self.types = {}             # {".js": "text/javascript"}

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def clear(self):
        self.requests.clear()
        self.bytes_sent = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body, headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.server.bytes_sent += len(body)
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.requests.append((self.command, self.path, wanted))
        fault, count = server.fault, len(server.requests)
        body = server.files.get(self.path.partition("?")[0])
        if fault == "hang" or (fault == "hang later" and count > 1):
            server.hang.wait(60)
            self.close_connection = True
            return
        if fault == "reset" or (fault == "reset later" and count > 1):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if fault == "redirect" and not self.path.startswith("/moved"):
            return self.answer(302, b"", [("Location", "/moved" + self.path)])
        if fault == "endless redirect":
            return self.answer(302, b"", [("Location", self.path + "x")])
        if fault == "redirect to a file":
            return self.answer(302, b"", [("Location", "file:///etc/passwd")])
        if fault == "redirect":
            body = server.files.get(self.path.removeprefix("/moved"))
        if fault in (404, 500, 403, 503) or (fault == "500 later" and count > 1):
            fault = 500 if fault == "500 later" else fault
            return self.answer(fault, b"no")
        if body is None:
            return self.answer(404, b"not found")
        if fault == "html":
            return self.answer(200, b"<html>sign in</html>", [("Content-Type", "text/html")])
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", wanted or "")
        etag = f'"{count if fault == "etag" else 1}"'
        if not match or fault == "no ranges":
            path = "/index.html" if self.path == "/" else self.path
            kind = server.types.get(path[path.rfind("."):], "application/octet-stream")
            return self.answer(200, body, [("ETag", etag), ("Content-Type", kind)])
        start, end = int(match[1]), min(int(match[2]) + 1, len(body))
        if start >= len(body):
            return self.answer(416, b"", [("Content-Range", f"bytes */{len(body)}")])
        part, shown = body[start:end], start
        if fault == "short":
            part = part[:-1]
        if fault == "long":
            part += b"x"
        if fault == "gzip":
            return self.answer(206, gzip.compress(part), [("Content-Range", f"bytes {start}-{end - 1}/{len(body)}"), ("Content-Encoding", "gzip")])
        if fault == "no content range":
            return self.answer(206, part)
        if fault == "huge":
            return self.answer(206, part, [("Content-Range", f"bytes {start}-{end - 1}/{1 << 62}")])
        if fault == "shorter later" and count > 1:
            return self.answer(416, b"", [("Content-Range", "bytes */10")])
        if self.headers.get("If-Match") not in (None, etag) and fault != "etag":
            return self.answer(412, b"")
        if fault == "cut":  # the connection ends before the body does
            self.answer(206, part[:-1], [("Content-Range", f"bytes {start}-{end - 1}/{len(body)}"), ("ETag", etag)], length=len(part))
            self.close_connection = True
            return
        if fault == "other range":
            shown = start + 1
        total = len(body) + (count if fault == "size" else 0)
        self.answer(206, part, [("Content-Range", f"bytes {shown}-{end - 1}/{total}"), ("ETag", etag)])


@contextlib.contextmanager
def serving(files):
    server = RangeServer(files)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.hang.set()
        server.shutdown()
        server.server_close()
        thread.join()
