//! A program in the making: the operation that is being lowered, its operands, and the steps so far.

use super::fold::Folded;
use super::value::{Scaled, Value};
use crate::graph::Numerics;
use crate::program::{Binding, Guard, Place, Program, Step};
use crate::{Error, LogicalTensor, Op, Property};
use oxidnn_runtime::{Engine, Memory, PrimitiveDesc};
use oxidnn_spec::op::{ConvAlg, Reorder};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Problem, Quant, ScratchpadMode, Tensor, Use};
use std::collections::HashMap;

/// A program in the making.
pub(crate) struct Lowering<'a> {
    /// The operation that is being lowered.
    pub(super) op: &'a Op,
    /// All of them.
    pub(super) ops: &'a [Op],
    engine: &'a Engine,
    /// The attributes that every problem begins with.
    pub(super) attr: Attr,
    /// The algorithm of convolutions.
    pub(super) convolution: ConvAlg,
    /// The values of logical tensors, by number.
    pub(super) values: HashMap<usize, Value>,
    /// The numbers of outputs of the partition.
    outputs: HashMap<usize, Value>,
    /// The links of the operation's main problem.
    pub(super) folded: Folded,
    /// Factors of the main problem's constant weights, multiplied in when these are reordered to its layout.
    pub(super) factor: Option<Value>,
    /// Whether quantised operands may be used without dequantising them.
    pub(super) quantised: bool,
    /// Whether a problem that only the reference takes is refused.
    pub(super) fast: bool,
    /// Whether the operation depends on constants only.
    pub(super) constant: bool,
    /// Whether the program may hold for some values of inputs only.
    assuming: bool,
    /// Whether an input that is summed to an output may be taken for the same memory.
    pub(super) sharing: bool,
    /// Whether there is such an input.
    pub(super) sharable: bool,
    /// Whether values that depend only on constant inputs are kept from one execution to the next.
    pub(super) keeps: bool,
    program: Program,
    pub(super) notes: Vec<String>,
}

/// How operations are to be lowered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub(crate) numerics: Numerics,
    /// Whether the program may hold for some values of inputs only.
    pub(crate) assuming: bool,
    /// Whether an input that is summed to an output may be taken for the same memory.
    pub(crate) sharing: bool,
    /// Whether values that depend only on constant inputs are kept from one execution to the next.
    pub(crate) keeps: bool,
}

/// A state to come back to.
pub(super) struct Checkpoint {
    program: crate::program::Checkpoint,
    values: HashMap<usize, Value>,
}

/// The next multiple of the alignment of memory.
fn aligned(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(oxidnn_runtime::ALIGNMENT).unwrap_or(usize::MAX)
}

impl<'a> Lowering<'a> {
    pub(super) fn new(ops: &'a [Op], ports: [&[LogicalTensor]; 2], engine: &'a Engine, goal: Goal) -> Result<Lowering<'a>, Error> {
        let Goal { numerics, assuming, sharing, keeps } = goal;
        let op = ops.first().ok_or_else(|| Error::argument("partition", "no operation", "at least one"))?;
        let [mut values, mut outputs] = [HashMap::new(), HashMap::new()];
        for (i, lt) in ports[0].iter().enumerate() {
            values.insert(lt.id, Value::new(Place::In(i), lt.tensor()?, lt.property == Property::Constant));
        }
        for (i, lt) in ports[1].iter().enumerate() {
            outputs.insert(lt.id, Value::new(Place::Out(i), lt.tensor()?, false));
        }
        let attr = Attr { fpmath: numerics.fpmath, scratchpad: ScratchpadMode::User, ..Attr::default() };
        let (folded, program, notes) = (Folded::default(), Program::default(), Vec::new());
        let [quantised, fast, constant, sharable] = [false; 4];
        let factor = None;
        Ok(Lowering {
            op,
            ops,
            engine,
            attr,
            convolution: numerics.convolution,
            values,
            outputs,
            folded,
            factor,
            quantised,
            fast,
            constant,
            assuming,
            sharing,
            sharable,
            keeps,
            program,
            notes,
        })
    }

    pub(super) fn finish(self) -> (Program, Vec<String>) {
        (self.program, self.notes)
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { program: self.program.checkpoint(), values: self.values.clone() }
    }

    pub(super) fn rollback(&mut self, checkpoint: &Checkpoint) {
        self.program.rollback(checkpoint.program);
        self.values = checkpoint.values.clone();
    }

    /// The program may hold where `guard` does only.
    ///
    /// # Errors
    /// [`Error::Unimplemented`] where it is to hold for all values.
    pub(super) fn assume(&mut self, guard: Guard) -> Result<(), Error> {
        if !self.assuming {
            return Err(Error::Unimplemented("a program that holds for some values only".into()));
        }
        self.program.guard(guard);
        Ok(())
    }

    /// Takes the input that `value` is for the memory that `dst` is: whether that may be, and is asked for.
    pub(super) fn shares(&mut self, value: &Value, dst: &Value) -> bool {
        let bytes = value.dtype().is_x8() && dst.dtype().is_x8();
        let alike = value.tensor.layout == dst.tensor.layout && (value.dtype() == dst.dtype() || bytes);
        let (Place::In(input), Place::Out(output), true) = (value.place, dst.place, alike && !value.constant) else { return false };
        self.sharable = true;
        if self.sharing {
            self.program.guard(Guard::Shared { input, output });
        }
        self.sharing
    }

    /// Whether the tensor leaves the partition.
    pub(super) fn leaves(&self, id: usize) -> bool {
        self.outputs.contains_key(&id)
    }

    /// The input in its memory representation, quantised or not.
    pub(super) fn operand(&self, i: usize) -> Result<Value, Error> {
        let lt = self.op.inputs.get(i).ok_or_else(|| Error::InvalidOp(format!("{} has no input {i}", self.op.kind.name())))?;
        let value = self.values.get(&lt.id);
        value.cloned().ok_or_else(|| Error::argument(format_args!("logical tensor {}", lt.id), "nothing", "one that was computed before"))
    }

    /// Input `i` of the operation as the numbers that it stands for.
    pub(super) fn input(&mut self, i: usize) -> Result<Value, Error> {
        let value = self.operand(i)?;
        let plain = self.plain(value)?;
        self.values.insert(self.op.inputs[i].id, plain.clone());
        Ok(plain)
    }

    /// Input `i`, of a problem that takes scales: in its memory representation, where that is allowed.
    pub(super) fn source(&mut self, i: usize) -> Result<Value, Error> {
        if self.quantised { self.operand(i) } else { self.input(i) }
    }

    /// Input `i`, where the operation has it.
    pub(super) fn optional(&mut self, i: usize) -> Result<Option<Value>, Error> {
        if i < self.op.inputs.len() { self.input(i).map(Some) } else { Ok(None) }
    }

    /// Output `i` of the operation: of the last one that is folded into it, where it is the first.
    pub(super) fn output(&mut self, i: usize) -> Result<Value, Error> {
        if let (0, Some(dst)) = (i, &self.folded.dst) {
            return Ok(dst.clone());
        }
        let lt = *self.op.outputs.get(i).ok_or_else(|| Error::InvalidOp(format!("{} has no output {i}", self.op.kind.name())))?;
        self.buffer(&lt)
    }

    /// Where a logical tensor is computed to.
    pub(super) fn buffer(&mut self, lt: &LogicalTensor) -> Result<Value, Error> {
        let value = match self.outputs.get(&lt.id) {
            Some(out) => out.clone(),
            None => self.temporary(lt.tensor()?, false),
        };
        self.values.insert(lt.id, value.clone());
        Ok(value)
    }

    /// The destination of the main problem: the first output through `view`, which the operands of post-ops are seen through too.
    pub(super) fn destination(&mut self, view: impl Fn(&Op, &Value) -> Result<Value, Error>) -> Result<Value, Error> {
        let dst = self.output(0)?;
        let op = self.op;
        self.folded.view(|v| view(op, v))?;
        view(op, &dst)
    }

    /// Room for an intermediate result; one that only depends on constant inputs is kept.
    pub(super) fn temporary(&mut self, tensor: Tensor, constant: bool) -> Value {
        let constant = constant || self.constant;
        let place = self.program.buffer(aligned(tensor.bytes()), constant);
        Value::new(place, tensor, constant)
    }

    /// Numbers of the program's own, row-major.
    pub(super) fn numbers(&mut self, tensor: Tensor, value: impl FnMut(usize) -> f64) -> Result<Value, Error> {
        let memory = Memory::new(self.engine, tensor.clone())?;
        memory.write_with(value)?;
        Ok(Value::new(self.program.constant(memory), tensor, true))
    }

    /// Appends the main problem of the operation, with all that is folded into it.
    pub(super) fn main(&mut self, op: impl Into<oxidnn_spec::Op>, args: &[(Arg, &Value)]) -> Result<(), Error> {
        let attr = self.attr.clone();
        self.main_with(op, attr, args)
    }

    /// [`Lowering::main`] with attributes of the operation's own.
    pub(super) fn main_with(&mut self, op: impl Into<oxidnn_spec::Op>, attr: Attr, args: &[(Arg, &Value)]) -> Result<(), Error> {
        let (attr, all) = self.attributes(attr, args)?;
        let fast = std::mem::take(&mut self.fast);
        let args: Vec<(Arg, &Value)> = all.iter().map(|(arg, value)| (*arg, value)).collect();
        self.append(op.into(), attr, &args, fast)
    }

    /// The index of the row that would take the main problem, among the rows of its operation; lower is better. Nothing is appended.
    pub(super) fn row(&mut self, op: impl Into<oxidnn_spec::Op>, args: &[(Arg, &Value)]) -> Result<usize, Error> {
        let (checkpoint, folded) = (self.checkpoint(), self.folded.clone());
        let asked = self.attributes(self.attr.clone(), args);
        self.rollback(&checkpoint);
        self.folded = folded;
        Ok(PrimitiveDesc::new(self.engine, Problem::new(op.into(), asked?.0)?)?.row())
    }

    /// Attributes and arguments of the main problem with all that is folded into it.
    fn attributes(&mut self, mut attr: Attr, args: &[(Arg, &Value)]) -> Result<(Attr, Vec<(Arg, Value)>), Error> {
        let folded = std::mem::take(&mut self.folded);
        let mut all: Vec<(Arg, Value)> = args.iter().map(|&(arg, value)| (arg, value.clone())).collect();
        for (arg, value) in args {
            if let Some(scaled) = &value.scaled {
                self.scales(*arg, value.dims(), scaled, &mut attr, &mut all)?;
            }
        }
        let dst = args.iter().find(|a| a.0 == Arg::DST).map(|a| a.1);
        folded.attributes(self, dst, &mut attr, &mut all)?;
        Ok((attr, all))
    }

    /// Adds to the attributes that argument `arg`, of sizes `dims`, stands for other numbers.
    pub(super) fn scales(
        &mut self,
        arg: Arg,
        dims: &Dims,
        scaled: &Scaled,
        attr: &mut Attr,
        args: &mut Vec<(Arg, Value)>,
    ) -> Result<(), Error> {
        let (quant, scale) = self.quant(dims, &scaled.scale)?;
        attr.scales.insert(arg, quant);
        args.push((Arg::scale(arg), scale));
        if let Some(zero) = &scaled.zero {
            let (quant, zero) = self.quant(dims, zero)?;
            attr.zero_points.insert(arg, quant);
            args.push((Arg::zero_point(arg), zero));
        }
        Ok(())
    }

    /// Which elements of a tensor of `dims` share a number of `numbers`, and these in a row-major array.
    fn quant(&mut self, dims: &Dims, numbers: &Value) -> Result<(Quant, Value), Error> {
        let (own, n) = (*numbers.dims(), dims.len());
        let masked = |d: usize| own[d] != 1;
        let mask = (0..n).filter(|&d| masked(d)).fold(0, |m, d| m | 1u32 << d);
        let group = |d: usize| if masked(d) { dims[d] / own[d] } else { 1 };
        let grouped = (0..n).any(|d| group(d) != 1);
        let groups = if grouped { Dims::from([group(n - 2), group(n - 1)]) } else { Dims::default() };
        // Numbers of groups are counted over all dimensions.
        let mask = if grouped { (0..n).filter(|&d| masked(d) || dims[d] == 1).fold(0, |m, d| m | 1u32 << d) } else { mask };
        let quant = Quant { groups, ..Quant::per(mask, numbers.dtype()) };
        let plain = Tensor::plain(own, numbers.dtype())?;
        Ok((quant, self.copied(numbers, plain)?))
    }

    /// The value in a layout: itself if it has that layout, else a copy.
    pub(super) fn copied(&mut self, value: &Value, tensor: Tensor) -> Result<Value, Error> {
        if value.tensor == tensor {
            return Ok(value.clone());
        }
        let copy = self.temporary(tensor, value.constant);
        self.reorder(value, &copy)?;
        Ok(copy)
    }

    /// The numbers that a value stands for.
    pub(super) fn plain(&mut self, value: Value) -> Result<Value, Error> {
        let Some(scaled) = &value.scaled else { return Ok(value) };
        let layout = value.tensor.layout.resized(*value.dims());
        let to = self.temporary(Tensor { dtype: scaled.dtype, layout }, value.constant && scaled.scale.constant);
        self.requantise(&value, &to)?;
        Ok(to)
    }

    /// Appends a reorder between values, each of which may be quantised.
    pub(super) fn requantise(&mut self, from: &Value, to: &Value) -> Result<(), Error> {
        let mut attr = self.attr.clone();
        let mut args = vec![(Arg::SRC, from.raw()), (Arg::DST, to.raw())];
        for (arg, value) in [(Arg::SRC, from), (Arg::DST, to)] {
            if let Some(scaled) = &value.scaled {
                self.scales(arg, value.dims(), scaled, &mut attr, &mut args)?;
            }
        }
        let args: Vec<(Arg, &Value)> = args.iter().map(|(a, v)| (*a, v)).collect();
        self.append(Reorder { src: from.tensor.clone(), dst: to.tensor.clone() }.into(), attr, &args, false)
    }

    /// Appends a problem with the attributes that every problem has.
    pub(super) fn step(&mut self, op: impl Into<oxidnn_spec::Op>, args: &[(Arg, &Value)]) -> Result<(), Error> {
        let attr = self.attr.clone();
        self.append(op.into(), attr, args, false)
    }

    /// Appends a problem.
    pub(super) fn step_with(&mut self, op: impl Into<oxidnn_spec::Op>, attr: Attr, args: &[(Arg, &Value)]) -> Result<(), Error> {
        self.append(op.into(), attr, args, false)
    }

    /// Appends a problem, which is refused where it should be `fast` and only the reference takes it. An argument whose layout the problem leaves
    /// open is brought into the layout that is chosen, and back.
    fn append(&mut self, op: oxidnn_spec::Op, attr: Attr, args: &[(Arg, &Value)], fast: bool) -> Result<(), Error> {
        let mut factor = self.factor.take_if(|_| args.iter().any(|a| a.0 == Arg::WEIGHTS));
        let desc = PrimitiveDesc::new(self.engine, Problem::new(op, attr)?)?;
        if fast && desc.impl_name().starts_with("ref") {
            return Err(Error::Unimplemented(format!("only the reference takes {}", desc.problem())));
        }
        let mut bindings = Vec::with_capacity(args.len() + 1);
        let mut after = Vec::new();
        let mut lasting = true;
        for &(arg, value) in args {
            let operand = desc.operands().iter().find(|o| o.arg == arg);
            let operand = operand.ok_or_else(|| Error::argument(arg, "a tensor", "an argument that the primitive has"))?;
            let mut value = value.raw();
            if let Some(scale) = factor.take_if(|_| arg == Arg::WEIGHTS) {
                let other = self.temporary(operand.tensor.clone(), true);
                let scaled = Scaled { scale, zero: None, common: None, dtype: value.dtype() };
                self.requantise(&Value { scaled: Some(Box::new(scaled)), ..value }, &other)?;
                value = other;
            } else if value.tensor != operand.tensor && value.dims() == operand.tensor.dims() && value.dtype() == operand.tensor.dtype {
                let other = self.temporary(operand.tensor.clone(), value.constant && operand.usage == Use::In);
                match operand.usage {
                    Use::In => self.reorder(&value, &other)?,
                    Use::Out => after.push((other.clone(), value)),
                }
                value = other;
            }
            lasting &= if operand.usage == Use::In { value.constant } else { matches!(value.place, Place::Cached(_)) };
            bindings.push(Binding { arg, place: value.place, tensor: value.tensor });
        }
        if let Some(scratchpad) = desc.scratchpad().filter(|t| !t.is_empty()) {
            self.program.reserve_scratchpad(aligned(scratchpad.bytes()));
            bindings.push(Binding { arg: Arg::SCRATCHPAD, place: Place::Step, tensor: scratchpad.clone() });
        }
        self.program.push(Step { primitive: desc.create()?, bindings }, lasting);
        after.iter().try_for_each(|(from, to)| self.reorder(from, to))
    }

    /// Appends a copy of elements, which may change type and layout.
    pub(super) fn reorder(&mut self, from: &Value, to: &Value) -> Result<(), Error> {
        let problem = Reorder { src: from.tensor.clone(), dst: to.tensor.clone() };
        self.step(problem, &[(Arg::SRC, from), (Arg::DST, to)])
    }

    /// The value in another type: itself, or a dense copy.
    pub(super) fn cast(&mut self, value: &Value, dtype: DataType) -> Result<Value, Error> {
        let layout = value.tensor.layout.resized(*value.dims());
        if value.dtype() == dtype { Ok(value.clone()) } else { self.copied(value, Tensor { dtype, layout }) }
    }

    /// The value with other dimensions: a view if the layout allows it, else a row-major copy.
    pub(super) fn reshaped(&mut self, value: &Value, dims: &[i64]) -> Result<Value, Error> {
        if let Ok(view) = value.reshaped(dims) {
            return Ok(view);
        }
        let value = self.plain(value.clone())?;
        let plain = Tensor::plain(*value.dims(), value.dtype())?;
        self.copied(&value, plain)?.reshaped(dims)
    }

    /// A place for an output that a primitive sees with other dimensions and another type: the output itself where it can be seen so,
    /// else a temporary that [`Lowering::copy_out`] copies.
    pub(super) fn output_or_temporary(&mut self, output: &Value, dims: &[i64], dtype: DataType) -> Result<Value, Error> {
        match output.reshaped(dims) {
            Ok(view) if output.dtype() == dtype => Ok(view),
            _ => Ok(self.temporary(Tensor::plain(Dims::new(dims).unwrap_or_default(), dtype)?, false)),
        }
    }

    /// Copies the temporary of [`Lowering::output_or_temporary`], if there is one, to the output.
    pub(super) fn copy_out(&mut self, temporary: &Value, output: &Value) -> Result<(), Error> {
        if temporary.place == output.place {
            return Ok(());
        }
        let temporary = temporary.reshaped(output.dims())?;
        self.reorder(&temporary, output)
    }
}

/// Data in the operation's format as batch, channels, spatial dimensions.
pub(super) fn channels_first(op: &Op, value: &Value) -> Result<Value, Error> {
    let n = value.dims().len();
    let c = crate::infer::channel(op, n);
    let order: Vec<usize> = [0, c].into_iter().filter(|&d| d < n).chain((1..n).filter(|&d| d != c)).collect();
    if n < 2 { Ok(value.clone()) } else { value.permuted(&order) }
}
