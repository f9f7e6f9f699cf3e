//! Rust source with comments and literals blanked out, so that the rules look at code and not at what is written about code.

#[cfg(test)]
mod tests;

/// The same text, every character of a comment, string or character literal replaced by a blank; line breaks stay where they are.
pub(crate) fn blanked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        match end {
            Some(end) => out.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' })),
            None => out.push(chars[at]),
        }
        at = end.unwrap_or(at + 1);
    }
    out
}

/// Where the comment or literal that starts at `at` ends; `None` when none starts there.
fn literal_end(chars: &[char], at: usize) -> Option<usize> {
    let next = chars.get(at + 1).copied();
    let after_name = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match chars[at] {
        '/' if next == Some('/') => Some(chars[at..].iter().position(|&c| c == '\n').map_or(chars.len(), |n| at + n)),
        '/' if next == Some('*') => Some(block_comment_end(chars, at)),
        '"' => Some(quoted_end(chars, at, '"')),
        'r' if !after_name || chars[at - 1] == 'b' || chars[at - 1] == 'c' => raw_string_end(chars, at),
        '\'' if next == Some('\\') || chars.get(at + 2) == Some(&'\'') => Some(quoted_end(chars, at, '\'')),
        _ => None,
    }
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn quoted_end(chars: &[char], start: usize, quote: char) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn raw_string_end(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars[start + 1..].iter().take_while(|&&c| c == '#').count();
    let open = start + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let closes = |at: usize| chars[at] == '"' && chars[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
    let close = (open + 1..chars.len()).find(|&at| closes(at)).unwrap_or(chars.len() - 1);
    Some((close + 1 + hashes).min(chars.len()))
}

/// A word of blanked code, with the line (from 0) that it stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word<'a> {
    /// The word: letters, digits and underscores, or one character of punctuation.
    pub(crate) text: &'a str,
    /// Its line, counted from 0.
    pub(crate) line: usize,
}

/// The words and punctuation of blanked code.
pub(crate) fn words(code: &str) -> Vec<Word<'_>> {
    let mut all = Vec::new();
    for (line, text) in code.lines().enumerate() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let len = if is_part(first) { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            all.push(Word { text: &rest[..len], line });
            rest = rest[len..].trim_start();
        }
    }
    all
}
