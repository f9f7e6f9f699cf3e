//! Queries of primitive descriptors: parameters of the operation, descriptors of its tensors, facts about the implementation.

use crate::engine::Engine;
use crate::handle::{Data, In};
use crate::memory_desc::MemoryDesc;
use crate::primitive_desc::PrimitiveDesc;
use crate::status::{Failure, Status, guard, guard_value};
use oxidnn_c_common::numbers;
use oxidnn_c_common::records::DimsArray;
use oxidnn_spec::op::{ConvAlg, Op, RnnCell};
use oxidnn_spec::{Arg, Use};
use std::ffi::{CStr, c_char};

#[cfg(test)]
mod tests;

/// Values of `dnnl_query_t`.
mod what {
    pub(super) const ENGINE: i32 = 1;
    pub(super) const PRIMITIVE_KIND: i32 = 2;
    pub(super) const NUM_OF_INPUTS: i32 = 3;
    pub(super) const NUM_OF_OUTPUTS: i32 = 4;
    pub(super) const MEMORY_CONSUMPTION: i32 = 6;
    pub(super) const IMPL_INFO: i32 = 8;
    pub(super) const REORDER_SRC_ENGINE: i32 = 9;
    pub(super) const REORDER_DST_ENGINE: i32 = 10;
    pub(super) const PROP_KIND: i32 = 11;
    pub(super) const CACHE_BLOB_ID_SIZE: i32 = 12;
    pub(super) const CACHE_BLOB_ID: i32 = 13;
    pub(super) const STRIDES: i32 = 14;
    pub(super) const DILATIONS: i32 = 15;
    pub(super) const PADDING_L: i32 = 16;
    pub(super) const PADDING_R: i32 = 17;
    pub(super) const EPSILON: i32 = 18;
    pub(super) const FLAGS: i32 = 19;
    pub(super) const ALG_KIND: i32 = 20;
    pub(super) const ALPHA: i32 = 21;
    pub(super) const BETA: i32 = 22;
    pub(super) const AXIS: i32 = 23;
    pub(super) const LOCAL_SIZE: i32 = 24;
    pub(super) const K: i32 = 25;
    pub(super) const P: i32 = 26;
    pub(super) const FACTORS: i32 = 27;
    pub(super) const CELL_KIND: i32 = 28;
    pub(super) const DIRECTION: i32 = 29;
    pub(super) const ACTIVATION_KIND: i32 = 30;
    pub(super) const KERNEL: i32 = 31;
    pub(super) const GROUP_SIZE: i32 = 32;
    pub(super) const SRC_MD: i32 = 129;
    pub(super) const DIFF_SRC_MD: i32 = 130;
    pub(super) const WEIGHTS_MD: i32 = 131;
    pub(super) const DIFF_WEIGHTS_MD: i32 = 132;
    pub(super) const DST_MD: i32 = 133;
    pub(super) const DIFF_DST_MD: i32 = 134;
    pub(super) const WORKSPACE_MD: i32 = 135;
    pub(super) const SCRATCHPAD_MD: i32 = 136;
    pub(super) const EXEC_ARG_MD: i32 = 255;
}

/// A result, in the type that the query's documentation states.
#[derive(Clone, Copy, Debug)]
enum Answer<'a> {
    Int(i32),
    Long(i64),
    Float(f32),
    Text(&'a CStr),
    Sizes(&'a DimsArray),
    Factors(&'a [f32]),
    Engine(&'a Engine),
    Desc(&'a MemoryDesc),
    /// A null pointer.
    Nothing,
}

impl Answer<'_> {
    fn write(self, result: Data) -> Result<(), Failure> {
        match self {
            Answer::Int(v) => result.set("result", v),
            Answer::Long(v) => result.set("result", v),
            Answer::Float(v) => result.set("result", v),
            Answer::Text(v) => result.set::<*const c_char>("result", v.as_ptr()),
            Answer::Sizes(v) => result.set::<*const DimsArray>("result", v),
            Answer::Factors(v) => result.set::<*const f32>("result", v.as_ptr()),
            Answer::Engine(v) => result.set::<*const Engine>("result", v),
            Answer::Desc(v) => result.set::<*const MemoryDesc>("result", v),
            Answer::Nothing => result.set::<*const u8>("result", std::ptr::null()),
        }
    }
}

/// The record returned for absent tensors.
static ZERO: MemoryDesc = MemoryDesc::ZERO;

/// The answer to query `what`.
fn answer(pd: &PrimitiveDesc, what: i32, index: i32) -> Result<Answer<'_>, Failure> {
    if let what::SRC_MD..=what::EXEC_ARG_MD = what {
        return descriptor(pd, what, index).map(Answer::Desc);
    }
    let (desc, op) = (pd.runtime(), &pd.runtime().problem().op);
    let of_reorder = |end: usize| matches!(op, Op::Reorder(_)).then(|| Answer::Engine(pd.ends()[end]));
    let answer = match what {
        what::ENGINE => Some(Answer::Engine(pd.engine())),
        what::PRIMITIVE_KIND => Some(Answer::Int(numbers::KIND.of(op.kind()))),
        what::NUM_OF_INPUTS => Some(Answer::Int(desc.num_inputs() as i32)),
        what::NUM_OF_OUTPUTS => Some(Answer::Int(pd.num_outputs() as i32)),
        what::MEMORY_CONSUMPTION => Some(Answer::Long(desc.memory_consumption() as i64)),
        what::IMPL_INFO => Some(Answer::Text(pd.name())),
        what::REORDER_SRC_ENGINE => of_reorder(0),
        what::REORDER_DST_ENGINE => of_reorder(1),
        what::PROP_KIND => op.prop().map(|p| Answer::Int(numbers::PROP.of(p))),
        what::CACHE_BLOB_ID_SIZE => Some(Answer::Long(0)),
        what::CACHE_BLOB_ID => Some(Answer::Nothing),
        what::STRIDES => pd.sizes().map(|s| Answer::Sizes(&s.strides)),
        what::DILATIONS => pd.sizes().map(|s| Answer::Sizes(&s.dilations)),
        what::PADDING_L => pd.sizes().map(|s| Answer::Sizes(&s.padding_l)),
        what::PADDING_R => pd.sizes().map(|s| Answer::Sizes(&s.padding_r)),
        what::KERNEL => pd.sizes().filter(|_| matches!(op, Op::Pool(_))).map(|s| Answer::Sizes(&s.kernel)),
        what::FACTORS => matches!(op, Op::Resampling(_)).then(|| Answer::Factors(pd.factors())),
        what::ALG_KIND => algorithm(pd).map(Answer::Int),
        _ => parameter(op, what),
    };
    answer.ok_or_else(|| Failure { status: Status::Unimplemented, message: String::new() })
}

/// The algorithm's enumerator.
fn algorithm(pd: &PrimitiveDesc) -> Option<i32> {
    Some(match &pd.runtime().problem().op {
        Op::Conv(x) => numbers::CONV.of(match x.alg {
            ConvAlg::Auto if pd.runtime().impl_name().contains("winograd") => ConvAlg::Winograd,
            ConvAlg::Auto => ConvAlg::Direct,
            alg => alg,
        }),
        Op::Deconv(x) => numbers::DECONV.of(x.alg),
        Op::Pool(x) => numbers::POOL.of(x.alg),
        Op::Eltwise(x) => numbers::ELTWISE.of(x.alg),
        Op::Softmax(x) => numbers::SOFTMAX.of(x.alg),
        Op::Lrn(x) => numbers::LRN.of(x.alg),
        Op::Reduction(x) => numbers::REDUCTION.of(x.alg),
        Op::Resampling(x) => numbers::RESAMPLING.of(x.alg),
        Op::Binary(x) => numbers::BINARY.of(x.alg),
        _ => return None,
    })
}

/// A parameter that only some operations have.
fn parameter(op: &Op, what: i32) -> Option<Answer<'static>> {
    let real = |r: oxidnn_spec::Real| Answer::Float(r.get());
    let flags = |f| Answer::Int(numbers::norm_flags(f) as i32);
    Some(match (what, op) {
        (what::EPSILON, Op::BatchNorm(x)) => real(x.epsilon),
        (what::EPSILON, Op::LayerNorm(x)) => real(x.epsilon),
        (what::EPSILON, Op::GroupNorm(x)) => real(x.epsilon),
        (what::EPSILON, Op::Reduction(x)) => real(x.eps),
        (what::FLAGS, Op::BatchNorm(x)) => flags(x.flags),
        (what::FLAGS, Op::LayerNorm(x)) => flags(x.flags),
        (what::FLAGS, Op::GroupNorm(x)) => flags(x.flags),
        (what::ALPHA, Op::Eltwise(x)) => real(x.alpha),
        (what::ALPHA, Op::Lrn(x)) => real(x.alpha),
        (what::ALPHA, Op::Rnn(x)) => real(x.alpha),
        (what::BETA, Op::Eltwise(x)) => real(x.beta),
        (what::BETA, Op::Lrn(x)) => real(x.beta),
        (what::AXIS, Op::Softmax(x)) => Answer::Int(x.axis as i32),
        (what::AXIS, Op::Shuffle(x)) => Answer::Int(x.axis as i32),
        (what::LOCAL_SIZE, Op::Lrn(x)) => Answer::Long(x.local_size),
        (what::K, Op::Lrn(x)) => real(x.k),
        (what::P, Op::Reduction(x)) => real(x.p),
        (what::CELL_KIND, Op::Rnn(x)) => Answer::Int(numbers::CELL.of(x.cell)),
        (what::DIRECTION, Op::Rnn(x)) => Answer::Int(numbers::DIRECTION.of(x.direction)),
        (what::ACTIVATION_KIND, Op::Rnn(x)) if x.cell == RnnCell::Vanilla => Answer::Int(numbers::ACTIVATION.of(x.activation)),
        (what::ACTIVATION_KIND, Op::Rnn(_)) => Answer::Int(0),
        (what::GROUP_SIZE, Op::Shuffle(x)) => Answer::Long(x.group_size),
        (what::GROUP_SIZE, Op::GroupNorm(x)) => Answer::Long(x.groups),
        _ => return None,
    })
}

/// The descriptor of a tensor, empty if it is absent.
fn descriptor(pd: &PrimitiveDesc, what: i32, index: i32) -> Result<&MemoryDesc, Failure> {
    let arg = match what {
        // A normalisation without a mean still has a descriptor for it, like that of its other statistic.
        what::EXEC_ARG_MD if Arg(index) == Arg::MEAN && pd.record(Arg::MEAN).is_none() => Some(Arg::VARIANCE),
        what::EXEC_ARG_MD => Some(Arg(index)),
        what::WORKSPACE_MD | what::SCRATCHPAD_MD if index != 0 => return Err(Failure::invalid("index", index, "0")),
        what::WORKSPACE_MD => Some(Arg::WORKSPACE),
        what::SCRATCHPAD_MD => Some(Arg::SCRATCHPAD),
        what::SRC_MD..=what::DIFF_DST_MD => usize::try_from(index).ok().and_then(|i| nth(pd, what, i)),
        _ => return Err(Failure { status: Status::Unimplemented, message: String::new() }),
    };
    Ok(arg.and_then(|a| pd.record(a)).unwrap_or(&ZERO))
}

/// The argument to which `index` refers in the query for tensors of a kind.
fn nth(pd: &PrimitiveDesc, what: i32, index: usize) -> Option<Arg> {
    let op = &pd.runtime().problem().op;
    match (what, op) {
        (what::SRC_MD, Op::Concat(_) | Op::Sum(_)) => return Some(Arg::multiple_src(index)),
        (what::SRC_MD | what::DST_MD, Op::BatchNorm(_) | Op::LayerNorm(_) | Op::GroupNorm(_)) if index > 0 => {
            let usage = if what == what::SRC_MD { Use::In } else { Use::Out };
            let is = |arg: Arg| pd.runtime().operands().iter().any(|o| o.arg == arg && o.usage == usage);
            let wanted = [Arg::MEAN, Arg::VARIANCE].get(index - 1).copied()?;
            return Some(if is(wanted) { wanted } else { Arg::VARIANCE }).filter(|a| is(*a));
        }
        (what::WEIGHTS_MD, Op::BatchNorm(_) | Op::LayerNorm(_) | Op::GroupNorm(_)) => {
            let wanted = [Arg::SCALE, Arg::SHIFT].get(index).copied()?;
            let forward = op.prop().is_some_and(|p| p.is_forward());
            return [wanted, Arg::SCALE, Arg::SHIFT].into_iter().find(|a| pd.record(*a).is_some()).filter(|_| forward || index == 0);
        }
        // If there is only one parameter gradient, it has index 0.
        (what::DIFF_WEIGHTS_MD, Op::BatchNorm(_) | Op::LayerNorm(_) | Op::GroupNorm(_)) if index == 0 => {
            return [Arg::DIFF_SCALE, Arg::DIFF_SHIFT].into_iter().find(|a| pd.record(*a).is_some());
        }
        _ => {}
    }
    let list = arguments(what, op);
    match op {
        // Absent weights of a recurrent network have no index.
        Op::Rnn(_) => list.iter().copied().filter(|a| pd.record(*a).is_some() || !is_weights(*a)).nth(index),
        _ => list.get(index).copied(),
    }
}

fn is_weights(arg: Arg) -> bool {
    (Arg::WEIGHTS..=Arg::BIAS).contains(&arg) || (Arg::DIFF_WEIGHTS..=Arg::DIFF_BIAS).contains(&arg)
}

/// The tensors of a kind, in the order of their indices.
fn arguments(what: i32, op: &Op) -> &'static [Arg] {
    match (what, op) {
        (what::SRC_MD, _) => &[Arg::SRC, Arg::SRC_1, Arg::SRC_2],
        (what::DIFF_SRC_MD, _) => &[Arg::DIFF_SRC, Arg::DIFF_SRC_1, Arg::DIFF_SRC_2],
        (what::WEIGHTS_MD, Op::Rnn(_)) => &[Arg::WEIGHTS, Arg::WEIGHTS_1, Arg::WEIGHTS_2, Arg::WEIGHTS_3, Arg::BIAS],
        (what::WEIGHTS_MD, _) => &[Arg::WEIGHTS, Arg::BIAS],
        (what::DIFF_WEIGHTS_MD, Op::Rnn(_)) => {
            &[Arg::DIFF_WEIGHTS, Arg::DIFF_WEIGHTS_1, Arg::DIFF_WEIGHTS_2, Arg::DIFF_WEIGHTS_3, Arg::DIFF_BIAS]
        }
        (what::DIFF_WEIGHTS_MD, Op::BatchNorm(_) | Op::LayerNorm(_) | Op::GroupNorm(_)) => &[Arg::DIFF_SCALE, Arg::DIFF_SHIFT],
        (what::DIFF_WEIGHTS_MD, _) => &[Arg::DIFF_WEIGHTS, Arg::DIFF_BIAS],
        (what::DST_MD, _) => &[Arg::DST, Arg::DST_1, Arg::DST_2],
        (what::DIFF_DST_MD, _) => &[Arg::DIFF_DST, Arg::DIFF_DST_1, Arg::DIFF_DST_2],
        _ => &[],
    }
}

/// `dnnl_primitive_desc_query`: `unimplemented` for properties that the primitive does not have.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_desc_query(pd: In<'_, PrimitiveDesc>, what: i32, index: i32, result: Data) -> Status {
    guard("dnnl_primitive_desc_query", || answer(pd.get("primitive_desc")?, what, index)?.write(result))
}

/// `dnnl_primitive_desc_query_md`: null if the query is not for a descriptor, the empty descriptor if the tensor is absent.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_desc_query_md(pd: In<'_, PrimitiveDesc>, what: i32, index: i32) -> *const MemoryDesc {
    guard_value("dnnl_primitive_desc_query_md", std::ptr::null(), || match pd.optional() {
        Some(pd) if (what::SRC_MD..=what::EXEC_ARG_MD).contains(&what) => Ok(std::ptr::from_ref(descriptor(pd, what, index)?)),
        _ => Ok(std::ptr::null()),
    })
}

/// `dnnl_primitive_desc_query_s32`: 0 if there is no such parameter.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_desc_query_s32(pd: In<'_, PrimitiveDesc>, what: i32, index: i32) -> i32 {
    guard_value("dnnl_primitive_desc_query_s32", 0, || match answer(pd.get("primitive_desc")?, what, index)? {
        Answer::Int(v) => Ok(v),
        _ => Ok(0),
    })
}
