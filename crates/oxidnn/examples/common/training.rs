//! Gradients and updates: the backward primitives of a forward pass, and stochastic gradient descent with momentum.

use super::net::{Forward, Layer, has_parameters};
use super::random::Random;
use oxidnn::prelude::*;
use oxidnn::{Error, Step, op::Op};

/// Weights or bias of a layer, in the layout that the forward primitive asked for.
pub(crate) struct Parameter {
    /// `conv1.weight`, `conv1.bias`...
    pub(crate) name: String,
    /// Its numbers.
    pub(crate) value: SharedMemory,
    /// Their gradient, after a backward pass; the layout is the backward primitive's.
    pub(crate) gradient: SharedMemory,
    /// The moving sum of gradients that steps follow.
    velocity: SharedMemory,
}

/// A net in training.
pub(crate) struct Training {
    engine: Engine,
    stream: Stream,
    /// The forward pass.
    pub(crate) forward: Forward,
    /// Gradient of the loss with respect to the log-probabilities: where the backward pass begins.
    loss_gradient: SharedMemory,
    backward: Sequence<'static>,
    update: Sequence<'static>,
    /// All parameters, first layer to last.
    pub(crate) parameters: Vec<Parameter>,
}

impl Training {
    /// A net with random weights (He et al., Delving deep into rectifiers, 2015: normal, variance 2 / inputs) and no bias.
    pub(crate) fn new(engine: &Engine, stream: &Stream, net: ([i64; 4], &[Layer]), random: &mut Random) -> Result<Training, Error> {
        let forward = Forward::new(engine, Prop::ForwardTraining, net, |_, desc| {
            let weights = engine.zeros(desc, Arg::WEIGHTS)?;
            let dims = *weights.tensor().dims();
            let deviation = (2.0 / dims[1..].iter().product::<i64>() as f32).sqrt();
            let values: Vec<f32> = (0..dims.iter().product()).map(|_| deviation * random.normal()).collect();
            weights.write_f32(&values)?;
            Ok([weights.into(), engine.zeros(desc, Arg::BIAS)?.into()])
        })?;
        let loss_gradient = SharedMemory::new(Memory::new(engine, forward.log_probabilities.tensor().clone())?);
        let mut backward = Sequence::new(engine);
        let mut parameters = Vec::new();
        let mut gradient = loss_gradient.clone();
        let steps = forward.sequence.steps();
        let first = steps.iter().position(|s| has_parameters(s.desc())).unwrap_or(0);
        for (i, step) in steps.iter().enumerate().rev() {
            if matches!(step.desc().problem().op, Op::Reorder(_)) {
                continue;
            }
            if has_parameters(step.desc()) {
                let pass = push_backward(&mut backward, step, &step.desc().backward_weights(engine)?, &gradient)?;
                for (name, of, diff) in [("bias", Arg::BIAS, Arg::DIFF_BIAS), ("weight", Arg::WEIGHTS, Arg::DIFF_WEIGHTS)] {
                    let (value, gradient) = (step.memory(of)?.clone(), pass.memory(diff)?.clone());
                    let velocity = Memory::new(engine, value.tensor().clone())?.into();
                    parameters.push(Parameter { name: format!("{}.{name}", step.name()), value, gradient, velocity });
                }
            }
            if i > first {
                let pass = push_backward(&mut backward, step, &step.desc().backward_data(engine)?, &gradient)?;
                gradient = pass.memory(Arg::DIFF_SRC)?.clone();
            }
        }
        parameters.reverse();
        let (engine, stream, update) = (engine.clone(), stream.clone(), Sequence::new(engine));
        Ok(Training { engine, stream, forward, loss_gradient, backward, update, parameters })
    }

    /// From now on a step is `velocity = momentum * velocity + gradient; value = value - rate * velocity`, by two sums a parameter, in place.
    pub(crate) fn set_rate(&mut self, rate: f32, momentum: f32) -> Result<(), Error> {
        let mut update = Sequence::new(&self.engine);
        for p in &self.parameters {
            let mut add = |name: &str, scales: [f32; 2], to: &SharedMemory, other: &SharedMemory| -> Result<(), Error> {
                let t = to.tensor();
                let desc = oxidnn::sum(&scales, vec![t.clone(), t.clone()])?.dst_tensor(t.clone()).describe(&self.engine)?;
                let args = [(Arg::multiple_src(0), to), (Arg::multiple_src(1), other), (Arg::DST, to)];
                update.push(format!("{}.{name}", p.name), &desc, &args).map(drop)
            };
            add("velocity", [momentum, 1.0], &p.velocity, &p.gradient)?;
            add("value", [1.0, -rate], &p.value, &p.velocity)?;
        }
        self.update = update;
        Ok(())
    }

    /// Mean cross-entropy of the loaded images, which have these `labels`; fewer labels than images count the first images only. Also sets
    /// where [`Training::backward`] begins.
    pub(crate) fn loss(&self, labels: &[usize]) -> Result<f32, Error> {
        self.forward.sequence.run(&self.stream)?;
        let log_probabilities = self.forward.log_probabilities.read_f32()?;
        let classes = log_probabilities.len() / self.forward.batch();
        let mut gradient = vec![0.0; log_probabilities.len()];
        let mut loss = 0.0;
        for (row, &label) in labels.iter().enumerate() {
            loss -= log_probabilities[row * classes + label];
            gradient[row * classes + label] = -1.0 / labels.len() as f32;
        }
        self.loss_gradient.write_f32(&gradient)?;
        Ok(loss / labels.len() as f32)
    }

    /// Gradients of all parameters for the loss computed last.
    pub(crate) fn backward(&self) -> Result<(), Error> {
        self.backward.run(&self.stream)
    }

    /// One step of descent on the loaded images; the loss is that before it.
    pub(crate) fn step(&self, labels: &[usize]) -> Result<f32, Error> {
        let loss = self.loss(labels)?;
        self.backward()?;
        self.update.run(&self.stream)?;
        Ok(loss)
    }
}

/// Appends a backward pass of `step`: the gradient of its result is `gradient`; its other inputs are those of the forward pass.
fn push_backward<'s>(
    sequence: &'s mut Sequence<'static>,
    step: &Step<'static>,
    desc: &PrimitiveDesc,
    gradient: &SharedMemory,
) -> Result<&'s Step<'static>, Error> {
    let inputs = desc.operands().iter().filter(|o| o.usage == oxidnn::Use::In);
    let given = inputs.map(|o| Ok((o.arg, if o.arg == Arg::DIFF_DST { gradient } else { step.memory(o.arg)? })));
    let name = format!("{}.{}", step.name(), desc.prop().map_or("backward", Prop::name));
    sequence.push(name, desc, &given.collect::<Result<Vec<_>, Error>>()?)
}
