//! Block-scaled data types: narrow floats with a scale per block.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, ReductionAlg};
use oxidnn_spec::{DataType, Dims, Tensor};

/// The dimension along which elements share a scale: the last one with fewer scales than elements.
fn direction(x: &Val, scale: &Val, block: i64) -> Result<usize, Failure> {
    let along = |d: &usize| scale.dims()[*d] < x.dims()[*d] && scale.dims()[*d].saturating_mul(block) >= x.dims()[*d];
    let found = (scale.rank() == x.rank()).then(|| (0..x.rank()).rev().find(along)).flatten();
    let found = found.or_else(|| (scale.dims() == x.dims() && block == 1).then(|| x.rank() - 1));
    found.ok_or_else(|| misfit("SCALE_DESC", scale.dims(), format_args!("{} with a scale for {block} elements of one dimension", x.dims())))
}

/// The scales in their memory layout: as their strides say, or in tiles of 128 x 4 (`F8_128x4`): 32 groups of 4 rows (r, r + 32, r + 64, r + 96), each
/// 16 contiguous scales.
fn tiled(scale: &Val, rows: usize, columns: usize, is_tiled: bool) -> Result<Val, Failure> {
    if !is_tiled {
        return Ok(scale.clone());
    }
    let dims = *scale.dims();
    let (m, k) = (dims[rows], dims[columns]);
    if m % 128 != 0 || k % 4 != 0 {
        return Err(misfit("SCALE_DESC", dims, "multiples of 128 rows and 4 columns in the order F8_128x4"));
    }
    let batch: i64 = dims.iter().enumerate().filter(|(d, _)| *d != rows && *d != columns).map(|(_, &v)| v).product();
    // Dimensions: batch, row / 128, row / 32 % 4, row % 32, column / 4, column % 4.
    let strides = Dims::from([m * k, k / 4 * 512, 4, 16, 512, 1]);
    let tensor = Tensor::with_strides(Dims::from([batch, m / 128, 4, 32, k / 4, 4]), scale.dtype(), Some(strides))?;
    Ok(Val { tensor, ..scale.clone() })
}

fn is_tiled(l: &Lowering<'_>, op: &Frozen, id: i32) -> bool {
    l.described(op, id).is_some_and(|t| t.reordering == i64::from(CUDNN_TENSOR_REORDERING_F8_128x4))
}

/// The row dimension of the tiles: the last one other than `along`.
fn other(rank: usize, along: usize) -> usize {
    (0..rank).rev().find(|&d| d != along).unwrap_or(0)
}

pub(super) fn dequantize(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    if op.flag(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_NEG_SCALE) {
        return Err(unsupported("NEG_SCALE: cuDNN does not say what it means"));
    }
    l.precision(op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_MATH_PREC);
    let x = l.read(op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC)?;
    let scale = l.read(op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC)?;
    let y = l.output(op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_YDESC)?;
    let block = op.int(CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_BLOCK_SIZE).unwrap_or(0);
    let d = direction(&x, &scale, block)?;
    let rows = other(x.rank(), d);
    let tiles = is_tiled(l, op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC);
    let dims = *scale.dims();
    let scale = tiled(&scale, rows, d, tiles)?;
    let scale = l.real(&scale)?;
    let mut scale = if tiles { untile(l, &scale, &dims, rows, d)? } else { scale };
    // Elements of tiles beyond the tensor are not read.
    let needed = (x.dims()[d] - 1) / block + 1;
    for (at, size) in [(d, needed), (rows, x.dims()[rows])] {
        if at != d || scale.dims()[at] > size {
            scale = scale.along(at, 0, size.min(scale.dims()[at]))?;
        }
    }
    let x = l.real(&x)?;
    let product = if x.dims()[d] % block == 0 {
        let split = |v: &Val, size: i64| {
            let mut dims = v.dims().to_vec();
            dims[d] = needed;
            dims.insert(d + 1, size);
            dims
        };
        let (wide, narrow) = (split(&x, block), split(&scale, 1));
        let (x, scale) = (l.reshaped(&x, &wide)?, l.reshaped(&scale, &narrow)?);
        let product = l.mul(&x, &scale)?;
        l.reshaped(&product, y.dims())?
    } else {
        return Err(misfit("XDESC", x.dims(), format_args!("whole blocks of {block}")));
    };
    l.store(&product, &y)
}

/// Tiled scales as a plain tensor of the declared sizes.
fn untile(l: &mut Lowering<'_>, scale: &Val, dims: &Dims, rows: usize, columns: usize) -> Result<Val, Failure> {
    let plain = l.reshaped(scale, &flat(scale))?;
    let batch: Vec<i64> = dims.iter().enumerate().filter(|(d, _)| *d != rows && *d != columns).map(|(_, &v)| v).collect();
    let mut shape = batch.clone();
    shape.extend([dims[rows], dims[columns]]);
    let plain = l.reshaped(&plain, &shape)?;
    // From batch, row, column to the declared order.
    let n = dims.len();
    let mut order = vec![0; n];
    let mut next = 0;
    for (d, place) in order.iter_mut().enumerate() {
        *place = if d == rows {
            n - 2
        } else if d == columns {
            n - 1
        } else {
            next += 1;
            next - 1
        };
    }
    plain.permuted(&order)
}

/// Batch, rows and columns of a tiled tensor.
fn flat(scale: &Val) -> [i64; 3] {
    let d = scale.dims();
    [d[0], d[1] * d[2] * d[3], d[4] * d[5]]
}

/// Largest finite values of narrow types.
const LARGEST: [(DataType, f64); 4] =
    [(DataType::F8E4m3, 448.0), (DataType::F8E5m2, 57344.0), (DataType::F4E2m1, 6.0), (DataType::S8, 127.0)];

/// The largest value of a type of blocks.
fn top(dtype: DataType) -> Result<f64, Failure> {
    LARGEST.iter().find(|r| r.0 == dtype).map(|r| r.1).ok_or_else(|| unsupported(format_args!("scales of blocks of {dtype}")))
}

/// A linear function whose values are rounded to the next larger number of a narrow type of scales: E8M0 drops the mantissa, E4M3 rounds to nearest, and
/// its numbers are 8 to 15 units of at least 2^-9, the smallest 0 to 7 of these.
fn next(scale: DataType) -> Option<[f32; 2]> {
    match scale {
        DataType::E8m0 => Some([2.0, 0.0]),
        DataType::F8E4m3 => Some([1.0626, 0.51 / 512.0]),
        _ => None,
    }
}

/// The scales of blocks with these largest magnitudes: the magnitude over the largest value of `dtype`, rounded up. Blocks of zeros get the smallest scale,
/// or 1 where that is zero.
fn scales(l: &mut Lowering<'_>, largest: &Val, dtype: DataType, scale: DataType) -> Result<Val, Failure> {
    let mut exact = l.with_number(BinaryAlg::Div, largest, top(dtype)?)?;
    if scale != DataType::E8m0 {
        let some = l.with_number(BinaryAlg::Ne, largest, 0.0)?;
        exact = l.select_or(&some, &exact, 1.0)?;
    }
    let Some(next) = next(scale) else { return l.cast(&exact, scale) };
    if scale == DataType::F8E4m3 {
        exact = l.with_number(BinaryAlg::Min, &exact, top(scale)?)?;
    }
    let made = l.cast(&exact, scale)?;
    let made = l.real(&made)?;
    let above = l.one(EltwiseAlg::Linear, next, &made)?;
    let below = l.two(BinaryAlg::Lt, &made, &exact)?;
    let made = l.select(&below, &above, &made)?;
    l.cast(&made, scale)
}

pub(super) fn quantize(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    l.precision(op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_MATH_PREC);
    let x = l.read(op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_XDESC)?;
    let y = l.output(op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_YDESC)?;
    let scale = l.output(op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_SCALE_DESC)?;
    let block = op.int(CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE).unwrap_or(0);
    let d = direction(&x, &scale, block)?;
    let n = x.rank();
    if x.dims()[d] % block != 0 {
        return Err(misfit("XDESC", x.dims(), format_args!("whole blocks of {block}")));
    }
    let count = x.dims()[d] / block;
    let sized = |v: &Val, blocks: i64, each: i64| {
        let mut dims = v.dims().to_vec();
        dims[d] = blocks;
        dims.insert(d + 1, each);
        dims
    };
    let (wide, narrow) = (sized(&x, count, block), sized(&x, count, 1));
    let x = l.reshaped(&x, &wide)?;
    let size = l.one(EltwiseAlg::Abs, [0.0; 2], &x)?;
    let largest = l.reduced(ReductionAlg::Max, &size, &narrow)?;
    let made = scales(l, &largest, y.dtype(), scale.dtype())?;
    let divisor = l.real(&made)?;
    let small = l.div(&x, &divisor)?;
    // A block may need a larger scale than there is.
    let top = top(y.dtype())?;
    let small = l.with_number(BinaryAlg::Min, &small, top)?;
    let small = l.with_number(BinaryAlg::Max, &small, -top)?;
    let small = l.reshaped(&small, y.dims())?;
    l.reorder(&small, &y)?;
    let mut dims = y.dims().to_vec();
    dims[d] = count;
    let made = l.reshaped(&made, &dims)?;
    let rows = other(n, d);
    if !is_tiled(l, op, CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_SCALE_DESC) {
        let part = if scale.dims() == made.dims() { scale } else { scale.part(made.dims(), &Dims::filled(n, 0))? };
        return l.reorder(&made, &part);
    }
    // Pad to whole tiles with 1.
    let padded = l.temp(Tensor::plain(*scale.dims(), scale.dtype())?);
    let one = l.constant(Tensor::plain([1], scale.dtype())?, |_| 1.0)?;
    l.reorder(&one.spread(scale.dims())?, &padded)?;
    l.reorder(&made, &padded.part(made.dims(), &Dims::filled(n, 0))?)?;
    let batches: Vec<usize> = (0..n).filter(|&i| i != rows && i != d).collect();
    let mut order = batches;
    order.extend([rows, d]);
    let sorted = padded.permuted(&order)?;
    let tiles = tiled(&scale, rows, d, true)?;
    let sorted = l.reshaped(&sorted, tiles.dims())?;
    l.reorder(&sorted, &tiles)
}
