use super::*;

/// Bytes that no system gives.
const NEVER: usize = isize::MAX as usize - 4096;

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

#[test]
fn what_the_system_refuses_comes_from_the_reserve() {
    let reserve = Reserving::<{ 1 << 16 }>::new();
    assert!(reserve.is_unused());
    let blocks: Vec<(*mut u8, Layout)> =
        [(1, 1), (100, 64), (4096, 4096), (8, 8)].map(|(size, align)| layout(size, align)).map(|l| (reserve.take(l), l)).into();
    for (i, (block, layout)) in blocks.iter().enumerate() {
        assert!(reserve.holds(*block) && block.addr().is_multiple_of(layout.align()));
        let apart =
            |(other, size): &(*mut u8, Layout)| other.addr() + size.size() <= block.addr() || block.addr() + layout.size() <= other.addr();
        assert!(blocks.iter().enumerate().all(|(j, other)| i == j || apart(other)));
    }
    assert!(!reserve.is_unused());
    // SAFETY: blocks of this allocator, given back once with their layouts.
    blocks.iter().for_each(|(block, layout)| unsafe { reserve.dealloc(*block, *layout) });
    assert!(reserve.is_unused());
    assert_eq!(reserve.take(layout(1, 1)), reserve.start(), "all of the room is free again");
}

#[test]
fn what_does_not_fit_is_refused() {
    let reserve = Reserving::<{ 1 << 16 }>::new();
    assert!(reserve.take(layout((1 << 16) + 1, 1)).is_null() && reserve.take(layout(NEVER, 1)).is_null());
    assert!(ALLOCATOR.take(layout(MAX_BLOCK_BYTES + 1, 1)).is_null());
    assert!(reserve.is_unused());
    // SAFETY: layouts that are not empty; nothing is used. The compiler would leave out what is not looked at.
    let blocks = unsafe { [reserve.alloc(layout(NEVER, 1)), reserve.alloc_zeroed(layout(NEVER, 1))] };
    assert!(std::hint::black_box(blocks).iter().all(|block| block.is_null()));
}

#[test]
fn blocks_grow_out_of_the_reserve_and_stay_where_they_cannot() {
    let reserve = Reserving::<{ 1 << 16 }>::new();
    let block = reserve.take(layout(16, 8));
    // SAFETY: a block of 16 bytes, moved to 64 by the system and given back with its new layout.
    unsafe {
        block.write_bytes(7, 16);
        let moved = reserve.realloc(block, layout(16, 8), 64);
        assert!(!reserve.holds(moved) && std::slice::from_raw_parts(moved, 16) == [7; 16] && reserve.is_unused());
        assert!(reserve.realloc(moved, layout(64, 8), NEVER).is_null());
        reserve.dealloc(moved, layout(64, 8));
    }
}

#[test]
fn threads_share_the_reserve() {
    let reserve = Reserving::<{ 1 << 16 }>::new();
    std::thread::scope(|scope| {
        for t in 0..4 {
            let reserve = &reserve;
            scope.spawn(move || {
                for i in 0..20_000_usize {
                    let layout = layout(1 + i % 100, 1);
                    let block = reserve.take(layout);
                    if !block.is_null() {
                        // SAFETY: the block is this thread's and as long.
                        unsafe {
                            block.write_bytes(t, layout.size());
                            assert!(std::slice::from_raw_parts(block, layout.size()).iter().all(|b| *b == t));
                            reserve.dealloc(block, layout);
                        }
                    }
                }
            });
        }
    });
    assert!(reserve.is_unused());
    assert_eq!(replenished(), Ok(()));
}
