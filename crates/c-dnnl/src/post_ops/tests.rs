use super::*;
use crate::handle::{lent, made};
use oxidnn_spec::RUNTIME;

fn list() -> Box<PostOps> {
    made(|p| dnnl_post_ops_create(p)).unwrap()
}

fn desc(dims: &[i64], dtype: DataType) -> MemoryDesc {
    record(&Tensor::plain(oxidnn_spec::Dims::new(dims).unwrap(), dtype).unwrap())
}

#[test]
fn every_kind_comes_back_as_it_was_appended() {
    let mut p = list();
    let (bias, condition) = (desc(&[1, 16], DataType::F32), desc(&[1, 16], DataType::S8));
    assert_eq!(dnnl_post_ops_append_sum((&mut *p).into(), 0.5, 3, 5), Status::Success);
    assert_eq!(dnnl_post_ops_append_eltwise((&mut *p).into(), 34, 2.0, 3.0), Status::Success);
    assert_eq!(dnnl_post_ops_append_binary((&mut *p).into(), 131_057, (&bias).into()), Status::Success);
    assert_eq!(dnnl_post_ops_append_prelu((&mut *p).into(), 2), Status::Success);
    assert_eq!(dnnl_post_ops_append_dw((&mut *p).into(), 3, 0, 1, 3, 2, 1), Status::Success);
    assert_eq!(dnnl_post_ops_append_binary_v2((&mut *p).into(), 131_068, (&bias).into(), (&condition).into()), Status::Success);
    let kinds: Vec<i32> = (0..7).map(|i| dnnl_post_ops_get_kind((&*p).into(), i)).collect();
    assert_eq!(kinds, [4, 7, 13, 18, 5, 13, 0]);
    assert_eq!(dnnl_post_ops_len((&*p).into()), 6);

    let (mut scale, mut zero_point, mut dtype) = (0.0, 0, 0);
    let sum = dnnl_post_ops_get_params_sum((&*p).into(), 0, (&mut scale).into(), (&mut zero_point).into(), (&mut dtype).into());
    assert_eq!((sum, scale, zero_point, dtype), (Status::Success, 0.5, 3, 5));
    let (mut alg, mut alpha, mut beta) = (0, 0.0, 0.0);
    let eltwise = dnnl_post_ops_get_params_eltwise((&*p).into(), 1, (&mut alg).into(), (&mut alpha).into(), (&mut beta).into());
    assert_eq!((eltwise, alg, alpha, beta), (Status::Success, 34, 2.0, 3.0));
    let mut mask = 0;
    assert_eq!(dnnl_post_ops_get_params_prelu((&*p).into(), 3, (&mut mask).into()), Status::Success);
    assert_eq!(mask, 2);
    let (mut types, mut window) = ([0; 3], [0; 3]);
    let ([w, b, d], [k, s, l]) = (types.each_mut(), window.each_mut());
    let call = dnnl_post_ops_get_params_dw((&*p).into(), 4, w.into(), b.into(), d.into(), k.into(), s.into(), l.into());
    assert_eq!((call, types, window), (Status::Success, [3, 0, 1], [3, 2, 1]));
    assert_eq!(
        dnnl_post_ops_get_params_sum((&*p).into(), 1, (&mut scale).into(), (&mut zero_point).into(), (&mut dtype).into()),
        Status::InvalidArguments
    );
}

#[test]
fn operands_stay_where_they_are_while_the_list_grows() {
    let mut p = list();
    let bias = desc(&[1, 16], DataType::F32);
    assert_eq!(dnnl_post_ops_append_binary((&mut *p).into(), 131_056, (&bias).into()), Status::Success);
    let (mut first, mut again, mut second) =
        (std::ptr::null::<MemoryDesc>(), std::ptr::null::<MemoryDesc>(), std::ptr::null::<MemoryDesc>());
    let mut alg = 0;
    assert_eq!(dnnl_post_ops_get_params_binary((&*p).into(), 0, (&mut alg).into(), (&mut first).into()), Status::Success);
    for _ in 1..MAX_POST_OPS {
        assert_eq!(dnnl_post_ops_append_eltwise((&mut *p).into(), 32, 0.0, 0.0), Status::Success);
    }
    assert_eq!(dnnl_post_ops_append_eltwise((&mut *p).into(), 32, 0.0, 0.0), Status::OutOfMemory);
    let call = dnnl_post_ops_get_params_binary_v2((&*p).into(), 0, (&mut alg).into(), (&mut again).into(), (&mut second).into());
    assert_eq!((call, alg, first), (Status::Success, 131_056, again));
    assert_eq!((lent(first, &p), lent(second, &p)), (&bias, &MemoryDesc::ZERO));
    let copy = made(|c| dnnl_post_ops_clone(c, (&*p).into())).unwrap();
    drop(p);
    assert_eq!(dnnl_post_ops_len((&*copy).into()), MAX_POST_OPS as i32);
}

#[test]
fn what_is_no_post_op_is_refused() {
    let mut p = list();
    let none = MemoryDesc::ZERO;
    let runtime = record(&Tensor::with_strides([RUNTIME, 3], DataType::F32, None).unwrap());
    let bad = Status::InvalidArguments;
    for alg in [0, 1, 53, 511, 131_056] {
        assert_eq!(dnnl_post_ops_append_eltwise((&mut *p).into(), alg, 0.0, 1.0), bad, "{alg}");
    }
    assert_eq!(dnnl_post_ops_append_eltwise((&mut *p).into(), 46, 2.0, 1.0), bad);
    assert_eq!(dnnl_post_ops_append_eltwise((&mut *p).into(), 256, -1.0, 0.0), bad);
    assert_eq!(dnnl_post_ops_append_eltwise((&mut *p).into(), 32, -1.0, 0.0), Status::Success);
    assert_eq!(dnnl_post_ops_append_binary((&mut *p).into(), 131_056, (&none).into()), bad);
    assert_eq!(dnnl_post_ops_append_binary((&mut *p).into(), 131_056, (&runtime).into()), bad);
    assert_eq!(dnnl_post_ops_append_binary((&mut *p).into(), 131_056, None.into()), bad);
    assert_eq!(dnnl_post_ops_append_binary((&mut *p).into(), 131_068, (&desc(&[2], DataType::F32)).into()), bad);
    for window in [[3, 1, 3], [0, 1, 0], [3, 0, 0]] {
        assert_eq!(dnnl_post_ops_append_dw((&mut *p).into(), 3, 3, 3, window[0], window[1], window[2]), bad);
    }
    assert_eq!(dnnl_post_ops_append_dw((&mut *p).into(), 0, 3, 3, 3, 1, 1), bad);
    assert_eq!(dnnl_post_ops_len(None.into()), 0);
    assert_eq!(dnnl_post_ops_get_kind((&*p).into(), -1), 0);
}
