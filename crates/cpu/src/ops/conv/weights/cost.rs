//! The choice between AMX and vectors for gradients of weights, by predicted times.

use super::tiled::{Pairs, Task};
use crate::kernels::amx;
use crate::kernels::microkernel::DotType;
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::tiles::LINES;
use oxidnn_runtime::Skip;
use oxidnn_spec::Tensor;

/// Nanoseconds of the transposition of 16 steps of 16 rows for AMX, and of the same where taps are merged.
const SQUARE_NANOSECONDS: [f64; 2] = [25.0, 80.0];
/// Nanoseconds by which a product of its own takes longer to begin on AMX than on vectors: the taps of a box take equally long on both.
const TAP_NANOSECONDS: f64 = 600.0;
/// Nanoseconds that a tap takes longer on vectors than in a call with other taps of its row on AMX.
const ROW_TAP_NANOSECONDS: f64 = 300.0;

/// Refuses what AMX does not multiply, or not faster than vectors.
///
/// # Errors
/// Types without pairs, and products that are too small.
pub(crate) fn check_amx(task: &Task, tensors: [&Tensor; 2], isa: Isa) -> Result<(), Skip> {
    if Pairs::of(task, tensors, isa).is_none() {
        return Err(Skip::DataType(format!("{} by {}, {} images", tensors[0].dtype, tensors[1].dtype, task.images)));
    }
    let taps = task.window.iter().fold(task.groups, |n, dim| n.saturating_mul(dim.taps));
    let depth = task.window.iter().fold(task.images, |n, dim| n.saturating_mul(dim.places));
    // Merged taps are rows of one product.
    let merged = if task.merged { task.window[2].taps } else { 1 };
    let products = taps / merged.max(1);
    let [rows, columns] = if task.x_columns { [task.channels[1], task.channels[0]] } else { task.channels };
    let sizes = [products, rows.saturating_mul(merged), columns, depth].map(|n| n as i64);
    // Merged taps are transposed line by line of an image, of which each takes a square more.
    let lines = depth / task.window[2].places.max(1);
    let [lines, across] = if lines > 1 { [lines.div_ceil(2), task.window[2].places] } else { [1, depth.div_ceil(2)] };
    let squares = if task.merged { lines.saturating_mul(1 + across.div_ceil(LINES)) } else { depth.div_ceil(2 * LINES) };
    let transposed = (sizes[1] as usize).div_ceil(LINES).saturating_mul(squares) as f64 * SQUARE_NANOSECONDS[usize::from(task.merged)];
    let row = &task.window[2];
    let across = if task.merged || row.stride > 1 || !row.meets_pixels() { 1 } else { row.taps.max(1) };
    let begun = products.saturating_sub(task.groups) as f64 * TAP_NANOSECONDS + (products - products / across) as f64 * ROW_TAP_NANOSECONDS;
    if amx::saved(DotType::Bf16, sizes) + begun > transposed { Ok(()) } else { Err(Skip::Shape("too little work for tiles of AMX")) }
}
