//! Regions of tiles: boxes of loops in which every tile reads and writes the same lanes.
//!
//! A dimension that ends within a tile cuts its loops into up to three parts: whole tiles, the tile where it ends, and tiles behind it,
//! which write only padding or nothing. Where masks are slow and elements may be written twice, the tile where both tensors end is moved
//! back until it is whole. So the masks of a region are computed once, in the plan, and an execution only calls the kernel
//! with the places of some tiles at a time.

use super::lanes::{At, ENDS, FIRST, Left, Loop};
use super::loops::{PADDED, place};
use crate::kernels::permute::{Masks, Places, Vectors};
use oxidnn_jit::Isa;
use oxidnn_runtime::Skip;
use std::ops::Range;

/// First elements in destination and source, and in the scales of both.
pub(super) type Spot = [usize; FIRST];

/// Bytes after which the sets of L1 repeat.
const SETS: usize = 4096;
/// Most regions of a reorder.
const MAX_REGIONS: usize = 128;

/// Tiles in a box of loops, all with the same number of positions before the ends.
#[derive(Debug)]
pub(super) struct Region {
    start: At,
    pub(super) left: Left,
    /// The masks of partial tiles.
    pub(super) partial: Option<Vectors>,
    /// The tiles of a call, by byte offsets in source and destination; an iteration of the loop that calls cut has tiles after those of the
    /// one before.
    pub(super) places: Places,
    /// That loop, and its iterations in a call.
    cut: (Loop, usize),
    outer: Vec<Loop>,
    /// Number of calls, and of those in the last outer loops, which are inside the one that is cut.
    calls: usize,
    inside: usize,
}

/// The masks of partial tiles, and the byte offsets of their vectors in source and destination. Vectors without any lane get the offset of
/// another one, since fully masked loads from unmapped memory are slow.
pub(super) fn partial(masks: Masks, mut vectors: [Vec<usize>; 2], about: ([usize; 2], Isa)) -> Vectors {
    for (vectors, masks) in vectors.iter_mut().zip([&masks.reads, &masks.writes]) {
        let some = vectors.iter().zip(masks).find(|v| *v.1 != 0).map_or(0, |v| *v.0);
        vectors.iter_mut().zip(masks).filter(|v| *v.1 == 0).for_each(|(at, _)| *at = some);
    }
    Vectors::new(vectors, Some(masks), about)
}

/// All regions of a reorder.
#[derive(Debug, Default)]
pub(super) struct Regions {
    all: Vec<Region>,
    /// Loops that all regions have in common.
    common: Vec<Loop>,
    /// Calls for one iteration of these.
    calls: usize,
}

/// The ends within tiles: sizes of source and destination, and the last position of a tile.
#[derive(Clone, Copy)]
pub(super) struct Ends<'e> {
    pub(super) ends: &'e [[usize; 2]; ENDS],
    pub(super) last: &'e At,
    /// Whether tiles may overlap.
    pub(super) overlap: bool,
}

/// Bytes of an element of source and destination, vectors that a tile reads, tiles of a call, and most places that are read at the same time.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) bytes: [usize; 2],
    pub(super) reads: usize,
    pub(super) tiles: usize,
    pub(super) streams: usize,
}

impl Ends<'_> {
    /// The positions before each end of a tile whose first position along end `k` is `at`; at most those of a whole tile.
    fn left(&self, k: usize, which: usize, at: usize) -> usize {
        self.ends[k][which].saturating_sub(at).min(self.last[FIRST + k] + 1)
    }

    /// The place of the last whole tile along a loop over positions of end `k`, which is the end of both tensors.
    fn back(&self, k: usize, start: &At, l: &Loop) -> Option<At> {
        let t = FIRST + k;
        let (end, tile) = (self.ends[k][0], self.last[t] + 1);
        let distance = end.checked_sub(start[t] + tile).filter(|_| self.overlap && k >= PADDED && self.ends[k] == [end; 2])?;
        let step = |u: usize| Some(distance * l.steps[u]).filter(|n| n.is_multiple_of(l.steps[t])).map(|n| start[u] + n / l.steps[t]);
        (0..start.len()).all(|u| step(u).is_some()).then(|| std::array::from_fn(|u| step(u).unwrap_or_default()))
    }

    /// Cuts a box of loops until all tiles of a part have the same number of positions left; parts that are not written are dropped.
    fn cut(&self, start: At, loops: Vec<Loop>, found: &mut Vec<(At, Vec<Loop>, Left)>) -> Result<(), Skip> {
        for (k, which) in (0..ENDS).flat_map(|k| [(k, 0), (k, 1)]) {
            let (t, end) = (FIRST + k, self.ends[k][which]);
            let span = loops.iter().map(|l| (l.size - 1) * l.steps[t]).sum::<usize>();
            if self.left(k, which, start[t]) == self.left(k, which, start[t] + span) {
                continue;
            }
            let Some((i, l)) = loops.iter().enumerate().max_by_key(|(_, l)| l.steps[t]) else { break };
            let others = span - (l.size - 1) * l.steps[t];
            // The iterations with whole tiles only, and those with any part of a tile.
            let before = |distance: usize| end.saturating_sub(start[t] + distance).div_ceil(l.steps[t]).min(l.size);
            let (whole, some) = (before(others + self.last[t]), before(0));
            let parts = [0..whole, some..l.size].into_iter().chain((whole..some).map(|p| p..p + 1));
            for part in parts.filter(|part| !part.is_empty()) {
                let mut loops = loops.clone();
                loops[i].size = part.len();
                loops.retain(|l| l.size > 1);
                let start = match self.back(k, &start, l).filter(|_| others == 0 && part.start == whole) {
                    Some(start) if whole < some => start,
                    _ => moved(&start, l, part.start),
                };
                self.cut(start, loops, found)?;
            }
            return Ok(());
        }
        let mut left = Left::default();
        for (k, left) in left.iter_mut().take(ENDS).enumerate() {
            *left = [0, 1].map(|which| self.left(k, which, start[FIRST + k]) as u16);
        }
        if left[..ENDS].iter().all(|left| left[1] > 0) {
            found.push((start, loops, left));
        }
        if found.len() > MAX_REGIONS { Err(Skip::Shape("many odd sizes")) } else { Ok(()) }
    }
}

/// Position `i` of a loop from an offset.
fn moved(at: &At, l: &Loop, i: usize) -> At {
    std::array::from_fn(|t| at[t] + i * l.steps[t])
}

impl Region {
    /// The calls for a box of loops: their tiles are in loops without scales, contiguous in either tensor.
    fn new((start, mut outer, left): (At, Vec<Loop>, Left), size: Size, partial: Option<Vectors>) -> Region {
        let (scaled, near) = (|l: &Loop| l.steps[2..4] != [0; 2], |l: &Loop| l.steps[0].min(l.steps[1]));
        // Of loops that are as near, one in the source and one in the destination, the latter is inside, so that lines are written at once, unless it
        // reads from too many places; but a loop along which all writes would go to the same sets of the caches is outside.
        let order = |l: &Loop| match l.size * size.reads <= size.streams {
            _ if (l.steps[0] * size.bytes[1]).is_multiple_of(SETS) => usize::MAX,
            true => l.steps[0],
            false => usize::MAX - l.steps[0],
        };
        outer.sort_by_key(|l| (scaled(l), near(l), order(l)));
        let (mut places, mut cut) = (vec![[0; 2]], (Loop { size: 1, steps: [0; FIRST + ENDS] }, 1));
        while let Some(l) = outer.first().copied().filter(|l| places.len() < size.tiles && !scaled(l)) {
            let piece = size.tiles.div_ceil(places.len()).min(l.size);
            let step = [1, 0].map(|t| l.steps[t] * size.bytes[1 - t]);
            places =
                (0..piece).flat_map(|i| places.iter().map(move |at: &[usize; 2]| [at[0] + i * step[0], at[1] + i * step[1]])).collect();
            cut = (l, piece);
            outer.remove(0);
        }
        // Scales that vary within lines of the destination are read again for every part of the loop that is cut, so that these lines are written at once.
        let inside = |l: &Loop| scaled(l) && l.steps[0] < cut.0.steps[0] * cut.1;
        outer.sort_by_key(|l| (inside(l), std::cmp::Reverse(l.steps[0])));
        let inside = outer.iter().filter(|l| inside(l)).map(|l| l.size).product();
        Region { start, left, partial, places: Places::new(places), cut, outer, calls: 0, inside }
    }

    /// Call `i`: its offset, and its number of tiles.
    fn call(&self, at: &Spot, i: usize) -> (Spot, usize) {
        let at = std::array::from_fn(|t| at[t] + self.start[t]);
        if self.calls == 1 {
            return (at, self.places.len());
        }
        let (cut, piece) = self.cut;
        let (along, inside) = (cut.size.div_ceil(piece), self.inside);
        let first = i / inside % along * piece;
        let at = place(&self.outer, at, i / inside / along * inside + i % inside);
        (std::array::from_fn(|t| at[t] + first * cut.steps[t]), self.places.len() / piece * piece.min(cut.size - first))
    }
}

impl Regions {
    /// The regions of the tiles of some loops; `partial` gives the masks for a number of positions left.
    ///
    /// # Errors
    /// [`Skip`] for too many regions.
    pub(super) fn new(loops: Vec<Loop>, ends: Ends<'_>, size: Size, partial: impl Fn(&Left) -> Option<Vectors>) -> Result<Regions, Skip> {
        let mut found = Vec::new();
        ends.cut([0; FIRST + ENDS], loops, &mut found)?;
        let mut all: Vec<Region> = found
            .into_iter()
            .map(|part| {
                let partial = partial(&part.2);
                Region::new(part, size, partial)
            })
            .collect();
        let steps = |r: &Region| r.outer.iter().filter(|l| l.steps[2..].iter().all(|step| *step == 0)).copied().collect::<Vec<_>>();
        let mut common = all.first().map_or(Vec::new(), steps);
        common.retain(|l| all.iter().all(|r| r.outer.iter().any(|o| o.steps == l.steps)));
        for region in &mut all {
            region.outer.retain(|l| common.iter().all(|c| c.steps != l.steps));
            let (cut, piece) = region.cut;
            region.calls = cut.size.div_ceil(piece) * region.outer.iter().map(|l| l.size).product::<usize>();
        }
        let calls = all.iter().map(|r| r.calls).sum();
        Ok(Regions { all, common, calls })
    }

    /// Leaves out tiles of zeros, which have been written before.
    pub(super) fn without_zeros(mut self) -> Regions {
        self.all.retain(|region| region.partial.as_ref().is_none_or(|vectors| vectors.used()[0] > 0));
        Regions { calls: self.all.iter().map(|r| r.calls).sum(), ..self }
    }

    /// Number of all calls.
    pub(super) fn calls(&self) -> usize {
        self.calls * self.common.iter().map(|l| l.size).product::<usize>()
    }

    /// Calls; whole tiles; the vectors of partial tiles, and those of tiles of zeros; and vectors that are written under a mask.
    pub(super) fn counts(&self) -> [f64; 5] {
        let product = |loops: &[Loop]| loops.iter().map(|l| l.size as f64).product::<f64>();
        let mut counts = [self.calls as f64, 0.0, 0.0, 0.0, 0.0];
        for region in &self.all {
            let (cut, piece) = region.cut;
            let tiles = (region.places.len() / piece * cut.size) as f64 * product(&region.outer);
            match region.partial.as_ref().map(Vectors::used) {
                None => counts[1] += tiles,
                Some([read, written, masked]) => {
                    let (kind, vectors) = if read == 0 { (3, written) } else { (2, read + written) };
                    counts[kind] += tiles * vectors as f64;
                    counts[4] += tiles * masked as f64;
                }
            }
        }
        counts.map(|count| count * product(&self.common))
    }

    /// Whether all tiles begin at multiples of `n` elements of the destination.
    pub(super) fn are_at_multiples(&self, n: usize, size: usize) -> bool {
        let even = |l: &Loop| l.steps[0].is_multiple_of(n);
        let region =
            |r: &Region| r.start[0].is_multiple_of(n) && even(&r.cut.0) && r.outer.iter().all(even) && r.places.are_at_multiples(n * size);
        self.common.iter().all(even) && self.all.iter().all(region)
    }

    /// Bytes of tables.
    pub(super) fn bytes(&self) -> usize {
        self.all.iter().map(|r| size_of::<Region>() + r.places.len() * size_of::<[usize; 2]>()).sum()
    }

    /// Calls `f` for a range of calls, with the region and its index, the call's offset from `start`, and its number of tiles.
    pub(super) fn each(&self, range: Range<usize>, start: Spot, mut f: impl FnMut((usize, &Region), &Spot, usize)) {
        let mut i = range.start;
        while i < range.end {
            let at = place(&self.common, start, i / self.calls);
            let mut first = i % self.calls;
            for (number, region) in self.all.iter().enumerate() {
                for call in first.min(region.calls)..region.calls.min(first + range.end - i) {
                    let (at, tiles) = region.call(&at, call);
                    f((number, region), &at, tiles);
                    i += 1;
                }
                first = first.saturating_sub(region.calls);
            }
        }
    }
}
