"""Reads a finished line back and refuses what the specification refuses. It shares nothing with the makers."""

import re
from math import prod

TYPES = {"f64", "f32", "bf16", "f16", "s32", "s8", "u8", "s4", "u4", "f8_e5m2", "f8_e4m3", "f4_e2m1", "f4_e3m0", "e8m0"}
SIZE = {"f64": 64, "f32": 32, "s32": 32, "bf16": 16, "f16": 16, "s8": 8, "u8": 8, "f8_e5m2": 8, "f8_e4m3": 8, "e8m0": 8,
        "s4": 4, "u4": 4, "f4_e2m1": 4, "f4_e3m0": 4}
ELTWISE = set("relu tanh elu square abs sqrt linear soft_relu hardsigmoid logistic exp gelu_tanh gelu_erf swish log clip "
              "clip_v2 pow round mish hardswish".split())
FROM_DST = {a + "_dst" for a in ("relu", "tanh", "elu", "sqrt", "logistic", "exp", "clip_v2")}
BINARY = set("add mul max min div sub ge gt le lt eq ne select".split())
POLICY = {"common": 0, "per_tensor": None, "per_oc": 2, "per_ocic": 3, "per_dim_0": 1, "per_dim_1": 2, "per_dim_01": 3,
          "per_dim_2": 4, "per_dim_3": 8, "per_dim_02": 5, "per_dim_12": 6}
COMMON = {"attr-post-ops", "attr-scales", "attr-zero-points", "attr-scratchpad", "attr-fpmath", "attr-acc-mode",
          "attr-deterministic", "attr-rounding-mode", "attr-dropout", "attr-precomputed-reductions", "attr-rnn-linear"}
OPTIONS = {
    "conv": "dir dt bia-dt stag wtag dtag alg mb", "deconv": "dir dt bia-dt stag wtag dtag alg mb",
    "ip": "dir dt bia-dt stag wtag dtag mb", "eltwise": "dir dt tag alg alpha beta inplace",
    "matmul": "dt bia-dt bia-mask stag wtag dtag strides runtime-dims-masks encoding",
    "reorder": "sdt ddt stag dtag strides oflag runtime-dim-mask", "binary": "alg sdt ddt stag dtag inplace",
    "pool": "dir dt tag alg", "softmax": "dir sdt ddt stag dtag alg axis inplace", "bnorm": "dir dt tag flags inplace",
    "lnorm": "dir dt tag stat-tag ss-dt flags inplace", "gnorm": "dir dt tag flags inplace", "lrn": "dir dt tag alg",
    "reduction": "sdt ddt stag dtag alg p eps", "resampling": "dir sdt ddt tag dtag alg", "prelu": "dir sdt stag",
    "shuffle": "dir dt tag axis group", "concat": "sdt ddt stag dtag axis", "sum": "sdt ddt stag dtag scales inplace",
    "rnn": "prop alg activation direction cfg with-peephole with-projection scaling flags tag",
    "sdpa": "dir dt tag mask mask-dt scale scale-dt",
}
POST_OPS = {"conv": "ebspd", "deconv": "ebsp", "ip": "ebsp", "matmul": "ebsp", "binary": "ebs", "reduction": "ebs",
            "resampling": "ebs", "pool": "eb", "softmax": "eb", "lnorm": "eb", "gnorm": "eb", "eltwise": "b", "reorder": "s",
            "bnorm": "e"}


class Bad(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Bad(why)


def numbers(text):
    """Letters and values of a descriptor such as mb2ic3ih5."""
    text = re.sub(r"_?n\".*\"$", "", text)
    found = re.findall(r"([a-z]+)(\d+(?:\.\d+)?(?:e-\d+)?)", text)
    need("".join(a + b for a, b in found) == text, "descriptor")
    need(len({a for a, _ in found}) == len(found), "a letter twice")
    return {a: float(b) if "." in b or "e-" in b else int(b) for a, b in found}


def spatial(d, letter, default, n):
    """The n sizes of a spatial letter, with the rules for missing ones."""
    h, w, depth = d.get(letter + "h"), d.get(letter + "w"), d.get(letter + "d")
    if n == 1:
        return [w if w is not None else default]
    h = h if h is not None else default
    w = w if w is not None else h
    return [h, w] if n == 2 else [depth if depth is not None else h, h, w]


def rank_of(d):
    letters = {k[-1] for k in d if len(k) == 2 and k[0] in "ioskpd" and k not in ("ic", "oc", "mb", "ls")}
    return 3 if "d" in letters else 2 if "h" in letters else 1 if "w" in letters else 0


def tag_is_legal(tag, nd):
    if tag in ("any", "abx", "axb", "xba"):
        return tag == "any" or nd >= {"abx": 1, "axb": 2, "xba": 2}[tag]
    match = re.fullmatch(r"([a-lA-Lx]+?)((?:\d+[a-l])*)", tag)
    if not match:
        return False
    outer, blocks = match.groups()
    letters = "abcdefghijkl"
    if "x" in outer:
        explicit = len(outer) - 1
        outer = outer.replace("x", letters[explicit:nd])
    inner = set(re.findall(r"[a-l]", blocks))
    return sorted(outer.lower()) == list(letters[:nd]) and {c.lower() for c in outer if c.isupper()} == inner


def mask_of(word, nd):
    if word.isdigit():
        mask = int(word)
    else:
        need(word in POLICY, f"policy {word}")
        mask = POLICY[word] if POLICY[word] is not None else (1 << nd) - 1
    need(mask < 1 << nd, f"mask {word} of {nd} dims")
    return mask


def eltwise_ok(alg, alpha, beta):
    need(alg in ELTWISE | FROM_DST, alg)
    if alg.startswith("clip"):
        need(beta >= alpha, "clip")
    if alg == "soft_relu":
        need(alpha != 0, "soft_relu")
    if alg in ("relu_dst", "elu_dst"):
        need(alpha >= 0, alg)


def post_ops(driver, value, nd, dst, int8, opts):
    sum_types, where = set(), POST_OPS.get(driver, "")
    entries = value.split("+")
    need(len(entries) <= 32, "more than 32 post-ops")
    for entry in entries:
        name, *rest = entry.split(":")
        if name == "sum":
            need("s" in where, "sum")
            kind = rest[2] if len(rest) > 2 else dst
            need(SIZE[kind] == SIZE[dst], "sum type")
            if len(rest) > 1 and int(rest[1]):
                need(int8 and kind in ("s8", "u8", "s32"), "sum zero point")
            sum_types.add(kind)
        elif name == "prelu":
            need("p" in where, "prelu")
            mask_of(rest[0] if rest else "common", nd)
        elif name == "dw":
            need("d" in where, "dw")
            k, _, p = map(int, re.fullmatch(r"k(\d+)s(\d+)p(\d+)", rest[0]).groups())
            need(p + 1 <= k and rest[1] in TYPES, "dw window")
        elif name in BINARY:
            need("b" in where and rest[0] in TYPES - {"f64"}, entry)
            mask_of(rest[1] if len(rest) > 1 else "common", nd)
            need(len(rest) < 3 or tag_is_legal(rest[2], nd), entry)
            need("runtime-dims-masks" not in opts or len(rest) < 2 or rest[1] == "common", "binary on run-time dims")
        else:
            need("e" in where, entry)
            eltwise_ok(name, float(rest[0]) if rest else 0.0, float(rest[1]) if len(rest) > 1 else 0.0)
    need(len(sum_types) <= 1, "sums of several types")


def quantisation(key, value, tensors):
    """tensors: name -> (dims, type)."""
    for entry in value.split("+"):
        arg, policy, *rest = entry.split(":")
        need(arg in tensors, f"{arg} of {entry}")
        dims, kind = tensors[arg]
        mask = mask_of(policy, max(len(dims), 2))
        if mask == 0:
            need(rest and re.fullmatch(r"-?[\d.]+", rest[0]), entry)
            rest = rest[1:]
        groups = [int(g) for g in rest[-1].split("x")] if rest and re.fullmatch(r"\d+x\d+", rest[-1]) else []
        types = rest[: len(rest) - bool(groups)]
        need(len(types) <= 1 and all(t in TYPES for t in types), entry)
        need(not groups or mask, "groups need a mask")
        if groups:
            need(all(d % g == 0 for d, g in zip(dims[-2:], groups)), f"groups of {entry}")
            need(1 in groups, "groups on one dim")
        if types and types[0] in ("e8m0", "f8_e4m3", "s4", "u4"):
            need(mask, f"{types[0]} needs a mask")
        if key == "attr-zero-points":
            whole = ("s32", "s8", "u8", "s4", "u4")
            # Sums of bytes may leave as floats with a zero point.
            need(kind in whole or arg == "dst" and tensors["src"][1] in ("s8", "u8"), f"zero point of {kind}")


def triple(value, count):
    parts = value.split(":")
    need(len(parts) in (1, count), value)
    parts = parts * count if len(parts) == 1 else parts
    need(all(p in TYPES for p in parts), value)
    return parts


def parse(line):
    need("," not in line and "reset" not in line, "one problem per line")
    words = line.split(" ")
    need(all(words), "blanks")
    driver, opts = words[0][2:], {}
    for word in words[1:-1]:
        key, value = re.fullmatch(r"--([a-z0-9-]+)=(\S+)", word).groups()
        need(key not in opts, f"{key} twice")
        need(key in COMMON or key in OPTIONS[driver].split(), f"{key} of {driver}")
        opts[key] = value
    return driver, opts, words[-1]


def shapes(desc):
    return [[int(d) for d in part.split("x")] for part in desc.split(":")]


def windows(d, n, transpose, driver, alg):
    """Input and output sizes of conv, deconv or pool."""
    i, k = spatial(d, "i", None, n), spatial(d, "k", 1, n)
    s, p, dil = spatial(d, "s", 1, n), spatial(d, "p", 0, n), spatial(d, "d", 0, n)
    o = spatial(d, "o", None, n) if any("o" + c in d for c in "dhw") else None
    reach = [(a - 1) * (b + 1) + 1 for a, b in zip(k, dil)]
    if o is None:
        o = [(a - 1) * b + r - 2 * c for a, b, c, r in zip(i, s, p, reach)] if transpose else [
            (a - r + 2 * c) // b + 1 for a, b, c, r in zip(i, s, p, reach)]
    need(min(o) >= 1 and min(i) >= 1 and min(k) >= 1 and min(s) >= 1, "sizes")
    small, big = (i, o) if transpose else (o, i)
    for a, b, c, r, st in zip(small, big, p, reach, s):
        right = (a - 1) * st - b + r - c
        need(right + st > 0, "padding on the right")
        need((b - r + c + right) // st + 1 == a, "output size")
        if driver == "pool" and alg == "avg_np":
            need(c < r and right < r, "a window of padding only")
    if driver == "pool" and alg == "avg_np":
        for a, b, c, st, kk, dd in zip(o, i, p, s, k, dil):
            for at in range(a):
                need(any(0 <= at * st - c + t * (dd + 1) < b for t in range(kk)), "an empty window")
    return i, o


def check_window(driver, opts, desc):
    d = numbers(desc)
    n, transpose = rank_of(d), driver == "deconv"
    need(n > 0, "spatial dims")
    mb, g = d.get("mb", 2), d.get("g", 1)
    i, o = windows(d, n, transpose, driver, opts.get("alg"))
    ic, oc = d["ic"], d.get("oc", d["ic"])
    need(ic % g == 0 and oc % g == 0, "groups")
    dt = triple(opts.get("dt", "f32"), 2 if driver == "pool" else 3)
    if driver != "pool":
        need(tag_is_legal(opts.get("wtag", "any"), 2 + n + (g > 1)), opts.get("wtag"))
    tensors = {"src": ([mb, ic, *i], dt[0]), "wei": ([oc, ic], dt[1]), "dst": ([mb, oc, *o], dt[-1])}
    return [mb, oc, *o], dt, tensors


def check_ip(opts, desc):
    d = numbers(desc)
    n = rank_of(d)
    dt = triple(opts.get("dt", "f32"), 3)
    need(tag_is_legal(opts.get("stag", "any"), 2 + n) and tag_is_legal(opts.get("wtag", "any"), 2 + n), "tag")
    mb = d.get("mb", 2)
    return [mb, d["oc"]], dt, {"src": ([mb, d["ic"]], dt[0]), "wei": ([d["oc"], d["ic"]], dt[1]), "dst": ([mb, d["oc"]], dt[2])}


def check_matmul(opts, desc):
    parts = shapes(desc)
    src, wei = parts[:2]
    need(len(src) == len(wei) and src[-1] == wei[-2], "K")
    nd = len(src)
    need(2 <= nd <= 12, "ndims")
    need(all(a == b or 1 in (a, b) for a, b in zip(src[:-2], wei[:-2])) and all(x > 0 for x in src[:-2] + wei[:-2]), "batch")
    dst = [max(a, b) for a, b in zip(src[:-2], wei[:-2])] + [src[-2], wei[-1]]
    need(len(parts) == 2 or parts[2] == dst, "dst")
    dt = triple(opts.get("dt", "f32"), 3)
    need(int(opts.get("bia-mask", "0")) < 1 << nd and ("bia-mask" in opts) == ("bia-dt" in opts), "bias")
    for key in ("stag", "wtag", "dtag"):
        need(tag_is_legal(opts.get(key, "any"), nd), opts.get(key))
    floating = {"f64", "f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "f4_e2m1", "f4_e3m0"}
    if dt[0] in floating and dt[1] in ("s8", "u8", "s4", "u4"):
        need(opts.get("attr-fpmath", "").endswith(":true"), "integer weights need apply_to_int")
    for dims, kind in ((src, dt[0]), (wei, dt[1]), (dst, dt[2])):
        need(SIZE[kind] >= 8 or (dims[-1] % 2 == 0 and dims[-2] % 2 == 0), "odd size of a sub-byte tensor")
    if "runtime-dims-masks" in opts:
        a, b = map(int, opts["runtime-dims-masks"].split(":"))
        need(a < 1 << nd and b < 1 << nd and (a >> (nd - 1)) & 1 == (b >> (nd - 2)) & 1, "run-time K")
        batch = (1 << (nd - 2)) - 1
        need(a & batch == b & batch, "run-time batch")
        need(all(opts.get(k, "any") != "any" for k in ("stag", "wtag", "dtag")), "any with run-time dims")
    if "encoding" in opts:
        need("packed" in opts["encoding"] or (nd == 2 and len(set(dt)) == 1 and dt[0] in ("f32", "f16")), "sparse")
    if "strides" in opts:
        for word, dims in zip(opts["strides"].split(":"), (src, wei, dst)):
            strides_ok(word, dims)
    return dst, dt, {"src": (src, dt[0]), "wei": (wei, dt[1]), "dst": (dst, dt[2])}


def strides_ok(word, dims):
    if not word:
        return
    steps = [int(s) for s in word.split("x")]
    need(len(steps) == len(dims), "strides")
    span = 0
    for step, dim in sorted(zip(steps, dims), key=lambda pair: (pair[0], pair[1])):
        need(dim <= 1 or step > span, "overlapping strides")
        span += step * (dim - 1)


def rule_table(driver, opts, desc):
    """Dims and type of the destination, all types, and the tensors that attributes may name."""
    if driver in ("conv", "deconv", "pool"):
        return check_window(driver, opts, desc)
    if driver == "ip":
        return check_ip(opts, desc)
    if driver == "matmul":
        return check_matmul(opts, desc)
    if driver in ("bnorm", "gnorm", "lrn", "resampling"):
        d = numbers(desc)
        n = rank_of(d)
        need(d["ic"] % d.get("g", 1) == 0, "groups")
        dims = [d.get("mb", 2), d["ic"], *(spatial(d, "o" if driver == "resampling" else "i", None, n) if n else [])]
        dt = [opts["sdt"], opts["ddt"]] if driver == "resampling" else triple(opts["dt"], 2)
        if dt[0] == "s8" and driver == "bnorm":
            need("G" in opts.get("flags", "") and opts["dir"].startswith("FWD"), "s8 needs global statistics")
        return dims, dt, {"src": (dims, dt[0]), "dst": (dims, dt[1])}
    if driver == "rnn":
        return check_rnn(opts, desc)
    parts = shapes(desc)
    if driver == "sdpa":
        q, k, v = parts
        need(q[0] == k[0] == v[0] and k[1] == v[1] and q[1] % k[1] == 0 and q[3] == k[2] and k[3] == v[2], "sdpa")
        types = triple(opts["dt"], 4)
        whole = any(t[0] in "su" for t in types)
        need(not whole or not opts.get("dir", "").startswith("BWD"), "gradients of whole numbers")
        return q, types, {"src1": (k, types[1]), "src2": (v, types[2])}
    return check_shapes(driver, opts, parts)


def check_shapes(driver, opts, parts):
    first, nd = parts[0], len(parts[0])
    need(all(len(p) == nd for p in parts), "ndims")
    types = [t for t in opts.get("sdt", opts.get("dt", "f32")).split(":") + opts.get("ddt", "").split(":") if t]
    need(all(t in TYPES for t in types), "types")
    dst = first
    if driver == "binary":
        dst = [b if a == 1 else a for a, b in zip(*parts[:2])]
        need(all(a == b or 1 in (a, b) for a, b in zip(*parts[:2])), "broadcast")
        need(len(parts) == 2 or all(a in (1, b) for a, b in zip(parts[2], dst)), "select")
        need(opts.get("inplace") != "true" or parts[0] == dst, "inplace")
    elif driver == "prelu":
        need(nd <= 5 and all(b in (a, 1) for a, b in zip(*parts)), "prelu")
    elif driver == "reduction":
        need(parts[0] != parts[1] and all(b in (a, 1) for a, b in zip(*parts)), "reduction")
        need(float(opts.get("p", "1")) >= 1 and ("lp" not in opts["alg"] or types[0] in ("f32", "bf16", "f16")), "p")
        dst = parts[1]
    elif driver == "concat":
        axis = int(opts.get("axis", "1"))
        need(all(a == b for p in parts for j, (a, b) in enumerate(zip(p, first)) if j != axis) and axis < nd, "concat")
        dst = [sum(p[j] for p in parts) if j == axis else x for j, x in enumerate(first)]
    elif driver == "shuffle":
        axis = int(opts["axis"])
        need(axis < nd and first[axis] % int(opts["group"]) == 0, "shuffle")
    elif driver == "softmax":
        need(int(opts.get("axis", "1")) < nd, "axis")
    elif driver == "eltwise":
        eltwise_ok(opts["alg"], float(opts.get("alpha", 0)), float(opts.get("beta", 0)))
        need(opts["alg"] != "round" or (opts["dir"].startswith("FWD") and types[0] == "f32"), "round")
    elif driver == "lnorm":
        need(2 <= nd <= 5, "ndims")
    elif driver == "sum":
        need(len(set(opts["sdt"].split(":"))) == 1, "sources of one type")
    elif driver == "reorder":
        need("any" not in (opts.get("stag"), opts.get("dtag")), "reorder between known layouts only")
        for word in opts.get("strides", "").split(":"):
            strides_ok(word, first)
    count = 1 if driver == "softmax" else nd
    need(count, "dims")
    for key in ("stag", "dtag", "tag"):
        for tag in opts.get(key, "any").split(":"):
            need(tag_is_legal(tag, nd), f"{tag} of {nd} dims")
    names = {"src": (first, types[0]), "dst": (dst, types[-1])}
    if driver == "binary":
        names = {"src": (first, types[0]), "src1": (parts[1], types[1] if len(types) > 2 else types[0])}
    names.update({f"msrc{j}": (p, types[0]) for j, p in enumerate(parts)})
    return dst, types, names


def check_rnn(opts, desc):
    d = numbers(desc)
    slc = d["slc"]
    sic = d.get("sic", slc)
    dhc = d.get("dhc", sic)
    dic = d.get("dic", dhc)
    cell, cfg, prop = opts["alg"], opts["cfg"], opts["prop"]
    once = d["t"] == 1 and cell in ("VANILLA_RNN", "VANILLA_LSTM")
    need((sic == dic or once) and (d["l"] == 1 or slc == dic), "rnn channels")
    need(dic == dhc or opts.get("with-projection") == "true", "projection")
    if "true" in (opts.get("with-peephole"), opts.get("with-projection")):
        need(cell == "VANILLA_LSTM", "LSTM only")
    if "AUGRU" in cell:
        need(d["l"] == 1 and opts.get("direction", "left2right") == "left2right", "augru")
    if "8" in cfg:
        need(prop == "FWD_I" and (cell == "VANILLA_LSTM" or (cell == "VANILLA_GRU" and "u8" in cfg)), "int8 rnn")
    need(cfg != "f16" or prop != "BWD_DW", "f16 training")
    if "attr-rnn-linear" in opts:
        gates, factor = opts["attr-rnn-linear"].split(":")
        need(len(gates.split("+")) == {"RNN": 1, "LSTM": 4}.get(cell.split("_")[-1], 3) and float(factor) == float(factor), "linear activations")
    return [d["t"], d.get("mb", 2), dic], ["f32"], {}


def check(line):
    """Raises Bad with the reason when the line is not a legal request."""
    try:
        driver, opts, desc = parse(line)
        dst, types, tensors = rule_table(driver, opts, desc)
        forward = opts.get("dir", opts.get("prop", "FWD")).startswith("FWD")
        if "attr-post-ops" in opts:
            need(forward, "post-ops on the backward")
            post_ops(driver, opts["attr-post-ops"], len(dst), types[-1], types[0] in ("s8", "u8"), opts)
        for key in ("attr-scales", "attr-zero-points"):
            if key in opts:
                need(forward, key)
                quantisation(key, opts[key], tensors)
        if "attr-precomputed-reductions" in opts:
            need("wei:" in opts.get("attr-zero-points", ""), "precomputed reductions need a zero point of the weights")
            quantisation("attr-precomputed-reductions", opts["attr-precomputed-reductions"], tensors)
        if "attr-dropout" in opts:
            need(forward and 0 <= float(opts["attr-dropout"].split(":")[0]) <= 1, "dropout")
    except Bad as bad:
        raise Bad(f"{bad}: {line}") from None
    return prod(dst)
