"""pool and resampling."""

from math import prod

from . import attrs, spatial
from .case import CHANNELS, F8, FLOATS, INT8, Case
from .tags import data_tag

MIXED = [("s8", "u8"), ("u8", "s8"), ("s8", "f16"), ("u8", "f16"), ("f16", "s8"), ("f16", "u8"), ("s8", "f32"), ("u8", "f32"),
         ("f32", "s8"), ("f32", "u8")]


def touches_source(dim, out):
    """Does every window of this dim have a tap on the source?"""
    i, k, s, dil, left, _ = dim
    return all(any(0 <= o * s + t * (dil + 1) - left < i for t in range(k)) for o in range(out))


def geometry(rng, n, padding_counts):
    """Windows and outputs. Only where padding counts as zeros may a window see nothing but padding."""
    biggest = {1: 60, 2: 24, 3: 10}[n]
    while True:
        dims = spatial.draw_window(rng, n, {1: [1, 2, 3, 5, 8], 2: [1, 2, 2, 3, 3, 3, 5], 3: [1, 2, 2, 3]}[n], biggest)
        outs = [spatial.conv_out(d) for d in dims]
        right = [(o - 1) * d[2] - d[0] + spatial.reach(d[1], d[3]) - d[4] for o, d in zip(outs, dims)]
        extents = [spatial.reach(d[1], d[3]) for d in dims]
        within = all(d[4] < e and r < e and d[3] < d[0] for r, e, d in zip(right, extents, dims))
        if padding_counts or within and all(touches_source(d, o) for d, o in zip(dims, outs)):
            return dims, outs


def pool(rng):
    case = Case("pool")
    where = rng.weighted([("FWD_D", 34), ("FWD_I", 32), ("BWD_D", 34)])
    alg = rng.pick(["max", "avg_np", "avg_p"])
    if where == "BWD_D":
        types = [rng.weighted([("f32", 50), ("bf16", 27), ("f16", 20), ("f64", 2)])] * 2
    elif where == "FWD_I" and rng.chance(18):
        types = list(rng.pick(MIXED))
    else:
        every = [("f32", 38), ("bf16", 18), ("f16", 12), ("s8", 10), ("u8", 10), ("s32", 6), ("f64", 2)]
        types = [rng.weighted(every + [(t, 2) for t in F8])] * 2
    n = rng.weighted([(1, 22), (2, 55), (3, 23)])
    limit = rng.weighted([(5_000, 24), (60_000, 40), (500_000, 28), (2_000_000, 8)])
    while True:
        dims, outs = geometry(rng, n, alg == "avg_p")
        mb, ic = rng.weighted([(0, 2), (1, 38), (2, 42), (3, 12), (5, 6)]), rng.pick(CHANNELS)
        case.macs = mb * ic * prod(outs) * prod(d[1] for d in dims)
        if case.macs <= limit and mb * ic * prod(d[0] for d in dims) < 300_000:
            break
    case.set("dir", where)
    case.set("dt", types[0] if types[0] == types[1] and rng.chance(80) else ":".join(types))
    case.set("tag", data_tag(rng, 2 + n) if rng.chance(88) else None)
    case.set("alg", alg)
    if where != "BWD_D":
        if types[0] != "f64" and rng.chance(32):
            case.attr("post-ops", attrs.chain(rng, 2 + n, types[1], "eb"))
        if rng.chance(9):
            case.attr("acc-mode", rng.pick(["strict", "relaxed", "any"]))
    attrs.scratchpad(rng, case)
    implied = [spatial.conv_out((*d[:5], d[4])) for d in dims]
    text = ("" if mb == 2 and rng.chance(50) else f"mb{mb}") + f"ic{ic}" + spatial.word(rng, "i", [d[0] for d in dims])
    if outs != implied or rng.chance(50):
        text += spatial.word(rng, "o", outs)
    text += spatial.word(rng, "k", [d[1] for d in dims]) + spatial.word(rng, "s", [d[2] for d in dims], 1)
    text += spatial.word(rng, "p", [d[4] for d in dims], 0) + spatial.word(rng, "d", [d[3] for d in dims], 0)
    case.desc = text
    case.note(f"{n}d")
    for what, hit in (("zero", mb == 0), ("dilation", any(d[3] for d in dims)), ("global", all(o == 1 for o in outs)),
                      ("asymmetric", any(d[4] != d[5] for d in dims)), ("overlap", any(d[1] > d[2] for d in dims))):
        if hit:
            case.note(what)
    return case


REAL_POOL = [
    ("--dir=FWD_D --dt=f32 --tag=aBx16b --alg=max", "mb1ic64ih56oh28kh3sh2ph1", 451_584),
    ("--dir=FWD_I --dt=f32 --tag=axb --alg=avg_np", "mb2ic512ih7oh1kh7", 50_176),
    ("--dir=BWD_D --dt=bf16 --tag=axb --alg=max", "mb1ic64ih28oh14kh2sh2", 50_176),
    ("--dir=FWD_I --dt=u8 --tag=axb --alg=avg_p", "mb1ic256ih14oh14kh3ph1", 451_584),
]


def resampling(rng):
    case = Case("resampling")
    where = rng.weighted([("FWD_D", 38), ("FWD_I", 28), ("BWD_D", 34)])
    every = [("f32", 45), ("bf16", 18), ("f16", 10), ("s8", 9), ("u8", 9), ("s32", 6)]
    if where == "BWD_D":
        sdt = rng.weighted(every[:3])
        ddt = sdt if rng.chance(80) else rng.pick(FLOATS)
    else:
        sdt = rng.weighted(every)
        ddt = sdt if rng.chance(55) else rng.weighted(every)
    n = rng.weighted([(1, 24), (2, 50), (3, 26)])
    biggest = {1: 60, 2: 22, 3: 9}[n]
    while True:
        ins = [rng.between(1, biggest) for _ in range(n)]
        outs = [rng.weighted([(i * 2, 30), (max(1, i // 2), 15), (rng.between(1, biggest), 45), (i, 10)]) for i in ins]
        mb, ic = rng.weighted([(0, 2), (1, 38), (2, 42), (3, 18)]), rng.pick(CHANNELS)
        case.macs = mb * ic * max(prod(ins), prod(outs)) * 4
        if case.macs <= 200_000:
            break
    case.set("dir", where)
    case.set("sdt", sdt)
    case.set("ddt", ddt)
    case.set("tag", data_tag(rng, 2 + n) if rng.chance(88) else None)
    case.set("dtag", rng.pick(["any", data_tag(rng, 2 + n)]) if rng.chance(12) else None)
    case.set("alg", rng.pick(["nearest", "linear"]))
    if where != "BWD_D" and rng.chance(40):
        case.attr("post-ops", attrs.chain(rng, 2 + n, ddt, "ebs", sdt in INT8))
    attrs.scratchpad(rng, case)
    case.desc = ("" if mb == 2 and rng.chance(50) else f"mb{mb}") + f"ic{ic}" + spatial.word(rng, "i", ins) + spatial.word(rng, "o", outs)
    case.note(f"{n}d", *(["zero"] if mb == 0 else []))
    return case


REAL_RESAMPLING = [
    ("--dir=FWD_I --sdt=f32 --ddt=f32 --tag=axb --alg=linear", "mb1ic64ih14oh28", 200_704),
    ("--dir=BWD_D --sdt=f32 --ddt=f32 --tag=aBx16b --alg=nearest", "mb1ic64ih14oh28", 200_704),
]
