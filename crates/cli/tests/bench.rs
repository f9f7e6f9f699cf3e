//! `oxidnn bench` and the limits on instruction sets: what programs read, and what people see when there is no generated code.

use serde_json::Value;
use std::process::{Command, Output};

fn oxidnn(args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxidnn"));
    command.args(args).env_remove("OXIDNN_MAX_CPU_ISA").env_remove("ONEDNN_MAX_CPU_ISA").envs(environment.iter().copied());
    command.output().expect("the program starts")
}

fn text(args: &[&str], environment: &[(&str, &str)]) -> String {
    let output = oxidnn(args, environment);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A convolution that generated code takes where there is any.
const CONV: &str = "mb1ic16ih8oc32kh3ph1";

#[test]
fn json_is_one_object_a_problem_and_a_number_of_threads() {
    let out = text(&["bench", "--json", "--seconds", "0.001", "--threads", "1,2", "--matmul", "16x16:16x16"], &[]);
    let rows: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).expect("an object")).collect();
    assert_eq!(rows.iter().map(|r| r["threads"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    for row in rows {
        assert!(row["ms"].as_f64().is_some_and(|v| v > 0.0) && row["create_us"].as_f64().is_some_and(|v| v > 0.0), "{row}");
        assert!(row["peak_percent"].as_f64().is_some_and(|v| v > 0.0 && v < 120.0), "{row}");
    }
}

#[test]
fn markdown_has_the_machine_and_tables() {
    let out = text(&["bench", "--markdown", "--first", "--threads=1", "--conv", CONV], &[]);
    assert!(out.contains("measured peaks of one core in Gop/s: f32 ") && out.contains("| suite | threads |"), "{out}");
}

#[test]
fn the_algorithm_and_the_instruction_set_are_options_of_a_whole_suite() {
    let file = std::env::temp_dir().join(format!("oxidnn-bench-{}.txt", std::process::id()));
    std::fs::write(&file, format!("--conv --dir=FWD_I {CONV}\n--matmul 8x8:8x8\n")).expect("a file");
    let path = file.to_str().expect("UTF-8");
    for args in [["--batch", path, "--alg", "auto"], ["--alg", "auto", "--batch", path]] {
        let out = text(&[&["bench", "--csv", "--seconds=0.001", "--max-isa", "avx2"], &args[..]].concat(), &[]);
        assert!(out.contains("--alg=auto"), "{out}");
    }
    std::fs::remove_file(&file).expect("the file");
    assert!(!oxidnn(&["bench", "--max-isa", "avx3", "--conv", CONV], &[]).status.success());
}

#[test]
fn processes_report_their_shares() {
    let out = text(&["bench", "--processes", "2", "--seconds", "0.2", "--threads", "2", "--matmul", "64x64:64x64"], &[]);
    assert!(out.contains("alone: ") && out.contains("process 2 of 2: ") && out.contains("together: "), "{out}");
}

#[test]
fn without_generated_code_portable_rows_take_over_and_explain_says_why() {
    let out = text(&["explain", "--conv", CONV], &[("OXIDNN_JIT", "0")]);
    assert!(out.contains("generated code: none, as the knob JIT says"), "{out}");
    assert!(out.lines().any(|l| l.contains("portable: chosen")) && !out.contains("jit: chosen"), "{out}");
    let out = text(&["verify", "--brief", "--conv", CONV], &[("OXIDNN_JIT", "0")]);
    assert!(out.contains("1 passed, 0 failed"), "{out}");
    let out = text(&["explain", "--conv", CONV], &[("ONEDNN_MAX_CPU_ISA", "SSE41")]);
    assert!(out.contains("generated code: none for this instruction set"), "{out}");
}
