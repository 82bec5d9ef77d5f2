"""Listing: every combination of prefix, delimiter, start and page size is what a few lines of Python say of the same keys."""

import itertools
from urllib.parse import unquote_plus

import pytest
from conftest import a_bucket, refused

KEYS = sorted(
    [
        "a", "a.b", "a/", "a/b", "a/b/c", "a/b/d", "a//", "a//b", "b", "b b/1", "b+b/1", "c%2F", "c%/1", "d<e>&\"'/1", "dir/1", "dir/2",
        "dir/sub/1", "e\n/1", "f\x01/1", "f\x1fg", "f\x7f", "ä/1", "ö", "\uffee/1", "𝄞/1", "😀", "z/../y", "..", "./x", "\\/x",
    ],
    key=str.encode,
)  # fmt: skip
PREFIXES = ["", "a", "a/", "a/b", "b", "dir/", "f", "ä", "none", "😀", "d<"]
DELIMITERS = [None, "/", "b", "//", "/1", "😀"]
STARTS = [None, "a", "a/b", "b+b/1", "dir/sub/1", "f\x7f", "\uffff", "😀", "0"]
SIZES = [0, 1, 2, 7, 1000]


def entries(keys, prefix, delimiter):
    """What is listed in order: keys, and what keys have in common up to the delimiter, as (text, whether it is common)."""
    for key in keys:
        if key.startswith(prefix):
            at = key.find(delimiter, len(prefix)) if delimiter else -1
            yield (key, False) if at < 0 else (key[: at + len(delimiter)], True)


def model(keys, prefix="", delimiter=None, start=None, size=1000):
    found = dict.fromkeys(entries(keys, prefix, delimiter))
    after = [it for it in found if start is None or it[0].encode() > start.encode()]
    return after[:size], len(after) > size > 0


def inside_a_common_prefix(prefix, delimiter, start):
    """Where what is listed behind a start within a common prefix differs between servers and is nowhere said."""
    return bool(start and delimiter and start.startswith(prefix) and delimiter in start[len(prefix) :])


def seen(page):
    keys = [(it["Key"], False) for it in page.get("Contents", [])]
    common = [(it["Prefix"], True) for it in page.get("CommonPrefixes", [])]
    return sorted(keys + common, key=lambda it: it[0].encode())


def given(**options):
    return {name: value for name, value in options.items() if value is not None}


@pytest.fixture(scope="module")
def full(s3):
    with a_bucket(s3) as name:
        for key in KEYS:
            s3.put_object(Bucket=name, Key=key, Body=key.encode())
        yield name


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_every_page_of_version_2(s3, full, delimiter):
    for prefix, start, size in itertools.product(PREFIXES, STARTS, SIZES):
        if inside_a_common_prefix(prefix, delimiter, start):
            continue
        page = s3.list_objects_v2(Bucket=full, Prefix=prefix, MaxKeys=size, **given(Delimiter=delimiter, StartAfter=start))
        expected, truncated = model(KEYS, prefix, delimiter, start, size)
        case = (prefix, delimiter, start, size)
        assert seen(page) == expected, case
        assert (page["IsTruncated"], page["KeyCount"], page["MaxKeys"]) == (truncated, len(expected), size), case
        assert ("NextContinuationToken" in page) == truncated, case


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_every_page_of_version_1(s3, full, delimiter):
    for prefix, start, size in itertools.product(PREFIXES, STARTS, SIZES):
        if inside_a_common_prefix(prefix, delimiter, start):
            continue
        page = s3.list_objects(Bucket=full, Prefix=prefix, MaxKeys=size, **given(Delimiter=delimiter, Marker=start))
        expected, truncated = model(KEYS, prefix, delimiter, start, size)
        case = (prefix, delimiter, start, size)
        assert seen(page) == expected, case
        assert (page["IsTruncated"], page["MaxKeys"]) == (truncated, size), case
        # Only under a delimiter; otherwise it is the last key, which the client knows.
        assert page.get("NextMarker") == (expected[-1][0] if truncated and delimiter else None), case


@pytest.mark.parametrize("form", ["list_objects", "list_objects_v2"])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_walked_to_the_end_in_pages(s3, full, form, size, delimiter):
    for prefix in PREFIXES:
        pages = s3.get_paginator(form).paginate(
            Bucket=full, Prefix=prefix, PaginationConfig={"PageSize": size}, **given(Delimiter=delimiter)
        )
        assert [it for page in pages for it in seen(page)] == model(KEYS, prefix, delimiter, size=9999)[0], prefix


def test_what_an_entry_says(s3, full):
    entry = next(it for it in s3.list_objects_v2(Bucket=full, Prefix="b b/", FetchOwner=True)["Contents"])
    assert entry["Size"] == 5 and entry["ETag"] == s3.head_object(Bucket=full, Key="b b/1")["ETag"]
    assert entry["StorageClass"] == "STANDARD" and entry["Owner"]["ID"]
    assert "Owner" not in s3.list_objects_v2(Bucket=full, Prefix="b b/")["Contents"][0]
    assert "Owner" in s3.list_objects(Bucket=full, Prefix="b b/")["Contents"][0]


def test_names_are_encoded_when_asked(wire, full):
    answer = wire.request("GET", f"/{full}", [("list-type", "2"), ("encoding-type", "url"), ("prefix", "f"), ("delimiter", "\x01")])
    assert answer.status == 200 and answer.text("EncodingType") == "url", answer
    assert unquote_plus(answer.text("Delimiter")) == "\x01" and b"<Prefix>f%01</Prefix>" in answer.body, answer.body
    answer = wire.request("GET", f"/{full}", [("list-type", "2"), ("encoding-type", "url"), ("prefix", "b+")])
    assert answer.text("Key") == "b%2Bb/1" and answer.text("Prefix") == "b%2B", answer.body
    answer = wire.request("GET", f"/{full}", [("list-type", "2"), ("encoding-type", "url"), ("prefix", "b ")])
    assert answer.text("Key") in ("b+b/1", "b%20b/1"), answer.body


def test_names_are_plain_when_not_asked(wire, full):
    answer = wire.request("GET", f"/{full}", [("list-type", "2"), ("prefix", "d<")])
    assert b"<Key>d&lt;e&gt;&amp;" in answer.body and b"EncodingType" not in answer.body, answer.body


def test_an_empty_prefix_is_there(wire, full):
    for query in ([], [("list-type", "2")]):
        answer = wire.request("GET", f"/{full}", query)
        assert b"<Prefix></Prefix>" in answer.body or b"<Prefix/>" in answer.body, answer.body
    assert b"<Marker></Marker>" in wire.request("GET", f"/{full}").body.replace(b"<Marker/>", b"<Marker></Marker>")


def test_at_most_1000_keys(s3, bucket, put):
    for size in (1001, 5000):
        assert s3.list_objects_v2(Bucket=bucket, MaxKeys=size)["MaxKeys"] in (size, 1000)


@pytest.mark.parametrize("size", ["-1", "x", "99999999999", "1.5"])
def test_a_page_size_that_is_none(wire, full, size):
    answer = wire.request("GET", f"/{full}", [("list-type", "2"), ("max-keys", size)])
    assert (answer.status, answer.code) == (400, "InvalidArgument"), answer


@pytest.mark.parametrize("token", ["x", "AAAA", "%00", "a" * 3000])
def test_a_token_that_is_none(s3, full, token):
    with refused("InvalidArgument", 400):
        s3.list_objects_v2(Bucket=full, ContinuationToken=token)


def test_another_encoding_than_url(wire, full):
    answer = wire.request("GET", f"/{full}", [("encoding-type", "base64")])
    assert (answer.status, answer.code) == (400, "InvalidArgument"), answer


def test_the_buckets(s3, bucket):
    found = s3.list_buckets()
    names = [it["Name"] for it in found["Buckets"]]
    assert bucket in names and names == sorted(names) and found["Owner"]["ID"]
    assert [it["Name"] for it in s3.list_buckets(Prefix=bucket)["Buckets"]] == [bucket]
    with a_bucket(s3) as other:
        pages = s3.get_paginator("list_buckets").paginate(Prefix="conformance-", PaginationConfig={"PageSize": 1})
        walked = [it["Name"] for page in pages for it in page["Buckets"]]
        assert set(walked) >= {bucket, other} and walked == sorted(set(walked))
