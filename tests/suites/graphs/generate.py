#!/usr/bin/env python3
"""Writes the graphs of this folder: the same bytes every time.

Each is a file as ONEDNN_GRAPH_DUMP writes it, an operation a line; graphs.txt names them with the sizes that are raced. Python only.
"""
import json
import math
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def attr(value):
    if isinstance(value, bool):
        return {"type": "bool", "value": int(value)}
    if isinstance(value, str):
        return {"type": "string", "value": value}
    if isinstance(value, int):
        return {"type": "s64", "value": value}
    if isinstance(value, float):
        return {"type": "f32", "value": value}
    kind = "f32[]" if value and isinstance(value[0], float) else "s64[]"
    return {"type": kind, "value": list(value)}


class Graph:
    def __init__(self, name):
        self.name, self.ops, self.tensors = name, [], 0

    def tensor(self, shape, dtype, prop="undef"):
        strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
        self.tensors += 1
        return {"id": self.tensors - 1, "dtype": dtype, "shape": shape, "stride": strides, "layout_type": "strided", "property_type": prop}

    def input(self, *shape, dtype="f32"):
        return self.tensor(list(shape), dtype, "variable")

    def const(self, *shape, dtype="f32"):
        return self.tensor(list(shape), dtype, "constant")

    def op(self, kind, inputs, sizes, dtype=None, /, **attrs):
        out = self.tensor(list(sizes), dtype or inputs[0]["dtype"])
        self.ops.append({"id": len(self.ops), "name": f"{kind}_{len(self.ops)}", "kind": kind,
                         "attrs": {k: attr(v) for k, v in attrs.items()}, "inputs": inputs, "outputs": [out]})
        return out

    # Functions of elements.
    def unary(self, kind, x, **attrs):
        return self.op(kind, [x], x["shape"], **attrs)

    def binary(self, kind, a, b):
        rank = max(len(a["shape"]), len(b["shape"]))
        full = lambda t: [1] * (rank - len(t["shape"])) + t["shape"]
        return self.op(kind, [a, b], [max(p, q) for p, q in zip(full(a), full(b))])

    # Bytes.
    def dequantize(self, x, scale, zero=0):
        return self.op("Dequantize", [x], x["shape"], "f32", scales=[scale], zps=[zero], qtype="per_tensor")

    def quantize(self, x, dtype, scale, zero=0):
        return self.op("Quantize", [x], x["shape"], dtype, scales=[scale], zps=[zero], qtype="per_tensor")

    def matmul(self, a, b, bias=None, turned=False):
        n = b["shape"][-2] if turned else b["shape"][-1]
        attrs = {"transpose_b": turned}
        batch = [max(p, q) for p, q in zip(a["shape"][:-2], b["shape"][:-2])] if len(b["shape"]) > 2 else a["shape"][:-2]
        return self.op("MatMul", [a, b] + ([bias] if bias else []), batch + [a["shape"][-2], n], **attrs)

    def conv(self, x, oc, kernel, stride=1, bytes_=False, groups=1, bias=True):
        n, ic, h, w = x["shape"]
        pad = kernel // 2
        out = lambda size: (size + 2 * pad - kernel) // stride + 1
        shape = [oc, ic // groups, kernel, kernel]
        weights = self.const(*shape, dtype="s8" if bytes_ else "f32")
        if bytes_:
            weights = self.op("Dequantize", [weights], shape, "f32", scales=[(0.0101, 0.0113, 0.0119, 0.0127)[i % 4] for i in range(oc)], zps=[0] * oc,
                              qtype="per_channel", axis=0)
        inputs = [x, weights] + ([self.const(oc)] if bias else [])
        return self.op("Convolution", inputs, [n, oc, out(h), out(w)], strides=[stride] * 2, pads_begin=[pad] * 2, pads_end=[pad] * 2,
                       dilations=[1, 1], groups=groups, data_format="NCX", weights_format="OIX")

    def norm(self, x):
        c = x["shape"][1]
        inputs = [x] + [self.const(c) for _ in range(4)]
        return self.op("BatchNormInference", inputs, x["shape"], epsilon=1e-3, data_format="NCX")

    def transpose(self, x, order):
        return self.op("StaticTranspose", [x], [x["shape"][i] for i in order], order=order)

    def reshape(self, x, shape):
        return self.op("StaticReshape", [x], shape, shape=shape, special_zero=False)

    def layer_norm(self, x, kind="LayerNorm"):
        c = x["shape"][-1]
        inputs = [x, self.const(c)] + ([self.const(c)] if kind == "LayerNorm" else [])
        attrs = {"keep_stats": False, "use_affine": True} if kind == "LayerNorm" else {}
        return self.op(kind, inputs, x["shape"], begin_norm_axis=-1, epsilon=1e-5, **attrs)

    def write(self):
        made = {o["id"] for op in self.ops for o in op["outputs"]}
        read = {i["id"] for op in self.ops for i in op["inputs"]}
        inputs = sorted({i["id"] for op in self.ops for i in op["inputs"]} - made)
        head = {"version": "3.11.0", "engine_kind": "cpu", "fpmath_mode": "strict", "fpmath_mode_apply_to_int": "false",
                "input_ports": inputs, "output_ports": sorted(made - read)}
        compact = lambda v: json.dumps(v, separators=(",", ":"))
        lines = ",\n".join(compact(op) for op in self.ops)
        with open(os.path.join(HERE, self.name + ".json"), "w") as f:
            f.write(compact(head)[:-1] + ',"graph":[\n' + lines + "\n]}\n")


def attention(g, q, k, v, scale=True, mask=None):
    x = g.matmul(q, k, turned=True)
    if scale:
        x = g.binary("Divide", x, g.const(1, dtype=x["dtype"]))
    if mask is not None:
        x = g.binary("Add", x, mask)
    x = g.op("SoftMax", [x], x["shape"], axis=-1, mode="inf_as_zero")
    return g.matmul(x, v)


def sdpa():
    g = Graph("sdpa")
    dims = (1, 16, 384, 64)
    q, k, v = g.input(*dims), g.input(*dims), g.input(*dims)
    attention(g, q, k, v)
    g.write()
    g = Graph("sdpa-mask")
    q, k, v = g.input(*dims), g.input(*dims), g.input(*dims)
    attention(g, q, k, v, mask=g.input(1, 1, 384, 384))
    g.write()
    g = Graph("sdpa-int8")
    q, k, v = (g.dequantize(g.input(*dims, dtype=t), 0.05, z) for t, z in (("u8", 128), ("s8", 0), ("s8", 0)))
    x = g.binary("Divide", g.matmul(q, k, turned=True), g.const(1))
    x = g.op("SoftMax", [x], x["shape"], axis=-1, mode="inf_as_zero")
    x = g.dequantize(g.quantize(x, "u8", 1 / 255), 1 / 255)
    g.quantize(g.matmul(x, v), "u8", 0.05, 128)
    g.write()
    g = Graph("gqa")
    q, k, v = g.input(1, 8, 4, 384, 128), g.input(1, 8, 1, 384, 128), g.input(1, 8, 1, 384, 128)
    attention(g, q, k, v)
    g.write()


def blocks():
    g = Graph("conv-bias-bn-relu-add")
    x = g.input(1, 64, 56, 56)
    y = g.conv(x, 64, 3, bias=False)
    y = g.op("BiasAdd", [y, g.const(64)], y["shape"], data_format="NCX")
    y = g.unary("ReLU", g.norm(y))
    g.binary("Add", y, g.input(1, 64, 56, 56))
    g.write()
    g = Graph("matmul-bias-gelu")
    g.unary("GELU", g.matmul(g.input(384, 768), g.const(768, 3072), g.const(3072)))
    g.write()
    g = Graph("matmul-bias-gelu-int8")
    x = g.dequantize(g.input(384, 768, dtype="u8"), 0.02, 128)
    w = g.dequantize(g.const(768, 3072, dtype="s8"), 0.01)
    g.quantize(g.unary("GELU", g.matmul(x, w, g.const(3072))), "u8", 0.05, 10)
    g.write()
    g = Graph("gated-mlp")
    x = g.input(64, 1024)
    gate, up = g.matmul(x, g.const(1024, 2816)), g.matmul(x, g.const(1024, 2816))
    gate = g.binary("Multiply", gate, g.unary("Sigmoid", gate))
    g.matmul(g.binary("Multiply", gate, up), g.const(2816, 1024))
    g.write()
    g = Graph("layernorm-relu")
    g.unary("ReLU", g.layer_norm(g.input(384, 1024)))
    g.write()
    g = Graph("rmsnorm-mul")
    g.binary("Multiply", g.layer_norm(g.input(384, 1024), "RMSNorm"), g.input(384, 1024))
    g.write()
    g = Graph("groupnorm-swish")
    x, c = g.input(1, 320, 32, 32), 320
    y = g.op("GroupNorm", [x, g.const(c), g.const(c)], x["shape"], groups=32, keep_stats=False, use_affine=True, epsilon=1e-5, data_format="NCX")
    g.binary("Multiply", y, g.unary("Sigmoid", y))
    g.write()
    g = Graph("softmax-mul")
    x = g.input(1, 16, 384, 384)
    g.binary("Multiply", g.op("SoftMax", [x], x["shape"], axis=-1, mode="none"), g.input(1, 1, 384, 384))
    g.write()


def residual(g, bytes_):
    """What reads and writes data of a residual network, its convolutions, and its stages by their number."""
    read = (lambda x, zero=0: g.dequantize(x, 0.0503)) if bytes_ else (lambda x: x)
    written = (lambda x, t="u8": g.quantize(x, t, 0.0503)) if bytes_ else (lambda x, t="u8": x)
    conv = lambda x, oc, k, s=1: g.conv(read(x), oc, k, s, bytes_) if bytes_ else g.norm(g.conv(x, oc, k, s, bias=False))

    def stage(x, i):
        width, count = ((64, 3), (128, 4), (256, 6), (512, 3))[i]
        for block in range(count):
            stride = 2 if i and not block else 1
            y = written(g.unary("ReLU", conv(x, width, 1, 1)))
            y = written(g.unary("ReLU", conv(y, width, 3, stride)))
            y = conv(y, 4 * width, 1)
            short = read(written(conv(x, 4 * width, 1, stride), "s8")) if not block else read(x)
            x = written(g.unary("ReLU", g.binary("Add", y, short)))
        return x

    return read, written, conv, stage


def stages():
    """The stages of the residual network in bytes, each a graph."""
    for i, (channels, size) in enumerate(((64, 56), (256, 56), (512, 28), (1024, 14))):
        g = Graph(f"resnet50-int8-stage{i + 1}")
        residual(g, True)[3](g.input(1, channels, size, size, dtype="u8"), i)
        g.write()


def resnet50(bytes_):
    """Residual network of 50 layers, batch normalisation folded beforehand in bytes, an operation of its own in f32."""
    g = Graph("resnet50-int8" if bytes_ else "resnet50-f32")
    read, written, conv, stage = residual(g, bytes_)
    x = g.input(1, 3, 224, 224, dtype="u8" if bytes_ else "f32")
    x = written(g.unary("ReLU", conv(x, 64, 7, 2)))
    x = read(x)
    n, c, h, w = x["shape"]
    x = written(g.op("MaxPool", [x], [n, c, 56, 56], strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1], kernel=[3, 3], data_format="NCX"))
    for i in range(4):
        x = stage(x, i)
    x = read(x)
    x = g.op("AvgPool", [x], [1, 2048, 1, 1], strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0], kernel=[7, 7], exclude_pad=True,
             data_format="NCX")
    x = read(written(g.reshape(x, [1, 2048])))
    w = g.const(2048, 1000, dtype="s8" if bytes_ else "f32")
    g.matmul(x, g.dequantize(w, 0.01) if bytes_ else w, g.const(1000))
    g.write()


def heads(g, x, tokens, count, size):
    return g.transpose(g.reshape(x, [1, tokens, count, size]), [0, 2, 1, 3])


def bert(layers, tokens=128, width=768, count=12):
    g = Graph("bert-base")
    x, mask = g.input(1, tokens, width), g.input(1, 1, 1, tokens)
    linear = lambda x, n, m: g.matmul(x, g.const(n, m), g.const(m))
    for _ in range(layers):
        q, k, v = (heads(g, linear(x, width, width), tokens, count, width // count) for _ in range(3))
        y = g.transpose(attention(g, q, k, v, mask=mask), [0, 2, 1, 3])
        y = linear(g.reshape(y, [1, tokens, width]), width, width)
        x = g.layer_norm(g.binary("Add", y, x))
        y = linear(g.unary("GELU", linear(x, width, 4 * width)), 4 * width, width)
        x = g.layer_norm(g.binary("Add", y, x))
    g.write()


def llama(tokens=128, width=1024, count=16, shared=4, inner=2816):
    """A block with grouped heads and a gated perceptron; positions are rotated before, where the graph begins."""
    g = Graph("llama-block")
    size = width // count
    x = g.input(1, tokens, width)
    y = g.layer_norm(x)
    q = heads(g, g.matmul(y, g.const(width, width)), tokens, count, size)
    k, v = (heads(g, g.matmul(y, g.const(width, shared * size)), tokens, shared, size) for _ in range(2))
    q = g.reshape(q, [1, shared, count // shared, tokens, size])
    k, v = (g.reshape(t, [1, shared, 1, tokens, size]) for t in (k, v))
    y = g.reshape(attention(g, q, k, v), [1, count, tokens, size])
    y = g.reshape(g.transpose(y, [0, 2, 1, 3]), [1, tokens, width])
    x = g.binary("Add", g.matmul(y, g.const(width, width)), x)
    y = g.layer_norm(x)
    gate, up = g.matmul(y, g.const(width, inner)), g.matmul(y, g.const(width, inner))
    gate = g.binary("Multiply", gate, g.unary("Sigmoid", gate))
    y = g.matmul(g.binary("Multiply", gate, up), g.const(inner, width))
    g.binary("Add", y, x)
    g.write()


sdpa()
blocks()
stages()
resnet50(False)
resnet50(True)
bert(12)
llama()
