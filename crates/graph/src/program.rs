//! Programs: lowered partitions. Steps, each a primitive, over places: the caller's tensors, constants, and scratch.
//!
//! Steps that depend only on constant tensors come first; their results are stored apart, so that they can be computed once for all
//! executions (see [`crate::constants`]). All scratch is one block, the primitives' own included: an intermediate result overlaps no tensor
//! that is still needed.
//!
//! A program may hold for some values of its inputs only, which [`Guard`]s say and [`Program::holds`] looks at.

use crate::Error;
use oxidnn_runtime::{Memory, Primitive, Stream};
use oxidnn_spec::{Arg, DataType, Tensor, Use};
use std::time::{Duration, Instant};

/// The place of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// An input of the partition.
    In(usize),
    /// An output of the partition.
    Out(usize),
    /// A constant of the program.
    Constant(usize),
    /// Byte of the results that only depend on constant inputs.
    Cached(usize),
    /// An intermediate result: its number while a program is made, its first byte once [`Program::place`] has found one.
    Scratch(usize),
    /// The scratchpad of the primitive of the step.
    Step,
}

/// An argument of a step.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) arg: Arg,
    pub(crate) place: Place,
    /// The place as the step sees it.
    pub(crate) tensor: Tensor,
}

/// One execution of a primitive.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) primitive: Primitive,
    pub(crate) bindings: Vec<Binding>,
}

/// A program's assumption about a single number among its inputs, which are given by their places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guard {
    /// The number is minus infinity, or so low that a score beside it changes nothing: its softmax is 0.
    Low(usize),
    /// The number is above 0.
    Positive(usize),
    /// The difference of two whole numbers.
    Distance { more: usize, less: usize, is: i64 },
    /// An input and an output are the same memory.
    Shared { input: usize, output: usize },
}

/// Numbers of at most this are low; of f16, whose range ends before, its lowest.
const LOW: f32 = -1e30;

impl Guard {
    fn holds(self, inputs: &[&Memory<'_>], outputs: &[&Memory<'_>]) -> Result<bool, Error> {
        match self {
            Guard::Shared { input, output } => {
                let at = |list: &[&Memory<'_>], i: usize| list.get(i).and_then(|m| m.data_handle(0));
                Ok(at(inputs, input).is_some_and(|place| at(outputs, output) == Some(place)))
            }
            Guard::Low(i) => number(inputs, i, |dtype, bytes| match (dtype, bytes) {
                (DataType::F32, &[a, b, c, d, ..]) => f32::from_le_bytes([a, b, c, d]) <= LOW,
                (DataType::Bf16, &[a, b, ..]) => f32::from_le_bytes([0, 0, a, b]) <= LOW,
                (DataType::F16, &[a, b, ..]) => matches!(u16::from_le_bytes([a, b]), 0xfbff | 0xfc00),
                _ => false,
            }),
            Guard::Positive(i) => number(inputs, i, |dtype, bytes| match (dtype, bytes) {
                (DataType::F32, &[a, b, c, d, ..]) => f32::from_le_bytes([a, b, c, d]) > 0.0,
                (DataType::Bf16, &[a, b, ..]) => f32::from_le_bytes([0, 0, a, b]) > 0.0,
                (DataType::F16, &[a, b, ..]) => matches!(u16::from_le_bytes([a, b]), 1..=0x7c00),
                _ => false,
            }),
            Guard::Distance { more, less, is } => {
                let whole = |i: usize| {
                    number(inputs, i, |dtype, bytes| match (dtype, bytes) {
                        (DataType::S32, &[a, b, c, d, ..]) => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
                        (DataType::S64, &[a, b, c, d, e, f, g, h, ..]) => Some(i64::from_le_bytes([a, b, c, d, e, f, g, h])),
                        _ => None,
                    })
                };
                Ok(whole(more)?.zip(whole(less)?).and_then(|(a, b)| a.checked_sub(b)) == Some(is))
            }
        }
    }
}

/// The value that `read` makes of the type and bytes of an input.
fn number<T>(inputs: &[&Memory<'_>], i: usize, read: impl FnOnce(DataType, &[u8]) -> T) -> Result<T, Error> {
    let memory = inputs.get(i).ok_or_else(|| Error::argument("inputs", inputs.len(), format_args!("more than {i}")))?;
    Ok(read(memory.tensor().dtype, &memory.map(0)?))
}

/// Bytes of the parts of a program's scratch, in their order in memory.
#[derive(Clone, Copy, Default, Debug)]
struct Sizes {
    /// Intermediate results.
    scratch: usize,
    /// The largest scratchpad of a step.
    step: usize,
    /// Results that depend on constant inputs only, which are cached.
    cached: usize,
}

/// Steps and their resources.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Steps that depend on constant inputs only, and whose results are cached.
    prepare: Vec<Step>,
    /// The other steps.
    steps: Vec<Step>,
    constants: Vec<Memory<'static>>,
    /// Bytes of each intermediate result.
    buffers: Vec<usize>,
    sizes: Sizes,
    guards: Vec<Guard>,
}

/// The lengths of a program's lists, to roll back to.
#[derive(Clone, Copy)]
pub(crate) struct Checkpoint {
    prepare: usize,
    steps: usize,
    constants: usize,
    buffers: usize,
    sizes: Sizes,
    guards: usize,
}

/// The memory of one execution.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) inputs: &'a [&'a Memory<'a>],
    pub(crate) outputs: &'a [&'a Memory<'a>],
    /// At least [`Program::scratch_bytes`]; `None` where that is 0.
    pub(crate) scratch: Option<&'a Memory<'a>>,
    /// Results cached by an earlier execution.
    pub(crate) cached: Option<&'a Memory<'a>>,
}

/// Whether the step writes an argument.
fn is_written(step: &Step, binding: &Binding) -> bool {
    let operand = step.primitive.desc().operands().iter().find(|o| o.arg == binding.arg);
    operand.is_some_and(|o| o.usage == Use::Out)
}

/// Arguments that most steps have no more of: so many are bound without an allocation.
const FEW: usize = 16;

impl Program {
    /// A buffer for a result of so many bytes; cached where it is `constant`.
    pub(crate) fn buffer(&mut self, bytes: usize, constant: bool) -> Place {
        if constant {
            let at = self.sizes.cached;
            self.sizes.cached = at.saturating_add(bytes);
            return Place::Cached(at);
        }
        self.buffers.push(bytes);
        Place::Scratch(self.buffers.len() - 1)
    }

    /// Adds numbers of the program's own.
    pub(crate) fn constant(&mut self, memory: Memory<'static>) -> Place {
        self.constants.push(memory);
        Place::Constant(self.constants.len() - 1)
    }

    /// A step needs a scratchpad of so many bytes.
    pub(crate) fn reserve_scratchpad(&mut self, bytes: usize) {
        self.sizes.step = self.sizes.step.max(bytes);
    }

    /// Appends a step; `lasting`: its results are cached.
    pub(crate) fn push(&mut self, step: Step, lasting: bool) {
        if lasting { self.prepare.push(step) } else { self.steps.push(step) }
    }

    /// The present lengths.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let Program { prepare, steps, constants, buffers, sizes, guards } = self;
        let sizes = *sizes;
        Checkpoint {
            prepare: prepare.len(),
            steps: steps.len(),
            constants: constants.len(),
            buffers: buffers.len(),
            sizes,
            guards: guards.len(),
        }
    }

    /// Removes everything that was added since `checkpoint`.
    pub(crate) fn rollback(&mut self, checkpoint: Checkpoint) {
        self.prepare.truncate(checkpoint.prepare);
        self.steps.truncate(checkpoint.steps);
        self.constants.truncate(checkpoint.constants);
        self.buffers.truncate(checkpoint.buffers);
        self.sizes = checkpoint.sizes;
        self.guards.truncate(checkpoint.guards);
    }

    /// The program holds where `guard` does.
    pub(crate) fn guard(&mut self, guard: Guard) {
        if !self.guards.contains(&guard) {
            self.guards.push(guard);
        }
    }

    /// Whether the program takes anything for granted.
    pub(crate) fn is_guarded(&self) -> bool {
        !self.guards.is_empty()
    }

    /// Whether the program's assumptions hold for this memory. Waits for work that writes the numbers in question.
    pub(crate) fn holds(&self, inputs: &[&Memory<'_>], outputs: &[&Memory<'_>]) -> Result<bool, Error> {
        self.guards.iter().try_fold(true, |all, guard| Ok(all && guard.holds(inputs, outputs)?))
    }

    /// Drops a last step that copies an input to an output unchanged: nothing is to be done if these are the same memory.
    pub(crate) fn drop_copy(&mut self) {
        let Some(Step { primitive, bindings }) = self.steps.last() else { return };
        let copies = matches!(primitive.desc().problem().op, oxidnn_spec::Op::Reorder(_)) && primitive.desc().attr().scales.is_empty();
        let place = |arg: Arg| bindings.iter().find(|b| b.arg == arg);
        let (Some(src), Some(dst)) = (place(Arg::SRC), place(Arg::DST)) else { return };
        if let (Place::In(input), Place::Out(output), true) = (src.place, dst.place, copies && src.tensor == dst.tensor) {
            self.steps.pop();
            self.guards.push(Guard::Shared { input, output });
        }
    }

    /// The input and the output that are the same memory wherever the program holds, if only the last use of the input depends on it: one
    /// step alone writes the output, and no step from there on reads the input.
    pub(crate) fn shared(&self) -> Option<(usize, usize)> {
        let [Guard::Shared { input, output }] = self.guards[..] else { return None };
        let uses = |place: Place| {
            let of = move |(at, step): (usize, &Step)| step.bindings.iter().any(|b| b.place == place).then_some(at);
            self.prepare.iter().map(|step| (0, step)).chain(self.steps.iter().enumerate().map(|(at, step)| (at + 1, step))).filter_map(of)
        };
        let sums = |step: &&Step| step.primitive.desc().attr().reads_dst();
        let writers: Vec<usize> = uses(Place::Out(output)).collect();
        let fits = match writers[..] {
            // The former copy.
            [] => uses(Place::In(input)).next().is_none(),
            [at] if at > 0 => sums(&&self.steps[at - 1]) && uses(Place::In(input)).all(|used| used < at),
            _ => false,
        };
        (fits && self.steps.iter().filter(sums).count() == writers.len()).then_some((input, output))
    }

    /// Drops the steps whose results nobody reads.
    pub(crate) fn sweep(&mut self) {
        let mut read: Vec<Place> = Vec::new();
        for steps in [&mut self.steps, &mut self.prepare] {
            let mut live = vec![true; steps.len()];
            for (step, live) in steps.iter().zip(&mut live).rev() {
                let written = |b: &Binding| is_written(step, b) && (matches!(b.place, Place::Out(_)) || read.contains(&b.place));
                *live = step.bindings.iter().any(written);
                if *live {
                    read.extend(step.bindings.iter().filter(|b| !is_written(step, b)).map(|b| b.place));
                }
            }
            let mut live = live.into_iter();
            steps.retain(|_| live.next() == Some(true));
        }
    }

    /// Finds a place in scratch for each intermediate result: the large ones first, each at the lowest byte that is free during its
    /// lifetime.
    pub(crate) fn place(&mut self) {
        let mut live_ranges: Vec<Option<(usize, usize)>> = vec![None; self.buffers.len()];
        for (at, step) in self.steps.iter().enumerate() {
            for binding in &step.bindings {
                if let Place::Scratch(buffer) = binding.place {
                    let first = live_ranges[buffer].map_or(at, |l| l.0);
                    live_ranges[buffer] = Some((first, at));
                }
            }
        }
        let mut order: Vec<usize> = (0..self.buffers.len()).filter(|&r| live_ranges[r].is_some()).collect();
        order.sort_by_key(|&r| (std::cmp::Reverse(self.buffers[r]), r));
        let mut starts = vec![0usize; self.buffers.len()];
        let mut placed: Vec<usize> = Vec::with_capacity(order.len());
        for buffer in order {
            let mut occupied: Vec<(usize, usize)> = placed
                .iter()
                .filter(|&&other| live_ranges[other].zip(live_ranges[buffer]).is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1))
                .map(|&other| (starts[other], starts[other].saturating_add(self.buffers[other])))
                .collect();
            occupied.sort_unstable();
            let mut start = 0usize;
            for (from, to) in occupied {
                if start.saturating_add(self.buffers[buffer]) <= from {
                    break;
                }
                start = start.max(to);
            }
            starts[buffer] = start;
            self.sizes.scratch = self.sizes.scratch.max(start.saturating_add(self.buffers[buffer]));
            placed.push(buffer);
        }
        for binding in self.steps.iter_mut().flat_map(|s| &mut s.bindings) {
            if let Place::Scratch(buffer) = &mut binding.place {
                *buffer = starts[*buffer];
            }
        }
    }

    /// Bytes of scratch that an execution needs.
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.sizes.scratch.saturating_add(self.sizes.step).saturating_add(self.sizes.cached)
    }

    /// Bytes of results that only depend on constant inputs.
    pub(crate) fn constant_bytes(&self) -> usize {
        self.sizes.cached
    }

    /// The steps that make the kept results, as text that is equal for equal steps; empty if nothing is kept.
    pub(crate) fn prepared(&self) -> Option<String> {
        if self.sizes.cached == 0 {
            return None;
        }
        let mut text = format!("{}", self.sizes.cached);
        for Step { primitive, bindings } in &self.prepare {
            text += &format!("\n{} {}", primitive.desc().impl_name(), primitive.desc().problem());
            for Binding { arg, place, tensor } in bindings {
                text += &format!(" {arg} {place:?} {tensor:?}");
                if let Place::Constant(i) = place {
                    text += &format!(" {:?}", self.constants.get(*i)?.read_f64().ok()?);
                }
            }
        }
        Some(text)
    }

    /// The primitives in the order of their execution.
    pub(crate) fn primitives(&self) -> impl Iterator<Item = &Primitive> {
        self.prepare.iter().chain(&self.steps).map(|s| &s.primitive)
    }

    /// Indices of inputs and outputs that may be the same memory, in two cases: the last step is an element-wise primitive that reads the
    /// input unconverted and writes the output, which no step before writes; or the input is read for the last time before the output is
    /// written.
    pub(crate) fn in_place(&self) -> Vec<(usize, usize)> {
        let mut pairs: Vec<(usize, usize)> = self.elementwise().into_iter().collect();
        let bindings = || self.steps.iter().enumerate().flat_map(|(at, step)| step.bindings.iter().map(move |b| (at, b)));
        for (at, written) in bindings() {
            let Place::Out(output) = written.place else { continue };
            let first = bindings().all(|(step, b)| b.place != written.place || step >= at);
            for (_, read) in bindings().filter(|(step, b)| *step < at && first && b.tensor.bytes() == written.tensor.bytes()) {
                let Place::In(input) = read.place else { continue };
                let constant = self.prepare.iter().flat_map(|s| &s.bindings).any(|b| b.place == read.place);
                let later = bindings().any(|(step, b)| step >= at && b.place == read.place);
                if !constant && !later && !pairs.contains(&(input, output)) {
                    pairs.push((input, output));
                }
            }
        }
        pairs
    }

    /// The pairs of the last step, if that is element-wise.
    fn elementwise(&self) -> Vec<(usize, usize)> {
        let Some((Step { primitive, bindings }, before)) = self.steps.split_last() else { return Vec::new() };
        let elementwise = match &primitive.desc().problem().op {
            oxidnn_spec::Op::Eltwise(x) => x.prop.is_forward() && x.dst.as_ref() == Some(&x.src),
            oxidnn_spec::Op::Softmax(x) => x.prop.is_forward(),
            oxidnn_spec::Op::Binary(_) => true,
            _ => false,
        };
        let Some(dst) = bindings.iter().find(|b| b.arg == Arg::DST && elementwise) else { return Vec::new() };
        let Place::Out(output) = dst.place else { return Vec::new() };
        let written_before = before.iter().flat_map(|s| &s.bindings).any(|b| b.place == dst.place);
        let src = bindings.iter().filter(|b| matches!(b.arg, Arg::SRC | Arg::SRC_1) && b.tensor == dst.tensor && !written_before);
        let others = |place: Place, arg: Arg| bindings.iter().any(|b| b.place == place && b.arg != arg && b.tensor != dst.tensor);
        let pair = |b: &Binding| if let Place::In(i) = b.place { (!others(b.place, b.arg)).then_some((i, output)) } else { None };
        let mut pairs: Vec<_> = src.filter_map(pair).collect();
        // An input may be both sources.
        pairs.dedup();
        pairs
    }

    /// Computes the values that depend only on constant inputs into `frame.cached`, else into scratch.
    pub(crate) fn prepare(&self, stream: &Stream, frame: Frame<'_>) -> Result<(), Error> {
        self.prepare.iter().try_for_each(|s| self.step(s, stream, frame))
    }

    /// Computes the rest.
    pub(crate) fn run(&self, stream: &Stream, frame: Frame<'_>) -> Result<(), Error> {
        self.steps.iter().try_for_each(|s| self.step(s, stream, frame))
    }

    /// Computes the rest, step by step; how long each takes, waited for.
    pub(crate) fn timed(&self, stream: &Stream, frame: Frame<'_>) -> Result<Vec<Duration>, Error> {
        let timed = |step: &Step| {
            let begin = Instant::now();
            self.step(step, stream, frame)?;
            stream.wait()?;
            Ok(begin.elapsed())
        };
        self.steps.iter().map(timed).collect()
    }

    /// The number of steps that do not depend on constant inputs only.
    pub(crate) fn count(&self) -> usize {
        self.steps.len()
    }

    /// The number of steps that depend on constant inputs only.
    pub(crate) fn prepared_steps(&self) -> usize {
        self.prepare.len()
    }

    fn step(&self, step: &Step, stream: &Stream, frame: Frame<'_>) -> Result<(), Error> {
        let count = step.bindings.len();
        if count > FEW {
            let views = step.bindings.iter().map(|b| self.bind(b, frame).map(Some)).collect::<Result<Vec<_>, Error>>()?;
            return execute(step, stream, &views, &mut Vec::with_capacity(count));
        }
        let mut views: [Option<View<'_>>; FEW] = [const { None }; FEW];
        for (view, binding) in views.iter_mut().zip(&step.bindings) {
            *view = Some(self.bind(binding, frame)?);
        }
        let Some(first) = views[0].as_ref() else { return Ok(()) };
        let mut args = [(Arg::SRC, first.memory()); FEW];
        for ((arg, binding), view) in args.iter_mut().zip(&step.bindings).zip(views.iter().flatten()) {
            *arg = (binding.arg, view.memory());
        }
        Ok(step.primitive.execute_bytes(stream, &args[..count])?)
    }

    fn bind<'a>(&'a self, binding: &Binding, frame: Frame<'a>) -> Result<View<'a>, Error> {
        let Sizes { scratch, step, .. } = self.sizes;
        let missing = || Error::argument("memory", format_args!("nothing for {:?}", binding.place), "a tensor for every port");
        let whole = |memory: Option<&'a Memory<'a>>| memory.map(View::Whole).ok_or_else(missing);
        let (memory, start) = match binding.place {
            Place::In(i) => return whole(frame.inputs.get(i).copied()),
            Place::Out(i) => return whole(frame.outputs.get(i).copied()),
            Place::Constant(i) => return whole(self.constants.get(i)),
            Place::Cached(at) => match frame.cached {
                Some(cached) => (Some(cached), at),
                None => (frame.scratch, scratch + step + at),
            },
            Place::Scratch(at) => (frame.scratch, at),
            Place::Step => (frame.scratch, scratch),
        };
        let memory = memory.ok_or_else(missing)?;
        Ok(View::Part(memory.view_at(start, binding.tensor.clone())?))
    }
}

fn execute<'a>(step: &Step, stream: &Stream, views: &'a [Option<View<'a>>], args: &mut Vec<(Arg, &'a Memory<'a>)>) -> Result<(), Error> {
    args.extend(step.bindings.iter().zip(views.iter().flatten()).map(|(b, v)| (b.arg, v.memory())));
    Ok(step.primitive.execute_bytes(stream, args)?)
}

/// A place as a step sees it.
enum View<'a> {
    Whole(&'a Memory<'a>),
    Part(Memory<'a>),
}

impl View<'_> {
    fn memory(&self) -> &Memory<'_> {
        match self {
            View::Whole(m) => m,
            View::Part(m) => m,
        }
    }
}

/// Bytes in one dimension.
pub(crate) fn bytes(count: usize) -> Result<Tensor, Error> {
    Ok(Tensor::plain([i64::try_from(count).unwrap_or(i64::MAX)], DataType::U8)?)
}
