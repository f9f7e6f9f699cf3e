//! The backward pass, which computes all gradients at once.

use super::forward::{Call, Ends};
use super::layer::{Step, Weights, copy, zero};
use super::plan::Kept;
use crate::enums::*;
use crate::exec::Blend;
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Prop, RnnDiff};
use oxidnn_spec::{Arg, Tensor};

/// The gradients that one layer in one direction reads and writes.
struct Sides {
    /// Gradients of the layer's outputs (read) and inputs (written), as packed rows.
    given: Data,
    wanted: Data,
    /// Gradients of the caller's final (read) and initial (written) states.
    ends: Ends,
}

/// The gradients that one step reads and writes.
#[derive(Clone, Copy)]
pub(super) struct Flow<'a> {
    sides: &'a Sides,
    /// Gradients of the states after and before the segment: hidden and cell state.
    pub(super) after: [Data; 2],
    pub(super) before: [Data; 2],
    /// The start of the reserve space.
    pub(super) base: Data,
}

impl Flow<'_> {
    /// Gradients of the layer's outputs and inputs, at the segment's rows.
    pub(super) fn rows(&self, step: &Step<'_>) -> [Data; 2] {
        let network = step.network;
        let given = step.row(self.sides.given, network.outputs(), step.direction * network.projected);
        [given, step.row(self.sides.wanted, network.inputs(step.layer), 0)]
    }
}

impl Step<'_> {
    /// The primitive's backward pass.
    fn primitive_back(
        &self,
        handle: &Handle,
        data: [Data; 2],
        weights: [&Weights; 2],
        (kept, flow): (&Kept, Flow<'_>),
    ) -> Result<(), Failure> {
        let mut op = self.op(Prop::Backward)?;
        op.diff = Some(RnnDiff {
            src_layer: op.src_layer.clone(),
            src_iter: op.src_iter.clone(),
            src_iter_c: op.src_iter_c.clone(),
            attention: None,
            weights_layer: op.weights_layer.clone(),
            weights_iter: op.weights_iter.clone(),
            weights_peephole: None,
            weights_projection: op.weights_projection.clone(),
            bias: op.bias.clone(),
            dst_layer: op.dst_layer.clone(),
            dst_iter: op.dst_iter.clone(),
            dst_iter_c: op.dst_iter_c.clone(),
        });
        let (lstm, [weights, gradients], [given, wanted]) = (self.network.cell == CUDNN_LSTM, weights, flow.rows(self));
        let job = self.job(op, data, weights, (flow.base, kept)).arg(Arg::DIFF_DST, given);
        let job = job.arg(Arg::DIFF_DST_1, flow.after[0]).arg_if(Arg::DIFF_DST_2, lstm.then_some(flow.after[1]));
        let job = job.arg(Arg::DIFF_SRC, wanted).arg(Arg::DIFF_SRC_1, flow.before[0]);
        let job = job.arg_if(Arg::DIFF_SRC_2, lstm.then_some(flow.before[1])).arg(Arg::DIFF_WEIGHTS, gradients.input);
        let job = job.arg(Arg::DIFF_WEIGHTS_1, gradients.state).arg(Arg::DIFF_WEIGHTS_3, gradients.projection);
        job.arg_if(Arg::DIFF_BIAS, gradients.bias).run(handle)
    }
}

impl Call<'_> {
    /// Computes the gradients of data and states into the caller's memory, those of the weights into the reserve space.
    pub(super) fn backward(&self, base: Data, weights: Data, [dy, dx]: [Data; 2], ends: Ends) -> Result<(), Failure> {
        let network = self.network;
        let (space, held) = self.weights(weights)?;
        let real = network.real();
        zero(self.handle, base.behind(self.reserve.weights), (network.numbers(), real))?;
        let rows =
            |channels: i64| -> Result<Memory<'static>, Failure> { Ok(Memory::new(self.handle.engine(), self.plan.packed(channels)?)?) };
        let mut given = rows(network.outputs())?;
        self.exchange(self.y).gather(dy, Data::of(&given))?;
        for layer in (0..network.layers).rev() {
            let channels = network.inputs(layer);
            let (sum, second) = (rows(channels)?, rows(channels)?);
            for direction in 0..network.directions() {
                let wanted = Data::of(if direction == 0 { &sum } else { &second });
                self.walk_back(base, (layer, direction), space, Sides { given: Data::of(&given), wanted, ends })?;
            }
            if network.bidirectional {
                copy(self.handle, [Data::of(&second), Data::of(&sum)], (self.plan.rows * channels, real), Blend { alpha: 1.0, beta: 1.0 })?;
            }
            if layer > 0 && network.dropped() > 0.0 {
                self.mask(base, layer, Data::of(&sum))?;
            }
            self.finish(second)?;
            given = sum;
        }
        self.exchange(self.x).scatter(Data::of(&given), dx)?;
        self.finish((held, given))
    }

    /// Applies the dropout mask, in place.
    fn mask(&self, base: Data, layer: i64, rows: Data) -> Result<(), Failure> {
        let Some(dropout) = &self.network.dropout else { return Ok(()) };
        dropout.revert(
            self.handle,
            &self.plan.packed(self.network.inputs(layer))?,
            [rows, rows, base.behind(self.reserve.masks[layer as usize])],
        )
    }

    /// One layer in one direction, through its segments in reverse order.
    fn walk_back(&self, base: Data, at: (i64, i64), space: Data, sides: Sides) -> Result<(), Failure> {
        let (network, handle) = (self.network, self.handle);
        let weights = Weights::new(handle, network, space, at)?;
        let gradients = Weights::gradients(handle, network, base.behind(self.reserve.weights), at)?;
        let index = at.0 * network.directions() + at.1;
        let order = self.plan.walk(at.1 == 1);
        let l = at.0 as usize;
        let data = [base.behind(self.reserve.inputs[l]), base.behind(self.reserve.outputs[l])];
        let state = |channels: i64| -> Result<Memory<'static>, Failure> {
            Ok(Memory::new(handle.engine(), Tensor::plain([(self.plan.batch * channels).max(1)], self.plan.real)?)?)
        };
        // Gradients of the states after and before a segment: hidden and cell state.
        let after = [state(network.projected)?, state(network.hidden)?];
        let before = [state(network.projected)?, state(network.hidden)?];
        for (k, &j) in order.iter().enumerate().rev() {
            let segment = self.plan.segments[j];
            let samples = |k: Option<&usize>| k.map_or(0, |&n| self.plan.segments[n].samples);
            let passed = samples(order.get(k + 1)).min(segment.samples);
            let (ends, wanted) = ([sides.ends.hy, sides.ends.cy], [sides.ends.hx, sides.ends.cx]);
            for (i, (channels, ..)) in self.sides().into_iter().enumerate() {
                copy(handle, [Data::of(&before[i]), Data::of(&after[i])], (passed * channels, self.plan.real), Blend::PLAIN)?;
                self.states(ends[i], channels).exchange(index, (passed, segment.samples), Data::of(&after[i]), false)?;
            }
            let step = Step { network, layer: at.0, direction: at.1, segment };
            let kept = self.reserve.kept[self.kept(at, j)];
            let flow =
                Flow { sides: &sides, after: [0, 1].map(|i| Data::of(&after[i])), before: [0, 1].map(|i| Data::of(&before[i])), base };
            match network.by_loops() {
                true => step.walk_back(handle, data, [&weights, &gradients], (&kept, flow))?,
                false => step.primitive_back(handle, data, [&weights, &gradients], (&kept, flow))?,
            }
            let first = k.checked_sub(1).map_or(0, |k| samples(order.get(k)).min(segment.samples));
            for (i, (channels, ..)) in self.sides().into_iter().enumerate() {
                self.states(wanted[i], channels).exchange(index, (first, segment.samples), Data::of(&before[i]), true)?;
            }
        }
        gradients.put(handle, network, base.behind(self.reserve.weights), at)?;
        self.finish((weights, gradients, after, before))
    }

    /// Copies the weight gradients that [`Call::backward`] left to the caller, or adds them to the caller's values.
    pub(super) fn weight_gradients(&self, base: Data, to: Data, add: bool) -> Result<(), Failure> {
        let of = |dtype| Tensor::plain([self.network.numbers()], dtype);
        let (ours, theirs) = (of(self.network.real())?, of(self.network.dtype)?);
        let from = base.behind(self.reserve.weights);
        let blend = Blend { alpha: 1.0, beta: if add { 1.0 } else { 0.0 } };
        self.handle.combine((&ours, from.into()), (&theirs, to.into()), blend)
    }
}
