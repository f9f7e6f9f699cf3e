//! A product as the macrokernel sees it: its sizes, its K blocks, and the providers of its operands.

use crate::hardware::Budget;
use crate::kernels::microkernel::pack::{self, PanelLayout, PlainMatrix};
use crate::kernels::microkernel::upconvert::{self, Upconvert, UpconvertedSources};
use crate::kernels::microkernel::{AddressList, DotType, Epilogue, EpilogueArgs, LineStride, MicrokernelKey, Stride};
use crate::kernels::multiversion::Simd;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Notes};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The address of padding for a [`RowProvider`] that begins at address 0: no operand is so far from another.
pub const PADDING: usize = 1 << 63;

/// Columns of a group of panels of plain `B`, if L2 allows. Every group uses all rows of `A`, and reads a part of every line of `B`.
const GROUP_COLUMNS: usize = 80;

/// A K block: a part of the reduction. All its taps have the same depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KBlock {
    /// Most taps that a tile has in it.
    pub taps: usize,
    /// Steps of every tap before it.
    pub first: usize,
    /// Whole steps of every tap.
    pub steps: usize,
    /// Elements of a partial last step, 0 if there is none.
    pub k_tail: u8,
    /// Its taps: those whose lines of `B` begin within these bytes of a panel; `None` for all taps.
    pub taken: Option<[usize; 2]>,
}

/// The layout of `B`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BLayout {
    /// In panels.
    Panels,
    /// Row-major or transposed: the macrokernel packs a K block of a group of panels into scratch before its tiles use it.
    Packed,
    /// Any other layout: a function packs it in the same way. The macrokernel does not know its memory, so it prefetches rows of `A`.
    Decoded,
    /// Row-major with few rows: microkernels read lines where they are.
    InPlace,
}

/// A product as the macrokernel sees it.
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
    pub k_blocks: Vec<KBlock>,
    /// Bytes of `A` that all rows use together.
    pub source: usize,
    /// Bytes of a row of all units, in `A` and in the destination, if these are side by side, so that each unit has a part of the same
    /// cache lines; else 0.
    pub joint_row_bytes: usize,
    /// Types.
    pub product: DotType,
    /// The layout of `B`.
    pub b_layout: BLayout,
    /// The layout of `A`'s steps.
    pub a_step: Stride,
    /// Whether the initial sums are those of [`RowProvider::begin`]; else they are zero.
    pub begins: bool,
    /// Whether rows of constant stride may contain zeros that stand for padding.
    pub padded: bool,
    /// The epilogue in registers; without it [`RowProvider::store`] gets the sums.
    pub epilogue: Option<Arc<Epilogue>>,
}

/// The provider of `A` and of the destination: it says where rows are.
pub trait RowProvider: Sync {
    /// A place among the rows of a unit.
    type Cursor;

    /// The place of `row`.
    fn cursor(&self, unit: usize, row: usize) -> Self::Cursor;

    /// Lists a strip of tiles of the next rows, `most` at most, whose first sum is at byte `sums`: its taps over the whole reduction, and
    /// the addresses of the unit's first column in the destination. Continues behind these rows, and returns their number of tiles. The
    /// rows do not cross a stretch.
    fn strip(&self, cursor: &mut Self::Cursor, sums: usize, most: usize, list: &mut AddressList<'_>) -> usize;

    /// The offsets of a unit of `A` and of the destination, for lists made by a provider that begins at 0.
    fn base(&self, unit: usize) -> [usize; 2];

    /// Writes the initial sums of a block; called only if the shape has such.
    fn begin(&self, _block: SumBlock<'_>) {}

    /// Finishes and stores a block of raw sums; called only without an epilogue.
    fn store(&self, block: SumBlock<'_>);
}

/// Raw sums of a block of rows and columns.
#[derive(Debug)]
pub struct SumBlock<'s> {
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
pub struct PanelBlock {
    /// Byte offset of the unit in `B`.
    pub at: usize,
    /// The part of K, in elements.
    pub depth: Range<usize>,
    /// The columns: whole panels, except for the last panel of a unit.
    pub columns: Range<usize>,
}

/// Packs panels into scratch.
pub(super) type PackFn<'a> = dyn Fn(PanelBlock, &mut [f32]) + Sync + 'a;

/// The source of packed panels.
#[derive(Clone, Copy)]
pub enum Packing<'a> {
    /// None: panels are used in place.
    Nothing,
    /// A plain matrix.
    Plain(PlainMatrix<'a>),
    /// A function packs them.
    By(&'a PackFn<'a>),
}

impl Packing<'_> {
    /// Packs some panels.
    pub fn panels(&self, simd: Simd, panels: PanelBlock, form: PanelLayout, to: &mut [f32]) {
        match self {
            Packing::Nothing => {}
            Packing::Plain(plain) => {
                let from = PlainMatrix { bytes: &plain.bytes[panels.at..], ..*plain };
                pack::panels(simd, &from, panels.depth, panels.columns, form, to);
            }
            Packing::By(pack) => pack(panels, to),
        }
    }
}

/// The memory of a product.
pub struct Operands<'a, W> {
    /// Instruction set of portable code.
    pub simd: Simd,
    /// The provider of rows.
    pub rows: &'a W,
    /// Memory of `A`.
    pub a: Buf<'a>,
    /// Memory of rows that stand for padding.
    pub zeros: Buf<'a>,
    /// `A` and padding, widened, for the tasks that were left before.
    pub sources: Option<UpconvertedSources<'a>>,
    /// Set to true if tasks were left, to be run again with `sources`; only if [`VectorMacrokernel::widens`](super::VectorMacrokernel::widens) says so.
    pub left: &'a AtomicBool,
    /// Memory of `B`.
    pub b: Buf<'a>,
    /// Notes about `B`, if it no longer changes: whether its elements have seven bits.
    pub notes: Option<&'a Notes>,
    /// The packing of panels.
    pub packs: Packing<'a>,
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
    /// Operands of the epilogue, with the column of a unit's first one as a function of the unit.
    pub epilogue: Option<(&'a EpilogueArgs<'a>, &'a (dyn Fn(usize) -> usize + Sync))>,
}

impl KBlock {
    /// Steps of a tap, including a partial one.
    pub fn all_steps(&self) -> usize {
        self.steps + usize::from(self.k_tail > 0)
    }

    /// Whether a tap belongs to the K block; its lines of `B` are `b` bytes behind the first of a panel.
    #[inline]
    pub fn takes(&self, b: usize) -> bool {
        self.taken.is_none_or(|[first, end]| (first..end).contains(&b))
    }
}

impl Shape {
    /// The layout of `B`'s lines for microkernels.
    pub(super) fn line(&self, isa: Isa) -> LineStride {
        if self.b_layout == BLayout::InPlace { LineStride::Strided } else { LineStride::Packed((self.panel / isa.width().lanes()) as u8) }
    }

    /// Whether panels are packed by the macrokernel.
    pub(super) fn packs(&self) -> bool {
        matches!(self.b_layout, BLayout::Packed | BLayout::Decoded)
    }

    /// How panels are packed.
    pub fn form(&self) -> PanelLayout {
        PanelLayout { size: 4 / self.product.step_depth(), vnni: self.product.vnni(), width: self.panel }
    }

    /// Bytes of a row of `A` before a K block.
    pub(super) fn a_from<W>(&self, part: &KBlock, on: &Operands<'_, W>) -> usize {
        part.first * if let Stride::Fixed(bytes) = self.a_step { bytes as usize } else { on.a_step }
    }

    /// Whether and how bytes are widened, for `tiles` tiles of up to `tall` rows.
    pub(super) fn wide(&self, isa: Isa, (tall, tiles): (usize, usize)) -> Option<Upconvert> {
        let spec = MicrokernelKey { line: self.line(isa), a_step: self.a_step, ..MicrokernelKey::new(self.product, tall, 1) };
        let parts: Vec<[usize; 2]> = self.k_blocks.iter().map(|p| [p.taps, p.all_steps()]).collect();
        let source = if self.k_blocks.iter().all(|p| p.k_tail == 0) { self.memory } else { 0 };
        Upconvert::new(&upconvert::UpconvertRequest { isa, spec: &spec, tiles, panels: self.panels(), source, parts: &parts })
    }

    /// Bytes of the panels of a group in a K block, which stay in L2.
    pub(super) fn group_bytes(&self, budget: &Budget) -> usize {
        let columns = GROUP_COLUMNS.saturating_mul(self.most(&|p| p.taps * p.all_steps())).saturating_mul(4);
        if self.b_layout == BLayout::Panels { budget.panels } else { columns.clamp(budget.plain, 2 * budget.plain) }
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
    pub fn most(&self, of: &dyn Fn(&KBlock) -> usize) -> usize {
        self.k_blocks.iter().map(of).max().unwrap_or(0)
    }

    /// Most taps of a strip, over the whole reduction.
    pub(super) fn strip_taps(&self) -> usize {
        if self.is_by_taps() { self.k_blocks.iter().map(|p| p.taps).sum() } else { self.most(&|p| p.taps) }
    }

    /// Whether K blocks are some taps each, not some depth of all taps.
    pub(super) fn is_by_taps(&self) -> bool {
        self.k_blocks.iter().any(|p| p.taken.is_some())
    }

    /// Whether rows have one tap: the rows of a matrix, which do not overlap.
    pub(super) fn is_matrix(&self) -> bool {
        !self.is_by_taps() && self.k_blocks.iter().all(|p| p.taps <= 1)
    }

    /// Whether sums are carried from K block to K block in scratch.
    pub fn carries(&self) -> bool {
        self.k_blocks.len() > 1 || self.epilogue.is_none() || self.begins
    }
}
