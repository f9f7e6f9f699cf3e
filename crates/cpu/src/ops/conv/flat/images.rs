//! Gradients of 1x1 weights over several NCHW images or groups, one by one: each is an inner product in place whose rows are the image's pixels.
//! The first image's gradients are written to the result, and those of the others are added to it.

use crate::CpuTarget;
use crate::decision::around;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::support::run_with;
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{Buf, Choose, Ctx, Decision, Exec, Plan, Region, Skip};
use oxidnn_spec::{Arg, DataType, Dims, Error, Layout, Problem, Tensor};
use std::sync::Arc;

/// Fewest pixels of an image: with more, adding the gradients of images costs little beside computing them. Measured on Zen 4.
const MIN_PIXELS: i64 = 512;
/// Elements that are added at a time.
const CHUNK: usize = 64;

/// The gradients of a group of an image, and how many of both there are.
#[derive(Debug)]
struct Images {
    inner: Box<dyn Plan>,
    count: usize,
    groups: usize,
}

/// The operands with an image for each element of the batch. The others are summed over images.
const PER_IMAGE_ARGS: [Arg; 2] = [Arg::SRC, Arg::DIFF_DST];

/// Plans a problem of resolved layouts and plain weights by the plan that `row` makes for one image, or for one of `groups` groups of it.
///
/// # Errors
/// Data that are not planes, few pixels, and problems that `row` does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget, groups: i64, row: Choose<CpuTarget>) -> Result<Box<dyn Plan>, Skip> {
    let refused = |e: Error| Skip::Layout(e.to_string());
    let (mut all, mut one, mut count) = (problem.clone(), problem.clone(), 0);
    for (all, one) in all.op.operands_mut().into_iter().zip(one.op.operands_mut()) {
        if !PER_IMAGE_ARGS.contains(&all.arg) {
            let dims = all.tensor.dims();
            let of_one = if groups > 1 { Dims::from_fn(dims.len() - 1, |d| dims[d + 1]) } else { *dims };
            *one.tensor = Tensor::plain(of_one, DataType::F32).map_err(refused)?;
            all.tensor.dtype = DataType::F32;
        } else {
            let mut dims = *all.tensor.dims();
            if Layout::with_tag(dims, "abx").ok().as_ref() != Some(&all.tensor.layout) || dims[2..].iter().product::<i64>() < MIN_PIXELS {
                return Err(Skip::Shape("other than large planes"));
            }
            (count, dims[0], dims[1]) = (dims[0] as usize, 1, dims[1] / groups);
            *one.tensor = Tensor::with_tag(dims, all.tensor.dtype, "abx").map_err(refused)?;
        }
    }
    let images = Images { inner: row(&one, target)?, count, groups: groups as usize };
    RowPlan::of(all, target, booked(&images.parts()), images)
}

impl Images {
    /// Elements of scratch: of one image's execution, and its gradients.
    fn parts(&self) -> [usize; 2] {
        [self.inner.scratch_bytes(), self.gradients()].map(|bytes| bytes.div_ceil(4))
    }

    /// Bytes of the gradients of one image.
    fn gradients(&self) -> usize {
        self.inner.problem().op.tensor(Arg::DIFF_WEIGHTS).map_or(0, Tensor::bytes)
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
        around("image by image", &*self.inner, self.count * self.groups, self.gradients())
    }

    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        self.inner.build()
    }

    fn run(&self, exec: &Arc<dyn Exec>, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        const TASK_ELEMENTS: usize = 64 * CHUNK;
        let [shared, count] = self.parts();
        let (shared, from) = (Region::host(scratch.take(shared)?.into_buf()), scratch.take(count)?.into_buf());
        let added = [Region::host(from)];
        let inner = &self.inner.problem().op;
        let bytes = PER_IMAGE_ARGS.map(|arg| inner.tensor(arg).map_or(0, Tensor::bytes));
        let (data, results) = ([ctx.buf(PER_IMAGE_ARGS[0])?, ctx.buf(PER_IMAGE_ARGS[1])?], ctx.buf(Arg::DIFF_WEIGHTS)?);
        for index in 0..self.count * self.groups {
            let (to, adds) = (results.part(index % self.groups * self.gradients(), self.gradients()), index >= self.groups);
            let parts: [_; 2] = std::array::from_fn(|i| [Region::host(data[i].part(index * bytes[i], bytes[i]))]);
            let first = [Region::host(to)];
            run_with(&**exec, ctx, shared, |bound| {
                bound.tensor = inner.tensor(bound.arg).unwrap_or(bound.tensor);
                let part = PER_IMAGE_ARGS.iter().position(|arg| *arg == bound.arg).map(|i| &parts[i]);
                let sums = (bound.arg == Arg::DIFF_WEIGHTS).then_some(if adds { &added } else { &first });
                bound.regions = part.or(sums).map_or(bound.regions, |region| region);
            })?;
            if adds {
                ctx.executor().run(ctx.executor().threads(), count.div_ceil(TASK_ELEMENTS), &|_, task| {
                    simd.run(Sum { from, to, first: task * TASK_ELEMENTS, end: count.min((task + 1) * TASK_ELEMENTS) });
                });
            }
        }
        Ok(())
    }
}
