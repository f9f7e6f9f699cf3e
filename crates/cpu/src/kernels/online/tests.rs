use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

const FACTOR: f32 = 0.25;
/// Strides of rows of scores and of results, larger than the rows.
const STEP: usize = 120;
const RESULTS: usize = 32;

fn isas() -> Vec<Isa> {
    [Some(Isa::AVX2), Some(Isa::AVX512), Isa::host()].into_iter().flatten().filter(|isa| isa.is_present()).collect()
}

/// Scores of a row: some rows are fully masked, one has a NaN.
fn score(row: usize, column: usize) -> f32 {
    match row {
        2 => f32::NEG_INFINITY,
        5 if column == 7 => f32::NAN,
        _ if column % 11 == row => f32::NEG_INFINITY,
        _ => ((row * 31 + column * 17) % 23) as f32 - 9.0,
    }
}

fn bf16(words: &[f32], i: usize) -> f32 {
    f32::from_bits(u32::from(bytemuck::cast_slice::<f32, u16>(words)[i]) << 16)
}

/// Every number of rows by blocks of every number of vectors, with earlier states, against the same in f64.
#[test]
fn states_weights_and_results_follow_the_recurrence() {
    for isa in isas() {
        let lanes = isa.width().lanes();
        for weights in [Elem::F32, Elem::Bf16] {
            let kernel = Online::get(isa, weights).unwrap();
            for (rows, vectors) in [(1, 1), (3, 5), (4, 4), (7, 7), (11, 2)] {
                let columns = vectors * lanes;
                let mut scores: Vec<f32> = (0..rows * STEP).map(|i| score(i / STEP, i % STEP)).collect();
                let old: Vec<State> = (0..rows)
                    .map(|r| match r % 4 {
                        2 => [f32::NEG_INFINITY, 0.0],
                        3 => [r as f32 - 12.0, 3.0],
                        _ => [r as f32 - 2.0, 3.0],
                    })
                    .collect();
                let (mut states, mut results) = (old.clone(), vec![2.0; rows * RESULTS]);
                kernel.run(Call {
                    scores: &mut scores,
                    step: STEP,
                    columns,
                    factor: FACTOR,
                    states: &mut states,
                    results: &mut results,
                    results_step: RESULTS,
                    results_columns: 16,
                });
                for r in 0..rows {
                    let of = |c: usize| f64::from(score(r, c) * FACTOR);
                    let largest = (0..columns).map(of).fold(f64::NEG_INFINITY, f64::max);
                    // The old reference stays unless it is far below the largest score.
                    let old_reference = f64::from(old[r][0]);
                    let largest = if largest - old_reference > f64::from(MAX_EXCESS) { largest } else { old_reference };
                    let reference = if largest.is_infinite() { 0.0 } else { largest };
                    let name = format!("{weights:?} {rows} rows, {vectors} vectors, row {r} on {}", isa.name());
                    let close =
                        |a: f32, b: f64, bound: f64| assert!(oxidnn_judge::within(f64::from(a), b, bound * b.abs()), "{name}: {a} for {b}");
                    let share = if largest == old_reference { 1.0 } else { (old_reference - reference).exp2() };
                    let mut sum = f64::from(old[r][1]) * share;
                    for c in 0..columns {
                        let want = (of(c) - reference).exp2();
                        sum += want;
                        let row = &scores[r * STEP..];
                        match weights {
                            _ if want.is_nan() => {}
                            Elem::F32 => close(row[c], want, 1e-6),
                            _ => close(bf16(row, c), want, 1.0 / 256.0),
                        }
                    }
                    close(states[r][0], largest, 0.0);
                    assert_eq!(states[r][1].is_nan(), sum.is_nan(), "{name}");
                    if !sum.is_nan() {
                        close(states[r][1], sum, 1e-5);
                    }
                    // Without a reference there are no results yet.
                    if old_reference.is_finite() {
                        results[r * RESULTS..][..16].iter().for_each(|x| close(*x, 2.0 * share, 1e-6));
                    }
                    assert!(results[r * RESULTS + 16..][..16].iter().all(|x| *x == 2.0), "{name}: behind the results");
                }
            }
        }
    }
}

#[test]
fn nothing_spills() {
    for isa in [Isa::AVX2, Isa::AVX512] {
        let several = together(isa) as u8;
        for (weights, rows) in [(Elem::F32, 1), (Elem::Bf16, 1), (Elem::F32, several), (Elem::Bf16, several)] {
            let spec = Spec { weights, rows };
            assert_eq!(spec.function(isa).finish().unwrap().inner_spills, 0, "{}", spec.name(isa));
        }
    }
}

/// Memory that is one element short is refused.
#[test]
fn kernels_stay_inside_their_memory() {
    let Some(isa) = Isa::host() else { return };
    let (lanes, rows) = (isa.width().lanes(), 5);
    let kernel = Online::get(isa, Elem::F32).unwrap();
    let run = |scores: usize, results: usize, columns: usize| {
        let (mut scores, mut results, mut states) = (vec![0.0; scores], vec![0.0; results], vec![[0.0, 0.0]; rows]);
        let call = Call {
            scores: &mut scores,
            step: 2 * lanes,
            columns,
            factor: 1.0,
            states: &mut states,
            results: &mut results,
            results_step: lanes,
            results_columns: lanes,
        };
        catch_unwind(AssertUnwindSafe(|| kernel.run(call))).is_ok()
    };
    let (scores, results) = (2 * lanes * rows, lanes * rows);
    assert!(run(scores, results, 2 * lanes));
    assert!(!run(scores - 1, results, 2 * lanes));
    assert!(!run(scores, results - 1, 2 * lanes));
    assert!(!run(scores, results, 2 * lanes - 1));
}
