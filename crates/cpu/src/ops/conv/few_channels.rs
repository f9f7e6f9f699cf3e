//! `few_channels:jit`: windows of one pixel from planes (NCHW) to few channels, as products of matrices of few columns: each channel of the source is read
//! once, in long runs, where other rows would transpose it or read some pixels of all channels at a time.

use super::window::{Setup, is_pointwise};
use crate::CpuTarget;
use crate::ops::{matmul, staged, support};
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Attr, Op, PostOp, Problem, Tensor};

/// Plans `problem`.
///
/// # Errors
/// What are no such windows, and products that the row of matrices of few columns does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolution")) };
    if !op.prop.is_forward() {
        return Err(Skip::Op("this propagation kind"));
    }
    let s = Setup::of(&problem.op)?;
    if s.sizes.g != 1 || !is_pointwise(&s.sizes) || op.src.layout.is_any() {
        return Err(Skip::Shape("groups, or windows of several pixels, strides or padding; or no given layout of the source"));
    }
    support::known(problem)?;
    let mut resolved = problem.clone();
    if let Op::Conv(op) = &mut resolved.op {
        support::resolve(&mut op.weights, "abx")?;
        support::resolve(&mut op.dst, "abx")?;
    }
    resolved.resolve();
    support::dense(&resolved)?;
    let none = || Skip::Layout("of operands that are no matrices".into());
    let product = product(&resolved).ok_or_else(none)?;
    staged::viewed(resolved, matmul::few_columns(&product, target)?, target)
}

/// The product whose rows are the pixels of an image, and whose columns are channels.
fn product(problem: &Problem) -> Option<Problem> {
    let Op::Conv(op) = &problem.op else { return None };
    let attr = &problem.attr;
    if !attr.scales.is_empty() || !attr.zero_points.is_empty() || attr.dropout.is_some() || !attr.rounding.is_empty() {
        return None;
    }
    let post_op = |post_op: &PostOp| {
        let mut post_op = post_op.clone();
        match &mut post_op {
            PostOp::Sum { .. } | PostOp::Eltwise { .. } => {}
            PostOp::Binary { src1, src2: None, .. } => *src1 = matrices(src1)?,
            PostOp::Prelu { mask } if *mask >> 2 == 0 => *mask = *mask & 1 | (*mask & 2) << 1,
            _ => return None,
        }
        Some(post_op)
    };
    let post_ops = attr.post_ops.iter().map(post_op).collect::<Option<_>>()?;
    let [channels, depth] = [0, 1].map(|d| op.weights.dims()[d]);
    let layout = op.weights.layout.reshape(&[1, channels, depth]).and_then(|l| l.permute(&[0, 2, 1])).ok()?;
    let bias = match &op.bias {
        Some(bias) => Some(Tensor { dtype: bias.dtype, layout: bias.layout.reshape(&[1, 1, channels]).ok()? }),
        None => None,
    };
    let weights = Tensor { dtype: op.weights.dtype, layout };
    Problem::new(Matmul { src: matrices(&op.src)?, weights, bias, dst: matrices(&op.dst)? }, Attr { post_ops, ..attr.clone() }).ok()
}

/// Images as matrices, whose rows are pixels.
fn matrices(t: &Tensor) -> Option<Tensor> {
    let (dims, n) = (t.dims(), t.dims().len());
    let order: Vec<usize> = [0, n - 1].into_iter().chain(1..n - 1).collect();
    let pixels = dims[2..].iter().product::<i64>();
    let layout = t.layout.permute(&order).and_then(|l| l.reshape(&[dims[0], pixels, dims[1]])).ok()?;
    Some(Tensor { dtype: t.dtype, layout })
}
