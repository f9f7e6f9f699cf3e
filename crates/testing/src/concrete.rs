//! Problems with sizes or strides that only the execution gives, as one execution sees them.

use oxidnn_spec::text::FillHints;
use oxidnn_spec::{Blocking, Dims, Error, Format, Layout, Problem, RUNTIME};

/// `problem` with every runtime size replaced by the one that `hints` has for it, and every runtime stride by one that fits.
///
/// # Errors
/// When the sizes do not make a valid problem.
pub fn concrete(problem: &Problem, hints: &FillHints) -> Result<Problem, Error> {
    let mut op = problem.op.clone();
    for o in op.operands_mut().into_iter().filter(|o| o.tensor.layout.has_runtime()) {
        let dims = hints.runtime_dims.get(&o.arg).copied().unwrap_or(*o.tensor.dims());
        o.tensor.layout = sized(&o.tensor.layout, dims);
    }
    Problem::new(op, problem.attr.clone())
}

/// The layout for `dims`. Strides that are known stay; dimensions whose strides are not lie outside of those, the first outermost.
fn sized(layout: &Layout, dims: Dims) -> Layout {
    let Format::Blocked(b) = &layout.format else { return Layout { dims, format: layout.format.clone() } };
    let known = |given: i64, else_: i64| if given == RUNTIME { else_ } else { given };
    let padded_dims = Dims::from_fn(dims.len(), |d| known(b.padded_dims[d], dims[d]));
    let blocks = |d: usize| padded_dims[d] / b.inner.of(d);
    let mut strides = b.strides;
    let far = (0..dims.len()).filter(|&d| b.strides[d] != RUNTIME).map(|d| (blocks(d) - 1).max(0) * b.strides[d]).sum::<i64>();
    let mut extent = far + b.inner.volume();
    for d in (0..dims.len()).rev().filter(|&d| b.strides[d] == RUNTIME) {
        strides[d] = extent;
        extent *= blocks(d).max(1);
    }
    let blocking = Blocking { padded_dims, strides, offset: known(b.offset, 0), ..(**b).clone() };
    Layout { dims, format: Format::Blocked(blocking.into()) }
}
