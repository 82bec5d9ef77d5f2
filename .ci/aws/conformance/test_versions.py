"""Versions: ids, null, suspended, markers, and their listing."""

import itertools

import pytest
from conftest import a_bucket, refused


def suspend(s3, bucket):
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})


def enable(s3, bucket):
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})


def history(s3, bucket, key=None):
    """Version ids of a key, newest first, with whether each is the newest, and a marker."""
    found = s3.list_object_versions(Bucket=bucket, **({"Prefix": key} if key else {}))
    rows = [(it, False) for it in found.get("Versions", [])] + [(it, True) for it in found.get("DeleteMarkers", [])]
    rows.sort(key=lambda it: (it[0]["Key"], not it[0]["IsLatest"], -it[0]["LastModified"].timestamp()))
    return {it["VersionId"]: (it["IsLatest"], marker) for it, marker in rows}


def read(s3, bucket, key, **options):
    return s3.get_object(Bucket=bucket, Key=key, **options)["Body"].read()


def test_a_bucket_begins_without(s3, bucket, put):
    assert "Status" not in s3.get_bucket_versioning(Bucket=bucket)
    assert "VersionId" not in put("k", b"1")
    assert list(history(s3, bucket)) == ["null"]
    assert read(s3, bucket, "k", VersionId="null") == b"1"
    assert "VersionId" not in s3.delete_object(Bucket=bucket, Key="k")
    assert history(s3, bucket) == {}
    with refused("NoSuchKey", 404):
        s3.get_object(Bucket=bucket, Key="k")


def test_every_write_is_kept(s3, versioned, put):
    first, second = put("k", b"1")["VersionId"], put("k", b"2")["VersionId"]
    assert first != second != "null"
    assert [read(s3, versioned, "k", VersionId=it) for it in (first, second)] == [b"1", b"2"]
    got = s3.get_object(Bucket=versioned, Key="k")
    assert got["VersionId"] == second and got["Body"].read() == b"2"
    assert history(s3, versioned) == {second: (True, False), first: (False, False)}


def test_a_marker_hides_and_goes_again(s3, versioned, put):
    version = put("k", b"1")["VersionId"]
    deleted = s3.delete_object(Bucket=versioned, Key="k")
    assert deleted["DeleteMarker"] is True and deleted["VersionId"] not in (version, "null")
    with refused("NoSuchKey", 404):
        s3.get_object(Bucket=versioned, Key="k")
    assert s3.list_objects_v2(Bucket=versioned)["KeyCount"] == 0
    assert read(s3, versioned, "k", VersionId=version) == b"1"
    again = s3.delete_object(Bucket=versioned, Key="k", VersionId=deleted["VersionId"])
    assert again["DeleteMarker"] is True and again["VersionId"] == deleted["VersionId"]
    assert read(s3, versioned, "k") == b"1"


def test_a_marker_is_no_object(wire, s3, versioned, put):
    put("k", b"1")
    marker = s3.delete_object(Bucket=versioned, Key="k")["VersionId"]
    gone = wire.request("GET", f"/{versioned}/k")
    assert gone.status == 404 and gone.headers["x-amz-delete-marker"] == "true", gone
    for method in ("GET", "HEAD"):
        answer = wire.request(method, f"/{versioned}/k", [("versionId", marker)])
        assert answer.status == 405 and answer.headers["x-amz-delete-marker"] == "true", answer
        assert method == "HEAD" or answer.code == "MethodNotAllowed"


def test_a_marker_of_what_never_was(s3, versioned):
    marker = s3.delete_object(Bucket=versioned, Key="never")
    assert marker["DeleteMarker"] is True
    assert history(s3, versioned) == {marker["VersionId"]: (True, True)}


def test_the_next_newest_comes_back(s3, versioned, put):
    first, second = put("k", b"1")["VersionId"], put("k", b"2")["VersionId"]
    gone = s3.delete_object(Bucket=versioned, Key="k", VersionId=second)
    assert gone["VersionId"] == second and not gone.get("DeleteMarker")
    assert read(s3, versioned, "k") == b"1" and history(s3, versioned) == {first: (True, False)}
    s3.delete_object(Bucket=versioned, Key="k", VersionId=first)
    with refused("NoSuchKey", 404):
        s3.get_object(Bucket=versioned, Key="k")


def test_what_was_before_is_null(s3, bucket, put):
    put("k", b"0")
    enable(s3, bucket)
    assert list(history(s3, bucket)) == ["null"]
    first = put("k", b"1")["VersionId"]
    assert history(s3, bucket) == {first: (True, False), "null": (False, False)}
    assert read(s3, bucket, "k", VersionId="null") == b"0"


def test_suspended_replaces_null_and_nothing_else(s3, versioned, put):
    first = put("k", b"1")["VersionId"]
    suspend(s3, versioned)
    assert put("k", b"2").get("VersionId", "null") == "null"
    assert put("k", b"3").get("VersionId", "null") == "null"
    assert history(s3, versioned) == {"null": (True, False), first: (False, False)}
    assert read(s3, versioned, "k", VersionId="null") == b"3"
    marker = s3.delete_object(Bucket=versioned, Key="k")
    assert (marker["DeleteMarker"], marker["VersionId"]) == (True, "null")
    assert history(s3, versioned) == {"null": (True, True), first: (False, False)}
    enable(s3, versioned)
    last = put("k", b"4")["VersionId"]
    assert history(s3, versioned) == {last: (True, False), "null": (False, True), first: (False, False)}
    s3.delete_object(Bucket=versioned, Key="k", VersionId="null")
    assert history(s3, versioned) == {last: (True, False), first: (False, False)}


def test_a_version_that_is_not_there(s3, versioned, put):
    other = put("other", b"1")["VersionId"]
    put("k", b"1")
    for call in (s3.get_object, s3.get_object_tagging):
        with refused("NoSuchVersion", 404):
            call(Bucket=versioned, Key="k", VersionId=other)
    with refused("404", 404):
        s3.head_object(Bucket=versioned, Key="k", VersionId=other)
    assert s3.delete_object(Bucket=versioned, Key="k", VersionId=other)["ResponseMetadata"]["HTTPStatusCode"] == 204
    with refused("InvalidArgument", 400):
        s3.get_object(Bucket=versioned, Key="k", VersionId="no version")


def test_a_version_is_copied(s3, versioned, put):
    first = put("k", b"1", Metadata={"n": "1"})["VersionId"]
    put("k", b"2")
    copied = s3.copy_object(Bucket=versioned, Key="c", CopySource={"Bucket": versioned, "Key": "k", "VersionId": first})
    assert copied["CopySourceVersionId"] == first and copied["VersionId"]
    got = s3.get_object(Bucket=versioned, Key="c")
    assert (got["Body"].read(), got["Metadata"]) == (b"1", {"n": "1"})
    restored = s3.copy_object(Bucket=versioned, Key="k", CopySource={"Bucket": versioned, "Key": "k", "VersionId": first})
    assert read(s3, versioned, "k") == b"1" and restored["VersionId"] != first
    marker = s3.delete_object(Bucket=versioned, Key="k")["VersionId"]
    with refused("InvalidRequest", 400):
        s3.copy_object(Bucket=versioned, Key="d", CopySource={"Bucket": versioned, "Key": "k", "VersionId": marker})
    with refused("NoSuchKey", 404):
        s3.copy_object(Bucket=versioned, Key="d", CopySource={"Bucket": versioned, "Key": "k"})


def test_many_are_deleted_at_once(s3, versioned, put):
    first = put("a", b"1")["VersionId"]
    put("a", b"2"), put("b", b"1")
    asked = [{"Key": "a", "VersionId": first}, {"Key": "b"}, {"Key": "never"}]
    answer = s3.delete_objects(Bucket=versioned, Delete={"Objects": asked})
    found = {it["Key"]: it for it in answer["Deleted"]}
    assert not answer.get("Errors") and found["a"]["VersionId"] == first and "DeleteMarker" not in found["a"]
    assert found["b"]["DeleteMarker"] is True and found["b"]["DeleteMarkerVersionId"]
    quiet = s3.delete_objects(Bucket=versioned, Delete={"Objects": [{"Key": "a"}], "Quiet": True})
    assert "Deleted" not in quiet and "Errors" not in quiet


def test_a_bucket_with_a_marker_is_not_empty(s3, versioned):
    s3.delete_object(Bucket=versioned, Key="k")
    with refused("BucketNotEmpty", 409):
        s3.delete_bucket(Bucket=versioned)


@pytest.mark.parametrize("status", ["On", "", "enabled", None])
def test_another_status(s3, bucket, status):
    with refused("MalformedXML" if status is not None else "IllegalVersioningConfigurationException", 400):
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status} if status is not None else {})


KEYS = ["a", "a/1", "a/2", "b/1", "b/2", "c", "ü", "😀/1"]


@pytest.fixture(scope="module")
def full(s3):
    """Three entries of each key, a marker among them, newest first."""
    with a_bucket(s3) as name:
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        entries = []
        for number, key in enumerate(KEYS):
            ids = []
            for turn in range(3):
                if turn == number % 3:
                    ids.append(s3.delete_object(Bucket=name, Key=key)["VersionId"])
                else:
                    ids.append(s3.put_object(Bucket=name, Key=key, Body=b"x")["VersionId"])
            entries += [(key, it) for it in reversed(ids)]
        yield name, entries


def order(page, entries):
    rows = page.get("Versions", []) + page.get("DeleteMarkers", [])
    at = {it: place for place, it in enumerate(entries)}
    rows = sorted(((it["Key"], it["VersionId"]) for it in rows), key=at.__getitem__)
    return rows, [it["Prefix"] for it in page.get("CommonPrefixes", [])]


@pytest.mark.parametrize("delimiter", [None, "/"])
@pytest.mark.parametrize("prefix", ["", "a", "a/", "b", "none"])
def test_every_listing_of_versions(s3, full, prefix, delimiter):
    bucket, entries = full
    options = {"Delimiter": delimiter} if delimiter else {}
    rows, common = [], []
    for key, version in entries:
        if key.startswith(prefix):
            at = key.find("/", len(prefix)) if delimiter else -1
            if at < 0:
                rows.append((key, version))
            elif key[: at + 1] not in common:
                common.append(key[: at + 1])
    for size in (1, 2, 3, 5, 1000):
        config = {"PageSize": size}
        pages = list(s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix, PaginationConfig=config, **options))
        seen = [order(page, entries) for page in pages]
        assert [it for page in seen for it in page[0]] == rows and [it for page in seen for it in page[1]] == common, size
        assert all(len(page[0]) + len(page[1]) <= size for page in seen)
        latest = [it for page in pages for it in page.get("Versions", []) + page.get("DeleteMarkers", []) if it["IsLatest"]]
        assert sorted(it["Key"] for it in latest) == sorted({key for key, _ in rows})
    assert not s3.list_object_versions(Bucket=bucket, Prefix=prefix, MaxKeys=0, **options)["IsTruncated"]


def test_from_every_position(s3, full):
    bucket, entries = full
    for at, (key, version) in enumerate(entries):
        page = s3.list_object_versions(Bucket=bucket, KeyMarker=key, VersionIdMarker=version)
        assert order(page, entries)[0] == entries[at + 1 :]
        page = s3.list_object_versions(Bucket=bucket, KeyMarker=key)
        assert order(page, entries)[0] == list(itertools.dropwhile(lambda it: it[0] <= key, entries))
    with refused("InvalidArgument", 400):
        s3.list_object_versions(Bucket=bucket, VersionIdMarker=entries[0][1])
