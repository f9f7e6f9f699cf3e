//! Weights of four bits, as language models have them: a scale for each group of 32 rows of each column, decoded while they are multiplied.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (m, k, n, group) = (1, 128, 64, 32);

    let desc = Matmul::new()
        .src([m, k], F32)
        .weights([k, n], S4)
        .scales_with(Arg::WEIGHTS, Quant::per(0b11, F32).grouped([group, 1]))
        .fpmath(FpMathMode::Strict, true) // integer weights may be converted to the source's type
        .describe(&engine)?;
    println!("{desc}");

    let weights: Vec<f32> = (0..k * n).map(|i| (i % 16 - 8) as f32).collect();
    let scales: Vec<f32> = (0..k / group * n).map(|i| 0.25 + (i % 4) as f32 * 0.25).collect();
    let x = engine.filled(&desc, Arg::SRC, &vec![1.0; (m * k) as usize])?;
    let w = engine.filled(&desc, Arg::WEIGHTS, &weights)?;
    let s = Memory::from_vec(&engine, [k / group, n], scales.clone())?;
    let y = engine.zeros(&desc, Arg::DST)?;
    desc.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::scale(Arg::WEIGHTS), &s), (Arg::DST, &y)])?;

    for (j, got) in y.read_f32()?.into_iter().enumerate() {
        let expected: f32 = (0..k as usize).map(|p| weights[p * n as usize + j] * scales[p / group as usize * n as usize + j]).sum();
        assert!((got - expected).abs() < 1e-3, "column {j}: {got} is not {expected}");
    }
    Ok(())
}
