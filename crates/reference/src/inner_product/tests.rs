use crate::testkit::{Bound, compute, dot, numbers};
use oxidnn_spec::op::InnerProduct;
use oxidnn_spec::{Arg, Attr, DataType, Dims, Prop, Quant, Tensor};

fn op(prop: Prop, tags: [&str; 3]) -> InnerProduct {
    let t = |dims: &[i64], tag: &str| Tensor::with_tag(Dims::new(dims).unwrap(), DataType::F32, tag).unwrap();
    InnerProduct {
        prop,
        src: t(&[3, 5, 2, 4], tags[0]),
        weights: t(&[70, 5, 2, 4], tags[1]),
        bias: (prop != Prop::BackwardData).then(|| t(&[70], "a")),
        dst: t(&[3, 70], tags[2]),
    }
}

fn forward(tags: [&str; 3]) -> Bound {
    let op = op(Prop::ForwardTraining, tags);
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &numbers(1, 120)).put(Arg::WEIGHTS, &op.weights, &numbers(2, 2800));
    b.plain(Arg::BIAS, DataType::F32, &[70], &numbers(3, 70)).out(Arg::DST, &op.dst);
    compute(op, Attr::default(), &b);
    b
}

#[test]
fn layouts_do_not_matter() {
    let plain = forward(["abcd", "abcd", "ab"]).values(Arg::DST);
    assert_eq!(plain, forward(["acdb", "AbcD8a4d", "ba"]).values(Arg::DST));
    let (src, weights, bias) = (numbers(1, 120), numbers(2, 2800), numbers(3, 70));
    assert_eq!(plain[75], dot(&src[40..80], &weights[200..240]) + bias[5]);
}

#[test]
fn gradients_are_adjoint() {
    let tags = ["aBcd4b", "abcd", "ab"];
    let mut b = forward(tags);
    let (backward, dd) = (op(Prop::BackwardWeights, tags), numbers(4, 210));
    b.put(Arg::DIFF_DST, &backward.dst, &dd).out(Arg::DIFF_SRC, &backward.src).out(Arg::DIFF_WEIGHTS, &backward.weights);
    b.out(Arg::DIFF_BIAS, backward.bias.as_ref().unwrap());
    compute(backward, Attr::default(), &b);
    compute(op(Prop::BackwardData, tags), Attr::default(), &b);
    let bias = numbers(3, 70);
    let y: Vec<f64> = b.values(Arg::DST).iter().enumerate().map(|(i, v)| v - bias[i % 70]).collect();
    assert_eq!(dot(&y, &dd), dot(&b.values(Arg::SRC), &b.values(Arg::DIFF_SRC)));
    assert_eq!(dot(&y, &dd), dot(&b.values(Arg::WEIGHTS), &b.values(Arg::DIFF_WEIGHTS)));
    assert_eq!(dd.iter().sum::<f64>(), b.values(Arg::DIFF_BIAS).iter().sum::<f64>());
}

#[test]
fn int8_saturates_after_scaling() {
    let t = |dims: &[i64], dtype| Tensor::plain(Dims::new(dims).unwrap(), dtype).unwrap();
    let [src, weights, dst] = [t(&[1, 2], DataType::U8), t(&[3, 2], DataType::S8), t(&[1, 3], DataType::S8)];
    let op = InnerProduct { prop: Prop::ForwardInference, src, weights, bias: None, dst };
    let mut attr = Attr::default();
    attr.scales.insert(Arg::WEIGHTS, Quant::per(1, DataType::F32));
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &[255.0, 255.0]).put(Arg::WEIGHTS, &op.weights, &[127.0, 127.0, 1.0, 0.0, -128.0, 0.0]);
    b.plain(Arg::scale(Arg::WEIGHTS), DataType::F32, &[3], &[0.001, 0.5, 0.5]).out(Arg::DST, &op.dst);
    compute(op, attr, &b);
    assert_eq!(b.values(Arg::DST), [65.0, 127.0, -128.0]);
}
