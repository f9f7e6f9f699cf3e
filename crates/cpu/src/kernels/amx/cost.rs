//! Whether AMX multiplies a product faster than vectors: a cost model of both, for operands in L2.
//!
//! AMX has a fixed cost for configuring tiles in every product of a batch, and its sums pass through memory to the epilogue; vectors finish
//! sums in registers. In return a tile instruction does 16 times as many multiply-adds. So vectors win with few products, or a small K.

use crate::hardware::{Caches, K_STEPS};
use crate::kernels::microkernel::DotType;
use oxidnn_jit::kernels::tiles::{LINES, ROWS};

/// Costs in nanoseconds. Fitted to 676 products of 1 to 512 rows, K of 1 to 768, and 3 to 768 columns on Sapphire Rapids, where choosing by
/// them costs 2 (bf16) and 5 per cent (bytes) more than always choosing the faster one.
struct Cost {
    /// Of an execution, and of a product of a batch.
    once: f64,
    product: f64,
    /// Of a vector of sums.
    sums: f64,
    /// Of a multiplying instruction.
    multiply: f64,
}

const TILES: Cost = Cost { once: 300.0, product: 700.0, sums: 2.0, multiply: 15.0 };
const PAIRS: Cost = Cost { once: 350.0, product: 100.0, sums: 0.64, multiply: 0.75 };
const BYTES: Cost = Cost { once: 300.0, product: 100.0, sums: 1.1, multiply: 0.22 };

impl Cost {
    fn of(&self, [batch, sums, multiply]: [f64; 3]) -> f64 {
        self.once + batch * (self.product + self.sums * sums + self.multiply * multiply)
    }
}

/// Multiply-adds of bytes in flight: with fewer sums, steps wait for each other.
const MIN_BYTES_IN_FLIGHT: f64 = 6.0;

/// The predicted nanoseconds on AMX and on vectors.
fn times(product: DotType, [batch, rows, columns, depth]: [i64; 4]) -> [f64; 2] {
    let over = |n: i64, each: usize| (n as f64 / each as f64).ceil();
    let (vectors, steps) = (over(columns, LINES), over(depth, product.step_depth()));
    let sums = rows as f64 * vectors;
    let on_tiles = TILES.of([batch as f64, sums, over(rows, LINES) * vectors * (steps / LINES as f64).ceil()]);
    // Every row's bytes are broadcast, and made unsigned, which takes half as long as multiplying them by a vector.
    let bytes = (sums + rows as f64 / 2.0).max(MIN_BYTES_IN_FLIGHT);
    let (cost, multiply) = if product.is_integer() { (BYTES, bytes * steps) } else { (PAIRS, sums * steps) };
    let on_vectors = cost.of([batch as f64, sums, multiply]);
    [on_tiles, on_vectors]
}

/// Costs on tiles of every further product of a macrokernel's batch, and of one whose rows are tiles of several shapes: a task keeps tiles
/// configured, and a pipeline of sums full, from product to product. Fitted to batches of 24 on Emerald Rapids.
const FURTHER: f64 = 200.0;
const SHAPES: f64 = 500.0;

/// Whether AMX is predicted to be faster in a macrokernel.
pub fn is_faster(product: DotType, sizes: [i64; 4]) -> bool {
    let [batch, rows, ..] = sizes;
    let pieces = (rows as u64).div_ceil(LINES as u64);
    let even = pieces <= 1 || pieces.is_multiple_of(2) && (rows as u64).is_multiple_of(pieces / 2);
    let further = TILES.product - FURTHER - if even { 0.0 } else { SHAPES };
    saved(product, sizes) + (batch - 1) as f64 * further > 0.0
}

/// The nanoseconds that AMX is predicted to save.
pub fn saved(product: DotType, sizes: [i64; 4]) -> f64 {
    let [on_tiles, on_vectors] = times(product, sizes);
    on_vectors - on_tiles
}

/// The part of AMX's time that vectors may take for a window, to be preferred: if the taps are one line, and if they are several lines.
/// Results take long on both.
const MAX_WINDOW_TIME_RATIO: [f64; 2] = [0.7, 0.5];
/// So many rows that only the costs for each row matter.
const ASYMPTOTIC_ROWS: i64 = 1 << 20;

/// Whether vectors are faster for windows with so small a K, for any number of rows: packed weights must not depend on sizes. `depth` is
/// that of a line of taps, of which there are `lines`: AMX multiplies each on its own, however much of a tile it fills.
pub fn is_shallow(product: DotType, lines: i64, depth: i64) -> bool {
    let in_steps = |each: usize| {
        times(product, [1, ASYMPTOTIC_ROWS, LINES as i64, lines.saturating_mul((depth as u64).next_multiple_of(each as u64) as i64)])
    };
    let ([on_tiles, on_vectors], [apart, _]) = (in_steps(product.step_depth()), in_steps(LINES * product.step_depth()));
    on_vectors < MAX_WINDOW_TIME_RATIO[0] * on_tiles || on_vectors < MAX_WINDOW_TIME_RATIO[1] * apart
}

/// Cycles of 16 rows by two vectors of columns in a K block, operands in L2; of a vector of results, and of a step of its epilogue. Fitted to 145
/// convolutions without sums on Sapphire Rapids, of which half take between 0.95 and 2.4 times as long.
const BLOCK_CYCLES: f64 = 53.0;
const RESULT_CYCLES: [f64; 2] = [5.0, 5.0];

/// Cycles of a vector of results whose epilogue has so many steps.
pub(super) fn result_cycles(steps: usize) -> f64 {
    RESULT_CYCLES[0] + RESULT_CYCLES[1] * steps as f64
}

/// Cycles before the first product of a task and behind its last one.
pub(super) const TASK_CYCLES: f64 = 1800.0;

/// The cycles of a product: K blocks of all taps, and cycles of a vector of results.
pub(super) struct Cycles {
    pub(super) blocks: f64,
    pub(super) result: f64,
}

impl Cycles {
    /// Those of pieces of rows, of so many rows in all, by vectors of columns.
    pub(super) fn of_rows(&self, [pieces, rows]: [f64; 2], vectors: usize) -> f64 {
        pieces * self.blocks * vectors.div_ceil(2) as f64 * BLOCK_CYCLES + rows * vectors as f64 * self.result
    }

    /// Those of tiles by columns.
    pub(super) fn of(&self, tiles: usize, columns: usize) -> f64 {
        self.of_rows([2.0 * tiles as f64, (ROWS * tiles) as f64], columns.div_ceil(LINES))
    }
}

/// Bytes between cache lines of the same L1 set: a page, so that the index needs no address translation.
const L1_ALIAS_BYTES: usize = 4096;
/// Passes over the rows of a tile, each for two vectors of columns, that repay a copy. Copying 2 KiB (32 rows of a step) from L3 takes some
/// 400 cycles (185 us for 2 MiB on Sapphire Rapids); loading them from L2 instead of L1 takes 24 more than products hide.
const MIN_PASSES_FOR_COPY: usize = 16;

/// Whether AMX multiplies `rows` rows of `bytes` bytes at stride `distance` by `columns` columns faster from a copy that spreads them over
/// the sets of L1.
///
/// A tile reads each cache line of its rows once in a pass, so lines that evict each other cost nothing within a pass. Only later passes
/// find fewer of them in L1; and in the copy, those of a K block would have to stay there.
pub fn repays_copy(caches: &Caches, [bytes, distance]: [usize; 2], [rows, columns]: [usize; 2]) -> bool {
    let (ways, rows, block) = (caches.l1 / L1_ALIAS_BYTES, rows.min(ROWS), bytes.min(K_STEPS.amx * 4));
    // Addresses at multiples of a power of two map to this many sets.
    let apart = (1 << distance.trailing_zeros().min(L1_ALIAS_BYTES.trailing_zeros())).max(caches.line);
    let in_a_set = block.div_ceil(apart) * (rows * apart).div_ceil(L1_ALIAS_BYTES);
    in_a_set > ways && rows * block <= caches.l1 && columns.div_ceil(2 * LINES) >= MIN_PASSES_FOR_COPY
}
