//! Primitive descriptors: a problem, the row that took it, and the answers to every query. Cheap to clone; nothing is executed here.

use crate::cache::Key;
use crate::execute::Matching;
use crate::family::{self, Family, Rows};
use crate::{Engine, Plan, Planned, Skip, fork, transfer, verbose};
use oxidnn_spec::{Arg, Attr, DataType, Error, Operand, Problem, Prop, Refusal, ScratchpadMode, Tensor, Use};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Slack in a caller's scratch buffer, so that its beginning may have any alignment.
pub(crate) const SCRATCH_SLACK: usize = crate::memory::ALIGNMENT - 1;

/// The work of a primitive and its implementation: made once, immutable, shared.
#[derive(Clone)]
pub struct PrimitiveDesc(Arc<Decision>);

struct Decision {
    engine: Engine,
    /// An argument whose memory is of another engine: of transfers.
    foreign: Option<(Arg, Engine)>,
    key: Arc<Key>,
    filter: Option<String>,
    row: usize,
    name: &'static str,
    plan: Box<dyn Plan>,
    skipped: Vec<(&'static str, Skip)>,
    operands: Vec<Operand<Tensor>>,
    /// The first of the operands' stamps.
    stamps: u64,
    /// The facts of the plan that executions need.
    scratch_bytes: usize,
    /// The bytes that the operands' first buffers need, for executions that do not believe descriptions of memory.
    bytes: OnceLock<Box<[Option<usize>]>>,
    /// Finds the problem of each execution, where sizes or strides come with it.
    family: Option<Arc<Family>>,
}

/// The answer of one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It declined.
    Skipped(Skip),
    /// It is the one.
    Chosen,
    /// It would take the problem too.
    Further,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Skipped(skip) => skip.fmt(f),
            Verdict::Chosen => f.write_str("chosen"),
            Verdict::Further => f.write_str("would do too"),
        }
    }
}

impl PrimitiveDesc {
    /// The first implementation that takes the problem.
    ///
    /// # Errors
    /// [`Error::Unimplemented`] with the reason of every row.
    pub fn new(engine: &Engine, problem: Problem) -> Result<PrimitiveDesc, Error> {
        PrimitiveDesc::search(engine, problem, None, Start::default())
    }

    /// The first implementation whose name contains `filter`.
    ///
    /// # Errors
    /// [`Error::Unimplemented`] with the reason of every row.
    pub fn with_filter(engine: &Engine, problem: Problem, filter: &str) -> Result<PrimitiveDesc, Error> {
        PrimitiveDesc::search(engine, problem, Some(filter.to_string()), Start::default())
    }

    /// The next implementation that takes the problem.
    ///
    /// # Errors
    /// [`Error::LastImplReached`] when there is none.
    pub fn next_impl(&self) -> Result<PrimitiveDesc, Error> {
        if self.0.foreign.is_some() {
            return Err(Error::LastImplReached);
        }
        let start = Start { row: self.0.row + 1, skipped: self.0.skipped.clone() };
        match PrimitiveDesc::search(self.engine(), self.given().clone(), self.0.filter.clone(), start) {
            Err(Error::Unimplemented(_)) => Err(Error::LastImplReached),
            other => other,
        }
    }

    pub(crate) fn search(engine: &Engine, given: Problem, filter: Option<String>, start: Start) -> Result<PrimitiveDesc, Error> {
        let example = if given.op.has_runtime() { Some(family::example(&given)?) } else { None };
        let asked = example.as_ref().unwrap_or(&given);
        let best = start.row == 0 && filter.is_none();
        let Start { mut row, mut skipped } = start;
        loop {
            match engine.device().plan(asked, row) {
                Ok(Planned { row: r, name, plan, skipped: s }) => {
                    verbose::skipped(engine, &given, &s);
                    skipped.extend(s);
                    match excluded(filter.as_deref(), name) {
                        Some(skip) => skipped.push((name, skip)),
                        None => {
                            let rows = example.is_some().then_some(if best { Rows::Best } else { Rows::From(r) });
                            let at = Place { engine: engine.clone(), foreign: None, filter, rows };
                            return Ok(PrimitiveDesc::decided(at, given, Planned { row: r, name, plan, skipped }));
                        }
                    }
                    row = r + 1;
                }
                Err(refused) => {
                    verbose::skipped(engine, &given, &refused);
                    skipped.extend(refused);
                    let rows = skipped.iter().map(|(name, why)| (name.to_string(), why.to_string())).collect();
                    return Err(Error::Unimplemented(Refusal { problem: given.to_string(), rows }));
                }
            }
        }
    }

    /// A reorder between two engines. It belongs to the engine whose memory the host cannot address, where the layouts are changed; if
    /// neither memory can be addressed, to the destination's. An execution is ordered like any other, on a stream of
    /// [`PrimitiveDesc::engine`].
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a problem that is not a reorder or leaves sizes to run time; [`Error::Unimplemented`] if that engine
    /// has no reorder for it.
    pub fn transfer(from: &Engine, to: &Engine, problem: Problem) -> Result<PrimitiveDesc, Error> {
        if from == to {
            return PrimitiveDesc::new(to, problem);
        }
        let (engine, foreign) = match from.host_visible() || !to.host_visible() {
            true => (to, (Arg::SRC, from.clone())),
            false => (from, (Arg::DST, to.clone())),
        };
        let plan = transfer::plan(engine, &foreign, &problem)?;
        let at = Place { engine: engine.clone(), foreign: Some(foreign), filter: None, rows: None };
        Ok(PrimitiveDesc::decided(at, problem, Planned { row: 0, name: transfer::NAME, plan, skipped: Vec::new() }))
    }

    fn decided(at: Place, given: Problem, planned: Planned) -> PrimitiveDesc {
        let Place { engine, foreign, filter, rows } = at;
        let (family, planned) = match rows {
            Some(rows) => {
                let (family, planned) = family::plan(&engine, &given, planned, rows);
                (Some(family), planned)
            }
            None => (None, planned),
        };
        let Planned { row, name, plan, skipped } = planned;
        let mut operands = plan.problem().operands();
        operands.extend(scratch_tensor(&*plan).map(|tensor| Operand { arg: Arg::SCRATCHPAD, usage: Use::Out, tensor }));
        let (stamps, scratch_bytes) = (stamps(operands.len()), plan.scratch_bytes());
        let key = match &family {
            Some(family) => family.key().clone(),
            None => Key::new([Some(engine.id()), foreign.as_ref().map(|(_, e)| e.id())], row, given),
        };
        PrimitiveDesc(Arc::new(Decision {
            engine,
            foreign,
            key,
            filter,
            row,
            name,
            plan,
            skipped,
            operands,
            stamps,
            scratch_bytes,
            bytes: OnceLock::new(),
            family,
        }))
    }

    /// Every row of the operation's table, best first, and its answer.
    pub fn explain(&self) -> Vec<(&'static str, Verdict)> {
        let d = &*self.0;
        let mut rows: Vec<_> = d.skipped.iter().map(|(n, s)| (*n, Verdict::Skipped(s.clone()))).collect();
        rows.push((d.name, Verdict::Chosen));
        if d.foreign.is_some() {
            return rows;
        }
        let example = self.has_runtime().then(|| family::example(self.given()).ok()).flatten();
        let asked = example.as_ref().unwrap_or(self.given());
        let mut row = d.row + 1;
        loop {
            let (skipped, found) = match d.engine.device().plan(asked, row) {
                Ok(p) => (p.skipped, Some((p.row, p.name))),
                Err(refused) => (refused, None),
            };
            rows.extend(skipped.into_iter().map(|(n, s)| (n, Verdict::Skipped(s))));
            let Some((r, name)) = found else { return rows };
            rows.push((name, excluded(d.filter.as_deref(), name).map_or(Verdict::Further, Verdict::Skipped)));
            row = r + 1;
        }
    }

    /// The engine it is for.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The engine whose memory the argument `arg` is: of transfers not always [`PrimitiveDesc::engine`].
    pub fn engine_of(&self, arg: Arg) -> &Engine {
        self.0.foreign.as_ref().filter(|(a, _)| *a == arg).map_or(&self.0.engine, |(_, e)| e)
    }

    /// The problem with every layout resolved.
    pub fn problem(&self) -> &Problem {
        self.0.plan.problem()
    }

    /// The problem as it was asked for.
    pub fn given(&self) -> &Problem {
        &self.0.key.problem
    }

    /// The attributes, as resolved.
    pub fn attr(&self) -> &Attr {
        &self.problem().attr
    }

    /// The propagation kind, of operations that have one.
    pub fn prop(&self) -> Option<Prop> {
        self.problem().op.prop()
    }

    /// Name of the implementation.
    pub fn impl_name(&self) -> &'static str {
        self.0.name
    }

    /// Index of the implementation in the operation's table.
    pub fn row(&self) -> usize {
        self.0.row
    }

    /// Whether another row may stand in for its own: where nobody asked for it by name, and it is not a transfer.
    pub(crate) fn may_step_down(&self) -> bool {
        self.0.filter.is_none() && self.0.foreign.is_none()
    }

    pub(crate) fn key(&self) -> &Arc<Key> {
        &self.0.key
    }

    /// The decision.
    pub fn plan(&self) -> &dyn Plan {
        &*self.0.plan
    }

    /// Every execution argument; with [`ScratchpadMode::User`] the scratchpad is the last.
    pub fn operands(&self) -> &[Operand<Tensor>] {
        &self.0.operands
    }

    /// The stamp of operand `index`, by which executions recognise memory that they have checked: no other operand of the process ever has
    /// it.
    #[inline]
    pub(crate) fn stamp(&self, index: usize, matching: Matching) -> u64 {
        self.0.stamps + 2 * index as u64 + matching as u64
    }

    /// Bytes of the first buffer of operand `index`; `None` where only the execution gives its sizes.
    pub(crate) fn operand_bytes(&self, index: usize) -> Option<usize> {
        let need = || self.operands().iter().map(|o| o.tensor.buffer_bytes(0)).collect();
        fork::once(&self.0.bytes, need)[index]
    }

    /// Bytes of scratch of an execution.
    #[inline]
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.0.scratch_bytes
    }

    /// Description of the argument `arg`, where the primitive has it.
    pub fn tensor(&self, arg: Arg) -> Option<&Tensor> {
        self.0.operands.iter().find(|o| o.arg == arg).map(|o| &o.tensor)
    }

    /// The workspace that forward training keeps for backward, if any.
    pub fn workspace(&self) -> Option<&Tensor> {
        self.tensor(Arg::WORKSPACE)
    }

    /// The buffer that the caller passes with [`ScratchpadMode::User`]: bytes in one dimension, possibly zero. `None` if the library leases
    /// it, as it does where its size depends on sizes that come with the execution.
    pub fn scratchpad(&self) -> Option<&Tensor> {
        self.0.operands.last().filter(|o| o.arg == Arg::SCRATCHPAD).map(|o| &o.tensor)
    }

    /// Bytes that the library leases for the time of an execution: 0 where the caller passes the scratchpad.
    pub fn memory_consumption(&self) -> usize {
        if self.scratchpad().is_some() { 0 } else { self.0.scratch_bytes }
    }

    /// Number of tensors read, post-op operands included; without scales, zero points, seeds and the like.
    pub fn num_inputs(&self) -> usize {
        self.count(Use::In)
    }

    /// Number of tensors written; without the scratchpad and the dropout mask.
    pub fn num_outputs(&self) -> usize {
        self.count(Use::Out)
    }

    fn count(&self, usage: Use) -> usize {
        let op = &self.problem().op;
        let tensor = |arg: Arg| op.tensor(arg).is_some() || arg.post_op_index().is_some();
        self.0.operands.iter().filter(|o| o.usage == usage && tensor(o.arg)).count()
    }

    /// Whether sizes or strides are given only at execution.
    pub fn has_runtime(&self) -> bool {
        self.0.family.is_some()
    }

    pub(crate) fn family(&self) -> Option<&Family> {
        self.0.family.as_deref()
    }
}

/// The other inputs of a decision, besides the problem.
struct Place {
    engine: Engine,
    foreign: Option<(Arg, Engine)>,
    filter: Option<String>,
    /// Of a problem whose sizes come with executions, the rows that these ask.
    rows: Option<Rows>,
}

/// Where a search begins.
#[derive(Default)]
pub(crate) struct Start {
    pub(crate) row: usize,
    pub(crate) skipped: Vec<(&'static str, Skip)>,
}

/// The first of as many stamps as `operands` need, one for each [`Matching`].
fn stamps(operands: usize) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(2 * operands as u64, Ordering::Relaxed)
}

fn excluded(filter: Option<&str>, name: &str) -> Option<Skip> {
    filter.filter(|f| !name.contains(f)).map(|f| Skip::Excluded(format!("the filter `{f}`")))
}

fn scratch_tensor(plan: &dyn Plan) -> Option<Tensor> {
    if plan.problem().attr.scratchpad == ScratchpadMode::Library {
        return None;
    }
    let bytes = plan.scratch_bytes();
    let bytes = if bytes == 0 { 0 } else { bytes + SCRATCH_SLACK };
    Tensor::plain([i64::try_from(bytes).ok()?], DataType::U8).ok()
}

/// The implementation and the problem line, which `oxidnn verify` takes.
impl fmt::Display for PrimitiveDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.name, self.problem())
    }
}

impl fmt::Debug for PrimitiveDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrimitiveDesc({self})")
    }
}
