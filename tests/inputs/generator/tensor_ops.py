"""reduction, shuffle, concat, sum and sdpa."""

from math import prod

from . import attrs
from .case import BYTES, F8, FLOATS, INT8, Case, shape
from .pointwise import a_tag, dims_for, maybe_zero, rank, size_limit
from .tags import data_tag

LP = ["norm_lp_max", "norm_lp_sum", "norm_lp_power_p_max", "norm_lp_power_p_sum"]


def reduction(rng):
    case = Case("reduction")
    alg = rng.pick(["max", "min", "sum", "mul", "mean", "sum", "mean", *LP])
    floating = alg in LP
    every = [("f32", 42), ("bf16", 20), ("f16", 12)] + ([] if floating else [("s8", 13), ("u8", 13)])
    sdt = rng.weighted(every)
    ddt = sdt if rng.chance(55) else rng.weighted([("f32", 50), ("bf16", 15), ("f16", 10), ("s8", 12), ("u8", 13)])
    while True:
        nd = rank(rng, 7)
        dims = dims_for(rng, nd, size_limit(rng))
        out = [1 if rng.chance(50) else d for d in dims]
        shrink = prod(dims) // max(prod(out), 1)
        if out != dims and not (alg == "mul" and shrink > 64):
            break
    if nd > 1 and rng.chance(2):
        kept = [i for i in range(nd) if out[i] == dims[i]]
        if kept:
            at = rng.pick(kept)
            dims[at] = out[at] = 0
            case.note("zero")
    if dims == out:
        dims[0], out[0] = 3, 1
    case.set("sdt", sdt)
    case.set("ddt", ddt)
    stag = a_tag(rng, nd)
    case.set("stag", stag if rng.chance(88) else None)
    case.set("dtag", rng.weighted([("any", 50), (stag, 25), (a_tag(rng, nd), 25)]) if rng.chance(70) else None)
    case.set("alg", alg)
    if floating:
        case.set("p", rng.pick(["1", "1.5", "2", "3"]) if rng.chance(85) else None)
        case.set("eps", rng.pick(["0", "0.001", "0.5", "2"]) if rng.chance(75) else None)
    if rng.chance(35):
        case.attr("post-ops", attrs.chain(rng, nd, ddt, "ebs", sdt in INT8))
    if rng.chance(8):
        case.attr("acc-mode", rng.pick(["strict", "relaxed", "any"]))
    attrs.scratchpad(rng, case)
    case.desc, case.macs = f"{shape(dims)}:{shape(out)}", prod(dims)
    case.note(f"nd{nd}", "all" if prod(out) == 1 else "some")
    return case


def shuffle(rng):
    case = Case("shuffle")
    where = rng.weighted([("FWD_D", 38), ("FWD_I", 24), ("BWD_D", 38)])
    dt = rng.weighted([("f32", 40), ("bf16", 22), ("f16", 14)] + ([("s32", 6), ("s8", 9), ("u8", 9)] if where != "BWD_D" else []))
    nd = rng.weighted([(1, 4), (2, 18), (3, 22), (4, 38), (5, 16), (6, 2)])
    axis = min(rng.weighted([(1, 65), (rng.below(nd), 35)]), nd - 1)
    dims = dims_for(rng, nd, size_limit(rng))
    dims[axis] = rng.pick([4, 6, 8, 12, 15, 16, 18, 24, 32, 33, 48, 64, 68])
    while prod(dims) > 40_000:
        big = max((i for i in range(nd) if i != axis), key=lambda i: dims[i])
        dims[big] = max(1, dims[big] // 2)
    group = rng.pick([g for g in range(1, dims[axis] + 1) if dims[axis] % g == 0])
    if nd > 1 and rng.chance(2):
        dims[(axis + 1) % nd] = 0
        case.note("zero")
    case.set("dir", where)
    case.set("dt", dt)
    case.set("tag", a_tag(rng, nd) if rng.chance(90) else None)
    case.set("axis", axis)
    case.set("group", group)
    attrs.scratchpad(rng, case)
    case.desc, case.macs = shape(dims), prod(dims)
    case.note(f"nd{nd}", f"axis{axis}", "whole" if group in (1, dims[axis]) else "groups")
    return case


def concat(rng):
    case = Case("concat")
    sdt = rng.weighted([("f32", 38), ("bf16", 16), ("f16", 10), ("s8", 13), ("u8", 13), ("s32", 6), ("f8_e5m2", 2), ("f8_e4m3", 2)])
    ddt = sdt
    if rng.chance(22):
        ddt = rng.pick({"f32": ["bf16", "f16", "s8", "u8"], "bf16": ["f32", "s8"], "f16": ["f32"], "s8": ["f32", "u8", "s32"],
                        "u8": ["f32", "s8", "s32"], "s32": ["f32", "s8"]}.get(sdt, ["f32"]))
    nd = rng.weighted([(1, 4), (2, 22), (3, 20), (4, 34), (5, 14), (6, 6)])
    axis = rng.weighted([(min(1, nd - 1), 55), (rng.below(nd), 45)])
    count = rng.weighted([(1, 4), (2, 40), (3, 28), (4, 15), (rng.between(5, 9), 11), (20, 2)])
    base = dims_for(rng, nd, 4_000)
    parts = []
    for _ in range(count):
        part = list(base)
        part[axis] = rng.pick([1, 2, 3, 5, 8, 16, 17, 32])
        parts.append(part)
    while sum(prod(p) for p in parts) > 120_000:
        parts = parts[: max(1, len(parts) // 2)]
    if len(parts) > 1 and rng.chance(4):
        parts[rng.below(len(parts))][axis] = 0
        case.note("zero")
    case.set("sdt", sdt)
    case.set("ddt", ddt)
    tag = data_tag(rng, nd)
    tags = [tag if rng.chance(70) else data_tag(rng, nd) for _ in parts]
    case.set("stag", tag if len(set(tags)) == 1 and len(tags) > 4 else ":".join(tags))
    case.set("dtag", rng.weighted([("any", 40), (tag, 35), (data_tag(rng, nd), 25)]) if rng.chance(75) else None)
    case.set("axis", axis if axis != 1 or rng.chance(60) or nd < 2 else None)
    if rng.chance(25) and sdt not in F8:
        case.attr("scales", [attrs.common_scale(rng, f"msrc{i}") for i in range(len(parts)) if rng.chance(60)][:6])
    attrs.scratchpad(rng, case)
    case.desc, case.macs = ":".join(shape(p) for p in parts), sum(prod(p) for p in parts)
    case.note(f"nd{nd}", f"axis{axis}", f"n{min(len(parts), 5)}")
    return case


def sum_case(rng):
    case = Case("sum")
    sdt = rng.weighted([("f32", 40), ("bf16", 18), ("f16", 12), ("s8", 10), ("u8", 10), ("s32", 6), ("f8_e5m2", 1), ("f8_e4m3", 1)])
    allowed = {"f32": ["bf16", "f16", "s8", "u8", "s32"], "bf16": ["f32", "s8"], "f16": ["f32"], "s8": ["f32", "s32", "u8"],
               "u8": ["f32", "s32", "s8"], "s32": ["f32"]}.get(sdt, ["f32"])
    ddt = sdt if rng.chance(60) else rng.pick(allowed)
    count = rng.weighted([(1, 6), (2, 42), (3, 28), (4, 14), (rng.between(5, 8), 8), (17, 2)])
    nd = rank(rng)
    dims = dims_for(rng, nd, min(size_limit(rng), 120_000 // count))
    maybe_zero(rng, case, dims)
    case.set("sdt", ":".join([sdt] * count))
    case.set("ddt", ddt)
    tag = a_tag(rng, nd)
    tags = [tag if rng.chance(70) else a_tag(rng, nd) for _ in range(count)]
    case.set("stag", ":".join(tags))
    dtag = rng.weighted([("any", 40), (tag, 35), (a_tag(rng, nd), 25)]) if rng.chance(75) else None
    case.set("dtag", dtag)
    case.set("scales", ":".join(rng.pick(["1", "0.5", "2", "0.25", "-1", "4"]) for _ in range(count)) if rng.chance(75) else None)
    if ddt == sdt and dtag == tags[0] and rng.chance(40):
        case.set("inplace", rng.pick(["true", "false"]))
    attrs.scratchpad(rng, case)
    case.desc, case.macs = shape(dims), prod(dims) * count
    case.note(f"nd{nd}", f"n{min(count, 5)}")
    return case


def sdpa_quantised(rng, case, t, packed, d, sk, dv):
    """Scales and zero points of keys (D x Sk) and values (Sk x Dv): common, one a row or column, or one a group of the depth."""
    scales, points = [], []
    for arg, rows, columns in (("src1", d, sk), ("src2", sk, dv)):
        group = next((g for g in (32, 16, 8) if rows % g == 0), 1)
        ways = ["common", "per_dim_01", "per_dim_3" if arg == "src1" else "per_dim_2", "per_tensor"]
        way, dt = rng.pick(ways), rng.pick(["f32", t])
        suffix = f":{group}x1" if way == "per_tensor" and group > 1 else ""
        scales.append(f"{arg}:common:{rng.pick(['0.5', '0.25', '0.125'])}" if way == "common" else f"{arg}:{way}:{dt}{suffix}")
        if rng.chance(50):
            if way == "common":
                points.append(f"{arg}:common:{rng.pick([1, 2, 3])}")
            else:
                points.append(f"{arg}:{way}:{rng.pick(['s32', 'u8' if packed[0] == 'u' else 's8'])}{suffix}")
    case.attr("scales", scales)
    case.attr("zero-points", points)


def sdpa(rng):
    case = Case("sdpa")
    t = rng.weighted([("f32", 45), ("bf16", 28), ("f16", 27)])
    dst = t if rng.chance(85) else "f32"
    limit = rng.weighted([(20_000, 30), (200_000, 45), (1_000_000, 21), (3_000_000, 4)])
    while True:
        b, hkv = rng.pick([1, 1, 2, 3]), rng.pick([1, 1, 2, 3, 4])
        h = hkv * rng.weighted([(1, 60), (2, 20), (3, 10), (4, 10)])
        sq, sk = rng.pick([1, 1, 2, 7, 8, 16, 17, 31, 32, 33, 64, 65, 100]), rng.pick([1, 3, 8, 16, 17, 32, 33, 64, 65, 100, 128])
        if rng.chance(40):
            sk = sq
        d = rng.pick([1, 4, 8, 15, 16, 17, 32, 40, 64, 65, 80, 96, 128])
        dv = d if rng.chance(75) else rng.pick([1, 8, 16, 17, 32, 64])
        case.macs = b * h * sq * sk * (d + dv)
        if case.macs <= limit:
            break
    direction = rng.weighted([(None, 55), ("FWD_I", 8), ("FWD_D", 9), ("BWD_DW", 28)])
    case.set("dir", direction)
    # Keys and values of whole numbers, in inference and training.
    packed = rng.weighted([(t, 65), ("s8", 12), ("u8", 8), ("s4", 8), ("u4", 7)]) if direction != "BWD_DW" else t
    case.set("dt", t if t == dst and packed == t and rng.chance(60) else f"{t}:{packed}:{packed}:{dst}")
    if rng.chance(45):
        case.set("tag", rng.pick(["abcd:abdc:abcd:abcd", "acbd:acdb:acbd:acbd", "acbd:bcda:acbd:acbd", "abcd:abdc:abdc:acbd", "abdc:abcd:abcd:abdc"]))
    if packed != t:
        sdpa_quantised(rng, case, t, packed, d, sk, dv)
    # Bottom-right alignment with fewer keys than queries would leave rows without a key.
    mask = rng.pick(["none", "causal_tl", "causal_br" if sq <= sk else "none", "buffer", "buffer"])
    case.set("mask", mask if mask != "none" or rng.chance(60) else None)
    if mask == "buffer":
        case.set("mask-dt", rng.pick(["f32", t]))
    scale = rng.pick(["none", "mul", "div"])
    case.set("scale", scale if scale != "none" or rng.chance(60) else None)
    if scale != "none":
        case.set("scale-dt", rng.pick(["f32", t]))
    attrs.scratchpad(rng, case, 12)
    case.desc = f"{b}x{h}x{sq}x{d}:{b}x{hkv}x{d}x{sk}:{b}x{hkv}x{sk}x{dv}"
    case.note("grouped" if h != hkv else "heads", "decode" if sq == 1 else "prefill", f"{direction}-{mask}", "narrow-v" if dv != d else "same-v")
    assert t in BYTES and t in FLOATS
    return case


REAL_REDUCTION = [
    ("--sdt=f32 --ddt=f32 --stag=abx --alg=sum", "2x64x28x28:2x1x28x28", 100_352),
    ("--sdt=bf16 --ddt=f32 --stag=axb --alg=mean", "2x64x14x14:2x64x1x1", 25_088),
]
REAL_SHUFFLE = [
    ("--dir=FWD_I --dt=f32 --tag=axb --axis=1 --group=4", "1x136x28x28", 106_624),
]
REAL_CONCAT = [
    ("--sdt=f32 --ddt=f32 --stag=aBcd16b:aBcd16b --axis=1", "1x64x28x28:1x32x28x28", 75_264),
]
REAL_SUM = [
    ("--sdt=f32:f32 --ddt=f32 --stag=aBcd16b:aBcd16b", "1x64x28x28", 100_352),
]
REAL_SDPA = [
    ("--dt=f16 --mask=causal_tl --scale=mul", "1x8x64x64:1x8x64x64:1x8x64x64", 4_194_304),
    ("--dt=bf16 --mask=buffer --scale=div", "2x12x64x64:2x12x64x64:2x12x64x64", 12_582_912),
    # Several blocks of queries and of keys.
    ("--dt=f32 --tag=abcd:abdc:abcd:abcd --scale=div", "1x2x300x16:1x1x16x700:1x1x700x24", 16_800_000),
    ("--dt=f32 --tag=abcd:abdc:abcd:abcd --mask=causal_tl --scale=mul", "1x2x260x40:1x2x40x520:1x2x520x40", 21_632_000),
    ("--dt=bf16 --tag=acbd:acdb:acbd:acbd --mask=causal_br --scale=mul", "1x4x150x32:1x2x32x600:1x2x600x32", 23_040_000),
    ("--dt=f16 --mask=buffer --mask-dt=f32", "1x1x210x72:1x1x72x330:1x1x330x80", 10_533_600),
    ("--dir=BWD_DW --dt=f32 --tag=abcd:abdc:abcd:abcd --scale=div", "1x2x150x16:1x1x16x300:1x1x300x24", 9_000_000),
    ("--dir=BWD_DW --dt=f32 --mask=causal_br --scale=mul", "1x1x40x8:1x1x8x1100:1x1x1100x16", 2_640_000),
    ("--dir=BWD_DW --dt=bf16 --tag=acbd:acdb:acbd:acbd --mask=buffer", "1x2x140x32:1x2x32x270:1x2x270x32", 12_096_000),
    # Decoding: parts of the keys.
    ("--dt=f32 --tag=abcd:abdc:abcd:abcd --scale=div", "1x2x1x64:1x2x64x2100:1x2x2100x64", 537_600),
    ("--dir=FWD_D --dt=f32 --mask=buffer --scale=div", "1x8x1x64:1x2x64x1100:1x2x1100x64", 1_126_400),
    ("--dt=bf16 --tag=acbd:acdb:acbd:acbd --mask=causal_br", "1x8x3x48:1x2x48x1300:1x2x1300x48", 2_995_200),
    ("--dt=f16:s4:s4:f16 --tag=abcd:abdc:abcd:abcd --attr-scales=src1:per_tensor:f16:32x1+src2:per_tensor:f16:1x32", "1x8x1x64:1x2x64x1088:1x2x1088x64",
     1_114_112),
]
