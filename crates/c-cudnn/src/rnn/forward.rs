//! The forward pass.

use super::data::Sequences;
use super::desc::{MOST_NUMBERS, Network};
use super::layer::{Exchange, States, Step, Weights, copy, numbers};
use super::plan::{Plan, Reserve};
use crate::enums::*;
use crate::exec::Blend;
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::Prop;
use oxidnn_spec::{Attr, DataType, Problem, Tensor};

/// What forward and backward passes have in common.
pub(super) struct Call<'a> {
    pub(super) handle: &'a Handle,
    pub(super) network: &'a Network,
    pub(super) x: &'a Sequences,
    pub(super) y: &'a Sequences,
    pub(super) plan: Plan,
    pub(super) reserve: Reserve,
}

/// The caller's initial and final states.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) hx: Data,
    pub(super) hy: Data,
    pub(super) cx: Data,
    pub(super) cy: Data,
}

impl<'a> Call<'a> {
    /// # Errors
    /// `BAD_PARAM` if the data do not fit the network.
    pub(super) fn new(handle: &'a Handle, network: &'a Network, [x, y]: [&'a Sequences; 2]) -> Result<Call<'a>, Failure> {
        let alike = x.lengths == y.lengths
            && x.steps == y.steps
            && x.dtype == y.dtype
            && (x.dtype == DataType::F64) == (network.dtype == DataType::F64);
        if !alike {
            return Err(Failure::shape(
                "yDesc",
                "other lengths or another type",
                "those of xDesc, doubles where the network is of doubles",
            ));
        }
        if x.channels != network.input || y.channels != network.outputs() {
            let got = format_args!("vectors of {} and {}", x.channels, y.channels);
            return Err(Failure::shape("xDesc and yDesc", got, format_args!("{} and {}", network.input, network.outputs())));
        }
        let plan = Plan::new(x)?;
        let reserve = layout(network, &plan)?;
        Ok(Call { handle, network, x, y, plan, reserve })
    }

    /// Copies between the caller's sequences and packed rows.
    pub(super) fn exchange(&self, sequences: &'a Sequences) -> Exchange<'_> {
        Exchange { handle: self.handle, sequences, plan: &self.plan }
    }

    /// The caller's states of `channels` channels.
    pub(super) fn states(&self, data: Data, channels: i64) -> States<'_> {
        States { handle: self.handle, plan: &self.plan, dtype: self.x.dtype, channels, data }
    }

    /// The weight space in the compute type, and its owner if it is a copy.
    pub(super) fn weights(&self, data: Data) -> Result<(Data, Option<Memory<'static>>), Failure> {
        if self.network.dtype == self.network.real() {
            return Ok((data, None));
        }
        let of = |dtype| Tensor::plain([self.network.numbers()], dtype);
        let (theirs, ours) = (of(self.network.dtype)?, of(self.network.real())?);
        let memory = Memory::new(self.handle.engine(), ours.clone())?;
        self.handle.combine((&theirs, data.into()), (&ours, memory.view(ours.clone())?.into()), Blend::PLAIN)?;
        Ok((Data::of(&memory), Some(memory)))
    }

    /// The index in `reserve.kept` of a layer, direction and segment.
    pub(super) fn kept(&self, (layer, direction): (i64, i64), segment: usize) -> usize {
        (layer * self.network.directions() + direction) as usize * self.plan.segments.len() + segment
    }

    /// Hidden and cell state: channels, and the indices of initial and final state in `Kept::states`.
    pub(super) fn sides(&self) -> [(i64, usize, usize); 2] {
        let cell = if self.network.cell == CUDNN_LSTM { self.network.hidden } else { 0 };
        [(self.network.projected, 0, 1), (cell, 2, 3)]
    }

    /// Computes the outputs; intermediate results go to `base`, which is laid out as a reserve space.
    pub(super) fn forward(&self, base: Data, training: bool, weights: Data, [x, y]: [Data; 2], ends: Ends) -> Result<(), Failure> {
        let (space, held) = self.weights(weights)?;
        self.exchange(self.x).gather(x, base.behind(self.reserve.inputs[0]))?;
        let prop = if training { Prop::ForwardTraining } else { Prop::ForwardInference };
        for layer in 0..self.network.layers {
            if layer > 0 {
                self.hand_on(base, layer, training)?;
            }
            for direction in 0..self.network.directions() {
                self.walk(base, prop, [layer, direction], space, ends)?;
            }
        }
        let last = self.network.layers as usize - 1;
        self.exchange(self.y).scatter(base.behind(self.reserve.outputs[last]), y)?;
        self.finish(held)
    }

    /// Waits for the call's work, then frees the call's own memory.
    pub(super) fn finish<T>(&self, held: T) -> Result<(), Failure> {
        if !self.handle.stream().is_synchronous() {
            self.handle.stream().wait()?;
        }
        drop(held);
        Ok(())
    }

    /// Copies a layer's output to the next layer's input, with dropout in training.
    fn hand_on(&self, base: Data, layer: i64, training: bool) -> Result<(), Failure> {
        let l = layer as usize;
        let (from, to) = (base.behind(self.reserve.outputs[l - 1]), base.behind(self.reserve.inputs[l]));
        let rows = self.plan.packed(self.network.inputs(layer))?;
        let Some(dropout) = self.network.dropout.filter(|d| training && d.probability > 0.0) else {
            return copy(self.handle, [from, to], (self.plan.rows * self.network.inputs(layer), self.plan.real), Blend::PLAIN);
        };
        dropout.apply(self.handle, &rows, [from, to, base.behind(self.reserve.masks[l])])
    }

    /// One layer in one direction, segment by segment; a segment's final states are the next one's initial states.
    fn walk(&self, base: Data, prop: Prop, layer: [i64; 2], space: Data, ends: Ends) -> Result<(), Failure> {
        let at = (layer[0], layer[1]);
        let weights = Weights::new(self.handle, self.network, space, at)?;
        let index = at.0 * self.network.directions() + at.1;
        let order = self.plan.walk(at.1 == 1);
        let l = at.0 as usize;
        let data = [base.behind(self.reserve.inputs[l]), base.behind(self.reserve.outputs[l])];
        for (k, &j) in order.iter().enumerate() {
            let segment = self.plan.segments[j];
            let kept = self.reserve.kept[self.kept(at, j)];
            let before = k.checked_sub(1).map(|k| order[k]);
            let alive = before.map_or(0, |p| self.plan.segments[p].samples.min(segment.samples));
            for ((channels, start, end), given) in self.sides().into_iter().zip([ends.hx, ends.cx]) {
                if let Some(p) = before {
                    let from = base.behind(self.reserve.kept[self.kept(at, p)].states[end]);
                    copy(self.handle, [from, base.behind(kept.states[start])], (alive * channels, self.plan.real), Blend::PLAIN)?;
                }
                self.states(given, channels).exchange(index, (alive, segment.samples), base.behind(kept.states[start]), false)?;
            }
            let step = Step { network: self.network, layer: at.0, direction: at.1, segment };
            match self.network.by_loops() {
                true => step.walk(self.handle, data, &weights, (base, &kept))?,
                false => step.job(step.op(prop)?, data, &weights, (base, &kept)).run(self.handle)?,
            }
            let next = order.get(k + 1).map_or(0, |&n| self.plan.segments[n].samples);
            for ((channels, _, end), given) in self.sides().into_iter().zip([ends.hy, ends.cy]) {
                self.states(given, channels).exchange(index, (next, segment.samples), base.behind(kept.states[end]), true)?;
            }
        }
        self.finish(weights)
    }
}

/// The layout of a network's intermediate results for some sequences.
///
/// # Errors
/// If the primitive refuses the network.
pub(super) fn layout(network: &Network, plan: &Plan) -> Result<Reserve, Failure> {
    let wide = |n: i64| i128::from(n);
    let columns = wide(network.input) + 2 * wide(network.outputs()) + 10 * wide(network.hidden);
    if wide(plan.rows) * wide(network.layers) * columns > MOST_NUMBERS {
        return Err(Failure::unsupported("a network over so many steps that it keeps more than 2^48 numbers"));
    }
    Reserve::new(network, plan, numbers(plan.real, network.numbers()), |layer, segment| {
        if network.by_loops() {
            return Ok(0);
        }
        let step = Step { network, layer, direction: 0, segment: *segment };
        let problem = Problem::new(step.op(Prop::ForwardTraining)?, Attr::default())?;
        Ok(problem.op.workspace().map_or(0, Tensor::bytes))
    })
}
