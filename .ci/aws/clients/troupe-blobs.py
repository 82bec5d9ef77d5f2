"""Another Troupe, which keeps its blobs here."""

import os
import subprocess
import sys
import time
from pathlib import Path

import boto3
import requests

bucket = os.environ["BUCKET"]
here = boto3.client("s3")
here.create_bucket(Bucket=bucket)
settings = {
    "operators.listen": "", "s3.listen": "", "log.level": "warn", "accounts.argon2_memory_kib": 8,
    "blobs.kind": "s3", "blobs.bucket": bucket, "blobs.region": os.environ["AWS_REGION"], "blobs.endpoint": os.environ["AWS_ENDPOINT_URL_S3"],
    "blobs.access_key_id": os.environ["AWS_ACCESS_KEY_ID"], "blobs.secret_access_key": os.environ["AWS_SECRET_ACCESS_KEY"],
}  # fmt: skip
flags = ["--data", "data", *(f"--set={name}={value}" for name, value in settings.items())]


def keys():
    pages = here.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    return [it["Key"] for page in pages for it in page.get("Contents", [])]


def play(base, email, password):
    session = requests.Session()
    session.trust_env = False

    def call(method, path, status=200, **options):
        answer = session.request(method, path if path.startswith("http") else f"{base}/v1{path}", timeout=60, **options)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer

    who = {"email": email, "password": password, "app": "account", "platform": "web"}
    session.headers["Authorization"] = f"Bearer {call('POST', '/auth/sign-in', json=who).json()['token']}"
    org = call("POST", "/orgs", 201, json={"name": "Elsewhere"}).json()["org"]["orgId"]
    files = call("POST", f"/orgs/{org}/storage", 201, json={"name": "files"}).json()["bucket"]["resourceId"]
    files = f"/orgs/{org}/storage/{files}"
    contents = {"small": b"x" * 1000, "middle": os.urandom(300_000), "large": os.urandom(20_000_000)}
    for key, content in contents.items():
        call("PUT", f"{files}/object?key={key}", data=content)
    assert len(keys()) == 2, f"blobs of two files: {keys()}"
    for key, content in contents.items():
        url = call("GET", f"{files}/download?key={key}").json()["url"]
        assert call("GET", url).content == content, key
        assert call("GET", url, 206, headers={"Range": "bytes=500-599"}).content == content[500:600], key


out = Path("out")
with out.open("w") as stdout:
    program = subprocess.Popen([os.environ["program"], *flags, "--listen", "127.0.0.1:0"], stdout=stdout)
try:
    for _ in range(600):
        if "Press Ctrl-C" in out.read_text():
            break
        assert program.poll() is None, "it ended"
        time.sleep(0.1)
    said = dict(line.split(maxsplit=1) for line in out.read_text().splitlines() if len(line.split()) == 2)
    play(said["API"].removesuffix("/v1/openapi.json"), said["Owner"], said["Password"])
finally:
    program.terminate()
    program.wait(60)
doctor = subprocess.run([os.environ["program"], *flags, "doctor"], capture_output=True, text=True)
sys.exit(f"{doctor.stdout}{doctor.stderr}" if doctor.returncode else 0)
