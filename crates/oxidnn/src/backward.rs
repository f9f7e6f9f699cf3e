//! Backward passes, derived from the descriptor of the forward pass.

use oxidnn_runtime::{Engine, PrimitiveDesc};
use oxidnn_spec::op::{
    BatchNorm, Conv, Deconv, Diff, Eltwise, GroupNorm, InnerProduct, LayerNorm, Lrn, Pool, Prelu, Prop, Resampling, Rnn, RnnDiff, Sdpa,
    SdpaDiff, Shuffle, Softmax,
};
use oxidnn_spec::{Attr, Error, Op, Problem, Tensor};

/// The backward passes of a forward training pass.
pub trait Backward {
    /// Gradient of the data: [`oxidnn_spec::Arg::DIFF_SRC`] from [`oxidnn_spec::Arg::DIFF_DST`].
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the operation has no such pass or was not described for training.
    fn backward_data(&self, engine: &Engine) -> Result<PrimitiveDesc, Error>;

    /// Gradients of weights and bias (convolution, deconvolution, inner product).
    ///
    /// # Errors
    /// As [`Backward::backward_data`].
    fn backward_weights(&self, engine: &Engine) -> Result<PrimitiveDesc, Error>;

    /// Gradients of data and parameters at once (normalisations, prelu, recurrent networks, attention).
    ///
    /// # Errors
    /// As [`Backward::backward_data`].
    fn backward(&self, engine: &Engine) -> Result<PrimitiveDesc, Error>;
}

impl Backward for PrimitiveDesc {
    fn backward_data(&self, engine: &Engine) -> Result<PrimitiveDesc, Error> {
        PrimitiveDesc::new(engine, backward_of(self.problem(), Prop::BackwardData)?)
    }
    fn backward_weights(&self, engine: &Engine) -> Result<PrimitiveDesc, Error> {
        PrimitiveDesc::new(engine, backward_of(self.problem(), Prop::BackwardWeights)?)
    }
    fn backward(&self, engine: &Engine) -> Result<PrimitiveDesc, Error> {
        PrimitiveDesc::new(engine, backward_of(self.problem(), Prop::Backward)?)
    }
}

/// The tensor with its layout left to the implementation.
fn free(t: &Tensor) -> Tensor {
    Tensor::any(*t.dims(), t.dtype)
}

fn free_option(t: &Option<Tensor>) -> Option<Tensor> {
    t.as_ref().map(free)
}

/// The backward problem `prop` of the training problem `forward`. Layouts of gradients are left open if the implementation may choose;
/// otherwise they are those of the tensors they belong to.
///
/// # Errors
/// [`Error::InvalidArguments`] if there is no such pass.
fn backward_of(forward: &Problem, prop: Prop) -> Result<Problem, Error> {
    if forward.op.prop() != Some(Prop::ForwardTraining) {
        let got = forward.op.prop().map_or("an operation without passes", Prop::name);
        return Err(Error::invalid("forward descriptor", got, "forward_training").with_problem(forward));
    }
    if !forward.attr.post_ops.is_empty() {
        let got = format!("{} post-ops", forward.attr.post_ops.len());
        return Err(
            Error::invalid("forward descriptor", got, "no post-ops: their gradients are operations of their own").with_problem(forward)
        );
    }
    let none = || Error::invalid("pass", prop.name(), format!("a pass that {} has", forward.op.kind())).with_problem(forward);
    let op = match prop {
        Prop::BackwardWeights => weights_pass(&forward.op),
        Prop::Backward | Prop::BackwardData => data_pass(&forward.op, prop),
        Prop::ForwardTraining | Prop::ForwardInference => None,
    };
    let attr = Attr {
        scratchpad: forward.attr.scratchpad,
        fpmath: forward.attr.fpmath,
        accumulation: forward.attr.accumulation,
        deterministic: forward.attr.deterministic,
        ..Attr::default()
    };
    Problem::new(op.ok_or_else(none)?, attr)
}

fn weights_pass(op: &Op) -> Option<Op> {
    let prop = Prop::BackwardWeights;
    let all = |src: &Tensor, weights: &Tensor, dst: &Tensor| [free(src), free(weights), free(dst)];
    Some(match op {
        Op::Conv(c) => Conv::new(prop, c.alg, all(&c.src, &c.weights, &c.dst), free_option(&c.bias), c.window.clone()).into(),
        Op::Deconv(c) => Deconv::new(prop, c.alg, all(&c.src, &c.weights, &c.dst), free_option(&c.bias), c.window.clone()).into(),
        Op::InnerProduct(p) => {
            let [src, weights, dst] = all(&p.src, &p.weights, &p.dst);
            InnerProduct { prop, src, weights, bias: free_option(&p.bias), dst }.into()
        }
        _ => return None,
    })
}

fn data_pass(op: &Op, prop: Prop) -> Option<Op> {
    let both = |src: &Tensor, dst: &Option<Tensor>| Some(Diff { src: src.clone(), dst: dst.clone()? });
    let data = prop == Prop::BackwardData;
    Some(match op {
        Op::Conv(c) if data => Conv::new(prop, c.alg, [free(&c.src), free(&c.weights), free(&c.dst)], None, c.window.clone()).into(),
        Op::Deconv(c) if data => Deconv::new(prop, c.alg, [free(&c.src), free(&c.weights), free(&c.dst)], None, c.window.clone()).into(),
        Op::InnerProduct(p) if data => {
            InnerProduct { prop, src: free(&p.src), weights: free(&p.weights), bias: None, dst: free(&p.dst) }.into()
        }
        Op::BatchNorm(n) => BatchNorm::backward(prop, n.flags, n.epsilon.get(), n.src.clone(), both(&n.src, &n.dst)?).into(),
        Op::LayerNorm(n) => {
            let scale = n.scale.clone();
            LayerNorm { scale, ..LayerNorm::backward(prop, n.flags, n.epsilon.get(), n.src.clone(), both(&n.src, &n.dst)?) }.into()
        }
        Op::GroupNorm(n) => {
            GroupNorm::backward(prop, n.flags, n.epsilon.get(), n.src.clone(), both(&n.src, &n.dst)?).groups(n.groups).into()
        }
        Op::Lrn(l) if data => Lrn { prop, diff_src: Some(l.src.clone()), diff_dst: l.dst.clone(), dst: None, ..l.clone() }.into(),
        Op::Pool(p) if data => Pool { prop, ..(**p).clone() }.into(),
        Op::Eltwise(e) if data => {
            let kept = if e.alg.uses_dst() { e.dst.clone()? } else { e.src.clone() };
            Eltwise { prop, diff_src: Some(e.src.clone()), diff_dst: e.dst.clone(), src: kept, dst: None, ..e.clone() }.into()
        }
        Op::Softmax(s) if data => Softmax { prop, src: None, diff_src: s.src.clone(), diff_dst: Some(s.dst.clone()), ..s.clone() }.into(),
        Op::Resampling(r) if data => Resampling { prop, ..r.clone() }.into(),
        Op::Shuffle(s) if data => Shuffle { prop, ..s.clone() }.into(),
        Op::Prelu(p) if !data => {
            let (diff_src, diff_weights) = (Some(p.src.clone()), Some(p.weights.clone()));
            Prelu { prop, diff_src, diff_weights, diff_dst: p.dst.clone(), dst: None, ..(**p).clone() }.into()
        }
        Op::Sdpa(s) if !data => {
            let diff = SdpaDiff { q: s.q.clone(), k: s.k.clone(), v: s.v.clone(), dst: s.dst.clone() };
            Sdpa { prop, diff: Some(diff), ..(**s).clone() }.into()
        }
        Op::Rnn(r) if !data => Rnn { prop, diff: Some(rnn_gradients(r)), ..(**r).clone() }.into(),
        _ => return None,
    })
}

/// Gradients of a recurrent network: plain f32, with the sizes of the tensors they belong to.
fn rnn_gradients(r: &Rnn) -> RnnDiff {
    let grad = |t: &Tensor| Tensor::any(*t.dims(), oxidnn_spec::DataType::F32);
    let maybe = |t: &Option<Tensor>| t.as_ref().map(grad);
    RnnDiff {
        src_layer: grad(&r.src_layer),
        src_iter: maybe(&r.src_iter),
        src_iter_c: maybe(&r.src_iter_c),
        attention: maybe(&r.attention),
        weights_layer: grad(&r.weights_layer),
        weights_iter: grad(&r.weights_iter),
        weights_peephole: maybe(&r.weights_peephole),
        weights_projection: maybe(&r.weights_projection),
        bias: maybe(&r.bias),
        dst_layer: grad(&r.dst_layer),
        dst_iter: maybe(&r.dst_iter),
        dst_iter_c: maybe(&r.dst_iter_c),
    }
}
