//! Executions: an operation on the caller's memory becomes a primitive, which is created once and cached, and its result is blended with the destination's old
//! values.

use crate::handle::Handle;
use crate::host_runtime::Sink;
use crate::pointers::{Data, memory_over};
use crate::status::Failure;
use crate::steps;
use oxidnn_runtime::{self as runtime, Mixer, cache, fork};
use oxidnn_spec::op::{Binary, BinaryAlg, EltwiseAlg, Op, Reorder};
use oxidnn_spec::{Arg, Attr, DataType, Dims, PostOp, Problem, Real, ScratchpadMode, Tensor, Use};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, LazyLock, Mutex};

/// The memory of an argument.
#[derive(Debug)]
pub(crate) enum Place {
    /// The caller's.
    At(Data),
    /// The library's own, until the work is done.
    Own(runtime::Memory<'static>),
}

impl From<Data> for Place {
    fn from(data: Data) -> Place {
        Place::At(data)
    }
}

impl From<runtime::Memory<'static>> for Place {
    fn from(memory: runtime::Memory<'static>) -> Place {
        Place::Own(memory)
    }
}

/// cuDNN's scaling of results: `alpha * result + beta * before`. With a `beta` of 0 the old values are not read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Blend {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
}

impl Blend {
    /// The result itself.
    pub(crate) const PLAIN: Blend = Blend { alpha: 1.0, beta: 0.0 };

    /// The caller's scaling factors: doubles for tensors of doubles, floats for all others.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub(crate) fn read(alpha: Data, beta: Data, dtype: DataType) -> Result<Blend, Failure> {
        Ok(Blend { alpha: factor("alpha", alpha, dtype)?, beta: factor("beta", beta, dtype)? })
    }

    /// The same for a tensor of `dtype`: in single precision except for doubles.
    pub(crate) fn rounded(self, dtype: DataType) -> Blend {
        let round = |v: f64| if dtype == DataType::F64 { v } else { f64::from(v as f32) };
        Blend { alpha: round(self.alpha), beta: round(self.beta) }
    }

    /// Whether both are exact in single precision, as parameters of post-ops must be.
    fn is_single(self) -> bool {
        let single = |v: f64| f64::from(v as f32) == v || v.is_nan();
        single(self.alpha) && single(self.beta)
    }

    /// The post-ops that do it.
    fn post_ops(self) -> impl Iterator<Item = PostOp> {
        let (alpha, beta) = (Real::new(self.alpha as f32), Real::new(self.beta as f32));
        let scaled = (self.alpha != 1.0).then_some(PostOp::Eltwise { alg: EltwiseAlg::Linear, alpha, beta: Real::new(0.0) });
        let added = (self.beta != 0.0).then_some(PostOp::Sum { scale: beta, zero_point: 0, dtype: None });
        scaled.into_iter().chain(added)
    }
}

/// A scaling factor: a double for tensors of doubles, a float for all others.
///
/// # Errors
/// `BAD_PARAM_NULL_POINTER`.
pub(crate) fn factor(name: &str, value: Data, dtype: DataType) -> Result<f64, Failure> {
    if dtype == DataType::F64 { value.read(name) } else { value.read::<f32>(name).map(f64::from) }
}

/// A tensor and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located<'a, P = Data> {
    pub(crate) tensor: &'a Tensor,
    pub(crate) at: P,
}

impl<'a, P> From<(&'a Tensor, P)> for Located<'a, P> {
    fn from((tensor, at): (&'a Tensor, P)) -> Located<'a, P> {
        Located { tensor, at }
    }
}

/// A buffer of the caller's during a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workspace {
    pub(crate) data: Data,
    pub(crate) bytes: usize,
}

/// A primitive for a request, and whether its executions need much stack.
pub(crate) struct Made {
    primitive: runtime::Primitive,
    deep: bool,
}

impl Made {
    /// The primitive.
    pub(crate) fn primitive(&self) -> &runtime::Primitive {
        &self.primitive
    }

    /// Bytes of scratch that the caller provides, including slack for alignment.
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.primitive.desc().scratchpad().map_or(0, |t| t.bytes())
    }

    /// Name of the implementation.
    pub(crate) fn name(&self) -> &'static str {
        self.primitive.desc().impl_name()
    }
}

/// One operation on memory.
pub(crate) struct Job {
    op: Op,
    attr: Attr,
    args: Vec<(Arg, Place)>,
    blend: Blend,
    scratch: Option<Workspace>,
    /// The primitive for the operation without attributes that are added later, if the caller has looked it up.
    known: Option<Arc<Made>>,
}

impl Job {
    /// `op`, whose memory is set later.
    pub(crate) fn new(op: impl Into<Op>) -> Job {
        Job { op: op.into(), attr: Attr::default(), args: Vec::with_capacity(8), blend: Blend::PLAIN, scratch: None, known: None }
    }

    /// The memory of an argument.
    pub(crate) fn arg(mut self, arg: Arg, place: impl Into<Place>) -> Job {
        self.args.push((arg, place.into()));
        self
    }

    /// The memory of an optional argument.
    pub(crate) fn arg_if(self, arg: Arg, place: Option<impl Into<Place>>) -> Job {
        match place {
            Some(place) => self.arg(arg, place),
            None => self,
        }
    }

    /// Attributes.
    pub(crate) fn attr(self, attr: Attr) -> Job {
        Job { attr, ..self }
    }

    /// A post-op.
    pub(crate) fn post_op(mut self, post_op: PostOp) -> Job {
        self.attr.post_ops.push(post_op);
        self
    }

    /// An activation of the result.
    pub(crate) fn eltwise(self, alg: EltwiseAlg, alpha: f64, beta: f64) -> Job {
        self.post_op(PostOp::Eltwise { alg, alpha: Real::new(alpha as f32), beta: Real::new(beta as f32) })
    }

    /// Adds `tensor`, broadcast along dimensions of size 1, to the result.
    pub(crate) fn plus(self, tensor: &Tensor, place: impl Into<Place>) -> Job {
        self.with_tensor(BinaryAlg::Add, tensor, place)
    }

    /// Applies `alg` to the result and `tensor`.
    pub(crate) fn with_tensor(self, alg: BinaryAlg, tensor: &Tensor, place: impl Into<Place>) -> Job {
        let index = self.attr.post_ops.len();
        self.post_op(PostOp::Binary { alg, src1: tensor.clone(), src2: None }).arg(Arg::post_op(index, Arg::SRC_1), place)
    }

    /// Sets the blend of the first result.
    pub(crate) fn blend(self, blend: Blend) -> Job {
        Job { blend, ..self }
    }

    /// Sets the caller's scratch.
    pub(crate) fn scratch(self, scratch: Option<Workspace>) -> Job {
        Job { scratch, ..self }
    }

    /// Sets the primitive for the operation with its present attributes and scratch, so that it is not looked up again.
    pub(crate) fn known(self, made: Arc<Made>) -> Job {
        Job { known: Some(made), ..self }
    }

    /// Computes.
    ///
    /// # Errors
    /// Errors of the runtime, with the problem line.
    pub(crate) fn run(mut self, handle: &Handle) -> Result<(), Failure> {
        if self.scratch.is_some() {
            self.attr.scratchpad = ScratchpadMode::User;
        }
        let blend = self.blend;
        if blend == Blend::PLAIN {
            return self.execute(handle);
        }
        if let Some(attr) = self.folded() {
            return Job { attr, ..self }.execute(handle);
        }
        let result = self.result()?;
        let dst = self.op.tensor(result).cloned().ok_or_else(|| Failure::unsupported("a result without a description"))?;
        let tensor = self.widened(handle, result, &dst)?;
        let temporary = handle.temporary(&tensor)?;
        let own = temporary.view(tensor.clone())?;
        let target = self.args.iter_mut().find(|a| a.0 == result).map(|a| std::mem::replace(&mut a.1, Place::Own(own)));
        self.execute(handle)?;
        let target = target.ok_or_else(|| Failure::null(result))?;
        handle.combine((&tensor, Place::Own(temporary)), (&dst, target), blend)
    }

    /// The argument of the result: the destination, or the first gradient.
    fn result(&self) -> Result<Arg, Failure> {
        let out: Vec<Arg> = self.op.operands().into_iter().filter(|o| o.usage == Use::Out).map(|o| o.arg).collect();
        let found = out.iter().find(|a| **a == Arg::DST).or(out.first());
        found.copied().ok_or_else(|| Failure::unsupported("an operation without result"))
    }

    /// The attributes with post-ops that compute `blend`, if the operation supports them.
    fn folded(&self) -> Option<Attr> {
        let mut attr = self.attr.clone();
        attr.post_ops.extend(self.blend.post_ops());
        let takes = self.blend.is_single() && Problem::new(self.op.clone(), attr.clone()).is_ok();
        takes.then_some(attr)
    }

    /// Computes the result in higher precision than `dst`, to which it is rounded after the blend; returns its tensor. If the operation does not support that, its
    /// inputs of `dst`'s type are converted, too.
    fn widened(&mut self, handle: &Handle, result: Arg, dst: &Tensor) -> Result<Tensor, Failure> {
        let wide = |tensor: &Tensor| Tensor { dtype: DataType::F32, layout: tensor.layout.clone() };
        if matches!(dst.dtype, DataType::F32 | DataType::F64) {
            return Ok(dst.clone());
        }
        // A request that is refused without scaling factors is refused with them, too.
        Problem::new(self.op.clone(), self.attr.clone()).map_err(|e| Failure::from(e).reproduced(&self.op))?;
        let operands = self.op.operands().into_iter();
        let alike = operands.filter(|o| o.tensor.dtype == dst.dtype && (o.usage != Use::Out || o.arg == result)).map(|o| o.arg).collect();
        for args in [vec![result], alike] {
            let mut op = self.op.clone();
            for arg in &args {
                if let Some(tensor) = op.tensor_mut(*arg) {
                    *tensor = wide(tensor);
                }
            }
            if Problem::new(op.clone(), self.attr.clone()).is_err() {
                continue;
            }
            for (arg, place) in self.args.iter_mut().filter(|(arg, _)| *arg != result && args.contains(arg)) {
                let from = self.op.tensor(*arg).ok_or_else(|| Failure::null(arg))?;
                let copy = handle.temporary(&wide(from))?;
                let to = copy.view(copy.tensor().clone())?;
                handle.combine((from, std::mem::replace(place, copy.into())), (&wide(from), to.into()), Blend::PLAIN)?;
            }
            (self.op, self.known) = (op, None);
            return Ok(wide(dst));
        }
        Ok(dst.clone())
    }

    fn execute(self, handle: &Handle) -> Result<(), Failure> {
        let known = self.known.filter(|known| known.primitive.desc().problem().attr == self.attr);
        let mut made = known.map_or_else(|| primitive(handle.engine(), self.op, self.attr), Ok)?;
        let mut scratch = self.scratch;
        if scratch.is_some_and(|s| s.bytes < made.scratch_bytes()) {
            // The caller sized the workspace for the operation alone, before scaling factors and activations were known: additional scratch is leased.
            let problem = made.primitive.desc().problem();
            let attr = Attr { scratchpad: ScratchpadMode::Library, ..problem.attr.clone() };
            (made, scratch) = (primitive(handle.engine(), problem.op.clone(), attr)?, None);
        }
        let desc = made.primitive.desc();
        let mut memories = Vec::with_capacity(self.args.len() + 1);
        for (arg, place) in self.args {
            let memory = match place {
                Place::Own(memory) => memory,
                Place::At(data) => {
                    // Arguments that this primitive does not have are ignored.
                    let Some(tensor) = desc.tensor(arg) else { continue };
                    memory_over(handle.engine(), tensor.clone(), data)?
                }
            };
            memories.push((arg, memory));
        }
        if let Some(scratch) = scratch {
            let need = made.scratch_bytes();
            if need > 0 {
                let tensor = Tensor::plain([need as i64], DataType::U8)?;
                memories.push((Arg::SCRATCHPAD, memory_over(handle.engine(), tensor, scratch.data.some("workSpace")?)?));
            }
        }
        steps::execute((&made.primitive, made.deep), handle, Sink::of(handle), &memories)?;
        steps::note(&made, handle.engine(), &memories);
        Ok(())
    }
}

impl Handle {
    /// Temporary memory for `tensor`, uninitialised.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn temporary(&self, tensor: &Tensor) -> Result<runtime::Memory<'static>, Failure> {
        Ok(runtime::Memory::scratch(self.engine(), tensor.bytes().max(1))?.view(tensor.clone())?)
    }

    /// A scalar as a tensor of `rank` dimensions of 1.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn scalar(&self, dtype: DataType, rank: usize, value: f64) -> Result<(Tensor, runtime::Memory<'static>), Failure> {
        let tensor = Tensor::plain(Dims::filled(rank, 1), dtype)?;
        let memory = runtime::Memory::new(self.engine(), tensor.clone())?;
        memory.write_f64(&[value])?;
        Ok((tensor, memory))
    }

    /// Fills a tensor with zeros.
    ///
    /// # Errors
    /// Of the execution.
    pub(crate) fn clear(&self, tensor: &Tensor, at: Data) -> Result<(), Failure> {
        let (zero, value) = self.scalar(tensor.dtype, tensor.dims().len(), 0.0)?;
        let src = repeated(&zero, tensor.dims())?;
        let op = Reorder { src: src.clone(), dst: tensor.clone() };
        Job::new(op).arg(Arg::SRC, value.view(src)?).arg(Arg::DST, at).run(self)
    }

    /// `to = alpha * from + beta * to`, with `from` broadcast along dimensions of size 1.
    ///
    /// # Errors
    /// Of the execution.
    pub(crate) fn combine(&self, from: (&Tensor, Place), to: (&Tensor, Place), blend: Blend) -> Result<(), Failure> {
        let (src, dst) = (repeated(from.0, to.0.dims())?, to.0.clone());
        if blend.alpha == 1.0 && blend.is_single() {
            let job = Job::new(Reorder { src, dst }).arg(Arg::SRC, from.1).arg(Arg::DST, to.1);
            return Job { blend, ..job }.run(self);
        }
        let (wide, beta) = (dst.dtype == DataType::F64, blend.beta);
        if wide != (src.dtype == DataType::F64) {
            // An f64 product takes f64 operands only.
            let alike = Tensor::plain(*from.0.dims(), dst.dtype)?;
            let copy = self.temporary(&alike)?;
            self.combine(from, (&alike, copy.view(alike.clone())?.into()), Blend::PLAIN)?;
            return self.combine((&alike, copy.into()), to, blend);
        }
        let mut place = to.1;
        let single = Blend { alpha: 1.0, beta }.is_single();
        if !single {
            place = self.scale((&dst, place), beta)?;
        }
        let (factor, value) = self.scalar(if wide { DataType::F64 } else { DataType::F32 }, dst.dims().len(), blend.alpha)?;
        let op = Binary { alg: BinaryAlg::Mul, src0: src, src1: factor, src2: None, dst };
        let blend = Blend { alpha: 1.0, beta: if single { beta } else { 1.0 } };
        Job::new(op).arg(Arg::SRC, from.1).arg(Arg::SRC_1, value).arg(Arg::DST, place).blend(blend).run(self)
    }

    /// `at = factor * at`; returns `at`.
    ///
    /// # Errors
    /// Of the execution.
    pub(crate) fn scale(&self, at: (&Tensor, Place), factor: f64) -> Result<Place, Failure> {
        let (tensor, place) = at;
        let (source, again) = match place {
            Place::At(data) => (Place::At(data), Place::At(data)),
            Place::Own(memory) => (Place::Own(memory.view(tensor.clone())?), Place::Own(memory)),
        };
        let wide = if tensor.dtype == DataType::F64 { DataType::F64 } else { DataType::F32 };
        let (one, value) = self.scalar(wide, tensor.dims().len(), factor)?;
        let op = Binary { alg: BinaryAlg::Mul, src0: tensor.clone(), src1: one, src2: None, dst: tensor.clone() };
        let target = match &again {
            Place::At(data) => Place::At(*data),
            Place::Own(memory) => Place::Own(memory.view(tensor.clone())?),
        };
        Job::new(op).arg(Arg::SRC, source).arg(Arg::SRC_1, value).arg(Arg::DST, target).run(self)?;
        Ok(again)
    }
}

/// `tensor` broadcast to `dims`.
///
/// # Errors
/// `BAD_PARAM_SHAPE_MISMATCH` if a size is neither 1 nor the required one; `NOT_SUPPORTED` for broadcasting vectors of channels.
pub(crate) fn repeated(tensor: &Tensor, dims: &Dims) -> Result<Tensor, Failure> {
    if tensor.dims() == dims {
        return Ok(tensor.clone());
    }
    let fits = tensor.dims().len() == dims.len() && tensor.dims().iter().zip(dims.iter()).all(|(a, b)| *a == 1 || a == b);
    if !fits {
        return Err(Failure::shape("dimensions", tensor.dims(), format_args!("each 1 or that of {dims}")));
    }
    let Some(b) = tensor.blocking().filter(|b| b.is_plain()) else {
        return Err(Failure::unsupported("a tensor of vectors of channels that is repeated"));
    };
    let strides = Dims::from_fn(dims.len(), |d| if tensor.dims()[d] == 1 && dims[d] != 1 { 0 } else { b.strides[d] });
    Ok(Tensor::with_strides(*dims, tensor.dtype, Some(strides))?)
}

type Requests = HashMap<(runtime::DeviceId, Op, Attr), Arc<Made>, BuildHasherDefault<Mixer>>;

/// A cache of two generations: an entry that is used again moves to the young one; when that is full, the old one is dropped.
#[derive(Default)]
struct Generations {
    young: Requests,
    old: Requests,
}

/// The primitive for a request, created or cached. The capacity is that of the primitive cache.
///
/// # Errors
/// Errors of the problem, with its line; no implementation.
pub(crate) fn primitive(engine: &runtime::Engine, op: Op, attr: Attr) -> Result<Arc<Made>, Failure> {
    static KNOWN: LazyLock<Mutex<Generations>> = LazyLock::new(Mutex::default);
    let request = (engine.id(), op, attr);
    let capacity = cache::capacity();
    {
        let mut known = fork::lock(&KNOWN);
        if let Some(made) = known.young.get(&request) {
            return Ok(made.clone());
        }
        if let Some((request, made)) = known.old.remove_entry(&request) {
            known.young.insert(request, made.clone());
            return Ok(made);
        }
    }
    let made = runtime::stack::deep(|| -> Result<Arc<Made>, Failure> {
        let described = Problem::new(request.1.clone(), request.2.clone()).and_then(|problem| runtime::PrimitiveDesc::new(engine, problem));
        let primitive = described.map_err(|e| Failure::from(e).reproduced(&request.1))?.create()?;
        Ok(Arc::new(Made { deep: runtime::stack::is_deep(primitive.desc()), primitive }))
    })?;
    if capacity > 0 {
        let mut known = fork::lock(&KNOWN);
        if known.young.len() >= capacity.div_ceil(2) {
            known.old = std::mem::take(&mut known.young);
        }
        known.young.insert(request, made.clone());
    }
    Ok(made)
}
