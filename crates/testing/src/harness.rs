//! Runs every implementation row of a problem and compares it with the reference.

use crate::compare::{self, Mismatch};
use crate::concrete::concrete;
use crate::fill::{self, Special};
use crate::host::{HostArgs, HostTensor};
use crate::targets;
use crate::tolerance::{self, Bounds, Computed, First};
use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_reference::{Args, View};
use oxidnn_runtime::{Engine, Memory, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::op::{BatchNorm, Op, Pool, Prop, Rnn, Sdpa};
use oxidnn_spec::text::{Case, FillHints};
use oxidnn_spec::{Arg, DataType, Error, Format, Operand, Problem, Tensor, Use};
use std::cell::Cell;

/// Name of the last row of every table.
pub const REFERENCE_ROW: &str = "ref:any";

/// The outcome of one row.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All outputs within tolerance.
    Passed,
    /// Outputs out of tolerance.
    Wrong(Vec<Mismatch>),
    /// An error where a result was due.
    Failed(Error),
}

/// The outcome of a problem.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// These rows agreed with the reference.
    Passed {
        /// Their names.
        rows: Vec<String>,
    },
    /// Some row computed something else, or failed.
    Wrong {
        /// Each of them, and how.
        why: Vec<String>,
    },
    /// A row, or the code around it, panicked.
    Panicked {
        /// Its message.
        message: String,
    },
    /// No row took the problem, or there was an error before any ran.
    Refused {
        /// The error.
        why: String,
    },
    /// No row of the name that was asked for took it.
    Skipped,
}

/// One row's result.
#[derive(Clone, Debug)]
pub struct RowResult {
    /// The row's name.
    pub row: String,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Runs problems on the rows of an engine, and generated code also as [narrower](targets::narrower) and [emulated](targets::emulated) processors would run it; with several numbers of threads, all
/// bits of their outputs are compared, too.
pub struct Harness {
    configurations: Vec<Configuration>,
    filter: Option<String>,
    special: Option<Special>,
    /// Changes a row's results, to see that the comparison notices.
    #[cfg(test)]
    spoil: Option<fn(&str, &HostArgs)>,
}

/// A configuration that rows run in: processor, numbers of threads, alignment.
struct Configuration {
    engine: Engine,
    stream: Stream,
    /// The processor that this one stands for; only some rows run there.
    target: Option<CpuTarget>,
    /// The same processor with other numbers of threads.
    others: Vec<Other>,
    /// Memory begins an element after where the engine would have it begin.
    unaligned: bool,
}

/// A processor with a number of threads, which plans know.
struct Other {
    threads: usize,
    engine: Engine,
    stream: Stream,
}

impl Configuration {
    /// The name of a row's result, where the row is to run here.
    fn result_name(&self, row: &PrimitiveDesc) -> Option<String> {
        let name = row.impl_name();
        match &self.target {
            None => Some(name.to_owned()),
            Some(target) => targets::runs(target, row).then(|| format!("{name}@{}", targets::name(target))),
        }
    }
}

impl Harness {
    /// A harness for `engine` on `stream`; with `filter` only rows whose name contains it.
    pub fn new(engine: Engine, stream: Stream, filter: Option<String>) -> Harness {
        Harness {
            configurations: vec![Configuration { engine, stream, target: None, others: Vec::new(), unaligned: false }],
            filter,
            special: None,
            #[cfg(test)]
            spoil: None,
        }
    }

    /// With such values among the data; problems for which they are not defined ([`Special::undefined`]) have no results.
    pub fn and_special(self, special: Option<Special>) -> Harness {
        Harness { special, ..self }
    }

    /// On memory that begins one element after the engine's alignment, as a user's memory may.
    pub fn and_unaligned(self, unaligned: bool) -> Harness {
        let configurations = self.configurations.into_iter().map(|configuration| Configuration { unaligned, ..configuration }).collect();
        Harness { configurations, ..self }
    }

    /// A harness for this processor whose plans are for as many threads as `threads` are.
    ///
    /// # Errors
    /// Errors of making a stream.
    pub fn on(threads: &Threads, filter: Option<String>) -> Result<Harness, Error> {
        let engine = Engine::new(CpuDevice::new(CpuTarget { threads: threads.executor().threads(), ..targets::host() }));
        let stream = Stream::with_threads(&engine, threads.clone())?;
        Ok(Harness::new(engine, stream, filter))
    }

    /// Also on engines of the [`targets::narrower`] processors, with plans for and streams on `threads`.
    ///
    /// # Errors
    /// Errors of making a stream.
    pub fn and_narrower(self, threads: &Threads) -> Result<Harness, Error> {
        self.and_targets(&targets::narrower(), threads)
    }

    /// Also on engines of the [`targets::emulated`] processors, as above.
    ///
    /// # Errors
    /// As above.
    pub fn and_emulated(self, threads: &Threads) -> Result<Harness, Error> {
        self.and_targets(&targets::emulated(), threads)
    }

    /// Also on an engine whose processor has [small caches](targets::small_caches), as above.
    ///
    /// # Errors
    /// As above.
    pub fn and_small_caches(self, threads: &Threads) -> Result<Harness, Error> {
        self.and_targets(&[targets::small_caches()], threads)
    }

    fn and_targets(mut self, targets: &[CpuTarget], threads: &Threads) -> Result<Harness, Error> {
        for &target in targets {
            let engine = Engine::new(CpuDevice::new(CpuTarget { threads: threads.executor().threads(), ..target }));
            let stream = Stream::with_threads(&engine, threads.clone())?;
            self.configurations.push(Configuration { engine, stream, target: Some(target), others: Vec::new(), unaligned: false });
        }
        Ok(self)
    }

    /// Also with these numbers of threads on all processors so far: every row is to be there, to want the same layouts and to give the same
    /// bits as without.
    ///
    /// # Errors
    /// Errors of making a stream.
    pub fn and_threads(mut self, numbers: &[usize]) -> Result<Harness, Error> {
        for &threads in numbers {
            let workers = Threads::new(threads);
            for configuration in &mut self.configurations {
                let target = configuration.target.unwrap_or_else(targets::host);
                let engine = Engine::new(CpuDevice::new(CpuTarget { threads, ..target }));
                let stream = Stream::with_threads(&engine, workers.clone())?;
                configuration.others.push(Other { threads, engine, stream });
            }
        }
        Ok(self)
    }

    /// Runs every row that takes the problem and compares with the reference.
    ///
    /// # Errors
    /// The refusal, when no row takes the problem.
    pub fn verify(&self, case: &Case) -> Result<Vec<RowResult>, Error> {
        let mut results = Vec::new();
        let mut truth: Option<Truth> = None;
        for configuration in &self.configurations {
            let rows = rows(&configuration.engine, &case.problem)?;
            let others: Vec<(&Other, Vec<PrimitiveDesc>)> =
                configuration.others.iter().map(|o| Ok((o, self::rows(&o.engine, &case.problem)?))).collect::<Result<_, Error>>()?;
            for (n, row) in rows.iter().enumerate() {
                let wanted = self.filter.as_ref().is_none_or(|f| row.impl_name().contains(f.as_str()));
                let Some(name) = configuration.result_name(row).filter(|_| wanted) else { continue };
                let fill = Fill { hints: &case.fill, special: self.special };
                let problem = concrete(row.problem(), &case.fill)?;
                if self.special.is_some_and(|s| s.undefined(&problem).is_some()) {
                    continue;
                }
                let truth = truth_of(&mut truth, problem, fill)?;
                let others: Vec<_> =
                    others.iter().map(|(other, list)| (*other, list.get(n).filter(|_| list.len() == rows.len()))).collect();
                let seen = |got: &HostArgs| self.seen(row.impl_name(), got);
                results.push(RowResult { row: name, outcome: configuration.judge(row, &others, truth, seen) });
            }
        }
        Ok(results)
    }

    /// Every result passes here between its row and its comparison.
    #[cfg(test)]
    fn seen(&self, row: &str, got: &HostArgs) {
        self.spoil.iter().for_each(|spoil| spoil(row, got));
    }

    #[cfg(not(test))]
    fn seen(&self, _: &str, _: &HostArgs) {}

    /// As [`Harness::verify`], in one word. A panic is a verdict, too.
    pub fn judge(&self, case: &Case) -> Verdict {
        let results = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.verify(case))) {
            Err(panic) => return Verdict::Panicked { message: message(panic.as_ref()) },
            Ok(Err(e)) => return Verdict::Refused { why: e.to_string() },
            Ok(Ok(results)) => results,
        };
        let why: Vec<String> = results.iter().flat_map(RowResult::failures).collect();
        match results.is_empty() {
            true => Verdict::Skipped,
            false if why.is_empty() => Verdict::Passed { rows: results.into_iter().map(|r| r.row).collect() },
            false => Verdict::Wrong { why },
        }
    }
}

impl RowResult {
    /// The row's error, in words.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        match &self.outcome {
            Outcome::Passed => Vec::new(),
            Outcome::Wrong(all) => all.iter().map(|m| format!("{}: {m}", self.row)).collect(),
            Outcome::Failed(e) => vec![format!("{}: {e}", self.row)],
        }
    }
}

/// The message of a panic.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".into())
}

/// Every row that takes the problem, best first.
///
/// # Errors
/// The refusal, when no row takes it.
pub fn rows(engine: &Engine, problem: &Problem) -> Result<Vec<PrimitiveDesc>, Error> {
    let mut rows = vec![PrimitiveDesc::new(engine, problem.clone())?];
    while let Some(next) = rows.last().and_then(|r| r.next_impl().ok()) {
        rows.push(next);
    }
    Ok(rows)
}

/// The truth of `concrete`: the one there is where it serves, else a new one in its place.
fn truth_of<'a>(known: &'a mut Option<Truth>, concrete: Problem, fill: Fill<'_>) -> Result<&'a Truth, Error> {
    let truth = match known.take() {
        Some(t) if t.problem == concrete => t,
        Some(t) if t.differs_in_layouts_only(&concrete) => t.laid_out(concrete, fill)?,
        _ => Truth::filled(&concrete, fill)?,
    };
    Ok(known.insert(truth))
}

impl Configuration {
    /// The outcome of a row for a problem, here and with the other numbers of threads, by the row at its place there.
    fn judge(&self, row: &PrimitiveDesc, others: &[(&Other, Option<&PrimitiveDesc>)], truth: &Truth, seen: impl Fn(&HostArgs)) -> Outcome {
        // An element; GPUs keep f32 in the workspace of recurrent networks and of attention.
        let late = |arg: Arg, tensor: &Tensor| match truth.problem.op {
            _ if !self.unaligned => 0,
            Op::Rnn(_) | Op::Sdpa(_) if arg == Arg::WORKSPACE => size_of::<f32>(),
            _ => tensor.dtype.bits().div_ceil(8),
        };
        let run = |desc, engine, stream| execute_on(desc, stream, upload_at(engine, &truth.inputs, late)?, &truth.inputs, truth.inplace);
        let got = match run(row, &self.engine, &self.stream) {
            Err(e) => return Outcome::Failed(e),
            Ok(got) => got,
        };
        seen(&got);
        let mut wrong = truth.compare(&got);
        for (other, same) in others {
            let Some(same) = same.filter(|s| s.impl_name() == row.impl_name() && s.problem() == row.problem()) else {
                wrong.push(Mismatch::noted(Arg::DST, format!("another row or layout with {} threads", other.threads)));
                continue;
            };
            match run(same, &other.engine, &other.stream) {
                Err(e) => return Outcome::Failed(e),
                Ok(again) => wrong
                    .extend(truth.unlike(&got, &again).map(|a| Mismatch::noted(a, format!("other bits with {} threads", other.threads)))),
            }
        }
        if wrong.is_empty() { Outcome::Passed } else { Outcome::Wrong(wrong) }
    }
}

/// The arguments of a problem before and after a right execution.
pub struct Truth {
    /// The problem, layouts resolved.
    pub problem: Problem,
    /// Arguments in the form in which they are passed.
    pub inputs: HostArgs,
    /// Arguments after the reference ran.
    pub outputs: HostArgs,
    /// Source and destination, where rows are to compute in place.
    pub inplace: Option<(Arg, Arg)>,
    /// The results of outputs before their post-ops, where they have such.
    pub sums: Vec<(Arg, Vec<f64>)>,
    /// The allowed values of outputs.
    bounds: Vec<(Arg, Bounds)>,
}

/// Source and destination that share memory in place, where their descriptions allow it.
fn in_place(problem: &Problem, hints: &FillHints) -> Option<(Arg, Arg)> {
    let pairs = [(Arg::SRC, Arg::DST), (Arg::DIFF_DST, Arg::DIFF_SRC), (Arg::multiple_src(0), Arg::DST)];
    let same = |&(a, b): &(Arg, Arg)| problem.op.tensor(b).is_some_and(|t| problem.op.tensor(a) == Some(t));
    pairs.into_iter().find(same).filter(|_| hints.inplace)
}

/// Copies of all arguments that a check has at a time: inputs, outputs, the reference's, and those in the engine's memory.
const COPIES: usize = 4;

/// Copies of their elements as numbers of 64 bits, while they are drawn and compared.
const NUMBERS: usize = 6;

/// Whether the memory for `copies` of all arguments, and for `numbers` of their elements as `f64`, can be allocated at once: the code that
/// fills and keeps them cannot report a failure.
///
/// # Errors
/// [`Error::OutOfMemory`] with the bytes that all of it takes.
pub fn afford(problem: &Problem, copies: usize, numbers: usize) -> Result<(), Error> {
    let elements =
        problem.operands().iter().map(|o| o.tensor.layout.elements().unwrap_or(0).max(0) as usize).fold(0, usize::saturating_add);
    let bytes = problem.bytes().saturating_mul(copies).saturating_add(elements.saturating_mul(numbers * size_of::<f64>()));
    let what = format!("the arguments of {problem}");
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes, what })
}

/// The kind of data that arguments are filled with.
#[derive(Clone, Copy)]
struct Fill<'a> {
    hints: &'a FillHints,
    special: Option<Special>,
}

/// The arguments of a problem, filled, including those that only a forward pass can make.
fn inputs_of(problem: &Problem, fill: Fill<'_>) -> Result<HostArgs, Error> {
    afford(problem, COPIES, NUMBERS)?;
    let mut inputs = fill::arguments(problem, fill.hints);
    if let Some(special) = fill.special {
        special.mix(problem, &inputs);
    }
    take_forward_results(problem, &mut inputs, &[])?;
    Ok(inputs)
}

impl Truth {
    /// Fills the arguments of `problem` and runs the reference.
    ///
    /// # Errors
    /// Errors of the reference.
    pub fn of(problem: &Problem, hints: &FillHints) -> Result<Truth, Error> {
        Truth::with(problem, hints, None)
    }

    /// As [`Truth::of`], with `special` values among the data.
    ///
    /// # Errors
    /// Errors of the reference.
    pub fn with(problem: &Problem, hints: &FillHints, special: Option<Special>) -> Result<Truth, Error> {
        Truth::filled(problem, Fill { hints, special })
    }

    fn filled(problem: &Problem, fill: Fill<'_>) -> Result<Truth, Error> {
        let mut inputs = inputs_of(problem, fill)?;
        let inplace = in_place(problem, fill.hints);
        if let Some((src, dst)) = inplace {
            let shared = inputs.get(src).cloned();
            for (_, tensor) in inputs.0.iter_mut().filter(|a| a.0 == dst) {
                *tensor = shared.clone().unwrap_or_else(|| tensor.clone());
            }
        }
        Ok(Truth { inplace, ..Truth::over(problem, inputs)? })
    }

    /// The reference's results for `inputs`.
    ///
    /// # Errors
    /// Its errors.
    pub fn over(problem: &Problem, inputs: HostArgs) -> Result<Truth, Error> {
        let reference = ReferenceArgs::of(problem, inputs.clone());
        run_reference(problem, &reference)?;
        let (outputs, sums) = reference.results();
        let first = tolerance::first(problem, &inputs)?.map(|(problem, args)| Truth::over(&problem, args)).transpose()?;
        let first_bounds = first.as_ref().map(|t| t.bounds(Arg::DST)).unwrap_or_default();
        let first = first.as_ref().and_then(|t| Some(First { results: t.outputs.get(Arg::DST)?, bounds: &first_bounds }));
        let computed = Computed { problem, inputs: &inputs, outputs: &outputs, first };
        let bounds = judged(problem).map(|arg| {
            let sums = sums.iter().find(|s| s.0 == arg).map(|s| s.1.as_slice());
            Ok((arg, tolerance::of(&computed, arg, sums)?))
        });
        let bounds = bounds.collect::<Result<_, Error>>()?;
        Ok(Truth { problem: problem.clone(), inputs, outputs, inplace: None, sums, bounds })
    }

    /// Whether `problem` differs only in strided and blocked layouts on which no value depends. Those of inputs never do. Those of outputs do
    /// with dropout and stochastic rounding, which draw a random number by an element's place in memory.
    fn differs_in_layouts_only(&self, problem: &Problem) -> bool {
        let (mine, theirs) = (self.problem.operands(), problem.operands());
        let numbered = problem.attr.dropout.is_some() || !problem.attr.rounding.is_empty();
        let free = |o: &Operand<Tensor>| match &o.tensor.layout.format {
            Format::Blocked(b) => o.usage == Use::In || b.compensation.is_none() && !numbered,
            format => matches!(format, Format::HostScalar),
        };
        let alike = |(a, b): (&Operand<Tensor>, &Operand<Tensor>)| {
            let same_numbers = a.arg == b.arg && a.tensor.dtype == b.tensor.dtype && a.tensor.dims() == b.tensor.dims();
            same_numbers && (a.tensor == b.tensor || a.arg != Arg::WORKSPACE && free(a) && free(b))
        };
        self.inplace.is_none() && self.problem.attr == problem.attr && mine.len() == theirs.len() && mine.iter().zip(&theirs).all(alike)
    }

    /// The truth of `problem`, which [differs in layouts only](Truth::differs_in_layouts_only).
    fn laid_out(self, problem: Problem, fill: Fill<'_>) -> Result<Truth, Error> {
        let inputs = inputs_of(&problem, fill)?;
        let mut outputs = inputs.clone();
        for (arg, host) in &mut outputs.0 {
            let Some(known) = self.outputs.get(*arg).filter(|_| is_written(&problem, *arg)) else { continue };
            if known.tensor == host.tensor {
                *host = known.clone();
            } else {
                host.set_values(&known.values());
                View::new(*arg, &host.tensor, &host.bufs[0])?.zero_padding();
            }
        }
        Ok(Truth { inputs, outputs, problem, ..self })
    }

    /// Whether f32 arithmetic computes all results exactly, up to the rounding to their types.
    pub fn is_exact(&self) -> bool {
        tolerance::is_exact(&self.problem, &self.inputs)
    }

    /// The allowed values of output `arg`; none if it is not judged.
    pub fn bounds(&self, arg: Arg) -> Bounds {
        self.bounds.iter().find(|b| b.0 == arg).map(|b| b.1.clone()).unwrap_or_default()
    }

    /// The first output whose bytes differ between two executions.
    fn unlike(&self, a: &HostArgs, b: &HostArgs) -> Option<Arg> {
        let outputs = self.problem.operands().into_iter().filter(|o| o.usage == Use::Out).map(|o| o.arg);
        outputs.filter_map(|arg| Some((arg, a.get(arg)?, b.get(arg)?))).find(|(_, a, b)| a.bufs != b.bufs).map(|found| found.0)
    }

    /// Every output of `got` that is out of tolerance.
    pub fn compare(&self, got: &HostArgs) -> Vec<Mismatch> {
        self.mismatches(got, |arg, bounds| Some((self.outputs.get(arg)?, bounds.clone())))
    }

    /// Every output of `got` that is further from that of `others` than it may be from the truth.
    pub fn compare_with(&self, others: &HostArgs, got: &HostArgs) -> Vec<Mismatch> {
        self.mismatches(got, |arg, bounds| {
            let other = others.get(arg)?;
            Some((other, bounds.moved(&self.outputs.get(arg)?.values(), &other.values())))
        })
    }

    /// Compares outputs with `expected`: their elements within bounds, and the bytes around them.
    fn mismatches<'a>(&'a self, got: &HostArgs, expected: impl Fn(Arg, &Bounds) -> Option<(&'a HostTensor, Bounds)>) -> Vec<Mismatch> {
        let one = |(arg, bounds): &(Arg, Bounds)| {
            let (got, (want, bounds)) = (got.get(*arg)?, expected(*arg, bounds)?);
            compare::values(*arg, &got.values(), &want.values(), &bounds).or_else(|| compare::surroundings(*arg, got, want))
        };
        self.bounds.iter().filter_map(one).collect()
    }
}

/// Whether `arg` is an output.
fn is_written(problem: &Problem, arg: Arg) -> bool {
    problem.operands().iter().any(|o| o.arg == arg && o.usage == Use::Out)
}

/// The outputs that are judged.
fn judged(problem: &Problem) -> impl Iterator<Item = Arg> {
    let read = matches!(problem.op, Op::Pool(_) | Op::Sdpa(_));
    problem.operands().into_iter().filter(move |o| o.usage == Use::Out && (read || o.arg != Arg::WORKSPACE)).map(|o| o.arg)
}

/// Results before the post-ops, element by element.
type Sums = Vec<Cell<Option<f64>>>;

/// Arguments, and the reference's results before their post-ops.
struct ReferenceArgs {
    args: HostArgs,
    sums: Vec<(Arg, Sums)>,
}

impl ReferenceArgs {
    fn of(problem: &Problem, args: HostArgs) -> ReferenceArgs {
        let elements = |arg: Arg| args.get(arg).and_then(|t| t.tensor.layout.elements()).unwrap_or(0).max(0) as usize;
        let sums = judged(problem).map(|arg| (arg, vec![Cell::new(None); elements(arg)])).collect();
        ReferenceArgs { args, sums }
    }

    /// The arguments, and the sums of those outputs whose elements all have one.
    fn results(self) -> (HostArgs, Vec<(Arg, Vec<f64>)>) {
        let whole = |(arg, sums): (Arg, Sums)| Some((arg, sums.into_iter().map(Cell::into_inner).collect::<Option<Vec<f64>>>()?));
        (self.args, self.sums.into_iter().filter_map(whole).collect())
    }
}

impl Args for ReferenceArgs {
    fn tensor(&self, arg: Arg) -> Option<&Tensor> {
        self.args.tensor(arg)
    }
    fn data(&self, arg: Arg, buffer: usize) -> Option<&[Cell<u8>]> {
        self.args.data(arg, buffer)
    }
    fn sums(&self, arg: Arg) -> Option<&[Cell<Option<f64>>]> {
        self.sums.iter().find(|s| s.0 == arg).map(|s| s.1.as_slice())
    }
}

/// Runs the reference on a copy of `args`.
///
/// # Errors
/// Errors of the reference.
pub fn reference(problem: &Problem, args: &HostArgs) -> Result<HostArgs, Error> {
    let args = args.clone();
    run_reference(problem, &args)?;
    Ok(args)
}

fn run_reference(problem: &Problem, args: &dyn Args) -> Result<(), Error> {
    let mut scratch = vec![0.0; oxidnn_reference::scratch_len(problem)];
    oxidnn_reference::run(problem, args, &mut scratch)
}

/// Executes a primitive with copies of `args`, and returns the arguments afterwards.
///
/// # Errors
/// Errors of creating or executing the primitive.
pub fn execute(desc: &PrimitiveDesc, engine: &Engine, stream: &Stream, args: &HostArgs) -> Result<HostArgs, Error> {
    execute_on(desc, stream, upload(engine, args)?, args, None)
}

/// As [`execute`], on memory with the contents of `args`; with `inplace` the two arguments are one memory object.
fn execute_on(
    desc: &PrimitiveDesc,
    stream: &Stream,
    memories: Vec<(Arg, Memory<'static>)>,
    args: &HostArgs,
    inplace: Option<(Arg, Arg)>,
) -> Result<HostArgs, Error> {
    let primitive = desc.create()?;
    let memory = |arg: Arg| {
        let arg = inplace.filter(|p| p.1 == arg).map_or(arg, |p| p.0);
        memories.iter().find(|m| m.0 == arg).map(|m| &m.1)
    };
    let scratchpad = desc.scratchpad().map(|t| Memory::new(desc.engine(), t.clone())).transpose()?;
    let mut bound: Vec<(Arg, &Memory<'_>)> = memories.iter().filter_map(|(a, _)| Some((*a, memory(*a)?))).collect();
    bound.extend(scratchpad.iter().map(|m| (Arg::SCRATCHPAD, m)));
    primitive.execute(stream, &bound)?;
    stream.wait()?;
    let out = args.clone();
    for (arg, host) in out.0.iter().filter(|a| is_written(desc.problem(), a.0)) {
        if let Some(memory) = memory(*arg) {
            read_back(host, memory)?;
        }
    }
    Ok(out)
}

fn read_back(host: &HostTensor, memory: &Memory<'_>) -> Result<(), Error> {
    for i in 0..host.bufs.len() {
        host.set_bytes(i, &memory.read_raw::<u8>(i)?);
    }
    Ok(())
}

/// Memory objects with the contents of `args`.
///
/// # Errors
/// Errors of allocating or writing.
pub fn upload(engine: &Engine, args: &HostArgs) -> Result<Vec<(Arg, Memory<'static>)>, Error> {
    upload_at(engine, args, |_, _| 0)
}

/// The same; memory that is one buffer begins so many bytes `late`.
fn upload_at(engine: &Engine, args: &HostArgs, late: impl Fn(Arg, &Tensor) -> usize) -> Result<Vec<(Arg, Memory<'static>)>, Error> {
    args.0
        .iter()
        .map(|(arg, host)| {
            if matches!(host.tensor.layout.format, Format::HostScalar) {
                return Ok((*arg, scalar(host)?));
            }
            let memory = match host.bufs.as_slice() {
                [_] if late(*arg, &host.tensor) > 0 => {
                    let late = late(*arg, &host.tensor);
                    Memory::scratch(engine, host.tensor.bytes() + late)?.view_at(late, host.tensor.clone())?
                }
                _ => Memory::new(engine, host.tensor.clone())?,
            };
            for i in 0..host.bufs.len() {
                memory.write_raw(i, &host.bytes(i))?;
            }
            Ok((*arg, memory))
        })
        .collect()
}

/// A host scalar of the types that attributes take.
fn scalar(host: &HostTensor) -> Result<Memory<'static>, Error> {
    let value = host.values()[0];
    match host.tensor.dtype {
        DataType::F32 => Memory::host_scalar(value as f32),
        DataType::S32 => Memory::host_scalar(value as i32),
        DataType::S64 => Memory::host_scalar(value as i64),
        DataType::S8 => Memory::host_scalar(value as i8),
        DataType::U8 => Memory::host_scalar(value as u8),
        other => Err(Error::invalid("host scalar", other, "f32, s32, s64, s8 or u8")),
    }
}

/// The contents of memory objects, laid out as `args`.
///
/// # Errors
/// Errors of reading.
pub fn download(args: &HostArgs, memories: &[(Arg, Memory<'_>)]) -> Result<HostArgs, Error> {
    let out = args.clone();
    for ((_, host), (_, memory)) in out.0.iter().zip(memories) {
        read_back(host, memory)?;
    }
    Ok(out)
}

/// Replaces the inputs of a backward problem that only a forward pass can make (workspace, states) by the results of the reference's
/// forward pass, computed from the inputs that the two passes share and from the values `given` for the others.
///
/// # Errors
/// Errors of the reference.
pub fn take_forward_results(problem: &Problem, inputs: &mut HostArgs, given: &[(Arg, Vec<f64>)]) -> Result<(), Error> {
    let Some(forward) = forward_of(problem)? else { return Ok(()) };
    let mut args = fill::arguments(&forward, &FillHints::default());
    for (arg, tensor) in &mut args.0 {
        if let Some(shared) = inputs.get(*arg).filter(|s| s.tensor == tensor.tensor) {
            *tensor = shared.clone();
        }
        if let Some((_, values)) = given.iter().find(|g| g.0 == *arg) {
            tensor.set_values(values);
        }
    }
    let reference = reference(&forward, &args)?;
    let reads: Vec<Arg> = problem.operands().into_iter().filter(|o| o.usage == Use::In).map(|o| o.arg).collect();
    for (arg, tensor) in &mut inputs.0 {
        if let Some(k) = reference.get(*arg).filter(|k| reads.contains(arg) && k.tensor == tensor.tensor) {
            *tensor = k.clone();
        }
    }
    Ok(())
}

/// The forward training problem that fills the workspace of a backward problem.
///
/// # Errors
/// None in practice: a valid backward problem has a valid forward one.
pub fn forward_of(problem: &Problem) -> Result<Option<Problem>, Error> {
    let workspace = problem.op.operands().iter().any(|o| o.arg == Arg::WORKSPACE && o.usage == Use::In);
    let op: Op = match &problem.op {
        _ if !workspace => return Ok(None),
        Op::Pool(p) => Pool { prop: Prop::ForwardTraining, ..(**p).clone() }.into(),
        Op::Rnn(r) => Rnn { prop: Prop::ForwardTraining, diff: None, ..(**r).clone() }.into(),
        Op::Sdpa(s) => Sdpa { prop: Prop::ForwardTraining, diff: None, ..(**s).clone() }.into(),
        Op::BatchNorm(b) => {
            let Some(dst) = b.diff_dst.clone() else { return Ok(None) };
            BatchNorm::forward(Prop::ForwardTraining, b.flags, b.epsilon.get(), b.src.clone(), dst).into()
        }
        _ => return Ok(None),
    };
    Problem::new(op, problem.attr.clone()).map(Some)
}

#[cfg(test)]
mod tests;
