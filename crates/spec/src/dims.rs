//! `Dims`: a short list of at most 12 sizes, strides or offsets, kept inline.

use crate::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// The largest number of tensor dimensions.
pub const MAX_NDIMS: usize = 12;

/// A dimension or stride that is given only when the primitive is executed.
pub const RUNTIME: i64 = i64::MIN;

/// Up to [`MAX_NDIMS`] signed 64-bit numbers, one a dimension; derefs to a slice.
#[derive(Clone, Copy, Eq, Default)]
pub struct Dims {
    len: u8,
    v: [i64; MAX_NDIMS],
}

/// All places are compared, which takes a few vector instructions and no call: those behind the numbers are 0 in every list.
impl PartialEq for Dims {
    #[inline]
    fn eq(&self, o: &Dims) -> bool {
        let differs = self.v.iter().zip(&o.v).fold(0, |differs, (a, b)| differs | (a ^ b));
        self.len == o.len && differs == 0
    }
}

impl Dims {
    /// One dimension of one element.
    pub(crate) const ONE: Dims = Dims { len: 1, v: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] };

    /// The numbers of `v`; `None` where there are more than 12.
    pub fn new(v: &[i64]) -> Option<Dims> {
        let mut d = Dims { len: u8::try_from(v.len()).ok()?, v: [0; MAX_NDIMS] };
        d.v.get_mut(..v.len())?.copy_from_slice(v);
        Some(d)
    }

    /// `n` copies of `value`.
    ///
    /// # Panics
    /// When `n` exceeds 12.
    #[inline]
    pub fn filled(n: usize, value: i64) -> Dims {
        let mut d = Dims { len: n as u8, v: [0; MAX_NDIMS] };
        d.v[..n].fill(value);
        d
    }

    /// The numbers `f(0)..f(n)`.
    ///
    /// # Panics
    /// When `n` exceeds 12.
    pub fn from_fn(n: usize, f: impl FnMut(usize) -> i64) -> Dims {
        let mut d = Dims::filled(n, 0);
        for (x, v) in d.iter_mut().zip((0..n).map(f)) {
            *x = v;
        }
        d
    }

    /// Appends a number.
    ///
    /// # Panics
    /// When 12 are there already.
    #[inline]
    pub fn push(&mut self, value: i64) {
        self.v[self.len as usize] = value;
        self.len += 1;
    }

    /// Product of the numbers; `None` on overflow, or when one is negative (a runtime dimension too).
    pub fn volume(&self) -> Option<i64> {
        if self.contains(&0) {
            return self.iter().all(|&d| d >= 0).then_some(0);
        }
        self.iter().try_fold(1i64, |a, &d| if d < 0 { None } else { a.checked_mul(d) })
    }

    /// True when a number is [`RUNTIME`].
    pub fn has_runtime(&self) -> bool {
        self.contains(&RUNTIME)
    }
}

/// Of the numbers that are there; those behind them are 0 in every list.
impl Hash for Dims {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.len);
        hash_pairs(self.iter().copied(), state);
    }
}

/// Two numbers a word, as few are 2^32 or more.
#[inline]
pub(crate) fn hash_pairs<H: Hasher>(mut numbers: impl Iterator<Item = i64>, state: &mut H) {
    while let Some(first) = numbers.next() {
        let second = numbers.next().unwrap_or(0);
        state.write_u64(first as u64 ^ (second as u64).rotate_left(32));
    }
}

impl Deref for Dims {
    type Target = [i64];
    #[inline]
    fn deref(&self) -> &[i64] {
        &self.v[..self.len as usize]
    }
}

impl DerefMut for Dims {
    #[inline]
    fn deref_mut(&mut self) -> &mut [i64] {
        &mut self.v[..self.len as usize]
    }
}

/// Conversions of arrays, whose length the compiler checks, and of slices, which may be too long. A size that 64 bits cannot hold becomes the largest
/// one, which no tensor may have.
macro_rules! sizes {
    ($($t:ty),*) => { $(
        impl<const N: usize> From<[$t; N]> for Dims {
            fn from(v: [$t; N]) -> Dims {
                const { assert!(N <= MAX_NDIMS) }
                Dims::from_fn(N, |i| i64::try_from(v[i]).unwrap_or(i64::MAX))
            }
        }

        impl TryFrom<&[$t]> for Dims {
            type Error = Error;
            fn try_from(v: &[$t]) -> Result<Dims, Error> {
                if v.len() > MAX_NDIMS {
                    return Err(Error::invalid("dims", format!("{} numbers", v.len()), format!("at most {MAX_NDIMS}")));
                }
                Ok(Dims::from_fn(v.len(), |i| i64::try_from(v[i]).unwrap_or(i64::MAX)))
            }
        }

        impl TryFrom<Vec<$t>> for Dims {
            type Error = Error;
            fn try_from(v: Vec<$t>) -> Result<Dims, Error> {
                Dims::try_from(v.as_slice())
            }
        }
    )* };
}
sizes!(i32, i64, u32, usize);

impl From<&Dims> for Dims {
    fn from(d: &Dims) -> Dims {
        *d
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `2x3x4`; a runtime dimension prints as `*`.
impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.iter().enumerate() {
            if i > 0 {
                f.write_str("x")?;
            }
            if *d == RUNTIME { f.write_str("*")? } else { write!(f, "{d}")? }
        }
        Ok(())
    }
}

/// An `f32` parameter of a description, compared and hashed by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Real(u32);

impl Real {
    /// The number.
    pub const fn get(self) -> f32 {
        f32::from_bits(self.0)
    }
    /// Keeps the number's bits (one zero: -0 becomes +0; one NaN).
    pub const fn new(v: f32) -> Real {
        Real(match v {
            0.0 => 0,
            v if v.is_nan() => f32::NAN.to_bits(),
            v => v.to_bits(),
        })
    }
}

impl From<f32> for Real {
    fn from(v: f32) -> Real {
        Real::new(v)
    }
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.get(), f)
    }
}

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.get(), f)
    }
}
