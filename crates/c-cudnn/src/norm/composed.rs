//! The three passes composed of reductions and pointwise operations: for double precision, in which the primitive has no statistics, and for
//! per-activation statistics whose layout differs from the activations'.

use super::run::{Given, Gradients, Norm, Statistics, Training};
use crate::exec::{Blend, Job, Place, repeated};
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Binary, BinaryAlg, EltwiseAlg, Reduction, ReductionAlg};
use oxidnn_spec::{Arg, DataType, Dims, Real, Tensor};

/// A tensor: the caller's, or the library's own.
enum Val<'a> {
    Given(Given<'a>),
    Own(Memory<'static>),
}

impl Val<'_> {
    fn tensor(&self) -> &Tensor {
        match self {
            Val::Given((tensor, _)) => tensor,
            Val::Own(memory) => memory.tensor(),
        }
    }

    /// Its memory as an argument with the layout `tensor`.
    fn place(&self, tensor: &Tensor) -> Result<Place, Failure> {
        Ok(match self {
            Val::Given((_, at)) => Place::At(*at),
            Val::Own(memory) => Place::Own(memory.view(tensor.clone())?),
        })
    }
}

/// Arithmetic of one precision over data of `dims` and statistics of `stats`.
struct Composed<'a> {
    handle: &'a Handle,
    real: DataType,
    dims: Dims,
    stats: Dims,
    epsilon: f64,
}

impl<'a> Composed<'a> {
    fn new(norm: &Norm<'a>, x: &Tensor) -> Composed<'a> {
        let real = if x.dtype == DataType::F64 { DataType::F64 } else { DataType::F32 };
        let dims = *x.dims();
        let stats = Dims::from_fn(dims.len(), |d| if d == 1 || (d > 1 && norm.per_activation) { dims[d] } else { 1 });
        Composed { handle: norm.handle, real, dims, stats, epsilon: norm.epsilon }
    }

    /// Number of elements of a mean.
    fn count(&self) -> f64 {
        self.dims.iter().zip(self.stats.iter()).filter(|(d, s)| d != s).map(|(d, _)| *d as f64).product()
    }

    fn room(&self, dims: Dims) -> Result<Val<'static>, Failure> {
        Ok(Val::Own(self.handle.temporary(&Tensor::plain(dims, self.real)?)?))
    }

    /// A tensor of parameters or statistics with the rank of the data.
    fn shaped(&self, like: &Tensor) -> Result<Tensor, Failure> {
        if *like.dims() == self.stats { Ok(like.clone()) } else { Ok(Tensor::plain(self.stats, like.dtype)?) }
    }

    /// A tensor of the caller's in the compute precision.
    fn read<'t>(&self, given: Given<'t>) -> Result<Val<'t>, Failure> {
        if given.0.dtype == self.real {
            return Ok(Val::Given(given));
        }
        let copy = self.room(*given.0.dims())?;
        self.handle.combine((given.0, given.1.into()), (copy.tensor(), copy.place(copy.tensor())?), Blend::PLAIN)?;
        Ok(copy)
    }

    /// Stores a result for the caller, blended with the old values.
    fn write(&self, from: &Val<'_>, to: Given<'_>, blend: Blend) -> Result<(), Failure> {
        self.handle.combine((from.tensor(), from.place(from.tensor())?), (to.0, to.1.into()), blend.rounded(to.0.dtype))
    }

    /// `alg` of two tensors to a third, with broadcasting.
    fn meeting(&self, alg: BinaryAlg, [a, b]: [&Val<'_>; 2], to: &Val<'_>) -> Result<Job, Failure> {
        let dims = to.tensor().dims();
        let (src0, src1, dst) = (repeated(a.tensor(), dims)?, repeated(b.tensor(), dims)?, to.tensor().clone());
        let (first, second, third) = (a.place(&src0)?, b.place(&src1)?, to.place(&dst)?);
        Ok(Job::new(Binary { alg, src0, src1, src2: None, dst }).arg(Arg::SRC, first).arg(Arg::SRC_1, second).arg(Arg::DST, third))
    }

    /// `alg` of two tensors: with the sizes of the data, or of the statistics if both have these.
    fn two(&self, alg: BinaryAlg, a: &Val<'_>, b: &Val<'_>) -> Result<Val<'static>, Failure> {
        let small = [a, b].iter().all(|v| v.tensor().dims().iter().zip(self.stats.iter()).all(|(d, s)| *d == 1 || d == s));
        let to = self.room(if small { self.stats } else { self.dims })?;
        self.meeting(alg, [a, b], &to)?.run(self.handle)?;
        Ok(to)
    }

    /// Sums or means of data per statistic.
    fn reduced(&self, alg: ReductionAlg, x: &Val<'_>) -> Result<Val<'static>, Failure> {
        if self.dims == self.stats {
            return self.two(BinaryAlg::Add, x, &self.number(0.0)?);
        }
        let to = self.room(self.stats)?;
        let op = Reduction { alg, src: x.tensor().clone(), dst: to.tensor().clone(), p: Real::new(0.0), eps: Real::new(0.0) };
        Job::new(op).arg(Arg::SRC, x.place(x.tensor())?).arg(Arg::DST, to.place(to.tensor())?).run(self.handle)?;
        Ok(to)
    }

    /// A scalar with the rank of the data.
    fn number(&self, value: f64) -> Result<Val<'static>, Failure> {
        Ok(Val::Own(self.handle.scalar(self.real, self.dims.len(), value)?.1))
    }

    /// `1 / sqrt(variance + epsilon)`.
    fn inverse(&self, variance: &Val<'_>) -> Result<Val<'static>, Failure> {
        let to = self.room(self.stats)?;
        let job = self.meeting(BinaryAlg::Add, [variance, &self.number(self.epsilon)?], &to)?;
        job.eltwise(EltwiseAlg::Pow, 1.0, -0.5).run(self.handle)?;
        Ok(to)
    }

    /// Data minus their means.
    fn centred(&self, x: &Val<'_>, mean: &Val<'_>) -> Result<Val<'static>, Failure> {
        self.two(BinaryAlg::Sub, x, mean)
    }

    /// Means and variances of the data.
    fn moments(&self, x: &Val<'_>) -> Result<[Val<'static>; 2], Failure> {
        let mean = self.reduced(ReductionAlg::Mean, x)?;
        let centred = self.centred(x, &mean)?;
        let variance = self.reduced(ReductionAlg::Mean, &self.two(BinaryAlg::Mul, &centred, &centred)?)?;
        Ok([mean, variance])
    }

    /// `scale * (x - mean) * inverse + bias`.
    fn normalised(
        &self,
        [x, mean, inverse]: [&Val<'_>; 3],
        [scale, bias]: [&Val<'_>; 2],
        y: Given<'_>,
        blend: Blend,
    ) -> Result<(), Failure> {
        let factor = self.two(BinaryAlg::Mul, inverse, scale)?;
        let scaled = self.two(BinaryAlg::Mul, &self.centred(x, mean)?, &factor)?;
        self.meeting(BinaryAlg::Add, [&scaled, bias], &Val::Given(y))?.blend(blend).run(self.handle)
    }
}

/// Inference with given statistics.
pub(super) fn inference(norm: &Norm<'_>, [x, y]: [Given<'_>; 2], params: [Data; 4], blend: Blend) -> Result<(), Failure> {
    let c = Composed::new(norm, x.0);
    let (learnt, stats) = (c.shaped(norm.learnt)?, c.shaped(norm.stats)?);
    let (scale, bias) = (c.read((&learnt, params[0].some("scale")?))?, c.read((&learnt, params[1].some("bias")?))?);
    let mean = c.read((&stats, params[2].some("estimatedMean")?))?;
    let variance = c.read((&stats, params[3].some("estimatedVariance")?))?;
    c.normalised([&c.read(x)?, &mean, &c.inverse(&variance)?], [&scale, &bias], y, blend)
}

/// Training: also returns the statistics of the batch.
pub(super) fn training(norm: &Norm<'_>, training: Training<'_>, [scale, bias]: [Data; 2], told: Statistics) -> Result<(), Failure> {
    let (c, Training { x, y, blend, .. }) = (Composed::new(norm, training.x.0), training);
    let x = c.read(x)?;
    let (learnt, stats) = (c.shaped(norm.learnt)?, c.shaped(norm.stats)?);
    let (scale, bias) = (c.read((&learnt, scale.some("scale")?))?, c.read((&learnt, bias.some("bias")?))?);
    let [mean, variance] = c.moments(&x)?;
    let inverse = c.inverse(&variance)?;
    c.normalised([&x, &mean, &inverse], [&scale, &bias], y, blend)?;
    let unbiased = if c.count() > 1.0 { c.count() / (c.count() - 1.0) } else { 1.0 };
    let running = |times: f64| Blend { alpha: told.factor * times, beta: 1.0 - told.factor };
    let results = [
        (&mean, told.saved_mean, Blend::PLAIN),
        (&inverse, told.saved_inverse, Blend::PLAIN),
        (&mean, told.running_mean, running(1.0)),
        (&variance, told.running_variance, running(unbiased)),
    ];
    results.into_iter().filter(|r| !r.1.is_null()).try_for_each(|(from, to, blend)| c.write(from, (&stats, to), blend))
}

/// The gradients.
pub(super) fn backward(norm: &Norm<'_>, g: &Gradients<'_>) -> Result<(), Failure> {
    let c = Composed::new(norm, g.x.0);
    let (learnt, stats) = (c.shaped(norm.learnt)?, c.shaped(norm.stats)?);
    let (x, dy, scale) = (c.read(g.x)?, c.read(g.dy)?, c.read((&learnt, g.scale.some("scale")?))?);
    let (mean, inverse) = match (g.saved_mean.is_null(), g.saved_inverse.is_null()) {
        (false, false) => (c.read((&stats, g.saved_mean))?, c.read((&stats, g.saved_inverse))?),
        (true, true) => {
            let [mean, variance] = c.moments(&x)?;
            (mean, c.inverse(&variance)?)
        }
        _ => return Err(Failure::invalid("savedMean and savedInvVariance", "one of them null", "both null, or none")),
    };
    let normal = c.two(BinaryAlg::Mul, &c.centred(&x, &mean)?, &inverse)?;
    let dbias = c.reduced(ReductionAlg::Sum, &dy)?;
    let dscale = c.reduced(ReductionAlg::Sum, &c.two(BinaryAlg::Mul, &dy, &normal)?)?;
    let share = c.number(1.0 / c.count())?;
    let common = c.two(BinaryAlg::Mul, &dbias, &share)?;
    let along = c.two(BinaryAlg::Mul, &normal, &c.two(BinaryAlg::Mul, &dscale, &share)?)?;
    let rest = c.two(BinaryAlg::Sub, &c.two(BinaryAlg::Sub, &dy, &common)?, &along)?;
    let factor = c.two(BinaryAlg::Mul, &scale, &inverse)?;
    c.meeting(BinaryAlg::Mul, [&rest, &factor], &Val::Given(g.dx))?.blend(g.blends[0]).run(c.handle)?;
    c.write(&dscale, (&learnt, g.dscale.some("dScale")?), g.blends[1])?;
    c.write(&dbias, (&learnt, g.dbias.some("dBias")?), g.blends[1])
}
