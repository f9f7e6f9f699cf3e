//! One primitive for every number of rows: the size is left open in the description, and comes with the memory.

use oxidnn::RUNTIME;
use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let open = |columns: i64| Tensor::with_tag([RUNTIME, columns], F32, "ab");
    let desc = Matmul::new().src_tensor(open(64)?).weights([64, 32], F32).dst_tensor(open(32)?).describe(&engine)?;
    let product = desc.create()?;
    let w = engine.filled(&desc, Arg::WEIGHTS, &vec![0.5; 64 * 32])?; // packed once for all of them
    for rows in [1, 7, 100, 33] {
        let x = Memory::from_vec(&engine, [rows, 64], vec![1.0f32; (rows * 64) as usize])?;
        let y = Memory::new(&engine, Tensor::plain([rows, 32], F32)?)?;
        product.execute(&stream, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::DST, &y)])?;
        assert!(y.read_f32()?.iter().all(|&v| v == 32.0));
    }
    Ok(())
}
