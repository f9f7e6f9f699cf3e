//! Quantisation parameters of recurrent networks, which are known when the primitive is created.

use super::Attr;
use crate::handle::{Array, In, InOut, Out};
use crate::status::{Failure, Status, guard};
use oxidnn_spec::Real;

/// A mask and its scales, as the getters return them.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    mask: i32,
    numbers: Vec<f32>,
}

/// Scale 1, not quantised: the values that getters return for scales that were not set.
impl From<&Option<(u32, Vec<Real>)>> for Scales {
    fn from(scales: &Option<(u32, Vec<Real>)>) -> Scales {
        match scales {
            Some((mask, numbers)) => Scales { mask: *mask as i32, numbers: numbers.iter().map(|n| n.get()).collect() },
            None => Scales { mask: 0, numbers: vec![1.0] },
        }
    }
}

/// `dnnl_primitive_attr_set_rnn_data_qparams`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_rnn_data_qparams(attr: InOut<'_, Attr>, scale: f32, shift: f32) -> Status {
    guard("dnnl_primitive_attr_set_rnn_data_qparams", || {
        attr.get("attr")?.spec.rnn.data = Some((Real::new(scale), Real::new(shift)));
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_rnn_data_qparams`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_rnn_data_qparams(attr: In<'_, Attr>, scale: Out<'_, f32>, shift: Out<'_, f32>) -> Status {
    guard("dnnl_primitive_attr_get_rnn_data_qparams", || {
        let data = attr.get("attr")?.spec.rnn.data.map_or((1.0, 0.0), |d| (d.0.get(), d.1.get()));
        scale.set_optional(data.0);
        shift.set_optional(data.1);
        Ok(())
    })
}

/// `dnnl_primitive_attr_set_rnn_weights_qparams`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_rnn_weights_qparams(
    attr: InOut<'_, Attr>,
    count: i64,
    mask: i32,
    scales: Array<'_, f32>,
) -> Status {
    guard("dnnl_primitive_attr_set_rnn_weights_qparams", || {
        let attr = attr.get("attr")?;
        let checked = check(count, mask, scales)?;
        attr.spec.rnn.weights = Some(checked);
        attr.weights = Scales::from(&attr.spec.rnn.weights);
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_rnn_weights_qparams`: the values are valid as long as the attributes.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_rnn_weights_qparams(
    attr: In<'_, Attr>,
    count: Out<'_, i64>,
    mask: Out<'_, i32>,
    scales: Out<'_, *const f32>,
) -> Status {
    guard("dnnl_primitive_attr_get_rnn_weights_qparams", || show(&attr.get("attr")?.weights, count, mask, scales))
}

/// `dnnl_primitive_attr_set_rnn_weights_projection_qparams`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_rnn_weights_projection_qparams(
    attr: InOut<'_, Attr>,
    count: i64,
    mask: i32,
    scales: Array<'_, f32>,
) -> Status {
    guard("dnnl_primitive_attr_set_rnn_weights_projection_qparams", || {
        let attr = attr.get("attr")?;
        let checked = check(count, mask, scales)?;
        attr.spec.rnn.projection = Some(checked);
        attr.projection = Scales::from(&attr.spec.rnn.projection);
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_rnn_weights_projection_qparams`: the values are valid as long as the attributes.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_rnn_weights_projection_qparams(
    attr: In<'_, Attr>,
    count: Out<'_, i64>,
    mask: Out<'_, i32>,
    scales: Out<'_, *const f32>,
) -> Status {
    guard("dnnl_primitive_attr_get_rnn_weights_projection_qparams", || show(&attr.get("attr")?.projection, count, mask, scales))
}

/// Limit on the scales of a request: more than any network has gates and channels.
const MOST: i64 = 1 << 28;

fn check(count: i64, mask: i32, scales: Array<'_, f32>) -> Result<(u32, Vec<Real>), Failure> {
    let mask = u32::try_from(mask).map_err(|_| Failure::invalid("mask", mask, "no negative number"))?;
    if !(1..=MOST).contains(&count) {
        return Err(Failure::invalid("count", count, format_args!("1 to {MOST}")));
    }
    Ok((mask, scales.slice("scales", count as usize)?.iter().copied().map(Real::new).collect()))
}

fn show(of: &Scales, count: Out<'_, i64>, mask: Out<'_, i32>, scales: Out<'_, *const f32>) -> Result<(), Failure> {
    count.set_optional(of.numbers.len() as i64);
    mask.set_optional(of.mask);
    scales.set_optional(of.numbers.as_ptr());
    Ok(())
}
