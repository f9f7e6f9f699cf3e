//! Softmax.

use crate::enums::*;
use crate::exec::{Blend, Job};
use crate::handle::Handle;
use crate::pointers::{Data, In};
use crate::status::{Failure, Status, guard};
use crate::steps::{remembered, stamp};
use crate::tensor::{TensorDesc, factor_bits, is_row};
use crate::values;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Prop, Softmax, SoftmaxAlg};
use oxidnn_spec::{Arg, DataType, Dims, Tensor};

/// Algorithm and mode of a softmax.
#[derive(Clone, Copy)]
struct Kind {
    alg: SoftmaxAlg,
    /// Over whole samples (`CUDNN_SOFTMAX_MODE_INSTANCE`), not over channels.
    whole: bool,
}

impl Kind {
    fn new(algo: i32, mode: i32) -> Result<Kind, Failure> {
        values::check("algo", "cudnnSoftmaxAlgorithm_t", algo)?;
        values::check("mode", "cudnnSoftmaxMode_t", mode)?;
        let alg = if algo == CUDNN_SOFTMAX_LOG { SoftmaxAlg::Log } else { SoftmaxAlg::Accurate };
        Ok(Kind { alg, whole: mode == CUDNN_SOFTMAX_MODE_INSTANCE })
    }
}

/// One of the tensors; if its samples have to be rows and are not, with a copy.
struct Side {
    given: (Tensor, Data),
    seen: Tensor,
    copy: Option<Memory<'static>>,
}

impl Side {
    /// The sides of tensors of the same size: as they are for a softmax over channels, as rows for one over samples.
    fn all<const N: usize>(handle: &Handle, kind: Kind, given: [(Tensor, Data); N]) -> Result<[Side; N], Failure> {
        let (dims, strides) = (*given[0].0.dims(), given[0].0.blocking().map(|b| b.strides));
        if let Some(other) = given.iter().find(|g| *g.0.dims() != dims) {
            return Err(Failure::shape("descriptors", other.0.dims(), dims));
        }
        let rows = Dims::from([dims[0], dims[1..].iter().product()]);
        let alike = given.iter().all(|g| g.0.blocking().is_some_and(|b| b.is_plain() && Some(b.strides) == strides) && is_row(&g.0));
        let side = |(tensor, data): (Tensor, Data)| -> Result<Side, Failure> {
            if !kind.whole || dims[2..].iter().all(|&d| d == 1) {
                return Ok(Side { seen: tensor.clone(), given: (tensor, data), copy: None });
            }
            if alike {
                let step = tensor.blocking().map_or(rows[1], |b| b.strides[0]);
                let seen = Tensor::with_strides(rows, tensor.dtype, Some(Dims::from([step, 1])))?;
                return Ok(Side { given: (tensor, data), seen, copy: None });
            }
            // Floating-point, so that integers are rounded only once, at the end.
            let seen = Tensor::plain(rows, if tensor.dtype == DataType::F64 { DataType::F64 } else { DataType::F32 })?;
            let copy = Some(handle.temporary(&seen)?);
            Ok(Side { given: (tensor, data), seen, copy })
        };
        let sides: Vec<Side> = given.into_iter().map(side).collect::<Result<_, _>>()?;
        sides.try_into().map_err(|_| Failure::unsupported("so many tensors"))
    }

    /// The copy, with the caller's sizes.
    fn apart(&self) -> Result<Option<(Tensor, Memory<'static>)>, Failure> {
        let Some(copy) = &self.copy else { return Ok(None) };
        let plain = Tensor::plain(*self.given.0.dims(), self.seen.dtype)?;
        Ok(Some((plain.clone(), copy.view(plain)?)))
    }

    /// Adds the argument to the job; an input is copied first if necessary.
    fn put(&self, handle: &Handle, job: Job, arg: Arg, reads: bool) -> Result<Job, Failure> {
        let Some((plain, place)) = self.apart()? else { return Ok(job.arg(arg, self.given.1)) };
        if reads {
            handle.combine((&self.given.0, self.given.1.into()), (&plain, place.into()), Blend::PLAIN)?;
        }
        Ok(job.arg(arg, self.copy.as_ref().map_or(Ok(None), |c| c.view(self.seen.clone()).map(Some))?.ok_or_else(|| Failure::null(arg))?))
    }

    /// Runs `job`, whose output this is.
    fn finish(&self, handle: &Handle, job: Job, blend: Blend) -> Result<(), Failure> {
        let Some((plain, place)) = self.apart()? else { return job.blend(blend).run(handle) };
        job.run(handle)?;
        handle.combine((&plain, place.into()), (&self.given.0, self.given.1.into()), blend)
    }
}

/// `cudnnSoftmaxForward`. `CUDNN_SOFTMAX_FAST`, which would not subtract the maximum, is the same as `ACCURATE`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSoftmaxForward(
    handle: In<'_, Handle>,
    algo: i32,
    mode: i32,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnSoftmaxForward", || {
        let words = [algo as u64, mode as u64, stamp(x_desc), stamp(y_desc), factor_bits(alpha, y_desc), factor_bits(beta, y_desc)];
        remembered(handle, "cudnnSoftmaxForward", words, [x, y], || {
            let (handle, kind) = (handle.get("handle")?, Kind::new(algo, mode)?);
            let given = [(x_desc.tensor("xDesc")?.clone(), x.some("x")?), (y_desc.tensor("yDesc")?.clone(), y.some("y")?)];
            let blend = Blend::read(alpha, beta, given[1].0.dtype)?;
            let [src, dst] = Side::all(handle, kind, given)?;
            let (source, result) = (Some(src.seen.clone()), dst.seen.clone());
            let op =
                Softmax { prop: Prop::ForwardInference, alg: kind.alg, src: source, dst: result, diff_src: None, diff_dst: None, axis: 1 };
            let job = src.put(handle, Job::new(op), Arg::SRC, true)?;
            dst.finish(handle, dst.put(handle, job, Arg::DST, false)?, blend)
        })
    })
}

/// `cudnnSoftmaxBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSoftmaxBackward(
    handle: In<'_, Handle>,
    algo: i32,
    mode: i32,
    alpha: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    beta: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
) -> Status {
    guard("cudnnSoftmaxBackward", || {
        let words = [
            algo as u64,
            mode as u64,
            stamp(y_desc),
            stamp(dy_desc),
            stamp(dx_desc),
            factor_bits(alpha, dx_desc),
            factor_bits(beta, dx_desc),
        ];
        remembered(handle, "cudnnSoftmaxBackward", words, [y, dy, dx], || {
            let (handle, kind) = (handle.get("handle")?, Kind::new(algo, mode)?);
            let given = [
                (y_desc.tensor("yDesc")?.clone(), y.some("y")?),
                (dy_desc.tensor("dyDesc")?.clone(), dy.some("dy")?),
                (dx_desc.tensor("dxDesc")?.clone(), dx.some("dx")?),
            ];
            let blend = Blend::read(alpha, beta, given[2].0.dtype)?;
            let [dst, diff_dst, diff_src] = Side::all(handle, kind, given)?;
            let gradients = (Some(diff_src.seen.clone()), Some(diff_dst.seen.clone()));
            let result = dst.seen.clone();
            let op = Softmax {
                prop: Prop::BackwardData,
                alg: kind.alg,
                src: None,
                dst: result,
                diff_src: gradients.0,
                diff_dst: gradients.1,
                axis: 1,
            };
            let job = dst.put(handle, Job::new(op), Arg::DST, true)?;
            let job = diff_dst.put(handle, job, Arg::DIFF_DST, true)?;
            diff_src.finish(handle, diff_src.put(handle, job, Arg::DIFF_SRC, false)?, blend)
        })
    })
}
