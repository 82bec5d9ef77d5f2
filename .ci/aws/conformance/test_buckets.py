"""Buckets and what is set on them."""

import pytest
from conftest import REGION, a_bucket, client, refused

WELL_KNOWN = "no-such-bucket-anywhere"


def test_a_bucket(s3, bucket):
    assert s3.head_bucket(Bucket=bucket)["BucketRegion"] == REGION
    assert s3.get_bucket_location(Bucket=bucket)["LocationConstraint"] == (None if REGION == "us-east-1" else REGION)
    with refused("BucketAlreadyOwnedByYou", 409):
        s3.create_bucket(Bucket=bucket)
    assert s3.get_bucket_acl(Bucket=bucket)["Grants"][0]["Permission"] == "FULL_CONTROL"


@pytest.mark.parametrize("name", ["ab", "a" * 64, "Abc", "a_b", "-ab", "ab-", "a..b", "192.168.0.1", ".ab", "a b"])
def test_names(wire, name):
    answer = wire.request("PUT", f"/{name.replace(' ', '%20')}")
    assert (answer.status, answer.code) == (400, "InvalidBucketName"), answer


def test_names_at_the_limit(s3):
    for name in ("a-1", "a" * 63, "a.b"):
        s3.create_bucket(Bucket=name)
        s3.delete_bucket(Bucket=name)


@pytest.mark.parametrize("call, options", [
    ("get_object", {"Key": "k"}), ("put_object", {"Key": "k", "Body": b""}), ("delete_object", {"Key": "k"}), ("list_objects_v2", {}),
    ("list_object_versions", {}), ("list_multipart_uploads", {}), ("delete_bucket", {}), ("get_bucket_versioning", {}),
    ("get_bucket_location", {}), ("create_multipart_upload", {"Key": "k"}), ("get_bucket_tagging", {}), ("get_bucket_cors", {}),
])  # fmt: skip
def test_a_bucket_that_is_not_there(s3, call, options):
    with refused("NoSuchBucket", 404):
        getattr(s3, call)(Bucket=WELL_KNOWN, **options)


def test_heads_have_no_body(s3, bucket):
    for call, options in ((s3.head_bucket, {"Bucket": WELL_KNOWN}), (s3.head_object, {"Bucket": bucket, "Key": "k"})):
        with refused("404", 404):
            call(**options)


def test_errors_say_which(wire, bucket):
    answer = wire.request("GET", f"/{bucket}/none")
    assert answer.headers["content-type"] == "application/xml" and answer.body.startswith(b"<?xml"), answer
    assert answer.text("RequestId") == answer.headers["x-amz-request-id"] and answer.text("Key") == "none", answer


@pytest.mark.parametrize("call, code", [
    ("get_bucket_tagging", "NoSuchTagSet"), ("get_bucket_lifecycle_configuration", "NoSuchLifecycleConfiguration"),
    ("get_bucket_cors", "NoSuchCORSConfiguration"), ("get_bucket_policy", "NoSuchBucketPolicy"),
])  # fmt: skip
def test_what_is_not_set(s3, bucket, call, code):
    with refused(code, 404):
        getattr(s3, call)(Bucket=bucket)


def test_tags(s3, bucket):
    tags = [{"Key": "colour", "Value": "red"}, {"Key": "team", "Value": "ops"}]
    s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": tags})
    assert sorted(s3.get_bucket_tagging(Bucket=bucket)["TagSet"], key=lambda it: it["Key"]) == tags
    s3.delete_bucket_tagging(Bucket=bucket)
    with refused("NoSuchTagSet", 404):
        s3.get_bucket_tagging(Bucket=bucket)


RULES = [
    {"ID": "logs", "Status": "Enabled", "Filter": {"Prefix": "logs/"}, "Expiration": {"Days": 30}},
    {"ID": "old", "Status": "Enabled", "Filter": {"Prefix": ""}, "NoncurrentVersionExpiration": {"NoncurrentDays": 7, "NewerNoncurrentVersions": 3}},
    {"ID": "parts", "Status": "Disabled", "Filter": {}, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 2}},
    {"ID": "tag", "Status": "Enabled", "Filter": {"Tag": {"Key": "a", "Value": "b"}}, "Expiration": {"Days": 1}},
    {"ID": "and", "Status": "Enabled", "Filter": {"And": {"Prefix": "p/", "Tags": [{"Key": "a", "Value": "b"}], "ObjectSizeGreaterThan": 1, "ObjectSizeLessThan": 9}}, "Expiration": {"Days": 1}},
    {"ID": "markers", "Status": "Enabled", "Filter": {"Prefix": "m/"}, "Expiration": {"ExpiredObjectDeleteMarker": True}},
]  # fmt: skip


def test_lifecycle(s3, bucket, put):
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": RULES})
    found = {it["ID"]: it for it in s3.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]}
    assert list(found) == [it["ID"] for it in RULES]
    for rule in RULES:
        assert {name: found[rule["ID"]].get(name) for name in rule if name != "Filter"} == {name: rule[name] for name in rule if name != "Filter"}
    assert found["and"]["Filter"]["And"] == RULES[4]["Filter"]["And"]
    assert 'rule-id="logs"' in put("logs/1", b"")["Expiration"] and "Expiration" not in put("other", b"")
    s3.delete_bucket_lifecycle(Bucket=bucket)
    with refused("NoSuchLifecycleConfiguration", 404):
        s3.get_bucket_lifecycle_configuration(Bucket=bucket)


@pytest.mark.parametrize("change, code", [
    ({"Status": "On"}, "MalformedXML"), ({"Expiration": {"Days": 0}}, "InvalidArgument"), ({"Expiration": {"Days": -1}}, "InvalidArgument"),
    ({"ID": "x" * 256}, "InvalidArgument"), ({"Transitions": [{"Days": 1, "StorageClass": "GLACIER"}]}, None),
])  # fmt: skip
def test_lifecycle_that_is_none(s3, bucket, change, code):
    rule = RULES[0] | change
    if code is None:
        with pytest.raises(s3.exceptions.ClientError) as caught:
            s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [rule]})
        assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] in (400, 501)
        return
    with refused(code, 400):
        s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [rule]})


def test_two_rules_of_one_name(s3, bucket):
    with refused("InvalidArgument", 400):
        s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [RULES[0], RULES[0]]})


CORS = {
    "AllowedOrigins": ["https://*.example.org"], "AllowedMethods": ["PUT", "GET"], "AllowedHeaders": ["x-amz-*", "content-type"],
    "ExposeHeaders": ["ETag"], "MaxAgeSeconds": 60,
}  # fmt: skip


def preflight(wire, bucket, origin="https://app.example.org", method="PUT", headers="X-Amz-Date, Content-Type"):
    asked = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    # Preflights aren't signed; by the key that an address names a bucket is found by its own name.
    return wire.send("OPTIONS", f"/{bucket}/k?{wire.presigned(method, f'/{bucket}/k')}", asked)


def test_cors(s3, wire, bucket, put):
    s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [CORS]})
    assert s3.get_bucket_cors(Bucket=bucket)["CORSRules"] == [CORS]
    answer = preflight(wire, bucket)
    assert answer.status == 200 and answer.headers["access-control-allow-origin"] == "https://app.example.org", answer
    assert "PUT" in answer.headers["access-control-allow-methods"] and answer.headers["access-control-max-age"] == "60"
    allowed = {it.strip().lower() for it in answer.headers["access-control-allow-headers"].split(",")}
    assert {"x-amz-date", "content-type"} <= allowed and "origin" in answer.headers["vary"].lower()
    for other in ({"origin": "https://example.com"}, {"method": "DELETE"}, {"headers": "x-other"}):
        answer = preflight(wire, bucket, **other)
        assert answer.status == 403 and "access-control-allow-origin" not in answer.headers, answer
    put("k", b"1")
    answer = wire.request("GET", f"/{bucket}/k", headers={"Origin": "https://app.example.org"})
    assert answer.headers["access-control-allow-origin"] == "https://app.example.org" and "ETag" in answer.headers["access-control-expose-headers"]
    answer = wire.request("GET", f"/{bucket}/k", headers={"Origin": "https://example.com"})
    assert answer.status == 200 and "access-control-allow-origin" not in answer.headers, answer
    s3.delete_bucket_cors(Bucket=bucket)
    assert preflight(wire, bucket).status == 403


@pytest.mark.parametrize("change", [{"AllowedMethods": ["PATCH"]}, {"AllowedOrigins": ["https://*.*"]}, {"AllowedOrigins": []}])
def test_cors_that_is_none(s3, bucket, change):
    with pytest.raises(s3.exceptions.ClientError) as caught:
        s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [CORS | change]})
    assert caught.value.response["Error"]["Code"] in ("InvalidRequest", "MalformedXML"), caught.value.response


@pytest.mark.parametrize("call", ["get_bucket_website", "get_bucket_logging", "get_bucket_replication", "get_bucket_accelerate_configuration"])
def test_what_is_not_there(s3, bucket, call):
    with refused("NotImplemented", 501):
        getattr(s3, call)(Bucket=bucket)


def test_who_may_only_read(bucket, put):
    put("k", b"1")
    reader = client("READER")
    assert reader.get_object(Bucket=bucket, Key="k")["Body"].read() == b"1"
    for call, options in (("put_object", {"Key": "k"}), ("delete_object", {"Key": "k"}), ("delete_bucket", {}), ("create_multipart_upload", {"Key": "k"})):
        with refused("AccessDenied", 403):
            getattr(reader, call)(Bucket=bucket, **options)
    with refused("AccessDenied", 403):
        reader.create_bucket(Bucket=f"{bucket}-2")


def test_who_may_only_use_one_folder(bucket, put):
    put("k", b"1")
    limited = client("LIMITED")
    limited.put_object(Bucket="only-this", Key="mine/k", Body=b"1")
    assert limited.get_object(Bucket="only-this", Key="mine/k")["Body"].read() == b"1"
    for call, options in (
        ("get_object", {"Bucket": bucket, "Key": "k"}), ("put_object", {"Bucket": "only-this", "Key": "k"}), ("get_object", {"Bucket": "only-this", "Key": "mine"}),
        ("copy_object", {"Bucket": "only-this", "Key": "mine/c", "CopySource": f"{bucket}/k"}), ("list_objects_v2", {"Bucket": "only-this"}),
    ):  # fmt: skip
        with refused("AccessDenied", 403):
            getattr(limited, call)(**options)
    assert limited.list_objects_v2(Bucket="only-this", Prefix="mine/")["KeyCount"] == 1
    limited.delete_object(Bucket="only-this", Key="mine/k")


def test_a_stranger(bucket, put):
    put("k", b"1")
    stranger = client("STRANGER")
    for call, options in (("get_object", {"Key": "k"}), ("put_object", {"Key": "k"}), ("list_objects_v2", {}), ("delete_bucket", {})):
        with refused("NoSuchBucket", 404):
            getattr(stranger, call)(Bucket=bucket, **options)
    assert bucket not in [it["Name"] for it in stranger.list_buckets()["Buckets"]]
    with a_bucket(stranger) as own:
        assert own
    with refused("NoSuchBucket", 404):
        with a_bucket(stranger) as own:
            stranger.copy_object(Bucket=own, Key="c", CopySource=f"{bucket}/k")
