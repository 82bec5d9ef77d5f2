"""PyPI's obstore: the Rust crate object_store, which DataFusion, Polars, Lance and others read and write through."""

import os

import boto3
import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import S3Store

bucket = os.environ["BUCKET"]
boto3.client("s3").create_bucket(Bucket=bucket)
store = S3Store(
    bucket,
    endpoint=os.environ["AWS_ENDPOINT_URL_S3"],
    region=os.environ["AWS_REGION"],
    client_options={"allow_http": True},
)
put = obstore.put(store, "a b/ü", b"hello", attributes={"Content-Type": "text/plain"})
got = obstore.get(store, "a b/ü")
assert bytes(got.bytes()) == b"hello" and got.attributes["Content-Type"] == "text/plain"
assert got.meta["e_tag"] == put["e_tag"]

large = os.urandom(12_000_000)
obstore.put(store, "large", large, chunk_size=5 << 20)
assert bytes(obstore.get_range(store, "large", start=7_000_000, length=10)) == large[7_000_000:7_000_010]
ranges = obstore.get_ranges(store, "large", starts=[0, 11_000_000], lengths=[5, 5])
assert [bytes(it) for it in ranges] == [large[:5], large[11_000_000:11_000_005]]

obstore.put(store, "once", b"1", mode="create")
try:
    obstore.put(store, "once", b"2", mode="create")
    raise SystemExit("written twice")
except AlreadyExistsError:
    pass
seen = obstore.head(store, "once")
obstore.put(store, "once", b"3", mode={"e_tag": seen["e_tag"]})
try:
    obstore.put(store, "once", b"4", mode={"e_tag": seen["e_tag"]})
    raise SystemExit("written over what was not seen")
except PreconditionError:
    pass
assert bytes(obstore.get(store, "once").bytes()) == b"3"

obstore.copy(store, "large", "b/copy")
obstore.rename(store, "once", "b/once")
listed = sorted(it["path"] for page in obstore.list(store) for it in page)
assert listed == ["a b/ü", "b/copy", "b/once", "large"], listed
below = obstore.list_with_delimiter(store)
assert sorted(below["common_prefixes"]) == ["a b", "b"] and [it["path"] for it in below["objects"]] == ["large"]
obstore.delete(store, listed)
assert not [it for page in obstore.list(store) for it in page]
boto3.client("s3").delete_bucket(Bucket=bucket)
