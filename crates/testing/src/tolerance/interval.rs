//! `Interval`: everything that `f32` arithmetic may make of an exact number.
//!
//! The formulas of `oxidnn-expr` are evaluated with intervals in place of numbers. An operation maps the bounds and widens them by its own
//! rounding: nothing where the result is a number of `f32` (an order of operations, or a fused one, changes nothing then), one unit roundoff for
//! sums and products, [`DIVISION`] for quotients, which may be products by a reciprocal, and [`FUNCTION`] for elementary functions. A comparison of
//! overlapping intervals may go both ways, so a selection by it gives the hull of both sides: a jump widens exactly the elements next to it.
//! Beyond the largest number of `f32` lies its infinity; whether NaN may come out is kept apart.

use super::FUNCTION;
use oxidnn_expr::Num;

/// The unit roundoff of `f32`.
const ROUNDOFF: f64 = 1.0 / 16_777_216.0;

/// Relative error of a quotient: of a reciprocal, refined, and the product with it.
const DIVISION: f64 = 4.0 * ROUNDOFF;

/// Half the spacing of subnormal `f32` numbers.
const SUBNORMAL: f64 = f64::from_bits((1023 - 150) << 52);

/// The smallest normal `f32` number, below which functions may give 0.
const NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Numbers from `low` to `high`, none where `low` is above, and perhaps NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The smallest number.
    pub low: f64,
    /// The largest number.
    pub high: f64,
    /// NaN, too.
    pub nan: bool,
}

/// How a comparison may turn out.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    yes: bool,
    no: bool,
}

impl Interval {
    /// NaN and nothing else.
    pub const NAN: Interval = Interval { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true };

    /// A number, unchanged.
    pub fn point(v: f64) -> Interval {
        if v.is_nan() { Interval::NAN } else { Interval { low: v, high: v, nan: false } }
    }

    /// A number that is read into `f32`.
    pub fn read(v: f64) -> Interval {
        Interval::point(v).rounded(f64::from(v as f32) == v, ROUNDOFF, SUBNORMAL)
    }

    /// All numbers at most `error` away from `v`.
    pub fn near(v: f64, error: f64) -> Interval {
        if v.is_finite() && error > 0.0 {
            Interval { low: v - error, high: v + error, nan: false }.within_range()
        } else {
            Interval::point(v)
        }
    }

    /// Whether a number, or NaN, is among them.
    pub fn contains(&self, v: f64) -> bool {
        if v.is_nan() { self.nan } else { self.low <= v && v <= self.high }
    }

    /// The smallest interval that has both.
    pub fn hull(self, o: Interval) -> Interval {
        Interval { low: self.low.min(o.low), high: self.high.max(o.high), nan: self.nan || o.nan }
    }

    /// With numbers around that are `relative` of the bounds and `absolute` away.
    pub fn widened(self, relative: f64, absolute: f64) -> Interval {
        let by = |v: f64| if v.is_finite() { v.abs() * relative + absolute } else { 0.0 };
        Interval { low: self.low - by(self.low), high: self.high + by(self.high), ..self }
    }

    fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// Whether there is a single number.
    pub fn is_point(self) -> bool {
        self.low == self.high && !self.nan
    }

    fn is_unbounded(self) -> bool {
        !self.is_empty() && (self.low.is_infinite() || self.high.is_infinite())
    }

    fn is(self, v: f64) -> bool {
        self.is_point() && self.low == v
    }

    /// The interval widened by rounding; unchanged if the operation was `exact`.
    fn rounded(self, exact: bool, relative: f64, absolute: f64) -> Interval {
        if exact || self.is_empty() { self } else { self.widened(relative, absolute).within_range() }
    }

    /// Values beyond the numbers of `f32` may be its infinity.
    fn within_range(self) -> Interval {
        let beyond = f64::from(f32::MAX) * (1.0 + ROUNDOFF / 2.0);
        let low = if self.low < -beyond { f64::NEG_INFINITY } else { self.low };
        Interval { low, high: if self.high > beyond { f64::INFINITY } else { self.high }, ..self }
    }

    /// The hull of `values`, of which NaN is noted as a possible result.
    fn of(values: &[f64], nan: bool) -> Interval {
        let none = Interval { nan, ..Interval::NAN };
        values.iter().fold(none, |hull, v| hull.hull(Interval::point(*v)))
    }

    /// A function of two numbers that has its extremes at the bounds; `exact` says whether a result of two points is one of `f32`.
    fn corners(self, o: Interval, relative: f64, f: impl Fn(f64, f64) -> f64, exact: impl Fn(f64) -> bool) -> Interval {
        if self.is_empty() || o.is_empty() {
            return Interval::NAN;
        }
        let values = [f(self.low, o.low), f(self.low, o.high), f(self.high, o.low), f(self.high, o.high)];
        let points = self.is_point() && o.is_point();
        Interval::of(&values, self.nan || o.nan).rounded(points && exact(values[0]), relative, SUBNORMAL)
    }

    /// A monotone function, or one whose extremes are at the bounds and at 0.
    fn function(self, relative: f64, f: impl Fn(f64) -> f64) -> Interval {
        if self.is_empty() {
            return Interval::NAN;
        }
        let across = self.low < 0.0 && self.high > 0.0;
        let middle = if across { [f(-0.0), f(0.0)] } else { [f(self.low); 2] };
        // Limits are no approximations.
        let exact = self.is_point() && self.low.is_infinite();
        Interval::of(&[f(self.low), f(self.high), middle[0], middle[1]], self.nan).rounded(exact, relative, NORMAL)
    }

    /// A monotone function without rounding.
    fn exactly(self, f: impl Fn(f64) -> f64) -> Interval {
        if self.is_empty() { self } else { Interval { low: f(self.low), high: f(self.high), ..self } }
    }

    fn compare(self, o: Interval, yes: bool, no: bool) -> Outcome {
        if self.is_empty() || o.is_empty() { Outcome { yes: false, no: true } } else { Outcome { yes, no: no || self.nan || o.nan } }
    }
}

/// Whether a number is one of `f32`, or none.
fn is_single(v: f64) -> bool {
    f64::from(v as f32) == v || v.is_nan()
}

/// Whether a number is a power of two.
fn is_power(v: f64) -> bool {
    v.is_normal() && v.to_bits().trailing_zeros() >= 52
}

impl Num for Interval {
    type Mask = Outcome;

    fn constant(v: f64) -> Interval {
        Interval::read(v)
    }

    fn add(self, o: Interval) -> Interval {
        match (self.is(0.0), o.is(0.0)) {
            (_, true) => self,
            (true, _) => o,
            _ => self.corners(
                o,
                ROUNDOFF,
                |a, b| a + b,
                |r| is_single(r) && (r - self.low == o.low && r - o.low == self.low || !r.is_finite()),
            ),
        }
    }

    fn sub(self, o: Interval) -> Interval {
        self.add(Interval { low: -o.high, high: -o.low, nan: o.nan })
    }

    fn mul(self, o: Interval) -> Interval {
        match (self.is(1.0), o.is(1.0)) {
            (_, true) => self,
            (true, _) => o,
            _ => {
                let product = self.corners(o, ROUNDOFF, |a, b| a * b, |r| is_single(r) && (r != 0.0 || self.is(0.0) || o.is(0.0)));
                Interval { nan: product.nan || self.contains(0.0) && o.is_unbounded() || o.contains(0.0) && self.is_unbounded(), ..product }
            }
        }
    }

    fn div(self, o: Interval) -> Interval {
        if o.is(1.0) {
            return self;
        }
        let may_divide_by_zero = o.low < 0.0 && o.high > 0.0 || !o.is_point() && o.contains(0.0);
        if may_divide_by_zero && !self.is_empty() {
            return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: self.nan || o.nan || self.contains(0.0) };
        }
        self.corners(o, DIVISION, |a, b| a / b, |r| is_single(r) && (is_power(o.low) || r == 0.0 || !r.is_finite()))
    }

    fn mul_add(self, a: Interval, b: Interval) -> Interval {
        self.mul(a).add(b)
    }

    fn max(self, o: Interval) -> Interval {
        if self.is_empty() || o.is_empty() {
            return if self.is_empty() { o } else { self };
        }
        let both = Interval { low: self.low.max(o.low), high: self.high.max(o.high), nan: self.nan && o.nan };
        let one = |nan: bool, other: Interval, hull: Interval| if nan { hull.hull(Interval { nan: false, ..other }) } else { hull };
        one(o.nan, self, one(self.nan, o, both))
    }

    fn min(self, o: Interval) -> Interval {
        let zero = Interval::point(0.0);
        zero.sub(zero.sub(self).max(zero.sub(o)))
    }

    fn clamp(self, low: f64, high: f64) -> Interval {
        let (low, high) = (f64::from(low as f32), f64::from(high as f32));
        self.exactly(|v| Num::clamp(v, low, high))
    }

    fn abs(self) -> Interval {
        if self.is_empty() {
            return self;
        }
        let [a, b] = [self.low.abs(), self.high.abs()];
        let low = if self.low < 0.0 && self.high > 0.0 { 0.0 } else { a.min(b) };
        Interval { low, high: a.max(b), nan: self.nan }
    }

    fn sqrt(self) -> Interval {
        self.function(DIVISION, f64::sqrt)
    }

    fn exp(self) -> Interval {
        self.function(FUNCTION, f64::exp)
    }

    fn ln(self) -> Interval {
        self.function(FUNCTION, f64::ln)
    }

    fn exp_m1(self) -> Interval {
        self.function(FUNCTION, f64::exp_m1)
    }

    fn ln_1p(self) -> Interval {
        self.function(FUNCTION, f64::ln_1p)
    }

    fn tanh(self) -> Interval {
        self.function(FUNCTION, f64::tanh)
    }

    fn erf(self) -> Interval {
        self.function(FUNCTION, Num::erf)
    }

    fn powf(self, p: f64) -> Interval {
        self.function(2.0 * FUNCTION, |v| v.powf(p))
    }

    fn round(self) -> Interval {
        self.exactly(f64::round_ties_even)
    }

    fn lt(self, o: Interval) -> Outcome {
        self.compare(o, self.low < o.high, self.high >= o.low)
    }

    fn le(self, o: Interval) -> Outcome {
        self.compare(o, self.low <= o.high, self.high > o.low)
    }

    fn eq(self, o: Interval) -> Outcome {
        self.compare(o, self.low <= o.high && o.low <= self.high, !(self.is_point() && o.is(self.low)))
    }

    fn select(mask: Outcome, a: Interval, b: Interval) -> Interval {
        match mask {
            Outcome { yes: true, no: true } => a.hull(b),
            Outcome { yes: true, .. } => a,
            _ => b,
        }
    }
}
