//! Files and functions end before they are too long to read.

use crate::code::{self, Word};
use crate::tree::Tree;
use anyhow::Result;

#[cfg(test)]
mod tests;

const MAX_FILE_LINES: usize = 1000;
const MAX_FUNCTION_LINES: usize = 100;

/// No file and no function is longer than it may be.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    Ok(tree.rust()?.iter().flat_map(|(file, text)| rule(file, text)).collect())
}

fn rule(file: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let mut wrong = Vec::new();
    if lines > MAX_FILE_LINES {
        wrong.push(format!("{file}: {lines} lines, at most {MAX_FILE_LINES}"));
    }
    let code = code::blanked(text);
    let long = functions(&code::words(&code)).into_iter().filter(|f| f.lines > MAX_FUNCTION_LINES);
    wrong.extend(long.map(|f| format!("{file}:{}: {} has {} lines, at most {MAX_FUNCTION_LINES}", f.line + 1, f.name, f.lines)));
    wrong
}

#[derive(PartialEq, Eq, Debug)]
struct Function<'a> {
    name: &'a str,
    /// First line, from 0.
    line: usize,
    lines: usize,
}

/// The functions with a body.
fn functions<'a>(words: &[Word<'a>]) -> Vec<Function<'a>> {
    let is_name = |w: &&Word<'_>| w.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(_, w)| w.text == "fn") {
        let Some(name) = words.get(at + 1).filter(is_name) else { continue };
        let Some(end) = body_end(&words[at..]) else { continue };
        all.push(Function { name: name.text, line: word.line, lines: end.line - word.line + 1 });
    }
    all
}

/// The closing brace of the function that `words` starts with; `None` for a declaration.
fn body_end<'a>(words: &[Word<'a>]) -> Option<Word<'a>> {
    let (mut brackets, mut braces) = (0usize, 0usize);
    for word in words {
        match word.text {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            ";" if brackets == 0 && braces == 0 => return None,
            "{" => braces += 1,
            "}" if braces <= 1 && brackets == 0 => return Some(*word),
            "}" => braces = braces.saturating_sub(1),
            _ => {}
        }
    }
    None
}
