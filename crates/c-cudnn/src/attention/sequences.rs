//! Sequence data descriptors: time x batch x beam x vector, in any order with the vector innermost.

use crate::enums::*;
use crate::pointers::{self, Array, ArrayMut, Data, In, InOut, New, Out, Owned, host_bytes};
use crate::status::{Failure, Status, guard};
use crate::values;
use oxidnn_spec::{DataType, Dims, Tensor};

/// Dimensions of a container.
const DIMS: usize = 4;
/// Limit on the elements of a container.
pub(super) const MOST_NUMBERS: i128 = 1 << 48;

/// The object behind a `cudnnSeqDataDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct SeqDataDesc {
    set: Option<Container>,
}

/// A container as it was described.
#[derive(Clone, Debug)]
pub(super) struct Container {
    number: i32,
    pub(super) dtype: DataType,
    /// Sizes by `cudnnSeqDataAxis_t`.
    sizes: [i64; DIMS],
    /// `cudnnSeqDataAxis_t` from the outermost dimension to the innermost.
    axes: [i32; DIMS],
    /// Length of each sequence; the beams of a sample are consecutive.
    pub(super) lengths: Vec<i32>,
    fill: Option<Vec<u8>>,
}

impl Owned for SeqDataDesc {}

impl SeqDataDesc {
    fn container(&self, name: &str) -> Result<&Container, Failure> {
        self.set.as_ref().ok_or_else(|| Failure::invalid(name, "a descriptor that was never set", "one that describes sequences"))
    }
}

impl<'a> In<'a, SeqDataDesc> {
    /// The container that a descriptor describes.
    ///
    /// # Errors
    /// For null, and if the descriptor was never set.
    pub(super) fn container(&self, name: &str) -> Result<&'a Container, Failure> {
        self.get(name)?.container(name)
    }
}

impl Container {
    fn size(&self, axis: i32) -> i64 {
        self.sizes[axis as usize]
    }

    pub(super) fn steps(&self) -> i64 {
        self.size(CUDNN_SEQDATA_TIME_DIM)
    }

    pub(super) fn batch(&self) -> i64 {
        self.size(CUDNN_SEQDATA_BATCH_DIM)
    }

    pub(super) fn beam(&self) -> i64 {
        self.size(CUDNN_SEQDATA_BEAM_DIM)
    }

    pub(super) fn channels(&self) -> i64 {
        self.size(CUDNN_SEQDATA_VECT_DIM)
    }

    /// Distances in elements by `cudnnSeqDataAxis_t`.
    fn strides(&self) -> [i64; DIMS] {
        let (mut strides, mut step) = ([0; DIMS], 1);
        for &axis in self.axes.iter().rev() {
            strides[axis as usize] = step;
            step *= self.size(axis);
        }
        strides
    }

    /// Bytes from one time-step to the next.
    pub(super) fn step_bytes(&self) -> usize {
        self.dtype.bytes(self.strides()[CUDNN_SEQDATA_TIME_DIM as usize] as usize).unwrap_or(0)
    }

    /// `steps` time-steps as batch x beam x time x vector.
    pub(super) fn tensor(&self, steps: i64) -> Result<Tensor, Failure> {
        let strides = self.strides();
        let order = [CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_BEAM_DIM, CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_VECT_DIM];
        let dims = Dims::from_fn(DIMS, |d| if order[d] == CUDNN_SEQDATA_TIME_DIM { steps } else { self.size(order[d]) });
        let strides = Dims::from_fn(DIMS, |d| strides[order[d] as usize]);
        Ok(Tensor::with_strides(dims, self.dtype, Some(strides))?)
    }
}

/// `cudnnCreateSeqDataDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateSeqDataDescriptor(seq_data_desc: New<'_, SeqDataDesc>) -> Status {
    guard("cudnnCreateSeqDataDescriptor", || seq_data_desc.own("seqDataDesc", || Ok(SeqDataDesc::default())))
}

/// `cudnnDestroySeqDataDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroySeqDataDescriptor(seq_data_desc: pointers::Handle<SeqDataDesc>) -> Status {
    guard("cudnnDestroySeqDataDescriptor", || {
        seq_data_desc.destroy();
        Ok(())
    })
}

/// The order of dimensions: each once, the vector last.
fn order(axes: Array<'_, i32>) -> Result<[i32; DIMS], Failure> {
    let axes: [i32; DIMS] = axes.slice("axes", DIMS)?.try_into().map_err(|_| Failure::null("axes"))?;
    let whole = (0..DIMS as i32).all(|axis| axes.contains(&axis));
    match whole && axes[DIMS - 1] == CUDNN_SEQDATA_VECT_DIM {
        true => Ok(axes),
        false => Err(Failure::invalid("axes", format_args!("{axes:?}"), "each axis once, CUDNN_SEQDATA_VECT_DIM last")),
    }
}

/// `cudnnSetSeqDataDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetSeqDataDescriptor(
    seq_data_desc: InOut<'_, SeqDataDesc>,
    data_type: i32,
    nb_dims: i32,
    dim_a: Array<'_, i32>,
    axes: Array<'_, i32>,
    seq_length_array_size: usize,
    seq_length_array: Array<'_, i32>,
    padding_fill: Data,
) -> Status {
    guard("cudnnSetSeqDataDescriptor", || {
        let dtype = values::data_type("dataType", data_type)?;
        if !matches!(dtype, DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16) {
            return Err(Failure::new(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, format_args!("dataType: {dtype}, expected a real type")));
        }
        if nb_dims != DIMS as i32 {
            return Err(Failure::invalid("nbDims", nb_dims, DIMS));
        }
        let sizes = dim_a.slice("dimA", DIMS)?;
        let axes = order(axes)?;
        if let Some(size) = sizes.iter().find(|s| **s < 1) {
            return Err(Failure::invalid("dimA", size, "sizes of at least 1"));
        }
        if sizes.iter().map(|&s| i128::from(s)).product::<i128>() > MOST_NUMBERS {
            return Err(Failure::unsupported("sequences of more than 2^48 numbers"));
        }
        let sizes: [i64; DIMS] = std::array::from_fn(|d| i64::from(sizes[d]));
        let count = sizes[CUDNN_SEQDATA_BATCH_DIM as usize] * sizes[CUDNN_SEQDATA_BEAM_DIM as usize];
        if usize::try_from(count) != Ok(seq_length_array_size) {
            return Err(Failure::invalid("seqLengthArraySize", seq_length_array_size, format_args!("{count}, batch times beam")));
        }
        let (lengths, steps) = (seq_length_array.slice("seqLengthArray", seq_length_array_size)?, sizes[CUDNN_SEQDATA_TIME_DIM as usize]);
        if let Some(wrong) = lengths.iter().find(|l| !(0..=steps).contains(&i64::from(**l))) {
            return Err(Failure::invalid("seqLengthArray", wrong, format_args!("0 to {steps}")));
        }
        let fill = (!padding_fill.is_null()).then(|| host_bytes(padding_fill, dtype.bytes(1).unwrap_or(0)).to_vec());
        seq_data_desc.get("seqDataDesc")?.set = Some(Container { number: data_type, dtype, sizes, axes, lengths: lengths.to_vec(), fill });
        Ok(())
    })
}

/// `cudnnGetSeqDataDescriptor`: returns as many sizes and lengths as the caller asks for.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetSeqDataDescriptor(
    seq_data_desc: In<'_, SeqDataDesc>,
    data_type: Out<'_, i32>,
    nb_dims: Out<'_, i32>,
    nb_dims_requested: i32,
    dim_a: ArrayMut<'_, i32>,
    axes: ArrayMut<'_, i32>,
    seq_length_array_size: Out<'_, usize>,
    seq_length_size_requested: usize,
    seq_length_array: ArrayMut<'_, i32>,
    padding_fill: ArrayMut<'_, u8>,
) -> Status {
    guard("cudnnGetSeqDataDescriptor", || {
        let container = seq_data_desc.container("seqDataDesc")?;
        let dims = usize::try_from(nb_dims_requested).unwrap_or(0).min(DIMS);
        data_type.set_optional(container.number);
        nb_dims.set_optional(DIMS as i32);
        dim_a.fill_optional(&container.sizes.map(|s| s as i32)[..dims]);
        axes.fill_optional(&container.axes[..dims]);
        seq_length_array_size.set_optional(container.lengths.len());
        seq_length_array.fill_optional(&container.lengths[..seq_length_size_requested.min(container.lengths.len())]);
        padding_fill.fill_optional(container.fill.as_deref().unwrap_or_default());
        Ok(())
    })
}
