"""conv and deconv."""

from math import prod

from . import attrs, spatial
from .case import CHANNELS, F8, FLOATS, INT8, Case
from .tags import conv_weights_tag, data_tag

FORWARD = [
    (["f32", "f32", "f32"], 30), (["f32", "f32", "s8"], 1), (["f32", "f32", "u8"], 1),
    (["f32", "bf16", "f32"], 1), (["f32", "f16", "f32"], 1),
    (["bf16", "bf16", "bf16"], 10), (["bf16", "bf16", "f32"], 6), (["bf16", "bf16", "u8"], 1), (["bf16", "bf16", "s8"], 1),
    (["f16", "f16", "f16"], 7), (["f16", "f16", "f32"], 4), (["f16", "f16", "u8"], 1), (["f16", "f16", "s8"], 1),
    (["f64", "f64", "f64"], 1), (["f4_e2m1", "f4_e2m1", "f32"], 1), (["f4_e2m1", "f4_e2m1", "bf16"], 1),
] + [([s, "s8", d], 3) for s in INT8 for d in ("u8", "s8", "s32", "f32", "bf16", "f16")] + [
    ([s, s, d], 1) for s in F8 for d in (s, "f32", "bf16", "f16")] + [
    (["f8_e5m2", "f8_e4m3", "f32"], 1), (["f8_e4m3", "f8_e5m2", "f8_e4m3"], 1)]
BACKWARD_DATA = [
    (["f32", "f32", "f32"], 12), (["bf16", "bf16", "bf16"], 5), (["f32", "bf16", "bf16"], 3), (["f16", "f16", "f16"], 3),
    (["f32", "f16", "f16"], 2), (["f8_e5m2", "f8_e5m2", "f8_e5m2"], 1), (["f8_e4m3", "f8_e4m3", "f8_e4m3"], 1),
    (["f64", "f64", "f64"], 1)]
BACKWARD_WEIGHTS = [
    (["f32", "f32", "f32"], 12), (["bf16", "bf16", "bf16"], 5), (["bf16", "f32", "bf16"], 3), (["f16", "f16", "f16"], 3),
    (["f16", "f32", "f16"], 2), (["f8_e5m2", "f32", "f8_e5m2"], 1), (["f8_e4m3", "f8_e4m3", "f8_e4m3"], 1),
    (["f64", "f64", "f64"], 1)]


def types_for(rng, direction):
    table = {"BWD_D": BACKWARD_DATA, "BWD_W": BACKWARD_WEIGHTS, "BWD_WB": BACKWARD_WEIGHTS}.get(direction, FORWARD)
    return rng.weighted(table)


def bias_types(src, backward=False):
    if src == "f64":
        return ["f64"]
    if src in INT8:
        return ["f32", "bf16", "f16", "s32", "s8", "u8"]
    return ["f32", src] if src in FLOATS else ["f32"]


def set_types(rng, case, direction, types):
    case.set("dir", direction)
    case.set("dt", types[0] if len(set(types)) == 1 and rng.chance(70) else ":".join(types))
    has_bias = direction in ("FWD_B", "BWD_WB")
    if types[0] == "f64":
        case.set("bia-dt", "f64" if has_bias else None)
    elif has_bias:
        case.set("bia-dt", rng.pick(bias_types(types[0])) if rng.chance(60) else None)
    elif direction == "FWD_I" and rng.chance(50):
        case.set("bia-dt", rng.pick(bias_types(types[0])))


def channels(rng):
    """(groups, ic, oc)"""
    kind = rng.weighted([("one", 68), ("depthwise", 16), ("groups", 16)])
    if kind == "one":
        return 1, rng.pick(CHANNELS), rng.pick(CHANNELS)
    if kind == "depthwise":
        g = rng.pick([2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100])
        return g, g, g * rng.weighted([(1, 85), (2, 15)])
    g = rng.pick([2, 3, 4, 8, 16])
    return g, g * rng.pick([1, 2, 3, 4, 8, 16]), g * rng.pick([1, 2, 3, 5, 8, 16])


def quantise(rng, case, types, deconv):
    """Scales and zero points of int8 and f8 problems. The destination of a deconvolution takes mask 0 only."""
    src, _, dst = types
    scales, points = [], []
    if rng.chance(55):
        scales.append(attrs.common_scale(rng, "src"))
    if rng.chance(60):
        scales.append(rng.pick(["wei:per_oc", "wei:per_oc", "wei:per_oc:f32", attrs.common_scale(rng, "wei")]))
    if rng.chance(35):
        per_oc = not deconv and rng.chance(25) and src in INT8
        scales.append("dst:per_oc" if per_oc else attrs.common_scale(rng, "dst"))
    if src in INT8:
        if rng.chance(30):
            points.append(rng.pick(["src:common:1", "src:common:2", "src:common:-3", "src:per_oc"]))
        if not deconv and rng.chance(4):
            points.append("wei:common:1")
        if dst in ("s8", "u8") and rng.chance(30):
            points.append(rng.pick(["dst:common:1", "dst:common:4", "dst:per_oc"]))
    case.attr("scales", scales)
    case.attr("zero-points", points)


def forward_attrs(rng, case, types, nd, deconv):
    src, _, dst = types
    quantised = src in INT8 or src in F8
    if quantised and rng.chance(75):
        quantise(rng, case, types, deconv)
    if src != "f64" and rng.chance(42):
        case.attr("post-ops", attrs.chain(rng, nd, dst, "ebsp", src in INT8))
    attrs.fpmath(rng, case, types)
    attrs.acc_mode(rng, case, src)
    attrs.deterministic(rng, case)
    if not deconv:
        attrs.stochastic(rng, case, dst, 8)
    attrs.scratchpad(rng, case)


def finish(rng, case, direction, types, nd, deconv):
    if direction.startswith("FWD"):
        forward_attrs(rng, case, types, nd, deconv)
    else:
        attrs.fpmath(rng, case, types)
        if not deconv:
            attrs.acc_mode(rng, case, types[0])
        attrs.deterministic(rng, case, 15)
        attrs.scratchpad(rng, case)


def layouts(rng, case, spatial_dims, g, depthwise):
    if rng.chance(20):
        return
    case.set("stag", data_tag(rng, 2 + spatial_dims, with_any=True) if rng.chance(75) else None)
    case.set("wtag", conv_weights_tag(rng, spatial_dims, g > 1, depthwise) if rng.chance(75) else None)
    case.set("dtag", data_tag(rng, 2 + spatial_dims, with_any=True) if rng.chance(75) else None)


def budget(rng):
    return rng.weighted([(60_000, 24), (600_000, 38), (3_000_000, 30), (10_000_000, 8)])


def describe(rng, g, mb, ic, oc, dims, outs, implied):
    head = (f"g{g}" if g > 1 else "") + ("" if mb == 2 and rng.chance(50) else f"mb{mb}")
    text = head + f"ic{ic}" + spatial.word(rng, "i", [d[0] for d in dims]) + f"oc{oc}"
    if outs != implied or rng.chance(40):
        text += spatial.word(rng, "o", outs)
    text += spatial.word(rng, "k", [d[1] for d in dims], 1 if rng.chance(50) else None)
    text += spatial.word(rng, "s", [d[2] for d in dims], 1)
    text += spatial.word(rng, "p", [d[4] for d in dims], 0)
    text += spatial.word(rng, "d", [d[3] for d in dims], 0)
    return text


def notes(case, rng, spatial_dims, g, ic, oc, dims, mb):
    case.note(f"{spatial_dims}d")
    if g > 1:
        case.note("depthwise" if g == ic == oc else "groups", f"{spatial_dims}d.groups")
    if mb == 0:
        case.note("zero")
    for what, hit in (("dilation", any(d[3] for d in dims)), ("stride", any(d[2] > 1 for d in dims)),
                      ("asymmetric", any(d[4] != d[5] for d in dims)), ("pointwise", all(d[1] == 1 for d in dims))):
        if hit:
            case.note(what)


def direction(rng):
    return rng.weighted([("FWD_B", 32), ("FWD_D", 12), ("FWD_I", 22), ("BWD_D", 16), ("BWD_W", 8), ("BWD_WB", 10)])


def geometry(rng, spatial_dims):
    biggest = {1: 60, 2: 22, 3: 9}[spatial_dims]
    kernels = {1: [1, 2, 3, 3, 5, 7, 9], 2: [1, 1, 2, 3, 3, 3, 3, 5, 7], 3: [1, 2, 3, 3]}[spatial_dims]
    if rng.chance(18):
        kernels = [1]
    return spatial.draw_window(rng, spatial_dims, kernels, biggest)


def conv(rng):
    if rng.chance(4):
        return fused_depthwise(rng)
    case, where = Case("conv"), direction(rng)
    types = types_for(rng, where)
    set_types(rng, case, where, types)
    limit = budget(rng)
    n = rng.weighted([(1, 20), (2, 62), (3, 18)])
    while True:
        (g, ic, oc), dims = channels(rng), geometry(rng, n)
        mb = rng.weighted([(0, 2), (1, 40), (2, 40), (3, 12), (4, 5), (7, 1)])
        outs = [spatial.conv_out(d) for d in dims]
        case.macs = mb * oc * (ic // g) * prod(outs) * prod(d[1] for d in dims)
        if case.macs <= limit:
            break
    if types[0].startswith("f4"):
        g, ic, oc = 1, ic + ic % 2 if g == 1 else 16, oc + oc % 2 if g == 1 else 16
        dims = [(d[0] + d[0] % 2, *d[1:]) for d in dims]
        outs = [spatial.conv_out(d) for d in dims]
    else:
        layouts(rng, case, n, g, g == ic == oc)
    winograd = all(d[1:4] == (3, 1, 0) for d in dims) and n == 2 and g == 1
    case.set("alg", rng.weighted([(None, 80), ("direct", 8), ("auto", 12)]))
    if winograd and types == ["f32"] * 3 and rng.chance(50):
        case.set("alg", "wino")
    finish(rng, case, where, types, 2 + n, False)
    implied = [spatial.conv_out((*d[:5], d[4])) for d in dims]
    if mb and rng.chance(2):
        case.set("mb", mb)
    case.desc = describe(rng, g, mb, ic, oc, dims, outs, implied)
    if rng.chance(3):
        case.desc += f"n\"case{rng.below(1000)}\""
    notes(case, rng, n, g, ic, oc, dims, mb)
    return case


def fused_depthwise(rng):
    """A 1x1 convolution followed by a depthwise one in its post-ops."""
    case = Case("conv")
    where = rng.pick(["FWD_B", "FWD_D", "FWD_I"])
    types, dw_types = rng.pick([
        (["f32"] * 3, ["f32"]), (["bf16"] * 3, ["bf16", "f32"]), (["u8", "s8", "u8"], ["u8", "s8", "s32", "f32"]),
        (["s8", "s8", "u8"], ["s8", "f32"]), (["u8", "s8", "s8"], ["s8", "f32"])])
    set_types(rng, case, where, types)
    if types[0] in INT8 and "bia-dt" in case.options:  # the depthwise bias has this type too
        case.set("bia-dt", rng.pick(["f32", "s32"]))
    ic, oc, size = rng.pick([3, 8, 16, 17, 32, 48]), rng.pick([8, 16, 32, 33, 48]), rng.between(3, 13)
    window = rng.weighted([("k3s1p1", 5), ("k3s2p1", 5), ("k5s1p2", 1), ("k3s1p0", 1)])
    entries = attrs.eltwise_entries(rng) if rng.chance(50) else []
    entries.append(f"dw:{window}:{rng.pick(dw_types)}")
    if rng.chance(50):
        entries += attrs.eltwise_entries(rng)
    case.attr("post-ops", entries)
    if types[0] in INT8 and rng.chance(50):
        case.attr("scales", ["src:common:0.5", "wei:per_oc"])
    attrs.scratchpad(rng, case)
    if rng.chance(40):
        case.set("stag", rng.pick(["axb", "aBx16b", "any"]))
        case.set("dtag", rng.pick(["axb", "aBx16b", "any"]))
    mb = rng.pick([1, 2, 3])
    case.desc = f"mb{mb}ic{ic}ih{size}oc{oc}kh1" + rng.pick(["", "ph0", f"oh{size}"])
    case.macs = mb * oc * size * size * (ic + 25)
    case.note("2d", "fused-dw")
    return case


def deconv_out(dim):
    i, k, s, dil, left, right = dim
    return (i - 1) * s + spatial.reach(k, dil) - left - right


def deconv(rng):
    case, where = Case("deconv"), direction(rng)
    types = types_for(rng, where)
    set_types(rng, case, where, types)
    limit = budget(rng)
    n = rng.weighted([(1, 22), (2, 58), (3, 20)])
    while True:
        (g, ic, oc), dims = channels(rng), geometry(rng, n)
        dims = [(max(1, d[0] // d[2]), *d[1:]) for d in dims]
        if rng.chance(12):  # output padding: pad_r below zero, yet above -stride
            dims = [(*d[:5], -rng.below(d[2])) for d in dims]
        mb = rng.weighted([(0, 2), (1, 40), (2, 40), (3, 12), (4, 6)])
        outs = [deconv_out(d) for d in dims]
        case.macs = mb * oc * (ic // g) * prod(d[0] for d in dims) * prod(d[1] for d in dims)
        if case.macs <= limit and min(outs) >= 1 and mb * oc * prod(outs) < 200_000:
            break
    if types[0].startswith("f4"):
        types = ["f32"] * 3
        case.set("dt", "f32")
        case.options.pop("bia-dt", None)
    layouts(rng, case, n, g, g == ic == oc)
    case.set("alg", rng.weighted([(None, 85), ("direct", 15)]))
    finish(rng, case, where, types, 2 + n, True)
    implied = [deconv_out((*d[:5], d[4])) for d in dims]
    if mb and rng.chance(2):
        case.set("mb", mb)
    case.desc = describe(rng, g, mb, ic, oc, dims, outs, implied)
    notes(case, rng, n, g, ic, oc, dims, mb)
    if any(d[5] < 0 for d in dims):
        case.note("output-padding")
    return case


REAL_CONV = [
    # head layers of image networks, scaled down in batch; (options, descriptor, macs)
    ("--dir=FWD_B", "mb1ic3ih56oc32oh28kh7sh2ph3", 3_687_936),
    ("--dir=FWD_I --stag=axb --dtag=axb", "mb1ic64ih14oc64kh3ph1", 7_225_344),
    ("--dir=FWD_I --dt=bf16", "mb1ic128ih14oc256kh1", 6_422_528),
    ("--dir=FWD_I --dt=u8:s8:u8", "mb1ic256ih7oc256kh1", 3_211_264),
    ("--dir=FWD_I --dt=u8:s8:u8 --attr-post-ops=relu", "g256mb1ic256ih14oc256kh3ph1", 451_584),
    ("--dir=FWD_B --dt=f16", "mb1ic64iw1500oc64kw3pw1", 18_432_000),
    ("--dir=BWD_D", "mb1ic64ih14oc64kh3ph1", 7_225_344),
    ("--dir=BWD_WB", "mb2ic64ih14oc64kh3ph1", 14_450_688),
    ("--dir=BWD_WB --dt=bf16", "mb2ic64ih14oc64kh3ph1", 14_450_688),
    ("--dir=FWD_B", "mb1ic16id8ih14oc32kd3kh3pd1ph1", 21_676_032),
    ("--dir=FWD_I --alg=auto", "mb1ic3ih32oc48oh8kh4sh4", 147_456),
    # reductions in several parts, of more taps than lists of one part have room for
    ("--dir=FWD_D --stag=axb --dtag=axb", "mb1ic160ih16oc17kh7ph3", 34_119_680),
    ("--dir=FWD_D --dt=u8:s8:f32 --stag=axb --dtag=axb", "mb1ic512ih13oc1kh7ph3", 4_239_872),
    ("--dir=BWD_D", "mb1ic20id7ih7oc128kd3kh3", 8_640_000),
    # empty reductions
    ("--dir=FWD_I", "mb2ic0ih8oc4kh3ph1", 0),
    ("--dir=FWD_B --dt=bf16 --attr-post-ops=relu", "mb2ic0ih8oc4kh3ph1", 0),
    ("--dir=FWD_B --dt=u8:s8:f32", "mb2ic0ih8oc4kh3ph1", 0),
    ("--dir=BWD_D", "mb1ic5iw5oc0kw2", 0),
]
REAL_DECONV = [
    ("--dir=FWD_B", "mb1ic64ih7oc32oh14kh4sh2ph1", 1_605_632),
    ("--dir=FWD_I --dt=u8:s8:f32", "mb1ic64ih14oc21oh28kh4sh2ph1", 4_214_784),
    ("--dir=BWD_D", "mb1ic32ih14oc16oh28kh4sh2ph1", 1_605_632),
    ("--dir=BWD_WB", "mb1ic32ih14oc16oh28kh4sh2ph1", 1_605_632),
    # empty reductions
    ("--dir=FWD_B", "mb2ic0ih8oc4kh3ph1", 0),
    ("--dir=BWD_D", "mb1ic5iw5oc0kw2", 0),
]
