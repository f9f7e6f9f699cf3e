"""eltwise, binary and prelu."""

from math import prod

from . import attrs
from .case import F8, FLOATS, INT8, Case, shape
from .tags import LETTERS, data_tag, random_tag, transposed

SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100]
# alg: list of (alpha, beta); None leaves the option out.
ELTWISE = {
    "relu": [(None, None), ("0", None), ("0.25", None), ("-0.5", None), ("2", None)], "tanh": [(None, None)],
    "elu": [("1", None), ("0.5", None), ("0", None), ("-0.5", None)], "square": [(None, None)], "abs": [(None, None)],
    "sqrt": [(None, None)], "linear": [("2", "1"), ("0.25", "0"), ("-1", "3"), ("0", "0.5")],
    "soft_relu": [("1", None), ("2", None), ("0.5", None), ("-1", None)],
    "hardsigmoid": [("0.2", "0.5"), ("1", "0"), ("-0.5", "1")], "logistic": [(None, None)], "exp": [(None, None)],
    "gelu_tanh": [(None, None)], "gelu_erf": [(None, None)], "swish": [("1", None), ("0.5", None), ("-1", None), ("0", None)],
    "log": [(None, None)], "clip": [("-1", "1"), ("0", "6"), ("0.5", "0.5"), ("-2.5", "3")],
    "clip_v2": [("-1", "1"), ("0", "6"), ("0.5", "0.5"), ("-2.5", "3")],
    "pow": [("1", "2"), ("0.5", "3"), ("2", "0"), ("1", "1"), ("-1", "2"), ("1", "-1"), ("1", "0.5"), ("2", "1.5")],
    "round": [(None, None)], "mish": [(None, None)], "hardswish": [("0.166667", "0.5"), ("1", "0"), ("-0.5", "1")],
}
FROM_DST = {
    "relu_dst": [("0", None), ("0.25", None)], "tanh_dst": [(None, None)], "elu_dst": [("1", None), ("0.5", None), ("0", None)],
    "sqrt_dst": [(None, None)], "logistic_dst": [(None, None)], "exp_dst": [(None, None)],
    "clip_v2_dst": [("-1", "1"), ("0", "6"), ("0.5", "0.75")],
}
# These stay finite on any integer.
FOR_INTEGERS = ["relu", "tanh", "elu", "square", "abs", "linear", "hardsigmoid", "logistic", "clip", "clip_v2", "hardswish",
                "gelu_erf", "swish", "soft_relu"]


def dims_for(rng, nd, limit):
    while True:
        dims = [rng.pick(SIZES) for _ in range(nd)] if nd < 7 else [rng.pick([1, 2, 3]) for _ in range(nd)]
        if prod(dims) <= limit:
            return dims


def size_limit(rng):
    return rng.weighted([(300, 20), (3_000, 36), (30_000, 34), (200_000, 10)])


def maybe_zero(rng, case, dims, percent=3):
    if rng.chance(percent):
        dims[rng.below(len(dims))] = 0
        case.note("zero")


def a_tag(rng, nd, with_any=False):
    if nd > 6:
        return rng.pick(["abx", transposed(rng, nd)])
    return random_tag(rng, nd) if rng.chance(12) else data_tag(rng, nd, with_any)


def rank(rng, biggest=12):
    nd = rng.weighted([(1, 8), (2, 22), (3, 18), (4, 28), (5, 16), (6, 5), (7, 1), (12, 1)])
    return min(nd, biggest)


def eltwise(rng):
    case = Case("eltwise")
    where = rng.weighted([("FWD_D", 40), ("FWD_I", 28), ("BWD_D", 32)])
    integer = where != "BWD_D" and rng.chance(20)
    if integer:
        dt, alg = rng.pick(["s8", "u8", "s32"]), rng.pick(FOR_INTEGERS)
    else:
        dt = rng.weighted([("f32", 45), ("bf16", 25), ("f16", 22), ("f64", 3)] + ([(t, 3) for t in F8] if where != "BWD_D" else []))
        names = list(ELTWISE) + list(FROM_DST)
        if where == "BWD_D":
            names = [n for n in names if n != "round"]
            names += list(FROM_DST)
        alg = rng.pick(names)
        if alg == "round":
            dt = "f32"
    alpha, beta = rng.pick((ELTWISE | FROM_DST)[alg])
    case.set("dir", where)
    case.set("dt", dt)
    nd = rank(rng)
    dims = dims_for(rng, nd, size_limit(rng))
    maybe_zero(rng, case, dims)
    can_drop = where != "BWD_D" and dt in FLOATS and 2 <= nd <= 5
    drop = can_drop and rng.chance(9)
    tag = LETTERS[:nd] if drop else a_tag(rng, nd)
    case.set("tag", tag if rng.chance(90) or drop else None)
    case.set("alg", alg)
    case.set("alpha", alpha)
    case.set("beta", beta)
    if rng.chance(30):
        in_place = rng.chance(60) and (where != "BWD_D" or alg in FROM_DST or rng.chance(50))
        case.set("inplace", "true" if in_place else "false")
    if drop:
        attrs.dropout(rng, case, tag)
    if where != "BWD_D" and dt != "f64" and rng.chance(28):
        case.attr("post-ops", attrs.chain(rng, nd, dt, "b", False, 3))
    attrs.scratchpad(rng, case)
    case.desc, case.macs = shape(dims), prod(dims)
    case.note(f"nd{nd}")
    return case


REAL_ELTWISE = [
    ("--dir=FWD_D --dt=f32 --tag=aBcd16b --alg=relu", "2x64x56x56", 401_408),
    ("--dir=FWD_I --dt=bf16 --tag=abx --alg=gelu_tanh", "8x128x768", 786_432),
    ("--dir=BWD_D --dt=f32 --tag=axb --alg=swish --alpha=1", "2x64x28x28", 100_352),
    ("--dir=FWD_I --dt=u8 --tag=axb --alg=relu", "2x256x28x28", 401_408),
]

BINARY = [a for a in attrs.BINARY for _ in (0, 1)] + ["div", "div", "select", "select"]


def broadcast(rng, dims):
    """Dims of the smaller source: 1 where it is broadcast."""
    kind = rng.weighted([("none", 30), ("channel", 18), ("all", 8), ("random", 32), ("inner", 12)])
    if kind == "none":
        return list(dims)
    if kind == "all":
        return [1] * len(dims)
    if kind == "channel":
        return [d if i == 1 else 1 for i, d in enumerate(dims)]
    if kind == "inner":
        return [1 if i < len(dims) // 2 else d for i, d in enumerate(dims)]
    return [d if rng.chance(50) else 1 for d in dims]


def binary(rng):
    case = Case("binary")
    alg = rng.pick(BINARY)
    every = [("f32", 40), ("bf16", 18), ("f16", 12), ("s8", 12), ("u8", 12), ("s32", 6)]
    a, b = rng.weighted(every), rng.weighted(every)
    if rng.chance(45):
        b = a
    d = a if rng.chance(55) else rng.weighted(every)
    nd = rank(rng)
    dims = dims_for(rng, nd, size_limit(rng))
    maybe_zero(rng, case, dims)
    small = broadcast(rng, dims)
    first_small = rng.chance(15) and small != dims
    dims_a, dims_b = (small, dims) if first_small else (dims, small)
    tag_a, tag_b = a_tag(rng, nd), a_tag(rng, nd, with_any=True)
    if rng.chance(30):
        tag_b = tag_a
    tag_d = rng.weighted([("any", 40), (tag_a, 35), (a_tag(rng, nd), 25)])
    in_place = dims_a == dims and d == a and rng.chance(25)
    case.set("alg", alg)
    third = alg == "select"
    case.set("sdt", a if a == b and not third and rng.chance(50) else ":".join([a, b] + (["s8"] if third else [])))
    case.set("ddt", d)
    case.set("stag", ":".join([tag_a, tag_b] + ([tag_a] if third else [])) if rng.chance(85) or third else None)
    case.set("dtag", tag_d if "stag" in case.options else None)
    if in_place:
        if "stag" in case.options:
            case.set("dtag", tag_a)
        case.set("inplace", "true")
    elif rng.chance(20):
        case.set("inplace", "false")
    scales = [attrs.common_scale(rng, arg) for arg in rng.subset(["src", "src1"], 60)] if rng.chance(28) else []
    case.attr("scales", scales)
    if rng.chance(42):
        case.attr("post-ops", attrs.chain(rng, nd, d, "ebs", a in INT8))
    attrs.scratchpad(rng, case)
    parts = [dims_a, dims_b] + ([dims] if third else [])
    case.desc, case.macs = ":".join(shape(p) for p in parts), prod(dims)
    case.note(f"nd{nd}")
    if small != dims:
        case.note("broadcast-first" if first_small else "broadcast")
    return case


REAL_BINARY = [
    ("--alg=add --sdt=f32 --ddt=f32 --stag=aBcd16b:aBcd16b", "2x64x56x56:2x64x56x56", 401_408),
    ("--alg=mul --sdt=bf16 --ddt=bf16", "8x128x768:1x1x768", 786_432),
    ("--alg=add --sdt=u8 --ddt=u8 --stag=axb:axb", "1x256x28x28:1x256x28x28", 200_704),
    # Each operand is repeated along a dimension of the other, and so may the condition be.
    ("--alg=sub --sdt=f32 --ddt=f32", "5x3x1x9:1x3x2x9", 270),
    ("--alg=select --sdt=f32 --ddt=f32", "5x3x1x9:1x3x2x9:5x3x1x9", 270),
    ("--alg=select --sdt=u8 --ddt=u8 --stag=axb:axb:axb", "5x3x1x9:1x3x2x9:1x3x2x9", 270),
    ("--alg=select --sdt=bf16 --ddt=bf16", "12x1:1x12:1x1", 144),
]


def prelu(rng):
    case = Case("prelu")
    where = rng.weighted([("FWD_D", 32), ("FWD_I", 26), ("BWD_DW", 42)])
    kinds = [("f32", 45), ("bf16", 22), ("f16", 16)] + ([("s32", 5), ("s8", 6), ("u8", 6)] if where != "BWD_DW" else [])
    src = rng.weighted(kinds)
    wei = src if rng.chance(70) else rng.weighted(kinds)
    nd = rng.weighted([(1, 6), (2, 22), (3, 22), (4, 32), (5, 18)])
    dims = dims_for(rng, nd, size_limit(rng))
    maybe_zero(rng, case, dims, 2)
    small = broadcast(rng, dims)
    case.set("dir", where)
    case.set("sdt", src if src == wei and rng.chance(50) else f"{src}:{wei}")
    tag = data_tag(rng, nd)
    case.set("stag", rng.weighted([(f"{tag}:any", 40), (f"{tag}:{tag}", 25), (f"{tag}:{data_tag(rng, nd)}", 25), ("", 10)]))
    attrs.scratchpad(rng, case)
    case.desc, case.macs = f"{shape(dims)}:{shape(small)}", prod(dims)
    case.note(f"nd{nd}")
    if small != dims:
        case.note("broadcast")
    return case


REAL_PRELU = [
    ("--dir=FWD_I --sdt=f32 --stag=axb:any", "2x64x28x28:1x64x1x1", 100_352),
]
