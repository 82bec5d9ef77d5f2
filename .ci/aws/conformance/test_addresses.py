"""Presigned addresses, forms of browsers, and buckets by host name."""

import base64
import json
import os
import socket
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
import requests
from conftest import ENDPOINT, client
from wire import expired, now

CA = os.environ.get("AWS_CA_BUNDLE", True)


def test_a_presigned_address(s3, bucket, put):
    put("a b/ü+%", b"hello")
    url = s3.generate_presigned_url("get_object", {"Bucket": bucket, "Key": "a b/ü+%", "ResponseContentType": "text/x"}, 60)
    answer = requests.get(url, verify=CA)
    assert (answer.content, answer.headers["content-type"]) == (b"hello", "text/x")
    assert requests.get(url.replace("text%2Fx", "text%2Fy"), verify=CA).status_code == 403
    assert requests.put(url, b"x", verify=CA).status_code == 403
    url = s3.generate_presigned_url("put_object", {"Bucket": bucket, "Key": "new", "ContentType": "text/z"}, 60)
    assert requests.put(url, b"new", headers={"Content-Type": "text/z"}, verify=CA).status_code == 200
    assert requests.put(url, b"new", headers={"Content-Type": "text/other"}, verify=CA).status_code == 403
    assert s3.head_object(Bucket=bucket, Key="new")["ContentType"] == "text/z"


@pytest.mark.parametrize("expires, ago, code, status", [
    (60, 0, None, 200), (604_800, 0, None, 200), (604_801, 0, "AuthorizationQueryParametersError", 400), (0, 0, "AuthorizationQueryParametersError", 400),
    (-1, 0, "AuthorizationQueryParametersError", 400), ("x", 0, "AuthorizationQueryParametersError", 400), (60, 61, "AccessDenied", 403),
    (604_800, 604_000, None, 200), (604_800, 604_801, "AccessDenied", 403), (60, -1000, "RequestTimeTooSkewed", 403),
])  # fmt: skip
def test_when_an_address_is_over(wire, bucket, put, expires, ago, code, status):
    put("k", b"1")
    answer = wire.send("GET", f"/{bucket}/k?{wire.presigned('GET', f'/{bucket}/k', expires, at=expired(ago))}")
    assert (answer.status, answer.code) == (status, code), answer


@pytest.mark.parametrize("name", ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders", "X-Amz-Signature"])
def test_an_address_that_lacks_something(wire, bucket, put, name):
    put("k", b"1")
    query = wire.presigned("GET", f"/{bucket}/k")
    query = "&".join(it for it in query.split("&") if not it.startswith(f"{name}="))
    answer = wire.send("GET", f"/{bucket}/k?{query}")
    assert answer.status in (400, 403) and answer.code, answer


def form(bucket, **options):
    policy = {"Bucket": bucket, "Key": "up/${filename}", "ExpiresIn": 60, "Conditions": [["starts-with", "$key", "up/"]]} | options
    return client().generate_presigned_post(**policy)


def post(made, content=b"hello", **fields):
    return requests.post(made["url"], data=made["fields"] | fields, files={"file": ("a name.txt", content)}, verify=CA, allow_redirects=False)


def code_of(answer):
    return answer.text.split("<Code>")[1].split("<")[0] if "<Code>" in answer.text else None


def test_a_form(s3, bucket):
    answer = post(form(bucket))
    assert answer.status_code == 204 and answer.headers["etag"], answer.text
    assert s3.get_object(Bucket=bucket, Key="up/a name.txt")["Body"].read() == b"hello"
    made = form(bucket, Fields={"success_action_status": "201"}, Conditions=[{"success_action_status": "201"}, ["starts-with", "$key", "up/"]])
    answer = post(made)
    assert answer.status_code == 201 and "<Key>up/a name.txt</Key>" in answer.text, answer.text
    redirect = {"success_action_redirect": "https://example.org/done?a=b"}
    answer = post(form(bucket, Fields=redirect, Conditions=[redirect, ["starts-with", "$key", "up/"]]))
    assert answer.status_code == 303 and answer.headers["location"].startswith("https://example.org/done?a=b&bucket="), answer.headers
    typed = {"Content-Type": "text/x", "x-amz-meta-n": "1"}
    post(form(bucket, Fields=typed, Conditions=[{"Content-Type": "text/x"}, {"x-amz-meta-n": "1"}, ["starts-with", "$key", "up/"]]))
    head = s3.head_object(Bucket=bucket, Key="up/a name.txt")
    assert (head["ContentType"], head["Metadata"]) == ("text/x", {"n": "1"})


def test_a_form_with_other_content(bucket):
    limits = form(bucket, Conditions=[["content-length-range", 2, 4], ["starts-with", "$key", "up/"]])
    assert [post(limits, b"x" * size).status_code for size in (1, 2, 4, 5)] == [400, 204, 204, 400]
    assert (code_of(post(limits, b"x")), code_of(post(limits, b"x" * 5))) == ("EntityTooSmall", "EntityTooLarge")
    assert post(form(bucket), key="down/k").status_code == 403
    assert post(form(bucket), **{"x-amz-meta-other": "1"}).status_code == 403
    assert post(form(bucket), **{"x-amz-signature": "0" * 64}).status_code == 403
    assert post(form(bucket), policy="AAAA").status_code in (400, 403)
    made = form(bucket)
    made["fields"] = {name: value for name, value in made["fields"].items() if name == "key"}
    assert post(made).status_code == 403


def signed_form(wire, policy, at=None):
    at = at or now()
    text = base64.b64encode(policy if isinstance(policy, bytes) else json.dumps(policy).encode()).decode()
    return {"policy": text, "x-amz-signature": wire.signature(at, text)} | fields_of(wire, at)


def fields_of(wire, at):
    return {"x-amz-algorithm": "AWS4-HMAC-SHA256", "x-amz-credential": f"{wire.key_id}/{wire.scope(at)}", "x-amz-date": f"{at:%Y%m%dT%H%M%SZ}", "key": "k"}


def conditions(wire, bucket, at):
    return [{"bucket": bucket}, *({name: value} for name, value in fields_of(wire, at).items())]


def test_a_policy_is_over(wire, bucket):
    # What counts is when the policy is over, not when it was signed.
    for ahead, ago, status in ((60, 0, 204), (60, 3600, 204), (60, 86_400, 204), (-1, 0, 403)):
        until, at = (now() + timedelta(seconds=ahead)).strftime("%Y-%m-%dT%H:%M:%S.000Z"), expired(ago)
        policy = {"expiration": until, "conditions": conditions(wire, bucket, at)}
        answer = post({"url": f"{ENDPOINT}/{bucket}", "fields": signed_form(wire, policy, at)})
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize("policy", [b"", b"{}", b"[", b'{"expiration": "never", "conditions": []}', b'{"conditions": []}', b"\xff", b'{"expiration":"2999-01-01T00:00:00Z","conditions":[["between","$key","a","b"]]}', b"[" * 100_000])
def test_a_policy_that_is_none(wire, bucket, policy):
    answer = post({"url": f"{ENDPOINT}/{bucket}", "fields": signed_form(wire, policy)})
    assert answer.status_code in (400, 403) and code_of(answer), answer.text


def test_a_policy_of_another_bucket(wire, bucket):
    at = now()
    policy = {"expiration": "2999-01-01T00:00:00Z", "conditions": conditions(wire, "another", at)}
    assert post({"url": f"{ENDPOINT}/{bucket}", "fields": signed_form(wire, policy, at)}).status_code == 403


@pytest.mark.skipif("S3_DOMAIN" not in os.environ, reason="the server has no name")
def test_a_bucket_by_its_host_name(bucket, put, monkeypatch):
    put("a b/ü", b"hello")
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: resolve("127.0.0.1", *rest, **more))
    url = urlsplit(ENDPOINT)
    by_name = client(s3={"addressing_style": "virtual"}, endpoint_url=f"{url.scheme}://{os.environ['S3_DOMAIN']}:{url.port}")
    assert by_name.get_object(Bucket=bucket, Key="a b/ü")["Body"].read() == b"hello"
    assert by_name.list_objects_v2(Bucket=bucket)["KeyCount"] == 1
    by_name.put_object(Bucket=bucket, Key=f"{bucket}/x", Body=b"1")
    assert bucket in [it["Name"] for it in by_name.list_buckets()["Buckets"]]
    presigned = by_name.generate_presigned_url("get_object", {"Bucket": bucket, "Key": "a b/ü"}, 60)
    assert presigned.startswith(f"{url.scheme}://{bucket}.") and requests.get(presigned, verify=CA).content == b"hello"
