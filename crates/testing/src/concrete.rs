//! Problems with sizes or strides that only the execution gives, made concrete for one execution.

use oxidnn_spec::text::FillHints;
use oxidnn_spec::{Error, Problem};

/// `problem` with every runtime size replaced by the one that `hints` has for it, and every runtime stride by one that fits.
///
/// # Errors
/// When `hints` lacks a size, or the sizes do not make a valid problem.
pub fn concrete(problem: &Problem, hints: &FillHints) -> Result<Problem, Error> {
    let mut op = problem.op.clone();
    for o in op.operands_mut().into_iter().filter(|o| o.tensor.layout.has_runtime()) {
        let dims = hints.runtime_dims.get(&o.arg).copied().unwrap_or(*o.tensor.dims());
        if dims.has_runtime() {
            let expected =
                "the sizes of an execution, those that are unknown before it named by --runtime-dim-mask or --runtime_dims_masks";
            return Err(Error::arg(o.arg, dims, expected));
        }
        o.tensor.layout = o.tensor.layout.at_sizes(dims);
    }
    Problem::new(op, problem.attr.clone())
}
