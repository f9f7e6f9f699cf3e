//! A block of a mobile net: a depthwise 3x3 convolution, then a pointwise one whose result is added to the input, all with fused activations.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (batch, channels, size) = (1, 32, 14);
    let relu6 = || PostOps::new().eltwise(EltwiseAlg::Clip, 0.0, 6.0);

    // One filter a channel: weights are groups x 1 x 1 x height x width.
    let depthwise = Conv::forward(Prop::ForwardInference)
        .src([batch, channels, size, size], F32)
        .weights([channels, 1, 1, 3, 3], F32)
        .padding([1, 1])
        .post_ops(relu6())
        .describe(&engine)?;
    let between = depthwise.tensor(Arg::DST).expect("a convolution has a destination").clone();
    // The sum adds to the destination's old contents: the block's input.
    let pointwise = Conv::forward(Prop::ForwardInference)
        .src_tensor(between.clone())
        .weights([channels, channels, 1, 1], F32)
        .dst_tensor(between)
        .post_ops(PostOps::new().sum(1.0))
        .describe(&engine)?;
    println!("{depthwise}\n{pointwise}");

    let ones = vec![1.0; (batch * channels * size * size) as usize];
    let x = engine.filled(&depthwise, Arg::SRC, &ones)?;
    let filters = engine.filled(&depthwise, Arg::WEIGHTS, &vec![1.0; (channels * 9) as usize])?;
    let weights = engine.filled(&pointwise, Arg::WEIGHTS, &vec![1.0 / 32.0; (channels * channels) as usize])?;
    let (hidden, y) = (engine.zeros(&depthwise, Arg::DST)?, engine.filled(&pointwise, Arg::DST, &ones)?);
    depthwise.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::WEIGHTS, &filters), (Arg::DST, &hidden)])?;
    pointwise.create()?.execute(&stream, &[(Arg::SRC, &hidden), (Arg::WEIGHTS, &weights), (Arg::DST, &y)])?;
    let y = y.read_f32()?;
    assert_eq!(y[0], 1.0 + 4.0); // a corner sees four taps
    assert_eq!(y[(size + 1) as usize], 1.0 + 6.0); // nine taps, clipped
    Ok(())
}
