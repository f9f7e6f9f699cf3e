//! Calls of the kernels for AMX tiles. One of the few files with unsafe code: every address is checked against its buffer before a kernel
//! is called.

use crate::kernels::code;
use crate::kernels::microkernel::Prefetch;
use oxidnn_jit::ir::TileProduct;
use oxidnn_jit::kernels::dot::InitialSums;
use oxidnn_jit::kernels::gather::{self, Gather};
use oxidnn_jit::kernels::tiles::{self, LINES, Setup, Shape, TAP_WORDS, Tiles};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

#[cfg(test)]
mod tests;

/// The kernels that configure and release the AMX tiles.
#[derive(Debug)]
pub(super) struct TileConfig {
    shape: Entry<[u8; 64]>,
    awake: Entry<[u8; 64]>,
    release: Entry<[u8; 64]>,
}

/// The AMX tiles while a thread uses them; released on drop.
pub struct TileRegisters<'r> {
    registers: &'r TileConfig,
    shape: Option<Shape>,
    bytes: [u8; 64],
}

impl TileConfig {
    pub(super) fn get(isa: Isa, product: TileProduct) -> Result<TileConfig, Error> {
        let get = |setup: Setup| code::get(isa, &setup);
        Ok(TileConfig { shape: get(Setup::Shape)?, awake: get(Setup::Awake(product))?, release: get(Setup::Release)? })
    }

    /// The AMX tiles, for this thread.
    pub(super) fn hold(&self) -> TileRegisters<'_> {
        TileRegisters { registers: self, shape: None, bytes: [0; 64] }
    }
}

impl TileRegisters<'_> {
    /// Configures the tiles for a shape, unless they are.
    ///
    /// # Panics
    /// If no tiles have such a shape.
    pub(super) fn set(&mut self, shape: Shape) {
        if self.shape == Some(shape) {
            return;
        }
        let [upper, lower] = shape.rows;
        assert!((1..=LINES).contains(&upper) && lower <= LINES && (1..=LINES).contains(&shape.steps), "no tiles have {shape:?}");
        (self.shape, self.bytes) = (Some(shape), shape.bytes());
        // SAFETY: the kernel reads these bytes, which are a valid configuration.
        unsafe { self.registers.shape.call(&self.bytes) }
    }

    /// The configured shape.
    ///
    /// # Panics
    /// If it is not one for this kernel.
    pub(super) fn shape_for(&self, kernel: &Tiles) -> Shape {
        let shape = self.shape.filter(|s| (s.rows[1] > 0) == (kernel.tall == 2));
        shape.unwrap_or_else(|| panic!("registers of other shapes"))
    }

    /// Keeps the tile unit from powering down; the contents of the tiles are lost.
    #[inline]
    pub(super) fn stay_awake(&self) {
        if self.shape.is_some() {
            // SAFETY: the kernel reads nothing, and the configured shapes fit each other.
            unsafe { self.registers.awake.call(&self.bytes) }
        }
    }
}

impl Drop for TileRegisters<'_> {
    fn drop(&mut self) {
        // SAFETY: the kernel reads nothing; nobody uses the tiles afterwards.
        unsafe { self.registers.release.call(&self.bytes) }
    }
}

/// A kernel of products, ready to run.
#[derive(Debug)]
pub(super) struct Block {
    entry: Entry<tiles::Args>,
    kernel: Tiles,
}

/// Two tiles of rows by panels, in the configured shapes.
pub(super) struct Call<'a> {
    /// The taps.
    pub(super) taps: &'a [usize],
    /// K blocks of the shape's steps, and bytes of a row of `A` before them.
    pub(super) blocks: usize,
    pub(super) from: usize,
    /// The memory of `A`: the source, and gathered rows.
    pub(super) source: Buf<'a>,
    pub(super) gathered: &'a [f32],
    /// The memory of `B`, the offset of the first panel's first line, the stride of panels, and their number.
    pub(super) b: Buf<'a>,
    pub(super) b_at: usize,
    pub(super) b_panel: usize,
    pub(super) panels: usize,
    /// Number of tiles, bytes of `A` and of `B` from one to the next, and elements from the sums of one to those of the next.
    pub(super) tiles: usize,
    pub(super) a_tile: usize,
    pub(super) b_tile: usize,
    pub(super) sums_tile: usize,
    /// How many times all of that is repeated, and bytes of `A` from one time to the next.
    pub(super) lines: usize,
    pub(super) a_line: usize,
    /// The sums, from the first on, and elements from row to row.
    pub(super) sums: &'a mut [f32],
    pub(super) sums_row: usize,
    /// The prefetch, and its distance from one repetition to the next.
    pub(super) prefetch: Prefetch,
    pub(super) prefetch_line: usize,
}

/// Whether `len` bytes from `address` on are among the `all` bytes from `first` on.
fn within(first: usize, all: usize, address: usize, len: usize) -> bool {
    address.checked_sub(first).and_then(|at| at.checked_add(len)).is_some_and(|end| end <= all)
}

/// Refuses kernels that do not exist.
pub(super) fn check(kernel: &Tiles) -> Result<(), Error> {
    let sizes = [kernel.tall, kernel.vectors, kernel.line];
    let fits = (1..=2).contains(&kernel.tall) && (1..=4).contains(&kernel.vectors) && kernel.line >= kernel.vectors;
    if fits { Ok(()) } else { Err(Error::Runtime(format!("no tiles of rows, vectors, vectors in a line: {sizes:?}"))) }
}

impl Block {
    pub(super) fn get(isa: Isa, kernel: Tiles) -> Result<Block, Error> {
        check(&kernel)?;
        Ok(Block { entry: code::get(isa, &kernel)?, kernel })
    }

    /// Computes the sums.
    ///
    /// # Panics
    /// If an operand is outside its memory, or the configured shape is not one of the kernel.
    pub(super) fn run(&self, held: &TileRegisters<'_>, mut call: Call<'_>) {
        let shape = held.shape_for(&self.kernel);
        let inside = is_inside(&self.kernel, shape, &call) && are_sums_inside(&self.kernel, shape, &call).unwrap_or(false);
        assert!(inside, "tiles outside their buffers: {:?}", self.kernel);
        // SAFETY: all that the kernel reads and writes was checked against the buffers, whose makers promised that they are valid and that
        // parallel parts write disjoint elements.
        unsafe { self.entry.call(&arguments(&self.kernel, shape, &mut call)) }
    }
}

/// The arguments of a kernel.
pub(super) fn arguments(kernel: &Tiles, shape: Shape, call: &mut Call<'_>) -> tiles::Args {
    tiles::Args {
        taps: call.taps.as_ptr(),
        count: call.taps.len() / TAP_WORDS,
        blocks: call.blocks,
        a_from: call.from,
        a_block: shape.steps * 4,
        b_block: shape.steps * line(kernel),
        b: call.b.as_ptr().wrapping_add(call.b_at),
        panels: call.panels,
        b_panel: call.b_panel,
        tiles: call.tiles,
        a_tile: call.a_tile,
        b_tile: call.b_tile.wrapping_sub(call.panels * call.b_panel),
        sums_tile: call.sums_tile * 4,
        sums: call.sums.as_mut_ptr().cast(),
        sums_row: call.sums_row * 4,
        sums_lower: shape.rows[0] * call.sums_row * 4,
        // Without prefetch, an address that is near anyway: a failing address translation would take long.
        prefetch: if call.prefetch.step == 0 { call.taps.as_ptr().addr() } else { call.prefetch.at },
        prefetch_step: call.prefetch.step,
    }
}

/// Bytes of a line of a panel.
fn line(kernel: &Tiles) -> usize {
    usize::from(kernel.line) * 64
}

/// Whether all that a kernel reads, and its initial sums if it has any, is inside the buffers.
pub(super) fn is_inside(kernel: &Tiles, shape: Shape, call: &Call<'_>) -> bool {
    let sums = kernel.start == InitialSums::Zero || are_sums_inside(kernel, shape, call).unwrap_or(false);
    sums && are_operands_inside(kernel, shape, call).unwrap_or(false)
}

/// Whether the operands are inside the buffers; `None` if an offset overflows.
fn are_operands_inside(kernel: &Tiles, shape: Shape, call: &Call<'_>) -> Option<bool> {
    let steps = call.blocks.checked_mul(shape.steps)?;
    let bytes = steps.checked_mul(4)?;
    let panel = match steps {
        0 => 0,
        steps => (steps - 1).checked_mul(line(kernel))?.checked_add(usize::from(kernel.vectors) * 64)?,
    };
    let before = call.panels.checked_sub(1)?.checked_mul(call.b_panel)?.checked_add(call.b_at)?;
    let before = call.tiles.checked_sub(1)?.checked_mul(call.b_tile)?.checked_add(before)?;
    let gathered = (call.gathered.as_ptr().addr(), size_of_val(call.gathered));
    // From a row of the first tile to the same row of the last one.
    let bytes = call.tiles.checked_sub(1)?.checked_mul(call.a_tile)?.checked_add(bytes)?;
    let bytes = call.lines.checked_sub(1)?.checked_mul(call.a_line)?.checked_add(bytes)?;
    let row = |address: usize, distance: usize, rows: usize| {
        let len = distance.checked_mul(rows.saturating_sub(1)).and_then(|d| d.checked_add(bytes));
        let (first, Some(len)) = (address.wrapping_add(call.from), len) else { return false };
        rows == 0 || within(call.source.as_ptr().addr(), call.source.len(), first, len) || within(gathered.0, gathered.1, first, len)
    };
    Some(call.taps.chunks(TAP_WORDS).all(|tap| {
        let &[b, upper, upper_row, lower, lower_row] = tap else { return false };
        before.checked_add(b).is_some_and(|b| within(0, call.b.len(), b, panel))
            && row(upper, upper_row, shape.rows[0])
            && row(lower, lower_row, shape.rows[1])
    }))
}

/// Whether there is room for the sums; `None` if an offset overflows.
fn are_sums_inside(kernel: &Tiles, shape: Shape, call: &Call<'_>) -> Option<bool> {
    let rows = shape.rows.iter().sum::<usize>().checked_sub(1)?.checked_mul(call.sums_row)?;
    let rows = call.tiles.checked_sub(1)?.checked_mul(call.sums_tile)?.checked_add(rows)?;
    let before = call.panels.checked_sub(1)?.checked_mul(usize::from(kernel.line) * LINES)?;
    let columns = before.checked_add(usize::from(kernel.vectors) * LINES)?;
    Some(rows.checked_add(columns)? <= call.sums.len())
}

/// The kernel that gathers rows, ready to run.
#[derive(Debug)]
pub(super) struct Gatherer {
    entry: Entry<gather::Args>,
    partial: u8,
}

impl Gatherer {
    /// For rows that end with `partial` bytes after their last whole word.
    pub(super) fn get(isa: Isa, partial: u8) -> Result<Gatherer, Error> {
        Ok(Gatherer { entry: code::get(isa, &Gather { partial })?, partial })
    }

    /// Elements of scratch for a row of `words` words.
    pub(super) fn row(words: usize) -> usize {
        (words + LINES).next_multiple_of(LINES)
    }

    /// Copies `words` whole words, and the partial one after them, of every row from byte `from` on. Each row is in one of the buffers.
    ///
    /// # Panics
    /// If a row is outside both buffers, or there is no room for it.
    pub(super) fn run(&self, rows: &[usize], (from, words): (usize, usize), memory: [Buf; 2], to: &mut [f32]) {
        assert!(words <= to.len(), "rows of {words} words in {} numbers", to.len());
        let len = words * 4 + usize::from(self.partial);
        // The first address at which a row may begin, and the number of such addresses.
        let places = memory.map(|m| (m.as_ptr().addr().wrapping_sub(from), (m.len() + 1).saturating_sub(len)));
        let inside = |row: usize| places.iter().fold(false, |inside, (first, count)| inside | (row.wrapping_sub(*first) < *count));
        let step = Gatherer::row(words + usize::from(self.partial > 0));
        assert!(!rows.is_empty() && rows.iter().fold(true, |all, row| all & inside(*row)), "rows outside their buffers");
        assert!(rows.len() * step <= to.len(), "{} rows of {words} words in {} numbers", rows.len(), to.len());
        let args = gather::Args {
            rows: rows.as_ptr(),
            count: rows.len(),
            from,
            chunks: words / LINES,
            words: words % LINES,
            to: to.as_mut_ptr().cast(),
            to_row: step * 4,
        };
        // SAFETY: the rows are inside the buffers, and after the words of each there is room for those that the kernel writes beyond them.
        unsafe { self.entry.call(&args) }
    }
}
