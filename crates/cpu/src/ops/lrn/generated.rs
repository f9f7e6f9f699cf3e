//! What windows of channels and of pixels share in their generated code.

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

/// Plans a normalisation by the kernel that `made` makes for a number of workers; `space` gives the scratch of each.
///
/// # Errors
/// Problems that `made` declines.
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

/// What the lanes of a vector are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lanes {
    Channels,
    Pixels,
}

/// A tensor; strides in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) arg: Arg,
    pub(super) lanes: Lanes,
    start: usize,
    pub(super) image: usize,
    pub(super) pixel: usize,
    /// The stride of vectors of channels, or of channels.
    pub(super) channel: usize,
    /// Whether the last block has padding channels.
    pub(super) padded: bool,
}

/// The formula of a problem, and the strides of its tensors.
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

/// The kernels: squares; sums along height and width, if windows have several dimensions; powers, for any numbers and for numbers in the
/// usual range; the last pass of a gradient.
pub(super) struct Code {
    pub(super) squares: Responses,
    pub(super) powers: [Responses; 2],
    pub(super) combine: Option<Responses>,
}

impl Formula {
    /// The formula for windows of `window` elements.
    ///
    /// # Errors
    /// [`Skip`] for types, layouts and exponents without generated code.
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

    /// The channels to compute: forward also padding channels, if all tensors have them. Backward their terms may be NaN.
    pub(super) fn channels(&self, count: usize) -> usize {
        let padded = self.is_forward() && self.places.iter().flatten().all(|p| p.padded);
        if padded { count.next_multiple_of(self.lanes()) } else { count }
    }

    /// Refuses masks where the processor has none.
    pub(super) fn check_masks(&self, masked: bool) -> Result<(), Skip> {
        let narrow = masked && !self.jit.avx512 && self.elem != Elem::F32;
        if narrow { Err(Skip::Shape("parts of vectors of narrow numbers")) } else { Ok(()) }
    }

    /// Whether all bases of powers are in the usual range, far from the ends of f32, given the sum of all squares: no base is below `k` or
    /// above `k` plus that sum. NaN is not in the range.
    pub(super) fn is_usual(&self, total: f32) -> bool {
        let [share, k, _] = self.numbers;
        k > USUAL.0 && share >= 0.0 && k + share * total < USUAL.1
    }

    /// A kernel for windows of `window` elements.
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

    /// Writes zeros to the result's padding channels.
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
