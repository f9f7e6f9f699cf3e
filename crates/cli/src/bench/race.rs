//! Both libraries on a problem, in turns.
//!
//! The turns are short and many, so that other load on the machine affects both. Each turn runs one library only. Before it the program
//! sleeps, so that the other library's threads, which still look for work after its last execution, have gone to sleep when the turn
//! begins, and every turn follows an idle machine. A library's time is that of its fastest execution, so it is with warm caches. If the
//! system takes a core away for longer than a turn, turns of one library differ: both go on then, until each has several turns that agree.

use super::ours::{self, Bound, Inputs, Ours};
use super::row::{Figures, Row, Theirs};
use super::{Setup, set_threads};
use crate::print;
use crate::problems::Named;
use crate::progress::Progress;
use anyhow::Result;
use oxidnn_peer::{Created, Peer, PeerError, Prepared};
use oxidnn_runtime::Stream;
use oxidnn_spec::Problem;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Seconds that each library executes a problem, by default.
pub(super) const SECONDS: f64 = 0.3;

/// Turns of each library.
const TURNS: u32 = 6;

/// Executions of each library at least.
const LEAST: u32 = 3;

/// Turns whose fastest execution takes at most [`ALIKE`] times as long as the fastest of all, so that this is believed.
const AGREEING: usize = 3;
const ALIKE: f64 = 1.1;

/// How many times as long as asked for a race goes on for their sake.
const LONGER: u32 = 4;

/// Sleep before a turn of several threads: longer than any runtime that we know lets idle threads spin by default.
const QUIET: Duration = Duration::from_millis(10);

/// The rows of a suite on one number of threads. All its primitives are made first, one after the other, as a program makes those of a net:
/// ours, then theirs, each for the first time (caches do not serve earlier ones).
pub(crate) fn suite(suite: &[Named], (threads, stream): (usize, &Stream), bench: &Setup, progress: &Progress) -> Result<Vec<Row>> {
    let ours: Vec<_> = suite.iter().map(|n| ours::create(&n.case.problem, stream, bench)).collect::<Result<_>>()?;
    let mut theirs = Vec::new();
    if let Some(peer) = &bench.peer {
        set_threads(peer, threads);
        peer.forget();
        theirs.extend(suite.iter().map(|n| create(peer, &n.case.problem)));
    }
    let (mut theirs, mut rows) = (theirs.into_iter(), Vec::with_capacity(suite.len()));
    for (named, (primitive, created)) in suite.iter().zip(ours) {
        if print::is_closed() {
            break;
        }
        progress.doing(&named.case.problem);
        let (implementation, inputs) = (primitive.desc().impl_name().to_owned(), Inputs::of(named, bench.options.all_bytes)?);
        let side = Ours::new(primitive, named, &inputs, stream)?;
        let ours = Figures { create_us: created.took.as_secs_f64() * 1e6, ..Figures::default() };
        let mut row = Row::new(named, &inputs, threads, bench, (implementation, ours));
        row.kernels = created.kernels;
        race(&mut row, &side.bound(), theirs.next().map(|t| prepare(t, &inputs, bench)), bench.options.seconds)?;
        bench.measured(&row, progress);
        rows.push(row);
    }
    Ok(rows)
}

/// Lets both sides execute, and puts down their times.
fn race(row: &mut Row, ours: &Bound, theirs: Option<Result<(Prepared, Theirs), PeerError>>, seconds: f64) -> Result<()> {
    ours.once()?;
    let mut timing = Pair::default();
    let quiet = if row.threads > 1 { QUIET } else { Duration::ZERO };
    row.peer = match theirs {
        Some(Ok((prepared, mut theirs))) => match timing.alternate(|| Ok(ours.once()?), Some(|| prepared.run()), seconds, quiet)? {
            Ok(()) => {
                timing.theirs.put(&mut theirs.figures);
                Some(Ok(theirs))
            }
            Err(e) => Some(Err(e.to_string())),
        },
        Some(Err(e)) => Some(Err(e.to_string())),
        None => None,
    };
    // The peer's failure may have ended the race early.
    if !matches!(row.peer, Some(Ok(_))) {
        timing.alternate(|| Ok(ours.once()?), None::<fn() -> Result<(), PeerError>>, seconds, Duration::ZERO)??;
    }
    timing.ours.put(&mut row.ours);
    Ok(())
}

/// The problem's primitive in the other library.
fn create(peer: &Peer, problem: &Problem) -> Result<(Created, Theirs), PeerError> {
    let created = peer.create(problem)?;
    let figures = Figures { create_us: created.spent().as_secs_f64() * 1e6, ..Figures::default() };
    let theirs = Theirs { implementation: created.impl_name()?, figures };
    Ok((created, theirs))
}

/// The other library's primitive with its arguments, run once.
fn prepare(created: Result<(Created, Theirs), PeerError>, inputs: &Inputs, bench: &Setup) -> Result<(Prepared, Theirs), PeerError> {
    let (created, theirs) = created?;
    let Some(peer) = &bench.peer else { return Err(PeerError::Ours("no peer".into())) };
    let prepared = peer.bind(created, &inputs.settled, &inputs.values, None)?;
    prepared.run()?;
    Ok((prepared, theirs))
}

/// The executions of both libraries.
#[derive(Default)]
pub(crate) struct Pair {
    pub(crate) ours: Timing,
    pub(crate) theirs: Timing,
}

impl Pair {
    /// Turns until both have had `seconds`, [`LEAST`] executions and turns that agree. The outer error is ours, the inner one theirs.
    pub(crate) fn alternate(
        &mut self,
        ours: impl Fn() -> Result<()>,
        theirs: Option<impl Fn() -> Result<(), PeerError>>,
        seconds: f64,
        quiet: Duration,
    ) -> Result<Result<(), PeerError>> {
        let (turn, all) = (Duration::from_secs_f64(seconds / f64::from(TURNS)), Duration::from_secs_f64(seconds));
        while !(self.ours.is_enough(all) && (theirs.is_none() || self.theirs.is_enough(all))) {
            if self.ours.total < LONGER * all || self.ours.runs < LEAST {
                sleep(quiet);
                self.ours.turn(turn, &ours)?;
            }
            if let Some(theirs) = theirs.as_ref().filter(|_| self.theirs.total < LONGER * all || self.theirs.runs < LEAST) {
                sleep(quiet);
                if let Err(e) = self.theirs.turn(turn, theirs) {
                    return Ok(Err(e));
                }
            }
        }
        Ok(Ok(()))
    }
}

/// Executions of one library.
#[derive(Default)]
pub(crate) struct Timing {
    /// The fastest execution of every turn.
    turns: Vec<Duration>,
    total: Duration,
    runs: u32,
}

impl Timing {
    /// The fastest execution.
    pub(crate) fn best(&self) -> Duration {
        self.turns.iter().min().copied().unwrap_or_default()
    }

    fn is_enough(&self, all: Duration) -> bool {
        let alike = self.best().mul_f64(ALIKE);
        let agree = self.turns.iter().filter(|t| **t <= alike).count();
        self.runs >= LEAST && self.total >= all && (agree >= AGREEING || self.total >= LONGER * all)
    }

    /// Executions for as long as a turn is, at least one.
    fn turn<E>(&mut self, turn: Duration, once: impl Fn() -> Result<(), E>) -> Result<(), E> {
        let begin = Instant::now();
        let mut best = Duration::MAX;
        loop {
            let start = Instant::now();
            once()?;
            best = best.min(start.elapsed());
            self.runs += 1;
            if begin.elapsed() >= turn {
                self.total += begin.elapsed();
                self.turns.push(best);
                return Ok(());
            }
        }
    }

    fn put(&self, figures: &mut Figures) {
        figures.ms = self.best().as_secs_f64() * 1e3;
        figures.average_ms = self.total.as_secs_f64() * 1e3 / f64::from(self.runs.max(1));
    }
}
