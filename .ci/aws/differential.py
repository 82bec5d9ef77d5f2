"""A random plan of operations, played to the server and to PyPI's moto: every answer must be the same in status, code and content.

Usage: differential.py MOTO OPERATIONS [SEED], where MOTO is the URL of a moto server that is empty. What moto is known to
do otherwise than S3 the plan leaves out: versions (it answers no header about markers, and loses versions where versioning is
suspended), the start of a listing with a delimiter, pages of no keys, keys with a line break, parts of objects, conditional writes,
empty sets of tags, tags that a file that was deleted had, ranges of empty files.
"""

import os
import random
import sys
import uuid

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

KEYS = ["a", "a/", "a/1", "a/2", "a/b/1", "b", "b c", "b+c", "b%c", "ü", "😀", "x" * 300]
# Sent in parts, and never copied: a copy here shares its source's content, and with that its tag.
IN_PARTS = ["a/parts", "parts", "parts/ü"]
PREFIXES = ["", "a", "a/", "a/b", "b", "none"]
TAGGINGS = ["", "a=1", "a=1&b=2"]

def client(endpoint, key_id, secret):
    config = Config(
        s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, request_checksum_calculation="when_required", response_checksum_validation="when_required"
    )
    return boto3.client("s3", endpoint_url=endpoint, aws_access_key_id=key_id, aws_secret_access_key=secret, config=config)


def listed(answer):
    contents = [(it["Key"], it["Size"], it["ETag"]) for it in answer.get("Contents", [])]
    return contents, [it["Prefix"] for it in answer.get("CommonPrefixes", [])], answer["IsTruncated"]


def read(answer):
    return answer["Body"].read(), answer["ETag"], answer["Metadata"], answer["ContentType"], answer.get("ContentRange")


class Server:
    """One of the two, with the ids that it gave to what the plan calls by numbers."""

    def __init__(self, s3):
        self.s3, self.ids = s3, {}

    def play(self, method, options, given, names):
        options = {name: self.ids.get(value, value) if name == "UploadId" else value for name, value in options.items()}
        try:
            answer = getattr(self.s3, method)(**options)
        except ClientError as error:
            return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]
        for name, number in names.items():
            if answer.get(name):
                self.ids[number] = answer[name]
        return answer["ResponseMetadata"]["HTTPStatusCode"], given(answer)


class Plan:
    def __init__(self, ours, moto, seed):
        self.random, self.both, self.count = random.Random(seed), (Server(ours), Server(moto)), 0
        self.bucket = f"plan-{uuid.uuid4().hex[:12]}"
        region = ours.meta.region_name
        self.same("create_bucket", {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}})

    def same(self, method, options, given=lambda answer: None, names=None):
        sent = {"Bucket": self.bucket} | options
        answers = [it.play(method, sent, given, names or {}) for it in self.both]
        self.count += 1
        if answers[0] != answers[1]:
            sys.exit(f"operation {self.count}, {method}({sent})\nours: {answers[0]!r}\nmoto: {answers[1]!r}")
        return answers[0]

    def key(self):
        return self.random.choice(KEYS)

    def body(self):
        return self.random.randbytes(self.random.choice([1, 10, 1000, 40_000]))

    def step(self):
        self.random.choice([
            self.put, self.put, self.put, self.get, self.get, self.head, self.range, self.copy, self.delete, self.delete_many, self.list, self.list,
            self.list_1, self.tag, self.upload, self.conditional_get, self.missing,
        ])()  # fmt: skip

    def put(self):
        more = self.random.choice([{}, {"Metadata": {"n": "1"}}, {"ContentType": "text/x"}, {"Tagging": self.random.choice(TAGGINGS)}])
        key = self.key()
        self.same("put_object", {"Key": key, "Body": self.body()} | more, lambda it: it["ETag"])
        if more.get("Tagging"):
            self.tags(key)

    def get(self):
        self.same("get_object", {"Key": self.random.choice([*KEYS, *IN_PARTS])}, read)

    def head(self):
        self.same("head_object", {"Key": self.key()}, lambda it: (it["ContentLength"], it["ETag"], it["Metadata"]))

    def range(self):
        asked = self.random.choice(["bytes=0-0", "bytes=5-20", "bytes=-7", "bytes=3-"])
        self.same("get_object", {"Key": self.key(), "Range": asked}, read)

    def conditional_get(self):
        self.same("get_object", {"Key": self.key(), self.random.choice(["IfMatch", "IfNoneMatch"]): '"0"'}, read)

    def copy(self):
        options = {"Key": self.key(), "CopySource": {"Bucket": self.bucket, "Key": self.key()}}
        if self.random.random() < 0.5 or options["Key"] == options["CopySource"]["Key"]:
            options |= {"MetadataDirective": "REPLACE", "Metadata": {"copied": "1"}}
        self.same("copy_object", options, lambda it: it["CopyObjectResult"]["ETag"])

    def delete(self):
        self.same("delete_object", {"Key": self.random.choice([*KEYS, *IN_PARTS])})

    def delete_many(self):
        keys = self.random.sample(KEYS, 3)
        self.same("delete_objects", {"Delete": {"Objects": [{"Key": it} for it in keys]}}, lambda it: sorted(one["Key"] for one in it["Deleted"]))

    def list(self):
        options = {"Prefix": self.random.choice(PREFIXES), "MaxKeys": self.random.choice([1, 2, 5, 1000])}
        if self.random.random() < 0.5:
            options["Delimiter"] = "/"
        elif self.random.random() < 0.5:
            options["StartAfter"] = self.key()
        self.same("list_objects_v2", options, lambda it: (listed(it), it["KeyCount"]))

    def list_1(self):
        options = {"Prefix": self.random.choice(PREFIXES), "MaxKeys": 1000} | self.random.choice([{}, {"Delimiter": "/"}])
        self.same("list_objects", options, listed)

    def tag(self):
        tags = [{"Key": str(number), "Value": "v"} for number in range(self.random.randrange(1, 4))]
        key = self.key()
        self.same("put_object_tagging", {"Key": key, "Tagging": {"TagSet": tags}})
        self.tags(key)

    def tags(self, key):
        self.same("get_object_tagging", {"Key": key}, lambda it: sorted((one["Key"], one["Value"]) for one in it["TagSet"]))

    def upload(self):
        key = self.random.choice(IN_PARTS)
        number = f"upload {self.count}"
        self.same("create_multipart_upload", {"Key": key}, names={"UploadId": number})
        parts = []
        for part in range(1, self.random.randrange(1, 3) + 1):
            body = self.random.randbytes(20) if part == 1 and self.random.random() < 0.9 else self.random.randbytes(30)
            status, etag = self.same("upload_part", {"Key": key, "UploadId": number, "PartNumber": part, "Body": body}, lambda it: it["ETag"])
            parts.append({"PartNumber": part, "ETag": etag})
        # Two parts are refused: the first is too small.
        self.same("complete_multipart_upload", {"Key": key, "UploadId": number, "MultipartUpload": {"Parts": parts}}, lambda it: it["ETag"])
        if len(parts) > 1:
            self.same("abort_multipart_upload", {"Key": key, "UploadId": number})

    def missing(self):
        method = self.random.choice(["get_object", "head_object", "get_object_tagging", "delete_object"])
        self.same(method, {"Key": "never"})


def main():
    operations = int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(2**32)
    print(f"seed {seed}")
    ours = client(os.environ["AWS_ENDPOINT_URL_S3"], os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    plan = Plan(ours, client(sys.argv[1], "moto", "moto"), seed)
    while plan.count < operations:
        plan.step()
    plan.same("list_objects_v2", {}, listed)


main()
