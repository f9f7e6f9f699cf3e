//! When a computed number is close enough to the true one: the comparator of every test of the workspace.
//!
//! Three rules hold whatever the bound: NaN agrees with NaN only, an infinity with the same infinity only, and lists agree only where they are
//! equally long. What remains is a difference of finite numbers, at most `relative * |want| + absolute` ([`Bound`]).
//!
//! The crate depends on nothing, so that every crate's tests can use it.
#![forbid(unsafe_code)]

use std::fmt;

#[cfg(test)]
mod tests;

/// A bound on `|got - want|` where both are finite: `relative * |want| + absolute`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// Factor of the true value itself.
    pub relative: f64,
    /// Offset.
    pub absolute: f64,
}

impl Bound {
    /// Nothing but the true value (zeros of either sign are equal).
    pub const EXACT: Bound = Bound { relative: 0.0, absolute: 0.0 };

    /// `tolerance` both relative to the true value and absolute.
    pub const fn near(tolerance: f64) -> Bound {
        Bound { relative: tolerance, absolute: tolerance }
    }

    /// The largest difference allowed from `want`.
    pub fn allowed(self, want: f64) -> f64 {
        self.relative * want.abs() + self.absolute
    }

    /// True when `got` is close enough to `want`.
    pub fn accepts(self, got: f64, want: f64) -> bool {
        within(got, want, self.allowed(want))
    }
}

/// True when `got` and `want` are the same number, both NaN, or finite and at most `allowed` apart.
pub fn within(got: f64, want: f64, allowed: f64) -> bool {
    let finite = got.is_finite() && want.is_finite();
    got == want || (got.is_nan() && want.is_nan()) || finite && (got - want).abs() <= allowed
}

/// How far `got` is from the true value `want` in units of the last place of an `f32` at `want`; infinite where one is NaN and the other is
/// not, or where one is infinite and the other is not next to overflow.
pub fn ulps(got: f32, want: f64) -> f64 {
    let got = f64::from(got);
    if got.is_nan() || want.is_nan() || want.is_infinite() {
        return if got == want || got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let overflow = 2f64.powi(128);
    let next_to_overflow = |v: f64| (v.abs() / overflow - 1.0).abs() <= 2f64.powi(-22);
    if got.is_finite() != (want.abs() < overflow) && !next_to_overflow(want) {
        return f64::INFINITY;
    }
    // An infinity counts as the number behind the largest.
    let want = want.clamp(-overflow, overflow);
    (got.clamp(-overflow, overflow) - want).abs() / unit(want)
}

/// The spacing of `f32` numbers at `want`.
fn unit(want: f64) -> f64 {
    let exponent = if want == 0.0 { -126 } else { (want.abs().log2().floor() as i32).clamp(-126, 127) };
    2f64.powi(exponent - 23)
}

/// The worst disagreement of two lists.
#[derive(Clone, PartialEq, Debug)]
pub enum Difference {
    /// One is longer.
    Length {
        /// Elements that came out.
        got: usize,
        /// Elements that are right.
        want: usize,
    },
    /// Elements are too far apart.
    Elements(Worst),
}

/// Elements that are too far apart, and the worst of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Worst {
    /// Elements in all.
    pub of: usize,
    /// Elements out of their bounds.
    pub wrong: usize,
    /// Index of the worst.
    pub index: usize,
    /// What came out there.
    pub got: f64,
    /// What is right there.
    pub want: f64,
    /// The difference allowed there.
    pub allowed: f64,
}

/// How far the elements of `got` are outside of their bounds: `accepts(index)` says whether one is within, `allowed(index)` what its report names.
pub fn difference(got: &[f64], want: &[f64], accepts: impl Fn(usize) -> bool, allowed: impl Fn(usize) -> f64) -> Option<Difference> {
    if got.len() != want.len() {
        return Some(Difference::Length { got: got.len(), want: want.len() });
    }
    let mut worst: Option<Worst> = None;
    let mut wrong = 0;
    for index in (0..got.len()).filter(|&i| !accepts(i)) {
        wrong += 1;
        let worse = worst.as_ref().is_none_or(|w| distance(got[index], want[index]) > distance(w.got, w.want));
        if worse {
            worst = Some(Worst { of: got.len(), wrong, index, got: got[index], want: want[index], allowed: allowed(index) });
        }
    }
    worst.map(|w| Difference::Elements(Worst { wrong, ..w }))
}

/// The worst element of `got` outside of the same bound around `want`.
pub fn differ(got: &[f64], want: &[f64], bound: Bound) -> Option<Difference> {
    difference(got, want, |i| bound.accepts(got[i], want[i]), |i| bound.allowed(want[i]))
}

/// Ranks disagreements; a NaN or an infinity on one side is the worst.
fn distance(got: f64, want: f64) -> f64 {
    let d = (got - want).abs();
    if d.is_nan() { f64::INFINITY } else { d }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Length { got, want } => write!(f, "{got} elements, expected {want}"),
            Difference::Elements(Worst { of, wrong, index, got, want, allowed }) => {
                write!(
                    f,
                    "{wrong} of {of} elements differ; worst at {index}: got {got}, expected {want} (allowed difference {allowed:.3e})"
                )
            }
        }
    }
}
