//! Dropout behind a product: which elements are dropped follows from seed and place alone, so every run, every number of threads and every engine agree.

use oxidnn::Dropout;
use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let mask = Some(Tensor::plain([64, 64], U8)?);
    let dropout = Dropout { mask, seed_dtype: S32, use_offset: false, use_host_scalars: false };
    let dropout = Attr { dropout: Some(dropout), ..Attr::default() };
    let desc = Matmul::new().src([64, 64], F32).weights([64, 64], F32).dst_tensor(Tensor::plain([64, 64], F32)?).attr(dropout);
    let desc = desc.describe(&engine)?;
    let x = engine.filled(&desc, Arg::SRC, &vec![1.0; 4096])?;
    let w = engine.filled(&desc, Arg::WEIGHTS, &vec![1.0; 4096])?;
    let (y, mask) = (engine.zeros(&desc, Arg::DST)?, engine.zeros(&desc, Arg::DROPOUT_MASK)?);
    let (probability, seed) = (Memory::from_vec(&engine, [1], vec![0.25f32])?, Memory::from_vec(&engine, [1], vec![1234i32])?);
    let given = [
        (Arg::SRC, &x),
        (Arg::WEIGHTS, &w),
        (Arg::DST, &y),
        (Arg::DROPOUT_MASK, &mask),
        (Arg::DROPOUT_PROBABILITY, &probability),
        (Arg::DROPOUT_SEED, &seed),
    ];
    let primitive = desc.create()?;
    primitive.execute(&stream, &given)?;
    let (first, kept) = (y.read_f32()?, mask.read::<u8>()?);
    let dropped = kept.iter().filter(|&&k| k == 0).count();
    println!("{dropped} of 4096 dropped");
    assert!((900..1150).contains(&dropped));
    // Kept elements are scaled, so that the mean stays.
    assert!(first.iter().zip(&kept).all(|(&v, &k)| v == if k == 0 { 0.0 } else { 64.0 / 0.75 }));
    primitive.execute(&stream, &given)?;
    assert_eq!(first, y.read_f32()?);
    Ok(())
}
