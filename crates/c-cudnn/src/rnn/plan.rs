//! Segments of time steps with the same active samples, and the layout of a call's intermediate results.
//!
//! Packed rows: segment after segment, step after step, a row per active sample, in order of decreasing length.

use super::data::Sequences;
use super::desc::Network;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::{DataType, Tensor};

/// Consecutive time steps with the same active samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    /// The first step, and the number of steps.
    pub(super) start: i64,
    pub(super) steps: i64,
    /// Active samples: the first ones in order of length.
    pub(super) samples: i64,
    /// The first of its packed rows.
    pub(super) row: i64,
}

/// The segments of some sequences, and the order of samples.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) segments: Vec<Segment>,
    /// Samples, longest first.
    pub(super) order: Vec<usize>,
    pub(super) batch: i64,
    /// Packed rows in all.
    pub(super) rows: i64,
    /// The compute type.
    pub(super) real: DataType,
}

impl Plan {
    /// # Errors
    /// `BAD_PARAM` for empty sequences.
    pub(super) fn new(sequences: &Sequences) -> Result<Plan, Failure> {
        let lengths: Vec<i64> = sequences.lengths.iter().map(|&l| i64::from(l)).collect();
        if let Some(n) = lengths.iter().position(|&l| l == 0) {
            return Err(Failure::invalid("seqLengthArray", format_args!("0 for sample {n}"), "at least 1 step to compute"));
        }
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&n| -lengths[n]);
        let (mut segments, mut start, mut row) = (Vec::new(), 0, 0);
        for samples in (1..=order.len()).rev() {
            let end = lengths[order[samples - 1]];
            if end > start {
                let segment = Segment { start, steps: end - start, samples: samples as i64, row };
                row += segment.steps * segment.samples;
                start = end;
                segments.push(segment);
            }
        }
        let real = if sequences.dtype == DataType::F64 { DataType::F64 } else { DataType::F32 };
        Ok(Plan { segments, order, batch: sequences.batch, rows: row, real })
    }

    /// Whether the caller's samples are in order of length.
    pub(super) fn is_sorted(&self) -> bool {
        self.order.iter().enumerate().all(|(i, &n)| i == n)
    }

    /// The segments in the order in which a direction runs through time.
    pub(super) fn walk(&self, reverse: bool) -> Vec<usize> {
        let forward = 0..self.segments.len();
        if reverse { forward.rev().collect() } else { forward.collect() }
    }
}

/// Offsets of the parts of the reserve space, in bytes.
#[derive(Clone, Debug)]
pub(super) struct Reserve {
    /// The layers' inputs, as packed rows of the compute type.
    pub(super) inputs: Vec<usize>,
    /// Their outputs.
    pub(super) outputs: Vec<usize>,
    /// The dropout masks of the layers' inputs.
    pub(super) masks: Vec<usize>,
    /// By layer, direction and segment: the primitive's workspace, initial and final states.
    pub(super) kept: Vec<Kept>,
    /// Gradients of the weight space, in the compute type.
    pub(super) weights: usize,
    pub(super) bytes: usize,
}

/// What is kept of one primitive's execution.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Kept {
    pub(super) workspace: usize,
    /// Hidden states before and after, cell states before and after.
    pub(super) states: [usize; 4],
}

/// Allocates consecutive parts of a buffer.
struct Parts(usize);

impl Parts {
    fn take(&mut self, bytes: usize) -> usize {
        let at = self.0;
        self.0 = (self.0 + bytes).next_multiple_of(64);
        at
    }
}

impl Reserve {
    /// The parts for a network; `weights` and `workspace` give bytes: of the weight space, and of the workspace of a layer's primitive on a segment.
    ///
    /// # Errors
    /// Those of `workspace`.
    pub(super) fn new(
        network: &Network,
        plan: &Plan,
        weights: usize,
        workspace: impl Fn(i64, &Segment) -> Result<usize, Failure>,
    ) -> Result<Reserve, Failure> {
        let mut parts = Parts(0);
        let numbers = |n: i64| super::layer::numbers(plan.real, n);
        let (mut inputs, mut outputs, mut masks, mut kept) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for layer in 0..network.layers {
            inputs.push(parts.take(numbers(plan.rows * network.inputs(layer))));
            outputs.push(parts.take(numbers(plan.rows * network.outputs())));
            masks.push(if layer > 0 { parts.take((plan.rows * network.inputs(layer)) as usize) } else { 0 });
            for _ in 0..network.directions() {
                for segment in &plan.segments {
                    let cell = if network.cell == CUDNN_LSTM { network.hidden } else { 0 };
                    let state = |parts: &mut Parts, channels: i64| parts.take(numbers(segment.samples * channels));
                    let states = [network.projected, network.projected, cell, cell].map(|channels| state(&mut parts, channels));
                    kept.push(Kept { workspace: parts.take(workspace(layer, segment)?), states });
                }
            }
        }
        let weights = parts.take(weights);
        Ok(Reserve { inputs, outputs, masks, kept, weights, bytes: parts.0 + 63 })
    }
}

impl Plan {
    /// The packed rows as a tensor.
    pub(super) fn packed(&self, channels: i64) -> Result<Tensor, Failure> {
        Ok(Tensor::plain([self.rows, channels], self.real)?)
    }
}
