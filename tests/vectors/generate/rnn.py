"""Recurrent networks: the cells of dev_guide_rnn written one time step at a time in jnp, gradients of everything by jax.vjp.

Shapes: src (T,N,SLC), src_iter (L,D,N,SIC), src_iter_c (L,D,N,DHC), wei (L,D,SLC,G,DHC), wei_iter (L,D,SIC,G,DHC), wei_peephole
(L,D,3,DHC), wei_projection (L,D,DHC,DIC), bia (L,D,G or G+1,DHC), attention (T,N,1), dst (T,N,DIC or 2*DIC), dst_iter (L,D,N,DIC),
dst_iter_c (L,D,N,DHC).
Gates: LSTM i f c~ o, peephole i f o (o sees the new cell state); GRU u r o; the linear-before-reset bias u r o u'; AUGRU multiplies
u by 1 - attention. The two directions are independent stacks; the right-to-left one writes its result at the time it read from, and
its dst_iter is the state after time 0. Concat joins the channels of the last layers, sum adds them.
Backward cases list the forward inputs and diff_dst, diff_dst_iter, diff_dst_iter_c; the workspace comes from a forward run. Weight
gradients accumulate unless --flags=O: a case without the flag starts from the values under "in", else from zero.
"""

from common import Case, jax, jnp, np, round_to, sigmoid, write

GATES = {"VANILLA_RNN": 1, "VANILLA_LSTM": 4, "VANILLA_GRU": 3, "LBR_GRU": 3, "VANILLA_AUGRU": 3, "LBR_AUGRU": 3}
ACT = {"RELU": lambda x: jnp.maximum(x, 0), "TANH": jnp.tanh, "LOGISTIC": sigmoid}


def cell(alg, act, x, h, c, w, u, peep, proj, b, att):
    """One step. x (N,SLC), h (N,SIC), c (N,DHC), w (SLC,G,DHC), u (SIC,G,DHC), b (G,DHC) -> h', c'."""
    mm = lambda a, m: jnp.einsum("nk,kgd->gnd", a, m)  # noqa: E731
    if alg == "VANILLA_RNN":
        return ACT[act]((mm(x, w) + mm(h, u))[0] + b[0]), c
    if alg == "VANILLA_LSTM":
        z = mm(x, w) + mm(h, u) + b[:, None, :]
        i = sigmoid(z[0] + (peep[0] * c if peep is not None else 0))
        f = sigmoid(z[1] + (peep[1] * c if peep is not None else 0))
        new_c = f * c + i * jnp.tanh(z[2])
        o = sigmoid(z[3] + (peep[2] * new_c if peep is not None else 0))
        out = o * jnp.tanh(new_c)
        return (out @ proj if proj is not None else out), new_c
    zx = mm(x, w)
    if alg.startswith("LBR"):
        zh = mm(h, u)
        up, r = sigmoid(zx[0] + zh[0] + b[0]), sigmoid(zx[1] + zh[1] + b[1])
        o = jnp.tanh(zx[2] + r * (zh[2] + b[3]) + b[2])
    else:
        up = sigmoid(zx[0] + h @ u[:, 0] + b[0])
        r = sigmoid(zx[1] + h @ u[:, 1] + b[1])
        o = jnp.tanh(zx[2] + (r * h) @ u[:, 2] + b[2])
    if att is not None:
        up = (1 - att) * up
    return up * h + (1 - up) * o, c


def network(alg, act, direction, T, L):
    dirs = {"left2right": [0], "right2left": [1], "concat": [0, 1], "sum": [0, 1]}[direction]

    def run(p):
        opt = lambda k, l, d: p[k][l, d] if k in p else None  # noqa: E731
        tops, hs, cs = [], [], []
        for d, rev in enumerate(dirs):
            seq = [p["src"][t] for t in range(T)]
            order = range(T - 1, -1, -1) if rev else range(T)
            hd, cd = [], []
            for l in range(L):
                h = p["src_iter"][l, d]
                c = p["src_iter_c"][l, d] if "src_iter_c" in p else jnp.zeros((h.shape[0], 1))
                out = [None] * T
                for t in order:
                    att = p["attention"][t] if "attention" in p else None
                    h, c = cell(alg, act, seq[t], h, c, p["wei"][l, d], p["wei_iter"][l, d], opt("wei_peephole", l, d),
                                opt("wei_projection", l, d), p["bia"][l, d], att)
                    out[t] = h
                seq = out
                hd.append(h)
                cd.append(c)
            tops.append(jnp.stack(seq))
            hs.append(jnp.stack(hd))
            cs.append(jnp.stack(cd))
        dst = tops[0] if len(tops) == 1 else (jnp.concatenate(tops, axis=2) if direction == "concat" else tops[0] + tops[1])
        res = {"dst": dst, "dst_iter": jnp.stack(hs, axis=1)}
        if "src_iter_c" in p:
            res["dst_iter_c"] = jnp.stack(cs, axis=1)
        return res
    return run


def rnn_case(prop, alg, direction="left2right", act=None, l=1, t=3, mb=2, slc=4, sic=None, dhc=None, dic=None, cfg="f32", peephole=False,
             projection=False, flags="O", accumulate=False, tag=None):
    lstm, bwd = alg == "VANILLA_LSTM", prop == "BWD_DW"
    dhc = dhc or slc
    dic = dic or dhc
    sic = sic or dic
    D = 2 if direction in ("concat", "sum") else 1
    G = GATES[alg]
    c = Case(f"--rnn --prop={prop} --alg={alg}", f"--activation={act}" if act else "", f"--direction={direction} --cfg={cfg}",
             "--with-peephole=true" if peephole else "", "--with-projection=true" if projection else "",
             f"--flags={flags}" if bwd and flags else "", f"--tag={tag}" if tag else "",
             f"l{l}t{t}mb{mb}slc{slc}sic{sic}dhc{dhc}dic{dic}")
    xt, ct, bt = {"f32": ("f32",) * 3, "bf16": ("bf16", "f32", "bf16"), "bf16f32": ("bf16", "f32", "f32"), "f16": ("f16",) * 3}[cfg]
    p = {}
    put = lambda name, shape, dt, **kw: p.__setitem__(name, jnp.asarray(c.data(name, shape, dt, **kw)))  # noqa: E731
    w = dict(lo=-0.75, hi=0.75, step=1 / 32)
    put("src", [t, mb, slc], xt, lo=-1, hi=1, step=1 / 16)
    put("src_iter", [l, D, mb, sic], xt, lo=-1, hi=1, step=1 / 16)
    if lstm:
        put("src_iter_c", [l, D, mb, dhc], ct, lo=-1, hi=1, step=1 / 16)
    if "AUGRU" in alg:
        put("attention", [t, mb, 1], xt, lo=0, hi=1, step=1 / 16)
    put("wei", [l, D, slc, G, dhc], xt, **w)
    put("wei_iter", [l, D, sic, G, dhc], xt, **w)
    if peephole:
        put("wei_peephole", [l, D, 3, dhc], "f32", **w)
    if projection:
        put("wei_projection", [l, D, dhc, dic], xt, **w)
    put("bia", [l, D, G + (1 if alg.startswith("LBR") else 0), dhc], bt, lo=-0.5, hi=0.5, step=1 / 16)
    net = network(alg, act, direction, t, l)
    odt = {"dst": xt, "dst_iter": xt, "dst_iter_c": ct}
    if cfg != "f32":  # the states are rounded at every step
        c.tol = {"f16": 0.005, "bf16": 0.03, "bf16f32": 0.03}[cfg] * (2 if bwd else 1)
    if not bwd:
        for k, v in net(p).items():
            c.out(k, v, odt[k])
        return c
    res, vjp = jax.vjp(net, p)
    cot = {k: jnp.asarray(c.data("diff_" + k, v.shape, "f32", lo=-1, hi=1)) for k, v in res.items()}
    if act == "RELU":  # keep off the kink in every cell: no state may be tiny but not zero
        assert not any(((np.abs(v) > 0) & (np.abs(v) < 1e-4)).any() for v in res.values()), c.problem
    grads = vjp(cot)[0]
    for k, v in grads.items():
        v = np.asarray(v)
        if accumulate and k.startswith("wei") or accumulate and k == "bia":
            v = v + c.data("diff_" + k, v.shape, "f32")
        c.out("diff_" + k, v, "f32")
    return c


def check_lstm_by_loops():
    """One LSTM step with numpy only."""
    r = np.random.default_rng(1)
    x, h, c0 = r.normal(size=(2, 3)), r.normal(size=(2, 4)), r.normal(size=(2, 4))
    w, u, b, pp = r.normal(size=(3, 4, 4)), r.normal(size=(4, 4, 4)), r.normal(size=(4, 4)), r.normal(size=(3, 4))
    s = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    z = [x @ w[:, k] + h @ u[:, k] + b[k] for k in range(4)]
    c1 = s(z[1] + pp[1] * c0) * c0 + s(z[0] + pp[0] * c0) * np.tanh(z[2])
    h1 = s(z[3] + pp[2] * c1) * np.tanh(c1)
    got = cell("VANILLA_LSTM", None, *map(jnp.asarray, (x, h, c0, w, u, pp)), None, jnp.asarray(b), None)
    np.testing.assert_allclose(got[0], h1, rtol=1e-12)
    np.testing.assert_allclose(got[1], c1, rtol=1e-12)


def int8_case(alg, cfg, scaling, direction="left2right", l=1, t=3, mb=2, slc=4, dhc=4, salt=0):
    """int8 inference of one layer stack (rnn_data_qparams, rnn_weights_qparams): q = round(x * scale + shift) for u8 data, s8 weights
    w_q = round(w * w_scale) per tensor or per (gate, channel). The gates are the exact integer product
    (h_q @ w_q - shift * sum(w_q)) / (scale * w_scale) + bias; states are quantised at every step.
    The run-time data parameters are in "in": scales:src = [scale], zp:src = [shift], scales:wei = weight scales."""
    lstm, G = alg == "VANILLA_LSTM", GATES[alg]
    D = 2 if direction in ("concat", "sum") else 1
    c = Case(f"--rnn --prop=FWD_I --alg={alg} --direction={direction} --cfg={cfg} --scaling={scaling} "
             f"l{l}t{t}mb{mb}slc{slc}sic{dhc}dhc{dhc}dic{dhc}", salt=salt)
    signed = cfg.startswith("s8") or "s8f32" in cfg
    dt = "s8" if signed else "u8"
    scale, shift = (64.0, 0.0) if signed else (64.0, 128.0)
    f32_iter = cfg.startswith("f32")
    f32_dst = cfg.endswith("f32")
    quant = lambda v: round_to(np.asarray(v) * scale + shift, dt)  # noqa: E731
    deq = lambda q: (q - shift) / scale  # noqa: E731
    c.inp("scales:src", [scale])
    c.inp("zp:src", [shift])
    ws = c.inp("scales:wei", np.full(1, 64.0) if scaling == "common" else c.rng.choice([32.0, 64.0, 128.0], size=(G, dhc)))
    ws = np.broadcast_to(ws, (G, dhc)) if scaling == "common" else ws
    src = c.data("src", [t, mb, slc], dt, lo=64 if not signed else -64, hi=192 if not signed else 64)
    h0 = c.data("src_iter", [l, D, mb, dhc], "f32" if f32_iter else dt,
                **({"lo": -1, "hi": 1, "step": 1 / 64} if f32_iter else {"lo": 64 if not signed else -64, "hi": 192 if not signed else 64}))
    c0 = c.data("src_iter_c", [l, D, mb, dhc], "f32", lo=-1, hi=1, step=1 / 16) if lstm else None
    w = c.data("wei", [l, D, slc, G, dhc], "s8", lo=-60, hi=60)
    u = c.data("wei_iter", [l, D, dhc, G, dhc], "s8", lo=-60, hi=60)
    b = c.data("bia", [l, D, G, dhc], "f32", lo=-0.5, hi=0.5, step=1 / 16)
    s = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731

    def gates(x, wt, g):
        return (x - shift) @ wt[:, g] / (scale * ws[g])

    near = []

    def q(v):
        z = v * scale + shift
        near.append(np.abs(z - np.floor(z) - 0.5).min())
        return quant(v)

    hs, cs, tops = [], [], []
    for d in range(D):
        seq, hd, cd = list(src), [], []
        rev = direction == "right2left" or d == 1
        for ll in range(l):
            h = q(h0[ll, d]) if f32_iter else h0[ll, d]
            cc = c0[ll, d] if lstm else None
            out = [None] * t
            for tt in (range(t - 1, -1, -1) if rev else range(t)):
                W, U, B = w[ll, d], u[ll, d], b[ll, d]
                z = [gates(seq[tt], W, g) + B[g] for g in range(G)]
                if lstm:
                    z = [z[g] + gates(h, U, g) for g in range(G)]
                    cc = s(z[1]) * cc + s(z[0]) * np.tanh(z[2])
                    hf = s(z[3]) * np.tanh(cc)
                else:
                    up, r = s(z[0] + gates(h, U, 0)), s(z[1] + gates(h, U, 1))
                    rh = q(r * deq(h))
                    o = np.tanh(z[2] + gates(rh, U, 2))
                    hf = up * deq(h) + (1 - up) * o
                h = q(hf)
                out[tt] = h
            seq = out
            hd.append(h)
            cd.append(cc)
        tops.append(np.stack(seq))
        hs.append(np.stack(hd))
        if lstm:
            cs.append(np.stack(cd))
    if min(near) < 2e-4:  # a float32 run could round a state the other way: draw again
        return int8_case(alg, cfg, scaling, direction, l, t, mb, slc, dhc, salt + 1)
    top = tops[0] if D == 1 else np.concatenate(tops, axis=2)
    c.out("dst", deq(top) if f32_dst else top, "f32" if f32_dst else dt)
    hi = np.stack(hs, axis=1)
    c.out("dst_iter", deq(hi) if f32_iter else hi, "f32" if f32_iter else dt)
    if lstm:
        c.out("dst_iter_c", np.stack(cs, axis=1), "f32")
    return c


def main():
    check_lstm_by_loops()
    cs = []
    algs = [("VANILLA_RNN", a) for a in ("RELU", "TANH", "LOGISTIC")] + [(a, None) for a in GATES if a != "VANILLA_RNN"]
    for alg, act in algs:
        dirs = ("left2right",) if "AUGRU" in alg else ("left2right", "right2left", "concat", "sum")
        for direction in dirs:
            cs.append(rnn_case("FWD_D", alg, direction, act))
            cs.append(rnn_case("BWD_DW", alg, direction, act))
            if "AUGRU" not in alg and act in (None, "TANH"):
                cs.append(rnn_case("FWD_I", alg, direction, act, l=2, t=2))
                cs.append(rnn_case("BWD_DW", alg, direction, act, l=2, t=2, slc=3))
        cs.append(rnn_case("FWD_I", alg, "left2right", act, t=1, mb=1, slc=5, dhc=3))
        cs.append(rnn_case("BWD_DW", alg, "left2right", act, t=2, slc=5, dhc=3))
        cs.append(rnn_case("BWD_DW", alg, "left2right", act, t=2, slc=2, dhc=3, mb=1, flags="", accumulate=True))
    cs.append(rnn_case("FWD_I", "VANILLA_LSTM", "left2right", l=3, t=4, slc=3))
    for direction in ("left2right", "concat", "sum", "right2left"):
        for kw in (dict(peephole=True), dict(projection=True, dic=3), dict(peephole=True, projection=True, dic=2)):
            cs.append(rnn_case("FWD_D", "VANILLA_LSTM", direction, **kw))
            cs.append(rnn_case("BWD_DW", "VANILLA_LSTM", direction, **kw))
    cs.append(rnn_case("FWD_D", "VANILLA_LSTM", "left2right", l=2, peephole=True, projection=True, slc=3, dhc=4, dic=3))
    cs.append(rnn_case("BWD_DW", "VANILLA_LSTM", "left2right", l=2, peephole=True, projection=True, slc=3, dhc=4, dic=3))
    cs.append(rnn_case("FWD_D", "VANILLA_LSTM", "concat", tag="ntc:any:ntc"))
    cs.append(rnn_case("BWD_DW", "VANILLA_LSTM", "sum", tag="ntc:any:ntc"))
    for alg, act in algs:
        if act in (None, "TANH"):
            for cfg in ("bf16", "bf16f32", "f16"):
                cs.append(rnn_case("FWD_I", alg, "left2right", act, cfg=cfg))
            cs.append(rnn_case("BWD_DW", alg, "left2right", act, cfg="bf16f32"))
    for alg in ("VANILLA_LSTM", "VANILLA_GRU"):
        for cfg in ("u8u8u8u8", "u8u8u8f32", "f32u8f32u8", "f32u8f32f32"):
            for scaling in ("common", "per_oc"):
                cs.append(int8_case(alg, cfg, scaling))
    for cfg in ("s8s8s8s8", "s8s8s8f32", "f32s8f32s8", "f32s8f32f32"):
        cs.append(int8_case("VANILLA_LSTM", cfg, "per_oc"))
    cs.append(int8_case("VANILLA_LSTM", "u8u8u8u8", "per_oc", l=2, t=2))
    cs.append(int8_case("VANILLA_LSTM", "u8u8u8u8", "per_oc", direction="concat"))
    cs.append(int8_case("VANILLA_LSTM", "u8u8u8f32", "common", direction="right2left"))
    write("rnn", cs)


if __name__ == "__main__":
    main()
