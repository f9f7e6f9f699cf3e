//! `lanes:jit`: reorders whose neighbours are short, such as the blocks of blocked layouts: vectors are loaded along the source and stored along the
//! destination, and their elements converted, multiplied by scales and padded on the way.
//!
//! Loops are cut into bits, loops of two positions. The lowest bits along the destination are the lanes of what is stored, those along the source
//! the lanes of what is loaded; some may be both. These bits are a tile, which a kernel permutes in registers ([`Permute`]). Sizes that are odd where
//! they are halved have a position more than there is, and where fewer elements than a vector's are neighbours, bits are added that have
//! one position. So tiles at an end are parts of tiles, for which masks say what is read, written, and zero. Tiles that are no more than a task's are
//! listed in the plan, by what they have in common. Where the neighbours of one tensor
//! are few rows of the other, and their number no power of two, such as the three channels of an image, a tile is a vector of each of these rows.

use super::factors::{scales, still, types, with_zero_points, zero_points};
use super::loops::{self, loops, padded, place};
use super::reorder;
use super::sums::{Behind, Summed};
use crate::kernels::multiversion::Simd;
use crate::kernels::permute::{LANES, Masks, Permuter, Tiles};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::Scratch;
use crate::row::Generated;
use crate::{CpuTarget, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::permute::{BITS, Order, Permute, bits};
use oxidnn_jit::kernels::transpose::{Factor, Factors as Kinds, UNCHANGED};
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Blocking, Error, Problem};

/// Neighbours that both tensors have, up to which tiles of them are faster than runs.
const SHORT_RUN: usize = 32;
/// Tiles of a piece, at most: what is read and written by a call stays in L2.
const TILES: usize = 64;
/// Least elements of tiles under masks, each of which is a call.
const LEAST: usize = 100;
/// Positions of full tiles that exist, at least.
const EXIST: f64 = 0.75;
/// Rows that a tile of few may have, beside powers of two.
const FEW: [usize; 4] = [3, 5, 6, 7];
/// What a call takes, and a tile of it: elements that are moved one by one meanwhile.
const CALL: usize = 40;
const TILE: usize = 16;
/// Kinds of tiles that a plan lists.
const KINDS: usize = 16;
/// Dimensions with padding.
const PADDED: usize = 3;
/// All that ends within a tile: these, and loops that are odd where they are halved.
const ENDS: usize = PADDED + 4;
/// Where positions begin among what loops go over: behind destination, source, and the scales of both.
const FIRST: usize = 4;

pub(crate) type Loop = loops::Loop<{ FIRST + ENDS }>;
type At = [usize; FIRST + ENDS];

/// How a reorder is done.
#[derive(Debug)]
pub(crate) struct Lanes {
    jit: Isa,
    /// Destination and source.
    args: [Arg; 2],
    kernel: Permute,
    /// Elements of destination and source.
    starts: At,
    /// The places of vectors that are read and written within a tile, and of their lanes.
    vectors: [Vec<At>; 2],
    lanes: [Vec<At>; 2],
    /// The former in bytes.
    tables: [Vec<usize>; 2],
    /// The places of a piece's tiles, and the same in bytes of source and destination.
    tiles: Vec<At>,
    places: Vec<[usize; 2]>,
    /// The loop that pieces cut, and its positions in a piece; which of them each tile has.
    last: (Loop, usize),
    indices: Vec<usize>,
    outer: Vec<Loop>,
    /// How far source and destination go in what ends.
    ends: [[usize; 2]; ENDS],
    /// The last position of a tile, and of any tile of a piece.
    most: [At; 2],
    /// What a tile has in what ends.
    all: Left,
    /// Elements of a tile, and of one in the mean.
    filled: [usize; 2],
    /// Whether all elements have the same factors, or none.
    same: bool,
    /// The lanes that are read and written before each end.
    parts: [[Parts; ENDS]; 2],
    /// All tiles, where they are few.
    listed: Vec<Listed>,
}

/// Tiles of a kind: their masks, and their places in source and destination, in bytes.
#[derive(Debug)]
struct Listed {
    kind: Kind,
    masks: Option<Masks>,
    places: Vec<[usize; 2]>,
}

/// Plans such a reorder.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    tiles(problem, target, true)
}

/// Plans one in which elements get other neighbours.
///
/// # Errors
/// What the row does not take.
pub(super) fn permuted(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    tiles(problem, target, false)
}

fn tiles(problem: &Problem, target: &CpuTarget, kept: bool) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        let data = match Lanes::new(Moved::of(op, &problem.attr)?, jit) {
            Err(_) if kept && super::run(&op.dst, &op.src) <= SHORT_RUN => Lanes::kept(Moved::of(op, &problem.attr)?, jit)?,
            data => data?,
        };
        super::check_filled(op, problem, target)?;
        if super::check_copy(op, &problem.attr).is_ok() && has_runs(op, target) {
            return Err(Skip::Layout("of src and dst: runs of half a line, which need no permutation".into()));
        }
        let (sums, scratch) = Behind::plan(op, problem, jit)?;
        Ok((Summed::new(data, sums), scratch))
    })
}

/// Whether both tensors have runs of half a line or more, and what follows a run in the destination comes from so few lines of the source that these are
/// in L1 until the rest of them is read.
fn has_runs(op: &Reorder, target: &CpuTarget) -> bool {
    let [Some(to), Some(from)] = [&op.dst, &op.src].map(|t| t.blocking()) else { return false };
    let all = loops(op.dst.dims(), [to, from]).unwrap_or_default();
    let [.., next, run] = &all[..] else { return false };
    let line = target.caches.line;
    run.steps == [1; 2] && op.dst.dtype.bytes(run.size).is_some_and(|bytes| 2 * bytes >= line) && next.size * line <= target.caches.l1
}

/// Whether tiles are listed for such a reorder, and to make them takes less time than to move as many elements one by one.
pub(super) fn are_cheap(op: &Reorder, attr: &Attr, jit: Isa) -> bool {
    let Ok(lanes) = Moved::of(op, attr).and_then(|moved| Lanes::new(moved, jit)) else { return false };
    let all = lanes.listed.iter().map(|l| CALL + TILE * l.places.len()).sum::<usize>();
    !lanes.listed.is_empty() && op.dst.dims().volume().is_some_and(|n| all < n as usize)
}

/// Whether neighbours of destination and source are the same, and vectors of them are parts of vectors.
pub(super) fn has_short_runs(op: &Reorder, jit: Isa) -> bool {
    let [Some(to), Some(from)] = [&op.dst, &op.src].map(|t| t.blocking()) else { return false };
    let all = loops(&loops::walked(to, from), [to, from]).unwrap_or_default();
    let Some(run) = all.last().filter(|run| run.steps == [1; 2]) else { return false };
    let lanes = jit.width().lanes();
    let exist = loops(op.dst.dims(), [to, from]).and_then(|all| all.last().copied()).map_or(0, |run| run.size);
    (3..lanes).contains(&run.size) || run.size == lanes && (3..lanes).contains(&exist)
}

/// Whether there are tiles for such a reorder, full ones, and most of what they go over exists.
pub(super) fn fills(op: &Reorder, attr: &Attr, jit: Isa) -> bool {
    let Ok(moved) = Moved::of(op, attr) else { return false };
    let walked = moved.loops.iter().map(|l| l.size as f64).product::<f64>();
    let exist = op.dst.dims().iter().map(|d| *d as f64).product::<f64>();
    exist >= EXIST * walked && Lanes::new(moved, jit).is_ok_and(|lanes| lanes.is_filled())
}

/// The bits of a tile, while they are chosen.
struct Draft {
    rest: Vec<Loop>,
    ends: Vec<[usize; 2]>,
    /// What ends behind the one position of bits that no loop has.
    void: Option<usize>,
}

/// A bit, and whether a loop has it.
type Bit = (Loop, bool);

impl Draft {
    /// A number for what ends behind so many positions.
    fn end(&mut self, positions: usize) -> Result<usize, Skip> {
        self.ends.push([positions; 2]);
        if self.ends.len() > ENDS { Err(Skip::Shape("too many odd sizes")) } else { Ok(self.ends.len() - 1) }
    }

    /// The bit whose positions are `distance` elements apart in tensor `t`.
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

    /// A bit of one position.
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

    /// The lowest bits of tensor `t`, some of which may have been `taken`.
    fn bits(&mut self, t: usize, count: usize, taken: &[Bit]) -> Result<Vec<Bit>, Skip> {
        let mut found: Vec<Bit> = Vec::new();
        for i in 0..count {
            let distance = 1 << i;
            let bit = match taken.iter().find(|b| b.1 && b.0.steps[t] == distance) {
                // Behind a bit that no loop has there are no others.
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

    /// A tile of bits, whose neighbours are others in the destination unless they may be `kept`.
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
        if columns.iter().any(|c| c.0.steps[2..4] != [0; 2]) {
            return Err(Skip::Attr("scales that differ along neighbours of src".into()));
        }
        let (mut numbers, mut row) = ([0; BITS], BITS as u8);
        for (number, bit) in numbers.iter_mut().zip(&written) {
            *number = among(bit, &read).map_or(row, |i| i as u8);
            row += u8::from(usize::from(*number) >= BITS);
        }
        let there = |bits: &[Bit]| positions(&loops_of(&bits.iter().copied().filter(|b| b.1).collect::<Vec<_>>()));
        Ok(Tile {
            order: Order::Bits(numbers),
            vectors: [there(&rows), there(&columns)],
            lanes: [positions(&loops_of(&read)), positions(&loops_of(&written))],
            still,
        })
    }

    /// A tile of vectors of some lanes that both tensors have: one of each of several runs, of which there may be more than there are.
    fn kept(&mut self, lanes: Vec<At>, still: [bool; 2]) -> Tile {
        let same = |l: &Loop| l.steps[2..4] == [0; 2];
        let ends = |l: &Loop| l.steps[FIRST..].iter().any(|step| *step > 0);
        let most = lanes.len();
        let part = |l: &Loop| (2..=most).rev().find(|n| l.size.is_multiple_of(*n)).unwrap_or(1);
        // Those along which nothing ends, then whole parts, then the most vectors.
        let best = (0..self.rest.len()).filter(|i| same(&self.rest[*i])).max_by_key(|i| {
            let l = &self.rest[*i];
            (!ends(l), part(l).min(most / 2), l.size.min(most), std::cmp::Reverse(l.steps[0]))
        });
        let mut vectors = vec![[0; FIRST + ENDS]];
        if let Some(i) = best {
            let mut l = self.rest[i];
            let mut count = part(&l);
            if 2 * count < l.size.min(most) && !ends(&l) {
                if let Ok(end) = self.end(l.size) {
                    (l.steps[FIRST + end], count) = (1, l.size.min(most));
                }
            }
            vectors = positions(&[Loop { size: count, ..l }]);
            self.rest[i] = Loop { size: l.size.div_ceil(count), steps: l.steps.map(|s| s * count) };
            if self.rest[i].size == 1 {
                self.rest.remove(i);
            }
        }
        Tile { order: Order::Kept, vectors: [vectors.clone(), vectors], lanes: [lanes.clone(), lanes], still }
    }

    /// A tile of few rows of one tensor that are neighbours in the other, in numbers that no bits give; none where there are no such rows.
    fn few(&mut self, lanes: usize) -> Result<Option<Tile>, Skip> {
        let plain = |l: &Loop| l.steps[2..].iter().all(|step| *step == 0);
        let position = |rest: &[Loop], t: usize, step: usize| rest.iter().position(|l| l.steps[t] == step && plain(l));
        for joined in [true, false] {
            // The tensor whose neighbours the rows are, and the other.
            let (t, other) = if joined { (0, 1) } else { (1, 0) };
            let Some(i) = position(&self.rest, t, 1).filter(|i| FEW.contains(&self.rest[*i].size)) else { continue };
            let rows = self.rest[i];
            let Some(j) = position(&self.rest, t, rows.size).filter(|j| self.rest[*j].steps[other] == 1) else { continue };
            let along = self.rest[j];
            // What ends is a place along the neighbours.
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
            let [(read, read_lanes), (written, written_lanes)] = if joined { [of_rows, of_neighbours] } else { [of_neighbours, of_rows] };
            self.rest[j] = Loop { size: along.size.div_ceil(lanes), steps: at(along.steps, lanes, rows.size) };
            self.rest.remove(i);
            let number = rows.size as u8;
            let order = if joined { Order::Joined(number) } else { Order::Parted(number) };
            return Ok(Some(Tile { order, vectors: [read, written], lanes: [read_lanes, written_lanes], still: [true; 2] }));
        }
        Ok(None)
    }
}

/// A tile: where its elements go, the places of vectors that are read and written, and of their lanes, and whether scales of the source and the
/// destination are the same in all of it.
struct Tile {
    order: Order,
    vectors: [Vec<At>; 2],
    lanes: [Vec<At>; 2],
    still: [bool; 2],
}

/// All positions of some loops, the first the innermost.
fn positions(loops: &[Loop]) -> Vec<At> {
    let mut all = vec![[0; FIRST + ENDS]];
    for l in loops {
        let before = all.clone();
        all = (0..l.size).flat_map(|i| before.iter().map(move |at| std::array::from_fn(|t| at[t] + i * l.steps[t]))).collect();
    }
    all
}

/// The largest place of any, of every kind.
fn most(places: &[At]) -> At {
    places.iter().fold([0; FIRST + ENDS], |most, at| std::array::from_fn(|t| most[t].max(at[t])))
}

/// The sum of two places.
fn sum(a: &At, b: &At) -> At {
    std::array::from_fn(|t| a[t] + b[t])
}

/// Elements that are moved.
pub(crate) struct Moved {
    /// Destination and source.
    pub(crate) args: [Arg; 2],
    /// Their elements.
    pub(crate) types: [Elem; 2],
    /// Elements before the first of either.
    pub(crate) starts: [usize; 2],
    /// Loops over all of them.
    pub(crate) loops: Vec<Loop>,
    /// How far source and destination go in dimensions with padding.
    pub(crate) ends: Vec<[usize; 2]>,
    /// The arithmetic of elements, any of which may have factors of its own.
    pub(crate) factors: Kinds,
}

impl Moved {
    fn of(op: &Reorder, attr: &Attr) -> Result<Moved, Skip> {
        super::check_known(op)?;
        let dims = op.dst.dims();
        let whole = |b: &&Blocking| b.padded_offsets.iter().all(|o| *o == 0);
        let [Some(dst), Some(src)] = [&op.dst, &op.src].map(|t| t.blocking().filter(whole)) else { return Err(padded()) };
        let sizes = loops::walked(dst, src);
        let (mut ends, mut counted) = (Vec::new(), Vec::new());
        for d in (0..dims.len()).filter(|d| sizes[*d] > dims[*d]) {
            let mut position = still(dims);
            position.strides[d] = 1;
            counted.push(position);
            ends.push([dims[d] as usize, dst.padded_dims[d] as usize]);
        }
        counted.resize(counted.len().max(PADDED), still(dims));
        let [a, b, c] = &counted[..] else { return Err(padded()) };
        let [by_dst, by_src] = [scales(Arg::DST, attr, dims)?, scales(Arg::SRC, attr, dims)?];
        let none = still(dims);
        let tensors = [dst, src, &by_dst, &by_src, a, b, c, &none, &none, &none, &none];
        Ok(Moved {
            args: [Arg::DST, Arg::SRC],
            types: types(op, attr)?,
            starts: [dst.offset as usize, src.offset as usize],
            loops: loops(&sizes, tensors).ok_or_else(padded)?,
            ends,
            factors: with_zero_points(
                attr,
                [Arg::SRC, Arg::DST].map(|arg| if attr.scales.contains_key(&arg) { Factor::ByRow } else { Factor::None }),
            ),
        })
    }
}

impl Lanes {
    /// The kernel for such elements.
    ///
    /// # Errors
    /// [`Skip`] where there is nothing to permute.
    pub(crate) fn new(moved: Moved, jit: Isa) -> Result<Lanes, Skip> {
        Lanes::of(moved, jit, false)
    }

    /// The same where neighbours stay neighbours.
    fn kept(moved: Moved, jit: Isa) -> Result<Lanes, Skip> {
        Lanes::of(moved, jit, true)
    }

    fn of(moved: Moved, jit: Isa, kept: bool) -> Result<Lanes, Skip> {
        let Moved { args, types, starts: [dst, src], loops, mut ends, mut factors } = moved;
        ends.resize(PADDED, [1; 2]);
        let elements = loops.iter().map(|l| l.size).product::<usize>();
        let same = loops.iter().all(|l| l.steps[2..4] == [0; 2]);
        let mut draft = Draft { rest: loops, ends, void: None };
        let tile = match draft.few(jit.width().lanes())? {
            Some(tile) => tile,
            None => draft.tile(bits(jit), kept)?,
        };
        let Tile { order, vectors, lanes, still } = tile;
        for (factor, still) in factors[1..3].iter_mut().zip(still) {
            *factor = if *factor == Factor::ByRow && still { Factor::Same } else { *factor };
        }
        let kernel = Permute {
            from: types[1],
            to: types[0],
            factors,
            order,
            vectors: [vectors[0].len() as u8, vectors[1].len() as u8],
            masked: false,
        };
        let of_tile = [0, 1].map(|i| sum(&most(&vectors[i]), &most(&lanes[i])));
        let of_tile = std::array::from_fn(|t| of_tile[0][t].max(of_tile[1][t]));
        let tables = [0, 1].map(|i| vectors[i].iter().map(|at| at[1 - i] * types[1 - i].bytes()).collect());
        let parts = [0, 1].map(|i| std::array::from_fn(|k| Parts::new(&lanes[i], k)));
        let mut ends = draft.ends;
        ends.resize(ENDS, [1; 2]);
        let mut starts = [0; FIRST + ENDS];
        (starts[0], starts[1]) = (dst, src);
        let tiles = draft.rest.iter().map(|l| l.size).product::<usize>();
        let filled = [vectors[1].len() * lanes[1].len(), elements / tiles.max(1)];
        let mut all = Lanes {
            jit,
            args,
            kernel,
            starts,
            vectors,
            lanes,
            tables,
            tiles: Vec::new(),
            places: Vec::new(),
            last: (Loop { size: 1, steps: [0; FIRST + ENDS] }, 1),
            indices: Vec::new(),
            outer: draft.rest,
            ends: std::array::from_fn(|k| ends[k]),
            most: [of_tile; 2],
            all: [[0; 2]; ENDS + 1],
            filled,
            same,
            parts,
            listed: Vec::new(),
        };
        for k in 0..ENDS {
            let size = u16::try_from(of_tile[FIRST + k] + 1).map_err(|_| Skip::Shape("tiles that reach far"))?;
            all.all[k] = [size; 2];
        }
        all.cut(types);
        all.listed = all.list(types).unwrap_or_default();
        Ok(all)
    }

    /// Whether tiles are whole, or parts of enough elements in the mean.
    pub(crate) fn is_filled(&self) -> bool {
        let [all, mean] = self.filled;
        mean == all || mean >= LEAST
    }

    /// Chooses the tiles of a piece: next to each other in either tensor. Those of a kind follow each other: loops along which nothing ends are
    /// innermost.
    fn cut(&mut self, types: [Elem; 2]) {
        self.outer.sort_by_key(|l| l.steps[0].min(l.steps[1]));
        let (mut inside, mut count) = (Vec::new(), 1);
        while count < TILES && !self.outer.is_empty() {
            let l = self.outer.remove(0);
            let piece = TILES.div_ceil(count).min(l.size);
            self.last = (l, piece);
            count *= piece;
            inside.push((Loop { size: piece, ..l }, false));
        }
        if let Some(last) = inside.last_mut() {
            last.1 = true;
        }
        inside.sort_by_key(|(l, _)| l.steps[2..].iter().any(|step| *step > 0));
        // Pieces follow each other in the destination.
        self.outer.sort_by_key(|l| std::cmp::Reverse(l.steps[0]));
        let before = inside.iter().take_while(|l| !l.1).map(|l| l.0.size).product::<usize>();
        let inside: Vec<Loop> = inside.into_iter().map(|l| l.0).collect();
        self.tiles = positions(&inside);
        self.indices = (0..self.tiles.len()).map(|i| i / before % self.last.1).collect();
        self.places = self.tiles.iter().map(|at| [at[1] * types[1].bytes(), at[0] * types[0].bytes()]).collect();
        self.most[1] = sum(&self.most[0], &most(&self.tiles));
    }

    /// Pieces along the loop that is cut, and all of them.
    fn pieces(&self) -> [usize; 2] {
        let along = self.last.0.size.div_ceil(self.last.1);
        [along, along * self.outer.iter().map(|l| l.size).product::<usize>()]
    }

    /// Where piece `i` is, and its positions of the loop that is cut.
    fn piece(&self, i: usize, along: usize) -> (At, usize) {
        let (last, piece) = self.last;
        let first = i % along * piece;
        let at = place(&self.outer, self.starts, i / along);
        (std::array::from_fn(|t| at[t] + first * last.steps[t]), piece.min(last.size - first))
    }

    /// Elements of a piece, those of parts of tiles that do not exist included.
    fn of_piece(&self) -> usize {
        self.tiles.len() * usize::from(self.kernel.vectors[0].max(self.kernel.vectors[1])) * LANES
    }

    /// All tiles by their kinds; none where they are more than a task's, or of many kinds.
    fn list(&self, types: [Elem; 2]) -> Option<Vec<Listed>> {
        let [along, all] = self.pieces();
        if all.checked_mul(self.of_piece())? > GRAIN as usize {
            return None;
        }
        let mut listed: Vec<Listed> = Vec::new();
        for (at, count) in (0..all).map(|i| self.piece(i, along)) {
            for tile in self.tiles.iter().zip(&self.indices).filter(|(_, index)| **index < count).map(|(tile, _)| sum(&at, tile)) {
                let mut left = self.all;
                for (k, ends) in self.ends.iter().enumerate() {
                    left[k] = ends.map(|end| end.saturating_sub(tile[FIRST + k]).min(self.all[k][0].into()) as u16);
                }
                if left[..ENDS].iter().any(|left| left[1] == 0) {
                    continue;
                }
                let kind = (if self.same { [0; 2] } else { [tile[3], tile[2]] }, left);
                let place = [tile[1] * types[1].bytes(), tile[0] * types[0].bytes()];
                if let Some(same) = listed.iter_mut().find(|listed| listed.kind == kind) {
                    same.places.push(place);
                    continue;
                }
                if listed.len() == KINDS {
                    return None;
                }
                let masks = (left != self.all).then(|| self.masks(&left));
                listed.push(Listed { kind, masks, places: vec![place] });
            }
        }
        Some(listed)
    }

    /// Whether all positions of a piece at a place are there.
    fn is_whole(&self, at: &At) -> bool {
        self.ends.iter().enumerate().all(|(k, ends)| at[FIRST + k] + self.most[1][FIRST + k] < ends[0].min(ends[1]))
    }

    /// What is left of a tile of a piece, of which so much is left in those ends that are not whole.
    fn left_of(&self, piece: &[(usize, [usize; 2])], tile: &At) -> Left {
        let mut left = self.all;
        for (k, of_piece) in piece {
            left[*k] = of_piece.map(|of_piece| of_piece.saturating_sub(tile[FIRST + k]).min(left[*k][0].into()) as u16);
        }
        left
    }

    /// The masks of a tile with so much left.
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
        Masks { reads: mask(0, 0), writes: mask(1, 1), exists: mask(1, 0) }
    }
}

/// What is left of source and destination in what ends; as much as a tile has where there is more. One more than there are ends: a vector of bytes,
/// which is compared at once.
type Left = [[u16; 2]; ENDS + 1];

/// The lanes before any end, by the positions that are left; the last for all that are more.
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

impl Generated for Lanes {
    type Code = Permuter;

    fn build(&self) -> Result<Permuter, Error> {
        Permuter::get(self.jit, self.kernel)
    }

    fn table_bytes(&self) -> usize {
        let listed = self.listed.iter().map(|l| size_of::<Listed>() + l.places.len() * size_of::<[usize; 2]>());
        self.tiles.len() * (size_of::<At>() + size_of::<[usize; 3]>()) + listed.sum::<usize>()
    }

    fn run(&self, permuter: &Permuter, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let memory = [ctx.buf(self.args[0])?, ctx.buf(self.args[1])?];
        let mut scales = [Buf::empty(); 2];
        for (i, arg) in [Arg::SRC, Arg::DST].into_iter().enumerate().filter(|(i, _)| self.kernel.factors[i + 1] != Factor::None) {
            scales[i] = ctx.buf(Arg::scale(arg))?;
        }
        let zeros = zero_points(&self.kernel.factors, ctx)?;
        let reader = Reader { by: self, scales, zeros };
        let caller = Caller { permuter, memory, reader };
        if !self.listed.is_empty() {
            self.listed.iter().for_each(|l| caller.call([0; 2], &l.places, (&reader.factors_of(&l.kind), l.masks.as_ref())));
            return Ok(());
        }
        let [along, all] = self.pieces();
        let each = (GRAIN as usize / self.of_piece()).max(1);
        ctx.executor().run(ctx.executor().threads(), all.div_ceil(each), &|_, task| {
            let mut maker = Maker::new(caller);
            for i in task * each..all.min((task + 1) * each) {
                let (at, count) = self.piece(i, along);
                maker.make(&at, count, i % along % SHAPES);
            }
        });
        Ok(())
    }
}

/// What decides how a tile is made: the places of its factors, and what is left of it.
type Kind = ([usize; 2], Left);

/// Kinds of tiles whose factors and masks a task remembers.
const KNOWN: usize = 8;

/// Shapes of pieces that a task remembers.
const SHAPES: usize = 2;

/// What makes tiles.
#[derive(Clone, Copy)]
struct Caller<'m> {
    permuter: &'m Permuter,
    /// Of destination and source.
    memory: [Buf<'m>; 2],
    reader: Reader<'m>,
}

/// What a task makes pieces with.
struct Maker<'m> {
    caller: Caller<'m>,
    /// The factors of all elements, where they have the same.
    same: Option<AllFactors>,
    /// What is left of pieces, by their place along the loop that is cut.
    shapes: [Shape; SHAPES],
    /// Kinds of tiles that there were, with their factors and masks, and how many of them have been remembered.
    known: [Option<Known>; KNOWN],
    made: usize,
}

/// A kind of tiles.
struct Known {
    kind: Kind,
    factors: AllFactors,
    masks: Option<Masks>,
}

/// The factors of a tile by its steps, for every lane that is written.
type AllFactors = [[f32; LANES]; UNCHANGED.len()];

/// What reads the factors of tiles.
#[derive(Clone, Copy)]
struct Reader<'m> {
    by: &'m Lanes,
    /// Of source and destination.
    scales: [Buf<'m>; 2],
    zeros: [f32; 2],
}

impl Reader<'_> {
    /// The factors of a tile.
    fn factors_of(&self, (places, left): &Kind) -> AllFactors {
        let mut scales = [[1.0; LANES]; 2];
        for (i, how) in self.by.kernel.factors[1..3].iter().enumerate() {
            let there = |at: &&At| (0..ENDS).all(|k| at[FIRST + k] < left[k][0].into());
            match how {
                Factor::Same if left[..ENDS].iter().all(|l| l[0] > 0) => scales[i] = [self.scales[i].get(places[i]); LANES],
                Factor::None | Factor::Same => {}
                Factor::ByRow => {
                    for (scale, at) in scales[i].iter_mut().zip(&self.by.lanes[1]) {
                        *scale = Some(at).filter(there).map_or(1.0, |at| self.scales[i].get(places[i] + at[3 - i]));
                    }
                }
            }
        }
        let [by, over] = scales;
        [[self.zeros[0]; LANES], by, over, [self.zeros[1]; LANES]]
    }
}

/// What is left of a piece, and the runs of its tiles of which as much is left. Pieces after each other mostly have the same.
struct Shape {
    left: [[usize; 2]; ENDS],
    /// Positions of the loop that is cut.
    count: usize,
    /// The ends that are not whole.
    ends: [(usize, [usize; 2]); ENDS],
    parts: usize,
    /// Tiles from one on to before another.
    runs: [[u8; 2]; 2 * TILES],
    len: usize,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { left: [[0; 2]; ENDS], count: 0, ends: [(0, [0; 2]); ENDS], parts: 0, runs: [[0; 2]; 2 * TILES], len: 0 }
    }
}

impl Shape {
    /// The ends that are not whole, and what is left in them.
    fn ends(&self) -> &[(usize, [usize; 2])] {
        &self.ends[..self.parts]
    }

    /// Finds the runs of a piece with so much left, and so many positions of the loop that is cut. Tiles that the destination does not have
    /// are in none.
    fn find(&mut self, by: &Lanes, left: [[usize; 2]; ENDS], count: usize) {
        if self.left == left && self.count == count {
            return;
        }
        (self.left, self.count, self.parts, self.len) = (left, count, 0, 0);
        for (k, left) in left.into_iter().enumerate().filter(|(k, left)| left.iter().any(|left| *left <= by.most[1][FIRST + k])) {
            self.ends[self.parts] = (k, left);
            self.parts += 1;
        }
        let mut before = None;
        for (i, tile) in by.tiles.iter().enumerate().filter(|(i, _)| by.indices[*i] < count) {
            let of_tile = by.left_of(self.ends(), tile);
            if self.ends().iter().any(|(k, _)| of_tile[*k][1] == 0) {
                continue;
            }
            if before != Some((i, of_tile)) {
                self.runs[self.len][0] = i as u8;
                self.len += 1;
            }
            self.runs[self.len - 1][1] = i as u8 + 1;
            before = Some((i + 1, of_tile));
        }
    }
}

impl Caller<'_> {
    /// Makes the tiles at some places behind these elements of source and destination.
    fn call(&self, at: [usize; 2], places: &[[usize; 2]], (factors, masks): (&AllFactors, Option<&Masks>)) {
        let (by, [dst, src]) = (self.reader.by, self.memory);
        self.permuter.run(&Tiles {
            from: (src, at[0] * by.kernel.from.bytes()),
            to: (dst, at[1] * by.kernel.to.bytes()),
            places,
            vectors: [&by.tables[0], &by.tables[1]],
            masks,
            factors,
        });
    }
}

impl<'m> Maker<'m> {
    fn new(caller: Caller<'m>) -> Maker<'m> {
        let reader = caller.reader;
        let same = reader.by.same.then(|| reader.factors_of(&([0; 2], reader.by.all)));
        Maker { caller, same, shapes: Default::default(), known: Default::default(), made: 0 }
    }

    /// Makes the tiles of the piece at `at` that have one of the first so many positions of the loop that is cut; its shape is remembered in `slot`.
    fn make(&mut self, at: &At, count: usize, slot: usize) {
        let by = self.caller.reader.by;
        if let Some(same) = self.same.filter(|_| count == by.last.1 && by.is_whole(at)) {
            return self.caller.call([at[1], at[0]], &by.places, (&same, None));
        }
        let left = std::array::from_fn(|k| by.ends[k].map(|end| end.saturating_sub(at[FIRST + k]).min(by.most[1][FIRST + k] + 1)));
        self.shapes[slot].find(by, left, count);
        for i in 0..self.shapes[slot].len {
            let shape = &self.shapes[slot];
            let [mut first, end] = shape.runs[i].map(usize::from);
            let left = by.left_of(shape.ends(), &by.tiles[first]);
            if let Some(same) = self.same.filter(|_| left == by.all) {
                self.caller.call([at[1], at[0]], &by.places[first..end], (&same, None));
                continue;
            }
            let factors = |tile: &At| [at[3] + tile[3], at[2] + tile[2]];
            while first < end {
                let places = factors(&by.tiles[first]);
                let next = first + by.tiles[first..end].iter().take_while(|tile| factors(tile) == places).count();
                let known = self.know(&(places, left));
                if let Some(known) = &self.known[known] {
                    let places = &by.places[first..next];
                    self.caller.call([at[1], at[0]], places, (&known.factors, known.masks.as_ref()));
                }
                first = next;
            }
        }
    }

    /// The place among the known kinds of one, which is new or not.
    fn know(&mut self, kind: &Kind) -> usize {
        let place = |known: &Option<Known>| known.as_ref().is_some_and(|k| k.kind == *kind);
        if let Some(i) = self.known.iter().position(place) {
            return i;
        }
        let reader = self.caller.reader;
        let masks = (kind.1 != reader.by.all).then(|| reader.by.masks(&kind.1));
        let (factors, i) = (reader.factors_of(kind), self.made % KNOWN);
        self.made += 1;
        self.known[i] = Some(Known { kind: *kind, factors, masks });
        i
    }
}
