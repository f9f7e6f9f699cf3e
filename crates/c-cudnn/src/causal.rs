//! Causal depthwise convolutions of sequences: padded at the beginning only.

use crate::enums::*;
use crate::exec::{Blend, Job};
use crate::handle::Handle;
use crate::pointers::{Data, Out};
use crate::reduce::sum_to;
use crate::status::{Failure, Status, guard};
use crate::values;
use oxidnn_spec::op::{Conv, ConvAlg, Diff, Eltwise, EltwiseAlg, Prop, Window};
use oxidnn_spec::{Arg, DataType, Dims, Tensor};

/// Sizes of a call, and the layouts of its tensors.
pub(crate) struct Causal {
    pub(crate) data: Tensor,
    pub(crate) weights: Tensor,
    bias: Tensor,
    kernel: i64,
    silu: bool,
    handle: &'static Handle,
}

impl Causal {
    /// For `[batch, dim, length, kernel]` on a stream; `last`: channels last.
    pub(crate) fn new(stream: Data, sizes: [i32; 4], dtype: i32, activation: i32, last: bool) -> Result<Causal, Failure> {
        let [n, c, l, k] = sizes.map(i64::from);
        if let Some((name, size)) = ["batch", "dim", "seqLen", "kernelSize"].into_iter().zip([n, c, l, k]).find(|s| s.1 < 1) {
            return Err(Failure::invalid(name, size, "at least 1"));
        }
        let dtype = values::data_type("dataType", dtype)?;
        if !matches!(dtype, DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16) {
            return Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, format_args!("dataType: {dtype}, expected a real type")));
        }
        let silu = values::check("activation", "cudnnCausalConv1dActivation_t", activation)? == CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU;
        let strides = |first: Dims, last_: Dims| Some(if last { last_ } else { first });
        let data = Tensor::with_strides([n, c, l], dtype, strides([c * l, l, 1].into(), [c * l, 1, c].into()))?;
        let weights = Tensor::with_strides([c, 1, 1, k], dtype, strides([k, k, k, 1].into(), [1, 1, 1, c].into()))?;
        Ok(Causal { data, weights, bias: Tensor::plain([c], dtype)?, kernel: k, silu, handle: Handle::of_stream(stream)? })
    }

    pub(crate) fn conv(&self, prop: Prop, weights: Tensor, bias: Option<Tensor>) -> Conv {
        let one = |v: i64| Dims::from([v]);
        let window = Window { strides: one(1), dilations: one(0), padding_l: one(self.kernel - 1), padding_r: one(0) };
        Conv::new(prop, ConvAlg::Direct, [self.data.clone(), weights, self.data.clone()], bias, window)
    }

    fn forward(&self, [x, weight, bias]: [Data; 3]) -> Result<Job, Failure> {
        let op = self.conv(Prop::ForwardInference, self.weights.clone(), Some(self.bias.clone()));
        let job = Job::new(op).arg(Arg::SRC, x.some("x")?).arg(Arg::WEIGHTS, weight.some("weight")?);
        Ok(job.arg(Arg::BIAS, bias.some("bias")?))
    }

    /// The activated convolution.
    fn run(&self, given: [Data; 3], y: Data) -> Result<(), Failure> {
        let job = self.forward(given)?.arg(Arg::DST, y.some("y")?);
        if self.silu { job.eltwise(EltwiseAlg::Swish, 1.0, 0.0).run(self.handle) } else { job.run(self.handle) }
    }

    /// The gradients: that of `x` overwrites; those of weights and bias, of type `number`, accumulate.
    fn backward(&self, given: [Data; 3], dy: Data, [dx, dweight, dbias]: [Data; 3], number: i32) -> Result<(), Failure> {
        let (handle, dtype) = (self.handle, values::data_type("dwDataType", number)?);
        let wide = if self.data.dtype == DataType::F64 { DataType::F64 } else { DataType::F32 };
        if dtype != wide {
            return Err(Failure::invalid("dwDataType", dtype, wide));
        }
        let data = &self.data;
        let mut given_dy = dy.some("dy")?;
        let held = [handle.temporary(data)?, handle.temporary(data)?];
        if self.silu {
            self.forward(given)?.arg(Arg::DST, held[0].view(data.clone())?).run(handle)?;
            let op = Eltwise::backward(EltwiseAlg::Swish, [1.0, 0.0], data.clone(), Diff { src: data.clone(), dst: data.clone() });
            let job = Job::new(op).arg(Arg::SRC, held[0].view(data.clone())?).arg(Arg::DIFF_DST, given_dy);
            job.arg(Arg::DIFF_SRC, held[1].view(data.clone())?).run(handle)?;
            given_dy = Data::of(&held[1]);
        }
        let op = self.conv(Prop::BackwardData, self.weights.clone(), None);
        Job::new(op).arg(Arg::DIFF_DST, given_dy).arg(Arg::WEIGHTS, given[1]).arg(Arg::DIFF_SRC, dx.some("dx")?).run(handle)?;
        let add = Blend { alpha: 1.0, beta: 1.0 };
        let op = self.conv(Prop::BackwardWeights, Tensor { dtype, layout: self.weights.layout.clone() }, None);
        let job = Job::new(op).arg(Arg::SRC, given[0]).arg(Arg::DIFF_DST, given_dy).arg(Arg::DIFF_WEIGHTS, dweight.some("dweight")?);
        job.blend(add).run(handle)?;
        let sums = Tensor::plain([1, self.data.dims()[1], 1], dtype)?;
        sum_to(handle, (data, given_dy).into(), (&sums, dbias.some("dbias")?).into(), add)?;
        Ok(handle.stream().wait()?)
    }
}

/// The same with the taps of a filter in reverse order (from the present to the past), as in the FFT functions. The sums are the same, computed directly: with
/// padding at the end, the gradient of a convolution runs into the past.
struct Reversed(Causal);

impl Reversed {
    fn new(stream: Data, sizes: [i32; 4], dtype: i32) -> Result<Reversed, Failure> {
        Ok(Reversed(Causal::new(stream, sizes, dtype, CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY, false)?))
    }

    fn conv(&self, prop: Prop) -> Conv {
        let mut conv = self.0.conv(prop, self.0.weights.clone(), None);
        std::mem::swap(&mut conv.window.padding_l, &mut conv.window.padding_r);
        conv
    }

    fn forward(&self, [x, weight, y]: [Data; 3]) -> Result<(), Failure> {
        let job = Job::new(self.conv(Prop::BackwardData)).arg(Arg::DIFF_DST, x.some("x")?).arg(Arg::WEIGHTS, weight.some("weight")?);
        job.arg(Arg::DIFF_SRC, y.some("y")?).run(self.0.handle)
    }

    fn backward(&self, [x, weight, dy]: [Data; 3], [dx, dweight]: [Data; 2]) -> Result<(), Failure> {
        let dy = dy.some("dy")?;
        let job = Job::new(self.conv(Prop::ForwardInference)).arg(Arg::SRC, dy).arg(Arg::WEIGHTS, weight.some("weight")?);
        job.arg(Arg::DST, dx.some("dx")?).run(self.0.handle)?;
        let job = Job::new(self.conv(Prop::BackwardWeights)).arg(Arg::SRC, dy).arg(Arg::DIFF_DST, x.some("x")?);
        job.arg(Arg::DIFF_WEIGHTS, dweight.some("dweight")?).run(self.0.handle)
    }

    /// The operands that the long variant stores for its gradients: source and filter, consecutively.
    fn kept(&self) -> usize {
        self.0.data.bytes() + self.0.weights.bytes()
    }

    /// The places of both.
    fn reserve(&self, data: Data, bytes: usize) -> Result<[Data; 2], Failure> {
        match bytes >= self.kept() {
            true => Ok([data.some("reserveSpace")?, data.behind(self.0.data.bytes())]),
            false => Err(Failure::small("reserveSpaceSizeInBytes", bytes, self.kept())),
        }
    }
}

/// `cudnnCausalConv1dForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCausalConv1dForward(
    stream: Data,
    x: Data,
    weight: Data,
    bias: Data,
    y: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
    activation: i32,
) -> Status {
    guard("cudnnCausalConv1dForward", || {
        let causal = Causal::new(stream, [batch, dim, seq_len, kernel_size], data_type, activation, false)?;
        causal.run([x, weight, bias], y)
    })
}

/// `cudnnCausalConv1dBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCausalConv1dBackward(
    stream: Data,
    x: Data,
    weight: Data,
    bias: Data,
    dy: Data,
    dx: Data,
    dweight: Data,
    dbias: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
    dw_data_type: i32,
    activation: i32,
) -> Status {
    guard("cudnnCausalConv1dBackward", || {
        let causal = Causal::new(stream, [batch, dim, seq_len, kernel_size], data_type, activation, false)?;
        causal.backward([x, weight, bias], dy, [dx, dweight, dbias], dw_data_type)
    })
}

/// `cudnnCausalConv1dNwhForward`: channels last.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCausalConv1dNwhForward(
    stream: Data,
    x: Data,
    weight: Data,
    bias: Data,
    y: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
    activation: i32,
) -> Status {
    guard("cudnnCausalConv1dNwhForward", || {
        let causal = Causal::new(stream, [batch, dim, seq_len, kernel_size], data_type, activation, true)?;
        causal.run([x, weight, bias], y)
    })
}

/// `cudnnCausalConv1dNwhBackward`: channels last.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCausalConv1dNwhBackward(
    stream: Data,
    x: Data,
    weight: Data,
    bias: Data,
    dy: Data,
    dx: Data,
    dweight: Data,
    dbias: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
    dw_data_type: i32,
    activation: i32,
) -> Status {
    guard("cudnnCausalConv1dNwhBackward", || {
        let causal = Causal::new(stream, [batch, dim, seq_len, kernel_size], data_type, activation, true)?;
        causal.backward([x, weight, bias], dy, [dx, dweight, dbias], dw_data_type)
    })
}

/// `cudnnFFTCausalConv1dForward`: computed directly, for kernels of any size.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFFTCausalConv1dForward(
    stream: Data,
    x: Data,
    weight: Data,
    y: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
) -> Status {
    guard("cudnnFFTCausalConv1dForward", || Reversed::new(stream, [batch, dim, seq_len, kernel_size], data_type)?.forward([x, weight, y]))
}

/// `cudnnFFTCausalConv1dBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFFTCausalConv1dBackward(
    stream: Data,
    x: Data,
    weight: Data,
    dy: Data,
    dx: Data,
    dweight: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
) -> Status {
    guard("cudnnFFTCausalConv1dBackward", || {
        Reversed::new(stream, [batch, dim, seq_len, kernel_size], data_type)?.backward([x, weight, dy], [dx, dweight])
    })
}

/// `cudnnLongFFTCausalConv1dGetBufferSizes`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnLongFFTCausalConv1dGetBufferSizes(
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
    workspace_size_in_bytes: Out<'_, usize>,
    reserve_space_size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnLongFFTCausalConv1dGetBufferSizes", || {
        let causal = Reversed::new(Data::NULL, [batch, dim, seq_len, kernel_size], data_type)?;
        workspace_size_in_bytes.set("workspaceSizeInBytes", 0)?;
        reserve_space_size_in_bytes.set("reserveSpaceSizeInBytes", causal.kept())
    })
}

/// `cudnnLongFFTCausalConv1dForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnLongFFTCausalConv1dForward(
    stream: Data,
    x: Data,
    weight: Data,
    y: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
    _workspace: Data,
    _workspace_size_in_bytes: usize,
    reserve_space: Data,
    reserve_space_size_in_bytes: usize,
) -> Status {
    guard("cudnnLongFFTCausalConv1dForward", || {
        let causal = Reversed::new(stream, [batch, dim, seq_len, kernel_size], data_type)?;
        let kept = causal.reserve(reserve_space, reserve_space_size_in_bytes)?;
        causal.forward([x, weight, y])?;
        let parts = [(&causal.0.data, x, kept[0]), (&causal.0.weights, weight, kept[1])];
        parts
            .into_iter()
            .try_for_each(|(tensor, from, to)| causal.0.handle.combine((tensor, from.into()), (tensor, to.into()), Blend::PLAIN))
    })
}

/// `cudnnLongFFTCausalConv1dBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnLongFFTCausalConv1dBackward(
    stream: Data,
    dy: Data,
    dx: Data,
    dweight: Data,
    batch: i32,
    dim: i32,
    seq_len: i32,
    kernel_size: i32,
    data_type: i32,
    _workspace: Data,
    _workspace_size_in_bytes: usize,
    reserve_space: Data,
    reserve_space_size_in_bytes: usize,
) -> Status {
    guard("cudnnLongFFTCausalConv1dBackward", || {
        let causal = Reversed::new(stream, [batch, dim, seq_len, kernel_size], data_type)?;
        let [x, weight] = causal.reserve(reserve_space, reserve_space_size_in_bytes)?;
        causal.backward([x, weight, dy], [dx, dweight])
    })
}
