"""A client that neither retries nor checks its own parameters, buckets that are gone after a test, and raw requests."""

import os
import uuid
from contextlib import contextmanager

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from wire import Wire

ENDPOINT = os.environ["AWS_ENDPOINT_URL_S3"]
REGION = os.environ["AWS_REGION"]


def client(key="AWS", endpoint_url=None, **options):
    s3 = {"addressing_style": "path"} | options.pop("s3", {})
    # Without the last one boto3 signs addresses and forms by the second version, where the region has the name of Amazon's first.
    settings = {"retries": {"total_max_attempts": 1}, "parameter_validation": False, "read_timeout": 60, "signature_version": "s3v4"}
    config = Config(s3=s3, **(settings | options))
    key_id, secret = os.environ[f"{key}_ACCESS_KEY_ID"], os.environ[f"{key}_SECRET_ACCESS_KEY"]
    return boto3.client("s3", endpoint_url=endpoint_url or ENDPOINT, aws_access_key_id=key_id, aws_secret_access_key=secret, config=config)


@pytest.fixture(scope="session")
def s3():
    return client()


def _wire(key):
    ids = os.environ[f"{key}_ACCESS_KEY_ID"], os.environ[f"{key}_SECRET_ACCESS_KEY"]
    return Wire(ENDPOINT, *ids, REGION, os.environ.get("AWS_CA_BUNDLE"))


@pytest.fixture(scope="session")
def wire():
    return _wire("AWS")


def _empty(s3, bucket):
    for upload in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", []):
        s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        found = page.get("Versions", []) + page.get("DeleteMarkers", [])
        if found:
            ids = [{"Key": it["Key"], "VersionId": it["VersionId"]} for it in found]
            answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": ids, "Quiet": True})
            assert not answer.get("Errors"), answer["Errors"]


@contextmanager
def a_bucket(s3):
    name = f"conformance-{uuid.uuid4().hex[:12]}"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION} if REGION != "us-east-1" else {})
    try:
        yield name
    finally:
        _empty(s3, name)
        s3.delete_bucket(Bucket=name)


@pytest.fixture
def bucket(s3):
    with a_bucket(s3) as name:
        yield name


@pytest.fixture
def versioned(s3, bucket):
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    return bucket


@pytest.fixture
def put(s3, bucket):
    """Puts an object; the answer."""

    def put(key, body=b"", **options):
        return s3.put_object(Bucket=bucket, Key=key, Body=body, **options)

    return put


@contextmanager
def refused(code, status=None):
    """That what is done within is answered with this error."""
    with pytest.raises(ClientError) as caught:
        yield
    answer = caught.value.response
    seen = answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]
    assert seen == (code, seen[1] if status is None else status), answer

