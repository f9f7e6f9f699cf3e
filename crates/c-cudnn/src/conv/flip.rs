//! Flipped filters: a concatenation of their taps in reverse order.

use crate::exec::{Blend, Job, Place};
use crate::filter::Filter;
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_spec::op::Concat;
use oxidnn_spec::{Arg, Dims, Tensor};

/// Taps of one concatenation, at most.
const MOST_TAPS: i64 = 1023;

/// Number of taps of a filter.
pub(super) fn taps(filter: &Filter) -> i64 {
    filter.dims[2..].iter().product()
}

/// `to = blend(flipped(from), to)`, both with the filter's dense layout.
///
/// # Errors
/// `NOT_SUPPORTED` for windows of very many taps.
pub(super) fn flip(handle: &Handle, filter: &Filter, [from, to]: [Data; 2], blend: Blend) -> Result<(), Failure> {
    let taps = taps(filter);
    if taps > MOST_TAPS {
        return Err(Failure::unsupported(format_args!("CUDNN_CONVOLUTION with {taps} taps, more than {MOST_TAPS}")));
    }
    let strides = filter.tensor.blocking().filter(|b| b.is_plain()).map(|b| b.strides);
    let Some(strides) = strides else {
        return Err(Failure::unsupported("CUDNN_CONVOLUTION with filters of vectors of channels: use CUDNN_CROSS_CORRELATION"));
    };
    let last = strides[filter.dims.len() - 1];
    let dims = |taps: i64| Dims::from([filter.dims[0], filter.dims[1], taps]);
    let view = |taps: i64| Tensor::with_strides(dims(taps), filter.dtype(), Some(Dims::from([strides[0], strides[1], last])));
    let tap = filter.dtype().bytes(last as usize).unwrap_or(0);
    let op = Concat { axis: 2, srcs: vec![view(1)?; taps as usize], dst: view(taps)? };
    let mut job = Job::new(oxidnn_spec::Op::Concat(op)).arg(Arg::DST, to).blend(blend);
    for i in 0..taps as usize {
        job = job.arg(Arg::multiple_src(i), Place::At(from.behind((taps as usize - 1 - i) * tap)));
    }
    job.run(handle)
}
