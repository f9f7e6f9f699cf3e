use super::*;
use crate::hardware::Caches;

fn target(threads: usize) -> CpuTarget {
    CpuTarget { threads, caches: Caches::USUAL, ..CpuTarget::host() }
}

fn sizes(batch: usize, channels: usize) -> Sizes {
    let (slc, sic, dhc, dic) = (channels, channels, channels, channels);
    Sizes { layers: 1, directions: 1, time: 4, batch, slc, sic, dhc, dic, gates: 4, bias_gates: 4 }
}

#[test]
fn slices_are_all_of_the_batch() {
    for (batch, workers) in [(1, 1), (8, 2), (13, 4), (100, 2), (500, 8)] {
        let partition = Partition::new(&sizes(batch, 256), &target(workers), 4, 1 << 20);
        let slices: Vec<_> = (0..partition.slices).map(|slice| partition.rows(slice)).collect();
        assert_eq!(slices.iter().cloned().flatten().collect::<Vec<_>>(), (0..batch).collect::<Vec<_>>());
        assert!(slices.iter().all(|s| partition.heights().contains(&s.len())), "{partition:?}: {slices:?}");
        assert!(partition.tallest() <= MAX_SLICE_ROWS && partition.tallest() >= batch.div_ceil(partition.slices));
    }
}

#[test]
fn threads_share_a_step_where_it_is_large_and_a_slice_of_all_steps_else() {
    assert!(Partition::new(&sizes(1, 256), &target(1), 4, 1 << 20).whole, "one thread");
    assert!(Partition::new(&sizes(1, 64), &target(2), 1, 64 << 10).whole, "a short step");
    assert!(Partition::new(&sizes(16, 128), &target(2), 2, 256 << 10).whole, "a slice for each, weights in L2");
    let partition = Partition::new(&sizes(8, 256), &target(2), 4, 1 << 20);
    assert!(!partition.whole && partition.slices == 1, "weights that do not stay in one cache are shared: {partition:?}");
}
