//! One primitive on many threads at once, and on the program's own thread pool.

use oxidnn::CallerPool;
use oxidnn::prelude::*;

/// A thread pool as a program may have it; this one starts threads when it is asked.
struct Scoped;

impl CallerPool for Scoped {
    fn threads(&self) -> usize {
        2
    }
    fn in_parallel(&self) -> bool {
        false
    }
    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|s| (0..n).for_each(|i| drop(s.spawn(move || body(i)))));
    }
}

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let desc = Matmul::new().src([128, 256], F32).weights([256, 64], F32).describe(&engine)?;
    let product = desc.create()?;
    let x = engine.filled(&desc, Arg::SRC, &vec![0.5; 128 * 256])?;
    let w = engine.filled(&desc, Arg::WEIGHTS, &vec![0.25; 256 * 64])?;

    // Send + Sync: eight threads, each with a stream and a result of its own.
    std::thread::scope(|s| {
        let work = || -> Result<(), Error> {
            let (stream, y) = (Stream::with_threads(&engine, Threads::inline())?, engine.zeros(&desc, Arg::DST)?);
            for _ in 0..10 {
                product.execute(&stream, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::DST, &y)])?;
            }
            assert!(y.read_f32()?.iter().all(|&v| v == 32.0));
            Ok(())
        };
        let threads: Vec<_> = (0..8).map(|_| s.spawn(work)).collect();
        threads.into_iter().try_for_each(|t| t.join().expect("no panic"))
    })?;

    // Results do not depend on the threads, nor on their number.
    let one = Stream::with_threads(&engine, Threads::new(1))?;
    let own = Stream::with_threads(&engine, Threads::caller(Scoped))?;
    let (a, b) = (engine.zeros(&desc, Arg::DST)?, engine.zeros(&desc, Arg::DST)?);
    product.execute(&one, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::DST, &a)])?;
    product.execute(&own, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::DST, &b)])?;
    assert_eq!(a.read::<f32>()?, b.read::<f32>()?);
    Ok(())
}
