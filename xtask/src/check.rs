//! The rules of the house that a program can check.

use crate::tree;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// Which of our crates each crate may depend on (outside tests). Dependencies point one way.
const MAY_DEPEND: &[(&str, &[&str])] = &[
    ("oxidnn-spec", &[]),
    ("oxidnn-expr", &["oxidnn-spec"]),
    ("oxidnn-reference", &["oxidnn-spec", "oxidnn-expr"]),
    ("oxidnn-runtime", &["oxidnn-spec", "oxidnn-expr"]),
    ("oxidnn-jit", &[]),
    ("oxidnn-cpu", &["oxidnn-spec", "oxidnn-expr", "oxidnn-reference", "oxidnn-runtime", "oxidnn-jit"]),
    ("oxidnn-cuda", &["oxidnn-spec", "oxidnn-expr", "oxidnn-runtime"]),
    ("oxidnn-graph", &["oxidnn-spec", "oxidnn-expr", "oxidnn-runtime"]),
    ("oxidnn-onnx", &["oxidnn-spec", "oxidnn-graph"]),
    ("oxidnn", &["oxidnn-spec", "oxidnn-expr", "oxidnn-runtime", "oxidnn-cpu", "oxidnn-cuda", "oxidnn-graph"]),
    ("oxidnn-testing", &["oxidnn-spec", "oxidnn-expr", "oxidnn-reference", "oxidnn-runtime", "oxidnn-cpu"]),
    (
        "oxidnn-cli",
        &[
            "oxidnn",
            "oxidnn-spec",
            "oxidnn-expr",
            "oxidnn-reference",
            "oxidnn-runtime",
            "oxidnn-cpu",
            "oxidnn-testing",
            "oxidnn-onnx",
            "oxidnn-graph",
        ],
    ),
    ("xtask", &["oxidnn-spec"]),
];

/// Crates that forbid unsafe code altogether.
const SAFE: &[&str] = &["spec", "expr", "reference", "graph", "onnx", "oxidnn", "testing", "cli"];

/// The only files with unsafe code.
const UNSAFE_FILES: &[&str] = &[
    "crates/runtime/src/buf.rs",
    "crates/runtime/src/exec.rs",
    "crates/runtime/src/memory/alloc.rs",
    "crates/runtime/src/memory/map.rs",
    "crates/runtime/src/memory/raw.rs",
    "crates/runtime/src/threads/pool.rs",
];

const MAX_FILE_LINES: usize = 1000;
const MAX_FUNCTION_LINES: usize = 100;

/// Runs every check, and fails with the list of what is wrong.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    dependencies(root, &mut wrong)?;
    for file in tree::rust_files(root)? {
        let text = std::fs::read_to_string(root.join(&file))?;
        source(&file.to_string_lossy(), &text, &mut wrong);
    }
    for name in SAFE {
        for main in ["lib.rs", "main.rs"] {
            let file = root.join("crates").join(name).join("src").join(main);
            if file.exists() && !std::fs::read_to_string(&file)?.contains("#![forbid(unsafe_code)]") {
                wrong.push(format!("crates/{name}/src/{main}: must say #![forbid(unsafe_code)]"));
            }
        }
    }
    if wrong.is_empty() {
        println!("xtask check: crate dependencies, unsafe code, file and function sizes are in order");
        return Ok(());
    }
    bail!("{}", wrong.join("\n"))
}

fn dependencies(root: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo).args(["metadata", "--no-deps", "--format-version=1", "--offline"]).current_dir(root).output()?;
    let meta: serde_json::Value = serde_json::from_slice(&out.stdout).context("cargo metadata printed no JSON")?;
    for package in meta["packages"].as_array().context("no packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = MAY_DEPEND.iter().find(|(n, _)| *n == name) else {
            wrong.push(format!("{name}: a crate that xtask check does not know; add it to MAY_DEPEND"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            let ours = MAY_DEPEND.iter().any(|(n, _)| *n == to);
            if ours && dependency["kind"].is_null() && !allowed.contains(&to) {
                wrong.push(format!("{name}: may not depend on {to}"));
            }
        }
    }
    Ok(())
}

fn source(file: &str, text: &str, wrong: &mut Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() > MAX_FILE_LINES {
        wrong.push(format!("{file}: {} lines, at most {MAX_FILE_LINES}", lines.len()));
    }
    let code = |l: &str| l.split("//").next().unwrap_or_default().to_owned();
    let has_unsafe = lines.iter().any(|l| {
        let c = code(l);
        c.split(|ch: char| !ch.is_alphanumeric() && ch != '_').any(|w| w == "unsafe") && !c.contains("\"unsafe")
    });
    let library = file.starts_with("crates/") && file.contains("/src/") && !file.ends_with("tests.rs");
    if library && has_unsafe && !UNSAFE_FILES.contains(&file) {
        wrong.push(format!("{file}: unsafe code outside the files named in xtask/src/check.rs"));
    }
    let mut open: Option<(usize, &str)> = None;
    for (i, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let is_fn = code(line).split_whitespace().any(|w| w == "fn") && !line.trim_end().ends_with(';');
        match open {
            None if is_fn && !line.trim_end().ends_with('}') => open = Some((i, &line[..indent])),
            Some((start, margin)) if line.trim_end() == format!("{margin}}}") => {
                if i - start + 1 > MAX_FUNCTION_LINES {
                    wrong.push(format!("{file}:{}: a function of {} lines, at most {MAX_FUNCTION_LINES}", start + 1, i - start + 1));
                }
                open = None;
            }
            _ => {}
        }
    }
}
