//! Words that have no place in the tree: unfinished code, notes to oneself, folders of somebody's machine.

use crate::code;
use crate::tree::Tree;
use anyhow::Result;

#[cfg(test)]
mod tests;

/// Macros that only unfinished code calls.
const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];
/// Notes to oneself, found in upper case.
const NOTES: &[&str] = &["todo", "fixme"];
/// Folders of the root that exist on somebody's machine only.
const FOLDERS: &[&str] = &["work", "home", "root", "Users"];

/// Code is finished, and text names no folder of a machine.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (file, text) in tree.rust()? {
        wrong.extend(unfinished(&file, &text));
    }
    for (file, text) in tree.text()? {
        wrong.extend(machine_paths(&file, &text));
    }
    Ok(wrong)
}

fn unfinished(file: &str, text: &str) -> Vec<String> {
    let code = code::blanked(text);
    let words = code::words(&code);
    let calls = words.windows(2).filter(|w| UNFINISHED.contains(&w[0].text) && w[1].text == "!");
    let mut wrong: Vec<String> = calls.map(|w| format!("{file}:{}: {}! is for unfinished code", w[0].line + 1, w[0].text)).collect();
    for (i, line) in text.lines().enumerate() {
        let mut parts = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(note) = parts.find(|p| NOTES.iter().any(|n| n.to_uppercase() == **p)) {
            wrong.push(format!("{file}:{}: {note}: finish it, or open an issue", i + 1));
        }
    }
    wrong
}

fn machine_paths(file: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for folder in FOLDERS.iter().map(|f| format!("/{f}/")) {
            let inside = |at: usize| line[..at].ends_with(|c: char| c.is_alphanumeric() || "/.}_-".contains(c));
            if line.match_indices(&folder).any(|(at, _)| !inside(at)) {
                wrong.push(format!("{file}:{}: {folder} is a folder of one machine", i + 1));
            }
        }
    }
    wrong
}
