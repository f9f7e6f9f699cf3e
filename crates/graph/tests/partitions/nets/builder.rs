//! Graphs by their operations.

use oxidnn_graph::{AttrId, AttrValue, LayoutType, LogicalTensor, Op, OpKind, Property};
use oxidnn_spec::{DataType, Dims, Real};
use std::collections::BTreeMap;

/// Operations in the order they were added; tensors are numbered as they appear.
#[derive(Clone, Default, Debug)]
pub(crate) struct Net {
    pub(crate) ops: Vec<Op>,
    /// Inputs of one number, by their numbers, that are not filled as others are.
    pub(crate) numbers: BTreeMap<usize, f64>,
    tensors: usize,
}

/// Attributes of an operation.
pub(crate) type Attrs = Vec<(AttrId, AttrValue)>;

pub(crate) fn reals(v: &[f32]) -> AttrValue {
    AttrValue::F32s(v.iter().map(|&v| Real::new(v)).collect())
}

pub(crate) fn real(v: f32) -> AttrValue {
    AttrValue::F32(Real::new(v))
}

pub(crate) fn ints(v: &[i64]) -> AttrValue {
    AttrValue::S64s(v.to_vec())
}

pub(crate) fn word(v: &str) -> AttrValue {
    AttrValue::Text(v.to_string())
}

impl Net {
    fn number(&mut self) -> usize {
        self.tensors += 1;
        self.tensors - 1
    }

    fn given(&mut self, dtype: DataType, dims: &[i64], property: Property) -> LogicalTensor {
        let (id, dims) = (self.number(), Dims::new(dims).expect("few dimensions"));
        LogicalTensor::with_dims(id, Some(dtype), dims, LayoutType::Strided, property).expect("a tensor")
    }

    pub(crate) fn input(&mut self, dtype: DataType, dims: &[i64]) -> LogicalTensor {
        self.given(dtype, dims, Property::Variable)
    }

    pub(crate) fn constant(&mut self, dtype: DataType, dims: &[i64]) -> LogicalTensor {
        self.given(dtype, dims, Property::Constant)
    }

    /// A constant of one element, which is this number.
    pub(crate) fn number_of(&mut self, dtype: DataType, number: f64) -> LogicalTensor {
        let lt = self.constant(dtype, &[1]);
        self.numbers.insert(lt.id, number);
        lt
    }

    pub(crate) fn scalar(&mut self, dtype: DataType) -> LogicalTensor {
        LogicalTensor::with_dims(self.number(), Some(dtype), Dims::default(), LayoutType::Strided, Property::HostScalar).expect("a number")
    }

    fn open(&mut self, dtype: DataType) -> LogicalTensor {
        LogicalTensor::new(self.number(), Some(dtype), None, LayoutType::Strided, Property::Undef).expect("a tensor")
    }

    /// An operation with results of these types.
    pub(crate) fn outs(&mut self, kind: OpKind, inputs: &[LogicalTensor], dtypes: &[DataType], attrs: Attrs) -> Vec<LogicalTensor> {
        let outputs: Vec<LogicalTensor> = dtypes.iter().map(|&d| self.open(d)).collect();
        let id = self.ops.len();
        let mut op = Op::new(id, kind, format!("{}{id}", kind.name()));
        op.inputs = inputs.to_vec();
        op.outputs = outputs.clone();
        op.attrs.extend(attrs);
        self.ops.push(op);
        outputs
    }

    /// An operation with one result.
    pub(crate) fn op(&mut self, kind: OpKind, inputs: &[LogicalTensor], dtype: DataType, attrs: Attrs) -> LogicalTensor {
        self.outs(kind, inputs, &[dtype], attrs)[0]
    }

    /// A function of elements, with parameters where it has any; of the same type.
    pub(crate) fn unary(&mut self, kind: OpKind, x: LogicalTensor) -> LogicalTensor {
        use OpKind::*;
        let attrs = match kind {
            Clamp => vec![(AttrId::Min, real(-0.5)), (AttrId::Max, real(0.75))],
            Elu | LeakyRelu => vec![(AttrId::Alpha, real(0.25))],
            HardSigmoid => vec![(AttrId::Alpha, real(0.25)), (AttrId::Beta, real(0.5))],
            _ => Vec::new(),
        };
        self.op(kind, &[x], x.dtype.expect("a type"), attrs)
    }

    pub(crate) fn binary(&mut self, kind: OpKind, a: LogicalTensor, b: LogicalTensor) -> LogicalTensor {
        self.op(kind, &[a, b], a.dtype.expect("a type"), Vec::new())
    }

    pub(crate) fn cast(&mut self, x: LogicalTensor, dtype: DataType) -> LogicalTensor {
        self.op(OpKind::TypeCast, &[x], dtype, Vec::new())
    }

    pub(crate) fn quantize(&mut self, x: LogicalTensor, dtype: DataType, scale: f32, zero: i64) -> LogicalTensor {
        let attrs = vec![(AttrId::Scales, reals(&[scale])), (AttrId::Zps, ints(&[zero]))];
        self.op(OpKind::Quantize, &[x], dtype, attrs)
    }

    pub(crate) fn dequantize(&mut self, x: LogicalTensor, scale: f32, zero: i64) -> LogicalTensor {
        let attrs = vec![(AttrId::Scales, reals(&[scale])), (AttrId::Zps, ints(&[zero]))];
        self.op(OpKind::Dequantize, &[x], DataType::F32, attrs)
    }

    /// Bytes of weights with a scale for each of `count` channels along `axis`.
    pub(crate) fn dequantize_channels(&mut self, x: LogicalTensor, count: i64, axis: i64) -> LogicalTensor {
        let scales: Vec<f32> = (0..count).map(|i| 0.03125 * (1 + i % 3) as f32).collect();
        let attrs = vec![
            (AttrId::Scales, reals(&scales)),
            (AttrId::Zps, ints(&vec![0; count as usize])),
            (AttrId::Qtype, word("per_channel")),
            (AttrId::Axis, AttrValue::S64(axis)),
        ];
        self.op(OpKind::Dequantize, &[x], DataType::F32, attrs)
    }

    pub(crate) fn transpose(&mut self, x: LogicalTensor, order: &[i64]) -> LogicalTensor {
        self.op(OpKind::StaticTranspose, &[x], x.dtype.expect("a type"), vec![(AttrId::Order, ints(order))])
    }

    pub(crate) fn reshape(&mut self, x: LogicalTensor, shape: &[i64]) -> LogicalTensor {
        let attrs = vec![(AttrId::Shape, ints(shape)), (AttrId::SpecialZero, AttrValue::Bool(false))];
        self.op(OpKind::StaticReshape, &[x], x.dtype.expect("a type"), attrs)
    }

    /// The lines that `graphs.cpp` reads.
    pub(crate) fn lines(&self) -> String {
        let mut out = String::new();
        for op in &self.ops {
            let attr = |(id, v): (&AttrId, &AttrValue)| format!(" {}={}", id.name(), shown(v));
            let attrs: String = op.attrs.iter().map(attr).collect();
            let ports = |list: &[LogicalTensor]| list.iter().map(|lt| format!(" {}", port(lt))).collect::<String>();
            out += &format!("{} {}{attrs} :{} :{}\n", op.id, op.kind as i32, ports(&op.inputs), ports(&op.outputs));
        }
        out
    }
}

fn shown(value: &AttrValue) -> String {
    let list = |v: Vec<String>| v.join(",");
    match value {
        AttrValue::F32s(v) => list(v.iter().map(|v| v.get().to_string()).collect()),
        AttrValue::S64s(v) => list(v.iter().map(i64::to_string).collect()),
        AttrValue::Bool(v) => u8::from(*v).to_string(),
        other => other.to_string(),
    }
}

fn port(lt: &LogicalTensor) -> String {
    let dims = match lt.dims {
        None => "?".to_string(),
        Some(d) => d.iter().map(i64::to_string).collect::<Vec<_>>().join("x"),
    };
    let property = match lt.property {
        Property::Constant => "@constant",
        Property::HostScalar => "@host",
        _ => "",
    };
    format!("{}={}:{dims}{property}", lt.id, lt.dtype.map_or("undef", |d| d.name()))
}
