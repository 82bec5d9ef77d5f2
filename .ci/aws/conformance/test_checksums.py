"""Checksums: of whole objects and of parts, in headers and behind the body, right and wrong."""

import base64
import functools
import hashlib
import os
import zlib

import pytest
from conftest import refused

FIVE = os.urandom(5 << 20)


def crc(polynomial, width):
    """A reflected CRC, bit by bit."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)
        table.append(value)
    ones = (1 << width) - 1

    # Bit by bit it takes seconds, and the same is asked for again.
    @functools.cache
    def of(data):
        value = ones
        for byte in data:
            value = value >> 8 ^ table[(value ^ byte) & 0xFF]
        return (value ^ ones).to_bytes(width // 8, "big")

    return of


SUMS = {
    "CRC32": lambda data: zlib.crc32(data).to_bytes(4, "big"),
    "CRC32C": crc(0x82F63B78, 32),
    "CRC64NVME": crc(0x9A6C9329AC4BC9B5, 64),
    "SHA1": lambda data: hashlib.sha1(data).digest(),
    "SHA256": lambda data: hashlib.sha256(data).digest(),
}


def base(data):
    return base64.b64encode(data).decode()


def test_the_sums_are_right():
    assert (SUMS["CRC32C"](b"123456789").hex(), SUMS["CRC64NVME"](b"123456789").hex()) == ("e3069283", "ae8b14860a799888")


@pytest.mark.parametrize("name", SUMS)
def test_in_a_header(wire, bucket, name):
    header = f"x-amz-checksum-{name.lower()}"
    right = base(SUMS[name](b"hello"))
    answer = wire.request("PUT", f"/{bucket}/k", headers={header: right}, body=b"hello")
    assert answer.status == 200 and answer.headers[header] == right, answer
    for method in ("GET", "HEAD"):
        found = wire.request(method, f"/{bucket}/k", headers={"x-amz-checksum-mode": "ENABLED"})
        assert found.headers[header] == right and found.headers["x-amz-checksum-type"] == "FULL_OBJECT", found
    assert header not in wire.request("HEAD", f"/{bucket}/k").headers
    wrong = wire.request("PUT", f"/{bucket}/wrong", headers={header: base(SUMS[name](b"other"))}, body=b"hello")
    assert (wrong.status, wrong.code) == (400, "BadDigest"), wrong
    for value in ("x", base(b"123"), ""):
        refused = wire.request("PUT", f"/{bucket}/wrong", headers={header: value}, body=b"hello")
        assert (refused.status, refused.code) == (400, "InvalidRequest"), (value, refused)
    assert wire.request("GET", f"/{bucket}/wrong").status == 404


@pytest.mark.parametrize("payload", ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"])
@pytest.mark.parametrize("name", SUMS)
def test_behind_the_body(wire, bucket, name, payload):
    header = f"x-amz-checksum-{name.lower()}"
    chunks = [b"h" * 70_000, b"hello"]
    right = base(SUMS[name](b"".join(chunks)))
    answer = wire.chunked(f"/{bucket}/k", chunks, trailer=(header, right), payload=payload)
    assert answer.status == 200 and answer.headers[header] == right, answer
    found = wire.request("GET", f"/{bucket}/k", headers={"x-amz-checksum-mode": "ENABLED"})
    assert found.body == b"".join(chunks) and found.headers[header] == right and "content-encoding" not in found.headers
    wrong = wire.chunked(f"/{bucket}/wrong", chunks, trailer=(header, base(SUMS[name](b"other"))), payload=payload)
    assert (wrong.status, wrong.code) == (400, "BadDigest"), wrong
    assert wire.request("GET", f"/{bucket}/wrong").status == 404


def test_content_md5(wire, bucket):
    right = base(hashlib.md5(b"hello").digest())
    assert wire.request("PUT", f"/{bucket}/k", headers={"Content-MD5": right}, body=b"hello").status == 200
    wrong = wire.request("PUT", f"/{bucket}/wrong", headers={"Content-MD5": base(bytes(16))}, body=b"hello")
    assert (wrong.status, wrong.code) == (400, "BadDigest"), wrong
    for value in ("x", base(b"short"), ""):
        answer = wire.request("PUT", f"/{bucket}/wrong", headers={"Content-MD5": value}, body=b"hello")
        assert (answer.status, answer.code) == (400, "InvalidDigest"), answer
    assert wire.request("GET", f"/{bucket}/wrong").status == 404


@pytest.mark.parametrize("name, kind", [
    ("CRC32", "COMPOSITE"), ("CRC32", "FULL_OBJECT"), ("CRC32C", "COMPOSITE"), ("CRC32C", "FULL_OBJECT"), ("CRC64NVME", "FULL_OBJECT"),
    ("SHA1", "COMPOSITE"), ("SHA256", "COMPOSITE"),
])  # fmt: skip
def test_of_parts(s3, bucket, name, kind):
    field = f"Checksum{name}"
    created = s3.create_multipart_upload(Bucket=bucket, Key="k", ChecksumAlgorithm=name, ChecksumType=kind)
    assert (created["ChecksumAlgorithm"], created["ChecksumType"]) == (name, kind)
    upload = {"Bucket": bucket, "Key": "k", "UploadId": created["UploadId"]}
    parts, bodies = [], [FIVE, b"end"]
    for number, body in enumerate(bodies, 1):
        right = base(SUMS[name](body))
        sent = s3.upload_part(**upload, PartNumber=number, Body=body, **{field: right})
        assert sent[field] == right
        parts.append({"PartNumber": number, "ETag": sent["ETag"], field: right})
    assert [it[field] for it in s3.list_parts(**upload)["Parts"]] == [it[field] for it in parts]
    with refused("BadDigest", 400):
        s3.upload_part(**upload, PartNumber=3, Body=b"x", **{field: base(SUMS[name](b"y"))})
    with refused("InvalidPart", 400):
        wrong = [parts[0] | {field: parts[1][field]}, parts[1]]
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": wrong})
    sums = [SUMS[name](body) for body in bodies]
    expected = base(SUMS[name](b"".join(bodies))) if kind == "FULL_OBJECT" else base(SUMS[name](b"".join(sums))) + "-2"
    if kind == "FULL_OBJECT":
        with refused("BadDigest", 400):
            s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, ChecksumType=kind, **{field: base(SUMS[name](b"other"))})
    answer = s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, ChecksumType=kind)
    assert (answer[field], answer["ChecksumType"]) == (expected, kind), answer
    head = s3.head_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert (head[field], head["ChecksumType"]) == (expected, kind), head
    listed = s3.list_objects_v2(Bucket=bucket)["Contents"][0]
    assert listed["ChecksumAlgorithm"] == [name] and listed.get("ChecksumType", kind) == kind
    found = s3.get_object_attributes(Bucket=bucket, Key="k", ObjectAttributes=["Checksum", "ObjectParts"])
    assert found["Checksum"][field] == expected.removesuffix("-2") or found["Checksum"][field] == expected
    assert found["ObjectParts"]["TotalPartsCount"] == 2


@pytest.mark.parametrize("name, kind", [("CRC64NVME", "COMPOSITE"), ("SHA1", "FULL_OBJECT"), ("SHA256", "FULL_OBJECT"), ("MD4", None)])
def test_kinds_that_there_are_not(s3, bucket, name, kind):
    with refused("InvalidRequest", 400):
        s3.create_multipart_upload(Bucket=bucket, Key="k", ChecksumAlgorithm=name, **({"ChecksumType": kind} if kind else {}))


def test_two_at_once(wire, bucket):
    headers = {f"x-amz-checksum-{name.lower()}": base(SUMS[name](b"hello")) for name in ("CRC32", "SHA1")}
    answer = wire.request("PUT", f"/{bucket}/k", headers=headers, body=b"hello")
    assert (answer.status, answer.code) == (400, "InvalidRequest"), answer


def test_a_copy_keeps_it_or_makes_another(s3, bucket, put):
    put("k", b"hello", ChecksumAlgorithm="SHA1")
    kept = s3.copy_object(Bucket=bucket, Key="c", CopySource=f"{bucket}/k")["CopyObjectResult"]
    assert kept["ChecksumSHA1"] == base(SUMS["SHA1"](b"hello"))
    made = s3.copy_object(Bucket=bucket, Key="d", CopySource=f"{bucket}/k", ChecksumAlgorithm="SHA256")["CopyObjectResult"]
    assert made["ChecksumSHA256"] == base(SUMS["SHA256"](b"hello"))


def test_what_is_deleted_at_once_is_summed(wire, bucket):
    body = b"<Delete><Object><Key>k</Key></Object></Delete>"
    answer = wire.request("POST", f"/{bucket}", [("delete", "")], {"Content-MD5": base(hashlib.md5(body).digest())}, body)
    assert answer.status == 200, answer
    answer = wire.request("POST", f"/{bucket}", [("delete", "")], {"x-amz-checksum-crc32": base(bytes(4))}, body)
    assert (answer.status, answer.code) == (400, "BadDigest"), answer
