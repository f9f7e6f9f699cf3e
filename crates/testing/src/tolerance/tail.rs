//! The possible values of every element of an output after the arithmetic before the post-ops, and after each of these: [`Interval`]s
//! through the reference's own epilogue.

use super::interval::Interval;
use super::rows::{self, Rows};
use super::{Bounds, Computed, FUNCTION, arithmetic, exact, flushed, fused, saturated, smallest, winograd};
use crate::host::HostArgs;
use oxidnn_expr::{Num, binary, eltwise};
use oxidnn_reference::{Epilogue, Factor, View, for_each_position};
use oxidnn_spec::op::{Binary, Eltwise};
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem, QuantMode};

/// Roundings of integer sums on their way to the post-ops, in units of `epsilon`: into f32, the product of two scales and with it, a bias.
const CONVERSIONS: f64 = 4.0;

/// Relative error of a scale that the library computes.
const DYNAMIC: f64 = 1e-5;

/// The bounds of output `arg`, whose results are `sums` before its post-ops.
///
/// # Errors
/// Errors of the reference's epilogue.
pub(super) fn bounds(computed: &Computed<'_>, arg: Arg, sums: &[f64]) -> Result<Bounds, Error> {
    let Computed { problem, inputs, outputs, first } = computed;
    let dynamic = arg == Arg::DST && problem.attr.scales.get(&arg).is_some_and(|q| q.mode != QuantMode::Static);
    // Dropout writes its mask, and scales that the library computes are among its results.
    let args = if dynamic { &with_scale(inputs, outputs) } else { *inputs };
    let tail = tail(&problem.attr, args, arg)?;
    let dtype = tail.dst().dtype();
    let mut starts = before(problem, arg, args, sums)?;
    if let Some(first) = first {
        for (start, spread) in starts.iter_mut().zip(fused::spread(problem, args, *first)?) {
            *start = start.widened(0.0, spread);
        }
    }
    let mut all = Bounds::default();
    let mut starts = starts.into_iter();
    for_each_position(tail.dst().dims(), |pos| {
        let Some(start) = starts.next() else { return };
        let real = tail.value(pos, start).widened(if dynamic { DYNAMIC } else { 0.0 }, 0.0);
        let quantised = tail.quantised(pos, real);
        let lost = if quantised.is_point() { flushed(problem, dtype) } else { smallest(dtype) };
        let reached = quantised.widened(0.0, lost);
        all.push(stored(dtype, reached, |v| tail.rounded(pos, v)));
    });
    Ok(all)
}

/// The part of the epilogue between the last sums and memory.
fn tail<'a>(attr: &'a Attr, args: &'a HostArgs, arg: Arg) -> Result<Epilogue<'a>, Error> {
    match attr.depthwise_index().filter(|_| arg == Arg::DST) {
        Some(i) => Epilogue::part(attr, args, View::of(args, arg)?, Arg::depthwise(arg), i + 1..attr.post_ops.len()),
        None => Epilogue::new(attr, args, arg),
    }
}

/// The inputs with the destination's scales among the outputs.
fn with_scale(inputs: &HostArgs, outputs: &HostArgs) -> HostArgs {
    let given = |arg: Arg| if arg == Arg::scale(Arg::DST) { outputs.get(arg) } else { None };
    HostArgs(inputs.0.iter().map(|(arg, t)| (*arg, given(*arg).unwrap_or(t).clone())).collect())
}

/// The values that memory of type `dtype` may hold for the numbers of an interval, by rounding, which is monotone.
fn stored(dtype: DataType, x: Interval, rounded: impl Fn(f64) -> f64) -> Interval {
    let none = if x.nan { Interval::point(rounded(f64::NAN)) } else { Interval { nan: false, ..Interval::NAN } };
    if x.low > x.high {
        return none;
    }
    saturated(dtype, Interval::point(rounded(x.low)).hull(Interval::point(rounded(x.high))).hull(none))
}

/// The values before the post-ops of output `arg`, element by element.
fn before(problem: &Problem, arg: Arg, args: &HostArgs, sums: &[f64]) -> Result<Vec<Interval>, Error> {
    match &problem.op {
        Op::Eltwise(op) => Ok(functions(op, args)),
        Op::Binary(op) => pairs(op, &problem.attr, args),
        _ => Ok(summed(problem, arg, args, sums)),
    }
}

fn functions(op: &Eltwise, args: &HostArgs) -> Vec<Interval> {
    let (alpha, beta) = (op.alpha.get(), op.beta.get());
    let read = |arg: Arg| args.get(arg).map(|t| t.values().into_iter().map(Interval::read).collect::<Vec<_>>()).unwrap_or_default();
    if op.prop.is_forward() {
        return read(Arg::SRC).into_iter().map(|x| eltwise::forward(op.alg, alpha, beta, x)).collect();
    }
    let data = read(if op.alg.uses_dst() { Arg::DST } else { Arg::SRC });
    read(Arg::DIFF_DST).into_iter().zip(data).map(|(dd, x)| eltwise::backward(op.alg, alpha, beta, dd, x)).collect()
}

fn pairs(op: &Binary, attr: &Attr, args: &HostArgs) -> Result<Vec<Interval>, Error> {
    let operand = |arg: Arg| -> Result<(View<'_>, Factor<'_>), Error> {
        let view = View::of(args, arg)?;
        Ok((view, Factor::scale(attr, args, arg, view.dims())?))
    };
    let ((a, scale_a), (b, scale_b)) = (operand(Arg::SRC)?, operand(Arg::SRC_1)?);
    let condition = if op.src2.is_some() { Some(View::of(args, Arg::SRC_2)?) } else { None };
    let mut all = Vec::new();
    for_each_position(View::of(args, Arg::DST)?.dims(), |pos| {
        let a = Interval::read(a.get(pos)).mul(Interval::read(scale_a.at(pos)));
        let b = Interval::read(b.get(pos)).mul(Interval::read(scale_b.at(pos)));
        all.push(binary::apply(op.alg, a, b, Interval::read(condition.map_or(0.0, |c| c.get(pos)))));
    });
    Ok(all)
}

/// Sums with the error of their accumulation: none if all terms are multiples of a number that leaves f32 enough bits.
fn summed(problem: &Problem, arg: Arg, args: &HostArgs, sums: &[f64]) -> Vec<Interval> {
    let a = arithmetic(problem, arg);
    let dims = problem.operands().into_iter().find(|o| o.arg == arg).map(|o| *o.tensor.dims());
    let rows = Rows::of(problem, arg, dims.as_deref().unwrap_or(&[]), sums.len());
    let scales = rows.scales(sums, &rows::floors(problem, arg, args, &rows, a.terms));
    let (growth, functions) = (a.growth() + winograd(problem), f64::from(a.functions) * FUNCTION);
    let grid = exact::grid(problem, arg, args, rows::terms(problem, arg, args, a.terms));
    let (wide, integers, bias) = (a.unit < DataType::F32.epsilon(), exact::is_integer(problem), exact::bias(args));
    let untouched = integers && problem.attr.is_default() && problem.operands().iter().all(|o| o.tensor.dtype.is_integral());
    let one = |(i, &v): (usize, &f64)| match &grid {
        _ if untouched => Interval::point(v),
        Some(grid) if grid.holds(v) && wide => Interval::point(v),
        Some(grid) if grid.holds(v) => Interval::read(v),
        _ if integers => Interval::near(v, CONVERSIONS * a.unit * (v.abs() + bias)),
        _ => Interval::near(v, growth * scales.get(i).or(scales.first()).copied().unwrap_or(0.0) + functions * v.abs()),
    };
    sums.iter().enumerate().map(one).collect()
}
