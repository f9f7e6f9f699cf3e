//! Every row of the operations that are bound by memory against the reference, over the problem lines of `tests/inputs`.
//!
//! `OXIDNN_CPU_LINES=full` takes the full files instead of the smoke ones.

mod light;

use light::{Run, cases, difference};
use oxidnn_cpu::ops;
use oxidnn_runtime::{Executor, Threads};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Calls tasks in the reverse order, so that a dependence on the order shows.
struct Backwards;

// SAFETY: one thread runs all tasks before it returns.
unsafe impl Executor for Backwards {
    fn threads(&self) -> usize {
        3
    }
    fn run(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) {
        for task in (0..tasks).rev() {
            body(task % workers.clamp(1, 3), task);
        }
    }
}

fn check(driver: &str) {
    let size = std::env::var("OXIDNN_CPU_LINES").unwrap_or_else(|_| "smoke".into());
    let path = format!("{}/../../tests/inputs/{driver}/{size}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut passed, mut skips, mut failures) = (0, BTreeMap::<String, usize>::new(), Vec::new());
    for case in cases(&text) {
        let Some(run) = Run::new(&case) else { continue };
        let line = case.problem.to_string();
        let rows = ops::rows(&run.problem.op);
        let mut expected = run.clone();
        expected.execute("ref:any", Threads::inline()).unwrap_or_else(|e| panic!("{line}: {e}"));
        for row in rows.iter().filter(|r| r.name != "ref:any") {
            let (mut one, mut other) = (run.clone(), run.clone());
            if let Err(skip) = run.plan(row.name) {
                *skips.entry(format!("{}: {skip}", row.name)).or_default() += 1;
                continue;
            }
            let outcome =
                one.execute(row.name, Threads::inline()).and_then(|()| other.execute(row.name, Threads::over(Arc::new(Backwards))));
            let wrong = outcome.err().or_else(|| difference(&expected, &one));
            let wrong = wrong.or_else(|| {
                one.arguments.iter().zip(&other.arguments).any(|(a, b)| a.data() != b.data()).then(|| "depends on threads".into())
            });
            match wrong {
                Some(wrong) => failures.push(format!("{} {line}\n    {wrong}", row.name)),
                None => passed += 1,
            }
        }
    }
    println!("{driver}: {passed} passed, {} failed", failures.len());
    for (skip, n) in skips {
        println!("  {n} x {skip}");
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.iter().take(12).map(|f| f.as_str()).collect::<Vec<_>>().join("\n")
    );
    assert!(passed > 0, "no row took a problem");
}

#[test]
fn eltwise() {
    check("eltwise");
}

#[test]
fn binary() {
    check("binary");
}

#[test]
fn sum() {
    check("sum");
}

#[test]
fn prelu() {
    check("prelu");
}

#[test]
fn softmax() {
    check("softmax");
}

#[test]
fn bnorm() {
    check("bnorm");
}

#[test]
fn lnorm() {
    check("lnorm");
}

#[test]
fn gnorm() {
    check("gnorm");
}

#[test]
fn reduction() {
    check("reduction");
}

#[test]
fn reorder() {
    check("reorder");
}

#[test]
fn concat() {
    check("concat");
}

#[test]
fn shuffle() {
    check("shuffle");
}

#[test]
fn pool() {
    check("pool");
}

#[test]
fn resampling() {
    check("resampling");
}

#[test]
fn lrn() {
    check("lrn");
}
