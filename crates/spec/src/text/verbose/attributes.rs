//! The attributes of a verbose line.

use super::super::attrs;
use super::super::layouts;
use crate::{Accumulation, Arg, Attr, DataType, Dropout, FpMathMode, PostOp, Quant, QuantMode, Real, Rounding, ScratchpadMode, Tensor};
use std::collections::BTreeMap;

/// All attributes that are not defaults, separated by blanks.
pub(super) fn write(attr: &Attr) -> String {
    let mut all: Vec<String> = Vec::new();
    let mut put = |name: &str, value: String| {
        if !value.is_empty() {
            all.push(format!("{name}:{value}"));
        }
    };
    if attr.scratchpad == ScratchpadMode::User {
        put("attr-scratchpad", "user".into());
    }
    if attr.fpmath.mode != FpMathMode::Strict || attr.fpmath.apply_to_int {
        put("attr-fpmath", attrs::fpmath_text(&attr.fpmath));
    }
    if attr.accumulation != Accumulation::Strict {
        put("attr-acc-mode", attrs::accumulation_name(attr.accumulation).into());
    }
    let stochastic = attr.rounding.iter().filter(|(_, r)| **r == Rounding::Stochastic);
    put("attr-rounding-mode", stochastic.map(|(of, _)| format!("{}:stochastic", name(*of))).collect::<Vec<_>>().join("+"));
    if attr.deterministic {
        put("attr-deterministic", "true".into());
    }
    if attr.hint_reusable_kernels {
        put("attr-reusable-kernels", "true".into());
    }
    put("attr-dynamic", attrs::dynamic_text(&attr.dynamic));
    put("attr-scales", quants(&attr.scales));
    put("attr-zero-points", quants(&attr.zero_points));
    put("attr-precomputed-reductions", quants(&attr.precomputed_reductions));
    put("attr-post-ops", attr.post_ops.iter().map(post_op).collect::<Vec<_>>().join("+"));
    if let Some(d) = &attr.dropout {
        put("attr-dropout", dropout(d));
    }
    if let Some((scale, shift)) = attr.rnn.data {
        put("rnn_data_qparams", format!("{scale}:{shift}"));
    }
    put("attr-rnn-linear", attrs::linear_text(attr.rnn.linear.as_ref()));
    for (name, qparams) in [("rnn_weights_qparams", &attr.rnn.weights), ("rnn_weights_projection_qparams", &attr.rnn.projection)] {
        if let Some((mask, scales)) = qparams {
            put(name, format!("{mask}:{}", scales.iter().map(Real::to_string).collect::<Vec<_>>().join("+")));
        }
    }
    all.join(" ")
}

/// The name of an argument, `src0` for the first source.
fn name(of: Arg) -> String {
    if of == Arg::SRC { "src0".into() } else { attrs::arg_name(of) }
}

fn quants(map: &BTreeMap<Arg, Quant>) -> String {
    let one = |(of, q): (&Arg, &Quant)| {
        let mut s = format!("{}:{}:{}", name(*of), q.mask, q.dtype);
        if !q.groups.is_empty() {
            s += &format!(":{}", q.groups);
        }
        if q.on_host {
            s += ":host";
        }
        s + match q.mode {
            QuantMode::Static => "",
            QuantMode::DynamicMx => ":dynamic_mx",
            QuantMode::DynamicFp => ":dynamic_fp",
        }
    };
    map.iter().map(one).collect::<Vec<_>>().join("+")
}

/// A second operand: type, mask, and the tag (left away for a single element of any layout).
fn operand(t: &Tensor) -> String {
    let mask: u32 = t.dims().iter().enumerate().filter(|(_, v)| **v != 1).map(|(d, _)| 1 << d).sum();
    let tag = layouts::write(&t.layout);
    if mask == 0 && tag == "any" { format!("{}:0", t.dtype) } else { format!("{}:{mask}:{tag}", t.dtype) }
}

fn post_op(p: &PostOp) -> String {
    let with = |name: &str, numbers: &[(String, &str)]| {
        let used = numbers.iter().rposition(|(v, default)| v != default).map_or(0, |i| i + 1);
        numbers[..used].iter().fold(name.to_string(), |s, (v, _)| s + ":" + v)
    };
    match p {
        PostOp::Sum { scale, zero_point, dtype } => {
            let dt = dtype.map_or_else(String::new, |d| d.to_string());
            with("sum", &[(scale.to_string(), "1"), (zero_point.to_string(), "0"), (dt, "")])
        }
        PostOp::Eltwise { alg, alpha, beta } => {
            with(&format!("eltwise_{}", alg.name()), &[(alpha.to_string(), "0"), (beta.to_string(), "0")])
        }
        PostOp::Binary { alg, src1, src2: None } => format!("binary_{}:{}", alg.name(), operand(src1)),
        PostOp::Binary { alg, src1, src2: Some(c) } => {
            let mut first = operand(src1);
            if first.split(':').count() < 3 {
                first += ":any";
            }
            format!("binary_{}:{first}:{}", alg.name(), operand(c))
        }
        PostOp::Prelu { mask } => format!("prelu:{mask}"),
        PostOp::Depthwise { weights, bias, dst, kernel, stride, padding } => {
            format!("dw:k{kernel}s{stride}p{padding}:{dst}:{weights}:{}", bias.map_or("undef", DataType::name))
        }
    }
}

fn dropout(d: &Dropout) -> String {
    let mask = d.mask.as_ref().map_or_else(|| "undef".into(), |m| layouts::write(&m.layout));
    let offset = if d.use_offset { ":0" } else { "" };
    let seed = if d.seed_dtype == DataType::S64 { ":s64" } else { ":s32" };
    let host = if d.use_host_scalars { ":host" } else { "" };
    format!("{mask}{offset}{seed}{host}")
}
