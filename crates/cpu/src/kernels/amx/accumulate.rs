//! Products on AMX tiles whose sums stay in memory, without a macrokernel or an epilogue: gradients of weights, which add to them from call
//! to call, and steps of recurrent networks. Rows of `A` have a constant stride and contiguous steps, `B` is in panels.

use super::block::{Block, Call, TileConfig, TileRegisters};
use super::{MAX_EXTRA_K_BLOCKS, ROWS, Round};
use crate::kernels::microkernel::{DotType, Prefetch};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Reuse;
use oxidnn_jit::kernels::dot::{InitialSums, PrefetchMode};
use oxidnn_jit::kernels::tiles::{self, LINES, Shape, TAP_WORDS, Tiles};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

/// Kernels of products whose sums stay in memory.
#[derive(Debug)]
pub struct Accumulate {
    registers: TileConfig,
    /// By vectors of a panel, tiles of rows, and whether they add to old sums.
    blocks: Vec<[Option<Block>; 4]>,
    panel: usize,
}

/// The products that a call adds to the sums: some K blocks of equally many steps.
pub struct Addend<'a> {
    /// For each K block: byte offset of the panel's lines from `b_at`, and the address of the first row.
    pub parts: &'a [[usize; 2]],
    /// Steps of a K block.
    pub steps: usize,
    /// The memory of `A`, and bytes from one row to the next.
    pub a: (Buf<'a>, usize),
    /// The memory of `B`, the byte offset of the first panel, and bytes from one panel to the next.
    pub b: (Buf<'a>, usize, usize),
    /// Number of rows.
    pub rows: usize,
    /// Number of panels.
    pub panels: usize,
    /// How many times all of that is multiplied.
    pub repeat: Repeat,
    /// Vectors of a panel that have columns.
    pub vectors: usize,
    /// Whether the sums start from zero.
    pub fresh: bool,
}

/// Products of the same shape.
#[derive(Clone, Copy)]
pub struct Repeat {
    /// Their number.
    pub times: usize,
    /// Bytes of `A` from one to the next.
    pub a: usize,
    /// Bytes of `B`.
    pub b: usize,
    /// Elements from sums to sums.
    pub sums: usize,
}

impl Repeat {
    /// A single product.
    pub const ONCE: Repeat = Repeat { times: 1, a: 0, b: 0, sums: 0 };
}

impl Accumulate {
    /// The kernels for panels of `panel` vectors, and for the numbers of `vectors` that have columns. They prefetch `ahead`.
    ///
    /// # Errors
    /// [`Error::Runtime`] if a kernel cannot be generated, or AMX does not multiply the types.
    pub fn get(isa: Isa, product: DotType, (panel, vectors): (usize, [usize; 2]), ahead: PrefetchMode) -> Result<Accumulate, Error> {
        let product = tiles::product(product).ok_or_else(|| Error::Runtime(format!("no tiles multiply {product:?}")))?;
        let mut blocks: Vec<[Option<Block>; 4]> = (0..panel).map(|_| [const { None }; 4]).collect();
        for some in vectors {
            for (i, block) in blocks[some - 1].iter_mut().enumerate() {
                let start = if i % 2 == 0 { InitialSums::Zero } else { InitialSums::Load };
                let (tall, vectors, line) = (1 + i as u8 / 2, some as u8, panel as u8);
                *block = Some(Block::get(isa, Tiles { product, tall, vectors, line, start, panels: Reuse::NonTemporal, prefetch: ahead })?);
            }
        }
        Ok(Accumulate { registers: TileConfig::get(isa, product)?, blocks, panel })
    }

    /// The AMX tiles, for this thread.
    pub fn hold(&self) -> TileRegisters<'_> {
        self.registers.hold()
    }

    /// Words that a call with `parts` K blocks needs.
    pub const fn words(parts: usize) -> usize {
        parts * TAP_WORDS
    }

    /// Adds to sums, whose rows are `row` elements apart.
    ///
    /// # Panics
    /// If an operand is outside its memory.
    pub fn add(&self, held: &mut TileRegisters<'_>, on: &Addend<'_>, words: &mut [usize], (sums, row): (&mut [f32], usize)) {
        let (line, (b, b_at, b_panel)) = (self.panel * LINES * 4, on.b);
        // With several K blocks, a block more for each costs more than another pass over all.
        let more = if on.parts.len() > MAX_EXTRA_K_BLOCKS { 0 } else { MAX_EXTRA_K_BLOCKS };
        for first in (0..on.rows).step_by(ROWS) {
            let upper = LINES.min(on.rows - first);
            let rows = [upper, (on.rows - first - upper).min(LINES)];
            let taps = &mut words[..on.parts.len() * TAP_WORDS];
            for (tap, [b, a]) in taps.as_chunks_mut::<TAP_WORDS>().0.iter_mut().zip(on.parts) {
                let a = a.wrapping_add(first * on.a.1);
                *tap = [*b, a, on.a.1, a.wrapping_add(LINES * on.a.1), on.a.1];
            }
            for (i, round) in Round::all(on.steps, more).enumerate() {
                held.set(Shape { rows, steps: round.steps });
                let (tall, loads) = (usize::from(rows[1] > 0), usize::from(i > 0 || !on.fresh));
                let block = self.blocks[on.vectors - 1][2 * tall + loads].as_ref();
                block.unwrap_or_else(|| panic!("no kernel of {} vectors was made", on.vectors)).run(
                    held,
                    Call {
                        taps,
                        blocks: round.blocks,
                        from: round.before * 4,
                        source: on.a.0,
                        gathered: &[],
                        b,
                        b_at: b_at + round.before * line,
                        b_panel,
                        panels: on.panels,
                        tiles: on.repeat.times,
                        a_tile: on.repeat.a,
                        b_tile: on.repeat.b,
                        sums_tile: on.repeat.sums,
                        lines: 1,
                        a_line: 0,
                        sums: &mut sums[first * row..],
                        sums_row: row,
                        prefetch: Prefetch::default(),
                        prefetch_line: 0,
                    },
                );
            }
        }
    }
}
