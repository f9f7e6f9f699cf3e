//! One layer in one direction over one segment as a primitive, its weights in the primitive's layout, and copies between the caller's layouts
//! and packed rows.

use super::data::Sequences;
use super::desc::Network;
use super::plan::{Kept, Plan, Segment};
use crate::enums::*;
use crate::exec::{Blend, Job, repeated};
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Prop, Reorder, Rnn, RnnActivation, RnnCell, RnnDirection};
use oxidnn_spec::{Arg, DataType, Dims, Real, Tensor};

/// Size in bytes of `n` elements of a type.
pub(super) fn numbers(real: DataType, n: i64) -> usize {
    n as usize * (real.bits() / 8)
}

/// `to = blend(from, to)` of contiguous elements.
pub(super) fn copy(handle: &Handle, [from, to]: [Data; 2], (count, real): (i64, DataType), blend: Blend) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    let row = Tensor::plain([count], real)?;
    handle.combine((&row, from.into()), (&row, to.into()), blend)
}

/// Fills `tensor` with a value, passed as its bytes.
pub(super) fn fill(handle: &Handle, (tensor, to): (&Tensor, Data), value: &[u8]) -> Result<(), Failure> {
    let one = Tensor::plain(Dims::filled(tensor.dims().len(), 1), tensor.dtype)?;
    let memory = Memory::new(handle.engine(), one.clone())?;
    let mut mapped = memory.map_mut(0)?;
    mapped[..value.len()].copy_from_slice(value);
    mapped.unmap()?;
    let seen = repeated(&one, tensor.dims())?;
    Job::new(Reorder { src: seen.clone(), dst: tensor.clone() }).arg(Arg::SRC, memory.view(seen)?).arg(Arg::DST, to).run(handle)
}

/// Sets contiguous elements to zero.
pub(super) fn zero(handle: &Handle, to: Data, (count, real): (i64, DataType)) -> Result<(), Failure> {
    if count == 0 { Ok(()) } else { handle.clear(&Tensor::plain([count], real)?, to) }
}

/// Copies between the caller's sequences and packed rows.
pub(super) struct Exchange<'a> {
    pub(super) handle: &'a Handle,
    pub(super) sequences: &'a Sequences,
    pub(super) plan: &'a Plan,
}

impl Exchange<'_> {
    /// Strides of steps and samples in the caller's memory, in elements.
    fn strides(&self) -> [i64; 2] {
        let s = self.sequences;
        match s.layout {
            CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED => [s.channels, s.steps * s.channels],
            _ => [s.batch * s.channels, s.channels],
        }
    }

    fn at(&self, data: Data, elements: i64) -> Data {
        data.behind(self.sequences.dtype.bytes(elements as usize).unwrap_or(0))
    }

    /// Calls `f` for each pair of corresponding tensors in the caller's memory and in the packed rows.
    fn parts(
        &self,
        user: Data,
        packed: Data,
        mut f: impl FnMut((Tensor, Data), (Tensor, Data)) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (c, dtype) = (self.sequences.channels, self.sequences.dtype);
        if self.sequences.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED {
            let rows = [self.plan.rows, c];
            return f((Tensor::plain(rows, dtype)?, user), (Tensor::plain(rows, self.plan.real)?, packed));
        }
        let [step, sample] = self.strides();
        for segment in &self.plan.segments {
            let whole = self.plan.is_sorted();
            let (count, width) = if whole { (1, segment.samples) } else { (segment.samples, 1) };
            for rank in 0..count {
                let dims = [segment.steps, width, c];
                let first = if whole { 0 } else { self.plan.order[rank as usize] as i64 };
                let theirs = Tensor::with_strides(dims, dtype, Some(Dims::from([step, sample, 1])))?;
                let ours = Tensor::with_strides(dims, self.plan.real, Some(Dims::from([segment.samples * c, c, 1])))?;
                let place = self.at(user, segment.start * step + first * sample);
                f((theirs, place), (ours, packed.behind(numbers(self.plan.real, (segment.row + rank) * c))))?;
            }
        }
        Ok(())
    }

    /// Copies the caller's sequences to packed rows.
    pub(super) fn gather(&self, user: Data, packed: Data) -> Result<(), Failure> {
        self.parts(user, packed, |theirs, ours| self.handle.combine((&theirs.0, theirs.1.into()), (&ours.0, ours.1.into()), Blend::PLAIN))
    }

    /// Copies packed rows to the caller's sequences and pads these.
    pub(super) fn scatter(&self, packed: Data, user: Data) -> Result<(), Failure> {
        self.parts(user, packed, |theirs, ours| self.handle.combine((&ours.0, ours.1.into()), (&theirs.0, theirs.1.into()), Blend::PLAIN))?;
        let s = self.sequences;
        let Some(value) = s.fill.as_deref().filter(|_| s.layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) else { return Ok(()) };
        let [step, sample] = self.strides();
        for (n, &length) in s.lengths.iter().enumerate().filter(|(_, l)| i64::from(**l) < s.steps) {
            let length = i64::from(length);
            let behind = Tensor::with_strides([s.steps - length, s.channels], s.dtype, Some(Dims::from([step, 1])))?;
            fill(self.handle, (&behind, self.at(user, length * step + n as i64 * sample)), value)?;
        }
        Ok(())
    }
}

/// The caller's states, (layers x directions) x samples x channels, in the caller's type; null stands for zeros.
#[derive(Clone, Copy)]
pub(super) struct States<'a> {
    pub(super) handle: &'a Handle,
    pub(super) plan: &'a Plan,
    pub(super) dtype: DataType,
    pub(super) channels: i64,
    pub(super) data: Data,
}

impl States<'_> {
    /// Copies the states of the samples `from..to`, in order of length, of a layer and direction to `rows`, or if `out` from there.
    pub(super) fn exchange(&self, index: i64, (from, to): (i64, i64), rows: Data, out: bool) -> Result<(), Failure> {
        if from >= to || self.channels == 0 || self.data.is_null() && out {
            return Ok(());
        }
        let place = rows.behind(numbers(self.plan.real, from * self.channels));
        if self.data.is_null() {
            return zero(self.handle, place, ((to - from) * self.channels, self.plan.real));
        }
        let sorted = self.plan.is_sorted();
        for rank in from..if sorted { from + 1 } else { to } {
            let count = if sorted { to - from } else { 1 };
            let sample = self.plan.order[rank as usize] as i64;
            let row = index * self.plan.batch + sample;
            let theirs = self.data.behind(self.dtype.bytes((row * self.channels) as usize).unwrap_or(0));
            let ours = rows.behind(numbers(self.plan.real, rank * self.channels));
            let of = |dtype| Tensor::plain([count * self.channels], dtype);
            let (user, packed) = ((of(self.dtype)?, theirs), (of(self.plan.real)?, ours));
            let (src, dst) = if out { (packed, user) } else { (user, packed) };
            self.handle.combine((&src.0, src.1.into()), (&dst.0, dst.1.into()), Blend::PLAIN)?;
        }
        Ok(())
    }
}

/// The weights of one layer in one direction in the primitive's layout, or their gradients.
pub(super) struct Weights {
    pub(super) input: Data,
    pub(super) state: Data,
    pub(super) projection: Data,
    pub(super) bias: Option<Data>,
    /// The buffers of those that are not in the weight space: reordered gates, identity matrices, sums of biases.
    own: Vec<Memory<'static>>,
}

/// A layer and direction of a weight space.
#[derive(Clone, Copy)]
struct Spot {
    base: Data,
    at: (i64, i64),
}

/// Index of a GRU's gate in the primitive (update, reset, new) by its index in cuDNN (reset, update, new).
const GRU: [i64; 3] = [1, 0, 2];

/// For each bias of cuDNN's (side, gate): the bias of the primitive to which it is added.
fn bias_slots(network: &Network) -> Vec<(usize, i64, i64)> {
    let gates = network.gates();
    let slot = |side: usize, gate: i64| match network.cell {
        CUDNN_GRU if gate == 2 => 2 + side as i64,
        CUDNN_GRU => GRU[gate as usize],
        _ => gate,
    };
    (0..2).flat_map(|side| (0..gates).map(move |gate| (side, gate, slot(side, gate)))).collect()
}

/// Bias vectors of the primitive.
fn bias_gates(network: &Network) -> i64 {
    if network.cell == CUDNN_GRU { 4 } else { network.gates() }
}

impl Weights {
    /// The weights from a weight space in the compute type.
    pub(super) fn new(handle: &Handle, network: &Network, base: Data, at: (i64, i64)) -> Result<Weights, Failure> {
        let weights = Weights::blank(handle, network, base, at)?;
        weights.turn(handle, network, Spot { base, at }, true)?;
        if network.skips(at.0) {
            weights.identity(network)?;
        }
        if let Some(bias) = weights.bias {
            let (place, real) = (network.place(at.0, at.1), network.real());
            for (side, gate, slot) in bias_slots(network) {
                let Some(at) = place.biases[side] else { continue };
                let from = base.behind(numbers(real, at + gate * network.hidden));
                let pair = [from, bias.behind(numbers(real, slot * network.hidden))];
                copy(handle, pair, (network.hidden, real), Blend { alpha: 1.0, beta: 1.0 })?;
            }
        }
        Ok(weights)
    }

    /// Copies the gates of a GRU to the primitive's order, or back to the weight space.
    fn turn(&self, handle: &Handle, network: &Network, spot: Spot, inward: bool) -> Result<(), Failure> {
        if network.cell != CUDNN_GRU {
            return Ok(());
        }
        let Spot { base, at: (layer, direction) } = spot;
        let (place, real) = (network.place(layer, direction), network.real());
        let input = (!network.skips(layer)).then_some((place.input, self.input, network.inputs(layer)));
        for (at, ours, channels) in input.into_iter().chain([(place.state, self.state, network.projected)]) {
            let matrix = network.hidden * channels;
            for (gate, slot) in GRU.iter().enumerate() {
                let pair = [base.behind(numbers(real, at + gate as i64 * matrix)), ours.behind(numbers(real, slot * matrix))];
                copy(handle, if inward { pair } else { [pair[1], pair[0]] }, (matrix, real), Blend::PLAIN)?;
            }
        }
        Ok(())
    }

    /// Sets the matrices on the input to identities, for `CUDNN_SKIP_INPUT`.
    fn identity(&self, network: &Network) -> Result<(), Failure> {
        let n = network.hidden as usize;
        let ones: Vec<f64> = (0..network.gates() as usize * n * n).map(|i| f64::from(u8::from(i / n % n == i % n))).collect();
        let matrix = self.own.first().ok_or_else(|| Failure::null("the matrices on the input"))?;
        Ok(matrix.write_f64(&ones)?)
    }

    /// Zeroed buffers for weights whose gates are reordered, for matrices that the weight space lacks, and for biases. The others point into the weight
    /// space.
    fn blank(handle: &Handle, network: &Network, base: Data, (layer, direction): (i64, i64)) -> Result<Weights, Failure> {
        let (place, real) = (network.place(layer, direction), network.real());
        let mut own = Vec::new();
        let mut room = |count: i64| -> Result<Data, Failure> {
            let memory = Memory::new(handle.engine(), Tensor::plain([count], real)?)?;
            own.push(memory);
            Ok(own.last().map_or(Data::NULL, Data::of))
        };
        let vector = network.gates() * network.hidden;
        let turned = network.cell == CUDNN_GRU;
        let at = |n: i64| base.behind(numbers(real, n));
        let input = if turned || network.skips(layer) { room(vector * network.inputs(layer))? } else { at(place.input) };
        let state = if turned { room(vector * network.projected)? } else { at(place.state) };
        let biased = network.bias != CUDNN_RNN_NO_BIAS;
        let bias = if biased { Some(room(bias_gates(network) * network.hidden)?) } else { None };
        Ok(Weights { input, state, projection: at(place.projection), bias, own })
    }

    /// Buffers for gradients; `base` must be zeroed.
    pub(super) fn gradients(handle: &Handle, network: &Network, base: Data, at: (i64, i64)) -> Result<Weights, Failure> {
        Weights::blank(handle, network, base, at)
    }

    /// Copies gradients that have buffers of their own to the weight space.
    pub(super) fn put(&self, handle: &Handle, network: &Network, base: Data, at: (i64, i64)) -> Result<(), Failure> {
        self.turn(handle, network, Spot { base, at }, false)?;
        let (place, real) = (network.place(at.0, at.1), network.real());
        for (side, gate, slot) in bias_slots(network) {
            let (Some(at), Some(bias)) = (place.biases[side], self.bias) else { continue };
            let to = base.behind(numbers(real, at + gate * network.hidden));
            copy(handle, [bias.behind(numbers(real, slot * network.hidden)), to], (network.hidden, real), Blend::PLAIN)?;
        }
        Ok(())
    }
}

/// One layer in one direction over one segment.
pub(super) struct Step<'a> {
    pub(super) network: &'a Network,
    pub(super) layer: i64,
    pub(super) direction: i64,
    pub(super) segment: Segment,
}

impl Step<'_> {
    /// The segment's rows of packed rows with `channels` channels, `width` channels of each.
    fn rows(&self, channels: i64, width: i64) -> Result<Tensor, Failure> {
        let Segment { steps, samples, .. } = self.segment;
        Ok(Tensor::with_strides([steps, samples, width], DataType::F32, Some(Dims::from([samples * channels, channels, 1])))?)
    }

    /// The address of the segment's rows, at channel `first`.
    pub(super) fn row(&self, packed: Data, channels: i64, first: i64) -> Data {
        packed.behind(numbers(self.network.real(), self.segment.row * channels + first))
    }

    /// The operation in a forward pass.
    pub(super) fn op(&self, prop: Prop) -> Result<Rnn, Failure> {
        let Step { network, layer, segment, .. } = *self;
        let Network { hidden, projected, .. } = *network;
        let (inputs, gates) = (network.inputs(layer), network.gates());
        let lstm = network.cell == CUDNN_LSTM;
        let state = |channels: i64| Tensor::plain([1, 1, segment.samples, channels], DataType::F32);
        let matrix = |from: i64| {
            let strides = [gates * hidden * from, gates * hidden * from, 1, hidden * from, from];
            Tensor::with_strides([1, 1, from, gates, hidden], DataType::F32, Some(strides.into()))
        };
        let projection = [projected * hidden, projected * hidden, 1, hidden];
        let project = || Tensor::with_strides([1, 1, hidden, projected], DataType::F32, Some(projection.into()));
        let cell = match network.cell {
            CUDNN_LSTM => RnnCell::Lstm,
            CUDNN_GRU => RnnCell::LbrGru,
            _ => RnnCell::Vanilla,
        };
        let bias = (network.bias != CUDNN_RNN_NO_BIAS).then(|| Tensor::plain([1, 1, bias_gates(network), hidden], DataType::F32));
        Ok(Rnn {
            prop,
            cell,
            activation: if network.cell == CUDNN_RNN_RELU { RnnActivation::Relu } else { RnnActivation::Tanh },
            alpha: Real::new(0.0),
            direction: if self.direction == 0 { RnnDirection::Left2Right } else { RnnDirection::Right2Left },
            diff_weights_overwrite: false,
            src_layer: self.rows(inputs, inputs)?,
            src_iter: Some(state(projected)?),
            src_iter_c: if lstm { Some(state(hidden)?) } else { None },
            attention: None,
            weights_layer: matrix(inputs)?,
            weights_iter: matrix(projected)?,
            weights_peephole: None,
            weights_projection: if network.projects() { Some(project()?) } else { None },
            bias: bias.transpose()?,
            dst_layer: self.rows(network.outputs(), projected)?,
            dst_iter: Some(state(projected)?),
            dst_iter_c: if lstm { Some(state(hidden)?) } else { None },
            diff: None,
            workspace: None,
        })
    }

    /// The job with the arguments of both passes: data, states, weights, workspace; `base` is the reserve space.
    pub(super) fn job(&self, op: Rnn, [inputs, outputs]: [Data; 2], weights: &Weights, (base, kept): (Data, &Kept)) -> Job {
        let (network, lstm) = (self.network, self.network.cell == CUDNN_LSTM);
        let state = |i: usize| base.behind(kept.states[i]);
        let channels = network.inputs(self.layer);
        let job = Job::new(op).arg(Arg::SRC, self.row(inputs, channels, 0)).arg(Arg::SRC_1, state(0));
        let job = job.arg_if(Arg::SRC_2, lstm.then(|| state(2))).arg(Arg::WEIGHTS, weights.input).arg(Arg::WEIGHTS_1, weights.state);
        let job = job.arg_if(Arg::WEIGHTS_3, network.projects().then_some(weights.projection)).arg_if(Arg::BIAS, weights.bias);
        let job = job.arg(Arg::DST, self.row(outputs, network.outputs(), self.direction * network.projected)).arg(Arg::DST_1, state(1));
        job.arg_if(Arg::DST_2, lstm.then(|| state(3))).arg(Arg::WORKSPACE, base.behind(kept.workspace))
    }
}
