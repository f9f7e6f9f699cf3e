//! What happens to a result between its accumulation and memory, the same for every primitive.
//!
//! In order: dropout, post-ops as listed, division by the destination's scale, its zero point, rounding (stochastic where asked for) and
//! conversion to the destination's type. Before that the primitive itself has multiplied by the scales of its sources ([`Factor`]) and added
//! its bias. Everything is looked up once in [`Epilogue::new`]; the element functions do not allocate.

#[cfg(test)]
mod tests;

use crate::region::Region;
use crate::{Args, View, for_each_position};
use oxidnn_expr::{Num, binary, eltwise, number, philox, quant};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, MAX_POST_OPS, PostOp, Quant, QuantMode, Rounding};
use std::cell::Cell;
use std::ops::Range;

/// Scales or zero points of one argument: a number for each position of its tensor.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    numbers: Option<Numbers<'a>>,
    default: f64,
}

#[derive(Clone, Copy)]
struct Numbers<'a> {
    view: View<'a>,
    strides: Dims,
    groups: Dims,
}

impl<'a> Factor<'a> {
    /// The number `value` at every position.
    pub fn constant(value: f64) -> Factor<'a> {
        Factor { numbers: None, default: value }
    }

    /// The scales of `arg`, a tensor of `dims`; 1 where the attributes have none.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when they are not passed, or are too few.
    pub fn scale(attr: &Attr, args: &'a dyn Args, arg: Arg, dims: &[i64]) -> Result<Factor<'a>, Error> {
        Factor::new(attr.scales.get(&arg), args, Arg::scale(arg), dims, 1.0)
    }

    /// The zero points of `arg`, a tensor of `dims`; 0 where the attributes have none.
    ///
    /// # Errors
    /// As for [`Factor::scale`].
    pub fn zero_point(attr: &Attr, args: &'a dyn Args, arg: Arg, dims: &[i64]) -> Result<Factor<'a>, Error> {
        Factor::new(attr.zero_points.get(&arg), args, Arg::zero_point(arg), dims, 0.0)
    }

    /// The numbers that `quant` describes for a tensor of `dims`, passed as `arg` in row-major order; `default` without `quant`.
    ///
    /// # Errors
    /// As for [`Factor::scale`].
    pub fn new(quant: Option<&Quant>, args: &'a dyn Args, arg: Arg, dims: &[i64], default: f64) -> Result<Factor<'a>, Error> {
        // A tensor without elements has no numbers either, whoever asks for one.
        let Some(quant) = quant.filter(|q| !q.dims(dims).contains(&0)) else { return Ok(Factor::constant(default)) };
        let view = View::of(args, arg)?;
        let (sizes, n) = (quant.dims(dims), dims.len());
        let (need, got) = (sizes.volume().unwrap_or(i64::MAX), view.dims().volume().unwrap_or(0));
        if got < need {
            return Err(Error::arg(arg, format_args!("{got} numbers"), format_args!("{need} ({sizes})")));
        }
        let mut strides = Dims::filled(n, 0);
        let mut stride = 1;
        for d in (0..n).rev().filter(|&d| sizes[d] > 1) {
            strides[d] = stride;
            stride *= sizes[d];
        }
        let grouped = |d: usize| if quant.groups.is_empty() || d + 2 < n { 1 } else { quant.groups[d + 2 - n].max(1) };
        Ok(Factor { numbers: Some(Numbers { view, strides, groups: Dims::from_fn(n, grouped) }), default })
    }

    /// The number for the element at `pos`.
    #[inline]
    pub fn at(&self, pos: &[i64]) -> f64 {
        match &self.numbers {
            None => self.default,
            Some(x) => x.view.load(x.view.origin() + x.index(pos)),
        }
    }

    /// Writes the number for the element at `pos`: scales that the library computes.
    pub fn set(&self, pos: &[i64], value: f64) {
        if let Some(x) = &self.numbers {
            x.view.store(x.view.origin() + x.index(pos), value);
        }
    }

    /// True when the numbers differ along dimension `d`.
    pub fn varies(&self, d: usize) -> bool {
        self.numbers.as_ref().is_some_and(|x| x.strides[d] != 0)
    }

    /// True when no numbers were given: the default everywhere.
    pub fn is_default(&self) -> bool {
        self.numbers.is_none()
    }
}

impl Numbers<'_> {
    #[inline]
    fn index(&self, pos: &[i64]) -> i64 {
        pos.iter().zip(self.strides.iter()).zip(self.groups.iter()).map(|((p, s), g)| if *s == 0 { 0 } else { p / g * s }).sum()
    }
}

/// Dropout with its arguments read.
#[derive(Clone, Copy)]
struct Drop<'a> {
    mask: Option<View<'a>>,
    p: f32,
    seed: i64,
    offset: i64,
}

/// The tail of a primitive, bound to its destination and arguments.
pub struct Epilogue<'a> {
    dst: View<'a>,
    post_ops: &'a [PostOp],
    operands: [[Option<View<'a>>; 2]; MAX_POST_OPS],
    dropout: Option<Drop<'a>>,
    scale: Factor<'a>,
    zero_point: Factor<'a>,
    rounding_seed: Option<u32>,
    sums: Option<&'a [Cell<Option<f64>>]>,
}

/// The first number of an argument of one element.
fn single(args: &dyn Args, arg: Arg) -> Result<f64, Error> {
    let view = View::of(args, arg)?;
    if view.is_empty() { Err(Error::arg(arg, "an empty tensor", "one number")) } else { Ok(view.load(view.origin())) }
}

/// The first whole number of an argument of one element, all 64 bits of it.
fn single_integer(args: &dyn Args, arg: Arg) -> Result<i64, Error> {
    let view = View::of(args, arg)?;
    match (view.is_empty(), view.dtype()) {
        (true, _) => Err(Error::arg(arg, "an empty tensor", "one number")),
        (_, DataType::S64) => Ok(view.bits(view.origin()) as i64),
        _ => Ok(view.load(view.origin()) as i64),
    }
}

impl<'a> Epilogue<'a> {
    /// The tail for the result passed as `arg`; post-ops, dropout and quantisation belong to [`Arg::DST`] alone.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when an argument that the attributes ask for is missing or too small.
    pub fn new(attr: &'a Attr, args: &'a dyn Args, arg: Arg) -> Result<Epilogue<'a>, Error> {
        let all = if arg == Arg::DST { 0..attr.post_ops.len() } else { 0..0 };
        Epilogue::part(attr, args, View::of(args, arg)?, arg, all)
    }

    /// As [`Epilogue::new`] for a destination `dst` and the post-ops in `range` only: those before or after a depthwise convolution. Scale and
    /// zero point are those of `arg`; dropout goes with the first post-op, stochastic rounding with the last.
    ///
    /// # Errors
    /// As for [`Epilogue::new`].
    pub fn part(attr: &'a Attr, args: &'a dyn Args, dst: View<'a>, arg: Arg, range: Range<usize>) -> Result<Epilogue<'a>, Error> {
        let (first, last) = (range.start == 0, range.end == attr.post_ops.len());
        let quantised = arg == Arg::DST || arg == Arg::depthwise(Arg::DST);
        let mut operands = [[None; 2]; MAX_POST_OPS];
        for (slot, i) in operands.iter_mut().zip(range.clone()) {
            *slot = match &attr.post_ops[i] {
                PostOp::Binary { src2: Some(_), .. } => {
                    [Some(View::of(args, Arg::post_op(i, Arg::SRC_1))?), Some(View::of(args, Arg::post_op(i, Arg::SRC_2))?)]
                }
                PostOp::Binary { .. } => [Some(View::of(args, Arg::post_op(i, Arg::SRC_1))?), None],
                PostOp::Prelu { .. } => [Some(View::of(args, Arg::post_op(i, Arg::WEIGHTS))?), None],
                _ => [None; 2],
            };
        }
        let mut tail = Epilogue {
            dst,
            post_ops: &attr.post_ops[range],
            operands,
            dropout: if arg == Arg::DST && first { Drop::read(attr, args)? } else { None },
            scale: Factor::constant(1.0),
            zero_point: Factor::constant(0.0),
            rounding_seed: None,
            sums: if last { args.sums(if arg == Arg::depthwise(Arg::DST) { Arg::DST } else { arg }) } else { None },
        };
        let rounded = if arg == Arg::depthwise(Arg::DST) { Arg::DST } else { arg };
        if last && attr.rounding.get(&rounded) == Some(&Rounding::Stochastic) {
            tail.rounding_seed = Some(single_integer(args, Arg::ROUNDING_SEED)? as u32);
        }
        if quantised {
            tail.scale = Factor::scale(attr, args, arg, dst.dims())?;
            tail.zero_point = Factor::zero_point(attr, args, arg, dst.dims())?;
        }
        Ok(tail)
    }

    /// The destination.
    pub fn dst(&self) -> View<'a> {
        self.dst
    }

    /// Takes an accumulated, scaled and biased `value` through the whole tail into the destination at `pos`.
    pub fn finish(&self, pos: &[i64], value: f64) {
        self.write(pos, self.value_of_sum(pos, value));
    }

    /// [`Epilogue::value`] of a sum, which is recorded where the arguments ask for sums.
    pub(crate) fn value_of_sum(&self, pos: &[i64], value: f64) -> f64 {
        let index = || pos.iter().zip(self.dst.dims().iter()).fold(0, |index, (p, d)| index * d + p);
        if let Some(sum) = self.sums.and_then(|s| s.get(index() as usize)) {
            sum.set(Some(value));
        }
        self.value(pos, value)
    }

    /// Dropout and post-ops.
    pub fn value<N: Num>(&self, pos: &[i64], mut value: N) -> N {
        if let Some(drop) = &self.dropout {
            value = drop.apply(&self.dst, pos, value);
        }
        for (op, operands) in self.post_ops.iter().zip(&self.operands) {
            value = self.post_op(op, operands, pos, value);
        }
        value
    }

    /// Scale, zero point, rounding and conversion.
    pub fn write(&self, pos: &[i64], value: f64) {
        let value = self.quantised(pos, value);
        let offset = self.dst.offset(pos);
        self.dst.store(offset, self.stochastic(offset, value));
    }

    /// The number that the destination at `pos` holds for a quantised `value`.
    pub fn rounded(&self, pos: &[i64], value: f64) -> f64 {
        number::round_to(self.dst.dtype(), self.stochastic(self.dst.offset(pos), value))
    }

    fn stochastic(&self, offset: i64, value: f64) -> f64 {
        match self.rounding_seed {
            Some(seed) => philox::round_stochastic(self.dst.dtype(), value, offset as u64, seed),
            None => value,
        }
    }

    /// Scale, zero point and rounding to `dtype`, for a result that is not the destination.
    pub(crate) fn quantise_as(&self, dtype: DataType, pos: &[i64], value: f64) -> f64 {
        number::round_to(dtype, self.quantised(pos, value))
    }

    /// Scale and zero point.
    pub fn quantised<N: Num>(&self, pos: &[i64], value: N) -> N {
        quant::quantise(value, N::constant(self.scale.at(pos)), N::constant(self.zero_point.at(pos)))
    }

    /// Writes a row of values that went through [`Epilogue::value`], the first at `pos`, the others after it along the last dimension,
    /// where `quant` asks the library for the scales: they are computed by group, kept in the scales argument, and divided by.
    pub fn write_dynamic(&self, quant: &Quant, pos: &mut [i64], values: &[f64]) {
        let last = pos.len() - 1;
        let group = quant.groups.last().map_or(1, |&g| g.max(1)) as usize;
        for chunk in values.chunks(group) {
            let largest = chunk.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            self.scale.set(pos, dynamic_scale(quant, self.dst.dtype(), largest));
            for &v in chunk {
                self.write(pos, v);
                pos[last] += 1;
            }
        }
    }

    /// Takes the values that `real` gives for all positions through the tail, where `quant` asks the library for the scales: computed from all that
    /// share one, kept in the scales argument, and divided by.
    pub(crate) fn finish_dynamic(&self, quant: &Quant, real: impl Fn(&[i64]) -> f64) {
        let dims = *self.dst.dims();
        let group = |d: usize| if d + 2 < dims.len() { 1 } else { quant.groups.get(d + 2 - dims.len()).map_or(1, |&g| g.max(1)) };
        for_each_position(&quant.dims(&dims), |at| {
            let named = (0..dims.len()).filter(|d| quant.mask >> d & 1 == 1);
            let shared = named.fold(Region::all(&dims), |region, d| {
                let start = at[d] * group(d);
                region.along(d, start, group(d).min(dims[d] - start))
            });
            let mut largest = 0.0_f64;
            shared.for_each(|pos| largest = largest.max(self.value::<f64>(pos, real(pos)).abs()));
            self.scale.set(&shared.start, dynamic_scale(quant, self.dst.dtype(), largest));
            shared.for_each(|pos| self.finish(pos, real(pos)));
        });
    }

    fn post_op<N: Num>(&self, op: &PostOp, operands: &[Option<View<'a>>; 2], pos: &[i64], value: N) -> N {
        match (op, operands) {
            (PostOp::Sum { scale, zero_point, dtype }, _) => {
                let old = N::constant(self.dst.reinterpret(dtype.unwrap_or(self.dst.dtype())).get(pos));
                value.add(quant::dequantise(old, N::constant(f64::from(scale.get())), N::constant(f64::from(*zero_point))))
            }
            (PostOp::Eltwise { alg, alpha, beta }, _) => eltwise::forward(*alg, alpha.get(), beta.get(), value),
            (PostOp::Binary { alg, .. }, [Some(src1), src2]) => {
                let condition = src2.map_or(0.0, |condition| condition.get(pos));
                binary::apply(*alg, value, N::constant(src1.get(pos)), N::constant(condition))
            }
            (PostOp::Prelu { .. }, [Some(weights), _]) => binary::prelu(value, N::constant(weights.get(pos))),
            _ => value,
        }
    }
}

impl<'a> Drop<'a> {
    fn read(attr: &Attr, args: &'a dyn Args) -> Result<Option<Drop<'a>>, Error> {
        let Some(dropout) = &attr.dropout else { return Ok(None) };
        Ok(Some(Drop {
            mask: if dropout.mask.is_some() { Some(View::of(args, Arg::DROPOUT_MASK)?) } else { None },
            p: single(args, Arg::DROPOUT_PROBABILITY)? as f32,
            seed: single_integer(args, Arg::DROPOUT_SEED)?,
            offset: if dropout.use_offset { single_integer(args, Arg::DROPOUT_OFFSET)? } else { 0 },
        }))
    }

    /// The generator counts physical elements of the destination; the mask lies as the destination does.
    fn apply<N: Num>(&self, dst: &View<'_>, pos: &[i64], value: N) -> N {
        let keep = philox::dropout_keeps(dst.offset(pos) as u64, self.seed, self.offset, self.p);
        if let Some(mask) = &self.mask {
            mask.set(pos, f64::from(u8::from(keep)));
        }
        if keep { value.div(N::constant(1.0 - f64::from(self.p))) } else { N::constant(0.0) }
    }
}

/// The scale, a number of type `scale`, for a group of results of type `dtype` whose largest magnitude is `largest`. With
/// [`QuantMode::DynamicMx`] OCP's quotient of powers of two (each the one at or below the number); else `largest` over the type's largest
/// number, and 1 for a group of zeros.
fn dynamic_scale(quant: &Quant, dtype: DataType, largest: f64) -> f64 {
    let (top, to_scale) = (largest_number(dtype), |v| number::round_to(quant.dtype, v));
    match quant.mode {
        QuantMode::DynamicMx => to_scale(to_scale(largest) / to_scale(top)),
        _ if largest == 0.0 => 1.0,
        _ => to_scale(largest / top),
    }
}

/// The largest finite number of a destination type.
fn largest_number(dtype: DataType) -> f64 {
    match dtype {
        DataType::F32 => f64::from(f32::MAX),
        DataType::F64 => f64::MAX,
        DataType::F16 => 65504.0,
        DataType::Bf16 => (2.0 - 2f64.powi(-7)) * 2f64.powi(127),
        DataType::F8E5m2 => 57344.0,
        DataType::F8E4m3 => 448.0,
        DataType::F4E2m1 => 6.0,
        DataType::F4E3m0 => 16.0,
        DataType::E8m0 => 2f64.powi(127),
        DataType::S32 => f64::from(i32::MAX),
        DataType::S64 => i64::MAX as f64,
        DataType::S8 => 127.0,
        DataType::U8 => 255.0,
        DataType::S4 => 7.0,
        DataType::U4 => 15.0,
        DataType::Boolean => 1.0,
    }
}
