//! The products of a step: the rows of a slice of the batch times a few panels, in tiles, with sums left in the worker's scratch.
//!
//! Weights come from L2, at most 64 bytes a cycle. So each panel is read once for all rows; if the rows need it, half a panel at a time,
//! since narrower tiles have more rows. On AMX rows come 32 at a time.

use super::partition::Partition;
use crate::kernels::amx::{self, Accumulate, Addend, Repeat};
use crate::kernels::gemv::{PanelRun, Row};
use crate::kernels::microkernel::{
    AddressList, DotType, LineStride, MOST_ROWS, Microkernel, MicrokernelCall, MicrokernelKey, ONE_STRIP, Panels, Prefetch, PrefetchMode,
    TileStrip, max_rows,
};
use crate::kernels::microkernel::{PREFETCH_BYTES, runs, upconvert};
use crate::kernels::multiversion::Simd;
use oxidnn_jit::Isa;
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;

/// Vectors of a panel that may be split into halves, for tiles with more rows.
const SPLIT_PANEL_VECTORS: usize = 4;

/// Sums that need not wait for each other, and most sets of them.
const MIN_SUMS: usize = 8;
const SETS: usize = 4;

/// Rows of a matrix in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    /// The memory.
    pub(super) buf: Buf<'a>,
    /// Byte offset of the first row.
    pub(super) start: usize,
    /// Bytes from a row to the next.
    pub(super) row: usize,
}

/// Panels of the right operand at two strides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    /// The memory.
    pub(super) buf: Buf<'a>,
    /// Byte offset of the first panel.
    pub(super) at: usize,
    /// Bytes of a panel.
    pub(super) bytes: usize,
    /// Bytes from a panel to the next.
    pub(super) step: usize,
    /// Their number.
    pub(super) count: usize,
    /// The number of such runs of panels, and bytes from one to the next.
    pub(super) outer: (usize, usize),
    /// Whether their elements are known to fit into seven bits, see [`Group::fits`].
    pub(super) seven_bits: bool,
}

impl Group<'_> {
    /// The number of panels.
    pub(super) const fn panels(&self) -> usize {
        self.count * self.outer.0
    }

    /// Whether the panels' elements have seven bits.
    pub(super) fn fits(&self, simd: Simd) -> bool {
        let at = |i: usize| self.at + i / self.count * self.outer.1 + i % self.count * self.step;
        (0..self.panels()).all(|i| upconvert::fits(simd, self.buf.part(at(i), self.bytes)))
    }
}

/// Whether panels that `rows` rows meet are inspected for their bits.
pub(super) fn inspects(isa: Isa, product: DotType, rows: usize) -> bool {
    upconvert::asks_for_seven_bits(isa, product, LineStride::Packed(1), rows)
}

/// A run of a reduction: byte offset of its lines of `B` from the first of the panel, and of its elements of `A` from the first of the row.
pub(super) type Run = [usize; 2];

/// Most runs of a reduction.
pub(super) const RUNS: usize = 4;

/// Products whose reduction is some runs of equal depth.
#[derive(Clone, Debug)]
pub(super) struct Skinny {
    isa: Isa,
    product: DotType,
    width: usize,
    depth: usize,
    /// Vectors of a tile: those of a panel, or half of them if that lets more rows share a pass over the panel.
    vectors: usize,
    /// The numbers of rows that tiles have.
    heights: [bool; MOST_ROWS],
    tall: usize,
    /// Sets of sums, by the samples of all slices.
    sets: usize,
    /// Rows that meet the panels in an execution.
    uses: usize,
    on_amx: bool,
    /// What kernels prefetch.
    prefetch: PrefetchMode,
}

/// The products with their kernels, by rows.
#[derive(Debug)]
pub(super) struct Ready {
    skinny: Skinny,
    tiles: Vec<Option<Microkernel>>,
    /// The AMX kernel, in place of the others.
    on_amx: Option<Box<Accumulate>>,
    /// The kernels for a single row of f32, which read several panels at a time.
    row: Option<Row>,
    /// Kernels for weights of seven bits, if these are multiplied in another way.
    seven_bits: Vec<Option<Microkernel>>,
}

impl Skinny {
    /// Products of `depth` by panels of `width` columns, for slices of the rows of some steps.
    pub(super) fn new(isa: Isa, product: DotType, [depth, width]: [usize; 2], (partition, steps): (&Partition, usize)) -> Skinny {
        let whole = width / isa.width().lanes();
        let on_amx = isa.amx && amx::check(product).is_ok();
        let halved = !on_amx && whole == SPLIT_PANEL_VECTORS && partition.tallest() > max_rows(isa, whole);
        let vectors = if halved { whole / 2 } else { whole };
        let tall = max_rows(isa, vectors);
        let mut heights = [false; MOST_ROWS];
        partition.heights().into_iter().flat_map(|rows| runs(0..rows, tall)).for_each(|(_, rows, _)| heights[rows - 1] = true);
        let sets = (MIN_SUMS / (partition.batch * vectors).max(1)).clamp(1, SETS);
        // The hardware prefetcher follows vectors through what several steps read.
        let ahead = if partition.far && on_amx { PrefetchMode::Panels } else { PrefetchMode::given_if(partition.far && steps == 1) };
        Skinny {
            isa,
            product,
            width,
            depth,
            vectors,
            heights,
            tall,
            sets,
            uses: partition.batch.saturating_mul(steps),
            on_amx,
            prefetch: ahead,
        }
    }

    /// Products of one row.
    pub(super) fn row(isa: Isa, product: DotType, size: [usize; 2]) -> Skinny {
        let isa = isa.without_amx();
        Skinny::new(isa, product, size, (&Partition::ROW, 1))
    }

    /// Columns of a panel that a tile takes.
    pub(super) fn columns(&self) -> usize {
        self.vectors * self.isa.width().lanes()
    }

    /// Whether a tile takes a whole panel, so that the sums of consecutive panels are contiguous.
    pub(super) fn is_whole(&self) -> bool {
        self.columns() == self.width
    }

    /// Generates the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] if a kernel cannot be generated.
    pub(super) fn build(&self) -> Result<Ready, Error> {
        if self.on_amx {
            let kernels = Accumulate::get(self.isa, self.product, (self.vectors, [self.vectors; 2]), self.prefetch)?;
            return Ok(Ready {
                skinny: self.clone(),
                tiles: Vec::new(),
                on_amx: Some(Box::new(kernels)),
                row: None,
                seven_bits: Vec::new(),
            });
        }
        let line = LineStride::Packed((self.width / self.isa.width().lanes()) as u8);
        let spec = |rows: usize| {
            let partial = (self.depth % self.product.step_depth()) as u8;
            MicrokernelKey {
                k_tail: partial,
                line,
                sets: self.sets as u8,
                prefetch: self.prefetch,
                ..MicrokernelKey::new(self.product, rows, self.vectors)
            }
        };
        let tiles = |made_of: fn(MicrokernelKey) -> MicrokernelKey| -> Result<Vec<_>, Error> {
            (0..MOST_ROWS).map(|i| self.heights[i].then(|| Microkernel::get(self.isa, &made_of(spec(i + 1)))).transpose()).collect()
        };
        let seven_bits = if inspects(self.isa, self.product, self.uses) { tiles(upconvert::seven_bits)? } else { Vec::new() };
        let row = self.product == DotType::F32 && self.is_whole() && self.heights[0];
        let row = row.then(|| Row::get(self.isa, self.width)).transpose()?;
        Ok(Ready { skinny: self.clone(), tiles: tiles(|spec| spec)?, on_amx: None, row, seven_bits })
    }
}

impl Ready {
    /// Whether there are kernels for weights of seven bits.
    pub(super) fn inspects(&self) -> bool {
        !self.seven_bits.is_empty()
    }

    /// As [`Skinny::columns`].
    pub(super) fn columns(&self) -> usize {
        self.skinny.columns()
    }

    /// Writes the products of some rows of `a` and panels to `sums`, with rows `step` apart: the first [`Skinny::columns`] of every panel,
    /// one panel after the other, then the next columns.
    pub(super) fn run(&self, (a, rows): (&Rows, Range<usize>), taps: &[Run], b: &Group, (sums, step): (&mut [f32], usize)) {
        let Skinny { product, width, depth, tall, .. } = self.skinny;
        let from = |row: usize| a.buf.as_ptr().addr() + a.start + row * a.row;
        if let Some(kernels) = &self.on_amx {
            let mut parts = [[0; 2]; RUNS];
            parts.iter_mut().zip(taps).for_each(|(part, [b, at])| *part = [*b, from(rows.start) + at]);
            for i in 0..b.outer.0 {
                let addend = Addend {
                    parts: &parts[..taps.len()],
                    steps: depth.div_ceil(product.step_depth()),
                    a: (a.buf, a.row),
                    b: (b.buf, b.at + i * b.outer.1, b.step),
                    rows: rows.len(),
                    panels: b.count,
                    repeat: Repeat::ONCE,
                    vectors: self.skinny.vectors,
                    fresh: true,
                };
                let sums = (&mut sums[i * b.count * width..], step);
                kernels.add(&mut kernels.hold(), &addend, &mut [0; Accumulate::words(RUNS)], sums);
            }
            return;
        }
        if let Some(row) = self.row.as_ref().filter(|_| rows.len() == 1) {
            sums[..b.panels() * width].fill(0.0);
            for (i, sums) in sums.chunks_mut(b.count * width).enumerate().take(b.outer.0) {
                for [line, at] in taps {
                    let b = PanelRun { buf: b.buf, at: b.at + i * b.outer.1 + line, step: b.step, count: b.count };
                    row.add((a.buf, a.start + rows.start * a.row + at), depth, &b, sums);
                }
            }
            return;
        }
        let mut words = [0; ONE_STRIP + RUNS * (1 + MOST_ROWS)];
        // Bytes of a part's columns in a line; if a line is stored as two, in the first of these.
        let (columns, steps) = (self.columns(), depth / product.step_depth());
        // Each prefetch of a panel's calls is for its share of the next panel.
        let asks = rows.len().div_ceil(tall) * (width / columns) * taps.len() * (steps / 4);
        let (mut asked, each) = (0, (b.bytes / asks.max(1)).min(PREFETCH_BYTES));
        let tiles = if b.seven_bits { &self.seven_bits } else { &self.tiles };
        let part_bytes = columns * 4 * product.vnni() / product.step_depth();
        for (first, height, count) in runs(rows.clone(), tall) {
            let tile = tiles[height - 1].as_ref().unwrap_or_else(|| panic!("no kernel of {height} rows was made"));
            let mut list = AddressList::new(&mut words, height);
            list.strip(TileStrip { tiles: count, sums: (first - rows.start) * step * 4, a_row: a.row, c_row: 0, to: (0, &[0; MOST_ROWS]) });
            let offsets = std::array::from_fn(|i| i * a.row);
            taps.iter().for_each(|[b, at]| list.tap(*b, from(first) + at, &offsets));
            for i in 0..width / columns * b.outer.0 {
                let (part, run) = (i / b.outer.0, i % b.outer.0);
                let at = b.at + part * part_bytes + run * b.outer.1;
                let panels = Panels { at, step: b.step, count: b.count, outer: count > 1 };
                let sums = &mut sums[i * b.count * columns..];
                let next = b.buf.as_ptr().addr() + b.at + run * b.outer.1 + b.step + asked * each;
                let prefetch = if self.skinny.prefetch == PrefetchMode::Given {
                    Prefetch { at: next, step: each, panel: b.step }
                } else {
                    Prefetch::default()
                };
                tile.run(MicrokernelCall {
                    a: a.buf,
                    b: b.buf,
                    prefetch,
                    ..MicrokernelCall::raw(list.strips(), steps, panels, (sums, step))
                });
                if run + 1 == b.outer.0 {
                    asked += count * taps.len() * (steps / 4);
                }
            }
        }
    }
}
