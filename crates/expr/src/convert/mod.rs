//! Slices of any data type to `f32` and back, fast: bit arithmetic without branches or tables, which vectorises.
//!
//! Results are those of [`crate::number`] for `f32` values (which NaN a NaN becomes is not fixed). Everything is `#[inline(always)]`, so that a
//! kernel compiled for a wide instruction set gets wide code: use [`load`] and [`store`] where the types are known at compile time,
//! [`to_f32`] and [`from_f32`] elsewhere. 4-bit types take two elements a byte, the first in the low nibble; a slice begins at a whole byte.

mod codes;
#[cfg(test)]
mod tests;

use codes::{decode, encode};

use oxidnn_spec::DataType;

/// The data type whose number is `T`.
const fn of(number: usize) -> DataType {
    let mut i = 0;
    while DataType::ALL[i] as usize != number {
        i += 1;
    }
    DataType::ALL[i]
}

/// Reads `out.len()` elements of the type `T` (a `DataType as usize`) from the front of `bytes`.
///
/// # Panics
/// When `bytes` is too short.
#[inline(always)]
pub fn load<const T: usize>(bytes: &[u8], out: &mut [f32]) {
    match const { of(T) }.bits() {
        4 => load_nibbles::<T>(bytes, out),
        8 => load_bytes::<T, 1>(bytes, out, |b| u64::from(b[0])),
        16 => load_bytes::<T, 2>(bytes, out, |b| u64::from(u16::from_le_bytes(b))),
        32 => load_bytes::<T, 4>(bytes, out, |b| u64::from(u32::from_le_bytes(b))),
        _ => load_bytes::<T, 8>(bytes, out, u64::from_le_bytes),
    }
}

/// Writes `values` as elements of the type `T` (a `DataType as usize`) to the front of `out`; a high nibble beyond the last value is left alone.
///
/// # Panics
/// When `out` is too short.
#[inline(always)]
pub fn store<const T: usize>(values: &[f32], out: &mut [u8]) {
    match const { of(T) }.bits() {
        4 => store_nibbles::<T>(values, out),
        8 => store_bytes::<T, 1>(values, out, |c| [c as u8]),
        16 => store_bytes::<T, 2>(values, out, |c| (c as u16).to_le_bytes()),
        32 => store_bytes::<T, 4>(values, out, |c| (c as u32).to_le_bytes()),
        _ => store_bytes::<T, 8>(values, out, u64::to_le_bytes),
    }
}

/// Two numbers rounded to bf16, as the halves of a word; the first is the low one.
#[inline(always)]
pub fn bf16_pair(low: f32, high: f32) -> u32 {
    codes::encode_bf16(low) | codes::encode_bf16(high) << 16
}

#[inline(always)]
fn load_bytes<const T: usize, const N: usize>(bytes: &[u8], out: &mut [f32], bits: impl Fn([u8; N]) -> u64) {
    let (elements, _) = bytes[..out.len() * N].as_chunks::<N>();
    for (x, b) in out.iter_mut().zip(elements) {
        *x = decode(const { of(T) }, bits(*b));
    }
}

#[inline(always)]
fn store_bytes<const T: usize, const N: usize>(values: &[f32], out: &mut [u8], bytes: impl Fn(u64) -> [u8; N]) {
    let (elements, _) = out[..values.len() * N].as_chunks_mut::<N>();
    for (b, x) in elements.iter_mut().zip(values) {
        *b = bytes(encode(const { of(T) }, *x));
    }
}

#[inline(always)]
fn load_nibbles<const T: usize>(bytes: &[u8], out: &mut [f32]) {
    let bytes = &bytes[..out.len().div_ceil(2)];
    let (pairs, rest) = out.as_chunks_mut::<2>();
    for (pair, b) in pairs.iter_mut().zip(bytes) {
        *pair = [decode(const { of(T) }, u64::from(b & 15)), decode(const { of(T) }, u64::from(b >> 4))];
    }
    if let ([x], [.., b]) = (rest, bytes) {
        *x = decode(const { of(T) }, u64::from(b & 15));
    }
}

#[inline(always)]
fn store_nibbles<const T: usize>(values: &[f32], out: &mut [u8]) {
    let out = &mut out[..values.len().div_ceil(2)];
    let (pairs, rest) = values.as_chunks::<2>();
    for (b, [low, high]) in out.iter_mut().zip(pairs) {
        *b = encode(const { of(T) }, *low) as u8 & 15 | (encode(const { of(T) }, *high) as u8) << 4;
    }
    if let ([x], [.., b]) = (rest, out) {
        *b = *b & 0xf0 | encode(const { of(T) }, *x) as u8 & 15;
    }
}

/// Code that wants a type at compile time; its method must be `#[inline(always)]`.
pub trait WithType {
    /// What it returns.
    type Out;
    /// Runs with the type `DataType as usize`.
    fn with<const T: usize>(self) -> Self::Out;
}

/// Runs `w` with `dtype` known at compile time.
#[inline(always)]
pub fn dispatch<W: WithType>(dtype: DataType, w: W) -> W::Out {
    match dtype {
        DataType::F32 => w.with::<{ DataType::F32 as usize }>(),
        DataType::F64 => w.with::<{ DataType::F64 as usize }>(),
        DataType::F16 => w.with::<{ DataType::F16 as usize }>(),
        DataType::Bf16 => w.with::<{ DataType::Bf16 as usize }>(),
        DataType::S32 => w.with::<{ DataType::S32 as usize }>(),
        DataType::S64 => w.with::<{ DataType::S64 as usize }>(),
        DataType::S8 => w.with::<{ DataType::S8 as usize }>(),
        DataType::U8 => w.with::<{ DataType::U8 as usize }>(),
        DataType::S4 => w.with::<{ DataType::S4 as usize }>(),
        DataType::U4 => w.with::<{ DataType::U4 as usize }>(),
        DataType::F8E5m2 => w.with::<{ DataType::F8E5m2 as usize }>(),
        DataType::F8E4m3 => w.with::<{ DataType::F8E4m3 as usize }>(),
        DataType::E8m0 => w.with::<{ DataType::E8m0 as usize }>(),
        DataType::F4E2m1 => w.with::<{ DataType::F4E2m1 as usize }>(),
        DataType::F4E3m0 => w.with::<{ DataType::F4E3m0 as usize }>(),
        DataType::Boolean => w.with::<{ DataType::Boolean as usize }>(),
    }
}

struct Load<'a>(&'a [u8], &'a mut [f32]);

impl WithType for Load<'_> {
    type Out = ();
    #[inline(always)]
    fn with<const T: usize>(self) {
        load::<T>(self.0, self.1);
    }
}

struct Store<'a>(&'a [f32], &'a mut [u8]);

impl WithType for Store<'_> {
    type Out = ();
    #[inline(always)]
    fn with<const T: usize>(self) {
        store::<T>(self.0, self.1);
    }
}

/// Reads `out.len()` elements of `dtype` from the front of `bytes`.
///
/// # Panics
/// When `bytes` is too short.
#[inline(always)]
pub fn to_f32(dtype: DataType, bytes: &[u8], out: &mut [f32]) {
    dispatch(dtype, Load(bytes, out));
}

/// Writes `values` as elements of `dtype` to the front of `out`; a high nibble beyond the last value is left alone.
///
/// # Panics
/// When `out` is too short.
#[inline(always)]
pub fn from_f32(dtype: DataType, values: &[f32], out: &mut [u8]) {
    dispatch(dtype, Store(values, out));
}
