//! Bulk conversion between stored elements and `f32`.

use oxidnn_expr::number;
use oxidnn_spec::DataType;

/// Converts packed little-endian elements; 4-bit types start in the low nibble of the first byte.
pub(super) fn to_f32(dtype: DataType, bytes: &[u8], out: &mut [f32]) {
    if dtype.bits() == 4 {
        for (i, o) in out.iter_mut().enumerate() {
            *o = number::decode(dtype, u64::from(bytes[i / 2] >> (i % 2 * 4) & 15)) as f32;
        }
        return;
    }
    let size = dtype.bits() / 8;
    for (b, o) in bytes.chunks_exact(size).zip(out) {
        let mut bits = [0u8; 8];
        bits[..size].copy_from_slice(b);
        *o = number::decode(dtype, u64::from_le_bytes(bits)) as f32;
    }
}

/// Converts to elements of a whole number of bytes.
pub(super) fn from_f32(dtype: DataType, values: &[f32], bytes: &mut [u8]) {
    let size = dtype.bits() / 8;
    for (b, v) in bytes.chunks_exact_mut(size).zip(values) {
        b.copy_from_slice(&number::encode(dtype, f64::from(*v)).to_le_bytes()[..size]);
    }
}
