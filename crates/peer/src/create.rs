//! Primitive descriptors of our operations.

mod rnn;

use crate::call::{Arguments, Count, Factors, Library, Sizes};
use crate::describe;
use crate::error::PeerError;
use crate::handle::{Attribute, Desc, Descs, Engine, Owned, PrimDesc, Receiver};
use oxidnn_c_common::numbers;
use oxidnn_spec::op::{
    BatchNorm, Binary, Concat, Conv, Deconv, Eltwise, GroupNorm, InnerProduct, LayerNorm, Lrn, Matmul, Op, Pool, Prelu, Prop, Reduction,
    Reorder, Resampling, Shuffle, Softmax, Sum, Window,
};
use oxidnn_spec::{DataType, Real, Tensor};
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What every creation needs.
pub(crate) struct Creation<'a> {
    /// The library.
    pub(crate) library: &'a Arc<Library>,
    /// Its engine.
    pub(crate) engine: &'a Owned<Engine>,
    /// Attributes; absent: the defaults.
    pub(crate) attr: Option<&'a Owned<Attribute>>,
    /// The forward descriptor of a backward operation.
    pub(crate) hint: Option<&'a Owned<PrimDesc>>,
    /// Where the library's function puts the descriptor.
    pub(crate) out: Receiver<PrimDesc>,
    /// Time spent in that function.
    pub(crate) spent: Cell<Duration>,
}

type Made = Result<Owned<PrimDesc>, PeerError>;

impl<'a> Creation<'a> {
    /// A creation with default attributes and without a hint.
    pub(crate) fn new(library: &'a Arc<Library>, engine: &'a Owned<Engine>) -> Creation<'a> {
        Creation { library, engine, attr: None, hint: None, out: Receiver::new(), spent: Cell::default() }
    }

    /// The primitive descriptor of `op`.
    ///
    /// # Errors
    /// The library's refusal.
    pub(crate) fn primitive_desc(&self, op: &Op) -> Made {
        match op {
            Op::Conv(x) => self.conv(x),
            Op::Deconv(x) => self.deconv(x),
            Op::InnerProduct(x) => self.inner_product(x),
            Op::Matmul(x) => self.matmul(x),
            Op::BatchNorm(x) => self.batch_norm(x),
            Op::LayerNorm(x) => self.layer_norm(x),
            Op::GroupNorm(x) => self.group_norm(x),
            Op::Lrn(x) => self.lrn(x),
            Op::Pool(x) => self.pool(x),
            Op::Eltwise(x) => self.eltwise(x),
            Op::Softmax(x) => self.softmax(x),
            Op::Reduction(x) => self.reduction(x),
            Op::Resampling(x) => self.resampling(x),
            Op::Binary(x) => self.binary(x),
            Op::Prelu(x) => self.prelu(x),
            Op::Shuffle(x) => self.shuffle(x),
            Op::Concat(x) => self.concat(x),
            Op::Sum(x) => self.sum(x),
            Op::Reorder(x) => self.reorder(x),
            Op::Rnn(x) => self.rnn(x),
            Op::Sdpa(_) => Err(PeerError::Inexpressible("attention is a primitive of C++ inside the library only".into())),
        }
    }

    fn desc(&self, tensor: &Tensor) -> Result<Owned<Desc>, PeerError> {
        describe::desc(self.library, tensor)
    }

    fn optional(&self, tensor: &Option<Tensor>) -> Result<Option<Owned<Desc>>, PeerError> {
        tensor.as_ref().map(|t| self.desc(t)).transpose()
    }

    /// A tensor that a valid problem has.
    fn required(&self, tensor: &Option<Tensor>) -> Result<Owned<Desc>, PeerError> {
        let missing = || PeerError::Ours("a tensor of the operation is absent".into());
        self.desc(tensor.as_ref().ok_or_else(missing)?)
    }

    /// Calls the function that makes the descriptor, and takes its time.
    fn make<A: Arguments>(&self, name: &'static str, arguments: A) -> Made {
        let begin = Instant::now();
        let status = self.library.call(name, arguments);
        self.spent.set(begin.elapsed());
        status.map(|()| self.out.take(self.library))
    }

    fn conv(&self, x: &Conv) -> Made {
        let names = [
            "dnnl_convolution_forward_primitive_desc_create",
            "dnnl_convolution_backward_data_primitive_desc_create",
            "dnnl_convolution_backward_weights_primitive_desc_create",
        ];
        self.convolution(
            names,
            numbers::CONV.of(x.alg),
            &Parts { prop: x.prop, data: [&x.src, &x.weights, &x.dst], bias: &x.bias, window: &x.window },
        )
    }

    fn deconv(&self, x: &Deconv) -> Made {
        let names = [
            "dnnl_deconvolution_forward_primitive_desc_create",
            "dnnl_deconvolution_backward_data_primitive_desc_create",
            "dnnl_deconvolution_backward_weights_primitive_desc_create",
        ];
        self.convolution(
            names,
            numbers::DECONV.of(x.alg),
            &Parts { prop: x.prop, data: [&x.src, &x.weights, &x.dst], bias: &x.bias, window: &x.window },
        )
    }

    fn convolution(&self, [forward, data, weights]: [&'static str; 3], alg: i32, p: &Parts) -> Made {
        let [src, wei, dst] = p.data;
        let (src, wei, dst, bias) = (&self.desc(src)?, &self.desc(wei)?, &self.desc(dst)?, self.optional(p.bias)?);
        let [strides, dilations, left, right] = window(p.window);
        let (out, engine, attr, hint) = (&self.out, self.engine, self.attr, self.hint);
        match p.prop {
            Prop::BackwardData => self.make(data, (out, engine, alg, src, wei, dst, &strides, &dilations, &left, &right, hint, attr)),
            Prop::BackwardWeights => {
                let bias = bias.as_ref();
                self.make(weights, (out, engine, alg, src, wei, bias, dst, &strides, &dilations, &left, &right, hint, attr))
            }
            pass => {
                let bias = bias.as_ref();
                self.make(
                    forward,
                    (out, engine, numbers::PROP.of(pass), alg, src, wei, bias, dst, &strides, &dilations, &left, &right, attr),
                )
            }
        }
    }

    fn inner_product(&self, x: &InnerProduct) -> Made {
        let (src, wei, dst, bias) = (&self.desc(&x.src)?, &self.desc(&x.weights)?, &self.desc(&x.dst)?, self.optional(&x.bias)?);
        let (out, engine, attr, hint, bias) = (&self.out, self.engine, self.attr, self.hint, bias.as_ref());
        match x.prop {
            Prop::BackwardData => {
                self.make("dnnl_inner_product_backward_data_primitive_desc_create", (out, engine, src, wei, dst, hint, attr))
            }
            Prop::BackwardWeights => {
                self.make("dnnl_inner_product_backward_weights_primitive_desc_create", (out, engine, src, wei, bias, dst, hint, attr))
            }
            pass => self
                .make("dnnl_inner_product_forward_primitive_desc_create", (out, engine, numbers::PROP.of(pass), src, wei, bias, dst, attr)),
        }
    }

    fn matmul(&self, x: &Matmul) -> Made {
        let (src, wei, dst, bias) = (&self.desc(&x.src)?, &self.desc(&x.weights)?, &self.desc(&x.dst)?, self.optional(&x.bias)?);
        self.make("dnnl_matmul_primitive_desc_create", (&self.out, self.engine, src, wei, bias.as_ref(), dst, self.attr))
    }

    fn batch_norm(&self, x: &BatchNorm) -> Made {
        let (src, flags, epsilon) = (&self.desc(&x.src)?, numbers::norm_flags(x.flags).cast_signed(), x.epsilon.get());
        let (out, engine, pass) = (&self.out, self.engine, numbers::PROP.of(x.prop));
        if x.prop.is_forward() {
            let call = (out, engine, pass, src, &self.required(&x.dst)?, epsilon, flags, self.attr);
            return self.make("dnnl_batch_normalization_forward_primitive_desc_create", call);
        }
        let (diff_src, diff_dst) = (&self.required(&x.diff_src)?, &self.required(&x.diff_dst)?);
        let call = (out, engine, pass, diff_src, diff_dst, src, epsilon, flags, self.hint, self.attr);
        self.make("dnnl_batch_normalization_backward_primitive_desc_create", call)
    }

    fn layer_norm(&self, x: &LayerNorm) -> Made {
        let (src, flags, epsilon) = (&self.desc(&x.src)?, numbers::norm_flags(x.flags).cast_signed(), x.epsilon.get());
        let stats = self.optional(&x.variance)?;
        let (out, engine, pass, stats) = (&self.out, self.engine, numbers::PROP.of(x.prop), stats.as_ref());
        let dtype = |t: [&Option<Tensor>; 2]| numbers::DATA_TYPE.of(t.into_iter().flatten().next().map_or(DataType::F32, |t| t.dtype));
        let learnt = dtype([&x.scale, &x.shift]);
        if x.prop.is_forward() {
            let call = (out, engine, pass, src, &self.required(&x.dst)?, stats, learnt, epsilon, flags, self.attr);
            return self.make("dnnl_layer_normalization_forward_primitive_desc_create_v2", call);
        }
        let gradient = dtype([&x.diff_scale, &x.diff_shift]);
        let (diff_src, diff_dst) = (&self.required(&x.diff_src)?, &self.required(&x.diff_dst)?);
        let call = (out, engine, pass, diff_src, diff_dst, src, stats, gradient, learnt, epsilon, flags, self.hint, self.attr);
        self.make("dnnl_layer_normalization_backward_primitive_desc_create_v2", call)
    }

    fn group_norm(&self, x: &GroupNorm) -> Made {
        let (src, flags, epsilon) = (&self.desc(&x.src)?, numbers::norm_flags(x.flags).cast_signed(), x.epsilon.get());
        let (out, engine, pass) = (&self.out, self.engine, numbers::PROP.of(x.prop));
        if x.prop.is_forward() {
            let call = (out, engine, pass, src, &self.required(&x.dst)?, x.groups, epsilon, flags, self.attr);
            return self.make("dnnl_group_normalization_forward_primitive_desc_create", call);
        }
        let (diff_src, diff_dst) = (&self.required(&x.diff_src)?, &self.required(&x.diff_dst)?);
        let call = (out, engine, pass, diff_src, diff_dst, src, x.groups, epsilon, flags, self.hint, self.attr);
        self.make("dnnl_group_normalization_backward_primitive_desc_create", call)
    }

    fn lrn(&self, x: &Lrn) -> Made {
        let (src, alg, size) = (&self.desc(&x.src)?, numbers::LRN.of(x.alg), x.local_size);
        let (alpha, beta, k) = (x.alpha.get(), x.beta.get(), x.k.get());
        let (out, engine) = (&self.out, self.engine);
        if x.prop.is_forward() {
            let call = (out, engine, numbers::PROP.of(x.prop), alg, src, &self.required(&x.dst)?, size, alpha, beta, k, self.attr);
            return self.make("dnnl_lrn_forward_primitive_desc_create", call);
        }
        let (diff_src, diff_dst) = (&self.required(&x.diff_src)?, &self.required(&x.diff_dst)?);
        self.make(
            "dnnl_lrn_backward_primitive_desc_create",
            (out, engine, alg, diff_src, diff_dst, src, size, alpha, beta, k, self.hint, self.attr),
        )
    }

    fn pool(&self, x: &Pool) -> Made {
        let (src, dst, alg, kernel) = (&self.desc(&x.src)?, &self.desc(&x.dst)?, numbers::POOL.of(x.alg), &Sizes::of(&x.kernel));
        let [strides, dilations, left, right] = window(&x.window);
        let (out, engine) = (&self.out, self.engine);
        if x.prop.is_forward() {
            let call = (out, engine, numbers::PROP.of(x.prop), alg, src, dst, &strides, kernel, &dilations, &left, &right, self.attr);
            return self.make("dnnl_pooling_forward_primitive_desc_create", call);
        }
        let call = (out, engine, alg, src, dst, &strides, kernel, &dilations, &left, &right, self.hint, self.attr);
        self.make("dnnl_pooling_backward_primitive_desc_create", call)
    }

    fn eltwise(&self, x: &Eltwise) -> Made {
        let (src, alg, alpha, beta) = (&self.desc(&x.src)?, numbers::ELTWISE.of(x.alg), x.alpha.get(), x.beta.get());
        let (out, engine) = (&self.out, self.engine);
        if x.prop.is_forward() {
            let call = (out, engine, numbers::PROP.of(x.prop), alg, src, &self.required(&x.dst)?, alpha, beta, self.attr);
            return self.make("dnnl_eltwise_forward_primitive_desc_create", call);
        }
        let (diff_src, diff_dst) = (&self.required(&x.diff_src)?, &self.required(&x.diff_dst)?);
        self.make(
            "dnnl_eltwise_backward_primitive_desc_create",
            (out, engine, alg, diff_src, diff_dst, src, alpha, beta, self.hint, self.attr),
        )
    }

    fn softmax(&self, x: &Softmax) -> Made {
        let (dst, alg, axis) = (&self.desc(&x.dst)?, numbers::SOFTMAX.of(x.alg), x.axis as i32);
        let (out, engine) = (&self.out, self.engine);
        if x.prop.is_forward() {
            let call = (out, engine, numbers::PROP.of(x.prop), alg, &self.required(&x.src)?, dst, axis, self.attr);
            return self.make("dnnl_softmax_forward_primitive_desc_create", call);
        }
        let (diff_src, diff_dst) = (&self.required(&x.diff_src)?, &self.required(&x.diff_dst)?);
        self.make("dnnl_softmax_backward_primitive_desc_create", (out, engine, alg, diff_src, diff_dst, dst, axis, self.hint, self.attr))
    }

    fn reduction(&self, x: &Reduction) -> Made {
        let (src, dst) = (&self.desc(&x.src)?, &self.desc(&x.dst)?);
        let call = (&self.out, self.engine, numbers::REDUCTION.of(x.alg), src, dst, x.p.get(), x.eps.get(), self.attr);
        self.make("dnnl_reduction_primitive_desc_create", call)
    }

    fn resampling(&self, x: &Resampling) -> Made {
        let (src, dst, alg) = (&self.desc(&x.src)?, &self.desc(&x.dst)?, numbers::RESAMPLING.of(x.alg));
        let factors = &factors(x);
        let (out, engine) = (&self.out, self.engine);
        if x.prop.is_forward() {
            let call = (out, engine, numbers::PROP.of(x.prop), alg, factors, src, dst, self.attr);
            return self.make("dnnl_resampling_forward_primitive_desc_create", call);
        }
        self.make("dnnl_resampling_backward_primitive_desc_create", (out, engine, alg, factors, src, dst, self.hint, self.attr))
    }

    fn binary(&self, x: &Binary) -> Made {
        let (src0, src1, dst, alg) = (&self.desc(&x.src0)?, &self.desc(&x.src1)?, &self.desc(&x.dst)?, numbers::BINARY.of(x.alg));
        let (out, engine) = (&self.out, self.engine);
        match self.optional(&x.src2)? {
            None => self.make("dnnl_binary_primitive_desc_create", (out, engine, alg, src0, src1, dst, self.attr)),
            Some(src2) => self.make("dnnl_binary_primitive_desc_create_v2", (out, engine, alg, src0, src1, &src2, dst, self.attr)),
        }
    }

    fn prelu(&self, x: &Prelu) -> Made {
        let (src, weights) = (&self.desc(&x.src)?, &self.desc(&x.weights)?);
        let (out, engine) = (&self.out, self.engine);
        if x.prop.is_forward() {
            let call = (out, engine, numbers::PROP.of(x.prop), src, weights, &self.required(&x.dst)?, self.attr);
            return self.make("dnnl_prelu_forward_primitive_desc_create", call);
        }
        let diff = (&self.required(&x.diff_src)?, &self.required(&x.diff_weights)?, &self.required(&x.diff_dst)?);
        self.make("dnnl_prelu_backward_primitive_desc_create", (out, engine, src, weights, diff.0, diff.1, diff.2, self.hint, self.attr))
    }

    fn shuffle(&self, x: &Shuffle) -> Made {
        let (src, dst, axis, size) = (&self.desc(&x.src)?, &self.desc(&x.dst)?, x.axis as i32, x.group_size);
        let (out, engine) = (&self.out, self.engine);
        if x.prop.is_forward() {
            return self.make(
                "dnnl_shuffle_forward_primitive_desc_create",
                (out, engine, numbers::PROP.of(x.prop), src, dst, axis, size, self.attr),
            );
        }
        self.make("dnnl_shuffle_backward_primitive_desc_create", (out, engine, src, dst, axis, size, self.hint, self.attr))
    }

    fn concat(&self, x: &Concat) -> Made {
        let srcs = x.srcs.iter().map(|t| self.desc(t)).collect::<Result<Vec<_>, _>>()?;
        let call = (&self.out, self.engine, &self.desc(&x.dst)?, Count(srcs.len()), x.axis as i32, &Descs::of(&srcs), self.attr);
        self.make("dnnl_concat_primitive_desc_create", call)
    }

    fn sum(&self, x: &Sum) -> Made {
        let srcs = x.srcs.iter().map(|t| self.desc(t)).collect::<Result<Vec<_>, _>>()?;
        let scales: Vec<f32> = x.scales.iter().map(|s| s.get()).collect();
        let call = (&self.out, self.engine, &self.desc(&x.dst)?, Count(srcs.len()), &scales[..], &Descs::of(&srcs), self.attr);
        self.make("dnnl_sum_primitive_desc_create", call)
    }

    fn reorder(&self, x: &Reorder) -> Made {
        self.reorder_between(&self.desc(&x.src)?, &self.desc(&x.dst)?)
    }

    /// The descriptor of a reorder from `src` to `dst`.
    pub(crate) fn reorder_between(&self, src: &Owned<Desc>, dst: &Owned<Desc>) -> Made {
        self.make("dnnl_reorder_primitive_desc_create", (&self.out, src, self.engine, dst, self.engine, self.attr))
    }
}

/// What convolution and deconvolution share.
struct Parts<'a> {
    prop: Prop,
    data: [&'a Tensor; 3],
    bias: &'a Option<Tensor>,
    window: &'a Window,
}

/// Strides, dilations and the two paddings.
fn window(w: &Window) -> [Sizes; 4] {
    [&w.strides, &w.dilations, &w.padding_l, &w.padding_r].map(|d| Sizes::of(d))
}

/// The factors, where they are not just the ratios of the sizes, which the library computes itself.
fn factors(x: &Resampling) -> Factors {
    let ratios = x.dst.dims().iter().zip(x.src.dims().iter()).skip(2).map(|(&o, &i)| Real::new(o as f32 / i as f32));
    if x.factors.is_empty() || ratios.eq(x.factors.iter().copied()) {
        return Factors(None);
    }
    let mut all = [0.0; 12];
    all.iter_mut().zip(&x.factors).for_each(|(a, f)| *a = f.get());
    Factors(Some(all))
}
