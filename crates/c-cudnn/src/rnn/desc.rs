//! RNN descriptors.

use crate::dropout::DropoutDesc;
use crate::enums::*;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::values;
use oxidnn_spec::DataType;

/// The object behind a `cudnnRNNDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct RnnDesc {
    set: Option<Network>,
    /// The clipping last set, which also applies to networks described later.
    clip: Clip,
}

/// A network as the caller described it.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    algo: i32,
    /// `cudnnRNNMode_t`.
    pub(crate) cell: i32,
    /// `cudnnRNNBiasMode_t`.
    pub(crate) bias: i32,
    pub(crate) bidirectional: bool,
    input_mode: i32,
    number: i32,
    /// The type of data and weights.
    pub(crate) dtype: DataType,
    precision: i32,
    math: i32,
    pub(crate) input: i64,
    pub(crate) hidden: i64,
    /// Channels of the hidden state: fewer than `hidden` if there is a projection.
    pub(crate) projected: i64,
    pub(crate) layers: i64,
    pub(crate) dropout: Option<DropoutDesc>,
    dropout_at: Data,
    flags: u32,
    clip: Clip,
}

#[derive(Clone, Copy, Debug)]
struct Clip {
    mode: i32,
    nan: i32,
    low: f64,
    high: f64,
}

impl Default for Clip {
    fn default() -> Clip {
        Clip { mode: CUDNN_RNN_CLIP_NONE, nan: CUDNN_NOT_PROPAGATE_NAN, low: 0.0, high: 0.0 }
    }
}

/// Limit on the weights of a network, and on the elements of a call.
pub(super) const MOST_NUMBERS: i128 = 1 << 48;
/// Limit on the layers of a network.
const MOST_LAYERS: i64 = 1 << 12;

impl Owned for RnnDesc {}

impl RnnDesc {
    /// The network.
    ///
    /// # Errors
    /// `BAD_PARAM` if the descriptor was never set.
    pub(crate) fn network(&self) -> Result<&Network, Failure> {
        self.set.as_ref().ok_or_else(|| Failure::invalid("rnnDesc", "a descriptor that was never set", "one that describes a network"))
    }

    fn set_clip(&mut self, clip: Clip) -> Result<(), Failure> {
        if clip.mode == CUDNN_RNN_CLIP_MINMAX && (clip.low > clip.high || clip.low.is_nan() || clip.high.is_nan()) {
            return Err(Failure::invalid("lclip and rclip", format_args!("{} and {}", clip.low, clip.high), "a lower and an upper bound"));
        }
        self.clip = clip;
        if let Some(network) = &mut self.set {
            network.clip = clip;
        }
        Ok(())
    }

    /// The network, if oxidnn supports it.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` if oxidnn does not support it.
    pub(crate) fn computable(&self) -> Result<&Network, Failure> {
        let network = self.network()?;
        match network.dtype {
            DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16 => Ok(network),
            other => {
                Err(Failure::unsupported(format_args!("recurrent networks of {other}: use CUDNN_DATA_FLOAT, DOUBLE, HALF or BFLOAT16")))
            }
        }
    }
}

impl Network {
    /// The compute type.
    pub(crate) fn real(&self) -> DataType {
        if self.dtype == DataType::F64 { DataType::F64 } else { DataType::F32 }
    }

    /// Whether the layer's gates use its input without a matrix (`CUDNN_SKIP_INPUT`, first layer only).
    pub(crate) fn skips(&self, layer: i64) -> bool {
        layer == 0 && self.input_mode == CUDNN_SKIP_INPUT
    }

    /// Bounds to which an LSTM's cell state is clipped, if any, and whether NaN passes through.
    pub(crate) fn bounds(&self) -> Option<(f64, f64, bool)> {
        let clips = self.cell == CUDNN_LSTM && self.clip.mode == CUDNN_RNN_CLIP_MINMAX;
        clips.then_some((self.clip.low, self.clip.high, self.clip.nan == CUDNN_PROPAGATE_NAN))
    }

    /// Whether host loops compute it instead of the primitive.
    pub(crate) fn by_loops(&self) -> bool {
        self.dtype == DataType::F64 || self.bounds().is_some()
    }

    /// `cudnnDataType_t` of data and weights.
    pub(crate) fn number(&self) -> i32 {
        self.number
    }

    /// Directions.
    pub(crate) fn directions(&self) -> i64 {
        if self.bidirectional { 2 } else { 1 }
    }

    /// Gates: so many matrices on the input, and as many on the hidden state.
    pub(crate) fn gates(&self) -> i64 {
        match self.cell {
            CUDNN_LSTM => 4,
            CUDNN_GRU => 3,
            _ => 1,
        }
    }

    /// Input channels of a layer.
    pub(crate) fn inputs(&self, layer: i64) -> i64 {
        if layer == 0 { self.input } else { self.outputs() }
    }

    /// Output channels of a layer.
    pub(crate) fn outputs(&self) -> i64 {
        self.projected * self.directions()
    }

    /// Refuses networks whose sizes in bytes overflow 64 bits.
    fn check_size(&self) -> Result<(), Failure> {
        let wide = |n: i64| i128::from(n);
        let columns = wide(self.input.max(self.outputs())) + wide(self.projected) + wide(self.hidden) + 2;
        let numbers = wide(self.layers) * wide(self.directions()) * wide(self.gates()) * wide(self.hidden) * columns;
        match numbers <= MOST_NUMBERS && self.layers <= MOST_LAYERS {
            true => Ok(()),
            false => Err(Failure::unsupported(format_args!("networks of more than {MOST_LAYERS} layers or 2^48 weights"))),
        }
    }

    /// Whether the hidden state of an LSTM is projected.
    pub(crate) fn projects(&self) -> bool {
        self.cell == CUDNN_LSTM && self.projected < self.hidden
    }

    /// The probability of dropout between layers.
    pub(crate) fn dropped(&self) -> f32 {
        self.dropout.map_or(0.0, |d| d.probability)
    }
}

/// `cudnnCreateRNNDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateRNNDescriptor(rnn_desc: New<'_, RnnDesc>) -> Status {
    guard("cudnnCreateRNNDescriptor", || rnn_desc.own("rnnDesc", || Ok(RnnDesc::default())))
}

/// `cudnnDestroyRNNDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyRNNDescriptor(desc: pointers::Handle<RnnDesc>) -> Status {
    guard("cudnnDestroyRNNDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetRNNDescriptor_v8`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetRNNDescriptor_v8(
    rnn_desc: InOut<'_, RnnDesc>,
    algo: i32,
    cell_mode: i32,
    bias_mode: i32,
    dir_mode: i32,
    input_mode: i32,
    data_type: i32,
    math_prec: i32,
    math_type: i32,
    input_size: i32,
    hidden_size: i32,
    proj_size: i32,
    num_layers: i32,
    dropout_desc: In<'_, DropoutDesc>,
    aux_flags: u32,
) -> Status {
    guard("cudnnSetRNNDescriptor_v8", || {
        values::check("algo", "cudnnRNNAlgo_t", algo)?;
        values::check("cellMode", "cudnnRNNMode_t", cell_mode)?;
        values::check("biasMode", "cudnnRNNBiasMode_t", bias_mode)?;
        values::check("dirMode", "cudnnDirectionMode_t", dir_mode)?;
        values::check("inputMode", "cudnnRNNInputMode_t", input_mode)?;
        values::check("mathPrec", "cudnnDataType_t", math_prec)?;
        values::check("mathType", "cudnnMathType_t", math_type)?;
        let dtype = values::data_type("dataType", data_type)?;
        for (name, size) in [("inputSize", input_size), ("hiddenSize", hidden_size), ("numLayers", num_layers)] {
            if size < 1 {
                return Err(Failure::invalid(name, size, "at least 1"));
            }
        }
        if proj_size < 0 || proj_size > hidden_size || (cell_mode != CUDNN_LSTM && proj_size != 0 && proj_size != hidden_size) {
            return Err(Failure::invalid("projSize", proj_size, format_args!("hiddenSize {hidden_size}, or less for an LSTM")));
        }
        if input_mode == CUDNN_SKIP_INPUT && input_size != hidden_size {
            return Err(Failure::invalid("inputSize", input_size, format_args!("hiddenSize {hidden_size} with CUDNN_SKIP_INPUT")));
        }
        let projected = i64::from(if proj_size == 0 { hidden_size } else { proj_size });
        let network = Network {
            algo,
            cell: cell_mode,
            bias: bias_mode,
            bidirectional: dir_mode == CUDNN_BIDIRECTIONAL,
            input_mode,
            number: data_type,
            dtype,
            precision: math_prec,
            math: math_type,
            input: i64::from(input_size),
            hidden: i64::from(hidden_size),
            projected,
            layers: i64::from(num_layers),
            dropout: dropout_desc.optional().copied(),
            dropout_at: dropout_desc.address(),
            flags: aux_flags,
            clip: Clip::default(),
        };
        network.check_size()?;
        let desc = rnn_desc.get("rnnDesc")?;
        desc.set = Some(Network { clip: desc.clip, ..network });
        Ok(())
    })
}

/// `cudnnGetRNNDescriptor_v8`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetRNNDescriptor_v8(
    rnn_desc: In<'_, RnnDesc>,
    algo: Out<'_, i32>,
    cell_mode: Out<'_, i32>,
    bias_mode: Out<'_, i32>,
    dir_mode: Out<'_, i32>,
    input_mode: Out<'_, i32>,
    data_type: Out<'_, i32>,
    math_prec: Out<'_, i32>,
    math_type: Out<'_, i32>,
    input_size: Out<'_, i32>,
    hidden_size: Out<'_, i32>,
    proj_size: Out<'_, i32>,
    num_layers: Out<'_, i32>,
    dropout_desc: Out<'_, Data>,
    aux_flags: Out<'_, u32>,
) -> Status {
    guard("cudnnGetRNNDescriptor_v8", || {
        let network = rnn_desc.get("rnnDesc")?.network()?;
        algo.set_optional(network.algo);
        cell_mode.set_optional(network.cell);
        bias_mode.set_optional(network.bias);
        dir_mode.set_optional(i32::from(network.bidirectional));
        input_mode.set_optional(network.input_mode);
        data_type.set_optional(network.number);
        math_prec.set_optional(network.precision);
        math_type.set_optional(network.math);
        input_size.set_optional(network.input as i32);
        hidden_size.set_optional(network.hidden as i32);
        proj_size.set_optional(network.projected as i32);
        num_layers.set_optional(network.layers as i32);
        dropout_desc.set_optional(network.dropout_at);
        aux_flags.set_optional(network.flags);
        Ok(())
    })
}

/// `cudnnRNNSetClip_v8`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnRNNSetClip_v8(rnn_desc: InOut<'_, RnnDesc>, clip_mode: i32, clip_nan_opt: i32, lclip: f64, rclip: f64) -> Status {
    guard("cudnnRNNSetClip_v8", || {
        let mode = values::check("clipMode", "cudnnRNNClipMode_t", clip_mode)?;
        let nan = values::check("clipNanOpt", "cudnnNanPropagation_t", clip_nan_opt)?;
        rnn_desc.get("rnnDesc")?.set_clip(Clip { mode, nan, low: lclip, high: rclip })
    })
}

/// `cudnnRNNSetClip_v9`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnRNNSetClip_v9(rnn_desc: InOut<'_, RnnDesc>, clip_mode: i32, lclip: f64, rclip: f64) -> Status {
    guard("cudnnRNNSetClip_v9", || {
        let mode = values::check("clipMode", "cudnnRNNClipMode_t", clip_mode)?;
        rnn_desc.get("rnnDesc")?.set_clip(Clip { mode, nan: CUDNN_NOT_PROPAGATE_NAN, low: lclip, high: rclip })
    })
}

/// `cudnnRNNGetClip_v8`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnRNNGetClip_v8(
    rnn_desc: In<'_, RnnDesc>,
    clip_mode: Out<'_, i32>,
    clip_nan_opt: Out<'_, i32>,
    lclip: Out<'_, f64>,
    rclip: Out<'_, f64>,
) -> Status {
    guard("cudnnRNNGetClip_v8", || {
        let clip = rnn_desc.get("rnnDesc")?.clip;
        clip_mode.set_optional(clip.mode);
        clip_nan_opt.set_optional(clip.nan);
        lclip.set_optional(clip.low);
        rclip.set_optional(clip.high);
        Ok(())
    })
}

/// `cudnnRNNGetClip_v9`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnRNNGetClip_v9(
    rnn_desc: In<'_, RnnDesc>,
    clip_mode: Out<'_, i32>,
    lclip: Out<'_, f64>,
    rclip: Out<'_, f64>,
) -> Status {
    guard("cudnnRNNGetClip_v9", || {
        let clip = rnn_desc.get("rnnDesc")?.clip;
        clip_mode.set_optional(clip.mode);
        lclip.set_optional(clip.low);
        rclip.set_optional(clip.high);
        Ok(())
    })
}
