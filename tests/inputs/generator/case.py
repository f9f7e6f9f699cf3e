"""One problem line, what it costs, and which features of the driver it touches."""

import re
from math import prod

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
        """What the smoke file must touch once, numbers taken out where they are only sizes."""
        found = set(self.extra)
        for key, value in self.options.items():
            found.add(key)
            if key in ("strides", "scales", "runtime-dims-masks", "runtime-dim-mask", "axis", "group"):
                continue
            if key == "encoding":
                value = re.sub(r"\+[\d.]+", "", value)
            if key in ("dt", "sdt", "stag") and self.driver in ("sum", "concat"):
                found.update(f"{key}={part}" for part in value.split(":"))
            else:
                found.add(f"{key}={value}")
        for key, value in self.attrs.items():
            found.add(key)
            for entry in value.split("+"):
                words = entry.split(":")
                if key == "attr-post-ops":
                    found.add("po." + words[0])
                    found.update(f"po.src1.{w}" for w in words[1:] if w in BYTES or w.startswith("per_"))
                elif key == "attr-dropout":
                    found.add(f"dropout.{len(words)}")
                else:
                    found.add(f"{key}.{words[0]}")
                    found.update(f"{key}.{words[0]}.{w}" for w in words[1:] if not re.match(r"[\d.]", w))
                    found.update(f"{key}.{words[0]}.groups" for w in words[1:] if re.fullmatch(r"\d+x\d+", w))
        found.update([f"po.len{value.count('+') + 1}"
                      for key, value in self.attrs.items() if key == "attr-post-ops"])
        return found


def elements(dims):
    return prod(dims) if dims else 1
