use crate::testkit::{Bound, compute, dot, numbers};
use oxidnn_spec::op::{Conv, ConvAlg, Deconv, EltwiseAlg, Window};
use oxidnn_spec::{Arg, Attr, DataType, Dims, PostOp, Prop, Quant, Real, Tensor};

fn tensor(dims: &[i64], dtype: DataType, tag: &str) -> Tensor {
    Tensor::with_tag(Dims::new(dims).unwrap(), dtype, tag).unwrap()
}

fn volume(t: &Tensor) -> usize {
    t.layout.elements().unwrap() as usize
}

fn window(strides: &[i64], dilations: &[i64], left: &[i64], right: &[i64]) -> Window {
    let [strides, dilations, padding_l, padding_r] = [strides, dilations, left, right].map(|v| Dims::new(v).unwrap());
    Window { strides, dilations, padding_l, padding_r }
}

/// Three shapes: grouped 2-D with everything odd, depthwise 1-D, 3-D with dilation.
fn shapes() -> Vec<([Vec<i64>; 3], Window)> {
    vec![
        ([vec![2, 6, 7, 5], vec![2, 2, 3, 3, 2], vec![2, 4, 4, 6]], window(&[2, 1], &[0, 0], &[1, 1], &[1, 1])),
        ([vec![1, 70, 9], vec![70, 1, 1, 3], vec![1, 70, 3]], window(&[3], &[1], &[2], &[0])),
        ([vec![1, 3, 4, 5, 4], vec![5, 3, 2, 2, 3], vec![1, 5, 4, 3, 2]], window(&[1, 2, 1], &[1, 0, 0], &[1, 0, 0], &[1, 1, 0])),
    ]
}

fn conv(prop: Prop, shape: &[Vec<i64>; 3], window: &Window, tags: [&str; 3], bias: bool) -> Conv {
    let t = |i: usize| tensor(&shape[i], DataType::F32, tags[i]);
    let channels = shape[2][1];
    Conv::new(prop, ConvAlg::Direct, [t(0), t(1), t(2)], bias.then(|| tensor(&[channels], DataType::F32, "a")), window.clone())
}

/// Source, weights and bias, and the forward result for them.
fn forward(op: &Conv) -> (Bound, Vec<f64>) {
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &numbers(1, volume(&op.src))).put(Arg::WEIGHTS, &op.weights, &numbers(2, volume(&op.weights)));
    if let Some(bias) = &op.bias {
        b.put(Arg::BIAS, bias, &numbers(3, volume(bias)));
    }
    b.out(Arg::DST, &op.dst);
    compute(op.clone(), Attr::default(), &b);
    let out = b.values(Arg::DST);
    (b, out)
}

#[test]
fn by_hand() {
    let op = Conv::new(
        Prop::ForwardInference,
        ConvAlg::Auto,
        [tensor(&[1, 1, 4], DataType::F32, "abc"), tensor(&[1, 1, 2], DataType::F32, "abc"), tensor(&[1, 1, 5], DataType::F32, "abc")],
        Some(tensor(&[1], DataType::F32, "a")),
        window(&[1], &[0], &[1], &[1]),
    );
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &[1.0, 2.0, 3.0, 4.0]).put(Arg::WEIGHTS, &op.weights, &[10.0, 1.0]);
    b.plain(Arg::BIAS, DataType::F32, &[1], &[0.5]).out(Arg::DST, &op.dst);
    compute(op, Attr::default(), &b);
    assert_eq!(b.values(Arg::DST), [1.5, 12.5, 23.5, 34.5, 40.5]);
}

#[test]
fn layouts_do_not_matter() {
    let (shape, w) = &shapes()[0];
    let (_, plain) = forward(&conv(Prop::ForwardTraining, shape, w, ["abcd", "abcde", "abcd"], true));
    for tags in [["acdb", "aBCde4c4b", "aBcd8b"], ["aBcd4b", "abcde", "ABcd2a8b"], ["ABcd8a8b", "aBCde8b8c", "acdb"]] {
        let (_, blocked) = forward(&conv(Prop::ForwardTraining, shape, w, tags, true));
        assert_eq!(plain, blocked, "{tags:?}");
    }
}

#[test]
fn gradients_are_adjoint() {
    for (shape, w) in &shapes() {
        let tags = ["axb", "abx", "axb"];
        let (mut b, y) = forward(&conv(Prop::ForwardTraining, shape, w, tags, false));
        let op = conv(Prop::BackwardData, shape, w, tags, false);
        let dd = numbers(9, y.len());
        b.put(Arg::DIFF_DST, &op.dst, &dd).out(Arg::DIFF_SRC, &op.src);
        compute(op, Attr::default(), &b);
        assert_eq!(dot(&y, &dd), dot(&b.values(Arg::SRC), &b.values(Arg::DIFF_SRC)));
        let op = conv(Prop::BackwardWeights, shape, w, tags, true);
        b.out(Arg::DIFF_WEIGHTS, &op.weights).out(Arg::DIFF_BIAS, op.bias.as_ref().unwrap());
        compute(op, Attr::default(), &b);
        assert_eq!(dot(&y, &dd), dot(&b.values(Arg::WEIGHTS), &b.values(Arg::DIFF_WEIGHTS)));
        assert_eq!(dd.iter().sum::<f64>(), b.values(Arg::DIFF_BIAS).iter().sum::<f64>());
    }
}

/// A deconvolution with input and output channels swapped in its weights is the backward-data pass of a convolution.
#[test]
fn deconvolution_is_the_transpose() {
    let ([src, weights, dst], w) = shapes().swap_remove(2);
    let op = conv(Prop::BackwardData, &[src.clone(), weights.clone(), dst.clone()], &w, ["abcde"; 3], false);
    let (dd, values) = (numbers(4, volume(&op.dst)), numbers(5, volume(&op.weights)));
    let mut b = Bound::default();
    b.put(Arg::DIFF_DST, &op.dst, &dd).put(Arg::WEIGHTS, &op.weights, &values).out(Arg::DIFF_SRC, &op.src);
    compute(op.clone(), Attr::default(), &b);
    let swapped = [weights[1], weights[0], weights[2], weights[3], weights[4]];
    let t = [tensor(&dst, DataType::F32, "abcde"), tensor(&swapped, DataType::F32, "bacde"), tensor(&src, DataType::F32, "abcde")];
    let deconv = Deconv::new(Prop::ForwardInference, ConvAlg::Direct, t, None, w);
    let mut d = Bound::default();
    // `bacde` over swapped channels has the convolution's order of bytes.
    let bytes: Vec<u8> = values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect();
    d.put(Arg::SRC, &deconv.src, &dd).raw(Arg::WEIGHTS, &deconv.weights, &[bytes]).out(Arg::DST, &deconv.dst);
    compute(deconv, Attr::default(), &d);
    assert_eq!(b.values(Arg::DIFF_SRC), d.values(Arg::DST));
}

#[test]
fn padding_is_not_multiplied() {
    let op = Conv::new(
        Prop::ForwardInference,
        ConvAlg::Direct,
        [tensor(&[1, 1, 2], DataType::F32, "abc"), tensor(&[1, 1, 3], DataType::F32, "abc"), tensor(&[1, 1, 2], DataType::F32, "abc")],
        None,
        window(&[1], &[0], &[1], &[1]),
    );
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &[1.0, 1.0]).put(Arg::WEIGHTS, &op.weights, &[f64::INFINITY, 1.0, 1.0]).out(Arg::DST, &op.dst);
    compute(op, Attr::default(), &b);
    assert_eq!(b.values(Arg::DST), [2.0, f64::INFINITY]);
}

#[test]
fn int8_with_zero_points_and_scales() {
    let types = [DataType::U8, DataType::S8, DataType::U8];
    let shape: [&[i64]; 3] = [&[1, 2, 2, 2], &[2, 2, 2, 2], &[1, 2, 1, 1]];
    let t = [0, 1, 2].map(|i| tensor(shape[i], types[i], "abcd"));
    let op = Conv::new(Prop::ForwardInference, ConvAlg::Direct, t, None, window(&[2, 2], &[0, 0], &[0, 0], &[0, 0]));
    let mut attr = Attr::default();
    attr.scales.extend([(Arg::SRC, Quant::common()), (Arg::WEIGHTS, Quant::per(1, DataType::F32)), (Arg::DST, Quant::common())]);
    attr.zero_points.extend([(Arg::SRC, Quant::per(2, DataType::S32)), (Arg::DST, Quant::per(0, DataType::S32))]);
    let mut b = Bound::default();
    b.put(Arg::SRC, &op.src, &[5.0, 6.0, 7.0, 8.0, 250.0, 251.0, 252.0, 253.0]);
    let weights: Vec<f64> = (1..=16).map(|v| f64::from(if v > 8 { -v } else { v })).collect();
    b.put(Arg::WEIGHTS, &op.weights, &weights).out(Arg::DST, &op.dst);
    b.plain(Arg::scale(Arg::SRC), DataType::F32, &[1], &[0.5]).plain(Arg::scale(Arg::WEIGHTS), DataType::F32, &[2], &[0.25, 2.0]);
    b.plain(Arg::scale(Arg::DST), DataType::F32, &[1], &[4.0]).plain(Arg::zero_point(Arg::DST), DataType::S32, &[1], &[100.0]);
    b.plain(Arg::zero_point(Arg::SRC), DataType::S32, &[1, 2], &[5.0, 253.0]);
    compute(op, attr, &b);
    // channel 0: 0*1+1*2+2*3+3*4 - 3*5 - 2*6 - 1*7 = -14; channel 1: -(10+22+36) + 39+28+15 = 14
    assert_eq!(b.values(Arg::DST), [100.0, 104.0]);
}

#[test]
fn depthwise_after_1x1_rounds_between() {
    let kernel3 = |post_ops: Vec<PostOp>| Attr { post_ops, ..Attr::default() };
    let relu = PostOp::Eltwise { alg: EltwiseAlg::Relu, alpha: Real::new(0.0), beta: Real::new(0.0) };
    let (kernel, stride, padding) = (3, 2, 1);
    let types = (DataType::Bf16, None, DataType::F32);
    let attr =
        kernel3(vec![relu.clone(), PostOp::Depthwise { weights: types.0, bias: types.1, dst: types.2, kernel, stride, padding }, relu]);
    let t = [
        tensor(&[2, 3, 5, 4], DataType::Bf16, "abcd"),
        tensor(&[4, 3, 1, 1], DataType::Bf16, "abcd"),
        tensor(&[2, 4, 5, 4], DataType::Bf16, "abcd"),
    ];
    let one = window(&[1, 1], &[0, 0], &[0, 0], &[0, 0]);
    let mut fused = Conv::new(Prop::ForwardInference, ConvAlg::Direct, t, None, one);
    let mut b = Bound::default();
    b.put(Arg::SRC, &fused.src, &numbers(1, 120)).put(Arg::WEIGHTS, &fused.weights, &numbers(2, 12)).out(Arg::DST, &fused.dst);
    compute(fused.clone(), kernel3(attr.post_ops[..1].to_vec()), &b);
    let depthwise = Conv::new(
        Prop::ForwardInference,
        ConvAlg::Direct,
        [fused.dst.clone(), tensor(&[4, 1, 1, 3, 3], DataType::Bf16, "abcde"), tensor(&[2, 4, 3, 2], DataType::F32, "abcd")],
        None,
        window(&[2, 2], &[0, 0], &[1, 1], &[1, 0]),
    );
    let mut second = Bound::default();
    second.put(Arg::SRC, &depthwise.src, &b.values(Arg::DST)).put(Arg::WEIGHTS, &depthwise.weights, &numbers(3, 36));
    second.out(Arg::DST, &depthwise.dst);
    compute(depthwise.clone(), kernel3(attr.post_ops[2..].to_vec()), &second);

    fused.depthwise_weights = Some(depthwise.weights.clone());
    fused.depthwise_dst = Some(depthwise.dst.clone());
    b.put(Arg::depthwise(Arg::WEIGHTS), &depthwise.weights, &numbers(3, 36)).out(Arg::DST, &depthwise.dst);
    compute(fused, attr, &b);
    assert_eq!(b.values(Arg::DST), second.values(Arg::DST));
}
