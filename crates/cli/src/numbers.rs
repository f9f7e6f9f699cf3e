//! Numbers of the command line that have bounds.

use std::fmt::Display;
use std::str::FromStr;

/// Threads that the runtime starts at most.
const MOST_THREADS: usize = 16_384;
/// Seconds of the longest measurement.
const MOST_SECONDS: f64 = 1e6;

fn within<T: FromStr + PartialOrd + Display>(text: &str, low: T, high: T) -> Result<T, String> {
    let number = text.parse::<T>().ok().filter(|n| *n >= low && *n <= high);
    number.ok_or_else(|| format!("expected a number from {low} to {high}"))
}

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    within(text, 1, MOST_THREADS)
}

/// A number of processes, of problems at a time, of images.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    within(text, 1, i32::MAX as usize)
}

/// A seed, or the place of a problem among those of a seed.
pub(crate) fn index(text: &str) -> Result<u64, String> {
    within(text, 0, u64::MAX)
}

/// A time in seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    within(text, 1e-6, MOST_SECONDS)
}

/// A number of operations.
pub(crate) fn operations(text: &str) -> Result<f64, String> {
    within(text, 1.0, 1e15)
}
