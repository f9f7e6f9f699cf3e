use super::*;
use DataType::*;

/// The known answers of the paper's own test suite (Random123, kat_vectors).
#[test]
fn philox_known_answers() {
    let ones = u32::MAX;
    assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    assert_eq!(philox4x32([ones; 4], [ones; 2]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
    let pi = philox4x32([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]);
    assert_eq!(pi, [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]);
}

fn mask(n: u64, seed: i64, offset: i64, p: f32) -> String {
    (0..n).map(|i| if dropout_keeps(i, seed, offset, p) { '1' } else { '0' }).collect()
}

/// Masks that oneDNN 3.13.2 wrote for an eltwise of 64 elements with p = 0.5.
#[test]
fn dropout_keeps_what_onednn_keeps() {
    assert_eq!(mask(64, 1, 0, 0.5), "1111111111111111111111110000000000001111000000000000000011110000");
    assert_eq!(mask(64, 1, 1, 0.5), "1101100111100010110000100001100111101001000000010100100001001001");
    assert_eq!(mask(64, 1, 4, 0.5), "0111111010100100001011001011101010100001010111010110011110100001");
}

#[test]
fn dropout_at_the_ends() {
    assert_eq!((dropout_threshold(0.0), dropout_threshold(0.5), dropout_threshold(1.0)), (0, 1 << 31, u32::MAX));
    assert!((0..10_000).all(|i| !dropout_keeps(i, 3, 9, 1.0)));
    let kept = (0..100_000).filter(|&i| dropout_keeps(i, 3, 9, 0.25)).count();
    assert!((74_000..76_000).contains(&kept), "{kept}");
}

/// Exact values stay, others fall on one of their two neighbours, the upper with the probability of the distance.
#[test]
fn stochastic_rounding_is_unbiased() {
    for (dtype, ulp) in [(Bf16, 2f64.powi(-7)), (F16, 2f64.powi(-10)), (F8E5m2, 0.25), (F8E4m3, 0.125), (F4E2m1, 0.5), (F4E3m0, 1.0)] {
        for sign in [1.0, -1.0] {
            assert_eq!(round_stochastic(dtype, sign, 7, 1), sign);
            let n = 20_000;
            let v = sign * (1.0 + 0.3 * ulp);
            let mut sum = 0.0;
            for i in 0..n {
                let r = round_stochastic(dtype, v, i, 1);
                assert!(r == sign || r == sign * (1.0 + ulp), "{dtype} {r}");
                sum += (r - sign).abs() / ulp;
            }
            assert!((sum / n as f64 - 0.3).abs() < 0.02, "{dtype} {}", sum / n as f64);
        }
    }
    let tiny = 2f64.powi(-25);
    let up = (0..1000).filter(|&i| round_stochastic(F16, tiny, i, 5) > 0.0).count();
    assert!((430..570).contains(&up), "half of the smallest subnormal: {up}");
    assert_eq!(round_stochastic(S8, 1.5, 3, 1), 2.0);
    assert!(round_stochastic(F16, f64::NAN, 3, 1).is_nan());
    assert_eq!(round_stochastic(F16, f64::INFINITY, 3, 1), f64::INFINITY);
}
