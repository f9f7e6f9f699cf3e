//! Engines, configurations and heuristics: which ways there are to compute a graph, best first.
//!
//! All are the CPU engine's: what differs is how much of a graph is one primitive, and whether weights may be packed first. Sums are split by
//! sizes, never by threads, so none is `NONDETERMINISTIC`; none converts its inputs down, transforms by Winograd or FFT, or compiles at run time,
//! so there are no notes, and there is nothing to tune by hand, so there are no knobs.

use super::graph::Graph;
use super::lower::Style;
use super::object::{Body, Frozen, Typed, Value, Values};
use super::plan;
use super::schema::{self, Type, kind};
use crate::enums::*;
use crate::status::Failure;
use std::sync::Arc;

/// Number of engines, of any graph.
pub(crate) const COUNT: i64 = STYLES.len() as i64;

/// The engines by their global index.
const STYLES: [Style; 3] = [Style { fuse: true, pack: true }, Style { fuse: false, pack: true }, Style { fuse: false, pack: false }];

/// A way to compute a graph.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(crate) graph: Arc<Graph>,
    pub(crate) index: i64,
}

/// An engine with its choices, of which there are none.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) engine: Engine,
}

impl Engine {
    /// The engine of this index.
    ///
    /// # Errors
    /// `BAD_PARAM` for an index that is none.
    pub(crate) fn new(graph: Arc<Graph>, index: i64) -> Result<Engine, Failure> {
        if !(0..COUNT).contains(&index) {
            return Err(Failure::invalid("ENGINE_GLOBAL_INDEX", index, format_args!("0 to {}", COUNT - 1)));
        }
        Ok(Engine { graph, index })
    }

    /// How it lowers graphs.
    pub(crate) fn style(&self) -> Style {
        STYLES[self.index as usize]
    }
}

impl Config {
    /// Bytes of workspace that a plan of it needs.
    ///
    /// # Errors
    /// As making the plan.
    pub(crate) fn workspace(&self) -> Result<i64, Failure> {
        Ok(plan::program(&self.engine)?.workspace())
    }
}

/// Configurations for a graph, best first: the last one is always there, and needs the least workspace.
///
/// # Errors
/// `NOT_SUPPORTED` with the reason, where the graph has an operation that oxidnn does not compute.
pub(crate) fn configurations(graph: &Arc<Frozen>, mode: i64) -> Result<Vec<Arc<Frozen>>, Failure> {
    let body = graph.as_graph().ok_or_else(|| Failure::null("ENGINEHEUR_OPERATION_GRAPH"))?;
    let fallback = mode == i64::from(CUDNN_HEUR_MODE_FALLBACK);
    let fuses = plan::program(&Engine { graph: body.clone(), index: 0 })?.fuses();
    let indices = (0..COUNT).filter(|&i| if i == 0 { fuses && !fallback } else { true });
    indices.map(|i| configuration(graph, body, i)).collect()
}

/// The configuration of the engine with this index.
fn configuration(graph: &Arc<Frozen>, body: &Arc<Graph>, index: i64) -> Result<Arc<Frozen>, Failure> {
    let engine = Engine::new(body.clone(), index)?;
    let objects = |o: &Arc<Frozen>| Typed { kind: Type::BackendDescriptor, value: Value::Objects(vec![o.clone()]) };
    let int = |v: i64| Typed { kind: Type::Int64, value: Value::Ints(vec![v]) };
    let values = Values::from([(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, objects(graph)), (CUDNN_ATTR_ENGINE_GLOBAL_INDEX, int(index))]);
    let made = frozen(kind::ENGINE, values, Body::Engine(engine.clone()))?;
    let values = Values::from([(CUDNN_ATTR_ENGINECFG_ENGINE, objects(&made))]);
    frozen(kind::ENGINECFG, values, Body::Config(Config { engine }))
}

/// A finalized descriptor of the library's own.
pub(crate) fn frozen(id: i32, values: Values, body: Body) -> Result<Arc<Frozen>, Failure> {
    let descriptor = schema::descriptor(id).ok_or_else(|| Failure::invalid("descriptorType", id, "a type of descriptors"))?;
    Ok(Arc::new(Frozen { descriptor, values, body }))
}

/// The failure of a configuration: cudnn-frontend goes on to the next one where the status is plain `NOT_SUPPORTED`, and gives up where it is another.
pub(crate) fn plainly(failure: Failure) -> Failure {
    match failure.status.0 / 1000 {
        3 => Failure::unsupported(failure.message),
        _ => failure,
    }
}
