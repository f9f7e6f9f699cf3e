//! How rows describe their plans: helpers that make a [`Decision`] from a problem and the way it is computed.

use crate::hardware::{Caches, Core, Work, hertz};
use oxidnn_runtime::{Blocked, Decision, Level, Plan};
use oxidnn_spec::Problem;

/// How a row computes its problem.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct How {
    /// The algorithm.
    pub algorithm: String,
    /// What stays in registers, and its bytes.
    pub registers: (String, usize),
    /// Blocks that are used repeatedly, with their bytes: each stays in the first cache that holds it.
    pub blocks: Vec<(String, usize)>,
    /// Multiply-adds of a core a cycle.
    pub rate: f64,
    /// Multiply-adds done for each one of the problem, because of padding or of the algorithm.
    pub padding: f64,
    /// Bytes that are copied besides the arguments.
    pub copies: usize,
    /// Cores that share the work.
    pub cores: usize,
}

/// Cycles of portable code for the work of generated code in one.
pub(crate) const PORTABLE: f64 = 1.3;

/// The factor by which rounding columns up to whole vectors increases the work.
pub(crate) fn padding(columns: usize, lanes: usize) -> f64 {
    columns.next_multiple_of(lanes.max(1)) as f64 / columns.max(1) as f64
}

impl How {
    /// An algorithm, its multiply-adds of a core a cycle, and the cores that share the work.
    pub fn new(algorithm: impl Into<String>, rate: f64, cores: usize) -> How {
        How { algorithm: algorithm.into(), rate, padding: 1.0, cores, ..How::default() }
    }

    /// The same with what stays in registers, and its bytes.
    pub fn registers(self, what: impl Into<String>, bytes: usize) -> How {
        How { registers: (what.into(), bytes), ..self }
    }

    /// The same with a block of this many bytes.
    pub fn block(mut self, what: impl Into<String>, bytes: usize) -> How {
        self.blocks.push((what.into(), bytes));
        self
    }

    /// The same with multiply-adds beyond those of the problem.
    pub fn padding(self, padding: f64) -> How {
        How { padding, ..self }
    }

    /// The same with copies.
    pub fn copies(self, copies: usize) -> How {
        How { copies, ..self }
    }

    /// The decision about a problem.
    pub fn decision(self, problem: &Problem) -> Decision {
        let How { algorithm, registers, blocks, rate, padding, copies, cores } = self;
        let caches = Caches::host();
        let mut blocks: Vec<Blocked> = blocks.into_iter().map(|(what, bytes)| Blocked::new(caches.level(bytes), what, bytes)).collect();
        blocks.push(Blocked::new(Level::Registers, registers.0, registers.1));
        blocks.sort_by_key(|b| b.level);
        let multiply_adds = problem.flops() / 2.0 * padding;
        let work = Work { multiply_adds, rate, bytes: problem.bytes() as f64 + copies as f64, cores };
        Decision { algorithm, blocks, seconds: Some(work.seconds(Core::host(), &caches, hertz())) }
    }
}

/// The decision of another row that runs `times` times, between copies of `copies` bytes each.
pub(crate) fn around(what: &str, inner: &dyn Plan, times: usize, copies: usize) -> Decision {
    let (inner, caches) = (inner.decision(), Caches::host());
    let copied = Work { multiply_adds: 0.0, rate: 1.0, bytes: 2.0 * copies as f64, cores: 1 }.seconds(Core::host(), &caches, hertz());
    let seconds = inner.seconds.map(|s| times as f64 * (s + copied));
    let mut blocks = inner.blocks;
    blocks.push(Blocked::new(caches.level(copies), "copies of operands", copies));
    blocks.sort_by_key(|b| b.level);
    Decision { algorithm: format!("{what}: {}", inner.algorithm), blocks, seconds }
}
