//! Products of plain matrices, in batches: the provider of rows at constant strides for the macrokernel, on vectors and on AMX.
//!
//! `B` is in panels, row-major or transposed. The macrokernel packs it K block by K block for each group of panels. For AMX, which passes over
//! panels several times as fast, all panels are packed ahead, once for all workers, unless each is used by one task alone.

use super::amx::{self, HalfTile, HalfTileProvider, Macrokernel, ReadyMacrokernel, Run};
use super::macrokernel::{self, BLayout, KBlock, Packing, PanelBlock, RowProvider, Shape, SumBlock};
use super::microkernel::{AddressList, DotType, Epilogue, EpilogueArgs, MOST_ROWS, Stride, TileStrip};
use super::multiversion::Simd;
use super::scratch::Part as Scratch;
use crate::CpuTarget;
use crate::decision::How;
use crate::hardware::K_STEPS;
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::tiles::LINES;
use oxidnn_runtime::{Buf, Executor, Notes, Skip};
use oxidnn_spec::Error;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The parameters that kernels depend on.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Instruction set.
    pub isa: Isa,
    /// Types.
    pub product: DotType,
    /// The layout of `B`.
    pub right: BLayout,
    /// The layout of the steps of `A`.
    pub a_step: Stride,
    /// Whether sums start with what [`Operands::begin`] writes; else with zero. On vectors only.
    pub begins: bool,
    /// The epilogue in registers; without it raw sums are handed on.
    pub epilogue: Option<Arc<Epilogue>>,
}

/// Sizes of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Independent products.
    pub batch: usize,
    /// Rows of `A`.
    pub rows: usize,
    /// Columns of `B`.
    pub columns: usize,
    /// Columns of a panel.
    pub width: usize,
    /// The size of K.
    pub depth: usize,
}

/// A planned product.
#[derive(Clone, Debug)]
pub struct Gemm {
    loops: Macrokernel,
    right: BLayout,
    sizes: Sizes,
    workers: usize,
}

/// K blocks are multiples of this many steps: whole words of 4-bit weights.
const K_BLOCK_MULTIPLE: usize = 8;
/// Most steps of a reduction, since a plan lists its K blocks and should take little memory.
pub const MOST_STEPS: usize = 1 << 24;
/// The reason why rows decline longer ones.
pub const TOO_MANY_STEPS: Skip = Skip::Shape("reductions of more steps than a plan keeps K blocks of");

/// A product with its kernels.
#[derive(Debug)]
pub struct Ready {
    gemm: Gemm,
    loops: ReadyMacrokernel,
    /// Elements of all panels that are packed ahead.
    packed: usize,
}

/// Memory of a product; strides in bytes.
pub struct Operands<'a> {
    /// Memory of `A`.
    pub a: Buf<'a>,
    /// From a row of `A` to the next.
    pub a_row: usize,
    /// From an element of a row of `A` to the next.
    pub a_depth: usize,
    /// Memory of `B`.
    pub b: Buf<'a>,
    /// Notes about `B`, if it no longer changes.
    pub notes: Option<&'a Notes>,
    /// The packing of its panels, if it is to be packed.
    pub packs: Packing<'a>,
    /// From a row of `B` to the next; used only if it is read in place.
    pub b_row: usize,
    /// From a panel of `B` to the next.
    pub b_column: usize,
    /// Memory of the destination.
    pub c: Buf<'a>,
    /// From a row of the destination to the next.
    pub c_row: usize,
    /// Byte offsets of a product of the batch in `A`, `B` and the destination.
    pub starts: &'a (dyn Fn(usize) -> [usize; 3] + Sync),
    /// Operands of the epilogue.
    pub epilogue: Option<&'a EpilogueArgs<'a>>,
    /// The column of these at which a product of the batch begins.
    pub epilogue_column: &'a (dyn Fn(usize) -> usize + Sync),
    /// Writes the initial sums of a block, if they are not zero.
    pub begin: &'a (dyn Fn(SumBlock<'_>) + Sync),
    /// Takes raw sums if there is no epilogue in registers.
    pub store: &'a (dyn Fn(SumBlock<'_>) + Sync),
}

impl Operands<'_> {
    /// No memory; sums start with zero, and raw sums are dropped.
    pub const NONE: Self = Operands {
        a: Buf::empty(),
        a_row: 0,
        a_depth: 0,
        b: Buf::empty(),
        notes: None,
        packs: Packing::Nothing,
        b_row: 0,
        b_column: 0,
        c: Buf::empty(),
        c_row: 0,
        starts: &|_| [0; 3],
        epilogue: None,
        epilogue_column: &|_| 0,
        begin: &|_| {},
        store: &|_| {},
    };
}

impl Sizes {
    /// K cut into equal blocks of at most `most` steps, a multiple of `unit`.
    fn parts(&self, product: DotType, most: usize, unit: usize) -> Vec<KBlock> {
        let (each, steps) = (product.step_depth(), self.depth.div_ceil(product.step_depth()).max(1));
        let per = steps.div_ceil(steps.div_ceil(most)).next_multiple_of(unit);
        let part = |first: usize| {
            let depth = self.depth.min((first + per) * each) - first * each;
            KBlock { taps: 1, first, steps: depth / each, k_tail: (depth % each) as u8, taken: None }
        };
        (0..steps).step_by(per).map(part).collect()
    }
}

impl Gemm {
    /// The product on a processor: on AMX if instruction set and types allow it.
    ///
    /// # Errors
    /// For reductions of more than 2^24 steps.
    pub fn new(kind: Kind, sizes: Sizes, target: &CpuTarget) -> Result<Gemm, Skip> {
        Gemm::in_blocks(kind, sizes, K_STEPS.matrix, target)
    }

    /// The same with K blocks of at most `most` steps on vectors.
    ///
    /// # Errors
    /// As for [`Gemm::new`].
    pub fn in_blocks(kind: Kind, sizes: Sizes, most: usize, target: &CpuTarget) -> Result<Gemm, Skip> {
        let (isa, right, steps) = (kind.isa, kind.right, sizes.depth.div_ceil(kind.product.step_depth()));
        if steps > MOST_STEPS {
            return Err(TOO_MANY_STEPS);
        }
        let on_amx = isa.amx && amx::check(kind.product).is_ok();
        let parts = if on_amx { sizes.parts(kind.product, K_STEPS.amx, LINES) } else { sizes.parts(kind.product, most, K_BLOCK_MULTIPLE) };
        let shape = Shape {
            units: sizes.batch,
            rows: vec![sizes.rows],
            even: true,
            columns: sizes.columns,
            panel: sizes.width,
            panel_bytes: steps * 4 * sizes.width,
            memory: 0,
            k_blocks: parts,
            // Rows that are read by columns are in too many pieces for prefetch.
            source: if kind.a_step == Stride::Given { 0 } else { sizes.batch * sizes.rows * steps * 4 },
            product: kind.product,
            b_layout: right,
            a_step: kind.a_step,
            joint_row_bytes: 0,
            begins: kind.begins,
            padded: false,
            epilogue: kind.epilogue,
        };
        Ok(Gemm { loops: Macrokernel::new(isa, shape, &[sizes.rows], target), right, sizes, workers: target.threads })
    }

    /// Its sizes.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The types.
    pub fn product(&self) -> DotType {
        self.loops.shape().product
    }

    /// Whether it runs on AMX.
    pub fn is_on_amx(&self) -> bool {
        matches!(self.loops, Macrokernel::Amx(_))
    }

    /// How `B` is read.
    pub fn right(&self) -> BLayout {
        self.right
    }

    /// Blocks and the caches they stay in, and the predicted speed.
    pub fn how(&self) -> How {
        let algorithm = match (&self.loops, self.right) {
            (Macrokernel::Amx(_), _) => "product of matrices, on tiles of AMX",
            (_, BLayout::Panels) => "product of matrices, on vectors, panels packed ahead",
            (_, BLayout::Packed) => "product of matrices, on vectors, panels packed K block by K block",
            (_, BLayout::Decoded) => "product of matrices, on vectors, panels unpacked K block by K block",
            (_, BLayout::InPlace) => "product of matrices, on vectors, the right operand read in place",
        };
        let how = self.loops.how();
        How { algorithm: algorithm.into(), copies: self.panels_len().unwrap_or(0) * 4, cores: how.cores.min(self.workers), ..how }
    }

    /// Elements of scratch of all workers; `None` on overflow, or if AMX would need too much.
    pub fn scratch_len(&self) -> Option<usize> {
        self.panels_len()?.checked_add(self.loops.scratch_len(self.workers)?)
    }

    /// Elements of all panels that are packed ahead; `None` on overflow.
    fn panels_len(&self) -> Option<usize> {
        let shape = self.loops.shape();
        let packed = matches!(&self.loops, Macrokernel::Amx(macrokernel) if !macrokernel.packs()) && self.right != BLayout::Panels;
        let panels = if packed { self.sizes.batch.checked_mul(shape.panels())? } else { 0 };
        panels.checked_mul(shape.panel_bytes / 4)?.checked_next_multiple_of(16)
    }

    /// Generates the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] if a kernel cannot be generated.
    pub fn build(&self) -> Result<Ready, Error> {
        let packed = self.panels_len().unwrap_or(0);
        Ok(Ready { gemm: self.clone(), loops: self.loops.build(None::<&Strided<'_, '_>>)?, packed })
    }
}

impl Ready {
    /// Computes everything, with scratch of [`Gemm::scratch_len`] elements.
    pub fn run(&self, simd: Simd, executor: &dyn Executor, scratch: &mut Scratch<'_>, on: &Operands<'_>) {
        let Ready { gemm, loops, packed: before } = self;
        let (shape, before) = (gemm.loops.shape(), *before);
        let [mut packed, mut shares] = scratch.split(before);
        let (count, panel) = (shape.panels(), shape.panel_bytes);
        let in_place = |unit: usize| (on.starts)(unit)[1];
        let behind = |unit: usize| unit * count * panel;
        let (b, b_unit, b_panel): (Buf, &(dyn Fn(usize) -> usize + Sync), usize) = if before > 0 {
            let make = |i: usize, to: &mut [f32]| {
                if i >= count * gemm.sizes.batch {
                    return;
                }
                let first = i % count * shape.panel;
                let columns = first..shape.columns.min(first + shape.panel);
                on.packs.panels(simd, PanelBlock { at: in_place(i / count), depth: 0..gemm.sizes.depth, columns }, shape.form(), to);
            };
            (packed.refill(executor, (panel / 4).max(1), &make), &behind, panel)
        } else {
            (on.b, &in_place, on.b_column)
        };
        let operands = macrokernel::Operands {
            simd,
            rows: &Strided { on },
            a: on.a,
            zeros: Buf::empty(),
            sources: None,
            left: &AtomicBool::new(false),
            b,
            notes: on.notes,
            packs: on.packs,
            b_unit,
            b_panel,
            b_row: on.b_row,
            a_step: on.a_depth * shape.product.step_depth(),
            c: on.c,
            epilogue: on.epilogue.map(|epilogue| (epilogue, on.epilogue_column)),
        };
        shares.work(executor, gemm.workers, gemm.loops.tasks(), &|task, share| loops.task(task, share, &operands));
    }
}

/// Rows at a constant stride.
struct Strided<'r, 'a> {
    on: &'r Operands<'a>,
}

impl Strided<'_, '_> {
    /// The first rows of `A` and of the destination.
    fn at(&self, unit: usize, row: usize) -> [usize; 2] {
        let [a, _, c] = (self.on.starts)(unit);
        [self.on.a.as_ptr().addr() + a + row * self.on.a_row, self.on.c.as_ptr().addr() + c + row * self.on.c_row]
    }
}

impl RowProvider for Strided<'_, '_> {
    /// The next rows of `A` and of the destination.
    type Cursor = [usize; 2];

    fn cursor(&self, unit: usize, row: usize) -> [usize; 2] {
        self.at(unit, row)
    }

    #[inline]
    fn strip(&self, [a, c]: &mut [usize; 2], sums: usize, most: usize, list: &mut AddressList<'_>) -> usize {
        let (a_row, c_row) = (self.on.a_row, self.on.c_row);
        let offsets = |row: usize| -> [usize; MOST_ROWS] { std::array::from_fn(|i| i * row) };
        list.strip(TileStrip { tiles: most, sums, a_row, c_row, to: (*c, &offsets(c_row)) });
        list.tap(0, *a, &offsets(a_row));
        let rows = most * list.rows();
        (*a, *c) = (*a + rows * a_row, *c + rows * c_row);
        most
    }

    fn base(&self, unit: usize) -> [usize; 2] {
        self.at(unit, 0)
    }

    fn begin(&self, block: SumBlock<'_>) {
        (self.on.begin)(block);
    }

    fn store(&self, block: SumBlock<'_>) {
        (self.on.store)(block);
    }
}

impl HalfTileProvider for Strided<'_, '_> {
    type Cursor = [usize; 2];

    fn cursor(&self, unit: usize, row: usize) -> [usize; 2] {
        self.at(unit, row)
    }

    fn lines(&self, cursor: &mut [usize; 2], half: &mut HalfTile<'_>) {
        let [a, c] = *cursor;
        *half.to = std::array::from_fn(|i| c + i * self.on.c_row);
        half.line(0, a, self.on.a_row);
        self.skip(cursor, half.rows);
    }

    fn run(&self, _: &[usize; 2], rows: usize) -> Run {
        Run { tiles: usize::MAX, bytes: [rows * self.on.a_row, rows * self.on.c_row], ..Run::ONE }
    }

    fn skip(&self, [a, c]: &mut [usize; 2], rows: usize) {
        (*a, *c) = (*a + rows * self.on.a_row, *c + rows * self.on.c_row);
    }

    fn inside(&self, [a, _]: &mut [usize; 2], tap: &mut dyn FnMut(usize, usize, Range<usize>)) {
        tap(0, *a, 0..usize::MAX);
    }

    fn begin(&self, block: SumBlock<'_>) {
        (self.on.begin)(block);
    }

    fn store(&self, block: SumBlock<'_>) {
        (self.on.store)(block);
    }
}
