//! Every line of `tests/inputs` and `tests/suites` parses, is written as a line that means the same, and replays from its verbose line.

use oxidnn_spec::Problem;
use oxidnn_spec::text::{Case, Settings, parse_line, verbose};
use std::fs;
use std::path::{Path, PathBuf};

/// Files are all read, whole, but under Miri, which is some thousand times slower: every fourth, and two of its lines.
const EVERY: usize = if cfg!(miri) { 4 } else { 1 };
const LINES: usize = if cfg!(miri) { 2 } else { usize::MAX };

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs");
    let folders = fs::read_dir(root).into_iter().flatten().flatten().map(|e| e.path()).filter(|p| p.is_dir());
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suites");
    let mut files: Vec<PathBuf> =
        folders.chain([suites]).flat_map(|d| fs::read_dir(d).into_iter().flatten().flatten().map(|e| e.path())).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "txt"));
    files.sort();
    files
}

/// The verbose line of a problem.
fn verbose_line(problem: &Problem) -> String {
    let mut resolved = problem.clone();
    resolved.resolve();
    let fields = verbose::fields(problem, &resolved);
    format!("onednn_verbose,v1,primitive,exec,cpu,{},ref:any,{fields},0.5", fields.kind)
}

/// What is wrong with how a case is written, if anything.
fn complaint(case: &Case) -> Option<String> {
    let text = case.to_string();
    match text.parse::<Case>() {
        Err(e) => return Some(format!("written as `{text}`, which is refused: {e}")),
        Ok(back) if back != *case => return Some(format!("written as `{text}`, which means something else")),
        Ok(_) => {}
    }
    let text = verbose_line(&case.problem);
    match verbose::parse(&text) {
        Err(e) => Some(format!("verbose is `{text}`, which is refused: {e}")),
        Ok(back) if back.problem != case.problem => Some(format!("verbose is `{text}`, which means `{}`", back.problem)),
        Ok(_) => None,
    }
}

#[test]
fn every_line_parses_and_replays() {
    let mut bad = Vec::new();
    let mut lines = 0;
    for file in files().into_iter().step_by(EVERY) {
        let mut settings = Settings::default();
        for (i, line) in fs::read_to_string(&file).unwrap().lines().take(LINES).enumerate() {
            lines += 1;
            let why = match parse_line(&mut settings, line) {
                Ok(cases) => cases.iter().find_map(complaint),
                Err(e) => Some(e.to_string()),
            };
            bad.extend(why.map(|why| format!("{}:{}: {line}\n    {why}", file.display(), i + 1)));
        }
    }
    assert!(lines > 0, "no lines under tests/inputs");
    assert!(bad.is_empty(), "{} of {lines} lines:\n{}", bad.len(), bad[..bad.len().min(40)].join("\n"));
}
