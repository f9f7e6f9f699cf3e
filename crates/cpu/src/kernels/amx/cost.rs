//! Whether AMX tiles multiply a product faster than vectors: a model of what either costs, for operands that stay in L2.
//!
//! Tiles pay for their registers in every product of a batch, and their sums pass through memory to the tail; vectors finish them where they are.
//! In return a tile makes 16 times as many products an instruction. So vectors win where there are few products, or little depth.

use crate::hardware::{Caches, K_STEPS};
use crate::kernels::tile::Product;
use oxidnn_jit::kernels::tiles::{LINES, ROWS};

/// Nanoseconds by what there is. Fitted to 676 products of 1 to 512 rows, a depth of 1 to 768 and 3 to 768 columns on Sapphire Rapids, where choosing by them
/// costs 2 (bf16) and 5 per cent (bytes) of what always choosing the faster one would.
struct Cost {
    /// An execution, and a product of a batch.
    once: f64,
    product: f64,
    /// A vector of sums.
    sums: f64,
    /// An instruction that multiplies.
    multiply: f64,
}

const TILES: Cost = Cost { once: 300.0, product: 700.0, sums: 2.8, multiply: 15.0 };
const PAIRS: Cost = Cost { once: 350.0, product: 100.0, sums: 0.64, multiply: 0.75 };
const BYTES: Cost = Cost { once: 300.0, product: 100.0, sums: 1.1, multiply: 0.22 };

impl Cost {
    fn of(&self, [batch, sums, multiply]: [f64; 3]) -> f64 {
        self.once + batch * (self.product + self.sums * sums + self.multiply * multiply)
    }
}

/// Nanoseconds on tiles and on vectors for so many products of so many rows, columns and depth.
fn times(product: Product, [batch, rows, columns, depth]: [i64; 4]) -> [f64; 2] {
    let over = |n: i64, each: usize| (n as f64 / each as f64).ceil();
    let (vectors, steps) = (over(columns, LINES), over(depth, product.depth()));
    let sums = rows as f64 * vectors;
    let on_tiles = TILES.of([batch as f64, sums, over(rows, LINES) * vectors * (steps / LINES as f64).ceil()]);
    let on_vectors = if product.is_whole() { BYTES } else { PAIRS }.of([batch as f64, sums, sums * steps]);
    [on_tiles, on_vectors]
}

/// Whether tiles are faster for so many products of so many rows, columns and depth.
pub fn is_faster(product: Product, sizes: [i64; 4]) -> bool {
    let [on_tiles, on_vectors] = times(product, sizes);
    on_tiles < on_vectors
}

/// Part of the time on tiles that vectors may take of a window to be preferred, where its taps are one line and where they are several: results take long on
/// either.
const WINDOW: [f64; 2] = [0.7, 0.5];
/// So many rows that only what each takes counts.
const MANY: i64 = 1 << 20;

/// Whether vectors are faster for windows of so little depth, whatever their number: packed weights do not depend on sizes. The depth is that of a line of
/// taps, of which there are so many: tiles multiply each on its own, whatever it fills of them.
pub fn is_shallow(product: Product, lines: i64, depth: i64) -> bool {
    let in_steps =
        |each: usize| times(product, [1, MANY, LINES as i64, lines.saturating_mul((depth as u64).next_multiple_of(each as u64) as i64)]);
    let ([on_tiles, on_vectors], [apart, _]) = (in_steps(product.depth()), in_steps(LINES * product.depth()));
    on_vectors < WINDOW[0] * on_tiles || on_vectors < WINDOW[1] * apart
}

/// Bytes between lines of the same set of L1: a page, within which addresses need no translation.
const WAY: usize = 4096;
/// Passes over the rows of a tile, each for two vectors of columns, that repay a copy. To copy 2 KiB, which are 32 rows of a step of depth, takes some 400
/// cycles where they come from L3 (185 us for 2 MiB on Sapphire Rapids); to load them from L2 instead of L1 takes 24 more than products hide.
const REPAY: usize = 16;

/// Whether tiles multiply so many rows and columns faster from a copy of the rows, of so many bytes at such a distance, that shares them out over the sets of L1.
///
/// A tile reads each line of its rows as a whole, once in a pass, so that lines which drive each other out cost nothing within a pass. Only later ones
/// find fewer of them in L1; and those of a K block would have to stay there in the copy.
pub fn repays_copy(caches: &Caches, [bytes, distance]: [usize; 2], [rows, columns]: [usize; 2]) -> bool {
    let (ways, rows, block) = (caches.l1 / WAY, rows.min(ROWS), bytes.min(K_STEPS.amx * 4));
    // What begins at multiples of a power of two has so many sets to begin with.
    let apart = (1 << distance.trailing_zeros().min(WAY.trailing_zeros())).max(caches.line);
    let in_a_set = block.div_ceil(apart) * (rows * apart).div_ceil(WAY);
    in_a_set > ways && rows * block <= caches.l1 && columns.div_ceil(2 * LINES) >= REPAY
}
