//! Recurrent networks.

use super::{Prop, Use, operands};
use crate::{Arg, DataType, Real, Tensor};

/// The cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the field's names")]
pub enum RnnCell {
    Vanilla,
    Lstm,
    Gru,
    LbrGru,
    Augru,
    LbrAugru,
}

impl RnnCell {
    /// Number of gates.
    pub const fn gates(self) -> i64 {
        match self {
            RnnCell::Vanilla => 1,
            RnnCell::Lstm => 4,
            _ => 3,
        }
    }
    /// Number of gates in the bias: one more for linear-before-reset cells.
    pub const fn bias_gates(self) -> i64 {
        match self {
            RnnCell::LbrGru | RnnCell::LbrAugru => 4,
            c => c.gates(),
        }
    }
    /// True for the cells with attention.
    pub const fn is_augru(self) -> bool {
        matches!(self, RnnCell::Augru | RnnCell::LbrAugru)
    }
}

/// Activation of a vanilla cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the field's names")]
pub enum RnnActivation {
    Relu,
    Tanh,
    Logistic,
}

/// In which direction(s) time is walked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RnnDirection {
    /// Forward in time.
    Left2Right,
    /// Backward in time.
    Right2Left,
    /// Both, channels concatenated.
    BidirectionalConcat,
    /// Both, summed.
    BidirectionalSum,
}

impl RnnDirection {
    /// Number of directions.
    pub const fn count(self) -> i64 {
        match self {
            RnnDirection::Left2Right | RnnDirection::Right2Left => 1,
            _ => 2,
        }
    }
}

/// The gradients of a backward pass, each as the tensor it belongs to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "gradients of the fields of `Rnn` with the same name")]
pub struct RnnDiff {
    pub src_layer: Tensor,
    pub src_iter: Option<Tensor>,
    pub src_iter_c: Option<Tensor>,
    pub attention: Option<Tensor>,
    pub weights_layer: Tensor,
    pub weights_iter: Tensor,
    pub weights_peephole: Option<Tensor>,
    pub weights_projection: Option<Tensor>,
    pub bias: Option<Tensor>,
    pub dst_layer: Tensor,
    pub dst_iter: Option<Tensor>,
    pub dst_iter_c: Option<Tensor>,
}

/// A recurrent network of L layers, D directions, T steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rnn {
    /// Forward kinds or [`Prop::Backward`].
    pub prop: Prop,
    /// Cell.
    pub cell: RnnCell,
    /// Activation of a vanilla cell.
    pub activation: RnnActivation,
    /// Slope of a vanilla cell's ReLU below zero.
    pub alpha: Real,
    /// Direction.
    pub direction: RnnDirection,
    /// Gradients of weights overwrite the old values (else they are added to them).
    pub diff_weights_overwrite: bool,
    /// T x N x SLC.
    pub src_layer: Tensor,
    /// L x D x N x SIC; absent: zeros.
    pub src_iter: Option<Tensor>,
    /// L x D x N x DHC (LSTM); absent: zeros.
    pub src_iter_c: Option<Tensor>,
    /// T x N x 1 (AUGRU).
    pub attention: Option<Tensor>,
    /// L x D x SLC x G x DHC.
    pub weights_layer: Tensor,
    /// L x D x SIC x G x DHC.
    pub weights_iter: Tensor,
    /// L x D x 3 x DHC (LSTM).
    pub weights_peephole: Option<Tensor>,
    /// L x D x DHC x DIC (LSTM).
    pub weights_projection: Option<Tensor>,
    /// L x D x gates x DHC; absent: zeros.
    pub bias: Option<Tensor>,
    /// T x N x DLC, DLC = DIC (twice with concatenation).
    pub dst_layer: Tensor,
    /// L x D x N x DIC.
    pub dst_iter: Option<Tensor>,
    /// L x D x N x DHC (LSTM).
    pub dst_iter_c: Option<Tensor>,
    /// The gradients (backward).
    pub diff: Option<RnnDiff>,
    /// The workspace of training: 1-D u8, little-endian f32 numbers inside, [`Rnn::workspace_bytes`] long. An array L x D x T x N of rows,
    /// each made of
    /// - the gates, G x DHC, after their activation; of a vanilla cell before it;
    /// - the recurrent state that the step outputs, DIC, in its own type;
    /// - the cell state that it gives, DHC (LSTM);
    /// - DHC numbers of linear-before-reset cells: the candidate's recurrent product with its bias, before the reset gate; of an LSTM with
    ///   projection: the state before it.
    ///
    /// T is the time of the data, also where time is walked backward.
    pub workspace: Option<Tensor>,
}

operands!(Rnn {
    prop, src_layer, src_iter, src_iter_c, attention, weights_layer, weights_iter, weights_peephole, weights_projection, bias, dst_layer,
    dst_iter, dst_iter_c, diff, workspace
}, o => {
    let dst = if prop.is_forward() { Use::Out } else { Use::In };
    o.input(Arg::SRC, src_layer);
    o.input(Arg::SRC_1, src_iter);
    o.input(Arg::SRC_2, src_iter_c);
    o.input(Arg::SRC_3, attention);
    o.input(Arg::WEIGHTS, weights_layer);
    o.input(Arg::WEIGHTS_1, weights_iter);
    o.input(Arg::WEIGHTS_2, weights_peephole);
    o.input(Arg::WEIGHTS_3, weights_projection);
    o.input(Arg::BIAS, bias);
    o.put(Arg::DST, dst, dst_layer);
    o.put(Arg::DST_1, dst, dst_iter);
    o.put(Arg::DST_2, dst, dst_iter_c);
    o.put(Arg::WORKSPACE, dst, workspace);
    if let Some(diff) = diff {
        let RnnDiff {
            src_layer, src_iter, src_iter_c, attention, weights_layer, weights_iter, weights_peephole, weights_projection, bias, dst_layer,
            dst_iter, dst_iter_c,
        } = diff;
        o.input(Arg::DIFF_DST, dst_layer);
        o.input(Arg::DIFF_DST_1, dst_iter);
        o.input(Arg::DIFF_DST_2, dst_iter_c);
        o.output(Arg::DIFF_SRC, src_layer);
        o.output(Arg::DIFF_SRC_1, src_iter);
        o.output(Arg::DIFF_SRC_2, src_iter_c);
        o.output(Arg::DIFF_SRC_3, attention);
        o.output(Arg::DIFF_WEIGHTS, weights_layer);
        o.output(Arg::DIFF_WEIGHTS_1, weights_iter);
        o.output(Arg::DIFF_WEIGHTS_2, weights_peephole);
        o.output(Arg::DIFF_WEIGHTS_3, weights_projection);
        o.output(Arg::DIFF_BIAS, bias);
    }
});

/// Sizes of a recurrent network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RnnSizes {
    /// L.
    pub layers: i64,
    /// D.
    pub directions: i64,
    /// T.
    pub time: i64,
    /// N.
    pub batch: i64,
    /// Channels of the first layer's input (and, with more layers, of every layer's).
    pub slc: i64,
    /// Channels of the incoming recurrent state; the same as `dic`, but with a single step.
    pub sic: i64,
    /// Channels of a gate and of the cell state.
    pub dhc: i64,
    /// Channels of the recurrent state and of one direction's result: `dhc` without projection.
    pub dic: i64,
    /// Gates.
    pub gates: i64,
}

impl Rnn {
    /// The sizes; `None` where source, weights or projection have not the ranks they should have.
    pub fn sizes(&self) -> Option<RnnSizes> {
        let [time, batch, _] = **self.src_layer.dims() else { return None };
        let [layers, directions, slc, gates, dhc] = **self.weights_layer.dims() else { return None };
        let [_, _, sic, _, _] = **self.weights_iter.dims() else { return None };
        let dic = match &self.weights_projection {
            Some(p) => *p.dims().get(3)?,
            None => dhc,
        };
        Some(RnnSizes { layers, directions, time, batch, slc, sic, dhc, dic, gates })
    }

    /// Numbers that the workspace keeps for one sample at one step of one layer and direction: [`Rnn::workspace`] documents them.
    pub fn workspace_row(&self) -> Option<i64> {
        let z = self.sizes()?;
        let lbr = self.cell.bias_gates() > self.cell.gates();
        let vectors = z.gates + i64::from(self.cell == RnnCell::Lstm) + i64::from(lbr || self.weights_projection.is_some());
        vectors.checked_mul(z.dhc)?.checked_add(z.dic)
    }

    /// Bytes of the workspace: L x D x T x N rows of [`Rnn::workspace_row`] f32 numbers; `None` where the tensors have not the ranks they
    /// should have, or on overflow.
    pub fn workspace_bytes(&self) -> Option<i64> {
        let z = self.sizes()?;
        [z.directions, z.time, z.batch, self.workspace_row()?, 4]
            .into_iter()
            .try_fold(z.layers, |a, v| a.checked_mul(v))
            .filter(|&b| b >= 0)
    }

    /// The workspace of training and backward.
    pub(super) fn derive(&mut self) {
        let bytes = self.workspace_bytes().filter(|_| self.prop != Prop::ForwardInference);
        self.workspace = bytes.and_then(|bytes| Tensor::plain([bytes], DataType::U8).ok());
    }
}
