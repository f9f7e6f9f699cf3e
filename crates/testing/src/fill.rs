//! Input data for a problem: deterministic, representable in the data types, small integers (or fractions of a power of two) wherever sums
//! are formed, so that an exact result exists and a wrong one cannot hide in rounding.

mod special;

use crate::host::{HostArgs, HostTensor};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, ReductionAlg, Rnn};
use oxidnn_spec::text::FillHints;
use oxidnn_spec::{Arg, DataType, Op, Operand, PostOp, Problem, Sparse, Tensor, Use};
pub use special::Special;

/// A small generator (xorshift*), seeded by the tensor that it fills.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Random {
        let mut r = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        r.bits();
        r.bits();
        r
    }
    /// The next 32 random bits.
    pub fn bits(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }
    /// A whole number in `lo..=hi`.
    pub fn int(&mut self, lo: i64, hi: i64) -> i64 {
        lo + ((u64::from(self.bits()) * (hi - lo + 1) as u64) >> 32) as i64
    }
    /// One of `choices`.
    pub fn pick(&mut self, choices: &[f64]) -> f64 {
        choices[self.int(0, choices.len() as i64 - 1) as usize]
    }
}

/// How the numbers of one argument are drawn.
enum Draw {
    /// Whole numbers in a range, times a factor.
    Grid(i64, i64, f64),
    /// One of these.
    Of(&'static [f64]),
    /// Always this.
    Constant(f64),
}

const POWERS: &[f64] = &[0.125, 0.25, 0.5, 1.0, 2.0];
const NONZERO: &[f64] = &[-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0];
const NONZERO_INT: &[f64] = &[-4.0, -2.0, -1.0, 1.0, 2.0, 4.0];
const NONZERO_UNSIGNED: &[f64] = &[1.0, 2.0, 4.0];

/// Data for every argument of `problem` (layouts resolved, no runtime dimensions). Outputs are filled with garbage, unless the operation reads them.
pub fn arguments(problem: &Problem, hints: &FillHints) -> HostArgs {
    let mut args = HostArgs::default();
    for o in problem.operands() {
        let filled = match o.usage {
            Use::Out if !reads_output(problem, o.arg) => HostTensor::filled(&o.tensor, 0xA5),
            _ => input(problem, &o, hints, seed(problem, Arg::DST).is_multiple_of(4)),
        };
        args.0.push((o.arg, filled));
    }
    args
}

/// As [`arguments`], made quickly, for measurements: the elements of a large plain tensor repeat. Bytes that are multiplied by bytes are small numbers,
/// unless they are to have all their values.
pub fn repeating(problem: &Problem, hints: &FillHints, all_bytes: bool) -> HostArgs {
    HostArgs(problem.operands().into_iter().map(|o| (o.arg, repeated(problem, o, hints, all_bytes))).collect())
}

/// The same, only for arguments of at most `most` bytes and those whose layout is not strided or blocked; without the workspace, which only a forward pass can produce.
pub fn small_arguments(problem: &Problem, hints: &FillHints, most: usize) -> HostArgs {
    let large = |o: &Operand<Tensor>| o.arg == Arg::WORKSPACE || o.tensor.blocking().is_some() && o.tensor.bytes() > most;
    let operands = problem.operands().into_iter().filter(|o| !large(o));
    HostArgs(operands.map(|o| (o.arg, repeated(problem, o, hints, false))).collect())
}

/// Data for one argument.
fn repeated(problem: &Problem, mut o: Operand<Tensor>, hints: &FillHints, all_bytes: bool) -> HostTensor {
    let whole = o.tensor.clone();
    let dense = whole.layout.is_dense(false) && whole.blocking().is_some_and(|b| b.is_plain() && b.offset == 0);
    let part = Tensor::plain([PERIOD], whole.dtype).ok().filter(|_| dense && whole.layout.elements() > Some(PERIOD));
    match part {
        _ if o.usage == Use::Out && !reads_output(problem, o.arg) => HostTensor::filled(&whole, 0xA5),
        None => input(problem, &o, hints, all_bytes),
        Some(part) => {
            o.tensor = part;
            let period = input(problem, &o, hints, all_bytes);
            let bytes = period.bufs[0].iter().cycle().take(whole.bytes()).cloned().collect();
            HostTensor { tensor: whole, bufs: vec![bytes] }
        }
    }
}

/// Elements after which [`repeating`] begins again: a number that divides no usual size.
const PERIOD: i64 = 65_522;

/// True when the old contents of an output matter.
fn reads_output(problem: &Problem, arg: Arg) -> bool {
    match &problem.op {
        Op::Rnn(r) => !r.diff_weights_overwrite && (arg == Arg::DIFF_BIAS || (161..=164).contains(&arg.0)),
        _ => arg == Arg::DST && problem.attr.reads_dst(),
    }
}

fn seed(problem: &Problem, arg: Arg) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut h = DefaultHasher::new();
    (problem.op.kind(), arg).hash(&mut h);
    for o in problem.op.operands() {
        // As a list of numbers, so that how the library finds a problem again changes no data.
        o.tensor.dims()[..].hash(&mut h);
    }
    h.finish()
}

fn input(problem: &Problem, o: &Operand<Tensor>, hints: &FillHints, all_bytes: bool) -> HostTensor {
    let mut rng = Random::new(seed(problem, o.arg));
    let t = &o.tensor;
    let out = HostTensor::filled(t, 0);
    if let oxidnn_spec::Format::Sparse(s) = &t.layout.format {
        sparse_pattern(&out, s, &mut rng);
    }
    let draw = match fixed(o.arg, hints) {
        Some(v) => Draw::Constant(v),
        None if all_bytes && multiplies_bytes(problem, o.arg) => wide(t.dtype),
        None => draw(problem, o.arg, t.dtype),
    };
    // Sparse packed tensors keep fewer values than the logical volume: `count` knows how many.
    let n = out.count();
    let special = specials(problem, o.arg, t.dtype);
    let values: Vec<f64> = (0..n)
        .map(|i| match draw {
            _ if !special.is_empty() && i % 17 == 5 => special[i / 17 % special.len()],
            Draw::Grid(lo, hi, f) => rng.int(lo, hi) as f64 * f,
            Draw::Of(choices) => rng.pick(choices),
            Draw::Constant(v) => v,
        })
        .collect();
    out.set_values(&values);
    out
}

/// The number that the line itself gives for `arg`.
fn fixed(arg: Arg, hints: &FillHints) -> Option<f64> {
    let scale = hints.scales.iter().find(|(of, _)| Arg::scale(**of) == arg).map(|(_, v)| f64::from(v.get()));
    let zero_point = || hints.zero_points.iter().find(|(of, _)| Arg::zero_point(**of) == arg).map(|(_, &v)| f64::from(v));
    scale.or_else(zero_point).or_else(|| match arg {
        Arg::ROUNDING_SEED => hints.rounding_seed.map(f64::from),
        Arg::DROPOUT_PROBABILITY => hints.dropout.map(|d| f64::from(d.p.get())),
        Arg::DROPOUT_SEED => hints.dropout.map(|d| d.seed as f64),
        Arg::DROPOUT_OFFSET => hints.dropout.map(|d| d.offset as f64),
        _ => None,
    })
}

fn draw(problem: &Problem, arg: Arg, dtype: DataType) -> Draw {
    if let Some((i, operand)) = arg.post_op_index() {
        return post_op(&problem.attr.post_ops[i], operand, dtype);
    }
    let a = arg.0;
    match arg {
        Arg::DROPOUT_PROBABILITY => return Draw::Constant(0.5),
        Arg::DROPOUT_SEED | Arg::ROUNDING_SEED => return Draw::Constant(4321.0),
        Arg::DROPOUT_OFFSET => return Draw::Constant(77.0),
        Arg::VARIANCE => return Draw::Grid(2, 16, 0.125),
        Arg::MEAN => return Draw::Grid(-8, 8, 0.125),
        Arg::SCALE if !matches!(problem.op, Op::Sdpa(_)) => return Draw::Grid(-8, 8, 0.25),
        Arg::SCALE => return Draw::Of(&[0.25, 0.5, 2.0]),
        _ if a & 8192 != 0 => return zero_point(dtype),
        _ if a & 4096 != 0 => return Draw::Of(POWERS),
        _ => {}
    }
    by_operation(problem, arg, dtype)
}

/// Whether `arg` is a factor of products of bytes by bytes.
fn multiplies_bytes(problem: &Problem, arg: Arg) -> bool {
    let is_product = matches!(problem.op, Op::Conv(_) | Op::Deconv(_) | Op::Matmul(_) | Op::InnerProduct(_));
    let is_byte = |of: Arg| problem.operands().iter().any(|o| o.arg == of && matches!(o.tensor.dtype, DataType::U8 | DataType::S8));
    let factors = [Arg::SRC, Arg::WEIGHTS];
    is_product && factors.contains(&arg) && factors.into_iter().all(is_byte)
}

fn zero_point(dtype: DataType) -> Draw {
    match dtype {
        DataType::U8 | DataType::U4 => Draw::Grid(0, 3, 1.0),
        _ => Draw::Grid(-3, 3, 1.0),
    }
}

fn post_op(p: &PostOp, operand: Arg, dtype: DataType) -> Draw {
    match p {
        PostOp::Binary { .. } if operand == Arg::SRC_2 => Draw::Of(&[0.0, 1.0]),
        PostOp::Binary { alg: BinaryAlg::Div, .. } => nonzero(dtype),
        PostOp::Binary { alg, .. } if is_comparison(*alg) => off_ties(dtype),
        PostOp::Binary { .. } => small(dtype),
        _ => Draw::Grid(-8, 8, 0.125),
    }
}

fn is_comparison(alg: BinaryAlg) -> bool {
    use BinaryAlg::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(alg, Ge | Gt | Le | Lt | Eq | Ne)
}

/// Numbers for comparisons with results of sums: spread widely, so that few of them are hit exactly, where rounding alone would decide.
fn off_ties(dtype: DataType) -> Draw {
    match dtype {
        DataType::S32 => Draw::Grid(-999, 999, 1.0),
        DataType::S8 => Draw::Grid(-128, 127, 1.0),
        DataType::U8 => Draw::Grid(0, 255, 1.0),
        d => small(d),
    }
}

fn nonzero(dtype: DataType) -> Draw {
    match dtype {
        DataType::U8 | DataType::U4 | DataType::E8m0 => Draw::Of(NONZERO_UNSIGNED),
        d if d.is_integral() => Draw::Of(NONZERO_INT),
        _ => Draw::Of(NONZERO),
    }
}

/// Small numbers that sums of products keep exact.
fn small(dtype: DataType) -> Draw {
    match dtype {
        DataType::U8 => Draw::Grid(0, 9, 1.0),
        DataType::U4 => Draw::Grid(0, 7, 1.0),
        DataType::Boolean => Draw::Grid(0, 1, 1.0),
        DataType::E8m0 => Draw::Of(POWERS),
        DataType::S8 | DataType::S32 | DataType::S64 => Draw::Grid(-6, 6, 1.0),
        DataType::S4 => Draw::Grid(-5, 5, 1.0),
        DataType::F4E2m1 | DataType::F4E3m0 => Draw::Of(&[-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]),
        DataType::F8E5m2 | DataType::F8E4m3 => Draw::Grid(-4, 4, 0.5),
        _ => Draw::Grid(-16, 16, 0.125),
    }
}

/// Numbers over a wide range.
fn wide(dtype: DataType) -> Draw {
    match dtype {
        DataType::U8 => Draw::Grid(0, 255, 1.0),
        DataType::S8 => Draw::Grid(-128, 127, 1.0),
        DataType::S32 | DataType::S64 => Draw::Grid(-70_000, 70_000, 1.0),
        DataType::U4 => Draw::Grid(0, 15, 1.0),
        DataType::S4 => Draw::Grid(-8, 7, 1.0),
        DataType::F32 | DataType::F64 | DataType::Bf16 | DataType::F16 => Draw::Grid(-640, 640, 1.0 / 64.0),
        d => small(d),
    }
}

fn by_operation(problem: &Problem, arg: Arg, dtype: DataType) -> Draw {
    match &problem.op {
        Op::Eltwise(e) => eltwise(e.alg, arg, dtype, f64::from(e.alpha.get())),
        Op::Binary(b) => match arg {
            Arg::SRC_2 => Draw::Of(&[0.0, 1.0]),
            Arg::SRC_1 if b.alg == BinaryAlg::Div => nonzero(dtype),
            _ => small(dtype),
        },
        Op::Reduction(r) if r.alg == ReductionAlg::Mul => match dtype {
            DataType::U8 => Draw::Of(&[1.0, 1.0, 1.0, 2.0]),
            d if d.is_integral() => Draw::Of(&[-1.0, 1.0, 1.0, 2.0]),
            _ => Draw::Of(&[-1.0, 1.0, 1.0, 1.0, 0.5, 2.0]),
        },
        Op::Softmax(_) if arg == Arg::DST => Draw::Grid(0, 16, 1.0 / 64.0),
        Op::Softmax(_) => match dtype {
            d if d.is_integral() => small(d),
            _ => Draw::Grid(-64, 64, 0.125),
        },
        Op::Reorder(_) | Op::Concat(_) | Op::Shuffle(_) | Op::Pool(_) => wide(dtype),
        Op::Rnn(r) => match dtype {
            DataType::U8 => Draw::Grid(0, 255, 1.0),
            DataType::S8 => whole_contraction(problem, r, arg),
            _ if arg == Arg::WEIGHTS_1 => contraction(r.weights_iter.dims()[2]),
            _ if arg == Arg::WEIGHTS_3 => contraction(r.weights_iter.dims()[4]),
            _ => Draw::Grid(-32, 32, 1.0 / 64.0),
        },
        _ => small(dtype),
    }
}

/// Weights, at most a half, of states with `n` elements that do not amplify them: a random matrix whose elements have the variance `1 / n`
/// has the spectral radius 1 (the circular law). With larger weights a network is chaotic, and the rounding error of one step grows beyond
/// any bound after a few dozen.
fn contraction(n: i64) -> Draw {
    let limit = (256.0 * (3.0 / n.max(1) as f64).sqrt()) as i64;
    Draw::Grid(-limit.clamp(1, 128), limit.clamp(1, 128), 1.0 / 256.0)
}

/// The same in whole numbers, for the weights that states go through from step to step or from layer to layer; others are at most 63.
fn whole_contraction(problem: &Problem, r: &Rnn, arg: Arg) -> Draw {
    let (scales, depth) = match arg {
        Arg::WEIGHTS if r.weights_layer.dims()[0] > 1 => (&problem.attr.rnn.weights, r.weights_layer.dims()[2]),
        Arg::WEIGHTS_1 => (&problem.attr.rnn.weights, r.weights_iter.dims()[2]),
        Arg::WEIGHTS_3 => (&problem.attr.rnn.projection, r.weights_iter.dims()[4]),
        _ => return Draw::Grid(-63, 63, 1.0),
    };
    let scale = scales.as_ref().and_then(|q| q.1.first()).map_or(1.0, |s| f64::from(s.get()));
    let limit = (scale * (3.0 / depth.max(1) as f64).sqrt()) as i64;
    Draw::Grid(-limit.clamp(1, 63), limit.clamp(1, 63), 1.0)
}

fn eltwise(alg: EltwiseAlg, arg: Arg, dtype: DataType, alpha: f64) -> Draw {
    use EltwiseAlg::*;
    if dtype.is_integral() {
        return match alg {
            Log | Sqrt | Pow => Draw::Grid(1, 9, 1.0),
            _ => wide(dtype),
        };
    }
    if arg == Arg::DIFF_DST {
        return Draw::Grid(-16, 16, 0.125);
    }
    match alg {
        Log | Pow => Draw::Grid(1, 640, 1.0 / 64.0),
        Sqrt | SqrtDst => Draw::Grid(1, 640, 1.0 / 64.0),
        LogisticDst | TanhDst => Draw::Grid(1, 63, 1.0 / 64.0),
        ExpDst => Draw::Grid(1, 640, 1.0 / 64.0),
        EluDst if alpha != 0.0 => Draw::Grid(-63, 640, alpha.abs() / 64.0),
        Exp => Draw::Grid(-320, 320, 1.0 / 64.0),
        _ => Draw::Grid(-640, 640, 1.0 / 64.0),
    }
}

/// Values that are mixed in because implementations like to get them wrong.
fn specials(problem: &Problem, arg: Arg, dtype: DataType) -> &'static [f64] {
    use EltwiseAlg::*;
    let floating = matches!(dtype, DataType::F32 | DataType::F64);
    match &problem.op {
        Op::Eltwise(e) if floating && arg == Arg::SRC && e.prop.is_forward() => match e.alg {
            Log | Sqrt | Pow | Exp | Square => &[],
            _ => &[0.0, -0.0, 1e-8, -1e-8, 60.0, -60.0],
        },
        Op::Reorder(_) if arg == Arg::SRC && floating && problem.attr.post_ops.is_empty() => &[0.5, -0.5, 1.5, 2.5, 300.0, -300.0, 1e-3],
        _ => &[],
    }
}

/// Fills the index arrays of `out` with a random pattern.
fn sparse_pattern(out: &HostTensor, s: &Sparse, rng: &mut Random) {
    let cells: i64 = out.tensor.dims().iter().product();
    // Choose `nnz` distinct cells in row-major order (selection sampling, Knuth's algorithm S).
    let mut nonzeros = Vec::with_capacity(s.nnz() as usize);
    for c in 0..cells {
        let needed = s.nnz() - nonzeros.len() as i64;
        if needed > 0 && rng.int(0, cells - c - 1) < needed {
            nonzeros.push(c);
        }
    }
    set_pattern(out, s, &nonzeros);
}

/// Stores the nonzeros of the row-major `dense` in `out` (and zeros, where it stores more): writes the index arrays, and gives the stored
/// values; `None` when there are more nonzeros than stored values.
pub fn sparse_from_dense(out: &HostTensor, s: &Sparse, dense: &[f64]) -> Option<Vec<f64>> {
    let nnz = s.nnz() as usize;
    let nonzeros = dense.iter().filter(|v| **v != 0.0).count();
    let mut spare = nnz.checked_sub(nonzeros)?;
    let keeps = |v: f64, spare: &mut usize| {
        v != 0.0
            || (*spare > 0 && {
                *spare -= 1;
                true
            })
    };
    let nonzeros: Vec<i64> = (0..dense.len()).filter(|&i| keeps(dense[i], &mut spare)).map(|i| i as i64).collect();
    set_pattern(out, s, &nonzeros);
    Some(nonzeros.iter().map(|&c| dense[c as usize]).collect())
}

/// Writes the index arrays for the stored cells, row-major indices in ascending order.
fn set_pattern(out: &HostTensor, s: &Sparse, nonzeros: &[i64]) {
    let dims = out.tensor.dims();
    match s {
        Sparse::Csr { .. } => {
            let cols = dims[1];
            let columns: Vec<i64> = nonzeros.iter().map(|c| c % cols).collect();
            let pointers: Vec<i64> = (0..=dims[0]).map(|r| nonzeros.iter().filter(|&&c| c / cols < r).count() as i64).collect();
            out.set_indices(1, &columns);
            out.set_indices(2, &pointers);
        }
        Sparse::Coo { .. } => {
            for d in 0..dims.len() {
                let inner: i64 = dims[d + 1..].iter().product();
                let indices: Vec<i64> = nonzeros.iter().map(|c| c / inner % dims[d]).collect();
                out.set_indices(1 + d, &indices);
            }
        }
        Sparse::Packed { .. } => {
            let (mut bits, mut starts) = (out.bytes(1), out.bytes(2));
            for (word, start) in starts.chunks_exact_mut(8).enumerate() {
                let before = nonzeros.iter().filter(|&&c| c < word as i64 * 64).count() as i64;
                start.copy_from_slice(&before.to_le_bytes());
            }
            for &c in nonzeros {
                bits[c as usize / 8] |= 1 << (c % 8);
            }
            out.set_bytes(1, &bits);
            out.set_bytes(2, &starts);
        }
    }
}
