"""Batch, layer, group and local response normalisation. Forward in plain jnp, gradients by jax.vjp through the statistics.

Conventions (oneDNN's pages of the primitives): biased variance; with global statistics (G) mean and variance are constants
of the gradient; RMS normalisation (M) has mean 0 and variance = mean of squares. lnorm's epsilon is not part of the problem
line: benchdnn fixes it to 1/16. Run-time scales of lnorm and gnorm multiply the *result*: dst = po(norm * src_scale) / dst_scale
(ref_layer_normalization.cpp and benchdnn agree), they do not dequantise the source.
LRN: dst = src * (k + alpha / n * sum src^2)^-beta over a window of 2*((ls-1)/2)+1, n = ls or ls^spatial.
"""

from common import Attr, Case, jax, jnp, np, write


def normalise(x, mean, var, scale, shift, eps):
    return (x - mean) / jnp.sqrt(var + eps) * scale + shift


def norm_case(c, x, axes, stat_shape, ch_axis, flags, dir, eps, dts, attr, ss_dt="f32"):
    """Shared by bnorm and lnorm: statistics over `axes`, scale and shift along `ch_axis`; `stat_shape` has ones for `axes`."""
    attr = attr or Attr()
    C = x.shape[ch_axis]
    bc = [C if d == ch_axis % x.ndim else 1 for d in range(x.ndim)]
    rms, glob, bwd = "M" in flags, "G" in flags, dir.startswith("BWD")
    c.inp("src", x, dts[0])
    stats = lambda s: (jnp.zeros(stat_shape) if rms else jnp.mean(s, axis=axes).reshape(stat_shape),  # noqa: E731
                       jnp.mean(s * s if rms else (s - jnp.mean(s, axis=axes, keepdims=True)) ** 2, axis=axes).reshape(stat_shape))
    if glob:
        mean = np.zeros(stat_shape) if rms else c.rand(stat_shape, "f32", lo=-1, hi=1)
        var = c.rand(stat_shape, "f32", lo=0.25, hi=3)
    else:
        mean, var = map(np.asarray, stats(jnp.asarray(x)))
    if (glob or bwd):
        if not rms:
            c.inp_rounded("mean", mean, "f32")
        c.inp_rounded("var", var, "f32")
    scale = c.data("scale", [C], ss_dt, lo=0.5, hi=2) if "C" in flags else np.ones(C)
    shift = c.data("shift", [C], ss_dt) if "H" in flags else np.zeros(C)

    def fwd(s, ga, be):
        m, v = (jnp.asarray(mean), jnp.asarray(var)) if glob else stats(s)
        d = normalise(s, m, v, ga.reshape(bc), be.reshape(bc), eps)
        return jnp.where(d > 0, d, 0.0) if "R" in flags else d

    if not bwd:
        d = np.asarray(fwd(jnp.asarray(x), jnp.asarray(scale), jnp.asarray(shift)))
        attr.finish(c, d * attr.quant(c, "scales", "src", d.shape), dts[1])
        if dir == "FWD_D" and not glob:
            if not rms:
                c.out("mean", mean)
            c.out("var", var)
        return c
    dd = c.data("diff_dst", x.shape, dts[1])
    d, vjp = jax.vjp(fwd, jnp.asarray(x), jnp.asarray(scale), jnp.asarray(shift))
    if "R" in flags:  # no value next to the kink
        z = np.abs(np.asarray(d))
        assert not ((z > 0) & (z < 1e-4)).any(), c.problem
    ds, dga, dbe = vjp(jnp.asarray(dd))
    c.out("diff_src", ds, dts[0])
    if dir == "BWD_DW":
        if "C" in flags:
            c.out("diff_scale", dga, ss_dt)
        if "H" in flags:
            c.out("diff_shift", dbe, ss_dt)
    return c


def two(dt):
    return (dt.split(":") * 2)[:2]


def sp_text(sp):
    return "".join(f"i{l}{v}" for l, v in zip("dhw"[3 - len(sp):], sp)) if sp else ""


def bnorm_case(dir, sp, mb=3, ic=3, dt="f32", flags="", eps=1e-3, attr=None, tag="abx"):
    c = Case(f"--bnorm --dir={dir} --dt={dt} --tag={tag}", f"--flags={flags}" if flags else "", *(attr or Attr()).words(),
             f"mb{mb}ic{ic}{sp_text(sp)}eps{eps:g}")
    x = c.rand([mb, ic, *sp], dt)
    axes = (0,) + tuple(range(2, 2 + len(sp)))
    return norm_case(c, x, axes, [1, ic] + [1] * len(sp), 1, flags, dir, eps, [dt, dt], attr)


def lnorm_case(dir, shape, dt="f32", flags="", attr=None, tag="abx", stat_tag=None, ss_dt="f32"):
    c = Case(f"--lnorm --dir={dir} --dt={dt} --tag={tag}", f"--stat-tag={stat_tag}" if stat_tag else "",
             f"--ss-dt={ss_dt}" if ss_dt != "f32" else "", f"--flags={flags}" if flags else "", *(attr or Attr()).words(),
             "x".join(map(str, shape)))
    return norm_case(c, c.rand(shape, two(dt)[0]), (-1,), [*shape[:-1], 1], -1, flags, dir, 1 / 16, two(dt), attr, ss_dt)


def gnorm_case(dir, sp, gr=2, mb=2, ic=4, dt="f32", flags="", eps=1e-3, attr=None, tag="abx"):
    c = Case(f"--gnorm --dir={dir} --dt={dt} --tag={tag}", f"--flags={flags}" if flags else "", *(attr or Attr()).words(),
             f"g{gr}mb{mb}ic{ic}{sp_text(sp)}eps{eps:g}")
    x = c.rand([mb, ic, *sp], two(dt)[0])
    return gnorm_body(c, x, gr, flags, dir, eps, two(dt), attr)


def gnorm_body(c, x, gr, flags, dir, eps, dts, attr):
    """Statistics per (n, group): the channel axis is split for them and joined again for scale and shift."""
    attr = attr or Attr()
    mb, C, sp = x.shape[0], x.shape[1], x.shape[2:]
    glob, bwd = "G" in flags, dir.startswith("BWD")
    bc = [1, C] + [1] * len(sp)
    up = lambda t: jnp.repeat(t, C // gr, axis=1).reshape([mb, C] + [1] * len(sp))  # noqa: E731
    c.inp("src", x, dts[0])

    def stats(s):
        v = s.reshape(mb, gr, -1)
        m = jnp.mean(v, axis=2)
        return m, jnp.mean((v - m[:, :, None]) ** 2, axis=2)

    if glob:
        mean, var = c.rand([mb, gr], "f32", lo=-1, hi=1), c.rand([mb, gr], "f32", lo=0.25, hi=3)
    else:
        mean, var = map(np.asarray, stats(jnp.asarray(x)))
    if glob or bwd:
        c.inp_rounded("mean", mean)
        c.inp_rounded("var", var)
    scale = c.data("scale", [C], lo=0.5, hi=2) if "C" in flags else np.ones(C)
    shift = c.data("shift", [C]) if "H" in flags else np.zeros(C)

    def fwd(s, ga, be):
        m, v = (jnp.asarray(mean), jnp.asarray(var)) if glob else stats(s)
        return normalise(s, up(m), up(v), ga.reshape(bc), be.reshape(bc), eps)

    args = jnp.asarray(x), jnp.asarray(scale), jnp.asarray(shift)
    if not bwd:
        d = np.asarray(fwd(*args))
        attr.finish(c, d * attr.quant(c, "scales", "src", d.shape), dts[1])
        if dir == "FWD_D" and not glob:
            c.out("mean", mean)
            c.out("var", var)
        return c
    dd = c.data("diff_dst", x.shape, dts[1])
    ds, dga, dbe = jax.vjp(fwd, *args)[1](jnp.asarray(dd))
    c.out("diff_src", ds, dts[0])
    if dir == "BWD_DW":
        if "C" in flags:
            c.out("diff_scale", dga)
        if "H" in flags:
            c.out("diff_shift", dbe)
    return c


def lrn_case(dir, alg, sp, mb=2, ic=5, ls=5, alpha=1.0, beta=0.75, k=1.0, dt="f32", tag="abx"):
    c = Case(f"--lrn --dir={dir} --dt={dt} --tag={tag} --alg={alg} mb{mb}ic{ic}{sp_text(sp)}ls{ls}alpha{alpha:g}beta{beta:g}k{k:g}")
    x = c.data("src", [mb, ic, *sp], dt)
    half, nsp = (ls - 1) // 2, len(sp)
    win = (1, 2 * half + 1) + (1,) * nsp if alg == "ACROSS" else (1, 1) + (2 * half + 1,) * nsp
    n = ls if alg == "ACROSS" else ls**nsp

    def fwd(s):
        acc = jax.lax.reduce_window(s * s, 0.0, jax.lax.add, win, (1,) * s.ndim, [((w - 1) // 2,) * 2 for w in win])
        return s * (k + alpha / n * acc) ** -beta

    if dir.startswith("FWD"):
        c.out("dst", fwd(jnp.asarray(x)), dt)
    else:
        dd = c.data("diff_dst", x.shape, dt)
        c.out("diff_src", jax.vjp(fwd, jnp.asarray(x))[1](jnp.asarray(dd))[0], dt)
    return c


def main():
    cs = []
    for sp in ((), (4,), (4, 3), (2, 3, 2)):
        for fl in ("", "CH"):
            cs.append(bnorm_case("FWD_D", sp, flags=fl))
            cs.append(bnorm_case("BWD_DW" if fl else "BWD_D", sp, flags=fl))
    for fl in ("G", "GC", "GH", "GCH", "C", "H", "CHR", "R", "GCHR"):
        for dir in ("FWD_D", "FWD_I", "BWD_DW" if set(fl) & set("CH") else "BWD_D"):
            cs.append(bnorm_case(dir, (3, 4), mb=2, flags=fl, eps=0.01))
    cs.append(bnorm_case("FWD_I", (3, 4), flags="GCH", attr=Attr(po=[("elt", "relu")])))
    cs.append(bnorm_case("FWD_I", (3, 4), flags="CH", attr=Attr(po=[("elt", "relu")])))
    cs.append(bnorm_case("FWD_D", (3, 4), flags="CH", tag="axb", mb=2, ic=9))
    cs.append(bnorm_case("BWD_DW", (3, 4), flags="CH", tag="axb", mb=2, ic=9))
    cs.append(bnorm_case("FWD_D", (3, 4), flags="CH", tag="aBx8b", mb=2, ic=9))
    cs.append(bnorm_case("FWD_D", (5, 5), mb=1, ic=2, flags="CH", eps=1e-5))
    for dt in ("bf16", "f16"):
        for dir in ("FWD_D", "FWD_I", "BWD_DW"):
            cs.append(bnorm_case(dir, (3, 4), dt=dt, flags="CH"))
            cs.append(bnorm_case(dir, (3, 4), dt=dt, flags="GCHR"))
    cs.append(bnorm_case("FWD_I", (3, 4), dt="s8", flags="GCH"))
    cs.append(bnorm_case("FWD_I", (3, 4), dt="s8", flags="GR"))
    write("bnorm", cs)

    cs = []
    for shape in ((4, 6), (3, 2, 7), (2, 3, 2, 5), (2, 2, 2, 2, 4)):
        for fl in ("", "CH", "M"):
            cs.append(lnorm_case("FWD_D", shape, flags=fl))
            cs.append(lnorm_case("BWD_DW" if fl == "CH" else "BWD_D", shape, flags=fl))
    for fl in ("G", "GC", "GH", "GCH", "C", "H", "CM", "CHM", "GCM"):
        for dir in ("FWD_D", "FWD_I", "BWD_DW" if set(fl) & set("CH") else "BWD_D"):
            cs.append(lnorm_case(dir, (3, 4, 6), flags=fl))
    cs.append(lnorm_case("FWD_D", (3, 4, 6), flags="CH", stat_tag="ba"))
    cs.append(lnorm_case("FWD_D", (4, 33), flags="CH"))
    cs.append(lnorm_case("BWD_DW", (4, 33), flags="CH"))
    cs.append(lnorm_case("FWD_D", (4, 6), flags="CH", ss_dt="bf16"))
    cs.append(lnorm_case("BWD_DW", (4, 6), flags="CH", ss_dt="bf16"))
    for dt in ("bf16", "f16"):
        cs += [lnorm_case("FWD_D", (4, 6), dt=dt, flags="CH"), lnorm_case("BWD_DW", (4, 6), dt=dt, flags="CH")]
    for dt in ("f32:bf16", "bf16:f32", "f32:s8", "f32:u8", "s8:s8", "u8:f32", "bf16:s8"):
        a = Attr(scales=[("src", "common", 0.5), ("dst", "common", 0.125)]) if ("s8" in dt or "u8" in dt) else None
        cs.append(lnorm_case("FWD_I", (4, 6), dt=dt, flags="CH", attr=a))
    cs.append(lnorm_case("FWD_I", (4, 6), flags="CH", attr=Attr(po=[("elt", "swish", 1), ("bin", "add", "f32", 2)])))
    cs.append(lnorm_case("FWD_I", (4, 6), dt="s8:s8", flags="CH",
                         attr=Attr(scales=[("src", "common", 0.5), ("dst", "common", 0.125)], po=[("bin", "mul", "f32", "common")])))
    write("lnorm", cs)

    cs = []
    for sp, ch in (((5,), dict(gr=2, ic=4)), ((3, 4), dict(gr=3, ic=6)), ((2, 2, 3), dict(gr=1, ic=4)), ((3, 3), dict(gr=4, ic=4)), ((), dict(gr=2, ic=8))):
        for fl in ("", "CH"):
            cs.append(gnorm_case("FWD_D", sp, flags=fl, **ch))
            cs.append(gnorm_case("BWD_DW" if fl else "BWD_D", sp, flags=fl, **ch))
    for fl in ("G", "GC", "GH", "GCH", "C", "H"):
        for dir in ("FWD_D", "FWD_I", "BWD_DW" if set(fl) & set("CH") else "BWD_D"):
            cs.append(gnorm_case(dir, (3, 3), flags=fl))
    cs.append(gnorm_case("FWD_D", (3, 3), flags="CH", tag="axb", ic=6))
    cs.append(gnorm_case("BWD_DW", (3, 3), flags="CH", tag="axb", ic=6))
    for dt in ("bf16", "f16"):
        cs += [gnorm_case("FWD_D", (3, 3), dt=dt, flags="CH"), gnorm_case("BWD_DW", (3, 3), dt=dt, flags="CH")]
    for dt in ("s8:s8", "u8:f32", "f32:s8", "f32:bf16"):
        a = Attr(scales=[("src", "common", 0.5), ("dst", "common", 0.125)]) if "8" in dt else None
        cs.append(gnorm_case("FWD_I", (3, 3), dt=dt, flags="CH", attr=a))
    cs.append(gnorm_case("FWD_I", (3, 3), flags="CH", attr=Attr(po=[("elt", "tanh"), ("bin", "add", "f32", "per_oc")])))
    write("gnorm", cs)

    cs = []
    for alg in ("ACROSS", "WITHIN"):
        for dir in ("FWD_D", "FWD_I", "BWD_D"):
            cs.append(lrn_case(dir, alg, (4, 4)))
            cs.append(lrn_case(dir, alg, (4, 3), ls=3, alpha=0.5, beta=0.5, k=2))
            cs.append(lrn_case(dir, alg, (6,), ls=3))
            cs.append(lrn_case(dir, alg, (2, 3, 3), ic=3, ls=3, alpha=2, beta=1))
            cs.append(lrn_case(dir, alg, (4, 4), tag="axb", ic=8, mb=1))
            cs.append(lrn_case(dir, alg, (4, 4), ls=4))  # even: window of 3, divided by 4 (benchdnn's ref_lrn.cpp)
            for dt in ("bf16", "f16") if dir != "FWD_I" else ():
                cs.append(lrn_case(dir, alg, (4, 4), dt=dt))
        cs.append(lrn_case("FWD_D", alg, (4, 4), ls=9, ic=3, beta=0.75, alpha=1e-4))
    cs += [lrn_case("FWD_D", "ACROSS", ()), lrn_case("BWD_D", "ACROSS", ())]
    write("lrn", cs)


if __name__ == "__main__":
    main()
