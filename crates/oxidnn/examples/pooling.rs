//! Maximum pooling in training, which remembers where the maximum was, its gradient, and a mean over all pixels.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let src = Tensor::plain([1, 1, 4, 4], F32)?;
    let values: Vec<f32> = (0..16).map(|i| (i * 7 % 16) as f32).collect();

    let forward = Pool::forward(Prop::ForwardTraining, PoolAlg::Max, [2, 2])
        .src_tensor(src.clone())
        .dst_tensor(Tensor::plain([1, 1, 2, 2], F32)?)
        .strides([2, 2])
        .describe(&engine)?;
    let backward = forward.backward_data(&engine)?;
    let x = engine.filled(&forward, Arg::SRC, &values)?;
    let (y, places) = (engine.zeros(&forward, Arg::DST)?, engine.zeros(&forward, Arg::WORKSPACE)?);
    forward.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::DST, &y), (Arg::WORKSPACE, &places)])?;
    assert_eq!(y.read_f32()?, [12.0, 14.0, 15.0, 13.0]);

    let diff_y = engine.filled(&backward, Arg::DIFF_DST, &[1.0, 2.0, 3.0, 4.0])?;
    let diff_x = engine.zeros(&backward, Arg::DIFF_SRC)?;
    let given = [(Arg::DIFF_DST, &diff_y), (Arg::WORKSPACE, &places), (Arg::DIFF_SRC, &diff_x)];
    backward.create()?.execute(&stream, &given)?;
    for (gradient, value) in diff_x.read_f32()?.iter().zip(&values) {
        let expected = [12.0, 14.0, 15.0, 13.0].iter().position(|m| m == value).map_or(0.0, |i| (i + 1) as f32);
        assert_eq!(*gradient, expected); // only the maxima get one
    }

    // The kernel is the whole image.
    let mean = Pool::forward(Prop::ForwardInference, PoolAlg::AvgExcludePadding, [4, 4]).src_tensor(src).describe(&engine)?;
    let z = engine.zeros(&mean, Arg::DST)?;
    mean.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::DST, &z)])?;
    assert_eq!(z.read_f32()?, [7.5]);
    Ok(())
}
