use crate::testkit::{Bound, compute, dot, numbers};
use oxidnn_spec::op::{ConvAlg, Deconv, Window};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Prop, Tensor};

/// Grouped, strided, dilated, asymmetric: 2 x 4 x 3 x 4 to 2 x 6 x 6 x 9.
fn op(prop: Prop) -> Deconv {
    let t = |dims: &[i64], tag: &str| Tensor::with_tag(Dims::new(dims).unwrap(), DataType::F32, tag).unwrap();
    let window =
        Window { strides: Dims::from([2, 2]), dilations: Dims::from([0, 1]), padding_l: Dims::from([1, 0]), padding_r: Dims::from([0, 2]) };
    let tensors = [t(&[2, 4, 3, 4], "acdb"), t(&[2, 3, 2, 3, 3], "aBcde4b"), t(&[2, 6, 6, 9], "aBcd4b")];
    let bias = (prop != Prop::BackwardData).then(|| t(&[6], "a"));
    Deconv::new(prop, ConvAlg::Direct, tensors, bias, window)
}

#[test]
fn by_hand() {
    let t = |n: i64| Tensor::plain([1, 1, n], DataType::F32).unwrap();
    let one = Dims::from([1]);
    let window = Window { strides: Dims::from([2]), dilations: Dims::from([0]), padding_l: one, padding_r: one };
    let op = Deconv::new(Prop::ForwardInference, ConvAlg::Direct, [t(3), t(3), t(5)], None, window);
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &[1.0, 2.0, 3.0]).put(Arg::WEIGHTS, &op.weights, &[100.0, 10.0, 1.0]).out(Arg::DST, &op.dst);
    compute(op, Attr::default(), &b);
    assert_eq!(b.values(Arg::DST), [10.0, 201.0, 20.0, 302.0, 30.0]);
}

#[test]
fn gradients_are_adjoint() {
    let forward = op(Prop::ForwardTraining);
    let mut b = Bound::default();
    b.put(Arg::SRC, &forward.src, &numbers(1, 96)).put(Arg::WEIGHTS, &forward.weights, &numbers(2, 108));
    b.plain(Arg::BIAS, DataType::F32, &[6], &[0.0; 6]).out(Arg::DST, &forward.dst);
    compute(forward.clone(), Attr::default(), &b);
    let (y, dd) = (b.values(Arg::DST), numbers(3, 648));
    b.put(Arg::DIFF_DST, &forward.dst, &dd).out(Arg::DIFF_SRC, &forward.src).out(Arg::DIFF_WEIGHTS, &forward.weights);
    b.out(Arg::DIFF_BIAS, forward.bias.as_ref().unwrap());
    compute(op(Prop::BackwardData), Attr::default(), &b);
    compute(op(Prop::BackwardWeights), Attr::default(), &b);
    assert_eq!(dot(&y, &dd), dot(&b.values(Arg::SRC), &b.values(Arg::DIFF_SRC)));
    assert_eq!(dot(&y, &dd), dot(&b.values(Arg::WEIGHTS), &b.values(Arg::DIFF_WEIGHTS)));
    assert_eq!(dd.iter().sum::<f64>(), b.values(Arg::DIFF_BIAS).iter().sum::<f64>());
}
