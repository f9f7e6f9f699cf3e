//! A progress bar on standard error, where a person is watching.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A bar over `n` problems; hidden when standard output is no terminal.
pub(crate) fn bar(n: usize) -> ProgressBar {
    if !std::io::stdout().is_terminal() || n < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(n as u64), ProgressDrawTarget::stderr_with_hz(8));
    match ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} left  {wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
