use super::dropout::*;
use super::modes::*;
use super::quant::*;
use super::rnn::*;
use super::*;
use crate::handle::{Array, lent, made};
use crate::internal::cache::set_rnn_tparams;
use crate::post_ops::{dnnl_post_ops_append_eltwise, dnnl_post_ops_create, dnnl_post_ops_len};
use oxidnn_spec::{Arg, DataType, QuantMode, ScratchpadMode, Tensor};

const BAD: Status = Status::InvalidArguments;

fn attr() -> Box<Attr> {
    made(|a| dnnl_primitive_attr_create(a)).unwrap()
}

#[test]
fn modes_are_kept_and_unknown_ones_refused() {
    let mut a = attr();
    let mut got = -1;
    assert_eq!(dnnl_primitive_attr_set_scratchpad_mode((&mut *a).into(), 1), Status::Success);
    assert_eq!(a.spec().scratchpad, ScratchpadMode::User);
    assert_eq!(dnnl_primitive_attr_get_scratchpad_mode((&*a).into(), (&mut got).into()), Status::Success);
    assert_eq!(got, 1);
    assert_eq!(dnnl_primitive_attr_set_fpmath_mode_v2((&mut *a).into(), 4, 5), Status::Success);
    let mut apply = 0;
    assert_eq!(dnnl_primitive_attr_get_fpmath_mode_v2((&*a).into(), (&mut got).into(), (&mut apply).into()), Status::Success);
    assert_eq!((got, apply), (4, 1));
    assert_eq!(dnnl_primitive_attr_set_fpmath_mode((&mut *a).into(), 1), Status::Success);
    assert!(!a.spec().fpmath.apply_to_int);
    assert_eq!(dnnl_primitive_attr_set_deterministic((&mut *a).into(), 7), Status::Success);
    assert_eq!(dnnl_primitive_attr_get_deterministic((&*a).into(), (&mut got).into()), Status::Success);
    assert_eq!(got, 1);
    assert_eq!(dnnl_primitive_attr_set_rounding((&mut *a).into(), 17, 1), Status::Success);
    assert_eq!(dnnl_primitive_attr_get_rounding((&*a).into(), 17, (&mut got).into()), Status::Success);
    assert_eq!(got, 1);
    assert_eq!(dnnl_primitive_attr_get_rounding((&*a).into(), 999, (&mut got).into()), Status::Success);
    assert_eq!(got, 0);
    for (call, name) in [
        (dnnl_primitive_attr_set_scratchpad_mode((&mut *a).into(), 4), "scratchpad"),
        (dnnl_primitive_attr_set_fpmath_mode((&mut *a).into(), 9), "fpmath"),
        (dnnl_primitive_attr_set_accumulation_mode((&mut *a).into(), 9), "accumulation"),
        (dnnl_primitive_attr_set_rounding((&mut *a).into(), 1, 1), "rounding of src"),
    ] {
        assert_eq!(call, BAD, "{name}");
    }
}

#[test]
fn scales_and_zero_points_are_of_what_may_have_them() {
    let mut a = attr();
    for (arg, scales, zero_points) in
        [(1, true, true), (2, true, false), (3, true, true), (4, false, false), (17, true, true), (33, true, true), (34, true, true)]
            .into_iter()
            .chain([
                (41, false, false),
                (1024, true, false),
                (1030, true, false),
                (16384 | 33, true, false),
                (64, false, false),
                (-1, false, false),
            ])
    {
        let expected = |yes| if yes { Status::Success } else { BAD };
        assert_eq!(dnnl_primitive_attr_set_scales_mask((&mut *a).into(), arg, 0), expected(scales), "scales of {arg}");
        assert_eq!(dnnl_primitive_attr_set_zero_points_mask((&mut *a).into(), arg, 0), expected(zero_points), "zero points of {arg}");
    }
    let groups = [32, 1];
    let call = dnnl_primitive_attr_set_scales((&mut *a).into(), 33, 3, 2, Array::of(&groups), 2);
    assert_eq!(call, Status::Success);
    let q = &a.spec().scales[&Arg::WEIGHTS];
    assert_eq!((q.mask, &q.groups[..], q.dtype), (3, &groups[..], DataType::Bf16));
    for (mask, ndims, dtype) in [(3, 1, 3), (3, 3, 3), (0, 2, 3), (-1, 0, 3), (0, 0, 4), (0, 0, 13), (3, 0, 0)] {
        let call = dnnl_primitive_attr_set_scales((&mut *a).into(), 33, mask, ndims, Array::of(&[32, 1, 1]), dtype);
        assert_eq!(call, BAD, "{mask} {ndims} {dtype}");
    }
    assert_eq!(dnnl_primitive_attr_set_scales((&mut *a).into(), 33, 3, 2, Array::null(), 3), BAD);
    assert_eq!(dnnl_primitive_attr_set_scales((&mut *a).into(), 33, 3, 2, Array::of(&[0, 1]), 3), BAD);
    assert_eq!(dnnl_primitive_attr_set_zero_points((&mut *a).into(), 17, 0, 0, Array::null(), 5), BAD);
    assert_eq!(dnnl_primitive_attr_set_zero_points((&mut *a).into(), 33, 3, 0, Array::null(), 11), Status::Success);
    assert_eq!(dnnl_primitive_attr_set_precomputed_reductions((&mut *a).into(), 1, 3, 0, Array::null(), 4), Status::Success);
    assert_eq!(dnnl_primitive_attr_set_precomputed_reductions((&mut *a).into(), 33, 3, 0, Array::null(), 4), BAD);
}

#[test]
fn numbers_on_the_host_are_single_and_static() {
    let mut a = attr();
    let mx = [1, 32];
    assert_eq!(dnnl_primitive_attr_set_scales_v2((&mut *a).into(), 1, 0, 0, Array::null(), 3, 1), Status::Success);
    assert!(a.spec().scales[&Arg::SRC].on_host);
    assert_eq!(dnnl_primitive_attr_set_scales_v2((&mut *a).into(), 1, 1, 0, Array::null(), 3, 1), BAD);
    assert_eq!(dnnl_primitive_attr_set_zero_points_v2((&mut *a).into(), 1, 2, 0, Array::null(), 4, 1), BAD);
    assert_eq!(dnnl_primitive_attr_set_scales_v3((&mut *a).into(), 17, 3, 2, Array::of(&mx), 13, 0, 2), Status::Success);
    assert_eq!(a.spec().scales[&Arg::DST].mode, QuantMode::DynamicMx);
    assert_eq!(dnnl_primitive_attr_set_scales_v3((&mut *a).into(), 17, 3, 2, Array::of(&mx), 13, 1, 2), BAD);
    assert_eq!(dnnl_primitive_attr_set_scales_v3((&mut *a).into(), 17, 3, 2, Array::of(&mx), 13, 0, 0), BAD);
}

#[test]
fn dropout_keeps_its_mask_and_switches() {
    let mut a = attr();
    let (mut mask, mut numbers) = (std::ptr::null::<MemoryDesc>(), [-1; 3]);
    let mut read = |a: &Attr| {
        let [seed, offset, host] = numbers.each_mut();
        let call = dnnl_primitive_attr_get_dropout_v2(a.into(), (&mut mask).into(), seed.into(), offset.into(), host.into());
        assert_eq!(call, Status::Success);
        (*lent(mask, a), numbers)
    };
    assert_eq!(read(&a), (MemoryDesc::ZERO, [0; 3]));
    let (u8s, f32s) = (Tensor::plain([2, 3], DataType::U8).unwrap(), Tensor::plain([2, 3], DataType::F32).unwrap());
    assert_eq!(dnnl_primitive_attr_set_dropout((&mut *a).into(), (&record(&u8s)).into()), Status::Success);
    assert_eq!(read(&a), (record(&u8s), [4, 0, 0]));
    assert_eq!(dnnl_primitive_attr_set_dropout_v2((&mut *a).into(), (&MemoryDesc::ZERO).into(), 16, 1, 1), Status::Success);
    assert_eq!(read(&a), (MemoryDesc::ZERO, [16, 1, 1]));
    assert_eq!(dnnl_primitive_attr_set_dropout((&mut *a).into(), (&record(&f32s)).into()), BAD);
    assert_eq!(dnnl_primitive_attr_set_dropout((&mut *a).into(), None.into()), BAD);
    assert_eq!(dnnl_primitive_attr_set_dropout_v2((&mut *a).into(), (&record(&u8s)).into(), 3, 0, 0), BAD);
}

#[test]
fn recurrent_scales_are_copied() {
    let mut a = attr();
    let (mut scale, mut shift) = (0.0, 1.0);
    assert_eq!(dnnl_primitive_attr_get_rnn_data_qparams((&*a).into(), (&mut scale).into(), (&mut shift).into()), Status::Success);
    assert_eq!((scale, shift), (1.0, 0.0));
    assert_eq!(dnnl_primitive_attr_set_rnn_data_qparams((&mut *a).into(), 2.0, 3.0), Status::Success);
    let scales = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(dnnl_primitive_attr_set_rnn_weights_qparams((&mut *a).into(), 4, 24, Array::of(&scales)), Status::Success);
    let copy = made(|c| dnnl_primitive_attr_clone(c, (&*a).into())).unwrap();
    drop(a);
    let (mut count, mut mask, mut numbers) = (0, 0, std::ptr::null::<f32>());
    let call = dnnl_primitive_attr_get_rnn_weights_qparams((&*copy).into(), (&mut count).into(), (&mut mask).into(), (&mut numbers).into());
    assert_eq!((call, count, mask, *lent(numbers, &copy)), (Status::Success, 4, 24, 1.0));
    let mut a = attr();
    for (count, mask) in [(0, 24), (-1, 24), (4, -1)] {
        assert_eq!(dnnl_primitive_attr_set_rnn_weights_qparams((&mut *a).into(), count, mask, Array::of(&scales)), BAD);
    }
    assert_eq!(dnnl_primitive_attr_set_rnn_weights_projection_qparams((&mut *a).into(), 4, 8, Array::null()), BAD);
}

#[test]
fn post_ops_are_a_copy_that_the_getter_lends() {
    let (mut a, mut list) = (attr(), made(|p| dnnl_post_ops_create(p)).unwrap());
    let mut lent_list = std::ptr::null::<PostOps>();
    assert_eq!(dnnl_primitive_attr_get_post_ops((&*a).into(), (&mut lent_list).into()), Status::Success);
    assert_eq!(dnnl_post_ops_len(lent(lent_list, &a).into()), 0);
    assert_eq!(dnnl_post_ops_append_eltwise((&mut *list).into(), 32, 0.0, 0.0), Status::Success);
    assert_eq!(dnnl_primitive_attr_set_post_ops((&mut *a).into(), (&*list).into()), Status::Success);
    drop(list);
    assert_eq!(dnnl_post_ops_len(lent(lent_list, &a).into()), 1);
    assert_eq!(a.spec().post_ops.len(), 1);
    assert_eq!(dnnl_primitive_attr_set_post_ops((&mut *a).into(), None.into()), BAD);
}

#[test]
fn linear_activations_have_a_factor_a_gate() {
    let mut a = attr();
    let factors = [0.5f32, 0.25, -1.0, 2.0];
    let set = |a: &mut Attr, on: bool, gates: i64| set_rnn_tparams(a.into(), on, gates, Array::of(&factors), 3.0);
    for gates in [-1, 0, 5] {
        assert_eq!(set(&mut a, true, gates), BAD);
    }
    assert_eq!(set(&mut a, true, 3), Status::Success);
    let linear = a.spec().rnn.linear.clone().unwrap();
    assert_eq!((linear.gates.iter().map(|g| g.get()).collect::<Vec<_>>(), linear.cell.get()), (factors[..3].to_vec(), 3.0));
    assert_eq!(set(&mut a, false, 3), Status::Success);
    assert_eq!(a.spec().rnn.linear, None);
}
