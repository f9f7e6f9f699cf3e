//! Builders of recurrent networks.

use crate::describe::{Describe, defaults};
use oxidnn_spec::op::{Prop, Rnn, RnnActivation, RnnCell, RnnDirection};
use oxidnn_spec::{Attr, DataType, Error, Op, Real, Tensor};

/// Builds a forward recurrent network of L layers over T steps with a batch of N. The backward pass follows from its descriptor:
/// [`crate::Backward::backward`].
///
/// | argument | shape | what it is |
/// |---|---|---|
/// | `SRC` | T x N x SLC | the sequence |
/// | `SRC_1`, `SRC_2` | L x D x N x DIC, DHC | first recurrent state; first cell state (LSTM). Absent: zeros |
/// | `SRC_3` | T x N x 1 | attention (AUGRU) |
/// | `WEIGHTS`, `WEIGHTS_1` | L x D x SLC x G x DHC, L x D x DIC x G x DHC | of the sequence, of the state |
/// | `WEIGHTS_2`, `WEIGHTS_3` | L x D x 3 x DHC, L x D x DHC x DIC | peephole (input, forget, output), projection (LSTM) |
/// | `BIAS` | L x D x G x DHC; LBR cells have one more gate | |
/// | `DST` | T x N x DIC, twice as wide where directions are concatenated | results of the last layer |
/// | `DST_1`, `DST_2` | as `SRC_1`, `SRC_2` | last states |
/// | `WORKSPACE` | what training keeps for the backward pass | |
///
/// **Order of gates** in weights and bias: LSTM input, forget, candidate, output; GRU update, reset, candidate; linear-before-reset cells have a
/// fourth bias, that of the candidate's recurrent product.
///
/// ```
/// use oxidnn::prelude::*;
///
/// # fn main() -> Result<(), oxidnn::Error> {
/// let (engine, steps, batch, inputs, hidden) = (Engine::cpu(), 5, 2, 8, 16);
/// let lstm = Recurrent::lstm(Prop::ForwardInference, [steps, batch, inputs], hidden, F32).bias().last_states().describe(&engine)?;
/// assert_eq!(lstm.tensor(Arg::DST).unwrap().dims()[..], [5, 2, 16]);
/// assert_eq!(lstm.tensor(Arg::WEIGHTS).unwrap().dims()[..], [1, 1, 8, 4, 16]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Recurrent {
    prop: Prop,
    cell: RnnCell,
    activation: RnnActivation,
    alpha: f32,
    direction: RnnDirection,
    layers: i64,
    /// T, N, SLC.
    sizes: [i64; 3],
    hidden: i64,
    projected: Option<i64>,
    dtype: DataType,
    weights: DataType,
    with: With,
    attr: Attr,
}

/// The optional tensors.
#[derive(Clone, Copy, Default, Debug)]
struct With {
    bias: bool,
    first: bool,
    last: bool,
    peephole: bool,
}

impl Recurrent {
    fn new(prop: Prop, cell: RnnCell, sizes: [i64; 3], hidden: i64, dtype: DataType) -> Recurrent {
        Recurrent {
            prop,
            cell,
            activation: RnnActivation::Tanh,
            alpha: 0.0,
            direction: RnnDirection::Left2Right,
            layers: 1,
            sizes,
            hidden,
            projected: None,
            dtype,
            weights: dtype,
            with: With::default(),
            attr: defaults(),
        }
    }

    /// Long short-term memory over a sequence of T x N x SLC; `hidden` is DHC.
    #[must_use]
    pub fn lstm(prop: Prop, sizes: [i64; 3], hidden: i64, dtype: DataType) -> Recurrent {
        Recurrent::new(prop, RnnCell::Lstm, sizes, hidden, dtype)
    }

    /// Gated recurrent unit, the reset gate before the candidate's recurrent product.
    #[must_use]
    pub fn gru(prop: Prop, sizes: [i64; 3], hidden: i64, dtype: DataType) -> Recurrent {
        Recurrent::new(prop, RnnCell::Gru, sizes, hidden, dtype)
    }

    /// Gated recurrent unit whose reset gate multiplies the candidate's recurrent product (linear before reset, as in cuDNN and PyTorch).
    #[must_use]
    pub fn lbr_gru(prop: Prop, sizes: [i64; 3], hidden: i64, dtype: DataType) -> Recurrent {
        Recurrent::new(prop, RnnCell::LbrGru, sizes, hidden, dtype)
    }

    /// `h = activation(W x + U h + b)`, hyperbolic tangent unless [`Recurrent::activation`] says otherwise.
    #[must_use]
    pub fn vanilla(prop: Prop, sizes: [i64; 3], hidden: i64, dtype: DataType) -> Recurrent {
        Recurrent::new(prop, RnnCell::Vanilla, sizes, hidden, dtype)
    }

    /// The activation of a vanilla cell; `alpha` is a ReLU's slope below zero.
    #[must_use]
    pub fn activation(self, activation: RnnActivation, alpha: f32) -> Recurrent {
        Recurrent { activation, alpha, ..self }
    }

    /// Number of stacked layers; 1 by default.
    #[must_use]
    pub fn layers(self, layers: i64) -> Recurrent {
        Recurrent { layers, ..self }
    }

    /// Direction(s); left to right by default.
    #[must_use]
    pub fn direction(self, direction: RnnDirection) -> Recurrent {
        Recurrent { direction, ..self }
    }

    /// With a bias.
    #[must_use]
    pub fn bias(self) -> Recurrent {
        self.with(|w| w.bias = true)
    }

    /// With initial states as arguments; otherwise they are zeros.
    #[must_use]
    pub fn first_states(self) -> Recurrent {
        self.with(|w| w.first = true)
    }

    /// With final states as results.
    #[must_use]
    pub fn last_states(self) -> Recurrent {
        self.with(|w| w.last = true)
    }

    /// An LSTM with peephole connections.
    #[must_use]
    pub fn peephole(self) -> Recurrent {
        self.with(|w| w.peephole = true)
    }

    /// An LSTM whose hidden state is projected to `channels` channels (DIC).
    #[must_use]
    pub fn projection(self, channels: i64) -> Recurrent {
        Recurrent { projected: Some(channels), ..self }
    }

    /// The weights' type, if it differs from the sequence's (s8 with a u8 sequence).
    #[must_use]
    pub fn weights_type(self, weights: DataType) -> Recurrent {
        Recurrent { weights, ..self }
    }

    fn with(mut self, change: impl FnOnce(&mut With)) -> Recurrent {
        change(&mut self.with);
        self
    }
}

impl Describe for Recurrent {
    fn op(&self) -> Result<Op, Error> {
        let ([time, batch, slc], dhc, directions) = (self.sizes, self.hidden, self.direction.count());
        let (gates, dic, lstm) = (self.cell.gates(), self.projected.unwrap_or(self.hidden), self.cell == RnnCell::Lstm);
        let wide = if self.direction == RnnDirection::BidirectionalConcat { dic.checked_mul(2) } else { Some(dic) };
        let wide = wide.ok_or_else(|| Error::invalid("hidden", dic, "channels that fit the result twice"))?;
        let stacked = |rest: &[i64], dtype: DataType| {
            let dims = [&[self.layers, directions], rest].concat();
            Ok::<_, Error>(Tensor::any(oxidnn_spec::Dims::try_from(dims)?, dtype))
        };
        let states = |when: bool, channels: i64, dtype: DataType| when.then(|| stacked(&[batch, channels], dtype)).transpose();
        let cell = if self.dtype == DataType::U8 || self.dtype == DataType::S8 { DataType::F32 } else { self.dtype };
        let (first, last) = (self.with.first, self.with.last);
        Ok(Rnn {
            prop: self.prop,
            cell: self.cell,
            activation: self.activation,
            alpha: Real::new(self.alpha),
            direction: self.direction,
            diff_weights_overwrite: false,
            src_layer: Tensor::any([time, batch, slc], self.dtype),
            src_iter: states(first, dic, self.dtype)?,
            src_iter_c: states(first && lstm, dhc, cell)?,
            attention: self.cell.is_augru().then(|| Tensor::any([time, batch, 1], self.dtype)),
            weights_layer: stacked(&[slc, gates, dhc], self.weights)?,
            weights_iter: stacked(&[dic, gates, dhc], self.weights)?,
            weights_peephole: self.with.peephole.then(|| stacked(&[3, dhc], DataType::F32)).transpose()?,
            weights_projection: self.projected.map(|dic| stacked(&[dhc, dic], self.weights)).transpose()?,
            bias: self.with.bias.then(|| stacked(&[self.cell.bias_gates(), dhc], DataType::F32)).transpose()?,
            dst_layer: Tensor::any([time, batch, wide], self.dtype),
            dst_iter: states(last, dic, self.dtype)?,
            dst_iter_c: states(last && lstm, dhc, cell)?,
            diff: None,
            workspace: None,
        }
        .into())
    }
    fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }
}
