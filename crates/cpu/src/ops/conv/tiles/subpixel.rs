//! Gradients of few channels with strides as a sub-pixel convolution: the channels of all phases are the columns of one product.
//!
//! The gradient of a 3-channel image has 3 columns, a vector 16. With stride 2 there are 2x2 phases, which have different weights but read
//! mostly the same source pixels. So the channels of all phases become columns of one product, whose taps are all source offsets that any
//! phase reads; weights that a phase does not have are zeros. A row of sums is a pixel of each phase, and is copied to these.

use super::run::Bound;
use crate::kernels::macrokernel::{RowProvider, SumBlock};
use crate::ops::conv::geometry::{Line, Phase};
use oxidnn_runtime::Buf;

/// Most columns of all phases.
const MAX_COLUMNS: usize = 64;
/// Most channels of a phase.
const MAX_CHANNELS: usize = 8;

/// Phases whose channels are columns of one product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SubPixel {
    /// The lines before joining, with their phases.
    lines: [Line; 3],
    /// Source offsets in each dimension that any phase reads.
    offsets: [Vec<i64>; 3],
    /// Channels of a phase.
    channels: usize,
    /// Depth of a tap, sizes of the window.
    depth: usize,
    kernel: [usize; 3],
}

impl SubPixel {
    /// The phases of `lines` as one, if that is faster.
    pub(super) fn new(lines: &[Line; 3], channels: usize, depth: usize, kernel: [usize; 3]) -> Option<SubPixel> {
        let phases: usize = lines.iter().map(|l| l.phases.len()).product();
        if phases < 2 || channels > MAX_CHANNELS || phases * channels > MAX_COLUMNS {
            return None;
        }
        let offsets = std::array::from_fn(|i| {
            let mut offsets: Vec<i64> = lines[i].phases.iter().flat_map(|p| p.taps.iter().map(|t| t.1)).collect();
            offsets.sort_unstable();
            offsets.dedup();
            offsets
        });
        Some(SubPixel { lines: lines.clone(), offsets, channels, depth, kernel })
    }

    fn phases(&self) -> [usize; 3] {
        std::array::from_fn(|i| self.lines[i].phases.len())
    }

    /// Columns of the product.
    pub(super) fn columns(&self) -> usize {
        self.phases().iter().product::<usize>() * self.channels
    }

    /// Taps of the product in each dimension.
    pub(super) fn taps(&self) -> [usize; 3] {
        std::array::from_fn(|i| self.offsets[i].len())
    }

    /// The lines of the product, with one phase.
    pub(super) fn lines(&self) -> [Line; 3] {
        std::array::from_fn(|i| {
            let taps = self.offsets[i].iter().enumerate().map(|(u, offset)| (u as i64, *offset)).collect();
            let count = self.lines[i].phases.iter().map(|p| p.count).max().unwrap_or(0);
            Line { phases: vec![Phase { first: 0, count, taps }], ..self.lines[i] }
        })
    }

    /// Packs weights in lines of `width` columns. `from` has `f32` weights by taps and depth, in lines of `line` columns, from byte `at`
    /// on.
    pub(super) fn pack(&self, from: Buf, (at, line): (usize, usize), to: Buf, width: usize) {
        let (from, taps, [_, ph, pw]) = (from.part(at, from.len() - at), self.taps(), self.phases());
        let mut row = [0.0f32; MAX_COLUMNS];
        for tap in 0..taps.iter().product() {
            let tap_at = [tap / (taps[1] * taps[2]), tap / taps[2] % taps[1], tap % taps[2]];
            for k in 0..self.depth {
                let row = &mut row[..width];
                row.fill(0.0);
                for (i, out) in row[..self.columns()].chunks_exact_mut(self.channels).enumerate() {
                    let phase = [i / (ph * pw), i / pw % ph, i % pw];
                    let Some([d, h, w]) = self.weight(phase, tap_at) else { continue };
                    let tap = (d * self.kernel[1] + h) * self.kernel[2] + w;
                    from.read((tap * self.depth + k) * line, out);
                }
                to.write((tap * self.depth + k) * width, row);
            }
        }
    }

    /// The weight coordinates of a phase at a tap; `None` if the phase does not have it.
    fn weight(&self, phase: [usize; 3], tap: [usize; 3]) -> Option<[usize; 3]> {
        let mut weight = [0; 3];
        for i in 0..3 {
            let taps = &self.lines[i].phases[phase[i]].taps;
            weight[i] = taps.iter().find(|t| t.1 == self.offsets[i][tap[i]])?.0 as usize;
        }
        Some(weight)
    }

    /// Stores a block of sums: a row is a pixel of each phase. NaN may come from a zero that stands for a missing weight; then the pixel is
    /// summed again.
    pub(super) fn store(&self, bound: &Bound<'_>, to: Buf, block: SumBlock<'_>) {
        let place = &bound.plan.to;
        let [pd, ph, pw] = self.phases();
        let mut cursor = bound.cursor(block.unit, block.rows.start);
        for row in block.sums.chunks_mut(block.step).take(block.rows.len()) {
            let (image, at) = (cursor.image, cursor.at);
            if row[..self.columns()].iter().fold(false, |any, sum| any | sum.is_nan()) {
                self.sums(bound, (image, at), row);
            }
            let has = |i: usize, phase: usize| at[i] < self.lines[i].phases[phase].count;
            let across = (0..pw).filter(|p| has(2, *p)).count();
            for (i, d, h) in (0..pd * ph).map(|i| (i, i / ph, i % ph)).filter(|(_, d, h)| has(0, *d) && has(1, *h)) {
                let row = &row[i * pw * self.channels..][..across * self.channels];
                let pixel = |i: usize, phase: usize| (self.lines[i].phases[phase].first + at[i] as i64 * self.lines[i].step) as usize;
                let ([d, h, w], [sd, sh, sw]) = ([pixel(0, d), pixel(1, h), pixel(2, 0)], place.strides);
                to.write((place.base + image * place.image + d * sd + h * sh + w * sw) / 4, row);
            }
            cursor.advance(1);
        }
    }

    /// The sums of a pixel of each phase, by the weights that each phase has.
    #[cold]
    fn sums(&self, bound: &Bound<'_>, (image, at): (usize, [usize; 3]), row: &mut [f32]) {
        let (from, [_, ph, pw], [source, weights]) = (&bound.plan.from, self.phases(), bound.factors);
        let (weights, line) = (weights.part(bound.plan.weights, weights.len() - bound.plan.weights), bound.plan.panel_width);
        let mut each = [0.0; MAX_CHANNELS];
        for (i, sums) in row[..self.columns()].chunks_exact_mut(self.channels).enumerate() {
            sums.fill(0.0);
            let [ds, hs, ws] = [i / (ph * pw), i / pw % ph, i % pw];
            let taps = |i: usize, phase: usize| self.lines[i].phases[phase].taps.iter();
            for (d, h, w) in taps(0, ds).flat_map(|d| taps(1, hs).flat_map(move |h| taps(2, ws).map(move |w| (d, h, w)))) {
                let pixel = |i: usize, offset: i64| {
                    let pixel = at[i] as i64 * self.lines[i].stride + offset;
                    (0..self.lines[i].source).contains(&pixel).then(|| pixel as usize * from.strides[i])
                };
                let (Some(x), Some(y), Some(z)) = (pixel(0, d.1), pixel(1, h.1), pixel(2, w.1)) else { continue };
                let first = (from.base + image * from.image + x + y + z) / 4;
                let tap = (d.0 as usize * self.kernel[1] + h.0 as usize) * self.kernel[2] + w.0 as usize;
                for k in 0..self.depth {
                    let (element, each) = (source.get::<f32>(first + k), &mut each[..self.channels]);
                    weights.read((tap * self.depth + k) * line, each);
                    sums.iter_mut().zip(each).for_each(|(sum, weight)| *sum += element * *weight);
                }
            }
        }
    }
}
