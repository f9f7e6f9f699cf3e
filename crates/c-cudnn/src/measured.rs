//! Autotuning: how long each way to compute a problem took on this device. The times are kept in the kernel store, so that later processes need not measure.
//!
//! An entry's key is the device, the version of the library and the problem. Its value is text, a line per way, which is checked against the
//! available ways before use: damaged entries, and those of other ways, are ignored with a warning to the logging callback, and measured
//! again.

use crate::handle::{self, Handle};
use crate::host_runtime::settle;
use crate::logging;
use crate::status::Failure;
use oxidnn_runtime::cache::Lru;
use oxidnn_runtime::fork::{self, Locked};
use oxidnn_runtime::knobs;
use oxidnn_runtime::store::{Store, StoreError, user_folder};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, OnceLock};
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// `0`: measure every time, store and load nothing.
const VARIABLE: &str = "OXIDNN_CUDNN_CHOICES";
/// The folder of the entries in the user's cache directory.
const FOLDER: &str = "measured";
/// The version of the format of entries.
const FORM: u32 = 1;
/// Problems whose times a process caches.
const CAPACITY: usize = 4096;
/// If the first run takes this long, it is the only one.
const LONG: Duration = Duration::from_millis(250);

/// One way to compute a problem: an algorithm, or an engine with the value of its knob.
pub(crate) type Way = [i64; 2];

/// Measured times.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Times(Vec<(Way, Duration)>);

impl Times {
    /// The time of a way.
    pub(crate) fn of(&self, way: Way) -> Option<Duration> {
        self.0.iter().find(|t| t.0 == way).map(|t| t.1)
    }

    /// Stores the time of a way, replacing an older one.
    pub(crate) fn set(&mut self, way: Way, time: Duration) {
        self.0.retain(|t| t.0 != way);
        self.0.push((way, time));
    }

    /// Times in the order of preference; those of ways that were not measured come last.
    pub(crate) fn order(&self, way: Way) -> Duration {
        self.of(way).unwrap_or(Duration::MAX)
    }

    fn written(&self) -> String {
        self.0.iter().map(|([a, b], time)| format!("{a} {b} {}\n", time.as_nanos())).collect()
    }

    /// Parses times; each way must satisfy `is_one` and appear once, otherwise `None`.
    fn read(text: &[u8], is_one: impl Fn(Way) -> bool) -> Option<Times> {
        let mut times = Times::default();
        for line in std::str::from_utf8(text).ok()?.lines() {
            let mut words = line.split(' ');
            let way = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
            let time = Duration::from_nanos(words.next()?.parse().ok().filter(|&n| n > 0)?);
            if words.next().is_some() || !is_one(way) || times.of(way).is_some() {
                return None;
            }
            times.0.push((way, time));
        }
        (!times.0.is_empty()).then_some(times)
    }
}

/// Whether measured times are kept at all.
fn is_on() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *fork::once(&ON, || std::env::var(VARIABLE).as_deref() != Ok("0"))
}

type Table = Lru<String, Option<Times>>;

/// The process's cache, by problem; `None` if the store has nothing.
fn table() -> Locked<'static, Table> {
    static KNOWN: LazyLock<Mutex<Table>> = LazyLock::new(|| Mutex::new(Lru::new(CAPACITY, usize::MAX)));
    let _inside = fork::enter();
    fork::lock(&KNOWN)
}

/// Adds to the process's cache.
fn remember(problem: &str, times: Option<Times>) {
    let mut table = table();
    table.remove(&problem.to_owned());
    let gone = table.insert(problem.to_owned(), times, 1);
    drop(table);
    drop(gone);
}

/// The folder of the entries; `None` if nothing is kept.
fn folder() -> Option<PathBuf> {
    user_folder(FOLDER).filter(|_| knobs::get().kernel_store > 0)
}

/// The store, created if needed.
fn store(folder: PathBuf) -> Result<Store, StoreError> {
    Store::open(folder, knobs::get().kernel_store as u64)
}

/// The key: everything that times depend on.
fn key(problem: &str) -> Result<Vec<u8>, Failure> {
    Ok(format!("cudnn {FORM}\0{}\0{}\0{problem}", env!("CARGO_PKG_VERSION"), handle::identity()?).into_bytes())
}

/// The times of a problem, if this process or an earlier one has measured them; `is_one` tells which ways exist.
pub(crate) fn known(problem: &str, is_one: impl Fn(Way) -> bool) -> Option<Times> {
    if !is_on() {
        return None;
    }
    if let Some(known) = table().get(&problem.to_owned()) {
        return known.clone();
    }
    let found = found(problem, is_one).unwrap_or_else(|why| {
        logging::warned(|| format!("measured times that are not taken: {why}; {problem} is measured anew where that is asked for"));
        None
    });
    if let Some(times) = &found {
        logging::told(|| format!("times of the kernel store: {}: {problem}", times.0.len()));
    }
    remember(problem, found.clone());
    found
}

/// The store's entry.
fn found(problem: &str, is_one: impl Fn(Way) -> bool) -> Result<Option<Times>, String> {
    let Some(folder) = folder().filter(|folder| folder.is_dir()) else { return Ok(None) };
    let key = key(problem).map_err(|e| e.message)?;
    let Some(text) = store(folder).and_then(|store| store.find(&key)).map_err(|e| e.to_string())? else { return Ok(None) };
    Times::read(&text, is_one).map(Some).ok_or_else(|| "an entry of ways that there are not".into())
}

/// Stores measured times for this process and later ones.
pub(crate) fn keep(problem: &str, times: &Times) {
    logging::told(|| format!("measured: {}: {problem}", times.0.len()));
    if !is_on() {
        return;
    }
    remember(problem, Some(times.clone()));
    let Some(folder) = folder() else { return };
    let put = |key: Vec<u8>| store(folder).and_then(|store| store.put(&key, times.written().as_bytes())).map_err(|e| e.to_string());
    if let Err(why) = key(problem).map_err(|e| e.message).and_then(put) {
        logging::warned(|| format!("measured times that are not kept: {why}"));
    }
}

/// The better of two runs after a first one, timed on the handle's stream.
///
/// # Errors
/// Of the runs.
pub(crate) fn time(handle: &Handle, mut run: impl FnMut() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let mut once = || -> Result<Duration, Failure> {
        settle(handle)?;
        let begin = handle.stream().record()?;
        run()?;
        settle(handle)?;
        let end = handle.stream().record()?;
        end.wait()?;
        Ok(end.since(&begin)?.max(Duration::from_nanos(1)))
    };
    let begin = Instant::now();
    let first = once()?;
    if begin.elapsed() > LONG {
        return Ok(first);
    }
    Ok(once()?.min(once()?))
}
