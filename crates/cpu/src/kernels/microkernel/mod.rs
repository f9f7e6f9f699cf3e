//! The microkernel of the generated rows. A tile of sums stays in registers over a K block, and leaves them finished after the last
//! one.
//!
//! `C[i][j] = epilogue(sum over taps and K of A[i][k] * B[k][j])` for up to [`max_tile_rows`] rows and a few vectors of columns. Operands are
//! addresses: `oxidnn_jit::kernels::dot` describes their layout. Windows, strides, padding and plain matrices differ only in the address
//! list, and kernels depend on none of their sizes.
//!
//! A call computes an [`AddressList`] of strips of tiles for a number of panels. One of the few files with unsafe code: [`Microkernel::run`] checks every
//! address of the list against the buffers, once for all panels, before it calls the kernel.

pub mod epilogue;
mod fixed;
mod interleave;
pub mod layout;
pub(in crate::kernels) mod list;
pub mod pack;
mod prefetch;
#[cfg(test)]
mod tests;
pub mod upconvert;

use super::code::{self, Key};
pub use epilogue::{Epilogue, EpilogueArgs};
pub use fixed::{FixedList, ListedCall};
use list::Reach;
pub use list::{AddressList, ONE_STRIP, TileStrip};
pub use oxidnn_jit::kernels::dot::PrefetchMode;
use oxidnn_jit::kernels::dot::{self, Dot};
pub use oxidnn_jit::kernels::dot::{DotType, InitialSums, LineStride, PREFETCH_BYTES, Stride};
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
pub use prefetch::{Grid, Prefetch, PrefetchQueue};
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MicrokernelKey {
    /// Types of the operands; sums are f32, or s32 for bytes.
    pub product: DotType,
    /// Rows, 1 to [`max_tile_rows`].
    pub rows: u8,
    /// Columns, in vectors: 16 with AVX-512, else 8. See [`max_vectors`].
    pub vectors: u8,
    /// The stride of the lines of a panel of `B`.
    pub line: LineStride,
    /// The stride of the steps of a row of `A`: 4 bytes if it is contiguous along K.
    pub a_step: Stride,
    /// Elements of a partial last step, 0 if there is none: exactly these are read from `A`; `B` is zero-padded to the whole step.
    pub k_tail: u8,
    /// Sets of sums of real numbers that steps take in turns: 1, 2 or 4. What a tile of other rows has must be the same, for the same results.
    pub sets: u8,
    /// The initial sums.
    pub start: InitialSums,
    /// The epilogue; `None` stores sums unchanged to [`MicrokernelCall::sums`].
    pub epilogue: Option<Arc<Epilogue>>,
    /// Whether the last vector has [`MicrokernelCall::last`] columns.
    pub masked: bool,
    /// What the kernel prefetches, see [`MicrokernelCall::prefetch`].
    pub prefetch: PrefetchMode,
}

/// Most vectors of columns in a tile, and in a panel: more would leave registers for too few rows to keep the multiply-add units busy.
pub const fn max_vectors(isa: Isa) -> usize {
    if isa.avx512 { 4 } else { 2 }
}

/// Most rows of any tile.
pub const MOST_ROWS: usize = 10;

/// Most rows of a tile of `vectors` vectors for any product; see [`max_tile_rows`].
pub const fn max_rows(isa: Isa, vectors: usize) -> usize {
    match vectors {
        1 => MOST_ROWS,
        v if v == max_vectors(isa) => 6,
        _ => 8,
    }
}

/// Most rows of a tile of `vectors` vectors for a product.
pub const fn max_tile_rows(isa: Isa, product: DotType, vectors: usize) -> usize {
    if isa.avx512 && vectors == max_vectors(isa) && product.is_native(isa) { 7 } else { max_rows(isa, vectors) }
}

/// Cuts `range` evenly into tiles of at most `most` rows: runs of tiles of equal height, each with its first row, rows of a tile, and
/// number of tiles.
pub fn runs(range: Range<usize>, most: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let (start, n) = (range.start, range.len());
    let tiles = n.div_ceil(most).max(1);
    let (each, more) = (n / tiles, n % tiles);
    [(start, each + 1, more), (start + more * (each + 1), each, tiles - more)].into_iter().filter(|run| run.1 * run.2 > 0)
}

impl MicrokernelKey {
    /// A tile of `rows` by `vectors` that stores its sums: contiguous along K, lines of `B` contiguous, sums from zero.
    pub fn new(product: DotType, rows: usize, vectors: usize) -> MicrokernelKey {
        MicrokernelKey {
            product,
            rows: rows as u8,
            vectors: vectors as u8,
            line: LineStride::Packed(vectors as u8),
            a_step: Stride::Fixed(4),
            k_tail: 0,
            sets: 1,
            start: InitialSums::Zero,
            epilogue: None,
            masked: false,
            prefetch: PrefetchMode::Nothing,
        }
    }

    /// The kind of sums that an epilogue gets.
    fn sums(&self, isa: Isa) -> epilogue::SumKind {
        match self.product {
            product if product.is_integer() => epilogue::SumKind::Whole,
            // Adding old sums after the products may give subnormal numbers.
            DotType::Bf16 if self.product.is_native(isa) && self.start != InitialSums::Add => epilogue::SumKind::Normal,
            _ => epilogue::SumKind::Real,
        }
    }

    /// Rows of `A` of which a tap has the address.
    #[inline]
    fn listed(&self) -> usize {
        self.dot().listed()
    }

    #[inline]
    fn dot(&self) -> Dot {
        Dot {
            product: self.product,
            rows: self.rows,
            vectors: self.vectors,
            line: self.line,
            a_step: self.a_step,
            k_tail: self.k_tail,
            sets: self.sets,
            start: self.start,
            masked: self.masked,
            prefetch: self.prefetch,
        }
    }
}

/// Arguments of the kernels of this module.
#[repr(C)]
#[derive(Debug)]
pub struct Args {
    dot: dot::Args,
    epilogue: epilogue::Block,
}

impl Args {
    /// Offset of the number of columns in a masked last vector.
    pub(in crate::kernels) const LAST: usize = offset_of!(Args, dot) + offset_of!(dot::Args, last);

    /// The arguments of an epilogue without products, for sums from elsewhere.
    pub(in crate::kernels) fn of_epilogue(last: usize, epilogue: epilogue::Block) -> Args {
        Args { dot: dot::Args::of_last(last), epilogue }
    }
}

impl Key for MicrokernelKey {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        self.dot().name(isa)
    }

    fn write(&self, f: &mut Function) {
        let (Some(epilogue), sums) = (&self.epilogue, self.sums(f.isa())) else { return self.dot().write(f) };
        let ask = |f: &mut Function, at| epilogue.ask(f, at, (usize::from(self.rows), usize::from(self.vectors)));
        self.dot().write_around(f, ask, |f, tile| epilogue.write(f, tile, sums));
    }
}

/// A call of a kernel: tiles by panels.
#[derive(Debug)]
pub struct MicrokernelCall<'a> {
    /// The words of an [`AddressList`] of strips of tiles.
    pub strips: &'a [usize],
    /// Whole steps of every tap.
    pub steps: usize,
    /// The memory of `A`.
    pub a: Buf<'a>,
    /// Bytes from the addresses of the rows of `A` to the first step.
    pub a_from: usize,
    /// Other memory that rows of `A` may be in: zeros, or values of padding.
    pub zeros: Buf<'a>,
    /// The memory of `B`.
    pub b: Buf<'a>,
    /// The panels.
    pub panels: Panels,
    /// The memory of the destination; used only with an epilogue, as are all fields about the destination.
    pub c: Buf<'a>,
    /// The first panel's first column in the destination.
    pub column: usize,
    /// The same in the operands of the epilogue that vary by column.
    pub epilogue_column: usize,
    /// Operands of the epilogue.
    pub epilogue: Option<&'a EpilogueArgs<'a>>,
    /// Sums in memory, f32 or the bits of i32, from column 0 of the first panel on: [`InitialSums::Load`] starts with them, [`InitialSums::Add`] adds
    /// them at the end, and without an epilogue sums are stored there.
    pub sums: &'a mut [f32],
    /// Elements from a row of sums to the next.
    pub sums_row: usize,
    /// Bytes from one step of `A` to the next, unless that is [`Stride::Fixed`].
    pub a_step: usize,
    /// Bytes from one line of `B` to the next, if they are [`LineStride::Strided`].
    pub b_row: usize,
    /// Columns of the last vector, if it is masked.
    pub last: usize,
    /// The prefetch of all tiles and panels together.
    pub prefetch: Prefetch,
}

/// The panels of a call: consecutive columns, as many in each as the tile has.
#[derive(Clone, Copy, Debug)]
pub struct Panels {
    /// Byte offset of the first in `B`.
    pub at: usize,
    /// Bytes from one to the next.
    pub step: usize,
    /// Their number.
    pub count: usize,
    /// Whether all tiles are multiplied by a panel before the next panel, as is best for panels that stay in L1. Otherwise a tile is
    /// multiplied by all panels before the next tile.
    pub outer: bool,
}

impl<'a> MicrokernelCall<'a> {
    /// Tiles without epilogue, with sums in memory whose rows are `sums_row` elements apart.
    pub fn raw(strips: &'a [usize], steps: usize, panels: Panels, (sums, sums_row): (&'a mut [f32], usize)) -> MicrokernelCall<'a> {
        MicrokernelCall {
            strips,
            steps,
            a: Buf::empty(),
            a_from: 0,
            zeros: Buf::empty(),
            b: Buf::empty(),
            panels,
            c: Buf::empty(),
            column: 0,
            epilogue_column: 0,
            epilogue: None,
            sums,
            sums_row,
            a_step: 0,
            b_row: 0,
            last: 0,
            prefetch: Prefetch::default(),
        }
    }
}

impl Panels {
    /// One panel, from byte `at` on.
    pub const fn one(at: usize) -> Panels {
        Panels { at, step: 0, count: 1, outer: false }
    }
}

/// A kernel, ready to run.
#[derive(Clone, Debug)]
pub struct Microkernel {
    entry: Entry<Args>,
    spec: MicrokernelKey,
    /// Elements in a vector.
    lanes: usize,
}

impl Microkernel {
    /// The kernel for `spec`, generated if it does not exist yet.
    ///
    /// # Errors
    /// [`Error::Runtime`] if the processor lacks the instruction set, the tile has no rows or columns or too many, or there is no
    /// executable memory.
    pub fn get(isa: Isa, spec: &MicrokernelKey) -> Result<Microkernel, Error> {
        let (rows, vectors) = (usize::from(spec.rows), usize::from(spec.vectors));
        let fits = rows > 0 && vectors > 0 && vectors <= max_vectors(isa) && rows <= max_tile_rows(isa, spec.product, vectors);
        let line = if let LineStride::Packed(line) = spec.line { line >= spec.vectors } else { true };
        if !fits
            || !line
            || usize::from(spec.k_tail) >= spec.product.step_depth().max(1)
            || matches!(spec.a_step, Stride::Fixed(s) if s < 0)
        {
            return Err(Error::Runtime(format!("no tile is {spec:?}")));
        }
        Ok(Microkernel { entry: code::get(isa, spec)?, spec: spec.clone(), lanes: isa.width().lanes() })
    }

    /// Its key.
    pub fn spec(&self) -> &MicrokernelKey {
        &self.spec
    }

    /// Columns of the tile that exist.
    #[inline]
    fn columns(&self, call: &MicrokernelCall<'_>) -> usize {
        let all = usize::from(self.spec.vectors) * self.lanes;
        if self.spec.masked { all - self.lanes + call.last } else { all }
    }

    /// Computes the tiles by all panels.
    ///
    /// # Panics
    /// If an address or a column is outside its buffer, or the list is not of tiles like this.
    #[inline]
    pub fn run(&self, call: MicrokernelCall<'_>) {
        let reach = self.reach(&call);
        let count = if call.strips.is_empty() { Some(0) } else { reach.and_then(|r| r.strips(&self.spec, call.strips)) };
        self.run_strips((call.strips, [0; 2]), count, call);
    }

    /// As [`Microkernel::run`], for the tiles of `list`; the call has no list.
    ///
    /// # Panics
    /// As [`Microkernel::run`].
    #[inline]
    pub fn run_list(&self, list: &ListedCall<'_>, call: MicrokernelCall<'_>) {
        let count = self.strips_of(list, &call);
        self.run_strips((list.words, list.base()), count, call);
    }

    /// Whether [`Microkernel::run_list`] would accept the call.
    pub fn takes(&self, list: &ListedCall<'_>, call: &MicrokernelCall<'_>) -> bool {
        self.strips_of(list, call).is_some()
    }

    /// The number of strips of `list`; `None` if the list must not be run.
    #[inline]
    fn strips_of(&self, list: &ListedCall<'_>, call: &MicrokernelCall<'_>) -> Option<usize> {
        let is_mine = list.rows == usize::from(self.spec.rows) && list.tap == 1 + self.spec.listed();
        let reach = self.reach(call).filter(|_| is_mine)?;
        list.count(&reach, call).unwrap_or_else(|| reach.strips(&self.spec, list.words))
    }

    /// Computes the tiles of `strips` strips, or panics for `None`. Rows are `base` bytes further on in `A` and in the destination.
    fn run_strips(&self, (strips, base): (&[usize], [usize; 2]), count: Option<usize>, call: MicrokernelCall<'_>) {
        let Some(count) = count else { panic!("a tile outside its buffers: {:?}", self.spec) };
        if count == 0 || call.panels.count == 0 {
            return;
        }
        let (calls, panels) = if call.panels.outer { (call.panels.count, 1) } else { (1, call.panels.count) };
        let epilogue = call.epilogue.unwrap_or(&EpilogueArgs::NONE);
        let mut args = Args {
            dot: dot::Args {
                strips: strips.as_ptr(),
                count,
                panels,
                steps: call.steps,
                b: call.b.as_ptr().wrapping_add(call.panels.at),
                b_panel: call.panels.step,
                a_from: call.a_from.wrapping_add(base[0]),
                sums: call.sums.as_mut_ptr().cast(),
                sums_row: call.sums_row * 4,
                a_step: call.a_step,
                b_row: call.b_row,
                last: call.last,
                // Without prefetch, an address that is near anyway: a failing address translation would take long.
                prefetch: if call.prefetch.step == 0 { strips.as_ptr().addr() } else { call.prefetch.at },
                prefetch_step: call.prefetch.step,
            },
            epilogue: epilogue.block(self.spec.epilogue.as_deref().map_or(0, Epilogue::dst_size), &call, base[1]),
        };
        let columns = usize::from(self.spec.vectors) * self.lanes;
        for _ in 0..calls {
            // SAFETY: `reach`, `Reach::strips` and `ListedCall::count` have checked what the kernel reads and writes, in every panel, against
            // the buffers, whose makers promised that they are valid and that parallel parts write disjoint elements.
            unsafe { self.entry.call(&args) }
            args.dot.b = args.dot.b.wrapping_add(call.panels.step);
            args.dot.sums = args.dot.sums.wrapping_add(columns * 4);
            args.dot.prefetch = args.dot.prefetch.wrapping_add(call.prefetch.panel);
            args.epilogue.advance(&self.spec, columns);
        }
    }

    /// As [`Microkernel::run`], with `B`, and `A` if given, in scratch.
    ///
    /// # Panics
    /// As [`Microkernel::run`].
    pub fn run_on(&self, call: MicrokernelCall<'_>, a: Option<&[f32]>, b: &[f32]) {
        // SAFETY: tiles only read these operands, and the borrows keep the elements unchanged until the end of the call.
        let memory = |numbers: &[f32]| unsafe { Buf::new(numbers.as_ptr().cast_mut().cast(), size_of_val(numbers)) };
        self.run(MicrokernelCall { a: a.map_or(call.a, memory), b: memory(b), ..call });
    }

    /// The places that the list may name; `None` if what all tiles have in common is outside its buffer.
    #[inline]
    fn reach(&self, call: &MicrokernelCall<'_>) -> Option<Reach> {
        let (spec, rows, more) = (&self.spec, usize::from(self.spec.rows), call.panels.count.saturating_sub(1));
        let vectors = usize::from(spec.vectors) * self.lanes;
        // Columns from the first panel's first one on.
        let before = vectors.checked_mul(more)?;
        let columns = before.checked_add(self.columns(call))?;
        if spec.masked && (more > 0 || !(1..=self.lanes).contains(&call.last)) {
            return None;
        }
        let (a, b) = (self.a_extent(call)?, self.b_extent(call, self.columns(call))?);
        let b = call.panels.step.checked_mul(more)?.checked_add(b)?;
        let sums = if spec.start == InitialSums::Zero && spec.epilogue.is_some() {
            None
        } else {
            let end = call.sums_row.checked_mul(rows - 1)?.checked_add(columns)?;
            let places = Places { first: 0, count: call.sums.len().checked_sub(end)?.checked_mul(4)? + 1 };
            Some((places, call.sums_row.checked_mul(4)?))
        };
        let c = match (&spec.epilogue, call.epilogue) {
            (None, _) => None,
            (Some(epilogue), Some(args)) => Some(epilogue.places(args, call, columns, before.checked_add(vectors)?)?),
            (Some(_), None) => return None,
        };
        Some(Reach {
            a: Places::new(call.a, call.a_from, a),
            zeros: Places::new(call.zeros, call.a_from, a),
            b: Places { first: 0, ..Places::new(call.b, call.panels.at, b) },
            c,
            sums,
        })
    }

    /// Bytes from the first step of a row of `A` to the end of its last step, including the other rows if a tap has the first row's address
    /// only; `None` on overflow.
    #[inline]
    fn a_extent(&self, call: &MicrokernelCall<'_>) -> Option<usize> {
        let across = if self.spec.a_step == Stride::Across { usize::from(self.spec.rows - 1) * 4 } else { 0 };
        self.row_extent(call)?.checked_add(across)
    }

    fn row_extent(&self, call: &MicrokernelCall<'_>) -> Option<usize> {
        let step = if let Stride::Fixed(bytes) = self.spec.a_step { bytes as usize } else { call.a_step };
        let partial = usize::from(self.spec.k_tail) * 4 / self.spec.product.step_depth();
        match (call.steps, partial) {
            (0, partial) => Some(partial),
            (steps, 0) => step.checked_mul(steps - 1)?.checked_add(4),
            (steps, partial) => step.checked_mul(steps)?.checked_add(partial),
        }
    }

    /// Bytes of a panel of `B` from its first line to the last column of its last line; `None` on overflow.
    #[inline]
    fn b_extent(&self, call: &MicrokernelCall<'_>, columns: usize) -> Option<usize> {
        let (lanes, product) = (self.lanes, self.spec.product);
        let steps = call.steps.checked_add(usize::from(self.spec.k_tail > 0))?;
        let Some(before) = steps.checked_sub(1) else { return Some(0) };
        let together = 4 * product.vnni() / product.step_depth();
        match self.spec.line {
            LineStride::Packed(line) => {
                let line = usize::from(line) * lanes * 4;
                let columns = usize::from(self.spec.vectors) * lanes * together;
                // The second half of a line of f16 is read unless the last step is partial.
                let half = if together < 4 && self.spec.k_tail == 0 { line / 2 } else { 0 };
                line.checked_mul(before)?.checked_add(half)?.checked_add(columns)
            }
            LineStride::Strided if together < 4 => {
                let lines = call.steps.checked_mul(2)?.checked_add(usize::from(self.spec.k_tail))?;
                call.b_row.checked_mul(lines - 1)?.checked_add(columns * together)
            }
            LineStride::Strided => call.b_row.checked_mul(before)?.checked_add(columns * together),
        }
    }
}

/// The addresses (of `B` the offsets) at which something may begin.
pub(in crate::kernels) struct Places {
    first: usize,
    /// Their number.
    count: usize,
}

impl Places {
    /// The addresses at which `len` bytes, read or written from `offset` bytes further on, are inside a buffer.
    #[inline]
    fn new(buf: Buf, offset: usize, len: usize) -> Places {
        let count = buf.len().checked_sub(offset).map_or(0, |left| (left + 1).saturating_sub(len));
        Places { first: buf.as_ptr().addr(), count }
    }

    /// The addresses at which the same fits if it is used again this many bytes further on.
    #[inline]
    pub(in crate::kernels) fn and_then(&self, bytes: usize) -> Places {
        Places { first: self.first, count: self.count.saturating_sub(bytes) }
    }

    #[inline]
    pub(in crate::kernels) fn holds(&self, address: usize) -> bool {
        address.wrapping_sub(self.first) < self.count
    }
}
