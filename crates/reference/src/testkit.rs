//! Arguments for tests: tensors made from lists of numbers.

use crate::{Args, View, for_each_position};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Op, Problem, Tensor};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A tensor with its buffers.
type Owned = (Tensor, Vec<Vec<Cell<u8>>>);

/// Arguments that own their memory.
#[derive(Default)]
pub(crate) struct Bound(BTreeMap<Arg, Owned>);

impl Bound {
    /// Adds `tensor` as `arg`, filled in logical row-major order; bytes not written hold 0xa5.
    pub(crate) fn put(&mut self, arg: Arg, tensor: &Tensor, values: &[f64]) -> &mut Bound {
        let bytes = vec![Cell::new(0xa5); tensor.bytes()];
        let view = View::new(arg, tensor, &bytes).expect("dense");
        assert_eq!(tensor.layout.elements(), Some(values.len() as i64), "{arg} {}", tensor.dims());
        let mut it = values.iter();
        for_each_position(tensor.dims(), |pos| view.set(pos, *it.next().expect("counted")));
        view.zero_padding();
        self.0.insert(arg, (tensor.clone(), vec![bytes]));
        self
    }

    /// Adds a row-major tensor of `dims`.
    pub(crate) fn plain(&mut self, arg: Arg, dtype: DataType, dims: &[i64], values: &[f64]) -> &mut Bound {
        let dims = Dims::new(dims).expect("rank");
        self.put(arg, &Tensor::plain(dims, dtype).expect("plain"), values)
    }

    /// Adds `tensor` with the given buffers, for sparse encodings.
    pub(crate) fn raw(&mut self, arg: Arg, tensor: &Tensor, buffers: &[Vec<u8>]) -> &mut Bound {
        let buffers = buffers.iter().map(|b| b.iter().map(|&x| Cell::new(x)).collect()).collect();
        self.0.insert(arg, (tensor.clone(), buffers));
        self
    }

    /// Makes `arg` a garbage-filled destination.
    pub(crate) fn out(&mut self, arg: Arg, tensor: &Tensor) -> &mut Bound {
        self.0.insert(arg, (tensor.clone(), vec![vec![Cell::new(0xa5); tensor.bytes()]]));
        self
    }

    /// The numbers of `arg` in logical row-major order.
    pub(crate) fn values(&self, arg: Arg) -> Vec<f64> {
        let (tensor, buffers) = &self.0[&arg];
        let view = View::new(arg, tensor, &buffers[0]).expect("dense");
        let mut out = Vec::new();
        for_each_position(tensor.dims(), |pos| out.push(view.get(pos)));
        out
    }

    /// The bytes of `arg`.
    pub(crate) fn bytes(&self, arg: Arg) -> Vec<u8> {
        self.0[&arg].1[0].iter().map(Cell::get).collect()
    }
}

impl Args for Bound {
    fn tensor(&self, arg: Arg) -> Option<&Tensor> {
        self.0.get(&arg).map(|x| &x.0)
    }
    fn data(&self, arg: Arg, buffer: usize) -> Option<&[Cell<u8>]> {
        self.0.get(&arg)?.1.get(buffer).map(Vec::as_slice)
    }
}

/// Runs the operation on `args` with scratch full of NaN.
pub(crate) fn compute(op: impl Into<Op>, attr: Attr, args: &Bound) {
    let problem = Problem { op: op.into(), attr };
    let mut scratch = vec![f64::NAN; crate::scratch_len(&problem)];
    crate::run(&problem, args, &mut scratch).expect("runs");
}

/// Sum of products.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Numbers from a fixed sequence, multiples of 1/16 in -2..2.
pub(crate) fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % 65) as f64 / 16.0 - 2.0
    };
    (0..n).map(|_| next()).collect()
}
