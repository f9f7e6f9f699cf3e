"""matmul: dense, quantised, decompressed, low-precision, batched, strided, run-time sized and sparse."""

from math import prod

from . import attrs
from .case import BYTES, F8, FLOATS, INT8, SUB_BYTE, Case, shape
from .tags import LETTERS

INTS = ["s8", "u8", "s4", "u4"]
F4 = ["f4_e2m1"]
SIZES = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 200, 256, 300]
THEMES = [("float", 34), ("int8", 22), ("decompress", 19), ("low", 9), ("runtime", 9), ("sparse", 4), ("double", 1), ("packed", 1)]
FLOAT = [
    (["f32"] * 3, 24), (["bf16"] * 3, 9), (["bf16", "bf16", "f32"], 6), (["f16"] * 3, 7), (["f16", "f16", "f32"], 4),
    (["f16", "f16", "s8"], 1), (["f16", "f16", "u8"], 1), (["f32", "bf16", "f32"], 1), (["f32", "f16", "f32"], 1)]


def tail_tag(rng, nd, transpose):
    """A plain tag of nd dims; `transpose` swaps the last two. Batch dims may be permuted."""
    letters = list(LETTERS[:nd])
    if transpose:
        letters[-1], letters[-2] = letters[-2], letters[-1]
    elif nd == 3 and rng.chance(12):
        letters = ["b", "a", "c"]
    elif nd == 4 and rng.chance(12):
        letters = ["a", "c", "b", "d"]
    tag = "".join(letters)
    return "abx" if tag == LETTERS[:nd] and rng.chance(50) else tag


def blocked_weights(rng, nd):
    letters = list(LETTERS[:nd])
    k, n = letters[-2], letters[-1]
    inner = rng.pick([f"16{k}64{n}", f"16{k}32{n}", f"16{k}16{n}", f"16{k}48{n}", f"16{k}64{n}2{k}", f"16{k}32{n}4{k}", f"16{k}64{n}4{k}"])
    return "".join(letters[:-2]) + (n + k).upper() + inner


class Problem:
    """The sizes of one product and the options that depend on them."""

    def __init__(self, rng, types, limit, k_sizes=None):
        self.types = types
        even = any(t in SUB_BYTE for t in types)
        while True:
            self.nd = rng.weighted([(2, 56), (3, 26), (4, 12), (5, 4), (6, 1), (12, 1)])
            self.m, self.n = rng.pick(SIZES), rng.pick(SIZES)
            self.k = rng.pick(k_sizes or SIZES)
            if rng.chance(10):
                self.m = 1
            if rng.chance(6):
                self.n = 1
            if even:
                self.m, self.n, self.k = (v + v % 2 for v in (self.m, self.n, self.k))
            self.batch = [rng.pick([1, 2, 3, 4, 5]) for _ in range(self.nd - 2)]
            if self.nd > 6:
                self.batch = [1 if rng.chance(70) else 2 for _ in self.batch]
            self.macs = prod(self.batch) * self.m * self.n * self.k
            if self.macs <= limit:
                break
        self.src_batch, self.wei_batch = list(self.batch), list(self.batch)
        if self.nd > 2 and rng.chance(40):
            side = rng.pick([self.wei_batch, self.wei_batch, self.src_batch])
            for i in range(self.nd - 2):
                if rng.chance(70):
                    side[i] = 1
            if self.nd > 3 and rng.chance(25):  # both sides broadcast, in different dims
                self.src_batch, self.wei_batch = list(self.batch), list(self.batch)
                self.src_batch[0], self.wei_batch[1] = 1, 1

    def src(self):
        return [*self.src_batch, self.m, self.k]

    def wei(self):
        return [*self.wei_batch, self.k, self.n]

    def dst(self):
        return [*self.batch, self.m, self.n]

    def desc(self, rng):
        parts = [self.src(), self.wei()] + ([self.dst()] if rng.chance(25) else [])
        return ":".join(shape(p) for p in parts)

    def src_mask(self, what):
        return {"m": 1 << (self.nd - 2), "k": 2 << (self.nd - 2), "mk": 3 << (self.nd - 2)}[what]

    def wei_mask(self, what):
        return {"k": 1 << (self.nd - 2), "n": 2 << (self.nd - 2), "kn": 3 << (self.nd - 2)}[what]


def bias(rng, case, p, choices, percent=45):
    if not rng.chance(percent):
        return
    case.set("bia-dt", rng.pick(choices))
    n_only = 1 << (p.nd - 1)
    m_only = 1 << (p.nd - 2)
    case.set("bia-mask", rng.weighted([(n_only, 60), (n_only | m_only, 12), (m_only, 6), (0, 4), (rng.below(1 << p.nd), 18)]))


def layouts(rng, case, p):
    if rng.chance(12):
        return
    whole_bytes = all(t not in SUB_BYTE for t in p.types)
    if whole_bytes and rng.chance(14) and p.m * p.n * p.k > 0:
        return strides(rng, case, p)
    if rng.chance(75):
        case.set("stag", rng.weighted([("any", 25), (tail_tag(rng, p.nd, False), 45), (tail_tag(rng, p.nd, True), 30)]))
    if rng.chance(80):
        table = [("any", 30), (tail_tag(rng, p.nd, False), 35), (tail_tag(rng, p.nd, True), 30)]
        if p.nd < 5 and whole_bytes:
            table.append((blocked_weights(rng, p.nd), 16))
        case.set("wtag", rng.weighted(table))
    if rng.chance(65):
        case.set("dtag", rng.weighted([("any", 35), (tail_tag(rng, p.nd, False), 65)]))


def padded_strides(rng, dims, order):
    """Strides of a tensor whose memory order is `order` (outermost first), with gaps."""
    out, step = [0] * len(dims), 1
    for axis in reversed(order):
        out[axis] = step
        step *= max(dims[axis], 1)
        if rng.chance(35):
            step += rng.pick([1, 3, 5, 8, 16])
    return shape(out)


def strides(rng, case, p):
    words = []
    for dims, may_swap in ((p.src(), True), (p.wei(), True), (p.dst(), False)):
        order = list(range(p.nd))
        if may_swap and rng.chance(35):
            order[-1], order[-2] = order[-2], order[-1]
        words.append(padded_strides(rng, dims, order) if rng.chance(70) else "")
    if not any(words):
        words[0] = padded_strides(rng, p.src(), list(range(p.nd)))
    for key, word in zip(("stag", "wtag", "dtag"), words):
        case.set(key, "abx" if not word else None)
    case.set("strides", ":".join(words))


def group_word(g, along_first):
    return f"{g}x1" if along_first else f"1x{g}"


def full_mask(rng, p, mask):
    """Mask `mask` as the grammar writes it: a policy name where one fits."""
    if p.nd == 2 and mask == 3:
        return rng.pick(["per_tensor", "per_dim_01", "3", "per_tensor"])
    if p.nd == 2:
        return rng.pick([{1: "per_dim_0", 2: "per_dim_1"}[mask], str(mask)])
    return str(mask)


def weights_scale(rng, p, groups, narrow):
    kind = rng.weighted([("common", 22), ("n", 40), ("grouped", 38 if groups else 0)])
    if kind == "common":
        return f"wei:common:{rng.pick(attrs.VALUES)}" + rng.pick(["", "", ":f32", ":bf16", ":f16"]), None
    types = ["f32", "bf16", "f16"] + (["e8m0", "f8_e4m3"] if narrow else [])
    if kind == "n":
        policy = rng.pick(["per_oc", full_mask(rng, p, p.wei_mask("n"))])
        return f"wei:{policy}" + rng.pick(["", ":" + rng.pick(types)]), None
    g = rng.pick(groups)
    policy = "per_tensor" if p.nd > 2 and rng.chance(30) else full_mask(rng, p, p.wei_mask("kn"))
    return f"wei:{policy}:{rng.pick(types)}:{group_word(g, True)}", g


def source_scale(rng, p, wei_group):
    kind = rng.weighted([("common", 55), ("m", 22), ("grouped", 23 if wei_group else 0)])
    if kind == "common":
        return f"src:common:{rng.pick(attrs.VALUES)}" + rng.pick(["", "", ":bf16", ":f16"])
    if kind == "m":
        return f"src:{full_mask(rng, p, p.src_mask('m'))}:{rng.pick(['f32', 'f16', 'bf16'])}"
    return f"src:{full_mask(rng, p, p.src_mask('mk'))}:{rng.pick(['f32', 'f16', 'bf16'])}:{group_word(wei_group, False)}"


def destination_scale(rng, p):
    if rng.chance(75):
        return f"dst:common:{rng.pick(attrs.VALUES)}"
    return "dst:" + full_mask(rng, p, rng.pick([1 << (p.nd - 1), 1 << (p.nd - 2), 3 << (p.nd - 2)]))


def weights_zero_point(rng, p, g):
    packed = p.types[1] in ("s4", "u4")
    types = ["s32", "s8", "u8"]
    kind = rng.weighted([("common", 35), ("n", 35), ("grouped", 60 if g else 0)])
    if kind == "common":
        return f"wei:common:{rng.pick([1, 2, 3, 7])}" + rng.pick(["", ":s32", ":s8", ":u8"])
    types += ["s4", "u4"] if p.n % 2 == 0 else []
    own = [p.types[1]] if packed and p.n % 2 == 0 else []
    if kind == "n":
        return f"wei:{rng.pick(['per_oc', full_mask(rng, p, p.wei_mask('n'))])}:{rng.pick(types + own)}"
    return f"wei:{full_mask(rng, p, p.wei_mask('kn'))}:{rng.pick(types + own)}:{group_word(g, True)}"


def k_groups(p, at_least=16):
    return [g for g in (16, 32, 48, 64, 128) if g >= at_least and p.k % g == 0 and p.k > 0]


def quantise_int8(rng, case, p):
    scales, points, g = [], [], None
    if rng.chance(70):
        entry, g = weights_scale(rng, p, k_groups(p), False)
        scales.append(entry)
    if rng.chance(55):
        scales.append(source_scale(rng, p, g))
    if rng.chance(40):
        scales.append(destination_scale(rng, p))
    wei_point = rng.chance(32)
    wide = g if g and g % 32 == 0 else None
    if rng.chance(35):
        entry = f"src:common:{rng.pick([1, 2, 5, 128])}" + rng.pick(["", "", ":s32", ":u8"])
        if wide and p.nd == 2 and rng.chance(30):
            entry = f"src:per_tensor:{rng.pick(['s32', 's8', 'u8'])}:{group_word(wide, False)}"
        points.append(entry)
    if wei_point:
        points.append(weights_zero_point(rng, p, g))
    if p.types[2] in INT8 and rng.chance(35):
        points.append(rng.pick(["dst:common:1", "dst:common:10", "dst:per_dim_1" if p.nd == 2 else "dst:common:3"]))
    case.attr("scales", scales)
    case.attr("zero-points", points)
    if wei_point and p.nd == 2 and p.k > 0 and p.k % 32 == 0 and rng.chance(75):
        case.attr("precomputed-reductions", f"src:per_tensor:s32:1x{wide or p.k}")


def quantise_weights(rng, case, p):
    """Decompression: integer weights under a floating-point product."""
    scales, points, g = [], [], None
    groups = k_groups(p)
    if rng.chance(85):
        entry, g = weights_scale(rng, p, groups, True)
        scales.append(entry)
    if rng.chance(55):
        points.append(weights_zero_point(rng, p, g or (rng.pick(groups) if groups and not scales else None)))
    case.attr("scales", scales)
    case.attr("zero-points", points)


def zero_size(rng, p):
    """An empty M or N; a dim of the batch may not be empty."""
    if rng.chance(50):
        p.m = 0
    else:
        p.n = 0
    p.macs = 0


def common_attrs(rng, case, p, int8, kinds="ebsp", percent=42):
    src, _, dst = p.types
    if rng.chance(percent) and dst not in SUB_BYTE:
        case.attr("post-ops", attrs.chain(rng, p.nd, dst, kinds, int8))
    attrs.acc_mode(rng, case, src, 8)
    attrs.deterministic(rng, case, 4)
    attrs.stochastic(rng, case, dst, 10)
    attrs.scratchpad(rng, case)


def with_dropout(rng, case, p):
    if p.types[2] in FLOATS and "strides" not in case.options and rng.chance(7):
        tag = LETTERS[: p.nd]
        case.set("dtag", tag)
        attrs.dropout(rng, case, tag)


def float_case(rng, case, limit):
    p = Problem(rng, rng.weighted(FLOAT), limit)
    if rng.chance(3):
        zero_size(rng, p)
    src, wei, dst = p.types
    bias(rng, case, p, ["f32"] if src != wei or dst in INT8 else {
        "f32": ["f32", "f32", "bf16", "f16", "s8", "u8"], "bf16": ["f32", "bf16"], "f16": ["f32", "f16"]}[src])
    layouts(rng, case, p)
    with_dropout(rng, case, p)
    common_attrs(rng, case, p, False)
    attrs.fpmath(rng, case, p.types)
    if rng.chance(3):
        case.attr("scales", [attrs.common_scale(rng, "src"), "wei:per_oc"])
    return p


def int8_case(rng, case, limit):
    wei = rng.weighted([("s8", 70), ("u8", 12), ("s4", 9), ("u4", 9)])
    p = Problem(rng, [rng.pick(INT8), wei, rng.pick(["u8", "s8", "s32", "f32", "f16", "bf16"])], limit)
    if rng.chance(2):
        zero_size(rng, p)
    bias(rng, case, p, ["u8", "s8", "s32", "f32", "f16", "bf16"])
    layouts(rng, case, p)
    if rng.chance(78):
        quantise_int8(rng, case, p)
    common_attrs(rng, case, p, True)
    return p


def decompress_case(rng, case, limit):
    src = rng.weighted([("f32", 20), ("bf16", 45), ("f16", 35)])
    dst = rng.weighted([(src, 60), ("f32", 25), ("bf16", 8), ("f16", 7)])
    wei = rng.weighted([("s8", 22), ("u8", 18), ("s4", 26), ("u4", 22), ("f8_e5m2", 4), ("f8_e4m3", 4), ("f4_e2m1", 4)])
    if wei in F8 + F4 and src == "f32":
        src = "bf16"
    if src == "f16" and wei in INTS and rng.chance(6):
        dst = rng.pick(INT8)
    p = Problem(rng, [src, wei, dst], limit, [32, 48, 64, 96, 128, 192, 256, 100, 16, 17])
    bias(rng, case, p, ["f32"] if dst in INT8 else ["f32", src], 30)
    layouts(rng, case, p)
    mode = {"bf16": ["bf16", "any", "bf16"], "f16": ["f16", "f16", "any"], "f32": ["bf16", "f16", "tf32", "any", "strict"]}[src]
    case.attr("fpmath", rng.pick(mode) + ":true")
    if wei in INTS:
        quantise_weights(rng, case, p)
    elif rng.chance(80):
        case.attr("scales", [weights_scale(rng, p, k_groups(p), True)[0]])
    common_attrs(rng, case, p, False, percent=30)
    case.note("decompress")
    return p


def low_case(rng, case, limit):
    if rng.chance(65):
        types = [rng.pick(F8), rng.pick(F8), rng.pick(["f32", "f16", "bf16", *F8])]
    else:
        kind = "f4_e3m0" if rng.chance(10) else "f4_e2m1"
        types = [kind, kind, rng.pick(["f32", "f16", "bf16", kind])]
    p = Problem(rng, types, limit, [16, 17, 32, 64, 96, 100, 128])
    bias(rng, case, p, ["f32", "bf16", "f16"], 30)
    layouts(rng, case, p)
    scales, g = [], None
    if rng.chance(70):
        entry, g = weights_scale(rng, p, k_groups(p, 32), True)
        scales.append(entry)
    if rng.chance(60):
        scales.append(source_scale(rng, p, g))
    if types[2] in F8 and rng.chance(40):
        scales.append(destination_scale(rng, p))
    case.attr("scales", scales)
    common_attrs(rng, case, p, False, percent=30)
    return p


def runtime_case(rng, case, limit):
    """Sizes given at execution. A run-time dim is run-time in every tensor that has it."""
    types = rng.weighted([(["f32"] * 3, 40), (["bf16"] * 3, 10), (["bf16", "bf16", "f32"], 8), (["f16"] * 3, 8),
                          (["u8", "s8", "s32"], 8), (["s8", "s8", "f32"], 8), (["u8", "s8", "u8"], 8), (["bf16", "s8", "bf16"], 5)])
    p = Problem(rng, types, limit)
    if p.nd > 4:
        p.nd, p.batch = 4, p.batch[:2]
    src_mask = wei_mask = 0
    if rng.chance(55):
        p.src_batch = p.wei_batch = p.batch
        for i in range(p.nd - 2):
            if rng.chance(60):
                src_mask, wei_mask = src_mask | 1 << i, wei_mask | 1 << i
    p.src_batch, p.wei_batch = p.src_batch[: p.nd - 2], p.wei_batch[: p.nd - 2]
    m, k, n = rng.chance(55), rng.chance(40), rng.chance(40)
    if not (m or k or n or src_mask):
        m = True
    src_mask |= (p.src_mask("m") if m else 0) | (p.src_mask("k") if k else 0)
    wei_mask |= (p.wei_mask("k") if k else 0) | (p.wei_mask("n") if n else 0)
    p.macs = prod(p.batch) * p.m * p.n * p.k
    bias(rng, case, p, ["f32"], 35)
    case.set("stag", tail_tag(rng, p.nd, rng.chance(30)))
    case.set("wtag", tail_tag(rng, p.nd, rng.chance(30)))
    case.set("dtag", LETTERS[: p.nd])
    case.set("runtime-dims-masks", f"{src_mask}:{wei_mask}")
    if types[1] == "s8" and rng.chance(60):
        scales = [rng.pick(["wei:per_oc", "wei:common:0.5"])]
        if types[0] in INT8:
            scales.append("src:common:2")
            if rng.chance(40):
                case.attr("zero-points", ["src:common:1"])
        case.attr("scales", scales)
    if types[0] == "bf16" and types[1] == "s8":
        case.attr("fpmath", "bf16:true")
    if rng.chance(40):
        case.attr("post-ops", attrs.chain(rng, p.nd, types[2], "es", types[0] in INT8))
    elif rng.chance(20):
        case.attr("post-ops", [rng.pick(attrs.BINARY) + ":f32:common"])
    attrs.scratchpad(rng, case)
    case.note("runtime" + ("M" if m else "") + ("K" if k else "") + ("N" if n else ""))
    return p


def sparse_case(rng, case, limit):
    t = rng.weighted([("f32", 70), ("f16", 30)])
    p = Problem(rng, [t] * 3, limit)
    p.nd, p.batch, p.src_batch, p.wei_batch = 2, [], [], []
    p.macs = p.m * p.n * p.k
    kind = rng.pick(["csr", "coo"])
    word = f"{kind}+{rng.pick(['0.5', '0.75', '0.9', '0.99', '0.1'])}"
    if rng.chance(55):
        case.set("wtag", "ba" if kind == "coo" and rng.chance(25) else "ab")
        case.set("encoding", word + "::")
    else:
        case.set("stag", "ab")
        case.set("encoding", f":{word}:")
    case.set("dtag", "ab")
    return p


def packed_case(rng, case, limit):
    p = Problem(rng, [rng.pick(INT8), "s8", rng.pick(["s32", "f32", "s8"])], limit)
    p.nd, p.batch = (3, p.batch[:1]) if p.nd > 2 else (2, [])
    p.src_batch, p.wei_batch = list(p.batch), list(p.batch)
    p.macs = prod(p.batch) * p.m * p.n * p.k
    case.set("encoding", f":packed+{rng.pick(['0.5', '0.9', '0.99'])}:")
    return p


def double_case(rng, case, limit):
    p = Problem(rng, ["f64"] * 3, limit)
    bias(rng, case, p, ["f64", "f32", "bf16", "f16", "s8", "u8"])
    layouts(rng, case, p)
    return p


MAKERS = {"float": float_case, "int8": int8_case, "decompress": decompress_case, "low": low_case, "runtime": runtime_case,
          "sparse": sparse_case, "packed": packed_case, "double": double_case}


def matmul(rng):
    case = Case("matmul")
    limit = rng.weighted([(20_000, 24), (300_000, 38), (2_000_000, 30), (10_000_000, 8)])
    theme = rng.weighted(THEMES)
    options = Case("matmul")
    p = MAKERS[theme](rng, options, limit)
    case.set("dt", p.types[0] if len(set(p.types)) == 1 and rng.chance(70) else ":".join(p.types))
    case.options.update(options.options)
    case.attrs, case.extra, case.macs = options.attrs, options.extra, p.macs
    case.desc = p.desc(rng)
    case.note(theme, f"nd{p.nd}")
    if p.src_batch != p.wei_batch:
        case.note("broadcast")
    if 0 in p.dst():
        case.note("zero")
    assert all(t in BYTES for t in p.types)
    return case


REAL = [
    ("--dt=f32", "128x256:256x256", 8_388_608),
    ("--dt=bf16 --wtag=any", "128x256:256x512", 16_777_216),
    ("--dt=f32 --wtag=ba", "1x1024:1024x1024", 1_048_576),
    ("--dt=f16:s4:f16 --attr-fpmath=f16:true --attr-scales=wei:per_tensor:f16:128x1", "1x1024:1024x1024", 1_048_576),
    (
        "--dt=bf16:u4:bf16 --attr-fpmath=bf16:true --attr-scales=wei:per_tensor:bf16:64x1 "
        "--attr-zero-points=wei:per_tensor:u8:64x1",
        "8x512:512x512", 2_097_152,
    ),
    ("--dt=f32", "4x12x64x32:4x12x32x64", 6_291_456),
    ("--dt=f32 --wtag=abdc", "2x8x64x64:2x8x64x64", 4_194_304),
    ("--dt=u8:s8:f32 --attr-scales=src:common:0.5+wei:per_oc", "64x384:384x384", 9_437_184),
    ("--dt=s8:s8:s8 --attr-scales=dst:common:4", "64x256:256x384", 6_291_456),
    ("--dt=f32", "3x0:0x4", 0),
    ("--dt=bf16", "3x0:0x4", 0),
    ("--dt=s8:s8:s32", "3x0:0x4", 0),
    ("--dt=f32 --bia-dt=f32 --bia-mask=2", "3x0:0x4", 0),
    (
        "--dt=u8:s8:f32 --attr-scales=src:common:0.25+dst:common:2 --attr-zero-points=src:common:3+dst:common:5",
        "17x70:70x40", 47_600,
    ),
    ("--dt=f32 --wtag=ba --attr-scales=src:2", "1x0:0x8", 0),
    ("--dt=f32 --stag=ab --wtag=ab --dtag=ab --attr-post-ops=sum+gelu_erf", "2x2048:2048x1", 4_096),
]
