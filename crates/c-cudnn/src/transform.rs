//! Transforms of tensors that pad and crop.

use crate::exec::{Blend, Located};
use crate::filter::FilterDesc;
use crate::handle::Handle;
use crate::pointers::{self, Array, ArrayMut, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::tensor::{MOST_DIMS, TensorDesc, strides_of};
use crate::values;
use oxidnn_spec::{Dims, Tensor};

/// What `cudnnTensorTransformDescriptor_t` points to.
#[derive(Clone, Debug, Default)]
pub struct TransformDesc {
    set: Option<Transform>,
}

#[derive(Clone, Debug)]
struct Transform {
    format: i32,
    before: Vec<i32>,
    after: Vec<i32>,
    folds: Vec<u32>,
    direction: i32,
}

impl Owned for TransformDesc {}

impl TransformDesc {
    fn get(&self) -> Result<&Transform, Failure> {
        self.set
            .as_ref()
            .ok_or_else(|| Failure::invalid("transformDesc", "a descriptor that was never set", "one that describes a transform"))
    }
}

impl Transform {
    /// Sizes of the result for a source; negative padding crops.
    fn result(&self, src: &Dims) -> Result<Dims, Failure> {
        if self.folds.iter().any(|&f| f > 1) {
            return Err(Failure::unsupported("transforms that fold: use folding factors of 1"));
        }
        if self.before.len() != src.len() {
            return Err(Failure::shape("srcDesc", src, format_args!("{} dimensions as the transform", self.before.len())));
        }
        let dims = Dims::from_fn(src.len(), |d| src[d] + i64::from(self.before[d]) + i64::from(self.after[d]));
        match dims.iter().all(|&d| d > 0) {
            true => Ok(dims),
            false => Err(Failure::shape("srcDesc", src, "sizes that the transform leaves something of")),
        }
    }

    /// `to = alpha * padded(from) + beta * to`.
    fn run(&self, handle: &Handle, from: Located<'_>, to: Located<'_>, blend: Blend) -> Result<(), Failure> {
        let (src, wanted) = (from.tensor.dims(), self.result(from.tensor.dims())?);
        if *to.tensor.dims() != wanted {
            return Err(Failure::shape("destDesc", to.tensor.dims(), wanted));
        }
        let n = src.len();
        let crop = |pad: &[i32], d: usize| i64::from(-pad[d].min(0));
        let kept = Dims::from_fn(n, |d| src[d] - crop(&self.before, d) - crop(&self.after, d));
        let first = Dims::from_fn(n, |d| crop(&self.before, d));
        let place = Dims::from_fn(n, |d| i64::from(self.before[d].max(0)));
        let part = |tensor: &Tensor, offsets: &Dims| -> Result<Tensor, Failure> {
            Ok(Tensor { dtype: tensor.dtype, layout: tensor.layout.submemory(&kept, offsets)? })
        };
        let (inner, outer) = (part(from.tensor, &first)?, part(to.tensor, &place)?);
        if kept == wanted {
            return handle.combine((&inner, from.at.into()), (&outer, to.at.into()), blend);
        }
        if blend.beta == 0.0 {
            let zero = handle.scalar(to.tensor.dtype, n, 0.0)?;
            handle.combine((&zero.0, zero.1.into()), (to.tensor, to.at.into()), Blend::PLAIN)?;
        } else if blend.beta != 1.0 {
            handle.scale((to.tensor, to.at.into()), blend.beta)?;
        }
        handle.combine((&inner, from.at.into()), (&outer, to.at.into()), Blend { alpha: blend.alpha, beta: 1.0 })
    }
}

/// `cudnnCreateTensorTransformDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateTensorTransformDescriptor(transform_desc: New<'_, TransformDesc>) -> Status {
    guard("cudnnCreateTensorTransformDescriptor", || transform_desc.own("transformDesc", || Ok(TransformDesc::default())))
}

/// `cudnnDestroyTensorTransformDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyTensorTransformDescriptor(desc: pointers::Handle<TransformDesc>) -> Status {
    guard("cudnnDestroyTensorTransformDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetTensorTransformDescriptor`: lists that are null are zeros, and factors of 1.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetTensorTransformDescriptor(
    transform_desc: InOut<'_, TransformDesc>,
    nb_dims: u32,
    dest_format: i32,
    pad_before_a: Array<'_, i32>,
    pad_after_a: Array<'_, i32>,
    fold_a: Array<'_, u32>,
    direction: i32,
) -> Status {
    guard("cudnnSetTensorTransformDescriptor", || {
        values::check("destFormat", "cudnnTensorFormat_t", dest_format)?;
        values::check("direction", "cudnnFoldingDirection_t", direction)?;
        let n = usize::try_from(nb_dims).ok().filter(|n| (1..=MOST_DIMS).contains(n));
        let n = n.ok_or_else(|| Failure::invalid("nbDims", nb_dims, format_args!("1 to {MOST_DIMS}")))?;
        let before = pad_before_a.optional(n).map_or(vec![0; n], <[i32]>::to_vec);
        let after = pad_after_a.optional(n).map_or(vec![0; n], <[i32]>::to_vec);
        let folds = fold_a.optional(n.saturating_sub(2)).map_or(vec![1; n.saturating_sub(2)], <[u32]>::to_vec);
        transform_desc.get("transformDesc")?.set = Some(Transform { format: dest_format, before, after, folds, direction });
        Ok(())
    })
}

/// `cudnnGetTensorTransformDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetTensorTransformDescriptor(
    transform_desc: In<'_, TransformDesc>,
    nb_dims_requested: u32,
    dest_format: Out<'_, i32>,
    pad_before_a: ArrayMut<'_, i32>,
    pad_after_a: ArrayMut<'_, i32>,
    fold_a: ArrayMut<'_, u32>,
    direction: Out<'_, i32>,
) -> Status {
    guard("cudnnGetTensorTransformDescriptor", || {
        let transform = transform_desc.get("transformDesc")?.get()?;
        let n = (nb_dims_requested as usize).min(transform.before.len());
        dest_format.set_optional(transform.format);
        pad_before_a.fill_optional(&transform.before[..n]);
        pad_after_a.fill_optional(&transform.after[..n]);
        fold_a.fill_optional(&transform.folds[..n.saturating_sub(2)]);
        direction.set_optional(transform.direction);
        Ok(())
    })
}

/// `cudnnInitTransformDest`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnInitTransformDest(
    transform_desc: In<'_, TransformDesc>,
    src_desc: In<'_, TensorDesc>,
    dest_desc: InOut<'_, TensorDesc>,
    dest_size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnInitTransformDest", || {
        let (transform, src) = (transform_desc.get("transformDesc")?.get()?, src_desc.get("srcDesc")?.described("srcDesc")?);
        let dims = transform.result(&src.dims)?;
        let desc = dest_desc.get("destDesc")?;
        desc.set(src.number, dims, strides_of(transform.format, src.number, &dims)?)?;
        dest_size_in_bytes.set("destSizeInBytes", desc.tensor("destDesc")?.bytes())
    })
}

/// `cudnnTransformTensorEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnTransformTensorEx(
    handle: In<'_, Handle>,
    trans_desc: In<'_, TransformDesc>,
    alpha: Data,
    src_desc: In<'_, TensorDesc>,
    src_data: Data,
    beta: Data,
    dest_desc: In<'_, TensorDesc>,
    dest_data: Data,
) -> Status {
    guard("cudnnTransformTensorEx", || {
        let (src, dst) = (src_desc.tensor("srcDesc")?, dest_desc.tensor("destDesc")?);
        let (blend, transform) = (Blend::read(alpha, beta, dst.dtype)?, trans_desc.get("transDesc")?.get()?);
        transform.run(handle.get("handle")?, (src, src_data.some("srcData")?).into(), (dst, dest_data.some("destData")?).into(), blend)
    })
}

/// `cudnnTransformFilter`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnTransformFilter(
    handle: In<'_, Handle>,
    trans_desc: In<'_, TransformDesc>,
    alpha: Data,
    src_desc: In<'_, FilterDesc>,
    src_data: Data,
    beta: Data,
    dest_desc: In<'_, FilterDesc>,
    dest_data: Data,
) -> Status {
    guard("cudnnTransformFilter", || {
        let (src, dst) = (&src_desc.filter("srcDesc")?.tensor, &dest_desc.filter("destDesc")?.tensor);
        let (blend, transform) = (Blend::read(alpha, beta, dst.dtype)?, trans_desc.get("transDesc")?.get()?);
        transform.run(handle.get("handle")?, (src, src_data.some("srcData")?).into(), (dst, dest_data.some("destData")?).into(), blend)
    })
}
