//! `flat:jit`: gradients of 1x1 weights as those of an inner product whose rows are the pixels of all images.
//!
//! NCHW tensors are multiplied in place, several images [one by one](images); rows for channels last would transpose them. For 16-bit NHWC
//! tensors one side is transposed, while other rows interleave both.

mod images;

use super::weights::{Setup, tiled};
use super::window::is_pointwise;
use crate::CpuTarget;
use crate::ops::support::{self, is_generated};
use crate::ops::{rows, staged};
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::InnerProduct;
use oxidnn_spec::{DataType, Op, Problem, Tensor};

/// Most pixels of an image for which a copy to channels last takes less time than beginning a product for each group of one channel. Measured
/// on Zen 4.
const MAX_COPIED_PIXELS: i64 = 2048;

/// Plans `problem`.
///
/// # Errors
/// Other problems, and layouts that the rows of inner product do not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let setup = Setup::of(&problem.op)?;
    let (s, single) = (setup.sizes, setup.x.1.dtype == DataType::F32);
    if s.o.iter().fold(1i64, |n, size| n.saturating_mul(*size)) <= MAX_COPIED_PIXELS || !single {
        super::dense(problem)?;
    }
    support::known(problem)?;
    if !is_pointwise(&s) {
        return Err(Skip::Shape("windows of several pixels, strides or padding"));
    }
    let mut problem = problem.clone();
    if s.g > 1 && s.ic.min(s.oc) == 1 {
        // Channels last, all lanes but those of a group would be idle.
        for o in problem.op.operands_mut().into_iter().filter(|o| o.tensor.layout.is_any()) {
            support::resolve(o.tensor, "abx")?;
        }
    }
    tiled::resolve(&mut problem, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let mut plain = problem.clone();
    let (src, weights, dst) = match &mut plain.op {
        Op::Conv(op) => {
            let op = &mut **op;
            (&op.src, &mut op.weights, &op.dst)
        }
        Op::Deconv(op) => {
            let op = &mut **op;
            (&op.src, &mut op.weights, &op.dst)
        }
        _ => return Err(Skip::Op("anything but convolution")),
    };
    *weights = Tensor::plain(*weights.dims(), weights.dtype).map_err(|e| Skip::Layout(e.to_string()))?;
    let inner = flat([src, &*weights, dst]);
    let none = || Skip::Layout("of data, nor any that inner products take".into());
    let inner = match inner {
        Ok(inner) if s.g == 1 => inner,
        _ if s.g.max(s.mb) > 1 => {
            let images = images::plan(&plain, target, s.g, self::plan)?;
            return if *images.problem() == problem { Ok(images) } else { staged::copied(&problem, images, target).ok_or_else(none) };
        }
        inner => inner?,
    };
    let closest = |t: &Tensor, d: usize| t.blocking().is_some_and(|b| b.strides[d] == 1);
    let planes = closest(&inner.src, 0) && closest(&inner.dst, 0);
    let interleaved = inner.src.dtype == DataType::Bf16 && !isa.amx && closest(&inner.src, 1) && closest(&inner.dst, 1);
    if !planes && !interleaved {
        return Err(Skip::Layout("of data: neither pixels closest nor 16-bit channels".into()));
    }
    // Weights of another layout are reordered afterwards, which must take less time than copying the data.
    let copied = if plain.op == problem.op { 0 } else { inner.weights.bytes() };
    if inner.src.bytes().saturating_add(inner.dst.bytes()) < copied {
        return Err(Skip::Shape("few pixels"));
    }
    let inner = Problem::new(inner, problem.attr.clone()).map_err(|e| Skip::Layout(e.to_string()))?;
    let chosen = rows(&inner.op).iter().filter(is_generated).find_map(|row| (row.plan)(&inner, target).ok()).ok_or_else(none)?;
    let viewed = staged::viewed(plain.clone(), chosen, target)?;
    if plain.op == problem.op { Ok(viewed) } else { staged::copied(&problem, viewed, target).ok_or_else(none) }
}

/// The inner product of source, gradient of weights and gradient of the result.
fn flat([src, weights, dst]: [&Tensor; 3]) -> Result<InnerProduct, Skip> {
    let pixels = |t: &Tensor| {
        let n = t.dims().len();
        let order: Vec<usize> = [0, n - 1].into_iter().chain(1..n - 1).collect();
        let count = t.dims()[..1].iter().chain(&t.dims()[2..]).product::<i64>();
        let layout = t.layout.permute(&order).and_then(|l| l.reshape(&[count, t.dims()[1]]));
        layout.map(|layout| Tensor { dtype: t.dtype, layout }).map_err(|_| Skip::Layout("of data: pixels at several distances".into()))
    };
    let layout = weights.layout.reshape(&[dst.dims()[1], src.dims()[1]]).map_err(|e| Skip::Layout(e.to_string()))?;
    let weights = Tensor { dtype: weights.dtype, layout };
    Ok(InnerProduct { prop: oxidnn_spec::Prop::BackwardWeights, src: pixels(src)?, weights, bias: None, dst: pixels(dst)? })
}
