"""The candidate tile shapes of a problem, and the time model that orders them (as in crates/cuda/src/ops/gemm/shape.rs)."""

import math

SHARED = 232448     # maximum shared memory of a CTA in bytes
SMS, CLOCK, DRAM = 132, 1.70e9, 4.0e12
SIZE = {"T_U8": 1, "T_S8": 1, "T_E4M3": 1, "T_E5M2": 1, "T_S32": 4, "T_F16": 2, "T_F32": 4, "T_TF32": 4, "T_BF16": 2}
GATHERED = 1.2                     # cost factor of rows gathered in im2col mode
INGRESS, L2_BYTES = 64, 64          # load bandwidth of an SM, and of L2 per SM, in bytes per cycle
MMA = {1: 1.6, 2: 1.1, 3: 1.05}     # time relative to the peak of the tensor cores, by number of consumers
IN_TURNS = 1.2                      # the same for the ping-pong schedule

# tile m, tile n, consumers, cluster m, cluster n, split, and 1 for the ping-pong schedule
SHAPES = [
    (128, 128, 2, 1, 1, 1, 1),
    (128, 256, 2, 2, 1, 1), (128, 256, 2, 1, 2, 1), (128, 256, 2, 1, 1, 1), (256, 128, 2, 2, 1, 1), (256, 128, 2, 1, 2, 1), (256, 128, 2, 1, 1, 1),
    (128, 192, 2, 2, 1, 1), (128, 128, 2, 2, 1, 1), (128, 128, 2, 1, 2, 1), (128, 128, 2, 1, 1, 1), (128, 64, 2, 2, 1, 1), (128, 64, 2, 1, 1, 1), (256, 64, 2, 1, 1, 1), (256, 64, 2, 2, 1, 1),
    (64, 128, 1, 1, 1, 1), (64, 64, 1, 1, 1, 1), (64, 256, 1, 1, 1, 1), (64, 128, 1, 2, 1, 1), (64, 64, 1, 2, 1, 1),
    (128, 256, 2, 1, 1, 2), (128, 256, 2, 1, 1, 4), (128, 128, 2, 1, 1, 2), (128, 128, 2, 1, 1, 4), (128, 64, 2, 1, 1, 2), (128, 64, 2, 1, 1, 4), (256, 128, 2, 1, 1, 2), (256, 128, 2, 1, 1, 4),
    (64, 64, 1, 1, 1, 2), (64, 64, 1, 1, 1, 4), (64, 128, 1, 1, 1, 2), (64, 128, 1, 1, 1, 4), (128, 256, 2, 1, 1, 8), (128, 64, 2, 1, 1, 8),
    (128, 8, 2, 1, 1, 1), (128, 16, 2, 1, 1, 1), (128, 32, 2, 1, 1, 1), (128, 16, 2, 1, 1, 2), (128, 16, 2, 1, 1, 4), (128, 32, 2, 1, 1, 2), (128, 32, 2, 1, 1, 4),
    (192, 128, 3, 1, 1, 1), (192, 128, 3, 2, 1, 1), (192, 64, 3, 1, 1, 1),
    (64, 8, 1, 1, 1, 1), (64, 8, 1, 1, 1, 2), (64, 16, 1, 1, 1, 1), (64, 16, 1, 1, 1, 2), (64, 16, 1, 1, 1, 4), (128, 8, 2, 1, 1, 2),
]


def window_plans(q):
    channels = 4 if q["z"]["s"][-1] % 2 == 0 else 8
    t = q["types"][0]
    return [dict(A_TYPE=t, B_TYPE=t, C_TYPE=t, A_MN=0, B_MN=0, TILE_M=128, TILE_N=64, CONSUMERS=2, STAGES=1, CLUSTER_M=1, CLUSTER_N=1, SPLIT=1, STORE="STORE_TMA", CHANNELS=channels)]


def weights_plans(q):
    z, t = q["z"], q["types"][0]
    m, n, pixels = z["oc"], q["k"], q["m"]
    out = []
    for tm, tn, c in ((64, 192, 1), (64, 64, 1), (64, 128, 1), (64, 256, 1), (128, 64, 2), (128, 128, 2), (128, 256, 2), (128, 192, 2), (256, 128, 2), (192, 128, 3), (256, 64, 2)):
        tiles = ceil(m, tm) * ceil(n, tn)
        stages = ceil(pixels, 64)
        for waves in (1, 2):
            parts = max(1, min(waves * SMS // tiles, stages // 8))
            if parts > 1 and parts == (out[-1]["PARTS"] if out and out[-1]["TILE_M"] == tm and out[-1]["TILE_N"] == tn else 0):
                continue
            size = 4 if parts > 1 else 2
            room = SHARED - 1280 - c * 16384
            out.append(dict(A_TYPE=t, B_TYPE=t, C_TYPE=t, A_MN=1, B_MN=1, TILE_M=tm, TILE_N=tn, CONSUMERS=c, STAGES=min(8, room // ((tm + tn) * 128)), CLUSTER_M=1, CLUSTER_N=1, SPLIT=1,
                            STORE="STORE_TMA", PARTS=parts, POINTWISE=q["pointwise"]))
    return sorted(out, key=lambda v: predict(q, v))[:5]


def name(v):
    if v.get("KERNEL"):
        if v["KERNEL"] == "sm80":
            return f"sm80 {v['TILE']}"
        return f"{v['KERNEL']} {v.get('ROWS', '')}" + (f" wide {v['WIDTH']}" if "WIDTH" in v else "") + (" prefetch" if "PREFETCH" in v else "") + (" hint" if "HINT" in v else "") + (f" by {v['COLUMNS']}" if "COLUMNS" in v else f" /{v['SPLIT']}")
    if "HEAD" in v:
        return f"{v['CONSUMERS']}x64 by {v['TILE_N']} s{v['STAGES']}" + (" K mn" if v["K_MN"] else "") + (f" chunk {v['CHUNK']}" if "CHUNK" in v else "")
    s = f"{v['TILE_M']}x{v['TILE_N']}"
    if v["CLUSTER_M"] * v["CLUSTER_N"] > 1:
        s += f" c{v['CLUSTER_M']}{v['CLUSTER_N']}"
    if v["SPLIT"] > 1:
        s += f" /{v['SPLIT']}"
    return s + (" alt" if v.get("ALTERNATE") else "") + f" s{v['STAGES']}" + (" swap" if v.get("SWAP") else "") + (f" g{v['GROUP']}" if "GROUP" in v else "") + (f" promote{v['PROMOTE']}" if v.get("PROMOTE") else "") + (" alone" if not v.get("OVERLAP", True) else "") + (f" parts {v['PARTS']}" if "PARTS" in v else "")


def ceil(a, b):
    return -(-a // b)


def attention_chunk(d, heads, tiles, rows, keys, size, share):
    """Heads per chunk of the schedule: few, so that keys and values stay in L2, but enough to balance the load of a causal mask."""
    fits = max(1, int(24e6 / (keys * size * 4)) * share)
    if not d["CAUSAL"]:
        return min(heads, fits)
    best = None
    chunk = 1
    while True:
        chunk = min(chunk, heads)
        order = [tiles - 1 - r for base in range(0, heads, chunk) for r in range(tiles) for _ in range(min(chunk, heads - base))]
        load = [0.0] * SMS
        for i, m in enumerate(order):
            k, j = divmod(i, SMS)
            load[SMS - 1 - j if k % 2 else j] += min(ceil((m + 1) * rows, d["TILE_N"]), ceil(keys, d["TILE_N"])) + 1.5
        uneven = max(load) / (sum(load) / SMS)
        if best is None or uneven < best[0] - 0.02:
            best = (uneven, chunk)
        if chunk == heads:
            return best[1]
        chunk *= 2


def attention_plans(q):
    head = ceil(q["k"], 64) * 64
    base = dict(A_TYPE=q["types"][0], B_TYPE=q["types"][0], C_TYPE=q["types"][0], HEAD=head, CAUSAL=q["causal"], K_MN=0)
    if q["m"] == 1:
        base["FEW"] = 1
        shapes = [(1, 128, 384 // head), (1, 8192 // head, 6)]
    elif head == 128:
        shapes = [(2, 128, 2), (2, 160, 2)]
    else:
        shapes = [(3, 128, 3), (2, 128, 2)]
        if q["causal"]:
            shapes.reverse()
    out = [dict(base, CONSUMERS=c, TILE_N=n, STAGES=s) for c, n, s in shapes]
    if q["n"] % 8 == 0:
        out += [dict(out[0], K_MN=1)]
    return out


def predict(q, v):
    """Predicted microseconds."""
    if q["op"] == "sdpa":
        return 0.0
    if v.get("KERNEL"):
        return 0.0
    if "PARTS" in v:
        m, n, tm, tn = q["z"]["oc"], q["k"], v["TILE_M"], v["TILE_N"]
        waves = ceil(ceil(m, tm) * ceil(n, tn) * v["PARTS"], SMS)
        stages = ceil(ceil(q["m"], 64), v["PARTS"])
        stage = max((tm + tn) * 128 / 56, tm * tn / 32 * 1.05)
        cycles = waves * (stages * stage + tm * tn / 16) + 3000 + (4000 + m * n * v["PARTS"] * 8 / 2000 if v["PARTS"] > 1 else 0)
        return cycles / CLOCK * 1e6
    if "CHANNELS" in v:
        return 0.0
    m, n = (q["n"], q["m"]) if v.get("SWAP") else (q["m"], q["n"])
    if q.get("way") == "BWD_D":
        n = q["z"]["ic"]
        m = q["m"] * math.prod(q["z"]["s"])
    tm, tn, split = v["TILE_M"], v["TILE_N"], v["SPLIT"]
    tk = 128 // SIZE[q["types"][0]]
    if q["op"] == "conv":
        z = q["z"]
        taps = q["k"] // z["ic"]
        stages = taps * ceil(z["oc" if q["way"] == "BWD_D" else "ic"], tk)
        if q["way"] == "BWD_D":
            stages = max(1, stages // math.prod(z["s"]))
    else:
        stages = ceil(q["k"], tk)
    size = v["CLUSTER_M"] * v["CLUSTER_N"]
    clusters = ceil(ceil(m, tm), v["CLUSTER_M"]) * ceil(ceil(n, tn), v["CLUSTER_N"]) * q["batch"]
    waves = ceil(clusters * size * split, SMS // size * size) if split == 1 else ceil(clusters, SMS // split * 15 // 16)
    if split > 1 and tm == 256:
        return 1e9   # too many registers
    size_c = SIZE[q["types"][2]]
    rows = tm * (GATHERED if q["op"] == "conv" else 1)
    load = max((rows + tn) * 128 / INGRESS, (tm / v["CLUSTER_N"] + tn / v["CLUSTER_M"]) * 128 / L2_BYTES)
    stage = max(load, tm * max(tn, 32) / 32 * (IN_TURNS if v.get("ALTERNATE") else MMA[v["CONSUMERS"]])) + 20
    computed = q.get("epilogue", "") not in ("", "scale")
    tail = 600 + computed * tm * tn / 8 + tm * tn * size_c / (32 if v["STORE"] != "STORE_DIRECT" or v.get("SWAP") else 4) + (1000 + tm * tn * 4 / 40 if split > 1 else 0)
    cycles = waves * ceil(stages, split) * stage + (waves - 1) * (5000 if split > 1 else 0) + tail * (1 if v.get("ALTERNATE") else 1 + (1.0 if computed else 0.2) * (waves - 1)) + (1200 if size > 1 else 0) + 2200
    moved = q["batch"] * (m + n) * q["k"] * SIZE[q["types"][0]] + q["batch"] * m * n * size_c
    if q["op"] == "conv":
        z = q["z"]
        moved = z["mb"] * (z["ic"] * math.prod(z["i"]) + z["oc"] * math.prod(z["o"])) * SIZE[q["types"][0]]
    seconds, memory = cycles / CLOCK, moved / DRAM / min(1, clusters * size * split / (0.8 * SMS)) + 1.5e-6
    return (seconds**4 + memory**4) ** 0.25 * 1e6   # a smooth maximum


def plan(q, shape, **more):
    tm, tn, consumers, cm, cn, split, alternate = (*shape, 0)[:7]
    a, b, c = q["types"]
    columns = tn if split == 1 else max(8, tn // split)
    m, n, a_mn, b_mn, swap = q["m"], q["n"], q["a_mn"], q["b_mn"], 0
    if q.get("way") == "BWD_D":
        m, n, b_mn = m * math.prod(q["z"]["s"]), q["z"]["ic"], 1
        if max(q["z"]["s"]) > 1 and tn > 128:
            return None   # registers for the addresses of rows
    if q["op"] == "matmul" and m <= 32:
        m, n, a_mn, b_mn, a, b, swap = n, m, b_mn, a_mn, b, a, 1
    if swap:
        if tn != max(8, 1 << (n - 1).bit_length()) or split > 2:
            return None
        aligned = SIZE[c] == 2 and m % 8 == 0
        store = "STORE_TMA_TRANSPOSED" if aligned else "STORE_DIRECT"
    else:
        if tn < 64:
            return None
        if columns * SIZE[c] % 128 and n * SIZE[c] % 16 == 0 and tn > 64:
            return None   # no better than tiles that TMA can store
        store = "STORE_TMA" if columns * SIZE[c] % 128 == 0 and n * SIZE[c] % 16 == 0 else "STORE_DIRECT"
    if q["op"] in ("matmul", "w4") and ((m if a_mn else q["k"]) * SIZE[a] % 16 or (n if b_mn else q["k"]) * SIZE[b] % 16):
        return None   # TMA needs row strides that are multiples of 16 bytes
    if b_mn and tn % (64 * cm):
        return None
    if a_mn and tm % (64 * cn):
        return None
    k_stages = ceil(q["k"], 128 // SIZE[a])
    if k_stages < split:
        return None
    if q["op"] == "conv" and not q["pointwise"] and (cn > 1 or split > 1 and q["way"] != "FWD_I"):
        return None
    room = SHARED - 1024 - (0 if store == "STORE_DIRECT" else consumers * 16384) - 256
    d = dict(A_TYPE=a, B_TYPE=b, C_TYPE=c, A_MN=a_mn, B_MN=b_mn, TILE_M=tm, TILE_N=tn, CONSUMERS=consumers, STAGES=min(16 if swap else 8, room // ((tm + tn) * 128)),
             CLUSTER_M=cm, CLUSTER_N=cn, SPLIT=split, STORE=store)
    if alternate:
        if a in ("T_E4M3", "T_E5M2") or a == "T_TF32" and (a_mn or b_mn) or store == "STORE_DIRECT" or max(q["z"]["s"] if q.get("way") == "BWD_D" else [1]) > 1:
            return None
        d["ALTERNATE"] = 1
    if swap:
        d["SWAP"] = 1
        d["STAGES"] = min(d["STAGES"], (100 << 10) // ((tm + tn) * 128))   # two CTAs per SM
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


def candidates(q, count=4):
    if q["op"] == "sdpa":
        return attention_plans(q)
    if q["op"] == "w4":
        t, tiles, k_stages = q["types"][0], ceil(q["n"], 128), ceil(q["k"], 64)
        made = []
        for rows in sorted((8, 16, 32, 64, 128, 256), key=lambda r: abs(min(q["m"], 128) - r)):
            blocks = 2 if rows <= 32 else 1
            stages = min(16, ((227 << 10) // blocks - 2048) // (4368 + rows * 128))
            tile = dict(KERNEL="w4 tiles", A_TYPE=t, B_TYPE=t, C_TYPE=t, UNSIGNED=0, A_MN=0, B_MN=0, PACKED_A=1, PAIRED=1, TILE_M=128, TILE_N=rows, CONSUMERS=2, STAGES=stages, CLUSTER_M=1, CLUSTER_N=1, STORE="STORE_DIRECT")
            fits = lambda s: tiles * ceil(q["m"], rows) * s <= SMS * blocks and k_stages >= 4 * s and rows * 512 <= stages * (4096 + rows * 128)
            made += [dict(tile, SPLIT=s) for s in (2, 4, 1) if s == 1 or fits(s)]
        few = [dict(KERNEL="w4", A_TYPE=t, C_TYPE=t, SCALE_TYPE=t, UNSIGNED=0, ROWS=8 if q["m"] <= 8 else 16, WIDTH=64, SPLIT=2)] if q["m"] <= 16 else []
        return few + made[:count]
    few, last = [], []
    if q["op"] == "matmul" and q["m"] <= 8 and not q["a_mn"] and not q["b_mn"] and SIZE[q["types"][0]] == 2 and q["k"] % 8 == 0:
        a, b, c = q["types"]
        few = [dict(KERNEL="gemv", A_TYPE=a, B_TYPE=b, C_TYPE=c, ROWS=1 << (q["m"] - 1).bit_length(), COLUMNS=n, **x) for n, x in ((1, {}), (2, {}))]
    if q["op"] == "matmul" and q["m"] * q["n"] * q["k"] < 1 << 30:
        a, b, c = q["types"]
        if SIZE[a] == 2 or not (q["a_mn"] or q["b_mn"]):
            align = lambda x, t: 16 if x * SIZE[t] % 16 == 0 else 8 if x * SIZE[t] % 8 == 0 else 4 if x * SIZE[t] % 4 == 0 else 2
            last += [dict(KERNEL="sm80", A_TYPE=a, B_TYPE=b, C_TYPE=c, A_MN=q["a_mn"], B_MN=q["b_mn"], A_ALIGN=align(q["m"] if q["a_mn"] else q["k"], a), B_ALIGN=align(q["n"] if q["b_mn"] else q["k"], b), C_ALIGN=align(q["n"], c), TILE=t) for t in (64, 128)]
    if q.get("small"):
        return window_plans(q)
    if q.get("way") == "BWD_W":
        return weights_plans(q)
    all_ = [p for p in (plan(q, s) for s in SHAPES) if p]
    all_.sort(key=lambda v: predict(q, v))
    return few + all_[:count] + last
