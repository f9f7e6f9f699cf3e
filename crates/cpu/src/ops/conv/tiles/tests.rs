use super::*;

/// Every step of every tap is in one part, and parts fit into L2 unless there is only one.
#[test]
fn parts_are_all_of_the_reduction() {
    for product in DotType::ALL {
        for (taps, depth) in [(1_usize, 64_usize), (9, 64), (9, 1000), (9, 3000), (121, 30), (9, 7001), (1, 12000)] {
            let each = product.step_depth();
            let tap_bytes = depth.div_ceil(each) * 64;
            let parts = Reduction { product, most: taps, taps, tap_bytes, depth }.parts();
            let steps = |p: &KBlock| p.steps + usize::from(p.k_tail > 0);
            assert!(parts.len() == 1 || parts.iter().all(|p| p.taps * steps(p) <= K_STEPS.window + 16 * taps), "{taps} taps of {depth}");
            let mut met = vec![0; taps * depth];
            for part in &parts {
                let numbers = part.steps * each + usize::from(part.k_tail);
                let first = part.first * each;
                let [from, end] = part.taken.unwrap_or([0, taps * tap_bytes]);
                let here = (0..taps).filter(|t| (from..end).contains(&(t * tap_bytes)));
                here.for_each(|t| met[t * depth + first..][..numbers].iter_mut().for_each(|n| *n += 1));
            }
            assert!(met.iter().all(|n| *n == 1), "{product:?}: {taps} taps of {depth}");
        }
    }
}
