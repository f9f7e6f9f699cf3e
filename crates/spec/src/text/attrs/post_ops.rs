//! `--attr-post-ops`.

use super::super::error::{ParseError, Result};
use super::super::layouts;
use super::super::values::{dtype, int, optional_dtype, real};
use super::{entries, quant};
use crate::op::{BinaryAlg, EltwiseAlg};
use crate::{Arg, Attr, DataType, Dims, MAX_POST_OPS, Op, PostOp, Real, Tensor};

/// Reads the list for the results of `op`.
pub(super) fn read(s: &str, op: &Op) -> Result<Vec<PostOp>> {
    let list = entries(s)?;
    if list.len() > MAX_POST_OPS {
        return Err(ParseError::new(list.len(), format_args!("at most {MAX_POST_OPS} post-ops")));
    }
    let mut dims = op.result().map(|t| *t.dims()).unwrap_or_default();
    let mut out = Vec::with_capacity(list.len());
    for entry in list {
        let post_op = one(entry, op, &dims)?;
        dims = behind(&post_op, dims);
        out.push(post_op);
    }
    Ok(out)
}

/// Dims of the result behind a post-op: a depthwise convolution's stride divides the spatial ones.
fn behind(post_op: &PostOp, dims: Dims) -> Dims {
    match post_op {
        PostOp::Depthwise { stride, .. } if *stride > 0 => {
            Dims::from_fn(dims.len(), |d| if d < 2 || dims[d] < 0 { dims[d] } else { dims[d] / stride + i64::from(dims[d] % stride > 0) })
        }
        _ => dims,
    }
}

fn one(entry: &str, op: &Op, dims: &Dims) -> Result<PostOp> {
    let mut parts = entry.split(':');
    let name = parts.next().unwrap_or("");
    let rest: Vec<&str> = parts.collect();
    let at = |i: usize| rest.get(i).copied().filter(|p| !p.is_empty());
    let number = |i: usize, default: f32| at(i).map_or(Ok(Real::new(default)), real);
    let most = |n: usize| {
        if rest.len() <= n { Ok(()) } else { Err(ParseError::new(entry, format_args!("at most {n} parts behind `{name}`"))) }
    };
    if name == "sum" {
        most(3)?;
        let dtype = at(2).map(dtype).transpose()?;
        return Ok(PostOp::Sum { scale: number(0, 1.0)?, zero_point: at(1).map_or(Ok(0), int)?, dtype });
    }
    if name == "prelu" {
        most(1)?;
        return Ok(PostOp::Prelu { mask: quant::mask(at(0).unwrap_or("common"), op, Arg::DST)? });
    }
    if name == "dw" || name.starts_with("dw_") {
        let joined = name.strip_prefix("dw_");
        let shape = joined.or(at(0)).unwrap_or("");
        return depthwise(shape, &rest[usize::from(joined.is_none()).min(rest.len())..], op);
    }
    let bare = name.strip_prefix("eltwise_").or(name.strip_prefix("binary_")).unwrap_or(name);
    if let Some((alg, _)) = EltwiseAlg::NAMES.iter().find(|(_, n)| *n == bare) {
        most(2)?;
        return Ok(PostOp::Eltwise { alg: *alg, alpha: number(0, 0.0)?, beta: number(1, 0.0)? });
    }
    if let Some((alg, _)) = BinaryAlg::NAMES.iter().find(|(_, n)| *n == bare) {
        most(if *alg == BinaryAlg::Select { 6 } else { 3 })?;
        return binary(*alg, &rest, op, dims);
    }
    let names = EltwiseAlg::NAMES.iter().map(|(_, n)| *n).chain(BinaryAlg::NAMES.iter().map(|(_, n)| *n)).chain(["sum", "prelu", "dw"]);
    Err(ParseError::unknown(name, "a post-op", names))
}

/// `DT[:POLICY[:TAG]]` of the second operand; of a select, the same of the condition behind it (else s8, every element, the same tag).
fn binary(alg: BinaryAlg, parts: &[&str], op: &Op, dims: &Dims) -> Result<PostOp> {
    let at = |i: usize| parts.get(i).copied().filter(|p| !p.is_empty());
    let operand = |from: usize, default: [&str; 3]| -> Result<Tensor> {
        let mask = quant::mask(at(from + 1).unwrap_or(default[1]), op, Arg::DST)?;
        let shape = Dims::from_fn(dims.len(), |d| if mask >> d & 1 == 1 { dims[d] } else { 1 });
        let layout = layouts::read(shape, at(from + 2).unwrap_or(default[2]))?;
        Ok(Tensor { dtype: dtype(at(from).unwrap_or(default[0]))?, layout })
    };
    let src1 = operand(0, ["f32", "common", "any"])?;
    let src2 = if alg == BinaryAlg::Select { Some(operand(3, ["s8", "per_tensor", at(2).unwrap_or("any")])?) } else { None };
    Ok(PostOp::Binary { alg, src1, src2 })
}

/// `k3s1p1`, then `DST_DT[:WEIGHTS_DT[:BIAS_DT]]`.
fn depthwise(shape: &str, types: &[&str], op: &Op) -> Result<PostOp> {
    let bad = || ParseError::new(shape, "kernel, stride and padding such as k3s1p1");
    let rest = shape.strip_prefix('k').ok_or_else(bad)?;
    let (k, rest) = rest.split_once('s').ok_or_else(bad)?;
    let (s, p) = rest.split_once('p').ok_or_else(bad)?;
    let size = |s: &str| int::<u16>(s).map(i64::from).map_err(|_| bad());
    let [weights, dst, bias] = depthwise_defaults(op);
    let at = |i: usize| types.get(i).copied().filter(|p| !p.is_empty());
    if types.len() > 3 {
        return Err(ParseError::new(types.join(":"), "DST_DT[:WEIGHTS_DT[:BIAS_DT]]"));
    }
    Ok(PostOp::Depthwise {
        dst: at(0).map_or(Ok(dst.unwrap_or(DataType::F32)), dtype)?,
        weights: at(1).map_or(Ok(weights.unwrap_or(DataType::F32)), dtype)?,
        bias: at(2).map_or(Ok(bias), optional_dtype)?,
        kernel: size(k)?,
        stride: size(s)?,
        padding: size(p)?,
    })
}

/// Types of a depthwise post-op that are not given: those of the convolution's weights, destination and bias.
fn depthwise_defaults(op: &Op) -> [Option<DataType>; 3] {
    match op {
        Op::Conv(c) => [Some(c.weights.dtype), Some(c.dst.dtype), c.bias.as_ref().map(|b| b.dtype)],
        _ => [Some(DataType::F32), Some(DataType::F32), None],
    }
}

/// Writes the list so that [`read`] gives it back.
pub(super) fn write(op: &Op, attr: &Attr) -> String {
    attr.post_ops.iter().map(|p| write_one(p, op)).collect::<Vec<_>>().join("+")
}

/// Joins `parts` behind `name`, without the last ones that are defaults.
fn joined(name: &str, parts: &[(String, &str)]) -> String {
    let used = parts.iter().rposition(|(v, default)| v != default).map_or(0, |i| i + 1);
    parts[..used].iter().fold(name.to_string(), |s, (v, _)| s + ":" + v)
}

fn write_one(post_op: &PostOp, op: &Op) -> String {
    match post_op {
        PostOp::Sum { scale, zero_point, dtype } => {
            let dt = dtype.map_or_else(String::new, |d| d.to_string());
            joined("sum", &[(scale.to_string(), "1"), (zero_point.to_string(), "0"), (dt, "")])
        }
        PostOp::Eltwise { alg, alpha, beta } => joined(alg.name(), &[(alpha.to_string(), "0"), (beta.to_string(), "0")]),
        PostOp::Prelu { mask } => joined("prelu", &[(mask.to_string(), "0")]),
        PostOp::Binary { alg, src1, src2 } => {
            let first = format!("{}:{}:{}", src1.dtype, full_dims(src1), layouts::write(&src1.layout));
            match src2 {
                Some(c) => format!("{}:{first}:{}:{}:{}", alg.name(), c.dtype, full_dims(c), layouts::write(&c.layout)),
                None => joined(
                    alg.name(),
                    &[(src1.dtype.to_string(), ""), (full_dims(src1).to_string(), "0"), (layouts::write(&src1.layout), "any")],
                ),
            }
        }
        PostOp::Depthwise { weights, bias, dst, kernel, stride, padding } => {
            let [w, d, b] = depthwise_defaults(op).map(|d| d.map_or("undef", DataType::name));
            let name = |t: Option<DataType>| t.map_or("undef", DataType::name).to_string();
            let types = [(name(Some(*dst)), d), (name(Some(*weights)), w), (name(*bias), b)];
            joined(&format!("dw:k{kernel}s{stride}p{padding}"), &types)
        }
    }
}

/// Mask of the dims that are not 1.
fn full_dims(t: &Tensor) -> u32 {
    t.dims().iter().enumerate().filter(|(_, v)| **v != 1).map(|(d, _)| 1 << d).sum()
}
