//! Attention in its forms.

use super::builder::{Attrs, ints, word};
use super::{Named, Net};
use oxidnn_graph::{AttrId, AttrValue, LogicalTensor, OpKind};
use oxidnn_spec::DataType::{self, Bf16, F32, S8, U8};

/// Sizes: batch, heads, heads of keys, tokens, size of a head.
const B: i64 = 2;
const H: i64 = 4;
const KV: i64 = 2;
const S: i64 = 6;
const D: i64 = 16;

/// What a form of attention has.
#[derive(Clone, Copy)]
struct Form<'a> {
    dtype: DataType,
    scale: &'a str,
    mask: &'a str,
    /// What happens to the result.
    tail: &'a str,
    /// Keys come transposed already.
    turned: bool,
    stats: bool,
    mode: &'a str,
}

const PLAIN: Form<'static> = Form { dtype: F32, scale: "div", mask: "add", tail: "", turned: false, stats: false, mode: "none" };

fn named(pattern: &str, variant: impl std::fmt::Display, build: impl FnOnce(&mut Net)) -> Named {
    let mut net = Net::default();
    build(&mut net);
    (format!("{pattern}/{variant}"), net)
}

fn product(net: &mut Net, a: LogicalTensor, b: LogicalTensor, dtype: DataType, turned: bool) -> LogicalTensor {
    net.op(OpKind::MatMul, &[a, b], dtype, vec![(AttrId::TransposeB, AttrValue::Bool(turned))])
}

fn scaled(net: &mut Net, x: LogicalTensor, how: &str, ones: usize) -> LogicalTensor {
    let kind = match how {
        "mul" => OpKind::Multiply,
        "div" => OpKind::Divide,
        _ => return x,
    };
    let factor = net.constant(x.dtype.expect("a type"), &vec![1; ones]);
    net.binary(kind, x, factor)
}

/// What stands where scores are masked out: minus infinity, as in practice, or any number.
fn replacing(net: &mut Net, dtype: DataType, how: &str) -> LogicalTensor {
    if how.ends_with("_any") { net.constant(dtype, &[1]) } else { net.number_of(dtype, f64::NEG_INFINITY) }
}

/// As [`scaled`], by a number that is known to be above 0.
fn scaled_by(net: &mut Net, x: LogicalTensor, how: &str, number: f64) -> LogicalTensor {
    let kind = match how {
        "mul" => OpKind::Multiply,
        "div" => OpKind::Divide,
        _ => return x,
    };
    let factor = net.number_of(x.dtype.expect("a type"), number);
    net.binary(kind, x, factor)
}

fn masked(net: &mut Net, x: LogicalTensor, how: &str, dims: &[i64]) -> LogicalTensor {
    if let Some((first, rest)) = how.split_once('+') {
        let x = masked(net, x, first, dims);
        return masked(net, x, rest, dims);
    }
    let dtype = x.dtype.expect("a type");
    match how {
        "add" => {
            let mask = net.input(dtype, dims);
            net.binary(OpKind::Add, x, mask)
        }
        "select" | "select_any" => {
            let (condition, other) = (net.input(DataType::Boolean, dims), replacing(net, dtype, how));
            net.op(OpKind::Select, &[condition, x, other], dtype, Attrs::new())
        }
        "causal" | "causal_any" | "causal_bottom" | "causal_shifted" => {
            let index =
                |net: &mut Net, axis: i64| net.op(OpKind::GenIndex, &[x], DataType::S32, vec![(AttrId::Axis, AttrValue::S64(axis))]);
            let mut row = index(net, -2);
            let column = index(net, -1);
            if matches!(how, "causal_bottom" | "causal_shifted") {
                let shift = if how == "causal_shifted" { 2.0 } else { 0.0 };
                let (a, b) = (net.number_of(DataType::S32, S as f64 + shift), net.number_of(DataType::S32, S as f64));
                row = net.op(OpKind::Add, &[row, a], DataType::S32, Attrs::new());
                row = net.op(OpKind::Subtract, &[row, b], DataType::S32, Attrs::new());
            }
            let condition = net.op(OpKind::GreaterEqual, &[row, column], DataType::Boolean, Attrs::new());
            let other = replacing(net, dtype, how);
            net.op(OpKind::Select, &[condition, x, other], dtype, Attrs::new())
        }
        _ => x,
    }
}

fn softened(net: &mut Net, x: LogicalTensor, form: Form<'_>, to: DataType) -> LogicalTensor {
    let attrs = vec![(AttrId::Axis, AttrValue::S64(-1)), (AttrId::Mode, word(form.mode))];
    let dtypes: &[DataType] = if form.stats { &[to, F32] } else { &[to] };
    net.outs(OpKind::SoftMax, &[x], dtypes, attrs)[0]
}

fn moved(net: &mut Net, x: LogicalTensor, how: &str) -> LogicalTensor {
    match how {
        "turn" => net.transpose(x, &[0, 2, 1, 3]),
        "turn,join" => {
            let x = net.transpose(x, &[0, 2, 1, 3]);
            net.reshape(x, &[B, S, H * D])
        }
        "turn,reorder" => {
            let x = net.transpose(x, &[0, 2, 1, 3]);
            net.op(OpKind::Reorder, &[x], x.dtype.expect("a type"), Attrs::new())
        }
        _ => x,
    }
}

fn attention(net: &mut Net, form: Form<'_>) {
    let dtype = form.dtype;
    let (q, v) = (net.input(dtype, &[B, H, S, D]), net.input(dtype, &[B, H, S, D]));
    let k = net.input(dtype, if form.turned { &[B, H, D, S] } else { &[B, H, S, D] });
    let x = product(net, q, k, dtype, !form.turned);
    let x = scaled(net, x, form.scale, 1);
    let x = masked(net, x, form.mask, &[B, 1, S, S]);
    let x = softened(net, x, form, dtype);
    let x = product(net, x, v, dtype, false);
    moved(net, x, form.tail);
}

const MASKS: [&str; 11] = [
    "",
    "add",
    "select",
    "select_any",
    "causal",
    "causal_any",
    "causal_bottom",
    "causal_shifted",
    "add+select",
    "add+causal",
    "select+add",
];

fn plain(out: &mut Vec<Named>) {
    for dtype in [F32, Bf16] {
        for scale in ["", "mul", "div"] {
            for mask in MASKS {
                let form = Form { dtype, scale, mask, ..PLAIN };
                out.push(named("float_sdp_fusion", format_args!("{dtype}[{scale}][{mask}]"), |net| attention(net, form)));
            }
        }
    }
    for tail in ["turn", "turn,join", "turn,reorder"] {
        out.push(named("float_sdp_fusion", tail, |net| attention(net, Form { tail, ..PLAIN })));
    }
    out.push(named("float_sdp_fusion", "turned", |net| attention(net, Form { turned: true, ..PLAIN })));
    out.push(named("float_sdp_fusion", "stats", |net| attention(net, Form { stats: true, ..PLAIN })));
    out.push(named("float_sdp_fusion", "inf_as_zero", |net| attention(net, Form { mode: "inf_as_zero", ..PLAIN })));
    for mask in ["", "add", "select", "causal"] {
        out.push(named("float_sdp_gemma_fusion_cpu", format_args!("[{mask}]"), |net| {
            let (q, k, v) = (net.input(F32, &[B, H, S, D]), net.input(F32, &[B, H, S, D]), net.input(F32, &[B, H, S, D]));
            let x = product(net, q, k, F32, true);
            let x = scaled(net, x, "div", 1);
            let x = net.unary(OpKind::Tanh, x);
            let x = scaled(net, x, "mul", 1);
            let x = masked(net, x, mask, &[B, 1, S, S]);
            let x = softened(net, x, PLAIN, F32);
            product(net, x, v, F32, false);
        }));
    }
}

fn grouped(out: &mut Vec<Named>) {
    for (scale, mask) in [
        ("", ""),
        ("mul", "add"),
        ("div", "select"),
        ("mul", "causal"),
        ("div", ""),
        ("mul", ""),
        ("div", "add"),
        ("div", "causal"),
        ("", "add"),
    ] {
        out.push(named("float_gqa_fusion", format_args!("5d[{scale}][{mask}]"), |net| {
            let (q, k, v) = (net.input(F32, &[B, KV, H / KV, S, D]), net.input(F32, &[B, KV, 1, S, D]), net.input(F32, &[B, KV, 1, S, D]));
            let x = product(net, q, k, F32, true);
            let x = scaled(net, x, scale, 1);
            let x = masked(net, x, mask, &[B, 1, 1, S, S]);
            let x = softened(net, x, PLAIN, F32);
            product(net, x, v, F32, false);
        }));
        out.push(named("float_gqa_fusion", format_args!("4d[{scale}][{mask}]"), |net| {
            let (q, k, v) = (net.input(F32, &[B, H, S, D]), net.input(F32, &[B, KV, S, D]), net.input(F32, &[B, KV, S, D]));
            let q = net.reshape(q, &[B, KV, H / KV, S, D]);
            let (k, v) = (net.reshape(k, &[B, KV, 1, S, D]), net.reshape(v, &[B, KV, 1, S, D]));
            let x = product(net, q, k, F32, true);
            let x = scaled(net, x, scale, 1);
            let x = masked(net, x, mask, &[B, 1, 1, S, S]);
            let x = softened(net, x, PLAIN, F32);
            let x = product(net, x, v, F32, false);
            net.reshape(x, &[B, H, S, D]);
        }));
    }
}

fn bytes(out: &mut Vec<Named>) {
    for through in [F32, Bf16] {
        for (mask, tail, end) in [
            ("add", "turn,join", true),
            ("add", "", true),
            ("", "", false),
            ("select", "", false),
            ("add", "turn,reorder", true),
            ("gpt", "turn,join", true),
            ("gpt", "turn,reorder", true),
            ("gpt", "turn,join", false),
        ] {
            let pattern = match (mask, through) {
                ("gpt", F32) => "int8_fp32_gpt_sdp",
                ("gpt", _) => "int8_bf16_gpt_sdp",
                (_, F32) => "x8_sdpa_fusion",
                _ => "int8_bf16_sdp_fusion",
            };
            out.push(named(pattern, format_args!("[{mask}][{tail}]{end}"), |net| {
                let operand = |net: &mut Net, dtype: DataType| {
                    let x = net.input(dtype, &[B, H, S, D]);
                    let x = net.dequantize(x, 0.0625, if dtype == U8 { 4 } else { 0 });
                    if through == F32 { x } else { net.cast(x, through) }
                };
                let (q, k, v) = (operand(net, U8), operand(net, S8), operand(net, S8));
                let x = product(net, q, k, through, true);
                let x = if mask == "gpt" { masked(net, x, "select", &[B, 1, S, S]) } else { x };
                let x = scaled(net, x, "div", 1);
                let x = masked(net, x, if mask == "gpt" { "add" } else { mask }, &[B, 1, S, S]);
                let x = softened(net, x, PLAIN, through);
                let x = if through == F32 { x } else { net.cast(x, F32) };
                let x = net.quantize(x, U8, 0.00390625, 0);
                let x = net.dequantize(x, 0.00390625, 0);
                let x = if through == F32 { x } else { net.cast(x, through) };
                let x = product(net, x, v, through, false);
                let x = moved(net, x, tail);
                if end {
                    let x = if through == F32 { x } else { net.cast(x, F32) };
                    net.quantize(x, U8, 0.0625, 8);
                }
            }));
        }
    }
    for (keys, values) in [(true, true), (true, false), (false, true)] {
        let name = if keys && values {
            "kv"
        } else if keys {
            "k"
        } else {
            "v"
        };
        for dtype in [S8, U8] {
            for mask in ["", "add"] {
                out.push(named(&format!("sdp_with_compressed_{name}_fusion"), format_args!("{dtype}[{mask}]"), |net| {
                    let few = |net: &mut Net, dims: [i64; 4], compressed: bool, group: [i64; 4]| {
                        if !compressed {
                            return net.input(F32, &dims);
                        }
                        let counts: Vec<i64> = dims.iter().zip(group).map(|(d, g)| d / g).collect();
                        let (x, s) = (net.input(dtype, &dims), net.input(F32, &counts));
                        let attrs =
                            vec![(AttrId::Qtype, word("per_group")), (AttrId::GroupShape, ints(&group)), (AttrId::Axis, AttrValue::S64(1))];
                        net.op(OpKind::DynamicDequantize, &[x, s], F32, attrs)
                    };
                    let q = net.input(F32, &[B, H, S, D]);
                    let (k, v) = (few(net, [B, H, D, S], keys, [1, 1, D, 1]), few(net, [B, H, S, D], values, [1, 1, 1, D]));
                    let x = product(net, q, k, F32, false);
                    let x = scaled(net, x, "div", 1);
                    let x = masked(net, x, mask, &[B, 1, S, S]);
                    let x = softened(net, x, PLAIN, F32);
                    product(net, x, v, F32, false);
                }));
            }
        }
    }
}

/// The gradients of attention, from what its forward pass kept; of heads that share keys and values where `shared`.
fn gradients(net: &mut Net, scale: &str, mask: &str, shared: bool) {
    let (dims, few) = if shared { (vec![B, KV, H / KV, S, D], vec![B, KV, 1, S, D]) } else { (vec![B, H, S, D], vec![B, H, S, D]) };
    let rows: Vec<i64> = dims[..dims.len() - 1].iter().copied().chain([1]).collect();
    let masks: &[i64] = if shared { &[B, 1, 1, S, S] } else { &[B, 1, S, S] };
    let (q, k, v, d) = (net.input(F32, &dims), net.input(F32, &few), net.input(F32, &few), net.input(F32, &dims));
    let (stats, o) = (net.input(F32, &rows), net.input(F32, &dims));
    let x = product(net, q, k, F32, true);
    let factor = scaling(net, F32, scale);
    let x = factor.map_or(x, |(kind, factor)| net.binary(kind, x, factor));
    let x = masked(net, x, mask, masks);
    let x = net.binary(OpKind::Subtract, x, stats);
    let p = net.unary(OpKind::Exp, x);
    let turned = |net: &mut Net, a: LogicalTensor, b: LogicalTensor| {
        let x = net.op(OpKind::MatMul, &[a, b], F32, vec![(AttrId::TransposeA, AttrValue::Bool(true))]);
        if shared { summed(net, x, 2) } else { x }
    };
    turned(net, p, d);
    let dp = product(net, d, v, F32, true);
    let c = net.binary(OpKind::Multiply, o, d);
    let c = summed(net, c, -1);
    let ds = net.binary(OpKind::Subtract, dp, c);
    let ds = net.binary(OpKind::Multiply, ds, p);
    let ds = factor.map_or(ds, |(kind, factor)| net.binary(kind, ds, factor));
    product(net, ds, k, F32, false);
    turned(net, ds, q);
}

fn summed(net: &mut Net, x: LogicalTensor, axis: i64) -> LogicalTensor {
    let attrs = vec![(AttrId::Axes, ints(&[axis])), (AttrId::KeepDims, AttrValue::Bool(true))];
    net.op(OpKind::ReduceSum, &[x], F32, attrs)
}

/// A function of two and a single number for it.
fn scaling(net: &mut Net, dtype: DataType, how: &str) -> Option<(OpKind, LogicalTensor)> {
    let kind = match how {
        "mul" => OpKind::Multiply,
        "div" => OpKind::Divide,
        _ => return None,
    };
    Some((kind, net.constant(dtype, &[1])))
}

fn frameworks(out: &mut Vec<Named>) {
    for dtype in [F32, Bf16] {
        for (tail, scale) in
            [("", "div"), ("turn,join", "div"), ("turn,reorder", "div"), ("turn,join", "mul"), ("turn", "div"), ("turn,reorder", "")]
        {
            out.push(named(if dtype == F32 { "float_gpt_sdp" } else { "bfloat16_gpt_sdp" }, format_args!("{tail}{scale}"), |net| {
                let (q, k, v) = (net.input(dtype, &[B, H, S, D]), net.input(dtype, &[B, H, S, D]), net.input(dtype, &[B, H, S, D]));
                let x = product(net, q, k, dtype, true);
                let x = masked(net, x, if scale == "mul" { "select_any" } else { "select" }, &[1, 1, S, S]);
                let x = scaled_by(net, x, scale, 4.0);
                let x = masked(net, x, "add", &[B, 1, 1, S]);
                let x = softened(net, x, PLAIN, dtype);
                let x = product(net, x, v, dtype, false);
                moved(net, x, tail);
            }));
        }
    }
}

fn behind_tokens(out: &mut Vec<Named>) {
    for dtype in [F32, Bf16] {
        for (scale, last) in [("mul", "reorder"), ("div", "reorder"), ("div", "reshape")] {
            let end = |net: &mut Net, x: LogicalTensor, order: &[i64]| {
                let x = net.transpose(x, order);
                match last {
                    "reshape" => {
                        let [a, b, c, d] = if order == [0, 1, 3, 2] { [B, H, S, S] } else { [B, S, H, D] };
                        net.reshape(x, &[a, b, c, d])
                    }
                    _ => net.op(OpKind::Reorder, &[x], dtype, Attrs::new()),
                }
            };
            out.push(named("float_sdp_jax_fusion", format_args!("{dtype}{scale}{last}"), |net| {
                let (q, k) = (net.input(dtype, &[B, H, S, D]), net.input(dtype, &[B, H, S, D]));
                let v = net.input(dtype, &[B, H, D, S]);
                let x = product(net, q, k, dtype, true);
                let x = scaled(net, x, scale, 1);
                let x = masked(net, x, "add", &[B, 1, S, S]);
                let x = softened(net, x, PLAIN, dtype);
                let x = end(net, x, &[0, 1, 3, 2]);
                let x = product(net, v, x, dtype, false);
                end(net, x, &[0, 3, 1, 2]);
            }));
        }
        for mask in [[B, 1, S, S], [1, 1, S, S], [B, H, S, S]] {
            out.push(named("float_mqa_jax_fusion", format_args!("{dtype}{}{}", mask[0], mask[1]), |net| {
                // Keys by the queries of all heads.
                let (k, q, v) = (net.input(dtype, &[B, S, D]), net.input(dtype, &[B, D, S * H]), net.input(dtype, &[B, D, S]));
                let x = product(net, k, q, dtype, false);
                let x = net.reshape(x, &[B, S, S, H]);
                let x = net.transpose(x, &[0, 3, 2, 1]);
                let x = masked(net, x, "add", &mask);
                let x = softened(net, x, PLAIN, dtype);
                let x = net.transpose(x, &[0, 3, 2, 1]);
                let x = net.reshape(x, &[B, S, S * H]);
                product(net, v, x, dtype, false);
            }));
        }
    }
}

fn training(out: &mut Vec<Named>) {
    for (scale, mask) in [("mul", ""), ("div", "add"), ("mul", "select"), ("", "")] {
        out.push(named("float_sdp_backward_fusion", format_args!("[{scale}][{mask}]"), |net| gradients(net, scale, mask, false)));
        out.push(named("float_gqa_backward_fusion", format_args!("[{scale}][{mask}]"), |net| gradients(net, scale, mask, true)));
    }
    // Gradients by other queries than those of the scores.
    out.push(named("float_sdp_backward_fusion", "apart", |net| {
        gradients(net, "mul", "", false);
        let queries = net.input(F32, &[B, H, S, D]);
        net.ops.last_mut().expect("operations").inputs[1] = queries;
    }));
}

/// The graphs of these patterns.
pub(crate) fn all() -> Vec<Named> {
    let mut out = Vec::new();
    plain(&mut out);
    grouped(&mut out);
    bytes(&mut out);
    frameworks(&mut out);
    behind_tokens(&mut out);
    training(&mut out);
    out
}
