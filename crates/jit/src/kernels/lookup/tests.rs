use super::*;
use crate::testing::{ISAS, golden, run};

/// Elements of four bytes whose places are reversed in groups, and every other one of which stays as it was.
fn compare(isa: Isa, vectors: usize) {
    let kernel = Lookup { from: Elem::F32, to: Elem::F32 };
    let n = isa.width().lanes();
    let from: Vec<u32> = (0..(vectors * n) as u32).map(|i| i * 7 + 1).collect();
    let mut to = vec![u32::MAX; vectors * n];
    let all = u16::MAX >> (LANES - n);
    let step = |i: usize| Step { from: i * n * 4, to: (vectors - 1 - i) * n * 4, reads: all, writes: 0x5555 & all };
    let steps: Vec<Step> = (0..vectors).map(step).collect();
    let lanes = vec![std::array::from_fn(|lane| (n - 1 - lane.min(n - 1)) as u32); vectors];
    let args =
        Args { from: from.as_ptr().cast(), to: to.as_mut_ptr().cast(), steps: steps.as_ptr(), lanes: lanes.as_ptr(), count: vectors };
    if !run(kernel.function(isa), &args) {
        return;
    }
    for (i, number) in to.iter().enumerate() {
        let want = if i % 2 == 0 { from[(vectors - 1 - i / n) * n + n - 1 - i % n] } else { u32::MAX };
        assert_eq!(*number, want, "element {i} of {vectors} vectors {}", isa.name());
    }
}

#[test]
fn lanes_come_from_lanes() {
    for isa in ISAS {
        for vectors in [1, 2, 5] {
            compare(isa, vectors);
        }
    }
}

#[test]
fn nothing_that_is_not_named_is_read() {
    // Bytes: the vector begins with the last two of the memory.
    let kernel = Lookup { from: Elem::Low8, to: Elem::Low8 };
    for isa in ISAS.into_iter().filter(|isa| isa.avx512) {
        let (from, mut to) = (vec![3u8, 9], vec![0u8; 2]);
        let steps = [Step { from: 0, to: 0, reads: 0b11, writes: 0b11 }];
        let lanes = [std::array::from_fn(|lane| u32::from(lane == 0))];
        let args = Args { from: from.as_ptr(), to: to.as_mut_ptr(), steps: steps.as_ptr(), lanes: lanes.as_ptr(), count: 1 };
        if run(kernel.function(isa), &args) {
            assert_eq!(to, [9, 3], "{}", isa.name());
        }
    }
}

#[test]
fn golden_listings() {
    for isa in [Isa::AVX2, Isa::AVX512] {
        assert_eq!(golden(&Lookup { from: Elem::F32, to: Elem::F32 }, isa).inner_spills, 0);
    }
}
