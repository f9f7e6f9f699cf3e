//! From scores to probabilities: softmax, its logarithm, and the gradient of a cross-entropy.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let scores = Tensor::plain([2, 4], F32)?;
    let values = [1.0f32, 2.0, 3.0, 4.0, 1000.0, 1000.0, 1000.0, 1000.0];

    let softmax = oxidnn::softmax(Prop::ForwardInference, SoftmaxAlg::Accurate, scores.clone(), 1).describe(&engine)?;
    let x = engine.filled(&softmax, Arg::SRC, &values)?;
    let p = engine.zeros(&softmax, Arg::DST)?;
    softmax.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::DST, &p)])?;
    let p = p.read_f32()?;
    assert!(p.chunks(4).all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-6));
    assert_eq!(p[4..], [0.25; 4]); // large scores do not overflow

    // Cross-entropy: the mean of -log p[target]. Its gradient by the scores is the backward pass applied to -1/n at the targets.
    let targets = [3, 0];
    let log = oxidnn::softmax(Prop::ForwardTraining, SoftmaxAlg::Log, scores, 1).describe(&engine)?;
    let back = log.backward_data(&engine)?;
    let y = engine.zeros(&log, Arg::DST)?;
    log.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::DST, &y)])?;
    let logarithms = y.read_f32()?;
    let loss = targets.iter().enumerate().map(|(row, &t)| -logarithms[row * 4 + t]).sum::<f32>() / 2.0;
    let mut diff = [0.0; 8];
    targets.iter().enumerate().for_each(|(row, &t)| diff[row * 4 + t] = -0.5);
    let diff_y = engine.filled(&back, Arg::DIFF_DST, &diff)?;
    let diff_x = engine.zeros(&back, Arg::DIFF_SRC)?;
    back.create()?.execute(&stream, &[(Arg::DST, &y), (Arg::DIFF_DST, &diff_y), (Arg::DIFF_SRC, &diff_x)])?;
    println!("loss {loss:.3}");
    for (i, gradient) in diff_x.read_f32()?.into_iter().enumerate() {
        let target = f32::from(i % 4 == targets[i / 4]);
        assert!((gradient - (p[i] - target) / 2.0).abs() < 1e-6); // probability minus target
    }
    Ok(())
}
