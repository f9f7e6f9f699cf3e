//! Products of 16-bit numbers, summed in f32; and f32 products that may be computed in a lower precision.

use oxidnn::prelude::*;
use oxidnn::{bf16, f16};

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;

    let desc = Matmul::new().src([2, 256], Bf16).weights([256, 4], Bf16).dst_type(F32).describe(&engine)?;
    let third = bf16::from_f32(1.0 / 3.0);
    let x = Memory::from_vec(&engine, [2, 256], vec![third; 512])?;
    let (w, y) = (engine.filled(&desc, Arg::WEIGHTS, &[1.0; 1024])?, engine.zeros(&desc, Arg::DST)?);
    desc.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::DST, &y)])?;
    assert_eq!(y.read::<f32>()?[0], 256.0 * third.to_f32()); // not rounded on the way

    // A reorder converts between any two types.
    let (from, to) = (Tensor::plain([3], F32)?, Tensor::plain([3], F16)?);
    let (wide, narrow) = (Memory::from_vec(&engine, [3], vec![1.0f32, 0.1, 65504.0])?, Memory::new(&engine, to.clone())?);
    oxidnn::reorder(from, to).describe(&engine)?.create()?.execute(&stream, &[(Arg::SRC, &wide), (Arg::DST, &narrow)])?;
    assert_eq!(narrow.read::<f16>()?, [f16::ONE, f16::from_f32(0.1), f16::MAX]);

    // Memory stays f32, the multiplications need not: faster where the processor multiplies bf16.
    let relaxed = Matmul::new().src([8, 64], F32).weights([64, 8], F32).fpmath(FpMathMode::Bf16, false).describe(&engine)?;
    println!("{relaxed}");
    Ok(())
}
