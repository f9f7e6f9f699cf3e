//! Networks that the primitive does not support, computed by loops on the host over the same buffers.

use super::backward::Flow;
use super::desc::Network;
use super::layer::{Step, Weights};
use super::plan::Kept;
use crate::enums::*;
use crate::handle::Handle;
use crate::loops::recurrence::{Cell, Kind, Matrices, Rows};
use crate::loops::view::{host, load, store};
use crate::pointers::{Data, host_bytes, host_bytes_mut};
use crate::status::Failure;
use oxidnn_spec::DataType;

/// A matrix of `rows` x `width` elements with a row stride of `stride` elements.
#[derive(Clone, Copy)]
struct Grid {
    real: DataType,
    at: Data,
    rows: i64,
    width: i64,
    stride: i64,
}

impl Grid {
    /// Contiguous rows.
    fn dense(real: DataType, at: Data, rows: i64, width: i64) -> Grid {
        Grid { real, at, rows, width, stride: width }
    }

    fn bytes(&self) -> impl Iterator<Item = Data> {
        let (step, grid) = (self.real.bits() / 8, *self);
        (0..grid.rows).flat_map(move |r| (0..grid.width).map(move |c| grid.at.behind((r * grid.stride + c) as usize * step)))
    }

    fn read(&self) -> Vec<f64> {
        self.bytes().map(|at| load(self.real, host_bytes(at, self.real.bits() / 8))).collect()
    }

    fn write(&self, values: &[f64]) {
        self.bytes().zip(values).for_each(|(at, &v)| store(self.real, host_bytes_mut(at, self.real.bits() / 8), v));
    }
}

/// The weights of a layer, or their gradients.
fn grids(network: &Network, layer: i64, weights: &Weights) -> [Option<Grid>; 4] {
    let (real, vector) = (network.real(), network.gates() * network.hidden);
    let biases = if network.cell == CUDNN_GRU { 4 } else { network.gates() };
    [
        Some(Grid::dense(real, weights.input, vector, network.inputs(layer))),
        Some(Grid::dense(real, weights.state, vector, network.projected)),
        network.projects().then(|| Grid::dense(real, weights.projection, network.projected, network.hidden)),
        weights.bias.map(|at| Grid::dense(real, at, biases, network.hidden)),
    ]
}

fn matrices(grids: &[Option<Grid>; 4]) -> Matrices {
    let [input, state, projection, bias] = grids.map(|g| g.map_or(Vec::new(), |g| g.read()));
    Matrices { input, state, projection, bias }
}

impl Step<'_> {
    fn cell(&self) -> Cell {
        let (network, size) = (self.network, |n: i64| n as usize);
        Cell {
            kind: match network.cell {
                CUDNN_LSTM => Kind::Lstm,
                CUDNN_GRU => Kind::Gru,
                CUDNN_RNN_TANH => Kind::Tanh,
                _ => Kind::Relu,
            },
            clip: network.bounds(),
            steps: size(self.segment.steps),
            samples: size(self.segment.samples),
            inputs: size(network.inputs(self.layer)),
            hidden: size(network.hidden),
            projected: size(network.projected),
            reverse: self.direction == 1,
        }
    }

    /// The segment's part of the packed rows.
    fn grid(&self, at: Data, width: i64, stride: i64) -> Grid {
        Grid { real: self.network.real(), at, rows: self.segment.steps * self.segment.samples, width, stride }
    }

    /// The states of the samples: hidden state, and cell state of an LSTM.
    fn states(&self, [h, c]: [Data; 2]) -> [Grid; 2] {
        let (network, real) = (self.network, self.network.real());
        let cell = if network.cell == CUDNN_LSTM { network.hidden } else { 0 };
        [Grid::dense(real, h, self.segment.samples, network.projected), Grid::dense(real, c, self.segment.samples, cell)]
    }

    /// The inputs of the step: data and initial states.
    fn given(&self, inputs: Data, (base, kept): (Data, &Kept)) -> Rows {
        let (network, channels) = (self.network, self.network.inputs(self.layer));
        let x = self.grid(self.row(inputs, channels, 0), channels, channels);
        let [h, c] = self.states([base.behind(kept.states[0]), base.behind(kept.states[2])]);
        Rows { x: x.read(), y: vec![0.0; (x.rows * network.projected) as usize], h: h.read(), c: c.read() }
    }

    /// The forward pass.
    pub(super) fn walk(
        &self,
        handle: &Handle,
        [inputs, outputs]: [Data; 2],
        weights: &Weights,
        (base, kept): (Data, &Kept),
    ) -> Result<(), Failure> {
        host(handle)?;
        let network = self.network;
        let mut rows = self.given(inputs, (base, kept));
        self.cell().forward(&matrices(&grids(network, self.layer, weights)), &mut rows);
        let first = self.direction * network.projected;
        self.grid(self.row(outputs, network.outputs(), first), network.projected, network.outputs()).write(&rows.y);
        let [h, c] = self.states([base.behind(kept.states[1]), base.behind(kept.states[3])]);
        h.write(&rows.h);
        c.write(&rows.c);
        Ok(())
    }

    /// The backward pass; gradients of the weights are accumulated.
    pub(super) fn walk_back(
        &self,
        handle: &Handle,
        data: [Data; 2],
        weights: [&Weights; 2],
        (kept, flow): (&Kept, Flow<'_>),
    ) -> Result<(), Failure> {
        host(handle)?;
        let (network, channels) = (self.network, self.network.inputs(self.layer));
        let rows = self.given(data[0], (flow.base, kept));
        let [given, wanted] = flow.rows(self);
        let (after, before) = (self.states(flow.after), self.states(flow.before));
        let mut gradients = Rows {
            x: vec![0.0; rows.x.len()],
            y: self.grid(given, network.projected, network.outputs()).read(),
            h: after[0].read(),
            c: after[1].read(),
        };
        let places = grids(network, self.layer, weights[1]);
        let mut of_weights = matrices(&places);
        self.cell().backward(&matrices(&grids(network, self.layer, weights[0])), rows, &mut gradients, &mut of_weights);
        self.grid(wanted, channels, channels).write(&gradients.x);
        before[0].write(&gradients.h);
        before[1].write(&gradients.c);
        for (place, values) in places.iter().zip([&of_weights.input, &of_weights.state, &of_weights.projection, &of_weights.bias]) {
            if let Some(place) = place {
                place.write(values);
            }
        }
        Ok(())
    }
}
