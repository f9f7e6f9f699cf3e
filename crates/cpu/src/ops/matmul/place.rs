//! The operands of a product as matrices with strides. Each side is one dimension of the tensor, or several that are merged.

use crate::hardware::K_STEPS;
use crate::kernels::macrokernel::BLayout;
use crate::kernels::microkernel::layout::{is_panel, panel_columns, unblocked};
use crate::kernels::microkernel::pack::PanelLayout;
use oxidnn_jit::Isa;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Blocking, DataType, Dims, Tensor};

/// A plain matrix or panels; offsets and strides in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// Offset of its first element.
    pub(crate) start: usize,
    /// From a row to the next; in panels, from one step of K to the next.
    pub(crate) row: usize,
    /// From a column to the next; in panels, from one panel to the next.
    pub(crate) column: usize,
}

/// The blocking of a tensor.
///
/// # Errors
/// Tensors without one.
fn blocking(t: &Tensor) -> Result<&Blocking, Skip> {
    t.blocking().ok_or_else(|| Skip::Layout("an operand without strides".into()))
}

/// The stride, in elements, of dimensions that are merged, if there is one for all. The last dimension may have an innermost block of
/// `together` elements; then it is the stride of these blocks.
fn chained(b: &Blocking, sizes: &Dims, dims: &[usize], vnni: i64) -> Option<i64> {
    let last = *dims.last()?;
    let several = dims[..dims.len() - 1].iter().any(|d| sizes[*d] != 1);
    if vnni > 1 && several && sizes[last] % vnni != 0 {
        return None;
    }
    let mut near: Option<(i64, i64)> = None;
    for &d in dims.iter().rev() {
        let size = if d == last { sizes[d] / vnni + i64::from(sizes[d] % vnni > 0) } else { sizes[d] };
        near = match near {
            Some(near) if size == 1 => Some(near),
            None if size == 1 && d != dims[0] => None,
            None => Some((b.strides[d], size)),
            Some((stride, count)) if b.strides[d] == stride * count => Some((stride, count * size)),
            Some(_) => return None,
        };
    }
    near.map(|(stride, _)| stride)
}

/// Number of indices of merged dimensions.
pub(crate) fn count(t: &Tensor, dims: &[usize]) -> usize {
    dims.iter().map(|d| t.dims()[*d].max(0) as usize).product()
}

/// A matrix without blocks and with one stride for each side.
///
/// # Errors
/// Other layouts.
pub(crate) fn plain(t: &Tensor, rows: &[usize], columns: &[usize]) -> Result<Place, Skip> {
    let b = blocking(t)?;
    let size = t.dtype.bits() as i64 / 8;
    let bytes = |dims: &[usize]| chained(b, t.dims(), dims, 1).map(|d| (d * size) as usize);
    match (b.is_plain(), bytes(rows), bytes(columns)) {
        (true, Some(row), Some(column)) => {
            Ok(Place { start: (b.offset * size) as usize, row, column: if count(t, columns) == 1 { size as usize } else { column } })
        }
        _ => Err(Skip::Layout("a matrix that is not plain".into())),
    }
}

/// Columns of the panels in which vector tiles get `B`: those of the tensor if they are as wide as a tile can be.
pub(crate) fn width(isa: Isa, t: &Tensor, columns: &[usize]) -> usize {
    let own = t.blocking().zip(columns.last()).map_or(1, |(b, column)| b.inner.of(*column).max(0) as usize);
    if is_panel(isa, own) { own } else { panel_columns(isa, count(t, columns)) }
}

/// How `B` of a product is to be read: as panels, or as a plain matrix one of whose sides is contiguous.
///
/// # Errors
/// Other layouts.
pub(crate) fn right(isa: Isa, t: &Tensor, depth: &[usize], columns: &[usize], vnni: usize) -> Result<(BLayout, Place), Skip> {
    let form = PanelLayout { size: t.dtype.bits() / 8, vnni, width: width(isa, t, columns) };
    if let Some(place) = panels(t, depth, columns, form)? {
        return Ok((BLayout::Panels, place));
    }
    let mut place = plain(t, depth, columns)?;
    if count(t, depth) == 1 {
        place.row = form.size;
    }
    if place.column == form.size {
        let few = count(t, depth) * form.line() <= MAX_IN_PLACE_PANEL_BYTES && !place.row.is_multiple_of(ALIAS_BYTES);
        let in_place = vnni == 1 && (few || place.row == form.line());
        return Ok((if in_place { BLayout::InPlace } else { BLayout::Packed }, place));
    }
    if place.row == form.size {
        Ok((BLayout::Packed, place))
    } else {
        Err(Skip::Layout("weights neither side of which is contiguous".into()))
    }
}

/// Refines [`right`] for `b` of f32, row-major: few rows read it in place at any K, since packing it would take longer, unless it comes from
/// memory in lines that alias, which is faster in the long runs that packing reads. Many rows have it packed if its vectors cross cache lines,
/// and these do not stay in L2.
pub(crate) fn of_rows(isa: Isa, rows: usize, b: &Tensor, (right, place): (BLayout, &Place)) -> BLayout {
    if right == BLayout::Panels || b.dtype != DataType::F32 || place.column != size_of::<f32>() {
        return right;
    }
    let crosses = !place.row.is_multiple_of(isa.width().bytes()) && b.bytes() >= MIN_CROSSING_BYTES;
    let few = b.bytes() <= MAX_IN_PLACE_BYTES || !place.row.is_multiple_of(ALIAS_BYTES);
    match rows {
        ..=MAX_IN_PLACE_ROWS if few => BLayout::InPlace,
        ..=MAX_IN_PLACE_ROWS => right,
        _ if crosses => BLayout::Packed,
        _ => right,
    }
}

/// Most steps of a K block for so many columns: panels of few columns are as large with more steps, and rows are read in longer runs.
pub(crate) fn block_steps(right: BLayout, place: &Place, columns: usize) -> usize {
    let aliased = right == BLayout::InPlace && place.row.is_multiple_of(ALIAS_BYTES);
    if aliased { K_STEPS.aliased } else { K_STEPS.matrix * (WIDE_COLUMNS / columns.next_power_of_two()).clamp(1, 4) }
}

/// Columns from which on a panel of the most steps of a K block is as large as any.
const WIDE_COLUMNS: usize = 64;
/// Bytes of a panel that is read in place from a row-major matrix.
const MAX_IN_PLACE_PANEL_BYTES: usize = 200 << 10;
/// Rows up to which any panel is read in place. Measured on Zen 4: with more rows, packing saves more than it costs if lines are not
/// aligned.
const MAX_IN_PLACE_ROWS: usize = 48;
/// Bytes of a matrix whose vectors cross cache lines from which on more rows have it packed, on every machine alike.
const MIN_CROSSING_BYTES: usize = 1 << 20;
/// Bytes of a matrix whose lines alias that is read in place, on every machine alike, because how K is cut depends on it. Measured on
/// Sapphire Rapids: packing takes two thirds of the time of 64 MiB.
const MAX_IN_PLACE_BYTES: usize = 32 << 20;
/// Lines at multiples of this many bytes map to 4 of the 64 sets of L1, and to so few of L2 that the lines of a K block evict each other.
const ALIAS_BYTES: usize = 1024;

/// The strides of panels that have the form that tiles read.
fn panels(t: &Tensor, depth: &[usize], columns: &[usize], form: PanelLayout) -> Result<Option<Place>, Skip> {
    let (&[column], Some(&last)) = (columns, depth.last()) else { return Ok(None) };
    let b = &unblocked(blocking(t)?, last);
    let want = [(column, form.width as i64), (last, form.vnni as i64)];
    if !b.inner.iter().eq(want.into_iter().take(if form.vnni > 1 { 2 } else { 1 })) {
        return Ok(None);
    }
    let line = (form.width * form.vnni) as i64;
    let behind = chained(b, t.dims(), depth, form.vnni as i64);
    // With a single line, the stride of lines is not used.
    let one_line = count(t, depth) <= form.vnni && count(t, depth) == count(t, &[last]);
    if behind != Some(line) && !one_line {
        return Ok(None);
    }
    let size = form.size;
    Ok(Some(Place { start: b.offset as usize * size, row: 4 * form.width, column: b.strides[column] as usize * size }))
}
