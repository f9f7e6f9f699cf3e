//! Operations: a kind, attributes, and the logical tensors between which it stands.

use crate::{AttrId, AttrValue, LogicalTensor, OpKind};
use oxidnn_spec::Real;
use std::collections::BTreeMap;

/// An operation of a graph. It is checked when a graph takes it, not before.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// The name: no two operations of a graph have the same.
    pub id: usize,
    /// Its kind.
    pub kind: OpKind,
    /// The user's name for it.
    pub name: String,
    /// Its inputs.
    pub inputs: Vec<LogicalTensor>,
    /// Its outputs.
    pub outputs: Vec<LogicalTensor>,
    /// Its attributes.
    pub attrs: BTreeMap<AttrId, AttrValue>,
}

impl Op {
    /// An operation without ports and attributes.
    pub fn new(id: usize, kind: OpKind, name: impl Into<String>) -> Op {
        Op { id, kind, name: name.into(), inputs: Vec::new(), outputs: Vec::new(), attrs: BTreeMap::new() }
    }

    /// The number; 0 where there is none.
    pub(crate) fn f32(&self, id: AttrId) -> f32 {
        match self.attrs.get(&id) {
            Some(AttrValue::F32(v)) => v.get(),
            _ => 0.0,
        }
    }

    /// The numbers; none where there are none.
    pub(crate) fn f32s(&self, id: AttrId) -> &[Real] {
        match self.attrs.get(&id) {
            Some(AttrValue::F32s(v)) => v,
            _ => &[],
        }
    }

    /// The whole number; 0 where there is none.
    pub(crate) fn s64(&self, id: AttrId) -> i64 {
        match self.attrs.get(&id) {
            Some(AttrValue::S64(v)) => *v,
            _ => 0,
        }
    }

    /// The whole numbers; none where there are none.
    pub(crate) fn s64s(&self, id: AttrId) -> &[i64] {
        match self.attrs.get(&id) {
            Some(AttrValue::S64s(v)) => v,
            _ => &[],
        }
    }

    /// The switch; off where there is none.
    pub(crate) fn flag(&self, id: AttrId) -> bool {
        matches!(self.attrs.get(&id), Some(AttrValue::Bool(true)))
    }

    /// The word; empty where there is none.
    pub(crate) fn text(&self, id: AttrId) -> &str {
        match self.attrs.get(&id) {
            Some(AttrValue::Text(v)) => v,
            _ => "",
        }
    }
}
