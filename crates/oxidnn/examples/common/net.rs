//! A net as a list of layers, and the sequence of primitives that computes it forward.

use oxidnn::prelude::*;
use oxidnn::{Error, op::Op};
use std::fmt;

/// One layer; sizes of its input follow from the layers before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layer {
    /// Convolution by `kernel x kernel` to `channels` channels, padded so that images keep their size.
    Conv { channels: i64, kernel: i64 },
    /// `max(x, 0)`.
    Relu,
    /// The largest of each square of this size.
    MaxPool(i64),
    /// Inner product with the whole input, to this many numbers.
    Dense(i64),
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layer::Conv { channels, kernel } => write!(f, "conv {kernel}x{kernel} to {channels}"),
            Layer::Relu => f.write_str("relu"),
            Layer::MaxPool(size) => write!(f, "max pool {size}x{size}"),
            Layer::Dense(outputs) => write!(f, "dense to {outputs}"),
        }
    }
}

impl Layer {
    /// The prefix of the layer's parameter names: the kind, and its number from 1.
    fn kind(&self) -> &'static str {
        match self {
            Layer::Conv { .. } => "conv",
            Layer::Relu => "relu",
            Layer::MaxPool(_) => "pool",
            Layer::Dense(_) => "dense",
        }
    }

    /// Its primitive, for input `src`, with `fused` on each result. Convolution and inner product choose their layouts, the others follow `src`.
    fn describe(self, engine: &Engine, prop: Prop, src: &Tensor, fused: PostOps) -> Result<PrimitiveDesc, Error> {
        let dims = *src.dims();
        match self {
            Layer::Conv { channels, kernel } => Conv::forward(prop)
                .src(dims, F32)
                .weights([channels, dims[1], kernel, kernel], F32)
                .bias([channels], F32)
                .padding([kernel / 2, kernel / 2])
                .post_ops(fused)
                .describe(engine),
            Layer::Dense(outputs) => {
                let mut weights = dims;
                weights[0] = outputs;
                InnerProduct::forward(prop).src(dims, F32).weights(weights, F32).bias([outputs], F32).post_ops(fused).describe(engine)
            }
            Layer::Relu => oxidnn::eltwise(prop, EltwiseAlg::Relu, 0.0, 0.0, src.clone()).describe(engine),
            Layer::MaxPool(size) => {
                Pool::forward(prop, PoolAlg::Max, [size, size]).src_tensor(src.clone()).strides([size, size]).describe(engine)
            }
        }
    }
}

/// The forward pass of a net.
pub(crate) struct Forward {
    /// The primitives.
    pub(crate) sequence: Sequence<'static>,
    /// Where images go: `batch x channels x height x width`, plain.
    pub(crate) input: SharedMemory,
    /// Logarithms of the probability of each class: `batch x classes`.
    pub(crate) log_probabilities: SharedMemory,
}

impl Forward {
    /// The layers and a log-softmax. In inference a relu behind a convolution or inner product is a post-op of it. `parameters` returns
    /// weights and bias of a layer, given their names and descriptions, in the layouts of the descriptions.
    pub(crate) fn new(
        engine: &Engine,
        prop: Prop,
        (input, layers): ([i64; 4], &[Layer]),
        mut parameters: impl FnMut(&str, &PrimitiveDesc) -> Result<[SharedMemory; 2], Error>,
    ) -> Result<Forward, Error> {
        let mut sequence = Sequence::new(engine);
        let input = SharedMemory::new(Memory::new(engine, Tensor::plain(input, F32)?)?);
        let mut x = input.clone();
        let mut fused = false;
        for (i, layer) in layers.iter().enumerate() {
            if std::mem::take(&mut fused) {
                continue;
            }
            let number = layers[..=i].iter().filter(|l| l.kind() == layer.kind()).count();
            let name = format!("{}{number}", layer.kind());
            let weighted = matches!(layer, Layer::Conv { .. } | Layer::Dense(_));
            fused = weighted && prop == Prop::ForwardInference && matches!(layers.get(i + 1), Some(Layer::Relu));
            let desc = layer.describe(engine, prop, x.tensor(), if fused { PostOps::new().relu() } else { PostOps::new() })?;
            let step = if weighted {
                let [weights, bias] = parameters(&name, &desc)?;
                sequence.push(name, &desc, &[(Arg::SRC, &x), (Arg::WEIGHTS, &weights), (Arg::BIAS, &bias)])?
            } else {
                sequence.push(name, &desc, &[(Arg::SRC, &x)])?
            };
            x = step.memory(Arg::DST)?.clone();
        }
        let desc = oxidnn::softmax(prop, SoftmaxAlg::Log, x.tensor().clone(), 1).describe(engine)?;
        let log_probabilities = sequence.push("softmax", &desc, &[(Arg::SRC, &x)])?.memory(Arg::DST)?.clone();
        Ok(Forward { sequence, input, log_probabilities })
    }

    /// Images of a batch.
    pub(crate) fn batch(&self) -> usize {
        self.input.tensor().dims()[0] as usize
    }

    /// Sets the input: pixels of whole images, one after the other; `white` is the value of a white pixel. The rest of the batch is black.
    pub(crate) fn load<'a>(&self, images: impl Iterator<Item = &'a [u8]>, white: f32) -> Result<(), Error> {
        let mut pixels: Vec<f32> = images.flatten().map(|&p| f32::from(p) / white).collect();
        pixels.resize(self.input.tensor().bytes() / size_of::<f32>(), 0.0);
        self.input.write_raw(0, &pixels)
    }
}

/// Whether a step has parameters: convolution and inner product.
pub(crate) fn has_parameters(desc: &PrimitiveDesc) -> bool {
    matches!(desc.problem().op, Op::Conv(_) | Op::InnerProduct(_))
}
