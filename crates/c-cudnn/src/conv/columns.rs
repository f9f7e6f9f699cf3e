//! im2col, and reordering of int8 filters.

use super::ConvDesc;
use crate::exec::Blend;
use crate::filter::FilterDesc;
use crate::handle::Handle;
use crate::loops::view::positions;
use crate::pointers::{Data, In};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;
use oxidnn_spec::{DataType, Dims, Tensor};

/// `cudnnIm2Col`: a row for each channel and tap, over all samples and result positions (a column in BLAS's order).
#[unsafe(no_mangle)]
pub extern "C" fn cudnnIm2Col(
    handle: In<'_, Handle>,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    w_desc: In<'_, FilterDesc>,
    conv_desc: In<'_, ConvDesc>,
    col_buffer: Data,
) -> Status {
    guard("cudnnIm2Col", || {
        let (handle, src) = (handle.get("handle")?, x_desc.tensor("xDesc")?);
        let (filter, conv) = (w_desc.filter("wDesc")?, conv_desc.get("convDesc")?);
        let dims = conv.output(src, &filter.dims)?;
        let (window, n) = (conv.window(src.dims().len() - 2)?, src.dims().len());
        let (to, source) = (col_buffer.some("colBuffer")?, x.some("x")?);
        let (channels, taps) = (src.dims()[1], filter.dims[2..].iter().product::<i64>());
        let places = dims[2..].iter().try_fold(dims[0], |n, d| n.checked_mul(*d));
        let elements = places.and_then(|places| places.checked_mul(taps)?.checked_mul(channels));
        let (Some(places), Some(elements)) = (places, elements) else {
            return Err(Failure::unsupported("columns of more elements than 63 bits count"));
        };
        let strides = src.blocking().filter(|b| b.is_plain()).map(|b| b.strides);
        let strides = strides.ok_or_else(|| Failure::unsupported("columns of vectors of channels"))?;
        let whole = Tensor::plain([elements], src.dtype)?;
        let zero = handle.scalar(src.dtype, 1, 0.0)?;
        handle.combine((&zero.0, zero.1.into()), (&whole, to.into()), Blend::PLAIN)?;
        let bytes = |elements: i64| src.dtype.bytes(elements as usize).unwrap_or(0);
        for tap in 0..taps {
            // The result positions at which this tap is inside of the source: a box.
            let (mut rest, mut first, mut count, mut from) = (tap, Dims::filled(n, 0), dims, 0);
            count[1] = channels;
            for d in (2..n).rev() {
                let (k, s) = (rest % filter.dims[d], d - 2);
                rest /= filter.dims[d];
                let shift = k * (window.dilations[s] + 1) - window.padding_l[s];
                let stride = window.strides[s];
                first[d] = if shift < 0 { (-shift + stride - 1) / stride } else { 0 };
                let end = if src.dims()[d] > shift { (src.dims()[d] - 1 - shift) / stride + 1 } else { 0 };
                count[d] = end.min(dims[d]) - first[d];
                from += (first[d] * stride + shift) * strides[d];
            }
            if count.iter().any(|&c| c < 1) {
                continue;
            }
            let mut row = Dims::filled(n, 1);
            for d in (2..n - 1).rev() {
                row[d] = row[d + 1] * dims[d + 1];
            }
            (row[0], row[1]) = (dims[2..].iter().product(), taps * places);
            let offset: i64 = tap * places + (2..n).map(|d| first[d] * row[d]).sum::<i64>();
            // Line by line: strided planes may overlap in the gaps between their elements.
            let line = Dims::from([count[0], count[1], count[n - 1]]);
            let step = [strides[0], strides[1], strides[n - 1] * window.strides[n - 3]];
            let seen = Tensor::with_strides(line, src.dtype, Some(step.into()))?;
            let column = Tensor::with_strides(line, src.dtype, Some([row[0], row[1], 1].into()))?;
            let mut result = Ok(());
            positions(&count[2..n - 1], |at| {
                let sum = |f: &dyn Fn(usize) -> i64| at.iter().enumerate().map(|(i, p)| p * f(i)).sum::<i64>();
                let (there, here) = (from + sum(&|i| strides[i + 2] * window.strides[i]), offset + sum(&|i| row[i + 2]));
                if result.is_ok() {
                    let places = (source.behind(bytes(there)), to.behind(bytes(here)));
                    result = handle.combine((&seen, places.0.into()), (&column, places.1.into()), Blend::PLAIN);
                }
            });
            result?;
        }
        Ok(())
    })
}

/// `cudnnReorderFilterAndBias`: a copy, since reordered filters have the same layout here.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnReorderFilterAndBias(
    handle: In<'_, Handle>,
    filter_desc: In<'_, FilterDesc>,
    reorder_type: i32,
    filter_data: Data,
    reordered_filter_data: Data,
    reorder_bias: i32,
    bias_data: Data,
    reordered_bias_data: Data,
) -> Status {
    guard("cudnnReorderFilterAndBias", || {
        let (handle, filter) = (handle.get("handle")?, &filter_desc.filter("filterDesc")?);
        values::check("reorderType", "cudnnReorderType_t", reorder_type)?;
        let tensor = &filter.tensor;
        let (from, to) = (filter_data.some("filterData")?, reordered_filter_data.some("reorderedFilterData")?);
        handle.combine((tensor, from.into()), (tensor, to.into()), Blend::PLAIN)?;
        if reorder_bias == 0 {
            return Ok(());
        }
        let bias = Tensor::plain([filter.dims[0]], DataType::F32)?;
        let (from, to) = (bias_data.some("biasData")?, reordered_bias_data.some("reorderedBiasData")?);
        handle.combine((&bias, from.into()), (&bias, to.into()), Blend::PLAIN)
    })
}
