use super::*;
use crate::testing::{ISAS, golden, run};

const F32: Lookup = Lookup { from: Elem::F32, to: Elem::F32, sources: 1, whole: false };

/// Elements of four bytes whose places are reversed in groups, lane `i` from source `i % sources`; every other one stays as it was where not the `whole` is
/// written. All twice, the second time after the first.
fn compare(isa: Isa, vectors: usize, (sources, whole): (usize, bool)) {
    let kernel = Lookup { sources: sources as u8, whole, ..F32 };
    let n = isa.width().lanes();
    let [read, written] = [vectors * sources * n, vectors * n];
    let from: Vec<u32> = (0..2 * read as u32).map(|i| i * 7 + 1).collect();
    let mut to = vec![u32::MAX; 2 * written];
    let all = u16::MAX >> (LANES - n);
    let step = |i: usize| Step { to: (vectors - 1 - i) * n * 4, writes: 0x5555 & all };
    let steps: Vec<Step> = (0..vectors).map(step).collect();
    let source = |i: usize| Source {
        from: i * n * 4,
        reads: all,
        takes: (0..n).filter(|lane| lane % sources == i % sources).map(|lane| 1 << lane).sum(),
        lanes: std::array::from_fn(|lane| (n - 1 - lane.min(n - 1)) as u8),
    };
    let table: Vec<Source> = (0..vectors * sources).map(source).collect();
    let args = Args {
        from: from.as_ptr().cast(),
        to: to.as_mut_ptr().cast(),
        steps: steps.as_ptr(),
        sources: table.as_ptr(),
        count: vectors,
        times: 2,
        from_next: read * 4,
        to_next: written * 4,
    };
    run(kernel.function(isa), &args);
    for (i, number) in to.iter().enumerate() {
        let (time, vector, lane) = (i / written, vectors - 1 - i % written / n, i % n);
        let want =
            if whole || lane % 2 == 0 { from[time * read + (vector * sources + lane % sources) * n + n - 1 - lane] } else { u32::MAX };
        assert_eq!(*number, want, "element {i} of {vectors} vectors of {sources} {}", isa.name());
    }
}

#[test]
fn lanes_come_from_lanes() {
    for isa in ISAS {
        for vectors in [1, 2, 5] {
            for sources in [1, 2, 3, SOURCES] {
                for whole in [false, true] {
                    compare(isa, vectors, (sources, whole));
                }
            }
        }
    }
}

#[test]
fn nothing_that_is_not_named_is_read() {
    // Bytes: the vector begins with the last two of the memory.
    let kernel = Lookup { from: Elem::Low8, to: Elem::Low8, ..F32 };
    for isa in ISAS.into_iter().filter(|isa| isa.avx512) {
        let (from, mut to) = (vec![3u8, 9], vec![0u8; 2]);
        let steps = [Step { to: 0, writes: 0b11 }];
        let sources = [Source { from: 0, reads: 0b11, takes: 0b11, lanes: std::array::from_fn(|lane| u8::from(lane == 0)) }];
        let args = Args {
            from: from.as_ptr(),
            to: to.as_mut_ptr(),
            steps: steps.as_ptr(),
            sources: sources.as_ptr(),
            count: 1,
            times: 1,
            from_next: 0,
            to_next: 0,
        };
        run(kernel.function(isa), &args);
        assert_eq!(to, [9, 3], "{}", isa.name());
    }
}

#[test]
fn golden_listings() {
    for isa in [Isa::AVX2, Isa::AVX512] {
        assert_eq!(golden(&Lookup { sources: SOURCES as u8, whole: true, ..F32 }, isa).inner_spills, 0);
        assert_eq!(golden(&F32, isa).inner_spills, 0);
    }
}
