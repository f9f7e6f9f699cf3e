//! Ragged tensors: batches of different lengths, one behind the other, are computed on padded copies.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::program::Ragged;
use crate::backend::tensor::TensorDesc;
use crate::handle;
use crate::status::Failure;
use oxidnn_cuda::ragged;
use oxidnn_spec::{DataType, Tensor};
use std::sync::Arc;

impl Lowering<'_> {
    /// The padded copy of a ragged tensor: batch x heads x sequence x size.
    pub(super) fn padded_copy(&mut self, tensor: &TensorDesc, dtype: DataType) -> Result<Val, Failure> {
        let what = format_args!("the tensor {} is ragged (RAGGED_OFFSET_DESC)", tensor.uid);
        let Some(places) = tensor.ragged.as_ref() else { return Err(unsupported(what)) };
        let offsets = places.offsets.tensor()?;
        let slot = |uid: i64| self.uids.binary_search(&uid).map_err(|_| unsupported("a tensor that the graph does not know"));
        let (user, at) = (slot(tensor.uid)?, slot(places.offsets.uid)?);
        let whole = matches!(offsets.dtype, DataType::S32 | DataType::S64);
        if tensor.is_virtual
            || tensor.dims.len() != 4
            || tensor.vector.is_some()
            || tensor.strides[2] < 1
            || tensor.is_bits()
            || dtype.bits() < 8
        {
            return Err(unsupported(format_args!("{what} but not the caller's, of four dimensions, whose sequences have a stride")));
        }
        if !whole || offsets.layout.elements() != tensor.dims[0].checked_add(1) || !offsets.layout.is_dense(false) {
            return Err(misfit("RAGGED_OFFSET_DESC", offsets.dims(), format_args!("{} + 1 whole numbers", tensor.dims[0])));
        }
        let padded = self.temp(Tensor::plain(tensor.dims, dtype)?);
        let [dims, strides] = [tensor.dims, tensor.strides].map(|d| [d[0], d[1], d[2], d[3]]);
        let is_output = self.graph.nodes.iter().any(|node| node.writes.contains(&tensor.uid));
        let (wide, width) = (offsets.dtype == DataType::S64, dtype.bits() / 8);
        let copy = ragged::Ragged { dims, strides, unit: places.unit, wide, bytes: width, into: !is_output };
        let on_device = handle::gpu()?.map(|gpu| copy.load(gpu.device.target())).transpose()?.map(Arc::new);
        let ragged = Ragged { user, offsets: at, wide, unit: places.unit, dims, strides, width, is_output, on_device, padded: 0 };
        self.ragged.push((self.temps.len() - 1, ragged));
        Ok(padded)
    }
}
