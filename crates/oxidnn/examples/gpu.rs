//! The same program on a GPU, if there is one, and on the CPU: only the engine differs. Reorders copy the inputs to the device; reading the result waits.

use oxidnn::prelude::*;

fn product(engine: &Engine) -> Result<Vec<f32>, Error> {
    let host = Engine::cpu();
    let stream = Stream::new(engine)?;
    let desc = Matmul::new().src([4, 8], F32).weights([8, 2], F32).post_ops(PostOps::new().relu()).describe(engine)?;
    let (x, w) = (Memory::from_vec(&host, [4, 8], vec![1.0f32; 32])?, Memory::from_vec(&host, [8, 2], vec![0.25f32; 16])?);
    let (there_x, there_w) = (engine.zeros(&desc, Arg::SRC)?, engine.zeros(&desc, Arg::WEIGHTS)?);
    for (from, to) in [(&x, &there_x), (&w, &there_w)] {
        let problem = oxidnn::reorder(from.tensor().clone(), to.tensor().clone()).problem()?;
        PrimitiveDesc::transfer(&host, engine, problem)?.create()?.execute(&stream, &[(Arg::SRC, from), (Arg::DST, to)])?;
    }
    let y = engine.zeros(&desc, Arg::DST)?;
    desc.create()?.execute(&stream, &[(Arg::SRC, &there_x), (Arg::WEIGHTS, &there_w), (Arg::DST, &y)])?;
    y.read_f32() // waits for the stream, and copies
}

pub(crate) fn main() -> Result<(), Error> {
    match Engine::cuda(0) {
        Ok(gpu) => {
            println!("on {gpu}");
            assert_eq!(product(&gpu)?, [2.0; 8]);
        }
        Err(why) => println!("no GPU: {why}"),
    }
    assert_eq!(product(&Engine::cpu())?, [2.0; 8]);
    Ok(())
}
