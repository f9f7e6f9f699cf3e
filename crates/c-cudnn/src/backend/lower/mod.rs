//! Lowering of a graph to a program: each operation becomes one or a few primitives over views of its tensors. No operation is refused because of its neighbours;
//! an engine that fuses first lowers several operations to one primitive.

mod attention;
mod blocks;
mod calc;
mod conv;
mod experts;
mod fuse;
mod matmul;
mod movement;
mod norm;
mod norm_primitive;
mod place;
pub(super) mod pointwise;
mod ragged;
mod random;
mod reduce;
mod resample;
mod rope;
pub(super) mod shapes;
mod special;
mod statistics;
mod value;

use super::graph::{Graph, Node};
use super::object::Frozen;
use super::program::{Program, Ragged};
use super::schema::kind;
use super::tensor::TensorDesc;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_runtime::{Engine, Memory, Primitive, PrimitiveDesc};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, DataType, Op, Problem, ScratchpadMode, Tensor, Use};
use std::collections::HashMap;
use value::{Spot, Val};

/// How an engine lowers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Operations that follow a product become part of its primitive.
    pub(crate) fuse: bool,
    /// Weights may be packed into the layout that the primitive prefers.
    pub(crate) pack: bool,
    /// Which of the implementations that support a problem is used, best first; the last one, if there are fewer.
    pub(crate) row: usize,
}

type Rule = fn(&mut Lowering<'_>, &Frozen) -> Result<(), Failure>;

/// The function that lowers operations of a type.
fn rule(id: i32) -> Option<Rule> {
    Some(match id {
        kind::CONVOLUTION_FORWARD => conv::forward,
        kind::CONVOLUTION_BACKWARD_DATA => conv::backward_data,
        kind::CONVOLUTION_BACKWARD_FILTER => conv::backward_filter,
        kind::OPERATION_POINTWISE => pointwise::lower,
        kind::GEN_STATS => statistics::generate,
        kind::OPERATION_MATMUL => matmul::lower,
        kind::BN_FINALIZE => statistics::finalize,
        kind::OPERATION_REDUCTION => reduce::lower,
        kind::BN_BWD_WEIGHTS => statistics::backward_weights,
        kind::RESAMPLE_FWD => resample::forward,
        kind::RESAMPLE_BWD => resample::backward,
        kind::CONCAT => movement::concat,
        kind::NORM_FORWARD => norm::forward,
        kind::NORM_BACKWARD => norm::backward,
        kind::RESHAPE => movement::reshape,
        kind::TRANSPOSE => movement::transpose,
        kind::SLICE => movement::slice,
        kind::OPERATION_RNG => random::lower,
        kind::PAGED_CACHE_LOAD => attention::paged_load,
        kind::BLOCK_SCALE_QUANTIZE => blocks::quantize,
        kind::BLOCK_SCALE_DEQUANTIZE => blocks::dequantize,
        kind::SDPA_FWD => attention::forward,
        kind::SDPA_BWD => attention::backward,
        kind::SOFTMAX => attention::softmax,
        kind::BAND_MASK => attention::band_mask,
        kind::MOE_GROUPED_MATMUL => experts::forward,
        kind::MOE_GROUPED_MATMUL_BWD => experts::backward,
        kind::ROPE_FWD => rope::forward,
        kind::ROPE_BWD => rope::backward,
        _ => return None,
    })
}

/// Whether an implementation is the reference, which supports everything and is slow.
pub(crate) fn is_reference(name: &str) -> bool {
    name.starts_with("ref")
}

/// The program of a graph.
///
/// # Errors
/// `NOT_SUPPORTED` with the reason for operations that oxidnn has no primitives for, `BAD_PARAM` for sizes that do not fit each other.
pub(crate) fn lower(graph: &Graph, engine: &Engine, style: Style) -> Result<Program, Failure> {
    graph.check_sources()?;
    let uids = graph.uids();
    let mut l = Lowering {
        graph,
        engine,
        style,
        steps: Vec::new(),
        temps: Vec::new(),
        constants: Vec::new(),
        uids,
        values: HashMap::new(),
        scalars: HashMap::new(),
        bits: Vec::new(),
        ragged: Vec::new(),
        fused: 0,
        real: DataType::F32,
    };
    let mut next = 0;
    while let Some(node) = graph.nodes.get(next) {
        let taken = if style.fuse { fuse::chain(&mut l, next)? } else { 0 };
        if taken > 1 {
            l.fused += taken;
            next += taken;
            continue;
        }
        l.operation(node)?;
        next += 1;
    }
    place::program(l)
}

/// One step under construction.
#[derive(Debug)]
struct Draft {
    primitive: Primitive,
    bindings: Vec<(Arg, Use, Val)>,
    /// The scalar from which an execution takes the primitive's epsilon.
    epsilon: Option<Val>,
}

/// A program under construction.
struct Lowering<'a> {
    graph: &'a Graph,
    engine: &'a Engine,
    style: Style,
    steps: Vec<Draft>,
    /// Bytes of the intermediate results.
    temps: Vec<usize>,
    constants: Vec<Memory<'static>>,
    uids: Vec<i64>,
    values: HashMap<i64, Val>,
    /// Constants of the program, by bits and type.
    scalars: HashMap<(u64, DataType), Val>,
    /// Booleans to pack into bits after the operation: bytes, and the destination.
    bits: Vec<(Val, Val)>,
    /// Padded copies of ragged tensors: their intermediate result.
    ragged: Vec<(usize, Ragged)>,
    /// Operations that became one primitive with others.
    fused: usize,
    /// The compute type of the operation, f32 or f64.
    real: DataType,
}

/// A reason that an operation is not computed.
fn unsupported(what: impl std::fmt::Display) -> Failure {
    Failure::unsupported(what)
}

/// Sizes that do not fit.
fn misfit(what: impl std::fmt::Display, got: impl std::fmt::Display, expected: impl std::fmt::Display) -> Failure {
    Failure::shape(what, got, expected)
}

impl Lowering<'_> {
    /// Appends the steps of one operation.
    fn operation(&mut self, node: &Node) -> Result<(), Failure> {
        let name = node.op.descriptor.name;
        let rule = rule(node.op.descriptor.id).ok_or_else(|| unsupported(format_args!("{name}: oxidnn has no primitives for it")))?;
        self.real = DataType::F32;
        rule(self, &node.op).map_err(|e| e.within(name))?;
        for (bytes, bits) in std::mem::take(&mut self.bits) {
            self.pack_bits(&bytes, &bits)?;
        }
        Ok(())
    }

    /// Computes later steps in the type that `id` implies: doubles and integers in f64, all else in f32.
    fn precision(&mut self, op: &Frozen, id: i32) {
        let asked = op.int(id).and_then(|v| i32::try_from(v).ok()).unwrap_or(CUDNN_DATA_FLOAT);
        let wide = matches!(asked, CUDNN_DATA_DOUBLE | CUDNN_DATA_INT32 | CUDNN_DATA_INT64);
        self.real = if wide { DataType::F64 } else { DataType::F32 };
    }

    /// The tensor of an attribute, as this graph has it.
    fn described(&self, op: &Frozen, id: i32) -> Option<std::sync::Arc<TensorDesc>> {
        let uid = op.tensor(id)?.uid;
        self.graph.tensors.get(&uid).cloned()
    }

    /// The tensor that an operation reads.
    fn read(&mut self, op: &Frozen, id: i32) -> Result<Val, Failure> {
        self.maybe(op, id)?.ok_or_else(|| Failure::invalid(format_args!("attribute {id}"), "nothing", "a tensor"))
    }

    /// The tensor that an operation reads, if it has one.
    fn maybe(&mut self, op: &Frozen, id: i32) -> Result<Option<Val>, Failure> {
        let Some(tensor) = self.described(op, id) else { return Ok(None) };
        let value = self.value(&tensor)?;
        if tensor.is_bits() { self.unpack_bits(&value).map(Some) } else { Ok(Some(value)) }
    }

    /// The tensor that an operation writes.
    fn output(&mut self, op: &Frozen, id: i32) -> Result<Val, Failure> {
        self.wanted(op, id)?.ok_or_else(|| Failure::invalid(format_args!("attribute {id}"), "nothing", "a tensor"))
    }

    /// The tensor that an operation writes, if it has one.
    fn wanted(&mut self, op: &Frozen, id: i32) -> Result<Option<Val>, Failure> {
        let Some(tensor) = self.described(op, id) else { return Ok(None) };
        let value = self.value(&tensor)?;
        if !tensor.is_bits() {
            return Ok(Some(value));
        }
        let bytes = self.temp(Tensor::plain(tensor.dims, DataType::U8)?);
        self.bits.push((bytes.clone(), value));
        Ok(Some(bytes))
    }

    /// Where a tensor is.
    fn value(&mut self, tensor: &TensorDesc) -> Result<Val, Failure> {
        if let Some(known) = self.values.get(&tensor.uid) {
            return Ok(known.clone());
        }
        if !matches!(tensor.reordering as i32, CUDNN_TENSOR_REORDERING_NONE | CUDNN_TENSOR_REORDERING_F8_128x4) {
            return Err(unsupported(format_args!("the tensor {} in the order of another engine (REORDERING_MODE)", tensor.uid)));
        }
        let mut described = tensor.tensor()?;
        if described.dtype == DataType::Boolean {
            described.dtype = DataType::U8;
        }
        let value = if tensor.ragged.is_some() {
            self.padded_copy(tensor, described.dtype)?
        } else if let Some(bytes) = &tensor.constant {
            self.constant_bytes(described, bytes)?
        } else if tensor.is_virtual {
            self.temp(described)
        } else {
            let slot = self.uids.binary_search(&tensor.uid).map_err(|_| unsupported("a tensor that the graph does not know"))?;
            Val { spot: Spot::User(slot), tensor: described }
        };
        self.values.insert(tensor.uid, value.clone());
        Ok(value)
    }

    /// Memory for an intermediate result.
    fn temp(&mut self, tensor: Tensor) -> Val {
        self.temps.push(tensor.bytes());
        Val { spot: Spot::Temp(self.temps.len() - 1), tensor }
    }

    /// The attributes that every problem begins with.
    fn attr(&self) -> Attr {
        Attr { scratchpad: ScratchpadMode::User, ..Attr::default() }
    }

    /// Appends a problem. Arguments with layout `any` are reordered to the chosen layout, or back.
    fn step(&mut self, op: impl Into<Op>, args: &[(Arg, &Val)]) -> Result<(), Failure> {
        let attr = self.attr();
        self.step_with(op, attr, args)
    }

    /// As [`Lowering::step`], with attributes.
    fn step_with(&mut self, op: impl Into<Op>, attr: Attr, args: &[(Arg, &Val)]) -> Result<(), Failure> {
        let op = op.into();
        let problem = Problem::new(op.clone(), attr).map_err(|e| Failure::from(e).reproduced(&op))?;
        let desc = self.described_by(problem).map_err(|e| e.reproduced(&op))?;
        self.step_of(desc, args, None)
    }

    /// The implementation that the style asks for.
    fn described_by(&self, problem: Problem) -> Result<PrimitiveDesc, Failure> {
        let copies = matches!(problem.op, Op::Reorder(_));
        let mut desc = PrimitiveDesc::new(self.engine, problem)?;
        for _ in 0..if copies { 0 } else { self.style.row } {
            match desc.next_impl() {
                Ok(next) if !is_reference(next.impl_name()) => desc = next,
                _ => break,
            }
        }
        Ok(desc)
    }

    /// As [`Lowering::step`], with a descriptor, and with an epsilon that is given at execution.
    fn step_of(&mut self, desc: PrimitiveDesc, args: &[(Arg, &Val)], epsilon: Option<Val>) -> Result<(), Failure> {
        let mut bindings = Vec::with_capacity(args.len() + 1);
        let mut after = Vec::new();
        for &(arg, value) in args {
            let operand = desc.operands().iter().find(|o| o.arg == arg);
            let operand = operand.ok_or_else(|| Failure::invalid(arg, "a tensor", "an argument that the primitive has"))?;
            let mut value = value.clone();
            if value.tensor != operand.tensor && value.dims() == operand.tensor.dims() && value.dtype() == operand.tensor.dtype {
                let other = self.temp(operand.tensor.clone());
                match operand.usage {
                    Use::In => self.reorder(&value, &other)?,
                    Use::Out => after.push((other.clone(), value)),
                }
                value = other;
            }
            bindings.push((arg, operand.usage, value));
        }
        if let Some(scratchpad) = desc.scratchpad().filter(|t| !t.is_empty()) {
            let room = self.temp(scratchpad.clone());
            bindings.push((Arg::SCRATCHPAD, Use::Out, room));
        }
        self.steps.push(Draft { primitive: desc.create()?, bindings, epsilon });
        after.iter().try_for_each(|(from, to)| self.reorder(from, to))
    }

    /// Appends a copy, which may change type and layout.
    fn reorder(&mut self, from: &Val, to: &Val) -> Result<(), Failure> {
        let problem = Reorder { src: from.tensor.clone(), dst: to.tensor.clone() };
        self.step(problem, &[(Arg::SRC, from), (Arg::DST, to)])
    }
}
