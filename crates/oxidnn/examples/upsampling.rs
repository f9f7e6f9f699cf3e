//! Two ways to a larger image: bilinear resampling, and a transposed convolution.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;

    let (small, large) = (Tensor::plain([1, 1, 2, 2], F32)?, Tensor::plain([1, 1, 4, 4], F32)?);
    let linear = oxidnn::resampling(Prop::ForwardInference, ResamplingAlg::Linear, small.clone(), large.clone()).describe(&engine)?;
    let x = Memory::from_vec(&engine, [1, 1, 2, 2], vec![0.0f32, 1.0, 2.0, 3.0])?;
    let y = engine.zeros(&linear, Arg::DST)?;
    linear.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::DST, &y)])?;
    assert_eq!(y.read_f32()?[..4], [0.0, 0.25, 0.75, 1.0]); // half pixels: the corners are the corners

    // Each input pixel adds the kernel, times its value, to a 2x2 square of its own.
    let transposed = Conv::transposed(Prop::ForwardInference)
        .src_tensor(small)
        .weights([1, 1, 2, 2], F32)
        .dst_tensor(large)
        .strides([2, 2])
        .describe(&engine)?;
    let kernel = engine.filled(&transposed, Arg::WEIGHTS, &[1.0, 10.0, 100.0, 1000.0])?;
    let z = engine.zeros(&transposed, Arg::DST)?;
    transposed.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::WEIGHTS, &kernel), (Arg::DST, &z)])?;
    assert_eq!(z.read_f32()?[..8], [0.0, 0.0, 1.0, 10.0, 0.0, 0.0, 100.0, 1000.0]);
    Ok(())
}
