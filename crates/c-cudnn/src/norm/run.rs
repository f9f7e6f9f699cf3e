//! The three passes, by the primitive and operations on a few short vectors of statistics and parameters.

use super::composed;
use crate::activation::ActivationDesc;
use crate::enums::*;
use crate::exec::{Blend, Job, Place};
use crate::handle::Handle;
use crate::pointers::{Data, In};
use crate::status::Failure;
use crate::tensor::{TensorDesc, is_row};
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{BatchNorm, Binary, BinaryAlg, Diff, Eltwise, EltwiseAlg, NormFlags, Prop};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Problem, Tensor};

/// The operations fused with the normalisation: the numbers of `cudnnBatchNormOps_t` and `cudnnNormOps_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fused {
    Nothing,
    Relu,
    AddRelu,
}

impl Fused {
    /// The operation of an enumerator; the only activation of these functions is ReLU.
    pub(super) fn new(number: i32, activation: In<'_, ActivationDesc>) -> Result<Fused, Failure> {
        let fused = match number {
            CUDNN_BATCHNORM_OPS_BN => return Ok(Fused::Nothing),
            CUDNN_BATCHNORM_OPS_BN_ACTIVATION => Fused::Relu,
            CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION => Fused::AddRelu,
            _ => return Err(Failure::invalid("ops", number, "0 (nothing), 1 (activation) or 2 (add, activation)")),
        };
        match activation.get("activationDesc")?.mode()? {
            CUDNN_ACTIVATION_RELU => Ok(fused),
            CUDNN_ACTIVATION_IDENTITY if fused == Fused::Relu => Ok(Fused::Nothing),
            mode => Err(Failure::unsupported(format_args!("{} behind a normalisation: use RELU", name("cudnnActivationMode_t", mode)))),
        }
    }
}

/// The common parameters of all passes.
pub(super) struct Norm<'a> {
    pub(super) handle: &'a Handle,
    /// Statistics per activation instead of per channel.
    pub(super) per_activation: bool,
    pub(super) fused: Fused,
    pub(super) epsilon: f64,
    /// Descriptors of scale and bias, and of the statistics.
    pub(super) learnt: &'a Tensor,
    pub(super) stats: &'a Tensor,
}

/// A tensor of the caller's.
pub(super) type Given<'a> = (&'a Tensor, Data);

/// A descriptor and an address.
pub(super) fn given<'a>(desc: In<'a, TensorDesc>, data: Data, name: &str) -> Result<Given<'a>, Failure> {
    Ok((desc.tensor(name)?, data.some(name)?))
}

/// The results of training besides the output; null if they are not wanted.
#[derive(Clone, Copy)]
pub(super) struct Statistics {
    pub(super) factor: f64,
    pub(super) running_mean: Data,
    pub(super) running_variance: Data,
    pub(super) saved_mean: Data,
    pub(super) saved_inverse: Data,
}

/// The tensors of a training pass: source, result, summand, and reserve space.
#[derive(Clone, Copy)]
pub(super) struct Training<'a> {
    pub(super) x: Given<'a>,
    pub(super) y: Given<'a>,
    pub(super) z: Option<Given<'a>>,
    pub(super) reserve: (Data, usize),
    pub(super) blend: Blend,
}

/// The inputs and results of backward passes.
pub(super) struct Gradients<'a> {
    pub(super) x: Given<'a>,
    pub(super) dy: Given<'a>,
    pub(super) dx: Given<'a>,
    pub(super) dz: Option<Given<'a>>,
    pub(super) scale: Data,
    pub(super) dscale: Data,
    pub(super) dbias: Data,
    pub(super) saved_mean: Data,
    pub(super) saved_inverse: Data,
    pub(super) reserve: (Data, usize),
    pub(super) blends: [Blend; 2],
}

impl Norm<'_> {
    fn flags(&self) -> NormFlags {
        let (fuse_relu, fuse_add_relu) = (self.fused == Fused::Relu, self.fused == Fused::AddRelu);
        NormFlags { use_scale: true, use_shift: true, fuse_relu, fuse_add_relu, ..NormFlags::default() }
    }

    /// A data tensor as the primitive sees it: the second dimension is that of the statistics.
    fn seen(&self, tensor: &Tensor) -> Result<Tensor, Failure> {
        if !self.per_activation {
            return Ok(tensor.clone());
        }
        let strides = tensor.blocking().filter(|b| b.is_plain()).map(|b| b.strides);
        let Some(strides) = strides.filter(|_| is_row(tensor)) else {
            let what = format_args!("normalisation per activation of {}, whose samples are not dense", tensor.summary());
            return Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, what));
        };
        let alike = self.stats.blocking().is_some_and(|b| {
            let dims = tensor.dims();
            dims.len() == b.strides.len() && (1..dims.len()).all(|d| dims[d] == 1 || b.strides[d] == strides[d])
        });
        if !alike {
            let what = "statistics that lie in another order than the activations: derive their descriptor from the tensor's";
            return Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, what));
        }
        let dims = Dims::from([tensor.dims()[0], tensor.dims()[1..].iter().product()]);
        Ok(Tensor::with_strides(dims, tensor.dtype, Some(Dims::from([strides[0], 1])))?)
    }

    /// Whether a pass is composed of reductions and arithmetic.
    fn composes(&self, data: [&Tensor; 2]) -> bool {
        let alike = || data.into_iter().all(|tensor| self.seen(tensor).is_ok());
        self.fused == Fused::Nothing && (data[0].dtype == DataType::F64 || !alike())
    }

    /// The number of statistics of a data tensor.
    fn width(&self, tensor: &Tensor) -> Result<i64, Failure> {
        let dims = tensor.dims();
        let width = if self.per_activation { dims[1..].iter().product() } else { dims[1] };
        for (name, of) in [("the descriptor of scale and bias", self.learnt), ("the descriptor of mean and variance", self.stats)] {
            if of.layout.elements() != Some(width) || !matches!(of.dtype, DataType::F32 | DataType::F64) {
                return Err(Failure::shape(name, of.summary(), format_args!("{width} numbers of type f32 or f64: derive it from xDesc")));
            }
        }
        Ok(width)
    }

    /// A vector of single precision.
    fn vector(&self, width: i64) -> Result<(Tensor, Memory<'static>), Failure> {
        let tensor = Tensor::plain([width], DataType::F32)?;
        let memory = self.handle.temporary(&tensor)?;
        Ok((tensor, memory))
    }

    /// Parameters of the caller's in single precision.
    fn read(&self, like: &Tensor, data: Data, width: i64) -> Result<Place, Failure> {
        if like.dtype == DataType::F32 {
            return Ok(data.into());
        }
        let (tensor, memory) = self.vector(width)?;
        let source = Tensor::plain([width], like.dtype)?;
        self.handle.combine((&source, data.into()), (&tensor, memory.view(tensor.clone())?.into()), Blend::PLAIN)?;
        Ok(memory.into())
    }

    /// Stores a vector for the caller, blended with the old values.
    fn write(&self, from: &Memory<'static>, (like, to): Given<'_>, blend: Blend) -> Result<(), Failure> {
        let (tensor, dst) = (from.tensor().clone(), Tensor::plain(*from.tensor().dims(), like.dtype)?);
        self.handle.combine((&tensor, from.view(tensor.clone())?.into()), (&dst, to.into()), blend.rounded(like.dtype))
    }

    /// `(from + add)^power` of vectors.
    fn power(&self, from: &Memory<'static>, add: f64, power: f64) -> Result<Memory<'static>, Failure> {
        let (tensor, to) = self.vector(from.tensor().dims()[0])?;
        let (one, value) = self.handle.scalar(DataType::F32, 1, add)?;
        let op = Binary { alg: BinaryAlg::Add, src0: tensor.clone(), src1: one, src2: None, dst: tensor.clone() };
        let job = Job::new(op).arg(Arg::SRC, from.view(tensor.clone())?).arg(Arg::SRC_1, value).arg(Arg::DST, to.view(tensor)?);
        job.eltwise(EltwiseAlg::Pow, 1.0, power).run(self.handle)?;
        Ok(to)
    }

    /// Size of the reserve space in bytes.
    pub(super) fn reserve_bytes(&self, x: &Tensor) -> Result<usize, Failure> {
        if self.fused == Fused::Nothing {
            return Ok(0);
        }
        let seen = self.seen(x)?;
        let op = BatchNorm::forward(Prop::ForwardTraining, self.flags(), self.epsilon as f32, seen.clone(), seen);
        let problem = Problem::new(op, Attr::default())?;
        Ok(problem.op.workspace().map_or(0, Tensor::bytes))
    }

    fn reserve(&self, x: &Tensor, (data, bytes): (Data, usize)) -> Result<Option<Data>, Failure> {
        match self.reserve_bytes(x)? {
            0 => Ok(None),
            need if bytes < need => Err(Failure::small("reserveSpaceSizeInBytes", bytes, need)),
            _ => data.some("reserveSpace").map(Some),
        }
    }

    /// Inference, with given statistics.
    pub(super) fn inference(&self, [x, y]: [Given<'_>; 2], z: Option<Given<'_>>, params: [Data; 4], blend: Blend) -> Result<(), Failure> {
        let width = self.width(x.0)?;
        if z.is_none() && self.composes([x.0, y.0]) {
            return composed::inference(self, [x, y], params, blend);
        }
        let flags = NormFlags { use_global_stats: true, ..self.flags() };
        let mut op = BatchNorm::forward(Prop::ForwardInference, flags, self.epsilon as f32, self.seen(x.0)?, self.seen(y.0)?);
        if let Some((tensor, _)) = z {
            op.src_1 = Some(self.seen(tensor)?);
        }
        let mut job = Job::new(op).arg(Arg::SRC, x.1).arg(Arg::DST, y.1).arg_if(Arg::SRC_1, z.map(|z| z.1));
        let names = ["scale", "bias", "estimatedMean", "estimatedVariance"];
        let likes = [self.learnt, self.learnt, self.stats, self.stats];
        for (i, arg) in [Arg::SCALE, Arg::SHIFT, Arg::MEAN, Arg::VARIANCE].into_iter().enumerate() {
            job = job.arg(arg, self.read(likes[i], params[i].some(names[i])?, width)?);
        }
        job.blend(blend).run(self.handle)
    }

    /// Training, which returns the statistics of the batch.
    pub(super) fn training(&self, training: Training<'_>, params: [Data; 2], told: Statistics) -> Result<(), Failure> {
        let Training { x, y, z, reserve, blend } = training;
        let width = self.width(x.0)?;
        if self.composes([x.0, y.0]) {
            return composed::training(self, training, params, told);
        }
        let seen = self.seen(x.0)?;
        let mut op = BatchNorm::forward(Prop::ForwardTraining, self.flags(), self.epsilon as f32, seen.clone(), self.seen(y.0)?);
        if let Some((tensor, _)) = z {
            op.src_1 = Some(self.seen(tensor)?);
        }
        let ((vector, mean), (_, variance)) = (self.vector(width)?, self.vector(width)?);
        let job = Job::new(op).arg(Arg::SRC, x.1).arg(Arg::DST, y.1).arg_if(Arg::SRC_1, z.map(|z| z.1));
        let job = job.arg(Arg::SCALE, self.read(self.learnt, params[0].some("scale")?, width)?);
        let job = job.arg(Arg::SHIFT, self.read(self.learnt, params[1].some("bias")?, width)?);
        let job = job.arg(Arg::MEAN, mean.view(vector.clone())?).arg(Arg::VARIANCE, variance.view(vector)?);
        job.arg_if(Arg::WORKSPACE, self.reserve(x.0, reserve)?).blend(blend).run(self.handle)?;
        if !told.saved_mean.is_null() {
            self.write(&mean, (self.stats, told.saved_mean), Blend::PLAIN)?;
        }
        if !told.saved_inverse.is_null() {
            self.write(&self.power(&variance, self.epsilon, -0.5)?, (self.stats, told.saved_inverse), Blend::PLAIN)?;
        }
        let count = (x.0.layout.elements().unwrap_or(1) / width.max(1)) as f64;
        let unbiased = if count > 1.0 { count / (count - 1.0) } else { 1.0 };
        let running = |of: &Memory<'static>, to: Data, times: f64| {
            if to.is_null() {
                return Ok(());
            }
            self.write(of, (self.stats, to), Blend { alpha: told.factor * times, beta: 1.0 - told.factor })
        };
        running(&mean, told.running_mean, 1.0)?;
        running(&variance, told.running_variance, unbiased)
    }

    /// The saved mean, and the variance from the saved inverse deviation; recomputed if they were not saved.
    fn statistics(&self, g: &Gradients<'_>, width: i64) -> Result<[Place; 2], Failure> {
        if !g.saved_mean.is_null() && !g.saved_inverse.is_null() {
            let mean = self.read(self.stats, g.saved_mean, width)?;
            let inverse = self.read(self.stats, g.saved_inverse, width)?;
            let (tensor, variance) = self.vector(width)?;
            let (one, value) = self.handle.scalar(DataType::F32, 1, -self.epsilon)?;
            let op = Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Pow, [1.0, -2.0], tensor.clone(), tensor.clone());
            let job = Job::new(op).arg(Arg::SRC, inverse).arg(Arg::DST, variance.view(tensor)?);
            job.post_op(crate::pointwise::plus(&one)).arg(Arg::post_op(0, Arg::SRC_1), value).run(self.handle)?;
            return Ok([mean, variance.into()]);
        }
        if g.saved_mean.is_null() != g.saved_inverse.is_null() {
            return Err(Failure::invalid("savedMean and savedInvVariance", "one of them null", "both null, or none"));
        }
        let seen = self.seen(g.x.0)?;
        let ((vector, mean), (_, variance)) = (self.vector(width)?, self.vector(width)?);
        let result = self.handle.temporary(&seen)?;
        let op = BatchNorm::forward(Prop::ForwardTraining, NormFlags::default(), self.epsilon as f32, seen.clone(), seen);
        let job = Job::new(op).arg(Arg::SRC, g.x.1).arg(Arg::DST, result);
        job.arg(Arg::MEAN, mean.view(vector.clone())?).arg(Arg::VARIANCE, variance.view(vector)?).run(self.handle)?;
        Ok([mean.into(), variance.into()])
    }

    /// The gradients.
    pub(super) fn backward(&self, g: &Gradients<'_>) -> Result<(), Failure> {
        let width = self.width(g.x.0)?;
        if self.composes([g.x.0, g.dx.0]) || self.composes([g.x.0, g.dy.0]) {
            return composed::backward(self, g);
        }
        let [mean, variance] = self.statistics(g, width)?;
        let diff = Diff { src: self.seen(g.dx.0)?, dst: self.seen(g.dy.0)? };
        let mut op = BatchNorm::backward(Prop::Backward, self.flags(), self.epsilon as f32, self.seen(g.x.0)?, diff);
        let direct = self.learnt.dtype == DataType::F32 && g.blends[1] == Blend::PLAIN;
        if let Some((tensor, _)) = g.dz {
            op.diff_src_1 = Some(self.seen(tensor)?);
        }
        let mut job = Job::new(op);
        let wanted = [(Arg::DIFF_SCALE, g.dscale.some("dScale")?), (Arg::DIFF_SHIFT, g.dbias.some("dBias")?)];
        let mut vectors = Vec::new();
        for (arg, data) in wanted {
            if direct {
                job = job.arg(arg, data);
            } else {
                let (tensor, memory) = self.vector(width)?;
                job = job.arg(arg, memory.view(tensor)?);
                vectors.push((memory, data));
            }
        }
        let job = job.arg(Arg::SRC, g.x.1).arg(Arg::DIFF_DST, g.dy.1).arg(Arg::DIFF_SRC, g.dx.1).arg_if(Arg::DIFF_SRC_1, g.dz.map(|z| z.1));
        let job =
            job.arg(Arg::MEAN, mean).arg(Arg::VARIANCE, variance).arg(Arg::SCALE, self.read(self.learnt, g.scale.some("scale")?, width)?);
        job.arg_if(Arg::WORKSPACE, self.reserve(g.x.0, g.reserve)?).blend(g.blends[0]).run(self.handle)?;
        vectors.iter().try_for_each(|(memory, data)| self.write(memory, (self.learnt, *data), g.blends[1]))
    }
}
