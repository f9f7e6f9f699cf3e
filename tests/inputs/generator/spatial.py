"""Spatial geometry of conv, deconv, pool and resampling, and how it is written in a descriptor."""

NAMES = {1: "w", 2: "hw", 3: "dhw"}


def word(rng, letter, values, default=None):
    """`ih5iw7`, or `ih5` when the other dims copy h; nothing when all equal the default.

    The input depth is always written: without a d-letter the problem would be 2-D.
    """
    names = NAMES[len(values)]
    if default is not None and all(v == default for v in values):
        return ""
    height = values[names.index("h")] if "h" in names else None
    text = ""
    for name, value in zip(names, values):
        copies = name != "h" and height is not None and value == height and letter + name != "id"
        if copies and rng.chance(50):
            continue
        text += f"{letter}{name}{value}"
    return text


def reach(kernel, dilation):
    """Extent of a dilated kernel (dilation 0 is dense)."""
    return (kernel - 1) * (dilation + 1) + 1


def draw_window(rng, spatial, kernels, biggest):
    """(i, k, s, dil, pad_l, pad_r) per spatial dim, with at least one output each."""
    same = rng.chance(45)
    dims, first = [], None
    strides = rng.weighted([((1,), 55), ((1, 2, 2, 3), 45)])
    dilations = rng.weighted([((0,), 70), ((0, 1, 1, 2, 3), 30)])
    for _ in range(spatial):
        if same and first:
            dims.append(first)
            continue
        k, s, dil = rng.pick(kernels), rng.pick(strides), rng.pick(dilations)
        if k == 1 and rng.chance(80):
            dil = 0
        extent = reach(k, dil)
        left = rng.weighted([(0, 40), ((extent - 1) // 2, 45), (rng.below(extent), 15)])
        right = left if rng.chance(70) else rng.below(extent)
        low = max(1, extent - left - right)
        size = max(low, rng.weighted([(rng.between(1, min(5, biggest)), 25), (rng.between(1, biggest), 75)]))
        first = (size, k, s, dil, left, right)
        dims.append(first)
    return dims


def conv_out(dim):
    i, k, s, dil, left, right = dim
    return (i + left + right - reach(k, dil)) // s + 1
