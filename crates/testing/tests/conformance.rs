//! Every implementation row on every line of `tests/inputs/<driver>/smoke.txt` and, where there is one, `regress.txt`; generated code also as
//! narrower processors run it, emulated as wider ones do, and as those with small caches. The first two also with NaN, infinities, subnormal
//! and the largest numbers among the data.

use oxidnn_runtime::{Stream, Threads};
use oxidnn_spec::text::{self, Settings};
use oxidnn_testing::fill::Special;
use oxidnn_testing::harness::{Harness, RowResult};
use std::path::Path;

fn check(driver: &str) {
    let executions = executions(driver, None);
    assert!(executions >= 50, "only {executions} executions");
}

/// Runs the lines of a driver, and gives the number of executions, none of them wrong.
fn executions(driver: &str, special: Option<Special>) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs").join(driver);
    let file = folder.join("smoke.txt");
    let mut lines = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    lines += &std::fs::read_to_string(folder.join("regress.txt")).unwrap_or_default();
    let engine = oxidnn_cpu::engine();
    let threads = Threads::global();
    let harness = Harness::new(engine.clone(), Stream::new(&engine).unwrap(), None).and_special(special).and_narrower(&threads).unwrap();
    let wider = |harness: Harness| harness.and_emulated(&threads)?.and_small_caches(&threads);
    let harness = if special.is_none() { wider(harness).unwrap() } else { harness };
    let mut settings = Settings::default();
    let mut wrong = Vec::new();
    let mut executions = 0;
    for line in lines.lines() {
        let cases = text::parse_line(&mut settings, line).unwrap_or_else(|e| panic!("{line}: {e}"));
        for case in cases {
            match harness.verify(&case) {
                Err(e) => wrong.push(format!("{line}\n    {e}")),
                Ok(rows) => {
                    executions += rows.len();
                    wrong.extend(rows.iter().flat_map(RowResult::failures).map(|why| format!("{line}\n    {why}")));
                }
            }
        }
    }
    let fill = special.map_or_else(String::new, |s| format!(" with {s:?} among the data"));
    assert!(wrong.is_empty(), "{} of {executions} executions{fill} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    executions
}

/// What has no values that ordinary fills leave out, or no defined result for them, does not run; each kind runs somewhere.
fn check_special(driver: &str) {
    let all: usize = Special::NAMES.into_iter().map(|(special, _)| executions(driver, Some(special))).sum();
    assert!(all >= 20, "only {all} executions");
}

macro_rules! drivers {
    ($($driver:ident)*) => {
        $(#[test]
        fn $driver() {
            check(stringify!($driver));
        })*

        mod special_values {
            $(#[test]
            fn $driver() {
                super::check_special(stringify!($driver));
            })*
        }
    };
}

drivers! {
    conv deconv ip matmul reorder eltwise binary pool rnn bnorm lnorm gnorm lrn softmax reduction resampling prelu shuffle concat sum sdpa
}
