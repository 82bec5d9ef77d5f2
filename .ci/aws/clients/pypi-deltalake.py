"""PyPI's deltalake: eight writers commit to one table at once, each by a conditional put; no commit may be lost."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import boto3
from arro3.core import Array, DataType, Table
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

WRITERS = 8
commits = int(os.environ["DELTALAKE_COMMITS"])
bucket = os.environ["BUCKET"]
boto3.client("s3").create_bucket(Bucket=bucket)
place = f"s3://{bucket}/table"
options = {
    "AWS_ENDPOINT_URL": os.environ["AWS_ENDPOINT_URL_S3"],
    "AWS_ALLOW_HTTP": "true",
    "aws_conditional_put": "etag",
}


def append(number):
    rows = Table({"number": Array([number], DataType.int64())})
    while True:
        try:
            write_deltalake(place, rows, mode="append", storage_options=options)
            return
        except CommitFailedError as error:
            # It gives up after a number of its own tries; nothing was committed.
            print(f"{number} once more: {error}", file=sys.stderr)


append(0)
with ThreadPoolExecutor(WRITERS) as writers:
    list(writers.map(append, range(1, commits)))

table = DeltaTable(place, storage_options=options)
assert table.version() == commits - 1, f"{table.version()} is not {commits - 1}"
assert len(table.history()) == commits
rows = sorted(table.get_add_actions(flatten=True).column("min.number").to_pylist())
assert rows == list(range(commits)), "a row is missing"
