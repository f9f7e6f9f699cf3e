//! Lists of post-ops.
//!
//! A binary post-op keeps the records of its operands, to which the getters point; the records of another one with the same operands, and of
//! copies, are others.

#[cfg(test)]
mod tests;

use crate::handle::{Handle, In, InOut, New, Out, Owned};
use crate::memory_desc::{MemoryDesc, record};
use crate::status::{Failure, Status, guard, guard_value};
use crate::values::{optional_type, value};
use oxidnn_c_common::numbers::{BINARY, DATA_TYPE, ELTWISE, KIND};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{DataType, MAX_POST_OPS, PostOp, Real, Tensor};

/// The object behind a `dnnl_post_ops_t`.
#[derive(Clone, Default, Debug)]
pub struct PostOps(Vec<Entry>);

impl Owned for PostOps {}

#[derive(Clone, Debug)]
struct Entry {
    post_op: PostOp,
    /// Records of the operands of a binary one; boxed, so that they stay where they are when the list grows.
    operands: Option<Box<[MemoryDesc; 2]>>,
}

impl From<PostOp> for Entry {
    fn from(post_op: PostOp) -> Entry {
        let operands = match &post_op {
            PostOp::Binary { src1, src2, .. } => Some(Box::new([record(src1), src2.as_ref().map_or(MemoryDesc::ZERO, record)])),
            _ => None,
        };
        Entry { post_op, operands }
    }
}

impl From<&[PostOp]> for PostOps {
    fn from(list: &[PostOp]) -> PostOps {
        PostOps(list.iter().cloned().map(Entry::from).collect())
    }
}

impl PostOps {
    /// The list as the specification has it.
    pub fn spec(&self) -> Vec<PostOp> {
        self.0.iter().map(|e| e.post_op.clone()).collect()
    }

    fn append(&mut self, post_op: PostOp) -> Result<(), Failure> {
        if self.0.len() >= MAX_POST_OPS {
            let message = format!("out of memory: a list of {MAX_POST_OPS} post-ops is full");
            return Err(Failure { status: Status::OutOfMemory, message });
        }
        self.0.push(post_op.into());
        Ok(())
    }

    fn entry(&self, index: i32) -> Result<&Entry, Failure> {
        let entry = usize::try_from(index).ok().and_then(|i| self.0.get(i));
        entry.ok_or_else(|| Failure::invalid("index", index, format_args!("below {}", self.0.len())))
    }
}

/// `dnnl_primitive_kind_t` of a post-op.
fn kind(post_op: &PostOp) -> i32 {
    KIND.of(match post_op {
        PostOp::Sum { .. } => "sum",
        PostOp::Eltwise { .. } => "eltwise",
        PostOp::Binary { .. } => "binary",
        PostOp::Prelu { .. } => "prelu",
        PostOp::Depthwise { .. } => "convolution",
    })
}

/// The error that the post-op at `index` is of another kind.
fn another<T>(index: i32, expected: &str) -> Result<T, Failure> {
    Err(Failure::invalid("index", format_args!("{index}, which is none"), expected))
}

/// `dnnl_post_ops_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_create(post_ops: New<'_, PostOps>) -> Status {
    guard("dnnl_post_ops_create", || post_ops.own("post_ops", PostOps::default()))
}

/// `dnnl_post_ops_clone`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_clone(post_ops: New<'_, PostOps>, existing: In<'_, PostOps>) -> Status {
    guard("dnnl_post_ops_clone", || post_ops.own("post_ops", existing.get("existing_post_ops")?.clone()))
}

/// `dnnl_post_ops_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_destroy(post_ops: Handle<PostOps>) -> Status {
    guard("dnnl_post_ops_destroy", || {
        post_ops.destroy();
        Ok(())
    })
}

/// `dnnl_post_ops_len`; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_len(post_ops: In<'_, PostOps>) -> i32 {
    guard_value("dnnl_post_ops_len", 0, || Ok(post_ops.optional().map_or(0, |p| p.0.len() as i32)))
}

/// `dnnl_post_ops_get_kind`; undefined for a null pointer and an index without post-op.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_get_kind(post_ops: In<'_, PostOps>, index: i32) -> i32 {
    guard_value("dnnl_post_ops_get_kind", 0, || Ok(kind(&post_ops.get("post_ops")?.entry(index)?.post_op)))
}

/// `dnnl_post_ops_append_sum`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_append_sum(post_ops: InOut<'_, PostOps>, scale: f32, zero_point: i32, dtype: i32) -> Status {
    guard("dnnl_post_ops_append_sum", || {
        let dtype = optional_type(dtype)?;
        post_ops.get("post_ops")?.append(PostOp::Sum { scale: Real::new(scale), zero_point, dtype })
    })
}

/// `dnnl_post_ops_get_params_sum`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_get_params_sum(
    post_ops: In<'_, PostOps>,
    index: i32,
    scale: Out<'_, f32>,
    zero_point: Out<'_, i32>,
    dtype: Out<'_, i32>,
) -> Status {
    guard("dnnl_post_ops_get_params_sum", || match &post_ops.get("post_ops")?.entry(index)?.post_op {
        PostOp::Sum { scale: s, zero_point: z, dtype: d } => {
            scale.set_optional(s.get());
            zero_point.set_optional(*z);
            dtype.set_optional(number(*d));
            Ok(())
        }
        _ => another(index, "a sum"),
    })
}

/// The number of a data type that may be left out.
fn number(dtype: Option<DataType>) -> i32 {
    dtype.map_or(0, |d| DATA_TYPE.of(d))
}

/// `dnnl_post_ops_append_eltwise`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_append_eltwise(post_ops: InOut<'_, PostOps>, alg: i32, alpha: f32, beta: f32) -> Status {
    guard("dnnl_post_ops_append_eltwise", || {
        let post_ops = post_ops.get("post_ops")?;
        let alg = value(&ELTWISE, alg)?;
        check_eltwise(alg, alpha, beta)?;
        post_ops.append(PostOp::Eltwise { alg, alpha: Real::new(alpha), beta: Real::new(beta) })
    })
}

/// Parameters that make a function of `alg`.
fn check_eltwise(alg: EltwiseAlg, alpha: f32, beta: f32) -> Result<(), Failure> {
    use EltwiseAlg::*;
    match alg {
        Clip | ClipV2 | ClipV2Dst if beta < alpha => Err(Failure::invalid("beta", beta, format_args!("at least alpha = {alpha}"))),
        ReluDst | EluDst if alpha < 0.0 => Err(Failure::invalid("alpha", alpha, "at least 0")),
        _ => Ok(()),
    }
}

/// `dnnl_post_ops_get_params_eltwise`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_get_params_eltwise(
    post_ops: In<'_, PostOps>,
    index: i32,
    alg: Out<'_, i32>,
    alpha: Out<'_, f32>,
    beta: Out<'_, f32>,
) -> Status {
    guard("dnnl_post_ops_get_params_eltwise", || match &post_ops.get("post_ops")?.entry(index)?.post_op {
        PostOp::Eltwise { alg: g, alpha: a, beta: b } => {
            alg.set_optional(ELTWISE.of(*g));
            alpha.set_optional(a.get());
            beta.set_optional(b.get());
            Ok(())
        }
        _ => another(index, "an eltwise"),
    })
}

/// `dnnl_post_ops_append_dw`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_append_dw(
    post_ops: InOut<'_, PostOps>,
    weights: i32,
    bias: i32,
    dst: i32,
    kernel: i64,
    stride: i64,
    padding: i64,
) -> Status {
    guard("dnnl_post_ops_append_dw", || {
        let post_ops = post_ops.get("post_ops")?;
        let (weights, bias, dst) = (value(&DATA_TYPE, weights)?, optional_type(bias)?, value(&DATA_TYPE, dst)?);
        if kernel < 1 || stride < 1 || padding >= kernel {
            let got = format_args!("kernel {kernel}, stride {stride}, padding {padding}");
            return Err(Failure::invalid("window", got, "kernel and stride from 1, padding below the kernel"));
        }
        post_ops.append(PostOp::Depthwise { weights, bias, dst, kernel, stride, padding })
    })
}

/// `dnnl_post_ops_get_params_dw`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_get_params_dw(
    post_ops: In<'_, PostOps>,
    index: i32,
    weights: Out<'_, i32>,
    bias: Out<'_, i32>,
    dst: Out<'_, i32>,
    kernel: Out<'_, i64>,
    stride: Out<'_, i64>,
    padding: Out<'_, i64>,
) -> Status {
    guard("dnnl_post_ops_get_params_dw", || match &post_ops.get("post_ops")?.entry(index)?.post_op {
        PostOp::Depthwise { weights: w, bias: b, dst: d, kernel: k, stride: s, padding: p } => {
            for (place, dtype) in [(weights, Some(*w)), (bias, *b), (dst, Some(*d))] {
                place.set_optional(number(dtype));
            }
            for (place, size) in [(kernel, k), (stride, s), (padding, p)] {
                place.set_optional(*size);
            }
            Ok(())
        }
        _ => another(index, "a depthwise convolution"),
    })
}

/// `dnnl_post_ops_append_binary`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_append_binary(post_ops: InOut<'_, PostOps>, alg: i32, src1: In<'_, MemoryDesc>) -> Status {
    guard("dnnl_post_ops_append_binary", || append_binary(post_ops, alg, src1, None.into()))
}

/// `dnnl_post_ops_append_binary_v2`: with the condition of a select, which other functions ignore.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_append_binary_v2(
    post_ops: InOut<'_, PostOps>,
    alg: i32,
    src1: In<'_, MemoryDesc>,
    src2: In<'_, MemoryDesc>,
) -> Status {
    guard("dnnl_post_ops_append_binary_v2", || append_binary(post_ops, alg, src1, src2))
}

fn append_binary(post_ops: InOut<'_, PostOps>, alg: i32, src1: In<'_, MemoryDesc>, src2: In<'_, MemoryDesc>) -> Result<(), Failure> {
    let post_ops = post_ops.get("post_ops")?;
    let alg = value(&BINARY, alg)?;
    let src1 = sized(src1.tensor("src1_desc")?)?;
    let src2 = if alg == BinaryAlg::Select { Some(sized(src2.tensor("src2_desc")?)?) } else { None };
    post_ops.append(PostOp::Binary { alg, src1, src2 })
}

/// A tensor whose sizes and strides are known now.
fn sized(tensor: Tensor) -> Result<Tensor, Failure> {
    if tensor.layout.has_runtime() {
        return Err(Failure::invalid("post-op operand", tensor.summary(), "sizes and strides known now"));
    }
    Ok(tensor)
}

/// `dnnl_post_ops_get_params_binary`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_get_params_binary(
    post_ops: In<'_, PostOps>,
    index: i32,
    alg: Out<'_, i32>,
    src1: Out<'_, *const MemoryDesc>,
) -> Status {
    guard("dnnl_post_ops_get_params_binary", || {
        let (number, [first, _]) = binary(post_ops.get("post_ops")?, index)?;
        alg.set_optional(number);
        src1.set_optional(first);
        Ok(())
    })
}

/// `dnnl_post_ops_get_params_binary_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_get_params_binary_v2(
    post_ops: In<'_, PostOps>,
    index: i32,
    alg: Out<'_, i32>,
    src1: Out<'_, *const MemoryDesc>,
    src2: Out<'_, *const MemoryDesc>,
) -> Status {
    guard("dnnl_post_ops_get_params_binary_v2", || {
        let (number, [first, second]) = binary(post_ops.get("post_ops")?, index)?;
        alg.set_optional(number);
        src1.set_optional(first);
        src2.set_optional(second);
        Ok(())
    })
}

/// The algorithm of a binary and its operands.
fn binary(post_ops: &PostOps, index: i32) -> Result<(i32, &[MemoryDesc; 2]), Failure> {
    match post_ops.entry(index)? {
        Entry { post_op: PostOp::Binary { alg, .. }, operands: Some(operands) } => Ok((BINARY.of(*alg), operands)),
        _ => another(index, "a binary"),
    }
}

/// `dnnl_post_ops_append_prelu`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_append_prelu(post_ops: InOut<'_, PostOps>, mask: i32) -> Status {
    guard("dnnl_post_ops_append_prelu", || post_ops.get("post_ops")?.append(PostOp::Prelu { mask: mask as u32 }))
}

/// `dnnl_post_ops_get_params_prelu`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_post_ops_get_params_prelu(post_ops: In<'_, PostOps>, index: i32, mask: Out<'_, i32>) -> Status {
    guard("dnnl_post_ops_get_params_prelu", || match &post_ops.get("post_ops")?.entry(index)?.post_op {
        PostOp::Prelu { mask: m } => {
            mask.set_optional(*m as i32);
            Ok(())
        }
        _ => another(index, "a prelu"),
    })
}
