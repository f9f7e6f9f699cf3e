//! The forward operation that a backward one belongs to: the library wants its descriptor as a hint, and its run to fill the workspace.

use oxidnn_spec::Tensor;
use oxidnn_spec::op::{
    BatchNorm, Conv, Deconv, Eltwise, GroupNorm, InnerProduct, LayerNorm, Lrn, Op, Pool, Prelu, Prop, Resampling, Rnn, Shuffle, Softmax,
};

const TRAINING: Prop = Prop::ForwardTraining;

/// The forward training operation with the tensors of the backward operation `op`; `None` for forward operations.
pub(crate) fn of(op: &Op) -> Option<Op> {
    if op.prop()?.is_forward() {
        return None;
    }
    Some(match op {
        Op::Conv(x) => {
            let [src, weights] = parameters(x.prop, &x.src, &x.weights);
            Conv::new(TRAINING, x.alg, [src, weights, x.dst.clone()], x.bias.clone(), x.window.clone()).into()
        }
        Op::Deconv(x) => {
            let [src, weights] = parameters(x.prop, &x.src, &x.weights);
            Deconv::new(TRAINING, x.alg, [src, weights, x.dst.clone()], x.bias.clone(), x.window.clone()).into()
        }
        Op::InnerProduct(x) => {
            let [src, weights] = parameters(x.prop, &x.src, &x.weights);
            InnerProduct { prop: TRAINING, src, weights, ..x.clone() }.into()
        }
        Op::BatchNorm(x) => BatchNorm::forward(TRAINING, x.flags, x.epsilon.get(), x.src.clone(), x.diff_dst.clone()?).into(),
        Op::LayerNorm(x) => {
            let dst = x.diff_dst.clone();
            LayerNorm { prop: TRAINING, dst, diff_src: None, diff_dst: None, diff_scale: None, diff_shift: None, ..(**x).clone() }.into()
        }
        Op::GroupNorm(x) => {
            let dst = x.diff_dst.clone();
            GroupNorm { prop: TRAINING, dst, diff_src: None, diff_dst: None, diff_scale: None, diff_shift: None, ..(**x).clone() }.into()
        }
        Op::Lrn(x) => Lrn { prop: TRAINING, dst: Some(x.src.clone()), diff_src: None, diff_dst: None, ..x.clone() }.into(),
        Op::Pool(x) => Pool { prop: TRAINING, src: placed(&x.src, &x.dst), ..(**x).clone() }.into(),
        Op::Eltwise(x) => Eltwise { prop: TRAINING, dst: Some(x.src.clone()), diff_src: None, diff_dst: None, ..x.clone() }.into(),
        Op::Softmax(x) => Softmax { prop: TRAINING, src: Some(x.dst.clone()), diff_src: None, diff_dst: None, ..x.clone() }.into(),
        Op::Resampling(x) => Resampling { prop: TRAINING, src: placed(&x.src, &x.dst), ..x.clone() }.into(),
        Op::Prelu(x) => {
            let dst = x.diff_dst.clone();
            Prelu { prop: TRAINING, dst, diff_src: None, diff_dst: None, diff_weights: None, ..(**x).clone() }.into()
        }
        Op::Shuffle(x) => Shuffle { prop: TRAINING, src: placed(&x.src, &x.dst), ..x.clone() }.into(),
        Op::Rnn(x) => Rnn { prop: TRAINING, diff: None, ..(**x).clone() }.into(),
        _ => return None,
    })
}

/// Source and weights of a forward product: a gradient may be wider than the tensor that it belongs to, which has the other one's type.
fn parameters(prop: Prop, src: &Tensor, weights: &Tensor) -> [Tensor; 2] {
    let typed = |t: &Tensor, like: &Tensor| Tensor { dtype: like.dtype, layout: t.layout.clone() };
    match prop {
        Prop::BackwardData => [typed(src, weights), weights.clone()],
        _ => [src.clone(), typed(weights, src)],
    }
}

/// A source in the layout of the destination, where it has none of its own: forward passes cannot choose their source's.
fn placed(src: &Tensor, dst: &Tensor) -> Tensor {
    match src.layout.is_any() {
        true => Tensor { dtype: src.dtype, layout: dst.layout.resized(*src.dims()) },
        false => src.clone(),
    }
}
