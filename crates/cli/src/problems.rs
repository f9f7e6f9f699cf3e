//! Collects the problems that a command line names.

use crate::Selection;
use anyhow::{Context, Result, bail};
use oxidnn_spec::text::{self, Case, Settings};
use std::path::{Path, PathBuf};

/// A problem and where it came from.
pub(crate) struct Named {
    /// Name of the file without its ending, or `line` for the command line.
    pub(crate) suite: String,
    /// The problem with its fill hints.
    pub(crate) case: Case,
}

/// Every problem of the selection, batch files first.
pub(crate) fn collect(selection: &Selection) -> Result<Vec<Named>> {
    let mut all = Vec::new();
    let mut settings = Settings::default();
    for file in &selection.batch {
        batch(file, &mut Settings::default(), &mut all)?;
    }
    let mut words: Vec<&str> = Vec::new();
    let mut rest = selection.words.iter();
    while let Some(word) = rest.next() {
        if let Some(file) = word.strip_prefix("--batch=") {
            text::parse_line(&mut settings, &words.join(" "))?;
            words.clear();
            batch(Path::new(file), &mut settings.clone(), &mut all)?;
        } else if word == "--batch" {
            let file = rest.next().context("--batch needs a file")?;
            batch(Path::new(file), &mut settings.clone(), &mut all)?;
        } else {
            words.push(word);
            if !word.starts_with("--") {
                add(&words.join(" "), &mut settings, "line", &mut all)?;
                words.clear();
            }
        }
    }
    if !words.is_empty() {
        bail!("`{}` is not followed by a problem descriptor, such as mb1ic64ih56oc64kh3ph1 or 128x768:768x768", words.join(" "));
    }
    if all.is_empty() {
        bail!("no problems: give --batch FILE or a problem line such as `--matmul --dt=f32 128x768:768x768`");
    }
    Ok(all)
}

/// The files of a folder that are suites of products and reorders, by name.
pub(crate) fn suites_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut files = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".txt") && ["conv-", "ip-", "matmul-", "reorder-"].iter().any(|kind| name.starts_with(kind))
    });
    if files.is_empty() {
        bail!("no files conv-*.txt, ip-*.txt, matmul-*.txt or reorder-*.txt in {}", folder.display());
    }
    files.sort();
    Ok(files)
}

fn batch(file: &Path, settings: &mut Settings, all: &mut Vec<Named>) -> Result<()> {
    let content = std::fs::read_to_string(file).with_context(|| format!("cannot read the batch file {}", file.display()))?;
    let suite = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for (number, line) in text::lines(&content) {
        add(&line, settings, &suite, all).with_context(|| format!("{}, line {number}", file.display()))?;
    }
    Ok(())
}

fn add(line: &str, settings: &mut Settings, suite: &str, all: &mut Vec<Named>) -> Result<()> {
    let pasted = line.starts_with("onednn_verbose");
    let cases = if pasted { vec![text::verbose::parse(line)?] } else { text::parse_line(settings, line)? };
    all.extend(cases.into_iter().map(|case| Named { suite: suite.into(), case }));
    Ok(())
}
