//! From a list of operations with known tensors to a program: which problems, over which views of the operands.
//!
//! Each kind of operation has one function that lowers it, alone or with the operations folded into it: a [`state::Lowering`] gives it its
//! operands as [`value::Value`]s, and adds to its main problem the post-ops, scales and conversions that [`fold`] found after it.

mod attention;
mod conv;
mod elementwise;
mod fold;
mod matmul;
mod movement;
mod norm;
mod pool;
mod softmax;
mod state;
mod value;

use crate::graph::Numerics;
use crate::infer::WindowDim;
use crate::program::Program;
use crate::{AttrId, Error, LogicalTensor, Op, OpKind, constants};
use oxidnn_runtime::Engine;
use oxidnn_spec::op::Window;
use oxidnn_spec::{DataType, Dims};
use state::{Goal, Lowering};
use value::Value;

type Lower = fn(&mut Lowering<'_>) -> Result<(), Error>;

/// The function that lowers operations of a kind; `None` for those that compute nothing.
fn rule(kind: OpKind) -> Option<Lower> {
    use OpKind::*;
    Some(match kind {
        End | Wildcard => return None,
        Abs | Clamp | Elu | Exp | Gelu | HardSigmoid | HardSwish | LeakyRelu | Log | Mish | Pow | Reciprocal | Relu | Round | Sigmoid
        | SoftPlus | Sqrt | Square | Tanh => elementwise::forward,
        AbsBackward | ClampBackward | EluBackward | GeluBackward | HardSigmoidBackward | HardSwishBackward | MishBackward
        | ReluBackward | SigmoidBackward | SoftPlusBackward | SqrtBackward | TanhBackward => elementwise::backward,
        Add | Divide | Maximum | Minimum | Multiply | Subtract | SquaredDifference | GreaterEqual => elementwise::binary,
        BiasAdd => elementwise::bias_add,
        Select => elementwise::select,
        Prelu => elementwise::prelu,
        PreluBackward => elementwise::prelu_backward,
        Dropout => elementwise::dropout,
        AvgPool | MaxPool => pool::forward,
        AvgPoolBackward => pool::average_backward,
        MaxPoolBackward => pool::max_backward,
        Interpolate => pool::interpolate,
        InterpolateBackward => pool::interpolate_backward,
        BatchNormInference => norm::batch_inference,
        BatchNormForwardTraining => norm::batch_training,
        BatchNormTrainingBackward => norm::batch_backward,
        LayerNorm => norm::layer,
        RmsNorm => norm::rms,
        LayerNormBackward => norm::layer_backward,
        GroupNorm => norm::group,
        Convolution => conv::forward,
        ConvolutionBackwardData => conv::backward_data,
        ConvolutionBackwardWeights => conv::backward_weights,
        ConvTranspose => conv::transposed,
        ConvTransposeBackwardData => conv::transposed_backward_data,
        ConvTransposeBackwardWeights => conv::transposed_backward_weights,
        MatMul => matmul::lower,
        SoftMax | LogSoftmax => softmax::forward,
        SoftMaxBackward | LogSoftmaxBackward => softmax::backward,
        ReduceL1 | ReduceL2 | ReduceMax | ReduceMean | ReduceMin | ReduceProd | ReduceSum => softmax::reduce,
        BiasAddBackward => softmax::bias_gradient,
        Concat => movement::concat,
        Reorder | TypeCast => movement::copy,
        StaticReshape => movement::reshape,
        StaticTranspose => movement::transpose,
        Quantize | Dequantize | DynamicQuantize | DynamicDequantize => movement::quantize,
        GenIndex => movement::index,
    })
}

/// Why the operation cannot be computed, whatever the sizes; `None` where it can.
pub(crate) fn refusal(op: &Op) -> Option<String> {
    let dtype = op.inputs.first().and_then(|lt| lt.dtype);
    let why = match op.kind {
        OpKind::End | OpKind::Wildcard => "the operation computes nothing",
        OpKind::Interpolate | OpKind::InterpolateBackward if op.text(AttrId::CoordinateTransformationMode) != "half_pixel" => {
            "coordinates other than half_pixel"
        }
        OpKind::Interpolate if op.s64s(AttrId::Sizes).is_empty() && op.f32s(AttrId::Scales).is_empty() => "sizes that are an input",
        OpKind::Round if dtype != Some(DataType::F32) => "rounding of other types than f32",
        OpKind::AvgPool if op.text(AttrId::RoundingType) == "ceil" && !op.flag(AttrId::ExcludePad) => {
            "windows beyond the padding (rounding_type ceil) whose mean counts padding"
        }
        _ if op.attrs.contains_key(&AttrId::Axes) && op.s64s(AttrId::Axes).is_empty() => "a reduction over no axes",
        _ if rule(op.kind).is_none() => "the operation has no primitive",
        _ => return None,
    };
    Some(why.to_string())
}

/// The lowered partition, and the operations that each problem computes.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) program: Program,
    /// One line a problem: the operations that it computes, and why others could not be folded into it.
    pub(crate) notes: Vec<String>,
    /// A program that computes the same where this one does not hold, if there are such inputs.
    pub(crate) otherwise: Option<Program>,
    /// A program that computes the same where an input and an output are the same memory, if they may be.
    pub(crate) shared: Option<Program>,
}

/// Lowers operations, in an order to compute them in, whose tensors are all known. `inputs` and `outputs` are the ports, in order.
///
/// # Errors
/// Errors of the primitives: sizes that do not fit.
pub(crate) fn lower(ops: &[Op], ports: [&[LogicalTensor]; 2], engine: &Engine, numerics: Numerics) -> Result<Lowered, Error> {
    let empty = |lt: &LogicalTensor| lt.known_dims().is_some_and(|d| d.contains(&0));
    if ports[1].iter().all(empty) {
        return Ok(Lowered { program: Program::default(), notes: Vec::new(), otherwise: None, shared: None });
    }
    let order = fold::order(ops);
    let keeps = constants::constant_capacity(engine.kind()) > 0;
    let lowered = |assuming: bool, sharing: bool| -> Result<Lowering<'_>, Error> {
        let mut state = Lowering::new(&order, ports, engine, Goal { numerics, assuming, sharing, keeps })?;
        fold::all(&mut state)?;
        Ok(state)
    };
    let placed = |state: Lowering<'_>, finish: fn(&mut Program)| {
        let (mut program, notes) = state.finish();
        finish(&mut program);
        program.sweep();
        program.place();
        (program, notes)
    };
    let first = lowered(true, false)?;
    let sharable = first.sharable;
    let (program, notes) = placed(first, |_| ());
    let otherwise = if program.is_guarded() { Some(placed(lowered(false, false)?, |_| ()).0) } else { None };
    let mut shared = None;
    if otherwise.is_none() && (sharable || program.count() == 1) {
        let other = placed(lowered(false, true)?, Program::drop_copy).0;
        shared = Some(other).filter(|p| p.shared().is_some() && p.count() <= program.count());
    }
    Ok(Lowered { program, notes, otherwise, shared })
}

/// The window that slides over `wide` and gives `narrow`: the padding after follows from these sizes.
fn window(window_dims: &[WindowDim], wide: &[i64], narrow: &[i64]) -> Result<Window, Error> {
    if wide.len() != window_dims.len() || narrow.len() != window_dims.len() {
        return Err(Error::shape("spatial sizes", format_args!("{wide:?} and {narrow:?}"), format_args!("{} of each", window_dims.len())));
    }
    let after = |i: usize| {
        let s = &window_dims[i];
        let begin = (narrow[i] - 1).checked_mul(s.stride)?;
        begin.checked_add(s.span)?.checked_sub(wide[i])?.checked_sub(s.before)
    };
    let padding = (0..window_dims.len()).map(after).collect::<Option<Vec<i64>>>();
    let padding = padding.ok_or_else(|| Error::shape("window", format_args!("{window_dims:?}"), "sizes that 64 bits hold"))?;
    let list = |f: &dyn Fn(usize) -> i64| Dims::from_fn(window_dims.len(), f);
    Ok(Window {
        strides: list(&|i| window_dims[i].stride),
        dilations: list(&|i| window_dims[i].dilation - 1),
        padding_l: list(&|i| window_dims[i].before),
        padding_r: list(&|i| padding[i]),
    })
}
