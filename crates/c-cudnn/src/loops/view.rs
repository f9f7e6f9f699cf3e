//! Access to the elements of the caller's tensors by position.

use crate::handle::Handle;
use crate::host_runtime::settle;
use crate::pointers::{Data, host_bytes, host_bytes_mut};
use crate::status::Failure;
use oxidnn_expr::number;
use oxidnn_spec::{DataType, Tensor};

/// A tensor's elements, read and written as doubles.
pub(crate) struct View<'a> {
    pub(crate) tensor: &'a Tensor,
    data: Data,
}

impl<'a> View<'a> {
    /// A view, once the stream's work is done.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` if memory is not the host's, or elements are smaller than a byte.
    pub(crate) fn new(handle: &Handle, tensor: &'a Tensor, data: Data) -> Result<View<'a>, Failure> {
        host(handle)?;
        if tensor.blocking().is_none() || tensor.dtype.bits() < 8 {
            return Err(Failure::unsupported(format_args!("{} here", tensor.summary())));
        }
        Ok(View { tensor, data })
    }

    fn place(&self, position: &[i64]) -> (Data, usize) {
        let width = self.tensor.dtype.bits() / 8;
        let offset = self.tensor.blocking().map_or(0, |b| b.offset_of(position));
        (self.data.behind(offset as usize * width), width)
    }

    /// The element at a position, which must be inside.
    pub(crate) fn get(&self, position: &[i64]) -> f64 {
        let (at, width) = self.place(position);
        load(self.tensor.dtype, host_bytes(at, width))
    }

    /// Writes the element at a position, which must be inside.
    pub(crate) fn set(&self, position: &[i64], value: f64) {
        let (at, width) = self.place(position);
        store(self.tensor.dtype, host_bytes_mut(at, width), value);
    }
}

/// Waits for the stream's work, so that the host can read its results.
///
/// # Errors
/// `NOT_SUPPORTED` if memory is not the host's, and while the stream is captured.
pub(crate) fn host(handle: &Handle) -> Result<(), Failure> {
    if !handle.engine().host_visible() {
        return Err(Failure::unsupported("this function on an engine whose memory is not the host's"));
    }
    settle(handle)
}

/// Decodes an element.
pub(crate) fn load(dtype: DataType, bytes: &[u8]) -> f64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    number::decode(dtype, u64::from_le_bytes(word))
}

/// Encodes an element.
pub(crate) fn store(dtype: DataType, bytes: &mut [u8], value: f64) {
    let word = number::encode(dtype, value).to_le_bytes();
    bytes.copy_from_slice(&word[..bytes.len()]);
}

/// Calls `f` with every position of `dims`, row-major.
pub(crate) fn positions(dims: &[i64], mut f: impl FnMut(&[i64])) {
    let mut at = vec![0; dims.len()];
    if dims.iter().any(|&d| d < 1) {
        return;
    }
    loop {
        f(&at);
        let Some(d) = (0..dims.len()).rev().find(|&d| at[d] + 1 < dims[d]) else { return };
        at[d] += 1;
        at[d + 1..].fill(0);
    }
}
