//! Descriptors and executions against a toy device: choice of rows, queries, checks of arguments.

mod toy;

use oxidnn_runtime::*;
use oxidnn_spec::*;
use toy::*;

fn memory(engine: &Engine, dims: impl Into<Dims>, values: impl Fn(usize) -> f64) -> Memory<'static> {
    let m = Memory::new(engine, Tensor::plain(dims, DataType::F32).unwrap()).unwrap();
    m.write_with(values).unwrap();
    m
}

#[test]
fn executes_and_reads_back() {
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let desc = PrimitiveDesc::new(&engine, linear([3, 5], 2.0, 1.0, Attr::default())).unwrap();
    assert_eq!(desc.impl_name(), "scratch:toy");
    let primitive = desc.create().unwrap();
    let src = memory(&engine, [3, 5], |i| i as f64);
    let mut out = [0f32; 15];
    let dst = Memory::from_slice_mut(&engine, desc.tensor(Arg::DST).unwrap().clone(), &mut out).unwrap();
    primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
    assert_eq!(dst.read_f32().unwrap(), (0..15).map(|i| 2.0 * i as f32 + 1.0).collect::<Vec<_>>());
    drop(dst);
    assert_eq!(out[14], 29.0);
    primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &src)]).unwrap();
    assert_eq!(src.read_f32().unwrap()[1], 3.0);
}

#[test]
fn rows_are_listed_filtered_and_iterated() {
    let (engine, _) = engine();
    let problem = linear([3, 5], 2.0, 1.0, Attr::default());
    let desc = PrimitiveDesc::new(&engine, problem.clone()).unwrap();
    let verdicts: Vec<String> = desc.explain().iter().map(|(n, v)| format!("{n}: {v}")).collect();
    let want = ["wide:toy: does not take these sizes: not whole blocks of 16", "scratch:toy: chosen", "ref:any: would do too"];
    assert_eq!(verdicts, want);
    let next = desc.next_impl().unwrap();
    assert_eq!((next.impl_name(), next.row()), ("ref:any", 2));
    assert_eq!(next.next_impl().unwrap_err(), Error::LastImplReached);
    let filtered = PrimitiveDesc::with_filter(&engine, problem.clone(), "ref").unwrap();
    assert_eq!(filtered.impl_name(), "ref:any");
    assert_eq!(filtered.explain()[1].1, Verdict::Skipped(Skip::Excluded("the filter `ref`".into())));
    let refused = PrimitiveDesc::with_filter(&engine, problem, "gpu").unwrap_err();
    let Error::Unimplemented(r) = refused else { panic!("{refused}") };
    assert_eq!(r.rows.len(), 3);
    assert!(!r.problem.is_empty());
}

/// Message of an execution that must fail, without the problem line; checks that `dst` keeps its -1s.
fn refusal(primitive: &Primitive, stream: &Stream, args: &[(Arg, &Memory<'_>)]) -> String {
    let error = primitive.execute(stream, args).unwrap_err();
    let Error::InvalidArguments(i) = &error else { panic!("{error}") };
    assert!(i.problem.is_some(), "{error}");
    let dst = args.iter().find(|a| a.0 == Arg::DST && !a.1.tensor().is_empty());
    if let Some((_, m)) = dst.filter(|d| d.1.tensor().dtype == DataType::F32 && d.1.map(0).is_ok_and(|b| !b.is_empty())) {
        assert!(m.read_f32().unwrap().iter().all(|&v| v == -1.0), "something was written");
    }
    format!("{}: got {}, expected {}", i.argument, i.got, i.expected)
}

#[test]
fn wrong_arguments_are_named_before_a_byte_is_written() {
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let primitive = PrimitiveDesc::new(&engine, linear([3, 5], 2.0, 1.0, Attr::default())).unwrap().create().unwrap();
    let (src, dst) = (memory(&engine, [3, 5], |i| i as f64), memory(&engine, [3, 5], |_| -1.0));
    let run = |args: &[(Arg, &Memory<'_>)]| refusal(&primitive, &stream, args);

    assert_eq!(run(&[(Arg::DST, &dst)]), format!("src: got nothing, expected {}", src.tensor().summary()));
    assert_eq!(
        run(&[(Arg::SRC, &src), (Arg::SRC, &src), (Arg::DST, &dst)]),
        "src: got the same argument twice, expected each argument once"
    );
    let unknown = run(&[(Arg::SRC, &src), (Arg::DST, &dst), (Arg::BIAS, &src)]);
    assert_eq!(unknown, "bia: got an argument that this primitive does not have, expected one of src, dst");
    let pad = run(&[(Arg::SRC, &src), (Arg::DST, &dst), (Arg::SCRATCHPAD, &src)]);
    assert!(pad.starts_with("scratchpad: got an argument"), "{pad}");

    for wrong in [Tensor::plain([3, 6], DataType::F32), Tensor::plain([3, 5], DataType::S32)] {
        let wrong = Memory::new(&engine, wrong.unwrap()).unwrap();
        let want = format!("src: got {}, expected {}", wrong.tensor().summary(), src.tensor().summary());
        assert_eq!(run(&[(Arg::SRC, &wrong), (Arg::DST, &dst)]), want);
    }
    let turned = Memory::new(&engine, Tensor::with_tag([3, 5], DataType::F32, "ba").unwrap()).unwrap();
    let said = run(&[(Arg::SRC, &turned), (Arg::DST, &dst)]);
    assert!(said.starts_with("src: got f32:ba:3x5, another layout, expected f32:ab:3x5: reorder it"), "{said}");
    let scalar = Memory::host_scalar(1f32).unwrap();
    assert!(run(&[(Arg::SRC, &scalar), (Arg::DST, &dst)]).starts_with("src: got"));

    let other = toy::engine().0;
    let foreign = memory(&other, [3, 5], |_| 0.0);
    assert_eq!(run(&[(Arg::SRC, &foreign), (Arg::DST, &dst)]), format!("src: got memory of {other}, expected memory of {engine}"));
    let elsewhere = refusal(&primitive, &Stream::new(&other).unwrap(), &[(Arg::SRC, &src), (Arg::DST, &dst)]);
    assert_eq!(elsewhere, format!("stream: got a stream of {other}, expected one of {engine}"));

    // SAFETY: null is legal until the bytes are needed.
    let null = unsafe { Memory::from_raw(&engine, dst.tensor().clone(), &[std::ptr::null_mut()]) }.unwrap();
    assert!(run(&[(Arg::SRC, &src), (Arg::DST, &null)]).starts_with("dst: got a null address"));
    let data = [-1f32; 15];
    let fixed = Memory::from_slice(&engine, dst.tensor().clone(), &data).unwrap();
    assert!(run(&[(Arg::SRC, &src), (Arg::DST, &fixed)]).starts_with("dst: got memory that may only be read"));

    primitive.execute(&stream, &[(Arg::DST, &dst), (Arg::SRC, &src)]).unwrap();
    assert_eq!(dst.read_f32().unwrap()[14], 29.0);
}

/// An execution remembers that memory fits an operand: of the same description, in the same use, and as far as descriptions were believed.
#[test]
fn what_fitted_one_operand_is_checked_for_every_other() {
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let of = |dims: [i64; 2]| PrimitiveDesc::new(&engine, linear(dims, 2.0, 1.0, Attr::default())).unwrap().create().unwrap();
    let (primitive, smaller) = (of([3, 5]), of([5, 2]));
    let (src, dst) = (memory(&engine, [3, 5], |i| i as f64), memory(&engine, [3, 5], |_| -1.0));
    let args = [(Arg::SRC, &src), (Arg::DST, &dst)];
    for _ in 0..2 {
        // As bytes, these are large enough for the other problem, whose descriptions they do not have.
        smaller.execute_bytes(&stream, &args).unwrap();
        assert_eq!(dst.read_f32().unwrap()[8..12], [17.0, 19.0, -1.0, -1.0]);
        dst.write_with(|_| -1.0).unwrap();
        assert!(refusal(&smaller, &stream, &args).starts_with("src: got f32 3x5, expected f32 5x2"));
        primitive.execute(&stream, &args).unwrap();
        dst.write_with(|_| -1.0).unwrap();
    }
    // What fits as bytes need not fit by its description.
    let turned = Memory::new(&engine, Tensor::with_tag([3, 5], DataType::F32, "ba").unwrap()).unwrap();
    primitive.execute_bytes(&stream, &[(Arg::SRC, &turned), (Arg::DST, &dst)]).unwrap();
    dst.write_with(|_| -1.0).unwrap();
    assert!(refusal(&primitive, &stream, &[(Arg::SRC, &turned), (Arg::DST, &dst)]).contains("another layout"));
    // What fits to be read need not fit to be written.
    let data = [0f32; 15];
    let fixed = Memory::from_slice(&engine, src.tensor().clone(), &data).unwrap();
    primitive.execute(&stream, &[(Arg::SRC, &fixed), (Arg::DST, &dst)]).unwrap();
    assert!(primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &fixed)]).is_err());
    // Addresses may change, but not to none.
    let mut other = [0f32; 15];
    let mut moved = memory(&engine, [3, 5], |_| 0.0);
    primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &moved)]).unwrap();
    // SAFETY: `other` outlives the executions, which are done when they return.
    unsafe { moved.set_data_handle(0, other.as_mut_ptr().cast()) }.unwrap();
    primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &moved)]).unwrap();
    assert_eq!(moved.read_f32().unwrap()[14], 29.0);
    // SAFETY: null is legal until the bytes are needed.
    unsafe { moved.set_data_handle(0, std::ptr::null_mut()) }.unwrap();
    for execute in [Primitive::execute, Primitive::execute_bytes] {
        assert!(execute(&primitive, &stream, &[(Arg::SRC, &src), (Arg::DST, &moved)]).is_err());
    }
    assert_eq!(other[14], 29.0);
}

#[test]
fn memory_in_use_elsewhere_is_refused() {
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let primitive = PrimitiveDesc::new(&engine, linear([15], 2.0, 1.0, Attr::default())).unwrap().create().unwrap();
    let (src, dst) = (memory(&engine, [15], |i| i as f64), memory(&engine, [15], |_| -1.0));
    let args = [(Arg::SRC, &src), (Arg::DST, &dst)];
    {
        let _reading = src.map(0).unwrap();
        primitive.execute(&stream, &args).unwrap();
        let _reading = dst.map(0).unwrap();
        let e = primitive.execute(&stream, &args).unwrap_err().to_string();
        assert!(e.starts_with("invalid dst: got memory that is being read by an execution or mapping under way"), "{e}");
    }
    {
        let _writing = src.map_mut(0).unwrap();
        let e = primitive.execute(&stream, &args).unwrap_err().to_string();
        assert!(e.starts_with("invalid src: got memory that is being written"), "{e}");
    }
    primitive.execute(&stream, &args).unwrap();
    assert!(src.map_mut(0).is_ok() && dst.map_mut(0).is_ok(), "everything was given back");
}

#[test]
fn memory_that_overlaps_must_be_in_place() {
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let primitive = PrimitiveDesc::new(&engine, linear([8], 2.0, 1.0, Attr::default())).unwrap().create().unwrap();
    let whole = memory(&engine, [16], |i| i as f64);
    let part = |offset: i64| {
        let mut t = Tensor::plain([8], DataType::F32).unwrap();
        if let Some(b) = t.layout.blocking_mut() {
            b.offset = offset;
        }
        whole.view(t).unwrap()
    };
    let (start, same, later, behind) = (part(0), part(0), part(4), part(8));
    primitive.execute(&stream, &[(Arg::SRC, &start), (Arg::DST, &behind)]).unwrap_err();
    for args in [[(Arg::SRC, &start), (Arg::DST, &later)], [(Arg::SRC, &later), (Arg::DST, &start)]] {
        let e = primitive.execute(&stream, &args).unwrap_err().to_string();
        assert!(e.starts_with("invalid"), "{e}");
    }
    primitive.execute(&stream, &[(Arg::SRC, &start), (Arg::DST, &same)]).unwrap();
    assert_eq!(whole.read_f32().unwrap()[..9], [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 8.0]);
}

#[test]
fn empty_tensors_are_no_work() {
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let primitive = PrimitiveDesc::new(&engine, linear([3, 0], 2.0, 1.0, Attr::default())).unwrap().create().unwrap();
    let (src, dst) = (memory(&engine, [3, 0], |_| 0.0), memory(&engine, [3, 0], |_| 0.0));
    primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
}

#[test]
fn scratchpads_of_the_caller() {
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let desc = PrimitiveDesc::new(&engine, linear([10], 2.0, 1.0, user_scratchpad())).unwrap();
    assert_eq!((desc.memory_consumption(), desc.scratchpad().unwrap().bytes()), (0, 40 + 63));
    let (src, dst) = (memory(&engine, [10], |i| i as f64), memory(&engine, [10], |_| -1.0));
    let primitive = desc.create().unwrap();
    let with = |pad: &Memory<'_>| primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst), (Arg::SCRATCHPAD, pad)]);

    let none = primitive.execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap_err();
    assert!(none.to_string().starts_with("invalid scratchpad: got nothing, expected at least 103 bytes"), "{none}");
    let mut bytes = [0u8; 200];
    for start in [0, 1, 63] {
        let pad = Memory::from_slice_mut(&engine, desc.scratchpad().unwrap().clone(), &mut bytes[start..]).unwrap();
        with(&pad).unwrap();
    }
    let small = Memory::new(&engine, Tensor::plain([102], DataType::U8).unwrap()).unwrap();
    assert!(with(&small).unwrap_err().to_string().starts_with("invalid scratchpad: got 102 bytes"));
    assert_eq!(dst.read_f32().unwrap()[9], 19.0);

    let desc = PrimitiveDesc::new(&engine, linear([16], 2.0, 1.0, user_scratchpad())).unwrap();
    assert_eq!(desc.scratchpad().unwrap().bytes(), 0);
    let (src, dst) = (memory(&engine, [16], |i| i as f64), memory(&engine, [16], |_| -1.0));
    desc.create().unwrap().execute(&stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
}

#[test]
fn queries() {
    let (engine, _) = engine();
    let mut attr = Attr::default();
    let src1 = Tensor::any([1, 5], DataType::F32);
    attr.post_ops.push(PostOp::Binary { alg: op::BinaryAlg::Add, src1, src2: None });
    let given = linear([3, 5], 2.0, 1.0, attr);
    let desc = PrimitiveDesc::new(&engine, given.clone()).unwrap();
    assert_eq!((desc.num_inputs(), desc.num_outputs()), (2, 1));
    assert_eq!(desc.given(), &given);
    assert!(desc.tensor(Arg::DST).unwrap() == desc.tensor(Arg::SRC).unwrap() && desc.tensor(Arg::BIAS).is_none());
    assert_eq!(desc.tensor(Arg::post_op(0, Arg::SRC_1)), Some(&Tensor::plain([1, 5], DataType::F32).unwrap()));
    assert_eq!((desc.prop(), desc.memory_consumption(), desc.workspace()), (Some(Prop::ForwardInference), 60, None));
    assert!(desc.scratchpad().is_none() && !desc.has_runtime());
}

#[test]
fn equal_problems_share_their_code() {
    let (engine, builds) = engine();
    let desc = || PrimitiveDesc::new(&engine, linear([7], 4.0, 1.0, Attr::default())).unwrap();
    let (a, b) = (desc().create().unwrap(), desc().create().unwrap());
    assert!(std::sync::Arc::ptr_eq(a.exec(), b.exec()));
    assert_eq!(builds.load(std::sync::atomic::Ordering::SeqCst), 1);
    let other = PrimitiveDesc::new(&toy::engine().0, linear([7], 4.0, 1.0, Attr::default())).unwrap().create().unwrap();
    assert!(!std::sync::Arc::ptr_eq(a.exec(), other.exec()));
}

#[test]
fn code_for_examples_is_made_along() {
    let (engine, builds) = engine();
    let changing = |arg: Arg| DynamicDim { arg, dim: 0, examples: vec![3, 9] };
    let attr = Attr { dynamic: vec![changing(Arg::SRC), changing(Arg::DST)], ..Attr::default() };
    let make = |n: i64| PrimitiveDesc::new(&engine, linear([n], 6.0, 1.0, attr.clone())).unwrap().create().unwrap();
    make(7);
    assert_eq!(builds.load(std::sync::atomic::Ordering::SeqCst), 3);
    make(3);
    make(9);
    assert_eq!(builds.load(std::sync::atomic::Ordering::SeqCst), 3);
}

#[test]
fn sizes_given_at_execution_must_fit_each_other() {
    let (engine, _) = engine();
    let stream = Stream::new(&engine).unwrap();
    let primitive = PrimitiveDesc::new(&engine, runtime_copy()).unwrap().create().unwrap();
    let apart = Problem { attr: user_scratchpad(), ..runtime_copy() };
    let apart = PrimitiveDesc::new(&engine, apart).unwrap().create().unwrap();
    assert!(primitive.desc().has_runtime());
    for n in [4, 7, 7, 4, 0] {
        for execute in [Primitive::execute, Primitive::execute_bytes] {
            let (src, dst) = (memory(&engine, [n, 3], |i| i as f64), memory(&engine, [n, 3], |_| -1.0));
            execute(&primitive, &stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
            assert_eq!(dst.read_f32().unwrap(), src.read_f32().unwrap());
            // With a scratchpad among the operands, which no sizes follow for.
            let dst = memory(&engine, [n, 3], |_| -1.0);
            execute(&apart, &stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]).unwrap();
            assert_eq!(dst.read_f32().unwrap(), src.read_f32().unwrap());
            let pad = Memory::new(&engine, Tensor::plain([0], DataType::U8).unwrap()).unwrap();
            execute(&apart, &stream, &[(Arg::SRC, &src), (Arg::DST, &dst), (Arg::SCRATCHPAD, &pad)]).unwrap();
        }
    }
    let (src, dst) = (memory(&engine, [4, 3], |i| i as f64), memory(&engine, [5, 3], |_| -1.0));
    let error = refusal(&primitive, &stream, &[(Arg::SRC, &src), (Arg::DST, &dst)]);
    assert!(error.contains("5x3") && error.contains("4x3"), "{error}");
    let wide = memory(&engine, [4, 4], |_| 0.0);
    assert!(refusal(&primitive, &stream, &[(Arg::SRC, &wide), (Arg::DST, &dst)]).starts_with("src: got"));
}

#[test]
fn an_operation_without_rows_is_unimplemented() {
    let (engine, _) = engine();
    let src = Tensor::plain([2, 4], DataType::F32).unwrap();
    let shuffle = op::Shuffle { prop: Prop::ForwardInference, dst: src.clone(), src, axis: 1, group_size: 2 };
    let problem = Problem::new(shuffle, Attr::default()).unwrap();
    let line = problem.to_string();
    let Err(Error::Unimplemented(r)) = PrimitiveDesc::new(&engine, problem) else { panic!("a row took it") };
    assert_eq!((r.problem, r.rows.len()), (line, 0));
}
