//! Tensor transforms: padding, cropping, and folding spatial dimensions into channels (space to depth).

use crate::enums::*;
use crate::exec::{Blend, Located};
use crate::filter::FilterDesc;
use crate::handle::Handle;
use crate::pointers::{self, Array, ArrayMut, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::tensor::{MOST_DIMS, TensorDesc, strides_of};
use crate::values;
use oxidnn_spec::{Dims, Tensor};

/// The object behind a `cudnnTensorTransformDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct TransformDesc {
    set: Option<Transform>,
}

/// Padding, and folding of spatial dimensions into channels: the parts of a channel are adjacent, the first spatial dimension outermost.
#[derive(Clone, Debug)]
pub(crate) struct Transform {
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
    /// A transform to `format` that pads and then folds, or unfolds and then pads.
    pub(crate) fn new(format: i32, before: Vec<i32>, after: Vec<i32>, folds: Vec<u32>, unfolds: bool) -> Transform {
        let direction = if unfolds { CUDNN_TRANSFORM_UNFOLD } else { CUDNN_TRANSFORM_FOLD };
        Transform { format, before, after, folds, direction }
    }

    /// The folding factors of the spatial dimensions.
    fn folds(&self) -> impl Iterator<Item = i64> {
        self.folds.iter().map(|&f| i64::from(f.max(1)))
    }

    /// The factors, and their product.
    fn factors(&self) -> Result<(Vec<i64>, i64), Failure> {
        let factors: Vec<i64> = self.folds().collect();
        let all = factors.iter().try_fold(1i64, |all, &f| all.checked_mul(f)).filter(|&all| all <= i64::from(i32::MAX));
        all.map(|all| (factors, all)).ok_or_else(|| Failure::unsupported("folding by more than 2^31"))
    }

    /// Whether it folds or unfolds at all.
    fn is_folding(&self) -> bool {
        self.folds().any(|f| f > 1)
    }

    fn unfolds(&self) -> bool {
        self.direction == CUDNN_TRANSFORM_UNFOLD
    }

    /// Padded sizes; negative padding crops.
    fn padded(&self, src: &Dims) -> Result<Dims, Failure> {
        if self.before.len() != src.len() {
            return Err(Failure::shape("srcDesc", src, format_args!("{} dimensions as the transform", self.before.len())));
        }
        let dims = Dims::from_fn(src.len(), |d| src[d].saturating_add(i64::from(self.before[d]) + i64::from(self.after[d])));
        match dims.iter().all(|&d| d > 0) {
            true => Ok(dims),
            false => Err(Failure::shape("srcDesc", src, "sizes that the transform leaves something of")),
        }
    }

    /// Folded sizes; each factor must divide its dimension.
    fn folded(&self, dims: &Dims) -> Result<Dims, Failure> {
        let (factors, all) = self.factors()?;
        let fits = factors.len() + 2 == dims.len() && factors.iter().enumerate().all(|(d, f)| dims[d + 2] % f == 0);
        match fits {
            true => Ok(Dims::from_fn(dims.len(), |d| match d {
                0 => dims[0],
                1 => dims[1].saturating_mul(all),
                _ => dims[d] / factors[d - 2],
            })),
            false => Err(Failure::shape("srcDesc", dims, format_args!("spatial sizes that {factors:?} divide"))),
        }
    }

    /// Unfolded sizes.
    fn unfolded(&self, dims: &Dims) -> Result<Dims, Failure> {
        let (factors, all) = self.factors()?;
        match factors.len() + 2 == dims.len() && dims[1] % all == 0 {
            true => Ok(Dims::from_fn(dims.len(), |d| match d {
                0 => dims[0],
                1 => dims[1] / all,
                _ => dims[d].saturating_mul(factors[d - 2]),
            })),
            false => Err(Failure::shape("srcDesc", dims, format_args!("channels that {all} divides"))),
        }
    }

    /// Output sizes for an input.
    fn result(&self, src: &Dims) -> Result<Dims, Failure> {
        match (self.is_folding(), self.unfolds()) {
            (false, _) => self.padded(src),
            (true, false) => self.folded(&self.padded(src)?),
            (true, true) => self.padded(&self.unfolded(src)?),
        }
    }

    /// `to = blend(transform(from), to)`.
    fn run(&self, handle: &Handle, from: Located<'_>, to: Located<'_>, blend: Blend) -> Result<(), Failure> {
        let wanted = self.result(from.tensor.dims())?;
        if *to.tensor.dims() != wanted {
            return Err(Failure::shape("destDesc", to.tensor.dims(), wanted));
        }
        if !self.is_folding() {
            return self.pad(handle, from, to, blend);
        }
        let between = if self.unfolds() { self.unfolded(from.tensor.dims())? } else { self.padded(from.tensor.dims())? };
        let middle = Tensor::plain(between, from.tensor.dtype)?;
        let held = handle.temporary(&middle)?;
        let at = (&middle, Data::of(&held));
        if self.unfolds() {
            let (apart, whole) = (self.apart(from.tensor)?, self.split(&middle)?);
            handle.combine((&apart, from.at.into()), (&whole, at.1.into()), Blend::PLAIN)?;
            self.pad(handle, at.into(), to, blend)?;
        } else {
            self.pad(handle, from, at.into(), Blend::PLAIN)?;
            let (whole, apart) = (self.split(&middle)?, self.apart(to.tensor)?);
            handle.combine((&whole, at.1.into()), (&apart, to.at.into()), blend)?;
        }
        if handle.stream().is_synchronous() { Ok(()) } else { Ok(handle.stream().wait()?) }
    }

    /// A folded tensor with its channels split: batch, channels, a factor per spatial dimension, spatial dimensions.
    fn apart(&self, tensor: &Tensor) -> Result<Tensor, Failure> {
        let ((factors, all), dims) = (self.factors()?, *tensor.dims());
        let Some(b) = tensor.blocking().filter(|b| b.is_plain()) else {
            return Err(Failure::unsupported("folding of vectors of channels"));
        };
        let (mut sizes, mut strides) = (vec![dims[0], dims[1] / all], vec![b.strides[0], b.strides[1] * all]);
        let mut step = b.strides[1] * all;
        for &factor in &factors {
            step /= factor;
            sizes.push(factor);
            strides.push(step);
        }
        sizes.extend(&dims[2..]);
        strides.extend(&b.strides[2..]);
        seen(tensor, &sizes, &strides)
    }

    /// The same dimensions of a tensor that is not folded.
    fn split(&self, tensor: &Tensor) -> Result<Tensor, Failure> {
        let (factors, dims) = (self.folds().collect::<Vec<i64>>(), *tensor.dims());
        let from = tensor.blocking().map_or(dims, |b| b.strides);
        let (mut sizes, mut strides) = (vec![dims[0], dims[1]], vec![from[0], from[1]]);
        sizes.extend(&factors);
        strides.extend(&from[2..]);
        sizes.extend(factors.iter().enumerate().map(|(d, f)| dims[d + 2] / f));
        strides.extend(factors.iter().enumerate().map(|(d, f)| from[d + 2] * f));
        seen(tensor, &sizes, &strides)
    }

    /// `to = blend(pad(from), to)`.
    fn pad(&self, handle: &Handle, from: Located<'_>, to: Located<'_>, blend: Blend) -> Result<(), Failure> {
        let (src, wanted) = (from.tensor.dims(), self.padded(from.tensor.dims())?);
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
            handle.clear(to.tensor, to.at)?;
        } else if blend.beta != 1.0 {
            handle.scale((to.tensor, to.at.into()), blend.beta)?;
        }
        handle.combine((&inner, from.at.into()), (&outer, to.at.into()), Blend { alpha: blend.alpha, beta: 1.0 })
    }
}

/// A tensor's elements with other sizes and strides.
fn seen(tensor: &Tensor, sizes: &[i64], strides: &[i64]) -> Result<Tensor, Failure> {
    let many = || Failure::unsupported("folding of tensors of so many dimensions");
    let (sizes, strides) = (Dims::new(sizes).ok_or_else(many)?, Dims::new(strides).ok_or_else(many)?);
    Ok(Tensor::with_strides(sizes, tensor.dtype, Some(strides))?)
}

impl TransformDesc {
    /// Sets the description.
    pub(crate) fn set(&mut self, transform: Transform) {
        self.set = Some(transform);
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

/// `cudnnSetTensorTransformDescriptor`: null stands for padding of 0 and factors of 1.
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
