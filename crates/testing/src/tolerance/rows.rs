//! Which elements of an output come from one reduction, and how large the terms of their sums are.

use super::{largest, values, volume};
use crate::host::HostArgs;
use oxidnn_reference::for_each_position;
use oxidnn_spec::op::{PoolAlg, ReductionAlg, ResamplingAlg, Rnn, Sdpa, SdpaScale};
use oxidnn_spec::{Arg, Op, Problem, Tensor};

/// The row of a position.
type Index<'a> = dyn Fn(&[i64]) -> i64 + 'a;

/// The row that each element of an output belongs to.
pub(super) enum Rows {
    /// One for all.
    All,
    /// Each element is a row of its own.
    PerElement,
    /// The index of each element's row, and how many there are.
    Of(Vec<u32>, usize),
}

/// The dimensions that number rows.
enum RowDims {
    None,
    All,
    /// Those before this one.
    Before(usize),
    /// All but this one.
    AllBut(usize),
    /// This one.
    Only(usize),
    /// The first, and groups of so many of the second.
    Groups(i64),
}

impl Rows {
    /// The rows of output `arg`, a tensor of `dims` with `elements` stored elements.
    pub(super) fn of(problem: &Problem, arg: Arg, dims: &[i64], elements: usize) -> Rows {
        let index: Box<Index<'_>> = match row_dims(problem, arg, dims.len()) {
            RowDims::All => return Rows::PerElement,
            RowDims::None => return Rows::All,
            // Sparse tensors store fewer.
            _ if volume(dims) != elements as i64 || dims.contains(&0) => return Rows::All,
            RowDims::Before(n) => Box::new(move |p| p[..n].iter().zip(dims).fold(0, |i, (p, d)| i * d + p)),
            RowDims::AllBut(n) => Box::new(move |p| (0..p.len()).filter(|&d| d != n).fold(0, |i, d| i * dims[d] + p[d])),
            RowDims::Only(n) => Box::new(move |p| p[n]),
            RowDims::Groups(g) => Box::new(move |p| p[0] * (dims[1] / g) + p[1] / g),
        };
        let mut of = Vec::with_capacity(elements);
        for_each_position(dims, |p| of.push(index(p) as u32));
        let count = of.iter().max().map_or(0, |m| *m as usize + 1);
        Rows::Of(of, count)
    }

    pub(super) fn is_per_element(&self) -> bool {
        matches!(self, Rows::PerElement)
    }

    /// The largest finite magnitude in each row.
    pub(super) fn largest(&self, values: &[f64]) -> Vec<f64> {
        match self {
            Rows::All => vec![largest(values)],
            Rows::PerElement => values.iter().map(|v| if v.is_finite() { v.abs() } else { 0.0 }).collect(),
            Rows::Of(of, count) => {
                let mut rows = vec![0f64; *count];
                of.iter().zip(values).filter(|(_, v)| v.is_finite()).for_each(|(&r, v)| rows[r as usize] = rows[r as usize].max(v.abs()));
                rows
            }
        }
    }

    /// The magnitude that the errors of each element are relative to: the largest of its row, and at least `floors`, one for all or for each row.
    pub(super) fn scales(&self, want: &[f64], floors: &[f64]) -> Vec<f64> {
        let floor = |row: usize| floors.get(row).or(floors.first()).copied().unwrap_or(0.0);
        let rows: Vec<f64> = self.largest(want).into_iter().enumerate().map(|(r, v)| v.max(floor(r))).collect();
        match self {
            Rows::All | Rows::PerElement => rows,
            Rows::Of(of, _) => of.iter().map(|&r| rows[r as usize]).collect(),
        }
    }
}

fn row_dims(problem: &Problem, arg: Arg, rank: usize) -> RowDims {
    let is_data = matches!(arg, Arg::DST | Arg::DIFF_SRC);
    match &problem.op {
        Op::Eltwise(_) | Op::Binary(_) | Op::Reorder(_) | Op::Concat(_) | Op::Shuffle(_) | Op::Sum(_) | Op::Reduction(_) => RowDims::All,
        Op::Pool(p) if p.alg == PoolAlg::Max => RowDims::All,
        Op::Resampling(r) if r.alg == ResamplingAlg::Nearest => RowDims::All,
        Op::Prelu(_) if arg != Arg::DIFF_WEIGHTS => RowDims::All,
        Op::LayerNorm(_) | Op::GroupNorm(_) | Op::BatchNorm(_) if !is_data => RowDims::All,
        Op::BatchNorm(_) => RowDims::Only(1),
        Op::LayerNorm(_) => RowDims::AllBut(rank - 1),
        Op::GroupNorm(n) => RowDims::Groups((n.src.dims()[1] / n.groups.max(1)).max(1)),
        Op::Softmax(s) => RowDims::AllBut(s.axis),
        Op::Matmul(_) | Op::Sdpa(_) => RowDims::AllBut(rank - 1),
        Op::InnerProduct(_) if is_data => RowDims::Before(1),
        Op::Conv(_) | Op::Deconv(_) | Op::Pool(_) | Op::Resampling(_) | Op::Lrn(_) if is_data => RowDims::Before(2.min(rank)),
        _ => RowDims::None,
    }
}

/// The smallest scale of each row, or of all rows, by the inputs.
pub(super) fn floors(problem: &Problem, arg: Arg, inputs: &HostArgs, rows: &Rows, terms: i64) -> Vec<f64> {
    let of = |arg| values(inputs, arg).unwrap_or_default();
    match &problem.op {
        Op::BatchNorm(n) if arg == Arg::DIFF_SRC => gradient_of_norm(rows, &of, f64::from(n.epsilon.get())),
        Op::LayerNorm(n) if arg == Arg::DIFF_SRC => gradient_of_norm(rows, &of, f64::from(n.epsilon.get())),
        Op::GroupNorm(n) if arg == Arg::DIFF_SRC => gradient_of_norm(rows, &of, f64::from(n.epsilon.get())),
        Op::Matmul(_) | Op::InnerProduct(_) if arg == Arg::DST => products(problem, inputs, rows, terms),
        _ => vec![self::terms(problem, arg, inputs, terms)],
    }
}

/// The same of products, by the rows of the left operand where each makes one.
fn products(problem: &Problem, inputs: &HostArgs, rows: &Rows, terms: i64) -> Vec<f64> {
    let size = self::terms(problem, Arg::DST, inputs, terms);
    let (Rows::Of(_, count), Some(src)) = (rows, values(inputs, Arg::SRC)) else { return vec![size] };
    let (depth, all) = (terms.max(1) as usize, mean_square(&src));
    if src.len() != count * depth || all == 0.0 {
        return vec![size];
    }
    src.chunks(depth).map(|row| size * mean_square(row) / all).collect()
}

/// `scale / sqrt(variance + epsilon) * (diff_dst - mean(diff_dst) - x * mean(x * diff_dst))` is often far smaller than its first term.
fn gradient_of_norm(rows: &Rows, of: &dyn Fn(Arg) -> Vec<f64>, epsilon: f64) -> Vec<f64> {
    let scale = of(Arg::SCALE);
    let scale = if scale.is_empty() { 1.0 } else { largest(&scale) };
    let variance = of(Arg::VARIANCE);
    let deviation = |row: usize| variance.get(row).map_or(1.0, |v| (v + epsilon).sqrt());
    rows.largest(&of(Arg::DIFF_DST)).into_iter().enumerate().map(|(row, d)| d * scale / deviation(row)).collect()
}

/// The expected magnitude of the sums of `terms` terms of output `arg`, by the inputs.
pub(super) fn terms(problem: &Problem, arg: Arg, inputs: &HostArgs, terms: i64) -> f64 {
    let of = |arg| values(inputs, arg);
    let root = (terms as f64).sqrt();
    let scale = |arg| of(Arg::scale(arg)).map_or(1.0, |s| largest(&s));
    let factors = [Arg::SRC, Arg::DIFF_DST, Arg::WEIGHTS].into_iter();
    match &problem.op {
        Op::Conv(_) | Op::Deconv(_) | Op::Matmul(_) | Op::InnerProduct(_) => {
            let product: f64 = factors.filter_map(|a| Some(mean_square(&of(a)?) * scale(a))).product();
            product * root
        }
        Op::Reduction(r) => match r.alg {
            ReductionAlg::Sum => of(Arg::SRC).map_or(0.0, |s| mean_square(&s)) * root,
            ReductionAlg::Mean => of(Arg::SRC).map_or(0.0, |s| mean_square(&s)) / root,
            _ => 0.0,
        },
        Op::Pool(p) => {
            let size = [Arg::SRC, Arg::DIFF_DST].into_iter().filter_map(of).map(|v| mean_square(&v)).fold(0.0, f64::max);
            if p.alg == PoolAlg::Max { size * root } else { size / root }
        }
        Op::Resampling(_) | Op::Lrn(_) => [Arg::SRC, Arg::DIFF_DST].into_iter().filter_map(of).map(|v| mean_square(&v)).fold(0.0, f64::max),
        Op::Softmax(_) if arg == Arg::DIFF_SRC => [Arg::DST, Arg::DIFF_DST].into_iter().filter_map(of).map(|v| mean_square(&v)).product(),
        Op::BatchNorm(_) | Op::LayerNorm(_) | Op::GroupNorm(_) => {
            let size = |arg| of(arg).map_or(1.0, |v| largest(&v));
            match arg {
                Arg::MEAN => size(Arg::SRC),
                Arg::VARIANCE => size(Arg::SRC).powi(2),
                Arg::DIFF_SCALE | Arg::DIFF_SHIFT => size(Arg::DIFF_DST) * root,
                _ => size(Arg::SCALE),
            }
        }
        Op::Rnn(r) => gradient_of_states(r, arg, &|arg| of(arg).map_or(0.0, |v| mean_square(&v))),
        Op::Sdpa(s) => attention(s, arg, &|arg| of(arg).map_or(1.0, |v| mean_square(&v)) * scale(arg)),
        Op::Sum(s) => {
            let size = |(i, scale): (usize, &oxidnn_spec::Real)| {
                f64::from(scale.get()).abs() * of(Arg::multiple_src(i)).map_or(0.0, |v| largest(&v))
            };
            s.scales.iter().enumerate().map(size).fold(0.0, f64::max)
        }
        _ => 0.0,
    }
}

/// Gradients of states are sums of products of weights and the gradients of gates, which may cancel: these are those of the results times the gates'
/// slopes, a quarter at most for a logistic function.
fn gradient_of_states(op: &Rnn, arg: Arg, size: &dyn Fn(Arg) -> f64) -> f64 {
    let weights = match arg {
        Arg::DIFF_SRC => Arg::WEIGHTS,
        Arg::DIFF_SRC_1 => Arg::WEIGHTS_1,
        _ => return 0.0,
    };
    size(Arg::DIFF_DST).max(size(Arg::DIFF_DST_1)) / 4.0 * size(weights) * (op.weights_iter.dims()[4].max(1) as f64).sqrt()
}

/// Weights add up to 1, so results are as large as values; gradients are sums of their products with others, over the axis that is summed.
fn attention(op: &Sdpa, arg: Arg, size: &dyn Fn(Arg) -> f64) -> f64 {
    let root = |tensor: &Tensor, d: usize| (tensor.dims()[d].max(1) as f64).sqrt();
    let factor = if op.scale_kind == SdpaScale::Divide { 1.0 / size(Arg::SCALE) } else { size(Arg::SCALE) };
    // Of a score, and of its gradient.
    let (score, change) =
        (size(Arg::SRC) * size(Arg::SRC_1) * root(&op.q, 3) * factor, size(Arg::DIFF_DST) * size(Arg::SRC_2) * root(&op.v, 3));
    let queries = root(&op.q, 1) / root(&op.k, 1) * root(&op.q, 2);
    match arg {
        Arg::WORKSPACE => score,
        Arg::DIFF_SRC => change * size(Arg::SRC_1) * factor,
        Arg::DIFF_SRC_1 => change * size(Arg::SRC) * factor * queries,
        Arg::DIFF_SRC_2 => size(Arg::DIFF_DST) * queries,
        _ => size(Arg::SRC_2),
    }
}

/// The root of the mean square of the finite values.
fn mean_square(values: &[f64]) -> f64 {
    let squares: Vec<f64> = values.iter().filter(|v| v.is_finite()).map(|v| v * v).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}
