"""One problem line, what it costs, and which features of the driver it touches."""

import re

CHANNELS = [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100]
FLOATS = ["f32", "bf16", "f16"]
INT8 = ["s8", "u8"]
F8 = ["f8_e5m2", "f8_e4m3"]
BYTES = {
    "f64": 8, "f32": 4, "s32": 4, "bf16": 2, "f16": 2, "s8": 1, "u8": 1, "f8_e5m2": 1, "f8_e4m3": 1,
    "e8m0": 1, "s4": 0.5, "u4": 0.5, "f4_e2m1": 0.5, "f4_e3m0": 0.5,
}
SUB_BYTE = [t for t in BYTES if BYTES[t] == 0.5]
INTEGERS = ["s32", "s8", "u8", "s4", "u4"]


def shape(dims):
    return "x".join(str(d) for d in dims)

# Options whose values are sizes.
NOT_COUNTED = ("strides", "scales", "runtime-dims-masks", "runtime-dim-mask", "axis", "group", "mb", "bia-mask")


class Case:
    """Options are kept in order; an option without a value is left out of the line."""

    def __init__(self, driver):
        self.driver, self.options, self.attrs, self.desc = driver, {}, {}, ""
        self.macs, self.extra = 0, set()

    def set(self, key, value):
        if value is not None and value != "":
            self.options[key] = value

    def attr(self, key, value):
        if value is not None and value != "" and value != []:
            self.attrs["attr-" + key] = "+".join(value) if isinstance(value, list) else value

    def note(self, *features):
        """Features that the options do not show: ranks, zero sizes, groups."""
        self.extra.update(features)

    def line(self):
        words = [f"--{k}={v}" for k, v in {**self.options, **self.attrs}.items()]
        return " ".join([f"--{self.driver}", *words, self.desc])

    def features(self):
        """What the smoke file must touch once: options and their values, without the sizes among them."""
        found = set(self.extra)
        for key, value in self.options.items():
            found.add(key)
            if key in NOT_COUNTED:
                continue
            if key == "dt" and len(set(value.split(":"))) == 1:
                value = value.split(":")[0]
            if key == "encoding":
                value = re.sub(r"\+[\d.]+", "", value)
            if key in ("sdt", "dt") and self.driver in ("matmul", "binary", "sum", "concat"):
                found.update(f"{key}{i if self.driver in ('matmul', 'binary') else ''}={t}" for i, t in enumerate(value.split(":")))
            elif key.endswith("tag"):
                found.update(f"{key}={tag_kind(tag, key == 'wtag')}" for tag in value.split(":"))
            elif key == "flags":
                found.update(f"flag {flag}" for flag in value)
            else:
                found.add(f"{key}={value}")
        where = self.options.get("dir", self.options.get("prop", ""))
        pairs = [f for f in found if f.startswith(("dt=", "sdt=", "alg=", "cfg=")) or f in self.extra]
        found.update(f"{where} {feature}" for feature in pairs)
        found.add(f"{where} 10^{min(len(str(self.macs)) - 1, 6)} multiply-adds")
        if self.driver == "reorder":
            found.add(f"{self.options['sdt']} to {self.options['ddt']}")
        for key, value in self.attrs.items():
            found.add(key)
            found.update(post_op_features(value) if key == "attr-post-ops" else attr_features(key, value))
        return found


def tag_kind(tag, weights):
    """The tag itself where it is a plain name, else its inner blocks (weights) or how many blocks it has."""
    blocks = re.findall(r"\d+[a-l]", tag)
    if blocks:
        return "".join(blocks) if weights else "x blocked" if "x" in tag else f"{len(blocks)} blocks"
    return tag if tag in ("any", "abx", "axb", "xba", "ab", "ba") else "permuted"


def post_op_features(value):
    found = {f"{value.count('+') + 1} post-ops"}
    for entry in value.split("+"):
        name, *rest = entry.split(":")
        found.add("post-op " + name)
        found.update(f"post-op operand {w}" for w in rest if w in BYTES or w.startswith("per_"))
    return found


def attr_features(key, value):
    if key == "attr-dropout":
        return {f"dropout {value.count(':')}"}
    found = set()
    for entry in value.split("+"):
        arg, *rest = entry.split(":")
        arg = re.sub(r"\d", "", arg) if arg.startswith("msrc") else arg
        found.add(f"{key} {arg}")
        found.update(f"{key} {arg} {w}" for w in rest if not re.match(r"-?[\d.]", w))
        found.update(f"{key} {arg} groups" for w in rest if re.fullmatch(r"\d+x\d+", w))
    return found
