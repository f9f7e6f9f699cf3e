//! Asynchronous streams: `execute` returns at once, work on one stream is in order, events order two streams and tell the time.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let (left, right) = (Stream::asynchronous(&engine)?, Stream::asynchronous(&engine)?);
    let desc = Matmul::new().src([256, 256], F32).weights([256, 256], F32).describe(&engine)?;
    let relu = oxidnn::eltwise(Prop::ForwardInference, EltwiseAlg::Linear, 2.0, 1.0, desc.tensor(Arg::DST).expect("a destination").clone());
    let relu = relu.describe(&engine)?;
    let x = engine.filled(&desc, Arg::SRC, &vec![1.0; 256 * 256])?;
    let w = engine.filled(&desc, Arg::WEIGHTS, &vec![0.5; 256 * 256])?;
    let (y, z) = (engine.zeros(&desc, Arg::DST)?, engine.zeros(&relu, Arg::DST)?);

    let begin = left.record()?;
    desc.create()?.execute(&left, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::DST, &y)])?;
    // The other stream reads what the first writes: memory knows its writer, so nothing has to be said. An event is for other purposes.
    let written = left.record()?;
    right.wait_for(&written)?;
    relu.create()?.execute(&right, &[(Arg::SRC, &y), (Arg::DST, &z)])?;
    let end = right.record()?;

    assert_eq!(z.read_f32()?[0], 2.0 * 128.0 + 1.0); // reading waits for the writer
    written.wait()?;
    end.wait()?;
    println!("product {:?}, all {:?}", written.since(&begin)?, end.since(&begin)?);
    Ok(())
}
