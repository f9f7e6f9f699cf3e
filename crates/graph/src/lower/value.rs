//! Tensors at places, and views of them.

use super::Lowering;
use crate::Error;
use crate::program::Place;
use oxidnn_spec::{DataType, Dims, Layout, Tensor};

/// A tensor at a place.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) place: Place,
    pub(crate) tensor: Tensor,
    /// It is the same in every execution.
    pub(crate) constant: bool,
    /// The elements stand for other numbers; see [`Scaled`].
    pub(crate) scaled: Option<Box<Scaled>>,
}

/// The quantisation of a tensor with elements `q`: they represent `(q - zero) * scale`, numbers of `dtype`.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    /// As many dimensions as the tensor, each of size 1, the tensor's, or that divided by the size of a group.
    pub(crate) scale: Value,
    /// The same for zero points.
    pub(crate) zero: Option<Value>,
    /// The numbers, where they are known now and the same for the whole tensor.
    pub(crate) common: Option<(f32, f32)>,
    pub(crate) dtype: DataType,
}

impl Scaled {
    /// The same where elements stand for `factor` times as much, one number for all of them.
    pub(super) fn times(&self, l: &mut Lowering<'_>, (scale, zero): (f32, f32), factor: f32) -> Result<Scaled, Error> {
        let plain = Tensor::plain(*self.scale.dims(), DataType::F32)?;
        let numbers = l.numbers(plain, |_| f64::from(scale * factor))?;
        Ok(Scaled { scale: numbers, common: Some((scale * factor, zero)), ..self.clone() })
    }
}

impl Value {
    pub(crate) fn new(place: Place, tensor: Tensor, constant: bool) -> Value {
        Value { place, tensor, constant, scaled: None }
    }

    pub(crate) fn dims(&self) -> &Dims {
        self.tensor.dims()
    }

    /// Type of the elements in memory.
    pub(crate) fn dtype(&self) -> DataType {
        self.tensor.dtype
    }

    /// Sizes after batch and channels.
    pub(crate) fn spatial(&self) -> Result<&[i64], Error> {
        let dims = self.tensor.dims();
        dims.get(2..).filter(|s| !s.is_empty()).ok_or_else(|| Error::shape("data", dims, "batch, channels and spatial sizes"))
    }

    /// Size of a dimension.
    pub(crate) fn size(&self, d: usize) -> Result<i64, Error> {
        let dims = self.dims();
        dims.get(d).copied().ok_or_else(|| Error::shape("sizes", dims, format_args!("at least {} of them", d + 1)))
    }

    /// The elements themselves, whatever they stand for.
    pub(crate) fn raw(&self) -> Value {
        Value { scaled: None, ..self.clone() }
    }

    /// The same bytes as another type of the same width.
    pub(crate) fn typed(&self, dtype: DataType) -> Value {
        Value { tensor: Tensor { dtype, layout: self.tensor.layout.clone() }, ..self.clone() }
    }

    /// The same elements with another layout, and their quantisation with `view` applied to it.
    pub(crate) fn seen(&self, layout: Layout, view: impl Fn(&Value) -> Result<Value, Error>) -> Result<Value, Error> {
        let scaled = match &self.scaled {
            None => None,
            Some(s) => {
                let zero = s.zero.as_ref().map(&view).transpose()?;
                Some(Box::new(Scaled { scale: view(&s.scale)?, zero, ..(**s).clone() }))
            }
        };
        Ok(Value { tensor: Tensor { dtype: self.dtype(), layout }, scaled, ..self.raw() })
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    pub(crate) fn permuted(&self, order: &[usize]) -> Result<Value, Error> {
        let mut to = vec![0; order.len()];
        for (i, &from) in order.iter().enumerate() {
            *to.get_mut(from).ok_or_else(|| Error::shape("order", format_args!("{order:?}"), self.dims()))? = i;
        }
        self.seen(self.tensor.layout.permute(&to)?, |v| v.permuted(order))
    }

    /// Ones before the first dimension, up to `rank` dimensions.
    pub(crate) fn at_rank(&self, rank: usize) -> Result<Value, Error> {
        let missing = rank.saturating_sub(self.dims().len());
        let dims: Vec<i64> = std::iter::repeat_n(1, missing).chain(self.dims().iter().copied()).collect();
        self.seen(self.tensor.layout.reshape(&dims)?, |v| v.at_rank(rank))
    }

    /// The elements in other dimensions, if the layout allows it. Scales that are not common follow only if dimensions of size 1 are added
    /// or removed.
    pub(crate) fn reshaped(&self, dims: &[i64]) -> Result<Value, Error> {
        let old = *self.dims();
        self.seen(self.tensor.layout.reshape(dims)?, |v| {
            let own = *v.dims();
            if own.volume() == Some(1) {
                return v.reshaped(&vec![1; dims.len()]);
            }
            let mut kept = (0..old.len()).filter(|&d| old[d] != 1);
            let mut wanted = Vec::with_capacity(dims.len());
            for &size in dims {
                let from = if size == 1 { None } else { kept.next() };
                let fits = size == 1 || from.is_some_and(|d| old[d] == size);
                if !fits {
                    return Err(Error::Unimplemented(format!("scales of {old} as {dims:?}")));
                }
                wanted.push(from.map_or(1, |d| own[d]));
            }
            v.reshaped(&wanted)
        })
    }

    /// Dimension `d` as `count` parts: a dimension of that size before it.
    pub(crate) fn split(&self, d: usize, count: i64) -> Result<Value, Error> {
        let mut dims: Vec<i64> = self.dims().to_vec();
        let parts = if dims[d] == 1 { 1 } else { count };
        if dims[d] % parts != 0 {
            return Err(Error::shape("channels", dims[d], format_args!("a multiple of {count} groups")));
        }
        dims[d] /= parts;
        dims.insert(d, parts);
        self.seen(self.tensor.layout.reshape(&dims)?, |v| v.split(d, count))
    }

    /// The elements repeated along dimensions of size 1, up to `dims`: strides of 0.
    pub(crate) fn spread(&self, dims: &Dims) -> Result<Value, Error> {
        let mut value = self.at_rank(dims.len())?;
        let from = *value.dims();
        let layout = &mut value.tensor.layout;
        let Some(b) = layout.blocking_mut() else { return Ok(value) };
        for d in 0..dims.len() {
            if from[d] != dims[d] {
                b.strides[d] = 0;
            }
        }
        b.padded_dims = *dims;
        layout.dims = *dims;
        Ok(value)
    }
}
