//! From an operation with known tensors to a program: which problems, over which views of the operands.

mod conv;
mod elementwise;
mod matmul;
mod movement;
mod norm;
mod pool;
mod softmax;

use crate::infer::Slide;
use crate::program::{Binding, Place, Program, Step};
use crate::{AttrId, Error, LogicalTensor, Op, OpKind, Property};
use oxidnn_runtime::{Engine, Memory, PrimitiveDesc};
use oxidnn_spec::op::{Reorder, Window};
use oxidnn_spec::{Arg, Attr, DataType, Dims, FpMath, Layout, Problem, ScratchpadMode, Tensor, Use};

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
        Quantize | Dequantize => movement::quantize,
        DynamicQuantize | DynamicDequantize => movement::dynamic_quantize,
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

/// Lowers an operation whose tensors are all known.
///
/// # Errors
/// What the primitives refuse, sizes that do not fit.
pub(crate) fn lower(op: &Op, engine: &Engine, fpmath: FpMath) -> Result<Program, Error> {
    let lowering = rule(op.kind).ok_or_else(|| Error::Unimplemented(format!("{} computes nothing", op.kind.name())))?;
    let mut state =
        Lowering { op, engine, attr: Attr { fpmath, scratchpad: ScratchpadMode::User, ..Attr::default() }, program: Program::default() };
    let empty = |lt: &LogicalTensor| lt.known_dims().is_some_and(|d| d.contains(&0));
    if !op.outputs.iter().all(empty) {
        lowering(&mut state)?;
    }
    Ok(state.program)
}

/// A tensor at a place.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    place: Place,
    tensor: Tensor,
    /// It is the same in every execution.
    constant: bool,
}

impl Value {
    fn dims(&self) -> &Dims {
        self.tensor.dims()
    }

    fn dtype(&self) -> DataType {
        self.tensor.dtype
    }

    /// Sizes behind batch and channels.
    fn spatial(&self) -> Result<&[i64], Error> {
        let dims = self.tensor.dims();
        dims.get(2..).filter(|s| !s.is_empty()).ok_or_else(|| Error::shape("data", dims, "batch, channels and spatial sizes"))
    }

    /// Size of a dimension.
    fn size(&self, d: usize) -> Result<i64, Error> {
        let dims = self.dims();
        dims.get(d).copied().ok_or_else(|| Error::shape("sizes", dims, format_args!("at least {} of them", d + 1)))
    }

    /// The same elements with another layout.
    fn with(&self, layout: Layout) -> Value {
        Value { tensor: Tensor { dtype: self.dtype(), layout }, ..self.clone() }
    }

    /// The same bytes as another type of the same width.
    fn typed(&self, dtype: DataType) -> Value {
        Value { tensor: Tensor { dtype, layout: self.tensor.layout.clone() }, ..self.clone() }
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    fn permuted(&self, order: &[usize]) -> Result<Value, Error> {
        let mut to = vec![0; order.len()];
        for (i, &from) in order.iter().enumerate() {
            *to.get_mut(from).ok_or_else(|| Error::shape("order", format_args!("{order:?}"), self.dims()))? = i;
        }
        Ok(self.with(self.tensor.layout.permute(&to)?))
    }

    /// Ones before the first dimension, up to `rank` dimensions.
    fn at_rank(&self, rank: usize) -> Result<Value, Error> {
        let missing = rank.saturating_sub(self.dims().len());
        let dims: Vec<i64> = std::iter::repeat_n(1, missing).chain(self.dims().iter().copied()).collect();
        Ok(self.with(self.tensor.layout.reshape(&dims)?))
    }

    /// The elements repeated along dimensions of size 1, up to `dims`: strides of 0.
    fn spread(&self, dims: &Dims) -> Result<Value, Error> {
        let value = self.at_rank(dims.len())?;
        let from = *value.dims();
        let mut layout = value.tensor.layout.clone();
        let Some(b) = layout.blocking_mut() else { return Ok(value) };
        for d in 0..dims.len() {
            if from[d] != dims[d] {
                b.strides[d] = 0;
            }
        }
        b.padded_dims = *dims;
        layout.dims = *dims;
        Ok(value.with(layout))
    }
}

/// The window that slides over `wide` and gives `narrow`: the padding after follows from these sizes.
fn window(slides: &[Slide], wide: &[i64], narrow: &[i64]) -> Result<Window, Error> {
    if wide.len() != slides.len() || narrow.len() != slides.len() {
        return Err(Error::shape("spatial sizes", format_args!("{wide:?} and {narrow:?}"), format_args!("{} of each", slides.len())));
    }
    let after = |i: usize| {
        let s = &slides[i];
        let begin = (narrow[i] - 1).checked_mul(s.stride)?;
        begin.checked_add(s.span)?.checked_sub(wide[i])?.checked_sub(s.before)
    };
    let padding = (0..slides.len()).map(after).collect::<Option<Vec<i64>>>();
    let padding = padding.ok_or_else(|| Error::shape("window", format_args!("{slides:?}"), "sizes that 64 bits hold"))?;
    let list = |f: &dyn Fn(usize) -> i64| Dims::from_fn(slides.len(), f);
    Ok(Window {
        strides: list(&|i| slides[i].stride),
        dilations: list(&|i| slides[i].dilation - 1),
        padding_l: list(&|i| slides[i].before),
        padding_r: list(&|i| padding[i]),
    })
}

/// A program in the making.
pub(crate) struct Lowering<'a> {
    op: &'a Op,
    engine: &'a Engine,
    /// The attributes that every problem begins with.
    attr: Attr,
    program: Program,
}

/// The next multiple of what memory is aligned to.
fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(oxidnn_runtime::ALIGNMENT)
}

impl Lowering<'_> {
    /// Input `i` of the operation.
    fn input(&self, i: usize) -> Result<Value, Error> {
        let lt = self.op.inputs.get(i).ok_or_else(|| Error::InvalidOp(format!("{} has no input {i}", self.op.kind.name())))?;
        let port = self.op.ports().iter().position(|p| p.id == lt.id).unwrap_or(i);
        Ok(Value { place: Place::In(port), tensor: lt.tensor()?, constant: lt.property == Property::Constant })
    }

    /// Input `i`, where the operation has it.
    fn optional(&self, i: usize) -> Result<Option<Value>, Error> {
        if i < self.op.inputs.len() { self.input(i).map(Some) } else { Ok(None) }
    }

    /// Output `i` of the operation.
    fn output(&self, i: usize) -> Result<Value, Error> {
        let lt = self.op.outputs.get(i).ok_or_else(|| Error::InvalidOp(format!("{} has no output {i}", self.op.kind.name())))?;
        Ok(Value { place: Place::Out(i), tensor: lt.tensor()?, constant: false })
    }

    /// Room for an intermediate result; one that only depends on constant inputs is kept.
    fn temporary(&mut self, tensor: Tensor, constant: bool) -> Value {
        let sizes = &mut self.program.sizes;
        let area = if constant { &mut sizes.kept } else { &mut sizes.scratch };
        let at = *area;
        *area += aligned(tensor.bytes());
        Value { place: if constant { Place::Kept(at) } else { Place::Scratch(at) }, tensor, constant }
    }

    /// Numbers of the program's own, row-major.
    fn constant(&mut self, tensor: Tensor, value: impl FnMut(usize) -> f64) -> Result<Value, Error> {
        let memory = Memory::new(self.engine, tensor.clone())?;
        memory.write_with(value)?;
        self.program.constants.push(memory);
        Ok(Value { place: Place::Constant(self.program.constants.len() - 1), tensor, constant: true })
    }

    /// Appends a problem with the attributes that every problem has.
    fn step(&mut self, op: impl Into<oxidnn_spec::Op>, args: &[(Arg, &Value)]) -> Result<(), Error> {
        let attr = self.attr.clone();
        self.step_with(op, attr, args)
    }

    /// Appends a problem. An argument whose layout the problem leaves open is brought into the layout that is chosen, and back.
    fn step_with(&mut self, op: impl Into<oxidnn_spec::Op>, attr: Attr, args: &[(Arg, &Value)]) -> Result<(), Error> {
        let desc = PrimitiveDesc::new(self.engine, Problem::new(op, attr)?)?;
        let mut bindings = Vec::with_capacity(args.len() + 1);
        let mut after = Vec::new();
        let mut lasting = true;
        for &(arg, value) in args {
            let operand = desc.operands().iter().find(|o| o.arg == arg);
            let operand = operand.ok_or_else(|| Error::argument(arg, "a tensor", "an argument that the primitive has"))?;
            let mut value = value.clone();
            if value.tensor != operand.tensor && value.dims() == operand.tensor.dims() && value.dtype() == operand.tensor.dtype {
                let other = self.temporary(operand.tensor.clone(), value.constant && operand.usage == Use::In);
                match operand.usage {
                    Use::In => self.reorder(&value, &other)?,
                    Use::Out => after.push((other.clone(), value)),
                }
                value = other;
            }
            lasting &= if operand.usage == Use::In { value.constant } else { matches!(value.place, Place::Kept(_)) };
            bindings.push(Binding { arg, place: value.place, tensor: value.tensor });
        }
        if let Some(scratchpad) = desc.scratchpad().filter(|t| !t.is_empty()) {
            let sizes = &mut self.program.sizes;
            sizes.step = sizes.step.max(aligned(scratchpad.bytes()));
            bindings.push(Binding { arg: Arg::SCRATCHPAD, place: Place::Step, tensor: scratchpad.clone() });
        }
        let steps = if lasting { &mut self.program.prepare } else { &mut self.program.steps };
        steps.push(Step { primitive: desc.create()?, bindings });
        after.iter().try_for_each(|(from, to)| self.reorder(from, to))
    }

    /// Appends a copy, which may change type and layout.
    fn reorder(&mut self, from: &Value, to: &Value) -> Result<(), Error> {
        let problem = Reorder { src: from.tensor.clone(), dst: to.tensor.clone() };
        self.step(problem, &[(Arg::SRC, from), (Arg::DST, to)])
    }

    /// The value in another type: itself, or a dense copy.
    fn cast(&mut self, value: &Value, dtype: DataType) -> Result<Value, Error> {
        if value.dtype() == dtype {
            return Ok(value.clone());
        }
        let layout = value.tensor.layout.resized(*value.dims());
        let copy = self.temporary(Tensor { dtype, layout }, value.constant);
        self.reorder(value, &copy)?;
        Ok(copy)
    }

    /// The value with other dimensions: a view where the elements lie so, else a row-major copy.
    fn reshaped(&mut self, value: &Value, dims: &[i64]) -> Result<Value, Error> {
        if let Ok(layout) = value.tensor.layout.reshape(dims) {
            return Ok(value.with(layout));
        }
        let copy = self.temporary(Tensor::plain(*value.dims(), value.dtype())?, value.constant);
        self.reorder(value, &copy)?;
        Ok(copy.with(copy.tensor.layout.reshape(dims)?))
    }

    /// A place for an output that a primitive sees with other dimensions and another type: the output itself where it can be seen so,
    /// else a temporary that [`Lowering::deliver`] copies.
    fn receiving(&mut self, output: &Value, dims: &[i64], dtype: DataType) -> Result<Value, Error> {
        match output.tensor.layout.reshape(dims) {
            Ok(layout) if output.dtype() == dtype => Ok(output.with(layout)),
            _ => Ok(self.temporary(Tensor::plain(Dims::new(dims).unwrap_or_default(), dtype)?, false)),
        }
    }

    /// Copies to the output what [`Lowering::receiving`] made a temporary for.
    fn deliver(&mut self, received: &Value, output: &Value) -> Result<(), Error> {
        if received.place == output.place {
            return Ok(());
        }
        let layout = received.tensor.layout.reshape(output.dims())?;
        self.reorder(&received.with(layout), output)
    }

    /// Data in the operation's format as batch, channels, spatial dimensions.
    fn channels_first(&self, value: &Value) -> Result<Value, Error> {
        let n = value.dims().len();
        let c = crate::infer::channel(self.op, n);
        let order: Vec<usize> = [0, c].into_iter().filter(|&d| d < n).chain((1..n).filter(|&d| d != c)).collect();
        if n < 2 { Ok(value.clone()) } else { value.permuted(&order) }
    }
}
