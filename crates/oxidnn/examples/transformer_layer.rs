//! Normalisation, softmax and a product with gelu: the parts of a transformer's layer around attention.

use oxidnn::op::NormFlags;
use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (tokens, width, wide) = (16, 64, 256);
    let rows = Tensor::plain([tokens, width], F32)?;

    let flags = NormFlags { use_scale: true, use_shift: true, ..NormFlags::default() };
    let norm = oxidnn::layer_norm(Prop::ForwardInference, flags, 1e-5, rows.clone()).dst_tensor(rows.clone()).describe(&engine)?;
    let up = Matmul::new()
        .src_tensor(rows.clone())
        .weights([width, wide], F32)
        .bias([wide], F32)
        .post_ops(PostOps::new().eltwise(EltwiseAlg::GeluTanh, 0.0, 0.0))
        .describe(&engine)?;
    let scores = oxidnn::softmax(Prop::ForwardInference, SoftmaxAlg::Accurate, up.tensor(Arg::DST).expect("a destination").clone(), 1);
    let scores = scores.describe(&engine)?;

    let x = Memory::from_vec(&engine, [tokens, width], (0..tokens * width).map(|i| (i * i % 97) as f32).collect())?;
    let (scale, shift) = (Memory::from_vec(&engine, [width], vec![1.0f32; 64])?, Memory::from_vec(&engine, [width], vec![0.0f32; 64])?);
    let normed = engine.zeros(&norm, Arg::DST)?;
    norm.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::SCALE, &scale), (Arg::SHIFT, &shift), (Arg::DST, &normed)])?;
    for row in normed.read_f32()?.chunks(width as usize) {
        let mean = row.iter().sum::<f32>() / width as f32;
        assert!(mean.abs() < 1e-4, "the mean of a normalised row is {mean}");
    }

    let w = engine.filled(&up, Arg::WEIGHTS, &vec![0.01; (width * wide) as usize])?;
    let b = engine.filled(&up, Arg::BIAS, &(0..wide).map(|j| j as f32 / 64.0).collect::<Vec<_>>())?;
    let (hidden, shares) = (engine.zeros(&up, Arg::DST)?, engine.zeros(&scores, Arg::DST)?);
    up.create()?.execute(&stream, &[(Arg::SRC, &normed), (Arg::WEIGHTS, &w), (Arg::BIAS, &b), (Arg::DST, &hidden)])?;
    scores.create()?.execute(&stream, &[(Arg::SRC, &hidden), (Arg::DST, &shares)])?;
    for row in shares.read_f32()?.chunks(wide as usize) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
    Ok(())
}
