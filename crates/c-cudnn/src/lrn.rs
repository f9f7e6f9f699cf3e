//! Local response normalisation (across channels) and divisive normalisation.

use crate::exec::{Blend, Job};
use crate::handle::Handle;
use crate::loops::divisive;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;
use oxidnn_spec::op::{Lrn, LrnAlg, Prop};
use oxidnn_spec::{Arg, Real, Tensor};

/// The object behind a `cudnnLRNDescriptor_t`.
#[derive(Clone, Copy, Debug)]
pub struct LrnDesc {
    /// The window size.
    pub(crate) n: u32,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) k: f64,
}

impl Owned for LrnDesc {}

impl Default for LrnDesc {
    /// cuDNN's defaults.
    fn default() -> LrnDesc {
        LrnDesc { n: 5, alpha: 1e-4, beta: 0.75, k: 2.0 }
    }
}

impl LrnDesc {
    fn op(&self, prop: Prop, src: &Tensor) -> Lrn {
        let (alpha, beta, k) = (Real::new(self.alpha as f32), Real::new(self.beta as f32), Real::new(self.k as f32));
        let (src, alg) = (src.clone(), LrnAlg::AcrossChannels);
        Lrn { prop, alg, src, dst: None, diff_src: None, diff_dst: None, local_size: i64::from(self.n), alpha, beta, k }
    }
}

/// `cudnnCreateLRNDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateLRNDescriptor(desc: New<'_, LrnDesc>) -> Status {
    guard("cudnnCreateLRNDescriptor", || desc.own("normDesc", || Ok(LrnDesc::default())))
}

/// `cudnnDestroyLRNDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyLRNDescriptor(desc: pointers::Handle<LrnDesc>) -> Status {
    guard("cudnnDestroyLRNDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetLRNDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetLRNDescriptor(desc: InOut<'_, LrnDesc>, n: u32, alpha: f64, beta: f64, k: f64) -> Status {
    guard("cudnnSetLRNDescriptor", || {
        if !(1..=16).contains(&n) {
            return Err(Failure::invalid("lrnN", n, "1 to 16"));
        }
        if k < 1e-5 || k.is_nan() {
            return Err(Failure::invalid("lrnK", k, "at least 1e-5"));
        }
        if beta < 0.01 || beta.is_nan() {
            return Err(Failure::invalid("lrnBeta", beta, "at least 0.01"));
        }
        *desc.get("normDesc")? = LrnDesc { n, alpha, beta, k };
        Ok(())
    })
}

/// `cudnnGetLRNDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetLRNDescriptor(
    desc: In<'_, LrnDesc>,
    n: Out<'_, u32>,
    alpha: Out<'_, f64>,
    beta: Out<'_, f64>,
    k: Out<'_, f64>,
) -> Status {
    guard("cudnnGetLRNDescriptor", || {
        let desc = desc.get("normDesc")?;
        n.set_optional(desc.n);
        alpha.set_optional(desc.alpha);
        beta.set_optional(desc.beta);
        k.set_optional(desc.k);
        Ok(())
    })
}

/// `cudnnLRNCrossChannelForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnLRNCrossChannelForward(
    handle: In<'_, Handle>,
    desc: In<'_, LrnDesc>,
    mode: i32,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnLRNCrossChannelForward", || {
        values::check("lrnMode", "cudnnLRNMode_t", mode)?;
        let (src, dst) = (x_desc.tensor("xDesc")?, y_desc.tensor("yDesc")?);
        let op = Lrn { dst: Some(dst.clone()), ..desc.get("normDesc")?.op(Prop::ForwardInference, src) };
        let job = Job::new(op).arg(Arg::SRC, x.some("x")?).arg(Arg::DST, y.some("y")?);
        job.blend(Blend::read(alpha, beta, dst.dtype)?).run(handle.get("handle")?)
    })
}

/// `cudnnLRNCrossChannelBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnLRNCrossChannelBackward(
    handle: In<'_, Handle>,
    desc: In<'_, LrnDesc>,
    mode: i32,
    alpha: Data,
    _y_desc: In<'_, TensorDesc>,
    _y: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
) -> Status {
    guard("cudnnLRNCrossChannelBackward", || {
        values::check("lrnMode", "cudnnLRNMode_t", mode)?;
        let (src, given, wanted) = (x_desc.tensor("xDesc")?, dy_desc.tensor("dyDesc")?, dx_desc.tensor("dxDesc")?);
        let op = desc.get("normDesc")?.op(Prop::BackwardData, src);
        let op = Lrn { diff_src: Some(wanted.clone()), diff_dst: Some(given.clone()), ..op };
        let job = Job::new(op).arg(Arg::SRC, x.some("x")?).arg(Arg::DIFF_DST, dy.some("dy")?).arg(Arg::DIFF_SRC, dx.some("dx")?);
        job.blend(Blend::read(alpha, beta, wanted.dtype)?).run(handle.get("handle")?)
    })
}

/// `cudnnDivisiveNormalizationForward`: ignores the temporary tensors. Null `means` stand for zeros.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDivisiveNormalizationForward(
    handle: In<'_, Handle>,
    desc: In<'_, LrnDesc>,
    mode: i32,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    means: Data,
    _temp: Data,
    _temp2: Data,
    beta: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnDivisiveNormalizationForward", || {
        values::check("mode", "cudnnDivNormMode_t", mode)?;
        let (src, dst) = (x_desc.tensor("xDesc")?, y_desc.tensor("yDesc")?);
        let blend = Blend::read(alpha, beta, dst.dtype)?;
        let given = divisive::Given { handle: handle.get("handle")?, desc: desc.get("normDesc")?, x: (src, x.some("x")?), means };
        given.forward((dst, y.some("y")?), blend)
    })
}

/// `cudnnDivisiveNormalizationBackward`: ignores the temporary tensors. `means` and `dMeans` may be null.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDivisiveNormalizationBackward(
    handle: In<'_, Handle>,
    desc: In<'_, LrnDesc>,
    mode: i32,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    means: Data,
    dy: Data,
    _temp: Data,
    _temp2: Data,
    beta: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
    dmeans: Data,
) -> Status {
    guard("cudnnDivisiveNormalizationBackward", || {
        values::check("mode", "cudnnDivNormMode_t", mode)?;
        let (src, wanted) = (x_desc.tensor("xDesc")?, dx_desc.tensor("dXdMeansDesc")?);
        let blend = Blend::read(alpha, beta, wanted.dtype)?;
        let given = divisive::Given { handle: handle.get("handle")?, desc: desc.get("normDesc")?, x: (src, x.some("x")?), means };
        given.backward(dy.some("dy")?, (wanted, [dx.some("dx")?, dmeans]), blend)
    })
}
