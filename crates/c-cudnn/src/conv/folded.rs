//! Backward data of a strided convolution as a convolution without strides: spatial dimensions are folded into channels by the strides.
//!
//! With `O` sizes of the gradient of the result and a filter of `R`, padded to a multiple `R'` of the stride `s`, the folded gradient has
//! `O + R' / s - 1` pixels per dimension, of which the caller's is the part after the padding.

use super::desc::{ConvDesc, Geometry};
use crate::enums::*;
use crate::filter::FilterDesc;
use crate::handle::Handle;
use crate::pointers::{In, InOut};
use crate::status::{Failure, Status, guard};
use crate::tensor::{TensorDesc, strides_of};
use crate::transform::{Transform, TransformDesc};
use oxidnn_spec::Dims;

/// `cudnnGetFoldedConvBackwardDataDescriptors`: descriptors of the folded convolution and of the transforms to it and back.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetFoldedConvBackwardDataDescriptors(
    handle: In<'_, Handle>,
    filter_desc: In<'_, FilterDesc>,
    diff_desc: In<'_, TensorDesc>,
    conv_desc: In<'_, ConvDesc>,
    grad_desc: In<'_, TensorDesc>,
    transform_format: i32,
    folded_filter_desc: InOut<'_, FilterDesc>,
    padded_diff_desc: InOut<'_, TensorDesc>,
    folded_conv_desc: InOut<'_, ConvDesc>,
    folded_grad_desc: InOut<'_, TensorDesc>,
    filter_fold_trans_desc: InOut<'_, TransformDesc>,
    diff_pad_trans_desc: InOut<'_, TransformDesc>,
    grad_fold_trans_desc: InOut<'_, TransformDesc>,
    grad_unfold_trans_desc: InOut<'_, TransformDesc>,
) -> Status {
    guard("cudnnGetFoldedConvBackwardDataDescriptors", || {
        handle.get("handle")?;
        let (filter, conv) = (filter_desc.filter("filterDesc")?, conv_desc.get("convDesc")?);
        let (diff, grad) = (diff_desc.get("diffDesc")?.described("diffDesc")?, grad_desc.get("gradDesc")?.described("gradDesc")?);
        let n = grad.dims.len();
        let expected = conv.output(grad_desc.tensor("gradDesc")?, &filter.dims)?;
        if diff.dims != expected {
            return Err(Failure::shape("diffDesc", diff.dims, expected));
        }
        let window = conv.window(n - 2)?;
        if conv.flips()? || window.dilations.iter().any(|&d| d != 0) {
            return Err(Failure::unsupported("folding of convolutions that are dilated, or no CUDNN_CROSS_CORRELATION"));
        }
        let (strides, padding) = (window.strides, window.padding_l);
        let spatial = |d: usize, f: &dyn Fn(usize) -> i64| if d < 2 { 0 } else { f(d - 2) };
        let lists = |f: &dyn Fn(usize) -> i64| (0..n).map(|d| spatial(d, f) as i32).collect::<Vec<i32>>();
        let taps = |d: usize| (filter.dims[d + 2] + strides[d] - 1) / strides[d];
        // Pixels of the folded convolution's gradient: the caller's, and padding.
        let whole = |d: usize| (diff.dims[d + 2] + taps(d) - 1) * strides[d];
        let all: i64 = strides.iter().product();
        let (folded_filter, folded_grad) = (
            Dims::from_fn(n, |d| [filter.dims[0], filter.dims[1] * all].get(d).copied().unwrap_or_else(|| taps(d - 2))),
            Dims::from_fn(n, |d| [grad.dims[0], grad.dims[1] * all].get(d).copied().unwrap_or_else(|| whole(d - 2) / strides[d - 2])),
        );
        let folds: Vec<u32> = strides.iter().map(|&s| s as u32).collect();
        let ones = vec![1; n - 2];
        let after = lists(&|d| whole(d) - grad.dims[d + 2] - padding[d]);
        let behind = lists(&|d| taps(d) * strides[d] - filter.dims[d + 2]);
        let (before, none) = (lists(&|d| padding[d]), vec![0; n]);
        let minus = |list: &[i32]| list.iter().map(|v| -v).collect::<Vec<i32>>();
        filter_fold_trans_desc.get("filterFoldTransDesc")?.set(Transform::new(
            transform_format,
            none.clone(),
            behind,
            folds.clone(),
            false,
        ));
        diff_pad_trans_desc.get("diffPadTransDesc")?.set(Transform::new(transform_format, none.clone(), none, ones, false));
        let unfold = Transform::new(transform_format, minus(&before), minus(&after), folds.clone(), true);
        grad_fold_trans_desc.get("gradFoldTransDesc")?.set(Transform::new(transform_format, before, after, folds, false));
        grad_unfold_trans_desc.get("gradUnfoldTransDesc")?.set(unfold);
        folded_filter_desc.get("foldedFilterDesc")?.set(filter.number, transform_format, folded_filter)?;
        let described = [(padded_diff_desc.get("paddedDiffDesc")?, diff.number, diff.dims)];
        let described = described.into_iter().chain([(folded_grad_desc.get("foldedGradDesc")?, grad.number, folded_grad)]);
        for (desc, number, dims) in described {
            desc.set(number, dims, strides_of(transform_format, number, &dims)?)?;
        }
        let one = |v: i64| Dims::filled(n - 2, v);
        let geometry =
            Geometry { padding: one(0), strides: one(1), dilations: one(1), mode: CUDNN_CROSS_CORRELATION, compute: conv.compute()? };
        folded_conv_desc.get("foldedConvDesc")?.become_like(conv, geometry)
    })
}
