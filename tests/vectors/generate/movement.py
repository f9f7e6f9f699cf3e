"""Shuffle, concat and sum.

Shuffle (dev_guide_shuffle): the axis of size C is a matrix (C/G, G), G the group size, and is transposed to (G, C/G):
dst[u + v*C/G] = src[u*G + v].
"""

from common import Attr, Case, jax, jnp, np, write
from pointwise import shape_text


def shuffle_case(dir, shape, axis, group, dt="f32", tag="abx"):
    tag = "a" if len(shape) == 1 else tag
    c = Case(f"--shuffle --dir={dir} --dt={dt} --tag={tag} --axis={axis} --group={group} {shape_text(shape)}")

    def f(x):
        s = x.shape
        y = x.reshape(s[:axis] + (s[axis] // group, group) + s[axis + 1:])
        return jnp.swapaxes(y, axis, axis + 1).reshape(s)

    if dir.startswith("FWD"):
        c.out("dst", f(jnp.asarray(c.data("src", shape, dt))), dt)
    else:
        dd = c.data("diff_dst", shape, dt)
        c.out("diff_src", jax.vjp(f, jnp.zeros(shape))[1](jnp.asarray(dd))[0], dt)
    return c


def concat_case(shapes, axis, sdt="f32", ddt=None, tags=None, scales=None):
    ddt = ddt or sdt
    a = Attr(scales=[(f"msrc{i}", "common", s) for i, s in enumerate(scales or []) if s])
    c = Case(f"--concat --sdt={sdt} --ddt={ddt}", f"--stag={':'.join(tags[:-1])} --dtag={tags[-1]}" if tags else "",
             f"--axis={axis}", *a.words(), shape_text(*shapes))
    parts = []
    for i, s in enumerate(shapes):
        x = c.data(f"msrc{i}", s, sdt)
        parts.append(x * a.quant(c, "scales", f"msrc{i}", x.shape))
    c.out("dst", np.concatenate(parts, axis=axis), ddt)
    return c


def sum_case(shape, sdts, ddt, scales, tags=None, extra=""):
    c = Case(f"--sum --sdt={':'.join(sdts)} --ddt={ddt}", f"--stag={':'.join(tags[:-1])} --dtag={tags[-1]}" if tags else "",
             f"--scales={':'.join('%g' % s for s in scales)}", extra, shape_text(shape))
    c.out("dst", sum(s * c.data(f"msrc{i}", shape, t) for i, (t, s) in enumerate(zip(sdts, scales))), ddt)
    return c


def main():
    cs = []
    for shape, axis, g in (((2, 6, 3), 1, 2), ((2, 6, 3), 1, 3), ((2, 12), 1, 4), ((8, 3), 0, 2), ((2, 4, 3, 2), 1, 2), ((2, 3, 6, 2), 2, 3),
                           ((2, 2, 3, 4), 3, 2), ((2, 6, 2, 2, 2), 1, 3), ((2, 5, 3), 1, 5), ((2, 6, 3), 1, 1), ((12,), 0, 3)):
        cs += [shuffle_case(d, shape, axis, g) for d in ("FWD_D", "BWD_D")]
    cs += [shuffle_case("FWD_I", (2, 6, 3), 1, 3, dt) for dt in ("bf16", "f16", "s32", "s8", "u8")]
    cs += [shuffle_case("BWD_D", (2, 6, 3), 1, 3, dt) for dt in ("bf16", "f16")]
    cs += [shuffle_case(d, (2, 8, 3, 3), 1, 4, tag=t) for d in ("FWD_D", "BWD_D") for t in ("axb", "aBx8b")]
    write("shuffle", cs)

    cs = []
    for shapes, ax in (([(2, 3), (2, 4)], 1), ([(2, 3), (5, 3)], 0), ([(2, 3, 4), (2, 1, 4), (2, 5, 4)], 1), ([(2, 3, 2, 2), (2, 3, 2, 3)], 3),
                       ([(2, 3, 1, 2), (2, 3, 4, 2)], 2), ([(7,), (2,), (1,)], 0), ([(2, 2, 2, 2, 2), (1, 2, 2, 2, 2)], 0), ([(2, 3)], 1)):
        cs.append(concat_case(shapes, ax))
    for dt in ("bf16", "f16", "s8", "u8", "s32", "f8_e5m2", "f8_e4m3"):
        cs.append(concat_case([(2, 3, 2), (2, 2, 2)], 1, dt))
    for a, b in (("f32", "s8"), ("f32", "u8"), ("s8", "f32"), ("f32", "bf16"), ("u8", "s8"), ("s32", "s8")):
        cs.append(concat_case([(2, 3, 2), (2, 2, 2)], 1, a, b))
    cs.append(concat_case([(2, 3, 2), (2, 2, 2)], 1, "s8", scales=[0.5, 4]))
    cs.append(concat_case([(2, 3, 2), (2, 2, 2)], 1, "u8", "f32", scales=[0.75, None]))
    cs.append(concat_case([(2, 8, 3), (2, 9, 3)], 1, tags=("axb", "axb", "axb")))
    cs.append(concat_case([(2, 8, 3), (2, 16, 3)], 1, tags=("aBx8b", "abx", "any")))
    cs.append(concat_case([(2, 8, 3), (2, 9, 3)], 1, tags=("aBx8b", "aBx8b", "aBx8b")))
    write("concat", cs)

    cs = []
    for shape, n in (((2, 3, 4), 2), ((3, 5), 3), ((17,), 2), ((2, 3, 2, 2), 4), ((2, 2, 2, 2, 2), 2), ((2, 3), 1)):
        cs.append(sum_case(shape, ["f32"] * n, "f32", [1, 2, -0.5, 0.25][:n]))
    for sd, dd, sc in ((("bf16", "bf16"), "bf16", (1, 1)), (("bf16", "bf16"), "f32", (2, 0.5)), (("f16", "f16"), "f16", (1, -1)),
                       (("s8", "s8"), "s8", (2, 3)), (("u8", "u8"), "u8", (1, 8)), (("u8", "s8"), "s32", (2, 2)), (("s8", "u8"), "u8", (0.5, 0.25)),
                       (("f32", "s8"), "f32", (0.5, 2)), (("f32", "f32"), "s8", (2.5, 4)), (("f32", "bf16"), "f32", (1, 1)), (("s32", "s32"), "s32", (1, 2))):
        cs.append(sum_case((2, 3, 4), sd, dd, sc))
    cs.append(sum_case((2, 9, 3), ("f32", "f32"), "f32", (1, 0.5), tags=("axb", "abx", "axb")))
    cs.append(sum_case((2, 9, 3), ("f32", "f32"), "f32", (1, 0.5), tags=("aBx8b", "axb", "any")))
    cs.append(sum_case((2, 3, 4), ("f32", "f32"), "f32", (3, 2), extra="--inplace=true"))
    write("sum", cs)


if __name__ == "__main__":
    main()
