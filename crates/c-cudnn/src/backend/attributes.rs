//! Setting and getting attributes, by the schema.

use super::engine;
use super::object::{Body, Frozen, Object, State, Typed, Value, find};
use super::schema::{Count, Need, Of, Row, Type, kind};
use crate::enums::*;
use crate::pointers::{Data, Out, host_bytes, host_bytes_mut};
use crate::status::Failure;
use std::sync::Arc;

/// A call's description of an attribute: its number, and how many elements of which type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) name: i32,
    pub(crate) kind: i32,
    pub(crate) count: i64,
}

/// The attribute and its element type, if the descriptor has it and accepts the type.
fn row(object: &Object, asked: Asked) -> Result<(&'static Row, Type), Failure> {
    let row = object.descriptor.row(asked.name).ok_or_else(|| {
        let names: Vec<String> = object.descriptor.rows.iter().map(|r| format!("{} ({})", r.name, r.id)).collect();
        Failure::invalid("attributeName", asked.name, format_args!("one of {}: {}", object.descriptor.name, names.join(", ")))
    })?;
    let fits = |k: &Type| row.types.contains(k) || row.types == [Type::Double] && *k == Type::Float;
    let kind = Type::of(asked.kind).filter(fits).ok_or_else(|| {
        let what = format_args!("{}: got elements of type {}, expected {:?}", row.name, asked.kind, row.types);
        Failure::new(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, what)
    })?;
    Ok((row, kind))
}

/// `cudnnBackendSetAttribute`.
pub(crate) fn set(object: &Object, asked: Asked, elements: Data) -> Result<(), Failure> {
    let (row, kind) = row(object, asked)?;
    if row.need == Need::ReadOnly {
        return Err(Failure::invalid(row.name, "a value", "none: it is an answer of the library"));
    }
    let most = row.count.most();
    let count = usize::try_from(asked.count).ok().filter(|&n| n <= most && (n > 0 || row.count != Count::One));
    let count = count.ok_or_else(|| Failure::invalid(row.name, format_args!("{} elements", asked.count), format_args!("1 to {most}")))?;
    if count > 0 {
        elements.some(row.name)?;
    }
    let value = decode(row, kind, host_bytes(elements, count * kind.size()))?;
    match &mut *object.lock() {
        State::Open(values) => {
            values.insert(row.id, Typed { kind, value });
            Ok(())
        }
        State::Done(_) => {
            let what = format_args!("{}: the descriptor is finalized, its attributes do not change any more", row.name);
            Err(Failure::new(CUDNN_STATUS_NOT_INITIALIZED, what))
        }
    }
}

/// The `N` bytes of each element.
fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// The values in the bytes.
fn decode(row: &Row, kind: Type, bytes: &[u8]) -> Result<Value, Failure> {
    let value = match kind {
        Type::Int64 => Value::Ints(words(bytes).map(i64::from_le_bytes).collect()),
        Type::Boolean => Value::Ints(bytes.iter().map(|&b| i64::from(b != 0)).collect()),
        Type::Float => Value::Reals(words(bytes).map(|w| f64::from(f32::from_le_bytes(w))).collect()),
        Type::Double => Value::Reals(words(bytes).map(f64::from_le_bytes).collect()),
        Type::Char => Value::Bytes(bytes.to_vec()),
        Type::Handle | Type::VoidPtr => Value::Addresses(addresses(bytes).collect()),
        Type::Fraction => Value::Fractions(fractions(bytes)),
        Type::BackendDescriptor => Value::Objects(objects(row, bytes)?),
        _ => Value::Ints(words(bytes).map(|w| i64::from(i32::from_le_bytes(w))).collect()),
    };
    if let Value::Ints(v) = &value
        && let Some(bad) = v.iter().find(|v| !kind.means(**v))
    {
        return Err(Failure::invalid(row.name, bad, format_args!("an enumerator of {kind:?}")));
    }
    Ok(value)
}

fn addresses(bytes: &[u8]) -> impl Iterator<Item = Data> + '_ {
    words(bytes).map(|w| Data::NULL.behind(usize::from_le_bytes(w)))
}

fn fractions(bytes: &[u8]) -> Vec<[i64; 2]> {
    let numbers: Vec<i64> = words(bytes).map(i64::from_le_bytes).collect();
    numbers.as_chunks::<2>().0.to_vec()
}

/// Finalized descriptors of the type that the attribute wants.
fn objects(row: &Row, bytes: &[u8]) -> Result<Vec<Arc<Frozen>>, Failure> {
    let one = |at: Data| {
        let object = find(row.name, at)?;
        let fits = match row.of {
            Of::Descriptor(id) => object.descriptor.id == id,
            Of::Operation => object.descriptor.is_operation(),
            Of::Input | Of::Output => object.descriptor.id == kind::TENSOR,
            Of::Value => false,
        };
        if !fits {
            let what = format_args!("{}: got a descriptor of type {}, expected {:?}", row.name, object.descriptor.name, row.of);
            return Err(Failure::new(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, what));
        }
        object.frozen().map_err(|e| e.within(row.name))
    };
    addresses(bytes).map(one).collect()
}

/// `cudnnBackendGetAttribute`. Without an array, or with a count of 0, returns only the count.
pub(crate) fn get(object: &Object, asked: Asked, count: Out<'_, i64>, elements: Data) -> Result<(), Failure> {
    let (row, kind) = row(object, asked)?;
    let room = usize::try_from(asked.count).map_err(|_| Failure::invalid("requestedElementCount", asked.count, "0 or more"))?;
    let frozen = object.frozen()?;
    let stored = answer(&frozen, row)?.unwrap_or(Value::Ints(Vec::new()));
    let available = stored.len();
    let only_count = elements.is_null() || room == 0;
    let given = if only_count { available } else { available.min(room) };
    if !only_count && given > 0 {
        match stored {
            Value::Objects(all) => hand_over(row, &all[..given], elements)?,
            other => {
                let bytes = encode(row, kind, other, given)?;
                host_bytes_mut(elements, bytes.len()).copy_from_slice(&bytes);
            }
        }
    }
    count.set_optional(i64::try_from(given).unwrap_or(i64::MAX));
    Ok(())
}

/// The library's value, otherwise the one that was set.
fn answer(frozen: &Frozen, row: &Row) -> Result<Option<Value>, Failure> {
    let int = |v: i64| Ok(Some(Value::Ints(vec![v])));
    let text = |text: String| Ok(Some(Value::Bytes(text.into_bytes())));
    match (row.id, &frozen.body) {
        (CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, _) => int(engine::COUNT),
        (CUDNN_ATTR_ENGINEHEUR_RESULTS, Body::Heuristics(results)) => Ok(Some(Value::Objects(results.clone()))),
        (CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, Body::Config(config)) => int(config.workspace()?),
        (CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, _) => int(0),
        (CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, Body::Plan(plan)) => int(plan.workspace()),
        (CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, Body::Plan(plan)) => text(plan.json()),
        (CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, Body::Plan(plan)) => Ok(Some(Value::Objects(vec![plan.config.clone()]))),
        (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, _) => text(super::json::device()?),
        (CUDNN_ATTR_ENGINE_KNOB_INFO, Body::Engine(engine)) => Ok(Some(Value::Objects(engine.knobs()?))),
        (CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, Body::Engine(engine)) => Ok(Some(Value::Ints(engine.numerical_notes()?))),
        (CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, Body::Engine(engine)) => Ok(Some(Value::Ints(engine.behavior_notes()?))),
        (CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, Body::Cache(cache)) => text(cache.json()),
        (CUDNN_ATTR_KERNEL_CACHE_REVISION | CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT, Body::Cache(cache)) => int(cache.len()),
        _ => Ok(frozen.values.get(&row.id).map(|t| t.value.clone()).or_else(|| row.default())),
    }
}

/// Finalizes descriptors that the caller has created to the attribute's contents.
fn hand_over(row: &Row, objects: &[Arc<Frozen>], elements: Data) -> Result<(), Failure> {
    let places = host_bytes(elements, objects.len() * Type::BackendDescriptor.size());
    for (frozen, at) in objects.iter().zip(addresses(places)) {
        let object = find(row.name, at)?;
        if object.descriptor.id != frozen.descriptor.id {
            let what =
                format_args!("{}: got a descriptor of type {}, expected {}", row.name, object.descriptor.name, frozen.descriptor.name);
            return Err(Failure::new(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, what));
        }
        *object.lock() = State::Done(frozen.clone());
    }
    Ok(())
}

/// The bytes of the first `count` elements as `kind`.
fn encode(row: &Row, kind: Type, value: Value, count: usize) -> Result<Vec<u8>, Failure> {
    let wrong = || Failure::new(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, format_args!("{}: was set as another type than {kind:?}", row.name));
    Ok(match (value, kind) {
        (Value::Ints(v), Type::Int64) => v[..count].iter().flat_map(|v| v.to_le_bytes()).collect(),
        (Value::Ints(v), Type::Boolean) => v[..count].iter().map(|&v| u8::from(v != 0)).collect(),
        (Value::Ints(v), k) if k.size() == 4 && k != Type::Float => v[..count].iter().flat_map(|&v| (v as i32).to_le_bytes()).collect(),
        (Value::Reals(v), Type::Double) => v[..count].iter().flat_map(|v| v.to_le_bytes()).collect(),
        (Value::Reals(v), Type::Float) => v[..count].iter().flat_map(|&v| (v as f32).to_le_bytes()).collect(),
        (Value::Bytes(v), Type::Char) => v[..count].to_vec(),
        (Value::Addresses(v), Type::Handle | Type::VoidPtr) => v[..count].iter().flat_map(|v| v.number().to_le_bytes()).collect(),
        (Value::Fractions(v), Type::Fraction) => v[..count].iter().flatten().flat_map(|v| v.to_le_bytes()).collect(),
        _ => return Err(wrong()),
    })
}

impl Row {
    /// The default of an optional attribute, if it is a number.
    fn default(&self) -> Option<Value> {
        Some(match self.id {
            CUDNN_ATTR_POINTWISE_AXIS | CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION => Value::Ints(vec![-1]),
            CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP => Value::Reals(vec![f64::MAX]),
            CUDNN_ATTR_POINTWISE_ELU_ALPHA
            | CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA
            | CUDNN_ATTR_POINTWISE_SWISH_BETA
            | CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1
            | CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2
            | CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA
            | CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA
            | CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA
            | CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA
            | CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA
            | CUDNN_ATTR_OPERATION_ROPE_FWD_OUTPUT_SCALE
            | CUDNN_ATTR_OPERATION_ROPE_BWD_OUTPUT_SCALE => Value::Reals(vec![1.0]),
            CUDNN_ATTR_TENSOR_VECTOR_COUNT | CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER => Value::Ints(vec![1]),
            _ if self.need == Need::ReadOnly || self.of != Of::Value || self.count != Count::One => return None,
            _ => match self.types[0] {
                Type::Float | Type::Double => Value::Reals(vec![0.0]),
                Type::Handle | Type::VoidPtr | Type::Char | Type::Fraction | Type::KnobType => return None,
                _ => Value::Ints(vec![0]),
            },
        })
    }
}
