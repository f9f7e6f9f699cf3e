//! Functions take five values at most; what wants more is a struct.
//!
//! Tuples and closures' patterns hide nothing: each value of a tuple in a parameter's type counts. `self` does not, nor do functions that C calls,
//! whose parameters are given. `parameters.txt` lists the functions that were wider when the rule came; the list may only become shorter.

use crate::code::{self, Word};
use crate::tree::Tree;
use anyhow::Result;
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

const MAX_PARAMETERS: usize = 5;
const LIST: &str = "xtask/src/check/parameters.txt";

/// No function is wider than it may be, or than the list says; nothing is on the list for nothing.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let wide: Vec<Wide> = tree.rust()?.iter().flat_map(|(file, text)| wide(file, text)).collect();
    Ok(judge(&wide, &tree.read(LIST)?))
}

/// A function with too many parameters.
#[derive(PartialEq, Eq, Debug)]
struct Wide {
    file: String,
    line: usize,
    name: String,
    parameters: usize,
}

/// Compares with the lines `file function parameters` of the list.
fn judge(wide: &[Wide], list: &str) -> Vec<String> {
    let mut listed: BTreeMap<(&str, &str, usize), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for entry in list.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        match entry.split(' ').collect::<Vec<_>>()[..] {
            [file, name, n] if n.parse::<usize>().is_ok() => *listed.entry((file, name, n.parse().unwrap_or(0))).or_default() += 1,
            _ => wrong.push(format!("{LIST}: `{entry}` is not `file function parameters`")),
        }
    }
    for w in wide {
        match listed.get_mut(&(w.file.as_str(), w.name.as_str(), w.parameters)) {
            Some(n) if *n > 0 => *n -= 1,
            _ => wrong.push(format!(
                "{}:{}: {} takes {} values, at most {MAX_PARAMETERS} (tuples count by their parts): make them a struct",
                w.file, w.line, w.name, w.parameters
            )),
        }
    }
    let done = listed.iter().filter(|(_, n)| **n > 0);
    wrong
        .extend(done.map(|((file, name, n), _)| format!("{LIST}: no {name} with {n} parameters is in {file} any more: take the line off")));
    wrong
}

/// The functions of a file with more than [`MAX_PARAMETERS`].
fn wide(file: &str, text: &str) -> Vec<Wide> {
    let blanked = code::blanked(text);
    let words = code::words(&blanked);
    let is_name = |w: &Word<'_>| w.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut all = Vec::new();
    for at in (0..words.len()).filter(|&i| words[i].text == "fn") {
        let Some(name) = words.get(at + 1).filter(|w| is_name(w)) else { continue };
        let Some(open) = parameters_at(&words[at + 2..]).map(|n| at + 2 + n) else { continue };
        let parameters = count(&words[open..]);
        if parameters > MAX_PARAMETERS && !is_for_c(&words[..at]) {
            all.push(Wide { file: file.to_owned(), line: name.line + 1, name: name.text.to_owned(), parameters });
        }
    }
    all
}

/// Whether the words before `fn` end with `extern`, and the name of a convention, which is blank as all literals are.
fn is_for_c(before: &[Word<'_>]) -> bool {
    before.last().is_some_and(|w| w.text == "extern")
}

/// Where the parameters of a function begin, behind its name: past the generic parameters.
fn parameters_at(words: &[Word<'_>]) -> Option<usize> {
    let mut depth = 0usize;
    for (i, word) in words.iter().enumerate() {
        match word.text {
            "<" => depth += 1,
            // Not the head of an arrow.
            ">" if i > 0 && words[i - 1].text != "-" => depth = depth.saturating_sub(1),
            "(" if depth == 0 => return Some(i),
            "{" | ";" => return None,
            _ => {}
        }
    }
    None
}

/// The values that the parameters in the parentheses that `words` begin with take.
fn count(words: &[Word<'_>]) -> usize {
    let mut values = 0;
    for parameter in split(inside(words)) {
        let is_self = referred(parameter).first().is_some_and(|w| w.text == "self");
        if parameter.is_empty() || is_self {
            continue;
        }
        values += kind(parameter).map_or(1, parts);
    }
    values
}

/// The type of a parameter: what stands behind the colon that is not in parentheses and not part of a path.
fn kind<'a, 'w>(parameter: &'a [Word<'w>]) -> Option<&'a [Word<'w>]> {
    let mut depth = 0usize;
    for (i, word) in parameter.iter().enumerate() {
        let path = |j: Option<usize>| j.and_then(|j| parameter.get(j)).is_some_and(|w| w.text == ":");
        match word.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
            ":" if depth == 0 && !path(i.checked_sub(1)) && !path(Some(i + 1)) => return Some(&parameter[i + 1..]),
            _ => {}
        }
    }
    None
}

/// The values of a type: those of the parts of a tuple, else one.
fn parts(kind: &[Word<'_>]) -> usize {
    let kind = referred(kind);
    if kind.first().is_none_or(|w| w.text != "(") {
        return 1;
    }
    let parts = split(inside(kind));
    // Parentheses around one type, or nothing, are no tuple.
    if parts.len() < 2 { 1 } else { parts.into_iter().filter(|p| !p.is_empty()).map(self::parts).sum() }
}

/// A type without the marks of references to it.
fn referred<'a, 'w>(kind: &'a [Word<'w>]) -> &'a [Word<'w>] {
    match kind {
        [mark, rest @ ..] if matches!(mark.text, "&" | "mut") => referred(rest),
        [mark, _lifetime, rest @ ..] if mark.text == "'" => referred(rest),
        all => all,
    }
}

/// What stands between the parenthesis that `words` begin with and its end.
fn inside<'a, 'w>(words: &'a [Word<'w>]) -> &'a [Word<'w>] {
    let mut depth = 0usize;
    for (i, word) in words.iter().enumerate() {
        match word.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return &words[1..i];
        }
    }
    &words[words.len().min(1)..]
}

/// The parts between commas that are in no brackets.
fn split<'a, 'w>(words: &'a [Word<'w>]) -> Vec<&'a [Word<'w>]> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0usize);
    for (i, word) in words.iter().enumerate() {
        match word.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ">" if i > 0 && words[i - 1].text == "-" => {}
            ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(&words[begin..i]);
                begin = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&words[begin..]);
    parts
}
