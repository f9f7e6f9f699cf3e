//! Attributes.
//!
//! An [`Attr`] holds the specification's attributes and the objects that getters return pointers to: the list of post-ops, the descriptor of
//! the dropout mask, the scales of recurrent networks.

pub mod dropout;
pub mod modes;
pub mod quant;
pub mod rnn;
#[cfg(test)]
mod tests;

use crate::handle::{Handle, In, InOut, New, Owned};
use crate::memory_desc::{MemoryDesc, record};
use crate::post_ops::PostOps;
use crate::status::{Status, guard};
use oxidnn_runtime::knobs;
use oxidnn_spec::{self as spec, FpMath};
use rnn::Scales;

/// The object behind a `dnnl_primitive_attr_t`.
#[derive(Clone, Debug)]
pub struct Attr {
    spec: spec::Attr,
    post_ops: PostOps,
    dropout_mask: MemoryDesc,
    weights: Scales,
    projection: Scales,
}

impl Owned for Attr {}

/// Nothing set, except for the precision of f32 computation that the process prefers.
impl Default for Attr {
    fn default() -> Attr {
        let fpmath = FpMath { mode: knobs::default_fpmath(), apply_to_int: false };
        Attr::from(&spec::Attr { fpmath, ..spec::Attr::default() })
    }
}

impl From<&spec::Attr> for Attr {
    fn from(attr: &spec::Attr) -> Attr {
        let mask = attr.dropout.as_ref().and_then(|d| d.mask.as_ref());
        Attr {
            spec: attr.clone(),
            post_ops: PostOps::from(&attr.post_ops[..]),
            dropout_mask: mask.map_or(MemoryDesc::ZERO, record),
            weights: Scales::from(&attr.rnn.weights),
            projection: Scales::from(&attr.rnn.projection),
        }
    }
}

impl Attr {
    /// The specification's attributes.
    pub fn spec(&self) -> &spec::Attr {
        &self.spec
    }

    /// The attributes, mutable, for parts to which no getter returns a pointer.
    pub fn spec_mut(&mut self) -> &mut spec::Attr {
        &mut self.spec
    }
}

impl In<'_, Attr> {
    /// The attributes; null stands for the defaults.
    pub fn or_default(&self) -> spec::Attr {
        self.optional().map_or_else(|| Attr::default().spec, |a| a.spec.clone())
    }
}

/// `dnnl_primitive_attr_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_create(attr: New<'_, Attr>) -> Status {
    guard("dnnl_primitive_attr_create", || attr.own("attr", Attr::default()))
}

/// `dnnl_primitive_attr_clone`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_clone(attr: New<'_, Attr>, existing: In<'_, Attr>) -> Status {
    guard("dnnl_primitive_attr_clone", || attr.own("attr", existing.get("existing_attr")?.clone()))
}

/// `dnnl_primitive_attr_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_destroy(attr: Handle<Attr>) -> Status {
    guard("dnnl_primitive_attr_destroy", || {
        attr.destroy();
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_post_ops`: the list is valid as long as the attributes.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_post_ops(attr: In<'_, Attr>, post_ops: New<'_, PostOps>) -> Status {
    guard("dnnl_primitive_attr_get_post_ops", || post_ops.lend("post_ops", &attr.get("attr")?.post_ops))
}

/// `dnnl_primitive_attr_set_post_ops`: copies the list.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_post_ops(attr: InOut<'_, Attr>, post_ops: In<'_, PostOps>) -> Status {
    guard("dnnl_primitive_attr_set_post_ops", || {
        let (attr, post_ops) = (attr.get("attr")?, post_ops.get("post_ops")?);
        attr.post_ops = post_ops.clone();
        attr.spec.post_ops = post_ops.spec();
        Ok(())
    })
}
