//! Printing to standard output. If a reader goes away (`oxidnn ... | head`), printing stops and nothing else changes: the findings of a
//! check still decide its exit code. Output that cannot be written, as on a full disk, is a failure.

use comfy_table::{ContentArrangement, Table, TableComponent, presets};
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Characters of a line where nobody says how many there are.
const WIDTH: usize = 80;

/// The reason why the output ended.
static ENDED: Mutex<Option<ErrorKind>> = Mutex::new(None);

/// Prints one line and lets it go: programs read lines while the next ones are computed.
pub(crate) fn line(text: impl fmt::Display) {
    let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    if ended.is_some() {
        return;
    }
    let mut out = io::stdout().lock();
    if let Err(e) = writeln!(out, "{text}").and_then(|()| out.flush()) {
        *ended = Some(e.kind());
    }
}

/// Whether nobody reads any more, or nothing can be written.
pub(crate) fn is_closed() -> bool {
    ENDED.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// The exit code of a command that ends with `code`: a failure where its output was lost.
pub(crate) fn exit(code: ExitCode) -> ExitCode {
    match *ENDED.lock().unwrap_or_else(PoisonError::into_inner) {
        None | Some(ErrorKind::BrokenPipe) => code,
        Some(kind) => {
            eprintln!("oxidnn: cannot write to standard output: {kind}");
            ExitCode::from(2)
        }
    }
}

/// Characters of a line: `COLUMNS`, else 80.
pub(crate) fn width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).filter(|&c| c > 0).unwrap_or(WIDTH)
}

/// An empty table with `header`. On a terminal it is as wide as that; elsewhere lines are not wrapped.
pub(crate) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    for lines in [TableComponent::HorizontalLines, TableComponent::MiddleIntersections] {
        table.remove_style(lines);
    }
    if io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::try_from(width()).unwrap_or(u16::MAX));
    }
    table
}

/// `text` in lines of at most [`width`] characters that begin with `indent` blanks; words stay whole.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let fits = |line: &String| line.is_empty() || indent + line.chars().count() + 1 + word.chars().count() <= width();
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    let blanks = " ".repeat(indent);
    lines.iter().map(|line| format!("{blanks}{line}")).collect::<Vec<_>>().join("\n")
}
