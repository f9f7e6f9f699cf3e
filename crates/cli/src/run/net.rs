//! The digits net, for inference: relu is a post-op of the convolutions, weights are brought once into the layouts that the primitives ask for.

use anyhow::{Context, Result, ensure};
use oxidnn::prelude::*;
use oxidnn::{Step, softmax};
use oxidnn_testing::idx::Labelled;
use safetensors::{Dtype, SafeTensors};

/// The number of a white pixel.
const WHITE: f32 = 16.0;
const CLASSES: usize = 10;

/// The class of an image.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Answer {
    /// The most probable class.
    pub(super) class: usize,
    /// Its probability.
    pub(super) probability: f32,
}

/// Primitives and their memories for batches of one size.
pub(super) struct Net {
    sequence: Sequence<'static>,
    input: SharedMemory,
    probabilities: SharedMemory,
    /// A description of each step: one for each of [`Net::steps`].
    notes: Vec<String>,
    /// Numbers in all weights and biases.
    parameters: usize,
}

/// The net while its layers are added.
struct Building<'a> {
    engine: &'a Engine,
    weights: SafeTensors<'a>,
    sequence: Sequence<'static>,
    notes: Vec<String>,
    parameters: usize,
}

impl Net {
    /// conv 3x3 + relu, conv 3x3 + relu, max pool 2x2, inner product, softmax; sizes follow from the weights of `file` (safetensors).
    pub(super) fn new(engine: &Engine, batch: usize, (height, width): (usize, usize), file: &[u8]) -> Result<Net> {
        let weights = SafeTensors::deserialize(file).context("weights")?;
        let mut net = Building { engine, weights, sequence: Sequence::new(engine), notes: Vec::new(), parameters: 0 };
        let dims = [batch as i64, 1, height as i64, width as i64];
        let input = SharedMemory::new(Memory::new(engine, Tensor::plain(dims, F32)?)?);
        let x = net.conv("conv1", &input)?;
        let x = net.conv("conv2", &x)?;
        let pool = Pool::forward(Prop::ForwardInference, PoolAlg::Max, [2, 2]).src_tensor(x.tensor().clone()).strides([2, 2]);
        let x = net.push("pool1", &pool.describe(engine)?, &[(Arg::SRC, &x)], "max of 2x2".into())?;
        let x = net.dense("dense1", &x)?;
        let desc = softmax(Prop::ForwardInference, SoftmaxAlg::Accurate, x.tensor().clone(), 1).describe(engine)?;
        let probabilities = net.push("softmax", &desc, &[(Arg::SRC, &x)], "to probabilities".into())?;
        let classes = probabilities.tensor().dims()[1];
        ensure!(classes == CLASSES as i64, "the net has {classes} classes, not {CLASSES}");
        Ok(Net { sequence: net.sequence, input, probabilities, notes: net.notes, parameters: net.parameters })
    }

    /// The primitives, first to last.
    pub(super) fn steps(&self) -> &[Step<'static>] {
        self.sequence.steps()
    }

    /// A description of each of them.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Numbers in all weights and biases.
    pub(super) fn parameters(&self) -> usize {
        self.parameters
    }

    /// Images that are classified at once.
    pub(super) fn batch(&self) -> usize {
        self.input.tensor().dims()[0] as usize
    }

    /// Classifies every image.
    pub(super) fn classify(&self, digits: &Labelled, stream: &Stream) -> Result<Vec<Answer>> {
        let indices: Vec<usize> = (0..digits.count()).collect();
        let mut answers = Vec::with_capacity(indices.len());
        for batch in indices.chunks(self.batch()) {
            let mut pixels: Vec<f32> = batch.iter().flat_map(|&i| digits.image(i)).map(|&p| f32::from(p) / WHITE).collect();
            pixels.resize(self.input.tensor().bytes() / size_of::<f32>(), 0.0);
            self.input.write_raw(0, &pixels)?;
            self.sequence.run(stream)?;
            let probabilities = self.probabilities.read_f32()?;
            answers.extend(probabilities.chunks(CLASSES).take(batch.len()).map(best));
        }
        Ok(answers)
    }
}

fn best(row: &[f32]) -> Answer {
    let (class, &probability) = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap_or((0, &f32::NAN));
    Answer { class, probability }
}

impl Building<'_> {
    fn conv(&mut self, name: &str, src: &SharedMemory) -> Result<SharedMemory> {
        let (s, w) = (*src.tensor().dims(), self.dims::<4>(name)?);
        let desc = Conv::forward(Prop::ForwardInference)
            .src(s, F32)
            .weights(w, F32)
            .bias([w[0]], F32)
            .padding([w[2] / 2, w[3] / 2])
            .post_ops(PostOps::new().relu())
            .describe(self.engine)?;
        let note = format!("{}x{}, {} to {} channels, + relu", w[2], w[3], w[1], w[0]);
        self.push_weighted(name, &desc, src, note)
    }

    fn dense(&mut self, name: &str, src: &SharedMemory) -> Result<SharedMemory> {
        let (s, w) = (*src.tensor().dims(), self.dims::<4>(name)?);
        let desc = InnerProduct::forward(Prop::ForwardInference).src(s, F32).weights(w, F32).bias([w[0]], F32).describe(self.engine)?;
        self.push_weighted(name, &desc, src, format!("{} to {}", w[1..].iter().product::<i64>(), w[0]))
    }

    fn push_weighted(&mut self, name: &str, desc: &PrimitiveDesc, src: &SharedMemory, note: String) -> Result<SharedMemory> {
        let weights = self.packed(&format!("{name}.weight"), desc, Arg::WEIGHTS)?;
        let bias = self.packed(&format!("{name}.bias"), desc, Arg::BIAS)?;
        self.push(name, desc, &[(Arg::SRC, src), (Arg::WEIGHTS, &weights), (Arg::BIAS, &bias)], note)
    }

    /// Appends a primitive, and a reorder in front of it where its source needs one; the result is its destination.
    fn push(&mut self, name: &str, desc: &PrimitiveDesc, args: &[(Arg, &SharedMemory)], note: String) -> Result<SharedMemory> {
        let dst = self.sequence.push(name, desc, args)?.memory(Arg::DST)?.clone();
        self.notes.resize(self.sequence.steps().len() - 1, "to another layout".into());
        self.notes.push(note);
        Ok(dst)
    }

    /// Sizes of a layer's weights.
    fn dims<const N: usize>(&self, layer: &str) -> Result<[i64; N]> {
        let shape: Vec<i64> = self.weights.tensor(&format!("{layer}.weight"))?.shape().iter().map(|&d| d as i64).collect();
        shape.try_into().map_err(|s| anyhow::anyhow!("{layer}.weight has sizes {s:?}, not {N} of them"))
    }

    /// A parameter in the layout that `desc` has for `arg`.
    fn packed(&mut self, name: &str, desc: &PrimitiveDesc, arg: Arg) -> Result<SharedMemory> {
        let tensor = self.weights.tensor(name)?;
        ensure!(tensor.dtype() == Dtype::F32, "{name} is {:?}, not F32", tensor.dtype());
        let values: Vec<f32> = tensor.data().as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
        self.parameters += values.len();
        Ok(self.engine.filled(desc, arg, &values).with_context(|| name.to_owned())?.into())
    }
}
