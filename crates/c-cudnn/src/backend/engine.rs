//! Engines, configurations and heuristics: the ways to compute a graph, best first.
//!
//! The engines differ in how much of a graph is one primitive, and whether weights may be packed first. Sums are split by sizes, never by
//! threads, so none is `NONDETERMINISTIC`, and none converts its inputs down; notes describe the implementations that run. An engine has
//! one knob, or none: `KERNEL_CFG`, the choice among the implementations that take a problem, best first. Every value runs another one for
//! at least one step.

use super::graph::Graph;
use super::lower::Style;
use super::object::{Body, Frozen, Typed, Value, Values};
use super::plan;
use super::schema::{self, Type, kind};
use super::trial;
use crate::enums::*;
use crate::host_runtime;
use crate::status::Failure;
use oxidnn_runtime::PrimitiveDesc;
use oxidnn_spec::Op;
use std::sync::Arc;

/// Number of engines, of any graph.
pub(crate) const COUNT: i64 = STYLES.len() as i64;

/// The engines by their global index.
const STYLES: [Style; 3] =
    [Style { fuse: true, pack: true, row: 0 }, Style { fuse: false, pack: true, row: 0 }, Style { fuse: false, pack: false, row: 0 }];

/// A way to compute a graph.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(crate) graph: Arc<Graph>,
    pub(crate) index: i64,
    /// The value of its knob, 0 by default.
    pub(crate) row: usize,
}

/// An engine with its choices.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) engine: Engine,
}

/// The engines' knob, and a value of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) knob: i64,
    pub(crate) value: i64,
}

impl Engine {
    /// The engine of this index.
    ///
    /// # Errors
    /// `BAD_PARAM` for an invalid index.
    pub(crate) fn new(graph: Arc<Graph>, index: i64) -> Result<Engine, Failure> {
        if !(0..COUNT).contains(&index) {
            return Err(Failure::invalid("ENGINE_GLOBAL_INDEX", index, format_args!("0 to {}", COUNT - 1)));
        }
        Ok(Engine { graph, index, row: 0 })
    }

    /// How it lowers graphs.
    pub(crate) fn style(&self) -> Style {
        Style { row: self.row, ..STYLES[self.index as usize] }
    }

    /// The engine with a value of its knob.
    ///
    /// # Errors
    /// `BAD_PARAM` for a knob that it does not have, `BAD_PARAM_OUT_OF_BOUND` for a value that the knob does not have; errors of making the plan.
    pub(crate) fn turned(&self, choices: &[Choice]) -> Result<Engine, Failure> {
        let mut engine = Engine { row: 0, ..self.clone() };
        let rows = if choices.is_empty() { 1 } else { plan::program(&engine)?.rows() };
        for choice in choices {
            if choice.knob != i64::from(CUDNN_KNOB_TYPE_KERNEL_CFG) || rows == 1 {
                let has = if rows == 1 { "none: this engine has no knobs for this graph" } else { "CUDNN_KNOB_TYPE_KERNEL_CFG (24)" };
                return Err(Failure::invalid("KNOB_CHOICE_KNOB_TYPE", choice.knob, has));
            }
            engine.row = usize::try_from(choice.value).ok().filter(|v| *v < rows).ok_or_else(|| {
                let what = format_args!("KNOB_CHOICE_KNOB_VALUE: got {}, expected 0 to {}, as KNOB_INFO says", choice.value, rows - 1);
                Failure::new(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND, what)
            })?;
        }
        Ok(engine)
    }

    /// The knobs.
    ///
    /// # Errors
    /// As creating the plan.
    pub(crate) fn knobs(&self) -> Result<Vec<Arc<Frozen>>, Failure> {
        let rows = plan::program(&Engine { row: 0, ..self.clone() })?.rows() as i64;
        if rows == 1 {
            return Ok(Vec::new());
        }
        let int = |kind, v: i64| Typed { kind, value: Value::Ints(vec![v]) };
        let values = Values::from([
            (CUDNN_ATTR_KNOB_INFO_TYPE, int(Type::KnobType, i64::from(CUDNN_KNOB_TYPE_KERNEL_CFG))),
            (CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, int(Type::Int64, 0)),
            (CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, int(Type::Int64, rows - 1)),
            (CUDNN_ATTR_KNOB_INFO_STRIDE, int(Type::Int64, 1)),
        ]);
        Ok(vec![frozen(kind::KNOB_INFO, values, Body::Values)?])
    }

    /// Notes on its numbers, of `cudnnBackendNumericalNote_t`.
    ///
    /// # Errors
    /// As creating the plan.
    pub(crate) fn numerical_notes(&self) -> Result<Vec<i64>, Failure> {
        let program = plan::program(self)?;
        let any = |test: &dyn Fn(&PrimitiveDesc) -> bool| program.implementations().any(test);
        let winograd = any(&|desc| desc.impl_name().contains("winograd"));
        // Sums of products and copies: a NaN that is read is written, wherever it is.
        let linear = |desc: &PrimitiveDesc| {
            let product = matches!(desc.problem().op, Op::Conv(_) | Op::Deconv(_) | Op::Matmul(_) | Op::Reorder(_));
            product && desc.problem().attr.post_ops.is_empty()
        };
        let notes = [
            (any(&|desc| has_tensor_cores(desc.impl_name())), CUDNN_NUMERICAL_NOTE_TENSOR_CORE),
            (winograd, CUDNN_NUMERICAL_NOTE_WINOGRAD),
            (!winograd && !any(&|desc| !linear(desc)), CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP),
        ];
        Ok(notes.into_iter().filter(|n| n.0).map(|n| i64::from(n.1)).collect())
    }

    /// Notes on its behaviour, of `cudnnBackendBehaviorNote_t`.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` if the environment names an engine that is not available.
    pub(crate) fn behavior_notes(&self) -> Result<Vec<i64>, Failure> {
        let host = crate::handle::engine()?.host_visible();
        let notes = [
            (!host, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION),
            (host && host_runtime::is_there(), CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API),
        ];
        Ok(notes.into_iter().filter(|n| n.0).map(|n| i64::from(n.1)).collect())
    }
}

impl Config {
    /// Bytes of workspace that a plan of it needs.
    ///
    /// # Errors
    /// As creating the plan.
    pub(crate) fn workspace(&self) -> Result<i64, Failure> {
        Ok(plan::program(&self.engine)?.workspace())
    }
}

/// Whether an implementation of the CUDA engine uses tensor cores: those for an architecture (`...:sm90`) do, except `gemv`.
fn has_tensor_cores(name: &str) -> bool {
    name.split_once(':').is_some_and(|(how, tier)| tier.starts_with("sm") && how != "gemv")
}

/// Engine configurations for a graph, best first: by measured times where known, else in the expected order. The last engine, which needs the
/// least workspace, is always among them. Mode B measures configurations without a known time; the other modes only use known times.
///
/// # Errors
/// `NOT_SUPPORTED` with the reason, if oxidnn does not support an operation of the graph.
pub(crate) fn configurations(graph: &Arc<Frozen>, mode: i64) -> Result<Vec<Arc<Frozen>>, Failure> {
    let body = graph.as_graph().ok_or_else(|| Failure::null("ENGINEHEUR_OPERATION_GRAPH"))?;
    let fallback = mode == i64::from(CUDNN_HEUR_MODE_FALLBACK);
    let fuses = plan::program(&Engine::new(body.clone(), 0)?)?.fuses();
    let indices = (0..COUNT).filter(|&i| if i == 0 { fuses && !fallback } else { true });
    let mut engines = indices.map(|i| Engine::new(body.clone(), i)).collect::<Result<Vec<_>, Failure>>()?;
    if !fallback {
        // The other values of the best engine's knob are candidates, too, if measured times decide.
        let all = || -> Result<Vec<Engine>, Failure> {
            let best = &engines[0];
            let rows = plan::program(best)?.rows();
            Ok(engines.iter().cloned().chain((1..rows).map(|row| Engine { row, ..best.clone() })).collect())
        };
        let times = match mode == i64::from(CUDNN_HEUR_MODE_B) {
            true => Some(trial::times(&all()?)),
            false => trial::known(&engines[0], || all().unwrap_or_default()),
        };
        if let Some(times) = times {
            engines = all()?;
            engines.sort_by_key(|engine| times.order(engine.way()));
        }
    }
    engines.into_iter().map(|engine| configuration(graph, engine)).collect()
}

/// The configuration of an engine with its knob.
///
/// # Errors
/// None but of the library's own.
pub(crate) fn configuration(graph: &Arc<Frozen>, engine: Engine) -> Result<Arc<Frozen>, Failure> {
    let objects = |o: &Arc<Frozen>| Typed { kind: Type::BackendDescriptor, value: Value::Objects(vec![o.clone()]) };
    let int = |kind, v: i64| Typed { kind, value: Value::Ints(vec![v]) };
    let values = Values::from([
        (CUDNN_ATTR_ENGINE_OPERATION_GRAPH, objects(graph)),
        (CUDNN_ATTR_ENGINE_GLOBAL_INDEX, int(Type::Int64, engine.index)),
    ]);
    let made = frozen(kind::ENGINE, values, Body::Engine(Engine { row: 0, ..engine.clone() }))?;
    let mut values = Values::from([(CUDNN_ATTR_ENGINECFG_ENGINE, objects(&made))]);
    if engine.row > 0 {
        let choice = Values::from([
            (CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, int(Type::KnobType, i64::from(CUDNN_KNOB_TYPE_KERNEL_CFG))),
            (CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, int(Type::Int64, engine.row as i64)),
        ]);
        values.insert(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, objects(&frozen(kind::KNOB_CHOICE, choice, Body::Values)?));
    }
    frozen(kind::ENGINECFG, values, Body::Config(Config { engine }))
}

/// A finalized descriptor of the library's own.
pub(crate) fn frozen(id: i32, values: Values, body: Body) -> Result<Arc<Frozen>, Failure> {
    let descriptor = schema::descriptor(id).ok_or_else(|| Failure::invalid("descriptorType", id, "a type of descriptors"))?;
    Ok(Arc::new(Frozen { descriptor, values, body }))
}

/// The failure of a configuration: cudnn-frontend tries the next one for plain `NOT_SUPPORTED`, and gives up for any other status.
pub(crate) fn plainly(failure: Failure) -> Failure {
    match failure.status.0 / 1000 {
        3 => Failure::unsupported(failure.message),
        _ => failure,
    }
}
