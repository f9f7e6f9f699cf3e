"""Inner product and matmul: jnp.einsum / jnp.matmul in float64; quantised problems are dequantised first, exactly.

Convention (oneDNN, dev_guide_attributes_quantization): real = scale * (stored - zero_point); weight groups GxH divide the
last two dims of the weights; the destination is divided by its scale and shifted by its zero point after the post-ops.
"""

from common import Attr, Case, jax, jnp, np, write


# --------------------------------------------------------------------------------------------------------- inner product


def ip_fwd(src, wei, bia):
    mb, oc = src.shape[0], wei.shape[0]
    return jnp.einsum("nk,ok->no", src.reshape(mb, -1), wei.reshape(oc, -1)) + bia


def ip_case(dir, sp, mb=3, ic=4, oc=5, dt="f32", bia_dt="f32", attr=None, tags=("abx", "abx", "ab"), full=False):
    attr = attr or Attr()
    dts = (dt.split(":") * 3)[:3] if ":" not in dt else dt.split(":")
    bias = dir in ("FWD_B", "BWD_WB")
    L = "dhw"[3 - len(sp):] if sp else ""
    c = Case("--ip", f"--dir={dir}", f"--dt={dt}", f"--bia-dt={bia_dt}" if bias and bia_dt != "f32" else "",
             f"--stag={tags[0]}", f"--wtag={tags[1]}", f"--dtag={tags[2]}", *attr.words(),
             f"mb{mb}ic{ic}" + "".join(f"i{l}{v}" for l, v in zip(L, sp)) + f"oc{oc}")
    ssh, wsh, dsh = [mb, ic, *sp], [oc, ic, *sp], [mb, oc]
    wide = {"s8": dict(lo=-128, hi=127), "u8": dict(lo=0, hi=255)} if full else {}
    if dir.startswith("FWD"):
        src, wei = (c.data(n, s, t, **wide.get(t, {})) for n, s, t in (("src", ssh, dts[0]), ("wei", wsh, dts[1])))
        acc = np.asarray(ip_fwd(src, wei, 0.0))
        sw = attr.quant(c, "scales", "wei", wsh, per_oc=(0,))
        acc = acc * attr.quant(c, "scales", "src", ssh) * (sw.reshape(-1)[:oc] if sw.size > 1 else sw)
        if bias:
            acc = acc + c.data("bia", [oc], bia_dt)
        attr.finish(c, acc, dts[2])
        return c
    dd = c.data("diff_dst", dsh, dts[2])
    src = c.data("src", ssh, dts[0]) if dir != "BWD_D" else np.zeros(ssh)
    wei = c.data("wei", wsh, dts[1]) if dir == "BWD_D" else np.zeros(wsh)
    ds, dw, db = jax.vjp(ip_fwd, jnp.asarray(src), jnp.asarray(wei), jnp.zeros(oc))[1](jnp.asarray(dd))
    if dir == "BWD_D":
        c.out("diff_src", ds, dts[0])
    else:
        c.out("diff_wei", dw, dts[1])
        if bias:
            c.out("diff_bia", db, bia_dt)
    return c


def ip_cases():
    cs = []
    for sp, ch in (((), dict(ic=7, oc=5)), ((3, 2), dict()), ((4,), dict(mb=2, ic=3, oc=6)), ((2, 2, 3), dict(mb=2, ic=2, oc=3))):
        for dir in ("FWD_B", "FWD_I", "BWD_D", "BWD_W", "BWD_WB"):
            cs.append(ip_case(dir, sp, **ch))
    cs.append(ip_case("FWD_B", (3, 3), mb=1, ic=16, oc=17, tags=("axb", "any", "ab")))
    cs.append(ip_case("FWD_D", (), mb=17, ic=5, oc=3, tags=("ab", "ba", "ab")))
    for dt in ("bf16", "f16", "bf16:bf16:f32", "f16:f16:f32"):
        for dir in ("FWD_B", "BWD_D", "BWD_WB") if ":" not in dt else ("FWD_B",):
            cs.append(ip_case(dir, (2, 2), dt=dt))
    cs.append(ip_case("BWD_WB", (2, 2), dt="bf16:f32:bf16"))
    cs.append(ip_case("BWD_D", (2, 2), dt="f32:bf16:bf16"))
    for po in ([("sum", 0.5)], [("elt", "relu", 0.25)], [("elt", "logistic"), ("sum",)],
               [("bin", "add", "f32", "per_oc"), ("elt", "gelu_tanh")], [("bin", "mul", "f32", "per_tensor"), ("prelu", "per_oc")]):
        cs.append(ip_case("FWD_B", (2, 2), attr=Attr(po=po)))
    S = [("src", "common", 0.5), ("wei", "per_oc"), ("dst", "common", 4)]
    for s in ("u8", "s8"):
        for d in ("s32", "s8", "u8", "f32", "bf16"):
            cs.append(ip_case("FWD_B", (2, 2), dt=f"{s}:s8:{d}", attr=Attr(scales=S[:2])))
    cs.append(ip_case("FWD_D", (), ic=20, dt="u8:s8:s32", full=True))
    cs.append(ip_case("FWD_D", (), ic=21, dt="s8:s8:s32", full=True))
    cs.append(ip_case("FWD_B", (2, 3), dt="u8:s8:u8", attr=Attr(scales=S, po=[("sum", 0.5), ("elt", "relu")])))
    cs.append(ip_case("FWD_B", (2, 3), dt="s8:s8:s8", bia_dt="s8", attr=Attr(scales=S, po=[("bin", "add", "s8", "common")])))
    cs.append(ip_case("FWD_B", (), ic=12, dt="u8:s8:s8", full=True, attr=Attr(scales=S, po=[("elt", "relu", 0.5)])))
    return cs


# ---------------------------------------------------------------------------------------------------------------- matmul


def mm_case(ssh, wsh, dt="f32", bia=None, tags=(None, None, None), attr=None, words=(), ranges=None, sparse=None, full=False):
    """bia: (type, mask); sparse: 'src' or 'wei' made half zeros."""
    attr, ranges = attr or Attr(), ranges or {}
    dts = (dt.split(":") * 3)[:3] if ":" not in dt else dt.split(":")
    c = Case("--matmul", f"--dt={dt}", f"--bia-dt={bia[0]} --bia-mask={bia[1]}" if bia else "",
             *(f"--{n}={t}" for n, t in zip(("stag", "wtag", "dtag"), tags) if t), *words, *attr.words(),
             "x".join(map(str, ssh)) + ":" + "x".join(map(str, wsh)))
    wide = {"s8": dict(lo=-128, hi=127), "u8": dict(lo=0, hi=255)} if full else {}
    src = c.rand(ssh, dts[0], **{**wide.get(dts[0], {}), **ranges.get("src", {})})
    wei = c.rand(wsh, dts[1], **{**wide.get(dts[1], {}), **ranges.get("wei", {})})
    if sparse:
        x = {"src": src, "wei": wei}[sparse]
        x[x == 0] = 1
        x.ravel()[c.rng.permutation(x.size)[:x.size // 2]] = 0
    c.inp("src", src, dts[0])
    c.inp("wei", wei, dts[1])
    nd = len(ssh)
    deq = lambda x, arg, shape: (x - attr.quant(c, "zps", arg, shape, per_oc=(nd - 1,))) * \
        attr.quant(c, "scales", arg, shape, per_oc=(nd - 1,))  # noqa: E731
    acc = np.asarray(jnp.matmul(jnp.asarray(deq(src, "src", ssh)), jnp.asarray(deq(wei, "wei", wsh))))
    if bia:
        bsh = [acc.shape[d] if bia[1] >> d & 1 else 1 for d in range(nd)]
        acc = acc + c.data("bia", bsh, bia[0])
    attr.finish(c, acc, dts[2])
    return c


def mm_cases():
    cs = [mm_case([3, 5], [5, 4]), mm_case([1, 17], [17, 6]), mm_case([7, 3], [3, 1]), mm_case([6, 1], [1, 9])]
    cs += [mm_case([4, 6], [6, 5], tags=t) for t in (("ab", "ba", "ab"), ("ba", "ab", "ab"), ("ba", "ba", "ba"))]
    cs += [mm_case([2, 3, 4], [2, 4, 5]), mm_case([2, 3, 4], [1, 4, 5]), mm_case([1, 3, 4], [3, 4, 2]),
           mm_case([2, 1, 3, 4], [1, 3, 4, 2]), mm_case([2, 3, 3, 4], [2, 3, 4, 2], tags=("acbd", "adbc", "acbd")),
           mm_case([2, 3, 4], [2, 4, 5], tags=("abc", "acb", "abc"), bia=("f32", 4)), mm_case([1, 2, 1, 2, 3], [2, 1, 2, 3, 2])]
    cs += [mm_case([4, 6], [6, 5], bia=("f32", m)) for m in (0, 1, 2, 3)]
    cs += [mm_case([4, 6], [6, 5], bia=("f32", 2), words=("--runtime-dims-masks=1:0",)),
           mm_case([4, 6], [6, 5], words=("--runtime-dims-masks=3:3",))]
    for dt in ("bf16", "f16", "bf16:bf16:f32", "f16:f16:f32", "f32:bf16:f32", "f8_e5m2:f8_e5m2:f32", "f8_e4m3:f8_e4m3:f32",
               "f8_e5m2:f8_e4m3:bf16", "f8_e4m3:f8_e4m3:f8_e4m3", "f4_e2m1:f4_e2m1:f32", "bf16:f4_e2m1:f32",
               "bf16:f8_e4m3:bf16"):
        cs.append(mm_case([4, 8], [8, 6], dt=dt))
    cs.append(mm_case([4, 8], [8, 6], dt="bf16", bia=("bf16", 2)))
    cs.append(mm_case([4, 8], [8, 6], dt="f16", bia=("f16", 2)))
    for po in ([("sum", 0.5)], [("elt", "relu")], [("elt", "gelu_erf"), ("bin", "mul", "f32", "per_tensor")],
               [("bin", "add", "f32", "per_oc"), ("sum", 2), ("elt", "tanh")], [("bin", "add", "f32", 1), ("prelu", "per_oc")],
               [("bin", "div", "f32", "common")], [("bin", "ge", "f32", "per_oc")], [("select", "f32", "per_oc")]):
        cs.append(mm_case([4, 6], [6, 5], attr=Attr(po=po), bia=("f32", 2)))
    cs.append(mm_case([2, 3, 4], [2, 4, 5], attr=Attr(po=[("bin", "add", "f32", 4), ("bin", "mul", "f32", 3)])))
    # int8
    S = [("src", "common", 0.5), ("wei", "per_oc"), ("dst", "common", 4)]
    for s in ("u8", "s8"):
        for w in ("s8", "u8"):
            cs.append(mm_case([4, 8], [8, 5], dt=f"{s}:{w}:s32", full=True))
    for d in ("s8", "u8", "f32", "bf16", "f16", "s32"):
        # (f16: values stay small enough)
        cs.append(mm_case([4, 8], [8, 5], dt=f"u8:s8:{d}", bia=("f32", 2), attr=Attr(scales=S)))
    for s, zs in (("u8", 6), ("s8", -5)):
        cs.append(mm_case([4, 8], [8, 5], dt=f"{s}:s8:u8", bia=("s32", 2),
                          attr=Attr(scales=S, zps=[("src", "common", zs), ("dst", "common", 9)], po=[("elt", "relu")])))
        cs.append(mm_case([4, 8], [8, 5], dt=f"{s}:s8:s32", attr=Attr(zps=[("src", "common", zs), ("wei", "common", 3)])))
    cs.append(mm_case([4, 8], [8, 5], dt="u8:s8:f32", attr=Attr(scales=[("src", "per_dim_0"), ("wei", "per_oc")])))
    cs.append(mm_case([4, 8], [8, 5], dt="s8:s8:s8", attr=Attr(scales=S[:2] + [("dst", "per_dim_1")])))
    cs.append(mm_case([4, 8], [8, 5], dt="u8:s8:u8", attr=Attr(scales=S, po=[("sum", 0.5, 3)])))
    cs.append(mm_case([4, 8], [8, 5], dt="u8:s8:s8", attr=Attr(scales=S, zps=[("src", "per_dim_1"), ("wei", "per_oc")])))
    cs.append(mm_case([2, 3, 8], [2, 8, 4], dt="s8:s8:f32", attr=Attr(scales=[("wei", "per_dim_02"), ("src", "common", 0.25)])))
    for w in ("s4", "u4"):
        cs.append(mm_case([3, 32], [32, 4], dt=f"u8:{w}:f32",
                          attr=Attr(scales=[("src", "common", 0.5), ("wei", "per_ocic", None, "f32", "16x1")],
                                    zps=[("wei", "per_ocic", None, "s8", "16x1")])))
    cs.append(mm_case([3, 32], [32, 4], dt="s8:s8:f32",
                      attr=Attr(scales=[("src", "per_tensor", None, "f32", "1x16"), ("wei", "per_ocic", None, "f32", "16x1")])))
    # weight decompression: dequantised weights stay exact in bf16 and f16
    for s in ("bf16", "f16", "f32"):
        mode = {"bf16": "bf16", "f16": "f16", "f32": "strict"}[s]
        for w in ("s8", "u8", "s4", "u4"):
            zdt = w if w in ("s4", "u4") else "s8"
            cs.append(mm_case([3, 32], [32, 4], dt=f"{s}:{w}:{'f32' if w in ('u8', 's4') else s}",
                              words=(f"--attr-fpmath={mode}:true",),
                              attr=Attr(scales=[("wei", "per_ocic", None, s if w == "s4" else "f32", "16x1")],
                                        zps=[("wei", "per_ocic", None, zdt, "16x1")])))
    F = "--attr-fpmath=bf16:true"
    cs.append(mm_case([3, 32], [32, 4], dt="bf16:s8:f32", words=(F,), attr=Attr(scales=[("wei", "common", 0.5)])))
    cs.append(mm_case([3, 32], [32, 4], dt="bf16:u4:f32", words=(F,), tags=("ab", "ba", "ab"),
                      attr=Attr(scales=[("wei", "per_oc")], zps=[("wei", "common", 7)])))
    cs.append(mm_case([3, 32], [32, 4], dt="bf16:s4:bf16", words=(F,), bia=("f32", 2),
                      attr=Attr(scales=[("wei", "per_ocic", None, "bf16", "32x1")], po=[("elt", "swish", 1)])))
    cs.append(mm_case([2, 3, 32], [2, 32, 4], dt="bf16:s8:f32", words=(F,),
                      attr=Attr(scales=[("wei", "per_tensor", None, "f32", "16x1")])))
    cs.append(mm_case([3, 32], [32, 4], dt="f32:u8:f32", words=("--attr-fpmath=bf16:true",), ranges={"src": dict(step=1 / 16)},
                      attr=Attr(scales=[("wei", "per_oc")], zps=[("wei", "common", 12)])))
    # block-scaled floats
    for a in ("f8_e4m3", "f8_e5m2", "f4_e2m1"):
        cs.append(mm_case([2, 64], [64, 3], dt=f"{a}:{a}:f32",
                          attr=Attr(scales=[("src", "per_tensor", None, "e8m0", "1x32"), ("wei", "per_tensor", None, "e8m0", "32x1")])))
    cs.append(mm_case([4, 8], [8, 5], dt="f8_e4m3:f8_e4m3:f8_e5m2",
                      attr=Attr(scales=[("src", "common", 0.5), ("wei", "common", 0.25), ("dst", "common", 2)])))
    # sparse: exactly half of the elements are non-zero; the arrays below are dense
    for enc, sp, t in (("csr+0.5::", "src", None), (":csr+0.5:", "wei", None), ("coo+0.5::", "src", None), (":coo+0.5:", "wei", None)):
        cs.append(mm_case([4, 6], [6, 5], words=(f"--encoding={enc}",), sparse=sp, tags=("ab", "ab", "ab")))
    return cs


def main():
    write("ip", ip_cases())
    write("matmul", mm_cases())


if __name__ == "__main__":
    main()
