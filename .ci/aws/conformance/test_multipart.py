"""Uploads in parts."""

import hashlib
import os

import pytest
from conftest import refused

MIB = 1 << 20
FIVE = os.urandom(5 * MIB)


@pytest.fixture
def upload(s3, bucket):
    class Upload:
        def __init__(self, key="k", **options):
            self.id = {"Bucket": bucket, "Key": key}
            self.id["UploadId"] = s3.create_multipart_upload(**self.id, **options)["UploadId"]

        def part(self, number, body, **options):
            return s3.upload_part(**self.id, PartNumber=number, Body=body, **options)["ETag"]

        def complete(self, *parts, **options):
            parts = [{"PartNumber": number, "ETag": etag} for number, etag in parts]
            return s3.complete_multipart_upload(**self.id, MultipartUpload={"Parts": parts}, **options)

    return Upload


def etag_of(*parts):
    sums = b"".join(hashlib.md5(part).digest() for part in parts)
    return f'"{hashlib.md5(sums).hexdigest()}-{len(parts)}"'


def read(s3, bucket, key="k", **options):
    return s3.get_object(Bucket=bucket, Key=key, **options)["Body"].read()


def test_parts_become_one(s3, bucket, upload):
    it = upload(Metadata={"n": "1"}, ContentType="text/plain", Tagging="a=b")
    parts = [(2, it.part(2, FIVE[::-1])), (7, it.part(7, b"end"))]
    parts.insert(0, (1, it.part(1, FIVE)))
    with refused("NoSuchKey", 404):
        read(s3, bucket)
    answer = it.complete(*parts)
    assert answer["ETag"] == etag_of(FIVE, FIVE[::-1], b"end") and (answer["Bucket"], answer["Key"]) == (bucket, "k"), answer
    found = s3.get_object(Bucket=bucket, Key="k")
    assert found["Body"].read() == FIVE + FIVE[::-1] + b"end" and found["ETag"] == answer["ETag"]
    assert (found["Metadata"], found["ContentType"], found["TagCount"]) == ({"n": "1"}, "text/plain", 1)
    # By their place among the parts, as they now are.
    part = s3.get_object(Bucket=bucket, Key="k", PartNumber=2)
    assert part["Body"].read() == FIVE[::-1] and part["PartsCount"] == 3
    assert part["ContentRange"] == f"bytes {5 * MIB}-{10 * MIB - 1}/{10 * MIB + 3}" and part["ResponseMetadata"]["HTTPStatusCode"] == 206
    assert s3.head_object(Bucket=bucket, Key="k", PartNumber=3)["ContentLength"] == 3
    with refused("InvalidPartNumber", 416):
        s3.get_object(Bucket=bucket, Key="k", PartNumber=4)
    sizes = s3.get_object_attributes(Bucket=bucket, Key="k", ObjectAttributes=["ObjectParts", "ObjectSize"])
    assert sizes["ObjectParts"]["TotalPartsCount"] == 3 and sizes["ObjectSize"] == 10 * MIB + 3
    # Completed twice answers the same.
    assert it.complete(*parts)["ETag"] == answer["ETag"]


def test_a_part_is_sent_again(s3, bucket, upload):
    it = upload()
    first = it.part(1, b"first")
    second = it.part(1, b"second")
    with refused("InvalidPart", 400):
        it.complete((1, first))
    it.complete((1, second))
    assert read(s3, bucket) == b"second"


def test_not_all_parts_are_used(s3, bucket, upload):
    it = upload()
    it.part(1, FIVE)
    it.complete((2, it.part(2, b"only")))
    assert read(s3, bucket) == b"only" and s3.head_object(Bucket=bucket, Key="k")["ETag"] == etag_of(b"only")


def test_it_overwrites(s3, bucket, put, upload):
    it = upload()
    part = it.part(1, b"new")
    put("k", b"meanwhile")
    it.complete((1, part))
    assert read(s3, bucket) == b"new"


def test_what_completes_nothing(s3, bucket, upload):
    it = upload()
    one, two = it.part(1, FIVE), it.part(2, b"2")
    for parts, code in (
        ([(2, two), (1, one)], "InvalidPartOrder"), ([(1, one), (1, one)], "InvalidPartOrder"), ([(1, one), (3, two)], "InvalidPart"),
        ([(1, two)], "InvalidPart"), ([(1, '"x"')], "InvalidPart"), ([], "MalformedXML"),
    ):  # fmt: skip
        with refused(code, 400):
            it.complete(*parts)
    it.complete((1, one), (2, two))
    assert read(s3, bucket) == FIVE + b"2"


def test_parts_that_are_too_small(upload):
    it = upload()
    parts = [(number, it.part(number, body)) for number, body in enumerate([FIVE[:-1], b"end"], 1)]
    with refused("EntityTooSmall", 400):
        it.complete(*parts)
    it.part(1, FIVE)


@pytest.mark.parametrize("number", [0, -1, 10_001, "x"])
def test_numbers_of_no_part(upload, number):
    with refused("InvalidArgument", 400):
        upload().part(number, b"x")


def test_the_last_part(s3, bucket, upload):
    it = upload()
    it.complete((10_000, it.part(10_000, b"x")))
    assert read(s3, bucket) == b"x"


def test_parts_are_listed(s3, bucket, upload):
    it = upload()
    etags = [it.part(number, bytes(number)) for number in (1, 2, 3, 5, 8)]
    found = s3.list_parts(**it.id)
    assert [(part["PartNumber"], part["Size"], part["ETag"]) for part in found["Parts"]] == list(zip((1, 2, 3, 5, 8), (1, 2, 3, 5, 8), etags))
    assert found["StorageClass"] == "STANDARD" and found["Initiator"] and found["Owner"] and not found["IsTruncated"]
    pages = list(s3.get_paginator("list_parts").paginate(**it.id, PaginationConfig={"PageSize": 2}))
    assert [[part["PartNumber"] for part in page["Parts"]] for page in pages] == [[1, 2], [3, 5], [8]]
    assert [part["PartNumber"] for part in s3.list_parts(**it.id, PartNumberMarker=3)["Parts"]] == [5, 8]


def test_uploads_are_listed(s3, bucket, upload):
    uploads = [upload(key) for key in ("a", "b/1", "b/1", "b/2", "c", "ü 😀")]
    expected = sorted(((it.id["Key"], it.id["UploadId"]) for it in uploads[:2] + uploads[3:]), key=lambda it: it[0].encode())
    keys = ["a", "b/1", "b/1", "b/2", "c", "ü 😀"]
    for size in (1, 2, 4, 1000):
        pages = list(s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket, PaginationConfig={"PageSize": size}))
        found = [(it["Key"], it["UploadId"]) for page in pages for it in page["Uploads"]]
        assert [it[0] for it in found] == keys and set(found) >= set(expected) and len(set(found)) == 6, size
    below = s3.list_multipart_uploads(Bucket=bucket, Delimiter="/")
    assert [it["Key"] for it in below["Uploads"]] == ["a", "c", "ü 😀"] and [it["Prefix"] for it in below["CommonPrefixes"]] == ["b/"]
    assert [it["Key"] for it in s3.list_multipart_uploads(Bucket=bucket, Prefix="b/")["Uploads"]] == ["b/1", "b/1", "b/2"]
    assert [it["Key"] for it in s3.list_multipart_uploads(Bucket=bucket, KeyMarker="b/1")["Uploads"]] == ["b/2", "c", "ü 😀"]


def test_an_upload_is_given_up(s3, bucket, upload):
    it = upload()
    part = it.part(1, FIVE)
    s3.abort_multipart_upload(**it.id)
    for call in (lambda: it.complete((1, part)), lambda: it.part(2, b"x"), lambda: s3.list_parts(**it.id), lambda: s3.abort_multipart_upload(**it.id)):
        with refused("NoSuchUpload", 404):
            call()
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)


def test_an_upload_of_another_key(s3, bucket, upload):
    it = upload()
    for options in ({"Key": "other"}, {"UploadId": "none"}):
        with refused("NoSuchUpload", 404):
            s3.upload_part(**(it.id | options), PartNumber=1, Body=b"x")


def test_parts_are_copied(s3, bucket, put, upload):
    put("from ü", FIVE + b"more")
    it = upload()
    source = {"Bucket": bucket, "Key": "from ü"}
    copy = lambda number, **options: s3.upload_part_copy(**it.id, PartNumber=number, CopySource=source, **options)["CopyPartResult"]["ETag"]
    parts = [(1, copy(1)), (2, copy(2, CopySourceRange=f"bytes=0-{5 * MIB - 1}")), (3, copy(3, CopySourceRange="bytes=5242881-5242883"))]
    it.complete(*parts)
    assert read(s3, bucket) == FIVE + b"more" + FIVE + b"ore"
    it = upload("other")
    for asked, code in (("bytes=0-99999999", "InvalidArgument"), ("bytes=5-", "InvalidArgument"), ("0-5", "InvalidArgument"), ("bytes=5-2", "InvalidArgument")):
        with refused(code, 400):
            s3.upload_part_copy(**it.id, PartNumber=1, CopySource=source, CopySourceRange=asked)
    with refused("PreconditionFailed", 412):
        s3.upload_part_copy(**it.id, PartNumber=1, CopySource=source, CopySourceIfMatch='"x"')


def test_a_version_is_made(s3, versioned, upload):
    it = upload()
    answer = it.complete((1, it.part(1, b"x")))
    assert answer["VersionId"] == s3.head_object(Bucket=versioned, Key="k")["VersionId"]
