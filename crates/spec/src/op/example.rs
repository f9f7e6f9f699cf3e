//! Example sizes for operations whose sizes come with their executions.

use super::{Op, Window};
use crate::{Dims, RUNTIME, Tensor};

/// A size that is many of everything that kernels take at a time, and has many divisors.
const SIZE: i64 = 48;

/// `op` with sizes for those that are open. `fixed` are the sizes of its result, where they are known from elsewhere.
pub(crate) fn of(op: &Op, fixed: &Dims) -> Op {
    let unit = match op {
        Op::Shuffle(x) => x.group_size,
        Op::GroupNorm(x) => x.groups,
        _ => 1,
    };
    let size = |d: usize| match fixed.get(d) {
        Some(&known) if known != RUNTIME => known,
        _ => unit.saturating_mul((SIZE / unit.max(1)).max(1)),
    };
    let mut sized = op.clone();
    for o in sized.operands_mut().into_iter().filter(|o| o.tensor.layout.has_runtime()) {
        let dims = *o.tensor.dims();
        set(o.tensor, Dims::from_fn(dims.len(), |d| if dims[d] == RUNTIME { size(d) } else { dims[d] }));
    }
    match (&mut sized, op) {
        (Op::Conv(x), Op::Conv(open)) => {
            slide(&open.window, x.weights.dims(), [&mut x.src, &mut x.dst], [open.src.dims(), open.dst.dims()])
        }
        (Op::Deconv(x), Op::Deconv(open)) => {
            slide(&open.window, x.weights.dims(), [&mut x.dst, &mut x.src], [open.dst.dims(), open.src.dims()])
        }
        (Op::Pool(x), Op::Pool(open)) => slide(&open.window, &open.kernel, [&mut x.src, &mut x.dst], [open.src.dims(), open.dst.dims()]),
        (Op::Concat(x), Op::Concat(_)) => {
            let mut dims = *x.dst.dims();
            dims[x.axis] = x.srcs.iter().map(|s| s.dims()[x.axis]).fold(0, i64::saturating_add);
            set(&mut x.dst, dims);
        }
        (Op::Matmul(x), Op::Matmul(open)) => {
            let n = x.src.dims().len();
            if open.src.dims()[n - 1] == RUNTIME {
                let ([mut src, mut weights], depth) = ([*x.src.dims(), *x.weights.dims()], SIZE);
                (src[n - 1], weights[n - 2]) = (depth, depth);
                set(&mut x.src, src);
                set(&mut x.weights, weights);
            }
        }
        (Op::Resampling(x), Op::Resampling(open)) => {
            let (mut src, mut dst) = (*x.src.dims(), *x.dst.dims());
            for (d, factor) in (2..src.len()).zip(&open.factors) {
                let factor = f64::from(factor.get());
                match (open.src.dims()[d], open.dst.dims()[d]) {
                    (_, RUNTIME) => dst[d] = (src[d] as f64 * factor) as i64,
                    (RUNTIME, known) => src[d] = (known as f64 / factor).round() as i64,
                    _ => {}
                }
            }
            set(&mut x.src, src);
            set(&mut x.dst, dst);
        }
        _ => {}
    }
    sized
}

/// Gives a tensor these sizes; its layout is that of an example already, or takes its strides from them.
fn set(tensor: &mut Tensor, dims: Dims) {
    if *tensor.dims() != dims || tensor.layout.has_runtime() {
        tensor.layout = match tensor.layout.has_runtime() {
            true => tensor.layout.at_sizes(dims),
            false => tensor.layout.resized(dims),
        };
    }
}

/// Input and output spatial sizes of a window, the open ones of which `open` marks; the window's sizes are the last ones of `kernel`.
fn slide(window: &Window, kernel: &Dims, [wide, narrow]: [&mut Tensor; 2], open: [&Dims; 2]) {
    let (mut w, mut n) = (*wide.dims(), *narrow.dims());
    let spatial = w.len().saturating_sub(2);
    for j in 0..spatial {
        let k = kernel[kernel.len() - spatial + j];
        if let Some([wide, narrow]) = window.example(j, k, [open[0][j + 2], open[1][j + 2]], SIZE) {
            (w[j + 2], n[j + 2]) = (wide, narrow);
        }
    }
    set(wide, w);
    set(narrow, n);
}
