//! Descriptions of tensors for the tensor copy engine (TMA).

use super::{CudaError, check};
use crate::program::{MapKind, TensorMap};
use cudarc::driver::sys::{
    self, CUtensorMap, CUtensorMapDataType as Kind, CUtensorMapFloatOOBfill, CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapSwizzle,
};

/// A description as kernels take it: 128 bytes, aligned to 64.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct EncodedMap([u64; 16]);

impl Default for EncodedMap {
    fn default() -> EncodedMap {
        EncodedMap([0; 16])
    }
}

impl EncodedMap {
    /// The description of a tensor at `address`.
    ///
    /// # Errors
    /// [`CudaError::Call`] where the engine cannot read it: addresses and strides must be multiples of 16.
    pub fn new(map: &TensorMap, address: u64) -> Result<EncodedMap, CudaError> {
        let kind = match map.kind {
            MapKind::Bytes => Kind::CU_TENSOR_MAP_DATA_TYPE_UINT8,
            MapKind::Half => Kind::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            MapKind::Brain => Kind::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            MapKind::Single => Kind::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            MapKind::Rounded => Kind::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
            MapKind::Whole => Kind::CU_TENSOR_MAP_DATA_TYPE_INT32,
        };
        let mut encoded = EncodedMap::default();
        let steps = [1u32; 3];
        // SAFETY: writes 128 bytes at an address aligned to 64; reads three sizes, two strides, three sizes of tiles and three steps.
        let status = unsafe {
            sys::cuTensorMapEncodeTiled(
                std::ptr::from_mut(&mut encoded).cast::<CUtensorMap>(),
                kind,
                3,
                std::ptr::with_exposed_provenance_mut(address as usize),
                map.dims.as_ptr(),
                map.strides.as_ptr(),
                map.tile.as_ptr(),
                steps.as_ptr(),
                CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
                CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        check("cuTensorMapEncodeTiled", status)?;
        Ok(encoded)
    }
}
