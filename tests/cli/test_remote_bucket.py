"""Lookups in an index in a bucket (moto, which checks signatures)."""
import subprocess

import pytest

from programs import need
from test_serve_bucket import bucket  # noqa: F401 (fixture)


@pytest.fixture(scope="module")
def stored(bucket, shapes_index, callsign, tmp_path_factory):  # noqa: F811
    """The index in a folder of the bucket; curl puts it there."""
    folder = tmp_path_factory.mktemp("bucket")
    done = subprocess.run(
        [need("curl"), "-sS", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{bucket.key}:{bucket.secret}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD",
         "-H", "Host: " + bucket.endpoint.removeprefix("http://"), "-T", str(shapes_index), f"{bucket.endpoint}/symbols/folder/shapes-1.gsym"], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return "s3://symbols/folder/shapes-1.gsym"


def test_answers_are_those_of_the_file(bucket, stored, shapes, shapes_index, callsign):  # noqa: F811
    address = hex(shapes.addresses["main"])
    local = callsign.good("lookup", shapes_index, address, "--json")
    assert callsign.good("lookup", stored, address, "--json", env=bucket.env()) == local


@pytest.mark.parametrize("fault", ["wrong-secret", "wrong-key", "no-key", "no-bucket", "no-object", "nobody-listens"])
def test_a_bucket_that_refuses(bucket, stored, callsign, fault):  # noqa: F811
    url, changed, text = {
        "wrong-secret": (stored, {"AWS_SECRET_ACCESS_KEY": bucket.secret + "x"}, "403"),
        "wrong-key": (stored, {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE"}, "403"),
        "no-key": (stored, {"AWS_SECRET_ACCESS_KEY": "", "AWS_ACCESS_KEY_ID": ""}, "403"),
        "no-bucket": ("s3://gone/shapes.gsym", {}, "404"),
        "no-object": ("s3://symbols/gone.gsym", {}, "404"),
        "nobody-listens": (stored, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, ""),
    }[fault]
    message = callsign.bad("lookup", url, "0x1139", env=bucket.env(**changed))
    assert url in message and text in message
