use crate::testkit::{Bound, compute, numbers};
use oxidnn_spec::op::{Prop, Sdpa, SdpaDiff, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Tensor};

/// 1 x 2 heads (1 for keys) x `queries`, depth 2, `keys`, values 1 wide.
fn attention(queries: i64, keys: i64, mask_kind: SdpaMask, scale_kind: SdpaScale) -> Sdpa {
    let t = |dims: [i64; 4]| Tensor::plain(Dims::from(dims), DataType::F32).unwrap();
    let mask = (mask_kind == SdpaMask::Buffer).then(|| t([1, 1, queries, keys]));
    let scale = (scale_kind != SdpaScale::None).then(|| Tensor::plain([1], DataType::F32).unwrap());
    let (q, k, v, dst) = (t([1, 2, queries, 2]), t([1, 1, 2, keys]), t([1, 1, keys, 1]), t([1, 2, queries, 1]));
    Sdpa { prop: Prop::ForwardInference, q, k, v, mask, scale, dst, diff: None, workspace: None, mask_kind, scale_kind }
}

fn run(op: &Sdpa, q: &[f64], extra: impl FnOnce(&mut Bound)) -> Vec<f64> {
    let keys = op.k.dims()[3] as usize;
    let mut b = Bound::default();
    let values: Vec<f64> = (1..=keys).map(|v| v as f64).collect();
    b.put(Arg::SRC, &op.q, q).put(Arg::SRC_1, &op.k, &numbers(1, 2 * keys)).put(Arg::SRC_2, &op.v, &values).out(Arg::DST, &op.dst);
    extra(&mut b);
    compute(op.clone(), Attr::default(), &b);
    b.values(Arg::DST)
}

#[test]
fn equal_scores_give_the_mean_of_what_is_visible() {
    let zeros = [0.0; 12];
    let none = attention(3, 4, SdpaMask::None, SdpaScale::None);
    assert_eq!(run(&none, &zeros, |_| ()), [2.5; 6]);
    let top = attention(3, 4, SdpaMask::CausalTopLeft, SdpaScale::None);
    assert_eq!(run(&top, &zeros, |_| ()), [1.0, 1.5, 2.0, 1.0, 1.5, 2.0]);
    let bottom = attention(3, 4, SdpaMask::CausalBottomRight, SdpaScale::None);
    assert_eq!(run(&bottom, &zeros, |_| ()), [1.5, 2.0, 2.5, 1.5, 2.0, 2.5]);
    let short = attention(3, 2, SdpaMask::CausalBottomRight, SdpaScale::None);
    assert_eq!(run(&short, &zeros, |_| ()), [0.0, 1.0, 1.5, 0.0, 1.0, 1.5]);
}

#[test]
fn buffers_mask_and_scales_scale() {
    let op = attention(1, 2, SdpaMask::Buffer, SdpaScale::Divide);
    let q = numbers(7, 4);
    let k = numbers(1, 4);
    let mask = [0.5, -0.25];
    let got = run(&op, &q, |b| {
        b.plain(Arg::SRC_3, DataType::F32, &[1, 1, 1, 2], &mask).plain(Arg::SCALE, DataType::F32, &[1], &[4.0]);
    });
    for head in 0..2 {
        let score = |j: usize| (q[2 * head] * k[j] + q[2 * head + 1] * k[2 + j]) / 4.0 + mask[j];
        let weights = [score(0).exp(), score(1).exp()];
        let want = (weights[0] + 2.0 * weights[1]) / (weights[0] + weights[1]);
        assert!((got[head] - want).abs() < 1e-6);
    }
    let hidden = run(&op, &q, |b| {
        b.plain(Arg::SRC_3, DataType::F32, &[1, 1, 1, 2], &[f64::NEG_INFINITY; 2]).plain(Arg::SCALE, DataType::F32, &[1], &[4.0]);
    });
    assert_eq!(hidden, [0.0, 0.0]);
}

#[test]
fn gradients_are_those_of_the_destination() {
    let forward = attention(3, 4, SdpaMask::CausalBottomRight, SdpaScale::None);
    let keep = Tensor::plain([1, 2, 3], DataType::F32).unwrap();
    let diff = SdpaDiff { q: forward.q.clone(), k: forward.k.clone(), v: forward.v.clone(), dst: forward.dst.clone() };
    let training = Sdpa { prop: Prop::ForwardTraining, workspace: Some(keep.clone()), ..forward.clone() };
    let backward = Sdpa { prop: Prop::Backward, diff: Some(diff), workspace: Some(keep.clone()), ..forward };
    let inputs = [numbers(3, 12), numbers(5, 8), numbers(7, 4)].map(|v| v.iter().map(|x| x / 4.0).collect::<Vec<_>>());
    let weights = numbers(9, 6);
    let results = |inputs: &[Vec<f64>; 3]| {
        let mut b = Bound::default();
        b.put(Arg::SRC, &training.q, &inputs[0]).put(Arg::SRC_1, &training.k, &inputs[1]).put(Arg::SRC_2, &training.v, &inputs[2]);
        b.out(Arg::DST, &training.dst).out(Arg::WORKSPACE, &keep);
        compute(training.clone(), Attr::default(), &b);
        [b.values(Arg::DST), b.values(Arg::WORKSPACE)]
    };
    let [dst, kept] = results(&inputs);
    let mut b = Bound::default();
    b.put(Arg::SRC, &backward.q, &inputs[0]).put(Arg::SRC_1, &backward.k, &inputs[1]).put(Arg::SRC_2, &backward.v, &inputs[2]);
    b.put(Arg::DST, &backward.dst, &dst).put(Arg::WORKSPACE, &keep, &kept).put(Arg::DIFF_DST, &backward.dst, &weights);
    for (arg, of) in [(Arg::DIFF_SRC, &backward.q), (Arg::DIFF_SRC_1, &backward.k), (Arg::DIFF_SRC_2, &backward.v)] {
        b.out(arg, of);
    }
    compute(backward.clone(), Attr::default(), &b);
    let sum = |inputs: &[Vec<f64>; 3]| -> f64 { results(inputs)[0].iter().zip(&weights).map(|(d, w)| d * w).sum() };
    for (which, arg) in [Arg::DIFF_SRC, Arg::DIFF_SRC_1, Arg::DIFF_SRC_2].into_iter().enumerate() {
        for (i, got) in b.values(arg).into_iter().enumerate() {
            let step = 1.0 / 64.0;
            let moved = |by: f64| {
                let mut inputs = inputs.clone();
                inputs[which][i] += by;
                sum(&inputs)
            };
            let want = (moved(step) - moved(-step)) / (2.0 * step);
            assert!((got - want).abs() < 2e-3 * want.abs().max(1.0), "{arg} {i}: {got}, {want}");
        }
    }
}
