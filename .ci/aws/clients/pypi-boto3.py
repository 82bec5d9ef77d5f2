"""PyPI's boto3 with its default settings, and the transfers of its `s3transfer`."""

import io
import os

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

bucket = os.environ["BUCKET"]
client = boto3.client("s3")
client.create_bucket(Bucket=bucket)
client.get_waiter("bucket_exists").wait(Bucket=bucket)
assert bucket in [it["Name"] for it in client.list_buckets()["Buckets"]]

# Checksums that are sent unasked are verified, kept, and verified again as the bytes come back.
put = client.put_object(Bucket=bucket, Key="a b/ü", Body=b"hello", Metadata={"season": "winter"})
assert put["ChecksumCRC32"] == "NhCmhg==", put
got = client.get_object(Bucket=bucket, Key="a b/ü")
assert got["Body"].read() == b"hello" and got["Metadata"] == {"season": "winter"}, got
assert got["ChecksumCRC32"] == "NhCmhg==" and got["ETag"] == '"5d41402abc4b2a76b9719d911017c592"', got
for algorithm in ("CRC32", "SHA1", "SHA256"):
    put = client.put_object(Bucket=bucket, Key=algorithm, Body=b"hello", ChecksumAlgorithm=algorithm)
    head = client.head_object(Bucket=bucket, Key=algorithm, ChecksumMode="ENABLED")
    assert head[f"Checksum{algorithm}"] == put[f"Checksum{algorithm}"], head

# A stream that can't be read twice goes in chunks, with its checksum behind it.
large = os.urandom(17_000_000)
config = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20, max_concurrency=4)
client.upload_fileobj(io.BytesIO(large), bucket, "large", Config=config)
back = io.BytesIO()
client.download_fileobj(bucket, "large", back, Config=config)
assert back.getvalue() == large
client.copy({"Bucket": bucket, "Key": "large"}, bucket, "copy", Config=config)
assert client.get_object(Bucket=bucket, Key="copy", Range="bytes=16999990-")["Body"].read() == large[-10:]

resource = boto3.resource("s3").Bucket(bucket)
for number in range(25):
    resource.put_object(Key=f"many/{number:02}", Body=b"x")
keys = [it.key for it in resource.objects.filter(Prefix="many/").page_size(7)]
assert keys == [f"many/{number:02}" for number in range(25)], keys
pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Delimiter="/")
assert [it["Prefix"] for page in pages for it in page.get("CommonPrefixes", [])] == ["a b/", "many/"]

client.put_object(Bucket=bucket, Key="once", Body=b"1", IfNoneMatch="*")
try:
    client.put_object(Bucket=bucket, Key="once", Body=b"2", IfNoneMatch="*")
    raise SystemExit("written twice")
except ClientError as error:
    assert error.response["Error"]["Code"] == "PreconditionFailed", error.response

resource.objects.all().delete()
client.delete_bucket(Bucket=bucket)
client.get_waiter("bucket_not_exists").wait(Bucket=bucket)
