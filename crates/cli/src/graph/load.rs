//! Graphs from the JSON that graph libraries of the specification dump.

use super::run::Net;
use anyhow::{Context, Result, anyhow, bail, ensure};
use oxidnn_graph::{AttrId, AttrValue, LayoutType, LogicalTensor, Op, OpKind, Property, UNKNOWN};
use oxidnn_spec::{Dims, FpMath, FpMathMode, MAX_NDIMS, Real};
use serde_json::Value;

/// The graph in a file.
///
/// # Errors
/// The missing or wrong part, and its place.
pub(super) fn graph(text: &str) -> Result<Net> {
    let file: Value = serde_json::from_str(text).context("no JSON")?;
    let list = file["graph"].as_array().ok_or_else(|| anyhow!("no list named `graph`"))?;
    let mode = match file["fpmath_mode"].as_str().unwrap_or("strict") {
        "strict" => FpMathMode::Strict,
        "bf16" => FpMathMode::Bf16,
        "f16" => FpMathMode::F16,
        "tf32" => FpMathMode::Tf32,
        "any" => FpMathMode::Any,
        other => bail!("fpmath_mode `{other}`: expected strict, bf16, f16, tf32 or any"),
    };
    let apply_to_int = file["fpmath_mode_apply_to_int"].as_str() == Some("true") || file["fpmath_mode_apply_to_int"] == true;
    let ops = list.iter().enumerate().map(|(i, v)| op(v).with_context(|| format!("operation {i} of the list"))).collect::<Result<_>>()?;
    Ok(Net { ops, fpmath: FpMath { mode, apply_to_int } })
}

fn number(value: &Value, what: &str) -> Result<usize> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let number = number.ok_or_else(|| anyhow!("{what} is {value}, expected a number from 0 on"))?;
    Ok(usize::try_from(number)?)
}

fn op(value: &Value) -> Result<Op> {
    let kind = value["kind"].as_str().unwrap_or_default();
    let kind = (0..).map_while(OpKind::from_number).find(|k| k.name() == kind).ok_or_else(|| anyhow!("no operation is called `{kind}`"))?;
    let mut op = Op::new(number(&value["id"], "id")?, kind, value["name"].as_str().unwrap_or_default());
    for (name, value) in value["attrs"].as_object().into_iter().flatten() {
        // A partitioned graph's remarks on its operations are not attributes of these.
        if ["partition_id", "backend", "matched"].contains(&name.as_str()) {
            continue;
        }
        let id = (0..0x100).filter_map(AttrId::from_number).find(|a| a.name() == name);
        let id = id.ok_or_else(|| anyhow!("no attribute is called `{name}`"))?;
        op.attrs.insert(id, attr(value).with_context(|| format!("attribute {name}"))?);
    }
    let tensors = |key: &str| -> Result<Vec<LogicalTensor>> {
        value[key].as_array().into_iter().flatten().map(|t| tensor(t).with_context(|| key.to_string())).collect()
    };
    (op.inputs, op.outputs) = (tensors("inputs")?, tensors("outputs")?);
    Ok(op)
}

fn attr(value: &Value) -> Result<AttrValue> {
    let wrong = || anyhow!("{} is no value of type {}", value["value"], value["type"]);
    let v = &value["value"];
    let real = |v: &Value| v.as_f64().map(|v| Real::new(v as f32)).ok_or_else(wrong);
    let integer = |v: &Value| v.as_i64().ok_or_else(wrong);
    let list = || v.as_array().ok_or_else(wrong);
    Ok(match value["type"].as_str().unwrap_or_default() {
        "f32" => AttrValue::F32(real(v)?),
        "f32[]" => AttrValue::F32s(list()?.iter().map(real).collect::<Result<_>>()?),
        "s64" => AttrValue::S64(integer(v)?),
        "s64[]" => AttrValue::S64s(list()?.iter().map(integer).collect::<Result<_>>()?),
        "bool" => AttrValue::Bool(v.as_bool().or_else(|| Some(v.as_i64()? != 0)).ok_or_else(wrong)?),
        "string" => AttrValue::Text(v.as_str().ok_or_else(wrong)?.to_string()),
        other => bail!("type `{other}`: expected f32, f32[], s64, s64[], bool or string"),
    })
}

fn sizes(value: &Value) -> Result<Option<Dims>> {
    let list = value.as_array().ok_or_else(|| anyhow!("{value} is no list of sizes"))?;
    let list = list.iter().map(|v| v.as_i64().ok_or_else(|| anyhow!("{v} is no size"))).collect::<Result<Vec<i64>>>()?;
    // A single unknown number stands for an unknown rank.
    if list == [UNKNOWN] {
        return Ok(None);
    }
    Ok(Some(Dims::new(&list).ok_or_else(|| anyhow!("{} dimensions, expected at most {MAX_NDIMS}", list.len()))?))
}

fn tensor(value: &Value) -> Result<LogicalTensor> {
    let id = number(&value["id"], "id")?;
    let dtype = match value["dtype"].as_str().unwrap_or("undef") {
        "undef" => None,
        name => Some(name.parse().map_err(|_| anyhow!("no data type is called `{name}`"))?),
    };
    let property = match value["property_type"].as_str().unwrap_or_default() {
        "variable" => Property::Variable,
        "constant" => Property::Constant,
        "host_scalar" => Property::HostScalar,
        _ => Property::Undef,
    };
    let layout = match value["layout_type"].as_str().unwrap_or_default() {
        "any" => LayoutType::Any,
        "strided" => LayoutType::Strided,
        _ => LayoutType::Undef,
    };
    let (dims, strides) = (sizes(&value["shape"])?, sizes(&value["stride"]).unwrap_or_default());
    let Some(dims) = dims else { return Ok(LogicalTensor::new(id, dtype, None, layout, property)?) };
    match strides.filter(|s| layout == LayoutType::Strided && s.len() == dims.len() && !s.contains(&UNKNOWN)) {
        Some(strides) => {
            ensure!(strides.iter().all(|&s| s >= 0), "strides {strides} of logical tensor {id}: expected numbers from 0 on");
            Ok(LogicalTensor::with_strides(id, dtype, dims, strides, property)?)
        }
        None => Ok(LogicalTensor::with_dims(id, dtype, dims, layout, property)?),
    }
}

#[cfg(test)]
mod tests {
    use super::graph;

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let wrong = |text: &str, what: &str| {
            let e = format!("{:#}", graph(text).expect_err("something is wrong"));
            assert!(e.contains(what), "{e}");
        };
        wrong("{", "no JSON");
        wrong("{}", "no list named `graph`");
        wrong(r#"{"graph": [{"id": 1, "kind": "Relu6"}]}"#, "no operation is called `Relu6`");
        wrong(r#"{"graph": [{"id": -1, "kind": "ReLU"}]}"#, "expected a number");
        wrong(r#"{"graph": [{"id": 1, "kind": "Elu", "attrs": {"alpha": {"type": "f32", "value": "x"}}}]}"#, "attribute alpha");
        wrong(r#"{"graph": [{"id": 1, "kind": "ReLU", "inputs": [{"id": 0, "dtype": "f31", "shape": [1]}]}]}"#, "no data type");
        let many = r#"{"graph": [{"id": 1, "kind": "ReLU", "inputs": [{"id": 0, "dtype": "f32", "shape": [1,1,1,1,1,1,1,1,1,1,1,1,1]}]}]}"#;
        wrong(many, "expected at most 12");
    }
}
