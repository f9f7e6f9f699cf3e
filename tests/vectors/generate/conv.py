"""Convolution and deconvolution: lax.conv_general_dilated in float64, gradients by jax.vjp of it.

Also the spatial problem descriptor that pooling shares.
"""

import itertools

from common import Attr, Case, jax, jnp, lax, np, write


class Geometry:
    """Sizes of a spatial window: lists over the spatial dims, d h w order. `d` is oneDNN's 0-based dilation, `pr` may differ
    from `p` (the output size in the descriptor tells it)."""

    def __init__(self, i, k, s=1, p=0, d=0, pr=None, transposed=False):
        n = self.n = len(i)
        full = lambda v: list(v) if isinstance(v, (list, tuple)) else [v] * n  # noqa: E731
        self.i, self.k, self.s, self.p, self.d = full(i), full(k), full(s), full(p), full(d)
        self.pr = full(self.p if pr is None else pr)
        self.ke = [(k - 1) * (d + 1) + 1 for k, d in zip(self.k, self.d)]
        z = list(zip(self.i, self.ke, self.s, self.p, self.pr))
        self.o = [(i - 1) * s + ke - p - r for i, ke, s, p, r in z] if transposed else \
                 [(i + p + r - ke) // s + 1 for i, ke, s, p, r in z]
        if not transposed:  # what the descriptor implies; a remainder of the stride drops input at the right edge
            self.pr = [(o - 1) * s - i + ke - p for (i, ke, s, p, _), o in zip(z, self.o)]

    def text(self, mb, ic, oc=None, g=None, dil=True):
        L = "dhw"[3 - self.n:]
        w = (f"g{g}" if g else "") + f"mb{mb}ic{ic}" + "".join(f"i{l}{v}" for l, v in zip(L, self.i))
        w += (f"oc{oc}" if oc else "") + "".join(f"o{l}{v}" for l, v in zip(L, self.o))
        for name, vals in (("k", self.k), ("s", self.s), ("p", self.p)) + ((("d", self.d),) if dil else ()):
            w += "".join(f"{name}{l}{v}" for l, v in zip(L, vals))
        return w


def conv_fwd(geo, g):
    """src (MB,IC,..), wei (G,OC/G,IC/G,K..) -> (MB,OC,..)."""
    sp = "DHW"[3 - geo.n:]
    dn = ("NC" + sp, "OI" + sp, "NC" + sp)

    def f(src, wei):
        w = wei.reshape((wei.shape[0] * wei.shape[1],) + wei.shape[2:])
        return lax.conv_general_dilated(
            src, w, window_strides=geo.s, padding=list(zip(geo.p, geo.pr)),
            rhs_dilation=[d + 1 for d in geo.d], dimension_numbers=dn, feature_group_count=g)
    return f


def deconv_fwd(geo, g):
    """Transposed convolution by input dilation with the flipped kernel; wei is (G, OC/G, IC/G, K..), OC of the result."""
    sp = "DHW"[3 - geo.n:]
    dn = ("NC" + sp, "OI" + sp, "NC" + sp)

    def f(src, wei):
        w = wei.reshape((wei.shape[0] * wei.shape[1],) + wei.shape[2:])
        w = jnp.flip(w, axis=tuple(range(2, 2 + geo.n)))
        pads = [(ke - 1 - p, ke - 1 - r) for ke, p, r in zip(geo.ke, geo.p, geo.pr)]
        return lax.conv_general_dilated(
            src, w, window_strides=[1] * geo.n, padding=pads, lhs_dilation=geo.s,
            rhs_dilation=[d + 1 for d in geo.d], dimension_numbers=dn, feature_group_count=g)
    return f


def check_by_loops(driver, geo, g, src, wei, dst):
    """The definitions, by hand: position x of the smaller grid meets x * s - p + k * (d + 1) of the larger one."""
    out = np.zeros_like(dst)
    ocg, icg = wei.shape[1], wei.shape[2]
    small, large = (geo.i, geo.o) if driver == "deconv" else (geo.o, geo.i)
    for pos in itertools.product(*map(range, small)):
        for kk in itertools.product(*map(range, geo.k)):
            far = tuple(x * s - p + k * (d + 1) for x, s, p, k, d in zip(pos, geo.s, geo.p, kk, geo.d))
            if all(0 <= a < b for a, b in zip(far, large)):
                from_, to = (pos, far) if driver == "deconv" else (far, pos)
                for q in range(g):
                    out[(slice(None), slice(q * ocg, (q + 1) * ocg)) + to] += \
                        src[(slice(None), slice(q * icg, (q + 1) * icg)) + from_] @ wei[(q, slice(None), slice(None)) + kk].T
    np.testing.assert_allclose(out, dst, rtol=1e-12, atol=1e-12)


def spatial_case(driver, geo, dir, mb=2, ic=3, oc=4, g=1, dt="f32", bia_dt=None, tag="abx", wtag="abx", attr=None,
                 desc=None, full=False, alg=None):
    """A forward or backward case of conv or deconv."""
    attr = attr or Attr()
    dts = (dt.split(":") * 3)[:3] if ":" not in dt else dt.split(":")
    with_bias = dir in ("FWD_B", "BWD_WB")
    bia_dt = bia_dt or ("f32" if with_bias else None)
    c = Case("--" + driver, f"--dir={dir}", f"--dt={dt}",
             f"--bia-dt={bia_dt}" if with_bias and bia_dt != "f32" else "",
             f"--stag={tag}", f"--wtag={wtag}", f"--dtag={tag}", f"--alg={alg}" if alg else "", *attr.words(),
             desc or geo.text(mb, ic, oc, g))
    ssh = [mb, ic] + geo.i
    wsh = [g, oc // g, ic // g] + geo.k
    dsh = [mb, oc] + geo.o
    fwd = (conv_fwd if driver == "conv" else deconv_fwd)(geo, g)
    wide = {"s8": dict(lo=-128, hi=127), "u8": dict(lo=0, hi=255)} if full else {}
    rnd = lambda name, shape, t: c.data(name, shape, t, **wide.get(t, {}))  # noqa: E731
    if dir.startswith("FWD"):
        src, wei = rnd("src", ssh, dts[0]), rnd("wei", wsh, dts[1])
        zs = attr.quant(c, "zps", "src", ssh)
        zw = attr.quant(c, "zps", "wei", wsh)
        acc = np.asarray(fwd(jnp.asarray(src - zs), jnp.asarray(wei - zw)))
        assert list(acc.shape) == dsh, (acc.shape, dsh, c.problem)
        check_by_loops(driver, geo, g, src - zs, wei - zw, acc)
        sw = attr.quant(c, "scales", "wei", wsh, per_oc=(0, 1))
        sw = np.broadcast_to(sw, wsh).reshape([oc, -1])[:, 0].reshape([1, oc] + [1] * geo.n)
        acc = acc * attr.quant(c, "scales", "src", ssh) * sw
        if with_bias:
            acc = acc + c.data("bia", [oc], bia_dt).reshape([1, oc] + [1] * geo.n)
        attr.finish(c, acc, dts[2])
        return c
    # jax.vjp of the forward, at arbitrary values where the function is linear.
    dd = c.data("diff_dst", dsh, dts[2])
    src = c.data("src", ssh, dts[0]) if dir != "BWD_D" else np.zeros(ssh)
    wei = c.data("wei", wsh, dts[1]) if dir == "BWD_D" else np.zeros(wsh)
    full_fwd = lambda s, w, b: fwd(s, w) + b.reshape([1, oc] + [1] * geo.n)  # noqa: E731
    _, vjp = jax.vjp(full_fwd, jnp.asarray(src), jnp.asarray(wei), jnp.zeros(oc))
    ds, dw, db = vjp(jnp.asarray(dd))
    if dir == "BWD_D":
        c.out("diff_src", ds, dts[0])
    else:
        c.out("diff_wei", dw, dts[1])
        if with_bias:
            c.out("diff_bia", db, bia_dt)
    return c


ALL_DIRS = ("FWD_B", "BWD_D", "BWD_WB")


def shapes(tr):
    """(arguments of Geometry, channels) worth every direction; `tr`: deconvolution."""
    G = lambda *a, **k: Geometry(*a, transposed=tr, **k)  # noqa: E731
    return [
        (G([5, 5], [3, 3], p=1), dict(ic=3, oc=4)),
        (G([6, 5], [2, 3], s=[2, 1], p=[0, 1]), dict(ic=2, oc=3)),
        (G([7, 6], [3, 2], d=[1, 2], p=[2, 1]), dict(mb=1, ic=2, oc=3)),
        (G([5, 6], [3, 3], s=2, p=[1, 0], pr=[0, 1]), dict(mb=2, ic=2, oc=2)),
        (G([4, 4], [3, 3], p=1), dict(g=2, ic=4, oc=6)),
        (G([5, 4], [3, 3], s=[2, 1], p=1), dict(g=4, ic=4, oc=4)),
        (G([5], [3], p=1), dict(ic=3, oc=4)),
        (G([9], [3], s=2, p=[1], pr=[2], d=1), dict(mb=3, ic=2, oc=3)),
        (G([3, 4, 3], [2, 3, 2], p=[0, 1, 1], s=[1, 2, 1]), dict(mb=1, ic=2, oc=2)),
        (G([4, 3, 5], [3, 2, 3], p=[1, 0, 1], d=[0, 0, 1]), dict(mb=1, ic=2, oc=3, g=1)),
        (G([3, 3], [1, 1]), dict(ic=5, oc=3)),
    ]


def float_cases(driver):
    tr = driver == "deconv"
    cs = []
    for geo, ch in shapes(tr):
        for dir in ALL_DIRS:
            cs.append(spatial_case(driver, geo, dir, **ch))
    G = lambda *a, **k: Geometry(*a, transposed=tr, **k)  # noqa: E731
    g0 = G([4, 5], [3, 3], p=1)
    cs.append(spatial_case(driver, g0, "FWD_D", tag="axb", wtag="any"))
    cs.append(spatial_case(driver, g0, "FWD_I", ic=8, oc=8, mb=1, tag="axb"))
    cs.append(spatial_case(driver, g0, "BWD_D", tag="axb"))
    cs.append(spatial_case(driver, g0, "BWD_W", tag="axb"))
    cs.append(spatial_case(driver, G([5, 5], [3, 3], p=1), "FWD_B", desc="ic3ih5oc4oh5kh3ph1"))  # defaults of the grammar
    cs.append(spatial_case(driver, g0, "FWD_I", alg="auto"))
    g1 = G([4, 4], [3, 3], p=1)
    for dt in ("bf16", "f16", "bf16:bf16:f32", "f16:f16:f32", "f8_e5m2:f8_e5m2:f32", "f8_e4m3:f8_e4m3:f32"):
        cs.append(spatial_case(driver, g1, "FWD_B", dt=dt))
    cs.append(spatial_case(driver, g1, "FWD_B", dt="bf16", bia_dt="bf16"))
    for dt in ("bf16", "f16"):
        cs.append(spatial_case(driver, g1, "BWD_D", dt=dt))
        cs.append(spatial_case(driver, g1, "BWD_WB", dt=dt))
    cs.append(spatial_case(driver, g1, "BWD_D", dt="f32:bf16:bf16"))
    cs.append(spatial_case(driver, g1, "BWD_WB", dt="bf16:f32:bf16"))
    P = [Attr(po=[("sum", 0.5)]), Attr(po=[("elt", "relu", 0.25)]), Attr(po=[("sum",), ("elt", "tanh")]),
         Attr(po=[("bin", "add", "f32", "per_oc"), ("elt", "gelu_erf"), ("bin", "mul", "f32", "per_tensor")]),
         Attr(po=[("prelu", "per_oc")]), Attr(po=[("elt", "swish", 1.5), ("sum", 2), ("elt", "clip", -1, 3)]),
         Attr(po=[("bin", "max", "bf16", "common"), ("bin", "sub", "f32", "per_dim_0")])]
    cs += [spatial_case(driver, g1, "FWD_B", attr=a, mb=2, ic=2, oc=3) for a in P]
    return cs


def int8_cases(driver):
    tr = driver == "deconv"
    G = lambda *a, **k: Geometry(*a, transposed=tr, **k)  # noqa: E731
    g1, g2 = G([4, 4], [3, 3], p=1), G([5, 4], [2, 3], s=[2, 1], p=[1, 0], pr=[0, 1])
    cs = []
    for sdt in ("u8", "s8"):
        for ddt in ("s32", "s8", "u8", "f32"):
            cs.append(spatial_case(driver, g1, "FWD_B", dt=f"{sdt}:s8:{ddt}", ic=4, oc=3,
                                   attr=Attr(scales=[("src", "common", 0.25), ("wei", "common", 0.5)])))
    S = [("src", "common", 0.5), ("wei", "per_oc"), ("dst", "common", 4)]
    V = [
        dict(dt="u8:s8:s32", dir="FWD_D", full=True),
        dict(dt="s8:s8:s32", dir="FWD_D", full=True, ic=5, oc=5),
        dict(dt="u8:s8:u8", attr=Attr(scales=S)),
        dict(dt="s8:s8:s8", attr=Attr(scales=S), full=True),
        dict(dt="u8:s8:s8", g=2, ic=4, oc=4, attr=Attr(scales=S)),
        dict(dt="u8:s8:u8", g=4, ic=4, oc=4, attr=Attr(scales=S, zps=[("src", "common", 7), ("dst", "common", 3)])),
        dict(dt="u8:s8:s8", attr=Attr(zps=[("src", "common", 5)])),
        dict(dt="u8:s8:f32", attr=Attr(scales=S[:2], zps=[("src", "per_dim_1")])),
        dict(dt="s8:s8:u8", attr=Attr(scales=S, zps=[("src", "common", -4), ("dst", "common", 11)]), ),
        dict(dt="s8:s8:s32", attr=Attr(zps=[("src", "common", -3), ("dst", "common", 100)])),
        dict(dt="u8:s8:u8", attr=Attr(scales=S, po=[("sum", 0.5), ("elt", "relu")])),
        dict(dt="u8:s8:s8", attr=Attr(scales=S, po=[("elt", "relu", 0.5), ("sum", 0.25, 3)])),
        dict(dt="u8:s8:u8", attr=Attr(scales=S, po=[("sum", 1, 0, "s8")])),
        dict(dt="s8:s8:s8", attr=Attr(scales=S, po=[("bin", "add", "f32", "per_oc"), ("elt", "clip", -50, 50)])),
        dict(dt="u8:s8:f32", attr=Attr(scales=S[:2], po=[("prelu", "per_oc"), ("bin", "mul", "s8", "per_oc")])),
        dict(dt="s8:s8:bf16", attr=Attr(scales=S[:2])),
        dict(dt="u8:s8:s32", dir="FWD_B", bia_dt="s32"),
        dict(dt="u8:s8:s8", dir="FWD_B", bia_dt="s8", attr=Attr(scales=S)),
    ]
    for v in V:
        v = dict(v)
        for geo in ((g1, g2) if "attr" in v and v["attr"].zps else (g1,)):
            cs.append(spatial_case(driver, geo, **{"dir": "FWD_B", "ic": 3, "oc": 4, "mb": 1, **v}))
    return cs


def dw_cases():
    """A 1x1 convolution with a depthwise convolution as post-op: dst = relu(dw(relu(conv1x1)))."""
    cs = []
    for k, s, p, dt, pre, post in [(3, 1, 1, "f32", True, True), (3, 2, 1, "f32", True, False), (3, 1, 1, "bf16", False, True),
                                   (5, 1, 2, "f32", False, False)]:
        mb, ic, oc, ih = 1, 3, 4, 4
        po = (["relu"] if pre else []) + [f"dw:k{k}s{s}p{p}:{dt}"] + (["relu:0.5"] if post else [])
        geo = Geometry([ih, ih], [1, 1])
        c = Case("--conv --dir=FWD_B", f"--dt={dt}", "--stag=axb --wtag=any --dtag=axb", "--attr-post-ops=" + "+".join(po),
                 geo.text(mb, ic, oc, 1))
        # multiples of 1/4 so that the intermediate tensor is exact in its type
        st = dict(lo=-1, hi=1, step=1 / 4)
        src, wei = c.data("src", [mb, ic, ih, ih], dt, **st), c.data("wei", [1, oc, ic, 1, 1], dt, **st)
        bia = c.data("bia", [oc], "f32", **st)
        x = np.asarray(conv_fwd(geo, 1)(jnp.asarray(src), jnp.asarray(wei))) + bia.reshape(1, oc, 1, 1)
        x = np.maximum(x, 0) if pre else x
        dwg = Geometry([ih, ih], [k, k], s=s, p=p)
        dww = c.data("dw_wei", [oc, 1, 1, k, k], dt, **st)
        dwb = c.data("dw_bia", [oc], "f32", **st)
        y = np.asarray(conv_fwd(dwg, oc)(jnp.asarray(x), jnp.asarray(dww))) + dwb.reshape(1, oc, 1, 1)
        c.out("dst", np.where(y > 0, y, 0.5 * y) if post else y, dt)
        cs.append(c)
    return cs


def main():
    write("conv", float_cases("conv") + int8_cases("conv") + dw_cases())
    write("deconv", float_cases("deconv") + int8_cases("deconv"))


if __name__ == "__main__":
    main()
