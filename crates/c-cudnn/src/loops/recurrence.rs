//! Recurrent cells that the primitive does not compute: in double precision, and LSTMs with clipped cells. One layer in one direction over steps in which the
//! same samples are alive.

/// The cell type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Relu,
    Tanh,
    Lstm,
    /// Gates: update, reset, new. The reset gate applies after the product with the state and its bias ("linear before reset").
    Gru,
}

/// A cell and its sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) kind: Kind,
    /// Bounds of an LSTM's cell, and whether NaN is kept.
    pub(crate) clip: Option<(f64, f64, bool)>,
    pub(crate) steps: usize,
    pub(crate) samples: usize,
    pub(crate) inputs: usize,
    pub(crate) hidden: usize,
    /// Channels of the recurrent state.
    pub(crate) projected: usize,
    /// Whether time runs backward.
    pub(crate) reverse: bool,
}

/// Weights, row-major: gates x hidden x inputs, gates x hidden x projected, projected x hidden (empty without projection), biases (empty without).
#[derive(Clone, Debug)]
pub(crate) struct Matrices {
    pub(crate) input: Vec<f64>,
    pub(crate) state: Vec<f64>,
    pub(crate) projection: Vec<f64>,
    pub(crate) bias: Vec<f64>,
}

/// Rows of steps x samples, and states of samples: of the data or their gradients.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) h: Vec<f64>,
    pub(crate) c: Vec<f64>,
}

/// The values of a step of a sample that the gradients need.
#[derive(Clone, Debug)]
struct Trace {
    h: Vec<f64>,
    c: Vec<f64>,
    gates: Vec<f64>,
    /// The state's part of a GRU's new gate, or an LSTM's cell state before clipping.
    inner: Vec<f64>,
    cell: Vec<f64>,
    /// An LSTM's state before its projection.
    wide: Vec<f64>,
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `rows` of a row-major matrix times a vector.
fn product(matrix: &[f64], rows: std::ops::Range<usize>, v: &[f64]) -> Vec<f64> {
    rows.map(|r| matrix[r * v.len()..(r + 1) * v.len()].iter().zip(v).map(|(a, b)| a * b).sum()).collect()
}

/// Values, and where their gradients accumulate.
struct Pair<'a> {
    of: &'a [f64],
    gradient: &'a mut [f64],
}

/// The gradients of a row-major matrix and a vector, from the gradient `d` of their product.
fn product_back(matrix: Pair<'_>, v: Pair<'_>, d: &[f64]) {
    let n = v.of.len();
    for (r, &d) in d.iter().enumerate() {
        let row = r * n..(r + 1) * n;
        for (i, (w, dw)) in matrix.of[row.clone()].iter().zip(&mut matrix.gradient[row]).enumerate() {
            v.gradient[i] += w * d;
            *dw += v.of[i] * d;
        }
    }
}

impl Cell {
    fn gates(&self) -> usize {
        match self.kind {
            Kind::Lstm => 4,
            Kind::Gru => 3,
            _ => 1,
        }
    }

    fn order(&self) -> Vec<usize> {
        let forward = 0..self.steps;
        if self.reverse { forward.rev().collect() } else { forward.collect() }
    }

    fn clipped(&self, c: f64) -> f64 {
        match self.clip {
            Some((_, _, true)) if c.is_nan() => c,
            Some((low, high, _)) => c.max(low).min(high),
            None => c,
        }
    }

    /// One step of one sample: the state after it, and the values that gradients need.
    fn step(&self, w: &Matrices, x: &[f64], h: &[f64], c: &[f64]) -> (Vec<f64>, Trace) {
        let (n, all) = (self.hidden, 0..self.gates() * self.hidden);
        let (by_x, by_h) = (product(&w.input, all.clone(), x), product(&w.state, all.clone(), h));
        let bias = |i: usize| w.bias.get(i).copied().unwrap_or(0.0);
        let sum = |i: usize| by_x[i] + by_h[i] + bias(i);
        let mut trace = Trace { h: h.to_vec(), c: c.to_vec(), gates: Vec::new(), inner: Vec::new(), cell: Vec::new(), wide: Vec::new() };
        let next = match self.kind {
            Kind::Relu => all.map(|i| sum(i).max(0.0)).collect(),
            Kind::Tanh => all.map(|i| sum(i).tanh()).collect(),
            Kind::Gru => {
                trace.inner = (0..n).map(|i| by_h[2 * n + i] + bias(3 * n + i)).collect();
                let gates: Vec<f64> = all
                    .map(|i| {
                        if i < 2 * n { sigmoid(sum(i)) } else { (by_x[i] + bias(i) + sigmoid(sum(i - n)) * trace.inner[i - 2 * n]).tanh() }
                    })
                    .collect();
                let next = (0..n).map(|i| gates[i] * h[i] + (1.0 - gates[i]) * gates[2 * n + i]).collect();
                trace.gates = gates;
                next
            }
            Kind::Lstm => {
                let gates: Vec<f64> = all.map(|i| if i / n == 2 { sum(i).tanh() } else { sigmoid(sum(i)) }).collect();
                trace.inner = (0..n).map(|i| gates[n + i] * c[i] + gates[i] * gates[2 * n + i]).collect();
                trace.cell = trace.inner.iter().map(|&c| self.clipped(c)).collect();
                trace.wide = (0..n).map(|i| gates[3 * n + i] * trace.cell[i].tanh()).collect();
                trace.gates = gates;
                if w.projection.is_empty() { trace.wide.clone() } else { product(&w.projection, 0..self.projected, &trace.wide) }
            }
        };
        if matches!(self.kind, Kind::Relu | Kind::Tanh) {
            trace.gates.clone_from(&next);
        }
        (next, trace)
    }

    /// Runs through the steps and writes `y` and the states. Returns the values that the backward pass needs, by step in the order of computation,
    /// then by sample.
    fn walk(&self, w: &Matrices, rows: &mut Rows) -> Vec<Trace> {
        let (i, p, n) = (self.inputs, self.projected, self.hidden);
        let mut traces = Vec::with_capacity(self.steps * self.samples);
        for t in self.order() {
            for s in 0..self.samples {
                let row = t * self.samples + s;
                let cell = if self.kind == Kind::Lstm { &rows.c[s * n..(s + 1) * n] } else { &[] };
                let (next, trace) = self.step(w, &rows.x[row * i..(row + 1) * i], &rows.h[s * p..(s + 1) * p], cell);
                rows.y[row * p..(row + 1) * p].copy_from_slice(&next);
                rows.h[s * p..(s + 1) * p].copy_from_slice(&next);
                if self.kind == Kind::Lstm {
                    rows.c[s * n..(s + 1) * n].copy_from_slice(&trace.cell);
                }
                traces.push(trace);
            }
        }
        traces
    }

    /// The forward pass: `y` and the final states, from `x` and the initial states.
    pub(crate) fn forward(&self, w: &Matrices, rows: &mut Rows) {
        self.walk(w, rows);
    }

    /// The backward pass, from data and initial states. `gradients` holds those of `y` and of the final states, and receives those of `x`
    /// and of the initial states; those of the weights are added to `dw`.
    pub(crate) fn backward(&self, w: &Matrices, mut rows: Rows, gradients: &mut Rows, dw: &mut Matrices) {
        let traces = self.walk(w, &mut rows);
        let (i, p, n) = (self.inputs, self.projected, self.hidden);
        for (k, t) in self.order().into_iter().enumerate().rev() {
            for s in 0..self.samples {
                let row = t * self.samples + s;
                let trace = &traces[k * self.samples + s];
                let mut dh: Vec<f64> = (0..p).map(|j| gradients.h[s * p + j] + gradients.y[row * p + j]).collect();
                let dc: Vec<f64> = if self.kind == Kind::Lstm { gradients.c[s * n..(s + 1) * n].to_vec() } else { Vec::new() };
                if self.kind == Kind::Lstm && !w.projection.is_empty() {
                    let mut wide = vec![0.0; n];
                    let matrix = Pair { of: &w.projection, gradient: &mut dw.projection };
                    product_back(matrix, Pair { of: &trace.wide, gradient: &mut wide }, &dh);
                    dh = wide;
                }
                let (by_x, by_h, before) = self.step_back(trace, &dh, &dc);
                let (mut dx, mut dstate) = (vec![0.0; i], vec![0.0; p]);
                let x = Pair { of: &rows.x[row * i..(row + 1) * i], gradient: &mut dx };
                product_back(Pair { of: &w.input, gradient: &mut dw.input }, x, &by_x);
                let state = Pair { of: &trace.h, gradient: &mut dstate };
                product_back(Pair { of: &w.state, gradient: &mut dw.state }, state, &by_h);
                for (bias, d) in dw.bias.iter_mut().zip(by_x.iter().chain(by_h.iter().skip(2 * n).filter(|_| self.kind == Kind::Gru))) {
                    *bias += d;
                }
                gradients.x[row * i..(row + 1) * i].copy_from_slice(&dx);
                if self.kind == Kind::Lstm {
                    gradients.c[s * n..(s + 1) * n].copy_from_slice(&before);
                } else {
                    dstate.iter_mut().zip(&before).for_each(|(d, b)| *d += b);
                }
                gradients.h[s * p..(s + 1) * p].copy_from_slice(&dstate);
            }
        }
    }

    /// Gradients of a step's gates before their activation, for the input's and the state's matrices; and of an LSTM's previous cell state, or
    /// of the previous hidden state apart from the gates.
    fn step_back(&self, trace: &Trace, dh: &[f64], dc: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (n, g) = (self.hidden, &trace.gates);
        match self.kind {
            Kind::Relu | Kind::Tanh => {
                let d: Vec<f64> = g
                    .iter()
                    .zip(dh)
                    .map(|(y, d)| {
                        if self.kind == Kind::Tanh {
                            d * (1.0 - y * y)
                        } else if *y > 0.0 {
                            *d
                        } else {
                            0.0
                        }
                    })
                    .collect();
                (d.clone(), d, vec![0.0; n])
            }
            Kind::Gru => {
                let (mut by_x, mut by_h, mut past) = (vec![0.0; 3 * n], vec![0.0; 3 * n], vec![0.0; n]);
                for i in 0..n {
                    let (u, r, new) = (g[i], g[n + i], g[2 * n + i]);
                    let dnew = dh[i] * (1.0 - u) * (1.0 - new * new);
                    by_x[i] = dh[i] * (trace.h[i] - new) * u * (1.0 - u);
                    by_x[n + i] = dnew * trace.inner[i] * r * (1.0 - r);
                    by_x[2 * n + i] = dnew;
                    (by_h[i], by_h[n + i], by_h[2 * n + i]) = (by_x[i], by_x[n + i], dnew * r);
                    past[i] = dh[i] * u;
                }
                (by_x, by_h, past)
            }
            Kind::Lstm => {
                let (mut d, mut before) = (vec![0.0; 4 * n], vec![0.0; n]);
                for i in 0..n {
                    let (input, forget, new, out) = (g[i], g[n + i], g[2 * n + i], g[3 * n + i]);
                    let tanh = trace.cell[i].tanh();
                    let through = if trace.cell[i] == trace.inner[i] { 1.0 } else { 0.0 };
                    let dcell = (dc[i] + dh[i] * out * (1.0 - tanh * tanh)) * through;
                    d[i] = dcell * new * input * (1.0 - input);
                    d[n + i] = dcell * trace.c[i] * forget * (1.0 - forget);
                    d[2 * n + i] = dcell * input * (1.0 - new * new);
                    d[3 * n + i] = dh[i] * tanh * out * (1.0 - out);
                    before[i] = dcell * forget;
                }
                (d.clone(), d, before)
            }
        }
    }
}
