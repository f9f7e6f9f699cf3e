//! The source tree: which files there are, and their text.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders with nothing of the project's own text.
const SKIPPED: &[&str] = &["target", ".git", "corpus", "artifacts"];
/// How the names of text files end that people write.
const TEXT: &[&str] = &["rs", "toml", "md", "py", "sh", "yml", "txt"];

/// The workspace.
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The workspace that this program was built in.
    pub(crate) fn here() -> Result<Tree> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace's root")?.to_owned();
        Ok(Tree { root })
    }

    /// Its root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The text of a file named from the root.
    pub(crate) fn read(&self, file: &str) -> Result<String> {
        std::fs::read_to_string(self.root.join(file)).with_context(|| file.to_owned())
    }

    /// Every Rust file with its text.
    pub(crate) fn rust(&self) -> Result<Vec<(String, String)>> {
        self.with_text(|name| name.ends_with(".rs"))
    }

    /// Every file that people write with its text.
    pub(crate) fn text(&self) -> Result<Vec<(String, String)>> {
        self.with_text(|name| name.starts_with(".ci/") || name.rsplit('.').next().is_some_and(|e| TEXT.contains(&e)))
    }

    /// `src/lib.rs` or `src/main.rs` of every crate.
    pub(crate) fn crate_roots(&self) -> Result<Vec<String>> {
        let is_root = |name: &str| ["/src/lib.rs", "/src/main.rs"].iter().any(|end| name.ends_with(end));
        Ok(self.files()?.into_iter().filter(|f| f.starts_with("crates/") && is_root(f)).collect())
    }

    /// Lines of Rust that are neither blank nor comments, by crate: library, tests and examples.
    pub(crate) fn lines_by_crate(&self) -> Result<BTreeMap<String, Lines>> {
        let mut by_crate: BTreeMap<String, Lines> = BTreeMap::new();
        for (file, text) in self.rust()? {
            let code = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//")).count();
            let name: Vec<&str> = file.split('/').take(if file.starts_with("crates/") { 2 } else { 1 }).collect();
            let lines = by_crate.entry(name.join("/")).or_default();
            let is_test = ["/tests/", "/tests.rs", "/examples/", "/fuzz/"].iter().any(|part| file.contains(part));
            *(if is_test { &mut lines.tests } else { &mut lines.code }) += code;
        }
        Ok(by_crate)
    }

    fn with_text(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<(String, String)>> {
        self.files()?.into_iter().filter(|f| wanted(f)).map(|f| Ok((f.clone(), self.read(&f)?))).collect()
    }

    /// Every file, named from the root with `/`, sorted.
    fn files(&self) -> Result<Vec<String>> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
                let entry = entry?;
                let skipped = SKIPPED.iter().any(|s| entry.file_name() == *s);
                match entry.file_type()? {
                    kind if kind.is_dir() && !skipped => folders.push(entry.path()),
                    kind if kind.is_file() => files.push(self.name(&entry.path())?),
                    _ => {}
                }
            }
        }
        files.sort();
        Ok(files)
    }

    fn name(&self, path: &Path) -> Result<String> {
        let parts: Vec<_> = path.strip_prefix(&self.root)?.components().map(|c| c.as_os_str().to_string_lossy()).collect();
        Ok(parts.join("/"))
    }
}

/// How many lines of code a crate has.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Lines {
    /// Of what it is made for.
    pub(crate) code: usize,
    /// Of tests, examples and fuzz targets.
    pub(crate) tests: usize,
}
