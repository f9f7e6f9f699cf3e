//! The functions that the crate exports, as its source declares them.

use super::facts::{Function, Type};
use crate::code;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// How Rust's types are passed, in the words of the compiler's answer.
const SCALARS: &[(&str, &str)] = &[
    ("()", "v"),
    ("Status", "i32"),
    ("bool", "b8"),
    ("c_char", "i8"),
    ("f32", "f32"),
    ("f64", "f64"),
    ("i16", "i16"),
    ("i32", "i32"),
    ("i64", "i64"),
    ("i8", "i8"),
    ("u16", "u16"),
    ("u32", "u32"),
    ("u64", "u64"),
    ("u8", "u8"),
    ("usize", "u64"),
];

/// Every exported function of a source file, under the name that it is exported by.
///
/// # Errors
/// For a parameter whose passing is not known from its type's name.
pub(super) fn functions(file: &str, text: &str) -> Result<BTreeMap<String, Function>> {
    let blank = code::blanked(text);
    let (lines, code): (Vec<&str>, Vec<&str>) = (text.lines().collect(), blank.lines().collect());
    let aliases: BTreeMap<&str, &str> = code.iter().filter_map(|line| alias(line)).collect();
    let mut found = BTreeMap::new();
    for at in (0..code.len()).filter(|&at| code[at].contains(" fn ") && code[at].contains("extern ")) {
        let Some(name) = exported(&lines[..=at]) else { continue };
        let rest = code[at..].join(" ");
        let Some((_, rest)) = rest.split_once('(') else { continue };
        let (arguments, rest) = until_closed(rest);
        let result = rest.split(['{', ';']).next().unwrap_or_default().trim().trim_start_matches("->").trim();
        let types = split(arguments).into_iter().filter_map(|a| a.split_once(':').map(|(_, t)| t.trim().to_owned()));
        let at_fault = || format!("{file}: {name}");
        let arguments =
            types.map(|t| rust_type(aliases.get(name_of(&t)).unwrap_or(&t.as_str()))).collect::<Result<_>>().with_context(at_fault)?;
        let result = rust_type(if result.is_empty() { "()" } else { result }).with_context(at_fault)?;
        found.insert(name.clone(), Function { result, arguments });
    }
    Ok(found)
}

/// The name that the function in the last line is exported by, if it is: from the attributes above, or its own.
fn exported(lines: &[&str]) -> Option<String> {
    let (line, above) = lines.split_last()?;
    let mut attributes = above.iter().rev().map(|l| l.trim()).take_while(|l| l.starts_with("#[") || l.starts_with("//"));
    let attribute = attributes.find(|a| a.starts_with("#[unsafe(no_mangle)]") || a.starts_with("#[unsafe(export_name"))?;
    match attribute.split('"').nth(1) {
        Some(name) => Some(name.to_owned()),
        None => Some(line.split_once(" fn ")?.1.split_once('(')?.0.trim().to_owned()),
    }
}

/// The name and the meaning of a type that the line gives a shorter name.
fn alias(line: &str) -> Option<(&str, &str)> {
    let (name, meaning) = line.strip_prefix("type ")?.split_once('=')?;
    Some((name_of(name.trim()), meaning.trim().strip_suffix(';')?))
}

/// A type's name without the module that it is in and what it is of.
fn name_of(text: &str) -> &str {
    let name = text.split('<').next().unwrap_or_default();
    name.rsplit("::").next().unwrap_or_default()
}

fn rust_type(text: &str) -> Result<Type> {
    let written = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let scalar = |t: &str| SCALARS.iter().find(|(name, _)| *name == t).map(|(_, passed)| (*passed).to_owned());
    if let Some(passed) = scalar(&written) {
        return Ok(Type { passed, pointed: String::new(), written });
    }
    let inner = written.split_once('<').and_then(|(_, t)| t.strip_suffix('>')).map(|t| t.rsplit(',').next().unwrap_or(t).trim());
    let raw = ["*const ", "*mut ", "&'static "].iter().find_map(|p| written.strip_prefix(p));
    // Functions are the only optional things that C passes.
    let callback = written.starts_with("Option<") || written.contains("extern ");
    let wrapped = WRAPPERS.contains(&name_of(&written));
    anyhow::ensure!(raw.is_some() || callback || wrapped, "how `{written}` is passed is not known: add it to xtask/src/abi/rust.rs");
    let pointed = if callback { None } else { inner.or(raw).and_then(|t| scalar(t.trim())) };
    Ok(Type { passed: "p".into(), pointed: pointed.unwrap_or_default(), written })
}

/// The faces' argument types: an address each.
const WRAPPERS: &[&str] = &["In", "InOut", "Out", "New", "NewArray", "Handle", "Array", "ArrayMut", "Text", "Data", "Callback"];

/// Text up to the parenthesis that closes, and what follows it.
fn until_closed(text: &str) -> (&str, &str) {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return (&text[..at], &text[at + 1..]);
        }
    }
    (text, "")
}

/// Pieces between the commas of the outermost level.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|p| !p.trim().is_empty());
    parts
}

#[cfg(test)]
mod tests;
