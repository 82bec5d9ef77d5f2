"""PyPI's s3fs, through which pandas, dask and many others read and write."""

import os

import s3fs

bucket = os.environ["BUCKET"]
there = s3fs.S3FileSystem(endpoint_url=os.environ["AWS_ENDPOINT_URL_S3"])
there.mkdir(bucket)
there.pipe(f"{bucket}/a b/ü", b"hello")
assert there.cat(f"{bucket}/a b/ü") == b"hello" and there.size(f"{bucket}/a b/ü") == 5
large = os.urandom(12_000_000)
with there.open(f"{bucket}/large", "wb", block_size=5 << 20) as file:
    for at in range(0, len(large), 1_000_000):
        file.write(large[at : at + 1_000_000])
with there.open(f"{bucket}/large", "rb", block_size=1 << 20) as file:
    file.seek(7_000_000)
    assert file.read(10) == large[7_000_000:7_000_010]
assert there.cat(f"{bucket}/large") == large
with there.open(f"{bucket}/log", "ab") as file:
    file.write(b"one")
with there.open(f"{bucket}/log", "ab") as file:
    file.write(b"two")
assert there.cat(f"{bucket}/log") == b"onetwo"
there.copy(f"{bucket}/large", f"{bucket}/b/copy")
there.mv(f"{bucket}/log", f"{bucket}/b/log")
assert there.find(bucket) == [f"{bucket}/{it}" for it in ("a b/ü", "b/copy", "b/log", "large")], there.find(bucket)
there.invalidate_cache()
assert sorted(there.ls(bucket, detail=False)) == [f"{bucket}/{it}" for it in ("a b", "b", "large")]
assert there.glob(f"{bucket}/*/log") == [f"{bucket}/b/log"]
assert not there.exists(f"{bucket}/log") and there.isdir(f"{bucket}/b")
there.setxattr(f"{bucket}/b/log", season="winter")
assert there.getxattr(f"{bucket}/b/log", "season") == "winter"
there.rm(bucket, recursive=True)
there.invalidate_cache()
assert not there.exists(bucket)
