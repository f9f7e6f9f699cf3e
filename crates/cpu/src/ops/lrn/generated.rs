//! What windows of channels and of pixels share where code is generated for them.

use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::code::elem;
use crate::kernels::multiversion::Simd;
use crate::kernels::responses::{Pass, QUARTERS, Responses, Side, Spec, USUAL};
use crate::kernels::scratch::{booked, for_workers};
use crate::ops::support;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::Lrn;
use oxidnn_spec::{Arg, Error, Op, Problem, Tensor};

/// Plans a normalisation by the kernel that `made` makes for a number of workers, each of which has as much scratch as `space` says.
///
/// # Errors
/// What `made` declines.
pub(super) fn plan<K: Generated>(
    problem: &Problem,
    target: &CpuTarget,
    made: impl Fn(&Lrn, usize, Isa) -> Result<K, Skip>,
    space: impl Fn(&K) -> usize,
) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let Op::Lrn(op) = &problem.op else { return Err(Skip::Op("another operation than local response normalisation")) };
        support::dense(problem)?;
        support::known(problem)?;
        let kernel = support::of_widths(jit, |isa| made(op, target.threads, isa))?;
        let scratch = for_workers(target.threads, space(&kernel)).and_then(|n| booked(&[n]));
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
    pub(super) image: usize,
    pub(super) pixel: usize,
    /// Of vectors of channels, or of channels.
    pub(super) channel: usize,
    /// Channels of the last block that do not exist.
    pub(super) padded: bool,
}

/// The elements of a problem, where they lie, and what is made of them.
#[derive(Debug)]
pub(super) struct Formula {
    pub(super) jit: Isa,
    pub(super) elem: Elem,
    quarters: u8,
    /// `share`, `k` and `slope`.
    pub(super) numbers: [f32; 3],
    /// The source, the gradient of the result, and the result.
    pub(super) places: [Option<Place>; 3],
    pub(super) workers: usize,
}

/// The kernels: squares; sums along the height and the width, where windows have several dimensions; powers of any elements, and of usual ones; the last
/// pass of a gradient.
pub(super) struct Code {
    pub(super) squares: Responses,
    pub(super) powers: [Responses; 2],
    pub(super) combine: Option<Responses>,
}

impl Formula {
    /// That of windows of so many elements.
    ///
    /// # Errors
    /// [`Skip`] for types, layouts and exponents that there is no code for.
    pub(super) fn new(op: &Lrn, window: f32, (workers, jit): (usize, Isa)) -> Result<Formula, Skip> {
        let elem = elem(op.src.dtype).filter(|e| matches!(e, Elem::F32 | Elem::Bf16 | Elem::F16));
        let elem = elem.ok_or_else(|| Skip::DataType(format!("{} in generated windows", op.src.dtype)))?;
        let quarters = QUARTERS.iter().find(|q| f32::from(**q) == 4.0 * op.beta.get()).copied();
        let quarters = quarters.ok_or(Skip::Op("an exponent that roots do not make"))?;
        let share = op.alpha.get() / window;
        let place = |(arg, tensor): (Arg, Option<&Tensor>)| tensor.map(|t| Place::of(arg, t, jit.width().lanes())).transpose();
        let [source, gradient, result] = match op.prop.is_forward() {
            true => [(Arg::SRC, Some(&op.src)), (Arg::DIFF_DST, None), (Arg::DST, op.dst.as_ref())],
            false => [(Arg::SRC, Some(&op.src)), (Arg::DIFF_DST, op.diff_dst.as_ref()), (Arg::DIFF_SRC, op.diff_src.as_ref())],
        };
        let places = [place(source)?, place(gradient)?, place(result)?];
        Ok(Formula { jit, elem, quarters, numbers: [share, op.k.get(), 2.0 * op.beta.get() * share], places, workers })
    }

    pub(super) fn lanes(&self) -> usize {
        self.jit.width().lanes()
    }

    pub(super) fn is_forward(&self) -> bool {
        self.places[1].is_none()
    }

    /// So many channels, forward also those that do not exist, where all tensors have them. Their terms of a gradient may be no numbers.
    pub(super) fn channels(&self, count: usize) -> usize {
        let padded = self.is_forward() && self.places.iter().flatten().all(|p| p.padded);
        if padded { count.next_multiple_of(self.lanes()) } else { count }
    }

    /// Whether processors have the masks.
    pub(super) fn check_masks(&self, masked: bool) -> Result<(), Skip> {
        let narrow = masked && !self.jit.avx512 && self.elem != Elem::F32;
        if narrow { Err(Skip::Shape("parts of vectors of narrow numbers")) } else { Ok(()) }
    }

    /// Whether all that powers are taken of is far from the ends of f32, where all squares have such a sum. Nothing is below what is added to, and nothing
    /// above the sum of all; what is no number is not in between.
    pub(super) fn is_usual(&self, total: f32) -> bool {
        let [share, k, _] = self.numbers;
        k > USUAL.0 && share >= 0.0 && k + share * total < USUAL.1
    }

    /// A kernel for windows of so many elements.
    pub(super) fn kernel(&self, pass: Pass, window: u8, (usual, masked): (bool, bool)) -> Result<Responses, Error> {
        let elem = if pass == Pass::Sums { Elem::F32 } else { self.elem };
        Responses::get(self.jit, &Spec { pass, elem, window, quarters: self.quarters, usual, masked })
    }

    /// All of them.
    pub(super) fn code(&self, window: u8, masked: bool) -> Result<Code, Error> {
        let get = |pass, usual| self.kernel(pass, window, (usual, masked));
        let powers = if self.is_forward() { Pass::Respond } else { Pass::Terms };
        let combine = (!self.is_forward()).then(|| get(Pass::Combine, true)).transpose()?;
        Ok(Code { squares: get(Pass::Squares, true)?, powers: [get(powers, false)?, get(powers, true)?], combine })
    }

    /// The memory of all tensors.
    pub(super) fn bufs<'a>(&self, ctx: &Ctx<'a>) -> Result<[Buf<'a>; 3], Error> {
        let mut bufs = [Buf::empty(); 3];
        for (buf, place) in bufs.iter_mut().zip(&self.places) {
            if let Some(place) = place {
                *buf = ctx.buf(place.arg)?;
            }
        }
        Ok(bufs)
    }

    /// Zeros where the result has channels that do not exist.
    pub(super) fn finish(&self, simd: Simd, ctx: &Ctx<'_>) -> Result<(), Error> {
        let padded = self.places[2].filter(|p| p.padded);
        if let Some(place) = padded {
            View::of(simd, ctx, place.arg)?.zero_padding();
        }
        Ok(())
    }
}

impl Place {
    fn of(arg: Arg, tensor: &Tensor, lanes: usize) -> Result<Place, Skip> {
        let unlike = || Skip::Layout(format!("of {arg}: neither channels nor pixels in vectors"));
        let (b, size, dims) = (tensor.blocking().ok_or_else(unlike)?, tensor.dtype.bits() / 8, tensor.dims());
        let pixel = support::pixel_distance(tensor).ok_or_else(unlike)?;
        let (how, channel) = match b.inner.iter().next() {
            Some(block) if b.inner.len() == 1 && block == (1, lanes as i64) => (Lanes::Channels, b.strides[1]),
            None if pixel == 1 && dims[1] == 1 => (Lanes::Pixels, 0),
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
