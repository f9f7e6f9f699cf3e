use super::*;
use std::mem::offset_of;

#[test]
fn the_memory_descriptor_lies_as_clients_read_it() {
    assert_eq!(size_of::<MemoryDesc>(), 768);
    let offsets = [
        (offset_of!(MemoryDesc, initialized), 0),
        (offset_of!(MemoryDesc, ndims), 4),
        (offset_of!(MemoryDesc, dims), 8),
        (offset_of!(MemoryDesc, data_type), 104),
        (offset_of!(MemoryDesc, padded_dims), 112),
        (offset_of!(MemoryDesc, padded_offsets), 208),
        (offset_of!(MemoryDesc, offset0), 304),
        (offset_of!(MemoryDesc, format_kind), 312),
        (offset_of!(MemoryDesc, format), 320),
        (offset_of!(MemoryDesc, extra), 640),
        (offset_of!(Blocked, inner_nblks), 96),
        (offset_of!(Blocked, inner_blks), 104),
        (offset_of!(Blocked, inner_idxs), 200),
        (offset_of!(Sparse, nnz), 8),
        (offset_of!(Sparse, metadata_types), 16),
        (offset_of!(Sparse, packed), 24),
        (offset_of!(Extra, compensation_mask), 8),
        (offset_of!(Extra, scale_adjust), 12),
        (offset_of!(Extra, asymm_compensation_mask), 16),
        (offset_of!(Extra, gpu), 24),
        (offset_of!(Version, hash), 16),
        (offset_of!(Version, gpu_runtime), 28),
    ];
    for (i, (is, must)) in offsets.into_iter().enumerate() {
        assert_eq!(is, must, "offset {i}");
    }
    assert_eq!((size_of::<Extra>(), size_of::<Version>()), (128, 32));
}

#[test]
fn the_union_holds_what_was_put_in() {
    let mut desc = MemoryDesc::ZERO;
    let blocked = Blocked { strides: [7; 12], inner_nblks: 1, gap: 0, inner_blks: [16; 12], inner_idxs: [1; 12] };
    desc.set_blocked(blocked);
    assert_eq!((desc.format_kind, *desc.blocked()), (format_kind::BLOCKED, blocked));
    let sparse = Sparse { encoding: encoding::PACKED, gap: 0, nnz: 5, metadata_types: [4, 0], packed: blocked };
    desc.format = sparse;
    assert_eq!((desc.words()[1], desc.words()[39]), (5, 1));
}
