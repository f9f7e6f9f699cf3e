//! Two causal convolutions with gates around the second, as in Hyena operators. With the three channels `p0, p1, p2` of the first one's result,
//!
//! ```text
//! z = p1 * p2        y = mixer(z) + skip * z        gated = y * p0
//! ```
//!
//! Computed in single precision, or in double precision for doubles.

use crate::causal::Causal;
use crate::enums::*;
use crate::exec::{Blend, Job};
use crate::handle::Handle;
use crate::pointers::Data;
use crate::reduce::sum_to;
use crate::status::{Failure, Status, guard};
use crate::values;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Binary, BinaryAlg, Prop};
use oxidnn_spec::{Arg, DataType, Dims, Tensor};

/// A tensor and where it is.
type At = (Tensor, Data);

/// The weights of both convolutions, and the factor of the bypass around the second.
#[derive(Clone, Copy)]
struct Weights {
    projection: Data,
    mixer: Data,
    skip: Data,
}

/// Sizes of a call, and the layouts of its tensors in the computation.
struct Chained {
    handle: &'static Handle,
    first: Causal,
    second: Causal,
    dtype: DataType,
    wide: DataType,
}

/// The operands of a convolution.
#[derive(Clone, Copy)]
struct Pair<'a> {
    causal: &'a Causal,
    weights: &'a At,
}

impl Pair<'_> {
    /// `to = conv(from)`, or the gradient of its source.
    fn run(self, handle: &Handle, prop: Prop, from: Data, to: Data) -> Result<(), Failure> {
        let (given, wanted) = if prop == Prop::BackwardData { (Arg::DIFF_DST, Arg::DIFF_SRC) } else { (Arg::SRC, Arg::DST) };
        let op = self.causal.conv(prop, self.weights.0.clone(), None);
        Job::new(op).arg(given, from).arg(Arg::WEIGHTS, self.weights.1).arg(wanted, to).run(handle)
    }
}

impl Chained {
    /// Of `[batch, dim, length]` and the sizes of both kernels, on a stream.
    fn new(stream: Data, [batch, dim, length]: [i32; 3], kernels: [i32; 2], number: i32) -> Result<Chained, Failure> {
        let dtype = values::data_type("dataType", number)?;
        let wide = if dtype == DataType::F64 { CUDNN_DATA_DOUBLE } else { CUDNN_DATA_FLOAT };
        let channels = dim.checked_mul(3).ok_or_else(|| Failure::invalid("dim", dim, "a third of a number of 31 bits"))?;
        let of = |channels, kernel| {
            Causal::new(stream, [batch, channels, length, kernel], number, CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY, false)
        };
        // The sizes are checked with the given type, and again with the compute type.
        of(channels, kernels[0])?;
        let of =
            |channels, kernel| Causal::new(stream, [batch, channels, length, kernel], wide, CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY, false);
        let (first, second) = (of(channels, kernels[0])?, of(dim, kernels[1])?);
        let wide = first.data.dtype;
        Ok(Chained { handle: Handle::of_stream(stream)?, first, second, dtype, wide })
    }

    /// A tensor of the caller's in the compute type: itself, or a copy, which is kept in `held`.
    fn widened(&self, tensor: &Tensor, data: Data, held: &mut Vec<Memory<'static>>) -> Result<At, Failure> {
        if self.dtype == self.wide {
            return Ok((tensor.clone(), data));
        }
        let copy = self.temporary(tensor, held)?;
        let given = Tensor { dtype: self.dtype, layout: tensor.layout.clone() };
        self.handle.combine((&given, data.into()), (tensor, copy.into()), Blend::PLAIN)?;
        Ok((tensor.clone(), copy))
    }

    fn temporary(&self, tensor: &Tensor, held: &mut Vec<Memory<'static>>) -> Result<Data, Failure> {
        let memory = self.handle.temporary(tensor)?;
        let data = Data::of(&memory);
        held.push(memory);
        Ok(data)
    }

    /// One of the three channels of the first convolution's result.
    fn channel(&self, projected: Data, index: i64) -> Result<At, Failure> {
        let [n, c, l] = [self.second.data.dims()[0], self.second.data.dims()[1], self.second.data.dims()[2]];
        let tensor = Tensor::with_strides([n, c, l], self.wide, Some(Dims::from([3 * c * l, 3 * l, 1])))?;
        Ok((tensor, projected.behind(self.wide.bytes((index * l) as usize).unwrap_or(0))))
    }

    fn skip(&self) -> Result<Tensor, Failure> {
        Ok(Tensor::plain([1, self.second.data.dims()[1], 1], self.wide)?)
    }

    /// `to = a * b + beta * to`.
    fn multiply(&self, a: &At, b: &At, to: &At, beta: f64) -> Result<(), Failure> {
        let op = Binary { alg: BinaryAlg::Mul, src0: a.0.clone(), src1: b.0.clone(), src2: None, dst: to.0.clone() };
        let job = Job::new(op).arg(Arg::SRC, a.1).arg(Arg::SRC_1, b.1).arg(Arg::DST, to.1);
        job.blend(Blend { alpha: 1.0, beta }).run(self.handle)
    }

    /// The weights in the compute type, skip last.
    fn weights(&self, given: Weights, held: &mut Vec<Memory<'static>>) -> Result<[At; 3], Failure> {
        Ok([
            self.widened(&self.first.weights, given.projection.some("weightsProj")?, held)?,
            self.widened(&self.second.weights, given.mixer.some("weightsMixer")?, held)?,
            self.widened(&self.skip()?, given.skip.some("skipBias")?, held)?,
        ])
    }

    /// The first convolution's result, and `z`.
    fn gated(&self, x: Data, weights: &At, held: &mut Vec<Memory<'static>>) -> Result<(Data, At), Failure> {
        let projected = self.temporary(&self.first.data, held)?;
        Pair { causal: &self.first, weights }.run(self.handle, Prop::ForwardInference, x, projected)?;
        let z = (self.second.data.clone(), self.temporary(&self.second.data, held)?);
        self.multiply(&self.channel(projected, 1)?, &self.channel(projected, 2)?, &z, 0.0)?;
        Ok((projected, z))
    }

    fn forward(&self, x: Data, weights: Weights, [y, gated]: [Data; 2]) -> Result<(), Failure> {
        let (mut held, handle) = (Vec::new(), self.handle);
        let (_, x) = self.widened(&self.first.data, x.some("x")?, &mut held)?;
        let [projection, mixer, skip] = self.weights(weights, &mut held)?;
        let (projected, z) = self.gated(x, &projection, &mut held)?;
        let sum = (self.second.data.clone(), self.temporary(&self.second.data, &mut held)?);
        Pair { causal: &self.second, weights: &mixer }.run(handle, Prop::ForwardInference, z.1, sum.1)?;
        self.multiply(&z, &skip, &sum, 1.0)?;
        let narrow = Tensor { dtype: self.dtype, layout: self.second.data.layout.clone() };
        handle.combine((&sum.0, sum.1.into()), (&narrow, y.some("y")?.into()), Blend::PLAIN)?;
        self.multiply(&sum, &self.channel(projected, 0)?, &sum, 0.0)?;
        handle.combine((&sum.0, sum.1.into()), (&narrow, gated.some("yGated")?.into()), Blend::PLAIN)?;
        Ok(handle.stream().wait()?)
    }

    /// The gradients of `x` and, in single or double precision, of the weights; all overwrite.
    fn backward(&self, [x, y, dy]: [Data; 3], weights: Weights, dx: Data, gradients: Weights) -> Result<(), Failure> {
        let (mut held, handle) = (Vec::new(), self.handle);
        let (_, x) = self.widened(&self.first.data, x.some("x")?, &mut held)?;
        let y = self.widened(&self.second.data, y.some("y")?, &mut held)?;
        let dy = self.widened(&self.second.data, dy.some("dy")?, &mut held)?;
        let [projection, mixer, skip] = self.weights(weights, &mut held)?;
        let (projected, z) = self.gated(x, &projection, &mut held)?;
        let part =
            |held: &mut Vec<Memory<'static>>| Ok::<At, Failure>((self.second.data.clone(), self.temporary(&self.second.data, held)?));
        let (inner, dz, sums) = (part(&mut held)?, part(&mut held)?, part(&mut held)?);
        let dprojected = self.temporary(&self.first.data, &mut held)?;
        self.multiply(&dy, &self.channel(projected, 0)?, &inner, 0.0)?;
        self.multiply(&dy, &y, &self.channel(dprojected, 0)?, 0.0)?;
        Pair { causal: &self.second, weights: &mixer }.run(handle, Prop::BackwardData, inner.1, dz.1)?;
        self.multiply(&inner, &skip, &dz, 1.0)?;
        self.multiply(&dz, &self.channel(projected, 2)?, &self.channel(dprojected, 1)?, 0.0)?;
        self.multiply(&dz, &self.channel(projected, 1)?, &self.channel(dprojected, 2)?, 0.0)?;
        self.multiply(&inner, &z, &sums, 0.0)?;
        let (of_skip, to) = (self.skip()?, gradients.skip.some("dskipBias")?);
        sum_to(handle, (&sums.0, sums.1).into(), (&of_skip, to).into(), Blend::PLAIN)?;
        self.by_weights(&self.second, [z.1, inner.1, gradients.mixer.some("dweightsMixer")?])?;
        self.by_weights(&self.first, [x, dprojected, gradients.projection.some("dweightsProj")?])?;
        let (given, dx) = (Tensor { dtype: self.dtype, layout: self.first.data.layout.clone() }, dx.some("dx")?);
        let wide = if self.dtype == self.wide { dx } else { self.temporary(&self.first.data, &mut held)? };
        Pair { causal: &self.first, weights: &projection }.run(handle, Prop::BackwardData, dprojected, wide)?;
        if self.dtype != self.wide {
            handle.combine((&self.first.data, wide.into()), (&given, dx.into()), Blend::PLAIN)?;
        }
        Ok(handle.stream().wait()?)
    }

    fn by_weights(&self, causal: &Causal, [src, diff, to]: [Data; 3]) -> Result<(), Failure> {
        let op = causal.conv(Prop::BackwardWeights, causal.weights.clone(), None);
        Job::new(op).arg(Arg::SRC, src).arg(Arg::DIFF_DST, diff).arg(Arg::DIFF_WEIGHTS, to).run(self.handle)
    }
}

/// `cudnnB2BCausalConv1dForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnB2BCausalConv1dForward(
    stream: Data,
    x: Data,
    weights_proj: Data,
    weights_mixer: Data,
    skip_bias: Data,
    y: Data,
    y_gated: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size_proj: i32,
    kernel_size_mixer: i32,
    data_type: i32,
) -> Status {
    guard("cudnnB2BCausalConv1dForward", || {
        let chained = Chained::new(stream, [batch, dim, seq_len], [kernel_size_proj, kernel_size_mixer], data_type)?;
        chained.forward(x, Weights { projection: weights_proj, mixer: weights_mixer, skip: skip_bias }, [y, y_gated])
    })
}

/// `cudnnB2BCausalConv1dBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnB2BCausalConv1dBackward(
    stream: Data,
    x: Data,
    weights_proj: Data,
    weights_mixer: Data,
    skip_bias: Data,
    y: Data,
    dy: Data,
    dx: Data,
    dweights_proj: Data,
    dweights_mixer: Data,
    dskip_bias: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size_proj: i32,
    kernel_size_mixer: i32,
    data_type: i32,
    dw_data_type: i32,
) -> Status {
    guard("cudnnB2BCausalConv1dBackward", || {
        let chained = Chained::new(stream, [batch, dim, seq_len], [kernel_size_proj, kernel_size_mixer], data_type)?;
        let wanted = values::data_type("dwDataType", dw_data_type)?;
        if wanted != chained.wide {
            return Err(Failure::invalid("dwDataType", wanted, chained.wide));
        }
        let weights = Weights { projection: weights_proj, mixer: weights_mixer, skip: skip_bias };
        let gradients = Weights { projection: dweights_proj, mixer: dweights_mixer, skip: dskip_bias };
        chained.backward([x, y, dy], weights, dx, gradients)
    })
}
