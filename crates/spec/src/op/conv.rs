//! Convolution and deconvolution (transposed convolution).

use super::{Prop, operands};
use crate::check::types::{BF16, DATA, F4, F8, F16, F32, F64, FP, Pass, S8, TypeTable, X8, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Attr, Dims, Error, PostOp, RUNTIME, Tensor};

/// How a kernel slides over the spatial dimensions; one entry a spatial dimension (1 to 3).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Window {
    /// Distance between two applications of the kernel, at least 1.
    pub strides: Dims,
    /// Extra distance between kernel elements; 0 for a dense kernel.
    pub dilations: Dims,
    /// Padding before.
    pub padding_l: Dims,
    /// Padding after.
    pub padding_r: Dims,
}

/// Requested convolution algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConvAlg {
    /// Sums of products.
    Direct,
    /// Winograd's minimal filtering, a quarter of the multiplications of a 3x3 window. Results are computed in tiles of 4x4, which share
    /// the 6x6 pixels of their windows. The error of each result is up to 2e-5 of the tile's largest pixel times the weights. A pixel that
    /// is infinite, NaN or beyond 1e36 makes all 16 results NaN, those whose windows do not contain it as well.
    Winograd,
    /// The faster of the two, with the treatment of non-finite pixels that follows from it; with [`ConvAlg::Direct`] a pixel reaches only
    /// the results whose windows contain it.
    Auto,
}

/// Convolution: `dst[n,oc,o..] = bias[oc] + sum(src[n,ic,o*s - pl + k*(d+1)..] * weights[oc,ic,k..])`.
///
/// `src` is N x IC x spatial, `weights` `[G x] OC/G x IC/G x kernel`, `bias` OC, `dst` N x OC x spatial. In a backward pass the tensor
/// of the gradient computed (or given) stands in the same field: `src` is `diff_src` with [`Prop::BackwardData`], `weights` and `bias` are
/// the gradients with [`Prop::BackwardWeights`], and `dst` is `diff_dst` in both.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Conv {
    /// Which pass; not [`Prop::Backward`].
    pub prop: Prop,
    /// Algorithm.
    pub alg: ConvAlg,
    /// Source (gradient).
    pub src: Tensor,
    /// Weights (gradient).
    pub weights: Tensor,
    /// Bias (gradient).
    pub bias: Option<Tensor>,
    /// Destination (gradient). With a depthwise post-op it is not an argument but the intermediate result of the 1x1 convolution, rounded
    /// to its type; its layout means nothing.
    pub dst: Tensor,
    /// Strides, dilations, paddings.
    pub window: Window,
    /// Weights of a depthwise post-op: OC x 1 x 1 x k x k (groups first); set from the attributes by [`crate::Problem::new`].
    pub depthwise_weights: Option<Tensor>,
    /// Bias of a depthwise post-op, OC.
    pub depthwise_bias: Option<Tensor>,
    /// Destination of a depthwise post-op, N x OC x ceil(OH / stride) x ceil(OW / stride); then this one is [`Arg::DST`].
    pub depthwise_dst: Option<Tensor>,
}

/// Transposed convolution: the backward-data pass of a [`Conv`] as a forward operation.
///
/// Shapes as for [`Conv`], with `weights` `[G x] OC/G x IC/G x kernel` by the deconvolution's own input and output channels.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Deconv {
    /// Which pass; not [`Prop::Backward`].
    pub prop: Prop,
    /// Algorithm; [`ConvAlg::Auto`] is taken as direct.
    pub alg: ConvAlg,
    /// Source (gradient).
    pub src: Tensor,
    /// Weights (gradient).
    pub weights: Tensor,
    /// Bias (gradient).
    pub bias: Option<Tensor>,
    /// Destination (gradient).
    pub dst: Tensor,
    /// Strides, dilations, paddings.
    pub window: Window,
}

operands!(Conv { prop, src, weights, bias, dst, depthwise_weights, depthwise_bias, depthwise_dst }, o => {
    if prop.is_forward() {
        o.input(Arg::SRC, src);
        o.input(Arg::WEIGHTS, weights);
        o.input(Arg::BIAS, bias);
        o.input(Arg::depthwise(Arg::WEIGHTS), depthwise_weights);
        o.input(Arg::depthwise(Arg::BIAS), depthwise_bias);
        match depthwise_dst {
            Some(last) => o.output(Arg::DST, last),
            None => o.output(Arg::DST, dst),
        }
    } else {
        o.product(*prop, src, weights, bias, dst);
    }
});

operands!(Deconv { prop, src, weights, bias, dst }, o => {
    o.product(*prop, src, weights, bias, dst);
});

/// Sizes of a convolution, spatial dimensions always three (depth, height, width; leading ones 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConvSizes {
    /// Batch.
    pub mb: i64,
    /// Groups.
    pub g: i64,
    /// Input channels of one group.
    pub ic: i64,
    /// Output channels of one group.
    pub oc: i64,
    /// Input sizes.
    pub i: [i64; 3],
    /// Output sizes.
    pub o: [i64; 3],
    /// Kernel sizes.
    pub k: [i64; 3],
    /// Strides.
    pub s: [i64; 3],
    /// Distances between kernel elements: dilation + 1.
    pub d: [i64; 3],
    /// Padding before.
    pub pl: [i64; 3],
    /// Padding after.
    pub pr: [i64; 3],
}

impl ConvSizes {
    /// Sizes from the tensors; `src` and `dst` as the operation names them.
    pub(crate) fn of(src: &Tensor, weights: &Tensor, dst: &Tensor, window: &Window) -> ConvSizes {
        let (s, w, d) = (src.dims(), weights.dims(), dst.dims());
        let grouped = usize::from(w.len() == s.len() + 1);
        let spatial = s.len() - 2;
        let three = |v: &[i64], fill: i64| {
            let mut out = [fill; 3];
            out[3 - spatial..].copy_from_slice(&v[v.len() - spatial..]);
            out
        };
        ConvSizes {
            mb: s[0],
            g: if grouped == 1 { w[0] } else { 1 },
            oc: w[grouped],
            ic: w[grouped + 1],
            i: three(s, 1),
            o: three(d, 1),
            k: three(w, 1),
            s: three(&window.strides, 1),
            d: three(&window.dilations, 0).map(|d| d + 1),
            pl: three(&window.padding_l, 0),
            pr: three(&window.padding_r, 0),
        }
    }
}

impl Window {
    /// Output sizes of a forward convolution or pooling of `input` by `kernel`: `(i + pl + pr - ((k - 1) * (d + 1) + 1)) / s + 1` a spatial
    /// dimension, rounded down; `None` if that is negative or overflows.
    pub fn output(&self, input: &[i64], kernel: &[i64]) -> Option<Dims> {
        let mut out = Dims::default();
        for (j, (&i, &k)) in input.iter().zip(kernel).enumerate() {
            out.push(self.along(j, i, k).filter(|_| j < 3)?);
        }
        Some(out)
    }

    /// The output size along spatial dimension `j`.
    fn along(&self, j: usize, i: i64, k: i64) -> Option<i64> {
        let s = *self.strides.get(j)?;
        let (pl, pr) = (*self.padding_l.get(j)?, *self.padding_r.get(j)?);
        let room = i.checked_add(pl)?.checked_add(pr)?.checked_sub(self.span(j, k)?)?;
        if s < 1 || room < -s { None } else { Some(room.div_euclid(s) + 1) }
    }

    /// The extent of a kernel of `k` elements along spatial dimension `j`.
    fn span(&self, j: usize, k: i64) -> Option<i64> {
        k.checked_sub(1)?.checked_mul(self.dilations.get(j)?.checked_add(1)?)?.checked_add(1)
    }

    /// Input and output sizes along spatial dimension `j` that fit each other, one or both of which are given at execution; around `narrow`
    /// if both are.
    pub(super) fn example(&self, j: usize, k: i64, [wide, narrow]: [i64; 2], around: i64) -> Option<[i64; 2]> {
        let (s, pl, pr) = (*self.strides.get(j)?, *self.padding_l.get(j)?, *self.padding_r.get(j)?);
        let reach = |narrow: i64| narrow.checked_sub(1)?.checked_mul(s)?.checked_add(self.span(j, k)?)?.checked_sub(pl)?.checked_sub(pr);
        let wide = match (wide, narrow) {
            (RUNTIME, RUNTIME) => reach(around)?.max(1),
            (RUNTIME, narrow) => reach(narrow)?.max(1),
            (wide, _) => wide,
        };
        Some([wide, if narrow == RUNTIME { self.along(j, wide, k)? } else { narrow }])
    }
}

impl Conv {
    pub(super) fn check(&self) -> Checked {
        let Conv { prop, src, weights, bias, dst, window, .. } = self;
        Parts { prop: *prop, src, weights, bias, dst, window }.check(false)
    }

    /// A convolution without depthwise post-op, or with one whose tensors [`crate::Problem::new`] adds.
    pub fn new(prop: Prop, alg: ConvAlg, [src, weights, dst]: [Tensor; 3], bias: Option<Tensor>, window: Window) -> Conv {
        Conv { prop, alg, src, weights, bias, dst, window, depthwise_weights: None, depthwise_bias: None, depthwise_dst: None }
    }

    /// The sizes with three spatial dimensions (of the 1x1 convolution, where a depthwise post-op follows).
    pub fn sizes(&self) -> ConvSizes {
        ConvSizes::of(&self.src, &self.weights, &self.dst, &self.window)
    }

    /// Sizes of the depthwise post-op of `attr`, whose source is the 1x1 convolution's result; `None` if there is no such post-op.
    pub fn depthwise_sizes(&self, attr: &Attr) -> Option<ConvSizes> {
        let (kernel, stride, padding) = depthwise(attr)?;
        let base = self.sizes();
        let two = |v: i64, lead: i64| [lead, v, v];
        let mut sizes = ConvSizes { mb: base.mb, g: base.g * base.oc, ic: 1, oc: 1, i: base.o, ..base };
        (sizes.k, sizes.s, sizes.d) = (two(kernel, 1), two(stride, 1), [1; 3]);
        (sizes.pl, sizes.pr) = (two(padding, 0), [0; 3]);
        for d in 1..3 {
            sizes.o[d] = ceil_div(sizes.i[d], stride);
            sizes.pr[d] = (sizes.o[d] - 1) * stride + kernel - sizes.i[d] - padding;
        }
        Some(sizes)
    }

    /// The tensors of a depthwise post-op.
    pub(super) fn derive(&mut self, attr: &Attr) {
        let [n, oc, h, w] = **self.dst.dims() else { return };
        match attr.depthwise_index().map(|i| &attr.post_ops[i]) {
            Some(&PostOp::Depthwise { weights, bias, dst, kernel, stride, .. }) if stride > 0 => {
                let last = Dims::from([n, oc, ceil_div(h, stride), ceil_div(w, stride)]);
                self.depthwise_weights.get_or_insert_with(|| Tensor::any([oc, 1, 1, kernel, kernel], weights));
                self.depthwise_dst.get_or_insert_with(|| Tensor { dtype: dst, layout: self.dst.layout.resized(last) });
                if let (None, Some(bias)) = (&self.depthwise_bias, bias) {
                    self.depthwise_bias = Some(Tensor::any([oc], bias));
                }
            }
            _ => {}
        }
    }
}

/// `a / b` rounded up, for `b > 0`.
fn ceil_div(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b > 0)
}

/// Kernel, stride and padding of the depthwise post-op.
fn depthwise(attr: &Attr) -> Option<(i64, i64, i64)> {
    match attr.post_ops[attr.depthwise_index()?] {
        PostOp::Depthwise { kernel, stride, padding, .. } => Some((kernel, stride, padding)),
        _ => None,
    }
}

impl Deconv {
    pub(super) fn check(&self) -> Checked {
        let Deconv { prop, src, weights, bias, dst, window, .. } = self;
        Parts { prop: *prop, src, weights, bias, dst, window }.check(true)
    }

    /// A deconvolution.
    pub fn new(prop: Prop, alg: ConvAlg, [src, weights, dst]: [Tensor; 3], bias: Option<Tensor>, window: Window) -> Deconv {
        Deconv { prop, alg, src, weights, bias, dst, window }
    }

    /// The sizes with three spatial dimensions; `i` is the deconvolution's source, `o` its (larger) destination.
    pub fn sizes(&self) -> ConvSizes {
        ConvSizes::of(&self.src, &self.weights, &self.dst, &self.window)
    }
}

/// Data types; for deconvolution too.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src", "weights", "dst", "bias"],
    rows: &[
        row(Pass::Forward, &[F32, FP, F32.or(X8), F32]),
        row(Pass::Forward, &[F16, F16, F16.or(F32).or(X8), F16.or(F32)]),
        row(Pass::Forward, &[BF16, BF16, BF16.or(F32).or(X8), BF16.or(F32)]),
        row(Pass::Forward, &[F8, F8, F8.or(FP).or(X8), F8.or(FP)]),
        row(Pass::Forward, &[F4, F4, F4.or(FP), FP]),
        row(Pass::Forward, &[X8, S8, DATA, DATA]),
        row(Pass::BackwardData, &[F32, F32, F32]),
        row(Pass::BackwardData, &[BF16.or(F32), BF16, BF16]),
        row(Pass::BackwardData, &[F16.or(F32), F16, F16]),
        row(Pass::BackwardData, &[F8.or(FP), F8, F8]),
        row(Pass::BackwardData, &[DATA, S8, X8]),
        row(Pass::BackwardWeights, &[F32, F32, F32, F32]),
        row(Pass::BackwardWeights, &[BF16, BF16.or(F32), BF16, BF16.or(F32)]),
        row(Pass::BackwardWeights, &[F16, F16.or(F32), F16, F16.or(F32)]),
        row(Pass::BackwardWeights, &[F8, F8.or(FP), F8, F8.or(FP)]),
        row(Pass::Every, &[F64, F64, F64, F64]),
    ],
};

/// Tensors of a convolution or deconvolution, for the rules that both keep.
struct Parts<'a> {
    prop: Prop,
    src: &'a Tensor,
    weights: &'a Tensor,
    bias: &'a Option<Tensor>,
    dst: &'a Tensor,
    window: &'a Window,
}

impl Parts<'_> {
    /// The rules of ranks, channels, batch, window and types; `transposed` where the window slides over the destination.
    fn check(&self, transposed: bool) -> Checked {
        let Parts { prop, src, weights, bias, dst, window } = *self;
        check::prop(prop, check::WEIGHTS_PROPS)?;
        let args = match prop {
            Prop::BackwardData => [Arg::DIFF_SRC, Arg::WEIGHTS, Arg::DIFF_DST],
            Prop::BackwardWeights => [Arg::SRC, Arg::DIFF_WEIGHTS, Arg::DIFF_DST],
            _ => [Arg::SRC, Arg::WEIGHTS, Arg::DST],
        };
        check::rank(args[0], src, 3..=5)?;
        let (s, w, d) = (src.dims(), weights.dims(), dst.dims());
        check::rank(args[1], weights, s.len()..=s.len() + 1)?;
        check::rank(args[2], dst, s.len()..=s.len())?;
        let (groups, w) = if w.len() > s.len() { (w[0], &w[1..]) } else { (1, &w[..]) };
        let times = |c: i64| groups.checked_mul(c).unwrap_or(i64::MAX);
        ensure(
            s[1] == times(w[1]),
            args[0],
            format_args!("{} channels", s[1]),
            format_args!("groups x input channels of the weights = {}", times(w[1])),
        )?;
        ensure(
            d[1] == times(w[0]),
            args[2],
            format_args!("{} channels", d[1]),
            format_args!("groups x output channels of the weights = {}", times(w[0])),
        )?;
        ensure(d[0] == s[0], args[2], format_args!("batch {}", d[0]), format_args!("batch {} as the source", s[0]))?;
        if prop == Prop::BackwardData {
            check::presence(Arg::BIAS, bias, false)?;
        }
        check::dims_if(if prop == Prop::BackwardWeights { Arg::DIFF_BIAS } else { Arg::BIAS }, bias, &[d[1]])?;
        let (wide, narrow) = if transposed { (d, (args[0], s)) } else { (s, (args[2], d)) };
        window.check(&wide[2..], &w[2..], narrow.0, &narrow.1[2..])?;
        TYPES.check(Some(prop), &[Some(src.dtype), Some(weights.dtype), Some(dst.dtype), bias.as_ref().map(|b| b.dtype)])
    }
}

/// Of strides, dilations and paddings: with it, places are numbers that do not overflow.
const LARGEST: i64 = 1 << 62;

impl Window {
    /// Ranks and signs, and that `narrow` is the output size of sliding `kernel` over `wide`.
    pub(super) fn check(&self, wide: &[i64], kernel: &[i64], narrow_arg: Arg, narrow: &[i64]) -> Checked {
        let n = wide.len();
        for (name, list, least) in [
            ("strides", &self.strides, 1),
            ("dilations", &self.dilations, 0),
            ("padding_l", &self.padding_l, 0),
            ("padding_r", &self.padding_r, i64::MIN + 1),
        ] {
            ensure(list.len() == n, name, list, format_args!("{n} numbers, one a spatial dimension"))?;
            ensure(list.iter().all(|&v| v >= least), name, list, format_args!("numbers of at least {least}"))?;
            ensure(list.iter().all(|&v| v <= LARGEST), name, list, "numbers of at most 2^62")?;
        }
        ensure(kernel.iter().all(|&k| k >= 1), "kernel", format_args!("{kernel:?}"), "sizes of at least 1")?;
        let ends = self.padding_r.iter().zip(self.strides.iter()).all(|(&p, &s)| p > 0 || p + s >= 0);
        ensure(ends, "padding_r", self.padding_r, "at least minus the stride")?;
        let output = (0..n).map(|j| match check::open(wide[j], narrow[j]) {
            true => Some(narrow[j]),
            false => self.along(j, wide[j], kernel[j]),
        });
        let output: Option<Vec<i64>> = output.collect();
        let got = format_args!("spatial sizes {narrow:?}");
        match output {
            Some(output) => {
                ensure(*output == *narrow, narrow_arg, got, format_args!("{output:?} by kernel, strides, dilations and padding"))
            }
            None => Err(Error::arg(narrow_arg, got, "a kernel that fits into the padded input")),
        }
    }
}
