//! Reorders between blocked layouts, a tile at a time: vectors are loaded along the source's elements and stored along the destination's.
//!
//! The position of an element in a tile is a number of a few bits. Some bits are the lane of the vector that is read, the others its
//! number; other bits, or the same ones in another order, are the lane of the vector that is written. A stage exchanges one bit of the
//! vector number with one bit of the lane, by a shuffle for each vector: interleaved words, pairs of words, or blocks of four. So 16
//! vectors of which all lanes change take four stages, which is a transposition, and two vectors that become pairs of words take one. Lane
//! orders that no stages give take a permutation at the end, or before. The floor is the shuffles, of which a core starts one or two a
//! cycle: 32 to 64 cycles for 1 KB.
//!
//! Rows whose number is not a power of two, such as the three channels of an image, may become contiguous elements, and contiguous elements
//! rows: then every written vector is looked up in all vectors that are read.
//!
//! Where both tensors have the same neighbours, but few, a tile is a vector of each of several runs of them.

use super::transpose::{DIVISOR, Factor, Factors, UNCHANGED, scaled};
use crate::ir::{Addr, Binary, Compare, Divisor, Elem, Function, Int, Pred, Src, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Most bits of a lane's number.
pub const BITS: usize = 4;

/// Most lanes of a vector.
pub const LANES: usize = 1 << BITS;

/// Bytes of a mask.
const MASK_BYTES: usize = 2;

/// The kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Permute {
    /// Elements of the source.
    pub from: Elem,
    /// Elements of the destination. Both or neither are unconverted words.
    pub to: Elem,
    /// The arithmetic of elements: numbers for all, or one for each lane of the vectors that are written.
    pub factors: Factors,
    /// Whether each of these vectors has numbers of its own for its lanes, [`LANES`] for each.
    pub each: bool,
    /// Where elements go.
    pub order: Order,
    /// Vectors that are read, and vectors that are written, in powers of two: fewer than the bits allow where the others have no elements. Where none
    /// is read, zeros are written.
    pub vectors: [u8; 2],
    /// Whether elements of the destination as they were are multiplied by a number and added.
    pub adds: bool,
    /// What masks hold for.
    pub masked: Masked,
    /// Vectors of f32 are written whole, whatever the masks say, non-temporally, at multiples of their bytes.
    pub streaming: bool,
}

/// Which vectors have masks of their lanes; the others are accessed whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Masked {
    /// None.
    No,
    /// All.
    Both,
    /// Those that are read.
    Read,
    /// Those that are written.
    Written,
}

/// Where the elements of a tile go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// For each bit of the lanes that are written, lowest first: the bit of the lanes that are read, or [`BITS`] and the bit of the number of the
    /// vector that is read. As many count as a vector has.
    Bits([u8; BITS]),
    /// Interleaves so many vectors: element `i` of each, side by side, then element `i + 1`.
    Interleaved(u8),
    /// Deinterleaves into so many vectors: the inverse of [`Order::Interleaved`].
    Deinterleaved(u8),
    /// The identity: a copy, with conversion, arithmetic and masks.
    Kept,
}

/// Arguments. Distances are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The base address of tiles in the source.
    pub from: *const u8,
    /// The same in the destination.
    pub to: *mut u8,
    /// The places of each tile.
    pub tiles: *const [usize; 2],
    /// Tiles, at least one.
    pub count: usize,
    /// Where the vectors of a tile are that are read.
    pub reads: *const usize,
    /// The vectors that are written: their bits are those of the lanes that are read and not of the lanes that are written.
    pub writes: *const usize,
    /// Masks of the vectors that are read, of those that are written, and of the existing elements of the latter; elements that are written
    /// and do not exist are zero.
    pub masks: [*const u16; 3],
    /// The factors.
    pub factors: [*const f32; UNCHANGED.len()],
    /// The factors of the destination's elements.
    pub adds: *const f32,
}

/// A stage of the network: shuffles of pairs of vectors, which exchange one bit of the vector number for one bit of the lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Words,
    Pairs,
    Blocks,
}

impl Stage {
    const ALL: [Stage; 3] = [Stage::Words, Stage::Pairs, Stage::Blocks];

    /// The bits of the lanes afterwards, where `bit` comes in, and the one that goes.
    fn exchange(self, lanes: &mut [u8], bit: u8) -> u8 {
        match self {
            Stage::Words => {
                let out = lanes[1];
                (lanes[0], lanes[1]) = (bit, lanes[0]);
                out
            }
            Stage::Pairs => std::mem::replace(&mut lanes[1], bit),
            Stage::Blocks => {
                let out = lanes[2];
                lanes[2..].rotate_left(1);
                if let Some(last) = lanes.last_mut() {
                    *last = bit;
                }
                out
            }
        }
    }

    fn ops(self) -> [Binary; 2] {
        match self {
            Stage::Words => [Binary::InterleaveLow32, Binary::InterleaveHigh32],
            Stage::Pairs => [Binary::InterleaveLow64, Binary::InterleaveHigh64],
            Stage::Blocks => [Binary::EvenBlocks, Binary::OddBlocks],
        }
    }
}

/// A network of shuffles that brings bits to their positions.
#[derive(Clone, Debug)]
struct Network {
    /// The bits of the lanes before the first stage.
    first: Vec<u8>,
    /// The stages, and the bits that each brings into the lanes.
    stages: Vec<(Stage, u8)>,
    /// The bits of the lanes after the last.
    last: Vec<u8>,
}

impl Network {
    /// The cheapest for lanes that are written.
    fn new(wanted: &[u8]) -> Network {
        let mut best: Option<(usize, Network)> = None;
        let natural: Vec<u8> = (0..wanted.len() as u8).collect();
        for first in orders(&natural) {
            let permuted = usize::from(first != natural);
            if best.as_ref().is_some_and(|b| b.0 <= permuted) {
                break;
            }
            let begin = Network { last: first.clone(), first, stages: Vec::new() };
            begin.search(wanted, &mut |found| {
                let cost = permuted + usize::from(found.last != wanted);
                if best.as_ref().is_none_or(|b| cost < b.0) {
                    best = Some((cost, found.clone()));
                }
            });
        }
        // The bits that leave the lanes can be moved beforehand to where stages take them from.
        best.map_or(Network { first: natural.clone(), stages: Vec::new(), last: natural }, |b| b.1)
    }

    /// Calls `found` with every continuation that brings in all wanted bits and moves none of them out.
    fn search(self, wanted: &[u8], found: &mut impl FnMut(&Network)) {
        let mut missing = wanted.iter().filter(|bit| !self.last.contains(bit)).peekable();
        if missing.peek().is_none() {
            return found(&self);
        }
        for bit in missing {
            for stage in Stage::ALL {
                let mut next = self.clone();
                if !wanted.contains(&stage.exchange(&mut next.last, *bit)) {
                    next.stages.push((stage, *bit));
                    next.search(wanted, found);
                }
            }
        }
    }
}

/// All orders of some bits, their own first.
fn orders(bits: &[u8]) -> Vec<Vec<u8>> {
    if bits.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |i: usize| {
        let others: Vec<u8> = [&bits[..i], &bits[i + 1..]].concat();
        orders(&others).into_iter().map(move |rest| [&[bits[i]], &rest[..]].concat())
    };
    (0..bits.len()).flat_map(with_first).collect()
}

impl Key for Permute {
    type Args = Args;

    /// The name in dumps and profiles, such as `permute.f32f32.4501.avx512`.
    fn name(&self, isa: Isa) -> String {
        let factors: String = self.factors.iter().map(|f| ["", ".same", ".lane"][*f as usize]).collect();
        let order: String = match self.order {
            Order::Bits(lanes) => lanes[..bits(isa)].iter().map(u8::to_string).collect(),
            Order::Interleaved(n) => format!("interleaved{n}"),
            Order::Deinterleaved(n) => format!("deinterleaved{n}"),
            Order::Kept => "kept".into(),
        };
        let [reads, writes] = self.vectors;
        let masked = ["", ".masked", ".read", ".written"][self.masked as usize];
        let each = if self.each { ".each" } else { "" };
        let adds = if self.adds { ".adds" } else { "" };
        let streaming = if self.streaming { ".streaming" } else { "" };
        format!(
            "permute.{}{}{factors}{each}{adds}{masked}{streaming}.{reads}x{writes}.{order}.{}",
            self.from.name(),
            self.to.name(),
            isa.name()
        )
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let shuffles = match self.order {
            Order::Bits(lanes) => Some(Shuffles::new(f, &lanes[..bits(f.isa())])),
            Order::Interleaved(_) | Order::Deinterleaved(_) | Order::Kept => None,
        };
        let factors = std::array::from_fn(|i| {
            let (how, width) = (self.factors[i], f.isa().width());
            (how != Factor::None).then(|| {
                let at = f.argument(args, offset_of!(Args, factors) + i * size_of::<usize>());
                if how != Factor::Same && self.each {
                    return LaneFactor::Table(at);
                }
                let number = if how == Factor::Same { f.splat(width, at.at(0)) } else { f.load(width, at.at(0)) };
                if i == DIVISOR { LaneFactor::Divisor(f.divisor(number)) } else { LaneFactor::Number(number) }
            })
        });
        let (tiles, count) = (f.argument(args, offset_of!(Args, tiles)), f.argument(args, offset_of!(Args, count)));
        f.repeat_some(count, |f| {
            let vectors = self.read(f, args, tiles);
            let vectors = match &shuffles {
                _ if vectors.is_empty() => vec![None; self.vectors[1].into()],
                Some(shuffles) => shuffles.apply(f, vectors, self.vectors[1].into()),
                None if self.order == Order::Kept => vectors.into_iter().map(Some).collect(),
                None => self.look_up(f, &vectors),
            };
            self.store(f, (args, tiles), vectors, factors);
            f.add(tiles, 2 * size_of::<usize>() as i32);
        });
        if self.streaming {
            f.store_fence();
        }
    }
}

impl Permute {
    /// A kernel that writes zeros where this one writes, under masks, and reads nothing.
    #[must_use]
    pub fn of_zeros(&self) -> Permute {
        let (factors, vectors) = (UNCHANGED, [0, self.vectors[1]]);
        Permute {
            from: self.to,
            to: self.to,
            factors,
            each: false,
            order: Order::Kept,
            vectors,
            adds: false,
            masked: Masked::Both,
            streaming: false,
        }
    }

    /// The mask of vector `i` of those that are read (0), written (1), or exist (2).
    fn mask(&self, f: &mut Function, args: Int, which: usize, i: usize) -> Option<Pred> {
        let whole = [Masked::Written, Masked::Read];
        (self.masked != Masked::No && whole.get(which) != Some(&self.masked)).then(|| {
            let masks = f.argument(args, offset_of!(Args, masks) + which * size_of::<usize>());
            f.load_bits(masks.at((i * MASK_BYTES) as i32))
        })
    }

    /// Stores the lanes of vector `i` that are written, without a mask where these are all.
    fn store_some(&self, f: &mut Function, (args, i): (Int, usize), to: Addr, x: Val) {
        let all = (1 << f.isa().width().lanes()) - 1;
        let lanes = |f: &mut Function, which: usize| {
            let masks = f.argument(args, offset_of!(Args, masks) + which * size_of::<usize>());
            f.load_u8(masks.at((i * MASK_BYTES) as i32))
        };
        let (written, whole) = (lanes(f, 1), lanes(f, 1));
        if self.makes() {
            let existing = lanes(f, 2);
            f.and(whole, existing);
        }
        f.when(Compare::Ge, whole, all, |f| f.store_number(self.to, to, x, None));
        f.when(Compare::Lt, whole, all, |f| {
            f.when(Compare::Gt, written, 0, |f| {
                let x = self.existing(f, (args, i), x);
                f.when(Compare::Ge, written, all, |f| f.store_number(self.to, to, x, None));
                f.when(Compare::Lt, written, all, |f| {
                    let mask = self.mask(f, args, 1, i);
                    f.store_number(self.to, to, x, mask);
                });
            });
        });
    }

    /// Whether what is stored in the place of missing elements might not be zero: nothing times infinity, divided by zero, or beside a zero
    /// point, is not, nor is what was read beside elements.
    fn makes(&self) -> bool {
        self.adds || self.factors != UNCHANGED || self.masked == Masked::Written
    }

    /// The elements of vector `i` that exist, and zeros.
    fn existing(&self, f: &mut Function, (args, i): (Int, usize), x: Val) -> Val {
        let exists = if self.makes() { self.mask(f, args, 2, i) } else { None };
        let Some(exists) = exists else { return x };
        let zero = f.zero(f.isa().width());
        f.select(exists, x, zero)
    }

    /// The address of a tile.
    fn tile_address(f: &mut Function, args: Int, tiles: Int, which: usize) -> Int {
        let at = f.argument(args, if which == 0 { offset_of!(Args, from) } else { offset_of!(Args, to) });
        let tile = f.load_int(tiles.at((which * size_of::<usize>()) as i32));
        f.add(at, tile);
        at
    }

    fn read(&self, f: &mut Function, args: Int, tiles: Int) -> Vec<Val> {
        let from = Permute::tile_address(f, args, tiles, 0);
        let reads = f.argument(args, offset_of!(Args, reads));
        let vector = |i: usize| {
            let place = f.load_int(reads.at((i * size_of::<usize>()) as i32));
            let mask = self.mask(f, args, 0, i);
            f.load_number(self.from, from.indexed(place, 1, 0), mask)
        };
        (0..usize::from(self.vectors[0])).map(vector).collect()
    }

    /// The vectors that are written, from those that are read. If their number is odd, the elements of a vector that is written come from different
    /// lanes, and those of a vector that is read go to different ones: so one permutation for each is enough.
    fn look_up(&self, f: &mut Function, vectors: &[Val]) -> Vec<Option<Val>> {
        let (lanes, n) = (f.isa().width().lanes(), vectors.len());
        let (deinterleaves, odd) = (matches!(self.order, Order::Deinterleaved(_)), n % 2 == 1);
        // For lane `lane` of vector `i`: its source vector, and the lane there.
        let from = |i: usize, lane: usize| match deinterleaves {
            true => ((lane * n + i) / lanes, (lane * n + i) % lanes),
            false => ((i * lanes + lane) % n, (i * lanes + lane) / n),
        };
        let found = |f: &mut Function, of: &dyn Fn(usize) -> usize, x: Val| {
            let bytes: Vec<u8> = (0..lanes).flat_map(|lane| (of(lane) as u32).to_le_bytes()).collect();
            let (width, at) = (f.isa().width(), f.constant(&bytes));
            let index = f.load(width, at);
            f.binary(Binary::Lookup32, index, x)
        };
        // Element `e` of vector `v` goes to lane `(e n + v) % lanes`.
        let element = |v: usize, lane: usize| (0..lanes).find(|e| (e * n + v) % lanes == lane).unwrap_or_default();
        let moved: Vec<Val> = match odd && !deinterleaves {
            true => vectors.iter().enumerate().map(|(v, x)| found(f, &|lane| element(v, lane), *x)).collect(),
            false => vectors.to_vec(),
        };
        let made = |i: usize| {
            let mut made: Option<Val> = None;
            for (v, x) in moved.iter().enumerate() {
                let of = (0..lanes).filter(|lane| from(i, *lane).0 == v);
                let bits: u16 = of.map(|lane| 1 << if odd && deinterleaves { from(i, lane).1 } else { lane }).sum();
                if bits == 0 {
                    continue;
                }
                let x = if odd { *x } else { found(f, &|lane| from(i, lane).1, *x) };
                made = Some(match made {
                    None => x,
                    Some(before) => {
                        let at = f.constant(&bits.to_le_bytes());
                        let mask = f.load_bits(at);
                        f.select(mask, x, before)
                    }
                });
            }
            made.map(|x| if odd && deinterleaves { found(f, &|lane| from(i, lane).1, x) } else { x })
        };
        (0..n).map(made).collect()
    }

    fn store(
        &self,
        f: &mut Function,
        (args, tiles): (Int, Int),
        vectors: Vec<Option<Val>>,
        factors: [Option<LaneFactor>; UNCHANGED.len()],
    ) {
        let to = Permute::tile_address(f, args, tiles, 1);
        let writes = f.argument(args, offset_of!(Args, writes));
        for (i, x) in vectors.into_iter().enumerate().take(self.vectors[1].into()) {
            let width = f.isa().width();
            let mut x = x.unwrap_or_else(|| f.zero(width));
            let place = f.load_int(writes.at((i * size_of::<usize>()) as i32));
            // Some processors take long to store under masks, even nothing, or all.
            let is_slow = matches!(self.masked, Masked::Both | Masked::Written) && !f.isa().avx512;
            let mask = if is_slow && !self.adds { None } else { self.mask(f, args, 1, i) };
            if self.factors != UNCHANGED {
                let of_vector = factors.map(|factor| {
                    factor.map(|factor| match factor {
                        LaneFactor::Number(number) => number,
                        LaneFactor::Divisor(divisor) => divisor.number(),
                        LaneFactor::Table(at) => f.load(width, at.at((i * LANES * size_of::<f32>()) as i32)),
                    })
                });
                let divisor = match factors[DIVISOR] {
                    Some(LaneFactor::Divisor(divisor)) => Some(divisor),
                    _ => None,
                };
                x = scaled(f, x, of_vector, divisor);
            }
            if self.adds {
                let (before, by) = (f.load_number(self.to, to.indexed(place, 1, 0), mask), f.argument(args, offset_of!(Args, adds)));
                let before = f.binary(Binary::MulF32, before, Src::Splat(by.at(0)));
                x = f.binary(Binary::AddF32, x, before);
            }
            let to = to.indexed(place, 1, 0);
            if is_slow {
                self.store_some(f, (args, i), to, x);
                continue;
            }
            let x = self.existing(f, (args, i), x);
            match mask {
                _ if self.streaming => f.store_streaming(to, x),
                mask => f.store_number(self.to, to, x, mask),
            }
        }
    }
}

/// A factor of the lanes of vectors: one for all, or a table with one for each vector.
#[derive(Clone, Copy)]
enum LaneFactor {
    Number(Val),
    Divisor(Divisor),
    Table(Int),
}

/// A network, with the permutations of lanes before and after it.
struct Shuffles {
    wanted: Vec<u8>,
    network: Network,
    before: Option<Val>,
    after: Option<Val>,
}

impl Shuffles {
    fn new(f: &mut Function, wanted: &[u8]) -> Shuffles {
        let network = Network::new(wanted);
        let natural: Vec<u8> = (0..wanted.len() as u8).collect();
        let (before, after) = (order(f, &natural, &network.first), order(f, &network.last, wanted));
        Shuffles { wanted: wanted.to_vec(), network, before, after }
    }

    /// The vectors to write, so many of them, by the bits of their numbers.
    fn apply(&self, f: &mut Function, read: Vec<Val>, count: usize) -> Vec<Option<Val>> {
        let wanted = &self.wanted;
        let all = 1 << wanted.iter().filter(|bit| usize::from(**bit) >= BITS).count();
        let mut vectors: Vec<Option<Val>> = read.into_iter().map(|x| Some(permuted(f, self.before, x))).collect();
        vectors.resize(all, None);
        let dropped: Vec<u8> = (0..wanted.len() as u8).filter(|bit| !wanted.contains(bit)).collect();
        // The bit of the lanes that each bit of a vector's number has become.
        let mut number_bits = vec![0; dropped.len()];
        let mut lanes = self.network.first.clone();
        for (stage, bit) in &self.network.stages {
            let number = usize::from(*bit) - BITS;
            let out = stage.exchange(&mut lanes, *bit);
            number_bits[number] = dropped.iter().position(|g| *g == out).unwrap_or_default();
            let needs_high = 1 << number_bits[number] < count;
            for i in (0..all).filter(|i| i >> number & 1 == 0) {
                let j = i | 1 << number;
                if vectors[i].is_none() && vectors[j].is_none() {
                    continue;
                }
                let width = f.isa().width();
                let [a, b] = [i, j].map(|i| vectors[i].unwrap_or_else(|| f.zero(width)));
                let [low, high] = stage.ops();
                vectors[i] = Some(f.binary(low, a, b));
                vectors[j] = needs_high.then(|| f.binary(high, a, b));
            }
        }
        let position = |i: usize| number_bits.iter().enumerate().map(|(n, to)| (i >> n & 1) << to).sum::<usize>();
        let mut ordered = vec![None; all];
        for (i, vector) in vectors.into_iter().enumerate() {
            ordered[position(i)] = vector;
        }
        ordered.into_iter().take(count).map(|x| x.map(|x| permuted(f, self.after, x))).collect()
    }
}

/// A vector whose lanes are permuted, where they are.
fn permuted(f: &mut Function, order: Option<Val>, x: Val) -> Val {
    order.map_or(x, |order| f.binary(Binary::Lookup32, order, x))
}

/// Bits of a lane's number.
pub fn bits(isa: Isa) -> usize {
    isa.width().lanes().trailing_zeros() as usize
}

/// The lanes that a lookup wants so that bits in the order `from` come into the order `to`; none where they are.
fn order(f: &mut Function, from: &[u8], to: &[u8]) -> Option<Val> {
    if from == to {
        return None;
    }
    let place = |bit: &u8| from.iter().position(|b| b == bit).unwrap_or_default();
    let lane = |x: usize| to.iter().enumerate().map(|(i, bit)| (x >> i & 1) << place(bit)).sum::<usize>() as u32;
    let bytes: Vec<u8> = (0..1 << to.len()).flat_map(|x| lane(x).to_le_bytes()).collect();
    let (width, at) = (f.isa().width(), f.constant(&bytes));
    Some(f.load(width, at))
}
