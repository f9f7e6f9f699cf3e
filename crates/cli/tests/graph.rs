//! `oxidnn graph`, and `verify` and `bench` with `--graph`: benchdnn's words, what is said of what is wrong, drawings.

use serde_json::Value;
use std::process::{Command, Output};

/// The folder of the suites, from that of the crate, where tests run.
const SUITES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/suites/graphs");

fn oxidnn(args: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_oxidnn"));
    let Output { status, stdout, stderr } = program.args(args).current_dir(SUITES).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

/// A graph of the suites, made small, in three types.
const PRODUCT: [&str; 3] = ["--in-shapes=0:3x16+1:16x8+2:8", "--dt=f32,bf16,f16", "--case=matmul-bias-gelu.json"];

#[test]
fn graphs_of_the_suites_compute_what_their_operations_compute() {
    for policy in ["fusion", "max"] {
        let (code, out, err) = oxidnn(&["graph", "--verify", "--policy", policy, "--batch", "small.txt"]);
        assert_eq!(code, Some(0), "{policy}: {out}{err}");
        assert!(out.matches("agrees").count() >= 15 && !out.contains("differs"), "{policy}: {out}");
    }
}

#[test]
fn verify_and_bench_take_graphs() {
    let (code, out, err) = oxidnn(&[&["verify", "--graph"][..], &PRODUCT[..]].concat());
    assert!(code == Some(0) && out.matches("agrees").count() == 3, "{out}{err}");
    let (code, out, err) = oxidnn(&[&["bench", "--graph", "--seconds=0.001", "--json"][..], &PRODUCT[..]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    for line in out.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert!(line["execute_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{line}");
        assert!(line["problems"].as_array().is_some_and(|p| p.iter().any(|p| p["ms"].as_f64().is_some_and(|ms| ms > 0.0))), "{line}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let wrong = |args: &[&str], code: i32, what: &str| {
        let (got, out, err) = oxidnn(args);
        assert_eq!(got, Some(code), "{args:?}: {out}{err}");
        assert!(out.contains(what) || err.contains(what), "{args:?}: {out}{err}");
    };
    wrong(&["graph"], 2, "no graphs");
    wrong(&["graph", "nothing.json"], 2, "there is no file nothing.json");
    wrong(&["graph", "generate.py"], 2, "no JSON");
    wrong(&["graph", "--colour=red", "--case=sdpa.json"], 2, "no option of graphs");
    wrong(&["graph", "--in-shapes=0:1x2", "--case=sdpa.json"], 1, "not computed further");
    wrong(&["graph", "--expected-n-partitions=2", "--case=layernorm-relu.json"], 1, "1 partitions, expected 2");
    wrong(&["graph", "--peer", "nowhere", "--case=layernorm-relu.json"], 2, "--peer nowhere");
}

#[test]
fn graphs_are_drawn_and_explained() {
    let (code, out, _) = oxidnn(&["graph", "--svg", "gated-mlp.json"]);
    assert!(code == Some(0) && out.starts_with("<svg") && out.trim_end().ends_with("</svg>"), "{out}");
    assert_eq!(out.matches("<rect").count(), 6);
    let (code, out, _) = oxidnn(&["graph", "--dot", "gated-mlp.json"]);
    assert!(code == Some(0) && out.starts_with("digraph") && out.contains("gated_mlp_v1"), "{out}");
    let (code, out, _) = oxidnn(&["graph", "--explain", "--in-shapes=0:3x16+1:16x8+2:8", "matmul-bias-gelu.json"]);
    assert!(code == Some(0) && out.contains("by fp_matmul_post_ops") && out.contains("float_sdp_fusion (21)"), "{out}");
}
