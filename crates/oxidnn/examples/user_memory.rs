//! Memory of the program's own: primitives work on its slices, nothing is copied, and the borrow checker knows for how long.

use oxidnn::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let tensor = Tensor::plain([2, 3], F32)?;
    let input = [1.0f32, -2.0, 3.0, -4.0, 5.0, -6.0];
    let mut output = [0.0f32; 6];
    {
        let x = Memory::from_slice(&engine, tensor.clone(), &input)?;
        let y = Memory::from_slice_mut(&engine, tensor.clone(), &mut output)?;
        let relu = oxidnn::eltwise(Prop::ForwardInference, EltwiseAlg::Relu, 0.0, 0.0, tensor.clone()).dst_tensor(tensor);
        relu.describe(&engine)?.create()?.execute(&stream, &[(Arg::SRC, &x), (Arg::DST, &y)])?;
        // Read-only memory is refused as a result.
        let copy = oxidnn::reorder(x.tensor().clone(), x.tensor().clone()).describe(&engine)?.create()?;
        let refused = copy.execute(&stream, &[(Arg::SRC, &y), (Arg::DST, &x)]).unwrap_err();
        assert!(refused.to_string().contains("may only be read"), "{refused}");
    }
    assert_eq!(output, [1.0, 0.0, 3.0, 0.0, 5.0, 0.0]);

    // A shape that is known at run time only.
    let shape: Vec<usize> = vec![2, 3];
    assert_eq!(Tensor::plain(Dims::try_from(shape)?, F32)?.dims()[..], [2, 3]);
    Ok(())
}
