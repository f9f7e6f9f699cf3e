//! `Explained`: the disagreements with another library that a page explains, by rule.
//!
//! The page is Markdown for people. Its fenced blocks of language `rules` are for `oxidnn verify --peer`: a line names verdicts, a pattern
//! for the problem, and the allowed error of the peer; the heading above it is the reason. So prose and check cannot drift apart: a
//! difference that no rule covers is a failure, and a test requires that every rule matches a problem of `tests/inputs`.

#[cfg(test)]
mod tests;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Name of the page beside the folders of batch files.
const PAGE: &str = "peer-differences.md";

/// Verdicts that a page may explain: in all of them our result is the reference's.
const EXPLAINABLE: [&str; 4] = ["THEIRS", "INVALID", "CRASHED", "FAILED"];

/// The pattern for a problem's line.
enum Condition {
    /// Some word of the line matches the pattern.
    Has(String),
    /// None does.
    Lacks(String),
    /// The peer's implementation matches; one that is not known, after a crash, does.
    Impl(String),
    /// The worst element is off by this much at most, relative to the largest; `None`: by anything.
    Off(Option<f64>),
}

/// A line of a block: verdicts, then conditions.
struct Rule {
    verdicts: Vec<&'static str>,
    conditions: Vec<Condition>,
    /// The last heading above.
    heading: String,
}

/// The rules of a page.
pub(crate) struct Explained {
    rules: Vec<Rule>,
}

/// A disagreement.
pub(crate) struct Disagreement<'a> {
    /// The verdict on the problem.
    pub(crate) verdict: &'a str,
    /// The problem's line.
    pub(crate) problem: &'a str,
    /// The peer's implementation, empty where it is not known.
    pub(crate) implementation: &'a str,
    /// How far the peer's worst element is off, relative to the largest, where it computed any; infinite where a number cannot say.
    pub(crate) off: Option<f64>,
}

impl Explained {
    /// The rules of `page`; without one, those of the page in a folder above the first batch file; none if there is neither.
    pub(crate) fn load(page: Option<&Path>, batches: &[PathBuf]) -> Result<Explained> {
        let beside = || batches.first()?.ancestors().skip(1).map(|folder| folder.join(PAGE)).find(|file| file.is_file());
        match page.map(Path::to_owned).or_else(beside) {
            None => Ok(Explained { rules: Vec::new() }),
            Some(file) => {
                let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
                Explained::parse(&text).with_context(|| file.display().to_string())
            }
        }
    }

    /// The rules of a page's text.
    fn parse(page: &str) -> Result<Explained> {
        let (mut rules, mut heading, mut inside) = (Vec::new(), "", false);
        for (i, line) in page.lines().map(str::trim).enumerate() {
            match line {
                "```rules" => inside = true,
                "```" => inside = false,
                "" => {}
                _ if inside => rules.push(rule(line, heading).with_context(|| format!("line {}", i + 1))?),
                _ => heading = line.strip_prefix('#').map_or(heading, |rest| rest.trim_start_matches('#').trim()),
            }
        }
        Ok(Explained { rules })
    }

    /// The heading above the first rule that covers the disagreement.
    pub(crate) fn reason(&self, found: &Disagreement<'_>) -> Option<&str> {
        self.rules.iter().find(|rule| rule.covers(found)).map(|rule| rule.heading.as_str())
    }
}

fn rule(line: &str, heading: &str) -> Result<Rule> {
    let (verdicts, conditions) = line.split_once(' ').context("a rule is verdicts, a space, and conditions")?;
    let verdict = |name: &str| {
        let known = EXPLAINABLE.into_iter().find(|v| *v == name);
        known.with_context(|| format!("`{name}` cannot be explained, only {}", EXPLAINABLE.join(", ")))
    };
    let verdicts: Vec<&'static str> = verdicts.split('|').map(verdict).collect::<Result<_>>()?;
    let conditions: Vec<Condition> = conditions.split_whitespace().map(condition).collect::<Result<_>>()?;
    if !conditions.iter().any(|c| matches!(c, Condition::Has(_))) {
        bail!("`{line}` would explain every problem; name the driver");
    }
    if verdicts.contains(&"THEIRS") && !conditions.iter().any(|c| matches!(c, Condition::Off(_))) {
        bail!("`{line}` would explain every difference; say how large one may be, relative to the largest element: off=1e-4, or off=any");
    }
    if heading.is_empty() {
        bail!("`{line}` has no heading, which is its reason");
    }
    Ok(Rule { verdicts, conditions, heading: heading.into() })
}

fn condition(word: &str) -> Result<Condition> {
    let parts = word.split_once('=').unwrap_or((word, ""));
    let is_option = |one: &str| one.trim_start_matches('!').starts_with("--");
    if is_option(word) && !word.split('|').all(is_option) {
        bail!("`{word}` is an option or a word that is none; write the option before each of its values: --name=a|--name=b");
    }
    Ok(match (word.strip_prefix('!'), parts) {
        (Some(pattern), _) => Condition::Lacks(pattern.into()),
        (_, ("impl", pattern)) => Condition::Impl(pattern.into()),
        (_, ("off", "any")) => Condition::Off(None),
        (_, ("off", bound)) => Condition::Off(Some(bound.parse().with_context(|| format!("`{word}` is neither off=any nor a number"))?)),
        _ => Condition::Has(word.into()),
    })
}

impl Rule {
    fn covers(&self, found: &Disagreement<'_>) -> bool {
        let has = |pattern: &str| found.problem.split_whitespace().any(|word| matches(pattern, word));
        self.verdicts.contains(&found.verdict)
            && self.conditions.iter().all(|condition| match condition {
                Condition::Has(pattern) => has(pattern),
                Condition::Lacks(pattern) => !has(pattern),
                Condition::Off(bound) => found.off.is_none_or(|off| bound.is_none_or(|bound| off <= bound)),
                Condition::Impl(pattern) => found.implementation.is_empty() || matches(pattern, found.implementation),
            })
    }
}

/// Whether the word is the pattern or, where that is `a|b`, one of them; `*` stands for any text, `#` for a digit.
fn matches(pattern: &str, word: &str) -> bool {
    pattern.split('|').any(|one| matches_from(one.as_bytes(), word.as_bytes()))
}

fn matches_from(pattern: &[u8], word: &[u8]) -> bool {
    match (pattern, word) {
        ([], rest) => rest.is_empty(),
        ([b'*', pattern @ ..], rest) => (0..=rest.len()).any(|skipped| matches_from(pattern, &rest[skipped..])),
        ([b'#', pattern @ ..], [digit, rest @ ..]) => digit.is_ascii_digit() && matches_from(pattern, rest),
        ([letter, pattern @ ..], [same, rest @ ..]) => letter == same && matches_from(pattern, rest),
        _ => false,
    }
}
