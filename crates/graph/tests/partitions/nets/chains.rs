//! Chains that begin with functions of elements, reductions, normalisations, pooling and movements.

use super::builder::{Attrs, ints, real};
use super::{Named, Net};
use oxidnn_graph::{AttrId, AttrValue, LogicalTensor, OpKind};
use oxidnn_spec::DataType::{self, Bf16, F32, S8, U8};

const UNARY: [OpKind; 17] = [
    OpKind::Abs,
    OpKind::Clamp,
    OpKind::Elu,
    OpKind::Exp,
    OpKind::Gelu,
    OpKind::HardSigmoid,
    OpKind::HardSwish,
    OpKind::LeakyRelu,
    OpKind::Log,
    OpKind::Mish,
    OpKind::Relu,
    OpKind::Round,
    OpKind::Sigmoid,
    OpKind::SoftPlus,
    OpKind::Sqrt,
    OpKind::Square,
    OpKind::Tanh,
];
const BINARY: [OpKind; 6] = [OpKind::Add, OpKind::Multiply, OpKind::Maximum, OpKind::Minimum, OpKind::Divide, OpKind::Subtract];

fn named(pattern: &str, variant: impl std::fmt::Display, build: impl FnOnce(&mut Net)) -> Named {
    let mut net = Net::default();
    build(&mut net);
    (format!("{pattern}/{variant}"), net)
}

/// A chain of functions behind a tensor: the kinds that are named, the other operand of size 1 in front where `narrow`.
pub(crate) fn chain(net: &mut Net, x: LogicalTensor, dims: &[i64], kinds: &[OpKind], narrow: bool) -> LogicalTensor {
    let mut x = x;
    for &kind in kinds {
        x = match BINARY.contains(&kind) {
            true => {
                let mut dims = dims.to_vec();
                if narrow {
                    dims[0] = 1;
                }
                let other = net.input(x.dtype.expect("a type"), &dims);
                net.binary(kind, x, other)
            }
            false => net.unary(kind, x),
        };
    }
    x
}

/// Chains that patterns are tried with.
pub(crate) const CHAINS: [(&str, &[OpKind]); 7] = [
    ("relu", &[OpKind::Relu]),
    ("add", &[OpKind::Add]),
    ("mul,add,relu", &[OpKind::Multiply, OpKind::Add, OpKind::Relu]),
    ("gelu,sub,tanh", &[OpKind::Gelu, OpKind::Subtract, OpKind::Tanh]),
    ("max,min", &[OpKind::Maximum, OpKind::Minimum]),
    ("abs,div,abs,add", &[OpKind::Abs, OpKind::Divide, OpKind::Abs, OpKind::Add]),
    ("clamp,sigmoid,mul", &[OpKind::Clamp, OpKind::Sigmoid, OpKind::Multiply]),
];

fn binary_chains(out: &mut Vec<Named>) {
    let dims = [2, 3, 4];
    for kind in BINARY {
        for (name, kinds) in CHAINS {
            out.push(named("fp_binary_post_ops", format_args!("{}+{name}", kind.name()), |net| {
                let (a, b) = (net.input(F32, &dims), net.input(F32, &[1, 3, 1]));
                let x = net.binary(kind, a, b);
                chain(net, x, &dims, kinds, false);
            }));
        }
    }
    for count in [1, 2, 6, 20, 21, 22] {
        out.push(named("fp_binary_post_ops", format_args!("long{count}"), |net| {
            let (a, b) = (net.input(F32, &dims), net.input(F32, &dims));
            let x = net.binary(OpKind::Multiply, a, b);
            chain(net, x, &dims, &vec![OpKind::Tanh; count], false);
        }));
        out.push(named("sum_fusion", format_args!("{count}"), |net| {
            let (a, b) = (net.input(F32, &dims), net.input(F32, &dims));
            let x = net.binary(OpKind::Add, a, b);
            chain(net, x, &dims, &vec![OpKind::Add; count], false);
        }));
    }
    for kind in UNARY {
        for (name, kinds) in
            [("add", &[OpKind::Add][..]), ("mul,sub", &[OpKind::Multiply, OpKind::Subtract]), ("relu,add", &[OpKind::Relu, OpKind::Add])]
        {
            out.push(named("fp_eltwise_binary", format_args!("{}+{name}", kind.name()), |net| {
                let x = net.input(F32, &dims);
                // Logarithms and roots of what is positive.
                let x = net.unary(OpKind::Abs, x);
                let x = net.unary(kind, x);
                chain(net, x, &dims, kinds, true);
            }));
        }
    }
    out.push(named("fp_reciprocal_multiply", "left", |net| {
        let (x, y) = (net.input(F32, &dims), net.input(F32, &dims));
        let x = net.unary(OpKind::Reciprocal, x);
        net.binary(OpKind::Multiply, x, y);
    }));
    out.push(named("fp_reciprocal_multiply", "right", |net| {
        let (x, y) = (net.input(F32, &dims), net.input(F32, &dims));
        let x = net.unary(OpKind::Reciprocal, x);
        net.binary(OpKind::Multiply, y, x);
    }));
    out.push(named("fp_binary_post_ops", "swish", |net| {
        let (a, b) = (net.input(F32, &dims), net.input(F32, &dims));
        let x = net.binary(OpKind::Add, a, b);
        let s = net.unary(OpKind::Sigmoid, x);
        net.binary(OpKind::Multiply, x, s);
    }));
    out.push(named("fp_binary_post_ops", "read_twice", |net| {
        let (a, b) = (net.input(F32, &dims), net.input(F32, &dims));
        let x = net.binary(OpKind::Add, a, b);
        let y = net.unary(OpKind::Relu, x);
        net.unary(OpKind::Tanh, x);
        net.unary(OpKind::Abs, y);
    }));
}

fn movements(out: &mut Vec<Named>) {
    for (n, dims) in [(1, [2, 12, 4, 4]), (2, [1, 6, 3, 5])] {
        out.push(named("shuffle_fusion", n, |net| {
            let x = net.input(F32, &dims);
            let x = net.reshape(x, &[dims[0], 3, dims[1] / 3, dims[2], dims[3]]);
            let x = net.transpose(x, &[0, 2, 1, 3, 4]);
            net.reshape(x, &dims);
        }));
    }
    for dtype in [U8, S8] {
        out.push(named("typecast_quantize_fusion", dtype, |net| {
            let x = net.input(Bf16, &[2, 3, 4]);
            let x = net.cast(x, F32);
            net.quantize(x, dtype, 0.25, 0);
        }));
        for (inputs, scale) in [(2, 0.5), (3, 0.25)] {
            out.push(named("int8_concat_fusion", format_args!("{dtype}x{inputs}"), |net| {
                let all: Vec<LogicalTensor> = (0..inputs)
                    .map(|_| {
                        let x = net.input(dtype, &[2, 3, 4]);
                        net.dequantize(x, 0.25, 2)
                    })
                    .collect();
                let x = net.op(OpKind::Concat, &all, F32, vec![(AttrId::Axis, AttrValue::S64(1))]);
                net.quantize(x, dtype, scale, 2);
            }));
        }
        out.push(named("x8_reorder", dtype, |net| {
            let x = net.input(dtype, &[2, 3, 4]);
            let x = net.dequantize(x, 0.5, 3);
            let x = net.op(OpKind::Reorder, &[x], F32, Attrs::new());
            net.quantize(x, dtype, 0.25, 1);
        }));
        for broadcast in ["numpy", "none"] {
            out.push(named("x8_reorder_sum_cpu", format_args!("{dtype}{broadcast}"), |net| {
                let (x, y) = (net.input(dtype, &[2, 3, 4]), net.input(dtype, &[2, 3, 4]));
                let (x, y) = (net.dequantize(x, 0.5, 3), net.dequantize(y, 0.25, 0));
                let x = net.op(OpKind::Reorder, &[x], F32, Attrs::new());
                let x = net.op(OpKind::Add, &[x, y], F32, vec![(AttrId::AutoBroadcast, super::builder::word(broadcast))]);
                net.quantize(x, dtype, 0.5, 1);
            }));
        }
    }
    for broadcast in ["numpy", "none"] {
        out.push(named("fp_reorder_sum", broadcast, |net| {
            let (x, y) = (net.input(F32, &[2, 3, 4]), net.input(F32, &[2, 3, 4]));
            let x = net.op(OpKind::Reorder, &[x], F32, Attrs::new());
            net.op(OpKind::Add, &[x, y], F32, vec![(AttrId::AutoBroadcast, super::builder::word(broadcast))]);
        }));
    }
}

fn reductions(out: &mut Vec<Named>) {
    let dims = [2, 3, 4, 4];
    let kinds = [
        OpKind::ReduceL1,
        OpKind::ReduceL2,
        OpKind::ReduceMax,
        OpKind::ReduceMean,
        OpKind::ReduceMin,
        OpKind::ReduceProd,
        OpKind::ReduceSum,
    ];
    for kind in kinds {
        for (name, chained) in CHAINS {
            out.push(named("fp_reduction_post_ops", format_args!("{}+{name}", kind.name()), |net| {
                let x = net.input(F32, &dims);
                let attrs = vec![(AttrId::Axes, ints(&[1, 2])), (AttrId::KeepDims, AttrValue::Bool(name.len() % 2 == 0))];
                let x = net.op(kind, &[x], F32, attrs);
                let kept = if name.len() % 2 == 0 { vec![2, 1, 1, 4] } else { vec![2, 4] };
                chain(net, x, &kept, chained, false);
            }));
        }
    }
}

fn rows(out: &mut Vec<Named>) {
    let dims = [2, 3, 4, 4];
    for (name, chained) in CHAINS {
        for tail in ["", "+u8", "+bf16"] {
            let ends = |net: &mut Net, x: LogicalTensor| match tail {
                "+u8" => {
                    net.quantize(x, U8, 0.125, 3);
                }
                "+bf16" => {
                    net.cast(x, Bf16);
                }
                _ => {}
            };
            out.push(named("fp_softmax_post_ops", format_args!("{name}{tail}"), |net| {
                let x = net.input(F32, &dims);
                let x = net.op(OpKind::SoftMax, &[x], F32, vec![(AttrId::Axis, AttrValue::S64(-1))]);
                let x = chain(net, x, &dims, chained, true);
                ends(net, x);
            }));
            out.push(named("layernorm_post_ops_fusion_cpu", format_args!("{name}{tail}"), |net| {
                let (x, gamma, beta) = (net.input(F32, &dims), net.input(F32, &[4]), net.input(F32, &[4]));
                let attrs = vec![(AttrId::KeepStats, AttrValue::Bool(false))];
                let x = net.op(OpKind::LayerNorm, &[x, gamma, beta], F32, attrs);
                let x = chain(net, x, &dims, chained, true);
                ends(net, x);
            }));
            out.push(named("groupnorm_post_ops_fusion", format_args!("{name}{tail}"), |net| {
                let (x, gamma, beta) = (net.input(F32, &dims), net.input(F32, &[4]), net.input(F32, &[4]));
                let attrs = vec![(AttrId::KeepStats, AttrValue::Bool(false)), (AttrId::Groups, AttrValue::S64(2))];
                let x = net.op(OpKind::GroupNorm, &[x, gamma, beta], F32, attrs);
                let x = chain(net, x, &dims, chained, true);
                ends(net, x);
            }));
        }
        out.push(named("fp_interpolate_post_ops", name, |net| {
            let x = net.input(F32, &dims);
            let attrs = vec![(AttrId::Mode, super::builder::word("nearest")), (AttrId::Sizes, ints(&[6, 8]))];
            let x = net.op(OpKind::Interpolate, &[x], F32, attrs);
            chain(net, x, &[2, 6, 8, 4], chained, false);
        }));
    }
}

fn batch_norms(out: &mut Vec<Named>) {
    let dims = [2, 3, 4, 4];
    let batch = |net: &mut Net, x: LogicalTensor| {
        let all: Vec<LogicalTensor> = (0..3).map(|_| net.input(F32, &[4])).collect();
        let variance = net.input(F32, &[4]);
        let variance = net.unary(OpKind::Square, variance);
        let inputs = [x, all[0], all[1], all[2], variance];
        net.op(OpKind::BatchNormInference, &inputs, F32, vec![(AttrId::Epsilon, real(0.01))])
    };
    for end in ["", "relu", "relu,relu", "abs"] {
        out.push(named("fp_bnorm_relu", format_args!("[{end}]"), |net| {
            let x = net.input(F32, &dims);
            let mut x = batch(net, x);
            for word in end.split(',').filter(|w| !w.is_empty()) {
                x = net.unary(if word == "abs" { OpKind::Abs } else { OpKind::Relu }, x);
            }
        }));
        if end != "abs" {
            out.push(named("s8f32s8_bnorm", format_args!("[{end}]"), |net| {
                let x = net.input(S8, &dims);
                let x = net.dequantize(x, 0.125, 0);
                let mut x = batch(net, x);
                for _ in end.split(',').filter(|w| !w.is_empty()) {
                    x = net.unary(OpKind::Relu, x);
                }
                net.quantize(x, S8, 0.25, 0);
            }));
        }
    }
    for (count, use_dst, port) in [(1, true, 1), (3, true, 1), (1, false, 0), (3, false, 0), (1, true, 0), (3, true, 0)] {
        out.push(named("fp_bnorm_bwd_relu_bwd", format_args!("{count}{use_dst}{port}"), |net| {
            let (src, diff, relu) = (net.input(F32, &dims), net.input(F32, &dims), net.input(F32, &dims));
            let (mean, gamma) = (net.input(F32, &[4]), net.input(F32, &[4]));
            let variance = net.input(F32, &[4]);
            let diff = net.op(OpKind::ReluBackward, &[relu, diff], F32, vec![(AttrId::UseDst, AttrValue::Bool(use_dst))]);
            let variance = net.unary(OpKind::Square, variance);
            let (src, diff) = if port == 1 { (src, diff) } else { (diff, src) };
            let inputs = [src, diff, mean, variance, gamma];
            net.outs(OpKind::BatchNormTrainingBackward, &inputs, &[F32; 3][..count], vec![(AttrId::Epsilon, real(0.01))]);
        }));
    }
}

fn forks(out: &mut Vec<Named>) {
    let dims = [2, 3, 4, 4];
    let forked = |net: &mut Net, x: LogicalTensor| {
        let s = net.unary(OpKind::Sigmoid, x);
        net.binary(OpKind::Multiply, x, s);
    };
    out.push(named("fp_softmax_post_ops", "swish", |net| {
        let x = net.input(F32, &dims);
        let x = net.op(OpKind::SoftMax, &[x], F32, vec![(AttrId::Axis, AttrValue::S64(-1))]);
        forked(net, x);
    }));
    out.push(named("fp_reduction_post_ops", "swish", |net| {
        let x = net.input(F32, &dims);
        let x = net.op(OpKind::ReduceSum, &[x], F32, vec![(AttrId::Axes, ints(&[1])), (AttrId::KeepDims, AttrValue::Bool(true))]);
        forked(net, x);
    }));
    out.push(named("fp_pool_post_ops", "swish", |net| {
        let x = net.input(F32, &dims);
        let x = pooled(net, x, OpKind::MaxPool);
        forked(net, x);
    }));
}

fn pooled(net: &mut Net, x: LogicalTensor, kind: OpKind) -> LogicalTensor {
    let pair = |v: i64| ints(&[v, v]);
    let mut attrs = vec![(AttrId::Strides, pair(2)), (AttrId::PadsBegin, pair(0)), (AttrId::PadsEnd, pair(0)), (AttrId::Kernel, pair(2))];
    if kind == OpKind::AvgPool {
        attrs.push((AttrId::ExcludePad, AttrValue::Bool(true)));
    }
    net.op(kind, &[x], F32, attrs)
}

fn pools(out: &mut Vec<Named>) {
    let (dims, half) = ([2, 6, 6, 4], [2, 3, 3, 4]);
    for kind in [OpKind::MaxPool, OpKind::AvgPool] {
        for (name, chained) in CHAINS {
            out.push(named("fp_pool_post_ops", format_args!("{}+{name}", kind.name()), |net| {
                let x = net.input(F32, &dims);
                let x = pooled(net, x, kind);
                chain(net, x, &half, chained, true);
            }));
        }
        for (dtype, other) in [(U8, ""), (S8, ""), (U8, "mul"), (S8, "add"), (U8, "add,relu"), (U8, "residual"), (S8, "residual,mul")] {
            let residual = other.starts_with("residual");
            let pattern = if residual { "x8_pool_add_post_ops_cpu" } else { "x8_pool_post_ops" };
            out.push(named(pattern, format_args!("{}{dtype}[{other}]", kind.name()), |net| {
                let x = net.input(dtype, &dims);
                let x = net.dequantize(x, 0.125, 0);
                let mut x = pooled(net, x, kind);
                for word in other.split(',').filter(|w| !w.is_empty()) {
                    x = match word {
                        "residual" => {
                            let y = net.input(dtype, &half);
                            let y = net.dequantize(y, 0.25, 1);
                            net.binary(OpKind::Add, x, y)
                        }
                        "relu" => net.unary(OpKind::Relu, x),
                        word => {
                            let y = net.input(F32, &half);
                            net.binary(if word == "mul" { OpKind::Multiply } else { OpKind::Add }, x, y)
                        }
                    };
                }
                net.quantize(x, dtype, 0.125, 0);
            }));
        }
        for moved in ["reshape", "transpose", "reshape,transpose"] {
            out.push(named("x8_pool_reshape_transpose", format_args!("{}+{moved}", kind.name()), |net| {
                let x = net.input(U8, &dims);
                let x = net.dequantize(x, 0.125, 0);
                let mut x = pooled(net, x, kind);
                for word in moved.split(',') {
                    x = match (word, moved.len()) {
                        ("reshape", _) => net.reshape(x, &[2, 9, 4]),
                        (_, 9) => net.transpose(x, &[0, 3, 1, 2]),
                        _ => net.transpose(x, &[0, 2, 1]),
                    };
                }
                net.quantize(x, U8, 0.125, 0);
            }));
        }
    }
}

fn dropped(net: &mut Net, x: LogicalTensor, dtype: DataType) -> LogicalTensor {
    let inputs = [x, net.scalar(DataType::S64), net.scalar(DataType::S64), net.scalar(F32)];
    net.op(OpKind::Dropout, &inputs, dtype, Attrs::new())
}

fn dropouts(out: &mut Vec<Named>) {
    for (name, kind) in [("relu", OpKind::Relu), ("gelu", OpKind::Gelu)] {
        out.push(named("fp_eltwise_dropout", name, |net| {
            let x = net.input(F32, &[2, 3, 4]);
            let x = net.unary(kind, x);
            dropped(net, x, F32);
        }));
    }
    out.push(named("fp_matmul_dropout", "", |net| {
        let (a, b) = (net.input(F32, &[4, 8]), net.input(F32, &[8, 6]));
        let x = net.op(OpKind::MatMul, &[a, b], F32, Attrs::new());
        dropped(net, x, F32);
    }));
}

/// The graphs of these patterns.
pub(crate) fn all() -> Vec<Named> {
    let mut out = Vec::new();
    binary_chains(&mut out);
    movements(&mut out);
    reductions(&mut out);
    rows(&mut out);
    batch_norms(&mut out);
    forks(&mut out);
    pools(&mut out);
    dropouts(&mut out);
    out
}
