use super::*;
use crate::testkit::Bound;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Real, Tensor};

#[test]
fn order_is_post_ops_then_scale_then_zero_point() {
    let mut attr = Attr::default();
    let src1 = Tensor::plain([1, 2], DataType::F32).unwrap();
    attr.post_ops = vec![
        PostOp::Sum { scale: Real::new(0.5), zero_point: 2, dtype: Some(DataType::U8) },
        PostOp::Binary { alg: BinaryAlg::Add, src1: src1.clone(), src2: None },
        PostOp::Eltwise { alg: EltwiseAlg::Relu, alpha: Real::new(0.5), beta: Real::new(0.0) },
        PostOp::Prelu { mask: 2 },
    ];
    attr.scales.insert(Arg::DST, Quant::per(2, DataType::F32));
    attr.zero_points.insert(Arg::DST, Quant::per(0, DataType::S32));
    let mut b = Bound::default();
    b.plain(Arg::DST, DataType::S8, &[2, 2], &[-1.0, 4.0, 6.0, 8.0]);
    b.put(Arg::post_op(1, Arg::SRC_1), &src1, &[10.0, -100.0]);
    b.plain(Arg::post_op(3, Arg::WEIGHTS), DataType::F32, &[1, 2], &[3.0, 0.25]);
    b.plain(Arg::scale(Arg::DST), DataType::F32, &[2], &[2.0, 0.5]);
    b.plain(Arg::zero_point(Arg::DST), DataType::S32, &[1], &[1.0]);
    let tail = Epilogue::new(&attr, &b, Arg::DST).unwrap();
    tail.finish(&[0, 0], 1.0);
    tail.finish(&[1, 1], 1.0);
    // -1 as u8 is 255: (1 + 0.5 * 253 + 10) / 2 + 1; ((1 + 0.5 * 6 - 100) * 0.5 * 0.25) / 0.5 + 1
    assert_eq!(b.values(Arg::DST), [70.0, 4.0, 6.0, -23.0]);
}

#[test]
fn groups_divide_the_last_dimensions() {
    let mut attr = Attr::default();
    attr.scales.insert(Arg::WEIGHTS, Quant { groups: Dims::from([2, 1]), ..Quant::per(3, DataType::F32) });
    let mut b = Bound::default();
    b.plain(Arg::scale(Arg::WEIGHTS), DataType::F32, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let scale = Factor::scale(&attr, &b, Arg::WEIGHTS, &[4, 3]).unwrap();
    assert_eq!([scale.at(&[1, 2]), scale.at(&[2, 0]), scale.at(&[3, 1])], [3.0, 4.0, 5.0]);
    assert!(Factor::scale(&attr, &b, Arg::WEIGHTS, &[8, 3]).is_err());
}

#[test]
fn computed_scales_follow_the_largest_magnitude() {
    let mx = Quant { mode: QuantMode::DynamicMx, ..Quant::per(3, DataType::E8m0) };
    assert_eq!(dynamic_scale(&mx, DataType::F8E4m3, 450.0), 1.0);
    assert_eq!(dynamic_scale(&mx, DataType::F4E2m1, 1.0), 0.25);
    assert_eq!(dynamic_scale(&mx, DataType::F8E5m2, 0.0), 2f64.powi(-127));
    let fp = Quant { mode: QuantMode::DynamicFp, ..Quant::per(3, DataType::F8E4m3) };
    assert_eq!(dynamic_scale(&fp, DataType::F4E2m1, 0.0), 1.0);
    assert_eq!(dynamic_scale(&fp, DataType::F4E2m1, 12.3), 2.0);
}
