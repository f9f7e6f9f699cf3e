//! `Tile`: the one compute block of the generated rows. A tile of sums stays in registers over a whole reduction, and leaves them finished.
//!
//! `C[i][j] = tail(sum over taps and depth of A[i][k] * B[k][j])` for up to [`max_rows`] rows and a few vectors of columns. Operands are
//! addresses: see `oxidnn_jit::kernels::dot` for how they lie. Windows, strides, padding and plain matrices differ in the table of addresses
//! only, and kernels depend on none of their sizes.
//!
//! One of the few files with unsafe code: [`Tile::run`] checks every address against the buffers before it calls the kernel.

pub mod drive;
pub mod layout;
pub mod pack;
pub mod square;
pub mod tail;
#[cfg(test)]
mod tests;
mod value;

use super::code::{Kernels, Key};
use oxidnn_jit::kernels::dot::{self, Dot};
pub use oxidnn_jit::kernels::dot::{AHEAD, Line, Product, Start, Stride};
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::sync::Arc;
pub use tail::{Tail, TailArgs};

/// What a kernel is made for. This is its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    /// Types of the operands; sums are f32, or s32 for bytes.
    pub product: Product,
    /// Rows, 1 to [`max_rows`].
    pub rows: u8,
    /// Columns, in vectors: 16 with AVX-512, else 8. See [`max_vectors`].
    pub vectors: u8,
    /// How far the lines of a panel of `B` are apart.
    pub line: Line,
    /// How far the steps of a row of `A` are apart: 4 bytes where the depth is contiguous.
    pub a_step: Stride,
    /// Numbers of a last step that is not whole, 0 if there is none: read exactly from `A`; `B` has zeros to the whole step.
    pub partial: u8,
    /// What the sums begin with.
    pub start: Start,
    /// How the sums become elements of the destination; `None` stores them as they are to [`Call::sums`].
    pub tail: Option<Arc<Tail>>,
    /// True when the last vector has [`Call::last`] columns.
    pub masked: bool,
    /// True when memory is asked for meanwhile, see [`Call::ahead`].
    pub ahead: bool,
}

/// Most vectors of columns in a tile.
pub const fn max_vectors(isa: Isa) -> usize {
    if isa.avx512 { 4 } else { 2 }
}

/// Most rows of any tile.
pub const MOST_ROWS: usize = 10;

/// Most rows of a tile of so many vectors.
pub const fn max_rows(isa: Isa, vectors: usize) -> usize {
    match vectors {
        1 => MOST_ROWS,
        v if v == max_vectors(isa) => 6,
        _ => 8,
    }
}

impl Spec {
    /// A tile of `rows` by `vectors` that stores its sums: depth contiguous, lines of `B` behind each other, sums from zero.
    pub fn new(product: Product, rows: usize, vectors: usize) -> Spec {
        Spec {
            product,
            rows: rows as u8,
            vectors: vectors as u8,
            line: Line::Packed(vectors as u8),
            a_step: Stride::Fixed(4),
            partial: 0,
            start: Start::Zero,
            tail: None,
            masked: false,
            ahead: false,
        }
    }

    /// Words of a tap in [`Call::table`].
    #[inline]
    pub fn tap_words(&self) -> usize {
        1 + self.dot().listed()
    }

    #[inline]
    fn dot(&self) -> Dot {
        Dot {
            product: self.product,
            rows: self.rows,
            vectors: self.vectors,
            line: self.line,
            a_step: self.a_step,
            partial: self.partial,
            start: self.start,
            masked: self.masked,
            ahead: self.ahead,
        }
    }
}

/// Arguments of the kernels of this module.
#[repr(C)]
#[derive(Debug)]
pub struct Args {
    dot: dot::Args,
    tail: tail::Block,
}

impl Key for Spec {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        self.dot().name(isa)
    }

    fn function(&self, isa: Isa) -> Function {
        match &self.tail {
            None => self.dot().function(isa),
            Some(tail) => {
                let ask = |f: &mut Function, args| tail.ask(f, args, (usize::from(self.rows), usize::from(self.vectors)));
                self.dot().function_around(isa, ask, |f, sums| tail.write(f, sums, self.product.is_whole()))
            }
        }
    }
}

static KERNELS: Kernels<Spec> = Kernels::new();

/// One call of a kernel.
#[derive(Debug)]
pub struct Call<'a> {
    /// For every tap one word, how many bytes behind `b_at` its lines of `B` begin, and the address of the first step of every row of `A`, or
    /// of the first row where that is [`Stride::Across`].
    pub table: &'a [usize],
    /// Whole steps of every tap.
    pub steps: usize,
    /// The memory of `A`.
    pub a: Buf,
    /// Memory that rows of `A` may lie in instead: zeros, or what padding holds.
    pub zeros: Buf,
    /// The memory of `B`.
    pub b: Buf,
    /// Byte of `b` where the panel begins.
    pub b_at: usize,
    /// Address of column 0 of every row of the destination; looked at where there is a tail, as all that belongs to the destination.
    pub c_rows: &'a [usize],
    /// The memory of the destination.
    pub c: Buf,
    /// The tile's first column in the destination.
    pub column: usize,
    /// The tile's first column in the operands of the tail that differ by column.
    pub tail_column: usize,
    /// Operands of the tail.
    pub tail: Option<&'a TailArgs<'a>>,
    /// Sums in memory, f32 or the bits of i32, from the tile's first on: what [`Start::Load`] begins with, and where sums go without a tail.
    pub sums: &'a mut [f32],
    /// Numbers from a row of sums to the next.
    pub sums_row: usize,
    /// Bytes from a step of `A` to the next, where that is not [`Stride::Fixed`].
    pub a_step: usize,
    /// Bytes from a line of `B` to the next, where they are [`Line::Apart`].
    pub b_row: usize,
    /// Columns of the last vector, where it is masked.
    pub last: usize,
    /// What is asked for meanwhile.
    pub ahead: Ahead,
}

/// Memory that is wanted in the second cache soon: [`AHEAD`] bytes for every four steps. Any address will do, nothing is read.
#[derive(Clone, Copy, Default, Debug)]
pub struct Ahead {
    /// Where it begins.
    pub at: usize,
    /// Bytes from there to the next, and so on.
    pub step: usize,
}

/// A kernel, ready to run.
#[derive(Clone, Debug)]
pub struct Tile {
    entry: Entry<Args>,
    spec: Spec,
    /// Numbers in a vector.
    lanes: usize,
}

impl Tile {
    /// The kernel for `spec`, made now if it has not been before.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the processor lacks the instruction set, the tile has no rows or columns or too many, or there is no executable
    /// memory.
    pub fn get(isa: Isa, spec: &Spec) -> Result<Tile, Error> {
        let (rows, vectors) = (usize::from(spec.rows), usize::from(spec.vectors));
        let fits = rows > 0 && vectors > 0 && vectors <= max_vectors(isa) && rows <= max_rows(isa, vectors);
        let line = if let Line::Packed(line) = spec.line { line >= spec.vectors } else { true };
        if !fits || !line || usize::from(spec.partial) >= spec.product.depth().max(1) || matches!(spec.a_step, Stride::Fixed(s) if s < 0) {
            return Err(Error::Runtime(format!("no tile is {spec:?}")));
        }
        Ok(Tile { entry: KERNELS.get(isa, spec)?, spec: spec.clone(), lanes: isa.width().lanes() })
    }

    /// What it was made for.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Columns of the tile that are wanted.
    #[inline]
    fn columns(&self, call: &Call<'_>) -> usize {
        let all = usize::from(self.spec.vectors) * self.lanes;
        if self.spec.masked { all - self.lanes + call.last } else { all }
    }

    /// Computes a tile.
    ///
    /// # Panics
    /// When an address or a column lies outside its buffer, or a list does not have the tile's rows.
    #[inline(always)]
    pub fn run(&self, call: Call<'_>) {
        let taps = if self.is_inside(&call) { self.taps(&call) } else { None };
        let Some(taps) = taps else { panic!("a tile outside its buffers: {:?}", self.spec) };
        let tail = call.tail.unwrap_or(&TailArgs::NONE);
        let args = Args {
            dot: dot::Args {
                table: call.table.as_ptr(),
                count: taps,
                steps: call.steps,
                b: call.b.as_ptr().wrapping_add(call.b_at),
                sums: call.sums.as_mut_ptr().cast(),
                sums_row: call.sums_row * 4,
                a_step: call.a_step,
                b_row: call.b_row,
                last: call.last,
                // Without a wish, a place that is near anyway: a translation that fails would take long.
                ahead: if call.ahead.step == 0 { call.table.as_ptr().addr() } else { call.ahead.at },
                ahead_step: call.ahead.step,
            },
            tail: tail.block(&self.spec, &call),
        };
        // SAFETY: `is_inside` has checked what the kernel reads and writes against the buffers, whose makers promised that they are valid and
        // that parallel parts write disjoint elements.
        unsafe { self.entry.call(&args) }
    }

    /// Whether all that the kernel touches lies in the buffers.
    #[inline]
    fn is_inside(&self, call: &Call<'_>) -> bool {
        let (spec, rows) = (&self.spec, usize::from(self.spec.rows));
        let columns = self.columns(call);
        let last = !spec.masked || (1..=self.lanes).contains(&call.last);
        let sums = (spec.start == Start::Zero && spec.tail.is_some()) || {
            let end = call.sums_row.checked_mul(rows - 1).and_then(|n| n.checked_add(columns));
            end.is_some_and(|end| end <= call.sums.len())
        };
        let to = match (&spec.tail, call.tail) {
            (None, _) => true,
            (Some(tail), Some(args)) => {
                call.c_rows.len() == rows && tail.is_inside(args, call, columns, usize::from(spec.vectors) * self.lanes)
            }
            (Some(_), None) => false,
        };
        last && sums && to
    }

    /// The number of taps, where all that they name lies in the buffers. (Nothing is divided: a short tile takes no longer than a few
    /// divisions do.)
    #[inline]
    fn taps(&self, call: &Call<'_>) -> Option<usize> {
        let (a, b) = (self.a_extent(call)?, self.b_extent(call, self.columns(call))?);
        let (in_a, in_zeros, in_b) = (Places::new(call.a, a), Places::new(call.zeros, a), Places::new(call.b, b));
        let first = call.b.as_ptr().addr().wrapping_add(call.b_at);
        let (mut taps, mut inside, mut rest, words) = (0, true, call.table, self.spec.tap_words());
        while let Some((tap, more)) = rest.split_at_checked(words) {
            inside &= in_b.holds(first.wrapping_add(tap[0]));
            if !tap[1..].iter().fold(true, |ok, row| ok & in_a.holds(*row)) {
                inside &= tap[1..].iter().fold(true, |ok, row| ok & (in_a.holds(*row) | in_zeros.holds(*row)));
            }
            (taps, rest) = (taps + 1, more);
        }
        (inside && rest.is_empty()).then_some(taps)
    }

    /// Bytes of a row of `A` from its first step to behind its last, or to behind that of the last of neighbours; `None` on overflow.
    #[inline]
    fn a_extent(&self, call: &Call<'_>) -> Option<usize> {
        let across = if self.spec.a_step == Stride::Across { usize::from(self.spec.rows - 1) * 4 } else { 0 };
        self.row_extent(call)?.checked_add(across)
    }

    fn row_extent(&self, call: &Call<'_>) -> Option<usize> {
        let step = if let Stride::Fixed(bytes) = self.spec.a_step { bytes as usize } else { call.a_step };
        let partial = usize::from(self.spec.partial) * 4 / self.spec.product.depth();
        match (call.steps, partial) {
            (0, partial) => Some(partial),
            (steps, 0) => step.checked_mul(steps - 1)?.checked_add(4),
            (steps, partial) => step.checked_mul(steps)?.checked_add(partial),
        }
    }

    /// Bytes of a panel of `B` from its first line to behind the last column of its last line; `None` on overflow.
    #[inline]
    fn b_extent(&self, call: &Call<'_>, columns: usize) -> Option<usize> {
        let (lanes, product) = (self.lanes, self.spec.product);
        let steps = call.steps.checked_add(usize::from(self.spec.partial > 0))?;
        let Some(before) = steps.checked_sub(1) else { return Some(0) };
        let together = 4 * product.together() / product.depth();
        match self.spec.line {
            Line::Packed(line) => {
                let line = usize::from(line) * lanes * 4;
                let columns = usize::from(self.spec.vectors) * lanes * together;
                // The second half of a line of f16 is read unless the step is not whole.
                let half = if together < 4 && self.spec.partial == 0 { line / 2 } else { 0 };
                line.checked_mul(before)?.checked_add(half)?.checked_add(columns)
            }
            Line::Apart if together < 4 => {
                let lines = call.steps.checked_mul(2)?.checked_add(usize::from(self.spec.partial))?;
                call.b_row.checked_mul(lines - 1)?.checked_add(columns * together)
            }
            Line::Apart => call.b_row.checked_mul(before)?.checked_add(columns * together),
        }
    }
}

/// Where something of a certain length may begin in a buffer.
struct Places {
    first: usize,
    /// Number of places.
    count: usize,
}

impl Places {
    #[inline]
    fn new(buf: Buf, len: usize) -> Places {
        Places { first: buf.as_ptr().addr(), count: (buf.len() + 1).saturating_sub(len) }
    }

    #[inline]
    fn holds(&self, address: usize) -> bool {
        address.wrapping_sub(self.first) < self.count
    }
}
