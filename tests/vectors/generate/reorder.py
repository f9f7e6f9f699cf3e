"""Reorder: conversions between types (ml_dtypes is the oracle of the small floats), scales, zero points, sum, layouts.

Every case says "tol": 0 and gives the rounded value: all arithmetic here is exact in f32.
- To floats: nearest, ties to even, one rounding; f8_e5m2 overflows to infinity, f8_e4m3 to NaN (above 464), f4 saturates.
- oneDNN's f4 conversion (float4.cpp) rounds ties upwards except the smallest; ml_dtypes rounds them to even. Ties where the two
  differ (1.25, 2.5, 5 for e2m1) are left out.
- To e8m0: oneDNN truncates to the power of two below and drops the sign (float8.cpp); only positive numbers here.
- To s32 the largest results are left out, as oneDNN may saturate at the largest float below 2^31.
dst = (src_scale * (src - src_zp) + beta * dst_old) / dst_scale + dst_zp (dev_guide_reorder; benchdnn's ref_reorder.cpp).
"""

import itertools

import ml_dtypes

from common import FLOATS, F4_E3M0, INTS, Attr, Case, np, round_to, write
from pointwise import shape_text


def reorder_case(x, sdt, ddt, attr=None, stag="abx", dtag="abx", words=(), shape=None):
    """x: array of source values, or None for random ones of `shape`."""
    attr = attr or Attr()
    shape = list(shape or np.shape(x))
    c = Case(f"--reorder --sdt={sdt} --ddt={ddt} --stag={stag} --dtag={dtag}", *words, *attr.words(), shape_text(shape))
    x = c.rand(shape, sdt) if x is None else np.asarray(x, float).reshape(shape)
    c.inp("src", x, sdt)
    y = (x - attr.quant(c, "zps", "src", shape)) * attr.quant(c, "scales", "src", shape, per_oc=(0,))
    y = attr.post_ops(c, y, ddt)
    y = y / attr.quant(c, "scales", "dst", shape, per_oc=(0,)) + attr.quant(c, "zps", "dst", shape)
    with np.errstate(over="ignore", invalid="ignore"):
        y = round_to(y, ddt) if ddt != "e8m0" else 2.0 ** np.floor(np.log2(y))
    c.tol = 0
    c.outs["dst"] = (y, ddt)
    return c


def rect(values, cols=16):
    """Values as a 2-D array, the last row filled up from the beginning."""
    v = np.asarray(values, float).ravel()
    n = -(-len(v) // cols) * cols
    return np.resize(v, n).reshape(-1, cols)


def codes(dt):
    """All values of a small type, in the order of their codes."""
    if dt in INTS:
        return np.arange(INTS[dt][0], INTS[dt][1] + 1, dtype=float)
    if dt == "f4_e3m0":
        return np.concatenate([F4_E3M0, -F4_E3M0])
    if dt == "f4_e2m1":
        return np.arange(16, dtype=np.uint8).astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(float)
    return np.arange(256, dtype=np.uint8).view(FLOATS[dt]).astype(float)


def midpoints(dt, among=None):
    """Between neighbours of dt: the middle, and the float32 numbers on either side of it."""
    v = codes(dt) if among is None else among
    v = np.unique(v[np.isfinite(v)])
    mid = ((v[1:] + v[:-1]) / 2).astype(np.float32)
    assert np.array_equal(mid.astype(float), (v[1:] + v[:-1]) / 2)
    return mid, np.nextafter(mid, np.float32(np.inf)), np.nextafter(mid, np.float32(-np.inf))


def near(v, dt):
    """Neighbours of the numbers v in a 16-bit type."""
    bits = np.asarray(v, FLOATS[dt]).view(np.uint16)
    return np.concatenate([bits, bits + 1]).astype(np.uint16).view(FLOATS[dt]).astype(float)


def cases():
    cs = []
    # every code of the small types
    for dt in ("f8_e5m2", "f8_e4m3", "e8m0"):
        for d in ("f32",) + (("f16", "bf16", dt) if dt != "e8m0" else ()):
            cs.append(reorder_case(codes(dt).reshape(16, 16), dt, d))
    for dt in ("f4_e2m1", "f4_e3m0", "s4", "u4"):
        cs.append(reorder_case(codes(dt).reshape(4, 4), dt, "f32"))
    cs += [reorder_case(codes(a).reshape(16, 16), a, b) for a in ("s8", "u8") for b in ("f32", "s8", "u8", "s32", "bf16", "f16")]
    # f32 to the small floats: exact values, ties and the numbers beside them, overflow, specials
    for dt in ("f8_e5m2", "f8_e4m3"):
        mid, up, down = midpoints(dt)
        cs.append(reorder_case(rect(mid), "f32", dt))
        cs.append(reorder_case(np.vstack([rect(up), rect(down)]), "f32", dt))
        fin = codes(dt)[np.isfinite(codes(dt))]
        cs.append(reorder_case(rect(fin, 8), "f32", dt))
        top = fin.max()
        big = np.array([top, top * 1.03, top * 1.05, top * 1.25, top * 2, 1e30])
        edge = [464.0, np.nextafter(np.float32(464), np.float32(500)), 448, 449, 479, 480] if dt == "f8_e4m3" else \
            [61440.0, np.nextafter(np.float32(61440), np.float32(0)), 57344, 60000, 65504, 65536]
        sp = round_to(np.concatenate([big, edge, [np.inf, np.nan, 0, 2.0**-30]]), "f32")
        cs.append(reorder_case(np.vstack([sp, -sp]), "f32", dt))
        for s in ("f16", "bf16"):
            m = np.unique(round_to(np.concatenate([mid[::3], fin[::5], near(np.abs(mid[1::4]), s)]), s))
            cs.append(reorder_case(rect(m[np.isfinite(m)], 4), s, dt))
    cs.append(reorder_case(rect(codes("e8m0")[:-1], 5), "f32", "e8m0"))
    cs.append(reorder_case(rect([1.5, 1.99, 3, 5, 7.9, 0.3, 0.75, 1e-3, 1000, 1e30, 1e-30, 12, 100, 6, 0.1, 3.999], 4)
                           .astype(np.float32), "f32", "e8m0"))
    cs.append(reorder_case(rect([0.25, 0.75, 1.75, 3.5, -0.25, -0.75, -1.75, -3.5, 0.2, 0.3, 0.7, 0.8, 1.2, 1.3, 1.7, 1.8, 2.4, 2.6, 3.4, 3.6,
                                 4.9, 5.1, 6, 7, 100, -100, -2.4, -5.1, 0, -1, 1, 6.5]).astype(np.float32), "f32", "f4_e2m1"))
    cs.append(reorder_case(rect([0.1, 0.13, 0.3, 0.36, 0.4, 0.7, 0.8, 1.4, 1.6, 2.9, 3.1, 5.9, 6.1, 11.9, 12.1, 16, 20, 100, -100, -0.3, -1.6, -2.9,
                                 0, 1, 2, 4, 8, 0.5, 0.25, -8, -4, -0.25]).astype(np.float32), "f32", "f4_e3m0"))
    # f32 to 16 bits
    for dt, eps, tiny in (("f16", 2.0**-11, 2.0**-24), ("bf16", 2.0**-8, 2.0**-126)):
        one = np.array([1 + eps * k for k in (1, 3, 5, 7)] + [2 - eps, 1 + eps * 2, 1 + eps * 1.5, 1.75 + eps])
        v = np.concatenate([one, one * 2.0**7, one * 2.0**-7, [tiny, tiny * 3, tiny * 1.5 if dt == "f16" else tiny * 2, 0]])
        v = round_to(np.concatenate([v, np.nextafter(v.astype(np.float32), np.float32(9e9)), [np.inf, np.nan, -0.0, 3e38 if dt == "f16" else 2.0**120]]), "f32")
        if dt == "f16":
            v = np.concatenate([v, [65504, 65519, 65520, 65536, 2.0**-25, 2.0**-25 * 1.0000001192092896, 2.0**-26, 3 * 2.0**-25]])
        else:
            v = np.concatenate([v, [3.3895313892515355e38, float(np.float32(3.3961775292304957e38)), float(np.finfo(np.float32).max), 1e-30, 1e30, 7, 9, 11]])
        cs.append(reorder_case(np.vstack([rect(round_to(v, "f32"), 10), -rect(round_to(v, "f32"), 10)]), "f32", dt))
        r = np.random.default_rng(7)
        cs.append(reorder_case(round_to(r.normal(size=(8, 9)) * 10, dt), dt, "f32"))
        cs.append(reorder_case(round_to(r.normal(size=(8, 9)) * 40, dt), dt, "s8"))
        cs.append(reorder_case(round_to(r.normal(size=(8, 9)) * 100 + 80, dt), dt, "u8"))
        cs.append(reorder_case(round_to(r.normal(size=(8, 9)) * 10, dt), dt, dt))
    # floats to integers: ties, saturation
    ties = np.concatenate([np.arange(-10, 10) + 0.5, [126.5, 127.5, 128.5, -127.5, -128.5, -129, 254.5, 255.5, 256, 300, -300, 0.25, -0.25, 1e9, -1e9, 0.4999999701976776,
                                                      -0.4999999701976776, 200.75]])
    for d in ("s8", "u8", "s4", "u4"):
        cs.append(reorder_case(rect(ties, 8), "f32", d))
    cs.append(reorder_case(rect(np.concatenate([ties, [2147483520.0, -2147483648.0, -3e9, -1e20, 16777216, 8388607.5, 8388608.5 - 1]]).astype(np.float32), 8), "f32", "s32"))
    big = [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**24, 2**24 + 1, 2**24 + 3, -(2**24) - 1, 2**30 + 64, 2**31 - 65, -(2**31)]
    for d in ("f32", "s32", "s8", "u8"):
        cs.append(reorder_case(rect(big, 4), "s32", d))
    # every pair, small values that all types have
    types = ["f32", "bf16", "f16", "s32", "s8", "u8", "s4", "u4", "f8_e5m2", "f8_e4m3", "f4_e2m1", "f4_e3m0", "e8m0"]
    for a, b in itertools.product(types, types):
        v = [1, 2, 4, 1, 4, 2] if "e8m0" in (a, b) else [1, 2, 0, 4, 2, 4] if "u4" in (a, b) or "u8" in (a, b) else [-1, 2, 0, 4, -2, -4]
        cs.append(reorder_case(np.array(v, float).reshape(1, 3, 2), a, b))
    # scales, zero points, sum
    A, q, z = Attr, "scales", "zps"
    for s, d, kw in (("f32", "s8", {q: [("src", "common", 2)]}), ("f32", "s8", {q: [("dst", "common", 0.25)]}), ("f32", "u8", {q: [("dst", "common", 0.125)], z: [("dst", "common", 128)]}),
                     ("f32", "s8", {q: [("src", "per_dim_0")]}), ("f32", "s8", {q: [("dst", "per_dim_1")]}), ("f32", "s8", {q: [("src", "per_dim_01"), ("dst", "common", 0.5)]}),
                     ("u8", "f32", {q: [("src", "common", 0.25)], z: [("src", "common", 7)]}), ("s8", "f32", {q: [("src", "per_dim_1")], z: [("src", "common", -3)]}),
                     ("s8", "u8", {q: [("src", "common", 0.5)], z: [("src", "common", -3), ("dst", "common", 20)]}), ("u8", "s8", {z: [("src", "common", 100), ("dst", "common", 5)]}),
                     ("s32", "s8", {q: [("src", "common", 0.25)]}), ("bf16", "s8", {q: [("dst", "common", 0.0625)]}), ("f32", "bf16", {q: [("src", "common", 0.75)]}),
                     ("f32", "f8_e4m3", {q: [("dst", "common", 0.5)]}), ("f8_e5m2", "f32", {q: [("src", "per_dim_1")]}), ("f32", "s32", {q: [("src", "common", 64)]})):
        cs.append(reorder_case(None, s, d, A(**kw), shape=(3, 4, 5)))
    for s, g in (("s8", "4x1"), ("u4", "4x1"), ("s4", "1x2"), ("u4", "2x2")):
        cs.append(reorder_case(None, s, "f32", A(scales=[("src", "per_tensor", None, "f32", g)]), shape=(8, 6)))
        cs.append(reorder_case(None, s, "f32", A(scales=[("src", "per_tensor", None, "f32", g)], zps=[("src", "per_tensor", None, "s8", g)]), shape=(8, 6)))
    for s, d, beta in (("f32", "f32", 1), ("f32", "f32", 0.5), ("s8", "s8", 1), ("f32", "s8", 0.5), ("bf16", "bf16", 1), ("u8", "u8", 2), ("s8", "f32", -0.25)):
        cs.append(reorder_case(None, s, d, A(po=[("sum", beta)]), shape=(3, 4, 5)))
    cs.append(reorder_case(None, "f32", "s8", A(scales=[("src", "common", 2), ("dst", "common", 0.5)], po=[("sum", 0.5)]), shape=(3, 4, 5)))
    # layouts
    for st, dt in (("abx", "axb"), ("axb", "abx"), ("abx", "aBx8b"), ("aBx8b", "abx"), ("abx", "aBx16b"), ("aBx16b", "axb"), ("abx", "ABx4a4b"), ("abx", "ABx16b4a"),
                   ("ABx4a4b", "axb"), ("abx", "ABx8a16b2a"), ("bax", "abx")):
        cs.append(reorder_case(None, "f32", "f32", stag=st, dtag=dt, shape=(5, 9, 3, 2)))
        cs.append(reorder_case(None, "f32", "s8", stag=st, dtag=dt, shape=(5, 9, 3), attr=A(scales=[("src", "common", 16)])))
    for st, dt in (("abcd", "dcba"), ("abcd", "cdab"), ("acdb", "abcd"), ("abcd", "BAcd16a16b"), ("abcd", "Acdb16a")):
        cs.append(reorder_case(None, "bf16", "f32", stag=st, dtag=dt, shape=(3, 5, 2, 3)))
    cs.append(reorder_case(None, "f32", "f32", stag="abcde", dtag="abdec", shape=(2, 3, 4, 2, 2)))
    cs.append(reorder_case(None, "u8", "u8", stag="ab", dtag="ba", shape=(17, 5)))
    cs.append(reorder_case(None, "s4", "s4", stag="ab", dtag="ba", shape=(6, 4)))
    return cs


def main():
    write("reorder", cases())


if __name__ == "__main__":
    main()
