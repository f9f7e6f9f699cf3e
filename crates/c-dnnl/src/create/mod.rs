//! Creating primitive descriptors: each function translates its arguments to a struct of the specification, and `Creation::make` does the rest.
//!
//! Statuses follow oneDNN: a request that contradicts itself is `invalid_arguments`. Data types and attributes that an operation does not
//! take are `unimplemented`; so is a backward pass whose hint lacks the workspace that it needs.

pub mod conv;
mod decided;
mod limits;
pub mod norm;
pub mod pointwise;
pub mod product;
pub mod rnn;
pub mod several;
#[cfg(test)]
mod tests;
mod window;

use crate::attr::Attr;
use crate::engine::Engine;
use crate::handle::{Array, In, New};
use crate::memory_desc::MemoryDesc;
use crate::primitive_desc::{Decision, PrimitiveDesc};
use crate::stack;
use crate::status::{Failure, Status};
use crate::values::value;
use oxidnn_c_common::numbers::PROP;
use oxidnn_runtime as runtime;
use oxidnn_spec::op::{Diff, Op, Prop};
use oxidnn_spec::{self as spec, Arg, DataType, Dims, Error, PostOp, Problem, Tensor};
use std::sync::Arc;

/// The inputs of every creation other than the operation.
pub(crate) struct Creation<'a> {
    /// Receives the handle.
    pub(crate) pd: New<'a, PrimitiveDesc>,
    /// The engine.
    pub(crate) engine: In<'a, Engine>,
    /// The forward descriptor of a backward operation.
    pub(crate) hint: In<'a, PrimitiveDesc>,
    /// The attributes; null for the defaults.
    pub(crate) attr: In<'a, Attr>,
}

impl<'a> Creation<'a> {
    fn forward(pd: New<'a, PrimitiveDesc>, engine: In<'a, Engine>, attr: In<'a, Attr>) -> Creation<'a> {
        Creation { pd, engine, hint: None.into(), attr }
    }

    /// The descriptor of `op`.
    pub(crate) fn make(self, op: impl Into<Op>) -> Result<(), Failure> {
        self.make_from(None.into(), op)
    }

    /// The descriptor of `op`, whose source is on the engine `from`, if given.
    pub(crate) fn make_from(self, from: In<'a, Engine>, op: impl Into<Op>) -> Result<(), Failure> {
        let Creation { pd, engine, hint, attr } = self;
        pd.check("primitive_desc")?;
        let engine = engine.share("engine")?;
        let mut op = op.into();
        if let Some(hint) = hint.optional() {
            op.follow(&hint.runtime().problem().op);
        }
        let source = from.optional().map(|_| from.share("src_engine")).transpose()?;
        let from = source.as_ref().map_or(engine.runtime(), |e| e.runtime());
        let request = ([from.id(), engine.runtime().id()], op, attr.or_default());
        let decision = decided::get(request, |op, attr| {
            stack::deep(|| Ok(Decision::new(runtime::PrimitiveDesc::transfer(from, engine.runtime(), problem(op, attr)?)?)))
        })?;
        limits::keep_algorithm(decision.runtime())?;
        check_hint(decision.runtime().problem(), hint.optional())?;
        let made = match source {
            Some(source) if !Arc::ptr_eq(&source, &engine) => PrimitiveDesc::transfer([source, engine], decision),
            _ => PrimitiveDesc::new(engine, decision),
        };
        pd.own("primitive_desc", made)
    }
}

/// The problem, or the status that oneDNN returns for it.
fn problem(op: Op, mut attr: spec::Attr) -> Result<Problem, Failure> {
    trim(&op, &mut attr);
    let problem = Problem::new(op.clone(), attr.clone()).map_err(|e| {
        let unimplemented = match &e {
            Error::InvalidArguments(i) if i.argument == "data types" => can_accumulate(&op),
            Error::InvalidArguments(_) => is_attributes_fault(op, &attr),
            _ => false,
        };
        let failure = Failure::from(e);
        if unimplemented { Failure { status: Status::Unimplemented, ..failure } } else { failure }
    })?;
    limits::keep(&problem)?;
    Ok(problem)
}

/// Expands oneDNN's shorthands. Bits beyond the result's dimensions are ignored in masks of prelu and of reorders; a mask with all bits
/// means every dimension. A one-dimensional second source of a binary post-op is a value for each channel, if it has as many elements.
fn trim(op: &Op, attr: &mut spec::Attr) {
    let dims = op.result().map_or(Dims::default(), |t| *t.dims());
    if matches!(op, Op::Reorder(_)) {
        attr.scales.values_mut().chain(attr.zero_points.values_mut()).for_each(|q| q.mask &= (1 << dims.len()) - 1);
    }
    for post_op in &mut attr.post_ops {
        match post_op {
            PostOp::Prelu { mask } => *mask &= (1 << dims.len()) - 1,
            PostOp::Binary { src1, .. } if matches!(op, Op::Binary(_)) && src1.dims().len() == 1 && dims.len() > 1 => {
                let channels = Dims::from_fn(dims.len(), |d| if d == 1 { dims[1] } else { 1 });
                if *src1.dims() == Dims::from([dims[1]])
                    && src1.blocking().is_some_and(|b| *b.strides == [1])
                    && let Ok(tensor) = Tensor::plain(channels, src1.dtype)
                {
                    *src1 = tensor;
                }
            }
            _ => {}
        }
    }
    if !matches!(op, Op::Rnn(_)) {
        attr.rnn.linear = None;
    }
}

/// Whether there is an accumulation type for the operands' types. For others oneDNN returns `invalid_arguments`, not `unimplemented`.
fn can_accumulate(op: &Op) -> bool {
    let [src, weights] = [Arg::SRC, Arg::WEIGHTS].map(|a| op.tensor(a).map(|t| t.dtype));
    let product = matches!(op, Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_));
    let mixed = src.is_some_and(DataType::is_x8) && weights == Some(DataType::F32);
    !(product && (src == Some(DataType::S32) || mixed))
}

/// Whether the operation would be valid without its attributes, and these do not contradict it.
fn is_attributes_fault(op: Op, attr: &spec::Attr) -> bool {
    let rank = op.result().map_or(0, |t| t.dims().len());
    let other = |t: &Tensor| t.dims().len() != rank || t.dtype == DataType::F64;
    let operand = attr.post_ops.iter().any(|p| matches!(p, PostOp::Binary { src1, .. } if other(src1)));
    let beyond = attr.scales.iter().chain(&attr.zero_points);
    let mask = beyond.into_iter().any(|(arg, q)| op.tensor(*arg).is_some_and(|t| q.mask >> t.dims().len() != 0));
    !operand && !mask && Problem::new(op, spec::Attr::default()).is_ok()
}

/// A backward pass that needs a workspace must have a hint with one.
fn check_hint(problem: &Problem, hint: Option<&PrimitiveDesc>) -> Result<(), Failure> {
    let Some(workspace) = problem.op.workspace().filter(|_| problem.op.prop().is_some_and(|p| !p.is_forward())) else { return Ok(()) };
    let given = hint.and_then(|h| h.runtime().workspace());
    if given == Some(workspace) {
        return Ok(());
    }
    let got = given.map_or("none".to_string(), Tensor::summary);
    Err(Failure::unimplemented(format_args!("the hint's workspace: got {got}, needed {}", workspace.summary())))
}

/// A source, whose layout the implementation does not choose.
fn source(desc: In<'_, MemoryDesc>, name: &str) -> Result<Tensor, Failure> {
    let tensor = desc.tensor(name)?;
    if tensor.layout.is_any() {
        return Err(Failure::invalid(name, "the layout any", "a known layout"));
    }
    Ok(tensor)
}

/// A forward propagation kind.
fn forward(number: i32) -> Result<Prop, Failure> {
    allowed(number, &[Prop::ForwardTraining, Prop::ForwardInference])
}

fn allowed(number: i32, props: &[Prop]) -> Result<Prop, Failure> {
    let prop = value(&PROP, number)?;
    if props.contains(&prop) {
        return Ok(prop);
    }
    let names: Vec<&str> = props.iter().map(|p| p.name()).collect();
    Err(Failure::invalid("prop_kind", prop.name(), names.join(", ")))
}

/// The gradients of a source and its destination.
fn diff(src: In<'_, MemoryDesc>, dst: In<'_, MemoryDesc>) -> Result<Diff, Failure> {
    Ok(Diff { src: src.tensor("diff_src_desc")?, dst: dst.tensor("diff_dst_desc")? })
}

/// An axis of a tensor.
fn axis(number: i32) -> Result<usize, Failure> {
    usize::try_from(number).map_err(|_| Failure::invalid("axis", number, "no negative number"))
}

/// One value per spatial dimension of `tensor`, N x C x spatial.
fn spatial(numbers: Array<'_, i64>, tensor: &Tensor, name: &str) -> Result<Dims, Failure> {
    let n = tensor.dims().len();
    if !(3..=5).contains(&n) {
        return Err(Failure::invalid("dims", tensor.dims(), "3 to 5 dimensions"));
    }
    Ok(Dims::new(numbers.slice(name, n - 2)?).unwrap_or_default())
}
