//! ResNet-50 (He et al., Deep residual learning for image recognition, 2016; strides in the 3x3 convolutions) as primitives: forward, backward, update.

use crate::random::Random;
use oxidnn::op::{self, Op};
use oxidnn::prelude::*;

/// Blocks of the four stages, and the channels inside of each.
const STAGES: [(usize, i64); 4] = [(3, 64), (4, 128), (6, 256), (3, 512)];
const CLASSES: i64 = 1000;
const EPSILON: f32 = 1e-5;
/// The initial value of a block's last scale: near 0, where a network of many blocks does not amplify small differences. (Goyal et al.,
/// Accurate, large minibatch SGD, 2017, begin at 0, where nothing inside of a block has a gradient.)
const BRANCH: f64 = 0.2;

/// Weights, scales or shifts: f32 masters, which the forward pass rounds to the type that it computes in.
pub(crate) struct Parameter {
    pub(crate) name: String,
    value: SharedMemory,
    /// f32 as well: sums over a batch are not rounded before they are added up.
    pub(crate) gradient: SharedMemory,
    velocity: SharedMemory,
}

/// A step of the forward pass, and the results that it reads and makes.
struct Node {
    step: usize,
    from: usize,
    /// The shortcut that is added.
    shortcut: Option<usize>,
    to: usize,
    parameters: Vec<(Arg, SharedMemory)>,
}

/// A network in training.
pub(crate) struct Net {
    engine: Engine,
    /// Logarithms of the probabilities of classes, and the gradient of the loss by them.
    pub(crate) log_probabilities: SharedMemory,
    loss_gradient: SharedMemory,
    pub(crate) forward: Sequence<'static>,
    pub(crate) backward: Sequence<'static>,
    pub(crate) update: Sequence<'static>,
    pub(crate) parameters: Vec<Parameter>,
}

/// The forward pass in the making.
struct Forward<'a> {
    engine: &'a Engine,
    dtype: DataType,
    random: &'a mut Random,
    sequence: Sequence<'static>,
    values: Vec<SharedMemory>,
    nodes: Vec<Node>,
}

/// Activations have their channels next to each other.
fn channels_last(dims: [i64; 4], dtype: DataType) -> Result<Tensor, Error> {
    Tensor::with_tag(dims, dtype, "acdb")
}

/// Relu, whose gradient is made from its result: nothing else is kept.
fn relu(src: &Tensor) -> Builder {
    oxidnn::eltwise(Prop::ForwardTraining, EltwiseAlg::ReluDst, 0.0, 0.0, src.clone()).dst_tensor(src.clone())
}

impl Forward<'_> {
    fn master(&mut self, dims: &Dims, value: impl FnMut(usize) -> f64) -> Result<SharedMemory, Error> {
        let memory = Memory::new(self.engine, Tensor::plain(*dims, F32)?)?;
        memory.write_with(value)?;
        Ok(memory.into())
    }

    fn push(
        &mut self,
        name: String,
        desc: &PrimitiveDesc,
        (from, shortcut): (usize, Option<usize>),
        parameters: Vec<(Arg, SharedMemory)>,
    ) -> Result<usize, Error> {
        let mut given = vec![(Arg::SRC, &self.values[from])];
        given.extend(shortcut.map(|s| (Arg::SRC_1, &self.values[s])));
        given.extend(parameters.iter().map(|(arg, memory)| (*arg, memory)));
        let result = self.sequence.push(name, desc, &given)?.memory(Arg::DST)?.clone();
        self.values.push(result);
        let (step, to) = (self.sequence.steps().len() - 1, self.values.len() - 1);
        self.nodes.push(Node { step, from, shortcut, to, parameters });
        Ok(to)
    }

    /// A convolution by `kernel` x `kernel` to `channels`.
    fn conv(&mut self, name: &str, from: usize, [channels, kernel, stride]: [i64; 3]) -> Result<usize, Error> {
        let src = self.values[from].tensor().clone();
        let (dims, pad) = (*src.dims(), kernel / 2);
        let size = |n: i64| (n + 2 * pad - kernel) / stride + 1;
        let desc = Conv::forward(Prop::ForwardTraining)
            .src_tensor(src)
            .weights([channels, dims[1], kernel, kernel], self.dtype)
            .strides([stride, stride])
            .padding([pad, pad])
            .dst_tensor(channels_last([dims[0], channels, size(dims[2]), size(dims[3])], self.dtype)?)
            .describe(self.engine)?;
        let deviation = (2.0 / (channels * kernel * kernel) as f32).sqrt();
        let mut draws = std::mem::replace(self.random, Random(0));
        let weights = self.master(&[channels, dims[1], kernel, kernel].into(), |_| f64::from(deviation * draws.normal()));
        *self.random = draws;
        self.push(name.to_owned(), &desc, (from, None), vec![(Arg::WEIGHTS, weights?)])
    }

    /// Normalisation over the batch, whose scales begin at `scale`.
    fn norm(&mut self, name: &str, from: usize, scale: f64) -> Result<usize, Error> {
        let src = self.values[from].tensor().clone();
        let channels: Dims = [src.dims()[1]].into();
        let flags = op::NormFlags { use_scale: true, use_shift: true, ..Default::default() };
        let desc = oxidnn::batch_norm(Prop::ForwardTraining, flags, EPSILON, src.clone()).dst_tensor(src).describe(self.engine)?;
        let parameters = vec![(Arg::SCALE, self.master(&channels, |_| scale)?), (Arg::SHIFT, self.master(&channels, |_| 0.0)?)];
        self.push(name.to_owned(), &desc, (from, None), parameters)
    }

    fn relu(&mut self, name: &str, from: usize) -> Result<usize, Error> {
        let desc = relu(self.values[from].tensor()).describe(self.engine)?;
        self.push(name.to_owned(), &desc, (from, None), Vec::new())
    }

    /// Three convolutions, and relu of their result and a shortcut together.
    fn bottleneck(&mut self, name: &str, from: usize, [channels, stride]: [i64; 2]) -> Result<usize, Error> {
        let made = channels * 4;
        let dims = *self.values[from].tensor().dims();
        let shortcut = if dims[1] == made && stride == 1 {
            from
        } else {
            let x = self.conv(&format!("{name}.shortcut"), from, [made, 1, stride])?;
            self.norm(&format!("{name}.shortcut.norm"), x, 1.0)?
        };
        let mut x = from;
        for (i, (kernel, step)) in [(1, 1), (3, stride)].into_iter().enumerate() {
            x = self.conv(&format!("{name}.conv{}", i + 1), x, [channels, kernel, step])?;
            x = self.norm(&format!("{name}.norm{}", i + 1), x, 1.0)?;
            x = self.relu(&format!("{name}.relu{}", i + 1), x)?;
        }
        x = self.conv(&format!("{name}.conv3"), x, [made, 1, 1])?;
        x = self.norm(&format!("{name}.norm3"), x, BRANCH)?;
        let [a, b] = [x, shortcut].map(|i| self.values[i].tensor().clone());
        let sum = oxidnn::binary(op::BinaryAlg::Add, a.clone(), b).dst_tensor(a).post_ops(PostOps::new().relu()).describe(self.engine)?;
        self.push(format!("{name}.sum"), &sum, (x, Some(shortcut)), Vec::new())
    }

    fn pool(&mut self, name: &str, from: usize, alg: PoolAlg, [kernel, stride, pad]: [i64; 3]) -> Result<usize, Error> {
        let src = self.values[from].tensor().clone();
        let dims = *src.dims();
        let size = |n: i64| (n + 2 * pad - kernel) / stride + 1;
        let desc = Pool::forward(Prop::ForwardTraining, alg, [kernel, kernel])
            .src_tensor(src)
            .strides([stride, stride])
            .padding([pad, pad])
            .dst_tensor(channels_last([dims[0], dims[1], size(dims[2]), size(dims[3])], self.dtype)?)
            .describe(self.engine)?;
        self.push(name.to_owned(), &desc, (from, None), Vec::new())
    }

    /// Classes by an inner product in the type of the rest, and the logarithms of their probabilities in f32.
    fn classify(&mut self, from: usize) -> Result<usize, Error> {
        let src = self.values[from].tensor().clone();
        let dims = *src.dims();
        let desc = InnerProduct::forward(Prop::ForwardTraining)
            .src_tensor(src)
            .weights([CLASSES, dims[1], 1, 1], self.dtype)
            .bias([CLASSES], F32)
            .dst_tensor(Tensor::plain([dims[0], CLASSES], self.dtype)?)
            .describe(self.engine)?;
        let deviation = (1.0 / dims[1] as f32).sqrt();
        let mut draws = std::mem::replace(self.random, Random(0));
        let weights = self.master(&[CLASSES, dims[1], 1, 1].into(), |_| f64::from(deviation * draws.normal()));
        *self.random = draws;
        let bias = self.master(&[CLASSES].into(), |_| 0.0)?;
        let x = self.push("classes".into(), &desc, (from, None), vec![(Arg::WEIGHTS, weights?), (Arg::BIAS, bias)])?;
        let desc = oxidnn::softmax(Prop::ForwardTraining, SoftmaxAlg::Log, self.values[x].tensor().clone(), 1);
        let desc = desc.dst_tensor(Tensor::plain([dims[0], CLASSES], F32)?).describe(self.engine)?;
        self.push("softmax".into(), &desc, (x, None), Vec::new())
    }
}

impl Net {
    /// The network for images of `size` x `size` pixels, in `dtype`.
    pub(crate) fn new(engine: &Engine, dtype: DataType, [batch, size]: [i64; 2], random: &mut Random) -> Result<Net, Error> {
        let input = SharedMemory::new(Memory::new(engine, channels_last([batch, 3, size, size], dtype)?)?);
        input.write_with(|_| f64::from(random.normal()))?;
        let (sequence, values) = (Sequence::new(engine), vec![input]);
        let mut f = Forward { engine, dtype, random, sequence, values, nodes: Vec::new() };
        let mut x = f.conv("stem", 0, [64, 7, 2])?;
        x = f.norm("stem.norm", x, 1.0)?;
        x = f.relu("stem.relu", x)?;
        x = f.pool("stem.pool", x, PoolAlg::Max, [3, 2, 1])?;
        for (stage, (blocks, channels)) in STAGES.into_iter().enumerate() {
            for block in 0..blocks {
                let stride = if block == 0 && stage > 0 { 2 } else { 1 };
                x = f.bottleneck(&format!("stage{}.{block}", stage + 1), x, [channels, stride])?;
            }
        }
        let last = f.values[x].tensor().dims()[2];
        x = f.pool("pool", x, PoolAlg::AvgExcludePadding, [last, last, 0])?;
        x = f.classify(x)?;
        let log_probabilities = f.values[x].clone();
        let loss_gradient = SharedMemory::new(Memory::new(engine, log_probabilities.tensor().clone())?);
        let Forward { sequence: forward, values, nodes, .. } = f;
        let (backward, parameters) = gradients(engine, (&forward, &nodes, values.len()), &loss_gradient)?;
        let update = Sequence::new(engine);
        Ok(Net { engine: engine.clone(), log_probabilities, loss_gradient, forward, backward, update, parameters })
    }

    /// The loss becomes the mean over the images for these classes.
    pub(crate) fn set_labels(&self, labels: &[usize]) -> Result<(), Error> {
        let rate = -1.0 / labels.len() as f64;
        self.loss_gradient.write_with(|i| if labels[i / CLASSES as usize] == i % CLASSES as usize { rate } else { 0.0 })
    }

    /// Stochastic gradient descent: `velocity = momentum * velocity + gradient; value = value - rate * velocity`, in place.
    pub(crate) fn set_rate(&mut self, rate: f32, momentum: f32) -> Result<(), Error> {
        let mut update = Sequence::new(&self.engine);
        for p in &self.parameters {
            let mut add = |what: &str, scales: [f32; 2], to: &SharedMemory, other: &SharedMemory| -> Result<(), Error> {
                let t = to.tensor();
                let desc = oxidnn::sum(&scales, vec![t.clone(), other.tensor().clone()])?.dst_tensor(t.clone()).describe(&self.engine)?;
                let args = [(Arg::multiple_src(0), to), (Arg::multiple_src(1), other), (Arg::DST, to)];
                update.push(format!("{}.{what}", p.name), &desc, &args).map(drop)
            };
            add("velocity", [momentum, 1.0], &p.velocity, &p.gradient)?;
            add("value", [1.0, -rate], &p.value, &p.velocity)?;
        }
        self.update = update;
        Ok(())
    }

    /// Puts a step behind the stream's work, and waits for nothing.
    pub(crate) fn submit(&self, stream: &Stream) -> Result<(), Error> {
        let all = [&self.forward, &self.backward, &self.update];
        all.into_iter().flat_map(Sequence::steps).try_for_each(|step| step.execute(stream))
    }

    /// The loss of the last step.
    pub(crate) fn loss(&self, labels: &[usize]) -> Result<f32, Error> {
        let all = self.log_probabilities.read_f32()?;
        Ok(-labels.iter().enumerate().map(|(row, label)| all[row * CLASSES as usize + label]).sum::<f32>() / labels.len() as f32)
    }
}

/// The backward pass: nodes from the last to the first, gradients of a result that several read added up.
fn gradients(
    engine: &Engine,
    (forward, nodes, values): (&Sequence<'static>, &[Node], usize),
    loss: &SharedMemory,
) -> Result<(Sequence<'static>, Vec<Parameter>), Error> {
    let (mut backward, mut parameters) = (Sequence::new(engine), Vec::new());
    let mut gradients: Vec<Option<SharedMemory>> = vec![None; values];
    gradients[values - 1] = Some(loss.clone());
    for node in nodes.iter().rev() {
        let step = &forward.steps()[node.step];
        let Some(gradient) = gradients[node.to].take() else { continue };
        let mut found = Vec::new();
        let mut run = |desc: &PrimitiveDesc| -> Result<(), Error> {
            let inputs = desc.operands().iter().filter(|o| o.usage == oxidnn::Use::In);
            let given = inputs.map(|o| Ok((o.arg, if o.arg == Arg::DIFF_DST { &gradient } else { step.memory(o.arg)? })));
            let pass = backward.push(format!("{}.gradient", step.name()), desc, &given.collect::<Result<Vec<_>, Error>>()?)?;
            for arg in [Arg::DIFF_SRC, Arg::DIFF_WEIGHTS, Arg::DIFF_BIAS, Arg::DIFF_SCALE, Arg::DIFF_SHIFT] {
                found.extend(pass.memory(arg).ok().map(|m| (arg, m.clone())));
            }
            Ok(())
        };
        match &step.desc().problem().op {
            Op::Binary(sum) => run(&relu(&sum.dst).describe(engine)?.backward_data(engine)?)?,
            Op::BatchNorm(_) => run(&step.desc().backward(engine)?)?,
            op @ (Op::Conv(_) | Op::InnerProduct(_)) => {
                run(&weights_pass(op, engine)?)?;
                if node.from != 0 {
                    run(&step.desc().backward_data(engine)?)?;
                }
            }
            _ => run(&step.desc().backward_data(engine)?)?,
        }
        let mut put = |to: usize, arg: Arg| -> Result<(), Error> {
            let Some((_, new)) = found.iter().find(|f| f.0 == arg) else { return Ok(()) };
            gradients[to] = Some(match gradients[to].take() {
                None => new.clone(),
                Some(old) => {
                    let desc = oxidnn::sum(&[1.0, 1.0], vec![old.tensor().clone(), new.tensor().clone()])?;
                    let desc = desc.dst_tensor(old.tensor().clone()).describe(engine)?;
                    let args = [(Arg::multiple_src(0), &old), (Arg::multiple_src(1), new)];
                    backward.push(format!("{}.sum", step.name()), &desc, &args)?.memory(Arg::DST)?.clone()
                }
            });
            Ok(())
        };
        put(node.from, Arg::DIFF_SRC)?;
        node.shortcut.map_or(Ok(()), |s| put(s, Arg::DIFF_SRC))?;
        for (arg, value) in &node.parameters {
            let of = match *arg {
                Arg::WEIGHTS => Arg::DIFF_WEIGHTS,
                Arg::BIAS => Arg::DIFF_BIAS,
                Arg::SCALE => Arg::DIFF_SCALE,
                _ => Arg::DIFF_SHIFT,
            };
            let missing = || Error::arg(of, "no gradient", "one of each parameter");
            let gradient = found.iter().find(|f| f.0 == of).map(|f| f.1.clone()).ok_or_else(missing)?;
            let velocity = Memory::new(engine, value.tensor().clone())?.into();
            parameters.push(Parameter { name: format!("{}.{arg}", step.name()), value: value.clone(), gradient, velocity });
        }
    }
    parameters.reverse();
    Ok((backward, parameters))
}

/// The gradient of weights in f32, in the layout of their masters.
fn weights_pass(op: &Op, engine: &Engine) -> Result<PrimitiveDesc, Error> {
    let prop = Prop::BackwardWeights;
    let plain = |t: &Tensor| Tensor::plain(*t.dims(), F32);
    match op {
        Op::Conv(c) => {
            let all = [c.src.clone(), plain(&c.weights)?, c.dst.clone()];
            Builder::new(op::Conv::new(prop, c.alg, all, None, c.window.clone())).describe(engine)
        }
        Op::InnerProduct(p) => {
            let (src, weights, dst) = (p.src.clone(), plain(&p.weights)?, p.dst.clone());
            Builder::new(op::InnerProduct { prop, src, weights, bias: p.bias.clone(), dst }).describe(engine)
        }
        _ => Err(Error::invalid("operation", op.kind(), "one with weights")),
    }
}
