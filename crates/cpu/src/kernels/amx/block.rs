//! Calls of the kernels for AMX tiles. One of the few files with unsafe code: every address is checked against its buffer before a kernel
//! is called.

use crate::kernels::code;
use crate::kernels::tile::Ahead;
use oxidnn_jit::ir::TileProduct;
use oxidnn_jit::kernels::dot::Start;
use oxidnn_jit::kernels::gather::{self, Gather};
use oxidnn_jit::kernels::tiles::{self, LINES, Setup, Shape, TAP, Tiles};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

#[cfg(test)]
mod tests;

/// The kernels that set the registers up and give them up.
#[derive(Debug)]
pub(super) struct Registers {
    shape: Entry<[u8; 64]>,
    awake: Entry<[u8; 64]>,
    release: Entry<[u8; 64]>,
}

/// The registers while a thread uses them; given up when this is dropped.
pub struct Held<'r> {
    registers: &'r Registers,
    shape: Option<Shape>,
    bytes: [u8; 64],
}

impl Registers {
    pub(super) fn get(isa: Isa, product: TileProduct) -> Result<Registers, Error> {
        let get = |setup: Setup| code::get(isa, &setup);
        Ok(Registers { shape: get(Setup::Shape)?, awake: get(Setup::Awake(product))?, release: get(Setup::Release)? })
    }

    /// The registers, for this thread.
    pub(super) fn hold(&self) -> Held<'_> {
        Held { registers: self, shape: None, bytes: [0; 64] }
    }
}

impl Held<'_> {
    /// Gives the registers their shapes, where these are not theirs already.
    ///
    /// # Panics
    /// When no registers have such shapes.
    pub(super) fn set(&mut self, shape: Shape) {
        if self.shape == Some(shape) {
            return;
        }
        let [upper, lower] = shape.rows;
        assert!((1..=LINES).contains(&upper) && lower <= LINES && (1..=LINES).contains(&shape.steps), "no tiles have {shape:?}");
        (self.shape, self.bytes) = (Some(shape), shape.bytes());
        // SAFETY: the kernel reads these bytes, which are sizes that registers may have.
        unsafe { self.registers.shape.call(&self.bytes) }
    }

    /// The shapes.
    ///
    /// # Panics
    /// When they are not those of a kernel.
    pub(super) fn shape_for(&self, kernel: &Tiles) -> Shape {
        let shape = self.shape.filter(|s| (s.rows[1] > 0) == (kernel.tall == 2));
        shape.unwrap_or_else(|| panic!("registers of other shapes"))
    }

    /// Keeps the tile unit from going to sleep; the sums in its registers are lost.
    #[inline]
    pub(super) fn stay_awake(&self) {
        if self.shape.is_some() {
            // SAFETY: the kernel reads nothing, and the registers have shapes that fit each other.
            unsafe { self.registers.awake.call(&self.bytes) }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: the kernel reads nothing; nobody uses the registers behind this.
        unsafe { self.registers.release.call(&self.bytes) }
    }
}

/// A kernel of products, ready to run.
#[derive(Debug)]
pub(super) struct Block {
    entry: Entry<tiles::Args>,
    kernel: Tiles,
}

/// Two tiles of rows by panels, whose shapes the registers have.
pub(super) struct Call<'a> {
    /// The taps.
    pub(super) taps: &'a [usize],
    /// Blocks of the shape's steps, and bytes of a row of `A` before them.
    pub(super) blocks: usize,
    pub(super) from: usize,
    /// The memory of `A`: the source, and rows that were gathered.
    pub(super) source: Buf<'a>,
    pub(super) gathered: &'a [f32],
    /// The memory of `B`, the place of the first panel's first line in it, the distance of panels and their number.
    pub(super) b: Buf<'a>,
    pub(super) b_at: usize,
    pub(super) b_panel: usize,
    pub(super) panels: usize,
    /// Number of tiles, and bytes of `A` from one to the next; their sums follow each other.
    pub(super) tiles: usize,
    pub(super) a_tile: usize,
    /// How often all of that, and bytes of `A` from one time to the next.
    pub(super) lines: usize,
    pub(super) a_line: usize,
    /// The first sum, and numbers from a row to the next.
    pub(super) sums: &'a mut [f32],
    pub(super) sums_row: usize,
    /// The address to prefetch, and bytes from there to the next prefetch.
    pub(super) ahead: Ahead,
    pub(super) ahead_line: usize,
}

/// Whether `len` bytes from `address` on are among those from `first` on.
fn within(first: usize, all: usize, address: usize, len: usize) -> bool {
    address.checked_sub(first).and_then(|at| at.checked_add(len)).is_some_and(|end| end <= all)
}

/// Whether there are such tiles.
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
    /// When an operand is not in its memory, or the registers are not those of the kernel.
    pub(super) fn run(&self, held: &Held<'_>, mut call: Call<'_>) {
        let shape = held.shape_for(&self.kernel);
        let inside = is_inside(&self.kernel, shape, &call) && are_sums_inside(&self.kernel, shape, &call).unwrap_or(false);
        assert!(inside, "tiles outside their buffers: {:?}", self.kernel);
        // SAFETY: what the kernel reads and writes was checked against the buffers, whose makers promised that they are valid and that parallel parts
        // write disjoint elements.
        unsafe { self.entry.call(&arguments(&self.kernel, held, shape, &mut call)) }
    }
}

/// The operands of a kernel.
pub(super) fn arguments(kernel: &Tiles, held: &Held<'_>, shape: Shape, call: &mut Call<'_>) -> tiles::Args {
    tiles::Args {
        shapes: held.bytes.as_ptr(),
        taps: call.taps.as_ptr(),
        count: call.taps.len() / TAP,
        blocks: call.blocks,
        a_from: call.from,
        a_block: shape.steps * 4,
        b_block: shape.steps * line(kernel),
        b: call.b.as_ptr().wrapping_add(call.b_at),
        panels: call.panels,
        b_panel: call.b_panel,
        tiles: call.tiles,
        a_tile: call.a_tile,
        sums_tile: shape.rows.iter().sum::<usize>() * call.sums_row * 4,
        sums: call.sums.as_mut_ptr().cast(),
        sums_row: call.sums_row * 4,
        sums_lower: shape.rows[0] * call.sums_row * 4,
        // Without a wish, a place that is near anyway: a translation that fails would take long.
        ahead: if call.ahead.step == 0 { call.taps.as_ptr().addr() } else { call.ahead.at },
        ahead_step: call.ahead.step,
    }
}

/// Bytes of a line of a panel.
fn line(kernel: &Tiles) -> usize {
    usize::from(kernel.line) * 64
}

/// Whether all operands that a kernel reads are in the buffers, and its initial sums, if it has any.
pub(super) fn is_inside(kernel: &Tiles, shape: Shape, call: &Call<'_>) -> bool {
    let sums = kernel.start == Start::Zero || are_sums_inside(kernel, shape, call).unwrap_or(false);
    sums && are_operands_inside(kernel, shape, call).unwrap_or(false)
}

/// Whether operands are in the buffers; `None` if an offset overflows.
fn are_operands_inside(kernel: &Tiles, shape: Shape, call: &Call<'_>) -> Option<bool> {
    let steps = call.blocks.checked_mul(shape.steps)?;
    let bytes = steps.checked_mul(4)?;
    let panel = match steps {
        0 => 0,
        steps => (steps - 1).checked_mul(line(kernel))?.checked_add(usize::from(kernel.vectors) * 64)?,
    };
    let before = call.panels.checked_sub(1)?.checked_mul(call.b_panel)?.checked_add(call.b_at)?;
    let gathered = (call.gathered.as_ptr().addr(), size_of_val(call.gathered));
    // Of a row of the first tile and of the same row of the last one together.
    let bytes = call.tiles.checked_sub(1)?.checked_mul(call.a_tile)?.checked_add(bytes)?;
    let bytes = call.lines.checked_sub(1)?.checked_mul(call.a_line)?.checked_add(bytes)?;
    let row = |address: usize, distance: usize, rows: usize| {
        let len = distance.checked_mul(rows.saturating_sub(1)).and_then(|d| d.checked_add(bytes));
        let (first, Some(len)) = (address.wrapping_add(call.from), len) else { return false };
        rows == 0 || within(call.source.as_ptr().addr(), call.source.len(), first, len) || within(gathered.0, gathered.1, first, len)
    };
    Some(call.taps.chunks(TAP).all(|tap| {
        let &[b, upper, upper_row, lower, lower_row] = tap else { return false };
        before.checked_add(b).is_some_and(|b| within(0, call.b.len(), b, panel))
            && row(upper, upper_row, shape.rows[0])
            && row(lower, lower_row, shape.rows[1])
    }))
}

/// Whether there is room for the sums; `None` where a place is too far for a number.
fn are_sums_inside(kernel: &Tiles, shape: Shape, call: &Call<'_>) -> Option<bool> {
    let rows = call.tiles.checked_mul(shape.rows.iter().sum())?;
    let before = call.panels.checked_sub(1)?.checked_mul(usize::from(kernel.line) * LINES)?;
    let columns = before.checked_add(usize::from(kernel.vectors) * LINES)?;
    Some(call.sums_row.checked_mul(rows.checked_sub(1)?)?.checked_add(columns)? <= call.sums.len())
}

/// The kernel that gathers rows, ready to run.
#[derive(Debug)]
pub(super) struct Gatherer {
    entry: Entry<gather::Args>,
    partial: u8,
}

impl Gatherer {
    /// For rows that end with so many bytes behind their last whole word.
    pub(super) fn get(isa: Isa, partial: u8) -> Result<Gatherer, Error> {
        Ok(Gatherer { entry: code::get(isa, &Gather { partial })?, partial })
    }

    /// Elements that a row of so many words takes.
    pub(super) fn row(words: usize) -> usize {
        (words + LINES).next_multiple_of(LINES)
    }

    /// Copies `words` whole words, and the bytes behind them, of every row from byte `from` on. Each row is in one of the buffers.
    ///
    /// # Panics
    /// If a row is not in a buffer, or there is no room for it.
    pub(super) fn run(&self, rows: &[usize], (from, words): (usize, usize), memory: [Buf; 2], to: &mut [f32]) {
        assert!(words <= to.len(), "rows of {words} words in {} numbers", to.len());
        let len = words * 4 + usize::from(self.partial);
        // Where rows may begin, and at how many places.
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
        // SAFETY: the rows lie in the buffers, and behind the words of each there are as many as the kernel may write more, in its own elements.
        unsafe { self.entry.call(&args) }
    }
}
