//! `oxidnn sweep`: the same problems for the same seed, every one of them checked, whatever happens to a process.

use serde_json::Value;
use std::process::{Command, Output};

fn sweep(args: &[&str], environment: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oxidnn")).arg("sweep").args(args).envs(environment.iter().copied()).output().expect("it starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn without_a_check_it_prints_lines() {
    let ten = text(&sweep(&["--seed", "3", "--count", "10"], &[]));
    assert_eq!(ten.lines().count(), 10);
    let last = text(&sweep(&["--seed=3", "--count=1", "--skip=9"], &[]));
    assert_eq!(ten.lines().last(), last.lines().next());
    assert_ne!(text(&sweep(&["--seed=4", "--count=10"], &[])), ten);
    let lstm = text(&sweep(&["--count=5", "--drivers=rnn,sdpa", "--small"], &[]));
    assert!(lstm.lines().all(|l| l.starts_with("--rnn") || l.starts_with("--sdpa")), "{lstm}");
    let unknown = sweep(&["--drivers=gemm"], &[]);
    assert!(unknown.status.code() == Some(2) && String::from_utf8_lossy(&unknown.stderr).contains("matmul"), "{unknown:?}");
    assert_eq!(sweep(&["--max-isa=avx3"], &[]).status.code(), Some(2));
}

#[test]
fn verified_problems_are_objects_and_families() {
    let args = ["--verify", "--json", "--small", "--count=24", "--drivers=eltwise,sum,concat", "--jobs=2", "--max-isa=avx2"];
    let output = sweep(&args, &[]);
    let objects: Vec<Value> = text(&output).lines().map(|l| serde_json::from_str(l).expect("an object")).collect();
    let (problems, families): (Vec<&Value>, Vec<&Value>) = objects.iter().partition(|o| o["problem"].is_string());
    let mut indices: Vec<u64> = problems.iter().filter_map(|p| p["index"].as_u64()).collect();
    indices.sort_unstable();
    assert_eq!(indices, (0..24).collect::<Vec<_>>());
    assert_eq!(families.iter().filter_map(|f| f["problems"].as_u64()).sum::<u64>(), 24);
    assert!(output.status.success(), "{}", text(&output));
    // On the instruction set that was asked for, of which there is no narrower one, and there as if caches were small.
    let rows: Vec<&str> = problems.iter().flat_map(|p| p["rows"].as_array()).flatten().filter_map(Value::as_str).collect();
    assert!(rows.iter().all(|row| row.split_once('@').is_none_or(|(_, processor)| processor == "small_caches")), "{rows:?}");
    assert!(rows.contains(&"chunks:jit@small_caches"), "{rows:?}");
}

#[test]
fn rows_without_generated_code_are_named_and_nothing_is_executed() {
    let portable = sweep(&["--rows", "--count=30", "--drivers=matmul", "--impl=portable"], &[]);
    let out = text(&portable);
    assert!(out.lines().any(|l| l.starts_with("SLOW --matmul")) && out.contains(":portable"), "{out}");
    assert_eq!(portable.status.code(), Some(1));
    let none = sweep(&["--rows", "--count=5", "--drivers=eltwise", "--impl=chunks:jit"], &[]);
    assert!(none.status.success() && !text(&none).contains("SLOW"), "{}", text(&none));
}

#[test]
fn a_peer_that_is_not_there_ends_the_sweep() {
    let output = sweep(&["--peer=/nowhere", "--count=3"], &[]);
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere"), "{output:?}");
}

#[test]
fn a_problem_without_an_end_is_one_line_and_the_sweep_goes_on() {
    let output = sweep(&["--verify", "--count=3", "--drivers=conv", "--limit=0.000001", "--jobs=1"], &[]);
    let out = text(&output);
    assert_eq!(out.lines().filter(|l| l.starts_with("HANGS --conv")).count(), 3, "{out}");
    assert_eq!(output.status.code(), Some(1));
}
