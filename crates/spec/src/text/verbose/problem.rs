//! Auxiliary and problem fields of a verbose line.

use super::super::drivers::{EPSILON, LRN_ALPHA, MASKS, SCALES, flag_letters};
use super::super::letters::Writer;
use super::super::values::name_in;
use crate::op::{
    ConvAlg, EltwiseAlg, LrnAlg, PoolAlg, ReductionAlg, ResamplingAlg, Rnn, RnnActivation, RnnCell, RnnDirection, SoftmaxAlg, Window,
};
use crate::{DataType, Dims, Op, RUNTIME, Real, Tensor};

const fn conv_alg(alg: ConvAlg) -> &'static str {
    match alg {
        ConvAlg::Direct => "direct",
        ConvAlg::Winograd => "winograd",
        ConvAlg::Auto => "auto",
    }
}

const fn reduction_alg(alg: ReductionAlg) -> &'static str {
    match alg {
        ReductionAlg::Max => "max",
        ReductionAlg::Min => "min",
        ReductionAlg::Sum => "sum",
        ReductionAlg::Mul => "mul",
        ReductionAlg::Mean => "mean",
        ReductionAlg::NormLpMax => "norm_lp_max",
        ReductionAlg::NormLpSum => "norm_lp_sum",
        ReductionAlg::NormLpPowerPMax => "norm_lp_power_p_max",
        ReductionAlg::NormLpPowerPSum => "norm_lp_power_p_sum",
    }
}

/// The specification's name of an eltwise algorithm, without `eltwise_`.
fn eltwise_alg(alg: EltwiseAlg) -> String {
    match alg.name().strip_suffix("_dst") {
        Some(base) => format!("{base}_use_dst_for_bwd"),
        None => alg.name().into(),
    }
}

fn rnn(r: &Rnn) -> String {
    let cell = match r.cell {
        RnnCell::Vanilla => "vanilla_rnn",
        RnnCell::Lstm => "vanilla_lstm",
        RnnCell::Gru => "vanilla_gru",
        RnnCell::LbrGru => "lbr_gru",
        RnnCell::Augru => "vanilla_augru",
        RnnCell::LbrAugru => "lbr_augru",
    };
    let direction = match r.direction {
        RnnDirection::Left2Right => "unidirectional_left2right",
        RnnDirection::Right2Left => "unidirectional_right2left",
        RnnDirection::BidirectionalConcat => "bidirectional_concat",
        RnnDirection::BidirectionalSum => "bidirectional_sum",
    };
    let activation = match (r.cell, r.activation) {
        (RnnCell::Vanilla, RnnActivation::Relu) => "eltwise_relu",
        (RnnCell::Vanilla, RnnActivation::Tanh) => "eltwise_tanh",
        (RnnCell::Vanilla, RnnActivation::Logistic) => "eltwise_logistic",
        _ => "undef",
    };
    let flags = if r.diff_weights_overwrite { "O" } else { "" };
    let alpha = if r.alpha.get() != 0.0 { format!(" alpha:{}", r.alpha) } else { String::new() };
    format!("alg:{cell} direction:{direction} activation:{activation}{alpha} flags:{flags}")
}

/// Algorithm, axis, flags.
pub(super) fn auxiliary(op: &Op) -> String {
    match op {
        Op::Conv(c) => format!("alg:convolution_{}", conv_alg(c.alg)),
        Op::Deconv(c) => format!("alg:deconvolution_{}", conv_alg(c.alg)),
        Op::Matmul(m) if m.src.dims().has_runtime() || m.weights.dims().has_runtime() => {
            let mask = |t: &Tensor| t.dims().iter().enumerate().filter(|(_, v)| **v == RUNTIME).map(|(d, _)| 1u32 << d).sum::<u32>();
            format!("runtime_dims_masks:{}:{}", mask(&m.src), mask(&m.weights))
        }
        Op::BatchNorm(n) => format!("flags:{}", flag_letters(&n.flags)),
        Op::LayerNorm(n) => {
            let eps = if n.epsilon == Real::new(EPSILON) { String::new() } else { format!(" eps:{}", n.epsilon) };
            let parameter = n.scale.as_ref().or(n.shift.as_ref()).or(n.diff_shift.as_ref()).filter(|p| p.dtype != DataType::F32);
            format!("flags:{}{eps}{}", flag_letters(&n.flags), parameter.map_or_else(String::new, |p| format!(" ss_dt:{}", p.dtype)))
        }
        Op::Sum(s) if s.scales.iter().any(|v| v.get() != 1.0) => {
            format!("scales:{}", s.scales.iter().map(Real::to_string).collect::<Vec<_>>().join(":"))
        }
        Op::Sdpa(s) => format!("mask:{} scale:{}", name_in(&MASKS, s.mask_kind), name_in(&SCALES, s.scale_kind)),
        Op::GroupNorm(n) => format!("flags:{}", flag_letters(&n.flags)),
        Op::Lrn(l) => match l.alg {
            LrnAlg::AcrossChannels => "alg:lrn_across_channels".into(),
            LrnAlg::WithinChannel => "alg:lrn_within_channel".into(),
        },
        Op::Pool(p) => match p.alg {
            PoolAlg::Max => "alg:pooling_max".into(),
            PoolAlg::AvgIncludePadding => "alg:pooling_avg_include_padding".into(),
            PoolAlg::AvgExcludePadding => "alg:pooling_avg_exclude_padding".into(),
        },
        Op::Eltwise(e) => format!("alg:eltwise_{} alpha:{} beta:{}", eltwise_alg(e.alg), e.alpha, e.beta),
        Op::Softmax(s) => {
            let alg = match s.alg {
                SoftmaxAlg::Accurate => "accurate",
                SoftmaxAlg::Log => "log",
                SoftmaxAlg::InfAsZero => "accurate_inf_as_zero",
            };
            format!("alg:softmax_{alg} axis:{}", s.axis)
        }
        Op::Reduction(r) => format!("alg:reduction_{} p:{} eps:{}", reduction_alg(r.alg), r.p, r.eps),
        Op::Resampling(r) => match r.alg {
            ResamplingAlg::Nearest => "alg:resampling_nearest".into(),
            ResamplingAlg::Linear => "alg:resampling_linear".into(),
        },
        Op::Binary(b) => format!("alg:binary_{}", b.alg.name()),
        Op::Shuffle(s) => format!("axis:{} group:{}", s.axis, s.group_size),
        Op::Concat(c) => format!("axis:{}", c.axis),
        Op::Rnn(r) => rnn(r),
        Op::InnerProduct(_) | Op::Matmul(_) | Op::Prelu(_) | Op::Sum(_) | Op::Reorder(_) => String::new(),
    }
}

fn at(t: &Tensor, d: usize) -> i64 {
    t.dims().get(d).copied().unwrap_or(0)
}

/// Sizes behind batch and channels.
fn spatial(t: &Tensor) -> Dims {
    t.dims().get(2..).and_then(Dims::new).unwrap_or_default()
}

/// `mb` and `ic`, and the sizes behind them.
fn plain(src: &Tensor) -> Writer {
    let mut w = Writer::default();
    w.size("mb", at(src, 0));
    w.size("ic", at(src, 1));
    w.all('i', &spatial(src));
    w
}

/// The same, and an epsilon that is not the default.
fn norm(src: &Tensor, epsilon: Real) -> String {
    let mut w = plain(src);
    w.real("eps", epsilon, EPSILON);
    w.0
}

/// `_ih7oh7kh3sh1dh0ph1` for each spatial dimension.
fn windows(w: &mut Writer, kinds: &[(char, &[i64])]) {
    let n = kinds.first().map_or(0, |(_, v)| v.len()).min(3);
    for (d, dim) in ["d", "h", "w"][3 - n..].iter().enumerate() {
        w.0.push('_');
        for (kind, v) in kinds {
            w.size(&format!("{kind}{dim}"), v.get(d).copied().unwrap_or(0));
        }
    }
}

fn conv(src: &Tensor, weights: &Tensor, dst: &Tensor, window: &Window) -> String {
    let mut w = Writer::default();
    if weights.dims().len() > src.dims().len() {
        w.size("g", at(weights, 0));
    }
    w.size("mb", at(src, 0));
    w.size("_ic", at(src, 1));
    w.size("oc", at(dst, 1));
    let kernel = &weights.dims()[weights.dims().len().saturating_sub(spatial(src).len())..];
    let Window { strides, dilations, padding_l, .. } = window;
    let (i, o) = (spatial(src), spatial(dst));
    windows(&mut w, &[('i', &i), ('o', &o), ('k', kernel), ('s', strides), ('d', dilations), ('p', padding_l)]);
    w.0
}

/// The sizes.
pub(super) fn sizes(op: &Op) -> String {
    let join = |tensors: &[&Tensor]| tensors.iter().map(|t| t.dims().to_string()).collect::<Vec<_>>().join(":");
    match op {
        Op::Conv(c) => conv(&c.src, &c.weights, &c.dst, &c.window),
        Op::Deconv(c) => conv(&c.src, &c.weights, &c.dst, &c.window),
        Op::InnerProduct(p) => {
            let mut w = plain(&p.src);
            w.size("oc", at(&p.dst, 1));
            w.0
        }
        Op::BatchNorm(n) => norm(&n.src, n.epsilon),
        Op::GroupNorm(n) => format!("g{}{}", n.groups, norm(&n.src, n.epsilon)),
        Op::Lrn(l) => {
            let mut w = plain(&l.src);
            w.size("ls", l.local_size);
            w.real("alpha", l.alpha, LRN_ALPHA);
            w.0 += &format!("beta{}", l.beta);
            w.real("k", l.k, 1.0);
            w.0
        }
        Op::Pool(p) => {
            let mut w = Writer::default();
            w.size("mb", at(&p.src, 0));
            w.size("ic", at(&p.src, 1));
            let Window { strides, dilations, padding_l, .. } = &p.window;
            let (i, o) = (spatial(&p.src), spatial(&p.dst));
            windows(&mut w, &[('i', &i), ('o', &o), ('k', &p.kernel), ('s', strides), ('d', dilations), ('p', padding_l)]);
            w.0
        }
        Op::Resampling(r) => {
            let mut w = Writer::default();
            w.size("mb", at(&r.src, 0));
            w.size("ic", at(&r.src, 1));
            windows(&mut w, &[('i', &spatial(&r.src)), ('o', &spatial(&r.dst))]);
            w.0
        }
        Op::Matmul(m) => join(&[&m.src, &m.weights]),
        Op::LayerNorm(n) => join(&[&n.src]),
        Op::Eltwise(e) => join(&[&e.src]),
        Op::Softmax(s) => join(&[&s.dst]),
        Op::Shuffle(s) => join(&[&s.src]),
        Op::Reorder(r) => join(&[&r.src]),
        Op::Sum(s) => join(&[&s.dst]),
        Op::Reduction(r) => join(&[&r.src, &r.dst]),
        Op::Prelu(p) => join(&[&p.src, &p.weights]),
        Op::Binary(b) => join(&[&b.src0, &b.src1].into_iter().chain(&b.src2).collect::<Vec<_>>()),
        Op::Concat(c) => join(&c.srcs.iter().collect::<Vec<_>>()),
        Op::Sdpa(s) => join(&[&s.q, &s.k, &s.v]),
        Op::Rnn(r) => {
            let mut w = Writer::default();
            let dlc = at(&r.dst_layer, 2);
            let dic = if r.direction == RnnDirection::BidirectionalConcat { dlc / 2 } else { dlc };
            let (layer, iter) = (&r.weights_layer, &r.weights_iter);
            let all =
                [("l", at(layer, 0)), ("t", at(&r.src_layer, 0)), ("mb", at(&r.src_layer, 1)), ("sic", at(iter, 2)), ("slc", at(layer, 2))];
            all.into_iter().chain([("dhc", at(layer, 4)), ("dic", dic)]).for_each(|(key, v)| w.size(key, v));
            w.0
        }
    }
}
