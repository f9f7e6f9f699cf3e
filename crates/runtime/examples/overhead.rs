//! The runtime's own cost: describing, creating from the cache, executing a problem of one element, median nanoseconds.
//!
//! `cargo run --release -p oxidnn-runtime --example overhead`; it fails where that is more than [`LIMITS`] allow.

#[path = "../tests/toy/mod.rs"]
mod toy;

use oxidnn_runtime::{Memory, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::op::BinaryAlg;
use oxidnn_spec::{Arg, Attr, DataType, Error, PostOp, Tensor};
use std::time::Instant;

/// Nanoseconds that describing and executing may take with four arguments.
const LIMITS: [(&str, u128); 2] = [("describe", 1400), ("execute", 110)];

fn main() -> Result<(), Error> {
    let mut over = Vec::new();
    let (engine, _) = toy::engine();
    let stream = Stream::with_threads(&engine, Threads::inline())?;
    println!("{:>10} {:>10} {:>10} {:>10}", "arguments", "describe", "create", "execute");
    for post_ops in [0, 2, 6, 20] {
        let src1 = Tensor::plain([1, 1, 1, 1], DataType::F32)?;
        let add = PostOp::Binary { alg: BinaryAlg::Add, src1, src2: None };
        let problem = toy::linear([1, 1, 1, 1], 2.0, 1.0, Attr { post_ops: vec![add; post_ops], ..Attr::default() });
        let desc = PrimitiveDesc::new(&engine, problem.clone())?;
        let primitive = desc.create()?;
        let memories = desc.operands().iter().map(|o| Ok((o.arg, Memory::new(&engine, o.tensor.clone())?)));
        let memories = memories.collect::<Result<Vec<(Arg, Memory<'_>)>, Error>>()?;
        let args: Vec<_> = memories.iter().map(|(a, m)| (*a, m)).collect();
        let describe = median(|| PrimitiveDesc::new(&engine, problem.clone()).map(drop))?;
        let create = median(|| desc.create().map(drop))?;
        let execute = median(|| primitive.execute(&stream, &args))?;
        println!("{:>10} {describe:>10} {create:>10} {execute:>10}", args.len());
        if args.len() == 4 {
            let found = LIMITS.iter().zip([describe, execute]);
            over = found
                .filter(|((_, limit), ns)| ns > limit)
                .map(|((what, limit), ns)| format!("{what} took {ns} ns, not {limit}"))
                .collect();
        }
    }
    let [(_, describe), (_, execute)] = LIMITS;
    println!(
        "with 4 arguments: describe in {describe} ns, execute in {execute} ns at most: {}",
        if over.is_empty() { "holds" } else { "does not hold" }
    );
    if over.is_empty() { Ok(()) } else { Err(Error::Runtime(over.join("; "))) }
}

/// Median time of one call among batches of 16.
fn median(mut call: impl FnMut() -> Result<(), Error>) -> Result<u128, Error> {
    let mut times = Vec::new();
    for _ in 0..2000 {
        let start = Instant::now();
        for _ in 0..16 {
            call()?;
        }
        times.push(start.elapsed().as_nanos() / 16);
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}
