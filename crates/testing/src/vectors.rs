//! Reads `tests/vectors/*.jsonl`: problems with inputs and outputs computed outside the project.

use crate::harness::Truth;
use crate::host::{HostArgs, HostTensor};
use crate::tolerance::Bounds;
use crate::{fill, harness};
use oxidnn_expr::number;
use oxidnn_spec::op::Op;
use oxidnn_spec::text::{self, FillHints, Settings};
use oxidnn_spec::{Arg, DataType, Error, Format, PostOp, Problem, Real};
use serde_json::Value;

/// One problem with its truth.
#[derive(Clone, Debug)]
pub struct Vector {
    /// The line it was made for.
    pub line: String,
    /// The problem.
    pub problem: Problem,
    /// Sizes of runtime dimensions.
    pub fill: FillHints,
    /// Values of the inputs, logical row-major.
    pub inputs: Vec<(Arg, Vec<f64>)>,
    /// Values of the outputs.
    pub outputs: Vec<(Arg, Vec<f64>)>,
    /// A tolerance of its own.
    pub tol: Option<f64>,
}

/// Parses one line of a vector file.
///
/// # Errors
/// A sentence that describes the error in the line.
pub fn parse(json: &str) -> Result<Vector, String> {
    let v: Value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let line = v["problem"].as_str().ok_or("no `problem`")?.to_owned();
    let case =
        text::parse_line(&mut Settings::default(), &line).map_err(|e| format!("{line}: {e}"))?.pop().ok_or("no problem on the line")?;
    let list = |key: &str| -> Result<Vec<(Arg, Vec<f64>)>, String> {
        let map = v[key].as_object().ok_or_else(|| format!("no `{key}`"))?;
        map.iter().map(|(name, values)| Ok((argument(&case.problem.op, name)?, numbers(values)?))).collect()
    };
    let mut vector =
        Vector { inputs: list("in")?, outputs: list("out")?, tol: v["tol"].as_f64(), problem: case.problem, fill: case.fill, line };
    vector.fix_rnn_quantisation();
    Ok(vector)
}

fn numbers(v: &Value) -> Result<Vec<f64>, String> {
    let one = |x: &Value| match x.as_str() {
        Some("nan") => Ok(f64::NAN),
        Some("inf") => Ok(f64::INFINITY),
        Some("-inf") => Ok(f64::NEG_INFINITY),
        _ => x.as_f64().ok_or_else(|| format!("{x} is no number")),
    };
    v.as_array().ok_or("values are no list")?.iter().map(one).collect()
}

/// The argument that a vector file calls `name`.
fn argument(op: &Op, name: &str) -> Result<Arg, String> {
    let plain = |n: &str| -> Option<Arg> {
        Some(match n {
            "src" | "src_layer" | "q" => Arg::SRC,
            "src1" | "src_iter" | "k" => Arg::SRC_1,
            "src2" | "src_iter_c" | "v" => Arg::SRC_2,
            "attention" | "mask" => Arg::SRC_3,
            "wei" | "wei_layer" => Arg::WEIGHTS,
            "wei_iter" => Arg::WEIGHTS_1,
            "wei_peephole" => Arg::WEIGHTS_2,
            "wei_projection" => Arg::WEIGHTS_3,
            "bia" => Arg::BIAS,
            "dst" | "dst_layer" => Arg::DST,
            "dst_iter" => Arg::DST_1,
            "dst_iter_c" => Arg::DST_2,
            "mean" => Arg::MEAN,
            "var" => Arg::VARIANCE,
            "scale" => Arg::SCALE,
            "shift" => Arg::SHIFT,
            _ => return n.strip_prefix("msrc")?.parse().ok().map(Arg::multiple_src),
        })
    };
    let gradient = |n: &str| match n {
        "scale" => Some(Arg::DIFF_SCALE),
        "shift" => Some(Arg::DIFF_SHIFT),
        _ => plain(n).map(|a| Arg(a.0 + 128)),
    };
    let found = if let Some(n) = name.strip_prefix("diff_") {
        gradient(n)
    } else if let Some(n) = name.strip_prefix("scales:") {
        plain(n).map(Arg::scale)
    } else if let Some(n) = name.strip_prefix("zp:") {
        plain(n).map(Arg::zero_point)
    } else if let Some(n) = name.strip_prefix("dw_") {
        plain(n).map(Arg::depthwise)
    } else if let Some(n) = name.strip_prefix("po") {
        post_op(op, n)
    } else {
        plain(name)
    };
    found.ok_or_else(|| format!("`{name}` is no argument"))
}

fn post_op(_: &Op, n: &str) -> Option<Arg> {
    let (index, operand) = n.split_once(':').unwrap_or((n, "src1"));
    let of = if operand == "src2" { Arg::SRC_2 } else { Arg::SRC_1 };
    Some(Arg::post_op(index.parse().ok()?, of))
}

impl Vector {
    /// Recurrent networks have their quantisation in the attributes, not among the arguments.
    fn fix_rnn_quantisation(&mut self) {
        if !matches!(self.problem.op, Op::Rnn(_)) {
            return;
        }
        let given = std::mem::take(&mut self.inputs);
        let number = |arg: Arg| given.iter().find(|g| g.0 == arg).and_then(|g| g.1.first().copied());
        let quant = &mut self.problem.attr.rnn;
        if let (Some(scale), Some(shift)) = (number(Arg::scale(Arg::SRC)), number(Arg::zero_point(Arg::SRC))) {
            quant.data = Some((Real::new(scale as f32), Real::new(shift as f32)));
        }
        for (arg, slot) in [(Arg::WEIGHTS, &mut quant.weights), (Arg::WEIGHTS_3, &mut quant.projection)] {
            if let (Some((_, values)), Some((_, scales))) = (given.iter().find(|g| g.0 == Arg::scale(arg)), slot.as_mut()) {
                *scales = values.iter().map(|&v| Real::new(v as f32)).collect();
            }
        }
        self.inputs = given.into_iter().filter(|g| g.0.0 < 4096).collect();
    }

    /// The arguments of the problem, filled from the vector; those it does not give (outputs) hold zeros, workspaces come from the
    /// reference's forward pass over the vector's inputs.
    ///
    /// # Errors
    /// The name of an argument that the problem does not have, or whose number of values is wrong.
    pub fn arguments(&self, problem: &Problem) -> Result<HostArgs, String> {
        let mut args = HostArgs(problem.operands().into_iter().map(|o| (o.arg, HostTensor::filled(&o.tensor, 0))).collect());
        let forward = harness::forward_of(problem).map_err(|e| e.to_string())?;
        for (arg, values) in &self.inputs {
            let arg = self.prelu(*arg);
            let Some(t) = args.0.iter_mut().find(|a| a.0 == arg).map(|a| &mut a.1) else {
                // The truth of a normalisation's backward pass lists the shift that its forward pass had; the gradients do not depend on it.
                if arg == Arg::SHIFT || forward.as_ref().is_some_and(|f| f.operands().iter().any(|o| o.arg == arg)) {
                    continue;
                }
                return Err(format!("the problem has no argument {arg}"));
            };
            if let Format::Sparse(sparse) = &t.tensor.layout.format {
                let stored = fill::sparse_from_dense(t, sparse, values).ok_or_else(|| format!("{arg}: more nonzeros than are stored"))?;
                t.set_values(&stored);
                continue;
            }
            let n = t.values().len();
            if n != values.len() {
                return Err(format!("{arg}: {} values for {n} elements", values.len()));
            }
            let dtype = if arg == Arg::DST { destination_type(problem, t.tensor.dtype) } else { t.tensor.dtype };
            t.set_values_as(dtype, values);
        }
        harness::take_forward_results(problem, &mut args, &self.inputs).map_err(|e| e.to_string())?;
        Ok(args)
    }

    /// The second operand of a prelu post-op is called weights.
    fn prelu(&self, arg: Arg) -> Arg {
        match arg.post_op_index() {
            Some((i, _)) if matches!(self.problem.attr.post_ops.get(i), Some(PostOp::Prelu { .. })) => Arg::post_op(i, Arg::WEIGHTS),
            _ => arg,
        }
    }

    /// The true values of output `arg` of `problem` (without runtime dimensions) rounded to its `dtype`, and their bounds, as for the
    /// reference's results. The file has the values `stored` unrounded but for `STORED`: if that decides to which side a value rounds,
    /// either is right.
    ///
    /// # Errors
    /// Errors of the reference.
    pub fn truth(&self, problem: &Problem, arg: Arg, stored: &[f64], inputs: &HostArgs) -> Result<(Vec<f64>, Bounds), Error> {
        let truth = Truth::over(problem, inputs.clone())?;
        let Some(reference) = truth.outputs.get(arg) else { return Ok((stored.to_vec(), Bounds::default())) };
        let dtype = reference.tensor.dtype;
        if let Some(tol) = self.tol {
            return Ok((stored.to_vec(), Bounds::around(dtype, stored, |_, v| tol * v + tol, false)));
        }
        let reference = reference.values();
        let rounded = |side: f64| stored.iter().map(|v| number::round_to(dtype, v * (1.0 + side * STORED))).collect::<Vec<f64>>();
        let [below, want, above] = [-1.0, 0.0, 1.0].map(rounded);
        let moved = |to: &[f64]| truth.bounds(arg).moved(&reference, to);
        let bounds = moved(&below).or(&moved(&want)).or(&moved(&above));
        let largest = self.inputs.iter().flat_map(|(_, v)| v).chain(stored).filter(|v| v.is_finite()).fold(1.0f64, |m, v| m.max(v.abs()));
        Ok((want, if dtype.is_integral() { bounds } else { bounds.widened(DOUBLE * largest) }))
    }
}

/// Half a unit of the tenth significant digit, the last that the files have, relative to the largest number with it.
const STORED: f64 = 5e-10;

/// The error of functions in float64 where terms cancel that are about as large as the largest number: one and `tanh` far below zero.
const DOUBLE: f64 = 16.0 * f64::EPSILON;

/// The type that the old destination's bytes are read as: the one that a sum post-op names, or its own.
fn destination_type(problem: &Problem, own: DataType) -> DataType {
    let named = problem.attr.post_ops.iter().find_map(|p| match p {
        PostOp::Sum { dtype, .. } => *dtype,
        _ => None,
    });
    named.unwrap_or(own)
}
