//! The figures of a problem, and of a suite.

use super::Setup;
use super::ours::Inputs;
use crate::problems::Named;
use oxidnn_runtime::EngineKind;

/// One problem on one number of threads.
pub(crate) struct Row {
    pub(super) suite: String,
    pub(super) problem: String,
    pub(super) threads: usize,
    pub(crate) implementation: String,
    pub(crate) ours: Figures,
    /// Kernels that were made for it.
    pub(super) kernels: usize,
    /// Operations of the problem.
    pub(super) flops: f64,
    /// Bytes of its arguments.
    pub(super) bytes: f64,
    /// Operations a millisecond at the processor's peak, on all threads; 0 on a GPU.
    pub(super) peak: f64,
    /// Milliseconds of a copy of as many bytes, of problems that memory bounds.
    pub(super) copy_ms: Option<f64>,
    /// The other library's figures, or why there are none; `None` without another library.
    pub(crate) peer: Option<Result<Theirs, String>>,
}

/// Times of one library.
#[derive(Clone, Copy, Default)]
pub(crate) struct Figures {
    /// The fastest execution; with `--first`, creation and the first execution.
    pub(crate) ms: f64,
    /// The mean over all executions.
    pub(super) average_ms: f64,
    /// Descriptor and primitive.
    pub(super) create_us: f64,
}

/// The other library's figures.
pub(crate) struct Theirs {
    pub(crate) implementation: String,
    pub(crate) figures: Figures,
}

impl Row {
    /// The facts about a problem before a race.
    pub(super) fn new(named: &Named, inputs: &Inputs, threads: usize, bench: &Setup, (implementation, ours): (String, Figures)) -> Row {
        let (flops, bytes) = (inputs.settled.flops(), inputs.settled.bytes() as f64);
        let host = bench.streams.iter().all(|(_, stream)| stream.engine().kind() == EngineKind::Cpu);
        Row {
            suite: named.suite.clone(),
            problem: named.case.problem.to_string(),
            threads,
            implementation,
            ours,
            kernels: 0,
            flops,
            bytes,
            peak: if host { bench.peaks.of(&named.case.problem) * 1e6 * threads as f64 } else { 0.0 },
            copy_ms: (flops == 0.0 && host).then(|| bench.peaks.copy_ms(bytes, threads)),
            peer: None,
        }
    }

    /// The other library's figures, where there are any.
    pub(crate) fn theirs(&self) -> Option<&Theirs> {
        self.peer.as_ref()?.as_ref().ok()
    }

    /// Their time over ours.
    pub(super) fn ratio(&self) -> Option<f64> {
        self.theirs().map(|t| t.figures.ms / self.ours.ms)
    }

    /// Operations a second, in 10^9.
    pub(super) fn gops(&self) -> f64 {
        self.flops / self.ours.ms / 1e6
    }

    /// Bytes a second, in 10^9.
    pub(super) fn gbytes(&self) -> f64 {
        self.bytes / self.ours.ms / 1e6
    }

    /// Share of the processor's peak, of problems that are products.
    pub(super) fn peak_percent(&self) -> Option<f64> {
        (self.flops > 0.0 && self.peak > 0.0).then(|| self.flops / self.ours.ms / self.peak * 100.0)
    }

    /// Share of the speed of a copy, of problems that memory bounds.
    pub(super) fn copy_percent(&self) -> Option<f64> {
        self.copy_ms.map(|ms| ms / self.ours.ms * 100.0)
    }

    /// The share of the problem's bound: peak or copy speed.
    pub(super) fn bound_percent(&self) -> Option<f64> {
        self.peak_percent().or_else(|| self.copy_percent())
    }
}

/// Median times of creating primitives in us, by whether their kernels existed: the number of primitives of each kind, and the median.
pub(super) fn creation(rows: &[Row]) -> [(usize, f64); 2] {
    [false, true].map(|made| {
        let times: Vec<f64> = rows.iter().filter(|r| (r.kernels > 0) == made).map(|r| r.ours.create_us).collect();
        (times.len(), median(times.into_iter()))
    })
}

/// A suite on one number of threads.
pub(super) struct Summary {
    pub(super) suite: String,
    pub(super) threads: usize,
    pub(super) problems: usize,
    /// Sum over the problems.
    pub(super) ms: f64,
    pub(super) peer_ms: Option<f64>,
    pub(super) gops: f64,
    pub(super) peer_gops: Option<f64>,
    pub(super) gbytes: f64,
    /// Share of the problems' bound: the peak for products, copies of as many bytes for others.
    pub(super) peak_percent: Option<f64>,
    /// Median.
    pub(super) create_us: f64,
    pub(super) peer_create_us: Option<f64>,
    /// Of the ratios.
    pub(super) geomean: Option<f64>,
    /// The smallest ratio and its problem.
    pub(super) worst: Option<(f64, String)>,
    /// Problems that the peer did not do.
    pub(super) refused: usize,
}

/// A figure with so many digits behind the point, a dash where there is none.
pub(crate) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |v| format!("{v:.digits$}"))
}

impl Summary {
    /// The columns of a table of suites without a peer: suite, threads, problems, ms, Gop/s, % of peak, GB/s, creation in us.
    pub(super) fn cells(&self) -> [String; 8] {
        [
            self.suite.clone(),
            self.threads.to_string(),
            self.problems.to_string(),
            format!("{:.3}", self.ms),
            format!("{:.1}", self.gops),
            number(self.peak_percent, 0),
            format!("{:.1}", self.gbytes),
            format!("{:.0}", self.create_us),
        ]
    }

    /// The suite that `rows` are, on `threads`.
    pub(super) fn of(rows: &[Row], threads: usize) -> Summary {
        let rows: Vec<&Row> = rows.iter().filter(|r| r.threads == threads).collect();
        let sum = |value: fn(&Row) -> f64| rows.iter().map(|r| value(r)).sum::<f64>();
        let (ms, flops) = (sum(|r| r.ours.ms), sum(|r| r.flops));
        let theirs = || rows.iter().filter_map(|r| Some((r, r.theirs()?)));
        let peer_ms: f64 = theirs().map(|(_, t)| t.figures.ms).sum();
        let peer_flops: f64 = theirs().map(|(r, _)| r.flops).sum();
        let ratios: Vec<(f64, &str)> = rows.iter().filter_map(|r| Some((r.ratio()?, r.problem.as_str()))).collect();
        let raced = !ratios.is_empty();
        Summary {
            suite: rows.first().map_or(String::new(), |r| r.suite.clone()),
            threads,
            problems: rows.len(),
            ms,
            peer_ms: raced.then_some(peer_ms),
            gops: flops / ms / 1e6,
            peer_gops: raced.then_some(peer_flops / peer_ms / 1e6),
            gbytes: sum(|r| r.bytes) / ms / 1e6,
            peak_percent: rows
                .iter()
                .any(|r| r.bound_percent().is_some())
                .then(|| sum(|r| r.copy_ms.unwrap_or(r.flops / r.peak)) / ms * 100.0),
            create_us: median(rows.iter().map(|r| r.ours.create_us)),
            peer_create_us: raced.then(|| median(theirs().map(|(_, t)| t.figures.create_us))),
            geomean: raced.then(|| (ratios.iter().map(|r| r.0.ln()).sum::<f64>() / ratios.len() as f64).exp()),
            worst: ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(r, p)| (*r, p.to_string())),
            refused: rows.iter().filter(|r| matches!(r.peer, Some(Err(_)))).count(),
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
