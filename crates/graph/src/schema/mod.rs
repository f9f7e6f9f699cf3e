//! Schemas of operations: their table, and the check of an operation against its own.

mod attrs;
mod checks;
mod table;

use crate::{AttrId, AttrValue, Error, LogicalTensor, Op};
use oxidnn_spec::op::Types;
use oxidnn_spec::{DataType, Real};

/// The operations, in the order of the specification's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the specification's names")]
pub enum OpKind {
    Abs,
    AbsBackward,
    Add,
    AvgPool,
    AvgPoolBackward,
    BatchNormTrainingBackward,
    BatchNormForwardTraining,
    BatchNormInference,
    BiasAdd,
    BiasAddBackward,
    Clamp,
    ClampBackward,
    Concat,
    Convolution,
    ConvolutionBackwardData,
    ConvolutionBackwardWeights,
    ConvTranspose,
    ConvTransposeBackwardData,
    ConvTransposeBackwardWeights,
    Dequantize,
    Divide,
    DynamicDequantize,
    DynamicQuantize,
    Elu,
    EluBackward,
    End,
    Exp,
    Gelu,
    GeluBackward,
    HardSwish,
    HardSwishBackward,
    Interpolate,
    InterpolateBackward,
    LayerNorm,
    LayerNormBackward,
    LeakyRelu,
    Log,
    LogSoftmax,
    LogSoftmaxBackward,
    MatMul,
    Maximum,
    MaxPool,
    MaxPoolBackward,
    Minimum,
    Mish,
    MishBackward,
    Multiply,
    Prelu,
    PreluBackward,
    Quantize,
    Reciprocal,
    ReduceL1,
    ReduceL2,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    Relu,
    ReluBackward,
    Reorder,
    Round,
    Sigmoid,
    SigmoidBackward,
    SoftMax,
    SoftMaxBackward,
    SoftPlus,
    SoftPlusBackward,
    Sqrt,
    SqrtBackward,
    Square,
    SquaredDifference,
    StaticReshape,
    StaticTranspose,
    Subtract,
    Tanh,
    TanhBackward,
    TypeCast,
    Wildcard,
    HardSigmoid,
    HardSigmoidBackward,
    Select,
    Pow,
    GroupNorm,
    GenIndex,
    GreaterEqual,
    RmsNorm,
    Dropout,
}

impl OpKind {
    /// The operation with the specification's number.
    pub fn from_number(number: i32) -> Option<OpKind> {
        usize::try_from(number).ok().and_then(|n| table::TABLE.get(n)).map(|s| s.kind)
    }

    /// The specification's name, which dumps use.
    pub fn name(self) -> &'static str {
        self.schema().name
    }

    /// The schema of the operation.
    pub fn schema(self) -> &'static Schema {
        &table::TABLE[self as usize]
    }
}

/// The schema of an operation: its ports, attributes and rules.
#[derive(Debug)]
pub struct Schema {
    /// The operation.
    pub kind: OpKind,
    /// Its name.
    pub name: &'static str,
    /// Its inputs.
    pub inputs: Ports,
    /// Its outputs.
    pub outputs: Ports,
    /// The types that each type variable may stand for; none: every type.
    pub types: &'static [Types],
    /// Its attributes.
    pub attrs: &'static [AttrRule],
    /// Rules over several ports or attributes: `Err` holds the reason.
    pub(crate) checks: &'static [checks::Check],
}

/// Inputs or outputs.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// How many there may be.
    pub counts: Counts,
    /// Their names and the numbers of their type variables; the last one repeats.
    pub list: &'static [(&'static str, usize)],
}

/// How many ports there may be.
#[derive(Clone, Copy, Debug)]
pub enum Counts {
    /// All that the list has.
    All,
    /// One of these numbers.
    OneOf(&'static [usize]),
    /// From the first number to the second.
    Between(usize, usize),
}

/// An attribute of an operation.
#[derive(Clone, Copy, Debug)]
pub struct AttrRule {
    /// Which.
    pub id: AttrId,
    /// Whether it is required, and its default otherwise.
    pub need: Need,
    /// The words that it may be; none: every value.
    pub allowed: &'static [&'static str],
}

/// Whether an attribute is required, and the value of an absent one.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// It must.
    Required,
    /// Nothing.
    Optional,
    /// A number.
    F32(f32),
    /// A whole number.
    S64(i64),
    /// So many of a whole number.
    S64s(usize, i64),
    /// A switch.
    Bool(bool),
    /// A word.
    Text(&'static str),
}

impl Need {
    fn default(self) -> Option<AttrValue> {
        Some(match self {
            Need::Required | Need::Optional => return None,
            Need::F32(v) => AttrValue::F32(Real::new(v)),
            Need::S64(v) => AttrValue::S64(v),
            Need::S64s(n, v) => AttrValue::S64s(vec![v; n]),
            Need::Bool(v) => AttrValue::Bool(v),
            Need::Text(v) => AttrValue::Text(v.to_string()),
        })
    }
}

impl Ports {
    fn check(&self, what: &str, given: &[LogicalTensor], types: &[Types], bound: &mut [Option<DataType>]) -> Result<(), String> {
        let n = given.len();
        let (fits, expected) = match self.counts {
            Counts::All => (n == self.list.len(), self.list.len().to_string()),
            Counts::OneOf(counts) => (counts.contains(&n), format!("one of {counts:?}")),
            Counts::Between(least, most) => ((least..=most).contains(&n), format!("{least} to {most}")),
        };
        if !fits {
            return Err(format!("{n} {what}, expected {expected}"));
        }
        for (lt, (name, variable)) in given.iter().zip(self.list.iter().chain(self.list.last().into_iter().cycle())) {
            let Some(set) = types.get(*variable) else { continue };
            let dtype = lt.dtype.ok_or_else(|| format!("{name} has no data type, expected {set}"))?;
            if !set.contains(dtype) {
                return Err(format!("{name} is {dtype}, expected {set}"));
            }
            let first = *bound[*variable].get_or_insert(dtype);
            if first != dtype {
                return Err(format!("{name} is {dtype}, expected {first} as the port before"));
            }
        }
        Ok(())
    }
}

impl Schema {
    /// Checks `op` and adds the defaults of its missing attributes.
    ///
    /// # Errors
    /// [`Error::InvalidOp`] with the reason and the expected value.
    pub(crate) fn complete(&self, op: &mut Op) -> Result<(), Error> {
        self.check(op).map_err(|why| Error::InvalidOp(format!("{} (operation {}): {why}", self.name, op.id)))
    }

    fn check(&self, op: &mut Op) -> Result<(), String> {
        // Of a tensor that nobody reads any more the type does not matter.
        let types = if self.kind == OpKind::End { &[] } else { self.types };
        let mut bound = vec![None; types.len()];
        self.inputs.check("inputs", &op.inputs, types, &mut bound)?;
        self.outputs.check("outputs", &op.outputs, types, &mut bound)?;
        if self.kind == OpKind::Wildcard {
            return Ok(());
        }
        for (id, value) in &op.attrs {
            let rule = self.attrs.iter().find(|r| r.id == *id);
            let rule = rule.ok_or_else(|| format!("attribute {} is none of this operation", id.name()))?;
            if !id.takes(value) {
                return Err(format!("attribute {} is {value}, which has another type", id.name()));
            }
            if let AttrValue::Text(word) = value
                && !rule.allowed.is_empty()
                && !rule.allowed.contains(&word.as_str())
            {
                return Err(format!("attribute {} is {word}, expected one of {}", id.name(), rule.allowed.join(", ")));
            }
        }
        for rule in self.attrs {
            if let (Need::Required, false) = (rule.need, op.attrs.contains_key(&rule.id)) {
                return Err(format!("attribute {} is missing", rule.id.name()));
            }
            if let Some(value) = rule.need.default() {
                op.attrs.entry(rule.id).or_insert(value);
            }
        }
        self.checks.iter().try_for_each(|check| check(op))
    }
}
