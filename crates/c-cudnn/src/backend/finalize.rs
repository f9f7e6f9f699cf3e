//! Finalizing: from attributes to the object that they describe. Wrong values are refused here; graphs that oxidnn cannot compute are
//! refused when a plan is made.

use super::engine::{self, Choice, Config, Engine};
use super::graph::Graph;
use super::json;
use super::object::{Body, Frozen, Object, State, Value, Values, ints};
use super::pack::Pack;
use super::plan::{KernelCache, Plan};
use super::schema::{Need, kind};
use super::tensor::TensorDesc;
use crate::enums::*;
use crate::status::Failure;
use std::sync::Arc;

/// `cudnnBackendFinalize`. A final descriptor stays final.
pub(crate) fn finalize(object: &Object) -> Result<(), Failure> {
    let values = match &*object.lock() {
        State::Open(values) => values.clone(),
        State::Done(_) => return Ok(()),
    };
    let mut frozen = Frozen { descriptor: object.descriptor, values, body: Body::Values };
    complete(&mut frozen)?;
    let mut state = object.lock();
    if let State::Open(_) = &*state {
        *state = State::Done(Arc::new(frozen));
    }
    Ok(())
}

/// Checks the values and creates the object that they describe.
///
/// # Errors
/// The statuses that the header gives for the descriptor: `BAD_PARAM` and its kinds, `NOT_SUPPORTED` if oxidnn has nothing for it.
pub(crate) fn complete(frozen: &mut Frozen) -> Result<(), Failure> {
    let missing = frozen.descriptor.rows.iter().find(|r| r.need == Need::Required && !frozen.has(r.id));
    if let Some(row) = missing {
        let expected = format_args!("a value: {} needs it", frozen.descriptor.name);
        return Err(Failure::invalid(row.name, "nothing", expected));
    }
    let values = &frozen.values;
    let object = |id: i32| frozen.object(id);
    frozen.body = match frozen.descriptor.id {
        kind::CONVOLUTION => window(values, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, &CONVOLUTION_LISTS)?,
        kind::RESAMPLE => window(values, CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, &RESAMPLE_LISTS)?,
        kind::RNG => distribution(frozen)?,
        kind::TENSOR => Body::Tensor(Arc::new(TensorDesc::new(values)?)),
        kind::OPERATION_POINTWISE => super::lower::pointwise::check(frozen).map(|()| Body::Values)?,
        kind::OPERATIONGRAPH => {
            let changes = frozen.flag(CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED)
                || frozen.flag(CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED);
            Body::Graph(Arc::new(Graph::new(frozen.objects(CUDNN_ATTR_OPERATIONGRAPH_OPS), changes)?))
        }
        kind::ENGINE => {
            let graph = object(CUDNN_ATTR_ENGINE_OPERATION_GRAPH).and_then(|o| o.as_graph()).ok_or_else(|| Failure::null("graph"))?;
            Body::Engine(Engine::new(graph.clone(), frozen.int(CUDNN_ATTR_ENGINE_GLOBAL_INDEX).unwrap_or(-1))?)
        }
        kind::ENGINECFG => {
            let engine = object(CUDNN_ATTR_ENGINECFG_ENGINE).and_then(|o| o.as_engine()).ok_or_else(|| Failure::null("engine"))?;
            let int = |o: &Frozen, id| o.int(id).unwrap_or(-1);
            let choice = |o: &Arc<Frozen>| Choice {
                knob: int(o, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE),
                value: int(o, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE),
            };
            let choices: Vec<Choice> = frozen.objects(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES).iter().map(choice).collect();
            let config = Config { engine: engine.turned(&choices).map_err(engine::plainly)? };
            config.workspace().map_err(engine::plainly)?;
            Body::Config(config)
        }
        kind::ENGINEHEUR => {
            let graph = object(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).ok_or_else(|| Failure::null("graph"))?;
            Body::Heuristics(engine::configurations(graph, frozen.int(CUDNN_ATTR_ENGINEHEUR_MODE).unwrap_or(0))?)
        }
        kind::EXECUTION_PLAN => {
            let plan = plan(frozen)?;
            if let Some(Body::Cache(cache)) = object(CUDNN_ATTR_EXECUTION_PLAN_KERNEL_CACHE).map(|o| &o.body) {
                cache.keep(&plan);
            }
            Body::Plan(Arc::new(plan))
        }
        kind::KERNEL_CACHE => match frozen.values.get(&CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION).map(|t| &t.value) {
            Some(Value::Bytes(text)) => Body::Cache(Arc::new(KernelCache::read(text)?)),
            _ => Body::Cache(Arc::default()),
        },
        kind::VARIANT_PACK => Body::Pack(Arc::new(Pack::new(values)?)),
        kind::DEVICEPROP => device(values)?,
        kind::INTERMEDIATE_INFO | kind::KNOB_INFO | kind::LAYOUT_INFO => {
            return Err(Failure::invalid("descriptor", frozen.descriptor.name, "a descriptor that is not the library's own answer"));
        }
        _ => Body::Values,
    };
    Ok(())
}

const CONVOLUTION_LISTS: [(&str, i32); 4] = [
    ("CONVOLUTION_DILATIONS", CUDNN_ATTR_CONVOLUTION_DILATIONS),
    ("CONVOLUTION_FILTER_STRIDES", CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
    ("CONVOLUTION_PRE_PADDINGS", CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
    ("CONVOLUTION_POST_PADDINGS", CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
];
const RESAMPLE_LISTS: [(&str, i32); 4] = [
    ("RESAMPLE_STRIDES", CUDNN_ATTR_RESAMPLE_STRIDES),
    ("RESAMPLE_WINDOW_DIMS", CUDNN_ATTR_RESAMPLE_WINDOW_DIMS),
    ("RESAMPLE_PRE_PADDINGS", CUDNN_ATTR_RESAMPLE_PRE_PADDINGS),
    ("RESAMPLE_POST_PADDINGS", CUDNN_ATTR_RESAMPLE_POST_PADDINGS),
];

/// Each list must have one value per spatial dimension.
fn window(values: &Values, spatial: i32, lists: &[(&str, i32)]) -> Result<Body, Failure> {
    let count = ints(values, spatial).first().copied().unwrap_or(0);
    if !(1..=6).contains(&count) {
        return Err(Failure::invalid("SPATIAL_DIMS", count, "1 to 6"));
    }
    for &(name, id) in lists {
        let got = values.get(&id).map_or(0, |t| t.value.len());
        if i64::try_from(got) != Ok(count) {
            return Err(Failure::invalid(name, format_args!("{got} numbers"), format_args!("{count}, one a spatial dimension")));
        }
        let fractions = |f: &[i64; 2]| f[1] == 0;
        if let Some(Value::Fractions(f)) = values.get(&id).map(|t| &t.value)
            && f.iter().any(fractions)
        {
            return Err(Failure::invalid(name, "a denominator of 0", "fractions"));
        }
    }
    Ok(Body::Values)
}

fn distribution(frozen: &Frozen) -> Result<Body, Failure> {
    let real = |id, default: f64| frozen.real(id).unwrap_or(default);
    let deviation = real(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1.0);
    let (low, high) = (real(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0.0), real(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1.0));
    let probability = real(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5);
    match frozen.int(CUDNN_ATTR_RNG_DISTRIBUTION).unwrap_or(0) as i32 {
        CUDNN_RNG_DISTRIBUTION_NORMAL if deviation < 0.0 || deviation.is_nan() => {
            Err(Failure::invalid("RNG_NORMAL_DIST_STANDARD_DEVIATION", deviation, "0 or more"))
        }
        CUDNN_RNG_DISTRIBUTION_UNIFORM if high < low || high.is_nan() || low.is_nan() => {
            Err(Failure::invalid("RNG_UNIFORM_DIST_MAXIMUM", high, format_args!("at least the minimum {low}")))
        }
        CUDNN_RNG_DISTRIBUTION_BERNOULLI if !(0.0..=1.0).contains(&probability) => {
            Err(Failure::invalid("RNG_BERNOULLI_DIST_PROBABILITY", probability, "0 to 1"))
        }
        _ => Ok(Body::Values),
    }
}

/// A plan, from a configuration or from the text of a plan.
fn plan(frozen: &Frozen) -> Result<Plan, Failure> {
    if let Some(config) = frozen.object(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) {
        return Plan::new(config.clone());
    }
    match frozen.values.get(&CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION).map(|t| &t.value) {
        Some(Value::Bytes(text)) => Plan::new(json::read_plan(text)?),
        _ => Err(Failure::invalid("EXECUTION_PLAN_ENGINE_CONFIG", "nothing", "a configuration, or EXECUTION_PLAN_JSON_REPRESENTATION")),
    }
}

/// The device: there is one.
fn device(values: &Values) -> Result<Body, Failure> {
    if let Some(id) = ints(values, CUDNN_ATTR_DEVICEPROP_DEVICE_ID).first().filter(|&&id| id != 0) {
        return Err(Failure::invalid("DEVICEPROP_DEVICE_ID", id, "0: the CPU engine is one device"));
    }
    if let Some(Value::Bytes(text)) = values.get(&CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION).map(|t| &t.value) {
        json::check_device(text)?;
    }
    Ok(Body::Values)
}
