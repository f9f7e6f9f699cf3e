//! Sequences: memory for outputs, reorders where layouts differ, errors that name the argument.

use oxidnn::prelude::*;
use oxidnn::{Error, SharedMemory};

/// Two rows of 0, 1, 2, 3, 4, 5.
fn counted(engine: &Engine, tag: &str) -> Result<SharedMemory, Error> {
    let memory = Memory::new(engine, Tensor::with_tag([2, 3], F32, tag)?)?;
    memory.write_f32(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    Ok(memory.into())
}

fn doubling(engine: &Engine) -> Result<PrimitiveDesc, Error> {
    oxidnn::eltwise(Prop::ForwardInference, EltwiseAlg::Linear, 2.0, 0.0, Tensor::plain([2, 3], F32)?).describe(engine)
}

#[test]
fn an_input_of_another_layout_is_reordered_at_each_run() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (mut sequence, x) = (Sequence::new(&engine), counted(&engine, "ba")?);
    let y = sequence.push("double", &doubling(&engine)?, &[(Arg::SRC, &x)])?.memory(Arg::DST)?.clone();
    let names: Vec<&str> = sequence.steps().iter().map(|s| s.name()).collect();
    assert_eq!(names, ["double: src", "double"]);
    sequence.run(&stream)?;
    assert_eq!(y.read_f32()?, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    x.write_f32(&[1.0; 6])?;
    sequence.run(&stream)?;
    assert_eq!(y.read_f32()?, [2.0; 6]);
    Ok(())
}

#[test]
fn an_input_that_fits_is_used_where_it_lies() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (mut sequence, x) = (Sequence::new(&engine), counted(&engine, "ab")?);
    sequence.push("in place", &doubling(&engine)?, &[(Arg::SRC, &x), (Arg::DST, &x)])?;
    sequence.run(&stream)?;
    sequence.run(&stream)?;
    assert_eq!((sequence.steps().len(), x.read_f32()?), (1, vec![0.0, 4.0, 8.0, 12.0, 16.0, 20.0]));
    Ok(())
}

#[test]
fn more_arguments_than_usual_are_passed_too() -> Result<(), Error> {
    let engine = Engine::cpu();
    let stream = Stream::new(&engine)?;
    let (mut sequence, x) = (Sequence::new(&engine), counted(&engine, "ab")?);
    let desc = oxidnn::sum(&[1.0; 30], vec![x.tensor().clone(); 30])?.describe(&engine)?;
    let args: Vec<_> = (0..30).map(|i| (Arg::multiple_src(i), &x)).collect();
    let y = sequence.push("sum", &desc, &args)?.memory(Arg::DST)?.clone();
    sequence.run(&stream)?;
    assert_eq!(y.read_f32()?, [0.0, 30.0, 60.0, 90.0, 120.0, 150.0]);
    Ok(())
}

#[test]
fn what_does_not_fit_is_an_error_that_names_the_argument() -> Result<(), Error> {
    let engine = Engine::cpu();
    let desc = doubling(&engine)?;
    let (x, other) = (counted(&engine, "ab")?, counted(&engine, "ba")?);
    let small = SharedMemory::new(Memory::new(&engine, Tensor::plain([2, 2], F32)?)?);
    let cases: [(&[(Arg, &SharedMemory)], &str); 4] = [
        (&[], "invalid src: got nothing"),
        (&[(Arg::SRC, &small)], "double: src"),
        (&[(Arg::SRC, &x), (Arg::DST, &other)], "invalid dst"),
        (&[(Arg::SRC, &x), (Arg::BIAS, &x)], "invalid bia"),
    ];
    for (args, part) in cases {
        let mut sequence = Sequence::new(&engine);
        let error = sequence.push("double", &desc, args).map(drop).expect_err(part).to_string();
        assert!(error.contains(part) && error.contains("problem: "), "{error}");
        assert!(sequence.steps().is_empty(), "{part}: a step was appended");
    }
    Ok(())
}
