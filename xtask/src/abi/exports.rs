//! The names that the library exports, and the list of those that no header declares.

use super::headers::output;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Symbols of the library's dynamic table that others may link to.
///
/// # Errors
/// When `nm` is missing or the file is no library.
pub(super) fn exports(library: &Path) -> Result<BTreeSet<String>> {
    let table = output(Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(library))?;
    Ok(table.lines().filter_map(|line| line.split_whitespace().next()).map(String::from).collect())
}

/// The first word of each line of a list; lines that begin with `#` say what follows them.
pub(super) fn listed(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}

/// What is in one set and not in the other, a line each.
pub(super) fn compare(declared: &BTreeSet<String>, listed: &BTreeSet<String>, exported: &BTreeSet<String>) -> Vec<String> {
    let missing =
        declared.iter().filter(|name| !exported.contains(*name)).map(|name| format!("{name}: declared by a header, not exported"));
    let absent = listed.iter().filter(|name| !exported.contains(*name)).map(|name| format!("{name}: in the list of symbols, not exported"));
    let known = |name: &&String| !declared.contains(*name) && !listed.contains(*name);
    let more = exported.iter().filter(known).map(|name| format!("{name}: exported, in no header and not in the list of symbols"));
    missing.chain(absent).chain(more).collect()
}

#[cfg(test)]
mod tests;
