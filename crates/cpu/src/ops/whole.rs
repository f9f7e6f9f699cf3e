//! Element-wise problems computed over padding as well: if zeros become zeros, partial blocks need neither masks nor separate zeroing.

use oxidnn_spec::{Attr, Layout, Problem, Tensor};

/// The tensors with their padding as elements; the first is the result. `None` if there is no padding, or if a tensor is padded otherwise
/// or has another size.
pub(crate) fn tensors<const N: usize>(problem: &Problem, tensors: [&Tensor; N]) -> Option<[Tensor; N]> {
    if !(Attr { scratchpad: Default::default(), ..problem.attr.clone() }).is_default() {
        return None;
    }
    let (dims, padded) = (*tensors.first()?.dims(), tensors.first()?.blocking()?.padded_dims);
    let whole = |t: &Tensor| {
        let b = t.blocking().filter(|_| !t.layout.has_runtime())?;
        let plain = b.compensation.is_none() && b.padded_offsets.iter().all(|o| *o == 0);
        let like = |d: usize| t.dims()[d] == dims[d] && b.padded_dims[d] == padded[d];
        let alike = (0..dims.len()).all(|d| like(d) || dims[d] == padded[d] && b.padded_dims[d] == t.dims()[d]);
        let layout = Layout { dims: b.padded_dims, format: b.clone().into() };
        (plain && alike).then_some(Tensor { dtype: t.dtype, layout })
    };
    let all: Vec<Tensor> = tensors.into_iter().map(whole).collect::<Option<_>>()?;
    if !dims.contains(&0) && dims != padded { all.try_into().ok() } else { None }
}
