//! Few outputs of large planes, forward: only the inputs of each output are read, where they are.

use super::place::Place;
use super::{Axis, corners, is_sparse};
use crate::CpuTarget;
use crate::kernels::convert::to_f32;
use crate::kernels::lookup::tap_of;
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::pointwise::{Builder, Results};
use crate::kernels::scratch::{Scratch, lend};
use crate::row::{Kernel, RowPlan};
use oxidnn_runtime::{Buf, Ctx, Pairs, Plan, Skip};
use oxidnn_spec::op::Resampling;
use oxidnn_spec::{Arg, DataType, Error, Op, Problem};

/// Outputs that are computed before they are stored, most outputs of a plane, and most inputs of an output.
const CHUNK: usize = 256;
const MAX_OUTPUTS: usize = 32 * CHUNK;
const MAX_TAPS: usize = 8;
/// Outputs of a task.
const TASK: usize = 4096;
/// Inputs for each output from which on single inputs are read.
const MIN_INPUTS_PER_OUTPUT: i64 = 8;

/// The kernel.
#[derive(Debug)]
struct Points {
    dtype: DataType,
    from: Place,
    to: Place,
    /// Outputs of a plane.
    count: usize,
    blocks: Vec<Block>,
    results: Results,
}

/// Some outputs of a plane: the places of the first input of each, then of the second ones, and their weights.
#[derive(Debug)]
struct Block {
    first: usize,
    count: usize,
    places: Pairs,
    weights: Vec<f32>,
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
        let is_known = matches!(op.src.dtype.bits(), 8 | 16 | 32) && !op.src.is_empty();
        if from.run != 1 || to.run != 1 || !(1..=MAX_OUTPUTS).contains(&count) || !dense || !is_known {
            return Err(Skip::Shape("many outputs of a plane, or channels that are neighbours"));
        }
        let mut outputs = Vec::new();
        for d in axes[0].all() {
            for h in axes[1].all() {
                let lines = corners(&d, &h).map(|([depth, height], weight)| (from.row(depth, height), weight));
                for taps in axes[2].all() {
                    let all = lines.iter().flat_map(|line| taps.map(|tap| (line.0 + tap.0, line.1 * tap.1)));
                    outputs.push(all.filter(|tap| tap.1 != 0.0).collect::<Vec<_>>());
                }
            }
        }
        let blocks = outputs.chunks(CHUNK).zip((0..).step_by(CHUNK)).map(|(outputs, first)| Block::new(outputs, first));
        let blocks = blocks.collect::<Option<_>>().ok_or(Skip::Shape("planes whose elements are far apart"))?;
        Ok(Points { dtype: op.src.dtype, from, to, count, blocks, results })
    }
}

impl Block {
    /// The outputs from `first` on, with their inputs. `None` if inputs are too far apart.
    fn new(outputs: &[Vec<(usize, f32)>], first: usize) -> Option<Block> {
        let most = outputs.iter().map(Vec::len).max()?;
        let taps: Vec<(usize, f32)> = (0..most).flat_map(|i| outputs.iter().map(move |taps| tap_of(taps, i, most))).collect();
        let places: Option<Vec<[u32; 2]>> = taps.iter().zip(0..).map(|(tap, i)| Some([i, u32::try_from(tap.0).ok()?])).collect();
        Some(Block { first, count: outputs.len(), places: Pairs::new(places?), weights: taps.iter().map(|tap| tap.1).collect() })
    }

    /// The outputs of the plane that begins at element `start`, by way of two lines.
    fn compute(&self, simd: Simd, (buf, dtype): (&Buf<'_>, DataType), start: usize, [made, inputs, numbers]: [&mut [f32]; 3]) {
        let (to, n) = (lend(inputs), self.weights.len());
        match dtype.bits() {
            8 => to.copy_places::<u8, u8>(0, (buf, start), &self.places, |x| x),
            16 => to.copy_places::<u16, u16>(0, (buf, start), &self.places, |x| x),
            _ => to.copy_places::<u32, u32>(0, (buf, start), &self.places, |x| x),
        }
        to_f32(simd, dtype, &bytemuck::cast_slice(inputs)[..n * dtype.bits() / 8], &mut numbers[..n]);
        weigh(simd, &numbers[..n], &self.weights, made);
    }
}

impl Kernel for Points {
    fn table_bytes(&self) -> usize {
        self.blocks.iter().map(|block| size_of::<Block>() + size_of_val(block.places.pairs()) + size_of_val(&block.weights[..])).sum()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        let (destination, source) = (self.results.bind(ctx)?, ctx.buf(Arg::SRC)?);
        let [images, channels] = self.to.counts;
        let each = (CHUNK / self.count).max(1);
        let of_task = (TASK / self.count).max(1).next_multiple_of(each);
        let parts = channels.div_ceil(of_task);
        ctx.executor().run(ctx.executor().threads(), images * parts, &|_, task| {
            let (image, start, mut stores) = (task / parts, task % parts * of_task, destination.stores());
            let [mut inputs, mut numbers] = [[0.0; CHUNK * MAX_TAPS]; 2];
            for first in (start..(start + of_task).min(channels)).step_by(each) {
                let (planes, to) = (each.min(channels - first), self.to.line([image, first, 0, 0]));
                for block in &self.blocks {
                    let mut made = [0.0; CHUNK];
                    for (plane, made) in made.chunks_exact_mut(block.count).take(planes).enumerate() {
                        let from = self.from.line([image, first + plane, 0, 0]);
                        block.compute(simd, (&source, self.dtype), from, [made, &mut inputs, &mut numbers]);
                    }
                    stores.store(simd, to + block.first, &made[..planes * block.count]);
                }
            }
        });
        self.results.pad(ctx)
    }
}

multiversion! {
    /// The sums of the inputs of each output, multiplied by their weights.
    fn weigh(inputs: &[f32], weights: &[f32], made: &mut [f32]) {
        for (i, (inputs, weights)) in inputs.chunks_exact(made.len()).zip(weights.chunks_exact(made.len())).enumerate() {
            let products = inputs.iter().zip(weights).map(|(x, weight)| x * weight);
            match i {
                0 => made.iter_mut().zip(products).for_each(|(sum, product)| *sum = product),
                _ => made.iter_mut().zip(products).for_each(|(sum, product)| *sum += product),
            }
        }
    }
}
