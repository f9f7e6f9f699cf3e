//! Serialisation of graphs, plans and the device.

use super::engine::{self, Choice, Engine};
use super::finalize::complete;
use super::graph::{Graph, Node};
use super::object::{Body, Frozen, Typed, Value, Values};
use super::schema::{self, Type, kind};
use crate::enums::*;
use crate::pointers::Data;
use crate::status::Failure;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// The version of the format.
const SCHEMA: u64 = 1;

/// Everything that an engine's program depends on, and nothing else.
pub(crate) fn key(engine: &Engine) -> String {
    let tensors: Vec<_> = engine.graph.tensors.values().map(|t| format!("{t:?}")).collect();
    let ops: Vec<Json> = engine.graph.nodes.iter().map(|n| object(&n.op)).collect();
    format!("{} {} {} {}", engine.index, engine.row, Json::Array(ops), tensors.join(";"))
}

/// A plan: versions, the graph, the engine, and its knob if that is set.
pub(crate) fn plan(engine: &Engine) -> String {
    let ops: Vec<Json> = engine.graph.nodes.iter().map(|n: &Node| object(&n.op)).collect();
    let knobs = if engine.row == 0 { json!([]) } else { json!([[CUDNN_KNOB_TYPE_KERNEL_CFG, engine.row]]) };
    json!({
        "oxidnn_plan": SCHEMA,
        "library": env!("CARGO_PKG_VERSION"),
        "engine": engine.index,
        "knobs": knobs,
        "sizes_change": engine.graph.sizes_change,
        "operations": ops,
    })
    .to_string()
}

/// A descriptor with everything in it: its type, and its attributes by number with their element types.
fn object(frozen: &Frozen) -> Json {
    let mut attributes = Map::new();
    for (id, typed) in &frozen.values {
        let elements = match (&typed.value, &frozen.body) {
            (Value::Addresses(_), Body::Tensor(t)) => json!(t.constant),
            (Value::Addresses(_), _) => continue,
            (Value::Ints(v), _) => json!(v),
            (Value::Reals(v), _) => Json::Array(v.iter().map(|v| json!(v.to_bits())).collect()),
            (Value::Fractions(v), _) => json!(v),
            (Value::Bytes(v), _) => json!(v),
            (Value::Objects(v), _) => Json::Array(v.iter().map(|o| object(o)).collect()),
        };
        attributes.insert(id.to_string(), json!([typed.kind as i32, elements]));
    }
    json!({ "type": frozen.descriptor.id, "attributes": attributes })
}

fn malformed(what: &str) -> Failure {
    Failure::invalid("EXECUTION_PLAN_JSON_REPRESENTATION", what, "the text of a plan of this library")
}

/// The configuration of a serialised plan.
///
/// # Errors
/// `BAD_PARAM` for text that is not a plan, `SERIALIZATION_VERSION_MISMATCH` for a plan of another version.
pub(crate) fn read_plan(text: &[u8]) -> Result<Arc<Frozen>, Failure> {
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    let json: Json = serde_json::from_slice(&text[..end]).map_err(|e| malformed(&e.to_string()))?;
    let version = json.get("oxidnn_plan").and_then(Json::as_u64).ok_or_else(|| malformed("no field oxidnn_plan"))?;
    let library = json.get("library").and_then(Json::as_str).unwrap_or("none");
    if version != SCHEMA || library != env!("CARGO_PKG_VERSION") {
        let what =
            format_args!("a plan of form {version} by oxidnn {library}; this is form {SCHEMA} by oxidnn {}", env!("CARGO_PKG_VERSION"));
        return Err(Failure::new(CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH, what));
    }
    let list = json.get("operations").and_then(Json::as_array).ok_or_else(|| malformed("no operations"))?;
    let ops = list.iter().map(|j| read_object(j, 0)).collect::<Result<Vec<_>, Failure>>()?;
    let sizes_change = json.get("sizes_change").and_then(Json::as_bool).unwrap_or(false);
    let index = json.get("engine").and_then(Json::as_i64).ok_or_else(|| malformed("no engine"))?;
    let list = |objects: Vec<Arc<Frozen>>| Typed { kind: Type::BackendDescriptor, value: Value::Objects(objects) };
    let graph = Arc::new(Graph::new(&ops, sizes_change)?);
    let whole =
        engine::frozen(kind::OPERATIONGRAPH, Values::from([(CUDNN_ATTR_OPERATIONGRAPH_OPS, list(ops))]), Body::Graph(graph.clone()))?;
    let pair = |j: &Json| Some(Choice { knob: j.get(0)?.as_i64()?, value: j.get(1)?.as_i64()? });
    let knobs = json.get("knobs").and_then(Json::as_array).ok_or_else(|| malformed("no knobs"))?;
    let choices = knobs.iter().map(|j| pair(j).ok_or_else(|| malformed("a knob without a value"))).collect::<Result<Vec<_>, Failure>>()?;
    engine::configuration(&whole, Engine::new(graph, index)?.turned(&choices)?)
}

/// The nesting of descriptors is limited.
const DEEPEST: usize = 8;

fn read_object(json: &Json, depth: usize) -> Result<Arc<Frozen>, Failure> {
    let id = json.get("type").and_then(Json::as_i64).and_then(|v| i32::try_from(v).ok());
    let descriptor = id.and_then(schema::descriptor).filter(|_| depth < DEEPEST).ok_or_else(|| malformed("a descriptor without a type"))?;
    let mut values = Values::new();
    for (name, value) in json.get("attributes").and_then(Json::as_object).ok_or_else(|| malformed("no attributes"))? {
        let row = name.parse().ok().and_then(|id| descriptor.row(id)).ok_or_else(|| malformed("an unknown attribute"))?;
        let number = value.get(0).and_then(Json::as_i64).and_then(|v| i32::try_from(v).ok());
        let kind =
            number.and_then(Type::of).filter(|k| row.types.contains(k)).ok_or_else(|| malformed("a type of elements that does not fit"))?;
        let elements = value.get(1).and_then(Json::as_array).ok_or_else(|| malformed("no elements"))?;
        if elements.len() > row.count.most() && kind != Type::VoidPtr {
            return Err(malformed("too many elements"));
        }
        values.insert(row.id, Typed { kind, value: read_elements(kind, elements, depth)? });
    }
    let mut frozen = Frozen { descriptor, values, body: Body::Values };
    complete(&mut frozen)?;
    Ok(Arc::new(frozen))
}

fn read_elements(kind: Type, elements: &[Json], depth: usize) -> Result<Value, Failure> {
    let wrong = || malformed("an element of another type");
    let int = |j: &Json| j.as_i64().filter(|v| kind.means(*v)).ok_or_else(wrong);
    let byte = |j: &Json| j.as_u64().and_then(|v| u8::try_from(v).ok()).ok_or_else(wrong);
    Ok(match kind {
        Type::Float | Type::Double => {
            Value::Reals(elements.iter().map(|j| j.as_u64().map(f64::from_bits).ok_or_else(wrong)).collect::<Result<_, _>>()?)
        }
        Type::Char | Type::VoidPtr => Value::Bytes(elements.iter().map(byte).collect::<Result<_, _>>()?),
        Type::Handle => Value::Addresses(vec![Data::NULL]),
        Type::BackendDescriptor => {
            let objects: Vec<Arc<Frozen>> = elements.iter().map(|j| read_object(j, depth + 1)).collect::<Result<_, _>>()?;
            Value::Objects(objects)
        }
        Type::Fraction => {
            let pair = |j: &Json| match (j.get(0).and_then(Json::as_i64), j.get(1).and_then(Json::as_i64)) {
                (Some(a), Some(b)) => Ok([a, b]),
                _ => Err(wrong()),
            };
            Value::Fractions(elements.iter().map(pair).collect::<Result<_, _>>()?)
        }
        _ => Value::Ints(elements.iter().map(int).collect::<Result<_, _>>()?),
    })
}

/// The device that plans are made for.
///
/// # Errors
/// `NOT_SUPPORTED` if the environment selects an engine that is not available.
pub(crate) fn device() -> Result<String, Failure> {
    let engine = crate::handle::engine()?;
    Ok(json!({ "oxidnn_device": SCHEMA, "kind": engine.kind().to_string(), "name": engine.device().name() }).to_string())
}

/// Checks that the text is a serialised [`device`]; a plan for another device is made again.
///
/// # Errors
/// `BAD_PARAM`.
pub(crate) fn check_device(text: &[u8]) -> Result<(), Failure> {
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    let json: Option<Json> = serde_json::from_slice(&text[..end]).ok();
    let known = json.and_then(|j| j.get("oxidnn_device").and_then(Json::as_u64)) == Some(SCHEMA);
    if known {
        Ok(())
    } else {
        Err(Failure::invalid("DEVICEPROP_JSON_REPRESENTATION", "other text", "what a descriptor of a device tells"))
    }
}

/// A serialised kernel cache: its plans, which are built again when it is read.
pub(crate) fn kernel_cache(plans: &[String]) -> String {
    json!({ "oxidnn_kernel_cache": SCHEMA, "library": env!("CARGO_PKG_VERSION"), "plans": plans }).to_string()
}

/// The plans of a kernel cache's text.
///
/// # Errors
/// `BAD_PARAM` for other text.
pub(crate) fn read_kernel_cache(text: &[u8]) -> Result<Vec<String>, Failure> {
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    let json: Option<Json> = serde_json::from_slice(&text[..end]).ok();
    let known = json.filter(|j| j.get("oxidnn_kernel_cache").and_then(Json::as_u64) == Some(SCHEMA));
    let plans = known.as_ref().and_then(|j| j.get("plans")?.as_array());
    let plans = plans.and_then(|plans| plans.iter().map(|p| p.as_str().map(str::to_owned)).collect());
    plans.ok_or_else(|| Failure::invalid("KERNEL_CACHE_JSON_REPRESENTATION", "other text", "what a kernel cache tells"))
}
