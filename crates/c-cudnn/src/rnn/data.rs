//! Sequence (RNN data) descriptors.

use super::desc::MOST_NUMBERS;
use crate::enums::*;
use crate::pointers::{self, Array, ArrayMut, Data, In, InOut, New, Out, Owned, host_bytes};
use crate::status::{Failure, Status, guard};
use crate::values;
use oxidnn_spec::DataType;

/// The object behind a `cudnnRNNDataDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct RnnDataDesc {
    set: Option<Sequences>,
}

/// Sequences as the caller described them.
#[derive(Clone, Debug)]
pub(crate) struct Sequences {
    number: i32,
    pub(crate) dtype: DataType,
    /// `cudnnRNNDataLayout_t`.
    pub(crate) layout: i32,
    pub(crate) steps: i64,
    pub(crate) batch: i64,
    pub(crate) channels: i64,
    pub(crate) lengths: Vec<i32>,
    /// The bytes of the value that pads sequences in outputs, if any.
    pub(crate) fill: Option<Vec<u8>>,
}

impl Owned for RnnDataDesc {}

impl RnnDataDesc {
    /// The sequences.
    ///
    /// # Errors
    /// `BAD_PARAM` if the descriptor was never set.
    pub(crate) fn sequences(&self, name: &str) -> Result<&Sequences, Failure> {
        self.set.as_ref().ok_or_else(|| Failure::invalid(name, "a descriptor that was never set", "one that describes sequences"))
    }
}

/// `cudnnCreateRNNDataDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateRNNDataDescriptor(rnn_data_desc: New<'_, RnnDataDesc>) -> Status {
    guard("cudnnCreateRNNDataDescriptor", || rnn_data_desc.own("rnnDataDesc", || Ok(RnnDataDesc::default())))
}

/// `cudnnDestroyRNNDataDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyRNNDataDescriptor(desc: pointers::Handle<RnnDataDesc>) -> Status {
    guard("cudnnDestroyRNNDataDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetRNNDataDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetRNNDataDescriptor(
    rnn_data_desc: InOut<'_, RnnDataDesc>,
    data_type: i32,
    layout: i32,
    max_seq_length: i32,
    batch_size: i32,
    vector_size: i32,
    seq_length_array: Array<'_, i32>,
    padding_fill: Data,
) -> Status {
    guard("cudnnSetRNNDataDescriptor", || {
        let dtype = values::data_type("dataType", data_type)?;
        values::check("layout", "cudnnRNNDataLayout_t", layout)?;
        for (name, size) in [("maxSeqLength", max_seq_length), ("batchSize", batch_size), ("vectorSize", vector_size)] {
            if size < 1 {
                return Err(Failure::invalid(name, size, "at least 1"));
            }
        }
        let lengths = seq_length_array.slice("seqLengthArray", batch_size as usize)?;
        if let Some(wrong) = lengths.iter().find(|l| !(0..=max_seq_length).contains(*l)) {
            return Err(Failure::invalid("seqLengthArray", wrong, format_args!("0 to maxSeqLength {max_seq_length}")));
        }
        if layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED && lengths.windows(2).any(|w| w[0] < w[1]) {
            return Err(Failure::invalid("seqLengthArray", "lengths that grow", "the longest sequence first, in packed layout"));
        }
        let volume = [max_seq_length, batch_size, vector_size].into_iter().map(i128::from).product::<i128>();
        if volume > MOST_NUMBERS {
            return Err(Failure::unsupported(format_args!("sequences of {volume} numbers, more than 2^48")));
        }
        let bytes = dtype.bytes(1).unwrap_or(0);
        let fill = (!padding_fill.is_null()).then(|| host_bytes(padding_fill, bytes).to_vec());
        rnn_data_desc.get("rnnDataDesc")?.set = Some(Sequences {
            number: data_type,
            dtype,
            layout,
            steps: i64::from(max_seq_length),
            batch: i64::from(batch_size),
            channels: i64::from(vector_size),
            lengths: lengths.to_vec(),
            fill,
        });
        Ok(())
    })
}

/// `cudnnGetRNNDataDescriptor`: returns as many lengths as the caller asks for.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetRNNDataDescriptor(
    rnn_data_desc: In<'_, RnnDataDesc>,
    data_type: Out<'_, i32>,
    layout: Out<'_, i32>,
    max_seq_length: Out<'_, i32>,
    batch_size: Out<'_, i32>,
    vector_size: Out<'_, i32>,
    array_length_requested: i32,
    seq_length_array: ArrayMut<'_, i32>,
    padding_fill: ArrayMut<'_, u8>,
) -> Status {
    guard("cudnnGetRNNDataDescriptor", || {
        let sequences = rnn_data_desc.get("rnnDataDesc")?.sequences("rnnDataDesc")?;
        data_type.set_optional(sequences.number);
        layout.set_optional(sequences.layout);
        max_seq_length.set_optional(sequences.steps as i32);
        batch_size.set_optional(sequences.batch as i32);
        vector_size.set_optional(sequences.channels as i32);
        let count = usize::try_from(array_length_requested).unwrap_or(0).min(sequences.lengths.len());
        seq_length_array.fill_optional(&sequences.lengths[..count]);
        padding_fill.fill_optional(sequences.fill.as_deref().unwrap_or_default());
        Ok(())
    })
}
