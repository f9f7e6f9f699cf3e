//! Portable kernels for windows: pooling, resampling, local response normalisation.
//!
//! Some dimensions are kept; the others form a window space, over which each result depends on several elements. For a run of kept
//! positions (16 channels of a channels-last tensor, say, or one of a plain tensor) the whole window space is loaded into scratch as `f32`
//! planes of `[window position][kept position]`. A [`Window`] computes the planes of the results, and the shared epilogue (post-ops,
//! scales, conversion) stores these in the destination. So formulas need not care about types and layouts.
//!
//! If kept positions are not contiguous (the channels of NCHW, the pixels of NHWC for windows of channels), a vector of them is loaded
//! plane after plane and transposed in registers, so that formulas run on vectors here as well.

use super::pipeline::{Bound, Group, Lines, Padding, Registers, zero};
use super::program::{Builder, Draft, Stage, Step};
use super::{CHUNK, Chunk, Kind, Memory, Nest, OPERANDS, Place, Run, grain_rows};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::kernels::transpose::{Matrix, RegisterTranspose};
use crate::row::Generated;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::{Arg, DataType, Dims, Error, Tensor};
use std::fmt::Debug;
use std::ops::Range;

/// Cost of an element of a plane from load to store, relative to moving one.
const PLANE_ELEMENT_COST: i64 = 8;
/// Bytes of a plane that should stay in the cache, and most contiguous positions of a run.
const MAX_CACHED_BYTES: i64 = 256 * 1024;
const MAX_RUN: i64 = 256;

/// A formula on planes.
pub trait Window: Debug + Send + Sync + 'static {
    /// Whether consecutive planes with one element a window position may be computed together, as planes with one more dimension.
    const TOGETHER: bool = false;

    /// Bytes of its tables.
    fn table_bytes(&self) -> usize {
        0
    }

    /// Computes the planes of the results. Each window position has `run` elements.
    fn compute(&self, simd: Simd, run: usize, planes: Planes<'_>);
}

/// Planes of one run of kept positions.
#[derive(Debug)]
pub struct Planes<'a> {
    /// Those of the inputs, in order; empty for a missing one.
    pub inputs: [&'a [f32]; 2],
    /// That of the result; its contents are undefined before.
    pub result: &'a mut [f32],
    /// That of the second result, or scratch of the requested size.
    pub extra: &'a mut [f32],
}

/// What a window computation has besides its result.
#[derive(Debug)]
pub struct Sides<'a> {
    /// Arguments that are loaded.
    pub inputs: &'a [Arg],
    /// A second result.
    pub second: Option<Arg>,
    /// Window positions of scratch, if there is no second result.
    pub extra: i64,
    /// Largest number of workers.
    pub workers: usize,
    /// The instruction set for generated code.
    pub jit: Option<Isa>,
}

/// A tensor and the loops over its window positions, with the plane as second operand.
#[derive(Debug)]
struct Side {
    arg: Arg,
    kind: Kind,
    /// Its operand index in the kept loops.
    operand: usize,
    nest: Nest,
    /// Number of window positions.
    volume: usize,
}

/// The kernel.
#[derive(Debug)]
pub struct Windows<W> {
    window: W,
    inputs: Vec<Side>,
    second: Option<Side>,
    extra: usize,
    epilogue: Group,
    stage: Stage,
    padding: Vec<Padding>,
    kept: Nest,
    reduced: Nest,
    /// The operand of the window loops that is the plane.
    plane: usize,
    volume: usize,
    run: usize,
    /// Kept positions whose planes are computed together, one after the other, if runs are single positions.
    planes: usize,
    /// The instruction set of the transpositions to vectors of planes, if there are any.
    transposed: Option<Isa>,
    block: i64,
    workers: usize,
}

/// The memory of an execution.
struct On<'o> {
    simd: Simd,
    bound: &'o Bound<'o>,
    /// That of the inputs, and of the second result.
    memory: &'o [Memory<'o>; 3],
    /// The transpositions to vectors of planes, if there are any.
    squares: Option<&'o RegisterTranspose>,
}

/// Elements of planes that are computed together.
const TOGETHER: usize = 4096;

/// Most elements of a worker's planes in vectors of others, and fewest of the latter.
const MAX_TRANSPOSED_ELEMENTS: usize = 1 << 20;
const MIN_TRANSPOSED_PLANES: i64 = 4;

/// Row-major positions of the dimensions that are not kept.
fn plane_of(dims: &Dims, kept: u32) -> (Place, i64) {
    let (mut strides, mut stride) = (Dims::filled(dims.len(), 0), 1);
    for d in (0..dims.len()).rev().filter(|d| kept >> d & 1 == 0) {
        strides[d] = stride;
        stride *= dims[d];
    }
    (Place::strided(strides), stride)
}

impl Side {
    fn new(arg: Arg, tensor: &Tensor, kept: u32, operand: usize) -> Result<Side, Skip> {
        let bad = || Skip::Layout(format!("of {arg}"));
        if tensor.dtype.bits() == 64 {
            return Err(Skip::DataType(format!("{} of {arg}", tensor.dtype)));
        }
        let (plane, volume) = plane_of(tensor.dims(), kept);
        let places = [Place::of(&tensor.layout).ok_or_else(bad)?, plane];
        let nest = Nest::across(tensor.dims(), !kept, &places).ok_or_else(bad)?;
        Ok(Side { arg, kind: Kind::Number(tensor.dtype), operand, nest, volume: usize::try_from(volume).map_err(|_| bad())? })
    }

    /// Calls `f` with the chunks of the tensor (operand 0), each with the index of its first element in its plane and the stride of its
    /// rows there.
    fn each(&self, k: &Run<'_>, mut f: impl FnMut(&Chunk<'_>, usize, usize)) {
        let inner = only(k.strides[self.operand]);
        self.nest.runs(0..self.nest.volume(), CHUNK / k.len, |r| {
            let chunk = chunk(only(k.at[self.operand] + r.at[0]), (k.len, &inner), (r.len, r.strides));
            f(&chunk, r.at[1] as usize * k.len, r.strides[1] as usize * k.len);
        });
    }

    /// Whether the planes of a run are one run of the tensor.
    fn is_joined(&self, k: &Run<'_>) -> bool {
        k.strides[self.operand] == self.volume as i64 && one_run(&self.nest, [0, 1], self.volume)
    }

    /// Loads the planes of a run that is one of the tensor.
    fn load_joined(&self, simd: Simd, memory: Memory<'_>, k: &Run<'_>, planes: &mut [f32]) {
        for (at, piece) in (k.at[self.operand] as usize..).step_by(CHUNK).zip(planes.chunks_mut(CHUNK)) {
            memory.read(simd, at, 1, piece);
        }
    }

    /// Loads the planes of a run as vectors; `space` has room for as many elements.
    fn load_transposed(&self, on: &On<'_>, memory: Memory<'_>, k: &Run<'_>, plane: &mut [f32], space: &mut [f32]) {
        let Some(squares) = on.squares else { return };
        if self.kind == Kind::Number(DataType::F32) && [0, 1].iter().all(|t| self.nest.step(*t) == Some(1)) {
            let row = 4 * k.strides[self.operand] as usize;
            return self.nest.runs(0..self.nest.volume(), i64::MAX as usize, |r| {
                let at = 4 * (k.at[self.operand] + r.at[0]) as usize;
                let plane = &mut plane[r.at[1] as usize * k.len..][..r.len * k.len];
                squares.run_to(Matrix { buf: memory.buf, at, row }, plane, k.len, r.len);
            });
        }
        if self.nest.step(1) != Some(1) {
            single(k, self.volume, |k, at| self.load(on.simd, memory, k, &mut space[at]));
            return squares.exchange(space, plane, k.len, self.volume);
        }
        let (mut block, outer) = ([0.0; CHUNK], only(k.strides[self.operand]));
        self.nest.runs(0..self.nest.volume(), CHUNK / k.len, |r| {
            let at = only(k.at[self.operand] + r.at[0]);
            memory.load(on.simd, &Chunk { at, run: r.len, inner: r.strides, rows: k.len, outer: &outer }, 0, &mut block);
            let plane = &mut plane[r.at[1] as usize * k.len..][..r.len * k.len];
            squares.exchange(&block[..r.len * k.len], plane, k.len, r.len);
        });
    }

    fn load(&self, simd: Simd, memory: Memory<'_>, k: &Run<'_>, plane: &mut [f32]) {
        let mut block = [0.0; CHUNK];
        self.each(k, |chunk, at, step| {
            if step == k.len || chunk.positions() == k.len {
                return memory.load(simd, chunk, 0, &mut plane[at..]);
            }
            memory.load(simd, chunk, 0, &mut block);
            for (r, row) in block[..chunk.positions()].chunks_exact(k.len).enumerate() {
                plane[at + r * step..][..k.len].copy_from_slice(row);
            }
        });
    }

    fn store(&self, simd: Simd, memory: Memory<'_>, k: &Run<'_>, plane: &[f32]) {
        let mut block = [0.0; CHUNK];
        self.each(k, |chunk, at, step| {
            collect(&mut block, plane, (chunk.positions() / k.len, k.len), (at, step));
            memory.store(simd, chunk, 0, &block);
        });
    }
}

/// Strides with `v` for the first operand.
fn only(v: i64) -> [i64; OPERANDS] {
    std::array::from_fn(|t| if t == 0 { v } else { 0 })
}

/// Calls `f` with every kept position of a run, and the range of its plane of `volume` elements in all planes.
fn single(k: &Run<'_>, volume: usize, mut f: impl FnMut(&Run<'_>, Range<usize>)) {
    let mut one = Run { len: 1, ..*k };
    for plane in 0..k.len {
        f(&one, plane * volume..(plane + 1) * volume);
        one.at.iter_mut().zip(k.strides).for_each(|(at, stride)| *at += stride);
    }
}

/// Whether a nest of `volume` positions is one run of two operands.
fn one_run(nest: &Nest, operands: [usize; 2], volume: usize) -> bool {
    nest.run() == Some(volume as i64) && operands.iter().all(|t| nest.step(*t) == Some(1))
}

/// Collects `rows` rows of `run` elements of a plane, `step` apart.
fn collect(block: &mut [f32; CHUNK], plane: &[f32], (rows, run): (usize, usize), (at, step): (usize, usize)) {
    if step == run || rows == 1 {
        return block[..rows * run].copy_from_slice(&plane[at..][..rows * run]);
    }
    for (r, row) in block[..rows * run].chunks_exact_mut(run).enumerate() {
        row.copy_from_slice(&plane[at + r * step..][..run]);
    }
}

/// A chunk of kept positions by window positions; with one kept position it has one row.
fn chunk<'a>(at: [i64; OPERANDS], kept: (usize, &'a [i64; OPERANDS]), window: (usize, &'a [i64; OPERANDS])) -> Chunk<'a> {
    let ((k, inner), (r, outer)) = (kept, window);
    if k == 1 { Chunk { at, run: r, inner: outer, rows: 1, outer } } else { Chunk { at, run: k, inner, rows: r, outer } }
}

impl<W: Window> Windows<W> {
    /// The kernel that computes `result` by `window` over the dimensions that are not in `kept`, and its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for attributes, types and layouts.
    pub fn new(mut b: Builder<'_>, result: Arg, kept: u32, window: W, sides: Sides<'_>) -> Result<(Windows<W>, usize), Skip> {
        b.group(kept);
        b.stage(super::Over::All);
        b.argument(result)?;
        b.result(result)?;
        sides.second.map_or(Ok(()), |second| b.pad(second))?;
        let space = *b.space();
        let none = || Skip::Layout("blocks that do not nest".into());
        let tensor = |b: &Builder<'_>, arg: Arg| b.tensor(arg);
        let (Draft { operands, mut stages, .. }, padding) = b.last_group().ok_or_else(none)?;
        let stage = stages.pop().ok_or_else(none)?;
        let places = operands.iter().map(|o| o.place.clone()).collect::<Option<Vec<Place>>>().ok_or(Skip::Shape("runtime sizes"))?;
        let mut all = places.clone();
        let mut side = |b: &Builder<'_>, arg: Arg| -> Result<Side, Skip> {
            let t = tensor(b, arg)?;
            all.push(Place::of(&t.layout).ok_or_else(|| Skip::Layout(format!("of {arg}")))?);
            Side::new(arg, &t, kept, all.len() - 1)
        };
        let inputs = sides.inputs.iter().map(|&arg| side(&b, arg)).collect::<Result<Vec<_>, Skip>>()?;
        let second = sides.second.map(|arg| side(&b, arg)).transpose()?;
        let kept_nest = Nest::kept(&space, kept, &all).ok_or_else(none)?;
        let (plane, volume) = plane_of(&space, kept);
        let mut places = places;
        places.push(plane);
        let reduced = Nest::across(&space, !kept, &places).ok_or_else(none)?;
        let volume = usize::try_from(volume).map_err(|_| none())?;
        let extra = second.as_ref().map_or(usize::try_from(sides.extra).map_err(|_| none())?, |s| s.volume);
        let too_large = || Skip::Shape("too large planes");
        let all = inputs.iter().map(|i| i.volume).chain([volume, extra, 3 * 16]);
        let numbers = all.into_iter().try_fold(0usize, usize::checked_add).ok_or_else(too_large)?;
        let largest = inputs.iter().map(|i| i.volume).max().unwrap_or(0).max(volume).max(1) as i64;
        let (inner, stride) = kept_nest.innermost(0);
        let lanes = sides.jit.map_or(0, |isa| isa.width().lanes() as i64);
        let several = stride != 1
            && largest > 1
            && inner >= MIN_TRANSPOSED_PLANES
            && (numbers + largest as usize).saturating_mul(lanes as usize) <= MAX_TRANSPOSED_ELEMENTS;
        let transposed = sides.jit.filter(|_| several);
        let run = match stride {
            1 => (MAX_CACHED_BYTES / (4 * largest) / 16 * 16).clamp(16, MAX_RUN).min(inner.max(1)),
            _ if transposed.is_some() => lanes.min(inner),
            // Positions at a stride.
            _ if largest == 1 => MAX_RUN.min(inner.max(1)),
            _ => 1,
        };
        let numbers = if transposed.is_some() { numbers + largest as usize } else { numbers };
        let planes = if W::TOGETHER && run == 1 { (TOGETHER / largest as usize).clamp(1, CHUNK) } else { 1 };
        let block = (grain_rows(kept_nest.volume(), largest, PLANE_ELEMENT_COST) / run).max(1) * run;
        let each = numbers.checked_mul(run as usize * planes).and_then(|n| n.checked_next_multiple_of(16));
        let bytes = each.and_then(|n| n.checked_mul(sides.workers.max(1))).and_then(|n| booked(&[n])).ok_or_else(too_large)?;
        let epilogue = Group { space, operands, stages: Vec::new(), grid: None };
        let windows = Windows {
            window,
            inputs,
            second,
            extra,
            epilogue,
            stage,
            padding,
            kept: kept_nest,
            reduced,
            plane: places.len() - 1,
            volume,
            run: run as usize,
            planes,
            transposed,
            block,
            workers: sides.workers.max(1),
        };
        Ok((windows, bytes))
    }

    /// Calls `f` for every run of kept positions with planes of its own, of `volume` window positions, and with their range.
    fn each(&self, k: &Run<'_>, volume: usize, mut f: impl FnMut(&Run<'_>, Range<usize>)) {
        match self.planes {
            1 => f(k, 0..volume * k.len),
            _ => single(k, volume, f),
        }
    }

    /// Whether the planes of a run of results are one run of the destination, and no post-op needs positions.
    fn is_joined(&self, k: &Run<'_>) -> bool {
        let alone = self.epilogue.operands.len() == 1 && k.strides[0] == self.volume as i64;
        alone && one_run(&self.reduced, [0, self.plane], self.volume)
    }

    /// Whether results are stored unchanged, as f32 that are contiguous where their planes are.
    fn is_plain(&self) -> bool {
        let number = self.epilogue.operands.len() == 1 && self.epilogue.operands[0].kind == Kind::Number(DataType::F32);
        let stored = matches!(self.stage.steps[..], [Step::Store { from: 0, .. }]);
        number && stored && [0, self.plane].iter().all(|t| self.reduced.step(*t) == Some(1))
    }

    /// Stores the planes of a run that is one of the destination.
    fn store_joined(&self, simd: Simd, bound: &Bound<'_>, k: &Run<'_>, planes: &[f32], registers: &mut Registers) {
        let one: [i64; OPERANDS] = std::array::from_fn(|t| i64::from(t == 0));
        let mut chunk = Chunk { at: k.at, run: 0, rows: 1, inner: &one, outer: &one };
        for piece in planes.chunks(CHUNK) {
            chunk.run = piece.len();
            registers[0][..piece.len()].copy_from_slice(piece);
            self.stage.program(simd, &bound.memory, &chunk, registers);
            chunk.at[0] += piece.len() as i64;
        }
    }

    fn store(&self, simd: Simd, bound: &Bound<'_>, k: &Run<'_>, plane: &[f32], registers: &mut Registers) {
        self.reduced.runs(0..self.reduced.volume(), CHUNK / k.len, |r| {
            let at = std::array::from_fn(|t| k.at[t] + r.at[t]);
            let chunk = chunk(at, (k.len, k.strides), (r.len, r.strides));
            let (at, step) = (r.at[self.plane] as usize * k.len, r.strides[self.plane] as usize * k.len);
            collect(&mut registers[0], plane, (r.len, k.len), (at, step));
            self.stage.program(simd, &bound.memory, &chunk, registers);
        });
    }
}

impl<W: Window> Windows<W> {
    /// Elements of the planes of one kept position.
    fn numbers(&self) -> usize {
        let volumes = self.inputs.iter().map(|i| i.volume);
        let space = if self.transposed.is_some() { volumes.clone().fold(self.volume, usize::max) } else { 0 };
        volumes.sum::<usize>() + self.volume + self.extra + 3 * 16 + space
    }

    /// Loads, computes and stores the planes of a run of kept positions.
    fn make(&self, on: &On<'_>, k: &Run<'_>, planes: &mut [f32], registers: &mut Registers) {
        let On { simd, bound, memory, squares } = *on;
        let mut rest = planes;
        let mut cut = |volume: usize| {
            let (plane, behind) = std::mem::take(&mut rest).split_at_mut(volume * k.len);
            rest = behind;
            plane
        };
        let most = self.inputs.iter().map(|i| i.volume).fold(self.volume, usize::max);
        let space = if squares.is_some() { cut(most) } else { &mut [] };
        let mut inputs: [&[f32]; 2] = [&[]; 2];
        for ((plane, side), memory) in inputs.iter_mut().zip(&self.inputs).zip(memory) {
            let loaded = cut(side.volume);
            if squares.is_some() {
                side.load_transposed(on, *memory, k, loaded, &mut space[..side.volume * k.len]);
            } else if self.planes > 1 && side.is_joined(k) {
                side.load_joined(simd, *memory, k, loaded);
            } else {
                self.each(k, side.volume, |k, at| side.load(simd, *memory, k, &mut loaded[at]));
            }
            *plane = loaded;
        }
        let (result, extra) = (cut(self.volume), cut(self.extra));
        let run = if self.planes > 1 { 1 } else { k.len };
        self.window.compute(simd, run, Planes { inputs, result: &mut *result, extra: &mut *extra });
        let Some(squares) = squares else {
            if let Some(second) = &self.second {
                self.each(k, second.volume, |k, at| second.store(simd, memory[self.inputs.len()], k, &extra[at]));
            }
            if self.planes > 1 && self.is_joined(k) {
                return self.store_joined(simd, bound, k, result, registers);
            }
            return self.each(k, self.volume, |k, at| self.store(simd, bound, k, &result[at], registers));
        };
        if let Some(second) = &self.second {
            let planes = &mut space[..second.volume * k.len];
            squares.exchange(extra, planes, second.volume, k.len);
            single(k, second.volume, |k, at| second.store(simd, memory[self.inputs.len()], k, &planes[at]));
        }
        if self.is_plain() {
            let (buf, row) = (bound.memory[0].buf, 4 * k.strides[0] as usize);
            return self.reduced.runs(0..self.reduced.volume(), i64::MAX as usize, |r| {
                let plane = &result[r.at[self.plane] as usize * k.len..][..r.len * k.len];
                squares.run_from(plane, Matrix { buf, at: 4 * (k.at[0] + r.at[0]) as usize, row }, r.len, k.len);
            });
        }
        if self.reduced.step(self.plane) == Some(1) && !self.is_joined(k) {
            return self.reduced.runs(0..self.reduced.volume(), CHUNK / k.len, |r| {
                let at = std::array::from_fn(|t| k.at[t] + r.at[t]);
                let plane = &result[r.at[self.plane] as usize * k.len..][..r.len * k.len];
                squares.exchange(plane, &mut registers[0][..r.len * k.len], r.len, k.len);
                let chunk = Chunk { at, run: r.len, inner: r.strides, rows: k.len, outer: k.strides };
                self.stage.program(simd, &bound.memory, &chunk, registers);
            });
        }
        let planes = &mut space[..self.volume * k.len];
        squares.exchange(result, planes, self.volume, k.len);
        if self.is_joined(k) {
            return self.store_joined(simd, bound, k, planes, registers);
        }
        single(k, self.volume, |k, at| self.store(simd, bound, k, &planes[at], registers));
    }
}

impl<W: Window> Generated for Windows<W> {
    type Code = Option<RegisterTranspose>;

    fn table_bytes(&self) -> usize {
        self.window.table_bytes()
    }

    fn build(&self) -> Result<Option<RegisterTranspose>, Error> {
        self.transposed.map(RegisterTranspose::get).transpose()
    }

    fn run(&self, squares: &Option<RegisterTranspose>, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let mut bound = Bound::default();
        self.epilogue.bind(ctx, oxidnn_runtime::Buf::empty(), &mut bound)?;
        let mut memory = [Memory::default(); 3];
        for (m, side) in memory.iter_mut().zip(self.inputs.iter().chain(&self.second)) {
            *m = Memory { buf: ctx.buf(side.arg)?, kind: side.kind };
        }
        let each = (self.numbers() * self.run * self.planes).next_multiple_of(16);
        let kept = self.kept.volume();
        let tasks = ((kept + self.block - 1) / self.block) as usize;
        let on = On { simd, bound: &bound, memory: &memory, squares: squares.as_ref() };
        let part = &mut scratch.take(each * self.workers)?;
        part.work(ctx.executor(), self.workers, tasks, &|task, planes| {
            let start = task as i64 * self.block;
            let range = start..(start + self.block).min(kept);
            Lines::lend(|Lines(registers, _)| {
                self.kept.runs(range, self.run * self.planes, |k| self.make(&on, k, planes, registers));
            });
        });
        for Padding { arg, dtype, nest } in &self.padding {
            zero(ctx, ctx.buf(*arg)?, dtype.bits(), nest);
        }
        Ok(())
    }
}
