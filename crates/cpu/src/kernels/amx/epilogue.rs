//! Products on AMX with the epilogue in the same kernel: a software pipeline, one block deep.
//!
//! Sums leave AMX tiles through memory, and an epilogue between products would stall the tile unit. So a kernel finishes some rows of the
//! previous block with every step of products: vectors compute and results go to the caches in the shadow of the products. Its own sums are
//! stored among the first products of the next block. A block waits from call to call, and the last one of a task for [`Pipeline::end`].
//!
//! One of the few files with unsafe code: every address is checked against its buffer before a kernel is called.

use super::block::{Call, TileRegisters, arguments, check, is_inside};
use crate::kernels::code;
use crate::kernels::microkernel::epilogue::{Pointers, SumKind};
use crate::kernels::microkernel::{self, Epilogue, MicrokernelCall as EpilogueCall, Places};
use oxidnn_jit::ir::{Accumulate, Binary, Compare, Int, Pred, TileProduct, Val};
use oxidnn_jit::kernels::dot::{Sums, TileAt};
use oxidnn_jit::kernels::tiles::{self, Interleaved, LINES, ROWS, Tiles};
use oxidnn_jit::{Entry, Function, Isa, Key};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::mem::offset_of;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Rows that are finished together.
const ROWS_AT_ONCE: usize = 4;
/// Most tiles of a call with an address for every row.
pub(super) const LISTED: usize = 8;
/// Bytes of the sums of a block; and of the row addresses of a call.
const SUMS: usize = ROWS * 2 * LINES * 4;
const LIST: usize = LISTED * ROWS * size_of::<usize>();
/// Bytes of the sums of a waiting block and of the one that is being multiplied.
pub(super) const SUMS_BYTES: usize = 2 * SUMS;
/// Offset of the lists, and of the state, behind the sums of two blocks.
const LISTS: usize = SUMS_BYTES;
const STATE: usize = LISTS + 2 * LIST;
/// Offset of a vector behind the state that shows whether a sum was not finite.
const WATCH: usize = (STATE + size_of::<State>()).next_multiple_of(64);

/// The operands of kernels.
#[repr(C)]
pub(super) struct Args {
    /// The epilogue's arguments; only its operands are used.
    epilogue: microkernel::Args,
    tiles: tiles::Args,
    /// The addresses of the first tile's rows of the destination, their number, and the bytes from a tile's to the next: in the list if
    /// that has all, else in the destination.
    rows: *const u8,
    count: usize,
    rows_tile: usize,
    c_tile: usize,
    /// Bytes from these addresses to the first tile's results.
    c_from: usize,
    /// Columns from the first one of the epilogue's operands to the first panel's first.
    column: usize,
    /// Rows of the upper tile.
    upper: usize,
    /// How many times [`ROWS_AT_ONCE`] rows are finished with every step of products, so that all are finished with the last step.
    each: usize,
    state: *mut u8,
}

/// The state that kernels keep: from call to call the waiting block, its number of rows (at first none), and the place of the next block's
/// sums; from tile to tile the place of its row addresses.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct State {
    sums: usize,
    rows: usize,
    /// Bytes from its row addresses to its results.
    shift: usize,
    count: usize,
    column: usize,
    next: usize,
    now: usize,
}

impl State {
    const WORDS: usize = size_of::<State>() / size_of::<usize>();

    fn words(&self) -> [usize; State::WORDS] {
        [self.sums, self.rows, self.shift, self.count, self.column, self.next, self.now]
    }
}

/// Products and their epilogue: the key of kernels.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct FusedKey {
    pub(super) tiles: Tiles,
    pub(super) epilogue: Arc<Epilogue>,
    /// Whether the last vector of a panel has fewer columns.
    pub(super) masked: bool,
    /// Whether lines of the destination are prefetched with the products whose sums are written there.
    pub(super) asks: bool,
    /// Whether non-finite sums are noted, see [`Pipeline::end`].
    pub(super) watches: bool,
}

/// The key of the epilogue of a waiting block, as that of a block of one panel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Flush(FusedKey, tiles::Block);

/// Loads a field of the arguments or the state.
fn field(f: &mut Function, block: Int, field: usize) -> Int {
    f.load_int(block.at(field as i32))
}

/// The kernels' state: its address is loaded where it is used, since products and epilogue leave no register for it.
fn state(f: &mut Function, args: Int) -> Int {
    field(f, args, offset_of!(Args, state))
}

/// The sum of some vectors, with a short dependency chain.
fn added(f: &mut Function, values: &[Val]) -> Val {
    match values.split_at(values.len() / 2) {
        ([], rest) => rest[0],
        (first, second) => {
            let (first, second) = (added(f, first), added(f, second));
            f.binary(Binary::AddF32, first, second)
        }
    }
}

/// A waiting block, some of whose rows are finished.
struct Waiting<'k> {
    key: &'k FusedKey,
    args: Int,
    block: tiles::Block,
    /// Where the epilogue reads and writes, by rows and columns.
    at: TileAt,
    pointers: Pointers,
    /// The sums and the addresses of the remaining rows.
    sums: Int,
    rows: Int,
    /// How many times [`ROWS_AT_ONCE`] rows remain, and how many rows after these.
    left: Int,
    rest: Int,
    last: Option<Pred>,
}

impl<'k> Waiting<'k> {
    fn new(key: &'k FusedKey, f: &mut Function, args: Int, block: tiles::Block) -> Waiting<'k> {
        let state = state(f, args);
        let [sums, rows, shift, column, left] = [
            offset_of!(State, sums),
            offset_of!(State, rows),
            offset_of!(State, shift),
            offset_of!(State, column),
            offset_of!(State, count),
        ]
        .map(|at| field(f, state, at));
        let rest = f.copy(left);
        f.shr(left, ROWS_AT_ONCE.trailing_zeros() as u8);
        f.and(rest, ROWS_AT_ONCE as i32 - 1);
        let ends = block.first + block.vectors == usize::from(key.tiles.vectors);
        let last = (key.masked && ends).then(|| {
            let last = field(f, args, offset_of!(Args, epilogue) + microkernel::Args::LAST);
            f.first_lanes(last)
        });
        let at = TileAt::of_rows(args, column, (rows, shift));
        let pointers = key.epilogue.pointers(f, at);
        Waiting { key, args, block, at, pointers, sums, rows, left, rest, last }
    }

    /// Finishes the next rows.
    fn finish(&self, f: &mut Function, rows: usize) {
        let (width, vectors) = (f.isa().width(), self.block.vectors);
        let kind = if self.key.tiles.product == TileProduct::Bf16 { SumKind::Normal } else { SumKind::Whole };
        let values: Vec<_> = (0..rows * vectors).map(|i| f.load(width, self.sums.at((i * width.bytes()) as i32))).collect();
        if self.key.watches {
            let (at, zero, sum) = (state(f, self.args).at((WATCH - STATE) as i32), f.zero(width), added(f, &values));
            let watch = f.load(width, at);
            f.accumulate(Accumulate::FmaF32, watch, sum, zero);
            f.store(at, watch);
        }
        let sums = Sums { at: self.at, values: &values, vectors, last: self.last };
        self.key.epilogue.write_at(f, &sums, kind, self.pointers);
        f.add(self.rows, (rows * size_of::<usize>()) as i32);
        f.add(self.sums, (rows * vectors * width.bytes()) as i32);
    }

    /// Finishes the rows after the last multiple of [`ROWS_AT_ONCE`].
    fn finish_rest(&self, f: &mut Function) {
        f.repeat(self.rest, |f| self.finish(f, 1));
    }
}

/// The work of a kernel besides products.
struct Pipe<'k> {
    key: &'k FusedKey,
    args: Int,
    /// Columns before the block, and bytes from the rows of the first tile to those of the tile.
    column: Int,
    shift: Int,
    /// The block before the one that is being multiplied, and its remaining rows.
    before: Option<tiles::Block>,
    waiting: Option<Waiting<'k>>,
    /// The row addresses of the block that is being multiplied, from the next ones on whose results are prefetched. A row of the waiting
    /// block makes room for one: all at once would fill the buffers of L1.
    asked: Option<Int>,
}

impl Interleaved for Pipe<'_> {
    const DEFERS: bool = true;

    fn begin(&mut self, f: &mut Function, block: tiles::Block) {
        self.waiting = self.before.replace(block).map(|before| Waiting::new(self.key, f, self.args, before));
        self.asked = self.key.asks.then(|| {
            let state = state(f, self.args);
            field(f, state, offset_of!(State, now))
        });
    }

    fn store(&mut self, f: &mut Function, sum: (usize, usize)) {
        let Some(waiting) = self.waiting.as_ref().filter(|waiting| sum.1 < waiting.block.vectors) else { return };
        let (rows, row) = self.places(f, waiting.block, waiting.sums);
        waiting.block.store_sum(f, sum, rows[sum.0], row);
    }

    fn step(&mut self, f: &mut Function) {
        let Some(waiting) = &self.waiting else { return };
        let times = field(f, self.args, offset_of!(Args, each));
        f.repeat_some(times, |f| {
            f.when(Compare::Gt, waiting.left, 0, |f| {
                waiting.finish(f, ROWS_AT_ONCE);
                f.sub(waiting.left, 1);
                if let Some((rows, block)) = self.asked.zip(self.before) {
                    let at = TileAt::of_rows(self.args, self.column, (rows, self.shift));
                    self.key.epilogue.ask(f, at, (ROWS_AT_ONCE, block.vectors));
                    f.add(rows, (ROWS_AT_ONCE * size_of::<usize>()) as i32);
                }
            });
        });
    }

    /// From now on the block waits.
    fn leave(&mut self, f: &mut Function, block: tiles::Block) {
        if let Some(waiting) = self.waiting.take() {
            waiting.finish_rest(f);
        }
        let (args, state) = (self.args, state(f, self.args));
        let to = |at: usize| state.at(at as i32);
        let next = field(f, state, offset_of!(State, next));
        let before = field(f, state, offset_of!(State, sums));
        f.store_int(to(offset_of!(State, next)), before);
        f.store_int(to(offset_of!(State, sums)), next);
        let (rows, count) = (field(f, state, offset_of!(State, now)), field(f, args, offset_of!(Args, count)));
        f.store_int(to(offset_of!(State, rows)), rows);
        f.store_int(to(offset_of!(State, count)), count);
        f.store_int(to(offset_of!(State, shift)), self.shift);
        f.store_int(to(offset_of!(State, column)), self.column);
        f.add(self.column, (block.vectors * LINES) as i32);
    }

    fn next(&mut self, f: &mut Function) {
        let state = state(f, self.args);
        let (now, rows_tile) = (field(f, state, offset_of!(State, now)), field(f, self.args, offset_of!(Args, rows_tile)));
        f.add(now, rows_tile);
        f.store_int(state.at(offset_of!(State, now) as i32), now);
        let (column, c_tile) = (field(f, self.args, offset_of!(Args, column)), field(f, self.args, offset_of!(Args, c_tile)));
        f.set(self.column, column);
        f.add(self.shift, c_tile);
    }

    fn end(&mut self, f: &mut Function) {
        let Some(block) = self.before else { return };
        let state = state(f, self.args);
        let sums = field(f, state, offset_of!(State, sums));
        let (rows, row) = self.places(f, block, sums);
        block.store(f, &rows, row);
    }
}

impl Pipe<'_> {
    /// Where the sums of both tiles of rows of a block are stored, from `sums` on, and the distance of rows.
    fn places(&self, f: &mut Function, block: tiles::Block, sums: Int) -> ([Int; 2], Int) {
        let (lower, row) = (field(f, self.args, offset_of!(Args, upper)), f.int((block.vectors * LINES * 4) as i64));
        f.mul(lower, row);
        f.add(lower, sums);
        ([sums, lower], row)
    }
}

impl Key for FusedKey {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        format!("{}.finished", self.tiles.name(isa))
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let [column, shift, rows] =
            [offset_of!(Args, column), offset_of!(Args, c_from), offset_of!(Args, rows)].map(|at| field(f, args, at));
        let state = state(f, args);
        f.store_int(state.at(offset_of!(State, now) as i32), rows);
        let before = self.tiles.blocks().next_back();
        let products = (args, offset_of!(Args, tiles));
        self.tiles.write_interleaved(f, products, &mut Pipe { key: self, args, column, shift, before, waiting: None, asked: None });
    }
}

impl Key for Flush {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        format!("{}.flush.{}", self.0.tiles.name(isa), self.1.first * LINES)
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let waiting = Waiting::new(&self.0, f, args, self.1);
        f.repeat(waiting.left, |f| waiting.finish(f, ROWS_AT_ONCE));
        waiting.finish_rest(f);
        let none = f.int(0);
        let state = state(f, args);
        f.store_int(state.at(offset_of!(State, count) as i32), none);
    }
}

/// The kernels, ready to run.
#[derive(Debug)]
pub(super) struct FusedKernel {
    entry: Entry<Args>,
    /// By block of a panel.
    flushes: Vec<(tiles::Block, Entry<Args>)>,
    key: FusedKey,
}

impl FusedKernel {
    pub(super) fn get(isa: Isa, key: &FusedKey) -> Result<FusedKernel, Error> {
        check(&key.tiles)?;
        let flush = |block| Ok((block, code::get(isa, &Flush(key.clone(), block))?));
        let flushes = key.tiles.blocks().map(flush).collect::<Result<_, Error>>()?;
        Ok(FusedKernel { entry: code::get(isa, key)?, flushes, key: key.clone() })
    }
}

/// Where the results of tiles go.
#[derive(Clone, Copy)]
pub(super) struct Results<'r> {
    /// Rows of a tile; addresses of the first tile's rows, or of those of all tiles; bytes from a tile's rows to the next.
    pub(super) each: usize,
    /// See [`Results::each`].
    pub(super) rows: &'r [usize],
    pub(super) tile: usize,
    /// Bytes from one repetition's rows to the next, see [`Call::lines`].
    pub(super) line: usize,
    /// Columns from the pipeline's first to the first panel.
    pub(super) column: usize,
}

/// Tiles of rows by the same columns, one after the other.
pub(super) struct Pipeline<'p> {
    left: Buf<'p>,
    args: Args,
    places: Places,
    /// Where unwanted results go, if there is room for a row.
    nowhere: Option<usize>,
    /// The finisher of the waiting block, if one waits.
    waits: Option<&'p FusedKernel>,
    /// Which of the lists is free.
    list: usize,
}

impl<'p> Pipeline<'p> {
    /// Elements of scratch.
    pub(super) const LEN: usize = WATCH / 4 + LINES;

    /// A pipeline without a waiting block. `to` has the destination of results of `columns` columns, and the operands of the epilogue.
    ///
    /// # Panics
    /// If operands are too short, or there is no room.
    pub(super) fn new(left: Buf<'p>, epilogue: &Epilogue, columns: usize, to: &EpilogueCall<'p>) -> Pipeline<'p> {
        assert!(left.len() >= Self::LEN * 4, "{} bytes for sums", left.len());
        let operands = to.epilogue.and_then(|args| args.finish(epilogue, to, (columns, columns.next_multiple_of(LINES))));
        let Some((block, places)) = operands else { panic!("operands of an epilogue that are too short") };
        let args = Args {
            epilogue: microkernel::Args::of_epilogue(to.last, block),
            tiles: tiles::Args::NONE,
            rows: left.as_ptr(),
            count: 0,
            rows_tile: 0,
            c_tile: 0,
            c_from: 0,
            column: 0,
            upper: 0,
            each: 1,
            state: left.as_ptr().wrapping_add(STATE),
        };
        let row = (to.column + columns) * epilogue.dst_size();
        let nowhere = (left.len() >= Self::LEN * 4 + row).then(|| left.as_ptr().addr() + Self::LEN * 4);
        let pipeline = Pipeline { left, args, places, nowhere, waits: None, list: 0 };
        pipeline.set(&State::default());
        pipeline.left.part(WATCH, LINES * 4).fill(0);
        pipeline
    }

    /// Finishes the waiting block; returns whether kernels that watch have found a non-finite sum.
    pub(super) fn end(mut self) -> bool {
        self.flush();
        (0..LINES).any(|i| self.left.get::<f32>(WATCH / 4 + i) != 0.0)
    }

    /// Initialises the kernels' state, with the memory of two blocks' sums, the waiting block's first.
    fn set(&self, state: &State) {
        let first = self.left.as_ptr().addr();
        let state = State { sums: first, next: first + SUMS, ..*state };
        self.left.part(STATE, size_of::<State>()).write(0, &state.words());
    }

    /// Writes the row addresses of a destination, which must be inside it, with those of all tiles that follow and of all repetitions.
    fn list(&mut self, to: &Results<'_>, (tiles, lines): (usize, usize)) {
        let more = |count: usize, bytes: usize| count.checked_sub(1).and_then(|more| more.checked_mul(bytes));
        let more = more(tiles, to.tile).zip(more(lines, to.line)).and_then(|(tiles, lines)| tiles.checked_add(lines));
        let listed = if to.rows.len() == to.each { 1 } else { tiles };
        let fits = to.each <= ROWS && to.rows.len() == listed * to.each && listed <= LISTED;
        let Some(moved) = more.filter(|_| fits) else { panic!("{} rows of {tiles} tiles", to.rows.len()) };
        let places = self.places.and_then(moved);
        let nowhere = if moved == 0 { self.nowhere } else { None };
        let holds = |row: usize| places.holds(row) || Some(row) == nowhere;
        assert!(to.rows.iter().fold(true, |all, row| all & holds(*row)), "results outside the destination");
        let list = LISTS + self.list * LIST;
        self.left.part(list, LIST).write(0, to.rows);
        self.list ^= 1;
        (self.args.rows, self.args.count, self.args.c_tile) = (self.left.as_ptr().wrapping_add(list), to.each, to.tile);
        self.args.rows_tile = if listed > 1 { size_of_val(to.rows) / listed } else { 0 };
    }

    /// Multiplies and finishes.
    ///
    /// # Panics
    /// If an operand or a result is outside its memory, there are no taps, or the configured shape is not one of the kernel.
    pub(super) fn run(&mut self, kernel: &'p FusedKernel, held: &TileRegisters<'_>, call: &mut Call<'_>, to: &Results<'_>) {
        if self.waits.is_some_and(|before| !std::ptr::eq(before, kernel)) {
            self.flush();
        }
        let key = &kernel.key;
        let shape = held.shape_for(&key.tiles);
        let steps = call.taps.len() / tiles::TAP_WORDS * call.blocks;
        let fits = steps > 0 && to.each == shape.rows[0] + shape.rows[1];
        assert!(fits && is_inside(&key.tiles, shape, call), "tiles outside their buffers: {key:?}");
        self.list(to, (call.tiles, call.lines));
        self.args.tiles = arguments(&key.tiles, shape, call);
        (self.args.column, self.args.upper) = (to.column, shape.rows[0]);
        self.args.each = (ROWS / ROWS_AT_ONCE).div_ceil(steps);
        self.waits = Some(kernel);
        for line in 0..call.lines {
            self.args.c_from = line * to.line;
            // SAFETY: operands and rows of results were checked, those of the waiting block when it was multiplied; sums, lists and state
            // are in `left`.
            unsafe { kernel.entry.call(&self.args) }
            self.args.tiles.a_from += call.a_line;
            self.args.tiles.prefetch = self.args.tiles.prefetch.wrapping_add(call.prefetch_line);
        }
    }

    /// Finishes the waiting block.
    fn flush(&mut self) {
        if let Some((_, flush)) = self.waits.take().and_then(|kernel| kernel.flushes.last()) {
            // SAFETY: its rows were checked when it was multiplied.
            unsafe { flush.call(&self.args) }
        }
    }

    /// Finishes the sums of a tile by some panels: sums in memory, whose rows are `step` elements apart, or zeros.
    ///
    /// # Panics
    /// If sums or results are outside their memory.
    pub(super) fn finish(&mut self, kernel: &'p FusedKernel, panels: usize, sums: Option<(&[f32], usize)>, to: &Results<'_>) {
        self.flush();
        self.list(to, (1, 1));
        if sums.is_none() {
            self.left.part(0, SUMS).fill(0);
        }
        let line = usize::from(kernel.key.tiles.line) * LINES;
        for (panel, (block, flush)) in (0..panels).flat_map(|panel| kernel.flushes.iter().map(move |flush| (panel, flush))) {
            let (first, width) = (panel * line + block.first * LINES, block.vectors * LINES);
            for (i, row) in sums.iter().flat_map(|(sums, row)| sums.chunks(*row)).take(to.rows.len()).enumerate() {
                self.left.part(i * width * 4, width * 4).write(0, &row[first..first + width]);
            }
            let (rows, count, column) = (self.args.rows.addr(), to.rows.len(), to.column + first);
            self.set(&State { rows, count, column, ..State::default() });
            // SAFETY: rows of results were checked; sums and state are in `left`.
            unsafe { flush.call(&self.args) }
        }
    }
}
