"""Attributes that many drivers share: post-op chains, scratchpad, math modes, dropout, rounding."""

from .case import BYTES, SUB_BYTE

# (alg, [parameters]); values that keep a chain finite.
SAFE_ELTWISE = [
    ("relu", ["", ":0.5", ":0.1", ":2"]), ("tanh", [""]), ("elu", [":1", ":0.5"]), ("square", [""]), ("abs", [""]),
    ("linear", [":2:1", ":0.5", ":-0.25:3", ":1:-1"]), ("soft_relu", [":1", ":2", ":-1"]),
    ("hardsigmoid", [":0.2:0.5", ":1:0"]), ("logistic", [""]), ("gelu_tanh", [""]), ("gelu_erf", [""]),
    ("swish", [":1", ":0.5", ":2"]), ("clip", [":-1:1", ":0:6", ":-3:2.5"]), ("clip_v2", [":-1:1", ":0:6", ":2:2"]),
    ("round", [""]), ("mish", [""]), ("hardswish", [":0.166667:0.5", ":1:0"]),
]
# These overflow or leave the domain on a free argument, so the chain bounds it first.
GUARDED_ELTWISE = [
    ["clip:-4:3", "exp"], ["abs", "sqrt"], ["abs+linear:1:1", "log"], ["clip:-8:8", "pow:0.5:2"],
    ["clip:-8:8", "pow:1:3"], ["clip:0:100", "pow:2:0.5"], ["clip:-2:2", "pow:1:0"], ["square+linear:1:0.5", "pow:1:-1"],
]
BINARY = ["add", "mul", "max", "min", "sub", "ge", "gt", "le", "lt", "eq", "ne"]


def eltwise_entries(rng):
    if rng.chance(22):
        return "+".join(rng.pick(GUARDED_ELTWISE)).split("+")
    alg, params = rng.pick(SAFE_ELTWISE)
    return [alg + rng.pick(params)]


def policies(nd):
    """Names of masks that exist for a tensor of nd dims."""
    names = ["common", "per_tensor", "per_dim_0"]
    if nd > 1:
        names += ["per_oc", "per_oc", "per_oc", "per_dim_1", "per_dim_01"]
    if nd > 2:
        names += ["per_dim_2", "per_dim_02", "per_dim_12"]
    if nd > 3:
        names += ["per_dim_3"]
    return names


def mask_word(rng, nd):
    return rng.pick(policies(nd)) if rng.chance(75) else str(rng.below(1 << nd))


def binary_entry(rng, nd, dst_dt):
    alg = rng.pick(BINARY)
    if dst_dt in ("f32", "bf16", "f16") and rng.chance(10):
        alg = "div"
    elif rng.chance(5):
        alg = "select"
    entry = f"{alg}:{rng.weighted([('f32', 10), ('bf16', 4), ('f16', 2), ('s8', 3), ('u8', 3), ('s32', 2)])}"
    if rng.chance(85):
        entry += ":" + mask_word(rng, nd)
        if nd > 1 and rng.chance(30):
            entry += ":" + rng.pick(["any", "abx", "axb" if nd > 2 else "ba"])
    return entry


def sum_entry(rng, dst_dt, int8, sum_dt):
    scale = rng.pick(["1", "0.5", "2", "0.25", "-1"])
    if sum_dt:
        return f"sum:{scale}:{rng.pick([0, 1, 3]) if int8 else 0}:{sum_dt}"
    if int8 and dst_dt in ("s8", "u8", "s32") and rng.chance(30):
        return f"sum:{scale}:{rng.pick([1, 2, 5])}"
    return rng.weighted([("sum", 4), (f"sum:{scale}", 6)])


def chain(rng, nd, dst_dt, kinds="ebsp", int8=False, longest=5):
    """A list of post-op entries. `kinds`: e eltwise, b binary, s sum, p prelu. All sums share one type."""
    if dst_dt in SUB_BYTE or dst_dt == "f64":
        kinds = kinds.replace("s", "")
    other = {"s8": "u8", "u8": "s8"}.get(dst_dt)
    sum_dt = other if int8 and other and rng.chance(30) else None
    length = rng.weighted([(1, 45), (2, 30), (3, 15), (4, 7), (5, 3)])
    entries = []
    while len(entries) < min(length, longest):
        kind = rng.weighted([(k, w) for k, w in (("e", 40), ("b", 32), ("s", 18), ("p", 10)) if k in kinds])
        if kind == "e":
            entries += eltwise_entries(rng)
        elif kind == "b":
            entries.append(binary_entry(rng, nd, dst_dt))
        elif kind == "s":
            entries.append(sum_entry(rng, dst_dt, int8, sum_dt))
        else:
            entries.append("prelu" + (":" + mask_word(rng, nd) if rng.chance(75) else ""))
    return entries


def fpmath(rng, case, types, percent=15):
    """An implicit down-conversion permission; it means something for f32 only, but is legal for any."""
    if "f32" in types and rng.chance(percent):
        case.attr("fpmath", rng.pick(["strict", "bf16", "f16", "tf32", "any"]))


def acc_mode(rng, case, src_dt, percent=10):
    if rng.chance(percent):
        modes = ["strict", "relaxed", "any", "f32"]
        if src_dt in ("s8", "u8"):
            modes = ["strict", "relaxed", "any", "s32"]
        elif src_dt == "f16":
            modes.append("f16")
        case.attr("acc-mode", rng.pick(modes))


def scratchpad(rng, case, percent=18):
    if rng.chance(percent):
        case.attr("scratchpad", rng.pick(["user", "user", "library"]))


def deterministic(rng, case, percent=6):
    if rng.chance(percent):
        case.attr("deterministic", "true")


def stochastic(rng, case, dst_dt, percent=12):
    if dst_dt in BYTES and dst_dt in ("bf16", "f16", "f8_e5m2", "f8_e4m3") and rng.chance(percent):
        case.attr("rounding-mode", "dst:stochastic" + rng.pick(["", ":7", ":12345"]))


def dropout(rng, case, tag):
    """`tag`: the plain layout of the destination, which the mask must repeat."""
    word = rng.pick(["0.5", "0.25", "0.1", "0.75", "0", "1"])
    depth = rng.below(4)
    if depth > 0:
        word += f":{rng.pick([1, 777, 12345678])}"
    if depth > 1:
        word += f":{tag}"
    if depth > 2:
        word += f":{rng.pick([0, 16, 1000003])}"
    case.attr("dropout", word)


VALUES = ["0.5", "0.25", "2", "0.125", "4", "1"]


def common_scale(rng, arg):
    return f"{arg}:common:{rng.pick(VALUES)}"
