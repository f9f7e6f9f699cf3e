//! Tensors in host memory as the harness keeps them: raw buffers, and their elements as `f64` in logical row-major order.

use oxidnn_expr::number;
use oxidnn_reference::Args;
use oxidnn_spec::{Arg, DataType, Dims, Format, Tensor};
use std::cell::Cell;

/// A tensor with its buffers.
#[derive(Clone, Debug)]
pub struct HostTensor {
    /// Its description; no runtime dimensions.
    pub tensor: Tensor,
    /// One buffer, or several for sparse tensors.
    pub bufs: Vec<Vec<Cell<u8>>>,
}

/// Calls `f` with every logical position of `dims`, row-major.
pub fn for_each_position(dims: &[i64], mut f: impl FnMut(&[i64])) {
    if dims.contains(&0) {
        return;
    }
    let mut pos = Dims::filled(dims.len(), 0);
    loop {
        f(&pos);
        let Some(d) = (0..dims.len()).rev().find(|&d| pos[d] + 1 < dims[d]) else { return };
        pos[d] += 1;
        pos[d + 1..].fill(0);
    }
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
        let offsets = self.offsets();
        assert_eq!(offsets.len(), values.len(), "values for {:?}", self.tensor);
        for (&off, &v) in offsets.iter().zip(values) {
            store(&self.bufs[0], dtype, off, number::encode(dtype, v));
        }
        self.set_sums(values);
    }

    /// Writes the sums after the elements of a layout with [`Compensation`](oxidnn_spec::Compensation), as reorders do.
    fn set_sums(&self, values: &[f64]) {
        let Some((blocking, sums)) = self.tensor.blocking().and_then(|b| Some((b, b.compensation?))) else { return };
        let mut start = self.tensor.compensation_at().unwrap_or(0) / 4;
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
            all.iter().enumerate().for_each(|(i, sum)| store(&self.bufs[0], DataType::S32, start + i, u64::from(*sum as i32 as u32)));
            start += all.len();
        }
    }

    /// The elements in logical row-major order (of a sparse tensor those stored).
    pub fn values(&self) -> Vec<f64> {
        let dt = self.tensor.dtype;
        self.offsets().into_iter().map(|off| number::decode(dt, get(&self.bufs[0], dt, off))).collect()
    }

    /// Element offsets in logical row-major order.
    fn offsets(&self) -> Vec<usize> {
        let mut out = Vec::new();
        match &self.tensor.layout.format {
            Format::Blocked(b) => for_each_position(self.tensor.dims(), |p| out.push(b.offset_of(p) as usize)),
            Format::HostScalar => out.push(0),
            Format::Sparse(s) => out.extend(0..s.nnz() as usize),
            Format::Any | Format::Packed(_) => out.extend(0..self.bufs[0].len() * 8 / self.tensor.dtype.bits()),
        }
        out
    }

    /// Writes the index array `buffer` of a sparse tensor.
    pub fn set_indices(&self, buffer: usize, indices: &[i64]) {
        for (i, &v) in indices.iter().enumerate() {
            store(&self.bufs[buffer], DataType::S32, i, v as u32 as u64);
        }
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
            let first = off * bits / 8;
            covered[first..first + bits.div_ceil(8)].fill(true);
        }
        covered
    }
}

fn get(buf: &[Cell<u8>], dtype: DataType, index: usize) -> u64 {
    match dtype.bits() {
        4 => u64::from(buf[index / 2].get() >> (index % 2 * 4) & 15),
        bits => {
            let n = bits / 8;
            (0..n).rev().fold(0, |v, i| v << 8 | u64::from(buf[index * n + i].get()))
        }
    }
}

fn store(buf: &[Cell<u8>], dtype: DataType, index: usize, value: u64) {
    match dtype.bits() {
        4 => {
            let (c, shift) = (&buf[index / 2], index % 2 * 4);
            c.set(c.get() & !(15 << shift) | ((value as u8 & 15) << shift));
        }
        bits => {
            let n = bits / 8;
            for i in 0..n {
                buf[index * n + i].set((value >> (8 * i)) as u8);
            }
        }
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
