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


def attention(q, k, v, val, scale, mask):
    """`softmax(scale(q k) + mask) v` in the calling precision; `mask` is -inf where a key is hidden."""
    rep = lambda x: jnp.repeat(x, q.shape[1] // k.shape[1], axis=1)  # noqa: E731
    s = jnp.einsum("bhqd,bhdk->bhqk", q, rep(k))
    s = s * val if scale == "mul" else s / val if scale == "div" else s
    return jnp.einsum("bhqk,bhkv->bhqv", jax.nn.softmax(s + mask, axis=-1), rep(v))


def backward(b, h, hkv, sq, sk, d, dv, dt="f32", mask="none", scale="none", scale_value=None):
    """Gradients by `jax.vjp`. No row is hidden wholly: its gradient by JAX is not a number."""
    c = Case(f"--sdpa --dir=BWD_DW --dt={dt} --mask={mask}", f"--scale={scale}", f"{b}x{h}x{sq}x{d}:{b}x{hkv}x{d}x{sk}:{b}x{hkv}x{sk}x{dv}")
    q, k, v = c.data("q", (b, h, sq, d), dt), c.data("k", (b, hkv, d, sk), dt), c.data("v", (b, hkv, sk, dv), dt)
    val = c.inp("scale", [scale_value])[0] if scale != "none" else None
    hidden = np.zeros((b, h, sq, sk))
    if mask == "buffer":
        hidden = c.rand(hidden.shape, "f32", lo=-1, hi=1, step=1 / 4)
        hidden[c.rng.random(hidden.shape) < 0.25] = -np.inf
        hidden[..., 0] = 0
        c.inp("mask", hidden)
    elif mask != "none":
        i, j = np.arange(sq)[:, None], np.arange(sk)[None, :]
        hidden = hidden + np.where(j <= i + (sk - sq if mask == "causal_br" else 0), 0, -np.inf)
    dst, gradients = jax.vjp(lambda q, k, v: attention(q, k, v, val, scale, hidden), *map(jnp.asarray, (q, k, v)))
    for name, x in zip(("diff_q", "diff_k", "diff_v"), gradients(jnp.asarray(c.data("diff_dst", dst.shape, dt)))):
        c.out(name, x, dt)
    if dt != "f32":  # the result that backward reads is rounded
        c.tol = {"bf16": 0.05, "f16": 0.006}[dt]
    return c


def packed(t, kt, way, points, sq=3, sk=8, d=8, dv=4):
    """Keys and values of whole numbers, with scales (and zero points) common, one a key, or one for 8 of the depth and every column."""
    b, h, hkv = 1, 4, 2
    policy = {"common": ["common:0.25", "common:0.5"], "key": ["per_dim_3:f32", "per_dim_2:f32"], "group": ["per_tensor:f32:8x1"] * 2}[way]
    zero = {"common": ["common:2", "common:1"], "key": ["per_dim_3:s32", "per_dim_2:s32"], "group": ["per_tensor:s32:8x1"] * 2}[way]
    join = lambda p: "+".join(f"src{i + 1}:{x}" for i, x in enumerate(p))  # noqa: E731
    c = Case(f"--sdpa --dt={t}:{kt}:{kt}:{t} --mask=causal_br --scale=mul --attr-scales={join(policy)}",
             f"--attr-zero-points={join(zero)}" if points else "", f"{b}x{h}x{sq}x{d}:{b}x{hkv}x{d}x{sk}:{b}x{hkv}x{sk}x{dv}")
    q, val = c.data("q", (b, h, sq, d), t), c.inp("scale", [0.125])[0]
    real = []
    for arg, name, shape, key in (("src1", "k", (b, hkv, d, sk), 3), ("src2", "v", (b, hkv, sk, dv), 2)):
        x = c.data(name, shape, kt)
        numbers = {"common": [1], "key": [shape[key]], "group": [*shape[:2], shape[2] // 8, shape[3]]}[way]
        whole = np.array(policy[arg == "src2"].split(":")[1:2], float) if way == "common" else c.rng.choice([0.125, 0.25, 0.5], size=numbers)
        scales = c.inp(f"scales:{arg}", whole)
        shift = np.zeros_like(scales)
        if points:
            own = np.array(zero[arg == "src2"].split(":")[1:2], float) if way == "common" else c.rng.integers(-2, 3, size=numbers).astype(float)
            shift = c.inp(f"zp:{arg}", own, "s32")
        if way == "key":
            scales, shift = (np.expand_dims(y, [a for a in range(4) if a != key]) for y in (scales, shift))
        elif way == "group":
            scales, shift = (np.repeat(y, 8, axis=2) for y in (scales, shift))
        real.append((x - shift) * scales)
    i, j = np.arange(sq)[:, None], np.arange(sk)[None, :]
    hidden = np.where(j <= i + sk - sq, 0, -np.inf)
    c.out("dst", attention(jnp.asarray(q), *map(jnp.asarray, real), val, "mul", hidden), t)
    if t != "f32":
        c.tol = {"bf16": 0.02, "f16": 0.003}[t]
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
    for mask in ("none", "causal_tl", "causal_br", "buffer"):
        cs.append(backward(1, 2, 2, 4, 5, 4, 3, mask=mask))
        cs.append(backward(2, 4, 2, 3, 4, 4, 4, mask=mask, scale="mul", scale_value=0.5))
        cs.append(backward(1, 2, 1, 1, 6, 4, 4, mask=mask, scale="div", scale_value=2))
    cs.append(backward(1, 1, 1, 17, 33, 16, 9, mask="causal_br", scale="mul", scale_value=0.25))
    cs.append(backward(1, 2, 2, 3, 4, 4, 3, dt="bf16", scale="mul", scale_value=0.5))
    cs.append(backward(1, 2, 2, 3, 4, 4, 3, dt="f16", mask="causal_tl", scale="mul", scale_value=0.5))
    for kt in ("s8", "u8", "s4", "u4"):
        for way in ("common", "key", "group"):
            cs.append(packed("f32", kt, way, kt in ("u8", "s4")))
    cs.append(packed("bf16", "s8", "key", True))
    cs.append(packed("f16", "u4", "group", True))
    cs.append(packed("f32", "s4", "group", True, sq=1, sk=16, d=16, dv=8))
    write("sdpa", cs)


if __name__ == "__main__":
    main()
