//! `channels:jit`: windows of channels by generated code, with channels last, in blocks of a vector, or in planes.

use crate::kernels::access::View;
use crate::kernels::code::elem;
use crate::kernels::multiversion::Simd;
use crate::kernels::responses::{Call, MOST, Pass, Plane, QUARTERS, Responses, Side, Spec, USUAL};
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::row::{Generated, RowPlan, TOO_LARGE};
use crate::{CpuTarget, ops::support};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::{Lrn, LrnAlg};
use oxidnn_spec::{Arg, Error, Op, Problem, Tensor};

/// Zeros around a row of channels.
const AROUND: usize = 16;
/// Elements of the planes of some rows of channels, which stay in L1.
const NEAR: usize = 6 * 1024;
/// Pixels of blocks of channels at least that are made together.
const BLOCKED: usize = 16;
/// Elements of a plane of all channels, which stays in L2; and its rows' least and most.
const PLANE: usize = 16 * 1024;
const ROWS: std::ops::RangeInclusive<usize> = 64..=512;

/// Plans a normalisation.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let Op::Lrn(op) = &problem.op else { return Err(Skip::Op("another operation than local response normalisation")) };
        support::dense(problem)?;
        support::known(problem)?;
        let made = |isa| Across::new(op, target.threads, isa);
        // Blocks of half a vector are whole ones of half the width.
        let kernel = made(jit).or_else(|skip| if jit == Isa::AVX2 { Err(skip) } else { made(Isa::AVX2).map_err(|_| skip) })?;
        let scratch = for_workers(kernel.workers, kernel.space()).and_then(|n| booked(&[n]));
        Ok((kernel, scratch.ok_or(TOO_LARGE)?))
    })
}

/// Which elements lie in a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lanes {
    Channels,
    Pixels,
}

/// A tensor; distances in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) arg: Arg,
    pub(super) lanes: Lanes,
    start: usize,
    image: usize,
    pub(super) pixel: usize,
    /// Of vectors of channels, or of channels.
    pub(super) channel: usize,
    /// Channels of the last block that do not exist.
    pub(super) padded: bool,
}

/// Where the source, the gradient of the result and the result lie.
pub(super) fn places(op: &Lrn, lanes: usize) -> Result<[Option<Place>; 3], Skip> {
    let place = |(arg, tensor): (Arg, Option<&Tensor>)| tensor.map(|t| Place::of(arg, t, lanes)).transpose();
    let tensors = match op.prop.is_forward() {
        true => [(Arg::SRC, Some(&op.src)), (Arg::DIFF_DST, None), (Arg::DST, op.dst.as_ref())],
        false => [(Arg::SRC, Some(&op.src)), (Arg::DIFF_DST, op.diff_dst.as_ref()), (Arg::DIFF_SRC, op.diff_src.as_ref())],
    };
    let [source, gradient, result] = tensors.map(place);
    Ok([source?, gradient?, result?])
}

/// The elements of a problem, four times its exponent, and `share`, `k` and `slope` for windows of so many elements.
pub(super) fn formula(op: &Lrn, window: f32) -> Result<(Elem, u8, [f32; 3]), Skip> {
    let elem = elem(op.src.dtype).filter(|e| matches!(e, Elem::F32 | Elem::Bf16 | Elem::F16));
    let elem = elem.ok_or_else(|| Skip::DataType(format!("{} in generated windows", op.src.dtype)))?;
    let quarters = QUARTERS.iter().find(|q| f32::from(**q) == 4.0 * op.beta.get()).copied();
    let quarters = quarters.ok_or(Skip::Op("an exponent that roots do not make"))?;
    let share = op.alpha.get() / window;
    Ok((elem, quarters, [share, op.k.get(), 2.0 * op.beta.get() * share]))
}

/// Planes of scratch, one behind the other, in numbers.
#[derive(Clone, Copy, Debug)]
struct Planes {
    /// Elements of a plane.
    size: usize,
    /// Where the elements of the first lie.
    at: Plane,
}

#[derive(Debug)]
struct Across {
    jit: Isa,
    elem: Elem,
    window: u8,
    quarters: u8,
    numbers: [f32; 3],
    /// The source, the gradient of the result, and the result.
    places: [Option<Place>; 3],
    images: usize,
    pixels: usize,
    channels: usize,
    /// Pixels of a task, and where its planes lie.
    each: usize,
    planes: Planes,
    workers: usize,
}

impl Place {
    fn of(arg: Arg, tensor: &Tensor, lanes: usize) -> Result<Place, Skip> {
        let unlike = || Skip::Layout(format!("of {arg}: neither channels nor pixels in vectors"));
        let (b, size, dims) = (tensor.blocking().ok_or_else(unlike)?, tensor.dtype.bits() / 8, tensor.dims());
        let mut pixel = None;
        for d in (2..dims.len()).rev().filter(|d| dims[*d] != 1) {
            let (first, n) = pixel.unwrap_or((b.strides[d], 1));
            if b.strides[d] != first * n {
                return Err(unlike());
            }
            pixel = Some((first, n * dims[d]));
        }
        let pixel = pixel.map_or(0, |p| p.0);
        let (how, channel) = match b.inner.iter().next() {
            Some(block) if b.inner.len() == 1 && block == (1, lanes as i64) => (Lanes::Channels, b.strides[1]),
            None if b.strides[1] == 1 || dims[1] == 1 => (Lanes::Channels, lanes as i64),
            None if pixel == 1 => (Lanes::Pixels, b.strides[1]),
            _ => return Err(unlike()),
        };
        let [start, image, pixel, channel] = [b.offset, b.strides[0], pixel, channel].map(|n| n as usize * size);
        Ok(Place { arg, lanes: how, start, image, pixel, channel, padded: b.padded_dims != *dims })
    }

    /// The tensor from a pixel of an image on.
    pub(super) fn side<'b>(&self, buf: Buf<'b>, image: usize, pixel: usize, width: usize) -> Side<'b> {
        let at = self.start + image * self.image + pixel * self.pixel;
        let [row, vector] = if self.lanes == Lanes::Channels { [self.pixel, self.channel] } else { [self.channel, width] };
        Side { buf, at, row, vector }
    }
}

impl Across {
    fn new(op: &Lrn, workers: usize, jit: Isa) -> Result<Across, Skip> {
        if op.alg != LrnAlg::AcrossChannels {
            return Err(Skip::Op("windows of pixels"));
        }
        let (dims, lanes) = (op.src.dims(), jit.width().lanes());
        let (elem, quarters, numbers) = formula(op, op.local_size as f32)?;
        let [images, channels] = [dims[0], dims[1]].map(|n| n as usize);
        let pixels = dims[2..].iter().product::<i64>() as usize;
        // A longer window holds no more.
        let half = (op.local_size as usize - 1) / 2;
        let half = half.min(channels.saturating_sub(1));
        if images * pixels * channels == 0 || 2 * half + 1 > MOST {
            return Err(Skip::Shape("no elements, or a long window"));
        }
        let forward = op.prop.is_forward();
        let mut places = places(op, lanes)?;
        let first = places[0].ok_or(Skip::Op("without a source"))?;
        if places.iter().flatten().any(|p| p.lanes != first.lanes) {
            return Err(Skip::Layout("of src and dst: vectors of other elements".into()));
        }
        let (mut images, mut pixels) = (images, pixels);
        if first.lanes == Lanes::Channels && places.iter().flatten().all(|p| pixels == 1 || p.image == pixels * p.pixel) {
            // Images go on as pixels do.
            places.iter_mut().flatten().filter(|_| pixels == 1).for_each(|p| p.pixel = p.image);
            (images, pixels) = (1, images * pixels);
        }
        let count = if forward { 1 } else { 3 };
        let (each, planes) = match first.lanes {
            Lanes::Channels => {
                let row = channels.next_multiple_of(lanes) + 2 * AROUND;
                // Of blocks some pixels, which follow each other there.
                let blocked = places.iter().flatten().any(|p| p.channel != lanes * elem.bytes()) && channels > lanes;
                let least = if blocked { BLOCKED } else { 1 };
                let each = (NEAR / count / row).max(least).min(pixels);
                (each, Planes { size: each * row, at: Plane { first: AROUND, row, near: 1 } })
            }
            Lanes::Pixels => {
                let row = (PLANE / channels).clamp(*ROWS.start(), *ROWS.end()).min(pixels).next_multiple_of(lanes);
                (row, Planes { size: (channels + 2 * half) * row, at: Plane { first: half * row, row, near: row } })
            }
        };
        let window = 2 * half as u8 + 1;
        let across = Across { jit, elem, window, quarters, numbers, places, images, pixels, channels, each, planes, workers };
        if across.is_masked() && !jit.avx512 && elem != Elem::F32 {
            return Err(Skip::Shape("parts of vectors of narrow numbers"));
        }
        Ok(across)
    }

    fn lanes(&self) -> Lanes {
        self.places[0].map_or(Lanes::Channels, |p| p.lanes)
    }

    fn is_forward(&self) -> bool {
        self.places[1].is_none()
    }

    /// Channels of a row: forward also those that do not exist, where all tensors have them. Their terms of a gradient may be no numbers.
    fn row(&self) -> usize {
        let padded = self.is_forward() && self.places.iter().flatten().all(|p| p.padded);
        if padded { self.channels.next_multiple_of(self.jit.width().lanes()) } else { self.channels }
    }

    fn is_masked(&self) -> bool {
        let elements = if self.lanes() == Lanes::Channels { self.row() } else { self.pixels };
        !elements.is_multiple_of(self.jit.width().lanes())
    }

    /// Elements of a worker's scratch.
    fn space(&self) -> usize {
        self.planes.size.saturating_mul(if self.is_forward() { 1 } else { 3 })
    }

    /// Zeros around the rows of the planes that windows read.
    fn surround(&self, space: &mut [f32]) {
        let Planes { size, at: Plane { first, row, .. } } = self.planes;
        for plane in space.chunks_exact_mut(size).take(2) {
            match self.lanes() {
                Lanes::Channels => plane.chunks_exact_mut(row).for_each(|row| {
                    let end = row.len() - AROUND;
                    row[..AROUND].fill(0.0);
                    row[end..].fill(0.0);
                }),
                Lanes::Pixels => {
                    plane[..first].fill(0.0);
                    plane[size - first..].fill(0.0);
                }
            }
        }
    }

    /// Makes some pixels of an image.
    fn make(&self, code: &Code, bufs: &[Buf<'_>; 3], (image, pixel): (usize, usize), space: &mut [f32]) {
        self.surround(space);
        let count = self.each.min(self.pixels - pixel);
        let width = self.jit.width().lanes() * self.elem.bytes();
        let tensors = std::array::from_fn(|i| self.places[i].map(|p| p.side(bufs[i], image, pixel, width)));
        let sizes = if self.lanes() == Lanes::Channels { [count, self.row()] } else { [self.channels, count] };
        let [share, k, _] = self.numbers;
        let Planes { size, at } = self.planes;
        let planes = std::array::from_fn(|i| Plane { first: i * size + at.first, ..at });
        let mut call = Call { tensors, space, planes, sizes, numbers: self.numbers };
        let total = code.squares.run(&mut call);
        // Nothing is below what is added to, and nothing above the sum of all; what is no number is not in between.
        let usual = k > USUAL.0 && share >= 0.0 && k + share * total < USUAL.1;
        code.powers[usize::from(usual)].run(&mut call);
        if let Some(combine) = &code.combine {
            combine.run(&mut call);
        }
    }
}

/// The kernels: squares; powers of any elements, and of usual ones; the last pass of a gradient.
struct Code {
    squares: Responses,
    powers: [Responses; 2],
    combine: Option<Responses>,
}

impl Generated for Across {
    type Code = Code;

    fn build(&self) -> Result<Code, Error> {
        let get = |pass, usual| {
            let spec = Spec { pass, elem: self.elem, window: self.window, quarters: self.quarters, usual, masked: self.is_masked() };
            Responses::get(self.jit, &spec)
        };
        let powers = if self.is_forward() { Pass::Respond } else { Pass::Terms };
        let combine = (!self.is_forward()).then(|| get(Pass::Combine, true)).transpose()?;
        Ok(Code { squares: get(Pass::Squares, true)?, powers: [get(powers, false)?, get(powers, true)?], combine })
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let mut bufs = [Buf::empty(); 3];
        for (buf, place) in bufs.iter_mut().zip(&self.places) {
            if let Some(place) = place {
                *buf = ctx.buf(place.arg)?;
            }
        }
        let chunks = self.pixels.div_ceil(self.each);
        let mut space = scratch.take(for_workers(self.workers, self.space()).unwrap_or(0))?;
        space.work(ctx.executor(), self.workers, self.images * chunks, &|task, space| {
            self.make(code, &bufs, (task / chunks, task % chunks * self.each), &mut space[..self.space()]);
        });
        if let Some(place) = self.places[2].filter(|p| p.padded) {
            View::of(simd, ctx, place.arg)?.zero_padding();
        }
        Ok(())
    }
}
