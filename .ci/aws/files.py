"""Makes files of random bytes: files.py FOLDER COUNT SIZE, the same every time; 100 lie in each folder below the first."""

import pathlib
import random
import sys

folder, count, size = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
numbers = random.Random(f"{count} files of {size}")
for number in range(count):
    below = folder if number < 100 else folder / f"folder {number // 100}"
    below.mkdir(parents=True, exist_ok=True)
    (below / f"{number}.bin").write_bytes(numbers.randbytes(size))
