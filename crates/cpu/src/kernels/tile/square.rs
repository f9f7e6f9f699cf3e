//! Transposition of 32-bit words in vector registers. One of the few files with unsafe code: it calls code for the instruction sets of a
//! [`Simd`], and loads and stores vectors at places that it has checked.

use crate::kernels::multiversion::Simd;
use crate::target::Isa;

/// Lines of words to be transposed.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Memory, from the first line on; aligned in no way.
    pub bytes: &'a [u8],
    /// Bytes from a line to the next.
    pub step: usize,
    /// Number of lines.
    pub lines: usize,
    /// Words of a line.
    pub count: usize,
}

/// Writes word `i` of line `j` to word `i * width + j` of `to`, and zeros behind the last line up to `width`, which is a multiple of 8.
///
/// # Panics
/// When a line is not there, or `to` does not have `count * width` words.
pub fn transpose(simd: Simd, from: &Words<'_>, to: &mut [u8], width: usize) {
    let (Words { bytes, step, lines, count }, side) = (*from, side(simd.isa()));
    assert!(lines <= width && to.len() >= 4 * count * width, "{count} lines of {width} words in {} bytes", to.len());
    if count == 0 {
        return;
    }
    let end = lines.checked_sub(1).map_or(Some(0), |l| l.checked_mul(step)?.checked_add(4 * count));
    assert!(end.is_some_and(|end| end <= bytes.len()), "{lines} lines of {count} words, {step} apart, in {} bytes", bytes.len());
    for first in (0..width).step_by(side) {
        let here = lines.saturating_sub(first).min(side).min(width - first);
        let whole = if here == side { count / side * side } else { 0 };
        for i in (0..whole).step_by(side) {
            square(simd.isa(), &bytes[first * step + 4 * i..], step, &mut to[4 * (i * width + first)..], width);
        }
        for i in whole..count {
            let line = &mut to[4 * (i * width + first)..][..4 * side.min(width - first)];
            let (words, _) = line.as_chunks_mut::<4>();
            for (j, word) in words.iter_mut().enumerate() {
                *word = if j < here { bytes[(first + j) * step + 4 * i..].first_chunk().copied().unwrap_or_default() } else { [0; 4] };
            }
        }
    }
}

/// Words along each side of a square.
const fn side(isa: Isa) -> usize {
    match isa {
        Isa::Avx512 => 16,
        _ => 8,
    }
}

fn square(isa: Isa, from: &[u8], step: usize, to: &mut [u8], width: usize) {
    let last = side(isa) - 1;
    assert!(from.len() >= last * step + 4 * (last + 1) && to.len() >= 4 * (last * width + last + 1), "a square outside its memory");
    match isa {
        // SAFETY: the instructions are there where a `Simd` of the set is; all lines of the square have been checked to lie in both slices.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::square16(from.as_ptr(), step, to.as_mut_ptr(), 4 * width) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::square8(from.as_ptr(), step, to.as_mut_ptr(), 4 * width) },
        _ => {
            for i in 0..=last {
                for j in 0..=last {
                    to[4 * (i * width + j)..][..4].copy_from_slice(&from[j * step + 4 * i..][..4]);
                }
            }
        }
    }
}

/// Squares on the vectors of x86-64. Each stage joins pairs of lines at twice the distance of the one before.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// 16 lines of 16 words, `step` bytes apart, to as many, `width` bytes apart.
    ///
    /// # Safety
    /// All lines must be valid for reads and writes, those of `to` unshared.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) unsafe fn square16(from: *const u8, step: usize, to: *mut u8, width: usize) {
        let mut a = [_mm512_setzero_ps(); 16];
        for (j, v) in a.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *v = unsafe { _mm512_loadu_ps(from.add(j * step).cast()) };
        }
        let mut b = a;
        for i in 0..8 {
            b[2 * i] = _mm512_unpacklo_ps(a[2 * i], a[2 * i + 1]);
            b[2 * i + 1] = _mm512_unpackhi_ps(a[2 * i], a[2 * i + 1]);
        }
        // Quarter q of `a[4 * g + i]` is word 4 * q + i of lines 4 * g and the next three.
        for g in 0..4 {
            let [w, x, y, z] = [b[4 * g], b[4 * g + 1], b[4 * g + 2], b[4 * g + 3]];
            a[4 * g] = low16(w, y);
            a[4 * g + 1] = high16(w, y);
            a[4 * g + 2] = low16(x, z);
            a[4 * g + 3] = high16(x, z);
        }
        for i in 0..4 {
            let near = [_mm512_shuffle_f32x4::<0x44>(a[i], a[4 + i]), _mm512_shuffle_f32x4::<0x44>(a[8 + i], a[12 + i])];
            let far = [_mm512_shuffle_f32x4::<0xee>(a[i], a[4 + i]), _mm512_shuffle_f32x4::<0xee>(a[8 + i], a[12 + i])];
            let lines = [
                _mm512_shuffle_f32x4::<0x88>(near[0], near[1]),
                _mm512_shuffle_f32x4::<0xdd>(near[0], near[1]),
                _mm512_shuffle_f32x4::<0x88>(far[0], far[1]),
                _mm512_shuffle_f32x4::<0xdd>(far[0], far[1]),
            ];
            for (q, line) in lines.iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { _mm512_storeu_ps(to.add((4 * q + i) * width).cast(), *line) };
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn low16(a: __m512, b: __m512) -> __m512 {
        _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn high16(a: __m512, b: __m512) -> __m512 {
        _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)))
    }

    /// 8 lines of 8 words, `step` bytes apart, to as many, `width` bytes apart.
    ///
    /// # Safety
    /// All lines must be valid for reads and writes, those of `to` unshared.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn square8(from: *const u8, step: usize, to: *mut u8, width: usize) {
        let mut a = [_mm256_setzero_ps(); 8];
        for (j, v) in a.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *v = unsafe { _mm256_loadu_ps(from.add(j * step).cast()) };
        }
        let mut b = a;
        for i in 0..4 {
            b[2 * i] = _mm256_unpacklo_ps(a[2 * i], a[2 * i + 1]);
            b[2 * i + 1] = _mm256_unpackhi_ps(a[2 * i], a[2 * i + 1]);
        }
        // Half h of `a[4 * g + i]` is word 4 * h + i of lines 4 * g and the next three.
        for g in 0..2 {
            let [w, x, y, z] = [b[4 * g], b[4 * g + 1], b[4 * g + 2], b[4 * g + 3]];
            a[4 * g] = low8(w, y);
            a[4 * g + 1] = high8(w, y);
            a[4 * g + 2] = low8(x, z);
            a[4 * g + 3] = high8(x, z);
        }
        for i in 0..4 {
            let (near, far) = (_mm256_permute2f128_ps::<0x20>(a[i], a[4 + i]), _mm256_permute2f128_ps::<0x31>(a[i], a[4 + i]));
            // SAFETY: the caller's promise.
            unsafe {
                _mm256_storeu_ps(to.add(i * width).cast(), near);
                _mm256_storeu_ps(to.add((4 + i) * width).cast(), far);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn low8(a: __m256, b: __m256) -> __m256 {
        _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn high8(a: __m256, b: __m256) -> __m256 {
        _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)))
    }
}
