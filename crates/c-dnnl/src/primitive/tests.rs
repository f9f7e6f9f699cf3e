use super::*;
use crate::attr::quant::dnnl_primitive_attr_set_scales_mask;
use crate::attr::{Attr, dnnl_primitive_attr_create};
use crate::create::product::dnnl_matmul_primitive_desc_create;
use crate::engine::Engine;
use crate::handle::made;
use crate::internal::cache::{is_pd_in_cache, is_primitive_in_cache};
use crate::memory::dnnl_memory_create;
use crate::memory_desc::{MemoryDesc, record};
use crate::stream::dnnl_stream_create;
use oxidnn_spec::{DataType, Dims, RUNTIME, Tensor};

fn f32s(dims: &[i64]) -> MemoryDesc {
    record(&Tensor::with_strides(Dims::new(dims).unwrap(), DataType::F32, None).unwrap())
}

struct Matmul {
    engine: Arc<Engine>,
    stream: Box<Stream>,
    desc: Box<PrimitiveDesc>,
    primitive: Box<Primitive>,
}

impl Matmul {
    fn new(m: i64, attr: Option<&Attr>) -> Matmul {
        let (engine, src, weights, dst) = (Engine::cpu(), f32s(&[m, 2]), f32s(&[2, 3]), f32s(&[m, 3]));
        let stream = made(|s| dnnl_stream_create(s, (&*engine).into(), 1)).unwrap();
        let desc = made(|pd| {
            let (src, weights, dst) = ((&src).into(), (&weights).into(), (&dst).into());
            dnnl_matmul_primitive_desc_create(pd, (&*engine).into(), src, weights, None.into(), dst, attr.into())
        });
        let desc = desc.unwrap();
        let primitive = made(|p| dnnl_primitive_create(p, (&*desc).into())).unwrap();
        Matmul { engine, stream, desc, primitive }
    }

    fn memory<const N: usize>(&self, dims: &[i64], data: &mut [f32; N]) -> Box<Memory> {
        made(|m| dnnl_memory_create(m, (&f32s(dims)).into(), (&*self.engine).into(), Data::of(data))).unwrap()
    }

    fn execute(&self, args: &[(i32, Option<&Memory>)]) -> Status {
        let list: Vec<ExecArg<'_>> = args.iter().map(|a| ExecArg { arg: a.0, memory: a.1.into() }).collect();
        dnnl_primitive_execute((&*self.primitive).into(), (&*self.stream).into(), list.len() as i32, Array::of(&list))
    }
}

#[test]
fn arguments_are_counted_by_the_primitive() {
    let m = Matmul::new(1, None);
    let (mut a, mut b, mut c) = ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0; 3]);
    let (src, weights) = (m.memory(&[1, 2], &mut a), m.memory(&[2, 3], &mut b));
    let (src, weights) = (Some(&*src), Some(&*weights));
    {
        let dst = m.memory(&[1, 3], &mut c);
        let dst = Some(&*dst);
        assert_eq!(m.execute(&[(17, dst), (99, dst), (64, None), (33, weights), (1, src)]), Status::Success);
        assert_eq!(m.execute(&[(1, src), (33, weights)]), Status::InvalidArguments);
        assert_eq!(m.execute(&[(1, src), (33, weights), (17, None)]), Status::InvalidArguments);
        assert_eq!(m.execute(&[(1, src), (1, src), (33, weights), (17, dst)]), Status::InvalidArguments);
        assert_eq!(m.execute(&[]), Status::InvalidArguments);
        assert_eq!(m.execute(&[(1, src), (33, weights), (17, src)]), Status::InvalidArguments, "too few bytes");
    }
    assert_eq!(c, [9.0, 12.0, 15.0]);
    assert!(is_pd_in_cache((&*m.desc).into()) == 1 && is_primitive_in_cache((&*m.primitive).into()) == 1);
}

#[test]
fn memory_is_bytes() {
    let m = Matmul::new(1, None);
    let (mut a, mut b, mut c) = ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0; 4]);
    {
        let (src, weights, dst) = (m.memory(&[2], &mut a), m.memory(&[6, 1], &mut b), m.memory(&[4], &mut c));
        assert_eq!(m.execute(&[(1, Some(&src)), (33, Some(&weights)), (17, Some(&dst))]), Status::Success);
    }
    assert_eq!(c, [9.0, 12.0, 15.0, 0.0]);
}

#[test]
fn sizes_given_at_execution_come_with_the_memory_and_scales_follow() {
    let mut attr = made(|a| dnnl_primitive_attr_create(a)).unwrap();
    assert_eq!(dnnl_primitive_attr_set_scales_mask((&mut *attr).into(), 33, 2), Status::Success);
    let m = Matmul::new(RUNTIME, Some(&attr));
    for rows in [1, 2, 1] {
        let (mut a, mut b, mut s, mut c, mut other) = ([1.0; 4], [1.0; 6], [1.0, 2.0, 3.0], [0.0; 6], [0.0; 9]);
        {
            let (src, weights) = (m.memory(&[rows, 2], &mut a), m.memory(&[2, 3], &mut b));
            let (scales, dst) = (m.memory(&[3], &mut s), m.memory(&[rows, 3], &mut c));
            let args = [(1, Some(&*src)), (33, Some(&*weights)), (4096 | 33, Some(&*scales)), (17, Some(&*dst))];
            assert_eq!(m.execute(&args), Status::Success);
            let longer = m.memory(&[rows + 1, 3], &mut other);
            assert_eq!(m.execute(&[args[0], args[1], args[2], (17, Some(&longer))]), Status::InvalidArguments);
        }
        assert_eq!(c, if rows == 1 { [2.0, 4.0, 6.0, 0.0, 0.0, 0.0] } else { [2.0, 4.0, 6.0, 2.0, 4.0, 6.0] });
    }
}

#[test]
fn engines_are_told_apart_by_their_handles() {
    let (m, other) = (Matmul::new(1, None), Matmul::new(1, None));
    let (mut a, mut b, mut c) = ([1.0, 2.0], [1.0; 6], [0.0; 3]);
    let (src, weights, dst) = (m.memory(&[1, 2], &mut a), m.memory(&[2, 3], &mut b), m.memory(&[1, 3], &mut c));
    let list = [(1, &src), (33, &weights), (17, &dst)].map(|(arg, memory)| ExecArg { arg, memory: (&**memory).into() });
    let on = |stream: &Stream| dnnl_primitive_execute((&*m.primitive).into(), stream.into(), 3, Array::of(&list));
    assert_eq!(on(&other.stream), Status::InvalidArguments);
    assert_eq!(on(&m.stream), Status::Success);
}

#[test]
fn handles_are_destroyed_in_any_order() {
    let Matmul { engine, stream, desc, primitive } = Matmul::new(1, None);
    drop((desc, engine));
    let mut lent = std::ptr::null::<PrimitiveDesc>();
    assert_eq!(dnnl_primitive_get_primitive_desc((&*primitive).into(), (&mut lent).into()), Status::Success);
    assert_eq!(crate::handle::lent(lent, &primitive).runtime().num_inputs(), 2);
    drop(stream);
    drop(primitive);
}

#[test]
fn one_primitive_runs_on_many_threads() {
    let m = Matmul::new(1, None);
    std::thread::scope(|s| {
        for t in 0..8 {
            let m = &m;
            s.spawn(move || {
                for _ in 0..100 {
                    let (mut a, mut b, mut c) = ([t as f32, 1.0], [1.0; 6], [0.0; 3]);
                    {
                        let (src, weights, dst) = (m.memory(&[1, 2], &mut a), m.memory(&[2, 3], &mut b), m.memory(&[1, 3], &mut c));
                        assert_eq!(m.execute(&[(1, Some(&src)), (33, Some(&weights)), (17, Some(&dst))]), Status::Success);
                    }
                    assert_eq!(c, [t as f32 + 1.0; 3]);
                }
            });
        }
    });
}

#[test]
fn code_is_not_kept_in_blobs() {
    let m = Matmul::new(1, None);
    let (mut size, mut byte) = (0usize, 0u8);
    let got = dnnl_primitive_get_cache_blob((&*m.primitive).into(), Data::of(&mut size), Data::of(&mut byte));
    assert_eq!(got, Status::Unimplemented);
    let blob = [0u8; 4];
    let from = |blob| made(|p| dnnl_primitive_create_from_cache_blob(p, (&*m.desc).into(), 4, blob)).err();
    assert_eq!((from(Array::of(&blob)), from(Array::null())), (Some(Status::Unimplemented), Some(Status::InvalidArguments)));
}
