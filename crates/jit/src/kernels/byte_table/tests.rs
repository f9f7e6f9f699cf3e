use super::*;
use crate::testing::{golden, run};

#[test]
fn bytes_become_their_results() {
    let table: Vec<u8> = (0..=255u8).map(|x| x.wrapping_mul(7) ^ 0x5a).collect();
    for isa in [Isa::AVX512_FP16, Isa::AVX512_FP16.emulated()] {
        for (vectors, streaming) in [(1, false), (3, true), (9, false), (12, true)] {
            let from: Vec<u8> = (0..vectors * VECTOR).map(|i| (i * 37 + i / 64) as u8).collect();
            let mut to = vec![0xee; (vectors + 2) * VECTOR];
            let first = to.as_ptr().align_offset(VECTOR);
            let args = Args { from: from.as_ptr(), to: to[first..].as_mut_ptr(), table: table.as_ptr(), vectors };
            run(ByteTable { streaming }.function(isa), &args);
            let want: Vec<u8> = from.iter().map(|x| table[usize::from(*x)]).collect();
            assert_eq!(to[first..][..from.len()], want, "{vectors} vectors, {}", isa.name());
            assert!(to[..first].iter().chain(&to[first + from.len()..]).all(|x| *x == 0xee), "bytes outside");
        }
    }
}

#[test]
fn golden_listings() {
    assert_eq!(golden(&ByteTable { streaming: false }, Isa::AVX512_FP16).inner_spills, 0);
}
