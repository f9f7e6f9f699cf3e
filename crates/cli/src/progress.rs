//! Progress on standard error: a bar where a person is watching, else a line now and then.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// How far a command is.
pub(crate) enum Progress {
    /// On a terminal.
    Bar(ProgressBar),
    /// Elsewhere.
    Lines(Mutex<Lines>),
}

/// Lines about how far it is.
pub(crate) struct Lines {
    all: usize,
    done: usize,
    begin: Instant,
    said: Instant,
    interval: Duration,
}

impl Progress {
    /// Nothing done yet of `n` problems.
    pub(crate) fn new(n: usize) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress::Lines(Mutex::new(Lines::new(n, INTERVAL)));
        }
        if n < 2 {
            return Progress::Bar(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(n as u64), ProgressDrawTarget::stderr_with_hz(8));
        Progress::Bar(match ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} left  {wide_msg}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    /// One more is done.
    pub(crate) fn inc(&self) {
        match self {
            Progress::Bar(bar) => bar.inc(1),
            Progress::Lines(lines) => {
                let said = lines.lock().unwrap_or_else(PoisonError::into_inner).step();
                said.iter().for_each(|line| eprintln!("{line}"));
            }
        }
    }

    /// The present action.
    pub(crate) fn doing(&self, what: impl fmt::Display) {
        if let Progress::Bar(bar) = self {
            bar.set_message(what.to_string());
        }
    }

    /// Prints a line of results without tearing the bar.
    pub(crate) fn print(&self, text: impl fmt::Display) {
        match self {
            Progress::Bar(bar) => bar.suspend(|| crate::print::line(text)),
            Progress::Lines(_) => crate::print::line(text),
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Lines {
    fn new(all: usize, interval: Duration) -> Lines {
        let now = Instant::now();
        Lines { all, done: 0, begin: now, said: now, interval }
    }

    /// One more is done; a line where the last one is long ago and more is to come.
    fn step(&mut self) -> Option<String> {
        self.done += 1;
        if self.done >= self.all || self.said.elapsed() < self.interval {
            return None;
        }
        self.said = Instant::now();
        let spent = self.begin.elapsed().as_secs_f64();
        let left = spent / self.done as f64 * (self.all - self.done) as f64;
        Some(format!("oxidnn: {} of {} problems after {spent:.0} s, about {left:.0} s left", self.done, self.all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_after_intervals_and_not_at_the_end() {
        let mut eager = Lines::new(3, Duration::ZERO);
        assert!(eager.step().is_some_and(|l| l.starts_with("oxidnn: 1 of 3 problems after 0 s, about 0 s left")));
        assert!(eager.step().is_some() && eager.step().is_none());
        let mut patient = Lines::new(3, Duration::from_secs(3600));
        assert!((0..3).all(|_| patient.step().is_none()));
    }
}
