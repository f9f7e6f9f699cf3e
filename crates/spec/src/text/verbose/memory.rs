//! The memory descriptors of a verbose line.

use crate::{Arg, Blocking, Format, Op, Sparse, Tensor};
use std::fmt::Write;

/// Names of operands in the order of a line; the first argument of a row that the operation has is meant.
type Labels = &'static [(&'static str, &'static [Arg])];

const PRODUCT: Labels = &[
    ("src", &[Arg::SRC, Arg::DIFF_SRC]),
    ("wei", &[Arg::WEIGHTS, Arg::DIFF_WEIGHTS]),
    ("bia", &[Arg::BIAS, Arg::DIFF_BIAS]),
    ("dst", &[Arg::DST, Arg::DIFF_DST]),
];
const DATA: Labels = &[("data", &[Arg::SRC, Arg::DST, Arg::DIFF_DST]), ("wei", &[Arg::WEIGHTS]), ("diff", &[Arg::DIFF_SRC])];
const NORM: Labels =
    &[("src", &[Arg::SRC]), ("dst", &[Arg::DST, Arg::DIFF_DST]), ("stats", &[Arg::VARIANCE]), ("diff_src", &[Arg::DIFF_SRC])];
const SOFTMAX: Labels = &[("src", &[Arg::SRC]), ("dst", &[Arg::DST]), ("diff_src", &[Arg::DIFF_SRC]), ("diff_dst", &[Arg::DIFF_DST])];
const SRC_DST: Labels = &[("src", &[Arg::SRC, Arg::DIFF_SRC]), ("dst", &[Arg::DST, Arg::DIFF_DST]), ("ws", &[Arg::WORKSPACE])];
const BINARY: Labels = &[("src", &[Arg::SRC]), ("src", &[Arg::SRC_1]), ("src", &[Arg::SRC_2]), ("dst", &[Arg::DST])];
const RNN: Labels = &[
    ("src_layer", &[Arg::SRC]),
    ("src_iter", &[Arg::SRC_1]),
    ("src_iter_c", &[Arg::SRC_2]),
    ("augru_attention", &[Arg::SRC_3]),
    ("wei_layer", &[Arg::WEIGHTS]),
    ("wei_iter", &[Arg::WEIGHTS_1]),
    ("wei_peephole", &[Arg::WEIGHTS_2]),
    ("wei_proj", &[Arg::WEIGHTS_3]),
    ("bias", &[Arg::BIAS]),
    ("dst_layer", &[Arg::DST]),
    ("dst_iter", &[Arg::DST_1]),
    ("dst_iter_c", &[Arg::DST_2]),
];
const SDPA: Labels = &[
    ("qry", &[Arg::SRC]),
    ("key", &[Arg::SRC_1]),
    ("val", &[Arg::SRC_2]),
    ("msk", &[Arg::SRC_3]),
    ("scl", &[Arg::SCALE]),
    ("dst", &[Arg::DST]),
    ("diff_qry", &[Arg::DIFF_SRC]),
    ("diff_key", &[Arg::DIFF_SRC_1]),
    ("diff_val", &[Arg::DIFF_SRC_2]),
    ("diff_dst", &[Arg::DIFF_DST]),
];

fn labels(op: &Op) -> Labels {
    match op {
        Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_) => PRODUCT,
        Op::BatchNorm(_) | Op::Lrn(_) | Op::Eltwise(_) | Op::Shuffle(_) | Op::Prelu(_) => DATA,
        Op::LayerNorm(_) | Op::GroupNorm(_) => NORM,
        Op::Softmax(_) => SOFTMAX,
        Op::Pool(_) | Op::Resampling(_) | Op::Reduction(_) | Op::Reorder(_) | Op::Concat(_) | Op::Sum(_) => SRC_DST,
        Op::Binary(_) => BINARY,
        Op::Rnn(_) => RNN,
        Op::Sdpa(_) => SDPA,
    }
}

/// All descriptors, separated by blanks.
pub(super) fn write(given: &Op, resolved: &Op) -> String {
    let (given, resolved) = (&unfused(given), &unfused(resolved));
    let many = given.operands().into_iter().map(|o| o.arg).filter(|a| a.multiple_src_index().is_some()).map(|a| ("src", a));
    let present = |args: &[Arg]| args.iter().copied().find(|a| given.tensor(*a).is_some());
    let stats_too = !matches!(given, Op::GroupNorm(_));
    let named = labels(given).iter().filter(|(l, _)| stats_too || *l != "stats").filter_map(|(l, args)| Some((*l, present(args)?)));
    let one = |(label, arg): (&str, Arg)| {
        let (asked, chosen) = (given.tensor(arg)?, resolved.tensor(arg).or(given.tensor(arg))?);
        let mut text = descriptor(label, asked, chosen);
        if label == "bia" && matches!(given, Op::Matmul(_)) {
            let mask: u32 = asked.dims().iter().enumerate().filter(|(_, v)| **v != 1).map(|(d, _)| 1 << d).sum();
            let _ = write!(text, "_mask{mask}");
        }
        Some(text)
    };
    many.chain(named).filter_map(one).collect::<Vec<_>>().join(" ")
}

/// The operation without the tensors of a depthwise post-op: `dst` is the result of the convolution itself.
pub(in crate::text) fn unfused(op: &Op) -> Op {
    let mut op = op.clone();
    if let Op::Conv(c) = &mut op {
        (c.depthwise_weights, c.depthwise_bias, c.depthwise_dst) = (None, None, None);
    }
    op
}

/// One descriptor.
fn descriptor(label: &str, asked: &Tensor, chosen: &Tensor) -> String {
    let mut flags = String::new();
    if asked.layout.is_any() && !chosen.layout.is_any() {
        flags.push('a');
    }
    if let Some(b) = chosen.blocking() {
        let set = [(b.padded_dims != *chosen.dims(), 'p'), (b.padded_offsets.iter().any(|o| *o != 0), 'o'), (b.offset != 0, '0')];
        flags.extend(set.iter().filter(|(on, _)| *on).map(|(_, c)| *c));
    }
    let (kind, tag, strides) = match &chosen.layout.format {
        Format::Any => ("any", String::new(), String::new()),
        Format::HostScalar => ("host_scalar", String::new(), String::new()),
        Format::Packed(p) => ("opaque", p.name.to_string(), String::new()),
        Format::Sparse(s) => ("sparse", sparse_name(s).to_string(), format!("nnz{}", s.nnz())),
        Format::Blocked(b) => match chosen.layout.tag() {
            Some(tag) => ("blocked", tag, String::new()),
            None => ("blocked", chosen.layout.nearest_tag(), strides(chosen, b)),
        },
    };
    format!("{label}:{}:{flags}:{kind}:{tag}:{strides}:{}", chosen.dtype, extra(chosen.blocking()))
}

/// The strides, where the tag does not give them.
fn strides(t: &Tensor, b: &Blocking) -> String {
    let base = crate::Layout::with_tag(*t.dims(), &t.layout.nearest_tag()).ok();
    let same = base.as_ref().and_then(|l| l.blocking()).is_some_and(|base| base.strides == b.strides);
    if same { String::new() } else { b.strides.to_string() }
}

fn sparse_name(s: &Sparse) -> &'static str {
    match s {
        Sparse::Csr { .. } => "csr",
        Sparse::Coo { .. } => "coo",
        Sparse::Packed { .. } => "packed",
    }
}

/// The extra flags: bit 0 compensation for s8 sources, bit 1 adjusted scale, bit 3 compensation for zero points.
fn extra(b: Option<&Blocking>) -> String {
    let Some(c) = b.and_then(|b| b.compensation) else { return "f0".into() };
    let bit = |on: bool, bit: u32| if on { bit } else { 0 };
    let bits = bit(c.s8s8_mask.is_some(), 1) | bit(c.scale_adjust.is_some(), 2) | bit(c.zero_point_mask.is_some(), 8);
    let mut text = format!("f{bits}");
    for (name, mask) in [("s8m", c.s8s8_mask), ("zpm", c.zero_point_mask)] {
        if let Some(mask) = mask {
            let _ = write!(text, ":{name}{mask}");
        }
    }
    if let Some(factor) = c.scale_adjust {
        let _ = write!(text, ":sa{factor}");
    }
    text
}
