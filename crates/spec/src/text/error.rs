//! The error of a line that was not understood.

use crate::Error;
use std::fmt;

/// A problem line that was not understood, or that asks for something illegal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The option (`--alg`), the letter of a descriptor (`ih`), or the argument (`weights`) that is wrong.
    pub option: String,
    /// The text in question.
    pub got: String,
    /// The values that it may have.
    pub expected: String,
    /// The known word nearest to it, if one is near.
    pub near: Option<String>,
    /// Which word of the line, from 1; 0 where no line was read.
    pub word: usize,
    /// Where that word begins, in bytes from 1; 0 where no line was read.
    pub column: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { option, got, expected, near, word, column } = self;
        if *word > 0 {
            write!(f, "word {word} (column {column}): ")?;
        }
        write!(f, "{option}: got `{got}`, expected {expected}")?;
        match near {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

impl ParseError {
    /// An error without a place yet.
    pub(super) fn new(got: impl fmt::Display, expected: impl fmt::Display) -> ParseError {
        let (got, expected) = (got.to_string(), expected.to_string());
        ParseError { option: String::new(), got, expected, near: None, word: 0, column: 0 }
    }

    /// Something that is none of `known`.
    pub(super) fn unknown<'a>(got: &str, what: &str, known: impl Iterator<Item = &'a str> + Clone) -> ParseError {
        let near = known.clone().map(|k| (distance(got, k), k)).min().filter(|(d, k)| *d <= 1 + k.len() / 4);
        let list = known.collect::<Vec<_>>().join(" ");
        ParseError { near: near.map(|(_, k)| k.into()), ..ParseError::new(got, format_args!("{what}: {list}")) }
    }

    /// The same error, about `option` (kept if it names one already).
    pub(super) fn of(mut self, option: impl fmt::Display) -> ParseError {
        if self.option.is_empty() {
            self.option = option.to_string();
        }
        self
    }

    /// The error of a request that [`crate::Problem::new`] or a layout refused.
    pub(super) fn refused(e: Error) -> ParseError {
        match e {
            Error::InvalidArguments(i) => ParseError::new(i.got, i.expected).of(i.argument),
            other => ParseError::new(other, "a legal problem"),
        }
    }
}

/// Number of letters to change, insert, leave out, or exchange with the next one between two words; words longer than 24 letters count as far
/// from everything.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    if a.len().max(b.len()) > 24 {
        return usize::MAX;
    }
    let mut rows: [Vec<usize>; 3] = [Vec::new(), Vec::new(), (0..=b.len()).collect()];
    for (i, x) in a.iter().enumerate() {
        rows.rotate_left(1);
        let [before, last, row] = &mut rows;
        *row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let edit = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            let exchanged = i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y;
            row.push(if exchanged { edit.min(before[j - 1] + 1) } else { edit });
        }
    }
    rows[2][b.len()]
}
