//! Fusion: a convolution or a matrix product with the element-wise operations that follow, as one primitive with post-ops.

use super::conv::{Slide, flipped, grouped};
use super::pointwise::{binary, floor_of, function, mode, propagates};
use super::value::Val;
use super::{Lowering, unsupported};
use crate::backend::graph::Node;
use crate::backend::schema::kind;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, Conv, ConvAlg, EltwiseAlg, Matmul, Prop};
use oxidnn_spec::{Arg, DataType, MAX_POST_OPS, Op, PostOp, Problem, Real};

/// The second operand of a function.
#[derive(Clone, Copy)]
enum Other {
    /// The tensor of an attribute.
    Tensor(i32),
    Number(f64),
}

/// An element-wise operation as post-ops, with the tensor that the last one reads.
struct Link {
    scale: Option<f32>,
    function: Option<(EltwiseAlg, [f32; 2])>,
    /// The function, and its operands other than the result so far.
    binary: Option<(BinaryAlg, Other)>,
    output: i64,
}

/// Lowers the chain that begins with node `first`, if there is one; returns its number of operations.
pub(super) fn chain(l: &mut Lowering<'_>, first: usize) -> Result<usize, Failure> {
    let head = &l.graph.nodes[first];
    if !matches!(head.op.descriptor.id, kind::CONVOLUTION_FORWARD | kind::OPERATION_MATMUL) {
        return Ok(0);
    }
    let graph = l.graph;
    let mut links = Vec::new();
    let mut at = head.writes.first().copied().unwrap_or(-1);
    for node in &graph.nodes[first + 1..] {
        let tensor = graph.tensors.get(&at);
        // An intermediate tensor must have no other use, and its type must not be narrower than that of sums.
        let inner = tensor.is_some_and(|t| t.is_virtual && t.dtype == CUDNN_DATA_FLOAT);
        let readers = graph.nodes.iter().flat_map(|n| &n.reads).filter(|&&uid| uid == at).count();
        match link(l, node, at).filter(|_| inner && readers == 1 && links.len() < MAX_POST_OPS / 3) {
            Some(link) => {
                at = link.output;
                links.push((node, link));
            }
            None => break,
        }
    }
    let written_before = |uid: &i64| !graph.nodes[first..].iter().any(|n| n.writes.contains(uid));
    let known =
        links.iter().take_while(|(node, _)| node.reads.iter().all(|uid| written_before(uid) || uid_of_chain(&links, head, *uid))).count();
    links.truncate(known);
    while !links.is_empty() {
        let steps = l.steps.len();
        match fused(l, head, &links) {
            Ok(true) => return Ok(links.len() + 1),
            Ok(false) | Err(_) => {
                l.steps.truncate(steps);
                links.pop();
            }
        }
    }
    Ok(0)
}

/// Whether the tensor is written by the chain itself.
fn uid_of_chain(links: &[(&Node, Link)], head: &Node, uid: i64) -> bool {
    head.writes.contains(&uid) || links.iter().any(|(_, link)| link.output == uid)
}

/// The operation as a link after the tensor `at`, if it is one.
fn link(l: &Lowering<'_>, node: &Node, at: i64) -> Option<Link> {
    let op = &node.op;
    if op.descriptor.id != kind::OPERATION_POINTWISE {
        return None;
    }
    let parameters = op.object(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)?;
    if parameters.int(CUDNN_ATTR_POINTWISE_MATH_PREC) != Some(i64::from(CUDNN_DATA_FLOAT)) {
        return None;
    }
    let uid = |id| op.tensor(id).map(|t| t.uid);
    let output = uid(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)?;
    let factor = |id| op.real(id).unwrap_or(1.0) as f32;
    let scale = Some(factor(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1)).filter(|&f| f != 1.0);
    if uid(CUDNN_ATTR_OPERATION_POINTWISE_XDESC) != Some(at) {
        return None;
    }
    let same = l.graph.tensors.get(&at)?.dims == l.graph.tensors.get(&output)?.dims;
    if !same {
        return None;
    }
    if let Some(alg) = binary(mode(op)) {
        let plain = factor(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2) == 1.0;
        let extremum = matches!(alg, BinaryAlg::Max | BinaryAlg::Min);
        let arithmetic = mode(op) < CUDNN_POINTWISE_CMP_EQ && !(extremum && propagates(parameters));
        return (plain && arithmetic).then_some(Link {
            scale,
            function: None,
            binary: Some((alg, Other::Tensor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC))),
            output,
        });
    }
    if let Some(floor) = floor_of(parameters, mode(op)) {
        return Some(Link { scale, function: None, binary: Some((BinaryAlg::Max, Other::Number(floor))), output });
    }
    let function = function(parameters, mode(op))?;
    let drops = function.0 == EltwiseAlg::ClipV2 && !propagates(parameters);
    let floor = drops.then_some((BinaryAlg::Max, Other::Number(f64::from(function.1[0]))));
    Some(Link { scale, function: Some(function), binary: floor, output })
}

/// The chain as one primitive; false if there is no such primitive.
fn fused(l: &mut Lowering<'_>, head: &Node, links: &[(&Node, Link)]) -> Result<bool, Failure> {
    l.real = DataType::F32;
    let mut attr = l.attr();
    let mut others: Vec<(Arg, Val)> = Vec::new();
    let rank = links.last().and_then(|(_, link)| l.graph.tensors.get(&link.output)).map_or(1, |t| t.dims.len());
    for (node, link) in links {
        if let Some(alpha) = link.scale {
            attr.post_ops.push(PostOp::Eltwise { alg: EltwiseAlg::Linear, alpha: Real::new(alpha), beta: Real::new(0.0) });
        }
        if let Some((alg, other)) = link.binary {
            let other = match other {
                Other::Tensor(id) => l.read(&node.op, id)?,
                Other::Number(value) => l.number(value)?.at_rank(rank)?,
            };
            attr.post_ops.push(PostOp::Binary { alg, src1: other.tensor.clone(), src2: None });
            others.push((Arg::post_op(attr.post_ops.len() - 1, Arg::SRC_1), other));
        }
        if let Some((alg, [alpha, beta])) = link.function {
            attr.post_ops.push(PostOp::Eltwise { alg, alpha: Real::new(alpha), beta: Real::new(beta) });
        }
    }
    let Some((last, _)) = links.last() else { return Ok(false) };
    let y = l.output(&last.op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC)?;
    let (op, mut args): (Op, Vec<(Arg, Val)>) = match head.op.descriptor.id {
        kind::CONVOLUTION_FORWARD => convolution(l, head, &y)?,
        _ => product(l, head, &y)?,
    };
    if !l.bits.is_empty() || Problem::new(op.clone(), attr.clone()).is_err() {
        l.bits.clear();
        return Ok(false);
    }
    args.extend(others);
    let args: Vec<(Arg, &Val)> = args.iter().map(|(arg, value)| (*arg, value)).collect();
    l.step_with(op, attr, &args)?;
    Ok(true)
}

type Parts = (Op, Vec<(Arg, Val)>);

fn convolution(l: &mut Lowering<'_>, head: &Node, y: &Val) -> Result<Parts, Failure> {
    let op = &head.op;
    let parameters = op.object(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC).ok_or_else(|| unsupported("no parameters"))?;
    let slide = Slide::of(parameters)?;
    let alpha = op.real(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA).unwrap_or(1.0);
    let beta = op.real(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA).unwrap_or(0.0);
    if alpha != 1.0 || beta != 0.0 {
        return Err(unsupported("factors in a chain"));
    }
    let x = l.read(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X)?;
    let w = l.read(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W)?;
    let w = if slide.flipped { flipped(l, &w, slide.window.strides.len())? } else { w };
    let w = grouped(l, &w, x.dims().get(1).copied().unwrap_or(0))?;
    let tensors = [x.tensor.clone(), l.weights_layout(&w), y.tensor.clone()];
    let problem = Conv::new(Prop::ForwardInference, ConvAlg::Direct, tensors, None, slide.window);
    Ok((problem.into(), vec![(Arg::SRC, x), (Arg::WEIGHTS, w), (Arg::DST, y.clone())]))
}

fn product(l: &mut Lowering<'_>, head: &Node, y: &Val) -> Result<Parts, Failure> {
    let op = &head.op;
    let lengths = [
        CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC,
        CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC,
        CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC,
    ];
    if lengths.into_iter().any(|id| op.has(id)) {
        return Err(unsupported("lengths in a chain"));
    }
    let (a, b) = (l.read(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC)?, l.read(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC)?);
    let problem = Matmul { src: a.tensor.clone(), weights: b.tensor.clone(), bias: None, dst: y.tensor.clone() };
    Ok((problem.into(), vec![(Arg::SRC, a), (Arg::WEIGHTS, b), (Arg::DST, y.clone())]))
}
