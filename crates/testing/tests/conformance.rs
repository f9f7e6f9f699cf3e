//! Every implementation row on every line of `tests/inputs/<driver>/smoke.txt`, generated code also as narrower processors run it.

use oxidnn_runtime::{Stream, Threads};
use oxidnn_spec::text::{self, Settings};
use oxidnn_testing::harness::{Harness, Outcome};
use std::path::Path;

fn check(driver: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs").join(driver).join("smoke.txt");
    let lines = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let engine = oxidnn_cpu::engine();
    let harness = Harness::new(engine.clone(), Stream::new(&engine).unwrap(), None).and_narrower(&Threads::global()).unwrap();
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
                    for r in rows {
                        match r.outcome {
                            Outcome::Passed => {}
                            Outcome::Wrong(all) => wrong.extend(all.iter().map(|m| format!("{line}\n    {}: {m}", r.row))),
                            Outcome::Failed(e) => wrong.push(format!("{line}\n    {}: {e}", r.row)),
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {executions} executions are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(executions >= 50, "only {executions} executions");
}

macro_rules! drivers {
    ($($driver:ident)*) => {
        $(#[test]
        fn $driver() {
            check(stringify!($driver));
        })*
    };
}

drivers! {
    conv deconv ip matmul reorder eltwise binary pool rnn bnorm lnorm gnorm lrn softmax reduction resampling prelu shuffle concat sum sdpa
}
