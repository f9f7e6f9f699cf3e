//! Graphs of operations: written as expressions, computed in as few primitives as the operations fuse to.
//!
//! ```
//! use oxidnn::graph::Graph;
//! use oxidnn::prelude::*;
//!
//! # fn main() -> Result<(), oxidnn::graph::Error> {
//! let engine = Engine::cpu();
//! let g = Graph::new();
//! let x = g.input([8, 64], F32);
//! let w = g.constant([64, 32], F32);
//! let b = g.constant([32], F32);
//! let residual = g.input([8, 32], F32);
//! let y = x.matmul(&w).bias(&b).gelu().add(&residual);
//!
//! let model = g.compile(&engine, &[&y])?;
//! assert_eq!(model.partitions().len(), 1); // product, bias, GELU and sum are one primitive
//!
//! let stream = Stream::new(&engine)?;
//! let filled = |n: &oxidnn::graph::Node, v: f32| -> Result<Memory<'static>, oxidnn::graph::Error> {
//!     let memory = Memory::new(&engine, n.tensor()?)?;
//!     memory.write_with(|_| f64::from(v))?;
//!     Ok(memory)
//! };
//! let (xs, ws, bs, rs) = (filled(&x, 1.0)?, filled(&w, 0.5)?, filled(&b, 1.0)?, filled(&residual, 2.0)?);
//! let results = model.run(&stream, &[(&x, &xs), (&w, &ws), (&b, &bs), (&residual, &rs)])?;
//! assert_eq!(results[0].read_f32()?[0], 35.0); // 64 * 0.5 + 1, which GELU leaves as it is, + 2
//! # Ok(())
//! # }
//! ```
//!
//! Sizes of inputs may be left [`OPEN`]: they come with the memory of each run, and the model computes for all of them.
//!
//! ```
//! use oxidnn::graph::{Graph, OPEN};
//! use oxidnn::prelude::*;
//!
//! # fn main() -> Result<(), oxidnn::graph::Error> {
//! let engine = Engine::cpu();
//! let g = Graph::new();
//! let x = g.input([OPEN, 3], F32);
//! let (w, v) = (g.constant([3, 2], F32), g.constant([2, 1], F32));
//! let y = x.matmul(&w).softmax(-1).matmul(&v);
//! let model = g.compile(&engine, &[&y])?;
//!
//! let stream = Stream::new(&engine)?;
//! let ws = Memory::from_vec(&engine, [3, 2], vec![0.0f32; 6])?; // both columns alike
//! let vs = Memory::from_vec(&engine, [2, 1], vec![2.0f32, 4.0])?;
//! for rows in [1usize, 5, 2] {
//!     let xs = Memory::from_vec(&engine, [rows as i64, 3], vec![1.0f32; 3 * rows])?;
//!     let results = model.run(&stream, &[(&x, &xs), (&w, &ws), (&v, &vs)])?;
//!     assert_eq!(results[0].read_f32()?, vec![3.0; rows]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Errors in an expression are reported when the graph is compiled: the operation, what it got and what it needs.

use oxidnn_graph::{AttrId, AttrValue, CompiledPartition, LayoutType, LogicalTensor, Op, Policy, Property};
pub use oxidnn_graph::{Error, OpKind, Partition};
use oxidnn_runtime::fork::{self, Locked};
use oxidnn_runtime::{Engine, Memory, Stream};
use oxidnn_spec::op::ConvAlg;
use oxidnn_spec::{DataType, Dims, FpMath, Real, Tensor};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A size of an input that comes with its memory.
pub const OPEN: i64 = oxidnn_graph::UNKNOWN;

/// A graph of operations on tensors; a cheap handle.
#[derive(Clone, Debug, Default)]
pub struct Graph(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    ops: Vec<Op>,
    tensors: usize,
    /// The algorithm of convolutions, if set.
    convolution: Option<ConvAlg>,
    /// The first error.
    failed: Option<Error>,
}

/// A tensor of a graph: an input, or the result of an operation.
#[derive(Clone, Debug)]
pub struct Node {
    graph: Graph,
    tensor: LogicalTensor,
}

/// The window of a convolution; one value per spatial dimension, or none for the defaults: strides and dilations of 1, no padding.
#[derive(Clone, Debug)]
pub struct Window {
    /// Steps.
    pub strides: Vec<i64>,
    /// Padding before and after each dimension.
    pub padding: Vec<i64>,
    /// Distances between kernel elements, 1 for neighbours.
    pub dilations: Vec<i64>,
    /// Groups of channels.
    pub groups: i64,
}

impl Default for Window {
    fn default() -> Window {
        Window { strides: Vec::new(), padding: Vec::new(), dilations: Vec::new(), groups: 1 }
    }
}

/// Attributes of an operation.
type Attrs = Vec<(AttrId, AttrValue)>;

impl Graph {
    /// An empty graph.
    pub fn new() -> Graph {
        Graph::default()
    }

    /// Computes the graph's convolutions by `algorithm`. The default, unless the knob `GRAPH_CONVOLUTION` says otherwise, is
    /// [`ConvAlg::Auto`], which may choose Winograd's algorithm. With [`ConvAlg::Direct`] every result is a sum of products of the pixels
    /// under its window, and of no others.
    pub fn convolution(&self, algorithm: ConvAlg) {
        self.state().convolution = Some(algorithm);
    }

    fn state(&self) -> Locked<'_, State> {
        fork::lock(&self.0)
    }

    fn node(&self, make: impl FnOnce(usize) -> Result<LogicalTensor, Error>) -> Node {
        let mut state = self.state();
        let id = state.tensors;
        state.tensors += 1;
        let tensor = make(id).unwrap_or_else(|e| {
            state.failed.get_or_insert(e);
            LogicalTensor { id, dtype: None, dims: None, strides: Dims::default(), layout: LayoutType::Undef, property: Property::Undef }
        });
        drop(state);
        Node { graph: self.clone(), tensor }
    }

    /// An input, row-major; sizes that are [`OPEN`] come with its memory.
    pub fn input(&self, dims: impl Into<Dims>, dtype: DataType) -> Node {
        let dims = dims.into();
        self.node(|id| LogicalTensor::with_dims(id, Some(dtype), dims, LayoutType::Strided, Property::Variable))
    }

    /// An input that is the same in every execution, row-major: results computed from such inputs alone may be kept.
    pub fn constant(&self, dims: impl Into<Dims>, dtype: DataType) -> Node {
        let dims = dims.into();
        self.node(|id| LogicalTensor::with_dims(id, Some(dtype), dims, LayoutType::Strided, Property::Constant))
    }

    /// Any operation of the specification with one result of `dtype`.
    pub fn op(&self, kind: OpKind, inputs: &[&Node], dtype: Option<DataType>, attrs: &[(AttrId, AttrValue)]) -> Node {
        let out = self.node(|id| LogicalTensor::new(id, dtype, None, LayoutType::Any, Property::Undef));
        let mut state = self.state();
        if inputs.iter().any(|n| !Arc::ptr_eq(&n.graph.0, &self.0)) {
            state.failed.get_or_insert(Error::InvalidGraph(format!("{}: an input is of another graph", kind.name())));
        }
        let id = state.ops.len();
        let mut op = Op::new(id, kind, format!("{}{id}", kind.name()));
        op.inputs = inputs.iter().map(|n| n.tensor).collect();
        op.outputs = vec![out.tensor];
        op.attrs = attrs.iter().cloned().collect();
        state.ops.push(op);
        drop(state);
        out
    }

    /// Compiles the partitions that compute `outputs`.
    ///
    /// # Errors
    /// Errors of the graph; operations that the engine cannot compute.
    pub fn compile(&self, engine: &Engine, outputs: &[&Node]) -> Result<Model, Error> {
        let (mut ops, convolution, failed) = {
            let state = self.state();
            (state.ops.clone(), state.convolution, state.failed.clone())
        };
        if let Some(e) = failed {
            return Err(e);
        }
        // Requested results leave the graph, whoever else reads them.
        for (i, node) in outputs.iter().enumerate() {
            let mut end = Op::new(usize::MAX - i, OpKind::End, "end");
            end.inputs.push(node.tensor);
            ops.push(end);
        }
        let mut graph = oxidnn_graph::Graph::new(engine.kind(), FpMath::default());
        convolution.map_or(Ok(()), |algorithm| graph.set_convolution(algorithm))?;
        ops.iter().try_for_each(|op| graph.add_op(op))?;
        graph.finalize()?;
        graph.filter(Policy::Fusion)?;
        let mut known: BTreeMap<usize, LogicalTensor> = BTreeMap::new();
        let mut compiled = Vec::new();
        for partition in graph.partitions().iter().filter(|p| p.ops().iter().any(|o| o.kind != OpKind::End)) {
            let inputs: Vec<LogicalTensor> = partition.inputs().iter().map(|lt| *known.get(&lt.id).unwrap_or(lt)).collect();
            let made = partition.compile(engine, &inputs, partition.outputs())?;
            // Tensors that depend on open sizes have a known type and nothing else.
            let open = |lt: &LogicalTensor| LogicalTensor { dims: None, strides: Dims::default(), layout: LayoutType::Strided, ..*lt };
            let settled = |lt: &LogicalTensor| made.logical_tensor(lt.id).filter(|_| !made.is_open()).copied();
            known.extend(partition.outputs().iter().map(|lt| (lt.id, settled(lt).unwrap_or_else(|| open(lt)))));
            compiled.push(made);
        }
        let outputs = outputs.iter().map(|n| n.tensor.id).collect();
        Ok(Model { engine: engine.clone(), compiled, outputs })
    }
}

/// The specification's attributes of a window with `n` spatial dimensions.
fn of_window(window: &Window, n: usize) -> Attrs {
    let list = |v: &[i64], missing: i64| AttrValue::S64s(if v.is_empty() { vec![missing; n] } else { v.to_vec() });
    vec![
        (AttrId::Strides, list(&window.strides, 1)),
        (AttrId::PadsBegin, list(&window.padding, 0)),
        (AttrId::PadsEnd, list(&window.padding, 0)),
        (AttrId::Dilations, list(&window.dilations, 1)),
        (AttrId::Groups, AttrValue::S64(window.groups)),
        (AttrId::DataFormat, AttrValue::Text("NCX".into())),
        (AttrId::WeightsFormat, AttrValue::Text("OIX".into())),
    ]
}

macro_rules! functions {
    ($($name:ident = $kind:ident, $doc:literal;)*) => {
        impl Node {
            $(#[doc = $doc] #[must_use] pub fn $name(&self) -> Node { self.then(OpKind::$kind, &[], Vec::new()) })*
        }
    };
}

functions! {
    abs = Abs, "The absolute value.";
    exp = Exp, "e to the power of the element.";
    gelu = Gelu, "`x * (1 + erf(x / sqrt(2))) / 2`.";
    hard_swish = HardSwish, "`x * min(max(x + 3, 0), 6) / 6`.";
    log = Log, "The natural logarithm.";
    mish = Mish, "`x * tanh(log(1 + e^x))`.";
    relu = Relu, "`max(x, 0)`.";
    sigmoid = Sigmoid, "`1 / (1 + e^-x)`.";
    sqrt = Sqrt, "The square root.";
    square = Square, "`x * x`.";
    tanh = Tanh, "The hyperbolic tangent.";
}

macro_rules! pairs {
    ($($name:ident = $kind:ident, $doc:literal;)*) => {
        impl Node {
            $(#[doc = $doc] #[must_use] pub fn $name(&self, other: &Node) -> Node { self.then(OpKind::$kind, &[other], Vec::new()) })*
        }
    };
}

pairs! {
    add = Add, "The sum; sizes of 1 are broadcast, as for all functions of two tensors.";
    sub = Subtract, "The difference.";
    mul = Multiply, "The product of elements.";
    div = Divide, "The quotient.";
    max = Maximum, "The larger element.";
    min = Minimum, "The smaller element.";
}

impl Node {
    fn then(&self, kind: OpKind, others: &[&Node], attrs: Attrs) -> Node {
        let inputs: Vec<&Node> = std::iter::once(self).chain(others.iter().copied()).collect();
        self.graph.op(kind, &inputs, self.tensor.dtype, &attrs)
    }

    /// The description of an input.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for sizes that are [`OPEN`], and for results of operations, whose sizes are known when the graph is
    /// compiled.
    pub fn tensor(&self) -> Result<Tensor, Error> {
        self.tensor.tensor()
    }

    /// `x * sigmoid(x)`.
    #[must_use]
    pub fn swish(&self) -> Node {
        self.mul(&self.sigmoid())
    }

    /// The batched matrix product.
    #[must_use]
    pub fn matmul(&self, weights: &Node) -> Node {
        self.then(OpKind::MatMul, &[weights], Vec::new())
    }

    /// The batched matrix product with transposed second operand.
    #[must_use]
    pub fn matmul_transposed(&self, weights: &Node) -> Node {
        self.then(OpKind::MatMul, &[weights], vec![(AttrId::TransposeB, AttrValue::Bool(true))])
    }

    /// The convolution of batch x channels x sizes with outputs x inputs x kernel.
    #[must_use]
    pub fn conv(&self, weights: &Node, window: &Window) -> Node {
        let n = weights.tensor.dims.map_or(0, |d| d.len().saturating_sub(2));
        self.then(OpKind::Convolution, &[weights], of_window(window, n))
    }

    /// Adds one value per index of the last dimension; after a convolution, per channel.
    #[must_use]
    pub fn bias(&self, bias: &Node) -> Node {
        let from = self.tensor.id;
        let ops = self.graph.state().ops.clone();
        let convolution = ops.iter().any(|o| o.kind == OpKind::Convolution && o.outputs.iter().any(|lt| lt.id == from));
        let format = if convolution { "NCX" } else { "NXC" };
        self.then(OpKind::BiasAdd, &[bias], vec![(AttrId::DataFormat, AttrValue::Text(format.into()))])
    }

    /// The softmax along an axis; negative axes count from the end.
    #[must_use]
    pub fn softmax(&self, axis: i64) -> Node {
        self.then(OpKind::SoftMax, &[], vec![(AttrId::Axis, AttrValue::S64(axis))])
    }

    /// Layer normalisation over the last dimension, with a scale and a shift per element.
    #[must_use]
    pub fn layer_norm(&self, scale: &Node, shift: &Node, epsilon: f32) -> Node {
        let attrs = vec![(AttrId::KeepStats, AttrValue::Bool(false)), (AttrId::Epsilon, AttrValue::F32(Real::new(epsilon)))];
        self.then(OpKind::LayerNorm, &[scale, shift], attrs)
    }

    /// The elements as another floating-point type.
    #[must_use]
    pub fn cast(&self, dtype: DataType) -> Node {
        self.graph.op(OpKind::TypeCast, &[self], Some(dtype), &[])
    }

    /// `round(x / scale) + zero`, saturated to an 8-bit type.
    #[must_use]
    pub fn quantize(&self, dtype: DataType, scale: f32, zero: i64) -> Node {
        self.graph.op(OpKind::Quantize, &[self], Some(dtype), &numbers(scale, zero))
    }

    /// `(q - zero) * scale`, f32.
    #[must_use]
    pub fn dequantize(&self, scale: f32, zero: i64) -> Node {
        self.graph.op(OpKind::Dequantize, &[self], Some(DataType::F32), &numbers(scale, zero))
    }

    /// The elements with other sizes; -1 stands for the size that follows from the others.
    #[must_use]
    pub fn reshape(&self, shape: &[i64]) -> Node {
        let attrs = vec![(AttrId::Shape, AttrValue::S64s(shape.to_vec())), (AttrId::SpecialZero, AttrValue::Bool(false))];
        self.then(OpKind::StaticReshape, &[], attrs)
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    #[must_use]
    pub fn transpose(&self, order: &[i64]) -> Node {
        self.then(OpKind::StaticTranspose, &[], vec![(AttrId::Order, AttrValue::S64s(order.to_vec()))])
    }
}

fn numbers(scale: f32, zero: i64) -> Attrs {
    vec![(AttrId::Scales, AttrValue::F32s(vec![Real::new(scale)])), (AttrId::Zps, AttrValue::S64s(vec![zero]))]
}

/// A compiled graph; several threads may run it at once.
#[derive(Clone, Debug)]
pub struct Model {
    engine: Engine,
    compiled: Vec<CompiledPartition>,
    outputs: Vec<usize>,
}

impl Model {
    /// The partitions, in the order of their execution.
    pub fn partitions(&self) -> Vec<&Partition> {
        self.compiled.iter().map(CompiledPartition::partition).collect()
    }

    /// The problems that are computed, in order, each with the name of its implementation; none for partitions whose sizes are [`OPEN`].
    pub fn problems(&self) -> Vec<(String, &'static str)> {
        self.compiled.iter().flat_map(CompiledPartition::problems).collect()
    }

    /// Computes once: the memory of each output, in the order they were asked for.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for an input that is missing or too small; errors of the execution.
    pub fn run(&self, stream: &Stream, inputs: &[(&Node, &Memory<'_>)]) -> Result<Vec<Memory<'static>>, Error> {
        let mut made: BTreeMap<usize, Memory<'static>> = BTreeMap::new();
        for compiled in &self.compiled {
            let partition = compiled.partition();
            let given = |id: usize| inputs.iter().find(|(n, _)| n.tensor.id == id).map(|(_, m)| *m);
            let missing = |id: usize| Error::InvalidArguments(format!("no memory for input {id} of the graph"));
            let ins = partition.inputs().iter().map(|lt| made.get(&lt.id).or_else(|| given(lt.id)).ok_or_else(|| missing(lt.id)));
            let ins = ins.collect::<Result<Vec<&Memory<'_>>, Error>>()?;
            let sized = compiled.sized(&ins)?;
            let mut outputs = Vec::new();
            for lt in partition.outputs() {
                let lt = sized.logical_tensor(lt.id).unwrap_or(lt);
                outputs.push((lt.id, Memory::new(&self.engine, lt.tensor()?)?));
            }
            let outs: Vec<&Memory<'_>> = outputs.iter().map(|(_, m)| m).collect();
            sized.execute(stream, &ins, &outs, None)?;
            made.extend(outputs);
        }
        let take = |id: &usize| -> Result<Memory<'static>, Error> {
            let memory = made.get(id).ok_or_else(|| Error::InvalidArguments(format!("output {id} is computed by no operation")))?;
            Ok(memory.view(memory.tensor().clone())?)
        };
        self.outputs.iter().map(take).collect()
    }
}
