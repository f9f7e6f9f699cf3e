//! Every line of `tests/inputs` parses, and is written as a line that means the same.

use oxidnn_spec::text::{Case, Settings, parse_line};
use std::fs;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs");
    let folders = fs::read_dir(root).into_iter().flatten().flatten().map(|e| e.path()).filter(|p| p.is_dir());
    let mut files: Vec<PathBuf> = folders.flat_map(|d| fs::read_dir(d).into_iter().flatten().flatten().map(|e| e.path())).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "txt"));
    files.sort();
    files
}

/// What is wrong with the cases of a line, if anything.
fn complaint(settings: &mut Settings, line: &str) -> Option<String> {
    let cases = match parse_line(settings, line) {
        Ok(cases) => cases,
        Err(e) => return Some(e.to_string()),
    };
    cases.iter().find_map(|case| {
        let text = case.to_string();
        match text.parse::<Case>() {
            Err(e) => Some(format!("written as `{text}`, which is refused: {e}")),
            Ok(back) if back != *case => Some(format!("written as `{text}`, which means something else")),
            Ok(_) => None,
        }
    })
}

#[test]
fn every_line_parses_and_round_trips() {
    let mut bad = Vec::new();
    let mut lines = 0;
    for file in files() {
        let mut settings = Settings::default();
        for (i, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            lines += 1;
            if let Some(why) = complaint(&mut settings, line) {
                bad.push(format!("{}:{}: {line}\n    {why}", file.display(), i + 1));
            }
        }
    }
    assert!(bad.is_empty(), "{} of {lines} lines:\n{}", bad.len(), bad[..bad.len().min(40)].join("\n"));
}
