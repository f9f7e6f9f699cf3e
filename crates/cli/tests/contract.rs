//! What scripts rely on: exit codes, standard output that is what was asked for, and arguments that are checked.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_oxidnn"))
}

fn oxidnn(args: &[&str]) -> Output {
    program().args(args).output().expect("the program starts")
}

/// Exit code, standard output and standard error.
fn ran(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// With `input` as standard input.
fn fed(args: &[&str], input: &str) -> Output {
    let mut child = program().args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

/// The exit code where the reader of standard output goes away after one line.
fn left_alone(args: &[&str]) -> Option<i32> {
    let mut child = program().args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    child.wait().expect("it ends").code()
}

/// A problem that no machine has the memory for.
const TOO_LARGE: &str = "--matmul 1000000x1000000:1000000x1000000";
const GOOD: &str = "--eltwise --alg=relu 4x5\n--eltwise --alg=tanh 4x5\n";

#[test]
fn numbers_out_of_bounds_are_refused() {
    let line = ["--matmul", "4x4:4x4"];
    for wrong in [
        ["bench", "--seconds", "-1"],
        ["bench", "--seconds", "nan"],
        ["bench", "--seconds", "inf"],
        ["bench", "--processes", "0"],
        ["bench", "--threads", "0"],
        ["bench", "--threads", "1,0"],
        ["verify", "--threads", "0"],
        ["verify", "--threads", "100000000"],
        ["verify", "--jobs", "0"],
    ] {
        for args in [[&wrong[..], &line].concat(), [&wrong[..1], &line, &wrong[1..]].concat()] {
            let (code, out, err) = ran(&oxidnn(&args));
            assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {err}");
            assert!(err.contains(wrong[1]) && err.contains("from"), "{args:?}: {err}");
        }
    }
    for wrong in [["run", "--batch", "0"], ["run", "--threads", "0"], ["sweep", "--count", "0"]] {
        assert_eq!(oxidnn(&wrong).status.code(), Some(2), "{wrong:?}");
    }
    for both in [["--json", "--csv"], ["--markdown", "--csv"], ["--json", "--markdown"]] {
        let (code, _, err) = ran(&oxidnn(&[&["bench"], &both[..], &line].concat()));
        assert!(code == Some(2) && err.contains("cannot be used with"), "{both:?}: {err}");
    }
}

#[test]
fn the_dashes_of_a_driver_may_be_left_out() {
    let with = ran(&oxidnn(&["verify", "--bnorm --tag=axb mb2ic16ih4"]));
    assert_eq!(with.0, Some(0), "{}", with.2);
    for words in [&["verify", "bnorm", "--tag=axb", "mb2ic16ih4"][..], &["verify", "bnorm --tag=axb mb2ic16ih4"]] {
        assert_eq!(ran(&oxidnn(words)).1, with.1, "{words:?}");
    }
    // What is no driver stays what it is.
    assert_eq!(oxidnn(&["verify", "bnrm", "mb2ic16ih4"]).status.code(), Some(2));
}

#[test]
fn too_large_problems_are_errors() {
    for command in ["verify", "bench"] {
        let (code, out, err) = ran(&oxidnn(&[&[command][..], &TOO_LARGE.split(' ').collect::<Vec<_>>()].concat()));
        assert!(matches!(code, Some(1 | 2)) && (out + &err).contains("out of memory"), "{command}: {code:?} {err}");
    }
}

#[test]
fn json_of_verify_is_an_object_a_problem() {
    let text = format!("{GOOD}{TOO_LARGE}\n");
    let (code, out, err) = ran(&fed(&["verify", "--json", "--jobs", "2", "--batch", "-"], &text));
    let objects: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{l}: {e}"))).collect();
    assert_eq!(objects.iter().map(|o| o["verdict"].as_str().unwrap_or("")).collect::<Vec<_>>(), ["passed", "passed", "failed"]);
    assert!(objects[0]["rows"].as_array().is_some_and(|r| !r.is_empty()) && objects[2]["why"][0].is_string(), "{out}");
    assert!(code == Some(1) && err.contains("2 passed, 1 failed, 0 skipped"), "{err}");
}

#[test]
fn a_check_that_fails_fails_whoever_reads() {
    let file = std::env::temp_dir().join(format!("oxidnn-contract-{}.txt", std::process::id()));
    std::fs::write(&file, format!("{TOO_LARGE}\n{GOOD}{TOO_LARGE}\n")).expect("a file");
    let path = file.to_str().expect("UTF-8");
    assert_eq!(left_alone(&["verify", "--batch", path]), Some(1));
    std::fs::write(&file, GOOD.repeat(300)).expect("a file");
    assert_eq!(left_alone(&["verify", "--json", "--batch", path]), Some(0));
    std::fs::remove_file(&file).expect("the file");
    assert_eq!(left_alone(&["run"]), Some(0));
    assert_eq!(left_alone(&["knobs"]), Some(0));
    assert_eq!(left_alone(&["sweep", "--count", "3000"]), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    for args in [
        &["bench", "--json", "--first", "--eltwise", "4x5"][..],
        &["verify", "--eltwise", "4x5"],
        &["knobs"],
        &["sweep", "--count", "2"],
        &["run", "--json"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = program().args(args).stdout(full).stderr(Stdio::piped()).spawn().and_then(|c| c.wait_with_output()).expect("it runs");
        let (code, _, err) = ran(&output);
        assert!(code == Some(2) && err.contains("cannot write"), "{args:?}: {code:?} {err}");
    }
}

#[test]
fn a_name_of_no_implementation_is_an_error_and_a_rare_one_is_not() {
    for command in ["verify", "bench"] {
        let (code, _, err) = ran(&oxidnn(&[command, "--impl=typo", "--eltwise", "4x5"]));
        assert!(code == Some(2) && err.contains("typo"), "{command}: {err}");
    }
    let (code, out, _) = ran(&fed(&["verify", "--impl=packed", "--batch=-"], "--eltwise 4x5\n--matmul 4x5:5x6\n"));
    assert!(code == Some(0) && out.contains("1 passed, 0 failed, 1 skipped"), "{out}");
}

#[test]
fn quoted_lines_and_lines_of_standard_input_are_read() {
    for args in [
        &["explain", "--matmul 2x3:3x4"][..],
        &["explain", " --matmul --dt=bf16 2x3:3x4 --dt=f32 4x3:3x4 "],
        &["explain", "--json", "--matmul 2x3:3x4"],
    ] {
        let (code, out, err) = ran(&oxidnn(args));
        assert!(code == Some(0) && out.contains("2x3:3x4"), "{args:?}: {out}{err}");
    }
    let (code, out, err) = ran(&fed(&["verify", "--batch", "-"], &format!("\u{feff}{GOOD}")));
    assert!(code == Some(0) && out.contains("2 passed"), "{out}{err}");
    let (code, _, err) = ran(&fed(&["verify", "--batch", "-"], "--conv --dri=FWD_I mb1ic3ih4oc4\n"));
    assert!(code == Some(2) && err.contains("word 2") && err.contains("did you mean `dir`?"), "{err}");
    let (code, _, err) = ran(&fed(&["bench", "--processes", "2", "--batch", "-"], GOOD));
    assert!(code == Some(2) && err.contains("give a file"), "{err}");
}

#[test]
fn options_stand_anywhere() {
    let (code, out, err) = ran(&oxidnn(&["verify", "--eltwise", "--brief", "4x5", "--json", "--jobs=2", "--threads", "1"]));
    assert!(code == Some(0) && out.starts_with('{'), "{out}{err}");
    assert!(ran(&oxidnn(&["bench", "--matmul", "4x5:5x6", "--help"])).1.contains("--max-isa"));
}

#[test]
fn json_comes_as_it_is_made() {
    let args = ["bench", "--json", "--seconds", "3", "--threads", "1", "--eltwise", "4x5", "--alg=exp", "4x5"];
    let fast = ["bench", "--json", "--seconds", "0.001", "--threads", "1", "--eltwise", "4x5", "--alg=exp", "4x5"];
    assert_eq!(ran(&oxidnn(&fast)).1.lines().count(), 2);
    // The first object is there while the second problem is timed.
    let mut child = program().args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(serde_json::from_str::<Value>(&line).is_ok(), "{line}");
    assert!(child.try_wait().expect("a state").is_none());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn tables_fit_eighty_columns() {
    let line = ["--threads=1", "--seconds=0.001", "--conv", "--dir=FWD_I", "mb1ic16ih8oc32kh3ph1"];
    for args in [vec!["knobs"], [&["bench"], &line[..]].concat(), [&["bench", "--first"], &line[..]].concat()] {
        let output = program().args(&args).env_remove("COLUMNS").output().expect("it runs");
        let (code, out, _) = ran(&output);
        assert_eq!(code, Some(0), "{out}");
        let wide: Vec<&str> = out.lines().filter(|l| l.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
    }
    assert!(ran(&oxidnn(&["knobs"])).1.lines().any(|l| l.starts_with("MAX_CPU_ISA is ")));
}

#[test]
fn plans_are_made_for_the_threads_that_are_named() {
    let (code, out, err) = ran(&oxidnn(&["verify", "--threads", "1,3", "--conv", "--dir=BWD_D", "mb1ic40ih8oc112kh5sh2"]));
    assert!(code == Some(0), "{out}{err}");
}
