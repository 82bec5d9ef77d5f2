"""PyPI's minio."""

import io
import os
from datetime import timedelta
from urllib.parse import urlsplit

import urllib3
from minio import Minio
from minio.commonconfig import ENABLED, ComposeSource, CopySource, Filter, Tags
from minio.deleteobjects import DeleteObject
from minio.error import S3Error
from minio.lifecycleconfig import Expiration, LifecycleConfig, Rule
from minio.versioningconfig import VersioningConfig

bucket = os.environ["BUCKET"]
endpoint = urlsplit(os.environ["AWS_ENDPOINT_URL_S3"])
http = urllib3.PoolManager(ca_certs=os.environ.get("AWS_CA_BUNDLE"))
client = Minio(
    endpoint=endpoint.netloc,
    access_key=os.environ["AWS_ACCESS_KEY_ID"],
    secret_key=os.environ["AWS_SECRET_ACCESS_KEY"],
    secure=endpoint.scheme == "https",
    http_client=http,
)


def read(key, **options):
    answer = client.get_object(bucket_name=bucket, object_name=key, **options)
    try:
        return answer.read()
    finally:
        answer.close()
        answer.release_conn()


def put(key, content, **options):
    return client.put_object(bucket_name=bucket, object_name=key, data=io.BytesIO(content), length=len(content), **options)


client.make_bucket(bucket_name=bucket)
assert client.bucket_exists(bucket_name=bucket) and not client.bucket_exists(bucket_name=f"{bucket}-not")

put("a b/ü+%", b"hello", content_type="text/plain", metadata={"season": "winter"})
assert read("a b/ü+%") == b"hello" and read("a b/ü+%", offset=1, length=3) == b"ell"
found = client.stat_object(bucket_name=bucket, object_name="a b/ü+%")
assert found.size == 5 and found.content_type == "text/plain" and found.metadata["x-amz-meta-season"] == "winter"

large = os.urandom(11_000_000)
client.put_object(bucket_name=bucket, object_name="large", data=io.BytesIO(large), length=-1, part_size=5 << 20)
assert read("large") == large
client.copy_object(bucket_name=bucket, object_name="copy", source=CopySource(bucket_name=bucket, object_name="large"))
sources = [ComposeSource(bucket_name=bucket, object_name=name) for name in ("large", "copy")]
client.compose_object(bucket_name=bucket, object_name="composed", sources=sources)
assert read("composed") == large + large

listed = sorted(it.object_name for it in client.list_objects(bucket_name=bucket))
assert listed == ["a b/", "composed", "copy", "large"], listed
listed = [it.object_name for it in client.list_objects(bucket_name=bucket, recursive=True, start_after="composed")]
assert listed == ["copy", "large"], listed

url = client.presigned_get_object(bucket_name=bucket, object_name="large", expires=timedelta(minutes=1))
assert http.request("GET", url).data == large
url = client.presigned_put_object(bucket_name=bucket, object_name="presigned", expires=timedelta(minutes=1))
assert http.request("PUT", url, body=b"from afar").status == 200 and read("presigned") == b"from afar"

tags = Tags.new_object_tags()
tags["colour"] = "red"
client.set_object_tags(bucket_name=bucket, object_name="copy", tags=tags)
assert client.get_object_tags(bucket_name=bucket, object_name="copy") == {"colour": "red"}

rule = Rule(rule_id="logs", status=ENABLED, rule_filter=Filter(prefix="logs/"), expiration=Expiration(days=30))
client.set_bucket_lifecycle(bucket_name=bucket, config=LifecycleConfig([rule]))
assert client.get_bucket_lifecycle(bucket_name=bucket).rules[0].expiration.days == 30

client.set_bucket_versioning(bucket_name=bucket, config=VersioningConfig(ENABLED))
first, second = put("copy", b"1").version_id, put("copy", b"2").version_id
assert first != second and read("copy", version_id=first) == b"1"
client.remove_object(bucket_name=bucket, object_name="copy")
try:
    read("copy")
    raise SystemExit("read after it was deleted")
except S3Error as error:
    assert error.code == "NoSuchKey", error

every = client.list_objects(bucket_name=bucket, recursive=True, include_version=True)
every = [DeleteObject(it.object_name, it.version_id) for it in every]
errors = list(client.remove_objects(bucket_name=bucket, delete_object_list=every))
assert not errors, errors
client.remove_bucket(bucket_name=bucket)
