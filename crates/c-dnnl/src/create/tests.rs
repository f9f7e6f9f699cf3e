use super::conv::*;
use super::pointwise::*;
use super::product::*;
use super::several::*;
use crate::attr::quant::dnnl_primitive_attr_set_scales_mask;
use crate::attr::{Attr, dnnl_primitive_attr_create, dnnl_primitive_attr_set_post_ops};
use crate::engine::Engine;
use crate::handle::{Array, In, made};
use crate::memory_desc::{MemoryDesc, record};
use crate::post_ops::{dnnl_post_ops_append_eltwise, dnnl_post_ops_append_prelu, dnnl_post_ops_create};
use crate::primitive_desc::{PrimitiveDesc, dnnl_primitive_desc_clone, dnnl_primitive_desc_next_impl};
use crate::status::Status;
use oxidnn_spec::{DataType, Dims, Tensor};

type Made = Result<Box<PrimitiveDesc>, Status>;

const BAD: Option<Status> = Some(Status::InvalidArguments);
const REFUSED: Option<Status> = Some(Status::Unimplemented);

fn plain(dims: &[i64], dtype: DataType) -> MemoryDesc {
    record(&Tensor::plain(Dims::new(dims).unwrap(), dtype).unwrap())
}

fn f32s(dims: &[i64]) -> MemoryDesc {
    plain(dims, DataType::F32)
}

fn any(dims: &[i64], dtype: DataType) -> MemoryDesc {
    record(&Tensor::any(Dims::new(dims).unwrap(), dtype))
}

fn conv(src: &MemoryDesc, weights: &MemoryDesc, attr: In<'_, Attr>) -> Made {
    let (engine, dst, one) = (Engine::cpu(), any(&[2, 16, 5, 5], DataType::F32), [1, 1]);
    let [one, none] = [Array::of(&one), Array::null()];
    made(|pd| {
        let (src, weights, dst) = (src.into(), weights.into(), (&dst).into());
        dnnl_convolution_forward_primitive_desc_create(
            pd,
            (&*engine).into(),
            64,
            1,
            src,
            weights,
            None.into(),
            dst,
            one,
            none,
            one,
            none,
            attr,
        )
    })
}

fn matmul(src: &MemoryDesc, weights: &MemoryDesc, dst: &MemoryDesc, attr: In<'_, Attr>) -> Made {
    let engine = Engine::cpu();
    made(|pd| dnnl_matmul_primitive_desc_create(pd, (&*engine).into(), src.into(), weights.into(), None.into(), dst.into(), attr))
}

fn eltwise(alg: i32, src: &MemoryDesc, dst: &MemoryDesc) -> Made {
    let engine = Engine::cpu();
    made(|pd| dnnl_eltwise_forward_primitive_desc_create(pd, (&*engine).into(), 64, alg, src.into(), dst.into(), 0.0, 1.0, None.into()))
}

fn pool(prop: Option<&PrimitiveDesc>, src: &MemoryDesc) -> Made {
    let (engine, dst, two, zero) = (Engine::cpu(), f32s(&[2, 8, 2, 2]), [2, 2], [0, 0]);
    let [two, zero] = [Array::of(&two), Array::of(&zero)];
    made(|pd| {
        let (engine, src, dst) = ((&*engine).into(), src.into(), (&dst).into());
        match prop {
            None => dnnl_pooling_forward_primitive_desc_create(pd, engine, 64, 511, src, dst, two, two, zero, zero, zero, None.into()),
            hint => {
                dnnl_pooling_backward_primitive_desc_create(pd, engine, 511, src, dst, two, two, zero, zero, zero, hint.into(), None.into())
            }
        }
    })
}

#[test]
fn wrong_requests_have_the_statuses_that_clients_expect() {
    let (src, weights) = (f32s(&[2, 8, 5, 5]), f32s(&[16, 8, 3, 3]));
    let none = MemoryDesc::ZERO;
    assert!(conv(&src, &weights, None.into()).is_ok());
    assert_eq!(conv(&none, &weights, None.into()).err(), BAD);
    assert_eq!(conv(&src, &f32s(&[16, 7, 3, 3]), None.into()).err(), BAD);
    assert_eq!(conv(&src, &any(&[16, 8, 3, 3], DataType::S8), None.into()).err(), REFUSED);
    assert_eq!(conv(&plain(&[2, 8, 5, 5], DataType::S8), &weights, None.into()).err(), BAD);
    let (a, b, c) = (f32s(&[4, 8]), f32s(&[8, 6]), f32s(&[4, 6]));
    assert_eq!(matmul(&a, &f32s(&[7, 6]), &c, None.into()).err(), BAD);
    assert_eq!(matmul(&a, &b, &none, None.into()).err(), BAD);
    assert_eq!(matmul(&plain(&[4, 8], DataType::S8), &plain(&[8, 6], DataType::Bf16), &c, None.into()).err(), REFUSED);
}

#[test]
fn integers_have_three_functions_and_sources_a_layout() {
    let small = plain(&[2, 3], DataType::S8);
    for (alg, expected) in
        [(32, None), (38, None), (46, None), (256, None), (261, None), (33, BAD), (36, BAD), (47, BAD), (50, BAD), (262, BAD)]
    {
        assert_eq!(eltwise(alg, &small, &small).err(), expected, "{alg}");
    }
    let (free, bound) = (any(&[2, 3], DataType::F32), f32s(&[2, 3]));
    assert_eq!(eltwise(32, &free, &bound).err(), BAD);
    let desc = eltwise(32, &bound, &free).unwrap();
    assert_eq!(desc.record(oxidnn_spec::Arg::DST), Some(&bound));
}

#[test]
fn attributes_that_an_operation_does_not_take_are_unimplemented() {
    let bound = f32s(&[2, 3]);
    let (engine, mut attr) = (Engine::cpu(), made(|a| dnnl_primitive_attr_create(a)).unwrap());
    let mut list = made(|p| dnnl_post_ops_create(p)).unwrap();
    assert_eq!(dnnl_post_ops_append_eltwise((&mut *list).into(), 32, 0.0, 0.0), Status::Success);
    assert_eq!(dnnl_primitive_attr_set_post_ops((&mut *attr).into(), (&*list).into()), Status::Success);
    let created = made(|pd| {
        let (engine, src, attr) = ((&*engine).into(), (&bound).into(), (&*attr).into());
        dnnl_eltwise_forward_primitive_desc_create(pd, engine, 64, 32, src, (&bound).into(), 0.0, 0.0, attr)
    });
    assert_eq!(created.err(), REFUSED);
    let mut attr = made(|a| dnnl_primitive_attr_create(a)).unwrap();
    assert_eq!(dnnl_primitive_attr_set_scales_mask((&mut *attr).into(), 33, 4), Status::Success);
    assert_eq!(matmul(&f32s(&[4, 8]), &f32s(&[8, 6]), &f32s(&[4, 6]), (&*attr).into()).err(), BAD, "a dimension that is not there");
}

#[test]
fn a_prelu_mask_may_have_more_bits_than_dimensions() {
    let (mut attr, mut list) = (made(|a| dnnl_primitive_attr_create(a)).unwrap(), made(|p| dnnl_post_ops_create(p)).unwrap());
    assert_eq!(dnnl_post_ops_append_prelu((&mut *list).into(), -1), Status::Success);
    assert_eq!(dnnl_primitive_attr_set_post_ops((&mut *attr).into(), (&*list).into()), Status::Success);
    let desc = conv(&f32s(&[2, 8, 5, 5]), &f32s(&[16, 8, 3, 3]), (&*attr).into()).unwrap();
    assert_eq!(desc.runtime().num_inputs(), 3);
}

#[test]
fn a_backward_pass_with_workspace_wants_the_hint_that_made_it() {
    let src = f32s(&[2, 8, 5, 5]);
    let forward = pool(None, &src).unwrap();
    assert!(forward.runtime().workspace().is_some());
    assert!(pool(Some(&forward), &src).is_ok());
    let other = eltwise(32, &src, &src).unwrap();
    assert_eq!(pool(Some(&other), &src).err(), REFUSED);
}

#[test]
fn implementations_are_tried_in_turn_but_not_from_a_clone() {
    let (a, b, c) = (f32s(&[4, 8]), f32s(&[8, 6]), f32s(&[4, 6]));
    let mut desc = matmul(&a, &b, &c, None.into()).unwrap();
    let mut copy = made(|pd| dnnl_primitive_desc_clone(pd, (&*desc).into())).unwrap();
    assert_eq!(dnnl_primitive_desc_next_impl((&mut *copy).into()), Status::LastImplReached);
    let first = desc.runtime().impl_name();
    let mut names = vec![first];
    while dnnl_primitive_desc_next_impl((&mut *desc).into()) == Status::Success {
        names.push(desc.runtime().impl_name());
    }
    assert!(names.len() > 1 && names.last() == Some(&"ref:any"), "{names:?}");
    assert_eq!(dnnl_primitive_desc_next_impl((&mut *desc).into()), Status::LastImplReached);
    assert_eq!(copy.runtime().impl_name(), first);
}

#[test]
fn destinations_follow_from_sources() {
    let engine = Engine::cpu();
    let (a, b) = (f32s(&[2, 3, 4]), f32s(&[2, 5, 4]));
    let sources = [In::from(&a), In::from(&b)];
    let concat =
        |axis| made(|pd| dnnl_concat_primitive_desc_create(pd, (&*engine).into(), None.into(), 2, axis, Array::of(&sources), None.into()));
    let joined = concat(1).unwrap();
    assert_eq!(joined.record(oxidnn_spec::Arg::DST), Some(&f32s(&[2, 8, 4])));
    assert_eq!(concat(2).err(), BAD);
    assert_eq!(concat(3).err(), BAD);
    assert_eq!(concat(-1).err(), BAD);
    let (same, scales) = ([In::from(&a), In::from(&a)], [1.0, 2.0]);
    let sum =
        |scales| made(|pd| dnnl_sum_primitive_desc_create(pd, (&*engine).into(), None.into(), 2, scales, Array::of(&same), None.into()));
    assert_eq!(sum(Array::of(&scales)).unwrap().record(oxidnn_spec::Arg::DST), Some(&a));
    assert_eq!(sum(Array::null()).err(), BAD);
    let factors = [2.0];
    let resampled = made(|pd| {
        let (engine, src) = ((&*engine).into(), (&a).into());
        dnnl_resampling_forward_primitive_desc_create(pd, engine, 64, 196_592, Array::of(&factors), src, None.into(), None.into())
    });
    assert_eq!(resampled.unwrap().record(oxidnn_spec::Arg::DST), Some(&f32s(&[2, 3, 8])));
}

#[test]
fn nulls_are_refused() {
    let engine = Engine::cpu();
    let a = f32s(&[2, 3]);
    let reorder = |src: Option<&MemoryDesc>, engine: Option<&Engine>| {
        made(|pd| dnnl_reorder_primitive_desc_create(pd, src.into(), engine.into(), (&a).into(), engine.into(), None.into())).err()
    };
    assert_eq!(reorder(None, Some(&engine)), BAD);
    assert_eq!(reorder(Some(&a), None), BAD);
    assert_eq!(reorder(Some(&a), Some(&engine)), None);
}

#[test]
fn the_same_request_has_the_same_decision() {
    let (a, b, c) = (f32s(&[4, 9]), f32s(&[9, 6]), f32s(&[4, 6]));
    let [first, second] = [(); 2].map(|()| matmul(&a, &b, &c, None.into()).unwrap());
    let dst = |pd: &PrimitiveDesc| pd.record(oxidnn_spec::Arg::DST).map(std::ptr::from_ref);
    assert_eq!(dst(&first), dst(&second));
    assert!(!std::sync::Arc::ptr_eq(first.engine(), second.engine()));
    let other = matmul(&a, &b, &plain(&[4, 6], DataType::Bf16), None.into()).unwrap();
    assert_ne!(dst(&first), dst(&other));
}
