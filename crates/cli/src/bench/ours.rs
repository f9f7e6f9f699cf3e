//! Our side of a measurement: a primitive with its memory; and the numbers that both sides get.

use super::Setup;
use crate::problems::Named;
use crate::session;
use anyhow::Result;
use oxidnn_cpu::kernels::code;
use oxidnn_runtime::{Memory, Primitive, PrimitiveDesc, Stream, cache};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Error, Problem, Tensor, Use};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::host::HostArgs;
use oxidnn_testing::{fill, harness};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Numbers for a problem's arguments, or for some of them, and the problem with every open layout and size settled in the plainest way.
pub(super) struct Inputs {
    pub(super) settled: Problem,
    pub(super) values: HostArgs,
}

/// Copies of all arguments that a measurement has at a time: the numbers, ours in two layouts, and the peer's.
const COPIES: usize = 4;

/// Largest argument in bytes that `Inputs::small` fills with data.
const SMALL: usize = 64 * 1024;

impl Inputs {
    /// Numbers for `named`: the same in every run.
    pub(super) fn of(named: &Named, all_bytes: bool) -> Result<Inputs> {
        let settled = settled(named)?;
        harness::afford(&settled, COPIES, 0)?;
        let mut values = fill::repeating(&settled, &named.case.fill, all_bytes);
        harness::take_forward_results(&settled, &mut values, &[])?;
        Ok(Inputs { settled, values })
    }

    /// Data for the small arguments of `named` only: the others stay zero, which does not change an execution's time.
    pub(super) fn small(named: &Named) -> Result<Inputs> {
        let settled = settled(named)?;
        let values = fill::small_arguments(&settled, &named.case.fill, SMALL);
        Ok(Inputs { settled, values })
    }
}

fn settled(named: &Named) -> Result<Problem> {
    let mut settled = named.case.problem.clone();
    settled.resolve();
    Ok(concrete(&settled, &named.case.fill)?)
}

/// Our primitive with its memory.
pub(super) struct Ours<'a> {
    primitive: Primitive,
    stream: &'a Stream,
    memories: Given,
}

/// Arguments in an engine's memory, which primitives may share.
pub(super) type Given = Vec<(Arg, Arc<Memory<'static>>)>;

/// Memory that holds `inputs`, in plain layouts; zeros for arguments without data.
pub(super) fn given(inputs: &Inputs, stream: &Stream) -> Result<Given> {
    let engine = stream.engine();
    let mut given: Given = harness::upload(engine, &inputs.values)?.into_iter().map(|(arg, memory)| (arg, Arc::new(memory))).collect();
    for o in inputs.settled.operands() {
        if inputs.values.get(o.arg).is_none() {
            given.push((o.arg, Arc::new(Memory::new(engine, o.tensor)?)));
        }
    }
    Ok(given)
}

impl<'a> Ours<'a> {
    /// `primitive` with memory that holds `inputs`, in the layouts that the primitive wants.
    pub(super) fn new(primitive: Primitive, named: &Named, inputs: &Inputs, stream: &'a Stream) -> Result<Ours<'a>> {
        Ours::over(primitive, named, given(inputs, stream)?, stream)
    }

    /// `primitive` with these arguments, which are copied where it wants other layouts.
    pub(super) fn over(primitive: Primitive, named: &Named, given: Given, stream: &'a Stream) -> Result<Ours<'a>> {
        let engine = stream.engine();
        let wanted = concrete(primitive.desc().problem(), &named.case.fill)?;
        let mut memories = Vec::with_capacity(given.len() + 1);
        for o in wanted.operands() {
            let Some((_, memory)) = given.iter().find(|(arg, _)| *arg == o.arg) else { continue };
            if *memory.tensor() == o.tensor {
                continue;
            }
            let own = Memory::new(engine, o.tensor.clone())?;
            if o.usage == Use::In || wanted.attr.reads_dst() {
                reorder(stream, memory, &own)?;
            }
            memories.push((o.arg, Arc::new(own)));
        }
        let placed: Vec<Arg> = memories.iter().map(|m| m.0).collect();
        memories.extend(given.into_iter().filter(|(arg, _)| !placed.contains(arg)));
        if let Some(scratchpad) = primitive.desc().scratchpad() {
            memories.push((Arg::SCRATCHPAD, Arc::new(Memory::new(engine, scratchpad.clone())?)));
        }
        let order = |arg: Arg| primitive.desc().operands().iter().position(|o| o.arg == arg);
        memories.sort_by_key(|(arg, _)| order(*arg));
        Ok(Ours { primitive, stream, memories })
    }

    /// The arguments of an execution.
    pub(super) fn bound(&self) -> Bound<'_> {
        Bound { ours: self, args: self.memories.iter().map(|(a, m)| (*a, &**m)).collect() }
    }
}

/// The primitive with its list of arguments.
pub(super) struct Bound<'a> {
    ours: &'a Ours<'a>,
    args: Vec<(Arg, &'a Memory<'static>)>,
}

impl Bound<'_> {
    /// Executes once, and does not wait.
    pub(super) fn submit(&self) -> Result<(), Error> {
        self.ours.primitive.execute(self.ours.stream, &self.args)
    }

    /// Executes once and waits.
    pub(super) fn once(&self) -> Result<(), Error> {
        self.ours.primitive.execute(self.ours.stream, &self.args)?;
        self.ours.stream.wait()
    }
}

/// Seconds of the fastest execution: at least eight in 20 ms, or those that fit into a tenth of a second; there is at least one behind the first.
pub(crate) fn fastest(desc: PrimitiveDesc, named: &Named, stream: &Stream) -> Result<f64> {
    let inputs = Inputs::of(named, false)?;
    let ours = Ours::new(desc.create()?, named, &inputs, stream)?;
    let bound = ours.bound();
    bound.once()?;
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    for times in 0.. {
        let spent = begin.elapsed().as_millis();
        if times > 0 && spent >= if times < 8 { 100 } else { 20 } {
            break;
        }
        let start = Instant::now();
        bound.once()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Copies `from` to the layout of `to`.
fn reorder(stream: &Stream, from: &Memory<'static>, to: &Memory<'static>) -> Result<()> {
    let (src, dst): (Tensor, Tensor) = (from.tensor().clone(), to.tensor().clone());
    let primitive = PrimitiveDesc::new(stream.engine(), Problem::new(Reorder { src, dst }, Attr::default())?)?.create()?;
    primitive.execute(stream, &[(Arg::SRC, from), (Arg::DST, to)])?;
    Ok(stream.wait()?)
}

/// The cost of making a primitive.
#[derive(Clone, Copy)]
pub(super) struct Creation {
    /// From the description on.
    pub(super) took: Duration,
    /// Kernels that did not exist before.
    pub(super) kernels: usize,
}

/// The primitive of `problem` as for the first time: no earlier one is found again.
pub(super) fn create(problem: &Problem, stream: &Stream, bench: &Setup) -> Result<(Primitive, Creation)> {
    cache::clear();
    let (begin, before) = (Instant::now(), code::made());
    let primitive = session::describe(stream.engine(), problem, bench.options.row.as_deref())?.create()?;
    Ok((primitive, Creation { took: begin.elapsed(), kernels: code::made() - before }))
}
