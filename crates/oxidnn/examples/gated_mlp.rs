//! The feed-forward part of a language model's block: root-mean-square normalisation, then down(silu(gate(x)) * up(x)), with the activation and the
//! product fused behind the matrix products.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (tokens, width, hidden) = (5, 16, 48);

    let rms = NormFlags { use_scale: true, rms: true, ..NormFlags::default() };
    let norm = oxidnn::layer_norm(Prop::ForwardInference, rms, 1e-6, Tensor::plain([tokens, width], F32)?).describe(&engine)?;
    let inner = Tensor::plain([tokens, hidden], F32)?;
    let up = Matmul::new().src([tokens, width], F32).weights([width, hidden], F32).dst_tensor(inner.clone()).describe(&engine)?;
    let fused = PostOps::new().eltwise(EltwiseAlg::Swish, 1.0, 0.0).binary(BinaryAlg::Mul, inner.clone());
    let gate = Matmul::new().src([tokens, width], F32).weights([width, hidden], F32).dst_tensor(inner.clone()).post_ops(fused);
    let gate = gate.describe(&engine)?;
    let down = Matmul::new().src_tensor(inner).weights([hidden, width], F32).describe(&engine)?;

    let values: Vec<f32> = (0..tokens * width).map(|i| (i % 7) as f32 - 3.0).collect();
    let x = engine.filled(&norm, Arg::SRC, &values)?;
    let scale = engine.filled(&norm, Arg::SCALE, &vec![1.0; width as usize])?;
    let weight = |desc: &PrimitiveDesc, value: f32| engine.filled(desc, Arg::WEIGHTS, &vec![value; (width * hidden) as usize]);
    let (w_up, w_gate, w_down) = (weight(&up, 0.1)?, weight(&gate, 0.2)?, weight(&down, 0.01)?);
    let normalised = engine.zeros(&norm, Arg::DST)?;
    let (lifted, gated) = (engine.zeros(&up, Arg::DST)?, engine.zeros(&gate, Arg::DST)?);
    let y = engine.zeros(&down, Arg::DST)?;

    norm.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::SCALE, &scale), (Arg::DST, &normalised)])?;
    up.create()?.execute(&stream, &[(Arg::SRC, &normalised), (Arg::WEIGHTS, &w_up), (Arg::DST, &lifted)])?;
    let product = Arg::post_op(1, Arg::SRC_1); // the second source of post-op 1
    gate.create()?.execute(&stream, &[(Arg::SRC, &normalised), (Arg::WEIGHTS, &w_gate), (product, &lifted), (Arg::DST, &gated)])?;
    down.create()?.execute(&stream, &[(Arg::SRC, &gated), (Arg::WEIGHTS, &w_down), (Arg::DST, &y)])?;

    for (row, got) in values.chunks(width as usize).zip(y.read_f32()?.chunks(width as usize)) {
        let size = (row.iter().map(|v| v * v).sum::<f32>() / width as f32 + 1e-6).sqrt();
        let sum: f32 = row.iter().map(|v| v / size).sum();
        let (g, u) = (0.2 * sum, 0.1 * sum);
        let expected = hidden as f32 * 0.01 * (g / (1.0 + (-g).exp())) * u;
        assert!((got[0] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{} is not {expected}", got[0]);
    }
    Ok(())
}
