//! Element-wise problems over whole tensors, padding included: where zeros become zeros, blocks that are not full need neither masks nor zeros behind them.

use oxidnn_spec::{Attr, Layout, Problem, Tensor};

/// The tensors whose elements are those of others and their padding; the first is the result. None without padding, for padding of other dimensions than
/// that of the innermost block, and where other tensors are padded otherwise or not as large there.
pub(crate) fn tensors<const N: usize>(problem: &Problem, tensors: [&Tensor; N]) -> Option<[Tensor; N]> {
    if !(Attr { scratchpad: Default::default(), ..problem.attr.clone() }).is_default() {
        return None;
    }
    let result = tensors.first()?;
    let (d, _) = result.blocking()?.inner.iter().next_back()?;
    let (size, padded) = (result.dims()[d], result.blocking()?.padded_dims[d]);
    let whole = |t: &Tensor| {
        let b = t.blocking().filter(|_| !t.layout.has_runtime())?;
        let plain = b.compensation.is_none() && b.padded_offsets.iter().all(|o| *o == 0);
        let alone = (0..t.dims().len()).all(|e| b.padded_dims[e] == if e == d { padded } else { t.dims()[e] });
        let layout = Layout { dims: b.padded_dims, format: b.clone().into() };
        (plain && alone && t.dims()[d] == size).then_some(Tensor { dtype: t.dtype, layout })
    };
    let all: Vec<Tensor> = tensors.into_iter().map(whole).collect::<Option<_>>()?;
    if size > 0 && size < padded { all.try_into().ok() } else { None }
}
