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

/// Graphs of the suites, made small.
const SMALL: [&str; 8] = [
    "--in-shapes=0:1x2x24x16+1:1x2x24x16+2:1x2x24x16 --dt=f32,bf16 --case=sdpa.json",
    "--in-shapes=0:1x2x24x16+1:1x2x24x16+2:1x2x24x16+3:1x1x24x24 --dt=f32,bf16 --case=sdpa-mask.json",
    "--in-shapes=0:1x2x24x16+2:1x2x24x16+4:1x2x24x16 --case=sdpa-int8.json",
    "--in-shapes=0:1x2x4x24x16+1:1x2x1x24x16+2:1x2x1x24x16 --case=gqa.json",
    "--in-shapes=0:2x16+1:16x32+3:16x32+8:32x16 --expected-n-partitions=1 --case=gated-mlp.json",
    "--in-shapes=0:1x16x6x6+1:8x16x3x3+3:8+5:8+6:8+7:8+8:8+11:1x8x6x6 --case=conv-bias-bn-relu-add.json",
    "--in-shapes=0:3x16+1:16x8+2:8 --dt=f32,bf16,f16 --case=matmul-bias-gelu.json",
    "--in-shapes=0:3x32+1:32+2:32 --case=layernorm-relu.json",
];

#[test]
fn graphs_of_the_suites_compute_what_their_operations_compute() {
    for words in SMALL {
        for policy in ["fusion", "max"] {
            let mut args = vec!["graph", "--verify", "--policy", policy];
            args.extend(words.split(' '));
            let (code, out, err) = oxidnn(&args);
            assert_eq!(code, Some(0), "{words} ({policy}): {out}{err}");
            assert!(out.contains("agrees") && !out.contains("WRONG"), "{words}: {out}");
        }
    }
}

#[test]
fn verify_and_bench_take_graphs() {
    let words: Vec<&str> = SMALL[6].split(' ').collect();
    let (code, out, err) = oxidnn(&[&["verify", "--graph"], &words[..]].concat());
    assert!(code == Some(0) && out.matches("agrees").count() == 3, "{out}{err}");
    let (code, out, err) = oxidnn(&[&["bench", "--graph", "--seconds=0.001", "--json"], &words[..]].concat());
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
