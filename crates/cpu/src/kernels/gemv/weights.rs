//! The layout of a matrix of weights, as far as the kernels can stream it.

use crate::kernels::access::Axis;
use crate::kernels::microkernel::layout::unblocked;
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::unpack::{Decode, Stored};
use oxidnn_runtime::Skip;
use oxidnn_spec::{DataType, Tensor};

/// A matrix of weights: K is `k`, with `n` columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    pub(super) stored: Stored,
    pub(super) k: usize,
    pub(super) n: usize,
    pub(super) order: WeightOrder,
    /// Bytes before the first element.
    pub(super) offset: usize,
}

/// The order of the elements; strides in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WeightOrder {
    /// Panels of `columns` columns, `distance` apart, with lines without gaps.
    Panels { columns: usize, distance: usize },
    /// Row-major.
    Rows { distance: usize },
    /// Column-major.
    Columns { distance: usize },
}

fn stored(dtype: DataType) -> Option<Stored> {
    Some(match dtype {
        DataType::F32 => Stored::F32,
        DataType::Bf16 => Stored::Bf16,
        DataType::F16 => Stored::F16,
        DataType::S8 => Stored::S8,
        DataType::U8 => Stored::U8,
        DataType::S4 => Stored::S4,
        DataType::U4 => Stored::U4,
        DataType::F8E5m2 => Stored::F8E5m2,
        DataType::F8E4m3 => Stored::F8E4m3,
        DataType::F4E2m1 => Stored::F4E2m1,
        DataType::F4E3m0 => Stored::F4E3m0,
        _ => return None,
    })
}

impl Weights {
    /// The matrix of dimension `column` and dimensions `depth` (K, slowest first) of a tensor.
    ///
    /// # Errors
    /// Types and layouts that kernels cannot stream.
    pub fn new(tensor: &Tensor, column: usize, depth: &[usize], isa: Isa) -> Result<Weights, Skip> {
        let no = || Skip::Layout(format!("of weights: {}", tensor.summary()));
        let stored = stored(tensor.dtype).ok_or_else(|| Skip::DataType(format!("{} as weights", tensor.dtype)))?;
        let blocking = &unblocked(tensor.blocking().ok_or_else(no)?, depth.last().copied().unwrap_or(0));
        let axis = Axis::new(depth, tensor.dims());
        let (k, n) = (axis.len(), tensor.dims()[column] as usize);
        let bytes = |elements: i64| {
            let bits = usize::try_from(elements).ok()?.checked_mul(stored.bits())?;
            bits.is_multiple_of(8).then_some(bits / 8)
        };
        let offset = bytes(blocking.offset).ok_or_else(no)?;
        let step = axis.chained(blocking).ok_or_else(no)?;
        let words = |numbers: usize| numbers.is_multiple_of(stored.in_word());
        let lie = if !blocking.is_plain() {
            let decode = Decode { stored, pairs: false };
            let together = decode.line_depth();
            let width = blocking.inner.of(column);
            let mut want = vec![(column, width)];
            if together > 1 {
                want.push((axis.single().ok_or_else(no)?, together as i64));
            }
            let whole = |d: usize, block: i64| blocking.padded_dims[d] % block == 0;
            let fits = blocking.inner.iter().eq(want.iter().copied()) && want.iter().all(|(d, block)| whole(*d, *block));
            let vectors = width as usize / isa.width().lanes();
            if !fits || width % isa.width().lanes() as i64 != 0 || vectors > 8 || step != width * together as i64 {
                return Err(no());
            }
            WeightOrder::Panels { columns: width as usize, distance: bytes(blocking.strides[column]).ok_or_else(no)? }
        } else {
            let (by_columns, by_rows) = (step == 1 || k == 1, blocking.strides[column] == 1 || n == 1);
            match (by_columns, by_rows) {
                (true, rows) if words(k) || !(rows && words(n)) => {
                    WeightOrder::Columns { distance: bytes(blocking.strides[column]).ok_or_else(no)? }
                }
                (_, true) => WeightOrder::Rows { distance: bytes(step).ok_or_else(no)? },
                _ => return Err(no()),
            }
        };
        Ok(Weights { stored, k, n, order: lie, offset })
    }

    /// Whether contiguous rows or columns are whole words, except for their last element if it has 16 bits.
    pub(super) fn has_whole_words(&self) -> bool {
        match self.order {
            _ if self.stored.bits() == 16 => true,
            WeightOrder::Panels { .. } => true,
            WeightOrder::Rows { .. } => self.n.is_multiple_of(Decode { stored: self.stored, pairs: false }.in_lane()),
            WeightOrder::Columns { .. } => self.k.is_multiple_of(self.stored.in_word()),
        }
    }

    /// Whether they are rows of 4-bit elements, no more than `most` and too few for a vector of words.
    pub fn are_short(&self, isa: Isa, most: usize) -> bool {
        let vector = isa.width().lanes() * self.stored.in_word();
        self.stored.bits() == 4 && matches!(self.order, WeightOrder::Rows { .. }) && self.n < vector && self.n <= most
    }

    /// Bytes of the elements.
    pub(super) fn bytes(&self) -> usize {
        self.k.saturating_mul(self.n).saturating_mul(self.stored.bits()) / 8
    }
}
