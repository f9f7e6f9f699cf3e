//! Printing to standard output: lines that end the program quietly when nobody reads any more, and tables that fit the terminal.

use comfy_table::{ContentArrangement, Table, presets};
use std::fmt;
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints one line; ends the program when standard output is closed (`oxidnn ... | head`).
pub(crate) fn line(text: impl fmt::Display) {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}") {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        _ => {}
    }
}

/// An empty table with `header`. On a terminal it is as wide as `COLUMNS` says, else 140 characters; elsewhere lines are as long as they are.
pub(crate) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    if std::io::stdout().is_terminal() {
        let width = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(140);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table
}
