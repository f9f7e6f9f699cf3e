//! Problems with runtime dimensions or strides, as one execution sees them.

use oxidnn_spec::text::FillHints;
use oxidnn_spec::{Dims, Error, Format, Layout, Problem, RUNTIME};

/// `problem` with every runtime dimension replaced by the size that `hints` has for it, and every runtime stride by that of a dense layout.
///
/// # Errors
/// When the sizes do not make a valid problem.
pub fn concrete(problem: &Problem, hints: &FillHints) -> Result<Problem, Error> {
    let mut op = problem.op.clone();
    for o in op.operands_mut() {
        let dims = hints.runtime_dims.get(&o.arg).unwrap_or(o.tensor.dims());
        if o.tensor.layout.has_runtime() && !dims.has_runtime() {
            o.tensor.layout = sized(&o.tensor.layout, *dims)?;
        }
    }
    Problem::new(op, problem.attr.clone())
}

/// A dense layout of `dims` in the order of `layout`: dimensions whose strides are known to be small lie inside, the others outside by index.
fn sized(layout: &Layout, dims: Dims) -> Result<Layout, Error> {
    let Format::Blocked(b) = &layout.format else { return Ok(Layout { dims, format: layout.format.clone() }) };
    let mut order: Vec<usize> = (0..dims.len()).collect();
    order.sort_by_key(|&d| if b.strides[d] == RUNTIME { (0, d as i64) } else { (1, -b.strides[d]) });
    let tag: String = order.iter().map(|&d| (b'a' + d as u8) as char).collect();
    Layout::with_tag(dims, &tag)
}
