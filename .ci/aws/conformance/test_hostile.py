"""Requests that mean harm, or come from programs that are broken."""

import base64
import dataclasses
import hashlib
import hmac
import http.client
from datetime import timedelta
from email.utils import format_datetime

import pytest
from wire import CHUNKS, CHUNKS_WITH_TRAILER, UNSIGNED, UNSIGNED_WITH_TRAILER, now

CRC = "x-amz-checksum-crc32"


@pytest.fixture
def nothing_kept(wire, bucket):
    """The path of an object that a test must not have made."""
    yield f"/{bucket}/k"
    assert wire.request("GET", f"/{bucket}/k").status == 404


def refused(answer, status, *codes):
    assert answer.status == status and answer.code in codes, answer


def test_a_wrong_signature(wire, nothing_kept):
    headers = wire.signed_headers("PUT", nothing_kept, body=b"x")
    wrong = headers["Authorization"][:-1] + ("0" if headers["Authorization"][-1] != "0" else "1")
    refused(wire.send("PUT", nothing_kept, headers | {"Authorization": wrong}, b"x"), 403, "SignatureDoesNotMatch")


def test_another_path_query_or_header_than_was_signed(wire, nothing_kept):
    headers = wire.signed_headers("PUT", nothing_kept + "2", body=b"x")
    refused(wire.send("PUT", nothing_kept, headers, b"x"), 403, "SignatureDoesNotMatch")
    headers = wire.signed_headers("PUT", nothing_kept, [("tagging", "")], body=b"x")
    refused(wire.send("PUT", nothing_kept, headers, b"x"), 403, "SignatureDoesNotMatch")
    headers = wire.signed_headers("PUT", nothing_kept, body=b"x", headers={"Content-Type": "a/b"})
    refused(wire.send("PUT", nothing_kept, headers | {"Content-Type": "c/d"}, b"x"), 403, "SignatureDoesNotMatch")


def test_headers_that_should_have_been_signed(wire, nothing_kept):
    late = wire.signed_headers("PUT", nothing_kept, body=b"x", late={"x-amz-meta-more": "1"})
    refused(wire.send("PUT", nothing_kept, late, b"x"), 403, "AccessDenied")
    no_host = wire.signed_headers("PUT", nothing_kept, body=b"x", unsigned=["host"])
    refused(wire.send("PUT", nothing_kept, no_host, b"x"), 403, "AccessDenied", "SignatureDoesNotMatch")


def test_another_body_than_was_signed(wire, nothing_kept):
    headers = wire.signed_headers("PUT", nothing_kept, body=b"one")
    refused(wire.send("PUT", nothing_kept, headers, b"two"), 400, "XAmzContentSHA256Mismatch")
    answer = wire.request("PUT", nothing_kept, body=b"x", payload="no hash")
    assert answer.status in (400, 403), answer


def test_a_body_that_nobody_signed(wire, bucket):
    assert wire.request("PUT", f"/{bucket}/k", body=b"x", payload=UNSIGNED).status == 200


@pytest.mark.parametrize("seconds", [-901, 901, -100_000, 10**9])
def test_a_clock_that_is_wrong(wire, nothing_kept, seconds):
    answer = wire.request("PUT", nothing_kept, body=b"x", at=now() + timedelta(seconds=seconds))
    refused(answer, 403, "RequestTimeTooSkewed")


@pytest.mark.parametrize("seconds", [-880, 880])
def test_a_clock_that_is_nearly_right(wire, bucket, seconds):
    assert wire.request("PUT", f"/{bucket}/k", body=b"x", at=now() + timedelta(seconds=seconds)).status == 200


@pytest.mark.parametrize("authorization", [
    "", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA256 Credential=, SignedHeaders=, Signature=", "Bearer x", "AWS4-HMAC-SHA256 Credential=a/b/c",
    "AWS4-HMAC-SHA256 Credential=AKIA/20200101/x/s3/aws4_request, SignedHeaders=host, Signature=" + "0" * 64, "AWS4-ECDSA-P256-SHA256 Credential=a", "\x80\xff", "x" * 9000,
])  # fmt: skip
def test_an_authorization_that_is_none(wire, nothing_kept, authorization):
    headers = wire.signed_headers("PUT", nothing_kept, body=b"x") | {"Authorization": authorization.encode("latin-1")}
    answer = wire.send("PUT", nothing_kept, headers, b"x")
    assert 400 <= answer.status < 500, answer


def test_a_key_that_nobody_has(wire, nothing_kept):
    other = dataclasses.replace(wire, key_id="TRPA0000000000000000")
    refused(other.request("PUT", nothing_kept, body=b"x"), 403, "InvalidAccessKeyId")


def test_another_region_or_service(wire, nothing_kept):
    # A signature is of its region, whichever that is; there is one here only.
    other = dataclasses.replace(wire, region="mars-north-1")
    assert other.request("GET", nothing_kept).code == "NoSuchKey"
    headers = wire.signed_headers("PUT", nothing_kept, body=b"x")
    for ours, others in (("/s3/", "/ec2/"), (f"/{wire.region}/", "/mars-north-1/")):
        answer = wire.send("PUT", nothing_kept, headers | {"Authorization": headers["Authorization"].replace(ours, others)}, b"x")
        assert answer.status in (400, 403, 501), answer


def test_nobody(wire, nothing_kept):
    refused(wire.send("PUT", nothing_kept, body=b"x"), 403, "AccessDenied")
    refused(wire.send("GET", "/"), 403, "AccessDenied")
    refused(wire.send("GET", nothing_kept.rsplit("/", 1)[0]), 403, "AccessDenied")


def version_2(wire, method, path, date):
    text = f"{method}\n\n\n{date}\n{path}"
    return base64.b64encode(hmac.digest(wire.secret.encode(), text.encode(), "sha1")).decode()


def test_signatures_of_version_2(wire, nothing_kept):
    date = format_datetime(now(), usegmt=True)
    headers = {"Date": date, "Authorization": f"AWS {wire.key_id}:{version_2(wire, 'PUT', nothing_kept, date)}"}
    refused(wire.send("PUT", nothing_kept, headers, b"x"), 400, "InvalidRequest")
    until = int(now().timestamp()) + 60
    signature = version_2(wire, "PUT", nothing_kept, until).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    answer = wire.send("PUT", f"{nothing_kept}?AWSAccessKeyId={wire.key_id}&Expires={until}&Signature={signature}", {}, b"x")
    refused(answer, 400, "InvalidRequest")


def test_a_header_and_a_query(wire, nothing_kept):
    query = wire.presigned("PUT", nothing_kept)
    answer = wire.send("PUT", f"{nothing_kept}?{query}", wire.signed_headers("PUT", nothing_kept, body=b"x"), b"x")
    assert answer.status in (400, 403), answer


def test_a_presigned_address_with_more_headers(wire, nothing_kept):
    query = wire.presigned("PUT", nothing_kept)
    answer = wire.send("PUT", f"{nothing_kept}?{query}", {"x-amz-meta-n": "1"}, b"x")
    refused(answer, 403, "AccessDenied")


def test_a_body_that_is_short(wire, nothing_kept):
    if wire.endpoint.startswith("https:"):
        pytest.skip("the proxy breaks off by itself")
    try:
        answer = wire.request("PUT", nothing_kept, body=b"four", length=40, half_close=True)
    except http.client.HTTPException:
        return
    refused(answer, 400, "IncompleteBody")


def test_chunks_in_order(wire, bucket):
    for payload, trailer in ((CHUNKS, None), (CHUNKS_WITH_TRAILER, (CRC, "NhCmhg==")), (UNSIGNED_WITH_TRAILER, (CRC, "NhCmhg=="))):
        answer = wire.chunked(f"/{bucket}/k", [b"he", b"llo"], trailer=trailer, payload=payload)
        assert answer.status == 200, answer
        assert wire.request("GET", f"/{bucket}/k").body == b"hello"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_chunks_wrong_signature(wire, nothing_kept, number):
    spoil = lambda at, signature: "0" * 64 if at == number else signature
    refused(wire.chunked(nothing_kept, [b"he", b"llo"], spoil=spoil), 403, "SignatureDoesNotMatch")


def test_a_trailers_wrong_signature(wire, nothing_kept):
    spoil = lambda at, signature: "0" * 64 if at == -1 else signature
    answer = wire.chunked(nothing_kept, [b"hello"], trailer=(CRC, "NhCmhg=="), payload=CHUNKS_WITH_TRAILER, spoil=spoil)
    refused(answer, 403, "SignatureDoesNotMatch")


@pytest.mark.parametrize("payload", [CHUNKS_WITH_TRAILER, UNSIGNED_WITH_TRAILER])
def test_a_trailer_that_lies(wire, nothing_kept, payload):
    refused(wire.chunked(nothing_kept, [b"hello"], trailer=(CRC, "AAAAAA=="), payload=payload), 400, "BadDigest")
    answer = wire.chunked(nothing_kept, [b"hello"], trailer=("x-amz-checksum-sha1", "AAAA"), declared=CRC, payload=payload)
    assert 400 <= answer.status < 500, answer
    answer = wire.chunked(nothing_kept, [b"hello"], declared=CRC, payload=payload)
    assert 400 <= answer.status < 500, answer


@pytest.mark.parametrize("length", [4, 6, 0])
@pytest.mark.parametrize("payload", [CHUNKS, UNSIGNED_WITH_TRAILER])
def test_another_length_than_was_announced(wire, nothing_kept, payload, length):
    trailer = (CRC, "NhCmhg==") if payload == UNSIGNED_WITH_TRAILER else None
    refused(wire.chunked(nothing_kept, [b"hello"], payload=payload, trailer=trailer, length=length), 400, "IncompleteBody", "InvalidRequest")


@pytest.mark.parametrize("body", [b"", b"5\r\nhello", b"zz\r\nhello\r\n0\r\n\r\n", b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n", b"5hello\r\n0\r\n\r\n", b"5;" + b"x" * 100_000 + b"\r\nhello\r\n0\r\n\r\n"])
def test_chunks_that_are_none(wire, nothing_kept, body):
    headers = {"x-amz-decoded-content-length": "5", "Content-Encoding": "aws-chunked", "x-amz-trailer": CRC}
    answer = wire.request("PUT", nothing_kept, headers=headers, body=body, payload=UNSIGNED_WITH_TRAILER)
    assert 400 <= answer.status < 500 and answer.code, answer


def test_a_body_of_no_length(wire, nothing_kept):
    if wire.endpoint.startswith("https:"):
        pytest.skip("the proxy counts the bytes by itself")
    headers = wire.signed_headers("PUT", nothing_kept, payload=UNSIGNED) | {"Transfer-Encoding": "chunked"}
    answer = wire.send("PUT", nothing_kept, headers, b"1\r\nx\r\n0\r\n\r\n")
    refused(answer, 411, "MissingContentLength")


def test_more_than_5_gib_at_once(wire, nothing_kept):
    headers = wire.signed_headers("PUT", nothing_kept, payload=UNSIGNED)
    refused(wire.send("PUT", nothing_kept, headers, b"", length=5 * 2**30 + 1), 400, "EntityTooLarge")


BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    b'<!ENTITY %c "%s">' % (letter, b"&%c;" % (letter - 1) * 10) for letter in range(ord("b"), ord("k"))
) + b"]><Delete><Object><Key>&j;</Key></Object></Delete>"
FILE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&a;</Key></Object></Delete>'


def delete(wire, bucket, body):
    md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
    return wire.request("POST", f"/{bucket}", [("delete", "")], {"Content-MD5": md5}, body)


@pytest.mark.parametrize("body", [
    BOMB, FILE, b"", b"<", b"<Delete>", b"<Delete/>", b"<Delete></Delete>", b"{}", b"\x00", b"<Delete><Object></Object></Delete>", b"<Other/>",
    b"<Delete>" + b"<Object>" * 50_000, b"<Delete><Object><Key>&nbsp;</Key></Object></Delete>", b"\xff\xfe<\x00",
    b"<Delete><Object><Key>a</Key></Object></Delete><Delete/>",
])  # fmt: skip
def test_xml_that_is_none(wire, bucket, body):
    answer = delete(wire, bucket, body)
    assert answer.status == 400 and answer.code in ("MalformedXML", "InvalidRequest", "MissingRequestBodyError"), answer


def objects(count, key="k"):
    return b"<Delete>" + b"".join(b"<Object><Key>%s%d</Key></Object>" % (key.encode(), number) for number in range(count)) + b"</Delete>"


def test_1001_keys(wire, bucket):
    assert delete(wire, bucket, objects(1000)).status == 200
    refused(delete(wire, bucket, objects(1001)), 400, "MalformedXML")


def test_much_xml(wire, bucket):
    answer = delete(wire, bucket, objects(1000, "k" * 20_000))
    assert 400 <= answer.status < 500, answer


def test_a_delete_without_a_sum(wire, bucket):
    answer = wire.request("POST", f"/{bucket}", [("delete", "")], body=b"<Delete><Object><Key>k</Key></Object></Delete>")
    refused(answer, 400, "InvalidRequest", "MissingContentMD5")


def test_long_keys(wire, bucket):
    for key, size in (("k", 1024), ("%C3%BC", 512)):
        assert wire.request("PUT", f"/{bucket}/{key * size}").status == 200
    for key, size in (("k", 1025), ("%C3%BC", 513)):
        refused(wire.request("PUT", f"/{bucket}/{key * size}"), 400, "KeyTooLongError")
        assert 400 <= wire.request("GET", f"/{bucket}/{key * size}").status < 500


@pytest.mark.parametrize("key", ["%00", "a%00b", "%FF", "%C3", "%ED%A0%80", "%zz", "%"])
def test_keys_that_are_no_text(wire, nothing_kept, key):
    path = nothing_kept.rsplit("/", 1)[0] + "/" + key
    answer = wire.request("PUT", path)
    assert 400 <= answer.status < 500, answer


@pytest.mark.parametrize("key", ["../../etc/passwd", "../x", "a//b", "a/../b", "./a", "a/"])
@pytest.mark.parametrize("slash", ["/", "%2F", "%2f"])
def test_paths_are_only_names(wire, bucket, key, slash):
    if wire.endpoint.startswith("https:") and key.startswith("../.."):
        pytest.skip("the proxy takes no path that leads above the first one")
    headers = wire.signed_headers("PUT", f"/{bucket}/{key}", body=b"x")
    answer = wire.send("PUT", f"/{bucket}/{key.replace('/', slash)}", headers, b"x")
    assert answer.status == 200, answer
    listed = wire.request("GET", f"/{bucket}", [("list-type", "2")])
    assert listed.text("Key") == key, listed


@pytest.mark.parametrize("method, query", [("PATCH", []), ("POST", []), ("PUT", [("acl", ""), ("policy", "")]), ("DELETE", [("uploads", "")]), ("TRACE", []), ("CONNECT", []), ("LOCK", [])])
def test_what_is_no_operation(wire, bucket, method, query):
    answer = wire.request(method, f"/{bucket}/k", query)
    assert 400 <= answer.status < 500 or answer.status == 501, answer


def test_it_still_works(wire, bucket):
    assert wire.request("PUT", f"/{bucket}/k", body=b"x").status == 200
