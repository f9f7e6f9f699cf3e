#![doc = include_str!("grammar.md")]

mod attrs;
mod drivers;
mod error;
mod layouts;
mod letters;
mod line;
mod sizes;
#[cfg(test)]
mod tests;
mod values;
pub mod verbose;

pub use error::ParseError;

use crate::{Arg, Attr, Dims, Op, Problem, Real};
use error::Result;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use values::Values;

/// The most problems that one line may stand for.
const MAX_CASES: usize = 10_000;

/// A problem with the data that a harness needs to run it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The problem.
    pub problem: Problem,
    /// The line's statement about the data.
    pub fill: FillHints,
    /// The name behind the descriptor (`n"resnet:conv1"`), if any.
    pub name: Option<String>,
}

/// A line's statement about the data, which is not part of the problem.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FillHints {
    /// Values of scales with one number, by the argument they belong to; other scales are filled at random.
    pub scales: BTreeMap<Arg, Real>,
    /// Values of zero points with one number.
    pub zero_points: BTreeMap<Arg, i32>,
    /// The destination is the (first) source's memory.
    pub inplace: bool,
    /// Seed of stochastic rounding.
    pub rounding_seed: Option<i32>,
    /// Numbers of dropout.
    pub dropout: Option<DropoutHint>,
    /// Actual dims of the operands that have runtime dimensions in the problem.
    pub runtime_dims: BTreeMap<Arg, Dims>,
}

/// Numbers that dropout takes at execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DropoutHint {
    /// Probability of dropping an element.
    pub p: Real,
    /// Seed.
    pub seed: i64,
    /// Offset into the generator's stream.
    pub offset: i64,
}

/// The driver and the options that hold for the following lines of a batch file.
#[derive(Clone, Default, Debug)]
pub struct Settings {
    driver: Option<&'static Driver>,
    values: Vec<(&'static str, Vec<String>)>,
}

/// One option of a driver.
#[derive(Debug)]
struct Opt {
    name: &'static str,
    default: &'static str,
}

/// One kind of problem: its options and how its operation is read and written.
#[derive(Debug)]
struct Driver {
    name: &'static str,
    options: &'static [Opt],
    /// Reads the descriptor (without a name).
    build: fn(&Values, &str) -> Result<(Op, FillHints)>,
    /// Writes options and descriptor; the caller writes the properties of tensors that they cannot say.
    write: fn(&Op, &mut line::Line),
}

const fn opt(name: &'static str, default: &'static str) -> Opt {
    Opt { name, default }
}

/// Options of every driver.
const COMMON: &[Opt] = &[
    opt("attr-post-ops", ""),
    opt("attr-scales", ""),
    opt("attr-zero-points", ""),
    opt("attr-precomputed-reductions", ""),
    opt("attr-scratchpad", "library"),
    opt("attr-fpmath", "strict"),
    opt("attr-acc-mode", "strict"),
    opt("attr-deterministic", "false"),
    opt("attr-rounding-mode", ""),
    opt("attr-dropout", ""),
    opt("attr-reusable-kernels", "false"),
    opt("attr-dynamic", ""),
    opt("attr-rnn-data", ""),
    opt("attr-rnn-weights", ""),
    opt("attr-rnn-projection", ""),
    opt("attr-rnn-linear", ""),
    opt("inplace", "false"),
    opt("mb", "0"),
    opt("runtime-sizes", ""),
    opt("tensors", ""),
];

/// Options of the benchdnn harness: they choose an action, not the problem, and are skipped.
const HARNESS: &[&str] = &[
    "allow-enum-tags-only",
    "allow-unimpl",
    "canonical",
    "check-ref-impl",
    "cold-cache",
    "ctx-exe",
    "ctx-init",
    "cpu-isa-hints",
    "engine",
    "execution-mode",
    "fast-ref",
    "fast-ref-gpu",
    "fix-times-per-prb",
    "global-impl",
    "impl",
    "match",
    "max-ms-per-prb",
    "mem-check",
    "memory-kind",
    "min-times-per-prb",
    "mode",
    "mode-modifier",
    "num-streams",
    "perf-template",
    "repeats-per-prb",
    "skip-impl",
    "skip-nonlinear",
    "start",
    "stream-kind",
    "summary",
    "trivial-strides",
    "verbose",
];

impl Driver {
    /// The option called `name` (`-` and `_` are the same).
    fn option(&self, name: &str) -> Option<&'static Opt> {
        self.options.iter().chain(COMMON).find(|o| o.name == name)
    }

    fn default(&self, option: &str) -> &'static str {
        self.option(option).map_or("", |o| o.default)
    }
}

/// Reads one line: sets options in `settings`, and gives the problems of its descriptors (none, when it has only options).
///
/// # Errors
/// [`ParseError`] for a word that is not understood and for a problem that [`Problem::new`] refuses.
pub fn parse_line(settings: &mut Settings, line: &str) -> std::result::Result<Vec<Case>, ParseError> {
    let mut cases = Vec::new();
    for (i, word) in words(line).enumerate() {
        let column = word.as_ptr() as usize - line.as_ptr() as usize + 1;
        let read = match word.strip_prefix("--") {
            Some(option) => settings.option(option),
            None if is_verbosity(word) => Ok(()),
            None => settings.descriptor(word).map(|c| cases.extend(c)),
        };
        read.map_err(|e| settings.place(e, line, i + 1, column))?;
        if cases.len() > MAX_CASES {
            return Err(settings.place(too_many(cases.len()), line, i + 1, column));
        }
    }
    Ok(cases)
}

/// The lines of a batch file with the number of their first line: a line that ends in a backslash goes on in the next one, and so does a
/// list whose comma stands before the backslash.
pub fn lines(file: &str) -> impl Iterator<Item = (usize, String)> {
    let mut rest = file.lines().enumerate();
    std::iter::from_fn(move || {
        let (number, first) = rest.next()?;
        let mut text = first.to_string();
        while let Some(part) = text.trim_end().strip_suffix('\\').map(str::trim_end) {
            let mut joined = part.to_string();
            let Some((_, next)) = rest.next() else {
                text = joined;
                break;
            };
            joined.push_str(if joined.ends_with(',') { "" } else { " " });
            joined.push_str(next.trim_start());
            text = joined;
        }
        Some((number + 1, text))
    })
}

/// The words of a line up to a comment.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace().take_while(|w| !w.starts_with('#'))
}

fn is_verbosity(word: &str) -> bool {
    word.strip_prefix("-v").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

fn too_many(n: usize) -> ParseError {
    ParseError::new(n, format_args!("at most {MAX_CASES} problems of one line")).of("lists")
}

impl Settings {
    /// `--driver`, `--reset` or `--option=value`, without the dashes.
    fn option(&mut self, text: &str) -> Result<()> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let name = name.replace('_', "-").to_ascii_lowercase();
        if name == "reset" {
            self.values.clear();
            return Ok(());
        }
        if let (Some(driver), None) = (drivers::find(&name), value) {
            *self = Settings { driver: Some(driver), values: Vec::new() };
            return Ok(());
        }
        if HARNESS.contains(&name.as_str()) {
            return Ok(());
        }
        let Some(driver) = self.driver else {
            return Err(
                ParseError::unknown(text, "a driver first, one of", drivers::ALL.iter().map(|d| d.name)).of(format_args!("--{name}"))
            );
        };
        let Some(option) = driver.option(&name) else {
            let known = driver.options.iter().chain(COMMON).map(|o| o.name);
            return Err(ParseError::unknown(&name, &format!("an option of --{}", driver.name), known).of(format_args!("--{name}")));
        };
        let value = value.unwrap_or("true").trim_matches(['"', '\'']);
        let alternatives: Vec<String> = value.split(',').take(MAX_CASES + 1).map(String::from).collect();
        if alternatives.len() > MAX_CASES {
            return Err(too_many(alternatives.len()).of(format_args!("--{name}")));
        }
        self.values.retain(|(n, _)| *n != option.name);
        self.values.push((option.name, alternatives));
        Ok(())
    }

    /// The cases of a descriptor with the present options.
    fn descriptor(&self, word: &str) -> Result<Vec<Case>> {
        let Some(driver) = self.driver else {
            return Err(ParseError::unknown(word, "a driver first, one of", drivers::ALL.iter().map(|d| d.name)).of("driver"));
        };
        let (text, name) = split_name(word);
        let count = self.values.iter().try_fold(1usize, |n, (_, v)| n.checked_mul(v.len())).unwrap_or(usize::MAX);
        if count > MAX_CASES {
            return Err(too_many(count));
        }
        let mut cases = Vec::with_capacity(count);
        let mut picked: Vec<(&'static str, &str)> = self.values.iter().map(|(n, v)| (*n, v[0].as_str())).collect();
        for i in 0..count {
            let mut rest = i;
            for (p, (_, v)) in picked.iter_mut().zip(&self.values).rev() {
                p.1 = &v[rest % v.len()];
                rest /= v.len();
            }
            let (problem, fill) = build(&Values { driver, picked: &picked }, text)?;
            cases.push(Case { problem, fill, name: name.map(String::from) });
        }
        Ok(cases)
    }

    /// Puts the place of the wrong word into an error: that of the option it is about where the line has it, else of the present word.
    fn place(&self, e: ParseError, line: &str, word: usize, column: usize) -> ParseError {
        let is_it = |w: &str| w.split('=').next().is_some_and(|o| o.replace('_', "-") == e.option);
        let found = words(line).enumerate().find(|(_, w)| e.option.starts_with("--") && is_it(w));
        let (word, column) = found.map_or((word, column), |(i, w)| (i + 1, w.as_ptr() as usize - line.as_ptr() as usize + 1));
        ParseError { word, column, ..e.of("line") }
    }
}

/// The operation, its attributes, and the hints of one alternative of every option.
fn build(values: &Values, descriptor: &str) -> Result<(Problem, FillHints)> {
    let (mut op, mut fill) = (values.driver.build)(values, descriptor)?;
    line::override_tensors(values, &mut op)?;
    for o in op.operands_mut().into_iter().filter(|o| o.tensor.layout.is_any() && o.tensor.layout.has_runtime()) {
        // Sizes given at execution leave nothing to choose.
        *o.tensor = values::plain(*o.tensor.dims(), o.tensor.dtype)?;
    }
    fill.inplace = values.flag("inplace")?;
    let attr = attrs::read(values, &op, &mut fill)?;
    let problem = finish(op, attr)?;
    sizes::bounded(&problem)?;
    sizes::read(values, descriptor, &problem, &mut fill)?;
    Ok((problem, fill))
}

/// Checks a problem.
fn finish(op: Op, attr: Attr) -> Result<Problem> {
    Problem::new(op, attr).map_err(ParseError::refused)
}

/// A descriptor without, and its, name: `2x3n"mine"`, `2x3_nmine`.
fn split_name(word: &str) -> (&str, Option<&str>) {
    let at = word.match_indices('n').map(|(i, _)| i).find(|&i| {
        let before = word[..i].bytes().next_back();
        let after = word[i + 1..].bytes().next();
        before.is_some_and(|b| b.is_ascii_digit() || b == b'_' || b == b'*') && after.is_some_and(|b| !b.is_ascii_digit())
    });
    match at {
        Some(i) => (word[..i].trim_end_matches('_'), Some(word[i + 1..].trim_matches('"'))),
        None => (word, None),
    }
}

/// The line of the problem alone: one line, nothing in it that is a default, every further tensor detail in `--tensors`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line::write(self, &FillHints::default(), None))
    }
}

/// The line of the problem with the hints and the name.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line::write(&self.problem, &self.fill, self.name.as_deref()))
    }
}

impl FromStr for Case {
    type Err = ParseError;
    /// Reads a line that stands for one case.
    fn from_str(line: &str) -> std::result::Result<Case, ParseError> {
        let mut cases = parse_line(&mut Settings::default(), line)?;
        match cases.pop() {
            Some(case) if cases.is_empty() => Ok(case),
            last => {
                let n = cases.len() + usize::from(last.is_some());
                Err(ParseError::new(format_args!("{n} problems"), "a line with exactly one").of("line"))
            }
        }
    }
}

impl FromStr for Problem {
    type Err = ParseError;
    /// Reads a line that stands for one problem.
    fn from_str(line: &str) -> std::result::Result<Problem, ParseError> {
        line.parse::<Case>().map(|c| c.problem)
    }
}
