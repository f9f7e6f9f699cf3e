//! Sums, means and norms along any dimensions, and element by element arithmetic that broadcasts: columns made to length 1.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (table, row) = (Tensor::plain([3, 4], F32)?, Tensor::plain([1, 4], F32)?);
    let x = Memory::from_vec(&engine, [3, 4], (0..12).map(|i| i as f32).collect::<Vec<_>>())?;

    let reduce = |alg, p: f32| -> Result<Memory<'static>, Error> {
        let desc = oxidnn::reduction(alg, table.clone(), row.clone(), p, 0.0).describe(&engine)?;
        let y = engine.zeros(&desc, Arg::DST)?;
        desc.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::DST, &y)])?;
        Ok(y)
    };
    assert_eq!(reduce(ReductionAlg::Mean, 0.0)?.read_f32()?, [4.0, 5.0, 6.0, 7.0]);
    assert_eq!(reduce(ReductionAlg::Max, 0.0)?.read_f32()?, [8.0, 9.0, 10.0, 11.0]);
    let norms = reduce(ReductionAlg::NormLpMax, 2.0)?;

    // The second source has one row, which is broadcast to all of the first's.
    let divide = oxidnn::binary(BinaryAlg::Div, table.clone(), row).dst_tensor(table).describe(&engine)?;
    let unit = engine.zeros(&divide, Arg::DST)?;
    divide.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::SRC_1, &norms), (Arg::DST, &unit)])?;
    let unit = unit.read_f32()?;
    for column in 0..4 {
        let length: f32 = (0..3).map(|r| unit[r * 4 + column].powi(2)).sum();
        assert!((length - 1.0).abs() < 1e-6);
    }
    Ok(())
}
