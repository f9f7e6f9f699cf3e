//! The weight space: for each layer and direction the matrices on the input, those on the hidden state, and the projection, row-major, in the order
//! of cuDNN's indices; then the biases of all layers in the same order.

use super::desc::Network;
use crate::enums::*;

/// Offsets of the weights of a layer and direction, in elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Matrices on the input: gates x hidden x inputs.
    pub(super) input: i64,
    /// Matrices on the hidden state: gates x hidden x projected.
    pub(super) state: i64,
    /// The projection: projected x hidden.
    pub(super) projection: i64,
    /// Biases of the input and of the hidden state, gates x hidden each, if present.
    pub(super) biases: [Option<i64>; 2],
}

impl Network {
    /// Whether there are biases of the input, and of the hidden state.
    fn has_biases(&self) -> [bool; 2] {
        let of = |mode: i32| self.bias == CUDNN_RNN_DOUBLE_BIAS || self.bias == mode;
        [of(CUDNN_RNN_SINGLE_INP_BIAS), of(CUDNN_RNN_SINGLE_REC_BIAS)]
    }

    /// Columns of a layer's matrices on the input: 0 with `CUDNN_SKIP_INPUT`.
    fn columns(&self, layer: i64) -> i64 {
        if self.skips(layer) { 0 } else { self.inputs(layer) }
    }

    /// Elements of all matrices of a layer and direction.
    fn matrices(&self, layer: i64) -> i64 {
        let projection = if self.projects() { self.projected * self.hidden } else { 0 };
        self.gates() * self.hidden * (self.columns(layer) + self.projected) + projection
    }

    /// Elements of the matrices of the first `layers` layers.
    fn matrices_before(&self, layers: i64) -> i64 {
        let first = if layers > 0 { self.matrices(0) } else { 0 };
        (first + (layers - 1).max(0) * self.matrices(1)) * self.directions()
    }

    /// Elements of the weight space.
    pub(super) fn numbers(&self) -> i64 {
        let biases = self.has_biases().iter().filter(|b| **b).count() as i64 * self.gates() * self.hidden;
        self.matrices_before(self.layers) + biases * self.layers * self.directions()
    }

    /// The offsets of a layer and direction.
    pub(super) fn place(&self, layer: i64, direction: i64) -> Place {
        let (before, all) = (self.matrices_before(layer), self.matrices_before(self.layers));
        let (input, vector) = (before + direction * self.matrices(layer), self.gates() * self.hidden);
        let state = input + vector * self.columns(layer);
        let has = self.has_biases();
        let count = has.iter().filter(|b| **b).count() as i64;
        let first = all + (layer * self.directions() + direction) * count * vector;
        let biases = [has[0].then_some(first), has[1].then_some(first + if has[0] { vector } else { 0 })];
        Place { input, state, projection: state + vector * self.projected, biases }
    }
}
