"""Eltwise, binary, prelu, softmax and reduction.

Formulas: common.py (ELTWISE, BINARY), jax.nn for softmax, jnp reductions; scipy.special checks a few. Gradients by jax.vjp. The
`_dst` algorithms get the forward result (rounded to its type) and must give the same gradient.
Softmax's run-time source scale multiplies the result, like layer normalisation's (benchdnn's ref_softmax.cpp).
"""

import scipy.special as sp

from common import BINARY, ELTWISE, Attr, Case, jax, jnp, np, round_to, write


def shape_text(*shapes):
    return ":".join("x".join(map(str, s)) for s in shapes)


# --------------------------------------------------------------------------------------------------------------- eltwise

# alg: (alpha, beta) pairs, kinks (no gradient there), domain
ALGS = {
    "relu": ([(0, 0), (0.25, 0)], (0,), None), "tanh": ([(0, 0)], (), None), "elu": ([(1, 0), (0.5, 0)], (0,), None),
    "square": ([(0, 0)], (), None), "abs": ([(0, 0)], (0,), None), "sqrt": ([(0, 0)], (), (1 / 16, 8)),
    "linear": ([(2, -0.5), (-0.25, 3)], (), None), "soft_relu": ([(1, 0), (-1, 0), (2, 0)], (), None),
    "hardsigmoid": ([(0.25, 0.5), (1.5, 0.25)], (-2, 2, -1 / 6, 0.5), None), "logistic": ([(0, 0)], (), None),
    "exp": ([(0, 0)], (), None), "gelu_tanh": ([(0, 0)], (), None), "gelu_erf": ([(0, 0)], (), None),
    "swish": ([(1, 0), (1.75, 0), (-0.5, 0)], (), None), "log": ([(0, 0)], (), (1 / 16, 8)),
    "clip": ([(-1, 1.5), (0, 6)], (-1, 1.5, 0, 6), None), "clip_v2": ([(-1, 1.5), (0, 6)], (-1, 1.5, 0, 6), None),
    "pow": ([(2, 2), (1, 3), (0.5, -1), (1, 0.5), (3, 0), (2, 1), (1, -1.5)], (0,), None), "round": ([(0, 0)], (), None),
    "mish": ([(0, 0)], (), None), "hardswish": ([(0.125, 0.5), (0.25, 0.5)], (-4, 4, -2, 2), None),
}
DST = ("relu", "tanh", "elu", "sqrt", "logistic", "exp", "clip_v2")


def elt_case(dir, alg, ab, shape=(2, 3, 5), dt="f32", attr=None, tag="abx", lo=-4, hi=4, use_dst=False, extra="", src=None):
    attr = attr or Attr()
    a, b = ab
    tag = "a" if len(shape) == 1 else tag
    c = Case(f"--eltwise --dir={dir} --dt={dt} --tag={tag} --alg={alg}{'_dst' if use_dst else ''}",
             f"--alpha={a:g} --beta={b:g}", extra, *attr.words(), shape_text(shape))
    _, kinks, dom = ALGS[alg]
    if dom:
        lo, hi = dom
    if alg == "pow" and b != int(b):
        lo = 1 / 16
    x = c.rand(shape, dt, lo=lo, hi=hi, avoid=kinks) if src is None else np.array(src, float)
    f = lambda s: ELTWISE[alg](s, a, b)  # noqa: E731
    if dir.startswith("FWD"):
        c.inp("src", x, dt)
        y = np.asarray(f(jnp.asarray(x)))
        attr.finish(c, y, dt)
        return c
    dd = c.data("diff_dst", shape, dt)
    y, vjp = jax.vjp(f, jnp.asarray(x))
    if use_dst:
        c.inp_rounded("dst", y, dt)
        if dt == "f32":  # the rounding of dst is amplified where the gradient is nearly flat
            c.tol = 2e-6
        elif alg in ("tanh", "elu", "sqrt", "logistic", "exp"):  # so that no rounding of dst is involved: the formulas in d
            yr = round_to(y, dt)
            d = {"tanh": 1 - yr**2, "elu": np.where(yr > 0, 1, yr + a), "sqrt": 0.5 / np.where(yr == 0, 1, yr),
                 "logistic": yr * (1 - yr), "exp": yr}[alg]
            c.out("diff_src", dd * d, dt)
            return c
    else:
        c.inp("src", x, dt)
    c.out("diff_src", vjp(jnp.asarray(dd))[0], dt)
    return c


def elt_cases():
    x = np.linspace(-3, 3, 13)  # an independent look at the formulas
    np.testing.assert_allclose(ELTWISE["gelu_erf"](x, 0, 0), 0.5 * x * (1 + sp.erf(x / np.sqrt(2))), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ELTWISE["gelu_tanh"](x, 0, 0), 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), rtol=1e-12)
    np.testing.assert_allclose(ELTWISE["soft_relu"](x, 2.0, 0), np.log1p(np.exp(2 * x)) / 2, rtol=1e-12)
    np.testing.assert_allclose(ELTWISE["mish"](x, 0, 0), x * np.tanh(np.log1p(np.exp(x))), rtol=1e-12)
    np.testing.assert_allclose(ELTWISE["logistic"](x, 0, 0), sp.expit(x), rtol=1e-12)
    cs = []
    for alg, (abs_, kinks, dom) in ALGS.items():
        for ab in abs_:
            cs.append(elt_case("FWD_D", alg, ab))
            if alg != "round":
                cs.append(elt_case("BWD_D", alg, ab))
            if alg in DST:
                cs.append(elt_case("BWD_D", alg, ab, use_dst=True, lo=-2, hi=2))
        if alg == "round":
            continue
        for dt in ("bf16", "f16"):
            cs.append(elt_case("FWD_I", alg, abs_[0], dt=dt, lo=-2, hi=2))
            cs.append(elt_case("BWD_D", alg, abs_[0], dt=dt, lo=-2, hi=2))
            if alg in DST and dt == "bf16":
                cs.append(elt_case("BWD_D", alg, abs_[0], dt=dt, lo=-2, hi=2, use_dst=True))
    for dt in ("s32", "s8", "u8"):
        lo, hi = {"s32": (-100, 100), "s8": (-128, 127), "u8": (0, 255)}[dt]
        for alg, ab in (("relu", (0, 0)), ("relu", (0.25, 0)), ("linear", (0.5, 1)), ("linear", (2, -3)), ("clip", (-10, 20)),
                        ("abs", (0, 0)), ("square", (0, 0)), ("hardsigmoid", (0.25, 0.5))):
            if not (dt == "u8" and alg == "clip"):
                cs.append(elt_case("FWD_D", alg, ab, dt=dt, lo=lo, hi=hi))
        cs.append(elt_case("FWD_D", "swish", (0.5, 0), dt=dt, lo=-6 if dt != "u8" else 0, hi=6))
    # far from zero, and the values arithmetic treats specially
    inf = np.inf
    for alg, ab, src in (("exp", (0, 0), [-inf, inf, 0, 88, -87, 5.5, -30]), ("tanh", (0, 0), [-inf, inf, 20, -20, 0, 1 / 1024, -9]),
                         ("logistic", (0, 0), [-inf, inf, 80, -80, 0, 17, -17]), ("log", (0, 0), [0, inf, -1, 1, 2.0**100, 2.0**-100, 0.5]),
                         ("sqrt", (0, 0), [0, inf, -1, 4, 2.0**100, 2.0**-100, 2]), ("abs", (0, 0), [inf, -inf, -0.0, 0, -3, 1e30, 3]),
                         ("soft_relu", (1, 0), [80, -80, 30, -30, 17, -17, 0]), ("gelu_erf", (0, 0), [20, -20, 6, -6, 0, 100, -100]),
                         ("gelu_tanh", (0, 0), [20, -20, 6, -6, 0, 100, -100]), ("elu", (1, 0), [inf, -inf, -80, -20, 1 / 1024, -1 / 1024, 0]),
                         ("swish", (1, 0), [80, -80, 20, -20, 0, 1, -1]), ("mish", (0, 0), [80, -80, 20, -20, 0, 30, -30]),
                         ("clip", (-1, 2), [inf, -inf, -1, 2, 0, -0.0, 3]), ("clip_v2", (-1, 2), [inf, -inf, -1, 2, 0, -0.0, 3]),
                         ("hardsigmoid", (0.25, 0.5), [inf, -inf, -2, 2, 0, -1, 3]), ("hardswish", (0.25, 0.5), [20, -20, -2, 2, 0, -1, 3]),
                         ("relu", (0, 0), [inf, -1, -0.0, 0, 3e38, -3e38, 1]), ("round", (0, 0), [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1e9]),
                         ("square", (0, 0), [inf, -inf, 0, -0.0, 2.0**60, -3, 2.0**-60])):
        src = [float(np.float32(v)) for v in src]
        c = elt_case("FWD_D", alg, ab, shape=(7,), src=src)
        with np.errstate(over="ignore", invalid="ignore"):
            c.outs["dst"] = (round_to(c.outs["dst"][0], "f32"), "f32")  # as overflow and underflow of f32 are the point here
        c.tol = 2e-6
        cs.append(c)
    cs.append(elt_case("FWD_D", "gelu_erf", (0, 0), (2, 9, 3, 3), tag="axb"))
    cs.append(elt_case("FWD_D", "gelu_erf", (0, 0), (2, 9, 3), tag="aBx8b"))
    cs.append(elt_case("FWD_D", "mish", (0, 0), (37,)))
    cs.append(elt_case("FWD_I", "relu", (0, 0), extra="--inplace=true"))
    for po in ([("bin", "add", "f32", "per_oc")], [("bin", "mul", "bf16", "per_tensor"), ("bin", "max", "f32", "common")],
               [("bin", "div", "f32", "per_dim_0")], [("bin", "le", "f32", "per_tensor")]):
        cs.append(elt_case("FWD_I", "tanh", (0, 0), attr=Attr(po=po)))
    return cs


# ---------------------------------------------------------------------------------------------------------------- binary


def binary_case(alg, shapes, dts=("f32", "f32"), ddt="f32", attr=None, tags=None, lo=None, hi=None, extra=""):
    attr = attr or Attr()
    nd = len(shapes[0])
    c = Case(f"--binary --alg={alg} --sdt={':'.join(dts)} --ddt={ddt}",
             f"--stag={':'.join(tags[:-1])} --dtag={tags[-1]}" if tags else "", extra, *attr.words(), shape_text(*shapes))
    r = {k: v for k, v in (("lo", lo), ("hi", hi)) if v is not None}
    a = c.data("src", shapes[0], dts[0], **(r if dts[0] != "u8" else {}))
    if alg == "div":
        b = c.inp("src1", c.rng.choice([1.0, 2, 4] + ([-2, 0.5] if dts[1] in ("f32", "bf16", "f16") else []), size=shapes[1]), dts[1])
    else:
        b = c.data("src1", shapes[1], dts[1], **(r if dts[1] != "u8" else {}))
    A, B = a * attr.quant(c, "scales", "src", a.shape), b * attr.quant(c, "scales", "src1", b.shape)
    if alg == "select":
        cond = c.inp("src2", c.rng.integers(0, 2, size=shapes[2]), "s8")
        res = np.where(cond != 0, A, B)
    else:
        res = BINARY[alg](A, B)
    assert res.ndim == nd
    attr.finish(c, res, ddt)
    return c


def binary_cases():
    cs = []
    algs = list(BINARY)
    for alg in algs:
        small = dict(lo=-0.25, hi=0.25) if alg in ("ge", "gt", "le", "lt", "eq", "ne") else {}
        cs.append(binary_case(alg, [(2, 3, 4)] * 2, **small))
        cs.append(binary_case(alg, [(2, 3, 4), (1, 3, 1)], **small))
        cs.append(binary_case(alg, [(3, 5)] * 2, ("s8", "u8"), "s8", **({"lo": -128, "hi": 127} if not small else {"lo": 0, "hi": 9})))
        cs.append(binary_case(alg, [(3, 5)] * 2, ("bf16", "f32"), "bf16", **small))
    for sh in ([(2, 3, 4), (1, 1, 1)], [(2, 3, 4), (2, 1, 4)], [(2, 3, 2, 2), (1, 3, 2, 2)], [(1, 3, 1), (2, 3, 4)], [(7,), (7,)], [(2, 2, 2, 2, 3), (1, 2, 1, 1, 1)]):
        cs.append(binary_case("sub", sh))
    for dts, ddt in ((("f16", "f16"), "f16"), (("f32", "s8"), "f32"), (("u8", "u8"), "u8"), (("s8", "s8"), "f32"), (("u8", "s8"), "s32"),
                     (("f32", "f32"), "s8"), (("f32", "f32"), "u8"), (("s32", "s8"), "s32"), (("bf16", "bf16"), "f32")):
        for alg in ("add", "mul", "max"):
            cs.append(binary_case(alg, [(2, 3, 4), (2, 3, 4)], dts, ddt))
    S = Attr(scales=[("src", "common", 0.5), ("src1", "common", 4)])
    cs.append(binary_case("add", [(3, 5)] * 2, attr=S))
    cs.append(binary_case("sub", [(3, 5)] * 2, ("s8", "u8"), "s8", attr=S))
    cs.append(binary_case("mul", [(3, 5)] * 2, ("u8", "u8"), "u8", attr=Attr(scales=[("src", "common", 0.25)])))
    for po in ([("sum", 0.5)], [("elt", "relu"), ("sum", 2)], [("bin", "mul", "f32", "per_oc"), ("elt", "linear", 2, 1)]):
        cs.append(binary_case("add", [(2, 3, 4), (1, 3, 1)], attr=Attr(po=po)))
    cs.append(binary_case("select", [(2, 3, 4)] * 3, ("f32", "f32", "s8")))
    cs.append(binary_case("select", [(2, 3, 4), (1, 3, 1), (2, 3, 4)], ("bf16", "bf16", "s8"), "bf16"))
    cs.append(binary_case("add", [(2, 9, 3, 3), (1, 9, 1, 1)], tags=("axb", "abx", "axb")))
    cs.append(binary_case("add", [(2, 9, 3, 3)] * 2, tags=("axb", "abx", "any")))
    cs.append(binary_case("mul", [(2, 3, 4)] * 2, extra="--inplace=true"))
    return cs


# ----------------------------------------------------------------------------------------------------------------- prelu


def prelu_case(dir, ssh, wsh, dt="f32", tag=None):
    sdt, wdt = (dt.split(":") * 2)[:2]
    c = Case(f"--prelu --dir={dir} --sdt={sdt}:{wdt}", f"--stag={tag}" if tag else "", shape_text(ssh, wsh))
    x = c.data("src", ssh, sdt, avoid=(0,) if dir.startswith("BWD") else ())
    w = c.data("wei", wsh, wdt)
    f = lambda s, v: jnp.where(s > 0, s, s * v)  # noqa: E731
    if dir.startswith("FWD"):
        c.out("dst", f(jnp.asarray(x), jnp.asarray(w)), sdt)
    else:
        dd = c.data("diff_dst", ssh, sdt)
        ds, dw = jax.vjp(f, jnp.asarray(x), jnp.asarray(w))[1](jnp.asarray(dd))
        c.out("diff_src", ds, sdt)
        c.out("diff_wei", dw, wdt)
    return c


def prelu_cases():
    cs = []
    for s, w in (((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (1, 3, 1)), ((2, 3, 4), (1, 1, 1)), ((2, 3, 4, 2), (1, 3, 4, 2)), ((3, 5), (1, 5)),
                 ((3, 5), (3, 1)), ((17,), (1,)), ((2, 3, 2, 2, 3), (1, 3, 1, 1, 1)), ((2, 3, 2, 2, 3), (2, 1, 1, 2, 1))):
        for dir in ("FWD_D", "BWD_DW"):
            cs.append(prelu_case(dir, s, w))
    for dt in ("bf16", "f16", "bf16:f32"):
        for dir in ("FWD_I", "BWD_DW"):
            cs.append(prelu_case(dir, (2, 3, 4), (1, 3, 1), dt))
    for dt in ("s8", "u8:s8", "s32:s8", "s8:f32"):
        cs.append(prelu_case("FWD_I", (2, 3, 4), (1, 3, 1), dt))
    cs += [prelu_case(d, (2, 9, 3, 3), (1, 9, 1, 1), tag="axb:axb") for d in ("FWD_D", "BWD_DW")]
    return cs


# --------------------------------------------------------------------------------------------------------------- softmax


def softmax_case(dir, alg, axis, shape, sdt="f32", ddt=None, attr=None, tag="abx", lo=-3, hi=3, ninf=None):
    """ninf: 'some' or 'row': sources of minus infinity."""
    attr, ddt = attr or Attr(), ddt or sdt
    c = Case(f"--softmax --dir={dir} --sdt={sdt} --ddt={ddt} --stag={tag} --alg={alg} --axis={axis}", *attr.words(), shape_text(shape))
    x = c.rand(shape, sdt, lo=max(lo, 0) if sdt == "u8" else lo, hi=hi)
    if ninf:
        m = c.rng.random(x.shape) < 0.3
        m &= np.arange(x.shape[axis]).reshape([-1 if d == axis else 1 for d in range(x.ndim)]) != 0
        x[m] = -np.inf
        if ninf == "row":
            idx = [slice(None) if d == axis else 0 for d in range(x.ndim)]
            x[tuple(idx)] = -np.inf
    f = {"SOFTMAX": jax.nn.softmax, "LOGSOFTMAX": jax.nn.log_softmax, "SOFTMAX_INF_AS_ZERO": jax.nn.softmax}[alg]
    fwd = lambda s: f(s, axis=axis)  # noqa: E731
    if dir.startswith("FWD"):
        c.inp("src", x, sdt)
        y = np.asarray(fwd(jnp.asarray(x)))
        if ninf == "row":
            y = np.where(np.isnan(y), 0.0, y)
        ref = (sp.softmax if alg != "LOGSOFTMAX" else sp.log_softmax)
        with np.errstate(invalid="ignore"):
            if ninf is None:
                np.testing.assert_allclose(y, ref(x, axis=axis), rtol=1e-11, atol=1e-13)
        attr.finish(c, y * attr.quant(c, "scales", "src", y.shape), ddt)
        return c
    dd = c.data("diff_dst", shape, ddt)
    y, vjp = jax.vjp(fwd, jnp.asarray(x))
    c.inp_rounded("dst", y, sdt if ddt is None else ddt)
    c.out("diff_src", vjp(jnp.asarray(dd))[0], sdt)
    c.tol = {"f32": 1e-6, "f16": 4e-3, "bf16": 3e-2}[ddt]  # dst as given is rounded; the gradient is that of the unrounded function
    return c


def softmax_cases():
    cs = []
    for alg in ("SOFTMAX", "LOGSOFTMAX"):
        for shape, axis in (((3, 7), 1), ((5, 3), 0), ((2, 4, 3), 1), ((2, 3, 2, 5), 3), ((2, 3, 4, 2), 2), ((2, 1, 3), 1), ((1, 33), 1), ((2, 2, 3, 2, 2), 2)):
            for dir in ("FWD_D", "BWD_D"):
                cs.append(softmax_case(dir, alg, axis, shape))
        for dt in ("bf16", "f16"):
            cs += [softmax_case(d, alg, 1, (3, 9), dt) for d in ("FWD_I", "BWD_D")]
        cs.append(softmax_case("FWD_I", alg, 1, (2, 9), lo=-90, hi=90))
        cs += [softmax_case("FWD_I", alg, 1, (2, 9), a, b) for a, b in (("f32", "bf16"), ("bf16", "f32"), ("s8", "f32"), ("u8", "f32"))]
        cs.append(softmax_case("FWD_I", alg, 1, (2, 9, 3), tag="axb"))
        cs.append(softmax_case("BWD_D", alg, 1, (2, 9, 3), tag="axb"))
        cs.append(softmax_case("FWD_I", alg, 1, (2, 5), attr=Attr(po=[("elt", "linear", 2, 1), ("bin", "mul", "f32", "per_oc")])))
    for a, b in (("f32", "u8"), ("f32", "s8"), ("u8", "u8"), ("s8", "s8")):
        sc = [("dst", "common", 1 / 128)] + ([("src", "common", 0.5)] if a != "f32" else [])
        cs.append(softmax_case("FWD_I", "SOFTMAX", 1, (3, 7), a, b, attr=Attr(scales=sc)))
    cs.append(softmax_case("FWD_I", "SOFTMAX", 1, (3, 8), ninf="some"))
    cs.append(softmax_case("FWD_I", "SOFTMAX_INF_AS_ZERO", 1, (3, 7), ninf="row"))
    cs.append(softmax_case("FWD_I", "SOFTMAX_INF_AS_ZERO", 2, (2, 3, 4), ninf="row"))
    cs.append(softmax_case("FWD_I", "SOFTMAX_INF_AS_ZERO", 1, (3, 9)))
    return cs


# ------------------------------------------------------------------------------------------------------------- reduction


def reduction_case(alg, ssh, dsh, sdt="f32", ddt="f32", p=1, eps=0.0, attr=None, tag=None, lo=None, hi=None):
    attr = attr or Attr()
    norm = alg.startswith("norm")
    c = Case(f"--reduction --sdt={sdt} --ddt={ddt}", f"--stag={tag} --dtag={tag}" if tag else "", f"--alg={alg}",
             f"--p={p:g} --eps={eps:g}" if norm else "", *attr.words(), shape_text(ssh, dsh))
    x = c.data("src", ssh, sdt, **{k: v for k, v in (("lo", lo), ("hi", hi)) if v is not None})
    axes = tuple(d for d in range(len(ssh)) if dsh[d] != ssh[d])
    kw = dict(axis=axes, keepdims=True)
    if norm:
        y = jnp.sum(jnp.abs(jnp.asarray(x)) ** p, **kw)
        y = jnp.maximum(y, eps) if alg.endswith("max") else y + eps
        y = y if "power_p" in alg else y ** (1 / p)
    else:
        y = {"max": jnp.max, "min": jnp.min, "sum": jnp.sum, "mul": jnp.prod, "mean": jnp.mean}[alg](jnp.asarray(x), **kw)
    attr.finish(c, y, ddt)
    return c


def reduction_cases():
    cs = []
    for alg in ("max", "min", "sum", "mul", "mean"):
        for s, d in (((2, 3, 4), (1, 3, 1)), ((2, 3, 4), (2, 3, 1)), ((2, 3, 4), (1, 1, 1)), ((3, 8), (3, 1)), ((2, 3, 2, 4), (1, 3, 2, 1)), ((4, 2, 2, 2, 3), (1, 2, 1, 2, 3))):
            cs.append(reduction_case(alg, s, d))
        cs.append(reduction_case(alg, (2, 4, 2), (2, 1, 2), "bf16", "bf16"))
        cs.append(reduction_case(alg, (2, 4, 2), (2, 1, 2), "f16", "f32"))
        for a, b in (("s8", "s8"), ("u8", "u8"), ("s8", "s32"), ("u8", "f32"), ("f32", "s8")):
            cs.append(reduction_case(alg, (2, 4, 2), (2, 1, 2), a, b, **({"lo": -3 if a != "u8" else 0, "hi": 3} if alg == "mul" else {})))
        cs.append(reduction_case(alg, (2, 9, 3, 3), (2, 9, 1, 1), tag="axb"))
    for alg in ("norm_lp_max", "norm_lp_sum", "norm_lp_power_p_max", "norm_lp_power_p_sum"):
        for p, eps in ((1, 0), (2, 0.5), (3, 8), (2, 0), (1.5, 0.25)):
            cs.append(reduction_case(alg, (2, 3, 4), (1, 3, 1), p=p, eps=eps))
        cs.append(reduction_case(alg, (3, 6), (3, 1), "bf16", "f32", p=2, eps=0.125))
    for po in ([("sum", 0.5)], [("elt", "relu")], [("bin", "add", "f32", "per_oc"), ("elt", "tanh")]):
        cs.append(reduction_case("sum", (2, 3, 4), (2, 3, 1), attr=Attr(po=po)))
    return cs


def main():
    write("eltwise", elt_cases())
    write("binary", binary_cases())
    write("prelu", prelu_cases())
    write("softmax", softmax_cases())
    write("reduction", reduction_cases())


if __name__ == "__main__":
    main()
