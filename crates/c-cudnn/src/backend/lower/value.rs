//! Tensors with their locations, and views of them.

use crate::status::Failure;
use oxidnn_spec::{DataType, Dims, Layout, Tensor};

/// The location of a tensor during lowering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spot {
    /// A tensor of the caller's.
    User(usize),
    Constant(usize),
    /// An intermediate result.
    Temp(usize),
}

/// A tensor at a place.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) spot: Spot,
    pub(super) tensor: Tensor,
}

impl Val {
    pub(super) fn dims(&self) -> &Dims {
        self.tensor.dims()
    }

    pub(super) fn rank(&self) -> usize {
        self.tensor.dims().len()
    }

    pub(super) fn dtype(&self) -> DataType {
        self.tensor.dtype
    }

    /// The same elements with another layout.
    pub(super) fn with(&self, layout: Layout) -> Val {
        Val { tensor: Tensor { dtype: self.dtype(), layout }, ..self.clone() }
    }

    /// The same bytes as another type of the same width.
    pub(super) fn typed(&self, dtype: DataType) -> Val {
        Val { tensor: Tensor { dtype, layout: self.tensor.layout.clone() }, ..self.clone() }
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    pub(super) fn permuted(&self, order: &[usize]) -> Result<Val, Failure> {
        let mut to = vec![0; order.len()];
        for (i, &from) in order.iter().enumerate() {
            *to.get_mut(from).ok_or_else(|| Failure::shape("order", format_args!("{order:?}"), self.dims()))? = i;
        }
        Ok(self.with(self.tensor.layout.permute(&to)?))
    }

    /// The last two dimensions swapped.
    pub(super) fn transposed(&self) -> Result<Val, Failure> {
        let n = self.rank();
        let mut order: Vec<usize> = (0..n).collect();
        if n >= 2 {
            order.swap(n - 1, n - 2);
        }
        self.permuted(&order)
    }

    /// The same elements with other sizes, if the layout allows it.
    pub(super) fn viewed(&self, dims: &[i64]) -> Option<Val> {
        self.tensor.layout.reshape(dims).ok().map(|layout| self.with(layout))
    }

    /// Prepends dimensions of size 1, up to `rank` dimensions.
    pub(super) fn at_rank(&self, rank: usize) -> Result<Val, Failure> {
        let missing = rank.saturating_sub(self.rank());
        if missing == 0 {
            return Ok(self.clone());
        }
        let dims: Vec<i64> = std::iter::repeat_n(1, missing).chain(self.dims().iter().copied()).collect();
        Ok(self.with(self.tensor.layout.reshape(&dims)?))
    }

    /// Broadcasts dimensions of size 1 to `dims`, by strides of 0.
    pub(super) fn spread(&self, dims: &[i64]) -> Result<Val, Failure> {
        let value = self.at_rank(dims.len())?;
        let from = *value.dims();
        if from[..] == *dims {
            return Ok(value);
        }
        let fits = from.len() == dims.len() && from.iter().zip(dims).all(|(&f, &d)| f == d || f == 1);
        if !fits {
            return Err(Failure::shape("tensor", self.dims(), format_args!("sizes of 1 or those of {dims:?}")));
        }
        let to = Dims::new(dims).unwrap_or(from);
        let mut layout = value.tensor.layout.clone();
        let Some(b) = layout.blocking_mut() else { return Ok(value) };
        for d in 0..to.len() {
            if from[d] != to[d] {
                b.strides[d] = 0;
            }
        }
        b.padded_dims = to;
        layout.dims = to;
        Ok(value.with(layout))
    }

    /// The part of size `dims` at `offsets`.
    pub(super) fn part(&self, dims: &[i64], offsets: &[i64]) -> Result<Val, Failure> {
        Ok(self.with(self.tensor.layout.submemory(dims, offsets)?))
    }

    /// `size` elements of dimension `d`, from `from` on.
    pub(super) fn along(&self, d: usize, from: i64, size: i64) -> Result<Val, Failure> {
        let (mut dims, mut offsets) = (*self.dims(), Dims::filled(self.rank(), 0));
        if d >= dims.len() {
            return Err(Failure::shape("tensor", self.dims(), format_args!("a dimension {d}")));
        }
        (dims[d], offsets[d]) = (size, from);
        self.part(&dims, &offsets)
    }
}
