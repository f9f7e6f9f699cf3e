"""The loss of connectionist temporal classification by optax on JAX in float64, with its gradient by the activations.

Usage: python cudnn_ctc.py > ../cudnn/ctc.txt, with jax and optax in a virtual environment. A case is a line `case STEPS LETTERS TIMES... : LABELS... : ...`
(the labels of each sample behind a colon), arrays `NAME COUNT NUMBERS...`, and `end`. Arrays: x and dx are steps x samples x letters, cost is one a sample;
letter 0 is the blank.
"""

import zlib

import jax
import numpy as np
import optax

jax.config.update("jax_enable_x64", True)


def tell(name, values):
    values = np.asarray(values).reshape(-1)
    print(name, values.size, *(f"{v:.12g}" for v in values))


def case(steps, letters, times, labels):
    print("case", steps, letters, *times, *(" ".join([":", *map(str, sample)]) for sample in labels))
    rng = np.random.default_rng(zlib.crc32(repr((steps, letters, times, labels)).encode()))
    x = rng.integers(-128, 129, (len(times), steps, letters)) / 32
    longest = max(map(len, labels))
    padded = np.array([list(s) + [0] * (longest - len(s)) for s in labels])
    missing = np.array([[0.0] * len(s) + [1.0] * (longest - len(s)) for s in labels])
    behind = (np.arange(steps)[None, :] >= np.array(times)[:, None]).astype(float)
    cost = lambda v: optax.ctc_loss(v, behind, padded, missing, blank_id=0)  # noqa: E731
    gradient = jax.grad(lambda v: cost(v).sum())(x)
    tell("x", x.transpose(1, 0, 2)), tell("cost", cost(x)), tell("dx", np.asarray(gradient).transpose(1, 0, 2))
    print("end")


case(5, 4, (5, 5), ((1, 2), (3, 3)))
case(8, 6, (8, 5, 3), ((1, 2, 3), (4, 4), (5,)))
case(12, 10, (12, 12, 7, 9), ((1, 2, 1, 2, 9), (3, 3, 3), (4, 5, 6, 7), (8,)))
