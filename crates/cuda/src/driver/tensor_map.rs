//! Encoding of TMA descriptors (`CUtensorMap`).

use super::{CudaError, check};
use crate::program::{MapKind, MapTile, Swizzle, TensorMap};
use cudarc::driver::sys::{
    self, CUtensorMap, CUtensorMapDataType as Kind, CUtensorMapFloatOOBfill, CUtensorMapInterleave, CUtensorMapL2promotion,
    CUtensorMapSwizzle,
};

/// An encoded TMA descriptor, as kernels take it: 128 bytes, aligned to 64.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C, align(64))]
pub struct EncodedMap([u64; 16]);

impl EncodedMap {
    /// Encodes the descriptor of a tensor at `address`.
    ///
    /// # Errors
    /// [`CudaError::Call`] if TMA cannot address it: addresses and strides must be multiples of 16.
    pub fn new(map: &TensorMap, address: u64) -> Result<EncodedMap, CudaError> {
        let kind = match map.kind {
            MapKind::Bytes => Kind::CU_TENSOR_MAP_DATA_TYPE_UINT8,
            MapKind::Half => Kind::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            MapKind::Brain => Kind::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            MapKind::Single => Kind::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            MapKind::Rounded => Kind::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
            MapKind::Whole => Kind::CU_TENSOR_MAP_DATA_TYPE_INT32,
            MapKind::Words => Kind::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        };
        let mut encoded = EncodedMap::default();
        let to = std::ptr::from_mut(&mut encoded).cast::<CUtensorMap>();
        let (rank, address) = (map.rank.clamp(3, 5) as u32, std::ptr::with_exposed_provenance_mut(address as usize));
        let plain = CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE;
        let swizzle = match map.swizzle {
            Swizzle::None => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
            Swizzle::Half => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
            Swizzle::Full => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        };
        // 256 bytes are as fast in products, 1 % slower in convolutions, and 6 % where all stages read whole runs of an operand (H200, 2026-11-30).
        let promotion = CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
        let zeros = CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
        let (dims, strides) = (map.dims.as_ptr(), map.strides.as_ptr());
        match &map.tile {
            MapTile::Box(tile) => {
                let steps = [1u32; 5];
                // SAFETY: writes 128 bytes at an address aligned to 64; reads as many sizes, strides and steps as the rank has, at most five.
                let status = unsafe {
                    sys::cuTensorMapEncodeTiled(
                        to,
                        kind,
                        rank,
                        address,
                        dims,
                        strides,
                        tile.as_ptr(),
                        steps.as_ptr(),
                        plain,
                        swizzle,
                        promotion,
                        zeros,
                    )
                };
                check("cuTensorMapEncodeTiled", status)?;
            }
            MapTile::Window { lower, upper, channels, pixels, steps } => {
                let (lower, upper, steps) = (lower.as_ptr(), upper.as_ptr(), steps.as_ptr());
                // SAFETY: as above; reads corners of as many numbers as there are spatial dimensions, at most three.
                let status = unsafe {
                    sys::cuTensorMapEncodeIm2col(
                        to, kind, rank, address, dims, strides, lower, upper, *channels, *pixels, steps, plain, swizzle, promotion, zeros,
                    )
                };
                check("cuTensorMapEncodeIm2col", status)?;
            }
        }
        Ok(encoded)
    }
}
