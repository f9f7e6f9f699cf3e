//! Convolutions, deconvolutions, products of matrices and perceptrons, of numbers and of bytes, with what follows them.

use super::builder::{Attrs, ints};
use super::chains::{CHAINS, chain};
use super::{Named, Net};
use oxidnn_graph::{AttrId, AttrValue, LogicalTensor, OpKind};
use oxidnn_spec::DataType::{self, Bf16, F32, S8, U8};

/// A kind of product with the sizes of its tensors.
#[derive(Clone, Copy)]
struct Product {
    kind: OpKind,
    src: &'static [i64],
    weights: &'static [i64],
    dst: &'static [i64],
    /// Where the weights' output channels stand.
    axis: i64,
    /// Patterns: of numbers, of bytes, of bytes with a sum; the same by way of a smaller type.
    names: [&'static str; 5],
}

const CONV: Product = Product {
    kind: OpKind::Convolution,
    src: &[1, 6, 6, 4],
    weights: &[3, 3, 4, 8],
    dst: &[1, 6, 6, 8],
    axis: 3,
    names: [
        "fp_conv_post_ops",
        "x8x8x_conv_post_ops",
        "x8x8x8_conv_add_post_ops_cpu",
        "x8s8x_tc_conv_post_ops",
        "x8s8x_tc_conv_add_post_ops_cpu",
    ],
};
const DECONV: Product = Product {
    kind: OpKind::ConvTranspose,
    src: &[1, 4, 4, 4],
    weights: &[3, 3, 8, 4],
    dst: &[1, 4, 4, 8],
    axis: 2,
    names: ["fp_convtranspose_post_ops", "x8s8x8_convtranspose_post_ops_cpu", "x8s8x8_convtranspose_add_post_ops_cpu", "", ""],
};
const MATMUL: Product = Product {
    kind: OpKind::MatMul,
    src: &[2, 5, 16],
    weights: &[16, 8],
    dst: &[2, 5, 8],
    axis: 1,
    names: [
        "fp_matmul_post_ops",
        "x8x8x_matmul_post_ops",
        "x8x8x8_matmul_add_post_ops_cpu",
        "x8x8x_tc_matmul_post_ops",
        "x8x8x8_tc_matmul_add_post_ops_cpu",
    ],
};

fn named(pattern: &str, variant: impl std::fmt::Display, build: impl FnOnce(&mut Net)) -> Named {
    let mut net = Net::default();
    build(&mut net);
    (format!("{pattern}/{variant}"), net)
}

fn windows(pad: i64) -> Attrs {
    let pair = |v: i64| ints(&[v, v]);
    vec![(AttrId::Strides, pair(1)), (AttrId::PadsBegin, pair(pad)), (AttrId::PadsEnd, pair(pad)), (AttrId::Dilations, pair(1))]
}

impl Product {
    fn of(&self, net: &mut Net, inputs: &[LogicalTensor], dtype: DataType) -> LogicalTensor {
        let attrs = if self.kind == OpKind::MatMul { Attrs::new() } else { windows(1) };
        net.op(self.kind, inputs, dtype, attrs)
    }

    fn channels(&self) -> i64 {
        self.dst[self.dst.len() - 1]
    }

    fn biased(&self, net: &mut Net, x: LogicalTensor, dtype: DataType) -> LogicalTensor {
        let bias = net.constant(dtype, &[self.channels()]);
        net.op(OpKind::BiasAdd, &[x, bias], dtype, Attrs::new())
    }

    fn numbers(&self, net: &mut Net, dtype: DataType, bias: &str) -> LogicalTensor {
        let mut inputs = vec![net.input(dtype, self.src), net.constant(dtype, self.weights)];
        if bias == "own" {
            inputs.push(net.constant(dtype, &[self.channels()]));
        }
        let x = self.of(net, &inputs, dtype);
        if bias == "op" { self.biased(net, x, dtype) } else { x }
    }

    /// Of bytes; by way of `through`, where that is smaller than f32.
    fn bytes(&self, net: &mut Net, src: DataType, through: DataType, weights: &str, bias: bool) -> LogicalTensor {
        let x = net.input(src, self.src);
        let x = net.dequantize(x, 0.0625, if src == U8 { 3 } else { 0 });
        let w = match weights {
            "f32" => {
                let w = net.constant(F32, self.weights);
                net.quantize(w, S8, 0.0625, 0)
            }
            _ => net.constant(S8, self.weights),
        };
        let w = if weights == "channels" { net.dequantize_channels(w, self.channels(), self.axis) } else { net.dequantize(w, 0.0625, 0) };
        let (x, w) = if through == F32 { (x, w) } else { (net.cast(x, through), net.cast(w, through)) };
        let y = self.of(net, &[x, w], through);
        if bias { self.biased(net, y, through) } else { y }
    }
}

fn plain(out: &mut Vec<Named>, p: Product) {
    for (name, kinds) in CHAINS {
        for (bias, tail) in [("", ""), ("own", ""), ("op", ""), ("op", "+bf16")] {
            out.push(named(p.names[0], format_args!("[{bias}]{name}{tail}"), |net| {
                let x = p.numbers(net, F32, bias);
                let x = chain(net, x, p.dst, kinds, p.dst.len() == 4 && bias.is_empty());
                if !tail.is_empty() {
                    net.cast(x, Bf16);
                }
            }));
        }
        out.push(named(p.names[0], format_args!("bf16,{name}"), |net| {
            let x = p.numbers(net, Bf16, "");
            chain(net, x, p.dst, kinds, false);
        }));
    }
    for count in [18, 19, 20, 21] {
        out.push(named(p.names[0], format_args!("long{count}"), |net| {
            let x = p.numbers(net, F32, "");
            chain(net, x, p.dst, &vec![OpKind::Tanh; count], false);
        }));
    }
    for (from, to) in [(F32, Bf16), (Bf16, F32)] {
        for kinds in [&[][..], &[OpKind::Relu]] {
            out.push(named(p.names[0], format_args!("cast{from}{to}+{}", kinds.len()), |net| {
                let x = p.numbers(net, from, "");
                let x = chain(net, x, p.dst, kinds, false);
                net.cast(x, to);
            }));
        }
    }
    out.push(named(p.names[0], "alone", |net| {
        p.numbers(net, F32, "");
    }));
    let swish = |net: &mut Net, x: LogicalTensor| {
        let s = net.unary(OpKind::Sigmoid, x);
        net.binary(OpKind::Multiply, x, s)
    };
    for kinds in [&[][..], &[OpKind::Add], &[OpKind::Relu, OpKind::Multiply]] {
        out.push(named(p.names[0], format_args!("swish+{}", kinds.len()), |net| {
            let x = p.numbers(net, F32, "op");
            let x = swish(net, x);
            chain(net, x, p.dst, kinds, false);
        }));
        let before = [OpKind::Relu, OpKind::Tanh, OpKind::Add, OpKind::Divide];
        for kind in before.into_iter().filter(|_| p.kind == OpKind::Convolution) {
            out.push(named("fp_conv_post_ops_swish_post_ops", format_args!("{}+{}", kind.name(), kinds.len()), |net| {
                let x = p.numbers(net, F32, "");
                let x = chain(net, x, p.dst, &[kind], false);
                let x = swish(net, x);
                chain(net, x, p.dst, kinds, false);
            }));
        }
    }
}

fn quantised(out: &mut Vec<Named>, p: Product) {
    let chains = [&[][..], &[OpKind::Relu], &[OpKind::Multiply, OpKind::Add], &[OpKind::Gelu, OpKind::Maximum, OpKind::Tanh]];
    for through in [F32, Bf16] {
        let cast = |net: &mut Net, x: LogicalTensor, dtype: DataType| if through == F32 { x } else { net.cast(x, dtype) };
        let name = if through == F32 { p.names[1] } else { p.names[3] };
        let sum = if through == F32 { p.names[2] } else { p.names[4] };
        if name.is_empty() {
            continue;
        }
        for (i, kinds) in chains.iter().enumerate() {
            for (src, dst, weights) in [(U8, Some(U8), "bytes"), (S8, Some(S8), "channels"), (U8, None, "f32")] {
                let bias = i % 2 == 1;
                let to = dst.map_or("f32", |d| d.name());
                out.push(named(name, format_args!("{src}{weights}{to}+{i}"), |net| {
                    let x = p.bytes(net, src, through, weights, bias);
                    let x = chain(net, x, p.dst, kinds, false);
                    if let Some(dtype) = dst {
                        let x = cast(net, x, F32);
                        net.quantize(x, dtype, 0.25, 1);
                    }
                }));
                out.push(named(sum, format_args!("{src}{weights}{to}+{i}"), |net| {
                    let x = p.bytes(net, src, through, weights, bias);
                    let other = net.input(src, p.dst);
                    let other = net.dequantize(other, 0.5, if src == U8 { 2 } else { 0 });
                    let other = cast(net, other, through);
                    let x = net.binary(OpKind::Add, x, other);
                    let x = chain(net, x, p.dst, kinds, false);
                    if let Some(dtype) = dst {
                        let x = cast(net, x, F32);
                        net.quantize(x, dtype, 0.5, 1);
                    }
                }));
            }
        }
    }
}

fn convolutions(out: &mut Vec<Named>) {
    let norm = |net: &mut Net, x: LogicalTensor| {
        let all: Vec<LogicalTensor> = (0..3).map(|_| net.constant(F32, &[8])).collect();
        let variance = net.constant(F32, &[8]);
        let variance = net.unary(OpKind::Square, variance);
        let inputs = [x, all[0], all[1], all[2], variance];
        net.op(OpKind::BatchNormInference, &inputs, F32, vec![(AttrId::Epsilon, super::builder::real(0.01))])
    };
    for bias in ["", "own", "op"] {
        for kinds in [&[][..], &[OpKind::Relu], &[OpKind::Relu, OpKind::Add]] {
            out.push(named("fp_conv_post_ops", format_args!("bn[{bias}]+{}", kinds.len()), |net| {
                let x = CONV.numbers(net, F32, bias);
                let x = norm(net, x);
                chain(net, x, CONV.dst, kinds, false);
            }));
        }
    }
    for (bias, kinds) in [(false, &[][..]), (true, &[]), (true, &[OpKind::Relu]), (false, &[OpKind::Relu, OpKind::Add])] {
        out.push(named("fp_conv_depthwise_postops_cpu", format_args!("{bias}+{}", kinds.len()), |net| {
            let (x, w, d) = (net.input(F32, &[1, 6, 6, 4]), net.constant(F32, &[1, 1, 4, 8]), net.constant(F32, &[3, 3, 1, 8]));
            let mut x = net.op(OpKind::Convolution, &[x, w], F32, windows(0));
            if bias {
                x = CONV.biased(net, x, F32);
            }
            let mut attrs = windows(1);
            attrs.push((AttrId::Groups, AttrValue::S64(8)));
            let x = net.op(OpKind::Convolution, &[x, d], F32, attrs);
            chain(net, x, CONV.dst, kinds, false);
        }));
    }
    for (i, kinds) in [&[][..], &[OpKind::Relu][..], &[OpKind::Relu, OpKind::Add]].into_iter().enumerate() {
        for end in [true, false] {
            out.push(named("x8s8x_conv_reshape_post_ops", format_args!("weights{i}{end}"), |net| {
                let (x, w) = (net.input(U8, &[1, 6, 6, 8]), net.constant(F32, &[3, 3, 8, 1]));
                let x = net.dequantize(x, 0.0625, 3);
                let w = net.reshape(w, &[3, 3, 8]);
                let w = net.quantize(w, S8, 0.0625, 0);
                let w = net.dequantize(w, 0.0625, 0);
                let w = net.reshape(w, &[3, 3, 1, 8]);
                let mut attrs = windows(1);
                attrs.push((AttrId::Groups, AttrValue::S64(8)));
                let x = net.op(OpKind::Convolution, &[x, w], F32, attrs);
                let x = if i == 1 { CONV.biased(net, x, F32) } else { x };
                let x = chain(net, x, CONV.dst, kinds, false);
                if end {
                    net.quantize(x, U8, 0.25, 0);
                }
            }));
        }
    }
    for (src, kinds) in [(U8, &[][..]), (S8, &[OpKind::Relu][..]), (S8, &[]), (U8, &[OpKind::Add, OpKind::Relu])] {
        out.push(named("x8s8x_conv_reshape_post_ops", format_args!("{src}+{}", kinds.len()), |net| {
            let x = CONV.bytes(net, src, F32, "bytes", src == S8 && kinds.is_empty());
            let x = net.reshape(x, &[1, 36, 8]);
            let x = chain(net, x, &[1, 36, 8], kinds, false);
            net.quantize(x, src, 0.25, 0);
        }));
    }
}

fn heads(net: &mut Net, x: LogicalTensor, how: &str) -> LogicalTensor {
    let mut x = x;
    for word in how.split(',') {
        x = match word {
            "split" => net.reshape(x, &[2, 5, 2, 4]),
            "turn" => net.transpose(x, &[0, 2, 1, 3]),
            "turn3" => net.transpose(x, &[0, 2, 1]),
            "join" => net.reshape(x, &[2, 40]),
            _ => net.op(OpKind::Reorder, &[x], x.dtype.expect("a type"), Attrs::new()),
        };
    }
    x
}

fn matrices(out: &mut Vec<Named>) {
    let moved = [
        ("reshape_transpose_reshape", "split,turn"),
        ("reshape_transpose_reshape", "split,turn,join"),
        ("transpose_reorder", "turn3,reorder"),
        ("transpose_reorder", "turn3,join"),
        ("transpose_reorder", "turn3"),
    ];
    for (pattern, how) in moved {
        for bias in ["", "op"] {
            out.push(named(&format!("fp_matmul_{pattern}"), format_args!("{how}[{bias}]"), |net| {
                let x = MATMUL.numbers(net, F32, bias);
                heads(net, x, how);
            }));
        }
        for (name, through) in [("x8x8x8_matmul_", F32), ("x8x8x8_tc_matmul_", Bf16)] {
            out.push(named(&format!("{name}{pattern}"), how, |net| {
                let x = MATMUL.bytes(net, U8, through, "bytes", false);
                let x = heads(net, x, how);
                let x = if through == F32 { x } else { net.cast(x, F32) };
                net.quantize(x, U8, 0.25, 1);
            }));
        }
    }
    for dims in [&[2, 5, 8][..], &[1, 1, 1]] {
        out.push(named("fp_matmul_post_ops", format_args!("select{dims:?}"), |net| {
            let x = MATMUL.numbers(net, F32, "op");
            let (condition, other) = (net.input(DataType::Boolean, &[2, 5, 8]), net.input(F32, dims));
            net.op(OpKind::Select, &[condition, x, other], F32, Attrs::new());
        }));
    }
    for (name, a, b, flags) in [("tt", [16, 5], [8, 16], [true, true]), ("nt", [5, 16], [8, 16], [false, true])] {
        out.push(named("fp_matmul_post_ops", name, |net| {
            let (a, b) = (net.input(F32, &a), net.input(F32, &b));
            let attrs = vec![(AttrId::TransposeA, AttrValue::Bool(flags[0])), (AttrId::TransposeB, AttrValue::Bool(flags[1]))];
            let x = net.op(OpKind::MatMul, &[a, b], F32, attrs);
            chain(net, x, &[5, 8], &[OpKind::Add, OpKind::Relu], true);
        }));
    }
    let before =
        [&[OpKind::Multiply][..], &[OpKind::Multiply, OpKind::Add], &[OpKind::Add], &[OpKind::Divide, OpKind::Subtract, OpKind::Add], &[]];
    let after =
        [&[][..], &[OpKind::Add], &[OpKind::Divide, OpKind::Add], &[OpKind::Maximum, OpKind::Add, OpKind::Multiply], &[OpKind::Relu]];
    for (i, first) in before.iter().enumerate() {
        for (j, last) in after.iter().enumerate() {
            for (side, dtype) in [(0, F32), (1, F32), (0, Bf16)] {
                out.push(named("float_bmb", format_args!("{dtype}{side}:{i}{j}"), |net| {
                    let (mut a, mut b) = (net.input(dtype, &[5, 16]), net.input(dtype, &[16, 8]));
                    if side == 0 {
                        a = chain(net, a, &[5, 16], first, false);
                    } else {
                        b = chain(net, b, &[16, 8], first, false);
                    }
                    let x = net.op(OpKind::MatMul, &[a, b], dtype, Attrs::new());
                    chain(net, x, &[5, 8], last, false);
                }));
            }
        }
    }
}

fn perceptrons(out: &mut Vec<Named>) {
    let acts: [&[OpKind]; 5] = [&[], &[OpKind::Relu], &[OpKind::Gelu], &[OpKind::Sigmoid], &[OpKind::Abs]];
    for dtype in [F32, Bf16] {
        for act in ["none", "relu", "gelu", "sigmoid", "abs", "swish", "swish_v1"] {
            out.push(named("gated_mlp", format_args!("{dtype}{act}"), |net| {
                let x = net.input(dtype, &[6, 16]);
                let (gate, up, down) = (net.constant(dtype, &[16, 24]), net.constant(dtype, &[16, 24]), net.constant(dtype, &[24, 16]));
                let up = net.op(OpKind::MatMul, &[x, up], dtype, Attrs::new());
                let gate = net.op(OpKind::MatMul, &[x, gate], dtype, Attrs::new());
                let product = match act {
                    "swish" => {
                        let s = net.unary(OpKind::Sigmoid, gate);
                        let g = net.binary(OpKind::Multiply, gate, s);
                        net.binary(OpKind::Multiply, g, up)
                    }
                    "swish_v1" => {
                        let s = net.unary(OpKind::Sigmoid, gate);
                        let g = net.binary(OpKind::Multiply, s, up);
                        net.binary(OpKind::Multiply, gate, g)
                    }
                    name => {
                        let index = ["none", "relu", "gelu", "sigmoid", "abs"].iter().position(|n| *n == name).unwrap_or(0);
                        let g = chain(net, gate, &[6, 24], acts[index], false);
                        net.binary(OpKind::Multiply, g, up)
                    }
                };
                net.op(OpKind::MatMul, &[product, down], dtype, Attrs::new());
            }));
        }
    }
    for weights in [S8, U8, DataType::S4] {
        for act in ["", "none", "relu", "gelu"] {
            out.push(named("quantized_gated_mlp", format_args!("{weights}{act}"), |net| quantized_perceptron(net, weights, act)));
        }
    }
}

/// A gated perceptron by weights of bytes or less in groups; with a swish where there is no word for its function.
fn quantized_perceptron(net: &mut Net, weights: DataType, act: &str) {
    let x = net.input(F32, &[6, 32]);
    let few = |net: &mut Net, dims: [i64; 2]| {
        let (w, s) = (net.constant(weights, &dims), net.constant(F32, &[dims[0] / 16, dims[1]]));
        let attrs = vec![
            (AttrId::Qtype, super::builder::word("per_group")),
            (AttrId::GroupShape, ints(&[16, 1])),
            (AttrId::Axis, AttrValue::S64(1)),
        ];
        net.op(OpKind::DynamicDequantize, &[w, s], F32, attrs)
    };
    let (gate, up, down) = (few(net, [32, 48]), few(net, [32, 48]), few(net, [48, 32]));
    let up = net.op(OpKind::MatMul, &[x, up], F32, Attrs::new());
    let gate = net.op(OpKind::MatMul, &[x, gate], F32, Attrs::new());
    let g = match act {
        "none" => gate,
        "relu" => net.unary(OpKind::Relu, gate),
        "gelu" => net.unary(OpKind::Gelu, gate),
        _ => {
            let s = net.unary(OpKind::Sigmoid, gate);
            net.binary(OpKind::Multiply, gate, s)
        }
    };
    let g = net.binary(OpKind::Multiply, g, up);
    net.op(OpKind::MatMul, &[g, down], F32, Attrs::new());
}

/// A residual block: `count` convolutions beside a shortcut.
fn block(net: &mut Net, x: LogicalTensor, style: &str, count: usize, projected: bool) -> LogicalTensor {
    let bytes = style != "f32";
    let read = |net: &mut Net, x: LogicalTensor| if bytes { net.dequantize(x, 0.125, 0) } else { x };
    let conv = |net: &mut Net, x: LogicalTensor| {
        let dims = [1, 1, 8, 8];
        let w = if bytes { net.constant(S8, &dims) } else { net.constant(F32, &dims) };
        let w = if bytes { net.dequantize(w, 0.015625, 0) } else { w };
        let bias = net.constant(F32, &[8]);
        if style == "itex" {
            let x = net.op(OpKind::Convolution, &[x, w], F32, windows(0));
            net.op(OpKind::BiasAdd, &[x, bias], F32, Attrs::new())
        } else {
            net.op(OpKind::Convolution, &[x, w, bias], F32, windows(0))
        }
    };
    let written = |net: &mut Net, x: LogicalTensor| if bytes { net.quantize(x, U8, 0.125, 0) } else { x };
    let mut y = x;
    for _ in 1..count {
        let r = read(net, y);
        let c = conv(net, r);
        let c = net.unary(OpKind::Relu, c);
        y = written(net, c);
    }
    let r = read(net, y);
    let y = conv(net, r);
    let short = read(net, x);
    let short = if projected {
        let c = conv(net, short);
        if bytes {
            let q = net.quantize(c, S8, 0.125, 0);
            net.dequantize(q, 0.125, 0)
        } else {
            c
        }
    } else {
        short
    };
    let y = net.binary(OpKind::Add, y, short);
    let y = net.unary(OpKind::Relu, y);
    written(net, y)
}

fn stages(out: &mut Vec<Named>) {
    out.push(named("int8_resnet50_stage", "resnext101", |net| {
        let mut x = net.input(U8, &[1, 2, 2, 8]);
        for blocks in [3, 4, 23, 3] {
            for i in 0..blocks {
                x = block(net, x, "int8", 3, i == 0);
            }
        }
    }));
    for (style, count) in [("int8", 3), ("int8", 2), ("f32", 3), ("itex", 3)] {
        for blocks in [2, 3, 4, 6] {
            let name = format!("{style}_resnet{}_stage", if count == 2 { 34 } else { 50 });
            out.push(named(&name, blocks, |net| {
                let mut x = net.input(if style == "f32" { F32 } else { U8 }, &[1, 4, 4, 8]);
                for i in 0..blocks {
                    x = block(net, x, style, count, i == 0);
                }
            }));
        }
    }
}

/// The graphs of these patterns.
pub(crate) fn all() -> Vec<Named> {
    let mut out = Vec::new();
    for p in [CONV, DECONV, MATMUL] {
        plain(&mut out, p);
        quantised(&mut out, p);
    }
    convolutions(&mut out);
    matrices(&mut out);
    perceptrons(&mut out);
    stages(&mut out);
    out
}
