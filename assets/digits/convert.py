"""Writes the digits of scikit-learn's wheel as IDX files: the first 1,437 to train, the last 360 to test.

    pip download --no-deps scikit-learn==1.9.1
    python3 assets/digits/convert.py scikit_learn-*.whl
"""
import gzip, pathlib, struct, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    text = gzip.decompress(wheel.read("sklearn/datasets/data/digits.csv.gz")).decode()
rows = [[int(float(v)) for v in line.split(",")] for line in text.splitlines()]
here = pathlib.Path(__file__).parent


def write(name, sizes, data):
    header = bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes)
    (here / name).write_bytes(header + bytes(data))


for name, part in (("train", rows[:1437]), ("test", rows[1437:])):
    write(f"{name}-images-idx3-ubyte", (len(part), 8, 8), [v for row in part for v in row[:64]])
    write(f"{name}-labels-idx1-ubyte", (len(part),), [row[64] for row in part])
