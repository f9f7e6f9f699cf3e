"""Makes the coefficients of src/functions.rs: interpolation at Chebyshev points, which is within a small factor of minimax, for polynomials;
weighted least squares whose weights follow the errors (Lawson) for quotients.

    python3 crates/expr/coefficients.py        # needs mpmath, numpy and scipy; prints the tables as they stand in src/functions.rs
"""

import numpy as np
from scipy import special

from mpmath import chebyfit, expm1, log, log1p, mp, mpf, sqrt

mp.dps = 40


def taylor_safe(f, at_zero):
    """f, with its limit where cancellation would spoil it."""
    return lambda x: at_zero(x) if abs(x) < mpf("1e-8") else f(x)


def show(name, f, interval, terms):
    coefficients, error = chebyfit(f, interval, terms, error=True)
    print(f"const {name}: [f32; {terms}] = rounded([  // error {mp.nstr(error, 2)}")
    print("    " + ", ".join(repr(float(c)) for c in reversed(coefficients)) + ",\n]);")


half_ln2 = log(2) / 2
# e^r = 1 + r EXP(r), EXP(r) = 1 + r (what is shown)
show("EXP", taylor_safe(lambda r: (expm1(r) - r) / r**2, lambda r: mpf(1) / 2 + r / 6), [-half_ln2, half_ln2], 5)
# 2^r = 1 + r EXP2_SHORT(r)
show("EXP2_SHORT", taylor_safe(lambda r: (2**r - 1) / r, lambda r: log(2) + r * log(2) ** 2 / 2), [-mpf(1) / 2, mpf(1) / 2], 4)
# ln(1 + f) = f - f^2/2 + f^3 LN(f)
low, high = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
show("LN", taylor_safe(lambda f: (log1p(f) - f + f**2 / 2) / f**3, lambda f: mpf(1) / 3 - f / 4), [low, high], 9)


def quotient(name, f, end, top, bottom):
    """f(x) = x P(x^2) / Q(x^2) for 0 <= x <= end with so many coefficients, a little more than f at the end, so that it reaches 1 there."""
    t = (1 - np.cos(np.pi * (np.arange(500) + 0.5) / 500)) / 2
    s, want = t**2, f(end * t) * (1 + 2.5e-7 * t**10) / (end * t)
    weights, q, best = np.ones(500), np.ones(500), (np.inf, None, None)
    for _ in range(600):
        scale = np.sqrt(weights) / (np.abs(want) * np.abs(q))
        columns = [s**i * scale for i in range(top)] + [-want * s**j * scale for j in range(1, bottom)]
        a = np.column_stack(columns)
        norm = np.linalg.norm(a, axis=0)
        x = np.linalg.lstsq(a / norm, want * scale, rcond=1e-16)[0] / norm
        p, d = x[:top], np.concatenate([[1], x[top:]])
        q = np.polyval(d[::-1], s)
        error = np.abs(np.polyval(p[::-1], s) / q / want - 1)
        best = min(best, (error.max(), p, d), key=lambda b: b[0])
        weights *= error + 1e-3 * error.max()
        weights /= weights.sum()
    unscaled = [[float(c / end ** (2 * i)) for i, c in enumerate(coefficients)] for coefficients in best[1:]]
    print(f"const {name}: ({end}, {unscaled[0]}, {unscaled[1]}); // error {best[0]:.2}")


quotient("TANH", np.tanh, 9.2, 6, 4)
quotient("ERF", special.erf, 4.0, 7, 5)
