//! Operands of the gradients of weights, in which the samples of all steps are K: transposed rows of channels, panels of deltas in words of
//! two samples, and sums over samples.

use super::sizes::{BLOCK, LINE, Panels};
use crate::kernels::access::copy_line;
use crate::kernels::multiversion::{Body, Simd, multiversion};
use crate::kernels::transpose;
use oxidnn_expr::convert;
use oxidnn_runtime::Buf;

/// Channels of a left operand that are transposed together.
pub(super) const CHANNELS: usize = 32;
/// Samples whose deltas are added up before they are added to the total.
const CHUNK: usize = 32;

/// Words from a channel of a left operand to the next: an odd number of cache lines, which spreads channels over the cache sets; or exactly
/// `words` if these do not fill a line.
pub(super) fn pitch(words: usize) -> usize {
    if words < BLOCK { words } else { (words.div_ceil(BLOCK) | 1) * BLOCK }
}

/// Rows of channels at one stride: those of the samples up to `end`.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    pub(super) end: usize,
    pub(super) buf: Buf<'a>,
    /// The index of the first element of sample 0, modulo 2^64 if that is not in the span; and elements from row to row.
    pub(super) first: usize,
    pub(super) step: usize,
}

/// The samples of a left operand: those of the first span, then those of the second.
pub(super) type Spans<'a> = [Span<'a>; 2];

/// Words of the bf16 elements of two lines.
#[inline(always)]
fn words<const N: usize>(even: &[f32; N], odd: &[f32; N]) -> [f32; N] {
    let mut words = [0.0; N];
    for (word, (even, odd)) in words.iter_mut().zip(even.iter().zip(odd)) {
        *word = f32::from_bits(convert::bf16_pair(*even, *odd));
    }
    words
}

/// Some channels of a left operand, to be transposed.
pub(super) struct Transposed<'t, 'a> {
    pub(super) simd: Simd,
    pub(super) spans: &'t Spans<'a>,
    pub(super) samples: usize,
    /// The first channel and their number, at most [`CHANNELS`].
    pub(super) channels: (usize, usize),
    /// Samples of a word: 1 or 2.
    pub(super) each: usize,
    /// The destination: [`CHANNELS`] channels, [`pitch`] words each.
    pub(super) to: &'t mut [f32],
}

impl Transposed<'_, '_> {
    /// The channels of a sample, zeros behind the last channel and the last sample.
    #[inline(always)]
    fn line(&self, sample: usize) -> [f32; CHANNELS] {
        let mut line = [0.0; CHANNELS];
        if sample < self.samples {
            let span = &self.spans[usize::from(sample >= self.spans[0].end)];
            let at = span.first.wrapping_add(sample.wrapping_mul(span.step)).wrapping_add(self.channels.0);
            if self.channels.1 == CHANNELS {
                span.buf.read(at, &mut line);
            } else {
                span.buf.read(at, &mut line[..self.channels.1]);
            }
        }
        line
    }
}

impl Body for Transposed<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let (each, words_all) = (self.each, self.samples.div_ceil(self.each));
        let pitch = pitch(words_all);
        for start in (0..words_all).step_by(BLOCK) {
            let mut lines = [[0.0; CHANNELS]; BLOCK];
            let count = BLOCK.min(words_all - start);
            for (i, line) in lines[..count].iter_mut().enumerate() {
                let sample = (start + i) * each;
                *line = if each == 1 { self.line(sample) } else { words(&self.line(sample), &self.line(sample + 1)) };
            }
            let mut turned = [0.0; CHANNELS * BLOCK];
            let from =
                transpose::Lines { bytes: bytemuck::cast_slice(lines.as_flattened()), step: CHANNELS * 4, lines: BLOCK, count: CHANNELS };
            transpose::elements::<4>(self.simd, &from, bytemuck::cast_slice_mut(&mut turned), BLOCK);
            let room = BLOCK.min(pitch - start);
            for (to, from) in self.to.chunks_exact_mut(pitch).zip(turned.chunks_exact(BLOCK)) {
                copy_line(&from[..room], &mut to[start..start + room]);
            }
        }
    }
}

multiversion! {
    /// Converts a panel of f32 to words of bf16 pairs: a line for two of the `samples` lines from line `first` on.
    pub(super) fn narrow(from: Buf<'_>, first: usize, samples: usize, width: usize, to: &mut [f32]) {
        for (pair, to) in to.chunks_exact_mut(width).enumerate() {
            for (block, to) in to.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
                let [mut even, mut odd] = [[0.0; BLOCK]; 2];
                from.read((first + 2 * pair) * width + block * BLOCK, &mut even);
                if 2 * pair + 1 < samples {
                    from.read((first + 2 * pair + 1) * width + block * BLOCK, &mut odd);
                }
                *to = words(&even, &odd);
            }
        }
    }
}

/// Changes the line of a sample.
pub(super) type Change<'c> = dyn Fn(usize, &mut [f32; LINE]) + 'c;

multiversion! {
    /// The sums of a panel of deltas over all samples, from line `first` on. `change` (sample, line), if given, changes each line first.
    pub(super) fn totals(from: Buf<'_>, first: usize, samples: usize, panels: Panels, change: Option<&Change<'_>>) -> [f32; LINE] {
        let blocks = panels.width.min(LINE) / BLOCK;
        let mut total = [[0.0; BLOCK]; LINE / BLOCK];
        for start in (0..samples).step_by(CHUNK) {
            let mut part = [[0.0; BLOCK]; LINE / BLOCK];
            for i in start..samples.min(start + CHUNK) {
                let mut line = [[0.0; BLOCK]; LINE / BLOCK];
                for (block, to) in line[..blocks].iter_mut().enumerate() {
                    from.read((first + i) * panels.width + block * BLOCK, to);
                }
                if let Some((change, line)) = change.zip(line.as_flattened_mut().first_chunk_mut()) {
                    change(i, line);
                }
                add(&mut part, &line);
            }
            add(&mut total, &part);
        }
        let mut all = [0.0; LINE];
        all.copy_from_slice(total.as_flattened());
        all
    }
}

#[inline(always)]
fn add(to: &mut [[f32; BLOCK]; LINE / BLOCK], from: &[[f32; BLOCK]; LINE / BLOCK]) {
    for (to, from) in to.as_flattened_mut().iter_mut().zip(from.as_flattened()) {
        *to += from;
    }
}
