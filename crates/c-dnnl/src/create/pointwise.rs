//! Eltwise, softmax, shuffle, prelu, binary, reduction, resampling.

use super::{Creation, axis, diff, forward, source};
use crate::attr::Attr;
use crate::engine::Engine;
use crate::handle::{Array, In, New};
use crate::memory_desc::MemoryDesc;
use crate::primitive_desc::PrimitiveDesc;
use crate::status::{Failure, Status, guard};
use crate::values::value;
use oxidnn_c_common::numbers::{BINARY, ELTWISE, REDUCTION, RESAMPLING, SOFTMAX};
use oxidnn_spec::op::{Binary, BinaryAlg, Eltwise, EltwiseAlg, Prelu, Prop, Reduction, Resampling, Shuffle, Softmax};
use oxidnn_spec::{DataType, Dims, Real, Tensor};

/// Refuses functions that a type does not have: integers have three functions, and as oneDNN numbers them six of those whose gradients read
/// the result; rounding is for f32.
fn check_eltwise(alg: EltwiseAlg, dtype: DataType) -> Result<(), Failure> {
    let integer = matches!(dtype, DataType::S32 | DataType::S8 | DataType::U8);
    let fits = match alg {
        EltwiseAlg::Relu | EltwiseAlg::Linear | EltwiseAlg::Clip => true,
        EltwiseAlg::ReluDst | EltwiseAlg::TanhDst | EltwiseAlg::EluDst => true,
        EltwiseAlg::SqrtDst | EltwiseAlg::LogisticDst | EltwiseAlg::ExpDst => true,
        EltwiseAlg::Round => dtype == DataType::F32,
        _ => !integer,
    };
    if fits { Ok(()) } else { Err(Failure::invalid("alg_kind", format_args!("{} of {dtype}", alg.name()), "a function that the type has")) }
}

/// `dnnl_eltwise_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_eltwise_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    alg: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    alpha: f32,
    beta: f32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_eltwise_forward_primitive_desc_create", || {
        let (prop, alg) = (forward(prop)?, value(&ELTWISE, alg)?);
        let (src, dst) = (source(src, "src_desc")?, dst.tensor("dst_desc")?);
        check_eltwise(alg, src.dtype)?;
        Creation::forward(pd, engine, attr).make(Eltwise::forward(prop, alg, [alpha, beta], src, dst))
    })
}

/// `dnnl_eltwise_backward_primitive_desc_create`: `data` is the source, or the destination for functions that use it.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_eltwise_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    data: In<'_, MemoryDesc>,
    alpha: f32,
    beta: f32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_eltwise_backward_primitive_desc_create", || {
        let (alg, data, diff) = (value(&ELTWISE, alg)?, data.tensor("data_desc")?, diff(diff_src, diff_dst)?);
        Creation { pd, engine, hint, attr }.make(Eltwise::backward(alg, [alpha, beta], data, diff))
    })
}

/// `dnnl_softmax_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_softmax_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    alg: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    along: i32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_softmax_forward_primitive_desc_create", || {
        Creation::forward(pd, engine, attr).make(Softmax {
            prop: forward(prop)?,
            alg: value(&SOFTMAX, alg)?,
            src: Some(source(src, "src_desc")?),
            dst: dst.tensor("dst_desc")?,
            diff_src: None,
            diff_dst: None,
            axis: axis(along)?,
        })
    })
}

/// `dnnl_softmax_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_softmax_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    along: i32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_softmax_backward_primitive_desc_create", || {
        let diff = diff(diff_src, diff_dst)?;
        Creation { pd, engine, hint, attr }.make(Softmax {
            prop: Prop::BackwardData,
            alg: value(&SOFTMAX, alg)?,
            src: None,
            dst: dst.tensor("dst_desc")?,
            diff_src: Some(diff.src),
            diff_dst: Some(diff.dst),
            axis: axis(along)?,
        })
    })
}

/// `dnnl_shuffle_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_shuffle_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    along: i32,
    group_size: i64,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_shuffle_forward_primitive_desc_create", || {
        let (prop, axis) = (forward(prop)?, axis(along)?);
        let (src, dst) = (source(src, "src_desc")?, dst.tensor("dst_desc")?);
        Creation::forward(pd, engine, attr).make(Shuffle { prop, src, dst, axis, group_size })
    })
}

/// `dnnl_shuffle_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_shuffle_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    along: i32,
    group_size: i64,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_shuffle_backward_primitive_desc_create", || {
        let (diff, axis) = (diff(diff_src, diff_dst)?, axis(along)?);
        let op = Shuffle { prop: Prop::BackwardData, src: diff.src, dst: diff.dst, axis, group_size };
        Creation { pd, engine, hint, attr }.make(op)
    })
}

/// `dnnl_prelu_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_prelu_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_prelu_forward_primitive_desc_create", || {
        Creation::forward(pd, engine, attr).make(Prelu {
            prop: forward(prop)?,
            src: source(src, "src_desc")?,
            weights: weights.tensor("weights_desc")?,
            dst: Some(dst.tensor("dst_desc")?),
            diff_src: None,
            diff_weights: None,
            diff_dst: None,
        })
    })
}

/// `dnnl_prelu_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_prelu_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    diff_src: In<'_, MemoryDesc>,
    diff_weights: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_prelu_backward_primitive_desc_create", || {
        let diff = diff(diff_src, diff_dst)?;
        Creation { pd, engine, hint, attr }.make(Prelu {
            prop: Prop::Backward,
            src: source(src, "src_desc")?,
            weights: weights.tensor("weights_desc")?,
            dst: None,
            diff_src: Some(diff.src),
            diff_weights: Some(diff_weights.tensor("diff_weights_desc")?),
            diff_dst: Some(diff.dst),
        })
    })
}

/// `dnnl_binary_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_binary_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    src0: In<'_, MemoryDesc>,
    src1: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_binary_primitive_desc_create", || Creation::forward(pd, engine, attr).make(binary(alg, [src0, src1, None.into()], dst)?))
}

/// `dnnl_binary_primitive_desc_create_v2`: with the condition of a select, which other functions ignore.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_binary_primitive_desc_create_v2(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    src0: In<'_, MemoryDesc>,
    src1: In<'_, MemoryDesc>,
    src2: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_binary_primitive_desc_create_v2", || Creation::forward(pd, engine, attr).make(binary(alg, [src0, src1, src2], dst)?))
}

fn binary(alg: i32, [src0, src1, src2]: [In<'_, MemoryDesc>; 3], dst: In<'_, MemoryDesc>) -> Result<Binary, Failure> {
    let alg = value(&BINARY, alg)?;
    let src2 = if alg == BinaryAlg::Select { src2 } else { None.into() };
    Ok(Binary {
        alg,
        src0: source(src0, "src0_desc")?,
        src1: src1.tensor("src1_desc")?,
        src2: src2.optional_tensor("src2_desc")?,
        dst: dst.tensor("dst_desc")?,
    })
}

/// `dnnl_reduction_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_reduction_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    p: f32,
    eps: f32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_reduction_primitive_desc_create", || {
        let alg = value(&REDUCTION, alg)?;
        let (src, dst) = (source(src, "src_desc")?, dst.tensor("dst_desc")?);
        if alg.is_norm() && src.dtype.is_integral() {
            return Err(Failure::invalid("src_desc", src.dtype, "a floating-point type for a norm"));
        }
        Creation::forward(pd, engine, attr).make(Reduction { alg, src, dst, p: Real::new(p), eps: Real::new(eps) })
    })
}

/// `dnnl_resampling_forward_primitive_desc_create`: with factors, a destination, or both.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_resampling_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    alg: i32,
    factors: Array<'_, f32>,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_resampling_forward_primitive_desc_create", || {
        let (prop, alg, src) = (forward(prop)?, value(&RESAMPLING, alg)?, source(src, "src_desc")?);
        let factors = spatial_factors(factors, &src)?;
        let dst = match dst.optional() {
            Some(_) => dst.tensor("dst_desc")?,
            None => resampled(&src, &factors)?,
        };
        Creation::forward(pd, engine, attr).make(Resampling { prop, alg, src, dst, factors })
    })
}

/// `dnnl_resampling_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_resampling_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    factors: Array<'_, f32>,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_resampling_backward_primitive_desc_create", || {
        let (alg, diff) = (value(&RESAMPLING, alg)?, diff(diff_src, diff_dst)?);
        let factors = spatial_factors(factors, &diff.src)?;
        let op = Resampling { prop: Prop::BackwardData, alg, src: diff.src, dst: diff.dst, factors };
        Creation { pd, engine, hint, attr }.make(op)
    })
}

/// One factor per spatial dimension; none if the sizes determine them.
fn spatial_factors(factors: Array<'_, f32>, src: &Tensor) -> Result<Vec<Real>, Failure> {
    if factors.is_null() {
        return Ok(Vec::new());
    }
    let n = src.dims().len();
    if !(3..=5).contains(&n) {
        return Err(Failure::invalid("src_desc", src.dims(), "3 to 5 dimensions"));
    }
    Ok(factors.slice("factors", n - 2)?.iter().copied().map(Real::new).collect())
}

/// The destination that follows from a source and the factors.
fn resampled(src: &Tensor, factors: &[Real]) -> Result<Tensor, Failure> {
    if factors.is_empty() {
        return Err(Failure::null("dst_desc"));
    }
    let dims = src.dims();
    let size = |d: usize| match d.checked_sub(2) {
        Some(i) => (dims[d] as f64 * f64::from(factors[i].get())) as i64,
        None => dims[d],
    };
    Ok(Tensor::any(Dims::from_fn(dims.len(), size), src.dtype))
}
