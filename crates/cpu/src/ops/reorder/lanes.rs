//! `lanes:jit`: reorders with short contiguous runs, such as the blocks of blocked layouts. Vectors are loaded along the source and stored
//! along the destination, and their elements are permuted in registers, converted, multiplied by scales and padded.
//!
//! Loops are cut into *bits*, loops of two positions. The lowest bits along the destination are the lanes of stored vectors, those along
//! the source the lanes of loaded ones; some bits may be both. These bits are a tile, which a kernel permutes in registers ([`Permute`]). A
//! size that is odd when it is halved gets one position more, and if fewer elements than a vector's are contiguous, bits with a single
//! position are added. So tiles at ends may be partial, and masks say what is read, written and zeroed ([`Regions`]). If the contiguous
//! elements of one tensor are a few rows of the other, and their number is no power of two (the three channels of an image), a tile is a
//! vector of each of these rows.

use super::factors::{numbers, scales, still, types, with_zero_points, zero_points};
use super::loops::{self, PADDED, Walk, loops, padded, positions};
use super::regions::{Ends, Region, Regions, Size, Spot, partial};
use super::reorder;
use super::sums::{Behind, Summed};
use super::time::{BANDWIDTHS, Timed, Times, ZEROS, total};
use crate::kernels::multiversion::Simd;
use crate::kernels::permute::{LANES, Masks, Permuter, Tiles, Vectors};
use crate::kernels::pointwise::{GRAIN, clear, cleared, evenly};
use crate::kernels::scratch::Scratch;
use crate::row::Generated;
use crate::{CpuTarget, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::permute::{BITS, Masked, Order, Permute, bits};
use oxidnn_jit::kernels::transpose::{Factor, Factors as Kinds};
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Error, PostOp, Problem};
use std::ops::Range;

/// Most elements of the tiles of a call, missing ones included: what it reads and writes stays in L2.
const NUMBERS: usize = 16384;
/// Fewest elements of a masked tile, which is a call of its own.
const LEAST: usize = 48;
/// Numbers of rows of a tile that are no powers of two.
const FEW: [usize; 4] = [3, 5, 6, 7];
/// Nanoseconds of an execution; of a call; of a vector of a whole tile, and of its share in a permutation, and in a conversion; of one of a partial tile, of
/// one of zeros, and of one that is written under a mask; and of a call with scales by lane, and by lane of each vector.
const TIMES: Times<10> =
    [[185.0, 41.0, 0.43, 0.092, 0.17, 1.1, 0.7, 6.5, 23.0, 95.0], [165.0, 27.0, 0.54, 0.36, 0.16, 1.25, 1.6, 0.0, 33.0, 165.0]];
/// The time of whole vectors that are not permuted, relative to the same in a permutation; and of those that cross cache lines.
const KEPT: f64 = 1.35;
const CROSSING: f64 = 2.7;
/// Most places from which memory is prefetched at the same time; and most where vectors are written across lines that caches of so many bytes hold.
const STREAMS: [usize; 2] = [64, 4096];
const NEAR: usize = 8 << 20;
/// All that may end within a tile: padded dimensions, and loops of odd size.
pub(super) const ENDS: usize = PADDED + 4;
/// The index of positions among a loop's steps: behind destination, source, and the scales of both.
pub(super) const FIRST: usize = 4;

pub(crate) type Loop = loops::Loop<{ FIRST + ENDS }>;
pub(super) type At = [usize; FIRST + ENDS];

/// A planned reorder.
#[derive(Debug)]
pub(crate) struct Lanes {
    jit: Isa,
    /// Destination and source.
    args: [Arg; 2],
    kernel: Permute,
    /// The first elements of destination and source.
    starts: Spot,
    /// The places, within a tile, of the vectors that are read and written, and of their lanes.
    vectors: [Vec<At>; 2],
    lanes: [Vec<At>; 2],
    /// `vectors` in bytes.
    tables: Vectors,
    regions: Regions,
    /// The number of positions of a whole tile along each end.
    all: Left,
    /// Tiles, including those that are not written.
    count: usize,
    /// With a sum post-op: the factor of the old elements of the destination.
    adds: f32,
    /// Elements of a tile, and their mean number that exist.
    filled: [usize; 2],
    /// For each end, the lanes that are read and written before it.
    parts: [[Parts; ENDS]; 2],
    /// Whether the destination is stored non-temporally.
    far: bool,
    /// Whether the next elements of destination and source are those of different tiles.
    apart: bool,
    /// Bytes of the destination that are cleared before, as most of it is padding.
    cleared: usize,
    /// Whether elements have the same places in both tensors, which then may be the same memory.
    alike: bool,
}

/// Plans such a reorder.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        let data = match Lanes::new(Moved::of(op, &problem.attr)?, jit) {
            Err(_) => Lanes::of(Moved::of(op, &problem.attr)?, jit, true)?,
            Ok(data) => data,
        };
        let (sums, scratch) = Behind::plan(op, problem, jit)?;
        let far = !target.is_near(op.src.bytes().saturating_add(op.dst.bytes()));
        // Vectors of AVX-512 write zeros as fast as they are cleared. Only tensors of one layout may be the same memory.
        let apart = !jit.avx512 && !problem.attr.reads_dst() && op.src.layout != op.dst.layout;
        let data = match cleared(&op.dst).filter(|_| apart) {
            Some(cleared) => Lanes { cleared, regions: data.regions.without_zeros(), ..data },
            None => data,
        };
        Ok((Summed::new(op, target, Lanes { far, ..data }, sums), scratch))
    })
}

/// The bits of a tile while they are chosen.
struct Draft {
    rest: Vec<Loop>,
    ends: Vec<[usize; 2]>,
    /// The end after the single position of added bits.
    void: Option<usize>,
}

/// A bit, and whether it is part of a loop.
type Bit = (Loop, bool);

impl Draft {
    /// Adds an end after `positions` positions; its index.
    fn end(&mut self, positions: usize) -> Result<usize, Skip> {
        self.ends.push([positions; 2]);
        if self.ends.len() > ENDS { Err(Skip::Shape("too many odd sizes")) } else { Ok(self.ends.len() - 1) }
    }

    /// The bit whose two positions are `distance` elements apart in tensor `t`.
    fn bit(&mut self, t: usize, distance: usize) -> Result<Option<Bit>, Skip> {
        let Some(i) = self.rest.iter().position(|l| l.steps[t] == distance) else { return Ok(None) };
        let mut all = self.rest[i];
        if all.size % 2 == 1 {
            if (FIRST + PADDED..FIRST + ENDS).all(|k| all.steps[k] == 0) {
                let end = self.end(all.size)?;
                all.steps[FIRST + end] = 1;
            }
            all.size += 1;
        }
        let bit = Loop { size: 2, ..all };
        self.rest[i] = Loop { size: all.size / 2, steps: all.steps.map(|s| s * 2) };
        if self.rest[i].size == 1 {
            self.rest.remove(i);
        }
        Ok(Some((bit, true)))
    }

    /// A bit with a single position.
    fn void(&mut self) -> Result<Bit, Skip> {
        let end = match self.void {
            Some(end) => end,
            None => self.end(1)?,
        };
        self.void = Some(end);
        let mut steps = [0; FIRST + ENDS];
        steps[FIRST + end] = 1;
        Ok((Loop { size: 2, steps }, false))
    }

    /// The lowest bits of tensor `t`; bits in `taken` are used again.
    fn bits(&mut self, t: usize, count: usize, taken: &[Bit]) -> Result<Vec<Bit>, Skip> {
        let mut found: Vec<Bit> = Vec::new();
        for i in 0..count {
            let distance = 1 << i;
            let bit = match taken.iter().find(|b| b.1 && b.0.steps[t] == distance) {
                // Behind an added bit there can be no others.
                _ if found.last().is_some_and(|b| !b.1) => None,
                Some(bit) => Some(*bit),
                None => self.bit(t, distance)?,
            };
            found.push(match bit {
                Some(bit) => bit,
                None => self.void()?,
            });
        }
        if found[0].1 { Ok(found) } else { Err(Skip::Layout("of src or dst: no neighbours".into())) }
    }

    /// A tile of bits. It must change the contiguous dimension, unless `kept` allows the same one.
    fn tile(&mut self, count: usize, kept: bool) -> Result<Tile, Skip> {
        let written = self.bits(0, count, &[])?;
        let read = self.bits(1, count, &written)?;
        let same = |a: &Bit, b: &Bit| a.1 && b.1 && a.0.steps == b.0.steps;
        let is_kept = written.iter().zip(&read).all(|(w, r)| same(w, r) || !w.1 && !r.1);
        let loops_of = |bits: &[Bit]| bits.iter().map(|b| b.0).collect::<Vec<_>>();
        let still = [3, 2].map(|t| written.iter().all(|w| w.0.steps[t] == 0));
        if is_kept {
            let lanes = positions(&loops_of(&written));
            return if kept { Ok(self.kept(lanes, still)) } else { Err(Skip::Layout("of src and dst: the same neighbours".into())) };
        }
        let among = |bit: &Bit, others: &[Bit]| others.iter().position(|o| same(bit, o));
        let apart =
            |bits: &[Bit], others: &[Bit]| -> Vec<Bit> { bits.iter().copied().filter(|bit| among(bit, others).is_none()).collect() };
        let (rows, columns) = (apart(&written, &read), apart(&read, &written));
        // Scales that vary along the source's contiguous dimension differ between the vectors that are written.
        let each = [3, 2].map(|t| columns.iter().any(|c| c.0.steps[t] != 0));
        let still = [0, 1].map(|i| still[i] && !each[i]);
        let (mut numbers, mut row) = ([0; BITS], BITS as u8);
        for (number, bit) in numbers.iter_mut().zip(&written) {
            *number = among(bit, &read).map_or(row, |i| i as u8);
            row += u8::from(usize::from(*number) >= BITS);
        }
        let there = |bits: &[Bit]| positions(&loops_of(&bits.iter().copied().filter(|b| b.1).collect::<Vec<_>>()));
        Ok(Tile {
            order: Order::Bits(numbers),
            each: each.contains(&true),
            vectors: [there(&rows), there(&columns)],
            lanes: [positions(&loops_of(&read)), positions(&loops_of(&written))],
            still,
        })
    }

    /// A tile of vectors that are contiguous in both tensors, one from each of several runs, of which some may be missing.
    fn kept(&mut self, lanes: Vec<At>, still: [bool; 2]) -> Tile {
        let same = |l: &Loop| l.steps[2..4] == [0; 2];
        let ends = |l: &Loop| l.steps[FIRST..].iter().any(|step| *step > 0);
        let most = lanes.len();
        let part = |l: &Loop| (2..=most).rev().find(|n| l.size.is_multiple_of(*n)).unwrap_or(1);
        // Preferred are loops that have no end, then divisors of their size, then the most vectors.
        let best = (0..self.rest.len()).filter(|i| same(&self.rest[*i])).max_by_key(|i| {
            let l = &self.rest[*i];
            (!ends(l), part(l).min(most / 2), l.size.min(most), std::cmp::Reverse(l.steps[0]))
        });
        let mut vectors = vec![[0; FIRST + ENDS]];
        if let Some(i) = best {
            let mut l = self.rest[i];
            let mut count = part(&l);
            if 2 * count < l.size.min(most)
                && !ends(&l)
                && let Ok(end) = self.end(l.size)
            {
                (l.steps[FIRST + end], count) = (1, l.size.min(most));
            }
            vectors = positions(&[Loop { size: count, ..l }]);
            self.rest[i] = Loop { size: l.size.div_ceil(count), steps: l.steps.map(|s| s * count) };
            if self.rest[i].size == 1 {
                self.rest.remove(i);
            }
        }
        Tile { order: Order::Kept, each: false, vectors: [vectors.clone(), vectors], lanes: [lanes.clone(), lanes], still }
    }

    /// A tile of few rows of one tensor that are contiguous in the other, if their number is no power of two; `None` without such rows.
    fn few(&mut self, lanes: usize) -> Result<Option<Tile>, Skip> {
        let plain = |l: &Loop| l.steps[2..].iter().all(|step| *step == 0);
        let position = |rest: &[Loop], t: usize, step: usize| rest.iter().position(|l| l.steps[t] == step && plain(l));
        for interleaves in [true, false] {
            // The tensor in which the rows are contiguous, and the other.
            let (t, other) = if interleaves { (0, 1) } else { (1, 0) };
            let Some(i) = position(&self.rest, t, 1).filter(|i| FEW.contains(&self.rest[*i].size)) else { continue };
            let rows = self.rest[i];
            // Runs that fill few lanes are handled as well by bits.
            let fills = |j: &usize| self.rest[*j].steps[other] == 1 && 2 * self.rest[*j].size >= lanes;
            let Some(j) = position(&self.rest, t, rows.size).filter(fills) else { continue };
            let along = self.rest[j];
            // The end is a position along the contiguous dimension.
            let end = self.end(along.size * rows.size)?;
            let at = |steps: At, i: usize, distance: usize| -> At {
                let mut at = steps.map(|s| s * i);
                at[FIRST + end] = i * distance;
                at
            };
            let mut neighbours = [0; FIRST + ENDS];
            neighbours[t] = lanes;
            let of_rows =
                ((0..rows.size).map(|i| at(rows.steps, i, 1)).collect(), (0..lanes).map(|i| at([0; FIRST + ENDS], i, rows.size)).collect());
            let of_neighbours =
                ((0..rows.size).map(|i| at(neighbours, i, lanes)).collect(), (0..lanes).map(|i| at([0; FIRST + ENDS], i, 1)).collect());
            let [(read, read_lanes), (written, written_lanes)] =
                if interleaves { [of_rows, of_neighbours] } else { [of_neighbours, of_rows] };
            self.rest[j] = Loop { size: along.size.div_ceil(lanes), steps: at(along.steps, lanes, rows.size) };
            self.rest.remove(i);
            let number = rows.size as u8;
            let order = if interleaves { Order::Interleaved(number) } else { Order::Deinterleaved(number) };
            return Ok(Some(Tile { order, each: false, vectors: [read, written], lanes: [read_lanes, written_lanes], still: [true; 2] }));
        }
        Ok(None)
    }
}

/// A tile: the order of its elements, the places of the vectors that are read and written and of their lanes, and whether the scales of
/// source and of destination are the same in all of it.
struct Tile {
    order: Order,
    /// Whether scales differ between vectors.
    each: bool,
    vectors: [Vec<At>; 2],
    lanes: [Vec<At>; 2],
    still: [bool; 2],
}

/// The largest offset in each kind among some places.
fn most(places: &[At]) -> At {
    places.iter().fold([0; FIRST + ENDS], |most, at| std::array::from_fn(|t| most[t].max(at[t])))
}

/// The sum of two places.
fn sum(a: &At, b: &At) -> At {
    std::array::from_fn(|t| a[t] + b[t])
}

/// What is moved.
pub(crate) struct Moved {
    /// Destination and source.
    pub(crate) args: [Arg; 2],
    /// Their element types.
    pub(crate) types: [Elem; 2],
    /// The first elements of both.
    pub(crate) starts: [usize; 2],
    /// Loops over all elements.
    pub(crate) loops: Vec<Loop>,
    /// The sizes of source and destination in dimensions with padding.
    pub(crate) ends: Vec<[usize; 2]>,
    /// The arithmetic on elements; each may have factors of its own.
    pub(crate) factors: Kinds,
    /// With a sum post-op: the factor of the old elements of the destination.
    pub(crate) adds: Option<f32>,
}

/// The attributes without a sum post-op, if that is the only one and nothing follows it; and its factor.
fn without_sum(attr: &Attr) -> (Attr, Option<f32>) {
    let quantised = attr.scales.contains_key(&Arg::DST) || attr.zero_points.contains_key(&Arg::DST);
    match attr.post_ops[..] {
        [PostOp::Sum { scale, zero_point: 0, dtype: None }] if !quantised => {
            (Attr { post_ops: Default::default(), ..attr.clone() }, Some(scale.get()))
        }
        _ => (attr.clone(), None),
    }
}

impl Moved {
    fn of(op: &Reorder, attr: &Attr) -> Result<Moved, Skip> {
        let (Walk { dst, src, sizes, positions: [a, b, c], ends }, dims) = (Walk::new(op)?, op.dst.dims());
        let [by_dst, by_src] = [scales(Arg::DST, attr, dims)?, scales(Arg::SRC, attr, dims)?];
        let (attr, adds) = &without_sum(attr);
        let bits = types(op, attr)?;
        let types = if adds.is_some() { numbers(op)? } else { bits };
        let none = still(dims);
        let tensors = [dst, src, &by_dst, &by_src, &a, &b, &c, &none, &none, &none, &none];
        let moved = Moved {
            args: [Arg::DST, Arg::SRC],
            types,
            adds: *adds,
            starts: [dst.offset as usize, src.offset as usize],
            loops: loops(&sizes, tensors).ok_or_else(padded)?,
            ends,
            factors: with_zero_points(
                attr,
                [Arg::SRC, Arg::DST].map(|arg| if attr.scales.contains_key(&arg) { Factor::ByRow } else { Factor::None }),
            ),
        };
        Ok(moved.in_words().unwrap_or(moved))
    }

    /// The same in 32-bit words, if narrow elements are only moved, fill words in both tensors, and exist or are missing together.
    fn in_words(&self) -> Option<Moved> {
        let ratio = match self.types {
            [Elem::Low8, Elem::Low8] => 4,
            [Elem::Low16, Elem::Low16] => 2,
            _ => return None,
        };
        let run = self.loops.iter().position(|l| l.steps[..2] == [1; 2])?;
        let whole = |n: &mut usize| n.is_multiple_of(ratio).then(|| *n /= ratio);
        let (mut starts, mut loops, mut ends) = (self.starts, self.loops.clone(), self.ends.clone());
        starts.iter_mut().try_for_each(whole)?;
        for (i, l) in loops.iter_mut().enumerate() {
            if i == run { whole(&mut l.size)? } else { l.steps[..2].iter_mut().try_for_each(whole)? }
        }
        for (k, end) in ends.iter_mut().enumerate().filter(|(k, _)| self.loops[run].steps[FIRST + k] > 0) {
            end.iter_mut().try_for_each(whole)?;
            loops.iter_mut().enumerate().filter(|(i, _)| *i != run).try_for_each(|(_, l)| whole(&mut l.steps[FIRST + k]))?;
        }
        loops.retain(|l| l.size > 1);
        let apart = self.loops[run].steps[FIRST..].iter().any(|step| *step > 1);
        (!apart).then_some(Moved { types: [Elem::F32; 2], starts, loops, ends, ..*self })
    }
}

impl Lanes {
    /// The kernel for these elements.
    ///
    /// # Errors
    /// [`Skip`] if there is nothing to permute.
    pub(crate) fn new(moved: Moved, jit: Isa) -> Result<Lanes, Skip> {
        Lanes::of(moved, jit, false)
    }

    /// The same; if `kept`, the contiguous dimension stays.
    fn of(moved: Moved, jit: Isa, kept: bool) -> Result<Lanes, Skip> {
        let Moved { args, types, starts: [dst, src], loops, mut ends, mut factors, adds } = moved;
        ends.resize(PADDED, [1; 2]);
        let elements = loops.iter().map(|l| l.size).product::<usize>();
        let alike = dst == src && loops.iter().all(|l| l.steps[0] == l.steps[1]);
        let mut draft = Draft { rest: loops, ends, void: None };
        let tile = match draft.few(jit.width().lanes())? {
            Some(tile) => tile,
            None => draft.tile(bits(jit), kept)?,
        };
        let Tile { order, each, vectors, lanes, still } = tile;
        for (factor, still) in factors[1..3].iter_mut().zip(still) {
            *factor = if *factor == Factor::ByRow && still { Factor::Same } else { *factor };
        }
        let kernel = Permute {
            from: types[1],
            to: types[0],
            factors,
            each,
            order,
            vectors: [vectors[0].len() as u8, vectors[1].len() as u8],
            adds: adds.is_some(),
            masked: Masked::No,
            streaming: false,
        };
        let of_tile = [0, 1].map(|i| sum(&most(&vectors[i]), &most(&lanes[i])));
        let of_tile = std::array::from_fn(|t| of_tile[0][t].max(of_tile[1][t]));
        let bytes: [Vec<usize>; 2] = [0, 1].map(|i| vectors[i].iter().map(|at| at[1 - i] * types[1 - i].bytes()).collect());
        let sizes = [types[1], types[0]].map(Elem::bytes);
        let tables = Vectors::new(bytes.clone(), None, (sizes, jit));
        let parts = [0, 1].map(|i| std::array::from_fn(|k| Parts::new(&lanes[i], k)));
        let mut ends = draft.ends;
        ends.resize(ENDS, [1; 2]);
        let ends: [_; ENDS] = std::array::from_fn(|k| ends[k]);
        let starts = [dst, src, 0, 0];
        let count = draft.rest.iter().map(|l| l.size).product::<usize>();
        let next = |t: usize, lanes: &[At]| draft.rest.iter().position(|l| l.steps[t] == lanes.len());
        let apart = matches!((next(0, &lanes[1]), next(1, &lanes[0])), (Some(to), Some(from)) if to != from);
        let filled = [vectors[1].len() * lanes[1].len(), elements / count.max(1)];
        let mut left = Left::default();
        for k in 0..ENDS {
            let size = u16::try_from(of_tile[FIRST + k] + 1).map_err(|_| Skip::Shape("tiles that reach far"))?;
            left[k] = [size; 2];
        }
        let regions = Regions::default();
        let mut all = Lanes {
            jit,
            args,
            kernel,
            starts,
            vectors,
            lanes,
            tables,
            regions,
            all: left,
            count,
            adds: adds.unwrap_or(0.0),
            filled,
            parts,
            far: false,
            apart,
            cleared: 0,
            alike,
        };
        let whole = all.vectors[1].iter().all(|at| at[0].is_multiple_of(jit.width().lanes()));
        let streams = STREAMS[usize::from(!whole && elements * (sizes[0] + sizes[1]) <= NEAR)];
        let size = Size { bytes: [1, 0].map(|t| types[t].bytes()), reads: all.vectors[0].len(), tiles: NUMBERS / all.of_tile(), streams };
        let of_part = |left: &Left| (*left != all.all).then(|| partial(all.masks(left), bytes.clone(), (sizes, jit)));
        all.regions = Regions::new(
            draft.rest,
            Ends { ends: &ends, last: &of_tile, overlap: adds.is_none() && !jit.avx512 && !alike },
            size,
            of_part,
        )?;
        Ok(all)
    }

    /// Elements of a tile, including missing ones.
    fn of_tile(&self) -> usize {
        usize::from(self.kernel.vectors[0].max(self.kernel.vectors[1])) * LANES
    }

    /// Whether tiles are whole, or partial ones have enough elements on average.
    pub(crate) fn is_filled(&self) -> bool {
        let [all, mean] = self.filled;
        mean == all || mean >= LEAST
    }

    /// The lanes of a vector of the source that exist, in a tile with `left` positions before its ends.
    fn exists(&self, left: &Left, vector: &At) -> u16 {
        let ends = (0..ENDS).filter(|k| left[*k] != self.all[*k]);
        let before = |k: usize| self.parts[1][k].of(usize::from(left[k][0]).saturating_sub(vector[FIRST + k]));
        ends.fold(u16::MAX, |exists, k| exists & before(k))
    }

    /// The masks of a tile with `left` positions before its ends.
    fn masks(&self, left: &Left) -> Masks {
        let mask = |side: usize, which: usize| {
            let mut masks = [u16::MAX; LANES];
            for k in (0..ENDS).filter(|k| left[*k] != self.all[*k]) {
                let of = |vector: &At| self.parts[side][k].of(usize::from(left[k][which]).saturating_sub(vector[FIRST + k]));
                masks.iter_mut().zip(&self.vectors[side]).for_each(|(mask, vector)| *mask &= of(vector));
            }
            masks[self.vectors[side].len()..].fill(0);
            masks
        };
        let mut masks = Masks { reads: mask(0, 0), writes: mask(1, 1), exists: mask(1, 0) };
        if !self.jit.avx512 && !self.kernel.adds && !self.alike {
            self.write_whole(&mut masks.writes);
        }
        masks
    }

    /// Lets vectors be written whole if later ones of the tile write all that they must not.
    fn write_whole(&self, writes: &mut [u16; LANES]) {
        let (places, lanes) = (&self.vectors[1], self.lanes[1].len());
        let writes_lane = |mask: u16, lane: usize| lane < lanes && mask >> lane & 1 == 1;
        for i in 0..places.len() {
            let later = (i + 1..places.len()).map(|j| (writes[j], places[j][0]));
            let behind = |at: usize| later.clone().any(|(mask, first)| at >= first && writes_lane(mask, at - first));
            if writes[i] != 0 && (0..lanes).all(|lane| writes_lane(writes[i], lane) || behind(places[i][0] + lane)) {
                writes[i] |= u16::MAX >> (LANES - lanes);
            }
        }
    }
}

/// The positions of a tile before each end, in source and destination; at most those of a whole tile. One element more than there are ends
/// makes it a vector that is compared at once.
pub(super) type Left = [[u16; 2]; ENDS + 1];

/// The lanes before an end, by the number of positions left; the last entry is for all larger numbers.
#[derive(Debug)]
struct Parts(Vec<(usize, u16)>);

impl Parts {
    fn new(lanes: &[At], k: usize) -> Parts {
        let mut limits: Vec<usize> = lanes.iter().map(|at| at[FIRST + k] + 1).chain([0]).collect();
        limits.sort_unstable();
        limits.dedup();
        let mask = |limit: usize| lanes.iter().enumerate().map(|(i, at)| u16::from(at[FIRST + k] < limit) << i).sum();
        Parts(limits.into_iter().map(|limit| (limit, mask(limit))).collect())
    }

    /// The lanes whose positions are below `limit`.
    fn of(&self, limit: usize) -> u16 {
        self.0.iter().rev().find(|part| part.0 <= limit).map_or(0, |part| part.1)
    }
}

impl Timed for Lanes {
    fn time(&self, isa: Option<Isa>) -> Option<f64> {
        let [calls, tiles, partial, zeros, masked] = self.regions.counts();
        let vectors = self.vectors.each_ref().map(|vectors| vectors.len() as f64);
        let bits = match self.kernel.order {
            Order::Kept => 0,
            Order::Bits(lanes) => lanes.iter().filter(|bit| usize::from(**bit) >= BITS).count(),
            Order::Interleaved(_) | Order::Deinterleaved(_) => 2,
        };
        let written = vectors[0].max(vectors[1]) * (tiles + partial / (vectors[0] + vectors[1]));
        let converted = if self.kernel.from == self.kernel.to { 0.0 } else { written };
        let scaled = if self.kernel.factors.contains(&Factor::ByRow) { calls } else { 0.0 };
        let [by_lane, each] = if self.kernel.each { [0.0, calls] } else { [scaled, 0.0] };
        let line = self.jit.width().lanes();
        let begin = || self.vectors[1].iter().all(|at| at[0].is_multiple_of(line)) && self.regions.are_at_multiples(line, 4);
        let crosses = self.jit.avx512 && self.kernel.to.bytes() == 4 && !begin();
        let kept = if self.kernel.order != Order::Kept { 1.0 } else { [KEPT, CROSSING][usize::from(crosses)] };
        let whole = kept * tiles * (vectors[0] + vectors[1]);
        let time = total(&TIMES, isa, [1.0, calls, whole, written * bits as f64, converted, partial, zeros, masked, by_lane, each]);
        // Tiles that have parts of lines read and write these again.
        let parts = self.far && self.apart && !self.jit.avx512;
        let bytes = (self.kernel.from.bytes() + self.kernel.to.bytes()) as f64 * self.filled[1] as f64 * self.count as f64;
        let again = if parts { bytes / BANDWIDTHS[1] } else { 0.0 };
        Some(time + total(&ZEROS, isa, [0.0, 0.0, self.cleared as f64]) + again)
    }

    fn streams(&self) -> bool {
        let (lanes, size) = (self.jit.width().lanes(), self.kernel.to.bytes());
        self.far && self.jit.avx512 && self.kernel.to == Elem::F32 && self.regions.are_at_multiples(lanes, size)
    }
}

impl Generated for Lanes {
    type Code = Permuter;

    fn build(&self) -> Result<Permuter, Error> {
        Permuter::get(self.jit, self.kernel, self.far)
    }

    fn table_bytes(&self) -> usize {
        self.regions.bytes()
    }

    fn run(&self, permuter: &Permuter, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let memory = [ctx.buf(self.args[0])?, ctx.buf(self.args[1])?];
        if self.cleared > 0 {
            clear(ctx.executor(), memory[0].part(0, self.cleared));
        }
        let mut scales = [Buf::empty(); 2];
        for (i, arg) in [Arg::SRC, Arg::DST].into_iter().enumerate().filter(|(i, _)| self.kernel.factors[i + 1] != Factor::None) {
            scales[i] = ctx.buf(Arg::scale(arg))?;
        }
        let reader = Reader { by: self, scales, zeros: zero_points(&self.kernel.factors, ctx)? };
        let calls = self.regions.calls();
        let each = evenly(calls, GRAIN as usize * calls / (self.count * self.of_tile()).max(1));
        let make = |range: Range<usize>| {
            let mut maker = Maker { permuter, memory, reader, known: None, scales: [[1.0; LANES]; 2], each: None };
            self.regions.each(range, self.starts, |region, at, tiles| maker.make(region, at, tiles));
        };
        if calls <= each {
            make(0..calls);
        } else {
            let task = |task: usize| make(task * each..calls.min((task + 1) * each));
            ctx.executor().run(ctx.executor().threads(), calls.div_ceil(each), &|_, i| task(i));
        }
        Ok(())
    }
}

/// Runs the kernel on tiles.
struct Maker<'m> {
    permuter: &'m Permuter,
    /// Memory of destination and source.
    memory: [Buf<'m>; 2],
    reader: Reader<'m>,
    /// The region and the places of scales for which `scales` and `each` were read last.
    known: Option<[usize; 3]>,
    scales: Scales,
    each: Option<Each>,
}

/// The factors of source and destination, for every lane that is written.
type Scales = [[f32; LANES]; 2];
/// The same for every vector.
type Each = [[[f32; LANES]; LANES]; 2];

/// Reads the factors of tiles.
#[derive(Clone, Copy)]
struct Reader<'m> {
    by: &'m Lanes,
    /// Scales of source and destination.
    scales: [Buf<'m>; 2],
    zeros: [f32; 2],
}

impl Reader<'_> {
    /// Reads the scales of a tile, or of one of its vectors, at `places`; those of missing elements are 1.
    fn scales(&self, places: [usize; 2], (left, vector): (&Left, &At), scales: &mut Scales) {
        let exists = self.by.exists(left, vector);
        for (i, how) in self.by.kernel.factors[1..3].iter().enumerate() {
            let place = places[i] + vector[3 - i];
            match how {
                Factor::Same if exists & 1 == 1 => scales[i] = [self.scales[i].get(place); LANES],
                Factor::None | Factor::Same => {}
                Factor::ByRow => {
                    for (lane, (scale, at)) in scales[i].iter_mut().zip(&self.by.lanes[1]).enumerate() {
                        *scale = if exists >> lane & 1 == 1 { self.scales[i].get(place + at[3 - i]) } else { 1.0 };
                    }
                }
            }
        }
    }

    /// The same for every vector.
    fn each(&self, places: [usize; 2], left: &Left, each: &mut Each) {
        for (v, vector) in self.by.vectors[1].iter().enumerate() {
            let mut scales = [each[0][v], each[1][v]];
            self.scales(places, (left, vector), &mut scales);
            [each[0][v], each[1][v]] = scales;
        }
    }
}

impl Maker<'_> {
    /// Computes the first `tiles` tiles of a call, in a region, at a place.
    fn make(&mut self, (number, region): (usize, &Region), at: &Spot, tiles: usize) {
        let (by, [dst, src]) = (self.reader.by, self.memory);
        let (place, places) = ([number, at[3], at[2]], [at[3], at[2]]);
        let scaled = by.kernel.factors[1..3] != [Factor::None; 2];
        if scaled && self.known != Some(place) {
            (self.known, self.scales) = (Some(place), [[1.0; LANES]; 2]);
            match by.kernel.each {
                true => self.reader.each(places, &region.left, self.each.insert([[[1.0; LANES]; LANES]; 2])),
                false => self.reader.scales(places, (&region.left, &[0; FIRST + ENDS]), &mut self.scales),
            }
        }
        let [from, over] = match &self.each {
            Some(each) => each.each_ref().map(|each| each.as_flattened()),
            None => self.scales.each_ref().map(|scales| &scales[..]),
        };
        let [zero, other] = self.reader.zeros.each_ref().map(std::slice::from_ref);
        self.permuter.run(&Tiles {
            from: (src, at[1] * by.kernel.from.bytes()),
            to: (dst, at[0] * by.kernel.to.bytes()),
            places: (&region.places, tiles),
            vectors: region.partial.as_ref().unwrap_or(&by.tables),
            factors: [zero, from, over, other],
            adds: &by.adds,
        });
    }
}
