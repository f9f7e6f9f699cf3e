//! Operations.

use super::LogicalTensor;
use crate::handle::{Array, Handle, In, InOut, New, Out, Owned, Text};
use crate::status::{Failure, Status, guard};
use oxidnn_graph::{self as graph, AttrId, AttrValue, OpKind};
use oxidnn_spec::Real;

/// The object behind a `dnnl_graph_op_t`.
#[derive(Debug)]
pub struct Op(graph::Op);

impl Owned for Op {}

impl Op {
    /// The operation.
    pub fn graph(&self) -> &graph::Op {
        &self.0
    }

    fn set(&mut self, id: AttrId, value: AttrValue) -> Result<(), Failure> {
        self.0.attrs.insert(id, value);
        Ok(())
    }
}

/// `dnnl_graph_op_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_create(op: New<'_, Op>, id: usize, kind: i32, name: Text<'_>) -> Status {
    guard("dnnl_graph_op_create", || {
        op.check("op")?;
        let name = name.get("verbose_name")?;
        let kind = OpKind::from_number(kind).ok_or_else(|| Failure::invalid("kind", kind, "an operation, 0 to 87"))?;
        op.own("op", Op(graph::Op::new(id, kind, name)))
    })
}

/// `dnnl_graph_op_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_destroy(op: Handle<Op>) -> Status {
    guard("dnnl_graph_op_destroy", || {
        op.destroy();
        Ok(())
    })
}

/// `dnnl_graph_op_add_input`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_add_input(op: InOut<'_, Op>, input: In<'_, LogicalTensor>) -> Status {
    guard("dnnl_graph_op_add_input", || {
        let lt = input.get("input")?.graph()?;
        op.get("op")?.0.inputs.push(lt);
        Ok(())
    })
}

/// `dnnl_graph_op_add_output`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_add_output(op: InOut<'_, Op>, output: In<'_, LogicalTensor>) -> Status {
    guard("dnnl_graph_op_add_output", || {
        let lt = output.get("output")?.graph()?;
        op.get("op")?.0.outputs.push(lt);
        Ok(())
    })
}

fn attribute(number: i32) -> Result<AttrId, Failure> {
    AttrId::from_number(number).ok_or_else(|| Failure::invalid("name", number, "an attribute"))
}

/// The values of an attribute: one for a scalar, whatever the length says.
fn values<'a, T>(id: AttrId, value: Array<'a, T>, len: usize) -> Result<&'a [T], Failure> {
    if value.is_null() {
        return Err(Failure::null("value"));
    }
    value.slice("value", if id.is_list() { len } else { 1 })
}

/// `dnnl_graph_op_set_attr_f32`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_set_attr_f32(op: InOut<'_, Op>, name: i32, value: Array<'_, f32>, len: usize) -> Status {
    guard("dnnl_graph_op_set_attr_f32", || {
        let (op, id) = (op.get("op")?, attribute(name)?);
        let values: Vec<Real> = values(id, value, len)?.iter().map(|&v| Real::new(v)).collect();
        op.set(id, if id.is_list() { AttrValue::F32s(values) } else { AttrValue::F32(values[0]) })
    })
}

/// `dnnl_graph_op_set_attr_s64`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_set_attr_s64(op: InOut<'_, Op>, name: i32, value: Array<'_, i64>, len: usize) -> Status {
    guard("dnnl_graph_op_set_attr_s64", || {
        let (op, id) = (op.get("op")?, attribute(name)?);
        let values = values(id, value, len)?;
        op.set(id, if id.is_list() { AttrValue::S64s(values.to_vec()) } else { AttrValue::S64(values[0]) })
    })
}

/// `dnnl_graph_op_set_attr_bool`: exactly one.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_set_attr_bool(op: InOut<'_, Op>, name: i32, value: Array<'_, u8>, len: usize) -> Status {
    guard("dnnl_graph_op_set_attr_bool", || {
        let (op, id) = (op.get("op")?, attribute(name)?);
        match value.optional(len) {
            Some([v]) => op.set(id, AttrValue::Bool(*v != 0)),
            Some(_) => Err(Failure::invalid("value_len", len, "1")),
            None => Err(Failure::null("value")),
        }
    })
}

/// `dnnl_graph_op_set_attr_str`: the whole string. Some callers pass its length, others 1, the number of strings.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_set_attr_str(op: InOut<'_, Op>, name: i32, value: Text<'_>, len: usize) -> Status {
    guard("dnnl_graph_op_set_attr_str", || {
        let (op, id) = (op.get("op")?, attribute(name)?);
        let text = value.get("value")?;
        if text.is_empty() || len == 0 {
            return Err(Failure::invalid("value", format_args!("{len} bytes"), "text"));
        }
        op.set(id, AttrValue::Text(text.to_string()))
    })
}

/// `dnnl_graph_op_get_id`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_get_id(op: In<'_, Op>, id: Out<'_, usize>) -> Status {
    guard("dnnl_graph_op_get_id", || id.set("id", op.get("op")?.0.id))
}

/// `dnnl_graph_op_get_kind`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_op_get_kind(op: In<'_, Op>, kind: Out<'_, i32>) -> Status {
    guard("dnnl_graph_op_get_kind", || kind.set("kind", op.get("op")?.0.kind as i32))
}
