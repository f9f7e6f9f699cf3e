//! Primitive descriptors of recurrent networks: every cell has its own pair of functions, with the tensors in the same order.

use super::{Creation, Made};
use crate::error::PeerError;
use crate::handle::{Desc, Owned};
use oxidnn_c_common::numbers;
use oxidnn_spec::Tensor;
use oxidnn_spec::op::{Rnn, RnnCell};

/// The tensors of a network, or their gradients.
struct Tensors<'a> {
    src_layer: &'a Tensor,
    src_iter: &'a Option<Tensor>,
    src_iter_c: &'a Option<Tensor>,
    attention: &'a Option<Tensor>,
    weights: [&'a Tensor; 2],
    peephole: &'a Option<Tensor>,
    projection: &'a Option<Tensor>,
    bias: &'a Option<Tensor>,
    dst_layer: &'a Tensor,
    dst_iter: &'a Option<Tensor>,
    dst_iter_c: &'a Option<Tensor>,
}

/// A descriptor, or none where the tensor is absent.
type Slot = Option<Owned<Desc>>;

impl<'a> Tensors<'a> {
    fn of(x: &'a Rnn) -> Tensors<'a> {
        Tensors {
            src_layer: &x.src_layer,
            src_iter: &x.src_iter,
            src_iter_c: &x.src_iter_c,
            attention: &x.attention,
            weights: [&x.weights_layer, &x.weights_iter],
            peephole: &x.weights_peephole,
            projection: &x.weights_projection,
            bias: &x.bias,
            dst_layer: &x.dst_layer,
            dst_iter: &x.dst_iter,
            dst_iter_c: &x.dst_iter_c,
        }
    }

    /// The gradients; of a forward pass, where there are none, the tensors themselves.
    fn gradients(x: &'a Rnn) -> Tensors<'a> {
        let Some(d) = &x.diff else { return Tensors::of(x) };
        Tensors {
            src_layer: &d.src_layer,
            src_iter: &d.src_iter,
            src_iter_c: &d.src_iter_c,
            attention: &d.attention,
            weights: [&d.weights_layer, &d.weights_iter],
            peephole: &d.weights_peephole,
            projection: &d.weights_projection,
            bias: &d.bias,
            dst_layer: &d.dst_layer,
            dst_iter: &d.dst_iter,
            dst_iter_c: &d.dst_iter_c,
        }
    }
}

impl Creation<'_> {
    /// The descriptor of a recurrent network.
    pub(super) fn rnn(&self, x: &Rnn) -> Made {
        match x.cell {
            RnnCell::Vanilla => self.vanilla(x),
            RnnCell::Lstm => self.lstm(x),
            RnnCell::Gru | RnnCell::LbrGru => self.gru(x),
            RnnCell::Augru | RnnCell::LbrAugru => self.augru(x),
        }
    }

    fn slot(&self, t: &Tensor) -> Result<Slot, PeerError> {
        self.desc(t).map(Some)
    }

    /// Tensors in the order of vanilla cells and GRU.
    fn seven(&self, t: &Tensors) -> Result<[Slot; 7], PeerError> {
        let Tensors { src_layer, src_iter, weights: [layer, iter], bias, dst_layer, dst_iter, .. } = t;
        Ok([
            self.slot(src_layer)?,
            self.optional(src_iter)?,
            self.slot(layer)?,
            self.slot(iter)?,
            self.optional(bias)?,
            self.slot(dst_layer)?,
            self.optional(dst_iter)?,
        ])
    }

    /// Tensors in the order of AUGRU.
    fn eight(&self, t: &Tensors) -> Result<[Slot; 8], PeerError> {
        let attention = self.optional(t.attention)?;
        let [a, b, c, d, e, f, g] = self.seven(t)?;
        Ok([a, b, attention, c, d, e, f, g])
    }

    /// Tensors in the order of LSTM.
    fn eleven(&self, t: &Tensors) -> Result<[Slot; 11], PeerError> {
        let extra = [t.src_iter_c, t.peephole, t.projection, t.dst_iter_c].map(|t| self.optional(t));
        let [src_iter_c, peephole, projection, dst_iter_c] = extra;
        let [a, b, c, d, e, f, g] = self.seven(t)?;
        Ok([a, b, src_iter_c?, c, d, peephole?, projection?, e, f, g, dst_iter_c?])
    }

    fn vanilla(&self, x: &Rnn) -> Made {
        let [forward, backward] = creators(x.cell);
        let (out, engine, pass, flags) = (&self.out, self.engine, numbers::PROP.of(x.prop), i32::from(x.diff_weights_overwrite));
        let (activation, direction) = (numbers::ACTIVATION.of(x.activation), numbers::DIRECTION.of(x.direction));
        let (alpha, beta) = (x.alpha.get(), 0f32);
        let (data, diff) = (self.seven(&Tensors::of(x))?, self.seven(&Tensors::gradients(x))?);
        let [a, b, c, d, e, f, g] = data.each_ref().map(Option::as_ref);
        if x.prop.is_forward() {
            return self.make(forward, (out, engine, pass, activation, direction, a, b, c, d, e, f, g, flags, alpha, beta, self.attr));
        }
        let [h, i, j, k, l, m, n] = diff.each_ref().map(Option::as_ref);
        let (hint, attr) = (self.hint, self.attr);
        let call = (out, engine, pass, activation, direction, a, b, c, d, e, f, g, h, i, j, k, l, m, n, flags, alpha, beta, hint, attr);
        self.make(backward, call)
    }

    fn gru(&self, x: &Rnn) -> Made {
        let [forward, backward] = creators(x.cell);
        let (out, engine, pass, flags) = (&self.out, self.engine, numbers::PROP.of(x.prop), i32::from(x.diff_weights_overwrite));
        let direction = numbers::DIRECTION.of(x.direction);
        let (data, diff) = (self.seven(&Tensors::of(x))?, self.seven(&Tensors::gradients(x))?);
        let [a, b, c, d, e, f, g] = data.each_ref().map(Option::as_ref);
        if x.prop.is_forward() {
            return self.make(forward, (out, engine, pass, direction, a, b, c, d, e, f, g, flags, self.attr));
        }
        let [h, i, j, k, l, m, n] = diff.each_ref().map(Option::as_ref);
        self.make(backward, (out, engine, pass, direction, a, b, c, d, e, f, g, h, i, j, k, l, m, n, flags, self.hint, self.attr))
    }

    fn augru(&self, x: &Rnn) -> Made {
        let [forward, backward] = creators(x.cell);
        let (out, engine, pass, flags) = (&self.out, self.engine, numbers::PROP.of(x.prop), i32::from(x.diff_weights_overwrite));
        let direction = numbers::DIRECTION.of(x.direction);
        let (data, diff) = (self.eight(&Tensors::of(x))?, self.eight(&Tensors::gradients(x))?);
        let [a, b, c, d, e, f, g, h] = data.each_ref().map(Option::as_ref);
        if x.prop.is_forward() {
            return self.make(forward, (out, engine, pass, direction, a, b, c, d, e, f, g, h, flags, self.attr));
        }
        let [i, j, k, l, m, n, o, p] = diff.each_ref().map(Option::as_ref);
        self.make(backward, (out, engine, pass, direction, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, flags, self.hint, self.attr))
    }

    fn lstm(&self, x: &Rnn) -> Made {
        let [forward, backward] = creators(x.cell);
        let (out, engine, pass, flags) = (&self.out, self.engine, numbers::PROP.of(x.prop), i32::from(x.diff_weights_overwrite));
        let direction = numbers::DIRECTION.of(x.direction);
        let (data, diff) = (self.eleven(&Tensors::of(x))?, self.eleven(&Tensors::gradients(x))?);
        let [a, b, c, d, e, f, g, h, i, j, k] = data.each_ref().map(Option::as_ref);
        if x.prop.is_forward() {
            return self.make(forward, (out, engine, pass, direction, a, b, c, d, e, f, g, h, i, j, k, flags, self.attr));
        }
        let [l, m, n, o, p, q, r, s, t, u, v] = diff.each_ref().map(Option::as_ref);
        let (hint, attr) = (self.hint, self.attr);
        let call = (out, engine, pass, direction, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, flags, hint, attr);
        self.make(backward, call)
    }
}

/// Functions that make the forward and backward descriptors of a recurrent cell.
const fn creators(cell: RnnCell) -> [&'static str; 2] {
    match cell {
        RnnCell::Vanilla => ["dnnl_vanilla_rnn_forward_primitive_desc_create", "dnnl_vanilla_rnn_backward_primitive_desc_create"],
        RnnCell::Lstm => ["dnnl_lstm_forward_primitive_desc_create", "dnnl_lstm_backward_primitive_desc_create"],
        RnnCell::Gru => ["dnnl_gru_forward_primitive_desc_create", "dnnl_gru_backward_primitive_desc_create"],
        RnnCell::LbrGru => ["dnnl_lbr_gru_forward_primitive_desc_create", "dnnl_lbr_gru_backward_primitive_desc_create"],
        RnnCell::Augru => ["dnnl_augru_forward_primitive_desc_create", "dnnl_augru_backward_primitive_desc_create"],
        RnnCell::LbrAugru => ["dnnl_lbr_augru_forward_primitive_desc_create", "dnnl_lbr_augru_backward_primitive_desc_create"],
    }
}
