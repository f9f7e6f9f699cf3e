//! Times every row over problem lines and compares it with the floor: the bytes that must move over the bandwidth of this machine.
//!
//!     cargo run --release -p oxidnn-cpu --example light -- FILE [FILTER]

#[path = "../tests/light/mod.rs"]
mod light;

use light::{Run, cases};
use oxidnn_cpu::ops;
use oxidnn_runtime::Inline;
use oxidnn_spec::op::Use;
use std::time::Instant;

/// The least time of some calls, in seconds.
fn best(mut go: impl FnMut()) -> f64 {
    let (mut best, start) = (f64::MAX, Instant::now());
    while start.elapsed().as_secs_f64() < 0.4 {
        let t = Instant::now();
        go();
        best = best.min(t.elapsed().as_secs_f64());
    }
    best
}

/// Bytes a second of a copy between buffers that together have `bytes` bytes.
fn bandwidth(bytes: usize) -> f64 {
    let half = (bytes / 16).max(64);
    let (src, mut dst) = (vec![1u64; half], vec![0u64; half]);
    16.0 * half as f64 / best(|| std::hint::black_box(&mut dst).copy_from_slice(std::hint::black_box(&src)))
}

fn main() {
    let mut words = std::env::args().skip(1);
    let text = std::fs::read_to_string(words.next().expect("a file of problem lines")).expect("readable");
    let filter = words.next().unwrap_or_default();
    println!("{:>9} {:>9} {:>6}  row and problem", "us", "floor us", "%");
    for case in cases(&text) {
        let line = case.problem.to_string();
        if !line.contains(&filter) {
            continue;
        }
        let Some(run) = Run::new(&case) else { continue };
        for row in ops::rows(&run.problem.op) {
            if row.name == "ref:any" && filter.is_empty() {
                continue;
            }
            let mut run = run.clone();
            let plan = match run.plan(row.name) {
                Ok(plan) => plan,
                Err(skip) => {
                    println!("{:>26}  {} {line}: {skip}", "-", row.name);
                    continue;
                }
            };
            let exec = plan.build().expect("code");
            let moved: usize = run.arguments.iter().filter(|a| a.usage == Use::Out || !a.tensor.is_empty()).map(|a| a.len).sum();
            let seconds = run.with(&*plan, &exec, &Inline, |go| best(|| go().expect("runs")));
            let floor = moved as f64 / bandwidth(moved);
            println!("{:9.1} {:9.1} {:6.1}  {} {line}", seconds * 1e6, floor * 1e6, 100.0 * floor / seconds, row.name);
        }
    }
}
