//! The graphs of every pattern: what oneDNN makes partitions of is a partition here, and computes what its operations compute one by one.

use crate::nets::run::{grouping, partitioned, run};
use oxidnn_graph::Policy;
use oxidnn_spec::DataType;

#[test]
fn partitions_compute_what_their_operations_compute() {
    let engine = oxidnn_cpu::engine();
    let mut wrong = Vec::new();
    for (name, net) in crate::nets::all() {
        let (fused, single) = (run(&engine, &net, Policy::Fusion), run(&engine, &net, Policy::Debug));
        let (fused, single) = match (fused, single) {
            (Ok(fused), Ok(single)) => (fused, single),
            (fused, single) => {
                wrong.push(format!("{name}: {:?} {:?}", fused.err(), single.err()));
                continue;
            }
        };
        let small = net.ops.iter().flat_map(|o| &o.outputs).any(|lt| lt.dtype == Some(DataType::Bf16));
        for (id, (dtype, expected)) in &single {
            let (_, got) = &fused[id];
            let largest = expected.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
            // Rounding to bytes happens to neighbours on either side of a half, and by way of a smaller type to more.
            let tolerance = match (dtype.is_x8(), small) {
                (true, false) => 1.0,
                (true, true) => 2.0,
                (false, true) => largest / 32.0,
                (false, false) => largest * 1e-5,
            };
            let far = |(g, e): &(&f64, &f64)| !((**g - **e).abs() <= tolerance || g == e);
            let all: Vec<_> = got.iter().zip(expected).filter(far).take(4).collect();
            if got.len() != expected.len() || !all.is_empty() {
                wrong.push(format!("{name}: tensor {id} ({dtype}): {all:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// `OXIDNN_GRAPHS=FILE` in the environment writes the graphs for `graphs.cpp` there.
#[test]
fn partitions_are_those_of_onednn() {
    if let Some(file) = std::env::var_os("OXIDNN_GRAPHS") {
        let text: String =
            crate::nets::all().iter().map(|(name, net)| format!("graph {}\n{}", name.replace(' ', ""), net.lines())).collect();
        std::fs::write(file, text).expect("a file that can be written");
    }
    let expected: std::collections::HashMap<&str, &str> =
        include_str!("patterns.txt").lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once(' ')).collect();
    let mut wrong = Vec::new();
    for (name, net) in crate::nets::all() {
        let graph = partitioned(&net, Policy::Fusion).expect("a valid graph");
        let (got, name) = (grouping(&graph), name.replace(' ', ""));
        match expected.get(name.as_str()) {
            Some(e) if *e == got => {}
            other => {
                let kinds: Vec<&str> = net.ops.iter().map(|o| o.kind.name()).collect();
                wrong.push(format!("{name}: {got}, expected {}\n    {}", other.unwrap_or(&"nothing"), kinds.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
