//! Functions that oneDNN does not have, declared in `oxidnn_dnnl.h`: hints for dynamic shapes, reasons for the choice of an implementation, statistics of
//! the primitive cache.

use crate::attr::Attr;
use crate::handle::{Array, Data, In, InOut, Out};
use crate::primitive_desc::PrimitiveDesc;
use crate::stack;
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::records::CacheStatistics;
use oxidnn_runtime::{self as runtime, cache};
use oxidnn_spec::{Arg, DynamicDim, Error};
use std::fmt::Write as _;

#[cfg(test)]
mod tests;

/// `dnnl_primitive_attr_set_hint_reusable_kernels`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_hint_reusable_kernels(attr: InOut<'_, Attr>, hint: bool) -> Status {
    guard("dnnl_primitive_attr_set_hint_reusable_kernels", || {
        attr.get("attr")?.spec_mut().hint_reusable_kernels = hint;
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_hint_reusable_kernels`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_hint_reusable_kernels(attr: In<'_, Attr>, hint: Out<'_, bool>) -> Status {
    guard("dnnl_primitive_attr_get_hint_reusable_kernels", || hint.set("hint", attr.get("attr")?.spec().hint_reusable_kernels))
}

/// The dimension of an index.
fn dimension(dim: i32) -> Result<usize, Failure> {
    usize::try_from(dim).map_err(|_| Failure::invalid("dim", dim, "a dimension, from 0 on"))
}

/// `oxidnn_primitive_attr_set_dynamic_dim`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_primitive_attr_set_dynamic_dim(
    attr: InOut<'_, Attr>,
    arg: i32,
    dim: i32,
    count: i32,
    examples: Array<'_, i64>,
) -> Status {
    guard("oxidnn_primitive_attr_set_dynamic_dim", || {
        let (attr, arg, dim) = (attr.get("attr")?, Arg(arg), dimension(dim)?);
        let examples = usize::try_from(count).ok().map(|count| examples.slice("examples", count)).transpose()?;
        let dynamic = &mut attr.spec_mut().dynamic;
        dynamic.retain(|d| (d.arg, d.dim) != (arg, dim));
        dynamic.extend(examples.map(|examples| DynamicDim { arg, dim, examples: examples.to_vec() }));
        Ok(())
    })
}

/// `oxidnn_primitive_attr_get_dynamic_dim`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_primitive_attr_get_dynamic_dim(
    attr: In<'_, Attr>,
    arg: i32,
    dim: i32,
    count: Out<'_, i32>,
    examples: Out<'_, *const i64>,
) -> Status {
    guard("oxidnn_primitive_attr_get_dynamic_dim", || {
        let (arg, dim) = (Arg(arg), dimension(dim)?);
        let found = attr.get("attr")?.spec().dynamic.iter().find(|d| (d.arg, d.dim) == (arg, dim));
        let list = found.map_or(&[][..], |d| &d.examples);
        examples.set("examples", if list.is_empty() { std::ptr::null() } else { list.as_ptr() })?;
        count.set("count", found.map_or(-1, |_| i32::try_from(list.len()).unwrap_or(i32::MAX)))
    })
}

/// The problem, and what became of every implementation, a line each.
pub(crate) fn explanation(desc: &runtime::PrimitiveDesc) -> String {
    let mut text = format!("{}\n", desc.given());
    match stack::deep(|| Ok::<_, Error>(desc.explain())) {
        Ok(rows) => rows.iter().for_each(|(name, verdict)| _ = writeln!(text, "{name}: {verdict}")),
        Err(error) => text += &error.to_string(),
    }
    text
}

/// `oxidnn_primitive_desc_explain`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_primitive_desc_explain(primitive_desc: In<'_, PrimitiveDesc>, text: Data) -> Status {
    guard("oxidnn_primitive_desc_explain", || text.set("text", primitive_desc.get("primitive_desc")?.explanation().as_ptr()))
}

/// `oxidnn_get_primitive_cache_statistics`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_get_primitive_cache_statistics(statistics: Out<'_, CacheStatistics>) -> Status {
    guard("oxidnn_get_primitive_cache_statistics", || {
        let cache::CacheStats { hits, misses, evictions, entries, bytes } = cache::stats();
        statistics.set("statistics", CacheStatistics { hits, misses, evictions, entries: entries as u64, bytes: bytes as u64 })
    })
}

/// `oxidnn_get_primitive_cache_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_get_primitive_cache_bytes(bytes: Out<'_, usize>) -> Status {
    guard("oxidnn_get_primitive_cache_bytes", || bytes.set("bytes", cache::byte_budget()))
}

/// `oxidnn_set_primitive_cache_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_set_primitive_cache_bytes(bytes: usize) -> Status {
    guard("oxidnn_set_primitive_cache_bytes", || {
        cache::set_byte_budget(bytes);
        Ok(())
    })
}
