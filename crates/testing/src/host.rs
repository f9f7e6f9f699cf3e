//! Tensors in host memory as the harness keeps them: raw buffers, and their elements as `f64` in logical row-major order.

use oxidnn_reference::{Args, Cells, for_each_position};
use oxidnn_spec::{Arg, DataType, Format, Tensor};
use std::cell::Cell;

/// A tensor with its buffers.
#[derive(Clone, Debug)]
pub struct HostTensor {
    /// Its description; no runtime dimensions.
    pub tensor: Tensor,
    /// One buffer, or several for sparse tensors.
    pub bufs: Vec<Vec<Cell<u8>>>,
}

impl HostTensor {
    /// A tensor whose bytes are all `byte`.
    pub fn filled(tensor: &Tensor, byte: u8) -> HostTensor {
        let bufs = (0..tensor.buffers()).map(|i| vec![Cell::new(byte); tensor.buffer_bytes(i).unwrap_or(0)]).collect();
        HostTensor { tensor: tensor.clone(), bufs }
    }

    /// Overwrites the elements, in logical row-major order; of a sparse tensor those that are stored.
    ///
    /// # Panics
    /// When there are more or fewer `values` than elements.
    pub fn set_values(&self, values: &[f64]) {
        self.set_values_as(self.tensor.dtype, values);
    }

    /// As [`HostTensor::set_values`], encoded as `dtype`, which is as wide as the tensor's own type.
    ///
    /// # Panics
    /// When there are more or fewer `values` than elements.
    pub fn set_values_as(&self, dtype: DataType, values: &[f64]) {
        let (offsets, cells) = (self.offsets(), Cells::new(dtype, &self.bufs[0]));
        assert_eq!(offsets.len(), values.len(), "values for {:?}", self.tensor);
        offsets.iter().zip(values).for_each(|(&offset, &value)| cells.store(offset, value));
        self.set_sums();
    }

    /// Writes the sums after the elements of a layout with [`Compensation`](oxidnn_spec::Compensation), as reorders do.
    fn set_sums(&self) {
        let Some((blocking, sums)) = self.tensor.blocking().and_then(|b| Some((b, b.compensation?))) else { return };
        let mut start = self.tensor.compensation_at().unwrap_or(0) / 4;
        let (values, sum_cells) = (self.values(), Cells::new(DataType::S32, &self.bufs[0]));
        for (mask, factor) in [(sums.s8s8_mask, -128.0), (sums.zero_point_mask, -1.0)] {
            let Some(mask) = mask else { continue };
            let named = |pos: &[i64], of: &dyn Fn(usize) -> i64| {
                (0..pos.len()).filter(|d| mask >> d & 1 == 1).fold(0, |index, d| index * blocking.padded_dims[d] as usize + of(d) as usize)
            };
            let padded = &blocking.padded_dims;
            let count = (0..padded.len()).filter(|d| mask >> d & 1 == 1).map(|d| padded[d] as usize).product();
            let mut all = vec![0.0; count];
            let mut values = values.iter();
            for_each_position(self.tensor.dims(), |pos| all[named(pos, &|d| pos[d])] += factor * values.next().copied().unwrap_or(0.0));
            all.iter().enumerate().for_each(|(i, sum)| sum_cells.store((start + i) as i64, *sum));
            start += all.len();
        }
    }

    /// The elements in logical row-major order (of a sparse tensor those stored).
    pub fn values(&self) -> Vec<f64> {
        let cells = Cells::new(self.tensor.dtype, &self.bufs[0]);
        self.offsets().iter().map(|&offset| cells.load(offset)).collect()
    }

    /// How many elements there are: of a sparse tensor those stored.
    pub fn count(&self) -> usize {
        match &self.tensor.layout.format {
            Format::Blocked(_) => self.tensor.dims().iter().product::<i64>() as usize,
            Format::HostScalar => 1,
            Format::Sparse(s) => s.nnz() as usize,
            Format::Any | Format::Packed(_) => self.bufs[0].len() * 8 / self.tensor.dtype.bits(),
        }
    }

    /// Element offsets in logical row-major order.
    fn offsets(&self) -> Vec<i64> {
        let Some(blocking) = self.tensor.blocking() else { return (0..self.count() as i64).collect() };
        let mut offsets = vec![blocking.offset];
        for (d, (&size, first)) in self.tensor.dims().iter().zip(blocking.padded_offsets.iter()).enumerate() {
            let terms: Vec<i64> = (0..size).map(|p| blocking.term(d, p + first)).collect();
            let mut longer = Vec::with_capacity(offsets.len() * terms.len());
            offsets.iter().for_each(|start| longer.extend(terms.iter().map(|term| start + term)));
            offsets = longer;
        }
        offsets
    }

    /// Writes the index array `buffer` of a sparse tensor.
    pub fn set_indices(&self, buffer: usize, indices: &[i64]) {
        let cells = Cells::new(DataType::S32, &self.bufs[buffer]);
        (0..).zip(indices).for_each(|(i, &index)| cells.store(i, index as f64));
    }

    /// The bytes of buffer `buffer`.
    pub fn bytes(&self, buffer: usize) -> Vec<u8> {
        self.bufs[buffer].iter().map(Cell::get).collect()
    }

    /// Overwrites buffer `buffer`.
    pub fn set_bytes(&self, buffer: usize, bytes: &[u8]) {
        for (c, b) in self.bufs[buffer].iter().zip(bytes) {
            c.set(*b);
        }
    }

    /// Marks the bytes of the first buffer that hold logical elements.
    pub fn element_bytes(&self) -> Vec<bool> {
        let mut covered = vec![false; self.bufs[0].len()];
        let bits = self.tensor.dtype.bits();
        for off in self.offsets() {
            let first = off as usize * bits / 8;
            covered[first..first + bits.div_ceil(8)].fill(true);
        }
        covered
    }
}

/// The arguments of one execution.
#[derive(Clone, Debug, Default)]
pub struct HostArgs(pub Vec<(Arg, HostTensor)>);

impl HostArgs {
    /// The argument `arg`.
    pub fn get(&self, arg: Arg) -> Option<&HostTensor> {
        self.0.iter().find(|a| a.0 == arg).map(|a| &a.1)
    }
}

impl Args for HostArgs {
    fn tensor(&self, arg: Arg) -> Option<&Tensor> {
        self.get(arg).map(|t| &t.tensor)
    }
    fn data(&self, arg: Arg, buffer: usize) -> Option<&[Cell<u8>]> {
        self.get(arg).and_then(|t| t.bufs.get(buffer)).map(Vec::as_slice)
    }
}
