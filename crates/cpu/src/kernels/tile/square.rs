//! Transposition of 32-bit words in vector registers. One of the few files with unsafe code: it calls code for the instruction sets of a
//! [`Simd`], and loads and stores vectors at places that it has checked.

use crate::kernels::multiversion::Simd;
use crate::target::Isa;

/// Lines of words to be transposed.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Memory, from the first line on; it need not be aligned.
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
        let there = lines.saturating_sub(first).min(side);
        for i in (0..count).step_by(side) {
            let part = Part { step, width, lines: there, words: side.min(count - i), columns: side.min(width - first) };
            part.turn(simd.isa(), &bytes[(first * step + 4 * i).min(bytes.len())..], &mut to[4 * (i * width + first)..]);
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

/// A square, or the existing part of one.
#[derive(Clone, Copy)]
struct Part {
    /// Bytes from one line to the next, and words of a line of the result.
    step: usize,
    width: usize,
    /// Lines, and words of each.
    lines: usize,
    words: usize,
    /// Columns of the result; those behind the lines are zeros.
    columns: usize,
}

impl Part {
    fn turn(self, isa: Isa, from: &[u8], to: &mut [u8]) {
        let Part { step, width, lines, words, columns } = self;
        let read = lines.checked_sub(1).map_or(0, |last| last * step + 4 * words);
        assert!(from.len() >= read && to.len() >= 4 * ((words - 1) * width + columns), "a square outside its memory");
        match isa {
            // SAFETY: a `Simd` of an instruction set exists only where the processor has it; the words of all lines have been checked to be
            // inside both slices.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if (lines, words, columns) == (16, 16, 16) => unsafe {
                x86::square16::<true>(from.as_ptr(), to.as_mut_ptr(), &self)
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if columns == 16 => unsafe { x86::square16::<false>(from.as_ptr(), to.as_mut_ptr(), &self) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 if (lines, words, columns) == (8, 8, 8) => unsafe { x86::square8::<true>(from.as_ptr(), to.as_mut_ptr(), &self) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 if columns == 8 => unsafe { x86::square8::<false>(from.as_ptr(), to.as_mut_ptr(), &self) },
            _ => {
                for i in 0..words {
                    let (line, _) = to[4 * i * width..][..4 * columns].as_chunks_mut::<4>();
                    for (j, word) in line.iter_mut().enumerate() {
                        *word = if j < lines { from[j * step + 4 * i..].first_chunk().copied().unwrap_or_default() } else { [0; 4] };
                    }
                }
            }
        }
    }
}

/// Squares in vectors of x86-64. Each stage combines pairs of lines at twice the distance of the stage before. A whole square has constant
/// sizes, so its lines stay in registers; those of a partial square are on the stack.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Part;
    use std::arch::x86_64::*;

    /// Transposes up to 16 lines of up to 16 words (exactly these if `WHOLE`) to as many lines as there are words, each of 16.
    ///
    /// # Safety
    /// All words must be valid for reads and writes, those of `to` unshared.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) unsafe fn square16<const WHOLE: bool>(from: *const u8, to: *mut u8, part: &Part) {
        let step = part.step;
        let (lines, words) = if WHOLE { (16, 16) } else { (part.lines, part.words) };
        let width = 4 * part.width;
        let mut a = [_mm512_setzero_ps(); 16];
        let there = (0xffff_u32 >> (16 - words)) as u16;
        for (j, v) in a.iter_mut().enumerate().take(lines) {
            // SAFETY: the caller's promise.
            *v = unsafe { _mm512_maskz_loadu_ps(there, from.add(j * step).cast()) };
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
            for (q, line) in lines.iter().enumerate().filter(|(q, _)| 4 * q + i < words) {
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

    /// Transposes up to 8 lines of up to 8 words (exactly these if `WHOLE`) to as many lines as there are words, each of 8.
    ///
    /// # Safety
    /// All words must be valid for reads and writes, those of `to` unshared.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn square8<const WHOLE: bool>(from: *const u8, to: *mut u8, part: &Part) {
        let step = part.step;
        let (lines, words) = if WHOLE { (8, 8) } else { (part.lines, part.words) };
        let width = 4 * part.width;
        let mut a = [_mm256_setzero_ps(); 8];
        let there = _mm256_cmpgt_epi32(_mm256_set1_epi32(words as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        for (j, v) in a.iter_mut().enumerate().take(lines) {
            // SAFETY: the caller's promise.
            *v = unsafe { _mm256_maskload_ps(from.add(j * step).cast(), there) };
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
            for (i, line) in [(i, near), (4 + i, far)].into_iter().filter(|(i, _)| *i < words) {
                // SAFETY: the caller's promise.
                unsafe { _mm256_storeu_ps(to.add(i * width).cast(), line) };
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
