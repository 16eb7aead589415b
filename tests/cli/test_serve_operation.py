"""What operators set: tenants and their scopes, reload by SIGHUP, TLS."""
import http.client
import json
import ssl
import subprocess
import threading
import urllib.parse

import pytest

from programs import need, wait_for
from test_serve import Server, has_server, images, job, store  # noqa: F401 (fixtures)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


# ---- tenants ----

@pytest.fixture
def tenants(callsign, store, tmp_path):
    """Four tenants: reader, namer, writer, and the maker, who may do all."""
    config = tmp_path / "config"
    text = ""
    for name, scopes in (("reader", "read"), ("namer", "symbolicate"), ("writer", "upload"), ("maker", "read, symbolicate upload")):
        (tmp_path / name).write_text(f"# of {name}\n{name}-token\n{name}-spare\n")
        text += f"[tenant {name}]\ntoken-file = {tmp_path / name}\nscopes = {scopes}\n"
    config.write_text(text)
    with Server(callsign, store, "--config", config) as server:
        server.config = config
        yield server


def test_scopes_of_tenants(tenants, images):
    shop = images["libshop.so"]
    requests = {"read": ("GET", f"/buildid/{shop.id}/debuginfo", None, 200), "upload": ("PUT", "/v1/store/libshop.so", shop.path.read_bytes(), 201),
                "symbolicate": ("POST", "/symbolicate/v5", json.dumps(job(images, [[[0, shop.top]]])), 200)}
    allowed = {"reader-token": {"read"}, "reader-spare": {"read"}, "namer-token": {"symbolicate"}, "writer-token": {"upload"}, "maker-token": set(requests),
               "# of reader": set(), "": set(), "reader-toke": set(), "reader-tokenn": set()}
    for token, scopes in allowed.items():
        for scope, (method, path, body, good) in requests.items():
            assert tenants.ask(method, path, body, **bearer(token))[0] == (good if scope in scopes else 403), (token, scope)
    for scope, (method, path, body, _) in requests.items():
        status, headers, _ = tenants.ask(method, path, body)
        assert status == (403 if scope == "upload" else 401) and headers["WWW-Authenticate"] == "Bearer"
    for path in ("/healthz", "/readyz", "/metrics", "/healthcheck"):
        assert tenants.ask("GET", path)[0] == 200
    assert {entry["tenant"] for entry in tenants.logged() if "tenant" in entry} == {"reader", "namer", "writer", "maker"}


def test_who_may_symbolicate_may_fetch_the_answer(tenants, images):
    """It comes by GET, which otherwise reads files."""
    shop = images["libshop.so"]
    for path in ("/requests/00000000-0000-0000-0000-000000000000", f"/m/{shop.id}/symbolz"):
        assert tenants.ask("GET", path, **bearer("namer-token"))[0] == (404 if "requests" in path else 200)
        assert tenants.ask("GET", path, **bearer("reader-token"))[0] == 403
        assert tenants.ask("GET", path)[0] == 401


def test_a_tenant_has_no_part_in_anothers_requests(tenants, images):
    """Neither in its uploads in parts nor in its pending answers."""
    shop = images["libshop.so"]
    whole = shop.path.read_bytes()
    path, size = f"/v1/store/libshop.so?upload={shop.id}", len(whole)
    assert tenants.ask("PUT", path, whole[:1000], Content_Range=f"bytes 0-999/{size}", **bearer("writer-token"))[0] == 308
    assert "Range" not in tenants.ask("PUT", path, Content_Range=f"bytes */{size}", **bearer("maker-token"))[1]
    assert tenants.ask("PUT", path, Content_Range=f"bytes */{size}", **bearer("writer-spare"))[1]["Range"] == "bytes=0-999"


def test_scopes_are_checked(callsign, store, tenants):
    text = tenants.config.read_text()
    for wrong in ("raed", "read write", "reads", "read;upload"):
        tenants.config.write_text(text.replace("scopes = read\n", f"scopes = {wrong}\n"))
        line = callsign.bad("serve", "--store", store, "--config", tenants.config)
        assert wrong in line and "line 3" in line


def test_a_tenant_needs_a_file_of_tokens(callsign, store, tmp_path):
    (tmp_path / "server.conf").write_text("[tenant sales]\nscopes = read\n")
    assert "[tenant sales] has no token-file" in callsign.bad("serve", "--store", store, "--config", tmp_path / "server.conf")


# ---- reload ----

def reloads(server):
    return sum(entry["message"] in ("reloaded", "the configuration was not read again", "the tokens were not read again") for entry in server.logged())


def hang_up(server):
    before = reloads(server)
    server.process.send_signal(1)
    wait_for(lambda: reloads(server) > before)


def test_tokens_are_read_again(callsign, store, images, tmp_path):
    tokens, body = tmp_path / "tokens", images["app"].path.read_bytes()
    tokens.write_text("old\n")
    with Server(callsign, store, "--upload-token-file", tokens) as server:
        def status(token):
            return server.ask("PUT", "/v1/store/app", body, **bearer(token))[0]

        assert (status("old"), status("new")) == (201, 403)
        tokens.write_text("new\n")
        assert (status("old"), status("new")) == (201, 403)
        hang_up(server)
        assert (status("old"), status("new")) == (403, 201)
        tokens.unlink()
        hang_up(server)  # cannot be read: nothing changes
        assert (status("old"), status("new")) == (403, 201)
        wait_for(lambda: server.logged()[-1].get("status") == 201)  # a request's line may come after its answer
        assert any(str(tokens) in entry.get("detail", "") for entry in server.logged())


def test_the_configuration_is_read_again(callsign, store, images, tmp_path):
    config, body = tmp_path / "config", json.dumps({"jobs": [job(images, [[[0, 1]]])] * 3})
    config.write_text("max-jobs = 2\n")
    with Server(callsign, store, "--config", config, "--set", "max-upload=1M") as server:
        def jobs():
            return server.ask("POST", "/symbolicate/v5", body)[0]

        assert jobs() == 400
        config.write_text("max-jobs = 3\n[tenant a]\n")
        hang_up(server)  # a tenant without tokens is an error: nothing changes
        assert jobs() == 400
        config.write_text("max-jobs = 3\n")
        hang_up(server)
        assert jobs() == 200
        config.write_text("colour = red\n")
        hang_up(server)
        assert jobs() == 200 and any("colour" in entry.get("detail", "") for entry in server.logged())


def test_reload_while_requests_are_answered(callsign, store, images, tmp_path):
    """Each request has the limits before or after; a build with ThreadSanitizer reports what is read while it is written."""
    config, tokens, body = tmp_path / "config", tmp_path / "tokens", json.dumps({"jobs": [job(images, [[[0, 1]]])] * 3})
    config.write_text("max-jobs = 2\n")
    tokens.write_text("t\n")
    with Server(callsign, store, "--config", config, "--upload-token-file", tokens) as server:
        is_over, statuses = threading.Event(), []

        def ask():
            while not is_over.is_set():
                statuses.append(server.ask("POST", "/symbolicate/v5", body)[0])
                statuses.append(server.ask("PUT", "/v1/store/app", b"x" * 2000, **bearer("t"))[0])

        asking = [threading.Thread(target=ask) for _ in range(3)]
        for thread in asking:
            thread.start()
        try:
            for n in range(6):
                config.write_text(f"max-jobs = {2 + n % 2}\nmax-upload = {1000 + n % 2 * 2000}\nrate-limit = {n % 2 * 100000}\n")
                hang_up(server)
        finally:
            is_over.set()
            for thread in asking:
                thread.join(60)
        assert set(statuses) <= {200, 400, 413, 422} and {200, 400} & set(statuses)
    assert "ThreadSanitizer" not in server.log_path.read_text()


def test_the_command_line_wins_after_a_reload_too(callsign, store, images, tmp_path):
    config, tokens = tmp_path / "config", tmp_path / "tokens"
    config.write_text("max-upload = 16G\n")
    tokens.write_text("t\n")
    body = images["app"].path.read_bytes()
    with Server(callsign, store, "--config", config, "--set", "max-upload=1000", "--upload-token-file", tokens) as server:
        for _ in range(2):
            assert server.ask("PUT", "/v1/store/app", body, **bearer("t"))[0] == 413
            hang_up(server)


# ---- TLS ----

def make_certificate(folder, name):
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run([need("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=callsign", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return key, certificate


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    return [make_certificate(folder, name) for name in ("own", "other")]


@pytest.fixture
def secure(callsign, store, certificates):
    """(URL, port) of a server that listens for TLS."""
    key, certificate = certificates[0]
    with open(f"{store}.log", "a") as log, \
         subprocess.Popen([callsign.path, "serve", "--store", store, "--listen", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key],
                          stdout=subprocess.PIPE, stderr=log, text=True) as process:
        url = process.stdout.readline().split()[-1]
        yield url, urllib.parse.urlsplit(url).port
        process.terminate()
        assert process.wait(60) == 0


def ask_securely(port, trusted, method, path, body=None):
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=ssl.create_default_context(cafile=trusted))
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_tls(secure, images, certificates):
    url, port = secure
    shop, trusted = images["libshop.so"], certificates[0][1]
    assert url == f"https://127.0.0.1:{port}/"
    assert ask_securely(port, trusted, "GET", f"/buildid/{shop.id}/debuginfo") == (200, shop.path.read_bytes())
    status, body = ask_securely(port, trusted, "POST", "/symbolicate/v5", json.dumps(job(images, [[[0, shop.top]]])))
    assert status == 200 and json.loads(body)["results"][0]["stacks"][0][0]["function"] == "top"
    with pytest.raises(ssl.SSLCertVerificationError):
        ask_securely(port, certificates[1][1], "GET", "/healthz")
    plain = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with pytest.raises((http.client.HTTPException, OSError)):
        plain.request("GET", "/healthz")
        plain.getresponse()
    plain.close()
    assert ask_securely(port, trusted, "GET", "/healthz")[0] == 200
    done = subprocess.run([need("curl"), "-sS", "--cacert", trusted, url + "healthz"], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ok\n", done.stderr


def test_tls_that_cannot_be(callsign, store, certificates, tmp_path):
    (key, certificate), (other, _) = certificates
    for given, word in (((certificate, other), "pair"), ((certificate, tmp_path / "gone"), "gone"), ((key, key), "PEM")):
        assert word in callsign.bad("serve", "--store", store, "--listen", "127.0.0.1:0", "--log-level", "none", "--tls-certificate", given[0], "--tls-key", given[1])
