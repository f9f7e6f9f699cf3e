//! Executing planned [`Tiles`]: the address lists of their pixels.

mod amx;

use super::compensation::{self, Panel, Source, WeightCompensation, Weights};
use super::cursor::{Cursor, Lane};
use super::padded::Images;
use super::{Pass, Place, Tap, Tiles};
use crate::decision::How;
use crate::kernels::access::{Pos, View};
use crate::kernels::amx::{Macrokernel, ReadyMacrokernel};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::macrokernel::{Operands, PADDING, Packing, RowProvider, SumBlock};
use crate::kernels::microkernel::upconvert::UpconvertedSources;
use crate::kernels::microkernel::{AddressList, MOST_ROWS, TileStrip, epilogue};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::{PortableEpilogue, Run, Sums};
use crate::kernels::scratch::{Part, Scratch};
use crate::ops::conv::geometry::Line;
use crate::ops::conv::window::{self, place};
use crate::row::Generated;
use oxidnn_runtime::{Buf, Ctx, Decision};
use oxidnn_spec::{Arg, DataType, Error, MAX_NDIMS, Problem};
use std::sync::atomic::{AtomicBool, Ordering};

/// A pass of [`Tiles`] bound to their arguments.
#[derive(Clone, Copy)]
pub(super) struct Bound<'a> {
    pub(super) plan: &'a Tiles,
    pass: &'a Pass,
    source: usize,
    result: usize,
    /// The first result line, within an image, of the band that is computed.
    band: usize,
    zeros: usize,
    epilogue: Option<&'a PortableEpilogue<'a>>,
    compensation: &'a [i32],
    weight_compensation: Option<&'a WeightCompensation<'a>>,
    /// The source and the weights.
    pub(super) factors: [Buf<'a>; 2],
}

/// The source pixels of the rows of a tile.
struct Pixels<const N: usize> {
    /// Addresses of what a tap at offset 0 reads.
    base: [usize; N],
    /// The same as coordinates.
    at: [[i64; N]; 3],
}

impl<const N: usize> Pixels<N> {
    /// Whether what a tap of row `i` reads is inside the source.
    fn is_inside(&self, lines: &[Line; 3], tap: &Tap, i: usize) -> bool {
        let inside = |d: usize| ((self.at[d][i] + tap.at[d]) as u64) < lines[d].source as u64;
        inside(0) & inside(1) & inside(2)
    }
}

impl Bound<'_> {
    /// Writes the addresses of a tap, those of zeros for pixels outside the source; false if all are outside.
    fn tap(&self, tap: &Tap, pixels: &Pixels<MOST_ROWS>, rows: usize, to: &mut [usize; MOST_ROWS]) -> bool {
        let mut any = false;
        for (i, to) in to.iter_mut().enumerate().take(rows) {
            let inside = pixels.is_inside(&self.pass.lines, tap, i);
            any |= inside;
            *to = if inside { pixels.base[i].wrapping_add_signed(tap.a) } else { self.zeros };
        }
        any
    }

    /// Address of the first result of a line of an image.
    fn first_result(&self, image: usize, line: usize) -> usize {
        self.result + image * self.plan.to.image + line * self.plan.to.strides[1]
    }

    fn lanes(&self, unit: usize) -> [Lane; 2] {
        let (p, lines) = (self.plan, &self.pass.lines);
        let group = self.pass.units.group(unit);
        [
            Lane::new(p.from, self.source.wrapping_add(group * p.from.group), lines[2].stride),
            Lane::new(p.to, self.result.wrapping_add(group * p.to.group), lines[2].step),
        ]
    }

    /// The source pixels of the next `rows` results and the addresses of these results, for segments with taps that may read padding.
    fn pixels<const N: usize>(&self, cursor: &mut Cursor<'_>, rows: usize) -> (Pixels<N>, [usize; N]) {
        let lines = &self.pass.lines;
        let [step, to_step] = [cursor.source.offsets[1], cursor.result.offsets[1]];
        let (mut pixels, mut to) = (Pixels { base: [0; N], at: [[0; N]; 3] }, [0; N]);
        let mut i = 0;
        while i < rows {
            let n = cursor.left.min(rows - i);
            for k in 0..n {
                pixels.base[i + k] = cursor.source.now.wrapping_add(step.wrapping_mul(k));
                to[i + k] = cursor.result.now.wrapping_add(to_step.wrapping_mul(k));
                for (d, line) in lines.iter().enumerate().take(2) {
                    pixels.at[d][i + k] = cursor.at[d] as i64 * line.stride;
                }
                pixels.at[2][i + k] = (cursor.at[2] + k) as i64 * lines[2].stride;
            }
            cursor.advance(n);
            i += n;
        }
        (pixels, to)
    }

    /// Subtracts sums of the source elements that rows read, times the zero points of the weights.
    fn subtract_weight_compensation(&self, weight_compensation: &WeightCompensation<'_>, block: &mut SumBlock<'_>) {
        let mut cursor = RowProvider::cursor(self, block.unit, block.rows.start);
        let channel = (self.pass.units.group(block.unit) * self.plan.channels + block.columns.start) as i64;
        let columns = block.columns.len();
        for row in block.sums.chunks_mut(block.step).take(block.rows.len()) {
            let at = std::array::from_fn(|i| cursor.at[i] as i64 * self.pass.lines[i].stride);
            let sum = weight_compensation.row(self.pass, cursor.segment(), (cursor.image, block.unit), at);
            weight_compensation.subtract(sum, channel, &mut bytemuck::cast_slice_mut(row)[..columns]);
            cursor.advance(1);
        }
    }

    /// Lists a strip of results without taps on padding: as many tiles as the line has left, or a single tile that continues in the next
    /// line.
    #[inline(always)]
    fn inner(&self, cursor: &mut Cursor<'_>, (sums, most): (usize, usize), list: &mut AddressList<'_>) -> usize {
        let (rows, segment) = (list.rows(), cursor.segment());
        let list_all = |list: &mut AddressList<'_>, lanes: [(usize, &[usize; MOST_ROWS]); 2], tiles: usize| {
            let [a_row, c_row] = lanes.map(|lane| lane.1[1]);
            list.strip(TileStrip { tiles, sums, a_row, c_row, to: lanes[1] });
            self.pass.taps(segment, |t| list.tap(t.b, lanes[0].0.wrapping_add_signed(t.a), lanes[0].1));
        };
        if cursor.left >= rows {
            let tiles = if cursor.left / most >= rows { most } else { cursor.left / rows };
            list_all(list, [(cursor.source.now, &cursor.source.offsets), (cursor.result.now, &cursor.result.offsets)], tiles);
            cursor.advance(tiles * rows);
            return tiles;
        }
        let mut lanes = [[0; MOST_ROWS]; 2];
        let mut i = 0;
        while i < rows {
            let n = cursor.left.min(rows - i);
            for k in 0..n {
                lanes[0][i + k] = cursor.source.now + cursor.source.offsets[k];
                lanes[1][i + k] = cursor.result.now + cursor.result.offsets[k];
            }
            cursor.advance(n);
            i += n;
        }
        list_all(list, [(0, &lanes[0]), (0, &lanes[1])], 1);
        1
    }
}

impl<'a> RowProvider for Bound<'a> {
    type Cursor = Cursor<'a>;

    fn cursor(&self, unit: usize, row: usize) -> Cursor<'a> {
        Cursor::new(self.pass, row, self.lanes(unit))
    }

    #[inline]
    fn strip(&self, cursor: &mut Cursor<'a>, sums: usize, most: usize, list: &mut AddressList<'_>) -> usize {
        let (pass, segment, rows) = (self.pass, cursor.segment, list.rows());
        if cursor.segment().exact {
            return self.inner(cursor, (sums, most), list);
        }
        let (pixels, to) = self.pixels(cursor, rows);
        list.strip(TileStrip { tiles: 1, sums, a_row: 0, c_row: 0, to: (0, &to) });
        let mut line = [0; MOST_ROWS];
        pass.taps(&pass.order.segments[segment], |t| {
            if self.tap(&t, &pixels, rows, &mut line) || self.plan.compensation.is_some() {
                list.tap(t.b, 0, &line);
            }
        });
        1
    }

    fn base(&self, unit: usize) -> [usize; 2] {
        let group = self.pass.units.group(unit);
        [self.source + group * self.plan.from.group, self.result + group * self.plan.to.group]
    }

    fn store(&self, mut block: SumBlock<'_>) {
        let Some(epilogue) = self.epilogue else { return };
        if let Some(subpixel) = &self.pass.subpixel {
            return subpixel.store(self, epilogue.dst().buf(), block);
        }
        let n = epilogue.dst().dims().len();
        let channel = (self.pass.units.group(block.unit) * self.plan.channels + block.columns.start) as i64;
        let step = self.pass.lines[2].step;
        let mut cursor = self.cursor(block.unit, block.rows.start);
        let mut left = block.rows.len();
        let runs = std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let pos = position(cursor.image, channel, cursor.position(), n);
            let count = cursor.left.min(left);
            left -= count;
            cursor.advance(count);
            Some(Run { pos, dim: n - 1, step, count })
        });
        if let Some(weight_compensation) = self.weight_compensation {
            self.subtract_weight_compensation(weight_compensation, &mut block);
        }
        let (data, exact) = if self.plan.whole {
            if !self.compensation.is_empty() {
                let compensation = &self.compensation[channel as usize..][..block.columns.len()];
                let sums: &mut [i32] = bytemuck::cast_slice_mut(block.sums);
                for row in sums.chunks_mut(block.step).take(block.rows.len()) {
                    row.iter_mut().zip(compensation).for_each(|(s, c)| *s = s.wrapping_sub(*c));
                }
            }
            (block.spare, Some(block.sums))
        } else {
            (block.sums, None)
        };
        let sums = Sums { data, exact, step: block.step, columns: block.columns.len(), dim: 1 };
        epilogue.store(sums, runs);
    }
}

/// A pixel of the result in an image.
fn position(image: usize, channel: i64, at: [i64; 3], ndims: usize) -> Pos {
    let mut pos: Pos = [0; MAX_NDIMS];
    (pos[0], pos[1]) = (image as i64, channel);
    place(&mut pos, ndims, at);
    pos
}

impl Tiles {
    /// Packs the weights of all passes that do not read them in place, one after the other, to `to`.
    fn pack(&self, simd: Simd, ctx: &Ctx<'_>, weights: &View<'_>, to: Buf) {
        for pass in self.passes.iter().filter(|pass| !pass.shared) {
            let to = to.part(pass.packed_at * 4, pass.words() * 4);
            match (&pass.packed, &pass.subpixel) {
                (None, _) => {}
                (Some(packed), Some(subpixel)) => subpixel.pack(weights.buf(), (self.weights, self.panel_width), to, packed.width),
                (Some(packed), None) => ctx.executor().run(ctx.executor().threads(), pass.panels(), &|_, panel| {
                    let each = pass.macrokernel.shape().panels();
                    let from = pass.units.group(panel / each) * self.panels + panel % each;
                    packed.pack(simd, (weights.buf(), self.weights + from * self.panel), to, panel);
                }),
            }
        }
    }

    /// Runs the tasks of all passes, `task(pass, index, scratch)`, as one job: every worker has its share of each pass.
    fn all_tasks(&self, ctx: &Ctx<'_>, shares: &mut Part<'_>, task: &(dyn Fn(usize, usize, &mut [f32]) + Sync)) {
        let tasks = |pass: &Pass| pass.macrokernel.tasks();
        let workers = self.passes.iter().map(tasks).max().unwrap_or(0).min(self.workers).max(1);
        let each = |pass: &Pass| tasks(pass).div_ceil(workers);
        let all: usize = self.passes.iter().map(each).sum();
        shares.work(ctx.executor(), workers, all * workers, &|index, share| {
            let (worker, mut rest) = (index / all, index % all);
            for (i, pass) in self.passes.iter().enumerate() {
                let index = worker * each(pass) + rest;
                if rest < each(pass) {
                    return if index < tasks(pass) {
                        task(i, index, share)
                    };
                }
                rest -= each(pass);
            }
        });
    }

    /// The weights of pass `i`; `words` are the packed ones.
    fn right<'a>(&self, i: usize, weights: Buf<'a>, words: Buf<'a>) -> Panel<'a> {
        let pass = &self.passes[i];
        let (memory, at, bytes) = match &pass.packed {
            None => (weights, self.weights + pass.units.first * self.panels * self.panel, self.panel),
            Some(packed) => (words, self.passes[i].packed_at * 4, packed.words() * 4),
        };
        let (channel, depth) = (pass.units.first * self.depth, pass.units.joined * self.depth);
        Panel { memory, at, bytes, count: pass.panels(), each: pass.macrokernel.shape().panels(), channel, depth }
    }

    /// The zero points of the source.
    pub(super) fn zero_points<'a>(&self, simd: Simd, ctx: &Ctx<'a>) -> Result<Broadcast<'a>, Error> {
        let dims = ctx.bound(self.source).map(|b| b.tensor.dims()).ok_or_else(|| Error::arg(self.source, "nothing", "a memory object"))?;
        Broadcast::zero_point(simd, ctx, &self.attr, self.source, dims)
    }

    /// The zero points from a channel on; zeros behind the last.
    fn zero_points_from(&self, numbers: &Broadcast<'_>, channel: usize, out: &mut [f32]) {
        let (there, behind) = out.split_at_mut(out.len().min((self.groups * self.depth).saturating_sub(channel)));
        let mut pos: Pos = [0; MAX_NDIMS];
        pos[1] = channel as i64;
        numbers.line(&pos, 1, there);
        behind.fill(0.0);
    }

    /// What is subtracted from the sums of every channel, pass by pass.
    fn compensation<'s>(
        &self,
        on: On<'_, '_>,
        (ones, weights): (Buf, &(dyn Fn(usize) -> Panel<'s> + Sync)),
        [padded, channels]: [Part<'s>; 2],
    ) -> Result<&'s [i32], Error> {
        let On { code, simd, ctx } = on;
        let (Some(compensation), Some(kernels)) = (&self.compensation, &code.compensation) else { return Ok(&[]) };
        let (panels, mut factor) = (self.most_panels(), 1);
        let weights = Weights { executor: ctx.executor(), panels, of: weights };
        let sums = if compensation.shift.by_channel {
            let numbers = self.zero_points(simd, ctx)?;
            compensation.weighted(&|channel, out| self.zero_points_from(&numbers, channel, out), weights, padded)
        } else {
            factor = compensation.shift.flip.wrapping_add(self.zero_points(simd, ctx)?.at(&[0; MAX_NDIMS]) as i32);
            compensation.sums(kernels, ones, weights, padded)
        };
        let (width, all) = (compensation.width, self.channels * self.groups);
        let out: &mut [i32] = bytemuck::cast_slice_mut(channels.into_slice());
        for (i, (pass, out)) in self.passes.iter().zip(out.chunks_exact_mut(all.max(1))).enumerate() {
            let each = pass.macrokernel.shape().panels() * width;
            let (out, columns) = (&mut out[pass.units.first * self.channels..], pass.units.joined * self.channels);
            let sums = sums[i * panels * width..].chunks_exact(each.max(1)).take(pass.units.count);
            for (out, sums) in out.chunks_exact_mut(columns).zip(sums) {
                out.iter_mut().zip(sums).for_each(|(o, s)| *o = s.wrapping_mul(factor));
            }
        }
        Ok(out)
    }
}

impl Tiles {
    /// The compensation for zero points of the weights: sums of source pixels, and these zero points.
    fn weight_compensation<'a>(
        &self,
        on: On<'_, 'a>,
        (source, weights): (&View<'a>, &View<'a>),
        sums: Part<'a>,
    ) -> Result<WeightCompensation<'a>, Error> {
        let On { simd, ctx, .. } = on;
        let numbers = self.zero_points(simd, ctx)?;
        let zero_points = |channel: usize, out: &mut [f32]| self.zero_points_from(&numbers, channel, out);
        let signed = source.dtype() == DataType::S8;
        let Tiles { from, sizes, groups, depth, .. } = *self;
        let pixels = Source { memory: source.buf(), place: from, sizes, units: groups, depth, signed };
        let by_weights = Broadcast::zero_point(simd, ctx, &self.attr, Arg::WEIGHTS, weights.dims())?;
        let result = (source.dims().len(), self.result_channel, self.channels);
        Ok(WeightCompensation {
            pixels: pixels.sums((simd, ctx.executor()), &zero_points, sums),
            units: groups,
            zero_points: window::by_result(by_weights, weights.dims().len(), result),
        })
    }
}

/// The kernels of the passes, and of the sums of the weights' columns.
pub(super) struct Code {
    passes: Vec<ReadyMacrokernel>,
    compensation: Option<compensation::Kernels>,
}

/// What an execution runs with.
#[derive(Clone, Copy)]
struct On<'e, 'a> {
    code: &'e Code,
    simd: Simd,
    ctx: &'e Ctx<'a>,
}

impl Generated for Tiles {
    fn decision(&self, problem: &Problem) -> Decision {
        let Some(pass) = self.passes.iter().max_by_key(|p| p.macrokernel.shape().columns * p.macrokernel.shape().units) else {
            return Decision::default();
        };
        let algorithm = match pass.macrokernel {
            Macrokernel::Vector(_) => "implicit product of windows and weights, on vectors",
            Macrokernel::Amx(_) => "implicit product of windows and weights, on tiles of AMX",
        };
        let (how, copies) = (pass.macrokernel.how(), (self.scratch.packed + self.scratch.widened) * 4);
        How { algorithm: algorithm.into(), copies, cores: how.cores.min(self.workers), ..how }.decision(problem)
    }

    type Code = Code;

    fn build(&self) -> Result<Code, Error> {
        let passes = self.passes.iter().map(|pass| {
            // The first product of this binding begins at 0, since lists are kept relative to it.
            let [source, result] = [self.from.group, self.to.group].map(|group| (pass.units.first * group).wrapping_neg());
            let nowhere = Bound {
                plan: self,
                pass,
                source,
                result,
                band: 0,
                zeros: PADDING,
                epilogue: None,
                compensation: &[],
                weight_compensation: None,
                factors: [Buf::empty(); 2],
            };
            pass.macrokernel.build(Some(&nowhere))
        });
        let compensation = self.compensation.as_ref().map(|c| c.build());
        Ok(Code { passes: passes.collect::<Result<_, Error>>()?, compensation: compensation.transpose()? })
    }

    fn table_bytes(&self) -> usize {
        let passes: usize = self.passes.iter().map(|pass| size_of::<Pass>() + pass.table_bytes()).sum();
        passes + self.compensation.as_ref().map_or(0, |c| c.table_bytes())
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (weights, dst) = (View::of(simd, ctx, Arg::WEIGHTS)?, View::of(simd, ctx, self.result)?);
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let lens = &self.scratch;
        let zeros = scratch.take(lens.zeros)?.into_buf();
        let padding = if self.fills { self.zero_points(simd, ctx)?.at(&[0; MAX_NDIMS]) as i32 as u8 } else { 0 };
        zeros.fill(padding);
        let lines = scratch.take(lens.epilogue)?.into_slice();
        let ones = zeros.part(zeros.len() - 4, 4);
        ones.fill(1);
        let sums = [scratch.take(lens.panel_sums)?, scratch.take(lens.channel_sums)?];
        let pixel_sums = scratch.take(lens.pixel_sums)?;
        let words = scratch.take(lens.packed)?.into_buf();
        self.pack(simd, ctx, &weights, words);
        let right = |i: usize| self.right(i, weights.buf(), words);
        let compensation = self.compensation(On { code, simd, ctx }, (ones, &right), sums)?;
        let mut widened = scratch.take(lens.widened)?;
        let padded = scratch.take(lens.padded)?.into_buf();
        let mut shares = scratch.take(lens.workers)?;
        let source = View::of(simd, ctx, self.source)?;
        let memory = [source.buf().part(0, self.memory().min(source.buf().len())), zeros];
        let factors = || {
            Ok([
                Broadcast::scale(simd, ctx, &self.attr, self.source, source.dims())?.permuted(&[]),
                window::weight_scale(ctx, &self.attr, &weights, (source.dims().len(), self.result_channel, self.channels))?,
            ])
        };
        let weight_compensation = if self.weights_shifted {
            Some(self.weight_compensation(On { code, simd, ctx }, (&source, &weights), pixel_sums)?)
        } else {
            None
        };
        let before = Before::new(&self.attr, factors, View::optional(simd, ctx, Arg::BIAS)?.map(|b| Broadcast::along(b, 1)))?;
        let chain = Chain::new(simd, ctx, &self.attr, self.result)?.with(&before);
        let (args, epilogue) = match &self.epilogue {
            Some(epilogue) => (Some(epilogue.args(&chain, 1, compensation, lines)?), None),
            None => (None, Some(PortableEpilogue::new(chain)?)),
        };
        let pixels = if self.padded.is_some() { padded } else { source.buf() };
        let bound = Bound {
            plan: self,
            pass: &self.passes[0],
            source: pixels.as_ptr().addr() + self.from.base,
            result: dst.buf().as_ptr().addr() + self.to.base,
            band: 0,
            zeros: zeros.as_ptr().addr(),
            epilogue: epilogue.as_ref(),
            compensation,
            weight_compensation: weight_compensation.as_ref(),
            factors: [source.buf(), weights.buf()],
        };
        let columns = self.channels * self.groups;
        // With compensation, every pass has epilogue operands of its own.
        let apart = if compensation.is_empty() { 0 } else { epilogue::Epilogue::apart(columns) };
        let left = &AtomicBool::new(false);
        let run = |sources, (before, band): (usize, usize), (i, task): (usize, usize), share: &mut [f32]| {
            let pass = &self.passes[i];
            let Panel { memory: b, at: b_at, bytes: b_panel, each, .. } = right(i);
            let first_column: &(dyn Fn(usize) -> usize + Sync) = &|unit| i * apart + pass.units.group(unit) * self.channels;
            let compensation = compensation.get(i * columns..).unwrap_or_default();
            let operands = Operands {
                simd,
                rows: &Bound { pass, compensation, band, result: bound.first_result(before, band), ..bound },
                a: pixels,
                zeros,
                sources,
                left,
                b,
                notes: ctx.notes(Arg::WEIGHTS),
                packs: Packing::Nothing,
                b_unit: &|unit| b_at + unit * b_panel * each,
                b_panel,
                b_row: 0,
                a_step: 0,
                c: dst.buf(),
                epilogue: args.as_ref().map(|a| (a, first_column)),
            };
            code.passes[i].task(task, share, &operands);
        };
        match &self.padded {
            None => self.all_tasks(ctx, &mut shares, &|i, task, share| run(None, (0, 0), (i, task), share)),
            Some((padded, place)) => {
                let stride = self.passes[0].lines[1].stride as usize;
                let images = (0..source.dims()[0] as usize).step_by(padded.images);
                for (before, band) in images.flat_map(|image| padded.bands().map(move |band| (image, band))) {
                    let place = Place { base: place.base + before * place.image, ..*place };
                    padded.copy((simd, ctx.executor()), &Images { memory: source.buf(), place, line: band * stride, padding }, pixels);
                    self.all_tasks(ctx, &mut shares, &|i, task, share| run(None, (before, band), (i, task), share));
                }
            }
        }
        if let Some(wide) = self.widens().filter(|_| left.load(Ordering::Relaxed)) {
            let sources = UpconvertedSources::new(wide, (simd, ctx.executor()), memory, &mut widened);
            self.all_tasks(ctx, &mut shares, &|i, task, share| run(Some(sources), (0, 0), (i, task), share));
        }
        Ok(())
    }
}
