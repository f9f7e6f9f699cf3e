//! Few outputs of large planes, forward: the inputs of each output are read in place, for many planes at a time.

use super::place::Place;
use super::{Axis, MIN_INPUTS_PER_OUTPUT, corners, is_sparse};
use crate::CpuTarget;
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::pointwise::{Builder, Kind, Memory, Results};
use crate::kernels::scratch::Scratch;
use crate::row::{Kernel, RowPlan};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::Resampling;
use oxidnn_spec::{Arg, DataType, Error, Op, Problem};

/// Outputs that are computed before they are stored.
const CHUNK: usize = 512;

/// The kernel.
#[derive(Debug)]
struct Points {
    dtype: DataType,
    from: Place,
    to: Place,
    /// The inputs of every output of a plane, with their weights.
    outputs: Vec<Vec<(usize, f32)>>,
    results: Results,
}

/// Plans a resampling by points.
///
/// # Errors
/// [`Skip`] for planes of which most inputs are used, for other layouts, and for attributes with other tensors.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Resampling(op) if is_sparse(op, MIN_INPUTS_PER_OUTPUT) => Ok((Points::new(op, problem)?, 0)),
        _ => Err(Skip::Shape("planes of which more than a few points are inputs")),
    })
}

impl Points {
    fn new(op: &Resampling, problem: &Problem) -> Result<Points, Skip> {
        let results = Results::new(Builder::new(problem, op.dst.dims(), None)?, Arg::DST)?;
        let (from, to) = (Place::of(Arg::SRC, &op.src)?, Place::of(Arg::DST, &op.dst)?);
        let (axes, (_, sizes)) = (Axis::all_of(op)?, op.spatial());
        let [depths, heights, widths] = sizes.map(|n| n as usize);
        let count = depths.saturating_mul(heights).saturating_mul(widths);
        let follows = |size: usize, stride: usize, next: usize| size == 1 || stride == next;
        let dense = follows(heights, to.strides[3], widths) && follows(depths, to.strides[2], heights * widths) && to.strides[1] == count;
        if from.run != 1 || to.run != 1 || !(1..=CHUNK).contains(&count) || !dense || op.src.is_empty() || op.src.dtype.bits() > 32 {
            return Err(Skip::Shape("many outputs of a plane, or channels that are neighbours"));
        }
        let mut outputs = Vec::new();
        for d in axes[0].all() {
            for h in axes[1].all() {
                let lines = corners(&d, &h).map(|([depth, height], weight)| (from.row(depth, height), weight));
                for taps in axes[2].all() {
                    let all = lines.iter().flat_map(|line| taps.map(|tap| (line.0 + tap.0, line.1 * tap.1)));
                    outputs.push(all.filter(|tap| tap.1 != 0.0).collect());
                }
            }
        }
        Ok(Points { dtype: op.src.dtype, from, to, outputs, results })
    }
}

impl Kernel for Points {
    fn table_bytes(&self) -> usize {
        self.outputs.iter().map(|taps| size_of_val(taps) + size_of_val(&taps[..])).sum()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        let destination = self.results.bind(ctx)?;
        let memory = Memory { buf: ctx.buf(Arg::SRC)?, kind: Kind::Number(self.dtype) };
        let ([images, channels], count) = (self.to.counts, self.outputs.len());
        let each = CHUNK / count;
        let parts = channels.div_ceil(each);
        ctx.executor().run(ctx.executor().threads(), images * parts, &|_, task| {
            let (image, first) = (task / parts, task % parts * each);
            let planes = each.min(channels - first);
            let [mut inputs, mut sums, mut made] = [[0.0; CHUNK]; 3];
            let (inputs, sums) = (&mut inputs[..planes], &mut sums[..planes]);
            let start = self.from.line([image, first, 0, 0]);
            for (output, taps) in self.outputs.iter().enumerate() {
                for (i, (at, weight)) in taps.iter().enumerate() {
                    memory.read(simd, start + at, self.from.strides[1], inputs);
                    add(simd, &mut *sums, inputs, *weight, i == 0);
                }
                made[output..].iter_mut().step_by(count).zip(&*sums).for_each(|(made, sum)| *made = *sum);
            }
            destination.stores().store(simd, self.to.line([image, first, 0, 0]), &made[..planes * count]);
        });
        self.results.pad(ctx)
    }
}

multiversion! {
    /// `to += weight * line`, or `to = weight * line` for the first.
    fn add(to: &mut [f32], line: &[f32], weight: f32, first: bool) {
        match first {
            true => to.iter_mut().zip(line).for_each(|(t, x)| *t = weight * x),
            false => to.iter_mut().zip(line).for_each(|(t, x)| *t += weight * x),
        }
    }
}
