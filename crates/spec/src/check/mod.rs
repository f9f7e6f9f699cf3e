//! The rules that a problem must keep. The rules of a single operation are beside it in `op`.
//!
//! [`types`] has the tables of data types, [`attr`] the table of attributes by primitive and their rules. This file has the functions from
//! which all rules are composed: each returns an error that names the argument, what it got and what it needs.

pub(crate) mod attr;
pub(crate) mod post_ops;
pub(crate) mod types;

use crate::op::{Op, Prop};
use crate::{Arg, Error, Format, Tensor};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The outcome of a rule.
pub(crate) type Checked = Result<(), Error>;

/// A rule: `ok`, or an error that names the argument, what it got and what it needs.
pub(crate) fn ensure(ok: bool, argument: impl Display, got: impl Display, expected: impl Display) -> Checked {
    if ok { Ok(()) } else { Err(Error::invalid(argument, got, expected)) }
}

/// The number of dimensions.
pub(crate) fn rank(arg: Arg, tensor: &Tensor, ranks: RangeInclusive<usize>) -> Checked {
    let (n, lo, hi) = (tensor.dims().len(), *ranks.start(), *ranks.end());
    let expected = if lo == hi { format!("{lo} dimensions") } else { format!("{lo} to {hi} dimensions") };
    ensure(ranks.contains(&n), arg, format_args!("{} ({n} dimensions)", tensor.dims()), expected)
}

/// The sizes.
pub(crate) fn dims(arg: Arg, tensor: &Tensor, expected: &[i64]) -> Checked {
    if **tensor.dims() == *expected {
        return Ok(());
    }
    let expected: Vec<String> = expected.iter().map(|d| if *d == crate::RUNTIME { "*".into() } else { d.to_string() }).collect();
    Err(Error::arg(arg, tensor.dims(), expected.join("x")))
}

/// The sizes of a tensor that need not be there.
pub(crate) fn dims_if(arg: Arg, tensor: &Option<Tensor>, expected: &[i64]) -> Checked {
    tensor.as_ref().map_or(Ok(()), |t| dims(arg, t, expected))
}

/// That each size is 1 or that of `full`.
pub(crate) fn broadcasts(arg: impl Display, tensor: &Tensor, full: &[i64]) -> Checked {
    let got = tensor.dims();
    let ok = got.len() == full.len() && got.iter().zip(full).all(|(&d, &f)| d == 1 || d == f || f == crate::RUNTIME && d >= 0);
    ensure(ok, arg, got, format_args!("each size 1 or that of {full:?}"))
}

/// That a tensor is there exactly where `wanted`.
pub(crate) fn presence(arg: Arg, tensor: &Option<Tensor>, wanted: bool) -> Checked {
    let word = |there| if there { "a tensor" } else { "none" };
    ensure(tensor.is_some() == wanted, arg, word(tensor.is_some()), word(wanted))
}

/// The propagation kind.
pub(crate) fn prop(prop: Prop, allowed: &[Prop]) -> Checked {
    let names: Vec<&str> = allowed.iter().map(|p| p.name()).collect();
    ensure(allowed.contains(&prop), "propagation kind", prop.name(), names.join(", "))
}

/// Propagation kinds of operations with one backward pass to the data.
pub(crate) const DATA_PROPS: &[Prop] = &[Prop::ForwardTraining, Prop::ForwardInference, Prop::BackwardData];
/// Propagation kinds of operations with weights.
pub(crate) const WEIGHTS_PROPS: &[Prop] = &[Prop::ForwardTraining, Prop::ForwardInference, Prop::BackwardData, Prop::BackwardWeights];
/// Propagation kinds of normalisations.
pub(crate) const NORM_PROPS: &[Prop] = &[Prop::ForwardTraining, Prop::ForwardInference, Prop::Backward, Prop::BackwardData];

/// Whether sizes and strides of this tensor may be given at execution. They may in all operations, with three exceptions: recurrent
/// networks, in which the sizes of the weights determine the cells; convolutions with a depthwise one fused behind them, because no
/// argument has the sizes between the two; and weights of convolutions.
fn may_be_open(op: &Op, arg: Arg) -> bool {
    match op {
        Op::Rnn(_) => false,
        Op::Conv(_) | Op::Deconv(_) => !op.has_depthwise() && !matches!(arg, Arg::WEIGHTS | Arg::DIFF_WEIGHTS),
        _ => true,
    }
}

/// Whether one of the sizes comes with an execution, so that a rule on both can only be kept there.
pub(crate) fn open(a: i64, b: i64) -> bool {
    a == crate::RUNTIME || b == crate::RUNTIME
}

/// That every layout of the operation is sound by itself and of a kind that the operation can have.
pub(crate) fn layouts(op: &Op) -> Checked {
    for o in op.operands() {
        o.tensor.layout.check().map_err(|e| e.within(o.arg))?;
        if o.tensor.layout.has_runtime() && !may_be_open(op, o.arg) {
            return Err(Error::unimplemented(op.kind(), format_args!("{} with sizes or strides given at execution", o.arg)));
        }
        let legal = match &o.tensor.layout.format {
            Format::Sparse(_) => matches!(op, Op::Matmul(_) | Op::Reorder(_)),
            Format::HostScalar => matches!(op, Op::Sdpa(_)) && o.arg == Arg::SCALE || matches!(op, Op::Reorder(_)) && o.arg == Arg::SRC,
            Format::Any | Format::Blocked(_) | Format::Packed(_) => true,
        };
        ensure(legal, o.arg, "a sparse tensor or host scalar", "a dense tensor")?;
    }
    Ok(())
}
