//! Bytes on processors without an exact product of all bytes: multiplied directly if they fit, else as 16-bit elements.
//!
//! AVX2's only product of bytes adds two products in 16 bits and saturates. With weights of seven bits it never saturates, for any source,
//! which is why networks are quantised so for such processors. So a task inspects its panels ([`fits`], one comparison for 32 elements) and
//! multiplies bytes if it may ([`DotType::U8S7`]): two multiplications and an addition for 32 products.
//!
//! Otherwise weights and sources become 16-bit elements, whose pairs are multiplied and added exactly. A kernel that widens its own
//! operands spends a quarter of its instructions on that, for every tile and panel again. Here a task widens its panels once for all its
//! rows, all rows are widened ahead (or a few tiles of them at a time for all panels of the task), and the tiles multiply words
//! ([`DotType::I16`]): one multiplication and one addition for 16 products, which fills all four pipes of a Zen 5 in the cycles in which
//! its two multipliers do the multiplications. The sums are the same either way.
//!
//! Of every four elements along K the first and third become a pair, then the second and fourth: shifts separate them in a panel. Widened
//! panels and rows are twice as long, and offsets in them are doubled.

use super::{AddressList, DotType, LineStride, MOST_ROWS, Microkernel, MicrokernelCall, MicrokernelKey, PrefetchMode, Stride, TileStrip};
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::scratch::Part;
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::dot::STRIP_HEADER_WORDS;
use oxidnn_runtime::{Buf, Executor};

#[cfg(test)]
mod tests;

/// Tiles from which on widening panels pays, and steps of a tap, over all panels, from which on widening rows pays.
const MIN_TILES: usize = 3;
const MIN_TAP_STEPS: usize = 64;
/// Elements of scratch for rows, unless a single tile has more: they stay in L2 for all panels.
const L2_ROW_ELEMENTS: usize = 24 << 10;
/// Elements of rows that stay in L1 for panels that do not.
const L1_ROW_ELEMENTS: usize = 4 << 10;
/// Most bytes of `A` that are widened ahead of all products: rows are used by many panels, and pixels by many taps.
const MAX_SOURCE_BYTES: usize = 1 << 20;
/// Elements that a worker widens at a time.
const TASK_ELEMENTS: usize = 8 << 10;
/// Words of a list, unless a single strip has more.
const LIST_WORDS: usize = 2 << 10;
/// Elements between rows, so that rows do not map to the same cache sets.
const SKEW: usize = 16;
/// Bytes that are widened at a time.
const CHUNK: usize = 32;
/// Rows from which on inspecting panels pays: fewer rows wait for the panels to come from memory or L3, which an inspection would do twice.
const MIN_INSPECTED_ROWS: usize = 4;
/// The largest magnitude of a weight of seven bits.
const MAX_7BIT_WEIGHT: u8 = 64;
/// The order of the elements of a step.
const STEP_ORDER: [usize; 4] = [0, 2, 1, 3];

/// How the rows of tiles are widened.
#[derive(Clone, Copy, Debug)]
pub struct Upconvert {
    /// Whether 128 is added to every element, which makes it unsigned.
    flips: bool,
    /// Whether all of `A` is widened ahead, see [`UpconvertedSources`].
    whole: bool,
    /// Elements of scratch for rows, and words of a list of their strips.
    rows: usize,
    words: usize,
}

/// What is multiplied: tiles of rows in the parts of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct UpconvertRequest<'p> {
    /// Instruction set.
    pub isa: Isa,
    /// Types, and the layouts of lines of `B` and steps of `A`.
    pub spec: &'p MicrokernelKey,
    /// Tiles of rows that are multiplied by a panel.
    pub tiles: usize,
    /// Panels that each of them is multiplied by.
    pub panels: usize,
    /// Bytes of all of `A` if rows begin and end at whole steps, else 0.
    pub source: usize,
    /// By K block: most taps of a tile, and most steps of a tap, including a partial one.
    pub parts: &'p [[usize; 2]],
}

impl Upconvert {
    /// Decides whether and how; `None` if kernels multiply bytes, operands have another layout, or there is too little to do.
    pub fn new(about: &UpconvertRequest<'_>) -> Option<Upconvert> {
        let MicrokernelKey { product, rows, line, a_step, .. } = *about.spec;
        let seven_bits_pay = asks_for_seven_bits(about.isa, product, line, usize::MAX) && a_step == Stride::Fixed(4);
        let steps = about.parts.iter().map(|[_, steps]| *steps).max().unwrap_or(0);
        if !seven_bits_pay || about.tiles < MIN_TILES || steps.saturating_mul(about.panels) < MIN_TAP_STEPS {
            return None;
        }
        let rows = usize::from(rows);
        let most = about.parts.iter().map(|[taps, steps]| taps * steps).max().unwrap_or(0);
        let taps = about.parts.iter().map(|[taps, _]| *taps).max().unwrap_or(0);
        let words = AddressList::words(1, [rows; 2], taps)?.max(LIST_WORDS).checked_next_multiple_of(8)?;
        let whole = (1..=MAX_SOURCE_BYTES).contains(&about.source);
        Some(Upconvert {
            flips: product == DotType::S8S8,
            whole,
            rows: if whole { 0 } else { L2_ROW_ELEMENTS.max(rows * row_len(most)) },
            words,
        })
    }

    /// Elements of scratch for [`Upconvert::run`].
    pub fn scratch_len(&self) -> Option<usize> {
        self.words.checked_mul(size_of::<usize>() / size_of::<f32>())?.checked_add(self.rows)
    }

    /// Whether all of `A` is to be widened ahead.
    pub fn is_whole(&self) -> bool {
        self.whole
    }
}

/// Whether panels that `rows` rows meet are inspected, see [`fits`]: bytes on processors without an instruction that multiplies all of them.
pub fn asks_for_seven_bits(isa: Isa, product: DotType, line: LineStride, rows: usize) -> bool {
    let bytes = matches!(product, DotType::U8S8 | DotType::S8S8) && !product.is_native(isa);
    bytes && rows >= MIN_INSPECTED_ROWS && matches!(line, LineStride::Packed(_))
}

/// The kernel for panels that [fit](fits), from the one for all bytes.
pub fn seven_bits(spec: MicrokernelKey) -> MicrokernelKey {
    MicrokernelKey { product: if spec.product == DotType::S8S8 { DotType::S8S7 } else { DotType::U8S7 }, ..spec }
}

/// The kernel for widened rows and panels, from the one for bytes.
pub fn words(spec: MicrokernelKey) -> MicrokernelKey {
    MicrokernelKey { product: DotType::I16, k_tail: 0, prefetch: PrefetchMode::Nothing, ..spec }
}

/// Whether the elements of panels have seven bits.
pub fn fits(simd: Simd, panels: Buf) -> bool {
    largest(simd, panels) <= MAX_7BIT_WEIGHT
}

multiversion! {
    fn largest(bytes: Buf<'_>) -> u8 {
        // Adding `MAX_7BIT_WEIGHT` maps elements from `-MAX_7BIT_WEIGHT` to `MAX_7BIT_WEIGHT` to those from 0 to twice as much.
        let largest = bytes.cells().iter().fold(0, |largest, byte| byte.get().wrapping_add(MAX_7BIT_WEIGHT).max(largest));
        largest.saturating_sub(MAX_7BIT_WEIGHT)
    }
}

/// Elements from one widened row of `steps` steps to the next.
const fn row_len(steps: usize) -> usize {
    (steps * 2 + SKEW).next_multiple_of(SKEW)
}

/// Widens the lines of contiguous panels, `line` bytes each.
///
/// # Panics
/// If `to` does not have twice the bytes of `from`.
pub fn panels(simd: Simd, from: Buf, line: usize, to: &mut [f32]) {
    assert_eq!(size_of_val(to), 2 * from.len(), "numbers for the bytes of panels");
    widen_lines(simd, from, line, bytemuck::cast_slice_mut(to));
}

multiversion! {
    fn widen_lines(from: Buf<'_>, line: usize, to: &mut [i16]) {
        for (index, to) in to.chunks_exact_mut(line).enumerate() {
            let from = from.part(index * line, line);
            let (even, odd) = to.split_at_mut(line / 2);
            let (even, odd) = (even.as_chunks_mut::<{ CHUNK / 2 }>().0, odd.as_chunks_mut::<{ CHUNK / 2 }>().0);
            for (chunk, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
                let mut words = [0_i16; CHUNK / 2];
                from.read(chunk * CHUNK / 2, &mut words);
                *even = words.map(|w| w << 8 >> 8);
                *odd = words.map(|w| w >> 8);
            }
        }
    }
}

/// All of `A` and the values of padding, widened.
#[derive(Clone, Copy, Debug)]
pub struct UpconvertedSources<'a> {
    from: [Buf<'a>; 2],
    to: Buf<'a>,
}

impl<'a> UpconvertedSources<'a> {
    /// Elements of scratch for widening `bytes` bytes.
    pub fn len(bytes: [usize; 2]) -> usize {
        bytes.map(|n| n.next_multiple_of(CHUNK) / 2).iter().sum()
    }

    /// Widens them for a product, on all threads.
    pub fn new(wide: &Upconvert, (simd, executor): (Simd, &dyn Executor), from: [Buf<'a>; 2], to: &mut Part<'a>) -> UpconvertedSources<'a> {
        let [source, padding] = from;
        let second = UpconvertedSources::len([source.len(), 0]);
        let flip = wide.flip();
        let to = to.refill(executor, TASK_ELEMENTS, &|piece, to| {
            let start = piece * TASK_ELEMENTS;
            let (first, last) = to.split_at_mut(second.saturating_sub(start).min(to.len()));
            for (from, at, to) in [(source, start, first), (padding, start.saturating_sub(second), last)] {
                let at = (at * 2).min(from.len());
                let from = from.part(at, (from.len() - at).min(to.len() * 2));
                widen_row(simd, from, flip, bytemuck::cast_slice_mut(to));
            }
        });
        UpconvertedSources { from, to }
    }

    /// The memory of the widened elements.
    pub fn memory(&self) -> Buf<'a> {
        self.to
    }

    /// The address of the widened element of `address`.
    #[inline]
    fn place(&self, address: usize) -> usize {
        let [source, padding] = self.from.map(|m| address.wrapping_sub(m.as_ptr().addr()));
        let bytes =
            if source < self.from[0].len() { source } else { padding.wrapping_add(2 * UpconvertedSources::len([self.from[0].len(), 0])) };
        self.to.as_ptr().addr().wrapping_add(bytes.wrapping_mul(2))
    }
}

/// The elements that were widened before a call.
#[derive(Clone, Copy, Debug)]
pub struct Upconverted<'w> {
    /// Panels.
    pub panels: &'w [f32],
    /// All of `A`, if [`Upconvert::is_whole`].
    pub sources: Option<UpconvertedSources<'w>>,
    /// Elements of `A`'s rows in a partial last step.
    pub k_tail: u8,
}

impl Upconvert {
    fn flip(&self) -> u8 {
        if self.flips { 0x80 } else { 0 }
    }

    /// Computes the tiles by all panels. The call is for bytes, except that its panels are offsets in the widened ones; `tile` is for
    /// words.
    ///
    /// # Panics
    /// If an address is outside its buffer, or scratch is too short.
    pub fn run(&self, (simd, share): (Simd, &mut [f32]), tile: &Microkernel, call: MicrokernelCall<'_>, before: Upconverted<'_>) {
        let count = usize::from(tile.spec().rows);
        let (words, rows) = share.split_at_mut(self.words * size_of::<usize>() / size_of::<f32>());
        let mut list = AddressList::new(bytemuck::cast_slice_mut(words), count);
        let (mut rest, mut used) = (call.strips, 0);
        let mut call = MicrokernelCall { steps: 2 * (call.steps + usize::from(before.k_tail > 0)), ..call };
        while let Some((head, more)) = rest.split_at_checked(STRIP_HEADER_WORDS + count) {
            let (taps, more) = more.split_at(head[0] * (1 + count));
            let len = row_len(head[0] * call.steps / 2);
            let mut done = 0;
            while done < head[1] {
                let most = if call.panels.outer { rows.len() } else { rows.len().min(L1_ROW_ELEMENTS.max(len * count)) };
                let room = if self.whole { head[1] - done } else { most.saturating_sub(used) / (len * count) };
                if room == 0 || !list.has_room(head[0]) {
                    assert!(!list.strips().is_empty(), "{} numbers for {count} rows of {len}", rows.len());
                    run_on(tile, &mut call, &list, (rows, &before));
                    list.restart(count);
                    used = 0;
                    continue;
                }
                let piece = Piece { head, taps, first: done * count, tiles: room.min(head[1] - done), len };
                if let Some(sources) = before.sources {
                    piece.list(&mut list, &call, head[3].wrapping_mul(2), |_, row| sources.place(row));
                } else {
                    let to = &mut rows[used..used + piece.tiles * count * len];
                    let (first, tap) = (to.as_ptr().addr(), call.steps * 4);
                    piece.list(&mut list, &call, len * 4, |at, _| first + at / count * tap + at % count * len * 4);
                    used += to.len();
                    widen_rows(simd, piece, &call, before.k_tail.into(), self.flip(), to);
                }
                done += piece.tiles;
            }
            rest = more;
        }
        run_on(tile, &mut call, &list, (rows, &before));
    }
}

/// Runs the tiles of widened rows.
fn run_on(tile: &Microkernel, call: &mut MicrokernelCall<'_>, list: &AddressList<'_>, (rows, before): (&[f32], &Upconverted<'_>)) {
    let a_from = if before.sources.is_some() { 2 * call.a_from } else { 0 };
    let a = before.sources.map_or(Buf::empty(), |s| s.memory());
    let rows = if before.sources.is_some() { None } else { Some(rows) };
    tile.run_on(
        MicrokernelCall { strips: list.strips(), a, zeros: Buf::empty(), a_from, sums: &mut *call.sums, ..*call },
        rows,
        before.panels,
    );
}

/// Some tiles of a strip.
#[derive(Clone, Copy)]
struct Piece<'s> {
    /// The head of the strip, and the words of its taps.
    head: &'s [usize],
    taps: &'s [usize],
    /// Rows of the strip before them.
    first: usize,
    tiles: usize,
    /// Elements from a widened row to the next.
    len: usize,
}

impl Piece<'_> {
    /// Rows of a tile.
    fn rows(&self) -> usize {
        self.head.len() - STRIP_HEADER_WORDS
    }

    /// Lists the tiles, whose widened rows are `a_row` bytes apart; `place` gives the offsets of the first tile's rows, tap by tap, and
    /// their address.
    fn list(&self, list: &mut AddressList<'_>, call: &MicrokernelCall<'_>, a_row: usize, place: impl Fn(usize, usize) -> usize) {
        let &[_, _, sums, _, c_row, ref to @ ..] = self.head else { return };
        let mut rows = [0; MOST_ROWS];
        rows.iter_mut().zip(to).for_each(|(row, to)| *row = to.wrapping_add(self.first * c_row));
        let sums = sums + self.first * call.sums_row * 4;
        list.strip(TileStrip { tiles: self.tiles, sums, a_row, c_row, to: (0, &rows) });
        for (i, tap) in self.taps.chunks_exact(1 + self.rows()).enumerate() {
            let mut rows = [0; MOST_ROWS];
            rows.iter_mut().zip(&tap[1..]).enumerate().for_each(|(row, (to, from))| *to = place(i * self.rows() + row, *from));
            list.tap(2 * tap[0], 0, &rows);
        }
    }
}

multiversion! {
    fn widen_rows(piece: Piece<'_>, call: &MicrokernelCall<'_>, partial: usize, flip: u8, to: &mut [f32]) {
        // A step of four bytes is two words of scratch, each of two 16-bit elements.
        let words = call.steps * 2;
        let whole = words - if partial > 0 { 4 } else { 0 };
        let (rows, a_row) = (piece.rows(), piece.head[3]);
        for (i, to) in to.chunks_exact_mut(piece.len).enumerate() {
            let to: &mut [i16] = bytemuck::cast_slice_mut(to);
            let before = (piece.first + i / rows * rows).wrapping_mul(a_row).wrapping_add(call.a_from);
            let address = |tap: usize| piece.taps[tap * (1 + rows) + 1 + i % rows];
            let (mut tap, taps) = (0, piece.head[0]);
            while tap < taps {
                // Taps that are contiguous in memory are widened as one.
                let mut end = tap + 1;
                while partial == 0 && end < taps && address(end) == address(end - 1).wrapping_add(whole) {
                    end += 1;
                }
                let bytes = (end - tap) * words - (words - whole) + partial;
                let from = bytes_at([call.a, call.zeros], address(tap).wrapping_add(before), bytes);
                widen(from, flip, &mut to[tap * words..end * words]);
                tap = end;
            }
        }
    }
}

/// `len` bytes from an address on, in one of two buffers.
#[inline(always)]
fn bytes_at(memory: [Buf; 2], address: usize, len: usize) -> Buf {
    let at = memory.map(|m| address.wrapping_sub(m.as_ptr().addr()));
    let buf = usize::from(at[0] > memory[0].len());
    memory[buf].part(at[buf], len)
}

/// Widens a row; a partial last step is zero-padded.
#[inline(always)]
fn widen(from: Buf<'_>, flip: u8, to: &mut [i16]) {
    let (chunks, to) = to.split_at_mut(from.len() / CHUNK * CHUNK);
    for (i, to) in chunks.as_chunks_mut::<CHUNK>().0.iter_mut().enumerate() {
        let mut bytes = [0; CHUNK];
        from.read(i * CHUNK, &mut bytes);
        *to = std::array::from_fn(|j| i16::from(bytes[j & !3 | STEP_ORDER[j & 3]] ^ flip));
    }
    for (i, to) in to.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let (mut step, at) = ([0; 4], chunks.len() + i * 4);
        match from.len().saturating_sub(at) {
            0 => {}
            4.. => from.read(at, &mut step),
            some => from.read(at, &mut step[..some]),
        }
        *to = STEP_ORDER.map(|j| i16::from(step[j] ^ flip));
    }
}

multiversion! {
    fn widen_row(from: Buf<'_>, flip: u8, to: &mut [i16]) {
        widen(from, flip, to);
    }
}
