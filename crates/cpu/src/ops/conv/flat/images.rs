//! Gradients of 1x1 weights over several NCHW images, image by image: each is an inner product in place whose rows are the image's pixels.
//! The first image's gradients are written to the result, and those of the others are added to it.

use crate::CpuTarget;
use crate::decision::around;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::support::run_with;
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{Buf, Choose, Ctx, Decision, Exec, Plan, Region, Skip};
use oxidnn_spec::{Arg, DataType, Error, Layout, Problem, Tensor};
use std::sync::Arc;

/// Fewest pixels of an image: with more, adding the gradients of images costs little beside computing them. Measured on Zen 4.
const MIN_PIXELS: i64 = 512;
/// Elements that are added at a time.
const CHUNK: usize = 64;

/// The gradients of an image, its sizes, and how many there are.
#[derive(Debug)]
struct Images {
    inner: Box<dyn Plan>,
    count: usize,
}

/// The operands with an image for each element of the batch, and those that are summed over images.
const PER_IMAGE_ARGS: [Arg; 2] = [Arg::SRC, Arg::DIFF_DST];
const SUMMED_ARGS: [Arg; 2] = [Arg::DIFF_WEIGHTS, Arg::DIFF_BIAS];

/// Plans a problem of resolved layouts and plain weights by the plan that `row` makes for one image.
///
/// # Errors
/// Data that are not planes, few pixels, and problems that `row` does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget, row: Choose<CpuTarget>) -> Result<Box<dyn Plan>, Skip> {
    let (mut all, mut one, mut count) = (problem.clone(), problem.clone(), 0);
    for (all, one) in all.op.operands_mut().into_iter().zip(one.op.operands_mut()) {
        if SUMMED_ARGS.contains(&all.arg) {
            (all.tensor.dtype, one.tensor.dtype) = (DataType::F32, DataType::F32);
        } else {
            let mut dims = *all.tensor.dims();
            if Layout::with_tag(dims, "abx").ok().as_ref() != Some(&all.tensor.layout) || dims[2..].iter().product::<i64>() < MIN_PIXELS {
                return Err(Skip::Shape("other than large planes"));
            }
            (count, dims[0]) = (dims[0] as usize, 1);
            *one.tensor = Tensor::with_tag(dims, all.tensor.dtype, "abx").map_err(|e| Skip::Layout(e.to_string()))?;
        }
    }
    let images = Images { inner: row(&one, target)?, count };
    RowPlan::of(all, target, booked(&images.parts()), images)
}

impl Images {
    /// Elements of scratch: of one image's execution, its weight gradients and its bias gradients.
    fn parts(&self) -> [usize; 3] {
        let [weights, bias] = SUMMED_ARGS.map(|arg| self.inner.problem().op.tensor(arg).map_or(0, |t| t.bytes().div_ceil(4)));
        [self.inner.scratch_bytes().div_ceil(4), weights, bias]
    }
}

/// Numbers that are added to others.
struct Sum<'a> {
    from: Buf<'a>,
    to: Buf<'a>,
    first: usize,
    end: usize,
}

impl Body for Sum<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let (mut from, mut to) = ([0.0f32; CHUNK], [0.0f32; CHUNK]);
        for first in (self.first..self.end).step_by(CHUNK) {
            let n = CHUNK.min(self.end - first);
            self.from.read(first, &mut from[..n]);
            self.to.read(first, &mut to[..n]);
            to.iter_mut().zip(&from).for_each(|(to, from)| *to += from);
            self.to.write(first, &to[..n]);
        }
    }
}

impl Generated for Images {
    type Code = Arc<dyn Exec>;

    fn decision(&self, _: &Problem) -> Decision {
        let bytes = self.inner.problem().op.tensor(Arg::DIFF_WEIGHTS).map_or(0, Tensor::bytes);
        around("image by image", &*self.inner, self.count, bytes)
    }

    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        self.inner.build()
    }

    fn run(&self, exec: &Arc<dyn Exec>, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        const TASK_ELEMENTS: usize = 64 * CHUNK;
        let missing = || Error::Runtime("gradients without an operand".into());
        let [shared, weights, bias] = self.parts();
        let counts = [weights, bias];
        let shared = Region::host(scratch.take(shared)?.into_buf());
        let sums = [[Region::host(scratch.take(weights)?.into_buf())], [Region::host(scratch.take(bias)?.into_buf())]];
        let inner = &self.inner.problem().op;
        let bytes = PER_IMAGE_ARGS.map(|arg| inner.tensor(arg).map_or(0, Tensor::bytes));
        let data = [ctx.buf(PER_IMAGE_ARGS[0])?, ctx.buf(PER_IMAGE_ARGS[1])?];
        for image in 0..self.count {
            let parts: [_; 2] = std::array::from_fn(|i| [Region::host(data[i].part(image * bytes[i], bytes[i]))]);
            run_with(&**exec, ctx, shared, |bound| {
                bound.tensor = inner.tensor(bound.arg).unwrap_or(bound.tensor);
                let part = PER_IMAGE_ARGS.iter().position(|arg| *arg == bound.arg).map(|i| &parts[i]);
                let sum = SUMMED_ARGS.iter().position(|arg| *arg == bound.arg).filter(|_| image > 0).map(|i| &sums[i]);
                bound.regions = part.or(sum).map_or(bound.regions, |region| region);
            })?;
            for ((arg, sum), count) in
                SUMMED_ARGS.iter().zip(&sums).zip(counts).filter(|((arg, _), _)| image > 0 && ctx.bound(**arg).is_some())
            {
                let (from, to) = (sum[0].bytes().ok_or_else(missing)?, ctx.buf(*arg)?);
                ctx.executor().run(ctx.executor().threads(), count.div_ceil(TASK_ELEMENTS), &|_, task| {
                    simd.run(Sum { from, to, first: task * TASK_ELEMENTS, end: count.min((task + 1) * TASK_ELEMENTS) });
                });
            }
        }
        Ok(())
    }
}
