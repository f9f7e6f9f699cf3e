use super::*;
use crate::hardware::Caches;

fn cut(product: Product, [rows, depth, columns]: [usize; 3], workers: usize) -> Cut {
    let kind = Kind { isa: Isa::AVX512_BF16, product, right: Right::Panels, a_step: Stride::Fixed(4), tail: None };
    let target = CpuTarget { threads: workers, caches: Caches::USUAL, ..CpuTarget::host() };
    Cut::new(&kind, Sizes { batch: 1, rows, columns, width: 64, depth }, &target)
}

#[test]
fn groups_are_all_panels_and_as_wide_as_each_other() {
    for columns in [1, 64, 320, 768, 4096] {
        for workers in [1, 2, 3, 16] {
            let cut = cut(Product::F32, [384, 1024, columns], workers);
            let mut end = 0;
            for group in (0..cut.groups).map(|group| cut.group(group)) {
                assert_eq!(group.start, end);
                assert!(cut.most_panels() - group.len() <= 1 && !group.is_empty(), "{columns} columns by {workers}: {cut:?}");
                end = group.end;
            }
            assert_eq!(end, cut.panels);
        }
    }
}

#[test]
fn tasks_are_as_many_for_each_worker() {
    for (product, sizes, workers) in [
        (Product::U8S8, [384, 1024, 4096], 2),
        (Product::Bf16, [384, 1024, 4096], 2),
        (Product::F32, [1024, 1024, 1024], 3),
        (Product::F32, [2048, 2048, 2048], 16),
    ] {
        let cut = cut(product, sizes, workers);
        assert!((cut.groups * cut.blocks()).is_multiple_of(workers), "{sizes:?} by {workers}: {cut:?}");
    }
}
