//! Boxes of positions as loop nests over the memory of several operands.
//!
//! Every operand has an offset for each position of each dimension ([`Place`]). A box is cut where a block of an operand begins or ends, so
//! that inside each [`Part`] every operand has constant strides; neighbouring loops are then merged where all operands allow. What remains
//! is usually one long run, which [`Nest::walk`] hands out in chunks.

use oxidnn_spec::{Blocking, Dims, Layout, MAX_NDIMS};
use std::ops::Range;

/// The largest number of operands of one nest.
pub const OPERANDS: usize = 16;

/// The largest number of elements of a chunk.
pub const CHUNK: usize = 512;

/// Loops before and after merging.
const RAW: usize = 40;
const LOOPS: usize = 16;
/// Sizes of nested blocks of one dimension.
const UNITS: usize = 12;

/// The strides of an operand's elements.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "few, and made without allocation where sizes come late")]
pub enum Place {
    /// A dense tensor. Its dimensions of size 1 are broadcast.
    Tensor(Dims, Blocking),
    /// Row-major elements, one for each group of positions: `sum(pos[d] / groups[d] * strides[d])`.
    Table {
        /// Element offset of the first.
        origin: i64,
        /// Strides of groups.
        strides: Dims,
        /// Positions of a group, at least 1.
        groups: Dims,
    },
}

impl Place {
    /// The place of a tensor; `None` if the layout is not strides and blocks, or has runtime sizes.
    pub fn of(layout: &Layout) -> Option<Place> {
        let plain = !layout.has_runtime();
        let b = layout.blocking().filter(|b| plain && b.padded_offsets.iter().all(|&o| o == 0))?;
        Some(Place::Tensor(layout.dims, b.clone()))
    }

    /// One number for all positions of `n` dimensions.
    pub fn single(n: usize) -> Place {
        Place::strided(Dims::filled(n, 0))
    }

    /// One number for each position, at these strides.
    pub fn strided(strides: Dims) -> Place {
        Place::Table { origin: 0, strides, groups: Dims::filled(strides.len(), 1) }
    }

    fn origin(&self) -> i64 {
        match self {
            Place::Tensor(_, b) => b.offset,
            Place::Table { origin, .. } => *origin,
        }
    }

    /// The offset that position `p` of dimension `d` adds.
    fn term(&self, space: &Dims, d: usize, mut p: i64) -> i64 {
        match self {
            Place::Table { strides, groups, .. } => p / groups[d] * strides[d],
            Place::Tensor(dims, _) if dims[d] == 1 && space[d] != 1 => 0,
            Place::Tensor(_, b) => {
                let (mut term, mut stride) = (0, 1);
                for (e, size) in b.inner.iter().rev() {
                    if e == d {
                        term += p % size * stride;
                        p /= size;
                    }
                    stride *= size;
                }
                term + p * b.strides[d]
            }
        }
    }

    /// Adds the sizes at which blocks of dimension `d` end.
    fn units(&self, space: &Dims, d: usize, out: &mut Units) -> Option<()> {
        match self {
            Place::Table { strides, groups, .. } if strides[d] != 0 && groups[d] > 1 => out.add(groups[d]),
            Place::Tensor(dims, b) if dims[d] != 1 || space[d] == 1 => {
                // Blocks that go on where those within them end are none.
                let (mut unit, mut stride, mut next) = (1, 1, None);
                for (e, size) in b.inner.iter().rev() {
                    if e == d {
                        if next.is_some_and(|next| next != stride) {
                            out.add(unit)?;
                        }
                        (unit, next) = (unit * size, Some(stride * size));
                    }
                    stride *= size;
                }
                if next.is_some_and(|next| next != b.strides[d]) { out.add(unit) } else { Some(()) }
            }
            _ => Some(()),
        }
    }
}

/// Sizes of blocks, each a divisor of the next, from 1.
#[derive(Clone, Copy)]
struct Units {
    v: [i64; UNITS],
    len: usize,
}

impl Units {
    fn add(&mut self, unit: i64) -> Option<()> {
        let at = self.v[..self.len].partition_point(|&u| u < unit);
        if self.v[..self.len].get(at) == Some(&unit) {
            return Some(());
        }
        if self.len == UNITS {
            return None;
        }
        self.v.copy_within(at..self.len, at + 1);
        self.v[at] = unit;
        self.len += 1;
        let fits = self.v[..self.len].windows(2).all(|w| w[1] % w[0] == 0);
        fits.then_some(())
    }
}

/// One loop: its size, and the stride of each operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Loop {
    size: i64,
    strides: [i64; OPERANDS],
}

/// Positions of the largest box for each position in other boxes that makes it worth processing these element by element.
const ENDS: i64 = 8;

const NO_LOOP: Loop = Loop { size: 1, strides: [0; OPERANDS] };

/// A box in which every operand has constant strides: loops, outermost first, at least two.
#[derive(Clone, Copy, Debug)]
struct Part {
    loops: [Loop; LOOPS],
    len: usize,
    at: [i64; OPERANDS],
    volume: i64,
}

/// Loop nests that visit every position of one or more boxes.
#[derive(Clone, Default, Debug)]
pub struct Nest {
    first: Option<Part>,
    more: Vec<Part>,
    volume: i64,
    /// Number of operands; offsets and strides behind them are 0.
    operands: usize,
}

/// Positions that are processed at once: `rows` rows of `run` positions.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Element offset of each operand at the first position.
    pub at: [i64; OPERANDS],
    /// Positions of a row.
    pub run: usize,
    /// Rows.
    pub rows: usize,
    /// The stride of each operand within a row.
    pub inner: &'a [i64; OPERANDS],
    /// The stride of each operand from row to row.
    pub outer: &'a [i64; OPERANDS],
}

/// Equal chunks at constant strides; if there are several, each has whole rows.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'a> {
    /// The first.
    pub chunk: Chunk<'a>,
    /// Their number.
    pub count: usize,
    /// The stride of each operand from one chunk to the next.
    pub strides: &'a [i64; OPERANDS],
}

impl Chunk<'_> {
    /// Number of positions.
    pub fn positions(&self) -> usize {
        self.run * self.rows
    }
}

/// The parameters of a nest: the box's dimensions, operands, and the loops collected so far.
struct Builder<'a> {
    space: &'a Dims,
    low: &'a [i64],
    high: &'a [i64],
    places: &'a [Place],
    loops: [Loop; RAW],
    len: usize,
}

/// Positions of a tile along the leader's run, and along another operand's: as many as a chunk has.
const TILE: [i64; 2] = [32, 16];

/// Positions along a side of squares that are transposed in registers, and the time of one that is partly filled, relative to a whole one.
const SQUARE: i64 = 8;
const PARTLY: f64 = 1.7;

/// Chunks, runs and positions of a traversal: where the first operand and another are contiguous along runs, where the other is contiguous across
/// them, and elsewhere.
pub type Counts = [[f64; 3]; 3];

/// Positions of one run: their number, the element offset of each operand at the first, and each operand's stride.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Element offset of each operand at the first position.
    pub at: [i64; OPERANDS],
    /// Number of positions.
    pub len: usize,
    /// The stride of each operand.
    pub strides: &'a [i64; OPERANDS],
}

/// Runs at one stride.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunsApart {
    /// Their number.
    pub count: i64,
    /// Positions of each.
    pub run: i64,
    /// Elements from one to the next.
    pub distance: i64,
    /// Positions of a shorter run behind them.
    pub left: i64,
}

impl Nest {
    /// Adds the box from `low` to before `high` of a tensor of `space`, with one place for each operand; loops run in the order of the
    /// first operand's memory. An empty box adds nothing. `None` if blocks of the operands do not nest, or there are too many loops or
    /// operands.
    pub fn add(&mut self, space: &Dims, low: &[i64], high: &[i64], places: &[Place]) -> Option<()> {
        if places.len() > OPERANDS {
            return None;
        }
        if low.iter().zip(high).any(|(l, h)| l >= h) {
            return Some(());
        }
        let mut at = [0; OPERANDS];
        for (a, p) in at.iter_mut().zip(places) {
            *a = p.origin();
        }
        self.operands = self.operands.max(places.len());
        let mut builder = Builder { space, low, high, places, loops: [NO_LOOP; RAW], len: 0 };
        builder.dimension(0, at, self)
    }

    /// A nest over the padded area of a blocked tensor, its only operand.
    pub fn padding(layout: &Layout) -> Option<Nest> {
        let place = [Place::of(layout)?];
        let Place::Tensor(dims, b) = &place[0] else { return None };
        let mut nest = Nest::default();
        if dims.contains(&0) {
            return Some(nest);
        }
        for d in (0..dims.len()).filter(|&d| b.padded_dims[d] > dims[d]) {
            let low = Dims::from_fn(dims.len(), |e| if e == d { dims[d] } else { 0 });
            let high = Dims::from_fn(dims.len(), |e| if e < d { dims[e] } else { b.padded_dims[e] });
            nest.add(dims, &low, &high, &place)?;
        }
        Some(nest)
    }

    /// A nest over the dimensions in `mask`, the others at position 0.
    pub fn kept(space: &Dims, mask: u32, places: &[Place]) -> Option<Nest> {
        let high = Dims::from_fn(space.len(), |d| if mask >> d & 1 == 1 { space[d] } else { 1 });
        let mut nest = Nest::default();
        nest.add(space, &[0; MAX_NDIMS][..space.len()], &high, places)?;
        nest.ends_in_rows(places.len());
        Some(nest)
    }

    /// Makes the loops of small boxes whose elements are not contiguous (such as the last channel behind blocks) like those of the largest
    /// box, with rows of one element: then all boxes are processed the same way.
    fn ends_in_rows(&mut self, operands: usize) {
        let Some(main) = self.first.iter().chain(&self.more).max_by_key(|part| part.volume) else { return };
        let (inner, most) = (main.loops[main.len - 1], main.volume / ENDS);
        if inner.strides[..operands].iter().any(|step| !(0..=1).contains(step)) {
            return;
        }
        let others = |part: &&mut Part| part.loops[part.len - 1].strides != inner.strides && part.len < LOOPS;
        for part in self.first.iter_mut().chain(&mut self.more).filter(others).filter(|part| part.volume <= most) {
            part.loops[part.len] = Loop { size: 1, ..inner };
            part.len += 1;
        }
    }

    /// The same with offsets relative to the first position, which can be added.
    pub fn across(space: &Dims, mask: u32, places: &[Place]) -> Option<Nest> {
        let mut nest = Nest::kept(space, mask, places)?;
        for part in nest.first.iter_mut().chain(&mut nest.more) {
            for (a, p) in part.at.iter_mut().zip(places) {
                *a -= p.origin();
            }
        }
        Some(nest)
    }

    fn push(&mut self, part: Part) -> Option<()> {
        self.volume = self.volume.checked_add(part.volume)?;
        match self.first {
            None => self.first = Some(part),
            Some(_) => self.more.push(part),
        }
        Some(())
    }

    /// What a traversal in chunks of at most `limit` positions counts, by where operand `t` is contiguous.
    pub fn counts(&self, t: usize, limit: i64) -> Counts {
        let mut counts = Counts::default();
        for part in self.first.iter().chain(&self.more) {
            let ([run, rows], class) = (part.chunk(limit), part.class(t));
            for (count, each) in counts[class].iter_mut().zip([run * rows, run, 1]) {
                *count += part.volume as f64 / each as f64;
            }
        }
        counts
    }

    /// Positions of the squares in which chunks where operand `t` is contiguous across runs are transposed; those of squares that are partly filled
    /// count by the time that they take.
    pub fn in_squares(&self, t: usize, limit: i64) -> f64 {
        let squares = |part: &Part| {
            let [run, rows] = part.chunk(limit);
            let whole = (run / SQUARE * (rows / SQUARE)) as f64;
            let all = ((run + SQUARE - 1) / SQUARE * ((rows + SQUARE - 1) / SQUARE)) as f64;
            (whole + PARTLY * (all - whole)) * (SQUARE * SQUARE) as f64 * part.volume as f64 / (run * rows) as f64
        };
        self.first.iter().chain(&self.more).filter(|part| part.class(t) == 1).map(squares).sum()
    }

    /// Number of positions.
    pub fn volume(&self) -> i64 {
        self.volume
    }

    /// Number of positions of the two innermost loops of the largest box.
    pub fn chunk(&self) -> i64 {
        let largest = self.first.iter().chain(&self.more).max_by_key(|part| part.volume);
        largest.map_or(0, |part| {
            let [_, outer, inner] = part.innermost();
            outer.size * inner.size
        })
    }

    /// Number of positions of the innermost loop, and the stride of operand `t` there.
    pub fn innermost(&self, t: usize) -> (i64, i64) {
        self.first.as_ref().map_or((0, 0), |p| (p.loops[p.len - 1].size, p.loops[p.len - 1].strides[t]))
    }

    /// Calls `f` for runs of at most `limit` positions that together visit the positions of `range` once each.
    pub fn runs(&self, range: Range<i64>, limit: usize, mut f: impl FnMut(&Run<'_>)) {
        self.parts(range, |part, range| {
            let inner = &part.loops[part.len - 1];
            let mut position = range.start;
            while position < range.end {
                let (at, index) = part.locate(position, self.operands);
                let len = (inner.size - index[0]).min(range.end - position).min(limit as i64);
                f(&Run { at, len: len as usize, strides: &inner.strides });
                position += len;
            }
        });
    }

    /// Whether operand `t` has the same offset at all positions of a box.
    pub fn stands_still(&self, t: usize) -> bool {
        let mut parts = self.first.iter().chain(&self.more);
        parts.all(|p| p.at[t] == 0 && p.loops[..p.len].iter().all(|l| l.strides[t] == 0))
    }

    /// The stride of operand `t` in the innermost loop, if it is the same in all boxes of several positions.
    pub fn step(&self, t: usize) -> Option<i64> {
        let parts = self.first.iter().chain(&self.more).filter(|p| p.volume > 1);
        let mut steps = parts.map(|p| p.loops[p.len - 1].strides[t]);
        let first = steps.next().unwrap_or(0);
        steps.all(|s| s == first).then_some(first)
    }

    /// Calls `f` for chunks that together visit the positions of `range` once each.
    pub fn walk(&self, range: Range<i64>, f: impl FnMut(&Chunk<'_>)) {
        self.chunks(range, CHUNK as i64, f);
    }

    /// Calls `f` for chunks of at most `limit` positions that together visit the positions of `range` once each.
    pub fn chunks(&self, range: Range<i64>, limit: i64, mut f: impl FnMut(&Chunk<'_>)) {
        self.equal(range, limit, |Chunks { chunk, count, strides }| {
            let mut chunk = *chunk;
            for _ in 0..*count {
                f(&chunk);
                chunk.at.iter_mut().zip(*strides).for_each(|(at, stride)| *at += stride);
            }
        });
    }

    /// Calls `f` for chunks, as many at a time as have constant strides, that together visit the positions of `range` once each.
    pub fn repeated(&self, range: Range<i64>, f: impl FnMut(&Chunks<'_>)) {
        self.equal(range, i64::MAX, f);
    }

    /// The same with chunks of at most `limit` positions.
    fn equal(&self, range: Range<i64>, limit: i64, mut f: impl FnMut(&Chunks<'_>)) {
        self.parts(range, |part, range| {
            let [far, outer, inner] = part.innermost();
            let plane = inner.size * outer.size;
            let mut position = range.start;
            while position < range.end {
                let (at, index) = part.locate(position, self.operands);
                let left = range.end - position;
                let run = (inner.size - index[0]).min(left).min(limit);
                let rows = if run == inner.size { (outer.size - index[1]).min(left / run).min(limit / run) } else { 1 };
                let count = if run * rows == plane { (far.size - index[2]).min(left / plane) } else { 1 };
                let chunk = Chunk { at, run: run as usize, rows: rows as usize, inner: &inner.strides, outer: &outer.strides };
                f(&Chunks { chunk, count: count as usize, strides: &far.strides });
                position += run * rows * count;
            }
        });
    }

    /// The same positions in groups of `ratio` contiguous ones; `None` if they are not contiguous in all operands.
    pub fn together(&self, ratio: i64) -> Option<Nest> {
        let mut nest = self.clone();
        nest.volume /= ratio;
        for part in nest.first.iter_mut().chain(&mut nest.more) {
            part.volume /= ratio;
            let (inner, others) = part.loops[..part.len].split_last_mut()?;
            let distances = others.iter_mut().filter(|l| l.size > 1).flat_map(|l| &mut l.strides).chain(&mut part.at);
            for distance in distances {
                *distance = Some(*distance / ratio).filter(|d| d * ratio == *distance)?;
            }
            inner.size = Some(inner.size / ratio).filter(|n| n * ratio == inner.size)?;
        }
        Some(nest)
    }

    /// Loops over words of 32 bits instead of over elements of `bits`, if words are contiguous in all operands.
    pub fn words(&self, bits: usize) -> Option<Nest> {
        if bits >= 8 && 32 % bits == 0 { self.together(32 / bits as i64) } else { None }
    }

    /// Whether positions are in the order of operand `t`'s memory, without gaps.
    pub fn follows(&self, t: usize) -> bool {
        let Some(part) = &self.first else { return true };
        let mut next = 1;
        let in_order = part.loops[..part.len].iter().rev().filter(|l| l.size > 1).all(|l| {
            let fits = l.strides[t] == next;
            next *= l.size;
            fits
        });
        in_order && self.more.is_empty()
    }

    /// Whether the rows of operand `t` are contiguous in a chunk.
    pub fn is_joined(&self, t: usize) -> bool {
        let mut parts = self.first.iter().chain(&self.more).map(Part::innermost);
        parts.all(|[_, outer, inner]| outer.size == 1 || outer.strides[t] == inner.strides[t] * inner.size)
    }

    /// Whether the innermost loop always begins at a multiple of `n` elements of operand `t`.
    pub fn is_at_multiples(&self, t: usize, n: i64) -> bool {
        let steps = |part: &Part| part.loops[..part.len - 1].iter().all(|l| l.size == 1 || l.strides[t] % n == 0);
        self.first.iter().chain(&self.more).all(|part| part.at[t] % n == 0 && steps(part))
    }

    /// The stride of operand `t` from row to row of a chunk, if it is the same in all boxes.
    pub fn row_step(&self, t: usize) -> Option<i64> {
        let mut steps = self.first.iter().chain(&self.more).map(|part| part.innermost()[1].strides[t]);
        let first = steps.next().unwrap_or(0);
        steps.all(|s| s == first).then_some(first)
    }

    /// Positions of the innermost loop, if there is one box and all runs have equal lengths.
    pub fn run(&self) -> Option<i64> {
        self.first.as_ref().filter(|_| self.more.is_empty()).map(|part| part.loops[part.len - 1].size)
    }

    /// The nest as runs at one stride, the same for each of some operands, whose elements are contiguous in a run.
    pub fn runs_apart(&self, mut operands: impl Iterator<Item = usize> + Clone) -> Option<RunsApart> {
        let first = self.first.as_ref()?;
        let [_, outer, inner] = first.innermost();
        let epilogue = match &self.more[..] {
            [] => None,
            [epilogue] if epilogue.loops[epilogue.len - 1].size == epilogue.volume && epilogue.volume < inner.size => Some(epilogue),
            _ => return None,
        };
        let behind = |t: usize| epilogue.map(|epilogue| epilogue.at[t] - first.at[t]);
        let distance = |t: usize| if outer.size > 1 { outer.strides[t] } else { behind(t).unwrap_or(0) };
        let step = distance(operands.clone().next()?);
        let fits = operands.all(|t| {
            let near = inner.strides[t] == 1
                && epilogue.is_none_or(|epilogue| epilogue.volume == 1 || epilogue.loops[epilogue.len - 1].strides[t] == 1);
            near && distance(t) == step && behind(t).is_none_or(|behind| behind == outer.size * step)
        });
        let whole = first.volume == outer.size * inner.size;
        (fits && whole).then(|| RunsApart {
            count: outer.size,
            run: inner.size,
            distance: step,
            left: epilogue.map_or(0, |epilogue| epilogue.volume),
        })
    }

    /// Calls `f` with the part of `range` that is in each part.
    fn parts(&self, range: Range<i64>, mut f: impl FnMut(&Part, Range<i64>)) {
        let mut base = 0;
        for part in self.first.iter().chain(&self.more) {
            let (from, to) = (range.start.max(base) - base, range.end.min(base + part.volume) - base);
            if from < to {
                f(part, from..to);
            }
            base += part.volume;
        }
    }
}

impl Part {
    /// Positions of a run and runs of a chunk of at most `limit` positions.
    fn chunk(&self, limit: i64) -> [i64; 2] {
        let [_, outer, inner] = self.innermost();
        let run = inner.size.min(limit).max(1);
        [run, if run == inner.size { outer.size.min(limit / run).max(1) } else { 1 }]
    }

    /// Where it is counted in [`Counts`] for operand `t`.
    fn class(&self, t: usize) -> usize {
        let [_, outer, inner] = self.innermost();
        match inner.strides[0] == 1 {
            true if inner.strides[t] == 1 => 0,
            true if outer.strides[t] == 1 && inner.size * outer.size >= LEAST => 1,
            _ => 2,
        }
    }

    /// The three innermost loops, the innermost last.
    fn innermost(&self) -> [&Loop; 3] {
        let third = self.len.checked_sub(3).map_or(&NO_LOOP, |i| &self.loops[i]);
        [third, &self.loops[self.len - 2], &self.loops[self.len - 1]]
    }

    /// The offsets of some operands at a position, and its indices in the three innermost loops, the innermost first.
    #[inline]
    fn locate(&self, position: i64, operands: usize) -> ([i64; OPERANDS], [i64; 3]) {
        let (mut at, mut rest, mut index) = (self.at, position, [0; 3]);
        for (i, l) in self.loops[..self.len].iter().rev().enumerate() {
            if rest == 0 {
                break;
            }
            let k = rest % l.size;
            rest /= l.size;
            if i < index.len() {
                index[i] = k;
            }
            for (a, s) in at[..operands].iter_mut().zip(&l.strides).filter(|_| k > 0) {
                *a += k * s;
            }
        }
        (at, index)
    }
}

impl Builder<'_> {
    /// Cuts dimension `d` and those after it; `at` are the offsets of the positions that are fixed already.
    fn dimension(&mut self, d: usize, at: [i64; OPERANDS], nest: &mut Nest) -> Option<()> {
        if d == self.space.len() {
            return self.finish(at, nest);
        }
        let mut units = Units { v: [1; UNITS], len: 1 };
        for p in self.places {
            p.units(self.space, d, &mut units)?;
        }
        let units = &units.v[..units.len];
        let (mut low, high, depth) = (self.low[d], self.high[d], self.len);
        while low < high {
            let level = (0..units.len()).rev().find(|&l| low % units[l] == 0 && low + units[l] <= high)?;
            let unit = units[level];
            let end = units.get(level + 1).map_or(high, |next| high.min((low / next + 1) * next));
            let count = (end - low) / unit;
            let mut moved = at;
            for (m, p) in moved.iter_mut().zip(self.places) {
                *m += p.term(self.space, d, low);
            }
            self.push(d, low, unit, count)?;
            for l in (0..level).rev() {
                self.push(d, low, units[l], units[l + 1] / units[l])?;
            }
            self.dimension(d + 1, moved, nest)?;
            self.len = depth;
            low += count * unit;
        }
        Some(())
    }

    /// A loop of `size` steps of `unit` positions of dimension `d`, from `low` on.
    fn push(&mut self, d: usize, low: i64, unit: i64, size: i64) -> Option<()> {
        if size == 1 {
            return Some(());
        }
        let mut strides = [0; OPERANDS];
        for (s, p) in strides.iter_mut().zip(self.places) {
            *s = p.term(self.space, d, low + unit) - p.term(self.space, d, low);
        }
        *self.loops.get_mut(self.len)? = Loop { size, strides };
        self.len += 1;
        Some(())
    }

    /// Sorts and merges the loops of one box and adds them to the nest.
    fn finish(&self, at: [i64; OPERANDS], nest: &mut Nest) -> Option<()> {
        let mut loops = self.loops;
        let loops = &mut loops[..self.len];
        loops.sort_unstable_by_key(|l| std::cmp::Reverse(l.strides));
        let mut part = Part { loops: [NO_LOOP; LOOPS], len: 1, at, volume: 1 };
        for l in loops.iter() {
            part.volume = part.volume.checked_mul(l.size)?;
            let last = &mut part.loops[part.len - 1];
            if (0..self.places.len()).all(|t| last.strides[t] == l.strides[t] * l.size) && part.len > 1 {
                *last = Loop { size: last.size * l.size, strides: l.strides };
            } else {
                *part.loops.get_mut(part.len)? = *l;
                part.len += 1;
            }
        }
        part.len = part.len.max(2);
        part.tiled(self.places.len(), nest)
    }
}

/// Fewest positions of a tile that is worth a call.
const LEAST: i64 = 64;
/// Positions of a block of tiles along both loops, so that neighbouring cache lines and the pages of all tiles are reused soon.
const BLOCK: i64 = 128;

impl Part {
    /// Adds the part to the nest. If an operand is contiguous along another loop than the leader, both loops are cut into tiles, so that
    /// each chunk has whole cache lines of both.
    fn tiled(self, operands: usize, nest: &mut Nest) -> Option<()> {
        let inner = self.loops[self.len - 1];
        let other = (1..operands)
            .filter(|&t| inner.strides[t] > 1 && inner.strides[0] == 1)
            .find_map(|t| self.loops[..self.len - 1].iter().position(|l| l.strides[t] == 1));
        let Some(other) = other.filter(|_| self.len + 4 <= LOOPS) else { return nest.push(self) };
        let outer = self.loops[other];
        let run = if outer.size <= TILE[1] { CHUNK as i64 / outer.size } else { TILE[0] }.min(inner.size);
        let tile = [run, outer.size.min(CHUNK as i64 / run)];
        if run * tile[1] < LEAST {
            return nest.push(self);
        }
        let mut rest = self;
        rest.loops.copy_within(other + 1..self.len, other);
        rest.len = self.len - 2;
        for (b, nb) in pieces(outer.size, tile[1]) {
            for (a, na) in pieces(inner.size, tile[0]) {
                let mut part = rest;
                for t in 0..operands {
                    part.at[t] += b.start * outer.strides[t] + a.start * inner.strides[t];
                }
                let step = |l: Loop, size: i64, n: i64| Loop { size, strides: std::array::from_fn(|t| l.strides[t] * n) };
                // Tiles of a block: the largest divisor of their number.
                let block = |n: i64, tile: i64| (1..=(BLOCK / tile).max(1)).rev().find(|k| (n / tile) % k == 0).unwrap_or(1);
                let (count_b, count_a) = (b.end - b.start, a.end - a.start);
                let (kb, ka) = (block(count_b, nb), block(count_a, na));
                let loops = [
                    step(outer, count_b / nb / kb, nb * kb),
                    step(inner, count_a / na / ka, na * ka),
                    step(outer, kb, nb),
                    step(inner, ka, na),
                    step(outer, nb, 1),
                    step(inner, na, 1),
                ];
                part.loops[part.len..part.len + 6].copy_from_slice(&loops);
                part.len += 6;
                part.volume = part.loops[..part.len].iter().map(|l| l.size).product();
                nest.push(part)?;
            }
        }
        Some(())
    }
}

/// Whole tiles of `0..size`, then the rest: ranges with the sizes of their tiles.
fn pieces(size: i64, tile: i64) -> impl Iterator<Item = (Range<i64>, i64)> {
    let whole = size / tile * tile;
    [(0..whole, tile), (whole..size, size - whole)].into_iter().filter(|(r, _)| !r.is_empty())
}
