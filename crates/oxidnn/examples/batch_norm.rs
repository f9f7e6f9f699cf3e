//! Batch normalisation in training, its gradients, and then in inference with the statistics that training kept.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let src = Tensor::plain([2, 3, 4, 4], F32)?;
    let learnt = NormFlags { use_scale: true, use_shift: true, ..NormFlags::default() };

    let training = oxidnn::batch_norm(Prop::ForwardTraining, learnt, 1e-5, src.clone()).describe(&engine)?;
    let gradients = training.backward(&engine)?;
    let values: Vec<f32> = (0..96).map(|i| (i * 37 % 50) as f32).collect();
    let x = engine.filled(&training, Arg::SRC, &values)?;
    let (scale, shift) = (engine.filled(&training, Arg::SCALE, &[1.0; 3])?, engine.filled(&training, Arg::SHIFT, &[0.0; 3])?);
    let (mean, variance) = (engine.zeros(&training, Arg::MEAN)?, engine.zeros(&training, Arg::VARIANCE)?);
    let y = engine.zeros(&training, Arg::DST)?;
    let given =
        [(Arg::SRC, &x), (Arg::SCALE, &scale), (Arg::SHIFT, &shift), (Arg::MEAN, &mean), (Arg::VARIANCE, &variance), (Arg::DST, &y)];
    training.create()?.execute(&stream, &given)?;
    let channel: Vec<f32> = y.read_f32()?.chunks(16).step_by(3).flatten().copied().collect();
    assert!(channel.iter().sum::<f32>().abs() < 1e-4, "a normalised channel has no mean");

    // A gradient that is the same everywhere moves the shift alone: no element may stand out from its channel's mean.
    let diff_y = engine.filled(&gradients, Arg::DIFF_DST, &[1.0; 96])?;
    let diff_x = engine.zeros(&gradients, Arg::DIFF_SRC)?;
    let (diff_scale, diff_shift) = (engine.zeros(&gradients, Arg::DIFF_SCALE)?, engine.zeros(&gradients, Arg::DIFF_SHIFT)?);
    gradients.create()?.execute(
        &stream,
        &[
            (Arg::SRC, &x),
            (Arg::MEAN, &mean),
            (Arg::VARIANCE, &variance),
            (Arg::SCALE, &scale),
            (Arg::DIFF_DST, &diff_y),
            (Arg::DIFF_SRC, &diff_x),
            (Arg::DIFF_SCALE, &diff_scale),
            (Arg::DIFF_SHIFT, &diff_shift),
        ],
    )?;
    assert_eq!(diff_shift.read_f32()?, [32.0; 3]);
    assert!(diff_x.read_f32()?.iter().all(|g| g.abs() < 1e-5));

    // Inference: the statistics are arguments, and a ReLU costs nothing.
    let frozen = NormFlags { use_global_stats: true, ..learnt };
    let inference = oxidnn::batch_norm(Prop::ForwardInference, frozen, 1e-5, src).post_ops(PostOps::new().relu()).describe(&engine)?;
    let z = engine.zeros(&inference, Arg::DST)?;
    let given =
        [(Arg::SRC, &x), (Arg::SCALE, &scale), (Arg::SHIFT, &shift), (Arg::MEAN, &mean), (Arg::VARIANCE, &variance), (Arg::DST, &z)];
    inference.create()?.execute(&stream, &given)?;
    for (normalised, rectified) in y.read_f32()?.iter().zip(z.read_f32()?) {
        assert!((normalised.max(0.0) - rectified).abs() < 1e-5);
    }
    Ok(())
}
