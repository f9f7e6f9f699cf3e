//! Spatial transformers: the grid of an affine transform is a matrix product, `loops::sampler` samples the image.

use crate::enums::*;
use crate::exec::{Blend, Job, Place};
use crate::handle::Handle;
use crate::loops::sampler;
use crate::pointers::{self, Array, Data, In, InOut, New, Owned};
use crate::status::{Failure, Status, guard};
use crate::tensor::{TensorDesc, list};
use crate::values;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, DataType, Dims, Tensor};

/// The object behind a `cudnnSpatialTransformerDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct TransformerDesc {
    set: Option<(DataType, Dims)>,
}

impl Owned for TransformerDesc {}

impl TransformerDesc {
    /// Type and sizes (N, C, H, W) of the output.
    pub(crate) fn get(&self) -> Result<(DataType, Dims), Failure> {
        self.set.ok_or_else(|| Failure::invalid("stDesc", "a descriptor that was never set", "one that describes a transformer"))
    }

    /// The grid: N x H x W x 2.
    pub(crate) fn grid(&self) -> Result<Tensor, Failure> {
        let (dtype, d) = self.get()?;
        Ok(Tensor::plain([d[0], d[2], d[3], 2], dtype)?)
    }
}

/// The grid before the transform, in homogeneous coordinates (x, y, 1) with x and y from -1 to 1: HW x 3.
fn points(handle: &Handle, dtype: DataType, [h, w]: [i64; 2]) -> Result<Memory<'static>, Failure> {
    let memory = Memory::new(handle.engine(), Tensor::plain([1, h * w, 3], dtype)?)?;
    let place = |i: i64, n: i64| if n > 1 { 2.0 * i as f64 / (n - 1) as f64 - 1.0 } else { 0.0 };
    memory.write_with(|i| {
        let point = i as i64 / 3;
        match i % 3 {
            0 => place(point % w, w),
            1 => place(point / w, h),
            _ => 1.0,
        }
    })?;
    Ok(memory)
}

/// `dst = src * weights`, a batched matrix product.
fn multiply(handle: &Handle, operands: [(Tensor, Place); 2], dst: (Tensor, Data)) -> Result<(), Failure> {
    let [src, weights] = operands;
    let op = Matmul { src: src.0, weights: weights.0, bias: None, dst: dst.0 };
    Job::new(op).arg(Arg::SRC, src.1).arg(Arg::WEIGHTS, weights.1).arg(Arg::DST, dst.1).run(handle)
}

/// `cudnnCreateSpatialTransformerDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateSpatialTransformerDescriptor(st_desc: New<'_, TransformerDesc>) -> Status {
    guard("cudnnCreateSpatialTransformerDescriptor", || st_desc.own("stDesc", || Ok(TransformerDesc::default())))
}

/// `cudnnDestroySpatialTransformerDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroySpatialTransformerDescriptor(desc: pointers::Handle<TransformerDesc>) -> Status {
    guard("cudnnDestroySpatialTransformerDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetSpatialTransformerNdDescriptor`: 2D only.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetSpatialTransformerNdDescriptor(
    st_desc: InOut<'_, TransformerDesc>,
    sampler_type: i32,
    data_type: i32,
    nb_dims: i32,
    dim_a: Array<'_, i32>,
) -> Status {
    guard("cudnnSetSpatialTransformerNdDescriptor", || {
        values::check("samplerType", "cudnnSamplerType_t", sampler_type)?;
        let (dtype, dims) = (values::data_type("dataType", data_type)?, list("dimA", dim_a, nb_dims)?);
        if dims.len() != 4 || dims.iter().any(|&d| d < 1) {
            return Err(Failure::invalid("dimA", dims, "N, C, H and W of at least 1"));
        }
        if !matches!(dtype, DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16) {
            return Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, format_args!("dataType: {dtype}, expected a real type")));
        }
        st_desc.get("stDesc")?.set = Some((dtype, dims));
        Ok(())
    })
}

/// `cudnnSpatialTfGridGeneratorForward`: corners are aligned, -1 and 1 are the centres of the outermost pixels.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSpatialTfGridGeneratorForward(
    handle: In<'_, Handle>,
    st_desc: In<'_, TransformerDesc>,
    theta: Data,
    grid: Data,
) -> Status {
    guard("cudnnSpatialTfGridGeneratorForward", || {
        let (handle, (dtype, d)) = (handle.get("handle")?, st_desc.get("stDesc")?.get()?);
        let size = [d[2], d[3]];
        let base = points(handle, dtype, size)?;
        // Rows of theta are columns of the product.
        let turned = Tensor::with_strides([d[0], 3, 2], dtype, Some(Dims::from([6, 1, 3])))?;
        let result = Tensor::plain([d[0], size[0] * size[1], 2], dtype)?;
        multiply(handle, [(base.tensor().clone(), base.into()), (turned, theta.some("theta")?.into())], (result, grid.some("grid")?))
    })
}

/// `cudnnSpatialTfGridGeneratorBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSpatialTfGridGeneratorBackward(
    handle: In<'_, Handle>,
    st_desc: In<'_, TransformerDesc>,
    dgrid: Data,
    dtheta: Data,
) -> Status {
    guard("cudnnSpatialTfGridGeneratorBackward", || {
        let (handle, (dtype, d)) = (handle.get("handle")?, st_desc.get("stDesc")?.get()?);
        let size = [d[2], d[3]];
        let base = points(handle, dtype, size)?;
        let count = size[0] * size[1];
        let turned = Tensor::with_strides([d[0], 2, count], dtype, Some(Dims::from([2 * count, 1, 2])))?;
        let result = Tensor::plain([d[0], 2, 3], dtype)?;
        multiply(handle, [(turned, dgrid.some("dgrid")?.into()), (base.tensor().clone(), base.into())], (result, dtheta.some("dtheta")?))
    })
}

/// `cudnnSpatialTfSamplerForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSpatialTfSamplerForward(
    handle: In<'_, Handle>,
    st_desc: In<'_, TransformerDesc>,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    grid: Data,
    beta: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnSpatialTfSamplerForward", || {
        let (handle, desc) = (handle.get("handle")?, st_desc.get("stDesc")?);
        let (x_tensor, y_tensor, points) = (x_desc.tensor("xDesc")?, y_desc.tensor("yDesc")?, desc.grid()?);
        let blend = Blend::read(alpha, beta, y_tensor.dtype)?;
        let sampler = sampler::Sampler { handle, x: (x_tensor, x.some("x")?), grid: (&points, grid.some("grid")?) };
        sampler.forward((y_tensor, y.some("y")?), blend)
    })
}

/// `cudnnSpatialTfSamplerBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSpatialTfSamplerBackward(
    handle: In<'_, Handle>,
    st_desc: In<'_, TransformerDesc>,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
    alpha_dgrid: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    grid: Data,
    beta_dgrid: Data,
    dgrid: Data,
) -> Status {
    guard("cudnnSpatialTfSamplerBackward", || {
        let (handle, desc) = (handle.get("handle")?, st_desc.get("stDesc")?);
        let (x_tensor, dx_tensor, points) = (x_desc.tensor("xDesc")?, dx_desc.tensor("dxDesc")?, desc.grid()?);
        let blends = [Blend::read(alpha, beta, dx_tensor.dtype)?, Blend::read(alpha_dgrid, beta_dgrid, points.dtype)?];
        let sampler = sampler::Sampler { handle, x: (x_tensor, x.some("x")?), grid: (&points, grid.some("grid")?) };
        let (dy, dx) = ((dy_desc.tensor("dyDesc")?, dy.some("dy")?), (dx_tensor, dx.some("dx")?));
        sampler.backward(dy.into(), dx.into(), dgrid.some("dgrid")?, blends)
    })
}
