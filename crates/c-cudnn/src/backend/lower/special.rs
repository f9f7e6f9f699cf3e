//! Functions that no primitive computes, composed of others: floor, remainder, power, trigonometric functions, erf; and packed booleans.

use super::value::Val;
use super::{Lowering, unsupported};
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{DataType, Dims, Tensor};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// From here on every f64 is an integer.
const WHOLE: f64 = 4_503_599_627_370_496.0;

impl Lowering<'_> {
    /// The nearest integer, ties to even; values too large to have fractions are unchanged.
    fn rounded(&mut self, x: &Val) -> Result<Val, Failure> {
        if self.real == DataType::F32 {
            return self.one(EltwiseAlg::Round, [0.0; 2], x);
        }
        let size = self.one(EltwiseAlg::Abs, [0.0; 2], x)?;
        let fractional = self.with_number(BinaryAlg::Lt, &size, WHOLE)?;
        let held = self.select_or(&fractional, x, 0.0)?;
        let whole = self.cast(&held, DataType::S64)?;
        let back = self.cast(&whole, DataType::F64)?;
        self.select(&fractional, &back, x)
    }

    /// Floor.
    pub(super) fn floor(&mut self, x: &Val) -> Result<Val, Failure> {
        let x = self.real(x)?;
        let near = self.rounded(&x)?;
        let above = self.two(BinaryAlg::Gt, &near, &x)?;
        self.sub(&near, &above)
    }

    /// `f` computed in f64, and its result converted to the compute type.
    fn wide(&mut self, f: impl FnOnce(&mut Self) -> Result<Val, Failure>) -> Result<Val, Failure> {
        let narrow = std::mem::replace(&mut self.real, DataType::F64);
        let result = f(self);
        self.real = narrow;
        let result = result?;
        self.real(&result)
    }

    /// `x - q b` with the quotient `q` rounded down, or towards zero.
    pub(super) fn remainder(&mut self, x: &Val, b: &Val, floored: bool) -> Result<Val, Failure> {
        let (x, b) = (x.clone(), b.clone());
        self.wide(|l| {
            let (x, b) = (l.real(&x)?, l.real(&b)?);
            let quotient = l.div(&x, &b)?;
            let mut whole = l.floor(&quotient)?;
            if !floored {
                let negative = l.with_number(BinaryAlg::Lt, &quotient, 0.0)?;
                let fraction = l.two(BinaryAlg::Ne, &whole, &quotient)?;
                let up = l.mul(&negative, &fraction)?;
                whole = l.add(&whole, &up)?;
            }
            let product = l.mul(&whole, &b)?;
            l.sub(&x, &product)
        })
    }

    /// `x` to the power of `b`: by the logarithm of the magnitude, with the sign if the exponent is an integer.
    pub(super) fn power_of(&mut self, x: &Val, b: &Val) -> Result<Val, Failure> {
        let (x, b) = (self.real(x)?, self.real(b)?);
        let size = self.one(EltwiseAlg::Abs, [0.0; 2], &x)?;
        let log = self.one(EltwiseAlg::Log, [0.0; 2], &size)?;
        let exponent = self.mul(&b, &log)?;
        let size = self.one(EltwiseAlg::Exp, [0.0; 2], &exponent)?;
        let floor = self.floor(&b)?;
        let whole = self.two(BinaryAlg::Eq, &floor, &b)?;
        let half = self.with_number(BinaryAlg::Mul, &b, 0.5)?;
        let floor = self.floor(&half)?;
        let odd = self.two(BinaryAlg::Ne, &floor, &half)?;
        // The sign of a negative x's power: 1 or -1 for integer exponents, else NaN.
        let sign = self.one(EltwiseAlg::Linear, [-2.0, 1.0], &odd)?;
        let sign = self.select_or(&whole, &sign, f64::NAN)?;
        let negative = self.with_number(BinaryAlg::Lt, &x, 0.0)?;
        let signed = self.mul(&size, &sign)?;
        let power = self.select(&negative, &signed, &size)?;
        // x^0 and 1^x are 1 for every x.
        let (zeroth, unit) = (self.with_number(BinaryAlg::Eq, &b, 0.0)?, self.with_number(BinaryAlg::Eq, &x, 1.0)?);
        let always = self.two(BinaryAlg::Max, &zeroth, &unit)?;
        let one = self.number(1.0)?;
        self.select(&always, &one, &power)
    }

    /// A polynomial, coefficients from the highest power down.
    fn polynomial(&mut self, x: &Val, coefficients: &[f64]) -> Result<Val, Failure> {
        let (first, rest) = coefficients.split_first().ok_or_else(|| unsupported("a polynomial without coefficients"))?;
        let mut sum = self.with_number(BinaryAlg::Mul, x, 0.0)?;
        sum = self.with_number(BinaryAlg::Add, &sum, *first)?;
        for &c in rest {
            let product = self.mul(&sum, x)?;
            sum = self.with_number(BinaryAlg::Add, &product, c)?;
        }
        Ok(sum)
    }

    /// What remains of `x` after the nearest multiple of pi / 2, and which multiple it is. By Cody and Waite: pi / 2 is a sum of parts with so
    /// few bits that their multiples are exact, in f32 for `x` up to 4e5, beyond which the numbers of f32 are 1/32 apart and more.
    fn turned(&mut self, x: &Val) -> Result<(Val, Val), Failure> {
        const OF_F64: [f64; 2] = [1.570_796_326_734_125_6, 6.077_100_506_506_192e-11];
        const OF_F32: [(u32, i32); 7] = [(25, 4), (1, 7), (63, 17), (13, 22), (5, 26), (17, 34), (5, 41)];
        let turns = self.with_number(BinaryAlg::Mul, x, 1.0 / FRAC_PI_2)?;
        let quarter = self.rounded(&turns)?;
        let wide = self.real == DataType::F64;
        let parts = if wide { OF_F64.to_vec() } else { OF_F32.map(|(n, e)| f64::from(n) * 2f64.powi(-e)).to_vec() };
        let mut rest = x.clone();
        for part in parts {
            let multiple = self.with_number(BinaryAlg::Mul, &quarter, part)?;
            rest = self.sub(&rest, &multiple)?;
        }
        // Inexact multiples leave more than half a quarter, for which the series are not meant.
        let rest = if wide { rest } else { self.one(EltwiseAlg::Clip, [-0.8, 0.8], &rest)? };
        Ok((rest, quarter))
    }

    /// Sine and cosine: range reduction to the nearest multiple of pi / 2, then their series, chosen by the quadrant.
    pub(super) fn circle(&mut self, x: &Val) -> Result<(Val, Val), Failure> {
        let x = self.real(x)?;
        let (rest, quarter) = self.turned(&x)?;
        let terms = if self.real == DataType::F64 { 9 } else { 6 };
        let square = self.mul(&rest, &rest)?;
        let series = |from: u32| -> Vec<f64> {
            let term = |i: u32| {
                let factorial: f64 = (1..=2 * i + from).map(f64::from).product();
                if i.is_multiple_of(2) { 1.0 / factorial } else { -1.0 / factorial }
            };
            (0..terms).rev().map(term).collect()
        };
        let sin = self.polynomial(&square, &series(1))?;
        let sin = self.mul(&sin, &rest)?;
        let cos = self.polynomial(&square, &series(0))?;
        // The quadrant, 0 to 3.
        let fourth = self.with_number(BinaryAlg::Mul, &quarter, 0.25)?;
        let floor = self.floor(&fourth)?;
        let whole = self.with_number(BinaryAlg::Mul, &floor, 4.0)?;
        let quarter = self.sub(&quarter, &whole)?;
        let first = self.with_number(BinaryAlg::Eq, &quarter, 1.0)?;
        let third = self.with_number(BinaryAlg::Eq, &quarter, 3.0)?;
        let swapped = self.add(&first, &third)?;
        let upper = self.with_number(BinaryAlg::Ge, &quarter, 2.0)?;
        let middle = self.with_number(BinaryAlg::Sub, &quarter, 1.5)?;
        let middle = self.one(EltwiseAlg::Abs, [0.0; 2], &middle)?;
        let middle = self.with_number(BinaryAlg::Lt, &middle, 1.0)?;
        let (a, b) = (self.select(&swapped, &cos, &sin)?, self.select(&swapped, &sin, &cos)?);
        let sign = self.one(EltwiseAlg::Linear, [-2.0, 1.0], &upper)?;
        let sin = self.mul(&a, &sign)?;
        let sign = self.one(EltwiseAlg::Linear, [-2.0, 1.0], &middle)?;
        let cos = self.mul(&b, &sign)?;
        Ok((sin, cos))
    }

    /// atan2: range reduction to a slope below tan(pi / 8), the series, then octants.
    pub(super) fn arc_tangent(&mut self, y: &Val, x: &Val) -> Result<Val, Failure> {
        let (y, x) = (self.real(y)?, self.real(x)?);
        let (ay, ax) = (self.one(EltwiseAlg::Abs, [0.0; 2], &y)?, self.one(EltwiseAlg::Abs, [0.0; 2], &x)?);
        let steep = self.two(BinaryAlg::Gt, &ay, &ax)?;
        let (low, high) = (self.two(BinaryAlg::Min, &ay, &ax)?, self.two(BinaryAlg::Max, &ay, &ax)?);
        let zero = self.with_number(BinaryAlg::Eq, &high, 0.0)?;
        let equal = self.two(BinaryAlg::Eq, &low, &high)?;
        let slope = self.div(&low, &high)?;
        // Equal legs, even infinite ones, have slope 1; if both are 0, slope 0.
        let one = self.number(1.0)?;
        let slope = self.select(&equal, &one, &slope)?;
        let none = self.number(0.0)?;
        let slope = self.select(&zero, &none, &slope)?;
        let wide = self.with_number(BinaryAlg::Gt, &slope, (FRAC_PI_4 / 2.0).tan())?;
        let (less, more) = (self.with_number(BinaryAlg::Sub, &slope, 1.0)?, self.with_number(BinaryAlg::Add, &slope, 1.0)?);
        let turned = self.div(&less, &more)?;
        let t = self.select(&wide, &turned, &slope)?;
        let square = self.mul(&t, &t)?;
        let series: Vec<f64> = (0..20).rev().map(|i| f64::from(if i % 2 == 0 { 1 } else { -1 }) / f64::from(2 * i + 1)).collect();
        let angle = self.polynomial(&square, &series)?;
        let angle = self.mul(&angle, &t)?;
        let eighth = self.with_number(BinaryAlg::Mul, &wide, FRAC_PI_4)?;
        let angle = self.add(&angle, &eighth)?;
        let other = self.one(EltwiseAlg::Linear, [-1.0, 0.0], &angle)?;
        let other = self.with_number(BinaryAlg::Add, &other, FRAC_PI_2)?;
        let angle = self.select(&steep, &other, &angle)?;
        let left = self.with_number(BinaryAlg::Lt, &x, 0.0)?;
        let other = self.one(EltwiseAlg::Linear, [-1.0, 0.0], &angle)?;
        let other = self.with_number(BinaryAlg::Add, &other, PI)?;
        let angle = self.select(&left, &other, &angle)?;
        let below = self.with_number(BinaryAlg::Lt, &y, 0.0)?;
        let sign = self.one(EltwiseAlg::Linear, [-2.0, 1.0], &below)?;
        let angle = self.mul(&angle, &sign)?;
        // Minimum and maximum of a number and NaN are numbers.
        let (y_is_number, x_is_number) = (self.two(BinaryAlg::Eq, &y, &y)?, self.two(BinaryAlg::Eq, &x, &x)?);
        let are_numbers = self.mul(&y_is_number, &x_is_number)?;
        self.select_or(&are_numbers, &angle, f64::NAN)
    }

    /// The error function: its series near 0, else of the Gaussian error linear unit, which has it as a factor.
    pub(super) fn erf(&mut self, x: &Val) -> Result<Val, Failure> {
        let x = self.real(x)?;
        let size = self.one(EltwiseAlg::Abs, [0.0; 2], &x)?;
        let near = self.with_number(BinaryAlg::Lt, &size, 1.0)?;
        let inside = self.select_or(&near, &x, 0.0)?;
        let square = self.mul(&inside, &inside)?;
        let term = |i: i32| {
            let factorial: f64 = (1..=i).map(f64::from).product();
            2.0 / PI.sqrt() * f64::from(if i % 2 == 0 { 1 } else { -1 }) / (factorial * f64::from(2 * i + 1))
        };
        let series: Vec<f64> = (0..18).rev().map(term).collect();
        let small = self.polynomial(&square, &series)?;
        let small = self.mul(&small, &inside)?;
        // Beyond 6 it rounds to 1.
        let far = self.with_number(BinaryAlg::Min, &size, 6.0)?;
        let far = self.with_number(BinaryAlg::Max, &far, 1.0)?;
        let scaled = self.with_number(BinaryAlg::Mul, &far, std::f64::consts::SQRT_2)?;
        let unit = self.one(EltwiseAlg::GeluErf, [0.0; 2], &scaled)?;
        let ratio = self.div(&unit, &scaled)?;
        let large = self.one(EltwiseAlg::Linear, [2.0, -1.0], &ratio)?;
        let negative = self.with_number(BinaryAlg::Lt, &x, 0.0)?;
        let sign = self.one(EltwiseAlg::Linear, [-2.0, 1.0], &negative)?;
        let large = self.mul(&large, &sign)?;
        let value = self.select(&near, &small, &large)?;
        let number = self.two(BinaryAlg::Eq, &x, &x)?;
        self.select(&number, &value, &x)
    }

    /// The bytes of bit-packed booleans: element `i` is bit `i % 8` of byte `i / 8`.
    fn bytes_of_bits(value: &Val) -> Result<(Val, i64), Failure> {
        let count = value.tensor.layout.elements().unwrap_or(0);
        let dense = value.tensor.layout.is_dense(false) && value.tensor.layout.is_row_major();
        if !dense {
            return Err(unsupported("truth values of a bit each (BOOLEAN) that are not row-major: use BYTE_BOOLEAN"));
        }
        let bytes = count / 8 + i64::from(count % 8 != 0);
        Ok((Val { tensor: Tensor::plain([bytes], DataType::U8)?, ..value.clone() }, bytes))
    }

    /// Unpacks booleans: bits to bytes of 0 and 1.
    pub(super) fn unpack_bits(&mut self, value: &Val) -> Result<Val, Failure> {
        let (packed, bytes) = Self::bytes_of_bits(value)?;
        let dims = Dims::from([bytes, 8]);
        let all = self.temp(Tensor::plain(dims, DataType::U8)?);
        let narrow = std::mem::replace(&mut self.real, DataType::F32);
        let mut rest = self.real(&packed.with(packed.tensor.layout.reshape(&[bytes, 1])?))?;
        for bit in (0..8).rev() {
            let weight = f64::from(1 << bit);
            let set = self.with_number(BinaryAlg::Ge, &rest, weight)?;
            self.reorder(&set, &all.along(1, bit, 1)?)?;
            let taken = self.with_number(BinaryAlg::Mul, &set, weight)?;
            rest = self.sub(&rest, &taken)?;
        }
        self.real = narrow;
        let count = value.tensor.layout.elements().unwrap_or(0);
        let flat = all.with(all.tensor.layout.reshape(&[bytes * 8])?).along(0, 0, count)?;
        Ok(flat.with(flat.tensor.layout.reshape(value.dims())?))
    }

    /// Packs booleans: bytes of 0 and 1 to bits.
    pub(super) fn pack_bits(&mut self, from: &Val, to: &Val) -> Result<(), Failure> {
        let (packed, bytes) = Self::bytes_of_bits(to)?;
        let count = to.tensor.layout.elements().unwrap_or(0);
        let all = self.temp(Tensor::plain([bytes * 8], DataType::U8)?);
        if count < bytes * 8 {
            let zero = self.constant(Tensor::plain([1], DataType::U8)?, |_| 0.0)?;
            self.reorder(&zero.spread(&[bytes * 8 - count])?, &all.along(0, count, bytes * 8 - count)?)?;
        }
        let flat = from.with(from.tensor.layout.reshape(&[count])?);
        self.reorder(&flat, &all.along(0, 0, count)?)?;
        let all = all.with(all.tensor.layout.reshape(&[bytes, 8])?);
        self.real = DataType::F32;
        let mut sum = self.real(&all.along(1, 0, 1)?)?;
        for bit in 1..8 {
            let weighted = self.with_number(BinaryAlg::Mul, &all.along(1, bit, 1)?, f64::from(1 << bit))?;
            sum = self.add(&sum, &weighted)?;
        }
        self.reorder(&sum, &packed.with(packed.tensor.layout.reshape(&[bytes, 1])?))
    }
}
