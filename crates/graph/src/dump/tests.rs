//! What is written is JSON, and says what the graph is.

use super::*;
use crate::OpKind;
use oxidnn_spec::{DataType, Dims};
use serde_json::{Value, json};

fn concat() -> Op {
    let dtype = Some(DataType::F32);
    let a = LogicalTensor::with_dims(0, dtype, Dims::from([2, 3]), LayoutType::Strided, Property::Constant).expect("a tensor");
    let b = LogicalTensor::new(5, dtype, None, LayoutType::Any, Property::Undef).expect("a tensor");
    let mut op = Op { inputs: vec![a, a], outputs: vec![b], ..Op::new(4, OpKind::Concat, "a \"name\"\\\n") };
    op.attrs.insert(AttrId::Axis, AttrValue::S64(-1));
    op.attrs.insert(AttrId::Scales, AttrValue::F32s(vec![0.5.into(), 2.0.into()]));
    op.attrs.insert(AttrId::KeepDims, AttrValue::Bool(true));
    op.attrs.insert(AttrId::Mode, AttrValue::Text("none".into()));
    op
}

fn parsed(partition: Option<usize>) -> Value {
    let fpmath = FpMath { mode: FpMathMode::Bf16, apply_to_int: true };
    let text = Head { engine_kind: EngineKind::Cpu, fpmath }.json(&[concat()], |_| partition);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn a_graph_is_written_as_it_is() {
    let graph = parsed(None);
    assert_eq!(graph["engine_kind"], "cpu");
    assert_eq!((&graph["fpmath_mode"], &graph["fpmath_mode_apply_to_int"]), (&json!("bf16"), &json!("true")));
    assert_eq!((&graph["input_ports"], &graph["output_ports"]), (&json!([0]), &json!([5])));
    let op = &graph["graph"][0];
    assert_eq!((&op["id"], &op["name"], &op["kind"]), (&json!(4), &json!("a \"name\"\\\n"), &json!("Concat")));
    let attrs = json!({
        "scales": {"type": "f32[]", "value": [0.5, 2]},
        "axis": {"type": "s64", "value": -1},
        "keep_dims": {"type": "bool", "value": 1},
        "mode": {"type": "string", "value": "none"},
    });
    assert_eq!(op["attrs"], attrs);
    let input = json!({"id": 0, "dtype": "f32", "shape": [2, 3], "stride": [3, 1], "layout_type": "strided", "property_type": "constant"});
    assert_eq!(op["inputs"], json!([input, input]));
    let unknown = json!([UNKNOWN]);
    assert_eq!((&op["outputs"][0]["shape"], &op["outputs"][0]["layout_type"]), (&unknown, &json!("any")));
}

#[test]
fn an_operation_of_a_partition_names_it() {
    let attrs = &parsed(Some(100_007))["graph"][0]["attrs"];
    assert_eq!(attrs["partition_id"]["value"], "100007");
    assert_eq!(attrs["backend"]["value"], BACKEND);
}

#[test]
fn numbers_that_json_has_not_are_written_as_the_largest() {
    let text = attr("max", &AttrValue::F32(f32::INFINITY.into()));
    let text = format!("{{{text}}}");
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(value["max"]["value"].as_f64().map(|v| v as f32), Some(f32::MAX));
}
