//! From floats to bytes and back: reorders with a scale for each row, the largest magnitude of the row becoming 127.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (floats, bytes) = (Tensor::plain([2, 5], F32)?, Tensor::plain([2, 5], S8)?);
    let values = vec![0.5f32, -1.0, 0.25, 0.0, 0.75, 10.0, -20.0, 5.0, 0.1, 15.0];
    let scales = [1.0f32 / 127.0, 20.0 / 127.0];

    // A stored number times its scale is the value, so the destination is divided by its scale.
    let shrink = oxidnn::reorder(floats.clone(), bytes.clone()).scales(Arg::DST, 1 << 0).describe(&engine)?;
    let grow = oxidnn::reorder(bytes.clone(), floats.clone()).scales(Arg::SRC, 1 << 0).describe(&engine)?;
    let (x, small) = (Memory::from_vec(&engine, [2, 5], values.clone())?, Memory::new(&engine, bytes)?);
    let (back, factors) = (Memory::new(&engine, floats)?, Memory::from_vec(&engine, [2], scales.to_vec())?);
    shrink.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::DST, &small), (Arg::scale(Arg::DST), &factors)])?;
    grow.create()?.execute(&stream, &[(Arg::SRC, &small), (Arg::DST, &back), (Arg::scale(Arg::SRC), &factors)])?;

    println!("{:?}", small.read::<i8>()?);
    assert_eq!(small.read::<i8>()?[1], -127);
    for (i, (before, after)) in values.iter().zip(back.read_f32()?).enumerate() {
        assert!((before - after).abs() <= scales[i / 5] / 2.0 + 1e-6, "half a step at most");
    }
    Ok(())
}
