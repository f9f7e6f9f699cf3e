//! Functions by which oneDNN's test programs inspect the primitive cache, and the mode of recurrent networks that they test with.

use crate::attr::Attr;
use crate::handle::{Array, In, InOut, Out};
use crate::primitive::Primitive;
use crate::primitive_desc::PrimitiveDesc;
use crate::status::{Failure, Status, guard, guard_value};
use oxidnn_runtime::cache;
use oxidnn_spec::{Real, RnnLinear};

/// `dnnl_test_is_pd_in_cache`: whether the cache holds the primitive of this descriptor.
#[unsafe(export_name = "_Z24dnnl_test_is_pd_in_cachePK19dnnl_primitive_desc")]
pub extern "C" fn is_pd_in_cache(pd: In<'_, PrimitiveDesc>) -> i32 {
    guard_value("dnnl_test_is_pd_in_cache", 0, || Ok(cache::contains(pd.get("primitive_desc")?.runtime()).into()))
}

/// `dnnl_test_is_primitive_in_cache`.
#[unsafe(export_name = "_Z31dnnl_test_is_primitive_in_cachePK14dnnl_primitive")]
pub extern "C" fn is_primitive_in_cache(primitive: In<'_, Primitive>) -> i32 {
    guard_value("dnnl_test_is_primitive_in_cache", 0, || Ok(cache::contains(primitive.get("primitive")?.desc().runtime()).into()))
}

/// `dnnl_test_get_primitive_cache_size`: entries now.
#[unsafe(export_name = "_Z34dnnl_test_get_primitive_cache_sizePi")]
pub extern "C" fn get_cache_size(size: Out<'_, i32>) -> Status {
    guard("dnnl_test_get_primitive_cache_size", || size.set("size", i32::try_from(cache::stats().entries).unwrap_or(i32::MAX)))
}

/// `dnnl_test_set_primitive_cache_capacity_without_clearing`: the status, in the width that its declaration has.
#[unsafe(export_name = "_Z55dnnl_test_set_primitive_cache_capacity_without_clearingm")]
pub extern "C" fn set_capacity_without_clearing(capacity: usize) -> usize {
    let status = guard("dnnl_test_set_primitive_cache_capacity_without_clearing", || {
        cache::set_capacity_later(capacity);
        Ok(())
    });
    status as usize
}

/// `dnnl_primitive_attr_set_rnn_tparams`: linear activations of a recurrent network, with a factor a gate and one for the cell state.
#[unsafe(export_name = "_Z35dnnl_primitive_attr_set_rnn_tparamsP19dnnl_primitive_attrblPKff")]
pub extern "C" fn set_rnn_tparams(attr: InOut<'_, Attr>, on: bool, gates: i64, scales: Array<'_, f32>, cell: f32) -> Status {
    guard("dnnl_primitive_attr_set_rnn_tparams", || {
        let rnn = &mut attr.get("attr")?.spec_mut().rnn;
        if !on {
            rnn.linear = None;
            return Ok(());
        }
        let gates = usize::try_from(gates).ok().filter(|n| (1..=4).contains(n));
        let gates = gates.ok_or_else(|| Failure::invalid("ngates", "another number of gates", "1 to 4"))?;
        let gates = scales.slice("scales", gates)?.iter().copied().map(Real::new).collect();
        rnn.linear = Some(RnnLinear { gates, cell: Real::new(cell) });
        Ok(())
    })
}
