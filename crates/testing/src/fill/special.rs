//! Values that ordinary fills leave out: NaN, infinities, subnormal and the largest numbers, mixed into the data of a problem.

use crate::host::HostArgs;
use oxidnn_expr::number;
use oxidnn_spec::op::{ConvAlg, PoolAlg, ReductionAlg};
use oxidnn_spec::{Arg, DataType, Op, PostOp, Problem, Use};
use std::str::FromStr;

/// A kind of values that implementations like to get wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// Not a number.
    Nan,
    /// Infinities of both signs.
    Infinity,
    /// The smallest numbers of both signs.
    Subnormal,
    /// The largest finite numbers of both signs.
    Huge,
}

impl Special {
    /// All of them, by the names of `oxidnn verify --fill`.
    pub const NAMES: [(Special, &'static str); 4] =
        [(Special::Nan, "nan"), (Special::Infinity, "inf"), (Special::Subnormal, "subnormal"), (Special::Huge, "huge")];

    /// The values, where `dtype` has them.
    fn values(self, dtype: DataType) -> Option<[f64; 2]> {
        use DataType::{Bf16, F8E4m3, F8E5m2, F16, F32};
        let largest = match dtype {
            F32 => f64::from(f32::MAX),
            Bf16 => (2.0 - 2f64.powi(-7)) * 2f64.powi(127),
            F16 => 65504.0,
            F8E5m2 => 57344.0,
            F8E4m3 => 448.0,
            _ => return None,
        };
        let smallest = match dtype {
            F32 => 2f64.powi(-149),
            Bf16 => 2f64.powi(-133),
            F16 => 2f64.powi(-24),
            F8E5m2 => 2f64.powi(-16),
            _ => 2f64.powi(-9),
        };
        match self {
            Special::Nan => Some([f64::NAN; 2]),
            Special::Infinity if dtype == F8E4m3 => None,
            Special::Infinity => Some([f64::INFINITY, f64::NEG_INFINITY]),
            Special::Subnormal => Some([3.0 * smallest, -smallest]),
            Special::Huge => Some([largest, -largest]),
        }
    }

    /// Why the result of `problem` is not defined for such values; `None` if it is.
    pub fn undefined(self, problem: &Problem) -> Option<&'static str> {
        let operands = problem.operands();
        let is_float = |o: &&oxidnn_spec::Operand<oxidnn_spec::Tensor>| self.values(o.tensor.dtype).is_some() && takes(problem, o.arg);
        if !operands.iter().any(|o| o.usage == Use::In && is_float(&o)) {
            return Some("its data types have no such values");
        }
        if matches!(&problem.op, Op::Reduction(r) if r.alg == ReductionAlg::Mul) && self != Special::Nan {
            return Some("products in f32 leave the range that those of the reference stay in");
        }
        if self == Special::Subnormal {
            return None;
        }
        let integral = operands.iter().any(|o| o.usage == Use::Out && o.tensor.dtype.is_integral() && o.arg != Arg::WORKSPACE);
        if integral && self == Special::Nan {
            return Some("an integer that stands for NaN is anything");
        }
        let dynamic = problem.attr.scales.values().any(|q| q.mode != oxidnn_spec::QuantMode::Static);
        if dynamic {
            return Some("scales that are computed from infinities or NaN are anything");
        }
        if matches!(&problem.op, Op::Conv(c) if c.alg != ConvAlg::Direct) {
            return Some("Winograd's algorithm adds up neighbours");
        }
        if problem.attr.dropout.is_some() || problem.attr.post_ops.iter().any(|p| matches!(p, PostOp::Depthwise { .. })) {
            return Some("what is left out is multiplied by 0");
        }
        let weights = operands.iter().any(|o| o.usage == Use::Out && o.arg == Arg::DIFF_WEIGHTS);
        if matches!(problem.op, Op::Conv(_) | Op::Deconv(_)) && weights {
            return Some("whether a gradient of weights is multiplied by padding, which is 0, is not specified");
        }
        let products = matches!(problem.op, Op::Matmul(_) | Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_));
        if products && !problem.attr.zero_points.is_empty() {
            return Some("zero points are subtracted from sums, which may be infinite");
        }
        if problem.attr.rnn.linear.is_some() {
            return Some("linear activations are for tests");
        }
        let overflows = adds_up(&problem.op) || matches!(problem.op, Op::Binary(_)) || !problem.attr.post_ops.is_empty();
        (self == Special::Huge && overflows).then_some("sums and products in f32 overflow where those of the reference do not")
    }

    /// Puts the values into data inputs of `problem`: a few into operands of sums, many into operands of element-wise operations.
    pub fn mix(self, problem: &Problem, args: &HostArgs) {
        for o in problem.operands().into_iter().filter(|o| o.usage == Use::In && takes(problem, o.arg)) {
            let (Some(special), Some(tensor)) = (self.values(o.tensor.dtype), args.get(o.arg)) else { continue };
            let mut values = tensor.values();
            let every = if adds_up(&problem.op) && self != Special::Subnormal { (values.len() / 3).max(7) } else { 7 };
            for (n, at) in (every / 2..values.len()).step_by(every).enumerate() {
                values[at] = number::decode(o.tensor.dtype, number::encode(o.tensor.dtype, special[n % 2]));
            }
            tensor.set_values(&values);
        }
    }
}

/// Sources and gradients; not weights and parameters: whether padding, which is 0, is multiplied by them is not specified.
fn takes(problem: &Problem, arg: Arg) -> bool {
    let both = matches!(problem.op, Op::Binary(_) | Op::Matmul(_));
    arg == Arg::SRC || arg == Arg::DIFF_DST || arg.multiple_src_index().is_some() || both && arg == Arg::SRC_1
}

/// Whether an operation adds values of different elements, or multiplies values by each other without end.
fn adds_up(op: &Op) -> bool {
    match op {
        Op::Eltwise(_) | Op::Binary(_) | Op::Reorder(_) | Op::Concat(_) | Op::Shuffle(_) => false,
        Op::Pool(p) => p.alg != PoolAlg::Max || !p.prop.is_forward(),
        Op::Reduction(r) => !matches!(r.alg, ReductionAlg::Max | ReductionAlg::Min),
        Op::Softmax(s) => !s.prop.is_forward(),
        _ => true,
    }
}

impl FromStr for Special {
    type Err = String;
    fn from_str(s: &str) -> Result<Special, String> {
        let names = || Special::NAMES.map(|n| n.1).join(", ");
        Special::NAMES.into_iter().find(|n| n.1 == s).map(|n| n.0).ok_or_else(|| format!("`{s}` is none of {}", names()))
    }
}
