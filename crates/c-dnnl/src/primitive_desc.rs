//! Primitive descriptors: the chosen implementation, and the records and values to which queries return pointers.

use crate::attr::Attr;
use crate::engine::Engine;
use crate::extensions::explanation;
use crate::handle::{Handle, In, InOut, New, Owned};
use crate::memory_desc::{MemoryDesc, record};
use crate::stack;
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::records::DimsArray;
use oxidnn_runtime::{self as runtime, fork};
use oxidnn_spec::op::{Op, Prop, Window};
use oxidnn_spec::{Arg, DataType, Dims, MAX_NDIMS, Tensor};
use std::ffi::{CStr, CString};
use std::sync::{Arc, OnceLock};

/// The object behind a `dnnl_primitive_desc_t`.
#[derive(Clone, Debug)]
pub struct PrimitiveDesc {
    decision: Arc<Decision>,
    engine: Arc<Engine>,
    /// Of a reorder between engines: the source's and the destination's.
    ends: Option<Box<[Arc<Engine>; 2]>>,
    /// Whether other implementations can be requested; not for a clone.
    iterates: bool,
}

impl Owned for PrimitiveDesc {}

/// The decision for a request, shared by all its descriptors.
#[derive(Debug)]
pub(crate) struct Decision {
    runtime: runtime::PrimitiveDesc,
    name: CString,
    records: Vec<(Arg, MemoryDesc)>,
    sizes: Option<Box<WindowSizes>>,
    factors: Vec<f32>,
    attr: OnceLock<Attr>,
    explanation: OnceLock<CString>,
}

/// Lists of numbers as C takes them.
#[derive(Debug)]
pub(crate) struct WindowSizes {
    pub(crate) strides: DimsArray,
    pub(crate) dilations: DimsArray,
    pub(crate) padding_l: DimsArray,
    pub(crate) padding_r: DimsArray,
    pub(crate) kernel: DimsArray,
}

impl WindowSizes {
    fn new(window: &Window, kernel: &Dims) -> Box<WindowSizes> {
        let list = |dims: &Dims| {
            let mut all = [0; MAX_NDIMS];
            all[..dims.len()].copy_from_slice(dims);
            all
        };
        let Window { strides, dilations, padding_l, padding_r } = window;
        let [strides, dilations, padding_l, padding_r, kernel] = [strides, dilations, padding_l, padding_r, kernel].map(list);
        Box::new(WindowSizes { strides, dilations, padding_l, padding_r, kernel })
    }
}

impl Decision {
    /// Records and numbers of the runtime's decision.
    pub(crate) fn new(desc: runtime::PrimitiveDesc) -> Decision {
        let op = &desc.problem().op;
        let mut records: Vec<(Arg, MemoryDesc)> = desc.operands().iter().map(|o| (o.arg, record(&o.tensor))).collect();
        records.extend(unwritten(op).iter().map(|(arg, tensor)| (*arg, record(tensor))));
        let sizes = match op {
            Op::Conv(x) => Some(WindowSizes::new(&x.window, &Dims::default())),
            Op::Deconv(x) => Some(WindowSizes::new(&x.window, &Dims::default())),
            Op::Pool(x) => Some(WindowSizes::new(&x.window, &x.kernel)),
            _ => None,
        };
        let mut factors = Vec::new();
        if let Op::Resampling(x) = op {
            // From the sizes, whatever factors the caller passed.
            let sizes = x.src.dims().iter().zip(x.dst.dims().iter()).skip(2);
            factors.extend(sizes.map(|(&src, &dst)| if src > 0 { dst as f32 / src as f32 } else { 1.0 }));
            factors.resize(MAX_NDIMS, 0.0);
        }
        let name = CString::new(desc.impl_name()).unwrap_or_default();
        Decision { runtime: desc, name, records, sizes, factors, attr: OnceLock::new(), explanation: OnceLock::new() }
    }

    /// The runtime's decision.
    pub(crate) fn runtime(&self) -> &runtime::PrimitiveDesc {
        &self.runtime
    }
}

/// Whether oneDNN lets callers request other implementations.
fn iterates(op: &Op) -> bool {
    !matches!(op, Op::Reorder(_) | Op::Concat(_) | Op::Sum(_))
}

impl PrimitiveDesc {
    /// The handle's object for a decision.
    pub(crate) fn new(engine: Arc<Engine>, decision: Arc<Decision>) -> PrimitiveDesc {
        let iterates = iterates(&decision.runtime().problem().op);
        PrimitiveDesc { decision, engine, ends: None, iterates }
    }

    /// That of a reorder from one engine to another. It is executed on the one whose memory the host cannot address.
    pub(crate) fn transfer(ends: [Arc<Engine>; 2], decision: Arc<Decision>) -> PrimitiveDesc {
        let acting = usize::from(ends[1].runtime() == decision.runtime().engine());
        PrimitiveDesc { decision, engine: ends[acting].clone(), ends: Some(Box::new(ends)), iterates: false }
    }

    /// The engines of the source and of the destination of a reorder.
    pub(crate) fn ends(&self) -> [&Engine; 2] {
        self.ends.as_ref().map_or([&self.engine, &self.engine], |ends| [&ends[0], &ends[1]])
    }

    /// Explains the choice of the implementation.
    pub(crate) fn explanation(&self) -> &CStr {
        runtime::fork::once::<CString>(&self.decision.explanation, || CString::new(explanation(self.runtime())).unwrap_or_default())
    }

    /// The runtime's decision.
    pub fn runtime(&self) -> &runtime::PrimitiveDesc {
        &self.decision.runtime
    }

    /// Its engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Name of the implementation.
    pub(crate) fn name(&self) -> &CStr {
        &self.decision.name
    }

    /// The record of the argument `arg`, if the primitive has it.
    pub(crate) fn record(&self, arg: Arg) -> Option<&MemoryDesc> {
        self.decision.records.iter().find(|r| r.0 == arg).map(|r| &r.1)
    }

    /// Strides, dilations, paddings and kernel of a window.
    pub(crate) fn sizes(&self) -> Option<&WindowSizes> {
        self.decision.sizes.as_deref()
    }

    /// Factors of a resampling, one for each possible dimension of a tensor.
    pub(crate) fn factors(&self) -> &[f32] {
        &self.decision.factors
    }

    /// The attributes, with layouts resolved.
    fn attr(&self) -> &Attr {
        fork::once(&self.decision.attr, || Attr::from(self.runtime().attr()))
    }

    /// A copy for a primitive, without further implementations.
    pub(crate) fn fixed(&self) -> PrimitiveDesc {
        PrimitiveDesc { decision: self.decision.clone(), engine: self.engine.clone(), ends: self.ends.clone(), iterates: false }
    }

    /// Number of tensors written, as oneDNN counts them.
    pub(crate) fn num_outputs(&self) -> usize {
        self.runtime().num_outputs() + unwritten(&self.runtime().problem().op).len()
    }
}

/// Gradients that oneDNN lists, and that callers pass, though only the gradient of the data is computed: those of every learnt parameter of
/// batch and group normalisation.
fn unwritten(op: &Op) -> Vec<(Arg, Tensor)> {
    let (flags, src) = match op {
        Op::BatchNorm(x) if x.prop == Prop::BackwardData => (x.flags, &x.src),
        Op::GroupNorm(x) if x.prop == Prop::BackwardData => (x.flags, &x.src),
        _ => return Vec::new(),
    };
    let tensor = src.dims().get(1).and_then(|&channels| Tensor::plain([channels], DataType::F32).ok());
    let used = [(Arg::DIFF_SCALE, flags.use_scale), (Arg::DIFF_SHIFT, flags.use_shift)];
    used.into_iter().filter(|u| u.1).filter_map(|u| Some((u.0, tensor.clone()?))).collect()
}

/// `dnnl_primitive_desc_next_impl`: invalidates the results of earlier queries.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_desc_next_impl(pd: InOut<'_, PrimitiveDesc>) -> Status {
    guard("dnnl_primitive_desc_next_impl", || {
        let pd = pd.get("primitive_desc")?;
        if !pd.iterates {
            return Err(Failure::answer(Status::LastImplReached));
        }
        pd.decision = stack::deep(|| Ok::<_, Failure>(Arc::new(Decision::new(pd.runtime().next_impl()?))))?;
        Ok(())
    })
}

/// `dnnl_primitive_desc_clone`: without further implementations.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_desc_clone(pd: New<'_, PrimitiveDesc>, existing: In<'_, PrimitiveDesc>) -> Status {
    guard("dnnl_primitive_desc_clone", || pd.own("primitive_desc", existing.get("existing_primitive_desc")?.fixed()))
}

/// `dnnl_primitive_desc_get_attr`: the attributes are valid as long as the descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_desc_get_attr(pd: In<'_, PrimitiveDesc>, attr: New<'_, Attr>) -> Status {
    guard("dnnl_primitive_desc_get_attr", || attr.lend("attr", pd.get("primitive_desc")?.attr()))
}

/// `dnnl_primitive_desc_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_desc_destroy(pd: Handle<PrimitiveDesc>) -> Status {
    guard("dnnl_primitive_desc_destroy", || {
        pd.destroy();
        Ok(())
    })
}
