//! Dependencies between our crates point one way.

use crate::tree::Tree;
use anyhow::{Context, Result};
use serde_json::Value;
use std::process::Command;

#[cfg(test)]
mod tests;

/// Which of our crates each crate may depend on (outside tests).
const MAY_DEPEND: &[(&str, &[&str])] = &[
    ("oxidnn-spec", &[]),
    ("oxidnn-expr", &["oxidnn-spec"]),
    ("oxidnn-reference", &["oxidnn-spec", "oxidnn-expr"]),
    ("oxidnn-runtime", &["oxidnn-spec", "oxidnn-expr"]),
    ("oxidnn-jit", &[]),
    ("oxidnn-cpu", &["oxidnn-spec", "oxidnn-expr", "oxidnn-reference", "oxidnn-runtime", "oxidnn-jit"]),
    ("oxidnn-cuda", &["oxidnn-spec", "oxidnn-expr", "oxidnn-reference", "oxidnn-runtime"]),
    ("oxidnn", &["oxidnn-spec", "oxidnn-expr", "oxidnn-runtime", "oxidnn-cpu", "oxidnn-cuda", "oxidnn-graph"]),
    ("oxidnn-judge", &[]),
    ("oxidnn-testing", &["oxidnn-judge", "oxidnn-spec", "oxidnn-expr", "oxidnn-reference", "oxidnn-runtime", "oxidnn-cpu"]),
    ("oxidnn-graph", &["oxidnn-spec", "oxidnn-runtime"]),
    ("oxidnn-c-common", &["oxidnn-spec"]),
    ("oxidnn-c-dnnl", &["oxidnn-c-common", "oxidnn-spec", "oxidnn-expr", "oxidnn-runtime", "oxidnn-cpu", "oxidnn-cuda", "oxidnn-graph"]),
    ("oxidnn-c-cudnn", &["oxidnn-spec", "oxidnn-expr", "oxidnn-runtime", "oxidnn-cpu", "oxidnn-cuda", "oxidnn-c-cudart"]),
    ("oxidnn-c-cudart", &[]),
    ("oxidnn-peer", &["oxidnn-c-common", "oxidnn-runtime", "oxidnn-spec", "oxidnn-graph", "oxidnn-testing"]),
    (
        "oxidnn-cli",
        &[
            "oxidnn",
            "oxidnn-spec",
            "oxidnn-expr",
            "oxidnn-reference",
            "oxidnn-runtime",
            "oxidnn-cpu",
            "oxidnn-cuda",
            "oxidnn-graph",
            "oxidnn-testing",
            "oxidnn-peer",
        ],
    ),
    ("xtask", &["oxidnn-c-common", "oxidnn-spec"]),
];

/// Every crate is known, and depends on nothing of ours but what it may.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo).args(["metadata", "--no-deps", "--format-version=1", "--offline"]).current_dir(tree.root()).output()?;
    let metadata = serde_json::from_slice(&out.stdout).context("cargo metadata printed no JSON")?;
    Ok(judge(&metadata))
}

fn judge(metadata: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = MAY_DEPEND.iter().find(|(n, _)| *n == name) else {
            wrong.push(format!("{name}: a crate that xtask does not know; say in MAY_DEPEND what it may depend on"));
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
    wrong
}
