"""A program with inlined calls, its index, a folder of indexes, and a bucket."""
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import callsign

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    source = folder / "orders.cc"
    shutil.copy(ROOT / "examples" / "demo" / "orders.cc", source)
    subprocess.run(["g++", "-g", "-O2", "-ffile-prefix-map=" + str(folder) + "=/src", str(source), "-o", str(folder / "orders")], check=True)
    return folder / "orders"


@pytest.fixture(scope="session")
def addresses(program):
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [int(line, 16) for line in out.split()]


@pytest.fixture(scope="session")
def folder(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("symbols")
    callsign.convert(program, folder / "orders.gsym")
    return folder


@pytest.fixture(scope="session")
def index_path(folder):
    return folder / "orders.gsym"


@pytest.fixture
def index(index_path):
    with callsign.Index(index_path, demangle=True) as index:
        yield index


@pytest.fixture(scope="session")
def moto(tmp_path_factory):
    """(port, key id, secret) of an S3 that checks signatures; the bucket `symbols` is there."""
    pytest.importorskip("flask")
    pytest.importorskip("moto")
    boto3 = pytest.importorskip("boto3")
    log = tmp_path_factory.mktemp("moto") / "log"
    with log.open("w") as out, subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], stdout=out, stderr=out,
                                                env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "3"}) as process:
        try:
            deadline = time.monotonic() + 60
            while not (match := re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())):
                assert process.poll() is None and time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)

            def client(service, key, secret):
                return boto3.client(service, region_name="us-east-1", endpoint_url=match[0], aws_access_key_id=key, aws_secret_access_key=secret)
            iam = client("iam", "none", "none")
            iam.create_user(UserName="tests")
            made = iam.create_access_key(UserName="tests")["AccessKey"]
            everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
            iam.put_user_policy(UserName="tests", PolicyName="s3", PolicyDocument=json.dumps(everything))
            client("s3", made["AccessKeyId"], made["SecretAccessKey"]).create_bucket(Bucket="symbols")
            yield match[1], made["AccessKeyId"], made["SecretAccessKey"]
        finally:
            process.terminate()


@pytest.fixture
def bucket(moto, monkeypatch):
    """A URL within the bucket; the keys are in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", moto[1])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", moto[2])
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return f"s3://symbols/builds?endpoint_override=127.0.0.1:{moto[0]}&scheme=http&region=us-east-1"
