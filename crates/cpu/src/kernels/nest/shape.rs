//! A product as the loop nest sees it: its sizes, its K blocks, and the providers of its operands.

use crate::hardware::Budget;
use crate::kernels::multiversion::Simd;
use crate::kernels::tile::pack::{self, Form, Plain};
use crate::kernels::tile::wide::{self, Sources, Wide};
use crate::kernels::tile::{Line, List, Product, Spec, Stride, Tail, TailArgs};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Notes};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The address of padding for a [`Rows`] that begins at address 0: no operand is so far from another.
pub const PADDING: usize = 1 << 63;

/// Columns of a group of panels of plain `B`, if L2 allows. Every group uses all rows of `A`, and reads a part of every line of `B`.
const GROUP_COLUMNS: usize = 80;

/// A K block: a part of the reduction. All its taps have the same depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Most taps that a tile has in it.
    pub taps: usize,
    /// Steps of every tap before it.
    pub first: usize,
    /// Whole steps of every tap.
    pub steps: usize,
    /// Elements of a partial last step, 0 if there is none.
    pub partial: u8,
    /// Its taps: those whose lines of `B` begin within these bytes of a panel; `None` for all taps.
    pub taken: Option<[usize; 2]>,
}

/// The layout of `B`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Right {
    /// In panels.
    Panels,
    /// Row-major or transposed: the nest packs a K block of a group of panels into scratch before its tiles use it.
    Packed,
    /// Any other layout: a function packs it in the same way. The nest does not know its memory, so it prefetches rows of `A`.
    Decoded,
    /// Row-major with few rows: microkernels read lines where they are.
    InPlace,
}

/// A product as the nest sees it.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Independent products of the same sizes: images, groups, batches.
    pub units: usize,
    /// Rows of each, in stretches: no tile has rows of two stretches.
    pub rows: Vec<usize>,
    /// Whether all rows of a unit have one stride, so that lists are short.
    pub even: bool,
    /// Columns of each.
    pub columns: usize,
    /// Columns of a panel.
    pub panel: usize,
    /// Bytes of a panel with all its taps.
    pub panel_bytes: usize,
    /// Bytes of all memory of `A` if rows begin at whole steps, else 0.
    pub memory: usize,
    /// The K blocks.
    pub parts: Vec<Part>,
    /// Bytes of `A` that all rows use together.
    pub source: usize,
    /// Bytes of a row of all units, in `A` and in the destination, if these are side by side, so that each unit has a part of the same
    /// cache lines; else 0.
    pub joint_row_bytes: usize,
    /// Types.
    pub product: Product,
    /// The layout of `B`.
    pub right: Right,
    /// The layout of `A`'s steps.
    pub a_step: Stride,
    /// Whether the initial sums are those of [`Rows::begin`]; else they are zero.
    pub begins: bool,
    /// Whether rows of constant stride may contain zeros that stand for padding.
    pub padded: bool,
    /// The epilogue in registers; without it [`Rows::store`] gets the sums.
    pub tail: Option<Arc<Tail>>,
}

/// The provider of `A` and of the destination: it says where rows are.
pub trait Rows: Sync {
    /// A place among the rows of a unit.
    type Cursor;

    /// The place of `row`.
    fn cursor(&self, unit: usize, row: usize) -> Self::Cursor;

    /// Lists a strip of tiles of the next rows, `most` at most, whose first sum is at byte `sums`: its taps over the whole reduction, and
    /// the addresses of the unit's first column in the destination. Continues behind these rows, and returns their number of tiles. The
    /// rows do not cross a stretch.
    fn strip(&self, cursor: &mut Self::Cursor, sums: usize, most: usize, list: &mut List<'_>) -> usize;

    /// The offsets of a unit of `A` and of the destination, for lists made by a provider that begins at 0.
    fn base(&self, unit: usize) -> [usize; 2];

    /// Writes the initial sums of a block; called only if the shape has such.
    fn begin(&self, _block: Block<'_>) {}

    /// Finishes and stores a block of raw sums; called only without a tail.
    fn store(&self, block: Block<'_>);
}

/// Raw sums of a block of rows and columns.
#[derive(Debug)]
pub struct Block<'s> {
    /// The unit.
    pub unit: usize,
    /// Its rows.
    pub rows: Range<usize>,
    /// Its columns.
    pub columns: Range<usize>,
    /// The sums, `f32` or the bits of 32-bit integers.
    pub sums: &'s mut [f32],
    /// As many elements of scratch.
    pub spare: &'s mut [f32],
    /// Stride of rows.
    pub step: usize,
}

/// Some panels, over a part of K.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Byte offset of the unit in `B`.
    pub at: usize,
    /// The part of K, in elements.
    pub depth: Range<usize>,
    /// The columns: whole panels, except for the last panel of a unit.
    pub columns: Range<usize>,
}

/// Packs panels into scratch.
pub(super) type Pack<'a> = dyn Fn(Packed, &mut [f32]) + Sync + 'a;

/// The source of packed panels.
#[derive(Clone, Copy)]
pub enum Packs<'a> {
    /// None: panels are used in place.
    Nothing,
    /// A plain matrix.
    Plain(Plain<'a>),
    /// A function packs them.
    By(&'a Pack<'a>),
}

impl Packs<'_> {
    /// Packs some panels.
    pub fn panels(&self, simd: Simd, panels: Packed, form: Form, to: &mut [f32]) {
        match self {
            Packs::Nothing => {}
            Packs::Plain(plain) => {
                let from = Plain { bytes: &plain.bytes[panels.at..], ..*plain };
                pack::panels(simd, &from, panels.depth, panels.columns, form, to);
            }
            Packs::By(pack) => pack(panels, to),
        }
    }
}

/// The memory of a product.
pub struct Operands<'a, W> {
    /// Instruction set of portable code.
    pub simd: Simd,
    /// The provider of rows.
    pub work: &'a W,
    /// Memory of `A`.
    pub a: Buf<'a>,
    /// Memory of rows that stand for padding.
    pub zeros: Buf<'a>,
    /// `A` and padding, widened, for the tasks that were left before.
    pub sources: Option<Sources<'a>>,
    /// Set to true if tasks were left, to be run again with `sources`; only if [`Nest::widens`](super::Nest::widens) says so.
    pub left: &'a AtomicBool,
    /// Memory of `B`.
    pub b: Buf<'a>,
    /// Notes about `B`, if it no longer changes: whether its elements have seven bits.
    pub notes: Option<&'a Notes>,
    /// The packing of panels.
    pub packs: Packs<'a>,
    /// Byte offset of a unit in `B`.
    pub b_unit: &'a (dyn Fn(usize) -> usize + Sync),
    /// Bytes from one panel to the next.
    pub b_panel: usize,
    /// Bytes from one line to the next, if that is not part of the kernels.
    pub b_row: usize,
    /// Bytes from one step of `A` to the next, if that is not part of the kernels.
    pub a_step: usize,
    /// Memory of the destination.
    pub c: Buf<'a>,
    /// Operands of the tail, with the column of a unit's first one as a function of the unit.
    pub tail: Option<(&'a TailArgs<'a>, &'a (dyn Fn(usize) -> usize + Sync))>,
}

impl Part {
    /// Steps of a tap, including a partial one.
    pub fn all_steps(&self) -> usize {
        self.steps + usize::from(self.partial > 0)
    }

    /// Whether a tap belongs to the K block; its lines of `B` are `b` bytes behind the first of a panel.
    #[inline]
    pub fn takes(&self, b: usize) -> bool {
        self.taken.is_none_or(|[first, end]| (first..end).contains(&b))
    }
}

impl Shape {
    /// The layout of `B`'s lines for microkernels.
    pub(super) fn line(&self, isa: Isa) -> Line {
        if self.right == Right::InPlace { Line::Strided } else { Line::Packed((self.panel / isa.width().lanes()) as u8) }
    }

    /// Whether panels are packed by the nest.
    pub(super) fn packs(&self) -> bool {
        matches!(self.right, Right::Packed | Right::Decoded)
    }

    /// How panels are packed.
    pub fn form(&self) -> Form {
        Form { size: 4 / self.product.depth(), together: self.product.together(), width: self.panel }
    }

    /// Bytes of a row of `A` before a K block.
    pub(super) fn a_from<W>(&self, part: &Part, on: &Operands<'_, W>) -> usize {
        part.first * if let Stride::Fixed(bytes) = self.a_step { bytes as usize } else { on.a_step }
    }

    /// Whether and how bytes are widened, for `tiles` tiles of up to `tall` rows.
    pub(super) fn wide(&self, isa: Isa, (tall, tiles): (usize, usize)) -> Option<Wide> {
        let spec = Spec { line: self.line(isa), a_step: self.a_step, ..Spec::new(self.product, tall, 1) };
        let parts: Vec<[usize; 2]> = self.parts.iter().map(|p| [p.taps, p.all_steps()]).collect();
        let source = if self.parts.iter().all(|p| p.partial == 0) { self.memory } else { 0 };
        Wide::new(&wide::About { isa, spec: &spec, tiles, panels: self.panels(), source, parts: &parts })
    }

    /// Bytes of the panels of a group in a K block, which stay in L2.
    pub(super) fn group_bytes(&self, budget: &Budget) -> usize {
        let columns = GROUP_COLUMNS.saturating_mul(self.most(&|p| p.taps * p.all_steps())).saturating_mul(4);
        if self.right == Right::Panels { budget.panels } else { columns.clamp(budget.plain, 2 * budget.plain) }
    }

    /// Panels of a unit.
    pub fn panels(&self) -> usize {
        self.columns.div_ceil(self.panel)
    }

    /// Panels that have all their columns.
    pub(super) fn whole(&self) -> usize {
        self.columns / self.panel
    }

    /// The maximum of something over all K blocks.
    pub fn most(&self, of: &dyn Fn(&Part) -> usize) -> usize {
        self.parts.iter().map(of).max().unwrap_or(0)
    }

    /// Most taps of a strip, over the whole reduction.
    pub(super) fn strip_taps(&self) -> usize {
        if self.is_by_taps() { self.parts.iter().map(|p| p.taps).sum() } else { self.most(&|p| p.taps) }
    }

    /// Whether K blocks are some taps each, not some depth of all taps.
    pub(super) fn is_by_taps(&self) -> bool {
        self.parts.iter().any(|p| p.taken.is_some())
    }

    /// Whether rows have one tap: the rows of a matrix, which do not overlap.
    pub(super) fn is_matrix(&self) -> bool {
        !self.is_by_taps() && self.parts.iter().all(|p| p.taps <= 1)
    }

    /// Whether sums are carried from K block to K block in scratch.
    pub fn carries(&self) -> bool {
        self.parts.len() > 1 || self.tail.is_none() || self.begins
    }
}
