//! Pooling of NCHW images with small square windows, in registers (`kernels/pool_strips.cu`, `pool_strips_backward.cu`).

use super::windows::geometry;
use crate::emit::{Emitter, Real, Tail, View, literal, memory_order};
use crate::ops::ceil;
use crate::program::{Launch, MapPlace};
use oxidnn_expr::number;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Pool, PoolAlg};
use oxidnn_spec::{Arg, Problem, Tensor};

/// Strips of two rows that fill a GPU.
const MANY: i64 = 1 << 17;

/// Windows with the same size, stride and padding along both dimensions.
#[derive(Clone, Copy)]
struct Windows {
    kernel: i64,
    stride: i64,
    padding: i64,
}

impl Windows {
    /// The windows of an operation, if they are small and an output row is `stride` times shorter than an input row.
    fn of(op: &Pool) -> Option<Windows> {
        let (w, dims) = (&op.window, op.src.dims());
        let [kernel, stride, padding] = [op.kernel.first(), w.strides.first(), w.padding_l.first()].map(|n| n.copied().unwrap_or(0));
        let square = op.kernel[..] == [kernel; 2] && w.strides[..] == [stride; 2] && w.padding_l[..] == [padding; 2];
        let small =
            matches!(kernel, 2 | 3) && matches!(stride, 1 | 2) && (0..kernel).contains(&padding) && w.dilations.iter().all(|&d| d == 0);
        (dims.len() == 4 && square && small && op.dst.dims()[3].checked_mul(stride) == Some(dims[3])).then_some(Windows {
            kernel,
            stride,
            padding,
        })
    }
}

/// Whether rows can be accessed in vectors of `n`.
fn is_run(t: &Tensor, n: i64) -> bool {
    let whole = |d: usize, b: &oxidnn_spec::Blocking| t.dims()[d] == 1 || b.strides[d] % n == 0;
    t.blocking().is_some_and(|b| {
        b.is_plain()
            && b.padded_dims == *t.dims()
            && t.dtype.bits() >= 8
            && b.strides[3] == 1
            && b.offset % n == 0
            && (0..3).all(|d| whole(d, b))
    })
}

/// The launch, forward or backward; `None` for other windows or layouts.
pub(crate) fn pool(problem: &Problem, op: &Pool) -> Result<Option<Launch>, Skip> {
    let (real, forward) = (Real::of(problem), op.prop.is_forward());
    let Some(windows) = Windows::of(op).filter(|_| real == Real::Single && !op.dst.is_empty() && !op.src.is_empty()) else {
        return Ok(None);
    };
    let bytes = op.src.dtype.bits() as i64 / 8;
    let fits = |n: i64| {
        let results = op.workspace.iter().chain([&op.dst]).all(|t| is_run(t, n / windows.stride));
        n * bytes <= 16 && n * bytes >= 4 && n % windows.stride == 0 && op.src.dims()[3] % n == 0 && is_run(&op.src, n) && results
    };
    let Some(vector) = [8, 4, 2].into_iter().find(|&n| fits(n)) else { return Ok(None) };
    let (file, to) = if forward { ("pool_strips", &op.dst) } else { ("pool_strips_backward", &op.src) };
    let dims = to.dims();
    let of = |tall: i64| [dims[0], dims[1], ceil(dims[2], tall), op.src.dims()[3] / vector];
    let count = |tall: i64| of(tall).iter().fold(1i64, |n, &size| n.saturating_mul(size));
    let tall = if forward && count(2) < MANY { 1 } else { 2 };
    let mut emit = Emitter::new(real, op.src.dims().volume().unwrap_or(i64::MAX));
    for (name, value) in
        [("KERNEL", windows.kernel), ("STRIDE", windows.stride), ("PADDING", windows.padding), ("VECTOR", vector), ("TALL_STRIP", tall)]
    {
        emit.option(name, value);
    }
    emit.define("RANK", 4);
    emit.define("ACROSS", 1);
    let [arg, read] = if forward { [Arg::DST, Arg::SRC] } else { [Arg::DIFF_SRC, Arg::DIFF_DST] };
    emit.tail(&Tail::of(problem, arg, to))?;
    emit.view(&if forward { View::of("src", read, &op.src) } else { View::of("diff_dst", read, &op.dst) })?;
    if op.alg == PoolAlg::Max {
        emit.option("MAXIMUM", 1);
        emit.define("LOWEST", literal(number::lowest(op.dst.dtype)));
    }
    if let Some(ws) = &op.workspace {
        emit.option("KEPT", 1);
        emit.view(&View { padded: forward, ..View::of("ws", Arg::WORKSPACE, ws) })?;
    }
    geometry(op, &mut emit);
    emit.traversal("strip_of", &of(tall), &memory_order(&to.layout));
    emit.number("strips", count(tall));
    emit.numbers("length", dims);
    let mut launch = emit.launch(file, count(tall));
    launch.aligned = op.workspace.iter().map(|_| Arg::WORKSPACE).chain([read, arg]).map(|arg| MapPlace::Arg(arg, 0)).collect();
    Ok(Some(launch))
}
