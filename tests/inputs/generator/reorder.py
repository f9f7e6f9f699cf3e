"""reorder: types, layouts, quantisation, compensation, strides and run-time dims."""

from math import prod

from . import attrs
from .case import BYTES, F8, INTEGERS, SUB_BYTE, Case, shape
from .matmul import padded_strides
from .tags import LETTERS, data_tag, random_tag, transposed

F32_TO = ["f32", "bf16", "f16", "s32", "s8", "u8", "s4", "u4", "f4_e2m1", "f4_e3m0", "e8m0", *F8, "f64"]
TARGETS = {
    "f32": F32_TO, "bf16": ["bf16", "f32", "s8", "u8", *F8], "f16": ["f16", "f32", "s8", "u8", *F8],
    "s32": ["f32", "s32", "s8", "u8"], "s8": ["f32", "s32", "bf16", "s8", "u8"], "u8": ["f32", "s32", "bf16", "s8", "u8"],
    "f8_e5m2": ["f8_e5m2", "f32", "bf16", "f16"], "f8_e4m3": ["f8_e4m3", "f32", "bf16", "f16"],
    "s4": ["f32", "s4"], "u4": ["f32", "u4"], "f4_e2m1": ["f32"], "f4_e3m0": ["f32"], "e8m0": ["f32"], "f64": ["f64", "f32"],
}
SOURCES = [("f32", 34), ("bf16", 13), ("f16", 9), ("s32", 7), ("s8", 13), ("u8", 11), ("f8_e5m2", 2), ("f8_e4m3", 2),
           ("s4", 3), ("u4", 3), ("f4_e2m1", 2), ("f4_e3m0", 1), ("e8m0", 1), ("f64", 1)]
SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100]


def dims_for(rng, nd, limit, even):
    while True:
        dims = [rng.pick(SIZES) for _ in range(nd)]
        if nd > 6:
            dims = [rng.pick([1, 2, 3]) for _ in range(nd)]
        if even:
            dims = [d + d % 2 for d in dims]
        if prod(dims) <= limit:
            return dims


def tag_for(rng, nd, random_percent=28):
    return random_tag(rng, nd) if rng.chance(random_percent) else data_tag(rng, nd)


def scale_entries(rng, nd, dims, sdt, ddt, grouped):
    entries = []
    if grouped:
        g = rng.pick([16, 32])
        dims[-2] = g * rng.pick([1, 2, 3])
        word = rng.pick(["per_tensor", str(3 << (nd - 2))])
        return [f"src:{word}:{rng.pick(['f32', 'bf16', 'f16'])}:{g}x1"]
    mask = rng.pick([1 << i for i in range(nd)] + [3 if nd > 1 else 1])
    for arg in rng.pick([["src"], ["dst"], ["src", "dst"]]):
        if rng.chance(55):
            entries.append(attrs.common_scale(rng, arg))
        else:
            name = {1: "per_dim_0", 2: "per_oc", 3: "per_dim_01"}.get(mask, str(mask))
            entries.append(f"{arg}:{rng.pick([name, str(mask)])}" + rng.pick(["", "", ":f32"]))
    return entries


def point_entries(rng, nd, sdt, ddt):
    entries = []
    for arg, t in (("src", sdt), ("dst", ddt)):
        if t in ("s32", "s8", "u8") and rng.chance(60):
            entries.append(f"{arg}:common:{rng.pick([1, 2, 3, 7, -2])}" if rng.chance(80) else f"{arg}:{1 << rng.below(nd)}")
    return entries


def plain(rng):
    """Any pair of types and layouts, with the usual attributes."""
    case = Case("reorder")
    sdt = rng.weighted(SOURCES)
    ddt = rng.pick(TARGETS[sdt])
    even = sdt in SUB_BYTE or ddt in SUB_BYTE
    nd = rng.weighted([(1, 6), (2, 24), (3, 18), (4, 28), (5, 14), (6, 8), (8, 1), (12, 1)])
    nd = min(nd, 5) if even else nd
    dims = dims_for(rng, nd, rng.weighted([(2_000, 38), (30_000, 48), (200_000, 14)]), even)
    if not even and rng.chance(3):
        dims[rng.below(nd)] = 0
        case.note("zero")
    case.set("sdt", sdt)
    case.set("ddt", ddt)
    if even:
        for key in ("stag", "dtag"):
            case.set(key, transposed(rng, nd) if rng.chance(60) else "abx")
    elif nd <= 6:
        case.set("stag", tag_for(rng, nd))
        case.set("dtag", tag_for(rng, nd))
    else:
        case.set("stag", transposed(rng, nd))
        case.set("dtag", "abx")
    if not even and sdt not in ("e8m0", "f64") and ddt not in ("e8m0", "f64"):
        if rng.chance(32):
            grouped = sdt in ("s8", "u8") and ddt == "f32" and 1 < nd < 5 and 0 not in dims and rng.chance(60)
            case.attr("scales", scale_entries(rng, nd, dims, sdt, ddt, grouped))
        if rng.chance(30):
            case.attr("zero-points", point_entries(rng, nd, sdt, ddt))
        if rng.chance(16):
            case.attr("post-ops", rng.pick(["sum", "sum:0.5", "sum:2", "sum:-1"]))
        attrs.stochastic(rng, case, ddt if sdt == "f32" else "", 15)
    attrs.scratchpad(rng, case)
    case.desc = shape(dims)
    case.macs = prod(dims)
    case.note(f"nd{nd}")
    return case


def weights_dims(rng, grouped, spatial):
    g = [rng.pick([2, 3, 8, 16, 17])] if grouped else []
    return g + [rng.pick([1, 8, 16, 17, 32, 33]), rng.pick([1, 3, 4, 16, 17, 32])] + [rng.pick([1, 3, 5]) for _ in range(spatial)]


def weights_tag(rng, nd, grouped):
    sp = LETTERS[3 if grouped else 2 : nd]
    if grouped:
        blocked = [f"aBC{sp}{b}" for b in ("16c16b", "4c16b4c", "8c8b", "2c8b4c")]
        return rng.pick([LETTERS[:nd], *blocked, f"Abc{sp}16a", sp + "cab"])
    blocked = [f"AB{sp}{b}" for b in ("16b16a", "4b16a4b", "8b8a", "16b64a4b", "2b8a4b")]
    return rng.pick([LETTERS[:nd], *blocked, f"A{sp}B16a4b", sp + "ba"])


def weights(rng):
    """Weights into a layout of a kernel, with the extra sums that int8 kernels ask for."""
    case = Case("reorder")
    grouped, spatial = rng.chance(40), rng.pick([0, 1, 2, 2, 2, 3])
    if spatial == 0:
        grouped = False
    dims = weights_dims(rng, grouped, spatial)
    nd = len(dims)
    compensate = rng.chance(65)
    case.set("sdt", rng.pick(["f32", "bf16", "s8"]) if compensate else rng.pick(["f32", "bf16", "f16"]))
    case.set("ddt", "s8" if compensate else case.options["sdt"])
    case.set("stag", rng.pick([LETTERS[:nd], LETTERS[:nd], "abx", transposed(rng, nd)]))
    case.set("dtag", weights_tag(rng, nd, grouped))
    mask = 3 if grouped else 1
    if compensate:
        case.set("oflag", rng.pick([f"s8s8_comp:{mask}", f"zp_comp:{mask}", f"s8s8_comp:{mask}+zp_comp:{mask}"]))
        if rng.chance(40):
            case.attr("scales", [rng.pick([f"src:{mask}", "src:common:0.5", f"dst:{mask}", "dst:common:2"])])
    attrs.scratchpad(rng, case, 10)
    case.desc, case.macs = shape(dims), prod(dims)
    case.note("weights")
    return case


def strided(rng):
    case = Case("reorder")
    sdt = rng.pick(["f32", "bf16", "f16", "s8", "u8", "s32"])
    case.set("sdt", sdt)
    case.set("ddt", rng.pick(TARGETS[sdt][:5]))
    if case.options["ddt"] in SUB_BYTE:
        case.set("ddt", "f32")
    nd = rng.between(1, 5)
    dims = dims_for(rng, nd, 10_000, False)
    words = [padded_strides(rng, dims, rng.shuffled(range(nd))) if rng.chance(70) else "" for _ in range(2)]
    if not any(words):
        words[rng.below(2)] = padded_strides(rng, dims, rng.shuffled(range(nd)))
    for key, word in zip(("stag", "dtag"), words):
        case.set(key, tag_for(rng, nd, 0) if not word else None)
    case.set("strides", ":".join(words))
    if rng.chance(20):
        case.attr("scales", [attrs.common_scale(rng, rng.pick(["src", "dst"]))])
    case.desc, case.macs = shape(dims), prod(dims)
    case.note("strided")
    return case


def runtime(rng):
    case = Case("reorder")
    sdt = rng.pick(["f32", "bf16", "s8", "u8", "s32", "f32"])
    case.set("sdt", sdt)
    case.set("ddt", rng.pick([t for t in TARGETS[sdt] if t in BYTES and t in ("f32", "bf16", "s8", "u8", "s32")]))
    nd = rng.between(1, 5)
    dims = dims_for(rng, nd, 10_000, False)
    case.set("stag", rng.pick(["abx", transposed(rng, nd)]))
    case.set("dtag", rng.pick(["abx", transposed(rng, nd)]))
    case.set("runtime-dim-mask", rng.between(1, (1 << nd) - 1))
    if rng.chance(30):
        case.attr("scales", [rng.pick(["src:common:0.5", "dst:common:2", "src:common:2+dst:common:0.25"])])
    if case.options["ddt"] in INTEGERS and rng.chance(30):
        case.attr("zero-points", ["dst:common:1"])
    case.desc, case.macs = shape(dims), prod(dims)
    case.note("runtime")
    return case


def reorder(rng):
    return rng.weighted([(plain, 76), (weights, 12), (strided, 7), (runtime, 5)])(rng)


REAL = [
    ("--sdt=f32 --ddt=f32 --stag=abcd --dtag=aBcd16b", "2x64x56x56", 401_408),
    ("--sdt=f32 --ddt=f32 --stag=abcd --dtag=acdb", "1x64x56x56", 200_704),
    ("--sdt=bf16 --ddt=f32 --stag=aBcd16b --dtag=abcd", "1x100x28x28", 78_400),
    ("--sdt=f32 --ddt=s8 --stag=ab --dtag=BA16a64b4a --attr-scales=dst:common:0.5", "512x512", 262_144),
    ("--sdt=f32 --ddt=bf16 --stag=abcd --dtag=ABcd16b16a", "256x128x3x3", 294_912),    ("--sdt=f32 --ddt=f32 --stag=aBcd16b --dtag=acdb", "2x48x5x7", 3_360),
    ("--sdt=f32 --ddt=f32 --stag=aBcd8b --dtag=aBcd16b", "2x40x5x7", 2_800),
    ("--sdt=u8 --ddt=u8 --stag=aBcd16b --dtag=acdb", "2x48x5x7", 3_360),
    ("--sdt=bf16 --ddt=bf16 --stag=acdb --dtag=aBcd16b", "2x36x5x7", 2_520),
    ("--sdt=f16 --ddt=bf16 --stag=aBcd16b --dtag=acdb", "2x37x5x7", 2_590),
    ("--sdt=f32 --ddt=f32 --stag=aBcd4b --dtag=acdb", "2x20x5x7", 1_400),
    ("--sdt=bf16 --ddt=bf16 --stag=ab --dtag=BA16a64b2a", "64x128", 8_192),
    ("--sdt=f32 --ddt=bf16 --stag=ab --dtag=BA16a64b2a", "64x192", 12_288),
    ("--sdt=f32 --ddt=s8 --stag=ab --dtag=BA16a64b4a --oflag=s8s8_comp:2+zp_comp:2", "64x128", 8_192),
    ("--sdt=s8 --ddt=s8 --stag=ba --dtag=BA16a64b4a --oflag=s8s8_comp:2", "128x64", 8_192),
    ("--sdt=s8 --ddt=s8 --stag=abcd --dtag=ABcd4b16a4b --oflag=zp_comp:1", "32x16x3x3", 4_608),
]
