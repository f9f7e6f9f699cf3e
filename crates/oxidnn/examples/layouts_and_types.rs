//! Tensors in several layouts and types: a reorder converts both, and elements are read in their own type.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let numbers: Vec<f32> = (0..2 * 3 * 4 * 5).map(|i| i as f32 / 8.0).collect();
    let nchw = Memory::from_vec(&engine, [2, 3, 4, 5], numbers.clone())?;
    let nhwc = Memory::new(&engine, Tensor::with_tag([2, 3, 4, 5], Bf16, "nhwc")?)?;
    println!("from {} to {}", nchw.tensor(), nhwc.tensor());
    let reorder = oxidnn::reorder(nchw.tensor().clone(), nhwc.tensor().clone()).describe(&engine)?.create()?;
    reorder.execute(&stream, &[(Arg::SRC, &nchw), (Arg::DST, &nhwc)])?;
    // Elements are read in logical order, whatever the layout; these are exact in bf16.
    assert_eq!(nhwc.read_f32()?, numbers);

    // Wide integers are not converted.
    let ids = Memory::from_vec(&engine, [3], vec![i64::MAX, -1, (1 << 53) + 1])?;
    assert_eq!(ids.read::<i64>()?, [i64::MAX, -1, (1 << 53) + 1]);
    let wrong = ids.read::<i32>().unwrap_err();
    assert!(wrong.to_string().contains("expected s64"), "{wrong}");
    Ok(())
}
