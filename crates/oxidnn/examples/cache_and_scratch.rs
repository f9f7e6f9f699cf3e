//! The library's caches and their limits: the cache of primitives, and scratch that the program provides.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let conv = |mode| {
        Conv::forward(Prop::ForwardInference)
            .src([1, 16, 20, 20], F32)
            .weights([16, 16, 3, 3], F32)
            .padding([1, 1])
            .scratchpad(mode)
            .describe(&engine)
    };

    // Equal problems share one executable, whoever asks: the second creation finds the first one's.
    let desc = conv(ScratchpadMode::Library)?;
    let first = desc.create()?;
    let before = oxidnn::cache::stats();
    let second = conv(ScratchpadMode::Library)?.create()?;
    let after = oxidnn::cache::stats();
    assert!(after.hits > before.hits);
    println!("{} primitives in {} bytes", after.entries, after.bytes);
    drop((first, second));

    // The library leases scratch from a bounded arena; a program may bring its own.
    let desc = conv(ScratchpadMode::User)?;
    let x = engine.filled(&desc, Arg::SRC, &vec![1.0; 16 * 400])?;
    let w = engine.filled(&desc, Arg::WEIGHTS, &vec![1.0 / 144.0; 16 * 16 * 9])?;
    let y = engine.zeros(&desc, Arg::DST)?;
    println!("{} bytes of scratch", desc.memory_consumption());
    let mut given = vec![(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::DST, &y)];
    let scratch = desc.tensor(Arg::SCRATCHPAD).map(|t| Memory::new(&engine, t.clone())).transpose()?;
    given.extend(scratch.iter().map(|memory| (Arg::SCRATCHPAD, memory)));
    desc.create()?.execute(&stream, &given)?;
    assert!((y.read_f32()?[210] - 1.0).abs() < 1e-5);
    Ok(())
}
