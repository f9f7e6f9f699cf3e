//! A product of plain matrices on tiles of AMX: rows of `A` in place, `B` in panels, which are made before where it does not lie so.

use super::gemm::{self, Gemm, Kind, Operands, Right, Sizes};
use crate::CpuTarget;
use crate::hardware::K_STEPS;
use crate::kernels::amx::{self, Half, Lines};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Part as Scratch;
use crate::kernels::tile::drive::{self, Part, Shape};
use crate::kernels::tile::pack::{self, Form, Plain};
use crate::kernels::tile::{Line, Product};
use oxidnn_jit::kernels::tiles::{self, LINES};
use oxidnn_runtime::{Buf, Executor};
use oxidnn_spec::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A product either on vectors or on tiles of AMX.
#[derive(Debug)]
pub(super) enum Loops {
    Vectors(Box<Gemm>),
    Tiles(Box<Blocks>),
}

/// The same with its kernels.
#[derive(Debug)]
pub(super) enum ReadyLoops {
    Vectors(Box<gemm::Ready>),
    Tiles(Box<Blocks>, Box<amx::Ready>),
}

/// A product on tiles of AMX.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    drive: Arc<amx::Drive>,
    right: Right,
    form: Form,
    sizes: Sizes,
    workers: usize,
}

impl Loops {
    /// Tiles where instructions and types allow them.
    pub(super) fn new(kind: Kind, sizes: Sizes, target: &CpuTarget) -> Loops {
        match tiles::product(kind.product).filter(|_| kind.isa.amx) {
            None => Loops::Vectors(Box::new(Gemm::new(kind, sizes, target))),
            Some(product) => {
                let form = Form { size: 4 / kind.product.depth(), together: kind.product.together(), width: sizes.width };
                let right = kind.right;
                let drive = Arc::new(amx::Drive::new((kind.isa, product), shape(kind, sizes), &[sizes.rows], target));
                Loops::Tiles(Box::new(Blocks { drive, right, form, sizes, workers: target.threads }))
            }
        }
    }

    /// How `B` is read.
    pub(super) fn right(&self) -> Right {
        match self {
            Loops::Vectors(gemm) => gemm.right(),
            Loops::Tiles(blocks) => blocks.right,
        }
    }

    /// Numbers of scratch of all workers, and of panels that all of them read; `None` on overflow, or where tiles would need too much.
    pub(super) fn scratch_lens(&self) -> Option<[usize; 2]> {
        match self {
            Loops::Vectors(gemm) => Some([gemm.scratch_len()?, 0]),
            Loops::Tiles(blocks) => Some([blocks.drive.scratch_len(blocks.workers)?, blocks.panels_len()?]),
        }
    }

    /// Makes the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] where a kernel cannot be made.
    pub(super) fn build(&self) -> Result<ReadyLoops, Error> {
        Ok(match self {
            Loops::Vectors(gemm) => ReadyLoops::Vectors(Box::new(gemm.build()?)),
            Loops::Tiles(blocks) => ReadyLoops::Tiles(blocks.clone(), Box::new(blocks.drive.build()?)),
        })
    }
}

impl ReadyLoops {
    /// Computes everything, with scratch of [`Loops::scratch_lens`] numbers.
    pub(super) fn run(&self, simd: Simd, executor: &dyn Executor, scratch: [&mut Scratch<'_>; 2], on: &Operands<'_>) {
        let [work, panels] = scratch;
        match self {
            ReadyLoops::Vectors(ready) => ready.run(simd, executor, work, on),
            ReadyLoops::Tiles(blocks, ready) => blocks.run((ready, simd), executor, [work, panels], on),
        }
    }
}

/// The product as the loops see it.
fn shape(kind: Kind, sizes: Sizes) -> Shape {
    let each = kind.product.depth();
    Shape {
        units: sizes.batch,
        rows: vec![sizes.rows],
        columns: sizes.columns,
        panel: sizes.width,
        panel_bytes: sizes.depth.div_ceil(each) * 4 * sizes.width,
        memory: 0,
        parts: parts(sizes, kind.product),
        source: sizes.batch * sizes.rows * sizes.depth.div_ceil(each) * 4,
        product: kind.product,
        line: Line::Packed((sizes.width / LINES) as u8),
        a_step: kind.a_step,
        tail: kind.tail,
    }
}

/// The depth in equal parts of whole blocks.
fn parts(sizes: Sizes, product: Product) -> Vec<Part> {
    let (each, steps) = (product.depth(), sizes.depth.div_ceil(product.depth()).max(1));
    let per = steps.div_ceil(steps.div_ceil(K_STEPS.amx)).next_multiple_of(LINES);
    let part = |first: usize| {
        let depth = sizes.depth.min((first + per) * each) - first * each;
        Part { taps: 1, steps: depth / each, partial: (depth % each) as u8, before: [first * 4, first * 4 * sizes.width], taken: None }
    };
    (0..steps).step_by(per).map(part).collect()
}

impl Blocks {
    /// Numbers of a panel.
    fn panel_len(&self) -> usize {
        self.form.panel(self.sizes.depth) / 4
    }

    fn panels(&self) -> usize {
        self.sizes.columns.div_ceil(self.sizes.width)
    }

    /// Numbers of all panels that are made.
    fn panels_len(&self) -> Option<usize> {
        let made = if self.right == Right::Panels { 0 } else { self.sizes.batch };
        made.checked_mul(self.panels())?.checked_mul(self.panel_len())
    }

    fn run(&self, (ready, simd): (&amx::Ready, Simd), executor: &dyn Executor, [work, made]: [&mut Scratch<'_>; 2], on: &Operands<'_>) {
        let (count, panel) = (self.panels(), self.panel_len());
        let rows = Rows { on };
        let in_place = |unit: usize| (on.starts)(unit)[1];
        let behind = |unit: usize| unit * count * panel * 4;
        let place: (Buf, &(dyn Fn(usize) -> usize + Sync), usize) = if self.right == Right::Panels {
            (on.b, &in_place, on.b_column)
        } else {
            let make = |i: usize, to: &mut [f32]| {
                let from = Plain { bytes: &on.b_bytes[(on.starts)(i / count)[1]..], depth: on.b_row, column: on.b_column };
                let first = i % count * self.sizes.width;
                let columns = first..self.sizes.columns.min(first + self.sizes.width);
                pack::panels(simd, &from, 0..self.sizes.depth, columns, self.form, to);
            };
            (made.refill(executor, panel.max(1), &make), &behind, panel * 4)
        };
        let operands = drive::Operands {
            simd,
            work: &rows,
            a: on.a,
            zeros: Buf::empty(),
            sources: None,
            left: &AtomicBool::new(false),
            b: place.0,
            b_unit: place.1,
            b_panel: place.2,
            b_row: 0,
            a_step: 0,
            c: on.c,
            tail: on.tail.map(|tail| (tail, on.tail_column)),
        };
        ready.run(executor, self.workers, work, &operands);
    }
}

/// The rows of a product, one distance apart.
struct Rows<'r, 'a> {
    on: &'r Operands<'a>,
}

impl Lines for Rows<'_, '_> {
    /// Where the next row of `A` and of the destination begin.
    type Walk = [usize; 2];

    fn walk(&self, unit: usize, row: usize) -> [usize; 2] {
        let [a, _, c] = (self.on.starts)(unit);
        [self.on.a.as_ptr().addr() + a + row * self.on.a_row, self.on.c.as_ptr().addr() + c + row * self.on.c_row]
    }

    fn lines(&self, [a, c]: &mut [usize; 2], half: &mut Half<'_>) {
        half.to = std::array::from_fn(|i| *c + i * self.on.c_row);
        half.line(0, *a, self.on.a_row);
        *a += half.rows * self.on.a_row;
        *c += half.rows * self.on.c_row;
    }

    fn store(&self, block: drive::Block<'_>) {
        let drive::Block { unit, rows, columns, sums, spare, step } = block;
        (self.on.store)(gemm::Block { batch: unit, rows, columns, sums, spare, step });
    }
}
