//! How packed `B` lies: in panels of as many columns as the widest tile has, step by step of 4 bytes of depth.
//!
//! What a panel is depends on the matrix and the target alone, never on the rows that will meet it: one packed copy serves every batch, image
//! and `M`.

use oxidnn_jit::Isa;
use oxidnn_spec::DataType;

/// Vectors in the widest panel: what leaves registers for as many rows as keep the multiply-add units busy.
const fn most_vectors(isa: Isa) -> usize {
    if isa.avx512 { 4 } else { 2 }
}

/// Columns of a panel of a matrix with `columns` columns.
pub fn panel_columns(isa: Isa, columns: usize) -> usize {
    let lanes = isa.width().lanes();
    columns.div_ceil(lanes).clamp(1, most_vectors(isa)) * lanes
}

/// Numbers of depth in a step, the 4 bytes of a row of `A` that every lane of a line of `B` has; `None` for types without such steps.
pub fn step_depth(dtype: DataType) -> Option<usize> {
    match dtype.bits() {
        32 => Some(1),
        16 => Some(2),
        8 => Some(4),
        _ => None,
    }
}

/// The tag of panels: all dimensions but `depth` and `column` outermost in order, then the panels of `width` columns, the dimensions `depth`
/// from slow to fast (the last in steps of `step` numbers), the columns of a panel, the numbers of a step.
pub fn panel_tag(ndims: usize, depth: &[usize], column: usize, width: usize, step: usize) -> String {
    let letter = |d: usize| (b'a' + d as u8) as char;
    let mut tag: String = (0..ndims).filter(|d| *d != column && !depth.contains(d)).map(letter).collect();
    tag.push(letter(column).to_ascii_uppercase());
    let Some((last, slow)) = depth.split_last() else { return format!("{tag}{width}{}", letter(column)) };
    tag.extend(slow.iter().map(|d| letter(*d)));
    let last = letter(*last);
    if step == 1 {
        format!("{tag}{last}{width}{}", letter(column))
    } else {
        format!("{tag}{}{width}{}{step}{last}", last.to_ascii_uppercase(), letter(column))
    }
}
