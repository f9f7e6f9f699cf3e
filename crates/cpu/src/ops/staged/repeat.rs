//! Copies that repeat every element: a single channel of a group for each of several.

use crate::CpuTarget;
use crate::kernels::access::{Pos, View};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::row::{Kernel, RowPlan};
use oxidnn_runtime::{Ctx, Plan};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Error, MAX_NDIMS, Op, Problem, Tensor};

/// Elements of the copy that are written at a time, and in a task.
const CHUNK: usize = 1024;
const TASK_ELEMENTS: usize = 16 << 10;

#[derive(Debug)]
struct Repeat {
    /// Copies of an element.
    times: usize,
}

/// The copy of channels-last `src` in which every channel is repeated `times` times; `None` if one of the tensors is not dense.
pub(super) fn plan(src: &Tensor, dst: &Tensor, times: usize, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let flat = |t: &Tensor| {
        let last = Tensor::with_tag(*t.dims(), t.dtype, "axb").ok()?;
        let numbers = t.dims().volume()?;
        (last == *t).then(|| Tensor::with_tag([numbers], t.dtype, "a").ok())?
    };
    let fits = (1..=CHUNK).contains(&times);
    let problem = Problem { op: Op::Reorder(Reorder { src: flat(src)?, dst: flat(dst)? }), attr: Attr::default() };
    if fits { RowPlan::of(problem, target, Some(0), Repeat { times }).ok() } else { None }
}

impl Kernel for Repeat {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let (src, dst) = (View::of(simd, ctx, Arg::SRC)?, View::of(simd, ctx, Arg::DST)?);
        let all = src.dims()[0] as usize;
        let (line, task) = (CHUNK / self.times, (TASK_ELEMENTS / self.times).max(1));
        ctx.executor().run(ctx.executor().threads(), all.div_ceil(task), &|_, index| {
            let end = all.min((index + 1) * task);
            let (mut from, mut to) = ([0.0; CHUNK], [0.0; CHUNK]);
            for first in (index * task..end).step_by(line) {
                let from = &mut from[..line.min(end - first)];
                let to = &mut to[..from.len() * self.times];
                let at = |element: usize| {
                    let mut pos: Pos = [0; MAX_NDIMS];
                    pos[0] = element as i64;
                    pos
                };
                src.read(&at(first), 0, from);
                match self.times {
                    2 => repeat::<2>(from, to),
                    3 => repeat::<3>(from, to),
                    4 => repeat::<4>(from, to),
                    times => to.chunks_exact_mut(times).zip(&*from).for_each(|(to, x)| to.fill(*x)),
                }
                dst.write(&at(first * self.times), 0, to);
            }
        });
        Ok(())
    }
}

fn repeat<const TIMES: usize>(from: &[f32], to: &mut [f32]) {
    to.as_chunks_mut::<TIMES>().0.iter_mut().zip(from).for_each(|(to, x)| *to = [*x; TIMES]);
}
