"""Makes the polynomial coefficients of src/lane: interpolation at Chebyshev points, which is within a small factor of minimax.

    python3 crates/expr/coefficients.py        # needs mpmath; prints the tables as they stand in src/lane/mod.rs
"""

from mpmath import chebyfit, erf, erfc, exp, expm1, log, log1p, mp, mpf, sqrt

mp.dps = 40


def taylor_safe(f, at_zero):
    """f, with its limit where cancellation would spoil it."""
    return lambda x: at_zero(x) if abs(x) < mpf("1e-8") else f(x)


def show(name, f, interval, terms):
    coefficients, error = chebyfit(f, interval, terms, error=True)
    print(f"const {name}: [f32; {terms}] = rounded([  // error {mp.nstr(error, 2)}")
    print("    " + ", ".join(repr(float(c)) for c in reversed(coefficients)) + ",\n]);")


half_ln2 = log(2) / 2
# e^r = 1 + r + r^2 EXP(r)
show("EXP", taylor_safe(lambda r: (expm1(r) - r) / r**2, lambda r: mpf(1) / 2 + r / 6), [-half_ln2, half_ln2], 5)
# ln(1 + f) = f - f^2/2 + f^3 LN(f)
low, high = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
show("LN", taylor_safe(lambda f: (log1p(f) - f + f**2 / 2) / f**3, lambda f: mpf(1) / 3 - f / 4), [low, high], 9)
# erf(x) = x ERF_SMALL(x^2), |x| < 1
show("ERF_SMALL", lambda s: erf(sqrt(s)) / sqrt(s) if s > 1e-16 else 2 / sqrt(mp.pi), [0, 1], 7)
# erf(x) = 1 - e^ERF_LARGE(x), 1 <= x <= 4
show("ERF_LARGE", lambda x: log(erfc(x)), [1, 4], 8)
