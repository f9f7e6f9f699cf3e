//! The training loop: epochs over shuffled batches, with progress and test accuracy shown.

use super::net::{Forward, Layer};
use super::random::Random;
use super::training::{Parameter, Training};
use anyhow::{Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use oxidnn::prelude::*;
use oxidnn_testing::idx::Labelled;
use std::time::Instant;

/// The recipe: the net, the data, and the parameters of training.
pub(crate) struct Recipe<'a> {
    /// The net; the last layer gives the classes.
    pub(crate) layers: &'a [Layer],
    /// The number of a white pixel.
    pub(crate) white: f32,
    /// Images of a step.
    pub(crate) batch: usize,
    /// Passes over the training images.
    pub(crate) epochs: usize,
    /// Learning rate of the first epoch; it falls linearly towards 0 after the last.
    pub(crate) rate: f32,
    /// Share of a step that the next one keeps.
    pub(crate) momentum: f32,
    /// How far training images are moved at random, pixels in each direction; 0: not at all.
    pub(crate) shift: usize,
    /// Of weights, order and shifts.
    pub(crate) seed: u64,
    /// Share of the test images that must be classified rightly in the end.
    pub(crate) promise: f64,
}

/// Trains on `engine`, and prints a line an epoch. The parameters are those after the last epoch.
///
/// # Errors
/// When the final accuracy is below the recipe's promise; errors of the primitives.
pub(crate) fn train(engine: &Engine, recipe: &Recipe<'_>, images: &Labelled, test: &Labelled) -> Result<Vec<Parameter>> {
    let (height, width) = images.size();
    ensure!(test.size() == images.size(), "test images of {:?} pixels, training images of {:?}", test.size(), images.size());
    let stream = Stream::new(engine)?;
    let mut random = Random(recipe.seed);
    let input = [recipe.batch as i64, 1, height as i64, width as i64];
    let mut net = Training::new(engine, &stream, (input, recipe.layers), &mut random)?;
    let tester = Tester::new(engine, &stream, (input, recipe.layers), &net.parameters)?;
    introduce(recipe, images, test, &net.parameters);
    println!("epoch   loss     test accuracy   seconds");
    let (begin, mut accuracy) = (Instant::now(), 0.0);
    for epoch in 0..recipe.epochs {
        net.set_rate(recipe.rate * (1.0 - epoch as f32 / recipe.epochs as f32), recipe.momentum)?;
        let order = random.permutation(images.count());
        let bar = progress(epoch + 1, images.count());
        let (mut loss, mut steps) = (0.0, 0);
        for batch in order.chunks(recipe.batch) {
            let moved: Vec<Vec<u8>> = batch.iter().map(|&i| shifted(images.image(i), width, recipe.shift, &mut random)).collect();
            net.forward.load(moved.iter().map(Vec::as_slice), recipe.white)?;
            let labels: Vec<usize> = batch.iter().map(|&i| images.label(i)).collect();
            loss += f64::from(net.step(&labels)?);
            steps += 1;
            bar.inc(batch.len() as u64);
            bar.set_message(format!("loss {:.4}", loss / f64::from(steps)));
        }
        bar.finish_and_clear();
        let right = tester.right(test, recipe.white)?;
        accuracy = right as f64 / test.count() as f64;
        println!(
            "{:>5}   {:.4}   {:>11.2} %   {:>7.1}",
            epoch + 1,
            loss / f64::from(steps),
            100.0 * accuracy,
            begin.elapsed().as_secs_f64()
        );
    }
    ensure!(accuracy >= recipe.promise, "test accuracy {:.2} %, promised {:.2} %", 100.0 * accuracy, 100.0 * recipe.promise);
    Ok(net.parameters)
}

fn introduce(recipe: &Recipe<'_>, images: &Labelled, test: &Labelled, parameters: &[Parameter]) {
    let (height, width) = images.size();
    let layers: Vec<String> = recipe.layers.iter().map(Layer::to_string).collect();
    let count: i64 = parameters.iter().filter_map(|p| p.value.tensor().dims().volume()).sum();
    println!("{} images of {height}x{width} to train, {} to test, batches of {}", images.count(), test.count(), recipe.batch);
    println!("{count} parameters: {}", layers.join(", "));
}

/// The image moved by up to `most` pixels up or down, left or right; uncovered pixels are black.
pub(crate) fn shifted(image: &[u8], width: usize, most: usize, random: &mut Random) -> Vec<u8> {
    let height = image.len() / width;
    let mut offset = || random.below(2 * most + 1);
    let (down, right) = (offset(), offset());
    let pixel = |y: usize, x: usize| {
        let (y, x) = ((y + most).checked_sub(down)?, (x + most).checked_sub(right)?);
        (y < height && x < width).then(|| image[y * width + x])
    };
    (0..image.len()).map(|i| pixel(i / width, i % width).unwrap_or(0)).collect()
}

/// A bar over the images of an epoch, shown where a person watches.
fn progress(epoch: usize, images: usize) -> ProgressBar {
    let bar = ProgressBar::new(images as u64);
    match ProgressStyle::with_template("{prefix:>5}   {bar:30} {pos}/{len}, {eta} left, {msg}") {
        Ok(style) => bar.with_style(style).with_prefix(epoch.to_string()),
        Err(_) => bar,
    }
}

/// The net for inference, with the weights that a training changes.
struct Tester {
    stream: Stream,
    /// Reorders weights to the layouts of inference, where they differ from those of training.
    pack: Sequence<'static>,
    forward: Forward,
}

impl Tester {
    fn new(engine: &Engine, stream: &Stream, net: ([i64; 4], &[Layer]), parameters: &[Parameter]) -> Result<Tester> {
        let mut pack = Sequence::new(engine);
        let mut parameters = parameters.iter();
        let forward = Forward::new(engine, Prop::ForwardInference, net, |_, desc| {
            let mut next = |arg| {
                let missing = || oxidnn::Error::arg(arg, "no parameter", "one of the net in training");
                let p = parameters.next().ok_or_else(missing)?;
                pack.fit(&p.name, &p.value, desc.tensor(arg).ok_or_else(missing)?)
            };
            Ok([next(Arg::WEIGHTS)?, next(Arg::BIAS)?])
        })?;
        Ok(Tester { stream: stream.clone(), pack, forward })
    }

    /// How many images get their own class as the most probable one.
    fn right(&self, images: &Labelled, white: f32) -> Result<usize> {
        self.pack.run(&self.stream)?;
        let indices: Vec<usize> = (0..images.count()).collect();
        let mut right = 0;
        for batch in indices.chunks(self.forward.batch()) {
            self.forward.load(batch.iter().map(|&i| images.image(i)), white)?;
            self.forward.sequence.run(&self.stream)?;
            let scores = self.forward.log_probabilities.read_f32()?;
            let rows = scores.chunks(scores.len() / self.forward.batch());
            right += batch.iter().zip(rows).filter(|&(&i, row)| largest(row) == Some(images.label(i))).count();
        }
        Ok(right)
    }
}

/// Index of the largest number.
fn largest(row: &[f32]) -> Option<usize> {
    row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(i, _)| i)
}
