//! Execution plans: a configuration with its program. Programs come from a bounded cache of the process, so equal plans share one.

use super::engine::Engine;
use super::graph::Graph;
use super::json;
use super::lower;
use super::object::Frozen;
use super::pack::{Pack, Sizes};
use super::program::Program;
use super::tensor::TensorDesc;
use crate::enums::*;
use crate::handle::Handle;
use crate::host_runtime::Sink;
use crate::logging;
use crate::status::Failure;
use oxidnn_runtime::cache::{self, Lru};
use oxidnn_runtime::fork::{self, Locked};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

/// A plan. Only its caches change.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) config: Arc<Frozen>,
    engine: Engine,
    program: Arc<Program>,
    /// The sizes of the last execution with overridden shapes, and their program.
    resized: Mutex<Option<Resized>>,
}

type Resized = (BTreeMap<i64, Sizes>, Arc<Program>);

/// A kernel cache: the plans that were made with it. Plans of new sizes reuse the kernels of others anyway; serialised, it lets another process make these plans
/// in advance.
#[derive(Debug, Default)]
pub(crate) struct KernelCache {
    plans: Mutex<Vec<String>>,
}

impl KernelCache {
    /// Deserialises a cache and makes its plans.
    ///
    /// # Errors
    /// `BAD_PARAM` for other text, and the errors of plans.
    pub(crate) fn read(text: &[u8]) -> Result<KernelCache, Failure> {
        let plans = json::read_kernel_cache(text)?;
        for plan in &plans {
            Plan::new(json::read_plan(plan.as_bytes())?)?;
        }
        Ok(KernelCache { plans: Mutex::new(plans) })
    }

    /// Adds a plan, if there is room.
    pub(crate) fn keep(&self, plan: &Plan) {
        let (text, mut plans) = (plan.json(), fork::lock(&self.plans));
        if plans.len() < CAPACITY && !plans.contains(&text) {
            plans.push(text);
        }
    }

    /// Number of plans.
    pub(crate) fn len(&self) -> i64 {
        fork::lock(&self.plans).len() as i64
    }

    pub(crate) fn json(&self) -> String {
        json::kernel_cache(&fork::lock(&self.plans))
    }
}

/// Most programs in the cache.
const CAPACITY: usize = 4096;
/// Their bytes may be one of so many parts of the primitive cache's budget.
const PARTS: usize = 8;

static CACHE: LazyLock<Mutex<Lru<String, Arc<Program>>>> = LazyLock::new(|| Mutex::new(Lru::new(CAPACITY, cache::byte_budget() / PARTS)));

fn programs() -> Locked<'static, Lru<String, Arc<Program>>> {
    let _inside = fork::enter();
    fork::lock(&CACHE)
}

/// The program of an engine's graph, from the cache or new.
///
/// # Errors
/// `NOT_SUPPORTED` with the reason, if oxidnn does not support an operation.
pub(crate) fn program(engine: &Engine) -> Result<Arc<Program>, Failure> {
    let key = json::key(engine);
    if let Some(found) = programs().get(&key) {
        return Ok(found.clone());
    }
    let target = crate::handle::engine()?;
    let made = Arc::new(oxidnn_runtime::stack::deep(|| lower::lower(&engine.graph, target, engine.style()))?);
    let mut programs = programs();
    if let Some(other) = programs.get(&key) {
        return Ok(other.clone());
    }
    let bytes = 2 * key.len() + made.footprint();
    let gone = programs.insert(key, made.clone(), bytes);
    drop(programs);
    drop(gone);
    Ok(made)
}

impl Plan {
    /// The plan of a configuration.
    ///
    /// # Errors
    /// As [`program`].
    pub(crate) fn new(config: Arc<Frozen>) -> Result<Plan, Failure> {
        let engine = config.as_config().ok_or_else(|| Failure::null("EXECUTION_PLAN_ENGINE_CONFIG"))?.engine.clone();
        let program = program(&engine)?;
        logging::told(|| told(&engine, &program));
        Ok(Plan { config, engine, program, resized: Mutex::default() })
    }

    /// Bytes of workspace that an execution needs.
    pub(crate) fn workspace(&self) -> i64 {
        self.program.workspace()
    }

    /// The plan as text, which [`json::read_plan`] reads.
    pub(crate) fn json(&self) -> String {
        json::plan(&self.engine)
    }

    /// The program for the sizes in the pack.
    ///
    /// # Errors
    /// `NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE` if the graph does not allow other sizes, or they do not fit each other.
    pub(crate) fn program(&self, pack: &Pack) -> Result<Arc<Program>, Failure> {
        if pack.overrides.is_empty() {
            return Ok(self.program.clone());
        }
        let graph = &self.engine.graph;
        if !graph.sizes_change {
            let what = "VARIANT_PACK_OVERRIDE_SHAPES: sizes of a graph without OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED";
            return Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE, what));
        }
        if let Some((sizes, program)) = &*fork::lock(&self.resized)
            && *sizes == pack.overrides
        {
            return Ok(program.clone());
        }
        let engine = Engine { graph: Arc::new(resized(graph, &pack.overrides)?), ..self.engine.clone() };
        let program = program(&engine).map_err(|e| match e.status.0 {
            CUDNN_STATUS_BAD_PARAM => Failure::new(CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE, e.message),
            _ => e,
        })?;
        *fork::lock(&self.resized) = Some((pack.overrides.clone(), program.clone()));
        Ok(program)
    }

    /// Executes once, on `sink`.
    ///
    /// # Errors
    /// The program's error.
    pub(crate) fn run(&self, handle: &Handle, sink: Sink, pack: &Pack) -> Result<(), Failure> {
        self.program(pack)?.run(handle, sink, pack)
    }
}

/// The steps of a plan, for listeners.
fn told(engine: &Engine, program: &Program) -> String {
    let steps: Vec<String> = program.implementations().map(|d| format!("{} {}", d.problem().op.kind(), d.impl_name())).collect();
    format!("plan of engine {}, knob {}: {} steps: {}", engine.index, engine.row, steps.len(), steps.join(", "))
}

/// The graph with the sizes of one execution.
fn resized(graph: &Graph, overrides: &BTreeMap<i64, Sizes>) -> Result<Graph, Failure> {
    let mut changed = BTreeMap::new();
    for (&uid, sizes) in overrides {
        let tensor =
            graph.tensors.get(&uid).ok_or_else(|| Failure::invalid("VARIANT_PACK_OVERRIDE_UNIQUE_IDS", uid, "a tensor of the graph"))?;
        let positive = sizes.dims.iter().all(|&d| d > 0) && sizes.strides.iter().all(|&s| s >= 0);
        if !positive || sizes.dims.len() != sizes.strides.len() || sizes.dims.len() != tensor.dims.len() {
            let expected = format_args!("{} sizes of at least 1 and as many strides", tensor.dims.len());
            return Err(Failure::invalid("VARIANT_PACK_OVERRIDE_SHAPES", sizes.dims, expected));
        }
        let new = TensorDesc { dims: sizes.dims, strides: sizes.strides, ..(**tensor).clone() };
        new.tensor()?;
        changed.insert(uid, Arc::new(new));
    }
    lower::shapes::follow(graph, &mut changed)?;
    Ok(graph.with_tensors(&changed))
}
