"""Pooling and resampling.

Pooling is written as a stack of shifted slices (max or mean over it), so that jax.vjp differentiates something plain. avg_p
divides by the whole kernel, avg_np by the part that is not padding (dev_guide_pooling). Max has no ties by construction.
Resampling uses jax.image.resize, whose half-pixel centres with edge clamping are oneDNN's (dev_guide_resampling), and checks
it against the documented formula; nearest takes roundf((o + 0.5) * I / O - 0.5) (oneDNN's resampling_utils.hpp).
"""

import itertools

from common import Attr, Case, jax, jnp, np, write
from conv import Geometry


def pool_fwd(geo, alg):
    def f(x):
        fill = -jnp.inf if alg == "max" else 0.0
        pad = [(0, 0), (0, 0)] + [(p, max(r, 0)) for p, r in zip(geo.p, geo.pr)]
        xp = jnp.pad(x, pad, constant_values=fill)
        ones = jnp.pad(jnp.ones(x.shape), pad)
        parts, inside = [], []
        for kk in itertools.product(*map(range, geo.k)):
            sl = (slice(None), slice(None)) + tuple(
                slice(k * (d + 1), k * (d + 1) + (o - 1) * s + 1, s) for k, d, o, s in zip(kk, geo.d, geo.o, geo.s))
            parts.append(xp[sl])
            inside.append(ones[sl])
        st = jnp.stack(parts)
        if alg == "max":
            return jnp.max(st, axis=0)
        n = sum(inside) if alg == "avg_np" else float(np.prod(geo.k))
        return jnp.sum(st, axis=0) / n
    return f


def pool_case(dir, alg, geo, mb=2, ic=2, dt="f32", tag="abx", attr=None, dil=True):
    attr = attr or Attr()
    sdt, ddt = (dt.split(":") * 2)[:2]
    c = Case(f"--pool --dir={dir} --dt={dt} --tag={tag} --alg={alg}", *attr.words(), geo.text(mb, ic, dil=dil))
    sh = [mb, ic] + geo.i
    if alg == "max" and sdt in ("f32", "bf16", "f16"):
        x = c.distinct(sh, sdt, step=1 / 32)
    else:
        x = c.rand(sh, sdt, **({"lo": -128, "hi": 127} if sdt == "s8" else {"lo": 0, "hi": 255} if sdt == "u8" else {}))
    f = pool_fwd(geo, alg)
    if dir.startswith("FWD"):
        c.inp("src", x, sdt)
        d = np.asarray(f(jnp.asarray(x)))
        assert list(d.shape[2:]) == geo.o and np.isfinite(d).all(), c.problem
        attr.finish(c, d, ddt)
        return c
    if alg == "max":  # the window's winner is found again by the forward run that makes the workspace
        c.inp("src", x, sdt)
    dd = c.data("diff_dst", [mb, ic] + geo.o, ddt)
    c.out("diff_src", jax.vjp(f, jnp.asarray(x))[1](jnp.asarray(dd))[0], sdt)
    return c


def linear_by_formula(x, out):
    """dev_guide_resampling, one dim after the other."""
    for ax, o in enumerate(out):
        i = x.shape[2 + ax]
        v = (np.arange(o) + 0.5) * i / o - 0.5
        lo, hi, w = np.floor(v), np.ceil(v), v - np.floor(v)
        take = lambda idx: np.take(x, np.clip(idx, 0, i - 1).astype(int), axis=2 + ax)  # noqa: E731
        w = w.reshape([-1 if d == 2 + ax else 1 for d in range(x.ndim)])
        x = take(lo) * (1 - w) + take(hi) * w
    return x


def nearest_by_formula(x, out):
    for ax, o in enumerate(out):
        i = x.shape[2 + ax]
        v = (np.arange(o) + 0.5) * i / o - 0.5
        idx = np.sign(v) * np.floor(np.abs(v) + 0.5)  # roundf
        x = np.take(x, np.clip(idx, 0, i - 1).astype(int), axis=2 + ax)
    return x


def resampling_case(dir, alg, isp, osp, mb=2, ic=2, dt="f32", ddt=None, tag="abx", attr=None):
    attr, ddt = attr or Attr(), ddt or dt
    L = "dhw"[3 - len(isp):]
    c = Case(f"--resampling --dir={dir} --sdt={dt} --ddt={ddt} --tag={tag} --alg={alg}", *attr.words(), f"mb{mb}ic{ic}"
             + "".join(f"i{l}{v}" for l, v in zip(L, isp)) + "".join(f"o{l}{v}" for l, v in zip(L, osp)))
    ish, osh = (mb, ic, *isp), (mb, ic, *osp)
    f = lambda x: jax.image.resize(x, osh, alg, antialias=False)  # noqa: E731
    if dir.startswith("FWD"):
        x = c.data("src", ish, dt, **({"lo": -60, "hi": 60, "step": 4} if dt in ("s8", "s32") else {"lo": 0, "hi": 240, "step": 4} if dt == "u8" else {}))
        d = np.asarray(f(jnp.asarray(x)))
        want = (linear_by_formula if alg == "linear" else nearest_by_formula)(x, osp)
        np.testing.assert_allclose(d, want, rtol=1e-12, atol=1e-12, err_msg=c.problem)
        attr.finish(c, want if alg == "nearest" else d, ddt)
        return c
    dd = c.data("diff_dst", osh, ddt)
    c.out("diff_src", jax.vjp(f, jnp.zeros(ish))[1](jnp.asarray(dd))[0], dt)
    return c


def main():
    G, cs = Geometry, []
    geos = [G([5, 5], [3, 3], s=2, p=1), G([6, 5], [2, 3], s=[2, 1], p=[0, 1]), G([7, 7], [2, 2], s=[2, 1], d=[1, 2], p=1),
            G([5, 6], [3, 2], s=2, p=[0, 1], pr=[1, 0]), G([4, 4], [4, 4]), G([7], [3], s=2, p=1), G([8], [3], s=1, d=1, p=2),
            G([3, 4, 4], [2, 3, 2], s=[1, 2, 2], p=[0, 1, 0]), G([4, 3, 4], [3, 2, 2], p=[1, 0, 1], d=[0, 1, 0])]
    for geo in geos:
        for alg in ("max", "avg_np", "avg_p"):
            for dir in ("FWD_D", "BWD_D"):
                cs.append(pool_case(dir, alg, geo))
    g0 = geos[0]
    for alg in ("max", "avg_np", "avg_p"):
        cs.append(pool_case("FWD_I", alg, g0, ic=8, mb=1, tag="axb"))
        cs.append(pool_case("BWD_D", alg, g0, ic=8, mb=1, tag="axb"))
        cs.append(pool_case("FWD_D", alg, g0, ic=5, mb=1, tag="aBx8b"))
        for dt in ("bf16", "f16"):
            cs.append(pool_case("FWD_D", alg, g0, mb=1, dt=dt))
            cs.append(pool_case("BWD_D", alg, g0, mb=1, dt=dt))
        g1 = G([5, 5], [3, 3], s=2) if alg != "max" else g0
        for dt in ("s8", "u8", "s32"):
            cs.append(pool_case("FWD_I", alg, g1, dt=dt, tag="axb"))
            cs.append(pool_case("FWD_I", alg, G([4, 4], [2, 2], s=2), dt=dt))
        cs.append(pool_case("FWD_I", alg, g1, dt="s8:f32"))
        cs.append(pool_case("FWD_I", alg, g1, dt="u8:s8"))
        cs.append(pool_case("FWD_I", alg, g0, attr=Attr(po=[("elt", "relu", 0.5), ("bin", "add", "f32", "per_oc")])))
        cs.append(pool_case("FWD_I", alg, g0, attr=Attr(po=[("bin", "mul", "f32", "per_tensor")])))
    cs.append(pool_case("FWD_D", "max", g0, dil=False))
    write("pool", cs)

    cs = []
    sizes = [((4,), (7,)), ((7,), (3,)), ((3, 4), (6, 8)), ((4, 6), (2, 3)), ((5, 3), (7, 2)), ((2, 3, 2), (4, 5, 3)), ((1, 1), (3, 2)), ((3, 5), (3, 5)), ((5, 4), (1, 1))]
    for alg in ("nearest", "linear"):
        for i, o in sizes:
            for dir in ("FWD_D", "BWD_D"):
                cs.append(resampling_case(dir, alg, i, o))
        cs.append(resampling_case("FWD_I", alg, (3, 4), (5, 7), ic=9, mb=1, tag="axb"))
        cs.append(resampling_case("BWD_D", alg, (3, 4), (5, 7), ic=9, mb=1, tag="axb"))
        for dt in ("bf16", "f16"):
            cs += [resampling_case(d, alg, (3, 4), (6, 5), mb=1, dt=dt) for d in ("FWD_D", "BWD_D")]
        for a, b in (("s8", "s8"), ("u8", "u8"), ("s32", "s32"), ("f32", "s8"), ("s8", "f32"), ("u8", "bf16"), ("f32", "u8"), ("s32", "f16")):
            cs.append(resampling_case("FWD_I", alg, (2, 3), (4, 6), dt=a, ddt=b))
        cs.append(resampling_case("FWD_I", alg, (3, 4), (6, 8), attr=Attr(po=[("sum", 0.5), ("elt", "relu"), ("bin", "mul", "f32", "per_oc")])))
    write("resampling", cs)


if __name__ == "__main__":
    main()
