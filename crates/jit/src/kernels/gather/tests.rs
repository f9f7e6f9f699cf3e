use super::*;
use crate::testing::{ISAS, golden, run};

/// Rows of so many bytes from `from` on, at places of their own.
fn compare(isa: Isa, rows: usize, bytes: usize, from: usize) {
    let kernel = Gather { partial: (bytes % 4) as u8 };
    let number = |i: usize, k: usize| (i * 89 + k * 7 + 1) as u8;
    let memory: Vec<Vec<u8>> = (0..rows).map(|i| (0..from + bytes).map(|k| number(i, k)).collect()).collect();
    let list: Vec<usize> = memory.iter().map(|row| row.as_ptr().addr()).collect();
    let to_row = bytes.next_multiple_of(4) + 64;
    let mut to = vec![0xee_u8; rows * to_row + 64];
    let args = Args { rows: list.as_ptr(), count: rows, from, chunks: bytes / 64, words: bytes % 64 / 4, to: to.as_mut_ptr(), to_row };
    run(kernel.function(isa), &args);
    for i in 0..rows {
        let row = &to[i * to_row..][..bytes.next_multiple_of(4)];
        let want = (0..row.len()).map(|k| if k < bytes { number(i, from + k) } else { 0 });
        assert!(row.iter().copied().eq(want), "row {i} of {rows} with {bytes} bytes {}", isa.name());
    }
}

#[test]
fn rows_follow_each_other() {
    for isa in ISAS.into_iter().filter(|isa| isa.avx512) {
        for rows in [1, 2, 16] {
            for bytes in [1, 2, 3, 4, 60, 61, 63, 64, 66, 127, 128, 131, 192] {
                compare(isa, rows, bytes, 0);
                compare(isa, rows, bytes, 12);
            }
        }
    }
}

#[test]
fn golden_listings() {
    for partial in [0, 3] {
        let kernel = Gather { partial };
        assert_eq!(golden(&kernel, Isa::AVX512).inner_spills, 0);
    }
}
