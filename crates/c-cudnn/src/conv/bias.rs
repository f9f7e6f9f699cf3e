//! Bias: its gradient, and the convolution with bias, a second tensor and an activation.

use super::request::{Places, Request, Settings};
use crate::activation::ActivationDesc;
use crate::exec::{Blend, Job, Place};
use crate::handle::Handle;
use crate::pointers::{Data, In};
use crate::pointwise::scaled;
use crate::reduce::sum_to;
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Arg, PostOp, Real, Tensor};

/// The epilogue of a convolution: `y = act(alpha * conv + factor * second + bias)`.
pub(super) struct Finish<'a> {
    pub(super) alpha: f64,
    pub(super) second: Option<(&'a Tensor, Data, f64)>,
    pub(super) bias: (&'a Tensor, Data),
    pub(super) activation: &'a ActivationDesc,
    pub(super) dst: (&'a Tensor, Data),
}

impl Finish<'_> {
    /// Runs the convolution with the epilogue as post-ops.
    pub(super) fn run(self, handle: &Handle, request: &Request, places: Places, settings: Settings) -> Result<(), Failure> {
        let mut post_ops = Vec::new();
        let mut operands: Vec<(usize, Place)> = Vec::new();
        if self.alpha != 1.0 {
            post_ops.push(PostOp::Eltwise { alg: EltwiseAlg::Linear, alpha: Real::new(self.alpha as f32), beta: Real::new(0.0) });
        }
        operands.push((post_ops.len(), Place::At(self.bias.1)));
        post_ops.push(PostOp::Binary { alg: BinaryAlg::Add, src1: self.bias.0.clone(), src2: None });
        if let Some((tensor, data, factor)) = self.second {
            if tensor.dims() != self.dst.0.dims() {
                return Err(Failure::shape("zDesc", tensor.dims(), format_args!("{} as yDesc", self.dst.0.dims())));
            }
            if data == self.dst.1 && tensor == self.dst.0 {
                post_ops.push(PostOp::Sum { scale: Real::new(factor as f32), zero_point: 0, dtype: None });
            } else {
                let (src1, place) = scaled(handle, (tensor, data), factor)?;
                operands.push((post_ops.len(), place));
                post_ops.push(PostOp::Binary { alg: BinaryAlg::Add, src1, src2: None });
            }
        }
        let (activation, dst) = (self.activation, self.dst.0);
        activation.mode()?;
        request.run(handle, places, settings, |job: Job| {
            let job = post_ops.into_iter().fold(job, Job::post_op);
            let job = operands.into_iter().fold(job, |job, (i, place)| job.arg(Arg::post_op(i, Arg::SRC_1), place));
            if activation.is_identity() { Ok(job) } else { activation.behind(job, handle.engine(), dst.dtype, dst.dims().len()) }
        })
    }
}

/// `cudnnConvolutionBackwardBias`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnConvolutionBackwardBias(
    handle: In<'_, Handle>,
    alpha: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    beta: Data,
    db_desc: In<'_, TensorDesc>,
    db: Data,
) -> Status {
    guard("cudnnConvolutionBackwardBias", || {
        let (src, dst) = (dy_desc.tensor("dyDesc")?, db_desc.tensor("dbDesc")?);
        let blend = Blend::read(alpha, beta, dst.dtype)?;
        sum_to(handle.get("handle")?, (src, dy.some("dy")?).into(), (dst, db.some("db")?).into(), blend)
    })
}
