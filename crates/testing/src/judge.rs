//! Judges the judge: puts faults into true results, each of which the comparison must catch ([`faults`], `oxidnn verify --judge`).
//!
//! A fault is put into the reference's results of a problem, one output at a time, and shown to the comparison that judges implementations.
//! A fault that changes no number by more than the data type resolves does not apply; all others must be caught.

use crate::fill::Special;
use crate::harness::Truth;
use crate::host::{HostArgs, HostTensor};
use crate::tolerance;
use oxidnn_expr::number;
use oxidnn_spec::{Arg, DataType, Error, FpMathMode, Op, Operand, Problem, Tensor, Use};

/// A kind of mistake.
pub struct Fault {
    /// In words.
    pub name: &'static str,
    /// Values that must be among the data for it to happen.
    pub fill: Option<Special>,
    inject: fn(&Output<'_>) -> Option<Vec<f64>>,
}

/// An output of a problem with its true values.
struct Output<'a> {
    truth: &'a Truth,
    operand: &'a Operand<Tensor>,
    want: &'a [f64],
}

/// The outcome of a fault in an output of a problem.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The fault.
    pub fault: &'static str,
    /// Kind of operation.
    pub op: String,
    /// Which output.
    pub arg: Arg,
    /// Its type.
    pub dtype: DataType,
    /// The comparison's complaint; `None` if it accepted.
    pub caught: Option<String>,
}

/// All faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "the largest number for an infinity",
        fill: Some(Special::Infinity),
        inject: |o| o.replace(f64::is_infinite, largest_for),
    },
    Fault { name: "the other infinity", fill: Some(Special::Infinity), inject: |o| o.replace(f64::is_infinite, |_, v| -v) },
    Fault { name: "0 for an infinity", fill: Some(Special::Infinity), inject: |o| o.replace(f64::is_infinite, |_, _| 0.0) },
    Fault { name: "0 for NaN", fill: Some(Special::Nan), inject: |o| o.replace(f64::is_nan, |_, _| 0.0) },
    Fault { name: "NaN for a number", fill: None, inject: |o| o.replace(f64::is_finite, |_, _| f64::NAN) },
    Fault { name: "an infinity for a number", fill: None, inject: |o| o.replace(f64::is_finite, |_, _| f64::INFINITY) },
    Fault { name: "a flushed subnormal number in a copy", fill: Some(Special::Subnormal), inject: |o| o.flushed() },
    Fault { name: "one off in exact integers", fill: None, inject: |o| o.one_off() },
    Fault { name: "one unit in the last place of a copy", fill: None, inject: |o| o.one_unit() },
    Fault { name: "one element wrong by a fiftieth of its row", fill: None, inject: |o| o.one_element() },
    Fault { name: "one element of the wrong sign", fill: None, inject: |o| o.at_largest(|_, v| -v) },
    Fault { name: "one stale element", fill: None, inject: |o| o.stale() },
    Fault { name: "a tail that is left out", fill: None, inject: |o| o.rows(without_tail) },
    Fault { name: "swapped halves of a row", fill: None, inject: |o| o.rows(|row| row.rotate_left(row.len() / 2)) },
    Fault { name: "two neighbours exchanged", fill: None, inject: |o| o.rows(|row| row.swap(0, row.len().min(2) - 1)) },
    Fault { name: "a row of the wrong scale", fill: None, inject: |o| o.rows(|row| row.iter_mut().for_each(|v| *v *= 0.5)) },
    Fault { name: "a row that is 0", fill: None, inject: |o| o.rows(|row| row.fill(0.0)) },
];

/// A row whose last elements, fewer than a vector holds, were not computed.
fn without_tail(row: &mut [f64]) {
    let whole = row.len() - row.len() % 16;
    row[whole..].fill(0.0);
}

/// The largest finite number of a type with infinities, of the sign of `v`.
fn largest_for(dtype: DataType, v: f64) -> f64 {
    let largest = match dtype {
        DataType::F64 => f64::MAX,
        DataType::F16 => 65504.0,
        DataType::F8E5m2 => 57344.0,
        DataType::Bf16 => (2.0 - 2f64.powi(-7)) * 2f64.powi(127),
        _ => f64::from(f32::MAX),
    };
    largest.copysign(v)
}

impl Output<'_> {
    fn dtype(&self) -> DataType {
        self.operand.tensor.dtype
    }

    /// The first element of a kind replaced, if the type has the replacement.
    fn replace(&self, wanted: fn(f64) -> bool, by: fn(DataType, f64) -> f64) -> Option<Vec<f64>> {
        let at = self.want.iter().position(|v| wanted(*v))?;
        self.with(at, by(self.dtype(), self.want[at]))
    }

    fn with(&self, at: usize, value: f64) -> Option<Vec<f64>> {
        let mut values = self.want.to_vec();
        values[at] = value;
        Some(values)
    }

    /// The element of the largest finite magnitude, a number in the middle of its row as a rule, replaced.
    fn at_largest(&self, by: impl Fn(DataType, f64) -> f64) -> Option<Vec<f64>> {
        let finite = (0..self.want.len()).filter(|&i| self.want[i].is_finite());
        let at = finite.max_by(|&a, &b| self.want[a].abs().total_cmp(&self.want[b].abs()))?;
        self.with(at, by(self.dtype(), self.want[at]))
    }

    fn flushed(&self) -> Option<Vec<f64>> {
        let least = match self.dtype() {
            DataType::F32 | DataType::Bf16 => 2f64.powi(-126),
            DataType::F16 => 2f64.powi(-14),
            _ => return None,
        };
        let at = self.want.iter().position(|v| *v != 0.0 && v.abs() < least)?;
        if self.is_copy() { self.with(at, 0.0) } else { None }
    }

    fn one_off(&self) -> Option<Vec<f64>> {
        let (low, high) = (number::round_to(self.dtype(), -1e30), number::round_to(self.dtype(), 1e30));
        let inner = |v: f64| v > low && v < high && v.abs() < 16_777_215.0;
        let exact = self.dtype().is_integral() && self.truth.is_exact();
        let at = self.want.iter().position(|v| inner(*v) && *v != 0.0).or_else(|| self.want.iter().position(|v| inner(*v)))?;
        if exact { self.with(at, self.want[at] + 1.0) } else { None }
    }

    /// Whether the results are some of the inputs, converted.
    fn is_copy(&self) -> bool {
        let copies = matches!(self.truth.problem.op.kind().to_string().as_str(), "reorder" | "concat" | "shuffle");
        copies && self.truth.is_exact() && self.truth.problem.attr == oxidnn_spec::Attr::default()
    }

    fn one_unit(&self) -> Option<Vec<f64>> {
        let at = self.want.iter().position(|v| v.is_finite() && *v != 0.0)?;
        let (dtype, v) = (self.dtype(), self.want[at]);
        let next = number::decode(dtype, number::encode(dtype, v) ^ 1);
        if self.is_copy() && next.is_finite() { self.with(at, next) } else { None }
    }

    fn one_element(&self) -> Option<Vec<f64>> {
        let step = |v: f64| if self.dtype().is_integral() { (v.abs() / 50.0).ceil().max(2.0) } else { v.abs() / 50.0 };
        self.at_largest(|_, v| v - step(v).copysign(v))
    }

    /// The output's old contents.
    fn stale(&self) -> Option<Vec<f64>> {
        let before = self.truth.inputs.get(self.operand.arg)?.values();
        let at = self.want.len() / 2;
        self.with(at, *before.get(at)?)
    }

    /// The row of elements along the last dimension that holds the largest, changed.
    fn rows(&self, change: impl Fn(&mut [f64])) -> Option<Vec<f64>> {
        let dims = self.operand.tensor.dims();
        let len = dims.last().map_or(1, |d| *d as usize);
        if len == 0 || self.want.len() as i64 != dims.iter().product::<i64>() {
            return None;
        }
        let size = |row: &[f64]| row.iter().filter(|v| v.is_finite()).fold(0f64, |m, v| m.max(v.abs()));
        let largest = (0..self.want.len() / len)
            .max_by(|&a, &b| size(&self.want[a * len..][..len]).total_cmp(&size(&self.want[b * len..][..len])))?;
        let mut values = self.want.to_vec();
        change(&mut values[largest * len..][..len]);
        Some(values)
    }

    /// The steps of the narrowest floating-point type that results may be rounded to on the way.
    fn narrowest(&self) -> f64 {
        let float = |t: &DataType| !t.is_integral() && t.bits() >= 8 && *t != DataType::E8m0;
        let states = matches!(self.truth.problem.op, Op::Rnn(_));
        let types = self.truth.problem.operands().into_iter().filter(|o| states || o.arg == self.operand.arg).map(|o| o.tensor.dtype);
        let strict = self.truth.problem.attr.fpmath.mode == FpMathMode::Strict;
        let factors = if strict { 0.0 } else { DataType::Bf16.epsilon() };
        types.filter(float).map(DataType::epsilon).fold(factors, f64::max)
    }

    /// A part of the terms that cancel in gradients of attention if one key has nearly all the weight: the rest consists of their rounding
    /// errors.
    fn cancelled(&self) -> f64 {
        let other = match (&self.truth.problem.op, self.operand.arg) {
            (Op::Sdpa(_), Arg::DIFF_SRC) => Arg::SRC_1,
            (Op::Sdpa(_), Arg::DIFF_SRC_1) => Arg::SRC,
            _ => return 0.0,
        };
        let largest = |arg: Arg| {
            let values = self.truth.inputs.get(arg).map(HostTensor::values).unwrap_or_default();
            values.iter().filter(|v| v.is_finite()).fold(0f64, |m, v| m.max(v.abs()))
        };
        largest(other) * largest(Arg::SRC_2) * largest(Arg::DIFF_DST) / 16.0
    }

    /// Whether values differ from the truth by more than inexact arithmetic in the type may: a fiftieth of the largest number around, and
    /// some steps of the type; a NaN or an infinity always. If a function jumps next to the truth, either side is right.
    fn is_wrong(&self, values: &[f64], exactly: bool) -> bool {
        let dtype = self.dtype();
        let size = self.want.iter().filter(|v| v.is_finite()).fold(self.cancelled().max(1e-3), |m, v| m.max(v.abs()));
        let narrow = 16.0 * self.narrowest() * size;
        let steps = if dtype.is_integral() { narrow.max(2.0) } else { narrow.max(0.0199 * size) };
        let steps = steps.max(1.5 * tolerance::integer_states_error(&self.truth.problem, self.operand.arg, dtype));
        let differs = |(&a, &b): (&f64, &f64)| match (a.is_finite(), b.is_finite()) {
            (true, true) => a != b && (exactly || (a - b).abs() >= steps),
            _ => a != b && !(a.is_nan() && b.is_nan()),
        };
        let bounds = self.truth.bounds(self.operand.arg);
        let is_near_jump = |i: &usize| self.operand.arg == Arg::DST && tolerance::is_near_jump(&self.truth.problem, bounds.of(*i), steps);
        (0..values.len()).filter(|i| !is_near_jump(i)).any(|i| differs((&values[i], &self.want[i])))
    }
}

/// Puts every fault into every output of `problem`, and gives those that apply.
///
/// # Errors
/// Errors of the reference.
pub fn faults(problem: &Problem, hints: &oxidnn_spec::text::FillHints) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    for fill in [None, Some(Special::Infinity), Some(Special::Nan), Some(Special::Subnormal)] {
        if fill.is_some_and(|f| f.undefined(problem).is_some()) {
            continue;
        }
        let truth = Truth::with(problem, hints, fill)?;
        for operand in truth.judged() {
            let Some(right) = truth.outputs.get(operand.arg) else { continue };
            let want = right.values();
            let output = Output { truth: &truth, operand: &operand, want: &want };
            found.extend(FAULTS.iter().filter(|f| f.fill == fill).filter_map(|f| output.judge(f, right)));
        }
        if fill.is_none() {
            found.extend(truth.judged().iter().filter_map(|o| outside_elements(&truth, o)));
        }
    }
    Ok(found)
}

impl Output<'_> {
    /// Shows the output with a fault to the comparison; `None` where the fault does not apply.
    fn judge(&self, fault: &Fault, right: &HostTensor) -> Option<Finding> {
        let faulty = HostTensor { tensor: right.tensor.clone(), bufs: right.bufs.clone() };
        faulty.set_values(&(fault.inject)(self)?);
        let exactly = fault.name.contains("exact") || fault.name.contains("copy");
        self.is_wrong(&faulty.values(), exactly).then(|| finding(self.truth, self.operand, fault.name, faulty))
    }
}

/// A byte of padding that is not 0, or of a hole that is written.
fn outside_elements(truth: &Truth, operand: &Operand<Tensor>) -> Option<Finding> {
    let right = truth.outputs.get(operand.arg)?;
    let at = right.element_bytes().iter().position(|element| !element)?;
    right.bufs.first().filter(|b| at < b.len())?;
    let faulty = right.clone();
    faulty.bufs[0][at].set(!faulty.bufs[0][at].get());
    Some(finding(truth, operand, "a byte outside of the elements", faulty))
}

/// The comparison's verdict on an output in place of the true one.
fn finding(truth: &Truth, operand: &Operand<Tensor>, fault: &'static str, faulty: HostTensor) -> Finding {
    let got =
        HostArgs(truth.outputs.0.iter().map(|(arg, t)| (*arg, if *arg == operand.arg { faulty.clone() } else { t.clone() })).collect());
    let caught = truth.compare(&got).first().map(ToString::to_string);
    Finding { fault, op: truth.problem.op.kind().to_string(), arg: operand.arg, dtype: operand.tensor.dtype, caught }
}

impl Truth {
    /// The outputs that are judged.
    fn judged(&self) -> Vec<Operand<Tensor>> {
        let outputs = self.problem.operands().into_iter().filter(|o| o.usage == Use::Out && !o.tensor.is_empty());
        outputs.filter(|o| o.arg != Arg::WORKSPACE).collect()
    }
}
