//! How much work a problem is: operations and bytes, for benchmarks and for decisions on threads.

use crate::op::{ConvSizes, InnerProduct, Matmul, Op, Prop, Rnn, Sdpa};
use crate::{Format, Problem, RUNTIME};

impl Problem {
    /// Arithmetic operations of the products: 2 for each multiplication of two elements (kernel elements over padding do not count); 0 for
    /// memory-bound primitives, and with open sizes.
    pub fn flops(&self) -> f64 {
        let products = match &self.op {
            Op::Conv(x) => convolution(&x.sizes()) + x.depthwise_sizes(&self.attr).map_or(0.0, |s| convolution(&s)),
            Op::Deconv(x) => convolution(&swapped(x.sizes())),
            Op::InnerProduct(x) => inner_product(x),
            Op::Matmul(x) => matmul(x),
            Op::Rnn(x) => recurrent(x),
            Op::Sdpa(x) => attention(x),
            _ => 0.0,
        };
        2.0 * products
    }

    /// Bytes of all arguments, each read or written once; those with sizes that only the execution gives are left out.
    pub fn bytes(&self) -> usize {
        let operands = self.operands();
        let buffers = operands.iter().flat_map(|o| (0..o.tensor.buffers()).map(|i| o.tensor.buffer_bytes(i).unwrap_or(0)));
        buffers.fold(0, usize::saturating_add)
    }
}

fn product(sizes: &[i64]) -> f64 {
    if sizes.contains(&RUNTIME) { 0.0 } else { sizes.iter().map(|&d| d as f64).product() }
}

/// The convolution that a deconvolution transposes.
fn swapped(s: ConvSizes) -> ConvSizes {
    ConvSizes { ic: s.oc, oc: s.ic, i: s.o, o: s.i, ..s }
}

fn convolution(s: &ConvSizes) -> f64 {
    (0..3).fold(product(&[s.mb, s.g, s.ic, s.oc]), |n, d| n * taps(s, d))
}

/// Pairs of output position and kernel element of spatial dimension `d` that use an element of the input.
fn taps(s: &ConvSizes, d: usize) -> f64 {
    const COUNTED: i64 = 1 << 16;
    if s.k[d] > COUNTED {
        return product(&[s.k[d], s.o[d]]);
    }
    let meets = |k: i64| {
        // o * stride must lie in begin..begin + i
        let begin = s.pl[d] - k * s.d[d];
        let up = |v: i64| v.div_euclid(s.s[d]) + i64::from(v.rem_euclid(s.s[d]) > 0);
        (up(begin + s.i[d]).clamp(0, s.o[d]) - up(begin).clamp(0, s.o[d])) as f64
    };
    (0..s.k[d]).map(meets).sum()
}

fn inner_product(x: &InnerProduct) -> f64 {
    product(x.src.dims()) * product(&x.dst.dims()[1..])
}

fn matmul(x: &Matmul) -> f64 {
    let (src, dst) = (x.src.dims(), x.dst.dims());
    let n = dst.len();
    match (&x.src.layout.format, &x.weights.layout.format) {
        (Format::Sparse(s), _) => product(&[s.nnz(), dst[n - 1]]),
        (_, Format::Sparse(s)) => product(&[s.nnz(), dst[n - 2]]),
        _ => product(dst) * product(&src[n - 1..]),
    }
}

/// Backward is two products where forward is one.
fn recurrent(x: &Rnn) -> f64 {
    let Some(z) = x.sizes() else { return 0.0 };
    let steps = product(&[z.layers, z.directions, z.time, z.batch]);
    let gates = product(&[z.gates, z.dhc]) * (z.slc as f64 + z.sic as f64);
    let projection = if x.weights_projection.is_some() { product(&[z.dhc, z.dic]) } else { 0.0 };
    steps * (gates + projection) * if x.prop == Prop::Backward { 2.0 } else { 1.0 }
}

fn attention(x: &Sdpa) -> f64 {
    let (scores, values) = (product(x.q.dims()) * product(&x.k.dims()[3..]), product(x.dst.dims()) * product(&x.k.dims()[3..]));
    // Backward computes the scores again, and from them gradients of queries and keys; and gradients of weights and of values.
    if x.prop.is_forward() { scores + values } else { 3.0 * scores + 2.0 * values }
}
