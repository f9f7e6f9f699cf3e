//! Requests for convolutions, and their execution.

use super::ConvDesc;
use super::algorithms::How;
use super::flip::{flip, taps};
use crate::enums::*;
use crate::exec::{Blend, Job, Made, Workspace, primitive};
use crate::filter::Filter;
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime as runtime;
use oxidnn_spec::op::{Conv, ConvAlg, Prop, Window};
use oxidnn_spec::{Arg, Attr, FpMath, FpMathMode, ScratchpadMode, Tensor};
use std::sync::Arc;

/// Which of the three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    Forward,
    Data,
    Filter,
}

impl Pass {
    fn prop(self) -> Prop {
        match self {
            Pass::Forward => Prop::ForwardInference,
            Pass::Data => Prop::BackwardData,
            Pass::Filter => Prop::BackwardWeights,
        }
    }

    /// Arguments of source, weights and destination.
    fn args(self) -> [Arg; 3] {
        match self {
            Pass::Forward => [Arg::SRC, Arg::WEIGHTS, Arg::DST],
            Pass::Data => [Arg::DIFF_SRC, Arg::WEIGHTS, Arg::DIFF_DST],
            Pass::Filter => [Arg::SRC, Arg::DIFF_WEIGHTS, Arg::DIFF_DST],
        }
    }
}

/// A convolution in one of its passes.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) pass: Pass,
    src: Tensor,
    weights: Tensor,
    dst: Tensor,
    window: Window,
    filter: Filter,
    /// The filter is flipped.
    flips: bool,
    math: i32,
}

/// The addresses of a call's tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) src: Data,
    pub(crate) weights: Data,
    pub(crate) dst: Data,
}

/// The parameters of a call besides tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) how: How,
    pub(crate) workspace: Workspace,
    pub(crate) blend: Blend,
}

impl Request {
    /// A request from descriptors: source (or its gradient), filter, destination.
    ///
    /// # Errors
    /// `BAD_PARAM` for descriptors that do not fit each other.
    pub(crate) fn new(pass: Pass, [src, dst]: [&Tensor; 2], filter: &Filter, conv: &ConvDesc) -> Result<Request, Failure> {
        let rank = src.dims().len();
        if rank < 3 || dst.dims().len() != rank || filter.dims.len() != rank {
            let got = format_args!("tensors of {rank} and {} dimensions, a filter of {}", dst.dims().len(), filter.dims.len());
            return Err(Failure::shape("descriptors", got, "3 to 5, all alike"));
        }
        let (weights, window) = (filter.grouped(conv.groups())?, conv.window(rank - 2)?);
        let flips = conv.flips()? && taps(filter) > 1;
        Ok(Request { pass, src: src.clone(), weights, dst: dst.clone(), window, filter: filter.clone(), flips, math: conv.math() })
    }

    /// `cudnnMathType_t` that was asked for.
    pub(crate) fn math(&self) -> i32 {
        self.math
    }

    /// Bytes of source, filter and destination.
    pub(crate) fn bytes(&self) -> [usize; 3] {
        [self.src.bytes(), self.filter.tensor.bytes(), self.dst.bytes()]
    }

    /// The type of the scaling factors.
    pub(crate) fn dtype(&self) -> oxidnn_spec::DataType {
        self.dst.dtype
    }

    /// The operation, computed by `alg`.
    pub(crate) fn op(&self, alg: ConvAlg) -> Conv {
        Conv::new(self.pass.prop(), alg, [self.src.clone(), self.weights.clone(), self.dst.clone()], None, self.window.clone())
    }

    /// Attributes, without post-ops. Default math rounds f32 to TF32 where there are tensor cores.
    pub(crate) fn attr(&self) -> Attr {
        let mode = match self.math {
            CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION => FpMathMode::F16,
            CUDNN_FMA_MATH => FpMathMode::Strict,
            _ => FpMathMode::Tf32,
        };
        Attr { fpmath: FpMath { mode, apply_to_int: false }, ..Attr::default() }
    }

    /// The primitive that `how` selects.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` if there is none.
    pub(crate) fn made(&self, engine: &runtime::Engine, how: How) -> Result<Arc<Made>, Failure> {
        let scratchpad = if how.own { ScratchpadMode::User } else { ScratchpadMode::Library };
        let made = primitive(engine, self.op(how.alg).into(), Attr { scratchpad, ..self.attr() })?;
        if how.alg == ConvAlg::Winograd && !made.name().contains("winograd") {
            return Err(Failure::unsupported(format_args!("Winograd's algorithm for this convolution: {} would compute it", made.name())));
        }
        Ok(made)
    }

    /// The key of measured times: the problem with everything that they depend on, as text.
    ///
    /// # Errors
    /// If no algorithm computes it.
    pub(crate) fn problem(&self, engine: &runtime::Engine) -> Result<String, Failure> {
        let made = self.made(engine, How { alg: ConvAlg::Direct, own: true })?;
        let turned = if self.flips { " filter turned around" } else { "" };
        Ok(format!("{}{turned}", made.primitive().desc().given()))
    }

    /// Workspace of a call in bytes: scratch of the primitive, and the flipped filter.
    ///
    /// # Errors
    /// As [`Request::made`].
    pub(crate) fn workspace(&self, engine: &runtime::Engine, how: How) -> Result<usize, Failure> {
        Ok(self.space(&*self.made(engine, how)?, how))
    }

    /// The same with the primitive at hand.
    fn space(&self, made: &Made, how: How) -> usize {
        let flipped = if self.flips { self.filter.tensor.bytes() + (runtime::ALIGNMENT - 1) } else { 0 };
        if how.own { made.scratch_bytes() + flipped } else { 0 }
    }

    /// Computes. `extend` adds a call's bias and post-ops.
    ///
    /// # Errors
    /// For a workspace that is too small, and errors of the runtime.
    pub(crate) fn run(
        &self,
        handle: &Handle,
        places: Places,
        settings: Settings,
        extend: impl FnOnce(Job) -> Result<Job, Failure>,
    ) -> Result<(), Failure> {
        let Settings { how, workspace, blend } = settings;
        let made = self.made(handle.engine(), how)?;
        let (need, scratch) = (self.space(&made, how), made.scratch_bytes());
        if workspace.bytes < need {
            return Err(Failure::small("workSpaceSizeInBytes", workspace.bytes, need));
        }
        let own = if need > 0 { workspace.data.some("workSpace")? } else { Data::NULL };
        let leased = if self.flips && !how.own { Some(handle.temporary(&self.filter.tensor)?) } else { None };
        let flipped = match &leased {
            Some(memory) => Data::of(memory),
            None => aligned(own.behind(scratch)),
        };
        let weights = if self.flips { flipped } else { places.weights };
        if self.flips && self.pass != Pass::Filter {
            flip(handle, &self.filter, [places.weights, flipped], Blend::PLAIN)?;
        }
        let turned_back = self.flips && self.pass == Pass::Filter;
        let [src, wei, dst] = self.pass.args();
        let job = Job::new(self.op(how.alg)).attr(self.attr()).known(made).arg(src, places.src).arg(wei, weights).arg(dst, places.dst);
        let job = job.blend(if turned_back { Blend::PLAIN } else { blend });
        let job = job.scratch(how.own.then_some(Workspace { data: own, bytes: scratch }));
        extend(job)?.run(handle)?;
        if turned_back {
            flip(handle, &self.filter, [flipped, places.weights], blend)?;
        }
        match leased {
            // Queued work may still read it.
            Some(_) if !handle.stream().is_synchronous() => Ok(handle.stream().wait()?),
            _ => Ok(()),
        }
    }
}

/// The address rounded up to the alignment of memory.
fn aligned(data: Data) -> Data {
    data.behind(data.number().next_multiple_of(runtime::ALIGNMENT) - data.number())
}
