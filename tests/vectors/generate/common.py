"""What every generator shares: data types, the case being built, attributes, the eltwise and binary formulas, the writer.

A *case* is one problem line in the project's grammar, the inputs (exactly representable in their types) and the float64
truth. The random generator of a case is seeded with its problem line, so cases are independent of each other and of order.
"""

import json
import math
import os
import zlib

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402,F401

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

# ---------------------------------------------------------------------------------------------------------------- types

INTS = {
    "s8": (-128, 127), "u8": (0, 255), "s4": (-8, 7), "u4": (0, 15),
    "s32": (-(2**31), 2**31 - 1), "s64": (-(2**63), 2**63 - 1), "boolean": (0, 1),
}
FLOATS = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8_e5m2": ml_dtypes.float8_e5m2, "f8_e4m3": ml_dtypes.float8_e4m3fn,
    "e8m0": ml_dtypes.float8_e8m0fnu, "f4_e2m1": ml_dtypes.float4_e2m1fn,
}
# Default ranges of random inputs: (low, high, step); small, so that sums stay exact and the text short.
RANGES = {
    "f32": (-2, 2, 1 / 32), "f64": (-2, 2, 1 / 32), "f16": (-2, 2, 1 / 16), "bf16": (-2, 2, 1 / 16),
    "f8_e5m2": (-2, 2, 1 / 4), "f8_e4m3": (-2, 2, 1 / 8), "f4_e2m1": (-6, 6, 1 / 2), "f4_e3m0": (-4, 4, 1),
    "s8": (-20, 20, 1), "u8": (0, 40, 1), "s4": (-8, 7, 1), "u4": (0, 15, 1), "s32": (-100, 100, 1),
}
# oneDNN's f4_e3m0: sign, 3 exponent bits with bias 3, no mantissa; exponent code 0 is zero. Not in ml_dtypes.
F4_E3M0 = np.array([0.0, 0.25, 0.5, 1, 2, 4, 8, 16])


def is_int(dt):
    return dt in INTS


def round_to(x, dt):
    """Round float64 `x` to `dt` (nearest-even, integers saturate) and return it as float64."""
    x = np.asarray(x, np.float64)
    if dt in INTS:
        lo, hi = INTS[dt]
        return np.clip(np.rint(x), lo, hi)
    if dt == "f4_e3m0":
        i = np.argmin(np.abs(np.abs(x)[..., None] - F4_E3M0), axis=-1)
        return np.copysign(F4_E3M0[i], x)
    if dt == "f64":
        return x
    # By way of f32, as the values of every test are exact in f32.
    return x.astype(np.float32).astype(FLOATS[dt]).astype(np.float64)


# ---------------------------------------------------------------------------------------------------------------- cases


class Case:
    """One line being made. `words` are the words of the problem line."""

    def __init__(self, *words, salt=0):
        self.problem = " ".join(w for w in words if w)
        self.rng = np.random.default_rng(zlib.crc32(self.problem.encode()) + salt)
        self.ins, self.outs, self.tol = {}, {}, None
        self.out_dt = {}

    def rand(self, shape, dt="f32", lo=None, hi=None, step=None, avoid=()):
        """Random values of `dt`, multiples of `step` in [lo, hi], none of them in `avoid`."""
        dlo, dhi, dstep = RANGES[dt]
        lo, hi, step = dlo if lo is None else lo, dhi if hi is None else hi, dstep if step is None else step
        grid = np.arange(math.ceil(lo / step), math.floor(hi / step) + 1) * step
        grid = np.unique(round_to(grid, dt))
        grid = grid[~np.isin(grid, avoid)]
        return self.rng.choice(grid, size=tuple(shape))

    def distinct(self, shape, dt="f32", step=1 / 32):
        """Random values without repeats (no ties for max), centred on 0, never 0."""
        n = int(np.prod(shape))
        v = (np.arange(n) - n // 2) * step + step / 2
        v = round_to(v, dt)
        assert len(np.unique(v)) == n, f"ties after rounding to {dt}"
        return self.rng.permutation(v).reshape(shape)

    def inp(self, name, x, dt="f32"):
        """Record input `name`; it must be representable in `dt`."""
        x = np.asarray(x, np.float64)
        y = round_to(x, dt)
        assert np.array_equal(x, y, equal_nan=True), f"{self.problem}: {name} not exact in {dt}"
        self.ins[name] = (x, dt)
        return x

    def inp_rounded(self, name, x, dt="f32"):
        """Record a computed input (a statistic, a forward result) after rounding it to `dt`."""
        return self.inp(name, round_to(x, dt), dt)

    def data(self, name, shape, dt="f32", **kw):
        return self.inp(name, self.rand(shape, dt, **kw), dt)

    def out(self, name, x, dt="f32"):
        """Record the truth of output `name`: rounded if `dt` is integral, else as it is."""
        x = np.asarray(x, np.float64)
        if is_int(dt):  # a float32 computation must not be able to fall on the other side of a tie
            d = np.abs(x - np.floor(x) - 0.5)
            lo, hi = INTS[dt]
            assert not ((d > 1e-12) & (d < 1e-4) & (x > lo) & (x < hi)).any(), f"{self.problem}: {name} next to a tie"
        self.outs[name] = (round_to(x, dt) if is_int(dt) else x, dt)

    def line(self):
        o = {"problem": self.problem,
             "in": {k: _Raw(fmt_in(x, dt)) for k, (x, dt) in self.ins.items()},
             "out": {k: _Raw(fmt_out(x, self.tol == 0)) for k, (x, dt) in self.outs.items()}}
        if self.tol is not None:
            o["tol"] = self.tol
        return dump(o)


class _Raw(str):
    """Text that is JSON already."""


def dump(o):
    if isinstance(o, _Raw):
        return str(o)
    if isinstance(o, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {dump(v)}" for k, v in o.items()) + "}"
    return json.dumps(o)


def _special(v):
    return '"nan"' if np.isnan(v) else '"inf"' if v > 0 else '"-inf"'


def _int_text(v):
    return "-0.0" if v == 0 and math.copysign(1, v) < 0 else str(int(v))


def fmt_in(x, dt):
    """Shortest text that reads back (as float64, then rounded to dt) as the same value."""
    def one(v):
        if not np.isfinite(v):
            return _special(v)
        if v == int(v) and abs(v) < 2**53:
            return _int_text(v)
        return repr(float(str(np.float32(v)))) if dt == "f32" else repr(float(v))
    return "[" + ",".join(one(float(v)) for v in np.ravel(x)) + "]"


def fmt_out(x, exact=False):
    """Ten significant digits, or all of them; integers in full."""
    def one(v):
        if not np.isfinite(v):
            return _special(v)
        if v == int(v) and abs(v) < 2**53:
            return _int_text(v)
        return repr(v) if exact else "%.10g" % v
    return "[" + ",".join(one(float(v)) for v in np.ravel(x)) + "]"


def write(driver, cases):
    path = os.path.join(OUT, driver + ".jsonl")
    lines = []
    for c in cases:
        assert c.outs, c.problem
        lines.append(c.line())
        json.loads(lines[-1])
    assert len({c.problem for c in cases}) == len(cases), "a problem line occurs twice"
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    print(f"{driver}: {len(lines)} cases, {os.path.getsize(path) // 1024} KB")


# ------------------------------------------------------------------------------------------------------- scalar formulas


def erf(x):
    return jax.scipy.special.erf(x)


def sigmoid(x):
    return 1 / (1 + jnp.exp(-x))


# d = f(s, alpha, beta). Formulas as mathematics states them; oneDNN's page `dev_guide_eltwise` gives the meaning of
# alpha and beta. Gradients come from jax, never from these pages.
ELTWISE = {
    "relu": lambda s, a, b: jnp.where(s > 0, s, a * s),
    "tanh": lambda s, a, b: jnp.tanh(s),
    "elu": lambda s, a, b: jnp.where(s > 0, s, a * jnp.expm1(jnp.minimum(s, 0))),
    "square": lambda s, a, b: s * s,
    "abs": lambda s, a, b: jnp.abs(s),
    "sqrt": lambda s, a, b: jnp.sqrt(s),
    "linear": lambda s, a, b: a * s + b,
    "soft_relu": lambda s, a, b: jnp.logaddexp(0.0, a * s) / a,
    "hardsigmoid": lambda s, a, b: jnp.clip(a * s + b, 0, 1),
    "logistic": lambda s, a, b: sigmoid(s),
    "exp": lambda s, a, b: jnp.exp(s),
    "gelu_tanh": lambda s, a, b: jax.nn.gelu(s, approximate=True),
    "gelu_erf": lambda s, a, b: jax.nn.gelu(s, approximate=False),
    "swish": lambda s, a, b: s * sigmoid(a * s),
    "log": lambda s, a, b: jnp.log(s),
    "clip": lambda s, a, b: jnp.clip(s, a, b),
    "clip_v2": lambda s, a, b: jnp.clip(s, a, b),
    "pow": lambda s, a, b: a * jnp.power(s, b),
    "round": lambda s, a, b: jnp.rint(s),
    "mish": lambda s, a, b: s * jnp.tanh(jnp.logaddexp(0.0, s)),
    "hardswish": lambda s, a, b: s * jnp.clip(a * s + b, 0, 1),
}

BINARY = {
    "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "div": np.divide, "sub": np.subtract,
    "ge": lambda a, b: (a >= b) * 1.0, "gt": lambda a, b: (a > b) * 1.0, "le": lambda a, b: (a <= b) * 1.0,
    "lt": lambda a, b: (a < b) * 1.0, "eq": lambda a, b: (a == b) * 1.0, "ne": lambda a, b: (a != b) * 1.0,
}

# ------------------------------------------------------------------------------------------------------------ attributes


def g(v):
    """A number in a problem line."""
    return "%g" % v


class Attr:
    """Attributes of a problem: how they are written and what they do.

    scales, zps: list of (arg, policy[, value[, dt[, "G0xG1"]]]); value is for `common` only, otherwise None.
    po: list of ("sum"[, scale[, zp[, dt]]]), ("elt", alg[, alpha[, beta]]), ("bin", alg, dt, policy[, values]),
        ("prelu", policy), ("select", dt, policy).
    """

    def __init__(self, scales=(), zps=(), po=(), extra=()):
        self.scales, self.zps, self.po, self.extra = list(scales), list(zps), list(po), list(extra)

    def words(self):
        w = list(self.extra)
        for key, items in (("--attr-scales=", self.scales), ("--attr-zero-points=", self.zps)):
            if items:
                w.append(key + "+".join(self._qword(*i) for i in items))
        if self.po:
            w.append("--attr-post-ops=" + "+".join(self._poword(p) for p in self.po))
        return w

    @staticmethod
    def _qword(arg, policy, value=None, dt=None, groups=None):
        return ":".join([arg, str(policy)] + ([g(value)] if value is not None else []) +
                        ([dt] if dt else []) + ([groups] if groups else []))

    @staticmethod
    def _poword(p):
        kind = p[0]
        if kind == "sum":
            return ":".join(["sum"] + [x if isinstance(x, str) else g(x) for x in p[1:]])
        if kind == "elt":
            return ":".join([p[1]] + [g(x) for x in p[2:]])
        if kind == "bin":
            return f"{p[1]}:{p[2]}:{p[3]}"
        if kind == "prelu":
            return f"prelu:{p[1]}"
        if kind == "select":
            return f"select:{p[1]}:{p[2]}"
        raise ValueError(p)

    # --- what they do

    def quant(self, c, kind, arg, shape, per_oc=(1,)):
        """The scale or zero point of `arg`, broadcast to `shape`; the run-time data become inputs of case `c`."""
        items = [i for i in (self.scales if kind == "scales" else self.zps) if i[0] == arg]
        if not items:
            return np.array(1.0 if kind == "scales" else 0.0)
        (_, policy, value, dt, groups) = (list(items[0]) + [None] * 5)[:5]
        dt = dt or ("f32" if kind == "scales" else "s32")
        dims = policy_dims(policy, len(shape), per_oc)
        gr = [1] * len(shape)
        if groups:
            gs = [int(x) for x in groups.split("x")]
            gr[-len(gs):] = gs
        qshape = [shape[d] // gr[d] if d in dims else 1 for d in range(len(shape))]
        if value is not None:
            q = np.full(qshape, float(value))
        elif kind == "scales":
            q = c.rng.choice([0.25, 0.5, 1.0, 2.0] if dt == "e8m0" else [0.25, 0.5, 0.75, 1.0, 1.5, 2.0], size=qshape)
            if arg == "dst":  # a divisor: keep the division exact
                q = c.rng.choice([0.5, 1.0, 2.0, 4.0], size=qshape)
        else:
            lo, hi = {"s32": (-9, 9), "s8": (-9, 9), "u8": (0, 20), "s4": (-8, 7), "u4": (0, 15)}[dt]
            q = c.rng.integers(lo, hi + 1, size=qshape).astype(float)
        c.inp(f"{'scales' if kind == 'scales' else 'zp'}:{arg}", q, dt)
        for d in range(len(shape)):
            if d in dims and gr[d] > 1:
                q = np.repeat(q, gr[d], axis=d)
        return q

    def finish(self, c, acc, dst_dt, old=None):
        """Post-ops, destination scale and zero point, over a float64 result that has scales and bias in it already."""
        x = self.post_ops(c, np.asarray(acc, np.float64), dst_dt, old)
        x = x / self.quant(c, "scales", "dst", x.shape) + self.quant(c, "zps", "dst", x.shape)
        c.out("dst", x, dst_dt)
        return x

    def post_ops(self, c, x, dst_dt, old=None):
        for i, p in enumerate(self.po):
            if p[0] == "sum":
                scale, zp, dt = (list(p[1:]) + [1.0, 0.0, None][len(p) - 1:])[:3]
                if old is None and "dst" not in c.ins:
                    old = c.data("dst", x.shape, dt or dst_dt)
                x = x + scale * (old - zp)
            elif p[0] == "elt":
                a, b = (list(p[2:]) + [0.0, 0.0])[:2]
                x = np.asarray(ELTWISE[p[1]](jnp.asarray(x), a, b))
            elif p[0] == "bin":
                s1 = c.data(f"po{i}", self.operand_shape(p[3], x.shape), p[2],
                            **({"avoid": (0,)} if p[1] == "div" else {}))
                x = BINARY[p[1]](x, s1)
            elif p[0] == "prelu":
                w = c.data(f"po{i}", self.operand_shape(p[1], x.shape), "f32")
                x = np.where(x > 0, x, x * w)
            elif p[0] == "select":
                s1 = c.data(f"po{i}", self.operand_shape(p[2], x.shape), p[1])
                cond = c.inp(f"po{i}:src2", c.rng.integers(0, 2, size=x.shape), "s8")
                x = np.where(cond != 0, x, s1)
            else:
                raise ValueError(p)
        return x

    @staticmethod
    def operand_shape(policy, shape):
        dims = policy_dims(policy, len(shape), (1,))
        return [shape[d] if d in dims else 1 for d in range(len(shape))]


def policy_dims(policy, nd, per_oc=(1,), per_ocic=None):
    """The dims that a policy or a mask names."""
    if isinstance(policy, int):
        return {d for d in range(nd) if policy >> d & 1}
    if policy == "common":
        return set()
    if policy == "per_tensor":
        return set(range(nd))
    if policy == "per_oc":
        return set(per_oc)
    if policy == "per_ocic":
        return {nd - 2, nd - 1}
    if policy.startswith("per_dim_"):
        return {int(d) for d in policy[8:]}
    raise ValueError(policy)
