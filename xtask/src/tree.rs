//! The source tree: which Rust files there are.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The workspace's root folder.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask lies in the workspace's root")?.to_owned())
}

/// Every `.rs` file of the crates and of xtask, relative to the root.
pub(crate) fn rust_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = ["crates", "xtask", "tests", "examples"].iter().map(|d| root.join(d)).filter(|d| d.exists()).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() && path.file_name().is_some_and(|n| n != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path.strip_prefix(root)?.to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Lines that are neither blank nor comments, by crate.
pub(crate) fn lines_by_crate(root: &Path) -> Result<BTreeMap<String, usize>> {
    let mut by_crate = BTreeMap::new();
    for file in rust_files(root)? {
        let text = std::fs::read_to_string(root.join(&file))?;
        let code = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//")).count();
        let name: Vec<_> = file.components().take(2).map(|c| c.as_os_str().to_string_lossy()).collect();
        *by_crate.entry(name.join("/")).or_default() += code;
    }
    Ok(by_crate)
}
