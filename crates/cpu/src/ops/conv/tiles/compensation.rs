//! Compensation of integer sums. Column sums of the weights are subtracted, times the shift of the source: its zero point, and 128 if
//! signed bytes are multiplied as unsigned ones. Sums of the source elements that a row reads are subtracted, times the zero points of the
//! weights.
//!
//! Results with different taps have different sums, so every pass has its own. Passes are phases; and since padding stands for the zero
//! point, which the source's type may not be able to represent, results of a phase that read padding are then passes by the taps that they read.

use super::order::{self, Run, Segment};
use super::run::Code;
use super::{Pass, Place, Tiles};
use crate::kernels::access::Pos;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::bytes;
use crate::kernels::microkernel::{
    AddressList, DotType, InitialSums, MOST_ROWS, Microkernel, MicrokernelCall, MicrokernelKey, ONE_STRIP, Panels, Stride, TileStrip,
};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Part, Scratch};
use crate::ops::conv::geometry::{Line, Phase};
use crate::row::Generated;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Decision, Executor, Skip};
use oxidnn_spec::{DataType, Error, MAX_NDIMS, Problem};

/// Most passes.
const MAX_PASSES: usize = 125;

/// The shift of the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    /// What is added to the zero point (128 if signed bytes are multiplied as unsigned ones), and whether zero points differ by channel.
    pub(super) flip: i32,
    pub(super) by_channel: bool,
}

/// The compensation of integer sums.
#[derive(Debug)]
pub(super) struct Compensation {
    isa: Isa,
    pub(super) shift: Shift,
    /// Columns of a panel.
    pub(super) width: usize,
    /// For each pass, the runs of contiguous taps in a panel: first byte, and steps.
    stretches: Vec<Vec<[usize; 2]>>,
}

/// Reads the zero points of the source from a channel on.
pub(super) type ZeroPoints<'a> = &'a (dyn Fn(usize, &mut [f32]) + Sync);

/// Elements of a step.
const STEP_ELEMENTS: usize = 4;
/// Columns of the widest panel.
const MAX_PANEL_COLUMNS: usize = 64;
/// Channels of a pixel that are summed at a time.
const CHANNELS: usize = 512;

/// The kernels: for the first run of taps, and for those added to it.
pub(super) type Kernels = [Microkernel; 2];

/// The weights of a pass.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub(super) memory: Buf<'a>,
    /// Byte of the first panel, and bytes of one.
    pub(super) at: usize,
    pub(super) bytes: usize,
    /// Panels in all, and of a product.
    pub(super) count: usize,
    pub(super) each: usize,
    /// The first source channel, and channels of a product.
    pub(super) channel: usize,
    pub(super) depth: usize,
}

/// The weights to be summed: at most `panels` panels of each pass.
#[derive(Clone, Copy)]
pub(super) struct Weights<'w, 's> {
    pub(super) executor: &'w dyn Executor,
    pub(super) panels: usize,
    pub(super) of: &'w (dyn Fn(usize) -> Panel<'s> + Sync),
}

/// The lines of the passes: one for each combination of phases, and, if padding changes the sums, for each set of taps.
///
/// # Errors
/// Too many passes.
pub(super) fn passes(lines: &[Line; 3], shifted: bool) -> Result<Vec<[Line; 3]>, Skip> {
    let inside = |line: &Line| {
        line.phases.iter().all(|p| p.reach(line.stride, 0, p.count.max(1)).is_none_or(|(low, high)| low >= 0 && high < line.source))
    };
    let whole = !shifted || lines.iter().all(inside);
    let parts = |line: &Line| -> Vec<Line> {
        let phases = line.phases.iter().enumerate();
        if whole {
            return phases.map(|(i, p)| line.part(i, 0, p.count, 0..p.taps.len())).collect();
        }
        phases.flat_map(|(i, p)| Run::all(p, line).into_iter().map(move |r| line.part(i, r.first, r.count, r.taps))).collect()
    };
    let [depth, height, width] = [0, 1, 2].map(|i| parts(&lines[i]));
    if depth.len().saturating_mul(height.len()).saturating_mul(width.len()) > MAX_PASSES {
        return Err(Skip::Shape("sums of columns that differ in more than 125 ways, by phase or at padding"));
    }
    let mut all = Vec::new();
    for d in &depth {
        for h in &height {
            all.extend(width.iter().map(|w| [d.clone(), h.clone(), w.clone()]));
        }
    }
    Ok(all)
}

/// Whether results with all taps, those on padding read as zero points, take less time in tiles of `tall` rows than passes by the taps that
/// they read.
pub(super) fn is_sooner_in_one(lines: &[Line; 3], images: usize, tall: usize) -> bool {
    costs(lines, images, tall).is_some_and(|[one, many]| one < many)
}

/// Whether they take more than twice as long: images about as small as the window.
pub(super) fn is_later_in_one(lines: &[Line; 3], images: usize, tall: usize) -> bool {
    costs(lines, images, tall).is_some_and(|[one, many]| one > 2 * many)
}

/// The time of results with all taps, and of passes by taps. Every pass sums its columns, as a tile of one row.
fn costs(lines: &[Line; 3], images: usize, tall: usize) -> Option<[usize; 2]> {
    let cost = |pass: &[Line; 3]| {
        let [rows, taps] = [|p: &Phase| p.count, |p: &Phase| p.taps.len()].map(|n| pass.iter().map(|l| n(&l.phases[0])).product::<usize>());
        order::cost(rows * images, taps, tall) + order::cost(1, taps, tall)
    };
    let all = |shifted: bool| passes(lines, shifted).ok().map(|passes| passes.iter().map(cost).sum::<usize>());
    Some([all(false)?, all(true)?])
}

impl Compensation {
    /// For passes over panels of `width` columns.
    pub(super) fn new((isa, shift): (Isa, Shift), width: usize, passes: &[Pass]) -> Compensation {
        let stretches = passes.iter().map(|pass| {
            let steps = pass.steps;
            let mut taps: Vec<usize> = Vec::new();
            pass.order.segments.iter().take(1).for_each(|s| pass.taps(s, |tap| taps.push(tap.b)));
            taps.sort_unstable();
            let mut stretches: Vec<[usize; 2]> = Vec::new();
            for b in taps {
                match stretches.last_mut() {
                    Some([first, all]) if *first + *all * width * 4 == b => *all += steps,
                    _ => stretches.push([b, steps]),
                }
            }
            stretches
        });
        Compensation { isa, shift, width, stretches: stretches.collect() }
    }

    /// Bytes of its tables.
    pub(super) fn table_bytes(&self) -> usize {
        self.stretches.iter().map(|s| size_of_val(s) + size_of_val(&**s)).sum()
    }

    /// Generates the kernels.
    pub(super) fn build(&self) -> Result<Kernels, Error> {
        let spec = MicrokernelKey { a_step: Stride::Given, ..MicrokernelKey::new(DotType::U8S8, 1, self.width / self.isa.width().lanes()) };
        let next = MicrokernelKey { start: InitialSums::Load, ..spec.clone() };
        Ok([Microkernel::get(self.isa, &spec)?, Microkernel::get(self.isa, &next)?])
    }

    /// Sums the columns of all panels, pass by pass, by a microkernel of one row whose source is ones.
    pub(super) fn sums<'s>(&self, kernels: &Kernels, ones: Buf, weights: Weights<'_, 's>, to: Part<'s>) -> &'s [i32] {
        let mut words = [0; ONE_STRIP];
        let mut list = AddressList::new(&mut words, 1);
        list.strip(TileStrip { tiles: 1, sums: 0, a_row: 0, c_row: 0, to: (0, &[0; MOST_ROWS]) });
        list.tap(0, ones.as_ptr().addr(), &[0; MOST_ROWS]);
        let sums = to.fill(weights.executor, self.width, &|index, sums| {
            let (pass, panel) = (index / weights.panels, index % weights.panels);
            let Panel { memory: b, at, bytes, count, .. } = (weights.of)(pass);
            sums.fill(0.0);
            for (i, [first, steps]) in self.stretches[pass].iter().enumerate().filter(|_| panel < count) {
                let raw = MicrokernelCall::raw(list.strips(), *steps, Panels::one(at + panel * bytes + first), (&mut *sums, self.width));
                kernels[i.min(1)].run(MicrokernelCall { a: ones, zeros: ones, b, ..raw });
            }
        });
        bytemuck::cast_slice(sums)
    }

    /// The same with every channel multiplied by its zero point plus the flip.
    pub(super) fn weighted<'s>(&self, zero_points: ZeroPoints<'_>, weights: Weights<'_, 's>, to: Part<'s>) -> &'s [i32] {
        let sums = to.fill(weights.executor, self.width, &|index, sums| {
            let (pass, panel) = (index / weights.panels, index % weights.panels);
            let Panel { memory: b, at, bytes, count, each, channel, depth } = (weights.of)(pass);
            let sums: &mut [i32] = bytemuck::cast_slice_mut(sums);
            sums.fill(0);
            let (mut words, row) = ([0u8; MAX_PANEL_COLUMNS * STEP_ELEMENTS], self.width * STEP_ELEMENTS);
            let (channel, all) = (channel + panel / each.max(1) * depth, depth.div_ceil(STEP_ELEMENTS));
            let stretches = self.stretches[pass].iter().filter(|_| panel < count);
            for (step, line) in stretches.flat_map(|[first, steps]| (0..*steps).map(move |i| (i, first + i * row))) {
                let mut by = [0.0; STEP_ELEMENTS];
                zero_points(channel + step % all * STEP_ELEMENTS, &mut by);
                let by = by.map(|zero_point| (zero_point as i32).wrapping_add(self.shift.flip));
                b.read(at + panel * bytes + line, &mut words[..row]);
                for (sum, word) in sums.iter_mut().zip(words.as_chunks::<STEP_ELEMENTS>().0) {
                    for (weight, by) in word.iter().zip(by) {
                        *sum = sum.wrapping_add(i32::from(*weight as i8).wrapping_mul(by));
                    }
                }
            }
        });
        bytemuck::cast_slice(sums)
    }
}

/// The pixels of a source of bytes.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) memory: Buf<'a>,
    pub(super) place: Place,
    /// Depth, height and width, products of an image, and channels of each.
    pub(super) sizes: [usize; 3],
    pub(super) units: usize,
    pub(super) depth: usize,
    pub(super) signed: bool,
}

impl Source<'_> {
    /// The sums over a product's channels at every pixel, less their zero points: image by image, product by product.
    pub(super) fn sums<'s>(&self, (simd, executor): (Simd, &dyn Executor), zero_points: ZeroPoints<'_>, to: Part<'s>) -> &'s [i32] {
        let [depth, height, width] = self.sizes;
        let sums = to.fill(executor, width, &|line, sums| {
            let (h, rest) = (line % height, line / height);
            let (d, rest) = (rest % depth, rest / depth);
            let (unit, image) = (rest % self.units, rest / self.units);
            let Place { base, image: images, group, strides } = self.place;
            let at = base + image * images + unit * group + d * strides[0] + h * strides[1];
            let sums: &mut [i32] = bytemuck::cast_slice_mut(sums);
            sums.fill(0);
            for first in (0..self.depth).step_by(CHANNELS) {
                let (mut by, mut bytes, count) = ([0.0; CHANNELS], [0u8; CHANNELS], CHANNELS.min(self.depth - first));
                let (by, bytes) = (&mut by[..count], &mut bytes[..count]);
                zero_points(unit * self.depth + first, by);
                let shift = by.iter().fold(0i32, |sum, x| sum.wrapping_add(*x as i32));
                for (w, sum) in sums.iter_mut().enumerate() {
                    self.memory.read(at + w * strides[2] + first, bytes);
                    *sum = sum.wrapping_add(bytes::sum(simd, self.signed, bytes)).wrapping_sub(shift);
                }
            }
        });
        bytemuck::cast_slice(sums)
    }
}

/// The compensation for zero points of the weights: sums of the source elements that a row reads, times these.
#[derive(Clone, Copy)]
pub(super) struct WeightCompensation<'a> {
    /// The sums of all pixels.
    pub(super) pixels: &'a [i32],
    pub(super) units: usize,
    /// The zero points by position in the result.
    pub(super) zero_points: Broadcast<'a>,
}

impl WeightCompensation<'_> {
    /// The sum of the source elements that a row reads: over the taps of its segment around `at` that lie inside the source.
    pub(super) fn row(&self, pass: &Pass, segment: &Segment, (image, unit): (usize, usize), at: [i64; 3]) -> i32 {
        let lines = &pass.lines;
        let [depth, height, width] = [0, 1, 2].map(|i| lines[i].source);
        let first = (image * self.units + unit) as i64 * depth * height * width;
        let mut sum = 0i32;
        pass.taps(segment, |tap| {
            let [d, h, w] = [0, 1, 2].map(|i| at[i] + tap.at[i]);
            if (0..depth).contains(&d) && (0..height).contains(&h) && (0..width).contains(&w) {
                sum = sum.wrapping_add(self.pixels[(first + (d * height + h) * width + w) as usize]);
            }
        });
        sum
    }

    /// Subtracts it from a row of sums that begins at channel `channel`.
    pub(super) fn subtract(&self, sum: i32, channel: i64, sums: &mut [i32]) {
        let (mut pos, mut numbers): (Pos, _) = ([0; MAX_NDIMS], [0.0; MAX_PANEL_COLUMNS]);
        for (i, sums) in sums.chunks_mut(MAX_PANEL_COLUMNS).enumerate() {
            pos[1] = channel + (i * MAX_PANEL_COLUMNS) as i64;
            let numbers = &mut numbers[..sums.len()];
            self.zero_points.line(&pos, 1, numbers);
            sums.iter_mut().zip(numbers).for_each(|(s, z)| *s = s.wrapping_sub((*z as i32).wrapping_mul(sum)));
        }
    }
}

/// A convolution of bytes whose padding is read as the source's zero point, in a padded copy on AMX and as a row of it on vectors: every result
/// then has the same compensation, whether its window reads padding or not. The zero point is known only at execution. If it does not fit into
/// the source's type, the other plan runs: without the copy, and with passes of their own for results that read padding.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) tiles: Tiles,
    /// For zero points that the source's type cannot represent.
    pub(super) other: Tiles,
}

impl Generated for Filled {
    type Code = [Code; 2];

    fn decision(&self, problem: &Problem) -> Decision {
        self.tiles.decision(problem)
    }

    fn build(&self) -> Result<[Code; 2], Error> {
        Ok([self.tiles.build()?, self.other.build()?])
    }

    fn table_bytes(&self) -> usize {
        self.tiles.table_bytes() + self.other.table_bytes()
    }

    fn run(&self, [code, other]: &[Code; 2], simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        let zero_point = self.tiles.zero_points(simd, ctx)?.at(&[0; MAX_NDIMS]) as i32;
        let signed = ctx.bound(self.tiles.source).is_some_and(|bound| bound.tensor.dtype == DataType::S8);
        let fits = if signed { i8::try_from(zero_point).is_ok() } else { u8::try_from(zero_point).is_ok() };
        if fits { self.tiles.run(code, simd, ctx, scratch) } else { self.other.run(other, simd, ctx, scratch) }
    }
}
