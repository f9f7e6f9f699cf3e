//! The fields of verbose lines.

use oxidnn_spec::{Arg, Problem, Tensor};

/// The fields of a verbose line: memory descriptors, attributes, auxiliary parameters, sizes; separated by commas. `concrete` gives
/// the descriptions of tensors whose sizes the problem leaves to run time.
pub(crate) fn fields(problem: &Problem, _given: &Problem, concrete: &dyn Fn(Arg) -> Option<Tensor>) -> String {
    let mds: Vec<String> = problem
        .op
        .operands()
        .into_iter()
        .map(|o| format!("{}:{}", o.arg, concrete(o.arg).as_ref().unwrap_or(o.tensor).summary().replace(',', ";")))
        .collect();
    format!("{},,,", mds.join(" "))
}
