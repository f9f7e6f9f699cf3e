//! Attributes: which primitive takes which, and their own rules.

use super::{Checked, ensure, post_ops};
use crate::op::{Op, Prop};
use crate::{Accumulation, Arg, Attr, DataType, Dims, DynamicDim, Error, Problem, Quant, QuantMode, Rounding};
use std::collections::BTreeMap;

/// Masks that quantisation of an argument may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Masks {
    /// One number.
    Common,
    /// One number, or one a channel (dimension 1).
    Channel,
    /// One number, or one an output channel (dimension 0; 0 and 1 with groups).
    OutputChannel,
    /// Of a matrix: one number; a row, a column or both; all dimensions.
    Matrix,
    /// Of a matrix: one number; a column, or rows and columns; all dimensions.
    MatrixColumn,
    /// One number, or one a column.
    Column,
    /// Any dimensions.
    Free,
}

/// Post-ops that a primitive may have.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[allow(missing_docs, reason = "named after the post-ops")]
pub struct PostOps {
    pub sum: bool,
    pub eltwise: bool,
    pub binary: bool,
    pub prelu: bool,
    pub depthwise: bool,
}

/// The attributes that a primitive takes. Scratchpad mode, fpmath, determinism and the relaxed kinds of accumulation only permit: every
/// primitive takes them.
#[derive(Clone, Copy, Debug)]
pub struct AttrRules {
    /// Post-ops.
    pub post_ops: PostOps,
    /// Arguments with scales; [`Arg::multiple_src`] of 0 stands for all of them.
    pub scales: &'static [(Arg, Masks)],
    /// Arguments with zero points.
    pub zero_points: &'static [(Arg, Masks)],
    /// Numbers may stand for groups of indices along the last two dimensions, and precomputed reductions may be given.
    pub groups: bool,
    /// An exact type of accumulation.
    pub accumulation: bool,
    /// Dropout.
    pub dropout: bool,
    /// Stochastic rounding of the destination.
    pub rounding: bool,
}

const NONE: AttrRules = AttrRules {
    post_ops: PostOps { sum: false, eltwise: false, binary: false, prelu: false, depthwise: false },
    scales: &[],
    zero_points: &[],
    groups: false,
    accumulation: false,
    dropout: false,
    rounding: false,
};
const B: PostOps = PostOps { binary: true, ..NONE.post_ops };
const BE: PostOps = PostOps { eltwise: true, ..B };
const BES: PostOps = PostOps { sum: true, ..BE };
const BEPS: PostOps = PostOps { prelu: true, ..BES };
const SRC_DST: &[(Arg, Masks)] = &[(Arg::SRC, Masks::Common), (Arg::DST, Masks::Common)];

const CONV: AttrRules = AttrRules {
    post_ops: PostOps { depthwise: true, ..BEPS },
    scales: &[
        (Arg::SRC, Masks::Common),
        (Arg::WEIGHTS, Masks::OutputChannel),
        (Arg::DST, Masks::Channel),
        (Arg::depthwise(Arg::WEIGHTS), Masks::OutputChannel),
        (Arg::depthwise(Arg::DST), Masks::Channel),
    ],
    zero_points: &[(Arg::SRC, Masks::Channel), (Arg::WEIGHTS, Masks::Common), (Arg::DST, Masks::Channel)],
    accumulation: true,
    rounding: true,
    ..NONE
};
const DECONV: AttrRules = AttrRules {
    post_ops: BEPS,
    scales: &[(Arg::SRC, Masks::Common), (Arg::WEIGHTS, Masks::OutputChannel), (Arg::DST, Masks::Common)],
    zero_points: &[(Arg::SRC, Masks::Channel), (Arg::DST, Masks::Channel)],
    ..CONV
};
const INNER_PRODUCT: AttrRules = AttrRules { zero_points: &[], rounding: false, ..DECONV };
const MATMUL: AttrRules = AttrRules {
    post_ops: BEPS,
    scales: &[(Arg::SRC, Masks::Matrix), (Arg::WEIGHTS, Masks::Free), (Arg::DST, Masks::Matrix)],
    zero_points: &[(Arg::SRC, Masks::MatrixColumn), (Arg::WEIGHTS, Masks::Free), (Arg::DST, Masks::Column)],
    groups: true,
    accumulation: true,
    dropout: true,
    rounding: true,
};
const NORM: AttrRules = AttrRules { post_ops: BE, scales: SRC_DST, ..NONE };
const REORDER: AttrRules = AttrRules {
    post_ops: PostOps { sum: true, ..NONE.post_ops },
    scales: &[(Arg::SRC, Masks::Free), (Arg::DST, Masks::Free)],
    zero_points: &[(Arg::SRC, Masks::Free), (Arg::DST, Masks::Free)],
    groups: true,
    rounding: true,
    ..NONE
};

const SDPA: AttrRules = AttrRules {
    scales: &[(Arg::SRC_1, Masks::Free), (Arg::SRC_2, Masks::Free)],
    zero_points: &[(Arg::SRC_1, Masks::Free), (Arg::SRC_2, Masks::Free)],
    groups: true,
    ..NONE
};

/// The attributes that an operation of this kind takes in a forward pass, or in its only pass.
pub(crate) const FORWARD: [(&str, AttrRules); 21] = [
    ("convolution", CONV),
    ("deconvolution", DECONV),
    ("inner_product", INNER_PRODUCT),
    ("matmul", MATMUL),
    ("batch_normalization", AttrRules { post_ops: PostOps { eltwise: true, ..NONE.post_ops }, ..NONE }),
    ("layer_normalization", NORM),
    ("group_normalization", NORM),
    ("lrn", NONE),
    ("pooling", AttrRules { post_ops: BE, accumulation: true, ..NONE }),
    ("eltwise", AttrRules { post_ops: B, dropout: true, ..NONE }),
    ("softmax", AttrRules { post_ops: BE, scales: SRC_DST, accumulation: true, dropout: true, ..NONE }),
    ("reduction", AttrRules { post_ops: BES, accumulation: true, ..NONE }),
    ("resampling", AttrRules { post_ops: BES, ..NONE }),
    ("binary", AttrRules { post_ops: BES, scales: &[(Arg::SRC, Masks::Common), (Arg::SRC_1, Masks::Common)], ..NONE }),
    ("prelu", NONE),
    ("shuffle", NONE),
    ("concat", AttrRules { scales: &[(Arg::multiple_src(0), Masks::Common)], ..NONE }),
    ("sum", NONE),
    ("reorder", REORDER),
    ("rnn", NONE),
    ("sdpa", SDPA),
];

/// Backward passes of products.
const BACKWARD: AttrRules = AttrRules { accumulation: true, ..NONE };

fn rules(op: &Op) -> &'static AttrRules {
    let forward = op.prop().is_none_or(Prop::is_forward);
    let rules = FORWARD.iter().find(|r| r.0 == op.kind()).map_or(&NONE, |r| &r.1);
    match (forward, rules.accumulation) {
        (true, _) => rules,
        (false, true) => &BACKWARD,
        (false, false) => &NONE,
    }
}

/// Every rule of the attributes.
pub(crate) fn check(problem: &Problem) -> Checked {
    let Problem { op, attr } = problem;
    let rules = rules(op);
    let unfit = |what: &str| Error::invalid(what, "set", format_args!("unset for {} in this pass", op.kind()));
    let exact = matches!(attr.accumulation, Accumulation::S32 | Accumulation::F32 | Accumulation::F16);
    if exact && !rules.accumulation {
        return Err(unfit("accumulation mode"));
    }
    quants("scales", &attr.scales, rules.scales, op, scale)?;
    quants("zero points", &attr.zero_points, rules.zero_points, op, zero_point)?;
    quants("precomputed reductions", &attr.precomputed_reductions, REDUCIBLE, op, |_, _, q| reduction_type(q))?;
    precomputed(op, attr, rules)?;
    let stochastic = |r: &&Rounding| **r == Rounding::Stochastic;
    for arg in attr.rounding.iter().filter(|(_, r)| stochastic(r)).map(|(a, _)| a) {
        ensure(
            rules.rounding && *arg == Arg::DST,
            "rounding mode",
            format_args!("stochastic for {arg}"),
            "stochastic for dst of a forward pass",
        )?;
    }
    if let Op::Matmul(x) = op {
        x.check_sparse(attr)?;
    }
    dropout(op, attr, rules)?;
    rnn(op, attr)?;
    dynamic(op, attr)?;
    post_ops::check(op, attr, rules.post_ops)
}

/// Sizes that change are sizes of the operation's tensors, and have as many examples each.
fn dynamic(op: &Op, attr: &Attr) -> Checked {
    for DynamicDim { arg, dim, examples } in &attr.dynamic {
        let rank = op.tensor(*arg).map_or(0, |t| t.dims().len());
        ensure(*dim < rank, "dynamic size", format_args!("dimension {dim} of {arg}"), format_args!("one of its {rank} dimensions"))?;
        let positive = examples.iter().all(|&size| size > 0);
        ensure(positive, "dynamic size", format_args!("{examples:?} for {arg}"), "examples of at least 1")?;
        let count = attr.dynamic[0].examples.len();
        let got = format_args!("{} examples for {arg}", examples.len());
        ensure(examples.len() == count, "dynamic size", got, format_args!("{count}, as for the first one"))?;
    }
    Ok(())
}

/// Arguments that precomputed reductions may belong to.
const REDUCIBLE: &[(Arg, Masks)] = &[(Arg::SRC, Masks::Free), (Arg::WEIGHTS, Masks::Free)];

type Rule = fn(&Op, Arg, &Quant) -> Checked;

/// The rules that scales, zero points and precomputed reductions have in common, then `own` for each.
fn quants(name: &str, map: &BTreeMap<Arg, Quant>, allowed: &[(Arg, Masks)], op: &Op, own: Rule) -> Checked {
    for (&arg, quant) in map {
        let key = if arg.multiple_src_index().is_some() { Arg::multiple_src(0) } else { arg };
        let names: Vec<String> = allowed.iter().map(|a| a.0.to_string()).collect();
        let tensor = op.quantised(arg);
        let (Some(&(_, masks)), Some(tensor)) = (allowed.iter().find(|a| a.0 == key), tensor) else {
            let expected = if names.is_empty() { format!("none for {} in this pass", op.kind()) } else { names.join(", ") };
            return Err(Error::invalid(name, format_args!("some for {arg}"), expected));
        };
        common(quant, tensor.dims(), op)
            .and_then(|()| mask(masks, quant.mask, arg, op))
            .and_then(|()| own(op, arg, quant))
            .map_err(|e| e.within(format_args!("{name} of {arg}:")))?;
    }
    Ok(())
}

fn common(q: &Quant, dims: &Dims, op: &Op) -> Checked {
    let n = dims.len();
    ensure(q.mask < 1 << n, "mask", q.mask, format_args!("bits of {n} dimensions"))?;
    ensure(!q.on_host || q.mask == 0 && q.groups.is_empty(), "host scalar", format_args!("mask {}", q.mask), "mask 0 and no groups")?;
    if q.groups.is_empty() {
        return Ok(());
    }
    let grouped = FORWARD.iter().any(|r| r.0 == op.kind() && r.1.groups);
    ensure(grouped, "groups", q.groups, format_args!("none for {}", op.kind()))?;
    ensure(
        q.groups.len() == 2 && n >= 2 && q.groups.iter().all(|&g| g >= 1),
        "groups",
        q.groups,
        "two sizes of at least 1, for the last two dimensions",
    )?;
    ensure(q.mask > 0, "mask", q.mask, "the grouped dimensions")?;
    let masked = (0..2).all(|i| q.groups[i] == 1 || q.mask >> (n - 2 + i) & 1 == 1);
    ensure(masked, "mask", q.mask, format_args!("the bits of the dimensions grouped by {}", q.groups))
}

fn mask(masks: Masks, mask: u32, arg: Arg, op: &Op) -> Checked {
    let n = op.quantised(arg).map_or(0, |t| t.dims().len());
    let bit = |from_last: usize| if n >= from_last { 1u32 << (n - from_last) } else { 0 };
    let (row, column, all) = (bit(2), bit(1), (1u32 << n) - 1);
    let allowed: Vec<u32> = match masks {
        Masks::Common => vec![0],
        Masks::Channel => vec![0, 2],
        Masks::OutputChannel if arg == Arg::depthwise(Arg::WEIGHTS) => vec![0, 1, 3],
        Masks::OutputChannel => vec![0, if op.has_groups() { 3 } else { 1 }],
        Masks::Matrix => vec![0, row, column, row | column, all],
        Masks::MatrixColumn => vec![0, column, row | column, all],
        Masks::Column => vec![0, column],
        Masks::Free => return Ok(()),
    };
    ensure(allowed.contains(&mask), "mask", mask, format_args!("one of {allowed:?}"))
}

/// Group sizes of products are 1 or multiples of `unit`.
fn group_unit(op: &Op, q: &Quant, unit: i64) -> Checked {
    let ok = !matches!(op, Op::Matmul(_)) || q.groups.iter().all(|&g| g == 1 || g % unit == 0);
    ensure(ok, "groups", q.groups, format_args!("1 or multiples of {unit}"))
}

fn scale(op: &Op, arg: Arg, q: &Quant) -> Checked {
    let small = matches!(q.dtype, DataType::E8m0 | DataType::F8E4m3);
    ensure(q.dtype.is_fp() || small, "data type", q.dtype, "f32, bf16, f16, e8m0 or f8_e4m3")?;
    ensure(!small || q.mask > 0, "mask", q.mask, format_args!("more than one scale of type {}", q.dtype))?;
    let (dtype, group) = match q.mode {
        QuantMode::Static => return group_unit(op, q, 16),
        QuantMode::DynamicMx => (DataType::E8m0, 32),
        QuantMode::DynamicFp => (DataType::F8E4m3, 16),
    };
    ensure(arg == Arg::DST, "quantisation mode", "dynamic", "static but for dst")?;
    ensure(q.dtype == dtype, "data type", q.dtype, dtype)?;
    ensure(*q.groups == [1, group], "groups", q.groups, format_args!("1x{group}"))
}

fn zero_point(op: &Op, arg: Arg, q: &Quant) -> Checked {
    use DataType::*;
    ensure(q.mode == QuantMode::Static, "quantisation mode", "dynamic", "static")?;
    let tensor = op.quantised(arg).map_or(S8, |t| t.dtype);
    let sums = arg == Arg::DST && matches!(op, Op::Matmul(x) if x.src.dtype.is_integral());
    ensure(tensor.is_integral() || sums, "tensor", tensor, "an integral data type")?;
    ensure(matches!(q.dtype, S32 | S8 | U8 | S4 | U4), "data type", q.dtype, "s32, s8, u8, s4 or u4")?;
    ensure(q.mask > 0 || q.dtype.bits() != 4, "mask", q.mask, format_args!("more than one zero point of type {}", q.dtype))?;
    if !matches!(arg, Arg::SRC | Arg::WEIGHTS) && !matches!(op, Op::Sdpa(_)) {
        ensure(q.dtype == S32, "data type", q.dtype, "s32")?;
        ensure(q.groups.is_empty(), "groups", q.groups, "none")?;
    }
    group_unit(op, q, if arg == Arg::SRC { 32 } else { 16 })
}

fn reduction_type(q: &Quant) -> Checked {
    ensure(q.dtype == DataType::S32, "data type", q.dtype, "s32")?;
    ensure(q.mode == QuantMode::Static && !q.on_host, "quantisation mode", "dynamic or on the host", "static")
}

/// Precomputed reductions: of matmul, over all dimensions of one operand, beside zero points of the other.
fn precomputed(op: &Op, attr: &Attr, rules: &AttrRules) -> Checked {
    for (&arg, q) in &attr.precomputed_reductions {
        let name = format!("precomputed reductions of {arg}");
        ensure(rules.groups && matches!(op, Op::Matmul(_)), &name, "some", format_args!("none for {}", op.kind()))?;
        let all = (1u32 << op.tensor(arg).map_or(0, |t| t.dims().len())) - 1;
        ensure(q.mask == all, &name, format_args!("mask {}", q.mask), format_args!("mask {all}"))?;
        let other = if arg == Arg::SRC { Arg::WEIGHTS } else { Arg::SRC };
        ensure(
            attr.zero_points.contains_key(&other),
            &name,
            format_args!("no zero points of {other}"),
            format_args!("zero points of {other}"),
        )?;
    }
    Ok(())
}

fn dropout(op: &Op, attr: &Attr, rules: &AttrRules) -> Checked {
    let Some(d) = &attr.dropout else { return Ok(()) };
    ensure(rules.dropout, "dropout", "set", format_args!("unset for {} in this pass", op.kind()))?;
    ensure(matches!(d.seed_dtype, DataType::S32 | DataType::S64), "dropout seed", d.seed_dtype, "s32 or s64")?;
    let (Some(mask), Some(dst)) = (&d.mask, op.result()) else { return Ok(()) };
    mask.layout.check().map_err(|e| e.within("dropout mask"))?;
    ensure(mask.dtype == DataType::U8, "dropout mask", mask.dtype, "u8")?;
    ensure(mask.dims() == dst.dims(), "dropout mask", mask.dims(), dst.dims())?;
    let both = !mask.layout.is_any() && !dst.layout.is_any();
    ensure(!both || mask.layout == dst.layout, "dropout mask", "another layout", "the layout of dst")
}

/// Quantisation of recurrent networks: only there, and in reorders to their tensors, with masks over gates and channels and as many scales.
fn rnn(op: &Op, attr: &Attr) -> Checked {
    let q = &attr.rnn;
    let (weights, projection) = match op {
        Op::Rnn(net) => (Some(net.weights_layer.dims()), net.weights_projection.as_ref().map(|t| t.dims())),
        Op::Reorder(x) => {
            let of = |rank| Some(x.dst.dims()).filter(|d| d.len() == rank && x.dst.dtype == DataType::S8);
            (of(5), of(4))
        }
        _ => return ensure(*q == crate::RnnQuant::default(), "rnn quantisation", "set", format_args!("unset for {}", op.kind())),
    };
    if let Some((scale, shift)) = q.data {
        ensure(scale.get().is_finite() && scale.get() != 0.0, "rnn data scale", scale, "a finite number but 0")?;
        ensure(shift.get().is_finite(), "rnn data shift", shift, "a finite number")?;
    }
    for (name, scales, dims, all) in
        [("rnn weights scales", &q.weights, weights, 0b11000), ("rnn projection scales", &q.projection, projection, 0b1000)]
    {
        let (Some((mask, numbers)), Some(dims)) = (scales, dims) else { continue };
        ensure([0, all].contains(mask), name, format_args!("mask {mask}"), format_args!("mask 0 or {all}"))?;
        let count = if *mask == 0 { Some(1) } else { dims[3..].iter().try_fold(1i64, |a, &d| a.checked_mul(d)) };
        ensure(
            usize::try_from(count.unwrap_or(-1)) == Ok(numbers.len()),
            name,
            numbers.len(),
            format_args!("{} numbers", count.unwrap_or(0)),
        )?;
        ensure(numbers.iter().all(|n| n.get().is_finite()), name, "infinity or NaN", "finite numbers")?;
    }
    if let (Some(linear), Op::Rnn(net)) = (&q.linear, op) {
        let gates = net.cell.gates();
        ensure(linear.gates.len() as i64 == gates, "rnn linear activations", linear.gates.len(), format_args!("{gates} factors"))?;
    }
    Ok(())
}
