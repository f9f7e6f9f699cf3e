//! Concat, sum, reorder.

use super::{Creation, axis, source};
use crate::attr::Attr;
use crate::engine::Engine;
use crate::handle::{Array, In, New};
use crate::memory_desc::MemoryDesc;
use crate::primitive_desc::PrimitiveDesc;
use crate::status::{Failure, Status, guard};
use oxidnn_spec::op::{Concat, Reorder, Sum};
use oxidnn_spec::{Real, Tensor};

/// `dnnl_concat_primitive_desc_create`: without a destination, the implementation chooses it.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_concat_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    dst: In<'_, MemoryDesc>,
    count: i32,
    along: i32,
    srcs: Array<'_, In<'_, MemoryDesc>>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_concat_primitive_desc_create", || {
        let (srcs, axis) = (sources(count, srcs)?, axis(along)?);
        let dst = match dst.optional() {
            Some(_) => dst.tensor("dst_desc")?,
            None => joined(&srcs, axis)?,
        };
        Creation::forward(pd, engine, attr).make(Concat { axis, srcs, dst })
    })
}

/// `dnnl_sum_primitive_desc_create`: without a destination, the implementation chooses it.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_sum_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    dst: In<'_, MemoryDesc>,
    count: i32,
    scales: Array<'_, f32>,
    srcs: Array<'_, In<'_, MemoryDesc>>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_sum_primitive_desc_create", || {
        let srcs = sources(count, srcs)?;
        let scales = scales.slice("scales", srcs.len())?.iter().copied().map(Real::new).collect();
        let dst = match dst.optional() {
            Some(_) => dst.tensor("dst_desc")?,
            None => Tensor::any(*srcs[0].dims(), srcs[0].dtype),
        };
        Creation::forward(pd, engine, attr).make(Sum { scales, srcs, dst })
    })
}

/// At least one source.
fn sources(count: i32, srcs: Array<'_, In<'_, MemoryDesc>>) -> Result<Vec<Tensor>, Failure> {
    let count = usize::try_from(count).ok().filter(|n| (1..1024).contains(n));
    let count = count.ok_or_else(|| Failure::invalid("n", "another number of sources", "1 to 1023"))?;
    let each = |(i, src): (usize, &In<'_, MemoryDesc>)| source(*src, &format!("src_descs[{i}]"));
    srcs.slice("src_descs", count)?.iter().enumerate().map(each).collect()
}

/// The destination that holds all sources.
fn joined(srcs: &[Tensor], axis: usize) -> Result<Tensor, Failure> {
    let mut dims = *srcs[0].dims();
    let size = |t: &Tensor| t.dims().get(axis).copied();
    let total = srcs.iter().try_fold(0i64, |n, t| size(t).and_then(|s| n.checked_add(s)));
    let (Some(total), Some(place)) = (total, dims.get_mut(axis)) else {
        return Err(Failure::invalid("concat_dimension", axis, "a dimension of every source"));
    };
    *place = total;
    Ok(Tensor::any(dims, srcs[0].dtype))
}

/// `dnnl_reorder_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_reorder_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    src: In<'_, MemoryDesc>,
    src_engine: In<'_, Engine>,
    dst: In<'_, MemoryDesc>,
    dst_engine: In<'_, Engine>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_reorder_primitive_desc_create", || {
        src_engine.get("src_engine")?;
        let (src, dst) = (source(src, "src_desc")?, source(dst, "dst_desc")?);
        Creation::forward(pd, dst_engine, attr).make_from(src_engine, Reorder { src, dst })
    })
}
