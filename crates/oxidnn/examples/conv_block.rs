//! A block of a convolutional net as a sequence: convolution, bias and ReLU in one primitive, then pooling. Weights are reordered once, by the
//! sequence's owner; images go in as plain NCHW.

use oxidnn::prelude::*;
use std::sync::Arc;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let image = Tensor::plain([8, 3, 32, 32], F32)?;

    let conv = Conv::forward(Prop::ForwardInference)
        .src([8, 3, 32, 32], F32)
        .weights([16, 3, 3, 3], F32)
        .bias([16], F32)
        .padding([1, 1])
        .post_ops(PostOps::new().relu())
        .describe(&engine)?;
    let pool = Pool::forward(Prop::ForwardInference, PoolAlg::Max, [2, 2])
        .src_tensor(conv.tensor(Arg::DST).expect("a convolution has a destination").clone())
        .strides([2, 2])
        .describe(&engine)?;

    let x = Arc::new(Memory::new(&engine, image)?);
    let weights = Arc::new(engine.filled(&conv, Arg::WEIGHTS, &vec![1.0 / 27.0; 16 * 27])?);
    let bias = Arc::new(engine.filled(&conv, Arg::BIAS, &[0.5; 16])?);

    let mut net = Sequence::new(&engine);
    let features = net.push("conv", &conv, &[(Arg::SRC, &x), (Arg::WEIGHTS, &weights), (Arg::BIAS, &bias)])?.memory(Arg::DST)?.clone();
    let pooled = net.push("pool", &pool, &[(Arg::SRC, &features)])?.memory(Arg::DST)?.clone();

    x.write_f32(&vec![1.0; 8 * 3 * 32 * 32])?;
    net.run(&stream)?;
    for step in net.steps() {
        println!("{:12} {}", step.name(), step.desc());
    }
    // In the middle of an image of ones the mean of 27 ones is 1, and the bias adds a half.
    let y = pooled.read_f32()?;
    assert_eq!(pooled.tensor().dims()[..], [8, 16, 16, 16]);
    assert!((y[16 * 8 + 8] - 1.5).abs() < 1e-5);
    Ok(())
}
