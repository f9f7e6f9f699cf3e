//! Execution of fused operations.

use super::{ConstPack, Param, VariantPack};
use crate::activation::ActivationDesc;
use crate::conv::algorithms::How;
use crate::conv::request::{Pass, Places, Request, Settings};
use crate::enums::*;
use crate::exec::{Blend, Job, Workspace};
use crate::handle::Handle;
use crate::loops::view::View;
use crate::pointers::Data;
use crate::reduce::{squares_to, sum_to};
use crate::status::Failure;
use oxidnn_runtime::ALIGNMENT;
use oxidnn_spec::op::{Binary, BinaryAlg, ConvAlg, Eltwise, EltwiseAlg, Prop};
use oxidnn_spec::{Arg, PostOp, Tensor};

/// Scratch of the convolution is the library's: the workspace is for its inputs.
const HOW: How = How { alg: ConvAlg::Direct, own: false };

/// The caller's pointers, with the labels that tell whether they are present.
const PLACEHOLDERS: &[(i32, i32)] = &[
    (CUDNN_PTR_XDATA, CUDNN_PARAM_XDATA_PLACEHOLDER),
    (CUDNN_PTR_BN_EQSCALE, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER),
    (CUDNN_PTR_BN_EQBIAS, CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER),
    (CUDNN_PTR_WDATA, CUDNN_PARAM_WDATA_PLACEHOLDER),
    (CUDNN_PTR_DWDATA, CUDNN_PARAM_DWDATA_PLACEHOLDER),
    (CUDNN_PTR_YDATA, CUDNN_PARAM_YDATA_PLACEHOLDER),
    (CUDNN_PTR_DYDATA, CUDNN_PARAM_DYDATA_PLACEHOLDER),
    (CUDNN_PTR_YSUM, CUDNN_PARAM_YSUM_PLACEHOLDER),
    (CUDNN_PTR_YSQSUM, CUDNN_PARAM_YSQSUM_PLACEHOLDER),
    (CUDNN_PTR_BN_SCALE, CUDNN_PARAM_BN_SCALE_PLACEHOLDER),
    (CUDNN_PTR_BN_BIAS, CUDNN_PARAM_BN_BIAS_PLACEHOLDER),
    (CUDNN_PTR_BN_SAVED_MEAN, CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER),
    (CUDNN_PTR_BN_SAVED_INVSTD, CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER),
    (CUDNN_PTR_BN_RUNNING_MEAN, CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER),
    (CUDNN_PTR_BN_RUNNING_VAR, CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER),
    (CUDNN_PTR_ZDATA, CUDNN_PARAM_ZDATA_PLACEHOLDER),
];

impl ConstPack {
    fn param(&self, label: i32) -> Result<&Param, Failure> {
        let missing = || Failure::invalid("constPack", "nothing", name("cudnnFusedOpsConstParamLabel_t", label));
        self.set.get(&label).ok_or_else(missing)
    }

    fn tensor(&self, label: i32) -> Result<&Tensor, Failure> {
        match self.param(label)? {
            Param::Tensor(desc) => desc.tensor(&name("cudnnFusedOpsConstParamLabel_t", label)),
            other => Err(Failure::invalid("constPack", format_args!("{other:?}"), "a tensor descriptor")),
        }
    }

    /// Whether a pointer will be present.
    fn has(&self, pointer: i32) -> bool {
        let label = PLACEHOLDERS.iter().find(|p| p.0 == pointer).map(|p| p.1);
        label.is_some_and(|l| matches!(self.set.get(&l), Some(Param::Number(n)) if *n != CUDNN_PTR_NULL))
    }

    fn activation(&self) -> Option<&ActivationDesc> {
        match self.set.get(&CUDNN_PARAM_ACTIVATION_DESC) {
            Some(Param::Activation(desc)) if !desc.is_identity() => Some(desc),
            _ => None,
        }
    }

    /// The convolution.
    fn request(&self) -> Result<Request, Failure> {
        let (pass, filter, dst) = match self.ops {
            CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD => (Pass::Filter, CUDNN_PARAM_DWDESC, CUDNN_PARAM_DYDESC),
            _ => (Pass::Forward, CUDNN_PARAM_WDESC, CUDNN_PARAM_YDESC),
        };
        let (Param::Filter(filter), Param::Conv(conv)) = (self.param(filter)?, self.param(CUDNN_PARAM_CONV_DESC)?) else {
            return Err(Failure::invalid("constPack", "other parameters", "a filter and a convolution descriptor"));
        };
        Request::new(pass, [self.tensor(CUDNN_PARAM_XDESC)?, self.tensor(dst)?], filter.filter("WDESC")?, conv)
    }

    /// Whether the convolution has a prologue on its source.
    fn has_prologue(&self) -> bool {
        self.ops != CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION
            && (self.has(CUDNN_PTR_BN_EQSCALE) || self.has(CUDNN_PTR_BN_EQBIAS) || self.activation().is_some())
    }

    /// Checks the constants; returns the bytes of workspace of an execution.
    pub(super) fn prepare(&self, handle: &Handle) -> Result<usize, Failure> {
        match self.ops {
            CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING | CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE => {
                self.tensor(CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC)?;
                Ok(0)
            }
            CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK | CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM => {
                Err(Failure::unsupported(format_args!("{}, which cudnn_cnn.h reserves for future use", name("cudnnFusedOps_t", self.ops))))
            }
            _ => {
                self.request()?.made(handle.engine(), HOW)?;
                let source = self.tensor(CUDNN_PARAM_XDESC)?.bytes() + (ALIGNMENT - 1);
                Ok(if self.has_prologue() { source } else { 0 })
            }
        }
    }

    /// Computes.
    pub(super) fn execute(&self, handle: &Handle, pack: &VariantPack) -> Result<(), Failure> {
        match self.ops {
            CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING => self.statistics(handle, pack, true),
            CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE => self.statistics(handle, pack, false),
            CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION => self.epilogue(handle, pack),
            _ => self.prologue(handle, pack),
        }
    }

    /// The caller's pointer, if it is to be present.
    fn at(&self, pack: &VariantPack, label: i32) -> Result<Option<Data>, Failure> {
        match self.has(label) {
            true => self.needed(pack, label).map(Some),
            false => Ok(None),
        }
    }

    fn needed(&self, pack: &VariantPack, label: i32) -> Result<Data, Failure> {
        pack.pointers.get(&label).copied().unwrap_or(Data::NULL).some(&name("cudnnFusedOpsVariantParamLabel_t", label))
    }

    /// The epilogue as post-ops: scale (unless already applied), bias, and residuals, as far as present.
    fn tail(&self, pack: &VariantPack, scale: bool, added: Option<(Tensor, Data)>) -> Result<Vec<(PostOp, Option<Data>)>, Failure> {
        let eq = || self.tensor(CUDNN_PARAM_BN_EQSCALEBIAS_DESC).cloned();
        let mut operands = Vec::new();
        if let Some(at) = self.at(pack, CUDNN_PTR_BN_EQSCALE)?.filter(|_| scale) {
            operands.push((BinaryAlg::Mul, eq()?, at));
        }
        if let Some(at) = self.at(pack, CUDNN_PTR_BN_EQBIAS)? {
            operands.push((BinaryAlg::Add, eq()?, at));
        }
        operands.extend(added.map(|(tensor, at)| (BinaryAlg::Add, tensor, at)));
        let binary = |(alg, src1, at)| (PostOp::Binary { alg, src1, src2: None }, Some(at));
        Ok(operands.into_iter().map(binary).collect())
    }

    /// The job with its epilogue and activation, and its result in `dst`.
    fn ended(&self, handle: &Handle, job: Job, tail: Vec<(PostOp, Option<Data>)>, dst: &Tensor) -> Result<Job, Failure> {
        let job = append(job, tail);
        match self.activation() {
            Some(activation) => activation.behind(job, handle.engine(), dst.dtype, dst.dims().len()),
            None => Ok(job),
        }
    }

    /// Scale, bias and activation of the source, then a convolution with statistics of its result, or a filter gradient.
    fn prologue(&self, handle: &Handle, pack: &VariantPack) -> Result<(), Failure> {
        let (request, tensor) = (self.request()?, self.tensor(CUDNN_PARAM_XDESC)?);
        let mut src = self.needed(pack, CUDNN_PTR_XDATA)?;
        if self.has_prologue() {
            let need = self.prepare(handle)?;
            if pack.workspace < need {
                return Err(Failure::small("CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES", pack.workspace, need));
            }
            let space = self.needed(pack, CUDNN_PTR_WORKSPACE)?;
            let space = space.behind(space.number().next_multiple_of(ALIGNMENT) - space.number());
            let job = match self.at(pack, CUDNN_PTR_BN_EQSCALE)? {
                Some(scale) => {
                    let src1 = self.tensor(CUDNN_PARAM_BN_EQSCALEBIAS_DESC)?.clone();
                    let op = Binary { alg: BinaryAlg::Mul, src0: tensor.clone(), src1, src2: None, dst: tensor.clone() };
                    Job::new(op).arg(Arg::SRC, src).arg(Arg::SRC_1, scale)
                }
                None => {
                    let op = Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Linear, [1.0, 0.0], tensor.clone(), tensor.clone());
                    Job::new(op).arg(Arg::SRC, src)
                }
            };
            self.ended(handle, job.arg(Arg::DST, space), self.tail(pack, false, None)?, tensor)?.run(handle)?;
            src = space;
        }
        let (weights, dst) = match request.pass {
            Pass::Filter => (CUDNN_PTR_DWDATA, CUDNN_PTR_DYDATA),
            _ => (CUDNN_PTR_WDATA, CUDNN_PTR_YDATA),
        };
        let places = Places { src, weights: self.needed(pack, weights)?, dst: self.needed(pack, dst)? };
        request.run(handle, places, SETTINGS, Ok)?;
        if request.pass == Pass::Filter {
            return Ok(());
        }
        let from = (self.tensor(CUDNN_PARAM_YDESC)?, places.dst);
        if let Some(at) = self.at(pack, CUDNN_PTR_YSUM)? {
            sum_to(handle, from.into(), (self.tensor(CUDNN_PARAM_YSTATS_DESC)?, at).into(), Blend::PLAIN)?;
        }
        match self.at(pack, CUDNN_PTR_YSQSUM)? {
            Some(at) => squares_to(handle, from.into(), (self.tensor(CUDNN_PARAM_YSTATS_DESC)?, at).into()),
            None => Ok(()),
        }
    }

    /// A convolution, then scale, bias, a sum and an activation.
    fn epilogue(&self, handle: &Handle, pack: &VariantPack) -> Result<(), Failure> {
        let added = match self.at(pack, CUDNN_PTR_ZDATA)? {
            Some(at) => Some((self.tensor(CUDNN_PARAM_ZDESC)?.clone(), at)),
            None => None,
        };
        let request = self.request()?;
        let pointers = [CUDNN_PTR_XDATA, CUDNN_PTR_WDATA, CUDNN_PTR_YDATA];
        let [src, weights, dst] = pointers.map(|label| self.needed(pack, label));
        let places = Places { src: src?, weights: weights?, dst: dst? };
        let tail = self.tail(pack, true, added)?;
        request.run(handle, places, SETTINGS, |job| self.ended(handle, job, tail, self.tensor(CUDNN_PARAM_YDESC)?))
    }

    /// The scale and bias equivalent to a normalisation, from the statistics of the batch (which are stored and blended with the running ones) or from the running
    /// ones.
    fn statistics(&self, handle: &Handle, pack: &VariantPack, training: bool) -> Result<(), Failure> {
        let learnt = self.tensor(CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC)?;
        let view = |tensor: &'_ Tensor, label: i32| -> Result<Option<(Tensor, Data)>, Failure> {
            Ok(self.at(pack, label)?.map(|at| (tensor.clone(), at)))
        };
        let of = |label: i32| view(learnt, label);
        let eq = |label: i32| match self.has(label) {
            true => view(self.tensor(CUDNN_PARAM_BN_EQSCALEBIAS_DESC)?, label),
            false => Ok(None),
        };
        let sums = match training {
            true => {
                let tensor = self.tensor(CUDNN_PARAM_YSTATS_DESC)?;
                [view(tensor, CUDNN_PTR_YSUM)?, view(tensor, CUDNN_PTR_YSQSUM)?]
            }
            false => [None, None],
        };
        let running = [of(CUDNN_PTR_BN_RUNNING_MEAN)?, of(CUDNN_PTR_BN_RUNNING_VAR)?];
        let saved = [of(CUDNN_PTR_BN_SAVED_MEAN)?, of(CUDNN_PTR_BN_SAVED_INVSTD)?];
        let affine = [of(CUDNN_PTR_BN_SCALE)?, of(CUDNN_PTR_BN_BIAS)?];
        let equal = [eq(CUDNN_PTR_BN_EQSCALE)?, eq(CUDNN_PTR_BN_EQBIAS)?];
        let open = |place: &'_ Option<(Tensor, Data)>, n: i64| -> Result<Option<f64>, Failure> {
            let Some((tensor, at)) = place else { return Ok(None) };
            Ok(Some(View::new(handle, tensor, *at)?.get(&channel(tensor, n))))
        };
        let put = |place: &Option<(Tensor, Data)>, n: i64, value: f64| -> Result<(), Failure> {
            let Some((tensor, at)) = place else { return Ok(()) };
            View::new(handle, tensor, *at)?.set(&channel(tensor, n), value);
            Ok(())
        };
        let need = |value: Option<f64>, label: i32| value.ok_or_else(|| Failure::null(name("cudnnFusedOpsVariantParamLabel_t", label)));
        if training && pack.count < 1 {
            return Err(Failure::invalid("CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT", pack.count, "at least 1"));
        }
        let count = pack.count as f64;
        for n in 0..learnt.dims().get(1).copied().unwrap_or(1) {
            let (mean, variance) = if training {
                let mean = need(open(&sums[0], n)?, CUDNN_PTR_YSUM)? / count;
                let variance = (need(open(&sums[1], n)?, CUDNN_PTR_YSQSUM)? / count - mean * mean).max(0.0);
                let unbiased = if pack.count > 1 { variance * count / (count - 1.0) } else { variance };
                for (place, value) in running.iter().zip([mean, unbiased]) {
                    let before = open(place, n)?.unwrap_or(0.0);
                    let kept = if pack.factor == 1.0 { 0.0 } else { (1.0 - pack.factor) * before };
                    put(place, n, kept + pack.factor * value)?;
                }
                (mean, variance)
            } else {
                (need(open(&running[0], n)?, CUDNN_PTR_BN_RUNNING_MEAN)?, need(open(&running[1], n)?, CUDNN_PTR_BN_RUNNING_VAR)?)
            };
            let inverse = 1.0 / (variance + pack.epsilon).sqrt();
            if training {
                put(&saved[0], n, mean)?;
                put(&saved[1], n, inverse)?;
            }
            let scale = need(open(&affine[0], n)?, CUDNN_PTR_BN_SCALE)? * inverse;
            put(&equal[0], n, scale)?;
            put(&equal[1], n, need(open(&affine[1], n)?, CUDNN_PTR_BN_BIAS)? - mean * scale)?;
        }
        Ok(())
    }
}

/// Without blending, and with the library's scratch.
const SETTINGS: Settings = Settings { how: HOW, workspace: Workspace { data: Data::NULL, bytes: 0 }, blend: Blend::PLAIN };

/// Adds post-ops to a job that has none.
fn append(job: Job, tail: Vec<(PostOp, Option<Data>)>) -> Job {
    tail.into_iter().enumerate().fold(job, |job, (i, (post_op, at))| job.post_op(post_op).arg_if(Arg::post_op(i, Arg::SRC_1), at))
}

/// The position of channel `n` in a tensor with one element per channel.
fn channel(tensor: &Tensor, n: i64) -> Vec<i64> {
    (0..tensor.dims().len()).map(|d| if d == 1 { n } else { 0 }).collect()
}
