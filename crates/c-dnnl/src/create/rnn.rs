//! Recurrent networks: a forward and a backward function per cell, with the tensors in the same order.

use super::{Creation, allowed};
use crate::attr::Attr;
use crate::engine::Engine;
use crate::handle::{In, New};
use crate::memory_desc::MemoryDesc;
use crate::primitive_desc::PrimitiveDesc;
use crate::status::{Failure, Status, guard};
use crate::values::value;
use oxidnn_c_common::numbers::{ACTIVATION, DIRECTION};
use oxidnn_spec::op::{Prop, Rnn, RnnActivation, RnnCell, RnnDiff};
use oxidnn_spec::{Real, Tensor};

/// The flag that makes weight gradients overwrite the old values; other bits are ignored.
const OVERWRITE: u32 = 1;

/// The descriptor of an absent tensor.
#[derive(Clone, Copy)]
struct Parameters {
    cell: RnnCell,
    prop: i32,
    activation: RnnActivation,
    alpha: f32,
    direction: i32,
    flags: u32,
}

impl Parameters {
    fn of(cell: RnnCell, prop: i32, direction: i32, flags: u32) -> Parameters {
        Parameters { cell, prop, activation: RnnActivation::Tanh, alpha: 0.0, direction, flags }
    }

    fn forward(self, t: Tensors) -> Result<Rnn, Failure> {
        self.network(&[Prop::ForwardTraining, Prop::ForwardInference], t)
    }

    fn backward(self, t: Tensors, gradients: Tensors) -> Result<Rnn, Failure> {
        let diff = Some(gradients.gradients());
        Ok(Rnn { diff, ..self.network(&[Prop::Backward], t)? })
    }

    fn network(self, props: &[Prop], t: Tensors) -> Result<Rnn, Failure> {
        Ok(Rnn {
            prop: allowed(self.prop, props)?,
            cell: self.cell,
            activation: self.activation,
            alpha: Real::new(self.alpha),
            direction: value(&DIRECTION, self.direction)?,
            diff_weights_overwrite: self.flags & OVERWRITE != 0,
            src_layer: t.src_layer,
            src_iter: t.src_iter,
            src_iter_c: t.src_iter_c,
            attention: t.attention,
            weights_layer: t.weights_layer,
            weights_iter: t.weights_iter,
            weights_peephole: t.peephole,
            weights_projection: t.projection,
            bias: t.bias,
            dst_layer: t.dst_layer,
            dst_iter: t.dst_iter,
            dst_iter_c: t.dst_iter_c,
            diff: None,
            workspace: None,
        })
    }
}

/// The tensors of a network, or their gradients.
struct Tensors {
    src_layer: Tensor,
    src_iter: Option<Tensor>,
    src_iter_c: Option<Tensor>,
    attention: Option<Tensor>,
    weights_layer: Tensor,
    weights_iter: Tensor,
    peephole: Option<Tensor>,
    projection: Option<Tensor>,
    bias: Option<Tensor>,
    dst_layer: Tensor,
    dst_iter: Option<Tensor>,
    dst_iter_c: Option<Tensor>,
}

impl Tensors {
    /// In the order of vanilla cells and GRU.
    fn seven(
        [src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter]: [In<'_, MemoryDesc>; 7],
    ) -> Result<Tensors, Failure> {
        Ok(Tensors {
            src_layer: src_layer.tensor("src_layer_desc")?,
            src_iter: src_iter.optional_tensor("src_iter_desc")?,
            src_iter_c: None,
            attention: None,
            weights_layer: weights_layer.tensor("weights_layer_desc")?,
            weights_iter: weights_iter.tensor("weights_iter_desc")?,
            peephole: None,
            projection: None,
            bias: bias.optional_tensor("bias_desc")?,
            dst_layer: dst_layer.tensor("dst_layer_desc")?,
            dst_iter: dst_iter.optional_tensor("dst_iter_desc")?,
            dst_iter_c: None,
        })
    }

    /// In the order of AUGRU.
    fn eight([a, b, attention, c, d, e, f, g]: [In<'_, MemoryDesc>; 8]) -> Result<Tensors, Failure> {
        Ok(Tensors { attention: attention.optional_tensor("attention_desc")?, ..Tensors::seven([a, b, c, d, e, f, g])? })
    }

    /// In the order of LSTM.
    fn eleven([a, b, src_iter_c, c, d, peephole, projection, e, f, g, dst_iter_c]: [In<'_, MemoryDesc>; 11]) -> Result<Tensors, Failure> {
        Ok(Tensors {
            src_iter_c: src_iter_c.optional_tensor("src_iter_c_desc")?,
            peephole: peephole.optional_tensor("weights_peephole_desc")?,
            projection: projection.optional_tensor("weights_projection_desc")?,
            dst_iter_c: dst_iter_c.optional_tensor("dst_iter_c_desc")?,
            ..Tensors::seven([a, b, c, d, e, f, g])?
        })
    }

    fn gradients(self) -> RnnDiff {
        RnnDiff {
            src_layer: self.src_layer,
            src_iter: self.src_iter,
            src_iter_c: self.src_iter_c,
            attention: self.attention,
            weights_layer: self.weights_layer,
            weights_iter: self.weights_iter,
            weights_peephole: self.peephole,
            weights_projection: self.projection,
            bias: self.bias,
            dst_layer: self.dst_layer,
            dst_iter: self.dst_iter,
            dst_iter_c: self.dst_iter_c,
        }
    }
}

/// `dnnl_vanilla_rnn_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_vanilla_rnn_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    activation: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    alpha: f32,
    _beta: f32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_vanilla_rnn_forward_primitive_desc_create", || {
        let parameters =
            Parameters { activation: value(&ACTIVATION, activation)?, alpha, ..Parameters::of(RnnCell::Vanilla, prop, direction, flags) };
        let tensors = Tensors::seven([src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        Creation::forward(pd, engine, attr).make(parameters.forward(tensors)?)
    })
}

/// `dnnl_vanilla_rnn_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_vanilla_rnn_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    activation: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    diff_src_layer: In<'_, MemoryDesc>,
    diff_src_iter: In<'_, MemoryDesc>,
    diff_weights_layer: In<'_, MemoryDesc>,
    diff_weights_iter: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst_layer: In<'_, MemoryDesc>,
    diff_dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    alpha: f32,
    _beta: f32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_vanilla_rnn_backward_primitive_desc_create", || {
        let parameters =
            Parameters { activation: value(&ACTIVATION, activation)?, alpha, ..Parameters::of(RnnCell::Vanilla, prop, direction, flags) };
        let tensors = Tensors::seven([src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        let gradients = Tensors::seven([
            diff_src_layer,
            diff_src_iter,
            diff_weights_layer,
            diff_weights_iter,
            diff_bias,
            diff_dst_layer,
            diff_dst_iter,
        ])?;
        Creation { pd, engine, hint, attr }.make(parameters.backward(tensors, gradients)?)
    })
}

/// `dnnl_lstm_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_lstm_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    src_iter_c: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    peephole: In<'_, MemoryDesc>,
    projection: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    dst_iter_c: In<'_, MemoryDesc>,
    flags: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_lstm_forward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::Lstm, prop, direction, flags);
        let tensors = Tensors::eleven([
            src_layer,
            src_iter,
            src_iter_c,
            weights_layer,
            weights_iter,
            peephole,
            projection,
            bias,
            dst_layer,
            dst_iter,
            dst_iter_c,
        ])?;
        Creation::forward(pd, engine, attr).make(parameters.forward(tensors)?)
    })
}

/// `dnnl_lstm_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_lstm_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    src_iter_c: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    peephole: In<'_, MemoryDesc>,
    projection: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    dst_iter_c: In<'_, MemoryDesc>,
    diff_src_layer: In<'_, MemoryDesc>,
    diff_src_iter: In<'_, MemoryDesc>,
    diff_src_iter_c: In<'_, MemoryDesc>,
    diff_weights_layer: In<'_, MemoryDesc>,
    diff_weights_iter: In<'_, MemoryDesc>,
    diff_peephole: In<'_, MemoryDesc>,
    diff_projection: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst_layer: In<'_, MemoryDesc>,
    diff_dst_iter: In<'_, MemoryDesc>,
    diff_dst_iter_c: In<'_, MemoryDesc>,
    flags: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_lstm_backward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::Lstm, prop, direction, flags);
        let tensors = Tensors::eleven([
            src_layer,
            src_iter,
            src_iter_c,
            weights_layer,
            weights_iter,
            peephole,
            projection,
            bias,
            dst_layer,
            dst_iter,
            dst_iter_c,
        ])?;
        let gradients = Tensors::eleven([
            diff_src_layer,
            diff_src_iter,
            diff_src_iter_c,
            diff_weights_layer,
            diff_weights_iter,
            diff_peephole,
            diff_projection,
            diff_bias,
            diff_dst_layer,
            diff_dst_iter,
            diff_dst_iter_c,
        ])?;
        Creation { pd, engine, hint, attr }.make(parameters.backward(tensors, gradients)?)
    })
}

/// `dnnl_gru_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_gru_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_gru_forward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::Gru, prop, direction, flags);
        let tensors = Tensors::seven([src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        Creation::forward(pd, engine, attr).make(parameters.forward(tensors)?)
    })
}

/// `dnnl_gru_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_gru_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    diff_src_layer: In<'_, MemoryDesc>,
    diff_src_iter: In<'_, MemoryDesc>,
    diff_weights_layer: In<'_, MemoryDesc>,
    diff_weights_iter: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst_layer: In<'_, MemoryDesc>,
    diff_dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_gru_backward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::Gru, prop, direction, flags);
        let tensors = Tensors::seven([src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        let gradients = Tensors::seven([
            diff_src_layer,
            diff_src_iter,
            diff_weights_layer,
            diff_weights_iter,
            diff_bias,
            diff_dst_layer,
            diff_dst_iter,
        ])?;
        Creation { pd, engine, hint, attr }.make(parameters.backward(tensors, gradients)?)
    })
}

/// `dnnl_lbr_gru_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_lbr_gru_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_lbr_gru_forward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::LbrGru, prop, direction, flags);
        let tensors = Tensors::seven([src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        Creation::forward(pd, engine, attr).make(parameters.forward(tensors)?)
    })
}

/// `dnnl_lbr_gru_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_lbr_gru_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    diff_src_layer: In<'_, MemoryDesc>,
    diff_src_iter: In<'_, MemoryDesc>,
    diff_weights_layer: In<'_, MemoryDesc>,
    diff_weights_iter: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst_layer: In<'_, MemoryDesc>,
    diff_dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_lbr_gru_backward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::LbrGru, prop, direction, flags);
        let tensors = Tensors::seven([src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        let gradients = Tensors::seven([
            diff_src_layer,
            diff_src_iter,
            diff_weights_layer,
            diff_weights_iter,
            diff_bias,
            diff_dst_layer,
            diff_dst_iter,
        ])?;
        Creation { pd, engine, hint, attr }.make(parameters.backward(tensors, gradients)?)
    })
}

/// `dnnl_augru_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_augru_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    attention: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_augru_forward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::Augru, prop, direction, flags);
        let tensors = Tensors::eight([src_layer, src_iter, attention, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        Creation::forward(pd, engine, attr).make(parameters.forward(tensors)?)
    })
}

/// `dnnl_augru_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_augru_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    attention: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    diff_src_layer: In<'_, MemoryDesc>,
    diff_src_iter: In<'_, MemoryDesc>,
    diff_attention: In<'_, MemoryDesc>,
    diff_weights_layer: In<'_, MemoryDesc>,
    diff_weights_iter: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst_layer: In<'_, MemoryDesc>,
    diff_dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_augru_backward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::Augru, prop, direction, flags);
        let tensors = Tensors::eight([src_layer, src_iter, attention, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        let gradients = Tensors::eight([
            diff_src_layer,
            diff_src_iter,
            diff_attention,
            diff_weights_layer,
            diff_weights_iter,
            diff_bias,
            diff_dst_layer,
            diff_dst_iter,
        ])?;
        Creation { pd, engine, hint, attr }.make(parameters.backward(tensors, gradients)?)
    })
}

/// `dnnl_lbr_augru_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_lbr_augru_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    attention: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_lbr_augru_forward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::LbrAugru, prop, direction, flags);
        let tensors = Tensors::eight([src_layer, src_iter, attention, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        Creation::forward(pd, engine, attr).make(parameters.forward(tensors)?)
    })
}

/// `dnnl_lbr_augru_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_lbr_augru_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    direction: i32,
    src_layer: In<'_, MemoryDesc>,
    src_iter: In<'_, MemoryDesc>,
    attention: In<'_, MemoryDesc>,
    weights_layer: In<'_, MemoryDesc>,
    weights_iter: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst_layer: In<'_, MemoryDesc>,
    dst_iter: In<'_, MemoryDesc>,
    diff_src_layer: In<'_, MemoryDesc>,
    diff_src_iter: In<'_, MemoryDesc>,
    diff_attention: In<'_, MemoryDesc>,
    diff_weights_layer: In<'_, MemoryDesc>,
    diff_weights_iter: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst_layer: In<'_, MemoryDesc>,
    diff_dst_iter: In<'_, MemoryDesc>,
    flags: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_lbr_augru_backward_primitive_desc_create", || {
        let parameters = Parameters::of(RnnCell::LbrAugru, prop, direction, flags);
        let tensors = Tensors::eight([src_layer, src_iter, attention, weights_layer, weights_iter, bias, dst_layer, dst_iter])?;
        let gradients = Tensors::eight([
            diff_src_layer,
            diff_src_iter,
            diff_attention,
            diff_weights_layer,
            diff_weights_iter,
            diff_bias,
            diff_dst_layer,
            diff_dst_iter,
        ])?;
        Creation { pd, engine, hint, attr }.make(parameters.backward(tensors, gradients)?)
    })
}
