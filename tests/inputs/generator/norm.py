"""bnorm, lnorm, gnorm, lrn and softmax."""

from math import prod

from . import attrs, spatial
from .case import CHANNELS, F8, FLOATS, INT8, Case, shape
from .pointwise import a_tag, dims_for, maybe_zero, size_limit
from .tags import LETTERS, data_tag, transposed

BIGGEST = {0: 1, 1: 60, 2: 16, 3: 7}


def direction(rng):
    return rng.weighted([("FWD_D", 34), ("FWD_I", 26), ("BWD_D", 14), ("BWD_DW", 26)])


def flag_word(rng, letters):
    return "".join(rng.subset(letters, 42))


def image(rng, limit, spatial_weights):
    while True:
        n = rng.weighted(spatial_weights)
        mb, ic = rng.weighted([(0, 1), (1, 20), (2, 40), (3, 20), (5, 12), (16, 7)]), rng.pick(CHANNELS)
        sizes = [rng.between(1, BIGGEST[n]) for _ in range(n)]
        if mb * ic * prod(sizes) <= limit:
            return n, mb, ic, sizes


def image_word(rng, mb, ic, sizes):
    return ("" if mb == 2 and rng.chance(50) else f"mb{mb}") + f"ic{ic}" + (spatial.word(rng, "i", sizes) if sizes else "")


def epsilon(rng):
    return rng.weighted([("", 55), ("eps0.001", 20), ("eps0.1", 15), ("eps1e-05", 10)])


def bnorm(rng):
    case, where = Case("bnorm"), direction(rng)
    flags = flag_word(rng, "GCH")
    dt = rng.weighted([("f32", 48), ("bf16", 27), ("f16", 18), ("s8", 10 if where.startswith("FWD") else 0)])
    if dt == "s8" and "G" not in flags:
        flags = "G" + flags
    if rng.chance(30):
        flags += "R"
    elif rng.chance(2) and dt != "s8":
        flags += "A"
    n, mb, ic, sizes = image(rng, size_limit(rng), [(0, 20), (1, 18), (2, 40), (3, 22)])
    case.set("dir", where)
    case.set("dt", dt)
    case.set("tag", data_tag(rng, 2 + n) if rng.chance(88) else None)
    case.set("flags", flags)
    if "A" not in flags and rng.chance(30):
        case.set("inplace", rng.pick(["true", "false"]))
    if where == "FWD_I" and "R" not in flags and "A" not in flags and rng.chance(35):
        case.attr("post-ops", "relu")
    attrs.scratchpad(rng, case)
    case.desc, case.macs = image_word(rng, mb, ic, sizes) + epsilon(rng), mb * ic * prod(sizes) * 4
    case.note(f"{n}d", "f." + flags + "." + where[:3], *(["zero"] if mb == 0 else []))
    return case


def norm_types(rng, where):
    if not where.startswith("FWD"):
        src = rng.weighted([("f32", 50), ("bf16", 28), ("f16", 22)])
        return src, src if rng.chance(82) else rng.pick(FLOATS)
    every = [("f32", 40), ("bf16", 22), ("f16", 14), ("s8", 12), ("u8", 12)]
    src = rng.weighted(every)
    return src, src if rng.chance(55) else rng.weighted(every)


def quantised_attrs(rng, case, nd, src, dst, forward):
    if not forward:
        return
    scales = [attrs.common_scale(rng, arg) for arg, t in (("src", src), ("dst", dst)) if t in INT8 and rng.chance(65)]
    case.attr("scales", scales)
    if rng.chance(30):
        case.attr("post-ops", attrs.chain(rng, nd, dst, "eb"))


def lnorm(rng):
    case, where = Case("lnorm"), direction(rng)
    src, dst = norm_types(rng, where)
    nd = rng.weighted([(2, 30), (3, 35), (4, 20), (5, 15)])
    dims = dims_for(rng, nd, size_limit(rng))
    if rng.chance(2):
        dims[0] = 0
        case.note("zero")
    tags = ["abx", "abx", LETTERS[:nd], transposed(rng, nd)] + (["axb"] if nd > 2 else []) + ([] if nd == 2 else ["bac" + LETTERS[3:nd]])
    tag = rng.pick(tags)
    other = rng.weighted([(None, 45), (tag, 20), ("any", 20), (rng.pick(tags), 15)])
    case.set("dir", where)
    case.set("dt", src if src == dst and rng.chance(70) else f"{src}:{dst}")
    case.set("tag", tag if other is None else f"{tag}:{other}")
    stats = ["abx", "any"] if nd > 2 else ["any", "a"]
    case.set("stat-tag", rng.pick(stats + ([transposed(rng, nd - 1)] if nd > 2 else [])) if rng.chance(60) else None)
    flags = flag_word(rng, "GCH") + ("M" if rng.chance(18) else "")
    case.set("flags", flags)
    if ("C" in flags or "H" in flags) and rng.chance(40):
        case.set("ss-dt", rng.pick(FLOATS))
    if src == dst and other in (None, tag) and rng.chance(30):
        case.set("inplace", rng.pick(["true", "false"]))
    quantised_attrs(rng, case, nd, src, dst, where.startswith("FWD"))
    attrs.scratchpad(rng, case)
    case.desc, case.macs = shape(dims), prod(dims) * 4
    case.note(f"nd{nd}", "f." + flags + "." + where[:3])
    return case


def gnorm(rng):
    case, where = Case("gnorm"), direction(rng)
    src, dst = norm_types(rng, where)
    n, mb, ic, sizes = image(rng, size_limit(rng), [(0, 8), (1, 22), (2, 44), (3, 26)])
    divisors = [g for g in range(1, ic + 1) if ic % g == 0]
    g = rng.weighted([(1, 20), (ic, 20), (rng.pick(divisors), 60)])
    tag = data_tag(rng, 2 + n, blocked=rng.chance(15))
    other = rng.weighted([(None, 55), (tag, 15), ("any", 20), (data_tag(rng, 2 + n, blocked=False), 10)])
    case.set("dir", where)
    case.set("dt", src if src == dst and rng.chance(70) else f"{src}:{dst}")
    case.set("tag", tag if other is None else f"{tag}:{other}")
    flags = flag_word(rng, "GCH")
    case.set("flags", flags)
    if src == dst and other in (None, tag) and rng.chance(30):
        case.set("inplace", rng.pick(["true", "false"]))
    quantised_attrs(rng, case, 2 + n, src, dst, where.startswith("FWD"))
    attrs.scratchpad(rng, case)
    case.desc, case.macs = f"g{g}" + image_word(rng, mb, ic, sizes) + epsilon(rng), mb * ic * prod(sizes) * 4
    case.note(f"{n}d", "f." + flags + "." + where[:3], *(["zero"] if mb == 0 else []))
    return case


def lrn(rng):
    case = Case("lrn")
    where = rng.weighted([("FWD_D", 38), ("FWD_I", 26), ("BWD_D", 36)])
    alg = rng.pick(["ACROSS", "WITHIN"])
    n, mb, ic, sizes = image(rng, 12_000, [(0, 12 if alg == "ACROSS" else 0), (1, 20), (2, 48), (3, 20)])
    local = rng.weighted([(1, 8), (3, 32), (5, 40), (7, 14), (9, 6)])
    case.set("dir", where)
    case.set("dt", rng.weighted([("f32", 50), ("bf16", 28), ("f16", 22)]))
    case.set("tag", data_tag(rng, 2 + n) if rng.chance(88) else None)
    case.set("alg", alg)
    attrs.scratchpad(rng, case)
    numbers = rng.weighted([
        ("alpha0.0001beta0.75k1", 40), ("alpha0.001beta0.5k2", 20), ("alpha1beta0.75k1", 25), ("alpha0.5beta1k0.5", 15)])
    case.desc = image_word(rng, mb, ic, sizes) + f"ls{local}{numbers}"
    case.macs = mb * ic * prod(sizes) * (local if alg == "ACROSS" else local**n) * (local if where == "BWD_D" else 1)
    case.note(f"{n}d", *(["zero"] if mb == 0 else []))
    return case


def softmax(rng):
    case = Case("softmax")
    where = rng.weighted([("FWD_D", 36), ("FWD_I", 30), ("BWD_D", 34)])
    forward = where != "BWD_D"
    alg = rng.weighted([("SOFTMAX", 45), ("LOGSOFTMAX", 35), ("SOFTMAX_INF_AS_ZERO", 20 if forward else 0)])
    every = [("f32", 40), ("bf16", 22), ("f16", 14), ("s8", 9), ("u8", 9), ("f64", 2)] + [(t, 2) for t in F8]
    if forward:
        sdt = rng.weighted(every)
        ddt = sdt if rng.chance(55) else rng.weighted([e for e in every if sdt != "f64" or e[0] == "f64"])
        if ddt == "f64":
            sdt = "f64"
    else:
        sdt = rng.weighted([("f32", 50), ("bf16", 28), ("f16", 20), ("f64", 2)])
        ddt = sdt if rng.chance(85) or sdt == "f64" else rng.pick(FLOATS)
    nd = rng.weighted([(1, 6), (2, 26), (3, 22), (4, 28), (5, 14), (6, 4)])
    dims = dims_for(rng, nd, size_limit(rng))
    maybe_zero(rng, case, dims, 2)
    drop = forward and 2 <= nd <= 5 and ddt in FLOATS and rng.chance(8)
    stag = LETTERS[:nd] if drop else a_tag(rng, nd)
    dtag = stag if drop else rng.weighted([("any", 45), (stag, 35), (a_tag(rng, nd), 20)])
    case.set("dir", where)
    case.set("sdt", sdt)
    case.set("ddt", ddt)
    case.set("stag", stag)
    case.set("dtag", dtag if drop or rng.chance(70) else None)
    case.set("alg", alg)
    case.set("axis", rng.below(nd) if rng.chance(85) or nd < 2 else None)
    if sdt == ddt and case.options.get("dtag", stag) in (stag, "any") and rng.chance(30):
        case.set("inplace", rng.pick(["true", "false"]))
    if forward:
        scales = [attrs.common_scale(rng, a) for a, t in (("src", sdt), ("dst", ddt)) if t in INT8 + F8 and rng.chance(60)]
        case.attr("scales", scales)
        if drop:
            attrs.dropout(rng, case, stag)
        if ddt != "f64" and rng.chance(28):
            case.attr("post-ops", attrs.chain(rng, nd, ddt, "eb"))
        if rng.chance(10):
            case.attr("acc-mode", rng.pick(["strict", "relaxed", "any"]))
    attrs.scratchpad(rng, case)
    case.desc, case.macs = shape(dims), prod(dims) * 4
    case.note(f"nd{nd}")
    return case


REAL_BNORM = [
    ("--dir=FWD_D --dt=f32 --tag=aBx16b --flags=CHR", "mb2ic64ih28", 401_408),
    ("--dir=FWD_I --dt=bf16 --tag=axb --flags=GCH", "mb2ic100ih14", 156_800),
]
REAL_LNORM = [
    ("--dir=FWD_I --dt=f32 --tag=abx --flags=CH", "64x768", 196_608),
    ("--dir=BWD_DW --dt=bf16 --tag=abx --flags=CH", "2x32x768", 196_608),
]
REAL_GNORM = [
    ("--dir=FWD_I --dt=f32 --tag=abx --flags=CH", "g32mb1ic320ih16", 327_680),
]
REAL_LRN = [
    ("--dir=FWD_I --dt=f32 --tag=aBx8b --alg=ACROSS", "mb1ic96ih27ls5alpha0.0001beta0.75k1", 349_920),
]
REAL_SOFTMAX = [
    ("--dir=FWD_I --sdt=f32 --ddt=f32 --stag=abx --alg=SOFTMAX --axis=1", "16x1000", 64_000),
    ("--dir=FWD_I --sdt=bf16 --ddt=bf16 --stag=abx --alg=SOFTMAX --axis=3", "1x12x64x64", 196_608),
]
