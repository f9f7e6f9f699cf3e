//! A product of bytes: a u8 source with a scale and a zero point, s8 weights with a scale for each column, an f32 result.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (m, k, n) = (4, 64, 8);

    let desc = Matmul::new()
        .src([m, k], U8)
        .weights([k, n], S8)
        .dst_type(F32)
        .scales(Arg::SRC, 0) // one number
        .zero_points(Arg::SRC, 0)
        .scales(Arg::WEIGHTS, 1 << 1) // one for each column
        .describe(&engine)?;
    println!("{desc}");

    let src: Vec<u8> = (0..m * k).map(|i| (i % 251) as u8).collect();
    let weights: Vec<i8> = (0..k * n).map(|i| (i % 255 - 127) as i8).collect();
    let column_scales: Vec<f32> = (0..n).map(|j| 0.01 * (j + 1) as f32).collect();

    let x = engine.filled(&desc, Arg::SRC, &src.iter().map(|&v| f32::from(v)).collect::<Vec<_>>())?;
    let w = engine.filled(&desc, Arg::WEIGHTS, &weights.iter().map(|&v| f32::from(v)).collect::<Vec<_>>())?; // packed for the processor
    let y = engine.zeros(&desc, Arg::DST)?;
    let src_scale = Memory::from_vec(&engine, [1], vec![0.5f32])?;
    let src_zero = Memory::from_vec(&engine, [1], vec![100i32])?;
    let weights_scale = Memory::from_vec(&engine, [n], column_scales.clone())?;

    desc.create()?.execute(
        &stream,
        &[
            (Arg::SRC, &x),
            (Arg::WEIGHTS, &w),
            (Arg::DST, &y),
            (Arg::scale(Arg::SRC), &src_scale),
            (Arg::zero_point(Arg::SRC), &src_zero),
            (Arg::scale(Arg::WEIGHTS), &weights_scale),
        ],
    )?;

    for (i, got) in y.read::<f32>()?.into_iter().enumerate() {
        let (row, column) = (i as i64 / n, i as i64 % n);
        let product = |p: i64| (i32::from(src[(row * k + p) as usize]) - 100) * i32::from(weights[(p * n + column) as usize]);
        let expected = (0..k).map(product).sum::<i32>() as f32 * 0.5 * column_scales[column as usize];
        assert!((got - expected).abs() <= expected.abs() * 1e-6 + 1e-6, "{got} is not {expected}");
    }
    Ok(())
}
