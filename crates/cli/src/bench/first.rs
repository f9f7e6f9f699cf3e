//! `--first`: the cost of a shape that was never seen before: from the description to the first result.
//!
//! Every problem is created and executed once on either side, without warming up; the sides begin in turns. Creation and the execution are
//! timed. Between the two, untimed, the arguments get their memory: it is written just before, on both sides. On a GPU large arguments are zeros.

use super::ours::{self, Inputs, Ours};
use super::row::{Figures, Row, Theirs};
use super::{Setup, set_threads};
use crate::print;
use crate::problems::Named;
use crate::progress::Progress;
use anyhow::Result;
use oxidnn_peer::{Peer, PeerError};
use oxidnn_runtime::{EngineKind, Stream};
use std::time::{Duration, Instant};

/// The rows of a suite on one number of threads.
pub(super) fn suite(suite: &[Named], (threads, stream): (usize, &Stream), bench: &Setup, progress: &Progress) -> Result<Vec<Row>> {
    if let Some(peer) = &bench.peer {
        set_threads(peer, threads);
        peer.forget();
    }
    let mut rows = Vec::with_capacity(suite.len());
    for (i, named) in suite.iter().enumerate() {
        if print::is_closed() {
            break;
        }
        progress.doing(&named.case.problem);
        let gpu = stream.engine().kind() == EngineKind::Gpu;
        let inputs = if gpu { Inputs::small(named)? } else { Inputs::of(named, bench.options.all_bytes)? };
        let theirs = || bench.peer.as_ref().map(|peer| their_first(named, &inputs, peer).map_err(|e| e.to_string()));
        let early = if i % 2 == 1 { theirs() } else { None };
        let mut row = Row::new(named, &inputs, threads, bench, our_first(named, &inputs, stream, bench)?);
        row.peer = early.or_else(theirs);
        bench.measured(&row, progress);
        rows.push(row);
    }
    Ok(rows)
}

fn our_first(named: &Named, inputs: &Inputs, stream: &Stream, bench: &Setup) -> Result<(String, Figures)> {
    let (primitive, created) = ours::create(&named.case.problem, stream, bench)?;
    let implementation = primitive.desc().impl_name().to_owned();
    let ours = Ours::new(primitive, named, inputs, stream)?;
    let ours = ours.bound();
    let begin = Instant::now();
    ours.once()?;
    Ok((implementation, figures(created.took, begin.elapsed())))
}

fn their_first(named: &Named, inputs: &Inputs, peer: &Peer) -> Result<Theirs, PeerError> {
    let created = peer.create(&named.case.problem)?;
    let (implementation, spent) = (created.impl_name()?, created.spent());
    let prepared = peer.bind(created, &inputs.settled, &inputs.values, None)?;
    let begin = Instant::now();
    prepared.run()?;
    Ok(Theirs { implementation, figures: figures(spent, begin.elapsed()) })
}

fn figures(created: Duration, executed: Duration) -> Figures {
    let ms = (created + executed).as_secs_f64() * 1e3;
    Figures { ms, average_ms: ms, create_us: created.as_secs_f64() * 1e6 }
}
