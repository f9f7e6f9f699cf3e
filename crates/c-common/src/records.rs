//! Structures whose layout is part of the ABI: public ones, and the memory descriptor, which clients read through its handle.

use bytemuck::{Pod, Zeroable};

#[cfg(test)]
mod tests;

/// `dnnl_dims_t`.
pub type DimsArray = [i64; 12];

/// `dnnl_memory_desc`: 768 bytes. [`MemoryDesc::format`] is a union, discriminated by [`MemoryDesc::format_kind`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct MemoryDesc {
    /// 1 in every descriptor.
    pub initialized: u8,
    #[doc(hidden)]
    pub gap: [u8; 3],
    /// Number of dimensions; 0 in the empty descriptor.
    pub ndims: i32,
    /// Logical sizes.
    pub dims: DimsArray,
    /// `dnnl_data_type_t`.
    pub data_type: i32,
    #[doc(hidden)]
    pub gap2: i32,
    /// Sizes with padding.
    pub padded_dims: DimsArray,
    /// Offsets of the logical tensor in the padded one.
    pub padded_offsets: DimsArray,
    /// Elements before the first one.
    pub offset0: i64,
    /// Which member of the union, see [`format_kind`].
    pub format_kind: i32,
    #[doc(hidden)]
    pub gap3: i32,
    /// The union, as its largest member.
    pub format: Sparse,
    /// Data after the elements.
    pub extra: Extra,
}

/// Values of [`MemoryDesc::format_kind`].
pub mod format_kind {
    /// No format: the empty descriptor.
    pub const UNDEF: i32 = 0;
    /// The implementation chooses.
    pub const ANY: i32 = 1;
    /// [`super::Blocked`].
    pub const BLOCKED: i32 = 2;
    /// An implementation's own format.
    pub const OPAQUE: i32 = 3;
    /// [`super::Sparse`].
    pub const SPARSE: i32 = 4;
    /// A host scalar.
    pub const HOST_SCALAR: i32 = 5;
}

/// Strides and inner blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Blocked {
    /// Strides between outer blocks of a dimension.
    pub strides: DimsArray,
    /// Number of inner blocks.
    pub inner_nblks: i32,
    #[doc(hidden)]
    pub gap: i32,
    /// Sizes of the inner blocks, outermost first.
    pub inner_blks: DimsArray,
    /// Dimensions of the inner blocks.
    pub inner_idxs: DimsArray,
}

/// A sparse encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Sparse {
    /// `dnnl_sparse_encoding_t`, see [`encoding`].
    pub encoding: i32,
    #[doc(hidden)]
    pub gap: i32,
    /// Number of stored values.
    pub nnz: i64,
    /// Data types of the index arrays.
    pub metadata_types: [i32; 2],
    /// Blocking of the dense tensor of a packed one.
    pub packed: Blocked,
}

/// Values of [`Sparse::encoding`].
pub mod encoding {
    /// Compressed sparse rows (CSR).
    pub const CSR: i32 = 1;
    /// A mask and packed values.
    pub const PACKED: i32 = 2;
    /// Coordinates (COO).
    pub const COO: i32 = 3;
}

/// Compensation sums after the data, and the factor for processors without the instructions that make it unnecessary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Extra {
    /// Bits of [`extra_flags`].
    pub flags: u64,
    /// Dimensions of the sums for shifted s8 sources.
    pub compensation_mask: i32,
    /// Bits of the factor, an `f32`, by which the weights were multiplied.
    pub scale_adjust: u32,
    /// Dimensions of the sums for asymmetric sources.
    pub asymm_compensation_mask: i32,
    #[doc(hidden)]
    pub gap: i32,
    /// Sizes of GPU formats.
    pub gpu: [i64; 13],
}

/// Bits of [`Extra::flags`].
pub mod extra_flags {
    /// Sums for shifted s8 sources.
    pub const S8S8: u64 = 1;
    /// Weights were multiplied by a factor.
    pub const SCALE_ADJUST: u64 = 2;
    /// Sums for asymmetric sources.
    pub const ASYMMETRIC_SRC: u64 = 8;
}

impl Blocked {
    /// No strides.
    pub const ZERO: Blocked = Blocked { strides: [0; 12], inner_nblks: 0, gap: 0, inner_blks: [0; 12], inner_idxs: [0; 12] };
}

impl Sparse {
    /// No encoding.
    pub const ZERO: Sparse = Sparse { encoding: 0, gap: 0, nnz: 0, metadata_types: [0; 2], packed: Blocked::ZERO };
}

impl MemoryDesc {
    /// The empty descriptor.
    pub const ZERO: MemoryDesc = MemoryDesc {
        initialized: 1,
        gap: [0; 3],
        ndims: 0,
        dims: [0; 12],
        data_type: 0,
        gap2: 0,
        padded_dims: [0; 12],
        padded_offsets: [0; 12],
        offset0: 0,
        format_kind: format_kind::UNDEF,
        gap3: 0,
        format: Sparse::ZERO,
        extra: Extra { flags: 0, compensation_mask: 0, scale_adjust: 0, asymm_compensation_mask: 0, gap: 0, gpu: [0; 13] },
    };

    /// The union as strides and blocks.
    pub fn blocked(&self) -> &Blocked {
        bytemuck::from_bytes(&bytemuck::bytes_of(&self.format)[..size_of::<Blocked>()])
    }

    /// The union as words.
    pub fn words(&self) -> &[i64] {
        bytemuck::cast_slice(bytemuck::bytes_of(&self.format))
    }

    /// Sets the union to strides and blocks.
    pub fn set_blocked(&mut self, blocked: Blocked) {
        self.set_words(bytemuck::cast_slice(bytemuck::bytes_of(&blocked)));
        self.format_kind = format_kind::BLOCKED;
    }

    /// Sets the union's words, of which it has 40.
    pub fn set_words(&mut self, words: &[i64]) {
        self.format = Sparse::ZERO;
        let all: &mut [i64] = bytemuck::cast_slice_mut(bytemuck::bytes_of_mut(&mut self.format));
        for (word, value) in all.iter_mut().zip(words) {
            *word = *value;
        }
    }
}

/// `oxidnn_primitive_cache_statistics_t`, of our own header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub struct CacheStatistics {
    /// Hits.
    pub hits: u64,
    /// Misses.
    pub misses: u64,
    /// Evicted entries.
    pub evictions: u64,
    /// Entries now.
    pub entries: u64,
    /// Bytes of their code and tables.
    pub bytes: u64,
}

/// `dnnl_version_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Version {
    /// Major version.
    pub major: i32,
    /// Minor version.
    pub minor: i32,
    /// Patch.
    pub patch: i32,
    /// The commit in oneDNN, here the name and version of this library; zero-terminated.
    pub hash: &'static [u8; 32],
    /// Threads of the CPU engine, one of [`runtime`].
    pub cpu_runtime: u32,
    /// Driver of the GPU engine, one of [`runtime`].
    pub gpu_runtime: u32,
}

/// Values of [`Version::cpu_runtime`] and [`Version::gpu_runtime`].
pub mod runtime {
    /// There is none.
    pub const NONE: u32 = 0;
    /// OpenMP.
    pub const OMP: u32 = 2;
    /// A pool that the caller brings.
    pub const THREADPOOL: u32 = 8;
}
