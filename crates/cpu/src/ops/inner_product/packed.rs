//! `packed:portable`: inner product, all three passes, as a matrix product in which the source's channels and pixels are one dimension, in
//! the order of the weights.

use crate::CpuTarget;
use crate::kernels::access::{Axis, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::dot::pack::Source;
use crate::kernels::dot::panel_width;
use crate::kernels::dot::product::{Operand, Product, scratch_len};
use crate::kernels::epilogue::{self, Epilogue};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::kernels::tile::layout::panel_tag;
use crate::ops::matmul::few;
use crate::ops::support;
use crate::row::{Kernel, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::{InnerProduct, Prop};
use oxidnn_spec::{Arg, Attr, Dims, Error, Op, Problem, Tensor};

#[derive(Debug)]
struct Packed {
    attr: Attr,
    prop: Prop,
    /// The merged dimensions of source and weights, slowest first.
    inner: Vec<usize>,
    workers: usize,
    scratch: usize,
}

/// Takes products of all types up to 32 bits.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    let Op::InnerProduct(op) = &mut problem.op else { return Err(Skip::Op("anything but inner product")) };
    let (inputs, output) = match op.prop {
        Prop::BackwardData => ([&op.dst, &op.weights], &op.src),
        Prop::BackwardWeights => ([&op.src, &op.dst], &op.weights),
        _ => ([&op.src, &op.weights], &op.dst),
    };
    for t in inputs {
        support::operand_type(t.dtype)?;
    }
    epilogue::check(&problem.attr, output)?;
    check_scales(&problem.attr)?;
    resolve(op, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    let scratch = scratch_len(target.isa, target.threads);
    let (Some(scratch), Some(scratch_bytes)) = (scratch, scratch.and_then(|s| booked(&[s]))) else {
        return Err(TOO_LARGE);
    };
    let kernel = Packed { attr: problem.attr.clone(), prop: op.prop, inner: inner(&op.weights), workers: target.threads, scratch };
    RowPlan::of(problem, target, Some(scratch_bytes), kernel)
}

/// Refuses scales that vary along K.
pub(super) fn check_scales(attr: &Attr) -> Result<(), Skip> {
    let mask = |arg: Arg| attr.scales.get(&arg).map_or(0, |q| q.mask);
    let grouped = attr.scales.values().any(|q| !q.groups.is_empty());
    match mask(Arg::SRC) == 0 && mask(Arg::WEIGHTS) <= 1 && !grouped && attr.zero_points.keys().all(|a| *a == Arg::DST) {
        true => Ok(()),
        false => Err(Skip::Attr("quantisation that differs along the reduction".into())),
    }
}

/// Whether the channels of a tensor, or of panels, have larger strides than its pixels.
pub(super) fn channels_first(t: &Tensor) -> bool {
    let farther = |strides: &Dims| (2..t.dims().len()).all(|d| t.dims()[d] == 1 || strides[1] > strides[d]);
    t.blocking().is_some_and(|b| b.inner.iter().all(|(d, _)| d != 1) && farther(&b.strides))
}

/// Whether weights of open layout stay plain, because the result has so few channels.
pub(super) fn stay_plain(op: &InnerProduct, target: &CpuTarget) -> bool {
    let dims = op.weights.dims();
    let depth = dims[1..].iter().fold(1, |all: usize, n| all.saturating_mul((*n).max(0) as usize));
    few::stay_plain(&op.weights, dims[0], depth, target)
}

/// The layout of weights that are not in panels, in the order of the source.
pub(super) fn plain_tag(op: &InnerProduct) -> &'static str {
    if op.src.dims().len() > 2 && !channels_first(&op.src) { "axb" } else { "abx" }
}

/// Dimensions of K of weights in panels whose words have `together` elements, slowest first: in the order of the source, if its lines are
/// whole words.
pub(super) fn depth(op: &InnerProduct, together: usize) -> Vec<usize> {
    let n = op.src.dims().len();
    if n > 2 && channels_first(&op.src) && op.src.dims()[n - 1] % together as i64 == 0 {
        (1..n).collect()
    } else {
        (2..n).chain([1]).collect()
    }
}

/// Resolves open layouts: weights to panels of the result's columns, data to the order of the weights.
pub(super) fn resolve(op: &mut InnerProduct, target: &CpuTarget) -> Result<(), Skip> {
    let n = op.weights.dims().len();
    let spatial = n > 2;
    let panels = |weights: &Tensor, depth: &[usize], column: usize| {
        let width = panel_width(target.isa, weights.dims()[column].max(0) as usize);
        panel_tag(n, depth, column, width, 1)
    };
    let tag = match op.prop {
        Prop::BackwardData if spatial => plain_tag(op).to_string(),
        Prop::BackwardData => panels(&op.weights, &[0], 1),
        _ if stay_plain(op, target) => plain_tag(op).to_string(),
        _ => panels(&op.weights, &depth(op, 1), 0),
    };
    support::resolve(&mut op.weights, &tag)?;
    let tag = if channels_first(&op.weights) || !spatial { "abx" } else { "axb" };
    support::resolve(&mut op.src, tag)?;
    support::resolve(&mut op.dst, "ab")
}

/// The dimensions behind the first of weights, in memory order if that is one of the two usual ones.
pub(super) fn inner(weights: &Tensor) -> Vec<usize> {
    let n = weights.dims().len();
    if channels_first(weights) { (1..n).collect() } else { (2..n).chain([1]).collect() }
}

impl Kernel for Packed {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let result = match self.prop {
            Prop::BackwardData => Arg::DIFF_SRC,
            Prop::BackwardWeights => Arg::DIFF_WEIGHTS,
            _ => Arg::DST,
        };
        let before = self.before(simd, ctx)?;
        let tail = Epilogue::new(Chain::new(simd, ctx, &self.attr, result)?.with(&before))?;
        tail.dst().zero_padding();
        if tail.dst().dims().contains(&0) {
            return Ok(());
        }
        let source = |arg: Arg| Source::plain(simd, ctx, arg);
        let dst = tail.dst().dims();
        let inner = &self.inner[..];
        let (a, b, rows, columns) = match self.prop {
            Prop::BackwardData => {
                let (a, b) = (source(Arg::DIFF_DST)?, source(Arg::WEIGHTS)?);
                (Operand::new(a, &[0], &[1]), Operand::new(b, inner, &[0]), Axis::new(&[0], dst), Axis::new(inner, dst))
            }
            Prop::BackwardWeights => {
                // The side that is contiguous in the gradient gives the columns.
                let (src, diff) = (Operand::new(source(Arg::SRC)?, inner, &[0]), Operand::new(source(Arg::DIFF_DST)?, &[1], &[0]));
                let (long, short) = (Axis::new(inner, dst), Axis::new(&[0], dst));
                let panels = tail.dst().blocking().inner.iter().last().is_some_and(|b| b.0 == 0);
                if panels { (src, diff, long, short) } else { (diff, src, short, long) }
            }
            _ => {
                let (a, b) = (source(Arg::SRC)?, source(Arg::WEIGHTS)?);
                (Operand::new(a, &[0], inner), Operand::new(b, &[0], inner), Axis::new(&[0], dst), Axis::new(&[1], dst))
            }
        };
        let exact = if self.prop.is_forward() { support::exact_depth([&a.source, &b.source], &self.attr) } else { None };
        let product = Product { batch: Dims::default(), a, b, tail, rows, columns, exact };
        product.run(simd, ctx.executor(), self.workers, &mut scratch.take(self.scratch)?);
        Ok(())
    }
}

impl Packed {
    /// What is applied to sums before the post-ops.
    fn before<'a>(&self, simd: Simd, ctx: &Ctx<'a>) -> Result<Before<'a>, Error> {
        if !self.prop.is_forward() {
            return Ok(Before::default());
        }
        let src = View::of(simd, ctx, Arg::SRC)?;
        let scale = || Broadcast::scale(simd, ctx, &self.attr, Arg::WEIGHTS, View::of(simd, ctx, Arg::WEIGHTS)?.dims());
        Before::by_channel(ctx, &self.attr, Arg::SRC, &src, || Ok(scale()?.permuted(&[None, Some(0)])))
    }
}
