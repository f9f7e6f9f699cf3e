"""Scaled dot-product attention: dst = softmax(scale(q k) + mask) v.

k is given transposed (B, Hkv, D, Sk); with fewer key heads than query heads, query head h uses key head h // (H / Hkv). Causal masks
let query i see key j <= i (top left) or j <= i + Sk - Sq (bottom right). A buffer mask has the shape of the scores, B x H x Sq x Sk
(benchdnn's sdpa.hpp). A row without a visible key gives zeros (oneDNN's `softmax_accurate_inf_as_zero`).
"""

from common import Case, jax, jnp, np, write


def case(b, h, hkv, sq, sk, d, dv, dt="f32", mask="none", scale="none", scale_value=None, mask_dt="f32", scale_dt="f32", dead_row=False):
    dts = (dt.split(":") * 4)[:4]
    c = Case(f"--sdpa --dt={dt} --mask={mask}", f"--mask-dt={mask_dt}" if mask == "buffer" else "", f"--scale={scale}",
             f"--scale-dt={scale_dt}" if scale != "none" else "", f"{b}x{h}x{sq}x{d}:{b}x{hkv}x{d}x{sk}:{b}x{hkv}x{sk}x{dv}")
    q, k, v = c.data("q", (b, h, sq, d), dts[0]), c.data("k", (b, hkv, d, sk), dts[1]), c.data("v", (b, hkv, sk, dv), dts[2])
    rep = lambda x: jnp.repeat(jnp.asarray(x), h // hkv, axis=1)  # noqa: E731
    s = jnp.einsum("bhqd,bhdk->bhqk", jnp.asarray(q), rep(k))
    if scale != "none":
        val = c.inp("scale", [scale_value], scale_dt)[0]
        s = s * val if scale == "mul" else s / val
    if mask == "buffer":
        m = c.rand(s.shape, mask_dt, lo=-1, hi=1, step=1 / 4)
        m[c.rng.random(s.shape) < 0.25] = -np.inf
        if dead_row:
            m[0, 0, 1] = -np.inf
        s = s + c.inp("mask", m, mask_dt)
    elif mask != "none":
        i, j = np.arange(sq)[:, None], np.arange(sk)[None, :]
        s = jnp.where(j <= i + (sk - sq if mask == "causal_br" else 0), s, -jnp.inf)
    p = np.nan_to_num(np.asarray(jax.nn.softmax(s, axis=-1)), nan=0.0)
    c.out("dst", np.einsum("bhqk,bhkv->bhqv", p, np.asarray(rep(v))), dts[3])
    if dts[0] != "f32":  # probabilities may be rounded to the type of v
        c.tol = {"bf16": 0.02, "f16": 0.003}[dts[0]]
    return c


def check_by_loops():
    r = np.random.default_rng(0)
    s = r.normal(size=(3, 5))
    e = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(jax.nn.softmax(s, axis=-1), e / e.sum(1, keepdims=True), rtol=1e-12)


def main():
    check_by_loops()
    cs = []
    for mask in ("none", "causal_tl", "causal_br", "buffer"):
        for scale, val in (("none", None), ("mul", 0.5), ("div", 2.0)):
            cs.append(case(1, 2, 2, 4, 5, 4, 3, mask=mask, scale=scale, scale_value=val))
        cs.append(case(2, 4, 2, 3, 4, 4, 4, mask=mask, scale="mul", scale_value=0.5))
        cs.append(case(1, 3, 1, 5, 3, 2, 2, mask=mask, scale="div", scale_value=1.5))  # more queries than keys: dead rows
        cs.append(case(1, 2, 1, 1, 6, 4, 4, mask=mask, scale="mul", scale_value=0.25))  # one query: decoding
        for dt in ("bf16", "f16", "bf16:bf16:bf16:f32"):
            cs.append(case(1, 2, 2, 3, 4, 4, 3, dt=dt, mask=mask, scale="mul", scale_value=0.5))
    cs.append(case(1, 2, 2, 4, 6, 4, 3, mask="buffer", scale="mul", scale_value=0.5, dead_row=True))
    cs.append(case(1, 2, 2, 4, 5, 4, 3, dt="bf16", mask="buffer", mask_dt="bf16", scale="mul", scale_dt="bf16", scale_value=0.5))
    cs.append(case(1, 2, 2, 4, 5, 4, 3, dt="f16", mask="buffer", mask_dt="f16", scale="div", scale_dt="f16", scale_value=2))
    cs.append(case(1, 1, 1, 7, 9, 8, 5, scale="mul", scale_value=0.375))
    write("sdpa", cs)


if __name__ == "__main__":
    main()
