"""ip."""

from math import prod

from . import attrs, spatial
from .case import CHANNELS, F8, FLOATS, INT8, Case
from .tags import LETTERS, data_tag

FORWARD = [
    (["f32"] * 3, 30), (["bf16"] * 3, 10), (["bf16", "bf16", "f32"], 6), (["f16"] * 3, 6), (["f16", "f16", "f32"], 4),
    (["f16", "f16", "u8"], 1), (["f16", "f16", "s8"], 1)] + [
    ([s, "s8", d], 3) for s in INT8 for d in ("u8", "s8", "s32", "f32", "bf16", "f16")] + [
    ([s, s, d], 1) for s in F8 for d in (s, "f32")]
BACKWARD_DATA = [(["f32"] * 3, 12), (["bf16"] * 3, 5), (["f32", "bf16", "bf16"], 3), (["f16"] * 3, 3), (["f32", "f16", "f16"], 2)]
BACKWARD_WEIGHTS = [(["f32"] * 3, 12), (["bf16"] * 3, 5), (["bf16", "f32", "bf16"], 3), (["f16"] * 3, 3), (["f16", "f32", "f16"], 2)]


def types_for(rng, direction):
    if direction.startswith("FWD"):
        return rng.weighted(FORWARD)
    return rng.weighted(BACKWARD_DATA if direction == "BWD_D" else BACKWARD_WEIGHTS)


def weights_tag(rng, nd):
    sp = LETTERS[2:nd]
    table = [("any", 20), ("abx", 20), (sp + "ba", 10), ("a" + sp + "b", 6), (f"AB{sp}16b16a", 6), (f"AB{sp}8b8a", 4)]
    table += [(f"AB{sp}16b64a", 3), (f"AB{sp}16b32a2b", 3), (f"AB{sp}4b16a4b", 3), (f"A{sp}B16a32b", 1), (f"BA{sp}16a16b", 1)]
    if nd == 2:
        table += [("ab", 4), ("ba", 10)]
    return rng.weighted(table)


def quantise(rng, case, src):
    scales = []
    if rng.chance(60):
        scales.append(attrs.common_scale(rng, "src"))
    if rng.chance(65):
        scales.append(rng.pick(["wei:per_oc", "wei:per_oc", "wei:1", "wei:per_oc:f32", attrs.common_scale(rng, "wei")]))
    if rng.chance(40):
        scales.append(attrs.common_scale(rng, "dst"))
    case.attr("scales", scales)


def forward_attrs(rng, case, types):
    src, _, dst = types
    if (src in INT8 or src in F8) and rng.chance(75):
        quantise(rng, case, src)
    if rng.chance(45):
        case.attr("post-ops", attrs.chain(rng, 2, dst, "ebsp", src in INT8))
    attrs.acc_mode(rng, case, src)


def source(rng):
    """Spatial sizes of the source, none for a plain matrix."""
    n = rng.weighted([(0, 55), (1, 12), (2, 23), (3, 10)])
    if n == 0:
        return []
    if rng.chance(40):
        return [rng.between(1, 7 if n < 3 else 4)] * n
    return [rng.between(1, {1: 20, 2: 9, 3: 5}[n]) for _ in range(n)]


def ip(rng):
    case = Case("ip")
    where = rng.weighted([("FWD_B", 34), ("FWD_D", 10), ("FWD_I", 24), ("BWD_D", 14), ("BWD_W", 8), ("BWD_WB", 10)])
    types = types_for(rng, where)
    limit = rng.weighted([(20_000, 24), (300_000, 38), (2_000_000, 30), (10_000_000, 8)])
    while True:
        sp = source(rng)
        mb = rng.weighted([(0, 2), (1, 18), (2, 30), (rng.pick([3, 5, 7, 8]), 25), (rng.pick([16, 17, 31, 32, 33, 64, 100, 112]), 25)])
        ic, oc = rng.pick(CHANNELS + [128, 200, 256, 500]), rng.pick(CHANNELS + [10, 128, 200, 256, 1000])
        case.macs = mb * ic * oc * prod(sp)
        if case.macs <= limit and ic * oc * prod(sp) < 500_000:
            break
    case.set("dir", where)
    case.set("dt", types[0] if len(set(types)) == 1 and rng.chance(70) else ":".join(types))
    biases = ["f32", "bf16", "s32", "s8", "u8"] if types[0] in INT8 else ["f32", types[0]] if types[0] in FLOATS else ["f32"]
    if where in ("FWD_B", "BWD_WB") and rng.chance(60) or where == "FWD_I" and rng.chance(50):
        case.set("bia-dt", rng.pick(biases))
    nd = 2 + len(sp)
    if rng.chance(80):
        case.set("stag", data_tag(rng, nd, with_any=True) if rng.chance(75) else None)
        case.set("wtag", weights_tag(rng, nd) if rng.chance(80) else None)
        case.set("dtag", rng.pick(["any", "ab", "ab", "abx"]) if rng.chance(75) else None)
    if where.startswith("FWD"):
        forward_attrs(rng, case, types)
    attrs.fpmath(rng, case, types)
    attrs.deterministic(rng, case)
    attrs.scratchpad(rng, case)
    if mb and rng.chance(2):
        case.set("mb", mb)
    case.desc = ("" if mb == 2 and rng.chance(50) else f"mb{mb}") + f"ic{ic}" + (spatial.word(rng, "i", sp) if sp else "") + f"oc{oc}"
    if rng.chance(3):
        case.desc += f"n\"head{rng.below(1000)}\""
    case.note(f"{len(sp)}d")
    if mb == 0:
        case.note("zero")
    return case


REAL = [
    ("--dir=FWD_I", "mb1ic2048oc1000", 2_048_000),
    ("--dir=FWD_B", "mb1ic512ih7oc128", 3_211_264),
    ("--dir=FWD_I --dt=bf16", "mb16ic768oc768", 9_437_184),
    ("--dir=FWD_I --dt=u8:s8:f32", "mb16ic768oc768", 9_437_184),
    ("--dir=BWD_D", "mb16ic512oc512", 4_194_304),
    ("--dir=BWD_WB", "mb16ic512oc512", 4_194_304),
    # reductions of several dimensions within a word
    ("--dir=FWD_I --dt=bf16", "mb17ic1iw2oc3", 102),
    ("--dir=FWD_D --dt=s8", "mb17ic1iw2oc1", 34),
    ("--dir=FWD_D --dt=u8:s8:s32 --stag=acb", "mb17ic2iw2oc3", 204),
]
