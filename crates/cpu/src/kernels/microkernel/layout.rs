//! The layout of packed `B`: panels with as many columns as the widest tile, with a line for every step, 4 bytes of K.
//!
//! A panel depends on the matrix and the target alone, never on the rows that it will be multiplied with: one packed copy serves every
//! batch, image size and `M`.

use super::max_vectors;
use oxidnn_jit::Isa;
use oxidnn_spec::{Blocking, Blocks, DataType};

/// Columns of a panel of a matrix with `columns` columns.
pub fn panel_columns(isa: Isa, columns: usize) -> usize {
    let lanes = isa.width().lanes();
    columns.div_ceil(lanes).clamp(1, max_vectors(isa)) * lanes
}

/// Whether tiles can be as wide as panels of `columns` columns.
pub fn is_panel(isa: Isa, columns: usize) -> bool {
    let lanes = isa.width().lanes();
    columns.is_multiple_of(lanes) && (1..=max_vectors(isa)).contains(&(columns / lanes))
}

/// Elements of consecutive K that are contiguous for every column (VNNI); `None` for types that generated code neither multiplies nor unpacks.
pub fn vnni_factor(dtype: DataType) -> Option<usize> {
    match dtype {
        DataType::F32 | DataType::F16 => Some(1),
        DataType::Bf16 => Some(2),
        DataType::U8 | DataType::S8 | DataType::F8E5m2 | DataType::F8E4m3 => Some(4),
        DataType::U4 | DataType::S4 | DataType::F4E2m1 | DataType::F4E3m0 => Some(8),
        _ => None,
    }
}

/// The blocking without an outermost inner block of dimension `depth` if its blocks are contiguous: then all steps in a panel have one
/// stride, also for oneDNN's panels (`BA16a64b2a`).
pub fn unblocked(b: &Blocking, depth: usize) -> Blocking {
    let mut rest = Blocks::default();
    b.inner.iter().skip(1).for_each(|(d, size)| rest.push(d, size));
    let mut unblocked = b.clone();
    if let Some((d, size)) = b.inner.iter().next().filter(|_| !rest.is_empty())
        && (d, b.strides[d]) == (depth, size * rest.volume())
    {
        (unblocked.inner, unblocked.strides[d]) = (rest, rest.volume());
    }
    unblocked
}

/// The tag of panels: all dimensions but `depth` and `column` outermost in order, then the panels of `width` columns, the dimensions
/// `depth` from slow to fast, the columns of a panel, and `together` elements of the last of `depth`.
pub fn panel_tag(ndims: usize, depth: &[usize], column: usize, width: usize, vnni: usize) -> String {
    let letter = |d: usize| (b'a' + d as u8) as char;
    let mut tag: String = (0..ndims).filter(|d| *d != column && !depth.contains(d)).map(letter).collect();
    tag.push(letter(column).to_ascii_uppercase());
    let Some((last, slow)) = depth.split_last() else { return format!("{tag}{width}{}", letter(column)) };
    tag.extend(slow.iter().map(|d| letter(*d)));
    let last = letter(*last);
    if vnni == 1 {
        format!("{tag}{last}{width}{}", letter(column))
    } else {
        format!("{tag}{}{width}{}{vnni}{last}", last.to_ascii_uppercase(), letter(column))
    }
}
