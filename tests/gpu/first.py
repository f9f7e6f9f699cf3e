"""Prints random convolutions and products without post-ops: python3 first.py SEED COUNT > LINES.

`oxidnn kernels` of many of them puts their kernels into the store; `oxidnn bench --engine gpu --first` of others then measures the first execution of new
shapes.
"""

import random
import sys

TYPES = ["bf16", "f16", "f32", "f32 --attr-fpmath=tf32"]


def product(r):
    m, k, n = (r.choice([1, 3, 8, 17, 64, 100, 128, 333, 512, 1000, 1024, 2048, 4096]) for _ in range(3))
    return f"--matmul --dt={r.choice(TYPES)} --stag=ab --wtag={r.choice(['ab', 'ba'])} --dtag=ab {m}x{k}:{k}x{n}"


def convolution(r):
    kernel, stride = r.choice([1, 1, 3, 3, 3, 5, 7]), r.choice([1, 1, 2])
    size, channels = r.randint(kernel, 112), [r.choice([3, 8, 16, 24, 32, 40, 64, 96, 128, 192, 256]) for _ in range(2)]
    out = (size + 2 * (kernel // 2) - kernel) // stride + 1
    tag, batch = r.choice(["axb", "axb", "abx"]), r.choice([1, 2, 8, 32])
    dtype, direction = r.choice(TYPES), r.choice(["FWD_I", "FWD_I", "BWD_D", "BWD_W"])
    return (
        f"--conv --dir={direction} --dt={dtype} --stag={tag} --wtag={tag} --dtag={tag} "
        f"mb{batch}ic{channels[0]}ih{size}oc{channels[1]}oh{out}kh{kernel}sh{stride}ph{kernel // 2}"
    )


if __name__ == "__main__":
    r = random.Random(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        print("--reset", r.choice([product, convolution])(r))
