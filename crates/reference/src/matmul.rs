//! Matrix multiplication with everything that quantisation asks of it.
//!
//! What is summed is `(src - zero_point) * (weights - zero_point)`, in `f64` and in the order of `k`. A scale that differs along K (groups)
//! multiplies its operand before the sum, any other scale the finished sum, so that integer problems accumulate whole numbers. Where the
//! caller passes sums of an operand ([`Attr::precomputed_reductions`]), the other operand's zero point is applied through them instead.

#[cfg(test)]
mod tests;

use crate::dot::products;
use crate::sparse::{Entries, PackedSparse};
use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, Attr, Dims, Error, Format, MAX_NDIMS, Quant, QuantMode, Sparse};

/// Computes a matmul; needs `dot::SCRATCH`.
pub(crate) fn run<'a>(op: &Matmul, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let out = Output::of(attr, args)?;
    let dims = *out.tail.dst().dims();
    let (n, batch) = (dims.len(), &dims[..dims.len() - 2]);
    if let Some(entries) = Entries::of(args, Arg::SRC, &op.src)? {
        let weights = View::of(args, Arg::WEIGHTS)?;
        let mut one = |k: i64, n: i64| weights.get(&[k, n]);
        entries.as_left([dims[0], dims[1]], scratch, &mut one, |m, n0, sums| out.row(&[], [m, n0], sums));
    } else if let Some(entries) = Entries::of(args, Arg::WEIGHTS, &op.weights)? {
        let src = View::of(args, Arg::SRC)?;
        let mut one = |m: i64, k: i64| src.get(&[m, k]);
        entries.as_right([dims[0], dims[1]], scratch, &mut one, |m, n0, sums| out.row(&[], [m, n0], sums));
    } else {
        let (left, right) = (Side::of(attr, args, Arg::SRC, n - 1)?, Side::of(attr, args, Arg::WEIGHTS, n - 2)?);
        let product = Product { correction: Correction::of(attr, args, &left, &right)?, left, right, out };
        let size = [dims[n - 2], dims[n - 1], product.left.dims()[n - 1]];
        for_each_position(batch, |batch| product.matrix(batch, size, scratch));
        product.out.tail.dst().zero_padding();
        return Ok(());
    }
    out.tail.dst().zero_padding();
    Ok(())
}

/// Where finished sums go.
struct Output<'a> {
    bias: Option<View<'a>>,
    tail: Epilogue<'a>,
    /// Scales of the destination that the library computes.
    dynamic: Option<&'a Quant>,
}

impl<'a> Output<'a> {
    fn of(attr: &'a Attr, args: &'a dyn Args) -> Result<Output<'a>, Error> {
        let dynamic = attr.scales.get(&Arg::DST).filter(|q| q.mode != QuantMode::Static);
        Ok(Output { bias: View::optional(args, Arg::BIAS)?, tail: Epilogue::new(attr, args, Arg::DST)?, dynamic })
    }

    /// Finishes scaled sums of row `m` from column `n` on.
    fn row(&self, batch: &[i64], [m, n]: [i64; 2], sums: &mut [f64]) {
        let mut pos = Place::new(batch, m, n);
        for sum in &mut *sums {
            *sum = self.tail.value_of_sum(&pos, *sum + self.bias.map_or(0.0, |b| b.get(&pos)));
            if self.dynamic.is_none() {
                self.tail.write(&pos, *sum);
            }
            pos.next_column();
        }
        if let Some(quant) = self.dynamic {
            self.tail.write_dynamic(quant, &mut Place::new(batch, m, n).v[..batch.len() + 2], sums);
        }
    }
}

/// A position: batch, row, column.
#[derive(Clone, Copy)]
struct Place {
    v: [i64; MAX_NDIMS],
    n: usize,
}

impl Place {
    #[inline]
    fn new(batch: &[i64], row: i64, column: i64) -> Place {
        let mut v = [0; MAX_NDIMS];
        let n = batch.len() + 2;
        v[..n - 2].copy_from_slice(batch);
        (v[n - 2], v[n - 1]) = (row, column);
        Place { v, n }
    }

    fn next_column(&mut self) {
        self.v[self.n - 1] += 1;
    }
}

impl std::ops::Deref for Place {
    type Target = [i64];
    #[inline]
    fn deref(&self) -> &[i64] {
        &self.v[..self.n]
    }
}

/// The stored numbers of an operand.
enum Values<'a> {
    Dense(View<'a>),
    Packed(PackedSparse<'a>),
}

/// One operand with its quantisation.
struct Side<'a> {
    values: Values<'a>,
    zero_point: Factor<'a>,
    scale: Factor<'a>,
    /// The scale differs along K.
    scale_inside: bool,
}

impl<'a> Side<'a> {
    fn of(attr: &Attr, args: &'a dyn Args, arg: Arg, k_dim: usize) -> Result<Side<'a>, Error> {
        let values = match args.tensor(arg).map(|t| &t.layout.format) {
            Some(Format::Sparse(Sparse::Packed { .. })) => Values::Packed(PackedSparse::of(args, arg)?),
            _ => Values::Dense(View::of(args, arg)?),
        };
        let dims = match &values {
            Values::Dense(v) => v.dims(),
            Values::Packed(p) => p.dims(),
        };
        let scale = Factor::scale(attr, args, arg, dims)?;
        let zero_point = Factor::zero_point(attr, args, arg, dims)?;
        Ok(Side { scale_inside: scale.varies(k_dim), values, zero_point, scale })
    }

    fn dims(&self) -> &'a Dims {
        match &self.values {
            Values::Dense(v) => v.dims(),
            Values::Packed(p) => p.dims(),
        }
    }

    /// The term at `pos`, its zero point subtracted unless that is left to the correction.
    #[inline]
    fn term(&self, pos: &[i64], subtract: bool) -> f64 {
        let mut x = match &self.values {
            Values::Dense(v) => v.get(pos),
            Values::Packed(p) => p.get(pos),
        };
        if subtract && !self.zero_point.is_default() {
            x -= self.zero_point.at(pos);
        }
        if self.scale_inside { x * self.scale.at(pos) } else { x }
    }

    /// The part of the scale that multiplies before the sum.
    fn scale_of_terms(&self, pos: &[i64]) -> f64 {
        if self.scale_inside { self.scale.at(pos) } else { 1.0 }
    }

    /// The part of the scale that multiplies the sum.
    fn scale_of_sum(&self, pos: &[i64]) -> f64 {
        if self.scale_inside { 1.0 } else { self.scale.at(pos) }
    }
}

/// Sums of the operands over groups of `group` terms that the caller has already.
struct Correction<'a> {
    group: i64,
    src: Option<Factor<'a>>,
    weights: Option<Factor<'a>>,
}

impl<'a> Correction<'a> {
    fn of(attr: &Attr, args: &'a dyn Args, left: &Side<'a>, right: &Side<'a>) -> Result<Option<Correction<'a>>, Error> {
        let n = left.dims().len();
        let given = |arg: Arg, dims: &[i64]| match attr.precomputed_reductions.get(&arg) {
            Some(q) => Factor::new(Some(q), args, Arg::precomputed(arg), dims, 0.0).map(|f| Some((f, q))),
            None => Ok(None),
        };
        let (src, weights) = (given(Arg::SRC, left.dims())?, given(Arg::WEIGHTS, right.dims())?);
        let along = |q: &Quant, d: usize| {
            let depth_size = left.dims()[n - 1];
            if q.mask >> d & 1 == 0 { depth_size } else { q.groups.get(d + 2 - n).copied().unwrap_or(1).max(1) }
        };
        let groups = [src.as_ref().map(|s| along(s.1, n - 1)), weights.as_ref().map(|w| along(w.1, n - 2))];
        let Some(group) = groups.into_iter().flatten().min() else { return Ok(None) };
        Ok(Some(Correction { group: group.max(1), src: src.map(|s| s.0), weights: weights.map(|w| w.0) }))
    }
}

struct Product<'a> {
    left: Side<'a>,
    right: Side<'a>,
    correction: Option<Correction<'a>>,
    out: Output<'a>,
}

impl Product<'_> {
    /// The product of the matrices at `batch`.
    fn matrix(&self, batch: &[i64], size: [i64; 3], scratch: &mut [f64]) {
        let given = |f: fn(&Correction<'_>) -> bool| self.correction.as_ref().is_some_and(f);
        let (left_whole, right_whole) = (!given(|c| c.weights.is_some()), !given(|c| c.src.is_some()));
        products(
            size,
            scratch,
            |m, k| Some(self.left.term(&Place::new(batch, m, k), left_whole)),
            |k, n| self.right.term(&Place::new(batch, k, n), right_whole),
            |m, n0, sums| {
                let left_scale = self.left.scale_of_sum(&Place::new(batch, m, 0));
                for (n, sum) in (n0..).zip(sums.iter_mut()) {
                    let correction = self.correction.as_ref().map_or(0.0, |c| self.correct(c, batch, [m, n, size[2]]));
                    *sum = (*sum + correction) * (left_scale * self.right.scale_of_sum(&Place::new(batch, 0, n)));
                }
                self.out.row(batch, [m, n0], sums);
            },
        );
    }

    /// What the zero points left out of the terms add to the sum, from the given sums `S` and `W` of source and weights over each group:
    /// `-zw * S - zs * W + zs * zw * count`, where the sum that is not given is already without its zero point.
    fn correct(&self, c: &Correction<'_>, batch: &[i64], [m, n, terms]: [i64; 3]) -> f64 {
        let mut total = 0.0;
        for k in (0..terms).step_by(c.group as usize) {
            let (l, r) = (Place::new(batch, m, k), Place::new(batch, k, n));
            let count = c.group.min(terms - k) as f64;
            let (zs, zw) = (self.left.zero_point.at(&l), self.right.zero_point.at(&r));
            let part = match (&c.src, &c.weights) {
                (Some(s), Some(w)) => zs * zw * count - zw * s.at(&l) - zs * w.at(&r),
                (Some(s), None) => -zw * (s.at(&l) - zs * count),
                (None, Some(w)) => -zs * (w.at(&r) - zw * count),
                (None, None) => 0.0,
            };
            total += part * (self.left.scale_of_terms(&l) * self.right.scale_of_terms(&r));
        }
        total
    }
}
