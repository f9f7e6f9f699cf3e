//! Trains y = 3 x0 - 2 x1 + 1 by gradient descent: a forward pass, its two backward passes, and updates by sums.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (batch, rate) = (64, 0.1);

    let forward =
        InnerProduct::forward(Prop::ForwardTraining).src([batch, 2], F32).weights([1, 2], F32).bias([1], F32).describe(&engine)?;
    let gradients = forward.backward_weights(&engine)?; // DIFF_WEIGHTS and DIFF_BIAS from SRC and DIFF_DST

    let inputs: Vec<f32> = (0..2 * batch).map(|i| ((i * 37 % 101) as f32) / 50.0 - 1.0).collect();
    let wanted: Vec<f32> = inputs.chunks(2).map(|x| 3.0 * x[0] - 2.0 * x[1] + 1.0).collect();
    let x = engine.filled(&forward, Arg::SRC, &inputs)?;
    let (w, b) = (engine.zeros(&forward, Arg::WEIGHTS)?, engine.zeros(&forward, Arg::BIAS)?);
    let y = engine.zeros(&forward, Arg::DST)?;
    let diff_y = engine.zeros(&gradients, Arg::DIFF_DST)?;
    let (diff_w, diff_b) = (engine.zeros(&gradients, Arg::DIFF_WEIGHTS)?, engine.zeros(&gradients, Arg::DIFF_BIAS)?);

    let (forward, gradients) = (forward.create()?, gradients.create()?);
    let mut loss = f32::INFINITY;
    for _ in 0..200 {
        forward.execute(&stream, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::BIAS, &b), (Arg::DST, &y)])?;
        let errors: Vec<f32> = y.read_f32()?.iter().zip(&wanted).map(|(y, t)| y - t).collect();
        loss = errors.iter().map(|e| e * e).sum::<f32>() / batch as f32;
        diff_y.write_f32(&errors.iter().map(|e| 2.0 * e / batch as f32).collect::<Vec<_>>())?;
        let arguments = [(Arg::SRC, &x), (Arg::DIFF_DST, &diff_y), (Arg::DIFF_WEIGHTS, &diff_w), (Arg::DIFF_BIAS, &diff_b)];
        gradients.execute(&stream, &arguments)?;
        for (value, gradient) in [(&w, &diff_w), (&b, &diff_b)] {
            let step = value.read_f32()?.iter().zip(gradient.read_f32()?).map(|(v, g)| v - rate * g).collect::<Vec<_>>();
            value.write_f32(&step)?;
        }
    }
    println!("weights {:?}, bias {:?}, loss {loss:.2e}", w.read_f32()?, b.read_f32()?);
    assert!(loss < 1e-4);
    Ok(())
}
