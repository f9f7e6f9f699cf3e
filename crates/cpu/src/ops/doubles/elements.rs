//! `doubles:portable` of element-wise operations: functions of one and two operands, and reorders, with an operand of `f64` or `s64`, in `f64`.

use crate::CpuTarget;
use crate::decision::How;
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{CHUNK, GRAIN, Nest, Place, split};
use crate::kernels::scratch::Scratch;
use crate::ops::{fallback, support};
use crate::row::{Kernel, RowPlan};
use oxidnn_expr::{binary, eltwise, number};
use oxidnn_reference::View;
use oxidnn_runtime::{Buf, Ctx, Decision, Plan, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem};

/// Elements of a core in a cycle.
const ELEMENTS_PER_CYCLE: f64 = 0.05;

/// What happens to elements.
#[derive(Clone, Copy, Debug)]
enum Function {
    Copy,
    Forward(EltwiseAlg, f32, f32),
    Backward(EltwiseAlg, f32, f32),
    Binary(BinaryAlg),
}

#[derive(Debug)]
struct Elements {
    function: Function,
    /// The result, then what it is made of, with their types.
    operands: Vec<(Arg, DataType)>,
    nest: Nest,
    workers: usize,
}

/// Takes operations without other attributes.
///
/// # Errors
/// [`Skip`] of what it does not take.
pub(in crate::ops) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        support::known(problem)?;
        support::dense(problem)?;
        let (function, args) = match &problem.op {
            Op::Eltwise(op) if op.prop.is_forward() => (Function::Forward(op.alg, op.alpha.get(), op.beta.get()), vec![Arg::DST, Arg::SRC]),
            Op::Eltwise(op) => {
                let data = if op.alg.uses_dst() { Arg::DST } else { Arg::SRC };
                (Function::Backward(op.alg, op.alpha.get(), op.beta.get()), vec![Arg::DIFF_SRC, Arg::DIFF_DST, data])
            }
            Op::Binary(op) if op.src2.is_none() => (Function::Binary(op.alg), vec![Arg::DST, Arg::SRC, Arg::SRC_1]),
            // An s64 that is copied or rounded has more bits than an f64.
            Op::Reorder(op) if op.src.dtype == DataType::S64 => return Err(Skip::DataType("s64 that is copied".into())),
            Op::Reorder(op) if op.dst.blocking().is_none_or(|b| b.compensation.is_none()) => (Function::Copy, vec![Arg::DST, Arg::SRC]),
            _ => return Err(Skip::Op("another operation than of single elements, or a choice")),
        };
        if !(Attr { scratchpad: Default::default(), ..problem.attr.clone() }).is_default() {
            return Err(Skip::Attr("that changes elements".into()));
        }
        let tensors: Option<Vec<_>> = args.iter().map(|arg| problem.op.tensor(*arg)).collect();
        let tensors = tensors.ok_or(Skip::Op("without an operand"))?;
        if tensors.iter().all(|t| t.dtype.bits() < 64) || tensors.iter().any(|t| t.dtype.bits() < 8) {
            return Err(Skip::DataType("of 64 bits in no operand, or of less than a byte in one".into()));
        }
        let places: Option<Vec<Place>> = tensors.iter().map(|t| Place::of(&t.layout)).collect();
        let nest = places.and_then(|places| Nest::kept(tensors[0].dims(), u32::MAX, &places));
        let nest = nest.ok_or_else(|| Skip::Layout("blocks that do not nest".into()))?;
        let operands = args.into_iter().zip(tensors.iter().map(|t| t.dtype)).collect();
        Ok((Elements { function, operands, nest, workers: target.threads }, 0))
    })
}

/// An element as `f64`.
fn load(buf: Buf<'_>, dtype: DataType, at: usize) -> f64 {
    match (dtype, dtype.bits()) {
        (DataType::F64, _) => buf.get(at),
        (DataType::F32, _) => buf.get::<f32>(at).into(),
        (_, 8) => number::decode(dtype, buf.get::<u8>(at).into()),
        (_, 16) => number::decode(dtype, buf.get::<u16>(at).into()),
        (_, 32) => number::decode(dtype, buf.get::<u32>(at).into()),
        _ => number::decode(dtype, buf.get(at)),
    }
}

/// Stores an element: rounded to nearest, ties to even, and saturated.
fn store(buf: Buf<'_>, dtype: DataType, at: usize, x: f64) {
    let bits = number::encode(dtype, x);
    match dtype.bits() {
        8 => buf.set(at, bits as u8),
        16 => buf.set(at, bits as u16),
        32 => buf.set(at, bits as u32),
        _ => buf.set(at, bits),
    }
}

impl Kernel for Elements {
    fn decision(&self, problem: &Problem) -> Decision {
        How::new("the definition in f64, chunk by chunk", ELEMENTS_PER_CYCLE, self.workers).decision(problem)
    }

    fn run(&self, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let mut bufs = [Buf::empty(); 3];
        for (buf, (arg, _)) in bufs.iter_mut().zip(&self.operands) {
            *buf = ctx.buf(*arg)?;
        }
        split(ctx.executor(), self.nest.volume(), GRAIN, &|range| {
            self.nest.walk(range, |chunk| {
                let offset = |t: usize, i: usize| {
                    (chunk.at[t] + (i / chunk.run) as i64 * chunk.outer[t] + (i % chunk.run) as i64 * chunk.inner[t]) as usize
                };
                let mut numbers = [[0.0; CHUNK]; 2];
                for (t, x) in (1..self.operands.len()).zip(&mut numbers) {
                    x.iter_mut()
                        .take(chunk.positions())
                        .enumerate()
                        .for_each(|(i, x)| *x = load(bufs[t], self.operands[t].1, offset(t, i)));
                }
                for (i, (x, y)) in numbers[0].iter().zip(&numbers[1]).enumerate().take(chunk.positions()) {
                    let result = match self.function {
                        Function::Copy => *x,
                        Function::Forward(alg, alpha, beta) => eltwise::forward(alg, alpha, beta, *x),
                        Function::Backward(alg, alpha, beta) => eltwise::backward(alg, alpha, beta, *x, *y),
                        Function::Binary(alg) => binary::apply(alg, *x, *y, 0.0),
                    };
                    store(bufs[0], self.operands[0].1, offset(0, i), result);
                }
            });
        });
        View::of(&fallback::Arguments(ctx), self.operands[0].0)?.zero_padding();
        Ok(())
    }
}
