use crate::testkit::{Bound, compute, dot, numbers};
use oxidnn_spec::op::{Rnn, RnnActivation, RnnCell, RnnDiff, RnnDirection};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Prop, Real, RnnLinear, RnnQuant, Tensor};

/// What a test network is made of. Sizes: T 3, N 2, SLC 3 (or DIC with more layers), DHC 4, DIC 4 (3 with projection).
#[derive(Clone, Copy)]
struct Make {
    cell: RnnCell,
    activation: RnnActivation,
    direction: RnnDirection,
    layers: i64,
    peephole: bool,
    projection: bool,
}

const LEFT: RnnDirection = RnnDirection::Left2Right;

fn make(cell: RnnCell, direction: RnnDirection, layers: i64) -> Make {
    Make { cell, activation: RnnActivation::Tanh, direction, layers, peephole: false, projection: false }
}

impl Make {
    /// The network with every tensor of type `dtype` (the reference accepts more than validation does: f64 for exact differences).
    fn forward(&self, prop: Prop, dtype: DataType) -> Rnn {
        let (time, batch, dhc) = (3, 2, 4);
        let dic = if self.projection { 3 } else { dhc };
        let slc = if self.layers > 1 { dic } else { 3 };
        let (l, d, g, lstm) = (self.layers, self.direction.count(), self.cell.gates(), self.cell == RnnCell::Lstm);
        let t = |dims: &[i64]| Tensor::plain(Dims::new(dims).unwrap(), dtype).unwrap();
        let joined = if self.direction == RnnDirection::BidirectionalConcat { 2 * dic } else { dic };
        let mut op = Rnn {
            prop,
            cell: self.cell,
            activation: self.activation,
            alpha: Real::new(-0.5),
            direction: self.direction,
            diff_weights_overwrite: true,
            src_layer: t(&[time, batch, slc]),
            src_iter: Some(t(&[l, d, batch, dic])),
            src_iter_c: lstm.then(|| t(&[l, d, batch, dhc])),
            attention: self.cell.is_augru().then(|| t(&[time, batch, 1])),
            weights_layer: t(&[l, d, slc, g, dhc]),
            weights_iter: t(&[l, d, dic, g, dhc]),
            weights_peephole: self.peephole.then(|| t(&[l, d, 3, dhc])),
            weights_projection: self.projection.then(|| t(&[l, d, dhc, dic])),
            bias: Some(t(&[l, d, self.cell.bias_gates(), dhc])),
            dst_layer: t(&[time, batch, joined]),
            dst_iter: Some(t(&[l, d, batch, dic])),
            dst_iter_c: lstm.then(|| t(&[l, d, batch, dhc])),
            diff: None,
            workspace: None,
        };
        op.workspace = (prop != Prop::ForwardInference).then(|| Tensor::plain([op.workspace_bytes().unwrap()], DataType::U8).unwrap());
        op
    }
}

/// Arguments of a forward network that gradients exist of, with their tensors.
fn parameters(op: &Rnn) -> Vec<(Arg, Tensor)> {
    let args = [Arg::SRC, Arg::SRC_1, Arg::SRC_2, Arg::SRC_3, Arg::WEIGHTS, Arg::WEIGHTS_1, Arg::WEIGHTS_2, Arg::WEIGHTS_3, Arg::BIAS];
    op.operands().into_iter().filter(|o| args.contains(&o.arg)).map(|o| (o.arg, o.tensor.clone())).collect()
}

fn results(op: &Rnn) -> Vec<(Arg, Tensor)> {
    let args = [Arg::DST, Arg::DST_1, Arg::DST_2];
    op.operands().into_iter().filter(|o| args.contains(&o.arg)).map(|o| (o.arg, o.tensor.clone())).collect()
}

fn volume(t: &Tensor) -> usize {
    t.layout.elements().unwrap() as usize
}

fn diff(arg: Arg) -> Arg {
    Arg(arg.0 + Arg::DIFF_SRC.0 - Arg::SRC.0)
}

/// Inputs in -0.5..0.5, attention in 0..1.
fn inputs(op: &Rnn) -> Vec<(Arg, Vec<f64>)> {
    let scaled = |arg: Arg, n: usize| -> Vec<f64> {
        let half = numbers(arg.0 as u64, n).into_iter().map(|v| v / 4.0);
        if arg == Arg::SRC_3 { half.map(|v| v + 0.5).collect() } else { half.collect() }
    };
    parameters(op).into_iter().map(|(arg, t)| (arg, scaled(arg, volume(&t)))).collect()
}

fn bind(op: &Rnn, values: &[(Arg, Vec<f64>)]) -> Bound {
    let mut b = Bound::default();
    for ((arg, values), (_, tensor)) in values.iter().zip(parameters(op)) {
        b.put(*arg, &tensor, values);
    }
    for (arg, tensor) in results(op) {
        b.out(arg, &tensor);
    }
    if let Some(ws) = &op.workspace {
        b.out(Arg::WORKSPACE, ws);
    }
    b
}

/// The loss whose gradient with respect to the results is `given`.
fn loss(op: &Rnn, values: &[(Arg, Vec<f64>)], given: &[(Arg, Vec<f64>)]) -> f64 {
    let b = bind(op, values);
    compute(op.clone(), Attr::default(), &b);
    given.iter().map(|(arg, g)| dot(g, &b.values(*arg))).sum()
}

fn backward(op: &Rnn) -> Rnn {
    let Rnn { src_layer, src_iter, src_iter_c, attention, weights_layer, weights_iter, bias, .. } = op.clone();
    let Rnn { weights_peephole, weights_projection, dst_layer, dst_iter, dst_iter_c, .. } = op.clone();
    let diff = Some(RnnDiff {
        src_layer,
        src_iter,
        src_iter_c,
        attention,
        weights_layer,
        weights_iter,
        weights_peephole,
        weights_projection,
        bias,
        dst_layer,
        dst_iter,
        dst_iter_c,
    });
    Rnn { prop: Prop::Backward, diff, ..op.clone() }
}

/// Every gradient of `what` against central differences.
fn check_gradients(what: Make) {
    let op = what.forward(Prop::ForwardTraining, DataType::F64);
    let mut values = inputs(&op);
    let given: Vec<(Arg, Vec<f64>)> = results(&op).into_iter().map(|(arg, t)| (arg, numbers(arg.0 as u64 + 50, volume(&t)))).collect();
    let mut b = bind(&op, &values);
    compute(op.clone(), Attr::default(), &b);
    for ((arg, g), (_, t)) in given.iter().zip(results(&op)) {
        b.put(diff(*arg), &t, g);
    }
    for (arg, t) in parameters(&op) {
        b.out(diff(arg), &t);
    }
    compute(backward(&op), Attr::default(), &b);
    let inference = what.forward(Prop::ForwardInference, DataType::F64);
    let h = 1e-4;
    for i in 0..values.len() {
        let arg = values[i].0;
        let gradient = b.values(diff(arg));
        for (j, &got) in gradient.iter().enumerate() {
            let at = values[i].1[j];
            values[i].1[j] = at + h;
            let up = loss(&inference, &values, &given);
            values[i].1[j] = at - h;
            let down = loss(&inference, &values, &given);
            values[i].1[j] = at;
            let want = (up - down) / (2.0 * h);
            assert!(
                (got - want).abs() < 3e-6 * want.abs().max(1.0),
                "{:?} {:?} {arg}[{j}]: {got}, differences {want}",
                what.cell,
                what.direction
            );
        }
    }
}

const DIRECTIONS: [RnnDirection; 4] =
    [RnnDirection::Left2Right, RnnDirection::Right2Left, RnnDirection::BidirectionalConcat, RnnDirection::BidirectionalSum];

#[test]
fn gradients_of_vanilla_cells() {
    for activation in [RnnActivation::Relu, RnnActivation::Tanh, RnnActivation::Logistic] {
        check_gradients(Make { activation, ..make(RnnCell::Vanilla, LEFT, 2) });
    }
    DIRECTIONS.into_iter().for_each(|d| check_gradients(make(RnnCell::Vanilla, d, 1)));
}

#[test]
fn gradients_of_lstm() {
    DIRECTIONS.into_iter().for_each(|d| check_gradients(make(RnnCell::Lstm, d, 1)));
    check_gradients(Make { peephole: true, ..make(RnnCell::Lstm, RnnDirection::Right2Left, 1) });
    check_gradients(Make { projection: true, ..make(RnnCell::Lstm, LEFT, 1) });
    check_gradients(Make { peephole: true, projection: true, ..make(RnnCell::Lstm, RnnDirection::BidirectionalConcat, 2) });
}

#[test]
fn gradients_of_gated_units() {
    for cell in [RnnCell::Gru, RnnCell::LbrGru] {
        DIRECTIONS.into_iter().for_each(|d| check_gradients(make(cell, d, 1)));
        check_gradients(make(cell, RnnDirection::BidirectionalSum, 2));
    }
    for cell in [RnnCell::Augru, RnnCell::LbrAugru] {
        check_gradients(make(cell, LEFT, 1));
    }
}

#[test]
fn weight_gradients_accumulate_unless_told_otherwise() {
    let op = Make { peephole: true, ..make(RnnCell::Lstm, LEFT, 1) }.forward(Prop::ForwardTraining, DataType::F32);
    let gradients = |overwrite: bool| {
        let mut b = bind(&op, &inputs(&op));
        compute(op.clone(), Attr::default(), &b);
        for (arg, t) in results(&op) {
            b.put(diff(arg), &t, &numbers(1, volume(&t)));
        }
        for (arg, t) in parameters(&op) {
            b.put(diff(arg), &t, &vec![1000.0; volume(&t)]);
        }
        compute(Rnn { diff_weights_overwrite: overwrite, ..backward(&op) }, Attr::default(), &b);
        parameters(&op).into_iter().map(|(arg, _)| (arg, b.values(diff(arg)))).collect::<Vec<_>>()
    };
    for ((arg, fresh), (_, added)) in gradients(true).into_iter().zip(gradients(false)) {
        let base = if [Arg::SRC, Arg::SRC_1, Arg::SRC_2].contains(&arg) { 0.0 } else { 1000.0 };
        assert!(fresh.iter().zip(&added).all(|(f, a)| (f + base - a).abs() < 1e-3), "{arg}");
    }
}

#[test]
fn absent_states_are_zeros() {
    let full = make(RnnCell::Lstm, LEFT, 1).forward(Prop::ForwardInference, DataType::F32);
    let mut values = inputs(&full);
    values.iter_mut().filter(|v| [Arg::SRC_1, Arg::SRC_2, Arg::BIAS].contains(&v.0)).for_each(|v| v.1.fill(0.0));
    let b = bind(&full, &values);
    compute(full.clone(), Attr::default(), &b);
    let bare = Rnn { src_iter: None, src_iter_c: None, bias: None, dst_iter: None, dst_iter_c: None, ..full };
    values.retain(|v| ![Arg::SRC_1, Arg::SRC_2, Arg::BIAS].contains(&v.0));
    let c = bind(&bare, &values);
    compute(bare, Attr::default(), &c);
    assert_eq!(b.values(Arg::DST), c.values(Arg::DST));
}

/// An int8 network and the real one that its numbers stand for differ by the rounding of states only.
#[test]
fn int8_follows_the_real_network() {
    for (cell, projection, dtype) in
        [(RnnCell::Lstm, true, DataType::U8), (RnnCell::Gru, false, DataType::U8), (RnnCell::Lstm, false, DataType::S8)]
    {
        let what = Make { projection, ..make(cell, LEFT, 1) };
        let real = what.forward(Prop::ForwardInference, DataType::F32);
        let (scale, shift) = if dtype == DataType::U8 { (100.0, 120.0) } else { (100.0, 0.0) };
        let weights: Vec<f64> = (0..cell.gates() * 4).map(|i| 100.0 + i as f64).collect();
        let projections = [90.0, 110.0, 100.0];
        let mut op = real.clone();
        for t in [&mut op.src_layer, op.src_iter.as_mut().unwrap(), &mut op.dst_layer] {
            t.dtype = dtype;
        }
        for t in [Some(&mut op.weights_layer), Some(&mut op.weights_iter), op.weights_projection.as_mut()].into_iter().flatten() {
            t.dtype = DataType::S8;
        }
        let (mut values, mut codes) = (inputs(&real), inputs(&real));
        for ((arg, real), (_, code)) in values.iter_mut().zip(&mut codes) {
            for (i, (x, q)) in real.iter_mut().zip(code).enumerate() {
                let (scale, shift) = match *arg {
                    Arg::SRC | Arg::SRC_1 => (scale, shift),
                    Arg::WEIGHTS | Arg::WEIGHTS_1 => (weights[i % weights.len()], 0.0),
                    Arg::WEIGHTS_3 => (projections[i % 3], 0.0),
                    _ => continue,
                };
                *q = (*x * scale).round() + shift;
                *x = (*q - shift) / scale;
            }
        }
        let list = |v: &[f64]| v.iter().map(|&s| Real::new(s as f32)).collect();
        let rnn = RnnQuant {
            data: Some((Real::new(scale as f32), Real::new(shift as f32))),
            weights: Some((24, list(&weights))),
            projection: Some((8, list(&projections))),
            linear: None,
        };
        let (b, c) = (bind(&real, &values), bind(&op, &codes));
        compute(real.clone(), Attr::default(), &b);
        compute(op, Attr { rnn, ..Attr::default() }, &c);
        for (want, got) in b.values(Arg::DST).iter().zip(c.values(Arg::DST)) {
            assert_eq!(got, got.round());
            assert!((want - (got - shift) / scale).abs() < 1.5 / scale, "{cell:?}: {got} for {want}");
        }
        // dst_iter is f32 here: the real number of the last state's code.
        let last = &c.values(Arg::DST)[2 * c.values(Arg::DST_1).len()..];
        let iter: Vec<f64> = c.values(Arg::DST_1).iter().map(|v| v * scale + shift).collect();
        assert!(iter.iter().zip(last).all(|(a, b)| (a - b).abs() < 1e-4), "{iter:?} {last:?}");
    }
}

#[test]
fn lstm_by_hand() {
    let t = |dims: &[i64]| Tensor::plain(Dims::new(dims).unwrap(), DataType::F64).unwrap();
    let mut op = make(RnnCell::Lstm, LEFT, 1).forward(Prop::ForwardInference, DataType::F64);
    (op.src_layer, op.dst_layer) = (t(&[1, 1, 1]), t(&[1, 1, 1]));
    (op.weights_layer, op.weights_iter, op.bias) = (t(&[1, 1, 1, 4, 1]), t(&[1, 1, 1, 4, 1]), Some(t(&[1, 1, 4, 1])));
    (op.src_iter, op.src_iter_c) = (Some(t(&[1, 1, 1, 1])), Some(t(&[1, 1, 1, 1])));
    (op.dst_iter, op.dst_iter_c) = (op.src_iter.clone(), op.src_iter_c.clone());
    op.weights_peephole = Some(t(&[1, 1, 3, 1]));
    let (w, u, bias, p) = ([0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], [0.01, 0.02, 0.03, 0.04], [0.3, 0.2, 0.1]);
    let (x, h, c) = (2.0, -1.0, 0.5);
    let values = vec![
        (Arg::SRC, vec![x]),
        (Arg::SRC_1, vec![h]),
        (Arg::SRC_2, vec![c]),
        (Arg::WEIGHTS, w.to_vec()),
        (Arg::WEIGHTS_1, u.to_vec()),
        (Arg::WEIGHTS_2, p.to_vec()),
        (Arg::BIAS, bias.to_vec()),
    ];
    let b = bind(&op, &values);
    compute(op, Attr::default(), &b);
    let z = |g: usize| w[g] * x + u[g] * h + bias[g];
    let s = |v: f64| 1.0 / (1.0 + (-v).exp());
    let after = s(z(1) + p[1] * c) * c + s(z(0) + p[0] * c) * z(2).tanh();
    let out = s(z(3) + p[2] * after) * after.tanh();
    assert!((b.values(Arg::DST)[0] - out).abs() < 1e-14);
    assert!((b.values(Arg::DST_1)[0] - out).abs() < 1e-14);
    assert!((b.values(Arg::DST_2)[0] - after).abs() < 1e-14);
}

#[test]
fn linear_activations_are_products() {
    let attr = |gates: &[f32], cell: f32| {
        let linear = RnnLinear { gates: gates.iter().copied().map(Real::new).collect(), cell: Real::new(cell) };
        Attr { rnn: RnnQuant { linear: Some(linear), ..RnnQuant::default() }, ..Attr::default() }
    };
    // A ReLU of slope 1 is the identity.
    let mut op = make(RnnCell::Vanilla, LEFT, 2).forward(Prop::ForwardInference, DataType::F64);
    (op.activation, op.alpha) = (RnnActivation::Relu, Real::new(1.0));
    let values = inputs(&op);
    let (identity, linear) = (bind(&op, &values), bind(&op, &values));
    compute(op.clone(), Attr::default(), &identity);
    compute(op, attr(&[1.0], 1.0), &linear);
    assert_eq!(identity.values(Arg::DST), linear.values(Arg::DST));
    // Neither input nor what was remembered passes, and an empty cell gives an empty state.
    let op = make(RnnCell::Lstm, LEFT, 1).forward(Prop::ForwardInference, DataType::F64);
    let b = bind(&op, &inputs(&op));
    compute(op.clone(), attr(&[0.0, 0.0, 1.0, 1.0], 3.0), &b);
    assert!([Arg::DST, Arg::DST_2].iter().all(|arg| b.values(*arg).iter().all(|x| *x == 0.0)));
    // States grow in proportion to the factor of the cell where nothing comes from the state before.
    let mut values = inputs(&op);
    values.iter_mut().filter(|(arg, _)| *arg == Arg::WEIGHTS_1).for_each(|(_, weights)| weights.fill(0.0));
    let [one, three] = [1.0, 3.0].map(|cell| {
        let b = bind(&op, &values);
        compute(op.clone(), attr(&[0.5, 0.25, -2.0, 1.5], cell), &b);
        b.values(Arg::DST)
    });
    assert!(one.iter().any(|x| *x != 0.0));
    one.iter().zip(&three).for_each(|(a, b)| assert!((3.0 * a - b).abs() <= 1e-12 * b.abs()));
}

#[test]
fn linear_activations_scale_the_gates_of_vanilla_gradients() {
    const FACTOR: f32 = 0.5;
    let linear = RnnLinear { gates: vec![Real::new(FACTOR)], cell: Real::new(1.0) };
    let attr = Attr { rnn: RnnQuant { linear: Some(linear), ..RnnQuant::default() }, ..Attr::default() };
    let op = make(RnnCell::Vanilla, LEFT, 1).forward(Prop::ForwardTraining, DataType::F64);
    let mut values = inputs(&op);
    values.iter_mut().filter(|(arg, _)| *arg == Arg::WEIGHTS_1).for_each(|(_, weights)| weights.fill(0.0));
    let mut b = bind(&op, &values);
    compute(op.clone(), attr.clone(), &b);
    let given = numbers(5, volume(&op.dst_layer));
    for (arg, t) in results(&op) {
        let there = if arg == Arg::DST { given.clone() } else { vec![0.0; volume(&t)] };
        b.put(diff(arg), &t, &there);
    }
    for (arg, t) in parameters(&op) {
        b.out(diff(arg), &t);
    }
    compute(backward(&op), attr, &b);
    let (gates, got) = (b.values(Arg::DST), b.values(diff(Arg::BIAS)));
    for (c, got) in got.iter().enumerate() {
        let want: f64 = (c..gates.len()).step_by(4).map(|i| given[i] * f64::from(FACTOR) * gates[i]).sum();
        assert!((got - want).abs() < 1e-9, "{c}: {got}, by hand {want}");
    }
}
