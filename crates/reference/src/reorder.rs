//! Reorder: layout, type, scales, zero points, a sum, and the int32 sums after int8 weights.
//!
//! To a packed sparse destination only the values that are not zero after conversion are written.
//!
//! `dst = (src_scale (src - src_zero_point) + sum_scale dst_old) / dst_scale + dst_zero_point`; the library finds a dynamic `dst_scale` itself. Runtime dimensions are those of the arguments.

#[cfg(test)]
mod tests;

use crate::copy::Copy;
use crate::region::Region;
use crate::sparse::PackedSparse;
use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_expr::{number, quant};
use oxidnn_spec::op::{Reorder, RnnScaling};
use oxidnn_spec::{Arg, Attr, Blocking, Compensation, Dims, Error, Format, QuantMode, RnnQuant};
use std::cell::Cell;

pub(crate) fn run<'a>(attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let src = View::of(args, Arg::SRC)?;
    let scale = Factor::scale(attr, args, Arg::SRC, src.dims())?;
    let zero_point = Factor::zero_point(attr, args, Arg::SRC, src.dims())?;
    if let Some((tensor, Format::Sparse(_))) = args.tensor(Arg::DST).map(|t| (t, &t.layout.format)) {
        if src.dims() != tensor.dims() {
            return Err(Error::arg(Arg::DST, tensor.dims(), src.dims()));
        }
        let dst_scale = Factor::scale(attr, args, Arg::DST, src.dims())?;
        return PackedSparse::of(args, Arg::DST)?.pack(Arg::DST, |pos| {
            let real = quant::dequantise(src.get(pos), scale.at(pos), zero_point.at(pos));
            number::round_to(tensor.dtype, real / dst_scale.at(pos))
        });
    }
    let tail = Epilogue::new(attr, args, Arg::DST)?;
    let dst = tail.dst();
    if src.dims() != dst.dims() {
        return Err(Error::arg(Arg::DST, dst.dims(), src.dims()));
    }
    let adjust = compensation(args).and_then(|(_, c)| c.scale_adjust).map_or(1.0, |s| f64::from(s.get()));
    let network = network(attr, args);
    let network = network.as_ref().and_then(|x| x.rnn_scaling(&attr.rnn));
    let real = |pos: &[i64], v| {
        let real = quant::dequantise(v, scale.at(pos), zero_point.at(pos)) * adjust;
        network.map_or(real, |n| real * scale_at(&n, src.dims(), pos) + f64::from(n.shift.get()))
    };
    match attr.scales.get(&Arg::DST).filter(|q| q.mode != QuantMode::Static) {
        Some(quant) => tail.finish_dynamic(quant, |pos| real(pos, src.get(pos))),
        None => {
            let copy = Copy::new(src, tail, attr).times(adjust);
            for_each_position(src.dims(), |pos| copy.element(pos, pos, |v| real(pos, v)));
        }
    }
    dst.zero_padding();
    compensate(args, &dst)
}

/// The operation, where attributes of a recurrent network may mean something for it.
fn network(attr: &Attr, args: &dyn Args) -> Option<Reorder> {
    if attr.rnn == RnnQuant::default() {
        return None;
    }
    Some(Reorder { src: args.tensor(Arg::SRC)?.clone(), dst: args.tensor(Arg::DST)?.clone() })
}

fn scale_at(n: &RnnScaling<'_>, dims: &Dims, pos: &[i64]) -> f64 {
    let masked = (0..dims.len()).filter(|d| n.mask >> d & 1 == 1);
    let index = masked.fold(0, |index, d| index * dims[d] + pos[d]);
    n.scales.get(index as usize).map_or(1.0, |s| f64::from(s.get()))
}

fn compensation(args: &dyn Args) -> Option<(&Blocking, Compensation)> {
    let blocking = args.tensor(Arg::DST)?.blocking()?;
    Some((blocking, blocking.compensation?))
}

/// Writes the sums after the data: `-128 sum(w)` for a source shifted from s8 to u8, then `-sum(w)` for a source with a zero point, each over
/// the dimensions that its mask leaves out, row-major over the padded sizes of those it names; 0 for padding.
fn compensate(args: &dyn Args, dst: &View<'_>) -> Result<(), Error> {
    let (Some((blocking, c)), Some(tensor), Some(bytes)) = (compensation(args), args.tensor(Arg::DST), args.data(Arg::DST, 0)) else {
        return Ok(());
    };
    let mut at = tensor.compensation_at().unwrap_or(0);
    for (mask, factor) in [(c.s8s8_mask, -128.0), (c.zero_point_mask, -1.0)] {
        let Some(mask) = mask else { continue };
        let named = |d: usize| mask >> d & 1 == 1;
        let sums = Dims::from_fn(dst.dims().len(), |d| if named(d) { blocking.padded_dims[d] } else { 1 });
        for_each_position(&sums, |pos| {
            let inside = pos.iter().zip(dst.dims().iter()).all(|(p, d)| p < d);
            let kept = (0..pos.len()).filter(|&d| named(d));
            let region = kept.fold(Region::all(dst.dims()), |r, d| r.along(d, pos[d], 1));
            let sum = if inside { factor * region.sum(|q| dst.get(q)) } else { 0.0 };
            put(bytes, at, sum as i32);
            at += 4;
        });
    }
    Ok(())
}

fn put(bytes: &[Cell<u8>], at: usize, value: i32) {
    for (cell, byte) in bytes.iter().skip(at).zip(value.to_le_bytes()) {
        cell.set(byte);
    }
}
