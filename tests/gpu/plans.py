"""Which tile shapes a problem is tried with, and a model of their times."""

SHARED = 232448     # bytes that a block may have
SMS, CLOCK = 132, 1.70e9
SIZE = {"T_U8": 1, "T_S8": 1, "T_E4M3": 1, "T_E5M2": 1, "T_S32": 4, "T_F16": 2, "T_F32": 4, "T_TF32": 4, "T_BF16": 2}
L2_BYTES = 64       # a clock and multiprocessor
DRAM = 4.0e12

# tile m, tile n, consumers, cluster m, cluster n, split
SHAPES = [
    (128, 256, 2, 2, 1, 1), (128, 256, 2, 1, 2, 1), (128, 256, 2, 1, 1, 1), (256, 128, 2, 2, 1, 1), (256, 128, 2, 1, 2, 1), (256, 128, 2, 1, 1, 1),
    (128, 192, 2, 2, 1, 1), (128, 128, 2, 2, 1, 1), (128, 128, 2, 1, 2, 1), (128, 128, 2, 1, 1, 1), (128, 64, 2, 2, 1, 1), (128, 64, 2, 1, 1, 1), (256, 64, 2, 1, 1, 1), (256, 64, 2, 2, 1, 1),
    (64, 128, 1, 1, 1, 1), (64, 64, 1, 1, 1, 1), (64, 256, 1, 1, 1, 1), (64, 128, 1, 2, 1, 1), (64, 64, 1, 2, 1, 1),
    (128, 256, 2, 1, 1, 2), (128, 256, 2, 1, 1, 4), (128, 128, 2, 1, 1, 2), (128, 128, 2, 1, 1, 4), (128, 64, 2, 1, 1, 2), (128, 64, 2, 1, 1, 4), (256, 128, 2, 1, 1, 2), (256, 128, 2, 1, 1, 4),
    (64, 64, 1, 1, 1, 2), (64, 64, 1, 1, 1, 4), (64, 128, 1, 1, 1, 2), (64, 128, 1, 1, 1, 4), (128, 256, 2, 1, 1, 8), (128, 64, 2, 1, 1, 8),
    (128, 8, 2, 1, 1, 1), (128, 16, 2, 1, 1, 1), (128, 32, 2, 1, 1, 1), (128, 16, 2, 1, 1, 2), (128, 16, 2, 1, 1, 4), (128, 32, 2, 1, 1, 2), (128, 32, 2, 1, 1, 4),
    (192, 128, 3, 1, 1, 1), (192, 192, 3, 1, 1, 1), (192, 128, 3, 2, 1, 1), (192, 64, 3, 1, 1, 1),
    (64, 8, 1, 1, 1, 1), (64, 8, 1, 1, 1, 2), (64, 16, 1, 1, 1, 1), (64, 16, 1, 1, 1, 2), (64, 16, 1, 1, 1, 4), (128, 8, 2, 1, 1, 2),
]


def name(v):
    if "HEAD" in v:
        return f"{v['CONSUMERS']}x64 by {v['TILE_N']} s{v['STAGES']}" + (" K mn" if v["K_MN"] else "") + (f" chunk {v['CHUNK']}" if "CHUNK" in v else "")
    s = f"{v['TILE_M']}x{v['TILE_N']}"
    if v["CLUSTER_M"] * v["CLUSTER_N"] > 1:
        s += f" c{v['CLUSTER_M']}{v['CLUSTER_N']}"
    if v["SPLIT"] > 1:
        s += f" /{v['SPLIT']}"
    return s + f" s{v['STAGES']}" + (" swap" if v.get("SWAP") else "") + (f" g{v['GROUP']}" if "GROUP" in v else "") + (f" promote{v['PROMOTE']}" if v.get("PROMOTE") else "") + (" alone" if not v.get("OVERLAP", True) else "")


def ceil(a, b):
    return -(-a // b)


def attention_plans(q):
    head = ceil(q["k"], 64) * 64
    base = dict(A_TYPE=q["types"][0], B_TYPE=q["types"][0], C_TYPE=q["types"][0], HEAD=head, CAUSAL=q["causal"], K_MN=0)
    if q["m"] == 1:
        shapes = [(1, 128, 2), (1, 64, 4), (1, 64, 6), (1, 128, 3)]
    elif head == 128:
        shapes = [(2, 128, 2), (2, 176, 2), (2, 160, 2), (2, 80, 3), (1, 128, 2)]
    else:
        shapes = [(3, 128, 2), (2, 128, 2), (3, 128, 3), (2, 128, 4), (2, 192, 2), (3, 80, 4)]
    out = [dict(base, CONSUMERS=c, TILE_N=n, STAGES=s) for c, n, s in shapes]
    if q["m"] > 1:
        out += [dict(out[0], K_MN=1)]
    return out


def predict(q, v):
    """Microseconds, by the device's facts."""
    if q["op"] == "sdpa":
        return 0.0
    m, n = (q["n"], q["m"]) if v.get("SWAP") else (q["m"], q["n"])
    tm, tn, split = v["TILE_M"], v["TILE_N"], v["SPLIT"]
    tk = 128 // SIZE[q["types"][0]]
    if q["op"] == "conv":
        z = q["z"]
        taps = q["k"] // z["ic"]
        stages = taps * ceil(z["ic"], tk)
    else:
        stages = ceil(q["k"], tk)
    size = v["CLUSTER_M"] * v["CLUSTER_N"]
    clusters = ceil(ceil(m, tm), v["CLUSTER_M"]) * ceil(ceil(n, tn), v["CLUSTER_N"]) * q["batch"]
    waves = ceil(clusters * size * split, SMS // size * size)
    load = (tm / v["CLUSTER_N"] + tn / v["CLUSTER_M"]) * 128 / L2_BYTES
    mma = tm * max(tn, 32) / 32 * 1.05
    stage = max(load, mma)
    tail = 600 + tm * tn * SIZE[q["types"][2]] / 64 + (1500 + tm * tn * 4 / 40 if split > 1 else 0)
    cycles = waves * ceil(stages, split) * stage + tail * (1 if waves == 1 else 1 + 0.4 * (waves - 1)) + 2200
    dram = (q["batch"] * (m + n) * q["k"] * SIZE[q["types"][0]] + q["batch"] * m * n * SIZE[q["types"][2]]) / DRAM
    if q["op"] == "conv":
        z = q["z"]
        dram = (z["mb"] * z["ic"] * z["i"][0] * z["i"][-1] + m * n) * SIZE[q["types"][0]] / DRAM
    return max(cycles / CLOCK, dram + 1.5e-6) * 1e6 + cycles * 1e-9   # of equals bound by memory, the one with less work


def plan(q, shape, **more):
    tm, tn, consumers, cm, cn, split = shape
    a, b, c = q["types"]
    columns = tn if split == 1 else max(8, tn // split)
    m, n, a_mn, b_mn, swap = q["m"], q["n"], q["a_mn"], q["b_mn"], 0
    if q["op"] == "matmul" and m <= 32:
        m, n, a_mn, b_mn, a, b, swap = n, m, b_mn, a_mn, b, a, 1
    if swap:
        if tn > 32 or (tn > 8 and tn >= 2 * n):
            return None
        aligned = SIZE[c] == 2 and m % 8 == 0
        store = "STORE_TMA_TRANSPOSED" if aligned else "STORE_DIRECT"
    else:
        if tn < 64:
            return None
        if columns * SIZE[c] % 128 and n * SIZE[c] % 16 == 0 and tn > 64:
            return None   # a tile that TMA can store is as good
        store = "STORE_TMA" if columns * SIZE[c] % 128 == 0 and n * SIZE[c] % 16 == 0 else "STORE_DIRECT"
    if b_mn and tn % (64 * cm):
        return None
    if a_mn and tm % (64 * cn):
        return None
    k_stages = ceil(q["k"], 128 // SIZE[a])
    if k_stages < split:
        return None
    if q["op"] == "conv" and not q["pointwise"] and (cn > 1 or split > 1):
        return None
    room = SHARED - 1024 - (0 if store == "STORE_DIRECT" else consumers * 16384) - 256
    d = dict(A_TYPE=a, B_TYPE=b, C_TYPE=c, A_MN=a_mn, B_MN=b_mn, TILE_M=tm, TILE_N=tn, CONSUMERS=consumers, STAGES=min(16 if swap else 8, room // ((tm + tn) * 128)),
             CLUSTER_M=cm, CLUSTER_N=cn, SPLIT=split, STORE=store)
    if swap:
        d["SWAP"] = 1
        d["STAGES"] = min(d["STAGES"], (100 << 10) // ((tm + tn) * 128))   # two blocks of a multiprocessor
        if store == "STORE_DIRECT":
            d["C_SWAPPED"] = 1
    if a in ("T_E4M3", "T_E5M2"):
        if tm * tn // (128 * consumers) > 96:
            return None   # the second set of sums would not fit in registers
        d["PROMOTE"] = 4
    if split > 1 and tm * tn * 4 > d["STAGES"] * (tm + tn) * 128:
        return None
    d.update(more)
    return d


def candidates(q, count=8):
    if q["op"] == "sdpa":
        return attention_plans(q)
    all_ = [p for p in (plan(q, s) for s in SHAPES) if p]
    all_.sort(key=lambda v: predict(q, v))
    more = []
    if all_ and q["op"] == "matmul":
        more.append(dict(all_[0], OVERLAP=False))
        if q["m"] * q["n"] >= 1 << 24:
            more += [dict(all_[0], GROUP=4), dict(all_[0], GROUP=16)]
    return all_[:count] + more
