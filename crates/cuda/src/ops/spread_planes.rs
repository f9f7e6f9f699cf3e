//! The gradient of linear resampling of NCHW, along rows after columns (`kernels/spread_planes.cu`).

use super::map::Map;
use super::planes::{FINISH_RUN, is_in_runs};
use crate::ops::ceil;
use crate::program::{MapPlace, Program};
use oxidnn_spec::{Arg, Layout, Tensor};

/// Bytes of sums of a CTA, and of its shared memory, at most.
const SUMS: i64 = 32 * 1024;
const MOST: i64 = 48 * 1024 - 64;
/// Elements that a thread writes together.
const WIDE: i64 = 4;
/// Elements of a plane for which a CTA is worth its tables, at least.
const LARGE: i64 = 1024;

/// How planes are divided into bands.
pub(crate) struct Shape {
    vector: i64,
    band: i64,
    /// Sums of a row, with free places.
    pitch: i64,
    shared: i64,
    /// Output rows or columns that use an element, at most.
    most: i64,
}

/// The division; `None` if planes are small, or if the rows of diff_dst are not contiguous, too long or not aligned to vectors.
pub(crate) fn shape(from: &Tensor, dst: &Layout, most: i64) -> Option<Shape> {
    let (b, dims) = (from.blocking().filter(|b| b.is_plain() && b.padded_dims == *from.dims())?, from.dims());
    let plain = dst.blocking().is_some_and(|b| b.is_plain() && b.padded_dims == dst.dims);
    let vector = 16 / (from.dtype.bits() as i64 / 8).max(2);
    let whole = |n: i64| n % vector == 0;
    let strides = (0..3).all(|d| dims[d] == 1 || whole(b.strides[d]));
    let [rows, columns] = [dst.dims[2], dst.dims[3]];
    if !plain
        || b.strides[3] != 1
        || !whole(b.offset)
        || !strides
        || !whole(dims[3])
        || dims.iter().any(|&n| n < 1)
        || rows.checked_mul(columns)? < LARGE
    {
        return None;
    }
    let pitch = dims[3] + dims[3] / 32 + 1;
    let bands = ceil(rows, (SUMS / (4 * pitch)).max(1));
    let band = ceil(rows, bands);
    let shared = 4 * (band * pitch + (columns + band) * (most + 1));
    let few = dims[2].max(dims[3]) <= i64::from(u16::MAX) && ceil(columns, WIDE) <= 256;
    (few && shared <= MOST).then_some(Shape { vector, band, pitch, shared, most })
}

/// The program; `map` has the epilogue, the view `from`, and the functions of `resample.cuh`.
pub(crate) fn program(map: Map<'_>, from: &Tensor, dst: &Layout, shape: &Shape) -> Program {
    let Shape { vector, band, pitch, shared, most } = *shape;
    let (mut emit, dims, bands) = (map.emit, &dst.dims, ceil(dst.dims[2], band));
    emit.define("RANK", dst.ndims());
    for (name, value) in [("VECTOR", vector), ("RUN", WIDE), ("MOST", most)] {
        emit.option(name, value);
    }
    let step = from.blocking().map_or(0, |b| b.strides[2]);
    for (name, value) in
        [("bands", bands), ("band", band), ("pitch", pitch), ("from_step", step), ("runs", i64::from(is_in_runs(dst, WIDE)))]
    {
        emit.number(name, value);
    }
    emit.sizes("channels", &[dims[1]]);
    emit.sizes("vectors", &[from.dims()[3] / vector]);
    emit.numbers("length", dims);
    emit.code(FINISH_RUN);
    let blocks = (dims[0] * dims[1] * bands).min(i64::from(i32::MAX)) as u32;
    let mut launch = emit.launch_blocks("spread_planes", [blocks, 1, 1]);
    launch.shared = shared as u32;
    launch.aligned = vec![MapPlace::Arg(Arg::DIFF_DST, 0)];
    Program { launches: vec![launch], ..Program::default() }
}
