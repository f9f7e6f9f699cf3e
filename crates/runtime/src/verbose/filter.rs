//! Patterns of the verbose filter: the small part of regular expressions that component names need.
//!
//! Alternatives are separated by `|`; in each, `^` and `$` anchor, `.` is any character, and `*` after a character repeats it, as few
//! times as will do. After Rob Pike's matcher in "The Practice of Programming" (Kernighan and Pike, 1999), chapter 9.

/// A pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn new(text: &str) -> Pattern {
        Pattern(text.to_string())
    }

    /// Whether it matches somewhere in `text`.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.0.split('|').any(|alternative| anywhere(alternative.as_bytes(), text.as_bytes()))
    }
}

fn anywhere(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [b'^', rest @ ..] => here(rest, text),
        _ => (0..=text.len()).any(|i| here(pattern, &text[i..])),
    }
}

fn here(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => text.is_empty(),
        [c, b'*', rest @ ..] => {
            let run = text.iter().take_while(|t| c == *t || *c == b'.').count();
            (0..=run).any(|i| here(rest, &text[i..]))
        }
        [c, rest @ ..] => text.split_first().is_some_and(|(t, tail)| (c == t || *c == b'.') && here(rest, tail)),
    }
}
