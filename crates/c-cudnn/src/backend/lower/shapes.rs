//! Shape inference for virtual tensors from the sizes of an execution.

use super::conv::Slide;
use crate::backend::graph::{Graph, Node};
use crate::backend::schema::kind;
use crate::backend::tensor::TensorDesc;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::Dims;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Adds the virtual tensors whose sizes change.
///
/// # Errors
/// `NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE` for operations whose result's sizes do not follow from those of their inputs.
pub(crate) fn follow(graph: &Graph, changed: &mut BTreeMap<i64, Arc<TensorDesc>>) -> Result<(), Failure> {
    for node in &graph.nodes {
        if !node.reads.iter().any(|uid| changed.contains_key(uid)) {
            continue;
        }
        for uid in &node.writes {
            let old = &graph.tensors[uid];
            if !old.is_virtual || changed.contains_key(uid) {
                continue;
            }
            let dims = result(graph, node, changed)?;
            if dims.len() != old.dims.len() {
                return Err(impossible(node));
            }
            // Keep the order of dimensions in memory.
            let mut order: Vec<usize> = (0..dims.len()).collect();
            order.sort_by_key(|&d| (old.strides[d], std::cmp::Reverse(d)));
            let (mut strides, mut next) = (dims, 1);
            for d in order {
                strides[d] = next;
                next *= dims[d];
            }
            changed.insert(*uid, Arc::new(TensorDesc { dims, strides, ..(**old).clone() }));
        }
    }
    Ok(())
}

fn impossible(node: &Node) -> Failure {
    let what = format_args!("{}: sizes of its result do not follow from what it reads", node.op.descriptor.name);
    Failure::new(CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE, what)
}

/// The sizes of an operation's outputs.
fn result(graph: &Graph, node: &Node, changed: &BTreeMap<i64, Arc<TensorDesc>>) -> Result<Dims, Failure> {
    let dims = |uid: i64| changed.get(&uid).or_else(|| graph.tensors.get(&uid)).map(|t| t.dims);
    let tensor = |id: i32| node.op.tensor(id).and_then(|t| dims(t.uid)).ok_or_else(|| impossible(node));
    match node.op.descriptor.id {
        kind::OPERATION_POINTWISE | kind::BAND_MASK => {
            let all: Vec<Dims> = node.reads.iter().filter_map(|&uid| dims(uid)).collect();
            let first = *all.first().ok_or_else(|| impossible(node))?;
            Ok(Dims::from_fn(first.len(), |d| all.iter().filter_map(|t| t.get(d).copied()).max().unwrap_or(1)))
        }
        kind::OPERATION_MATMUL => {
            let (a, b) = (tensor(CUDNN_ATTR_OPERATION_MATMUL_ADESC)?, tensor(CUDNN_ATTR_OPERATION_MATMUL_BDESC)?);
            let n = a.len();
            if n < 2 || b.len() != n {
                return Err(impossible(node));
            }
            Ok(Dims::from_fn(n, |d| {
                if d + 1 == n {
                    b[d]
                } else if d + 2 == n {
                    a[d]
                } else {
                    a[d].max(b[d])
                }
            }))
        }
        kind::OPERATION_REDUCTION => {
            let x = tensor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC)?;
            let old = node.op.tensor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC).map(|t| t.dims).ok_or_else(|| impossible(node))?;
            Ok(Dims::from_fn(x.len(), |d| if old.get(d) == Some(&1) { 1 } else { x[d] }))
        }
        kind::CONVOLUTION_FORWARD => {
            let (x, w) = (tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X)?, tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W)?);
            let parameters = node.op.object(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC).ok_or_else(|| impossible(node))?;
            let spatial = x.get(2..).zip(w.get(2..)).and_then(|(x, w)| Slide::of(parameters).ok()?.window.output(x, w));
            let spatial = spatial.ok_or_else(|| impossible(node))?;
            Ok(Dims::from_fn(x.len(), |d| {
                if d == 0 {
                    x[0]
                } else if d == 1 {
                    w[0]
                } else {
                    spatial[d - 2]
                }
            }))
        }
        kind::SOFTMAX | kind::NORM_FORWARD => node.reads.first().and_then(|&uid| dims(uid)).ok_or_else(|| impossible(node)),
        _ => Err(impossible(node)),
    }
}
