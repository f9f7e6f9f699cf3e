//! Shared by all passes: the sizes of a call, its tensors per head, and copies between the caller's containers and zero-padded rows.

use super::desc::{Attention, row};
use super::layout::{Extent, Kept, Work};
use super::sequences::Container;
use crate::exec::{Blend, Job};
use crate::handle::Handle;
use crate::loops::view::host;
use crate::pointers::{Data, host_bytes};
use crate::reduce::sum_to;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, Matmul};
use oxidnn_spec::{Arg, Dims, PostOp, Tensor};

/// A tensor and where it is.
pub(super) type At = (Tensor, Data);

/// A call of one of the passes. Lists are in the order queries, keys, values, output.
pub(super) struct Call<'a> {
    pub(super) handle: &'a Handle,
    pub(super) attention: &'a Attention,
    pub(super) extent: Extent,
    pub(super) containers: [&'a Container; 4],
    /// Of queries, and of keys.
    pub(super) lengths: [Vec<i64>; 2],
    kept: (Data, Kept),
    work: (Data, Work),
}

/// The lengths in device memory, if the host can read them, otherwise the descriptor's.
fn lengths(handle: &Handle, container: &Container, device: Data) -> Result<Vec<i64>, Failure> {
    let known = || container.lengths.iter().map(|&l| i64::from(l)).collect();
    if device.is_null() || !handle.engine().host_visible() {
        return Ok(known());
    }
    host(handle)?;
    let bytes = host_bytes(device, container.lengths.len() * size_of::<i32>());
    let given: Vec<i64> = bytes.chunks_exact(4).map(|b| i64::from(i32::from_ne_bytes([b[0], b[1], b[2], b[3]]))).collect();
    match given.iter().find(|l| !(0..=container.steps()).contains(*l)) {
        Some(wrong) => Err(Failure::invalid("lengths of sequences on the device", wrong, format_args!("0 to {}", container.steps()))),
        None => Ok(given),
    }
}

/// The sizes, checked against the descriptor and each other.
fn extent(a: &Attention, [q, k, v, o]: [&Container; 4]) -> Result<Extent, Failure> {
    let most = Extent::most(a);
    let keys = if a.one_to_one() { q.beam() } else { 1 };
    for (name, side, channels, beam, list) in [
        ("qDesc", q, a.sizes[0], q.beam(), 0),
        ("kDesc", k, a.sizes[1], keys, 1),
        ("vDesc", v, a.sizes[2], keys, 1),
        ("oDesc", o, a.outputs(), q.beam(), 0),
    ] {
        let steps = if list == 0 { q.steps() } else { k.steps() };
        let (got, wanted) = ([side.batch(), side.beam(), side.steps(), side.channels()], [q.batch(), beam, steps, channels]);
        if got != wanted || side.dtype != a.dtype {
            let what = format_args!("batch, beam, time, vector {got:?} of {}", side.dtype);
            return Err(Failure::shape(name, what, format_args!("{wanted:?} of {}", a.dtype)));
        }
    }
    let extent = Extent { batch: q.batch(), beams: [q.beam(), keys], steps: [q.steps(), k.steps()] };
    let fits = extent.batch <= most.batch && extent.beams[0] <= most.beams[0] && (0..2).all(|i| extent.steps[i] <= most.steps[i]);
    match fits {
        true => Ok(extent),
        false => Err(Failure::shape("sequences", format_args!("{extent:?}"), format_args!("at most {most:?} as attnDesc says"))),
    }
}

impl<'a> Call<'a> {
    /// A call over containers, whose lengths may be in device memory; for a single time-step of the queries, if requested.
    ///
    /// # Errors
    /// `BAD_PARAM` for descriptors that do not fit each other.
    pub(super) fn new(
        handle: &'a Handle,
        attention: &'a Attention,
        containers: [&'a Container; 4],
        device: [Data; 2],
        step: Option<i64>,
    ) -> Result<Call<'a>, Failure> {
        let mut extent = extent(attention, containers)?;
        let mut lengths = [lengths(handle, containers[0], device[0])?, lengths(handle, containers[1], device[1])?];
        if let Some(step) = step {
            if step >= extent.steps[0] {
                return Err(Failure::invalid("currIdx", step, format_args!("less than {} time-steps", extent.steps[0])));
            }
            extent.steps[0] = 1;
            lengths[0].iter_mut().for_each(|length| *length = i64::from(*length > step));
        }
        let (kept, work) = ((Data::NULL, Kept::new(attention, &extent)), (Data::NULL, Work::new(attention, &extent)));
        Ok(Call { handle, attention, extent, containers, lengths, kept, work })
    }

    /// The call with its buffers.
    pub(super) fn within(mut self, kept: Data, work: Data) -> Call<'a> {
        self.kept.0 = kept;
        self.work.0 = work;
        self
    }

    /// A place in the reserve space.
    pub(super) fn kept(&self, pick: impl Fn(&Kept) -> usize) -> Data {
        self.kept.0.behind(pick(&self.kept.1))
    }

    /// A place in the workspace of a pass.
    pub(super) fn work(&self, pick: impl Fn(&Work) -> usize) -> Data {
        self.work.0.behind(pick(&self.work.1))
    }

    /// `rows x columns`, row-major.
    pub(super) fn matrix(&self, rows: i64, columns: i64) -> Result<Tensor, Failure> {
        Ok(Tensor::plain([rows, columns], self.attention.real())?)
    }

    /// Rows of a side by heads: batch x beam x heads x time x channels of a head, in memory time x heads x channels. The beams are those of
    /// `beams`, which the gradients of keys have before they are summed.
    pub(super) fn heads(&self, side: usize, beams: usize) -> Result<Tensor, Failure> {
        let (e, a) = (&self.extent, self.attention);
        let (beams, steps, width) = (e.beams[beams], e.steps[Extent::list(side)], a.width(if side == 3 { 2 } else { side }));
        let row = a.heads * width;
        let strides = Dims::from([beams * steps * row, steps * row, width, row, 1]);
        Ok(Tensor::with_strides([e.batch, beams, a.heads, steps, width], a.real(), Some(strides))?)
    }

    /// Scores: batch x beam x heads x queries x keys.
    pub(super) fn scores(&self) -> Result<Tensor, Failure> {
        let e = &self.extent;
        Ok(Tensor::plain([e.batch, e.beams[0], self.attention.heads, e.steps[0], e.steps[1]], self.attention.real())?)
    }

    /// A scalar of the compute type, as a tensor of `rank` dimensions.
    pub(super) fn factor(&self, rank: usize) -> Result<(PostOp, crate::exec::Place), Failure> {
        let (one, value) = self.handle.scalar(self.attention.real(), rank, self.attention.scaler)?;
        Ok((PostOp::Binary { alg: BinaryAlg::Mul, src1: one, src2: None }, value.into()))
    }

    /// The weight buffer in the compute type.
    pub(super) fn weights(&self, data: Data) -> Result<Data, Failure> {
        let a = self.attention;
        if a.dtype == a.real() {
            return Ok(data);
        }
        let (count, at) = (a.weights().1, self.work(|w| w.weights));
        self.handle.combine((&row(count, a.dtype)?, data.into()), (&row(count, a.real())?, at.into()), Blend::PLAIN)?;
        Ok(at)
    }

    /// A weight or bias in that buffer, by `cudnnMultiHeadAttnWeightKind_t`.
    pub(super) fn weight(&self, buffer: Data, kind: usize) -> Option<Data> {
        let weight = self.attention.weights().0[kind]?;
        Some(buffer.behind(self.attention.real().bytes(weight.at as usize).unwrap_or(0)))
    }

    /// Copies a container to the rows of a side: batch x beam x time x vector, zero-padded.
    pub(super) fn gather(&self, side: usize, from: Data, to: Data) -> Result<At, Failure> {
        let container = self.containers[side];
        let theirs = container.tensor(self.extent.steps[Extent::list(side)])?;
        let ours = Tensor::plain(*theirs.dims(), self.attention.real())?;
        self.handle.combine((&theirs, from.into()), (&ours, to.into()), Blend::PLAIN)?;
        self.clear_padding(side, to)?;
        Ok((self.matrix(self.extent.rows(side), container.channels())?, to))
    }

    /// Copies the rows of a side to a container, with zeros as padding.
    pub(super) fn scatter(&self, side: usize, from: Data, to: Data) -> Result<(), Failure> {
        self.clear_padding(side, from)?;
        let theirs = self.containers[side].tensor(self.extent.steps[Extent::list(side)])?;
        let ours = Tensor::plain(*theirs.dims(), self.attention.real())?;
        self.handle.combine((&ours, from.into()), (&theirs, to.into()), Blend::PLAIN)
    }

    fn clear_padding(&self, side: usize, rows: Data) -> Result<(), Failure> {
        let (list, channels, real) = (Extent::list(side), self.containers[side].channels(), self.attention.real());
        let steps = self.extent.steps[list];
        for (n, &length) in self.lengths[list].iter().enumerate().filter(|(_, l)| **l < steps) {
            let first = ((n as i64 * steps + length) * channels) as usize;
            let behind = row((steps - length) * channels, real)?;
            self.handle.clear(&behind, rows.behind(real.bytes(first).unwrap_or(0)))?;
        }
        Ok(())
    }

    /// `to = blend(a b, to)` of matrices, or of matrices by heads.
    pub(super) fn multiply(&self, [a, b, to]: [At; 3]) -> Job {
        let op = Matmul { src: a.0, weights: b.0, bias: None, dst: to.0 };
        Job::new(op).arg(Arg::SRC, a.1).arg(Arg::WEIGHTS, b.1).arg(Arg::DST, to.1)
    }

    /// As [`Call::multiply`], scaled as scores are.
    pub(super) fn multiply_scaled(&self, operands: [At; 3]) -> Result<Job, Failure> {
        let (post_op, value) = self.factor(operands[2].0.dims().len())?;
        Ok(self.multiply(operands).post_op(post_op).arg(Arg::post_op(0, Arg::SRC_1), value))
    }

    /// Sums over the dimensions of size 1 in the result.
    pub(super) fn sum(&self, from: &At, to: &At) -> Result<(), Failure> {
        sum_to(self.handle, (&from.0, from.1).into(), (&to.0, to.1).into(), Blend::PLAIN)
    }

    /// Keeps this call's memory until the work is done.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        if self.handle.stream().is_synchronous() { Ok(()) } else { Ok(self.handle.stream().wait()?) }
    }
}

/// The transpose of a matrix, or of a batch of them.
pub(super) fn transposed(tensor: &Tensor) -> Result<Tensor, Failure> {
    let n = tensor.dims().len();
    let other = |d: usize| if d + 2 < n { d } else { 2 * n - 3 - d };
    let strides = tensor.blocking().map_or(*tensor.dims(), |b| b.strides);
    Ok(Tensor::with_strides(Dims::from_fn(n, |d| tensor.dims()[other(d)]), tensor.dtype, Some(Dims::from_fn(n, |d| strides[other(d)])))?)
}
