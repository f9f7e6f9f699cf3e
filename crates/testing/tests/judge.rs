//! The comparison that judges all implementations catches every fault that is put into right results: on every line of every smoke list.

use oxidnn_spec::text::{self, Settings};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::judge::{self, FAULTS};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn no_fault_escapes() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs");
    let mut caught: BTreeMap<&str, usize> = BTreeMap::new();
    let mut escaped = Vec::new();
    for driver in std::fs::read_dir(&inputs).unwrap().map(|e| e.unwrap().path().join("smoke.txt")).filter(|f| f.is_file()) {
        let mut settings = Settings::default();
        for line in std::fs::read_to_string(driver).unwrap().lines() {
            for case in text::parse_line(&mut settings, line).unwrap() {
                let mut problem = case.problem.clone();
                problem.resolve();
                let problem = concrete(&problem, &case.fill).unwrap();
                for f in judge::faults(&problem, &case.fill).unwrap() {
                    match f.caught {
                        Some(_) => *caught.entry(f.fault).or_default() += 1,
                        None => escaped.push(format!("{} in {} of {line}", f.fault, f.arg)),
                    }
                }
            }
        }
    }
    assert!(escaped.is_empty(), "{} faults escaped:\n{}", escaped.len(), escaped.join("\n"));
    for fault in FAULTS {
        let times = caught.get(fault.name).copied().unwrap_or(0);
        assert!(times >= 20, "{}: put into {times} results only", fault.name);
    }
}
