//! Products on tiles of AMX whose sums are finished by the same kernel: a software pipeline, one block deep.
//!
//! Sums leave tiles through memory, and what finishes them there would keep the unit that multiplies tiles waiting. So a kernel issues the products of a
//! block first, then finishes the block before, whose sums have arrived in L1 meanwhile, and stores its own last; the unit multiplies under the vectors. A
//! block waits from call to call, and the last one of a task for [`Pipeline::flush`].
//!
//! One of the few files with unsafe code: every address is checked against its buffer before a kernel is called.

use super::block::{Call, Held, arguments, is_inside};
use crate::kernels::code;
use crate::kernels::tile::tail::Kind;
use crate::kernels::tile::{self, Call as TailCall, Places, Tail};
use oxidnn_jit::ir::{Int, TileProduct};
use oxidnn_jit::kernels::dot::{Spot, Sums};
use oxidnn_jit::kernels::tiles::{self, LINES, ROWS, Tiles};
use oxidnn_jit::{Entry, Function, Isa, Key};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::mem::offset_of;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Rows that are finished together.
const EACH: usize = 4;
/// Bytes of the sums of a block, and of the addresses of its rows.
const SUMS: usize = ROWS * 2 * LINES * 4;
const LIST: usize = ROWS * size_of::<usize>();
/// Where the lists and the state lie behind the sums of two blocks.
const LISTS: usize = 2 * SUMS;
const STATE: usize = LISTS + 2 * LIST;

/// What kernels read.
#[repr(C)]
pub(super) struct Args {
    /// What finishes sums; only what the tail reads is looked at.
    tail: tile::Args,
    tiles: tiles::Args,
    /// The addresses of the rows of the destination, and their number.
    rows: *const u8,
    count: usize,
    /// Columns from those of the tail's first to the first panel's first.
    column: usize,
    /// Rows of the upper tile.
    upper: usize,
    state: *mut u8,
}

/// What kernels keep from call to call: the block that waits, with as many rows as said, none at first, and where the next one's sums go.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct State {
    sums: usize,
    rows: usize,
    count: usize,
    column: usize,
    next: usize,
}

/// Products and what finishes them. This is the key of kernels.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Finish {
    pub(super) tiles: Tiles,
    pub(super) tail: Arc<Tail>,
    /// Whether the last vector of a panel has fewer columns.
    pub(super) masked: bool,
}

/// What finishes the last block of such kernels. This is its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Flush(Finish);

/// Loads a field of the arguments.
fn argument(f: &mut Function, args: Int, field: usize) -> Int {
    f.load_int(args.at(field as i32))
}

impl Finish {
    /// Finishes the block that waits, which is like `block`.
    fn finish(&self, f: &mut Function, (args, state): (Int, Int), block: tiles::Block) {
        let kind = if self.tiles.product == TileProduct::Bf16 { Kind::Normal } else { Kind::Whole };
        let width = f.isa().width();
        let load = |f: &mut Function, field: usize| f.load_int(state.at(field as i32));
        let (sums, rows) = (load(f, offset_of!(State, sums)), load(f, offset_of!(State, rows)));
        let (column, count) = (load(f, offset_of!(State, column)), load(f, offset_of!(State, count)));
        let ends = block.first + block.vectors == usize::from(self.tiles.vectors);
        let last = (self.masked && ends).then(|| {
            let last = argument(f, args, offset_of!(Args, tail) + tile::Args::LAST);
            f.first_lanes(last)
        });
        let whole = f.copy(count);
        f.shr(whole, EACH.trailing_zeros() as u8);
        f.and(count, EACH as i32 - 1);
        for (each, times) in [(EACH, whole), (1, count)] {
            f.repeat(times, |f| {
                let values: Vec<_> = (0..each * block.vectors).map(|i| f.load(width, sums.at((i * width.bytes()) as i32))).collect();
                let at = Spot::listed(f, args, column, rows);
                self.tail.write(f, &Sums { at, values: &values, vectors: block.vectors, last }, kind);
                f.add(rows, (each * size_of::<usize>()) as i32);
                f.add(sums, (values.len() * width.bytes()) as i32);
            });
        }
    }

    /// Stores the sums of a block, which waits from now on.
    fn store(f: &mut Function, (args, state): (Int, Int), block: tiles::Block, column: Int) {
        let field = |field: usize| state.at(field as i32);
        let (next, row) = (f.load_int(field(offset_of!(State, next))), f.int((block.vectors * LINES * 4) as i64));
        let lower = argument(f, args, offset_of!(Args, upper));
        f.mul(lower, row);
        f.add(lower, next);
        block.store(f, &[next, lower], row);
        let before = f.load_int(field(offset_of!(State, sums)));
        f.store_int(field(offset_of!(State, next)), before);
        f.store_int(field(offset_of!(State, sums)), next);
        for (from, to) in [(offset_of!(Args, rows), offset_of!(State, rows)), (offset_of!(Args, count), offset_of!(State, count))] {
            let word = argument(f, args, from);
            f.store_int(field(to), word);
        }
        f.store_int(field(offset_of!(State, column)), column);
        f.add(column, (block.vectors * LINES) as i32);
    }

    /// The last block of a panel.
    fn last(&self) -> Option<tiles::Block> {
        self.tiles.blocks().next_back()
    }
}

impl Key for Finish {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        format!("{}.finished", self.tiles.name(isa))
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let (column, state) = (argument(f, args, offset_of!(Args, column)), argument(f, args, offset_of!(Args, state)));
        let products = f.address(args.at(offset_of!(Args, tiles) as i32));
        let mut before = self.last();
        self.tiles.write_around(f, products, |f, block| {
            if let Some(before) = before.replace(block) {
                self.finish(f, (args, state), before);
            }
            Finish::store(f, (args, state), block, column);
        });
    }
}

impl Key for Flush {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        format!("{}.flush", self.0.tiles.name(isa))
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let state = argument(f, args, offset_of!(Args, state));
        if let Some(last) = self.0.last() {
            self.0.finish(f, (args, state), last);
        }
        let none = f.int(0);
        f.store_int(state.at(offset_of!(State, count) as i32), none);
    }
}

/// The kernels, ready to run.
#[derive(Debug)]
pub(super) struct Finisher {
    entry: Entry<Args>,
    flush: Entry<Args>,
    key: Finish,
}

impl Finisher {
    pub(super) fn get(isa: Isa, key: &Finish) -> Result<Finisher, Error> {
        Ok(Finisher { entry: code::get(isa, key)?, flush: code::get(isa, &Flush(key.clone()))?, key: key.clone() })
    }
}

/// Tiles of rows by the same columns, one after the other.
pub(super) struct Pipeline<'p> {
    left: Buf<'p>,
    args: Args,
    places: Places,
    /// What has left a block that waits.
    waits: Option<&'p Finisher>,
    /// Which of the lists is free.
    list: usize,
}

impl<'p> Pipeline<'p> {
    /// Numbers of scratch.
    pub(super) const LEN: usize = (STATE + size_of::<State>()).next_multiple_of(64) / 4;

    /// Nothing waits. `to` says where results by so many columns go, and has the operands of the tail.
    ///
    /// # Panics
    /// When operands do not reach as far, or there is no room.
    pub(super) fn new(left: Buf<'p>, tail: &Tail, columns: usize, to: &TailCall<'p>) -> Pipeline<'p> {
        assert!(left.len() >= Self::LEN * 4, "{} bytes for sums", left.len());
        let operands = to.tail.and_then(|args| args.finish(tail, to, (columns, columns.next_multiple_of(LINES))));
        let Some((block, places)) = operands else { panic!("operands of a tail that are too short") };
        let first = left.as_ptr().addr();
        let state = State { sums: first, next: first + SUMS, ..State::default() };
        let words = [state.sums, state.rows, state.count, state.column, state.next];
        left.part(STATE, size_of::<State>()).write(0, &words.map(|word| word as u64));
        let args = Args {
            tail: tile::Args::of_tail(to.last, block),
            tiles: tiles::Args::NONE,
            rows: left.as_ptr(),
            count: 0,
            column: 0,
            upper: 0,
            state: left.as_ptr().wrapping_add(STATE),
        };
        Pipeline { left, args, places, waits: None, list: 0 }
    }

    /// Multiplies; results go to rows that begin at the addresses `to`, from `column` of the pipeline's columns on.
    ///
    /// # Panics
    /// When an operand or a result is not in its memory, or the registers are not those of the kernel.
    pub(super) fn run(&mut self, kernel: &'p Finisher, held: &Held<'_>, call: &mut Call<'_>, (to, column): (&[usize], usize)) {
        if self.waits.is_some_and(|before| !std::ptr::eq(before, kernel)) {
            self.flush();
        }
        let key = &kernel.key;
        let shape = held.shape_for(&key.tiles);
        let inside = is_inside(&key.tiles, shape, call) && to.len() == shape.rows[0] + shape.rows[1];
        assert!(inside && to.iter().fold(true, |all, row| all & self.places.holds(*row)), "tiles outside their buffers: {key:?}");
        let list = LISTS + self.list * LIST;
        self.left.part(list, LIST).write(0, to);
        self.list ^= 1;
        self.args.tiles = arguments(&key.tiles, held, shape, call);
        (self.args.rows, self.args.count) = (self.left.as_ptr().wrapping_add(list), to.len());
        (self.args.column, self.args.upper) = (column, shape.rows[0]);
        self.waits = Some(kernel);
        // SAFETY: operands and rows of results were checked, those of the block that waits when it was multiplied; sums, lists and state are in `left`.
        unsafe { kernel.entry.call(&self.args) }
    }

    /// Finishes the block that waits.
    pub(super) fn flush(&mut self) {
        if let Some(kernel) = self.waits.take() {
            // SAFETY: its rows were checked when it was multiplied.
            unsafe { kernel.flush.call(&self.args) }
        }
    }
}
