//! `oxidnn run`: reads the digits as well as promised, says so to people and to programs.

use serde_json::Value;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oxidnn")).arg("run").args(args).output().expect("the program starts")
}

/// The JSON of a run that must succeed.
fn json(args: &[&str]) -> Value {
    let output = run(&[&["--json"], args].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn json_names_every_primitive_and_the_accuracy() {
    let found = json(&[]);
    assert_eq!(found["images"], 360);
    assert!(found["accuracy"].as_f64().is_some_and(|a| a >= 0.97), "{found}");
    assert!(found["images_per_second"].as_f64().is_some_and(|s| s > 0.0), "{found}");
    let primitives = found["primitives"].as_array().expect("a list");
    let kinds: Vec<_> = primitives.iter().map(|p| p["primitive"].as_str().unwrap_or("")).filter(|&k| k != "reorder").collect();
    assert_eq!(kinds, ["convolution", "convolution", "pooling", "inner_product", "softmax"]);
    let share: f64 = primitives.iter().filter_map(|p| p["share"].as_f64()).sum();
    assert!((share - 100.0).abs() < 1e-6, "{share}");
    assert!(primitives.iter().all(|p| p["impl"].as_str().is_some_and(|i| i.contains(':'))), "{found}");
}

#[test]
fn accuracy_does_not_depend_on_batch_or_threads() {
    let right = json(&[])["right"].clone();
    for args in [&["--batch", "1", "--threads", "1"][..], &["--batch", "7"], &["--batch", "100000", "--threads", "3"]] {
        assert_eq!(json(args)["right"], right, "{args:?}");
    }
}

#[test]
fn people_see_digits_accuracy_and_a_table() {
    let output = run(&[]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    for part in ["360 handwritten digits", "accuracy  9", "as promised", "images/s", "convolution", "us/batch", "██"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}
