//! Products of matrices in a worker's scratch, by generated tiles or in portable Rust: the products of attention.
//!
//! The left operand is in rows, plain or transposed; the right one is in panels as wide as a tile, with a line for every step of K. Whole
//! panels are computed, so rows of the result must have room for that. Operands are f32, or bf16 pairs if the processor multiplies these:
//! memory is counted in 4-byte words, an f32 or a pair.

use super::softmax::OnlineSoftmax;
use crate::decision::PORTABLE;
use crate::hardware::Core;
use crate::kernels::dot::{self, Rows, Tap, panel_width};
use crate::kernels::microkernel::layout::panel_columns;
use crate::kernels::microkernel::pack::PanelLayout;
use crate::kernels::microkernel::runs;
use crate::kernels::microkernel::{
    AddressList, DotType, InitialSums, MOST_ROWS, Microkernel, MicrokernelCall, MicrokernelKey, ONE_STRIP, Panels, Stride, TileStrip,
    max_tile_rows, max_vectors,
};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::online::Online;
use crate::target::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_spec::Error;

/// Most rows of a left operand.
pub(super) const MAX_ROWS: usize = 256;

/// What computes products.
#[derive(Clone, Copy, Debug)]
pub(super) enum Products {
    /// Generated tiles.
    Tiles(Tiling),
    /// The portable kernel.
    Portable(Isa),
}

/// The parameters of generated tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiling {
    isa: oxidnn_jit::Isa,
    /// Bytes of a panel that may stay in L1.
    l1_panel: usize,
    /// f32 or bf16.
    product: DotType,
}

/// Products with their kernels.
#[derive(Debug)]
pub(super) enum Ready {
    Tiles(Tiles),
    Portable,
}

/// Kinds of products in a plan: left operands with these numbers of rows, plain or transposed, times panels of this many columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) rows: [usize; 2],
    pub(super) transposed: bool,
    pub(super) width: usize,
}

/// Rows of a left operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left<'a> {
    /// The elements, in words.
    pub(super) numbers: &'a [f32],
    /// Stride of rows, or of steps of K if transposed, in words.
    pub(super) step: usize,
    /// Their number, at most [`MAX_ROWS`].
    pub(super) rows: usize,
    /// Whether row `i` at depth `k` is word `k * step + i`, and not `i * step + k`.
    pub(super) transposed: bool,
}

/// Panels of a right operand, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Right<'a> {
    /// The elements, in words.
    pub(super) panels: &'a [f32],
    /// Columns of a panel.
    pub(super) width: usize,
    /// Number of columns.
    pub(super) columns: usize,
    /// Words from a panel to the next.
    pub(super) panel: usize,
    /// Whether zeros of the left operand contribute nothing even where the right one is infinite or NaN: they are weights of masked-out
    /// keys.
    pub(super) skip_zeros: bool,
}

/// The result of a product.
#[derive(Debug)]
pub(super) struct Sums<'a> {
    /// The elements.
    pub(super) numbers: &'a mut [f32],
    /// Stride of rows: at least the columns of all panels.
    pub(super) step: usize,
    /// Whether the product is added to the old values.
    pub(super) add: bool,
}

impl Products {
    /// Multiply-adds of a core a cycle.
    pub(super) fn rate(&self) -> f64 {
        match self {
            Products::Tiles(tiling) => Core::host().rate(tiling.isa.width().lanes(), tiling.product.step_depth()),
            Products::Portable(isa) => Core::host().rate(isa.lanes(), 1) / PORTABLE,
        }
    }

    /// Products on generated tiles.
    pub(super) fn generated(isa: oxidnn_jit::Isa, l1_panel: usize) -> Products {
        Products::Tiles(Tiling { isa, l1_panel, product: DotType::F32 })
    }

    /// Products in portable Rust.
    pub(super) fn portable(isa: Isa) -> Products {
        Products::Portable(isa)
    }

    /// The same products in bf16, if the processor has them.
    pub(super) fn of_bf16(self) -> Option<Products> {
        match self {
            Products::Tiles(tiling) if DotType::Bf16.is_native(tiling.isa) => {
                Some(Products::Tiles(Tiling { product: DotType::Bf16, ..tiling }))
            }
            _ => None,
        }
    }

    fn product(&self) -> DotType {
        if let Products::Tiles(tiling) = self { tiling.product } else { DotType::F32 }
    }

    /// Words of a row of `depth` elements.
    pub(super) fn words(&self, depth: usize) -> usize {
        depth.div_ceil(self.product().step_depth())
    }

    /// The form of panels of `width` columns.
    pub(super) fn form(&self, width: usize) -> PanelLayout {
        let vnni = self.product().vnni();
        PanelLayout { size: 4 / vnni, vnni, width }
    }

    /// Columns of the panels of a right operand.
    pub(super) fn width(&self, columns: usize) -> usize {
        match self {
            Products::Tiles(tiling) => panel_columns(tiling.isa, columns),
            // A transposed left operand needs panels of two vectors.
            Products::Portable(isa) => panel_width(*isa, 2 * isa.lanes()),
        }
        .max(columns.min(1))
    }

    /// Bytes of the table of kernels.
    pub(super) fn table_bytes(&self) -> usize {
        match self {
            Products::Tiles(..) => KERNELS * size_of::<Option<Microkernel>>(),
            Products::Portable(_) => 0,
        }
    }

    /// Generates the kernels for these products.
    ///
    /// # Errors
    /// [`Error::Runtime`] if a kernel cannot be generated.
    pub(super) fn build(&self, kinds: &[Kind]) -> Result<Ready, Error> {
        match self {
            Products::Tiles(tiling) => Tiles::new(*tiling, kinds).map(Ready::Tiles),
            Products::Portable(_) => Ok(Ready::Portable),
        }
    }
}

impl Ready {
    /// Computes `left` times `right` over `depth` elements.
    ///
    /// # Panics
    /// When an operand is shorter than that.
    pub(super) fn run(&self, simd: Simd, left: &Left<'_>, right: &Right<'_>, depth: usize, sums: Sums<'_>) {
        match self {
            _ if right.skip_zeros => counted(self.product(), left, right, depth, sums),
            Ready::Tiles(tiles) => tiles.run(left, right, depth, sums),
            Ready::Portable => portable(simd, left, right, depth, sums),
        }
    }

    /// Whether all elements of the panels are finite, so that [`Right::skip_zeros`] makes no difference.
    pub(super) fn is_finite(&self, simd: Simd, words: &[f32]) -> bool {
        simd.run(Finite { words, product: self.product() })
    }

    /// The types of the operands.
    pub(super) fn product(&self) -> DotType {
        if let Ready::Tiles(tiles) = self { tiles.of.product } else { DotType::F32 }
    }

    /// Replaces the scores of a block by weights in the operands' type.
    ///
    /// # Panics
    /// When a row is shorter than it says.
    pub(super) fn step<F: Fn(usize) -> usize>(&self, simd: Simd, step: OnlineSoftmax<'_, F>) {
        match self {
            Ready::Tiles(tiles) => step.generated(&tiles.online, tiles.of.isa.width().lanes()),
            Ready::Portable => simd.run(step),
        }
    }
}

/// Element `i` of words.
fn number(product: DotType, words: &[f32], i: usize) -> f32 {
    match product {
        DotType::Bf16 => f32::from_bits(words[i / 2].to_bits() >> (i % 2 * 16) << 16),
        _ => words[i],
    }
}

/// A product in which zeros of the left operand contribute nothing.
fn counted(product: DotType, left: &Left<'_>, right: &Right<'_>, depth: usize, sums: Sums<'_>) {
    let Sums { numbers, step, add } = sums;
    let vnni = product.step_depth();
    let (row, next) = if left.transposed { (1, left.step) } else { (left.step * vnni, 1) };
    for (i, to) in numbers.chunks_mut(step).enumerate().take(left.rows) {
        if !add {
            to.fill(0.0);
        }
        for (k, weight) in (0..depth).map(|k| (k, number(product, left.numbers, i * row + k * next))).filter(|w| w.1 != 0.0) {
            for (panel, to) in right.panels.chunks(right.panel).zip(to.chunks_mut(right.width)) {
                let line = &panel[k / vnni * right.width..][..right.width];
                to.iter_mut().enumerate().for_each(|(j, to)| *to += weight * number(product, line, j * vnni + k % vnni));
            }
        }
    }
}

/// Tests whether all elements are finite.
struct Finite<'a> {
    words: &'a [f32],
    product: DotType,
}

impl Body for Finite<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) -> bool {
        if self.product == DotType::Bf16 {
            // Adding 1 to an exponent of all ones carries into the sign bit.
            let carry = |word: &f32| (word.to_bits() & 0x7f80_7f80).wrapping_add(0x0080_0080);
            return self.words.iter().fold(0, |all, word| all | carry(word)) & 0x8000_8000 == 0;
        }
        let (vectors, rest) = self.words.as_chunks::<W>();
        // Zero times infinity or NaN is NaN, and stays NaN in the sum.
        let mut sums = [0.0; W];
        for vector in vectors {
            sums = std::array::from_fn(|j| sums[j] + vector[j] * 0.0);
        }
        sums.iter().chain(rest).map(|x| x * 0.0).sum::<f32>() == 0.0
    }
}

/// Number of kernels: heights by vectors, by whether products are accumulated, by whether the left operand is transposed.
const KERNELS: usize = MOST_ROWS * 4 * 4;

/// Generated tiles.
#[derive(Debug)]
pub(super) struct Tiles {
    of: Tiling,
    kernels: Box<[Option<Microkernel>]>,
    online: Online,
}

/// Index of a kernel.
const fn index(height: usize, vectors: usize, add: bool, transposed: bool) -> usize {
    (((height - 1) * 4 + vectors - 1) * 2 + add as usize) * 2 + transposed as usize
}

impl Tiles {
    fn vectors(&self, width: usize) -> usize {
        (width / self.of.isa.width().lanes()).clamp(1, max_vectors(self.of.isa))
    }

    fn new(of: Tiling, kinds: &[Kind]) -> Result<Tiles, Error> {
        let Tiling { isa, product, .. } = of;
        let weights = if product == DotType::Bf16 { Elem::Bf16 } else { Elem::F32 };
        let mut tiles = Tiles { of, kernels: vec![None; KERNELS].into(), online: Online::get(isa, weights)? };
        for Kind { rows, transposed, width } in kinds {
            let vectors = tiles.vectors(*width);
            let tall = max_tile_rows(isa, product, vectors);
            let a_step = if *transposed { Stride::Across } else { Stride::Fixed(4) };
            for (_, height, _) in rows.iter().flat_map(|rows| runs(0..*rows, tall)) {
                for (add, start) in [(false, InitialSums::Zero), (true, InitialSums::Load)] {
                    let spec = MicrokernelKey { start, a_step, ..MicrokernelKey::new(product, height, vectors) };
                    tiles.kernels[index(height, vectors, add, *transposed)] = Some(Microkernel::get(isa, &spec)?);
                }
            }
        }
        Ok(tiles)
    }

    fn run(&self, left: &Left<'_>, right: &Right<'_>, depth: usize, sums: Sums<'_>) {
        let Sums { numbers, step, add } = sums;
        let Tiling { isa, l1_panel, product } = self.of;
        let (vectors, steps) = (self.vectors(right.width), depth.div_ceil(product.step_depth()));
        let (panel, count) = (right.panel * 4, right.columns.div_ceil(right.width));
        let mut words = [0; ONE_STRIP];
        // Bytes from one row of the left operand to the next, and from one step of K to the next.
        let (row, a_step) = if left.transposed { (4, left.step * 4) } else { (left.step * 4, 4) };
        let offsets: [usize; MOST_ROWS] = std::array::from_fn(|i| i * row);
        for (first, height, tiles) in runs(0..left.rows, max_tile_rows(isa, product, vectors)) {
            let tile = self.kernels[index(height, vectors, add, left.transposed)].as_ref();
            let tile = tile.unwrap_or_else(|| panic!("no tile of {height} rows by {vectors} vectors was made"));
            let mut list = if left.transposed { AddressList::across(&mut words, height) } else { AddressList::new(&mut words, height) };
            list.strip(TileStrip { tiles, sums: first * step * 4, a_row: row, c_row: 0, to: (0, &[0; MOST_ROWS]) });
            list.tap(0, left.numbers.as_ptr().addr() + first * row, &offsets);
            let panels = Panels { at: 0, step: panel, count, outer: panel <= l1_panel };
            let call = MicrokernelCall { a_step, ..MicrokernelCall::raw(list.strips(), steps, panels, (&mut *numbers, step)) };
            tile.run_on(call, Some(left.numbers), right.panels);
        }
    }
}

fn portable(simd: Simd, left: &Left<'_>, right: &Right<'_>, depth: usize, sums: Sums<'_>) {
    let Sums { numbers, step, add } = sums;
    let all = right.columns.next_multiple_of(right.width);
    if !add {
        numbers.chunks_mut(step).take(left.rows).for_each(|row| row[..all].fill(0.0));
    }
    let list: [usize; MAX_ROWS] = std::array::from_fn(|i| i * left.step);
    let rows = match left.transposed {
        true => Rows::Columns { count: left.rows, step: left.step },
        false => Rows::At(&list[..left.rows]),
    };
    let block = dot::Block {
        a: left.numbers,
        rows,
        b: right.panels,
        width: right.width,
        b_step: right.width,
        panel: right.panel,
        columns: right.columns,
        taps: &[Tap { a: 0, b: 0 }],
        depth,
    };
    dot::accumulate(simd, &block, numbers, step);
}
