use super::*;
use crate::sweep::{Choices, Sweep};

/// Adds more to the first element of a portable row's destination than any rounding of such sums may.
fn far_off(row: &str, got: &HostArgs) {
    let outputs = got.0.iter().filter(|(arg, _)| *arg == Arg::DST);
    for (_, tensor) in outputs.filter(|_| row.contains(":portable")) {
        let mut values = tensor.values();
        values[0] += 1e4;
        tensor.set_values(&values);
    }
}

#[test]
fn a_row_that_is_wrong_is_found_in_every_problem_that_it_takes() {
    let drivers = vec!["matmul".into(), "conv".into()];
    let sweep = Sweep::new(Choices { seed: 2, small: true, drivers, budget: 1e5 }).unwrap();
    let mut harness = Harness::on(&Threads::inline(), Some("portable".into())).unwrap();
    let cases: Vec<Case> = (0..400).map(|i| sweep.problem(i).unwrap().case).collect();
    // Sums of small numbers, kept in 32 bits.
    let sums = |c: &&Case| {
        let dst = c.problem.op.tensor(Arg::DST);
        c.problem.attr.post_ops.is_empty() && dst.is_some_and(|t| t.dtype == DataType::F32 && !t.dims().contains(&0))
    };
    let right: Vec<&Case> = cases.iter().filter(sums).filter(|c| matches!(harness.judge(c), Verdict::Passed { .. })).collect();
    assert!(right.len() > 20, "{}", right.len());
    harness.spoil = Some(far_off);
    for case in right {
        let verdict = harness.judge(case);
        assert!(
            matches!(&verdict, Verdict::Wrong { why } if why.iter().all(|w| w.contains(":portable") && w.contains(": dst: 1 of "))),
            "{case}: {verdict:?}"
        );
    }
}

#[test]
fn what_does_not_fit_the_memory_is_an_error() {
    let case: Case = "--matmul 1000000x1000000:1000000x1000000".parse().unwrap();
    let harness = Harness::on(&Threads::inline(), None).unwrap();
    assert!(matches!(harness.verify(&case), Err(Error::OutOfMemory { .. })));
}

#[test]
fn runtime_strides_get_numbers() {
    let harness = Harness::on(&Threads::inline(), Some("ref:any".into())).unwrap();
    for line in ["--matmul --strides=*x1:1x*:*x1 5x7:7x3", "--reorder --strides=1x*:*x1 5x7"] {
        assert!(matches!(harness.judge(&line.parse().unwrap()), Verdict::Passed { .. }), "{line}");
    }
}

#[test]
fn sizes_that_a_line_does_not_give_are_an_error() {
    let harness = Harness::on(&Threads::inline(), Some("ref:any".into())).unwrap();
    for line in ["--reorder --stag=a --dtag=a *", "--matmul --stag=ab --wtag=ab --dtag=ab *x7:7x2"] {
        let verdict = harness.judge(&line.parse().unwrap());
        assert!(matches!(&verdict, Verdict::Refused { why } if why.contains("--runtime-dim-mask")), "{line}: {verdict:?}");
    }
}

#[test]
fn rows_of_other_layouts_round_by_their_own_places() {
    let threads = Threads::inline();
    let harness = Harness::on(&threads, None).unwrap().and_narrower(&threads).unwrap();
    let line = "--conv --dt=u8:s8:bf16 --stag=aBcde16b --attr-rounding-mode=dst:stochastic g8mb4ic8oc8id4ih6iw5od4oh3ow3sd1sh2sw2";
    let verdict = harness.judge(&line.parse().unwrap());
    assert!(matches!(verdict, Verdict::Passed { .. }), "{verdict:?}");
}
