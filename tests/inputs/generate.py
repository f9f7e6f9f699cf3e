#!/usr/bin/env python3
"""Writes tests/inputs/<driver>/smoke.txt and full.txt. The same files come out of every run and every machine.

    python3 tests/inputs/generate.py            all drivers
    python3 tests/inputs/generate.py conv rnn   only these
    python3 tests/inputs/generate.py --check    writes nothing; fails when a file on disk differs
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True

from generator import convolution, inner_product, matmul, norm, pointwise, pool, reorder, rnn, tensor_ops
from generator.case import Case
from generator.check import check
from generator.choose import choose
from generator.rng import Rng

MANY, FEW = 2180, 460
DRIVERS = {
    "conv": (convolution.conv, MANY, convolution.REAL_CONV), "deconv": (convolution.deconv, MANY, convolution.REAL_DECONV),
    "ip": (inner_product.ip, MANY, inner_product.REAL), "matmul": (matmul.matmul, 2400, matmul.REAL),
    "reorder": (reorder.reorder, MANY, reorder.REAL), "eltwise": (pointwise.eltwise, MANY, pointwise.REAL_ELTWISE),
    "binary": (pointwise.binary, MANY, pointwise.REAL_BINARY), "pool": (pool.pool, MANY, pool.REAL_POOL),
    "rnn": (rnn.rnn, MANY, rnn.REAL), "bnorm": (norm.bnorm, FEW, norm.REAL_BNORM), "lnorm": (norm.lnorm, FEW, norm.REAL_LNORM),
    "gnorm": (norm.gnorm, FEW, norm.REAL_GNORM), "lrn": (norm.lrn, FEW, norm.REAL_LRN),
    "softmax": (norm.softmax, FEW, norm.REAL_SOFTMAX), "reduction": (tensor_ops.reduction, FEW, tensor_ops.REAL_REDUCTION),
    "resampling": (pool.resampling, FEW, pool.REAL_RESAMPLING), "prelu": (pointwise.prelu, FEW, pointwise.REAL_PRELU),
    "shuffle": (tensor_ops.shuffle, FEW, tensor_ops.REAL_SHUFFLE), "concat": (tensor_ops.concat, FEW, tensor_ops.REAL_CONCAT),
    "sum": (tensor_ops.sum_case, FEW, tensor_ops.REAL_SUM), "sdpa": (tensor_ops.sdpa, 2 * FEW, tensor_ops.REAL_SDPA),
}
FULL_COST, SMOKE_COST = 3_000_000_000, 60_000_000
SMOKE_LINES = (70, 150)
HERE = Path(__file__).resolve().parent


def fixed(driver, entries):
    """Realistic shapes, written by hand."""
    for options, desc, macs in entries:
        case = Case(driver)
        for word in options.split():
            key, value = word[2:].split("=", 1)
            (case.attrs if key.startswith("attr-") else case.options)[key] = value
        case.desc, case.macs = desc, macs
        yield case


def cases_of(driver):
    make, count, real = DRIVERS[driver]
    rng, seen, cases = Rng(f"oxidnn {driver} 1"), set(), []

    def keep(case):
        line = case.line()
        if line not in seen:
            check(line)
            seen.add(line)
            cases.append(case)

    for case in fixed(driver, real):
        keep(case)
    while len(cases) < count:
        keep(make(rng))
    return cases


def text(driver, name, cases):
    head = f"# {driver}: {name} problem lines, made by tests/inputs/generate.py; do not edit by hand.\n"
    return head + "".join(case.line() + "\n" for case in cases)


def main(arguments):
    only_check = "--check" in arguments
    drivers = [a for a in arguments if not a.startswith("--")] or list(DRIVERS)
    stale = []
    for driver in drivers:
        full = cases_of(driver)
        smoke, missed = choose(full, SMOKE_COST * 9 // 10, *SMOKE_LINES)
        costs = [sum(c.macs for c in part) for part in (smoke, full)]
        assert costs[0] < SMOKE_COST and costs[1] < FULL_COST, (driver, costs)
        for name, part in (("smoke", smoke), ("full", full)):
            path = HERE / driver / f"{name}.txt"
            if only_check:
                stale += [] if path.exists() and path.read_text() == text(driver, name, part) else [str(path)]
            else:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text(driver, name, part))
        print(f"{driver:10} smoke {len(smoke):4} lines {costs[0] / 1e6:7.1f} MMAC   full {len(full):5} lines "
              f"{costs[1] / 1e6:7.1f} MMAC   features not in smoke {len(missed)}")
    if stale:
        sys.exit("differ from what the generator makes: " + " ".join(stale))


if __name__ == "__main__":
    main(sys.argv[1:])
