//! Whether tiles of AMX multiply a product faster than vectors: a model of what either costs, for operands that stay in L2.
//!
//! Tiles pay for their registers in every product of a batch, and their sums pass through memory to the tail; vectors finish them where they are.
//! In return a tile makes 16 times as many products an instruction. So vectors win where there are few products, or little depth.

use crate::kernels::tile::Product;
use oxidnn_jit::kernels::tiles::LINES;

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

/// Whether tiles are faster for so many products of so many rows, columns and depth.
pub fn is_faster(product: Product, [batch, rows, columns, depth]: [i64; 4]) -> bool {
    let over = |n: i64, each: usize| (n as f64 / each as f64).ceil();
    let (vectors, steps) = (over(columns, LINES), over(depth, product.depth()));
    let sums = rows as f64 * vectors;
    let on_tiles = TILES.of([batch as f64, sums, over(rows, LINES) * vectors * (steps / LINES as f64).ceil()]);
    let on_vectors = if product.is_whole() { BYTES } else { PAIRS }.of([batch as f64, sums, sums * steps]);
    on_tiles < on_vectors
}
