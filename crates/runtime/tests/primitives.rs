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
    let primitive = Primitive::new(&desc).unwrap();
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
