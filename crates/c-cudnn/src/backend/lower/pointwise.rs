//! Element-wise operations: 52 functions of one, two or three tensors, and the gradients of activations.

use super::calc::Then;
use super::value::Val;
use super::{Lowering, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, Eltwise, EltwiseAlg, Prop};
use oxidnn_spec::{Arg, DataType};

/// The operands of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Arity {
    /// `x`.
    One,
    /// `x` and `b`.
    Two,
    /// `x`, `b` and the condition `t`.
    Three,
    /// `x` and the gradient `dy`.
    Gradient,
}

fn arity(mode: i32) -> Arity {
    match mode {
        CUDNN_POINTWISE_BINARY_SELECT => Arity::Three,
        200..=299 => Arity::Gradient,
        300..=399 | CUDNN_POINTWISE_LOGICAL_AND | CUDNN_POINTWISE_LOGICAL_OR => Arity::Two,
        CUDNN_POINTWISE_ADD
        | CUDNN_POINTWISE_ADD_SQUARE
        | CUDNN_POINTWISE_DIV
        | CUDNN_POINTWISE_MAX
        | CUDNN_POINTWISE_MIN
        | CUDNN_POINTWISE_MOD
        | CUDNN_POINTWISE_MUL
        | CUDNN_POINTWISE_POW
        | CUDNN_POINTWISE_SUB
        | CUDNN_POINTWISE_ATAN2
        | CUDNN_POINTWISE_FLOOR_MOD => Arity::Two,
        _ => Arity::One,
    }
}

/// Functions of two tensors that are one primitive.
const TWO: &[(i32, BinaryAlg)] = &[
    (CUDNN_POINTWISE_ADD, BinaryAlg::Add),
    (CUDNN_POINTWISE_MUL, BinaryAlg::Mul),
    (CUDNN_POINTWISE_SUB, BinaryAlg::Sub),
    (CUDNN_POINTWISE_DIV, BinaryAlg::Div),
    (CUDNN_POINTWISE_MAX, BinaryAlg::Max),
    (CUDNN_POINTWISE_MIN, BinaryAlg::Min),
    (CUDNN_POINTWISE_CMP_EQ, BinaryAlg::Eq),
    (CUDNN_POINTWISE_CMP_NEQ, BinaryAlg::Ne),
    (CUDNN_POINTWISE_CMP_GT, BinaryAlg::Gt),
    (CUDNN_POINTWISE_CMP_GE, BinaryAlg::Ge),
    (CUDNN_POINTWISE_CMP_LT, BinaryAlg::Lt),
    (CUDNN_POINTWISE_CMP_LE, BinaryAlg::Le),
];

/// The parameters of a function.
#[derive(Clone, Copy, Debug)]
enum Parameters {
    Fixed(f32, f32),
    /// The attribute, else 1.
    Given(i32),
}

use Parameters::{Fixed, Given};

/// Functions of one tensor that are one primitive; the gradients of activations have numbers 100 higher.
const ONE: &[(i32, EltwiseAlg, Parameters)] = &[
    (CUDNN_POINTWISE_ABS, EltwiseAlg::Abs, Fixed(0.0, 0.0)),
    (CUDNN_POINTWISE_EXP, EltwiseAlg::Exp, Fixed(0.0, 0.0)),
    (CUDNN_POINTWISE_LOG, EltwiseAlg::Log, Fixed(0.0, 0.0)),
    (CUDNN_POINTWISE_NEG, EltwiseAlg::Linear, Fixed(-1.0, 0.0)),
    (CUDNN_POINTWISE_RSQRT, EltwiseAlg::Pow, Fixed(1.0, -0.5)),
    (CUDNN_POINTWISE_SQRT, EltwiseAlg::Sqrt, Fixed(0.0, 0.0)),
    (CUDNN_POINTWISE_RECIPROCAL, EltwiseAlg::Pow, Fixed(1.0, -1.0)),
    (CUDNN_POINTWISE_TANH_FWD, EltwiseAlg::Tanh, Fixed(0.0, 0.0)),
    (CUDNN_POINTWISE_SIGMOID_FWD, EltwiseAlg::Logistic, Fixed(0.0, 0.0)),
    (CUDNN_POINTWISE_ELU_FWD, EltwiseAlg::Elu, Given(CUDNN_ATTR_POINTWISE_ELU_ALPHA)),
    (CUDNN_POINTWISE_GELU_FWD, EltwiseAlg::GeluErf, Fixed(0.0, 0.0)),
    (CUDNN_POINTWISE_SOFTPLUS_FWD, EltwiseAlg::SoftRelu, Given(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA)),
    (CUDNN_POINTWISE_SWISH_FWD, EltwiseAlg::Swish, Given(CUDNN_ATTR_POINTWISE_SWISH_BETA)),
    (CUDNN_POINTWISE_GELU_APPROX_TANH_FWD, EltwiseAlg::GeluTanh, Fixed(0.0, 0.0)),
];

/// Whether a pointwise operation propagates NaN.
pub(super) fn propagates(parameters: &Frozen) -> bool {
    parameters.int(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION) == Some(i64::from(CUDNN_PROPAGATE_NAN))
}

/// The operand of an operation that is a maximum: a ReLU without slope and ceiling that replaces NaN.
pub(super) fn floor_of(parameters: &Frozen, mode: i32) -> Option<f64> {
    let Clips { lower, upper, slope } = Clips::of(parameters);
    (mode == CUDNN_POINTWISE_RELU_FWD && !propagates(parameters) && slope == 0.0 && upper >= f64::from(f32::MAX)).then_some(lower)
}

/// The function of one tensor with its parameters; `None` if it is not one primitive. For a ReLU it is right except for NaN.
pub(super) fn function(parameters: &Frozen, mode: i32) -> Option<(EltwiseAlg, [f32; 2])> {
    if mode == CUDNN_POINTWISE_RELU_FWD {
        let Clips { lower, upper, slope } = Clips::of(parameters);
        let open = upper >= f64::from(f32::MAX);
        return match slope == 0.0 && (lower != 0.0 || !open) {
            true => Some((EltwiseAlg::ClipV2, [lower as f32, if open { f32::INFINITY } else { upper as f32 }])),
            false => (lower == 0.0 && open).then_some((EltwiseAlg::Relu, [slope as f32, 0.0])),
        };
    }
    let &(_, alg, from) = ONE.iter().find(|f| f.0 == mode)?;
    Some(match from {
        Fixed(alpha, beta) => (alg, [alpha, beta]),
        Given(id) => (alg, [parameters.real(id).unwrap_or(1.0) as f32, 0.0]),
    })
}

/// The function of two tensors; `None` if it is not one primitive.
pub(super) fn binary(mode: i32) -> Option<BinaryAlg> {
    TWO.iter().find(|f| f.0 == mode).map(|f| f.1)
}

/// Mode of a pointwise operation.
pub(super) fn mode(op: &Frozen) -> i32 {
    let parameters = op.object(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    parameters.and_then(|p| p.int(CUDNN_ATTR_POINTWISE_MODE)).and_then(|v| i32::try_from(v).ok()).unwrap_or(-1)
}

/// Bounds and slope of a ReLU.
struct Clips {
    lower: f64,
    upper: f64,
    slope: f64,
}

impl Clips {
    fn of(parameters: &Frozen) -> Clips {
        let real = |id, default| parameters.real(id).unwrap_or(default);
        Clips {
            lower: real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0.0),
            upper: real(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, f64::MAX),
            slope: real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.0),
        }
    }
}

/// Checks that an operation has the tensors that its function reads and writes.
///
/// # Errors
/// `BAD_PARAM` that names the tensor.
pub(crate) fn check(op: &Frozen) -> Result<(), Failure> {
    let mode = mode(op);
    let needed: &[(i32, &str)] = match arity(mode) {
        Arity::One => &[(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, "XDESC"), (CUDNN_ATTR_OPERATION_POINTWISE_YDESC, "YDESC")],
        Arity::Two => &[
            (CUDNN_ATTR_OPERATION_POINTWISE_XDESC, "XDESC"),
            (CUDNN_ATTR_OPERATION_POINTWISE_BDESC, "BDESC"),
            (CUDNN_ATTR_OPERATION_POINTWISE_YDESC, "YDESC"),
        ],
        Arity::Three => &[
            (CUDNN_ATTR_OPERATION_POINTWISE_XDESC, "XDESC"),
            (CUDNN_ATTR_OPERATION_POINTWISE_BDESC, "BDESC"),
            (CUDNN_ATTR_OPERATION_POINTWISE_TDESC, "TDESC"),
            (CUDNN_ATTR_OPERATION_POINTWISE_YDESC, "YDESC"),
        ],
        Arity::Gradient => &[
            (CUDNN_ATTR_OPERATION_POINTWISE_XDESC, "XDESC"),
            (CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, "DYDESC"),
            (CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, "DXDESC"),
        ],
    };
    match needed.iter().find(|n| !op.has(n.0)) {
        Some((_, name)) => Err(Failure::invalid(name, "nothing", format_args!("a tensor for the mode {mode}"))),
        None => Ok(()),
    }
}

pub(super) fn lower(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let parameters = op.object(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR).ok_or_else(|| unsupported("no parameters"))?.clone();
    l.precision(&parameters, CUDNN_ATTR_POINTWISE_MATH_PREC);
    let mode = mode(op);
    let arity = arity(mode);
    let result = if arity == Arity::Gradient { CUDNN_ATTR_OPERATION_POINTWISE_DXDESC } else { CUDNN_ATTR_OPERATION_POINTWISE_YDESC };
    let output = l.output(op, result)?;
    if output.dtype() == DataType::F64 {
        l.real = DataType::F64;
    }
    let x = l.read(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC)?;
    if mode == CUDNN_POINTWISE_IDENTITY && op.real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1).unwrap_or(1.0) == 1.0 {
        return l.store(&x, &output);
    }
    let x = l.scaled(&x, op.real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1).unwrap_or(1.0))?;
    let y = match arity {
        Arity::One => one(l, &parameters, mode, &x)?,
        Arity::Gradient => {
            let dy = l.read(op, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC)?;
            gradient(l, &parameters, mode, [&x, &dy])?
        }
        Arity::Two | Arity::Three => {
            let b = l.read(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC)?;
            let b = l.scaled(&b, op.real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2).unwrap_or(1.0))?;
            let extremum = matches!(mode, CUDNN_POINTWISE_MAX | CUDNN_POINTWISE_MIN);
            match arity {
                Arity::Two if extremum && propagates(&parameters) => {
                    let carriers = [l.carrier(&x)?, l.carrier(&b)?];
                    let then = carriers.each_ref().map(|carrier| Then::Two(BinaryAlg::Add, carrier));
                    l.chained(if mode == CUDNN_POINTWISE_MAX { BinaryAlg::Max } else { BinaryAlg::Min }, &x, &b, &then)?
                }
                Arity::Two => two(l, mode, &x, &b)?,
                _ => {
                    let t = l.read(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC)?;
                    l.select(&t, &x, &b)?
                }
            }
        }
    };
    l.store(&y, &output)
}

fn one(l: &mut Lowering<'_>, parameters: &Frozen, mode: i32, x: &Val) -> Result<Val, Failure> {
    if let Some(floor) = floor_of(parameters, mode) {
        return l.with_number(BinaryAlg::Max, x, floor);
    }
    if let Some((alg, numbers)) = function(parameters, mode) {
        if alg == EltwiseAlg::ClipV2 && !propagates(parameters) {
            let floor = l.number(f64::from(numbers[0]))?;
            return l.chained(BinaryAlg::Max, x, &floor, &[Then::One(alg, numbers)]);
        }
        return l.one(alg, numbers, x);
    }
    match mode {
        CUDNN_POINTWISE_IDENTITY => l.real(x),
        CUDNN_POINTWISE_RELU_FWD => {
            let Clips { lower, upper, slope } = Clips::of(parameters);
            let above = l.with_number(BinaryAlg::Sub, x, lower)?;
            let bent = l.one(EltwiseAlg::Relu, [slope as f32, 0.0], &above)?;
            let (lower, ceiling) = (l.number(lower)?, if upper >= f64::from(f32::MAX) { f32::INFINITY } else { upper as f32 });
            l.chained(BinaryAlg::Add, &bent, &lower, &[Then::One(EltwiseAlg::ClipV2, [f32::NEG_INFINITY, ceiling])])
        }
        CUDNN_POINTWISE_FLOOR => l.floor(x),
        CUDNN_POINTWISE_CEIL => {
            let negative = l.one(EltwiseAlg::Linear, [-1.0, 0.0], x)?;
            let floor = l.floor(&negative)?;
            l.one(EltwiseAlg::Linear, [-1.0, 0.0], &floor)
        }
        CUDNN_POINTWISE_SIN => Ok(l.circle(x)?.0),
        CUDNN_POINTWISE_COS => Ok(l.circle(x)?.1),
        CUDNN_POINTWISE_TAN => {
            let (sin, cos) = l.circle(x)?;
            l.div(&sin, &cos)
        }
        CUDNN_POINTWISE_ERF => l.erf(x),
        CUDNN_POINTWISE_LOGICAL_NOT => l.with_number(BinaryAlg::Eq, x, 0.0),
        CUDNN_POINTWISE_GEN_INDEX => {
            let axis = parameters.int(CUDNN_ATTR_POINTWISE_AXIS).and_then(|a| usize::try_from(a).ok());
            let axis = axis.filter(|&a| a < x.rank());
            let axis = axis.ok_or_else(|| Failure::invalid("POINTWISE_AXIS", "no dimension", format_args!("0 to {}", x.rank() - 1)))?;
            l.ramp(x.rank(), axis, x.dims()[axis])?.spread(x.dims())
        }
        other => Err(unsupported(format_args!("the mode {other}"))),
    }
}

fn two(l: &mut Lowering<'_>, mode: i32, x: &Val, b: &Val) -> Result<Val, Failure> {
    if let Some(alg) = binary(mode) {
        return l.two(alg, x, b);
    }
    match mode {
        CUDNN_POINTWISE_ADD_SQUARE => {
            let square = l.mul(b, b)?;
            l.add(x, &square)
        }
        CUDNN_POINTWISE_LOGICAL_AND | CUDNN_POINTWISE_LOGICAL_OR => {
            let (x, b) = (l.with_number(BinaryAlg::Ne, x, 0.0)?, l.with_number(BinaryAlg::Ne, b, 0.0)?);
            l.two(if mode == CUDNN_POINTWISE_LOGICAL_AND { BinaryAlg::Mul } else { BinaryAlg::Max }, &x, &b)
        }
        CUDNN_POINTWISE_MOD => l.remainder(x, b, false),
        CUDNN_POINTWISE_FLOOR_MOD => l.remainder(x, b, true),
        CUDNN_POINTWISE_POW => l.power_of(x, b),
        CUDNN_POINTWISE_ATAN2 => l.arc_tangent(x, b),
        other => Err(unsupported(format_args!("the mode {other}"))),
    }
}

/// `dy` times the derivative of the activation at `x`.
fn gradient(l: &mut Lowering<'_>, parameters: &Frozen, mode: i32, [x, dy]: [&Val; 2]) -> Result<Val, Failure> {
    if mode == CUDNN_POINTWISE_RELU_BWD && propagates(parameters) {
        let (dx, carrier) = (slope_times(l, parameters, mode, [x, dy])?, l.carrier(x)?);
        return l.add(&dx, &carrier);
    }
    slope_times(l, parameters, mode, [x, dy])
}

/// The same, except for NaN.
fn slope_times(l: &mut Lowering<'_>, parameters: &Frozen, mode: i32, [x, dy]: [&Val; 2]) -> Result<Val, Failure> {
    let (x, dy) = (l.real(x)?, l.real(dy)?);
    if let Some((alg, numbers)) = function(parameters, mode - 100) {
        // Where ReLU blocks the gradient it is 0, even if dy is NaN; multiplying by a slope of 0 would keep NaN.
        let stops = alg == EltwiseAlg::Relu && numbers[0] == 0.0 && !propagates(parameters);
        let (alg, numbers) = if stops { (EltwiseAlg::Clip, [0.0, f32::INFINITY]) } else { (alg, numbers) };
        let diff = oxidnn_spec::op::Diff { src: l.room(*x.dims())?.tensor, dst: dy.spread(x.dims())?.tensor };
        let dy = dy.spread(x.dims())?;
        let dx = l.temp(diff.src.clone());
        let problem: Eltwise = Eltwise::backward(alg, numbers, x.tensor.clone(), diff);
        debug_assert!(problem.prop == Prop::BackwardData);
        l.step(problem, &[(Arg::SRC, &x), (Arg::DIFF_DST, &dy), (Arg::DIFF_SRC, &dx)])?;
        return Ok(dx);
    }
    if mode != CUDNN_POINTWISE_RELU_BWD {
        return Err(unsupported(format_args!("the mode {mode}")));
    }
    let Clips { lower, upper, slope } = Clips::of(parameters);
    let (above, below) = (l.with_number(BinaryAlg::Gt, &x, lower)?, l.with_number(BinaryAlg::Lt, &x, upper)?);
    let bent = l.scaled(&dy, slope)?;
    let straight = l.mul(&dy, &below)?;
    l.select(&above, &straight, &bent)
}
