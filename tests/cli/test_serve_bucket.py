"""A store in a bucket (moto, which checks signatures): what was stored is there for servers that have nothing on disk, and a wrong secret or a
bucket that is away is never taken for a missing file."""
import json
import os
import re
import shutil
import signal
import subprocess
import urllib.parse
import urllib.request

import pytest

from programs import wait_for
from test_serve import Server, has_server, images  # noqa: F401 (fixtures)

ACTIONS_BEFORE_CHECKS = 4  # make_user() and the bucket


class Bucket:
    def __init__(self, process, port):
        self.process, self.endpoint = process, f"http://127.0.0.1:{port}"
        user = {"UserName": "tests"}
        self.iam("CreateUser", **user)
        policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
        self.iam("PutUserPolicy", **user, PolicyName="s3", PolicyDocument=json.dumps(policy))
        made = self.iam("CreateAccessKey", **user)
        self.key, self.secret = (re.search(rf"<{tag}>([^<]+)", made)[1] for tag in ("AccessKeyId", "SecretAccessKey"))
        self.request("PUT", "/symbols", "s3")

    def request(self, method, path, service, body=None):
        """Unsigned; the header names the service alone."""
        head = {"Authorization": f"AWS4-HMAC-SHA256 Credential=none/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0"}
        return urllib.request.urlopen(urllib.request.Request(self.endpoint + path, body, head, method=method), timeout=60).read().decode()

    def iam(self, action, **values):
        return self.request("POST", "/", "iam", urllib.parse.urlencode({"Action": action, "Version": "2010-05-08", **values}).encode())

    def env(self, **changed):
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": self.endpoint,
                "AWS_SESSION_TOKEN": "", **changed}


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    program = shutil.which("moto_server")
    if not program:
        pytest.skip("moto_server is not installed")
    log = tmp_path_factory.mktemp("moto") / "log"
    with log.open("w") as out, subprocess.Popen([program, "-H", "127.0.0.1", "-p", "0"], stdout=out, stderr=out,
                                                env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(ACTIONS_BEFORE_CHECKS)}) as process:
        try:
            wait_for(lambda: process.poll() is not None or re.search(r"http://127\.0\.0\.1:\d+", log.read_text()))
            yield Bucket(process, re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())[1])
        finally:
            process.terminate()


class BucketServer(Server):
    """Over s3://PLACE, with a cache folder of its own."""

    def __init__(self, callsign, bucket, folder, place, *options, **changed):
        super().__init__(callsign, folder, "--set", f"store=s3://{place}", "--cache-dir", folder, *options, env=bucket.env(**changed))


@pytest.fixture
def options(tmp_path):
    (tmp_path / "tokens").write_text("t\n")
    return ["--upload-token-file", tmp_path / "tokens"]


def served(server, image):
    return server.ask("GET", f"/buildid/{image.id}/debuginfo")[::2] == (200, image.path.read_bytes())


def test_signatures_are_checked(bucket, callsign, images, tmp_path):
    """Else the other tests of this file would prove nothing."""
    store, image = ["--store", "s3://symbols/checked", "--cache-dir", tmp_path / "c"], images["app"].path
    callsign.good("store", "add", *store, image, env=bucket.env())
    for wrong in ({"AWS_SECRET_ACCESS_KEY": bucket.secret + "x"}, {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE"}, {"AWS_SECRET_ACCESS_KEY": "", "AWS_ACCESS_KEY_ID": ""}):
        done = callsign.run("store", "add", *store[:3], tmp_path / "d", image, env=bucket.env(**wrong))
        assert done.returncode == 2 and "403" in done.stderr, (wrong, done.stdout, done.stderr)


def test_what_one_server_stored_another_has(bucket, callsign, images, options, tmp_path):
    shop, app = images["libshop.so"], images["app"]
    callsign.good("store", "add", "--store", "s3://symbols/two", "--cache-dir", tmp_path / "c", app.path, env=bucket.env())
    with BucketServer(callsign, bucket, tmp_path / "one", "symbols/two", *options) as one:
        assert served(one, app) and not served(one, shop)
        assert one.json("PUT", "/v1/store/libshop.so", shop.path.read_bytes(), status=201, Authorization="Bearer t")["build_id"] == shop.id
        assert served(one, shop)
        one.process.send_signal(signal.SIGKILL)
        one.process.wait()
    with BucketServer(callsign, bucket, tmp_path / "two", "symbols/two", *options) as two:
        answer = two.json("POST", "/symbolicate/v5", {"memoryMap": [["libshop.so", shop.debug_id]], "stacks": [[[0, shop.top]]]})
        assert answer["results"][0]["stacks"][0][0]["function"] == "top"
        assert served(two, shop) and served(two, app)
        assert two.ask("GET", "/buildid/" + "00" * 20 + "/debuginfo")[0] == 404
    with BucketServer(callsign, bucket, tmp_path / "three", "symbols/elsewhere") as three:
        assert three.ask("GET", f"/buildid/{shop.id}/debuginfo")[0] == 404  # another prefix


@pytest.mark.parametrize("fault", ["wrong-secret", "no-bucket", "nobody-listens"])
def test_a_bucket_that_fails_is_no_missing_file(bucket, callsign, images, options, tmp_path, fault):
    place, changed = {"wrong-secret": ("symbols/two", {"AWS_SECRET_ACCESS_KEY": "wrong"}), "no-bucket": ("gone/two", {}),
                      "nobody-listens": ("symbols/two", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})}[fault]
    shop = images["libshop.so"]
    with BucketServer(callsign, bucket, tmp_path / "s", place, *options, **changed) as server:
        assert server.ask("GET", f"/buildid/{shop.id}/debuginfo")[0] in (502, 503)
        assert server.ask("PUT", "/v1/store/libshop.so", shop.path.read_bytes(), Authorization="Bearer t")[0] in (502, 503)
        assert server.ask("GET", "/healthz")[0] == 200
